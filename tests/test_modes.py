"""Relaxation modes: exact spectra, dense algebra, Kramers' rate, and the edge of the continuum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, TanhDrift
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.essential import essential_edge
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.modes import RelaxationModes, relaxation_modes

TWO_WELLS = CallableDrift(lambda z: z - z**3, left=np.inf, right=np.inf, scale=0.5)


def morse(
    plateau: float, rate: float, diffusion: float, jumps: TemperedStableJumps | None
) -> tuple[Model, list[float]]:
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
    "linear, 0.5": linear(0.0, 2.0, 0.5, 1.0),
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
    assert abs(modes.rates[0] / exact - 1) < 2e-9  # measured 4e-12, 1e-10, 5e-10; rates 2e-5 … 9e-10


def test_a_rate_far_below_rounding() -> None:
    """e^{-80}: asymptotically sqrt(2)/π e^{-barrier}, with a correction of order 1/barrier."""
    modes = relaxation_modes(Model(TWO_WELLS, 0.25 / 80, None), k=1)
    ratio = modes.rates[0] / (math.sqrt(2) / math.pi * math.exp(-80))
    assert abs(ratio - 1) < 0.02  # measured -0.0047


@pytest.mark.parametrize("name", EXACT)
def test_eigenfunctions_are_normalised(name: str, solved: dict[str, RelaxationModes]) -> None:
    modes = solved[name]
    h = modes.zeta[1] - modes.zeta[0]
    # sums over the nodes that are shown; what is missing lies beyond: much of y x where a rate is close to the edge
    low = modes.rates < 0.6 * modes.essential_edge
    unit = h * modes.left @ modes.right.T - np.eye(modes.rates.size)
    assert np.abs(unit[low][:, low]).max(initial=0.0) < 1e-5  # measured 1e-6 (exponential, both)
    assert np.abs(h * modes.right.sum(axis=1)).max(initial=0.0) < 1e-7  # measured 4e-9 (exponential, diffusion)
    assert np.abs(h * np.abs(modes.right).sum(axis=1) - 2).max(initial=0.0) < 1e-7  # measured 4e-9
    assert (modes.left[:, -1] > 0).all()


@pytest.mark.parametrize("name", ["linear, 1.5 and diffusion", "tanh, ten modes", "exponential, both"])
def test_eigenfunctions_are_eigenfunctions(name: str, solved: dict[str, RelaxationModes]) -> None:
    """A x = -r x and L y = -r y by the FFT product, where the nodes that are not shown no longer matter."""
    modes, model = solved[name], EXACT[name][0]
    generator = build_generator(model, Grid(modes.zeta[0], modes.zeta[-1], modes.zeta.size, "stop"))
    inside = slice(modes.zeta.size // 3, -modes.zeta.size // 3)
    for rate, x, y in zip(modes.rates[:2], modes.right, modes.left, strict=False):
        assert np.abs(generator.matvec(x) + rate * x)[inside].max() < 1e-9 * rate * np.abs(x).max()  # 2e-12
        assert np.abs(generator.rmatvec(y) + rate * y)[inside].max() < 1e-6 * rate * np.abs(y[inside]).max()  # 3e-8


def test_hermite_functions(solved: dict[str, RelaxationModes]) -> None:
    """Linear drift and diffusion: y ∝ He_n, x ∝ He_n ρ."""
    modes = solved["linear, diffusion"]
    x = (modes.zeta - 0.7) / math.sqrt(0.3 / 1.5)
    rho = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi * 0.3 / 1.5)
    body = np.abs(x) < 5
    for n in range(1, 5):
        hermite = np.polynomial.hermite_e.hermeval(x, [0] * n + [1])
        scale = (hermite * modes.right[n - 1]).sum() / (hermite**2 * rho).sum()
        assert np.abs(modes.right[n - 1] - scale * hermite * rho).max() < 2e-5  # measured 4e-6: ρ on this grid
        error = np.abs(modes.left[n - 1] * scale * math.factorial(n) - hermite)[body].max()
        assert error < 1e-9 * hermite[body].max()  # measured 5e-12


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


def test_a_corner_is_reported_as_slow_as_it_is() -> None:
    """The drift's corners make the order 2; a finer solution shows that the estimate covers the error."""
    drift = CallableDrift(lambda z: -np.clip(z, -1.0, 1.0), left=1.0, right=1.0, breaks=(-1.0, 1.0))
    rough, fine = (relaxation_modes(Model(drift, 0.1, None), k=2, rtol=rtol) for rtol in (1e-3, 1e-5))
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
    with pytest.raises(NotConvergedError, match=r"rates are 0.9, 1.6, 2.1, 2.4 with relative errors up to"):
        relaxation_modes(model, rtol=1e-11, max_nodes=3000)
    assert len(relaxation_modes(baseline, k=1).rates) == 0
