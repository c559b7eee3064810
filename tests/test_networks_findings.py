"""Negative controls: what speaks against the model is reported by its name, and nothing is fitted through it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import ROOT
from numpy.typing import NDArray

from solver.drifts import LogisticDrift, TanhDrift
from solver.model import Model
from solver.presets import load_preset
from validation.networks.bootstrap import block_weights
from validation.networks.calibrate import calibrate, verdict
from validation.networks.findings import Finding, ends, prepare, trend
from validation.networks.prediction import spread
from validation.networks.reading import read_run
from validation.networks.recovery import trajectories
from validation.networks.steps import steps_of
from validation.walk import Schedule, Scheme, walk

Array = NDArray[np.float64]
GIVEN = ROOT / "tests" / "data" / "networks"
DT = 0.1


@pytest.fixture(scope="module")
def clean() -> Array:
    """A run of the model itself: 100 units, 240 steps."""
    return trajectories(load_preset("concentrated"), 100, 240, DT, seed=2)


def kinds(zeta: Array, interval: float = DT) -> set[str]:
    """Kinds of what is found before a fit; each must stop the fit if it is fatal."""
    found = prepare(zeta, interval).findings
    if any(finding.fatal for finding in found):
        assert calibrate(zeta, interval).model is None
    return {finding.kind for finding in found}


def filtered(noise: Array, memory: float) -> Array:
    """ζ of an Ornstein–Uhlenbeck process driven by noise that keeps the share `memory` of itself."""
    push, zeta = np.zeros_like(noise), np.zeros_like(noise)
    for t in range(1, len(noise)):
        push[t] = memory * push[t - 1] + noise[t]
        zeta[t] = 0.9 * zeta[t - 1] + push[t]
    return zeta[50:]


def test_the_model_itself_is_not_complained_about(clean: Array) -> None:
    assert kinds(clean) == set()
    prepared = prepare(clean, DT)
    assert prepared.stride == 1 and prepared.block == 1
    assert abs(prepared.memory.first) < 0.03  # measured 0.006 or so; its standard error is 0.006


def test_an_outward_drift_on_the_left() -> None:
    model = Model(LogisticDrift(-0.2, 1.0, 0.0, 1.0), 0.2)  # the preset frozen-gates without its jumps
    zeta = walk(Scheme.of(model, DT), np.zeros(200), Schedule(1, 1, 300), np.random.default_rng(0))
    assert {"left", "trend"} <= kinds(zeta)
    left = ends(steps_of(zeta[200:], DT), 1)[0]
    assert left.kind == "left" and "points outwards" in left.message and left.fatal


def test_a_drift_must_be_shown_to_restore() -> None:
    still = np.cumsum(np.random.default_rng(3).standard_normal((60, 100)), axis=0)
    found = ends(steps_of(still, 1.0), 1)
    assert [finding.kind for finding in found] == ["left", "right"], "a random walk restores nowhere"


def test_no_left_tail() -> None:
    model = Model(TanhDrift(5.0, 0.0, 5.0), 0.3)  # a well of rate 1: its plateau lies ten standard deviations out
    found = calibrate(trajectories(model, 100, 200, DT, seed=1), DT)
    assert not found.described and found.verdict == "these data cannot tell (no-left-tail)"
    assert "κ" in found.findings[0].message and "extrapolated" in found.findings[0].message


def test_a_trend(clean: Array) -> None:
    assert "trend" in kinds(clean + 0.004 * np.arange(len(clean))[:, None])
    assert trend(clean) == []


def test_increments_that_remember() -> None:
    rng = np.random.default_rng(4)
    zeta = filtered(rng.standard_normal((150, 100)), 0.95)
    assert "remembers" in kinds(zeta)
    found = next(finding for finding in prepare(zeta, DT).findings if finding.kind == "remembers")
    assert found.fatal and "memory time" in found.message and "no coarser interval" in found.message


def test_a_coarser_interval_is_taken_where_it_helps() -> None:
    zeta = filtered(np.random.default_rng(5).standard_normal((1250, 60)), 0.5) * 0.1
    prepared = prepare(zeta, DT)
    found = [finding for finding in prepared.findings if finding.kind == "remembers"]
    assert prepared.stride > 1 and prepared.steps.interval == pytest.approx(DT * prepared.stride)
    assert found and not found[0].fatal and f"one checkpoint in {prepared.stride}" in found[0].message


def test_errors_of_measurement_undo_one_another(clean: Array) -> None:
    zeta = clean[:120] + 0.5 * np.random.default_rng(6).standard_normal((120, 100))
    found = next(finding for finding in prepare(zeta, DT).findings if finding.kind == "remembers")
    assert "undo one another" in found.message


def test_units_that_move_together(clean: Array) -> None:
    together = 0.3 * np.random.default_rng(7).standard_normal((len(clean), 1))
    assert "common" in kinds(clean + np.cumsum(together, axis=0) * 0.9)


def test_too_few_increments(clean: Array) -> None:
    assert "too-few" in kinds(clean[:25]) and "too-few" in kinds(clean[:, :5])
    assert "too-few" in kinds(np.full((40, 60), np.nan))
    assert verdict(tuple(prepare(clean[:, :5], DT).findings[:1])) == "these data cannot tell (too-few)"


def test_units_that_drop_out_are_no_obstacle(clean: Array) -> None:
    holes = clean.copy()
    holes[np.random.default_rng(8).random(clean.shape) < 0.1] = np.nan
    holes[:100, 3] = np.nan
    assert kinds(holes) == set()


def test_blocks_are_drawn_whole() -> None:
    weights = block_weights(60, 6, 500, np.random.default_rng(0))
    assert (weights.sum(axis=1) == 60).all() and abs(weights.mean() - 1) < 1e-12
    # neighbours in a block share their fate: correlation 5/6 within 6% of sampling, and none far off
    near, far = (np.corrcoef(weights[:, :-gap].ravel(), weights[:, gap:].ravel())[0, 1] for gap in (1, 30))
    assert abs(near - 5 / 6) < 0.06 and abs(far) < 0.15


@pytest.mark.parametrize(
    ("name", "word", "expected"),
    [
        # shared: 0.02 decades; diag: 2.4; const: 0.17
        ("shared", "narrow", {"common", "trend"}),
        ("diag", "broad", {"remembers", "trend", "left"}),
        ("const", "narrow", {"remembers", "trend", "right"}),
    ],
)
def test_the_given_runs(name: str, word: str, expected: set[str]) -> None:
    run = read_run(GIVEN / f"{name}.npz")
    late = run if name == "const" else run.between(100, None)
    found = calibrate(late.zeta)
    assert found.model is None and not found.described and math.isnan(found.exponent)
    assert expected <= {finding.kind for finding in found.findings}
    assert spread(run.last).word == word


def test_the_memory_of_the_diagonal_gates_is_told() -> None:
    found = calibrate(read_run(GIVEN / "diag.npz").between(100, None).zeta)
    remembers = next(finding for finding in found.findings if finding.kind == "remembers")
    assert "correlation 0.86" in remembers.message  # as in the README that came with the data
    assert spread(read_run(GIVEN / "diag.npz").last).decades > 2


def test_a_verdict_says_no_more_than_was_found() -> None:
    note = Finding("trade-off", "", False)
    assert verdict((note,)) == "the model describes these data"
    assert verdict((note, Finding("left", "", True), Finding("too-few", "", True))) == (
        "the model does not describe these data (left, too-few)"
    )
