"""One page of a calibration: drift, increments, the spectrum over the run, ρ, p(τ), envelope, exponents, phases.

The only module here that draws. The catch: where nothing was fitted the panels of the model stay empty and say so,
and the title's verdict is the same as the text's.
"""

from __future__ import annotations

import math
import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from solver.drawing import (
    BAND,
    BARS,
    LABEL_LAG,
    LABEL_TAU,
    MEASURED,
    POINTS,
    SOLUTION,
    THEORY,
    Array,
    finished,
    logarithmic,
)
from validation.networks.calibrate import Calibration, verdict
from validation.networks.curves import expected_rate, mean_rates
from validation.networks.describe import all_findings
from validation.networks.likelihood import DRIFT, drift_of, drift_residuals
from validation.networks.noise_law import Noise
from validation.networks.prediction import Prediction
from validation.networks.reading import Run

NOTHING = "no model was fitted"


def plot_calibration(run: Run, found: Calibration, prediction: Prediction | None, *, title: str = "") -> Figure:
    """All eight panels under the verdict."""
    figure = Figure(figsize=(19, 9.6), layout="constrained")
    axes = figure.subplots(2, 4)
    _drift(axes[0, 0], found)
    _increments(axes[0, 1], run, found)
    _course(axes[0, 2], run)
    _density(axes[0, 3], run, prediction)
    _timescales(axes[1, 0], run, prediction)
    _envelope(axes[1, 1], run, prediction)
    _exponents(axes[1, 2], found, prediction)
    _phases(axes[1, 3], found)
    for ax in axes.ravel():
        finished(ax)
    sentence = verdict(all_findings(found, prediction))
    figure.suptitle("\n".join(textwrap.wrap(f"{title}: {sentence}" if title else sentence, 150)))
    return figure


def _drift(ax: Axes, found: Calibration) -> None:
    steps = found.prepared.steps
    seen = mean_rates(steps, found.prepared.block)
    ax.errorbar(seen.zeta, seen.rate, seen.error, label="mean rate in bins ± 1 s.e.", **POINTS)
    ax.step(seen.zeta, seen.falling, where="mid", color="#2e8b57", lw=1, label="falling curve through it")
    ax.axhline(0, color="k", lw=0.6)
    if found.fit is not None and found.draws is not None:
        where = np.linspace(seen.zeta.min() - 0.5 * np.ptp(seen.zeta), seen.zeta.max() + 0.1 * np.ptp(seen.zeta), 120)
        curves = np.array([drift_of(theta)(where) for theta in found.draws.theta])
        low, high = np.quantile(curves, [0.05, 0.95], axis=0)
        ax.fill_between(where, low, high, label="F, 90% band", **BAND)
        drift = drift_of(found.fit.corrected)
        ax.plot(where, drift(where), label="F fitted", **SOLUTION)
        ax.plot(
            where, expected_rate(found.fit, steps.interval, where), label="mean rate expected", color="#c1440e", ls=":"
        )
        ax.axhline(drift.left, label=f"plateau κ = {drift.left:.3g}", **(THEORY | {"lw": 1.0}))
    ax.set(xlabel="ζ   [log rate]", ylabel="drift   [ζ per unit of time]", title="drift")


def _increments(ax: Axes, run: Run, found: Calibration) -> None:
    steps = found.prepared.steps
    if found.fit is None:
        values = steps.y - steps.x
        label = "increments"
    else:
        values = drift_residuals(steps, found.fit.theta[:DRIFT])[0]
        label = "increments, less the drift"
    reach = float(np.quantile(np.abs(values), 0.9995)) * 1.3 + 1e-12
    ax.hist(values, bins=np.linspace(-reach, reach, 81).tolist(), label=label, **BARS)
    if found.fit is not None:
        cells = found.fit.cells
        density = np.exp(cells.log_density(Noise.of(found.fit.theta[DRIFT:]), steps.interval))
        shown = np.abs(cells.centres) < reach
        ax.plot(cells.centres[shown], density[shown], label="fitted law", **SOLUTION)
        ax.set_ylim(bottom=0.3 / (values.size * 2 * reach / 80))
    memory = found.prepared.finest
    ax.set(
        yscale="log",
        xlabel="increment over an interval   [ζ]",
        ylabel="density   [per unit ζ]",
        title=f"increments; correlation at lag one {memory.first:.2f} ± {memory.error:.3f}",
    )


def _course(ax: Axes, run: Run) -> None:
    for share, style in ((0.01, ":"), (0.1, "--"), (0.5, "-"), (0.9, "--"), (0.99, ":")):
        rows = [np.quantile(row[np.isfinite(row)], share) if np.isfinite(row).any() else np.nan for row in run.zeta]
        ax.plot(run.checkpoints, np.exp(-np.array(rows)), style, color="#444444", label=f"{100 * (1 - share):g}%")
    ax.set(xlabel="checkpoint   [its number]", ylabel=LABEL_TAU, title="quantiles of τ over the run")
    logarithmic(ax, "y", np.exp(-run.zeta[np.isfinite(run.zeta)]))


def _bins(values: Array) -> int:
    return int(min(40, max(8, 2 * math.sqrt(values.size))))


