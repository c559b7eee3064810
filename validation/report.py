"""Everything that puts the solver to the test, run in one go: `python -m validation`.

Exact cases, the same cases with one constant 1% off (which must fail), refinements with their controls (which must fail
too), and a Monte Carlo cross-check. Every line is a number and its bound. The catch: a line that must fail passes when
its number is ABOVE the bound; the word in front says which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from validation.case import Case
from validation.cases import CASES
from validation.convergence import STUDIES, Refinement, Study, controls
from validation.preset_study import SAMPLES, StudyRow, monte_carlo_study

# Monte Carlo without --slow: a KS distance to 0.8%, in half a minute.
QUICK_SAMPLES = 30_000

Say = Callable[[str], None]


@dataclass(frozen=True)
class CaseRow:
    """One exact case: its error, and the error of the same model with one constant 1% off."""

    case: Case
    error: float
    spoiled: float

    @property
    def passed(self) -> bool:
        """Is the bound kept, and would it have been missed otherwise?"""
        return self.error <= self.case.fact.bound < self.spoiled

    def text(self) -> str:
        """One line."""
        fact = self.case.fact
        return (
            f"{_word(self.passed):6s} {self.case.slug:38s} {fact.kind:24s} {self.error:8.1e} ≤ {fact.bound:.0e}"
            f"   (1% off: {self.spoiled:.0e})"
        )


@dataclass(frozen=True)
class Report:
    """What was run and what came out; `slow` says at which size Monte Carlo was."""

    cases: tuple[CaseRow, ...]
    refinements: tuple[Refinement, ...]
    controls: tuple[Refinement, ...]
    monte_carlo: tuple[StudyRow, ...]
    slow: bool

    @property
    def missed(self) -> tuple[str, ...]:
        """What did not come out as it must."""
        return (
            *(row.case.slug for row in self.cases if not row.passed),
            *(refinement.title for refinement in self.refinements if not refinement.passed),
            *(f"control: {refinement.title}" for refinement in self.controls if refinement.passed),
            *(f"Monte Carlo: {row.preset}" for row in self.monte_carlo if not agrees(row, self.slow)),
        )

    @property
    def passed(self) -> bool:
        """Did everything come out as it must?"""
        return not self.missed


def run(
    slow: bool = False,
    say: Say = print,
    cases: Iterable[Case] = CASES,
    studies: tuple[Study, ...] = STUDIES,
    monte_carlo: bool = True,
) -> Report:
    """Run everything, or some of it, and say each line when it is known."""
    say("Exact cases")
    rows = []
    for case in cases:
        rows.append(CaseRow(case, case.error(), case.error(case.spoiled)))
        say(rows[-1].text())
    say("\nRefinement: the last order and the last error")
    refinements = tuple(_said(study.refine(), say) for study in studies)
    say("\nControls: refinements that must fail")
    spoiled = tuple(_said(control.refine(), say, must_fail=True) for control in controls(studies))
    distances: list[StudyRow] = []
    if monte_carlo:
        say("\nMonte Carlo: Kolmogorov's distance and its critical value at 1%")
        for row in monte_carlo_study(size=SAMPLES if slow else QUICK_SAMPLES):
            distances.append(row)
            say(
                f"{_word(agrees(row, slow)):6s} {row.preset:38s} {row.effective:10.0f} effective samples "
                f"{row.ks:9.2e} ≤ {row.critical:.2e}"
            )
    return Report(tuple(rows), refinements, spoiled, tuple(distances), slow)


def agrees(row: StudyRow, slow: bool) -> bool:
    """Within the critical value; with a million samples the wrong model must be seen, too."""
    return bool(row.agrees if slow else row.ks < row.critical)


def _said(refinement: Refinement, say: Say, must_fail: bool = False) -> Refinement:
    good = refinement.passed != must_fail
    say(
        f"{_word(good):6s} {refinement.title:50s} order {refinement.order:5.2f} (needs {refinement.expected:g}), "
        f"error {refinement.errors[-1]:.1e} (needs {refinement.cap:.0e})"
    )
    return refinement


def _word(passed: bool) -> str:
    return "ok" if passed else "MISSED"
