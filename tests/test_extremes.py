"""Every model that can be made ends in a density or in a documented error with a sentence, whatever its numbers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solver.affordable import fourier_size, require_affordable, require_resolvable
from solver.checks import number
from solver.closed_form import closed_form
from solver.discretisation import Domain
from solver.drifts import Drift, ExponentialDrift, LinearDrift, LogisticDrift, TabulatedDrift, TanhDrift
from solver.errors import ModelError, NoStationaryDensityError, NotConvergedError
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import LaplaceJumps, TemperedStableJumps
from solver.model import Model
from solver.stationary import solve_stationary

DOCUMENTED = (ModelError, NoStationaryDensityError, NotConvergedError)
SHORTEST = 40  # characters: less is no sentence

ordinary = st.floats(-1.5, 1.5).map(lambda x: float(10**x))
extreme = st.one_of(st.floats(-300, 300).map(lambda x: float(10**x)), st.sampled_from([5e-324, 1e-300, 1e300, 1.7e308]))
size = st.one_of(ordinary, ordinary, extreme)
place = st.one_of(st.just(0.0), st.floats(-50, 50), extreme, extreme.map(lambda x: -x))
stability = st.one_of(
    st.floats(0.05, 1.98), st.sampled_from([1e-300, 1e-10, 1e-3, 1.0, 1 + 1e-12, 2 - 1e-10, 2 - 1e-15])
)


@st.composite
def drifts(draw: st.DrawFn) -> Drift:
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return TanhDrift(draw(size), draw(place), draw(size))
    if kind == 1:
        return LogisticDrift(draw(size), draw(size), draw(place), draw(size))
    if kind == 2:
        return LinearDrift(draw(size), draw(place))
    if kind == 3:
        return ExponentialDrift(draw(size), draw(size))
    return TabulatedDrift([-draw(size), 0.0, draw(size)], [draw(size), draw(st.sampled_from([0.0, 0.1])), -draw(size)])


@st.composite
def models(draw: st.DrawFn) -> Model:
    diffusion = draw(st.one_of(st.just(0.0), size, size))
    words = st.sampled_from(["levy", "stable", "laplacian"])
    law = TemperedStableJumps(draw(size), draw(stability), draw(st.one_of(st.just(0.0), size, size)), draw(words))
    return Model(draw(drifts()), diffusion, draw(st.sampled_from([law, law, law, None])) if diffusion else law)


def ends_well(make: Callable[[], Model]) -> str:
    """The kind of end; anything but a density or a documented error with a sentence raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = make()
            try:
                closed_form(model)
            except DOCUMENTED as failure:
                assert len(str(failure)) > SHORTEST
            density = solve_stationary(model, rtol=1e-3, max_nodes=1000)
        except DOCUMENTED as failure:
            words = str(failure)
            # 'left = 0.0, right = 0.0: a grid needs left < right' was one about a grid that the user never made
            assert len(words) > SHORTEST and "a grid needs" not in words and " nan" not in words, words
            return type(failure).__name__
        assert np.isfinite(density.error_estimate) and np.isfinite(density.logpdf(density.median()))
        return "density"


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_whatever_the_numbers(data: st.DataObject) -> None:
    ends_well(lambda: data.draw(models()))


@pytest.mark.slow
@given(st.data())
@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_whatever_the_numbers_at_length(data: st.DataObject) -> None:
    ends_well(lambda: data.draw(models()))


JUMPS = TemperedStableJumps(0.4, 1.5, 2.2)

