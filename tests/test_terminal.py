"""How a command speaks: to a terminal, to a pipe whose reader leaves, to nobody, and when it is interrupted."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from conftest import ROOT
from rich.console import Console
from typer.testing import CliRunner

from solver import terminal
from solver.errors import ModelError
from solver.presets import load_preset
from solver.terminal import find_model, progress_bar, progress_on_stderr
from validation import cli, verbs
from validation.verbs import app

ZETAFP = [sys.executable, "-c", "from validation.cli import main; main()"]


def shell(line: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which $Z is the command `zetafp`; without colours, whatever the caller's terminal wants."""
    start = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **environment}
    quoted = f"{sys.executable} -c 'from validation.cli import main; main()'"
    return subprocess.run(
        ["bash", "-c", line.replace("$Z", quoted)], cwd=tmp_path, env=start, text=True, capture_output=True, check=False
    )


@pytest.mark.parametrize(
    "line",
    [
        "$Z solve pure-diffusion --no-plot --out out >&- 2>&-",
        "set -o pipefail; $Z solve pure-diffusion --no-plot --out out | head -c 1",
    ],
)
def test_a_reader_that_has_left_changes_neither_files_nor_status(line: str, tmp_path: Path) -> None:
    done = shell(line, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is of Linux; others have no full device")
def test_a_full_disk_behind_stdout_is_an_error_but_the_files_are_there(tmp_path: Path) -> None:
    done = shell("$Z solve pure-diffusion --no-plot --out out >/dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "zetafp: the output cannot be written: No space left on device\n"
    assert (tmp_path / "out" / "summary.json").exists()


def test_a_terminal_without_greek_letters_is_no_reason_to_fail(tmp_path: Path) -> None:
    done = shell("$Z solve --list", tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0, done.stderr
    assert "pure-diffusion" in done.stdout


# From the first import (some 0.1 s) to the middle of them (1 s in all here); later times are other tests' business.
@pytest.mark.parametrize("seconds", [0.2, 0.5])
def test_ctrl_c_during_the_imports_is_one_line(seconds: float, tmp_path: Path) -> None:
    code = (
        "import threading, _thread, importlib.abc, sys\n"
        "from validation.cli import main\n"
        f"threading.Timer({seconds}, _thread.interrupt_main).start()\n"
        "class Slow(importlib.abc.MetaPathFinder):\n"  # an import that is under way when the time comes
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'solver.terminal':\n"
        "            import time; time.sleep(10)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (130, "zetafp: interrupted; nothing was written\n")


@pytest.mark.parametrize(
    ("leaving", "said"), [(SystemExit(130), 1), (terminal.Interrupted(130), 0), (SystemExit(2), 0)]
)
def test_ctrl_c_before_a_command_begins_is_not_silent(
    leaving: SystemExit, said: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """typer, which is at work then, leaves without a word."""

    def leave(**_: object) -> None:
        raise leaving

    monkeypatch.setattr(verbs, "app", leave)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == leaving.code
    assert capsys.readouterr().err.count("zetafp: interrupted; nothing was written") == said


def test_the_entry_point_imports_nothing_before_its_guard() -> None:
    code = "import validation.cli, sys; print([name for name in ('solver', 'numpy', 'typer') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True).stdout == b"[]\n"


def test_ctrl_c_during_a_solve_leaves_nothing(tmp_path: Path) -> None:
    command = [*ZETAFP, "solve", "slow.toml", "--out", "out"]
    (tmp_path / "slow.toml").write_text(
        'diffusion = 0.3\n[drift]\nkind = "tanh"\nplateau = 1.0\n'
        "[jumps]\nintensity = 0.4\nstability = 1.15\ntempering = 0.0\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    time.sleep(4.0)  # imports take 1 s, this model a minute
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130 and "interrupted" in stderr and "Traceback" not in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["slow.toml"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_who_ends_a_command_in_the_middle_of_a_file_leaves_nothing_half_written(name: str, tmp_path: Path) -> None:
    """`kill`, `timeout` or a closed terminal left the directory .out.1f2e3d4c behind."""
    code = (
        "import os, signal, sys\n"
        "from solver import command_solve\n"
        "from validation.cli import main\n"
        f"half = lambda path: (path.write_text('half'), os.kill(os.getpid(), signal.{name}))\n"
        "command_solve.writers_of = lambda *_: {'a.txt': half}\n"
        "sys.argv = ['zetafp', 'solve', 'pure-diffusion', '--out', 'out']\n"
        "main()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, "zetafp: interrupted; no half-written file was left\n")
    assert not list(tmp_path.iterdir())


def test_workers_end_with_the_command(tmp_path: Path) -> None:
    """They went on for hours, and held the pipe of whoever waited for the command."""
    command = [*ZETAFP, "simulate", "concentrated", "--paths", "99999", "--time", "999", "--dt", "0.01", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    time.sleep(6.0)  # imports and a rough solve take 2 s, this walk some hours
    running.terminate()
    _, stderr = running.communicate(timeout=60)  # returns when nobody holds the pipe any more
    assert running.returncode == 130 and "interrupted" in stderr and "Traceback" not in stderr


@pytest.mark.parametrize(
    ("problem", "status", "words"),
    [
        (MemoryError("Unable to allocate 7.28 TiB"), 2, "too large for the memory of this machine: Unable to allocate"),
        (MemoryError(), 2, "too large for the memory of this machine"),
        (ChildProcessError("a worker process ended unforeseen"), 2, "zetafp: a worker process ended unforeseen"),
    ],
)
def test_what_the_machine_refuses_is_one_sentence(
    problem: Exception, status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb() -> None:
        raise problem

    with pytest.raises(typer.Exit) as caught:
        terminal.with_statuses(verb)()
    assert caught.value.exit_code == status and words in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is of Linux; others have no full device")
def test_a_help_that_cannot_be_printed_says_so(tmp_path: Path) -> None:
    done = shell("$Z --help >/dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (2, "zetafp: the output cannot be written: No space left on device\n")


@pytest.fixture()
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal of 80 columns would get, from 10 ms on."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=80, _environ={"TERM": "xterm"})
    monkeypatch.setattr(terminal, "_watched", lambda: console)
    monkeypatch.setattr(terminal, "QUIET_SECONDS", 0.01)
    return text


def test_progress_is_shown_on_a_terminal_only_and_only_when_it_takes_long(
    shown: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress_on_stderr() as progress:
        assert progress is not None
        progress(1, 100, float("inf"))
        time.sleep(0.3)  # the status redraws a few times a second
        assert "level 1, 100 nodes" in shown.getvalue() and "inf" not in shown.getvalue()
        progress(2, 200, 1e-5)
        time.sleep(0.3)
    assert "200 nodes, error estimate 1e-05" in shown.getvalue()
    before = shown.getvalue()
    monkeypatch.setattr(terminal, "QUIET_SECONDS", 60.0)
    with progress_on_stderr() as progress, progress_bar(3, "models") as advance:
        assert progress is not None
        progress(1, 100, 1e-3)
        advance(3)
    assert shown.getvalue().strip() == before.strip()


def test_a_bar_shows_count_rate_and_time_left_and_goes_away(shown: io.StringIO) -> None:
    with progress_bar(total=50, label="models") as advance:
        for _ in range(20):
            advance()
            time.sleep(0.02)
        advance(10)
        time.sleep(0.2)
    text = shown.getvalue()
    assert "models" in text and "30/50" in text and "/s" in text and "left" in text
    assert text.endswith("\x1b[2K"), "the last line is erased"


def test_without_a_terminal_nothing_is_printed(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as many build servers set it
    monkeypatch.setattr(terminal, "QUIET_SECONDS", 0.0)
    with progress_on_stderr() as progress, progress_bar(2, "models") as advance:
        assert progress is None
        advance()
        time.sleep(0.2)
    assert capfd.readouterr() == ("", "")


def test_a_word_is_a_preset_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = load_preset("concentrated")
    for name in ("mine.toml", "mine.txt", "mine"):
        model.to_toml(name)
        assert find_model(name) == (name, model)
        assert find_model(f"./{name}") == (name, model)
    Path("broad").mkdir()
    assert find_model("broad") == ("broad", load_preset("broad")), "as after `zetafp solve broad --out broad`"


def test_a_file_that_is_called_like_a_preset_is_read_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    load_preset("concentrated").to_toml("broad")
    result = CliRunner().invoke(app, ["solve", "broad"])
    assert result.exit_code == 0 and "1.26736" in result.stdout
    assert "broad is read as the file here, not as the preset" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("mine.txt", "mine.txt: no such file"),
        ("broad.tml", "broad.tml: no such file; the preset is called 'broad', without more"),
        ("sub/mine", "sub/mine: no such file"),
        ("collapse", "did you mean 'collapsed'"),
        ("zzz", "preset = 'zzz': must be one of 'broad'"),
        ("folder", "folder: a directory, not a model file"),
        ("result", "result: a directory, not a model file; did you mean result/model.toml?"),
        ("empty", "empty: empty; a model file needs"),
        ("utf16.toml", "utf16.toml: not UTF-8 text (byte 0); save it as UTF-8"),
        ("latin.toml", "latin.toml: not UTF-8 text (byte 2); save it as UTF-8"),
        ("zeros.toml", "zeros.toml: not valid TOML"),
        ("large.toml", "large.toml: larger than 20 MB"),
        ("twice.toml", "twice.toml: not valid TOML: Cannot overwrite a value (at line 2"),
        ("word.toml", "word.toml: diffusion = '0.3': must be a finite number, got str"),
        ("whole.toml", "whole.toml: diffusion = -3: must lie in [0, inf)"),
    ],
)
def test_what_is_no_model_says_why(
    source: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "result"):
        Path(name).mkdir()
    Path("result/model.toml").touch()
    drift = '[drift]\nkind = "tanh"\nplateau = 1\n'
    files = {
        "empty": b"",
        "utf16.toml": drift.encode("utf-16"),
        "latin.toml": "# é".encode("latin-1"),
        "zeros.toml": bytes(10),
        "twice.toml": b"diffusion = 0.3\ndiffusion = 0.4\n",
        "word.toml": b'diffusion = "0.3"\n' + drift.encode(),
        "whole.toml": b"diffusion = -3\n" + drift.encode(),
    }
    for name, data in files.items():
        Path(name).write_bytes(data)
    with open("large.toml", "wb") as stream:
        stream.truncate(100_000_000)  # a hole, that takes no room
    started = time.perf_counter()
    with pytest.raises(ModelError) as caught:
        find_model(source)
    assert complaint in str(caught.value)
    assert time.perf_counter() - started < 2.0


def test_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "mark.toml"
    load_preset("broad").to_toml(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert find_model(str(path)) == ("mark.toml", load_preset("broad"))
