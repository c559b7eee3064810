"""What a density carries besides its values: the estimated error and the refinement levels that led to it.

The catch: an error of the tail exponent grows with depth, so one number cannot bound the error of ln ρ
everywhere. The estimate is flat over the body and linear beyond it, steeper again beyond the reach of the jump
law, where a tail that its tempering pins loses the power of the depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorEstimate:
    """Error of ln ρ: `body` between the two limits, growing by `slope` per unit of ζ beyond them, and by `excess` more
    beyond the places `left_reach` and `right_reach` to which the jumps are exact (see `solve_stationary`'s depth).

    >>> error = ErrorEstimate(1e-9, 1e-11, 0.0, -10.0, 10.0)
    >>> error([-110.0, 0.0])
    array([2.e-09, 1.e-09])
    """

    body: float
    left_slope: float = 0.0
    right_slope: float = 0.0
    left_limit: float = -np.inf
    right_limit: float = np.inf
    left_excess: float = 0.0
    right_excess: float = 0.0
    left_reach: float = -np.inf
    right_reach: float = np.inf

    def __call__(self, zeta: ArrayLike) -> Array:
        """The estimated error of ln ρ(ζ), same shape."""
        z = np.asarray(zeta, dtype=float)
        total = np.where(np.isnan(z), np.nan, self.body)
        for slope, outwards, limit in (
            (self.left_slope, -1.0, self.left_limit),
            (self.right_slope, 1.0, self.right_limit),
            (self.left_excess, -1.0, self.left_reach),
            (self.right_excess, 1.0, self.right_reach),
        ):
            if slope != 0:  # a zero slope stays zero at any depth, an infinite one costs nothing at depth zero
                beyond = outwards * np.subtract(z, limit, out=np.zeros_like(total), where=z != limit)
                total = total + np.multiply(slope, beyond, out=np.zeros_like(total), where=beyond > 0)
        return np.asarray(total)[()]


@dataclass(frozen=True)
class Level:
    """One refinement level: spacing, nodes, error estimate, observed order and the time it took."""

    spacing: float
    nodes: int
    estimate: float
    order_observed: float
    seconds: float
