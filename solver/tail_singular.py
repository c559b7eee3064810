"""A tail that its jumps pin, or may pin: which of root, threshold and single jumps it is, from the fitted singularity.

    below the threshold    ρ ~ C e^{-λs} s^{-1-α}
    at it                  ρ ~ C e^{-λs} s^{min(α-1, 0)},   with 1/ln s for α = 1
    just above it          ρ ~ C e^{-βs},   λ - β too small for the elimination to be sure of

The elimination says "pinned" (its decay rate exceeds the tempering by what the finite reach of the jumps adds), or
that it has doubts; the distance to the threshold, η_J*/η_J - 1, comes from the fit (theory (44)) with its error.

The catch: no finite depth tells a root at λ from one 1e-12 below it. "threshold" means that the distance is zero
within its error and that this error is small; where it is not small the answer is "undecided".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from solver.tail_candidate import LEAST, ONE, Form, TransformFit
from solver.tail_data import Elimination
from solver.tail_fit import BOUND, GOOD, NARROW, SPANS, Reading, chosen, fit_windows
from solver.tail_transform import denominator

Array = NDArray[np.float64]

# Noise of ln ρ far out, pinned: that of its size as a double, and 1e-13 from the weights of the jumps.
_ROUNDING, _WEIGHTS = 2e-16, 1e-13
# Next to the threshold the errors of the weights add up with depth, 2e-8 seen at depth 1e6; the contour is right to
# 1e-12.
_DRIFTING, _CONTOUR = 2e-14, 3e-12
# Next to the threshold depths up to this many decay lengths are looked at: there ln ρ is right to 1e-9.
_DECAYS = 1e5
# A distance to the threshold that is zero within its error, and an error up to this, is the threshold. A discretised
# model is off its threshold by the error of the density, 1e-9.
_CLOSE = 1e-6
# A root is searched for between e^{-100} and this far below λ.
_LOWEST, _WIDEST_GAP = -100.0, 1.0
# First guesses of α below the threshold, as shares of what the power that is seen stands for, if that leads nowhere.
_SHARES = (0.9, 0.8)
# First guesses of α next to the threshold, beside the power that is seen plus one.
_INDICES = (1.6, 1.2, 1.4, 1.8, 0.5)
# The distance to the threshold is given where ln τ is known to this; at α = 1/2 and 3/2, where the powers jα + k
# coincide, slope and level are not told apart.
_CERTAIN = 0.05
# How much deeper than sampled the fit is followed, and in how many depths. Above α = 1 corrections fall as 1/s and
# faster, and u^α drowns in the rounding of u where u^{α-1} < 1e-16.
_BEYOND, _BEYOND_STEEP, _FURTHER = 1e30, 1e10, 120
_NO_FORM = "pinned by the jumps, and no form of their singularity fits"
_SMALL = f"their stability seems to be below {LEAST:g}, and the powers 0, α, 2α … of the depth are then not told apart"
# An index known less well than this names no law. Seen 0.3% below a threshold: 0.49 claimed, 0.56 off.
_KNOWN = 0.1


@dataclass(frozen=True, eq=False)
class SingularReading:
    """What the singularity says; depths are distances from the mode."""

    case: str
    power: float
    log_power: int
    log_constant: float
    distance: float
    exponent_error: float
    power_error: float
    constant_error: float
    reason: str
    reading: Reading | None

    def beyond(self, deepest: float) -> tuple[Array, Array]:
        """Depths beyond those sampled and ln(ρ e^{λs}) of the fit there; empty without a good fit of a pinned tail."""
        if self.reading is None or self.case not in ("tempered", "threshold"):
            return np.zeros(0), np.zeros(0)
        fit = self.reading.fit if self.case == "tempered" else replace(self.reading.fit, level=0.0)
        depths = deepest * np.geomspace(1.0, _BEYOND if fit.index <= 1 else _BEYOND_STEEP, _FURTHER)[1:]
        pieces = [fit.log_values(part) for part in np.array_split(depths, _FURTHER // 8)]
        return depths, np.concatenate(pieces)


def distance_to_threshold(index: float, level: float, tempering: float) -> float:
    """η_J*/η_J - 1 = τ (α-1)/(λ^α (2^α - 2)); smooth through α = 1."""
    x = (index - 1.0) * math.log(2.0)
    gain = 2.0 * math.log(2.0) * (math.expm1(x) / x if abs(x) > ONE else 1.0 + x / 2)
    return float(level / (tempering**index * gain))


def singular(depths: Array, log_density: Array, known: Elimination) -> SingularReading:
    """The reading of a tail with `excess` or `doubt`; `depths` ascending."""
    scaled = log_density + known.exponent * depths
    power = float(np.polyfit(np.log(depths[-8:]), scaled[-8:], 1)[0])
    rounding = _ROUNDING * np.abs(log_density) + _WEIGHTS
    if known.doubt == 0:
        return _pinned(depths, scaled, rounding, power, known)
    near = depths <= max(_DECAYS / known.exponent, depths[0] * 2 * SPANS[-1])
    noise = rounding[near] + _DRIFTING * known.exponent * depths[near] + _CONTOUR
    return _near(depths[near], scaled[near], noise, known)


def _pinned(depths: Array, scaled: Array, noise: Array, power: float, known: Elimination) -> SingularReading:
    """Single jumps; where the cut's rule does not do, the root has nearly come up to λ and a contour does."""
    guess = -1.0 - power
    fits = fit_windows(depths, scaled, noise, "below", (guess,))
    reading = chosen(fits)
    if reading is None or not reading.good:
        start = min(fits, key=lambda fit: fit.misfit).theta
        shares = tuple(share * guess for share in _SHARES)
        again = chosen(fit_windows(depths, scaled, noise, "below", shares, NARROW, start), sure=False)
        reading = again if again is not None and again.good else reading
    if reading is not None and reading.good and reading.index_error < _KNOWN:
        return _tempered(reading, known, reading.constant_error, reading.x_error)
    near = depths <= max(_DECAYS / known.exponent, depths[0] * 2 * SPANS[-1])
    further = noise[near] + _DRIFTING * known.exponent * depths[near] + _CONTOUR
    found = _near(depths[near], scaled[near], further, known)
    rival = math.inf if reading is None else reading.fit.misfit
    if found.reading is not None and found.reading.fit.misfit > max(GOOD, rival):
        # the noise of the contour is no smaller, so that its form misses the data by more
        found = _undecided(power, known, math.inf, _NO_FORM)
    if found.case == "undecided" and min(fits, key=lambda fit: fit.misfit).index <= LEAST + BOUND:
        return replace(found, reason=f"{_NO_FORM}: {_SMALL}")
    return found


