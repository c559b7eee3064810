"""Relaxation modes: exact spectra, dense algebra, Kramers' rate, and the edge of the continuum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.essential import best_weight, essential_edge
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.modes import RelaxationModes, relaxation_modes
from solver.observed_order import error_factor
from solver.ritz import ritz

TWO_WELLS = CallableDrift(lambda z: z - z**3, left=np.inf, right=np.inf, scale=0.5)


def morse(plateau: float, rate: float, diffusion: float, jumps: TemperedStableJumps | None) -> tuple[Model, list[float]]:
    """F = κ - a e^ζ maps e^{-nζ} to Φ(n) e^{-nζ} + n a e^{-(n-1)ζ}: its rates are -Φ(n), n below the edge's weight."""
    model = Model(ExponentialDrift(plateau, rate), diffusion, jumps)

    def phi(n: float) -> float:
        return diffusion * n**2 + (0.0 if jumps is None else float(jumps.laplace_exponent(n))) - plateau * n

    return model, [-phi(n) for n in range(1, math.ceil(essential_edge(model, "left").weight))]


def tanh_rates(model: Model) -> list[float]:
    """Without jumps: n (2 s - n) η_G/w², n < s = κ w/(2 η_G), the bound states of Pöschl and Teller."""
    drift = model.drift
    assert isinstance(drift, TanhDrift)
    s = drift.plateau * drift.width / (2 * model.diffusion)
    return [n * (2 * s - n) * model.diffusion / drift.width**2 for n in range(1, math.ceil(s))]


def linear(diffusion: float, *jumps: float) -> tuple[Model, list[float]]:
    """The Ornstein-Uhlenbeck process: its rates are multiples of the drift's, whatever the noise."""
    law = TemperedStableJumps(*jumps) if jumps else None
    return Model(LinearDrift(1.5, 0.7), diffusion, law), [1.5 * n for n in range(1, 7)]


def pure_tanh(*arguments: float, diffusion: float) -> tuple[Model, list[float]]:
    model = Model(TanhDrift(*arguments), diffusion, None)
    return model, tanh_rates(model)


JUMPS = TemperedStableJumps(0.05, 0.7, 4.0)
EXACT = {
    "linear, diffusion": linear(0.3),
    "linear, 0.5": linear(0.0, 1.0, 0.5, 1.5),
    "linear, 1": linear(0.0, 0.4, 1.0, 2.2),
    "linear, 1.5": linear(0.0, 0.4, 1.5, 2.2),
    "linear, 0.5 and diffusion": linear(0.1, 0.4, 0.5, 2.2),
    "linear, 1 and diffusion": linear(0.1, 0.4, 1.0, 2.2),
    "linear, 1.5 and diffusion": linear(0.1, 0.4, 1.5, 2.2),
    "tanh, ten modes": pure_tanh(1.0, diffusion=0.05),
    "tanh, one mode": pure_tanh(1.0, 0.0, 2.0, diffusion=0.6),
    "tanh, none at the edge": pure_tanh(2.0, 1.0, 1.0, diffusion=0.5),  # s = 2: n = 2 would lie on the edge itself
    "tanh, weakly bound": pure_tanh(1.0, diffusion=0.45),  # 1.2% below the edge
    "tanh, fast and far away": pure_tanh(1e6, 1000.0, 1.0, diffusion=1e5),
    "exponential, diffusion": morse(1.0, 1.0, 0.1, None),
    "exponential, both": morse(1.0, 0.5, 0.05, JUMPS),
    "exponential, jumps": morse(1.0, 2.0, 0.0, TemperedStableJumps(0.1, 1.5, 6.0)),
}


@pytest.fixture(scope="module")
def solved() -> dict[str, RelaxationModes]:
    return {name: relaxation_modes(model) for name, (model, _) in EXACT.items()}


