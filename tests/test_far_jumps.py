"""Far jumps as exponentials: weights against the Lévy density, sums to infinity against zeta functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import zeta

from solver.far_jumps import far_jumps, jump_tables
from solver.jumps import TemperedStableJumps

BASE_JUMPS = TemperedStableJumps(intensity=0.4, stability=1.5, tempering=2.2)
STABLE_JUMPS = TemperedStableJumps(intensity=0.4, stability=0.3, tempering=0.0)


@pytest.mark.parametrize("jumps", [BASE_JUMPS, STABLE_JUMPS, TemperedStableJumps(1.0, 1.9, 0.01, "stable")])
def test_weights_are_the_density_on_the_lattice(jumps: TemperedStableJumps) -> None:
    h, count = 0.02, 20_000
    weights, _ = jump_tables(far_jumps(jumps, h, count), count, jumps.tempering * h)
    n = np.arange(1, count)
    exact = h * jumps.strength * (n * h) ** (-1.0 - jumps.stability)
    assert weights[0] == 0.0
    assert np.abs(weights[1:] / exact - 1.0).max() < 2e-13  # measured 1.6e-13


@pytest.mark.parametrize("stability", [0.05, 0.3, 1.0, 1.7])
def test_sums_reach_to_infinity_without_tempering(stability: float) -> None:
    """Σ_{j>n} j^{-1-α} = ζ(1+α, n+1); bare, the sum is off by 64% (α = 0.05), 7% (0.3), 2e-4 (1)."""
    jumps = TemperedStableJumps(1.0, stability, 0.0)
    for reach in (1e4, 1e7):
        _, sums = jump_tables(far_jumps(jumps, 0.1, reach), 5000)
        exact = jumps.strength * 0.1**-stability * zeta(1.0 + stability, np.arange(1.0, 5001.0))
        assert np.abs(sums / exact - 1.0).max() < 2e-13  # measured 1.1e-13


def test_sums_reach_to_infinity_with_little_tempering() -> None:
    """λh = 1e-6: jumps end far beyond 1e6 nodes. The total is a polylogarithm; at 30 digits, mpmath says

    mp.polylog(mp.mpf("1.3"), mp.exp(-mp.mpf("1e-6"))) = 3.86337414769702967942 (Euler–Maclaurin agrees).
    """
    jumps = TemperedStableJumps(1.0, 0.3, 1e-5)
    total = far_jumps(jumps, 0.1, 100).out_rate * 0.1**0.3
    assert abs(total / 3.86337414769702967942 - 1.0) < 2e-13


def test_weights_times_exponential_do_not_underflow() -> None:
    jumps = TemperedStableJumps(1.0, 1.5, 20.0)
    weights, sums = jump_tables(far_jumps(jumps, 0.05, 3000), 3000, tilt=1.0)
    assert (weights[1:] > 0).all() and (sums > 0).all()
    assert 20.0 * 0.05 * 2999 > 745  # where e^{-λhn} itself is zero


def test_the_bare_exponential_sum_misses_the_longest_jumps() -> None:
    """The negative control, and why far_jumps exists: measured 0.48% of all jumps, at a reach of 1e6."""
    bare = STABLE_JUMPS.exponential_sum(0.1, 1e6).out_rate
    assert 0.004 < 1.0 - bare / far_jumps(STABLE_JUMPS, 0.1, 1e6).out_rate < 0.006
