"""The spectrum of time scales against the inverse gamma law, where τ overflows, and where it has no mean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from known_densities import cosh_density, gamma_density, on_grid

from solver.density import ErrorEstimate, StationaryDensity
from solver.drifts import LinearDrift, TanhDrift
from solver.elimination import null_vector
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.moments import log_exponential_mean
from solver.timescales import TimescaleSpectrum

A, B = 1.3, 2.0


@pytest.fixture(scope="module")
def spectrum() -> TimescaleSpectrum:
    """τ = e^{-ζ} with e^ζ ~ Gamma(a, rate b) is inverse gamma; the grid ends at τ = e^10."""
    return gamma_density(A, B, left=-10.0).timescales()


def solved(model: Model, half: float = 20.0, edges: str = "open", nodes: int = 801) -> StationaryDensity:
    grid = Grid(-half, half, nodes, edges)
    null = null_vector(model, grid)
    return StationaryDensity(model, grid, 8, "elimination", null, ErrorEstimate(1e-9), (), ())


def test_against_the_inverse_gamma_law(spectrum: TimescaleSpectrum) -> None:
    twin = scipy.stats.invgamma(A, scale=B)
    tau = np.array([[0.02, 0.1, 0.7], [3.0, 40.0, 2e4]])
    for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        ours = getattr(spectrum, name)(tau)
        assert ours.shape == tau.shape
        # e^ζ at ζ = -10 is not yet nothing: the geometric continuation is right to b e^{-10} only
        np.testing.assert_allclose(ours[0], getattr(twin, name)(tau[0]), rtol=3e-5, err_msg=name)
        np.testing.assert_allclose(ours, getattr(twin, name)(tau), rtol=2e-4, err_msg=name)
        assert np.array_equal(getattr(spectrum, name)(log_tau=np.log(tau)), ours)
        assert isinstance(getattr(spectrum, name)(1.0), float)


def test_against_the_inverse_gamma_law_with_a_long_grid() -> None:
    spectrum, twin = gamma_density(A, B).timescales(), scipy.stats.invgamma(A, scale=B)
    tau = np.array([0.02, 0.1, 0.7, 3.0, 40.0, 1e12])
    for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):  # measured 3e-14
        np.testing.assert_allclose(getattr(spectrum, name)(tau), getattr(twin, name)(tau), rtol=1e-12)
    q = np.array([1e-8, 0.1, 0.5, 0.99, 1 - 1e-8])
    np.testing.assert_allclose(spectrum.ppf(q), twin.ppf(q), rtol=1e-9)
    np.testing.assert_allclose(spectrum.isf(q), twin.isf(q), rtol=1e-9)
    assert spectrum.median() == pytest.approx(twin.median(), rel=1e-12)
    assert spectrum.mean() == pytest.approx(twin.mean(), rel=1e-12)
    assert repr(spectrum) == f"TimescaleSpectrum(median {twin.median():.6g}, mean {twin.mean():.6g})"


def test_where_tau_overflows(spectrum: TimescaleSpectrum) -> None:
    far = np.array([1e3, 1e5])
    slope = np.diff(spectrum.logpdf(log_tau=far)) / np.diff(far)
    assert slope == pytest.approx(-1 - A, abs=1e-13)
    assert np.diff(spectrum.logsf(log_tau=far)) / np.diff(far) == pytest.approx(-A, abs=1e-13)
    assert spectrum.local_exponent(log_tau=far) == pytest.approx(A, abs=1e-8)
    heavy = gamma_density(0.05).timescales()
    assert heavy.ppf(1 - 1e-16) == np.inf and heavy.isf(1e-100) == np.inf
    assert heavy.log_ppf(1e-3) == pytest.approx(np.log(heavy.ppf(1e-3)))
    assert heavy.log_rvs(5, random_state=3).shape == (5,)


def test_the_local_exponent_is_the_slope_of_the_density() -> None:
    density = cosh_density(2.0)
    spectrum, tau = density.timescales(), np.array([0.01, 1.0, 50.0])
    assert np.array_equal(spectrum.local_exponent(tau), density.local_exponent(-np.log(tau)))
    step = 1e-4
    rise = spectrum.logpdf(log_tau=np.log(tau) + step) - spectrum.logpdf(log_tau=np.log(tau) - step)
    assert spectrum.local_exponent(tau) == pytest.approx(-1 - rise / (2 * step), abs=1e-7)


def test_no_mass_at_and_below_zero(spectrum: TimescaleSpectrum) -> None:
    tau = np.array([-1.0, 0.0, np.inf, np.nan])
    assert np.array_equal(spectrum.cdf(tau), [0, 0, 1, np.nan], equal_nan=True)
    assert np.array_equal(spectrum.sf(tau), [1, 1, 0, np.nan], equal_nan=True)
    assert np.array_equal(spectrum.pdf(tau), [0, 0, 0, np.nan], equal_nan=True)
    assert np.isnan(spectrum.local_exponent([-1.0])).all()
    assert spectrum.local_exponent(np.inf) == A
    # right tail ρ ~ e^{-sζ} is p ~ τ^{s-1} at τ → 0
    assert cosh_density(0.5).timescales().pdf([0.0, -1.0]).tolist() == [np.inf, 0.0]
    assert cosh_density(2.0).timescales().pdf(0.0) == 0.0
    assert spectrum.ppf([0.0, 1.0]).tolist() == [np.exp(-5.0), np.inf]
    assert np.isnan(spectrum.ppf([-0.1, 1.1, np.nan])).all()


def test_tau_or_its_logarithm(spectrum: TimescaleSpectrum) -> None:
    for call in (lambda: spectrum.pdf(), lambda: spectrum.pdf(1.0, log_tau=0.0)):
        with pytest.raises(TypeError, match="either tau or log_tau"):
            call()


def test_draws_are_those_of_the_density(spectrum: TimescaleSpectrum) -> None:
    density = gamma_density(A, B, left=-10.0)
    draws = spectrum.rvs(4000, random_state=5)
    assert np.array_equal(draws, np.exp(-density.rvs(4000, random_state=5)))
    assert scipy.stats.kstest(draws, spectrum.cdf).pvalue > 1e-3  # 0.28
    assert scipy.stats.kstest(draws, lambda tau: spectrum.cdf(1.2 * tau)).pvalue < 1e-6


# --- the mean -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "left"), [(1.000001, -10.0), (1.01, -10.0), (1.3, -10.0), (5.0, -10.0), (1.3, -40.0)])
def test_the_mean_holds_what_lies_beyond_the_edge(a: float, left: float) -> None:
    density = gamma_density(a, left=left)
    exact = 1 / (a - 1)
    # beyond ζ = -10 the exact density bends by e^{-10}, of the part that lies there
    assert density.timescales().mean() == pytest.approx(exact, rel=5e-5 if left > -20 else 1e-12)
    inside = density.grid.spacing * np.sum(np.exp(density.log_density - density.zeta))
    # the control: at a = 1.01 the grid holds a tenth of it, at 1.000001 a hundred thousandth
    assert a > 1.1 or inside < 0.2 * exact


@pytest.mark.parametrize("a", [1.0, 0.999, 0.1])
def test_the_mean_that_does_not_exist(a: float) -> None:
    assert gamma_density(a).timescales().mean() == np.inf


def test_the_phase_decides_the_mean(baseline: Model) -> None:
    concentrated = solved(baseline).timescales()
    longer = solved(baseline, 40.0, nodes=1601).timescales()
    assert concentrated.mean() == pytest.approx(longer.mean(), rel=1e-10)
    broad = Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(1.0, 1.5, 1.0))  # β = 0.52
    assert solved(broad).timescales().mean() == np.inf
    # λ < 1 alone makes it infinite, whatever holds the population
    confined = Model(LinearDrift(1.0, 0.0), 0.5, TemperedStableJumps(0.2, 1.5, 0.9))
    assert solved(confined, 30.0, "stop").timescales().mean() == np.inf


@pytest.mark.parametrize(("alpha", "bound"), [(0.5, 2e-5), (1.5, 1e-8)])  # measured 6e-6 and 2e-9
def test_a_mean_that_a_power_of_the_depth_saves(alpha: float, bound: float) -> None:
    """No root and λ = 1: p ~ τ^{-2} (ln τ)^{-1-α} has a mean. Twice the spacing sums twice as deep."""
    model = Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(0.2, alpha, 1.0))
    means = [solved(model, nodes=nodes).timescales().mean() for nodes in (401, 801)]
    assert np.isfinite(means[0]) and means[0] == pytest.approx(means[1], rel=bound)
    deep = solved(model, nodes=801)
    partial = deep.grid.spacing * np.sum(np.exp(deep.log_density - deep.zeta))
    assert partial < (1 - 1e-3) * means[1]  # most of the difference lies far beyond the grid


def test_the_mean_at_a_stop_edge() -> None:
    """Log-normal τ: E τ = e^{1/2}; and a plateau cut short is continued geometrically."""
    grid = Grid(-9, 9, 361, "stop")
    values = -0.5 * grid.zeta**2 - 0.5 * np.log(2 * np.pi)
    normal = on_grid(Model(LinearDrift(1.0, 0.0), 1.0), grid, values, (np.nan, np.nan))
    assert normal.timescales().mean() == pytest.approx(np.exp(0.5), rel=1e-12)
    cut = gamma_density(1.3, left=-10.0, edge="stop")
    assert cut.timescales().mean() == pytest.approx(1 / 0.3, rel=1e-3)
    assert log_exponential_mean(gamma_density(0.9, edge="stop").distribution.interpolant, np.inf) == np.inf


def test_the_mean_of_a_confined_population() -> None:
    """dζ = -ζ dt + noise: ln E e^{-ζ} = η_G/2 + ∫_0^1 η_J ψ(u)/u du, by the noise's own exponent."""
    jumps = TemperedStableJumps(0.4, 1.5, 2.2)
    density = solved(Model(LinearDrift(1.0, 0.0), 0.5, jumps), 18.0, "stop")
    exact = 0.25 + scipy.integrate.quad(lambda u: float(jumps.laplace_exponent(u)) / u, 0, 1)[0]
    assert density.timescales().log_mean() == pytest.approx(exact, abs=1e-9)
