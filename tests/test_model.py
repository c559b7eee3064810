"""Model: its checks, its two plateaus, and that a model file reads back as the same model to the last bit."""

from __future__ import annotations

import json
import math
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solver.drifts import (
    CallableDrift,
    Drift,
    ExponentialDrift,
    LinearDrift,
    LogisticDrift,
    TabulatedDrift,
    TanhDrift,
)
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.model import Model

TANH = TanhDrift(plateau=1.0, center=0.0, width=1.0)
JUMPS = TemperedStableJumps(intensity=0.4, stability=1.5, tempering=2.2)

finite = st.floats(allow_nan=False, allow_infinity=False)
size = st.floats(min_value=1e-300, allow_infinity=False, exclude_min=True)
drifts = st.one_of(
    st.builds(TanhDrift, finite, finite, size),
    st.builds(LogisticDrift, finite, finite, finite, size),
    st.builds(ExponentialDrift, finite, finite),
    st.builds(LinearDrift, finite, finite),
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9, unique_by=lambda z: round(z, 6)).flatmap(
        lambda zeta: st.builds(
            TabulatedDrift,
            st.just(sorted(zeta)),
            st.lists(st.floats(-1e3, 1e3), min_size=len(zeta), max_size=len(zeta)),
        )
    ),
)
jump_laws = st.builds(
    TemperedStableJumps,
    size,
    st.floats(0.05, 1.95).filter(lambda alpha: alpha != 1.0),  # "laplacian" has no meaning at α = 1
    st.floats(0.0, 1e6),
    st.sampled_from(["levy", "stable", "laplacian"]),
)
models = st.builds(Model, drifts, size, st.none() | jump_laws)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(models)
def test_a_model_file_reads_back_equal(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.toml"
    model.to_toml(path)
    again = Model.from_toml(path)
    assert again == model
    assert repr(again) == repr(model)  # equality alone would not tell 0.0 from -0.0
    assert Model.from_dict(json.loads(json.dumps(model.to_dict()))) == model


@pytest.mark.parametrize(
    "drift",
    [TANH, LogisticDrift(1, 2), ExponentialDrift(1, 1), LinearDrift(1), TabulatedDrift([0, 1], [1, -1])],
)
def test_the_file_uses_the_same_words(tmp_path: Path, drift: Drift) -> None:
    Model(drift, 0.3, JUMPS).to_toml(tmp_path / "m.toml")
    tables = tomllib.loads((tmp_path / "m.toml").read_text(encoding="utf-8"))
    assert tables["diffusion"] == 0.3
    assert tables["drift"]["kind"] == drift.kind
    assert tables["jumps"] == {"intensity": 0.4, "stability": 1.5, "tempering": 2.2, "convention": "levy"}


def test_without_jumps_the_file_has_no_such_table(tmp_path: Path) -> None:
    Model(TANH, 0.3).to_toml(tmp_path / "m.toml")
    assert "jumps" not in (tmp_path / "m.toml").read_text(encoding="utf-8")
    assert Model.from_toml(str(tmp_path / "m.toml")).jumps is None
    assert Model.from_dict({**Model(TANH, 0.3).to_dict(), "jumps": None}).jumps is None  # null in JSON


@pytest.mark.parametrize(
    ("drift", "plateaus"),
    [
        (LogisticDrift(1.0, 3.0), (1.0, 3.0)),
        (TanhDrift(-1.0), (-1.0, -1.0)),
        (ExponentialDrift(1.0, 2.0), (1.0, math.inf)),
        (LinearDrift(-1.0), (-math.inf, -math.inf)),
        (LogisticDrift(-0.2, 1.0), (-0.2, 1.0)),
    ],
)
def test_plateaus_are_positive_where_the_drift_confines(drift: Drift, plateaus: tuple[float, float]) -> None:
    model = Model(drift, 0.3)
    assert (model.left_plateau, model.right_plateau) == plateaus


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"drift": np.tanh},
            "drift = <ufunc 'tanh'>: must be a drift such as TanhDrift, got ufunc; a function",
        ),
        ({"drift": "tanh"}, "drift = 'tanh': must be a drift"),
        ({"drift": TanhDrift}, "drift = <class 'solver.drift_forms.TanhDrift'>: must be a drift"),
        ({"diffusion": -0.1}, "diffusion = -0.1: must lie in [0, inf)"),
        ({"diffusion": math.nan}, "diffusion = nan: must be a finite number in [0, inf)"),
        ({"diffusion": True}, "diffusion = True: must be a finite number, got bool"),
        ({"jumps": 0.4}, "jumps = 0.4: must be a jump law such as TemperedStableJumps or None, got float"),
        ({"diffusion": 0, "jumps": None}, "diffusion = 0: must be positive where there are no jumps"),
    ],
)
def test_wrong_parts_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        Model(**{"drift": TANH, "diffusion": 0.3, "jumps": JUMPS, **arguments})
    assert str(caught.value).startswith(message)


def test_models_are_values() -> None:
    assert Model(TANH, np.float64(0.3), JUMPS) == Model(TANH, 0.3, JUMPS)
    assert hash(Model(TANH, 0.3, JUMPS)) == hash(Model(TANH, 0.3, JUMPS))
    assert Model(TANH, 0.3, JUMPS) != Model(TANH, 0.3)
    assert type(Model(TANH, np.float32(0.5)).diffusion) is float  # type: ignore[arg-type]
    assert Model(TANH, 0, JUMPS).diffusion == 0.0


def test_a_callable_drift_is_refused_with_the_way_out(tmp_path: Path) -> None:
    model = Model(CallableDrift(np.negative), 0.3)
    for attempt in (model.to_dict, lambda: model.to_toml(tmp_path / "m.toml")):
        with pytest.raises(ModelError, match="a CallableDrift holds a Python function, which a file cannot"):
            attempt()
    with pytest.raises(ModelError, match="TabulatedDrift"):
        model.to_dict()
    assert list(tmp_path.iterdir()) == []


def test_writing_replaces_whole_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.toml"
    path.write_text("old", encoding="utf-8")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ModelError, match=r"m\.toml: cannot be written: .*No space left"):
            Model(TANH, 0.3).to_toml(path)
    assert path.read_text(encoding="utf-8") == "old"
    Model(TANH, 0.3).to_toml(path)
    assert Model.from_toml(path) == Model(TANH, 0.3)
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.toml"]
    # readable by others where the umask says so, unlike the files of tempfile
    umask = os.umask(0o022)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_writing_goes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to(tmp_path / "target.toml")
    Model(TANH, 0.3).to_toml(tmp_path / "link.toml")
    assert (tmp_path / "link.toml").is_symlink() and (tmp_path / "target.toml").is_file()


@pytest.mark.parametrize("name", ["nowhere/m.toml", ".", "m\0.toml"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        Model(TANH, 0.3).to_toml(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
