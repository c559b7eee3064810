"""A case: a model, a fact that is known exactly about it, and how it is solved.

The catch is the cache: many facts belong to one model, and a solution is made once for all of them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache

from solver.density import StationaryDensity
from solver.grid import Grid
from solver.jumps import JumpLaw, LaplaceJumps, TemperedStableJumps
from solver.model import Model
from solver.stationary import solve_stationary
from validation.facts import Fact

# Asked of the solver: as much as the bound of densities, which is absolute and therefore kept with room.
RTOL = 1e-9


@dataclass(frozen=True)
class Case:
    """A model and a fact about it. `grid` where the solver's own choice is not what is tested; else `rtol`.

    `drift` says in words what F is where it is a Python function.
    """

    slug: str
    tags: tuple[str, ...]
    model: Model
    fact: Fact
    rtol: float = RTOL
    grid: Grid | None = None
    drift: str = ""

    def error(self, model: Model | None = None) -> float:
        """The error of the solution of the case's model, or of another one in its place."""
        return self.fact.error(solved(self.model if model is None else model, self.rtol, self.grid))

    @property
    def spoiled(self) -> Model:
        """The model with one constant 1% off: its jumps, or its diffusion without any."""
        jumps = self.model.jumps
        if jumps is None:
            return dataclasses.replace(self.model, diffusion=1.01 * self.model.diffusion)
        return dataclasses.replace(self.model, jumps=stronger(jumps, 1.01))


def stronger(jumps: JumpLaw, factor: float) -> JumpLaw:
    """The law with its intensity, or its rate, times a factor."""
    if isinstance(jumps, LaplaceJumps):
        return dataclasses.replace(jumps, rate=factor * jumps.rate)
    assert isinstance(jumps, TemperedStableJumps)
    return dataclasses.replace(jumps, intensity=factor * jumps.intensity)


@lru_cache(maxsize=128)  # several facts are known about one model
def solved(model: Model, rtol: float, grid: Grid | None) -> StationaryDensity:
    """The solution that a case is about."""
    return solve_stationary(model, rtol=rtol, grid=grid)
