"""The null vector of the adjoint on a grid, in logarithms, with what continues it beyond open edges.

The catch: at a stop edge nothing continues it, and the density is taken as zero beyond; edges are placed so that this
does not matter for the body, and it says nothing about the tail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.continuation import Continuation
from solver.power_tail import PowerTail

Array = NDArray[np.float64]

# What may lie beyond an open edge: exponentials, or without tempering a sum of powers.
Tail = Continuation | PowerTail


@dataclass(frozen=True, eq=False)
class NullVector:
    """A null vector of the adjoint: ln|ρ| and sign at the nodes, normalised with the mass beyond open edges.

    `residual` is the largest componentwise |Aρ| / (|A||ρ|); `column_defect` the largest column sum of the last Schur
    complement relative to its diagonal (zero for a method that has none).
    """

    log_density: Array
    sign: Array
    left: Tail | None
    right: Tail | None
    residual: float
    column_defect: float

    def __post_init__(self) -> None:
        for name in ("log_density", "sign"):  # a view, so that the caller's own array stays as it was
            values = np.asarray(getattr(self, name)).view()
            values.flags.writeable = False
            object.__setattr__(self, name, values)


def normalised(
    log_density: Array,
    sign: Array,
    spacing: float,
    left: Tail | None = None,
    right: Tail | None = None,
    *,
    residual: float = np.nan,
    column_defect: float = 0.0,
) -> NullVector:
    """Scale a null vector so that spacing · Σρ plus the mass beyond open edges is 1, signs respected."""
    peak = float(log_density.max())
    mass = spacing * float(np.sum(sign * np.exp(log_density - peak)))
    for side in (left, right):
        if side is not None:
            mass += float(np.exp(side.log_mass_from(1) - peak))
    if not mass > 0:
        raise FloatingPointError(f"the null vector has mass {mass} instead of a positive one")
    shift = -peak - float(np.log(mass))
    return NullVector(
        log_density + shift,
        sign,
        None if left is None else left.shifted(shift),
        None if right is None else right.shifted(shift),
        residual,
        column_defect,
    )
