"""Increments of the noise over one step: what √(2 η_G) dW + dJ adds in a time t, exactly or to a stated bias.

    λ = 0             (A t)^{1/α} X, A = -symbol(1), X symmetric stable                       exact
    α < 1, λ > 0      S₊ - S₋, each one-sided stable and kept with probability e^{-λS}         exact
    α ≥ 1, λ > 0      jumps beyond a cut one by one, the rest as in `validation.small_jumps`  to `bias` a step
    Laplace           a Poisson number of them                                                exact
    no jumps          Gaussian                                                                exact

The catch is what the laws have in common: over n paths the number of jumps is Poisson with n times the mean, and each
falls on a path of its own choice. That is the same law as a Poisson number for every path, and costs one draw a jump.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma

from solver.checks import positive
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.laplace_jumps import LaplaceJumps
from solver.model import Model
from validation.small_jumps import small_jumps
from validation.stable_samples import log_one_sided, symmetric

Array = NDArray[np.float64]

# Kolmogorov distance of one increment from the exact law. A thousand steps of memory make it 1e-5 at most, a hundredth
# of what a million samples can see; a hundred times less would triple the jumps drawn.
BIAS = 1e-8


class Increments(ABC):
    """The law of the jumps' increment over a step; `bias` bounds its Kolmogorov distance from the exact one."""

    bias: float = 0.0

    @property
    def variance(self) -> float:
        """Of the Gaussian that is part of the law, and is added by `Noise`."""
        return 0.0

    @abstractmethod
    def jumps(self, rng: np.random.Generator, size: int) -> Array:
        """Everything but that Gaussian, shape (size,)."""


