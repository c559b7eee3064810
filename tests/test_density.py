"""The stationary density as a distribution: against closed forms, as scipy.stats behaves, and on disk.

Bounds are ten times the measured value that stands beside them, or the rounding of ln ρ itself.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import scipy.stats
from known_densities import (
    cosh_density,
    cosh_log_density,
    gamma_density,
    gamma_log_density,
    geometric,
    on_grid,
)

from solver.archive import read_archive, write_archive
from solver.cumulative import LowerMass
from solver.density import FORMAT, VERSION, ErrorEstimate, StationaryDensity
from solver.drifts import CallableDrift, LinearDrift, TanhDrift
from solver.elimination import null_vector
from solver.errors import ModelError
from solver.grid import Grid
from solver.interpolant import Interpolant
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.nullvector import NullVector
from solver.storage import load

RNG = np.random.default_rng(20)
REFERENCE = json.loads((Path(__file__).parent / "reference" / "stationary.json").read_text(encoding="utf-8"))


def solved(model: Model, grid: Grid) -> StationaryDensity:
    """A density straight from the elimination, without error control."""
    null = null_vector(model, grid)
    return StationaryDensity(model, grid, 8, "elimination", null, ErrorEstimate(1e-9), (), ())


@pytest.fixture(scope="module")
def gamma() -> StationaryDensity:
    return gamma_density(1.3)


@pytest.fixture(scope="module")
def cosh() -> StationaryDensity:
    return cosh_density(2.0)


# --- values between and beyond the nodes --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spacing", "bound"),
    [(0.2, 5e-7), (0.1, 3e-10), (0.05, 2e-12)],  # measured 5.1e-8, 2.8e-11, 1.0e-13
)
def test_logpdf_between_and_beyond_the_nodes(spacing: float, bound: float) -> None:
    z = RNG.uniform(-60, 60, 2000)
    assert np.abs(cosh_density(2.0, spacing).logpdf(z) - cosh_log_density(z, 2.0)).max() < bound


def test_interpolation_converges_faster_than_the_scheme() -> None:
    z = RNG.uniform(-3, 3, 2000)
    errors = [np.abs(cosh_density(2.0, h).logpdf(z) - cosh_log_density(z, 2.0)).max() for h in (0.2, 0.1)]
    assert np.log2(errors[0] / errors[1]) > 9  # measured 10.9; the scheme has 8
    crude = [  # the control: linear interpolation of the same nodes is of order 2
        np.abs(np.interp(z, d.zeta, d.log_density) - cosh_log_density(z, 2.0)).max()
        for d in (cosh_density(2.0, 0.2), cosh_density(2.0, 0.1))
    ]
    assert np.log2(crude[0] / crude[1]) < 3


def test_logpdf_far_beyond_the_edge(gamma: StationaryDensity) -> None:
    z = np.array([-1e5, -1e5 + 0.0137, -12345.678])
    exact = gamma_log_density(z, 1.3, 1.0)
    assert np.abs(gamma.logpdf(z) / exact - 1).max() < 1e-14
    assert gamma.pdf(-1e5) == 0.0
    assert gamma.local_exponent(-1e5) == pytest.approx(1.3, abs=1e-8)  # ln ρ = -1.3e5 is rounded to 1e-11
    assert gamma.local_exponent(-np.inf) == 1.3


def test_nodes_are_returned_as_they_are(gamma: StationaryDensity) -> None:
    # ζ itself is rounded: the slope is up to -147 there. Measured 6e-14
    assert np.abs(gamma.logpdf(gamma.zeta) - gamma.log_density).max() < 1e-12
    assert (gamma.zeta == gamma.grid.zeta).all() and gamma.residual == 0.0


def test_local_exponent(cosh: StationaryDensity) -> None:
    z = RNG.uniform(-50, 50, 1000)
    assert np.abs(cosh.local_exponent(z) + 2 * np.tanh(z)).max() < 1e-10  # measured 4e-12


def test_a_stop_edge_ends_the_density() -> None:
    density = gamma_density(1.3, left=-10.0, edge="stop")
    assert density.logpdf(-10.000001) == -np.inf and density.logpdf(5.1) == -np.inf
    assert np.isnan(density.local_exponent([-11.0, 6.0, np.inf, -np.inf])).all()
    assert density.support() == (-10.0, 5.0)
    z = np.linspace(-10, 5, 777)  # one-sided polynomials at the ends: measured 2e-12
    assert np.abs(density.logpdf(z) - gamma_log_density(z, 1.3, 1.0)).max() < 2e-11


def test_any_depth_that_a_double_holds(baseline_density: StationaryDensity) -> None:
    """With a root ln ρ is affine far out. ln ρ(-1e15) = -1.3e15 is rounded to 0.1: no difference of it says a slope."""
    density, beta = baseline_density, 1.2673600490625978
    z = -np.array([1e3, 1e5, 1e8, 1e10, 1e12, 1e15, 1e17, 1e300])
    assert density.local_exponent(z) == pytest.approx(beta, abs=1e-10)  # measured 6e-12, the error of the solution
    assert density.local_exponent(-z) == pytest.approx(-beta, abs=1e-10)
    for name in ("logpdf", "logcdf"):
        values = getattr(density, name)(z)
        assert values == pytest.approx(beta * z, rel=2e-3), name
        assert np.diff(values) / np.diff(z) == pytest.approx(beta, rel=1e-10), name
    assert (density.logcdf(z) - density.logpdf(z))[:3] == pytest.approx(-np.log(beta), abs=1e-7)
    assert density.distribution.from_lower(density.logcdf(z)) == pytest.approx(z, rel=1e-14)
    assert density.distribution.from_upper(density.logsf(-z)) == pytest.approx(-z, rel=1e-14)
    assert density.known == (-np.inf, np.inf) and (density.log_error(z) >= density.error_estimate).all()
    assert (density.cdf(z) == 0).all() and (density.sf(z) == 1).all() and (density.pdf(z[-3:]) == 0).all()


def test_no_depth_beyond_what_is_known(below_density: StationaryDensity) -> None:
    """Pinned at λ = 1: there the law is e^ζ |ζ|^{-1.5}, the continuation beyond the jumps' reach geometric."""
    density, (left, right) = below_density, below_density.known
    assert left == density.grid.left - density.null.left.reach * density.grid.spacing  # type: ignore[union-attr]
    inside, beyond = np.array([0.9 * left, left + 1.0]), np.array([1.01 * left, -1e300])
    for name in ("logpdf", "pdf", "logcdf", "cdf", "logsf", "sf", "local_exponent"):
        view = getattr(density, name)
        assert np.isfinite(view(inside)).all(), name
        assert np.isfinite(view([0.0, right - 1.0])).all(), name
        for z in (*beyond, -1.01 * left):
            with pytest.raises(
                ModelError, match=r"depth .* exact over .* ask for more with solve_stationary\(model, dep"
            ):
                view(z)
    # ln ρ = -4e4 is rounded to 7e-12: the slope comes from differences formed before that
    slopes = density.local_exponent(inside)
    assert slopes == pytest.approx(1 - 1.5 / inside, abs=1e-7)
    log_mass = float(density.logcdf(left + 1.0))
    assert density.distribution.from_lower(log_mass) == pytest.approx(left + 1.0, rel=1e-12)
    with pytest.raises(ModelError, match="exact over"):
        density.distribution.from_lower(2 * log_mass)
    assert density.ppf(1e-300) > -700 and np.isfinite(density.rvs(100, random_state=1)).all()
    assert density.local_exponent(-np.inf) == 1.0 and density.logpdf(-np.inf) == -np.inf


