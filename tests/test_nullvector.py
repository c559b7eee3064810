"""The null vector's normalisation and its continuation beyond an open edge, against explicit powers and sums."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pytest
import scipy.special
from known_densities import geometric
from numpy.typing import NDArray

from solver import elimination
from solver.closed_form import closed_form
from solver.drifts import TanhDrift
from solver.errors import ModelError
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.nullvector import Continuation, normalised

Array = NDArray[np.float64]

DRIFT = TanhDrift(1.0)
MODELS = {
    "baseline": Model(DRIFT, 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
    "no root": Model(DRIFT, 0.1, TemperedStableJumps(0.2, 0.5, 1.0)),
    "broad": Model(DRIFT, 0.2, TemperedStableJumps(1.2163112902605659, 1.5, 1.0)),
    "pure diffusion": Model(DRIFT, 0.3, None),
    "slow": Model(TanhDrift(0.02), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
}
H = 0.05
BLOCK_NODES = 64


def beyond_edge(name: str) -> Continuation:
    null = elimination.null_vector(MODELS[name], Grid(-20.0, 20.0, 801, "open"))
    assert isinstance(null.left, Continuation)
    return null.left


HALVES = {name: beyond_edge(name) for name in MODELS}


def by_single_steps(half: Continuation, blocks: int) -> Array:
    """ln ρ of the first blocks, one multiplication by M a block, rescaled each time."""
    message, scale, logs = half.message, half.log_scale, []
    for _ in range(blocks):
        logs.append(np.log(half.block @ message) + scale)
        message = half.step @ message
        size = np.abs(message).max()
        message, scale = message / size, scale + np.log(size)
    return np.concatenate(logs)


# --- the continuation ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_powers_are_repeated_steps(name: str) -> None:
    half = HALVES[name]
    blocks = 15_625  # node 10^6, the reach; ln ρ = -6e4 for the baseline
    logs = by_single_steps(half, blocks)
    n = np.concatenate([np.arange(1, 400), [10_000, 123_457, 999_999, blocks * BLOCK_NODES]])
    got = half.log_density(n)
    # relative to ln ρ, which is all that doubles of that size hold: measured 1.4e-13 (slow)
    assert np.abs(got / logs[n - 1] - 1).max() < 1e-12
    assert np.abs((got - logs[n - 1])[:399]).max() < 1e-12  # measured 2.8e-14


def test_a_million_nodes_deep_at_fifty_digits() -> None:
    """M^k η by mpmath (without jumps M is small): right to the rounding of a logarithm of 1.7e5."""
    half = HALVES["pure diffusion"]
    blocks = 10**6 // BLOCK_NODES
    with mpmath.workdps(50):
        step = mpmath.matrix(half.step.tolist())
        message = mpmath.matrix(half.message.tolist())
        for bit in range(blocks.bit_length()):
            if blocks >> bit & 1:
                message = step * message
            if bit + 1 < blocks.bit_length():
                step = step * step
        row = mpmath.matrix([half.block[10].tolist()])
        exact = float(mpmath.log((row * message)[0]) + half.log_scale)
    assert exact < -1.6e5
    assert abs(float(half.log_density(blocks * BLOCK_NODES + 11)) - exact) < 1e-9  # measured 3e-11


@pytest.mark.parametrize("name", MODELS)
def test_the_first_nodes_continue_the_grid(name: str) -> None:
    """ln ρ goes on smoothly across the edge: no seam between the grid and its half-line."""
    null = elimination.null_vector(MODELS[name], Grid(-20.0, 20.0, 801, "open"))
    assert null.left is not None
    across = np.concatenate([null.left.log_density(np.arange(8, 0, -1)), null.log_density[:8]])
    fourth = np.diff(across, 4)
    assert np.abs(fourth).max() < 1e-8  # measured 2.5e-10 (no root: |ζ|^{-1.5} is curved), else rounding
    shifted = np.concatenate([across[:8] - 1e-7, across[8:]])
    assert np.abs(np.diff(shifted, 4)).max() > 1e-7


@pytest.mark.parametrize("name", MODELS)
def test_masses_are_sums(name: str) -> None:
    half = HALVES[name]
    depth = 60_000 if name in ("slow", "broad") else 20_000
    logs = half.log_density(np.arange(1, depth + 1))
    rest = float(half.log_mass_from(depth + 1))
    for n in (1, 2, 63, 64, 65, 66, 1000):
        inside = scipy.special.logsumexp(logs[n - 1 :]) + np.log(H)
        assert abs(half.log_mass_from(n) - np.logaddexp(inside, rest)) < 1e-12  # measured 1.4e-14
    # one node's share, by difference
    difference = -np.expm1(half.log_mass_from(101) - half.log_mass_from(100))
    share = np.exp(half.log_density(100) + np.log(H) - half.log_mass_from(100))
    assert abs(difference / share - 1) < 1e-11  # measured 4e-13


@pytest.mark.parametrize("name", MODELS)
def test_moments_are_sums(name: str) -> None:
    half = HALVES[name]
    n = np.arange(1.0, 200_001.0)
    density = np.exp(half.log_density(n.astype(int)))
    for power, moment in enumerate(half.moments()):
        assert abs(moment / (H * (n**power @ density)) - 1) < 1e-12  # measured 1.8e-15
    assert np.exp(half.log_mass_from(1)) == pytest.approx(half.moments()[0], rel=1e-12)


def test_a_geometric_half_line() -> None:
    """One number handed from node to node: everything is a geometric series."""
    rate, edge = 1.7, -3.0
    half, q = geometric(H, rate, edge), np.exp(-rate * H)
    n = np.array([1, 2, 7, 10**6])
    np.testing.assert_allclose(half.log_density(n), edge - rate * H * n, rtol=1e-13)
    np.testing.assert_allclose(half.log_mass_from(n), edge - rate * H * n + np.log(H / (1 - q)), rtol=1e-13)
    exact = H * np.exp(edge) * np.array([q / (1 - q), q / (1 - q) ** 2, q * (1 + q) / (1 - q) ** 3])
    np.testing.assert_allclose(half.moments(), exact, rtol=1e-12)


def test_the_deep_slope_is_the_exponent() -> None:
    half = HALVES["baseline"]
    exponent = closed_form(MODELS["baseline"]).exponent
    n = np.array([10**4, 10**5, 10**6, 10**9, 10**12])
    slopes = np.diff(half.log_density(n)) / np.diff(n) / H
    assert np.abs(slopes + exponent).max() < 1e-11  # measured 4.4e-13
    assert abs(half.exponent - exponent) < 1e-11


def test_shapes_and_empty_arguments() -> None:
    half = HALVES["baseline"]
    grid = np.arange(1, 13).reshape(3, 4)
    assert half.log_density(grid).shape == half.log_mass_from(grid).shape == (3, 4)
    assert half.log_density(5).shape == () and half.log_density([]).shape == (0,)
    assert (half.log_density(grid).ravel() == half.log_density(np.arange(1, 13))).all()
    jumbled = np.array([700, 1, 65, 64, 1])
    assert (half.log_density(jumbled) == [half.log_density(int(n)) for n in jumbled]).all()


@pytest.mark.parametrize("method", ["log_density", "log_mass_from"])
def test_nodes_are_counted_from_one(method: str) -> None:
    for n in (0, -5, [3, 0, 2]):
        with pytest.raises(ValueError, match=r"n = (0|-5): nodes beyond the edge are counted from 1"):
            getattr(HALVES["baseline"], method)(n)


@pytest.mark.parametrize("name", ["baseline", "broad", "pure diffusion", "slow"])
def test_one_exponential_is_left_far_out(name: str) -> None:
    """With a root any depth is an affine ln ρ: against powers of M, and as deep as a double can say."""
    half = HALVES[name]
    start = int(half.law_from)
    assert start < 1e6 and start % BLOCK_NODES == 1
    n = start + np.array([0, 5, 64, 1000, 10**6, 10**9])
    for got, exact in (
        (half.log_density(n), half._exact(n, half.block)),
        (half.far_log_density(H * n), half._exact(n, half.block)),
        (half.log_mass_from(n), half._exact(n, half._mass_rows) + np.log(H)),
    ):
        # rounding of 10^9 squarings of M: measured 4e-11 (slow)
        assert (np.abs(got - exact) / np.maximum(1.0, np.abs(exact))).max() < 1e-10
    assert half.log_density(1e300) == pytest.approx(-half.exponent * H * 1e300, rel=1e-15)
    assert half.far_distance(half.far_log_mass(np.array([1e3, 1e12]) * H * start)) == pytest.approx(
        np.array([1e3, 1e12]) * H * start, rel=1e-14
    )
    # the mass is that of an exponential, the sum over nodes is larger by the trapezoid's excess
    slope = half.exponent * H
    assert half.log_mass_from(10**7) - half.far_log_mass(np.array([H * 10**7])) == pytest.approx(
        np.log(slope / -np.expm1(-slope)), abs=1e-6 * half.exponent
    )


def test_windows_keep_their_digits_at_any_depth() -> None:
    half = HALVES["baseline"]
    first = np.array([1, 60, 64, 65, 12345, 10**9])
    relative, common = half.windows(first, 12)
    near = first < 10**5
    exact = half.log_density(first[near, None] + np.arange(12))
    assert np.abs(relative[near] + common[near, None] - exact).max() < 1e-11
    slopes = np.diff(relative[-1]) / H  # ln ρ = -6e7: differences of it would be off by 1e-7
    assert np.abs(slopes + half.exponent).max() < 1e-11
    plain = np.diff(half._exact(first[-1] + np.arange(12), half.block)) / H
    assert np.abs(plain + half.exponent).max() > 1e-9  # the control


@pytest.mark.parametrize("method", ["log_density", "log_mass_from"])
def test_a_pinned_tail_ends_where_it_is_known(method: str) -> None:
    """λ = 1 without a root: beyond the reach of the jumps the powers of M are geometric, and the law is not."""
    half = HALVES["no root"]
    assert half.pinned and half.deepest == half.reach == 1e6 and half.law_from == np.inf
    assert np.isfinite(getattr(half, method)(10**6))
    with pytest.raises(
        ModelError, match=r"depth 500[\d.]+ beyond.*exact over 50000 in ζ.*solve_stationary\(model, depth="
    ):
        getattr(half, method)(1_001_000)
    for name in ("baseline", "pure diffusion", "slow"):
        assert HALVES[name].deepest == np.inf and not HALVES[name].pinned


def test_what_is_not_positive_is_not_a_number() -> None:
    """An unresolved half-line: no logarithm is invented, and no sign is lost."""
    half = HALVES["baseline"]
    spoiled = dataclasses.replace(half, block=-half.block, _powers=[])
    assert np.isnan(spoiled.log_density([1, 500])).all()
    assert np.isfinite(half.log_density([1, 500])).all()


@pytest.mark.parametrize("name", MODELS)
def test_arrays_make_the_round_trip(name: str) -> None:
    half = HALVES[name]
    arrays = half.arrays()
    assert all(isinstance(value, np.ndarray) and value.dtype == float for value in arrays.values())
    again = Continuation.from_arrays(arrays)
    n = np.array([1, 64, 65, 10**6])
    assert (again.log_density(n) == half.log_density(n)).all()
    assert again.moments() == half.moments()
    for number in ("exponent", "spacing", "log_scale", "reach", "excess"):
        assert getattr(again, number) == getattr(half, number)
    with pytest.raises(KeyError, match="numbers"):
        Continuation.from_arrays({"block": half.block})


def test_shifting_scales_the_density_only() -> None:
    half = HALVES["no root"]
    n = np.array([1, 1000])
    moved = half.shifted(-2.5)
    np.testing.assert_allclose(moved.log_density(n), half.log_density(n) - 2.5, rtol=1e-15)
    np.testing.assert_allclose(moved.moments(), np.exp(-2.5) * np.array(half.moments()), rtol=1e-14)
    assert moved.exponent == half.exponent and moved.excess == half.excess


# --- normalisation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("half_width", [5.0, 20.0])
def test_all_mass_is_one(name: str, half_width: float) -> None:
    null = elimination.null_vector(MODELS[name], Grid(-half_width, half_width, int(40 * half_width) + 1, "open"))
    assert null.left is not None and null.right is not None
    outside = [float(np.exp(side.log_mass_from(1))) for side in (null.left, null.right)]
    inside = half_width / int(20 * half_width) * float((null.sign * np.exp(null.log_density)).sum())
    assert abs(inside + sum(outside) - 1) < 1e-13  # measured 7e-15
    if half_width == 5.0:
        assert min(outside) > 1e-8  # what an integral over the grid alone would miss


def test_normalisation_counts_signs_and_sides() -> None:
    logs, sign = np.log(np.array([1.0, 4.0, 0.5])), np.array([1.0, 1.0, -1.0])
    null = normalised(logs, sign, 0.1, residual=0.25)
    np.testing.assert_allclose(null.log_density, logs - np.log(0.45), rtol=1e-14)
    assert null.residual == 0.25 and null.column_defect == 0.0 and null.left is None
    half = geometric(0.1, 2.0, 0.0)
    open_left = normalised(logs, sign, 0.1, half, None)
    total = 0.45 + half.moments()[0]
    np.testing.assert_allclose(open_left.log_density, logs - np.log(total), rtol=1e-13)
    assert open_left.left is not None
    assert open_left.left.log_scale == pytest.approx(half.log_scale - np.log(total), rel=1e-13)


def test_a_density_without_mass_is_refused() -> None:
    with pytest.raises(FloatingPointError, match="has mass -"):
        normalised(np.zeros(4), np.array([1.0, -1.0, -1.0, -1.0]), 0.1)
    with pytest.raises(FloatingPointError, match="mass nan"):
        normalised(np.array([0.0, np.nan]), np.ones(2), 0.1)
