"""Tails whose law needs no branch point: one exponential, a sum of known powers, or a form fitted without knowledge.

    flat       ln ρ + βs comes to rest, faster than any power                       the root, or no jumps at all
    powers     ln ρ = ln C - q s-power - …, the powers known                        no tempering
    expanded   ln ρ = ln C - βs + p ln s + c_1/s + c_2/s² + …                       a drift that approaches its limit
    as 1/s

The catch: the last is a series that is cut; over a factor of a few in depth its terms look alike. What windows and
numbers of terms disagree about is its uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# ln ρ + βs counts as at rest within this share of |ln ρ| (the spectral radius is right to 5e-13 at worst).
_REST = 2e-12
# At rest from one depth to eight times that: a power of the depth would have moved by p ln 8.
_LATER = 8.0
# Windows of the expanded form, as shares of the greatest depth, and its numbers of inverse powers.
_STARTS, _INVERSE = (0.15, 0.25, 0.4), (3, 4, 5)
_SAFETY = 3.0  # times what windows and orders disagree about


@dataclass(frozen=True)
class PlainReading:
    """ln C, exponent and power with their uncertainties; `settled`: is the form what the data show?"""

    log_constant: float
    exponent: float
    power: float
    constant_error: float
    exponent_error: float
    power_error: float
    settled: bool


def flat(depths: Array, log_density: Array, exponent: float) -> PlainReading:
    """The first depth at which ln ρ + exponent·s is at rest, for good; `depths` ascending."""
    rest = log_density + exponent * depths
    allowed = _REST * (1.0 + np.abs(log_density))
    later = np.abs(rest[None, :] - rest[:, None]) <= np.maximum(allowed[None, :], allowed[:, None])
    upper = np.triu(np.ones(later.shape, dtype=bool), 1)
    still = (later | ~upper).all(axis=1) & (depths <= 0.5 * depths[-1] / _LATER)
    if not still.any():
        return PlainReading(float(rest[-1]), exponent, 0.0, np.inf, np.inf, np.inf, False)
    k = int(np.argmax(still))
    k = int(np.argmax(depths >= 2 * depths[k]))  # what is left there is the square of what was left
    near = (depths >= depths[k]) & (depths <= _LATER * depths[k])
    moved = float(np.abs(rest[near] - rest[k]).max())
    slope = abs(float(np.polyfit(np.log(depths[near]), rest[near], 1)[0])) if near.sum() > 1 else moved
    constant_error = moved + float(allowed[k])
    return PlainReading(
        float(rest[k]), exponent, 0.0, constant_error, _REST * exponent, slope + float(allowed[k]), True
    )


def powers(depths: Array, log_density: Array, known: tuple[float, ...]) -> PlainReading:
    """ρ = Σ_j a_j s^{-q_j} with known q: the coefficient of the slowest, by least squares."""
    q = np.asarray(known)
    scaled = log_density + q[0] * np.log(depths)
    reference = float(scaled[-1])
    columns = np.exp(np.multiply.outer(np.log(depths / depths[0]), q[0] - q))
    data = np.exp(scaled - reference)
    found, *_ = np.linalg.lstsq(columns / data[:, None], np.ones(depths.size), rcond=1e-13)
    misfit = float(np.abs(columns @ found / data - 1.0).max())
    error = misfit + abs(float(np.log(found[0] / data[-1]))) * 1e-10 if found[0] > 0 else np.inf
    value = reference + float(np.log(found[0])) if found[0] > 0 else np.nan
    return PlainReading(value, 0.0, -float(q[0]), error, 0.0, misfit, bool(misfit < 1e-6))


def expanded(depths: Array, log_density: Array, exponent: float | None = None) -> PlainReading:
    """ln C - βs + p ln s + Σ c_k s^{-k} by least squares; β is fitted too unless given."""
    answers = []
    for share in _STARTS:
        inside = depths >= share * depths[-1]
        s, y = depths[inside], log_density[inside]
        fixed = 0.0 if exponent is None else exponent
        for count in _INVERSE:
            inverse = (s[:, None] / s[0]) ** -np.arange(1.0, count + 1)
            columns = np.column_stack([np.ones(s.size), np.log(s / s[0]), inverse])
            if exponent is None:
                columns = np.column_stack([columns, -(s - s[0]) / s[0]])
            size = np.linalg.norm(columns, axis=0)
            c = np.linalg.lstsq(columns / size, y + fixed * s, rcond=1e-15)[0] / size
            beta = fixed if exponent is not None else float(c[-1] / s[0])
            constant = float(c[0] - c[1] * np.log(s[0])) + (float(c[-1]) if exponent is None else 0.0)
            answers.append((constant, beta, float(c[1])))
    table = np.array(answers)
    middle = table[len(_INVERSE) + 1]  # the middle window, the middle number of terms
    near = np.delete(table, len(_INVERSE) + 1, axis=0)
    errors = _SAFETY * np.sort(np.abs(near - middle), axis=0)[: len(answers) // 2].max(axis=0)
    (constant, beta, power), (e_constant, e_beta, e_power) = middle.tolist(), errors.tolist()
    return PlainReading(constant, beta, power, e_constant, e_beta, e_power, settled=False)
