"""Random models in every regime of the left tail, for the blind reading of tail laws; and one whose drift is slow."""

from __future__ import annotations

import numpy as np
from random_models import log_uniform, smooth_drift

from solver import CallableDrift, LaplaceJumps, Model, TemperedStableJumps
from solver.exponent import threshold_intensity

KINDS = ("root", "close above", "tempered", "close below", "threshold", "near", "diffusion")
NEAR = ("threshold", "near")  # within 1% of the threshold


def ratio(rng: np.random.Generator, kind: str) -> float:
    """η_J over its threshold."""
    if kind == "root":
        return log_uniform(rng, 1.05, 30.0)
    if kind == "close above":
        return float(rng.uniform(1.01, 1.05))
    if kind == "tempered":
        return float(rng.uniform(0.1, 0.9))
    if kind == "close below":
        return float(rng.uniform(0.9, 0.98))
    if kind == "near":
        return 1.0 + float(rng.choice([-1.0, 1.0])) * log_uniform(rng, 1e-4, 9e-3)
    return 1.0


def tail_model(seed: int, index: int) -> tuple[str, Model]:
    """Kind and model number `index`: drift and noise of order one, stability 0.3 to 1.9, tempering 0.3 to 4."""
    rng = np.random.default_rng([seed, index])
    kind = KINDS[index % len(KINDS)]
    drift = smooth_drift(rng, (0.3, 3.0), (0.3, 3.0))
    plateau = drift.left_limit
    stability, tempering = float(rng.uniform(0.3, 1.9)), log_uniform(rng, 0.3, 4.0)
    if kind == "diffusion":
        return kind, Model(drift, plateau * log_uniform(rng, 0.1, 2.0), None)
    diffusion = 0.0 if rng.random() < 0.3 and stability > 0.7 else plateau / tempering * log_uniform(rng, 0.02, 0.8)
    star = float(threshold_intensity(plateau, diffusion, stability, tempering))
    return kind, Model(drift, diffusion, TemperedStableJumps(star * ratio(rng, kind), stability, tempering))


def slow_drift(a: float) -> CallableDrift:
    """F = -tanh ζ (1 - a/sqrt(1 + ζ²)): 1 - F ~ a/|ζ| far to the left."""
    return CallableDrift(lambda z: -np.tanh(z) * (1 - a / np.sqrt(1 + z * z)), left=1.0, right=1.0, scale=1.0)


def exact_laplace(b: float, diffusion: float, rate: float, tempering: float) -> tuple[Model, float]:
    """A model with Laplace jumps and ρ = G - G''/λ², G = N cosh^{-b}, known exactly; and ln C of ρ ~ C e^{bζ}.

    With G' = -b t G, t = tanh: ρ/G = 1 - b²/λ² + b(b+1)(1-t²)/λ², ρ'/ρ from it, F = [η_G ρ' + (rate/λ²) G']/ρ.
    """
    level, bump = 1 - (b / tempering) ** 2, b * (b + 1) / tempering**2

    def drift(z: np.ndarray) -> np.ndarray:
        t = np.tanh(z)
        shape = level + bump * (1 - t * t)
        slope = -b * t - 2 * bump * t * (1 - t * t) / shape
        return diffusion * slope - rate / tempering**2 * b * t / shape

    plateau = diffusion * b + rate / tempering**2 * b / level
    from scipy.special import gammaln

    log_norm = gammaln((b + 1) / 2) - gammaln(b / 2) - 0.5 * np.log(np.pi)
    model = Model(
        CallableDrift(drift, left=plateau, right=plateau, scale=0.5), diffusion, LaplaceJumps(rate, tempering)
    )
    return model, float(log_norm + b * np.log(2.0) + np.log(level))
