"""The envelope against (1 + ℓ/b)^{-a}, the Laplace transform of the gamma law, at any depth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
import scipy.special
from known_densities import cosh_density, gamma_density, on_grid

from solver.closed_form import closed_form
from solver.density import ErrorEstimate, StationaryDensity
from solver.drifts import ExponentialDrift, LinearDrift, TanhDrift
from solver.elimination import null_vector
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model

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
    with pytest.raises(ValueError, match=r"lag -2: .*≥ 0"):
        density.envelope([1.0, -2.0])
    for call in (lambda: density.envelope(), lambda: density.envelope(1.0, log_lags=0.0)):
        with pytest.raises(TypeError, match="either lags or log_lags"):
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
