"""The figures of the documents are made by their scripts and are what the documents show."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_every_figure_is_made_and_shown(tmp_path: Path) -> None:
    made = set()
    for script in sorted((ROOT / "docs").glob("figures*.py")):
        spec = importlib.util.spec_from_file_location(script.stem, script)
        assert spec is not None and spec.loader is not None
        figures = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(figures)
        made |= {path.name for path in figures.main(tmp_path)}
    assert all((tmp_path / name).stat().st_size > 10_000 for name in made)
    documents = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    shown = {path.name for path in (ROOT / "docs" / "figures").glob("*.png") if f"figures/{path.name}" in documents}
    assert shown == made
