"""`zetafp design`: the value of one parameter that gives a wanted exponent, and how the exponent answers to each.

The catch: the new model file is the result; the numbers on the screen have fewer digits.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from solver.axes import UNITS, parameter
from solver.closed_form import closed_form
from solver.design import design as design_model
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.sensitivity import sensitivities
from solver.terminal import find_model, show, with_statuses


@with_statuses
def design(
    source: Annotated[str, typer.Argument(metavar="PRESET|FILE", help="A preset or a model file (TOML).")] = "broad",
    exponent: Annotated[float, typer.Option(help="The wanted spectral exponent β.")] = 1.0,
    free: Annotated[str, typer.Option(help="intensity, plateau, diffusion, tempering or stability.")] = "intensity",
    out: Annotated[Path | None, typer.Option(help="File for the new model (TOML).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of text.")] = False,
) -> None:
    """Change one parameter of a model so that its time scales have a wanted exponent.

    Exit status: 0 fine, 2 bad input, 130 interrupted.
    """
    if out is not None:
        require_new(out)
    name, model = find_model(source)
    result = design_model(model, exponent=exponent, free=free)
    theory = closed_form(result)
    slopes: dict[str, float] = {}
    if result.jumps is None or isinstance(result.jumps, TemperedStableJumps):
        found = asdict(sensitivities(result))
        slopes = {key: value for key, value in found.items() if key != "exponent" and not math.isnan(value)}
    if out is not None:
        require_new(out)
        result.to_toml(out)
    before, after = parameter(model, free), parameter(result, free)
    if json:
        import json as encoder

        summary: dict[str, Any] = {"name": name, "free": free, "before": before, "after": after}
        summary |= {"unit": UNITS[free], "convention": theory.convention, "exponent": theory.exponent}
        summary |= {"phase": theory.phase, "sensitivities": slopes, "model": result.to_dict()}
        typer.echo(encoder.dumps(summary, indent=2, ensure_ascii=False))
        return
    unit = "" if UNITS[free] == "1" else f" {UNITS[free]}"
    convention = f" (convention {theory.convention})" if free == "intensity" else ""
    lines = [f"{name}: {free} {before:.12g} → {after:.12g}{unit}{convention}"]
    lines += [f"  exponent {theory.exponent:.12g}, {theory.phase}"]
    lines += [f"  ∂β/∂{key:<10} {value:+.6g}" for key, value in slopes.items()]
    lines += [f"written to {out}"] if out is not None else []
    show(Text("\n".join(lines)))


def require_new(out: Path) -> None:
    """Raise ModelError unless `out` can become a new file in a directory that is there."""
    if out.is_dir():
        raise ModelError(f"{out}: a directory; name a file")
    if out.exists():
        raise ModelError(f"{out}: exists and will not be replaced; name another file, or move it out of the way")
    if not out.absolute().parent.is_dir():
        raise ModelError(f"{out}: there is no directory {out.parent}")
