"""Depth on demand: the algebraic tails of design (no root, threshold) at depths that only depth= makes exact."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma

from solver.closed_form import closed_form
from solver.continuation import Continuation
from solver.density import StationaryDensity
from solver.drifts import ExponentialDrift, LinearDrift, TanhDrift
from solver.errors import ModelError
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.stationary import solve_stationary
from solver.storage import load

DEPTHS = -np.array([1e2, 1e3, 1e4, 1e5])


def model(stability: float, intensity: float, tempering: float = 1.0) -> Model:
    return Model(TanhDrift(1.0), 0.1, TemperedStableJumps(intensity, stability, tempering))


@cache
def solved(stability: float, intensity: float, depth: float | None) -> StationaryDensity:
    return solve_stationary(model(stability, intensity), depth=depth)


def no_root_constant(density: StationaryDensity, stability: float, intensity: float) -> float:
    """C = η_J ρ̂(λ) / (-Φ(λ)), λ = κ = 1 and η_G = 0.1, with Φ(λ) from its closed form and ρ̂ by quadrature.

    The part of ρ̂(λ) = ∫ e^{-ζ} ρ dζ left of -L is C L^{-α}/α, to 1/L relative: C follows from itself.
    """
    psi = gamma(-stability) * (2.0**stability - 2.0)
    excess = 1.0 - 0.1 - intensity * psi  # -Φ(1)
    body = quad(lambda z: float(np.exp(density.logpdf(z) - z)), -40.0, 40.0, points=[-5, 0, 5], limit=400)[0]
    decades = [1e1 * 4.0, 2e2, 1e3, 1e4, 1e5]
    for near, far in itertools.pairwise(decades):
        body += quad(lambda s: float(np.exp(density.logpdf(-np.exp(s)) + np.exp(s) + s)), np.log(near), np.log(far))[0]
    share = intensity / excess
    return float(share * body / (1.0 - share * decades[-1] ** -stability / stability))


@pytest.mark.parametrize(("stability", "first"), [(0.5, -0.0748), (1.5, 0.0459)])
def test_the_no_root_law_is_reached_as_its_corrections_say(stability: float, first: float) -> None:
    density = solved(stability, 0.2, 1e5)
    constant = no_root_constant(density, stability, 0.2)
    law = np.log(constant) + DEPTHS - (1 + stability) * np.log(-DEPTHS)
    off = density.logpdf(DEPTHS) - law
    assert off[0] == pytest.approx(first, abs=2e-4)  # design: ratios 0.9277 and 1.0471 at 100
    # the first correction is 1/|ζ|: a factor of ten for each decade, measured 9.2, 9.9, 9.99 and 10.2, 10, 10
    assert off[:-1] / off[1:] == pytest.approx([10.0, 10.0, 10.0], rel=0.11)
    assert abs(off[-1]) < 1e-4


def _geometric(density: StationaryDensity, zeta: float) -> float:
    """ln ρ as the exponential sum has it where it is no longer right."""
    side = density.null.left
    assert isinstance(side, Continuation)
    nodes = np.array([round((density.grid.left - zeta) / side.spacing)])
    return float(dataclasses.replace(side, excess=0.0, doubt=0.0)._exact(nodes, side.block)[0])


def test_without_depth_that_law_is_lost_and_the_estimate_says_so() -> None:
    """The negative control: beyond 1e6 nodes of h = 0.03 the tail turns geometric."""
    far = -1e6
    short, deep = solved(0.5, 0.2, None), solved(0.5, 0.2, 1e6)
    assert short.null.left is not None and deep.null.left is not None
    with pytest.raises(ModelError, match="ask for more with solve_stationary"):
        short.logpdf(far)
    lost = abs(_geometric(short, far) - deep.logpdf(far))
    assert 0.3 < lost < short.log_error(far)  # measured 0.32 and 2.4
    assert deep.log_error(far) < 1e-4  # measured 9e-6: F at the edge is off its limit by 1e-11


@pytest.mark.parametrize("stability", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("where", [0.6, 1.0 - 1e-6, 1.0, 1.0 + 1e-6, 1.3])
def test_a_value_does_not_depend_on_how_much_deeper_one_asked(stability: float, where: float) -> None:
    intensity = where * float(closed_form(model(stability, 0.2)).threshold)
    densities = [solved(stability, intensity, depth) for depth in (1e5, 1e6, 1e7)]
    values = np.array([density.logpdf(DEPTHS) for density in densities])
    # The weights of two sums differ by less than 2e-13 relative, which changes the decay rate by as much at most:
    # measured up to 1.1e-9 at 1e5 (next to the threshold, α = 1.5), 3e-11 and less below it
    allowed = 1e-10 + 2e-13 * -DEPTHS
    assert (np.abs(values - values[0]) <= allowed).all()
    if where < 0.9:
        assert np.abs(values - values[0]).max() < 1e-10
    assert (np.abs(values - values[0]) <= densities[0].log_error(DEPTHS)).all()


@pytest.mark.parametrize("stability", [0.5, 1.5])
@pytest.mark.parametrize("where", [0.6, 1.0])
def test_the_estimate_at_depth_is_honest(stability: float, where: float) -> None:
    """Against half the spacing on a wider domain."""
    intensity = where * float(closed_form(model(stability, 0.2)).threshold)
    density = solved(stability, intensity, 1e5)
    grid = density.grid
    finer = solve_stationary(
        model(stability, intensity), grid=Grid(grid.left - 8.0, grid.right + 8.0, 2 * grid.nodes, "open"), depth=1e5
    )
    off = np.abs(density.logpdf(DEPTHS) - finer.logpdf(DEPTHS))
    assert (off <= density.log_error(DEPTHS)).all()  # measured 1e-13 to 1e-9 against 6e-9 to 1e-6
    assert density.log_error(DEPTHS[-1]) < 1e-5


def test_the_reach_follows_the_depth_and_is_saved(tmp_path: Path) -> None:
    density = solved(0.5, 0.2, 1e6)
    for side in (density.null.left, density.null.right):
        assert side is not None and side.reach * side.spacing >= 1e6  # type: ignore[union-attr]
    density.save(tmp_path / "deep.npz")
    again = load(tmp_path / "deep.npz")
    assert again.null.left.reach == density.null.left.reach  # type: ignore[union-attr]
    assert (again.logpdf(DEPTHS) == density.logpdf(DEPTHS)).all()
    assert (again.log_error(10 * DEPTHS) == density.log_error(10 * DEPTHS)).all()


def test_depth_changes_nothing_where_tails_are_exact_anyway() -> None:
    for other in (
        Model(TanhDrift(1.0), 0.3),
        Model(ExponentialDrift(1.0, 1.0), 0.3),
        Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.8, 0.0)),
    ):
        plain, deep = solve_stationary(other, rtol=1e-2), solve_stationary(other, rtol=1e-2, depth=1e6)
        assert plain.logpdf(-1e6) == deep.logpdf(-1e6)


BAD: list[tuple[Any, str]] = [
    (0.0, r"depth = 0\.0: must lie in \(0, 1e\+08\]"),
    (-1e5, "depth = -100000.0: must lie in"),
    (float("inf"), "depth = inf: must be a finite number"),
    (float("nan"), "depth = nan: must be a finite number"),
    (1e9, r"depth = 1000000000\.0: must lie in \(0, 1e\+08\]"),
    ("deep", "depth = 'deep': must be a finite number, got str"),
]


@pytest.mark.parametrize(("depth", "words"), BAD, ids=[str(depth) for depth, _ in BAD])
def test_a_bad_depth_is_refused(depth: Any, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        solve_stationary(model(0.5, 0.2), depth=depth)


def test_a_depth_that_cannot_be_had_names_the_one_that_can() -> None:
    narrow = Model(TanhDrift(1.0, 0.0, 1e-5), 0.0, TemperedStableJumps(0.4, 1.5, 2.2))
    with pytest.raises(ModelError, match=r"depth = 1e\+08: needs jumps that are exact over .*ask for at most"):
        solve_stationary(narrow, depth=1e8)


def test_stop_edges_know_no_depth() -> None:
    stop = Grid(-20.0, 20.0, 401, "stop")
    with pytest.raises(ModelError, match="two stop edges"):
        solve_stationary(model(0.5, 0.2), grid=stop, depth=1e3)
    with pytest.raises(ModelError, match="two stop edges"):
        solve_stationary(Model(LinearDrift(1.0), 0.3), depth=1e3)
    with pytest.raises(ModelError, match="method = 'eigs' ends at its stop edges"):
        solve_stationary(model(0.5, 0.2), grid=stop, depth=1e3, method="eigs")
