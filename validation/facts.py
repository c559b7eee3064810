"""What can be known exactly about a stationary law, and how far a solution is from it.

Each kind of fact looks at another part of a solution: the density at its body, the characteristic function at all nodes
at once, moment ratios at the operator and the right edge, the envelope at the left tail and its continuation, the
exponent at the half-line alone. The catch: none sees everything. Moment ratios hold even where ln ρ is wrong by a
smooth factor, and an exponent knows nothing of the drift before its plateau.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import scipy.special
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.drifts import ExponentialDrift
from solver.model import Model

Array = NDArray[np.float64]

# What the issue of accuracy is decided by: densities absolute, everything else relative.
BOUND = 1e-9
# A sum beyond an open edge ends where its terms have fallen by e^{-45}.
_FADED = 45.0


class Fact(ABC):
    """Something exact about a model; `error` is the distance of a solution from it, `bound` what it may be."""

    kind: ClassVar[str]
    measure: ClassVar[str] = "relative"
    bound: float

    @abstractmethod
    def error(self, density: StationaryDensity) -> float:
        """The largest error over the places where the fact is looked at."""


@final
@dataclass(frozen=True)
class Density(Fact):
    """ln ρ, compared as ρ at irregular points and at all nodes of [left, right] farther than `away` from 0.

    `extent` holds all mass but 1e-15 where tails are exponential; None where they are powers.
    """

    kind: ClassVar[str] = "density"
    measure: ClassVar[str] = "absolute"
    log_density: Callable[[Array], Array]
    left: float
    right: float
    extent: tuple[float, float] | None = (-60.0, 60.0)
    away: float = 0.0
    bound: float = BOUND

    @property
    def points(self) -> Array:
        """Where the comparison is made between nodes: irregular, so that it does not favour any grid."""
        places = np.linspace(self.left, self.right, 61)
        return places + 0.003 * np.sin(7.0 * places)

    def error(self, density: StationaryDensity) -> float:
        inside = density.zeta[(density.zeta > self.left) & (density.zeta < self.right)]
        places = np.concatenate([self.points, inside])
        places = places[np.abs(places) > self.away] if self.away else places
        return float(np.abs(density.pdf(places) - np.exp(self.log_density(places))).max())


@final
@dataclass(frozen=True)
class CharacteristicFunction(Fact):
    """ln E e^{ikζ} at some wave numbers k > 0; the error is that of E e^{ikζ}, relative."""

    kind: ClassVar[str] = "characteristic function"
    log_value: Callable[[float], complex]
    wavenumbers: tuple[float, ...]
    bound: float = BOUND

    def error(self, density: StationaryDensity) -> float:
        found = (exponential_mean(density, 1j * k) * np.exp(-self.log_value(k)) for k in self.wavenumbers)
        return float(max(abs(ratio - 1) for ratio in found))


@final
@dataclass(frozen=True)
class MomentRatios(Fact):
    """E e^{(s+1)ζ} / E e^{sζ} = (κ + η_G s + η_J ψ(s)/s)/a of F = κ - a e^ζ, for real s in (-β, λ).

    It is (L e^{sζ}) averaged over ρ; at s = 0 it says E F = 0.
    """

    kind: ClassVar[str] = "moment identity"
    model: Model
    exponents: tuple[float, ...]
    bound: float = BOUND

    def error(self, density: StationaryDensity) -> float:
        ratios = [
            exponential_mean(density, s + 1).real / exponential_mean(density, s).real / moment_ratio(self.model, s)
            for s in self.exponents
        ]
        return float(np.abs(np.array(ratios) - 1).max())


@final
@dataclass(frozen=True)
class IntegerMoments(Fact):
    """E e^{nζ} = Π_{0≤j<n} of the moment ratios at s = j, n = 1 … `largest` < λ + 1, and E e^{-ζ} where β > 1."""

    kind: ClassVar[str] = "integer moments"
    model: Model
    largest: int
    bound: float = BOUND

    def error(self, density: StationaryDensity) -> float:
        expected, errors = 1.0, []
        for n in range(1, self.largest + 1):
            expected *= moment_ratio(self.model, n - 1.0)
            errors.append(exponential_mean(density, n).real / expected - 1)
        if density.tail_exponent > 1:
            errors.append(exponential_mean(density, -1.0).real * moment_ratio(self.model, -1.0) - 1)
        return float(np.abs(errors).max())


@final
@dataclass(frozen=True)
class EnvelopeLaw(Fact):
    """ln f(ℓ) and its exponent -d ln f/d ln ℓ at some lags; f relative, the exponent absolute."""

    kind: ClassVar[str] = "envelope"
    log_value: Callable[[Array], Array]
    exponent: Callable[[Array], Array]
    lags: tuple[float, ...]
    bound: float = BOUND

    def error(self, density: StationaryDensity) -> float:
        lags = np.array(self.lags)
        found = density.envelope(lags)
        values = np.abs(np.expm1(found.log_values - self.log_value(lags)))
        return float(max(values.max(), np.abs(found.local_exponent - self.exponent(lags)).max()))


@final
@dataclass(frozen=True)
class Exponent(Fact):
    """The decay rates of both tails, as the half-lines beyond open edges give them; None: not known."""

    kind: ClassVar[str] = "exponent"
    left: float
    right: float | None = None
    bound: float = BOUND

    def error(self, density: StationaryDensity) -> float:
        found = [density.tail_exponent / self.left - 1]
        if self.right is not None:
            found.append(density.right_tail_exponent / self.right - 1)
        return float(np.abs(found).max())


def moment_ratio(model: Model, s: float) -> float:
    """(κ + η_G s + η_J ψ(s)/s)/a of a model with F = κ - a e^ζ."""
    assert isinstance(model.drift, ExponentialDrift)
    noise = model.diffusion * s
    if model.jumps is not None and s != 0:
        noise += float(model.jumps.laplace_exponent(abs(s))) / s  # ψ is even
    return (model.drift.plateau + noise) / model.drift.rate


def exponential_mean(density: StationaryDensity, s: complex) -> complex:
    """E e^{sζ}: the trapezoid sum over the nodes and on beyond open edges, spectrally accurate; s > -β."""
    grid, null = density.grid, density.null
    logs, places = [null.log_density], [grid.zeta]
    for side, edge, sign in ((null.left, grid.left, -1.0), (null.right, grid.right, 1.0)):
        if side is not None:
            decay = (density.tail_exponent if sign < 0 else density.right_tail_exponent) - sign * np.real(s)
            n: Array = np.arange(1.0, int(_FADED / (decay * grid.spacing)) + 2)
            logs.append(side.log_density(n))
            places.append(edge + sign * grid.spacing * n)
    terms = np.concatenate(logs) + s * np.concatenate(places) + np.log(grid.spacing)
    return complex(np.exp(scipy.special.logsumexp(terms)))
