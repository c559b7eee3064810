"""Laplace jumps: the views of the law agree, the algebra knows no threshold, and solutions match exact laws."""

from __future__ import annotations

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import gammaln, kve

from solver.closed_form import closed_form
from solver.crosscheck import cross_check
from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, TanhDrift
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.exponent import phase_word
from solver.grid import Grid
from solver.jump_law import JumpLaw
from solver.jumps import JUMPS, LaplaceJumps, TemperedStableJumps
from solver.model import Model
from solver.modes import relaxation_modes
from solver.stationary import solve_stationary
from solver.tail_words import all_laws, right_law

Array = NDArray[np.float64]

LAW = LaplaceJumps(rate=0.7, tempering=2.2)
SMOOTH = Model(TanhDrift(1.0), 0.3, LAW)


# --- the law -------------------------------------------------------------------------------------------------------


def test_exponent_and_symbol_are_integrals_of_the_density() -> None:
    for b in (0.3, 2.0):
        exact = quad(
            lambda z, b=b: 2 * (math.cosh(b * z) - 1) * float(LAW.levy_density(z)), 0, 300, limit=500, epsrel=1e-12
        )[0]
        assert abs(LAW.laplace_exponent(b) / exact - 1) < 1e-10
    exact = quad(lambda z: 2 * (math.cos(1.7 * z) - 1) * float(LAW.levy_density(z)), 0, 30, limit=500, epsrel=1e-12)[0]
    assert abs(LAW.symbol(1.7) / exact - 1) < 1e-10
    assert abs(2 * quad(LAW.levy_density, 0, 40)[0] / LAW.rate - 1) < 1e-9  # the rate of all jumps
    assert LAW.laplace_exponent([-2.2, 0.0]).tolist() == [math.inf, 0.0]
    assert abs(LAW.laplace_exponent(1e-6) / (0.5e-12 * LAW.second_moment) - 1) < 1e-11


def test_it_is_the_tempered_stable_law_of_index_minus_one() -> None:
    """c Γ(-α) [(λ+b)^α + (λ-b)^α - 2 λ^α] at α = -1, c = rate λ/2."""
    b = np.array([0.1, 1.0, 2.1])
    textbook = 0.5 * LAW.rate * 2.2 * (1 / (2.2 + b) + 1 / (2.2 - b) - 2 / 2.2)
    assert np.abs(LAW.laplace_exponent(b) / textbook - 1).max() < 1e-12  # the textbook form cancels at b = 0.1


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_lattice_has_the_exact_even_moments(count: int) -> None:
    for ratio in (0.01, 0.1, 1.0):  # λh
        h = ratio / LAW.tempering
        n = np.arange(1.0, 90 / ratio)  # e^{-90} of the density is left out
        weights = LAW.lattice_weights(h, n.size, count)
        for k in range(1, count + 1):
            exact = LAW.rate * math.factorial(2 * k) / LAW.tempering ** (2 * k)
            assert abs(2 * np.sum((n * h) ** (2 * k) * weights) / exact - 1) < 1e-12  # measured 4e-16


def symbol_order(count: int, mistake: float = 0.0) -> float:
    """Order of the lattice symbol's error at k = 3; `mistake` is a relative error of the first correction."""
    errors = []
    for h in (0.4, 0.2):
        weights = LAW.lattice_weights(h, round(90 / (LAW.tempering * h)), count)
        weights[0] += mistake * LAW.lattice_corrections(h, count)[0]
        n = np.arange(1, weights.size + 1)
        errors.append(abs(-4 * np.sum(weights * np.sin(1.5 * n * h) ** 2) - float(LAW.symbol(3.0))))
    return math.log2(errors[0] / errors[1])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_lattice_symbol_converges_two_orders_faster_than_its_moments_say(count: int) -> None:
    assert abs(symbol_order(count) - (2 * count + 4)) < 0.5  # measured 0.34 (count = 3), all below the order
    if count > 1:  # Negative control: one correction 1% wrong brings in an error of the kink's own order, 4.
        assert symbol_order(count, mistake=0.01) < 5.0  # measured 4.7 and 2.8


