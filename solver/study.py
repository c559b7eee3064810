"""Study files: which model, over which axes, what to read from each solution.

    model = "broad"                                         # a preset, a model file beside this one, or a [model] table
    [axes]
    intensity = { range = [0.2, 1.2], points = 5 }          # or log_range = [0.2, 1.2], or a list [0.2, 0.5, 1.2]

The catch is the reader's own hand: a reversed range or a misspelt axis, run for a night, gives a confident answer to
another question. Everything is refused here, by name, before the first solve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from solver.axes import UNITS, Array, axis_values, linear_range, log_range, parameter, with_parameters
from solver.checks import choice, shown, suggestion
from solver.config import check_keys, check_table, read_toml
from solver.errors import ModelError
from solver.model import Model
from solver.presets import load_preset, preset_names
from solver.sweep_point import Options

_KEYS = ("title", "description", "model", "quantities", "quantiles", "lags", "rtol", "axes")
_RANGES: dict[str, Callable[[float, float, float], Array]] = {"range": linear_range, "log_range": log_range}


@dataclass(frozen=True)
class Study:
    """What a study file says."""

    model: Model
    axes: dict[str, Array]
    options: Options
    title: str = field(default="")


def read_study(path: str | Path) -> Study:
    """Read a study file; ModelError names the file, the field, its value and what is allowed."""
    path = Path(path)
    tables = read_toml(path)
    if "axes" not in tables and "drift" in tables:
        raise ModelError(f"{path}: is a model file; a study names one (model = ...) and has a table [axes]")
    try:
        return study(tables, path.parent)
    except ModelError as problem:
        raise ModelError(f"{path}: {problem}") from None


def study(tables: Mapping[str, Any], folder: str | Path = ".") -> Study:
    """A study from the tables of its file; model files are looked for in `folder`.

    >>> read = study({"model": "broad", "axes": {"plateau": {"range": [0.5, 1.0], "points": 3}}, "rtol": 1e-4})
    >>> read.axes["plateau"].tolist(), read.options.rtol
    ([0.5, 0.75, 1.0], 0.0001)
    >>> study({"model": "broad", "axes": {"plateau": {"range": [1.0, 0.5], "points": 3}}})
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: axes.plateau: range = [1, 0.5]: reversed; the first number must be below the second
    """
    check_keys(tables, _KEYS)
    for note in ("title", "description"):
        if not isinstance(tables.get(note, ""), str):
            raise ModelError(f"{note} = {shown(tables[note])}: must be text")
    if "model" not in tables:
        raise ModelError('model: missing; name a preset or a file, such as model = "broad", or add a table [model]')
    model = _model(tables["model"], Path(folder))
    return Study(model, _axes(tables.get("axes", {}), model), _options(tables), tables.get("title", ""))


def _model(given: Any, folder: Path) -> Model:
    if isinstance(given, Mapping):
        try:
            return Model.from_dict(dict(given), folder=folder)
        except ModelError as problem:
            raise ModelError(f"model.{problem}") from None
    if isinstance(given, str) and given.endswith(".toml"):
        return Model.from_toml(folder / given)
    return load_preset(choice("model", given, preset_names()))


def _axes(given: Any, model: Model) -> dict[str, Array]:
    check_table(given, "axes")
    if not given:
        raise ModelError("axes: none; add a table [axes] with at least one, such as intensity = [0.2, 0.4]")
    axes = {}
    for name, spec in given.items():
        if name not in UNITS:
            raise ModelError(f"axes.{name}: unknown axis; known are {', '.join(UNITS)}{suggestion(name, UNITS)}")
        try:
            parameter(model, name)
            axes[name] = _values(name, spec)
            for end in (axes[name][0], axes[name][-1]):  # each range of a parameter is an interval
                with_parameters(model, {name: float(end)})
        except ModelError as problem:
            message = str(problem)
            raise ModelError(f"axes.{message}" if message.startswith(name) else f"axes.{name}: {message}") from None
    return axes


def _values(name: str, spec: Any) -> Array:
    """The values of an axis: a list, or a table with one kind of range and points."""
    if isinstance(spec, list):
        return axis_values(name, spec)
    kinds = " or ".join(_RANGES)
    if not isinstance(spec, Mapping):
        raise ModelError(
            f"{name} = {shown(spec)}: must be a list of numbers, or {{ {kinds} = [low, high], points = n }}"
        )
    check_keys(spec, (*_RANGES, "points"), name)
    found = [kind for kind in _RANGES if kind in spec]
    if len(found) != 1:
        raise ModelError(f"{name}: needs either {kinds}")
    if "points" not in spec:
        raise ModelError(f"{name}.points: missing; how many values, both ends included")
    ends = spec[found[0]]
    if not isinstance(ends, list) or len(ends) != 2:
        raise ModelError(f"{name}.{found[0]} = {shown(ends)}: must be two numbers [low, high]")
    return axis_values(name, _RANGES[found[0]](ends[0], ends[1], spec["points"]))


def _options(tables: Mapping[str, Any]) -> Options:
    given: dict[str, Any] = {}
    for name in ("quantities", "quantiles", "lags"):
        if name in tables:
            if not isinstance(tables[name], list):
                raise ModelError(f"{name} = {shown(tables[name])}: must be a list, got {type(tables[name]).__name__}")
            given[name] = tuple(tables[name])
    if "rtol" in tables:
        given["rtol"] = tables["rtol"]
    return Options(**given)
