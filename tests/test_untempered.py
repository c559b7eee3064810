"""Untempered jumps (λ = 0): powers of the depth instead of exponentials, against laws known exactly.

F = -ζ³, Cauchy noise of intensity 1          ρ = 1 / (π (1 - ζ² + ζ⁴))
F = -a (ζ - m), stable noise                  ρ a stable law of scale (η_J / (α a))^{1/α}: Cauchy for α = 1
F saturating at κ, α > 1                      ρ |ζ|^α → η_J c/(α κ),   f (ln ℓ)^{α-1} → η_J c/(α (α-1) κ)
"""

from __future__ import annotations

import dataclasses
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
from numpy.typing import NDArray
from scipy.special import gamma
from typer.testing import CliRunner

from solver import cli, elimination, load, untempered
from solver.closed_form import closed_form
from solver.crosscheck import cross_check
from solver.density import StationaryDensity
from solver.drifts import CallableDrift, Drift, ExponentialDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.moments import moment_exists
from solver.power_tail import PowerTail
from solver.stationary import solve_stationary
from validation.exact_densities import cubic_log_density

Array = NDArray[np.float64]

CUBIC = CallableDrift(lambda z: -(z**3), left=np.inf, right=np.inf, scale=1.0)
SIDES = np.array([-1.0, 1.0])
BODY = np.linspace(-8.0, 8.0, 161) + 0.003
FAR = np.multiply.outer(SIDES, [30.0, 90.0, 120.0, 300.0, 1e3, 1e4, 1e6, 1e9, 1e15]).ravel()


def stable(stability: float, intensity: float = 1.0, convention: str = "stable") -> TemperedStableJumps:
    return TemperedStableJumps(intensity, stability, 0.0, convention)


def pure(drift: Drift, stability: float, intensity: float = 1.0) -> Model:
    return Model(drift, 0.0, stable(stability, intensity))


def cauchy_log_density(zeta: Array, scale: float, centre: float) -> Array:
    return np.asarray(np.log(scale / np.pi / ((zeta - centre) ** 2 + scale**2)))


def stable_density(distance: Array, stability: float, scale: float) -> Array:
    """The density of e^{-|scale k|^α}, α < 1, by its series in s^{-kα-1}, which converges everywhere but at 0."""
    k = np.arange(1, 140)
    signs = -((-1.0) ** k) * np.sin(k * np.pi * stability / 2)
    log_sizes = scipy.special.gammaln(k * stability + 1) - scipy.special.gammaln(k + 1)
    x = np.asarray(distance)[:, None] / scale
    return np.asarray((signs * np.exp(log_sizes - (k * stability + 1) * np.log(x))).sum(axis=1) / np.pi / scale)


@lru_cache(maxsize=8)
def cubic(rtol: float = 1e-8) -> StationaryDensity:
    return solve_stationary(pure(CUBIC, 1.0), rtol)


@lru_cache(maxsize=8)
def saturating(stability: float, rtol: float) -> StationaryDensity:
    return solve_stationary(Model(TanhDrift(1.0), 0.3, stable(stability, 0.4, "levy")), rtol)


def assert_honest(density: StationaryDensity, zeta: Array, exact: Array) -> None:
    """The reported error is never smaller than the true one, ln ρ being rounded too."""
    error = np.abs(density.logpdf(zeta) - exact)
    assert (error <= density.log_error(zeta) + 1e-15 * np.abs(exact)).all()


# --- the half-line ------------------------------------------------------------------------------------------

TAIL = PowerTail(np.array([1.3, -0.5, 0.2]), np.array([2.5, 3.0, 4.5]), start=7.5, log_scale=-3.0, spacing=0.2)
STEEP = PowerTail(np.array([0.7, 0.3]), np.array([4.0, 6.0]), start=20.0, log_scale=-5.0, spacing=0.1)


def nodes_of(tail: PowerTail, count: int) -> Array:
    n = np.arange(1.0, count + 1)
    y = 1 + n / tail.start
    return np.exp(tail.log_scale) * (tail.coefficients * y[:, None] ** -tail.powers).sum(axis=1)


