"""Where the command `zetafp` starts: a guard, and behind it everything else.

The catch is the first second, which goes into imports: an impatient Ctrl-C must get one line and status 130 then, too.
So nothing is imported up here; the verbs are in `validation.verbs`.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the command `zetafp`."""
    try:
        from solver.terminal import INTERRUPTED, Interrupted, prepare_streams
        from validation.verbs import app

        prepare_streams()
        try:
            app(prog_name="zetafp")
        except SystemExit as leaving:
            if leaving.code == INTERRUPTED and not isinstance(leaving, Interrupted):
                raise KeyboardInterrupt from None
            raise
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("zetafp: interrupted; nothing was written", file=sys.stderr)
        raise SystemExit(130) from None
