"""The references beside the elimination: `dense` (every entry) and `eigen` (relative to max ρ).

Each is held against something that shares no code with it: product formulas, mpmath, numpy's singular
vectors, each other, and the elimination.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact_chain import by_mpmath
from numpy.typing import NDArray

from solver import dense, eigen, elimination
from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, TanhDrift
from solver.errors import ModelError, NotConvergedError
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.nullvector import NullVector

Array = NDArray[np.float64]

DRIFT = TanhDrift(plateau=1.0, center=0.0, width=1.0)
BASELINE = Model(DRIFT, 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
PURE_JUMPS = Model(DRIFT, 0.0, TemperedStableJumps(1.4, 0.7, 1.5))
EXPONENTIAL = Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
UNTEMPERED = Model(LinearDrift(1.0), 0.3, TemperedStableJumps(0.4, 0.8, 0.0))
NO_ROOT = Model(DRIFT, 0.02, TemperedStableJumps(0.001, 1.5, 15.0))
WELLS = CallableDrift(lambda z: z - z**3 + 0.02, left=math.inf, right=math.inf, scale=0.5)


def values(null: NullVector) -> Array:
    return null.sign * np.exp(null.log_density)


def distance(one: NullVector, other: NullVector) -> float:
    """Largest difference relative to the peak."""
    return float(np.abs(values(one) - values(other)).max() / values(other).max())


def singular_vector(model: Model, grid: Grid, order: int) -> Array:
    """The null vector by numpy's SVD of the whole matrix: the method the design warns of."""
    vector = np.linalg.svd(build_generator(model, grid, order).to_dense())[2][-1]
    return np.asarray(vector / (grid.spacing * vector.sum()))


# --- dense -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (Model(DRIFT, 0.3, None), Grid(-150.0, 40.0, 1901, "stop")),
        (Model(LinearDrift(1.0, 2.0), 0.3, None), Grid(-10.0, 13.0, 2301, "stop")),
        (Model(WELLS, 2e-4, None), Grid(-1.1, 1.1, 2401, "stop")),
    ],
    ids=["tanh", "linear", "two wells"],
)
def test_dense_against_the_product_formula(model: Model, grid: Grid) -> None:
    """Without jumps neighbours balance: ρ_{i+1} / ρ_i = L_{i,i+1} / L_{i+1,i}, a product at any depth."""
    h, drift = grid.spacing, model.drift(grid.zeta)
    up, down = drift / (2 * h) + model.diffusion / h**2, -drift / (2 * h) + model.diffusion / h**2
    steps = [math.log(a / b) for a, b in zip(up[:-1], down[1:], strict=True)]
    exact = np.array([math.fsum(steps[:i]) for i in range(grid.nodes)])
    exact -= exact.max() + math.log(h * np.exp(exact - exact.max()).sum())
    got = dense.null_vector(model, grid)
    assert exact.min() < -200  # two wells: -1887, over a barrier of 1250 η_G
    # measured 2e-13, 6e-14 and 5e-13: one rounding of ln ρ itself, 500 to 1900 in size
    assert np.abs(got.log_density - exact).max() < 1.5e-12
    assert (got.sign == 1).all() and got.left is None and got.right is None
    assert got.residual < 1e-14


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (Model(DRIFT, 0.3, TemperedStableJumps(0.4, 1.5, 5.0)), Grid(-12.0, 2.0, 71, "stop")),
        (Model(LinearDrift(0.5), 0.1, TemperedStableJumps(0.2, 0.6, 4.0, "stable")), Grid(-2, 2, 61, "stop")),
    ],
    ids=["plateau", "linear"],
)
def test_dense_against_mpmath(model: Model, grid: Grid) -> None:
    exact, got = by_mpmath(model, grid), dense.null_vector(model, grid)
    assert np.abs(got.log_density - exact).max() < 7e-13  # measured 2.3e-13 and 7e-15
    assert got.residual < 1e-14
    wrong = Model(model.drift, model.diffusion * 1.01, model.jumps)
    assert np.abs(dense.null_vector(wrong, grid).log_density - exact).max() > 1e-3  # the study can fail


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (BASELINE, Grid(-30.0, 20.0, 1001, "stop")),
        (PURE_JUMPS, Grid(-20.0, 20.0, 801, "stop")),
        (EXPONENTIAL, Grid(-15.0, 2.5, 876, "stop")),
        (Model(WELLS, 0.02, TemperedStableJumps(0.001, 0.7, 6.0)), Grid(-2.0, 2.0, 801, "stop")),
        (NO_ROOT, Grid(-45.0, 8.0, 1326, "stop")),
    ],
    ids=["baseline", "pure jumps", "exponential", "wells", "no root"],
)
def test_dense_and_elimination_agree_in_every_entry(model: Model, grid: Grid) -> None:
    one, other = dense.null_vector(model, grid), elimination.null_vector(model, grid, 2)
    # measured 1e-14 to 3e-14, and 2.3e-13 without a root, where ln ρ goes down to -691
    assert np.abs(one.log_density - other.log_density).max() < 1e-12
    assert one.residual < 2e-13  # measured 4e-15, and 5e-14 without a root: its rates span e^{-700}


