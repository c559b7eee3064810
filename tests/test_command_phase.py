"""`zetafp phase` and `zetafp design` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from solver.closed_form import closed_form
from solver.command_design import design, render
from solver.command_phase import phase
from solver.horizon import sample_complexity
from solver.model import Model
from solver.phase_diagram import phase_diagram
from solver.plot_phases import plot_phase_diagram
from solver.presets import load_preset
from solver.stationary import solve_stationary


def run(command: Any, *words: object) -> tuple[int, str]:
    """(exit status, everything printed with line breaks as blanks)."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(command)
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, " ".join(result.output.split())


def test_a_map_is_written_with_its_picture(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    axes = ("--x", "intensity=0.05:1.5:40", "--y", "plateau=0.1:3:30:log")
    status, text = run(phase, "concentrated", *axes, "--out", tmp_path / "map")
    assert status == 0 and "1200 points over intensity and plateau" in text and "broad" in text
    assert {"phases.json", "phases.nc", "phases.csv", "phases.png"} <= {
        path.name for path in (tmp_path / "map").iterdir()
    }
    assert (tmp_path / "map" / "phases.png").read_bytes().startswith(b"\x89PNG")
    with xarray.open_dataset(tmp_path / "map" / "phases.nc", engine="h5netcdf") as back:
        assert back["exponent"].dims == ("plateau", "intensity") and back["intensity"].attrs["convention"] == "levy"
        assert set(np.unique(back["phase"].values)) == {"collapsed", "broad", "concentrated"}
        beta = back["exponent"].values.ravel()
    rows = (tmp_path / "map" / "phases.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "plateau,intensity,exponent,phase,threshold,finite_mean"
    np.testing.assert_array_equal([float(row.split(",")[2]) for row in rows[1:]], beta)


def test_an_axis_may_be_only_named() -> None:
    status, text = run(phase, "concentrated", "--x", "stability", "--y", "tempering", "--json")
    summary = json.loads(text)
    assert status == 0 and summary["points"] == 160_000 and sum(summary["shares"].values()) == pytest.approx(1)


BAD_PHASE = [
    (["--x", "intensty"], "did you mean 'intensity'"),
    (["--x", "center=1,2"], "x axis = 'center': must be one of"),
    (["--x", "intensity=2:1:5"], "intensity: range = [2, 1]: reversed"),
    (["--x", "intensity=nan:1:5"], "range[0] = nan"),
    (["--x", "intensity=a:1:5"], "intensity = 'a': must be a number"),
    (["--x", "plateau=1,2"], "both 'plateau'"),
    (["pure-diffusion"], "this model has no jumps"),
    (["brod"], "did you mean 'broad'"),
    (["pure-jump", "--y", "diffusion"], "it is 0 in this model, so give its range"),
]


@pytest.mark.parametrize(("words", "complaint"), BAD_PHASE, ids=[" ".join(words) for words, _ in BAD_PHASE])
def test_a_bad_map_is_one_paragraph_and_status_2(words: list[str], complaint: str) -> None:
    status, text = run(phase, *words)
    assert status == 2 and complaint in text and "Traceback" not in text


def test_the_figure_says_what_its_lines_are() -> None:
    pytest.importorskip("xarray")
    axes = ("intensity", np.linspace(0.05, 1.5, 8)), ("plateau", np.linspace(0.1, 3.0, 8))
    legend = plot_phase_diagram(phase_diagram(load_preset("concentrated"), *axes)).get_legend()
    assert legend is not None and "contours of β" in {text.get_text() for text in legend.get_texts()}


def test_a_design_is_written_and_gives_the_exponent(tmp_path: Path) -> None:
    status, text = run(design, "concentrated", "--exponent", 0.42, "--out", tmp_path / "d")
    assert status == 0 and "exponent β = 0.42, broad (β < 1" in text
    assert "∂β/∂intensity" in text and "convention levy" in text
    assert {path.name for path in (tmp_path / "d").iterdir()} == {"design.json", "model.toml", "zetafp.sha256"}
    model = Model.from_toml(tmp_path / "d" / "model.toml")
    assert closed_form(model).exponent == pytest.approx(0.42, rel=1e-12)
    assert model.drift == load_preset("concentrated").drift
    status, text = run(design, tmp_path / "d" / "model.toml", "--exponent", 0.8, "--free", "plateau", "--json")
    summary = json.loads(text)
    assert status == 0 and summary["free"] == "plateau" and summary["phase"] == "broad"
    assert closed_form(Model.from_dict(summary["model"])).exponent == pytest.approx(0.8, rel=1e-12)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["concentrated", "--exponent", "3"], "exponents that can be reached are (0, 2.2]"),
        (["concentrated", "--exponent", "1", "--free", "plato"], "did you mean 'plateau'"),
        (["concentrated"], "--horizon LAG:SAMPLES: give one of them"),
        (["concentrated", "--exponent", "nan"], "exponent = nan"),
        (["concentrated", "--exponent", "1", "--horizon", "9:9"], "--horizon LAG:SAMPLES: give one of them"),
        (["concentrated", "--horizon", "1000"], "horizon = '1000': must be LAG:SAMPLES"),
        (["concentrated", "--horizon", "1000:few"], "horizon = '1000:few': must be LAG:SAMPLES"),
        (["concentrated", "--horizon", "0.5:1e6"], "lag = 0.5"),
    ],
)
def test_a_bad_design_is_one_paragraph_and_status_2(words: list[str], complaint: str) -> None:
    status, text = run(design, *words)
    assert status == 2 and complaint in text


def test_a_design_at_the_threshold_says_so() -> None:
    """broad has λ = 1: β = 1 is its largest exponent, and the phase there is the collapsed one all the same."""
    status, text = run(design, "broad", "--exponent", 1)
    assert status == 0 and "exponent β = 1, collapsed (at the threshold, where β = λ)" in text


def test_a_design_replaces_no_file(tmp_path: Path) -> None:
    mine = tmp_path / "model.toml"
    load_preset("concentrated").to_toml(mine)
    before = mine.read_bytes()
    status, text = run(design, mine, "--exponent", 0.42, "--out", tmp_path)
    assert status == 2 and "was not written by zetafp and will not be replaced" in text
    assert mine.read_bytes() == before
    status, text = run(design, mine, "--exponent", 0.42, "--out", mine)
    assert status == 2 and f"{mine} is a file; name a directory".replace(" ", "") in "".join(text.split())


def test_a_design_for_a_horizon(tmp_path: Path) -> None:
    status, text = run(design, "concentrated", "--horizon", "1000:1e6", "--out", tmp_path / "d", "--json")
    assert status == 0
    model = Model.from_toml(tmp_path / "d" / "model.toml")
    cost = sample_complexity(solve_stationary(model), lags=[1000.0])
    assert cost.log_samples[0] == pytest.approx(np.log(1e6), abs=1e-6)
    summary = json.loads(text)
    assert summary == json.loads((tmp_path / "d" / "design.json").read_text("utf-8"))
    assert summary["horizon"] == {"lag": 1000.0, "samples": 1e6, "noise_index": 2.0}
    assert "1e+06 samples reach lag 1000 (noise index 2)" in str(render(summary))
