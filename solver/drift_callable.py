"""A drift given as a Python function, and the guard around a function that somebody else wrote.

The function is sampled when the drift is made, out to |ζ| = 1e6, so that one that cannot be used fails there,
by name and place, and not in the middle of a solution. The catch: it is called far outside the region of
interest, where naive formulas (a ratio of two exponentials) give nan; that is refused rather than skipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from solver.checks import number, numbers, positive, shown
from solver.drift_base import Drift, FloatArray
from solver.drift_scan import crossings, plateau_reach
from solver.drift_survey import Survey, survey
from solver.errors import ModelError


@final
@dataclass(frozen=True)
class CallableDrift(Drift):
    """F(ζ) = function(ζ); the function gets a float64 array and must return finite values of its shape.

    left, right: the limits, +left at -inf and -right at +inf as in LogisticDrift, inf where F grows without
    bound. None: read off at doubling distances up to |ζ| = 1e6. A value that settles to 1e-10 is the limit,
    growth gives inf, anything slower is held at the farthest value and said so in `assumed`.
    scale: the shortest length over which F changes; None: half the range of F over its steepest slope.
    breaks: where F or F' jumps. ModelError says at which ζ the function failed.

    >>> drift = CallableDrift(lambda z: -np.tanh(z / 2))
    >>> drift.left_limit, drift.right_limit, round(drift.length_scale, 2), drift.sign_changes().tolist()
    (1.0, -1.0, 2.0, [0.0])
    >>> CallableDrift(lambda z: z - z**3).sign_changes().tolist()
    [-1.0, 0.0, 1.0]
    """

    kind: ClassVar[str] = "callable"
    analytic: ClassVar[bool] = False
    function: Callable[[FloatArray], Any]
    left: float | None = None
    right: float | None = None
    scale: float | None = None
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError(f"function = {shown(self.function)}: must be callable with an array of zeta")
        self._store(left=_finite_or_inf("left", self.left), right=_finite_or_inf("right", self.right))
        if self.scale is not None and not (isinstance(self.scale, float) and self.scale == math.inf):
            self._store(scale=positive("scale", self.scale))
        self._store(breaks=tuple(sorted(numbers("breaks", self.breaks))))
        self._survey  # noqa: B018  made now, not when first asked for: see the module's docstring

    @cached_property
    def _survey(self) -> Survey:
        return survey(self._sampled, self.left, self.right, self.scale, self.breaks)

    def _values(self, zeta: FloatArray) -> FloatArray:
        values = self._sampled(zeta)
        _refuse(zeta, values, np.isinf(values), "must be finite")
        return values

    def _sampled(self, zeta: FloatArray) -> FloatArray:
        """The function's own values, ±inf allowed, as a float64 array of the same shape."""
        points = np.array(zeta, dtype=float, ndmin=1)  # a copy: the function may work in place
        try:
            # Its warnings add nothing: nan is refused below, inf wherever a value is asked for.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                result = np.asarray(self.function(points))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ModelError(
                f"function: {type(error).__name__} ({error}) for an array of zeta from {np.min(zeta):g} to "
                f"{np.max(zeta):g}; it must take arrays (np.vectorize helps) and any |zeta| up to 1e6"
            ) from error
        shape = zeta.shape or (1,)
        if result.dtype.kind not in "fiu" or result.shape != shape:
            raise ModelError(
                f"function: must return real numbers in the shape of zeta, {shape}, "
                f"got {result.dtype} in the shape {result.shape}"
            )
        values = result.astype(float).reshape(zeta.shape)
        _refuse(zeta, values, np.isnan(values), "must be a number for every |zeta| up to 1e6")
        return values

    @property
    def left_limit(self) -> float:
        return self._survey.limits[0]

    @property
    def right_limit(self) -> float:
        return self._survey.limits[1]

    @property
    def length_scale(self) -> float:
        return self._survey.scale

    @property
    def assumed(self) -> tuple[str, ...]:
        return self._survey.assumed

    def plateau_reach(self, tolerance: float) -> tuple[float, float]:
        """As for every drift; a limit that was only assumed counts as not reached."""
        found = self._survey
        left, right = plateau_reach(self._sampled, found.points, found.values, found.limits, tolerance)
        return (left if found.trusted[0] else -math.inf), (right if found.trusted[1] else math.inf)

    def sign_changes(self) -> FloatArray:
        return crossings(self._sampled, self._survey.points, self._survey.values)


def _finite_or_inf(field: str, value: Any) -> float | None:
    if value is None or (isinstance(value, float) and value == math.inf):
        return value
    return number(field, value)


def _refuse(zeta: FloatArray, values: FloatArray, wrong: NDArray[np.bool_], rule: str) -> None:
    if np.any(wrong):
        place = int(np.argmax(wrong))
        raise ModelError(f"function = {values.flat[place]} at zeta = {zeta.flat[place]:.9g}: {rule}")
