"""Where the command `zetafp` starts: a guard, and behind it everything else.

The catch is the first second, which goes into imports: an impatient Ctrl-C must get one line and status 130 then, too.
So nothing is imported up here; the verbs are in `validation.verbs`. Whoever ends the command otherwise (`kill`,
`timeout`, a closed terminal) is answered in the same way, or half-written files and worker processes would stay behind.
"""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Entry point of the command `zetafp`."""
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP, and `nohup` ignores it
        ending = getattr(signal, name, None)
        if ending is not None and signal.getsignal(ending) == signal.SIG_DFL:
            signal.signal(ending, signal.default_int_handler)
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
    except OSError as problem:  # what no verb has met: `--help > /dev/full`
        if sys.stderr is not None:
            print(f"zetafp: the output cannot be written: {problem.strerror or problem}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("zetafp: interrupted; nothing was written", file=sys.stderr)
        raise SystemExit(130) from None
