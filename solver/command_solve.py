"""`zetafp solve`: from the words of the user to the files of a solution and back to an exit status.

The catch: what a command costs to start. Matplotlib is imported only when a figure is drawn, so that
`--help`, `--list` and every complaint come at once.
"""

from __future__ import annotations

import functools
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from solver import outputs, report
from solver.closed_form import ClosedForm, closed_form
from solver.config import parse_toml
from solver.crosscheck import cross_check
from solver.density import StationaryDensity
from solver.errors import NotConvergedError
from solver.model import Model
from solver.presets import preset_names, preset_text
from solver.samples import Samples, read_samples
from solver.stationary import solve_stationary
from solver.terminal import CHECK_FAILED, fail, find_model, progress_on_stderr, show, with_statuses


class Kind(StrEnum):
    """What a file of measurements holds."""

    tau = "tau"
    zeta = "zeta"


@with_statuses
def solve(
    source: Annotated[str, typer.Argument(metavar="PRESET|FILE", help="A preset or a model file (TOML).")] = "broad",
    list_presets: Annotated[bool, typer.Option("--list", help="List the presets and stop.")] = False,
    out: Annotated[Path | None, typer.Option(help="Directory for tables, model, summary and figure.")] = None,
    rtol: Annotated[float, typer.Option(help="Wanted accuracy of ln ρ.")] = 1e-8,
    order: Annotated[int, typer.Option(help="Order of the scheme: 2, 4, 6 or 8.")] = 8,
    samples: Annotated[Path | None, typer.Option(help="Measured spectrum: .npy, .csv or .txt.")] = None,
    kind: Annotated[Kind, typer.Option(help="What the samples are.")] = Kind.tau,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw figure.png into the directory.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of text.")] = False,
) -> None:
    """Solve for the stationary density of a model and check it against the closed form."""
    if list_presets:
        show(preset_table())
        return
    if out is not None:
        outputs.refuse_file(out)
    name, model = find_model(source)
    measured = None if samples is None else read_samples(samples, kind.value)
    started = time.perf_counter()
    failure: NotConvergedError | None = None
    try:
        with progress_on_stderr() as progress:
            density = solve_stationary(model, rtol=rtol, order=order, progress=progress)
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
    show_summary(summary, files, json)
    if failure is not None:
        raise failure
    if not check.passed:
        fail("; ".join(failed_rows(summary)), CHECK_FAILED)


def failed_rows(summary: dict[str, Any]) -> list[str]:
    """What each failed check found and what it allows."""
    return [
        f"check failed: {row['source']} differs from the closed form by {row['difference']:.2g} where "
        f"{row['tolerance']:.2g} is allowed ({row['reason']})"
        for row in summary["checks"]
        if not row["passed"]
    ]


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


def show_summary(summary: dict[str, Any], files: list[Path], as_json: bool) -> None:
    """The summary on stdout, as text or as JSON."""
    if as_json:
        typer.echo(report.to_json(summary))
        return
    show(report.render(summary))
    if files:
        show(Text(f"\nwritten to {files[0].parent}: {', '.join(path.name for path in files)}"))
