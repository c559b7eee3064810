"""The command line: one app, one verb per file, registered here.

The catch: verbs that need `validation` cannot be here, because `solver` never imports it; they join the same app in
`validation.verbs`. The command `zetafp` starts in `validation.cli`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from solver import __version__
from solver.command_design import design
from solver.command_phase import phase
from solver.command_solve import solve
from solver.command_sweep import sweep
from solver.command_tails import tails

app = typer.Typer(
    help="Stationary laws of log decay rates under drift, diffusion and tempered stable jumps.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for verb in (solve, tails, phase, design, sweep):
    app.command()(verb)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"zetafp {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=show_version, help="Show the version.")] = False,
) -> None:
    """Stationary laws of log decay rates under drift, diffusion and tempered stable jumps."""
