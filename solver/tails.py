"""The law of a far tail, read from the solution: what rules it, its exponent, its power of the depth and its constant.

    ρ(ζ) ≈ e^{log_constant} e^{-exponent·s} s^{power} (ln s)^{log_power},     s = |ζ| → ∞                  (theory (36))

`tail_law` sees ln ρ at depths of its choice and what the elimination knows (`tail_data`), never the model. A tail that
comes to rest on one exponential is a root, or pure diffusion where nothing but neighbours exchange mass; one that is
pinned by its jumps is fitted by the singularity that makes it (`tail_fit`), which gives α, the constant and the
distance to the threshold at once. `compare_tail` (`tail_theory`) says what theory makes of the model.

The catch: an asymptotic law is reached at a depth, `holds_from`, that may be astronomical. And where root and branch
point lie closer than the density can tell, the answer is "threshold" for all depths that were looked at, or
"undecided".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import choice, instance, number
from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.tail_data import Elimination, TailData, tail_data
from solver.tail_plain import PlainReading, expanded, flat, powers
from solver.tail_singular import SingularReading, singular

Array = NDArray[np.float64]

# Depths sampled per tail, geometric.
_SAMPLES = 240
# A tail of powers is sampled to here: corrections of s^{-0.1} are below 4% there and known as powers.
_DEEPEST = 1e15
# An interior window, for a tail without continuation, needs room for a law.
_ROOM = 20.0


@dataclass(frozen=True)
class TailUncertainty:
    """Bounds on the errors of a TailLaw's numbers, never below what is seen against theory; inf where nothing is
    known."""

    exponent: float
    power: float
    log_constant: float


@dataclass(frozen=True)
class TailLaw:
    """One tail; the fields are those of the equation at the head of this module.

    `case`: "root", "threshold", "tempered", "diffusion", "stable", or "undecided" where the data cannot tell.
    `holds_from` is the depth from which on the law is within `within` of ρ, inf where that is deeper than can be
    said. `distance` is η_J*/η_J - 1 as the tail shows it (NaN where it does not). `sampled` is the greatest depth
    that was looked at, `reason` says in words what decided.
    """

    case: str
    exponent: float
    power: float
    log_constant: float
    holds_from: float
    uncertainty: TailUncertainty
    side: str = "left"
    log_power: int = 0
    within: float = 0.01
    distance: float = np.nan
    sampled: float = np.nan
    reason: str = ""

    @property
    def constant(self) -> float:
        """C = e^{log_constant}."""
        return float(np.exp(self.log_constant))

    def log_density(self, depth: ArrayLike) -> Array:
        """ln of the law at depths s = |ζ| > 0 (> 1 where there is a logarithm), any shape."""
        s = np.asarray(depth, dtype=float)
        return np.asarray(self.scaled(s) - self.exponent * s)

    def scaled(self, depth: Array) -> Array:
        """The same without the exponential."""
        logs = self.log_constant + self.power * np.log(depth)
        return np.asarray(logs + self.log_power * np.log(np.log(depth)) if self.log_power else logs)

    def __str__(self) -> str:
        error = self.uncertainty
        exponent = f"{self.exponent:.12g}"
        if error.exponent > 1e-12 * abs(self.exponent):  # else it is below the digits that are shown
            exponent = f"({exponent} ± {error.exponent:.1e})"
        law = f"ρ ≈ e^({self.log_constant:.10g} ± {error.log_constant:.1e}) e^(-{exponent} s)"
        law += f" s^({self.power:.9g} ± {error.power:.1e})" if self.power or error.power > 1e-6 else ""
        law += " / ln s" if self.log_power else ""
        holds = f"within {100 * self.within:g}% from s = {self.holds_from:.4g}"
        return f"{self.side} tail, {self.case}: {law}, s = |ζ|, {holds}"


def tail_law(density: StationaryDensity, side: str = "left", within: float = 0.01) -> TailLaw:
    """The law of the tail at ζ → -∞ ("left") or ζ → ∞ ("right"), without a look at the model.

    `within` is the relative accuracy of ρ that `holds_from` promises, in (0, 1). Raises ModelError for bad arguments.

    >>> from solver.drifts import TanhDrift
    >>> from solver.model import Model
    >>> from solver.stationary import solve_stationary
    >>> law = tail_law(solve_stationary(Model(TanhDrift(1.0), 0.5, None)))  # ρ = 1/(2 cosh² ζ) → 2 e^{2ζ}
    >>> law.case, round(law.exponent, 9), law.power, round(law.constant, 7), 2 < law.holds_from < 3
    ('diffusion', 2.0, 0.0, 2.0, True)
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    side = choice("side", side, ("left", "right"))
    within = number("within", within, low=0.0, high=1.0, open_low=True, open_high=True)
    return read_tail(tail_data(density, side), side, within)


def read_tail(data: TailData, side: str = "left", within: float = 0.01) -> TailLaw:
    """The law of plain data; `tail_law` without the density."""
    known = data.known
    if known is None:
        return _cut_off(data, side, within)
    if known.powers:
        return _untempered(data, known, side, within)
    depths = data.on_nodes(np.geomspace(_first(data), data.deepest - data.mode, _SAMPLES))
    log_density = data.log_density(depths)
    away = depths - data.mode
    if known.excess == 0 and known.doubt == 0:
        reading = flat(away, log_density, known.exponent)
        if reading.settled:
            case = "root" if known.jumps else "diffusion"
            reason = "one exponential is left, and it is " + (
                "slower than that of the jumps" if known.jumps else "made by neighbouring nodes alone"
            )
            return _plain(data, reading, case, reason, side, within, depths, log_density)
        reading = expanded(away, log_density, known.exponent)
        reason = "the decay rate is known, but what is left of ln ρ does not come to rest"
        return _plain(data, reading, "undecided", reason, side, within, depths, log_density)
    found = singular(away, log_density, known)
    return _singular(data, known, found, side, within, depths, log_density)


