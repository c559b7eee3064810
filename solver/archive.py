"""One file that holds named arrays and one JSON header: .npz without pickle, written whole or not at all.

The file is written beside its target and moved over it, so that an interrupted run leaves the old file or
none. The catch: arrays alone do not say what they are; the header carries `format` and `version`, and a file
without them is refused in one sentence, whatever numpy or zipfile think of it.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.errors import ModelError
from solver.files import write_whole

Arrays = dict[str, NDArray[Any]]

_HEADER = "header"


def write_archive(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write arrays and header to exactly `path`, replacing a file in one step; ModelError if that fails."""
    text = json.dumps(header)
    write_whole(
        path,
        lambda stream: np.savez_compressed(stream, allow_pickle=False, **arrays, **{_HEADER: np.array(text)}),
    )


def read_archive(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file; ModelError in one sentence if it is no `kind` file of this version."""
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        header = json.loads(str(arrays.pop(_HEADER)))
    except OSError as problem:
        raise ModelError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    except (ValueError, KeyError, AttributeError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        # what numpy, zipfile and json raise on text, a lone array, a foreign or a truncated archive
        raise ModelError(f"{path}: not a {kind} file (or a damaged one)") from None
    if not isinstance(header, dict) or header.get("format") != kind:
        raise ModelError(f"{path}: not a {kind} file")
    if header.get("version") != version:
        raise ModelError(
            f"{path}: {kind} file of version {header.get('version')!r}; this program reads version {version}"
        )
    return header, arrays
