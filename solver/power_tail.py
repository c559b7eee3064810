"""The half-line beyond an edge where the density is a sum of powers of the depth, as untempered jumps make it.

    ρ(s) = Σ_j c_j (s / s_edge)^{-q_j},      s = distance from the middle of the drift, s_edge at the edge

The sums over all nodes beyond, which mass, moments and messages need, are values of Hurwitz's zeta function and of
Lerch's transcendent. Where the powers come from is the business of `untempered`.

The catch: a power law has no decay rate. `exponent` is 0, as the limit of -d ln ρ/ds, and nothing may be divided by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, zeta

Array = NDArray[np.float64]

# Lerch's transcendent by the trapezoid rule in ln t: the integrand is analytic within π/2 of the real axis (e^{-t}), so
# that the step 0.25 errs by e^{-2π·(π/2)/0.25} = 7e-18.
_STEP = 0.25
_FADED = 40.0  # e^{-40}: what is left out at the lower end; at the upper one e^{-t} itself is that small
# In the logarithms of depth and mass the tail is a line that bends within a few units: 4 to 7 steps.
_NEWTON = 12
_LARGE = 1e8  # y from which two terms of ζ(q, y) y^q are exact to rounding
_HIGHEST = 6.6  # ln of 735, beyond which e^{-t} is not a number


@dataclass(frozen=True, eq=False)
class PowerTail:
    """ρ_n = e^{log_scale} Σ_j coefficients_j (1 + n/start)^{-powers_j}, node n = 1, 2, … outwards from the edge node.

    `powers` (J,) ascending, all above 1; `coefficients` (J,) add up to 1, so that e^{log_scale} is the density which
    the tail has at the edge node; `start` is the edge's depth in nodes. Same interface as `nullvector.Continuation`.

    >>> inverse_square = PowerTail(np.array([1.0]), np.array([2.0]), start=10.0, log_scale=0.0, spacing=0.1)
    >>> np.exp(inverse_square.log_density([10, 90])), round(float(np.exp(inverse_square.log_mass_from(1))), 9)
    (array([0.25, 0.01]), 0.951663357)
    """

    coefficients: Array
    powers: Array
    start: float
    log_scale: float
    spacing: float

    exponent = 0.0  # decay rate per unit of ζ
    excess = 0.0
    doubt = 0.0
    reach = np.inf  # every jump that shapes the tail is in it
    deepest = np.inf
    near = 0
    law_from = 1.0  # the shape holds from the first node on

    def require(self, depth: float) -> None:
        """Known at any depth (`Continuation.require`)."""

    @property
    def power(self) -> float:
        """The slowest power: ρ ~ s^{-power} at the greatest depths."""
        return float(self.powers[0])

    def log_density(self, n: ArrayLike) -> Array:
        """ln ρ at nodes n ≥ 1 beyond the edge, any shape, any depth; NaN where the sum is not positive."""
        depth = np.log1p(_counted(n) / self.start)
        rest = np.exp(np.multiply.outer(depth, self.powers[0] - self.powers)) @ self.coefficients
        logs: Array = self._log(rest) - self.powers[0] * depth + self.log_scale
        return logs

    def log_mass_from(self, n: ArrayLike) -> Array:
        """ln( spacing · Σ_{k ≥ n} ρ_k )."""
        first = _counted(n) + self.start
        sums = _zeta_times_power(self.powers, first[..., None])
        depth = np.log(first / self.start)
        rest = (np.exp(np.multiply.outer(depth, self.powers[0] - self.powers)) * sums) @ self.coefficients
        logs: Array = self._log(rest) - self.powers[0] * depth + self.log_scale + np.log(self.spacing)
        return logs

    def _far(self, distance: Array) -> tuple[Array, Array]:
        """ln of the depth over that of the edge, and the powers relative to the first, at distances in ζ from it."""
        depth = np.log1p(distance / (self.start * self.spacing))
        return depth, np.exp(np.multiply.outer(depth, self.powers[0] - self.powers)) * self.coefficients

    def far_log_density(self, distance: Array) -> Array:
        """ln ρ at distances in ζ beyond the edge, nodes or not."""
        depth, parts = self._far(distance)
        return np.asarray(self._log(parts.sum(axis=-1)) - self.powers[0] * depth + self.log_scale)

    def far_decay(self, distance: Array) -> Array:
        """-d ln ρ / d distance."""
        _, parts = self._far(distance)
        slopes: Array = (parts @ self.powers) / parts.sum(axis=-1) / (distance + self.start * self.spacing)
        return slopes

    def far_log_mass(self, distance: Array) -> Array:
        """ln of the mass beyond: the integral where `log_mass_from` is the sum over nodes."""
        depth, parts = self._far(distance)
        rest = parts @ (1 / (self.powers - 1))
        scale = self.log_scale + np.log(self.start * self.spacing)
        return np.asarray(self._log(rest) + (1 - self.powers[0]) * depth + scale)

    def far_distance(self, log_mass: Array) -> Array:
        """The distance beyond which this mass lies, one node at least; Newton in ln of the depth."""
        edge = self.start * self.spacing
        least = np.log1p(self.spacing / edge)
        first = float(self.far_log_mass(np.array([self.spacing]))[0])
        u = least + (first - log_mass) / (self.powers[0] - 1)
        for _ in range(_NEWTON):
            distance = edge * np.expm1(u)
            gap = self.far_log_mass(distance) - log_mass
            flow = np.exp(self.far_log_density(distance) - self.far_log_mass(distance)) * (distance + edge)
            u = np.maximum(u + gap / flow, least)
        return np.asarray(edge * np.expm1(u))

    def moments(self) -> tuple[float, float, float]:
        """spacing · Σ_{n ≥ 1} n^p ρ_n for p = 0, 1, 2; inf where the sum diverges."""
        m0, m1, m2 = (self._moment(p) for p in range(3))
        scale = self.spacing * np.exp(self.log_scale)
        first = m1 - self.start * m0 if np.isfinite(m1) else np.inf
        second = m2 - 2 * self.start * m1 + self.start**2 * m0 if np.isfinite(m2) else np.inf
        return float(scale * m0), float(scale * first), float(scale * second)

    def _moment(self, p: int) -> float:
        """Σ (n + start)^p ρ_n without the scale."""
        if self.powers[0] <= p + 1:
            return np.inf
        sums = zeta(self.powers - p, self.start + 1) * self.start**self.powers
        return float(sums @ self.coefficients)

    def sent(self, log_ratios: Array) -> Array:
        """Σ_{n ≥ 1} q^{n-1} ρ_n for each ln q of `log_ratios` (K,), without e^{log_scale}: what jumps carry inwards.

        With y^{-s} Γ(s) = ∫ t^{s-1} e^{-yt} dt the sum over nodes is geometric under the integral.
        """
        first = self.start + 1.0
        u = np.arange(-_FADED / min(1.0, self.powers[0] - 1.0), _HIGHEST, _STEP)
        t = np.exp(u)
        nodes = -1.0 / np.expm1(log_ratios[:, None] - t / first)
        weights = np.exp(np.multiply.outer(self.powers, u) - t - gammaln(self.powers)[:, None])
        share = self.coefficients * (self.start / first) ** self.powers
        sums: Array = _STEP * (nodes @ (share @ weights))
        return sums

    def values(self, n: ArrayLike) -> Array:
        """ρ at any node n > -start, without e^{log_scale}; the continuation inwards of the same law."""
        depth = np.log1p(np.asarray(n, dtype=float) / self.start)
        return np.asarray(np.exp(-np.multiply.outer(depth, self.powers)) @ self.coefficients)

    def shifted(self, log_factor: float) -> PowerTail:
        """The same tail with its density multiplied by e^{log_factor}."""
        return replace(self, log_scale=self.log_scale + log_factor)

    @staticmethod
    def _log(values: Array) -> Array:
        out = np.full(np.shape(values), np.nan)
        np.log(values, out=out, where=np.asarray(values > 0))
        return out

    def arrays(self) -> dict[str, Array]:
        """Plain arrays for saving; `from_arrays` is the inverse."""
        numbers = np.array([self.start, self.log_scale, self.spacing])
        return {"coefficients": self.coefficients, "powers": self.powers, "numbers": numbers}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> PowerTail:
        """Rebuild what `arrays` gave."""
        start, log_scale, spacing = (float(x) for x in arrays["numbers"])
        return cls(arrays["coefficients"], arrays["powers"], start, log_scale, spacing)


def _zeta_times_power(q: Array, y: Array) -> Array:
    """ζ(q, y) y^q, about y/(q-1), without under- or overflow at great y."""
    near = np.minimum(y, _LARGE)
    # Euler–Maclaurin; the next term is q³/y³ relative to the first
    series = y / (q - 1) + 0.5 + q / (12 * y)
    return np.asarray(np.where(y < _LARGE, zeta(q, near) * near**q, series))


def _counted(n: ArrayLike) -> Array:
    """Node numbers as floats, checked."""
    index = np.asarray(n)
    if index.size and index.min() < 1:
        raise ValueError(f"n = {index.min()}: nodes beyond the edge are counted from 1")
    return index.astype(float)
