"""Measured spectra: time scales or log rates from a file, with every value that cannot be used counted.

The catch: a measured time scale can be infinite, negative or NaN (a fit that found no decay), and silently
dropping those would bias the slow end of the spectrum, the end of interest. So the counts travel along.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, logsumexp

Kind = Literal["tau", "zeta"]

# More bars than this cannot be read in a figure panel, and a few outliers would otherwise ask for
# thousands.
MAX_BINS = 60
# One standard deviation of a normal law: the confidence of the error bars.
ONE_SIGMA = math.erf(1 / math.sqrt(2))


class SamplesError(ValueError):
    """A file of measurements cannot be read; the message names the file, the line and the value."""


@dataclass(frozen=True)
class Histogram:
    """Density per unit ζ in bins; `low` and `high` are the ends of the counts-based error bars.

    All arrays have shape (bins,), `edges` (bins + 1,).
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    density: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def centres(self) -> NDArray[np.float64]:
        """Middle of each bin."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


@dataclass(frozen=True, eq=False)
class Samples:
    """Measured log rates ζ = -ln τ (sorted, finite), and how many values of the file could not be used.

    >>> samples = Samples.from_values([1.0, 2.0, 4.0, float("inf"), -1.0], kind="tau")
    >>> len(samples.zeta), samples.infinite, samples.not_positive, samples.dropped
    (3, 1, 1, 2)
    """

    zeta: NDArray[np.float64]
    nan: int = 0
    infinite: int = 0
    not_positive: int = 0
    path: str = ""

    @classmethod
    def from_values(cls, values: ArrayLike, kind: Kind = "tau", path: str = "") -> Samples:
        """Sort values (any shape) into usable and not; `kind` says whether they are τ or ζ.

        Raises SamplesError if none is usable.
        """
        if kind not in ("tau", "zeta"):
            raise SamplesError(f"kind must be 'tau' or 'zeta', not {kind!r}")
        flat = np.ravel(np.asarray(values, dtype=float))
        nan, infinite = np.isnan(flat), np.isinf(flat)
        finite = flat[~(nan | infinite)]
        positive = finite > 0 if kind == "tau" else np.ones(finite.shape, dtype=bool)
        kept = finite[positive]
        zeta = np.sort(-np.log(kept) if kind == "tau" else kept)
        zeta.setflags(write=False)
        samples = cls(zeta, int(nan.sum()), int(infinite.sum()), int((~positive).sum()), path)
        if zeta.size == 0:
            raise SamplesError(f"{path or 'samples'}: no usable value ({samples.describe()})")
        return samples

    @property
    def dropped(self) -> int:
        """How many values were not used."""
        return self.nan + self.infinite + self.not_positive

    def describe(self) -> str:
        """One line: how many are used and why the others are not."""
        used = f"{self.zeta.size} used, {self.dropped} not used"
        if not self.dropped:
            return used
        reasons = ((self.nan, "NaN"), (self.infinite, "infinite"), (self.not_positive, "not positive"))
        return f"{used}: " + ", ".join(f"{count} {word}" for count, word in reasons if count)

    def histogram(self, bins: int | None = None) -> Histogram:
        """Histogram in ζ; error bars are the central 68.3% Poisson interval of each count (Garwood 1936).

        Without `bins` the width is that of Freedman and Diaconis, 2 IQR / Q^(1/3), or that of Sturges,
        range / (1 + log2 Q), if that is finer; at most 60 bins. `bins` asks for a number of bins.
        """
        size = self.zeta.size
        if bins is None:
            low, high = np.quantile(self.zeta, [0.25, 0.75])
            width, span = 2 * (high - low) * size ** (-1 / 3), self.zeta[-1] - self.zeta[0]
            wanted = math.ceil(span / width) if width > 0 and span < MAX_BINS * width else MAX_BINS
            sturges = 1 + math.ceil(math.log2(size))
            bins = min(max(wanted, sturges), MAX_BINS, size)
        counts, edges = np.histogram(self.zeta, bins=bins)
        # P(count <= n | mean) = 1 - P(n + 1, mean) with P the regularised lower incomplete gamma function
        tail = 0.5 * (1 - ONE_SIGMA)
        lower = np.where(counts > 0, gammaincinv(np.maximum(counts, 1), tail), 0.0)
        upper = gammaincinv(counts + 1, 1 - tail)
        scale = 1 / (size * np.diff(edges))
        return Histogram(edges, counts, counts * scale, lower * scale, upper * scale)

    def log_envelope(self, log_lags: ArrayLike) -> NDArray[np.float64]:
        """ln f of the empirical envelope f(ℓ) = (1/Q) Σ exp(-ℓ/τ_q), at ln ℓ of any shape.

        >>> samples = Samples.from_values([10.0, 10.0])
        >>> float(samples.log_envelope(np.log(20.0)))
        -2.0
        """
        log_lags = np.asarray(log_lags, dtype=float)
        with np.errstate(over="ignore"):  # exp(-inf) = 0 is the right term
            terms = -np.exp(log_lags[..., None] + self.zeta)
        return np.asarray(logsumexp(terms, axis=-1)) - math.log(self.zeta.size)


def read_samples(path: str | Path, kind: Kind = "tau") -> Samples:
    """Read a measured spectrum of τ or ζ from .npy (an array of any shape), .csv or .txt.

    Text files hold one value a line, or columns of which one is headed by `kind`; `#` starts a comment and
    `nan` marks a missing value. Raises SamplesError, naming file, line and value, for anything that is
    not a number, and OSError if the file cannot be opened.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".npy":
        values = _read_array(path)
    elif suffix in (".csv", ".txt"):
        values = np.array(_read_text(path, kind), dtype=float)
    else:
        raise SamplesError(f"{path}: the format is told from the suffix, which must be .npy, .csv or .txt")
    return Samples.from_values(values, kind, str(path))


def _read_array(path: Path) -> NDArray[Any]:
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as problem:
        raise SamplesError(f"{path}: not a readable .npy array ({problem})") from problem
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        what = getattr(values, "dtype", type(values).__name__)
        raise SamplesError(f"{path}: holds {what}, not real numbers")
    return values


def _read_text(path: Path, kind: Kind) -> list[float]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise SamplesError(f"{path}: not a text file (byte {problem.start} is not UTF-8)") from problem
    rows = [(number, _fields(line.split("#", 1)[0])) for number, line in enumerate(lines, start=1)]
    rows = [(number, fields) for number, fields in rows if fields]
    if not rows:
        raise SamplesError(f"{path}: no values in the file")
    column, width = 0, len(rows[0][1])
    header = [field.lower() for field in rows[0][1]]
    if kind in header:
        column, rows = header.index(kind), rows[1:]
    elif width > 1 or not _is_number(header[0]):
        what = f"{width} columns" if width > 1 else repr(header[0])
        where = f"{path}, line {rows[0][0]}"
        raise SamplesError(f"{where}: {what} instead of one number a line or a heading {kind!r}")
    return [_number(path, number, fields, column, width) for number, fields in rows]


def _fields(line: str) -> list[str]:
    """Cells of a line: separated by commas or semicolons if there are any, else by blanks; [] if empty."""
    if not line.strip():
        return []
    for mark in (",", ";"):
        if mark in line:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True))]
    return line.split()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, line: int, fields: list[str], column: int, width: int) -> float:
    if len(fields) != width:
        raise SamplesError(f"{path}, line {line}: {len(fields)} values where the first line has {width}")
    if not _is_number(fields[column]):
        raise SamplesError(f"{path}, line {line}: {fields[column]!r} is not a number (write nan if missing)")
    return float(fields[column])
