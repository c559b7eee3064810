"""`zetafp solve`: from the words of the user to the files of a solution and back to an exit status.

The catch: what a command costs to start. Matplotlib is imported only when a figure is drawn, so that
`--help`, `--list` and every complaint come at once.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from solver import outputs, report
from solver.answer import answer, ready
from solver.closed_form import ClosedForm, closed_form
from solver.config import parse_toml
from solver.crosscheck import cross_check
from solver.density import StationaryDensity
from solver.errors import ModelError, NotConvergedError
from solver.generator import stencil
from solver.model import Model
from solver.options import Json, Kind, Out, Plot, Rtol, Source
from solver.presets import preset_names, preset_text
from solver.samples import Samples, read_samples
from solver.stationary import solve_stationary
from solver.tables import Records
from solver.terminal import CHECK_FAILED, fail, find_model, progress_on_stderr, show, with_statuses

FILES = ("summary.json", "density.csv", "envelope.csv", "model.toml", "figure.png")


@with_statuses
def solve(
    source: Source = "broad",
    list_presets: Annotated[bool, typer.Option("--list", help="List the presets and stop.")] = False,
    rtol: Rtol = 1e-8,
    order: Annotated[int, typer.Option(help="Order of the finite differences: 2, 4, 6 or 8.")] = 8,
    samples: Annotated[Path | None, typer.Option(help="Samples to draw beside: .npy, .npz, .csv or .txt.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="What the samples are: tau, unless given.")] = None,
    out: Out = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Solve for the stationary density of a model and check it against the closed form.

    Files of --out: summary.json, density.csv, envelope.csv, model.toml, figure.png.

    Exit status: 0 fine, 1 a check failed, 2 bad input or no stationary density, 3 not converged, 130 interrupted.
    """
    if list_presets:
        show_presets(json)
        return
    if kind and samples is None:
        raise ModelError(f"--kind {kind.value}: says what samples are, and there are none; name a file with --samples")
    name, model = find_model(source)
    drawn = ready(out, FILES, plot, model)  # now, not after a long solve
    measured = None if samples is None else read_samples(samples, (kind or Kind.tau).value)
    stencil(order)  # brings sympy, a second that is no part of the solve
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
    # a density that is not converged is shown and not kept
    writers = {} if failure else writers_of(density, theory, summary, drawn, measured)
    answer(summary, lambda: report.render(summary), json=json, out=out, writers=writers, files=FILES, model=model)
    if failure is not None:
        raise failure
    if check.verdict == "FAILED":
        fail("; ".join(failed_rows(summary)), CHECK_FAILED)


def failed_rows(summary: dict[str, Any]) -> list[str]:
    """What each failed check found and what it allows."""
    return [
        f"check failed: {row['source']} differs from the closed form by {row['difference']:.2g} where "
        f"{row['tolerance']:.2g} is allowed ({row['reason']})"
        for row in summary["checks"]
        if row["verdict"] == "FAILED"
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


def writers_of(
    density: StationaryDensity,
    theory: ClosedForm,
    summary: dict[str, Any],
    drawn: bool,
    samples: Samples | None,
) -> dict[str, outputs.Writer]:
    """The files of a solution."""
    writers = {
        "summary.json": outputs.json_writer(summary),
        "density.csv": outputs.density_writer(density),
        "envelope.csv": outputs.envelope_writer(density),
        "model.toml": density.model.to_toml,
    }
    if drawn:
        from solver.plots import plot_solution  # here, so that other commands do not wait for matplotlib

        writers["figure.png"] = outputs.figure_writer(
            lambda: plot_solution(density, theory, title=summary["name"], samples=samples)
        )
    return writers
