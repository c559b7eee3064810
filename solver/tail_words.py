"""The three tail laws that one TailForm stands for, in words for a summary line or a legend.

The catch: the law of the envelope is not always the law of the time scales with Γ in front. Without an
exponential (λ = 0) f(ℓ) is the mass of ρ below -ln ℓ, which has one power of the depth more.
"""

from __future__ import annotations

import math

from solver.tail_form import TailForm


def power_of_depth(tail: TailForm, variable: str) -> float:
    """The power of |ζ|, ln τ or ln ℓ in the law of ρ ("zeta"), p ("tau") or f ("lag")."""
    return tail.power + (1.0 if variable == "lag" and tail.exponent == 0 else 0.0)


def law_in_words(tail: TailForm, variable: str) -> str:
    """The law of ρ ("zeta"), p ("tau") or f ("lag") far out, constants left out.

    >>> law_in_words(TailForm("root", 0.5, 0.0), "zeta"), law_in_words(TailForm("root", 0.5, 0.0), "tau")
    ('e^(0.5 ζ)', 'τ^-1.5')
    >>> law_in_words(TailForm("tempered", 1.0, -1.5), "lag"), law_in_words(TailForm("stable", 0.0, -1.5), "lag")
    ('ℓ^-1 (ln ℓ)^-1.5', '(ln ℓ)^-0.5')
    >>> law_in_words(TailForm("root", 2e-4, 0.0), "tau"), law_in_words(TailForm("root", 3e-9, 0.0), "tau")
    ('τ^-1.0002', 'τ^-(1 + 3e-09)')
    """
    if not math.isfinite(tail.exponent):
        return str(tail)
    depth = {"zeta": "|ζ|", "tau": "(ln τ)", "lag": "(ln ℓ)"}[variable]
    power = power_of_depth(tail, variable)
    factors = []
    if variable == "tau":
        factors.append(f"τ^-{_offset(1, tail.exponent)}")
    elif tail.exponent:
        factors.append(f"e^({tail.exponent:.4g} ζ)" if variable == "zeta" else f"ℓ^-{tail.exponent:.4g}")
    if power:
        factors.append(f"{depth}^{power:.4g}")
    if tail.log_power:
        factors.append(f"(ln {depth})^{tail.log_power}")
    return (" ".join(factors) or "1") + tail.drift_factor


def _offset(whole: int, exponent: float) -> str:
    """whole + exponent in four digits, or in as many as a small exponent takes to show, or as a sum.

    >>> _offset(1, 1.26736), _offset(1, 0.0), _offset(-1, 4e-6), _offset(-1, 4e-12)
    ('2.267', '1', '-0.999996', '(-1 + 4e-12)')
    """
    for digits in range(4, 9):  # more are hard to count
        text = f"{whole + exponent:.{digits}g}"
        if abs(float(text) - whole - exponent) <= 0.1 * exponent:
            return text
    return f"({whole} + {exponent:.4g})"


def right_law(tail: TailForm) -> str:
    """The law of ρ far to the right and, the same thing, of p(τ) at τ → 0.

    >>> right_law(TailForm("tempered", 1.0, -1.5))
    'ρ ~ e^(-1 ζ) ζ^-1.5, p ~ τ^0 |ln τ|^-1.5 at τ → 0'
    >>> right_law(TailForm("confined", math.inf, 0.0))
    'faster than any exponential'
    """
    if not math.isfinite(tail.exponent):
        return str(tail)
    laws = []
    for head, depth in ((f"ρ ~ e^({-tail.exponent:.4g} ζ)", "ζ"), (f"p ~ τ^{_offset(-1, tail.exponent)}", "|ln τ|")):
        powers = f" {depth}^{tail.power:.4g}" if tail.power else ""
        powers += f" (ln {depth})^{tail.log_power}" if tail.log_power else ""
        laws.append(head + powers + tail.drift_factor)
    return ", ".join(laws) + " at τ → 0"


def all_laws(tail: TailForm) -> str:
    """ρ, p and f on one line.

    >>> all_laws(TailForm("threshold", 1.0, 0.0, log_power=-1))
    'ρ ~ e^(1 ζ) (ln |ζ|)^-1, p ~ τ^-2 (ln (ln τ))^-1, f ~ ℓ^-1 (ln (ln ℓ))^-1'
    >>> all_laws(TailForm("confined", math.inf, 0.0))
    'faster than any exponential'
    """
    if not math.isfinite(tail.exponent):
        return str(tail)
    names = {"ρ": "zeta", "p": "tau", "f": "lag"}
    return ", ".join(f"{name} ~ {law_in_words(tail, variable)}" for name, variable in names.items())
