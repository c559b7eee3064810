"""The drifts with a formula: straight line, exponential wall, tanh, and the logistic step with two plateaus.

Everything asked of them is a formula too. The catch is the approach to a plateau: the distance to it is
written as a logistic function of its own, since plateau - F loses its digits exactly where it is wanted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import expit

from solver.checks import number, positive
from solver.drift_base import Drift, FloatArray, within_reach


@final
@dataclass(frozen=True)
class LinearDrift(Drift):
    """F(ζ) = -rate (ζ - center): the Ornstein-Uhlenbeck drift; no plateau. Unit of rate: 1 / time.

    >>> LinearDrift(rate=2.0, center=1.0)([0.0, 1.0, 2.0]).tolist()
    [2.0, 0.0, -2.0]
    >>> LinearDrift(rate=2.0).left_limit
    inf
    """

    kind: ClassVar[str] = "linear"
    rate: float
    center: float = 0.0

    def __post_init__(self) -> None:
        self._store(rate=number("rate", self.rate), center=number("center", self.center))

    def _values(self, zeta: FloatArray) -> FloatArray:
        if not self.rate:  # 0 * inf would be nan
            return np.zeros(zeta.shape)
        return self.rate * (self.center - zeta)

    @property
    def left_limit(self) -> float:
        return math.copysign(math.inf, self.rate) if self.rate else 0.0

    @property
    def right_limit(self) -> float:
        return -self.left_limit

    @property
    def length_scale(self) -> float:
        return math.inf

    def plateau_reach(self, tolerance: float) -> tuple[float, float]:
        number("tolerance", tolerance, low=0.0)
        return (-math.inf, math.inf) if self.rate else (self.center, self.center)

    def sign_changes(self) -> FloatArray:
        return np.array([self.center] if self.rate else [])


@final
@dataclass(frozen=True)
class ExponentialDrift(Drift):
    """F(ζ) = plateau - rate e^ζ: constant drift to the right against an exponential wall. Units: ζ / time.

    With r = e^ζ it is logistic growth of the decay rate, dr = r (plateau - rate r) dt + ...

    >>> drift = ExponentialDrift(plateau=1.0, rate=2.0)
    >>> drift.left_limit, drift.right_limit, drift.sign_changes().tolist() == [-math.log(2.0)]
    (1.0, -inf, True)
    """

    kind: ClassVar[str] = "exponential"
    plateau: float
    rate: float

    def __post_init__(self) -> None:
        self._store(plateau=number("plateau", self.plateau), rate=number("rate", self.rate))

    def _values(self, zeta: FloatArray) -> FloatArray:
        if not self.rate:  # 0 * inf would be nan
            return np.full(zeta.shape, self.plateau)
        return self.plateau - self.rate * np.exp(zeta)

    @property
    def left_limit(self) -> float:
        return self.plateau

    @property
    def right_limit(self) -> float:
        return math.copysign(math.inf, -self.rate) if self.rate else self.plateau

    @property
    def length_scale(self) -> float:
        return 1.0  # e^ζ changes by its own size over one unit

    def plateau_reach(self, tolerance: float) -> tuple[float, float]:
        number("tolerance", tolerance, low=0.0)
        if not self.rate:
            return 0.0, 0.0
        reach = math.log(tolerance) - math.log(abs(self.rate)) if tolerance else -math.inf
        return within_reach(reach, math.inf)

    def sign_changes(self) -> FloatArray:
        if self.plateau * math.copysign(1.0, self.rate) <= 0 or not self.rate:
            return np.array([])
        return np.array([math.log(abs(self.plateau)) - math.log(abs(self.rate))])


@final
@dataclass(frozen=True)
class LogisticDrift(Drift):
    """F(ζ) = (left - right e^x) / (1 + e^x), x = (ζ - center)/width: +left at -inf, -right at +inf.

    Positive `left` and `right` both point inwards. LogisticDrift(p, p, c, w) is TanhDrift(p, c, 2w).

    >>> drift = LogisticDrift(left=1.0, right=3.0, center=0.0, width=1.0)
    >>> drift.left_limit, drift.right_limit, float(drift(0.0))
    (1.0, -3.0, -1.0)
    >>> drift.sign_changes().tolist() == [-math.log(3.0)]
    True
    """

    kind: ClassVar[str] = "logistic"
    left: float
    right: float
    center: float = 0.0
    width: float = 1.0

    def __post_init__(self) -> None:
        self._store(left=number("left", self.left), right=number("right", self.right))
        self._store(center=number("center", self.center), width=positive("width", self.width))

    def _values(self, zeta: FloatArray) -> FloatArray:
        x = (zeta - self.center) / self.width
        return np.asarray(self.left * expit(-x) - self.right * expit(x))

    @property
    def left_limit(self) -> float:
        return self.left

    @property
    def right_limit(self) -> float:
        return -self.right

    @property
    def length_scale(self) -> float:
        return 2.0 * self.width  # of the tanh it is: half the rise over the steepest slope

    def plateau_reach(self, tolerance: float) -> tuple[float, float]:
        # F - left = -(left + right) expit(x) and F + right = (left + right) expit(-x)
        return _logistic_reach(self.left + self.right, self.center, self.width, tolerance)

    def sign_changes(self) -> FloatArray:
        if not (min(self.left, self.right) > 0 or max(self.left, self.right) < 0):
            return np.array([])
        return np.array([self.center + self.width * (math.log(abs(self.left)) - math.log(abs(self.right)))])


@final
@dataclass(frozen=True)
class TanhDrift(Drift):
    """F(ζ) = -plateau tanh((ζ - center)/width). Unit of plateau: ζ / time.

    >>> drift = TanhDrift(plateau=1.0, center=0.0, width=1.0)
    >>> drift.left_limit, drift.right_limit, drift.sign_changes().tolist()
    (1.0, -1.0, [0.0])
    >>> zl, zr = drift.plateau_reach(1e-10)
    >>> round(zl, 3), bool(abs(drift(zl) - 1.0) < 1.001e-10)
    (-11.859, True)
    """

    kind: ClassVar[str] = "tanh"
    plateau: float
    center: float = 0.0
    width: float = 1.0

    def __post_init__(self) -> None:
        self._store(plateau=number("plateau", self.plateau), center=number("center", self.center))
        self._store(width=positive("width", self.width))

    def _values(self, zeta: FloatArray) -> FloatArray:
        return self.plateau * np.tanh((self.center - zeta) / self.width)

    @property
    def left_limit(self) -> float:
        return self.plateau

    @property
    def right_limit(self) -> float:
        return -self.plateau

    @property
    def length_scale(self) -> float:
        return self.width

    def plateau_reach(self, tolerance: float) -> tuple[float, float]:
        # F - plateau = -2 plateau expit(2x)
        return _logistic_reach(2.0 * self.plateau, self.center, 0.5 * self.width, tolerance)

    def sign_changes(self) -> FloatArray:
        return np.array([self.center] if self.plateau else [])


def _logistic_reach(rise: float, center: float, width: float, tolerance: float) -> tuple[float, float]:
    """Where |rise| expit(±(ζ - center)/width) falls to the tolerance, on either side."""
    share = number("tolerance", tolerance, low=0.0) / abs(rise) if rise else 1.0
    if share >= 1.0:
        return center, center
    x = math.log(share) - math.log1p(-share) if share > 0.0 else -math.inf
    return within_reach(center + width * x, center - width * x)
