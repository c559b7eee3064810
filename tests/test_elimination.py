"""The elimination: entry by entry against 60 digits, against the dense chain, and its order of convergence.

The exact answer of a matrix is found from the matrix itself, with Python's decimal numbers: off-diagonal entries as
they are, the diagonal as minus the sum of the others. That is what "the null vector of a generator" means; the
rounded diagonal of the array would not do, since in two wells or steep tails it is the difference of large numbers.
"""

from __future__ import annotations

import dataclasses
import decimal
import math
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

from solver import dense, eigen, elimination
from solver.blocks import BLOCK
from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, TabulatedDrift, TanhDrift
from solver.errors import ModelError
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.nullvector import NullVector
from validation.exact_densities import WELLS
from validation.ornstein_uhlenbeck import ornstein_uhlenbeck

Array = NDArray[np.float64]

DRIFT = TanhDrift(1.0)
BASELINE = Model(DRIFT, 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
RARE = TemperedStableJumps(1e-7, 1.2, 8.0)  # so few that diffusion over the barrier and jumps compete


def exact_null_vector(matrix: Array, spacing: float, digits: int = 60) -> tuple[Array, Array]:
    """ln|ρ| and sign of the null vector of a generator's adjoint, normalised, by elimination at 60 digits."""
    n = matrix.shape[0]
    with decimal.localcontext(decimal.Context(prec=digits)):
        a = np.array([[Decimal(float(x)) for x in row] for row in matrix], dtype=object)
        for j in range(n):
            a[j, j] = Decimal(0)
            a[j, j] = -sum(a[:, j], Decimal(0))
        for k in range(n - 1):
            a[k, k + 1 :] /= a[k, k]
            rows = k + 1 + np.flatnonzero([x != 0 for x in a[k + 1 :, k]])
            a[rows, k + 1 :] -= np.multiply.outer(a[rows, k], a[k, k + 1 :])
        rho = np.zeros(n, dtype=object)
        rho[n - 1] = Decimal(1)
        for k in range(n - 2, -1, -1):
            rho[k] = -np.dot(a[k, k + 1 :], rho[k + 1 :])
        rho /= sum(rho, Decimal(0)) * Decimal(spacing)
        return np.array([float(abs(x).ln()) for x in rho]), np.array([1.0 if x > 0 else -1.0 for x in rho])


EXACT = {
    "baseline": (BASELINE, Grid(-9.0, 9.0, 181, "stop")),
    "steep": (Model(DRIFT, 0.05, None), Grid(-3.0, 2.0, 201, "stop")),
    "linear": (Model(LinearDrift(1.0), 0.1, TemperedStableJumps(0.2, 0.6, 4.0)), Grid(-3.0, 2.5, 181, "stop")),
    "wall": (Model(ExponentialDrift(1.0, 1.0), 0.3, BASELINE.jumps), Grid(-8.0, 2.5, 181, "stop")),
    "pure jumps": (Model(DRIFT, 0.0, TemperedStableJumps(1.4, 0.7, 1.5)), Grid(-7.0, 9.0, 161, "stop")),
    "wells": (Model(WELLS, 0.01, None), Grid(-1.3, 1.3, 201, "stop")),
    "wells, rare jumps": (Model(WELLS, 0.01, RARE), Grid(-1.4, 1.4, 181, "stop")),
}


@pytest.mark.parametrize("order", [2, 8])
@pytest.mark.parametrize("name", EXACT)
def test_every_entry_against_sixty_digits(name: str, order: int) -> None:
    model, grid = EXACT[name]
    exact, sign = exact_null_vector(build_generator(model, grid, order).to_dense(), grid.spacing)
    got = elimination.null_vector(model, grid, order)
    assert (got.sign == sign).all() and (sign > 0).all()
    # measured 7e-15 at most (steep, ln ρ = -46; wells, a barrier of 27 η_G): rounding of ln ρ itself
    assert np.abs(got.log_density - exact).max() < 1e-12
    assert got.residual < 1e-13 and got.column_defect < 1e-14  # measured 2.7e-15, 4.1e-16


def test_sixty_digits_see_what_a_plain_solve_loses() -> None:
    """The negative control: a LU solve of the same two-well matrix in doubles has the wells wrong."""
    model, grid = EXACT["wells"]
    matrix = build_generator(model, grid, 8).to_dense()
    exact, _ = exact_null_vector(matrix, grid.spacing)
    peak = int(exact.argmax())
    matrix[peak] = np.eye(grid.nodes)[peak]
    plain = np.log(np.abs(np.linalg.solve(matrix, np.eye(grid.nodes)[peak])))
    plain -= plain[peak] - exact[peak]
    assert np.abs(plain - exact).max() > 1e-6  # measured 1.8e-3
    wrong = dataclasses.replace(model, diffusion=1.0001 * model.diffusion)
    assert np.abs(elimination.null_vector(wrong, grid).log_density - exact).max() > 1e-4  # measured 2.6e-3


def test_an_unresolved_grid_shows_its_signs() -> None:
    """Eight nodes with h|F| > 2 η_G: negative entries come out as they are, the same as at 60 digits."""
    model, grid = Model(WELLS, 0.02, None), Grid(-1.7, 1.7, 61, "stop")
    exact, sign = exact_null_vector(build_generator(model, grid, 2).to_dense(), grid.spacing)
    got = elimination.null_vector(model, grid, 2)
    assert (sign < 0).sum() == 8 and (got.sign == sign).all()
    assert np.abs(got.log_density - exact).max() < 1e-12  # measured 2e-15


# --- against the dense chain -----------------------------------------------------------------------------

CHAINS = {
    "steep": (Model(DRIFT, 0.05, None), Grid(-30.0, 12.0, 1681, "stop")),
    "steep, rare jumps": (Model(DRIFT, 0.05, TemperedStableJumps(1e-3, 0.8, 18.0)), Grid(-35.0, 4.0, 1561, "stop")),
    "linear": (Model(LinearDrift(1.0), 0.1, None), Grid(-8.0, 8.0, 1601, "stop")),
    "wells": (Model(WELLS, 0.0045, None), Grid(-1.6, 1.6, 1601, "stop")),
    "wells, jumps": (Model(WELLS, 0.005, TemperedStableJumps(1e-9, 1.5, 30.0)), Grid(-1.5, 1.5, 1001, "stop")),
    "wells, frequent jumps": (Model(WELLS, 0.004, TemperedStableJumps(1e-4, 0.5, 20.0)), Grid(-1.6, 1.6, 1601, "stop")),
    "off-centre": (
        Model(TanhDrift(0.6, -3.0, 1.5), 0.05, TemperedStableJumps(0.3, 1.3, 0.8)),
        Grid(-40.0, 30.0, 1001, "stop"),
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_order_two_is_the_dense_chain_entry_by_entry(name: str) -> None:
    model, grid = CHAINS[name]
    chain, got = dense.null_vector(model, grid), elimination.null_vector(model, grid, 2)
    # measured 2.3e-13 where ln ρ goes down to -633 (steep, rare jumps), else 1.1e-13 and less
    assert np.abs(got.log_density - chain.log_density).max() < 1e-11
    if name.startswith("steep"):
        assert chain.log_density.min() < math.log(1e-250)
    assert (got.sign > 0).all()


def test_a_steep_tail_against_the_product() -> None:
    """Without jumps neighbours balance: at order 2 ρ_{i+1}/ρ_i is a ratio of two rates, at any depth."""
    model, grid = CHAINS["steep"]
    h, drift = grid.spacing, model.drift(grid.zeta)
    up, down = model.diffusion / h + drift / 2, model.diffusion / h - drift / 2
    steps = [math.log(a / b) for a, b in zip(up[:-1], down[1:], strict=True)]
    exact = np.array([math.fsum(steps[:i]) for i in range(grid.nodes)])
    exact -= exact.max() + math.log(h * np.exp(exact - exact.max()).sum())
    got = elimination.null_vector(model, grid, 2).log_density
    assert exact.min() < -590 and np.abs(got - exact).max() < 1e-10  # measured 2.3e-13
    assert np.abs(np.diff(got)[40:400] / h - 20.433024950641).max() < 1e-10  # ln(5/3)/h, not 20: order 2


def test_two_wells_do_not_depend_on_where_the_sweeps_meet() -> None:
    """The mirrored model meets in the other half of the grid; a constant added to the drift moves the deeper well."""

    def wells(tilt: float) -> NullVector:
        drift = CallableDrift(lambda z: z - z**3 + tilt, left=math.inf, right=math.inf, scale=0.5)
        return elimination.null_vector(Model(drift, 0.0045, None), Grid(-1.5, 1.5, 1001, "stop"))

    for tilt in (0.02, -0.02, 0.0):
        one, other = wells(tilt), wells(-tilt)
        assert np.abs(one.log_density - other.log_density[::-1]).max() < 1e-11  # measured 6e-14


# --- against eigs ----------------------------------------------------------------------------------------


def values(null: NullVector) -> Array:
    return null.sign * np.exp(null.log_density)


@pytest.mark.parametrize("order", [2, 8])
def test_three_methods_agree(order: int) -> None:
    """Relative to the peak all of them; entry by entry only the two that can."""
    grid = Grid(-20.0, 20.0, 801, "stop")
    one, other = elimination.null_vector(BASELINE, grid, order), eigen.null_vector(BASELINE, grid, order)
    assert np.abs(values(one) - values(other)).max() < 1e-12 * values(one).max()  # measured 4e-14
    if order == 2:
        chain = dense.null_vector(BASELINE, grid)
        assert np.abs(values(one) - values(chain)).max() < 1e-14 * values(one).max()  # measured 7e-16
        assert np.abs(one.log_density - chain.log_density).max() < 1e-12  # measured 1.4e-14
    deep = Grid(-60.0, 60.0, 2401, "stop")
    one, other = elimination.null_vector(BASELINE, deep, order), eigen.null_vector(BASELINE, deep, order)
    assert np.abs(one.log_density - other.log_density).max() > 1.0  # below 1e-16 of the peak eigs returns noise


# --- the order of convergence ----------------------------------------------------------------------------

SMOOTH = Model(DRIFT, 0.2, TemperedStableJumps(1.0, 0.7, 1.5))
FINEST = 160  # nodes per unit of ζ in the solution that errors are measured against
REFERENCE = elimination.null_vector(SMOOTH, Grid(-20.0, 20.0, 40 * FINEST + 1, "open")).log_density
SPACINGS = (0.2, 0.1, 0.05)
# Errors at h = 0.05, measured: 7.6e-3, 5.0e-6, 2.7e-8, 5.4e-10.
CAPS = {2: 8e-3, 4: 5.2e-6, 6: 3e-8, 8: 6e-10}


def order_study(model: Model, order: int) -> tuple[float, Array]:
    """(largest error of ln ρ at the finest of three spacings, observed orders between them)."""
    errors = []
    for h in SPACINGS:
        grid = Grid(-20.0, 20.0, round(40 / h) + 1, "open")
        got = elimination.null_vector(model, grid, order).log_density
        errors.append(float(np.abs(got - REFERENCE[:: round(h * FINEST)]).max()))
    return errors[-1], np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def has_order(model: Model, order: int) -> bool:
    error, observed = order_study(model, order)
    return bool(error < CAPS[order] and observed.min() > order - 1 and observed[-1] > order - 0.25)


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_the_observed_order(order: int) -> None:
    """Measured between h = 0.1 and 0.05: 1.99, 4.00, 5.92, 7.83."""
    assert has_order(SMOOTH, order), order_study(SMOOTH, order)


@pytest.mark.parametrize("order", [4, 6, 8])
@pytest.mark.parametrize("part", ["diffusion", "intensity", "width", "corrections", "no corrections", "stability"])
def test_the_order_is_lost_with_one_constant_off(part: str, order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: one per cent, or the moment corrections, and no order is left (2 - α = 1.3 at best)."""
    model, jumps = SMOOTH, TemperedStableJumps
    corrections = jumps.lattice_corrections
    if part == "diffusion":
        model = dataclasses.replace(SMOOTH, diffusion=0.202)
    elif part == "intensity":
        model = dataclasses.replace(SMOOTH, jumps=jumps(1.01, 0.7, 1.5))
    elif part == "width":
        model = dataclasses.replace(SMOOTH, drift=TanhDrift(1.0, 0.0, 1.01))
    elif part == "stability":
        model = dataclasses.replace(SMOOTH, jumps=jumps(1.0, 0.707, 1.5))
    else:
        factor = 1.01 if part == "corrections" else 0.0
        monkeypatch.setattr(jumps, "lattice_corrections", lambda self, h, count: factor * corrections(self, h, count))
    assert not has_order(model, order)
    assert order_study(model, order)[1][-1] < 1.5  # measured 0.0 and 1.3


@pytest.mark.parametrize("stability", [0.5, 1.0, 1.5])
def test_the_observed_order_against_an_exact_density(stability: float) -> None:
    """Ornstein–Uhlenbeck: nothing of the solver in the reference. Measured 7.96 to 8.04."""
    model = Model(LinearDrift(1.0), 0.3, TemperedStableJumps(0.4, stability, 2.2))
    zeta = np.linspace(-4.0, 4.0, 51)  # every node of h = 0.16, every other of 0.08
    exact = ornstein_uhlenbeck(model, zeta)
    errors = []
    for h in (0.16, 0.08):
        grid = Grid(-16.0, 16.0, round(32 / h) + 1, "stop")
        got = elimination.null_vector(model, grid).log_density[np.searchsorted(grid.zeta, zeta - h / 2)]
        errors.append(np.abs(got - exact).max())
    assert np.log2(errors[0] / errors[1]) > 7 and errors[1] < 1.2e-7  # measured 1.08e-7 (α = 1)


# --- grids of every shape --------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [9, 10, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 3 * BLOCK + 5])
@pytest.mark.parametrize("peak", [0.02, 0.4, 0.98])
def test_any_number_of_nodes_and_any_place_of_the_peak(nodes: int, peak: float) -> None:
    """However the blocks fall, and with the peak next to an edge."""
    grid = Grid(0.0, 0.06 * (nodes - 1), nodes, "stop")
    model = Model(TanhDrift(1.0, peak * grid.right, 1.0), 0.3, BASELINE.jumps)
    matrix = build_generator(model, grid, 8).to_dense()
    got = elimination.null_vector(model, grid)
    rho = values(got)
    assert np.abs(matrix @ rho).max() < 1e-13 * (np.abs(matrix) @ np.abs(rho)).max()  # measured 6e-16
    assert abs(grid.spacing * rho.sum() - 1) < 1e-13 and got.residual < 1e-13


def test_edges_in_any_combination() -> None:
    results = [
        elimination.null_vector(BASELINE, Grid(-25.0, 25.0, 1001, (left, right)))
        for left in ("open", "stop")
        for right in ("open", "stop")
    ]
    for null, (left, right) in zip(results, [(1, 1), (1, 0), (0, 1), (0, 0)], strict=True):
        assert (null.left is not None, null.right is not None) == (bool(left), bool(right))
        # e^{-1.27·25} = 2e-14 of mass is all that an edge decides in the middle: measured 2.3e-14
        assert np.abs(null.log_density - results[0].log_density)[400:601].max() < 1e-11


def test_a_plateau_within_the_grid_is_reused_exactly() -> None:
    """A drift with three flat stretches: blocks that repeat are not solved again, and it does not show."""
    places = (-12.0, -11.0, -2.0, -1.0, 1.0, 2.0, 11.0, 12.0)
    table = TabulatedDrift(places, (1.4, 1.0, 1.0, 0.5, -0.5, -1.0, -1.0, -1.4))
    model = Model(table, 0.3, BASELINE.jumps)
    grid = Grid(-40.0, 40.0, 3201, "open")
    null = elimination.null_vector(model, grid)
    spread = elimination.null_vector(model, dataclasses.replace(grid, left=-60.0, right=60.0, nodes=4801))
    assert np.abs(null.log_density - spread.log_density[800:-800]).max() < 1e-11  # measured 1.4e-14
    assert null.residual < 1e-13


def test_what_the_elimination_refuses() -> None:
    with pytest.raises(ModelError, match="order = 3"):
        elimination.null_vector(BASELINE, Grid(-20.0, 20.0, 801, "open"), 3)
    with pytest.raises(ModelError, match="1/tempering"):
        elimination.null_vector(BASELINE, Grid(-20.0, 20.0, 41, "open"))
