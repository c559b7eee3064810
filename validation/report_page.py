"""The report as a page, docs/validation.md, with its figure: the same numbers as on the terminal, and no times.

The catch of numbers at the level of rounding is that another machine may show another last digit: errors are written
to one.
"""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

from solver.drifts import CallableDrift
from solver.files import write_text
from solver.model import Model
from validation.convergence import Refinement
from validation.networks.recovery_page import kept
from validation.report import CaseRow, Report, agrees

PAGE = "validation.md"
FIGURE = Path("figures") / "validation" / "convergence.png"

OPENING = """# Validation

Written by `python -m validation{option}`. It runs every exact case of `validation/cases.py`, the refinements of
`validation/convergence.py` and a Monte Carlo cross-check, and ends with a status other than 0 when a bound is missed.
Nothing here is compared with the solver's own formulas: where an exact value takes a Laplace exponent, it is the
textbook formula or a quadrature of the Lévy density.

**{verdict}**
"""
CASES_TEXT = """## Exact cases

Errors of densities are absolute, all others relative. The last column is the error of the same case when the solver is
given a model with one constant 1% off: it must be above the bound, or the case would prove nothing.
"""
KINDS = {
    "density": "ρ at 61 irregular points and at all nodes of an interval that holds the body and much of the tails",
    "characteristic function": "E e^{ikζ} at k = 0.1, 0.5, 1, 3 of Ornstein–Uhlenbeck processes, "
    "ln φ(k) = ikm + (1/r) ∫_0^k S(u)/u du",
    "moment identity": "F = κ - a e^ζ: E e^{(s+1)ζ} / E e^{sζ} = (κ + η_G s + η_J ψ(s)/s)/a "
    "at seven s from -0.8 β to λ/2",
    "integer moments": "F = κ - a e^ζ: E e^{nζ}, n = 1 … 4, and E e^{-ζ}, the mean time scale",
    "envelope": "f(ℓ) and its exponent at lags 1e-4 … 1e14",
    "exponent": "decay rates of both tails where both are open, from the half-lines beyond the grid",
}
REFINEMENTS_TEXT = """## Refinement

Largest error of ρ when the spacing is halved (in fours for the corner). Order 8 is the scheme's; a step of the drift
has order 1 at the corner of ρ itself and 2 elsewhere.

![Errors against the spacing, with the controls]({figure})
"""
CONTROLS_TEXT = """## Controls

The same refinements with a mistake in them. None may pass: with a constant 1% off, errors stop falling; without the
moment correction of the jump weights they fall as h^(2-α), or as h^4 for Laplace jumps.
"""
MONTE_CARLO_TEXT = """## Monte Carlo

Kolmogorov's distance between samples of the simulated process, in steps of dt and of dt/2, and the solver's
distribution. The distance at dt/2 must be below the critical value at 1%; the last column is the distance from the
model with its jumps 5% stronger{must}.
"""


def page(report: Report) -> str:
    """The page in Markdown."""
    verdict = "All bounds are kept." if report.passed else f"Missed: {', '.join(report.missed)}."
    parts = [OPENING.format(option=" --slow" if report.slow else "", verdict=verdict), CASES_TEXT]
    ordered = sorted(report.cases, key=lambda row: list(KINDS).index(row.case.fact.kind))
    for kind, rows in itertools.groupby(ordered, key=lambda row: row.case.fact.kind):
        parts.append(f"**{kind.capitalize()}**: {KINDS[kind]}.\n\n{_case_table(list(rows))}")
    parts += [REFINEMENTS_TEXT.format(figure=FIGURE.as_posix()), _refinement_table(report), CONTROLS_TEXT]
    parts.append(_control_table(report))
    if report.monte_carlo:
        parts += [MONTE_CARLO_TEXT.format(must=", which must be above" if report.slow else ""), _distances(report)]
    return "\n".join(parts)


def write_page(report: Report, folder: Path) -> Path:
    """Write the page and its figure into a folder and return the page's path."""
    path = folder / PAGE
    (folder / FIGURE).parent.mkdir(parents=True, exist_ok=True)
    draw(report, folder / FIGURE)
    recovery = kept(path)  # a study of its own, which this one does not repeat
    write_text(path, page(report).rstrip() + "\n" + (f"\n{recovery}" if recovery else ""))
    return path


