"""What a check is, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from textreg.errors import UsageError, did_you_mean
from textreg.plugins import registry
from textreg.testing.limits import SECONDS, limited, within_time

PAGE = "docs/contract.md"
"""Where every check is described, under its own name."""


class ContractError(AssertionError):
    """A plugin does not do what its kind promises."""


class TimeLimitError(ContractError):
    """A check ran out of time."""


class Skipped(Exception):  # noqa: N818  # it is no error
    """A check cannot ask this of a part; the message says why."""


def always(part: Any) -> bool:
    """Whether a check applies, as most do: to everything of its kind.

    Parameters
    ----------
    part : Plugin or callable
        A part of the kind that is checked.

    Returns
    -------
    bool
        True.
    """
    return True


@dataclass(frozen=True)
class Check:
    """One promise of a kind of plugin.

    Parameters
    ----------
    name : str
        Short, and the heading on the page of the contract.
    promise : str
        What is asked, in a sentence.
    run : callable
        Called with the plugin; raises ContractError.
    applies : callable, optional
        Called with the plugin; says whether this is asked of it. By default it is.
    """

    name: str
    promise: str
    run: Callable[[Any], None]
    applies: Callable[[Any], bool] = always

    def __call__(self, part: Any) -> None:
        """Run the check, if it applies.

        Parameters
        ----------
        part : Plugin or callable
            A part of the kind that is checked.

        Raises
        ------
        ContractError
            If ``part`` does not keep the promise.
        """
        if self.applies(part):
            with suppress(Skipped):
                self.run(part)

    def __str__(self) -> str:
        return self.name


class Checks:
    """The checks of one kind, in the order they are written down.

    kind: of plugin, whose checks are called with a name, a class or an instance and pass an
    instance on; without it they pass on what they are called with.
    """

    def __init__(self, kind: str = "") -> None:
        self.all: list[Check] = []
        self._kind = kind

    def add(
        self, name: str, applies: Callable[[Any], bool] = always
    ) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """Decorate the function of a check; its docstring is the promise."""

        def instance(part: Any) -> Any:
            return registry.create(self._kind, part) if self._kind else part

        def keep(run: Callable[[Any], None]) -> Callable[[Any], None]:
            def named(part: Any) -> None:
                try:
                    late = within_time(lambda: run(instance(part)))
                    if late:
                        raise TimeLimitError(f"expected an end, but got {late}.")
                except ContractError as error:
                    error.args = (f"{name}: {error} See {PAGE}, '{name}'.",)
                    raise

            promise = " ".join((run.__doc__ or "").split())
            self.all.append(Check(name, promise, named, lambda part: applies(instance(part))))
            return run

        return keep


def run_checks(
    checks: Sequence[Check], part: Any, skip: Mapping[str, str] | None, seconds: float = SECONDS
) -> None:
    """Run all but those in ``skip``; UsageError where one named there does not exist.

    seconds: what each may take.
    """
    names = [check.name for check in checks]
    for name in skip or {}:
        if name not in names:
            raise UsageError(f"there is no check '{name}'.{did_you_mean(name, names)}")
    with limited(seconds):
        for check in checks:
            if check.name not in (skip or {}):
                check(part)


def fail(expected: str, got: object) -> NoReturn:
    """Raise the ContractError of a check, which puts its own name before the message."""
    raise ContractError(f"expected {expected}, but got {got}.")


def require(holds: bool | np.bool_, expected: str, got: object) -> None:
    """:func:`fail` unless it holds."""
    if not holds:
        fail(expected, got)


def near(what: str, one: Any, other: Any, tolerance: float) -> None:
    """Two arrays must agree to ``tolerance`` of the largest entry."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if one.shape != other.shape:
        fail(f"{what} of the shape {other.shape}", f"the shape {one.shape}")
    scale = max(float(np.abs(other).max(initial=0.0)), 1e-12)
    off = float(np.abs(one - other).max(initial=0.0)) / scale
    require(off <= tolerance, f"{what} equal to {tolerance:g}, relatively", f"{off:.2g}")