@pytest.mark.parametrize("name", EXACT)
def test_exact_rates(name: str, solved: dict[str, RelaxationModes]) -> None:
    modes, exact = solved[name], np.array(EXACT[name][1][:6])
    assert modes.rates.shape == exact.shape
    errors = np.abs(modes.rates / exact - 1)
    assert (errors < 1e-8).all()  # measured 1e-9 (linear and diffusion, n = 6)
    assert (errors <= modes.error_estimates).all()
    assert (modes.error_estimates <= 1e-8).all() and not modes.frequencies.any()
    if exact.size:
        assert modes.gap == modes.rates[0]


def test_a_wrong_rate_is_seen(solved: dict[str, RelaxationModes]) -> None:
    """Negative control: with the drift's rate 1% off, or the diffusion, the same bound fails."""
    wrong = relaxation_modes(Model(LinearDrift(1.515, 0.7), 0.3, None))
    assert not (np.abs(wrong.rates / EXACT["linear, diffusion"][1] - 1) < 1e-8).any()
    model = Model(TanhDrift(1.0), 0.0505, None)
    assert not (np.abs(solved["tanh, ten modes"].rates / tanh_rates(model)[:6] - 1) < 1e-4).any()


def kramers(diffusion: float) -> float:
    """The smallest rate of the two wells: inverse iteration with the Green function of the right half, absorbed at 0.

    (G u)(z) = ∫_0^z dy / (D ρ(y)) ∫_y^∞ ρ u, exact for a diffusion in one dimension; 4 steps, each of which gains the
    ratio of the two smallest rates.
    """
    z = np.linspace(0.0, 2.2, 400_001)
    rho = np.exp((z**2 / 2 - z**4 / 4 - 0.25) / diffusion)
    u = np.ones(z.size)
    rate = np.nan
    for _ in range(4):
        inner = cumulative_simpson(rho * u, x=z, initial=0.0)
        v = cumulative_simpson((inner[-1] - inner) / (diffusion * rho), x=z, initial=0.0)
        rate = float((rho * u) @ v / ((rho * v) @ v))
        u = v / v.max()
    return rate


@pytest.mark.parametrize("barrier", [10, 15, 20])
def test_kramers_rate(barrier: float) -> None:
    diffusion = 0.25 / barrier
    modes = relaxation_modes(Model(TWO_WELLS, diffusion, None), k=2)
    exact = kramers(diffusion)
    assert exact < 2 * np.exp(-barrier)
    assert abs(modes.rates[0] / exact - 1) < 2e-9  # measured 1e-10 (1e-10 of it the quadrature's); rates 2e-5 … 9e-10


def test_a_rate_far_below_rounding() -> None:
    """e^{-150}: asymptotically sqrt(2)/π e^{-barrier}, with a correction of order 1/barrier."""
    modes = relaxation_modes(Model(TWO_WELLS, 0.25 / 150, None), k=1)
    ratio = modes.rates[0] / (math.sqrt(2) / math.pi * math.exp(-150))
    assert abs(ratio - 1) < 0.02  # measured -0.0025


def dense_rates(model: Model, grid: Grid) -> np.ndarray:
    """All rates of a small grid by dense algebra in the same weighted coordinates, the stationary state first."""
    weight = np.exp(best_weight(model, grid.zeta))
    matrix = build_generator(model, grid).to_dense() * weight[None, :] / weight[:, None]
    values = -np.linalg.eigvals(matrix)
    return values[np.argsort(values.real)]


DENSE = {
    "asymmetric": (Model(LogisticDrift(1.0, 3.0, 0.2, 0.3), 0.05, TemperedStableJumps(0.1, 1.2, 4.0)), (-12.0, 9.0)),
    "three wells": (
        Model(CallableDrift(lambda z: -np.sin(3 * z) - z / 2, left=np.inf, right=np.inf, scale=0.3), 0.1, JUMPS),
        (-6.0, 6.0),
    ),
    "pure jumps": (Model(TanhDrift(1.0, 0.5, 2.0), 0.0, TemperedStableJumps(0.3, 0.9, 3.0)), (-14.0, 15.0)),
}


