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
from typing import ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from solver.blocks import BLOCK, Block, Scheme, assemble
from solver.errors import ModelError, NotConvergedError
from solver.nullvector import Continuation
from solver.power_tail import PowerTail

Array = NDArray[np.float64]
Shapes = tuple[PowerTail | None, PowerTail | None]

# 2^60 blocks: no half-line with a resolvable drift needs more than about 30 doublings.
_DOUBLINGS = 60
# Jumps beyond the reach R do not matter where e^{-(λ-β) R} is below 1e-17.
_CLEAR = 40.0
# A decay rate counts as pinned by the tempering above this share of what the finite reach adds to a pinned one
# (measured: 0.998 to 1 well below the threshold, 0.35 and less at it).
_PINNED = 0.9


@dataclass(frozen=True, eq=False)
class HalfLine:
    """The closed half-line: `reflection` R, block response `block` Y, `step` M.

    `exponent` is the decay rate of ρ outwards, `excess` what the finite reach of the jumps adds to it, `doubt` how much
    the exponent may be off by it (`Continuation`).
    """

    reflection: Array
    block: Array
    step: Array
    exponent: float
    excess: float
    doubt: float

    def beyond(self, message: Array, log_scale: float, scheme: Scheme) -> Continuation:
        """The density beyond the edge when `message` times e^{log_scale} enters the half-line."""
        return Continuation(
            self.block[::-1],
            self.step,
            message,
            log_scale,
            scheme.spacing,
            self.exponent,
            scheme.reach,
            self.excess,
            self.doubt,
        )


@dataclass(frozen=True, eq=False)
class ShapedLine:
    """A half-line whose density has a known shape: one number, its size, answers whatever enters.

    `tail` is the shape, `incoming` (p,) the message it sends inwards at size 1, `share` (p,) its size per message: what
    enters leaves again, rate for rate, so that mass is conserved to rounding. The catch: nothing here tests the shape.
    """

    doubt: ClassVar[float] = 0.0  # a shape is given, not read from the jumps

    tail: PowerTail
    incoming: Array
    share: Array

    @property
    def reflection(self) -> Array:
        """R, of rank one."""
        return np.outer(self.incoming, self.share)

    def beyond(self, message: Array, log_scale: float, scheme: Scheme) -> PowerTail:
        """The density beyond the edge when `message` times e^{log_scale} enters the half-line."""
        return self.tail.shifted(float(np.log(self.share @ message)) + log_scale)


def shaped_line(scheme: Scheme, drift: Array, tail: PowerTail) -> ShapedLine:
    """The half-line to the left with the shape `tail`; `drift` at the m nodes on either side of the edge, (2m,)."""
    m = scheme.m
    nearest = np.exp(tail.log_density(np.arange(m, 0, -1.0)))
    incoming: Array = np.concatenate([tail.sent(scheme.right.log_ratios), nearest])
    leaving = scheme.mirrored.landing(-drift[m:][::-1])
    return ShapedLine(tail, incoming, leaving / float(scheme.landing(drift[:m]) @ incoming))


def balance_rows(matrix: Array, outflow: Array) -> Array:
    """Row i of the result is the sum of rows 0 … i of the negative of a generator block: the net flow past node i.

    `matrix` (n, n) has minus the flows off its diagonal and `outflow` (n,) are its column sums. No entry is a
    difference: what node j ≤ i sends past i is a sum of flows and of its outflow, what j > i sends back another.
    The diagonal of `matrix`, where large numbers cancel, is not even read.
    """
    flows = -matrix
    flows[np.diag_indices_from(flows)] = 0.0
    back = np.cumsum(flows, axis=0)
    past = np.tile(outflow, (flows.shape[0], 1))
    past[:-1] += np.cumsum(flows[:0:-1], axis=0)[::-1]
    return np.tril(past) - np.triu(back, 1)


def solve_block(matrix: Array, right_side: Array, outflow: Array) -> Array:
    """Solve matrix · X = right_side for the negative of a generator block whose column sums are `outflow`.

    The equations are summed into balances of flow (`balance_rows`): every entry of X then comes out accurate relative
    to itself, in tails of any steepness, in a region that drains slowly, and where the drift is weak against the noise.
    Measured against the equations as they stand: tail slope 20 at h = 0.025, 4e-14 instead of 4e-2; decay rate of the
    baseline at h = 0.0056, 2e-14 instead of 3e-12.
    """
    rows = balance_rows(matrix, outflow)
    size = np.abs(rows).max(axis=1, keepdims=True)
    solution: Array = np.linalg.solve(rows / size, np.cumsum(right_side, axis=0) / size)
    return solution


def absorb(block: Block, reflection: Array) -> tuple[Array, Array, Array]:
    """Eliminate one block from the left: its response Y, the message map M and the new reflection.

    With the reflection R of everything further left: B = -(A + U R V'), Y = B^{-1} (U' + U R T'),
    M = T' + V' Y, R_new = V Y + T R M, where a prime marks the leftward message. Only B's diagonal is a difference.
    """
    returned = block.u @ reflection
    outflow = block.land @ (block.v + block.t[:, None] * (reflection @ block.v_back))
    response = solve_block(-(block.a + returned @ block.v_back), block.u_back + returned * block.t_back, outflow)
    step = block.v_back @ response
    step[np.diag_indices(step.shape[0])] += block.t_back
    return response, step, block.v @ response + block.t[:, None] * (reflection @ step)


