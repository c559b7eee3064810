"""The integrated correlation time of an observable: how long a sample of the process takes to count as a new one.

    τ = ∫_0^∞ C(t)/C(0) dt,    C(t) = cov(g(ζ_s), g(ζ_{s+t})) in the stationary state

The mean over a run of length T ≫ τ has the variance 2 τ Var(g) / T, as if it had T/(2 τ) independent samples. Since
C(t) = Σ (g - ḡ) e^{At} (g - ḡ) ρ, the integral is one linear solve with the adjoint,

    -A x = (g - ḡ) ρ,    τ = Σ (g - ḡ) x / Σ (g - ḡ)² ρ;

that A is singular does no harm: the source has no mass, and the multiple of ρ that x is free to have is orthogonal to
g - ḡ. The solve is `solver.shifted` at σ = 0, on a grid with `stop` edges far beyond where g counts.

The catch: a finite grid always gives a number. Whether there is one is asked first, of the tail laws: the variance, and
then C, may have an integral that diverges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solver.closed_form import closed_form
from solver.elimination import null_vector
from solver.errors import ModelError, NotConvergedError
from solver.essential import best_weight
from solver.grid import Grid
from solver.observed_order import error_factor
from solver.shifted import resolvent

if TYPE_CHECKING:  # the density offers this as a method
    from solver.density import StationaryDensity

Array = NDArray[np.float64]
Observable = Callable[[Array], Array]

# Nodes at most: one to two seconds.
MAX_NODES = 20_000
# The grid ends where what lies beyond has fallen to this share of τ; a wider one says what that costs. Against a
# drift that grows (a stop edge of the density) less widening will do, and more would only meet larger rates.
_TAIL = 1e-14
_WIDER = {"open": 1.5, "stop": 1.25}
# A domain errs by what widening it changes, times at least this: what is left beyond the distance s falls as s^{-x},
# and the factor is 1/(1 - 1.25^{-x}); here x = 1.
_BEYOND = 5.0
# Spacings up to this share of the interquartile range may be taken for the sake of a long tail.
_COARSEST = 1 / 16
# Steps of the march into an open tail, each longer by this factor.
_STRIDE = 1.2
# Distance, from the middle of the density, to which the growth of an observable is read, and points there; in units of
# the tail's own length where that is longer.
_FAR, _LENGTHS, _POINTS = 300.0, 50.0, 64
# Rounding of τ relative to itself: 3e-14 at most was seen (Ornstein-Uhlenbeck, tanh, two wells).
_ROUNDING = 1e-13
# A standard deviation below this share of an observable is rounding of a constant, in units of its root mean square.
_CONSTANT = 1e-12
# An estimate with a larger relative error is not worth returning.
_USELESS = 0.1


@dataclass(frozen=True)
class CorrelationTime:
    """A correlation time and the estimate of its error, both in units of time; float() gives the value."""

    value: float
    error_estimate: float

    def __float__(self) -> float:
        return self.value


def identity(zeta: Array) -> Array:
    """The observable ζ itself."""
    return zeta


def correlation_time(
    density: StationaryDensity, observable: Observable = identity, *, max_nodes: int = MAX_NODES
) -> CorrelationTime:
    """Integrated correlation time of `observable`, a function of ζ (arrays to arrays), in the stationary state.

    For a linear drift and the observable ζ it is 1/rate, whatever the noise. Raises ModelError for an observable that
    is constant, not finite, or so heavy that its variance or its correlation time is infinite; NotConvergedError where
    `max_nodes` nodes do not give a tenth of it.

    >>> from solver.drifts import LinearDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> from solver.model import Model
    >>> from solver.stationary import solve_stationary
    >>> density = solve_stationary(Model(LinearDrift(2.0), 0.1, TemperedStableJumps(0.3, 1.2, 2.0)))
    >>> round(float(correlation_time(density)), 9), round(float(correlation_time(density, np.square)), 9)
    (0.5, 0.25)
    """
    with np.errstate(all="ignore"):  # a user's function may overflow far out; where it counts it is checked
        mean, variance = _moments(density, observable)
        excess = _require_integrable(density, observable, mean)
        reach = [_reach(density, observable, mean, variance, side, max_nodes) for side in (0, 1)]
        wide = [_WIDER[edge] * count for edge, count in zip(density.grid.edges, reach, strict=True)]
        step = 1
        while sum(wide) / step > max_nodes:  # a density resolved more finely than its correlations need
            step *= 2
        values = [_solve(density, observable, wide, step, level) for level in (1, 2, 4)]
        narrow = _solve(density, observable, reach, step, 2, offset=step)
    fine, coarse, coarsest = values
    if fine is None or coarse is None or narrow is None:
        raise NotConvergedError(
            f"correlation_time: the spacing {2 * step * density.grid.spacing:.3g}, which the estimate needs, does not "
            f"resolve the model (the density has {density.grid.spacing:.3g}); allow more nodes than {max_nodes}, or "
            "solve the density on a finer grid",
            density,
        )
    change = abs(fine - coarse)
    before = np.inf if coarsest is None else abs(coarse - coarsest)
    error = change * error_factor(before / change if change > 0 else np.inf, density.order)
    beyond = max(_BEYOND, 1 / (1 - min(_WIDER.values()) ** -excess))
    error += beyond * abs(coarse - narrow) + _ROUNDING * abs(fine)
    if not error <= _USELESS * abs(fine):
        raise NotConvergedError(
            f"correlation_time: {fine:.6g} with an estimated error of {error:.1g} at h = "
            f"{step * density.grid.spacing:.3g}: the tail that counts is too long, or the grid too coarse, for this "
            "observable; allow more nodes, solve the density on a finer grid, or take one that grows less",
            density,
            error,
        )
    return CorrelationTime(fine, float(error))


def _observed(observable: Observable, zeta: Array) -> Array:
    """g at the nodes, checked."""
    values = np.asarray(observable(zeta), dtype=float)
    if values.shape != zeta.shape:
        raise ModelError(
            f"observable: gives shape {values.shape} for {zeta.size} points; it must act on arrays, and not be constant"
        )
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ModelError(f"observable = {values[place]} at ζ = {zeta[place]:.6g}, where it counts: must be finite")
    return values


def _moments(density: StationaryDensity, observable: Observable) -> tuple[float, float]:
    """Mean and variance over the nodes, to say where the observable counts."""
    values, rho = _observed(observable, density.zeta), np.exp(density.log_density - density.log_density.max())
    mean = float(values @ rho / rho.sum())
    variance = float((values - mean) ** 2 @ rho / rho.sum())
    if not variance > _CONSTANT**2 * float(values**2 @ rho / rho.sum()):
        raise ModelError(f"observable: constant ({mean:g}) on the whole density; it has nothing to correlate")
    return mean, variance


def _require_integrable(density: StationaryDensity, observable: Observable, mean: float) -> float:
    """ModelError unless variance and correlation time are finite, by the tail laws; by how many powers of s they are.

    With ρ ~ e^{-E s} s^q / |F| and powers of s read off g and F between s and 2 s, g² ρ falls as s^{-p}. The variance
    needs p > 1; an excursion to s lasts about ∫ ds / |F|, and τ needs p > 1 with that as well unless E > 0.
    """
    theory, middle, excess = closed_form(density.model), density.median(), np.inf
    for sign, tail in ((-1.0, theory.tail), (1.0, theory.right_tail)):
        if np.isinf(tail.exponent):
            continue
        far = max(_FAR, _LENGTHS / tail.exponent) if tail.exponent > 0 else _FAR
        sizes = _sizes(observable, mean, middle, sign * far)
        while not np.isfinite(sizes).all():
            far /= 2
            sizes = _sizes(observable, mean, middle, sign * far)
        drift = np.abs(density.model.drift(middle + sign * far * np.array([0.5, 1.0])))
        growth = float(np.log2(drift[1] / drift[0])) if np.isfinite(drift).all() else np.inf
        gain = 2 * float(np.log2(sizes[1] / sizes[0])) if sizes.all() else 0.0
        power = 0.5 * far / np.log(2) * tail.exponent - tail.power + (growth if tail.over_drift else 0.0) - gain
        lasting = max(0.0, 1 - growth) if tail.exponent == 0 else 0.0
        if not power - lasting > 1:
            what = "correlation time" if power > 1 else "variance"
            raise ModelError(
                f"observable: its {what} is infinite: towards ζ → {'-' if sign < 0 else '+'}∞ its square outweighs "
                f"the density, which falls as {tail}; take a bounded function of it, or its logarithm"
            )
        excess = min(excess, power - lasting - 1)
    return excess


def _sizes(observable: Observable, mean: float, middle: float, far: float) -> Array:
    """Largest |g - ḡ| over equal windows around far/2 and far from the middle: an observable may oscillate."""
    window = np.linspace(0.0, 0.05 * far, _POINTS)
    values = [np.asarray(observable(middle + part * far + window), dtype=float) for part in (0.5, 1.0)]
    return np.array([np.abs(value - mean).max() for value in values])


def _reach(
    density: StationaryDensity, observable: Observable, mean: float, variance: float, side: int, max_nodes: int
) -> float:
    """How many of the density's steps from its peak, on one side, hold all that counts or that there is room for."""
    grid, peak, sign = density.grid, int(np.argmax(density.log_density)), (-1.0, 1.0)[side]
    quartiles = density.ppf([0.25, 0.75])
    room = max_nodes / 4 * max(1.0, _COARSEST * float(quartiles[1] - quartiles[0]) / grid.spacing)
    count = float(peak if side == 0 else grid.nodes - 1 - peak)
    while grid.edges[side] == "open" and count < room:
        zeta = np.array([grid.zeta[peak] + sign * count * grid.spacing])
        share = (_observed(observable, zeta) - mean) ** 2 / variance * (1 + count * grid.spacing)
        if share[0] * np.exp(density.logpdf(zeta)[0]) < _TAIL:
            break
        count = _STRIDE * count + 1
    return count


def _solve(
    density: StationaryDensity, observable: Observable, reach: list[float], step: int, level: int, offset: int = 0
) -> float | None:
    """τ on the nodes around the peak, or `offset` nodes beside it, at step · level times the density's spacing.

    The ends are the same at every level up to 4. None where the spacing is too coarse.
    """
    model, h = density.model, level * step * density.grid.spacing
    anchor = float(density.zeta[np.argmax(density.log_density)]) + offset * density.grid.spacing
    left, right = (int(np.ceil(count / (4 * step))) * 4 // level for count in reach)
    grid = Grid(anchor - left * h, anchor + right * h, left + right + 1, "stop")
    weight = best_weight(model, grid.zeta)
    try:
        null = null_vector(model, grid, density.order)
        inverse = resolvent(model, grid, 0.0, density.order, weight)
    except (ModelError, np.linalg.LinAlgError, FloatingPointError):
        return None
    rho = null.sign * np.exp(null.log_density)
    values = _observed(observable, grid.zeta)
    values = values - values @ rho / rho.sum()
    source = values * null.sign * np.exp(null.log_density - weight)
    solution = inverse.apply(source) * np.exp(weight)
    return float(values @ solution / (values**2 @ rho))
