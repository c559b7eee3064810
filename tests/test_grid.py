"""The grid: what it accepts, what it says about the rest, and that its nodes are where they should be."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from solver.errors import ModelError
from solver.grid import Grid


def test_nodes_are_uniform_and_include_both_ends() -> None:
    grid = Grid(-30.0, 10.0, 1601, ("open", "stop"))
    assert grid.zeta.shape == (1601,) and grid.spacing == 0.025
    assert grid.zeta[0] == -30.0
    assert abs(grid.zeta[-1] - 10.0) < 1e-14
    assert np.ptp(np.diff(grid.zeta)) < 1e-13


def test_default_edges_and_one_word_for_both() -> None:
    assert Grid(0, 1, 3).edges == ("open", "stop")
    assert Grid(0, 1, 3, "stop").edges == ("stop", "stop")
    assert Grid(0, 1, 3, edges="open").edges == ("open", "open")
    assert Grid(0, 1, 3, ["stop", "open"]).edges == ("stop", "open")  # type: ignore[arg-type]


def test_a_grid_is_a_frozen_value() -> None:
    grid = Grid(-1, 1, 5, "stop")
    assert grid == Grid(-1.0, 1.0, 5, ("stop", "stop")) and hash(grid) == hash(replace(grid))
    assert replace(grid, nodes=9).spacing == 0.25
    with pytest.raises(FrozenInstanceError):
        grid.nodes = 7  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        grid.zeta[0] = 0.0


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"left": float("nan")}, "left = nan"),
        ({"right": float("inf")}, "right = inf"),
        ({"left": "0"}, "left = '0'"),
        ({"left": True}, "left = True"),
        ({"left": 2.0}, r"left = 2\.0, right = 1\.0: a grid needs left < right"),
        ({"left": 1.0}, "left < right"),
        ({"nodes": 2}, r"nodes = 2: must lie in \[3, inf\)"),
        ({"nodes": 10.5}, r"nodes = 10\.5: must be a whole number"),
        ({"nodes": float("nan")}, "nodes = nan"),
        ({"nodes": True}, "nodes = True"),
        ({"edges": "closed"}, "edges = 'closed': must be one of 'open', 'stop'"),
        ({"edges": ("open", "stopp")}, "did you mean 'stop'"),
        ({"edges": ("open",)}, "give one word for each side"),
        ({"edges": None}, "give one word for each side"),
        ({"left": 1e16, "right": 1e16 + 64, "nodes": 65}, "drowns in rounding"),
        ({"left": -1.7e308, "right": 1.7e308}, "overflows"),
    ],
)
def test_a_bad_field_is_named_with_its_value(fields: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"left": -1.0, "right": 1.0, "nodes": 5, "edges": "stop"}
    with pytest.raises(ModelError, match=words):
        Grid(**(arguments | fields))
