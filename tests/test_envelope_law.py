"""The envelope's law against the envelope itself, far out, in every phase."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver import LinearDrift, Model, ModelError, TanhDrift, TemperedStableJumps, solve_stationary
from solver.envelope_law import envelope_law
from solver.tail_theory import tail_theory
from solver.tails import tail_law


def test_the_prefactor_of_a_root_is_c_gamma_beta(baseline_density: Any) -> None:
    """f ℓ^β / (C Γ(β)) at ℓ = 1e30, C from the solution and C from theory: measured 4e-11 and 1e-11."""
    log_lag = 30 * math.log(10)
    law = envelope_law(baseline_density)
    seen = float(baseline_density.envelope(log_lags=log_lag).log_values)
    assert seen == pytest.approx(float(law.log_value(log_lag)), abs=1e-6) and law.uncertainty < 1e-6
    beta = baseline_density.tail_exponent
    predicted = tail_theory(baseline_density).log_constant + math.lgamma(beta) - beta * log_lag
    assert seen == pytest.approx(predicted, abs=1e-6)
    assert seen != pytest.approx(predicted + 1e-5, abs=1e-6)  # what the bound can see


def test_below_the_threshold_the_law_carries_a_logarithm(below_density: Any) -> None:
    law = envelope_law(below_density)
    assert (law.exponent, law.power) == (1.0, pytest.approx(-1.5, abs=1e-6))
    log_lags = np.array([1e3, 4e3])
    ratio = below_density.envelope(log_lags=log_lags).log_values - law.log_value(log_lags)
    # the correction falls as (ln ℓ)^{-1/2} and (ln ℓ)^{-1}: design's 0.9919 and 0.9967 at s = 1000 and 2500
    assert np.abs(ratio).max() < 1e-2 and abs(ratio[1]) < 0.5 * abs(ratio[0])
    assert law.holds_from == pytest.approx(150, rel=0.15)  # 1.5/ln ℓ = 1%


@pytest.mark.parametrize("diffusion", [0.5, 2.0])
def test_where_the_bare_power_holds(diffusion: float) -> None:
    """Pure diffusion, β = 1/η_G: the onset is where the local exponent says so, and stays so."""
    density = solve_stationary(Model(TanhDrift(1.0), diffusion, None))
    law = envelope_law(density, within=1e-3)
    after = np.linspace(law.holds_from, law.holds_from + 30, 200)
    assert (np.abs(density.envelope(log_lags=after).local_exponent * diffusion - 1) < 1e-3).all()
    before = density.envelope(log_lags=law.holds_from - 0.35).local_exponent
    assert abs(before * diffusion - 1) > 1e-3


def test_without_tempering_the_envelope_is_a_power_of_the_logarithm() -> None:
    density = solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.2, 1.5, 0.0)), rtol=1e-4)
    law = envelope_law(density)
    assert law.exponent == 0 and law.power == pytest.approx(-0.5, abs=1e-3) and math.isnan(law.holds_from)
    assert law.constant == pytest.approx(0.2 / (1.5 * 0.5), rel=1e-3)  # η_J c/(α(α-1)κ)
    assert density.envelope(log_lags=1e5).values == pytest.approx(math.exp(float(law.log_value(1e5))), rel=0.02)


def test_no_law_no_envelope_law(baseline_density: Any) -> None:
    nothing = replace(tail_law(baseline_density), log_constant=math.nan, reason="so it was made")
    with pytest.raises(ModelError, match=r"shows none \(so it was made"):
        envelope_law(baseline_density, nothing)
    with pytest.raises(ModelError, match="within = 2"):
        envelope_law(baseline_density, within=2.0)
    confined = solve_stationary(Model(LinearDrift(1.0, 0.0), 1.0, None), rtol=1e-6)
    with pytest.raises(ModelError, match="cut off"):
        envelope_law(confined)
