"""How a command speaks: text without padding, progress on stderr, and on failure one paragraph and a status.

0 fine, 1 a check failed, 2 bad input or no stationary density, 3 not converged, 130 interrupted. Every error
the package raises on purpose becomes one paragraph. The catch: anything else is a defect, and keeps its
traceback.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.status import Status
from rich.text import Text

from solver.checks import choice
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.model import Model
from solver.presets import load_preset, preset_names
from solver.samples import SamplesError

CHECK_FAILED, BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 130

# Most solves end sooner; a status that flashes by is noise.
QUIET_SECONDS = 2.0


def with_statuses(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the errors raised on purpose into one paragraph on stderr and an exit status."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (ModelError, NoStationaryDensityError, SamplesError) as problem:
            fail(str(problem), BAD_INPUT)
        except OSError as problem:
            place = f"{problem.filename}: " if problem.filename else ""
            fail(f"{place}{problem.strerror or problem}", BAD_INPUT)
        except NotConvergedError as problem:
            reached = f" (best error estimate: {problem.estimate:.2g})" if math.isfinite(problem.estimate) else ""
            fail(f"{problem}{reached}", NOT_CONVERGED)
        except KeyboardInterrupt:
            fail("interrupted; no half-written file was left", INTERRUPTED)

    return wrapped


def fail(message: str, status: int) -> None:
    """Print one paragraph on stderr and leave with `status`."""
    show(Text(f"zetafp: {message}", style="red"), stderr=True)
    raise typer.Exit(status)


def show(content: RenderableType, stderr: bool = False) -> None:
    """Print without the blanks that rich pads lines with: they wrap badly when a window is made narrower."""
    console = Console(stderr=stderr)
    with console.capture() as captured:
        console.print(content)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()), err=stderr)


@contextmanager
def progress_on_stderr() -> Iterator[Callable[[int, int, float], None] | None]:
    """A status line on stderr after QUIET_SECONDS, on a terminal only; yields the callable that feeds it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    status = Status("solving", console=console)
    timer = threading.Timer(QUIET_SECONDS, status.start)
    timer.daemon = True
    timer.start()

    def progress(level: int, nodes: int, estimate: float) -> None:
        status.update(f"solving: level {level}, {nodes} nodes, error estimate {estimate:.1g}")

    try:
        yield progress
    finally:
        timer.cancel()
        status.stop()


def find_model(source: str) -> tuple[str, Model]:
    """The name to show and the model: a file if the word looks like one, else a preset."""
    if source.endswith(".toml") or os.sep in source:
        return Path(source).name, Model.from_toml(source)
    return source, load_preset(choice("preset", source, preset_names()))
