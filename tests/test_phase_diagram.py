"""Maps over two parameters: the same answers as the closed form, boundaries to 1e-12 against mpmath."""

from __future__ import annotations

import builtins
import importlib
import re
import time
from itertools import combinations
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from solver.closed_form import closed_form
from solver.drifts import LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError
from solver.exponent import intensity_for_exponent, phase, spectral_exponent, threshold_intensity
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.phase_diagram import NAMES, PHASES, phase_diagram
from solver.phase_lines import phase_lines

MODEL = Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.2, 0.5, 1.0))
RANGES = {
    "plateau": np.linspace(-0.5, 3.0, 15),
    "diffusion": np.linspace(0.0, 2.0, 11),
    "intensity": np.linspace(0.01, 2.0, 14),
    "stability": np.linspace(0.05, 1.95, 13),
    "tempering": np.linspace(0.0, 6.0, 12),
}


PAIRS = [*combinations(NAMES, 2), ("tempering", "plateau"), ("stability", "intensity")]


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_every_map_agrees_with_the_functions(x: str, y: str) -> None:
    diagram = phase_diagram(MODEL, x=(x, RANGES[x]), y=(y, RANGES[y]))
    assert diagram["exponent"].dims == (y, x)
    values: dict[str, Any] = {"plateau": 1.0, "diffusion": 0.1, "intensity": 0.2, "stability": 0.5, "tempering": 1.0}
    values |= {x: RANGES[x][None, :], y: RANGES[y][:, None]}
    words = phase(**values)
    np.testing.assert_array_equal(diagram["phase"], words)
    none = words == "none"
    np.testing.assert_array_equal(diagram["exponent"], np.where(none, np.nan, spectral_exponent(**values)))
    assert not diagram["finite_mean"].values[none].any()
    del values["intensity"]
    np.testing.assert_array_equal(diagram["threshold"], np.where(none, np.nan, threshold_intensity(**values)))


def test_a_right_side_that_does_not_hold_leaves_no_stationary_density() -> None:
    loose = Model(LogisticDrift(left=1.0, right=-0.5), 0.1, MODEL.jumps)
    diagram = phase_diagram(loose, x=("intensity", [0.2, 1.0]), y=("diffusion", [0.1, 0.5]))
    assert (diagram["phase"] == "none").all() and np.isnan(diagram["exponent"]).all()
    assert not diagram["finite_mean"].any()
    assert closed_form(loose).phase == "none"


def test_the_mean_at_the_edge_of_existence() -> None:
    """λ = 1 without a root: ρ ~ e^ζ |ζ|^{-1-α}, whose mean of τ exists; at the threshold it does not, nor above."""
    star = float(threshold_intensity(1.0, 0.1, 0.5, 1.0))
    diagram = phase_diagram(MODEL, x=("intensity", [0.5 * star, star, 1.5 * star]), y=("plateau", [1.0, 1.5]))
    assert diagram["finite_mean"].sel(plateau=1.0).values.tolist() == [True, False, False]
    assert diagram["phase"].sel(plateau=1.0).values.tolist() == ["collapsed", "collapsed", "broad"]


def test_names_units_and_convention_are_in_the_data() -> None:
    diagram = phase_diagram(MODEL, x=("intensity", [0.2, 1.0]), y=("tempering", [0.5, 1.0, 2.0]))
    assert diagram["intensity"].attrs == {"units": "ζ^α / time", "convention": "levy"}
    assert diagram["tempering"].attrs["units"] == "1 / ζ"
    assert diagram["threshold"].attrs["convention"] == "levy"
    assert set(diagram.data_vars) == {"exponent", "phase", "threshold", "finite_mean"}


def exact_threshold(kappa: Any, eta_g: Any, alpha: Any, lam: Any) -> Any:
    """η_J* in mpmath, levy convention."""
    if alpha == 1:
        psi = 2 * lam * mp.log(2)
    else:
        psi = mp.gamma(-alpha) * lam**alpha * (mp.mpf(2) ** alpha - 2)
    return lam * (kappa - eta_g * lam) / psi


