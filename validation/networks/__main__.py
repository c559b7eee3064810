"""`python -m validation.networks [--runs N] [--large N] [--page FILE]`: the recovery study, into docs/validation.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from validation.networks.recovery import PHASES, study
from validation.networks.recovery_page import section, write_section

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Calibrate simulated runs of known models, and write how well it went."
    )
    parser.add_argument("--runs", type=int, default=50, help="runs of 200 units x 400 steps, of each model")
    parser.add_argument("--large", type=int, default=3, help="runs of 2000 units x 2000 steps, of each model")
    parser.add_argument("--page", type=Path, default=Path("docs") / "validation.md")
    given = parser.parse_args()
    small = [row for preset in PHASES for row in study(preset, 200, 400, given.runs, first_seed=100)]
    large = (
        [row for preset in PHASES for row in study(preset, 2000, 2000, given.large, first_seed=500)]
        if given.large
        else []
    )
    write_section(given.page, section(small, large))
    print(section(small, large))
