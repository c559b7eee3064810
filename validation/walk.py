"""A batch of walkers under dζ = F dt + noise: half a step of the drift, the noise of a step, half a step of the drift.

    ζ → φ_{t/2} ( φ_{t/2}(ζ) + ξ ),    φ the flow of the drift, ξ the increment of all noise over t

The splitting of Strang: both parts are exact alone, so the error is that of alternating them, of order t² in the law
(a linear drift of rate r: the variance is low by (r t)²/6 of itself; Euler's is high by r t/2). Half steps that meet
are taken as one. A drift however steep only carries walkers towards its zero: nothing needs to be tamed.

The catch is that t is still an error. So a batch can walk twice under the SAME noise, in steps of t and of t/2 whose
increments add up to the same: the two differ by the error of the step, and by hardly any chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.errors import ModelError
from solver.model import Model
from validation.flow import Flow, flow_map
from validation.increments import BIAS, Noise, noise

Array = NDArray[np.float64]
Advance = Callable[[int], None]

# Steps between two reports of progress: some tens of milliseconds.
_REPORT = 50


@dataclass(frozen=True, eq=False)
class Scheme:
    """The maps of one step of length `dt`; it is made once and serves every batch."""

    dt: float
    half: Flow
    whole: Flow
    noise: Noise

    @classmethod
    def of(cls, model: Model, dt: float, bias: float = BIAS) -> Scheme:
        """The scheme of a model; `bias` as in `validation.increments`."""
        return cls(dt, flow_map(model.drift, dt / 2), flow_map(model.drift, dt), noise(model, dt, bias))


@dataclass(frozen=True)
class Schedule:
    """When a batch is looked at, in steps: after `burn`, then after every `stride`, `records` times in all."""

    burn: int
    stride: int = 1
    records: int = 1

    @property
    def steps(self) -> int:
        """Steps of a walker."""
        return self.burn + (self.records - 1) * self.stride

    def gaps(self) -> list[int]:
        """Steps before each record."""
        return [self.burn, *[self.stride] * (self.records - 1)]


def walk(
    scheme: Scheme, start: Array, schedule: Schedule, rng: np.random.Generator, advance: Advance | None = None
) -> Array:
    """ζ at the records, shape (records, walkers), from `start` (walkers,). `advance` hears of walkers x steps done.

    Raises ModelError for a walker that left the range of a double.

    >>> from solver.drifts import LinearDrift
    >>> still = Scheme.of(Model(LinearDrift(1.0), 1e-300, None), 0.5)
    >>> walk(still, np.array([1.0, 2.0]), Schedule(2), np.random.default_rng(0)).round(6).tolist()
    [[0.367879, 0.735759]]
    """
    z, out = scheme.half(start), np.empty((schedule.records, start.size))
    done = 0
    for record, gap in enumerate(schedule.gaps()):
        for _ in range(gap):
            z = (scheme.whole(z) if done else z) + scheme.noise.draw(rng, start.size)
            done += 1
            _report(advance, done, schedule, start.size)
        out[record] = scheme.half(z)
        _require_finite(out[record])
    return out


def walk_twice(
    coarse: Scheme,
    fine: Scheme,
    start: Array,
    schedule: Schedule,
    rng: np.random.Generator,
    advance: Advance | None = None,
) -> Array:
    """The same batch in steps of `coarse` and of `fine`, half as long, under one noise: shape (2, records, walkers)."""
    z, y = coarse.half(start), fine.half(start)
    out = np.empty((2, schedule.records, start.size))
    done = 0
    for record, gap in enumerate(schedule.gaps()):
        for _ in range(gap):
            first, second = (fine.noise.draw(rng, start.size) for _ in range(2))
            z = (coarse.whole(z) if done else z) + (first + second)
            y = fine.whole((fine.whole(y) if done else y) + first) + second
            done += 1
            _report(advance, done, schedule, start.size)
        out[:, record] = coarse.half(z), fine.half(y)
        _require_finite(out[:, record])
    return out


def _report(advance: Advance | None, done: int, schedule: Schedule, walkers: int) -> None:
    if advance is not None and (done % _REPORT == 0 or done == schedule.steps):
        advance(walkers * (done % _REPORT or _REPORT))


def _require_finite(zeta: Array) -> None:
    if not np.isfinite(zeta).all():
        raise ModelError(
            f"jumps: {int((~np.isfinite(zeta)).sum())} of {zeta.size} walkers left the range of a double; "
            "untempered jumps of a stability this small cannot be walked"
        )
