"""Runs from files: every format gives the same table, what is missing is counted, complaints are one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from solver.errors import ModelError
from solver.samples import SamplesError
from validation.measured import read_measured
from validation.networks.reading import Run, read_run
from validation.networks.steps import memory, remaining, steps_of

TAU = np.array([[1.0, 2.0, 4.0], [1.5, np.nan, 4.5], [2.0, 2.5, np.inf], [3.0, 2.0, -1.0]])
GIVEN = ROOT / "tests" / "data" / "networks"


def folder_of(place: Path) -> Path:
    place.mkdir()
    for number, row in zip((4, 8, 12, 100), TAU, strict=True):
        np.save(place / f"ckpt_{number:04d}_taus.npy", row)
    return place


def test_every_format_gives_the_same_run(tmp_path: Path) -> None:
    np.save(tmp_path / "run.npy", TAU)
    np.savez(tmp_path / "run.npz", tau=TAU, checkpoint=[4, 8, 12, 100])
    np.savetxt(tmp_path / "run.csv", TAU, delimiter=",", header="unit 1,unit 2,unit 3", comments="")
    np.savetxt(tmp_path / "run.txt", TAU)
    runs = [read_run(folder_of(tmp_path / "run"))]
    runs += [read_run(tmp_path / f"run.{suffix}") for suffix in ("npz", "npy", "csv", "txt")]
    for run in runs:
        np.testing.assert_array_equal(run.zeta, runs[0].zeta)
        assert (run.nan, run.infinite, run.not_positive, run.dropping) == (1, 1, 1, 2)
    assert runs[0].checkpoints.tolist() == runs[1].checkpoints.tolist() == [4, 8, 12, 100]
    assert runs[2].checkpoints.tolist() == [0, 1, 2, 3]
    assert runs[0].last.tolist() == pytest.approx((-np.log([3.0, 2.0])).tolist())
    assert (
        "4 checkpoints (4 to 100) of 3 units; 4 to 88 apart" in runs[0].describe()
        and "2 units drop" in runs[0].describe()
    )


def test_a_window_is_chosen_by_the_numbers_of_checkpoints(tmp_path: Path) -> None:
    run = read_run(folder_of(tmp_path / "run"))
    assert run.between(8, None).checkpoints.tolist() == [8, 12, 100]
    assert run.between(None, 12).checkpoints.tolist() == [4, 8, 12]
    with pytest.raises(ModelError, match=r"window = 13:100: holds 1 checkpoints, needs 2; there are 4 to 100"):
        run.between(13, None)


def test_no_step_is_taken_across_a_gap() -> None:
    run = Run.from_tau(TAU)
    steps = steps_of(run.zeta, 2.0)
    # unit 1 makes three steps, unit 2 one (2.5 to 2.0), unit 3 one (4.0 to 4.5)
    assert steps.x.size == 5 and steps.interval == 2.0 and steps.checkpoint.tolist() == [0, 0, 1, 2, 2]


def test_a_stride_shares_no_interval() -> None:
    zeta = np.cumsum(np.ones((11, 2)), axis=0)
    steps = steps_of(zeta, 0.5, stride=3)
    assert steps.interval == 1.5 and steps.checkpoints == 3 and (steps.y - steps.x == 3).all()


def test_independent_increments_do_not_remember() -> None:
    zeta = np.cumsum(np.random.default_rng(1).standard_cauchy((400, 50)), axis=0)  # ranks: no variance is needed
    found = memory(remaining(steps_of(zeta, 1.0), zeta, 1))
    assert abs(found.first) < 4 * found.error < 0.04 and found.time < 1.1 and abs(found.common) < 0.01


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.npy", None, "no such file or folder"),
        ("run.xlsx", "", "a run is a folder"),
        ("flat.npy", np.ones(5), r"shape \(5,\)"),
        ("nothing.npy", np.full((3, 2), np.nan), "no usable value among 6"),
        ("text.csv", "1,2\n3,x\n", "line 2: 'x' is not a number"),
        ("ragged.csv", "1,2\n3\n", "line 2: 1 values where the first row has 2"),
        ("empty.csv", "# nothing\n", "no values in the file"),
        ("rates.csv", "zeta 1,zeta 2\n1,2\n3,4\n", "line 1: headed 'zeta 1', a logarithm"),
        ("thousands.csv", "tau\n1,000\n2,500\n", "line 2: 2 values where the first row has 1"),
        ("quote.csv", 'a,b\n"1,2\n3,4\n', "line 2: unexpected end"),
        ("python.csv", "1_000,2\n3,4\n", "line 1: '1_000' is not a number"),
        ("wide.csv", "a" * 200_000 + ",b\n1,2\n", "line 1: field larger"),
        ("latin.csv", b"\xe4,b\n1,2\n", "byte 0 is not UTF-8"),
        ("between.npz", {"tau": np.ones((3, 2)), "checkpoint": [0.2, 0.4, 0.6]}, "one increasing whole number"),
        ("nan.npz", {"tau": np.ones((3, 2)), "checkpoint": [1.0, np.nan, 3.0]}, "one increasing whole number"),
        ("numbers.npz", {"tau": np.ones((3, 2)), "checkpoint": [1, 2]}, "must be one increasing whole number"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path: Path, name: str, content: Any, message: str) -> None:
    path = tmp_path / name
    if isinstance(content, (str, bytes)):
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    elif isinstance(content, dict):
        np.savez(path, **content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises(SamplesError, match=message) as caught:
        read_run(path)
    assert "\n" not in str(caught.value)


def test_a_folder_needs_checkpoints_of_one_size(tmp_path: Path) -> None:
    with pytest.raises(SamplesError, match="0 files ckpt_NNNN_taus"):
        read_run(tmp_path)
    np.save(tmp_path / "ckpt_0001_taus.npy", np.ones(3))
    np.save(tmp_path / "ckpt_0002_taus.npy", np.ones(4))
    with pytest.raises(SamplesError, match=r"4 units where ckpt_0001_taus\.npy has 3; write nan"):
        read_run(tmp_path)
    np.save(tmp_path / "ckpt_2_taus.npy", np.ones(3))
    for read in (read_run, read_measured):
        with pytest.raises(SamplesError, match=r"ckpt_0*2_taus\.npy and ckpt_0*2_taus\.npy are both checkpoint 2"):
            read(tmp_path)


@pytest.mark.parametrize(("name", "rows"), [("const", 41), ("shared", 61), ("diag", 61)])
def test_the_given_runs(name: str, rows: int) -> None:
    run = read_run(GIVEN / f"{name}.npz")
    assert run.zeta.shape == (rows, 128) and run.checkpoints[0] == 1 and run.dropping == 0
