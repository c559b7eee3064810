"""Measured spectra: every value is used or counted, and a bad file says where it is bad."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from solver.samples import MAX_BINS, Samples, SamplesError, read_samples

DATA = ROOT / "tests" / "data"


def test_trained_spectrum_is_read_whole() -> None:
    samples = read_samples(DATA / "diag_0240_taus.npy")
    tau = np.exp(-samples.zeta)
    assert (samples.zeta.size, samples.dropped) == (128, 0)
    assert tau.max() == pytest.approx(1535.1684799504392, rel=1e-13)
    assert tau.min() == pytest.approx(2.169016554382271, rel=1e-13)
    assert np.all(np.diff(samples.zeta) >= 0)


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".npy"])
def test_unusable_values_are_counted_not_dropped_in_silence(tmp_path: Path, suffix: str) -> None:
    values = [3.0, float("nan"), float("inf"), -2.0, 0.0, 5.0, float("-inf")]
    path = tmp_path / f"taus{suffix}"
    if suffix == ".npy":
        np.save(path, values)
    else:
        path.write_text("\n".join(map(str, values)) + "\n")
    samples = read_samples(path)
    assert np.exp(-samples.zeta) == pytest.approx([5.0, 3.0])
    assert (samples.nan, samples.infinite, samples.not_positive) == (1, 2, 2)
    assert samples.describe() == "2 used, 5 not used: 1 NaN, 2 infinite, 2 not positive"


def test_zeta_may_be_negative() -> None:
    samples = Samples.from_values([[-1.0, 2.0], [0.0, np.nan]], kind="zeta")
    assert samples.zeta.tolist() == [-1.0, 0.0, 2.0]
    assert (samples.nan, samples.not_positive) == (1, 0)


def test_a_column_is_found_by_its_heading(tmp_path: Path) -> None:
    path = tmp_path / "spectrum.csv"
    path.write_text("﻿unit, tau, epoch\n0, 2.5, 240\n1, 7.5, 240  # slow\n\n", encoding="utf-8")
    assert np.exp(-read_samples(path).zeta) == pytest.approx([7.5, 2.5])


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.csv", "tau\n1.0\nfast\n", "a.csv, line 3: 'fast' is not a number"),
        ("a.csv", "tau\n1.0\n2.0,3.0\n", "a.csv, line 3: 2 values where the first line has 1"),
        ("a.csv", "unit,tau\n0,1.0\n1,\n", "a.csv, line 3: '' is not a number"),
        ("a.txt", "1.0 2.0\n", "a.txt, line 1: 2 columns instead of one number a line or a heading 'tau'"),
        (
            "a.txt",
            "# nothing\nzeta\n1.0\n",
            "a.txt, line 2: 'zeta' instead of one number a line or a heading 'tau'",
        ),
        ("a.txt", "# nothing\n\n", "a.txt: no values in the file"),
        ("a.txt", "tau\n", "a.txt: no usable value"),
        ("a.txt", "nan\n-1\n", "a.txt: no usable value (0 used, 2 not used: 1 NaN, 1 not positive)"),
        ("a.dat", "1.0\n", "a.dat: the format is told from the suffix"),
        ("a.npy", "1.0\n", "a.npy: not a readable .npy array"),
    ],
)
def test_a_bad_file_says_where_and_what(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SamplesError) as caught:
        read_samples(path)
    assert complaint in str(caught.value)


def test_arrays_of_other_things_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    np.save(tmp_path / "complex.npy", np.array([1j]))
    np.save(tmp_path / "objects.npy", np.array([None, 1.0], dtype=object))
    np.savez(tmp_path / "several.npz", a=np.ones(3))
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    for name in ("words.npy", "complex.npy", "objects.npy", "several.npy", "binary.txt"):
        with pytest.raises(SamplesError, match=name):
            read_samples(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_samples(tmp_path / "missing.npy")
    with pytest.raises(SamplesError, match="kind must be"):
        Samples.from_values([1.0], kind="rate")  # type: ignore[arg-type]


def test_the_histogram_is_a_density_with_poisson_bars() -> None:
    samples = read_samples(DATA / "diag_0240_taus.npy")
    hist = samples.histogram()
    assert hist.density @ np.diff(hist.edges) == pytest.approx(1.0, rel=1e-14)
    assert hist.counts.sum() == 128
    assert hist.centres.shape == hist.density.shape
    # the same interval by its textbook form with chi-squared quantiles (Garwood 1936)
    scale = 1 / (128 * np.diff(hist.edges))
    tail = 0.15865525393145707
    full = hist.counts > 0
    assert hist.low[full] == pytest.approx((0.5 * chi2.ppf(tail, 2 * hist.counts) * scale)[full], rel=1e-12)
    assert hist.high == pytest.approx(0.5 * chi2.ppf(1 - tail, 2 * hist.counts + 2) * scale, rel=1e-12)
    assert np.all(hist.low[~full] == 0)


@pytest.mark.parametrize(
    ("values", "most"),
    [
        ([2.0], 1),
        ([2.0, 2.0, 2.0], 3),
        ([1e-300, 1.0, 1.0, 1.0, 1.0, 1e300], 6),
        (np.geomspace(1, 2, 999), 60),
    ],
)
def test_bins_stay_readable(values: list[float], most: int) -> None:
    hist = Samples.from_values(values).histogram()
    assert 1 <= hist.counts.size <= min(most, MAX_BINS)
    assert hist.counts.sum() == len(values)


@given(st.lists(st.floats(-40, 40), min_size=1, max_size=30), st.floats(-60, 60))
def test_the_envelope_is_the_mean_of_exponentials(zeta: list[float], log_lag: float) -> None:
    samples = Samples.from_values(zeta, kind="zeta")
    value = float(samples.log_envelope(log_lag))
    # logarithm of the mean through its largest term, which is the slowest unit's
    slowest = np.exp(log_lag + min(zeta))
    rest = np.mean(np.exp(slowest - np.exp(log_lag + np.array(zeta))))
    assert value == pytest.approx(float(-slowest + np.log(rest)), rel=1e-9, abs=1e-9)


def test_the_envelope_does_not_overflow() -> None:
    samples = Samples.from_values([800.0, 900.0], kind="zeta")
    assert samples.log_envelope([[0.0, -2000.0]]).tolist() == [[-np.inf, 0.0]]
