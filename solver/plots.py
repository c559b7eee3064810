"""Figures: one function a panel, each drawing into the Axes it is given, and `plot_solution` with all four.

The only module that imports matplotlib, and only its object interface: no global state, no window, no
backend. The catch: densities here span hundreds of decades. Panels show what lies within VISIBLE_DECADES
of the peak, and everything is computed in logarithms before it is drawn, so that no value overflows on
the way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

if TYPE_CHECKING:
    from solver.closed_form import ClosedForm
    from solver.density import StationaryDensity
    from solver.samples import Samples

Array = NDArray[np.float64]

# Fewer hide the tail, more squeeze the bulk into a corner; float64 plots itself without trouble to 300.
VISIBLE_DECADES = 14
# Points of a drawn curve: smooth at any printed size.
POINTS = 400

COLOURS = {"solution": "#1f4e79", "theory": "#c1440e", "samples": "#555555", "envelope": "#2e7d5b"}
LABEL_ZETA = "log decay rate ζ = ln(rate)   [rate in 1/time]"
LABEL_TAU = "time scale τ   [time]"
LABEL_LAG = "lag ℓ   [time]"


def visible_zeta(density: StationaryDensity) -> Array:
    """POINTS values of ζ across the part of the grid where ρ is within VISIBLE_DECADES of its peak."""
    near = density.log_density > density.log_density.max() - VISIBLE_DECADES * math.log(10)
    zeta = density.zeta[near]
    return np.linspace(zeta[0], zeta[-1], POINTS)


def plot_density(
    density: StationaryDensity,
    ax: Axes | None = None,
    *,
    theory: ClosedForm | None = None,
    samples: Samples | None = None,
) -> Axes:
    """ρ(ζ) on a logarithmic axis, with the slope of the closed form and a measured histogram if given."""
    ax = _axes(ax)
    zeta = visible_zeta(density)
    ax.plot(zeta, density.pdf(zeta), color=COLOURS["solution"], label="solution ρ(ζ)")
    if theory is not None:
        deep, log_tail = _tail(density, theory, zeta)
        ax.plot(
            deep,
            np.exp(log_tail),
            "--",
            color=COLOURS["theory"],
            label=f"closed form: {tail_label(theory, 'zeta')}",
        )
    if samples is not None:
        _histogram(ax, samples, in_tau=False)
    ax.set(yscale="log", xlabel=LABEL_ZETA, ylabel="density ρ   [per unit ζ]", title="log decay rates")
    return _finished(ax)


def plot_timescales(
    density: StationaryDensity,
    ax: Axes | None = None,
    *,
    theory: ClosedForm | None = None,
    samples: Samples | None = None,
) -> Axes:
    """p(τ) = ρ(-ln τ)/τ on logarithmic axes."""
    ax = _axes(ax)
    zeta = visible_zeta(density)
    tau = np.exp(-zeta)
    ax.plot(tau, np.exp(density.logpdf(zeta) + zeta), color=COLOURS["solution"], label="solution p(τ)")
    if theory is not None:
        deep, log_tail = _tail(density, theory, zeta)
        label = f"closed form: {tail_label(theory, 'tau')}"
        ax.plot(np.exp(-deep), np.exp(log_tail + deep), "--", color=COLOURS["theory"], label=label)
    if samples is not None:
        _histogram(ax, samples, in_tau=True)
    ax.set(xscale="log", yscale="log", xlabel=LABEL_TAU, ylabel="density p   [1/time]", title="time scales")
    return _finished(ax)


def plot_envelope(
    density: StationaryDensity,
    ax: Axes | None = None,
    *,
    theory: ClosedForm | None = None,
    samples: Samples | None = None,
) -> Axes:
    """f(ℓ) on logarithmic axes, and the empirical envelope (1/Q) Σ exp(-ℓ/τ_q) of measured time scales."""
    ax = _axes(ax)
    zeta = visible_zeta(density)
    log_lags = -zeta[::-1]
    envelope = density.envelope(log_lags=log_lags)
    ax.plot(np.exp(log_lags), np.exp(envelope.log_values), color=COLOURS["solution"], label="solution f(ℓ)")
    if theory is not None:
        deep, log_tail = _tail(density, theory, zeta)
        anchor = float(np.interp(-deep[0], log_lags, envelope.log_values))
        label = f"closed form: {tail_label(theory, 'lag')}"
        ax.plot(
            np.exp(-deep), np.exp(log_tail - log_tail[0] + anchor), "--", color=COLOURS["theory"], label=label
        )
    bottom = float(np.exp(envelope.log_values.min()))
    if samples is not None:
        measured = np.exp(samples.log_envelope(log_lags))
        ax.plot(
            np.exp(log_lags),
            measured,
            ":",
            color=COLOURS["samples"],
            lw=2,
            label=f"measured, Q = {samples.zeta.size}",
        )
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=LABEL_LAG,
        ylabel="envelope f   [1]",
        title="envelope",
        ylim=(bottom, 2.0),
    )
    return _finished(ax)


def plot_local_exponents(
    density: StationaryDensity, ax: Axes | None = None, *, theory: ClosedForm | None = None
) -> Axes:
    """d ln ρ/dζ at depth -ζ and -d ln f/d ln ℓ at depth ln ℓ, with the closed form's exponent as a level."""
    ax = _axes(ax)
    zeta = visible_zeta(density)
    depth = -zeta[::-1]
    ax.plot(
        depth, density.local_exponent(-depth), color=COLOURS["solution"], label="d ln ρ / dζ  at ζ = -depth"
    )
    envelope = density.envelope(log_lags=depth)
    ax.plot(
        depth, envelope.local_exponent, color=COLOURS["envelope"], label="-d ln f / d ln ℓ  at ln ℓ = depth"
    )
    if theory is not None and math.isfinite(theory.tail.exponent):
        label = f"closed form: {exponent_label(theory)}"
        ax.axhline(theory.tail.exponent, ls="--", color=COLOURS["theory"], label=label)
        # right of the peak the slope is negative and may be steep: the panel is about the approach to the
        # level
        ax.set_ylim(-0.25 * theory.tail.exponent, 2.0 * theory.tail.exponent)
    ax.set(
        xlabel="depth   [ln of time: -ζ = ln τ, or ln ℓ]",
        ylabel="local exponent   [1]",
        title="local exponents",
    )
    return _finished(ax)


