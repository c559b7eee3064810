"""Simulations of the model, independent of the solver's operator: final values, stationary samples, error of the step.

    simulate           one value a path, after `time`                       plain Monte Carlo
    sample_stationary  many values a path, a few correlation times apart    a million effective samples in a minute
    step_bias          the same paths in steps of dt and dt/2               what the step costs in the law

Nothing is taken from the solver but lengths nobody gave: `time` from the relaxation rate, `dt` from the slope of the
drift where the density lies, `spacing` from the correlation time. The catch: samples say nothing beyond 1/n of the
population, and their error falls as 1/√n; what the solver gives to eight digits takes 1e16 of them.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import array, instance, number, positive
from solver.errors import ModelError
from solver.model import Model
from validation import walk_defaults
from validation.batches import Advance, Progress, in_batches
from validation.stationary_sample import StationarySample, StepBias
from validation.walk import Schedule, Scheme, walk, walk_twice

Array = NDArray[np.float64]

# Walkers of a long run: four batches, so that up to four processes share them; each pays for its own burn-in.
WALKERS = 16_384
# Values of one sample, 8 GB.
MOST = 1_000_000_000
# Values compared for a step error: its standard error is then 1.5e-4 (measured for the presets).
COMPARED = 200_000


def simulate(
    model: Model,
    *,
    paths: int = 10_000,
    time: float | None = None,
    dt: float | None = None,
    seed: int | None = None,
    start: ArrayLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Array:
    """ζ of `paths` independent paths after `time`, shape (paths,).

    time: None takes 12 relaxation times, so that the start is forgotten. dt: None takes 0.1 over the slope of the drift
    and is shortened to divide `time`. start: a number or (paths,); None a stable zero of the drift. seed: the same one
    gives the same values whatever `jobs` (processes, -1 for all cores). progress: a context manager made of (total,
    label) that yields advance(n), such as solver.terminal.progress_bar. Raises ModelError for bad arguments,
    NoStationaryDensityError where `time` or `dt` is to be chosen and there is no stationary law.

    >>> from solver.drifts import LinearDrift
    >>> zeta = simulate(Model(LinearDrift(1.0), 0.5), paths=20_000, seed=1)
    >>> zeta.shape, bool(abs(zeta.var() - 0.5) < 0.02)
    ((20000,), True)
    """
    instance("model", model, Model, "Model(TanhDrift(1.0), diffusion=0.3)")
    dt = _step(model, dt)
    time = walk_defaults.BURN_IN * walk_defaults.relaxation_time(model) if time is None else time
    steps, dt = walk_defaults.whole_steps(time, dt)
    schedule = Schedule(steps)
    task = functools.partial(_walk, Scheme.of(model, dt), schedule)
    return np.asarray(in_batches(task, _start(model, paths, start, "paths"), steps, seed, jobs, progress)[0])


def sample_stationary(model: Model, size: int, *, dt: float | None = None, **options: Any) -> StationarySample:
    """At least `size` values of the stationary law by walkers looked at again and again.

    options: `burn_in` (None: as `time` in `simulate`), `spacing` between two looks at a walker (None: 3 correlation
    times, so that a value is worth 0.9 of an independent one), `walkers`, and seed, start, jobs, progress as there.
    """
    dt, schedule, start, running = _long_run(model, size, dt, **options)
    task = functools.partial(_walk, Scheme.of(model, dt), schedule)
    zeta = in_batches(task, start, schedule.steps, **running)
    return StationarySample(zeta, dt, schedule.burn * dt, schedule.stride * dt)


def sample_twice(
    model: Model, size: int, *, dt: float | None = None, **options: Any
) -> tuple[StationarySample, StationarySample]:
    """The same walkers under the same noise in steps of `dt` and dt/2; options as for `sample_stationary`."""
    dt, schedule, start, running = _long_run(model, size, dt, **options)
    task = functools.partial(_walk_twice, Scheme.of(model, dt), Scheme.of(model, dt / 2), schedule)
    coarse, fine = in_batches(task, start, schedule.steps, **running)
    burn, spacing = schedule.burn * dt, schedule.stride * dt
    return StationarySample(coarse, dt, burn, spacing), StationarySample(fine, dt / 2, burn, spacing)


def step_bias(model: Model, *, dt: float | None = None, size: int = COMPARED, **options: Any) -> StepBias:
    """How far the law moves when `dt` is halved, and what error that leaves; options as for `sample_stationary`.

    >>> from solver.drifts import LinearDrift
    >>> bias = step_bias(Model(LinearDrift(1.0), 0.5), dt=1.0, size=20_000, spacing=2.0, seed=1)
    >>> round(bias.largest.value, 2)  # Gaussians of variance 1/(2 sinh 1) and 1/(4 sinh 1/2): 0.014
    0.01
    """
    return StepBias.between(*sample_twice(model, size, dt=dt, **options))


def _walk(scheme: Scheme, schedule: Schedule, start: Array, rng: np.random.Generator, advance: Advance | None) -> Array:
    """`walk` with its arguments in the order of a task."""
    return walk(scheme, start, schedule, rng, advance)


def _walk_twice(
    coarse: Scheme, fine: Scheme, schedule: Schedule, start: Array, rng: np.random.Generator, advance: Advance | None
) -> Array:
    """`walk_twice` with its arguments in the order of a task."""
    return walk_twice(coarse, fine, start, schedule, rng, advance)


def _long_run(
    model: Model,
    size: int,
    dt: float | None,
    *,
    burn_in: float | None = None,
    spacing: float | None = None,
    walkers: int = WALKERS,
    start: ArrayLike | None = None,
    **running: Any,
) -> tuple[float, Schedule, Array, dict[str, Any]]:
    """The step, when to look, where to start, and what is left for `in_batches`."""
    instance("model", model, Model, "Model(TanhDrift(1.0), diffusion=0.3)")
    size = int(number("size", size, low=1, high=MOST, integer=True))
    walkers = min(int(number("walkers", walkers, low=1, integer=True)), size)
    if burn_in is None:
        burn_in = walk_defaults.BURN_IN * walk_defaults.relaxation_time(model)
    if spacing is None:
        spacing = walk_defaults.APART * walk_defaults.memory(model)
    stride, dt = walk_defaults.whole_steps(positive("spacing", spacing), _step(model, dt))
    burn = walk_defaults.whole_steps(positive("burn_in", burn_in), dt)[0]
    schedule = Schedule(burn, stride, -(-size // walkers))
    unknown = set(running) - {"seed", "jobs", "progress"}
    if unknown:
        raise TypeError(f"unexpected argument {sorted(unknown)[0]!r}")
    return dt, schedule, _start(model, walkers, start, "walkers"), {"seed": None} | running


def _step(model: Model, dt: float | None) -> float:
    return walk_defaults.default_step(model) if dt is None else positive("dt", dt)


def _start(model: Model, count: int, start: ArrayLike | None, field: str) -> Array:
    """Where the walkers begin, shape (count,)."""
    count = int(number(field, count, low=1, high=MOST, integer=True))
    value = array("start", walk_defaults.default_start(model) if start is None else start)
    if value.shape not in ((), (count,)):
        raise ModelError(f"start: shape {value.shape}, must be one finite number or {count} of them")
    if not np.isfinite(value).all():
        raise ModelError(f"start = {value[~np.isfinite(value)].flat[0]}: must be a finite number")
    return np.broadcast_to(value, count).copy()
