"""The model: dζ = F(ζ) dt + sqrt(2 η_G) dW + dJ, as a drift, a diffusion and a jump law.

The catch: a model can be well formed and still have no stationary density (nothing holds the population
together). That is for solve_stationary to say; here it is only checked that the numbers describe a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from solver import config
from solver.checks import as_given, number, shown
from solver.drifts import Drift
from solver.errors import ModelError
from solver.files import write_text
from solver.jumps import JumpLaw


@dataclass(frozen=True)
class Model:
    """Drift F (ζ / time), diffusion η_G >= 0 (ζ² / time) and jumps (None: pure diffusion).

    diffusion = 0 is pure jumps; without either nothing moves, which ModelError says. Models compare by value.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> model = Model(drift=TanhDrift(plateau=1.0), diffusion=0.3, jumps=TemperedStableJumps(0.4, 1.5, 2.2))
    >>> model.left_plateau, model.right_plateau
    (1.0, 1.0)
    >>> Model.from_dict(model.to_dict()) == model
    True
    >>> Model(drift=TanhDrift(plateau=1.0), diffusion=-0.3)
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: diffusion = -0.3: must lie in [0, inf)
    """

    drift: Drift
    diffusion: float
    jumps: JumpLaw | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.drift, Drift):
            raise ModelError(
                f"drift = {shown(self.drift)}: must be a drift such as TanhDrift, "
                f"got {type(self.drift).__name__}; a function goes into CallableDrift(function)"
            )
        given = self.diffusion
        object.__setattr__(self, "diffusion", number("diffusion", given, low=0.0))
        if self.jumps is not None and not isinstance(self.jumps, JumpLaw):
            raise ModelError(
                f"jumps = {shown(self.jumps)}: must be a jump law such as TemperedStableJumps or None, "
                f"got {type(self.jumps).__name__}"
            )
        if self.jumps is None and self.diffusion == 0.0:
            value = as_given(given)
            raise ModelError(f"diffusion = {value}: must be positive where there are no jumps, or nothing moves")

    @property
    def left_plateau(self) -> float:
        """κ = F(-inf): positive where the left side is confining; inf where F grows without bound."""
        return self.drift.left_limit

    @property
    def right_plateau(self) -> float:
        """-F(+inf): positive where the right side is confining."""
        return -self.drift.right_limit

    @classmethod
    def from_toml(cls, path: str | Path) -> Model:
        """Read a model file. ModelError names the file, the field, its value and what is allowed."""
        path = Path(path)
        tables = config.read_toml(path)
        try:
            return cls.from_dict(tables, folder=path.parent)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None

    def to_toml(self, path: str | Path) -> None:
        """Write a model file that reads back as an equal model, to the last bit; whole or not at all.

        A table goes into the file itself. A CallableDrift is refused: a file cannot hold a Python function.
        """
        write_text(Path(path), tomli_w.dumps(self.to_dict()))

    @classmethod
    def from_dict(cls, tables: dict[str, Any], folder: str | Path = ".") -> Model:
        """A model from the tables of a model file; a tabulated drift's CSV is looked for in `folder`."""
        config.check_table(tables, "model")
        config.check_keys(tables, config.TOP_LEVEL)
        for note in ("title", "description"):
            if not isinstance(tables.get(note, ""), str):
                raise ModelError(f"{note} = {shown(tables[note])}: must be text")
        if "drift" not in tables:
            raise ModelError('drift: missing; add a table such as [drift] kind = "tanh", plateau = 1.0')
        drift = config.build_drift(tables["drift"], Path(folder))
        jumps = tables.get("jumps")
        law = None if jumps is None else config.build_jumps(jumps)
        if "diffusion" not in tables:
            raise ModelError("diffusion: missing; write diffusion = 0.0 for pure jumps")
        return cls(drift=drift, diffusion=tables["diffusion"], jumps=law)

    def to_dict(self) -> dict[str, Any]:
        """The tables of the model file: plain numbers, words and lists, as JSON and TOML hold them."""
        tables: dict[str, Any] = {"diffusion": self.diffusion, "drift": config.drift_table(self.drift)}
        if self.jumps is not None:
            tables["jumps"] = config.jumps_table(self.jumps)
        return tables
