"""The jump law's views must agree: density, real exponent, symbol, lattice weights, exponential sum."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import quad

from solver import jump_law as module
from solver.errors import ModelError
from solver.jumps import TemperedStableJumps

LAWS = [
    TemperedStableJumps(0.4, 1.5, 2.2),
    TemperedStableJumps(1.4, 0.7, 1.5, "stable"),
    TemperedStableJumps(1.0, 1.0, 0.8),
    TemperedStableJumps(0.3, 0.05, 1.0, "laplacian"),
    TemperedStableJumps(2.0, 1.95, 0.5, "stable"),
]


def name(law: TemperedStableJumps) -> str:
    return f"{law.stability}-{law.convention}"


@pytest.mark.parametrize("law", [*LAWS[:4], TemperedStableJumps(2.0, 1.8, 0.5, "stable")], ids=name)
def test_exponent_and_symbol_are_integrals_of_the_density(law: TemperedStableJumps) -> None:
    b, k = 0.6 * law.tempering, 1.7

    def integral(kernel: object) -> float:
        # z = e^t: the singularity at 0 becomes an exponential decay, e^{(2-α)t} for these kernels.
        def integrand(t: float) -> float:
            z = math.exp(t)
            return 2 * kernel(z) * float(law.levy_density(z)) * z  # type: ignore[operator]

        cut = -34 / (2 - law.stability)
        return sum(quad(integrand, *span, limit=400, epsrel=1e-11)[0] for span in ((cut, -2), (-2, 1), (1, 6)))

    real = integral(lambda z: 2 * math.sinh(b * z / 2) ** 2)
    wave = integral(lambda z: -2 * math.sin(k * z / 2) ** 2)
    assert abs(real / law.laplace_exponent(b) - 1) < 1e-9
    assert abs(wave / law.symbol(k) - 1) < 1e-9


@pytest.mark.parametrize("law", LAWS, ids=name)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_lattice_has_the_exact_even_moments(law: TemperedStableJumps, count: int) -> None:
    for ratio in (0.01, 0.1, 1.0):  # λh
        h = ratio / law.tempering
        n = np.arange(1.0, 90 / ratio)  # e^{-90} of the density is left out
        weights = law.lattice_weights(h, n.size, count)
        for k in range(1, count + 1):
            exact = 2 * law.strength * math.gamma(2 * k - law.stability) * law.tempering ** (law.stability - 2 * k)
            assert abs(2 * np.sum((n * h) ** (2 * k) * weights) / exact - 1) < 1e-12  # measured 2e-13


def observed_order(law: TemperedStableJumps, count: int, mistake: float = 0.0) -> float:
    """Order of the lattice symbol's error at k = 3; `mistake` is a relative error of the first correction."""
    errors = []
    for h in (0.2, 0.1):
        weights = law.lattice_weights(h, round(60 / (law.tempering * h)), count)
        weights[0] += mistake * law.lattice_corrections(h, count)[0]
        n = np.arange(1, weights.size + 1)
        lattice = -4 * np.sum(weights * np.sin(1.5 * n * h) ** 2)
        errors.append(abs(lattice - float(law.symbol(3.0))))
    return math.log2(errors[0] / errors[1])


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("law", [LAWS[0], LAWS[1], LAWS[2]], ids=name)
def test_lattice_symbol_converges_at_the_stated_order(law: TemperedStableJumps, count: int) -> None:
    stated = 2 * count + 2 - law.stability
    assert abs(observed_order(law, count) - stated) < 0.25  # measured 0.15 (count = 4)
    # Negative control: one correction 1% wrong brings in an error of order 2-α, and the check fails.
    assert abs(observed_order(law, count, mistake=0.01) - stated) > 0.5


def test_corrections_without_tempering() -> None:
    """λ = 0: one term of the series is left, and the lattice symbol still converges at order 2m+2-α."""
    law = TemperedStableJumps(1.0, 1.4, 0.0, "stable")
    errors = []
    for h in (0.2, 0.1):
        n = np.arange(1, 400_001)
        weights = law.lattice_weights(h, n.size, 4)
        beyond = 2 * law.strength * (h * (n.size + 0.5)) ** -1.4 / 1.4  # the truncated, non-oscillating rest
        errors.append(abs(-4 * np.sum(weights * np.sin(1.5 * n * h) ** 2) - beyond - float(law.symbol(3.0))))
    assert abs(math.log2(errors[0] / errors[1]) - 8.6) < 0.4


