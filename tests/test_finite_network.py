"""A network of finitely many units against mpmath, against sampling, and against the whole envelope."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from solver import Model, ModelError, TanhDrift, solve_stationary
from solver.finite_network import finite_network, largest_log_tau


@pytest.fixture(scope="module")
def half() -> Any:
    """F = -tanh ζ, η_G = 2: ρ = A (cosh ζ)^{-1/2}, so that f ~ ℓ^{-1/2}."""
    return solve_stationary(Model(TanhDrift(1.0), 2.0, None), rtol=1e-10)


def exact(neurons: int, log_tau: float, log_lag: float) -> float:
    """The conditional mean of the module's head, by quadrature in mpmath."""
    with mpmath.workdps(25):
        start, ell = mpmath.mpf(-log_tau), mpmath.exp(log_lag)
        fine = [start + mpmath.mpf(2) ** -k for k in range(40, 0, -2)]
        places = sorted([start, *fine, *(start + k for k in range(1, 40, 2)), start + 200])
        rho = lambda z: mpmath.cosh(z) ** -0.5  # noqa: E731
        part = mpmath.quad(lambda z: mpmath.exp(-ell * mpmath.exp(z)) * rho(z), places)
        mass = mpmath.quad(rho, places)
        value = mpmath.exp(-ell / mpmath.exp(log_tau)) / neurons + (1 - mpmath.mpf(1) / neurons) * part / mass
        return float(mpmath.log(value))


@pytest.mark.parametrize("log_lag", [-3.0, 2.0, 6.0, 9.0, 12.0, 16.0])
def test_the_typical_envelope_against_mpmath(half: Any, log_lag: float) -> None:
    network = finite_network(half, 100, log_lag)
    wanted = exact(100, network.log_tau_max, log_lag)
    assert float(network.log_values) == pytest.approx(wanted, rel=2e-11, abs=2e-11)  # measured 3e-12


def test_the_law_of_the_largest(half: Any) -> None:
    draws = -half.rvs(size=(4000, 50), random_state=7).min(axis=1)
    for q in (0.1, 0.5, 0.9):
        share = float((draws <= largest_log_tau(half, 50, q)).mean())
        assert abs(share - q) < 3 * math.sqrt(q * (1 - q) / 4000)
    # 1 - q^{1/Q} is not lost by cancellation: the largest of 1e15 is 2 ln(Q) deep, up to a constant
    many = largest_log_tau(half, 10**15) - largest_log_tau(half, 10**13)
    assert float(many) == pytest.approx(2 * math.log(100), rel=1e-9)


def test_short_lags_see_the_whole_law_and_long_ones_an_exponential(half: Any) -> None:
    network = finite_network(half, 10**9, np.array([0.0, 3.0]))
    whole = half.envelope(log_lags=[0.0, 3.0]).log_values
    assert np.abs(network.log_values - whole).max() < 1e-4  # τ_max is 1e17: what is cut off weighs 1e-9 of f
    alone = finite_network(half, 1, [2.0])
    assert alone.log_values[0] == pytest.approx(-math.exp(2.0 - alone.log_tau_max))
    deep = finite_network(half, 128, [20.0, 21.0])
    tau = math.exp(deep.log_tau_max)
    assert deep.log_values[1] / deep.log_values[0] == pytest.approx(math.e, rel=1e-3)
    assert deep.log_values[0] == pytest.approx(-math.exp(20.0) / tau, rel=1e-3)


def test_bad_arguments(half: Any) -> None:
    with pytest.raises(ModelError, match="neurons = 0"):
        finite_network(half, 0, [1.0])
    with pytest.raises(ModelError, match=r"quantile = 1\.0: must lie in \(0, 1\)"):
        finite_network(half, 5, [1.0], quantile=1.0)
    with pytest.raises(ModelError, match="log_lags = inf"):
        finite_network(half, 5, [math.inf])
