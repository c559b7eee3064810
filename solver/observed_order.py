"""What two successive changes under halving say about the error that is left.

The catch: a nominal order is a promise about smooth models. Only the ratio of two changes says whether it is kept.
"""

from __future__ import annotations

import numpy as np

# Fewer halves of an order than this are not told apart: the error is then the change times 1/(2^{1/2} - 1).
_LEAST = 0.5


def error_factor(ratio: float, nominal: int) -> float:
    """Error of the finer of two levels in units of their difference; `ratio` is the difference before, to this one.

    With p = log2(ratio), at most the nominal order: 1/(2^{p-1} - 1), one order less than was seen; slower than second
    order 1, or 1/(2^p - 1) where that is more. 1 where there is no ratio (not finite).

    >>> [round(error_factor(ratio, 8), 4) for ratio in (256.0, 2.0, 1.0, np.inf)]
    [0.0079, 1.0, 2.4142, 1.0]
    """
    if not np.isfinite(ratio) or ratio <= 0:
        return 1.0
    p = float(min(max(np.log2(ratio), _LEAST), nominal))
    return float(1 / (2 ** (p - 1) - 1)) if p > 2 else float(max(1.0, 1 / (2**p - 1)))
