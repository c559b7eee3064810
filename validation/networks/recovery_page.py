"""The recovery study as a section of docs/validation.md: `python -m validation.networks` runs it and writes it there.

The catch is time: an hour for fifty small runs of each phase on one core, two minutes for each large one. So it is not
part of `python -m validation --slow`, which leaves the section as it finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from solver.files import write_text
from validation.networks.recovery import INTERVAL, Row, Undone, table, undone_table

MARK = "## Recovery of calibrated models"
# Coverage of a 90% interval that is accepted, as fractions.
LEAST, MOST = 0.80, 0.97


def section(small: Sequence[Row], large: Sequence[Row] = (), long: Sequence[Undone] = ()) -> str:
    """The section in Markdown: coverage in the small case, error of the exponents in the large one, long intervals."""
    pooled = float(np.average([row.covered for row in small], weights=[row.runs for row in small]))
    outside = [
        f"{row.preset} {row.name} ({100 * row.covered:.0f}%)" for row in small if not LEAST <= row.covered <= MOST
    ]
    verdict = "all rows are" if not outside else "outside: " + ", ".join(outside)
    parts = [
        f"{MARK}\n",
        "Written by `python -m validation.networks`. Trajectories are simulated from presets, in steps of an eighth of",
        f"their interval ({INTERVAL:g}), and calibrated. `covered` is the share of runs whose 90% interval holds the",
        "truth; errors are relative, absolute where the truth is 0. `tail_exponent` is β, or λ where there is none.\n",
        f"**200 units x 400 steps.** All parameters together: {100 * pooled:.0f}%. Wanted: {100 * LEAST:.0f} to "
        f"{100 * MOST:.0f}% each; {verdict}.\n",
        table(small) + "\n",
    ]
    if large:
        parts += ["**2000 units x 2000 steps.** β must be within 10%.\n", table(large) + "\n"]
    if long:
        parts += [
            "**Long intervals.** 200 units x 400 steps, 4 runs; mean relative errors as the splitting has them → with",
            "its bias taken off (mean ± its standard error). The drift's steepest slope is 1, so that the interval is",
            "interval times slope. A run whose bias could not be taken off (`coarse`) counts as it is.\n",
            undone_table(long) + "\n",
        ]
    return "\n".join(parts)


def kept(page: Path) -> str:
    """The section of an existing page, or nothing."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return text[text.index(MARK) :] if MARK in text else ""


def write_section(page: Path, text: str) -> None:
    """Put the section at the end of a page, in place of an earlier one."""
    before = page.read_text(encoding="utf-8")
    write_text(page, before.removesuffix(kept(page)).rstrip() + "\n\n" + text.rstrip() + "\n")
