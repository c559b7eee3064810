"""The half-line beyond an open edge, closed exactly: the fixed point of the block elimination, reached by doubling.

Where the drift is constant, eliminating block after block from far away converges to a fixed reflection R: what comes
back when a message enters the half-line. Plain iteration takes thousands of blocks when the drift or the tempering is
weak; joining two equal slabs into one of twice the length takes 4 to 14 steps. No exponent enters, so the tail that
comes out is a result and not an assumption.

The catch: a half-line whose drift points outwards also converges, to something plausible and meaningless; confinement
is the caller's business and comes first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from solver.blocks import BLOCK, Block, Scheme, assemble
from solver.errors import NotConvergedError

Array = NDArray[np.float64]

# 2^60 blocks: no half-line with a resolvable drift needs more than about 30 doublings.
_DOUBLINGS = 60


@dataclass(frozen=True, eq=False)
class HalfLine:
    """The closed half-line: `reflection` R, block response `block` Y, `step` M and the decay rate of ρ outwards."""

    reflection: Array
    block: Array
    step: Array
    exponent: float


def solve_block(matrix: Array, right_side: Array, log_guess: Array, outflow: Array) -> Array:
    """Solve matrix · X = right_side for the negative of a generator block whose column sums are `outflow`.

    Two things keep every entry of X accurate relative to itself. The unknown is scaled by e^{log_guess}, so that
    steep tails do not drown in the rounding of their larger neighbours. And the equation of the most populated node is
    replaced by the sum of all equations: its coefficients are the outflow to the side not yet eliminated, which is
    known as a sum of positive terms, so that a region that drains slowly loses no digits by subtraction.
    """
    scale = np.exp(log_guess - log_guess.max())
    anchor = int(np.argmax(scale))
    scaled = matrix * (scale[None, :] / scale[:, None])
    rhs = right_side / scale[:, None]
    row = outflow * scale
    size = np.abs(row).max()
    scaled[anchor] = row / size
    rhs[anchor] = right_side.sum(axis=0) / size
    solution: Array = np.linalg.solve(scaled, rhs)
    return solution * scale[:, None]


def absorb(block: Block, reflection: Array, log_guess: Array) -> tuple[Array, Array, Array]:
    """Eliminate one block from the left: its response Y, the message map M and the new reflection.

    With the reflection R of everything further left: B = -(A + U R V'), Y = B^{-1} (U' + U R T'),
    M = T' + V' Y, R_new = V Y + T R M, where a prime marks the leftward message. Only B's diagonal is a difference.
    """
    returned = block.u @ reflection
    outflow = block.land @ (block.v + block.t[:, None] * (reflection @ block.v_back))
    response = solve_block(
        -(block.a + returned @ block.v_back), block.u_back + returned * block.t_back, log_guess, outflow
    )
    step = block.v_back @ response
    step[np.diag_indices(step.shape[0])] += block.t_back
    return response, step, block.v @ response + block.t[:, None] * (reflection @ step)


def close_half_line(scheme: Scheme, drift: float, slope: float) -> HalfLine:
    """The half-line to the left with constant `drift` > 0; `slope` is a guess of d ln ρ/dζ, for scaling only."""
    block = assemble(scheme, np.full(BLOCK + 2 * scheme.m, drift))
    guess = slope * scheme.spacing * np.arange(BLOCK)
    outflow = block.land @ block.v + block.land_back @ block.v_back
    forward = solve_block(-block.a, block.u, np.zeros(BLOCK), outflow)
    backward = solve_block(-block.a, block.u_back, guess, outflow)
    # transmission and reflection of one slab: to the right (t_r, r_r) and to the left (r_l, t_l)
    t_r, r_r = np.diag(block.t) + block.v @ forward, block.v @ backward
    r_l, t_l = block.v_back @ forward, np.diag(block.t_back) + block.v_back @ backward
    for _ in range(_DOUBLINGS):
        inner = scipy.linalg.solve(np.eye(r_r.shape[0]) - r_r @ r_l, np.concatenate([t_r, r_r @ t_l], axis=1))
        outer = scipy.linalg.solve(np.eye(r_l.shape[0]) - r_l @ r_r, np.concatenate([r_l @ t_r, t_l], axis=1))
        width = t_r.shape[1]
        change = t_r @ inner[:, width:]
        t_r, r_l, r_r, t_l = (
            t_r @ inner[:, :width],
            r_l + t_l @ outer[:, :width],
            r_r + change,
            t_l @ outer[:, width:],
        )
        if np.abs(change).max() <= np.finfo(float).tiny + 1e-17 * np.abs(r_r).max():
            break
    else:
        raise NotConvergedError(f"the half-line with drift {drift:g} was not closed in {_DOUBLINGS} doublings")
    # One plain step first: it conserves mass block by block, which doubling does only to rounding (error of the decay
    # rate at h = 0.0056, baseline: 3e-12 without it, 4e-13 with it).
    reflection = absorb(block, r_r, guess)[2]
    response, step, reflection = absorb(block, reflection, guess)
    return HalfLine(reflection, response, step, _decay(step) / (BLOCK * scheme.spacing))


def _decay(step: Array) -> float:
    """-ln of the spectral radius, the eigenvalue refined with both its eigenvectors (error of second order)."""
    values, left, right = scipy.linalg.eig(step, left=True)
    top = int(np.argmax(np.abs(values)))
    x, y = right[:, top].real, left[:, top].real
    for _ in range(2):
        x, y = step @ x, y @ step
        x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return -float(np.log((y @ step @ x) / (y @ x)))
