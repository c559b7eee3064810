"""Libraries that only some tasks need: imported when they are needed, with one sentence where they are missing.

The catch is the message: an ImportError deep inside a call names a package, not what to do about it.
"""

from __future__ import annotations

import importlib
from typing import Any

from solver.errors import ModelError


def extra(module: str) -> Any:
    """The imported module; ModelError saying what to install where it is missing.

    >>> extra("no_such_library")
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: no_such_library is not installed: maps and sweeps need it; pip install 'zetafp[sweep]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        name = (problem.name or module).split(".")[0]
        raise ModelError(f"{name} is not installed: maps and sweeps need it; pip install 'zetafp[sweep]'") from None
