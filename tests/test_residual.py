"""The componentwise residual: the definition on a dense matrix, blind to scale, and not blind to what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from solver import elimination
from solver.blocks import Scheme, build_scheme
from solver.drifts import ExponentialDrift, LinearDrift, TanhDrift
from solver.generator import ORDERS, build_generator
from solver.grid import Grid
from solver.halfline import close_half_line
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.nullvector import Continuation, NullVector, Tail
from solver.residual import residual

Array = NDArray[np.float64]
Arrival = tuple[Array, float] | None

MODELS = {
    "baseline": Model(TanhDrift(1.0, 0.3), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
    "pure diffusion": Model(TanhDrift(1.0, 0.3), 0.3, None),
    "pure jumps": Model(TanhDrift(1.0, 0.3), 0.0, TemperedStableJumps(1.4, 0.7, 1.5)),
    "linear": Model(LinearDrift(1.0, 0.3), 0.1, TemperedStableJumps(0.2, 0.6, 4.0)),
    "wall": Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
}
GRID = Grid(-6.0, 3.0, 181, "stop")  # 181 nodes: two blocks and a piece


def scheme_of(model: Model, grid: Grid, order: int = 8) -> Scheme:
    return build_scheme(model.jumps, model.diffusion, grid.spacing, order, 1e6)


def of_stopped(model: Model, log_density: Array, sign: Array | None = None, order: int = 8) -> float:
    """The residual on GRID, two stop edges."""
    scheme = scheme_of(model, GRID, order)
    m = scheme.m
    signs = np.ones(log_density.size) if sign is None else sign
    return residual(
        scheme,
        np.pad(model.drift(GRID.zeta), m, mode="edge"),
        np.pad(log_density, m, constant_values=-np.inf),
        np.pad(signs, m, constant_values=1.0),
        (None, None),
    )


def by_definition(model: Model, rho: Array, order: int) -> float:
    """|Aρ| / (|A| |ρ|) from the dense matrix."""
    matrix = build_generator(model, GRID, order).to_dense()
    return float(np.max(np.abs(matrix @ rho) / (np.abs(matrix) @ np.abs(rho))))


def bump(zeta: Array) -> Array:
    """Something smooth that no model here has for a density."""
    return np.asarray(-0.3 * zeta**2 + 0.2 * np.cos(3 * zeta))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_definition(name: str, order: int) -> None:
    model = MODELS[name]
    sign = np.where(np.arange(181) % 17 == 5, -1.0, 1.0)
    for signs in (np.ones(181), sign):
        log_density = bump(GRID.zeta)
        got = of_stopped(model, log_density, signs, order)
        exact = by_definition(model, signs * np.exp(log_density), order)
        # |A| ρ is taken term by term here (band, jumps, out-rate), which is up to 1.94 times |A| entry by entry; jumps
        # from other blocks are counted after their signs have cancelled, which costs 1.3e-5 where there are any
        assert 0.4 * exact < got <= exact * (1 + 1e-4 * (signs is sign))
        assert got > 1e-3
    if name == "pure diffusion":  # one term an entry: the very same number, but at the edge nodes
        inside = slice(8, -8)
        matrix, rho = build_generator(model, GRID, order).to_dense(), np.exp(bump(GRID.zeta))
        ratio = np.abs(matrix @ rho) / (np.abs(matrix) @ rho)
        assert of_stopped(model, bump(GRID.zeta), None, order) >= ratio[inside].max() * (1 - 1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
def test_a_right_solution_has_none(name: str, order: int) -> None:
    null = elimination.null_vector(MODELS[name], GRID, order)
    # measured 2.7e-15; once more from the normalised ln ρ it is rounded anew
    assert null.residual < 5e-14
    assert of_stopped(MODELS[name], null.log_density, null.sign, order) < 5e-14


@pytest.mark.parametrize("node", [0, 1, 63, 64, 90, 128, 179, 180])
@pytest.mark.parametrize("name", MODELS)
def test_one_node_off_by_a_millionth_shows(name: str, node: int) -> None:
    """However small the density is there: the linear model's first node holds 1e-14 of the peak."""
    model = MODELS[name]
    spoiled = elimination.null_vector(model, GRID).log_density.copy()
    spoiled[node] += 1e-6
    assert 1e-7 < of_stopped(model, spoiled) < 1e-6  # measured 2.3e-7 to 4.9e-7


