"""The two statistics and their p-values against tables, exact identities, scipy and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from solver.samples import SamplesError
from validation.effective_size import autocorrelation_time, kish_size, mean_ranks
from validation.goodness_of_fit import ad_statistic, ad_survival, ad_test, ks_statistic, ks_test


def logs(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.log(u), np.log1p(-u)


@pytest.mark.parametrize(("point", "p"), [(1.248, 0.25), (1.933, 0.10), (2.492, 0.05), (3.070, 0.025)])
def test_tabulated_points_of_the_limit_law(point: float, p: float) -> None:
    """Stephens 1974, case 0; tables have three decimals, a slope of about -0.1 per unit makes that 1e-4 at most."""
    assert ad_survival(point) == pytest.approx(p, abs=3e-4)  # measured: 2e-4 at 3.070


def test_the_one_percent_point() -> None:
    """3.857 in the tables of 1954; the exact one is 3.8781 (Marsaglia and Marsaglia 2004 give the same)."""
    assert ad_survival(3.8781250) == pytest.approx(0.01, abs=1e-6)
    assert ad_survival(3.857) == pytest.approx(0.01, abs=3e-4)


def test_the_series_against_its_own_definition() -> None:
    """A² is Σ χ²_j/(j(j+1)): its mean 1 and variance 2(π² - 9)/3 are exact and nothing else enters."""
    x = np.linspace(0.0, 60.0, 60_001)
    tail = ad_survival(x)
    mean, square = np.trapezoid(tail, x), np.trapezoid(2 * x * tail, x)
    assert mean == pytest.approx(1, abs=1e-7)  # measured: 1e-8, the trapezoid rule's own error
    assert square - mean**2 == pytest.approx(2 * (math.pi**2 - 9) / 3, abs=1e-6)


def test_far_tail_keeps_relative_accuracy() -> None:
    """For large x only the first cut matters, so ln P + x falls like -ln(x)/2: no rounding floor."""
    x = np.array([50.0, 100.0, 200.0, 400.0, 700.0])
    rest = np.log(ad_survival(x)) + x
    # near y = λ_1 the integrand is e^{-xy/2} (y - λ_1)^{-1/2}, whose integral falls like x^{-1/2} e^{-x}
    assert np.diff(rest) / np.diff(np.log(x)) == pytest.approx(-0.5, abs=0.02)
    assert ad_survival(800.0) == 0.0 and ad_survival(np.inf) == 0.0
    assert ad_survival(0.0) == 1.0 and ad_survival(0.0301) == pytest.approx(1.0, abs=1e-14)
    assert (np.diff(ad_survival(np.linspace(0.02, 40, 5000))) <= 1e-15).all()
    with pytest.raises(ValueError, match="NaN"):
        ad_survival(np.nan)


@pytest.mark.parametrize(("size", "bound"), [(5, 0.006), (10, 0.004), (200, 0.003)])
def test_rejection_of_true_laws_at_finite_size(size: int, bound: float) -> None:
    """60 000 samples: 5% in the limit are 5.2% at n = 5, 5.0% from 10 on; the simulation's own error is 0.0009."""
    rng, repeats = np.random.default_rng(1), 60_000 if size < 100 else 20_000
    u = np.sort(rng.random((repeats, size)), axis=1)
    rank = 2 * np.arange(1, size + 1) - 1
    a2 = -size - (np.log(u) + np.log1p(-u[:, ::-1])) @ rank / size
    one = ad_statistic(*logs(u[0]), np.ones(size), size)
    assert one == pytest.approx(a2[0], rel=1e-12), "the textbook sum is the same number"
    for p, point in ((0.1, 1.932958), (0.05, 2.492367), (0.01, 3.878125)):
        assert abs(np.mean(a2 > point) - p) < bound


def test_kolmogorov_smirnov_is_that_of_scipy() -> None:
    u = np.sort(np.random.default_rng(2).random(137) ** 1.1)
    mine, theirs = ks_test(np.log(u), np.ones(137), 137.0), stats.kstest(u, "uniform")
    assert mine.value == pytest.approx(theirs.statistic, rel=1e-12)
    assert mine.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_weights_are_multiplicities() -> None:
    """A value of weight 3 counts as three equal values, for both distances."""
    rng = np.random.default_rng(3)
    u, times = np.sort(rng.random(40)), rng.integers(1, 5, 40)
    repeated, total = np.repeat(u, times), float(times.sum())
    assert ks_statistic(np.log(u), times.astype(float)) == pytest.approx(
        ks_statistic(np.log(repeated), np.ones(repeated.size)), rel=1e-12
    )
    weighted = ad_statistic(*logs(u), times.astype(float), total)
    assert weighted == pytest.approx(ad_statistic(*logs(repeated), np.ones(repeated.size), total), rel=1e-12)


