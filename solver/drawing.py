"""What every figure has in common: colours, labels, where to draw, and how a panel is finished.

A panel is a function `plot_…(result, ax=None, …)` that returns the Axes it drew into; a page of several panels is
`plot_…(result, …, title="")` and returns the Figure. Only matplotlib's object interface is used: no global state, no
window, no backend. The catch: numbers here span hundreds of decades, more than an axis holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Told apart by colour-blind readers, and by line style in print.
SOLUTION: dict[str, Any] = {"color": "#1f4e79", "lw": 1.8}
ENVELOPE: dict[str, Any] = {"color": "#2e8b57", "lw": 1.8, "ls": "-."}
THEORY: dict[str, Any] = {"color": "#c1440e", "lw": 1.8, "ls": "--"}
MEASURED: dict[str, Any] = {"color": "#444444", "lw": 1.2}
# Measured values are points or bars, what a density expects of them is a line with a band of its colour.
POINTS: dict[str, Any] = {"color": "#444444", "marker": "o", "ms": 3, "ls": "none"}
BARS: dict[str, Any] = {"density": True, "color": "#bbbbbb"}
BAND: dict[str, Any] = {"color": "#1f4e79", "alpha": 0.18, "lw": 0}

LABEL_ZETA = "log decay rate ζ = ln(rate)   [rate in 1/time]"
LABEL_TAU = "time scale τ   [time]"
LABEL_LAG = "lag ℓ   [time]"
LABEL_DEPTH = "depth: -ζ = ln τ, or ln ℓ   [time as in τ]"

# e^{±300} and the products of two such numbers fit a double; an axis needs some room beyond its data.
LARGEST_LOG = 300.0
# Inches of a panel that is drawn alone.
PANEL = (5.5, 4.2)


def axes_for(ax: Axes | None, size: tuple[float, float] = PANEL) -> Axes:
    """The Axes to draw into: those given, or new ones in a Figure of their own."""
    return Figure(figsize=size, layout="constrained").subplots() if ax is None else ax


def finished(ax: Axes) -> Axes:
    """Grid, and a legend if anything has a label."""
    ax.grid(alpha=0.25)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=8)
    return ax


def logarithmic(ax: Axes, side: str, shown: Array) -> None:
    """Make the axis "x" or "y" logarithmic if `shown` spans more than a decade.

    Up to three decades have ticks at 1, 2, 5: those of decades alone are too few.
    """
    if shown.max() > 10 * shown.min():
        ax.set(**{f"{side}scale": "log"})
        axis = ax.xaxis if side == "x" else ax.yaxis
        axis.set_minor_formatter(NullFormatter())
        if shown.max() < 1000 * shown.min():
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
            axis.set_major_formatter("{x:g}")
