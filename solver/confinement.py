"""Is there a stationary law at all? Asked before any algebra, because an outward plateau gives a plausible answer.

A population is held together when F points inwards on both sides. Untempered jumps (λ = 0) demand more: against a
drift that saturates, jumps without a mean (α ≤ 1) win.

The catch: with pure jumps of α < 1 and a drift that steps through zero, a part of the population sits exactly on the
step: the law has an atom, and no density.
"""

from __future__ import annotations

import numpy as np

from solver.errors import NoStationaryDensityError
from solver.model import Model


def require_confinement(model: Model) -> None:
    """Raise NoStationaryDensityError, naming the side and the drift there, unless a density can exist."""
    drift = model.drift
    for side, limit, inward in (("left", drift.left_limit, 1), ("right", drift.right_limit, -1)):
        if not inward * limit > 0:
            raise NoStationaryDensityError(
                f"no stationary density: the drift does not point inwards on the {side}, F = {limit:g} at ζ → "
                f"{'-' if side == 'left' else '+'}∞ where it must be {'positive' if inward > 0 else 'negative'}; "
                f"time scales {'lengthen' if side == 'left' else 'shorten'} without bound"
            )
        far = None if model.jumps is None else model.jumps.power_law
        if far is not None and np.isfinite(limit) and far.stability <= 1:
            raise NoStationaryDensityError(
                f"no stationary density: with tempering = 0 and stability = {far.stability:g} ≤ 1 the jumps have no "
                f"mean, and the drift saturates at F = {limit:g} on the {side}; temper the jumps (tempering > 0), or "
                "use a drift that grows without bound"
            )
    _refuse_atom(model)


def _refuse_atom(model: Model) -> None:
    """A step of F through zero traps mass when nothing smooths it: no diffusion, jumps of finite variation."""
    if model.diffusion > 0 or model.jumps is None or model.jumps.activity >= 1:
        return
    for place in model.drift.breaks:
        reach = 1e-9 * max(1.0, abs(place))
        before, after = (float(x) for x in model.drift(np.array([place - reach, place + reach])))
        if before > 0 > after:
            raise NoStationaryDensityError(
                f"no stationary density: the drift steps from {before:g} to {after:g} at ζ = {place:g} and pure jumps "
                f"of index {model.jumps.activity:g} < 1 do not smooth it, so a part of the population sits "
                "exactly there (an atom); add diffusion > 0 or give the step a width"
            )
