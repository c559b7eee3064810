"""The one table of exact cases: models, facts that are known exactly about them, and the bounds to keep.

Everything that asks whether the solver is right reads this table: the tests, the convergence studies, the report. The
catch of a table is a case that stops running unseen, or cannot fail: the tests ask that every kind of fact and of model
is there, and that every case fails for the same model with one constant 1% off.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, TanhDrift
from solver.grid import Grid
from solver.jumps import LaplaceJumps, TemperedStableJumps
from solver.model import Model
from validation import exact_densities as exact
from validation.case import Case
from validation.facts import (
    Array,
    CharacteristicFunction,
    Density,
    EnvelopeLaw,
    Exponent,
    IntegerMoments,
    MomentRatios,
)
from validation.manufactured import LaplaceMade, Logistic, StableMade
from validation.ornstein_uhlenbeck import log_characteristic, ornstein_uhlenbeck, unit_exponent

# Without tempering the tail beyond the grid is a series that is read, and the bound is this.
UNTEMPERED = 1e-8


def _diffusion_cases() -> list[Case]:
    """Without jumps: ln ρ = ∫F/η_G, and what follows for the envelope and the exponents."""
    tanh, steep, scaled = Model(TanhDrift(1.0), 0.5), Model(TanhDrift(1.0), 0.05), Model(TanhDrift(0.8, -2.0, 1.5), 0.3)
    gamma, broad = Model(ExponentialDrift(0.6, 0.3), 0.3), Model(ExponentialDrift(0.14, 0.4), 0.2)
    wells = Model(exact.WELLS, exact.BARRIER / 12)
    lags = tuple(float(lag) for lag in np.logspace(-4, 14, 19))

    def envelope(a: float, b: float) -> EnvelopeLaw:
        """E exp(-ℓ e^ζ) = (1 + ℓ/b)^{-a} for a Gamma law."""
        return EnvelopeLaw(lambda lag: -a * np.log1p(lag / b), lambda lag: a * lag / (b + lag), lags)

    def scaled_cosh(zeta: Array) -> Array:
        return np.asarray(exact.cosh_log_density((zeta + 2.0) / 1.5, 0.8 * 1.5 / 0.3) - np.log(1.5))

    plateau, wall = ("diffusion", "tanh", "plateau"), ("diffusion", "gamma", "plateau", "wall")
    densities = [
        ("cosh", plateau, tanh, Density(lambda z: exact.cosh_log_density(z, 2.0), -13.0, 13.0)),
        ("cosh-steep", plateau, steep, Density(lambda z: exact.cosh_log_density(z, 20.0), -1.9, 1.9, (-5.0, 5.0))),
        ("cosh-scaled", plateau, scaled, Density(scaled_cosh, -11.0, 7.0)),
        ("gamma", wall, gamma, Density(lambda z: exact.gamma_log_density(z, 2.0, 1.0), -13.0, 3.3, (-60.0, 6.0))),
        (
            "gamma-broad", wall, broad,
            Density(lambda z: exact.gamma_log_density(z, 0.7, 2.0), -38.0, 2.5, (-120.0, 5.0)),
        ),
        (
            "normal", ("diffusion", "linear"), Model(LinearDrift(1.5, -1.0), 0.4),
            Density(lambda z: exact.normal_log_density(z, 1.5, -1.0, 0.4), -4.5, 2.5, (-12.0, 10.0)),
        ),
        (
            "wells", ("diffusion", "wells"), wells,
            Density(lambda z: exact.wells_log_density(z, exact.BARRIER / 12), -1.6, 1.6, (-3.0, 3.0)),
        ),
    ]  # fmt: skip
    return [
        *(Case(*row, drift="ζ - ζ³ + 0.02" if row[0] == "wells" else "") for row in densities),
        Case("gamma-envelope", wall, gamma, envelope(2.0, 1.0)),
        Case("gamma-broad-envelope", wall, broad, envelope(0.7, 2.0)),
        Case("cosh-exponent", plateau, tanh, Exponent(2.0, 2.0)),
        Case("gamma-broad-exponent", wall, broad, Exponent(0.7)),
    ]


def _linear_cases() -> list[Case]:
    """Ornstein–Uhlenbeck with jumps: density by inversion, characteristic function as it stands."""
    laws = {
        "ou-half": (0.3, TemperedStableJumps(0.4, 0.5, 2.2), 10.0),
        "ou-one": (0.3, TemperedStableJumps(0.4, 1.0, 2.2), 10.0),
        "ou-three-halves": (0.3, TemperedStableJumps(0.4, 1.5, 2.2), 10.0),
        "ou-near-two": (0.05, TemperedStableJumps(0.1, 1.9, 1.0), 12.0),
        "ou-stable-words": (0.1, TemperedStableJumps(0.5, 1.3, 1.5, "stable"), 10.0),
        "ou-jumps-one": (0.0, TemperedStableJumps(1.0, 1.0, 1.5), 15.0),
        "ou-jumps-three-halves": (0.0, TemperedStableJumps(0.4, 1.5, 2.2), 9.0),
    }
    cases = []
    for slug, (diffusion, jumps, half) in laws.items():
        model = Model(LinearDrift(1.0, 0.5), diffusion, jumps)
        tags = ("jumps", "linear") if diffusion > 0 else ("jumps", "linear", "pure jumps")
        extent = (0.5 - 40 / jumps.tempering, 0.5 + 40 / jumps.tempering)

        def log_density(zeta: Array, model: Model = model) -> Array:
            return ornstein_uhlenbeck(model, zeta)

        cases.append(Case(slug, tags, model, Density(log_density, 0.5 - half, 0.5 + half, extent)))
        cases.append(_characteristic(f"{slug}-characteristic", tags, model))
    laplace = Model(LinearDrift(0.8, -0.3), 0.2, LaplaceJumps(1.5, 2.0))
    return [*cases, _characteristic("ou-laplace-characteristic", ("jumps", "linear", "laplace"), laplace)]


def _characteristic(slug: str, tags: tuple[str, ...], model: Model) -> Case:
    return Case(slug, tags, model, CharacteristicFunction(lambda k: log_characteristic(model, k), (0.1, 0.5, 1.0, 3.0)))


def _wall_cases() -> list[Case]:
    """F = κ - a e^ζ with jumps: moments. Only s well below λ is asked for, since the stop edge cuts e^{(s-λ)ζ} off."""
    # Past 14 the mass lost at the stop edge is below 1e-10 even where s = λ/2; from 20 on h = 0.025 is too coarse for
    # a drift of e^20, and entries turn negative.
    grid = Grid(-24.0, 14.0, 1521, ("open", "stop"))
    models = {
        "1.2": Model(ExponentialDrift(1.0, 1.0), 0.1, TemperedStableJumps(0.8, 1.2, 2.2)),
        "1.5": Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)),
        "0.6": Model(ExponentialDrift(0.7, 2.0), 0.2, TemperedStableJumps(0.5, 0.6, 3.0)),
        "1": Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.3, 1.0, 2.5)),
        "laplace": Model(ExponentialDrift(1.0, 1.0), 0.3, LaplaceJumps(0.6, 3.5)),
    }
    cases, tags = [], ("jumps", "plateau", "wall")
    for name, model in models.items():
        beta, lam = root(model, model.left_plateau), model.jumps.tempering if model.jumps else math.nan
        exponents = (-0.8 * beta, -0.5 * beta, -0.2, 0.0, 0.1, 0.3 * lam, 0.5 * lam)
        cases.append(Case(f"wall-{name}", tags, model, MomentRatios(model, exponents), grid=grid))
    integer = Model(ExponentialDrift(1.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 6.0))
    # with λ = 6 the tail falls so fast that a nearer edge is enough, and e^{-84} at the other is not resolved
    nearer = Grid(-24.0, 9.0, 1321, ("open", "stop"))
    return [*cases, Case("wall-integer", tags, integer, IntegerMoments(integer, 4), grid=nearer)]


def root(model: Model, plateau: float) -> float:
    """β from the textbook formula of ψ, by bisection: shares no line with solver.exponent."""

    def balance(b: float) -> float:
        jumps = 0.0
        if isinstance(model.jumps, TemperedStableJumps):
            jumps = float(unit_exponent(model.jumps, np.array(b)).real)
        elif isinstance(model.jumps, LaplaceJumps):
            jumps = model.jumps.rate * b**2 / (model.jumps.tempering**2 - b**2)
        return model.diffusion * b + jumps / b - plateau

    assert model.jumps is not None
    return float(brentq(balance, 1e-3, model.jumps.tempering * (1 - 1e-9), xtol=1e-15, rtol=1e-14))


def _untempered_cases() -> list[Case]:
    """Cauchy noise of intensity 1 in steep wells: the symbol is -|k|."""
    noise = TemperedStableJumps(1.0, 1.0, 0.0, "stable")
    cubic = CallableDrift(lambda z: -(z**3), left=math.inf, right=math.inf, scale=1.0)
    quintic = CallableDrift(lambda z: -(z**5), left=math.inf, right=math.inf, scale=1.0)
    tags = ("jumps", "cauchy", "pure jumps", "untempered")
    # Left to itself the solver takes 20 s and 110 s for ln ρ to 1e-8 at every depth; ρ to 1e-8 takes 2 s on this grid.
    grid = Grid(-20.0, 20.0, 3201, "open")
    laws = (
        ("cauchy-cubic", cubic, exact.cubic_log_density, "-ζ³"),
        ("cauchy-quintic", quintic, exact.quintic_log_density, "-ζ⁵"),
    )
    return [
        Case(slug, tags, Model(drift, 0.0, noise), _powers(law), grid=grid, drift=words)
        for slug, drift, law, words in laws
    ]


def _powers(law: Callable[[Array], Array]) -> Density:
    """A density with tails that are powers."""
    return Density(law, -50.0, 50.0, None, bound=UNTEMPERED)


CORNER = exact.Corner(plateau=1.0, diffusion=0.3, rate=0.5, tempering=2.0)
CORNER_BOUND = 1e-8


def _plateau_cases() -> list[Case]:
    """Jumps and plateaus: the corner, densities that were chosen first, and exponents."""
    left, right = 0.8, 1.3
    rational = LaplaceMade(Logistic(left, right), 0.3, LaplaceJumps(0.7, 2.0))
    stable = StableMade(Logistic(left, right), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    baseline = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    # The step costs order 2 away from the corner and order 1 at it, but beyond a step everything is flat: an open grid
    # of this width is enough, and 65 537 nodes take 0.4 s.
    narrow = Grid(-1.0, 1.0, 65_537, "open")
    corner = Density(CORNER.log_density, -9.0, 9.0, None, away=0.1, bound=CORNER_BOUND)
    made, step = ("jumps", "plateau", "manufactured"), ("jumps", "plateau", "corner", "laplace")
    cases = [
        Case("corner", step, CORNER.model, corner, grid=narrow, drift="-sign ζ"),
        Case(
            "corner-exponent",
            step,
            CORNER.model,
            Exponent(*(2 * [float(CORNER.decays[0])])),
            grid=narrow,
            drift="-sign ζ",
        ),
        Case("baseline-exponent", ("jumps", "plateau", "tanh"), baseline, Exponent(*(2 * [root(baseline, 1.0)]))),
    ]
    for slug, law in (("made-laplace", rational), ("made-stable", stable)):
        model, tags, words = law.model, (*made, "laplace") if law is rational else made, "from zero flux"
        cases.append(Case(slug, tags, model, Density(law.log_density, -25.0, 18.0), drift=words))
        cases.append(Case(f"{slug}-exponent", tags, model, Exponent(left, right), drift=words))
    return cases


CASES: tuple[Case, ...] = (
    *_diffusion_cases(),
    *_linear_cases(),
    *_wall_cases(),
    *_untempered_cases(),
    *_plateau_cases(),
)
BY_SLUG = {case.slug: case for case in CASES}
