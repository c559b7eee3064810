"""The sum of exponentials: its error over all α and reaches, its positivity, its size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import gamma, zeta

from solver import exponential_sum
from solver.errors import ModelError
from solver.exponential_sum import ExponentialSum, unit_exponential_sum

STABILITIES = [0.011, 0.35, 0.5, 1 - 1e-9, 1.0, 1.234, 1.5, 1.77, 1.989, *np.linspace(0.02, 1.98, 23)]
# Terms at the largest α, measured: 27, 44, 62, 89: nine more per decade, ln(10) over the step.
LIMITS = {1e2: 28, 1e4: 45, 1e6: 64, 1e9: 90}


def relative_error(stability: float, reach: float, rates: np.ndarray, coefficients: np.ndarray) -> float:
    n = np.unique(np.concatenate([np.arange(1, 100), np.round(np.geomspace(1, reach, 400))]))
    sums = np.exp(-np.outer(n, rates)) @ coefficients
    return float(np.max(np.abs(sums * n ** (1 + stability) - 1)))


@pytest.mark.parametrize("reach", LIMITS)
def test_error_positivity_and_size(reach: float) -> None:
    for alpha in STABILITIES:
        x, c = unit_exponential_sum(alpha, reach)
        assert relative_error(alpha, reach, x, c) <= 2e-13  # measured 1.6e-13
        assert np.all(x > 0) and np.all(c > 0) and np.all(np.diff(x) > 0)
        assert x.size <= LIMITS[reach]


def test_the_sum_ends_at_its_reach() -> None:
    """Negative control: beyond the reach, or with one weight 1% wrong, the test above fails."""
    x, c = unit_exponential_sum(1.5, 1e3)
    assert relative_error(1.5, 1e4, x, c) > 1e-2  # measured 1.6e-2: Gauss rules end gently
    assert relative_error(1.5, 1e5, x, c) > 0.9
    wrong = c.copy()
    wrong[20] *= 1.01
    assert relative_error(1.5, 1e3, x, wrong) > 1e-4


def test_both_ends_are_gauss_rules() -> None:
    """A Gauss rule of n points has the measure's first 2n moments."""
    rng = np.random.default_rng(5)
    nodes, weights = np.sort(rng.uniform(0, 2, 60)), rng.uniform(0.1, 1, 60)
    points, mass = exponential_sum._gauss(nodes, weights, 9)
    for power in range(18):
        assert abs((points**power @ mass) / (nodes**power @ weights) - 1) < 2e-13  # measured 2e-14


def test_sum_of_all_weights_is_zeta_where_the_reach_is_long() -> None:
    """Σ n^{-1-α} = ζ_R(1+α): the out-rate, a check of the whole sum at once."""
    x, c = unit_exponential_sum(1.9, 1e9)
    total = ExponentialSum(c * np.exp(-x), -x)
    # What lies beyond the reach, 1e9^{-1.9}/1.9 = 4e-18, is invisible.
    assert abs(total.out_rate / float(zeta(2.9)) - 1) < 3e-13  # measured 2e-14


def test_out_rate_of_slow_terms_has_no_cancellation() -> None:
    slow = ExponentialSum(np.array([2.0]), np.array([-1e-13]))
    assert abs(slow.out_rate / 2e13 - 1) < 1e-12
    assert slow.ratios.tolist() == [math.exp(-1e-13)]


def test_values_of_any_shape() -> None:
    x, c = unit_exponential_sum(0.8, 1e3)
    one = ExponentialSum(c * np.exp(-x), -x)
    n = np.arange(1, 13).reshape(3, 4)
    np.testing.assert_allclose(one.values(n), n**-1.8, rtol=2e-13)
    assert one.values(1).shape == ()


def test_short_reaches_are_lengthened() -> None:
    assert np.array_equal(unit_exponential_sum(1.5, 3.0)[0], unit_exponential_sum(1.5, 100.0)[0])


def test_the_result_is_shared_and_read_only() -> None:
    x, c = unit_exponential_sum(1.5, 5e3)
    assert unit_exponential_sum(1.5, 5e3)[0] is x
    for array in (x, c):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_step_error_is_the_one_promised() -> None:
    """The trapezoid rule alone: the error given by Poisson's formula, reached and not exceeded."""
    x, c = exponential_sum._trapezoid(2.5, 1e4)
    n = np.arange(1.0, 10_000.0)
    error = np.max(np.abs(np.exp(-np.outer(n, x)) @ c * n**2.5 - 1))
    assert 1.2e-13 < error < 1.7e-13  # measured 1.5e-13
    assert abs(float(np.sum(c * np.exp(-x))) - 1) < 2e-13 and gamma(2.5) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2.0, 100.0), r"stability = 2.0: must lie in \(0, 2\)"),
        ((0.0, 100.0), r"stability = 0.0"),
        ((1.5, 0.5), r"reach = 0.5: must lie in \[1, inf\)"),
        ((1.5, math.inf), r"reach = inf"),
    ],
)
def test_refusals(arguments: tuple[float, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        unit_exponential_sum(*arguments)
