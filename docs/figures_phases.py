"""Make the figures of docs/sweeps.md: `python docs/figures_phases.py` writes docs/figures/*.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import xarray
from matplotlib.figure import Figure

from solver import Model, TanhDrift, TemperedStableJumps, closed_form, load_preset
from solver.axes import parameters
from solver.phase_diagram import NAMES, phase_diagram
from solver.phase_lines import phase_lines
from solver.plot_phases import plot_map, plot_phase_diagram
from solver.sweep import sweep

FOLDER = Path(__file__).parent / "figures"
# A model with a threshold at 0.433 and λ = 1: its phases meet in every plane.
BELOW = Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(0.2, 0.5, 1.0))
MULTIPLES = (0.5, 0.9, 1.0, 1.1, 1.5, 2.5)
LAGS = np.geomspace(1e-2, 1e12, 141)


def main(folder: Path = FOLDER) -> list[Path]:
    """Write every figure and return the paths."""
    folder.mkdir(exist_ok=True)
    made = {
        "phases_intensity_plateau": phases(
            load_preset("concentrated"),
            ("intensity", np.linspace(0.01, 1.5, 500)),
            ("plateau", np.linspace(0.05, 3, 500)),
        ),
        "phases_stability_tempering": phases(
            BELOW, ("stability", np.linspace(0.02, 1.98, 500)), ("tempering", np.linspace(0.05, 12, 500))
        ),
        "exponent_difference": difference(),
        "envelopes_threshold": envelopes(),
    }
    paths = []
    for name, figure in made.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=110)
    return paths


def phases(model: Model, x: tuple[str, np.ndarray], y: tuple[str, np.ndarray]) -> Figure:
    """A phase diagram; the title says what is fixed."""
    fixed = [
        f"{name} {value:g}" for name, value in parameters(model).items() if name in NAMES and name not in (x[0], y[0])
    ]
    diagram, lines = phase_diagram(model, x, y), phase_lines(model, x, y)
    return plot_phase_diagram(diagram, lines=lines, title=", ".join(fixed)).get_figure(root=True)


def all_solved(found: xarray.Dataset) -> xarray.Dataset:
    """The sweep itself; a point that failed would be drawn as "no root", as "no difference" or not at all."""
    failed = found["status"].values != "ok"
    if failed.any():
        raise RuntimeError(f"{failed.sum()} points failed, the first: {found['message'].values[failed][0]}")
    return found


def difference() -> Figure:
    """β read from full solves against the closed form, where there is a root; λ where there is none."""
    model = load_preset("concentrated")
    x, y = ("intensity", np.linspace(0.05, 1.5, 16)), ("plateau", np.linspace(0.2, 3.0, 15))
    found = all_solved(sweep(model, dict([y, x]), ("tail_exponent", "exponent"), rtol=1e-8, jobs=-1))
    wanted = found["exponent"].fillna(model.jumps.tempering)
    off = abs(found["tail_exponent"] / wanted - 1)
    figure = Figure(figsize=(6.6, 4.6), layout="constrained")
    ax = plot_map(
        off.where(off > 0).assign_coords({name: found[name] for name in ("intensity", "plateau")}),
        figure.subplots(),
        label="|exponent solved / exponent of the closed form - 1|",
        title="full solves at rtol = 1e-8 against the closed form; grey: equal to the last bit",
    )
    for name, style in (("threshold", "-"), ("critical", "--")):
        ax.plot(*phase_lines(model, x, y)[name], color="white", lw=1.6, ls=style, label=name)
    ax.legend(fontsize=8, facecolor="0.4", labelcolor="white")
    return figure


def envelopes() -> Figure:
    """f(ℓ) and its local exponent at multiples of the threshold intensity."""
    star = closed_form(BELOW).threshold
    axes = {"intensity": [star * multiple for multiple in MULTIPLES]}
    found = all_solved(sweep(BELOW, axes, ("envelope", "exponent"), lags=LAGS, rtol=1e-8))
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(MULTIPLES)))
    middle = np.sqrt(LAGS[1:] * LAGS[:-1])
    for multiple, colour, point in zip(MULTIPLES, colours, range(len(MULTIPLES)), strict=True):
        log_f, beta = (found[name].isel(intensity=point).values for name in ("log_envelope", "exponent"))
        label = rf"{multiple:g} $\eta_J^*$: " + ("no root" if np.isnan(beta) else f"β = {float(beta):.3f}")
        left.loglog(LAGS, np.exp(log_f), color=colour, label=label)
        right.semilogx(middle, -np.diff(log_f) / np.diff(np.log(LAGS)), color=colour, label=label)
        right.plot(LAGS[-1], 1.0 if np.isnan(beta) else beta, "o", color=colour, clip_on=False)
    left.set(xlabel="lag ℓ   [time]", ylabel="envelope f", title="envelopes across the threshold")
    right.set(
        xlabel="lag ℓ   [time]", ylabel="-d ln f / d ln ℓ", title="local exponents; dots: closed form, λ without root"
    )
    for ax in (left, right):
        ax.grid(alpha=0.25)
    left.legend(fontsize=8)
    return figure


if __name__ == "__main__":
    for path in main():
        print(path)
