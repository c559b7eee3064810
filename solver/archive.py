"""One file that holds named arrays and one JSON header: .npz without pickle, written whole or not at all.

The file is written beside its target and moved over it, so that an interrupted run leaves the old file or
none. The catch: arrays alone do not say what they are; the header carries `format` and `version`, and a file
without them is refused in one sentence, whatever numpy or zipfile think of it. Nor do they say whether they still are
what was written: a checksum over header and arrays goes along, or numbers changed by hand would keep the evidence
(residual, error estimate) of those they replaced.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.checks import shown
from solver.errors import ModelError
from solver.files import write_whole

Arrays = dict[str, NDArray[Any]]

_HEADER, _DIGEST = "header", "digest"


def write_archive(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write arrays and header to exactly `path`, replacing a file in one step; ModelError if that fails."""
    text = json.dumps(header)
    own = {_HEADER: np.array(text), _DIGEST: np.array(_digest(text, arrays))}
    write_whole(path, lambda stream: np.savez_compressed(stream, allow_pickle=False, **arrays, **own))


def read_archive(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file; ModelError in one sentence if it is no `kind` file of this version, as written."""
    if not isinstance(path, (str, os.PathLike)):  # open() would take a number for a stream, and close it
        raise ModelError(f"path = {shown(path)}: must be the path of a file, got {type(path).__name__}")
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        text, digest = str(arrays.pop(_HEADER)), str(arrays.pop(_DIGEST, ""))
        header = json.loads(text)
    except OSError as problem:
        raise ModelError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    except MemoryError:
        raise ModelError(f"{path}: too large for the memory of this machine") from None
    except (ValueError, KeyError, AttributeError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        # what numpy, zipfile and json raise on text, a lone array, a foreign or a truncated archive
        raise ModelError(f"{path}: not a {kind} file (or a damaged one)") from None
    if not isinstance(header, dict) or header.get("format") != kind:
        raise ModelError(f"{path}: not a {kind} file")
    if header.get("version") != version:
        raise ModelError(
            f"{path}: {kind} file of version {header.get('version')!r}; this program reads version {version}"
        )
    if digest != _digest(text, arrays):
        raise ModelError(f"{path}: damaged {kind} file (it has been changed since it was written)")
    return header, arrays


def _digest(text: str, arrays: Arrays) -> str:
    """SHA-256 of the header's text and of every array with its name, type and shape."""
    found = hashlib.sha256(text.encode("utf-8"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.tobytes())
    return found.hexdigest()
