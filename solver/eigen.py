"""The null vector as an eigenvector: shift-invert Arnoldi on the FFT matvec, beside elimination.

ARPACK looks for the eigenvalue of A nearest a small shift σ > 0, where A - σ is regular, through x = (A -
σ)⁻¹ b. Each such solve is GMRES on the O(N log N) product, preconditioned by the sparse LU of a band of A;
the jumps beyond the band are left out of it together with their out-rates, so that the band is a generator
itself and slow modes stay slow.

The catch: everything here is accurate relative to max ρ (about 1e-12), never entry by entry. Below 1e-12 of
the peak the result is noise of either sign, and the componentwise residual, reported as it is, is O(1)
there: this method checks the body of a density, not its tails.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import dia_array, diags_array, eye_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs, gmres, splu

from solver.errors import ModelError, NotConvergedError
from solver.generator import Generator, build_generator
from solver.grid import Grid
from solver.model import Model
from solver.nullvector import NullVector, normalised

Array = NDArray[np.float64]

# σ in units of the drift's typical speed over the grid's width. GMRES reaches ε|A|/σ, so that the error of ρ,
# ε|A| over the slowest relaxation, does not depend on σ: 0.01 to 10 agree within 3. From 10, ARPACK restarts.
SHIFT = 0.1
BAND = 16  # nodes of jumps in the preconditioner: 5 to 30 iterations; 64 halves them, but its LU costs more
ROUNDINGS = 10.0  # GMRES stops at this many times ε|A|/σ, what rounding of the product leaves anyway
TIGHTEST = 1e-13  # and at no less than this, where its own recurrences stop being reliable
RESTART, CYCLES = 60, 10  # Krylov vectors of GMRES and its restarts: 600 iterations, 20 times the worst seen
ARNOLDI = 8  # Krylov vectors of ARPACK: with 20, its default, twice the solves and nothing gained
ARNOLDI_CYCLES = 60  # restarts of ARPACK: 17 were needed with σ a hundred times too large (two wells)
NULL = 1e-4  # an eigenvalue counts as zero below this share of σ; rounding leaves 3e-8 at 80 001 nodes


def null_vector(model: Model, grid: Grid, order: int = 8) -> NullVector:
    """The stationary density on a grid with two `stop` edges, to about 1e-12 of its peak.

    `residual` is the largest componentwise |Aρ| / (|A| |ρ|): O(1) as soon as ρ falls below 1e-12 of its
    peak anywhere. Raises ModelError for what `build_generator` refuses and a drift that vanishes at every
    node, NotConvergedError if GMRES or ARPACK fails or the eigenvalue found is not zero.

    >>> from solver.drifts import LinearDrift
    >>> normal = null_vector(Model(LinearDrift(1.0), 0.5, None), Grid(-6.0, 6.0, 121, "stop"))
    >>> abs(normal.log_density[60] + 0.5 * np.log(np.pi)) < 1e-6
    np.True_
    """
    generator = build_generator(model, grid, order)
    inverse = ShiftedInverse(generator, SHIFT * _slow_rate(generator))
    start = np.exp(-np.abs(grid.zeta - grid.zeta[generator.centre]))
    try:
        values, vectors = eigs(
            generator.as_linear_operator(),
            k=1,
            sigma=inverse.shift,
            OPinv=LinearOperator(2 * (grid.nodes,), matvec=inverse.solve, dtype=np.dtype(float)),
            v0=start,
            ncv=min(ARNOLDI, grid.nodes),
            tol=inverse.tolerance,
            maxiter=ARNOLDI_CYCLES,
        )
    except ArpackError as problem:
        raise NotConvergedError(
            f"eigs: ARPACK found no eigenvalue near zero (shift {inverse.shift:.3g}, {grid.nodes} nodes): "
            f"{problem}; several wells with rare exchange need method elimination"
        ) from problem
    if not abs(values[0]) <= NULL * inverse.shift:
        raise NotConvergedError(
            f"eigs: the eigenvalue found is {values[0]:.3g}, not zero (shift {inverse.shift:.3g}): the "
            f"spacing {grid.spacing:.3g} does not resolve the model; take a smaller one"
        )
    rho = inverse.solve(vectors[:, 0].real)  # one more inverse iteration: ARPACK stops at its own tolerance
    rho /= rho[np.argmax(np.abs(rho))]
    rate, scale = np.abs(generator.matvec(rho)), np.abs(generator.absolute_matvec(np.abs(rho)))
    # |Aρ| ≤ |A||ρ| always; where rounding of the FFT says otherwise neither is known, and the residual is 1.
    bound = np.maximum(rate, scale)
    residual = float(np.max(np.divide(rate, bound, out=np.zeros(grid.nodes), where=bound > 0.0)))
    sign = np.where(rho < 0.0, -1.0, 1.0)
    log_density = np.log(np.abs(rho), out=np.full(grid.nodes, -np.inf), where=rho != 0.0)
    return normalised(log_density, sign, grid.spacing, residual=residual)


class ShiftedInverse:
    """(A - σ)⁻¹ by preconditioned GMRES; `tolerance` is the relative residual it reaches."""

    def __init__(self, generator: Generator, shift: float) -> None:
        nodes = generator.grid.nodes
        size = float(generator.absolute_matvec(np.ones(nodes)).max())
        self.shift = shift
        self.tolerance = max(TIGHTEST, ROUNDINGS * float(np.finfo(float).eps) * size / shift)
        self._shifted = LinearOperator(
            (nodes, nodes), matvec=lambda rho: generator.matvec(rho) - shift * rho, dtype=np.dtype(float)
        )
        self._band = splu((_band_generator(generator) - shift * eye_array(nodes)).tocsc())

    def solve(self, right_side: Array) -> Array:
        """x with (A - σ)x = right_side, shape (N,); NotConvergedError if GMRES stalls."""
        b = np.asarray(right_side, dtype=float).ravel()
        preconditioner = LinearOperator(self._shifted.shape, matvec=self._band.solve, dtype=np.dtype(float))
        x, failed = gmres(self._shifted, b, rtol=self.tolerance, restart=RESTART, maxiter=CYCLES, M=preconditioner)
        if failed:
            reached = float(np.linalg.norm(self._shifted.matvec(x) - b) / np.linalg.norm(b))
            raise NotConvergedError(
                f"eigs: GMRES stopped at a relative residual of {reached:.2g}, not {self.tolerance:.2g}, "
                f"after {RESTART * CYCLES} iterations (shift {self.shift:.3g}); use method elimination"
            )
        return np.asarray(x)


def _slow_rate(generator: Generator) -> float:
    """Typical |F| over the grid's width: an order of magnitude for the slowest relaxation, in 1/time.

    Typical is the median: a drift that grows exponentially on one side would rule the mean.
    """
    grid, speed = generator.grid, np.abs(generator.drift)
    typical = float(np.median(speed)) or float(np.mean(speed))
    if not typical > 0.0:
        raise ModelError("drift = 0 at every node: nothing sets the time scale the search needs")
    return typical / (grid.right - grid.left)


def _band_generator(generator: Generator) -> dia_array:
    """The band of A with jumps up to BAND nodes; its diagonal makes every column sum to zero."""
    nodes, first = generator.grid.nodes, generator.order // 2 + 1
    band = generator.band
    if generator.model.jumps is not None:
        reach = range(first, min(BAND + 1, nodes))
        offsets = [*reach, *(-n for n in reach)]
        far = [np.full(nodes - abs(n), generator.far_weights[abs(n)]) for n in offsets]
        band = band + diags_array(far, offsets=offsets, shape=(nodes, nodes))
    return band - diags_array(np.asarray(band.sum(axis=0)))
