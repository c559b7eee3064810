"""The spectral exponent, threshold and phases over arrays, against mpmath and against each other."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath_reference import STABILITIES, root

from solver import exponent as module
from solver.errors import ModelError, NotConvergedError
from solver.exponent import (
    at_threshold,
    intensity_for_exponent,
    phase,
    spectral_exponent,
    threshold_intensity,
)
from solver.jump_exponents import unit_laplace_exponent

RECORDS = json.loads((Path(__file__).parent / "reference" / "stationary.json").read_text())
# β/λ from the smallest wanted to the approach of λ, where the slope of ψ is infinite for α < 1.
FRACTIONS = [1e-12, 1e-6, 1e-3, 0.1, 0.13, 0.5, 0.9, 0.999, 1 - 1e-9]


@pytest.mark.parametrize("record", RECORDS)
def test_reference_values(record: str) -> None:
    values = RECORDS[record]
    model = values["model"]
    plateau = model["drift"][1]
    arguments = (model["intensity"], model["stability"], model["tempering"])
    star = float(threshold_intensity(plateau, model["diffusion"], *arguments[1:]))
    beta = float(spectral_exponent(plateau, model["diffusion"], *arguments))
    assert abs(star / values["threshold"] - 1) < 1e-12
    if values["exponent"] is None:
        assert math.isnan(beta) and arguments[0] < star
    else:
        assert abs(beta / values["exponent"] - 1) < 1e-12


@pytest.mark.parametrize("stability", STABILITIES)
@pytest.mark.parametrize("diffusion", [0.0, 0.1])
def test_root_against_mpmath(stability: float, diffusion: float) -> None:
    lam = 1.7
    beta = np.array(FRACTIONS) * lam
    intensity = intensity_for_exponent(beta, 1.0, diffusion, stability, lam)
    found = spectral_exponent(1.0, diffusion, intensity, stability, lam)
    exact = [root(1.0, diffusion, j, stability, lam) for j in intensity]
    errors = [abs(float(f / e - 1)) for f, e in zip(found, exact, strict=True)]
    assert max(errors) < 3e-14  # measured 4e-15


def test_a_wrong_constant_is_seen() -> None:
    """Negative control: the intensity 1% wrong moves β by about as much, far outside the bound above."""
    exact = float(root(1.0, 0.1, 0.5, 1.3, 1.7))
    assert abs(float(spectral_exponent(1.0, 0.1, 0.505, 1.3, 1.7)) / exact - 1) > 1e-3


@settings(max_examples=200, deadline=None)
@given(
    kappa=st.floats(1e-3, 1e3),
    eta_g=st.floats(0, 10),
    alpha=st.floats(0.02, 1.98),
    lam=st.floats(1e-3, 1e3),
    fraction=st.floats(1e-6, 1),
    convention=st.sampled_from(["levy", "stable"]),
)
def test_the_inverse_inverts(
    kappa: float, eta_g: float, alpha: float, lam: float, fraction: float, convention: str
) -> None:
    beta = fraction * lam
    intensity = float(intensity_for_exponent(beta, kappa, eta_g, alpha, lam, convention))
    if math.isnan(intensity):
        assert eta_g * beta >= kappa
        return
    again = float(spectral_exponent(kappa, eta_g, intensity, alpha, lam, convention))
    # κ - η_G β may cancel; what is lost there is lost in the intensity, and β does not feel it.
    assert abs(again / beta - 1) < 1e-12


@settings(max_examples=100, deadline=None)
@given(
    alpha=st.floats(0.02, 1.98),
    lam=st.floats(0.01, 100),
    eta_g=st.floats(0, 2),
    scale=st.floats(0.01, 100),
)
def test_units_of_time_cancel(alpha: float, lam: float, eta_g: float, scale: float) -> None:
    """Φ is linear in (κ, η_G, η_J): a change of the unit of time leaves β alone."""
    one = float(spectral_exponent(1.0, eta_g, 0.7, alpha, lam))
    other = float(spectral_exponent(scale, scale * eta_g, scale * 0.7, alpha, lam))
    assert (math.isnan(one) and math.isnan(other)) or abs(other / one - 1) < 1e-12


def test_threshold_is_where_the_root_reaches_lambda() -> None:
    for alpha in STABILITIES:
        star = float(threshold_intensity(1.0, 0.2, alpha, 1.5))
        phi = 0.2 * 1.5**2 + star * float(unit_laplace_exponent(1.5, alpha, 1.5)) - 1.5
        assert abs(phi) < 1e-14
        assert float(spectral_exponent(1.0, 0.2, star, alpha, 1.5)) == 1.5
        assert str(phase(1.0, 0.2, star, alpha, 1.5)) == "collapsed"
        assert math.isnan(spectral_exponent(1.0, 0.2, star * (1 - 1e-11), alpha, 1.5))
        above = float(spectral_exponent(1.0, 0.2, star * (1 + 1e-11), alpha, 1.5))
        assert 1.5 * (1 - 1e-10) < above <= 1.5
    assert float(intensity_for_exponent(1.5, 1.0, 0.2, 1.3, 1.5)) == pytest.approx(
        float(threshold_intensity(1.0, 0.2, 1.3, 1.5)), rel=1e-14
    )


def test_strong_diffusion_always_has_a_root() -> None:
    """κ ≤ η_G λ: the threshold is not positive, and β < κ/η_G ≤ λ however weak the jumps."""
    assert float(threshold_intensity(1.0, 0.8, 1.5, 2.0)) < 0
    weak = np.array([1e-300, 1e-12, 1e-3])
    beta = spectral_exponent(1.0, 0.8, weak, 1.5, 2.0)
    assert np.all((beta > 0) & (beta <= 1.25)) and beta[0] == 1.25
    assert float(threshold_intensity(1.0, 0.5, 1.5, 2.0)) == 0.0
    assert 0 < float(spectral_exponent(1.0, 0.5, 0.1, 1.5, 2.0)) < 2.0


def test_without_jumps_the_exponent_is_that_of_diffusion() -> None:
    beta = spectral_exponent([1.0, 2.0, -1.0, np.inf], 0.5, 0.0, 1.5, [0.0, 0.3, 1.0, 1.0])
    np.testing.assert_array_equal(beta, [2.0, 4.0, np.nan, np.inf])
    words = phase([1.0, 0.5, 0.4, -1.0], 0.5, 0.0, 0.5, 0.0)
    assert words.tolist() == ["concentrated", "critical", "broad", "none"]


def test_answers_that_are_not_numbers() -> None:
    table = {
        # κ, α, λ: exponent, threshold, phase (η_G = 0.1, η_J = 0.4)
        (0.0, 1.5, 1.0): (math.nan, math.nan, "none"),
        (-1.0, 1.5, 1.0): (math.nan, math.nan, "none"),
        (-math.inf, 1.5, 1.0): (math.nan, math.nan, "none"),
        (math.inf, 1.5, 1.0): (math.inf, math.nan, "confined"),
        (math.inf, 0.5, 0.0): (math.inf, math.nan, "confined"),
        (1.0, 1.5, 0.0): (math.nan, math.inf, "collapsed"),
        (1.0, 0.5, 0.0): (math.nan, 0.0, "none"),
        (1.0, 1.0, 0.0): (math.nan, 1 / (2 * math.log(2)), "none"),
        (1.0, 0.5, 1.0): (math.nan, 0.9 / float(unit_laplace_exponent(1.0, 0.5, 1.0)), "collapsed"),
    }
    for (kappa, alpha, lam), (exponent, threshold, word) in table.items():
        np.testing.assert_equal(float(spectral_exponent(kappa, 0.1, 0.4, alpha, lam)), exponent)
        np.testing.assert_allclose(threshold_intensity(kappa, 0.1, alpha, lam), threshold, rtol=1e-14)
        assert str(phase(kappa, 0.1, 0.4, alpha, lam)) == word


def test_phases_meet_at_one() -> None:
    one = float(intensity_for_exponent(1.0, 1.0, 0.1, 1.5, 2.0))
    words = phase(1.0, 0.1, [0.5 * one, one, 1.5 * one, 0.01], 1.5, 2.0)
    assert words.tolist() == ["concentrated", "critical", "broad", "collapsed"]
    assert words.dtype.kind == "U"


def test_inverse_says_nan_where_there_is_no_intensity() -> None:
    beta = np.array([-0.1, 0.0, 0.5, 2.0, 2.1, np.nan, np.inf])
    found = intensity_for_exponent(beta, 1.0, 0.1, 1.5, 2.0)
    assert np.isfinite(found).tolist() == [False, False, True, True, False, False, False]
    assert np.isnan(intensity_for_exponent(0.5, [-1.0, np.inf], 0.1, 1.5, 2.0)).all()
    assert np.isnan(intensity_for_exponent(1.0, 0.1, 0.1, 1.5, 2.0))  # β = κ/η_G needs intensity 0


def test_broadcasting_over_everything() -> None:
    kappa, intensity = np.array([0.5, 1.0])[:, None, None], np.geomspace(0.1, 10, 5)[:, None]
    alpha, lam = np.array([0.4, 1.0, 1.6]), 1.3
    for convention in ("levy", "stable"):
        table = spectral_exponent(kappa, 0.1, intensity, alpha, lam, convention)
        words = phase(kappa, 0.1, intensity, alpha, lam, convention)
        assert table.shape == words.shape == (2, 5, 3)
        for index in np.ndindex(table.shape):
            i, j, k = index
            arguments = (kappa[i, 0, 0], 0.1, intensity[j, 0], alpha[k], lam, convention)
            np.testing.assert_allclose(table[index], spectral_exponent(*arguments), rtol=1e-14)
            assert words[index] == str(phase(*arguments))
    assert spectral_exponent(1.0, 0.1, np.zeros((0, 2)), 1.5, 1.0).shape == (0, 2)


def test_conventions_differ_by_their_constant() -> None:
    levy = threshold_intensity(1.0, 0.1, 1.0, 1.5, "levy")
    assert float(threshold_intensity(1.0, 0.1, 1.0, 1.5, "stable") / levy) == pytest.approx(math.pi, rel=1e-14)
    same = spectral_exponent(1.0, 0.1, 2.0 * math.pi, 1.0, 1.5, "stable")
    assert float(same / spectral_exponent(1.0, 0.1, 2.0, 1.0, 1.5)) == pytest.approx(1, rel=1e-14)


def test_a_map_of_the_plane_takes_seconds() -> None:
    """A phase diagram must be cheap: measured 0.15 s for 1e5 points with α varying (0.06 s with one α)."""
    intensity = np.geomspace(0.1, 10, 100_000)
    start = time.perf_counter()
    spectral_exponent(1.0, 0.1, intensity, np.linspace(0.1, 1.9, 100_000), 1.0)
    assert time.perf_counter() - start < 3.0  # twenty times the measured time


def test_at_threshold_is_relative() -> None:
    star = 3e-7
    near = np.array([star, star * (1 + 5e-13), star * (1 + 3e-12)])
    assert at_threshold(near, star).tolist() == [True, True, False]
    assert not at_threshold(1.0, math.inf) and not at_threshold(1.0, math.nan)


def test_a_root_that_is_not_found_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    find_root = module.find_root
    monkeypatch.setattr(module, "find_root", lambda *args, **kwargs: find_root(*args, maxiter=1, **kwargs))
    with pytest.raises(NotConvergedError, match=r"root .* not found for η_G λ/κ = 0.66"):
        spectral_exponent(1.0, 0.3, 0.4, 1.5, 2.2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.nan, 0.1, 0.4, 1.5, 2.2), r"plateau = nan"),
        ((1.0, [0.1, -0.1], 0.4, 1.5, 2.2), r"diffusion = -0.1: must lie in \[0, inf\)"),
        ((1.0, 0.1, -0.4, 1.5, 2.2), r"intensity = -0.4: must lie in \[0, inf\)"),
        ((1.0, 0.1, np.inf, 1.5, 2.2), r"intensity = inf"),
        ((1.0, 0.1, 0.4, 2.0, 2.2), r"stability = 2.0: must lie in \(0, 2\)"),
        ((1.0, 0.1, 0.4, 1.5, -2.2), r"tempering = -2.2"),
        ((1.0, 0.0, [0.4, 0.0], 1.5, 2.2), r"diffusion = 0 and intensity = 0"),
        ((1.0, 0.1, 0.4, 1.0, 2.2, "laplacian"), r"zero at stability = 1"),
    ],
)
@pytest.mark.parametrize("function", [spectral_exponent, phase])
def test_refusals(function: object, arguments: tuple, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        function(*arguments)  # type: ignore[operator]
