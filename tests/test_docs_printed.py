"""The README shows what its first command prints; here the two are held together.

Words must agree. Numbers agree to three digits, except where they measure rounding (below 1e-8 both times) or time.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from test_docs import blocks
from typer.testing import CliRunner

from solver import Model, TanhDrift, TemperedStableJumps, solve_stationary, tail_theory

DIGITS = 2e-3  # what is shown may be cut rather than rounded
ROUNDING = 1e-8  # the accuracy that is asked for; errors below it differ between processors
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
SECONDS = re.compile(r"\d+\.\d+ s\b")


def differences(shown: str, printed: str) -> list[tuple[str, str]]:
    """Pairs of words that do not agree."""
    words = [SECONDS.sub("some s", text).split() for text in (shown, printed)]
    return [(a, b) for a, b in zip_longest(*words, fillvalue="") if not _agree(a, b)]


def _agree(a: str, b: str) -> bool:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = [(float(x), float(y)) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)]
    return all(max(abs(x), abs(y)) < ROUNDING or abs(x - y) <= DIGITS * abs(y) for x, y in pairs)


def result_of_the_readme() -> str:
    (shown,) = blocks(ROOT / "README.md", "text")
    return shown


def test_the_readme_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from validation.verbs import app

    command = re.search(r"zetafp (solve .*)$", blocks(ROOT / "README.md", "bash")[0], re.MULTILINE)
    assert command
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, command[1].split())
    assert result.exit_code == 0
    assert differences(result_of_the_readme(), result.output) == []
    assert {path.name for path in (tmp_path / "broad").iterdir()} >= {"summary.json", "figure.png"}


@pytest.mark.parametrize("alpha", [0.5, 1.5])
def test_the_theory_quotes_how_slowly_a_pinned_tail_is_reached(alpha: float) -> None:
    """Section 4: ρ over its leading law at four depths, to the four decimals that are shown."""
    text = " ".join((ROOT / "docs" / "theory.md").read_text(encoding="utf-8").split())
    numbers = re.search(rf"((?:\d\.\d{{4}},? )+)for α = {alpha}", text)
    assert numbers and "ζ = -100, -300, -1000, -2500" in text
    density = solve_stationary(Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.2, alpha, 1.0)))
    s = np.array([100.0, 300.0, 1000.0, 2500.0])
    law = tail_theory(density).log_constant - s - (1 + alpha) * np.log(s)
    ratio = np.exp(density.logpdf(-s) - law)
    assert np.allclose([float(word.rstrip(",")) for word in numbers[1].split()], ratio, rtol=0, atol=5.1e-5)


@pytest.mark.parametrize(("old", "new"), [("0.42", "0.43"), ("broad", "narrow"), ("313 nodes", ""), ("5e-09", "5e-07")])
def test_a_stale_result_is_seen(old: str, new: str) -> None:
    shown = result_of_the_readme()
    assert old in shown
    assert differences(shown.replace(old, new), shown) != []
