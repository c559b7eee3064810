"""The command line: one app, one verb per file, registered here.

The catch: verbs that need `validation` cannot be here, because `solver` never imports it; they join the same app in
`validation.cli`, which is where the command `zetafp` starts.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from solver import __version__
from solver.command_solve import solve

app = typer.Typer(
    help="Stationary laws of log decay rates under drift, diffusion and tempered stable jumps.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(solve)


def main() -> None:
    """Entry point of the command `zetafp`."""
    for stream in (sys.stdout, sys.stderr):
        # a terminal without Greek letters shows question marks instead of ending the run
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app(prog_name="zetafp")


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
