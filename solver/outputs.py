"""The files of a solution: tables of ρ and f with natural logarithms, the model, any text.

Each is a writer, a function of the path, for `solver.folder.write_all` to call. The catch: a table is read by other
programs, so its heading names the columns and 17 digits give back the very same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.folder import Writer, prepare, require_alone, write_all
from solver.model import Model
from solver.report import to_json

__all__ = [
    "Writer",
    "csv_writer",
    "density_writer",
    "envelope_writer",
    "figure_writer",
    "json_writer",
    "prepare",
    "prepare_model",
    "require_same",
    "text_writer",
    "write_all",
]

MODEL = "model.toml"
# A panel of 5 inches has 600 dots: thin lines are clear, and a page stays below 250 kB (measured).
DPI = 120
# Lags of envelope.csv: enough to draw the curve and to difference it by hand to three digits.
LAGS = 401
# Where the density goes on beyond its grid, so does the envelope: to 1e20, past any lag of interest.
DEEPEST_LAG = math.log(1e20)


def prepare_model(target: Path, names: Iterable[str], own: Iterable[str], model: Model) -> None:
    """`prepare` for `names`, and refuse a directory where other commands' files (not in `own`) are of another model."""
    prepare(target, names)
    require_same(target, own, model)


def require_same(target: Path, own: Iterable[str], model: Model) -> None:
    """Raise ModelError if other commands' files (not in `own`) in the directory are of another model."""
    path = target / MODEL
    if path.exists() and not _same(path, model):
        require_alone(target, own, path)


def _same(path: Path, model: Model) -> bool:
    try:
        return bool(Model.from_toml(path) == model)
    except ModelError:
        return False


def text_writer(text: str) -> Writer:
    """A writer of one text file."""

    def write(path: Path) -> None:
        path.write_text(text + "\n", encoding="utf-8")

    return write


def json_writer(summary: dict[str, Any]) -> Writer:
    """A writer of a summary, as --json prints it."""
    return text_writer(to_json(summary))


def figure_writer(draw: Callable[[], Any]) -> Writer:
    """A writer of the Figure, or the figure of the Axes, that `draw` makes when its turn comes."""

    def write(path: Path) -> None:
        draw().figure.savefig(path, dpi=DPI)

    return write


def density_writer(density: StationaryDensity) -> Writer:
    """zeta, log_density = ln ρ, log_tau = ln τ = -ζ, log_p = ln p(τ) = ln ρ + ζ at the nodes."""
    zeta = density.zeta
    columns = {
        "zeta": zeta,
        "log_density": density.log_density,
        "log_tau": -zeta,
        "log_p": density.log_density + zeta,
    }
    return csv_writer(columns)


def envelope_writer(density: StationaryDensity) -> Writer:
    """log_lag = ln ℓ, log_value = ln f, local_exponent = -d ln f/d ln ℓ, over the grid's ℓ and beyond."""
    deepest = -density.grid.left
    if density.grid.edges[0] == "open":
        # an envelope feels what lies left of -ln ℓ: half of the depth to which a pinned tail is known is left for that
        deepest = max(deepest, min(DEEPEST_LAG, -0.5 * (density.known[0] + density.grid.left)))
    log_lags = np.linspace(-density.grid.right, deepest, LAGS)
    envelope = density.envelope(log_lags=log_lags)
    return csv_writer(
        {"log_lag": log_lags, "log_value": envelope.log_values, "local_exponent": envelope.local_exponent}
    )


def csv_writer(columns: dict[str, NDArray[np.float64]]) -> Writer:
    """A writer of columns under their names."""

    def write(path: Path) -> None:
        # 17 significant digits: reading the file gives back the very same numbers
        table = np.column_stack(list(columns.values()))
        np.savetxt(path, table, fmt="%.17g", delimiter=",", header=",".join(columns), comments="")

    return write
