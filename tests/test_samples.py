"""Measured spectra: every value is used or counted, and a bad file says where it is bad."""

from __future__ import annotations

import time
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
    "text",
    [
        "2.5\n7.5\n",
        "tau\n2.5\n7.5\n",
        '"tau"\n2.5\n7.5\n',
        '"tau"\n"2.5"\n"7.5"\n',
        "TAU  # in steps\n2.5\n\n7.5 # slow\n",
        '"unit";"tau"\n0;2.5\n1;7.5\n',
        "unit\ttau\n0\t2.5\n1\t7.5\n",
        '"the unit"   "tau"\n0   2.5\n1   7.5\n',
        "tau,\r\n2.5,\r\n7.5,\r\n",
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".TXT"])
def test_text_comes_in_many_dresses(tmp_path: Path, text: str, suffix: str) -> None:
    path = tmp_path / f"taus{suffix}"
    path.write_bytes(text.encode())
    assert np.exp(-read_samples(path).zeta) == pytest.approx([7.5, 2.5])


def test_an_archive_holds_one_array_or_says_which(tmp_path: Path) -> None:
    path, tau = tmp_path / "spectrum.npz", np.array([[2.5], [7.5]])
    np.savez(path, anything=tau)
    assert np.exp(-read_samples(path).zeta) == pytest.approx([7.5, 2.5])
    np.savez_compressed(path, other=np.ones(3), tau=tau, zeta=[1.0])
    assert np.exp(-read_samples(path).zeta) == pytest.approx([7.5, 2.5])
    assert read_samples(path, "zeta").zeta.tolist() == [1.0]
    np.savez(path, first=tau, second=tau)
    with pytest.raises(SamplesError, match=r"spectrum\.npz: no array named 'tau'; it holds 'first', 'second'"):
        read_samples(path)
    np.savez(path, zeta=tau)
    with pytest.raises(SamplesError, match="no array named 'tau'; it holds 'zeta'"):
        read_samples(path)
    np.savez(path)
    with pytest.raises(SamplesError, match="it holds none"):
        read_samples(path)


def test_a_long_file_is_read_in_time(tmp_path: Path) -> None:
    values = np.random.default_rng(1).lognormal(size=300_000)
    path = tmp_path / "long.csv"
    path.write_text('"tau"\n' + "\n".join(map(repr, values.tolist())))
    started = time.process_time()
    samples = read_samples(path)
    assert samples.zeta.size == values.size
    assert time.process_time() - started < 2.0  # 0.2 s; cell by cell it is 2.5 s and more


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
        ("a.npy", "1.0\n", "a.npy: not a readable .npy file of numbers, or a damaged one"),
        ("a.npz", "PK but no more", "a.npz: not a readable .npz file of numbers, or a damaged one"),
        ("a.csv", "tau,x,tau\n1,2,3\n", "a.csv, line 1: 2 columns are headed 'tau'"),
        ("a.csv", "tau;x\n1,5;2,5\n", "a.csv, line 2: '1,5' is not a number"),
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
    np.savez(tmp_path / "objects.npz", tau=np.array([None, 1.0], dtype=object))
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    whole = (DATA / "diag_0240_taus.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-9])
    for name in ("words.npy", "complex.npy", "objects.npy", "objects.npz", "cut.npy", "binary.txt"):
        with pytest.raises(SamplesError, match=name) as caught:
            read_samples(tmp_path / name)
        assert "pickle" not in str(caught.value), "numpy advises to run what is in the file"
    with pytest.raises(SamplesError, match=r"missing\.npy: cannot be read: No such file"):
        read_samples(tmp_path / "missing.npy")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(SamplesError, match=r"folder\.csv: cannot be read: Is a directory"):
        read_samples(tmp_path / "folder.csv")
    with pytest.raises(SamplesError, match="kind must be"):
        read_samples(DATA / "diag_0240_taus.npy", "rate")  # type: ignore[arg-type]
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


def test_many_samples_are_averaged_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    zeta = np.random.default_rng(3).normal(size=1000)
    lags = np.linspace(-3.0, 3.0, 21).reshape(3, 7)
    sampled = Samples.from_values(zeta, "zeta")
    whole = sampled.log_envelope(lags)
    monkeypatch.setattr("solver.samples.LARGEST_TABLE", 4000)
    assert np.array_equal(sampled.log_envelope(lags), whole) and whole.shape == (3, 7)
    assert sampled.log_envelope([]).shape == (0,) and sampled.log_envelope(0.5).shape == ()
