"""A model of the log rates of a network from their trajectories, with intervals, or the reasons why there is none.

First what needs no fit (`findings`): enough steps, no memory, no trend, a drift that restores. If that fails nothing is
fitted, unless `anyway` asks for it. Then the fit, its draws, and what only they can tell: whether the plateau was seen,
whether the fitted law describes the steps, what trades off.

The catch is the word "described": it says that nothing was found against the model, at the power these data have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import array, number, positive
from solver.errors import ModelError
from solver.model import Model
from validation.networks.bootstrap import Draws, draw
from validation.networks.findings import UNDECIDED, Finding, Prepared, prepare
from validation.networks.fit import Fit, fit
from validation.networks.goodness import Goodness, goodness
from validation.networks.likelihood import DRIFT, drift_of, drift_residuals
from validation.networks.parameters import Interval, columns, correlations, model_of, numbers_of, phases
from validation.networks.profile import all_intervals

Array = NDArray[np.float64]

# κ is seen where F is within 10% of it; fewer steps from there than this leave it to the form of the fit.
PLATEAU, SEEN = 0.1, 100
# Below this interval x steepest slope of F a bias that cannot be told is none: 5% of κ at 0.25, as the square of it.
SHORT = 0.1
# A shift below this many standard errors of everything is not worth a word.
WORTH = 1.0
# Correlations between draws above this are told.
TELLING = 0.7


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """A calibrated model, or None where nothing was fitted, with its evidence.

    `intervals` hold 90% by name; `correlations` the matrix over `names`; `exponent` is β of the model (NaN: no root or
    no model); `phases` the share of draws in each.
    """

    model: Model | None
    intervals: Mapping[str, Interval]
    names: tuple[str, ...]
    correlations: Array
    exponent: float
    phases: Mapping[str, float]
    findings: tuple[Finding, ...]
    prepared: Prepared
    fit: Fit | None = None
    draws: Draws | None = None
    goodness: Goodness | None = None
    columns: Mapping[str, Array] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Calibration({self.verdict!r})"

    @property
    def described(self) -> bool:
        """Whether nothing fatal was found."""
        return not any(finding.fatal for finding in self.findings)

    @property
    def verdict(self) -> str:
        """One sentence."""
        return verdict(self.findings)


def verdict(findings: tuple[Finding, ...]) -> str:
    """One sentence on fatal findings; it never says more than they do.

    >>> verdict((Finding("trend", "", True),))
    'the model does not describe these data (trend)'
    """
    fatal = [finding.kind for finding in findings if finding.fatal]
    if not fatal:
        return "the model describes these data"
    listed = ", ".join(dict.fromkeys(fatal))
    if all(kind in UNDECIDED for kind in fatal):
        return f"these data cannot tell ({listed})"
    return f"the model does not describe these data ({listed})"


def calibrate(
    zeta: ArrayLike,
    interval: float = 1.0,
    window: tuple[int | None, int | None] | None = None,
    seed: int = 0,
    anyway: bool = False,
) -> Calibration:
    """Calibrate a logistic drift, diffusion and tempered stable jumps on ζ (checkpoints, units), NaN where missing.

    `interval` is the time between rows, in the unit that rates are wanted in; `window` the first row and the one after
    the last, as in a slice. With `anyway` a model is fitted whatever was found before: it is then a description of
    nothing in particular, and `described` stays False. Raises ModelError for a table or argument that is out of range.

    >>> from solver.presets import load_preset
    >>> from validation.networks.recovery import trajectories
    >>> found = calibrate(trajectories(load_preset("pure-diffusion"), 100, 150), interval=0.1)
    >>> found.described, found.intervals["exponent"].holds(2.0)
    (True, True)
    """
    table = array("zeta", zeta)
    if table.ndim != 2 or table.size == 0:
        raise ModelError(f"zeta: shape {table.shape}: must be (checkpoints, units)")
    if np.isinf(table).any():
        raise ModelError(f"zeta: {int(np.isinf(table).sum())} infinite values: must be finite, or NaN where missing")
    interval = positive("interval", interval)
    number("seed", seed, low=0, integer=True)
    seed = int(seed)  # not of the double, which has 53 bits
    if window is not None:
        table = table[slice(*window)]
    if table.shape[0] < 2:
        raise ModelError(f"window = {window}: holds {table.shape[0]} rows, needs 2")
    prepared = prepare(table, interval)
    stopped = any(finding.fatal for finding in prepared.findings)
    if stopped and not (anyway and prepared.steps.x.size >= 10 * DRIFT and np.ptp(prepared.steps.x) > 0):
        return Calibration(None, {}, (), np.zeros((0, 0)), np.nan, {}, prepared.findings, prepared)
    return _fitted(prepared, np.random.default_rng(seed))


def _fitted(prepared: Prepared, rng: np.random.Generator) -> Calibration:
    steps = prepared.steps
    found = fit(steps, rng)
    counts = found.cells.counts(drift_residuals(steps, found.theta[:DRIFT])[0])
    block = min(prepared.block, max(1, steps.checkpoints // 4))  # four blocks at least
    draws = draw(found, counts, steps.interval, block, rng)
    drawn = columns(draws.theta)
    names, matrix = correlations(drawn)
    model, judged = model_of(found.corrected), goodness(steps, found)
    numbers = numbers_of(model)
    findings = [
        *prepared.findings,
        *(judged.findings() if found.shift.settled else ()),  # else a misfit may be the splitting's own
        *_after(prepared, found, draws, dict(zip(names, matrix, strict=True)), names),
    ]
    return Calibration(
        model,
        all_intervals(found, counts, steps.interval, draws),
        names,
        matrix,
        numbers["exponent"],
        phases(drawn),
        tuple(findings),
        prepared,
        found,
        draws,
        judged,
        drawn,
    )


def _after(
    prepared: Prepared, found: Fit, draws: Draws, rows: Mapping[str, Array], names: tuple[str, ...]
) -> list[Finding]:
    """What only a fit can tell."""
    out: list[Finding] = []
    drift, steps = drift_of(found.corrected), prepared.steps
    seen = int((drift(steps.x) >= (1 - PLATEAU) * drift.left).sum()) if drift.left > 0 else 0
    low, high = np.quantile(draws.theta[:, 0], [0.05, 0.95])
    if seen < SEEN or not 0 < low < high < 3 * low:
        few = f"{seen} steps start where the fitted drift is within {100 * PLATEAU:g}% of it"
        out.append(
            Finding(
                "no-left-tail",
                f"the left plateau was not seen ({few}): κ = {drift.left:.3g} "
                f"({low:.3g} to {high:.3g}) is extrapolated, and β with it",
                True,
            )
        )
    out += _coarse(found, steps.interval)
    noise = [name for name in names if name in ("diffusion", "intensity", "stability", "tempering")]
    told = [
        f"{a} and {b} {rows[a][names.index(b)]:+.2f}"
        for i, a in enumerate(noise)
        for b in noise[i + 1 :]
        if abs(rows[a][names.index(b)]) > TELLING
    ]
    if told:
        out.append(
            Finding(
                "trade-off",
                f"these trade off, so that one alone means little: {', '.join(told)} (correlations over the draws)",
                False,
            )
        )
    if found.theta.size == DRIFT + 1:
        out.append(Finding("no-jumps", "diffusion alone describes the increments; jumps do not improve on it", False))
    return out


def _coarse(found: Fit, interval: float) -> list[Finding]:
    """What a long interval did to the fit, and whether it could be undone."""
    drift = drift_of(found.corrected)
    slope = interval * (drift.left + drift.right) / (4 * drift.width)
    text = f"the interval is long (interval x steepest drift slope = {slope:.2g}): "
    if not found.shift.settled:
        if abs(slope) < SHORT:
            return []
        what = "what happens between two looks cannot be told"
        if not 0 < slope < 100:  # the slope of a step that the data do not hold
            text = "the drift is held too loosely to take the bias of the interval off: "
        return [Finding("coarse", text + what, True)]
    if found.shift.by @ found.information @ found.shift.by < WORTH**2:
        return []
    before = drift_of(found.theta)
    moved = f"left {before.left:.4g} to {drift.left:.4g}, right {before.right:.4g} to {drift.right:.4g}, "
    moved += f"width {before.width:.4g} to {drift.width:.4g}"
    return [Finding("coarse", f"{text}its bias was taken off, which moved {moved}", False)]
