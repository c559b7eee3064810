"""A drift given as a table, interpolated so that it has no well that the table does not have.

The catch is what is not in the data: a table says nothing beyond its ends. F is held constant there, which
decides the tails of the density, so `assumed` says it and the sentence goes on into every result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from solver.checks import numbers
from solver.drift_base import Drift, FloatArray
from solver.drift_scan import crossings, plateau_reach
from solver.errors import ModelError

_STEEP = "values: a slope between two entries exceeds the range of a double"


@final
@dataclass(frozen=True)
class TabulatedDrift(Drift):
    """Monotone cubic interpolation (PCHIP) of (zeta, values), each (n,), n >= 2; constant beyond the table.

    zeta must increase strictly. Between two entries F stays between their values (Fritsch and Butland,
    SIAM J. Sci. Stat. Comput. 5, 1984). ModelError names the entry that is wrong.

    >>> drift = TabulatedDrift(zeta=[-4.0, 0.0, 4.0], values=[0.83, 0.0, -1.0])
    >>> drift([-10.0, 0.0, 4.0]).tolist(), drift.sign_changes().tolist()
    ([0.83, 0.0, -1.0], [0.0])
    >>> drift.assumed[0]
    'drift is held at its end value 0.83 below zeta = -4'
    """

    kind: ClassVar[str] = "table"
    analytic: ClassVar[bool] = False
    zeta: tuple[float, ...]
    values: tuple[float, ...]

    if TYPE_CHECKING:  # the constructor takes any list or array of numbers; the fields are always tuples

        def __init__(self, zeta: ArrayLike, values: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        self._store(zeta=numbers("zeta", self.zeta), values=numbers("values", self.values))
        if len(self.zeta) < 2:
            raise ModelError(f"zeta: {len(self.zeta)} of them; a table needs at least 2 points")
        if len(self.zeta) != len(self.values):
            raise ModelError(f"values: {len(self.values)} of them, but {len(self.zeta)} zeta; one for each")
        for i, (before, after) in enumerate(pairwise(self.zeta), start=1):
            if not after > before:
                raise ModelError(f"zeta[{i}] = {after!r}: must be larger than zeta[{i - 1}] = {before!r}")
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # refused right here
            slopes = np.diff(self.values) / np.diff(self.zeta)
            if not np.all(np.isfinite(slopes)):
                raise ModelError(_STEEP)
            try:
                coefficients = self._pchip.c
            except ValueError:  # scipy's own refusal of slopes at the entries that are not finite
                raise ModelError(_STEEP) from None
            if not np.all(np.isfinite(coefficients)):
                raise ModelError(_STEEP)

    @cached_property
    def _pchip(self) -> PchipInterpolator:
        return PchipInterpolator(self.zeta, self.values)

    def _values(self, zeta: FloatArray) -> FloatArray:
        first, last = self.zeta[0], self.zeta[-1]
        inside = self._pchip(np.minimum(np.maximum(zeta, first), last))
        # The end values as they stand in the table, not as the cubic rounds them.
        return np.where(zeta <= first, self.values[0], np.where(zeta >= last, self.values[-1], inside))

    @property
    def left_limit(self) -> float:
        return self.values[0]

    @property
    def right_limit(self) -> float:
        return self.values[-1]

    @property
    def length_scale(self) -> float:
        """The smallest spacing of the table."""
        return float(np.min(np.diff(self.zeta)))

    @cached_property
    def breaks(self) -> tuple[float, ...]:
        """The ends of the table where it does not end flat: F' jumps to zero there."""
        ends = (self.zeta[0], self.zeta[-1])
        return tuple(end for end, slope in zip(ends, self._pchip(ends, 1), strict=True) if slope)

    @property
    def assumed(self) -> tuple[str, ...]:
        return (
            f"drift is held at its end value {self.values[0]:g} below zeta = {self.zeta[0]:g}",
            f"drift is held at its end value {self.values[-1]:g} above zeta = {self.zeta[-1]:g}",
        )

    def plateau_reach(self, tolerance: float) -> tuple[float, float]:
        limits = (self.left_limit, self.right_limit)
        return plateau_reach(self, np.array(self.zeta), np.array(self.values), limits, tolerance)

    def sign_changes(self) -> FloatArray:
        return crossings(self, np.array(self.zeta), np.array(self.values))
