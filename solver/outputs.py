"""The files of a solution: all written aside first, then moved into place, so that none is ever half there.

The catch: moving is one step only within a file system, so the aside directory is made next to the
target. A new target directory appears in one step; in an existing one each file is replaced in one step.
"""

from __future__ import annotations

import math
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.model import Model

Writer = Callable[[Path], None]

# Lags of envelope.csv: enough to draw the curve and to difference it by hand to three digits.
LAGS = 401
# Where the density goes on beyond its grid, so does the envelope: to 1e20, past any lag of interest.
DEEPEST_LAG = math.log(1e20)


def refuse_file(target: Path) -> None:
    """Raise ModelError if `target`, or a directory it would lie in, is a file."""
    for place in (target, *target.parents):
        if place.exists():
            if not place.is_dir():
                raise ModelError(f"{target}: {place} is a file; name a directory")
            return


def write_all(target: Path, writers: dict[str, Writer]) -> list[Path]:
    """Write each named file by its writer and return their paths.

    Raises ModelError if the place cannot be written; whatever the reason, no partial file remains.
    """
    refuse_file(target)
    for name in writers:
        if (target / name).is_dir():
            raise ModelError(f"{target / name}: a directory stands where the file should go")
    try:
        _write_aside(target.absolute(), writers)
    except OSError as problem:
        raise ModelError(f"{target}: cannot be written: {problem.strerror or problem}") from problem
    return [target / name for name in writers]


def _write_aside(target: Path, writers: dict[str, Writer]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    aside.mkdir()
    try:
        for name, write in writers.items():
            write(aside / name)
        if target.exists():
            for name in writers:
                os.replace(aside / name, target / name)
        else:
            os.rename(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def text_writer(text: str) -> Writer:
    """A writer of one text file."""

    def write(path: Path) -> None:
        path.write_text(text + "\n", encoding="utf-8")

    return write


def model_writer(model: Model) -> Writer:
    """A writer of the model as TOML."""

    def write(path: Path) -> None:
        model.to_toml(path)

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
    return _csv_writer(columns)


def envelope_writer(density: StationaryDensity) -> Writer:
    """log_lag = ln ℓ, log_value = ln f, local_exponent = -d ln f/d ln ℓ, over the grid's ℓ and beyond."""
    deepest = -density.grid.left
    if density.grid.edges[0] == "open":
        deepest = max(deepest, DEEPEST_LAG)
    log_lags = np.linspace(-density.grid.right, deepest, LAGS)
    envelope = density.envelope(log_lags=log_lags)
    return _csv_writer(
        {"log_lag": log_lags, "log_value": envelope.log_values, "local_exponent": envelope.local_exponent}
    )


def _csv_writer(columns: dict[str, NDArray[np.float64]]) -> Writer:
    def write(path: Path) -> None:
        # 17 significant digits: reading the file gives back the very same numbers
        table = np.column_stack(list(columns.values()))
        np.savetxt(path, table, fmt="%.17g", delimiter=",", header=",".join(columns), comments="")

    return write