def test_what_is_returned_cannot_be_changed(baseline_density: StationaryDensity, gamma: StationaryDensity) -> None:
    for density in (baseline_density, gamma):
        for values in (density.log_density, density.zeta, density.null.log_density, density.null.sign):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 1.0
    own = np.zeros(9)
    NullVector(own, np.ones(9), None, None, 0.0, 0.0)
    own[0] = 1.0  # the caller's array stays writable


@pytest.mark.parametrize(
    "name", ["logpdf", "pdf", "logcdf", "cdf", "logsf", "sf", "local_exponent", "log_error", "ppf", "isf"]
)
def test_arrays_of_any_kind(name: str, gamma: StationaryDensity, baseline_density: StationaryDensity) -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 1.0, 0.0, -1.0])
    for density in (gamma, baseline_density):
        view = getattr(density, name)
        assert np.isnan(view(np.nan)) and view(np.array(0.25)).shape == ()
        assert view([]).shape == (0,) and view(np.zeros((2, 0))).shape == (2, 0)
        assert view(np.array([[0, 1]])).shape == (1, 2) and view(0) == view(0.0)
        assert view(odd.reshape(2, 2, 2)).shape == (2, 2, 2)
        np.testing.assert_allclose(view(odd), [view(x) for x in odd], rtol=1e-14, atol=1e-16)


