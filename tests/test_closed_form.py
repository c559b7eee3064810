"""closed_form(model): both sides, every kind of drift, and the law of each tail."""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from solver.closed_form import TailForm, closed_form
from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.errors import ModelError
from solver.exponent import spectral_exponent, threshold_intensity
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.tail_form import CASES, threshold_tail

RECORDS = json.loads((Path(__file__).parent / "reference" / "stationary.json").read_text())
LAW = TemperedStableJumps(0.4, 1.5, 2.2)
TANH = TanhDrift(1.0, 0.0, 1.0)


def recorded_model(record: dict) -> Model:
    kind, *parameters = record["drift"]
    drift = {"tanh": TanhDrift, "exponential": ExponentialDrift}[kind](*parameters)
    jumps = TemperedStableJumps(record["intensity"], record["stability"], record["tempering"])
    return Model(drift, record["diffusion"], jumps)


@pytest.mark.parametrize("record", RECORDS)
def test_reference_values(record: str) -> None:
    values = RECORDS[record]
    theory = closed_form(recorded_model(values["model"]))
    assert abs(theory.threshold / values["threshold"] - 1) < 1e-12
    assert theory.has_root is (values["exponent"] is not None)
    if theory.has_root:
        assert abs(theory.exponent / values["exponent"] - 1) < 1e-12
        assert theory.tail == TailForm("root", theory.exponent, 0.0)
        assert theory.phase == ("concentrated" if theory.exponent > 1 else "broad")
    else:
        assert math.isnan(theory.exponent) and theory.phase == "collapsed"
        model = values["model"]
        assert theory.tail == TailForm("tempered", model["tempering"], -1 - model["stability"])
    if values["model"]["drift"][0] == "tanh":  # the drift is odd about its centre: both sides agree
        assert (theory.right_tail, theory.right_threshold) == (theory.tail, theory.threshold)


def test_right_side_has_its_own_plateau() -> None:
    theory = closed_form(Model(LogisticDrift(1.0, 0.25, 0.0, 1.0), 0.1, LAW))
    assert theory.exponent == float(spectral_exponent(1.0, 0.1, 0.4, 1.5, 2.2))
    assert theory.right_exponent == float(spectral_exponent(0.25, 0.1, 0.4, 1.5, 2.2))
    assert theory.right_threshold == float(threshold_intensity(0.25, 0.1, 1.5, 2.2))
    assert theory.right_has_root and theory.right_tail.case == "root"


def test_a_drift_that_grows_confines_its_side() -> None:
    theory = closed_form(Model(ExponentialDrift(1.0, 1.0), 0.1, LAW))
    assert theory.phase == "concentrated" and theory.tail.case == "root"
    assert theory.right_exponent == math.inf and not theory.right_has_root
    assert theory.right_tail == TailForm("confined", 2.2, -2.5, over_drift=True)
    assert str(theory.right_tail) == "e^(-2.2 s) s^-2.5 / |F|"
    both = closed_form(Model(LinearDrift(1.0, 0.0), 0.1, LAW))
    assert (both.phase, both.exponent, both.has_root) == ("confined", math.inf, False)
    assert math.isnan(both.threshold)


@pytest.mark.parametrize("stability", [0.6, 1.0, 1.2])
def test_confined_tail_of_the_ornstein_uhlenbeck_process(stability: float) -> None:
    """Exact for F = -ζ: ln E e^{ikζ} = ∫_0^k symbol(s)/s ds, inverted here; the tail has the stated form.

    Its constant is strength · E e^{λζ} / λ, since |F| ρ is the integral of ν times the mass that feels it.
    """
    law = TemperedStableJumps(1.0, stability, 1.0)
    tail = closed_form(Model(LinearDrift(1.0, 0.0), 0.0, law)).tail
    nodes, weights = np.polynomial.legendre.leggauss(200)
    nodes, weights = (nodes + 1) / 2, weights / 2
    # Analytic for |Im k| < λ, so that aliasing is e^{-2π/0.05}; beyond k = 160 it is below 1e-50.
    k = 0.05 * np.arange(3200)
    characteristic = np.exp((law.symbol(np.outer(k, nodes)) / nodes) @ weights)
    moment = math.exp(float((law.laplace_exponent(nodes) / nodes) @ weights))
    s = np.array([8.0, 11.0, 15.0, 20.0])
    density = 0.05 / math.pi * (np.cos(np.outer(s, k)) @ characteristic - 0.5)
    form = np.exp(-tail.exponent * s) * s ** (tail.power - 1)  # |F| = s
    ratios = density / (law.strength * moment / law.tempering * form)
    # Corrections run in 1/s: a cubic through four points leaves 0.6% at 1/s = 0 (at s = 20 it is 16%).
    assert abs(np.polynomial.polynomial.polyfit(1 / s, ratios, 3)[0] - 1) < 0.02
    # Negative control: with the power off by 0.1 there is no such limit.
    assert abs(np.polynomial.polynomial.polyfit(1 / s, ratios * s**0.1, 3)[0] - 1) > 0.2


