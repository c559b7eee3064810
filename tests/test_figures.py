"""The figures of the documents are made by their scripts, are what the documents show, and are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from conftest import ROOT

FIGURES = ROOT / "docs" / "figures"
# Mean difference of the colours, of 1. Measured: 6e-8 between two runs, 0.035 where all curves of a figure are missing.
STALE = 0.01


def difference(made: Path, shown: Path) -> float:
    """Mean difference of two pictures of one size; 1 where the sizes differ."""
    a, b = (matplotlib.image.imread(path) for path in (made, shown))
    return float(np.abs(a - b).mean()) if a.shape == b.shape else 1.0


@pytest.mark.slow
def test_every_figure_is_made_and_shown(tmp_path: Path) -> None:
    made = set()
    for script in sorted((ROOT / "docs").glob("figures*.py")):
        spec = importlib.util.spec_from_file_location(script.stem, script)
        assert spec is not None and spec.loader is not None
        figures = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(figures)
        made |= {path.name for path in figures.main(tmp_path)}
    documents = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    shown = {path.name for path in FIGURES.glob("*.png") if f"figures/{path.name}" in documents}
    assert shown == made == {path.name for path in FIGURES.glob("*.png")}
    assert {name for name in made if difference(tmp_path / name, FIGURES / name) > STALE} == set()


def test_a_stale_figure_is_seen(tmp_path: Path) -> None:
    """A panel of curves wiped out, as where every point of a sweep has failed."""
    picture = matplotlib.image.imread(FIGURES / "envelopes_threshold.png").copy()
    height, width = picture.shape[:2]
    assert difference(FIGURES / "envelopes_threshold.png", FIGURES / "envelopes_threshold.png") == 0
    picture[height // 8 : -height // 8, width // 12 :, :3] = 1.0
    matplotlib.image.imsave(tmp_path / "wiped.png", picture)
    assert difference(tmp_path / "wiped.png", FIGURES / "envelopes_threshold.png") > STALE
