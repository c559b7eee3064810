"""Figures: every panel is labelled, draws what it says, and leaves no global state."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from conftest import ROOT
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from solver.closed_form import closed_form
from solver.drifts import LinearDrift, TanhDrift
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.plots import (
    plot_density,
    plot_envelope,
    plot_local_exponents,
    plot_solution,
    plot_timescales,
    visible_zeta,
)
from solver.samples import read_samples
from solver.stationary import solve_stationary

PANELS: list[Callable[..., Axes]] = [plot_density, plot_timescales, plot_envelope, plot_local_exponents]


def lines(ax: Axes) -> dict[str, Any]:
    """Legend label -> line."""
    return {str(line.get_label()): line for line in ax.get_lines()}


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_is_labelled(panel: Callable[..., Axes], baseline_density: Any) -> None:
    ax = panel(baseline_density, theory=closed_form(baseline_density.model))
    assert "[" in ax.get_xlabel() and "[" in ax.get_ylabel(), "axes name their unit"
    assert ax.get_title()
    legend = ax.get_legend()
    assert legend is not None
    assert any("closed form" in text.get_text() for text in legend.get_texts())
    for line in ax.get_lines():
        x, y = (np.asarray(values, dtype=float) for values in line.get_data())
        assert np.isfinite(x).all() and np.isfinite(y).all()


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_draws_into_the_axes_it_is_given(panel: Callable[..., Axes], baseline_density: Any) -> None:
    ax = Figure().subplots()
    assert panel(baseline_density, ax) is ax
    assert not any("closed form" in label for label in lines(ax))


def test_curves_are_the_solution(baseline_density: Any) -> None:
    zeta, rho = lines(plot_density(baseline_density))["solution ρ(ζ)"].get_data()
    assert rho == pytest.approx(baseline_density.pdf(zeta), rel=1e-14)
    tau, p = lines(plot_timescales(baseline_density))["solution p(τ)"].get_data()
    assert p == pytest.approx(baseline_density.timescales().pdf(tau), rel=1e-11)  # rounding of ln(e^x)
    lag, f = lines(plot_envelope(baseline_density))["solution f(ℓ)"].get_data()
    assert f == pytest.approx(baseline_density.envelope(lags=lag).values, rel=1e-11)


def slope(line: Any) -> float:
    """d ln y / d ln x of a drawn line on logarithmic axes, between its ends."""
    x, y = (np.log(np.asarray(values)) for values in line.get_data())
    return float((y[-1] - y[0]) / (x[-1] - x[0]))


def test_tail_laws_have_the_slope_of_the_closed_form(baseline_density: Any) -> None:
    theory = closed_form(baseline_density.model)
    drawn = lines(plot_timescales(baseline_density, theory=theory))["closed form ∝ τ^-2.267"]
    assert slope(drawn) == pytest.approx(-1 - theory.exponent, rel=1e-12)
    drawn = lines(plot_envelope(baseline_density, theory=theory))["closed form ∝ ℓ^-1.267"]
    assert slope(drawn) == pytest.approx(-theory.exponent, rel=1e-12)
    zeta, rho = lines(plot_density(baseline_density, theory=theory))["closed form ∝ e^(1.267 ζ)"].get_data()
    # the law passes through the solution at its deep end and stays on it along the whole drawn tail
    assert rho == pytest.approx(baseline_density.pdf(zeta), rel=1e-3)


def test_below_the_threshold_the_pinned_law_is_drawn(below_density: Any) -> None:
    theory = closed_form(below_density.model)
    drawn = lines(plot_timescales(below_density, theory=theory))
    assert "closed form ∝ τ^-2 (ln τ)^-1.5" in drawn
    tau, p = drawn["closed form ∝ τ^-2 (ln τ)^-1.5"].get_data()
    ratio = p / below_density.timescales().pdf(tau)
    # corrections run in |ζ|^-α with α = 0.5: tens of percent at these depths, and a pure power law would
    # miss by more
    assert ratio[0] == pytest.approx(1.0, rel=1e-10) or ratio[-1] == pytest.approx(1.0, rel=1e-10)
    assert np.all(np.abs(np.log(ratio)) < 0.7)
    title = plot_solution(below_density, theory, title="below").get_suptitle()
    assert "no root" in title and "collapsed" in title


def test_a_drift_without_bound_is_drawn_to_its_stop_edges() -> None:
    model = Model(LinearDrift(1.0, -2.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    density = solve_stationary(model, rtol=1e-4)
    theory = closed_form(model)
    title = plot_solution(density, theory).get_suptitle()
    assert "no root" in title and "λ = 2.2" in title and "confined" in title
    zeta = visible_zeta(density)
    assert density.grid.left <= zeta[0] and zeta[-1] <= density.grid.right
    gauss = Model(LinearDrift(1.0, 0.0), 0.5)  # no law at all: faster than any exponential
    labels = lines(plot_density(solve_stationary(gauss, rtol=1e-4), theory=closed_form(gauss)))
    assert not any("closed form" in label for label in labels)


def test_measured_spectrum_is_overlaid(baseline_density: Any) -> None:
    samples = read_samples(ROOT / "tests" / "data" / "diag_0240_taus.npy")
    hist = samples.histogram()
    for panel, factor in ((plot_density, 1.0), (plot_timescales, np.exp(hist.centres))):
        ax = panel(baseline_density, samples=samples)
        bars = next(box for box in ax.containers if str(box.get_label()).startswith("measured, Q = 128"))
        assert bars[0].get_ydata() == pytest.approx((hist.density * factor)[hist.counts > 0], rel=1e-14)
    ax = plot_envelope(baseline_density, samples=samples)
    measured = next(line for label, line in lines(ax).items() if label.startswith("measured"))
    lag, f = measured.get_data()
    tau = np.exp(-samples.zeta)
    expected = np.exp(-np.asarray(lag)[:, None] / tau).mean(axis=1)
    assert f == pytest.approx(expected, rel=1e-11, abs=1e-300)


def test_only_visible_decades_are_drawn(baseline_density: Any) -> None:
    inside = baseline_density.logpdf(visible_zeta(baseline_density))
    assert inside.min() > inside.max() - 14.1 * np.log(10)


def test_the_figure_has_four_panels_and_a_title(baseline_density: Any, tmp_path: Path) -> None:
    figure = plot_solution(baseline_density, closed_form(baseline_density.model), title="baseline")
    assert len(figure.axes) == 4
    assert "baseline" in figure.get_suptitle() and "β = 1.267" in figure.get_suptitle()
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_a_title_is_text_and_fits(baseline_density: Any, tmp_path: Path) -> None:
    theory = closed_form(baseline_density.model)
    for name in (r"a$\frac$b.toml", "x" * 200, "many words " * 30, ""):
        figure = plot_solution(baseline_density, theory, title=name)
        figure.savefig(tmp_path / "figure.png")
        title = figure.texts[0] if figure.texts else figure._suptitle  # type: ignore[attr-defined]
        assert title.get_window_extent().width < figure.bbox.width


def test_no_global_state_is_touched(baseline_density: Any) -> None:
    before = dict(mpl.rcParams)
    plot_solution(baseline_density, closed_form(baseline_density.model))
    assert dict(mpl.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_time_scales_that_no_axis_can_hold_are_said_and_not_drawn(tmp_path: Path) -> None:
    model = Model(TanhDrift(1.0, 700.0, 1.0), 0.3)
    figure = plot_solution(solve_stationary(model), closed_form(model))
    figure.savefig(tmp_path / "far.png")
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert sum("beyond what can be drawn" in text for text in texts) == 2


def test_a_body_far_narrower_than_the_drift_is_solved() -> None:
    narrow = solve_stationary(Model(TanhDrift(1.0), 1e-3), rtol=1e-6)
    assert narrow.std() == pytest.approx(np.sqrt(1e-3), rel=1e-3)


MODULES = ("solver.plots", "solver.plot_phases", "solver.plot_tails", "validation.comparison_plot")
MODULES += ("validation.networks.figure",)


@pytest.mark.parametrize("module", MODULES)
def test_every_figure_is_drawn_in_one_way(module: str) -> None:
    """A panel is plot_…(result, ax=None, *, …) and returns the Axes; a page is plot_…(result…, *, title) -> Figure."""
    found = {name: value for name, value in vars(importlib.import_module(module)).items() if name.startswith("plot_")}
    assert found
    for name, function in found.items():
        first, *rest = inspect.signature(function).parameters.values()
        assert first.default is inspect.Parameter.empty, name
        if function.__annotations__["return"] == "Axes":
            assert rest[0].name == "ax" and rest[0].default is None, name
            assert all(item.kind is inspect.Parameter.KEYWORD_ONLY for item in rest[1:]), name
        else:
            assert function.__annotations__["return"] == "Figure", name
            title = inspect.signature(function).parameters["title"]
            assert title.kind is inspect.Parameter.KEYWORD_ONLY and title.default == "", name
