"""Figures over parameters: a phase diagram with its boundaries, and a map of any variable of a sweep.

Phases are shaded from the closed form at every point of the diagram; the two boundaries are lines of their own, from
their formulas, so that a coarse diagram still has sharp ones. The catch: near the threshold contour lines of β crowd,
and where there is no root there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from solver.drawing import axes_for
from solver.phase_diagram import PHASES
from solver.phase_lines import Line

if TYPE_CHECKING:
    import xarray

SYMBOLS = {"plateau": "κ", "diffusion": r"$\eta_G$", "intensity": r"$\eta_J$", "stability": "α", "tempering": "λ"}
# Light enough for black lines and labels; told apart in grey as well. A critical point is a line, not an area.
_SHADES = {
    "none": "#ffffff",
    "collapsed": "#d9d9d9",
    "broad": "#fdd9b5",
    "critical": "#c6dbef",
    "concentrated": "#c6dbef",
}
_WORDS = {
    "none": "no stationary density",
    "collapsed": "collapsed: no root",
    "broad": "broad: β < 1, mean of τ infinite",
    "concentrated": "concentrated: β > 1, mean of τ finite",
}
_LINES: dict[str, dict[str, Any]] = {
    "threshold": {"color": "#7f2704", "lw": 2.0, "label": "threshold, Φ(λ) = 0"},
    "critical": {"color": "#08306b", "lw": 2.0, "ls": "--", "label": "critical line, β = 1"},
}
# Contours of β: even steps where phases meet, doubling above.
_LEVELS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
# A map whose values span more than this ratio and are all positive is drawn in logarithms.
_WIDE = 100.0
_SIZE = (5.8, 5.2)  # room for the legend below the axes


def plot_phase_diagram(
    diagram: xarray.Dataset, ax: Axes | None = None, *, lines: dict[str, Line] | None = None, title: str = ""
) -> Axes:
    """A phase_diagram, shaded, with the `lines` of phase_lines and contours of β.

    A logarithmic axis is recognised by its values.
    """
    ax = axes_for(ax, _SIZE)
    y_name, x_name = (str(name) for name in diagram["exponent"].dims)
    x, y = diagram[x_name].values, diagram[y_name].values
    number = np.searchsorted(np.sort(PHASES), diagram["phase"].values)
    shades = ListedColormap([_SHADES[name] for name in np.sort(PHASES)])
    norm = BoundaryNorm(np.arange(len(PHASES) + 1) - 0.5, len(PHASES))
    ax.pcolormesh(x, y, number, cmap=shades, norm=norm, shading="nearest", rasterized=True)
    beta = diagram["exponent"].values
    finite = beta[np.isfinite(beta)]
    levels = [level for level in _LEVELS if finite.size and finite.min() < level < finite.max()]
    if levels and min(x.size, y.size) > 1:
        contours = ax.contour(x, y, np.ma.masked_invalid(beta), levels=levels, colors="0.35", linewidths=0.7)
        ax.clabel(contours, fmt="%g", fontsize=7)
    for name, (along, across) in (lines or {}).items():
        if np.isfinite(along + across).any():
            ax.plot(along, across, **_LINES[name])
    _label(ax, diagram, x_name, y_name)
    ax.set_title(title or "phases and exponent β", fontsize=10)
    present = [name for name in _WORDS if (diagram["phase"] == name).any()]
    handles: list[Artist] = [Patch(facecolor=_SHADES[name], edgecolor="0.6", label=_WORDS[name]) for name in present]
    handles += ax.get_lines()
    if levels and min(x.size, y.size) > 1:
        handles.append(Line2D([], [], color="0.35", lw=0.7, label="contours of β"))
    ax.legend(handles=handles, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)
    return ax


def plot_map(values: xarray.DataArray, ax: Axes | None = None, *, label: str = "", title: str = "") -> Axes:
    """A variable over two axes as colours; NaN is left grey."""
    ax = axes_for(ax, _SIZE)
    y_name, x_name = (str(name) for name in values.dims)
    shown = np.ma.masked_invalid(values.values)
    wide = shown.count() and shown.min() > 0 and shown.max() > _WIDE * shown.min()
    ax.set_facecolor("0.85")
    mesh = ax.pcolormesh(
        values[x_name].values, values[y_name].values, shown, shading="nearest", norm="log" if wide else "linear"
    )
    ax.figure.colorbar(mesh, ax=ax, label=label or str(values.name))
    _label(ax, values, x_name, y_name)
    ax.set_title(title, fontsize=10)
    return ax


def _label(ax: Axes, data: Any, x_name: str, y_name: str) -> None:
    for name, side in ((x_name, "x"), (y_name, "y")):
        attributes = data[name].attrs
        convention = f", convention {attributes['convention']}" if "convention" in attributes else ""
        unit = (
            ""
            if attributes.get("units", "1") == "1"
            else f"   [{attributes['units'].replace('^α', '$^α$')}{convention}]"
        )
        label = f"{name} {SYMBOLS.get(name, '')}{unit}"
        values = data[name].values
        scale = "log" if _logarithmic(values) else "linear"
        ax.set(**{f"{side}label": label, f"{side}scale": scale, f"{side}lim": (values[0], values[-1])})


def _logarithmic(values: np.ndarray) -> bool:
    """Whether steps are equal in ratio rather than in size."""
    if values.size < 3 or values[0] <= 0:
        return False
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return bool(np.ptp(ratios) / ratios.mean() < np.ptp(steps) / steps.mean() - 1e-6)
