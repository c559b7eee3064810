"""A calibration and its prediction as text, as plain numbers, and as a model file with intervals in its comments.

The catch is the order of reading: the verdict comes first, what speaks against the model second, and numbers last.
"""

from __future__ import annotations

import math
import textwrap
from typing import Any

import tomli_w

from solver.model import Model
from validation.networks.calibrate import Calibration, verdict
from validation.networks.findings import Finding
from validation.networks.parameters import LEVEL, NOISE_NAMES, numbers_of
from validation.networks.prediction import LISTED, WIDTH, Prediction, Spread
from validation.networks.reading import Run

# Where intervals stand in a model file.
_TABLES = {"diffusion": "", "left": "drift.", "right": "drift.", "center": "drift.", "width": "drift."}


def all_findings(found: Calibration, prediction: Prediction | None) -> tuple[Finding, ...]:
    """Of the steps, the fit and the prediction."""
    return found.findings + (() if prediction is None else tuple(prediction.findings()))


def text(run: Run, found: Calibration, prediction: Prediction | None, measured: Spread, width: int = 80) -> str:
    """The whole page as lines of at most `width` characters."""
    findings = all_findings(found, prediction)
    steps = found.prepared.steps
    lines = [("verdict", verdict(findings) + "."), ("run", run.describe())]
    stride = "" if found.prepared.stride == 1 else f", one checkpoint in {found.prepared.stride}"
    lines.append(("steps", f"{steps.x.size} over {steps.checkpoints} intervals of {steps.interval:g}{stride}"))
    lines.append(("spectrum", f"{measured.word} at the last checkpoint: {_spread(measured)}"))
    lines += [("AGAINST" if finding.fatal else "note", finding.message) for finding in findings]
    if found.model is not None:
        lines.append(("model", "" if found.described else "fitted all the same; it describes nothing in particular:"))
        lines += [("", line) for line in _numbers(found)]
        shown = ", ".join(f"{word} {100 * share:.0f}%" for word, share in found.phases.items())
        lines.append(("phase", f"{shown} of the draws"))
    if prediction is not None:
        lines += _predicted(found, prediction)
    return "\n".join(_wrapped(label, words, width) for label, words in lines)


def _numbers(found: Calibration) -> list[str]:
    assert found.model is not None
    numbers = numbers_of(found.model)
    out = []
    for name, band in found.intervals.items():
        value = f"{numbers[name]:.4g}" if math.isfinite(numbers[name]) else "none"
        held = "" if band.share == 1 else f", in {100 * band.share:.0f}% of the draws"
        out.append(f"{name:13s} {value:>10s}   {100 * LEVEL:g}%: {band.low:.4g} to {band.high:.4g}{held}")
    return out


def _predicted(found: Calibration, prediction: Prediction) -> list[tuple[str, str]]:
    if prediction.density is None or prediction.predicted is None:
        return [("prediction", prediction.reason)]
    out = [("predicted", f"{prediction.predicted.word}: {_spread(prediction.predicted)}")]
    beta = f"{found.exponent:.4g}" if math.isfinite(found.exponent) else "no root"
    out.append(("β", f"closed form {beta}, decay of the solved density {prediction.density.tail_exponent:.4g}"))
    tail = None if prediction.comparison is None else prediction.comparison.tail
    if tail is not None:
        hill = tail.hill
        out.append(
            (
                "",
                f"measured (Hill) {hill.exponent:.3g} ({hill.low:.3g} to {hill.high:.3g}); over the same tail "
                f"the density has {hill.expected:.3g}",
            )
        )
    ours, theirs = prediction.predicted_window, prediction.measured_window
    if ours is not None and theirs is not None:
        bias = f"; the window's bias is {ours.bias(prediction.density.tail_exponent):+.3g}"
        out.append(
            (
                "window",
                f"slope of ln f over lags {ours.low:.3g} to {ours.high:.3g}: measured "
                f"{theirs.exponent:.3g}, predicted {ours.exponent:.3g}{bias}",
            )
        )
    if prediction.comparison is not None:
        out.append(("compared", prediction.comparison.verdict))
    return out


def _spread(found: Spread) -> str:
    quantiles = " / ".join(f"{tau:.3g}" for tau in found.tau)
    listed = " / ".join(f"{100 * q:g}" for q in LISTED)
    ends = f"{100 * WIDTH[0]:g}% to {100 * WIDTH[1]:g}%"
    return f"{found.decades:.2g} decades from {ends} of τ; {listed}% quantiles of τ: {quantiles}"


def _wrapped(label: str, words: str, width: int) -> str:
    lines = textwrap.wrap(words, max(width - 12, 28), break_long_words=False, drop_whitespace=True) or [""]
    if "   " in words and len(words) <= width - 12:
        lines = [words]  # a row of a table keeps its blanks
    return "\n".join(f"{label if i == 0 else '':11s} {line}".rstrip() for i, line in enumerate(lines))


def to_dict(run: Run, found: Calibration, prediction: Prediction | None, measured: Spread) -> dict[str, Any]:
    """Everything as plain numbers, words, lists and dictionaries (numbers may be NaN or infinite)."""
    findings = all_findings(found, prediction)
    memory = found.prepared.finest
    out: dict[str, Any] = {
        "verdict": verdict(findings),
        "described": not any(finding.fatal for finding in findings),
        "run": {
            "path": run.path,
            "checkpoints": run.checkpoints.tolist(),
            "units": int(run.zeta.shape[1]),
            "nan": run.nan,
            "infinite": run.infinite,
            "not_positive": run.not_positive,
            "dropping": run.dropping,
        },
        "steps": int(found.prepared.steps.x.size),
        "interval": found.prepared.steps.interval,
        "stride": found.prepared.stride,
        "memory": {"lag_one": memory.first, "error": memory.error, "time": memory.time, "common": memory.common},
        "findings": [{"kind": item.kind, "message": item.message, "fatal": item.fatal} for item in findings],
        "measured": {
            "word": measured.word,
            "decades": measured.decades,
            "levels": list(LISTED),
            "tau": list(measured.tau),
        },
        "model": None,
    }
    if found.model is not None:
        out["model"] = found.model.to_dict()
        out["level"] = LEVEL
        out["intervals"] = {
            name: {"low": band.low, "high": band.high, "share": band.share} for name, band in found.intervals.items()
        }
        out["correlations"] = {"names": list(found.names), "matrix": found.correlations.tolist()}
        out["exponent"], out["phases"] = found.exponent, dict(found.phases)
    if prediction is not None and prediction.density is not None and prediction.predicted is not None:
        windows = (prediction.measured_window, prediction.predicted_window)
        out["predicted"] = {
            "decades": prediction.predicted.decades,
            "tau": list(prediction.predicted.tau),
            "tail_exponent": prediction.density.tail_exponent,
            "window": [None if fit is None else fit.exponent for fit in windows],
            "anderson_darling_p": None if prediction.comparison is None else prediction.comparison.ad.p_value,
        }
    return out


def model_text(model: Model, found: Calibration, findings: tuple[Finding, ...]) -> str:
    """The model file, with verdict and intervals in comments; it reads back as the same model."""
    head = [f"# {line}" for line in textwrap.wrap(f"Calibrated on trajectories: {verdict(findings)}.", 110)]
    head.append(f"# {100 * LEVEL:g}% intervals:")
    for name, band in found.intervals.items():
        table = _TABLES.get(name, "jumps." if name in NOISE_NAMES else "")
        head.append(f"#   {table}{name}: {band.low:.6g} to {band.high:.6g}")
    return "\n".join(head) + "\n\n" + tomli_w.dumps(model.to_dict()).rstrip()
