"""Figures of a solution: one function a panel, and `plot_solution` with all four.

The catch: densities here span hundreds of decades. Panels show what lies within VISIBLE_DECADES
of the peak, and everything is computed in logarithms before it is drawn.
"""

from __future__ import annotations

import math
import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from solver.closed_form import ClosedForm
from solver.density import StationaryDensity
from solver.drawing import (
    ENVELOPE,
    LABEL_DEPTH,
    LABEL_LAG,
    LABEL_TAU,
    LABEL_ZETA,
    LARGEST_LOG,
    MEASURED,
    SOLUTION,
    THEORY,
    Array,
    axes_for,
    finished,
)
from solver.samples import Samples
from solver.tail_words import law_in_words, power_of_depth

# Fewer decades hide the tail, more squeeze the bulk into a corner.
VISIBLE_DECADES = 14
# With measurements: Q = 1e3 of them say something about three decades, and a margin shows where the curve
# goes.
COMPARED_DECADES = 6
# Thirteen decades of τ show any power law; more only squeeze the bulk.
DEEPEST = 13 * math.log(10)
# Points of a drawn curve: smooth at any printed size.
POINTS = 400
# A depth of e is where ln ln of it begins to mean something; nearer than that no tail law does.
NEAREST_TAIL = math.e
# The local exponents are drawn from this far right of the peak on: the envelope's begins to rise about
# there.
SHALLOWEST = 5.0

# Characters of a model's name above the panels, beside up to 70 of exponent and phase.
LONGEST_NAME = 60


def plot_density(
    density: StationaryDensity,
    ax: Axes | None = None,
    *,
    theory: ClosedForm | None = None,
    samples: Samples | None = None,
) -> Axes:
    """ρ(ζ) on a logarithmic axis; with `theory` the tail law's slope, with `samples` a measured histogram."""
    ax = axes_for(ax)
    zeta = visible_zeta(density, samples)
    ax.plot(zeta, density.pdf(zeta), label="solution ρ(ζ)", **SOLUTION)
    if theory is not None:
        deep, law = _tail(density, theory, zeta, "zeta")
        _draw_law(ax, theory, "zeta", deep, law + density.logpdf(deep[:1]))
    if samples is not None:
        _draw_histogram(ax, samples, in_tau=False)
    ax.set(yscale="log", xlabel=LABEL_ZETA, ylabel="density ρ   [per unit ζ]", title="log decay rates")
    return finished(ax)


def plot_timescales(
    density: StationaryDensity,
    ax: Axes | None = None,
    *,
    theory: ClosedForm | None = None,
    samples: Samples | None = None,
) -> Axes:
    """p(τ) = ρ(-ln τ)/τ on logarithmic axes; `theory` and `samples` as in plot_density."""
    ax = axes_for(ax)
    zeta = _drawable(ax, visible_zeta(density, samples))
    ax.plot(np.exp(-zeta), np.exp(density.logpdf(zeta) + zeta), label="solution p(τ)", **SOLUTION)
    if theory is not None and zeta.size:
        deep, law = _tail(density, theory, zeta, "tau")
        _draw_law(ax, theory, "tau", np.exp(-deep), law + density.logpdf(deep[:1]) + deep)
    if samples is not None:
        _draw_histogram(ax, samples, in_tau=True)
    ax.set(xlabel=LABEL_TAU, ylabel="density p   [1/time]", title="time scales")
    return finished(ax)


def plot_envelope(
    density: StationaryDensity,
    ax: Axes | None = None,
    *,
    theory: ClosedForm | None = None,
    samples: Samples | None = None,
) -> Axes:
    """f(ℓ) on logarithmic axes; with `samples` the empirical (1/Q) Σ exp(-ℓ/τ_q)."""
    ax = axes_for(ax)
    zeta = _drawable(ax, visible_zeta(density, samples))
    log_lags = -zeta[::-1]
    log_values = density.envelope(log_lags=log_lags).log_values
    ax.plot(np.exp(log_lags), np.exp(log_values), label="solution f(ℓ)", **SOLUTION)
    if theory is not None and zeta.size:
        deep, law = _tail(density, theory, zeta, "lag")
        _draw_law(ax, theory, "lag", np.exp(-deep), law + log_values[-1])
    if samples is not None:
        label = f"measured, (1/Q) Σ exp(-ℓ/τ), Q = {samples.zeta.size}"
        ax.plot(np.exp(log_lags), np.exp(samples.log_envelope(log_lags)), ls=":", label=label, **MEASURED)
    ax.set(xlabel=LABEL_LAG, ylabel="envelope f   [1]", title="envelope")
    # a measured envelope ends in a plain exponential that would stretch the axis without end
    if zeta.size:
        ax.set_ylim(0.5 * math.exp(log_values[-1]), 2.0)
    return finished(ax)


def plot_local_exponents(
    density: StationaryDensity, ax: Axes | None = None, *, theory: ClosedForm | None = None
) -> Axes:
    """d ln ρ/dζ at depth -ζ and -d ln f/d ln ℓ at depth ln ℓ, with the closed form's exponent as a level."""
    ax = axes_for(ax)
    depth = -visible_zeta(density)[::-1]
    depth = depth[depth > -_peak(density) - SHALLOWEST]
    ax.plot(depth, density.local_exponent(-depth), label="d ln ρ / dζ at ζ = -depth", **SOLUTION)
    local = density.envelope(log_lags=depth).local_exponent
    ax.plot(depth, local, label="-d ln f / d ln ℓ at ln ℓ = depth", **ENVELOPE)
    if theory is not None and 0 < theory.tail.exponent < math.inf:
        level = theory.tail.exponent
        ax.axhline(level, label=f"closed form: {exponent_label(theory)}", **THEORY)
        # right of the peak the slope is steep and negative: the panel is about the approach to the level
        ax.set_ylim(-0.25 * level, 2.0 * level)
    ax.set(xlabel=LABEL_DEPTH, ylabel="local exponent   [1]", title="local exponents")
    return finished(ax)


