"""The command line: `zetafp solve` and what its exit status means.

0 fine, 1 a check failed, 2 bad input or no stationary density, 3 not converged, 130 interrupted. Every
error the package raises on purpose becomes one paragraph on stderr; anything else is a defect and keeps
its traceback. Matplotlib is imported only when a figure is drawn, so that `zetafp --help` stays quick.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.status import Status
from rich.table import Table
from rich.text import Text

from solver import __version__, outputs, report
from solver.checks import choice
from solver.closed_form import ClosedForm, closed_form
from solver.config import parse_toml
from solver.crosscheck import cross_check
from solver.density import StationaryDensity
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.model import Model
from solver.presets import load_preset, preset_names, preset_text
from solver.samples import Samples, SamplesError, read_samples
from solver.stationary import solve_stationary

CHECK_FAILED, BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 130

# Most solves end sooner; a status that flashes by is noise.
QUIET_SECONDS = 2.0

app = typer.Typer(
    help="Stationary laws of log decay rates under drift, diffusion and tempered stable jumps.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


class Kind(StrEnum):
    """What a file of measurements holds."""

    tau = "tau"
    zeta = "zeta"


class Method(StrEnum):
    """The three ways to the null vector."""

    elimination = "elimination"
    eigs = "eigs"
    dense = "dense"


def main() -> None:
    """Entry point of the command `zetafp`."""
    for stream in (sys.stdout, sys.stderr):
        # a terminal without Greek letters shows question marks instead of ending the run
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app(prog_name="zetafp")


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
            fail(f"{problem} (best error estimate: {problem.estimate:.2g})", NOT_CONVERGED)
        except KeyboardInterrupt:
            fail("interrupted; no file was changed", INTERRUPTED)

    return wrapped


def fail(message: str, status: int) -> None:
    """Print one paragraph on stderr and leave with `status`."""
    Console(stderr=True).print(f"zetafp: {message}", style="red", markup=False, highlight=False)
    raise typer.Exit(status)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"zetafp {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, help="Show the version.")
    ] = False,
) -> None:
    """Stationary laws of log decay rates under drift, diffusion and tempered stable jumps."""


@app.command()
@with_statuses
def solve(
    source: Annotated[
        str, typer.Argument(metavar="PRESET|FILE", help="A preset or a model file (TOML).")
    ] = "broad",
    list_presets: Annotated[bool, typer.Option("--list", help="List the presets and stop.")] = False,
    out: Annotated[Path | None, typer.Option(help="Directory for tables, model, summary and figure.")] = None,
    rtol: Annotated[float, typer.Option(help="Wanted accuracy of ln ρ.")] = 1e-8,
    order: Annotated[int, typer.Option(help="Order of the scheme: 2, 4, 6 or 8.")] = 8,
    method: Annotated[Method, typer.Option(help="Way to the null vector.")] = Method.elimination,
    samples: Annotated[Path | None, typer.Option(help="Measured spectrum: .npy, .csv or .txt.")] = None,
    kind: Annotated[Kind, typer.Option(help="What the samples are.")] = Kind.tau,
    plot: Annotated[
        bool, typer.Option("--plot/--no-plot", help="Draw figure.png into the directory.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of text.")] = False,
) -> None:
    """Solve for the stationary density of a model and check it against the closed form."""
    if list_presets:
        show_text(preset_table())
        return
    if out is not None:
        outputs.refuse_file(out)
    name, model = find_model(source)
    measured = None if samples is None else read_samples(samples, kind.value)
    started = time.perf_counter()
    failure: NotConvergedError | None = None
    try:
        with progress_on_stderr() as progress:
            density = solve_stationary(model, rtol=rtol, order=order, method=method.value, progress=progress)
    except NotConvergedError as problem:
        if problem.density is None:
            raise
        density, failure = problem.density, problem
    seconds = time.perf_counter() - started
    theory, check = closed_form(model), cross_check(density)
    summary = report.summarise(
        density,
        theory,
        check,
        name=name,
        rtol=rtol,
        seconds=seconds,
        samples=measured,
        converged=failure is None,
    )
    files: list[Path] = []
    if out is not None and failure is None:
        files = write_files(out, density, theory, summary, plot, measured)
    show(summary, files, json)
    if failure is not None:
        raise failure
    if not check.passed:
        fail("the solution and the closed form disagree by more than the error estimate", CHECK_FAILED)


def find_model(source: str) -> tuple[str, Model]:
    """The name to show and the model: a file if the word looks like one, else a preset."""
    path = Path(source)
    if path.suffix == ".toml" or len(path.parts) > 1:
        return path.name, Model.from_toml(path)
    return source, load_preset(choice("preset", source, preset_names()))


def preset_table() -> Table:
    """Name, phase, exponent and description of every preset."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("preset", "phase", "β"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what it is")
    for name in preset_names():
        tables = parse_toml(preset_text(name), name)
        theory = closed_form(Model.from_dict(tables))
        beta = f"{theory.exponent:.6g}" if theory.has_root else "–"
        table.add_row(name, theory.phase, beta, str(tables.get("description", "")))
    return table


def write_files(
    out: Path,
    density: StationaryDensity,
    theory: ClosedForm,
    summary: dict[str, Any],
    plot: bool,
    samples: Samples | None,
) -> list[Path]:
    """All files of a solution; returns their paths."""
    writers = {
        "summary.json": outputs.text_writer(report.to_json(summary)),
        "density.csv": outputs.density_writer(density),
        "envelope.csv": outputs.envelope_writer(density),
        "model.toml": density.model.to_toml,
    }
    if plot:
        from solver.plots import plot_solution  # here, so that other commands do not wait for matplotlib

        figure = plot_solution(density, theory, title=summary["name"], samples=samples)
        writers["figure.png"] = functools.partial(figure.savefig, dpi=120)
    return outputs.write_all(out, writers)


def show(summary: dict[str, Any], files: list[Path], as_json: bool) -> None:
    """The summary on stdout, as text or as JSON."""
    if as_json:
        typer.echo(report.to_json(summary))
        return
    show_text(report.render(summary))
    if files:
        show_text(Text(f"\nwritten to {files[0].parent}: {', '.join(path.name for path in files)}"))


def show_text(content: RenderableType) -> None:
    """Print on stdout without the blanks that rich pads lines with: they wrap badly in a narrower window."""
    console = Console()
    with console.capture() as captured:
        console.print(content)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


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
