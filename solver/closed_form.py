"""The spectral exponent, its threshold and the phases, from algebra alone: nothing here knows of a grid.

    Φ(b) = η_G b² + η_J ψ(b) - κ b = 0,   0 < b ≤ λ        β is the positive root; Φ is convex, so it is unique
    η_J* = λ (κ - η_G λ) / ψ(λ)                            the smallest intensity that has a root
    η_J(β) = (κβ - η_G β²) / ψ(β)                          the intensity that gives a wanted exponent

The root tells how the stationary density falls towards -∞: ρ ~ C e^{βζ}, hence p(τ) ~ C τ^{-1-β}. The catch is the
phase without a root. The source of the theory calls it collapsed and light-tailed; for a drift that saturates the
density is still algebraic, pinned at λ by the tempering. Both are reported: the phase in the source's words, the true
law as a TailForm.

The array functions broadcast over all their arguments. "No root" is an answer (NaN), a parameter outside its range an
error (ModelError).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize.elementwise import find_root
from scipy.special import gamma

from solver.errors import ModelError, NotConvergedError
from solver.jumps import convention_constant, unit_laplace_exponent
from solver.jump_exponents import require

Array = NDArray[np.float64]

# The accuracy of every result here; intensities and exponents closer than this to η_J* and to 1 count as equal to them.
_EQUAL = 1e-12


def spectral_exponent(
    plateau: ArrayLike,
    diffusion: ArrayLike,
    intensity: ArrayLike,
    stability: ArrayLike,
    tempering: ArrayLike,
    convention: str = "levy",
) -> Array:
    kappa, eta_g, eta_j, alpha, lam = _checked(plateau, diffusion, intensity, stability, tempering)
    star = threshold_intensity(kappa, eta_g, alpha, lam, convention)
    shape = np.broadcast_shapes(kappa.shape, eta_g.shape, eta_j.shape, alpha.shape, lam.shape)
    out = np.full(shape, np.nan)
    saturating = (kappa > 0) & np.isfinite(kappa)
    np.divide(kappa, eta_g, out=out, where=np.broadcast_to(saturating & (eta_j == 0), shape))
    tempered = saturating & (eta_j > 0) & (lam > 0)
    np.copyto(out, lam, where=tempered & _equal(eta_j, star))
    solve = np.broadcast_to(tempered & (eta_j > star) & ~_equal(eta_j, star), shape)
    if np.any(solve):
        def pick(a): return np.broadcast_to(a, shape)[solve]
        c = convention_constant(alpha, convention)
        one = alpha.size == 1
        out[solve] = pick(lam) * _relative_root(pick(eta_g * lam / kappa), pick(2*c*eta_j * lam ** (alpha - 1) / kappa), alpha.reshape(()) if one else pick(alpha))
    np.copyto(out, np.inf, where=kappa == np.inf)
    return out

def _relative_root(d: Array, j: Array, alpha: Array) -> Array:
    def balance(x, d, j, alpha=alpha):
        return d * x + j * unit_laplace_exponent(x, alpha, 1.0) / (2 * x) - 1.0
    top = balance(1.0, d, j)
    x = np.ones_like(d)
    inner = top > 1e-14
    args = (d[inner], j[inner]) + ((alpha[inner],) if alpha.ndim else ())
    a = args[2] if alpha.ndim else alpha
    lower = (1 - 1e-13) / (1 + top[inner])
    upper = np.minimum(1.0, (1 + 1e-13) / (args[0] + args[1] * gamma(2 - a) / 2))
    r = find_root(balance, (lower, upper), args=args, tolerances=dict(xatol=0,xrtol=XR, fatol=0, frtol=0))
    global NIT; NIT=r.nit
    assert r.success.all(), r
    x[inner] = r.x
    return x
XR=1e-14
def threshold_intensity(plateau, diffusion, stability, tempering, convention="levy"):
    kappa, eta_g, _, alpha, lam = _checked(plateau, diffusion, 1.0, stability, tempering)
    with np.errstate(divide="ignore"):  # λ = 0: the limits 0, κ/ψ and inf for α below, at and above 1
        power = lam ** (1 - alpha)
    return (kappa-eta_g*lam)*power/(convention_constant(alpha, convention)*unit_laplace_exponent(1.0, alpha, 1.0))
def _equal(a,b): return np.abs(a-b)<=_EQUAL*b
def _checked(plateau, diffusion, intensity, stability, tempering):
    return tuple(np.asarray(a, dtype=float) for a in (plateau, diffusion, intensity, stability, tempering))
