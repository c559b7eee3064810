"""Which grid the modes need: spacing halved and domain widened, whichever matters more, until neither does.

A spacing and a domain are tried against one of half the spacing and against a wider one; the larger of the two changes
decides what is refined. Both changes together, with the order that was observed, are the error estimate.

The catch: rates that are not there yet cannot change. The first domain is therefore wide enough for every mode that is
looked for (`_HOLDS`), and its number of modes must agree on all three grids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from solver.errors import NotConvergedError
from solver.essential import Edge, best_weight
from solver.grid import Grid
from solver.model import Model
from solver.observed_order import error_factor
from solver.ritz import Ritz, ritz

Array = NDArray[np.float64]

# The first domain reaches this many times 1/b out on a plateau, b the weight of its edge. A mode that fades by less
# than e^{-6} over it is not looked for: for diffusion that is a rate within 0.1% of the edge, where jumps alone carry
# the tail 5%.
_WIDE, _HOLDS = 100.0, 6.0
# The first domain ends where the weight, about the root of ρ, has fallen by 1e-8.
_DEPTH = -np.log(1e-8)
# Untempered jumps have no exponential weight to tell the depth from; a start, in units of the model's length.
_ALGEBRAIC = 20.0
# First spacing in units of the shortest length: order 8 has low rates right to 1e-4 there (measured).
_COARSE = 0.35
# λ h at most this: the lattice corrections are a series in it that needs 1.
_TEMPERED = 0.9
# Fewest steps of the first grid to either side of the anchor.
_STEPS = 24
# σ in units of the slower of contraction and edge: small against the rates, so that they are well apart.
_SHIFT = 0.1
# Depth, or distance, is widened by this factor.
_WIDER = 1.5
# A domain errs by what widening it changes, times this: 1/(1 - 1.5^{-1}), the slowest algebraic tail there is.
_BEYOND = 3.0
# Above this relative change the spacing is refined before anything is said about the domain.
_ROUGH = 0.03
# No estimate is smaller: the rounding of a whole search (errors of 3e-13 were seen beside estimates of as much).
_FLOOR = 1e-12
# A coarse grid moves with the domain by about its own error (seen: twice); only what moves more is the domain's fault.
_OUTWEIGHS = 4.0
# Points of a scan of drift or weight.
_SCAN = 1001


@dataclass(frozen=True, eq=False)
class Converged:
    """Modes that have converged: their grid, the weight they are scaled by, and their relative errors (n,)."""

    grid: Grid
    log_weight: Array
    modes: Ritz
    errors: Array


class Ladder:
    """Grids of one model by (halvings of the spacing, widenings of the domain), and their modes, each found once.

    `edges` are those of the two sides; at most `count` modes are looked for, below `limit`.
    """

    def __init__(self, model: Model, edges: tuple[Edge, Edge], count: int, order: int) -> None:
        self.model, self.edges, self.count, self.order = model, edges, count, order
        self.limit = min(edge.rate_of(_HOLDS * edge.weight / _WIDE) if edge.saturates else edge.rate for edge in edges)
        contraction, self.length = _scales(model)
        self.shift = _SHIFT * min(contraction, self.limit)
        zeros = model.drift.sign_changes()
        self.anchor = float(model.drift.breaks[0] if model.drift.breaks else zeros[zeros.size // 2])
        self.reaches = (self.anchor - float(zeros[0]), float(zeros[-1]) - self.anchor)
        self.step = _COARSE * self.length
        if model.jumps is not None and model.jumps.tempering > 0:
            self.step = min(self.step, _TEMPERED / model.jumps.tempering)
        self._ends: dict[tuple[int, int], float] = {}
        self._found: dict[tuple[int, int], Ritz | None] = {}
        self._number = count if np.isinf(self.limit) else 0

    def grid(self, halvings: int, size: int) -> Grid:
        """Nodes at step / 2^halvings, the anchor among them, out to where `size` widenings put the ends."""
        for side in (0, 1):
            if (side, size) not in self._ends:
                self._ends[side, size] = self._reach(side, size)
        left, right = (max(_STEPS, int(np.ceil(self._ends[side, size] / self.step))) for side in (0, 1))
        ends = self.anchor - left * self.step, self.anchor + right * self.step
        return Grid(*ends, (left + right) * 2**halvings + 1, "stop")

    def _reach(self, side: int, size: int) -> float:
        """Distance from the anchor to an end."""
        edge, sign = self.edges[side], (-1.0, 1.0)[side]
        factor, zero = _WIDER**size, self.reaches[side]
        if self.model.jumps is not None and self.model.jumps.tempering == 0:
            return zero + factor * _ALGEBRAIC * self.length
        reach = self.length
        while _fallen(self.model, self.anchor + sign * zero, sign * reach) < factor * _DEPTH:
            reach *= 1.2
        if edge.saturates:  # there the weight falls linearly
            reach = max(reach, factor * _WIDE / edge.weight)
        return zero + reach

    def modes(self, halvings: int, size: int) -> Ritz | None:
        """The modes of one grid below the limit; None where it is so coarse that something grows."""
        if (halvings, size) not in self._found:
            self._found[halvings, size] = self._solve(self.grid(halvings, size))
        return self._found[halvings, size]

    def _solve(self, grid: Grid) -> Ritz | None:
        weight = best_weight(self.model, grid.zeta)
        try:
            found = self._ritz(grid, weight, self._number)
            if found.rates.size > self._number:  # there are modes after all
                found = self._ritz(grid, weight, self.count)
        except np.linalg.LinAlgError:
            return None
        if (found.rates.real <= 0).any() or (found.rates.size < self.count and np.isinf(self.limit)):
            return None
        keep = np.arange(found.rates.size) < self.count
        if not keep.all() and found.rates[self.count].imag > 0:  # half a pair is no mode
            keep[self.count - 1] = False
        return found.cut(keep)

    def _ritz(self, grid: Grid, weight: Array, number: int) -> Ritz:
        """Modes of one grid when `number` of them are expected; if none is, the continuum must show itself."""
        return ritz(
            self.model,
            grid,
            weight,
            max(number, 1),
            self.shift,
            self.order,
            limit=self.limit,
            all_below=number < self.count,
        )

    def expect(self, number: int) -> None:
        """The number of modes below the limit is known from two grids: look no further on the next."""
        self._number = number


def converged(ladder: Ladder, rtol: float, max_nodes: int) -> Converged:
    """Modes right to `rtol`; NotConvergedError, saying what was reached, where `max_nodes` nodes do not allow it."""
    halvings, size, before, reached = 0, 0, np.inf, np.full(1, np.inf)
    while ladder.grid(halvings + 1, size + 1).nodes <= max_nodes:
        here, finer = ladder.modes(halvings, size), ladder.modes(halvings + 1, size)
        change = _change(here, finer)
        largest = float(change.max(initial=0.0))
        if here is None or finer is None or largest > _ROUGH:
            halvings, before = halvings + 1, largest
            continue
        if np.isfinite(ladder.limit):
            ladder.expect(finer.rates.size)
        moved = _BEYOND * _change(here, ladder.modes(halvings, size + 1))
        coarse = change * error_factor(before / largest if largest > 0 else np.inf, ladder.order)
        if moved.shape == coarse.shape:
            reached = coarse + moved + finer.rounding + _FLOOR
            size_shown = size + 1 if reached.size else size  # so that no edge shows in eigenfunctions
            best = ladder.modes(halvings + 1, size_shown) if reached.max(initial=0.0) <= rtol else None
            if best is not None and best.rates.size == reached.size:
                grid = ladder.grid(halvings + 1, size_shown)
                return Converged(grid, best_weight(ladder.model, grid.zeta), best, reached)
        if moved.max(initial=0.0) > _OUTWEIGHS * _BEYOND * largest:
            size += 1
        else:
            halvings, before = halvings + 1, largest
    best = ladder.modes(halvings, size) if ladder.grid(halvings, size).nodes <= max_nodes else None
    rates = "none" if best is None else ", ".join(f"{rate:.6g}" for rate in best.rates.real) or "none"
    error = float(reached.max(initial=0.0))
    raise NotConvergedError(
        f"rtol = {rtol:g} was not reached: the rates are {rates} with relative errors up to {error:.1g} at h = "
        f"{ladder.grid(halvings, size).spacing:.3g}, and the next grid needs more than max_nodes = {max_nodes} nodes; "
        "allow more nodes, take a larger rtol, or ask for fewer modes",
        None,
        error,
    )


def _change(one: Ritz | None, other: Ritz | None) -> Array:
    """Relative changes of the rates from one grid to the other, (n,); inf where their number differs."""
    if one is None or other is None or one.rates.size != other.rates.size:
        return np.full(1, np.inf)
    return np.abs(one.rates - other.rates) / np.abs(other.rates)


def _scales(model: Model) -> tuple[float, float]:
    """The drift's contraction (1 / time) and the shortest length: of the drift, or where noise balances contraction.

    The contraction is the steepest |F'| around the points where F vanishes, away from breaks.
    """
    width = model.drift.length_scale if np.isfinite(model.drift.length_scale) else 1.0
    zeros = model.drift.sign_changes()
    zeta = np.linspace(zeros[0] - width, zeros[-1] + width, _SCAN)
    slope = np.abs(np.diff(model.drift(zeta)) / np.diff(zeta))
    smooth = np.all([(zeta[1:] < x) | (zeta[:-1] > x) for x in model.drift.breaks], axis=0)
    contraction = float(np.max(slope, where=smooth, initial=0.0)) or abs(float(model.drift(zeta[0]))) / width

    def excess(log_length: float) -> float:
        k = np.exp(-log_length)
        noise = model.diffusion * k * k - (0.0 if model.jumps is None else float(model.jumps.symbol(k)))
        return float(np.log(noise / contraction)) if noise > 0 else -np.inf

    ends = np.log(1e-6 * width), np.log(1e6 * width)
    if excess(ends[0]) > 0 > excess(ends[1]):
        length = float(np.exp(brentq(excess, *ends, xtol=1e-3)))
    else:  # jumps of small α balance at no length in particular
        length = width
    return contraction, min(length, model.drift.length_scale)


def _fallen(model: Model, zero: float, reach: float) -> float:
    """How far the weight has fallen from its value at `zero` to the point `reach` away."""
    zeta = np.sort(np.linspace(zero, zero + reach, _SCAN))
    weight = best_weight(model, zeta)
    return float(weight[-1] - weight[0]) if reach < 0 else float(weight[0] - weight[-1])
