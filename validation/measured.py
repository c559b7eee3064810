"""What a comparison is made with: values in their order, their weights, and the count of those that cannot be used.

`solver.samples` keeps a measured spectrum sorted, which is all that a histogram needs. Weights belong to single values
and an autocorrelation to their order in time, so both are kept here beside it. A folder of checkpoints
`ckpt_NNNN_taus.npy` is one sample per epoch.

The catch: a value that cannot be used is a finding, not noise; an infinite τ is a unit that never forgets. The counts
travel along into every report.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import array, suggestion
from solver.sample_files import headings, read_values
from solver.samples import Kind, Samples, SamplesError

Array = NDArray[np.float64]

CHECKPOINT = re.compile(r"ckpt_(\d+)_taus\.npy")


@dataclass(frozen=True, eq=False)
class Measured:
    """Usable log rates ζ = -ln τ in their given order, their positive weights, both (n,), and what was left out.

    `samples` is the same spectrum sorted, with its counts; `weightless` counts values whose weight is zero.

    >>> measured = Measured.from_values([4.0, float("nan"), 1.0], kind="tau", weights=[1.0, 5.0, 3.0])
    >>> measured.zeta, measured.weights, measured.samples.nan
    (array([-1.38629436,  0.        ]), array([1., 3.]), 1)
    """

    zeta: Array
    weights: Array
    samples: Samples
    weightless: int = 0

    @classmethod
    def from_values(
        cls, values: ArrayLike, kind: Kind = "tau", weights: ArrayLike | None = None, path: str = ""
    ) -> Measured:
        """Values of any shape, τ or ζ by `kind`, with one weight ≥ 0 each or none.

        Raises SamplesError if no value is usable, or for a weight that is negative or not finite.
        """
        flat = np.ravel(array(path or "samples", values, SamplesError))
        given = _checked_weights(weights, flat.size, path)
        samples = Samples.from_values(flat, kind, path)
        usable = np.isfinite(flat) & ((flat > 0) | (kind == "zeta"))
        chosen = usable & (given > 0)
        if not chosen.any():
            raise SamplesError(f"{path or 'samples'}: every usable value has weight 0")
        zeta = -np.log(flat[chosen]) if kind == "tau" else flat[chosen]
        # adding zero turns the -0.0 of τ = 1 into 0.0
        return cls(zeta + 0.0, given[chosen], samples, int((usable & (given == 0)).sum()))

    @property
    def weighted(self) -> bool:
        """Whether the weights differ."""
        return bool(np.ptp(self.weights) > 0)

    @property
    def repeated(self) -> int:
        """How many values equal an earlier one; a continuous law gives none."""
        return int(self.zeta.size - np.unique(self.zeta).size)

    def describe(self) -> str:
        """One line: how many values are used and why the others are not."""
        text = self.samples.describe()
        return f"{text}; {self.weightless} of weight 0" if self.weightless else text


def read_measured(
    path: str | Path,
    kind: Kind = "tau",
    *,
    column: str | None = None,
    weights: str | Path | None = None,
    checkpoint: int | None = None,
) -> Measured:
    """Read a sample of τ or ζ from .npy, .npz, .csv or .txt, or a folder of checkpoints `ckpt_NNNN_taus.npy`.

    `column` names the column of a text file or the array of an archive (default: the kind); `weights` one more of
    those, or another file; `checkpoint` the epoch in a folder (default: the last). Raises SamplesError naming file,
    column or epoch.
    """
    path = Path(path)
    if path.is_dir():
        if kind != "tau":
            raise SamplesError(f"{path}: a folder of checkpoints holds τ; kind = {kind!r} is for files")
        path = find_checkpoint(path, checkpoint)
    elif checkpoint is not None:
        raise SamplesError(f"{path}: checkpoint = {checkpoint} is for a folder, and this is not one")
    values = read_column(path, kind if column is None else column, named=column is not None)
    return Measured.from_values(values, kind, _read_weights(path, weights), str(path))


def checkpoints(folder: Path) -> dict[int, Path]:
    """The files ckpt_NNNN_taus.npy of a folder by number, in its order; SamplesError where two have the same."""
    found: dict[int, Path] = {}
    for file in sorted(folder.iterdir()):
        match = CHECKPOINT.fullmatch(file.name)
        if match is None:
            continue
        number = int(match[1])
        if number in found:
            raise SamplesError(f"{folder}: {found[number].name} and {file.name} are both checkpoint {number}")
        found[number] = file
    return dict(sorted(found.items()))


def find_checkpoint(folder: Path, checkpoint: int | None = None) -> Path:
    """The file of an epoch, or that of the last; SamplesError says which there are."""
    found = checkpoints(folder)
    if not found:
        raise SamplesError(f"{folder}: no file ckpt_NNNN_taus.npy in this folder")
    epoch = max(found) if checkpoint is None else checkpoint
    if epoch not in found:
        near = min(found, key=lambda other: abs(other - epoch))
        raise SamplesError(
            f"{folder}: no checkpoint {epoch}; there are {len(found)}, from {min(found)} to {max(found)}, "
            f"the nearest is {near}"
        )
    return found[epoch]


def read_column(path: Path, name: str, named: bool) -> Array:
    """The numbers of one column or array; `named`: the name was asked for and must be there, not only a default."""
    exact = name
    if path.exists():
        names = headings(path)
        folded = {heading.casefold(): heading for heading in names}
        if named and name.casefold() not in folded:
            offered = f"it has {', '.join(map(repr, names))}{suggestion(name, names)}" if names else "it names none"
            raise SamplesError(f"{path}: no column or array {name!r}; {offered}")
        exact = folded.get(name.casefold(), name) if path.suffix.lower() == ".npz" else name.lower()
    values: Array = np.ravel(read_values(path, exact)).astype(float)
    return values


def _read_weights(path: Path, weights: str | Path | None) -> Array | None:
    if weights is None:
        return None
    other = Path(weights)
    if other.suffix.lower() in (".npy", ".npz", ".csv", ".txt"):
        return read_column(other, "weight", named=False)
    return read_column(path, str(weights), named=True)


def _checked_weights(weights: ArrayLike | None, size: int, path: str) -> Array:
    if weights is None:
        return np.ones(size)
    where = f"{path}: " if path else ""
    listed = np.ravel(array(f"{where}weights", weights, SamplesError))
    if listed.size != size:
        raise SamplesError(f"{where}{listed.size} weights for {size} values: there must be one each")
    bad = ~(np.isfinite(listed) & (listed >= 0))
    if bad.any():
        place = int(np.argmax(bad))
        raise SamplesError(f"{where}weights[{place}] = {listed[place]:g}: must be a finite number ≥ 0")
    return listed
