"""A reported error estimate is never smaller than the true error: random models, exact and refined truths.

The table is printed by `python -m pytest tests/test_honesty.py -m slow -s`.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import scipy.special
from numpy.typing import NDArray

from solver import (
    LaplaceJumps,
    LinearDrift,
    LogisticDrift,
    Model,
    NotConvergedError,
    StationaryDensity,
    TemperedStableJumps,
    solve_stationary,
)
from solver.discretisation import BODY
from solver.elimination import null_vector
from solver.grid import Grid
from solver.history import rounding
from tests.random_models import core, pure_diffusion, rough, unbounded

Array = NDArray[np.float64]
LogDensity = Callable[[Array], Array]

# How far beyond the body the tail is sampled, in units of the body's half-width.
DEPTHS = np.array([1.1, 2.0, 5.0, 20.0, 100.0])


def exact_log_density(model: Model) -> LogDensity:
    """ln ρ of a logistic drift without jumps: ∫F/η_G, normalised by a beta function."""
    drift = model.drift
    assert model.jumps is None
    left, right = drift.left_limit / model.diffusion, -drift.right_limit / model.diffusion
    if isinstance(drift, LogisticDrift):
        centre, width = drift.center, drift.width
    else:
        centre, width = drift.center, drift.width / 2  # type: ignore[attr-defined]
    log_mass = np.log(width) + scipy.special.betaln(left * width, right * width)

    def log_density(zeta: Array) -> Array:
        x = zeta - centre
        return left * x - (left + right) * width * np.logaddexp(0.0, x / width) - log_mass

    return log_density


def refined_log_density(density: StationaryDensity) -> tuple[LogDensity, float]:
    """ln ρ on four times the nodes, in a domain whose unsettled edges are moved outwards by a quarter; and what its own
    rounding, which grows as nodes are added, may put a decay rate off by, relative to itself."""
    grid = density.grid
    spacing = grid.spacing / 4
    before, after = (0 if flat else grid.nodes for flat in _flat_edges(density))
    nodes = 4 * (grid.nodes - 1) + 1 + before + after
    fine = Grid(grid.left - before * spacing, grid.right + after * spacing, nodes, grid.edges)
    reaches = [side.reach * side.spacing for side in (density.null.left, density.null.right) if side is not None]
    null = null_vector(density.model, fine, density.order, depth=max(reaches, default=0.0))
    refined = StationaryDensity(density.model, fine, density.order, "refined", null, density.error, density.levels, ())
    return refined.logpdf, rounding(density.model, fine)


def _flat_edges(density: StationaryDensity) -> tuple[bool, bool]:
    drift, grid = density.model.drift, density.grid
    off = (abs(drift(grid.left) / drift.left_limit - 1), abs(drift(grid.right) / drift.right_limit - 1))
    return bool(off[0] < 1e-9), bool(off[1] < 1e-9)


def samples(density: StationaryDensity) -> tuple[Array, Array]:
    """Points of the body, between nodes too, and points of the tails beyond open edges."""
    body = density.ppf(np.concatenate([np.logspace(np.log10(BODY) + 0.01, -2, 60), np.linspace(0.01, 0.99, 60)]))
    upper = density.isf(np.logspace(np.log10(BODY) + 0.01, -2, 60))
    middle, low, high = density.median(), body.min(), upper.max()
    tails = []
    left, right = density.null.left, density.null.right
    if left is not None:  # as deep as it is known
        tails.append(np.maximum(middle - DEPTHS * (middle - low), density.grid.left - left.deepest * left.spacing))
    if right is not None:
        tails.append(np.minimum(middle + DEPTHS * (high - middle), density.grid.right + right.deepest * right.spacing))
    return np.concatenate([body, upper]), np.concatenate([np.zeros(0), *tails])


def check(model: Model, exact: bool, rtol: float) -> tuple[float, float, float] | None:
    """Claimed error, true error in the body, and the largest ratio true/claimed anywhere; None: not converged."""
    try:
        density = solve_stationary(model, rtol)
    except NotConvergedError as failure:
        if failure.density is None or failure.estimate > 1:
            return None
        density = failure.density
    truth, blur = (exact_log_density(model), 0.0) if exact else refined_log_density(density)
    body, tails = samples(density)
    error = np.abs(density.logpdf(body) - truth(body))
    allowed = density.log_error(tails) + blur * np.abs(density.logpdf(tails))
    deep = np.abs(density.logpdf(tails) - truth(tails)) / allowed
    claimed = density.error_estimate
    return claimed, float(error.max()), float(max(error.max() / claimed, deep.max(initial=0.0)))


FAMILIES = [
    ("exact", pure_diffusion, True, 110),
    ("core", core, False, 160),
    ("linear", unbounded, False, 40),
    ("rough", rough, False, 40),
]


def study(scale: float, seed: int, rtol: float) -> None:
    """Run a share of every family; every claim must hold, nearly all must be there, and none be absurdly large."""
    total = missing = 0
    ratios: list[float] = []
    for name, family, exact, count in FAMILIES:
        rng = np.random.default_rng(seed)
        results = [(model, check(model, exact, rtol)) for model in (family(rng) for _ in range(round(scale * count)))]
        found = [result for _, result in results if result is not None]
        total, missing = total + len(results), missing + len(results) - len(found)
        ratios += [claimed / true for claimed, true, _ in found]
        worst = max(found, key=lambda result: result[2])
        print(
            f"{name:8} {len(found):4} of {len(results):4} solved; claimed/true: median "
            f"{np.median([c / t for c, t, _ in found]):8.1f}, least {1 / worst[2]:6.2f} (body or tail)"
        )
        for model, result in results:
            assert result is None or result[2] <= 1, (name, model, result)
    assert missing <= 0.05 * total
    assert np.median(ratios) < 1000


def test_claims_hold_on_a_few_models() -> None:
    study(0.08, seed=11, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-8, 1e-5])
def test_claims_hold(rtol: float) -> None:
    study(1.0, seed=2026, rtol=rtol)


def test_an_order_seen_elsewhere_is_not_taken_for_that_of_the_peak() -> None:
    """Three coarse levels: the first two disagreed most far out, by 3.7, the last two at the peak, by 0.02.

    The ratio gave an order of 7.5 and an estimate of 2.2e-4 where ln ρ was off by 6.7e-4. Exact: the inverse transform
    of exp(-C k^α/(r α) - η_G k²/(2 r)).
    """
    rate, diffusion, size, alpha = 1.6433211979826206, 0.05448735848804881, 1.0610955174210865, 1.0532301529161392
    model = Model(LinearDrift(rate), diffusion, TemperedStableJumps(size, alpha, 0.0, "stable"))
    places = (0.0, 0.25, 0.5, 1.0)

    def exact(zeta: float) -> float:
        def integrand(k: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-size * k**alpha / (rate * alpha) - diffusion * k**2 / (2 * rate)) * mpmath.cos(k * zeta)

        # k^α is not smooth at 0; at k = 40 the transform is 1e-22
        ends = [0, *(mpmath.mpf(2) ** -j for j in range(30, 0, -1)), *range(1, 41)]
        return float(mpmath.log(mpmath.quad(integrand, ends) / mpmath.pi))

    expected = [exact(zeta) for zeta in places]
    for rtol in (1e-2, 1e-3, 1e-4):
        density = solve_stationary(model, rtol=rtol)
        true = np.abs(density.logpdf(places) - expected)
        assert true.max() <= density.error_estimate <= rtol, (rtol, true)  # measured: 0.2, 0.13, 0.11 of the estimate


def test_an_order_is_not_believed_that_unresolved_levels_take_part_in() -> None:
    """The first two levels disagreed by 3.2 about ln ρ: the estimate was 1.76e-4, and ln ρ off by 1.89e-4.

    The truth is the same model at rtol = 1e-9, which has eight times as many nodes.
    """
    drift = LogisticDrift(2.0686435556929705, 1.6013312064126586, 0.0, 0.16743120708926523)
    model = Model(drift, 0.01676319511952789, LaplaceJumps(0.24632237081916045, 0.9828175999682387))
    density, truth = (solve_stationary(model, rtol=rtol) for rtol in (1e-3, 1e-9))
    zeta = np.linspace(-0.3, 0.3, 2001)  # between the nodes, too
    true = float(np.abs(density.logpdf(zeta) - truth.logpdf(zeta)).max())
    assert true <= density.error_estimate <= 1e-3  # measured: 0.35 of the estimate
