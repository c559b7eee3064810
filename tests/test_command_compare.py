"""`zetafp compare` as a user meets it: the verdict, the files, the exit status and every complaint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from matplotlib.figure import Figure
from typer.testing import CliRunner

from solver.presets import load_preset
from solver.stationary import solve_stationary
from validation import compare
from validation.comparison_plot import plot_comparison, plot_histogram
from validation.verbs import app

DIAG = ROOT / "tests" / "data" / "diag_0240_taus.npy"
FILES = {"comparison.json", "comparison.txt", "comparison.png"}


def run(*words: object, columns: int | None = None) -> tuple[int, str]:
    """(exit status, everything printed)."""
    env = {} if columns is None else {"COLUMNS": str(columns)}
    result = CliRunner().invoke(app, ["compare", *map(str, words)], env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def density() -> Any:
    return solve_stationary(load_preset("concentrated"))


@pytest.fixture(scope="module")
def folder(density: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples of the preset concentrated in several formats, a saved density and two checkpoints."""
    place = tmp_path_factory.mktemp("samples")
    tau = density.timescales().rvs(300, random_state=3)
    np.save(place / "tau.npy", tau)
    np.save(place / "zeta.npy", -np.log(tau))
    table = np.column_stack([np.arange(300), tau, np.ones(300)])
    np.savetxt(place / "table.csv", table, delimiter=",", header="unit,scale,mass", comments="")
    np.save(place / "nothing.npy", np.full(5, np.nan))
    density.save(place / "saved.npz")
    (place / "run").mkdir()
    np.save(place / "run" / "ckpt_0001_taus.npy", 30 * tau)
    np.save(place / "run" / "ckpt_0040_taus.npy", tau)
    return place


def test_a_consistent_sample(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "compared"
    status, text = run(folder / "tau.npy", "concentrated", "--out", out)
    assert status == 0, text
    assert "Consistent at the 5% level" in " ".join(text.split()) and "300 used, 0 not used" in " ".join(text.split())
    assert {path.name for path in out.iterdir()} >= FILES
    summary = json.loads((out / "comparison.json").read_text("utf-8"))
    assert summary["consistent"] is True and summary["samples"]["used"] == 300
    assert "verdict" in (out / "comparison.txt").read_text("utf-8")
    assert (out / "comparison.png").stat().st_size > 30_000
    again, _ = run(folder / "tau.npy", "concentrated", "--out", out, "--no-plot")
    assert again == 0 and not (out / "comparison.png").exists(), "a figure of an earlier run would be stale"


@pytest.mark.parametrize(
    "words",
    [
        ("zeta.npy", "concentrated", "--kind", "zeta"),
        ("tau.npy", "saved.npz"),
        ("table.csv", "saved.npz", "--column", "scale", "--weights", "mass"),
        ("run", "saved.npz"),
        ("tau.npy", "saved.npz", "--autocorrelation", "2.5"),
    ],
)
def test_other_ways_to_say_the_same(folder: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    status, text = run(*words)
    assert status == 0 and "verdict" in text, text


def test_an_inconsistent_sample_has_status_one(folder: Path) -> None:
    status, text = run(folder / "run", folder / "saved.npz", "--checkpoint", 1)
    assert status == 1 and "slower" in " ".join(text.split())
    status, text = run(DIAG, folder / "saved.npz", "--json")
    summary = json.loads(text)
    assert status == 1 and summary["consistent"] is False and summary["anderson_darling"]["p_value"] < 1e-6


def test_the_level_and_the_seed_are_arguments(folder: Path) -> None:
    _, one = run(folder / "tau.npy", folder / "saved.npz", "--json", "--seed", 1)
    _, same = run(folder / "tau.npy", folder / "saved.npz", "--json", "--seed", 1)
    _, other = run(folder / "tau.npy", folder / "saved.npz", "--json", "--seed", 2)
    assert one == same != other
    status, text = run(folder / "tau.npy", folder / "saved.npz", "--level", 0.999)
    assert status == 1 and "99.9% level" in " ".join(text.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.npy", "saved.npz"), "none.npy: cannot be read"),
        (("tau.npy", "brod"), "did you mean 'broad'?"),
        (("tau.npy", "frozen-gates"), "no stationary"),
        (("tau.npy", "none.npz"), "none.npz"),
        (("table.csv", "saved.npz"), "heading 'tau'"),
        (("table.csv", "saved.npz", "--column", "scala"), "did you mean 'scale'?"),
        (("table.csv", "saved.npz", "--column", "scale", "--weights", "masses"), "did you mean 'mass'?"),
        (("tau.npy", "saved.npz", "--kind", "tua"), "tau"),
        (("tau.npy", "saved.npz", "--level", "5"), "level = 5.0: must lie in (0, 1)"),
        (("tau.npy", "saved.npz", "--seed", "-1"), "seed = -1"),
        (("tau.npy", "saved.npz", "--autocorrelation", "long"), "autocorrelation = 'long'"),
        (("tau.npy", "saved.npz", "--checkpoint", "3"), "is for a folder"),
        (("run", "saved.npz", "--checkpoint", "3"), "no checkpoint 3; there are 2, from 1 to 40, the nearest is 1"),
        ((".", "saved.npz"), "no file ckpt_NNNN_taus.npy"),
        (("nothing.npy", "saved.npz"), "no usable value"),
        (("tau.npy", "saved.npz", "--out", "tau.npy"), "is a file"),
    ],
)
def test_bad_input_has_status_two(
    folder: Path, words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    status, text = run(*words)
    flat = " ".join(text.split())
    assert status == 2 and message in flat, text


def test_text_fits_the_terminal(folder: Path) -> None:
    for columns in (60, 80):
        _, text = run(DIAG, folder / "saved.npz", columns=columns)
        assert max(map(len, text.splitlines())) <= columns


def test_the_figure_shows_what_was_compared(density: Any, folder: Path) -> None:
    result = compare(folder / "tau.npy", density)
    figure = plot_comparison(result, title="draws")
    assert len(figure.axes) == 6
    for ax in figure.axes:
        assert "[" in ax.get_xlabel() and "[" in ax.get_ylabel() and ax.get_title()
    title = figure.get_suptitle()
    assert title.startswith("draws:  consistent") and f"{result.ad.value:.4g}" in title
    ax = Figure().subplots()
    assert plot_histogram(result, ax) is ax
    narrow = plot_comparison(compare([1.0, 1.01], density))  # too few for tail and envelope
    assert any("too few" in text.get_text() for ax in narrow.axes for text in ax.texts)
    for values in ([1e200, 1e-200, 1.0] * 10, [2.0] * 40):
        plot_comparison(compare(values, density)).canvas.draw()