def test_values_and_sums_of_powers() -> None:
    direct = nodes_of(STEEP, 200_000)
    assert np.allclose(np.exp(STEEP.log_density([1, 5, 1000])), direct[[0, 4, 999]], rtol=1e-13)
    # what lies beyond node 200 000 is 1e-12 of the mass
    masses = 0.1 * np.array([direct.sum(), direct[39:].sum()])
    assert np.allclose(np.exp(STEEP.log_mass_from([1, 40])), masses, rtol=1e-9)
    n = np.arange(1.0, direct.size + 1)
    moments = STEEP.moments()
    assert np.allclose(moments[:2], 0.1 * np.array([direct.sum(), n @ direct]), rtol=1e-7)
    assert math.isclose(moments[2], 0.1 * float(n**2 @ direct), rel_tol=1e-3)  # of which 2e-4 lies beyond
    assert STEEP.exponent == 0.0 and STEEP.reach == np.inf


def test_moments_that_do_not_exist_are_infinite() -> None:
    m0, m1, m2 = TAIL.moments()
    assert np.isfinite(m0) and np.isfinite(m1) and m2 == np.inf
    assert dataclasses.replace(TAIL, powers=np.array([2.0, 3.0, 4.5])).moments()[1] == np.inf


@pytest.mark.parametrize("tail", [TAIL, STEEP])
def test_messages_are_the_geometric_sums(tail: PowerTail) -> None:
    log_ratios = np.array([-3.0, -0.4, -0.01, -2e-4])
    direct = nodes_of(tail, 300_000) / np.exp(tail.log_scale)
    n = np.arange(direct.size)
    expected = [float(np.exp(n * q) @ direct) for q in log_ratios]
    assert np.allclose(tail.sent(log_ratios), expected, rtol=1e-13)  # 6e-16 measured


def test_the_integral_and_its_inverse() -> None:
    h = TAIL.spacing
    distance = h * np.array([1.0, 3.7, 50.0, 1e6, 1e20, 1e40])
    assert np.allclose(TAIL.far_distance(TAIL.far_log_mass(distance)), distance, rtol=1e-12)
    value, _ = scipy.integrate.quad(lambda x: float(np.exp(TAIL.log_density(x))), 3.7, np.inf, epsabs=0, epsrel=1e-11)
    assert math.isclose(float(np.exp(TAIL.far_log_mass(np.array([3.7 * h]))[0])), h * value, rel_tol=1e-9)
    step = 1e-3
    slope = (TAIL.log_density(9 - step) - TAIL.log_density(9 + step)) / (2 * step)
    assert math.isclose(float(TAIL.far_decay(np.array([9 * h]))[0]) * h, float(slope), rel_tol=1e-7)


def test_a_tail_is_saved_whole_and_refuses_nodes_inside() -> None:
    again = PowerTail.from_arrays(TAIL.arrays())
    assert np.array_equal(again.log_density([1, 10**15]), TAIL.log_density([1, 10**15]))
    assert math.isclose(float(TAIL.shifted(2.0).log_density(4) - TAIL.log_density(4)), 2.0, rel_tol=1e-14)
    with pytest.raises(ValueError, match=r"n = 0: nodes beyond the edge are counted from 1"):
        TAIL.log_density([3, 0])


