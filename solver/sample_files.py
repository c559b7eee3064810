"""Files of measurements: the numbers of a .npy, .npz, .csv or .txt file, or one sentence that says where they are bad.

The catch: nothing is guessed. A column or an array of several is taken only if its heading says what was asked for, and
a cell that is no number ends the reading with its line; `nan` marks a missing value.
"""

from __future__ import annotations

import csv
import zipfile
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["tau", "zeta"]
KINDS = ("tau", "zeta")


class SamplesError(ValueError):
    """A file of measurements cannot be read; the message names the file, the line and the value."""


def read_values(path: Path, kind: str) -> NDArray[Any]:
    """The numbers of a file, of any shape; `kind` is the column or the array wanted where there are several.

    Raises SamplesError for whatever is wrong, a missing file included.
    """
    suffix = path.suffix.lower()
    if suffix not in (".npy", ".npz", ".csv", ".txt"):
        raise SamplesError(f"{path}: the format is told from the suffix, which must be .npy, .npz, .csv or .txt")
    try:
        return _arrays(path, kind) if suffix in (".npy", ".npz") else np.array(_text(path, kind), dtype=float)
    except OSError as problem:
        raise SamplesError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    except MemoryError:
        raise SamplesError(f"{path}: too large for the memory of this machine") from None


def headings(path: Path) -> list[str]:
    """The names a file offers: arrays of a .npz, the first line of a .csv or .txt unless it is a number; else []."""
    suffix = path.suffix.lower()
    try:
        if suffix == ".npz":
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                return [] if isinstance(stored, np.ndarray) else list(stored.files)
        if suffix in (".csv", ".txt"):
            rows = (cells_of(path, number, line) for number, line in enumerate(read_lines(path), start=1))
            first = next((fields for fields in rows if fields), [])
            return [] if all(map(is_number, first)) else first
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile):
        return []  # whoever reads the numbers next says what is wrong
    return []


def _arrays(path: Path, kind: str) -> NDArray[Any]:
    # numpy's own words are not passed on: for text it advises to unpickle the file, which would run what is in it
    try:
        with open(path, "rb") as stream:
            stored = np.load(stream, allow_pickle=False)
            values = stored if isinstance(stored, np.ndarray) else stored[_wanted(path, list(stored.files), kind)]
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as problem:
        if isinstance(problem, SamplesError):
            raise
        raise SamplesError(f"{path}: not a readable {path.suffix} file of numbers, or a damaged one") from None
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        what = getattr(values, "dtype", type(values).__name__)
        raise SamplesError(f"{path}: holds {what}, not real numbers")
    return values


def _wanted(path: Path, names: list[str], kind: str) -> str:
    """The array of an archive: the one named `kind`, or the only one unless its name says that it is the other kind."""
    if kind in names:
        return kind
    if len(names) != 1 or names[0] in KINDS:
        raise SamplesError(f"{path}: no array named {kind!r}; it holds {', '.join(map(repr, names)) or 'none'}")
    return names[0]


def _text(path: Path, kind: str) -> list[float] | NDArray[np.float64]:
    lines = read_lines(path)
    plain = _one_number_a_line(lines, kind)
    if plain is not None:
        return plain
    rows = [(number, cells_of(path, number, line)) for number, line in enumerate(lines, start=1)]
    rows = [(number, fields) for number, fields in rows if fields]
    if not rows:
        raise SamplesError(f"{path}: no values in the file")
    column, width = 0, len(rows[0][1])
    header = [field.lower() for field in rows[0][1]]
    where = f"{path}, line {rows[0][0]}"
    if header.count(kind) > 1:
        raise SamplesError(f"{where}: {header.count(kind)} columns are headed {kind!r}")
    if kind in header:
        column, rows = header.index(kind), rows[1:]
    elif width > 1 or not is_number(header[0]):
        what = f"{width} columns" if width > 1 else repr(header[0])
        raise SamplesError(f"{where}: {what} instead of one number a line or a heading {kind!r}")
    return [_number(path, number, fields, column, width) for number, fields in rows]


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file; SamplesError where it is none."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise SamplesError(f"{path}: not a text file (byte {problem.start} is not UTF-8)") from None


def cells_of(path: Path, number: int, line: str) -> list[str]:
    """The cells of a line without its comment; SamplesError names the line where quotes do not close on it."""
    try:
        return fields_of(line.split("#", 1)[0])
    except csv.Error as problem:
        raise SamplesError(f"{path}, line {number}: {problem}") from None


def _one_number_a_line(lines: list[str], kind: str) -> NDArray[np.float64] | None:
    """The numbers of a file that is nothing else, its heading apart; None for the careful reading, ten times slower."""
    words = "\n".join(lines).split()
    if not words or len(words) != sum(not line.isspace() for line in lines if line):
        return None
    if any("_" in word for word in words):
        return None
    headed = words[0].strip('"').lower() == kind
    try:
        return np.fromiter(map(float, words[headed:]), dtype=float)
    except ValueError:
        return None


def fields_of(line: str) -> list[str]:
    """Cells of a line, quoted or not: separated by ; or , or tabs if there are any, else by blanks; [] if empty."""
    if not line.strip():
        return []
    mark = next((mark for mark in ";,\t" if mark in line), " ")
    if mark == " ":
        line = " ".join(line.split())
    reader = csv.reader([line], delimiter=mark, skipinitialspace=True, strict=True)
    return [cell.strip() for cell in next(reader)]


def is_number(text: str) -> bool:
    """Whether a cell is a number; Python's own 1_000 is none, and 2_5 hardly means 25."""
    if "_" in text:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, line: int, fields: list[str], column: int, width: int) -> float:
    if len(fields) != width:
        raise SamplesError(f"{path}, line {line}: {len(fields)} values where the first line has {width}")
    if not is_number(fields[column]):
        raise SamplesError(f"{path}, line {line}: {fields[column]!r} is not a number (write nan if missing)")
    return float(fields[column])
