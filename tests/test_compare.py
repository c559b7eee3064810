"""`validation.compare`: the right size, the right power, and every way in which samples can be unusable."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from scipy import stats

from solver.drifts import CallableDrift, LinearDrift
from solver.errors import ModelError
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.presets import load_preset
from solver.report import to_json
from solver.samples import Samples, SamplesError, read_samples
from solver.stationary import solve_stationary
from validation import compare, read_measured
from validation.envelope_band import envelope_band
from validation.goodness_of_fit import ad_test
from validation.measured import Measured
from validation.tail_expectation import expected_excess
from validation.tail_fit import fit_tail, truncated_exponent

DATA = ROOT / "tests" / "data"


@pytest.fixture(scope="module")
def broad() -> Any:
    return solve_stationary(load_preset("broad"))


@pytest.fixture(scope="module")
def normal() -> Any:
    """The standard normal law: dζ = -ζ dt + √2 dW."""
    return solve_stationary(Model(LinearDrift(1.0, 0.0), 1.0, None))


@pytest.fixture(scope="module")
def draws(broad: Any) -> np.ndarray:
    return np.asarray(broad.timescales().rvs(2000, random_state=7))


def p_values(zeta: np.ndarray, density: Any) -> Iterator[float]:
    """Anderson–Darling p-values of the rows of ζ, as `compare` has them."""
    for row in np.sort(zeta, axis=1):
        yield ad_test(density.logcdf(row), density.logsf(row), np.ones(row.size), float(row.size)).p_value


def stronger(share: float) -> Any:
    model = load_preset("broad")
    assert isinstance(model.jumps, TemperedStableJumps)
    jumps = replace(model.jumps, intensity=share * model.jumps.intensity)
    return solve_stationary(replace(model, jumps=jumps))


def test_size(broad: Any) -> None:
    """Of 200 samples of 2000 drawn from the density 4 to 19 are rejected at 5% (99.6% of a binomial law)."""
    zeta = broad.rvs((200, 2000), random_state=11)
    assert 4 <= sum(p < 0.05 for p in p_values(zeta, broad)) <= 19  # measured: 15, and 39 of 1000 more


@pytest.mark.parametrize("share", [0.8, 1.2])
def test_power(broad: Any, share: float) -> None:
    """Samples of 20 000 from an intensity 20% off are all rejected: 10 of 10 here, 100 of 100 in the slow test."""
    zeta = stronger(share).rvs((10, 20_000), random_state=12)
    assert sum(p < 0.05 for p in p_values(zeta, broad)) == 10


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.8, 1.2])
def test_power_in_full(broad: Any, share: float) -> None:
    zeta = stronger(share).rvs((100, 20_000), random_state=13)
    assert sum(p < 0.05 for p in p_values(zeta, broad)) >= 95


def test_a_sample_of_the_density(broad: Any, draws: np.ndarray) -> None:
    result = compare(draws, broad)
    assert result.consistent and result.verdict.startswith("Consistent at the 5% level")
    zeta = -np.log(draws)[None, :]
    assert result.ad.p_value == next(p_values(zeta, broad)), "the size test measures what compare does"
    assert result.ks.p_value == pytest.approx(stats.kstest(zeta[0], broad.cdf).pvalue, rel=1e-9)
    assert result.effective_size == 2000 and result.outside == 0 and result.notes == ()
    assert result.envelope is not None and result.envelope.inside
    assert result.tail is not None
    for fit in (result.tail.hill, result.tail.likelihood):
        assert fit is not None and fit.p_value > 0.01 and fit.low < fit.expected < fit.high


def test_tau_and_zeta_are_the_same_sample(broad: Any, draws: np.ndarray) -> None:
    tau, zeta = compare(draws, broad), compare(-np.log(draws), broad, kind="zeta")
    assert tau.to_dict() == zeta.to_dict()
    sorted_once = compare(Samples.from_values(draws), broad)
    assert sorted_once.ad == tau.ad


def test_finite_window_bias_is_known_to_the_density(normal: Any) -> None:
    """Normal ζ: the mean excess over z is φ(z)/Q(z) - z, Mills' ratio: no exponent, but a Hill value to expect."""
    for z in (0.0, 1.0, 3.0, 6.0):
        mean = math.exp(stats.norm.logpdf(z) - stats.norm.logsf(z)) - z
        excess = expected_excess(normal, -z)
        assert excess.mean == pytest.approx(mean, rel=1e-7)  # the density's own rtol is 1e-8
        assert excess.variance == pytest.approx(1 - mean * (mean + z), rel=1e-6)
    window = expected_excess(normal, -1.0, -2.0)
    exact = stats.truncnorm(1.0, 2.0)
    assert window.mean == pytest.approx(exact.mean() - 1, rel=1e-7)
    assert window.variance == pytest.approx(exact.var(), rel=1e-6)


