"""The law of a pinned tail, read from ln ρ at many depths: the singularity of its transform is fitted, not its powers.

Fits (`tail_candidate`) are made on several windows of depths, outwards from the deepest, and with several numbers of
terms. The answer is the one whose own covariance is best among those that reach the rounding of the data; what others
say differently is part of its uncertainty.

The catch: α, constant and distance to the threshold come from one form. If the tail is not of this form, the misfit is
the only witness: it is reported in units of the data's rounding and must be near 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from solver.tail_candidate import LEAST, MOST, Form, TransformFit, fit_once
from solver.tail_transform import Rule, contour_rule, cut_rule

Array = NDArray[np.float64]
Trials = tuple[tuple[float, ...], tuple[tuple[int, int], ...]]

# Windows end at the deepest point and begin so many times shallower; depths per window. Over a factor of 300 the powers
# that are left out change by 300^3; over less than 10 the parameters are not told apart.
SPANS = (10.0, 30.0, 100.0, 300.0)
_POINTS = 48
# (terms of P, first-order terms of D) tried on each window.
_ORDERS = ((3, 1), (4, 2))
# The same for a tail that none of these windows fits: nearer the end less is left out. Measured over the 224 models of
# `tail_study`: of 4 tails that took 10 to 1e6 units of rounding all fit within 0.6.
NARROW: Trials = ((3.0, 10.0), ((3, 1), (4, 2), (5, 3)))
# A misfit up to this many units of the rounding is taken as rounding: 0.4 to 1 seen for fits that are right.
GOOD = 3.0
_RESTARTS = 4  # times a search is taken up again
_EDGE = 1e-4  # a window includes the point that opens it
# Times the error where the residual only looks like noise, and next to the threshold, where errors of the weights add
# up.
_UNSURE = 5.0
# Times the error where only narrow windows fit: 2.1 of 5 were missing 0.08% below a threshold (number 201 of seed 2).
_UNSURER = 25.0
# Two windows with misfits beyond this: the search is given up.
_HOPELESS = 1e5
# What is claimed: so many standard deviations, and this many times the distance to the next best fit (measured over
# `tail_study`: the true error reaches 5 of that distance).
_SIGMAS, _APART = 6.0, 8.0
# A search that ended so near the least index would have gone on.
BOUND = 1e-3
# A residual is noise of unknown size if it looks like noise in this share of all fits, not in one by accident (seen: a
# fit that is off by 0.5 in α).
_NOISY = 0.5


def fit_windows(
    depths: Array,
    values: Array,
    noise: Array,
    kind: str,
    indices: tuple[float, ...],
    trials: Trials = (SPANS, _ORDERS),
    start: Array | None = None,
) -> list[TransformFit]:
    """All fits of ln(ρ e^{λs}) = `values` at `depths` (ascending), with rms errors `noise`; `indices`: guesses of α.

    `trials` are spans of windows and numbers of terms, `start` is where a search begins before it does at the guesses.
    The first search is made for α and τ with the slope held, then for all three. Windows grow until two that fit are
    followed by one that does not.
    """
    fits: list[TransformFit] = []
    windows: list[tuple[Rule, Array, Array, tuple[int, int]]] = []
    unit = float(depths[-1]) ** -min(max(indices[0], LEAST), 1.0)
    form = Form(kind, unit, -math.log(float(depths[-1]) / SPANS[0]))
    for span in trials[0]:
        good = [fit for fit in fits if fit.misfit <= GOOD]
        if fits and not good and span > SPANS[1] and min(fit.misfit for fit in fits) > _HOPELESS:
            break
        if len(good) > 1 and min(fit.misfit for fit in fits[-len(trials[1]) :]) > GOOD:
            break
        inside = np.flatnonzero(depths >= depths[-1] / span * (1 - _EDGE))
        thinned = inside[np.unique(np.linspace(0, inside.size - 1, _POINTS).astype(int))]
        s, y, sigma = depths[thinned], values[thinned], noise[thinned]
        rule = cut_rule(s) if kind == "below" else contour_rule(s)
        for orders in trials[1]:
            tried: list[TransformFit] = []
            begun = [start] if start is not None and not fits else []
            for theta in chain(begun, _starts(fits, form, indices, s)):
                if not fits and theta is not start:  # else the slope runs away before α is near
                    held = replace(form, frozen=form.slope(float(theta[0]), float(theta[2])))
                    first = fit_once(rule, y, sigma, held, theta, orders, _RESTARTS)
                    theta = np.array([first.index, first.theta[1], first.slope - form.slope(first.index, 0.0)])
                tried.append(fit_once(rule, y, sigma, form, theta, orders, 1))
                if tried[-1].misfit <= GOOD or len(good) > 1:
                    break
            best = min(tried, key=lambda fit: fit.misfit)
            fits.append(best if best.misfit <= 1.0 else fit_once(rule, y, sigma, form, best.theta, orders, _RESTARTS))
            windows.append((rule, y, sigma, orders))
    # what wide windows have found may be what narrow ones missed
    for k in reversed(range(len(fits) - 1)):
        if fits[k].misfit > GOOD:
            rule, y, sigma, orders = windows[k]
            wider = min(fits[k + 1 :], key=lambda fit: fit.misfit).theta
            again = fit_once(rule, y, sigma, form, wider, orders, _RESTARTS)
            fits[k] = min(fits[k], again, key=lambda fit: fit.misfit)
    return fits


def _starts(fits: list[TransformFit], form: Form, indices: tuple[float, ...], depths: Array) -> Iterator[Array]:
    """Where a search begins: at the best of what was found, then afresh."""
    if fits:
        yield min(fits, key=lambda fit: fit.misfit).theta
    middle = -math.log(math.sqrt(float(depths[0] * depths[-1])))
    starts: dict[str, tuple[float, ...]]
    starts = {"below": (0.0, -3.0), "near": (0.0,), "above": (middle, middle - 3.0)}
    levels = starts[form.kind]
    slopes: tuple[float, ...] = (0.0, 0.7) if form.kind == "below" else (0.5, 3.0)
    once = slice(0, 1 if fits else None)
    for guess in indices[once]:
        index = min(max(guess, LEAST), MOST)
        for level in levels[once]:
            for slope in slopes[once]:
                yield np.array([index, level, slope - form.slope(index, 0.0)])


@dataclass(frozen=True, eq=False)
class Reading:
    """The chosen fit and what may be wrong with its index, its ln C and its x (of `Form`); `noisy`: is all that any
    fit leaves noise?"""

    fit: TransformFit
    index_error: float
    constant_error: float
    x_error: float
    noisy: bool

    @property
    def good(self) -> bool:
        """Whether the fit reaches the rounding of the data, or leaves noise."""
        return self.fit.misfit <= GOOD or (self.fit.random and self.noisy)


def chosen(fits: list[TransformFit], sure: bool = True) -> Reading | None:
    """The best fit and its uncertainty: standard deviations, how far the next best ones lie, and all rivals.

    A rival fits as well and lies further off than its own covariance allows: one of the two is wrong. `sure` is False
    for fits that were made where others had failed.
    """
    usable = [fit for fit in fits if math.isfinite(fit.log_constant) and np.isfinite(fit.covariance).all()]
    usable = [fit for fit in usable if LEAST < fit.index - BOUND]
    if not usable:
        return None
    least = min(fit.misfit for fit in usable)
    right = [fit for fit in usable if fit.misfit <= max(GOOD, 3 * least)]
    order = sorted(right, key=lambda fit: float(fit.covariance[0, 0]))
    best = order[0]
    others = order[1:3] or [fit for fit in usable if fit is not best][:2]
    # noise of unknown size, if it is noise: nothing but the scatter says how large
    doubt = 1.0 if best.misfit <= GOOD and best.form.kind == "below" else _UNSURE
    doubt = doubt if sure else _UNSURER
    deviations = np.sqrt(np.diag(best.covariance))
    errors = []
    for k, quantity in enumerate((_index, _log_constant, _x)):

        def apart(fit: TransformFit, quantity: Callable[[TransformFit], float] = quantity) -> float:
            return abs(quantity(fit) - quantity(best))

        own = float(deviations[k])
        rivals = [
            apart(fit) for fit in order[3:] if apart(fit) > _SIGMAS * (own + math.sqrt(float(fit.covariance[k, k])))
        ]
        near = _APART * max(map(apart, others), default=math.inf)
        errors.append(doubt * max(_SIGMAS * own + near, *rivals, 0.0))
    noisy = sum(fit.random for fit in fits) >= _NOISY * len(fits)
    index_error, constant_error, x_error = errors
    return Reading(best, index_error, constant_error, x_error, noisy)


def _index(fit: TransformFit) -> float:
    return fit.index


def _log_constant(fit: TransformFit) -> float:
    return fit.log_constant


def _x(fit: TransformFit) -> float:
    return float(fit.theta[1])
