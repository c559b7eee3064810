"""The command line as a user meets it: what is printed, which files appear, which exit status comes back."""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from rich.console import Console
from typer.testing import CliRunner

from solver import cli, command_solve, outputs, terminal
from solver.errors import ModelError, NotConvergedError
from solver.model import Model
from solver.presets import load_preset, preset_names

FILES = {"summary.json", "density.csv", "envelope.csv", "model.toml", "figure.png"}
DIAG = ROOT / "tests" / "data" / "diag_0240_taus.npy"


def run(*words: object) -> tuple[int, str]:
    """(exit status, everything printed with line breaks as blanks)."""
    result = CliRunner().invoke(cli.app, [str(word) for word in words])
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
    (tmp_path / "summary.json").write_text("old")
    status, text = run("solve", "pure-diffusion", "--out", tmp_path, "--no-plot")
    assert status == 0, text
    assert {path.name for path in tmp_path.iterdir()} == (FILES - {"figure.png"}) | {"notes.txt"}
    assert strict((tmp_path / "summary.json").read_text())["exponent"] == pytest.approx(2.0)
    assert strict((tmp_path / "summary.json").read_text())["threshold"] is None


def test_below_the_threshold_both_statements_are_made() -> None:
    status, text = run("solve", "collapsed")
    assert status == 0, text
    assert "collapsed" in text and "no root" in text
    assert "ℓ^-1 (ln ℓ)^-1.5" in text
    assert "The two statements differ" in text
    status, text = run("solve", "broad")
    assert "differ." not in text


def test_json_is_strict_and_alone() -> None:
    result = CliRunner().invoke(cli.app, ["solve", "collapsed", "--json"])
    summary = strict(result.output)
    assert summary["exponent"] is None and summary["has_root"] is False
    assert summary["tail"]["exponent"] == 1.0 and summary["tail"]["power"] == -1.5
    assert summary["tail_differs_from_source"] is True


def test_a_model_file_is_solved_like_a_preset(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    load_preset("concentrated").to_toml(path)
    status, text = run("solve", path)
    assert status == 0 and "mine.toml" in text and "1.26736004906" in text


@pytest.mark.parametrize("width", [60, 80])
def test_text_fits_a_narrow_window(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in (["solve", "collapsed", "--samples", str(DIAG)], ["solve", "--list"], ["solve", "brod"]):
        lines = CliRunner().invoke(cli.app, command).output.splitlines()
        assert max(map(len, lines)) <= width
        assert all(line == line.rstrip() for line in lines)
        assert "\x1b" not in "".join(lines), "no colour codes where nobody sees colours"


def test_the_list_names_every_preset_with_phase_and_exponent() -> None:
    status, text = run("solve", "--list")
    assert status == 0
    for name in preset_names():
        assert name in text
    for word in ("0.42", "1.26736", "broad", "collapsed", "critical"):
        assert word in text


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
    (["./broad"], "broad: no such file"),
    (["typo.toml"], "stabilty"),
    (["broken.toml"], "broken.toml"),
    (["--rtol", "0"], "rtol"),
    (["--rtol", "nan"], "rtol"),
    (["--order", "7"], "order"),
    (["--samples", "missing.npy"], "missing.npy: No such file"),
    (["--samples", "typo.toml"], ".npy, .csv or .txt"),
    (["--samples", "words.txt"], "words.txt, line 2: 'many' is not a number"),
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


@pytest.mark.parametrize("existing", [False, True])
def test_a_failing_writer_leaves_no_file_behind(tmp_path: Path, existing: bool) -> None:
    target = tmp_path / "result"
    if existing:
        target.mkdir()
        (target / "a.txt").write_text("old\n")

    def broken(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outputs.write_all(target, {"a.txt": outputs.text_writer("new"), "b.txt": broken})
    assert target.exists() == existing
    assert [path.name for path in tmp_path.iterdir()] == (["result"] if existing else [])
    if existing:
        assert {path.name: path.read_text() for path in target.iterdir()} == {"a.txt": "old\n"}
    written = outputs.write_all(target, {"a.txt": outputs.text_writer("new")})
    assert [path.read_text() for path in written] == ["new\n"]


def test_what_cannot_be_written_is_said_before_anything_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "result"
    (target / "b.txt").mkdir(parents=True)
    (target / "a.txt").write_text("old")
    new = {"a.txt": outputs.text_writer("new"), "b.txt": outputs.text_writer("new")}
    with pytest.raises(ModelError, match=r"b\.txt: a directory stands"):
        outputs.write_all(target, new)
    assert (target / "a.txt").read_text() == "old"

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    with pytest.raises(ModelError, match=r"other: cannot be written: No space left") as caught:
        outputs.write_all(tmp_path / "other", {"a.txt": full})
    assert "/." not in str(caught.value), "the directory aside is nobody's business"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_file_is_never_taken_for_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "file", tmp_path / "file" / "a" / "b"):
        with pytest.raises(ModelError, match="is a file"):
            outputs.refuse_file(target)
    outputs.refuse_file(tmp_path / "new" / "deeper")


def test_json_has_null_for_what_it_cannot_say() -> None:
    from solver.report import to_json

    values = {"a": math.nan, "b": [math.inf, -math.inf, np.float64(1.5)], "c": np.int64(3), "d": np.True_}
    assert strict(to_json(values)) == {"a": None, "b": [None, None, 1.5], "c": 3, "d": True}


def test_progress_is_shown_on_a_terminal_only_and_only_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with terminal.progress_on_stderr() as progress:
        assert progress is None, "stderr of a test is no terminal"
    shown = io.StringIO()
    monkeypatch.setattr(terminal, "Console", lambda **_: Console(file=shown, force_terminal=True, width=80))
    with terminal.progress_on_stderr() as progress:
        assert progress is not None
        progress(1, 100, 1e-3)
    assert shown.getvalue() == ""
    monkeypatch.setattr(terminal, "QUIET_SECONDS", 0.01)
    with terminal.progress_on_stderr() as progress:
        assert progress is not None
        progress(2, 200, 1e-5)
        time.sleep(0.3)  # the status redraws a few times a second
    assert "200 nodes" in shown.getvalue()


def test_the_version_and_the_help_do_not_wait_for_matplotlib() -> None:
    from solver import __version__

    status, text = run("--version")
    assert status == 0 and text == f"zetafp {__version__}"
    code = "import sys, solver.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_terminal_without_greek_letters_is_no_reason_to_fail() -> None:
    code = "import sys; sys.argv = ['zetafp', 'solve', '--list']; from solver.cli import main; main()"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"pure-diffusion" in done.stdout


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
