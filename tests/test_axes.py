"""Parameters by name, and values to try: what is replaced, and what is refused in which words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from solver.axes import (
    UNITS,
    axis_values,
    drift_limits,
    linear_range,
    log_range,
    parameter,
    parameters,
    parsed_axis,
    with_parameters,
)
from solver.drifts import CallableDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.model import Model

JUMPS = TemperedStableJumps(0.4, 1.5, 2.2)
MODEL = Model(TanhDrift(1.0, 0.5, 2.0), 0.3, JUMPS)


def test_every_parameter_is_read_and_replaced_alone() -> None:
    expected = dict(plateau=1.0, center=0.5, width=2.0, diffusion=0.3, intensity=0.4, stability=1.5, tempering=2.2)
    assert parameters(MODEL) == expected and set(expected) == set(UNITS)
    for name in UNITS:
        changed = with_parameters(MODEL, {name: 1.25})
        assert parameters(changed) == expected | {name: 1.25}
    assert with_parameters(MODEL, expected) == MODEL


def test_the_plateau_of_a_logistic_drift_is_its_left_value() -> None:
    model = Model(LogisticDrift(left=1.0, right=3.0), 0.3)
    changed = with_parameters(model, {"plateau": 2.0})
    assert (changed.left_plateau, changed.right_plateau) == (2.0, 3.0)
    left, right = drift_limits(model, np.array([0.5, 2.0]))
    assert left.tolist() == [0.5, 2.0] and right.tolist() == [3.0, 3.0]


def test_both_plateaus_of_a_tanh_move_together() -> None:
    left, right = drift_limits(MODEL, np.array([0.5, 2.0]))
    assert left.tolist() == right.tolist() == [0.5, 2.0]
    assert [side.tolist() for side in drift_limits(MODEL, None)] == [[1.0], [1.0]]


def test_all_changes_are_made_at_once() -> None:
    """One after the other, the first would leave a model in which nothing moves."""
    still = Model(TanhDrift(1.0), 0.0, JUMPS)
    assert with_parameters(still, {"diffusion": 0.1, "intensity": 2.0}).diffusion == 0.1


REFUSED = [
    (lambda: parameter(MODEL, "temperng"), "parameter = 'temperng': must be one of .*; did you mean 'tempering'?"),
    (lambda: parameter(Model(TanhDrift(1.0), 0.3), "intensity"), "intensity: this model has no jumps"),
    (lambda: parameter(Model(LinearDrift(1.0), 0.3), "plateau"), "plateau: LinearDrift has none; its parameters are"),
    (lambda: parameter(Model(CallableDrift(lambda z: -z), 0.3), "plateau"), "plateau: CallableDrift has none"),
    (lambda: with_parameters(MODEL, {"stability": 2.5}), r"stability = 2.5: must lie in \(0, 2\)"),
    (lambda: linear_range(1.0, 0.5, 3), r"range = \[1, 0.5\]: reversed"),
    (lambda: linear_range(1.0, 1.0, 3), r"range = \[1, 1\]: empty"),
    (lambda: linear_range(1.0, 2.0, 0), r"points = 0(\.0)?: must lie in \[2"),
    (lambda: linear_range(1.0, float("nan"), 3), r"range\[1\] = nan: must be a finite number"),
    (lambda: log_range(0.0, 2.0, 3), r"log_range = \[0, 2\]: must begin above 0"),
    (lambda: axis_values("plateau", []), r"plateau = \[\]: empty"),
    (lambda: axis_values("plateau", [1.0, 1.0]), r"plateau\[1\] = 1.0: must be larger than plateau\[0\] = 1.0"),
    (lambda: axis_values("plateau", [1.0, float("nan")]), r"plateau\[1\] = nan: must be a finite number"),
    (lambda: axis_values("plateau", "12"), "plateau = '12': must be a list of numbers"),
    (lambda: axis_values("plato", [1.0]), "axis = 'plato': .*did you mean 'plateau'"),
    (lambda: parsed_axis("plateau", "1:2"), "plateau = '1:2': must be FROM:TO:POINTS"),
    (lambda: parsed_axis("plateau", "1:2:3:cubic"), "must be FROM:TO:POINTS"),
    (lambda: parsed_axis("plateau", "1:two:3"), "plateau = 'two': must be a number"),
    (lambda: parsed_axis("plateau", "2:1:3"), "plateau: range = .*reversed"),
    (lambda: parsed_axis("plateau", "1,1"), r"plateau\[1\] = 1.0"),
]


@pytest.mark.parametrize(("action", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_is_refused_in_one_sentence(action: Any, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        action()
    assert re.search(words, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


def test_ranges_hold_both_ends_exactly() -> None:
    for values in (linear_range(0.1, 0.7, 31), log_range(0.1, 0.7, 31), parsed_axis("plateau", "0.1:0.7:31:log")):
        assert values[0] == 0.1 and values[-1] == 0.7 and values.size == 31
        assert np.all(np.diff(values) > 0)
