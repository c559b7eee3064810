"""The generator: its symbol against the closed one, its stencils, the rule at an edge, conservation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from solver.drifts import LinearDrift, TanhDrift
from solver.errors import ModelError
from solver.generator import ORDERS, Generator, build_generator, stencil
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model

Array = NDArray[np.float64]

DRIFT = TanhDrift(plateau=1.0, center=0.0, width=1.0)
BASE_JUMPS = TemperedStableJumps(intensity=0.4, stability=1.5, tempering=2.2)
STABLE_JUMPS = TemperedStableJumps(intensity=0.4, stability=0.3, tempering=0.0)
MODELS = {
    "baseline": Model(DRIFT, 0.3, BASE_JUMPS),
    "pure diffusion": Model(DRIFT, 0.3, None),
    "pure jumps": Model(DRIFT, 0.0, TemperedStableJumps(1.4, 0.7, 1.5)),
    "untempered": Model(DRIFT, 0.3, STABLE_JUMPS),
    "untempered jumps alone": Model(DRIFT, 0.0, TemperedStableJumps(1.0, 1.9, 0.0)),
    "growing drift": Model(LinearDrift(1.0), 0.1, BASE_JUMPS),
}


def small(model: Model, order: int, nodes: int = 90) -> Generator:
    """Lopsided on purpose: a mistake that mirrors left and right must show."""
    return build_generator(model, Grid(-5.0, 3.5, nodes, "stop"), order)


# --- the jumps: lattice symbol against the closed symbol -------------------------------------------------

WAVENUMBER = 2.0
SPACINGS = (0.25, 0.125)
# Largest relative error at h = 0.125, set by α = 1.9, λ = 4: measured 4.68e-3, 3.88e-5, 3.88e-7, 4.29e-9.
CAPS = {2: 4.7e-3, 4: 3.9e-5, 6: 3.9e-7, 8: 4.3e-9}
SHORTFALL = 0.25  # the order at these coarse spacings is below 2m+2-α by up to 0.22 (order 8, α = 0.7, λ = 4)


def symbol_study(lattice: TemperedStableJumps, exact: TemperedStableJumps, order: int) -> tuple[float, float]:
    """(relative error at the finer spacing, observed order) of the lattice symbol."""
    errors = []
    for h in SPACINGS:
        generator = build_generator(Model(DRIFT, 0.3, lattice), Grid(0.0, 50 * h, 51, "stop"), order)
        errors.append(abs(float(generator.lattice_symbol(WAVENUMBER) / exact.symbol(WAVENUMBER)) - 1.0))
    return errors[1], float(np.log2(errors[0] / errors[1]))


def symbol_is_right(lattice: TemperedStableJumps, exact: TemperedStableJumps, order: int) -> bool:
    error, observed = symbol_study(lattice, exact, order)
    return error <= CAPS[order] and observed >= order + 2 - exact.stability - SHORTFALL


@pytest.mark.parametrize("tempering", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("stability", [0.3, 0.7, 1.0, 1.3, 1.6, 1.9])
@pytest.mark.parametrize("order", ORDERS)
def test_the_symbol_is_approached_at_the_stated_order(order: int, stability: float, tempering: float) -> None:
    jumps = TemperedStableJumps(0.7, stability, tempering)
    assert symbol_is_right(jumps, jumps, order), symbol_study(jumps, jumps, order)


@pytest.mark.parametrize("stability", [0.3, 1.0, 1.9])
@pytest.mark.parametrize("order", ORDERS)
def test_the_symbol_study_sees_a_constant_that_is_off(order: int, stability: float) -> None:
    jumps = TemperedStableJumps(0.7, stability, 0.5)
    assert not symbol_is_right(TemperedStableJumps(0.7 * 1.01, stability, 0.5), jumps, order)


@pytest.mark.parametrize("stability", [0.3, 1.0, 1.9])
@pytest.mark.parametrize("order", ORDERS)
def test_the_symbol_study_sees_missing_corrections(
    order: int, stability: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TemperedStableJumps, "lattice_corrections", lambda self, h, count: np.zeros(count))
    jumps = TemperedStableJumps(0.7, stability, 0.5)
    assert not symbol_is_right(jumps, jumps, order)
    _, observed = symbol_study(jumps, jumps, order)
    assert abs(observed - (2.0 - stability)) < 0.2  # what the design says is lost: order 2-α is left


def test_the_symbol_of_fine_lattices_is_exact_to_rounding() -> None:
    k = np.array([[0.0, 0.3], [-1.0, 5.0]])
    for jumps in (BASE_JUMPS, STABLE_JUMPS):
        generator = build_generator(Model(DRIFT, 0.3, jumps), Grid(0.0, 1.0, 101, "stop"), 8)
        # measured 1.4e-14; without the jumps beyond 1e6 nodes STABLE_JUMPS would be wrong by 2.8e-2
        np.testing.assert_allclose(generator.lattice_symbol(k), jumps.symbol(k), rtol=2e-13, atol=1e-300)
    assert (small(MODELS["pure diffusion"], 8).lattice_symbol(k) == 0.0).all()


# --- stencils --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_stencils_are_exact_on_polynomials(order: int) -> None:
    d1, d2 = stencil(order)
    s = np.arange(-(order // 2), order // 2 + 1.0)
    for power in range(order + 1):
        assert abs(d1 @ s**power - (power == 1)) < 1e-12
        assert abs(d2 @ s**power - 2 * (power == 2)) < 1e-12
    assert sum(map(Fraction, d1.tolist())) == 0  # to the last bit, not to rounding
    assert abs(sum(map(Fraction, d2.tolist()), Fraction(0))) <= Fraction(1, 2**52)  # half an ulp of the middle entry
    assert (d1 == -d1[::-1]).all() and (d2 == d2[::-1]).all()


# Rms error at h = 0.1 of F u' + η_G u'', u = sin(1.3 ζ): measured 1.96e-3, 6.59e-6, 2.39e-8, 8.96e-11.
STENCIL_CAPS = {2: 2e-3, 4: 6.8e-6, 6: 2.5e-8, 8: 9.2e-11}


def stencil_study(order: int, factor: float = 1.0) -> tuple[float, float]:
    """(error at h = 0.1, observed order from h = 0.2) of the backward generator at common nodes inside."""
    errors = []
    for stride in (1, 2):
        grid = Grid(-4.0, 4.0, 40 * stride + 1, "stop")
        got = build_generator(Model(DRIFT, 0.3 * factor, None), grid, order).rmatvec(np.sin(1.3 * grid.zeta))
        z = grid.zeta[::stride]
        exact = -np.tanh(z) * 1.3 * np.cos(1.3 * z) - 0.3 * 1.3**2 * np.sin(1.3 * z)
        errors.append(float(np.sqrt(np.mean((got[::stride] - exact)[8:-8] ** 2))))
    return errors[1], float(np.log2(errors[0] / errors[1]))


def stencil_is_right(order: int, factor: float = 1.0) -> bool:
    error, observed = stencil_study(order, factor)
    return error < STENCIL_CAPS[order] and order - 0.1 < observed < order + 0.1  # measured: within 0.05


@pytest.mark.parametrize("order", ORDERS)
def test_drift_and_diffusion_have_the_stated_order(order: int) -> None:
    assert stencil_is_right(order), stencil_study(order)
    assert not stencil_is_right(order, factor=1.01)


# --- the matrix ------------------------------------------------------------------------------------------


def by_the_rule(generator: Generator) -> Array:
    """L entry by entry from the one sentence: what would leave the grid acts on the edge node."""
    n, h, m = generator.grid.nodes, generator.grid.spacing, generator.order // 2
    d1, d2 = stencil(generator.order)
    matrix = np.zeros((n, n))
    jumps = generator.model.jumps
    weights, beyond = np.zeros(n), 0.0
    if jumps is not None:
        weights = jumps.lattice_weights(h, n, m)
        beyond = float(jumps.lattice_weights(h, 100_000, m)[n:].sum())  # tempering leaves nothing after that
    for i in range(n):
        for s in range(-m, m + 1):
            local = generator.drift[i] * d1[s + m] / h + generator.model.diffusion * d2[s + m] / h**2
            matrix[i, min(max(i + s, 0), n - 1)] += local
        for s in range(1, n + 1):
            for target in (max(i - s, 0), min(i + s, n - 1)):
                matrix[i, target] += weights[s - 1]
                matrix[i, i] -= weights[s - 1]
        for target in (0, n - 1):
            matrix[i, target] += beyond
            matrix[i, i] -= beyond
    return matrix


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["baseline", "pure diffusion", "pure jumps", "growing drift"])
def test_the_matrix_follows_the_rule_at_the_edges(name: str, order: int) -> None:
    generator = small(MODELS[name], order, nodes=30)
    expected = by_the_rule(generator)
    # measured 7.4e-14, the error of the exponential sum in w_1
    assert np.abs(generator.to_dense().T - expected).max() < 3e-13 * np.abs(expected).max()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
def test_products_agree_with_the_dense_matrix(name: str, order: int) -> None:
    generator = small(MODELS[name], order)
    dense = generator.to_dense()
    size = np.abs(dense).sum(axis=0).max()
    rho, u = np.random.default_rng(7).normal(size=(2, 90))
    for got, exact in (
        (generator.matvec(rho), dense @ rho),
        (generator.rmatvec(u), dense.T @ u),
        (generator.absolute_matvec(np.abs(rho)), np.abs(dense) @ np.abs(rho)),
        (generator.as_linear_operator() @ rho, dense @ rho),
        (generator.as_linear_operator().H @ u, dense.T @ u),
        ((generator.as_linear_operator() @ rho[:, None])[:, 0], dense @ rho),
    ):
        assert np.abs(got - exact).max() < 1e-14 * size  # measured 8e-16
    assert abs(u @ generator.matvec(rho) - rho @ generator.rmatvec(u)) < 1e-13 * size


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
def test_mass_is_conserved_and_there_is_one_null_vector(name: str, order: int) -> None:
    generator = small(MODELS[name], order)
    dense = generator.to_dense()
    size = np.abs(dense).sum(axis=0).max()
    rho = np.random.default_rng(8).normal(size=90)
    assert np.abs(dense.sum(axis=0)).max() < 1e-15 * size  # measured 1.2e-16
    assert np.abs(generator.rmatvec(np.full(90, 3.0))).max() < 1e-14 * size
    assert abs(generator.matvec(rho).sum()) < 1e-13 * size
    singular = np.linalg.svd(dense, compute_uv=False)
    assert singular[-1] < 1e-15 * singular[0]
    assert singular[-2] > 2e-4 * singular[0]  # measured 3.1e-4 and more


def test_dropping_what_leaves_would_show() -> None:
    """The negative control of the two tests above: without the edge sums mass leaks."""
    generator = small(MODELS["baseline"], 8)
    leaky = generator.to_dense()
    leaky[0] -= generator.edge_sums
    leaky[-1] -= generator.edge_sums[::-1]
    assert np.abs(leaky.sum(axis=0)).max() > 1e-4 * np.abs(leaky).sum(axis=0).max()  # measured 2.7e-4


def test_the_product_is_fast_enough_for_a_hundred_thousand_nodes() -> None:
    """O(N log N): a dense matrix would need 80 GB. Measured 0.1 s for the tables, 0.04 s a product."""
    generator = build_generator(MODELS["baseline"], Grid(-2500.0, 2500.0, 100_001, "stop"))
    u = generator.rmatvec(np.ones(100_001))
    assert np.abs(u).max() < 1e-12 * generator.absolute_matvec(np.ones(100_001)).max()


# --- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1, 3, 10, "8", None])
def test_an_unknown_order_is_refused(order: int) -> None:
    with pytest.raises(ModelError, match=r"order = .*one of"):
        stencil(order)
    with pytest.raises(ModelError, match="order = "):
        build_generator(MODELS["baseline"], Grid(-5, 5, 101, "stop"), order)


@pytest.mark.parametrize(("edges", "side"), [(("open", "stop"), "left"), (("stop", "open"), "right")])
def test_an_open_edge_has_no_matrix(edges: tuple[str, str], side: str) -> None:
    with pytest.raises(ModelError, match=f'{side} edge = "open".*elimination'):
        build_generator(MODELS["baseline"], Grid(-5, 5, 101, edges))


def test_too_few_nodes_and_too_wide_a_spacing_are_refused() -> None:
    with pytest.raises(ModelError, match="nodes = 8: a generator of order 8 needs more than 8"):
        build_generator(MODELS["pure diffusion"], Grid(-1, 1, 8, "stop"), 8)
    assert build_generator(MODELS["pure diffusion"], Grid(-1, 1, 9, "stop"), 8).to_dense().shape == (9, 9)
    with pytest.raises(ModelError, match="1/tempering"):
        build_generator(MODELS["baseline"], Grid(-5, 5, 21, "stop"))


def test_a_vector_of_the_wrong_length_is_refused() -> None:
    for method in (small(MODELS["baseline"], 2).matvec, small(MODELS["baseline"], 2).rmatvec):
        with pytest.raises(ValueError, match=r"shape \(89,\) on 90 nodes"):
            method(np.ones(89))
