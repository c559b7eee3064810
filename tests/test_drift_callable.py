"""CallableDrift: what is read off a function, what is assumed, and what is refused with its place."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.drift_scan import scan_points
from solver.drifts import CallableDrift, TanhDrift
from solver.errors import ModelError

INF = math.inf


@pytest.mark.parametrize(
    ("function", "limits", "zeros"),
    [
        (lambda z: -np.tanh(z), (1, -1), [0]),
        (lambda z: -np.tanh((z - 500) / 3), (1, -1), [500]),
        (lambda z: z - z**3, (INF, -INF), [-1, 0, 1]),
        (lambda z: 1 - np.exp(z), (1, -INF), [0]),
        (lambda z: -np.sinh(z - 2), (INF, -INF), [2]),
        (lambda z: -np.arcsinh(z), (INF, -INF), [0]),  # grows like a logarithm
        (lambda z: -np.sign(z) * np.sqrt(np.abs(z)), (INF, -INF), [0]),  # vertical tangent at 0
        (lambda z: 0 * z + 1, (1, 1), []),
        (lambda z: z, (-INF, INF), [0]),
        (lambda z: -np.sign(z) * np.maximum(np.abs(z) - 1, 0), (INF, -INF), [0]),
        (lambda z: 1 / (1 + z**2) ** 2, (0, 0), []),
        (lambda z: -np.clip(z, -1, 1), (1, -1), [0]),
        (lambda z: -np.sin(6 * z) * (np.abs(z) < 1.2), (0, 0), np.arange(-2, 3) * np.pi / 6),
    ],
)
def test_limits_and_zeros_are_read_off(function: Callable[[Any], Any], limits: tuple[float, float], zeros: Any) -> None:
    breaks = (-1.2, 1.2) if len(zeros) == 5 else ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drift = CallableDrift(function, breaks=breaks)
        # 1e-24: what F = 1/(1+z²)² has come down to at the farthest sample
        assert (drift.left_limit, drift.right_limit) == pytest.approx(limits, abs=1e-23)
        np.testing.assert_allclose(drift.sign_changes(), zeros, rtol=1e-14, atol=1e-16)
        assert drift.assumed == () or limits == (0, 0)


@settings(deadline=None, max_examples=25)
@given(st.floats(0.1, 10), st.floats(-30, 30), st.floats(0.02, 20), st.floats(1e-9, 0.1))
def test_a_wrapped_tanh_answers_like_the_tanh(plateau: float, center: float, width: float, share: float) -> None:
    exact = TanhDrift(plateau, center, width)
    found = CallableDrift(lambda z: -plateau * np.tanh((z - center) / width))
    assert (found.left_limit, found.right_limit) == (exact.left_limit, exact.right_limit)
    # a slope counts as resolved once two halves agree to 1%; 0.17% seen in 2000 draws, and 2e-8 for the reach
    assert found.length_scale == pytest.approx(exact.length_scale, rel=0.01)
    np.testing.assert_allclose(found.sign_changes(), exact.sign_changes(), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(
        found.plateau_reach(share * plateau),
        exact.plateau_reach(share * plateau),
        rtol=1e-6,
        atol=1e-6 * width,
    )


@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_a_narrow_bump_is_sampled_to_its_own_scale(width: float) -> None:
    """Its second zero lies between two samples of the first survey."""
    drift = CallableDrift(lambda z: -np.tanh((z - 0.3) / width) * np.tanh((z - 0.3 - 5 * width) / width))
    assert drift.length_scale == pytest.approx(width, rel=0.03)  # -1.3% seen: the bump falls short of its plateau
    np.testing.assert_allclose(drift.sign_changes(), [0.3, 0.3 + 5 * width], rtol=1e-14)


@pytest.mark.parametrize("width", [1e-6, 1e-9])
def test_a_steep_step_is_not_taken_for_a_jump(width: float) -> None:
    drift = CallableDrift(lambda z: -np.tanh((z - 0.3) / width))
    assert drift.length_scale == pytest.approx(width, rel=0.01)


def test_given_limits_and_scale_are_taken() -> None:
    drift = CallableDrift(lambda z: -np.tanh(z), left=1, right=1.0, scale=0.5)
    assert (drift.left_limit, drift.right_limit, drift.length_scale) == (1.0, -1.0, 0.5)
    unbounded = CallableDrift(lambda z: -z, left=INF, right=INF, scale=INF)
    assert (unbounded.left_limit, unbounded.right_limit, unbounded.length_scale) == (INF, -INF, INF)
    assert unbounded.plateau_reach(1e-9) == (-INF, INF)


def test_a_slow_approach_is_assumed_and_said() -> None:
    def slow(z: Any) -> Any:
        return -z / (1 + np.abs(z))

    drift = CallableDrift(slow)
    assert drift.left_limit == pytest.approx(1 - 1e-6, abs=1e-11)
    assert drift.assumed[0] == (
        "drift is taken to tend to 0.999999 as zeta -> -inf: it still changes by 1e-06 "
        "between zeta = -500000 and -1e+06"
    )
    assert len(drift.assumed) == 2
    assert drift.plateau_reach(1e-9) == (-INF, INF)  # an assumed limit is not reached
    told = CallableDrift(slow, left=1, right=1)
    assert (told.left_limit, told.right_limit, told.assumed) == (1.0, -1.0, ())
    assert told.plateau_reach(1e-3) == pytest.approx((-999.0, 999.0), rel=1e-9)
    assert told.plateau_reach(1e-9) == (-INF, INF)


def test_an_oscillation_is_not_taken_for_a_limit() -> None:
    """At whole numbers sin(πζ) vanishes: samples there alone would see a constant."""
    drift = CallableDrift(lambda z: -np.tanh(z) + 0.1 * np.sin(np.pi * z))
    assert len(drift.assumed) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"right": -1},
            "right = -1: says that F tends to -right = 1, but the function is -1 at zeta = 1e+06",
        ),
        ({"left": 2}, "left = 2: says that F tends to +left = 2, but the function is 1 at zeta = -1e+06"),
        ({"left": INF}, "left = inf: says that F tends to +left = inf"),
        ({"left": -INF}, "left = -inf: must be a finite number"),
        ({"left": math.nan}, "left = nan: must be a finite number"),
        ({"right": "1"}, "right = '1': must be a finite number, got str"),
        ({"scale": 0}, "scale = 0: must lie in (0, inf)"),
        ({"breaks": 1.0}, "breaks = 1.0: must be a list of numbers"),
        ({"breaks": (math.nan,)}, "breaks[0] = nan: must be a finite number"),
        ({"function": 3}, "function = 3: must be callable"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        CallableDrift(**{"function": lambda z: -np.tanh(z), **arguments})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda z: 1.0, "function: must return real numbers in the shape of zeta, (33,), got float64 in"),
        (lambda z: z[:-1], "got float64 in the shape (32,)"),
        (lambda z: z > 0, "got bool in"),
        (lambda z: 1j * z, "got complex128 in"),
        (lambda z: None, "got object in"),
        (lambda z: -np.sinh(z) / np.cosh(z), "function = nan at zeta = -1000000: must be a number"),
        (lambda z: -z if z > 0 else z, "function: ValueError (The truth value"),
        (math.exp, "it must take arrays (np.vectorize helps) and any |zeta| up to 1e6"),
        (np.vectorize(lambda z: 1 - math.exp(z)), "function: OverflowError (math range error)"),
    ],
)
def test_an_unusable_function_fails_when_the_drift_is_made(function: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        CallableDrift(function)
    assert message in str(caught.value)


def test_an_infinite_value_is_refused_where_it_is_asked_for() -> None:
    drift = CallableDrift(lambda z: 1 - np.exp(z))
    assert float(drift(0.0)) == 0.0 and drift(np.zeros((2, 3))).shape == (2, 3) and drift([]).size == 0
    with pytest.raises(ModelError, match=r"^function = -inf at zeta = 800: must be finite$"):
        drift([0.0, 800.0, 900.0])


def test_the_function_may_work_in_place() -> None:
    def in_place(z: Any) -> Any:
        z *= -1.0
        return z

    zeta = np.array([1.0, 2.0])
    assert CallableDrift(in_place)(zeta).tolist() == [-1.0, -2.0] and zeta.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("place", [0.0, 0.123, -7.3])
def test_a_jump_must_be_named_and_the_message_names_it(place: float) -> None:
    def step(z: Any) -> Any:
        return -np.sign(z - place)

    with pytest.raises(ModelError) as caught:
        CallableDrift(step)
    assert f"at zeta = {place!r}; name every jump, breaks=({place!r},)" in str(caught.value)
    drift = CallableDrift(step, breaks=(place,))
    assert drift.breaks == (place,) and drift.sign_changes().tolist() == [place]
    assert drift.plateau_reach(1e-9) == pytest.approx((place, place), abs=1e-14)


def test_samples_cover_the_range_at_the_scale() -> None:
    for scale in (INF, 1.0, 0.01, 1e-7):
        points = scan_points(scale, (0.5,))
        assert points[0] == -1e6 and points[-1] == 1e6 and np.all(np.diff(points) > 0)
        assert np.min(np.abs(points)) == 0.0 and 0.5 in points
        near = np.abs(points[1:]) <= min(scale, 1.0)
        assert np.max(np.diff(points)[near]) <= min(scale, 1.0) / 15.9
        assert points.size < 2.2e6


def test_equal_functions_make_equal_drifts() -> None:
    assert CallableDrift(np.negative) == CallableDrift(np.negative)
    assert hash(CallableDrift(np.negative)) == hash(CallableDrift(np.negative))