def describe(model: Model, drift: str = "") -> str:
    """A model in one line: numbers in the order of its classes' fields; `drift` in words where it is a function.

    >>> from solver.drifts import TanhDrift
    >>> describe(Model(TanhDrift(1.0), 0.3))
    'tanh(1, 0, 1), η_G = 0.3'
    """
    if not isinstance(model.drift, CallableDrift):
        drift = _call(model.drift.kind, model.drift)
    jumps = "" if model.jumps is None else f", {_call(model.jumps.kind, model.jumps)}"
    return f"{drift}, η_G = {model.diffusion:.6g}{jumps}"


def draw(report: Report, path: Path) -> None:
    """Errors against spacings: refinements as lines with marks, controls faint."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.5), layout="constrained")
    axes = figure.add_subplot()
    for k, control in enumerate(report.controls):
        axes.loglog(control.spacings, control.errors, color="0.8", lw=0.8, label="controls" if k == 0 else None)
    for k, refinement in enumerate(report.refinements):
        style = {"marker": "os^vD"[k % 5], "ms": 4, "lw": 1.2, "color": f"C{k % 10}", "ls": "-" if k < 10 else "--"}
        axes.loglog(refinement.spacings, refinement.errors, label=refinement.title, **style)
    for order, start in ((1, (3e-5, 1e-2)), (2, (3e-5, 1e-7)), (8, (0.13, 1e-10))):
        h = [start[0], 3 * start[0]]
        axes.loglog(h, [start[1], start[1] * 3.0**order], color="k", lw=0.8)
        axes.annotate(f"order {order}", (h[0], start[1]), xytext=(4, -12), textcoords="offset points", fontsize=8)
    axes.set(xlabel="spacing h", ylabel="largest error of ρ", ylim=(1e-13, 2.0))
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _call(kind: str, part: object) -> str:
    values = [getattr(part, field.name) for field in dataclasses.fields(part)]  # type: ignore[arg-type]
    return f"{kind}({', '.join(f'{value:g}' if isinstance(value, float) else str(value) for value in values)})"


def _table(head: str, rows: list[str]) -> str:
    bars = "|".join(["---"] * (head.count("|") - 1))
    return "\n".join([head, f"|{bars}|", *rows]) + "\n"


def _case_table(rows: list[CaseRow]) -> str:
    lines = [
        f"| {row.case.slug} | {describe(row.case.model, row.case.drift)} | {row.error:.0e} | "
        f"{row.case.fact.bound:.0e} | {row.spoiled:.0e} |"
        for row in rows
    ]
    return _table("| case | model | error | bound | 1% off |", lines)


def _refinement_table(report: Report) -> str:
    lines = []
    for item in report.refinements:
        errors = ", ".join(f"{error:.0e}" for error in item.errors)
        orders = _orders(item)
        sizes = f"{item.nodes[0]} … {item.nodes[-1]}"
        lines.append(f"| {_escaped(item.title)} | {sizes} | {errors} | {orders} | {item.expected:g} |")
    return _table("| case | nodes | errors | orders | expected |", lines)


def _control_table(report: Report) -> str:
    lines = []
    for item in report.controls:
        orders = _orders(item)
        result = "passes: MISSED" if item.passed else "fails"
        last = f"{item.errors[-1]:.0e}"
        lines.append(f"| {_escaped(item.title)} | {last} | {orders} | {item.expected:g} | {result} |")
    return _table("| case and mistake | last error | orders | needed | result |", lines)


def _distances(report: Report) -> str:
    lines = [
        f"| {row.preset} | {row.effective:.0f} | {row.dt:.3g} | {row.coarse:.1e} | {row.ks:.1e} | {row.critical:.1e} "
        f"| {row.control:.1e} | {'agrees' if agrees(row, report.slow) else 'MISSED'} |"
        for row in report.monte_carlo
    ]
    return _table("| preset | effective samples | dt | at dt | at dt/2 | critical | 5% stronger | result |", lines)


def _escaped(title: str) -> str:
    """A title whose bars do not end a cell."""
    return title.replace("|", r"\|")


def _orders(item: Refinement) -> str:
    """The observed orders, none of them -0.00."""
    return ", ".join(f"{round(order, 2) + 0.0:.2f}" for order in item.orders)
