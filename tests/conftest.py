"""What several test modules need: two solutions, each solved once per run, and a quiet terminal."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

# Matrices of 64 nodes are too small to share: more threads cost time (measured: 3 to 5 times), and on a machine that is
# busy much more. Set before numpy is imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A shell that starts the tests in the background, or under nohup, has them ignore signals, and the commands they start
# with them: what a user's Ctrl-C does could not be seen.
if threading.current_thread() is threading.main_thread():
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
            signal.signal(getattr(signal, name), handler)

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Printed text must not depend on the terminal the tests are started from."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(scope="session")
def baseline() -> Any:
    """The model all quoted numbers belong to: β = 1.2673600490625978, concentrated."""
    from solver.drifts import TanhDrift
    from solver.jumps import TemperedStableJumps
    from solver.model import Model

    jumps = TemperedStableJumps(intensity=0.4, stability=1.5, tempering=2.2)
    return Model(drift=TanhDrift(plateau=1.0, center=0.0, width=1.0), diffusion=0.3, jumps=jumps)


@pytest.fixture(scope="session")
def baseline_density(baseline: Any) -> Any:
    """The stationary density of the baseline, at the default accuracy."""
    from solver.stationary import solve_stationary

    return solve_stationary(baseline)


@pytest.fixture(scope="session")
def below_density() -> Any:
    """A model below its threshold (no root): its tail is pinned at λ = 1."""
    from solver.drifts import TanhDrift
    from solver.jumps import TemperedStableJumps
    from solver.model import Model
    from solver.stationary import solve_stationary

    jumps = TemperedStableJumps(intensity=0.2, stability=0.5, tempering=1.0)
    drift = TanhDrift(plateau=1.0, center=0.0, width=1.0)
    return solve_stationary(Model(drift=drift, diffusion=0.1, jumps=jumps))