def _tempered(reading: Reading, known: Elimination, constant_error: float, level_error: float) -> SingularReading:
    fit = reading.fit
    distance = distance_to_threshold(fit.index, fit.level, known.exponent)
    return SingularReading(
        "tempered", -1.0 - fit.index, 0, fit.log_constant, distance if level_error < _CERTAIN else math.nan,
        _rate_error(known), reading.index_error, constant_error,
        "single jumps: the decay rate is pinned by their tempering", reading,
    )  # fmt: skip


def _rate_error(known: Elimination) -> float:
    return 4 * float(np.finfo(float).eps) * known.exponent + known.doubt


def _undecided(power: float, known: Elimination, error: float, reason: str) -> SingularReading:
    return SingularReading(
        "undecided",
        power,
        0,
        math.nan,
        math.nan,
        _rate_error(known),
        max(error, abs(power) + 1),
        math.inf,
        reason,
        None,
    )


def _near(depths: Array, scaled: Array, noise: Array, known: Elimination) -> SingularReading:
    """Next to the threshold: the sign of the distance, if it can be told."""
    power = float(np.polyfit(np.log(depths[-8:]), scaled[-8:], 1)[0])
    indices = (power + 1.0, *_INDICES)
    best = chosen(fit_windows(depths, scaled, noise, "near", indices))
    if (best is None or best.fit.misfit > GOOD) and known.excess == 0:
        root = chosen(fit_windows(depths, scaled, noise, "above", indices[:2]))
        if root is not None and root.good and (best is None or root.fit.misfit < best.fit.misfit):
            distance = distance_to_threshold(root.fit.index, root.fit.level, known.exponent + root.fit.gap)
            if abs(distance) <= _CLOSE and root.fit.index > 1:
                return _threshold(root, known, distance)
            return _root(root.fit, root, known, known.exponent + root.fit.gap)
    if best is None or not best.good:
        return _undecided(power, known, math.inf, _NO_FORM)
    fit = best.fit
    level_error = best.x_error * fit.form.unit
    distance = distance_to_threshold(fit.index, fit.level, known.exponent)
    error = abs(distance_to_threshold(fit.index, level_error, known.exponent))
    if abs(distance) <= max(error, _CLOSE) and error <= 10 * _CLOSE and known.doubt > 0:
        return _threshold(best, known, distance)
    if distance > 2 * error:
        below = replace(best, fit=replace(fit, form=Form("below")))
        relative = level_error / fit.level
        return _tempered(below, known, best.constant_error + 2 * relative + 2 * best.index_error, relative)
    if distance < -2 * error and known.doubt > 0:
        gap = _gap(fit)
        if math.isfinite(gap):
            return _root(replace(fit, form=Form("above"), gap=gap), best, known, known.exponent)
    return _undecided(power, known, math.inf, f"next to the threshold: η_J*/η_J - 1 = {distance:.2g} ± {error:.1g}")


def _gap(fit: TransformFit) -> float:
    """How far below λ the root lies: the zero of D, which increases through it; NaN where it is not found."""

    def value(log_u: float) -> float:
        u = np.array([math.exp(log_u) + 0j])
        return float(denominator(u, np.log(u), fit.index, fit.level, fit.slope)[0].real)

    high = math.log(_WIDEST_GAP)
    return math.exp(brentq(value, _LOWEST, high)) if value(high) > 0 > value(_LOWEST) else math.nan


def _root(fit: TransformFit, reading: Reading, known: Elimination, tempering: float) -> SingularReading:
    distance = distance_to_threshold(fit.index, fit.level, tempering)
    return SingularReading(
        "root", 0.0, 0, fit.log_constant, distance, _rate_error(known) + (fit.gap if known.excess > 0 else 0.0), 0.0,
        reading.constant_error + 4 * reading.x_error / max(abs(float(reading.fit.theta[1])), reading.x_error)
        if known.excess > 0 else reading.constant_error,
        "a root just below the tempering of the jumps", reading,
    )  # fmt: skip


def _threshold(reading: Reading, known: Elimination, distance: float) -> SingularReading:
    index = reading.fit.index
    unseen = abs(reading.fit.level) / reading.fit.form.unit  # what a distance taken for zero does at the deepest point
    logarithm = abs(index - 1.0) <= max(ONE, min(reading.index_error, 1e-3))
    power = 0.0 if logarithm else min(index - 1.0, 0.0)
    return SingularReading(
        "threshold", power, -1 if logarithm else 0, reading.fit.log_constant, distance, _rate_error(known),
        max(0.0, reading.index_error - max(index - 1.0, 0.0)), reading.constant_error + unseen,
        "root and branch point meet: the threshold", reading,
    )  # fmt: skip
