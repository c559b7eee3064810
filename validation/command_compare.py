"""`zetafp compare SAMPLES MODEL`: a verdict on somebody's samples, as text, JSON, a figure and an exit status.

0 consistent, 1 not, 2 bad input, 3 not converged. The catch: the samples are read before the model is solved, so that a
wrong column is told at once.
"""

from __future__ import annotations

import functools
import shutil
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.report import to_json
from solver.stationary import solve_stationary
from solver.storage import load
from solver.terminal import CHECK_FAILED, find_model, progress_on_stderr, with_statuses

if TYPE_CHECKING:
    from validation.comparison import Comparison

# Longer lines are hard to read, whatever the window.
WIDEST = 100
FILES, FIGURE = ("comparison.json", "comparison.txt"), "comparison.png"


class Kind(StrEnum):
    """What the samples are."""

    tau = "tau"
    zeta = "zeta"


@with_statuses
def compare(
    samples: Annotated[
        Path, typer.Argument(metavar="SAMPLES", help=".npy, .npz, .csv, .txt, or a folder of ckpt_*_taus.npy.")
    ],
    source: Annotated[
        str, typer.Argument(metavar="MODEL", help="A preset, a model file (TOML) or a saved density (.npz).")
    ],
    kind: Annotated[Kind, typer.Option(help="What the samples are.")] = Kind.tau,
    column: Annotated[str | None, typer.Option(help="Column or array of the file; default: the kind.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column, array or file of weights.")] = None,
    checkpoint: Annotated[int | None, typer.Option(help="Epoch in a folder; default: the last.")] = None,
    autocorrelation: Annotated[
        str | None,
        typer.Option(metavar="estimate|TIME", help="For a chain in its order in time: its memory, in samples."),
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the Anderson–Darling test, which decides.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap of the envelope.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Directory for comparison.json, .txt and .png.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw comparison.png into the directory.")] = True,
) -> None:
    """Tell whether samples are consistent with the stationary law of a model.

    Exit status: 0 consistent, 1 not, 2 bad input, 3 not converged, 130 interrupted.
    """
    from solver.folder import prepare
    from validation.comparison import compare as compare_samples
    from validation.measured import read_measured

    if out is not None:
        prepare(out, FILES + (FIGURE,) * plot)
    measured = read_measured(samples, kind.value, column=column, weights=weights, checkpoint=checkpoint)
    name, density = find_density(source)
    result = compare_samples(measured, density, autocorrelation=_time(autocorrelation), level=level, seed=_seed(seed))
    files = [] if out is None else write_files(out, result, f"{Path(measured.samples.path).name} and {name}", plot)
    if json:
        typer.echo(to_json(result.to_dict()))
    else:
        typer.echo(result.text(min(shutil.get_terminal_size().columns, WIDEST)))
        if files:
            typer.echo(f"\nwritten to {files[0].parent}: {', '.join(path.name for path in files)}")
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


def write_files(out: Path, result: Comparison, title: str, plot: bool) -> list[Path]:
    """comparison.json, comparison.txt and comparison.png; returns their paths."""
    from solver.outputs import text_writer, write_all

    writers = {
        "comparison.json": text_writer(to_json(result.to_dict())),
        "comparison.txt": text_writer(result.text()),
    }
    if plot:
        from validation.comparison_plot import (
            plot_comparison,
        )  # here, so that other commands do not wait for matplotlib

        writers["comparison.png"] = functools.partial(plot_comparison(result, title=title).savefig, dpi=110)
    return write_all(out, writers, remove=() if plot else (FIGURE,))
