"""One reading of a solution beside the closed form, and all of them: agreed, failed, or not decided.

A reading passes where it differs from the closed form by no more than the sum of its errors. The catch: so does one
whose errors are huge. What would be allowed has a limit, beyond which nothing is decided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.closed_form import ClosedForm


@dataclass(frozen=True)
class Row:
    """One reading: source, exponent, difference to the closed form, where it was read, what is allowed and why.

    Nothing is decided where more than `limit` would be allowed, where there is no reading (NaN), or where a difference
    has its explanation in `excuse`.
    """

    source: str
    exponent: float
    difference: float
    where: str
    tolerance: float
    reason: str
    limit: float = np.inf
    excuse: str = ""

    @property
    def verdict(self) -> str:
        """ "ok", "FAILED" or "not decided"."""
        if np.isnan(self.difference) or not self.tolerance <= self.limit:
            return "not decided"
        if abs(self.difference) <= self.tolerance:
            return "ok"
        return "not decided" if self.excuse else "FAILED"

    @property
    def passed(self) -> bool:
        """Whether |difference| ≤ tolerance, and the tolerance says something."""
        return self.verdict == "ok"

    def __str__(self) -> str:
        excuse = f" ({self.excuse})" if self.excuse and self.verdict == "not decided" else ""
        return (
            f"{self.source:16} {self.exponent:<18.12g} difference {self.difference:+.1e} "
            f"(allowed {self.tolerance:.1e}: {self.reason}), {self.where}: {self.verdict}{excuse}"
        )


@dataclass(frozen=True)
class CrossCheck:
    """All rows beside the closed form; `exponent` is the rate the tail law predicts (NaN if there is none).

    `notes` say what could not be read and why.
    """

    closed_form: ClosedForm
    exponent: float
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """ "FAILED" where a row failed, else "ok" where one is, else "not decided"."""
        said = {row.verdict for row in self.rows}
        return next((verdict for verdict in ("FAILED", "ok") if verdict in said), "not decided")

    @property
    def passed(self) -> bool:
        """Whether no row failed and at least one says something."""
        return self.verdict == "ok"

    def __str__(self) -> str:
        head = f"closed form: exponent {self.exponent:.12g}, tail {self.closed_form.tail}"
        return "\n".join([head, *map(str, self.rows), *self.notes])
