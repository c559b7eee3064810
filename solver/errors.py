"""The errors zetafp raises on purpose: bad input, no stationary law, and an accuracy that was not reached.

Each message names the quantity, its value and what is allowed or what to do; anything else that escapes is a defect.
"""

from __future__ import annotations

from typing import Any


class ModelError(ValueError):
    """A parameter, key or file cannot describe a model; the message names the field, its value and the range."""


class NoStationaryDensityError(ValueError):
    """The model is well formed but has no stationary density (nothing holds the population together)."""


class NotConvergedError(RuntimeError):
    """The wanted accuracy was not reached; `density` is the best one found and `estimate` its error estimate.

    `density` is None when not even one level gave a positive density.
    """

    def __init__(self, message: str, density: Any = None, estimate: float = float("inf")) -> None:
        super().__init__(message)
        self.density = density
        self.estimate = estimate
