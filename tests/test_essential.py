"""The edge of the essential spectrum, and the order that two differences show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError
from solver.essential import essential_edge
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.observed_order import error_factor

JUMPS = TemperedStableJumps(0.05, 0.7, 4.0)


@pytest.mark.parametrize(
    ("kappa", "eta", "jumps"),
    [
        (1.0, 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
        (1.0, 0.1, TemperedStableJumps(0.2, 0.5, 1.0)),
        (3.0, 0.0, TemperedStableJumps(0.2, 1.5, 1.0)),  # Φ falls all the way to λ
        (0.5, 0.0, TemperedStableJumps(0.7, 1.0, 5.0)),
    ],
)
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


def test_the_observed_order_decides() -> None:
    assert error_factor(2.0**20, 8) == 1 / 127
    assert error_factor(4.0, 8) == 1.0 and error_factor(np.nan, 8) == 1.0 and error_factor(0.5, 8) > 2
