"""`zetafp phase`: a map of phases and exponents over two parameters, from algebra alone.

The catch is a file too large to be of use: the CSV has one row a point, a million of them are 60 MB; the netCDF file
says the same in a tenth.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text

from solver import outputs
from solver.axes import Array, linear_range, parameter, parsed_axis
from solver.checks import choice
from solver.errors import ModelError
from solver.model import Model
from solver.phase_diagram import NAMES, PHASES, phase_diagram
from solver.phase_lines import phase_lines
from solver.sweep_result import csv_writer, netcdf_writer
from solver.terminal import find_model, show, with_statuses

# An axis that is only named runs from a tenth of the model's value to three times it, α over nearly all of its range.
_POINTS, _FROM, _TO = 400, 0.1, 3.0
_STABILITY = (0.02, 1.98)


@with_statuses
def phase(
    source: Annotated[str, typer.Argument(metavar="PRESET|FILE", help="A preset or a model file (TOML).")] = "broad",
    x: Annotated[str, typer.Option(help="NAME, or NAME=FROM:TO:POINTS[:log], or NAME=A,B,C.")] = "intensity",
    y: Annotated[str, typer.Option(help="The same for the other axis.")] = "plateau",
    out: Annotated[Path | None, typer.Option(help="Directory for phases.nc, phases.csv and phases.png.")] = None,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw phases.png into the directory.")] = True,
    csv: Annotated[bool, typer.Option("--csv/--no-csv", help="Write phases.csv into the directory.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of text.")] = False,
) -> None:
    """Map phase, exponent and threshold of a model over two of its parameters.

    Exit status: 0 fine, 2 bad input, 130 interrupted.
    """
    if out is not None:
        outputs.refuse_file(out)
    name, model = find_model(source)
    axes = axis(model, x, "x"), axis(model, y, "y")
    diagram = phase_diagram(model, *axes)
    files: list[Path] = []
    if out is not None:
        writers = {"phases.nc": netcdf_writer(diagram)}
        if csv:
            writers["phases.csv"] = csv_writer(diagram)
        if plot:
            from solver.plot_phases import phase_figure  # here, so that other commands do not wait for it

            picture = phase_figure(diagram, phase_lines(model, *axes), title=name)
            writers["phases.png"] = functools.partial(picture.savefig, dpi=120)
        files = outputs.write_all(out, writers)
    shares = {word: float((diagram["phase"] == word).mean()) for word in PHASES}
    beta = diagram["exponent"].values
    rooted = beta[np.isfinite(beta)]
    ends = (float(rooted.min()), float(rooted.max())) if rooted.size else None
    if json:
        import json as encoder

        summary = {"name": name, "x": axes[0][0], "y": axes[1][0], "points": beta.size, "shares": shares}
        summary |= {"exponents": ends, "files": [str(path) for path in files]}
        typer.echo(encoder.dumps(summary, indent=2, ensure_ascii=False))
        return
    lines = [f"{name}: {beta.size} points over {axes[0][0]} and {axes[1][0]}"]
    lines += [f"  {word:<13} {100 * share:5.1f}%" for word, share in shares.items() if share]
    lines += [f"  exponents from {ends[0]:.6g} to {ends[1]:.6g}"] if ends else ["  no root anywhere"]
    lines += [f"written to {out}: {', '.join(path.name for path in files)}"] if files else []
    show(Text("\n".join(lines)))


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
