"""Relaxation modes: the discrete rates at which a population forgets where it started, with their eigenfunctions.

    A x = -r x (densities),    L y = -r y (observables),    0 < r < edge of the essential spectrum

A perturbation of the stationary density fades as Σ_n x_n (y_n · perturbation) e^{-r_n t}, plus a continuum that fades at
least as fast as the edge; an observable relaxes the same way with x and y exchanged. The rates come from grids with
`stop` edges (`solver.ritz`), of which the spacing is halved and the domain widened, whichever matters more, until
neither does.

The catch: on a finite grid the continuum is discrete too. Its rates lie above the edge and move with the domain; what is
returned lies below the edge and has stopped moving. A mode closer to the edge than one part in a thousand is not told
from the continuum and not returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from solver.checks import number
from solver.confinement import require_confinement
from solver.errors import NotConvergedError
from solver.essential import best_weight, essential_edge
from solver.grid import Grid
from solver.model import Model
from solver.ritz import Ritz, ritz
from solver.shifted import resolvent

Array = NDArray[np.float64]

# Work stops here by default: about a second a grid.
MAX_NODES = 50_000
# Modes this close to the edge of the essential spectrum, relative to it, are not looked for: what holds them grows as
# one over the root of the distance (60 drift widths for a tanh already), and nobody sees them before the continuum.
_NEAREST = 1e-3
# A mode at that limit fades by e^{-6} over the first domain: were there one, it would lie below the edge.
_HOLDS = 6.0
# The first domain ends where the weight squared, about ρ, has fallen by 1e-16.
_DEPTH = -0.5 * np.log(1e-16)
# Untempered jumps have no exponential weight to tell the depth from; a start, in units of the model's length.
_ALGEBRAIC = 20.0
# First spacing in units of the shortest length: order 8 then has rates right to 1e-3 or better (measured).
_COARSE = 0.35
# λ h at most this: the lattice corrections are a series in it that needs 1.
_TEMPERED = 0.9
# Fewest steps of the first grid.
_STEPS = 48
# σ in units of the drift's contraction, or of the edge: small against the rates, so that they are well apart.
_SHIFT = 0.1
# Steps of widening: a tail that is exponential, or algebraic; where the drift grows it fades faster and less will do.
_WIDER, _WIDER_GROWING = 1.5, 1.25
# A domain errs by what widening it changes, times this: 1/(1 - 1.5^{-1}) for the slowest algebraic tail there is.
_BEYOND = 3.0
# Above this relative change the spacing is refined before anything is said about the domain.
_ROUGH = 0.03
# Eigenfunctions are returned where the weight, about the root of ρ, is above this share of its peak: their rounding,
# 1e-15 of it, is then below 1e-7 of themselves; ρ is down to 1e-16 there.
_SHOWN = 1e-8
# Steps from a rough density to the stationary one, each of which gains the factor `_REST` and what was known before.
_REST, _REST_STEPS = 1e-4, 4


@dataclass(frozen=True, eq=False, repr=False)
class RelaxationModes:
    """Discrete relaxation rates r (1 / time), ascending, with their eigenfunctions on the nodes `zeta` (N,).

    `rates` (n,) and `frequencies` (n,) are the real and imaginary parts of r: a pair that oscillates has two
    frequencies of opposite sign, and zero is exact. `error_estimates` (n,) are relative to |r|. `right` (n, N) are the
    densities x with A x = -r x and no mass, `left` (n, N) the observables y with L y = -r y; spacing · Σ y_i x_j = δ_ij,
    spacing · Σ |y|² ρ = 1, y real and positive at the right end (complex where there are frequencies). n may be
    less than asked for, and 0: `essential_edge` is where the continuum begins, inf if there is none.
    """

    model: Model
    grid: Grid
    order: int
    rates: Array
    frequencies: Array
    error_estimates: Array
    zeta: Array
    right: NDArray[np.inexact]
    left: NDArray[np.inexact]
    essential_edge: float

    @property
    def gap(self) -> float:
        """The slowest exponential rate (1 / time): the first mode's, or the essential edge where there is no mode.

        0 where relaxation is slower than any exponential.
        """
        return float(self.rates[0]) if self.rates.size else self.essential_edge

    def __repr__(self) -> str:
        rates = ", ".join(f"{rate:.8g}" for rate in self.rates)
        error = self.error_estimates.max(initial=0.0)
        return f"RelaxationModes(rates [{rates}], error {error:.1e}, essential edge {self.essential_edge:.8g})"


def relaxation_modes(
    model: Model, k: int = 6, rtol: float = 1e-8, *, order: int = 8, max_nodes: int = MAX_NODES
) -> RelaxationModes:
    """At most `k` slowest modes of a model below its essential spectrum, rates right to `rtol` relative to themselves.

    Solves A x = -r x and L y = -r y, A x = -(F x)' + η_G x'' + J*x. Raises ModelError for bad arguments,
    NoStationaryDensityError where the drift does not confine, NotConvergedError (saying what was reached) where
    `max_nodes` does not allow `rtol`.

    >>> from solver.drifts import TanhDrift
    >>> relaxation_modes(Model(TanhDrift(1.0), 0.1, None))  # n (2 s - n) η_G, n < s = κ/(2 η_G) = 5
    RelaxationModes(rates [0.9, 1.6, 2.1, 2.4], error ..., essential edge 2.5)
    """
    k = int(number("k", k, low=1, integer=True))
    rtol = number("rtol", rtol, low=1e-12, high=0.1)
    max_nodes = int(number("max_nodes", max_nodes, low=64, integer=True))
    require_confinement(model)
    edges = essential_edge(model, "left"), essential_edge(model, "right")
    limit = min(edge.rate for edge in edges)
    raise SystemExit
