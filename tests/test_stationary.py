"""solve_stationary: the independent reference values, what it refuses, and what it says when it does not converge."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.drifts import CallableDrift, Drift, ExponentialDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.presets import load_preset, preset_names
from solver.stationary import METHODS, solve_stationary

Array = NDArray[np.float64]

JUMPS = TemperedStableJumps(0.4, 1.5, 2.2)
BASELINE = Model(TanhDrift(1.0), 0.3, JUMPS)

# --- values made independently, at high resolution -------------------------------------------------------

RECORDS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "reference" / "stationary.json").read_text(encoding="utf-8")
)
DRIFTS: dict[str, type[TanhDrift] | type[ExponentialDrift]] = {
    "tanh": TanhDrift,
    "exponential": ExponentialDrift,
}
RTOL = 1e-9


def model_of(record: dict[str, Any]) -> Model:
    spec = record["model"]
    kind, *numbers = spec["drift"]
    jumps = TemperedStableJumps(spec["intensity"], spec["stability"], spec["tempering"])
    return Model(DRIFTS[kind](*numbers), spec["diffusion"], jumps)


@cache
def solved(name: str) -> StationaryDensity:
    return solve_stationary(model_of(RECORDS[name]), rtol=RTOL)


def differences(record: dict[str, Any], density: StationaryDensity) -> dict[str, float]:
    """|Δ ln ρ|, |Δ mean|, relative Δ variance and Δ envelope against a record."""
    envelope = density.envelope(record["lags"])
    return {
        "log_density": float(np.abs(density.logpdf(record["zeta"]) - record["log_density"]).max()),
        "mean": abs(density.mean() - record["mean"]),
        "variance": abs(density.var() / record["variance"] - 1),
        "envelope": float(np.abs(envelope.values / np.array(record["envelope"]) - 1).max()),
    }


def test_the_records_are_what_they_were() -> None:
    assert set(RECORDS) == {
        *("baseline", "half", "no-diffusion", "alpha-one", "below", "exponential", "shifted"),
    }
    assert all(record["agreement"] < 1e-10 for record in RECORDS.values())


@pytest.mark.parametrize("name", RECORDS)
def test_reference_values(name: str) -> None:
    record, density = RECORDS[name], solved(name)
    bound = max(1e-9, 3 * record["agreement"])
    # measured: ln ρ 2.5e-10 (half), mean 1.4e-13, variance 4.8e-12, envelope 2.7e-11 (half); at rtol 1e-11
    # ln ρ 1.8e-11 (baseline) and 2.3e-11 (half), which is the records' own agreement
    assert {key: value for key, value in differences(record, density).items() if value >= bound} == {}
    assert density.error_estimate <= RTOL
    within = np.abs(density.logpdf(record["zeta"]) - record["log_density"])
    assert (within <= density.log_error(record["zeta"]) + 3 * record["agreement"]).all()


@pytest.mark.parametrize("name", RECORDS)
def test_reference_exponents(name: str) -> None:
    record, theory = RECORDS[name], closed_form(model_of(RECORDS[name]))
    assert abs(theory.threshold / record["threshold"] - 1) < 1e-12  # measured 1e-15
    if record["exponent"] is None:
        assert not theory.has_root and np.isnan(theory.exponent)
        assert solved(name).tail_exponent == record["model"]["tempering"]
    else:
        assert abs(theory.exponent / record["exponent"] - 1) < 1e-12  # measured 2.3e-15
        assert abs(solved(name).tail_exponent / record["exponent"] - 1) < 1e-12  # measured 8e-15


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("field", ["diffusion", "intensity", "stability", "tempering"])
def test_one_per_cent_off_would_show(name: str, field: str) -> None:
    record = RECORDS[name]
    if record["model"][field] == 0:
        return
    wrong = {**record, "model": {**record["model"], field: 1.01 * record["model"][field]}}
    off = differences(record, solve_stationary(model_of(wrong), rtol=1e-5))
    # measured from 4.8e-3, 4.1e-3 and 9.7e-4
    assert off["log_density"] > 1e-3 and off["envelope"] > 1e-3 and off["variance"] > 3e-4


# --- closed form against solution ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in preset_names() if name != "frozen-gates"])
def test_the_tail_exponent_of_every_preset(name: str) -> None:
    model = load_preset(name)
    theory, density = closed_form(model), solve_stationary(model)
    for exact, has_root, got in (
        (theory.exponent, theory.has_root, density.tail_exponent),
        (theory.right_exponent, theory.right_has_root, density.right_tail_exponent),
    ):
        if has_root:
            assert abs(got / exact - 1) < 1e-9  # measured 6e-11 (pure diffusion), 3e-14 with jumps
        else:
            assert model.jumps is not None and got == model.jumps.tempering
    assert density.error_estimate <= 1e-8 and density.residual < 1e-13


def test_rare_jumps_are_no_jumps() -> None:
    """ln ρ in the body tends to that without jumps, linearly in the intensity; the tail does not."""
    zeta = np.linspace(-3.0, 3.0, 25)
    without = solve_stationary(Model(TanhDrift(1.0), 0.3, None), rtol=1e-10)
    changes = []
    for intensity in (1e-8, 1e-7, 1e-6):
        jumps = dataclasses.replace(JUMPS, intensity=intensity)
        density = solve_stationary(Model(TanhDrift(1.0), 0.3, jumps), rtol=1e-10)
        changes.append(np.abs(density.logpdf(zeta) - without.logpdf(zeta)).max() / intensity)
        assert density.tail_exponent == 2.2 and without.tail_exponent == pytest.approx(1 / 0.3, rel=1e-9)
    assert changes == pytest.approx([31.7244] * 3, rel=2e-3)  # measured 31.724, at 1e-8 to 4 digits


def test_a_convention_is_a_word_for_the_same_jumps() -> None:
    levy = TemperedStableJumps(0.4, 1.5, 2.2)
    zeta = np.linspace(-15.0, 15.0, 31)
    expected = solve_stationary(Model(TanhDrift(1.0), 0.3, levy)).logpdf(zeta)
    for word in ("stable", "laplacian"):
        unit = TemperedStableJumps(1.0, 1.5, 2.2, word).constant
        same = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4 / unit, 1.5, 2.2, word))
        assert np.abs(solve_stationary(same).logpdf(zeta) - expected).max() < 1e-12
        other = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2, word))
        assert np.abs(solve_stationary(other).logpdf(zeta) - expected).max() > 0.1


# --- no stationary density -------------------------------------------------------------------------------

OUTWARD: list[tuple[Drift, str, str]] = [
    (LogisticDrift(-0.2, 1.0), "left", "-0.2"),
    (LogisticDrift(1.0, -0.3), "right", "0.3"),
    (LogisticDrift(0.0, 1.0), "left", "0"),
    (LogisticDrift(1.0, 0.0), "right", "-0"),
    (TanhDrift(-1.5), "left", "-1.5"),
    (ExponentialDrift(-0.7, 1.0), "left", "-0.7"),
    (ExponentialDrift(1.0, -1.0), "right", "inf"),
    (LinearDrift(-1.0), "left", "-inf"),
    (CallableDrift(lambda z: np.tanh(z), left=-1.0, right=-1.0), "left", "-1"),
]


@pytest.mark.parametrize("jumps", [JUMPS, None], ids=["jumps", "no jumps"])
@pytest.mark.parametrize(("drift", "side", "value"), OUTWARD)
def test_an_outward_drift_is_refused_with_side_and_value(
    drift: Drift, side: str, value: str, jumps: TemperedStableJumps | None
) -> None:
    words = rf"no stationary density: .* not point inwards on the {side}, F = {value} at"
    with pytest.raises(NoStationaryDensityError, match=words):
        solve_stationary(Model(drift, 0.3, jumps))
    with pytest.raises(NoStationaryDensityError, match=words):  # a grid does not help
        solve_stationary(Model(drift, 0.3, jumps), grid=Grid(-10.0, 10.0, 401, "open"))


def test_frozen_gates_are_refused() -> None:
    words = r"on the left, F = -0\.2 at .*time scales lengthen without bound"
    with pytest.raises(NoStationaryDensityError, match=words):
        solve_stationary(load_preset("frozen-gates"))


def test_a_plateau_that_barely_restores_is_enough() -> None:
    """The other side of the refusal: 0.02 instead of 0 has a density."""
    density = solve_stationary(Model(LogisticDrift(0.02, 1.0), 0.3, None), rtol=1e-7)
    assert density.tail_exponent == pytest.approx(0.02 / 0.3, rel=1e-7)


def test_untempered_jumps_without_a_mean_are_refused() -> None:
    for stability in (0.6, 1.0):
        model = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, stability, 0.0))
        with pytest.raises(NoStationaryDensityError, match=r"tempering = 0 .*the jumps have no mean.*temper the jumps"):
            solve_stationary(model)


def test_an_atom_is_refused() -> None:
    step = CallableDrift(lambda z: -np.sign(z), left=1.0, right=1.0, scale=1.0, breaks=(0.0,))
    with pytest.raises(NoStationaryDensityError, match=r"steps from 1 to -1 at ζ = 0 .*index 0\.5 < 1.*an atom"):
        solve_stationary(Model(step, 0.0, TemperedStableJumps(0.4, 0.5, 1.0)))


# --- bad arguments ---------------------------------------------------------------------------------------

BAD: list[tuple[dict[str, Any], str]] = [
    ({"rtol": 0}, r"rtol = 0: must lie in \[1e-12, 0\.1\]"),
    ({"rtol": 1.0}, r"rtol = 1\.0: must lie in"),
    ({"rtol": 1e-13}, r"rtol = 1e-13: must lie in"),
    ({"rtol": float("nan")}, "rtol = nan: must be a finite number"),
    ({"rtol": "small"}, "rtol = 'small': must be a finite number, got str"),
    ({"method": "lu"}, "method = 'lu': must be one of 'elimination', 'eigs', 'dense'"),
    ({"method": None}, "method = None: must be one of"),
    ({"method": "dense"}, "method = 'dense': a reference needs a grid, pass grid="),
    ({"method": "eigs"}, "method = 'eigs': a reference needs a grid, pass grid="),
    ({"max_nodes": 10}, "max_nodes = 10.*must lie in"),
    ({"max_nodes": 1000.5}, "max_nodes = 1000.5: must be a whole number"),
    ({"max_nodes": "many"}, "max_nodes = 'many': must be a whole number, got str"),
    ({"order": 7}, "order = 7: the stencils' order is one of"),
    ({"grid": Grid(-20.0, 20.0, 401, "stop"), "method": "dense", "order": 8}, "order = 8: the dense method"),
    ({"grid": 401}, "grid = 401: must be a Grid"),
    ({"grid": Grid(-20.0, 20.0, 401, "open"), "method": "eigs"}, 'left edge = "open"'),
    ({"grid": Grid(-20.0, 20.0, 41, "stop")}, r"spacing = 1\.0: must be at most 1/tempering"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[words[:28] for _, words in BAD])
def test_bad_arguments(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        solve_stationary(BASELINE, **arguments)


# --- not converged ---------------------------------------------------------------------------------------


def test_too_few_nodes_for_any_density() -> None:
    with pytest.raises(NotConvergedError, match="max_nodes = 64") as caught:
        solve_stationary(BASELINE, max_nodes=64)
    assert caught.value.density is None and caught.value.estimate == np.inf


def test_not_converged_carries_the_best_density_and_its_estimate() -> None:
    words = r"rtol = 1e-11 was not reached \(best estimate \d\.\de-\d+\)"
    with pytest.raises(NotConvergedError, match=words) as caught:
        solve_stationary(BASELINE, rtol=1e-11, max_nodes=1500)
    density, estimate = caught.value.density, caught.value.estimate
    assert isinstance(density, StationaryDensity)
    assert 1e-11 < estimate < 1e-6 and estimate == density.error_estimate
    record = RECORDS["baseline"]
    error = np.abs(density.logpdf(record["zeta"]) - record["log_density"]).max()
    assert error <= estimate + record["agreement"]  # it is a good density, and the estimate is honest


def test_without_an_estimate_none_is_quoted() -> None:
    with pytest.raises(NotConvergedError, match="no estimate yet: it takes three levels") as caught:
        solve_stationary(BASELINE, rtol=1e-11, max_nodes=400)
    assert caught.value.density is not None and caught.value.estimate == np.inf and "inf" not in str(caught.value)


def test_rounding_is_named_when_it_is_the_limit() -> None:
    with pytest.raises(NotConvergedError, match="rounding limits this model") as caught:
        solve_stationary(Model(TanhDrift(1.0), 0.5, None), rtol=1e-12)
    assert caught.value.density is not None and caught.value.estimate < 1e-9


def test_an_unresolved_fixed_grid_is_not_returned() -> None:
    """Negative entries at every level: diffusion 0.001 at h = 0.4."""
    with pytest.raises(NotConvergedError, match=r"the grid \(h = 0\.4.*does not resolve the density"):
        solve_stationary(Model(TanhDrift(1.0), 1e-3, None), grid=Grid(-4.0, 4.0, 21, "stop"))


# --- a fixed grid, levels, progress ----------------------------------------------------------------------


@pytest.mark.parametrize("edges", ["open", "stop"])
def test_a_fixed_grid_is_kept(edges: str) -> None:
    grid = Grid(-25.0, 25.0, 1001, edges)
    density = solve_stationary(BASELINE, grid=grid)
    assert density.grid == grid and density.order == 8 and density.method == "elimination"
    assert (density.zeta == grid.zeta).all()
    assert len(density.levels) == 3 and [level.nodes for level in density.levels] == [251, 501, 1001]
    record = RECORDS["baseline"]
    error = np.abs(density.logpdf(record["zeta"]) - record["log_density"])
    assert (error <= density.log_error(record["zeta"]) + record["agreement"]).all()
    assert np.isnan(density.tail_exponent) == (edges == "stop")


def test_a_coarse_grid_is_not_refined_but_reported() -> None:
    fine, coarse = (solve_stationary(BASELINE, grid=Grid(-20.0, 20.0, nodes, "open")) for nodes in (801, 401))
    record = RECORDS["baseline"]
    for density in (fine, coarse):
        error = np.abs(density.logpdf(record["zeta"]) - record["log_density"]).max()
        assert error <= density.error_estimate + record["agreement"]
    assert 100 * fine.error_estimate < coarse.error_estimate < 1e-6  # measured 4e-10 and 1.2e-7


@pytest.mark.parametrize(("method", "order"), [("dense", 2), ("eigs", 8), ("elimination", 8), ("elimination", 2)])
def test_every_method_on_a_grid(method: str, order: int) -> None:
    grid = Grid(-14.0, 14.0, 561, "stop")
    density = solve_stationary(BASELINE, method=method, order=order, grid=grid)
    assert density.method == method and density.order == order and set(METHODS) >= {method}
    record = RECORDS["baseline"]
    inside = np.abs(np.array(record["zeta"])) <= 5
    error = np.abs(density.logpdf(record["zeta"]) - record["log_density"])[inside].max()
    # measured 1.5e-3 at order 2, 2.6e-8 at order 8: the mass that a stop edge at 14 does not hold, 2e-8
    assert error < (2e-3 if order == 2 else 5e-8)


def test_the_order_is_kept() -> None:
    """Lower orders reach the same density with more nodes."""
    zeta = np.linspace(-8.0, 8.0, 33)
    eighth = solve_stationary(BASELINE, rtol=1e-6)
    for order in (4, 6):
        density = solve_stationary(BASELINE, rtol=1e-6, order=order)
        assert density.order == order and density.grid.nodes > eighth.grid.nodes
        assert np.abs(density.logpdf(zeta) - eighth.logpdf(zeta)).max() < 2e-6
        assert density.levels[-1].order_observed == pytest.approx(order, abs=0.5)


def test_progress_is_called_before_every_level() -> None:
    calls: list[tuple[int, int, float]] = []
    density = solve_stationary(BASELINE, rtol=1e-9, progress=lambda *call: calls.append(call))
    assert [level for level, _, _ in calls] == list(range(1, len(calls) + 1))
    assert [nodes for _, nodes, _ in calls] == [level.nodes for level in density.levels]
    assert calls[0][2] == np.inf  # nothing is known before the first
    assert [estimate for _, _, estimate in calls[1:]] == [level.estimate for level in density.levels[:-1]]


def test_levels_say_how_the_answer_was_reached() -> None:
    density = solve_stationary(BASELINE, rtol=1e-9)
    spacings = [level.spacing for level in density.levels]
    np.testing.assert_allclose(np.array(spacings[:-1]) / spacings[1:], 2.0, rtol=1e-12)
    assert density.levels[-1].spacing == density.grid.spacing
    assert density.levels[-1].estimate >= density.error_estimate
    assert density.levels[-1].order_observed > 7  # measured 7.8
    assert all(level.seconds > 0 for level in density.levels)


def test_an_interruption_is_not_swallowed() -> None:
    def stop(level: int, nodes: int, estimate: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_stationary(BASELINE, progress=stop)


def test_tighter_is_closer() -> None:
    """The error follows the tolerance over seven decades, and so does the work."""
    record = RECORDS["no-diffusion"]
    errors, nodes = [], []
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        density = solve_stationary(model_of(record), rtol=rtol)
        errors.append(float(np.abs(density.logpdf(record["zeta"]) - record["log_density"]).max()))
        nodes.append(density.grid.nodes)
        assert errors[-1] < rtol
    assert errors[0] > 100 * errors[-1] and nodes == sorted(nodes)


@pytest.mark.slow
def test_a_million_nodes() -> None:
    """N = 1 024 001 in about a second; the answer at the bottom is e^{-32443}."""
    density = solve_stationary(BASELINE, grid=Grid(-25600.0, 25600.0, 1_024_001, "open"))
    exponent = closed_form(BASELINE).exponent
    assert density.log_density.min() < -32_000
    assert np.abs(np.diff(density.log_density[:400_000]) / density.grid.spacing - exponent).max() < 1e-9
    assert density.residual < 1e-10
