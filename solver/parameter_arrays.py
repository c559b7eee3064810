"""Parameters given as arrays: each inside its range, shapes that broadcast, results that fit a double.

The catch: one bad entry of a million refuses them all, so the message says which.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import array, too_extreme
from solver.errors import ModelError
from solver.jump_exponents import require

Array = NDArray[np.float64]
P = ParamSpec("P")
R = TypeVar("R")

_RANGES: dict[str, tuple[str, Callable[[Array], NDArray[np.bool_]]]] = {
    "exponent": ("[-inf, inf]", lambda a: np.full(a.shape, True)),
    "plateau": ("[-inf, inf]", lambda a: ~np.isnan(a)),
    "diffusion": ("[0, inf)", lambda a: (a >= 0) & np.isfinite(a)),
    "intensity": ("[0, inf)", lambda a: (a >= 0) & np.isfinite(a)),
    "stability": ("(0, 2)", lambda a: (a > 0) & (a < 2)),
    "tempering": ("[0, inf)", lambda a: (a >= 0) & np.isfinite(a)),
}


def checked(**given: ArrayLike) -> tuple[Array, ...]:
    """The parameters as float arrays, each inside its range, whose shapes broadcast; one kind of noise is there."""
    arrays = {name: array(name, values) for name, values in given.items()}
    for name, values in arrays.items():
        allowed, inside = _RANGES[name]
        require(values, inside(values), name, allowed)
    try:
        np.broadcast_shapes(*(values.shape for values in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {values.shape}" for name, values in arrays.items() if values.ndim)
        raise ModelError(f"shapes that do not broadcast: {shapes}") from None
    if "intensity" in arrays and np.any((arrays["diffusion"] == 0) & (arrays["intensity"] == 0)):
        raise ModelError("diffusion = 0 and intensity = 0: nothing moves without noise; one must be positive")
    return tuple(arrays.values())


def numbers_within_doubles(function: Callable[P, R]) -> Callable[P, R]:
    """ModelError, naming the most extreme number, where the arithmetic leaves the range of doubles."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if np.geterr()["over"] == "raise":  # whoever asked for that has a better name for it
            return function(*args, **kwargs)
        try:
            with np.errstate(over="raise", invalid="raise"):
                return function(*args, **kwargs)
        except FloatingPointError:
            given: dict[str, Any] = signature(function).bind(*args, **kwargs).arguments
            given.pop("convention", None)
            pairs = [(name, float(value)) for name, values in given.items() for value in np.ravel(values)]
            raise too_extreme((name, x) for name, x in pairs if x != 0 and math.isfinite(x)) from None

    return guarded