def test_few_nodes_still_interpolate() -> None:
    z = np.linspace(-1, 1, 9)
    density = on_grid(
        Model(LinearDrift(1.0, 0.0), 1.0), Grid(-1, 1, 9, "stop"), -(z**2) / 2 - 0.53604, (np.nan, np.nan)
    )
    assert density.logpdf(0.1) == pytest.approx(-0.005 - 0.53604, abs=1e-14)
    assert density.cdf(0.0) == pytest.approx(0.5, abs=1e-13)


# --- both tails ---------------------------------------------------------------------------------------------


def test_tails_keep_their_relative_accuracy(gamma: StationaryDensity) -> None:
    z = np.concatenate([RNG.uniform(-300, 3, 60), [-1e3, 2.9]])
    mass = [mpmath.gammainc(1.3, 0, mpmath.exp(mpmath.mpf(x)), regularized=True) for x in z]
    lower = np.array([float(mpmath.log(m)) for m in mass])
    rest = [mpmath.gammainc(1.3, mpmath.exp(mpmath.mpf(x)), mpmath.inf, regularized=True) for x in z]
    upper = np.array([float(mpmath.log(m)) for m in rest])
    # measured 7e-16 and 2e-14 (ln sf = -20), relative to max(1, |ln p|)
    assert (np.abs(gamma.logcdf(z) - lower) / np.maximum(1, np.abs(lower))).max() < 1e-13
    assert (np.abs(gamma.logsf(z) - upper) / np.maximum(1, np.abs(upper))).max() < 1e-13


@pytest.mark.parametrize("half", [3.0, 20.0])
def test_the_mass_beyond_open_edges_counts(half: float) -> None:
    density = cosh_density(2.0, half=half)  # geometric beyond: right to e^{-2·half}
    z = np.linspace(-8, 8, 333)
    bound = 3e-3 if half == 3.0 else 2e-13
    assert np.abs(density.cdf(z) - 0.5 * (1 + np.tanh(z))).max() < bound
    assert density.cdf(-3.0) > 0.5 * np.exp(density.null.left.log_mass_from(1))  # type: ignore[union-attr]
    # twice the cosine's tail: ln cdf(z) = 2 z far left, as continued
    assert density.logcdf(-1000.0) - density.logcdf(-999.0) == pytest.approx(-2.0, abs=1e-11)


@pytest.mark.parametrize("per_node", [0.01, 0.1, 0.5, 1.0, 3.0])
def test_the_sum_beyond_an_edge_becomes_the_integral(per_node: float) -> None:
    """A geometric tail of any slope: the end correction is exact, the trapezoid rule is not."""
    h, rate = 0.05, per_node / 0.05
    log_density = rate * h * np.arange(-30, 1)
    tail = geometric(h, rate, float(log_density[0]))
    lower = LowerMass(Interpolant(-30 * h, h, log_density, tail, None))
    depth = np.array([0, 1, 7, 1000])
    exact = log_density[0] - rate * h * depth - np.log(rate)
    assert np.abs(lower.beyond(depth) - exact).max() < 1e-12 * np.abs(exact).max()
    plain = np.log(np.exp(tail.log_mass_from(7)) - 0.5 * h * np.exp(tail.log_density(7)))
    assert abs(plain - exact[2]) > 0.05 * per_node**2  # the control; (σ h)²/12 at leading order