@pytest.mark.parametrize("name", DENSE)
def test_against_dense_algebra(name: str) -> None:
    """The same grid: Arnoldi on the elimination, LAPACK on the generator's matrix."""
    model, ends = DENSE[name]
    grid = Grid(*ends, 501, "stop")
    found = ritz(model, grid, best_weight(model, grid.zeta), 5, shift=0.1)
    exact = dense_rates(model, grid)
    assert abs(exact[0]) < 1e-11
    near = [exact[np.argmin(np.abs(exact - rate))] for rate in found.rates]
    assert np.abs(found.rates / near - 1).max() < 1e-9  # measured 2e-12, dense algebra's own
    assert np.allclose(np.sort(np.abs(found.rates)), np.sort(np.abs(exact[1 : found.rates.size + 1])), rtol=1e-9)


@pytest.mark.parametrize("name", DENSE)
def test_no_mode_is_missed(name: str) -> None:
    """Dense algebra on a grid of its own finds as many rates below the edge, and these."""
    model, ends = DENSE[name]
    modes = relaxation_modes(model, k=4)
    exact = dense_rates(model, Grid(2 * ends[0], 2 * ends[1], 1401, "stop"))[1:]
    below = exact[exact.real < modes.searched_below][:4]
    assert below.size == modes.rates.size
    assert np.abs(modes.rates / below.real - 1).max(initial=0.0) < 1e-4  # measured 2e-5 (asymmetric): the dense grid


def test_the_continuum_is_not_returned(baseline: Any) -> None:
    """The baseline has no mode. Its rates on a grid lie above the edge and come down to it as the grid widens."""
    modes = relaxation_modes(baseline)
    edge = modes.essential_edge
    assert modes.rates.size == 0 and modes.right.shape == modes.left.shape == (0, modes.zeta.size)
    assert modes.gap == edge and modes.searched_below < edge
    lowest = []
    for half in (40.0, 80.0):
        grid = Grid(-half, half, int(20 * half) + 1, "stop")
        lowest.append(ritz(baseline, grid, best_weight(baseline, grid.zeta), 1, shift=0.05).rates[0].real - edge)
    assert lowest[0] > lowest[1] > 0
    assert abs(lowest[0] / lowest[1] - 4) < 0.5  # measured 3.7: as the square of the wave number that fits


@pytest.mark.parametrize("name", EXACT)
def test_eigenfunctions(name: str, solved: dict[str, RelaxationModes]) -> None:
    modes = solved[name]
    if not modes.rates.size:
        return
    h = modes.zeta[1] - modes.zeta[0]
    # sums over the nodes that are shown; what is missing lies beyond (2e-3, sixth mode of exponential and both)
    assert np.abs(h * modes.left @ modes.right.T - np.eye(modes.rates.size)).max() < 5e-3
    assert np.abs(h * modes.right.sum(axis=1)).max() < 1e-6
    assert np.abs(h * np.abs(modes.right).sum(axis=1) - 2).max() < 1e-5
    assert (modes.left[:, -1] > 0).all()


@pytest.mark.parametrize("name", ["linear, 1.5 and diffusion", "tanh, ten modes", "exponential, both"])
def test_eigenfunctions_are_eigenfunctions(name: str, solved: dict[str, RelaxationModes]) -> None:
    """A x = -r x and L y = -r y by the FFT product, where the nodes that are not shown no longer matter."""
    modes, model = solved[name], EXACT[name][0]
    generator = build_generator(model, Grid(modes.zeta[0], modes.zeta[-1], modes.zeta.size, "stop"))
    inside = slice(modes.zeta.size // 3, -modes.zeta.size // 3)
    for rate, x, y in zip(modes.rates[:2], modes.right, modes.left, strict=False):
        assert np.abs(generator.matvec(x) + rate * x)[inside].max() < 1e-6 * rate * np.abs(x).max()  # measured 1e-10
        assert np.abs(generator.rmatvec(y) + rate * y)[inside].max() < 1e-4 * rate * np.abs(y[inside]).max()


def test_hermite_functions(solved: dict[str, RelaxationModes]) -> None:
    """Linear drift and diffusion: y ∝ He_n, x ∝ He_n ρ."""
    modes = solved["linear, diffusion"]
    x = (modes.zeta - 0.7) / math.sqrt(0.3 / 1.5)
    rho = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi * 0.3 / 1.5)
    body = np.abs(x) < 5
    for n in range(1, 5):
        hermite = np.polynomial.hermite_e.hermeval(x, [0] * n + [1])
        scale = (hermite * modes.right[n - 1]).sum() / (hermite**2 * rho).sum()
        assert np.abs(modes.right[n - 1] - scale * hermite * rho).max() < 1e-5  # measured 2e-6
        assert np.abs(modes.left[n - 1] * scale * math.factorial(n) - hermite)[body].max() < 1e-5 * hermite[body].max()


