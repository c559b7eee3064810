"""Stationary laws of log decay rates under drift, Gaussian noise and symmetric tempered stable jumps.

    0 = -(F ρ)' + η_G ρ'' + J*ρ,     p(τ) = ρ(-ln τ)/τ,     f(ℓ) = ∫ exp(-ℓ e^ζ) ρ(ζ) dζ

The public names are here and, the same, in `zetafp`: what one calls, builds or catches. The classes of what is
returned stay beside the functions that return them, such as `solver.tails.TailLaw`, and figures in `solver.plots`,
so that nobody who draws nothing waits for matplotlib.

>>> model = Model(TanhDrift(1.0, 0.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
>>> print(f"{closed_form(model).exponent:.10f} {solve_stationary(model).tail_exponent:.10f}")
1.2673600491 1.2673600491
"""

__version__ = "0.1.0"  # before the imports: modules of the package ask for it

from solver.closed_form import closed_form
from solver.crosscheck import cross_check
from solver.density import StationaryDensity
from solver.design import design
from solver.design_horizon import design_for_horizon
from solver.drifts import (
    CallableDrift,
    Drift,
    ExponentialDrift,
    LinearDrift,
    LogisticDrift,
    TabulatedDrift,
    TanhDrift,
)
from solver.envelope_law import envelope_law
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.exponent import intensity_for_exponent, phase, spectral_exponent, threshold_intensity
from solver.finite_network import bounded_envelope, finite_network
from solver.generator import build_generator
from solver.grid import Grid
from solver.horizon import horizon, sample_complexity
from solver.jumps import LaplaceJumps, TemperedStableJumps
from solver.model import Model
from solver.modes import relaxation_modes
from solver.phase_diagram import phase_diagram
from solver.phase_lines import phase_lines
from solver.presets import load_preset, preset_names
from solver.samples import SamplesError, read_samples
from solver.sensitivity import sensitivities
from solver.stationary import solve_stationary
from solver.storage import load
from solver.sweep import sweep
from solver.tail_theory import compare_tail, tail_theory
from solver.tails import tail_law
from solver.window_fit import fit_window

__all__ = [
    "CallableDrift",
    "Drift",
    "ExponentialDrift",
    "Grid",
    "LaplaceJumps",
    "LinearDrift",
    "LogisticDrift",
    "Model",
    "ModelError",
    "NoStationaryDensityError",
    "NotConvergedError",
    "SamplesError",
    "StationaryDensity",
    "TabulatedDrift",
    "TanhDrift",
    "TemperedStableJumps",
    "bounded_envelope",
    "build_generator",
    "closed_form",
    "compare_tail",
    "cross_check",
    "design",
    "design_for_horizon",
    "envelope_law",
    "finite_network",
    "fit_window",
    "horizon",
    "intensity_for_exponent",
    "load",
    "load_preset",
    "phase",
    "phase_diagram",
    "phase_lines",
    "preset_names",
    "read_samples",
    "relaxation_modes",
    "sample_complexity",
    "sensitivities",
    "solve_stationary",
    "spectral_exponent",
    "sweep",
    "tail_law",
    "tail_theory",
    "threshold_intensity",
]
