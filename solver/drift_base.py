"""What every drift F(ζ) answers: values and limits, where it is flat, where it vanishes, how fast it varies.

A drift checks only that its numbers are finite and its widths positive. Whether it holds a population
together is a property of the model: an outward drift is legal here and refused when a density is asked for.
The catch is far away: ζ may be any finite number, so every form is written to saturate or overflow to ±inf
quietly.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

# "Far away" for every drift: a time scale of e^(1e6), beyond any grid (a million nodes with h = 1).
FARTHEST = 1e6


class Drift(ABC):
    """Abstract drift F; the concrete ones are frozen dataclasses and final.

    Calling it gives F(ζ) in the shape of ζ, for any finite ζ, without numpy warnings.
    """

    kind: ClassVar[str]  # the word in model files
    analytic: ClassVar[bool] = True  # False where corners or knots may lie anywhere: orders seen may not last

    def __call__(self, zeta: ArrayLike) -> FloatArray:
        # Overflow to ±inf is the right answer where an unbounded drift leaves the range of a double.
        with np.errstate(over="ignore"):
            return self._values(np.asarray(zeta, dtype=float))

    @abstractmethod
    def _values(self, zeta: FloatArray) -> FloatArray:
        """F at an array of any shape."""

    @property
    @abstractmethod
    def left_limit(self) -> float:
        """F(-inf), possibly ±inf."""

    @property
    @abstractmethod
    def right_limit(self) -> float:
        """F(+inf), possibly ±inf."""

    @property
    @abstractmethod
    def length_scale(self) -> float:
        """The shortest length over which F changes (unit: ζ); inf for a straight line."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where F or F' jumps, ascending."""
        return ()

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was taken for granted about F because nobody said so; one sentence each."""
        return ()

    @abstractmethod
    def plateau_reach(self, tolerance: float) -> tuple[float, float]:
        """(zl, zr): |F - left_limit| <= tolerance for ζ <= zl, |F - right_limit| <= tolerance for ζ >= zr.

        `tolerance` is absolute. -inf (+inf): the limit is infinite or not reached within |ζ| <= 1e6.
        Where the tolerance covers the whole drift, both are its centre.
        """

    @abstractmethod
    def sign_changes(self) -> FloatArray:
        """Where F changes sign, ascending, shape (n,)."""

    def _store(self, **checked: Any) -> None:
        """Put checked values into the fields of a frozen dataclass; for __post_init__ only."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)


def within_reach(left: float, right: float) -> tuple[float, float]:
    """(left, right) with infinity in place of a point beyond FARTHEST."""
    return (left if left >= -FARTHEST else -math.inf), (right if right <= FARTHEST else math.inf)
