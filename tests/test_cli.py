"""The command line as a user meets it: what is printed, which files appear, which exit status comes back."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from typer.testing import CliRunner

from solver import command_solve, outputs, terminal
from solver.drifts import TanhDrift
from solver.errors import ModelError, NotConvergedError
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.presets import load_preset, preset_names
from validation.verbs import app

FILES = {"summary.json", "density.csv", "envelope.csv", "model.toml", "figure.png", "zetafp.sha256"}
DIAG = ROOT / "tests" / "data" / "diag_0240_taus.npy"


def run(*words: object) -> tuple[int, str]:
    """(exit status, everything printed with line breaks as blanks)."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, " ".join(result.output.split())


def strict(text: str) -> Any:
    """JSON without the words NaN and Infinity."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def broad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that `zetafp solve --out` writes."""
    out = tmp_path_factory.mktemp("cli") / "deep" / "broad"
    status, text = run("solve", "--out", out, "--samples", DIAG)
    assert status == 0, text
    return out


def test_the_default_is_broad_and_writes_every_file(broad: Path) -> None:
    assert {path.name for path in broad.iterdir()} == FILES
    assert [path.name for path in broad.parent.iterdir()] == ["broad"], "nothing is left beside it"
    assert Model.from_toml(broad / "model.toml") == load_preset("broad")
    assert broad.stat().st_mode & 0o777 == 0o777 & ~umask(), "the directory is not private"


def umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def test_the_summary_speaks_the_words_of_the_contract(broad: Path) -> None:
    summary = strict((broad / "summary.json").read_text(encoding="utf-8"))
    assert summary["phase"] == "broad" and summary["convention"] == "levy"
    assert summary["exponent"] == pytest.approx(0.42, abs=1e-14)
    assert summary["tail_exponent"] == pytest.approx(0.42, abs=1e-9)
    assert summary["passed"] is True and summary["converged"] is True
    assert 0 < summary["error_estimate"] <= summary["rtol"] == 1e-8
    assert summary["grid"]["nodes"] > 100 and summary["grid"]["edges"] == ["open", "open"]
    assert summary["samples"]["used"] == 128
    assert {"source", "exponent", "difference"} <= set(summary["checks"][0])
    assert Model.from_dict(summary["model"]) == load_preset("broad")


def test_the_tables_are_the_solution(broad: Path) -> None:
    table = np.genfromtxt(broad / "density.csv", delimiter=",", names=True)
    assert table.dtype.names == ("zeta", "log_density", "log_tau", "log_p")
    assert table["log_tau"] == pytest.approx(-table["zeta"], abs=0)
    assert table["log_p"] == pytest.approx(table["log_density"] + table["zeta"], rel=1e-14, abs=1e-13)
    spacing = np.diff(table["zeta"])
    assert np.ptp(spacing) < 1e-10 * spacing[0] * table.size
    lags = np.genfromtxt(broad / "envelope.csv", delimiter=",", names=True)
    assert lags.dtype.names == ("log_lag", "log_value", "local_exponent")
    assert np.all(np.diff(lags["log_value"]) < 0)
    assert lags["local_exponent"][-1] == pytest.approx(0.42, rel=1e-3)


