"""Figures of a comparison: one function a panel, each drawing into the Axes it is given, and `plot_comparison` with all
six.

The only module here that draws; it is imported when a figure is asked for, so that nobody else waits for matplotlib.
The catch: a panel is for the eye. Its bands are point by point (the envelope's holds for all lags at once), and the
verdict is the title's.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from solver.drawing import (
    BAND,
    BARS,
    LABEL_LAG,
    LABEL_TAU,
    LABEL_ZETA,
    LARGEST_LOG,
    MEASURED,
    POINTS,
    SOLUTION,
    Array,
    axes_for,
    finished,
    logarithmic,
)
from validation.comparison import Comparison
from validation.comparison_notes import p_value_text
from validation.goodness_of_fit import running_weights

# Points of a drawn curve, the bins of the histogram at most, and what the axes leave beside the sample, in units of its
# range.
CURVE, MOST_BINS, MARGIN = 300, 40, 0.15


def plot_comparison(result: Comparison, *, title: str = "") -> Figure:
    """All six panels; `title` names sample and model, and the Anderson–Darling decision is added to it."""
    figure = Figure(figsize=(15, 8.8), layout="constrained")
    axes = figure.subplots(2, 3)
    panels = (plot_histogram, plot_survival, plot_pit, plot_quantiles, plot_tail, plot_band)
    for panel, ax in zip(panels, axes.ravel(), strict=True):
        panel(result, ax)
    word = "consistent" if result.consistent else "not consistent"
    chance = p_value_text(result.ad.p_value)
    decision = f"{word} at the {100 * result.level:g}% level   (A² = {result.ad.value:.4g}, {chance})"
    figure.suptitle(f"{title}:  {decision}" if title else decision)
    return figure


def plot_histogram(result: Comparison, ax: Axes | None = None) -> Axes:
    """The sample's density of ζ beside ρ."""
    ax = axes_for(ax)
    zeta, weights = result.measured.zeta, result.measured.weights
    where = _range(zeta)
    bins = min(MOST_BINS, max(8, int(2 * np.sqrt(result.effective_size))))
    ax.hist(zeta, bins=bins, weights=weights, label=f"sample, Q = {zeta.size}", **BARS)
    ax.plot(where, result.density.pdf(where), label="density ρ(ζ)", **SOLUTION)
    ax.set(xlabel=LABEL_ZETA, ylabel="density   [per unit ζ]", title="log decay rates")
    return finished(ax)


def plot_survival(result: Comparison, ax: Axes | None = None) -> Axes:
    """P(τ > t) of the sample and of the density, on logarithmic axes."""
    ax = axes_for(ax)
    zeta, share = _sorted(result)
    shown = np.abs(zeta) < LARGEST_LOG
    ax.plot(np.exp(-zeta[shown]), share[shown], label="sample", **POINTS)
    where = _range(zeta[shown])
    log_mass = result.density.logcdf(where)
    visible = log_mass > np.log(share[0]) - 3  # a little below the last point
    ax.plot(np.exp(-where[visible]), np.exp(log_mass[visible]), label="density", **SOLUTION)
    logarithmic(ax, "x", np.exp(-where))
    ax.set(yscale="log", xlabel=LABEL_TAU, ylabel="P(τ > t)   [1]", title="survival of time scales")
    return finished(ax)


def plot_pit(result: Comparison, ax: Axes | None = None) -> Axes:
    """Histogram of u = P(ζ) with the band of one bin."""
    ax, pit = axes_for(ax), result.pit
    ax.stairs(pit.density, pit.edges, fill=True, color="#bbbbbb", label="sample")
    ax.axhspan(pit.low, pit.high, label=f"{_covered(result)} band of one bin", **BAND)
    ax.axhline(1.0, label="density", **SOLUTION)
    ax.set(
        xlabel="u = P(ζ)   [slow τ at 0, fast at 1]",
        ylabel="density of u   [1]",
        title="probability integral transform",
    )
    return finished(ax)


