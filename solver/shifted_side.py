"""One side of the elimination with a source: what every eliminated block keeps, and what messages do on their way.

A block eliminated from outside keeps its own inverse W, and a source f in it travels inwards as one more message s,

    g = W (U s + f),        s' = E g + T s                                  inwards, block by block
    x = g + Y l,            l' = M l + V' g                                 outwards, with the messages l of the middle

with W = (σ - A_I - U R V')⁻¹, Y = W (U' + U R T'), E = V + T R V', M = T' + V' Y and the reflection R of everything
further out (V, T, U send, pass and receive inwards, a prime marks outwards). The transpose is the transposed maps in
the opposite order. All that is not along the chain of messages is done for all blocks at once.

The catch is what a block loses. Every factor is a sum of positive terms when the grid resolves the model, and stays one
if the diagonal of σ - A_I - U R V', a difference, is never used. Its column sums are the flow inwards plus σ times the
mass that is held, in the block and through what it sends outwards,

    outflow = land · (V + T R V') + σ (1 + μ V'),       μ' = 1ᵀ Y + μ M

with μ the mass held outside per message; `solve_block` makes the equations from them. Results are then right relative
to |(σ - A)⁻¹| |f|, however slowly a region drains and however small σ is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.blocks import BLOCK, Block, Scheme, assemble
from solver.halfline import solve_block

Array = NDArray[np.float64]

# Relative change of reflection and held mass at which the steps on a plateau count as repeating (as in `elimination`).
_REPEATS = 2e-15


@dataclass(frozen=True, eq=False)
class _Step:
    """One eliminated block: W (b, b), W U (b, p), E (p, b), Y (b, p), and what carries messages past it: E W U + T
    inwards and M outwards, both (p, p)."""

    inverse: Array
    arrive: Array
    emit: Array
    response: Array
    inwards: Array
    outwards: Array


@dataclass(frozen=True, eq=False)
class Side(_Step):
    """One eliminated side, outside first, in coordinates in which inwards is to the right.

    `reflection` (p, p) and `held` (p,) are what it gives back and holds per message, `back` (p, b) is V'. The fields of
    `_Step` are stacked (n, …), with the change of scale from each block to the next one inwards worked into emit and
    inwards, and back into response and outwards.
    """

    reflection: Array
    held: Array
    back: Array

    @property
    def blocks(self) -> int:
        return int(self.inverse.shape[0])

    def gather(self, source: Array) -> tuple[Array, Array]:
        """Sources (n, b, k) to the blocks' own responses g (n, b, k) and the message s (p, k) to the middle."""
        own = self.inverse @ source
        messages, last = _chain(self.inwards, self.emit @ own)
        return own + self.arrive @ messages, last

    def scatter(self, own: Array, message: Array) -> Array:
        """The blocks' own responses and the middle's message outwards to the solution (n, b, k)."""
        messages, _ = _chain(self.outwards[::-1], (self.back @ own)[::-1], message)
        return np.asarray(own + self.response @ messages[::-1])

    def scatter_transposed(self, source: Array) -> tuple[Array, Array]:
        """The transpose of `scatter`: (own, message) for a source."""
        messages, last = _chain(_t(self.outwards), _t(self.response) @ source)
        return source + self.back.T @ messages, last

    def gather_transposed(self, own: Array, message: Array) -> Array:
        """The transpose of `gather`."""
        messages, _ = _chain(_t(self.inwards)[::-1], (_t(self.arrive) @ own)[::-1], message)
        return np.asarray(_t(self.inverse) @ (own + _t(self.emit) @ messages[::-1]))


def _t(matrices: Array) -> Array:
    """Each of a stack of matrices transposed."""
    return matrices.transpose(0, 2, 1)


def _chain(matrices: Array, terms: Array, start: Array | None = None) -> tuple[Array, Array]:
    """m ← matrix m + term along a stack: every m before its step, and the last one."""
    before = np.empty_like(terms)
    message = np.zeros(terms.shape[1:]) if start is None else start
    for i in range(terms.shape[0]):
        before[i] = message
        message = matrices[i] @ message + terms[i]
    return before, message


def sweep(scheme: Scheme, drift: Array, sigma: float, weight: Array, inner: float) -> Side:
    """Eliminate whole blocks from the stop edge on the left inwards; `inner` is the log weight of the middle."""
    m = scheme.m
    p, q = scheme.right.weights.size + m, scheme.left.weights.size + m
    reflection, held = np.zeros((p, q)), np.zeros(q)
    steps: list[_Step] = []
    repeating = False
    for begin in range(0, drift.size - 2 * m, BLOCK):
        window = drift[begin : begin + BLOCK + 2 * m]
        flat = begin > 0 and bool(np.all(window == drift[begin - 1]))
        if repeating and flat:
            steps.append(steps[-1])
            continue
        block = assemble(scheme, window, stop_left=begin == 0)
        step, new_reflection, new_held = _absorb(block, reflection, held, sigma)
        change = max(_change(new_reflection, reflection), _change(new_held, held))
        repeating = flat and change <= _REPEATS
        steps.append(step)
        reflection, held = new_reflection, new_held
    ratio = np.exp(-np.diff(np.append(weight[::BLOCK], inner)))[:, None, None]

    def stacked(shape: tuple[int, int], name: str) -> Array:
        return np.array([getattr(step, name) for step in steps]).reshape(-1, *shape)

    return Side(
        stacked((BLOCK, BLOCK), "inverse"),
        stacked((BLOCK, p), "arrive"),
        stacked((p, BLOCK), "emit") * ratio,
        stacked((BLOCK, q), "response") / ratio,
        stacked((p, p), "inwards") * ratio,
        stacked((q, q), "outwards") / ratio,
        reflection,
        held,
        scheme.mirrored.send(BLOCK)[:, ::-1],
    )


def _change(new: Array, old: Array) -> float:
    """Largest change relative to the largest entry."""
    return float(np.abs(new - old).max(initial=0.0) / (np.abs(new).max(initial=0.0) or 1.0))


def _absorb(block: Block, reflection: Array, held: Array, sigma: float) -> tuple[_Step, Array, Array]:
    """Eliminate one block from the left; the equations are those at the head of this module."""
    returned = block.u @ reflection
    emit = block.v + block.t[:, None] * (reflection @ block.v_back)
    outflow = block.land @ emit + sigma * (1 + held @ block.v_back)
    inverse = solve_block(-(block.a + returned @ block.v_back), np.eye(emit.shape[1]), outflow)
    response = inverse @ (block.u_back + returned * block.t_back)
    arrive = inverse @ block.u
    outwards = block.v_back @ response + np.diag(block.t_back)
    step = _Step(inverse, arrive, emit, response, emit @ arrive + np.diag(block.t), outwards)
    new_reflection = block.v @ response + block.t[:, None] * (reflection @ outwards)
    return step, new_reflection, response.sum(axis=0) + held @ outwards
