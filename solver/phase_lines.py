"""The two boundaries of a phase diagram as lines: the threshold, Φ(λ) = 0, and the critical line, Φ(1) = 0.

    Φ(b) = η_G b² + η_J ψ(b) - κ b         linear in κ, η_G and η_J, so that each of them is a formula in the others

Only where neither axis is one of those three a root has to be found, of λ for each α. The catch is α < 1: there Φ(λ)/λ
first falls and then rises with λ, the threshold has two branches that meet in a fold, and a search that takes the first
root of each column loses one of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize.elementwise import find_root

from solver.axes import Array
from solver.jump_exponents import unit_laplace_exponent
from solver.model import Model
from solver.phase_diagram import Axis, broadcast, checked_axes

LINES = ("threshold", "critical")
_LINEAR = ("intensity", "plateau", "diffusion")
# Points along a line, on top of the axis' own values: smooth in print.
_POINTS = 500
# Values of λ that are searched for changes of sign; Φ(λ)/λ is convex in λ, a finer search only places the fold better.
_SCAN = 400
_ROOT_TOLERANCE = 1e-15

Line = tuple[Array, Array]


def phase_lines(model: Model, x: Axis, y: Axis) -> dict[str, Line]:
    """Both boundaries within the axes of a phase diagram: (x, y) arrays each, NaN where a line leaves the frame.

    The parameter that was solved for (η_J, κ, η_G or λ) is right to 1e-12 relative. ModelError as in phase_diagram.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> model = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    >>> lines = phase_lines(model, x=("intensity", [0.1, 1.0]), y=("plateau", [0.5, 1.0]))
    >>> [float(np.interp(1.0, along[1], along[0])) for along in lines.values()]
    [0.1170845506, 0.5778223478]
    """
    names, values = checked_axes(model, x, y)
    grid = {name: value.reshape(-1)[:1] for name, value in broadcast(model, names, values).items()}
    linear = next((name for name in _LINEAR if name in names), None)
    solved = linear or "tempering"
    other = names[1 - names.index(solved)]
    along = _dense(values[names.index(other)])
    if other == "stability" and _convention(model) == "laplacian":
        along = along[along != 1.0]  # where that convention has no jumps
    grid[other] = along
    span = values[names.index(solved)]
    out = {}
    for which in LINES:
        if linear is not None:
            pair = along, _explicit(grid, linear, which, _convention(model))
        else:
            pair = _searched(grid, span, which, _convention(model))
        inside = (pair[1] >= span[0]) & (pair[1] <= span[-1])
        found = np.where(inside, pair[1], np.nan)
        out[which] = (pair[0], found) if names.index(solved) == 1 else (found, pair[0])
    return out


def _convention(model: Model) -> str:
    return str(getattr(model.jumps, "convention", "levy"))


def _dense(values: Array) -> Array:
    """The values and as many between as a smooth line needs, spaced both ways: an axis may be logarithmic."""
    low, high = values[0], values[-1]
    more = [np.linspace(low, high, _POINTS)] + ([np.geomspace(low, high, _POINTS)] if low > 0 else [])
    inside = np.concatenate([values, *more])
    return np.unique(inside[(inside >= low) & (inside <= high)])


def _explicit(grid: dict[str, Array], name: str, which: str, convention: str) -> Array:
    """The value of one of η_J, κ, η_G that puts the root at b = λ or b = 1; NaN where b = 1 lies beyond λ."""
    alpha, lam = np.broadcast_arrays(grid["stability"], grid["tempering"])
    b = lam if which == "threshold" else np.ones_like(lam)
    possible = (lam > 0) & (b <= lam)
    b = np.where(possible, b, np.nan)
    psi = unit_laplace_exponent(np.where(possible, b, 0.0), alpha, lam, convention)
    kappa, eta_g, eta_j = grid["plateau"], grid["diffusion"], grid["intensity"]
    psi = np.where(possible, psi, np.nan)
    if name == "intensity":
        return np.asarray(b * (kappa - eta_g * b) / psi)
    if name == "plateau":
        return np.asarray(eta_g * b + eta_j * psi / b)
    return np.asarray((kappa - eta_j * psi / b) / b)


def _searched(grid: dict[str, Array], span: Array, which: str, convention: str) -> Line:
    """(α, λ) along the line: the branch where Φ falls with λ backwards, then the one where it rises, so that they join
    in their fold, which lies at the small end of α."""
    kappa, eta_g, eta_j = (float(grid[name][0]) for name in ("plateau", "diffusion", "intensity"))
    alpha = grid["stability"]

    def excess(lam: Array, index: Array) -> Array:
        b = lam if which == "threshold" else np.ones_like(lam)
        return np.asarray(eta_g * b + eta_j * unit_laplace_exponent(b, index, lam, convention) / b - kappa)

    low = max(float(span[0]), np.finfo(float).tiny)
    if which == "critical":
        low = max(low, 1.0)
    if not low < span[-1]:
        return np.array([np.nan]), np.array([np.nan])
    lam = np.geomspace(low, span[-1], _SCAN)
    positive = excess(lam[:, None], alpha[None, :]) > 0
    falling = _roots(excess, lam, alpha, positive[:-1] & ~positive[1:])
    rising = _roots(excess, lam, alpha, ~positive[:-1] & positive[1:])
    start = _first(falling) if _first(falling) == _first(rising) else 0  # nothing between the two ends of a fold
    along = alpha[start:]
    return np.concatenate([along[::-1], along]), np.concatenate([falling[start:][::-1], rising[start:]])


def _first(values: Array) -> int:
    """Where the first number is; past the end if there is none."""
    found = np.flatnonzero(np.isfinite(values))
    return int(found[0]) if found.size else values.size


def _roots(excess: Callable[[Array, Array], Array], lam: Array, alpha: Array, change: NDArray[np.bool_]) -> Array:
    """For each α the root inside the interval of λ where the sign changes; NaN where it does not."""
    out = np.full(alpha.shape, np.nan)
    columns = np.flatnonzero(change.any(axis=0))
    if columns.size:
        rows = change[:, columns].argmax(axis=0)
        tolerances = {"xatol": 0.0, "xrtol": _ROOT_TOLERANCE, "fatol": 0.0, "frtol": 0.0}
        found = find_root(excess, (lam[rows], lam[rows + 1]), args=(alpha[columns],), tolerances=tolerances)
        out[columns] = np.where(found.success, found.x, np.nan)
    return out