# --- theory of the tail -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("power", "stability"), [(0.3, 0.5), (0.5, 0.5), (1.4, 1.2), (2.7, 1.7), (4.2, 1.0)])
def test_the_jump_integral_of_a_power(power: float, stability: float) -> None:
    """Both sides together: -|D|^α |s|^{-q} = -2^α Γ((q+α)/2) Γ((1-q)/2) / (Γ(q/2) Γ((1-q-α)/2)) |s|^{-q-α}."""
    own, opposite = untempered.jump_integral(power, stability)
    a, q = stability, power
    whole = -(2**a) * gamma((q + a) / 2) * gamma((1 - q) / 2) / gamma(q / 2) / gamma((1 - q - a) / 2)
    assert math.isclose(stable(a).strength * (own + opposite), whole, rel_tol=1e-12, abs_tol=1e-15)
    # the opposite side alone, no singularity for q < 1: ∫_0^∞ y^{-q} (1+y)^{-1-α} dy
    if q < 1:
        t = np.arange(-200.0, 200.0, 0.05)  # y = e^t: the trapezoid rule converges like e^{-2π·π/0.05}
        plain = 0.05 * np.sum(np.exp((1 - q) * t) * (1 + np.exp(t)) ** (-1 - a))
        assert math.isclose(opposite, plain, rel_tol=1e-12)


def test_the_series_of_a_stable_law() -> None:
    """α = 0.5, F = -ζ: the whole series is known, a_k = (-1)^{k+1} Γ(kα+1) sin(kπα/2) γ^{kα} / (π k!)."""
    terms, other = untempered.expansions(pure(LinearDrift(1.0, 0.0), 0.5))
    scale_power = 1.0 / 0.5  # γ^α = η_J/(α a)
    for k, (q, a) in zip((1, 2, 3), terms, strict=False):
        size = -((-1) ** k) * gamma(0.5 * k + 1) * math.sin(k * math.pi / 4) / math.factorial(k)
        exact = size * scale_power**k / math.pi
        assert math.isclose(q, 1 + 0.5 * k) and math.isclose(a, exact, rel_tol=1e-12)
    assert terms == other


@pytest.mark.parametrize(
    ("drift", "left", "right"),
    [
        (CUBIC, 3.0, 3.0),
        (CallableDrift(lambda z: -(z**3) + 2 * z**2 + 1, left=np.inf, right=np.inf, scale=1.0), 3.0, 3.0),
        (LinearDrift(2.0, 0.7), 1.0, 1.0),
        (ExponentialDrift(0.5, 1.0), 0.0, np.inf),
        (CallableDrift(lambda z: -z * np.sqrt(1 + np.abs(z)), left=np.inf, right=np.inf, scale=1.0), 1.5, 1.5),
    ],
)
def test_growth(drift: Drift, left: float, right: float) -> None:
    assert (untempered.growth(drift, -1).power, untempered.growth(drift, 1).power) == (left, right)
    if right == 3.0:
        assert math.isclose(untempered.growth(drift, 1).size, 1.0, rel_tol=1e-10)


# --- densities known exactly --------------------------------------------------------------------------------


def test_cauchy_noise_in_a_cubic_drift() -> None:
    density = cubic()
    error = np.abs(density.logpdf(BODY) - cubic_log_density(BODY))
    assert error.max() < 1e-9  # 1.3e-11 measured; 1e-8 asked
    assert density.error_estimate < 1e-8
    assert_honest(density, np.concatenate([BODY, FAR]), cubic_log_density(np.concatenate([BODY, FAR])))
    # the cdf: arctan of both complex poles, here by quadrature of the exact density
    for z in (0.3, 1.0, 5.0):
        part, _ = scipy.integrate.quad(lambda x: float(np.exp(cubic_log_density(np.array(x)))), 0.0, z, epsabs=1e-14)
        assert abs(density.cdf(z) - 0.5 - part) < 1e-9
    assert math.isclose(density.var(), 1.0, rel_tol=1e-8) and abs(density.mean()) < 1e-8
    assert density.tail_exponent == 0.0 and density.residual < 1e-13
    assert any("continued by powers of the depth, |ζ|^-4 first" in text for text in density.assumptions)


def test_without_the_mass_of_the_tail_the_cubic_misses() -> None:
    """Negative control: a stop edge keeps all mass on the grid."""
    grid = cubic().grid
    stop = dataclasses.replace(grid, edges=("stop", "stop"), nodes=grid.nodes)
    null = elimination.null_vector(pure(CUBIC, 1.0), stop)
    missed = np.abs(np.interp(BODY, grid.zeta, null.log_density - cubic_log_density(grid.zeta)))
    assert missed.max() > 5e-8  # 2.4e-7 = 2/(3π 96³) measured
    assert np.ptp(missed) < 2e-9  # 1.0e-9 measured: it is nothing but normalisation


