"""How a drift grows far out, and where untempered jumps make the density a power of the depth.

Beyond all its structure |F| ≈ κ s^p, s the distance from the middle of its zeros, p = 0 for a drift that saturates.
Single jumps from the body then make ρ ≈ (η_J c/(α κ)) s^{-α-p}, which `untempered` continues.

The catch: what that power leaves out falls only as s^{-(α+p-1)}. Where the exponent is nearly zero the power is right
in principle and nowhere in practice; this is said before any grid is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.drifts import Drift
from solver.errors import NotConvergedError
from solver.jumps import PowerLaw
from solver.model import Model

# Where the growth of the drift is read, in its own lengths: beyond all lower terms (1/s, 1/s²) to 1e-6 or better.
_FAR = 1e6
# A growth this close to a multiple of 1/20 is that: terms 1/s of the drift reach here.
_EXACT = 1e-5
# A drift that grows faster than this power is as good as exponential: an edge closes it.
_STEEPEST = 12.0
# Corrections that fall more slowly are not followed: 1.99/0.005 = 400 terms, and each still 10% of the one before at a
# depth of 1e200. A tail that begins beyond 10 to this power is out of reach for a grid anyhow.
_SLOWEST, _FARTHEST_TAIL = 0.005, 30.0


@dataclass(frozen=True)
class Growth:
    """F ≈ ∓κ s^p far out on one side, s the distance from the middle of the drift's zeros."""

    power: float
    size: float

    @property
    def bounded(self) -> bool:
        """Does it grow as a power, slower than anything exponential?"""
        return self.power <= _STEEPEST


def middle(drift: Drift) -> float:
    """Where depths are counted from: halfway between the outermost zeros of the drift."""
    zeros = drift.sign_changes()
    return 0.5 * float(zeros[0] + zeros[-1])


def growth(drift: Drift, side: int) -> Growth:
    """How the drift grows to the left (side = -1) or right (+1); `power` inf where it outgrows every power."""
    limit = drift.left_limit if side < 0 else drift.right_limit
    if np.isfinite(limit):
        return Growth(0.0, abs(float(limit)))
    scale = drift.length_scale if np.isfinite(drift.length_scale) else 1.0
    s = _FAR * max(1.0, scale)
    with np.errstate(over="ignore", invalid="ignore"):
        near, far = np.abs(drift(middle(drift) + side * s * np.array([1.0, 2.0])))  # a term 1/s drops out of size below
    if not np.isfinite(far) or not near > 0:
        return Growth(np.inf, np.inf)
    power = float(np.log2(far / near))
    rounded = round(20 * power) / 20
    power = rounded if abs(power - rounded) <= _EXACT else power
    return Growth(power, float(2 * far / 2**power - near) / s**power)


def is_untempered(model: Model) -> bool:
    """Are there jumps, without tempering?"""
    return model.jumps is not None and model.jumps.tempering == 0


def far_jump_law(model: Model) -> PowerLaw:
    """The law of untempered jumps."""
    assert model.jumps is not None and model.jumps.power_law is not None
    return model.jumps.power_law


def tail_scale(model: Model) -> float:
    """The depth at which the leading power, taken alone, has all the mass beyond it: tails begin deeper than this."""
    far = far_jump_law(model)
    depths = [0.0]
    for side in (-1, 1):
        law = growth(model.drift, side)
        if not law.bounded:
            continue
        excess = far.stability + law.power - 1
        decades = np.log10(far.strength / (far.stability * law.size * excess)) / excess
        if excess < _SLOWEST or decades > _FARTHEST_TAIL:
            raise NotConvergedError(
                f"stability = {far.stability:g}, tempering = 0 and a drift that grows as |ζ|^{law.power:g}: the tail "
                f"|ζ|^-{far.stability + law.power:g} begins at |ζ| = 10^{decades:.3g} and is approached as "
                f"|ζ|^-{excess:.2g} only, which no grid reaches; temper the jumps, or take a larger stability"
            )
        depths.append(10**decades)
    return max(depths)
