"""Blocks and their messages: put together again they must be the generator's matrix, entry by entry.

The generator builds the same matrix from weights and stencils, without messages; nothing but the jump law and
the stencils is shared.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from solver.blocks import BLOCK, Block, Scheme, Sends, assemble, build_scheme
from solver.drifts import LinearDrift, TanhDrift
from solver.errors import ModelError
from solver.generator import ORDERS, build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model

Array = NDArray[np.float64]

DRIFT = TanhDrift(1.0, 0.3, 1.0)  # off-centre on a lopsided grid: a mistake that mirrors must show
MODELS = {
    "baseline": Model(DRIFT, 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
    "pure diffusion": Model(DRIFT, 0.3, None),
    "pure jumps": Model(DRIFT, 0.0, TemperedStableJumps(1.4, 0.7, 1.5)),
    "growing drift": Model(LinearDrift(1.0, 0.3), 0.1, TemperedStableJumps(0.2, 0.6, 4.0)),
}
GRID = Grid(-5.0, 3.5, 100, "stop")
CUTS = {"one block": [0, 100], "three": [0, 37, 60, 100], "short ones": [0, 8, 17, 60, 100]}
REACH = 1e6


def scheme_of(model: Model, order: int, grid: Grid = GRID) -> Scheme:
    return build_scheme(model.jumps, model.diffusion, grid.spacing, order, REACH)


def cut(scheme: Scheme, drift: Array, cuts: list[int]) -> list[Block]:
    """Blocks between neighbouring cuts; the drift beyond either end must not matter."""
    padded = np.pad(drift, scheme.m, constant_values=17.0)
    return [assemble(scheme, padded[a : b + 2 * scheme.m], a == 0, b == cuts[-1]) for a, b in pairwise(cuts)]


def put_together(blocks: list[Block], cuts: list[int]) -> Array:
    """The matrix that the blocks and their messages stand for: column block by column block."""
    matrix = np.zeros((cuts[-1], cuts[-1]))
    own = [slice(a, b) for a, b in pairwise(cuts)]
    for i, sender in enumerate(blocks):
        matrix[own[i], own[i]] = sender.a
        message = sender.v
        for j in range(i + 1, len(blocks)):
            matrix[own[j], own[i]] = blocks[j].u @ message
            message = blocks[j].t[:, None] * message
        message = sender.v_back
        for j in range(i - 1, -1, -1):
            matrix[own[j], own[i]] = blocks[j].u_back @ message
            message = blocks[j].t_back[:, None] * message
    return matrix


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
def test_blocks_are_the_generator(name: str, order: int, cuts: list[int]) -> None:
    generator = build_generator(MODELS[name], GRID, order)
    dense = generator.to_dense()
    matrix = put_together(cut(scheme_of(MODELS[name], order), generator.drift, cuts), cuts)
    assert np.abs(matrix - dense).max() < 1e-15 * np.abs(dense).max()  # measured 2.5e-16
    assert ((matrix == 0) == (dense == 0)).all()
    far = np.abs(np.subtract.outer(np.arange(100), np.arange(100))) > order // 2
    far[[0, -1]] = False  # edge rows are sums with cancellation
    jumps = dense[far] != 0
    # far jumps one by one, whatever their size: measured 1e-15 down to e^{-39}
    assert (np.abs(matrix[far][jumps] / dense[far][jumps] - 1) < 5e-15).all()
    assert jumps.all() == (MODELS[name].jumps is not None)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
def test_columns_sum_to_zero(name: str, order: int) -> None:
    drift = MODELS[name].drift(GRID.zeta)
    matrix = put_together(cut(scheme_of(MODELS[name], order), drift, CUTS["three"]), CUTS["three"])
    assert np.abs(matrix.sum(axis=0)).max() < 1e-15 * np.abs(matrix).max()  # measured 2.8e-16


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
def test_what_leaves_a_block_lands(name: str, order: int) -> None:
    """The outflow of a block is what its two messages land with: column sums are minus that, without a difference."""
    padded = MODELS[name].drift(np.linspace(-2.0, 3.0, BLOCK + order))
    block = assemble(scheme_of(MODELS[name], order), padded)
    outflow = block.land @ block.v + block.land_back @ block.v_back
    assert np.abs(outflow + block.a.sum(axis=0)).max() < 1e-15 * np.abs(block.a).max()  # measured 3e-16
    # what a message from outside lands with here and what goes on are all of it
    for land, u, t in ((block.land, block.u, block.t), (block.land_back, block.u_back, block.t_back)):
        k = land.size - order // 2  # the band's part does not pass a block
        np.testing.assert_allclose(u.sum(axis=0)[:k] + t[:k] * land[:k], land[:k], rtol=1e-13)
        assert (t[k:] == 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_the_mirror_image(name: str) -> None:
    """Flipping space flips the drift's sign: the mirrored block exchanges its two directions."""
    scheme = scheme_of(MODELS[name], 8)
    drift = MODELS[name].drift(np.linspace(-2.0, 3.0, 40 + 8))
    block = assemble(scheme, drift, stop_left=True)
    mirror = assemble(scheme.mirrored, -drift[::-1], stop_right=True)
    pairs = [
        (block.a, mirror.a[::-1, ::-1]),
        (block.u, mirror.u_back[::-1]),
        (block.u_back, mirror.u[::-1]),
        (block.v, mirror.v_back[:, ::-1]),
        (block.v_back, mirror.v[:, ::-1]),
        (block.t, mirror.t_back),
        (block.t_back, mirror.t),
        (block.land, mirror.land_back),
        (block.land_back, mirror.land),
    ]
    scale = np.abs(block.a).max()
    for one, other in pairs:
        assert one.shape == other.shape and np.abs(one - other).max() < 1e-15 * scale  # measured 2e-16


