"""The resolvent by block elimination: against dense algebra, the null vector, and exact sums at shifts of any size."""

from __future__ import annotations

import numpy as np
import pytest

from solver import shifted_side
from solver.drifts import CallableDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.elimination import null_vector
from solver.errors import ModelError
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.shifted import resolvent

JUMPS = TemperedStableJumps(intensity=0.4, stability=0.7, tempering=1.2)
MODELS = {
    "both": Model(TanhDrift(1.0, 0.3), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
    "asymmetric": Model(LogisticDrift(1.0, 2.0, 0.3, 1.0), 0.1, JUMPS),
    "jumps": Model(LogisticDrift(1.0, 2.0, 0.3, 1.0), 0.0, JUMPS),
    "diffusion": Model(TanhDrift(1.0), 0.3, None),
}
# One block, exactly one, one node more, two, two sides with a middle, several blocks on each side.
NODES = [41, 64, 65, 128, 129, 400]


def wells(barrier: float) -> Model:
    """Two wells, F = ζ - ζ³, with the barrier in units of the diffusion."""
    drift = CallableDrift(lambda z: z - z**3, left=np.inf, right=np.inf, scale=0.5)
    return Model(drift, 0.25 / barrier, None)


def sources(nodes: int) -> np.ndarray:
    return np.random.default_rng(nodes).standard_normal((nodes, 3))


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("name", MODELS)
def test_against_dense_algebra(name: str, nodes: int) -> None:
    model, grid = MODELS[name], Grid(-9.0, 7.0, nodes, "stop")
    weight = -0.3 * np.abs(grid.zeta)
    scale = np.exp(weight)[:, None]
    inverse = resolvent(model, grid, 1.0, log_weight=weight)
    dense = np.eye(nodes) - build_generator(model, grid).to_dense()
    f = sources(nodes)
    x = np.linalg.solve(dense, scale * f) / scale
    u = np.linalg.solve(dense.T, f / scale) * scale
    # measured 3e-14: the dense solve's own error
    assert np.abs(inverse.apply(f) - x).max() < 1e-12 * np.abs(x).max()
    assert np.abs(inverse.apply_transposed(f) - u).max() < 1e-12 * np.abs(u).max()
    assert np.array_equal(inverse.apply(f[:, 0]).shape, (nodes,))


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("name", MODELS)
def test_without_a_shift(name: str, nodes: int) -> None:
    """At σ = 0 the equations hold for sources without mass, and the transpose is the transpose."""
    model, grid = MODELS[name], Grid(-9.0, 7.0, nodes, "stop")
    matrix = build_generator(model, grid).to_dense()
    inverse = resolvent(model, grid, 0.0)
    f = sources(nodes)
    f -= f.mean(axis=0)
    x = inverse.apply(f)
    assert np.abs(matrix @ x + f).max() < 1e-12 * (np.abs(matrix) @ np.abs(x)).max()  # measured 8e-16
    whole = inverse.apply(np.eye(nodes))
    assert np.abs(inverse.apply_transposed(np.eye(nodes)) - whole.T).max() < 1e-13 * np.abs(whole).max()
    u = inverse.apply_transposed(f)
    rho = null_vector(model, grid)
    residual = matrix.T @ u + f
    # the equation left out holds if f is orthogonal to ρ; without that it is the only one that fails
    wrong = np.flatnonzero((np.abs(residual) > 1e-10 * (np.abs(matrix.T) @ np.abs(u)).max()).any(axis=1))
    assert wrong.size == 1
    assert rho.log_density[wrong[0]] > rho.log_density.max() - 3


def test_a_wrong_drift_is_seen() -> None:
    """Negative control: the dense matrix of a drift 1% off does not agree."""
    model, grid = MODELS["both"], Grid(-9.0, 7.0, 200, "stop")
    wrong = Model(TanhDrift(1.01, 0.3), 0.3, model.jumps)
    f = sources(200)
    x = np.linalg.solve(np.eye(200) - build_generator(wrong, grid).to_dense(), f)
    assert np.abs(resolvent(model, grid, 1.0).apply(f) - x).max() > 1e-3 * np.abs(x).max()


@pytest.mark.parametrize("name", MODELS)
def test_a_small_shift_gives_the_stationary_density(name: str) -> None:
    """σ (σ - A)⁻¹ f → ρ Σ f, in every entry relative to itself."""
    model, grid = MODELS[name], Grid(-40.0, 40.0, 1601, "stop")
    x = resolvent(model, grid, 1e-13).apply(np.exp(-((grid.zeta - 1) ** 2)))
    assert (x > 0).all()
    log_x = np.log(x / x.sum())
    rho = null_vector(model, grid).log_density
    log_rho = rho - np.log(np.exp(rho).sum())
    assert log_rho.min() < -38
    # measured 7e-12 (diffusion, e^{-134} at the ends): σ over the slowest rate and the rounding of a mean
    assert np.abs(log_x - log_rho).max() < 1e-10


@pytest.mark.parametrize("shift", [1e-3, 1e-30, 1e-200])
def test_mass_is_kept_at_any_shift(shift: float) -> None:
    """Σ x = Σ f / σ: a constant is an eigenvector of the transpose, e^{-80} of a barrier or not."""
    model, grid = wells(80.0), Grid(-1.6, 1.6, 1601, "stop")
    inverse = resolvent(model, grid, shift)
    f = np.exp(-50 * (grid.zeta - 0.8) ** 2)
    assert abs(inverse.apply(f).sum() * shift / f.sum() - 1) < 1e-12  # measured 4e-15
    assert np.abs(inverse.apply_transposed(np.ones(1601)) * shift - 1).max() < 1e-12


def test_weights_of_any_depth() -> None:
    """With the weight e^{-|ζ|} over ±2000 the entries span e^{±2000}; scaled, they are the ones of a narrow grid."""
    model = Model(TanhDrift(2.0), 1.0, None)  # |ζ| is the best weight, e^{-2|ζ|} the density
    wide, narrow = Grid(-2000.0, 2000.0, 16001, "stop"), Grid(-100.0, 100.0, 801, "stop")
    inside = slice(7600, 8401)
    values = []
    for grid in (wide, narrow):
        f = np.exp(-(grid.zeta**2))
        values.append(resolvent(model, grid, 0.5, log_weight=-np.abs(grid.zeta)).apply(f))
    assert np.isfinite(values[0]).all()
    assert np.abs(values[0][inside] - values[1])[100:-100].max() < 1e-13  # measured 1e-14


def test_repeated_steps_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid(-300.0, 300.0, 6001, "stop")
    f = np.exp(-(grid.zeta**2))
    absorbed = []
    absorb = shifted_side._absorb
    monkeypatch.setattr(shifted_side, "_absorb", lambda *given: absorbed.append(1) or absorb(*given))
    reused = resolvent(MODELS["both"], grid, 0.1).apply(f)
    few = len(absorbed)
    monkeypatch.setattr(shifted_side, "_REPEATS", -1.0)
    plain = resolvent(MODELS["both"], grid, 0.1).apply(f)
    assert few < 0.7 * (len(absorbed) - few)  # some 90 blocks, on the plateau up to where they repeat
    assert np.abs(reused / plain - 1).max() < 1e-11  # measured 3e-16


def test_many_nodes() -> None:
    """Residual of the FFT product, which shares nothing with the elimination but the weights."""
    model, grid = MODELS["both"], Grid(-60.0, 60.0, 12001, "stop")
    generator = build_generator(model, grid)
    f = np.exp(-(grid.zeta**2))
    x = resolvent(model, grid, 0.2).apply(f)
    u = resolvent(model, grid, 0.2).apply_transposed(f)
    assert np.abs(0.2 * x - generator.matvec(x) - f).max() < 1e-8  # measured 3e-11: eps |A| |x|
    assert np.abs(0.2 * u - generator.rmatvec(u) - f).max() < 1e-8


def test_a_linear_observable() -> None:
    """L ζ = -ζ under a linear drift, whatever the jumps: away from the edges (σ - L)⁻¹ ζ = ζ/(1 + σ)."""
    grid = Grid(-12.0, 12.0, 481, "stop")
    model = Model(LinearDrift(1.0), 0.1, TemperedStableJumps(0.3, 1.2, 4.0))
    u = resolvent(model, grid, 2.0).apply_transposed(grid.zeta)
    assert np.abs(3 * u - grid.zeta)[200:281].max() < 1e-10  # measured 4e-15


def test_what_is_refused() -> None:
    model, grid = MODELS["both"], Grid(-9.0, 7.0, 100, "stop")
    with pytest.raises(ModelError, match="shift = -1"):
        resolvent(model, grid, -1.0)
    with pytest.raises(ModelError, match="stop"):
        resolvent(model, Grid(-9.0, 7.0, 100, ("open", "stop")), 1.0)
    with pytest.raises(ModelError, match="nodes = 8"):
        resolvent(model, Grid(-9.0, -8.0, 8, "stop"), 1.0)
    with pytest.raises(ValueError, match="log_weight"):
        resolvent(model, grid, 1.0, log_weight=np.zeros(99))
    with pytest.raises(ValueError, match="log_weight"):
        resolvent(model, grid, 1.0, log_weight=np.full(100, np.nan))
    with pytest.raises(ValueError, match=r"\(99,\) on 100 nodes"):
        resolvent(model, grid, 1.0).apply(np.zeros(99))
