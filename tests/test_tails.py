"""Tail laws read from solutions: exact densities, predicted constants, blind classification, and readings that must
fail."""

from __future__ import annotations

import dataclasses
import math
from functools import lru_cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from known_densities import cosh_density, gamma_density
from tail_models import KINDS, NEAR, exact_laplace, slow_drift, tail_model

from solver import (
    CallableDrift,
    Grid,
    LaplaceJumps,
    LinearDrift,
    LogisticDrift,
    Model,
    ModelError,
    NotConvergedError,
    TanhDrift,
    TemperedStableJumps,
    closed_form,
    solve_stationary,
)
from solver.density import StationaryDensity
from solver.exponent import threshold_intensity
from solver.tail_data import TailData, tail_data
from solver.tail_fit import chosen, fit_windows
from solver.tail_plain import expanded
from solver.tail_theory import TailComparison, compare_tail, laplace_slope, slow_approach, tail_theory
from solver.tail_transform import contour_rule, cut_rule, transforms
from solver.tails import TailLaw, read_tail, require_law, tail_law


@lru_cache(maxsize=32)
def at_ratio(stability: float, ratio: float, depth: float | None = None) -> StationaryDensity:
    """F = -tanh ζ, η_G = 0.1, λ = 1, the intensity `ratio` times its threshold."""
    star = float(threshold_intensity(1.0, 0.1, stability, 1.0))
    return solve_stationary(Model(TanhDrift(1.0), 0.1, TemperedStableJumps(ratio * star, stability, 1.0)), depth=depth)


def compared(density: StationaryDensity, side: str = "left") -> TailComparison:
    return compare_tail(tail_law(density, side), density)


# --- exact densities -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [0.4, 2.0, 6.0])
def test_constant_of_cosh(s: float) -> None:
    """ρ = cosh^{-s} ζ/∫: C = 2^s/∫, no solver involved; 2e-11 measured."""
    law = tail_law(cosh_density(s))
    with mp.workdps(30):
        exact = float(
            mp.log(mp.mpf(2) ** s / (mp.sqrt(mp.pi) * mp.gamma(mp.mpf(s) / 2) / mp.gamma((mp.mpf(s) + 1) / 2)))
        )
    assert law.case == "diffusion" and law.exponent == s and law.power == 0
    assert abs(law.log_constant - exact) < 1e-10
    assert abs(law.log_constant - exact) <= law.uncertainty.log_constant


def test_constant_of_gamma() -> None:
    """e^ζ ~ Gamma(a, rate b): C = b^a/Γ(a); the law is within 1% where b e^ζ is."""
    law = tail_law(gamma_density(1.7, 2.5))
    exact = float(mp.log(mp.mpf(2.5) ** mp.mpf(1.7) / mp.gamma(mp.mpf(1.7))))
    assert abs(law.log_constant - exact) <= min(law.uncertainty.log_constant, 1e-10)
    assert abs(law.holds_from - math.log(2.5 / 0.01)) < 1.0


def test_constant_with_jumps_known_exactly() -> None:
    """A density chosen first, its drift computed (theory (35)): exponent and constant are exact."""
    model, log_constant = exact_laplace(0.8, 0.3, 1.0, 2.0)
    density = solve_stationary(model)
    law = tail_law(density)
    assert law.case == "root"
    assert abs(law.exponent - 0.8) <= max(law.uncertainty.exponent, 1e-9)
    assert abs(law.log_constant - log_constant) <= min(law.uncertainty.log_constant, 1e-6)
    assert abs(tail_theory(density).log_constant - log_constant) < 1e-7


# --- the transform against mpmath ------------------------------------------------------------------------------------


def inverse(index: float, level: float, slope: float, s: float) -> float:
    with mp.workdps(40):
        a, t, f = mp.mpf(index), mp.mpf(level), mp.mpf(slope)

        def along_cut(v: Any) -> Any:
            u = mp.mpc(-v)
            power = mp.exp(a * (mp.log(v) + mp.mpc(0, 1) * mp.pi))
            denominator = t + f * u - ((power - u) / (a - 1))
            return -mp.im(1 / denominator) * mp.exp(-v * s) / mp.pi

        points = [0, *(mp.mpf(10) ** k / s for k in range(-6, 3))]
        return float(mp.quad(along_cut, points))