def _density(ax: Axes, run: Run, prediction: Prediction | None) -> None:
    last = run.last
    ax.hist(last, bins=_bins(last), label=f"last checkpoint, {last.size} units", **BARS)
    if prediction is not None and prediction.density is not None:
        where = _range(last, prediction)
        ax.plot(where, prediction.density.pdf(where), label="predicted ρ(ζ)", **SOLUTION)
    else:
        _empty(ax, NOTHING if prediction is None else "no stationary spectrum", 0.85)  # below the legend
    ax.set(xlabel="ζ   [log rate]", ylabel="density   [per unit ζ]", title="log rates")


def _timescales(ax: Axes, run: Run, prediction: Prediction | None) -> None:
    tau = np.sort(np.exp(-run.last))
    edges, shown = np.geomspace(tau[0] * 0.999, tau[-1] * 1.001, _bins(tau) + 1), tau
    ax.hist(tau, bins=edges.tolist(), label="last checkpoint", **BARS)
    if prediction is not None and prediction.density is not None:
        shown = where = np.exp(-_range(run.last, prediction))
        ax.plot(where, prediction.density.timescales().pdf(where), label="predicted p(τ)", **SOLUTION)
        ax.set_ylim(bottom=0.1 / (tau.size * np.ptp(tau) + 1e-300))
    ax.set(yscale="log", xlabel=LABEL_TAU, ylabel="p(τ)   [1/time]", title="time scales")
    logarithmic(ax, "x", shown)


def _envelope(ax: Axes, run: Run, prediction: Prediction | None) -> None:
    low, high = (float(np.quantile(-run.last, q)) for q in (0.02, 0.98))
    logs = np.linspace(low - 1.5, high + 1.0, 120)
    if prediction is not None and prediction.density is not None and prediction.comparison is not None:
        band = prediction.comparison.envelope
        if band is not None:
            ax.fill_between(
                np.exp(band.log_lags),
                np.exp(band.low),
                np.exp(band.high),
                color="#444444",
                alpha=0.2,
                lw=0,
                label="95% band of the measured one",
            )
        ax.plot(
            np.exp(logs),
            np.exp(prediction.density.envelope(log_lags=logs).log_values),
            label="predicted f(ℓ)",
            **SOLUTION,
        )
    from solver.samples import Samples

    values = Samples.from_values(run.last, "zeta").log_envelope(logs)
    ax.plot(np.exp(logs), np.exp(values), ls=":", label="last checkpoint", **MEASURED)
    logarithmic(ax, "x", np.exp(logs))
    ax.set(yscale="log", ylim=(1e-3, 1.5), xlabel=LABEL_LAG, ylabel="envelope f   [1]", title="envelope")


def _exponents(ax: Axes, found: Calibration, prediction: Prediction | None) -> None:
    rows: list[tuple[str, float, float, float]] = []
    band = found.intervals.get("tail_exponent")
    if band is not None and prediction is not None and prediction.density is not None:
        name = "β, closed form" if math.isfinite(found.exponent) else "λ (no root), closed form"
        middle = (
            found.exponent if math.isfinite(found.exponent) else float(np.nanmedian(found.columns["tail_exponent"]))
        )
        rows.append((name, middle, band.low, band.high))
        rows.append(("decay of the solved ρ", prediction.density.tail_exponent, math.nan, math.nan))
        tail = None if prediction.comparison is None else prediction.comparison.tail
        if tail is not None:
            rows.append(("expected over the tail", tail.hill.expected, math.nan, math.nan))
            rows.append(("measured there (Hill)", tail.hill.exponent, tail.hill.low, tail.hill.high))
        if prediction.predicted_window is not None and prediction.measured_window is not None:
            rows.append(("ln f window, predicted", prediction.predicted_window.exponent, math.nan, math.nan))
            rows.append(("ln f window, measured", prediction.measured_window.exponent, math.nan, math.nan))
    for place, (_, value, low, high) in enumerate(rows):
        if math.isfinite(low) and math.isfinite(high):
            ax.plot([low, high], [place, place], color="#1f4e79", lw=3, alpha=0.4)
        ax.plot([value], [place], **(POINTS | {"ms": 6}))
    ax.set_yticks(range(len(rows)), [name for name, *_ in rows])
    ax.invert_yaxis()
    if not rows:
        _empty(ax, NOTHING)
    ax.set(xlabel="exponent   [1]", title="exponents (bar: 90%, and 95% for the tail)")


def _phases(ax: Axes, found: Calibration) -> None:
    names, shares = list(found.phases), list(found.phases.values())
    if not names:
        _empty(ax, NOTHING)
        ax.set_xticks([])
    ax.bar(names, shares, color="#1f4e79", alpha=0.6)
    ax.set(ylim=(0, 1), ylabel="share of the draws   [1]", title="phase")


def _range(last: Array, prediction: Prediction) -> Array:
    assert prediction.density is not None
    low, high = prediction.density.ppf([0.001, 0.999])
    span = float(np.ptp(last)) + 0.2
    # a prediction far wider than the data must not squeeze them into a line
    ends = (
        max(min(low, last.min()) - 0.1, last.min() - 2 * span),
        min(max(high, last.max()) + 0.1, last.max() + 2 * span),
    )
    return np.linspace(*ends, 400)


def _empty(ax: Axes, words: str, height: float = 0.95) -> None:
    ax.text(
        0.5, height, words, transform=ax.transAxes, ha="center", va="top", color="#c1440e", bbox={"fc": "w", "lw": 0}
    )