def test_without_jumps() -> None:
    theory = closed_form(Model(TANH, 0.4))
    assert (theory.exponent, theory.has_root, theory.phase) == (2.5, True, "concentrated")
    assert math.isnan(theory.threshold) and theory.convention is None
    assert theory.tail == TailForm("diffusion", 2.5, 0.0)
    gaussian = closed_form(Model(LinearDrift(1.0, 0.0), 0.4))
    assert gaussian.phase == "confined" and gaussian.tail == TailForm("confined", math.inf, 0.0)
    assert str(gaussian.tail) == "faster than any exponential"


@pytest.mark.parametrize(
    "drift",
    [
        TanhDrift(-1.0, 0.0, 1.0),
        TanhDrift(0.0, 0.0, 1.0),
        LinearDrift(-1.0, 0.0),
        ExponentialDrift(-1.0, 1.0),
    ],
)
@pytest.mark.parametrize("jumps", [LAW, None])
def test_nothing_holds_the_population(drift: object, jumps: TemperedStableJumps | None) -> None:
    theory = closed_form(Model(drift, 0.1, jumps))  # type: ignore[arg-type]
    assert theory.phase == "none" and not theory.has_root and not theory.right_has_root
    assert math.isnan(theory.exponent) and math.isnan(theory.right_exponent) and math.isnan(theory.threshold)
    assert theory.tail == theory.right_tail == TailForm("none", math.nan, math.nan)
    assert str(theory.tail) == "none"


def test_stable_limit() -> None:
    """λ = 0: ρ ~ (η_J c/α) s^{-α} / κ has a mass only for α > 1; a linear drift holds any α."""
    heavy = closed_form(Model(TANH, 0.1, TemperedStableJumps(0.4, 1.5, 0.0)))
    assert (heavy.phase, heavy.has_root, heavy.threshold) == ("collapsed", False, math.inf)
    assert math.isnan(heavy.exponent) and heavy.tail == TailForm("stable", 0.0, -1.5)
    assert closed_form(Model(TANH, 0.1, TemperedStableJumps(0.4, 0.9, 0.0))).phase == "none"
    half = Model(ExponentialDrift(1.0, 1.0), 0.1, TemperedStableJumps(0.4, 0.9, 0.0))
    assert closed_form(half).phase == "none"
    held = closed_form(Model(LinearDrift(1.0, 0.0), 0.0, TemperedStableJumps(0.4, 0.9, 0.0)))
    assert held.phase == "confined" and held.tail == TailForm("confined", 0.0, -0.9, over_drift=True)


@pytest.mark.parametrize(
    ("stability", "power", "log_power"), [(0.5, -0.5, 0), (0.999, -0.001, 0), (1.0, 0.0, -1), (1.5, 0.0, 0)]
)
def test_at_the_threshold(stability: float, power: float, log_power: int) -> None:
    star = float(threshold_intensity(1.0, 0.1, stability, 1.0))
    for intensity in (star, star * (1 + 4e-13), star * (1 - 4e-13)):
        theory = closed_form(Model(TANH, 0.1, TemperedStableJumps(intensity, stability, 1.0)))
        assert (theory.exponent, theory.has_root, theory.phase) == (1.0, True, "collapsed")
        assert (theory.tail.case, theory.tail.exponent) == ("threshold", 1.0)
        assert theory.tail.power == pytest.approx(power) and theory.tail.log_power == log_power
    above = closed_form(Model(TANH, 0.1, TemperedStableJumps(star * (1 + 1e-9), stability, 1.0)))
    assert above.tail.case == "root" and above.phase in ("broad", "critical")


def test_convention_is_carried() -> None:
    stable = closed_form(Model(TANH, 0.3, TemperedStableJumps(0.4, 1.5, 2.2, "stable")))
    levy = closed_form(Model(TANH, 0.3, TemperedStableJumps(0.4, 1.5, 2.2)))
    assert (stable.convention, levy.convention) == ("stable", "levy")
    ratio = TemperedStableJumps(1.0, 1.5, 2.2, "stable").constant
    assert stable.threshold * ratio == pytest.approx(levy.threshold, rel=1e-14)


def test_an_unknown_limit_is_refused() -> None:
    wave = CallableDrift(lambda z: -np.tanh(z), left=1.0, right=1.0, scale=1.0)
    model = Model(wave, 0.3, LAW)
    assert closed_form(model).exponent == pytest.approx(1.2673600490625978, rel=1e-12)

    class Unknown(Model):
        left_plateau = math.nan  # type: ignore[assignment]

    with pytest.raises(ModelError, match=r"limit on the left is unknown; give the drift `left=`"):
        closed_form(Unknown(wave, 0.3, LAW))


def test_every_case_has_a_meaning() -> None:
    assert set(CASES) == {"root", "tempered", "threshold", "diffusion", "stable", "confined", "none"}
    assert threshold_tail(0.5, 1.0).meaning == CASES["threshold"]
    assert str(TailForm("stable", 0.0, -1.5)) == "s^-1.5"


def test_the_public_names() -> None:
    module = importlib.import_module("solver.closed_form")  # the package's own name for it is the function
    for public in module.__all__:
        assert getattr(module, public).__doc__