@pytest.mark.parametrize(("index", "level"), [(0.2, 0.5), (0.7, 2.0), (1.3, 1.0), (1.8, 3.0)])
def test_both_rules_invert_the_transform(index: float, level: float) -> None:
    """Cut 1e-11, contour 1e-9 or the rounding of what cancels there (both relative), against mpmath."""
    depths = np.array([30.0, 1000.0])
    exact = np.array([inverse(index, level, 0.4, s) for s in depths])
    cut = cut_rule(depths)
    values = cut.invert(transforms(cut, index, level, 0.4, 0.0, 1, 0))[:, 0]
    assert np.abs(values / exact - 1).max() < 1e-10
    contour = contour_rule(depths)
    values = contour.invert(transforms(contour, index, level, 0.4, 0.0, 1, 0))[:, 0]
    assert np.all(np.abs(values - exact) < 1e-9 * np.abs(exact) + 1e-11 / (level * depths))


@pytest.mark.parametrize("stability", [0.3, 0.999, 1.0, 1.001, 1.7])
@pytest.mark.parametrize("share", [0.1, 0.7, 0.99])
def test_slope_of_the_laplace_exponent(stability: float, share: float) -> None:
    model = Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.7, stability, 1.3))
    with mp.workdps(40):
        a, lam, b = mp.mpf(stability), mp.mpf(1.3), mp.mpf(share) * mp.mpf(1.3)
        if stability == 1:
            exact = mp.log(lam + b) - mp.log(lam - b)
        else:
            exact = mp.gamma(-a) * a * ((lam + b) ** (a - 1) - (lam - b) ** (a - 1))
        exact = float(mp.mpf(0.7) * exact)
    assert abs(laplace_slope(model, share * 1.3) / exact - 1) < 1e-12


# --- what decides, and nothing else ----------------------------------------------------------------------------------


def test_the_law_is_read_without_the_model(baseline_density: Any) -> None:
    """The model is replaced by an object that knows nothing."""
    for density in (baseline_density, at_ratio(0.5, 0.5)):
        blind = dataclasses.replace(density, model=object())
        assert repr(tail_law(blind)) == repr(tail_law(density))


def test_root_constant(baseline_density: Any) -> None:
    """Measured 3e-10."""
    found = compared(baseline_density)
    assert found.passed and found.law.case == "root"
    assert abs(found.log_constant_difference) < 1e-8
    assert "ok" in str(found)


@pytest.mark.parametrize(("stability", "ratio"), [(0.5, 0.3), (0.8, 0.8), (1.0, 0.3), (1.5, 0.8), (1.8, 0.3)])
def test_tempered_constant(stability: float, ratio: float) -> None:
    """Asked for: 1e-4. Measured: at most 1e-8, and the power to 1e-9."""
    found = compared(at_ratio(stability, ratio))
    assert found.passed and found.law.case == "tempered" and found.law.exponent == 1.0
    assert abs(found.log_constant_difference) < 1e-6
    assert abs(found.power_difference) < 1e-7


@pytest.mark.parametrize("stability", [0.15, 0.3])
def test_tempered_constant_of_small_stability(stability: float) -> None:
    """The uncertainty covers the truth, which it would not need to be 1e-5 for."""
    found = compared(at_ratio(stability, 0.6))
    assert found.passed and found.law.case == "tempered"
    assert abs(found.log_constant_difference) < 1e-4


def test_distance_to_the_threshold_is_seen_in_the_tail() -> None:
    """η_J*/η_J - 1 from the tail alone, theory (44)."""
    for stability, ratio in ((0.3, 0.6), (0.8, 0.8)):
        assert abs(tail_law(at_ratio(stability, ratio)).distance - (1 / ratio - 1)) < 0.01


def test_law_holds_from_where_it_says() -> None:
    """Below the threshold with α = 1.5 the law is approached as 1/s: 1% and 0.1% are a factor of ten apart."""
    density = at_ratio(1.5, 0.3)
    one, tenth = (tail_law(density, within=w).holds_from for w in (0.01, 0.001))
    assert 3 < tenth / one < 100
    law = tail_law(density)
    for depth, inside in ((1.05 * one, True), (0.3 * one, False)):
        gap = abs(float(density.logpdf(-depth)) - float(law.log_density(depth)))
        assert (gap <= 0.01) is inside


@pytest.mark.parametrize("stability", [0.5, 1.5])
def test_power_at_the_threshold(stability: float) -> None:
    """Asked for: 0.01. Measured: 3e-6 and 0."""
    found = compared(at_ratio(stability, 1.0))
    assert found.law.case == "threshold"
    assert abs(found.law.power - min(stability - 1, 0.0)) < 1e-4
    assert abs(found.log_constant_difference) < 1e-3


