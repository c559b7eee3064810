"""The bias of the splitting: its expectation against the matrix exponential of the generator, and fits that need it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from solver.drifts import LogisticDrift
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.presets import load_preset
from validation.networks import splitting_bias
from validation.networks.calibrate import calibrate
from validation.networks.noise_law import Noise
from validation.networks.recovery import logistic, trajectories

DRIFT, NOISE = LogisticDrift(1.0, 1.5, 0.2, 0.4), Noise(0.3, TemperedStableJumps(0.6, 1.2, 2.0))
THETA = np.concatenate([[1.0, 1.5, 0.2, np.log(0.4)], NOISE.shape])
STARTS = np.array([-2.0, -0.5, 0.0, 0.3, 1.2])


def functions(z: np.ndarray) -> np.ndarray:
    """Eight functions of y that end flat."""
    return np.stack([np.tanh(z + shift) for shift in np.linspace(-2, 2, 8)], axis=1)


def expected(count: int, interval: float = 0.5) -> np.ndarray:
    grid = np.linspace(-12, 12, 1201)
    table = np.repeat(functions(grid)[:, None, :], STARTS.size, axis=1).reshape(grid.size, -1)
    return splitting_bias._expected(table, STARTS, grid, THETA, interval, count)


def test_expectations_are_those_of_the_generator() -> None:
    """u(x) = E g(y) solves u' = L u: against expm of the discretised generator, which knows nothing of a splitting."""
    grid = Grid(-12.0, 12.0, 481, "stop")
    model = Model(DRIFT, NOISE.diffusion, NOISE.jumps)
    exact = expm(0.5 * build_generator(model, grid, order=4).to_dense().T) @ functions(grid.zeta)
    wanted = np.mean([[np.interp(x, grid.zeta, column) for column in exact.T] for x in STARTS], axis=0)
    errors = [np.abs(expected(count) - wanted).max() for count in (2, 4, 8, 32)]
    assert errors[-1] < 1e-5  # measured 2.5e-6: 32 parts
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.2) and errors[1] / errors[2] == pytest.approx(4, rel=0.2)


@pytest.mark.parametrize("preset", ["concentrated"])
def test_a_long_interval_is_fitted_without_bias(preset: str) -> None:
    """Interval x steepest slope of the drift = 0.5: plateaus come out 5 to 10% too high, the width 20% (measured)."""
    model = logistic(load_preset(preset))
    found = calibrate(trajectories(model, 150, 400, interval=0.5, seed=2), interval=0.5)
    assert found.fit is not None and found.fit.shift.settled and found.described
    error = np.sqrt(np.diag(np.linalg.pinv(found.fit.information)))
    truth = np.array([1.0, 1.0, 0.0, np.log(0.5)])
    before, after = (np.abs(theta[:4] - truth) / error[:4] for theta in (found.fit.theta, found.fit.corrected))

    assert before[3] > 5 and after.max() < 3
    assert any(finding.kind == "coarse" and not finding.fatal for finding in found.findings)


def test_an_interval_that_is_too_long_is_no_reason_against_the_model() -> None:
    """Between two looks the drift crosses its own width twice: the data are the model's, and cannot tell."""
    found = calibrate(trajectories(load_preset("pure-diffusion"), 100, 60, interval=2.0, seed=1), interval=2.0)
    assert found.fit is not None and not found.fit.shift.settled
    assert not found.described and found.verdict.startswith("these data cannot tell") and "coarse" in found.verdict
    assert "what happens between two looks cannot be told" in " ".join(f.message for f in found.findings)
