"""Where the command `zetafp` starts: the verbs of the solver, and those that put it to the test."""

from __future__ import annotations

from solver.cli import app, main

__all__ = ["app", "main"]
