"""What a network of Q neurons shows of an envelope that has infinitely many.

The empirical envelope f_Q(ℓ) = Σ_q e^{-ℓ/τ_q}/Q has mean f(ℓ) at every lag, but at long lags that mean is carried by
networks that happen to own an extreme time scale. The largest of Q draws has the law P(τ ≤ t)^Q; given that it is t,
the others are independent draws below t, so that exactly

    E[f_Q(ℓ) | τ_max = t] = e^{-ℓ/t}/Q + (1 - 1/Q) ∫_{τ<t} e^{-ℓ/τ} p(τ) dτ / P(τ < t)        (theory (48))

With t the median of the largest time scale this is what a typical network shows: the law of f up to ℓ of about t, and
an exponential beyond.

The catch: it is an average over the other Q - 1 units, not a quantile of f_Q.

The same sum answers a neighbouring question, a population whose time scales are bounded (`bounded_envelope`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from solver.checks import array, instance, number
from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.interpolant import Array

# Panels of the quadrature in ζ and nodes in each: the integrand has no structure finer than the kernel's width of 1 and
# the density's own; Gauss's rule on half units is exact to 1e-13 (measured against the envelope without a cut).
_PANEL = 0.5
_NODES = 12
# The first panel is graded towards the cut, by halves: at lags far beyond τ_max the integrand falls off within τ_max/ℓ.
_GRADES = 40
# Mass left out on the right.
_LEFT_OUT = 1e-18


@dataclass(frozen=True, eq=False)
class FiniteNetwork:
    """The envelope of `neurons` units whose slowest has time scale e^{log_tau_max}, at e^{log_lags}."""

    neurons: int
    quantile: float
    log_tau_max: float
    log_lags: Array
    log_values: Array


def largest_log_tau(density: StationaryDensity, neurons: int, quantile: ArrayLike = 0.5) -> Array:
    """Quantiles of ln τ of the slowest of `neurons` independent units: P(τ ≤ t) = quantile^{1/neurons}.

    Raises ModelError unless neurons ≥ 1 and 0 < quantile < 1.
    """
    count = int(number("neurons", neurons, 1, integer=True))
    q = array("quantile", quantile)
    if not ((q > 0) & (q < 1)).all():
        raise ModelError(f"quantile = {q[~((q > 0) & (q < 1))].flat[0]}: must lie in (0, 1)")
    # P(ζ < -ln t) = 1 - q^{1/Q}, without cancellation
    log_mass = np.log(-np.expm1(np.log(q) / count))
    return np.asarray(-density.distribution.from_lower(log_mass))


def finite_network(
    density: StationaryDensity, neurons: int, log_lags: ArrayLike, quantile: float = 0.5
) -> FiniteNetwork:
    """The typical envelope of `neurons` units at e^{log_lags} (any shape); see the head of this module.

    Raises ModelError for bad arguments.

    >>> from solver import Model, TanhDrift, solve_stationary
    >>> density = solve_stationary(Model(TanhDrift(1.0), 2.0, None))  # f ~ ℓ^{-1/2}
    >>> network = finite_network(density, 100, np.log([10.0, 1e6]))
    >>> missing = network.log_values - density.envelope([10.0, 1e6]).log_values
    >>> round(network.log_tau_max, 2), missing.round(2).tolist()
    (8.72, [0.02, -160.98])
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    log_tau = float(largest_log_tau(density, neurons, quantile))
    logs = array("log_lags", log_lags)
    flat = logs.ravel()
    if not (flat < math.inf).all():
        raise ModelError(f"log_lags = {flat[~(flat < math.inf)][0]}: must be finite")
    below = _log_integral(density, -log_tau, flat) - density.logsf(-log_tau)
    with np.errstate(over="ignore"):
        own = -np.exp(flat - log_tau)
    values = np.logaddexp(own - math.log(neurons), below + np.log1p(-1 / neurons)) if neurons > 1 else own
    return FiniteNetwork(int(neurons), quantile, log_tau, logs, values.reshape(logs.shape))


def bounded_envelope(density: StationaryDensity, log_tau_max: float, log_lags: ArrayLike) -> Array:
    """ln E e^{-ℓ/min(τ, τ_max)} at e^{log_lags} (any shape): time scales beyond τ_max read as τ_max.

    Then, and only then, the envelope is exponential: -ln f(ℓ)/ℓ → 1/τ_max (theory (49)).

    >>> from solver import Model, TanhDrift, solve_stationary
    >>> density = solve_stationary(Model(TanhDrift(1.0), 2.0, None))
    >>> log_f = bounded_envelope(density, 3.0, np.log([1e4, 2e4]))
    >>> print(f"{(log_f[0] - log_f[1]) / 1e4 * np.exp(3.0):.3f}")  # 1/τ_max, in units of 1/τ_max
    1.000
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    cut, logs = -number("log_tau_max", log_tau_max), array("log_lags", log_lags)
    flat = logs.ravel()
    with np.errstate(over="ignore"):
        held = density.logcdf(cut) - np.exp(flat + cut)
    return np.asarray(np.logaddexp(held, _log_integral(density, cut, flat)).reshape(logs.shape))


def _log_integral(density: StationaryDensity, start: float, log_lags: Array) -> Array:
    """ln ∫_start^∞ e^{-ℓe^ζ} ρ dζ at flat `log_lags`."""
    end = max(float(density.isf(_LEFT_OUT)), start + 1.0)
    panels = math.ceil((end - start) / _PANEL)
    graded = np.concatenate([[0.0], 0.5 ** np.arange(_GRADES, 0, -1.0)])
    cuts = start + (end - start) / panels * np.concatenate([graded, np.arange(1.0, panels + 1)])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(cuts)[:, None]
    zeta = (cuts[:-1, None] + half * (1 + nodes)).ravel()
    with np.errstate(divide="ignore"):  # grades finer than the rounding of `start` have no width and no mass
        log_terms = density.logpdf(zeta) + np.log(half * weights).ravel()
    out = np.empty(log_lags.shape)
    for i, log_lag in enumerate(log_lags):
        with np.errstate(over="ignore"):
            out[i] = np.logaddexp.reduce(log_terms - np.exp(log_lag + zeta))
    return out
