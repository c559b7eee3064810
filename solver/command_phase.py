"""`zetafp phase`: a map of phases and exponents over two parameters, from algebra alone.

The catch is a file too large to be of use: phases.csv has one row a point, a million of them are 60 MB; phases.nc
says the same in a tenth.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from rich.text import Text

from solver import outputs
from solver.answer import answer, ready
from solver.axes import Array, linear_range, parameter, parsed_axis
from solver.checks import choice
from solver.errors import ModelError
from solver.model import Model
from solver.options import Json, Out, Plot, Source
from solver.phase_diagram import NAMES, PHASES, phase_diagram
from solver.phase_lines import phase_lines
from solver.sweep_result import csv_writer, netcdf_writer
from solver.terminal import find_model, with_statuses

# An axis that is only named runs from a tenth of the model's value to three times it, α over nearly all of its range.
_POINTS, _FROM, _TO = 400, 0.1, 3.0
_STABILITY = (0.02, 1.98)
_AXIS = (
    "plateau, diffusion, intensity, stability or tempering: NAME (400 values, from a tenth of the model's to three "
    "times it), NAME=FROM:TO:POINTS[:log] or NAME=A,B,C."
)


FILES = ("phases.json", "phases.nc", "phases.csv", "phases.png")


@with_statuses
def phase(
    source: Source = "broad",
    x: Annotated[str, typer.Option(metavar="AXIS", help=_AXIS)] = "intensity",
    y: Annotated[str, typer.Option(metavar="AXIS", help="The same for the other axis.")] = "plateau",
    out: Out = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Map phase, exponent and threshold of a model over two of its parameters.

    Files of --out: phases.json, phases.nc, phases.csv, phases.png.

    Exit status: 0 fine, 2 bad input, 130 interrupted.
    """
    name, model = find_model(source)
    drawn = ready(out, FILES, plot)
    axes = axis(model, x, "x"), axis(model, y, "y")
    diagram = phase_diagram(model, *axes)
    shares = {word: float((diagram["phase"] == word).mean()) for word in PHASES}
    beta = diagram["exponent"].values
    rooted = beta[np.isfinite(beta)]
    ends = (float(rooted.min()), float(rooted.max())) if rooted.size else None
    summary = {"name": name, "x": axes[0][0], "y": axes[1][0], "points": beta.size, "shares": shares}
    summary |= {"exponents": ends}
    lines = [f"{name}: {beta.size} points over {axes[0][0]} and {axes[1][0]}"]
    lines += [f"  {word:<13} {100 * share:5.1f}%" for word, share in shares.items() if share]
    lines += [f"  exponents β from {ends[0]:.6g} to {ends[1]:.6g}"] if ends else ["  no root anywhere"]
    writers: dict[str, outputs.Writer] = {}
    if out is not None:
        writers["phases.json"] = outputs.json_writer(summary)
        writers |= {"phases.nc": netcdf_writer(diagram), "phases.csv": csv_writer(diagram)}
    if drawn:
        from solver.plot_phases import plot_phase_diagram  # here, so that other commands do not wait for matplotlib

        boundaries = phase_lines(model, *axes)
        writers["phases.png"] = outputs.figure_writer(
            lambda: plot_phase_diagram(diagram, lines=boundaries, title=f"model {name}")
        )
    answer(summary, lambda: Text("\n".join(lines)), json=json, out=out, writers=writers, files=FILES)


def axis(model: Model, text: str, side: str) -> tuple[str, Array]:
    """The axis that the words of an option mean."""
    name, _, values = text.partition("=")
    choice(f"{side} axis", name, NAMES)
    if values:
        return name, parsed_axis(name, values)
    if name == "stability":
        return name, linear_range(*_STABILITY, _POINTS)
    middle = parameter(model, name)
    if not 0 < middle < np.inf:
        raise ModelError(
            f"{side} axis = {name!r}: it is {middle:g} in this model, so give its range, {name}=FROM:TO:POINTS"
        )
    return name, linear_range(_FROM * middle, _TO * middle, _POINTS)
