"""How a command speaks: text without padding, progress on stderr, and on failure one paragraph and a status.

0 fine, 1 a check failed, 2 bad input or no stationary density, 3 not converged, 130 interrupted. Every error
the package raises on purpose becomes one paragraph. The catch: anything else is a defect, and keeps its
traceback. A reader that has left (`| head -1`) is no failure: what it does not read is dropped.
"""

from __future__ import annotations

import functools
import io
import math
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, Protocol

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
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
# Below this a summary is letters under letters; the terminal may wrap it. COLUMNS=0 is met where there is none.
NARROWEST = 40
# Longer lines are hard to read, whatever the window.
WIDEST = 100
# Label, counts, rate and time left take some 50 columns; the bar itself wants 40 and shrinks to what is left.
WIDE_ENOUGH = 70


class Interrupted(SystemExit):
    """Ctrl-C, and it has been said; where no command has begun, typer leaves with the same status without a word."""


def with_statuses(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the errors raised on purpose into one paragraph on stderr and an exit status."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (ModelError, NoStationaryDensityError, SamplesError, ChildProcessError) as problem:
            fail(str(problem), BAD_INPUT)
        except OSError as problem:
            # without a name it is a stream: the disk behind `> file` is full, say
            place = f"{problem.filename}: " if problem.filename else "the output cannot be written: "
            fail(f"{place}{problem.strerror or problem}", BAD_INPUT)
        except MemoryError as problem:
            fail(f"too large for the memory of this machine: {problem or 'ask for less'}", BAD_INPUT)
        except NotConvergedError as problem:
            known = math.isfinite(problem.estimate) and "best estimate" not in str(problem)
            reached = f" (best error estimate: {problem.estimate:.2g})" if known else ""
            fail(f"{problem}{reached}", NOT_CONVERGED)
        except KeyboardInterrupt:
            fail("interrupted; no half-written file was left", INTERRUPTED)

    return wrapped


def fail(message: str, status: int) -> NoReturn:
    """Print one paragraph on stderr and leave with `status`."""
    show(Text(f"zetafp: {message}", style="red"), stderr=True)
    raise Interrupted(status) if status == INTERRUPTED else typer.Exit(status)


def show(content: RenderableType, stderr: bool = False) -> None:
    """Print without the blanks that rich pads lines with: they wrap badly when a window is made narrower."""
    console = Console(stderr=stderr)
    console.width = max(console.width, NARROWEST)
    with console.capture() as captured:
        console.print(content)
    text = "\n".join(line.rstrip() for line in captured.get().splitlines())
    # a file name may hold bytes that are no letters, and a stream may refuse them
    typer.echo(text.encode("utf-8", "replace").decode("utf-8"), err=stderr)


def text_width() -> int:
    """Columns for text that wraps itself."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def prepare_streams() -> None:
    """Make stdout and stderr safe to write to, whatever the shell has tied them to.

    A closed one (`>&-`) becomes the null device, a pipe whose reader leaves swallows the rest, and letters that the
    encoding lacks become question marks. Other failures, such as a full disk, stay errors.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        elif stream.isatty():  # keeps the console writer of Windows
            stream.reconfigure(errors="replace")
        else:
            with suppress(OSError):  # a stream of a notebook or a test has no number, and no pipe behind it
                raw = io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False))
                setattr(sys, name, io.TextIOWrapper(raw, encoding=stream.encoding, errors="replace"))


class _Pipe(io.FileIO):
    """A stream whose reader may leave: what nobody reads any more is dropped.

    Any other failure is raised once; then the rest is dropped, too, or closing the stream would fail again.
    """

    _lost = False

    def write(self, data: Any, /) -> int:
        if self._lost:
            return len(data)
        try:
            return super().write(data)
        except BrokenPipeError:
            self._lost = True
            return len(data)
        except OSError:
            self._lost = True
            raise


def _watched() -> Console | None:
    """The console of stderr, or None where no terminal shows it (FORCE_COLOR does not make a pipe one)."""
    console = Console(stderr=True)
    return console if sys.stderr.isatty() and console.is_interactive else None


@contextmanager
def progress_on_stderr(
    words: str = "solving: placing the domain",
) -> Iterator[Callable[[int, int, float], None] | None]:
    """A status line on stderr after QUIET_SECONDS, on a terminal only; yields the callable with which a solve feeds it.

    `words` stand there until it is fed; other long work shows nothing else.
    """
    console = _watched()
    if console is None:
        yield None
        return
    status = Status(words, console=console)
    timer = threading.Timer(QUIET_SECONDS, status.start)
    timer.daemon = True
    timer.start()

    def progress(level: int, nodes: int, estimate: float) -> None:
        reached = f", error estimate {estimate:.1g}" if math.isfinite(estimate) else ""  # the first two have none
        status.update(f"solving: {f'level {level}' if level else 'placing the domain'}, {nodes} nodes{reached}")

    try:
        yield progress
    finally:
        timer.cancel()
        status.stop()


class Advance(Protocol):
    """What `progress_bar` yields: call it with the number of items that have just been finished."""

    def __call__(self, count: int = 1) -> None: ...


@contextmanager
def progress_bar(total: int, label: str) -> Iterator[Advance]:
    """A bar for work of many items: how many are done, how fast it goes and the time left.

    It appears on stderr after QUIET_SECONDS and leaves nothing behind; without a terminal nothing is printed.
    `advance(n)` may be called from any thread of this process. Around joblib or dask, advance as results come back.

    >>> with progress_bar(total=3, label="models") as advance:
    ...     for _ in range(3):
    ...         advance()  # or advance(100) after a batch of 100
    """
    console = _watched()
    if console is None:
        yield lambda count=1: None
        return
    text: list[ProgressColumn] = [TextColumn("{task.description}"), MofNCompleteColumn(), _Rate()]
    text += [TimeRemainingColumn(), TextColumn("left")]
    if console.width >= WIDE_ENOUGH:
        text.insert(1, BarColumn())
    bar = Progress(*text, console=console, transient=True)
    task = bar.add_task(label, total=total)
    timer = threading.Timer(QUIET_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda count=1: bar.advance(task, count)
    finally:
        timer.cancel()
        bar.stop()


class _Rate(ProgressColumn):
    """Items a second, or seconds an item where they are slow."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:.3g}/s" if speed >= 1 else f"{1 / speed:.3g} s each")


def find_model(source: str) -> tuple[str, Model]:
    """The name to show and the model: a preset, or a file if there is one or the word can only mean one.

    A word with a suffix or a separator is never a preset. A directory may share a preset's name (`--out broad` makes
    one); a file that does is read, and stderr says so.
    """
    path, presets = Path(source), preset_names()
    if source in presets and not path.is_file():
        return source, load_preset(source)
    if source in presets:
        show(Text(f"zetafp: {source} is read as the file here, not as the preset of that name"), stderr=True)
    if not source:
        raise ModelError("the word for the model is empty; name a preset or a file")
    if path.is_dir():
        inside = path / "model.toml"
        hint = f"; did you mean {inside}?" if inside.is_file() else ""
        raise ModelError(f"{source}: a directory, not a model file{hint}")
    if not path.exists() and path.stem in presets and path.stem != source:
        raise ModelError(f"{source}: no such file; the preset is called {path.stem!r}, without more")
    if path.is_file() or path.suffix or os.sep in source or "/" in source or path.exists():
        return path.name.encode("utf-8", "replace").decode("utf-8"), Model.from_toml(source)
    choice("preset", source, presets)
    raise ModelError(f"{source!r}: neither a preset nor a file")
