"""Untempered jumps (λ = 0): tails are powers, no grid holds the body, and the half-line is closed by a known shape.

Beyond an edge |F| ≈ κ s^p, and single jumps from the body make ρ ≈ (η_J c/(α κ)) s^{-α-p}. The tail's own jumps and
its diffusion add further powers; put Σ_j a_j s^{-q_j} into 0 = -(Fρ)' + η_G ρ'' + J*ρ and collect,

    κ (p - q') a' = -η_J c G(q) a,   q' = q + α + p - 1,          κ (p - q') a' = -η_G q (q+1) a,   q' = q + p + 1

where G(q) is the jump integral of s^{-q}, over the same half-line or the opposite one. Moments of the body and the
lower terms of the drift add 1/s, 1/s² … relative to the first power; their coefficients are read from a solution.
The shape's size is what mass conservation at the edge demands (`halfline.ShapedLine`).

The catch: the series is asymptotic. For a drift that saturates its terms fall as s^{-(α-1)} only, slowly for α near 1;
what is left out is seen when the edge is moved, and only then.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma

from solver import elimination
from solver.errors import ModelError
from solver.grid import Grid
from solver.model import Model
from solver.nullvector import NullVector
from solver.power_tail import PowerTail
from solver.tail_growth import far_jump_law, growth, is_untempered, middle, tail_scale

Array = NDArray[np.float64]
Terms = list[tuple[float, float]]  # (power q, coefficient a)

# Far jumps are exact to this many nodes. What the tail beyond it sends back is rounding for α ≥ 1; for α = 0.5 and a
# linear drift it is 1e-6 of the flux at an edge 1e4 nodes away at 1e6 nodes, 1e-9 at this, for half as many terms more.
REACH = 1e9
# Powers of 1/s, relative to the first, that theory does not give; and up to where it is followed.
_READ = (1.0, 2.0, 3.0)
_FOLLOWED = 1.99
# Depths from which they are read, relative to the edge: deep enough to see the tail, off what the edge itself bends.
_SHALLOW, _DEEP = 0.25, 0.9
_POINTS = 300
# Times they are read: what they give rise to changes them little, by less than 1/s each time.
_READINGS = 3
# Theory's terms smaller than this, relative to the first at depth 1, are rounding of sines that vanish.
_ROUNDING = 1e-14
# At whole powers q the jump integral of a one-sided tail diverges: a logarithm appears, written as the difference of
# two powers so far apart. It is right to their distance times a few logarithms, and costs 1e-16 over it of accuracy.
_RESONANT, _MOVED = 1e-6, 1e-5
# Terms closer than this are judged together.
_TOGETHER = 0.01


def null_vector(model: Model, grid: Grid, order: int = 8, *, depth: float = 0.0) -> NullVector:
    """`elimination.null_vector`; for untempered jumps open edges are closed by powers of the depth.

    Two solves: the second with the powers that theory does not give, as read from the first.
    """
    if not is_untempered(model) or "open" not in grid.edges:
        return elimination.null_vector(model, grid, order, depth=depth)
    known = expansions(model)
    shapes = tuple(_shape(model, grid, known[k], k) if grid.edges[k] == "open" else None for k in range(2))
    first = elimination.null_vector(model, grid, order, reach=REACH, shapes=(shapes[0], shapes[1]))
    if not (first.sign > 0).all():
        return first
    read: list[Terms] = [[], []]
    for _ in range(_READINGS):
        known = expansions(model, (read[0], read[1]))
        shapes = tuple(None if shape is None else _shape(model, grid, known[k], k) for k, shape in enumerate(shapes))
        read = [[] if shape is None else _read(first, shape, known[k][0][1], k) for k, shape in enumerate(shapes)]
    whole = tuple(None if shape is None else _with(shape, read[k], known[k][0][1]) for k, shape in enumerate(shapes))
    return elimination.null_vector(model, grid, order, reach=REACH, shapes=(whole[0], whole[1]))


def jump_integral(power: float, stability: float) -> tuple[float, float]:
    """G(q) s^{q+α}: ∫ [y^{-q} - s^{-q}] |y-s|^{-1-α} dy over a tail y > 0, seen from its own side and the opposite one.

    The finite part, by analytic continuation in q and α: π Γ(q+α)/(Γ(1+α) Γ(q) sin πq) times -sin π(q+α/2)/sin(πα/2)
    and 1. Both are infinite at whole q; their sum, for two equal tails, is finite at even q.

    >>> own, opposite = jump_integral(0.5, 0.5)
    >>> print(f"{opposite:.9f}")  # ∫_0^∞ y^{-1/2} (1+y)^{-3/2} dy
    2.000000000
    """
    own = -np.sin(np.pi * (power + stability / 2)) / np.sin(np.pi * stability / 2)
    size = np.pi * gamma(power + stability) / (gamma(1 + stability) * gamma(power) * np.sin(np.pi * power))
    return float(size * own), float(size)


def expansions(model: Model, read: tuple[Terms, Terms] = ([], [])) -> tuple[Terms, Terms]:
    """The powers that theory gives on the left and on the right, (q, a) with q ascending, for mass 1 in the body.

    `read` are terms from elsewhere: what they give rise to is included, they are not.
    """
    far = far_jump_law(model)
    alpha, strength = far.stability, far.strength
    laws = (growth(model.drift, -1), growth(model.drift, 1))
    first = [alpha + law.power for law in laws]
    scales = [strength / (alpha * law.size) for law in laws]
    found: tuple[Terms, Terms] = ([], [])
    depth = max(1.0, tail_scale(model))
    given = [(q, a, side) for side in range(2) for q, a in read[side]]
    waiting = list(given)
    waiting += [(alpha + law.power, strength / (alpha * law.size), k) for k, law in enumerate(laws) if law.bounded]
    while waiting:
        waiting.sort()
        q = waiting[0][0]
        now = [sum(a for r, a, k in waiting if k == side and abs(r - q) < 1e-9) for side in range(2)]
        waiting = [term for term in waiting if abs(term[0] - q) >= 1e-9]
        for side in range(2):
            own = now[side] - sum(a for r, a, k in given if k == side and abs(r - q) < 1e-9)
            if abs(own) > _ROUNDING * scales[side] and q - first[side] <= _FOLLOWED:
                found[side].append((q, own))
        jumps, logarithm = _jumps_from(q, now, alpha)
        for side, law in enumerate(laws):
            if not law.bounded:
                continue
            ahead = q + alpha + law.power - 1
            if ahead - first[side] <= _FOLLOWED:
                size = strength * jumps[side] / (law.size * (ahead - law.power))
                waiting.append((ahead + logarithm, size, side))
                if logarithm:
                    waiting.append((ahead, -size * depth**-logarithm, side))
            ahead = q + law.power + 1
            if model.diffusion > 0 and ahead - first[side] <= _FOLLOWED and now[side] != 0:
                spread = model.diffusion * q * (q + 1) * now[side]
                waiting.append((ahead, spread / (law.size * (ahead - law.power)), side))
    return found


def _jumps_from(q: float, tails: list[float], alpha: float) -> tuple[tuple[float, float], float]:
    """Σ G a on either side from the tails a s^{-q} of both, and by how much q was moved because that diverges."""
    moved = 0.0
    if abs(np.sin(np.pi * q)) < _RESONANT:
        if round(q) % 2 == 0 and np.isclose(tails[0], tails[1], rtol=1e-9):
            # the limit of own + opposite at even q, by de l'Hôpital: sin π(q+α/2)/sin(πα/2) leaves -cot(πα/2)
            both = -np.pi * gamma(q + alpha) / (gamma(1 + alpha) * gamma(q) * np.tan(np.pi * alpha / 2))
            return (float(both * tails[0]), float(both * tails[1])), moved
        moved = _MOVED
    own, opposite = jump_integral(q + moved, alpha)
    return (own * tails[0] + opposite * tails[1], own * tails[1] + opposite * tails[0]), moved


def _shape(model: Model, grid: Grid, terms: Terms, side: int) -> PowerTail:
    """The tail of these terms from the edge on, 1 there.

    Terms are given up from the first that is larger than the two before it (some are small by themselves).
    """
    word = ("left", "right")[side]
    edge = middle(model.drift) - grid.left if side == 0 else grid.right - middle(model.drift)
    if not terms:
        raise ModelError(f"edges: the {word} edge must be 'stop', the drift outgrows every power of ζ there")
    if edge <= 0:
        raise ModelError(f"grid: its {word} edge lies inside the drift's zeros (by {-edge:g}); move it outwards")
    powers, sizes = np.array([q for q, _ in terms]), np.array([a for _, a in terms])
    relative = sizes / sizes[0] * edge ** (powers[0] - powers)
    order = np.floor((powers - powers[0]) / _TOGETHER + 0.5)
    sums = np.abs([relative[order == k].sum() for k in np.unique(order)])
    before = np.maximum(sums[:-1], np.append(sums[0], sums[:-2]) if sums.size > 1 else sums[:-1])
    falling = np.concatenate([[True], sums[1:] < before])
    last = np.unique(order)[sums.size - 1 if falling.all() else int(np.argmin(falling)) - 1]
    kept = int(np.sum(order <= last))
    coefficients = relative[:kept] / relative[:kept].sum()
    return PowerTail(coefficients, powers[:kept], edge / grid.spacing, 0.0, grid.spacing)


def _read(null: NullVector, shape: PowerTail, size: float, side: int) -> Terms:
    """Whole powers of 1/s relative to the first, as the solution shows them between two depths inside the edge.

    `size` is a of the first power a s^{-q}, which theory gives: what is read is added to it and cannot change it.
    """
    nearest, farthest = (int((1 - share) * shape.start) for share in (_DEEP, _SHALLOW))
    inwards = np.arange(nearest, farthest, max(1, (farthest - nearest) // _POINTS))
    log_density = null.log_density if side == 0 else null.log_density[::-1]
    depth = 1 - inwards / shape.start
    edge = np.log(size) - shape.power * np.log(shape.start * shape.spacing)  # ln of the first power at the edge
    relative = shape.coefficients / shape.coefficients[0]
    known = np.power.outer(depth, shape.powers[0] - shape.powers) @ relative
    missing = np.exp(log_density[inwards] - edge + shape.power * np.log(depth)) - known
    columns = np.stack([depth**-e for e in _READ], axis=1)
    read = np.linalg.lstsq(columns / known[:, None], missing / known, rcond=None)[0]
    unit = shape.start * shape.spacing
    return [(shape.power + e, size * a * unit**e) for e, a in zip(_READ, map(float, read), strict=True)]


def _with(shape: PowerTail, terms: Terms, size: float) -> PowerTail:
    """The shape with more terms; `size` is a of its first power."""
    powers, sizes = np.array([q for q, _ in terms]), np.array([a for _, a in terms])
    relative = sizes / size * (shape.start * shape.spacing) ** (shape.power - powers)
    powers = np.concatenate([shape.powers, powers])
    coefficients = np.concatenate([shape.coefficients / shape.coefficients[0], relative])
    ascending = np.argsort(powers)
    return replace(shape, coefficients=coefficients[ascending] / coefficients.sum(), powers=powers[ascending])