def test_the_edge_of_a_narrow_grid_is_felt_and_reported() -> None:
    """On the same narrow grid: the tail's second and third powers are worth a factor of 1e5."""
    model, grid = pure(CUBIC, 1.0), Grid(-10.0, 10.0, 1281, "open")
    density = solve_stationary(model, grid=grid)
    both = np.concatenate([BODY, FAR])
    assert_honest(density, both, cubic_log_density(both))
    assert np.abs(density.logpdf(BODY) - cubic_log_density(BODY)).max() < 1e-7  # 8.7e-9 measured
    stop = solve_stationary(model, grid=dataclasses.replace(grid, edges=("stop", "stop")))
    assert np.abs(stop.logpdf(BODY) - cubic_log_density(BODY)).max() > 1e-4  # 2.1e-4 in normalisation alone


@pytest.mark.parametrize(("rate", "centre", "intensity"), [(1.0, 0.0, 1.0), (0.5, 1.0, 2.0)])
def test_cauchy_noise_in_a_linear_drift(rate: float, centre: float, intensity: float) -> None:
    density = solve_stationary(pure(LinearDrift(rate, centre), 1.0, intensity), 1e-6)
    scale = intensity / rate
    zeta = np.concatenate([centre + scale * BODY, FAR])
    exact = cauchy_log_density(zeta, scale, centre)
    assert np.abs(density.logpdf(zeta) - exact).max() < 3e-7  # 6.5e-8 measured
    assert_honest(density, zeta, exact)
    assert np.allclose(density.cdf(zeta[:161]), 0.5 + np.arctan(BODY) / np.pi, atol=1e-7, rtol=0)
    assert np.isnan(density.mean()) and density.var() == np.inf
    assert math.isclose(density.ppf(1e-9), centre - scale / math.tan(math.pi * 1e-9), rel_tol=1e-6)


def test_a_stable_law_of_index_one_half() -> None:
    """The heaviest tail: P(|ζ| > s) falls as s^{-1/2}, and 3% of all mass lies beyond the grid."""
    density = solve_stationary(pure(LinearDrift(1.0, 0.3), 0.5, 0.4), 1e-4)
    zeta = 0.3 + np.multiply.outer(SIDES, [0.5, 2.0, 20.0, 300.0, 1e4, 1e8, 1e14]).ravel()
    exact = np.log(stable_density(np.abs(zeta - 0.3), 0.5, (0.4 / 0.5) ** 2))
    assert np.abs(density.logpdf(zeta) - exact).max() < 1e-4  # 4e-6 measured
    assert_honest(density, zeta, exact)
    assert 1 - density.cdf(density.grid.right) > 0.01


# --- drifts that saturate -----------------------------------------------------------------------------------


def test_the_tail_of_a_saturating_drift() -> None:
    """ρ s^α and f (ln ℓ)^{α-1} reach their constants; corrections s^{-1} are 0.5/s here, those s^{1-α} vanish."""
    density = saturating(1.5, 1e-5)
    assert density.error_estimate < 1e-5
    s = np.array([1e3, 1e5, 1e7])
    constant = 0.4 / 1.5
    assert np.allclose(np.exp(density.logpdf(-s) + 1.5 * np.log(s)), constant, rtol=[2e-3, 2e-5, 2e-5], atol=0)
    envelope = density.envelope(log_lags=s)
    assert np.allclose(envelope.values * s**0.5, constant / 0.5, rtol=[2e-3, 2e-5, 2e-5], atol=0)
    assert np.allclose(envelope.local_exponent * s, 0.5, rtol=2e-3, atol=0)
    tail = closed_form(density.model).tail
    assert (tail.case, tail.exponent, tail.power) == ("stable", 0.0, -1.5)
    assert density.timescales().mean() == np.inf and np.isnan(density.mean())