def plot_quantiles(result: Comparison, ax: Axes | None = None) -> Axes:
    """Quantiles of the sample against those of the density, with the band of each."""
    ax, q = axes_for(ax), result.quantiles
    inside = np.isfinite(q.expected) & np.isfinite(q.low) & np.isfinite(q.high)
    ax.fill_between(
        q.expected[inside], q.low[inside], q.high[inside], label=f"{_covered(result)} band of one point", **BAND
    )
    ax.plot(q.expected[inside], q.expected[inside], label="density", **SOLUTION)
    ax.plot(q.expected, q.sample, label="sample", **POINTS)
    ax.set(
        xlabel="quantile of the density, ζ   [log rate]",
        ylabel="quantile of the sample, ζ   [log rate]",
        title="quantiles",
    )
    return finished(ax)


def plot_tail(result: Comparison, ax: Axes | None = None) -> Axes:
    """Hill's exponent above each threshold beside what the density expects there."""
    ax, tail = axes_for(ax), result.tail
    if tail is None:
        ax.text(0.5, 0.5, "too few values for a tail", transform=ax.transAxes, ha="center")
    else:
        tau = np.exp(np.minimum(tail.log_tau, LARGEST_LOG))
        ax.fill_between(tau, tail.expected_low, tail.expected_high, label=f"{_covered(result)} band", **BAND)
        ax.plot(tau, tail.expected, label="expected over τ > t", **SOLUTION)
        ax.plot(tau, tail.local, color="#2e8b57", ls="-.", label="d ln ρ/dζ at ζ = -ln t")
        if np.isfinite(tail.tail_exponent):
            ax.axhline(tail.tail_exponent, color="#c1440e", ls="--", label=f"t → ∞: {tail.tail_exponent:.4g}")
        ax.plot(tau, tail.curve, label="sample (Hill)", **POINTS)
        shown = np.concatenate([tail.expected_high, tail.curve, [tail.tail_exponent]])
        logarithmic(ax, "x", tau)
        ax.set(ylim=(0.0, 1.15 * float(np.max(shown[np.isfinite(shown)], initial=0.1))))
    ax.set(xlabel="threshold t   [time]", ylabel="exponent   [1]", title="slow tail: Hill's exponent over τ > t")
    return finished(ax)


def plot_band(result: Comparison, ax: Axes | None = None) -> Axes:
    """The envelope of the sample with its band beside f."""
    ax, band = axes_for(ax), result.envelope
    if band is None:
        ax.text(0.5, 0.5, "too few values for an envelope", transform=ax.transAxes, ha="center")
    else:
        drawn = np.abs(band.log_lags) < LARGEST_LOG
        lags = np.exp(band.log_lags[drawn])
        low, high, values = (np.exp(part[drawn]) for part in (band.low, band.high, band.log_values))
        ax.fill_between(
            lags, low, high, color="#444444", alpha=0.2, lw=0, label=f"{_covered(result)} band, all lags at once"
        )
        ax.plot(lags, values, ls=":", label="sample, Σ w exp(-ℓ/τ) / Σ w", **MEASURED)
        ax.plot(lags, np.exp(band.expected[drawn]), label="density f(ℓ)", **SOLUTION)
        logarithmic(ax, "x", lags)
        ax.set(yscale="log" if values.max() > 10 * values.min() else "linear")
    ax.set(xlabel=LABEL_LAG, ylabel="envelope f   [1]", title="envelope")
    return finished(ax)


def _sorted(result: Comparison) -> tuple[Array, Array]:
    """ζ in increasing order and the share of weight with τ at least as large (middle of each step)."""
    order = np.argsort(result.measured.zeta)
    share = running_weights(result.measured.weights[order])
    return result.measured.zeta[order], 0.5 * (share[1:] + share[:-1])


def _range(zeta: Array) -> Array:
    low, high = float(zeta.min()), float(zeta.max())
    beside = MARGIN * (high - low) + 0.1
    return np.linspace(low - beside, high + beside, CURVE)


def _covered(result: Comparison) -> str:
    return f"{100 * (1 - result.level):g}%"
