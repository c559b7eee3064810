"""The options that several verbs share: each is defined once, so that its words are the same in every help.

What a verb has of its own stands in its file; the shared ones close its list in the order --seed, --jobs, --out,
--plot, --json. The catch: typer reads these types when a verb is registered, so a verb imports them for good.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Kind(StrEnum):
    """What a file of samples holds: time scales τ or log rates ζ = -ln τ."""

    tau = "tau"
    zeta = "zeta"


def directory(text: str) -> Path:
    """The directory of --out. An empty word, such as "$UNSET" gives, would mean the one where the user stands."""
    if not text:
        raise typer.BadParameter("the path is empty; name a directory, '.' for this one")
    return Path(text)


Source = Annotated[str, typer.Argument(metavar="PRESET|FILE", help="A preset or a model file (TOML).")]
Rtol = Annotated[float, typer.Option(help="Wanted accuracy of ln ρ in the body of the density.")]
NoiseIndex = Annotated[float, typer.Option(help="Stable index α_s of the gradient noise, in (1, 2]; 2: Gaussian.")]
Seed = Annotated[int, typer.Option(help="Seed, ≥ 0; the same one gives the same result.")]
Jobs = Annotated[int, typer.Option(help="Processes; -1: one a core. They do not change the result.")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", parser=directory, help="Directory for the files, made if need be.")
]
Plot = Annotated[
    bool | None, typer.Option("--plot/--no-plot", help="Draw the figure into DIR, or not; it is drawn unless told.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of text.")]
