"""Exponent, phase and threshold of a model over two of its parameters: algebra alone, a million points in seconds.

    phase boundaries:   η_J = η_J*(κ, η_G, α, λ)  (collapsed below)      β = 1  (mean time scale infinite below)

The catch is memory traffic, not arithmetic: the root finder passes over its arrays some hundred times, and twice as
fast over pieces that stay in the processor's cache. A point's answer does not depend on the pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solver.axes import Array, attributes, axis_values, drift_limits, parameter, require_few
from solver.checks import choice, instance, shown
from solver.errors import ModelError
from solver.exponent import at_threshold, spectral_exponent, threshold_intensity
from solver.extras import extra
from solver.jumps import TemperedStableJumps
from solver.model import Model

if TYPE_CHECKING:
    import xarray

Axis = tuple[str, Iterable[float]]

NAMES = ("plateau", "diffusion", "intensity", "stability", "tempering")
PHASES = ("none", "collapsed", "broad", "critical", "concentrated")
# Points at a time; measured for a map of a million: 1.8 s at once, 1.15 s in pieces of 16 000 to 64 000.
_PIECE = 30_000
# Points of one map: 65 bytes each in memory (three numbers of 8, 1 and 8 bytes, a word of 48), 60 in phases.csv.
MOST_POINTS = 10_000_000
_CRITICAL = 1e-12  # |β - 1| that counts as 1, as in solver.exponent.phase


def phase_diagram(
    model: Model,
    x: Axis = ("intensity", (0.1, 0.3, 1.0)),
    y: Axis = ("plateau", (0.5, 1.0, 2.0)),
) -> xarray.Dataset:
    """Closed form over two parameters, each (name, increasing values); all else is as in `model`.

    Variables over (y, x): `exponent` β, NaN where there is no root; `phase`, one of PHASES (see solver.exponent.phase);
    `threshold` η_J*; `finite_mean`, whether E τ is finite. Coordinates carry the names and units of the parameters. An
    intensity of 0 is allowed where there is diffusion: no jumps. Needs xarray (`zetafp[sweep]`).

    Raises ModelError for bad axes, for jumps of another law than TemperedStableJumps, and for a drift that grows
    without bound to the left, where there is no exponent and hence no phase.

    >>> from solver.drifts import TanhDrift
    >>> model = Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.2, 0.5, 1.0))
    >>> diagram = phase_diagram(model, x=("intensity", [0.2, 0.6]), y=("plateau", [1.0, 0.5]))
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: plateau[1] = 0.5: must be larger than plateau[0] = 1.0
    >>> diagram = phase_diagram(model, x=("intensity", [0.2, 0.6]), y=("plateau", [0.5, 1.0]))
    >>> diagram.phase.sel(plateau=1.0).values.tolist()
    ['collapsed', 'broad']
    >>> diagram.exponent.sel(plateau=1.0).values
    array([       nan, 0.96437004])
    """
    library = extra("xarray")
    names, values = checked_axes(model, x, y)
    shape = (values[1].size, values[0].size)
    grid = broadcast(model, names, values)
    right = drift_limits(model, values[names.index("plateau")] if "plateau" in names else None)[1]
    if "plateau" in names:
        right = right.reshape(grid["plateau"].shape)
    convention = _law(model).convention
    out = {
        "exponent": np.empty(shape),
        "phase": np.empty(shape, dtype=f"<U{max(map(len, PHASES))}"),
        "threshold": np.empty(shape),
        "finite_mean": np.empty(shape, dtype=bool),
    }
    rows = max(1, _PIECE // shape[1])
    for start in range(0, shape[0], rows):
        piece = slice(start, start + rows)
        part = {name: value[piece] if value.shape[0] > 1 else value for name, value in grid.items()}
        holds = (right[piece] if right.shape[0] > 1 else right) > 0
        for name, result in _closed_form(part, holds, convention).items():
            out[name][piece] = result
    dims = (names[1], names[0])
    texts = {
        "exponent": {"units": "1", "long_name": "spectral exponent"},
        "phase": {"long_name": "phase of the long time scales"},
        "threshold": {"long_name": "smallest intensity with a root"} | attributes("intensity", model),
        "finite_mean": {"long_name": "whether the mean time scale is finite"},
    }
    diagram: xarray.Dataset = library.Dataset(
        {name: (dims, result, texts[name]) for name, result in out.items()},
        coords={name: (name, value, attributes(name, model)) for name, value in zip(names, values, strict=True)},
        attrs={"title": "phase diagram from the closed form", "model": repr(model)},
    )
    return diagram


def checked_axes(model: Model, x: Axis, y: Axis) -> tuple[tuple[str, str], tuple[Array, Array]]:
    """Names and values of the two axes; ModelError where the model has no such map."""
    instance("model", model, Model, "Model(TanhDrift(1.0), diffusion=0.3)")
    names, values = [], []
    for side, axis in (("x", x), ("y", y)):
        if not (isinstance(axis, tuple) and len(axis) == 2 and isinstance(axis[0], str)):
            raise ModelError(f"{side} = {shown(axis)}: must be (name, values), such as ('intensity', [0.1, 0.3, 1.0])")
        name = choice(f"{side} axis", axis[0], NAMES)
        parameter(model, name)
        names.append(name)
        values.append(axis_values(name, axis[1]))
    if names[0] == names[1]:
        raise ModelError(f"x and y are both {names[0]!r}: a map needs two different parameters")
    require_few({name: listed.size for name, listed in zip(names, values, strict=True)}, MOST_POINTS)
    _law(model)
    return (names[0], names[1]), (values[0], values[1])


def broadcast(model: Model, names: tuple[str, str], values: tuple[Array, Array]) -> dict[str, Array]:
    """All five parameters, each of a shape that broadcasts to (len(y), len(x))."""
    law = _law(model)
    grid = {
        "plateau": drift_limits(model, None)[0],
        "diffusion": np.array(model.diffusion),
        "intensity": np.array(law.intensity),
        "stability": np.array(law.stability),
        "tempering": np.array(law.tempering),
    }
    if np.any(grid["plateau"] == np.inf):
        raise ModelError(
            f"drift: {type(model.drift).__name__} grows without bound to the left, so that time scales have no "
            "exponent and no phase; a phase diagram needs a drift with a plateau"
        )
    grid |= {names[0]: values[0][None, :], names[1]: values[1][:, None]}
    return {name: value if value.ndim == 2 else value.reshape(1, 1) for name, value in grid.items()}


def _law(model: Model) -> TemperedStableJumps:
    if not isinstance(model.jumps, TemperedStableJumps):
        found = "no jumps" if model.jumps is None else f"{type(model.jumps).__name__}, which has no threshold"
        raise ModelError(f"jumps: a phase diagram is for TemperedStableJumps, this model has {found}")
    return model.jumps


def _closed_form(grid: dict[str, Array], holds: NDArray[np.bool_], convention: str) -> dict[str, NDArray]:
    """The four variables of a piece; `holds`: whether the right side keeps the population."""
    kappa, eta_g, eta_j, alpha, lam = (grid[name] for name in NAMES)
    star = threshold_intensity(kappa, eta_g, alpha, lam, convention)
    beta = spectral_exponent(kappa, eta_g, eta_j, alpha, lam, convention)
    jumps = eta_j > 0
    at_star = jumps & at_threshold(eta_j, star)
    below = jumps & (eta_j <= star) & ~at_star
    stationary = holds & (kappa > 0) & ~(jumps & (lam == 0) & (alpha <= 1))
    number = np.select(
        [~stationary, below | at_star, np.abs(beta - 1) <= _CRITICAL, beta < 1],
        [PHASES.index(name) for name in ("none", "collapsed", "critical", "broad")],
        default=PHASES.index("concentrated"),
    )
    # Without a root ρ ~ e^{λζ} |ζ|^{-1-α}: at λ = 1 the power makes the mean finite. At the threshold none does.
    finite = np.where(below, lam >= 1, beta > 1 + _CRITICAL)
    return {
        "exponent": np.where(stationary, beta, np.nan),
        "phase": np.array(PHASES)[number],
        "threshold": np.where(stationary, star, np.nan),
        "finite_mean": stationary & finite,
    }
