"""Solutions against exact densities and identities: is it accurate, and is it honest about its accuracy?

The cases are those of `validation.cases` that are densities, here relative to themselves and at every accuracy; the
table is tested in test_cases. Every study has its negative control: the same comparison with one constant 1% wrong
must fail.
"""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.drifts import LinearDrift
from solver.model import Model
from solver.stationary import solve_stationary
from validation.case import Case
from validation.cases import BY_SLUG, CASES
from validation.exact_densities import (
    BARRIER,
    WELL_PLACES,
    WELLS,
    gamma_log_density,
    wells_log_density,
    wells_potential,
)
from validation.facts import Density
from validation.ornstein_uhlenbeck import ornstein_uhlenbeck

Array = NDArray[np.float64]

# Densities that the solver resolves by itself to any depth: all but the corner and the powers of untempered jumps.
DENSITIES = [case for case in CASES if isinstance(case.fact, Density) and case.fact.extent is not None]
LINEAR_JUMPS = [case for case in DENSITIES if "linear" in case.tags and "jumps" in case.tags]
RTOL = 1e-9
# Two tilts of the Fourier inversion differ by 2.9e-11 at most (ou-near-two); less where the tilt is larger.
EXACT = 3e-11


@cache
def solved(slug: str, rtol: float = RTOL) -> StationaryDensity:
    return solve_stationary(BY_SLUG[slug].model, rtol=rtol)


def by_slug(case: Case) -> str:
    return case.slug


# --- the table -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", DENSITIES, ids=by_slug)
def test_a_case_is_a_density(case: Case) -> None:
    zeta = np.linspace(*case.fact.extent, 2001 if case in LINEAR_JUMPS else 20_001)
    mass = float(np.trapezoid(np.exp(case.fact.log_density(zeta)), zeta))
    assert abs(mass - 1.0) < 1e-14  # measured 9e-16: the trapezoid rule is spectrally accurate here
    assert case.fact.extent[0] < case.fact.left < case.fact.right < case.fact.extent[1]


@pytest.mark.parametrize("case", [case for case in DENSITIES if "diffusion" in case.tags], ids=by_slug)
def test_without_jumps_a_case_has_no_flux(case: Case) -> None:
    """η_G d ln ρ/dζ = F, by a central difference of order 6."""
    zeta, h = case.fact.points, 1e-3
    around = case.fact.log_density(zeta[:, None] + h * np.arange(-3, 4))
    slope = around @ np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60 * h)
    difference = case.model.diffusion * slope - case.model.drift(zeta)
    assert np.abs(difference).max() < 2e-11  # measured 5e-12: rounding of ln ρ over h


@pytest.mark.parametrize("case", LINEAR_JUMPS, ids=by_slug)
def test_the_inversion_does_not_depend_on_the_tilt(case: Case) -> None:
    other = ornstein_uhlenbeck(case.model, case.fact.points, tilt=0.8)
    assert np.abs(other - case.fact.log_density(case.fact.points)).max() < EXACT
    jumps, zeta = case.model.jumps, np.linspace(*case.fact.extent, 2001)
    assert jumps is not None
    variance = float(np.trapezoid((zeta - 0.5) ** 2 * np.exp(case.fact.log_density(zeta)), zeta))
    # the variance of an Ornstein–Uhlenbeck process is that of its noise over twice the rate
    assert abs(variance / (case.model.diffusion + jumps.second_moment / 2) - 1) < 1e-14  # measured 1e-15


# --- is it accurate, and is it honest? -------------------------------------------------------------------


def log_errors(case: Case, density: StationaryDensity) -> Array:
    return np.asarray(np.abs(density.logpdf(case.fact.points) - case.fact.log_density(case.fact.points)))


@pytest.mark.parametrize("case", DENSITIES, ids=by_slug)
def test_accuracy(case: Case) -> None:
    density = solved(case.slug)
    inside = density.zeta[(density.zeta > case.fact.left) & (density.zeta < case.fact.right)]
    for points in (case.fact.points, inside):
        exact = case.fact.log_density(points)
        # relative to the density: measured 4.1e-10 (ou-half); absolute: 7.9e-11 (cosh)
        assert np.abs(density.logpdf(points) - exact).max() < RTOL
        assert np.abs(density.pdf(points) - np.exp(exact)).max() < 1e-10
    assert density.residual < 1e-13  # measured 5e-15
    assert density.null.column_defect < 1e-14  # measured 9e-16


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, RTOL])
@pytest.mark.parametrize("case", DENSITIES, ids=by_slug)
def test_the_estimate_is_no_smaller_than_the_error(case: Case, rtol: float) -> None:
    density = solved(case.slug, rtol)
    assert density.error_estimate <= rtol
    # measured: at most 0.58 of it (ou-jumps-one)
    assert (log_errors(case, density) <= density.log_error(case.fact.points) + EXACT).all()


@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
@pytest.mark.parametrize("case", [case for case in DENSITIES if "diffusion" in case.tags], ids=by_slug)
def test_the_estimate_holds_at_every_node(case: Case, rtol: float) -> None:
    """At any depth, ln ρ = -58 included. The four nodes next to a stop edge carry what would leave and are left out."""
    density = solved(case.slug, rtol)
    kept = slice(4 * (density.grid.edges[0] == "stop"), density.grid.nodes - 4 * (density.grid.edges[1] == "stop"))
    errors = np.abs(density.log_density - case.fact.log_density(density.zeta))[kept]
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
    assert np.abs(density.pdf(case.fact.points) - np.exp(case.fact.log_density(case.fact.points))).max() > 5e-4


@pytest.mark.parametrize(("slug", "exponent"), [("cosh", 2.0), ("cosh-steep", 20.0), ("cosh-scaled", 8.0 / 3)])
def test_the_tail_of_pure_diffusion_is_drift_over_diffusion(slug: str, exponent: float) -> None:
    density = solved(slug)
    for side in (density.tail_exponent, density.right_tail_exponent):
        assert abs(side / exponent - 1.0) < 1e-10  # measured 5.5e-12 (cosh)
    # ρ = 2^s e^{-s|ζ|} far out: the constant, and the slope over a depth no double could hold
    depth = np.array([-200.0, -2000.0]) + (-2.0 if slug == "cosh-scaled" else 0.0)
    got = density.logpdf(depth)
    assert np.abs(got - BY_SLUG[slug].fact.log_density(depth)).max() < density.log_error(depth).max()


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
    for one, other in zip(DENSITIES, DENSITIES[1:] + DENSITIES[:1], strict=True):
        assert (
            np.abs(solved(one.slug).logpdf(other.fact.points) - other.fact.log_density(other.fact.points)).max() > 0.1
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
