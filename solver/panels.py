"""The law of ζ as masses at points, on panels just fine enough: what an average of smooth kernels needs.

    E K(ζ) = Σ_q m_q K(ζ_q),      m_q = w_q ρ(ζ_q)

Each panel carries Gauss's rule. It is halved until ρ is resolved on it and until the caller's kernels are, so that the
number of points depends on the shape of ρ and not on the spacing of its grid: a body of width 1e-10 with tails of
length 1 takes 40 halvings next to the body and none elsewhere.

The catch: a wide panel could step over a narrow body without noticing. So the mass of each panel is compared with the
distribution function, which knows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from solver.distribution import Distribution
from solver.interpolant import Array

Bools = NDArray[np.bool_]
# (ends of the panels, bounds of ln of their masses) -> which to drop, which to halve
Judge = Callable[[Array, Array, Array], tuple[Bools, Bools]]

# Points of a panel. A function whose Legendre coefficients have fallen by 1e-7 at the 14th and 15th falls by 1e-15 or
# more at the 32nd, which is where the rule errs (exponentials fall far faster: e^{8x} by 1e-6 and 1e-19).
_POINTS, _RESOLVED = 16, 1e-7
# Agreement of a panel's mass with the distribution function that rules out anything unseen: a thousand times the
# interpolation error of a resolved grid, and the rounding of differences of ln P.
_AGREES, _ROUNDING = 1e-9, 1e-13
# Halvings: from 1e8 to below the spacing of doubles.
_HALVINGS = 80


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array, Array]:
    """Nodes and weights on [-1, 1], and the matrix from values to Legendre coefficients."""
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    degree = np.arange(_POINTS)
    return x, w, ((degree + 0.5)[:, None] * np.polynomial.legendre.legvander(x, _POINTS - 1).T) * w


def masses(law: Distribution, low: float, high: float, tilt: float, judge: Judge) -> tuple[Array, Array]:
    """Points ζ_q, ascending, and ln m_q of the law between `low` and `high`; ρ e^{tilt·ζ} is what is resolved.

    `judge` says of panels which do not matter and which are too wide for the caller's kernels.

    >>> from solver.interpolant import Interpolant
    >>> z = np.linspace(-9.0, 9.0, 181)
    >>> gauss = Distribution(Interpolant(-9.0, 0.1, -0.5 * z**2 - 0.5 * np.log(2 * np.pi)))
    >>> keep = lambda left, right, mass: (left > right, left > right)
    >>> zeta, log_mass = masses(gauss, -9.0, 9.0, 0.0, keep)
    >>> print(f"{np.exp(log_mass) @ np.cos(zeta):.12f}")  # e^{-1/2}
    0.606530659713
    """
    inner, log_total = law.interpolant, np.log(law.interpolated_mass)
    ends = law.support
    low, high = max(low, ends[0]), min(high, ends[1])
    median = float(law.from_lower(-np.log(2.0)))
    inside = [place for place in (inner.left, median, inner.right) if low < place < high]
    places = np.unique(np.array([low, *inside, high]))
    left, right = places[:-1], places[1:]
    x, w, legendre = _rule()
    found: list[tuple[Array, Array]] = [(np.zeros(0), np.zeros(0))]
    for _ in range(_HALVINGS):
        tails = law.tails(np.concatenate([left, right]))
        below, above = (part.reshape(2, -1) for part in tails)
        drop, wide = judge(left, right, np.minimum(below[1], above[0]))
        left, right, below, above, wide = left[~drop], right[~drop], below[:, ~drop], above[:, ~drop], wide[~drop]
        if not left.size:
            break
        half = 0.5 * (right - left)
        zeta = (left + half)[:, None] + half[:, None] * x
        logs = law.logpdf(zeta) - log_total
        tilted = logs + tilt * (zeta - zeta[:, :1])
        values = np.exp(tilted - tilted.max(axis=1, keepdims=True))
        coefficients = np.abs(values @ legendre.T)
        rough = coefficients[:, -2:].max(axis=1) > _RESOLVED * coefficients.max(axis=1)
        log_mass = logs + np.log(half[:, None] * w)
        lower = right <= median
        outer, nearer = np.where(lower, below[0], above[1]), np.where(lower, below[1], above[0])
        share = np.exp(log_mass - nearer[:, None]).sum(axis=1)  # of all that lies to that side
        gap = np.abs(share + np.expm1(outer - nearer))
        unseen = gap > _AGREES * share + _ROUNDING * np.maximum(1.0, np.abs(nearer))
        # within a cell ρ is one polynomial, and the points of a panel must be told apart
        least = np.maximum(inner.spacing, 1e3 * np.spacing(np.maximum(np.abs(left), np.abs(right))))
        split = wide | ((rough | unseen) & (right - left > least))
        found.append((zeta[~split].ravel(), log_mass[~split].ravel()))
        middle = (left + half)[split]
        left, right = np.concatenate([left[split], middle]), np.concatenate([middle, right[split]])
        if not left.size:
            break
    points, logs = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(points)
    return points[order], logs[order]
