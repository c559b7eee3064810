"""`zetafp compare SAMPLES MODEL`: a verdict on somebody's samples, as text, JSON, a figure and an exit status.

0 consistent, 1 not, 2 bad input, 3 not converged. The catch: the samples are read before the model is solved, so that a
wrong column is told at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from solver import outputs
from solver.answer import answer, ready
from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.options import Json, Kind, Out, Plot, Seed
from solver.stationary import solve_stationary
from solver.storage import load
from solver.terminal import CHECK_FAILED, find_model, progress_on_stderr, text_width, with_statuses

FILES = ("comparison.json", "comparison.txt", "comparison.png")


@with_statuses
def compare(
    samples: Annotated[
        Path, typer.Argument(metavar="SAMPLES", help=".npy, .npz, .csv, .txt, or a folder of ckpt_*_taus.npy.")
    ],
    source: Annotated[
        str, typer.Argument(metavar="MODEL", help="A preset, a model file (TOML) or a saved density (.npz).")
    ],
    kind: Annotated[Kind, typer.Option(help="What the samples are.")] = Kind.tau,
    column: Annotated[str | None, typer.Option(help="Column or array of the file: tau or zeta, unless given.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column, array or file of weights.")] = None,
    checkpoint: Annotated[int | None, typer.Option(help="Number, in a folder of them: the last, unless given.")] = None,
    autocorrelation: Annotated[
        str | None,
        typer.Option(metavar="estimate|TIME", help="Autocorrelation time, in samples, of a chain in order of time."),
    ] = None,
    level: Annotated[float, typer.Option(help="Not consistent where the Anderson–Darling p is below this.")] = 0.05,
    seed: Seed = 0,
    out: Out = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Tell whether samples are consistent with the stationary law of a model.

    Files of --out: comparison.json, comparison.txt, comparison.png.

    Exit status: 0 consistent, 1 not, 2 bad input, 3 not converged, 130 interrupted.
    """
    from validation.comparison import compare as compare_samples
    from validation.measured import read_measured

    drawn = ready(out, FILES, plot)
    measured = read_measured(samples, kind.value, column=column, weights=weights, checkpoint=checkpoint)
    name, density = find_density(source)
    result = compare_samples(measured, density, autocorrelation=_time(autocorrelation), level=level, seed=_seed(seed))
    summary = result.to_dict()
    writers = {"comparison.json": outputs.json_writer(summary), "comparison.txt": outputs.text_writer(result.text())}
    if drawn:
        from validation.comparison_plot import plot_comparison  # here: other commands need no matplotlib

        title = f"{Path(measured.samples.path).name} and {name}"
        writers["comparison.png"] = outputs.figure_writer(lambda: plot_comparison(result, title=title))
    text = result.text(text_width())
    answer(summary, lambda: Text(text), json=json, out=out, writers=writers, files=FILES)
    if not result.consistent:
        raise typer.Exit(CHECK_FAILED)


def find_density(source: str) -> tuple[str, StationaryDensity]:
    """The name to show and the density: read if it was saved, else solved."""
    if source.endswith(".npz"):
        return Path(source).name, load(source)
    name, model = find_model(source)
    with progress_on_stderr() as progress:
        return name, solve_stationary(model, progress=progress)


def _time(text: str | None) -> float | Literal["estimate"] | None:
    if text is None:
        return None
    if text == "estimate":
        return "estimate"
    try:
        return float(text)
    except ValueError:
        raise ModelError(f"autocorrelation = {text!r}: must be 'estimate' or a number ≥ 1") from None


def _seed(seed: int) -> int:
    if seed < 0:
        raise ModelError(f"seed = {seed}: must be ≥ 0")
    return seed
