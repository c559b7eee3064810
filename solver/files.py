"""Text files in and out: one clear complaint when reading fails, never half a file when writing does.

The catch is the unlucky moment: a file written in place is empty between opening and the last byte, so the
new text goes to a file beside it that takes its name in one step.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from solver.errors import ModelError

# A drift table of a million rows is 40 MB as CSV. As TOML, which takes a second a megabyte, it had better not be one.
LARGEST_TABLE = 200_000_000
LARGEST_MODEL = 20_000_000


def read_text(path: Path, largest: int = LARGEST_MODEL) -> str:
    """The UTF-8 text of a file of at most `largest` bytes (a byte order mark is dropped); ModelError names the file."""
    try:
        with path.open("rb") as stream:
            data = stream.read(largest + 1)
        if len(data) > largest:
            size = f"larger than {largest // 1_000_000} MB, which no model file is"
            raise ModelError(f"{path}: {size}; a long table belongs into a CSV beside it")
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise ModelError(f"{path}: a directory, not a file") from None
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except ModelError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name no file can have, such as one with a NUL
        raise ModelError(f"{path}: cannot be read: {error}") from None


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text whole or not at all; ModelError names the file."""
    write_whole(path, lambda stream: stream.write(text.encode("utf-8")))


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a file beside its target, then move it over; ModelError names the file."""
    try:
        target = Path(path).resolve()  # through a link, so that the link stays one
        beside = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with beside.open("xb") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be written: {error}") from None


def read_columns(path: Path, names: tuple[str, str]) -> tuple[list[float], list[float]]:
    """Two columns of numbers from a CSV file, with or without a first line that is exactly `names`.

    Empty lines are skipped. ModelError names file and line.
    """
    columns: tuple[list[float], list[float]] = ([], [])
    header = list(names)
    rows = csv.reader(read_text(path, LARGEST_TABLE).splitlines())
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells) or (not columns[0] and [cell.lower() for cell in cells] == header):
                continue
            try:
                if any("_" in cell for cell in cells):  # 1_000 is a number to Python alone
                    raise ValueError
                first, second = (float(cell) for cell in cells)
            except ValueError:
                raise ModelError(
                    f"{path}, line {rows.line_num}: {','.join(row)!r}: must be two numbers {','.join(names)}"
                ) from None
            columns[0].append(first)
            columns[1].append(second)
    except csv.Error as error:
        raise ModelError(f"{path}, line {rows.line_num}: {error}") from None
    if not columns[0]:
        raise ModelError(f"{path}: no numbers in it; it needs the columns {','.join(names)}")
    return columns
