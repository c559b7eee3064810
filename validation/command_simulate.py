"""`zetafp simulate`: final values of independent paths, beside the quantiles that the solver expects.

The catch is the length: a run of a wrong length gives numbers all the same. What was not given is taken from the
solver's relaxation rate and said in the summary. A model without a stationary law can be walked too, for a given time.
"""

from __future__ import annotations

import time as clock
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text

from solver import outputs
from solver.answer import answer, ready
from solver.density import StationaryDensity
from solver.errors import NoStationaryDensityError
from solver.model import Model
from solver.options import Jobs, Json, Out, Seed, Source
from solver.terminal import find_model, progress_bar, progress_on_stderr, with_statuses

FILES = ("simulation.json", "samples.npy", "model.toml")

# What is printed of a sample; at 10 000 paths the outermost of these still has ten values beyond it.
QUANTILES = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)
_DT = "Time step: 0.1 over the steepest slope of the drift, unless given; P(ζ ≤ z) then errs by a few 1e-4."


@with_statuses
def simulate(
    source: Source = "broad",
    paths: Annotated[int, typer.Option(help="Independent paths.")] = 10_000,
    time: Annotated[float | None, typer.Option(help="Length of a path: 12 relaxation times, unless given.")] = None,
    dt: Annotated[float | None, typer.Option(help=_DT)] = None,
    start: Annotated[float | None, typer.Option(help="ζ to start at: a stable zero of F, unless given.")] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Simulate paths of a model and compare the quantiles of their final ζ with the solver's.

    Files of --out: samples.npy, the final ζ (for `zetafp compare --kind zeta`), simulation.json, model.toml.

    Exit status: 0 fine, 2 bad input or no stationary density, 3 not converged, 130 interrupted.
    """
    from validation import monte_carlo, walk_defaults  # here: other commands need not wait for scipy.stats

    name, model = find_model(source)
    ready(out, FILES, model=model)
    with progress_on_stderr("solving: the density to compare with, and the relaxation time"):
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
    }
    writers: dict[str, outputs.Writer] = {
        "samples.npy": lambda path: np.save(path, zeta, allow_pickle=False),
        "simulation.json": outputs.json_writer(summary),
        "model.toml": model.to_toml,
    }
    answer(summary, lambda: render(summary), json=json, out=out, writers=writers, files=FILES, model=model)


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


def render(summary: dict[str, Any]) -> Group:
    """The summary as text."""
    head = (
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
    return Group(Text(head), table, *(() if compared else (Text("\nno stationary density to compare with"),)))
