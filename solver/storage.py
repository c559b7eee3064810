"""Reading a stationary density back: `density.save(path)` writes it, `load(path)` gives the same object.

The catch: a file is input like any other. Whatever is wrong with it, from a missing key to a model that is
refused, comes out as one ModelError that names the file.
"""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from solver.archive import read_archive
from solver.density import FORMAT, VERSION, ErrorEstimate, Level, StationaryDensity
from solver.errors import ModelError
from solver.grid import Grid
from solver.model import Model
from solver.nullvector import Continuation, NullVector, Tail
from solver.power_tail import PowerTail


def load(path: str | os.PathLike[str]) -> StationaryDensity:
    """The density that `StationaryDensity.save` wrote to `path`; ModelError if the file is anything else."""
    header, arrays = read_archive(path, FORMAT, VERSION)
    try:
        grid = dict(header["grid"])
        left, right = (
            _continuation(arrays, name) if edge == "open" else None
            for name, edge in zip(("left", "right"), grid["edges"], strict=True)
        )
        null = NullVector(
            arrays["log_density"], arrays["sign"], left, right, header["residual"], header["column_defect"]
        )
        return StationaryDensity(
            model=Model.from_dict(header["model"]),
            grid=Grid(grid["left"], grid["right"], grid["nodes"], tuple(grid["edges"])),
            order=header["order"],
            method=header["method"],
            null=null,
            error=ErrorEstimate(**header["error"]),
            levels=tuple(Level(**level) for level in header["levels"]),
            assumptions=tuple(header["assumptions"]),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise ModelError(f"{path}: damaged {FORMAT} file ({problem})") from problem


def _continuation(arrays: dict[str, NDArray[Any]], side: str) -> Tail:
    """The continuation saved under names that begin with its side: powers, or exponentials."""
    prefix = f"{side}_"
    own = {key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)}
    return PowerTail.from_arrays(own) if "powers" in own else Continuation.from_arrays(own)