def test_logarithm_at_the_threshold() -> None:
    found = compared(at_ratio(1.0, 1.0))
    assert (found.law.case, found.law.power, found.law.log_power) == ("threshold", 0.0, -1)
    assert abs(found.log_constant_difference) < 1e-4


def test_right_tail_is_the_left_tail_of_the_mirror() -> None:
    """F + tails exchanged: logistic drifts of 1.3 and 0.6."""
    jumps = TemperedStableJumps(0.4, 1.2, 2.0)
    one = solve_stationary(Model(LogisticDrift(1.3, 0.6, 0.2, 1.0), 0.2, jumps))
    other = solve_stationary(Model(LogisticDrift(0.6, 1.3, -0.2, 1.0), 0.2, jumps))
    for a, b in (("left", "right"), ("right", "left")):
        first, second = compared(one, a), compared(other, b)
        assert first.passed and second.passed
        assert abs(first.law.log_constant - second.law.log_constant) < 1e-7
        assert first.law.case == second.law.case


def test_untempered_tail() -> None:
    """ρ → (η_J c/(α κ)) |ζ|^{-α}."""
    density = solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.6, 0.0)), rtol=1e-5)
    found = compared(density)
    assert found.law.case == "stable" and found.law.exponent == 0 and abs(found.law.power + 1.6) < 1e-12
    assert abs(found.log_constant_difference) < 1e-4


# --- a drift that approaches its limit slowly ------------------------------------------------------------------------


@pytest.mark.parametrize("jumps", [None, TemperedStableJumps(0.3, 1.5, 3.0)])
def test_a_slow_drift_adds_a_power(jumps: TemperedStableJumps | None) -> None:
    """p = a β/Φ'(β) (theory (42)), read between depths 100 and 800 from a grid that ends there."""
    model = Model(slow_drift(0.5), 0.3, jumps)
    assert abs(slow_approach(model) - 0.5) < 1e-3
    density = solve_stationary(model, grid=Grid(-800.0, 40.0, 16801, ("stop", "stop")))
    law = tail_law(density)
    theory = tail_theory(density)
    assert law.case == "undecided" and math.isnan(theory.log_constant)
    assert abs(law.power - theory.power) <= min(law.uncertainty.power, 0.01)
    assert abs(law.exponent - theory.form.exponent) <= min(law.uncertainty.exponent, 1e-3)
    if jumps is None:
        assert abs(theory.power - 0.5 / 0.3) < 1e-3
    assert abs(law.power) > 10 * law.uncertainty.power, "a law without the power would be rejected"


# --- readings that must fail -----------------------------------------------------------------------------------------


def spoiled(data: TailData, change: Any) -> TailData:
    return dataclasses.replace(data, log_density=lambda s: data.log_density(s) + change(s))


def test_a_wrong_power_is_rejected(baseline_density: Any) -> None:
    """A power of the depth put on a root's tail, which never comes to rest."""
    data = tail_data(baseline_density)
    law = read_tail(spoiled(data, lambda s: 0.3 * np.log(s)))
    assert law.case == "undecided" and abs(law.power - 0.3) < 0.01
    with pytest.raises(ModelError, match="come to rest"):
        require_law(law)


def test_noise_raises_the_uncertainty() -> None:
    data = tail_data(at_ratio(0.8, 0.3))
    quiet = read_tail(data)
    for size in (1e-9,):
        noisy = read_tail(spoiled(data, lambda s, size=size: size * np.random.default_rng(3).standard_normal(s.shape)))
        assert noisy.uncertainty.power > 3 * quiet.uncertainty.power
        assert noisy.case == "undecided" or abs(noisy.power + 1.8) <= noisy.uncertainty.power
        quiet = noisy


def test_comparison_fails_for_a_wrong_law(baseline_density: Any) -> None:
    law = tail_law(baseline_density)
    for change in ({"exponent": law.exponent + 1e-6}, {"power": 0.01}, {"log_constant": law.log_constant + 1e-5}):
        assert not compare_tail(dataclasses.replace(law, **change), baseline_density).passed
    assert not compare_tail(dataclasses.replace(law, case="tempered"), baseline_density).passed


def test_a_law_of_another_form_is_seen_by_its_misfit() -> None:
    """A tail that is pinned but has a bump of 1e-4 at one depth is no singularity of this kind."""
    data = tail_data(at_ratio(0.8, 0.3))
    law = read_tail(spoiled(data, lambda s: 1e-3 * np.exp(-((np.log(s) - 8.0) ** 2))))
    assert law.case == "undecided" or law.uncertainty.power > 1e-3


