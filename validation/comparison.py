"""Is this sample consistent with the model's stationary law? `compare` answers, with everything that led to the answer.

The Anderson–Darling test decides: like Kolmogorov–Smirnov it sees every departure, but it weighs both tails, where the
time scales of interest are. The others are shown because they say where and how a sample departs: the transform's
histogram and the quantiles, the tail's exponents over the window they are read in, the envelope that experiments
measure.

The catch: a p-value supposes a law fixed before the sample was seen. If the model was fitted to this very sample the
test accepts too often, and the only cure is to repeat the fit on samples of the fitted law: `fitted=True` with `fit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import choice, instance, number
from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.sample_files import KINDS
from solver.samples import Kind, Samples
from validation.comparison_notes import notes, verdict
from validation.effective_size import autocorrelation_time, kish_size
from validation.envelope_band import EnvelopeBand, envelope_band
from validation.goodness_of_fit import Statistic, ad_statistic, ad_test, ks_statistic, ks_test
from validation.measured import Measured, read_measured
from validation.pit import PitHistogram, Quantiles, pit_histogram, quantiles
from validation.tail_fit import TailFits, fit_tail

Array = NDArray[np.float64]
Fit = Callable[[Array], StationaryDensity]

# Resamples of the envelope: the 95% point of a largest deviation is then known to 3%.
RESAMPLES = 400
# Repetitions of a fit: p-values in steps of 1/200, the usual choice for a 5% level (Davison and Hinkley 1997, 4.2).
REPLICATES = 199


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """A sample beside a density. `consistent` is the Anderson–Darling test at `level`; the rest is evidence.

    `autocorrelation` is the time T by which the sample's size was divided, `effective_size` what remained; `outside`
    counts values where the density has no mass. `tail` and `envelope` are None for samples too small to have one.
    """

    measured: Measured
    density: StationaryDensity
    level: float
    autocorrelation: float
    effective_size: float
    outside: int
    fitted: bool
    ks: Statistic
    ad: Statistic
    tail: TailFits | None
    envelope: EnvelopeBand | None
    pit: PitHistogram
    quantiles: Quantiles
    notes: tuple[str, ...]
    verdict: str

    def __repr__(self) -> str:
        return f"Comparison({self.verdict!r})"

    @property
    def consistent(self) -> bool:
        """Whether the Anderson–Darling test accepts at `level`."""
        return self.ad.p_value >= self.level

    def text(self, width: int = 80) -> str:
        """The comparison as lines of at most `width` characters (40 at least)."""
        from validation.comparison_report import render

        return render(self, width)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, words, lists and dictionaries (numbers may be NaN or infinite)."""
        from validation.comparison_report import to_dict

        return to_dict(self)


