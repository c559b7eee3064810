"""Where the points of a sweep are computed: processes of this machine (joblib's) or a Dask cluster.

Both hand back each point as soon as it is done, in any order, and both run one BLAS thread a worker (matrices of 64
nodes are too small to share, and a sum split over threads may differ in its last bit). The catch is what waits: a point
that was handed out and not yet handed back is lost when the sweep is killed, so only a few a worker are out at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from itertools import islice
from typing import Any

from solver import __version__, sweep_point
from solver.checks import number
from solver.errors import ModelError
from solver.extras import extra
from solver.sweep_point import Record, Task, failure

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# Points handed out per worker: one in work, one waiting so that no worker waits for us. A solve takes 40 to 60 ms,
# handing it out and keeping it 3 ms at most (measured, 100 points), so that one point a task is cheap.
_AHEAD = 2
# The same over a network, whose round trip may take as long as a solve.
_AHEAD_REMOTE = 4
# Seconds after which a worker without work ends: so long at most do workers outlive a sweep that was killed.
_IDLE = 60
# Seconds until a scheduler must have answered, and until it must have a worker.
_ANSWER, _WORKER = 10, 30

Results = Iterator[tuple[int, Record]]


def local(tasks: list[Task], jobs: int) -> Results:
    """Over `jobs` processes of this machine, -1 for one a core. One is a process too: the numbers are the same."""
    loky = extra("joblib.externals.loky")  # joblib's engine; Parallel would hand out points faster than we keep them
    count = int(number("jobs", jobs, low=-1, integer=True))
    if count == 0:
        raise ModelError("jobs = 0: must be at least 1, or -1 for one process a core")
    workers = min(loky.cpu_count() if count < 0 else count, max(1, len(tasks)))
    executor = loky.ProcessPoolExecutor(workers, timeout=_IDLE, env=dict.fromkeys(_THREADS, "1"))
    waiting = iter(tasks)

    def submitted(more: int) -> set[Future[tuple[int, Record]]]:
        return {executor.submit(sweep_point.solve_point, task) for task in islice(waiting, more)}

    try:
        out = submitted(_AHEAD * workers)
        while out:
            done, out = wait(out, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                out |= submitted(1)
    except BrokenExecutor as problem:
        raise ChildProcessError(f"a worker process ended unforeseen, perhaps for lack of memory: {problem}") from None
    finally:
        executor.shutdown(kill_workers=True)


def remote(tasks: list[Task], scheduler: str) -> Results:
    """Over the workers of the Dask scheduler at this address, all of them, also those that join later."""
    distributed = extra("distributed")
    if "://" not in scheduler:
        raise ModelError(f"scheduler = {scheduler!r}: must be an address such as tcp://HOST:PORT")
    try:
        client = distributed.Client(scheduler, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        raise ModelError(f"scheduler = {scheduler!r}: no Dask scheduler answers there ({problem})") from None
    with client:
        _check_workers(client, scheduler, distributed.TimeoutError)
        waiting = iter(tasks)
        ahead = max(1, _AHEAD_REMOTE * sum(client.nthreads().values()))
        done = distributed.as_completed(_submitted(client, islice(waiting, ahead)), loop=client.loop)
        for future in done:
            yield _collected(future)
            for more in _submitted(client, islice(waiting, 1)):
                done.add(more)


def _submitted(client: Any, tasks: Iterator[Task]) -> list[Any]:
    return [
        client.submit(sweep_point.solve_point, task, pure=False, key=f"zetafp-{task.index}-{id(task)}")
        for task in tasks
    ]


def _collected(future: Any) -> tuple[int, Record]:
    """The result; a point whose workers died under it is a failed one, and the rest goes on."""
    if future.status == "finished":
        index, record = future.result()
        return index, record
    problem = future.exception()
    return int(str(future.key).split("-")[1]), failure("failed", f"{type(problem).__name__}: {problem}")


def _check_workers(client: Any, scheduler: str, late: type[Exception]) -> None:
    """ModelError unless there are workers and all have this version: results are kept under it."""
    try:
        client.wait_for_workers(1, timeout=_WORKER)
    except late:
        raise ModelError(f"scheduler = {scheduler!r}: no worker joined it within {_WORKER} seconds") from None
    try:
        versions = client.run(worker_version)
    except ModuleNotFoundError as problem:
        raise ModelError(f"scheduler = {scheduler!r}: its workers lack {problem.name}; install zetafp there") from None
    for worker, version in versions.items():
        if version != __version__:
            raise ModelError(f"scheduler = {scheduler!r}: {worker} has zetafp {version}, here it is {__version__}")


def worker_version() -> str:
    """The version of zetafp where this runs."""
    return __version__
