"""One fit of a tail by the singularity that makes it: what is searched for, what is solved for, and its covariance.

    ρ e^{λs} = Σ_k c_k [inverse of u^k/D] + Σ_k d_k [inverse of u^{2+k}/D²],     D of α, τ, f       (theory (43))

The c and d enter linearly and are eliminated at every step (variable projection); α, the level τ and the slope f
are searched for by least squares. Residuals are in units of the data's noise.

The catch: the valley in (α, τ, f) is long and bent. The slope is therefore searched for at the middle of the window,
where it hardly moves with α, and a search that has come to a stop is taken up again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.special import digamma, exprel, gamma

from solver.tail_transform import Rule, contour_rule, cut_rule, level_of_root, slope_at, transforms

Array = NDArray[np.float64]

# |α - 1| below this counts as α = 1, where the law at the threshold has a logarithm.
ONE = 1e-6
# A residual whose sign changes at less than this share of the points is no noise (half of them for noise).
_CHANGES = 0.3
# The index is searched for in here.
LEAST, MOST = 0.02, 1.99
# Singular values below this share of the largest are not data.
_RANK = 1e-14
# τ and the gap are searched for between e^{-60} and e^{60}, the slope below 1e6: units of λ are of order one here.
_WIDEST, _STEEPEST = 60.0, 1e6
# Step of the differences: rounding of the rules, 1e-12, gives 1e-8 of the slopes, and so does curvature.
_DIFFERENCE = 1e-4
_EVALUATIONS = 40  # of the residual per search: one that converges takes 15 to 30
_GAIN = 0.25  # a search is taken up again while its square falls to less than this share


@dataclass(frozen=True)
class Form:
    """How the three searched numbers (α, x, f) are read: τ = e^x below the threshold, τ = x · unit at it, gap = e^x
    above."""

    kind: str  # "below", "near", "above"
    unit: float = 1.0  # of τ at the threshold: what shows at the deepest point
    middle: float = 0.0  # ln of the u at which the third number is the slope of D: it then hardly moves with α

    frozen: float | None = None  # f itself, where it is not searched for

    def slope(self, index: float, own: float) -> float:
        """f from the third number."""
        if self.frozen is not None:
            return self.frozen
        return own + self.middle * float(exprel((index - 1.0) * self.middle))

    def parameters(self, theta: Array) -> tuple[float, float, float, float]:
        """α, τ, f, gap."""
        index, x, own = (float(t) for t in theta)
        slope = self.slope(index, own)
        if self.kind == "below":
            return index, math.exp(x), slope, 0.0
        if self.kind == "near":
            return index, x * self.unit, slope, 0.0
        gap = math.exp(x)
        return index, level_of_root(index, slope, gap), slope, gap


@dataclass(frozen=True, eq=False)
class TransformFit:
    """One fit: index α, level τ, slope f, gap to the root, `coefficients` of P, all in the unit of `reference`.

    `misfit` is the rms of the residual over the noise, `random`: does the residual look like noise? `covariance`
    belongs to (α, ln C, x), x as in `Form`.
    """

    form: Form
    index: float
    level: float
    slope: float
    gap: float
    theta: Array
    coefficients: Array
    orders: tuple[int, int]
    reference: float
    misfit: float
    random: bool
    covariance: Array

    @property
    def log_constant(self) -> float:
        """ln C of the leading law that belongs to the form; NaN where P(0) is not positive."""
        if not self.coefficients[0] > 0:
            return math.nan
        return self.reference + math.log(self.coefficients[0]) + self._log_factor

    @property
    def _log_factor(self) -> float:
        a = self.index
        if self.form.kind == "below":  # P/τ² times u^α/(α-1), whose inverse is α/Γ(2-α) s^{-1-α}
            return math.log(a / float(gamma(2 - a))) - 2 * math.log(self.level)
        if self.form.kind == "above":
            own = slope_at(a, self.slope, self.gap)
            return -math.log(own) if own > 0 else math.nan
        if abs(a - 1) < ONE:  # D = -u ln u
            return 0.0
        if a < 1:
            return math.log((1 - a) / float(gamma(a)))
        own = self.slope + 1 / (a - 1)
        return -math.log(own) if own > 0 else math.nan

    def log_values(self, depths: Array) -> Array:
        """ln(ρ e^{λs}) of the fit (e^{βs} above the threshold) at any depths; NaN where it is not positive."""
        values = self._rule(depths).invert(
            transforms(self._rule(depths), self.index, self.level, self.slope, self.gap, *self.orders)
        )
        total = values @ self.coefficients
        out = np.full(total.shape, np.nan)
        return np.asarray(np.log(total, out=out, where=total > 0) + self.reference)

    def _rule(self, depths: Array) -> Rule:
        return cut_rule(depths) if self.form.kind == "below" else contour_rule(depths)


def fit_once(
    rule: Rule, values: Array, noise: Array, form: Form, theta: Array, orders: tuple[int, int], searches: int
) -> TransformFit:
    reference = float(values[-1])
    data = np.exp(values - reference)
    weight = 1.0 / (data * noise)

    def columns(t: Array) -> Array:
        return rule.invert(transforms(rule, *form.parameters(t), *orders)) * weight[:, None]

    def solved(t: Array) -> tuple[Array, Array]:
        matrix = columns(t)
        size = np.linalg.norm(matrix, axis=0)
        size[size == 0] = 1.0
        found = np.linalg.lstsq(matrix / size, data * weight, rcond=_RANK)[0] / size
        return found, matrix @ found - data * weight

    bounds = (np.array([LEAST, -_WIDEST, -_STEEPEST]), np.array([MOST, _WIDEST, _STEEPEST]))

    def slopes(t: Array) -> Array:
        steps = np.diag(_DIFFERENCE * np.maximum(1.0, np.abs(t)))
        if searches == 1:  # one-sided does for a first look
            here = solved(t)[1]
            return np.column_stack([(solved(t + d)[1] - here) / d.sum() for d in steps])
        return np.column_stack([(solved(t + d)[1] - solved(t - d)[1]) / (2 * d.sum()) for d in steps])

    best = np.minimum(np.maximum(theta, bounds[0]), bounds[1])  # where to begin, not a result
    for _ in range(searches):  # a fresh region of trust where steps have shrunk to nothing in a bent valley
        before = best
        best = least_squares(
            lambda t: solved(t)[1], before, slopes, bounds=bounds, x_scale="jac",
            xtol=1e-14, ftol=1e-12, gtol=1e-14, max_nfev=_EVALUATIONS,
        ).x  # fmt: skip
        if float(np.mean(solved(best)[1] ** 2)) > _GAIN * float(np.mean(solved(before)[1] ** 2)):
            break
    coefficients, residual = solved(best)
    misfit = float(np.sqrt(np.mean(residual**2)))

    def moved(k: int) -> Array:
        step = np.zeros(3)
        step[k] = _DIFFERENCE * max(1.0, abs(float(best[k])))
        return np.asarray((columns(best + step) - columns(best - step)) @ coefficients / (2 * step[k]))

    jacobian = np.column_stack([*(moved(k) for k in range(3)), columns(best)])
    index, level, slope, gap = form.parameters(best)
    changes = float(np.mean(np.sign(residual[1:]) != np.sign(residual[:-1])))
    plain = TransformFit(
        form,
        index,
        level,
        slope,
        gap,
        best,
        coefficients,
        orders,
        reference,
        misfit,
        changes > _CHANGES,
        np.zeros((3, 3)),
    )
    return replace(plain, covariance=_covariance(jacobian, plain))


def _covariance(jacobian: Array, fit: TransformFit) -> Array:
    """Covariance of (α, ln C, x) for noise of the stated size times the misfit."""
    size = np.linalg.norm(jacobian, axis=0)
    size[size == 0] = 1.0  # a parameter that has run away and does nothing any more
    _, singular, rows = np.linalg.svd(jacobian / size, full_matrices=False)
    root = rows.T / np.maximum(singular, _RANK * singular[0]) / size[:, None]
    wanted = np.zeros((3, jacobian.shape[1]))
    wanted[0, 0] = wanted[2, 1] = 1.0
    wanted[1, 3] = 1.0 / fit.coefficients[0]
    a = fit.index
    if fit.form.kind == "below":
        wanted[1, :2] = 1 / a + float(digamma(2 - a)), -2.0
    elif a < 1 - ONE:
        wanted[1, 0] = -1 / (1 - a) - float(digamma(a))
    elif a > 1 + ONE:
        e = max(a - 1, _DIFFERENCE)
        own = fit.slope + 1 / e
        turned = (fit.form.slope(a + e / 8, 0.0) - fit.form.slope(a - e / 8, 0.0)) / (e / 4)
        wanted[1, [0, 2]] = (1 / e**2 - turned) / own, -1 / own
    spread = wanted @ root
    return np.asarray(spread @ spread.T * max(1.0, fit.misfit) ** 2)