def test_directions_are_kept_apart() -> None:
    """Other exponentials to the left: one-sided jumps with one term each, which no symmetric code would get right."""
    base = scheme_of(MODELS["pure diffusion"], 4)
    scheme = dataclasses.replace(
        base,
        right=Sends(np.array([0.7]), np.array([np.log(0.5)])),
        left=Sends(np.array([0.2, 0.1]), np.array([np.log(0.9), np.log(0.3)])),
    )
    cuts = CUTS["three"]
    drift = np.sin(np.arange(100.0))
    matrix = put_together(cut(scheme, drift, cuts), cuts)
    distance = np.arange(5.0, 98.0)  # beyond the band, short of the edge rows
    np.testing.assert_allclose(matrix[6:99, 1], 0.7 * 0.5 ** (distance - 1), rtol=2e-14)
    leftward = 0.2 * 0.9 ** (distance - 1) + 0.1 * 0.3 ** (distance - 1)
    np.testing.assert_allclose(matrix[93:0:-1, 98], leftward, rtol=2e-14)  # measured 5e-15
    assert np.abs(matrix.sum(axis=0)).max() < 1e-14 * np.abs(matrix).max()
    assert scheme.mirrored.right is scheme.left and scheme.mirrored.left is scheme.right
    assert scheme.mirrored.out_rate == scheme.out_rate == pytest.approx(1.4 + 2.0 + 0.1 / 0.7, rel=1e-15)


def test_a_wrong_neighbour_would_show() -> None:
    """The negative control: the band acts with the drift at the sending node, not at the receiving one."""
    model, cuts = MODELS["baseline"], CUTS["three"]
    scheme = scheme_of(model, 8)
    generator = build_generator(model, GRID, 8)
    wrong = put_together(cut(scheme, np.roll(generator.drift, 1), cuts), cuts)
    dense = generator.to_dense()
    assert np.abs(wrong - dense).max() > 1e-3 * np.abs(dense).max()  # measured 3e-3
    leaky = [dataclasses.replace(block, t=0.99 * block.t) for block in cut(scheme, generator.drift, cuts)]
    assert np.abs(put_together(leaky, cuts) - dense).max() > 1e-10 * np.abs(dense).max()


def test_a_scheme_without_jumps_sends_the_band_alone() -> None:
    scheme = scheme_of(MODELS["pure diffusion"], 8)
    block = assemble(scheme, np.ones(20 + 8))
    assert scheme.out_rate == 0.0 and block.v.shape == (4, 20) and block.u.shape == (20, 4)
    assert (block.t == 0).all() and scheme.tempering == np.inf


def test_what_a_scheme_refuses() -> None:
    jumps = MODELS["baseline"].jumps
    with pytest.raises(ModelError, match="order = 7"):
        build_scheme(jumps, 0.3, 0.05, 7, REACH)
    with pytest.raises(ModelError, match="1/tempering"):
        build_scheme(jumps, 0.3, 0.5, 8, REACH)
    with pytest.raises(ModelError, match="spacing"):
        build_scheme(jumps, 0.3, -0.05, 8, REACH)
