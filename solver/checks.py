"""Every check of a parameter, and the wording of its complaint, in one place.

A check returns the value in the type the rest of the code relies on (a plain float, a plain str) or raises
ModelError naming field, value and what is allowed. The catch it guards against: Python takes True, numpy's
NaN and the string "0.3" for numbers or lets them through comparisons; none of them is a parameter.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.errors import ModelError

# difflib's default cutoff is 0.6; 0.5 still finds "alpha-stable" -> "stable" and "lin" -> "linear" and stays
# silent on words that have nothing in common. A wrong guess costs little: the full list is always printed.
_SIMILARITY = 0.5


def interval(low: float, high: float, open_low: bool = False, open_high: bool = False) -> str:
    """The interval in the usual notation: round brackets at an excluded or infinite end.

    >>> interval(0.0, 2.0, open_low=True)
    '(0, 2]'
    """
    left = "(" if open_low or math.isinf(low) else "["
    right = ")" if open_high or math.isinf(high) else "]"
    return f"{left}{low:g}, {high:g}{right}"


def number(
    field: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    integer: bool = False,
) -> float:
    """`value` as a finite float inside the interval; ints, fractions, decimals, numpy scalars and arrays without axes
    pass, bool and text do not.

    With `integer` the value must be whole (3 and 3.0 pass). Raises ModelError naming field, value and range.

    >>> number("diffusion", 1, low=0.0)
    1.0
    >>> number("stability", 2.5, low=0.0, high=2.0, open_low=True, open_high=True)
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: stability = 2.5: must lie in (0, 2)
    """
    kind = "a whole number" if integer else "a finite number"
    allowed = interval(low, high, open_low, open_high)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # an array without axes holds one number
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        raise ModelError(f"{field} = {shown(value)}: must be {kind}, got {type(value).__name__}")
    try:
        result = float(value)
    except ValueError:  # a decimal's signalling NaN
        raise ModelError(f"{field} = {shown(value)}: must be {kind} in {allowed}") from None
    except OverflowError:
        raise ModelError(f"{field} = {shown(value)}: must be {kind} that fits a double") from None
    if not math.isfinite(result) or (integer and not result.is_integer()):
        raise ModelError(f"{field} = {as_given(value)}: must be {kind} in {allowed}")
    below = result <= low if open_low else result < low
    above = result >= high if open_high else result > high
    if below or above:
        raise ModelError(f"{field} = {as_given(value)}: must lie in {allowed}")
    return result


def as_given(value: Any) -> str:
    """A number as its giver wrote it: -3 stays -3, and a numpy scalar becomes a plain number.

    >>> as_given(-3), as_given(-3.0)
    ('-3', '-3.0')
    """
    return shown(value) if isinstance(value, int) else repr(float(value))


def positive(field: str, value: Any) -> float:
    """`value` as a finite float > 0.

    >>> positive("width", 0.5)
    0.5
    """
    return number(field, value, low=0.0, open_low=True)


def choice(field: str, value: Any, allowed: Iterable[str]) -> str:
    """`value` if it is one of the allowed words; otherwise ModelError with the list and the nearest word.

    >>> choice("convention", "levi", ("levy", "stable"))
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: convention = 'levi': must be one of 'levy', 'stable'; did you mean 'levy'?
    """
    words = tuple(allowed)
    if isinstance(value, str) and value in words:
        return str(value)
    listed = ", ".join(repr(word) for word in words)
    raise ModelError(f"{field} = {shown(value)}: must be one of {listed}{suggestion(value, words)}")


def instance(field: str, value: Any, kind: type, example: str) -> None:
    """Raise ModelError unless `value` is a `kind`; `example` says how one is made.

    >>> instance("density", None, float, "solve_stationary(model)")
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: density = None: must be a float such as solve_stationary(model), got NoneType
    """
    if not isinstance(value, kind):
        raise ModelError(
            f"{field} = {shown(value)}: must be a {kind.__name__} such as {example}, got {type(value).__name__}"
        )


def suggestion(word: Any, allowed: Iterable[str]) -> str:
    """'; did you mean ...?' with the nearest allowed word, or '' when none is near. Case is ignored.

    >>> suggestion("Stabilty", ["stability", "tempering"])
    "; did you mean 'stability'?"
    """
    if not isinstance(word, str):
        return ""
    folded = {name.casefold(): name for name in allowed}
    near = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=_SIMILARITY)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


def shown(value: Any) -> str:
    """repr, cut to one readable length: a message must not print a table of a million entries."""
    try:
        text = repr(value)
    except ValueError:  # CPython refuses to print integers of more than 4300 digits
        text = f"{type(value).__name__} too long to print"
    return text if len(text) <= 60 else text[:57] + "..."


def array(field: str, values: Any, error: type[Exception] = ModelError) -> NDArray[np.float64]:
    """`values` as an array of floats of any shape, NaN and infinities included.

    `error` for text, complex numbers, truth values, rows of different lengths and anything else that is none.

    >>> array("zeta", [[1, 2.5]]).shape
    (1, 2)
    >>> array("zeta", ["a"])
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: zeta = ['a']: must be numbers, in an array or in lists of one length
    """
    try:
        given = np.asarray(values)
        if given.dtype.kind in "iuf" or (given.dtype.kind == "O" and all(map(_is_number, given.flat))):
            return np.asarray(given, dtype=float)
    except (ValueError, TypeError, OverflowError):
        pass
    raise error(f"{field} = {shown(values)}: must be numbers, in an array or in lists of one length")


def _is_number(value: Any) -> bool:
    return isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_))


def too_extreme(parameters: Iterable[tuple[str, float]]) -> ModelError:
    """The error for finite numbers other than 0 that a double cannot combine; it names the most extreme one."""
    name, value = max(parameters, key=lambda pair: abs(math.log(abs(pair[1]))))
    return ModelError(
        f"{name} = {value!r}: with the other parameters it leaves the range of doubles; choose units of ζ and "
        "of time in which all of them are nearer to 1"
    )


def numbers(field: str, values: Any) -> tuple[float, ...]:
    """A list, tuple or 1-d array of finite numbers as a tuple of floats; ModelError names the entry.

    >>> numbers("zeta", [0, 1.5])
    (0.0, 1.5)
    """
    listed = isinstance(values, Iterable) and getattr(values, "shape", None) != ()  # an array without axes is no list
    if isinstance(values, (str, bytes, Mapping)) or not listed:
        raise ModelError(f"{field} = {shown(values)}: must be a list of numbers, got {type(values).__name__}")
    return tuple(number(f"{field}[{i}]", value) for i, value in enumerate(values))