def exact_critical(kappa: Any, eta_g: Any, alpha: Any, lam: Any) -> Any:
    """The η_J with β = 1 in mpmath."""
    if alpha == 1:
        psi = (lam + 1) * mp.log(lam + 1) + (lam - 1) * mp.log(lam - 1) - 2 * lam * mp.log(lam)
    else:
        psi = mp.gamma(-alpha) * ((lam + 1) ** alpha + (lam - 1) ** alpha - 2 * lam**alpha)
    return (kappa - eta_g) / psi


# also next to α = 1, where the textbook form of ψ loses all digits
ALPHAS = (0.05, 0.5, 1 - 1e-3, 1 - 1e-9, 1 - 1e-15, 1.0, 1 + 1e-15, 1 + 1e-9, 1 + 1e-3, 1.5, 1.95)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_boundaries_are_the_threshold_and_the_critical_line(alpha: float) -> None:
    """The place where the phase flips, narrowed down on ever finer maps, against mpmath: 1e-12 relative.

    An intensity within 1e-12 of the threshold counts as at it, an exponent within 1e-12 of 1 as critical: what is
    found is the outer edge, so that this is the whole of the difference. Measured: 1.0e-12 for both.
    """
    model = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, alpha, 2.2))
    with mp.workdps(60):
        args = (mp.mpf(1), mp.mpf(0.3), mp.mpf(alpha), mp.mpf(2.2))
        exact = {"collapsed": float(exact_threshold(*args)), "broad": float(exact_critical(*args))}

    for name, below in (("collapsed", ("collapsed",)), ("broad", ("collapsed", "concentrated", "critical"))):
        low, high = 0.5 * exact[name], 2 * exact[name]
        while high - low > 2e-14 * exact[name]:
            tried = np.linspace(low, high, 300)
            words = phase_diagram(model, ("intensity", tried), ("plateau", [1.0]))["phase"].values[0]
            flip = int(np.argmin(np.isin(words, below)))
            assert flip > 0, "the flip is inside the bracket"
            low, high = tried[flip - 1], tried[flip]
        # β falls with η_J at a rate of order one: 1e-12 of β is some 1e-12 of η_J times ∂ln η_J/∂ln β
        slope = 1.0
        if name == "broad":
            step = 1e-6
            near = intensity_for_exponent([1 - step, 1 + step], 1.0, 0.3, alpha, 2.2)
            slope = float(np.log(near[0] / near[1]) / (2 * step))
        assert abs(high / exact[name] - 1) <= 1.1e-12 * slope


@pytest.mark.parametrize("alpha", ALPHAS)
def test_lines_lie_on_the_exact_boundaries(alpha: float) -> None:
    """Measured: 2e-14."""
    model = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, alpha, 2.2))
    lines = phase_lines(model, ("intensity", [1e-3, 10.0]), ("plateau", [0.5, 1.0, 2.0]))
    for name, exact in (("threshold", exact_threshold), ("critical", exact_critical)):
        along = dict(zip(lines[name][1].tolist(), lines[name][0].tolist(), strict=True))
        for kappa in (1.0, 2.0):
            with mp.workdps(60):
                wanted = float(exact(mp.mpf(kappa), mp.mpf(0.3), mp.mpf(alpha), mp.mpf(2.2)))
            assert along[kappa] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_lines_of_every_map_lie_where_phases_meet(x: str, y: str) -> None:
    """Just off each line, across it, the phase differs, whichever parameter was solved for."""
    ranges = {name: values[values > 0] for name, values in RANGES.items()}
    lines = phase_lines(MODEL, (x, ranges[x]), (y, ranges[y]))
    solved = next((name for name in ("intensity", "plateau", "diffusion") if name in (x, y)), "tempering")
    other, flipped = (y if solved == x else x), 0
    for name, pair in lines.items():
        points = dict(zip((x, y), pair, strict=True))
        good = np.flatnonzero(np.isfinite(pair[0] + pair[1]))
        if name == "critical" and solved == "tempering":
            good = good[points[solved][good] > 1 + 1e-6]  # β = 1 = λ: the threshold
        values: dict[str, Any] = {
            "plateau": 1.0,
            "diffusion": 0.1,
            "intensity": 0.2,
            "stability": 0.5,
            "tempering": 1.0,
        }
        around = points[solved][good] * np.array([[1 - 1e-9], [1 + 1e-9]])
        words = phase(**(values | {solved: around, other: points[other][good]}))
        assert np.all(words[0] != words[1])
        flipped += good.size
    assert flipped >= 30