def test_tail_bands_cover(normal: Any, broad: Any) -> None:
    """Both p-values are uniform where the law is right, also for a law without a power tail: and is not for another."""
    for density in (normal, broad):
        zeta = np.sort(density.rvs((40, 400), random_state=21), axis=1)
        tails = [fit_tail(row, np.ones(400), density) for row in zeta]
        found = np.array([[tail.hill.p_value, tail.likelihood.p_value] for tail in tails if tail and tail.likelihood])
        assert found.shape == (40, 2)
        assert (np.sum(found < 0.05, axis=0) <= 6).all()  # of 40: 2 expected, more than 6 with probability 0.3%
        assert (0.36 < found.mean(axis=0)).all() and (found.mean(axis=0) < 0.64).all()  # 0.5 ± 3 · 0.046
    other = fit_tail(zeta[0], np.ones(400), normal)
    assert other is not None and other.hill.p_value < 1e-6


def test_tails_without_a_mean_are_said_to_have_none() -> None:
    """λ = 0 with α = 1.5 under a plateau: ρ falls like |ζ|^{-1.5}, and no mean of ln τ exists."""
    jumps = TemperedStableJumps(intensity=0.4, stability=1.5, tempering=0.0)
    model = replace(load_preset("broad"), jumps=jumps)
    density = solve_stationary(model, rtol=1e-5)
    result = compare(density.rvs(300, random_state=1), density, kind="zeta")
    assert result.tail is not None and math.isnan(result.tail.hill.p_value)
    assert "nothing finite to expect" in " ".join(result.text().split())
    assert strict(result)["tail"]["hill"]["expected"] is None


def test_the_truncated_exponential() -> None:
    for b, width in ((-3.0, 2.0), (1e-5, 1.0), (0.4, 6.0), (50.0, 3.0)):
        x = b * width
        mean = width * (1 / x - 1 / math.expm1(x)) if abs(x) > 1e-4 else width * (0.5 - x / 12)
        assert truncated_exponent(mean, width) == pytest.approx(b, rel=1e-8, abs=1e-9)
    assert truncated_exponent(1e-9, 1.0) == math.inf and truncated_exponent(1.0, 1.0) == -math.inf


def test_the_envelope_band_covers_all_lags_at_once(broad: Any) -> None:
    """The band holds f at every lag in 95% of samples: measured 97%, 95% (of 300, n = 128, 2000)."""
    zeta, random = broad.rvs((25, 300), random_state=31), np.random.default_rng(0)
    bands = [envelope_band(row, np.ones(300), broad, random, resamples=200) for row in zeta]
    assert sum(band is not None and band.inside for band in bands) >= 20  # fewer with probability 0.1%