def compare(
    samples: Measured | Samples | str | Path | ArrayLike,
    density: StationaryDensity,
    kind: Kind = "tau",
    *,
    weights: ArrayLike | None = None,
    autocorrelation: float | Literal["estimate"] | None = None,
    effective_size: float | None = None,
    level: float = 0.05,
    fitted: bool = False,
    fit: Fit | None = None,
    replicates: int = REPLICATES,
    seed: int | np.random.Generator = 0,
) -> Comparison:
    """Compare samples of τ or ζ (by `kind`) with a stationary density.

    `samples` are values of any shape, a file or folder (`read_measured`), or what was read from one. `weights` ≥ 0 give
    the values unequal shares. `autocorrelation` is the time T of a chain in its time order, in samples, or "estimate";
    None means independent values. `effective_size` replaces the size that follows from both. With `fitted` the p-values
    of both tests come from `replicates` samples drawn from `density`, each refitted by `fit`, a function from ζ (n,) to
    a density. `seed` draws those and the bootstrap's groups.

    Raises SamplesError for samples or weights that cannot be used, ModelError for an argument out of range.

    >>> from solver import load_preset, solve_stationary
    >>> density = solve_stationary(load_preset("concentrated"))
    >>> draws = density.timescales().rvs(2000, random_state=1)
    >>> compare(draws, density).consistent, compare(1.2 * draws, density).consistent
    (True, False)
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    choice("kind", kind, KINDS)
    level = number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    if fitted and fit is None:
        raise ModelError(
            "fitted = True: the fit has to be repeated; give fit = a function from ζ to the density fitted to them"
        )
    if fit is not None and not fitted:
        raise ModelError("fit was given without fitted = True")
    measured = _measured(samples, kind, weights)
    time = _time(measured, autocorrelation)
    size = kish_size(measured.weights) / time
    if effective_size is not None:
        kish = kish_size(measured.weights)
        size = number("effective_size", effective_size, low=1.0, high=kish)
        time = kish / size
    if not isinstance(seed, np.random.Generator):
        number("seed", seed, low=0, integer=True)
        seed = int(seed)  # not of the double, which has 53 bits
    random = np.random.default_rng(seed)
    order = np.argsort(measured.zeta, kind="stable")
    zeta, weight = measured.zeta[order], measured.weights[order]
    log_cdf, log_sf = density.logcdf(zeta), density.logsf(zeta)
    ks, ad = ks_test(log_cdf, weight, size), ad_test(log_cdf, log_sf, weight, size)
    if fit is not None:
        count = int(number("replicates", replicates, low=19, integer=True))
        ks, ad = _refitted((ks, ad), density, max(1, round(size)), fit, count, random)
    outside = int((np.isneginf(log_cdf) | np.isneginf(log_sf)).sum())
    return Comparison(
        measured=measured,
        density=density,
        level=level,
        autocorrelation=time,
        effective_size=size,
        outside=outside,
        fitted=fitted,
        ks=ks,
        ad=ad,
        tail=fit_tail(zeta, weight, density, time, level),
        envelope=envelope_band(measured.zeta, measured.weights, density, random, time, level, RESAMPLES),
        pit=pit_histogram(log_cdf, weight, size, level),
        quantiles=quantiles(zeta, weight, density, size, level),
        notes=notes(measured, density, size, outside, fitted),
        verdict=verdict(zeta, weight, size, density, ad, level, outside),
    )


def _measured(samples: Measured | Samples | str | Path | ArrayLike, kind: Kind, weights: ArrayLike | None) -> Measured:
    if isinstance(samples, Measured):
        if weights is not None:
            raise ModelError("weights were given twice: with the samples and beside them")
        return samples
    if isinstance(samples, Samples):
        if weights is not None:
            raise ModelError("weights need values in their order, and Samples are sorted: give the values themselves")
        return Measured(samples.zeta, np.ones(samples.zeta.size), samples)
    if isinstance(samples, (str, Path)):
        if weights is not None:
            raise ModelError("weights beside a file: read both with read_measured(path, weights=column or file)")
        return read_measured(samples, kind)
    return Measured.from_values(samples, kind, weights)


def _time(measured: Measured, autocorrelation: float | str | None) -> float:
    if autocorrelation is None:
        return 1.0
    if isinstance(autocorrelation, str):
        choice("autocorrelation", autocorrelation, ("estimate",))
        return autocorrelation_time(measured.zeta)
    return number("autocorrelation", autocorrelation, low=1.0, high=float(measured.zeta.size))


def _refitted(
    found: tuple[Statistic, Statistic],
    density: StationaryDensity,
    size: int,
    fit: Fit,
    replicates: int,
    random: np.random.Generator,
) -> tuple[Statistic, Statistic]:
    """The same statistics with p = (1 + number of replicates at least as large) / (replicates + 1)."""
    larger, ones = np.zeros(2), np.ones(size)
    for _ in range(replicates):
        draws = np.sort(density.rvs(size, random_state=random))
        law = fit(draws)
        log_cdf, log_sf = law.logcdf(draws), law.logsf(draws)
        drawn = (ks_statistic(log_cdf, ones), ad_statistic(log_cdf, log_sf, ones, float(size)))
        larger += [value >= one.value for value, one in zip(drawn, found, strict=True)]
    ks, ad = (
        Statistic(one.value, float((1 + count) / (replicates + 1))) for one, count in zip(found, larger, strict=True)
    )
    return ks, ad