# Each of these ended in a traceback, in a warning or in a sentence about something else.
FOUND: list[tuple[str, Callable[[], Model]]] = [
    ("narrow", lambda: Model(TanhDrift(1.0, 0.0, 1e-300), 0.3, JUMPS)),
    ("narrowest", lambda: Model(TanhDrift(1.0, 0.0, 5e-324), 0.3, JUMPS)),  # never came back
    ("tempered away", lambda: Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 1e300))),
    ("steep line", lambda: Model(LinearDrift(1e300), 0.3, JUMPS)),
    ("table of extremes", lambda: Model(TabulatedDrift([-1.0, 1.0], [1e300, -1e300]), 0.3, JUMPS)),
    ("no wall", lambda: Model(ExponentialDrift(1.0, 5e-324), 0.3, JUMPS)),
    ("high plateau", lambda: Model(TanhDrift(1e300), 0.3, JUMPS)),
    ("next to no jumps", lambda: Model(TanhDrift(1.0), 0.3, TemperedStableJumps(5e-324, 1.5, 2.2))),
    ("next to no tempering", lambda: Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 5e-324))),
    ("next to no diffusion", lambda: Model(LogisticDrift(0.03, 6.0, 0.0, 18.0), 1e-200, None)),
    ("steep table", lambda: Model(TabulatedDrift([-1e-200, 0.0, 1e-200], [1e107, 0.0, -1e107]), 0.3, None)),
    ("far centre", lambda: Model(TanhDrift(1.0, 1e300), 0.3, JUMPS)),
    ("stable, stability of nothing", lambda: Model(LinearDrift(10.0), 0.0, TemperedStableJumps(1e3, 1e-300, 0.0))),
    ("stable, stability of one", lambda: Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1 + 1e-12, 0.0))),
    ("stable, next to no jumps", lambda: Model(LinearDrift(1e-3), 11.8, TemperedStableJumps(1e-200, 0.9, 0.0))),
    ("all in one place", lambda: Model(LinearDrift(3e253, -21.7), 1e200, TemperedStableJumps(2.0, 0.7, 0.55))),
]


@pytest.mark.parametrize("make", [make for _, make in FOUND], ids=[name for name, _ in FOUND])
def test_what_was_found(make: Callable[[], Model]) -> None:
    ends_well(make)


def test_the_most_extreme_parameter_is_named() -> None:
    with pytest.raises(ModelError, match=r"tempering = 1e\+300: with the other parameters it leaves the range of doub"):
        solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 1e300)))
    with pytest.raises(ModelError, match=r"diffusion = 5e-324: with the other parameters"):
        closed_form(Model(TanhDrift(1.0), 5e-324, None))


# --- weak tempering, needles ------------------------------------------------------------------------------


def test_weak_tempering_ends_quickly_and_says_why() -> None:
    """It ran through 13 levels in 49 s: a decay rate of 1e-10 is read off a spectral radius of 1 - 1e-10."""
    model = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 1e-10))
    start = time.perf_counter()
    with pytest.raises(NotConvergedError, match="whose tails decay by 1e-10 per unit of ζ only") as caught:
        solve_stationary(model)
    assert time.perf_counter() - start < 10  # measured 0.3 s
    assert caught.value.density is not None and caught.value.density.grid.nodes < 2000
    assert solve_stationary(model, rtol=1e-4).error_estimate < 1e-4  # measured 1.3e-5
    with pytest.raises(NotConvergedError, match=r"tempering = 1e-100: the tails decay .*or tempering = 0"):
        solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 1e-100)))


def test_levels_that_no_longer_help_are_not_refined_for_ever() -> None:
    """The best of them comes with the error, not the last."""
    with pytest.raises(NotConvergedError, match="rounding limits this model") as caught:
        solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 1e-8)), rtol=1e-9)
    density = caught.value.density
    assert density is not None and caught.value.estimate == density.error_estimate
    assert density.error_estimate == min(level.estimate for level in density.levels)


def ornstein_uhlenbeck(stability: float, intensity: float) -> Model:
    return Model(LinearDrift(1.0), 0.0, TemperedStableJumps(intensity, stability, 1.0))


def test_the_content_at_a_wave_number() -> None:
    """Gauss: exp(-η_G k²/(2κ)). Pure jumps, λ = 0: Ψ = C k^α, exp(-C k^α/(κ α))."""
    assert fourier_size(Model(LinearDrift(2.0), 0.5), 3.0) == pytest.approx(np.exp(-0.5 * 9 / 4), rel=1e-4)
    # 0.002 is what ∫_0^{k/1e6} holds
    stable = TemperedStableJumps(0.1, 0.5, 0.0, "stable")  # Ψ = 0.1 k^0.5
    assert fourier_size(Model(LinearDrift(2.0), 0.0, stable), 400.0) == pytest.approx(np.exp(-0.1 * 20 / 1.0), rel=3e-3)


def test_a_needle_is_refused_before_any_level_with_its_reason() -> None:
    seen: list[int] = []
    words = (
        r"too sharp for 100000 nodes \(h = .*\): its Fourier transform is still .* the smallest jumps hardly spread it"
    )
    for stability, intensity in ((0.3, 0.1), (0.05, 0.1), (0.3, 0.02)):
        with pytest.raises(NotConvergedError, match=words):
            solve_stationary(
                ornstein_uhlenbeck(stability, intensity), progress=lambda level, nodes, error: seen.append(nodes)
            )
    assert not seen


