"""The figure of a tail: how its local exponent settles, how well the law fits, the envelope, and what lags cost.

Depth runs over many decades, so that all axes of depth are logarithmic: an algebraic approach is a straight line there.
The catch: left of the depth where the law holds the curves say nothing about it; a dotted line marks the place.
"""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from solver.drawing import axes_for
from solver.tail_study import TailStudy

_SIZE = (9.6, 7.2)
# Decades of samples that the horizon is drawn for.
_MOST = 20.0


def plot_tails(study: TailStudy, *, title: str = "") -> Figure:
    """Four panels: approach of the local exponent, distance from the law, envelope, learning cost."""
    with matplotlib.rc_context({"font.size": 9.0, "axes.grid": True, "grid.alpha": 0.3, "legend.fontsize": 8.0}):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots(2, 2)
        plot_approach(study, axes[0, 0])
        plot_difference(study, axes[0, 1])
        plot_envelope_exponent(study, axes[1, 0])
        plot_horizon(study, axes[1, 1])
        figure.suptitle(title)
    return figure


def plot_approach(study: TailStudy, ax: Axes | None = None) -> Axes:
    """|d ln ρ/ds + exponent| against depth, both logarithmic, beside what the law's power of the depth makes of it."""
    ax = axes_for(ax)
    away = np.abs(study.local_exponent - study.law.exponent)
    ax.loglog(study.depths, away, label="solution")
    if study.law.power:
        power = abs(study.law.power)
        ax.loglog(study.depths, power / study.depths, "k--", lw=1, label=f"law: {power:.3g}/s")
    _mark(study, ax)
    ax.set(xlabel="depth s = |ζ| = ln τ", ylabel=f"|local exponent - {study.law.exponent:.6g}|   [1]")
    ax.set_title("approach of the local exponent")
    ax.legend()
    return ax


def plot_difference(study: TailStudy, ax: Axes | None = None) -> Axes:
    """|ln ρ - ln law| against depth, beside the estimated error of ln ρ."""
    ax = axes_for(ax)
    ax.loglog(study.depths, np.abs(study.difference), label="|ln ρ - law|")
    ax.loglog(study.depths, study.log_error, "k:", lw=1, label="error estimate of ln ρ")
    _mark(study, ax)
    ax.set(xlabel="depth s = |ζ|", ylabel="|difference of ln ρ|   [1]")
    ax.set_title("distance from the fitted law")
    ax.legend()
    return ax


def plot_envelope_exponent(study: TailStudy, ax: Axes | None = None) -> Axes:
    """Local exponent of f against ln ℓ: infinitely many neurons, a finite network, the window of the fit."""
    ax = axes_for(ax)
    late = study.log_lags > 0
    top = 1.5 * max(study.law.exponent, float(np.max(study.envelope_exponent[late])))
    ax.semilogx(study.log_lags[late], study.envelope_exponent[late], label="infinitely many neurons")
    network = study.network
    slope = -np.gradient(network.log_values, network.log_lags)
    shown = (network.log_lags > 0) & (network.log_lags < network.log_tau_max)
    ax.semilogx(network.log_lags[shown], slope[shown], "C1", lw=1, label=f"network of {network.neurons}, typical")
    ax.axhline(study.law.exponent, color="k", ls="--", lw=1, label=f"exponent {study.law.exponent:.6g}")
    ax.axhline(study.fit.exponent, color="C2", ls=":", lw=1, label=f"fitted in the window: {study.fit.exponent:.4g}")
    if study.fit.high > 1:
        ax.axvspan(max(np.log(study.fit.low), 1e-2), np.log(study.fit.high), color="C2", alpha=0.15, label="window")
    ax.set(xlabel="ln ℓ   [ℓ in time]", ylabel="local exponent -d ln f / d ln ℓ   [1]", ylim=(0, top))
    ax.set_title("envelope")
    ax.legend()
    return ax


def plot_horizon(study: TailStudy, ax: Axes | None = None) -> Axes:
    """The horizon: the lag that a number of samples reaches, in decades up to as many samples as anybody has."""
    ax = axes_for(ax)
    decades = study.log_samples / np.log(10)
    shown = (study.log_lags > 0) & (decades < _MOST)
    ax.plot(decades[shown], study.log_lags[shown] / np.log(10), label=f"noise index {study.noise_index:g}")
    ax.set(xlabel="log₁₀ of the samples N", ylabel="log₁₀ of the horizon ℓ   [ℓ in time]")
    ax.set_title("what samples reach")
    ax.legend(loc="lower right", title=str(study.growth))
    return ax


def _mark(study: TailStudy, ax: Axes) -> None:
    if np.isfinite(study.law.holds_from) and study.law.holds_from > 0:
        words = f"law within {100 * study.law.within:g}% from here"
        ax.axvline(study.law.holds_from, color="0.5", ls=":", lw=1, label=words)