def test_weights_cost_size_as_kish_says() -> None:
    """Unequal weights: 5% stays 5% with n = (Σw)²/Σw²; taken as n values it would be far more (negative control)."""
    rng, repeats = np.random.default_rng(4), 1500
    weights = rng.exponential(size=300) ** 2
    size = kish_size(weights)
    p = np.empty((repeats, 2))
    for row in p:
        u = rng.random(300)
        order = np.argsort(u)
        row[:] = [ad_test(*logs(u[order]), weights[order], n).p_value for n in (size, 300.0)]
    rejected = np.mean(p < 0.05, axis=0)
    assert 0.035 < rejected[0] < 0.068  # 1500 samples: 0.05 ± 3 · 0.0056
    assert rejected[1] > 0.5


def test_extreme_values_keep_their_logarithms() -> None:
    """u = 1e-400 underflows; its logarithm does not, and A² is finite and large."""
    log_cdf = np.array([-921.0, math.log(0.3), math.log(0.7)])
    log_sf = np.array([-0.0, math.log(0.7), math.log(0.3)])
    assert 300 < ad_statistic(log_cdf, log_sf, np.ones(3), 3.0) < 315  # 3 (1/3)² 921 = 307 from the one value
    impossible = ad_test(np.array([-np.inf, -0.5]), np.array([0.0, math.log(-math.expm1(-0.5))]), np.ones(2), 2.0)
    assert impossible.value == np.inf and impossible.p_value == 0.0


def gaussian_chain(rng: np.random.Generator, size: int, memory: float) -> np.ndarray:
    from scipy.signal import lfilter

    noise = rng.normal(size=size + 1000) * math.sqrt(1 - memory**2)
    return np.asarray(lfilter([1.0], [1.0, -memory], noise))[1000:]


def test_autocorrelation_of_a_known_chain() -> None:
    """Gaussian chain with C(k) = φ^k: the ranks' correlation is (6/π) asin(φ^k/2), so T is a sum to any accuracy."""
    rng = np.random.default_rng(5)
    for memory in (0.0, 0.5, 0.9):
        exact = 1 + 2 * np.sum(6 / math.pi * np.arcsin(memory ** np.arange(1, 400) / 2))
        found = np.mean([autocorrelation_time(gaussian_chain(rng, 20_000, memory)) for _ in range(8)])
        assert found == pytest.approx(exact, rel=0.08)  # measured: 1.02, 3.0, 18.1 for 1, 2.93, 18.2


def test_a_chain_is_not_rejected_too_often() -> None:
    """AR(1), φ = 0.9, 2000 values worth about 105: 2.9% at the 5% level; taken as independent nearly all (control)."""
    from scipy.special import log_ndtr

    rng, repeats = np.random.default_rng(6), 300
    p = np.empty((repeats, 2))
    for row in p:
        chain = gaussian_chain(rng, 2000, 0.9)
        z, time = np.sort(chain), autocorrelation_time(chain)
        row[:] = [ad_test(log_ndtr(z), log_ndtr(-z), np.ones(2000), n).p_value for n in (2000 / time, 2000.0)]
    rejected = np.mean(p < 0.05, axis=0)
    assert rejected[0] <= 0.07  # 300 chains: 0.03 ± 0.01
    assert rejected[1] > 0.6


def test_what_an_autocorrelation_cannot_be_estimated_from() -> None:
    with pytest.raises(SamplesError, match="sorted"):
        autocorrelation_time(np.sort(np.random.default_rng(0).random(100)))
    with pytest.raises(SamplesError, match="10 values"):
        autocorrelation_time(np.arange(10.0))


def test_small_helpers() -> None:
    assert kish_size(np.full(7, 1e200)) == pytest.approx(7)
    values = np.random.default_rng(1).integers(0, 5, 50).astype(float)
    assert mean_ranks(values) == pytest.approx(stats.rankdata(values))