def close_half_line(scheme: Scheme, drift: float) -> HalfLine:
    """The half-line to the left with constant `drift` > 0."""
    block = assemble(scheme, np.full(BLOCK + 2 * scheme.m, drift))
    outflow = block.land @ block.v + block.land_back @ block.v_back
    forward = solve_block(-block.a, block.u, outflow)
    backward = solve_block(-block.a, block.u_back, outflow)
    u, w = block.land, block.land_back
    # transmission and reflection of one slab: to the right (t_r, r_r) and to the left (r_l, t_l)
    t_r, r_r = np.diag(block.t) + block.v @ forward, block.v @ backward
    r_l, t_l = block.v_back @ forward, np.diag(block.t_back) + block.v_back @ backward
    for _ in range(_DOUBLINGS):
        width = t_r.shape[1]
        inner = _between(r_r @ r_l, np.concatenate([t_r, r_r @ t_l], axis=1), u, u @ t_r + w @ t_l @ r_l)
        outer = _between(r_l @ r_r, np.concatenate([r_l @ t_r, t_l], axis=1), w, w @ t_l + u @ t_r @ r_r)
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
    response, step, reflection = absorb(block, r_r)
    decay = _decay(step) / (BLOCK * scheme.spacing)
    exponent = min(decay, scheme.tempering)
    return HalfLine(reflection, response, step, exponent, decay - exponent, _doubt(scheme, decay))


def _doubt(scheme: Scheme, decay: float) -> float:
    """How far the decay rate may be off because jumps beyond the reach of the exponential sum are not exact.

    The slowest exponential decays by x more than the tempering λ. Well below λ nothing beyond the reach matters, and a
    rate of λ + x is pinned there, where the exact one is λ; between the two, next to the threshold, x is the doubt.
    """
    if scheme.left.weights.size == 0 or scheme.tempering == 0:
        return 0.0
    slowest = -float(scheme.left.log_ratios.max()) / scheme.spacing - scheme.tempering
    clear = (scheme.tempering - decay) * scheme.reach * scheme.spacing > _CLEAR
    return 0.0 if clear or decay - scheme.tempering > _PINNED * slowest else slowest


def _between(round_trip: Array, right_side: Array, landing: Array, escape: Array) -> Array:
    """(I - round_trip)^{-1} right_side: all the passes of what goes to and fro between two slabs.

    Slabs that are thin against the length over which the drift acts let almost nothing escape in one pass, and the
    matrix is close to singular. What escapes is known as a sum of flows, so it takes the place of one equation:
    `landing` weighs the equations, `escape` is their weighted sum.
    """
    matrix = np.eye(round_trip.shape[0]) - round_trip
    rhs = right_side.copy()
    heaviest = int(np.argmax(np.abs(landing)))
    matrix[heaviest], rhs[heaviest] = escape, landing @ right_side
    size = float(np.abs(matrix[heaviest]).max())
    matrix[heaviest] /= size
    rhs[heaviest] /= size
    return np.asarray(np.linalg.solve(matrix, rhs), dtype=float)


def _decay(step: Array) -> float:
    """-ln of the spectral radius, the eigenvalue refined with both its eigenvectors (error of second order)."""
    values, left, right = scipy.linalg.eig(step, left=True)
    top = int(np.argmax(np.abs(values)))
    x: Array = right[:, top].real
    y: Array = left[:, top].real
    for _ in range(2):
        x, y = step @ x, y @ step
        x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return -float(np.log((y @ step @ x) / (y @ x)))


def _require_closable(drift: float, tempering: float) -> None:
    """Raise ModelError unless exponentials close the half-line whose drift inwards is `drift`."""
    if not np.isfinite(drift):
        raise ModelError(
            f"edges: an edge must be 'stop', not 'open', where the drift has no finite limit (F inwards is {drift:g}): "
            "an open edge needs a drift that is constant beyond it"
        )
    if tempering == 0:
        raise ModelError(
            "edges: beyond an 'open' edge untempered jumps (tempering = 0) leave powers of the depth, which the "
            "elimination alone cannot close; use solve_stationary, which knows the powers, or 'stop' edges"
        )


def half_lines(
    scheme: Scheme, edges: tuple[str, str], drift: Array, shapes: Shapes
) -> tuple[HalfLine | ShapedLine | None, HalfLine | ShapedLine | None]:
    """The half-lines beyond open edges; one serves both where the drifts inwards are equal and constant."""

    def half_line(side: Scheme, inwards: Array, shape: PowerTail | None) -> HalfLine | ShapedLine:
        if shape is not None:
            return shaped_line(side, inwards, shape)
        _require_closable(float(inwards[0]), side.tempering)
        return close_half_line(side, float(inwards[0]))

    left, right = drift[: 2 * scheme.m], -drift[: -2 * scheme.m - 1 : -1]
    first = half_line(scheme, left, shapes[0]) if edges[0] == "open" else None
    if edges[1] == "stop":
        return first, None
    same = isinstance(first, HalfLine) and shapes[1] is None and left[0] == right[0] and scheme.right is scheme.left
    return first, first if same else half_line(scheme.mirrored, right, shapes[1])
