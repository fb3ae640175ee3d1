"""What a check is, how it fails, and what time it has."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
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

PATIENCE = 5.0
"""How many times as long a check may take that had no processor for half of the time."""

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
        """All of them, which are called with what a part is tried on as well."""
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


class OutOfTime(KeyboardInterrupt):
    """Raised in a check whose time is up: passes wherever Ctrl-C does."""


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
    """Call ``run``; where its time ran out, say where it was, else give an empty text.

    A timer interrupts Python code in the main thread. Elsewhere, and on Windows, ``run`` gets a
    thread, which is left behind when its time is up. A call into compiled code ends first.
    """
    seconds = _seconds.get()
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        return _by_timer(run, seconds)
    return _by_thread(run, seconds)


def _by_timer(run: Callable[[], None], seconds: float) -> str:
    start, begun = time.monotonic(), time.process_time()

    def stop(number: int, frame: FrameType | None) -> None:
        waited, used = time.monotonic() - start, time.process_time() - begun
        if used >= 0.5 * seconds or waited >= PATIENCE * seconds:
            raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    # Again and again, where the machine was busy with something else, or the plugin went on.
    later, every = signal.setitimer(signal.ITIMER_REAL, seconds, min(1.0, seconds))
    try:
        run()
    except OutOfTime as error:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        return _told(seconds, [frame for frame, _ in traceback.walk_tb(error.__traceback__)][:-1])
    finally:
        signal.setitimer(signal.ITIMER_REAL, later, every)
        signal.signal(signal.SIGALRM, before)
    return ""


def _by_thread(run: Callable[[], None], seconds: float) -> str:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            run()
        except BaseException as error:  # noqa: BLE001  # raised again by who waits
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        frame = sys._current_frames().get(thread.ident or 0)
        stack = [each for each, _ in traceback.walk_stack(frame)][::-1]
        return _told(seconds, stack)
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
