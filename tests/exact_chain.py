"""The order-2 chain solved at 60 digits by mpmath: what the dense reference is held against.

Nothing is shared with the solver but the equation: weights come from the Lévy density, their sums to
infinity from polylogarithms, the lattice correction from the second moment of the density.
"""

from __future__ import annotations

import mpmath
import numpy as np
from numpy.typing import NDArray

from solver.grid import Grid
from solver.model import Model

Array = NDArray[np.float64]


def by_mpmath(model: Model, grid: Grid) -> Array:
    """ln ρ at order 2 by LU at 60 digits; weights from the Lévy density, sums from polylogarithms."""
    jumps = model.jumps
    assert jumps is not None
    n = grid.nodes
    with mpmath.workdps(60):
        h, alpha, lam = mpmath.mpf(grid.spacing), mpmath.mpf(jumps.stability), mpmath.mpf(jumps.tempering)
        decay = mpmath.exp(-lam * h)
        scale = mpmath.mpf(jumps.strength) * h**-alpha
        weights = [scale * decay**j / mpmath.mpf(j) ** (1 + alpha) for j in range(1, n + 1)]
        total = scale * mpmath.polylog(1 + alpha, decay)
        beyond = [total - mpmath.fsum(weights[:i]) for i in range(n)]
        # Σ n² w_n must be half the second moment of ν: that is γ_1, without the design's zeta series
        moment = mpmath.mpf(jumps.strength) * mpmath.gamma(2 - alpha) * lam ** (alpha - 2)
        gamma = moment / h**2 - scale * mpmath.polylog(alpha - 1, decay)
        matrix = mpmath.zeros(n, n)  # transposed: row = receiver
        for i in range(n):
            force = mpmath.mpf(float(model.drift(grid.zeta[i])))
            side = model.diffusion / h**2 + gamma
            moves = [(max(i - 1, 0), side - force / (2 * h)), (min(i + 1, n - 1), side + force / (2 * h))]
            moves += [(j, weights[abs(i - j) - 1]) for j in range(n) if j != i]
            moves += [(0, beyond[i]), (n - 1, beyond[n - 1 - i])]
            for target, rate in moves:
                matrix[target, i] += rate
                matrix[i, i] -= rate
        middle = n // 2  # replace one equation by ρ_middle = 1
        right = mpmath.zeros(n, 1)
        right[middle] = 1
        for j in range(n):
            matrix[middle, j] = int(j == middle)
        rho = mpmath.lu_solve(matrix, right)
        mass = h * mpmath.fsum(rho)
        return np.array([float(mpmath.log(rho[i] / mass)) for i in range(n)])
