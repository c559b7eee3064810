"""What may be wrong with data or model, each as one sentence with its numbers; told before anything is fitted.

    too-few        not enough steps to tell four numbers of the noise apart
    remembers      increments are correlated, at every stride that leaves enough of them
    common         units move together: they are not a population of independent ones
    trend          the spectrum of the last third is not that of the first
    left, right    the mean increment at an end does not point inwards

The catch of tests is size: with a million steps anything is significant, with a thousand nothing is. So a correlation
must also be large to count, and a drift must be SHOWN to restore: "not significant" is not a pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.networks.bootstrap import block_weights
from validation.networks.likelihood import Steps
from validation.networks.steps import Memory, memory, remaining, steps_of

Array = NDArray[np.float64]

# Below these: a bootstrap over fewer than 30 checkpoints has no tails, and 2000 steps say nothing about α (40 times as
# many leave its 90% interval 0.3 to 1.7 wide, docs/validation.md).
FEWEST_CHECKPOINTS, FEWEST_STEPS = 30, 2000
# A correlation below this moves a drift or a variance by less than 20%; significance as for `trend`.
REMEMBERS = 0.1
# Six quantities are looked at (three quantiles, lag one, two ends): |z| > 3.5 happens by chance in 3 of 1000 runs.
Z = 3.5
# Strides tried after 1.
STRIDES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25)
# Share of the variance of increments that units may have in common: above, a hundred units count as ten or fewer.
COMMON = 0.1
# Share of the steps at either end whose mean increment must point inwards, and by how many standard errors.
END, SHOWN = 0.1, 2.0
_RESAMPLES = 400

# Findings that say "not enough was seen" rather than "the model does not hold".
UNDECIDED = ("too-few", "no-left-tail", "coarse")


@dataclass(frozen=True)
class Finding:
    """One thing that was found; a fatal one means that the model is not shown to describe the data."""

    kind: str
    message: str
    fatal: bool


@dataclass(frozen=True, eq=False)
class Prepared:
    """Steps at the stride that was chosen, what they remember, and what was found."""

    steps: Steps
    stride: int
    memory: Memory
    finest: Memory  # at stride 1, in checkpoints
    findings: tuple[Finding, ...]

    @property
    def block(self) -> int:
        """Checkpoints that are drawn together."""
        return max(1, math.ceil(self.memory.time)) if _remembers(self.memory) else 1


def prepare(zeta: Array, interval: float) -> Prepared:
    """Choose a stride and look at everything that needs no fit; ζ is (checkpoints, units), NaN where missing."""
    finest = memory(remaining(steps_of(zeta, interval), zeta, 1)) if steps_of(zeta, interval).x.size else None
    chosen, found = 1, []
    if finest is not None and _remembers(finest):
        chosen, message, fatal = _stride(zeta, interval, finest)
        found.append(Finding("remembers", message, fatal))
    steps = steps_of(zeta, interval, chosen)
    if too_few(steps):
        found.insert(0, Finding("too-few", _few(steps), True))
    if finest is None or steps.x.size < 10 or np.ptp(steps.x) == 0:
        return Prepared(steps, 1, Memory(0.0, math.inf, 1.0, 0.0), Memory(0.0, math.inf, 1.0, 0.0), tuple(found))
    kept = memory(remaining(steps, zeta, chosen))
    if kept.common > COMMON:
        units = zeta.shape[1]
        worth = units / (1 + (units - 1) * kept.common)
        found.append(
            Finding(
                "common",
                f"units move together: {100 * kept.common:.0f}% of the variance of their "
                f"increments is common to all, so that {units} units tell as much as {worth:.1f}",
                True,
            )
        )
    found += trend(zeta)
    prepared = Prepared(steps, chosen, kept, finest, ())
    block = prepared.block if chosen > 1 or not _remembers(finest) else max(1, math.ceil(finest.time))
    found += ends(steps, block)
    return Prepared(steps, chosen, kept, finest, tuple(found))


def too_few(steps: Steps) -> bool:
    """Whether there are fewer steps or checkpoints than any fit needs."""
    return steps.x.size < FEWEST_STEPS or steps.checkpoints < FEWEST_CHECKPOINTS


def _few(steps: Steps) -> str:
    return (
        f"too few increments: {steps.x.size} over {steps.checkpoints} intervals; "
        f"{FEWEST_STEPS} over {FEWEST_CHECKPOINTS} are the least that can tell"
    )


def _remembers(found: Memory) -> bool:
    return abs(found.first) > REMEMBERS and abs(found.first) > Z * found.error


def _stride(zeta: Array, interval: float, finest: Memory) -> tuple[int, str, bool]:
    """The first stride whose increments do not remember, a sentence, and whether there is none."""
    sign = "remember" if finest.first > 0 else "undo one another (errors of the measured τ do that)"
    text = (
        f"increments {sign}: correlation {finest.first:.2f} ± {finest.error:.2f} at lag one, "
        f"memory time 1 + 2 Σ ρ = {finest.time:.1f} checkpoints"
    )
    for stride in STRIDES[1:]:
        steps = steps_of(zeta, interval, stride)
        if too_few(steps):
            return 1, f"{text}; no coarser interval leaves both independence and enough increments", True
        found = memory(remaining(steps, zeta, stride))
        if abs(found.first) <= REMEMBERS:
            return stride, f"{text}; one checkpoint in {stride} is used, where it is {found.first:.2f}", False
    return 1, f"{text}; so they do at every interval up to {STRIDES[-1]} checkpoints", True


def trend(zeta: Array) -> list[Finding]:
    """Whether the 5, 50 and 95% points move between the first and last third, unit by unit.

    A unit's share of time below a fixed point, last third less first: over independent units a paired t-test, whatever
    each unit's memory is.

    >>> rng = np.random.default_rng(0)
    >>> still = rng.standard_normal((90, 100))
    >>> [len(trend(still)), trend(still + 0.01 * np.arange(90)[:, None])[0].kind]
    [0, 'trend']
    """
    third = zeta.shape[0] // 3
    if third < 1:
        return []
    first, last = zeta[:third], zeta[-third:]
    both = np.isfinite(first).any(axis=0) & np.isfinite(last).any(axis=0)
    if both.sum() < 2:
        return []
    moved = []
    for share in (0.05, 0.5, 0.95):
        point = float(np.quantile(zeta[np.isfinite(zeta)], share))
        gain = _share_below(last[:, both], point) - _share_below(first[:, both], point)
        error = float(gain.std(ddof=1)) / math.sqrt(gain.size)
        mean = float(gain.mean())
        z = mean / error if error > 0 else (math.copysign(math.inf, mean) if mean else 0.0)
        if abs(z) > Z:
            before, after = (float(np.quantile(part[np.isfinite(part)], share)) for part in (first, last))
            moved.append(f"{100 * share:g}% point of ζ from {before:.3g} to {after:.3g} (z = {-z:.1f})")
    if not moved:
        return []
    return [Finding("trend", f"not stationary: from the first third to the last, the {'; the '.join(moved)}", True)]


def _share_below(part: Array, point: float) -> Array:
    there = np.isfinite(part)
    return np.asarray((there & (part < point)).sum(axis=0) / there.sum(axis=0))


def end_means(steps: Steps, block: int) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """(edge ζ, mean rate, its standard error by blocks of checkpoints) of the lowest and the highest tenth of ζ."""
    low, high = (float(q) for q in np.quantile(steps.x, [END, 1 - END]))
    rate = (steps.y - steps.x) / steps.interval
    weights = block_weights(steps.checkpoints, block, _RESAMPLES, np.random.default_rng(0))
    out = []
    for edge, inside in ((low, steps.x <= low), (high, steps.x >= high)):
        count = np.bincount(steps.checkpoint[inside], minlength=steps.checkpoints)
        total = np.bincount(steps.checkpoint[inside], rate[inside], steps.checkpoints)
        drawn = weights @ count
        means = (weights @ total)[drawn > 0] / drawn[drawn > 0]
        out.append((edge, float(total.sum() / count.sum()), float(means.std(ddof=1))))
    return out[0], out[1]


def ends(steps: Steps, block: int) -> list[Finding]:
    """Whether the mean increment points inwards at both ends, beyond doubt."""
    found = []
    for kind, sign, (edge, mean, error) in zip(("left", "right"), (1, -1), end_means(steps, block), strict=True):
        if sign * mean > SHOWN * error and sign * mean > 0:
            continue
        outwards = sign * mean < -SHOWN * error
        where = "slowest" if kind == "left" else "fastest"
        how = "points outwards" if outwards else "is not shown to point inwards"
        found.append(
            Finding(
                kind,
                f"the drift does not restore on the {kind}: for the {where} tenth "
                f"(ζ {'<' if sign > 0 else '>'} {edge:.3g}) the mean rate {how}: {mean:.2g} ± {error:.2g} per unit "
                "of time",
                True,
            )
        )
    return found