@pytest.mark.parametrize(("stability", "rtol"), [(1.2, 1e-3), (1.8, 1e-4)])
def test_two_accuracies_differ_by_less_than_they_say(stability: float, rtol: float) -> None:
    rough, fine = saturating(stability, rtol), saturating(stability, rtol / 30)
    zeta = np.concatenate([BODY, FAR])
    difference = np.abs(rough.logpdf(zeta) - fine.logpdf(zeta))
    assert (difference <= rough.log_error(zeta) + fine.log_error(zeta)).all()
    assert difference.max() > 1e-3 * rough.error_estimate  # nor is the estimate idle


@pytest.mark.parametrize("drift", [ExponentialDrift(1.0, 1.0), LogisticDrift(1.0, 2.0, 0.5, 1.0)])
def test_unequal_sides(drift: Drift) -> None:
    """Tails of different size: at α = 3/2 logarithms appear, written as two near powers."""
    density = solve_stationary(Model(drift, 0.1, stable(1.5, 0.4, "levy")), 1e-4)
    s = 1e10  # corrections s^{-1/2}
    assert math.isclose(float(np.exp(density.logpdf(-s) + 1.5 * np.log(s))), 0.4 / 1.5, rel_tol=1e-4)
    assert cross_check(density).passed
    if isinstance(drift, LogisticDrift):
        assert math.isclose(float(np.exp(density.logpdf(s) + 1.5 * np.log(s))), 0.4 / 1.5 / 2, rel_tol=1e-4)
    else:
        assert density.grid.edges == ("open", "stop")


@pytest.mark.parametrize("stability", [0.5, 1.0])
@pytest.mark.parametrize("drift", [TanhDrift(1.0), ExponentialDrift(1.0, 1.0)])
def test_jumps_without_a_mean_defeat_a_drift_that_saturates(drift: Drift, stability: float) -> None:
    with pytest.raises(NoStationaryDensityError, match=rf"tempering = 0 and stability = {stability:g} ≤ 1 the jumps"):
        solve_stationary(pure(drift, stability))


# --- what the result says, and errors -----------------------------------------------------------------------


def test_the_cross_check_reads_powers() -> None:
    check = cross_check(cubic())
    assert check.passed, str(check)
    rows = {row.source: row for row in check.rows}
    assert abs(rows["power of |ζ|"].exponent - 4.0) < 2e-3 and abs(rows["size of the tail"].exponent - 1.0) < 1e-3
    check = cross_check(saturating(1.5, 1e-5))
    assert check.passed, str(check)
    assert [row.source for row in check.rows] == ["ln ρ", "p(τ)", "f(ℓ)", "power of |ζ|", "size of the tail"]


def test_the_cross_check_notices_another_intensity() -> None:
    """Negative control: the density of a model whose jumps are 1% weaker has 1% less tail."""
    density = cubic()
    wrong = dataclasses.replace(density, model=pure(CUBIC, 1.0, 1.01))
    failed = [row.source for row in cross_check(wrong).rows if not row.passed]
    assert failed == ["size of the tail"]
    steeper = CallableDrift(lambda z: -np.sign(z) * np.abs(z) ** 3.05, left=np.inf, right=np.inf, scale=1.0)
    wrong = dataclasses.replace(density, model=pure(steeper, 1.0))
    assert "power of |ζ|" in [row.source for row in cross_check(wrong).rows if not row.passed]


def test_quantiles_and_draws_at_any_depth() -> None:
    density = saturating(1.5, 1e-5)  # P(|ζ| > s) ~ s^{-1/2}: quantiles far beyond every count of nodes
    q = np.array([1e-15, 1e-9, 1e-3, 0.3, 0.5])
    assert np.allclose(density.cdf(density.ppf(q)), q, rtol=1e-11, atol=0)
    assert np.allclose(density.sf(density.isf(q)), q, rtol=1e-11, atol=0)
    assert density.ppf(1e-15) < -1e28
    draws = density.rvs(20_000, random_state=1)
    assert np.isfinite(draws).all()
    assert abs(np.mean(np.abs(draws) > 1e4) - 2 * density.cdf(-1e4)) < 3e-3  # 3 standard deviations: 2e-3
    edge = density.grid.left - density.grid.spacing * np.array([-0.01, 0.0, 0.01, 0.99, 1.0, 1.01])
    assert np.ptp(np.diff(density.logcdf(edge)) / np.diff(edge)) < 1e-6  # no step where the formulas change
    assert np.ptp(density.local_exponent(edge)) < 1e-5


