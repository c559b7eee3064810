"""Many walkers in batches of one size, each with random numbers of its own, on one process or several.

A batch takes its stream from SeedSequence(seed).spawn, by its number; which process walks it, and how many there are,
changes nothing. The catch is the size of a batch: it is part of the result, so it is a constant and not tuned to the
machine. 4096 walkers keep their arrays in the cache of a core (measured: 1024 cost 1.5 times as much, 32768 1.6 times).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.checks import number
from solver.errors import ModelError

Array = NDArray[np.float64]
Advance = Callable[[int], None]
# What makes a progress bar of a total and a label, such as solver.terminal.progress_bar.
Progress = Callable[[int, str], AbstractContextManager[Any]]
# (start of the walkers, their random numbers, what hears of steps done) to an array whose last axis is the walkers
Task = Callable[[Array, np.random.Generator, Advance | None], Array]

BATCH = 4096


def in_batches(
    task: Task, start: Array, steps: int, seed: int | None, jobs: int = 1, progress: Progress | None = None
) -> Array:
    """The results of `task` over batches of `start` (walkers,), joined along the last axis.

    `steps` is what a walker takes, for the bar; `jobs` as in joblib, -1 for all cores. Raises ModelError for a bad seed
    or number of jobs, and where more than one is wanted without joblib.

    >>> draw = lambda start, rng, advance: start + rng.random(start.size)
    >>> bool((in_batches(draw, np.zeros(5000), 1, seed=7) == in_batches(draw, np.zeros(5000), 1, seed=7)).all())
    True
    """
    jobs = int(number("jobs", jobs, integer=True))
    if jobs == 0:
        raise ModelError("jobs = 0: must be a number of processes, or -1 for all cores")
    if seed is not None:
        number("seed", seed, low=0, integer=True)
        seed = int(seed)  # not of the double, which has 53 bits
    parts = np.array_split(start, range(BATCH, start.size, BATCH))
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(len(parts))]
    bar = nullcontext() if progress is None else progress(start.size * steps, "steps")
    with bar as advance:
        work = _here(task, parts, streams, advance) if jobs == 1 else _spread(task, parts, streams, jobs)
        results = []
        try:
            for part, result in zip(parts, work, strict=True):
                results.append(result)
                if jobs != 1 and advance is not None:
                    advance(part.size * steps)
        except BrokenExecutor as problem:
            words = "a worker process ended unforeseen, perhaps for lack of memory"
            raise ChildProcessError(f"{words}: {problem}") from None
    return np.concatenate(results, axis=-1)


def _here(
    task: Task, parts: list[Array], streams: list[np.random.Generator], advance: Advance | None
) -> Iterator[Array]:
    for part, stream in zip(parts, streams, strict=True):
        yield task(part, stream, advance)


def _spread(task: Task, parts: list[Array], streams: list[np.random.Generator], jobs: int) -> Iterator[Array]:
    try:
        from joblib import Parallel, delayed  # here: one process needs none of it
    except ImportError:
        raise ModelError(f"jobs = {jobs}: several processes need joblib; pip install 'zetafp[sweep]'") from None
    calls = (delayed(task)(part, stream, None) for part, stream in zip(parts, streams, strict=True))
    # more processes than batches would have nothing to do, and joblib refuses a million
    results: Iterator[Array] = Parallel(n_jobs=min(jobs, len(parts)), return_as="generator")(calls)
    return results
