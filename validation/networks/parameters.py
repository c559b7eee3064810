"""Draws of the coordinates as numbers with names: what a model file holds, the exponent, and the phase of each draw.

The catch is a quantity that a draw does not have, such as the exponent of a model without a root: it is NaN, and an
interval is over those that have it, with their share said beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.closed_form import closed_form
from solver.exponent import phase, spectral_exponent
from solver.model import Model
from validation.networks.likelihood import DRIFT, drift_of, width_of
from validation.networks.noise_law import Noise

Array = NDArray[np.float64]

# The names in a model file, in reading order; `tail_exponent` is the root, or the tempering where there is none.
DRIFT_NAMES = ("left", "right", "center", "width")
NOISE_NAMES = ("diffusion", "intensity", "stability", "tempering")
THEORY_NAMES = ("exponent", "tail_exponent")
LEVEL = 0.9


@dataclass(frozen=True)
class Interval:
    """Ends of a central interval at LEVEL, and the share of draws that have the quantity at all."""

    low: float
    high: float
    share: float = 1.0

    def holds(self, value: float) -> bool:
        """Whether a value lies inside."""
        return self.low <= value <= self.high


def model_of(theta: Array) -> Model:
    """The model of one θ."""
    noise = Noise.of(theta[DRIFT:])
    return Model(drift_of(theta), noise.diffusion, noise.jumps)


def numbers_of(model: Model) -> dict[str, float]:
    """Names and values of a logistic model with tempered stable jumps or none; also exponent and tail exponent."""
    drift, jumps = model.drift, model.jumps
    out = {name: float(getattr(drift, name)) for name in DRIFT_NAMES} | {"diffusion": model.diffusion}
    if jumps is not None:
        out |= {name: float(getattr(jumps, name)) for name in NOISE_NAMES[1:]}
    theory = closed_form(model)
    return out | {"exponent": theory.exponent, "tail_exponent": theory.tail.exponent}


def columns(theta: Array) -> dict[str, Array]:
    """The same for draws (n, p), an array (n,) each; NaN where a draw has no such number."""
    out = {name: theta[:, place] for place, name in enumerate(DRIFT_NAMES)}
    out["width"] = np.array([width_of(float(x)) for x in theta[:, 3]])
    noises = [Noise.of(row) for row in theta[:, DRIFT:]]
    out["diffusion"] = np.array([noise.diffusion for noise in noises])
    confined = out["left"] > 0
    kappa = np.where(confined, out["left"], 1.0)
    if theta.shape[1] == DRIFT + 1:
        beta = tail = kappa / out["diffusion"]
    else:
        for name in NOISE_NAMES[1:]:
            out[name] = np.array([getattr(noise.jumps, name) for noise in noises])
        law = (out["intensity"], out["stability"], out["tempering"])
        beta = spectral_exponent(kappa, out["diffusion"], law[0], law[1], law[2])
        tail = np.where(np.isnan(beta), out["tempering"], beta)
    return out | {"exponent": np.where(confined, beta, np.nan), "tail_exponent": np.where(confined, tail, np.nan)}


def intervals(drawn: Mapping[str, Array]) -> dict[str, Interval]:
    """Central intervals at LEVEL of every column; a column that no draw has is left out."""
    out = {}
    for name, values in drawn.items():
        held = values[np.isfinite(values)]
        if held.size:
            low, high = np.quantile(held, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
            out[name] = Interval(float(low), float(high), held.size / values.size)
    return out


def phases(drawn: Mapping[str, Array]) -> dict[str, float]:
    """Share of draws in each phase, the most frequent first; "none" is a drift that does not restore on a side."""
    left, diffusion = drawn["left"], drawn["diffusion"]
    # without jumps any legal law of intensity 0 serves, as in `closed_form`
    legal = {"intensity": 0.0, "stability": 1.0, "tempering": 0.0}
    law = [drawn[name] if name in drawn else np.full(left.shape, value) for name, value in legal.items()]
    words = phase(left, diffusion, law[0], law[1], law[2])
    words = np.where((left > 0) & (drawn["right"] > 0), words, "none")
    return {word: count / left.size for word, count in Counter(map(str, words)).most_common()}


def correlations(drawn: Mapping[str, Array]) -> tuple[tuple[str, ...], Array]:
    """Names and the matrix of correlations of the parameters over the draws."""
    names = tuple(name for name in (*DRIFT_NAMES, *NOISE_NAMES) if name in drawn)
    return names, np.corrcoef([drawn[name] for name in names])