def test_a_slowly_bending_tail_is_summed_as_well() -> None:
    """Below the threshold the tail is e^{λζ} |ζ|^{-1-α}: mass between two depths against the node sum."""
    model = Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(0.2, 0.5, 1.0))
    density = solved(model, Grid(-20, 20, 801, "open"))
    deep = solved(model, Grid(-80, 20, 2001, "open"))
    z = np.array([-20.0, -30.3, -59.99, -75.0])  # beyond the edge of one, inside the other
    assert np.abs(density.logcdf(z) - deep.logcdf(z)).max() < 1e-11  # measured 3e-13
    assert np.abs(density.logpdf(z) - deep.logpdf(z)).max() < 1e-11


def test_cdf_and_sf_add_up(gamma: StationaryDensity, cosh: StationaryDensity) -> None:
    z = RNG.uniform(-45, 6, 3000)
    for density in (gamma, cosh):
        assert np.abs(density.cdf(z) + density.sf(z) - 1).max() < 1e-14
        assert (np.diff(density.cdf(np.sort(z))) >= 0).all()
    assert cosh.interpolated_mass == pytest.approx(1.0, abs=1e-13)  # measured 1e-15
    assert abs(cosh_density(2.0, 0.4).interpolated_mass - 1) > 1e-9  # a coarse grid shows


def test_it_behaves_as_scipy_does(gamma: StationaryDensity) -> None:
    twin = scipy.stats.loggamma(1.3)
    z = np.array([[-5.0, -1.0, 0.0], [1.0, 2.0, np.nan], [-np.inf, -20.0, 3.0]])
    for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        ours, theirs = getattr(gamma, name)(z), getattr(twin, name)(z)
        assert ours.shape == z.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13, err_msg=name)
        scalar = getattr(gamma, name)(0)
        assert isinstance(scalar, float) and scalar == pytest.approx(getattr(twin, name)(0), rel=1e-12)
        assert getattr(gamma, name)([]).shape == (0,)
    q = np.array([0.0, 1e-12, 0.3, 0.5, 0.99, 1.0, -0.1, 1.1, np.nan])
    ends = {0: -np.inf, 5: 5.0}  # the right edge is a stop edge
    for name in ("ppf", "isf"):
        ours, theirs = getattr(gamma, name)(q), getattr(twin, name)(q)
        compared = [i for i in range(q.size) if i not in ends]
        np.testing.assert_allclose(ours[compared], theirs[compared], rtol=1e-9, err_msg=name)
    assert gamma.ppf(0) == -np.inf and gamma.ppf(1) == 5.0 and gamma.isf(1) == -np.inf
    assert gamma.median() == pytest.approx(twin.median(), abs=1e-12)
    assert gamma.support() == (-np.inf, 5.0)
    with pytest.raises(ValueError):
        gamma.pdf("wide")  # type: ignore[arg-type]


# --- quantiles and draws ------------------------------------------------------------------------------------


def test_quantiles_invert_the_cdf(gamma: StationaryDensity, cosh: StationaryDensity) -> None:
    steep = gamma_density(20.0, 20.0, left=-8.0, edge="stop", right=2.0)
    for density, least in ((gamma, 1e-300), (cosh, 1e-300), (steep, 1e-60)):
        # closer to a stop edge than ζ is rounded there are no quantiles: hence 1e-60
        q = np.concatenate([np.logspace(np.log10(least), -1, 200), np.linspace(0.01, 0.99, 197)])
        q = np.concatenate([q, 1 - np.logspace(-15, -2, 50)])
        z = density.ppf(q)
        assert np.abs(density.logcdf(z) / np.log(q) - 1).max() < 1e-13  # measured 9e-15
        assert np.abs(density.cdf(z) - q).max() < 1e-14
        assert (np.diff(density.ppf(np.sort(q))) >= 0).all()
        # far in the right tail isf keeps what ppf cannot: 1 - q
        q = q[q > 1e-30]
        assert np.abs(density.logsf(density.isf(q)) / np.log(q) - 1).max() < 1e-12
    assert gamma.pdf(np.inf) == 0.0 == gamma.sf(np.inf) and gamma.cdf(np.inf) == 1.0
    # sf = 1/(1 + e^{2z}), so that isf(1e-300) = 150 ln 10
    assert cosh.isf(1e-300) == pytest.approx(150 * np.log(10), rel=1e-14)


