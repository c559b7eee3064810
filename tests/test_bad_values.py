"""Values that are no numbers, do not fit together or leave the range of doubles: one sentence, from every entry."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from solver import (
    Grid,
    ModelError,
    SamplesError,
    TabulatedDrift,
    bounded_envelope,
    build_generator,
    compare_tail,
    cross_check,
    design,
    finite_network,
    fit_window,
    horizon,
    intensity_for_exponent,
    phase,
    phase_diagram,
    sample_complexity,
    sensitivities,
    spectral_exponent,
    sweep,
    tail_law,
    tail_theory,
    threshold_intensity,
)
from solver.samples import Samples
from validation import compare, simulate
from validation.measured import Measured
from validation.networks.calibrate import calibrate
from validation.networks.reading import Run

AXIS = np.linspace(0.1, 1.0, 4000)
LAGS = np.geomspace(10.0, 1000.0, 61)
NO_NUMBERS = "must be numbers, in an array or in lists of one length"
CASES: dict[str, tuple[type[Exception], str, Callable[[Any], object]]] = {
    "exponent, word": (ModelError, f"plateau = 'a': {NO_NUMBERS}", lambda d: spectral_exponent("a", 1, 1, 1, 1)),
    "exponent, shapes": (
        ModelError,
        "shapes that do not broadcast: plateau (2,), diffusion (3,)",
        lambda d: spectral_exponent([1, 2], [1, 2, 3], 0.4, 1.5, 2.2),
    ),
    "threshold, shapes": (
        ModelError,
        "plateau (2,), tempering",
        lambda d: threshold_intensity([1, 2], 1, 1.5, [1] * 3),
    ),
    "inverse, shapes": (
        ModelError,
        "exponent (2,), plateau (3,)",
        lambda d: intensity_for_exponent([1, 2], [1, 2, 3], 0.4, 1.5, 2.2),
    ),
    "phase, shapes": (ModelError, "intensity (2,), tempering (3,)", lambda d: phase(1, 1, [1, 2], 1.5, [1] * 3)),
    "exponent, doubles": (
        ModelError,
        "plateau = 1e+300: with the other parameters it leaves the range of doubles",
        lambda d: spectral_exponent(1e300, 1e-299, 0.0, 1.5, 2.2),
    ),
    "compare, word": (SamplesError, f"samples = ['a']: {NO_NUMBERS}", lambda d: compare(["a"], d)),
    "compare, complex": (SamplesError, f"samples = [1j]: {NO_NUMBERS}", lambda d: compare([1j], d)),
    "compare, rows": (SamplesError, f"samples = [[1, 2], [3]]: {NO_NUMBERS}", lambda d: compare([[1, 2], [3]], d)),
    "weights": (SamplesError, "weights = ['a']", lambda d: Measured.from_values([1.0], weights=["a"])),  # type: ignore[list-item]
    "samples": (SamplesError, "samples = ['1']", lambda d: Samples.from_values(["1"])),
    "run": (SamplesError, "tau = [['a']]", lambda d: Run.from_tau([["a"]])),
    "calibrate": (ModelError, "zeta = [[1j]]", lambda d: calibrate([[1j]])),
    "start": (ModelError, "start = 'a'", lambda d: simulate(d.model, start="a", paths=3, time=1.0, dt=0.1)),
    "fit, scalar": (
        ModelError,
        "ln f of shape (): must be one value for each",
        lambda d: fit_window(lambda x: 1.0, LAGS),
    ),
    "fit, function": (ModelError, "log_envelope = 3: must be a function", lambda d: fit_window(3, LAGS)),  # type: ignore[arg-type]
    "fit, lags": (ModelError, "lags = 'a'", lambda d: fit_window(lambda x: -x, "a")),
    "envelope": (ModelError, "lags = ['a']", lambda d: d.envelope(["a"])),
    "envelope, both": (ModelError, "lags, log_lags: give one of them", lambda d: d.envelope([1.0], log_lags=[1.0])),
    "horizon": (ModelError, "samples = ['a']", lambda d: horizon(d, ["a"])),
    "truth": (ModelError, f"plateau = True: {NO_NUMBERS}", lambda d: spectral_exponent(True, 0.3, 0.4, 1.5, 2.2)),
    "truth among numbers": (SamplesError, "samples = [1.0, None, True]", lambda d: compare([1.0, None, True], d)),
    "beyond doubles": (ModelError, "tempering = int too", lambda d: phase(1, 0.3, 0.4, 1.5, 10**5000)),
    "no array of truths": (SamplesError, "samples = array([ True])", lambda d: compare(np.array([True]), d)),
    "exponent, tiny": (
        ModelError,
        "exponent = 1e-160: with the other parameters it leaves the range of doubles",
        lambda d: intensity_for_exponent(1e-160, 1.0, 0.3, 1.5, 2.2),
    ),
    "design, tiny": (ModelError, "exponent = 1e-300: with the other", lambda d: design(d.model, exponent=1e-300)),
    "design, model": (ModelError, "model = 'a': must be a Model such as", lambda d: design("a", exponent=1.0)),  # type: ignore[arg-type]
    "slopes, model": (ModelError, "model = None: must be a Model such as", lambda d: sensitivities(None)),  # type: ignore[arg-type]
    "walk, model": (ModelError, "model = 3: must be a Model", lambda d: simulate(3, paths=3, time=1.0, dt=0.1)),  # type: ignore[arg-type]
    "law, density": (ModelError, "density = None: must be a StationaryDensity", lambda d: tail_law(None)),  # type: ignore[arg-type]
    "law, model": (ModelError, "got Model", lambda d: tail_law(d.model)),
    "theory, density": (ModelError, "density = 'a': must be", lambda d: tail_theory("a")),  # type: ignore[arg-type]
    "check, density": (ModelError, "density = 'a': must be", lambda d: cross_check("a")),  # type: ignore[arg-type]
    "comparison, law": (ModelError, "law = 1.0: must be a TailLaw such as", lambda d: compare_tail(1.0, d)),  # type: ignore[arg-type]
    "horizon, density": (ModelError, "density = 'a': must be", lambda d: horizon("a", [1e3])),  # type: ignore[arg-type]
    "cost, density": (ModelError, "density = 'a': must be", lambda d: sample_complexity("a", [1e3])),  # type: ignore[arg-type]
    "network, density": (ModelError, "density = 'a': must be", lambda d: finite_network("a", 3, [0.0])),  # type: ignore[arg-type]
    "compare, density": (ModelError, "density = 'a': must be", lambda d: compare([1.0], "a")),  # type: ignore[arg-type]
    "compare, seed": (ModelError, "seed = nan: must be a whole number", lambda d: compare([1.0], d, seed=np.nan)),  # type: ignore[arg-type]
    "paths": (
        ModelError,
        "paths = 1000000000000: must lie in [1, 1e+09]",
        lambda d: simulate(d.model, paths=10**12, time=1.0, dt=0.1),
    ),
    "table, array without axes": (
        ModelError,
        "zeta = array(2.): must be a list of numbers",
        lambda d: TabulatedDrift(np.array(2.0), [1.0]),
    ),
    "order, list": (
        ModelError,
        "order = []: must be a whole number",
        lambda d: build_generator(d.model, Grid(-5.0, 5.0, 99, "stop"), []),  # type: ignore[arg-type]
    ),
    "map, size": (
        ModelError,
        "intensity (4000), plateau (4000): 16000000 points; at most 10000000 are possible",
        lambda d: phase_diagram(d.model, ("intensity", AXIS), ("plateau", AXIS)),
    ),
    "sweep, axes": (ModelError, "axes = 'a': must be a Mapping such as", lambda d: sweep(d.model, "a")),  # type: ignore[arg-type]
    "sweep, word": (ModelError, "quantities = '': must be a list", lambda d: sweep(d.model, {"plateau": [1.0]}, "")),
    "network": (ModelError, "log_lags = ['a']", lambda d: finite_network(d, 3, ["a"])),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_one_sentence(name: str, baseline_density: Any) -> None:
    kind, words, call = CASES[name]
    with pytest.raises(kind) as caught:
        call(baseline_density)
    assert words in str(caught.value) and type(caught.value) is kind and "\n" not in str(caught.value)


def test_a_cut_far_in_the_right_tail_warns_of_nothing(baseline_density: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # all time scales read as τ_max: ln f = -ℓ/τ_max; at ℓ = 1 that is -e^{700}
        assert bounded_envelope(baseline_density, -700.0, [0.0]) == pytest.approx(-np.exp(700.0), rel=1e-12)
        assert bounded_envelope(baseline_density, -1e5, [0.0]) == -np.inf


def test_extreme_numbers_that_fit_are_no_error() -> None:
    assert np.isnan(spectral_exponent(1e300, 1e-300, 0.4, 1.5, 2.2))
    assert spectral_exponent(1e200, 1e-100, 0.0, 1.5, 2.2) == pytest.approx(1e300, rel=1e-12)


def test_seeds_that_differ_in_the_last_of_64_bits_differ(baseline: Any) -> None:
    """They went through a double, which has 53."""
    one, other = (simulate(baseline, paths=3, time=1.0, dt=0.1, seed=2**60 + k) for k in (0, 1))
    assert (one != other).all()


@pytest.mark.parametrize("values", [None, [1.0, None], np.array(["1.5"], dtype=object)])
def test_what_is_no_number_is_none_in_an_array_either(values: object) -> None:
    with pytest.raises(ModelError, match="exponent = "):
        intensity_for_exponent(values, 1.0, 0.3, 1.5, 2.2)  # type: ignore[arg-type]


def test_an_unbounded_plateau_has_no_intensity() -> None:
    assert np.isnan(intensity_for_exponent([5.0, 0.5], np.inf, 0.3, 1.5, 2.2)).all()
