"""Stationary laws of log decay rates under drift, Gaussian noise and symmetric tempered stable jumps.

    0 = -(F ρ)' + η_G ρ'' + J*ρ,     p(τ) = ρ(-ln τ)/τ,     f(ℓ) = ∫ exp(-ℓ e^ζ) ρ(ζ) dζ

The public names are here and, the same, in `zetafp`. Figures are the one exception, in `solver.plots`,
so that nobody who draws nothing waits for matplotlib.

>>> model = Model(TanhDrift(1.0, 0.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
>>> print(f"{closed_form(model).exponent:.10f} {solve_stationary(model).tail_exponent:.10f}")
1.2673600491 1.2673600491
"""

from solver.closed_form import ClosedForm, closed_form
from solver.correlation import CorrelationTime
from solver.crosscheck import CrossCheck, cross_check
from solver.density import StationaryDensity
from solver.drifts import (
    CallableDrift,
    Drift,
    ExponentialDrift,
    LinearDrift,
    LogisticDrift,
    TabulatedDrift,
    TanhDrift,
)
from solver.envelope import Envelope
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.exponent import intensity_for_exponent, phase, spectral_exponent, threshold_intensity
from solver.generator import Generator, build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.modes import RelaxationModes, relaxation_modes
from solver.presets import load_preset, preset_names
from solver.samples import Samples, SamplesError, read_samples
from solver.stationary import solve_stationary
from solver.storage import load
from solver.tail_form import TailForm
from solver.timescales import TimescaleSpectrum

__version__ = "0.1.0"

__all__ = [
    "CallableDrift",
    "ClosedForm",
    "CorrelationTime",
    "CrossCheck",
    "Drift",
    "Envelope",
    "ExponentialDrift",
    "Generator",
    "Grid",
    "LinearDrift",
    "LogisticDrift",
    "Model",
    "ModelError",
    "NoStationaryDensityError",
    "NotConvergedError",
    "RelaxationModes",
    "Samples",
    "SamplesError",
    "StationaryDensity",
    "TabulatedDrift",
    "TailForm",
    "TanhDrift",
    "TemperedStableJumps",
    "TimescaleSpectrum",
    "build_generator",
    "closed_form",
    "cross_check",
    "intensity_for_exponent",
    "load",
    "load_preset",
    "phase",
    "preset_names",
    "read_samples",
    "relaxation_modes",
    "solve_stationary",
    "spectral_exponent",
    "threshold_intensity",
]
