"""A solution as one plain dictionary, and that dictionary as JSON or as terminal text.

The dictionary is the only source of both, so that what is printed is what is saved; its keys are the
words of model files and public names. The catch: "no root" (NaN) and "infinite" are answers for which
JSON has no word: null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from solver.closed_form import ClosedForm
from solver.crosscheck import CrossCheck
from solver.density import StationaryDensity
from solver.samples import Samples
from solver.tables import Records
from solver.tail_form import TailForm
from solver.tail_words import all_laws, right_law

PHASES = {
    "collapsed": "intensity at or below the threshold",
    "concentrated": "β > 1: the mean time scale is finite",
    "broad": "β < 1: the mean time scale is infinite",
    "critical": "β = 1: the mean time scale just diverges",
    "confined": "the drift grows without bound",
}
# λ = 0: the threshold is infinite, and the phase's usual words would speak of one that nobody can exceed
UNTEMPERED = "no tempering: no intensity gives an exponential tail"
DIFFERS = (
    "The source calls the collapsed phase light-tailed, with an exponential envelope. The model as written, "
    "whose drift saturates, has the tail law above all the same, which is heavy. The two statements differ."
)


def summarise(
    density: StationaryDensity,
    theory: ClosedForm,
    check: CrossCheck,
    *,
    name: str,
    rtol: float,
    seconds: float,
    samples: Samples | None = None,
    converged: bool = True,
) -> dict[str, Any]:
    """Everything worth saying about a solution as a plain dictionary (numbers may be NaN or infinite)."""
    error = density.error
    return {
        "name": name,
        "model": density.model.to_dict(),
        "convention": theory.convention,
        "phase": theory.phase,
        "has_root": theory.has_root,
        "exponent": theory.exponent,
        "threshold": theory.threshold,
        "right_exponent": theory.right_exponent,
        "tail": _tail(theory.tail, all_laws),
        "right_tail": _tail(theory.right_tail, right_law),
        "tail_differs_from_source": theory.phase == "collapsed" and math.isfinite(theory.tail.exponent),
        "tail_exponent": density.tail_exponent,
        "right_tail_exponent": density.right_tail_exponent,
        "checks": [{**asdict(row), "passed": row.passed, "verdict": row.verdict} for row in check.rows],
        "notes": list(check.notes),
        "passed": check.passed,
        "verdict": check.verdict,
        "converged": converged,
        "rtol": rtol,
        "error_estimate": density.error_estimate,
        "error": {
            "body": error.body,
            "left_slope": error.left_slope,
            "left_limit": error.left_limit,
            "right_slope": error.right_slope,
            "right_limit": error.right_limit,
        },
        "residual": density.residual,
        "mean": density.mean(),
        "variance": density.var(),
        "method": density.method,
        "order": density.order,
        "grid": {
            "left": density.grid.left,
            "right": density.grid.right,
            "nodes": density.grid.nodes,
            "spacing": density.grid.spacing,
            "edges": list(density.grid.edges),
        },
        "levels": [
            {"spacing": level.spacing, "nodes": level.nodes, "estimate": level.estimate} for level in density.levels
        ],
        "assumptions": list(density.assumptions),
        "seconds": seconds,
        "samples": None if samples is None else _samples(samples),
    }


def to_json(value: dict[str, Any]) -> str:
    """Strict JSON, indented, with null for NaN and infinities.

    >>> print(to_json({"exponent": float("nan"), "edges": ["open"]}))
    {
      "exponent": null,
      "edges": [
        "open"
      ]
    }
    """
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    # a byte of a file name that is no letter comes out as the escape that JSON has for it
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def render(summary: dict[str, Any]) -> RenderableType:
    """The summary for a terminal or a pipe, readable from 40 columns on."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, text in _facts(summary):
        facts.add_row(label, Text(text))
    numbers = ("exponent", "difference", "tolerance")
    rows = Records(("check", *numbers, "read at"), numbers)
    for row in summary["checks"]:
        cells = (_number(row["exponent"], 10), _number(row["difference"], 2), _number(row["tolerance"], 2))
        style = {"FAILED": "bold red", "not decided": "dim"}.get(row["verdict"])
        rows.add(row["source"], *cells, row["where"], style=style)
    return Group(facts, Text(""), rows)


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """(label, text) lines of the summary in reading order."""
    grid = summary["grid"]
    lines = [("model", f"{summary['name']}: {describe(summary['model'])}")]
    untempered = summary["phase"] == "collapsed" and math.isinf(summary["threshold"])
    lines.append(("phase", f"{summary['phase']} ({UNTEMPERED if untempered else PHASES[summary['phase']]})"))
    if math.isfinite(summary["threshold"]):
        convention = f" ({summary['convention']} convention)" if summary["convention"] else ""
        always = "" if summary["threshold"] > 0 else ": not positive, there is a root at every intensity"
        lines.append(("threshold", f"η_J* = {summary['threshold']:.10g}{convention}{always}"))
    absent = "none: the drift has no plateau" if summary["phase"] == "confined" else "none: no root β"
    root = f"β = {summary['exponent']:.12g}" if summary["has_root"] else absent
    lines.append(("exponent", root))
    lines.append(("tail law", summary["tail"]["law"]))
    if summary["tail_differs_from_source"]:
        lines.append(("note", DIFFERS))
    lines.append(
        (
            "error",
            f"|error of ln ρ| ≤ {summary['error_estimate']:.2g} in the body (asked: {summary['rtol']:.2g})",
        )
    )
    depth = summary["error"]
    if depth["left_slope"] > 0:
        limit = f"{depth['left_limit']:.4g}"
        lines.append(("", f"plus {depth['left_slope']:.2g} per unit of ζ left of {limit}"))
    lines.append(("residual", f"{summary['residual']:.2g}, relative in every row"))
    edges = "/".join(grid["edges"])
    where = f"ζ = {grid['left']:.6g} … {grid['right']:.6g} ({edges})"
    lines.append(("grid", f"{grid['nodes']} nodes, spacing {grid['spacing']:.4g}, {where}"))
    lines.append(("method", f"{summary['method']}, order {summary['order']}, {summary['seconds']:.2f} s"))
    lines += [("assumed", text) for text in summary["assumptions"]]
    lines += [("note", text) for text in summary["notes"]]
    if summary["samples"] is not None:
        lines.append(("samples", f"{summary['samples']['path']}: {summary['samples']['text']}"))
    if not summary["converged"]:
        lines.append(("NOT CONVERGED", "the best estimate is shown; do not rely on it"))
    return lines


def describe(model: dict[str, Any]) -> str:
    """One line about a model from its plain form: words and values as in the model file."""
    drift = dict(model["drift"])
    kind = drift.pop("kind")
    parts = [f"{kind} drift ({_words(drift)})", f"diffusion {model.get('diffusion', 0.0):g}"]
    jumps = model.get("jumps")
    parts.append(f"jumps ({_words(jumps)})" if jumps else "no jumps")
    return ", ".join(parts)


def _words(table: dict[str, Any]) -> str:
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {_short(value)}" for key, value in table.items()
    )


def _short(value: Any) -> str:
    return f"of {len(value)} values" if isinstance(value, (list, tuple)) else str(value)


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}g}" if math.isfinite(value) else "–"


def _tail(tail: TailForm, law: Callable[[TailForm], str]) -> dict[str, Any]:
    return {**asdict(tail), "meaning": tail.meaning, "law": law(tail)}


def _samples(samples: Samples) -> dict[str, Any]:
    return {
        "path": samples.path,
        "used": int(samples.zeta.size),
        "nan": samples.nan,
        "infinite": samples.infinite,
        "not_positive": samples.not_positive,
        "text": samples.describe(),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    number = float(value)
    return number if math.isfinite(number) else None
