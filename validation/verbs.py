"""The verbs of `zetafp`: those of the solver, and those that put it to the test, which join here."""

from __future__ import annotations

from solver.cli import app
from validation.command_calibrate import calibrate
from validation.command_compare import compare
from validation.command_simulate import simulate

__all__ = ["app"]

app.command()(calibrate)
app.command()(compare)
app.command()(simulate)
