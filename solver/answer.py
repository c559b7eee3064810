"""What every verb does with its result: files into the directory of --out, then the summary as text or JSON.

`ready` complains before the work and `answer` delivers after it. Files come first: whatever becomes of stdout (a full
disk, a reader that has left), they are there. The catch: work may have taken hours, so a summary is shown even where
its files could not be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType
from rich.text import Text

from solver import outputs
from solver.errors import ModelError
from solver.folder import other_files
from solver.model import Model
from solver.report import to_json
from solver.terminal import show


def ready(out: Path | None, files: Iterable[str], plot: bool | None = False, model: Model | None = None) -> bool:
    """Raise ModelError now if `files` could not be written to `out` later; returns whether a figure is wanted.

    With `model`, a directory where other verbs' files are of another model is refused too. `plot` is None where the
    user has not said; then a figure is drawn wherever there is a place for it.
    """
    if out is None:
        if plot:
            raise ModelError("--plot: a figure goes into the directory of --out; name one")
        return False
    plot = plot is not False
    wanted = {name for name in files if plot or not name.endswith(".png")}
    if model is None:
        outputs.prepare(out, wanted)
    else:
        outputs.prepare_model(out, wanted, files, model)
    return plot


def answer(
    summary: dict[str, Any],
    text: Callable[[], RenderableType],
    *,
    json: bool,
    out: Path | None = None,
    writers: Mapping[str, outputs.Writer] | None = None,
    files: Iterable[str] = (),
    model: Model | None = None,
) -> None:
    """Write the files of `writers`, print the summary, and say what was written.

    `files` are all that the verb can write: one of an earlier run that is not written now would be stale and goes.
    `model` is that of the files: `ready` may not have known it, or another run may have written meanwhile. Raises
    ModelError, after the summary was printed, where the files could not be written.
    """
    words, problem = "", None
    if out is not None and writers:
        try:
            words = _written(out, writers, files, model)
        except ModelError as failure:
            problem = failure
    if json:
        typer.echo(to_json(summary))
    else:
        show(text())
        if words:
            show(Text(f"\n{words}"))
    if problem is not None:
        raise problem


def _written(out: Path, writers: Mapping[str, outputs.Writer], names: Iterable[str], model: Model | None) -> str:
    """Write all; returns in words what was written and what became of earlier files."""
    own = tuple(names)
    stale = [name for name in own if name not in writers]
    if outputs.MODEL in stale and other_files(out, own):
        stale.remove(outputs.MODEL)  # it is that of the other commands' files
    earlier = [out / name for name in stale if (out / name).exists()]

    def allow() -> None:
        if model is not None:
            outputs.require_same(out, own, model)

    files = outputs.write_all(out, writers, remove=stale, allow=allow)
    words = [f"written to {out}: {', '.join(path.name for path in files)}"]
    for path in earlier:
        kept = path.exists()
        words.append(f"{path.name} there is not zetafp's and stays" if kept else f"the old {path.name} was removed")
    return "; ".join(words)
