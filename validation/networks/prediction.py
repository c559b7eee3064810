"""What a calibrated model predicts for the spectrum, beside what the last checkpoint shows.

    β        closed form; decay of the solved density; Hill's exponent of the measured tail beside its expectation
    window   the slope of ln f over lags that are measured, of the solved density and of the measured spectrum

A window's slope is not β: it is off by the same amount for both, if the model holds. The catch: the last checkpoint is
part of the run that was fitted. Its spectrum was not: only steps were, so that a spectrum that agrees says something.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.model import Model
from solver.samples import Samples, SamplesError
from solver.stationary import solve_stationary
from solver.window_fit import WindowFit, fit_window, window
from validation.comparison import Comparison, compare
from validation.networks.findings import Finding

Array = NDArray[np.float64]

# Two digits of ρ are all that parameters known to a few per cent deserve; this is far beyond, and quick.
_RTOL = 1e-6
# Quantiles of τ that are listed, and those between which a spectrum's width is told.
LISTED = (0.01, 0.1, 0.5, 0.9, 0.99)
WIDTH = (0.05, 0.95)
# Decades of τ between them: a common time scale with some scatter, and a spectrum that no single one describes.
NARROW, BROAD = 0.5, 2.0
# The snapshot and the prediction differ for good below this p-value. It is not 5%: the model's own errors add.
LEVEL = 0.01


@dataclass(frozen=True)
class Spread:
    """Quantiles LISTED of τ and the decades between its 5% and 95% points, in a word."""

    tau: tuple[float, ...]
    decades: float

    @property
    def word(self) -> str:
        """narrow, intermediate or broad."""
        return "narrow" if self.decades < NARROW else "broad" if self.decades > BROAD else "intermediate"


@dataclass(frozen=True, eq=False)
class Prediction:
    """The solved density and the comparison with the last checkpoint; None, and why, where there is no solution."""

    measured: Samples
    density: StationaryDensity | None
    comparison: Comparison | None
    reason: str
    predicted: Spread | None
    predicted_window: WindowFit | None
    measured_window: WindowFit | None

    def findings(self) -> list[Finding]:
        """Whether the measured spectrum contradicts the prediction."""
        if self.density is None:
            return [Finding("no-prediction", self.reason, True)]
        if self.comparison is not None and self.comparison.ad.p_value < LEVEL:
            text = f"A² = {self.comparison.ad.value:.3g}, p = {self.comparison.ad.p_value:.1g}"
            return [Finding("spectrum", f"the spectrum of the last checkpoint is not the predicted one ({text})", True)]
        return []


def spread(zeta: Array) -> Spread:
    """The spread of measured log rates.

    >>> spread(-np.log(np.geomspace(2.0, 2000.0, 101))).word
    'broad'
    """
    low, high = np.quantile(zeta, WIDTH)
    tau = np.exp(-np.quantile(zeta, [1 - q for q in LISTED]))
    return Spread(tuple(float(t) for t in tau), float(high - low) / math.log(10))


def predict(model: Model, last: Array, seed: int = 0) -> Prediction:
    """Solve a model and compare it with the log rates of one checkpoint (units,); SamplesError if there are none."""
    if last.size == 0:
        raise SamplesError("the last checkpoint has no usable value")
    measured = Samples.from_values(last, "zeta")
    try:
        density, reason = solve_stationary(model, rtol=_RTOL), ""
    except NoStationaryDensityError as problem:
        return Prediction(measured, None, None, f"there is no stationary spectrum: {problem}", None, None, None)
    except NotConvergedError as problem:
        if not isinstance(problem.density, StationaryDensity):
            return Prediction(measured, None, None, f"the model could not be solved: {problem}", None, None, None)
        density, reason = problem.density, str(problem)
    low, high = density.ppf(list(WIDTH))
    log_tau = -density.ppf([1 - q for q in LISTED])
    predicted = Spread(tuple(float(np.exp(min(t, 700.0))) for t in log_tau), float(high - low) / math.log(10))
    lags = _lags(last)
    theirs = ours = None
    if lags is not None:
        ours, theirs = (
            _window(lags, values)
            for values in (lambda x: density.envelope(log_lags=x).log_values, measured.log_envelope)
        )
    return Prediction(measured, density, compare(last, density, "zeta", seed=seed), reason, predicted, ours, theirs)


def _lags(last: Array) -> Array | None:
    """Lags from the median τ to its 95% point, if that is a window; beyond, a few units are all that is left."""
    low, high = (float(t) for t in np.exp(-np.quantile(last, [0.5, 0.05])))
    return window(low, high) if high > 2 * low else None


def _window(lags: Array, values: object) -> WindowFit | None:
    try:
        return fit_window(values, lags)  # type: ignore[arg-type]
    except ModelError:
        return None  # the envelope is below the smallest double there: no slope to tell
