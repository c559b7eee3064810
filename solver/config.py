"""Model files: TOML tables of words on one side, frozen dataclasses on the other.

The fields of a dataclass are the known keys of its table, so that a new drift or parameter needs no line
here. The catch is what a reader of files must not do: guess. An unknown or misspelt key is refused with the
nearest known one, and every complaint names the file and the field with its dots (`jumps.stability`).
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from solver.checks import choice, shown, suggestion
from solver.drifts import DRIFTS, CallableDrift, Drift, TabulatedDrift
from solver.errors import ModelError
from solver.files import read_columns, read_text
from solver.jumps import JUMPS, JumpLaw, TemperedStableJumps

T = TypeVar("T")

NO_FUNCTION = (
    "a CallableDrift holds a Python function, which a file cannot; tabulate it, for example "
    "TabulatedDrift(zeta, drift(zeta)) with zeta = numpy.linspace(-30, 30, 2001)"
)

# The keys of a model file above its tables; title and description are for the reader and have no effect.
TOP_LEVEL = ("title", "description", "drift", "diffusion", "jumps")
TABLE_FILE = "file"  # in [drift]: a CSV with the columns zeta, value in place of the two lists


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; ModelError naming the file if it cannot be read or says nothing."""
    return parse_toml(read_text(path), str(path))


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """The tables of a TOML text; `source` names it in complaints."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise ModelError(f"{source}: not a model file: its brackets are nested too deeply") from None
    if not tables:
        raise ModelError(f"{source}: empty; a model file needs [drift] and diffusion")
    return tables


def check_keys(table: Mapping[str, Any], known: Iterable[str], where: str = "") -> None:
    """Refuse every key that is not known; `where` is the table's name, "" at the top level.

    >>> check_keys({"temprng": 1.5}, ["tempering"], "jumps")
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: jumps.temprng: unknown key; known are tempering; did you mean 'tempering'?
    """
    known = tuple(known)
    for key in table:
        if key not in known:
            hint = suggestion(key, known)
            if where and key in TOP_LEVEL:
                hint = f"; {key!r} belongs above the first [table]"
            raise ModelError(f"{_dotted(where, key)}: unknown key; known are {', '.join(known)}{hint}")


def build(form: type[T], table: Any, where: str) -> T:
    """The dataclass `form` from a table of its fields; complaints get `where` and a dot in front.

    Raises ModelError for an unknown key, a missing field without default, and whatever `form` refuses.
    """
    check_table(table, where)
    fields = [field for field in dataclasses.fields(form) if field.init]  # type: ignore[arg-type]
    check_keys(table, (field.name for field in fields), where)
    for field in fields:
        if field.default is dataclasses.MISSING and field.name not in table:
            needed = ", ".join(other.name for other in fields if other.default is dataclasses.MISSING)
            raise ModelError(f"{where}.{field.name}: missing; {form.__name__} needs {needed}")
    try:
        return form(**table)
    except ModelError as error:
        raise ModelError(f"{where}.{error}") from None


def build_drift(table: Any, folder: Path) -> Drift:
    """The drift of a [drift] table; a `file` of a tabulated one is looked for in `folder`."""
    check_table(table, "drift")
    if "kind" not in table:
        found = ", ".join(table) or "nothing"
        raise ModelError(f"drift.kind: missing (found {found}); one of {', '.join(_writable())}")
    if table["kind"] == CallableDrift.kind:
        raise ModelError(f"drift.kind = {CallableDrift.kind!r}: {NO_FUNCTION}")
    form = DRIFTS[choice("drift.kind", table["kind"], _writable())]
    rest = {key: value for key, value in table.items() if key != "kind"}
    if form is TabulatedDrift:
        rest = _columns(rest, folder)
    return build(form, rest, "drift")


def build_jumps(table: Any) -> JumpLaw:
    """The jump law of a [jumps] table; without a `kind` it is tempered stable."""
    check_table(table, "jumps")
    form = JUMPS[choice("jumps.kind", table.get("kind", TemperedStableJumps.kind), JUMPS)]
    return build(form, {key: value for key, value in table.items() if key != "kind"}, "jumps")


def _columns(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The keys of a tabulated drift with the lists in place of the name of their file."""
    check_keys(table, ("zeta", "values", TABLE_FILE), "drift")
    if not table:
        raise ModelError("drift: a table needs the lists zeta and values, or a CSV file named in `file`")
    if TABLE_FILE not in table:
        return table
    name = table[TABLE_FILE]
    if len(table) > 1:
        raise ModelError("drift.file: give either a file or the lists zeta and values, not both")
    if not isinstance(name, str):
        raise ModelError(f"drift.file = {shown(name)}: must be the name of a CSV file")
    zeta, values = read_columns(folder / name, ("zeta", "value"))
    return {"zeta": zeta, "values": values}


def check_table(table: Any, where: str) -> None:
    """Refuse anything but a table (a mapping)."""
    if not isinstance(table, Mapping):
        raise ModelError(f"{where} = {shown(table)}: must be a table [{where}], got {type(table).__name__}")


def to_table(instance: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain values that TOML and JSON can hold; tuples become lists."""
    values = {field.name: getattr(instance, field.name) for field in dataclasses.fields(instance)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def drift_table(drift: Drift) -> dict[str, Any]:
    """The [drift] table of a drift; a CallableDrift is refused."""
    if isinstance(drift, CallableDrift):
        raise ModelError(f"drift: {NO_FUNCTION}")
    return {"kind": drift.kind, **to_table(drift)}


def jumps_table(jumps: JumpLaw) -> dict[str, Any]:
    """The [jumps] table of a law; the kind of the default law is not written."""
    kind = {} if jumps.kind == TemperedStableJumps.kind else {"kind": jumps.kind}
    return {**kind, **to_table(jumps)}


def _writable() -> list[str]:
    return [kind for kind in DRIFTS if kind != CallableDrift.kind]


def _dotted(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
