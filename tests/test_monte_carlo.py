"""Simulations against laws known without the solver: exact in the noise, of second order in the step, reproducible.

The Ornstein-Uhlenbeck process with any noise has, in steps of dt, the characteristic function

    E e^{ikζ} = Π_j exp( dt Ψ(k e^{-r (j+1/2) dt}) ),    Ψ = symbol - η_G k²

which is the midpoint rule of the exact ∫ Ψ(k e^{-rs}) ds: so both the law of the scheme and the true one are known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import cumulative_simpson, quad
from scipy.stats import kstwobign

import validation
from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError, NoStationaryDensityError
from solver.jumps import TemperedStableJumps
from solver.laplace_jumps import LaplaceJumps
from solver.model import Model
from solver.presets import load_preset
from validation import walk_defaults
from validation.monte_carlo import sample_stationary, simulate, step_bias
from validation.preset_study import monte_carlo_study

Array = NDArray[np.float64]
WAVES = np.geomspace(0.2, 20, 15)
JUMPS = [
    TemperedStableJumps(0.5, 0.6, 1.0),
    TemperedStableJumps(0.5, 1.0, 1.0),
    TemperedStableJumps(0.4, 1.5, 2.2),
    TemperedStableJumps(0.3, 1.2, 0.0),
    LaplaceJumps(2.0, 1.5),
]


def rate(model: Model, k: Array) -> Array:
    assert model.jumps is not None
    return np.asarray(model.jumps.symbol(k) - model.diffusion * k**2)


def critical(n: float, level: float = 1e-3) -> float:
    """Kolmogorov's distance that n independent values exceed with this probability."""
    return float(kstwobign.isf(level)) / math.sqrt(n)


def ks(values: Array, points: Array, cdf: Array) -> float:
    """Distance from a distribution function tabulated at points close enough to interpolate."""
    u = np.interp(np.sort(values), points, cdf)
    n = values.size
    return float(max((np.arange(1, n + 1) / n - u).max(), (u - np.arange(n) / n).max()))


@pytest.mark.parametrize("jumps", JUMPS, ids=lambda jumps: repr(jumps)[:48])
def test_an_ornstein_uhlenbeck_process_has_its_exact_law(jumps: TemperedStableJumps | LaplaceJumps) -> None:
    model, time, dt, start = Model(LinearDrift(1.0), 0.1, jumps), 3.0, 0.25, 0.7
    zeta = simulate(model, paths=30_000, time=time, dt=dt, start=start, seed=11)
    middles = dt * (np.arange(12) + 0.5)
    log_scheme = sum(dt * rate(model, WAVES * math.exp(-s)) for s in middles)
    waves = np.cos(np.multiply.outer(WAVES, zeta - start * math.exp(-time)))
    error = waves.std(axis=1) / math.sqrt(zeta.size)
    # measured: 1.1 to 2.5 standard errors
    assert (np.abs(waves.mean(axis=1) - np.exp(log_scheme)) < 4 * error).all()
    exact = [quad(lambda s, k=k: float(rate(model, k * math.exp(-s))), 0, time)[0] for k in WAVES]
    # what the step leaves, dt²/24 of the change of Ψ's slope over the path: measured 1.5e-3 to 3.6e-3
    assert np.abs(np.exp(exact) - np.exp(log_scheme)).max() < 5e-3


def test_pure_diffusion_has_its_density() -> None:
    """F = -tanh ζ, η_G = 1/2: ρ = sech²(ζ)/2, P(ζ ≤ z) = (1 + tanh z)/2."""
    zeta = simulate(load_preset("pure-diffusion"), paths=20_000, seed=3)
    points = np.linspace(-15, 15, 6001)
    assert ks(zeta, points, (1 + np.tanh(points)) / 2) < critical(20_000)


def test_cauchy_noise_in_a_cubic_drift() -> None:
    """ρ = 1/(π (1 - ζ² + ζ⁴)) for unit Cauchy noise and F = -ζ³: stiff where walkers land, up to 1e5 and farther."""
    noise = TemperedStableJumps(1.0, 1.0, 0.0, "stable")
    model = Model(CallableDrift(lambda zeta: -(zeta**3)), 0.0, noise)
    zeta = simulate(model, paths=8000, time=5.0, dt=0.05, start=0.0, seed=5)
    points = np.linspace(-400, 400, 800_001)
    density = 1 / (math.pi * (1 - points**2 + points**4))
    cdf = cumulative_simpson(density, x=points, initial=0) + 1 / (3 * math.pi * 400.0**3)
    assert ks(zeta, points, cdf) < critical(8000)


