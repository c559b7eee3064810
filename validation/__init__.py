"""Studies that put the solver to the test: it imports `solver`, never the reverse.

The public names are here. The catch: the command `zetafp` imports this package before it can answer anything, so each
name is fetched from its module when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from validation.comparison import compare
    from validation.measured import read_measured
    from validation.monte_carlo import sample_stationary, simulate, step_bias
    from validation.networks.calibrate import calibrate
    from validation.networks.reading import read_run
    from validation.preset_study import monte_carlo_study

_MODULES = {
    "calibrate": "networks.calibrate",
    "compare": "comparison",
    "monte_carlo_study": "preset_study",
    "read_measured": "measured",
    "read_run": "networks.reading",
    "sample_stationary": "monte_carlo",
    "simulate": "monte_carlo",
    "step_bias": "monte_carlo",
}

__all__ = [
    "calibrate",
    "compare",
    "monte_carlo_study",
    "read_measured",
    "read_run",
    "sample_stationary",
    "simulate",
    "step_bias",
]


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
