"""Solutions against exact densities and identities: is it accurate, and is it honest about its accuracy?

The cases are in `exact_cases`; that table is tested here too, so that no case can be wrong or stop running
unseen. Every study has its negative control: the same comparison with one constant 1% wrong must fail.
"""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
import scipy.special
from exact_cases import (
    BARRIER,
    CASES,
    WELL_PLACES,
    WELLS,
    ExactCase,
    ornstein_uhlenbeck,
    wells_log_density,
    wells_potential,
)
from known_densities import gamma_log_density
from numpy.typing import NDArray

from solver import elimination
from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.drifts import ExponentialDrift, LinearDrift
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.nullvector import NullVector
from solver.stationary import solve_stationary

Array = NDArray[np.float64]

BY_SLUG = {case.slug: case for case in CASES}
LINEAR_JUMPS = [case for case in CASES if "linear" in case.tags and "jumps" in case.tags]
RTOL = 1e-9
# Two tilts of the Fourier inversion differ by 2.9e-11 at most (ou-near-two); less where the tilt is larger.
EXACT = 3e-11


@cache
def solved(slug: str, rtol: float = RTOL) -> StationaryDensity:
    return solve_stationary(BY_SLUG[slug].model, rtol=rtol)


def by_slug(case: ExactCase) -> str:
    return case.slug


# --- the table -------------------------------------------------------------------------------------------


def test_the_table_is_complete() -> None:
    assert len(BY_SLUG) == len(CASES)
    assert {tag for case in CASES for tag in case.tags} >= {"diffusion", "jumps", "pure jumps", "wall", "wells"}
    stabilities = {case.model.jumps.stability for case in CASES if case.model.jumps is not None}
    assert stabilities >= {0.5, 1.0, 1.5}


@pytest.mark.parametrize("case", CASES, ids=by_slug)
def test_a_case_is_a_density(case: ExactCase) -> None:
    zeta = np.linspace(*case.extent, 2001 if case in LINEAR_JUMPS else 20_001)
    mass = float(np.trapezoid(np.exp(case.log_density(zeta)), zeta))
    assert abs(mass - 1.0) < 1e-14  # measured 9e-16: the trapezoid rule is spectrally accurate here
    assert case.extent[0] < case.left < case.right < case.extent[1]


@pytest.mark.parametrize("case", [case for case in CASES if "diffusion" in case.tags], ids=by_slug)
def test_without_jumps_a_case_has_no_flux(case: ExactCase) -> None:
    """η_G d ln ρ/dζ = F, by a central difference of order 6."""
    zeta, h = case.points, 1e-3
    around = case.log_density(zeta[:, None] + h * np.arange(-3, 4))
    slope = around @ np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60 * h)
    difference = case.model.diffusion * slope - case.model.drift(zeta)
    assert np.abs(difference).max() < 2e-11  # measured 5e-12: rounding of ln ρ over h


@pytest.mark.parametrize("case", LINEAR_JUMPS, ids=by_slug)
def test_the_inversion_does_not_depend_on_the_tilt(case: ExactCase) -> None:
    other = ornstein_uhlenbeck(case.model, case.points, tilt=0.8)
    assert np.abs(other - case.log_density(case.points)).max() < EXACT
    jumps, zeta = case.model.jumps, np.linspace(*case.extent, 2001)
    assert jumps is not None
    variance = float(np.trapezoid((zeta - 0.5) ** 2 * np.exp(case.log_density(zeta)), zeta))
    # the variance of an Ornstein–Uhlenbeck process is that of its noise over twice the rate
    assert abs(variance / (case.model.diffusion + jumps.second_moment / 2) - 1) < 1e-14  # measured 1e-15


# --- is it accurate, and is it honest? -------------------------------------------------------------------


def log_errors(case: ExactCase, density: StationaryDensity) -> Array:
    return np.asarray(np.abs(density.logpdf(case.points) - case.log_density(case.points)))


@pytest.mark.parametrize("case", CASES, ids=by_slug)
def test_accuracy(case: ExactCase) -> None:
    density = solved(case.slug)
    inside = density.zeta[(density.zeta > case.left) & (density.zeta < case.right)]
    for points in (case.points, inside):
        exact = case.log_density(points)
        # relative to the density: measured 4.1e-10 (ou-half); absolute: 7.9e-11 (cosh)
        assert np.abs(density.logpdf(points) - exact).max() < RTOL
        assert np.abs(density.pdf(points) - np.exp(exact)).max() < 1e-10
    assert density.residual < 1e-13  # measured 5e-15
    assert density.null.column_defect < 1e-14  # measured 9e-16


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, RTOL])
@pytest.mark.parametrize("case", CASES, ids=by_slug)
def test_the_estimate_is_no_smaller_than_the_error(case: ExactCase, rtol: float) -> None:
    density = solved(case.slug, rtol)
    assert density.error_estimate <= rtol
    # measured: at most 0.58 of it (ou-jumps-one)
    assert (log_errors(case, density) <= density.log_error(case.points) + EXACT).all()