def test_quantiles_of_a_tail_that_barely_decays() -> None:
    density = cosh_density(1e-3, half=10.0)
    z = density.ppf([1e-300, 1e-3])
    assert z[0] == pytest.approx((np.log(1e-300) - np.log(0.5)) / 1e-3, rel=1e-2)
    assert np.abs(density.logcdf(z) - np.log([1e-300, 1e-3])).max() < 1e-12


def test_draws(gamma: StationaryDensity) -> None:
    draws = gamma.rvs(20_000, random_state=1)
    assert scipy.stats.kstest(draws, gamma.cdf).pvalue > 1e-3  # 0.42
    assert scipy.stats.kstest(draws, lambda z: gamma.cdf(z - 0.05)).pvalue < 1e-6  # the control
    assert np.array_equal(draws, gamma.rvs(20_000, random_state=np.random.default_rng(1)))
    assert not np.array_equal(draws, gamma.rvs(20_000, random_state=2))
    assert gamma.rvs((2, 3), random_state=np.random.RandomState(1)).shape == (2, 3)
    assert isinstance(gamma.rvs(), float)


# --- moments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [0.2, 2.0, 7.0])
def test_mean_and_variance(s: float) -> None:
    """s = 0.2 has e^{-2} of its mass beyond ±10, geometric there to e^{-20}."""
    density = cosh_density(s, half=10.0)
    exact = scipy.special.polygamma(1, s / 2) / 2
    assert density.mean() == pytest.approx(0.0, abs=1e-12)
    assert density.var() == pytest.approx(exact, rel=1e-8 if s < 1 else 1e-12)
    assert density.std() ** 2 == pytest.approx(density.var())
    inside = density.grid.spacing * np.sum(density.zeta**2 * np.exp(density.log_density))
    assert s > 1 or inside < 0.5 * exact  # the control: the grid alone holds less than half of it


def test_moments_off_centre(gamma: StationaryDensity) -> None:
    short = gamma_density(1.3, left=-4.0)
    for density, bound in ((gamma, 1e-13), (short, 2e-2)):
        assert density.mean() == pytest.approx(scipy.special.digamma(1.3), abs=bound)
        assert density.var() == pytest.approx(scipy.special.polygamma(1, 1.3), rel=bound)


@pytest.mark.parametrize(("alpha", "mean"), [(1.5, 0.0), (0.8, np.nan)])
def test_untempered_jumps_leave_no_variance(alpha: float, mean: float) -> None:
    model = Model(LinearDrift(1.0, 0.0), 1.0, TemperedStableJumps(0.1, alpha, 0.0))
    density = solved(model, Grid(-60, 60, 1201, "stop"))
    assert density.var() == np.inf == density.std()
    assert density.mean() == pytest.approx(mean, abs=1e-10, nan_ok=True)
    tempered = dataclasses.replace(model, jumps=TemperedStableJumps(0.1, alpha, 1.0))
    assert solved(tempered, Grid(-60, 60, 1201, "stop")).var() == pytest.approx(
        1.0 + tempered.jumps.second_moment / 2,
        rel=1e-8,  # type: ignore[union-attr]
    )


# --- against the independent reference ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["baseline", "no-diffusion", "shifted"])
def test_reference_values(name: str) -> None:
    record = REFERENCE[name]
    spec = record["model"]
    plateau, center, width = spec["drift"][1:]
    jumps = TemperedStableJumps(spec["intensity"], spec["stability"], spec["tempering"])
    half = 20 * width
    grid = Grid(center - half, center + half, 1601, "open")
    density = solved(Model(TanhDrift(plateau, center, width), spec["diffusion"], jumps), grid)
    bound = max(1e-9, 3 * record["agreement"])  # measured 2e-11
    assert np.abs(density.logpdf(record["zeta"]) - record["log_density"]).max() < bound
    assert density.mean() == pytest.approx(record["mean"], abs=bound)
    assert density.var() == pytest.approx(record["variance"], rel=bound)


