"""The law of the noise over one interval, on a grid of cells: its characteristic function carried back by one FFT.

    E e^{ik r} = exp(interval · (-η_G k² + ∫ (cos kz - 1) ν dz))

All that the data say about the noise is how many residuals fall into each cell, so the likelihood is that of counts.
The cells' probabilities are exact (the average over a cell is a factor sin(kh/2)/(kh/2)).

Coordinates in which the four numbers trade off least: the variance rate V = 2 η_G + ∫ z² ν dz, the jumps' share q of
it, α, and the size s = √((2-α)(3-α))/λ of the jumps that make up their variance (s² is fourth over second moment of ν).
The catch: η_J and λ themselves then follow from α, and still trade off with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from solver.jumps import TemperedStableJumps

Array = NDArray[np.float64]

# Cells per interquartile range of the residuals: the loss of information is (1/64)²/12 of it.
_CELLS = 64
# The grid is a circle: this much longer than the residuals reach, so that what comes round it is below their tail.
_ROOM = 1.5
# 2^15 cells cost 2 ms an evaluation; a residual 200 interquartile ranges out would ask for more, and gets wider cells.
_MOST_CELLS = 2**15
# Share of a flat law mixed in: no residual, however impossible, costs more than some ln 1e10. An FFT leaves noise of
# 1e-16 of the peak, so that what is below could be negative.
_FLOOR = 1e-10


@dataclass(frozen=True)
class Noise:
    """η_G and the jumps (None: diffusion alone)."""

    diffusion: float
    jumps: TemperedStableJumps | None

    @classmethod
    def of(cls, shape: Array) -> Noise:
        """From (ln V, logit q, logit α/2, ln s), or (ln V,) for diffusion alone.

        >>> noise = Noise(0.3, TemperedStableJumps(0.4, 1.5, 2.2))
        >>> again = Noise.of(noise.shape)
        >>> round(again.diffusion, 12), round(again.jumps.intensity, 12), round(again.jumps.tempering, 12)
        (0.3, 0.4, 2.2)
        """
        variance = math.exp(shape[0])
        if len(shape) == 1:
            return cls(0.5 * variance, None)
        share, alpha = float(expit(shape[1])), 2 * float(expit(shape[2]))
        tempering = math.sqrt((2 - alpha) * (3 - alpha)) / math.exp(shape[3])
        intensity = variance * share / (2 * math.gamma(2 - alpha) * tempering ** (alpha - 2))
        return cls(0.5 * variance * float(expit(-shape[1])), TemperedStableJumps(intensity, alpha, tempering))

    @property
    def shape(self) -> Array:
        """The coordinates of `of`."""
        if self.jumps is None:
            return np.array([math.log(2 * self.diffusion)])
        alpha, moment = self.jumps.stability, self.jumps.second_moment
        size = math.sqrt((2 - alpha) * (3 - alpha)) / self.jumps.tempering
        variance = 2 * self.diffusion + moment
        return np.array([math.log(variance), logit(moment / variance), logit(alpha / 2), math.log(size)])


@dataclass(frozen=True)
class Cells:
    """A grid of `count` cells of width `spacing` about 0."""

    spacing: float
    count: int

    @classmethod
    def around(cls, residuals: Array) -> Cells:
        """Fine enough for the middle of the residuals, long enough for the farthest."""
        low, high = np.quantile(residuals, [0.25, 0.75])
        reach = 2 * _ROOM * float(np.abs(residuals).max())
        spacing = max(float(high - low) / _CELLS, reach / _MOST_CELLS)
        count = 2 ** math.ceil(math.log2(max(reach / spacing, 256)))
        return cls(spacing, min(count, _MOST_CELLS))

    @property
    def centres(self) -> Array:
        """Middle of each cell, ascending."""
        return np.asarray(self.spacing * (np.arange(self.count) - self.count // 2), dtype=float)

    def counts(self, residuals: Array) -> Array:
        """How many residuals lie in each cell; those beyond the grid, in the outermost."""
        place = np.rint(residuals / self.spacing).astype(np.int64) + self.count // 2
        place = np.minimum(np.maximum(place, 0), self.count - 1)
        return np.bincount(place, minlength=self.count).astype(float)

    def log_density(self, noise: Noise, interval: float) -> Array:
        """ln of the cells' mean density, ascending cells."""
        k = 2 * math.pi * np.fft.rfftfreq(self.count, self.spacing)
        exponent = -noise.diffusion * k * k
        if noise.jumps is not None:
            exponent = exponent + noise.jumps.symbol(k)
        characteristic = np.exp(interval * exponent) * np.sinc(k * self.spacing / (2 * math.pi))
        density = np.fft.fftshift(np.fft.irfft(characteristic, self.count)) / self.spacing
        floor = _FLOOR / (self.count * self.spacing)
        # rounding of the FFT may be negative, never by more than the floor's order
        return np.log(np.maximum((1 - _FLOOR) * density, 0.0) + floor)

    def read(self, table: Array, residuals: Array) -> Array:
        """A table over the cells, linear between their centres, at residuals of any shape."""
        return np.interp(residuals, self.centres, table)
