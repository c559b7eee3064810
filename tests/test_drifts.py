"""The drifts with a formula and the table: values, limits, reach, zeros; CallableDrift has its own file."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.drifts import (
    DRIFTS,
    CallableDrift,
    Drift,
    ExponentialDrift,
    LinearDrift,
    LogisticDrift,
    TabulatedDrift,
    TanhDrift,
)
from solver.errors import ModelError

TABLE = TabulatedDrift(zeta=[-4, -1, 0, 2.5], values=[0.83, 0.5, 0, -1])
EXAMPLES: list[Drift] = [
    TanhDrift(plateau=0.6, center=-3.0, width=1.5),
    LogisticDrift(left=1.0, right=3.0, center=2.0, width=0.7),
    ExponentialDrift(plateau=1.0, rate=2.0),
    LinearDrift(rate=0.5, center=1.0),
    TABLE,
    TanhDrift(plateau=-1.0),
    LogisticDrift(left=-0.2, right=1.0),
    ExponentialDrift(plateau=1.0, rate=0.0),
    LinearDrift(rate=0.0),
]
every_drift = pytest.mark.parametrize("drift", EXAMPLES, ids=repr)


def test_every_kind_is_known_by_its_word() -> None:
    words = {"tanh", "logistic", "exponential", "linear", "table", "callable"}
    assert set(DRIFTS) == words
    assert all(DRIFTS[word].kind == word for word in words)


@pytest.mark.parametrize(
    ("drift", "formula"),
    [
        (EXAMPLES[0], lambda z: -0.6 * math.tanh((z + 3) / 1.5)),
        (EXAMPLES[1], lambda z: (1 - 3 * math.exp((z - 2) / 0.7)) / (1 + math.exp((z - 2) / 0.7))),
        (EXAMPLES[2], lambda z: 1 - 2 * math.exp(z)),
        (EXAMPLES[3], lambda z: -0.5 * (z - 1)),
    ],
)
def test_values_are_the_formula(drift: Drift, formula: Callable[[float], float]) -> None:
    zeta = np.linspace(-9, 9, 37)
    expected = [formula(z) for z in zeta]
    # largest difference seen 3.0e-16 relative to the largest value
    np.testing.assert_allclose(drift(zeta), expected, rtol=0, atol=4e-16 * np.max(np.abs(expected)))


def test_logistic_with_equal_plateaus_is_the_tanh_of_twice_the_width() -> None:
    tanh, logistic = TanhDrift(0.6, -3.0, 1.4), LogisticDrift(0.6, 0.6, -3.0, 0.7)
    zeta = np.linspace(-30, 30, 241)
    np.testing.assert_allclose(logistic(zeta), tanh(zeta), rtol=0, atol=2e-16)
    assert logistic.length_scale == tanh.length_scale
    np.testing.assert_allclose(logistic.plateau_reach(1e-9), tanh.plateau_reach(1e-9), rtol=1e-14)


@every_drift
def test_any_finite_zeta_without_warnings_in_any_shape(drift: Drift) -> None:
    big = np.array([[-1.7e308, -1e300, -1e6, -5e-324], [0.0, 1e6, 1e300, 1.7e308]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = drift(big)
        assert values.shape == big.shape and not np.any(np.isnan(values))
        if drift.kind != "linear":  # not yet at its limit at the end of the doubles
            assert (values[0, 0], values[1, 3]) == (drift.left_limit, drift.right_limit)
        assert np.shape(drift(3)) == () and drift([]).shape == (0,)
        assert float(drift(3)) == drift([3])[0]


@pytest.mark.parametrize("drift", [TanhDrift(1.0, 1e308, 1e-300), LinearDrift(1e308, -1e308)], ids=repr)
def test_extreme_parameters_do_not_warn_either(drift: Drift) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not np.any(np.isnan(drift([-1.7e308, 0.0, 1.7e308])))
        drift.plateau_reach(1e-9)


@pytest.mark.parametrize(
    ("drift", "limits", "scale", "zeros"),
    [
        (EXAMPLES[0], (0.6, -0.6), 1.5, [-3.0]),
        (EXAMPLES[1], (1.0, -3.0), 1.4, [2.0 - 0.7 * math.log(3)]),
        (EXAMPLES[2], (1.0, -math.inf), 1.0, [-math.log(2)]),
        (EXAMPLES[3], (math.inf, -math.inf), math.inf, [1.0]),
        (EXAMPLES[4], (0.83, -1.0), 1.0, [0.0]),
        (EXAMPLES[5], (-1.0, 1.0), 1.0, [0.0]),
        (EXAMPLES[6], (-0.2, -1.0), 2.0, []),
        (EXAMPLES[7], (1.0, 1.0), 1.0, []),
        (EXAMPLES[8], (0.0, 0.0), math.inf, []),
        (ExponentialDrift(-1.0, -2.0), (-1.0, math.inf), 1.0, [-math.log(2)]),
        (ExponentialDrift(-1.0, 2.0), (-1.0, -math.inf), 1.0, []),
        (LinearDrift(-1.0), (-math.inf, math.inf), math.inf, [0.0]),
        (LogisticDrift(-1.0, -1.0), (-1.0, 1.0), 2.0, [0.0]),
        (LogisticDrift(0.0, 1.0), (0.0, -1.0), 2.0, []),
        (TanhDrift(0.0), (0.0, 0.0), 1.0, []),
        (LogisticDrift(1e300, 1e-300), (1e300, -1e-300), 2.0, [600 * math.log(10)]),
    ],
    ids=repr,
)
def test_limits_scale_and_zeros(drift: Drift, limits: tuple[float, float], scale: float, zeros: list[float]) -> None:
    assert (drift.left_limit, drift.right_limit) == limits
    assert drift.length_scale == pytest.approx(scale, rel=1e-15)
    np.testing.assert_allclose(drift.sign_changes(), zeros, rtol=1e-15)


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(-50, 50), st.floats(0.05, 20), st.floats(1e-12, 0.3))
def test_plateau_reach_is_where_the_tolerance_is_used_up(
    left: float, right: float, center: float, width: float, share: float
) -> None:
    for drift in (LogisticDrift(left, right, center, width), TanhDrift(left, center, width)):
        rise = drift.left_limit - drift.right_limit
        tolerance = share * rise
        zl, zr = drift.plateau_reach(tolerance)
        # rounding: of F a few 1e-16 rise, of ζ - center up to 50 * 1e-16 / width in the exponent
        slack = 1e-15 * rise * (1 + abs(center) / width)
        assert abs(drift(zl) - drift.left_limit) == pytest.approx(tolerance, rel=1e-9, abs=slack)
        assert abs(drift(zr) - drift.right_limit) == pytest.approx(tolerance, rel=1e-9, abs=slack)


@pytest.mark.parametrize(
    ("drift", "tolerance", "reach"),
    [
        (ExponentialDrift(1.0, 2.0), 1e-10, (math.log(5e-11), math.inf)),
        (LinearDrift(1.0), 1e-10, (-math.inf, math.inf)),
        (TanhDrift(1.0), 0.0, (-math.inf, math.inf)),
        (TanhDrift(1.0, 0.0, 1e6), 1e-9, (-math.inf, math.inf)),  # reached beyond |ζ| = 1e6 only
        (TanhDrift(1.0, 7.0), 2.0, (7.0, 7.0)),
        (TanhDrift(0.0, 7.0), 1e-9, (7.0, 7.0)),
        (LinearDrift(0.0, 7.0), 1e-9, (7.0, 7.0)),
        (ExponentialDrift(1.0, 0.0), 1e-9, (0.0, 0.0)),
        (ExponentialDrift(1.0, 1.0), 0.0, (-math.inf, math.inf)),
        (TabulatedDrift([0, 1, 2, 3], [1, 1, 0, -1]), 0.0, (1.0, 3.0)),
        (TabulatedDrift([0, 1, 2, 4], [1, 1, 0, -1]), 9.0, (2.0, 2.0)),
    ],
    ids=repr,
)
def test_plateau_reach_at_its_corners(drift: Drift, tolerance: float, reach: tuple[float, float]) -> None:
    # 1e-8: a table leaves its plateau with zero slope, so that rounding of F hides a small way
    assert drift.plateau_reach(tolerance) == pytest.approx(reach, rel=1e-7)


@every_drift
def test_plateau_reach_refuses_a_negative_tolerance(drift: Drift) -> None:
    with pytest.raises(ModelError, match=r"tolerance = -1\.0: must lie in \[0, inf\)"):
        drift.plateau_reach(-1.0)


@pytest.mark.parametrize("form", [TanhDrift, LogisticDrift, ExponentialDrift, LinearDrift])
@pytest.mark.parametrize("wrong", [math.nan, math.inf, "1", True, None, 1j])
def test_every_number_of_every_form_is_checked(form: type[Any], wrong: Any) -> None:
    names = [field.name for field in fields(form)]
    for name in names:
        with pytest.raises(ModelError, match=rf"^{name} = .*: must be a finite number"):
            form(**{**dict.fromkeys(names, 1.0), name: wrong})


def test_widths_are_positive_and_instances_frozen() -> None:
    for form in (TanhDrift, LogisticDrift):
        with pytest.raises(ModelError, match=r"^width = 0: must lie in \(0, inf\)$"):
            form(1.0, 1.0, width=0)
    with pytest.raises(FrozenInstanceError):
        EXAMPLES[0].width = 2.0  # type: ignore[attr-defined]


@every_drift
def test_drifts_are_values(drift: Any) -> None:
    assert replace(drift) == drift and hash(replace(drift)) == hash(drift)
    assert pickle.loads(pickle.dumps(drift)) == drift
    assert type(getattr(drift, fields(drift)[0].name)) in (float, tuple)


def test_the_table_passes_through_its_points_and_is_held_beyond() -> None:
    np.testing.assert_array_equal(TABLE(TABLE.zeta), TABLE.values)
    np.testing.assert_array_equal(TABLE([-1e300, -4.001, 2.501, 1e300]), [0.83, 0.83, -1.0, -1.0])
    assert TABLE.assumed == (
        "drift is held at its end value 0.83 below zeta = -4",
        "drift is held at its end value -1 above zeta = 2.5",
    )
    assert TABLE.breaks == (2.5,)  # PCHIP ends flat on the left of this table
    assert TabulatedDrift([0, 1, 2, 3], [1, 1, -1, -1]).breaks == ()


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=12, unique=True), st.data())
def test_the_table_has_no_well_that_its_values_do_not_have(zeta: list[float], data: st.DataObject) -> None:
    zeta = sorted(zeta)
    values = data.draw(st.lists(st.floats(-9, 9), min_size=len(zeta), max_size=len(zeta)))
    if min(np.diff(zeta)) < 1e-6:
        return
    drift = TabulatedDrift(zeta, values)
    signs = [np.sign(value) for value in values if value]
    changes = sum(a != b for a, b in pairwise(signs))
    assert drift.sign_changes().size == changes
    inside = drift(np.linspace(zeta[0], zeta[-1], 501))
    assert min(values) - 1e-14 <= inside.min() and inside.max() <= max(values) + 1e-14


def test_a_dead_zone_counts_as_one_zero_in_its_middle() -> None:
    assert TabulatedDrift([0, 1, 2, 3, 4], [1, 0.5, 0, 0, -1]).sign_changes().tolist() == [2.5]


@pytest.mark.parametrize(
    ("zeta", "values", "message"),
    [
        ([0], [1], "zeta: 1 of them; a table needs at least 2 points"),
        ([], [], "zeta: 0 of them"),
        ([0, 1], [1, 2, 3], "values: 3 of them, but 2 zeta"),
        ([0, 1, 1], [1, 0, -1], "zeta[2] = 1.0: must be larger than zeta[1] = 1.0"),
        ([1, 0], [1, 0], "zeta[1] = 0.0: must be larger than zeta[0] = 1.0"),
        ([0, math.inf], [1, 0], "zeta[1] = inf: must be a finite number"),
        ([0, 1], [1, math.nan], "values[1] = nan: must be a finite number"),
        ([0, 1], "10", "values = '10': must be a list of numbers, got str"),
        ([[0, 1]], [[1, 0]], "zeta[0] = [0, 1]: must be a finite number, got list"),
        ([0, 5e-324], [1e300, 0], "values: a slope between two entries exceeds the range of a double"),
    ],
)
def test_a_wrong_table_is_refused_by_entry(zeta: Any, values: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        TabulatedDrift(zeta, values)
    assert str(caught.value).startswith(message)


def test_drift_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Drift()  # type: ignore[abstract]
    assert issubclass(CallableDrift, Drift)
