"""`python -m validation.networks [--runs N] [--large N] [--page FILE]`: the recovery study, into docs/validation.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from validation.networks.recovery import PHASES, study, table, undone, undone_table
from validation.networks.recovery_page import section, write_section

# Presets whose steps are taken at long intervals.
LONG = ("pure-diffusion", "concentrated", "broad")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Calibrate simulated runs of known models, and write how well it went."
    )
    parser.add_argument("--runs", type=int, default=50, help="runs of 200 units x 400 steps, of each model")
    parser.add_argument("--large", type=int, default=3, help="runs of 2000 units x 2000 steps, of each model")
    parser.add_argument("--page", type=Path, default=Path("docs") / "validation.md")
    parser.add_argument("--jobs", type=int, default=1, help="processes; they do not change the numbers")
    given = parser.parse_args()
    small, large = [], []
    for preset in PHASES:
        rows = study(preset, 200, 400, given.runs, first_seed=100, jobs=given.jobs)
        print(table(rows), flush=True)
        small += rows
    for preset in PHASES if given.large else ():
        rows = study(preset, 2000, 2000, given.large, first_seed=500, jobs=given.jobs)
        print(table(rows), flush=True)
        large += rows
    long = [undone(preset, 200, 400, interval, 4) for preset in LONG for interval in (0.25, 0.5, 1.0)]
    print(undone_table(long))
    write_section(given.page, section(small, large, long))
