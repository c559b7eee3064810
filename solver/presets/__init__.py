"""Models that come with the package, one TOML file each, to start from and to compare with.

The catch of a preset is that it looks like a recommendation: the comment at the head of each file says what
the model shows and where its numbers come from.
"""

from __future__ import annotations

from importlib.resources import files

from solver.checks import choice
from solver.config import parse_toml
from solver.model import Model

_ENDING = ".toml"


def preset_names() -> tuple[str, ...]:
    """The names of all presets, sorted.

    >>> "broad" in preset_names()
    True
    """
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def preset_text(name: str) -> str:
    """The model file of a preset, comments included; ModelError for an unknown name, with the nearest one."""
    choice("preset", name, preset_names())
    return (files(__name__) / (name + _ENDING)).read_text(encoding="utf-8")


def load_preset(name: str) -> Model:
    """The model of a preset; ModelError for an unknown name, with the nearest one.

    >>> load_preset("concentrated").diffusion
    0.3
    """
    return Model.from_dict(parse_toml(preset_text(name), name))