def test_bad_arguments(baseline_density: Any) -> None:
    with pytest.raises(ModelError, match="side"):
        tail_law(baseline_density, "up")
    with pytest.raises(ModelError, match="within"):
        tail_law(baseline_density, within=0.0)


def test_a_tail_that_is_cut_off_is_undecided() -> None:
    density = solve_stationary(Model(LinearDrift(1.0, 0.0), 0.5, None))
    law = tail_law(density)
    assert law.case == "undecided"
    found = compare_tail(law, density)
    assert found.theory.form.case == "confined" and math.isnan(found.theory.log_constant)


def test_expanded_form_of_a_known_series() -> None:
    s = np.linspace(10.0, 100.0, 200)
    found = expanded(s, 1.5 - 0.7 * s + 0.3 * np.log(s) + 2.0 / s - 1.0 / s**2)
    for value, exact, error in (
        (found.log_constant, 1.5, found.constant_error),
        (found.exponent, 0.7, found.exponent_error),
        (found.power, 0.3, found.power_error),
    ):
        assert abs(value - exact) <= error + 1e-9


# --- blind classification --------------------------------------------------------------------------------------------


def blind(seed: int, index: int) -> tuple[str, Model, TailLaw, TailComparison] | None:
    kind, model = tail_model(seed, index)
    try:
        density = solve_stationary(model)
    except NotConvergedError:
        return None
    law = tail_law(dataclasses.replace(density, model=object()))
    return kind, model, law, compare_tail(law, density)


def check_blind(seed: int, indices: range) -> dict[str, list[str]]:
    """Every case right or "undecided" next to the threshold, every exponent right; what was said, by kind."""
    said: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for index in indices:
        if (found := blind(seed, index)) is None:
            continue
        kind, model, law, comparison = found
        theory = closed_form(model).tail
        said[kind].append(law.case)
        assert law.case == theory.case or (law.case == "undecided" and kind in NEAR), (index, kind, law, comparison)
        allowed = 1e-3 if kind in NEAR else 1e-6
        assert abs(law.exponent / theory.exponent - 1) <= allowed, (index, law)
        assert comparison.passed, (index, kind, comparison)
        if law.case == "root" and kind == "root":
            assert abs(comparison.log_constant_difference) < 1e-6, (index, comparison)
        if law.case == "tempered" and kind == "tempered" and model.jumps.stability >= 0.5:
            assert abs(comparison.log_constant_difference) < 1e-4, (index, comparison)
    close = said["threshold"] + said["near"]
    assert close.count("undecided") <= len(close) / 2
    return said


def test_blind_classification_of_some_models() -> None:
    said = check_blind(1, range(21))
    assert sum(map(len, said.values())) >= 20


@pytest.mark.slow
def test_blind_classification_of_many_models() -> None:
    said = check_blind(2, range(224))
    assert sum(map(len, said.values())) >= 200


def test_a_slow_drift_that_is_taken_as_its_limit_leaves_the_power_open() -> None:
    """F = -ζ/(1+|ζ|), ρ = e^{-s/η}(1+s)^{1/η}: beyond the edge F is taken as 1, the power cannot be seen there."""
    model = Model(CallableDrift(lambda z: -z / (1 + np.abs(z))), 0.3, None)
    law = tail_law(solve_stationary(model, rtol=1e-6))
    assert law.uncertainty.power > abs(law.power - 1 / 0.3) and np.isinf(law.holds_from)


def test_next_to_the_threshold_is_not_told_apart_from_it() -> None:
    star = float(threshold_intensity(1.0, 0.1, 0.5, 1.0))
    model = Model(TanhDrift(1.0), 0.1, TemperedStableJumps(star * (1 - 1e-9), 0.5, 1.0))
    density = solve_stationary(model)
    found = compare_tail(tail_law(density), density)
    assert found.passed and found.law.case in ("threshold", "undecided", "tempered")
    if found.law.case == "threshold":
        assert "not told apart" in str(found)


# --- where the singularity is hard to fit -----------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "kind"), [(19, "near"), (52, "close below")])
def test_a_tail_that_wide_windows_miss_is_read_from_narrow_ones(index: int, kind: str) -> None:
    """Number 19 of seed 7 settled on another α, 0.5 off where 0.0016 was claimed; 52 was undecided. Now 1e-8, 6e-8."""
    named, model = tail_model(7, index)
    found = compared(solve_stationary(model))
    assert named == kind and found.law.case in ("tempered", "undecided") and found.passed, str(found)
    assert found.law.case == "tempered" and abs(found.power_difference) < 1e-6


