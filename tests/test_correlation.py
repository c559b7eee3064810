"""Correlation times: exact ones, quadrature for diffusions, dense algebra, and the observables that have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

from solver.correlation import CorrelationTime, correlation_time
from solver.density import StationaryDensity
from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, TanhDrift
from solver.errors import ModelError, NotConvergedError
from solver.essential import best_weight
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.modes import relaxation_modes
from solver.stationary import solve_stationary

TWO_WELLS = CallableDrift(lambda z: z - z**3, left=np.inf, right=np.inf, scale=0.5)
JUMPS = TemperedStableJumps(0.4, 1.5, 2.2)


def linear(diffusion: float, *jumps: float, center: float = 0.0) -> Model:
    return Model(LinearDrift(2.0, center), diffusion, TemperedStableJumps(*jumps) if jumps else None)


def ground(model: ExponentialDrift, diffusion: float, jumps: TemperedStableJumps) -> float:
    """-Φ(1), the rate of e^{-ζ} under F = κ - a e^ζ."""
    return model.plateau - diffusion - float(jumps.laplace_exponent(1.0))


WALL, TAME = ExponentialDrift(1.0, 0.5), TemperedStableJumps(0.05, 0.7, 4.0)
EXACT: dict[str, tuple[Model, Callable[[Any], Any], float]] = {
    # L ζ = -r ζ and L ζ² = -2 r ζ² + a constant, whatever the noise
    "linear, diffusion": (linear(0.3, center=1.0), lambda z: z, 1 / 2),
    "linear, both": (linear(0.1, 0.4, 1.5, 2.2, center=1.0), lambda z: z, 1 / 2),
    "linear, jumps": (linear(0.0, 0.4, 0.7, 2.2), lambda z: z, 1 / 2),
    "linear, square": (linear(0.0, 0.4, 1.5, 2.2), np.square, 1 / 4),
    # L sinh ζ = -(κ - η_G) sinh ζ
    "tanh": (Model(TanhDrift(1.0), 0.2, None), np.sinh, 1 / 0.8),
    "tanh, nearly infinite variance": (Model(TanhDrift(1.0), 0.45, None), np.sinh, 1 / 0.55),
    "exponential": (Model(WALL, 0.05, TAME), lambda z: np.exp(-z), 1 / ground(WALL, 0.05, TAME)),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_times(name: str) -> None:
    model, observable, exact = EXACT[name]
    found = correlation_time(solve_stationary(model), observable)
    assert abs(found.value / exact - 1) < 1e-11  # measured 3e-13 (nearly infinite variance), else 1e-15
    assert abs(found.value - exact) <= found.error_estimate < 1e-7 * exact
    assert float(found) == found.value


def test_a_wrong_rate_is_seen() -> None:
    """Negative control."""
    found = correlation_time(solve_stationary(Model(LinearDrift(2.02), 0.3, None)))
    assert abs(found.value / 0.5 - 1) > 5e-3


def by_quadrature(model: Model, observable: Callable[[Any], Any], half: float) -> float:
    """For a diffusion τ = ∫ (∫_{-∞}^z (g - ḡ) ρ)² / (η_G ρ) dz / Var(g): u' of -L u = g - ḡ, integrated by parts."""
    z = np.linspace(-half, half, 800_001)
    potential = cumulative_simpson(model.drift(z), x=z, initial=0.0) / model.diffusion
    rho = np.exp(potential - potential.max())
    g = observable(z) - observable(z) @ rho / rho.sum()
    flow = cumulative_simpson(g * rho, x=z, initial=0.0)
    flow = np.where(z < 0, flow, -cumulative_simpson((g * rho)[::-1], x=z, initial=0.0)[::-1])
    return float((flow**2 / rho).sum() / model.diffusion / (g**2 @ rho))


@pytest.mark.parametrize(
    ("model", "observable", "half"),
    [
        (Model(TanhDrift(1.0), 0.3, None), lambda z: z, 60.0),
        (Model(TanhDrift(1.0), 0.3, None), np.tanh, 60.0),
        (Model(TWO_WELLS, 0.25 / 12, None), lambda z: z, 2.0),
        (Model(TWO_WELLS, 0.25 / 12, None), np.square, 2.0),
    ],
)
def test_against_quadrature(model: Model, observable: Callable[[Any], Any], half: float) -> None:
    found = correlation_time(solve_stationary(model), observable)
    exact = by_quadrature(model, observable, half)
    assert abs(found.value / exact - 1) < 1e-10  # measured 1e-12


@pytest.fixture(scope="module")
def baseline_time(baseline_density: StationaryDensity) -> CorrelationTime:
    return correlation_time(baseline_density)


