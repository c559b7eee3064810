"""Folders of results: whole or not at all, and no file of the user's is ever replaced."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

from solver import folder
from solver.errors import ModelError
from solver.folder import RECORD, prepare, refuse_file, write_all
from solver.outputs import text_writer


def texts(place: Path) -> dict[str, str]:
    """Name -> text of every file but the record; hidden leftovers would show up too."""
    return {path.name: path.read_text() for path in place.iterdir() if path.name != RECORD}


def new(word: str, *names: str) -> dict[str, folder.Writer]:
    return {name: text_writer(word) for name in names}


@pytest.mark.parametrize("existing", [False, True])
def test_a_failing_writer_leaves_no_file_behind(tmp_path: Path, existing: bool) -> None:
    target = tmp_path / "result"
    if existing:
        write_all(target, new("old", "a.txt"))

    def broken(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_all(target, {**new("new", "a.txt"), "b.txt": broken})
    assert [path.name for path in tmp_path.iterdir()] == (["result"] if existing else [])
    if existing:
        assert texts(target) == {"a.txt": "old\n"}
    written = write_all(target, new("new", "a.txt"))
    assert [path.read_text() for path in written] == ["new\n"]


def test_what_cannot_be_written_is_said_before_anything_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "result"
    write_all(target, new("old", "a.txt"))
    (target / "b.txt").mkdir()
    with pytest.raises(ModelError, match=r"b\.txt: a directory stands"):
        write_all(target, new("new", "a.txt", "b.txt"))
    assert (target / "a.txt").read_text() == "old\n"

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    with pytest.raises(ModelError, match=r"other: cannot be written: No space left") as caught:
        write_all(tmp_path / "other", {"a.txt": full})
    assert "/." not in str(caught.value), "the directory aside is nobody's business"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_file_is_never_taken_for_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "file", tmp_path / "file" / "a" / "b"):
        for refuse in (refuse_file, prepare):
            with pytest.raises(ModelError, match="is a file"):
                refuse(target)
    prepare(tmp_path / "new" / "deeper", ["a.txt"])
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "looking leaves no trace"


@pytest.mark.parametrize("foreign", ["mine", "edited", "link to nothing"])
def test_only_files_that_zetafp_wrote_are_replaced(tmp_path: Path, foreign: str) -> None:
    if foreign == "edited":
        write_all(tmp_path, new("old", "a.txt", "model.toml"))
    if foreign == "link to nothing":
        (tmp_path / "model.toml").symlink_to("nowhere")
    else:
        (tmp_path / "model.toml").write_text("# my comment\n")
    before = sorted(os.listdir(tmp_path))
    complaint = "has been changed since" if foreign == "edited" else "was not written by zetafp"
    for attempt in (prepare, write_all):
        with pytest.raises(ModelError, match=rf"model\.toml: {complaint}.*another directory, or move"):
            attempt(tmp_path, new("new", "a.txt", "model.toml"))
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "model.toml").is_symlink() or (tmp_path / "model.toml").read_text() == "# my comment\n"


def test_running_again_replaces_what_is_there_and_removes_what_is_stale(tmp_path: Path) -> None:
    write_all(tmp_path, new("old", "a.txt", "figure.png", "other.csv"))
    write_all(tmp_path, new("new", "a.txt"), remove=("figure.png",))
    assert texts(tmp_path) == {"a.txt": "new\n", "other.csv": "old\n"}
    write_all(tmp_path, new("new", "other.csv"))  # still known, though the last run did not write it
    (tmp_path / "figure.png").write_text("mine")
    write_all(tmp_path, new("newer", "a.txt"), remove=("figure.png",))
    assert texts(tmp_path)["figure.png"] == "mine"


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is of GNU coreutils, not of every system")
def test_the_record_is_what_sha256sum_reads(tmp_path: Path) -> None:
    write_all(tmp_path, new("old", "a.txt", "b.txt"))
    write_all(tmp_path, new("new", "a.txt"))
    assert subprocess.run(["sha256sum", "-c", "--quiet", RECORD], cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "b.txt").write_text("edited")
    check = subprocess.run(["sha256sum", "-c", RECORD], cwd=tmp_path, check=False, capture_output=True)
    assert check.returncode == 1


def test_a_damaged_record_knows_no_file(tmp_path: Path) -> None:
    write_all(tmp_path, new("old", "a.txt"))
    (tmp_path / RECORD).write_bytes(b"\xff\x00 nonsense\n\n")
    with pytest.raises(ModelError, match="was not written by zetafp"):
        write_all(tmp_path, new("new", "a.txt"))


def test_an_interrupt_while_files_move_waits_until_all_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a.txt", "b.txt", "c.txt")
    write_all(tmp_path, new("old", *names))
    replace, moved = os.replace, []

    def interrupting(source: Path, target: Path) -> None:
        replace(source, target)
        if Path(target).name in names:
            moved.append(target)
            if len(moved) == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupting)
    with pytest.raises(KeyboardInterrupt):
        write_all(tmp_path, new("new", *names))
    assert texts(tmp_path) == dict.fromkeys(names, "new\n")


def test_a_run_killed_while_files_move_leaves_nothing_that_looks_foreign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all(tmp_path, new("old", "a.txt", "b.txt"))

    class Killed(Exception):
        pass

    def dying(source: Path, target: Path) -> None:
        if Path(target).name == "b.txt":
            raise Killed
        replace(source, target)

    replace = os.replace
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying)
        with pytest.raises(Killed):
            write_all(tmp_path, new("new", "a.txt", "b.txt"))
    assert texts(tmp_path) == {"a.txt": "new\n", "b.txt": "old\n"}
    write_all(tmp_path, new("newest", "a.txt", "b.txt"))
    assert texts(tmp_path) == dict.fromkeys(("a.txt", "b.txt"), "newest\n")


@pytest.mark.parametrize("existing", [False, True])
def test_of_two_runs_at_the_same_time_one_leaves_its_whole_set(tmp_path: Path, existing: bool) -> None:
    names = [f"{i}.txt" for i in range(20)]
    target = tmp_path / "result"
    if existing:
        write_all(target, new("old", *names))
    gate = threading.Barrier(4)
    finished = []

    def run(word: str) -> None:
        gate.wait()
        for _ in range(5):
            prepare(target, names)
            write_all(target, new(word, *names))
        finished.append(word)

    threads = [threading.Thread(target=run, args=(str(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(finished) == 4, "the other runs' files are no foreign ones, whatever the moment"
    assert set(texts(target)) == set(names) and len(set(texts(target).values())) == 1


@pytest.mark.parametrize("existing", [False, True])
def test_a_place_that_cannot_be_written_is_refused_beforehand(
    tmp_path: Path, existing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an attempt: root may write where the mode bits say no, and nobody on a read-only file system."""
    tried = []

    def denied(*_: object, **words: Path) -> str:
        tried.append(words["dir"])
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr(tempfile, "mkdtemp", denied)
    target = tmp_path if existing else tmp_path / "a" / "b"
    with pytest.raises(ModelError, match=r": cannot be written: Permission denied$"):
        prepare(target)
    assert tried == [tmp_path]
