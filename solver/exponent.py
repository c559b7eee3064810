"""The spectral exponent β, its threshold, its inverse and the phases, over arrays of parameters.

    Φ(b) = η_G b² + η_J ψ(b) - κ b = 0,  0 < b ≤ λ      β is the positive root; Φ is convex, so it is unique
    η_J* = λ (κ - η_G λ) / ψ(λ)                         the smallest intensity that has a root
    η_J(β) = (κβ - η_G β²) / ψ(β)                       the intensity that gives a wanted exponent

All functions broadcast over all their arguments. "No root" is an answer (NaN), a parameter outside its range
an error (ModelError). The catch: at the threshold and at β = 1 the answer turns on the last bit, so there a
relative 1e-12 counts as equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize.elementwise import find_root
from scipy.special import gamma

from solver.errors import NotConvergedError
from solver.jump_exponents import convention_constant, unit_laplace_exponent
from solver.parameter_arrays import checked, numbers_within_doubles

Array = NDArray[np.float64]

# What is promised of every result: intensities closer than this to η_J* are at the threshold, exponents
# closer than this to 1 are critical.
_EQUAL = 1e-12
# The relative rounding error of g(b) below, with room (measured: 5e-15): brackets are widened by it.
_ROUNDING = 1e-13
# Tolerance of the root, relative; Φ is well conditioned (g(b) grows at least like b), so the root is as
# good as g.
_ROOT_TOLERANCE = 1e-14
# A double below has fewer than 53 bits: ψ ~ b² gets there for b near 1e-154, and a quotient by it would be wrong.
SMALLEST = np.finfo(float).tiny


@numbers_within_doubles
def spectral_exponent(
    plateau: ArrayLike,
    diffusion: ArrayLike,
    intensity: ArrayLike,
    stability: ArrayLike,
    tempering: ArrayLike,
    convention: str = "levy",
) -> Array:
    """β, the root of Φ in (0, λ], to 1e-12 relative; NaN where there is none.

    NaN below the threshold, for λ = 0 and for κ ≤ 0 (no stationary density); λ at the threshold; inf where
    κ is inf (a drift without bound). With intensity 0 there are no jumps and β = κ/η_G, whatever λ.

    >>> float(spectral_exponent(1.0, 0.3, 0.4, 1.5, 2.2))
    1.26736004906
    >>> spectral_exponent(1.0, 0.1, [0.0, 0.2, 0.6], 0.5, 1.0)
    array([10.        ,         nan,  0.96437004])
    """
    kappa, eta_g, eta_j, alpha, lam = checked(
        plateau=plateau, diffusion=diffusion, intensity=intensity, stability=stability, tempering=tempering
    )
    return _exponent(kappa, eta_g, eta_j, alpha, lam, convention, _threshold(kappa, eta_g, alpha, lam, convention))


def _exponent(
    kappa: Array, eta_g: Array, eta_j: Array, alpha: Array, lam: Array, convention: str, star: Array
) -> Array:
    shape = np.broadcast_shapes(star.shape, eta_j.shape)
    saturating = (kappa > 0) & np.isfinite(kappa)
    jumping = saturating & (eta_j > 0) & (lam > 0)
    out = np.full(shape, np.nan)
    np.divide(kappa, eta_g, out=out, where=np.broadcast_to(saturating & (eta_j == 0), shape))
    np.copyto(out, np.inf, where=kappa == np.inf)
    np.copyto(out, lam, where=jumping & at_threshold(eta_j, star))
    solve = np.broadcast_to(jumping & (eta_j > star) & ~at_threshold(eta_j, star), shape)
    if np.any(solve):
        k, g, j, t, c = (
            np.broadcast_to(a, shape)[solve] for a in (kappa, eta_g, eta_j, lam, convention_constant(alpha, convention))
        )
        # One α for all stays a scalar: ψ is then three times faster.
        index = alpha.reshape(()) if alpha.size == 1 else np.broadcast_to(alpha, shape)[solve]
        out[solve] = t * _relative_root(g * t / k, c * j * t ** (index - 1) / k, index)
    return out


@numbers_within_doubles
def threshold_intensity(
    plateau: ArrayLike,
    diffusion: ArrayLike,
    stability: ArrayLike,
    tempering: ArrayLike,
    convention: str = "levy",
) -> Array:
    """η_J* = λ (κ - η_G λ) / ψ(λ): below it there is no root; ≤ 0 when κ ≤ η_G λ, where a root always exists.

    NaN for κ ≤ 0 and κ = inf, which know no threshold. At λ = 0 its limit: 0 for α < 1, inf for α > 1.

    >>> float(threshold_intensity(1.0, 0.3, 1.5, 2.2))
    0.11708455060
    """
    kappa, eta_g, alpha, lam = checked(plateau=plateau, diffusion=diffusion, stability=stability, tempering=tempering)
    return _threshold(kappa, eta_g, alpha, lam, convention)


def _threshold(kappa: Array, eta_g: Array, alpha: Array, lam: Array, convention: str) -> Array:
    kappa = np.where((kappa > 0) & np.isfinite(kappa), kappa, np.nan)
    with np.errstate(divide="ignore"):  # 0^{1-α} = inf is the limit wanted
        power = lam ** (1 - alpha)
    return np.asarray((kappa - eta_g * lam) * power / unit_laplace_exponent(1.0, alpha, 1.0, convention))


@numbers_within_doubles
def intensity_for_exponent(
    exponent: ArrayLike,
    plateau: ArrayLike,
    diffusion: ArrayLike,
    stability: ArrayLike,
    tempering: ArrayLike,
    convention: str = "levy",
) -> Array:
    """η_J(β) = (κβ - η_G β²) / ψ(β), the inverse of spectral_exponent.

    NaN where no intensity > 0 gives this exponent: β outside (0, λ], β ≥ κ/η_G, κ ≤ 0 or κ = inf.

    >>> float(intensity_for_exponent(1.2673600490625978, 1.0, 0.3, 1.5, 2.2))
    0.4
    >>> float(intensity_for_exponent(2.5, 1.0, 0.3, 1.5, 2.2))
    nan
    """
    beta, kappa, eta_g, alpha, lam = checked(
        exponent=exponent, plateau=plateau, diffusion=diffusion, stability=stability, tempering=tempering
    )
    inside = (beta > 0) & (beta <= lam)
    b = np.where(inside, beta, 0.0)
    pull = np.where(np.isfinite(kappa), kappa, 0.0) - eta_g * b
    psi = unit_laplace_exponent(b, alpha, lam, convention)
    possible = inside & (pull > 0) & np.isfinite(kappa)
    if np.any(possible & (psi < SMALLEST)):
        raise FloatingPointError
    out = np.full(np.broadcast_shapes(pull.shape, psi.shape), np.nan)
    np.divide(b * pull, psi, out=out, where=np.broadcast_to(possible, out.shape))
    return out


@numbers_within_doubles
def phase(
    plateau: ArrayLike,
    diffusion: ArrayLike,
    intensity: ArrayLike,
    stability: ArrayLike,
    tempering: ArrayLike,
    convention: str = "levy",
) -> NDArray[np.str_]:
    """The phase, as an array of words.

    "collapsed": η_J ≤ η_J*, no root or β = λ. "concentrated": β > 1, the mean time scale is finite.
    "broad": β < 1, it is infinite. "critical": |β - 1| ≤ 1e-12. "confined": κ = inf. "none": no stationary
    density, that is κ ≤ 0 or, for a finite κ, λ = 0 with α ≤ 1 (ρ ~ |ζ|^{-α} has no finite mass).

    >>> phase(1.0, 0.1, [0.2, 0.6, 1.0], 0.5, [1.0, 1.0, 2.0]).tolist()
    ['collapsed', 'broad', 'concentrated']
    """
    kappa, eta_g, eta_j, alpha, lam = checked(
        plateau=plateau, diffusion=diffusion, intensity=intensity, stability=stability, tempering=tempering
    )
    star = _threshold(kappa, eta_g, alpha, lam, convention)
    beta = _exponent(kappa, eta_g, eta_j, alpha, lam, convention, star)
    unbound = (eta_j > 0) & (lam == 0) & (alpha <= 1)
    collapsed = (eta_j > 0) & ((eta_j <= star) | at_threshold(eta_j, star))
    return _words(kappa, beta, collapsed, unbound)


def phase_word(plateau: float, exponent: float) -> str:
    """The phase of a jump law without threshold, from its exponent alone.

    >>> phase_word(1.0, 0.7), phase_word(float("inf"), float("inf")), phase_word(-1.0, float("nan"))
    ('broad', 'confined', 'none')
    """
    no = np.asarray(False)
    return str(_words(np.asarray(plateau), np.asarray(exponent), no, no))


def _words(kappa: Array, beta: Array, collapsed: NDArray[np.bool_], unbound: NDArray[np.bool_]) -> NDArray[np.str_]:
    """The first word that holds, for each entry of `beta`."""
    words = {
        "none": (kappa <= 0) | (unbound & np.isfinite(kappa)),
        "confined": kappa == np.inf,
        "collapsed": collapsed,
        "critical": np.abs(beta - 1) <= _EQUAL,
        "broad": beta < 1,
        "concentrated": beta > 1,
    }
    conditions = [np.broadcast_to(condition, beta.shape) for condition in words.values()]
    return np.select(conditions, list(words), default="none")


def _relative_root(diffusion: Array, intensity: Array, alpha: Array) -> Array:
    """x = β/λ from D x + J ψ₁(x)/x = 1, with ψ₁ for λ = c = 1, D = η_G λ/κ and J = η_J c λ^{α-1}/κ.

    The left side g is increasing and convex, so its chord from 0 and its slope at 0 bracket the root.
    """

    def excess(x: Array, d: Array, j: Array, a: Array = alpha) -> Array:
        return np.asarray(d * x + j * (unit_laplace_exponent(x, a, 1.0) / x) - 1)

    x = np.ones_like(diffusion)
    top = excess(x, diffusion, intensity)
    inner = top > _ROUNDING  # otherwise the root is at λ to rounding
    d, j, a = diffusion[inner], intensity[inner], alpha[inner] if alpha.ndim else alpha
    lower = (1 - _ROUNDING) / (1 + top[inner])
    upper = np.minimum(1.0, (1 + _ROUNDING) / (d + j * gamma(2 - a)))
    result = find_root(
        excess,
        (lower, upper),
        args=(d, j, a) if alpha.ndim else (d, j),
        tolerances={"xatol": 0.0, "xrtol": _ROOT_TOLERANCE, "fatol": 0.0, "frtol": 0.0},
    )
    if not np.all(result.success):
        bad = int(np.flatnonzero(~result.success)[0])
        raise NotConvergedError(
            "root of the Laplace exponent not found for "
            f"η_G λ/κ = {float(d[bad])!r}, η_J c λ^(α-1)/κ = {float(j[bad])!r}"
        )
    x[inner] = result.x
    return x


def at_threshold(intensity: ArrayLike, star: ArrayLike) -> NDArray[np.bool_]:
    """Whether the intensity equals the threshold η_J* to 1e-12 relative; False where η_J* is not positive.

    >>> at_threshold(0.5, [0.5, 0.6, -0.5]).tolist()
    [True, False, False]
    """
    level = np.asarray(star, dtype=float)
    return np.asarray(np.isfinite(level) & (np.abs(intensity - level) <= _EQUAL * level))
