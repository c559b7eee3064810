"""ψ, the symbol and the constants against 60 digits, over the whole range and at its awkward places."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from mpmath_reference import STABILITIES, laplace_exponent, symbol

from solver.errors import ModelError
from solver.jump_exponents import CONVENTIONS, convention_constant, unit_laplace_exponent, unit_symbol

# b/λ: the smallest wanted, both sides of the change of form at 1/8, of 1/2, and the approach to λ.
FRACTIONS = np.array(
    [1e-12, 1e-9, 1e-6, 1e-3, 0.03, 0.1249999, 0.125, 0.15, 0.3, 0.4999, 0.5, 0.7, 0.95, 1 - 1e-9, 1.0]
)


@pytest.mark.parametrize("stability", STABILITIES)
@pytest.mark.parametrize("tempering", [1.0, 1.7, 3e-4])
def test_laplace_exponent(stability: float, tempering: float) -> None:
    b = FRACTIONS * tempering
    found = unit_laplace_exponent(b, stability, tempering)
    exact = [laplace_exponent(value, stability, tempering) for value in b]
    errors = [abs(float(f / e - 1)) for f, e in zip(found, exact, strict=True)]
    assert max(errors) < 3e-14  # measured 5e-15 (α = 0.5, b/λ = 0.15)


def test_the_textbook_form_would_fail() -> None:
    """Negative control: the formula as it is written loses the digits that the test above demands."""
    alpha, x = 1 + 1e-9, 1e-3
    naive = math.gamma(-alpha) * ((1 + x) ** alpha + (1 - x) ** alpha - 2)
    assert abs(naive / float(laplace_exponent(x, alpha, 1.0)) - 1) > 1e-3


@pytest.mark.parametrize("stability", STABILITIES)
@pytest.mark.parametrize("tempering", [0.0, 1.0, 2.2])
def test_symbol(stability: float, tempering: float) -> None:
    k = np.concatenate([10.0 ** np.arange(-8, 9), np.geomspace(0.05, 50, 30)]) * (tempering or 1.0)
    found = unit_symbol(k, stability, tempering)
    errors = [abs(float(f / symbol(q, stability, tempering) - 1)) for f, q in zip(found, k, strict=True)]
    assert max(errors) < 3e-14  # measured 3e-15 (α = 1.95, k/λ = 1e8)


def test_symbol_is_the_exponent_at_imaginary_argument() -> None:
    """Both are power series in b² = -k²: their sum is O(k⁴), their ratio -1 at small arguments."""
    small = 1e-5
    for alpha in STABILITIES:
        ratio = unit_symbol(small, alpha, 1.0) / unit_laplace_exponent(small, alpha, 1.0)
        assert abs(ratio + 1) < 1e-9  # k² / 12 · Γ(4-α)/Γ(2-α) = 5e-11


@pytest.mark.parametrize("stability", STABILITIES)
def test_constants(stability: float) -> None:
    with mp.workdps(40):
        a = mp.mpf(stability)
        stable = a * 2 ** (a - 1) * mp.gamma((1 + a) / 2) / (mp.sqrt(mp.pi) * mp.gamma(1 - a / 2))
        laplacian = 0 if a == 1 else 1 / (2 * abs(mp.gamma(-a)))
    assert abs(float(convention_constant(stability, "stable") / stable - 1)) < 2e-15
    if stability != 1:
        assert abs(float(convention_constant(stability, "laplacian") / laplacian - 1)) < 2e-15
    assert convention_constant(stability) == 1


def test_conventions_mean_what_they_say() -> None:
    k = np.array([0.1, 1.0, 30.0])
    for alpha in (0.3, 0.9, 1.0, 1.6):
        np.testing.assert_allclose(unit_symbol(k, alpha, 0.0, "stable"), -(k**alpha), rtol=1e-14)
    # The tempered fractional Laplacian: ψ(ik) = ±[Re (λ+ik)^α - λ^α].
    expected = ((2.0 + 1j * k) ** 1.5).real - 2.0**1.5
    np.testing.assert_allclose(unit_symbol(k, 1.5, 2.0, "laplacian"), expected, rtol=1e-12)


def test_broadcasting() -> None:
    b, alpha, lam = np.array([[0.05], [0.4], [0.9]]), np.array([0.3, 1.0, 1.7, 0.5]), 1.2
    table = unit_laplace_exponent(b, alpha, lam, "stable")
    assert table.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            one = unit_laplace_exponent(b[i, 0], alpha[j], lam, "stable")
            assert abs(table[i, j] / one - 1) < 1e-15
    assert unit_laplace_exponent(np.zeros((0, 3)), 1.5, 1.0).shape == (0, 3)
    assert unit_laplace_exponent(0.0, 1.5, [0.0, 1.0]).tolist() == [0.0, 0.0]
    assert unit_laplace_exponent(-0.5, 1.5, 1.0) == unit_laplace_exponent(0.5, 1.5, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.1, 1.5, 1.0), r"b = 1.1 exceeds tempering = 1.0"),
        (([0.1, np.nan], 1.5, 1.0), r"b = nan exceeds"),
        ((0.1, [1.5, 2.0], 1.0), r"stability = 2.0: must lie in \(0, 2\)"),
        ((0.1, 0.0, 1.0), r"stability = 0.0"),
        ((0.0, 1.5, -1.0), r"tempering = -1.0: must lie in \[0, inf\)"),
        ((0.1, 1.5, np.inf), r"tempering = inf"),
        ((0.1, [0.5, 1.0], 1.0, "laplacian"), r"zero at stability = 1; use 'levy' or 'stable'"),
        ((0.1, 0.5, 1.0, "levi"), r"convention = 'levi': must be one of .*did you mean 'levy'"),
    ],
)
def test_refusals(arguments: tuple, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        unit_laplace_exponent(*arguments)


def test_conventions_are_the_three_of_the_theory() -> None:
    assert CONVENTIONS == ("levy", "stable", "laplacian")
