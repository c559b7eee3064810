"""`zetafp design`: the value of one parameter that gives a wanted exponent or horizon, and how the exponent answers to
each.

The catch: the new model file is the result; the numbers on the screen have fewer digits.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text

from solver import outputs
from solver.answer import answer, ready
from solver.axes import UNITS, parameter
from solver.closed_form import closed_form
from solver.design import design as design_model
from solver.design_horizon import design_for_horizon
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.options import Json, NoiseIndex, Out, Source
from solver.report import PHASES
from solver.sensitivity import sensitivities
from solver.terminal import find_model, progress_on_stderr, with_statuses

FILES = ("design.json", "model.toml")


@with_statuses
def design(
    source: Source = "broad",
    exponent: Annotated[float | None, typer.Option(help="The wanted spectral exponent β.")] = None,
    horizon: Annotated[
        str | None, typer.Option(metavar="LAG:SAMPLES", help="Instead: the lag, in time, that so many samples reach.")
    ] = None,
    noise_index: NoiseIndex = 2.0,
    free: Annotated[
        str, typer.Option(help="What is changed: intensity, plateau, diffusion, tempering or stability.")
    ] = "intensity",
    out: Out = None,
    json: Json = False,
) -> None:
    """Change one parameter of a model so that its time scales have a wanted exponent, or a wanted horizon.

    Files of --out: model.toml, the new model, and design.json.

    Exit status: 0 fine, 2 bad input, 3 not converged, 130 interrupted.
    """
    name, model = find_model(source)
    ready(out, FILES)
    if (exponent is None) == (horizon is None):
        raise ModelError("--exponent β, --horizon LAG:SAMPLES: give one of them, such as --exponent 0.42")
    wanted: dict[str, float] | None = None
    if horizon is None:
        assert exponent is not None  # one of them was given
        result = design_model(model, exponent=exponent, free=free)
    else:
        lag, samples = _horizon(horizon)
        with progress_on_stderr("solving: searching the horizon"):
            result = design_for_horizon(model, lag, samples, free=free, noise_index=noise_index)
        wanted = {"lag": lag, "samples": samples, "noise_index": noise_index}
    summary = summarise(name, model, result, free, wanted)
    writers = {"model.toml": result.to_toml, "design.json": outputs.json_writer(summary)}
    answer(summary, lambda: render(summary), json=json, out=out, writers=writers, files=FILES, model=result)


def _horizon(text: str) -> tuple[float, float]:
    """`LAG:SAMPLES` as two numbers."""
    try:
        lag, samples = (float(word) for word in text.split(":"))
    except ValueError:
        raise ModelError(f"horizon = {text!r}: must be LAG:SAMPLES, two numbers such as 1000:1e6") from None
    return lag, samples


def summarise(
    name: str, model: Model, result: Model, free: str, horizon: dict[str, float] | None = None
) -> dict[str, Any]:
    """Before and after, the new exponent, the horizon that was asked for, and ∂β over each parameter."""
    theory = closed_form(result)
    slopes: dict[str, float] = {}
    if result.jumps is None or isinstance(result.jumps, TemperedStableJumps):
        found = asdict(sensitivities(result))
        slopes = {key: value for key, value in found.items() if key != "exponent" and not math.isnan(value)}
    return {
        "name": name,
        "free": free,
        "before": parameter(model, free),
        "after": parameter(result, free),
        "unit": UNITS[free],
        "convention": theory.convention,
        "exponent": theory.exponent,
        "phase": theory.phase,
        "horizon": horizon,
        "sensitivities": slopes,
        "model": result.to_dict(),
    }


def render(summary: dict[str, Any]) -> Text:
    """The summary as text."""
    unit = "" if summary["unit"] == "1" else f" {summary['unit']}"
    convention = f" (convention {summary['convention']})" if summary["free"] == "intensity" else ""
    change = f"{summary['before']:.12g} → {summary['after']:.12g}{unit}{convention}"
    lines = [f"{summary['name']}: {summary['free']} {change}"]
    # at the threshold itself the phase is the collapsed one, and yet there is a root
    words = "at the threshold, where β = λ" if summary["phase"] == "collapsed" else PHASES[summary["phase"]]
    lines += [f"  exponent β = {summary['exponent']:.12g}, {summary['phase']} ({words})"]
    if reached := summary["horizon"]:
        index = f"noise index {reached['noise_index']:g}"
        lines += [f"  horizon {reached['samples']:g} samples reach lag {reached['lag']:g} ({index})"]
    lines += [f"  ∂β/∂{key:<10} {value:+.6g}" for key, value in summary["sensitivities"].items()]
    return Text("\n".join(lines))
