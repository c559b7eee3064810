"""Every row of docs/errors.md happens as it says: the error, its kind and its words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from solver import (
    CallableDrift,
    ExponentialDrift,
    Grid,
    LogisticDrift,
    Model,
    ModelError,
    NoStationaryDensityError,
    NotConvergedError,
    SamplesError,
    TanhDrift,
    TemperedStableJumps,
    build_generator,
    closed_form,
    load,
    load_preset,
    phase_diagram,
    read_samples,
    solve_stationary,
)

ROWS = (Path(__file__).parent.parent / "docs" / "errors.md").read_text("utf-8")
JUMPS = TemperedStableJumps(0.4, 1.5, 2.2)
BASELINE = Model(TanhDrift(1.0), 0.3, JUMPS)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def out_of_range() -> None:
    TemperedStableJumps(1.0, 2.5, 1.0)


def misspelt() -> None:
    Model.from_toml(write("m.toml", "diffusion = 0.3\n[drift]\nkind = 'tanh'\nplateu = 1.0\n"))


def not_toml() -> None:
    Model.from_toml(write("m.toml", "diffusion = = 0.3\n"))


def nothing_moves() -> None:
    Model(TanhDrift(1.0), 0.0, None)


def callable_saved() -> None:
    Model(CallableDrift(np.negative), 0.3).to_toml("m.toml")


def open_matrix() -> None:
    build_generator(BASELINE, Grid(-20.0, 20.0, 801, "open"))


def outward() -> None:
    solve_stationary(Model(LogisticDrift(left=-0.2, right=1.0), 0.3, JUMPS))


def heavy_stable() -> None:
    solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 0.9, 0.0)))


def few_nodes() -> None:
    solve_stationary(BASELINE, rtol=1e-11, max_nodes=800)


def slow_powers() -> None:
    solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.2, 0.0)), rtol=1e-6, max_nodes=5000)


def outgrown() -> None:
    stable = Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 0.0))
    solve_stationary(stable, grid=Grid(-20.0, 5.0, 801, ("open", "open")))


def atom() -> None:
    step = CallableDrift(lambda z: -np.sign(z), scale=1.0, breaks=(0.0,))
    solve_stationary(Model(step, 0.0, TemperedStableJumps(0.4, 0.5, 2.2)))


def coarse() -> None:
    solve_stationary(Model(TanhDrift(1.0), 0.01, None), grid=Grid(-20.0, 20.0, 101, "open"))


def rounding() -> None:
    solve_stationary(Model(TanhDrift(0.005, 0.0, 5.0), 0.0065, TemperedStableJumps(1.2e5, 1.4, 1.0)))


def far_apart() -> None:
    solve_stationary(Model(TanhDrift(1.0, 0.0, 1e7), 1e-3, JUMPS))


def needle() -> None:
    solve_stationary(Model(TanhDrift(60.0, 0.0, 38.0), 0.0, TemperedStableJumps(0.015, 0.21, 14.0)))


def too_extreme() -> None:
    solve_stationary(Model(TanhDrift(1e300), 1e-300))


def unseen_tempering() -> None:
    solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 1e-18)))


def no_grid() -> None:
    solve_stationary(BASELINE, method="eigs")


def subtracting() -> None:
    solve_stationary(Model(TanhDrift(1.0), 0.01, None), method="dense", grid=Grid(-5.0, 5.0, 51, "stop"))


def unreadable() -> None:
    read_samples(write("tau.txt", "1.0\nmany\n"), "tau")


def unusable() -> None:
    samples = read_samples(write("tau.txt", "1.0\nnan\n-3.0\n2.0\n"), "tau")
    raise SamplesError(str(samples.dropped))  # not an error for the program: the counts are what it says


def heavy_observable() -> None:
    solve_stationary(BASELINE).correlation_time(lambda zeta: np.exp(-zeta))


def infinite_mean() -> None:
    broad, pinned = load_preset("broad"), Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.2, 0.5, 0.9))
    assert closed_form(pinned).phase == "collapsed"
    means = [solve_stationary(model).timescales().mean() for model in (broad, pinned, load_preset("collapsed"))]
    assert means[:2] == [np.inf, np.inf] and 0 < means[2] < np.inf, means
    raise ModelError("inf")  # not an error for the program: the number is what it says


def complaint(*words: str) -> None:
    """What `zetafp solve` says about bad input, as the exception that it was."""
    from validation.verbs import app

    result = CliRunner().invoke(app, ["solve", *words])
    assert result.exit_code == 2, result.output
    raise ModelError(" ".join(result.stderr.split()))


def no_model_file() -> None:
    Path("result").mkdir()
    complaint("result")


def out_is_a_file() -> None:
    complaint("broad", "--out", str(write("taken", "")))


def out_is_closed() -> None:
    complaint("broad", "--out", "/proc/here" if Path("/proc").is_dir() else "/dev/null/here")


def out_holds_mine() -> None:
    load_preset("broad").to_toml("model.toml")
    complaint("model.toml", "--out", ".")


def edited_density() -> None:
    solve_stationary(Model(TanhDrift(1.0), 0.5), rtol=1e-5).save("density.npz")
    with np.load("density.npz") as stored:
        parts = dict(stored)
    parts["log_density"] = parts["log_density"] + 1.0
    np.savez("density.npz", **parts)
    load("density.npz")


def too_many_points() -> None:
    pytest.importorskip("xarray")
    phase_diagram(BASELINE, ("intensity", np.linspace(0.1, 1, 10_000)), ("plateau", np.linspace(0.1, 1, 10_000)))


CASES: list[tuple[str, type[Exception], Callable[[], None], str]] = [
    ("a parameter is out of range", ModelError, out_of_range, r"stability = 2\.5: must lie in \(0, 2\)"),
    ("a key or a word is misspelt", ModelError, misspelt, r"m\.toml: .*plateu.*plateau"),
    ("a model file is missing or is not TOML", ModelError, not_toml, r"m\.toml.*line 1"),
    ("neither noise nor jumps", ModelError, nothing_moves, r"diffusion = 0\.0: must be positive where there are no"),
    ("a callable drift is to be saved", ModelError, callable_saved, "a CallableDrift holds a Python function"),
    ("an `open` edge where a matrix is wanted", ModelError, open_matrix, "left edge|edges"),
    ("the drift does not hold the population", NoStationaryDensityError, outward, r"on the left, F = -0\.2"),
    ("untempered jumps too heavy for a saturating drift", NoStationaryDensityError, heavy_stable, r"0\.9 ≤ 1"),
    ("the node limit comes before the accuracy", NotConvergedError, few_nodes, r"rtol = 1e-11.*max_nodes = 800"),
    ("an untempered tail that is reached too slowly", NotConvergedError, slow_powers, "powers|max_nodes"),
    ("an `open` edge where the drift outgrows every power, λ = 0", ModelError, outgrown, "right"),
    ("a step of the drift through zero that pure jumps", NoStationaryDensityError, atom, "from 1 to -1 at ζ = 0"),
    ("a given grid is too coarse", NotConvergedError, coarse, r"h = 0\.4 .*negative or not finite"),
    ("rounding comes before the accuracy", NotConvergedError, rounding, "rounding limits this model"),
    ("drift and noise have lengths too far apart", NotConvergedError, far_apart, "too far apart"),
    ("pure jumps too small to spread the density", NotConvergedError, needle, "too sharp for .* nodes"),
    ("parameters too extreme for doubles", ModelError, too_extreme, "1e-?[+]?300: .*range of doubles"),
    ("a tempering that doubles cannot tell from none", NotConvergedError, unseen_tempering, "tempering = 1e-18"),
    ("a reference method without a grid", ModelError, no_grid, "method = 'eigs'.*grid=Grid"),
    ("`dense` on a grid where it would subtract", ModelError, subtracting, "node"),
    ("a model file is a directory, not UTF-8 text, or enormous", ModelError, no_model_file, "result: a directory, not"),
    (
        "a file of samples is missing or cannot be read",
        SamplesError,
        unreadable,
        r"tau\.txt, line 2: 'many' is not a number",
    ),
    ("some samples cannot be used", SamplesError, unusable, "2"),
    ("an observable without a correlation time", ModelError, heavy_observable, "infinite|variance"),
    ("the mean time scale is infinite", ModelError, infinite_mean, "inf"),
    ("`--out` names a file", ModelError, out_is_a_file, "taken is a file"),
    ("`--out` cannot be written", ModelError, out_is_closed, "here: (cannot be written: |/dev/null is a file)"),
    ("a saved density (`.npz`) was edited or cut short", ModelError, edited_density, "changed since it was written"),
    ("more points than can be held", ModelError, too_many_points, "100000000 points; at most 10000000"),
    ("a file that zetafp did not write, or that was edited since", ModelError, out_holds_mine, r"model\.toml: was not"),
]


@pytest.mark.parametrize(("row", "kind", "happen", "words"), CASES, ids=[case[0] for case in CASES])
def test_a_row_happens(
    row: str,
    kind: type[Exception],
    happen: Callable[[], None],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=f"(?s){words}"):
        happen()


def test_every_row_has_a_case() -> None:
    table = ROWS[ROWS.index("| what went wrong") :].split("\n\n")[0].splitlines()[2:]
    rows = [line.split("|")[1].strip() for line in table]
    assert [next((case[0] for case in CASES if row.startswith(case[0])), None) for row in rows].count(None) == 0, rows
    assert len(rows) == len(CASES)