def test_a_density_with_powers_is_saved_whole(tmp_path: Path) -> None:
    density = saturating(1.5, 1e-5)
    density.save(tmp_path / "density.npz")
    again = load(tmp_path / "density.npz")
    assert isinstance(again.null.left, PowerTail) and again.error == density.error
    zeta = np.array([-1e20, -1e3, 0.0, 400.0])
    assert np.array_equal(again.logpdf(zeta), density.logpdf(zeta))


def test_the_command_line_solves_untempered_models(tmp_path: Path) -> None:
    path = tmp_path / "stable.toml"
    Model(TanhDrift(1.0), 0.0, stable(1.5)).to_toml(path)
    result = CliRunner().invoke(cli.app, ["solve", str(path), "--rtol", "1e-3", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "ρ ~ |ζ|^-1.5, p ~ τ^-1 (ln τ)^-1.5, f ~ (ln ℓ)^-0.5" in text
    assert "beyond the left edge the density is continued by powers of the depth" in text
    assert {"summary.json", "density.csv", "envelope.csv"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_placing_the_domain_is_reported() -> None:
    calls: list[tuple[int, int, float]] = []
    solve_stationary(Model(TanhDrift(1.0), 0.0, stable(1.5)), 1e-3, progress=lambda *call: calls.append(call))
    levels = [level for level, _, _ in calls]
    assert levels == sorted(levels) and levels.count(0) >= 2  # each domain is compared with one twice as wide
    assert all(nodes > 0 for _, nodes, _ in calls)


def test_moments_exist_by_the_power_of_the_tail() -> None:
    shifted = pure(LinearDrift(1.0, 0.5), 1.0)  # exactly at the border: s^{-2}
    assert not moment_exists(shifted, 1, "left") and not moment_exists(shifted, 1, "right")
    assert moment_exists(pure(CUBIC, 1.0), 2, "left") and not moment_exists(pure(CUBIC, 1.0), 3, "left")
    assert moment_exists(pure(ExponentialDrift(1.0, 1.0), 1.5), 9, "right")


def test_too_few_nodes_end_with_the_best_density() -> None:
    with pytest.raises(NotConvergedError, match=r"powers of the depth, to .* allow more nodes") as caught:
        solve_stationary(Model(TanhDrift(1.0), 0.3, stable(1.2, 0.4, "levy")), 1e-8, max_nodes=8000)
    density = caught.value.density
    assert density is not None and 1e-8 < density.error_estimate < 1e-2
    assert caught.value.estimate == density.error_estimate


def test_an_open_edge_needs_a_power_and_a_depth() -> None:
    with pytest.raises(ModelError, match="the right edge must be 'stop', the drift outgrows every power"):
        untempered.null_vector(pure(ExponentialDrift(1.0, 1.0), 1.5), Grid(-50.0, 10.0, 601, "open"))
    with pytest.raises(ModelError, match=r"its left edge lies inside the drift's zeros \(by 5\)"):
        untempered.null_vector(pure(LinearDrift(1.0, -10.0), 1.5), Grid(-5.0, 50.0, 601, "open"))


def test_tempered_jumps_and_stop_edges_pass_through() -> None:
    grid = Grid(-20.0, 20.0, 401, "stop")
    for model in (pure(CUBIC, 1.0), Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))):
        one, other = untempered.null_vector(model, grid), elimination.null_vector(model, grid)
        assert np.array_equal(one.log_density, other.log_density) and one.left is None
