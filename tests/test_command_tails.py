"""`zetafp tails`: text, files, JSON, and each exit status."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from solver import command_tails
from solver.model import Model
from solver.presets import load_preset
from validation.verbs import app


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["tails", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, result.output


def test_a_root_from_the_text_to_the_files(tmp_path: Path) -> None:
    out = tmp_path / "tails"
    status, text = run("concentrated", "--depth", 100000, "--out", out)
    assert status == 0, text
    assert "root" in text and "e^(-(1.26736004906 ± " in text and "written to" in text
    assert "within 1% from s = 2.35" in " ".join(text.split())
    assert sorted(path.name for path in out.iterdir()) == [
        "model.toml",
        "tails.csv",
        "tails.json",
        "tails.png",
        "zetafp.sha256",
    ]
    summary = json.loads((out / "tails.json").read_text())
    assert summary["passed"] is True and summary["law"]["case"] == summary["theory"]["form"]["case"] == "root"
    assert abs(summary["fit"]["exponent"] - summary["law"]["exponent"] - summary["fit"]["bias"]) < 1e-12
    with (out / "tails.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert float(rows[-1]["depth"]) == pytest.approx(1e5) and list(rows[0]) == [
        "depth",
        "log_density",
        "local_exponent",
        "difference",
        "log_error",
        "log_lag",
        "log_value",
        "envelope_exponent",
        "log_samples",
    ]
    # nothing on the way is far from the law, in units of its own error
    deep = np.array([[float(row[name]) for name in ("depth", "difference", "log_error")] for row in rows])
    deep = deep[deep[:, 0] > 100]
    assert (np.abs(deep[:, 1]) < 10 * deep[:, 2]).all()


def test_below_the_threshold_as_json_and_without_a_figure(tmp_path: Path) -> None:
    status, text = run("collapsed", "--json", "--no-plot", "--out", tmp_path / "t", "--noise-index", 1.5)
    summary = json.loads(text)
    assert status == 0 and summary["law"]["case"] == "tempered" and not (tmp_path / "t" / "tails.png").exists()
    assert summary["noise_index"] == pytest.approx(1.5) and "polynomial with logarithm" in summary["cost"]
    assert [row["samples"] for row in summary["horizon"]] == [1e2, 1e4, 1e6, 1e9, 1e12]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("brod",), "did you mean 'broad'"),
        (("broad", "--depth", "0.5"), "depth = 0.5"),
        (("broad", "--depth", "nan"), "depth = nan"),
        (("broad", "--noise-index", "1"), "noise_index = 1"),
        (("broad", "--low", "20", "--high", "10"), "low = 20, high = 10"),
        (("broad", "--neurons", "0"), "neurons = 0"),
        (("gaussian",), "stop edge"),
    ],
)
def test_bad_input(words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if words[0] == "gaussian":
        Path("gaussian.toml").write_text('diffusion = 1.0\n[drift]\nkind = "linear"\nrate = 1.0\ncenter = 0.0\n')
        words = ("gaussian.toml",)
    status, text = run(*words)
    assert status == 2 and message in " ".join(text.split())
    assert text.count("zetafp:") == 1


def test_a_law_that_differs_from_theory_gives_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = command_tails.compare_tail

    def shifted(law, density):  # type: ignore[no-untyped-def]
        from dataclasses import replace

        return honest(replace(law, log_constant=law.log_constant + 1e-3), density)

    monkeypatch.setattr(command_tails, "compare_tail", shifted)
    status, text = run("concentrated", "--depth", 100)
    assert status == 1 and "differs from theory" in " ".join(text.split())


def test_the_text_fits_sixty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    status, text = run("concentrated", "--depth", 100)
    assert status == 0 and max(map(len, text.splitlines())) <= 60


RARE = """diffusion = 0.3
[drift]
kind = "tanh"
plateau = 1.0
[jumps]
kind = "laplace"
rate = 1e-20
tempering = 2.0
"""


def test_one_neuron_is_no_plural() -> None:
    status, text = run("concentrated", "--depth", 100, "--neurons", 1)
    assert status == 0 and "a single neuron has, in the median" in " ".join(text.split()) and "1 neurons" not in text


def test_a_root_that_doubles_do_not_tell_from_the_tempering(tmp_path: Path) -> None:
    (tmp_path / "rare.toml").write_text(RARE)
    status, text = run(tmp_path / "rare.toml", "--depth", 100)
    assert status == 0 and "theory: root, e^(-2 s), ln C = -44.912" in text and ": ok" in text


def test_the_deepest_table() -> None:
    status, text = run("concentrated", "--depth", "1e7", "--json")
    assert status == 0 and json.loads(text)["passed"] is True
    status, text = run("concentrated", "--depth", "1e8")
    assert status == 2 and "depth = 1" in text


def test_one_folder_holds_one_model(tmp_path: Path) -> None:
    out = tmp_path / "both"
    assert run("concentrated", "--depth", 100, "--out", out, "--no-plot")[0] == 0
    app_solve = CliRunner().invoke(app, ["solve", "concentrated", "--out", str(out), "--no-plot"])
    assert app_solve.exit_code == 0, app_solve.output
    before = (out / "model.toml").read_bytes()
    status, text = run("pure-diffusion", "--depth", 100, "--out", out)
    assert status == 2 and "is of another model" in " ".join(text.split())
    assert (out / "model.toml").read_bytes() == before and not (out / "tails.png").exists()
    assert run("concentrated", "--depth", 50, "--out", out)[0] == 0  # the same model: replaced as a whole


def test_one_folder_holds_one_model_though_two_run_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both had found the folder free, and model.toml was that of the later one, beside the other's summary."""
    out, study = tmp_path / "both", command_tails.tail_study

    def meanwhile(*args: Any, **words: Any) -> Any:
        other = CliRunner().invoke(app, ["solve", "pure-diffusion", "--out", str(out), "--no-plot"])
        assert other.exit_code == 0, other.output
        return study(*args, **words)

    monkeypatch.setattr(command_tails, "tail_study", meanwhile)
    status, text = run("concentrated", "--depth", 100, "--out", out)
    assert status == 2 and "is of another model" in " ".join(text.split())
    assert Model.from_toml(out / "model.toml") == load_preset("pure-diffusion") and not (out / "tails.json").exists()
    assert not [path for path in tmp_path.rglob(".*") if path.is_dir()]
