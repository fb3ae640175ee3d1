"""What a check is, how it fails, and what time it has."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from textreg.errors import UsageError, did_you_mean
from textreg.plugins import registry

PAGE = "docs/contract.md"
"""Where every check is described, under its own name."""

SECONDS = 20.0
"""What a check may take unless told otherwise; of a part that is right it takes less than one."""


_seconds: ContextVar[float] = ContextVar("seconds", default=SECONDS)


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


Run = Callable[..., None]
"""The function of a check: of a part, and of what it is tried on."""


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
    run: Run
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
    instance on, that of a command; without it they pass on what they are called with. prefix: of
    their names.
    """

    def __init__(self, kind: str = "", prefix: str = "") -> None:
        self.kind = kind
        self.prefix = prefix
        self._all: list[Check] = []

    def add(self, name: str, applies: Callable[..., bool] = always) -> Callable[[Run], Run]:
        """Decorate the function of a check; its docstring is the promise."""

        def keep(run: Run) -> Run:
            promise = " ".join((run.__doc__ or "").split())
            self._all.append(Check(self.prefix + name, promise, run, applies))
            return run

        return keep

    def of(self, *trial: Any) -> list[Check]:
        """All of them, in order.

        Parameters
        ----------
        *trial
            What they are called with as well: what a part is tried on.

        Returns
        -------
        list of Check
        """
        return [self._ready(check, trial) for check in self._all]

    def _ready(self, check: Check, trial: Sequence[Any]) -> Check:
        def instance(part: Any) -> Any:
            if self.kind == "command":
                return registry.find("command", part) if isinstance(part, str) else part
            return registry.create(self.kind, part) if self.kind else part

        def named(part: Any) -> None:
            try:
                late = within_time(lambda: check.run(instance(part), *trial))
                if late:
                    raise TimeLimitError(f"expected an end, but got {late}.")
            except ContractError as error:
                error.args = (f"{check.name}: {error} See {PAGE}, '{check.name}'.",)
                raise

        return replace(check, run=named, applies=lambda part: check.applies(instance(part)))


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


def contract(checks: Callable[..., list[Check]]) -> Callable[..., None]:
    """The function that holds a part to all of these checks."""

    def check(
        part: Any,
        *,
        texts: Sequence[str] | None = None,
        skip: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """Check that a part keeps the contract of its kind.

        Parameters
        ----------
        part : str, class or instance
            Its name, its class or an instance; parameters that are AUTO get a value of their grid.
        texts : sequence of str, optional
            Of tokenizers and builders: texts to try them on.
        skip : mapping of str to str, optional
            Names of checks to leave out, each with the reason.
        seconds : float, default 20.0
            What one check may take.

        Raises
        ------
        ContractError
            If a check fails.
        UsageError
            If a check to leave out does not exist.
        """
        run_checks(checks() if texts is None else checks(texts), part, skip, seconds)

    return check


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


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Give every check within it so many seconds; UsageError unless that is above 0."""
    if not seconds > 0.0:
        raise UsageError(f"the time limit must be above 0 seconds, not {seconds}.")
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


def within_time(run: Callable[[], None]) -> str:
    """Call ``run`` in a thread; where its time ran out, say where it was, else give an empty text.

    The thread is left behind when its time is up.
    """
    seconds, errors = _seconds.get(), list[BaseException]()

    def work() -> None:
        try:
            run()
        except BaseException as error:  # noqa: BLE001  # raised again by who waits
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        frame = sys._current_frames().get(thread.ident or 0)
        return _told(seconds, [each for each, _ in traceback.walk_stack(frame)][::-1])
    if errors:
        raise errors[0]
    return ""


def _told(seconds: float, frames: list[FrameType]) -> str:
    """Where time went: the innermost frame that is not one of textreg or of a library."""
    own = [frame for frame in frames if not _is_library(frame)] or frames[-1:]
    if not own:
        return f"none within {seconds:g} s"
    code: Any = own[-1].f_code
    return f"none within {seconds:g} s: it was in {code.co_name}, {code.co_filename}:" + str(
        own[-1].f_lineno
    )


def _is_library(frame: FrameType) -> bool:
    root = frame.f_globals.get("__name__", "").partition(".")[0]
    return root in ("textreg", "numpy", "scipy", "threading")