def test_the_far_part_is_one_exponential() -> None:
    terms = LAW.exponential_sum(0.05, 100.0)
    n = np.arange(1, 5001)
    np.testing.assert_allclose(terms.values(n), LAW.lattice_weights(0.05, n.size, 0), rtol=1e-12)
    assert terms.weights.size == 1 and abs(terms.out_rate / LAW.lattice_weights(0.05, 20_000, 0).sum() - 1) < 1e-13


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LaplaceJumps(0.0, 1.0), r"rate = 0.0: must lie in \(0, inf\)"),
        (lambda: LaplaceJumps(1.0, 0.0), r"tempering = 0.0: must lie in \(0, inf\)"),
        (lambda: LaplaceJumps(1.0, math.nan), "tempering = nan"),
        (lambda: LAW.laplace_exponent(2.3), "b = 2.3 exceeds tempering = 2.2"),
        (lambda: LAW.lattice_corrections(0.5, 4), "at most 1/tempering"),
        (lambda: LAW.exponential_sum(-1.0, 10), "spacing = -1.0"),
    ],
)
def test_refused(call: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()  # type: ignore[operator]


def test_every_law_is_abstract_or_final() -> None:
    with pytest.raises(TypeError, match="abstract"):
        JumpLaw()  # type: ignore[abstract]
    assert all(dataclasses.is_dataclass(law) and getattr(law, "__final__", False) for law in JUMPS.values())
    assert set(JUMPS) == {"tempered_stable", "laplace"}


# --- the algebra ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [1e-12, 1e-3, 0.7, 1e4])
@pytest.mark.parametrize("diffusion", [0.0, 1e-6, 0.3, 50.0])
@pytest.mark.parametrize("plateau", [1e-2, 1.0, 30.0])
def test_the_root_is_that_of_the_cubic(rate: float, diffusion: float, plateau: float) -> None:
    with mpmath.workdps(50):
        eta, kappa, lam, r = (mpmath.mpf(x) for x in (diffusion, plateau, 2.2, rate))
        cubic = (
            [-kappa, -(eta * lam**2 + r), kappa * lam**2]
            if not eta
            else [eta, -kappa, -(eta * lam**2 + r), kappa * lam**2]
        )
        roots = [mpmath.re(x) for x in mpmath.polyroots(cubic, maxsteps=500, extraprec=400)]
        (exact,) = [x for x in roots if 0 < x < lam]
    found = LaplaceJumps(rate, 2.2).exponent(plateau, diffusion)
    assert abs(found / float(exact) - 1) < 1e-14  # measured 2e-16


def test_there_is_no_threshold() -> None:
    """However few jumps, there is a root below λ; without any it may lie above."""
    for rate in (1e-9, 1e-3, 1.0, 1e3):
        theory = closed_form(Model(TanhDrift(1.0), 0.1, LaplaceJumps(rate, 2.0)))
        assert theory.has_root and 0 < theory.exponent < 2.0
        assert math.isnan(theory.threshold) and theory.phase != "collapsed" and theory.tail.case == "root"
        assert theory.convention is None
    assert closed_form(Model(TanhDrift(1.0), 0.1)).exponent == 10.0


def test_phases() -> None:
    assert phase_word(1.0, 1.0) == "critical"
    # κ - η_G = rate/(λ²-1): β = 1
    assert closed_form(Model(TanhDrift(1.0), 0.5, LaplaceJumps(1.5, 2.0))).phase == "critical"
    assert closed_form(Model(TanhDrift(1.0), 0.5, LaplaceJumps(1.51, 2.0))).phase == "broad"
    assert closed_form(Model(TanhDrift(1.0), 0.5, LaplaceJumps(1.49, 2.0))).phase == "concentrated"
    assert closed_form(Model(TanhDrift(-1.0), 0.5, LAW)).phase == "none"
    assert math.isnan(LAW.exponent(-1.0, 0.5)) and math.isnan(LAW.exponent(-math.inf, 0.5))
    theory = closed_form(Model(LinearDrift(1.0), 0.5, LAW))
    assert theory.phase == "confined" and theory.exponent == math.inf and not theory.has_root
    assert all_laws(theory.tail).startswith("ρ ~ e^(2.2 ζ) exp(0.35 ∫ds/|F|) / |F|")
    assert right_law(theory.right_tail).startswith("ρ ~ e^(-2.2 ζ) exp(0.35 ∫ds/|F|) / |F|")


# --- model files ---------------------------------------------------------------------------------------------------


def test_a_model_file_names_the_kind(tmp_path: object) -> None:
    path = tmp_path / "model.toml"  # type: ignore[operator]
    SMOOTH.to_toml(path)
    assert 'kind = "laplace"' in path.read_text("utf-8") and Model.from_toml(path) == SMOOTH


def test_a_file_without_kind_is_tempered_stable() -> None:
    jumps = {"intensity": 0.4, "stability": 1.5, "tempering": 2.2}
    tables = {"drift": {"kind": "tanh", "plateau": 1.0}, "diffusion": 0.3, "jumps": jumps}
    old = Model.from_dict(tables)
    assert old.jumps == TemperedStableJumps(0.4, 1.5, 2.2)
    assert Model.from_dict({**tables, "jumps": {"kind": "tempered_stable", **jumps}}) == old
    assert "kind" not in old.to_dict()["jumps"]  # written as before


@pytest.mark.parametrize(
    ("jumps", "message"),
    [
        ({"kind": "laplce", "rate": 1.0}, "jumps.kind = 'laplce': must be one of .*did you mean 'laplace'"),
        ({"kind": "laplace", "rate": 1.0}, "jumps.tempering: missing; LaplaceJumps needs rate, tempering"),
        ({"kind": "laplace", "rate": 1.0, "tempering": 2.0, "stability": 1.5}, "jumps.stability: unknown key"),
        ({"rate": 1.0, "tempering": 2.0}, "jumps.rate: unknown key; known are intensity"),
        ({"kind": "laplace", "rate": -1.0, "tempering": 2.0}, r"jumps.rate = -1.0: must lie in \(0, inf\)"),
        (3.0, "jumps = 3.0: must be a table"),
    ],
)
def test_refused_tables(jumps: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Model.from_dict({"drift": {"kind": "tanh", "plateau": 1.0}, "diffusion": 0.3, "jumps": jumps})


# --- solutions -----------------------------------------------------------------------------------------------------


def test_a_solution_has_the_exponent_of_the_algebra() -> None:
    density = solve_stationary(SMOOTH, rtol=1e-9)
    assert abs(density.tail_exponent / LAW.exponent(1.0, 0.3) - 1) < 1e-11  # measured 2e-13
    assert abs(density.tail_exponent / LaplaceJumps(0.707, 2.2).exponent(1.0, 0.3) - 1) > 1e-3  # 1% more jumps
    assert cross_check(density).passed and density.residual < 1e-13


@pytest.mark.parametrize("method", ["eigs", "dense"])
def test_the_reference_methods_agree(method: str) -> None:
    grid = Grid(-9.0, 9.0, 721, "stop")
    order = 2 if method == "dense" else 8
    one = solve_stationary(SMOOTH, grid=grid, order=order)
    other = solve_stationary(SMOOTH, grid=grid, method=method)
    inside = np.abs(grid.zeta) < 6
    assert np.abs(one.log_density - other.log_density)[inside].max() < 1e-9  # measured 9e-12 (eigs)


def variance_gamma_log_density(zeta: Array, shape: float, tempering: float) -> Array:
    """ln of the density with characteristic function (1 + k²/λ²)^{-shape}: a Bessel function."""
    x, index = tempering * np.abs(zeta), shape - 0.5
    log_norm = math.log(tempering) - 0.5 * math.log(math.pi) - index * math.log(2.0) - float(gammaln(shape))
    return np.asarray(log_norm + index * np.log(x) + np.log(kve(index, x)) - x)


def test_pure_laplace_jumps_in_a_linear_drift() -> None:
    """ρ with a term |ζ|^7 at the zero of F, and e^{-λs} s^3 far out: the tail that repeated jumps make.

    On a given grid: left to itself the solver looks for an edge where entries, below ρ̂(π/h), are not resolved.
    """
    grid = Grid(-20.0, 20.0, 1601, "stop")
    density = solve_stationary(Model(LinearDrift(1.0), 0.0, LaplaceJumps(8.0, 2.0)), grid=grid)
    zeta = np.linspace(-13.0, 13.0, 97) + 0.003
    exact = variance_gamma_log_density(zeta, 4.0, 2.0)
    errors = np.abs(density.logpdf(zeta) - exact)
    assert errors.max() < 1e-9  # measured 2.3e-11, at ±13, from the stop edges
    assert (errors <= density.log_error(zeta)).all()
    assert np.abs(density.logpdf(zeta) - variance_gamma_log_density(zeta, 4.04, 2.0)).max() > 1e-3
    # the slope of e^{-λs} exp(∫ (rate/2)/s ds)/s is -λ + 3/s, and -λ - 1/s for single jumps
    slope = float(density.local_exponent(-12.0))
    assert abs(slope - (2.0 - 3 / 12.0)) < 0.04 and abs(slope - (2.0 + 1 / 12.0)) > 0.2


def test_the_modes_of_a_linear_drift_are_its_multiples() -> None:
    rates = relaxation_modes(Model(LinearDrift(0.8), 0.2, LaplaceJumps(1.5, 2.0)), 3).rates
    assert np.abs(rates - 0.8 * np.arange(1, 4)).max() < 1e-7


def test_few_jumps_without_diffusion_are_refused_or_reported() -> None:
    step = CallableDrift(lambda z: -np.sign(z), left=1.0, right=1.0, scale=1.0, breaks=(0.0,))
    with pytest.raises(NoStationaryDensityError, match=r"steps from 1 to -1 at ζ = 0 .*an atom"):
        solve_stationary(Model(step, 0.0, LAW))
    # a peak |ζ|^{-0.3} at the zero of F: no accuracy can be had, and none is claimed
    with pytest.raises(NotConvergedError):
        solve_stationary(Model(TanhDrift(1.0), 0.0, LAW), rtol=1e-6, max_nodes=4000)
    # a term |ζ|^{3.5} (rate/|F'| - 1): slow, and the estimate says how slow
    model, zeta = Model(TanhDrift(1.0), 0.0, LaplaceJumps(4.5, 2.0)), np.linspace(-5.0, 5.0, 1001)
    fine = solve_stationary(model, rtol=1e-7).logpdf(zeta)
    for rtol in (1e-3, 1e-5):
        rough = solve_stationary(model, rtol=rtol)
        # measured: 0.33 and 0.41 of the estimate
        assert np.abs(rough.logpdf(zeta) - fine).max() < rough.error_estimate <= rtol


def test_a_wall_and_rare_jumps() -> None:
    density = solve_stationary(Model(ExponentialDrift(1.0, 1.0), 0.1, LaplaceJumps(1e-3, 2.0)))
    assert abs(density.tail_exponent / LaplaceJumps(1e-3, 2.0).exponent(1.0, 0.1) - 1) < 1e-9
    assert cross_check(density).passed
