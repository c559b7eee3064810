"""`zetafp calibrate RUN`: from the time scales of a training run to a model, its prediction, and a verdict.

0 the model describes the data, 1 it does not or they cannot tell, 2 bad input. The catch: a run that speaks against the
model gives no model.toml, unless `--anyway` asks for one; the status stays 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from solver import outputs
from solver.answer import answer, ready
from solver.errors import ModelError
from solver.options import Json, Out, Plot, Seed
from solver.terminal import CHECK_FAILED, progress_on_stderr, text_width, with_statuses

FILES = ("calibration.json", "calibration.txt", "model.toml", "calibration.png")


@with_statuses
def calibrate(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A folder of ckpt_NNNN_taus.npy, or a .npz, .npy or .csv.")
    ],
    window: Annotated[
        str | None,
        typer.Option(metavar="A:B", help="Checkpoints from A to B, by their numbers; either may be left out."),
    ] = None,
    interval: Annotated[float, typer.Option(help="Time between checkpoints, in the unit wanted for rates.")] = 1.0,
    anyway: Annotated[bool, typer.Option("--anyway", help="Fit whatever speaks against it; status stays 1.")] = False,
    seed: Seed = 0,
    out: Out = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Calibrate the model on a training run's time scales and compare what it predicts.

    Files of --out: calibration.json, calibration.txt, calibration.png, and model.toml if there is a model.

    Exit status: 0 described, 1 not, 2 bad input, 3 not converged, 130 interrupted.
    """
    from validation.networks import describe
    from validation.networks.calibrate import calibrate as calibrate_run
    from validation.networks.prediction import predict, spread
    from validation.networks.reading import read_run

    drawn = ready(out, FILES, plot)
    taken = read_run(run).between(*_window(window))
    measured = spread(taken.last)
    with progress_on_stderr("calibrating: fits, bootstrap and prediction"):
        found = calibrate_run(taken.zeta, interval, seed=seed, anyway=anyway)
        prediction = None if found.model is None else predict(found.model, taken.last, seed)
    findings = describe.all_findings(found, prediction)
    summary = describe.to_dict(taken, found, prediction, measured)
    whole, narrow = (describe.text(taken, found, prediction, measured, *width) for width in ((), (text_width(),)))
    writers = {"calibration.json": outputs.json_writer(summary), "calibration.txt": outputs.text_writer(whole)}
    if found.model is not None:
        writers["model.toml"] = outputs.text_writer(describe.model_text(found.model, found, findings))
    if drawn:
        from validation.networks.figure import plot_calibration  # here: other commands need no matplotlib

        writers["calibration.png"] = outputs.figure_writer(
            lambda: plot_calibration(taken, found, prediction, title=run.name)
        )
    answer(summary, lambda: Text(narrow), json=json, out=out, writers=writers, files=FILES, model=found.model)
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
