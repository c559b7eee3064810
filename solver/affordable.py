"""Is the first level worth making? Asked before any grid is, because some models have no useful one.

A grid must hold the domain with a spacing that the shortest length allows, its neighbours must be different doubles,
and a tail must decay by an amount that doubles see from one block of nodes to the next.

The catch: this knows the coarsest level only. What finer ones need is found out by making them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solver.blocks import BLOCK
from solver.discretisation import Domain, least_width
from solver.errors import NotConvergedError
from solver.grid import NODE_ULPS
from solver.jumps import LaplaceJumps
from solver.model import Model

# The slope of the drift at a zero is read so far from it, in the drift's own lengths.
_NEAR = 1e-3


def slowest_decay(spacing: float) -> float:
    """The decay rate that is known to a tenth at this spacing, the worst that may be asked for.

    It is read off a spectral radius e^{-β b h}, b nodes in a block, which is rounded to eps.

    >>> print(f"{slowest_decay(0.1):.1e}")
    3.5e-16
    """
    return float(10 * np.finfo(float).eps / (BLOCK * spacing))


def require_affordable(model: Model, domain: Domain, spacing: float, max_nodes: int) -> None:
    """Raise NotConvergedError, saying what is too far apart, unless a first level of this spacing can be solved."""
    nodes = (domain.right - domain.left) / spacing if spacing > 0 else np.inf
    apart = domain.right > domain.left and spacing > NODE_ULPS * np.spacing(max(-domain.left, domain.right))
    if not apart or not nodes <= max_nodes:
        size = f"{nodes:.3g} nodes" if apart else "more nodes than doubles tell apart"
        raise NotConvergedError(
            f"the coarsest useful grid has {size} (h = {spacing:.3g} in [{domain.left:g}, {domain.right:g}]), "
            f"max_nodes = {max_nodes}: the lengths of drift and noise are too far apart"
        )
    tempering = np.inf if model.jumps is None else model.jumps.tempering
    if "open" in domain.edges and 0 < tempering < slowest_decay(spacing):
        raise NotConvergedError(
            f"tempering = {tempering:g}: the tails decay by no more than that per unit of ζ, which doubles do not tell "
            f"from no decay at h = {spacing:.3g}; take at least {slowest_decay(spacing):.0e}, or tempering = 0"
        )


def fourier_size(model: Model, wavenumber: float) -> float:
    """|ρ̂(k)| near the sharpest stable point, F' = -κ there: exp(-∫_0^k Ψ(u) du / (κ u)), Ψ = η_G u² minus the symbol.

    It falls for every law, but pure jumps of small stability have Ψ ~ u^α with a small factor: a needle with wide
    wings, of which differences mean nothing until k = π/h is far out in it. NaN where no point has a slope.

    >>> from solver.drifts import LinearDrift
    >>> round(fourier_size(Model(LinearDrift(1.0), 0.5), 2.0), 4)  # exp(-0.5 · 2² / 2)
    0.3679
    """
    slope = _contraction(model)
    if not slope > 0:
        return float("nan")
    u = wavenumber * np.geomspace(1e-6, 1.0, 2000)  # Ψ(u) vanishes like u^α at least
    noise = model.diffusion * u**2 - (0.0 if model.jumps is None else model.jumps.symbol(u))
    return float(np.exp(-np.trapezoid(noise, np.log(u)) / slope))


def require_resolvable(model: Model, width: float, nodes: float, allowed: float) -> None:
    """Raise NotConvergedError where `fourier_size` at the wave number of `nodes` over `width` exceeds `allowed`.

    Where no size is known, only `allowed` = 0 refuses.
    """
    spacing = width / nodes
    size = fourier_size(model, np.pi / spacing)
    if size > allowed or (np.isnan(size) and allowed == 0):
        why = "the smallest jumps hardly spread it against the drift"
        if isinstance(model.jumps, LaplaceJumps) and model.diffusion == 0 and not np.isnan(size):
            rate, slope = model.jumps.rate, _contraction(model)
            why = (
                f"jumps of rate {rate:.3g} are rare, and between them the drift gathers it at its stable point ζ*, at "
                f"rate {slope:.3g}, where it behaves as |ζ - ζ*|^{rate / slope - 1:.3g}"
            )
        elif not np.isnan(size):
            why = f"its Fourier transform is still {size:.1g} at their wave number, {why}"
        raise NotConvergedError(
            f"the density is too sharp for {nodes:.0f} nodes (h = {spacing:.3g}): {why}; allow more nodes, or give the "
            "model some diffusion"
        )


def _contraction(model: Model) -> float:
    """-F' at the sharpest stable point; NaN where there is none."""
    scale = least_width(model)
    slopes = [float(np.diff(model.drift(zero + _NEAR * scale * np.array([1.0, -1.0])))[0]) for zero in _zeros(model)]
    return max(slopes, default=float("nan")) / (2 * _NEAR * scale)


def _zeros(model: Model) -> NDArray[np.float64]:
    """The zeros of F, without those at which it jumps."""
    zeros = model.drift.sign_changes()
    return np.array([zero for zero in zeros if zero not in model.drift.breaks])