def _first(data: TailData) -> float:
    """The least distance from the mode that is sampled."""
    return max(data.nearest - data.mode, 4 * data.spacing)


def _cut_off(data: TailData, side: str, within: float) -> TailLaw:
    """A tail that ends at a stop edge: its numbers where it has any, its case never."""
    nothing = TailUncertainty(np.inf, np.inf, np.inf)
    if data.deepest - data.mode < _ROOM * 4 * data.spacing or data.deepest <= 1.0:
        return TailLaw("undecided", np.nan, np.nan, np.nan, np.inf, nothing, side, within=within, reason="no tail")
    depths = data.on_nodes(np.geomspace(max(data.nearest, 0.1 * data.deepest), data.deepest, _SAMPLES))
    log_density = data.log_density(depths)
    reason = "the density is cut off at a stop edge: the case cannot be seen, its numbers are those of a series"
    return _plain(data, expanded(depths, log_density), "undecided", reason, side, within, depths, log_density, 0.0)


def _untempered(data: TailData, known: Elimination, side: str, within: float) -> TailLaw:
    """Powers of the distance from the middle of the drift, which deep down is the depth."""
    depths = np.geomspace(max(10 * data.edge, 1.0), _DEEPEST, _SAMPLES)
    log_density = data.log_density(depths)
    reading = powers(depths, log_density, known.powers)
    near = np.geomspace(max(data.nearest, 1.0), max(10 * data.edge, 1.0), _SAMPLES)
    depths, log_density = np.concatenate([near, depths]), np.concatenate([data.log_density(near), log_density])
    reason = "no exponential: a sum of powers"
    case = "stable" if reading.settled else "undecided"
    return _plain(data, reading, case, reason, side, within, depths, log_density, 0.0)


def _plain(
    data: TailData,
    reading: PlainReading,
    case: str,
    reason: str,
    side: str,
    within: float,
    depths: Array,
    log_density: Array,
    mode: float | None = None,
) -> TailLaw:
    """Put a reading in distances from the mode into one in depths, with the density's own error."""
    shift = data.mode if mode is None else mode
    outer = data.deepest if data.known is None else 2 * max(data.edge, data.nearest)  # past the body, on the density
    # the error grows with depth only beyond the body, which may end later than the grid
    places = np.array([0.5 * outer, outer, 9 * outer, 10 * outer])[: 2 if data.known is None else 4]
    errors = data.error(places)
    own, slope = float(errors[1]), max(0.0, float(errors[-1] - errors[-2])) / float(places[-1] - places[-2])
    body = float(data.error(np.array([data.nearest]))[0])
    # what the density may be off further out, by what the drift does there, may be a power of the depth
    unseen = 0.0 if data.known is None else float(errors[-1] - errors[1]) / float(np.log(places[-1] / places[1]))
    error = TailUncertainty(
        reading.exponent_error + slope,
        reading.power_error + body + unseen,
        reading.constant_error + own + abs(shift) * (reading.exponent_error + slope),
    )
    law = TailLaw(
        case, reading.exponent, reading.power, reading.log_constant + reading.exponent * shift, np.inf, error, side,
        within=within, sampled=float(depths[-1]), reason=reason,
    )  # fmt: skip
    if error.log_constant > within or error.power > within:
        return law  # a law that is not known so well cannot be said to hold so well
    return holding(law, depths, log_density + law.exponent * depths)


def _singular(
    data: TailData,
    known: Elimination,
    found: SingularReading,
    side: str,
    within: float,
    depths: Array,
    log_density: Array,
) -> TailLaw:
    """The same for a tail that is pinned or next to the threshold."""
    own = float(data.error(np.array([data.edge]))[0])
    amplified = own * (1.0 + 2.0 / max(abs(found.distance), own)) if np.isfinite(found.distance) else own
    if found.case in ("threshold", "root"):
        amplified = own
    error = TailUncertainty(
        found.exponent_error,
        found.power_error,
        found.constant_error + amplified + abs(data.mode) * found.exponent_error,
    )
    law = TailLaw(
        found.case, known.exponent, found.power, found.log_constant + known.exponent * data.mode, np.inf, error, side,
        found.log_power, within, found.distance, float(depths[-1]), found.reason,
    )  # fmt: skip
    further, values = found.beyond(depths[-1] - data.mode)
    scaled = np.concatenate([log_density + law.exponent * depths, values + law.exponent * data.mode])
    return holding(law, np.concatenate([depths, further + data.mode]), scaled)


def holding(law: TailLaw, depths: Array, scaled: Array) -> TailLaw:
    """The law with `holds_from`: the first depth (ascending) from which on it stays within `within` of ρ.

    `scaled` is ln ρ + exponent·s, which keeps its digits where ln ρ is huge.
    """
    usable = depths > (np.e if law.log_power else 0.0)
    s, y = depths[usable], scaled[usable]
    if not s.size or not np.isfinite(law.log_constant):
        return law
    off = ~(np.abs(law.scaled(s) - y) <= np.log1p(law.within))
    last = int(np.flatnonzero(off)[-1]) if off.any() else -1
    return law if last + 1 >= s.size else replace(law, holds_from=float(s[last + 1]))


def require_law(law: TailLaw) -> TailLaw:
    """The law itself, or ModelError where it was not decided."""
    if law.case == "undecided":
        raise ModelError(f"{law.side} tail: {law.reason}; no law to build on")
    return law
