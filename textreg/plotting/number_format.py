"""Numbers as people write them."""

from __future__ import annotations

from collections.abc import Sequence


def minus(number: str) -> str:
    """A number that Python wrote, with the minus sign of print."""
    return number.replace("-", "\N{MINUS SIGN}")


def fixed(value: float, digits: int = 3) -> str:
    """So many digits after the point."""
    return minus(f"{value:.{digits}f}")


def short(value: float) -> str:
    """Four digits in all, thousands apart."""
    return minus(f"{value:,.4g}")


def small(value: float) -> str:
    """A power of ten."""
    return minus(f"{value:.1e}")


def signed(value: float, digits: int = 3) -> str:
    """With its sign; without one where all digits are zeros."""
    if not value:
        return "0"
    text = f"{value:+.{digits}f}"
    return minus(text) if float(text) else text[1:]


def percent(share: float) -> str:
    """7.7 %, 34 %."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 or not value else f"{value:.2g} %"


def telling(pairs: Sequence[tuple[str, float]], digits: int = 2) -> list[tuple[str, float]]:
    """The pairs whose number is not all zeros with so many digits."""
    return [pair for pair in pairs if round(pair[1], digits)]
