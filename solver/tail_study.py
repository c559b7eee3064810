"""Everything about one tail at once: the law read from the solution, the envelope that inherits it, what lags cost.

A study is a table over depth s and lag ln ℓ = s (a lag is felt where τ = ℓ, so that one column serves both) with the
laws beside it. The catch: nothing new is computed here; each number is that of the function named in its module.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.checks import number
from solver.density import StationaryDensity
from solver.envelope_law import EnvelopeLaw, envelope_law
from solver.errors import ModelError
from solver.finite_network import FiniteNetwork, finite_network, largest_log_tau
from solver.horizon import Growth, horizon, sample_complexity
from solver.interpolant import Array
from solver.tails import TailLaw, tail_law
from solver.window_fit import WindowFit, fit_window, window

# Depths of the table: 20 a decade, enough to draw a smooth curve.
_PER_DECADE = 20
_SHALLOWEST = 0.5
# Lags of the finite network's curve, up to this many e-folds past its slowest unit, where it is an exponential.
_NETWORK, _PAST = 201, 3.0
# Samples for which the horizon is tabulated.
SAMPLES = (1e2, 1e4, 1e6, 1e9, 1e12)


@dataclass(frozen=True, eq=False)
class TailStudy:
    """The left tail of a density; arrays over `depths` = |ζ| and, the same numbers, `log_lags` = ln ℓ.

    `difference` is ln ρ minus the fitted law; `horizon` pairs samples with the ln ℓ they reach.
    """

    law: TailLaw
    envelope: EnvelopeLaw
    fit: WindowFit
    network: FiniteNetwork
    growth: Growth
    noise_index: float
    depths: Array
    log_density: Array
    local_exponent: Array
    difference: Array
    log_error: Array
    log_lags: Array
    log_values: Array
    envelope_exponent: Array
    log_samples: Array
    horizon: tuple[tuple[float, float], ...]

    def columns(self) -> dict[str, Array]:
        """The table for a CSV file, in the words of envelope.csv."""
        return {
            "depth": self.depths,
            "log_density": self.log_density,
            "local_exponent": self.local_exponent,
            "difference": self.difference,
            "log_error": self.log_error,
            "log_lag": self.log_lags,
            "log_value": self.log_values,
            "envelope_exponent": self.envelope_exponent,
            "log_samples": self.log_samples,
        }


def tail_study(
    density: StationaryDensity,
    depth: float,
    *,
    noise_index: float = 2.0,
    fit: tuple[float, float] = (10.0, 1000.0),
    neurons: int = 128,
) -> TailStudy:
    """Study the left tail to `depth` = |ζ| > 1; `fit` is the window of lags in which a user would fit β.

    Raises ModelError for bad arguments, where the density ends at a stop edge, and deeper than it is resolved.

    >>> from solver import Model, TanhDrift, solve_stationary
    >>> study = tail_study(solve_stationary(Model(TanhDrift(1.0), 0.5, None)), 100.0)
    >>> study.law.case, f"{study.envelope_exponent[-1]:.6f}", f"{study.fit.bias(study.law.exponent):+.4f}"
    ('diffusion', '2.000000', '-0.0124')
    """
    depth = number("depth", depth, 1.0, open_low=True)
    if density.grid.edges[0] == "stop":
        raise ModelError(
            f"the density ends at a stop edge, ζ = {density.grid.left:g}: there is no tail to study (a drift that "
            "grows without bound leaves none)"
        )
    law = tail_law(density)
    points = int(_PER_DECADE * np.log10(depth / _SHALLOWEST)) + 2
    depths = np.geomspace(_SHALLOWEST, depth, points)
    log_density = density.logpdf(-depths)
    cost = sample_complexity(density, log_lags=depths, noise_index=noise_index)
    slowest = float(largest_log_tau(density, neurons))
    reached = horizon(density, SAMPLES, noise_index=noise_index).log_lags
    return TailStudy(
        law=law,
        envelope=envelope_law(density, law),
        fit=fit_window(lambda x: density.envelope(log_lags=x).log_values, window(*fit)),
        network=finite_network(density, neurons, np.linspace(0.0, max(slowest, 0.0) + _PAST, _NETWORK)),
        growth=cost.growth,
        noise_index=cost.noise_index,
        depths=depths,
        log_density=log_density,
        local_exponent=density.local_exponent(-depths),
        difference=log_density - law.log_density(depths),
        log_error=density.log_error(-depths),
        log_lags=depths,
        log_values=cost.envelope.log_values,
        envelope_exponent=cost.envelope.local_exponent,
        log_samples=cost.log_samples,
        horizon=tuple(zip(SAMPLES, (float(x) for x in reached), strict=True)),
    )
