"""Parameters whose combinations leave the range of a double, refused in one sentence instead of a traceback.

1e300 is a legal rate, and (1e300)² is a legal thing to ask for in the middle of a calculation. Guarding every product
would bury the formulas, and letting infinities run on would hide which result they spoilt. So a function of a model
runs with overflow, division by zero and invalid operations as errors, and whoever called it hears which parameter is
the most extreme one.

The catch: a place where infinity or NaN is the right answer must say so itself, with numpy's `errstate`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from solver.checks import shown, too_extreme
from solver.errors import ModelError
from solver.model import Model

P = ParamSpec("P")
R = TypeVar("R")


def within_doubles(function: Callable[P, R]) -> Callable[P, R]:
    """A function of a model that raises ModelError where its arithmetic leaves the range of doubles.

    `model` is the first argument, or passed by that name; anything but a Model is refused too.

    >>> from solver.drifts import TanhDrift
    >>> rate = within_doubles(lambda model: np.float64(model.drift.plateau) / np.float64(model.diffusion))
    >>> float(rate(Model(TanhDrift(3.0), 1.5)))
    2.0
    >>> rate(Model(TanhDrift(3.0), 5e-324))
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: diffusion = 5e-324: with the other parameters it leaves the range of doubles; choose \
units of ζ and of time in which all of them are nearer to 1
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        model: Any = kwargs.get("model", args[0] if args else None)
        if not isinstance(model, Model):
            raise ModelError(
                f"model = {shown(model)}: must be a Model such as Model(TanhDrift(1.0), diffusion=0.3), "
                f"got {type(model).__name__}"
            )
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return function(*args, **kwargs)
        except (FloatingPointError, OverflowError, ZeroDivisionError):
            raise too_extreme(_parameters(model)) from None

    return guarded


def _parameters(model: Model) -> Iterator[tuple[str, float]]:
    """Names and values of all parameters that are numbers and not zero; of a table the entries."""
    for part in (model, model.drift, model.jumps):
        if part is None:
            continue
        for field in dataclasses.fields(part):  # type: ignore[arg-type]  # the abstract classes are no dataclasses
            value = getattr(part, field.name)
            for entry in value if isinstance(value, tuple) else (value,):
                if isinstance(entry, float) and entry != 0 and math.isfinite(entry):
                    yield field.name, entry