# --- what is refused ----------------------------------------------------------------------------------------


def rebuilt(density: StationaryDensity, **changes: Any) -> StationaryDensity:
    return dataclasses.replace(density, null=dataclasses.replace(density.null, **changes))


def test_a_null_vector_that_is_no_density_is_refused(gamma: StationaryDensity) -> None:
    sign = np.ones(gamma.grid.nodes)
    sign[850] = -1
    with pytest.raises(ValueError, match=r"density is negative \(-0\.2.*\) at ζ = 2.5: .*h = 0.05.*halve h"):
        rebuilt(gamma, sign=sign, log_density=np.where(sign < 0, np.log(0.2), gamma.log_density))
    with pytest.raises(ValueError, match=r"ln ρ is -inf at ζ = -40"):
        rebuilt(gamma, log_density=np.where(np.arange(sign.size) == 0, -np.inf, gamma.log_density))
    with pytest.raises(ValueError, match="901 nodes"):
        rebuilt(gamma, log_density=gamma.log_density[1:])
    with pytest.raises(ValueError, match="edges"):
        rebuilt(gamma, left=None)


def test_error_estimate_grows_with_depth(gamma: StationaryDensity) -> None:
    error = ErrorEstimate(1e-9, 1e-11, 2e-11, -20.0, 5.0)
    density = dataclasses.replace(gamma, error=error)
    assert density.error_estimate == 1e-9
    assert density.log_error(-120.0) == pytest.approx(2e-9) and density.log_error(0.0) == 1e-9
    assert error([[15.0, np.nan]])[0, 0] == pytest.approx(1.2e-9)
    assert density.log_error([[15.0, np.nan]])[0, 0] == np.inf  # beyond the stop edge the density is taken as zero
    assert np.isnan(density.log_error(np.nan)) and density.log_error(-np.inf) == np.inf
    assert ErrorEstimate(1e-9)(-np.inf) == 1e-9
    assert repr(density) == (
        "StationaryDensity(exact, 901 nodes in [-40, 5], h = 0.05, edges open/stop, error 1.0e-09, tail exponent 1.3)"
    )
    assert density.tail_exponent == 1.3 and np.isnan(density.right_tail_exponent)


# --- on disk ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edges", ["open", "stop"])
def test_saved_and_loaded(tmp_path: Path, baseline: Model, edges: str) -> None:
    density = solved(baseline, Grid(-20, 20, 401, edges))
    path = tmp_path / "density.npz"
    density.save(path)
    again = load(path)
    assert again.model == density.model and again.grid == density.grid and again.error == density.error
    assert (again.order, again.method, again.levels, again.assumptions) == (8, "elimination", (), ())
    z = np.linspace(-19, 19, 101) if edges == "stop" else np.linspace(-1000, 1000, 101)
    for name in ("logpdf", "logcdf", "logsf", "local_exponent"):
        assert np.array_equal(getattr(again, name)(z), getattr(density, name)(z)), name
    assert again.var() == density.var()
    np.testing.assert_equal([again.residual, again.tail_exponent], [density.residual, density.tail_exponent])
    assert list(tmp_path.iterdir()) == [path]  # nothing else is left behind
    with np.load(path, allow_pickle=False) as stored:
        assert json.loads(str(stored["header"]))["format"] == "zetafp density"


def test_a_name_without_suffix_is_kept(tmp_path: Path, gamma: StationaryDensity) -> None:
    gamma.save(tmp_path / "plain")
    gamma.save(str(tmp_path / "plain"))  # replaced
    assert load(tmp_path / "plain").tail_exponent == 1.3