def plot_solution(
    density: StationaryDensity, theory: ClosedForm, *, title: str = "", samples: Samples | None = None
) -> Figure:
    """The four panels together: ρ(ζ), p(τ), f(ℓ) and the local exponents against depth.

    `title` names the model; β and the phase are added to it. Save the figure with `.savefig(path)`.
    """
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    axes = figure.subplots(2, 2)
    plot_density(density, axes[0, 0], theory=theory, samples=samples)
    plot_timescales(density, axes[0, 1], theory=theory, samples=samples)
    plot_envelope(density, axes[1, 0], theory=theory, samples=samples)
    plot_local_exponents(density, axes[1, 1], theory=theory)
    # a dollar sign would begin a formula, and a long file name would run off the page
    name = textwrap.shorten(title, LONGEST_NAME, placeholder="…") if " " in title else title[:LONGEST_NAME]
    name = name.replace("$", r"\$") + (":  " if title else "")
    figure.suptitle(f"{name}{exponent_label(theory)}   ({theory.phase} phase)")
    return figure


def exponent_label(theory: ClosedForm) -> str:
    """β and its value, or what takes its place where there is no root."""
    if theory.has_root:
        return f"β = {theory.exponent:.4g}"
    if 0 < theory.tail.exponent < math.inf:
        return f"no root, tail pinned at λ = {theory.tail.exponent:.4g}"
    return f"no root, {theory.tail.meaning}"


def visible_zeta(density: StationaryDensity, samples: Samples | None = None) -> Array:
    """POINTS values of ζ over which ρ is within VISIBLE_DECADES (with samples COMPARED_DECADES) of its peak.

    Beyond an open edge the density goes on, and so does the range, but no further than DEEPEST from the peak.
    """
    decades = VISIBLE_DECADES if samples is None else COMPARED_DECADES
    floor = density.log_density.max() - decades * math.log(10)
    near = density.zeta[density.log_density > floor]
    left, right, peak = float(near[0]), float(near[-1]), _peak(density)
    if left == density.grid.left and density.tail_exponent > 0:
        left = max(left - (density.log_density[0] - floor) / density.tail_exponent, min(left, peak - DEEPEST))
    if right == density.grid.right and density.right_tail_exponent > 0:
        further = (density.log_density[-1] - floor) / density.right_tail_exponent
        right = min(right + further, max(right, peak + DEEPEST))
    return np.linspace(left, right, POINTS)


def _tail(density: StationaryDensity, theory: ClosedForm, zeta: Array, variable: str) -> tuple[Array, Array]:
    """The deep half of the visible tail, and ln of the closed form's law less its value at the deep end.

    Empty where the closed form has no law. The depth is counted from the peak of ρ: asymptotically the
    same, and sensible for a density that does not sit at ζ = 0.
    """
    tail, peak = theory.tail, _peak(density)
    wanted = (zeta < 0.5 * (zeta[0] + peak)) & (zeta < peak - NEAREST_TAIL)
    deep = zeta[wanted & math.isfinite(tail.exponent)]
    depth = peak - deep
    law = power_of_depth(tail, variable) * np.log(depth) + tail.log_power * np.log(np.log(depth))
    if deep.size:
        law -= tail.exponent * depth
    if tail.over_drift:
        law -= np.log(np.abs(density.model.drift(deep)))
    return deep, law - law[:1]


def _peak(density: StationaryDensity) -> float:
    return float(density.zeta[np.argmax(density.log_density)])


def _drawable(ax: Axes, zeta: Array) -> Array:
    """The part of ζ whose time scales e^{-ζ} an axis can hold, and logarithmic axes; says so where that is not all."""
    inside = np.abs(zeta) < LARGEST_LOG
    if not inside.all():
        note = f"|ln τ| > {LARGEST_LOG:g} is beyond what can be drawn"
        ax.text(0.5, 0.02, note, transform=ax.transAxes, ha="center", fontsize="small")
    if inside.any():  # an empty logarithmic axis has no ticks and raises
        ax.set(xscale="log", yscale="log")
    return zeta[inside]


def _draw_law(ax: Axes, theory: ClosedForm, variable: str, where: Array, log_values: Array) -> None:
    if where.size:
        ax.plot(where, np.exp(log_values), label=f"closed form ∝ {law_in_words(theory.tail, variable)}", **THEORY)


def _draw_histogram(ax: Axes, samples: Samples, in_tau: bool) -> None:
    """Measured density with counts-based error bars; in τ it is divided by τ, as in p = ρ/τ."""
    hist = samples.histogram()
    full = hist.counts > 0
    zeta = hist.centres[full]
    where, rate = (np.exp(-zeta), np.exp(zeta)) if in_tau else (zeta, np.ones_like(zeta))
    value, low, high = (rate * part[full] for part in (hist.density, hist.low, hist.high))
    label = f"measured, Q = {samples.zeta.size}, 68% bars"
    ax.errorbar(where, value, (value - low, high - value), fmt="o", ms=3.5, capsize=2, label=label, **MEASURED)
