"""Fits of known models, the law they rest on, and the verb: recovery in small here, in full in the slow study."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from scipy.stats import binom, norm
from typer.testing import CliRunner

from solver.drifts import LogisticDrift
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.presets import load_preset
from validation.networks import recovery
from validation.networks.calibrate import Calibration, calibrate
from validation.networks.curves import expected_rate, mean_rates
from validation.networks.likelihood import fit_noise, noise_scores
from validation.networks.noise_law import Cells, Noise
from validation.networks.parameters import numbers_of
from validation.networks.recovery import logistic, trajectories
from validation.networks.recovery_page import LEAST, MARK, MOST, kept, section, write_section
from validation.networks.splitting import residuals
from validation.verbs import app

GIVEN = ROOT / "tests" / "data" / "networks"
FILES = {"calibration.json", "calibration.txt", "calibration.png", "model.toml"}


@pytest.fixture(scope="module")
def found() -> Calibration:
    """The preset concentrated, 100 units x 200 steps."""
    return calibrate(trajectories(load_preset("concentrated"), 100, 200, seed=4), interval=0.1)


def test_a_known_model_is_recovered(found: Calibration) -> None:
    truth = numbers_of(logistic(load_preset("concentrated")))
    assert found.described and found.model is not None and found.verdict == "the model describes these data"
    held = [name for name, band in found.intervals.items() if band.holds(truth[name])]
    assert len(held) >= 8, "of ten 90% intervals"
    assert abs(found.exponent / truth["exponent"] - 1) < 0.25  # 90% interval: ± 15%
    assert found.intervals["exponent"].holds(truth["exponent"])
    assert found.phases["concentrated"] > 0.9 and sum(found.phases.values()) == pytest.approx(1)
    assert found.draws is not None and found.draws.flattened < 1.3  # a true model: 1 up to sampling
    assert 0.1 < found.draws.accepted < 0.6


def test_what_trades_off_is_told(found: Calibration) -> None:
    note = next(finding for finding in found.findings if finding.kind == "trade-off")
    assert not note.fatal and "intensity and tempering +0." in note.message
    assert found.correlations.shape == (len(found.names),) * 2 and "stability" in found.names


def test_a_seed_gives_the_same_result_again(found: Calibration) -> None:
    zeta = trajectories(load_preset("pure-diffusion"), 60, 60, seed=1)
    one, two, other = (calibrate(zeta, interval=0.1, seed=seed) for seed in (1, 1, 2))
    assert one.intervals == two.intervals != other.intervals
    assert one.model == other.model == two.model, "draws do not move the fit"


def test_the_expected_mean_rate_is_what_the_bins_show(found: Calibration) -> None:
    steps = found.prepared.steps
    seen = mean_rates(steps, 1)
    assert found.fit is not None
    z = (seen.rate - expected_rate(found.fit, steps.interval, seen.zeta)) / seen.error
    assert (z[1:-1] ** 2).mean() < 2.2  # 22 squares of mean 1: below 1.8 in 99 of 100; the bins have a width
    assert (np.diff(seen.falling) <= 0).all()


def test_gaussian_cells_are_exact() -> None:
    cells = Cells(0.05, 512)
    mass = np.exp(cells.log_density(Noise(0.5, None), 0.3)) * 0.05
    edges = cells.centres - 0.025
    exact = np.diff(norm.cdf(np.append(edges, edges[-1] + 0.05), scale=math.sqrt(0.3)))
    assert np.abs(mass - exact).max() < 1e-10  # measured 5e-12: the floor


@pytest.mark.parametrize("stability", [0.5, 1.0, 1.5])
def test_the_law_of_the_jumps_has_their_cumulants(stability: float) -> None:
    jumps = TemperedStableJumps(0.7, stability, 1.4)
    cells = Cells(0.01, 2**13)
    mass = np.exp(cells.log_density(Noise(0.1, jumps), 0.5)) * 0.01
    second, fourth = (float(mass @ cells.centres**n) for n in (2, 4))
    # from ∫ z^n ν dz = 2 η_J Γ(n-α) λ^(α-n); a cell adds its width squared over 12
    moment = {n: 1.4 * math.gamma(n - stability) * 1.4 ** (stability - n) for n in (2, 4)}
    assert second == pytest.approx(0.5 * (0.2 + moment[2]) + 1e-4 / 12, rel=1e-6)
    assert fourth - 3 * second**2 == pytest.approx(0.5 * moment[4], rel=1e-3)


def test_the_step_law_is_a_density() -> None:
    """∫ p(y | x) dy = 1 with the Jacobian, and not without it."""
    drift = LogisticDrift(1.0, 2.0, 0.2, 0.3)
    y = np.linspace(-8, 8, 8001)
    r, log_jacobian = residuals(drift, 0.3, np.full(y.size, 0.5), y)
    errors = []
    for spacing in (0.01, 0.005):
        cells = Cells(spacing, 2**13)
        log_density = cells.read(cells.log_density(Noise(0.4, TemperedStableJumps(0.3, 1.2, 2.0)), 0.3), r)
        errors.append(abs(float(np.exp(log_density - log_jacobian).sum()) * 0.002 - 1))
        assert abs(float(np.exp(log_density).sum()) * 0.002 - 1) > 1e-2
    # measured 2.3e-5 and a quarter of it: a cell's mean, read linearly in its logarithm, errs by its width squared
    assert errors[0] < 3e-5 and errors[1] < 0.27 * errors[0]


def test_a_fit_of_the_noise_ends_where_no_score_is_left() -> None:
    """From counts that ARE the law: the fit returns it, and its scores vanish."""
    truth = Noise(0.2, TemperedStableJumps(0.8, 1.3, 1.1))
    cells = Cells(0.02, 2**11)
    counts = 1e6 * np.exp(cells.log_density(truth, 0.1)) * 0.02
    shape, _ = fit_noise(cells, counts, 0.1, truth.shape + np.array([0.2, -0.8, 0.5, 0.3]))
    assert np.abs(noise_scores(cells, shape, 0.1) @ counts).max() < 30  # of standard deviations 100 and more
    assert Noise.of(shape).jumps is not None
    assert abs(shape[0] - truth.shape[0]) < 2e-3


@pytest.mark.parametrize(
    ("zeta", "options", "message"),
    [
        (np.ones(5), {}, "zeta: shape"),
        (np.full((5, 5), np.inf), {}, "25 infinite"),
        (np.ones((50, 5)), {"interval": 0.0}, "interval = 0.0"),
        (np.ones((50, 5)), {"window": (49, 50)}, "holds 1 rows, needs 2"),
        (np.ones((50, 5)), {"seed": -1}, "seed = -1"),
    ],
)
def test_bad_arguments(zeta: np.ndarray, options: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        calibrate(zeta, **options)  # type: ignore[arg-type]


def test_a_run_that_stands_still_gives_no_model() -> None:
    found = calibrate(np.ones((50, 60)))
    assert found.model is None and not found.described


def run(*words: object) -> tuple[int, str]:
    """(exit status, everything printed)."""
    result = CliRunner().invoke(app, ["calibrate", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, result.output


def test_the_verb_on_a_run_of_the_model(tmp_path: Path) -> None:
    np.save(tmp_path / "run.npy", np.exp(-trajectories(load_preset("pure-diffusion"), 80, 100, seed=3)))
    out = tmp_path / "out"
    status, text = run(tmp_path / "run.npy", "--interval", 0.1, "--out", out)
    assert status == 0 and "the model describes these data" in " ".join(text.split()), text
    assert {path.name for path in out.iterdir()} >= FILES
    model = Model.from_toml(out / "model.toml")
    summary = json.loads((out / "calibration.json").read_text("utf-8"))
    assert summary["described"] is True and Model.from_dict(summary["model"]) == model
    low, high = (summary["intervals"]["exponent"][end] for end in ("low", "high"))
    assert low < 2.0 < high and f"exponent: {low:.6g} to {high:.6g}" in (out / "model.toml").read_text("utf-8")
    assert (out / "calibration.png").stat().st_size > 50_000
    assert summary["predicted"]["anderson_darling_p"] > 0.01


def test_the_verb_on_a_given_run(tmp_path: Path) -> None:
    status, text = run(GIVEN / "diag.npz", "--window", "100:", "--out", tmp_path / "out", "--no-plot")
    flat = " ".join(text.split())
    assert status == 1 and "the model does not describe these data" in flat and "broad" in flat, text
    assert not (tmp_path / "out" / "model.toml").exists() and not (tmp_path / "out" / "calibration.png").exists()
    assert max(len(line) for line in text.splitlines() if "written to" not in line) <= 100
    status, text = run(GIVEN / "shared.npz", "--json")
    assert status == 1 and json.loads(text)["measured"]["word"] == "narrow"


def test_a_run_without_a_model_leaves_that_of_other_files(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["solve", "pure-diffusion", "--out", str(tmp_path), "--no-plot"]).exit_code == 0
    before = (tmp_path / "model.toml").read_bytes()
    status, _ = run(GIVEN / "shared.npz", "--out", tmp_path, "--no-plot")
    assert status == 1 and (tmp_path / "calibration.json").exists()
    assert (tmp_path / "model.toml").read_bytes() == before, "density.csv beside it is of this model"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.npz",), "no such file or folder"),
        ((GIVEN / "diag.npz", "--window", "100"), "window = '100': must be A:B"),
        ((GIVEN / "diag.npz", "--window", "300:"), "holds 0 checkpoints"),
        ((GIVEN / "diag.npz", "--interval", "-1"), "interval = -1.0"),
        ((GIVEN / "diag.npz", "--seed", "-1"), "seed = -1"),
    ],
)
def test_bad_input_has_status_two(words: tuple[object, ...], message: str) -> None:
    status, text = run(*words)
    assert status == 2 and message in " ".join(text.split()), text


def test_the_section_of_the_study_is_replaced_and_kept(tmp_path: Path) -> None:
    rows = [recovery.Row("broad", "left", 1.0, 50, share, 0.02, 0.1, 0.2) for share in (0.9, 0.5)]
    page = tmp_path / "validation.md"
    page.write_text("# Validation\n\nText.\n", encoding="utf-8")
    for _ in range(2):
        write_section(
            page, section(rows, rows[:1], [recovery.Undone("broad", 0.5, (0.1,) * 3, (0.01,) * 3, (0.02,) * 3)])
        )
        text = page.read_text(encoding="utf-8")
        assert text.count(MARK) == 1 and text.startswith("# Validation\n\nText.\n\n## Recovery")
        assert "All parameters together: 70%" in text and "outside: broad left (50%)" in text
        assert "| broad | 0.5 | +10.0% → +1.0 ± 2.0% |" in text
    assert kept(page).startswith(MARK) and kept(tmp_path / "none.md") == ""


def test_a_study_counts_what_it_covers() -> None:
    rows = {row.name: row for row in recovery.study("pure-diffusion", 60, 60, 2)}
    assert {"left", "diffusion", "exponent"} <= set(rows) and rows["exponent"].truth == pytest.approx(2.0)
    assert all(row.runs == 2 and row.covered in (0.0, 0.5, 1.0) for row in rows.values())


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["concentrated", "broad", "collapsed"])
def test_intervals_hold_in_the_small_case(preset: str) -> None:
    """50 runs of 200 units x 400 steps: together as wanted, and no row that true 90% intervals give in 1% of studies.

    One row below 80% is no fault: true intervals have one in a quarter of all studies of 30 rows.
    """
    rows = recovery.study(preset, 200, 400, 50, first_seed=1000)
    least = binom.ppf(0.01 / 30, 50, 0.9) / 50  # 0.74
    assert all(row.covered >= least for row in rows), recovery.table(rows)
    pooled = np.mean([row.covered for row in rows])
    assert LEAST <= pooled <= MOST, recovery.table(rows)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["concentrated", "broad"])
def test_the_exponent_in_the_large_case(preset: str) -> None:
    rows = {row.name: row for row in recovery.study(preset, 2000, 2000, 3, first_seed=2000)}
    assert rows["exponent"].largest_error < 0.1