def test_against_dense_algebra(baseline: Model, baseline_time: CorrelationTime) -> None:
    """The generator's matrix, LAPACK and a grid of its own, where stop edges at ±40 leave e^{-50}."""
    grid = Grid(-40.0, 40.0, 1001, "stop")
    weight = np.exp(best_weight(baseline, grid.zeta))
    matrix = build_generator(baseline, grid).to_dense() * weight[None, :] / weight[:, None]
    matrix[500] = 0.0
    matrix[500, 500] = 1.0
    one = np.zeros(1001)
    one[500] = 1.0
    rho = np.linalg.solve(matrix, one) * weight
    g = grid.zeta - grid.zeta @ rho / rho.sum()
    source = -g * rho / weight
    source[500] = 0.0
    x = np.linalg.solve(matrix, source) * weight
    exact = float(g @ x / (g**2 @ rho))
    assert abs(baseline_time.value / exact - 1) < 1e-9  # measured 8e-12


def test_slow_wells_relax_at_the_smallest_rate() -> None:
    """Which well it is relaxes with the smallest rate alone: τ of a function that is flat in either well is 1/rate."""
    model = Model(TWO_WELLS, 0.25 / 25, None)
    slow = correlation_time(solve_stationary(model), lambda z: np.tanh(10 * z))
    assert abs(slow.value * relaxation_modes(model, k=1).gap - 1) < 1e-7  # measured 2e-9: nearly flat


def test_the_estimate_covers_the_error(baseline: Model, baseline_time: CorrelationTime) -> None:
    """Coarser densities, and observables with a corner and a step, whose errors are of order h² and h."""
    for rtol in (1e-2, 1e-5):
        coarse = correlation_time(solve_stationary(baseline, rtol))
        error = abs(coarse.value - baseline_time.value)
        assert error <= coarse.error_estimate + baseline_time.error_estimate
    for observable in (np.abs, lambda z: np.where(z > 0.1234, 1.0, 0.0)):
        rough, fine = (correlation_time(solve_stationary(baseline, rtol), observable) for rtol in (1e-4, 1e-9))
        assert abs(rough.value - fine.value) <= rough.error_estimate + fine.error_estimate
        assert abs(rough.value - fine.value) > 1e-4


def test_a_run_has_the_variance_it_promises(baseline: Model) -> None:
    """2 τ Var/T: the mean of n dependent samples, from the same grid by powers of its propagator e^{A t}."""
    grid = Grid(-20.0, 20.0, 251, "stop")
    generator = build_generator(baseline, grid)
    density = solve_stationary(baseline, grid=Grid(-20.0, 20.0, 401, ("open", "open")))
    values, vectors = np.linalg.eig(generator.to_dense())
    rho = np.interp(grid.zeta, density.zeta, np.exp(density.log_density))
    g = np.tanh(grid.zeta) - np.tanh(grid.zeta) @ rho / rho.sum()
    amplitudes = (g @ vectors) * np.linalg.solve(vectors, g * rho)
    times = np.linspace(0.0, 60.0, 6001)
    correlation = np.real(np.exp(np.multiply.outer(times, values)) @ amplitudes)
    integral = float(np.trapezoid(correlation / correlation[0], times))
    assert abs(float(correlation_time(density, np.tanh)) / integral - 1) < 1e-3  # measured 2e-4: a coarse grid


@pytest.mark.parametrize(
    ("observable", "words"),
    [
        (lambda z: np.exp(-z), r"variance is infinite: towards ζ → -∞ .* e\^\(-1.26736 s\)"),
        (lambda z: np.exp(0.64 * z), r"variance is infinite: towards ζ → \+∞"),  # 2 · 0.64 > β
        (lambda z: 0 * z + 3.0, "constant"),
        (lambda z: 3.0, r"shape \(\)"),
        (lambda z: np.log(z), "nan at ζ = -"),
        (lambda z: np.where(z < -20, np.inf, z), "inf at ζ = -"),
    ],
)
def test_observables_without_one(
    observable: Callable[[Any], Any], words: str, baseline_density: StationaryDensity
) -> None:
    with pytest.raises(ModelError, match=words):
        correlation_time(baseline_density, observable)


def test_observables_just_inside(baseline_density: StationaryDensity) -> None:
    """e^{-ζ/2}: 2 · 0.5 < β. The message of the heavier one names its logarithm, which is ζ and fine."""
    assert correlation_time(baseline_density, lambda z: np.exp(-0.5 * z)).error_estimate < 1e-8


def test_untempered_jumps() -> None:
    """λ = 0, α = 1.5: ζ has no variance; a bounded observable has, but takes for ever to return from a plateau."""
    stable = TemperedStableJumps(0.4, 1.5, 0.0)
    linear_density = solve_stationary(Model(LinearDrift(1.0), 0.1, stable), rtol=1e-4)
    with pytest.raises(ModelError, match="variance is infinite"):
        correlation_time(linear_density)
    bounded = correlation_time(linear_density, np.tanh)
    assert 0 < bounded.error_estimate < 0.01 * bounded.value  # measured 6e-4: the tail's share is algebraic
    plateau_density = solve_stationary(Model(TanhDrift(1.0), 0.1, stable), rtol=1e-4)
    with pytest.raises(ModelError, match="correlation time is infinite"):
        correlation_time(plateau_density, np.tanh)


def test_more_nodes_than_allowed(baseline_density: StationaryDensity) -> None:
    with pytest.raises(NotConvergedError, match="more nodes") as caught:
        correlation_time(baseline_density, max_nodes=100)
    assert caught.value.density is baseline_density
