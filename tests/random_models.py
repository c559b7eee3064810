"""Random models of a wide and of a core box of parameters, and rough ones, for tests of honesty and robustness."""

from __future__ import annotations

import numpy as np

from solver import CallableDrift, LinearDrift, LogisticDrift, Model, TabulatedDrift, TanhDrift, TemperedStableJumps
from solver.drifts import Drift


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def smooth_drift(rng: np.random.Generator, plateau: tuple[float, float], width: tuple[float, float]) -> Drift:
    """A tanh or a logistic drift around a standard normal centre."""
    left, right, scale = log_uniform(rng, *plateau), log_uniform(rng, *plateau), log_uniform(rng, *width)
    centre = float(rng.normal())
    return TanhDrift(left, centre, scale) if rng.random() < 0.5 else LogisticDrift(left, right, centre, scale)


def core(rng: np.random.Generator) -> Model:
    """Stability 0.3 to 1.95, tempering 0.1 to 10, diffusion 0 or 0.01 to 10, intensity 0.01 to 100, plateau and width
    0.1 to 10."""
    diffusion = 0.0 if rng.random() < 0.25 else log_uniform(rng, 0.01, 10)
    jumps = TemperedStableJumps(log_uniform(rng, 0.01, 100), float(rng.uniform(0.3, 1.95)), log_uniform(rng, 0.1, 10))
    return Model(smooth_drift(rng, (0.1, 10), (0.1, 10)), diffusion, jumps)


def pure_diffusion(rng: np.random.Generator) -> Model:
    """The core box without jumps, where ρ is known."""
    return Model(smooth_drift(rng, (0.1, 10), (0.1, 10)), log_uniform(rng, 0.01, 10), None)


def wide(rng: np.random.Generator) -> Model:
    """Everything a user may type: many orders of magnitude, most of them far outside what a grid can hold."""
    drift = smooth_drift(rng, (1e-3, 1e3), (0.01, 100))
    shifted = type(drift)(**{**vars(drift), "center": float(rng.uniform(-50, 50))})
    diffusion = 0.0 if rng.random() < 0.25 else log_uniform(rng, 1e-4, 100)
    jumps = TemperedStableJumps(log_uniform(rng, 1e-6, 1e6), float(rng.uniform(0.05, 1.99)), log_uniform(rng, 0.01, 50))
    return Model(shifted, diffusion, None if diffusion > 0 and rng.random() < 0.1 else jumps)


def rough(rng: np.random.Generator) -> Model:
    """A corner, a step, a table with few points, pure jumps of small stability, a narrow drift."""
    plateau, jumps = (
        log_uniform(rng, 0.3, 3),
        TemperedStableJumps(log_uniform(rng, 0.1, 3), float(rng.uniform(0.5, 1.8)), log_uniform(rng, 0.5, 4)),
    )
    diffusion = log_uniform(rng, 0.05, 1)
    kind = int(rng.integers(5))
    if kind == 0:
        corner = CallableDrift(lambda z: -plateau * np.clip(z, -1, 1), plateau, plateau, scale=1.0, breaks=(-1.0, 1.0))
        return Model(corner, diffusion, jumps)
    if kind == 1:
        step = CallableDrift(lambda z: -plateau * np.sign(z), plateau, plateau, scale=1.0, breaks=(0.0,))
        return Model(step, diffusion, jumps)
    if kind == 2:
        zeta = np.cumsum(rng.uniform(0.5, 1.5, size=5)) - 4
        return Model(TabulatedDrift(zeta, plateau * np.array([1.0, 0.7, 0.0, -0.5, -1.0])), diffusion, jumps)
    if kind == 3:
        small = TemperedStableJumps(jumps.intensity, float(rng.uniform(0.2, 0.5)), jumps.tempering)
        return Model(TanhDrift(plateau), 0.0, small)
    return Model(TanhDrift(plateau, 0.0, 0.02), diffusion, jumps)


def unbounded(rng: np.random.Generator) -> Model:
    """A linear drift, where both edges are stop edges."""
    base = core(rng)
    return Model(LinearDrift(log_uniform(rng, 0.2, 5), float(rng.normal())), base.diffusion, base.jumps)
