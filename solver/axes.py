"""A parameter of a model by its name: its unit, its value, a model with another value, and a list of values to try.

The names are those of the theory, and a drift may call one otherwise: the far-left value of the drift is the
`plateau`, also where the drift has two (`left` of a LogisticDrift). The catch is a parameter that a model does not
have, such as the tempering of a model without jumps: it is refused, never added.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.checks import choice, number, numbers, shown
from solver.drifts import Drift, LogisticDrift
from solver.errors import ModelError
from solver.model import Model

Array = NDArray[np.float64]

# By the part of the model that holds them, with their units; ν = η_J c e^{-λ|z|}/|z|^{1+α} gives that of η_J.
_UNITS = {
    "drift": {"plateau": "ζ / time", "center": "ζ", "width": "ζ"},
    "model": {"diffusion": "ζ² / time"},
    "jumps": {"intensity": "ζ^α / time", "stability": "1", "tempering": "1 / ζ"},
}
UNITS = {name: unit for units in _UNITS.values() for name, unit in units.items()}
_PART = {name: part for part, units in _UNITS.items() for name in units}


def parameter(model: Model, name: str) -> float:
    """The value of a parameter; ModelError where the model has no such parameter.

    >>> from solver.drifts import LogisticDrift
    >>> parameter(Model(LogisticDrift(left=1.0, right=3.0), 0.3), "plateau")
    1.0
    >>> parameter(Model(LogisticDrift(left=1.0, right=3.0), 0.3), "tempering")
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: tempering: this model has no jumps; its parameters are center, diffusion, plateau, width
    """
    part, field = _place(model, name)
    return float(getattr(part, field))


def parameters(model: Model) -> dict[str, float]:
    """All parameters of a model that have a name here, by name."""
    return {name: parameter(model, name) for name in _known(model)}


def with_parameters(model: Model, values: Mapping[str, float]) -> Model:
    """The model with these parameters replaced, all at once; ModelError as for a new Model.

    >>> from solver.drifts import TanhDrift
    >>> with_parameters(Model(TanhDrift(1.0), 0.3), {"plateau": 2.0, "diffusion": 0.1})
    Model(drift=TanhDrift(plateau=2.0, center=0.0, width=1.0), diffusion=0.1, jumps=None)
    """
    changes: dict[str, dict[str, float]] = {"drift": {}, "model": {}, "jumps": {}}
    for name, value in values.items():
        _, field = _place(model, name)
        changes[_PART[name]][field] = value
    parts: dict[str, Any] = dict(changes["model"])
    for part in ("drift", "jumps"):
        if changes[part]:
            parts[part] = dataclasses.replace(getattr(model, part), **changes[part])
    return dataclasses.replace(model, **parts)


def linear_range(low: float, high: float, points: float) -> Array:
    """`points` equally spaced values from low to high, both included; ModelError for an empty or reversed range.

    >>> linear_range(0.0, 1.0, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return np.linspace(*_ends(low, high), _count(points))


def log_range(low: float, high: float, points: float) -> Array:
    """The same, equally spaced in logarithms: 0 < low.

    >>> log_range(0.01, 100.0, 3).tolist()
    [0.01, 1.0, 100.0]
    """
    first, last = _ends(low, high)
    if first <= 0:
        raise ModelError(f"log_range = [{first:g}, {last:g}]: must begin above 0")
    return np.geomspace(first, last, _count(points))


def axis_values(name: str, values: Any) -> Array:
    """The values of an axis as an array (n,), n >= 1, finite and increasing; ModelError names the entry."""
    choice("axis", name, UNITS)
    listed = numbers(name, values)
    if not listed:
        raise ModelError(f"{name} = []: empty; an axis needs at least one value")
    for i, (before, after) in enumerate(pairwise(listed), start=1):
        if not after > before:
            raise ModelError(f"{name}[{i}] = {after!r}: must be larger than {name}[{i - 1}] = {before!r}")
    return np.array(listed)


def require_few(sizes: Mapping[str, int], most: int) -> None:
    """Raise ModelError if axes of these sizes span more than `most` points.

    >>> require_few({"intensity": 2000, "plateau": 10_000}, most=1_000_000)
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: intensity (2000), plateau (10000): 20000000 points; at most 1000000 are possible
    """
    points = math.prod(sizes.values())
    if points > most:
        listed = ", ".join(f"{name} ({size})" for name, size in sizes.items())
        raise ModelError(f"{listed}: {points} points; at most {most} are possible")


def attributes(name: str, model: Model) -> dict[str, str]:
    """What a data set says about an axis: the unit, and the convention of an intensity."""
    out = {"units": UNITS[name]}
    if name == "intensity" and model.jumps is not None:
        out["convention"] = getattr(model.jumps, "convention", "levy")
    return out


def _ends(low: Any, high: Any) -> tuple[float, float]:
    first, last = number("range[0]", low), number("range[1]", high)
    if not last > first:
        kind = "empty" if first == last else "reversed"
        raise ModelError(f"range = [{first:g}, {last:g}]: {kind}; the first number must be below the second")
    return first, last


def _count(points: Any) -> int:
    return int(number("points", points, low=2, high=1e6, integer=True))


def _known(model: Model) -> list[str]:
    """Names of the parameters that a model has."""
    return sorted(name for name in UNITS if _field(_part(model, name), name))


def _part(model: Model, name: str) -> Any:
    part = _PART[name]
    return model if part == "model" else getattr(model, part)


def _field(part: Any, name: str) -> str:
    """What a part calls the parameter; "" if it has none. Only a LogisticDrift's `left` is a plateau under any value:
    that of a CallableDrift is a statement about its function."""
    if part is None:
        return ""
    if name in {field.name for field in dataclasses.fields(part)}:
        return name
    return "left" if name == "plateau" and isinstance(part, LogisticDrift) else ""


def _place(model: Model, name: str) -> tuple[Any, str]:
    """The part of the model that holds a parameter, and its name there."""
    choice("parameter", name, UNITS)
    part = _part(model, name)
    field = _field(part, name)
    if not field:
        owner = "jumps" if part is None else type(part).__name__
        lacks = f"this model has no {owner}" if part is None else f"{owner} has none"
        raise ModelError(f"{name}: {lacks}; its parameters are {', '.join(_known(model))}")
    return part, field


def drift_limits(model: Model, plateaus: Array | None) -> tuple[Array, Array]:
    """F(-inf) and -F(+inf), as arrays over the plateaus, or of one value where the plateau stays as it is."""
    if plateaus is None:
        drifts: list[Drift] = [model.drift]
    else:
        drifts = [with_parameters(model, {"plateau": float(value)}).drift for value in plateaus]
    left, right = ([getattr(drift, side) for drift in drifts] for side in ("left_limit", "right_limit"))
    for side, limits in (("left", left), ("right", right)):
        if np.any(np.isnan(limits)):
            raise ModelError(f"drift: its limit on the {side} is unknown; give the drift `{side}=`")
    return np.array(left), -np.array(right)


def parsed_axis(name: str, text: str) -> Array:
    """An axis in the words of the command line: FROM:TO:POINTS, FROM:TO:POINTS:log, or a list A,B,C.

    >>> parsed_axis("intensity", "0.5:1.5:3").tolist(), parsed_axis("tempering", "1,2.5").tolist()
    ([0.5, 1.0, 1.5], [1.0, 2.5])
    """
    words = text.split(":")
    numeric = [_number(name, word) for word in (text.split(",") if len(words) == 1 else words[:3])]
    try:
        if len(words) == 1:
            return axis_values(name, numeric)
        if len(words) == 3 or (len(words) == 4 and words[3] in ("log", "linear")):
            low, high, points = numeric
            return (log_range if words[3:] == ["log"] else linear_range)(low, high, points)
    except ModelError as problem:
        message = str(problem)
        raise ModelError(message if message.startswith(name) else f"{name}: {message}") from None
    raise ModelError(f"{name} = {shown(text)}: must be FROM:TO:POINTS, FROM:TO:POINTS:log or a list A,B,C")


def _number(name: str, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ModelError(f"{name} = {shown(word)}: must be a number") from None