def test_the_fold_of_the_threshold_keeps_both_branches() -> None:
    x, y = phase_lines(MODEL, ("stability", np.linspace(0.02, 1.98, 100)), ("tempering", np.linspace(0.05, 12, 100)))[
        "threshold"
    ]
    at_half = y[np.flatnonzero(np.isfinite(y) & (np.abs(x - 0.5) < 0.005))]
    assert at_half.min() < 0.25 and at_half.max() > 8.0
    inner = np.isfinite(y)
    assert np.all(np.isfinite(y[np.flatnonzero(inner)[0] : np.flatnonzero(inner)[-1] + 1])), "one piece, fold included"


REFUSED = [
    (dict(x=("center", [1.0])), "x axis = 'center': must be one of"),
    (dict(x=("intensty", [1.0])), "did you mean 'intensity'"),
    (dict(y=("intensity", [1.0, 2.0])), "both 'intensity'"),
    (dict(x=("intensity", [])), "empty"),
    (dict(x=("intensity", [2.0, 1.0])), r"intensity\[1\] = 1.0: must be larger"),
    (dict(x=("intensity", [1.0, np.inf])), r"intensity\[1\] = inf"),
    (dict(x=("intensity", [-1.0, 1.0])), "intensity = -1.0: must lie in"),
    (dict(x=("stability", [1.0, 2.0])), "stability = 2.0: must lie in"),
    (dict(x="intensity"), "x = 'intensity': must be"),
]


@pytest.mark.parametrize(("axes", "words"), REFUSED, ids=range(len(REFUSED)))
def test_bad_axes_are_refused(axes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        phase_diagram(MODEL, **axes)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Model(TanhDrift(1.0), 0.3), "intensity: this model has no jumps"),
        (Model(LinearDrift(1.0), 0.3, MODEL.jumps), "grows without bound to the left"),
    ],
)
def test_models_without_phases_are_refused(model: Model, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        phase_diagram(model, x=("intensity", [0.1, 1.0]), y=("stability", [0.5, 1.0]))


def test_without_xarray_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def blocked(name: str, *rest: Any, **named: Any) -> Any:
        if name.split(".")[0] == "xarray":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest, **named)

    monkeypatch.setattr(importlib, "import_module", blocked)
    with pytest.raises(ModelError, match=re.escape("pip install 'zetafp[sweep]'")):
        phase_diagram(MODEL)


def test_phases_in_words() -> None:
    found = {
        word
        for x in ("intensity", "plateau")
        for word in np.unique(phase_diagram(MODEL, (x, RANGES[x]), ("stability", RANGES["stability"]))["phase"].values)
    }
    assert found <= set(PHASES) and {"collapsed", "broad", "none"} <= found


def test_a_large_map_takes_seconds() -> None:
    """A quarter of a million points; measured 0.35 s of one processor, alone. The bound only catches a loop."""
    started = time.process_time()
    diagram = phase_diagram(MODEL, ("intensity", np.linspace(0.01, 2, 500)), ("plateau", np.linspace(0.1, 3, 500)))
    assert time.process_time() - started < 3.0
    assert diagram["exponent"].size == 250_000