def test_a_million_times_smaller_is_the_same() -> None:
    """Scale does not matter, not even one that no double holds."""
    model = MODELS["baseline"]
    log_density = bump(GRID.zeta)
    one, other = of_stopped(model, log_density), of_stopped(model, log_density - 5000.0)
    assert other == pytest.approx(one, rel=1e-11)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_has_an_infinite_residual(value: float) -> None:
    spoiled = bump(GRID.zeta)
    spoiled[70] = value
    assert of_stopped(MODELS["baseline"], spoiled) == np.inf


def test_a_wild_density_is_large_and_not_an_error() -> None:
    """Neighbours e^{1000} apart: terms overflow, and what comes out must not look small."""
    wild = np.where(np.arange(181) % 2 == 0, 0.0, -1000.0)
    with np.errstate(invalid="ignore"):
        got = of_stopped(MODELS["pure diffusion"], wild)
    assert not got < 0.1


# --- open edges ------------------------------------------------------------------------------------------

OPEN = Grid(-12.0, 11.0, 461, "open")


def of_open(model: Model, null: NullVector, arriving: tuple[Arrival, Arrival], order: int = 8) -> float:
    """The residual on OPEN, with what arrives from beyond either edge given by hand."""
    scheme = scheme_of(model, OPEN, order)
    m, ghosts = scheme.m, np.arange(1, scheme.m + 1)
    assert null.left is not None and null.right is not None
    drift = np.pad(model.drift(OPEN.zeta), m, mode="edge")
    drift[: 2 * m], drift[-2 * m :] = model.drift.left_limit, model.drift.right_limit
    logs = [null.left.log_density(ghosts)[::-1], null.log_density, null.right.log_density(ghosts)]
    sign = np.pad(null.sign, m, constant_values=1.0)
    return residual(scheme, drift, np.concatenate(logs), sign, arriving)


def arrivals(model: Model, half: Tail | None, drift: float) -> tuple[Array, float]:
    """The exponential sums that come from beyond the edge: the reflection of what was sent outwards."""
    assert isinstance(half, Continuation)
    scheme = scheme_of(model, OPEN)
    return (close_half_line(scheme, drift).reflection @ half.message)[: -scheme.m], half.log_scale


@pytest.mark.parametrize("name", ["baseline", "pure diffusion", "pure jumps"])
def test_open_edges(name: str) -> None:
    model = MODELS[name]
    null = elimination.null_vector(model, OPEN)
    both = arrivals(model, null.left, 1.0), arrivals(model, null.right, 1.0)
    assert of_open(model, null, both) == pytest.approx(null.residual, abs=1e-15)
    assert null.residual < 5e-14  # measured 1.1e-15
    if model.jumps is not None:
        for side in (0, 1):
            less = [both[0], both[1]]
            less[side] = (0.99 * both[side][0], both[side][1])
            assert of_open(model, null, (less[0], less[1])) > 1e-5  # measured 2.9e-4, 1.3e-3


def test_arrivals_are_sums_over_the_half_line() -> None:
    """And they are what they should be: Σ_n q_k^{n-1} ρ_n over the nodes beyond, added up by hand."""
    model = MODELS["baseline"]
    null = elimination.null_vector(model, OPEN)
    scheme = scheme_of(model, OPEN)
    sums, scale = arrivals(model, null.left, 1.0)
    assert null.left is not None
    n = np.arange(1.0, 2001.0)
    by_hand = np.exp(null.left.log_density(n.astype(int)) - scale) @ scheme.right.powers(n - 1)
    np.testing.assert_allclose(sums, by_hand, rtol=1e-12)  # measured 1e-15
