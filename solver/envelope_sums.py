"""Averages of the envelope's kernels over the law of ζ: f and its slope at long lags, 1 - f and its at short ones.

    long:   f = P(a) + Σ_q m_q e^{-y_q} over ζ_q > a,          y = ℓ e^ζ,   y(a) = e^{-50}
    short:  1 - f = S(b) + Σ_q m_q (1 - e^{-y_q}) over ζ_q < b,             y(b) = e^4
    both:   -d f/d ln ℓ = Σ_q m_q y_q e^{-y_q}

All terms are positive and in logarithms; lags whose windows overlap share their points (`panels.masses`). The catch:
what is dropped is bounded by P and S alone; where a tail is not known far enough for that (`Interpolant.known`),
asking is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from solver.distribution import Distribution
from solver.interpolant import Array
from solver.nullvector import Tail
from solver.panels import Bools, masses

Which = NDArray[np.intp]

# e-folds of y: below e^{-50} = 2e-22 a kernel is 1, or y, to rounding; above e^4 = 55 it is the other limit.
_BELOW, _ABOVE = 50.0, 4.0
# What is smaller than e^{-42} = 6e-19 of the whole does not matter.
_NOTHING = 42.0
# Widest panel where y decides, and the widest in terms of y: e^{-y} falls by e^{-15} across it, which 16 points hold to
# rounding ((15/2)^32/32! is 4e-8, another 2^-31 comes from Gauss's remainder).
_WIDEST, _STEEPEST = 0.25, 15.0
# e-folds of y below which 1 - e^{-y} is y as far as panels are concerned, and ρ e^ζ is what they must resolve.
_LINEAR = 30.0
# Places at which a lower bound of f is looked for, from y = 1/4 to where nothing can be left.
_PROBES, _FIRST = 24, -1.4
# Where ln P falls fast the largest bound is a narrow peak, of width ln P ^ -1/2: each zoom is twelve times nearer.
_STEEP, _ZOOMS = 200.0, 6
# Lags that share points: the work is lags times panels.
_TOGETHER = 256
# The largest argument of exp.
_HIGHEST = 700.0


def long_lags(law: Distribution, log_lags: Array) -> tuple[Array, Array]:
    """ln f and -d ln f/d ln ℓ where -ln ℓ lies at or below the median; flat arrays.

    At a stop edge f is that of the density on the grid, however little that may be.
    """
    inner, known = law.interpolant, law.interpolant.known
    start = np.maximum(-log_lags, known[0] if inner.before is not None else inner.left + inner.spacing)
    offset, log_mass = start + log_lags, law.logcdf(start)
    most = np.log(np.exp(offset) - log_mass + _NOTHING)
    floor = _lower_bound(law, log_lags, offset + _FIRST, most)
    steep = log_mass < -_STEEP
    floor[steep] = _lower_bound(law, log_lags[steep], (offset + _FIRST)[steep], most[steep], _ZOOMS)
    floor -= _NOTHING
    log_f, slope = np.empty(log_lags.shape), np.empty(log_lags.shape)
    for group in _groups(-log_lags - _BELOW, most - log_lags):
        lags, least = log_lags[group], floor[group]

        def judge(
            left: Array, right: Array, mass: Array, lags: Array = lags, least: Array = least
        ) -> tuple[Bools, Bools]:
            y = np.exp(np.minimum(np.add.outer(left, lags), _HIGHEST))
            matters = mass[:, None] - y > least
            steep = y * np.expm1(np.minimum(right - left, 1.0))[:, None] > _STEEPEST
            return ~np.any(matters, axis=1), (right - left > _WIDEST) | np.any(matters & steep, axis=1)

        low, high = -lags - _BELOW, most[group] - lags
        bottom = max(float(low.min()), known[0])
        top = min(float(high.max()), known[1])
        # beyond, the kernel is within y of 1 on the left, and below e^{-y} on the right
        if bottom == known[0]:
            _require(inner.before, inner.left - low, law.logcdf(bottom) + np.minimum(0.0, bottom + lags) > least)
        if top == known[1]:
            _require(inner.after, high - inner.right, law.logsf(top) - np.exp(top + lags) > least)
        zeta, logs = masses(law, bottom, top, 0.0, judge)
        before = np.logaddexp.accumulate(np.concatenate([np.atleast_1d(law.logcdf(bottom)), logs]))
        begin = np.searchsorted(zeta, low)
        end = np.searchsorted(zeta, high)
        for k, (i, j) in enumerate(zip(begin, end, strict=True)):
            x = zeta[i:j] + lags[k]
            y, terms = np.exp(x), logs[i:j]
            total = np.logaddexp.reduce(np.concatenate([before[i : i + 1], terms - y]))
            log_f[group[k]] = total
            slope[group[k]] = np.exp(np.logaddexp.reduce(terms + x - y) - total)
    return log_f, slope


def short_lags(law: Distribution, log_lags: Array) -> tuple[Array, Array]:
    """ln(1 - f) and ln(-d f/d ln ℓ) where -ln ℓ lies above the median; flat arrays."""
    inner, known = law.interpolant, law.interpolant.known
    median = float(law.from_lower(-np.log(2.0)))
    # half the mass has y ≥ ℓ e^median, and 1 - e^{-y} ≥ 0.63 min(1, y)
    floor = np.minimum(0.0, median + log_lags) + np.log(0.3) - _NOTHING
    log_rest, log_fall = np.empty(log_lags.shape), np.empty(log_lags.shape)
    for group in _groups(np.full(log_lags.shape, median - _BELOW), _ABOVE - log_lags):
        lags, least = log_lags[group], floor[group]

        def judge(
            left: Array, right: Array, mass: Array, lags: Array = lags, least: Array = least
        ) -> tuple[Bools, Bools]:
            x = np.add.outer(right, lags)
            matters = mass[:, None] + np.minimum(x, 0.0) > least
            return ~np.any(matters, axis=1), (right - left > _WIDEST) & np.any(matters & (x > -_LINEAR), axis=1)

        high = _ABOVE - lags
        bottom, top = max(median - _BELOW, known[0]), min(float(high.max()), known[1])
        # beyond, the kernel is below 1 and y; to the right the mean of y is λ/(λ-1) of y at the end
        if bottom == known[0]:
            _require(inner.before, np.full(lags.shape, inner.left - bottom), law.logcdf(bottom) + bottom + lags > least)
        if top == known[1] and inner.after is not None:
            rate = inner.after.exponent
            growth = top + lags + np.log(rate / (rate - 1)) if rate > 1 else np.zeros(lags.shape)
            _require(inner.after, high - inner.right, law.logsf(top) + np.minimum(0.0, growth) > least)
        zeta, logs = masses(law, bottom, top, 1.0, judge)
        # to the left of each window y itself is averaged, to the right 1
        before = np.logaddexp.accumulate(np.concatenate([[-np.inf], logs + zeta]))
        after = np.logaddexp.accumulate(np.concatenate([logs, np.atleast_1d(law.logsf(top))])[::-1])[::-1]
        begin, end = np.searchsorted(zeta, -lags - _BELOW), np.searchsorted(zeta, high)
        for k, (i, j) in enumerate(zip(begin, end, strict=True)):
            x = zeta[i:j] + lags[k]
            y, rest = np.exp(x), before[i : i + 1] + lags[k]
            terms = [rest, logs[i:j] + np.log(-np.expm1(-y)), after[j : j + 1]]
            log_rest[group[k]] = np.logaddexp.reduce(np.concatenate(terms))
            log_fall[group[k]] = np.logaddexp.reduce(np.concatenate([rest, logs[i:j] + x - y]))
    return log_rest, log_fall


def _lower_bound(law: Distribution, log_lags: Array, first: Array, last: Array, zooms: int = 0) -> Array:
    """A lower bound of ln f: ln P(ζ) - y for any ζ; the best with ln y from `first` to `last`, and the median."""
    known, median = law.interpolant.known, float(law.from_lower(-np.log(2.0)))
    with np.errstate(over="ignore"):  # a bound of -inf is none
        best = -np.log(2.0) - np.exp(median + log_lags)
    for _ in range(1 + zooms):
        x = first + (last - first) * np.linspace(0.0, 1.0, _PROBES)[:, None]
        x = np.minimum(np.maximum(x, known[0] + log_lags), known[1] + log_lags)
        bounds = law.logcdf(x - log_lags) - np.exp(x)
        best = np.maximum(best, bounds.max(axis=0))
        top = np.argmax(bounds, axis=0)
        lags = np.arange(log_lags.size)
        first, last = x[np.maximum(top - 1, 0), lags], x[np.minimum(top + 1, _PROBES - 1), lags]
    return np.asarray(best)


def _require(side: Tail | None, depth: Array, matters: Bools) -> None:
    """Raise ModelError for lags to which the part of a tail matters that is not known."""
    if side is not None and np.isfinite(side.deepest) and matters.any():
        side.require(float(depth[matters].max()))


def _groups(low: Array, high: Array) -> Iterator[Which]:
    """Lags by place, those with overlapping windows together but for so many at a time."""
    order = np.argsort(low + high, kind="stable")
    if not order.size:
        return
    reached = np.maximum.accumulate(high[order])
    breaks = np.flatnonzero(low[order][1:] > reached[:-1]) + 1
    for group in np.split(order, breaks):
        yield from np.split(group, np.arange(_TOGETHER, group.size, _TOGETHER))
