"""How a check says what it expected and what it got."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


class ContractError(AssertionError):
    """A plugin does not do what its kind promises."""


def fail(expected: str, got: object) -> NoReturn:
    """Raise the ContractError of a check, which puts its own name before the message."""
    raise ContractError(f"expected {expected}, but got {got}.")


def require(holds: bool | np.bool_, expected: str, got: object) -> None:
    """:func:`fail` unless it holds."""
    if not holds:
        fail(expected, got)


def at_least(what: str, value: float, bound: float, slack: float = 0.0) -> None:
    """ContractError unless a number is ``bound`` or more, but for the slack."""
    require(value >= bound - slack, f"{what} of {bound:.8g} at least", f"{value:.8g}")


def at_most(what: str, value: float, bound: float, slack: float = 0.0) -> None:
    """ContractError unless a number is ``bound`` or less, but for the slack."""
    require(value <= bound + slack, f"{what} of {bound:.8g} at most", f"{value:.8g}")


def finite(what: str, value: Any) -> None:
    """ContractError unless all of it is finite."""
    require(bool(np.isfinite(value).all()), f"finite {what}", value)


def near(what: str, one: Any, other: Any, tolerance: float) -> None:
    """Two arrays must agree to ``tolerance`` of the largest entry."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if one.shape != other.shape:
        fail(f"{what} of the shape {other.shape}", f"the shape {one.shape}")
    scale = max(float(np.abs(other).max(initial=0.0)), 1e-12)
    off = float(np.abs(one - other).max(initial=0.0)) / scale
    require(off <= tolerance, f"{what} equal to {tolerance:g}, relatively", f"{off:.2g}")
