"""`zetafp simulate`: final values of independent paths, beside the quantiles that the solver expects.

The catch is the length: a run of a wrong length gives numbers all the same. What was not given is taken from the
solver's relaxation rate and said in the summary. A model without a stationary law can be walked too, for a given time.
"""

from __future__ import annotations

import json as json_format
import time as clock
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from solver.density import StationaryDensity
from solver.errors import ModelError, NoStationaryDensityError
from solver.files import write_whole
from solver.folder import refuse_file
from solver.model import Model
from solver.terminal import find_model, progress_bar, show, with_statuses

# What is printed of a sample; at 10 000 paths the outermost of these still has ten values beyond it.
QUANTILES = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)


@with_statuses
def simulate(
    source: Annotated[str, typer.Argument(metavar="PRESET|FILE", help="A preset or a model file (TOML).")] = "broad",
    paths: Annotated[int, typer.Option(help="Independent paths.")] = 10_000,
    time: Annotated[float | None, typer.Option(help="Length of a path; default: 12 relaxation times.")] = None,
    dt: Annotated[float | None, typer.Option(help="Time step; default: 0.1 over the slope of the drift.")] = None,
    start: Annotated[float | None, typer.Option(help="Where all paths start; default: a zero of the drift.")] = None,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same values.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores. They do not change the values.")] = 1,
    out: Annotated[Path | None, typer.Option(help="File for the final ζ (.npy); must not exist yet.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of text.")] = False,
) -> None:
    """Simulate paths of a model and compare the quantiles of their final ζ with the solver's.

    Exit status: 0 fine, 2 bad input, 3 not converged, 130 interrupted.
    """
    from validation import monte_carlo, walk_defaults  # here: other commands need not wait for scipy.stats

    name, model = find_model(source)
    if out is not None:
        require_new(out)
    density = _density(model, needed=time is None or dt is None)
    if time is None:
        time = walk_defaults.BURN_IN * walk_defaults.relaxation_time(model)
    steps, dt = walk_defaults.whole_steps(time, walk_defaults.default_step(model, density) if dt is None else dt)
    started = clock.perf_counter()
    zeta = monte_carlo.simulate(
        model, paths=paths, time=time, dt=dt, seed=seed, start=start, jobs=jobs, progress=progress_bar
    )
    summary = {
        "name": name,
        "model": model.to_dict(),
        "paths": zeta.size,
        "time": time,
        "dt": dt,
        "steps": steps,
        "seed": seed,
        "seconds": clock.perf_counter() - started,
        "quantiles": quantile_rows(zeta, density),
        "out": None if out is None else str(out),
    }
    if out is not None:
        save(out, zeta)
    typer.echo(json_format.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)) if json else _print(summary)


def require_new(out: Path) -> None:
    """Raise ModelError unless `out` can become a new .npy file."""
    if out.suffix.lower() != ".npy":
        raise ModelError(f"{out}: the samples are written as .npy; give the file that suffix")
    refuse_file(out.parent)
    if out.exists():
        raise ModelError(f"{out}: exists and will not be replaced; name another file, or move it out of the way")


def save(out: Path, zeta: NDArray[np.float64]) -> None:
    """Write the values whole or not at all; raises ModelError, also if the file has come into being meanwhile."""
    require_new(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ModelError(f"{out}: cannot be written: {problem.strerror or problem}") from problem
    write_whole(out, lambda stream: np.save(stream, zeta, allow_pickle=False))


def _density(model: Model, needed: bool) -> StationaryDensity | None:
    """A density to compare with; None for a model that has none and can do without."""
    from validation.walk_defaults import rough_density

    try:
        return rough_density(model)
    except NoStationaryDensityError:
        if needed:
            raise
        return None


def quantile_rows(zeta: NDArray[np.float64], density: StationaryDensity | None) -> list[dict[str, Any]]:
    """The quantiles of the sample, and where there is a density the solver's with the standard error of one.

    That error is sqrt(q (1-q)/n) / ρ at the quantile, by which an order statistic scatters.
    """
    rows: list[dict[str, Any]] = []
    for q in QUANTILES:
        row: dict[str, Any] = {"probability": q, "sampled": float(np.quantile(zeta, q))}
        if density is not None:
            expected = float(density.ppf(q))
            row["solver"] = expected
            row["standard_error"] = float(np.sqrt(q * (1 - q) / zeta.size) / density.pdf(expected))
        rows.append(row)
    return rows


def _print(summary: dict[str, Any]) -> None:
    show(
        f"{summary['name']}: {summary['paths']} paths to time {summary['time']:.6g} in {summary['steps']} steps of "
        f"{summary['dt']:.4g}, seed {summary['seed']}, {summary['seconds']:.1f} s\n"
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    compared = "solver" in summary["quantiles"][0]
    for heading in ("P(ζ ≤ z)", "z sampled", *(("z solver", "± (1 σ)") if compared else ())):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in summary["quantiles"]:
        cells = [f"{row['probability']:g}", f"{row['sampled']:.4f}"]
        cells += [f"{row['solver']:.4f}", f"{row['standard_error']:.4f}"] if compared else []
        table.add_row(*cells)
    show(table)
    if not compared:
        show("\nno stationary density to compare with")
    if summary["out"]:
        show(f"\nwritten to {summary['out']}")