def test_the_figure_is_a_picture(broad: Path) -> None:
    data = (broad / "figure.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 50_000


def test_an_existing_directory_keeps_its_other_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    status, text = run("solve", "pure-diffusion", "--out", tmp_path, "--no-plot")
    assert status == 0, text
    assert {path.name for path in tmp_path.iterdir()} == (FILES - {"figure.png"}) | {"notes.txt"}
    assert strict((tmp_path / "summary.json").read_text())["exponent"] == pytest.approx(2.0)
    assert strict((tmp_path / "summary.json").read_text())["threshold"] is None


def test_running_again_leaves_no_stale_figure_and_replaces_no_file_of_yours(broad: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(broad, out)
    status, text = run("solve", out / "model.toml", "--out", out, "--no-plot", "--rtol", "1e-6")
    assert status == 0 and "the old figure.png was removed" in text
    assert {path.name for path in out.iterdir()} == FILES - {"figure.png"}
    (out / "figure.png").write_text("mine")
    status, text = run("solve", "pure-diffusion", "--out", out, "--no-plot")
    assert status == 0 and "figure.png there is not zetafp's and stays" in text
    (out / "model.toml").write_text((out / "model.toml").read_text() + "# a comment worth keeping\n")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for source in (out / "model.toml", "broad"):
        status, text = run("solve", source, "--out", out, "--no-plot")
        assert status == 2 and "has been changed since zetafp wrote it and will not be replaced" in text
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_full_disk_costs_the_files_but_not_the_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise ModelError("out: cannot be written: No space left on device")

    monkeypatch.setattr(outputs, "write_all", full)
    status, text = run("solve", "pure-diffusion", "--out", tmp_path / "out", "--no-plot")
    assert status == 2 and "No space left on device" in text
    assert "exponent β = 2" in text and "written to" not in text


def test_a_file_name_may_be_anything(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff[red]$x$.toml")
    load_preset("pure-diffusion").to_toml(path)
    status, text = run(
        "solve", path, "--out", tmp_path / "out", "--samples", shutil.copy(DIAG, tmp_path / "\udcfe.npy")
    )
    assert status == 0, text
    assert "[red]$x$.toml" in text
    summary = strict((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["name"] == "?[red]$x$.toml" and summary["samples"]["path"].endswith("\udcfe.npy")


def test_below_the_threshold_both_statements_are_made() -> None:
    status, text = run("solve", "collapsed")
    assert status == 0, text
    assert "collapsed" in text and "no root" in text
    assert "ℓ^-1 (ln ℓ)^-1.5" in text
    assert "The two statements differ" in text
    status, text = run("solve", "broad")
    assert "differ." not in text


def test_a_threshold_that_is_not_positive_is_explained(tmp_path: Path) -> None:
    weak = Model(TanhDrift(0.1), 0.5, TemperedStableJumps(0.4, 1.5, 2.2))  # κ < η_G λ
    weak.to_toml(tmp_path / "weak.toml")
    status, text = run("solve", tmp_path / "weak.toml", "--rtol", 1e-6)
    assert status == 0 and "not positive, there is a root at every intensity" in text
    assert "not positive" not in run("solve", "broad", "--rtol", 1e-6)[1]


def test_the_seconds_are_those_of_the_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading sympy for the stencils takes a second, ten times the solve."""
    order: list[str] = []
    clock = SimpleNamespace(perf_counter=lambda: float(order.append("clock") or len(order)))
    monkeypatch.setattr(command_solve, "time", clock)
    monkeypatch.setattr(command_solve, "stencil", lambda _: order.append("stencil"))
    assert run("solve", "broad", "--rtol", 1e-3)[0] == 0 and order == ["stencil", "clock", "clock"]


def test_json_is_strict_and_alone() -> None:
    result = CliRunner().invoke(app, ["solve", "collapsed", "--json"])
    summary = strict(result.output)
    assert summary["exponent"] is None and summary["has_root"] is False
    assert summary["tail"]["exponent"] == 1.0 and summary["tail"]["power"] == -1.5
    assert summary["tail_differs_from_source"] is True


def test_a_model_file_is_solved_like_a_preset(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    load_preset("concentrated").to_toml(path)
    status, text = run("solve", path)
    assert status == 0 and "mine.toml" in text and "1.26736004906" in text


@pytest.mark.parametrize("width", [0, 40, 60, 80])
def test_text_fits_a_narrow_window(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = (["solve", "collapsed", "--samples", str(DIAG)], ["solve", "--list"], ["solve", "brod"])
    whole = [CliRunner().invoke(app, command).output for command in commands]
    monkeypatch.setenv("COLUMNS", str(width))
    for command, wide in zip(commands, whole, strict=True):
        lines = CliRunner().invoke(app, command).output.splitlines()
        assert max(map(len, lines)) <= max(width, 40)
        # wrapping moves words but cuts none, numbers least of all; only the seconds may differ
        words = {
            word.removesuffix(":") for word in wide.split() if len(word) < 28 and not re.fullmatch(r"\d+\.\d\d", word)
        }
        assert words <= {word.removesuffix(":") for line in lines for word in line.split()}
        assert all(line == line.rstrip() for line in lines)
        assert "\x1b" not in "".join(lines), "no colour codes where nobody sees colours"


def test_the_list_names_every_preset_with_phase_and_exponent() -> None:
    status, text = run("solve", "--list")
    assert status == 0
    for name in preset_names():
        assert name in text
    for word in ("0.42", "1.26736", "broad", "collapsed", "critical"):
        assert word in text
    listed = strict(CliRunner().invoke(app, ["solve", "--list", "--json"]).output)["presets"]
    entries = {entry["name"]: entry for entry in listed}
    assert set(entries) == set(preset_names())
    assert entries["critical"]["exponent"] == pytest.approx(1.0) and entries["collapsed"]["exponent"] is None


def test_samples_that_cannot_be_used_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "taus.csv"
    path.write_text("tau\n3.0\nnan\ninf\n-1\n50.0\n")
    status, text = run("solve", "--samples", path)
    assert status == 0
    assert "2 used, 3 not used: 1 NaN, 1 infinite, 1 not positive" in text
    path.write_text("3.0\n-4.0\n")
    status, text = run("solve", "--samples", path, "--kind", "zeta")
    assert status == 0 and "2 used, 0 not used" in text


BAD_INPUT = [
    (["brod"], "did you mean 'broad'?"),
    (["frozen-gates"], "no stationary density"),
    (["missing.toml"], "missing.toml: no such file"),
    (["./broad"], "./broad: no such file; the preset is called 'broad'"),
    ([""], "the word for the model is empty"),
    (["typo.toml"], "stabilty"),
    (["broken.toml"], "broken.toml"),
    (["--rtol", "0"], "rtol"),
    (["--rtol", "nan"], "rtol"),
    (["--order", "7"], "order"),
    (["--samples", "missing.npy"], "missing.npy: cannot be read: No such file"),
    (["--samples", "typo.toml"], ".npy, .npz, .csv or .txt"),
    (["--samples", "words.txt"], "words.txt, line 2: 'many' is not a number"),
    (["--kind", "zeta"], "--kind zeta: says what samples are, and there are none"),
    (["--kind", "rate"], "'rate' is not one of"),
    (["--out", "typo.toml"], "is a file"),
    (["--out", "typo.toml/deeper"], "is a file"),
]


@pytest.mark.parametrize(("words", "complaint"), BAD_INPUT, ids=[" ".join(words) for words, _ in BAD_INPUT])
def test_bad_input_gives_one_paragraph_and_status_2(
    words: list[str], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("typo.toml").write_text(
        'diffusion = 0.3\n[drift]\nkind = "tanh"\nplateau = 1.0\n'
        "[jumps]\nintensity = 1.0\nstabilty = 1.5\ntempering = 1.0\n"
    )
    Path("broken.toml").write_text("diffusion = = 0.3\n")
    Path("words.txt").write_text("1.0\nmany\n")
    before = sorted(tmp_path.iterdir())
    out = [] if "--out" in words else ["--out", "result"]
    status, text = run("solve", *words, *out)
    assert status == 2, text
    assert complaint in text
    assert "Traceback" not in text
    assert sorted(tmp_path.iterdir()) == before, "nothing was written"


def test_a_figure_without_a_place_is_refused() -> None:
    status, text = run("solve", "--plot")
    assert status == 2 and "--plot: a figure goes into the directory of --out; name one" in text


def test_not_converged_shows_the_best_estimate_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, baseline_density: Any
) -> None:
    def give_up(*_: object, **__: object) -> None:
        raise NotConvergedError("wanted 1e-8, reached 3e-7", baseline_density, 3e-7)

    monkeypatch.setattr(command_solve, "solve_stationary", give_up)
    status, text = run("solve", "--out", tmp_path / "result")
    assert status == 3
    assert "NOT CONVERGED" in text and "best error estimate: 3e-07" in text
    assert not (tmp_path / "result").exists()

    def nothing(*_: object, **__: object) -> None:
        raise NotConvergedError("no level gave a positive density")

    monkeypatch.setattr(command_solve, "solve_stationary", nothing)
    status, text = run("solve")
    assert status == 3 and "no level gave a positive density" in text


def test_a_failed_check_gives_status_1_and_keeps_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = command_solve.cross_check
    # the tolerance that no reading can meet
    monkeypatch.setattr(command_solve, "cross_check", lambda density: honest(density, rtol=0.0))
    status, text = run("solve", "--out", tmp_path / "result", "--no-plot")
    assert status == 1 and "check failed: ln ρ differs from the closed form by" in text
    assert strict((tmp_path / "result" / "summary.json").read_text())["passed"] is False


def test_an_interrupted_solve_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_solve, "solve_stationary", interrupt)
    status, text = run("solve", "--out", tmp_path / "result")
    assert status == 130 and "interrupted" in text
    assert list(tmp_path.iterdir()) == []


def test_json_has_null_for_what_it_cannot_say() -> None:
    from solver.report import to_json

    values = {"a": math.nan, "b": [math.inf, -math.inf, np.float64(1.5)], "c": np.int64(3), "d": np.True_}
    assert strict(to_json(values)) == {"a": None, "b": [None, None, 1.5], "c": 3, "d": True}


def test_the_version_and_the_help_do_not_wait_for_matplotlib() -> None:
    from solver import __version__

    status, text = run("--version")
    assert status == 0 and text == f"zetafp {__version__}"
    code = "import sys, validation.verbs; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_every_exit_status_is_documented() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    for status in (
        0,
        terminal.CHECK_FAILED,
        terminal.BAD_INPUT,
        terminal.NOT_CONVERGED,
        terminal.INTERRUPTED,
    ):
        assert f"| {status} |" in text
