"""`zetafp sweep study.toml`: full solves over a grid of parameters, resumed where they were stopped.

The catch is the end of a long run. Whatever ends it early (Ctrl-C, a crash, the power) the points that were finished
are in the store, and the message says how many and that the same command goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from solver import outputs
from solver.answer import answer, ready
from solver.extras import extra
from solver.options import Jobs, Json, Out
from solver.study import read_study
from solver.sweep import Plan, plan, run, stored
from solver.sweep_result import csv_writer, netcdf_writer
from solver.terminal import CHECK_FAILED, INTERRUPTED, fail, progress_bar, with_statuses

STORE = "points.sqlite"
FILES = ("sweep.json", "sweep.nc", "sweep.csv")


@with_statuses
def sweep(
    source: Annotated[Path, typer.Argument(metavar="STUDY", help="A study file (TOML), such as docs/study.toml.")],
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://HOST:PORT.")] = None,
    jobs: Jobs = -1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Solve a model over a grid of parameters; finished points are kept, and a stopped run goes on.

    Files of --out (else of a directory named as the study): sweep.json, sweep.nc, sweep.csv, and points.sqlite.

    Exit status: 0 fine, 1 points failed unforeseen, 2 bad input, 130 interrupted.
    """
    for library in ("xarray", "h5netcdf", "h5py"):  # before the work, not after it
        extra(library)
    study = read_study(source)
    target = Path(source.stem) if out is None else out
    ready(target, FILES)
    planned = plan(study.model, study.axes, study.options)
    store = target / STORE
    before = stored(planned, store)
    try:
        data = run(planned, store=store, jobs=jobs, scheduler=scheduler, progress=progress_bar)
    except KeyboardInterrupt:
        fail(interruption(planned, store), INTERRUPTED)
    summary = summarise(planned, data, before)
    writers = {"sweep.json": outputs.json_writer(summary)}
    writers |= {"sweep.nc": netcdf_writer(data), "sweep.csv": csv_writer(data)}
    text = rendered(summary, study.title or source.stem)
    answer(summary, lambda: text, json=json, out=target, writers=writers, files=FILES)
    failed = summary["statuses"].get("failed", 0)
    if failed:
        fail(f"{failed} points failed unforeseen and were not kept; the same command tries them again", CHECK_FAILED)


def interruption(planned: Plan, store: Path) -> str:
    """What to say when the user stops a sweep."""
    return (
        f"interrupted; {stored(planned, store)} of {len(planned.tasks)} points are stored in {store}; "
        "the same command goes on from there"
    )


def summarise(planned: Plan, data: Any, before: int) -> dict[str, Any]:
    """How many points ended how, and the worst of what was computed."""
    words, counts = [], []
    for word in dict.fromkeys(data["status"].values.ravel().tolist()):
        words.append(word)
        counts.append(int((data["status"] == word).sum()))
    summary: dict[str, Any] = {"points": planned.points, "found_in_store": before}
    summary["statuses"] = dict(zip(words, counts, strict=True))
    good = data["error_estimate"].where(data["status"] == "ok")
    if "ok" in words:
        summary["largest_error_estimate"] = float(good.max())
    bad = data["message"].values[data["status"].values != "ok"]
    if bad.size:
        summary["first_complaint"] = str(bad[0])
    return summary


def rendered(summary: dict[str, Any], title: str) -> Text:
    """The summary as text."""
    lines = [title, f"  {summary['points']} points, {summary['found_in_store']} of them found in the store"]
    lines += [f"  {count} {word}" for word, count in summary["statuses"].items()]
    if "largest_error_estimate" in summary:
        lines.append(f"  largest error estimate of ln ρ: {summary['largest_error_estimate']:.2g}")
    if "first_complaint" in summary:
        lines.append(f"  first complaint: {summary['first_complaint']}")
    return Text("\n".join(lines))