@dataclass(frozen=True)
class Noise:
    """Gaussian of variance 2 η_G t and jumps over a step, together."""

    law: Increments
    diffusion: float
    step: float

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Independent increments, shape (size,)."""
        out = self.law.jumps(rng, size)
        variance = 2 * self.diffusion * self.step + self.law.variance
        return out + math.sqrt(variance) * rng.standard_normal(size) if variance > 0 else out


def noise(model: Model, step: float, bias: float = BIAS) -> Noise:
    """The noise of a model over `step` > 0, its jumps exact or within `bias`.

    >>> from solver.drifts import LinearDrift
    >>> law = noise(Model(LinearDrift(1.0), 0.5, TemperedStableJumps(0.4, 0.7, 2.0)), 0.1)
    >>> draws = law.draw(np.random.default_rng(0), 100_000)
    >>> wanted = 0.1 * (2 * 0.5 + TemperedStableJumps(0.4, 0.7, 2.0).second_moment)
    >>> bool(abs(draws.var() / wanted - 1) < 0.03)
    True
    """
    law = NoJumps() if model.jumps is None else increments(model.jumps, step, bias)
    return Noise(law, model.diffusion, positive("step", step))


@functools.singledispatch
def increments(jumps: object, step: float, bias: float = BIAS) -> Increments:
    """The increments over `step` > 0 of a jump law. ModelError for a law that has no sampler."""
    raise ModelError(f"jumps = {jumps!r}: no sampler for {type(jumps).__name__}")


@increments.register
def _tempered_stable(jumps: TemperedStableJumps, step: float, bias: float = BIAS) -> Increments:
    step, alpha = positive("step", step), jumps.stability
    if jumps.tempering == 0:
        return StableIncrements(alpha, (-float(jumps.symbol(1.0)) * step) ** (1 / alpha))
    if alpha < 1:
        return TemperedIncrements.over(jumps, step)
    small = small_jumps(jumps, step, bias)
    return CutIncrements(jumps, step, small.cut, small.variance * step, small.atom, small.atom_rate, small.bias)


@increments.register
def _laplace(jumps: LaplaceJumps, step: float, bias: float = BIAS) -> Increments:
    return LaplaceIncrements(jumps.rate * positive("step", step), 1 / jumps.tempering)


@dataclass(frozen=True)
class NoJumps(Increments):
    """Nothing at all."""

    def jumps(self, rng: np.random.Generator, size: int) -> Array:
        return np.zeros(size)


@dataclass(frozen=True)
class LaplaceIncrements(Increments):
    """A Poisson number of two-sided exponential jumps of mean size `size`, `mean` of them over the step."""

    mean: float
    size: float

    def jumps(self, rng: np.random.Generator, size: int) -> Array:
        return scattered(rng, self.size * rng.standard_exponential(rng.poisson(self.mean * size)), size)


@dataclass(frozen=True)
class StableIncrements(Increments):
    """scale · X with E e^{ikX} = e^{-|k|^α}."""

    stability: float
    scale: float

    def jumps(self, rng: np.random.Generator, size: int) -> Array:
        with np.errstate(over="ignore"):  # the walk refuses what leaves the range of a double
            return self.scale * symmetric(self.stability, size, rng)


@dataclass(frozen=True)
class TemperedIncrements(Increments):
    """S₊ - S₋ for α < 1: the stable subordinator, tempered by rejection (Rosiński, Stoch. Proc. Appl. 117, 2007).

    Over a time t a stable S = (g t)^{1/α} S_α, g = η_J c Γ(1-α)/α, has E e^{-uS} = e^{-g t u^α}; kept with probability
    e^{-λS} it has the tempered law. E e^{-λS} = e^{-g t λ^α} are kept, so a long step is the sum of `parts` short ones
    of at most g t λ^α = 1: at least one draw in e is good.
    """

    stability: float
    tempering: float
    log_scale: float
    parts: int

    @classmethod
    def over(cls, jumps: TemperedStableJumps, step: float) -> TemperedIncrements:
        """The law over one step."""
        alpha = jumps.stability
        strength = jumps.strength * float(gamma(1 - alpha)) / alpha * step
        parts = max(1, math.ceil(strength * jumps.tempering**alpha))
        return cls(alpha, jumps.tempering, math.log(strength / parts) / alpha, parts)

    def jumps(self, rng: np.random.Generator, size: int) -> Array:
        count = size * self.parts
        halves = self._one_sided(rng, 2 * count)
        return np.asarray((halves[:count] - halves[count:]).reshape(self.parts, size).sum(axis=0))

    def _one_sided(self, rng: np.random.Generator, size: int) -> Array:
        out = np.empty(size)
        waiting = np.arange(size)
        while waiting.size:
            with np.errstate(over="ignore"):  # too large for a double is too large to be kept
                trial = np.exp(self.log_scale + log_one_sided(self.stability, waiting.size, rng))
            kept = rng.standard_exponential(waiting.size) >= self.tempering * trial
            out[waiting[kept]] = trial[kept]
            waiting = waiting[~kept]
        return out


@dataclass(frozen=True)
class CutIncrements(Increments):
    """Jumps beyond the cut, atoms and a Gaussian for those below it.

    Beyond the cut they are drawn from a law that is larger, and thinned: e^{-λε} z^{-1-α} (Pareto), kept with
    probability e^{-λ(z-ε)}, or ε^{-1-α} e^{-λz}, kept with probability (ε/z)^{1+α}; whichever has fewer.
    """

    law: TemperedStableJumps
    step: float
    cut: float
    gaussian: float
    atom: float
    atom_rate: float
    bias: float = 0.0

    @property
    def variance(self) -> float:
        return self.gaussian

    def jumps(self, rng: np.random.Generator, size: int) -> Array:
        far, atoms = self._far(rng, size), rng.poisson(self.atom_rate * self.step * size)
        sizes = np.concatenate([far, np.full(atoms, self.atom)])
        return scattered(rng, sizes, size)

    def _far(self, rng: np.random.Generator, size: int) -> Array:
        alpha, tempering, cut = self.law.stability, self.law.tempering, self.cut
        pareto = tempering * cut < alpha
        total = cut**-alpha / (alpha if pareto else tempering * cut)
        mean = 2 * self.law.strength * math.exp(-tempering * cut) * total * self.step * size
        count = rng.poisson(mean)
        if pareto:
            z = cut * np.exp(rng.standard_exponential(count) / alpha)
            return np.asarray(z[rng.standard_exponential(count) >= tempering * (z - cut)])
        z = cut + rng.standard_exponential(count) / tempering
        return np.asarray(z[rng.random(count) * z ** (1 + alpha) <= cut ** (1 + alpha)])


def scattered(rng: np.random.Generator, sizes: Array, paths: int) -> Array:
    """The sum on each of `paths` paths of jumps that choose path and sign at random, shape (paths,).

    >>> scattered(np.random.default_rng(0), np.array([1.0, 2.0]), 1).shape
    (1,)
    """
    choice = rng.integers(0, 2 * paths, sizes.size)
    signed = np.where(choice & 1, sizes, -sizes)
    return np.asarray(np.bincount(choice >> 1, weights=signed, minlength=paths), dtype=float)