def test_dense_reaches_below_the_smallest_double() -> None:
    """No root: ρ ~ e^{λζ}|ζ|^{-1-α}; direct jumps, e^{-825} from the bulk to the edge, set the tail."""
    grid = Grid(-55.0, 6.0, 1526, "stop")
    log_density = dense.null_vector(NO_ROOT, grid).log_density
    assert log_density[0] < -820
    depth = np.array([20.0, 50.0])
    at = np.searchsorted(grid.zeta, -depth - 1e-9)
    power = np.diff(log_density[at] + 15.0 * depth) / np.diff(np.log(depth))
    assert abs(power[0] + 2.5) < 0.1  # measured -2.522; corrections run in 1/|ζ|


def test_singular_vectors_fail_where_dense_does_not() -> None:
    """The reason for this method, and the negative control of the tests above."""
    model, grid = Model(DRIFT, 0.3, None), Grid(-20.0, 20.0, 401, "stop")
    exact = np.exp(dense.null_vector(model, grid).log_density)
    got = singular_vector(model, grid, 2)
    assert np.abs(got / exact - 1.0).max() > 1.0
    assert np.abs(got - exact).max() < 1e-12 * exact.max()


def test_dense_names_the_node_and_the_spacing_that_would_do() -> None:
    model = Model(LinearDrift(1.0), 0.1, TemperedStableJumps(0.05, 1.2, 1.0))
    words = r"node 0 \(ζ = -6\).*a spacing below 0\.0\d+ would do: \d+ nodes"
    with pytest.raises(ModelError, match=words) as caught:
        dense.null_vector(model, Grid(-6.0, 4.0, 101, "stop"))
    nodes = int(str(caught.value).split("would do: ")[1].split()[0])
    assert dense.null_vector(model, Grid(-6.0, 4.0, nodes, "stop")).residual < 1e-13
    with pytest.raises(ModelError, match="would do"):
        dense.null_vector(model, Grid(-6.0, 4.0, nodes - 2, "stop"))


def test_dense_says_when_no_spacing_would_do() -> None:
    model = Model(DRIFT, 0.0, TemperedStableJumps(0.1, 0.5, 1.0))
    with pytest.raises(ModelError, match="no smaller one does"):
        dense.null_vector(model, Grid(-5.0, 5.0, 201, "stop"))


def test_dense_refuses_other_orders_open_edges_and_too_many_nodes() -> None:
    with pytest.raises(ModelError, match="nodes = 9001: the dense method takes at most 8000"):
        dense.null_vector(BASELINE, Grid(-5.0, 5.0, 9001, "stop"))
    with pytest.raises(ModelError, match="order = 8"):
        dense.null_vector(BASELINE, Grid(-5.0, 5.0, 201, "stop"), 8)
    with pytest.raises(ModelError, match="right edge"):
        dense.null_vector(BASELINE, Grid(-5.0, 5.0, 201, ("stop", "open")))


# --- eigen -----------------------------------------------------------------------------------------------

CASES = {
    "baseline": (BASELINE, Grid(-20.0, 20.0, 801, "stop")),
    "pure jumps": (PURE_JUMPS, Grid(-20.0, 20.0, 801, "stop")),
    "pure diffusion": (Model(DRIFT, 0.3, None), Grid(-12.0, 12.0, 481, "stop")),
    "exponential": (EXPONENTIAL, Grid(-15.0, 3.0, 601, "stop")),
    "untempered": (UNTEMPERED, Grid(-9.0, 9.0, 601, "stop")),
}


