"""Do the intervals hold? Trajectories of known models, fitted again and again: coverage and error of every parameter.

The catch: a trajectory is walked by the same splitting as the fit rests on, but in steps so short (an eighth of the
interval: 1/64 of the bias) that the data know nothing of it. A quarter was not enough: of a broad model at an interval
of 0.25 the width then came out 4% too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.drifts import LogisticDrift, TanhDrift
from solver.errors import ModelError
from solver.extras import extra
from solver.model import Model
from solver.presets import load_preset
from solver.stationary import solve_stationary
from validation.networks.bootstrap import draw
from validation.networks.fit import fit
from validation.networks.likelihood import DRIFT, Steps, drift_residuals
from validation.networks.parameters import model_of, numbers_of
from validation.networks.profile import all_intervals
from validation.walk import Schedule, Scheme, walk

Array = NDArray[np.float64]

# One of each phase, and the border; all have a drift of unit plateau and width.
PHASES = ("concentrated", "broad", "critical", "collapsed", "pure-diffusion")
# Time between checkpoints, in units of the drift's own: ten to a relaxation.
INTERVAL = 0.1
_SUBSTEPS = 8


@dataclass(frozen=True)
class Row:
    """One parameter of one model over all runs: how often its 90% interval held the truth, and how far the fit was."""

    preset: str
    name: str
    truth: float
    runs: int
    covered: float
    median_error: float  # of |estimate - truth|/|truth|, or absolute where the truth is 0
    largest_error: float
    median_width: float  # of the interval


def trajectories(model: Model, units: int, steps: int, interval: float = INTERVAL, seed: int = 0) -> Array:
    """ζ of `units` independent units at steps + 1 checkpoints, from the stationary law, shape (steps + 1, units).

    >>> trajectories(load_preset("concentrated"), 5, 3).shape
    (4, 5)
    """
    rng = np.random.default_rng(seed)
    start = np.asarray(solve_stationary(model, rtol=1e-6).rvs(units, random_state=rng))
    scheme = Scheme.of(model, interval / _SUBSTEPS, bias=1e-6)
    return np.vstack([start, walk(scheme, start, Schedule(_SUBSTEPS, _SUBSTEPS, steps), rng)])


def logistic(model: Model) -> Model:
    """The same model with its tanh written as the logistic step that is fitted."""
    drift = model.drift
    if isinstance(drift, LogisticDrift):
        return model
    if not isinstance(drift, TanhDrift):
        raise ModelError(f"drift: a {drift.kind} drift is no logistic step")
    same = LogisticDrift(drift.plateau, drift.plateau, drift.center, drift.width / 2)
    return Model(same, model.diffusion, model.jumps)


def steps_from(model: Model, units: int, steps: int, interval: float, seed: int) -> Steps:
    """The steps of simulated trajectories, checkpoint after checkpoint."""
    zeta = trajectories(model, units, steps, interval, seed)
    return Steps(zeta[:-1].ravel(), zeta[1:].ravel(), np.repeat(np.arange(steps), units), steps, interval)


def recover(model: Model, units: int, steps: int, interval: float = INTERVAL, seed: int = 0) -> dict[str, Array]:
    """One run: name → (estimate, low, high) of everything the fit found."""
    taken, rng = steps_from(model, units, steps, interval, seed), np.random.default_rng(seed)
    found = fit(taken, rng)
    counts = found.cells.counts(drift_residuals(taken, found.theta[:DRIFT])[0])
    held = all_intervals(found, counts, interval, draw(found, counts, interval, 1, rng))
    numbers = numbers_of(model_of(found.corrected))
    return {name: np.array([numbers[name], band.low, band.high]) for name, band in held.items()}


@dataclass(frozen=True)
class Undone:
    """Mean relative errors of left, width and exponent: as the splitting has them, and with its bias taken off."""

    preset: str
    interval: float
    before: tuple[float, ...]
    after: tuple[float, ...]
    chance: tuple[float, ...]  # standard errors of the means after


UNDONE = ("left", "width", "exponent")


def undone(preset: str, units: int, steps: int, interval: float, runs: int) -> Undone:
    """What the splitting does to a fit at a long interval, and what is left of it."""
    model = logistic(load_preset(preset))
    truth, errors = numbers_of(model), []
    for seed in range(runs):
        found = fit(steps_from(model, units, steps, interval, seed), np.random.default_rng(seed))
        pair = [numbers_of(model_of(theta)) for theta in (found.theta, found.corrected)]
        errors.append([[numbers[name] / truth[name] - 1 for name in UNDONE] for numbers in pair])
    before, after = np.mean(errors, axis=0)
    chance = np.std(errors, axis=0, ddof=1)[1] / math.sqrt(runs)
    return Undone(preset, interval, *(tuple(map(float, row)) for row in (before, after, chance)))


def study(
    preset: str, units: int, steps: int, runs: int, first_seed: int = 0, interval: float = INTERVAL, jobs: int = 1
) -> list[Row]:
    """All parameters of one preset over `runs` runs; `jobs` processes do not change the result."""
    model = logistic(load_preset(preset))
    truth = {name: value for name, value in numbers_of(model).items() if np.isfinite(value)}
    if "exponent" in truth:
        del truth["tail_exponent"]  # the same number
    seeds = range(first_seed, first_seed + runs)
    if jobs == 1:
        found = [recover(model, units, steps, interval, seed) for seed in seeds]
    else:
        joblib = extra("joblib")
        task = joblib.delayed(recover)
        found = joblib.Parallel(n_jobs=jobs)(task(model, units, steps, interval, seed) for seed in seeds)
    return [_row(preset, name, value, found) for name, value in truth.items()]


def _row(preset: str, name: str, truth: float, found: Sequence[dict[str, Array]]) -> Row:
    # a run that found no such parameter (no jumps, say) did not cover it
    table = np.array([run.get(name, np.full(3, np.nan)) for run in found])
    covered = float(np.mean((table[:, 1] <= truth) & (truth <= table[:, 2])))
    error = np.abs(table[:, 0] - truth) / (abs(truth) or 1.0)
    known = error[np.isfinite(error)]
    middle, largest = (float(np.median(known)), float(known.max())) if known.size else (np.nan, np.nan)
    return Row(
        preset, name, truth, len(found), covered, middle, largest, float(np.nanmedian(table[:, 2] - table[:, 1]))
    )


def table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [
        "| model | parameter | truth | covered | median error | largest | median width |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.preset} | {row.name} | {row.truth:.4g} | {100 * row.covered:.0f}% of {row.runs} | "
            f"{row.median_error:.2g} | {row.largest_error:.2g} | {row.median_width:.2g} |"
        )
    return "\n".join(lines)


def undone_table(rows: Sequence[Undone]) -> str:
    """The rows as a table in Markdown."""
    lines = ["| model | interval | κ | width | β |", "|---|---|---|---|---|"]
    for row in rows:
        cells = [
            f"{100 * b:+.1f}% → {100 * a:+.1f} ± {100 * c:.1f}%"
            for b, a, c in zip(row.before, row.after, row.chance, strict=True)
        ]
        lines.append(f"| {row.preset} | {row.interval:g} | {' | '.join(cells)} |")
    return "\n".join(lines)
