"""Fits in a window of lags: exact forms come back, and a density's bias is what an independent sum says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from solver import ModelError
from solver.samples import Samples
from solver.window_fit import fit_window, window


@pytest.mark.parametrize("tau_max", [50.0, 1e3, 1e6, math.inf])
def test_the_tempered_form_comes_back(tau_max: float) -> None:
    cut = 0.0 if math.isinf(tau_max) else 1 / tau_max
    fit = fit_window(lambda x: math.log(0.7) - 0.42 * x - cut * np.exp(x), window())
    assert fit.tempered_exponent == pytest.approx(0.42, abs=1e-9)
    assert fit.amplitude == pytest.approx(0.7, rel=1e-9)
    assert math.isinf(fit.tau_max) if math.isinf(tau_max) else fit.tau_max == pytest.approx(tau_max, rel=1e-7)
    assert fit.tempered_residual < 1e-10 < fit.residual or math.isinf(tau_max)


def test_a_curve_that_bends_upwards_gets_no_cut() -> None:
    fit = fit_window(lambda x: -0.4 * x + 1e-3 * np.exp(x), window())
    assert math.isinf(fit.tau_max) and fit.tempered_exponent == pytest.approx(fit.exponent)


def test_the_bias_of_a_window_is_the_solvers_to_know(baseline_density: Any) -> None:
    """Against the envelope summed directly over τ, a route that shares no line with solver.envelope."""
    lags = window(10.0, 1000.0)
    zeta = np.linspace(-60.0, 10.0, 70001)
    rho = baseline_density.pdf(zeta)
    direct = np.log([np.trapezoid(rho * np.exp(-ell * np.exp(zeta)), zeta) for ell in lags])
    slope = -np.polyfit(np.log(lags), direct, 1)[0]
    fit = fit_window(lambda x: baseline_density.envelope(log_lags=x).log_values, lags)
    assert fit.exponent == pytest.approx(slope, abs=1e-9)
    assert fit.bias(baseline_density.tail_exponent) == pytest.approx(-0.03, abs=0.05) and fit.bias(fit.exponent) == 0
    far = fit_window(lambda x: baseline_density.envelope(log_lags=x).log_values, window(1e20, 1e22))
    assert abs(far.bias(baseline_density.tail_exponent)) < 1e-8


def test_measured_spectra_can_be_fitted_too() -> None:
    fit = fit_window(Samples.from_values([100.0] * 5).log_envelope, window(10.0, 100.0))
    assert fit.tau_max == pytest.approx(100.0) and fit.tempered_exponent == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: window(10.0, 10.0), "low = 10, high = 10"),
        (lambda: window(0.0, 10.0), "low = 0"),
        (lambda: window(1.0, 10.0, 2), "lags = 2"),
        (lambda: fit_window(lambda x: x, [1.0, 2.0]), "at least 3"),
        (lambda: fit_window(lambda x: x, [3.0, 2.0, 1.0]), "increasing order"),
        (lambda: fit_window(lambda x: x * np.nan, window()), "ln f is nan at lag 10"),
    ],
)
def test_bad_windows(call: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()