def test_weights_without_corrections_are_samples() -> None:
    law, h = LAWS[0], 0.05
    n = np.arange(1, 50)
    np.testing.assert_allclose(law.lattice_weights(h, 49, 0), h * law.levy_density(n * h), rtol=1e-15)


@pytest.mark.parametrize("law", [*LAWS, TemperedStableJumps(1.0, 0.6, 0.0)], ids=name)
def test_exponential_sum_is_the_far_part_of_the_lattice(law: TemperedStableJumps) -> None:
    h, reach = 0.05, 20_000.0
    sums = law.exponential_sum(h, reach)
    n = np.arange(1, 20_001)
    far = law.lattice_weights(h, n.size, 0)
    seen = far > 1e-290  # below, the product e^{-λnh} n^{-1-α} itself loses digits to underflow
    # 2e-13 of the unit sum, and n λh · 1e-16 from rounding the exponent: 7e-14 at e^{-600}.
    np.testing.assert_allclose(sums.values(n)[seen], far[seen], rtol=4e-13)
    if law.tempering:
        assert abs(sums.out_rate / far.sum() - 1) < 3e-13
    assert np.all(sums.weights > 0) and np.all((sums.ratios > 0) & (sums.ratios < 1))


def test_constants_of_a_law() -> None:
    law = TemperedStableJumps(2.0, 1.0, 0.5, "stable")
    assert abs(law.constant - 1 / math.pi) < 1e-16 and abs(law.strength - 2 / math.pi) < 1e-15
    # ∫ z² ν = 2 strength / λ at α = 1, and is ψ''(0).
    assert abs(law.second_moment - 8 / math.pi) < 1e-14
    assert abs(law.laplace_exponent(1e-6) / (0.5e-12 * law.second_moment) - 1) < 1e-11
    assert TemperedStableJumps(1.0, 1.5, 0.0).second_moment == math.inf
    assert law.levy_density([0.0, -1.0]).tolist()[0] == math.inf


def test_values_are_checked_and_stored_as_floats() -> None:
    law = TemperedStableJumps(1, 1, 0)  # ints are welcome
    assert dataclasses.astuple(law) == (1.0, 1.0, 0.0, "levy") and type(law.intensity) is float
    assert hash(law) == hash(TemperedStableJumps(1.0, 1.0, 0.0, "levy"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        law.intensity = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 1.5, 1.0), r"intensity = 0.0: must lie in \(0, inf\)"),
        ((1.0, 2.0, 1.0), r"stability = 2.0: must lie in \(0, 2\)"),
        ((1.0, 0.0, 1.0), r"stability = 0.0"),
        ((1.0, 1.5, -0.1), r"tempering = -0.1: must lie in \[0, inf\)"),
        ((1.0, 1.5, math.nan), r"tempering = nan"),
        ((1.0, "1.5", 1.0), r"stability = '1.5': must be a finite number, got str"),
        ((1.0, 1.5, 1.0, "Levy"), r"convention = 'Levy': .*did you mean 'levy'"),
        ((1.0, 1.0, 1.0, "laplacian"), r"zero at stability = 1"),
    ],
)
def test_refused_laws(arguments: tuple, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        TemperedStableJumps(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda law: law.lattice_corrections(0.5, 4), r"spacing = 0.5: must be at most 1/tempering = 0.4545"),
        (lambda law: law.lattice_weights(0.5, 10, 4), r"at most 1/tempering"),
        (lambda law: law.lattice_corrections(-0.1, 4), r"spacing = -0.1"),
        (lambda law: law.lattice_corrections(0.1, 0), r"count = 0: must lie in \[1, inf\)"),
        (lambda law: law.lattice_weights(0.1, 3, 4), r"corrections = 4: must lie in \[0, 3\]"),
        (lambda law: law.exponential_sum(0.0, 100), r"spacing = 0.0"),
        (lambda law: law.laplace_exponent(2.3), r"b = 2.3 exceeds tempering = 2.2"),
    ],
)
def test_refused_calls(call: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call(LAWS[0])  # type: ignore[operator]


def test_the_moment_matrix_is_inverted_exactly() -> None:
    for m in range(1, 9):
        k, n = np.arange(1, m + 1)[:, None], np.arange(1, m + 1)
        product = (n.astype(float) ** (2 * k)) @ module._inverse_moment_matrix(m)
        # Entries reach 64^8 = 3e14: what is left is the rounding of the product, not of the inverse.
        scale = (n.astype(float) ** (2 * k)) @ np.abs(module._inverse_moment_matrix(m))
        assert np.max(np.abs(product - np.eye(m)) / scale) < 1e-15
