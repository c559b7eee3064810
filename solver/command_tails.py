"""`zetafp tails`: which law the far tail follows, with which constant and from where on, and what that means for lags.

The law is read from the solution and then compared with theory. The catch: below the threshold the algebraic part of a
tail is right only as deep as the jumps were resolved, so `--depth` is part of the solve, not of the picture.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from solver import outputs
from solver.answer import answer, ready
from solver.checks import number
from solver.options import Json, NoiseIndex, Out, Plot, Rtol, Source
from solver.stationary import DEEPEST, solve_stationary
from solver.tables import Records
from solver.tail_study import TailStudy, tail_study
from solver.tail_theory import TailComparison, compare_tail
from solver.terminal import CHECK_FAILED, fail, find_model, progress_on_stderr, with_statuses

FILES = ("tails.json", "tails.csv", "model.toml", "tails.png")


@with_statuses
def tails(
    source: Source = "broad",
    depth: Annotated[float, typer.Option(help="Greatest depth |ζ| = ln τ and ln ℓ, above 1, up to 1e7.")] = 1000.0,
    rtol: Rtol = 1e-8,
    noise_index: NoiseIndex = 2.0,
    low: Annotated[float, typer.Option(help="Shortest lag of the window in which a power is fitted to f.")] = 10.0,
    high: Annotated[float, typer.Option(help="Longest lag of that window.")] = 1000.0,
    neurons: Annotated[int, typer.Option(help="Size of the finite network to compare with.")] = 128,
    out: Out = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Read the law of the slow tail from the solution, compare it with theory, and follow it to the envelope.

    Files of --out: tails.json, tails.csv, model.toml, tails.png.

    Exit status: 0 fine, 1 the law differs from theory, 2 bad input or no tail, 3 not converged, 130 interrupted.
    """
    name, model = find_model(source)
    drawn = ready(out, FILES, plot, model)
    number("depth", depth, 1.0, 0.1 * DEEPEST, open_low=True)
    with progress_on_stderr() as progress:
        # the depth is counted from the centre; a study looks at |ζ|, and an envelope feels what lies deeper
        density = solve_stationary(model, rtol=rtol, depth=1.01 * depth + 100.0, progress=progress)
    study = tail_study(density, depth, noise_index=noise_index, fit=(low, high), neurons=neurons)
    comparison = compare_tail(study.law, density)
    summary = summarise(name, study, comparison)
    writers: dict[str, outputs.Writer] = {
        "tails.json": outputs.json_writer(summary),
        "tails.csv": outputs.csv_writer(study.columns()),
        "model.toml": model.to_toml,
    }
    if drawn:
        from solver.plot_tails import plot_tails  # here, so that other commands do not wait for matplotlib

        writers["tails.png"] = outputs.figure_writer(lambda: plot_tails(study, title=name))
    answer(
        summary, lambda: render(name, study, comparison), json=json, out=out, writers=writers, files=FILES, model=model
    )
    if not comparison.passed:
        fail(f"the law read from the solution differs from theory: {comparison}", CHECK_FAILED)


def summarise(name: str, study: TailStudy, comparison: TailComparison) -> dict[str, Any]:
    """Everything but the table, as one plain dictionary."""
    network = study.network
    return {
        "name": name,
        "law": asdict(study.law),
        "theory": asdict(comparison.theory),
        "passed": comparison.passed,
        "envelope": asdict(study.envelope),
        "fit": asdict(study.fit) | {"bias": study.fit.bias(study.law.exponent)},
        "network": {"neurons": network.neurons, "quantile": network.quantile, "log_tau_max": network.log_tau_max},
        "noise_index": study.noise_index,
        "cost": str(study.growth),
        "horizon": [{"samples": samples, "log_lag": log_lag} for samples, log_lag in study.horizon],
    }


def render(name: str, study: TailStudy, comparison: TailComparison) -> Group:
    """The summary as text: the law, its numbers beside theory, the envelope, the table."""
    law, envelope, fit, network = study.law, study.envelope, study.fit, study.network
    lines = [
        f"{name}: {comparison}",
        f"read as {law.case!r} because {law.reason}",
        "",
        f"envelope: {envelope}" + _from(envelope.holds_from, envelope.within),
        f"  a straight line through ln f for lags {fit.low:g} to {fit.high:g} has exponent {fit.exponent:.5g}, "
        f"{fit.bias(law.exponent):+.2g} off; with a cut-off e^(-ℓ/τ_max) {fit.tempered_exponent:.5g}, τ_max = "
        f"{fit.tau_max:.4g}",
        f"  {_slowest(network.neurons)} has, in the median, τ = {_large(network.log_tau_max)}: beyond that lag a "
        "network's envelope is an exponential",
        f"learning cost (noise index {study.noise_index:g}): {study.growth}",
    ]
    reach = Records(("samples", "horizon ℓ"), numbers=("samples", "horizon ℓ"))
    for samples, log_lag in study.horizon:
        reach.add(f"{samples:.0e}", _large(log_lag))
    table = Records(
        ("depth s", "ln ρ", "d ln ρ/dζ", "ln ρ - law", "error of ln ρ", "f: exponent"),
        numbers=("depth s", "ln ρ", "d ln ρ/dζ", "ln ρ - law", "error of ln ρ", "f: exponent"),
    )
    last = study.depths.size - 1
    for i in sorted({last - k * (last // 8) for k in range(8)}):
        table.add(
            f"{study.depths[i]:.4g}",
            f"{study.log_density[i]:.8g}",
            f"{study.local_exponent[i]:.9g}",
            f"{study.difference[i]:.1e}",
            f"{study.log_error[i]:.0e}",
            f"{study.envelope_exponent[i]:.9g}",
        )
    return Group(Text("\n".join(lines)), reach, Text(""), table)


def _slowest(neurons: int) -> str:
    return "a single neuron" if neurons == 1 else f"of {neurons} neurons the slowest"


def _from(log_lag: float, within: float) -> str:
    if math.isnan(log_lag):
        return ""
    if math.isinf(log_lag):
        return f"; its local exponent is not the bare power's within {100 * within:g}% at any lag looked at"
    return f"; its local exponent is the bare power's within {100 * within:g}% from ℓ = {_large(log_lag)}"


def _large(log_value: float) -> str:
    """e^log_value with four digits, as a power of ten where a double cannot hold it."""
    decades = log_value / math.log(10)
    return f"{math.exp(log_value):.4g}" if abs(decades) < 300 else f"10^{decades:.6g}"
