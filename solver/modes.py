"""Relaxation modes: the discrete rates at which a population forgets where it started, with their eigenfunctions.

    A x = -r x (densities),    L y = -r y (observables),    0 < r < edge of the essential spectrum

A perturbation δ of the stationary density fades as Σ_n x_n (y_n · δ) e^{-r_n t}, plus a continuum that fades like
e^{-edge t}; the mean of an observable relaxes the same way with x and y exchanged. docs/modes.md has the derivation.

The catch: on a finite grid the continuum is discrete too. Its rates lie above the edge and move with the domain; what
is returned lies below the edge and has stopped moving. Closer to the edge than `searched_below` nothing is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.checks import number
from solver.confinement import require_confinement
from solver.essential import essential_edge
from solver.grid import Grid
from solver.mode_search import Converged, Ladder, converged
from solver.model import Model
from solver.shifted import resolvent

Array = NDArray[np.float64]

# Work stops here by default: some five seconds for the largest grid.
MAX_NODES = 50_000
# Eigenfunctions are shown where the weight, about the root of ρ, is above this share of its peak: there their own
# rounding, 1e-15 of the weight, is below 1e-7 of them, and outside lies 1e-16 of the population.
_SHOWN = 1e-8
# The stationary density by inverse iteration with σ at this share of the smallest rate: each step gains that factor.
_REST, _REST_STEPS = 1e-4, 4


@dataclass(frozen=True, eq=False, repr=False)
class RelaxationModes:
    """Discrete relaxation rates r (1 / time), ascending, with their eigenfunctions on the nodes `zeta` (N,).

    `rates` and `frequencies` (n,) are the real and imaginary parts of r: an oscillating pair has two frequencies of
    opposite sign, all others are exactly 0. `error_estimates` (n,) are relative to |r|. `right` (n, N) are the
    densities x, A x = -r x, each the difference of two probabilities, ∫ x dζ = 0 and ∫ |x| dζ = 2; `left` (n, N) the
    observables y, L y = -r y, with ∫ y_i x_j dζ = δ_ij and ∫ y ρ dζ = 0, positive at the right end. (The integrals are
    sums over all nodes of `grid`, some of which lie beyond `zeta`.) Both are real unless there is a frequency. n may
    be less than asked for, and 0. `essential_edge` is where the continuum begins: inf if there is none, 0 where nothing
    relaxes exponentially; no mode was looked for between `searched_below` and it.
    """

    model: Model
    grid: Grid | None
    rates: Array
    frequencies: Array
    error_estimates: Array
    zeta: Array
    right: NDArray[np.inexact]
    left: NDArray[np.inexact]
    essential_edge: float
    searched_below: float

    @property
    def gap(self) -> float:
        """The slowest exponential rate (1 / time): the first mode's, or the essential edge if there is no mode."""
        return float(self.rates[0]) if self.rates.size else self.essential_edge

    def __repr__(self) -> str:
        rates = ", ".join(f"{rate:.8g}" for rate in self.rates)
        error = self.error_estimates.max(initial=0.0)
        return f"RelaxationModes(rates [{rates}], error {error:.1e}, essential edge {self.essential_edge:.8g})"


def relaxation_modes(
    model: Model, k: int = 6, rtol: float = 1e-8, *, order: int = 8, max_nodes: int = MAX_NODES
) -> RelaxationModes:
    """The at most `k` slowest modes below the essential spectrum, each rate right to `rtol` relative to itself.

    Solves A x = -r x and L y = -r y with L y = F y' + η_G y'' + J y and A its adjoint. Raises ModelError for bad
    arguments, NoStationaryDensityError where the drift does not confine, NotConvergedError (with the rates and errors
    that were reached) where `max_nodes` does not allow `rtol`.

    >>> from solver.drifts import TanhDrift
    >>> modes = relaxation_modes(Model(TanhDrift(1.0), 0.1, None))
    >>> modes.rates.round(6).tolist()  # n (2 s - n) η_G for n < s = κ/(2 η_G) = 5
    [0.9, 1.6, 2.1, 2.4]
    >>> round(modes.essential_edge, 6)  # κ²/(4 η_G)
    2.5
    """
    k = int(number("k", k, low=1, integer=True))
    rtol = number("rtol", rtol, low=1e-12, high=0.1)
    max_nodes = int(number("max_nodes", max_nodes, low=64, integer=True))
    require_confinement(model)
    edges = essential_edge(model, "left"), essential_edge(model, "right")
    edge = min(side.rate for side in edges)
    none = np.zeros(0)
    if edge == 0:
        return RelaxationModes(model, None, none, none, none, none, none.reshape(0, 0), none.reshape(0, 0), 0.0, 0.0)
    ladder = Ladder(model, edges, k, order)
    found = converged(ladder, rtol, max_nodes)
    zeta, right, left = _eigenfunctions(model, order, found)
    modes = found.modes
    return RelaxationModes(
        model, found.grid, modes.rates.real, modes.rates.imag, found.errors, zeta, right, left, edge, ladder.limit
    )


def _eigenfunctions(
    model: Model, order: int, found: Converged
) -> tuple[Array, NDArray[np.inexact], NDArray[np.inexact]]:
    """Nodes (N,), densities and observables (n, N) where they are known, in the units `RelaxationModes` promises."""
    grid, h = found.grid, found.grid.spacing
    weight = np.exp(found.log_weight - found.log_weight.max())
    inside = np.flatnonzero(weight > _SHOWN)
    shown = slice(int(inside[0]), int(inside[-1]) + 1)  # a barrier between wells may be lower still
    zeta = grid.zeta[shown]
    if not found.modes.rates.size:
        return zeta, np.zeros((0, zeta.size)), np.zeros((0, zeta.size))
    rest = weight / (weight @ weight)
    inverse = resolvent(model, grid, _REST * float(np.abs(found.modes.rates[0])), order, found.log_weight)
    for _ in range(_REST_STEPS):
        rest = inverse.apply(rest)
        rest /= h * (weight @ rest)
    observables = found.modes.left.T - h * np.multiply.outer(found.modes.left.T @ rest, weight)
    densities = found.modes.right.T * weight / h
    end = observables[:, shown][:, -1]
    size = (end / np.abs(end) * 2 / (h * np.abs(densities).sum(axis=1)))[:, None]
    right, left = densities[:, shown] * size, observables[:, shown] / weight[shown] / size
    return (zeta, right, left) if found.modes.rates.imag.any() else (zeta, right.real, left.real)
