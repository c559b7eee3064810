"""The jump law and the exponent at 60 digits, from the textbook formulas: what double precision is held to.

Cancellation is beaten by digits alone: at b/λ = 1e-12 the formula loses 24 of them.
"""

from __future__ import annotations

import mpmath as mp

DIGITS = 60
STABILITIES = (0.0101, 0.2, 0.5 - 1e-12, 0.5, 0.7, 1 - 1e-9, 1 - 1e-15, 1.0, 1 + 1e-9, 1.3, 1.8, 1.99)


def laplace_exponent(b: float, stability: float, tempering: float) -> mp.mpf:
    """ψ(b) for c = 1."""
    with mp.workdps(DIGITS):
        b, a, lam = mp.mpf(b), mp.mpf(stability), mp.mpf(tempering)
        if a == 1:
            return _entropy(lam + b) + _entropy(lam - b) - 2 * _entropy(lam)
        return mp.gamma(-a) * ((lam + b) ** a + (lam - b) ** a - 2 * lam**a)


def symbol(k: float, stability: float, tempering: float) -> mp.mpf:
    """ψ(ik) for c = 1; at λ = 0 its limit."""
    with mp.workdps(DIGITS):
        k, a, lam = mp.mpf(k), mp.mpf(stability), mp.mpf(tempering)
        if lam == 0:
            return -mp.pi * k if a == 1 else 2 * mp.gamma(-a) * mp.cos(mp.pi * a / 2) * k**a
        z = mp.mpc(lam, k)
        if a == 1:
            return 2 * mp.re(z * mp.log(z)) - 2 * _entropy(lam)
        return 2 * mp.gamma(-a) * mp.re(z**a - lam**a)


def root(plateau: float, diffusion: float, strength: float, stability: float, tempering: float) -> mp.mpf:
    """The positive root β of η_G b² + η_J c ψ(b) - κ b, known to exist, by a bracketing method."""
    with mp.workdps(DIGITS):
        kappa, eta, size, lam = (mp.mpf(v) for v in (plateau, diffusion, strength, tempering))

        def g(b: mp.mpf) -> mp.mpf:
            return eta * b + size * laplace_exponent(b, stability, tempering) / b - kappa

        curvature = eta + size * mp.gamma(2 - mp.mpf(stability)) * lam ** (mp.mpf(stability) - 2)
        low, high = lam * kappa / (g(lam) + kappa), min(lam, kappa / curvature)
        if high - low < mp.mpf(10) ** -30 * low:
            return low
        return mp.findroot(g, (low, high), solver="anderson", tol=mp.mpf(10) ** -50, verify=False)


def _entropy(t: mp.mpf) -> mp.mpf:
    return t * mp.log(t) if t > 0 else mp.mpf(0)
