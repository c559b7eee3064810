"""The slowest modes of one grid: Arnoldi on the resolvent, from both sides, and a Ritz step that joins them.

The eigenvalues of (σ - A)⁻¹ are θ = 1/(σ + r), largest for the smallest rate r. ARPACK finds the densities x of the
resolvent and the observables y of its transpose; on the two spaces they span, the small matrix

    H = (Yᵀ X)⁻¹ Yᵀ (σ - A)⁻¹ X

has the same eigenvalues with an error that is the product of both sides', and its eigenvectors make x and y
biorthogonal. The stationary state is projected out, so that its rate, zero, never competes.

The catch: θ is right to rounding relative to the largest θ only. A rate far below σ is therefore noise in the first
run; it is looked for again with a smaller σ, which costs nothing in accuracy because the resolvent has none to lose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

from solver.errors import NotConvergedError
from solver.grid import Grid
from solver.model import Model
from solver.shifted import Resolvent, resolvent

Array = NDArray[np.float64]

# Modes asked for beyond those that are wanted: they fix where the last wanted one ends.
_MORE = 2
# One mode seen from both sides: its eigenvalues agree to this. Two modes closer than `_TIED` are not to be separated.
_SAME = 1e-4
_TIED = 1e-6
# A rate below this share of σ is noise or will be: rounding of θ, 1e-16 (σ + r)/r with a condition number up to 100,
# would leave fewer than 11 digits.
_SLOW = 1e-3
# The next σ at least this share of the last: the first run knows a slow rate to 1e-16 σ times its condition number.
_NEXT = 1e-12
# Below this σ, e^{-640}, squares of densities underflow; no well is worth waiting for that long.
_SLOWEST = 1e-280
# Rounding of θ relative to the largest, for a condition number of 1: measured over models with exact rates at most 8
# units in the last place.
_EPS = 20 * float(np.finfo(float).eps)
# Tolerance of ARPACK: the Ritz step squares it. A looser one (1e-4) overlooks one of two that lie close together, and
# with condition numbers of 1e4 the two sides would no longer agree.
_ARPACK = 1e-10
# Krylov vectors of ARPACK at least: fewer cost restarts where a continuum is near, more cost memory and time.
_KRYLOV = 30
# Restarts of ARPACK: 3 to 20 are usual; the dense cluster above an essential edge may take more and is not wanted.
_RESTARTS = 100


@dataclass(frozen=True, eq=False)
class Ritz:
    """Modes of one grid: complex rates (n,) by ascending real part, densities and observables (N, n), scaled.

    `right` is e^{-w} times the densities, `left` e^{w} times the observables, Σ left_i right_j = δ_ij. `rounding` (n,)
    bounds the relative error of the rates by rounding.
    """

    rates: NDArray[np.complex128]
    right: NDArray[np.complex128]
    left: NDArray[np.complex128]
    rounding: Array

    def cut(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Ritz:
        """The modes in a mask, or in the order of a list of indices."""
        return Ritz(self.rates[keep], self.right[:, keep], self.left[:, keep], self.rounding[keep])

    def joined(self, other: Ritz) -> Ritz:
        """Both sets of modes, these first."""
        return Ritz(
            np.concatenate([self.rates, other.rates]),
            np.concatenate([self.right, other.right], axis=1),
            np.concatenate([self.left, other.left], axis=1),
            np.concatenate([self.rounding, other.rounding]),
        )


def ritz(
    model: Model,
    grid: Grid,
    log_weight: Array,
    count: int,
    shift: float,
    order: int = 8,
    *,
    limit: float = np.inf,
    all_below: bool = False,
) -> Ritz:
    """At most `count` slowest modes on a grid with `stop` edges, searched from σ = `shift` > 0 (1 / time).

    `log_weight` (N,) should be about half of ln ρ: then densities and observables are equally spread, and the
    eigenvalues as well conditioned as they can be. Only rates below `limit` are returned; `all_below` says that
    `count` is known to be their number, which spares looking at what lies above. A complex pair is never split: there
    may be one mode more. Raises NotConvergedError for rates too small to be told from zero.

    >>> from solver.drifts import LinearDrift
    >>> grid = Grid(-7.0, 7.0, 141, "stop")
    >>> found = ritz(Model(LinearDrift(2.0), 1.0, None), grid, -0.5 * grid.zeta**2, 3, shift=0.2)
    >>> found.rates.real.round(9).tolist()
    [2.0, 4.0, 6.0]
    """
    wanted = count if all_below else count + _MORE
    found = _search(resolvent(model, grid, shift, order, log_weight), wanted, count, limit)
    slow = np.abs(found.rates) < _SLOW * shift
    if not slow.any():
        return found
    if shift < _SLOWEST:
        raise NotConvergedError(
            f"{slow.sum()} modes relax more slowly than {shift:.0e}, too slowly to be told from rest"
        )
    next_shift = max(_NEXT * shift, float(np.abs(found.rates[slow]).min()))
    few = int(slow.sum())
    slower = ritz(model, grid, log_weight, few, next_shift, order, all_below=True)
    return slower.joined(found.cut(~slow))


def _search(inverse: Resolvent, wanted: int, count: int, limit: float) -> Ritz:
    """Modes of one resolvent, about `count` of its `wanted` largest eigenvalues, rates below `limit` only."""
    weight = np.exp(inverse.log_weight - inverse.log_weight.max())
    rest = weight / np.sqrt(weight @ weight)  # Σ (e^w ·) is the mass: what is orthogonal to `rest` has none

    def moving(vector: Array) -> Array:
        return np.asarray(vector - np.multiply.outer(rest, rest @ vector))

    start = moving(rest * np.exp(np.cumsum(rest**2)))  # neither even nor odd, and the same every time
    theta, x = _largest(lambda v: moving(inverse.apply(v)), start, wanted)
    below = (1 / theta).real - inverse.shift < limit
    theta, x = theta[below], x[:, below]
    wanted = theta.size if not below.all() else wanted
    other, y = _largest(lambda v: moving(inverse.apply_transposed(v)), start, wanted)
    n = _common(theta, other, count)
    if n == 0:
        nothing = np.zeros((rest.size, 0), dtype=complex)
        return Ritz(np.zeros(0, dtype=complex), nothing, nothing, np.zeros(0))
    x, y = x[:, :n], y[:, :n]
    theta, mix = np.linalg.eig(np.linalg.solve(y.T @ x, y.T @ moving(inverse.apply(x))))
    right = x @ mix
    left = y @ np.linalg.inv((y.T @ right).T)
    rates = 1 / theta - inverse.shift
    condition = np.linalg.norm(right, axis=0) * np.linalg.norm(left, axis=0)
    loss = np.abs(theta).max() * np.abs(rates + inverse.shift) ** 2 / np.maximum(np.abs(rates), _EPS * inverse.shift)
    order = np.lexsort((rates.imag, rates.real))
    found = Ritz(rates.astype(complex), right.astype(complex), left.astype(complex), _EPS * condition * loss)
    return found.cut(order)


def _largest(apply: Callable[[Array], Array], start: Array, count: int) -> tuple[NDArray[np.complex128], Array]:
    """The eigenvalues of largest modulus that converge, descending, and a real basis of their eigenvectors (N, n)."""
    if count == 0:
        return np.zeros(0, dtype=complex), np.zeros((start.size, 0))
    count = min(count, start.size - 3)  # ARPACK needs two vectors more than it returns
    krylov = min(max(2 * count + 1, _KRYLOV), start.size - 1)
    operator = LinearOperator((start.size, start.size), matvec=apply, dtype=np.dtype(float))
    try:
        values, vectors = eigs(operator, k=count, which="LM", v0=start, ncv=krylov, tol=_ARPACK, maxiter=_RESTARTS)
    except ArpackNoConvergence as stopped:  # those that did not converge lie in a continuum
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    order = np.lexsort((-values.imag, -np.abs(values)))
    values, vectors = values[order], vectors[:, order]
    basis = np.where(values.imag < 0, vectors.imag, vectors.real)
    return values, basis


def _common(one: NDArray[np.complex128], other: NDArray[np.complex128], count: int) -> int:
    """How many leading eigenvalues, about `count`, both sides agree on, cut where no pair is torn."""
    most = min(one.size, other.size)
    agree = np.abs(np.abs(one[:most]) - np.abs(other[:most])) <= _SAME * np.abs(one[:most])
    most = most if agree.all() else int(np.argmin(agree))
    ends = np.abs(np.diff(np.abs(one[:most]))) > _TIED * np.abs(one[: max(most - 1, 0)])
    cuts = np.flatnonzero(np.append(ends, most == one.size)) + 1 if most else np.zeros(0, int)
    later = cuts[cuts >= count]
    return int(later[0] if later.size else cuts.max(initial=0))
