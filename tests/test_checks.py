"""One wording for every refused parameter: field, value, allowed range, nearest known word."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.checks import choice, interval, number, numbers, positive, shown, suggestion
from solver.errors import ModelError


@pytest.mark.parametrize("value", [3, 3.0, np.float64(3), np.float32(3), np.int16(3), np.longdouble(3), Fraction(3)])
def test_every_real_scalar_becomes_a_float(value: Any) -> None:
    result = number("x", value, integer=True)
    assert type(result) is float and result == 3.0


@pytest.mark.parametrize(
    "value", [True, np.True_, "0.3", None, 1 + 0j, np.complex128(1), [1.0], np.array([1.0]), b"1", {}]
)
def test_what_is_not_a_real_number_is_refused_by_type(value: Any) -> None:
    with pytest.raises(ModelError, match=r"^width = .*: must be a finite number, got \w+$"):
        number("width", value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_non_finite_numbers_are_refused(value: float) -> None:
    with pytest.raises(ModelError, match=r"^width = -?(nan|inf): must be a finite number in \(0, inf\)$"):
        positive("width", value)


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (2.5, {"low": 0, "high": 2, "open_low": True, "open_high": True}, "x = 2.5: must lie in (0, 2)"),
        (0, {"low": 0, "open_low": True}, "x = 0: must lie in (0, inf)"),
        (-1e-300, {"low": 0}, "x = -1e-300: must lie in [0, inf)"),
        (2, {"low": 0, "high": 2, "open_high": True}, "x = 2: must lie in [0, 2)"),
        (3.5, {"low": 3, "integer": True}, "x = 3.5: must be a whole number in [3, inf)"),
    ],
)
def test_the_message_names_field_value_and_range(value: Any, limits: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        number("x", value, **limits)
    assert str(caught.value).startswith(message)


@given(st.floats(), st.booleans(), st.booleans())
def test_number_accepts_exactly_the_interval(value: float, open_low: bool, open_high: bool) -> None:
    inside = (0 < value if open_low else 0 <= value) and (value < 2 if open_high else value <= 2)
    try:
        assert number("x", value, 0, 2, open_low, open_high) == value and inside
    except ModelError as error:
        assert not inside
        assert interval(0, 2, open_low, open_high) in str(error)


def test_numbers_name_the_entry() -> None:
    assert numbers("zeta", np.array([1, 2])) == (1.0, 2.0)
    with pytest.raises(ModelError, match=r"^zeta\[1\] = nan"):
        numbers("zeta", [0, math.nan])
    with pytest.raises(ModelError, match=r"^zeta = '12': must be a list of numbers, got str"):
        numbers("zeta", "12")
    with pytest.raises(ModelError, match=r"^zeta = 3: must be a list of numbers, got int"):
        numbers("zeta", 3)


def test_choice_suggests_the_nearest_word() -> None:
    allowed = ("levy", "stable", "laplacian")
    assert choice("convention", "levy", allowed) == "levy"
    with pytest.raises(ModelError, match=r"one of 'levy', 'stable', 'laplacian'; did you mean 'laplacian'\?$"):
        choice("convention", "Laplace", allowed)
    with pytest.raises(ModelError, match=r"^convention = 3: must be one of 'levy', 'stable', 'laplacian'$"):
        choice("convention", 3, allowed)
    with pytest.raises(ModelError, match=r"'laplacian'$"):  # nothing is near: no guess
        choice("convention", "qqq", allowed)


def test_suggestion_is_silent_on_what_is_not_a_word() -> None:
    assert suggestion(7, ["seven"]) == ""
    assert suggestion("levy", []) == ""


def test_long_values_are_cut() -> None:
    with pytest.raises(ModelError, match=r"^x = 10*\.\.\.: must be a finite number that fits a double$"):
        number("x", 10**400)
    with pytest.raises(ModelError, match="x = int too long to print: must be a finite number that fits"):
        number("x", 10**5000)
    assert shown(list(range(1000))).endswith("...")
    assert len(shown(list(range(1000)))) == 60