def test_the_envelope_of_a_chain_has_a_wider_band(normal: Any) -> None:
    rng = np.random.default_rng(5)
    draws = np.repeat(rng.normal(size=300), 10)
    alone = compare(draws, normal, kind="zeta")
    chain = compare(draws, normal, kind="zeta", autocorrelation=10)
    assert chain.effective_size == 300 and chain.autocorrelation == 10
    assert alone.envelope and chain.envelope
    ratio = np.mean((chain.envelope.high - chain.envelope.low) / (alone.envelope.high - alone.envelope.low)[0])
    assert ratio > 2  # √10 = 3.2 at the same lag
    assert "10" in chain.text() and any("repeat another" in note for note in chain.notes)
    estimated = compare(draws, normal, kind="zeta", autocorrelation="estimate")
    assert 8 < estimated.autocorrelation < 13
    assert not alone.consistent and chain.consistent, "taken as independent, ten copies of each value look wrong"


def test_weights_enter_as_kish_says(normal: Any) -> None:
    rng = np.random.default_rng(8)
    zeta, weights = rng.normal(size=500), rng.exponential(size=500)
    result = compare(zeta, normal, kind="zeta", weights=weights)
    assert result.effective_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert result.consistent and "unequal weights" in result.text()
    given = compare(zeta, normal, kind="zeta", weights=weights, effective_size=100)
    assert given.effective_size == 100 and given.ad.value == pytest.approx(
        result.ad.value * 100 / result.effective_size
    )
    with pytest.raises(ModelError, match="effective_size = 900"):
        compare(zeta, normal, kind="zeta", effective_size=900)


def test_importance_weights_bring_a_wrong_sample_home(normal: Any) -> None:
    """Draws of N(0.3, 1) are rejected; weighted by the ratio of densities they are not, or the weights do nothing."""
    zeta = np.random.default_rng(9).normal(0.3, 1.0, 1500)
    assert not compare(zeta, normal, kind="zeta").consistent
    assert compare(zeta, normal, kind="zeta", weights=np.exp(-0.3 * zeta)).consistent


def test_what_cannot_be_used_is_counted(broad: Any, draws: np.ndarray) -> None:
    dirty = np.concatenate([draws, [np.nan, np.inf, -np.inf, 0.0, -3.0]])
    result = compare(dirty, broad, weights=np.concatenate([np.ones(1999), [0.0], np.ones(5)]))
    plain = result.to_dict()["samples"]
    assert (plain["nan"], plain["infinite"], plain["not_positive"], plain["weightless"]) == (1, 2, 2, 1)
    assert plain["used"] == 1999
    assert any("5 of 2005 values could not be used" in note for note in result.notes)
    assert "1 of weight 0" in result.text(200) and "log rates" not in result.text(200)


def test_log_rates_taken_for_time_scales_are_suspected(broad: Any, draws: np.ndarray) -> None:
    """What `zetafp simulate` writes is ζ; half of it is no time scale."""
    assert "If they are log rates ζ rather than τ, say so: kind zeta." in compare(-np.log(draws), broad).text(200)


def test_values_outside_the_support_decide() -> None:
    model = Model(LinearDrift(1.0, 0.0), 1.0, None)
    density = solve_stationary(model, grid=Grid(left=-6.0, right=6.0, nodes=241, edges=("stop", "stop")))
    result = compare(np.append(np.random.default_rng(1).normal(size=400), [-7.0, 6.5]), density, kind="zeta")
    assert not result.consistent and result.outside == 2 and result.ad.p_value == 0
    assert result.verdict == "Not consistent: some values have probability zero."
    assert any("2 values lie outside the support ζ = -6 … 6" in note for note in result.notes)
    assert strict(result)["anderson_darling"]["value"] is None


def test_extreme_and_degenerate_samples(broad: Any, normal: Any) -> None:
    assert not compare([1e300, 1.0, 2.0] * 10, broad).consistent
    single = compare([1.0], broad)
    assert single.consistent and single.tail is None and single.envelope is None and "small" in single.text()
    equal = compare(np.full(100, 2.0), broad)
    assert not equal.consistent and equal.envelope is None and equal.measured.repeated == 99
    assert equal.tail is not None and equal.tail.hill.exponent == math.inf
    strict(equal)
    assert not compare([50.0] * 3, normal, kind="zeta").consistent


