"""The results of a sweep, or a phase diagram, as a labelled data set and as files: netCDF and CSV.

The catch is words in netCDF: its strings of variable length take seconds and hundreds of bytes each. They are written
as characters of a fixed width, compressed, and come back as the same words.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solver import __version__
from solver.axes import Array, attributes
from solver.extras import extra
from solver.model import Model
from solver.sweep_point import Options, Record

if TYPE_CHECKING:
    import xarray

_WORDS = {"status": "how the point ended", "message": "what was said of a point that failed"}
# Variables of a point: name in the record, name here, what it is, its unit, the dimension it has on top of the axes.
_NUMBERS = (
    ("error_estimate", "error_estimate", "estimated error of ln ρ in the body", "1", ""),
    ("tail_exponent_error", "tail_exponent_error", "estimated error of tail_exponent", "1", ""),
    ("tail_exponent", "tail_exponent", "exponent of the long time scales, read from the solution", "1", ""),
    (
        "right_tail_exponent",
        "right_tail_exponent",
        "the same of the short time scales",
        "1",
        "",
    ),
    ("exponent", "exponent", "spectral exponent from the closed form; NaN: no root", "1", ""),
    ("mean_log_tau", "mean_log_tau", "mean of ln τ", "1", ""),
    ("std_log_tau", "std_log_tau", "standard deviation of ln τ", "1", ""),
    ("quantiles", "log_tau", "ln of the quantiles of τ, τ in time", "1", "quantile"),
    ("envelope", "log_envelope", "ln f(ℓ)", "1", "lag"),
)


def dataset(model: Model, axes: dict[str, Array], options: Options, records: list[Record]) -> xarray.Dataset:
    """The records of all points, the last axis varying fastest, as a data set over the axes."""
    library = extra("xarray")
    shape = tuple(values.size for values in axes.values())
    coords: dict[str, Any] = {name: (name, values, attributes(name, model)) for name, values in axes.items()}
    inner = {"quantile": (options.quantiles, "1"), "lag": (options.lags, "time")}
    data: dict[str, Any] = {}
    for source, name, text, unit, dimension in _NUMBERS:
        if source not in (*options.quantities, "error_estimate", "tail_exponent_error"):
            continue
        size = len(inner[dimension][0]) if dimension else 1
        columns = np.array([np.broadcast_to(record.get(source, np.nan), (size,)) for record in records])
        dims = [*axes, dimension] if dimension else [*axes]
        values = columns.reshape(*shape, size) if dimension else columns.reshape(shape)
        data[name] = (dims, values, {"long_name": text, "units": unit})
        if dimension:
            listed, of = inner[dimension]
            coords[dimension] = (dimension, np.array(listed), {"units": of})
    for name, text in _WORDS.items():
        words = np.array([record[name] for record in records]).reshape(shape)
        data[name] = ([*axes], words, {"long_name": text})
    texts = {"title": "stationary solutions over parameters", "model": repr(model), "rtol": options.rtol}
    out: xarray.Dataset = library.Dataset(data, coords, texts | {"source": f"zetafp {__version__}"})
    return out


def netcdf_writer(data: xarray.Dataset) -> Callable[[Path], None]:
    """A writer of a data set as netCDF (h5netcdf)."""
    extra("h5netcdf")
    extra("h5py")

    def write(path: Path) -> None:
        packed = {"zlib": True, "complevel": 1}
        encoding = {name: packed | ({"dtype": "S1"} if _is_text(data[name]) else {}) for name in data.data_vars}
        data.to_netcdf(path, engine="h5netcdf", encoding=encoding)

    return write


def csv_writer(data: xarray.Dataset) -> Callable[[Path], None]:
    """A writer of a data set as CSV: a row for each point of the axes, a column for each quantile and lag.

    Numbers are the shortest that read back to the last bit.
    """
    pandas = extra("pandas")
    inner = [name for name in ("quantile", "lag") if name in data.dims]
    axes = [name for name in data["error_estimate" if "error_estimate" in data else "exponent"].dims]
    grids = np.meshgrid(*(data[name].values for name in axes), indexing="ij")
    columns: dict[str, Any] = {str(name): grid.ravel() for name, grid in zip(axes, grids, strict=True)}
    for name, variable in data.data_vars.items():
        own = [dimension for dimension in inner if dimension in variable.dims]
        values = variable.transpose(*axes, *own).values
        if not own:
            columns[str(name)] = values.ravel()
        else:
            for i, value in enumerate(data[own[0]].values):
                columns[f"{name}[{own[0]}={value:g}]"] = values[..., i].ravel()

    def write(path: Path) -> None:
        pandas.DataFrame(columns).to_csv(path, index=False, na_rep="nan")

    return write


def _is_text(variable: Any) -> bool:
    return variable.dtype.kind in "UO"
