"""Folders of results: written whole, and never at the cost of a file that somebody else made.

All files are written aside and then moved into place, so that none is ever half there. A record, zetafp.sha256, lists
what was written with its checksums: a later run replaces a file only if it still is what the record says, so that a
model file of the user's, or one the user has edited since, stays. `sha256sum -c zetafp.sha256` tells whether a folder
is whole. The catch: moving is one step only within a file system, so the place aside is inside the folder, or next to
it where there is none yet.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from solver.errors import ModelError

Writer = Callable[[Path], None]
Digests = dict[str, set[str]]

RECORD = "zetafp.sha256"


def prepare(target: Path, names: Iterable[str] = ()) -> None:
    """Raise ModelError now if files of these names could not be written to `target` later; leaves no trace."""
    with _one_sentence(target):
        refuse_file(target)
        if target.exists():
            with _alone(target):
                _require_own(target, names)
        existing = next(place for place in (target, *target.absolute().parents) if place.exists())
        os.rmdir(tempfile.mkdtemp(prefix=".zetafp.", dir=existing))


def other_files(target: Path, own: Iterable[str]) -> list[str]:
    """What zetafp wrote to `target` besides `own`."""
    return [name for name in sorted(set(_recorded(target)) - set(own)) if (target / name).exists()]


def require_alone(target: Path, own: Iterable[str], shared: Path) -> None:
    """Raise ModelError if zetafp wrote more files to `target` than `own`: they belong to what `shared` says now."""
    if others := other_files(target, own):
        raise ModelError(f"{shared}: is of another model, as are {', '.join(others)} beside it; name another directory")


def refuse_file(target: Path) -> None:
    """Raise ModelError if `target`, or a directory it would lie in, is a file."""
    for place in (target, *target.parents):
        if place.exists():
            if not place.is_dir():
                where = "" if place == target else f"{target}: "
                raise ModelError(f"{where}{place} is a file; name a directory")
            return


def write_all(
    target: Path,
    writers: Mapping[str, Writer],
    remove: Iterable[str] = (),
    allow: Callable[[], object] = lambda: None,
) -> list[Path]:
    """Write each named file by its writer and return their paths.

    `remove` names files of an earlier run that the new ones would make stale; they go if zetafp wrote them. Of two runs
    that write at the same time the later one leaves its whole set. Raises ModelError if the place cannot be written or
    a name is taken by a file that zetafp did not write; whatever the reason, no partial file remains. `allow` may raise
    one more, about a folder that is there: it is called when nobody else can write to it any more.
    """
    with _one_sentence(target):
        refuse_file(target)
        _write_aside(target, writers, tuple(remove), allow)
    return [target / name for name in writers]


def _write_aside(
    target: Path, writers: Mapping[str, Writer], remove: tuple[str, ...], allow: Callable[[], object]
) -> None:
    fresh = not target.exists()
    place = target.absolute()  # '.' has no name, and its parent is itself
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = (place.parent if fresh else place) / f".{place.name}.{secrets.token_hex(4)}"
    aside.mkdir()
    try:
        for name, write in writers.items():
            write(aside / name)
        new = {name: {_digest(aside / name)} for name in writers}
        if fresh:
            _write_record(aside, new)
            try:
                os.rename(aside, target)
                return
            except OSError:
                if not target.is_dir():
                    raise
                # else another run has made the folder meanwhile: replace its files
        with _alone(target):
            allow()
            _require_own(target, writers)
            _replace(target, aside, new, remove)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _replace(target: Path, aside: Path, new: Digests, remove: tuple[str, ...]) -> None:
    """Move the files of `aside` into the folder and remove the stale ones; an interrupt waits until that is done."""
    before = _recorded(target)
    stale = {name for name in remove if _is_own(target / name, before)}
    # first a record that knows old and new alike: whoever is killed half-way leaves nothing that looks foreign
    _write_record(target, {name: before.get(name, set()) | new.get(name, set()) for name in before | new})

    def move() -> None:
        for name in new:
            if (aside / name).exists():
                os.replace(aside / name, target / name)
        for name in stale:
            (target / name).unlink(missing_ok=True)
        kept = {name: digests for name, digests in before.items() if name not in stale}
        _write_record(target, kept | new)

    try:
        move()
    except KeyboardInterrupt:
        move()
        raise


def _require_own(target: Path, names: Iterable[str]) -> None:
    """Raise ModelError if one of the names is taken by anything but a file that zetafp wrote."""
    recorded = _recorded(target)
    for name in names:
        path = target / name
        if path.is_dir():
            raise ModelError(f"{path}: a directory stands where the file should go")
        if os.path.lexists(path) and not _is_own(path, recorded):
            what = "has been changed since zetafp wrote it" if name in recorded else "was not written by zetafp"
            raise ModelError(
                f"{path}: {what} and will not be replaced; name another directory, or move the file out of the way"
            )


def _is_own(path: Path, recorded: Digests) -> bool:
    return path.name in recorded and path.is_file() and _digest(path) in recorded[path.name]


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _recorded(target: Path) -> Digests:
    """Name -> checksums of the record; what is not a line of it counts for nothing, and its file as foreign."""
    try:
        lines = (target / RECORD).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    found: Digests = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        found.setdefault(name, set()).add(digest)
    return found


def _write_record(folder: Path, digests: Digests) -> None:
    """One `checksum  name` a line, as sha256sum -c reads it."""
    lines = [f"{digest}  {name}\n" for name in sorted(digests) for digest in sorted(digests[name])]
    part = folder / f".{RECORD}.{secrets.token_hex(4)}"
    part.write_text("".join(lines), encoding="utf-8", newline="\n")
    os.replace(part, folder / RECORD)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time looks at the folder or moves files, where the system can (not Windows nor all networks)."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks; each single file is still whole
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _one_sentence(target: Path) -> Iterator[None]:
    """A failure of the file system in words; the place aside, which the system names, is nobody's business."""
    try:
        yield
    except OSError as problem:
        raise ModelError(f"{target}: cannot be written: {problem.strerror or problem}") from problem
