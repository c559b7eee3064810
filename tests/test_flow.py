"""The drift alone: closed forms against Runge and Kutta, tables against both, and drifts that are hard to follow."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from solver.drifts import (
    CallableDrift,
    Drift,
    ExponentialDrift,
    LinearDrift,
    LogisticDrift,
    TabulatedDrift,
    TanhDrift,
)
from solver.errors import ModelError
from validation.flow import flow_map, integrated

Array = NDArray[np.float64]
ZETA = np.concatenate([np.linspace(-60.0, 60.0, 401), [-900.0, -349.9, 350.1, 500.0]])


def cubic(zeta: Array) -> Array:
    return -(zeta**3)


DRIFTS: list[Drift] = [
    TanhDrift(1.3, 0.2, 0.7),
    TanhDrift(-1.0),
    ExponentialDrift(1.0, 2.0),
    ExponentialDrift(-0.5, 1.0),
    LinearDrift(1.5, 0.3),
    LogisticDrift(1.0, 2.0),
    CallableDrift(lambda zeta: zeta - zeta**3 + 0.02),
]


@pytest.mark.parametrize("drift", DRIFTS, ids=lambda drift: repr(drift)[:40])
@pytest.mark.parametrize("time", [0.05, 1.0])
def test_the_flow_follows_the_drift(drift: Drift, time: float) -> None:
    zeta = ZETA[ZETA < 100] if isinstance(drift, ExponentialDrift) else ZETA  # e^500 takes thousands of steps to follow
    found, wanted = flow_map(drift, time)(zeta), integrated(drift, zeta, time)
    # measured: 1.4e-9 for the closed forms, the error of the steps; tables 3e-9 (logistic) and 2e-8 (two wells, t = 1)
    assert (np.abs(found - wanted) / (1 + np.abs(zeta))).max() < 5e-8


@pytest.mark.parametrize("drift", [*DRIFTS[:3], DRIFTS[-1]], ids=lambda drift: repr(drift)[:40])
def test_two_flows_are_one(drift: Drift) -> None:
    twice = flow_map(drift, 0.2)(flow_map(drift, 0.3)(ZETA))
    assert twice == pytest.approx(flow_map(drift, 0.5)(ZETA), abs=1e-7)


def test_a_steep_drift_brings_walkers_back_from_anywhere() -> None:
    far = np.array([-1e7, -1.0, 0.0, 2.0, 1e5])  # the outermost lie beyond the table
    assert flow_map(CallableDrift(cubic), 0.5)(far) == pytest.approx(far / np.sqrt(1 + far**2), abs=1e-8)
    wall = flow_map(ExponentialDrift(1.0, 1.0), 0.1)(np.array([700.0, 1e6]))
    assert wall == pytest.approx(-np.log(-np.expm1(-0.1)), abs=1e-12)
    # the same as a function, which overflows beyond 709 and refuses to
    told = flow_map(CallableDrift(lambda zeta: 1 - np.exp(zeta)), 0.1)
    assert told(np.array([20.0, 200.0])) == pytest.approx(wall, abs=5e-8)  # measured: 1.7e-8
    with pytest.raises(ModelError, match="must be finite"):
        told(np.array([1e6]))


def test_a_tanh_drift_of_any_length_of_time() -> None:
    flow = flow_map(TanhDrift(1.0), 500.0)
    assert flow(np.array([-600.0, 0.0, 505.0])) == pytest.approx([-100.0, 0.0, 5.00004539], abs=1e-8)
    assert flow(np.array([1.0]))[0] == pytest.approx(np.sinh(1.0) * np.exp(-500.0), rel=1e-12)


def test_a_drift_that_jumps_holds_what_reaches_it() -> None:
    push = flow_map(CallableDrift(lambda zeta: -np.sign(zeta), breaks=(0.0,)), 0.5)
    zeta = np.linspace(-3, 3, 1001)
    # measured: 1.8e-4 in the one cell of the table where the corner lies
    assert np.abs(push(zeta) - np.sign(zeta) * np.maximum(np.abs(zeta) - 0.5, 0)).max() < 1e-3


def test_a_table_keeps_the_order_of_walkers() -> None:
    drift = TabulatedDrift([-4.0, -1.0, 0.0, 4.0], [0.83, 0.8, 0.0, -1.0])
    moved = flow_map(drift, 2.0)(np.sort(np.random.default_rng(0).normal(size=5000) * 8))
    assert (np.diff(moved) >= 0).all()


def test_a_drift_that_runs_away_is_refused() -> None:
    with pytest.raises(ModelError, match=r"rate = -1.0: the drift runs to infinity"):
        flow_map(ExponentialDrift(1.0, -1.0), 0.1)
