"""Every jump law under one roof: import jump laws from here, wherever their code lives.

The catch of a list of laws is that readers and writers of model files must know it too: JUMPS, by the word in
`[jumps] kind = ...`, is the one place to add a new class.
"""

from __future__ import annotations

from solver.jump_exponents import CONVENTIONS, convention_constant, unit_laplace_exponent, unit_symbol
from solver.jump_law import JumpLaw, PowerLaw
from solver.laplace_jumps import LaplaceJumps
from solver.tempered_jumps import TemperedStableJumps

__all__ = [
    "CONVENTIONS",
    "JUMPS",
    "JumpLaw",
    "LaplaceJumps",
    "PowerLaw",
    "TemperedStableJumps",
    "convention_constant",
    "unit_laplace_exponent",
    "unit_symbol",
]

JUMPS: dict[str, type[JumpLaw]] = {law.kind: law for law in (TemperedStableJumps, LaplaceJumps)}
