"""Where the nodes go: the first spacing and the domain, from the model's own lengths.

Three lengths matter: the one over which the drift changes, the one at which noise and drift balance near the peak,
and (without jumps) the steepest slope of ρ. The domain ends where the drift has become constant (an open edge, no
truncation at all) or, if that comes first, well beyond the body of the density.

The catch: these are starting points, and cheap ones. What they miss shows in the comparison of levels and of domains,
on which alone the error estimate rests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.optimize

from solver.grid import Grid
from solver.model import Model

# A drift counts as constant where it differs from its limit by this fraction of rtol: the step that is left at the
# edge shows in ln ρ as the same fraction (pure jumps, measured), ten times less than an edge may cost.
FLAT = 1e-3
# The body of a density: everything between the two points with this mass beyond (the contract of rtol).
BODY = 1e-12
# Spacing in units of the smallest length at rtol 1e-8 (measured: tanh drift, width 1, error 1e-9 to 1e-8 at order 8).
_FINEST = 0.085
# The coarsest of the three levels that an observed order takes, in units of the finest.
_FIRST = 4.0
# A slope S of ln ρ is resolved when S h is below this.
_STEEP = 0.5
# tempering × spacing at most this on the coarsest level: the lattice corrections are a series in it that needs 1.
_TEMPERED = 0.9
# Points of a scan of the drift: enough to see a width of 1/200 of the stretch, the rest is found by the levels.
_SCAN = 1001
# A plateau within this many drift widths is worth the nodes: a drift that decays exponentially is flat to 1e-15 within
# 20; one that does not has none within reach, and the domain ends beyond the body instead.
_WIDE = 60.0
# Half-width of the first domain in logarithms of ρ: the body and as much again as the wanted accuracy asks for.
FIRST_DEPTH = -np.log(BODY)


@dataclass(frozen=True)
class Domain:
    """The interval that carries nodes, and what its ends mean.

    `centre` lies on a node of every grid; `settled` says for each side that nothing is left to test: the drift is
    constant beyond. `assumptions` are sentences for the result.
    """

    left: float
    right: float
    centre: float
    edges: tuple[str, str]
    settled: tuple[bool, bool]
    assumptions: tuple[str, ...]

    def grid(self, spacing: float) -> Grid:
        """Nodes of about this spacing or finer: the centre is a node and both ends are whole steps away."""
        before = int(np.ceil((self.centre - self.left) / spacing - 1e-9))
        after = int(np.ceil((self.right - self.centre) / spacing - 1e-9))
        left, right = self.centre - before * spacing, self.centre + after * spacing
        return Grid(left, right, before + after + 1, self.edges)

    def widened(self, factor: float) -> Domain:
        """The sides that are not settled, moved away from the centre."""
        left = self.left if self.settled[0] else self.centre - factor * (self.centre - self.left)
        right = self.right if self.settled[1] else self.centre + factor * (self.right - self.centre)
        return replace(self, left=left, right=right)

    def scaled(self, factor: float) -> Domain:
        """The open sides moved away from the centre, or towards it."""
        sides = (self.left - self.centre, self.right - self.centre)
        factors = (factor if edge == "open" else 1.0 for edge in self.edges)
        left, right = (self.centre + scale * side for side, scale in zip(sides, factors, strict=True))
        return replace(self, left=left, right=right)

    def trimmed(self, left: float, right: float) -> Domain:
        """The domain cut to [left, right], which leaves the sides that are cut unsettled."""
        settled = (self.settled[0] and self.left >= left, self.settled[1] and self.right <= right)
        note = tuple(
            f"drift taken as its limit beyond the {side} edge, which lies beyond the body of the density but before "
            "the drift is constant"
            for side, before, after in zip(("left", "right"), self.settled, settled, strict=True)
            if before and not after
        )
        return replace(
            self,
            left=max(self.left, left),
            right=min(self.right, right),
            settled=settled,
            assumptions=self.assumptions + note,
        )

    def cut(self, left: float, right: float) -> Domain:
        """The unsettled sides moved to these places, where they lie inside."""
        return replace(
            self,
            left=self.left if self.settled[0] else max(self.left, left),
            right=self.right if self.settled[1] else min(self.right, right),
        )


def first_domain(model: Model, rtol: float) -> Domain:
    """Ends where the drift is constant to `rtol`, or where a rough ln ρ has fallen far below the body.

    For untempered jumps there is no such place: see `power_domain`.
    """
    drift = model.drift
    zeros = drift.sign_changes()
    centre = float(drift.breaks[0] if drift.breaks else zeros[zeros.size // 2])
    depth = FIRST_DEPTH - 0.5 * np.log(rtol)
    ends, edges, settled, assumptions = [], [], [], list(drift.assumed)
    for side, limit in ((-1, drift.left_limit), (1, drift.right_limit)):
        outermost = float(zeros[0] if side < 0 else zeros[-1])
        bounded = bool(np.isfinite(limit))
        tolerance = FLAT * rtol * abs(limit) / max(1.0, _steepest_tail(model, limit) * least_width(model))
        reach = drift.plateau_reach(tolerance)[0 if side < 0 else 1] if bounded else side * np.inf
        deep = depth_reached(model, outermost, side, depth)
        worth = 2 * abs(deep - outermost)
        if model.jumps is not None:  # then the rough ln ρ may fall much faster than the density
            worth = max(worth, _WIDE * least_width(model))
        flat = abs(reach - outermost) <= worth
        ends.append(side * max(side * reach, side * outermost) if flat else deep)
        edges.append("open" if bounded else "stop")
        settled.append(flat and bounded)
        if bounded and not flat:
            assumptions.append(
                f"drift taken as its limit {limit:g} beyond the {'left' if side < 0 else 'right'} edge, which it "
                "approaches slowly; the edge lies beyond the body of the density"
            )
    # without jumps the rough ln ρ is the density, and it may be far narrower than the drift
    scale = 0.0 if model.jumps is None else least_width(model)
    left = min(ends[0], centre - scale, float(zeros[0]) - scale)
    right = max(ends[1], centre + scale, float(zeros[-1]) + scale)
    return Domain(left, right, centre, (edges[0], edges[1]), (settled[0], settled[1]), tuple(assumptions))


def _steepest_tail(model: Model, limit: float) -> float:
    """A bound of the decay rate beyond a plateau, which turns an error of the drift into one of ln ρ."""
    diffusive = abs(limit) / model.diffusion if model.diffusion > 0 else np.inf
    return diffusive if model.jumps is None else min(diffusive, model.jumps.tempering)


def first_spacing(model: Model, domain: Domain, rtol: float, order: int) -> float:
    """The spacing of the coarsest level: `_FIRST` times the one at which a smooth model should reach `rtol`."""
    spacing = (
        _FIRST * _FINEST * min(model.drift.length_scale, _balance(model)) * (max(rtol, 1e-12) / 1e-8) ** (1 / order)
    )
    if model.jumps is not None and model.jumps.tempering > 0:
        spacing = min(spacing, _TEMPERED / model.jumps.tempering)
    if model.jumps is None:
        steepest = _steepest(model, domain)
        spacing = min(spacing, _FIRST * _STEEP * model.diffusion / steepest) if steepest > 0 else spacing
    return float(min(spacing, (domain.right - domain.left) / 16))


def _steepest(model: Model, domain: Domain) -> float:
    """The largest |F| within the body of pure diffusion."""
    zeta = np.linspace(domain.left, domain.right, _SCAN)
    drift = model.drift(zeta)
    potential = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(zeta) * (drift[1:] + drift[:-1]))]) / model.diffusion
    # at least: next to a potential of 1e17 the logarithm of BODY is lost
    return float(np.abs(drift[potential >= potential.max() + np.log(BODY)]).max())


def _balance(model: Model) -> float:
    """The length ℓ at which the noise of both kinds undoes the drift's contraction: η_G/ℓ² + |symbol(1/ℓ)| = |F'|.

    F' is taken around the points where F vanishes, away from its breaks.
    """
    zeros, width = model.drift.sign_changes(), least_width(model)
    zeta = np.linspace(zeros[0] - width, zeros[-1] + width, _SCAN)
    step = zeta[1] - zeta[0]
    slope = np.abs(np.diff(model.drift(zeta)) / step)
    smooth = np.all([(zeta[1:] < x) | (zeta[:-1] > x) for x in model.drift.breaks], axis=0)
    contraction = float(np.max(slope, where=smooth, initial=0.0))
    if contraction == 0:
        return np.inf

    def excess(log_length: float) -> float:
        k = np.exp(-log_length)
        noise = model.diffusion * k * k
        if model.jumps is not None:
            noise -= float(model.jumps.symbol(k))
        return float(np.log(noise / contraction)) if noise > 0 else -1e3

    low, high = -60.0, 60.0  # lengths from 1e-26 to 1e26; small α alone balances at none of them, which is no length
    if excess(low) < 0:
        return np.inf
    return float(np.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-3))) if excess(high) < 0 else np.inf


def least_width(model: Model) -> float:
    """A domain is at least this wide on either side: a few drift widths, or of the noise's own length."""
    scale = model.drift.length_scale
    return float(scale if np.isfinite(scale) else 1.0)


def depth_reached(model: Model, start: float, side: int, depth: float) -> float:
    """Where a rough ln ρ, integrated outwards from `start`, has fallen by `depth`; doubling steps."""
    cap = np.inf if model.jumps is None else model.jumps.tempering
    # a step that rounding swallows, or that does not grow because it is denormal, would never arrive
    step = max(1e-3 * least_width(model), float(np.spacing(abs(start))), float(np.finfo(float).tiny))
    position, fallen = start, 0.0
    speed = abs(float(model.drift(start + side * least_width(model))))
    thinned = 0.0  # a growing drift thins the density out: ρ is about flux / |F|
    while fallen + thinned < depth and abs(position - start) < 1e7:
        points = position + side * step * np.linspace(0, 1, 33)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = -side * model.drift(points) / model.diffusion
        # inwards from the outermost zero on; rounding may say otherwise at the zero itself
        slope = np.minimum(np.maximum(np.where(np.isnan(slope), 0.0, slope), 0.0), cap)
        fallen += float(np.trapezoid(slope, dx=step / 32))
        position += side * step
        thinned = np.log(max(1.0, abs(float(model.drift(position))) / speed)) if speed > 0 else 0.0
        step *= 1.3
    return position
