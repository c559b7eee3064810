"""The parameter that lets a number of samples reach a wanted lag: `design`, asked for a horizon instead of an exponent.

The exponent is what is searched for: a smaller β is a slower envelope and a longer horizon, so that one bracket on ln β
finds it; each step is a design in closed form and a full solve. The catch: a lag that is not yet in the tail depends on
the body as well, which changes with the parameter, and the horizon is that of the solution, not of the power law.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq

from solver.checks import number, positive
from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.design import design
from solver.errors import ModelError
from solver.horizon import horizon
from solver.model import Model
from solver.stationary import solve_stationary

# The exponent is stepped by this factor until the horizon is bracketed; so many steps span 1e-3 to 1e3.
_FACTOR, _STEPS = 2.0, 10
# Of ln β; the horizon follows to some 1e-8.
_XTOL = 1e-10


def design_for_horizon(
    model: Model, lag: float, samples: float, *, free: str = "intensity", noise_index: float = 2.0, rtol: float = 1e-8
) -> Model:
    """The model with one parameter changed so that `samples` reach `lag` > 1 (`solver.horizon`, theory (50)).

    `free` as in `design`. Raises ModelError, with the horizons that can be reached, where no value does.

    >>> from solver.presets import load_preset
    >>> found = design_for_horizon(load_preset("concentrated"), lag=1000.0, samples=1e6)
    >>> f"{horizon(solve_stationary(found), samples=1e6).lags:.4f}"
    '1000.0000'
    """
    wanted = math.log(number("lag", lag, 1.0, open_low=True))
    number("samples", samples, 1.0, open_low=True)
    beta = closed_form(model).exponent
    start = math.log(beta) if math.isfinite(beta) else math.log(positive("tempering", _pinned(model)))

    def excess(log_beta: float) -> float:
        density: StationaryDensity = solve_stationary(design(model, exponent=math.exp(log_beta), free=free), rtol=rtol)
        return float(horizon(density, samples, noise_index=noise_index).log_lags) - wanted

    here = excess(start)
    step = math.copysign(math.log(_FACTOR), here)  # too far: a larger exponent
    low, reached = start, here
    for _ in range(_STEPS):
        try:
            following = excess(low + step)
        except ModelError:  # no such exponent: half as far
            step /= 2
            continue
        if following * here <= 0:
            ends = sorted((low, low + step))
            return design(model, exponent=math.exp(brentq(excess, *ends, xtol=_XTOL)), free=free)
        low, reached = low + step, following
    raise ModelError(
        f"lag = {lag:g}: no {free} lets {samples:g} samples reach it; the nearest horizon found is "
        f"{math.exp(reached + wanted):.4g}"
    )


def _pinned(model: Model) -> float:
    """Where to start without a root: the tempering, which a root can come up to."""
    return math.nan if model.jumps is None else model.jumps.tempering
