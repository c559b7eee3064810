"""What a fit of the envelope in a window of lags returns for this model, and how far off that is.

Practitioners read β from a straight line through ln f against ln ℓ, or from the tempered form

    ln f ≈ ln a - β ln ℓ - ℓ/τ_max                                                        (theory (47))

over lags they can measure. For an exact f the two fits are numbers, without noise, and their distance from the tail's
exponent is the bias of the window.

The catch: the fit is an ordinary least squares in ln f at lags evenly spaced in ln ℓ. Another weighting has another
bias; `lags` chooses the places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from solver.checks import array, number, shown
from solver.errors import ModelError
from solver.interpolant import Array

# Lags of a fit where none are given: what is left out changes the slope by less than 1e-3 of its bias.
LAGS = 61
# A bend below the rounding of ln f is none.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class WindowFit:
    """Straight line and tempered form through ln f(ℓ) at lags from `low` to `high`.

    `exponent` is minus the slope of the line; `tempered_exponent`, `tau_max` (inf if ln f does not bend downwards) and
    `amplitude` belong to a ℓ^{-β} e^{-ℓ/τ_max}; the residuals are the largest |difference| in ln f.
    """

    low: float
    high: float
    exponent: float
    residual: float
    tempered_exponent: float
    tau_max: float
    amplitude: float
    tempered_residual: float

    def bias(self, exponent: float) -> float:
        """What the line adds to the exponent of the tail."""
        return self.exponent - exponent


def window(low: float = 10.0, high: float = 1000.0, lags: int = LAGS) -> Array:
    """Lags evenly spaced in ln ℓ; ModelError unless 0 < low < high and there are at least 3."""
    low, high = number("low", low, 0.0, open_low=True), number("high", high, 0.0, open_low=True)
    if not low < high:
        raise ModelError(f"low = {low:g}, high = {high:g}: a window needs low < high")
    return np.geomspace(low, high, int(number("lags", lags, 3, integer=True)))


def fit_window(log_envelope: Callable[[Array], ArrayLike], lags: ArrayLike) -> WindowFit:
    """Fit ln f, a function of ln ℓ, at `lags` (at least 3, increasing, positive).

    `lambda x: density.envelope(log_lags=x).log_values` is the envelope of a density, `Samples.log_envelope` that of
    a measured spectrum. Raises ModelError where ln f is not finite.

    >>> fit = fit_window(lambda x: -0.5 * x - np.exp(x) / 300, window(10.0, 1000.0))
    >>> print(f"{fit.exponent:.3f} {fit.tempered_exponent:.3f} {fit.tau_max:.1f} {fit.amplitude:.3f}")
    1.055 0.500 300.0 1.000
    """
    ell = array("lags", lags)
    if ell.ndim != 1 or ell.size < 3 or not (ell > 0).all() or not (np.diff(ell) > 0).all() or np.isinf(ell[-1]):
        raise ModelError(f"lags of shape {ell.shape}: a fit needs at least 3 finite positive lags in increasing order")
    logs = np.log(ell)
    if not callable(log_envelope):
        raise ModelError(f"log_envelope = {shown(log_envelope)}: must be a function of an array of ln ℓ")
    values = array("ln f", log_envelope(logs))
    if values.shape != logs.shape:
        raise ModelError(f"ln f of shape {values.shape}: must be one value for each of the {logs.size} lags")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ModelError(f"ln f is {values[place]} at lag {ell[place]:g}: the window reaches past what is resolved")
    line = np.polynomial.polynomial.polyfit(logs, values, 1)
    design = np.column_stack([np.ones(ell.size), -logs, -ell / ell[-1]])  # columns of size one
    log_a, beta, cut = (float(x) for x in np.linalg.lstsq(design, values, rcond=None)[0])
    tau_max = float(ell[-1]) / cut if cut > _ROUNDING * np.abs(values).max() else math.inf
    if math.isinf(tau_max):  # the form may only bend downwards: where it would not, the line is its best
        log_a, beta, cut = float(line[0]), -float(line[1]), 0.0
    return WindowFit(
        low=float(ell[0]),
        high=float(ell[-1]),
        exponent=-float(line[1]),
        residual=float(np.abs(values - np.polynomial.polynomial.polyval(logs, line)).max()),
        tempered_exponent=beta,
        tau_max=tau_max,
        amplitude=math.exp(log_a),
        tempered_residual=float(np.abs(values - design @ [log_a, beta, cut]).max()),
    )
