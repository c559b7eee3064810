"""The tempered stable jump law for unit intensity, in closed form: the constant c, ψ(b) and ψ(ik).

    ψ(b) = c ∫ (e^{bz} - 1) e^{-λ|z|} / |z|^{1+α} dz = c Γ(-α) [(λ+b)^α + (λ-b)^α - 2λ^α],    |b| ≤ λ

The catch is cancellation: this textbook form loses every digit for b/λ small, α near 1 and α near 0. Three
forms cover the plane instead: a series of positive terms for small x = b/λ; the differences (1±x)^α - 1 by
log1p and expm1 for α < 1/2; and for α ≥ 1/2 the same with the factor 1±x taken out, because (1+x) + (1-x) -
2 vanishes exactly and what remains carries a factor α-1 that cancels the pole of Γ(-α).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import exprel, gamma

from solver.checks import choice
from solver.errors import ModelError

Array = NDArray[np.float64]

CONVENTIONS = ("levy", "stable", "laplacian")

# Below this b/λ the series, above it the rearranged closed form, whose rounding error grows like 1/x: at
# 1/8 it is still below 1e-14 for every α, and ten terms of the series leave (1/8)^20 < 1e-18.
_SERIES_BELOW, _SERIES_TERMS = 0.125, 10


def convention_constant(stability: ArrayLike, convention: str = "levy") -> Array:
    """c of the Lévy density, shape of `stability`.

    "levy": 1. "stable": α 2^{α-1} Γ((1+α)/2) / (√π Γ(1-α/2)), so that the symbol tends to -|k|^α as λ → 0.
    "laplacian": 1/(2|Γ(-α)|), the constant of the tempered fractional Laplacian; it vanishes at α = 1,
    which is refused with ModelError.

    >>> float(convention_constant(1.0, "stable")) * math.pi
    1.0
    """
    choice("convention", convention, CONVENTIONS)
    alpha = np.asarray(stability, dtype=float)
    if convention == "levy":
        return np.ones_like(alpha)
    if convention == "stable":
        top, bottom = alpha * 2.0 ** (alpha - 1) * gamma((1 + alpha) / 2), gamma(1 - alpha / 2)
        return np.asarray(top / (math.sqrt(math.pi) * bottom))
    if np.any(alpha == 1.0):
        raise ModelError(
            "convention = 'laplacian': its constant 1/(2|Γ(-α)|) is zero at stability = 1; "
            "use 'levy' or 'stable' there, or another stability"
        )
    return np.asarray(alpha * np.abs(alpha - 1) / (2 * gamma(2 - alpha)))


def unit_laplace_exponent(b: ArrayLike, stability: ArrayLike, tempering: ArrayLike, convention: str = "levy") -> Array:
    """ψ(b) = 2 c λ^α Σ_{k≥1} Γ(2k-α)/(2k)! (b/λ)^{2k}: the Laplace exponent for unit intensity.

    Broadcasts over all arguments; relative error below 1e-13 for every α in (0, 2) and |b| ≤ λ. Raises
    ModelError for |b| > λ (the exponential moment is infinite) and for α or λ outside their ranges. The
    series is e^{bz} expanded and integrated term by term.

    >>> float(unit_laplace_exponent(1.0, 1.0, 1.0)) / (2 * math.log(2))
    1.0
    """
    exponent, alpha, lam = (np.asarray(a, dtype=float) for a in (b, stability, tempering))
    require(alpha, (alpha > 0) & (alpha < 2), "stability", "(0, 2)")
    require(lam, (lam >= 0) & np.isfinite(lam), "tempering", "[0, inf)")
    size, bound = np.broadcast_arrays(np.abs(exponent), lam)
    if not np.all(size <= bound):
        where = ~(size <= bound)
        raise ModelError(
            f"b = {_first(size, where)!r} exceeds tempering = {_first(bound, where)!r}: "
            "the exponential moment of the jumps is infinite"
        )
    # 1 - b/λ is formed from λ - b, which is exact for b ≥ λ/2: near b = λ, ψ feels every digit of it.
    x, y = (
        np.divide(part, bound, out=np.full(size.shape, default), where=bound > 0)
        for part, default in ((size, 0.0), (bound - size, 1.0))
    )
    scale = 2.0 * convention_constant(alpha, convention) * lam**alpha
    return np.asarray(scale * _reduced_exponent(x, y, alpha))


def unit_symbol(k: ArrayLike, stability: float, tempering: float, convention: str = "levy") -> Array:
    """ψ(ik) = c ∫ (cos kz - 1) e^{-λ|z|} / |z|^{1+α} dz ≤ 0 for real k of any shape; scalars α and λ.

    Relative error below 1e-12, also for λ = 0, where it is -c π Γ(2-α)/α sinc((α-1)/2) |k|^α.

    >>> float(unit_symbol(4.0, 1.5, 0.0, "stable"))
    -8.0
    """
    wave = np.abs(np.asarray(k, dtype=float))
    alpha, c = stability, float(convention_constant(stability, convention))
    if tempering == 0:
        # 2 Γ(1-α) cos(πα/2)/α with the removable zero at α = 1 inside numpy's sinc(x) = sin(πx)/(πx).
        limit = math.pi * math.gamma(2 - alpha) / alpha * float(np.sinc((alpha - 1) / 2))
        return np.asarray(-c * limit * wave**alpha)
    return np.asarray(2 * c * tempering**alpha * _reduced_symbol(wave / tempering, alpha))


def _reduced_exponent(x: Array, y: Array, alpha: Array) -> Array:
    """S(x) = Σ_{k≥1} Γ(2k-α)/(2k)! x^{2k} = Γ(-α)/2 [(1+x)^α + y^α - 2], 0 ≤ x ≤ 1, y = 1-x; broadcasts."""
    shape = np.broadcast_shapes(x.shape, alpha.shape)
    # One α for all stays a scalar, and with it the coefficients of the series.
    alpha = alpha.reshape(()) if alpha.size == 1 else np.broadcast_to(alpha, shape)
    x, y = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    small, low = x < _SERIES_BELOW, alpha < 0.5
    out = np.empty(shape)
    if np.any(small):
        out[small] = _series(x[small], alpha[small] if alpha.ndim else alpha)
    for where, form in ((~small & low, _near_zero), (~small & ~low, _near_one)):
        if np.any(where):
            out[where] = form(*_logarithms(x[where], y[where]), alpha[where] if alpha.ndim else alpha)
    return out


def _series(x: Array, alpha: Array) -> Array:
    """All terms positive: nothing can cancel."""
    square = x * x
    total = np.ones_like(square)
    for k in range(_SERIES_TERMS, 0, -1):
        ratio = (2 * k - alpha) * (2 * k + 1 - alpha) / ((2 * k + 1) * (2 * k + 2))
        total *= square
        total *= ratio
        total += 1
    return np.asarray(gamma(2 - alpha) / 2 * square * total)


def _logarithms(x: Array, y: Array) -> tuple[Array, Array]:
    """ln(1+x) and ln(1-x), the latter from x or from y = 1-x, whichever is the small one; -inf at x = 1."""
    with np.errstate(divide="ignore"):
        return np.log1p(x), np.where(x < 0.5, np.log1p(-x), np.log(y))


def _near_zero(up: Array, down: Array, alpha: Array) -> Array:
    """α < 1/2: -Γ(1-α)/(2α) [((1+x)^α - 1) + ((1-x)^α - 1)]; expm1 makes -1 of ln 0."""
    return np.asarray(-gamma(1 - alpha) / (2 * alpha) * (np.expm1(alpha * up) + np.expm1(alpha * down)))


def _near_one(up: Array, down: Array, alpha: Array) -> Array:
    """α ≥ 1/2, e = α-1: Γ(2-α)/(2α) Σ± (1±x) ((1±x)^e - 1)/e."""
    e = alpha - 1
    down = np.maximum(down, -1e3)  # (1-x)^α → 0 at x = 1: a finite logarithm, far below that of any double
    total = np.exp(up) * up * exprel(e * up) + np.exp(down) * down * exprel(e * down)
    return np.asarray(gamma(2 - alpha) / (2 * alpha) * total)


def _reduced_symbol(y: Array, alpha: float) -> Array:
    """S(iy) = Γ(-α) Re[(1+iy)^α - 1] for y ≥ 0, by the same two rearrangements with ln(1+iy) = p + iθ."""
    p = np.where(y < 1, 0.5 * np.log1p(np.minimum(y, 1) ** 2), np.log(np.hypot(1, y)))
    theta = np.arctan(y)
    e = alpha if alpha < 0.5 else alpha - 1
    # Re and Im of ((1+iy)^e - 1)/e, finite at e = 0.
    real = p * exprel(e * p) * np.cos(e * theta) - e * theta**2 / 2 * np.sinc(e * theta / (2 * math.pi)) ** 2
    if alpha < 0.5:
        return np.asarray(-math.gamma(1 - alpha) * real)
    imaginary = np.exp(e * p) * theta * np.sinc(e * theta / math.pi)
    return np.asarray(math.gamma(2 - alpha) / alpha * (real - y * imaginary))


def require(values: Array, good: NDArray[np.bool_], field: str, allowed: str) -> None:
    """The array form of checks.number: ModelError with the first value that is not `good`.

    >>> require(np.array([0.5, 2.5]), np.array([True, False]), "stability", "(0, 2)")
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: stability = 2.5: must lie in (0, 2)
    """
    if not np.all(good):
        raise ModelError(f"{field} = {_first(values, ~good)!r}: must lie in {allowed}")


def _first(values: Array, where: Any) -> float:
    """The first offending entry, for a message."""
    return float(values[where].flat[0])