@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("name", CASES)
def test_eigen_against_singular_vectors(name: str, order: int) -> None:
    model, grid = CASES[name]
    exact = singular_vector(model, grid, order)
    got = values(eigen.null_vector(model, grid, order))
    assert np.abs(got - exact).max() < 5e-12 * exact.max()  # measured 5e-14 to 1.8e-12


@pytest.mark.parametrize("name", ["baseline", "pure jumps", "pure diffusion"])
def test_eigen_and_dense_agree_relative_to_the_peak(name: str) -> None:
    model, grid = CASES[name]
    # measured 1.7e-14, 1.1e-14, 5e-16
    assert distance(eigen.null_vector(model, grid, 2), dense.null_vector(model, grid)) < 2e-12


def test_eigen_and_elimination_agree_on_a_long_grid() -> None:
    """20 001 nodes; measured 6e-12 relative to the peak: ε|A| = 4e-12 over a relaxation rate near 1."""
    grid = Grid(-100.0, 100.0, 20_001, "stop")
    one, other = eigen.null_vector(BASELINE, grid), elimination.null_vector(BASELINE, grid)
    assert distance(one, other) < 3e-11
    assert distance(one, elimination.null_vector(Model(DRIFT, 0.303, BASELINE.jumps), grid)) > 1e-3


def test_eigen_gives_the_normal_density() -> None:
    grid = Grid(-7.0, 7.0, 281, "stop")
    got = eigen.null_vector(Model(LinearDrift(1.0), 0.5, None), grid)
    exact = np.exp(-(grid.zeta**2)) / math.sqrt(math.pi)
    assert np.abs(values(got) - exact).max() < 1e-10  # order 8 at h = 0.05: measured 4.2e-11
    assert abs(grid.spacing * values(got).sum() - 1.0) < 1e-14


def test_eigen_reports_its_residual_honestly() -> None:
    """Componentwise: small on a grid that ends in the body, O(1) where ρ falls below rounding of its peak."""
    shallow = eigen.null_vector(BASELINE, Grid(-4.0, 4.0, 161, "stop"))
    deep = eigen.null_vector(BASELINE, Grid(-60.0, 60.0, 1201, "stop"))
    assert shallow.residual < 1e-12  # measured 8e-14
    assert 1e-3 < deep.residual <= 1.0  # measured 6e-2
    assert shallow.column_defect == deep.column_defect == 0.0


def test_eigen_is_deterministic() -> None:
    one, other = (eigen.null_vector(*CASES["baseline"]).log_density for _ in range(2))
    assert (one == other).all()


def test_eigen_says_when_gmres_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eigen, "RESTART", 1)
    monkeypatch.setattr(eigen, "CYCLES", 2)
    words = r"GMRES stopped at a relative residual of .*, after 2 iterations"
    with pytest.raises(NotConvergedError, match=words) as caught:
        eigen.null_vector(*CASES["baseline"])
    assert caught.value.density is None


def test_eigen_says_when_arpack_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eigen, "SHIFT", 1e4)  # far from zero every eigenvalue looks the same
    monkeypatch.setattr(eigen, "ARNOLDI", 3)
    monkeypatch.setattr(eigen, "ARNOLDI_CYCLES", 1)
    with pytest.raises(NotConvergedError, match="ARPACK found no eigenvalue near zero"):
        eigen.null_vector(*CASES["baseline"])


def test_eigen_refuses_an_eigenvalue_that_is_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eigen, "NULL", 1e-30)
    with pytest.raises(NotConvergedError, match="not zero"):
        eigen.null_vector(*CASES["baseline"])


def test_eigen_refuses_what_has_no_scale_or_no_matrix() -> None:
    with pytest.raises(ModelError, match="drift = 0 at every node"):
        eigen.null_vector(Model(TanhDrift(0.0), 0.3, None), Grid(-5.0, 5.0, 201, "stop"))
    with pytest.raises(ModelError, match="left edge"):
        eigen.null_vector(BASELINE, Grid(-5.0, 5.0, 201, ("open", "stop")))
    with pytest.raises(ModelError, match="order = 5"):
        eigen.null_vector(BASELINE, Grid(-5.0, 5.0, 201, "stop"), 5)