def test_an_exponential_wall_has_its_moments() -> None:
    """F = κ - a e^ζ: E e^{(s+1)ζ} / E e^{sζ} = (κ + η_G s + η_J ψ(s)/s)/a; at s = 1 the right end decides."""
    model = Model(ExponentialDrift(1.0, 2.0), 0.3, TemperedStableJumps(0.4, 0.7, 4.0))
    sample = sample_stationary(model, 40_000, walkers=4096, seed=9)
    first, second = sample.estimate(np.exp), sample.estimate(lambda zeta: np.exp(2 * zeta))
    assert model.jumps is not None
    assert abs(first.value - 0.5) < 4 * first.standard_error + 1e-3
    ratio = (1 + 0.3 + float(model.jumps.laplace_exponent(1.0))) / 2
    assert second.value / first.value == pytest.approx(ratio, abs=0.01)  # measured: 3e-3 off


def test_a_preset_agrees_with_the_solver() -> None:
    (row,) = monte_carlo_study(["concentrated"], size=33_000, seed=1)
    # the wrong model is 5e-3 away, less than a thirtieth of the study can be sure to see
    assert row.ks < row.critical
    assert 0.8 < row.effective / row.samples < 1 and row.step_error.value < 1e-3


def test_neither_batches_nor_processes_change_the_values() -> None:
    model = load_preset("broad")
    alone = simulate(model, paths=9_000, time=1.0, dt=0.1, seed=7)
    assert np.array_equal(alone, simulate(model, paths=9_000, time=1.0, dt=0.1, seed=7, jobs=2))
    assert not np.array_equal(alone, simulate(model, paths=9_000, time=1.0, dt=0.1, seed=8))
    assert np.unique(alone).size == alone.size, "no stream is used twice"
    unseeded = [simulate(model, paths=10, time=1.0, dt=0.1) for _ in range(2)]
    assert not np.array_equal(*unseeded)


def test_the_step_error_is_what_it_is() -> None:
    """Gaussian of variance 1/2 · x/sinh x, x = r dt: the distance of two Gaussians is known."""
    model = Model(LinearDrift(1.0), 0.5)
    points = np.linspace(-3, 3, 2001)

    def cdf(variance: float) -> Array:
        return np.array([0.5 * math.erfc(-z / math.sqrt(2 * variance)) for z in points])

    one, half, none = (cdf(0.5 * x / math.sinh(x) if x else 0.5) for x in (1.0, 0.5, 0.0))
    bias = step_bias(model, dt=1.0, size=200_000, spacing=3.0, burn_in=8.0, seed=2)
    assert abs(bias.largest.value - np.abs(one - half).max()) < 4 * bias.largest.standard_error
    assert bias.largest.standard_error < 0.1 * bias.largest.value
    # the extrapolation by order 2 is right to a tenth at this long step (measured: 6% and 4%)
    assert bias.coarse.value == pytest.approx(np.abs(one - none).max(), rel=0.1)
    assert bias.fine.value == pytest.approx(np.abs(half - none).max(), rel=0.15)


def test_the_step_error_falls_with_the_square_of_the_step() -> None:
    drift = LogisticDrift(1.0, 2.0, 0.0, 0.5)
    model = Model(drift, 0.2, TemperedStableJumps(0.4, 1.5, 2.2))
    wide, narrow = (step_bias(model, dt=dt, size=100_000, spacing=4.0, burn_in=20.0, seed=4) for dt in (0.8, 0.4))
    # measured: 1.68, with a standard error of 0.16; an error of first order would give 1
    assert 1.5 < math.log2(wide.largest.value / narrow.largest.value) < 2.5


def test_memory_is_seen_in_the_effective_number() -> None:
    """A Gaussian chain of correlation e^{-x}: its mean is worth n tanh(x/2) values."""
    model = Model(LinearDrift(1.0), 0.5)
    sample = sample_stationary(model, 400_000, dt=0.1, spacing=0.5, burn_in=8.0, walkers=4000, seed=1)
    # 100 records of 4000 walkers; T of the mean, end effects included, is 4.00; measured for the ranks: 3.81
    assert sample.zeta.shape == (100, 4000)
    assert 3.6 < sample.correlation < 4.1
    mean = sample.estimate(lambda zeta: zeta)
    assert mean.standard_error == pytest.approx(math.sqrt(0.5 * 4.0 / 400_000), rel=0.05)
    assert abs(mean.value) < 4 * mean.standard_error