@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
@pytest.mark.parametrize("case", [case for case in CASES if "diffusion" in case.tags], ids=by_slug)
def test_the_estimate_holds_at_every_node(case: ExactCase, rtol: float) -> None:
    """At any depth, ln ρ = -58 included. The four nodes next to a stop edge carry what would leave and are left out."""
    density = solved(case.slug, rtol)
    kept = slice(4 * (density.grid.edges[0] == "stop"), density.grid.nodes - 4 * (density.grid.edges[1] == "stop"))
    errors = np.abs(density.log_density - case.log_density(density.zeta))[kept]
    assert (errors <= density.log_error(density.zeta)[kept] + EXACT).all()  # measured 0.57 of it at most


@pytest.mark.parametrize("part", ["diffusion", "intensity", "drift"])
def test_one_per_cent_off_would_show(part: str) -> None:
    case = BY_SLUG["ou-three-halves"]
    assert case.model.jumps is not None
    wrong = {
        "diffusion": dataclasses.replace(case.model, diffusion=0.303),
        "intensity": dataclasses.replace(case.model, jumps=dataclasses.replace(case.model.jumps, intensity=0.404)),
        "drift": dataclasses.replace(case.model, drift=LinearDrift(1.01, 0.5)),
    }[part]
    density = solve_stationary(wrong, rtol=RTOL)
    assert log_errors(case, density).max() > 5e-3  # measured 2.4e-2 (diffusion) and more
    assert np.abs(density.pdf(case.points) - np.exp(case.log_density(case.points))).max() > 5e-4


@pytest.mark.parametrize(("slug", "exponent"), [("cosh", 2.0), ("cosh-steep", 20.0), ("cosh-scaled", 8.0 / 3)])
def test_the_tail_of_pure_diffusion_is_drift_over_diffusion(slug: str, exponent: float) -> None:
    density = solved(slug)
    for side in (density.tail_exponent, density.right_tail_exponent):
        assert abs(side / exponent - 1.0) < 1e-10  # measured 5.5e-12 (cosh)
    # ρ = 2^s e^{-s|ζ|} far out: the constant, and the slope over a depth no double could hold
    depth = np.array([-200.0, -2000.0]) + (-2.0 if slug == "cosh-scaled" else 0.0)
    got = density.logpdf(depth)
    assert np.abs(got - BY_SLUG[slug].log_density(depth)).max() < density.log_error(depth).max()


@pytest.mark.parametrize(("slug", "a", "b"), [("gamma", 2.0, 1.0), ("gamma-broad", 0.7, 2.0)])
def test_the_envelope_of_a_gamma_law(slug: str, a: float, b: float) -> None:
    """E exp(-ℓ e^ζ) = (1 + ℓ/b)^{-a}, and its exponent a ℓ/(b + ℓ)."""
    lags = np.logspace(-4, 14, 19)
    envelope = solved(slug).envelope(lags)
    assert np.abs(envelope.log_values + a * np.log1p(lags / b)).max() < 1e-10  # measured 1.1e-12
    assert np.abs(envelope.local_exponent - a * lags / (b + lags)).max() < 1e-10  # measured 2.7e-13
    assert np.abs(envelope.log_values + 1.01 * a * np.log1p(lags / b)).max() > 1e-3


# --- F = κ - a e^ζ with jumps: exact ratios of exponential moments ---------------------------------------

WALLS = {
    "1.2": Model(ExponentialDrift(1.0, 1.0), 0.1, TemperedStableJumps(0.8, 1.2, 2.2)),
    "1.5": Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
    "0.6": Model(ExponentialDrift(0.7, 2.0), 0.2, TemperedStableJumps(0.5, 0.6, 3.0)),
    "1": Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.3, 1.0, 2.5)),
}
# Past 14 the mass lost at the stop edge is below 1e-10 even where s = λ/2; from 20 on h = 0.025 is too coarse
# for a drift of e^20, and entries turn negative.
WALL_GRID = Grid(-24.0, 14.0, 1521, ("open", "stop"))


def log_exponential_moment(null: NullVector, grid: Grid, s: float) -> float:
    """ln E e^{sζ}: the trapezoid sum over the nodes and beyond the open edge, where e^{(β+s)ζ} falls to e^{-50}."""
    assert null.left is not None and (null.sign > 0).all()
    n = np.arange(1, round(200 / grid.spacing))
    beyond = null.left.log_density(n) + s * (grid.left - n * grid.spacing)
    return float(scipy.special.logsumexp(np.concatenate([null.log_density + s * grid.zeta, beyond])))


