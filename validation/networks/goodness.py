"""Does the fitted law describe the steps it was fitted to? The transform u = P(noise ≤ r), looked at in two ways.

Over all steps u is uniform if the noise is as fitted; in bins of ζ its mean is 1/2 if the drift is. The catch is power:
four million steps see the splitting's error of 1e-3 or any rounding of the truth, so a departure must be both
significant and as large as SMALL in probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from validation.networks.findings import Finding
from validation.networks.fit import Fit
from validation.networks.likelihood import DRIFT, Steps, drift_residuals
from validation.networks.noise_law import Noise

Array = NDArray[np.float64]

# Bins of u and of ζ.
_BINS, _PLACES = 24, 12
# A difference of probability that no figure shows.
SMALL = 0.02
SIGNIFICANT = 1e-3


@dataclass(frozen=True, eq=False)
class Goodness:
    """χ² of u in equal bins, of its mean in bins of ζ, their p-values and the largest departures (probability)."""

    noise_chi2: float
    noise_p: float
    noise_departure: float
    drift_chi2: float
    drift_p: float
    drift_departure: float

    def findings(self) -> list[Finding]:
        """What is significant and large."""
        found = []
        if self.noise_p < SIGNIFICANT and self.noise_departure > SMALL:
            found.append(
                Finding(
                    "noise",
                    "the fitted noise does not describe the increments: its distribution is off by "
                    f"{self.noise_departure:.3f} (χ² = {self.noise_chi2:.0f} in {_BINS} bins)",
                    True,
                )
            )
        if self.drift_p < SIGNIFICANT and self.drift_departure > SMALL:
            found.append(
                Finding(
                    "drift",
                    "the fitted drift does not describe the mean increments: somewhere the median "
                    f"is off by {self.drift_departure:.3f} in probability (χ² = {self.drift_chi2:.0f} in "
                    f"{_PLACES} bins of ζ)",
                    True,
                )
            )
        return found


def goodness(steps: Steps, fit: Fit) -> Goodness:
    """Judge a fit by the steps."""
    r = drift_residuals(steps, fit.theta[:DRIFT])[0]
    mass = np.exp(fit.cells.log_density(Noise.of(fit.theta[DRIFT:]), steps.interval)) * fit.cells.spacing
    below = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    edges = fit.cells.spacing * (np.arange(fit.cells.count + 1) - fit.cells.count // 2 - 0.5)
    u = np.interp(r, edges, below)
    count = np.histogram(u, _BINS, (0.0, 1.0))[0]
    expected = r.size / _BINS
    noise = float(((count - expected) ** 2 / expected).sum())
    departure = float(np.abs(np.cumsum(count) / r.size - np.arange(1, _BINS + 1) / _BINS).max())
    places = np.unique(np.quantile(steps.x, np.linspace(0, 1, _PLACES + 1)[1:-1]))
    place = np.searchsorted(places, steps.x, side="right")
    number = np.maximum(np.bincount(place, minlength=places.size + 1), 1)
    mean = np.bincount(place, u - 0.5, places.size + 1) / number
    drift = float((12 * number * mean**2).sum())  # the variance of a uniform number is 1/12
    return Goodness(
        noise,
        float(chi2.sf(noise, _BINS - 1)),
        departure,
        drift,
        float(chi2.sf(drift, mean.size)),
        float(np.abs(mean).max()),
    )
