"""Make the figures of the documents: `python docs/figures.py` writes docs/figures/*.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from solver import Model, closed_form, solve_stationary
from solver.plots import plot_solution
from solver.presets import load_preset
from validation import compare
from validation.comparison_plot import plot_comparison

HERE = Path(__file__).parent
FOLDER = HERE / "figures"
MEASURED = HERE.parent / "tests" / "data" / "diag_0240_taus.npy"


def main(folder: Path = FOLDER) -> list[Path]:
    """Write every figure and return the paths."""
    folder.mkdir(exist_ok=True)
    paths = []
    for name in ("broad", "collapsed"):
        model = load_preset(name)
        paths.append(folder / f"{name}.png")
        plot_solution(solve_stationary(model), closed_form(model), title=name).savefig(paths[-1], dpi=110)
    comparison = compare(MEASURED, solve_stationary(Model.from_toml(HERE / "gates.toml")))
    paths.append(folder / "compare.png")
    plot_comparison(comparison, title="128 trained diagonal gates and gates.toml").savefig(paths[-1], dpi=80)
    return paths


if __name__ == "__main__":
    for path in main():
        print(path)