def test_what_cannot_be_written_leaves_no_trace(tmp_path: Path, gamma: StationaryDensity) -> None:
    drift = CallableDrift(np.negative, left=np.inf, right=np.inf, scale=1.0)
    path = tmp_path / "density.npz"
    with pytest.raises(ModelError, match="function"):
        dataclasses.replace(gamma, model=Model(drift, 1.0)).save(path)
    with pytest.raises(ModelError, match="cannot be written"):
        gamma.save(tmp_path / "missing" / "density.npz")
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_refused_in_one_sentence(tmp_path: Path, gamma: StationaryDensity) -> None:
    good = tmp_path / "good.npz"
    gamma.save(good)
    content = good.read_bytes()
    files = {
        "text": b"drift = 1\n",
        "empty": b"",
        "short": content[: len(content) // 2],
        "zip": b"PK\x03\x04" + bytes(100),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelError, match=rf"{name}: not a zetafp density"):
            load(tmp_path / name)
    np.save(tmp_path / "array.npy", np.arange(3.0))
    np.savez(tmp_path / "foreign.npz", header=np.array('{"format": "other"}'), x=np.arange(3))
    np.savez(tmp_path / "bare.npz", x=np.arange(3))
    np.savez(tmp_path / "pickled.npz", header=np.array([{"a": 1}], dtype=object))
    for name in ("array.npy", "foreign.npz", "bare.npz", "pickled.npz"):
        with pytest.raises(ModelError, match="not a zetafp density"):
            load(tmp_path / name)
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / "missing")
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "version 99; this program reads version 2"),
        ({"grid": {"left": 0.0}}, "damaged .*edges"),
        ({"model": {"diffusion": -1.0}}, "damaged .*drift: missing"),
        ({"error": {"size": 1}}, "damaged .*size"),
    ],
)
def test_a_damaged_header_is_named(
    tmp_path: Path, gamma: StationaryDensity, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "density.npz"
    gamma.save(path)
    header, arrays = read_archive(path, FORMAT, VERSION)
    write_archive(path, header | change, arrays)
    with pytest.raises(ModelError, match=message):
        load(path)


def test_a_damaged_density_is_not_loaded(tmp_path: Path, gamma: StationaryDensity) -> None:
    path = tmp_path / "density.npz"
    gamma.save(path)
    header, arrays = read_archive(path, FORMAT, VERSION)
    write_archive(path, header, arrays | {"log_density": arrays["log_density"][:-3]})
    with pytest.raises(ModelError, match="901 nodes"):
        load(path)
    del arrays["left_step"]
    write_archive(path, header, arrays)
    with pytest.raises(ModelError, match="step"):
        load(path)


def test_what_was_changed_by_hand_is_not_loaded(tmp_path: Path, gamma: StationaryDensity) -> None:
    """ln ρ + 1, another model or a smaller error came back with the evidence of the density that had been saved."""
    path = tmp_path / "density.npz"
    gamma.save(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    header = json.loads(str(arrays["header"]))
    smaller = header | {"error": header["error"] | {"body": 0.0}}
    for change in (
        {"log_density": arrays["log_density"] + 1},
        {"log_density": arrays["log_density"].astype(np.float32)},
        {"left_step": np.full_like(arrays["left_step"], np.nan)},
        {"header": np.array(json.dumps(smaller))},
        {"digest": np.array("")},
    ):
        np.savez(path, **(arrays | change))
        with pytest.raises(ModelError, match=r"damaged .*changed since it was written"):
            load(path)
    np.savez(path, **arrays)  # only packed anew
    assert load(path).error_estimate == gamma.error_estimate


@pytest.mark.parametrize("path", [True, 1, 2**70, None, 1.5])
def test_a_number_is_no_path(path: Any) -> None:
    """load(True) read from and closed the process's stdout."""
    with pytest.raises(ModelError, match=r"path = .*must be the path of a file"):
        load(path)


def test_null_vector_fields_that_are_stored(tmp_path: Path) -> None:
    """A field added to NullVector must not be lost in silence."""
    stored = {"log_density", "sign", "left", "right", "residual", "column_defect"}
    assert {field.name for field in dataclasses.fields(NullVector)} == stored
