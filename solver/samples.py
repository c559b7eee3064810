"""Measured spectra: time scales or log rates from a file, with every value that cannot be used counted.

The catch: a measured time scale can be infinite, negative or NaN (a fit that found no decay), and silently
dropping those would bias the slow end of the spectrum, the end of interest. So the counts travel along.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, logsumexp

from solver.checks import array
from solver.sample_files import KINDS, Kind, SamplesError, read_values

__all__ = ["Histogram", "Kind", "Samples", "SamplesError", "read_samples"]

# More bars than this cannot be read in a figure panel, and a few outliers would otherwise ask for
# thousands.
MAX_BINS = 60
# Entries of a table of lags by samples that is made at once, 32 MB, of which there are a few copies.
LARGEST_TABLE = 1 << 22
# One standard deviation of a normal law: the confidence of the error bars.
ONE_SIGMA = math.erf(1 / math.sqrt(2))


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
        if kind not in KINDS:
            raise SamplesError(f"kind must be 'tau' or 'zeta', not {kind!r}")
        flat = np.ravel(array(path or "samples", values, SamplesError))
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
        return f"{used}: {reasons_of(self.nan, self.infinite, self.not_positive)}"

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
        given = np.asarray(log_lags, dtype=float)
        flat = given.ravel()
        log_sums = np.empty(flat.shape)
        at_once = max(1, LARGEST_TABLE // self.zeta.size)
        for first in range(0, flat.size, at_once):
            part = slice(first, first + at_once)
            with np.errstate(over="ignore"):  # exp(-inf) = 0 is the right term
                terms = -np.exp(flat[part, None] + self.zeta)
            log_sums[part] = logsumexp(terms, axis=-1)
        return np.asarray(log_sums - math.log(self.zeta.size)).reshape(given.shape)


def reasons_of(nan: int, infinite: int, not_positive: int) -> str:
    """Why values were not used, in words.

    >>> reasons_of(2, 0, 1)
    '2 NaN, 1 not positive'
    """
    reasons = ((nan, "NaN"), (infinite, "infinite"), (not_positive, "not positive"))
    return ", ".join(f"{count} {word}" for count, word in reasons if count)


def read_samples(path: str | Path, kind: Kind = "tau") -> Samples:
    """Read a measured spectrum of τ or ζ from .npy, .npz (an array of any shape), .csv or .txt.

    An archive holds one array or one named `kind`. Text files hold one value a line, or columns of which one is headed
    by `kind`; `#` starts a comment and `nan` marks a missing value. Raises SamplesError, naming file, line and value,
    for anything that is not a number, and for a file that is missing.
    """
    if kind not in KINDS:
        raise SamplesError(f"kind must be 'tau' or 'zeta', not {kind!r}")
    return Samples.from_values(read_values(Path(path), kind), kind, str(path))
