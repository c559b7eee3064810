"""Refinement studies show the orders that are claimed, their controls do not, and the report says so."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from solver.model import Model
from validation import __main__ as command
from validation import report, report_page
from validation.cases import BY_SLUG, CASES
from validation.convergence import STUDIES, Control, Refinement, Study, controls, uncorrected


def name(study: Study) -> str:
    return study.title


@pytest.mark.parametrize("study", STUDIES, ids=name)
def test_a_study_shows_its_order(study: Study) -> None:
    refinement = study.refine()
    assert refinement.passed, refinement.text()
    assert len(refinement.orders) == len(refinement.errors) - 1


@pytest.mark.parametrize("control", controls(), ids=lambda control: f"{control.study.title}, {control.mistake}")
def test_a_study_with_a_mistake_fails(control: Control) -> None:
    refinement = control.refine()
    assert not refinement.passed
    if control.mistake == "moment correction dropped":
        jumps = control.model.jumps
        expected = 4.0 if jumps is not None and jumps.kind == "laplace" else 2.0 - jumps.activity  # type: ignore[union-attr]
        assert abs(refinement.order - expected) < 0.2  # measured 0.17 (pure jumps, α = 3/2), else 0.07
    else:
        assert abs(refinement.order) < 0.1  # measured 0.06: errors no longer fall


def test_the_order_at_the_corner_is_one_and_two_elsewhere() -> None:
    at, off = (study for study in STUDIES if study.slug == "corner")
    assert (at.expected, off.expected) == (1.0, 2.0) and (at.far, off.near) == (0.0, 0.1)
    assert abs(at.refine().order - 1) < 0.01 and abs(off.refine().order - 2) < 0.01
    assert off.refine().errors[-1] < 1e-8  # measured 9.2e-10


def test_every_smooth_kind_is_refined() -> None:
    slugs = {study.slug for study in STUDIES}
    tags = {tag for slug in slugs for tag in BY_SLUG[slug].tags}
    assert {"diffusion", "jumps", "pure jumps", "plateau", "wall", "laplace", "untempered", "manufactured"} <= tags
    mistakes = [control.mistake for control in controls()]
    assert mistakes.count("one constant 1% off") == len(STUDIES) and mistakes.count("moment correction dropped") >= 5


def test_a_refinement_judges_order_and_size() -> None:
    good = Refinement("made up", (0.4, 0.2, 0.1), (11, 21, 41), (2.56, 1e-2, 1e-2 / 256), 8.0, 1e-3)
    assert good.orders == (8.0, 8.0) and good.passed
    assert not dataclasses.replace(good, cap=1e-5).passed and not dataclasses.replace(good, expected=7.5).passed
    assert good.text().splitlines()[0] == "made up: order 8 expected" and good.text().splitlines()[-1].endswith("8.00")


def test_dropping_the_correction_changes_nothing_else() -> None:
    model = BY_SLUG["made-stable"].model
    wrong = uncorrected(model)
    assert not wrong.jumps.lattice_corrections(0.1, 4).any() and model.jumps.lattice_corrections(0.1, 4).any()
    assert wrong.jumps.lattice_weights(0.1, 9, 0).tolist() == model.jumps.lattice_weights(0.1, 9, 0).tolist()


# --- the report -------------------------------------------------------------------------------------------------

FEW = [
    BY_SLUG[slug]
    for slug in ("cosh", "gamma-envelope", "ou-one-characteristic", "wall-1", "wall-integer", "cosh-exponent")
]


@pytest.fixture(scope="module")
def small() -> report.Report:
    return report.run(say=lambda line: None, cases=FEW, studies=STUDIES[:3], monte_carlo=False)


def test_the_page_says_what_was_measured(small: report.Report, tmp_path: Path) -> None:
    path = report_page.write_page(small, tmp_path)
    text = path.read_text("utf-8")
    assert "All bounds are kept" in text and all(f"| {case.slug} |" in text for case in FEW)
    assert (tmp_path / report_page.FIGURE).stat().st_size > 10_000 and report_page.FIGURE.as_posix() in text
    assert "fails" in text and "MISSED" not in text and "second" not in text
    assert text == report_page.page(
        report.run(say=lambda line: None, cases=FEW, studies=STUDIES[:3], monte_carlo=False)
    )


def test_a_missed_bound_is_said(small: report.Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = dataclasses.replace(small.cases[0], error=1.0)
    blind = dataclasses.replace(small.cases[1], spoiled=1e-12)
    stuck = dataclasses.replace(small.refinements[0], errors=(1.0,) * 4)
    missed = dataclasses.replace(small, cases=(row, blind), refinements=(stuck,), controls=(small.refinements[1],))
    assert not missed.passed and missed.missed == ("cosh", "gamma-envelope", "cosh", "control: gamma")
    assert "Missed: cosh, gamma-envelope" in report_page.page(missed) and "passes: MISSED" in report_page.page(missed)
    assert "MISSED" in row.text() and small.cases[0].text().startswith("ok")
    for result, status in ((small, 0), (missed, 1)):
        monkeypatch.setattr(command, "run", lambda result=result, **options: result)
        assert command.main(["--out", str(tmp_path)]) == status


def test_the_command_passes_its_options_on(
    small: report.Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}

    def run(**options: object) -> report.Report:
        seen.update(options)
        return small

    monkeypatch.setattr(command, "run", run)
    command.main(["--slow", "--no-monte-carlo", "--out", str(tmp_path)])
    assert seen == {"slow": True, "monte_carlo": False}
    monkeypatch.setattr(command, "DOCS", tmp_path / "docs")
    command.main([])
    assert not (tmp_path / "docs").exists(), "a quick run leaves the page of a slow one alone"
    with pytest.raises(SystemExit) as stopped:
        command.main(["--fast"])
    assert stopped.value.code == 2


def test_models_in_a_line() -> None:
    model = BY_SLUG["corner"].model
    assert report_page.describe(model, "-sign ζ") == "-sign ζ, η_G = 0.3, laplace(0.5, 2)"
    assert isinstance(model, Model) and np.isfinite(model.left_plateau)


def test_the_page_in_the_documents_is_of_this_table() -> None:
    """What `python -m validation` wrote last knows every case and study, and all their bounds were kept."""
    page = (ROOT / "docs" / report_page.PAGE).read_text("utf-8")
    assert "**All bounds are kept.**" in page and "## Monte Carlo" in page
    rows = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")}
    assert {case.slug for case in CASES} | {study.title.replace("|", "\\|") for study in STUDIES} <= rows
    assert (ROOT / "docs" / report_page.FIGURE).exists()
