"""A comparison as plain lines of any width, and as one dictionary that JSON can hold.

The catch: a terminal may be 60 columns wide or a pipe; so every line is wrapped here, under a column of labels, and
nothing depends on the terminal that prints it.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from solver.errors import ModelError
from solver.report import describe
from validation.comparison_notes import p_value_text
from validation.tail_fit import TailFit

if TYPE_CHECKING:
    from validation.comparison import Comparison

# Width of the column of labels, "Kolmogorov–Smirnov" and two blanks, and the narrowest page that leaves room beside it.
_LABELS, _NARROWEST = 20, 40


def render(result: Comparison, width: int = 80) -> str:
    """Label and text, wrapped at `width` columns, in reading order."""
    width = max(width, _NARROWEST)
    lines = []
    for label, text in facts(result):
        wrapped = textwrap.wrap(text, width - _LABELS, break_on_hyphens=False)
        for number, line in enumerate(wrapped or [""]):
            lines.append(f"{label if number == 0 else '':<{_LABELS}}{line}".rstrip())
    return "\n".join(lines)


def facts(result: Comparison) -> list[tuple[str, str]]:
    """(label, text) of every line."""
    measured, covered = result.measured, f"{100 * (1 - result.level):g}%"
    where = f"{measured.samples.path}: " if measured.samples.path else ""
    rows = [("sample", where + measured.describe()), ("model", _model(result))]
    if result.effective_size < 0.999 * measured.zeta.size:
        rows.append(("size", f"{result.effective_size:.4g} effective values: {_why(result)}"))
    by = ", by refitting" if result.fitted else ""
    ad, ks = result.ad, result.ks
    rows.append(("Anderson–Darling", f"A² = {ad.value:.4g}, {p_value_text(ad.p_value)}{by} (this one decides)"))
    rows.append(("Kolmogorov–Smirnov", f"D = {ks.value:.4g}, {p_value_text(ks.p_value)}{by}"))
    if result.tail is not None:
        rows.append(("tail", "Hill's exponent " + _tail(result.tail.hill, covered)))
        if result.tail.likelihood is not None:
            rows.append(("", "maximum likelihood " + _tail(result.tail.likelihood, covered)))
    if result.envelope is not None:
        rows.append(("envelope", _envelope(result, covered)))
    rows += [("note", text) for text in result.notes]
    rows.append(("verdict", result.verdict))
    return rows


def _model(result: Comparison) -> str:
    try:
        return describe(result.density.model.to_dict())
    except ModelError:  # a drift given as a function cannot be written down
        return repr(result.density.model)


def _why(result: Comparison) -> str:
    parts = ["unequal weights"] if result.measured.weighted else []
    if result.autocorrelation > 1:
        parts.append(f"an autocorrelation time of {result.autocorrelation:.3g}")
    return " and ".join(parts)


def _tail(fit: TailFit, covered: str) -> str:
    end = "" if math.isinf(fit.log_tau_high) else f" … {_tau(fit.log_tau_high)}"
    window = f"τ {'=' if end else '>'} {_tau(fit.log_tau_low)}{end}, {fit.count} values"
    found = f"{fit.exponent:.4g} ({covered}: {fit.low:.4g} … {fit.high:.4g})"
    if math.isnan(fit.p_value):
        return f"{found} over {window}; nothing finite to expect there"
    return f"{found}, expected {fit.expected:.4g} over {window}; {p_value_text(fit.p_value)}"


def _envelope(result: Comparison, covered: str) -> str:
    band = result.envelope
    assert band is not None
    place = "inside" if band.inside else "outside"
    return (
        f"f(ℓ) is {place} the {covered} band of the sample's "
        f"for ℓ = {_tau(band.log_lags[0])} … {_tau(band.log_lags[-1])} "
        f"(largest deviation {band.largest_deviation:.3g} standard errors, allowed {band.critical:.3g})"
    )


def _tau(log_value: float) -> str:
    return f"{math.exp(log_value):.4g}" if abs(log_value) < 700 else f"e^{log_value:.4g}"


def to_dict(result: Comparison) -> dict[str, Any]:
    """Everything as plain numbers, words, lists and dictionaries."""
    samples = result.measured.samples
    return {
        "consistent": result.consistent,
        "verdict": result.verdict,
        "level": result.level,
        "anderson_darling": asdict(result.ad),
        "kolmogorov_smirnov": asdict(result.ks),
        "fitted": result.fitted,
        "samples": {
            "path": samples.path,
            "used": int(result.measured.zeta.size),
            "nan": samples.nan,
            "infinite": samples.infinite,
            "not_positive": samples.not_positive,
            "weightless": result.measured.weightless,
            "repeated": result.measured.repeated,
            "outside_support": result.outside,
        },
        "effective_size": result.effective_size,
        "autocorrelation_time": result.autocorrelation,
        "tail": None if result.tail is None else result.tail.to_dict(),
        "envelope": None if result.envelope is None else result.envelope.to_dict(),
        "pit": result.pit.to_dict(),
        "notes": list(result.notes),
        "model": _model(result),
        "error_estimate": result.density.error_estimate,
    }
