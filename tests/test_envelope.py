"""The envelope against (1 + ℓ/b)^{-a}, the Laplace transform of the gamma law, at any depth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.special
from known_densities import cosh_density, gamma_density, geometric, on_grid
from numpy.typing import NDArray

from solver import envelope as envelope_module
from solver import envelope_sums
from solver.closed_form import closed_form
from solver.density import ErrorEstimate, StationaryDensity
from solver.distribution import Distribution
from solver.drifts import ExponentialDrift, LinearDrift, TanhDrift
from solver.elimination import null_vector
from solver.envelope import envelope
from solver.errors import ModelError
from solver.grid import Grid
from solver.interpolant import Interpolant
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.panels import masses
from solver.power_tail import PowerTail

Array = NDArray[np.float64]

REFERENCE = json.loads((Path(__file__).parent / "reference" / "stationary.json").read_text(encoding="utf-8"))


def solved(model: Model, grid: Grid) -> StationaryDensity:
    null = null_vector(model, grid)
    return StationaryDensity(model, grid, 8, "elimination", null, ErrorEstimate(1e-9), (), ())


@pytest.mark.parametrize(
    ("a", "b", "spacing", "bound"),
    [
        (1.3, 1.0, 0.05, 1e-12),  # measured 6e-14
        (0.1, 1.0, 0.05, 1e-12),  # 2e-14
        (5.0, 2.0, 0.05, 2e-12),  # 3e-13
        (1.3, 1.0, 0.2, 3e-12),  # 2e-13
        (1.3, 1.0, 0.4, 1e-8),  # 8e-10: coarser than the sum's own step, interpolated
    ],
)
def test_gamma(a: float, b: float, spacing: float, bound: float) -> None:
    density = gamma_density(a, b, spacing)
    lags = np.concatenate([[0.0], np.logspace(-13, 30, 60)])
    envelope = density.envelope(lags)
    exact = -a * np.log1p(lags / b)
    assert np.abs(envelope.log_values - exact).max() < bound
    assert np.abs(envelope.values / np.exp(exact) - 1).max() < bound
    assert np.abs(envelope.local_exponent[1:] / (a * lags[1:] / (b + lags[1:])) - 1).max() < 2 * bound
    assert envelope.values[0] == 1.0 and envelope.local_exponent[0] == 0.0
    assert (envelope.truncation == 0).all()
    np.testing.assert_allclose(envelope.lags, lags, rtol=1e-14)
    # the control: a tenth of a per cent in a is seen at every lag that matters
    assert np.abs(envelope.log_values[30:] - 1.001 * exact[30:]).min() > bound


def test_lags_far_beyond_doubles() -> None:
    log_lags = np.array([-np.inf, -700.0, 1e3, 1e4, 1e5])
    envelope = gamma_density(1.3).envelope(log_lags=log_lags)
    assert envelope.log_values[2:] == pytest.approx(-1.3 * log_lags[2:], rel=1e-14)
    # ln ρ = -1.3e5 is rounded to 3e-11
    assert envelope.local_exponent[2:] == pytest.approx(1.3, abs=3e-10)
    assert envelope.log_values[:2].tolist() == [0.0, pytest.approx(0.0, abs=1e-15)]
    assert envelope.local_exponent[1] == pytest.approx(1.3 * np.exp(-700), rel=1e-12)
    assert envelope.lags[-1] == np.inf and envelope.values[-1] == 0.0
    last = gamma_density(1.3).envelope(np.inf)
    assert (last.log_values, last.local_exponent) == (-np.inf, 1.3)


def test_a_right_tail_beyond_an_open_edge() -> None:
    """s = 0.5: 1 - f ~ ℓ^{1/2} at short lags, made by rates far beyond the grid."""
    density = cosh_density(0.5, half=10.0)
    log_lags = np.array([-40.0, -30.0])
    exponent = density.envelope(log_lags=log_lags).local_exponent
    assert np.diff(np.log(exponent)) / 10 == pytest.approx(0.5, abs=1e-9)
    # ∫ ρ ℓe^ζ exp(-ℓe^ζ) = C Γ(1/2) ℓ^{1/2} with ρ = C e^{-ζ/2}
    log_c = float(density.logpdf(30.0)) + 15.0
    assert np.log(exponent[0]) == pytest.approx(log_c + np.log(scipy.special.gamma(0.5)) - 20.0, abs=1e-8)


def test_against_quadrature() -> None:
    density = cosh_density(2.0)
    for lag in (0.3, 20.0):
        direct = scipy.integrate.quad(
            lambda z, lag=lag: np.exp(-lag * np.exp(z)) / (2 * np.cosh(z) ** 2), -60, 8, epsabs=1e-13
        )[0]
        assert density.envelope(lag).values == pytest.approx(direct, abs=1e-12)


def test_shapes_and_order() -> None:
    density = gamma_density(1.3)
    lags = np.array([[1e6, 0.0, 3.0], [1e-3, np.nan, 1e20]])
    envelope = density.envelope(lags)
    assert envelope.values.shape == envelope.local_exponent.shape == envelope.truncation.shape == (2, 3)
    assert np.isnan(envelope.values[1, 1]) and np.isnan(envelope.local_exponent[1, 1])
    for place in ((0, 0), (0, 2), (1, 0), (1, 2)):
        assert envelope.log_values[place] == pytest.approx(float(density.envelope(lags[place]).log_values))
    assert isinstance(density.envelope(2.0).values, float)
    assert density.envelope([]).values.shape == (0,)


def test_bad_arguments() -> None:
    density = gamma_density(1.3)
    with pytest.raises(ModelError, match=r"lag -2: .*≥ 0"):
        density.envelope([1.0, -2.0])
    for call in (lambda: density.envelope(), lambda: density.envelope(1.0, log_lags=0.0)):
        with pytest.raises(ModelError, match="lags, log_lags: give one of them"):
            call()


def test_a_stop_edge_says_what_may_be_missing() -> None:
    grid = Grid(-6, 6, 481, "stop")
    values = -0.5 * grid.zeta**2 - 0.5 * np.log(2 * np.pi)
    density = on_grid(Model(LinearDrift(1.0, 0.0), 1.0), grid, values, (np.nan, np.nan))
    envelope = density.envelope([0.0, 1.0, 10.0, 100.0, 1e4, np.inf])
    exact = [
        scipy.integrate.quad(
            lambda z, lag=lag: np.exp(-lag * np.exp(z) - z * z / 2) / np.sqrt(2 * np.pi), -30, 8, epsrel=1e-13
        )[0]
        for lag in (1.0, 10.0, 100.0)
    ]
    relative = np.abs(envelope.values[1:4] / exact - 1)
    assert (relative < 1e-8 + envelope.truncation[1:4]).all()
    assert relative[2] < envelope.truncation[3] < 1e-3  # something is missing, and the bound holds it
    assert np.isnan(envelope.values[4:]).all()  # read at ζ = -9, where there is no density


@pytest.mark.parametrize("name", list(REFERENCE))
def test_reference_values(name: str) -> None:
    record = REFERENCE[name]
    spec = record["model"]
    jumps = TemperedStableJumps(spec["intensity"], spec["stability"], spec["tempering"])
    kind, *numbers = spec["drift"]
    if kind == "tanh":
        drift: TanhDrift | ExponentialDrift = TanhDrift(*numbers)
        grid = Grid(numbers[1] - 20 * numbers[2], numbers[1] + 20 * numbers[2], 1601, "open")
    else:
        drift, grid = ExponentialDrift(*numbers), Grid(-40.0, 6.0, 1841, ("open", "stop"))
    envelope = solved(Model(drift, spec["diffusion"], jumps), grid).envelope(record["lags"])
    bound = max(1e-9, 3 * record["agreement"])  # measured up to 3e-11
    assert np.abs(envelope.values / np.array(record["envelope"]) - 1).max() < bound


def test_the_tail_and_its_constant(baseline: Model) -> None:
    """f ~ C Γ(β) ℓ^{-β} with ρ ~ C e^{βζ}."""
    density = solved(baseline, Grid(-20, 20, 801, "open"))
    beta = closed_form(baseline).exponent
    envelope = density.envelope(log_lags=np.array([60.0, 500.0]))
    log_c = float(density.logpdf(-100.0)) + 100 * beta
    exact = log_c + scipy.special.gammaln(beta) - beta * envelope.log_lags
    assert envelope.log_values == pytest.approx(exact, abs=1e-9)
    assert envelope.local_exponent == pytest.approx(beta, abs=1e-11)


def test_the_tail_below_the_threshold() -> None:
    """f ~ C Γ(λ) ℓ^{-λ} (ln ℓ)^{-1-α} with ρ ~ C e^{λζ} |ζ|^{-1-α}: the ratio approaches 1 as 1/ln ℓ."""
    model = Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(0.2, 1.5, 1.0))
    density = solved(model, Grid(-20, 20, 801, "open"))
    depth = np.array([500.0, 1000.0, 2000.0])
    ratio = density.envelope(log_lags=depth).log_values - density.logpdf(-depth) - scipy.special.gammaln(1.0)
    assert np.abs(ratio).max() < 0.01  # (1+α) γ/500 = 0.003 from the digamma function
    assert ratio[1:] / ratio[:-1] == pytest.approx(0.5, abs=0.01)


def test_a_plateau_cut_by_a_stop_edge(baseline: Model) -> None:
    """The bound holds what a longer grid shows to be missing, and is no more than twice that."""
    cut = solved(baseline, Grid(-20, 20, 801, ("stop", "open")))
    whole = solved(baseline, Grid(-20, 20, 801, "open"))
    lags = np.logspace(5, 8, 4)
    missing = np.abs(cut.envelope(lags).values / whole.envelope(lags).values - 1)
    bound = cut.envelope(lags).truncation
    assert (missing < bound).all() and (bound[2:] < 2 * missing[2:]).all()


# --- short lags, deep lags, narrow bodies -------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.1, 1.3, 5.0])
def test_short_lags_are_right_relative_to_themselves(a: float) -> None:
    """-ln f = a ln(1 + ℓ/b), down to the smallest number."""
    lags = np.logspace(-300, -1, 60)
    envelope = gamma_density(a).envelope(lags)
    assert np.abs(envelope.log_values / (-a * np.log1p(lags)) - 1).max() < 1e-12  # measured 9e-14
    assert np.abs(envelope.local_exponent / (a * lags / (1 + lags)) - 1).max() < 1e-12
    assert (envelope.log_values < 0).all() and (envelope.values <= 1).all()


def test_the_law_of_short_lags() -> None:
    """ln f = -ℓ E e^ζ where that is finite, π/2 for ρ = 1/(2 cosh² ζ), else C Γ(1-s)/s ℓ^s, ρ ~ C e^{-sζ}."""
    log_lags = np.array([-60.0, -300.0, -700.0])
    envelope = cosh_density(2.0).envelope(log_lags=log_lags)
    exact = np.log(np.pi / 2) + log_lags  # the next term is ℓ ln ℓ of it
    assert np.log(-envelope.log_values) == pytest.approx(exact, rel=1e-12)
    assert np.log(envelope.local_exponent) == pytest.approx(exact, rel=1e-12)
    half = cosh_density(0.5, half=40.0)
    log_c = float(half.logpdf(60.0)) + 30.0
    log_lags = np.array([-150.0, -400.0, -1400.0])
    exact = log_c + np.log(scipy.special.gamma(0.5) / 0.5) + 0.5 * log_lags
    envelope = half.envelope(log_lags=log_lags)  # -1400: by the law of the tail; else summed
    assert np.log(-envelope.log_values) == pytest.approx(exact, abs=1e-9)
    assert np.log(envelope.local_exponent) == pytest.approx(exact + np.log(0.5), abs=1e-9)


def test_nothing_is_left_at_the_shortest_lags(
    baseline_density: StationaryDensity, below_density: StationaryDensity
) -> None:
    for density in (baseline_density, below_density, cosh_density(0.5)):
        envelope = density.envelope(log_lags=[-1e5, -1e8, -1e300])
        assert (envelope.log_values == 0).all() and (envelope.local_exponent == 0).all()


def test_a_narrow_body_costs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """e^ζ ~ Gamma(1e6, 1e6) has width 1e-3 and h = 5e-5: the points are as many as its shape needs."""
    points = []

    def counted(*arguments: Any) -> Any:
        found = masses(*arguments)
        points.append(found[0].size)
        return found

    monkeypatch.setattr(envelope_sums, "masses", counted)
    a = 1e6
    density = gamma_density(a, a, spacing=5e-5, left=-0.012, right=0.012)
    lags = np.array([1e-3, 1.0, 30.0, 3e3])
    envelope = density.envelope(lags)
    exact = -a * np.log1p(lags / a)
    # beyond ζ = -0.012 the density is geometric: it bends there, at e^{-72}. Measured 5e-11, the rounding of ln Γ(1e6)
    assert np.abs(envelope.log_values / exact - 1).max() < 1e-9
    assert np.abs(envelope.local_exponent / (a * lags / (a + lags)) - 1).max() < 1e-9
    assert max(points) < 2000  # measured 368; the kernel's width of 45 holds 9e5 nodes


def test_points_see_a_body_between_wide_tails() -> None:
    """A spike of width 1e-3 in tails of length 1: no panel steps over it."""
    z = np.linspace(-0.02, 0.02, 4001)
    logs = np.logaddexp(-0.5 * (z / 1e-3) ** 2 - np.log(1e-3 * np.sqrt(2 * np.pi)), -1.5 * np.abs(z) - 8.0)
    tail = geometric(1e-5, 1.5, float(logs[0]))
    law = Distribution(Interpolant(-0.02, 1e-5, logs, tail, tail))

    def blind(left: Array, right: Array, mass: Array) -> tuple[Any, Any]:
        return left > right, right - left > 0.25

    zeta, log_mass = masses(law, -30.0, 30.0, 0.0, blind)
    assert np.exp(log_mass).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.exp(log_mass) @ np.cos(1000 * zeta) == pytest.approx(np.exp(-0.5), abs=2e-3)


def test_deep_lags_of_a_root(baseline: Model, baseline_density: StationaryDensity) -> None:
    log_lags = np.array([1e3, 1e6, 1e10, 1e17, 1e300])
    envelope = baseline_density.envelope(log_lags=log_lags)
    beta = closed_form(baseline).exponent
    assert envelope.log_values == pytest.approx(-beta * log_lags, rel=1e-3)
    assert envelope.log_values[1:] == pytest.approx(-beta * log_lags[1:], rel=1e-6)
    assert envelope.local_exponent == pytest.approx(beta, rel=1e-10)
    # summed and by the law, which takes over at depth 52
    law = baseline_density.distribution
    summed, slope = envelope_sums.long_lags(law, np.array([100.0]))
    closed = baseline_density.envelope(log_lags=100.0)
    assert closed.log_values == pytest.approx(summed[0], abs=1e-12)
    assert closed.local_exponent == pytest.approx(slope[0], abs=1e-12)


def test_deep_lags_of_a_pinned_tail(below_density: StationaryDensity) -> None:
    """ln P as a parabola against the sum; and beyond the reach of the jumps no answer but an error."""
    known = -below_density.known[0]
    assert 3e4 < known < 5e4
    log_lags = np.array([1.9e4])
    closed, slope = envelope_module._by_law(below_density.distribution, log_lags, -1)
    summed, exact = envelope_sums.long_lags(below_density.distribution, log_lags)
    assert closed == pytest.approx(summed, abs=1e-10)  # ln f = -1.9e4 is rounded to 4e-12
    assert slope == pytest.approx(exact, abs=1e-10)
    assert np.isfinite(below_density.envelope(log_lags=known - 60).log_values)
    for log_lag in (known + 1, 1e6, 1e300):
        with pytest.raises(ModelError, match=r"exact over .* in ζ only; .*solve_stationary\(model, depth="):
            below_density.envelope(log_lags=log_lag)
    assert below_density.envelope(log_lags=np.inf).local_exponent == 1.0


def test_deep_lags_of_a_power() -> None:
    """ρ = 1/(π(1 + ζ²)): the sum and the parabola on both sides, where they meet at depth 1e5."""
    z = np.linspace(-2000.0, 2000.0, 40001)
    s = 2000.0
    tail = PowerTail(
        np.array([1.0, -(s**-2), s**-4]) / (1 - s**-2 + s**-4),
        np.array([2.0, 4.0, 6.0]),
        s / 0.1,
        -np.log(np.pi * (1 + s * s)),
        0.1,
    )
    law = Distribution(Interpolant(-2000.0, 0.1, -np.log(np.pi * (1 + z * z)), tail, tail))
    far = np.array([2e4])
    for sign, sums in ((-1, envelope_sums.long_lags), (1, envelope_sums.short_lags)):
        summed, slope = sums(law, -sign * far)
        closed, share = envelope_module._by_law(law, -sign * far, sign)
        assert closed == pytest.approx(summed, abs=1e-11)
        assert share == pytest.approx(slope if sign < 0 else -np.exp(slope - summed), rel=1e-7)  # the next term is s^-3
    deep = envelope(law, log_lags=[1e8, 1e17, 1e300])
    assert deep.log_values == pytest.approx(-np.log(np.pi * np.array([1e8, 1e17, 1e300])), abs=1e-8)
    assert deep.local_exponent == pytest.approx(1 / np.array([1e8, 1e17, 1e300]), rel=1e-7)
