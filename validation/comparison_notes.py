"""What has to be said beside the numbers of a comparison, and the verdict in a sentence.

The catch: a test answers one question under assumptions that it cannot check. Each note names one that this sample or
this density may break.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity
from validation.goodness_of_fit import Statistic
from validation.measured import Measured
from validation.pit import describe_departure

Array = NDArray[np.float64]

# Below this size the limit law is off by more than 0.7% in probability (measured: 0.009 at n = 5, 0.007 at 8, 0.004 at
# 10).
FEW = 8
# A density whose own error exceeds this share of the sample's resolution 1/√n takes part in the decision.
SHARE = 0.1
# Repeated values up to this share are rounding that no test sees.
REPEATED = 0.01


def notes(measured: Measured, density: StationaryDensity, size: float, outside: int, fitted: bool) -> tuple[str, ...]:
    """Sentences about values left out, repeated values, a small size, the density's own error, and a fit."""
    found = []
    samples = measured.samples
    if samples.dropped:
        total = samples.zeta.size + samples.dropped
        many = 10 * samples.not_positive > total
        rates = " If they are log rates ζ rather than τ, say so: kind zeta." if many else ""
        found.append(
            f"{samples.dropped} of {total} values could not be used; the tests are about the others only.{rates}"
        )
    if outside:
        low, high = density.support()
        found.append(
            f"{outside} values lie outside the support ζ = {low:.6g} … {high:.6g} of the density, "
            "where it has probability zero."
        )
    if measured.repeated > REPEATED * measured.zeta.size:
        found.append(
            f"{measured.repeated} of {measured.zeta.size} values repeat another: rounded or drawn twice. "
            "A continuous law repeats none, and p-values suppose independent values."
        )
    if size < FEW:
        found.append(
            f"An effective size of {size:.3g} is small: p-values are right to about 0.01 from 5 on, not below."
        )
    if not density.error_estimate < SHARE / np.sqrt(size):
        found.append(
            f"The density's own error {density.error_estimate:.1g} is not small beside the sample's resolution "
            f"{1 / np.sqrt(size):.1g}."
        )
    if fitted:
        found.append("p-values of both tests by refitting; the bands of tail and envelope take the density as given.")
    return tuple(found)


def verdict(
    zeta: Array, weights: Array, size: float, density: StationaryDensity, ad: Statistic, level: float, outside: int
) -> str:
    """One sentence: consistent or not at the level, with the probability, and in which direction it departs."""
    if outside:
        return "Not consistent: some values have probability zero."
    word = "Consistent" if ad.p_value >= level else "Not consistent"
    sentence = f"{word} at the {100 * level:g}% level ({p_value_text(ad.p_value)}, the probability of a larger A²)"
    return f"{sentence}." if ad.p_value >= level else f"{sentence}: {describe_departure(zeta, weights, size, density)}."


def p_value_text(p: float) -> str:
    """Three digits, or 'p < 1e-300' where a double ends.

    >>> p_value_text(0.01234), p_value_text(0.0)
    ('p = 0.0123', 'p < 1e-300')
    """
    return f"p = {p:.3g}" if p >= 1e-300 or np.isnan(p) else "p < 1e-300"
