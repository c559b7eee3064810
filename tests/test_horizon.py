"""Samples against lag: the powers in every phase, the inverse, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from solver import LinearDrift, Model, ModelError, TanhDrift, TemperedStableJumps, solve_stationary
from solver.horizon import Growth, horizon, sample_complexity


def test_polynomial_where_there_is_a_root(baseline_density: Any) -> None:
    beta = baseline_density.tail_exponent
    cost = sample_complexity(baseline_density, lags=[0.0, 1e30, math.e * 1e30], noise_index=1.5)  # 1.5/0.5 = 3
    assert cost.growth == Growth(pytest.approx(3 * beta), 0.0) and cost.growth.kind == "polynomial"
    assert cost.log_samples[0] == 0.0 and cost.samples[0] == 1.0
    assert cost.log_samples[2] - cost.log_samples[1] == pytest.approx(3 * beta, rel=1e-9)
    assert cost.local_exponent[1] == pytest.approx(3 * beta, rel=1e-9)
    assert cost.noise_index == pytest.approx(1.5)
    # the definition, at every lag
    envelope = baseline_density.envelope(lags=[2.0, 50.0])
    assert sample_complexity(baseline_density, [2.0, 50.0]).samples == pytest.approx(envelope.values**-2, rel=1e-12)


def test_polynomial_with_logarithm_below_the_threshold(below_density: Any) -> None:
    cost = sample_complexity(below_density, log_lags=[1000.0, 2000.0], noise_index=2.0)
    assert cost.growth == Growth(2.0, 3.0) and cost.growth.kind == "polynomial with logarithm"
    assert str(cost.growth) == "N ~ ℓ^2 (ln ℓ)^3, polynomial with logarithm"
    # ln N = 2 ln ℓ + 3 ln ln ℓ + const + O((ln ℓ)^{-1/2}): the local power is 2 + 3/ln ℓ + …
    assert (cost.local_exponent - 2) * cost.log_lags == pytest.approx([3.0, 3.0], rel=0.03)


def test_faster_than_any_power_for_a_drift_that_grows() -> None:
    density = solve_stationary(Model(LinearDrift(1.0, 0.0), 1.0, None), rtol=1e-6)
    cost = sample_complexity(density, lags=[1.0, 10.0, 100.0])
    assert math.isinf(cost.growth.power) and str(cost.growth) == "N grows faster than any power"
    assert (np.diff(cost.local_exponent) > 0).all()
    with pytest.raises(ModelError, match="stop edge"):
        sample_complexity(density, log_lags=[200.0])
    with pytest.raises(ModelError, match="stop edge"):
        horizon(density, log_samples=[1e4])


def test_logarithmic_growth_without_tempering() -> None:
    jumps = TemperedStableJumps(0.2, 1.5, 0.0)
    density = solve_stationary(Model(TanhDrift(1.0), 0.3, jumps), rtol=1e-4)
    cost = sample_complexity(density, log_lags=[100.0, 1e4])
    assert cost.growth == Growth(0.0, pytest.approx(1.0)) and cost.growth.kind == "logarithmic"
    assert np.diff(cost.log_samples)[0] == pytest.approx(math.log(100.0), rel=0.05)  # f ~ (ln ℓ)^{-1/2}, N ~ ln ℓ


@pytest.mark.parametrize("noise_index", [1.1, 1.5, 2.0])
def test_the_horizon_is_the_inverse(baseline_density: Any, noise_index: float) -> None:
    log_lags = np.array([[-20.0, -1.0, 0.3], [5.0, 100.0, 90_000.0]])
    cost = sample_complexity(baseline_density, log_lags=log_lags, noise_index=noise_index)
    back = horizon(baseline_density, log_samples=cost.log_samples, noise_index=noise_index)
    assert back.log_lags == pytest.approx(log_lags, rel=1e-9, abs=1e-5)
    assert (cost.log_error > 0).all() and (np.diff(cost.log_error[1]) > 0).all()


def test_one_sample_reaches_no_lag(baseline_density: Any) -> None:
    reached = horizon(baseline_density, samples=[1.0, 1e6])
    assert reached.lags[0] == 0.0 and reached.log_samples == pytest.approx([0.0, math.log(1e6)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: sample_complexity(d, [1.0], noise_index=1.0), r"noise_index = 1"),
        (lambda d: sample_complexity(d, [1.0], noise_index=2.5), r"noise_index = 2\.5"),
        (lambda d: horizon(d, [0.5]), r"samples = 0\.5: must be at least 1"),
        (lambda d: horizon(d, [math.nan]), r"samples = nan"),
        (lambda d: horizon(d, log_samples=[math.inf]), r"log_samples = inf"),
        (lambda d: horizon(d), "give one of them"),
    ],
)
def test_bad_arguments(baseline_density: Any, call: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call(baseline_density)
