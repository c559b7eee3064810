"""`zetafp simulate` as a user meets it: what is printed, which file appears, which exit status comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from solver.model import Model
from solver.presets import load_preset
from validation import monte_carlo
from validation.verbs import app

SHORT = ("--paths", 500, "--time", 2, "--dt", 0.1)


def run(*words: object) -> tuple[int, str]:
    """(exit status, everything printed with line breaks as blanks)."""
    result = CliRunner().invoke(app, ["simulate", *(str(word) for word in words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, " ".join(result.output.split())


def test_the_file_holds_what_the_function_returns(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "simulated"
    status, text = run("concentrated", *SHORT, "--seed", 3, "--out", out)
    assert status == 0, text
    wanted = monte_carlo.simulate(load_preset("concentrated"), paths=500, time=2.0, dt=0.1, seed=3)
    assert np.array_equal(np.load(out / "samples.npy"), wanted)
    assert {path.name for path in out.iterdir()} == {"samples.npy", "simulation.json", "model.toml", "zetafp.sha256"}
    assert [path.name for path in out.parent.iterdir()] == ["simulated"], "nothing is left beside it"
    assert json.loads((out / "simulation.json").read_text("utf-8"))["paths"] == 500
    assert Model.from_toml(out / "model.toml") == load_preset("concentrated")
    assert "500 paths to time 2 in 20 steps of 0.1, seed 3" in text and "z solver" in text and "written to" in text


def test_what_is_not_given_comes_from_the_solver() -> None:
    result = CliRunner().invoke(app, ["simulate", "concentrated", "--paths", "4000", "--json"])
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert summary["time"] == pytest.approx(12 / 0.32027307, rel=1e-3) and summary["dt"] == pytest.approx(0.1, rel=0.01)
    assert summary["steps"] * summary["dt"] == pytest.approx(summary["time"], rel=1e-12)
    # seed 0, nine quantiles; measured: at most 1.6 standard errors
    for row in summary["quantiles"]:
        assert abs(row["sampled"] - row["solver"]) < 4 * row["standard_error"], row


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    mine = tmp_path / "samples.npy"
    mine.write_text("mine")
    status, text = run(*SHORT, "--out", tmp_path)
    assert status == 2 and "was not written by zetafp and will not be replaced" in text
    assert [path.name for path in tmp_path.iterdir()] == ["samples.npy"] and mine.read_text() == "mine"


def test_one_folder_holds_one_model(tmp_path: Path) -> None:
    solved = CliRunner().invoke(app, ["solve", "concentrated", "--out", str(tmp_path), "--no-plot"])
    assert solved.exit_code == 0, solved.output
    assert run("concentrated", *SHORT, "--out", tmp_path)[0] == 0
    status, text = run("pure-diffusion", *SHORT, "--out", tmp_path)
    assert status == 2 and "is of another model" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--paths", 0), "paths = 0: must lie in"),
        (("--dt", -1), "dt = -1.0: must lie in"),
        (("--jobs", 0), "jobs = 0"),
        (("--start", "nan"), "start = nan: must be a finite number"),
        (("--start", "inf"), "start = inf: must be a finite number"),
        (("nonsense",), "preset = 'nonsense'"),
        (("frozen-gates", "--time", 1), "no stationary density"),
        (("frozen-gates", *SHORT), "start: missing"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(words: tuple[object, ...], message: str) -> None:
    given: tuple[Any, ...] = words if "frozen-gates" in words else (*SHORT, *words)
    status, text = run(*given)
    assert status == 2 and message in text and "Traceback" not in text


def test_a_model_without_a_stationary_law_is_walked_when_told_how() -> None:
    status, text = run("frozen-gates", *SHORT, "--start", -5)
    assert status == 0 and "no stationary density to compare with" in text


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(monte_carlo, "in_batches", interrupted)
    status, text = run(*SHORT, "--out", tmp_path / "simulated")
    assert status == 130 and "interrupted" in text and list(tmp_path.iterdir()) == []


def test_a_slip_of_the_pen_in_dt_is_refused() -> None:
    status, text = run("concentrated", "--paths", 10, "--time", 10, "--dt", "1e-12")
    assert status == 2 and "dt = 1e-12: time = 10 takes 1e+13 steps" in text
