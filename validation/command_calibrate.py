"""`zetafp calibrate RUN`: from the time scales of a training run to a model, its prediction, and a verdict.

0 the model describes the data, 1 it does not or they cannot tell, 2 bad input. The catch: a run that speaks against the
model gives no model.toml, unless `--anyway` asks for one; the status stays 1.
"""

from __future__ import annotations

import functools
import shutil
from pathlib import Path
from typing import Annotated

import typer

from solver.errors import ModelError
from solver.report import to_json
from solver.terminal import CHECK_FAILED, with_statuses

# Longer lines are hard to read, whatever the window.
WIDEST = 100
MODEL, FIGURE = "model.toml", "calibration.png"
FILES = ("calibration.json", "calibration.txt")


@with_statuses
def calibrate(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A folder of ckpt_NNNN_taus.npy, or a .npz, .npy or .csv.")
    ],
    window: Annotated[
        str | None,
        typer.Option(metavar="A:B", help="Checkpoints from A to B, by their numbers; either may be left out."),
    ] = None,
    interval: Annotated[float, typer.Option(help="Time between successive checkpoints, in the unit wanted.")] = 1.0,
    anyway: Annotated[bool, typer.Option("--anyway", help="Fit a model whatever speaks against it.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Directory for model.toml and calibration.json, .txt, .png.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw calibration.png into the directory.")] = True,
) -> None:
    """Calibrate the model on a training run's time scales and compare what it predicts.

    Exit status: 0 described, 1 not, 2 bad input, 3 not converged, 130 interrupted.
    """
    from solver.folder import prepare
    from solver.outputs import text_writer, write_all
    from validation.networks import describe
    from validation.networks.calibrate import calibrate as calibrate_run
    from validation.networks.prediction import predict, spread
    from validation.networks.reading import read_run

    if out is not None:
        prepare(out, FILES + (MODEL,) + (FIGURE,) * plot)
    taken = read_run(run).between(*_window(window))
    measured = spread(taken.last)
    found = calibrate_run(taken.zeta, interval, seed=seed, anyway=anyway)
    prediction = None if found.model is None else predict(found.model, taken.last, seed)
    findings = describe.all_findings(found, prediction)
    summary = to_json(describe.to_dict(taken, found, prediction, measured))
    if out is not None:
        writers = {
            "calibration.json": text_writer(summary),
            "calibration.txt": text_writer(describe.text(taken, found, prediction, measured)),
        }
        if found.model is not None:
            writers[MODEL] = text_writer(describe.model_text(found.model, found, findings))
        if plot:
            from validation.networks.figure import plot_calibration  # here: other commands need no matplotlib

            figure = plot_calibration(taken, found, prediction, title=run.name)
            writers[FIGURE] = functools.partial(figure.savefig, dpi=110)
        written = write_all(out, writers, remove=tuple({MODEL, FIGURE} - set(writers)))
    if json:
        typer.echo(summary)
    else:
        width = min(shutil.get_terminal_size().columns, WIDEST)
        typer.echo(describe.text(taken, found, prediction, measured, width))
        if out is not None:
            typer.echo(f"\nwritten to {out}: {', '.join(path.name for path in written)}")
    if any(finding.fatal for finding in findings):
        raise typer.Exit(CHECK_FAILED)


def _window(text: str | None) -> tuple[int | None, int | None]:
    """`A:B` as two checkpoint numbers, None where left out."""
    if text is None:
        return None, None
    first, mark, last = text.partition(":")
    try:
        if not mark:
            raise ValueError
        return (int(first) if first.strip() else None), (int(last) if last.strip() else None)
    except ValueError:
        raise ModelError(
            f"window = {text!r}: must be A:B, two numbers of checkpoints, such as 100:240 or 100:"
        ) from None
