"""The spectrum of time scales against the inverse gamma law, where τ overflows, and where it has no mean."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from known_densities import cosh_density, gamma_density, on_grid

from solver.density import ErrorEstimate, StationaryDensity
from solver.drifts import LinearDrift, TanhDrift
from solver.elimination import null_vector
from solver.exponent import intensity_for_exponent, threshold_intensity
from solver.exponential_mean import exponential_mean
from solver.grid import Grid
from solver.jumps import TemperedStableJumps, unit_laplace_exponent
from solver.model import Model
from solver.stationary import solve_stationary
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


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("share", [0.3, 0.99])
def test_a_mean_that_a_power_of_the_depth_saves(alpha: float, share: float) -> None:
    """No root and λ = 1: p ~ τ^{-2} (ln τ)^{-1-α} has a mean, whose sum over the tail converges as |ζ|^{-α}.

    The balance of e^{-ζ} for F = -tanh ζ: (1 + tanh ζ) e^{-ζ} = sech ζ, so that E τ (1 - η_G - η_J ψ(1)) = E sech ζ, a
    mean of the body.
    """
    intensity = share * float(threshold_intensity(1.0, 0.1, alpha, 1.0))
    model = Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(intensity, alpha, 1.0))
    density = solved(model)
    spectrum = density.timescales()
    sech = density.grid.spacing * np.sum(np.exp(density.log_density) / np.cosh(density.zeta))
    exact = sech / (1 - 0.1 - intensity * float(unit_laplace_exponent(1.0, alpha, 1.0)))
    assert spectrum.mean() == pytest.approx(exact, rel=1e-11)  # measured 7e-13 (α = 1.5), the sum beyond ζ = 20
    assert 1e-13 < spectrum.mean_error() < 1e-7
    partial = density.grid.spacing * np.sum(np.exp(density.log_density - density.zeta))
    assert partial < (1 - 1e-4) * exact  # the rest lies far beyond the grid
    # without the model nothing but the tail itself could say it, and that takes more depth than there is
    blind = exponential_mean(density.distribution.interpolant, 1.0)
    assert np.isnan(blind.log_value) and "pinned at 1" in blind.reason


@pytest.mark.parametrize("excess", [1.0, 1e-3, 1e-6, 1e-9, 1e-11])
def test_a_mean_next_to_the_critical_point(excess: float) -> None:
    """Pure diffusion, ρ ~ cosh^{-s}: E τ = B((s-1)/2, (s+1)/2)/B(s/2, s/2), within what is said to be the error."""
    s = 1 + excess
    model = Model(TanhDrift(0.3 * s, 0.0, 1.0), 0.3, None)
    density = solve_stationary(model)
    spectrum = density.timescales()
    with mpmath.workdps(40):
        true = mpmath.mpf(model.left_plateau) / mpmath.mpf(model.diffusion)
        exact = mpmath.beta((true - 1) / 2, (true + 1) / 2) / mpmath.beta(true / 2, true / 2)
        off = abs(float(mpmath.mpf(spectrum.mean()) / exact - 1))
    assert off < spectrum.mean_error() < 1e-7 + 1e-12 / excess
    if excess < 1e-5:  # the control: the direct sum magnifies the error of the exponent
        direct = exponential_mean(density.distribution.interpolant, np.inf, None, density.log_error)
        assert not direct.error < 10 * spectrum.mean_error()


@pytest.mark.parametrize("beta", [1.02, 1.3, 2.0])
def test_the_balance_is_the_direct_sum(beta: float) -> None:
    """Where the tail is steep enough for both."""
    intensity = float(intensity_for_exponent(beta, 1.0, 0.2, 1.2, 2.5))
    density = solve_stationary(Model(TanhDrift(1.0, 0.0, 1.0), 0.2, TemperedStableJumps(intensity, 1.2, 2.5)))
    spectrum = density.timescales()
    direct = exponential_mean(density.distribution.interpolant, 2.5, None, density.log_error)
    # measured 2e-12 at β = 1.02: the direct sum has the error of the exponent times 1/(β-1)
    assert spectrum.log_mean() == pytest.approx(direct.log_value, abs=2e-11)
    assert abs(spectrum.log_mean() - direct.log_value) < spectrum.mean_error() + direct.error
    assert spectrum.mean_estimate.reason == "by the balance of e^{-ζ}"
    assert direct.reason == "by the sum over the density"


def test_a_mean_that_is_not_known() -> None:
    """At 1e-13 above the critical point no digit is left; at 1e-12 and closer it counts as critical: infinite."""
    spectrum = solved(Model(TanhDrift(0.3 * (1 + 1e-13), 0.0, 1.0), 0.3, None)).timescales()
    assert spectrum.mean() == np.inf and "at most 1" in spectrum.mean_estimate.reason
    spectrum = dataclasses.replace(spectrum, model=None)
    assert spectrum.mean() == np.inf
    density = solved(Model(TanhDrift(0.3 * 1.001, 0.0, 1.0), 0.3, None))
    vague = dataclasses.replace(density.timescales(), log_error=lambda zeta: np.full(np.shape(zeta), 0.5))
    assert np.isnan(vague.mean()) and vague.mean_error() > 0.5
    assert "not known" in vague.mean_estimate.reason and "mean nan" in repr(vague)
    heavy = Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(0.2, 0.5, 0.9))
    assert "0.9 < 1" in solved(heavy).timescales().mean_estimate.reason


def test_any_time_scale_that_a_double_holds(spectrum: TimescaleSpectrum) -> None:
    far = np.array([1e17, 1e300])
    assert spectrum.logpdf(log_tau=far) == pytest.approx(-(1 + A) * far, rel=1e-14)
    assert spectrum.logsf(log_tau=far) == pytest.approx(-A * far, rel=1e-14)
    assert (spectrum.local_exponent(log_tau=far) == A).all() and (spectrum.logcdf(log_tau=far) == 0).all()
    assert (spectrum.logpdf(log_tau=-far) == -np.inf).all()
    for name in ("logpdf", "logcdf", "logsf", "pdf", "cdf", "sf", "local_exponent"):
        assert getattr(spectrum, name)(np.zeros((0, 3))).shape == (0, 3), name
        assert getattr(spectrum, name)(np.array([[1, 2]])).shape == (1, 2), name  # integers
        assert np.isfinite(getattr(spectrum, name)(1)), name


def test_the_mean_at_a_stop_edge() -> None:
    """Log-normal τ: E τ = e^{1/2}; and a plateau cut short is continued geometrically."""
    grid = Grid(-9, 9, 361, "stop")
    values = -0.5 * grid.zeta**2 - 0.5 * np.log(2 * np.pi)
    normal = on_grid(Model(LinearDrift(1.0, 0.0), 1.0), grid, values, (np.nan, np.nan))
    assert normal.timescales().mean() == pytest.approx(np.exp(0.5), rel=1e-12)
    cut = gamma_density(1.3, left=-10.0, edge="stop")
    assert cut.timescales().mean() == pytest.approx(1 / 0.3, rel=1e-3)
    assert exponential_mean(gamma_density(0.9, edge="stop").distribution.interpolant, np.inf).log_value == np.inf


def test_the_mean_of_a_confined_population() -> None:
    """dζ = -ζ dt + noise: ln E e^{-ζ} = η_G/2 + ∫_0^1 η_J ψ(u)/u du, by the noise's own exponent."""
    jumps = TemperedStableJumps(0.4, 1.5, 2.2)
    density = solved(Model(LinearDrift(1.0, 0.0), 0.5, jumps), 18.0, "stop")
    exact = 0.25 + scipy.integrate.quad(lambda u: float(jumps.laplace_exponent(u)) / u, 0, 1)[0]
    assert density.timescales().log_mean() == pytest.approx(exact, abs=1e-9)
