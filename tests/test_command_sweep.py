"""`zetafp sweep` as a user meets it, with points computed in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from solver import sweep_engine
from solver.command_sweep import sweep
from solver.sweep_point import Record, Task, failure, solve_point
from validation.cli import main

STUDY = 'title = "Two"\nmodel = "concentrated"\nrtol = 1e-2\n[axes]\nplateau = [-1.0, 1.0]\n'


def run(*words: object) -> tuple[int, str]:
    """(exit status, everything printed with line breaks as blanks)."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(sweep)
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "two.toml").write_text(STUDY)
    monkeypatch.setattr(sweep_engine, "local", lambda tasks, jobs: map(solve_point, tasks))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_study_is_solved_then_found(folder: Path) -> None:
    status, text = run("two.toml")
    assert status == 0 and "2 points, 0 of them found in the store" in text
    assert "1 ok" in text and "1 no stationary density" in text and "first complaint: no stationary density" in text
    assert {"points.sqlite", "sweep.json", "sweep.nc", "sweep.csv"} <= {
        path.name for path in (folder / "two").iterdir()
    }
    status, text = run("two.toml", "--json")
    summary = json.loads(text)
    assert status == 0 and summary["found_in_store"] == summary["points"] == 2
    assert summary["statuses"] == {"no stationary density": 1, "ok": 1}


def test_ctrl_c_says_what_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(tasks: list[Task], jobs: int) -> Iterator[tuple[int, Record]]:
        yield solve_point(tasks[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep_engine, "local", interrupted)
    status, text = run("two.toml", "--out", "here")
    assert status == 130
    assert "interrupted; 1 of 2 points are stored in here/points.sqlite; the same command goes on from there" in text
    assert not (folder / "here" / "sweep.nc").exists()


def test_ctrl_c_is_said_once(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(tasks: list[Task], jobs: int) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep_engine, "local", interrupted)
    monkeypatch.setattr("sys.argv", ["zetafp", "sweep", "two.toml"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130 and capsys.readouterr().err.count("interrupted") == 1


def test_a_file_of_yours_is_refused_before_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "two").mkdir()
    (folder / "two" / "sweep.csv").write_text("mine")
    monkeypatch.setattr(sweep_engine, "local", lambda tasks, jobs: pytest.fail("it was computed"))
    status, text = run("two.toml")
    assert status == 2 and "two/sweep.csv: was not written by zetafp" in text
    assert [path.name for path in (folder / "two").iterdir()] == ["sweep.csv"]


def test_points_that_failed_unforeseen_make_the_status_1(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sweep_engine,
        "local",
        lambda tasks, jobs: ((one.index, failure("failed", "MemoryError: full")) for one in tasks),
    )
    status, text = run("two.toml")
    assert status == 1 and "2 points failed unforeseen and were not kept" in text and "MemoryError: full" in text


def test_a_worker_that_was_killed_is_one_paragraph(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(tasks: list[Task], jobs: int) -> Any:
        raise ChildProcessError("a worker process ended unforeseen, perhaps for lack of memory: signal 9")

    monkeypatch.setattr(sweep_engine, "local", broken)
    status, text = run("two.toml")
    assert status == 2 and "a worker process ended unforeseen" in text and "Traceback" not in text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (STUDY.replace("plateau", "plato"), "two.toml: axes.plato: unknown axis"),
        (STUDY.replace("[-1.0, 1.0]", "{ range = [2.0, 1.0], points = 3 }"), "axes.plateau: range = [2, 1]: reversed"),
        (STUDY.replace("[-1.0, 1.0]", "[nan]"), "axes.plateau[0] = nan: must be a finite number"),
        (STUDY.replace("[-1.0, 1.0]", '["1"]'), "axes.plateau[0] = '1': must be a finite number, got str"),
        (STUDY.replace("[-1.0, 1.0]", "[]"), "axes.plateau = []: empty"),
        ("", "two.toml: empty"),
    ],
)
def test_a_bad_study_is_one_paragraph_and_status_2(folder: Path, text: str, complaint: str) -> None:
    (folder / "two.toml").write_text(text)
    status, said = run("two.toml")
    assert status == 2 and complaint in said and not (folder / "two").exists()
