"""What a density carries besides its values: the estimated error and the refinement levels that led to it.

The catch: an error of the tail exponent grows with depth, so one number cannot bound the error of ln ρ
everywhere. The estimate is flat over the body and linear beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorEstimate:
    """Error of ln ρ: `body` between the two limits, growing linearly with the distance beyond them.

    >>> error = ErrorEstimate(1e-9, 1e-11, 0.0, -10.0, 10.0)
    >>> error([-110.0, 0.0])
    array([2.e-09, 1.e-09])
    """

    body: float
    left_slope: float = 0.0
    right_slope: float = 0.0
    left_limit: float = -np.inf
    right_limit: float = np.inf

    def __call__(self, zeta: ArrayLike) -> Array:
        """The estimated error of ln ρ(ζ), same shape."""
        z = np.asarray(zeta, dtype=float)
        total = np.where(np.isnan(z), np.nan, self.body)
        if self.left_slope != 0:  # a zero slope stays zero at any depth, infinite ones included
            total = total + self.left_slope * np.maximum(0.0, self.left_limit - z)
        if self.right_slope != 0:
            total = total + self.right_slope * np.maximum(0.0, z - self.right_limit)
        return np.asarray(total)[()]


@dataclass(frozen=True)
class Level:
    """One refinement level: spacing, nodes, error estimate, observed order and the time it took."""

    spacing: float
    nodes: int
    estimate: float
    order_observed: float
    seconds: float