def test_an_index_that_is_hardly_known_names_no_law() -> None:
    """Number 75 of seed 2, 0.3% below its threshold: two values of α fit alike; 0.49 was claimed, 0.56 was off."""
    found = compared(solve_stationary(tail_model(2, 75)[1]))
    assert found.law.case == "undecided" and found.passed


def test_what_only_narrow_windows_fit_is_known_less_well_than_they_say() -> None:
    """Number 201 of seed 2, 0.08% below its threshold: two fits of one window agree to 3e-6, and are 5e-4 off."""
    found = compared(solve_stationary(tail_model(2, 201)[1]))
    assert found.passed and abs(found.power_difference) < 1e-3


def test_a_residual_that_looks_like_noise_by_accident_is_none() -> None:
    """One fit of eight whose residual changes sign often is no witness of noise; all of them are."""
    data = tail_data(at_ratio(0.8, 0.3))
    depths = np.geomspace(10.0, 1e4, 120)
    values = data.log_density(depths + data.mode) + depths
    fits = fit_windows(depths, values, np.full(depths.size, 1e-20), "below", (0.8,))  # nothing is that exact
    quiet, noisy = (chosen([dataclasses.replace(fit, random=r) for fit in fits]) for r in (False, True))
    alone = chosen([dataclasses.replace(fit, random=k == 0) for k, fit in enumerate(fits)])
    assert quiet is not None and noisy is not None and alone is not None
    assert not quiet.good and noisy.good and not alone.good


def test_a_rival_fit_widens_the_uncertainty() -> None:
    """A fit that is as good, has a small covariance of its own and lies elsewhere: one of the two is wrong."""
    data = tail_data(at_ratio(0.8, 0.3))
    depths = np.geomspace(10.0, 1e4, 120)
    values = data.log_density(depths + data.mode) + depths
    fits = fit_windows(depths, values, np.full(depths.size, 1e-13), "below", (0.8,))
    plain = chosen(fits)
    assert plain is not None
    rival = dataclasses.replace(plain.fit, index=plain.fit.index + 0.3, covariance=4 * plain.fit.covariance)
    widened = chosen([*fits, rival])
    assert widened is not None and plain.index_error < 0.01 and widened.index_error >= 0.3


def test_a_stability_too_small_to_be_seen_says_so() -> None:
    law = tail_law(at_ratio(1e-3, 0.5))
    assert law.case == "undecided" and "stability seems to be below 0.02" in law.reason


# --- the error of the predicted constant ------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [-3.0, -5.0, -8.0])
def test_constant_of_a_grid_that_ends_early(left: float) -> None:
    """ρ = 1/(2 cosh² ζ), ln C = ln 2: what 1 - tanh still is beyond the edge is missing in N; at -3 it is 5e-3."""
    model = Model(TanhDrift(1.0), 0.5, None)
    theory = tail_theory(solve_stationary(model, grid=Grid(left, 20.0, round((20 - left) / 0.025) + 1, "open")))
    off = abs(theory.log_constant - math.log(2.0))
    assert off <= theory.log_constant_error < 10 * off + 1e-6


def test_constant_of_an_exact_density_with_jumps_on_an_early_grid() -> None:
    """The same with Laplace jumps against the exact constant (theory (35))."""
    model, log_constant = exact_laplace(0.8, 0.3, 1.0, 2.0)
    for left in (-4.0, -8.0):
        theory = tail_theory(solve_stationary(model, grid=Grid(left, 20.0, round((20 - left) / 0.02) + 1, "open")))
        assert abs(theory.log_constant - log_constant) <= theory.log_constant_error, left
        assert theory.log_constant_error < 0.2


def test_nothing_is_known_of_the_constant_far_before_the_plateau() -> None:
    theory = tail_theory(solve_stationary(Model(TanhDrift(1.0, 0.0, 100.0), 1e-3, None), rtol=1e-6))
    assert theory.log_constant_error == math.inf


def test_constant_where_doubles_do_not_tell_the_root_from_the_tempering() -> None:
    """Rare Laplace jumps, root λ - rate/(2(κ - η_G λ)): ln C is linear in ln rate from larger rates on."""
    found = {r: tail_theory(solve_stationary(Model(TanhDrift(1.0), 0.3, LaplaceJumps(r, 2.2)))) for r in (1e-10, 1e-30)}
    assert math.isfinite(found[1e-30].log_constant)
    slope = (found[1e-10].log_constant - found[1e-30].log_constant) / math.log(1e20)
    assert abs(slope - 1.0) < 1e-7
