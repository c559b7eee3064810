"""Sweeps without processes: what is asked, what is kept, what a failed point and a bad study file say."""

from __future__ import annotations

import csv
import importlib
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from solver import axes, sweep_engine, sweep_point, sweep_result, sweep_store
from solver.closed_form import closed_form
from solver.drifts import CallableDrift, TanhDrift
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.stationary import solve_stationary
from solver.study import read_study, study
from solver.sweep import plan, sweep
from solver.sweep_point import QUANTITIES, Options, Record, Task, kept, solve_point, task

MODEL = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
AXES = {"intensity": [0.2, 0.6], "plateau": [-1.0, 0.5, 1.0]}


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Points are computed in this process; the list says which."""
    done: list[int] = []

    def local(tasks: list[Task], jobs: int) -> Iterator[tuple[int, Record]]:
        for given in tasks:
            done.append(given.index)
            yield solve_point(given)

    monkeypatch.setattr(sweep_engine, "local", local)
    return done


def test_every_number_is_that_of_the_solution(solved: list[int]) -> None:
    data = sweep(MODEL, AXES, quantiles=[0.2, 0.7], lags=[3.0, 1e5], rtol=1e-4)
    assert solved == list(range(6)) and dict(data.sizes) == {"intensity": 2, "plateau": 3, "quantile": 2, "lag": 2}
    assert data["status"].values.tolist() == [["no stationary density", "ok", "ok"]] * 2
    for intensity in AXES["intensity"]:
        model = axes.with_parameters(MODEL, {"intensity": intensity, "plateau": 0.5})
        density, point = solve_stationary(model, rtol=1e-4), data.sel(intensity=intensity, plateau=0.5)
        assert float(point["tail_exponent"]) == density.tail_exponent
        assert float(point["right_tail_exponent"]) == density.right_tail_exponent
        assert float(point["error_estimate"]) == density.error_estimate <= 1e-4
        assert float(point["mean_log_tau"]) == -density.mean() and float(point["std_log_tau"]) == density.std()
        assert point["log_tau"].values.tolist() == density.timescales().log_ppf([0.2, 0.7]).tolist()
        assert point["log_envelope"].values.tolist() == density.envelope([3.0, 1e5]).log_values.tolist()
        np.testing.assert_equal(float(point["exponent"]), closed_form(model).exponent)
        assert float(abs(point["tail_exponent"] - density.tail_exponent)) <= float(point["tail_exponent_error"])


def test_a_failed_point_is_recorded_and_the_rest_goes_on(solved: list[int]) -> None:
    data = sweep(MODEL, {"plateau": [-1.0, 1.0], "stability": [1.5, 2.5]}, ["tail_exponent"], rtol=1e-3)
    assert data["status"].values.tolist() == [["no stationary density", "bad model"], ["ok", "bad model"]]
    assert "stability = 2.5: must lie in (0, 2)" in str(data["message"].values[1, 1])
    assert "does not point inwards" in str(data["message"].values[0, 0])
    assert np.isfinite(data["tail_exponent"].values).tolist() == [[False, False], [True, False]]
    assert "log_tau" not in data and "quantile" not in data.dims


def test_what_did_not_converge_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sweep_point, "solve_stationary", lambda model, rtol: solve_stationary(model, rtol, max_nodes=700)
    )
    index, record = solve_point(task(3, MODEL.to_dict(), Options(rtol=1e-11)))
    assert (index, record["status"]) == (3, "not converged") and "max_nodes" in record["message"]
    assert record["error_estimate"] > 1e-11 and "tail_exponent" not in record


def test_something_unforeseen_is_reported_but_not_kept(
    solved: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(model: Model, rtol: float) -> Any:
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(sweep_point, "solve_stationary", broken)
        data = sweep(MODEL, {"plateau": [1.0]}, rtol=1e-3, store=tmp_path / "points")
    assert data["status"].values.tolist() == ["failed"] and data["message"].values.tolist() == ["MemoryError: no room"]
    again = sweep(MODEL, {"plateau": [1.0]}, rtol=1e-3, store=tmp_path / "points")
    assert again["status"].values.tolist() == ["ok"] and solved == [0, 0]


def test_a_worker_of_another_version_is_refused() -> None:
    _, record = solve_point(Task(0, MODEL.to_dict(), {}, "0.0.0"))
    assert record["status"] == "failed" and not kept(record) and "the sweep runs 0.0.0" in record["message"]


def test_only_what_is_missing_is_computed(solved: list[int], tmp_path: Path) -> None:
    store = tmp_path / "deep" / "points.sqlite"
    first = sweep(MODEL, {"plateau": [0.5, 1.0]}, rtol=1e-3, store=store)
    assert solved == [0, 1]
    solved.clear()
    wider = sweep(MODEL, {"plateau": [0.5, 0.75, 1.0]}, rtol=1e-3, store=store)
    assert solved == [1]
    assert wider.sel(plateau=[0.5, 1.0]).identical(first)
    solved.clear()
    for change in ({"rtol": 1e-2}, {"lags": [2.0]}, {"quantities": ["tail_exponent"]}):
        sweep(MODEL, {"plateau": [1.0]}, **({"rtol": 1e-3, "store": store} | change))  # type: ignore[arg-type]
    assert len(solved) == 3, "another question is another point"


def test_a_store_gives_back_every_bit_and_replaces_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    numbers = [*(rng.standard_normal(200) * 10.0 ** rng.integers(-300, 300, 200)), np.inf, -np.inf, -0.0, 5e-324]
    record = {"status": "ok", "message": "ζ\n", "quantiles": [float(x) for x in numbers], "tail_exponent": float("nan")}
    with sweep_store.opened(tmp_path / "s") as store:
        store.add("a", record)
        store.add("a", {"status": "other"})
    with sweep_store.opened(tmp_path / "s") as store:
        found = store.find(["a", "b", *map(str, range(1200))])
    assert list(found) == ["a"] and np.isnan(found["a"]["tail_exponent"]) and found["a"]["message"] == "ζ\n"
    assert np.array(found["a"]["quantiles"]).tobytes() == np.array(numbers).tobytes()


@pytest.mark.parametrize("text", ["{bad", "{}", "[]", '{"status": "ok"}', None, "", "0" * 64 + "{}"])
def test_a_row_that_was_changed_is_computed_again(solved: list[int], tmp_path: Path, text: str | None) -> None:
    """A damaged row was a traceback, one with another number an answer."""
    store = tmp_path / "s"
    first = sweep(MODEL, {"plateau": [0.5, 1.0]}, rtol=1e-3, store=store)
    with closing(sqlite3.connect(store)) as connection, connection:
        (good, other) = (row[0] for row in connection.execute("SELECT record FROM points ORDER BY key"))
        changed = re.sub(r'"tail_exponent": \d', '"tail_exponent": 9', good) if text is None else text
        assert changed != good
        connection.execute("UPDATE points SET record = ? WHERE record = ?", (changed, good))
    solved.clear()
    assert sweep(MODEL, {"plateau": [0.5, 1.0]}, rtol=1e-3, store=store).identical(first) and len(solved) == 1
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE points SET record = ?", (other,))  # whole, of another point
    solved.clear()
    assert sweep(MODEL, {"plateau": [0.5, 1.0]}, rtol=1e-3, store=store).identical(first) and len(solved) == 1


def test_a_sweep_of_too_many_points_is_refused_at_once() -> None:
    axis = np.linspace(0.5, 1.0, 2000)
    with pytest.raises(ModelError, match=r"plateau \(2000\), diffusion \(2000\): 4000000 points; at most 1000000"):
        sweep(MODEL, {"plateau": axis, "diffusion": axis})


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine, and long enough not to pass for an empty file" * 50)
    with (
        pytest.raises(ModelError, match="notes: not a store of finished points"),
        sweep_store.opened(tmp_path / "notes"),
    ):
        pass
    with pytest.raises(ModelError, match="cannot be made"), sweep_store.opened(tmp_path / "notes" / "deeper"):
        pass
    assert (tmp_path / "notes").read_text().startswith("mine")


def test_keys_depend_on_model_options_and_version_alone() -> None:
    def name(**change: Any) -> str:
        given = {"index": 0, "tables": MODEL.to_dict(), "options": {"rtol": 1e-6}, "version": "1"} | change
        return sweep_store.key(Task(**given))

    assert name(index=5) == name() == name(tables=json.loads(json.dumps(MODEL.to_dict())))
    other = axes.with_parameters(MODEL, {"plateau": float(np.nextafter(1.0, 2.0))}).to_dict()
    assert len({name(), name(tables=other), name(options={"rtol": 1e-5}), name(version="2")}) == 4


def test_files_hold_the_data(solved: list[int], tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    data = sweep(MODEL, AXES, rtol=1e-3)
    sweep_result.netcdf_writer(data)(tmp_path / "s.nc")
    with xarray.open_dataset(tmp_path / "s.nc", engine="h5netcdf") as back:
        assert back.load().identical(data)
    sweep_result.csv_writer(data)(tmp_path / "s.csv")
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0])[:2] == ["intensity", "plateau"] and len(rows) == 6
    for column, values in (
        ("tail_exponent", data["tail_exponent"]),
        ("log_envelope[lag=100]", data["log_envelope"].sel(lag=100.0)),
    ):
        np.testing.assert_array_equal([float(row[column]) for row in rows], values.values.ravel())
    assert [row["message"] for row in rows] == data["message"].values.ravel().tolist()


REFUSED = [
    (dict(axes={}), "axes: none"),
    (dict(axes={"plato": [1.0]}), "did you mean 'plateau'"),
    (dict(axes={"plateau": []}), r"plateau = \[\]: empty"),
    (
        dict(axes={"intensity": [-1.0]}),
        r"no point of the sweep is a model; the first: intensity = -1.0: must lie in \(0",
    ),
    (dict(quantities=["exponnt"]), "did you mean 'exponent'"),
    (dict(quantiles=[0.5, 1.0]), r"quantiles\[1\] = 1.0: must lie in \(0, 1\)"),
    (dict(lags=[0.0]), r"lags\[0\] = 0.0: must lie in \(0, inf\)"),
    (dict(lags=[1.0, 1.0]), r"lags\[1\] = 1.0: stands in the list twice"),
    (dict(rtol=0.0), "rtol = 0.0"),
    (dict(jobs=0), "jobs = 0"),
    (dict(jobs=-2), "jobs = -2"),
    (dict(scheduler="tcp://127.0.0.1:1"), "scheduler = 'tcp://127.0.0.1:1': no Dask scheduler answers there"),
    (dict(scheduler="nonsense://"), "no Dask scheduler answers there"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_a_sweep_is_refused(change: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_engine, "_ANSWER", 1)
    with pytest.raises(ModelError, match=words):
        sweep(MODEL, **({"axes": {"plateau": [1.0]}} | change))


def test_a_function_cannot_be_sent_to_a_worker() -> None:
    with pytest.raises(ModelError, match="CallableDrift holds a Python function"):
        plan(Model(CallableDrift(lambda z: -np.tanh(z)), 0.3), {"diffusion": [0.1]}, Options())


@pytest.mark.parametrize(
    ("module", "change"), [("xarray", {}), ("joblib", {}), ("distributed", {"scheduler": "tcp://x:1"})]
)
def test_without_the_extra_the_message_says_what_to_install(
    module: str, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def blocked(name: str, package: str | None = None) -> Any:
        if name.split(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", blocked)
    with pytest.raises(ModelError, match=re.escape(f"{module} is not installed") + ".*" + re.escape("zetafp[sweep]")):
        sweep(MODEL, {"plateau": [1.0]}, **change)


def test_a_broken_store_is_one_sentence(solved: list[int], tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "s").execute("CREATE TABLE points (other TEXT)").connection.close()
    with pytest.raises(ModelError, match="not a store of finished points"):
        sweep(MODEL, {"plateau": [1.0]}, store=tmp_path / "s")


GOOD = {"model": "broad", "axes": {"plateau": {"range": [0.5, 1.0], "points": 3}, "stability": [1.2, 1.5]}}
BAD_STUDIES = [
    (dict(axes={"plato": [1.0]}), "axes.plato: unknown axis; known are .*; did you mean 'plateau'?"),
    (dict(axes={"plateau": []}), r"axes.plateau = \[\]: empty"),
    (dict(axes={"plateau": {"range": [1.0, 1.0], "points": 3}}), r"axes.plateau: range = \[1, 1\]: empty"),
    (dict(axes={"plateau": {"range": [0.5, 1.0], "points": 0}}), "axes.plateau: points = 0"),
    (dict(axes={"plateau": {"range": [2.0, 1.0], "points": 3}}), r"axes.plateau: range = \[2, 1\]: reversed"),
    (dict(axes={"plateau": {"log_range": [0.0, 1.0], "points": 3}}), "axes.plateau: log_range = .*must begin above 0"),
    (dict(axes={"plateau": {"range": [float("nan"), 1.0], "points": 3}}), r"axes.plateau: range\[0\] = nan: must be a"),
    (dict(axes={"plateau": [0.5, float("nan")]}), r"axes.plateau\[1\] = nan: must be a finite number"),
    (dict(axes={"plateau": {"range": ["a", 1.0], "points": 3}}), r"axes.plateau: range\[0\] = 'a': must be a finite"),
    (dict(axes={"plateau": [0.5, "1.0"]}), r"axes.plateau\[1\] = '1.0': must be a finite number, got str"),
    (dict(axes={"plateau": "0.5:1:3"}), "axes.plateau = '0.5:1:3': must be a list of numbers, or"),
    (dict(axes={"plateau": {"range": [0.5, 1.0]}}), "axes.plateau.points: missing"),
    (dict(axes={"plateau": {"range": [0.5], "points": 3}}), "must be two numbers"),
    (dict(axes={"plateau": {"points": 3}}), "axes.plateau: needs either range or log_range"),
    (dict(axes={"plateau": {"rang": [1, 2], "points": 3}}), "axes.plateau.rang: unknown key.*did you mean 'range'"),
    (dict(axes={"plateau": {"range": [0.5, 1.0], "points": 2.5}}), "points = 2.5: must be a whole number"),
    (dict(axes={"stability": {"range": [0.5, 2.0], "points": 4}}), r"axes.stability = 2.0: must lie in \(0, 2\)"),
    (dict(axes={}), "axes: none"),
    (dict(axes=3), "axes = 3: must be a table"),
    (dict(model="brod"), "did you mean 'broad'?"),
    (dict(model="missing.toml"), "missing.toml: no such file"),
    (dict(model={"diffusion": 0.3}), "model.drift: missing"),
    (dict(model="pure-diffusion", axes={"intensity": [1.0]}), "axes.intensity: this model has no jumps"),
    (dict(rtol="small"), "rtol = 'small': must be a finite number, got str"),
    (dict(lags=1.0), "lags = 1.0: must be a list"),
    (dict(lags=[1.0, "x"]), r"lags\[1\] = 'x': must be a finite number"),
    (dict(quantities=["tail"]), "quantities = 'tail': must be one of"),
    (dict(axis={}), "axis: unknown key.*did you mean 'axes'?"),
    (dict(title=3), "title = 3: must be text"),
]


@pytest.mark.parametrize(("change", "words"), BAD_STUDIES, ids=range(len(BAD_STUDIES)))
def test_a_bad_study_gets_one_sentence(change: dict[str, Any], words: str) -> None:
    assert study(GOOD).axes["stability"].tolist() == [1.2, 1.5]
    with pytest.raises(ModelError) as caught:
        study(GOOD | change)
    assert re.search(words, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_study_file_is_named_in_complaints(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('model = "broad"\n[axes]\nplateau = { range = [nan, 1.0], points = 3 }\n')
    with pytest.raises(ModelError, match=r"s.toml: axes.plateau: range\[0\] = nan"):
        read_study(path)
    path.write_text("model = broad\n")
    with pytest.raises(ModelError, match=r"s\.toml: not valid TOML"):
        read_study(path)


def test_the_shipped_study_runs(solved: list[int]) -> None:
    """At a reduced size: the ends of each axis."""
    shipped = read_study(ROOT / "docs" / "study.toml")
    assert {name: values.size for name, values in shipped.axes.items()} == {
        "intensity": 20,
        "plateau": 15,
        "stability": 2,
    }
    assert set(shipped.options.quantities) < set(QUANTITIES)
    ends = {name: values[[0, -1]] for name, values in shipped.axes.items()}
    data = sweep(shipped.model, ends, shipped.options.quantities, lags=shipped.options.lags, rtol=1e-4)
    assert (data["status"] == "ok").all() and len(solved) == 8
    rooted = np.isfinite(data["exponent"])
    assert rooted.any() and abs(data["tail_exponent"] / data["exponent"] - 1).where(rooted).max() < 1e-4


def test_a_model_file_is_no_study(tmp_path: Path) -> None:
    from solver.presets import load_preset
    from solver.study import read_study

    load_preset("broad").to_toml(tmp_path / "mine.toml")
    with pytest.raises(ModelError, match=r"mine\.toml: is a model file; a study names one"):
        read_study(tmp_path / "mine.toml")


def test_a_scheduler_is_an_address() -> None:
    from solver.axes import linear_range
    from solver.presets import load_preset
    from solver.sweep import sweep

    with pytest.raises(ModelError, match="scheduler = 'foo': must be an address"):
        sweep(load_preset("broad"), {"plateau": linear_range(0.5, 1.0, 2)}, scheduler="foo")
