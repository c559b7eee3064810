"""Every drift under one roof: import drifts from here, wherever their code lives.

The catch of a list of forms is that readers and writers of model files must know it too: DRIFTS, by the word
in `[drift] kind = ...`, is the one place to add a new class.
"""

from __future__ import annotations

from solver.drift_base import FARTHEST, Drift
from solver.drift_callable import CallableDrift
from solver.drift_forms import ExponentialDrift, LinearDrift, LogisticDrift, TanhDrift
from solver.drift_table import TabulatedDrift

__all__ = [
    "DRIFTS",
    "FARTHEST",
    "CallableDrift",
    "Drift",
    "ExponentialDrift",
    "LinearDrift",
    "LogisticDrift",
    "TabulatedDrift",
    "TanhDrift",
]

DRIFTS: dict[str, type[Drift]] = {
    form.kind: form for form in (TanhDrift, LogisticDrift, ExponentialDrift, LinearDrift, TabulatedDrift, CallableDrift)
}
