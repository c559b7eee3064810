"""The uniform grid a density lives on, and what each of its ends means.

A grid is nodes ζ_i = left + i h, i = 0 … N-1, with h = (right - left)/(N - 1). Its catch is the ends: an
`open` end says that the population goes on beyond the last node (the half-line is closed exactly, which
needs a drift that is constant there); a `stop` end says that nothing is beyond, and whatever would leave
acts on the edge node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solver.checks import choice, number, shown
from solver.errors import ModelError

EDGE_WORDS = ("open", "stop")
FEWEST_NODES = 3  # one node inside and two edges: the narrowest grid on which a central difference exists
NODE_ULPS = 4  # a node is rounded twice (product, sum): closer than this, neighbours could coincide


@dataclass(frozen=True)
class Grid:
    """Uniform nodes from `left` to `right`, both included (unit: ζ, the logarithm of a rate).

    nodes: how many, at least 3 (a generator of order 2m needs more than 2m). edges: (left, right), each
    "open" or "stop"; one word stands for both. `open` needs a drift that is constant beyond the edge.
    Raises ModelError for a field outside its range.

    >>> grid = Grid(left=-1.0, right=1.0, nodes=5, edges="stop")
    >>> grid.spacing, grid.edges
    (0.5, ('stop', 'stop'))
    >>> grid.zeta.tolist()
    [-1.0, -0.5, 0.0, 0.5, 1.0]
    """

    left: float
    right: float
    nodes: int
    edges: tuple[str, str] = ("open", "stop")

    if TYPE_CHECKING:  # the constructor alone takes one word for both edges; the field is always a pair

        def __init__(
            self, left: float, right: float, nodes: int, edges: str | tuple[str, str] = ("open", "stop")
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", number("left", self.left))
        object.__setattr__(self, "right", number("right", self.right))
        if not self.left < self.right:
            raise ModelError(f"left = {self.left!r}, right = {self.right!r}: a grid needs left < right")
        object.__setattr__(self, "nodes", int(number("nodes", self.nodes, low=FEWEST_NODES, integer=True)))
        edges = (self.edges, self.edges) if isinstance(self.edges, str) else self.edges
        if not isinstance(edges, (tuple, list)) or len(edges) != 2:
            raise ModelError(f"edges = {shown(self.edges)}: give one word for each side, or one for both")
        pair = tuple(choice("edges", word, EDGE_WORDS) for word in edges)
        object.__setattr__(self, "edges", pair)
        rounding = float(np.spacing(max(abs(self.left), abs(self.right))))
        if not NODE_ULPS * rounding < self.spacing < np.inf:
            raise ModelError(
                f"nodes = {self.nodes} between {self.left!r} and {self.right!r}: the spacing "
                f"{self.spacing!r} overflows or drowns in rounding; move the ends or take fewer nodes"
            )

    @property
    def spacing(self) -> float:
        """h = (right - left)/(nodes - 1)."""
        return (self.right - self.left) / (self.nodes - 1)

    @cached_property
    def zeta(self) -> NDArray[np.float64]:
        """The nodes ζ_i = left + i h, shape (nodes,), read-only."""
        zeta = self.left + self.spacing * np.arange(float(self.nodes))
        zeta.flags.writeable = False
        return zeta
