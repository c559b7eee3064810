"""Where, of several growing depths, a reading of an asymptotic number is best made, and how far off it may be there.

A reading v(s) that tends to its limit as a power of 1/s, 1/s or faster, is off by at most what it changes from s/2 to
s; two powers of opposite sign may cancel in that change, but then not in the change from s/4 too (of which they are a
third at most). One that has come to rest on something else first, an exponential that a slower one overtakes further
out, is seen by what the readings further out say.

    change(s) = 2 max( |v(s) - v(s/2)|, |v(s) - v(s/4)|/3, |v(s') - v(s)| beyond its own error, every deeper s' )

The catch: nothing is known of what lies deeper than the deepest reading.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Depths before a reading that its change is taken from: half of it and a quarter.
BEFORE = 2
_SAFETY = 2.0


def doublings(first: float, last: float) -> Array:
    """Depths that double up to exactly `last`: the shallowest that is used for a reading is `first` or just above, and
    BEFORE more lie before it.

    >>> doublings(3.0, 16.0)
    array([ 1.,  2.,  4.,  8., 16.])
    """
    count = max(0, int(np.floor(np.log2(last / first)))) + BEFORE
    return np.asarray(last * 0.5 ** np.arange(count, -1, -1.0))


def changes(values: Array, own: Array) -> Array:
    """change(s) for all depths but the BEFORE shallowest, from all readings and the own errors of these.

    >>> s = doublings(1.0, 64.0)
    >>> off = 3.0 / s - 8.0 / s**2  # tends to 0, and does not change from s = 4 to 8
    >>> bool((changes(off, np.zeros(7)) >= abs(off[2:])).all())
    True
    >>> early = np.array([3.3, 3.3, 3.3, 3.3, 2.2, 2.2, 2.2])  # at rest on 3.3 first
    >>> changes(early, np.zeros(5)).round(1).tolist()
    [2.2, 2.2, 2.2, 0.7, 0.0]
    """
    here = values[BEFORE:]
    seen = np.maximum(np.abs(here - values[1:-1]), np.abs(here - values[:-BEFORE]) / 3)
    later = np.abs(values[None, BEFORE:] - here[:, None]) - own[None, :] - own[:, None]
    return np.asarray(_SAFETY * np.maximum(seen, np.triu(later).max(axis=1, initial=0.0)))
