"""Finished points on disk: one SQLite file, one row a point, each written as soon as it is there.

    key = SHA-256 of the model's tables, the options and the version of zetafp

SQLite makes a row appear whole or not at all, also when the process is killed in the middle, and lets several sweeps
share a file. The catch: numbers must come back to the last bit, NaN and inf included, so they are kept as the shortest
decimals that do (Python's own JSON), each behind a checksum of key and record: a row that does not fit its own, damaged
or changed by hand, counts as not there and is computed again. A row that is there is never replaced otherwise.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from solver.errors import ModelError
from solver.sweep_point import Record, Task

_TABLE = "CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID"
# Seconds to wait while another sweep writes its row to the same file.
_PATIENCE = 60.0
# Keys asked for at a time: below the least number of parameters that an SQLite may be built with.
_AT_ONCE = 500
# Letters of a checksum, SHA-256 in hexadecimal.
_CHECK = 64


def key(task: Task) -> str:
    """The same for the same model, options and version, on any machine.

    >>> one, other = (Task(i, {"diffusion": 0.3}, {"rtol": 1e-6}, "1.0") for i in (1, 2))
    >>> key(one) == key(other), len(key(one))
    (True, 64)
    """
    text = json.dumps([task.tables, task.options, task.version], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class Store:
    """An open store; `find` and `add`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, keys: list[str]) -> dict[str, Record]:
        """The records that are there, by key."""
        found: dict[str, Record] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            rows = self._connection.execute(f"SELECT key, record FROM points WHERE key IN ({marks})", some)
            found.update((name, json.loads(text[_CHECK:])) for name, text in rows if _whole(name, text))
        return found

    def add(self, name: str, record: Record) -> None:
        """Keep a record, at once; one that is there already and whole stays."""
        with self._connection:
            if name not in self.find([name]):
                row = (name, _signed(name, json.dumps(record)))
                self._connection.execute("INSERT OR REPLACE INTO points VALUES (?, ?)", row)


def _signed(name: str, text: str) -> str:
    """The text behind a checksum that binds it to its key."""
    return hashlib.sha256(f"{name} {text}".encode()).hexdigest() + text


def _whole(name: str, signed: Any) -> bool:
    return isinstance(signed, str) and signed == _signed(name, signed[_CHECK:])


@contextmanager
def opened(path: str | os.PathLike[str] | None) -> Iterator[Store]:
    """The store in a file, made if need be; None: in memory, for as long as it is open. ModelError names the file."""
    where: Any = ":memory:"
    if path is not None:
        where = Path(path)
        try:
            where.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise ModelError(f"{where}: cannot be made: {problem.strerror or problem}") from None
    try:
        connection = sqlite3.connect(where, timeout=_PATIENCE)
        try:
            connection.execute(_TABLE)
            yield Store(connection)
        finally:
            connection.close()
    except sqlite3.Error as problem:
        raise ModelError(f"{where}: not a store of finished points, or not writable: {problem}") from None
