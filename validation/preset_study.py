"""The solver against a million effective samples of its presets: Kolmogorov's distance, and what it could have seen.

    D = sup |F_n - F|,    critical value 1.6276/√n_eff (1%)

Every row is one run in steps of dt and of dt/2 under the same noise, so that the error of the step is measured beside
the distance. The catch of a test that passes is that it may see nothing: the last column is the distance of the same
sample from the model with its jumps 5% stronger, which must be above the critical value.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_1samp, kstwobign

from solver.density import StationaryDensity
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.presets import load_preset
from solver.stationary import solve_stationary
from validation.batches import Progress
from validation.monte_carlo import sample_twice
from validation.stationary_sample import Estimate, StepBias

PRESETS = ("broad", "concentrated", "collapsed")
# A value is worth 0.89 of an independent one at the default spacing: a seventh more makes a million effective ones.
SAMPLES = 1_150_000
LEVEL = 0.01
STEP = 0.1  # in units of the fastest relaxation of these drifts, κ/w = 1; halved once
# Of the control: 5% more jumps move the distribution by 8e-3, 5e-3 and 4e-3, more than twice the critical value.
CONTROL = 1.05


@dataclass(frozen=True)
class StudyRow:
    """One preset: distances of the samples in steps of `dt` (`coarse`) and dt/2 (`ks`) from the solver's distribution.

    `step_error` is the estimated distance that dt/2 still causes, `control` the distance from the wrong model.
    """

    preset: str
    dt: float
    samples: int
    effective: float
    coarse: float
    ks: float
    critical: float
    step_error: Estimate
    control: float
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether the solver is within the critical value, and the wrong model is not."""
        return self.ks < self.critical < self.control


def monte_carlo_study(
    presets: Iterable[str] = PRESETS,
    *,
    size: int = SAMPLES,
    dt: float = STEP,
    seed: int = 2024,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[StudyRow, ...]:
    """One row a preset; a few minutes each on one core at the full size. `progress` as in `validation.simulate`."""
    return tuple(_row(name, size, dt, seed, {"jobs": jobs, "progress": progress}) for name in presets)


def _row(name: str, size: int, dt: float, seed: int, running: dict[str, Any]) -> StudyRow:
    started, model = time.perf_counter(), load_preset(name)
    coarse, fine = sample_twice(model, size, dt=dt, seed=seed, **running)
    density, wrong = solve_stationary(model), solve_stationary(with_stronger_jumps(model, CONTROL))
    distances = [distance(zeta.values, law) for zeta, law in ((coarse, density), (fine, density), (fine, wrong))]
    return StudyRow(
        preset=name,
        dt=coarse.dt,
        samples=fine.size,
        effective=fine.effective,
        coarse=distances[0],
        ks=distances[1],
        critical=float(kstwobign.isf(LEVEL) / np.sqrt(fine.effective)),
        step_error=StepBias.between(coarse, fine).fine,
        control=distances[2],
        seconds=time.perf_counter() - started,
    )


def distance(zeta: NDArray[np.float64], density: StationaryDensity) -> float:
    """sup |F_n - F| of values (n,) against a density."""
    return float(ks_1samp(zeta, density.cdf, method="asymp").statistic)


def with_stronger_jumps(model: Model, factor: float) -> Model:
    """The model with the intensity of its tempered stable jumps times `factor`.

    >>> with_stronger_jumps(load_preset("collapsed"), 2.0).jumps.intensity
    0.4
    """
    if not isinstance(model.jumps, TemperedStableJumps):
        raise TypeError("only tempered stable jumps have an intensity")
    stronger = dataclasses.replace(model.jumps, intensity=factor * model.jumps.intensity)
    return dataclasses.replace(model, jumps=stronger)