def test_rare_jumps_are_refused_in_their_own_words() -> None:
    """Compound Poisson jumps of rate r against F' = -1 leave |ζ|^{r - 1}: no Fourier size is quoted."""
    with pytest.raises(NotConvergedError, match=r"too sharp .*: jumps of rate 0\.4 are rare.* as \|ζ - ζ\*\|\^-0\.6;"):
        solve_stationary(Model(LinearDrift(1.0), 0.0, LaplaceJumps(0.4, 2.2)))


def test_a_far_tail_that_is_not_resolved_is_not_called_sharp() -> None:
    """Frequent jumps: the body is smooth, |ρ̂| = 3e-98 at the grid's wave number."""
    with pytest.raises(NotConvergedError, match=r"far out in .* not positive at h = .*no edge can be placed"):
        solve_stationary(Model(LinearDrift(1.0), 0.0, LaplaceJumps(30.0, 2.2)), max_nodes=4000)


@pytest.mark.parametrize(("stability", "intensity"), [(0.3, 1.0), (0.2, 5.0), (0.1, 2.0)])
def test_small_stability_is_solved_where_jumps_are_frequent(stability: float, intensity: float) -> None:
    """The variance of an Ornstein-Uhlenbeck process is half that of its noise over the rate, whatever the peak."""
    model = ornstein_uhlenbeck(stability, intensity)
    assert model.jumps is not None
    density = solve_stationary(model, rtol=1e-6)
    assert density.var() == pytest.approx(model.jumps.second_moment / 2, rel=1e-6)


def test_a_grid_that_cannot_be_made_is_not() -> None:
    model = Model(TanhDrift(1.0), 0.3)
    for left, right, spacing in ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1e17, 2e17, 1.0), (-1.0, 1.0, 1e-9)):
        domain = Domain(left, right, left, ("open", "open"), (True, True), ())
        with pytest.raises(NotConvergedError, match="the coarsest useful grid has"):
            require_affordable(model, domain, spacing, 1000)
    with pytest.raises(NotConvergedError, match="too sharp"):
        require_resolvable(model, 10.0, 100.0, 0.0)


# --- kinds of arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.array(0.5), Decimal("0.5"), Fraction(1, 2), np.float32(0.5), 0.5])
def test_every_kind_of_number_is_a_number(value: Any) -> None:
    assert number("x", value) == 0.5 and type(number("x", value)) is float
    assert TanhDrift(value) == TanhDrift(0.5)
    assert Model(TanhDrift(1.0), value) == Model(TanhDrift(1.0), 0.5)
    assert TemperedStableJumps(value, value, value) == TemperedStableJumps(0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    "value", [np.array([0.5]), np.array(True), np.array("0.5"), Decimal("NaN"), Decimal("sNaN"), None, "0.5", 1j]
)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(ModelError, match=r"plateau = .*must be a finite number"):
        TanhDrift(value)


def test_none_is_named() -> None:
    nothing: Any = None
    with pytest.raises(ModelError, match="model = None: must be a Model such as"):
        solve_stationary(nothing)
    with pytest.raises(ModelError, match="model = None: must be a Model such as"):
        closed_form(model=nothing)
    with pytest.raises(ModelError, match="drift = None: must be a drift"):
        Model(nothing, 0.3)
    model = Model(TanhDrift(1.0), 0.3)
    with pytest.raises(ModelError, match="model = None: must be a Model"):
        build_generator(nothing, Grid(-1.0, 1.0, 21, "stop"))
    with pytest.raises(ModelError, match="grid = None: must be a Grid"):
        build_generator(model, nothing)


def test_a_whole_order_may_be_a_float() -> None:
    model, grid = Model(TanhDrift(1.0), 0.3), Grid(-8.0, 8.0, 161, "stop")
    order: Any = 8.0
    assert build_generator(model, grid, order).order == 8
    assert solve_stationary(model, grid=grid, order=order).order == 8
    for wrong in (7, 8.5, "8", True):
        with pytest.raises(ModelError, match="order = "):
            solve_stationary(model, grid=grid, order=wrong)  # type: ignore[arg-type]
