"""`python -m validation [--slow] [--out FOLDER]`: run every study, write the page, say by the exit status how it went.

Without --slow it takes a minute on one core; with it Monte Carlo draws a million effective samples of each preset.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from validation.report import run
from validation.report_page import write_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main(arguments: list[str] | None = None) -> int:
    """0 when every bound is kept, 1 when one is missed, 2 for bad arguments."""
    parser = argparse.ArgumentParser(prog="python -m validation", description="Put the solver to the test.")
    parser.add_argument("--slow", action="store_true", help="a million effective Monte Carlo samples of each preset")
    parser.add_argument("--no-monte-carlo", action="store_true", help="exact cases and refinements only")
    parser.add_argument("--out", type=Path, help="folder for validation.md and its figure (with --slow: docs)")
    options = parser.parse_args(arguments)
    report = run(slow=options.slow, monte_carlo=not options.no_monte_carlo)
    folder = options.out or (DOCS if options.slow else None)  # a quick run does not replace the page of a slow one
    if folder is not None:
        print(f"\nwrote {write_page(report, folder)}")
    print("all bounds are kept" if report.passed else f"MISSED: {', '.join(report.missed)}")
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