def test_the_verdict_says_in_which_direction(normal: Any) -> None:
    z = np.random.default_rng(3).normal(size=1000)
    for changed, word in ((z - 1, "slower"), (z + 1, "faster"), (2 * z, "wider"), (z / 2, "narrower")):
        assert f"the sample is {word}" in compare(changed, normal, kind="zeta").verdict
    tails = np.where(abs(z) > 1.5, z + np.sign(z), z)
    assert "shape or the tails" in compare(tails, normal, kind="zeta").verdict


def test_a_fitted_law_needs_its_fit_again(normal: Any) -> None:
    """Normal law fitted by mean and variance to one sample: the plain p is too large, the refitted one uniform."""

    class Fitted:
        """A normal law in closed form, in place of a solve."""

        def __init__(self, z: np.ndarray) -> None:
            self.law = stats.norm(z.mean(), z.std())

        def logcdf(self, z: np.ndarray) -> np.ndarray:
            return np.asarray(self.law.logcdf(z))

        def logsf(self, z: np.ndarray) -> np.ndarray:
            return np.asarray(self.law.logsf(z))

    plain, refitted = [], []
    for seed in range(6):
        z = np.random.default_rng(seed).normal(size=100)
        z = (z - z.mean()) / z.std()  # the standard normal law is the one fitted to it
        plain.append(compare(z, normal, kind="zeta").ad.p_value)
        again = compare(z, normal, kind="zeta", fitted=True, fit=Fitted, replicates=39, seed=seed)  # type: ignore[arg-type]
        refitted.append(again.ad.p_value)
        assert again.fitted and "by refitting" in again.text()
    assert min(plain) > 0.3, "no fitted law is ever rejected"
    assert 0.2 < np.mean(refitted) < 0.8 and min(refitted) < 0.3
    with pytest.raises(ModelError, match="fit has to be repeated"):
        compare(z, normal, kind="zeta", fitted=True)
    with pytest.raises(ModelError, match="without fitted"):
        compare(z, normal, kind="zeta", fit=Fitted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"kind": "rate"}, ModelError, "kind = 'rate'"),
        ({"level": 0.0}, ModelError, r"level = 0.0: must lie in \(0, 1\)"),
        ({"weights": [1.0]}, SamplesError, "1 weights for 3 values"),
        ({"weights": [1.0, -1.0, 1.0]}, SamplesError, r"weights\[1\] = -1"),
        ({"weights": [0.0, 0.0, 0.0]}, SamplesError, "weight 0"),
        ({"autocorrelation": "guess"}, ModelError, "autocorrelation = 'guess'"),
        ({"autocorrelation": 0.5}, ModelError, "autocorrelation = 0.5"),
        ({"autocorrelation": "estimate"}, SamplesError, "3 values"),
    ],
)
def test_bad_arguments(normal: Any, words: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare([1.0, 2.0, 3.0], normal, **words)


def test_bad_samples(normal: Any) -> None:
    with pytest.raises(SamplesError, match="no usable value"):
        compare([np.nan, np.nan], normal)
    with pytest.raises(ModelError, match=r"density = Model\(.*: must be a StationaryDensity"):
        compare([1.0], normal.model)
    measured = Measured.from_values([1.0, 2.0])
    with pytest.raises(ModelError, match="twice"):
        compare(measured, normal, weights=[1.0, 1.0])
    with pytest.raises(ModelError, match="sorted"):
        compare(measured.samples, normal, weights=[1.0, 1.0])


def test_reading(tmp_path: Path) -> None:
    table = tmp_path / "run.csv"
    table.write_text("unit,tau,Mass\n1,2.5,1\n2,nan,1\n3,4.0,3\n")
    read = read_measured(table, weights="mass")
    assert read.zeta == pytest.approx(-np.log([2.5, 4.0])) and list(read.weights) == [1, 3] and read.samples.nan == 1
    assert read_measured(table, "zeta", column="UNIT").zeta == pytest.approx([1, 2, 3])
    with pytest.raises(
        SamplesError, match="no column or array 'tua'; it has 'unit', 'tau', 'Mass'; did you mean 'tau'"
    ):
        read_measured(table, column="tua")
    np.savez(tmp_path / "run.npz", tau=[1.0, 2.0], w=[1.0, 2.0])
    assert list(read_measured(tmp_path / "run.npz", weights="w").weights) == [1, 2]
    np.savetxt(tmp_path / "weights.txt", [5.0, 6.0, 7.0])
    assert list(read_measured(table, weights=tmp_path / "weights.txt").weights) == [5, 7]
    (tmp_path / "plain.txt").write_text("1.0\n2.0\n")
    with pytest.raises(SamplesError, match="it names none"):
        read_measured(tmp_path / "plain.txt", column="tau")
    with pytest.raises(SamplesError, match=r"none\.npy: cannot be read"):
        read_measured(tmp_path / "none.npy")


def test_reading_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(SamplesError, match=r"no file ckpt_NNNN_taus\.npy"):
        read_measured(tmp_path)
    for epoch in (4, 16, 120):
        np.save(tmp_path / f"ckpt_{epoch:04d}_taus.npy", np.full(3, float(epoch)))
    (tmp_path / "ckpt_9999_taus.txt").write_text("1")
    assert read_measured(tmp_path).zeta == pytest.approx(-np.log([120.0] * 3))
    assert read_measured(tmp_path, checkpoint=4).samples.path.endswith("ckpt_0004_taus.npy")
    with pytest.raises(SamplesError, match="no checkpoint 17; there are 3, from 4 to 120, the nearest is 16"):
        read_measured(tmp_path, checkpoint=17)
    with pytest.raises(SamplesError, match="holds τ"):
        read_measured(tmp_path, "zeta")
    with pytest.raises(SamplesError, match="is for a folder"):
        read_measured(tmp_path / "ckpt_0004_taus.npy", checkpoint=4)


def strict(result: Any) -> Any:
    """The dictionary through JSON without the words NaN and Infinity."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(to_json(result.to_dict()), parse_constant=refuse)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_text_keeps_to_its_width(broad: Any, width: int) -> None:
    result = compare(read_samples(DATA / "diag_0240_taus.npy"), broad)
    text = result.text(width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("Anderson–Darling") == 1 and "verdict" in text
    # the words are the same at every width; a long path may be cut where the line ends
    assert "".join(text.split()) == "".join(result.text(200).split())
    assert set(strict(result)) >= {"consistent", "verdict", "anderson_darling", "tail", "envelope", "pit", "notes"}


def test_a_model_with_a_function_is_described_all_the_same() -> None:
    model = Model(CallableDrift(lambda z: -np.tanh(z), left=1.0, right=1.0, scale=1.0), 0.5, None)
    density = solve_stationary(model, rtol=1e-6)
    assert "CallableDrift" in compare(density.rvs(50, random_state=1), density, kind="zeta").text()


def test_measured_networks(broad: Any) -> None:
    """The shared gate is far too narrow for any preset; the frozen gates are log-normal."""
    shared = compare(DATA / "shared_0240_taus.npy", broad)
    assert not shared.consistent and shared.ad.p_value < 1e-20
    frozen = read_measured(DATA / "const_0160_taus.npy")
    law = Model(LinearDrift(1.0, float(frozen.zeta.mean())), float(frozen.zeta.var()), None)
    result = compare(frozen, solve_stationary(law, rtol=1e-6))
    assert result.consistent and result.ad.value < 0.75  # 5% point for a normal law with both parameters fitted: 0.752


def test_one_value_far_from_all_others(broad: Any) -> None:
    """All but one of the tail's values then pile up at an end of the window, which holds no exponent."""
    zeta = broad.rvs(100, random_state=0)
    for far in (-700.0, -1e6):
        result = compare(np.append(zeta, far), broad, "zeta")
        assert not result.consistent or far > -1e4
        assert str(far)[:4] in result.text() or "Hill" in result.text()
