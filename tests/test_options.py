"""One set of options: a word means the same in every verb, has the same place, and is refused in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import ROOT
from typer.testing import CliRunner

from validation.verbs import app

VERBS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
DIAG = ROOT / "tests" / "data" / "diag_0240_taus.npy"
WORDS = {
    "sweep": [ROOT / "docs" / "study.toml"],
    "calibrate": [ROOT / "tests" / "data" / "networks" / "diag.npz"],
    "compare": [DIAG, "broad"],
}
# What a verb shares closes its list of options in this order.
LAST = ["seed", "jobs", "out", "plot", "json"]
DRAWING = [verb for verb, command in VERBS.items() if "plot" in {item.name for item in command.params}]


def run(verb: str, *words: object) -> tuple[int, str]:
    """(exit status, everything printed with line breaks and frames as blanks)."""
    result = CliRunner().invoke(app, [verb, *map(str, WORDS.get(verb, ["broad"])), *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, " ".join(result.output.replace("│", " ").split())


def test_there_are_eight_verbs() -> None:
    assert set(VERBS) == {"solve", "tails", "phase", "design", "sweep", "calibrate", "compare", "simulate"}


@pytest.mark.parametrize("name", ["source", "rtol", "noise_index", *LAST])
def test_an_option_has_one_sentence_and_one_metavar(name: str) -> None:
    found = [item for command in VERBS.values() for item in command.params if item.name == name]
    found = [item for item in found if (name, item.metavar) not in (("source", "STUDY"), ("source", "MODEL"))]
    assert len(found) > 1
    assert len({(item.help, item.metavar, tuple(item.opts), tuple(item.secondary_opts)) for item in found}) == 1


@pytest.mark.parametrize("verb", VERBS)
def test_shared_options_come_last_and_in_one_order(verb: str) -> None:
    names = [item.name for item in VERBS[verb].params]
    shared = [name for name in LAST if name in names]
    assert names[-len(shared) :] == shared and {"out", "json"} <= set(names)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_names_every_file_and_status(verb: str) -> None:
    text = VERBS[verb].help
    assert "Exit status: 0 " in text and "130 interrupted" in text
    module = __import__(VERBS[verb].callback.__module__, fromlist=["FILES"])
    assert "Files of --out" in text and all(name in text for name in module.FILES)


@pytest.mark.parametrize("verb", VERBS)
def test_an_empty_directory_is_refused(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    status, text = run(verb, "--out", "")
    assert status == 2 and "the path is empty; name a directory" in text and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_in_the_way_is_refused_before_the_work(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("mine")
    for out in ("mine", "mine/deeper"):
        status, text = run(verb, "--out", out)
        assert status == 2 and "mine is a file; name a directory" in text
    folder = Path("folder")
    folder.mkdir()
    module = __import__(VERBS[verb].callback.__module__, fromlist=["FILES"])
    for name in module.FILES:
        (folder / name).write_text("mine")
        status, text = run(verb, "--out", "folder")
        assert status == 2 and f"folder/{name}: was not written by zetafp" in text and str(tmp_path) not in text
        (folder / name).unlink()


@pytest.mark.parametrize("verb", DRAWING)
def test_a_figure_without_a_place_is_refused(verb: str) -> None:
    status, text = run(verb, "--plot")
    assert status == 2 and "--plot: a figure goes into the directory of --out; name one" in text