@pytest.mark.parametrize(("kappa", "eta", "jumps"), [
    (1.0, 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
    (1.0, 0.1, TemperedStableJumps(0.2, 0.5, 1.0)),
    (3.0, 0.0, TemperedStableJumps(0.2, 1.5, 1.0)),  # Φ falls all the way to λ
    (0.5, 0.0, TemperedStableJumps(0.7, 1.0, 5.0)),
])
def test_the_edge_is_the_least_value_of_phi(kappa: float, eta: float, jumps: TemperedStableJumps) -> None:
    model = Model(LogisticDrift(kappa, 2 * kappa), eta, jumps)
    edge = essential_edge(model, "left")
    b = np.linspace(0.0, jumps.tempering, 20_001)
    phi = eta * b**2 + jumps.laplace_exponent(b) - kappa * b
    assert -phi.min() <= edge.rate + 1e-15
    assert edge.rate + phi.min() < 1e-6 * edge.rate  # the scan's own error
    assert essential_edge(model, "right").rate > edge.rate
    for share in (0.1, 0.5, 0.9):
        assert abs(edge.rate_of(edge.spread(share * edge.rate)) / (share * edge.rate) - 1) < 1e-4


def test_the_edge_of_pure_diffusion() -> None:
    edge = essential_edge(Model(TanhDrift(1.0), 0.3, None), "left")
    assert abs(edge.rate - 1 / 1.2) < 1e-14 and abs(edge.weight - 1 / 0.6) < 1e-8
    root = math.sqrt(1 - 0.7 / edge.rate)  # of Φ = -0.7: c = b (1 ± root)
    assert abs(edge.spread(0.7) - 2 * root / 0.6) < 1e-7


def test_edges_of_growing_drifts_and_untempered_jumps() -> None:
    stable = TemperedStableJumps(0.4, 1.5, 0.0)
    cubic = CallableDrift(lambda z: -(z**3), left=np.inf, right=np.inf, scale=0.5)
    slow = CallableDrift(lambda z: -np.arcsinh(z), left=np.inf, right=np.inf, scale=0.5)
    assert essential_edge(Model(LinearDrift(2.0, 3.0), 0.1, None), "left").rate == np.inf
    assert essential_edge(Model(slow, 0.1, TemperedStableJumps(0.4, 1.5, 1.0)), "left").rate == np.inf
    assert essential_edge(Model(ExponentialDrift(1.0, 1.0), 0.1, JUMPS), "right").rate == np.inf
    assert abs(essential_edge(Model(LinearDrift(2.0, 3.0), 0.1, stable), "right").rate - 3.0) < 1e-12  # α r
    assert essential_edge(Model(cubic, 0.1, stable), "left").rate == np.inf
    assert essential_edge(Model(slow, 0.1, stable), "left").rate == 0.0
    assert essential_edge(Model(TanhDrift(1.0), 0.1, stable), "left").rate == 0.0
    with pytest.raises(ModelError, match="side = 'top'"):
        essential_edge(Model(TanhDrift(1.0), 0.1, stable), "top")


def test_untempered_jumps() -> None:
    """Against a plateau nothing relaxes exponentially; against a linear drift one multiple of the rate is below α r."""
    stable = TemperedStableJumps(0.4, 1.5, 0.0)
    none = relaxation_modes(Model(TanhDrift(1.0), 0.1, stable))
    assert none.gap == none.essential_edge == 0.0 and none.rates.size == none.zeta.size == 0
    one = relaxation_modes(Model(LinearDrift(1.0), 0.1, stable), rtol=1e-3)
    assert one.rates.size == 1 and abs(one.rates[0] - 1) < one.error_estimates[0] <= 1e-3  # measured 4e-4, algebraic


@pytest.mark.parametrize("name", ["tanh, weakly bound", "exponential, both"])
def test_units(name: str, solved: dict[str, RelaxationModes]) -> None:
    """A faster clock multiplies every rate."""
    model = EXACT[name][0]
    drift, jumps = model.drift, model.jumps
    if isinstance(drift, TanhDrift):
        faster: TanhDrift | ExponentialDrift = TanhDrift(1e3 * drift.plateau, drift.center, drift.width)
    else:
        assert isinstance(drift, ExponentialDrift)
        faster = ExponentialDrift(1e3 * drift.plateau, 1e3 * drift.rate)
    law = None if jumps is None else TemperedStableJumps(1e3 * jumps.intensity, jumps.stability, jumps.tempering)
    again = relaxation_modes(Model(faster, 1e3 * model.diffusion, law))
    assert np.abs(again.rates / solved[name].rates / 1e3 - 1).max() < 1e-9


def test_fewer_modes_are_the_first_ones(solved: dict[str, RelaxationModes]) -> None:
    few = relaxation_modes(EXACT["tanh, ten modes"][0], k=2, rtol=1e-5)
    assert few.rates.shape == (2,) and (few.error_estimates <= 1e-5).all()
    assert np.abs(few.rates / solved["tanh, ten modes"].rates[:2] - 1).max() < 1e-5
    assert repr(few).startswith("RelaxationModes(rates [0.95, 1.8")


def test_the_observed_order_decides() -> None:
    assert error_factor(2.0**20, 8) == 1 / 127
    assert error_factor(4.0, 8) == 1.0 and error_factor(np.nan, 8) == 1.0 and error_factor(0.5, 8) > 2


def test_a_corner_is_reported_as_slow_as_it_is() -> None:
    """The drift's corners make the order 2; a grid four times finer shows that the estimate covers the error."""
    drift = CallableDrift(lambda z: -np.clip(z, -1.0, 1.0), left=1.0, right=1.0, breaks=(-1.0, 1.0))
    rough, fine = (relaxation_modes(Model(drift, 0.1, None), k=2, rtol=rtol) for rtol in (1e-4, 1e-6))
    errors = np.abs(rough.rates / fine.rates - 1)
    assert (errors < rough.error_estimates + fine.error_estimates).all()
    assert (errors > 1e-8).any()


def test_what_is_refused(baseline: Any) -> None:
    model = Model(TanhDrift(1.0), 0.1, None)
    for k in (0, -1, 2.5, "six", True):
        with pytest.raises(ModelError, match="k = "):
            relaxation_modes(model, k=k)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="rtol"):
        relaxation_modes(model, rtol=0.0)
    with pytest.raises(NoStationaryDensityError, match="inwards"):
        relaxation_modes(Model(TanhDrift(-1.0), 0.1, None))
    with pytest.raises(NotConvergedError, match=r"max_nodes = 200.*ask for fewer modes") as caught:
        relaxation_modes(model, max_nodes=200)
    assert caught.value.estimate > 1e-8
    with pytest.raises(NotConvergedError, match="rates are 0.9, 1.6, 2.1, 2.4 with relative errors up to"):
        relaxation_modes(model, rtol=1e-11, max_nodes=3000)
    assert len(relaxation_modes(baseline, k=1).rates) == 0
