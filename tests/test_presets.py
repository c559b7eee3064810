"""Every preset is what its comment says: exponents and threshold anew, with mpmath, from the formula."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import mpmath
import pytest

from solver.drifts import LogisticDrift, TanhDrift
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.presets import load_preset, preset_names, preset_text

NAMES = ("broad", "collapsed", "concentrated", "critical", "frozen-gates", "pure-diffusion", "pure-jump")


def law(name: str) -> tuple[Any, Any, TemperedStableJumps]:
    """Plateau, diffusion and jumps of a preset that has them all."""
    model = load_preset(name)
    assert isinstance(model.drift, TanhDrift) and model.jumps is not None
    assert model.jumps.convention == "levy"
    return mpmath.mpf(model.drift.plateau), mpmath.mpf(model.diffusion), model.jumps


def balance(name: str, b: Any) -> Any:
    """Φ(b) = η_G b² + η_J ψ(b) - κ b in 40 digits; the exponent is its positive root."""
    kappa, diffusion, jumps = law(name)
    alpha, tempering = mpmath.mpf(jumps.stability), mpmath.mpf(jumps.tempering)
    powers = (tempering + b) ** alpha + (tempering - b) ** alpha - 2 * tempering**alpha
    return diffusion * b**2 + jumps.intensity * mpmath.gamma(-alpha) * powers - kappa * b


def test_the_names() -> None:
    assert preset_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_loads_and_says_what_it_is(name: str) -> None:
    assert isinstance(load_preset(name), Model)
    assert preset_text(name).startswith("# ")
    assert "\ndescription = " in preset_text(name)


@pytest.mark.parametrize(
    ("name", "exponent"),
    [
        ("broad", "0.42"),
        ("concentrated", "1.2673600490625978"),
        ("critical", "1"),
        ("pure-jump", "1.125187664571434"),
    ],
)
def test_exponents(name: str, exponent: str) -> None:
    with mpmath.workdps(40):
        start = mpmath.mpf(exponent)
        root = mpmath.findroot(lambda b: balance(name, b), (0.99 * start, 1.01 * start), solver="anderson")
        # broad 2e-17 and critical 7e-17, the rounding of the intensity; the other two 7e-16, that of the text
        assert abs(root - start) <= (2e-16 if name in ("broad", "critical") else 1e-15)
        _, _, jumps = law(name)
        assert 0 < root < jumps.tempering


def test_a_wrong_intensity_would_be_noticed() -> None:
    """Negative control: 1e-12 off in the critical intensity moves the exponent beyond the bound above."""
    with mpmath.workdps(40):
        _, _, jumps = law("critical")
        shift = 1e-12 * (balance("critical", mpmath.mpf(1)) + mpmath.mpf("0.8"))  # η_J ψ(1) = κ - η_G = 0.8
        slope = mpmath.diff(lambda b: balance("critical", b), 1)
        assert abs(shift / slope) > 1e-13 and jumps.intensity == 0.6276931147589285


def test_the_collapsed_preset_lies_below_its_threshold() -> None:
    with mpmath.workdps(40):
        _, _, jumps = law("collapsed")
        assert balance("collapsed", mpmath.mpf(jumps.tempering)) < 0  # no root in (0, λ]
        kappa, diffusion, _ = law("collapsed")
        tempering = mpmath.mpf(jumps.tempering)
        psi = (balance("collapsed", tempering) - diffusion * tempering**2 + kappa * tempering) / jumps.intensity
        threshold = tempering * (kappa - diffusion * tempering) / psi
        assert abs(threshold - mpmath.mpf("0.433409338777135")) < 1e-15


def test_the_presets_without_one_of_the_noises() -> None:
    diffusion = load_preset("pure-diffusion")
    assert diffusion.jumps is None and diffusion.left_plateau / diffusion.diffusion == 2.0
    assert load_preset("pure-jump").diffusion == 0.0


def test_the_frozen_gates_are_held_on_the_right_only() -> None:
    model = load_preset("frozen-gates")
    assert isinstance(model.drift, LogisticDrift)
    assert model.left_plateau < 0 < model.right_plateau
    assert model.drift.sign_changes().size == 0


def test_an_unknown_preset_is_refused_with_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"^preset = 'brod': must be one of 'broad', .*; did you mean 'broad'\?$"):
        load_preset("brod")
    with pytest.raises(ModelError, match=r"^preset = '\.\./model': must be one of"):
        load_preset("../model")


def test_presets_are_plain_files_of_the_package() -> None:
    folder = files("solver.presets")
    for name in NAMES:
        assert (folder / f"{name}.toml").is_file()
