"""Full solves over a grid of parameters: planned here, computed by an engine, kept point by point, gathered at the end.

What is computed at a point depends on its model and options alone, so a sweep can be cut anywhere: points found in the
store are read, the rest is computed, and the result is the same to the last bit. The catch is a changed question: the
options are part of a point's key, another lag or rtol computes every point again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from solver import sweep_engine
from solver.axes import Array, axis_values, parameter, require_few, with_parameters
from solver.checks import instance
from solver.errors import ModelError
from solver.extras import extra
from solver.model import Model
from solver.sweep_point import QUANTITIES, Options, Record, Task, failure, kept, task
from solver.sweep_result import dataset
from solver.sweep_store import key, opened

if TYPE_CHECKING:
    import xarray

# Points of one sweep: 14 hours of solves at 50 ms on one core, and a minute to write down what each of them is.
MOST_POINTS = 1_000_000
# progress(total, label) is a context that yields a callable to be told how many more are done.
Progress = Callable[[int, str], AbstractContextManager[Callable[[int], object]]]


@dataclass(frozen=True)
class Plan:
    """The points of a sweep: the task of each whose model exists, with its key, and why the others have none."""

    model: Model
    axes: dict[str, Array]
    options: Options
    tasks: dict[int, Task]
    keys: dict[int, str]
    refused: dict[int, Record]

    @property
    def points(self) -> int:
        """How many there are."""
        return len(self.tasks) + len(self.refused)


def sweep(
    model: Model,
    axes: Mapping[str, Iterable[float]],
    quantities: Iterable[str] = QUANTITIES,
    *,
    quantiles: Iterable[float] = (0.1, 0.5, 0.9),
    lags: Iterable[float] = (1.0, 1e2, 1e4),
    rtol: float = 1e-6,
    store: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> xarray.Dataset:
    """Solve the model at every combination of the axes' values and return what was asked for, by parameter.

    `axes` maps names (plateau, center, width, diffusion, intensity, stability, tempering) to increasing values. Of
    `quantities`: "tail_exponent" and "right_tail_exponent" (read from the solution), "exponent" (β, NaN without root),
    "mean_log_tau", "std_log_tau", "quantiles" (log_tau at `quantiles` of τ) and "envelope" (ln f at `lags`). Always
    there: `error_estimate` of ln ρ in the body, `tail_exponent_error`, `status` ("ok", "not converged", "no stationary
    density", "bad model", "failed") and `message`. A failed point is NaN and says why; the rest goes on.

    Runs in `jobs` processes of this machine (-1: one a core), or on the Dask cluster of `scheduler` ("tcp://host:port").
    With a `store` (a file) every finished point is kept at once, and a later call computes only what is missing.
    `progress` is for example solver.terminal.progress_bar. Needs `zetafp[sweep]`. Raises ModelError for anything that
    cannot be a sweep, ChildProcessError where a worker process was killed; what was finished is kept all the same.
    """
    extra("xarray")
    options = Options(quantities, quantiles, lags, rtol)  # type: ignore[arg-type]  # tuples are made there
    return run(plan(model, axes, options), store=store, jobs=jobs, scheduler=scheduler, progress=progress)


def plan(model: Model, axes: Mapping[str, Iterable[float]], options: Options) -> Plan:
    """What a sweep is going to compute. ModelError for a bad axis; a combination that is no model is a bad point."""
    instance("model", model, Model, "Model(TanhDrift(1.0), diffusion=0.3)")
    instance("axes", axes, Mapping, "{'intensity': [0.2, 0.4]}")
    if not axes:
        raise ModelError("axes: none; a sweep needs at least one, such as intensity = [0.2, 0.4]")
    values = {name: axis_values(name, listed) for name, listed in axes.items()}
    require_few({name: listed.size for name, listed in values.items()}, MOST_POINTS)
    for name in values:
        parameter(model, name)
    tasks, keys, refused = {}, {}, {}
    for index, combination in enumerate(product(*(listed.tolist() for listed in values.values()))):
        try:
            tables = with_parameters(model, dict(zip(values, combination, strict=True))).to_dict()
        except ModelError as problem:
            refused[index] = failure("bad model", str(problem))
            continue
        tasks[index] = task(index, tables, options)
        keys[index] = key(tasks[index])
    if not tasks:
        raise ModelError(f"no point of the sweep is a model; the first: {next(iter(refused.values()))['message']}")
    return Plan(model, values, options, tasks, keys, refused)


def run(
    planned: Plan,
    *,
    store: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> xarray.Dataset:
    """Compute what the store does not have and gather all; arguments as in sweep."""
    with opened(store) as points:
        there = points.find(list(planned.keys.values()))
        records = dict(planned.refused)
        records |= {index: there[name] for index, name in planned.keys.items() if name in there}
        missing = [given for index, given in planned.tasks.items() if index not in records]
        if missing:
            engine = sweep_engine.local(missing, jobs) if scheduler is None else sweep_engine.remote(missing, scheduler)
            with (progress or _silent)(len(missing), "solves") as advance:
                for index, record in engine:
                    if kept(record):
                        points.add(planned.keys[index], record)
                    records[index] = record
                    advance(1)
    return dataset(planned.model, planned.axes, planned.options, [records[i] for i in range(planned.points)])


def stored(planned: Plan, store: str | os.PathLike[str]) -> int:
    """How many points of the sweep a store has."""
    with opened(store) as points:
        there = points.find(list(planned.keys.values()))
    return sum(name in there for name in planned.keys.values())


@contextmanager
def _silent(total: int, label: str) -> Iterator[Callable[[int], Any]]:
    yield lambda done: None