def moment_ratio_errors(model: Model, null: NullVector) -> Array:
    """Relative errors of E e^{(s+1)ζ} / E e^{sζ} = (κ + η_G s + η_J ψ(s)/s)/a for six s in (-β, λ)."""
    assert isinstance(model.drift, ExponentialDrift) and model.jumps is not None
    exponent, lam = closed_form(model).exponent, model.jumps.tempering
    errors = []
    for s in (-0.8 * exponent, -0.5 * exponent, -0.2, 0.1, 0.3 * lam, 0.5 * lam):
        noise = model.diffusion * s + float(model.jumps.laplace_exponent(abs(s))) / s  # ψ is even
        exact = (model.drift.plateau + noise) / model.drift.rate
        ratio = log_exponential_moment(null, WALL_GRID, s + 1) - log_exponential_moment(null, WALL_GRID, s)
        errors.append(np.expm1(ratio - np.log(exact)))
    return np.array(errors)


@pytest.mark.parametrize("name", WALLS)
def test_exponential_moments(name: str) -> None:
    null = elimination.null_vector(WALLS[name], WALL_GRID)
    # measured 2.0e-10 at s = λ/2 (α = 1.2; what the stop edge takes away), else 4e-13
    assert np.abs(moment_ratio_errors(WALLS[name], null)).max() < 1e-9


@pytest.mark.parametrize("name", WALLS)
def test_exponential_moments_see_one_per_cent(name: str) -> None:
    model = WALLS[name]
    assert model.jumps is not None
    wrong = dataclasses.replace(model, jumps=dataclasses.replace(model.jumps, intensity=1.01 * model.jumps.intensity))
    errors = moment_ratio_errors(model, elimination.null_vector(wrong, WALL_GRID))
    assert (np.abs(errors) > 1e-5).all() and np.abs(errors).max() > 1e-3


# --- two wells -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [6.0, 12.0, 25.0, 42.0, 60.0])
def test_two_wells_share_their_mass_by_depth(height: float) -> None:
    """ln ρ(left well)/ρ(right well) = -ΔV/η_G, over a barrier of up to 60 η_G (e^{-60} = 9e-27)."""
    diffusion = BARRIER / height
    density = solve_stationary(Model(WELLS, diffusion, None), rtol=1e-8)
    got = density.logpdf(WELL_PLACES)
    exact = -wells_potential(WELL_PLACES) / diffusion
    # measured 2.0e-12 at height 60 (the discretisation at rtol 1e-8), else 2e-14: two wells cost no digits
    assert abs((got[0] - got[2]) - (exact[0] - exact[2])) < 1e-10
    assert abs((got[1] - got[2]) - (exact[1] - exact[2])) < 1e-10
    assert np.abs(got - wells_log_density(WELL_PLACES, diffusion)).max() < density.error_estimate
    right_mass = density.sf(WELL_PLACES[1])
    fine = np.linspace(WELL_PLACES[1], 2.0, 20_001)
    assert (
        abs(right_mass / np.trapezoid(np.exp(wells_log_density(fine, diffusion)), fine) - 1) < 1e-12
    )  # measured 6e-15
    tilted = solve_stationary(Model(WELLS, 1.01 * diffusion, None), rtol=1e-6).logpdf(WELL_PLACES)
    assert abs((tilted[0] - tilted[2]) - (exact[0] - exact[2])) > 5e-3  # measured from 8.8e-3 (height 6)


def test_a_solution_of_another_model_is_not_taken_for_exact() -> None:
    """The comparison itself can fail in every case of the table: next to none of them is another's density."""
    for one, other in zip(CASES, CASES[1:] + CASES[:1], strict=True):
        assert (
            np.abs(solved(one.slug).logpdf(other.points) - other.log_density(other.points)).max() > 0.1
        )  # measured 0.90


def test_the_gamma_law_down_to_the_smallest_densities() -> None:
    """ln ρ = a ζ + constant at any depth."""
    density = solved("gamma")
    depth = np.array([-100.0, -1e3, -1e5])
    assert np.abs(density.logpdf(depth) / gamma_log_density(depth, 2.0, 1.0) - 1).max() < 1e-12  # measured 1.6e-14
    other = solved("cosh")  # the same exponent, 2
    assert (
        np.abs(other.logpdf(depth) / gamma_log_density(depth, 2.0, 1.0) - 1).max() > 1e-3
    )  # another constant: ln 2 in ln ρ = -200