def plot_solution(
    density: StationaryDensity, theory: ClosedForm, *, title: str = "", samples: Samples | None = None
) -> Figure:
    """The four panels: ρ(ζ), p(τ), f(ℓ) and the local exponents against depth."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    plot_density(density, axes[0, 0], theory=theory, samples=samples)
    plot_timescales(density, axes[0, 1], theory=theory, samples=samples)
    plot_envelope(density, axes[1, 0], theory=theory, samples=samples)
    plot_local_exponents(density, axes[1, 1], theory=theory)
    figure.suptitle(f"{title + ':  ' if title else ''}{exponent_label(theory)}   ({theory.phase} phase)")
    return figure


def exponent_label(theory: ClosedForm) -> str:
    """β and its value, or that there is no root and the tempering takes its place."""
    if theory.has_root:
        return f"β = {theory.exponent:.4g}"
    return f"no root, tail pinned at λ = {theory.tail.exponent:.4g}"


def tail_label(theory: ClosedForm, variable: str) -> str:
    """The tail law of ρ, p or f ('zeta', 'tau' or 'lag') in words for a legend; constants are left out."""
    symbol = "β" if theory.has_root else "λ"
    power, logs = theory.tail.power, {"zeta": "|ζ|", "tau": "(ln τ)", "lag": "(ln ℓ)"}[variable]
    head = {"zeta": f"e^({symbol}ζ)", "tau": f"τ^(-1-{symbol})", "lag": f"ℓ^(-{symbol})"}[variable]
    return head if power == 0 else f"{head} {logs}^({power:.3g})"


def _tail(density: StationaryDensity, theory: ClosedForm, zeta: Array) -> tuple[Array, Array]:
    """The deep half of the visible tail and ln of the closed form's law, through the solution at its end."""
    peak = float(density.zeta[np.argmax(density.log_density)])
    deep = zeta[zeta < 0.5 * (zeta[0] + peak)]
    law = theory.tail.exponent * deep
    if theory.tail.power != 0:
        law = law + theory.tail.power * np.log(np.abs(deep))
    return deep, law - law[0] + float(density.logpdf(deep[0]))


def _histogram(ax: Axes, samples: Samples, in_tau: bool) -> None:
    """Measured density with counts-based error bars; in τ it is divided by τ, as in p = ρ/τ."""
    hist = samples.histogram()
    seen = hist.counts > 0
    zeta = hist.centres[seen]
    rate = np.exp(zeta) if in_tau else np.ones_like(zeta)
    where = np.exp(-zeta) if in_tau else zeta
    value, low, high = (rate * part[seen] for part in (hist.density, hist.low, hist.high))
    label = f"measured, Q = {samples.zeta.size}"
    style = {"fmt": "o", "ms": 3.5, "lw": 1, "capsize": 2, "color": COLOURS["samples"]}
    ax.errorbar(where, value, yerr=(value - low, high - value), label=label, **style)


def _axes(ax: Axes | None) -> Axes:
    return Figure(figsize=(5.5, 4), layout="constrained").subplots() if ax is None else ax


def _finished(ax: Axes) -> Axes:
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8)
    return ax
