"""Whatever the parameters: a density that passes its own checks, or one of the documented errors. No warning leaks.

The full run over the core box is `python -m pytest tests/test_robust.py -m slow -s`.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solver import (
    LogisticDrift,
    Model,
    NoStationaryDensityError,
    NotConvergedError,
    StationaryDensity,
    TanhDrift,
    TemperedStableJumps,
    closed_form,
    cross_check,
    solve_stationary,
)
from tests.random_models import core

# Rounding in both checks at the sizes that occur (measured: 1e-12 and 1e-14 at most); a wrong closure gives > 1e-9.
RESIDUAL, COLUMN_DEFECT = 1e-9, 1e-10
# A drift that varies everywhere takes a quarter of a second with so many nodes.
NODES = 20_000


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(np.log10(low), np.log10(high)).map(lambda x: float(10**x))


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Every parameter over the whole range that users may type."""
    width, centre = draw(decades(0.01, 100)), draw(st.floats(-50, 50))
    left, right = draw(decades(1e-3, 1e3)), draw(decades(1e-3, 1e3))
    drift = draw(st.sampled_from([TanhDrift(left, centre, width), LogisticDrift(left, right, centre, width)]))
    diffusion = draw(st.one_of(st.just(0.0), decades(1e-4, 100)))
    jumps = TemperedStableJumps(draw(decades(1e-6, 1e6)), draw(st.floats(0.05, 1.99)), draw(decades(0.01, 50)))
    return Model(drift, diffusion, None if diffusion > 0 and draw(st.booleans()) and draw(st.booleans()) else jumps)


def sound(density: StationaryDensity) -> bool:
    """The checks that every density carries: positive, normalised, balanced, closed."""
    return bool(
        (density.null.sign > 0).all()
        and density.residual < RESIDUAL
        and density.null.column_defect < COLUMN_DEFECT
        and abs(density.interpolated_mass - 1) <= max(density.error_estimate, 1e-10)
    )


@given(models())
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_a_sound_density_or_a_documented_error(model: Model) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            density = solve_stationary(model, max_nodes=NODES)
        except NotConvergedError as failure:
            assert failure.density is None or failure.density.error_estimate == failure.estimate
            assert "nodes" in str(failure) or "rounding" in str(failure)
        except NoStationaryDensityError as failure:
            assert "no stationary density" in str(failure)
        else:
            assert sound(density), density
            assert density.error_estimate <= 1e-8
            assert cross_check(density).passed


def core_study(count: int, seed: int) -> None:
    """At least 98% of the core box is solved at the default rtol; the failures are listed."""
    rng = np.random.default_rng(seed)
    failures = []
    for _ in range(count):
        model = core(rng)
        try:
            density = solve_stationary(model)
        except NotConvergedError as failure:
            failures.append((str(failure), model))
        else:
            assert sound(density), (density, model)
            theory = closed_form(model)
            if theory.has_root:
                assert abs(density.tail_exponent / theory.exponent - 1) <= density.error_estimate, model
    print(f"{count - len(failures)} of {count} solved", *failures, sep="\n")
    assert len(failures) <= 0.02 * count


def test_the_core_box_is_solved() -> None:
    core_study(40, seed=3)


@pytest.mark.slow
def test_the_core_box_is_solved_at_length() -> None:
    core_study(500, seed=5)


@pytest.mark.parametrize("factor", [1e-3, 7.0])
def test_a_faster_clock_changes_nothing(factor: float) -> None:
    """Drift, diffusion and intensity scale with the rate of time, the density does not."""
    jumps = TemperedStableJumps(0.4, 1.5, 2.2)
    slow = solve_stationary(Model(TanhDrift(1.0), 0.3, jumps))
    fast = solve_stationary(Model(TanhDrift(factor), 0.3 * factor, replace(jumps, intensity=0.4 * factor)))
    zeta = np.linspace(-60, 30, 41)
    # measured 4e-12: both solves have the same nodes
    assert np.abs(fast.logpdf(zeta) - slow.logpdf(zeta)).max() <= 1e-10
    assert fast.tail_exponent == pytest.approx(slow.tail_exponent, rel=1e-11)


@pytest.mark.parametrize("factor", [0.01, 30.0])
def test_another_unit_of_zeta_rescales_the_density(factor: float) -> None:
    """ζ → factor ζ: drift times factor, diffusion times factor², tempering over factor, intensity times factor^α."""
    unit = solve_stationary(Model(TanhDrift(1.0, 0.5, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)))
    jumps = TemperedStableJumps(0.4 * factor**1.5, 1.5, 2.2 / factor)
    other = solve_stationary(Model(TanhDrift(factor, 0.5 * factor, factor), 0.3 * factor**2, jumps))
    zeta = np.linspace(-60, 30, 41)
    # measured 2e-10: the nodes differ
    difference = other.logpdf(factor * zeta) + np.log(factor) - unit.logpdf(zeta)
    assert np.abs(difference).max() <= (unit.log_error(zeta) + other.log_error(factor * zeta)).max()
    assert other.tail_exponent * factor == pytest.approx(unit.tail_exponent, rel=1e-8)
