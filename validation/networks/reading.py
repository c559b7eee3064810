"""A training run from files: log rates of every unit at every checkpoint, and a count of what could not be used.

    a folder of ckpt_NNNN_taus.npy (as the published experiments write them), or one .npz, .npy, .csv or .txt

One file holds a table, a row a checkpoint and a column a unit. The catch: a unit may drop out and come back (NaN, or a
τ that is infinite or not positive). Its place stays empty there, no step is taken across the gap, and the counts
travel along.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import array
from solver.errors import ModelError
from solver.sample_files import SamplesError, cells_of, headings, is_number, read_lines, read_values
from solver.samples import reasons_of
from validation.measured import checkpoints

Array = NDArray[np.float64]
# The array of an archive that numbers the rows of the array `tau`, if it is there.
NUMBERS = "checkpoint"
# Headings that say that a column holds no τ.
LOGARITHMS = ("zeta", "log_")
# Doubles hold every whole number up to here.
MOST = 2**53
SUFFIXES = (".npz", ".npy", ".csv", ".txt")


@dataclass(frozen=True, eq=False)
class Run:
    """ζ (checkpoints, units), NaN where there is no usable value, and the numbers of the checkpoints (checkpoints,).

    `nan`, `infinite`, `not_positive` count values; `dropping` counts units that are there at some checkpoints only.

    >>> run = Run.from_tau([[1.0, 2.0, 5.0], [1.5, np.inf, 4.0]])
    >>> run.zeta.shape, run.infinite, run.dropping
    ((2, 3), 1, 1)
    """

    zeta: Array
    checkpoints: NDArray[np.int64]
    nan: int = 0
    infinite: int = 0
    not_positive: int = 0
    path: str = ""

    @classmethod
    def from_tau(cls, tau: ArrayLike, checkpoints: ArrayLike | None = None, path: str = "") -> Run:
        """τ (checkpoints, units) in any unit of time; raises SamplesError if no table, or nothing in it is usable."""
        table = array(path or "tau", tau, SamplesError)
        where = f"{path}: " if path else ""
        if table.ndim != 2 or min(table.shape) == 0:
            raise SamplesError(f"{where}shape {table.shape}: a run is a table with a row a checkpoint, a column a unit")
        nan, infinite = np.isnan(table), np.isinf(table)
        usable = ~nan & ~infinite & (table > 0)
        if not usable.any():
            raise SamplesError(f"{where}no usable value among {table.size}")
        zeta = np.full(table.shape, np.nan)
        zeta[usable] = -np.log(table[usable])
        zeta.setflags(write=False)
        numbers = np.arange(table.shape[0]) if checkpoints is None else np.asarray(checkpoints, dtype=np.int64)
        counts = (int(nan.sum()), int(infinite.sum()), int((~usable & ~nan & ~infinite).sum()))
        return cls(zeta, numbers, *counts, path)

    @property
    def dropping(self) -> int:
        """Units that are there at some checkpoints and not at others."""
        there = np.isfinite(self.zeta)
        return int((there.any(axis=0) & ~there.all(axis=0)).sum())

    @property
    def last(self) -> Array:
        """ζ of the units present at the last checkpoint."""
        return np.asarray(self.zeta[-1][np.isfinite(self.zeta[-1])])

    def between(self, first: int | None, last: int | None) -> Run:
        """The checkpoints numbered first … last, ends included; ModelError if fewer than two remain."""
        low = self.checkpoints[0] if first is None else first
        high = self.checkpoints[-1] if last is None else last
        kept = (self.checkpoints >= low) & (self.checkpoints <= high)
        if kept.sum() < 2:
            ends = f"{self.checkpoints[0]} to {self.checkpoints[-1]}"
            raise ModelError(f"window = {low}:{high}: holds {kept.sum()} checkpoints, needs 2; there are {ends}")
        zeta = self.zeta[kept]
        return Run(zeta, self.checkpoints[kept], self.nan, self.infinite, self.not_positive, self.path)

    def describe(self) -> str:
        """One line: size, first and last checkpoint, what is missing."""
        count, units = self.zeta.shape
        text = f"{count} checkpoints ({self.checkpoints[0]} to {self.checkpoints[-1]}) of {units} units"
        reasons = reasons_of(self.nan, self.infinite, self.not_positive)
        lost = f"; values not used: {reasons}" if reasons else ""
        apart = np.unique(np.diff(self.checkpoints))
        uneven = f"; {apart[0]} to {apart[-1]} apart, taken as equal intervals" if apart.size > 1 else ""
        return text + uneven + lost + (f"; {self.dropping} units drop in or out" if self.dropping else "")


def read_run(path: str | Path) -> Run:
    """Read a run of τ from a folder of checkpoints or one file; SamplesError names the file and what is wrong."""
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise SamplesError(f"{path}: no such file or folder")
    if path.suffix.lower() not in SUFFIXES:
        raise SamplesError(f"{path}: a run is a folder of ckpt_NNNN_taus.npy or a file {', '.join(SUFFIXES)}")
    table = _table(path) if path.suffix.lower() in (".csv", ".txt") else read_values(path, "tau")
    numbers = None
    if NUMBERS in headings(path) and path.suffix.lower() == ".npz":
        numbers = np.ravel(read_values(path, NUMBERS))
        # 0.2 and 0.4 would both become 0
        whole = np.isfinite(numbers).all() and (np.abs(numbers) < MOST).all() and (numbers == np.round(numbers)).all()
        increasing = bool(whole) and bool((np.diff(numbers.astype(np.int64)) > 0).all())
        if table.ndim == 2 and not (numbers.size == table.shape[0] and increasing):
            raise SamplesError(
                f"{path}: {NUMBERS!r} must be one increasing whole number for each of {table.shape[0]} rows"
            )
    return Run.from_tau(table, numbers, str(path))


def _folder(folder: Path) -> Run:
    found = list(checkpoints(folder).items())
    if len(found) < 2:
        raise SamplesError(f"{folder}: {len(found)} files ckpt_NNNN_taus.npy in this folder; a run needs 2 or more")
    rows = [np.ravel(read_values(file, "tau")) for _, file in found]
    for row, (_, file) in zip(rows, found, strict=True):
        if row.size != rows[0].size:
            raise SamplesError(
                f"{file}: {row.size} units where {found[0][1].name} has {rows[0].size}; write nan for a unit not there"
            )
    return Run.from_tau(np.array(rows), [number for number, _ in found], str(folder))


def _table(path: Path) -> Array:
    """Rows of numbers separated by commas, semicolons, tabs or blanks; a first row without a number is a heading."""
    rows: list[list[float]] = []
    width, heading = 0, False
    for number, line in enumerate(read_lines(path), start=1):
        cells = [cell or "nan" for cell in cells_of(path, number, line)]
        if not cells:
            continue
        numeric = [is_number(cell) for cell in cells]
        if not (heading or rows or any(numeric)):
            other = [cell for cell in cells if cell.casefold().startswith(LOGARITHMS)]
            if other:
                raise SamplesError(f"{path}, line {number}: headed {other[0]!r}, a logarithm; a run is a table of τ")
            heading, width = True, len(cells)
            continue
        if not all(numeric):
            raise SamplesError(
                f"{path}, line {number}: {cells[numeric.index(False)]!r} is not a number (write nan if missing)"
            )
        width = width or len(cells)
        if len(cells) != width:
            raise SamplesError(f"{path}, line {number}: {len(cells)} values where the first row has {width}")
        rows.append([float(cell) for cell in cells])
    if not rows:
        raise SamplesError(f"{path}: no values in the file")
    return np.array(rows)
