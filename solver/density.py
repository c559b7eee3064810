"""The stationary density: what every method returns, with its evidence, and the views of it.

ln ρ at the nodes is the result; everything else is read from it. The distribution is the one of scipy.stats
in names and behaviour (`solver.distribution` says how both tails keep their digits).

The catch: between nodes and beyond an open edge the density goes on; beyond a stop edge it is zero. Stop
edges are placed so that the mass beyond them is below the error estimate, so this says nothing about the
tail.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from solver.archive import write_archive
from solver.correlation import CorrelationTime, Observable, correlation_time, identity
from solver.distribution import Distribution, elementwise, log_probability
from solver.envelope import Envelope, envelope
from solver.evidence import ErrorEstimate, Level
from solver.grid import Grid
from solver.interpolant import Array, Interpolant
from solver.model import Model
from solver.moments import mean_and_variance, moment_exists
from solver.nullvector import NullVector
from solver.timescales import TimescaleSpectrum

FORMAT = "zetafp density"
VERSION = 2  # 1 had no checksum


@dataclass(frozen=True, eq=False, repr=False)
class StationaryDensity:
    """The stationary density ρ of a model: values, distribution, evidence.

    `null` holds ln ρ at the nodes of `grid`; `error` estimates its error; `levels` are the refinements that
    led here; `assumptions` what was taken for granted, in words. Raises ValueError for a null vector that is
    not a density.

    >>> from solver.drifts import LinearDrift
    >>> grid = Grid(left=-6.0, right=6.0, nodes=241, edges="stop")
    >>> gauss = -0.5 * grid.zeta**2 - 0.5 * np.log(2 * np.pi)  # the density of dζ = -ζ dt + sqrt(2) dW
    >>> null = NullVector(gauss, np.ones(241), None, None, residual=0.0, column_defect=0.0)
    >>> density = StationaryDensity(Model(LinearDrift(1.0, 0.0), 1.0, None), grid, 8, "exact", null,
    ...                             ErrorEstimate(1e-12), (), ())
    >>> density.cdf([0.0, 1.0])
    array([0.5       , 0.84134475])
    >>> print(f"{density.ppf(0.975):.6f} {density.var():.6f}")
    1.959964 1.000000
    """

    model: Model
    grid: Grid
    order: int
    method: str
    null: NullVector
    error: ErrorEstimate
    levels: tuple[Level, ...]
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        values, sides = self.null.log_density, (self.null.left, self.null.right)
        if values.shape != (self.grid.nodes,) or self.null.sign.shape != values.shape:
            raise ValueError(f"null vector of shape {values.shape} on a grid of {self.grid.nodes} nodes")
        if tuple("stop" if side is None else "open" for side in sides) != self.grid.edges:
            raise ValueError(f"the grid's edges are {self.grid.edges}, the null vector continues otherwise")
        if not np.isfinite(values).all():
            place = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"ln ρ is {values[place]} at ζ = {self.grid.zeta[place]:.6g}: not a density")
        if (self.null.sign <= 0).any():
            place = int(np.argmax(np.where(self.null.sign <= 0, values, -np.inf)))
            raise ValueError(
                f"density is negative ({-np.exp(values[place]):.3g}) at ζ = {self.grid.zeta[place]:.6g}: "
                f"the grid (h = {self.grid.spacing:.6g}) does not resolve the density there; halve h"
            )

    def __repr__(self) -> str:
        grid = self.grid
        return (
            f"StationaryDensity({self.method}, {grid.nodes} nodes in [{grid.left:g}, {grid.right:g}], "
            f"h = {grid.spacing:g}, edges {grid.edges[0]}/{grid.edges[1]}, "
            f"error {self.error_estimate:.1e}, tail exponent {self.tail_exponent:.12g})"
        )

    @cached_property
    def distribution(self) -> Distribution:
        """The law of ζ in logarithms."""
        null = self.null
        return Distribution(Interpolant(self.grid.left, self.grid.spacing, null.log_density, null.left, null.right))

    @property
    def zeta(self) -> Array:
        """The nodes ζ_i, shape (N,)."""
        return self.grid.zeta

    @property
    def log_density(self) -> Array:
        """ln ρ at the nodes, shape (N,)."""
        return self.null.log_density

    @property
    def residual(self) -> float:
        """Largest componentwise residual |Aρ|/(|A|ρ)."""
        return self.null.residual

    @property
    def error_estimate(self) -> float:
        """Estimated error of ln ρ in the body; `log_error` says how it grows with depth."""
        return self.error.body

    def log_error(self, zeta: ArrayLike) -> Array:
        """Estimated error of ln ρ(ζ), any shape; inf beyond a stop edge, where the density is taken as zero."""
        z = np.asarray(zeta, dtype=float)
        before = (z < self.grid.left) & (self.grid.edges[0] == "stop")
        after = (z > self.grid.right) & (self.grid.edges[1] == "stop")
        return np.where(before | after, np.inf, self.error(z))[()]

    @property
    def tail_exponent(self) -> float:
        """β of ρ ~ e^{βζ} as ζ → -∞, from the spectral radius; NaN at a stop edge."""
        return np.nan if self.null.left is None else self.null.left.exponent

    @property
    def right_tail_exponent(self) -> float:
        """Decay rate of ρ as ζ → ∞, from the spectral radius; NaN at a stop edge."""
        return np.nan if self.null.right is None else self.null.right.exponent

    @property
    def interpolated_mass(self) -> float:
        """Integral of the interpolated density; spacing · Σρ plus the mass beyond is 1 by normalisation."""
        return self.distribution.interpolated_mass

    def logpdf(self, z: ArrayLike) -> Array:
        """ln ρ(z), right where ρ underflows; -inf beyond a stop edge."""
        return self.distribution.logpdf(z)

    def pdf(self, z: ArrayLike) -> Array:
        """ρ(z)."""
        return np.exp(self.logpdf(z))

    def local_exponent(self, z: ArrayLike) -> Array:
        """d ln ρ/dζ at z; NaN beyond a stop edge, the tail's exponent at the infinite ends of an open one."""
        return self.distribution.slope(z)

    def logcdf(self, z: ArrayLike) -> Array:
        """ln P(ζ ≤ z)."""
        return self.distribution.logcdf(z)

    def cdf(self, z: ArrayLike) -> Array:
        """P(ζ ≤ z)."""
        return np.exp(self.logcdf(z))

    def logsf(self, z: ArrayLike) -> Array:
        """ln P(ζ > z)."""
        return self.distribution.logsf(z)

    def sf(self, z: ArrayLike) -> Array:
        """P(ζ > z) = 1 - cdf(z)."""
        return np.exp(self.logsf(z))

    def ppf(self, q: ArrayLike) -> Array:
        """The z with cdf(z) = q; NaN outside [0, 1]."""
        return elementwise(lambda p: self.distribution.from_lower(log_probability(p)), q)

    def isf(self, q: ArrayLike) -> Array:
        """The z with sf(z) = q; NaN outside [0, 1]."""
        return elementwise(lambda p: self.distribution.from_upper(log_probability(p)), q)

    def median(self) -> float:
        """The z with cdf(z) = 1/2."""
        return float(self.ppf(0.5))

    def support(self) -> tuple[float, float]:
        """Ends of the support: infinite at an open edge."""
        return self.distribution.support

    @property
    def known(self) -> tuple[float, float]:
        """The ends of where ρ is known: infinite, but for an open side whose tail the tempering of the jumps pins.

        Deeper there every view raises ModelError; `solve_stationary(model, depth=...)` moves the ends outwards.
        """
        return self.distribution.interpolant.known

    @cached_property
    def _moments(self) -> tuple[float, float]:
        return mean_and_variance(self.distribution.interpolant)

    def mean(self) -> float:
        """E ζ; ±inf or NaN where untempered jumps leave none."""
        left, right = (moment_exists(self.model, 1, side) for side in ("left", "right"))
        if left and right:
            return self._moments[0]
        return np.nan if not left and not right else (np.inf if left else -np.inf)

    def var(self) -> float:
        """E (ζ - E ζ)²; inf where untempered jumps leave none."""
        exists = all(moment_exists(self.model, 2, side) for side in ("left", "right"))
        return self._moments[1] if exists else np.inf

    def std(self) -> float:
        """Square root of `var`."""
        return float(np.sqrt(self.var()))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: object = None) -> Array:
        """Independent draws; `random_state` is a Generator, a RandomState, a seed or None."""
        return self.distribution.random(size, random_state)

    def timescales(self) -> TimescaleSpectrum:
        """The spectrum p(τ) = ρ(-ln τ)/τ of time scales."""
        tempering = np.inf if self.model.jumps is None else self.model.jumps.tempering
        return TimescaleSpectrum(self.distribution, tempering, self.model, self.log_error)

    def envelope(self, lags: ArrayLike | None = None, *, log_lags: ArrayLike | None = None) -> Envelope:
        """f(ℓ) = ∫ exp(-ℓ e^ζ) ρ dζ at `lags` or at e^{log_lags}."""
        return envelope(self.distribution, lags, log_lags=log_lags)

    def correlation_time(self, observable: Observable = identity) -> CorrelationTime:
        """∫_0^∞ C(t)/C(0) dt of an observable of ζ in the stationary state, from one linear solve (docs/modes.md)."""
        return correlation_time(self, observable)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to exactly `path` (.npz, no pickle), whole or not at all; `load` reads it back.

        Raises ModelError for a model that cannot be written down (a CallableDrift).
        """
        header = {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model.to_dict(),
            "grid": asdict(self.grid),
            "order": self.order,
            "method": self.method,
            "residual": self.null.residual,
            "column_defect": self.null.column_defect,
            "error": asdict(self.error),
            "levels": [asdict(level) for level in self.levels],
            "assumptions": list(self.assumptions),
        }
        arrays = {"log_density": self.null.log_density, "sign": self.null.sign}
        for name, side in (("left", self.null.left), ("right", self.null.right)):
            if side is not None:
                arrays |= {f"{name}_{key}": value for key, value in side.arrays().items()}
        write_archive(path, header, arrays)
