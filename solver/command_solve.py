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
from rich.text import Text

from solver import outputs, report
from solver.closed_form import ClosedForm, closed_form
from solver.config import parse_toml
from solver.crosscheck import cross_check
from solver.density import StationaryDensity
from solver.errors import ModelError, NotConvergedError
from solver.model import Model
from solver.presets import preset_names, preset_text
from solver.samples import Samples, read_samples
from solver.stationary import solve_stationary
from solver.tables import Records
from solver.terminal import CHECK_FAILED, fail, find_model, progress_on_stderr, show, with_statuses

FIGURE = "figure.png"
FILES = {"summary.json", "density.csv", "envelope.csv", "model.toml", FIGURE}


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
    samples: Annotated[Path | None, typer.Option(help="Measured spectrum: .npy, .npz, .csv or .txt.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="What the samples are: tau, unless given.")] = None,
    plot: Annotated[
        bool | None,
        typer.Option("--plot/--no-plot", help="Draw figure.png into the directory, as is done unless told."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of text.")] = False,
) -> None:
    """Solve for the stationary density of a model and check it against the closed form.

    Exit status: 0 fine, 1 a check failed, 2 bad input or no stationary density, 3 not converged, 130 interrupted.
    """
    if list_presets:
        show_presets(json)
        return
    if plot and out is None:
        raise ModelError("--plot: a figure goes into the directory of --out; name one")
    if kind and samples is None:
        raise ModelError(f"--kind {kind.value}: says what samples are, and there are none; name a file with --samples")
    plot = plot is not False
    name, model = find_model(source)
    if out is not None:  # now, not after a long solve
        outputs.prepare_model(out, FILES if plot else FILES - {FIGURE}, FILES, model)
    measured = None if samples is None else read_samples(samples, (kind or Kind.tau).value)
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
    written: str | ModelError = ""
    if out is not None and failure is None:
        try:
            written = write_files(out, density, theory, summary, plot, measured)
        except ModelError as problem:
            written = problem  # the summary is shown all the same: the solve may have taken long
    show_summary(summary, json)
    if failure is not None:
        raise failure
    if isinstance(written, ModelError):
        raise written
    if written and not json:
        show(Text(f"\n{written}"))
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


def show_presets(as_json: bool) -> None:
    """Name, phase, exponent and description of every preset."""
    table, entries = Records(("preset", "phase", "β", "what it is"), numbers=("β",)), []
    for name in preset_names():
        tables = parse_toml(preset_text(name), name)
        theory, description = closed_form(Model.from_dict(tables)), str(tables.get("description", ""))
        beta = f"{theory.exponent:.6g}" if theory.has_root else "–"
        table.add(name, theory.phase, beta, description)
        entries.append({"name": name, "phase": theory.phase, "exponent": theory.exponent, "description": description})
    if as_json:
        typer.echo(report.to_json({"presets": entries}))
    else:
        show(table)


def write_files(
    out: Path,
    density: StationaryDensity,
    theory: ClosedForm,
    summary: dict[str, Any],
    plot: bool,
    samples: Samples | None,
) -> str:
    """All files of a solution; returns in words what was written, and what became of an earlier figure."""
    writers = {
        "summary.json": outputs.text_writer(report.to_json(summary)),
        "density.csv": outputs.density_writer(density),
        "envelope.csv": outputs.envelope_writer(density),
        "model.toml": density.model.to_toml,
    }
    figure = out / FIGURE
    stale = not plot and figure.exists()
    if plot:
        from solver.plots import plot_solution  # here, so that other commands do not wait for matplotlib

        drawn = plot_solution(density, theory, title=summary["name"], samples=samples)
        writers[FIGURE] = functools.partial(drawn.savefig, dpi=120)
    files = outputs.write_all(out, writers, remove=() if plot else (FIGURE,))
    words = f"written to {out}: {', '.join(path.name for path in files)}"
    if stale:
        words += f"; {FIGURE} there is not zetafp's and stays" if figure.exists() else f"; the old {FIGURE} was removed"
    return words


def show_summary(summary: dict[str, Any], as_json: bool) -> None:
    """The summary on stdout, as text or as JSON."""
    if as_json:
        typer.echo(report.to_json(summary))
    else:
        show(report.render(summary))
