"""One point of a sweep: a model as plain tables in, plain numbers and words out, in whatever process it runs.

A point depends on nothing but its task, and it is computed on one BLAS thread: so its numbers do not change with the
number of workers, with the engine or with what was computed before. The catch is failure. A model without a stationary
density, or one that needs too many nodes, is an answer and is kept; anything unforeseen (no memory, a defect) is
reported but not kept, so that the next run tries again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from solver import __version__
from solver.checks import choice, number, numbers, shown
from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.model import Model
from solver.stationary import solve_stationary

Record = dict[str, Any]

# What may be asked for; quantiles and envelope have a value for each entry of Options.
QUANTITIES = (
    "tail_exponent",
    "right_tail_exponent",
    "exponent",
    "mean_log_tau",
    "std_log_tau",
    "quantiles",
    "envelope",
)
STATUSES = ("ok", "not converged", "no stationary density", "bad model", "failed")
_KEPT = STATUSES[:4]


@dataclass(frozen=True)
class Options:
    """What is computed at every point: `quantities`, τ quantiles at `quantiles`, ln f at `lags`, to `rtol`."""

    quantities: tuple[str, ...] = QUANTITIES
    quantiles: tuple[float, ...] = (0.1, 0.5, 0.9)
    lags: tuple[float, ...] = (1.0, 1e2, 1e4)
    rtol: float = 1e-6

    def __post_init__(self) -> None:
        if isinstance(self.quantities, str) or not isinstance(self.quantities, Iterable):
            raise ModelError(f"quantities = {shown(self.quantities)}: must be a list of words")
        object.__setattr__(self, "quantities", tuple(self.quantities))
        for quantity in self.quantities:
            choice("quantities", quantity, QUANTITIES)
        object.__setattr__(self, "rtol", number("rtol", self.rtol, low=1e-12, high=0.1))
        for field, low, high in (("quantiles", 0.0, 1.0), ("lags", 0.0, np.inf)):
            values = numbers(field, getattr(self, field))
            object.__setattr__(self, field, values)
            for i, value in enumerate(values):
                if not low < value < high:
                    raise ModelError(f"{field}[{i}] = {value!r}: must lie in ({low:g}, {high:g})")
                if value in values[:i]:
                    raise ModelError(f"{field}[{i}] = {value!r}: stands in the list twice")


@dataclass(frozen=True)
class Task:
    """A point to compute: its place in the sweep, the tables of its model, the options, and who asks."""

    index: int
    tables: dict[str, Any]
    options: dict[str, Any]
    version: str = __version__


def task(index: int, tables: dict[str, Any], options: Options) -> Task:
    """The task of one point."""
    return Task(index, tables, asdict(options))


def kept(record: Record) -> bool:
    """Whether a record is the point's answer for good."""
    return record["status"] in _KEPT


def solve_point(given: Task) -> tuple[int, Record]:
    """The point's place and its record: status, message, error estimates and the quantities asked for.

    >>> from solver.presets import load_preset
    >>> index, record = solve_point(task(7, load_preset("broad").to_dict(), Options(quantities=("tail_exponent",))))
    >>> index, record["status"], round(record["tail_exponent"], 6)
    (7, 'ok', 0.42)
    """
    if given.version != __version__:
        message = f"this worker has zetafp {__version__}, the sweep runs {given.version}"
        return given.index, failure("failed", message)
    options = Options(**given.options)
    try:
        density = solve_stationary(Model.from_dict(given.tables), rtol=options.rtol)
        return given.index, _record(density, options)
    except NotConvergedError as problem:
        return given.index, failure("not converged", str(problem), float(problem.estimate))
    except NoStationaryDensityError as problem:
        return given.index, failure("no stationary density", str(problem))
    except ModelError as problem:
        return given.index, failure("bad model", str(problem))
    except Exception as problem:  # one point must not end a night's work; the record says what happened
        return given.index, failure("failed", f"{type(problem).__name__}: {problem}")


def failure(status: str, message: str, estimate: float = np.nan) -> Record:
    """The record of a point without a density."""
    return {"status": status, "message": message, "error_estimate": estimate, "tail_exponent_error": np.nan}


def _record(density: StationaryDensity, options: Options) -> Record:
    """What was asked for, as floats and lists of floats."""
    spectrum = density.timescales()
    wanted: dict[str, Any] = {
        "tail_exponent": lambda: density.tail_exponent,
        "right_tail_exponent": lambda: density.right_tail_exponent,
        "exponent": lambda: closed_form(density.model).exponent,
        "mean_log_tau": lambda: -density.mean(),
        "std_log_tau": density.std,
        "quantiles": lambda: spectrum.log_ppf(np.array(options.quantiles)).tolist(),
        "envelope": lambda: density.envelope(np.array(options.lags)).log_values.tolist(),
    }
    out: Record = {"status": "ok", "message": "", "error_estimate": float(density.error_estimate)}
    out["tail_exponent_error"] = float(density.error.left_slope)
    for name in options.quantities:
        value = wanted[name]()
        out[name] = value if isinstance(value, list) else float(value)
    return out
