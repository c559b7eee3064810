"""The increment of the noise behind a step from x to y, and what the drift did on the way.

    r = φ⁻¹(y) - φ(x),    φ the flow of the drift over half the interval

Strang's splitting: half a flow, the noise of the whole interval, half a flow. Under the model r has the law of that
noise whatever x is, so that drift and noise part: ln p(y | x) = ln f(r) - ln φ'(φ⁻¹(y)). No Euler mean is taken, hence
none of its bias of order interval · F'.

The catch is the error of the splitting: a κ too high by 5% at interval · F' = 0.25 and by 24% at 1 (measured).
`splitting_bias` takes it off. A logistic drift has its flow only implicitly: it is tabulated by Runge and Kutta and
read through a cubic spline.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from solver.drifts import Drift

Array = NDArray[np.float64]

# Nodes of a table per length of the drift: a cubic spline then errs by less than 1e-6 of a step, far below the noise.
_PER_LENGTH, _MOST_NODES = 24, 4000
# Steps of Runge and Kutta are at most this part of the time in which the drift crosses its own length: error 1e-8.
_PART = 0.1


def residuals(drift: Drift, interval: float, x: Array, y: Array) -> tuple[Array, Array]:
    """(r, ln φ'(φ⁻¹(y))), both in the shape of x: the noise of each step, and the Jacobian of the half flow.

    >>> from solver.drifts import LogisticDrift
    >>> drift = LogisticDrift(1.0, 1.0, 0.0, 0.5)  # tanh: sinh φ(x) = sinh x e^{-t}
    >>> r, log_jacobian = residuals(drift, 0.2, np.array([-1.0]), np.array([0.5]))
    >>> bool(abs(r[0] - np.arcsinh(np.sinh(0.5) * np.exp(0.1)) - np.arcsinh(np.sinh(1.0) * np.exp(-0.1))) < 1e-7)
    True
    """
    low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    nodes = np.linspace(low, high, _node_count(drift, high - low))
    forth = CubicSpline(nodes, runge_kutta(drift, nodes, 0.5 * interval))
    back = CubicSpline(nodes, runge_kutta(drift, nodes, -0.5 * interval))
    # φ'(φ⁻¹(y)) = 1/(φ⁻¹)'(y), and for a flow (φ⁻¹)'(y) = F(φ⁻¹(y))/F(y): the spline's slope needs no quotient
    return np.asarray(back(y) - forth(x)), -np.log(CubicSpline(nodes, back(nodes, 1))(y))


def runge_kutta(drift: Drift, zeta: Array, time: float) -> Array:
    """ζ after `time` (negative: before) of the drift alone, by the classical fourth-order steps."""
    rise = abs(drift.right_limit - drift.left_limit)
    steps = max(1, math.ceil(abs(time) * rise / (_PART * drift.length_scale) / 2))
    h, z = time / min(steps, 1000), zeta
    for _ in range(min(steps, 1000)):
        a = drift(z)
        b = drift(z + 0.5 * h * a)
        c = drift(z + 0.5 * h * b)
        z = z + h / 6 * (a + 2 * b + 2 * c + drift(z + h * c))
    return np.asarray(z)


def _node_count(drift: Drift, span: float) -> int:
    return int(min(_MOST_NODES, max(64, _PER_LENGTH * span / drift.length_scale)))
