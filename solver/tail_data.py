"""What a tail law may be read from: ln ρ at any depth, and what the elimination found out; never the model.

The elimination knows the decay rate of its own continuation (the spectral radius of the step from block to block), by
how much that exceeds what its jumps allow, to which distance its jumps are exact, and whether anything but
neighbouring nodes exchange mass. None of these was put in as an answer: a root of the characteristic equation is
nowhere computed.

The catch: the decay rate is clipped to the tempering of the jumps (`Continuation.exponent`), so a pinned tail's
exponent is known exactly and a free one's to rounding; which of the two it is must be seen from `excess`, `doubt` and
the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.continuation import Continuation
from solver.density import StationaryDensity
from solver.power_tail import PowerTail

Array = NDArray[np.float64]

# Share of the jumps' reach that is looked at: there every jump that shapes the tail is exact. An exponential is
# looked at over as many nodes as are usual, and so many times past the node from which on nothing else is left.
_SHARE, _USUAL, _PAST = 0.5, 1e6, 16.0
# Nodes kept from a stop edge, which bends the density near it.
_INSIDE = 40


@dataclass(frozen=True)
class Elimination:
    """What is known of a half-line without the model.

    `exponent`, `excess`, `doubt` as in `Continuation`; `jumps`: do more than neighbouring nodes exchange mass?
    `powers`: those of a tail without tempering, ascending, else empty.
    """

    exponent: float
    excess: float = 0.0
    doubt: float = 0.0
    jumps: bool = True
    powers: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class TailData:
    """One tail of a density as plain data; depths are |ζ|, distances from ζ = 0 outwards.

    `log_density(depths)` is ln ρ and `error(depths)` its estimated error; both take arrays. The tail is sampled from
    `nearest` (past the mode) to `deepest`; `known` is None where the tail ends at a stop edge.
    """

    log_density: Callable[[Array], Array]
    error: Callable[[Array], Array]
    nearest: float
    edge: float
    deepest: float
    spacing: float
    mode: float
    known: Elimination | None

    def on_nodes(self, distances: Array) -> Array:
        """Depths of the nodes nearest to these distances from the mode: there ln ρ is not interpolated."""
        steps = np.unique(np.round((distances + self.mode - self.edge) / self.spacing))
        return np.asarray(self.edge + self.spacing * steps)


def tail_data(density: StationaryDensity, side: str = "left") -> TailData:
    """The left or right tail of a density as data; nothing of `density.model` is read."""
    sign = -1.0 if side == "left" else 1.0
    half = density.null.left if side == "left" else density.null.right
    grid = density.grid
    edge = sign * (grid.left if side == "left" else grid.right)
    mode = sign * float(grid.zeta[int(np.argmax(density.log_density))])
    spacing = grid.spacing
    if half is None:
        known, deepest = None, edge - _INSIDE * spacing
    elif isinstance(half, PowerTail):
        known, deepest = Elimination(0.0, powers=tuple(float(q) for q in half.powers)), np.inf
    else:
        assert isinstance(half, Continuation)
        jumps = half.step.shape[0] > density.order // 2  # the band alone passes order/2 numbers on
        known = Elimination(half.exponent, half.excess, half.doubt, jumps)
        nodes = _SHARE * half.reach if half.pinned else max(_SHARE * min(half.reach, _USUAL), _PAST * half.law_from)
        deepest = edge + nodes * spacing
    return TailData(
        lambda depths: np.asarray(density.logpdf(sign * depths)),
        lambda depths: np.asarray(density.log_error(sign * depths)),
        max(mode, 0.0) + spacing,
        edge,
        deepest,
        spacing,
        mode,
        known,
    )
