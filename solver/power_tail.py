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
        # ζ(q, y) y^q is about y/(q-1): taken together so that nothing under- or overflows at great depth
        sums = zeta(self.powers, first[..., None]) * first[..., None] ** self.powers
        depth = np.log(first / self.start)
        rest = (np.exp(np.multiply.outer(depth, self.powers[0] - self.powers)) * sums) @ self.coefficients
        logs: Array = self._log(rest) - self.powers[0] * depth + self.log_scale + np.log(self.spacing)
        return logs

    def decay(self, n: ArrayLike) -> Array:
        """-d ln ρ / dn at any real n ≥ 1."""
        y = _counted(n) / self.start + 1.0
        parts = np.exp(np.multiply.outer(np.log(y), self.powers[0] - self.powers)) * self.coefficients
        slopes: Array = (parts @ self.powers) / parts.sum(axis=-1) / (y * self.start)
        return slopes

    def log_integral(self, n: ArrayLike) -> Array:
        """ln of the mass beyond any real n ≥ 1: the integral where `log_mass_from` is the sum over nodes."""
        depth = np.log1p(_counted(n) / self.start)
        rest = np.exp(np.multiply.outer(depth, self.powers[0] - self.powers)) @ (self.coefficients / (self.powers - 1))
        scale = self.log_scale + np.log(self.start * self.spacing)
        logs: Array = self._log(rest) + (1 - self.powers[0]) * depth + scale
        return logs

    def node_with(self, log_integral: Array) -> Array:
        """The real n ≥ 1 beyond which this mass lies, for at most that beyond n = 1; Newton in ln of the depth."""
        least = np.log1p(1.0 / self.start)
        first = float(self.log_integral(1.0))
        u = least + (first - log_integral) / (self.powers[0] - 1)
        for _ in range(_NEWTON):
            n = np.maximum(self.start * np.expm1(u), 1.0)
            gap = self.log_integral(n) - log_integral
            flow = np.exp(self.log_density(n) - self.log_integral(n)) * self.spacing * (n + self.start)
            u = np.maximum(u + gap / flow, least)
        return np.asarray(np.maximum(self.start * np.expm1(u), 1.0))

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


def _counted(n: ArrayLike) -> Array:
    """Node numbers as floats, checked."""
    index = np.asarray(n)
    if index.size and index.min() < 1:
        raise ValueError(f"n = {index.min()}: nodes beyond the edge are counted from 1")
    return index.astype(float)