def test_lengths_come_from_the_solver() -> None:
    broad = load_preset("broad")
    assert walk_defaults.relaxation_time(broad) == pytest.approx(1 / 0.10584438697, rel=1e-3)
    assert walk_defaults.default_step(broad) == pytest.approx(0.1, rel=1e-3)
    assert walk_defaults.default_start(Model(CallableDrift(lambda z: z - z**3), 0.5)) == pytest.approx(1.0)
    wiener = Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.3, 1.5, 0.0))
    with pytest.raises(ModelError, match="relaxes like a power of time"):
        walk_defaults.relaxation_time(wiener)


def test_progress_hears_of_every_step() -> None:
    seen: list[int] = []

    @contextmanager
    def bar(total: int, label: str) -> Iterator[object]:
        seen.append(-total)
        yield seen.append

    model = load_preset("concentrated")
    simulate(model, paths=5000, time=12.3, dt=0.1, seed=0, progress=bar)
    assert seen[0] == -5000 * 123 and sum(seen) == 0 and len(seen) == 1 + 2 * 3
    seen.clear()
    simulate(model, paths=5000, time=1.0, dt=0.1, seed=0, jobs=2, progress=bar)
    assert sum(seen) == 0 and len(seen) == 3


def test_bad_arguments_are_named() -> None:
    model = load_preset("broad")
    for arguments, message in (
        ({"paths": 0}, r"paths = 0: must lie in \[1, 1e\+09\]"),
        ({"paths": 2.5}, "paths = 2.5: must be a whole number"),
        ({"dt": -0.1}, r"dt = -0.1: must lie in \(0, inf\)"),
        ({"time": 0.0}, "time = 0.0"),
        ({"seed": -1}, "seed = -1"),
        ({"jobs": 0}, "jobs = 0: must be a number of processes"),
        ({"start": [1.0, 2.0]}, r"start: shape \(2,\), must be one finite number or 10 of them"),
        ({"start": math.nan}, "start"),
    ):
        with pytest.raises(ModelError, match=message):
            simulate(model, **({"paths": 10, "time": 1.0, "dt": 0.1} | arguments))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected argument 'sede'"):
        sample_stationary(model, 10, dt=0.1, burn_in=1.0, spacing=1.0, sede=1)
    with pytest.raises(NoStationaryDensityError):
        simulate(load_preset("frozen-gates"), paths=10, dt=0.1, start=0.0)
    with pytest.raises(ModelError, match="no zero that draws from both sides"):
        simulate(load_preset("frozen-gates"), paths=10, dt=0.1, time=1.0)
    tiny = Model(LinearDrift(1.0), 0.1, TemperedStableJumps(1.0, 0.02, 0.0))
    with pytest.raises(ModelError, match="left the range of a double"):
        simulate(tiny, paths=10_000, dt=0.1, time=1.0, start=0.0, seed=1)


def test_the_names_are_public() -> None:
    assert validation.simulate is simulate and validation.step_bias is step_bias
    assert set(validation.__all__) <= set(dir(validation))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = validation.nothing


def test_a_model_without_a_stationary_law_can_be_walked() -> None:
    """Drift alone decides the mean of a Brownian motion with drift: frozen-gates far to the left."""
    zeta = simulate(load_preset("frozen-gates"), paths=2000, time=10.0, dt=0.1, start=-50.0, seed=1)
    assert abs(zeta.mean() - (-52.0)) < 4 * zeta.std() / math.sqrt(2000)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["broad", "concentrated", "collapsed"])
def test_a_million_effective_samples_agree_with_the_solver(preset: str) -> None:
    """Measured at dt = 0.1, halved: KS 9.7e-4, 6.3e-4, 7.9e-4 against 1.6e-3; step error 1e-4."""
    (row,) = monte_carlo_study([preset])
    assert row.effective >= 1e6
    assert row.ks < row.critical, row
    assert row.control > 2 * row.critical, "the study sees jumps that are 5% stronger"
    assert row.step_error.value + 2 * row.step_error.standard_error < 5e-4
