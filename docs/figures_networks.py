"""Make the figures of docs/networks.md: `python docs/figures_networks.py` writes docs/figures/networks_*.png."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solver.presets import load_preset
from validation.networks.calibrate import calibrate
from validation.networks.figure import plot_calibration
from validation.networks.prediction import predict
from validation.networks.reading import Run, read_run
from validation.networks.recovery import trajectories

HERE = Path(__file__).parent
FOLDER = HERE / "figures"
GIVEN = HERE.parent / "tests" / "data" / "networks"
# (name, window, fitted all the same): as the commands of docs/networks.md
RUNS = (("diag", 100, False), ("diag", 1, True), ("shared", 1, True), ("const", 1, False))


def main(folder: Path = FOLDER) -> list[Path]:
    """Write every figure and return the paths."""
    folder.mkdir(exist_ok=True)
    known = Run.from_tau(np.exp(-trajectories(load_preset("broad"), 200, 400, seed=1)))
    cases = [("known", "trajectories of the preset broad", known, 0.1, False)]
    for name, first, anyway in RUNS:
        run = read_run(GIVEN / f"{name}.npz").between(first, None)
        what = f"{name}, checkpoints {first} to {run.checkpoints[-1]}"
        cases.append((f"{name}_anyway" if anyway else name, what, run, 1.0, anyway))
    paths = []
    for name, title, run, interval, anyway in cases:
        found = calibrate(run.zeta, interval, anyway=anyway)
        prediction = None if found.model is None else predict(found.model, run.last)
        paths.append(folder / f"networks_{name}.png")
        plot_calibration(run, found, prediction, title=title).savefig(paths[-1], dpi=70)
    return paths


if __name__ == "__main__":
    for path in main():
        print(path)
