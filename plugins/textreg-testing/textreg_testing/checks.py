"""What a check is and says, what its author may say of it, what time it has, and how all run."""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from runpy import run_path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from textreg import errors
from textreg.errors import ConvergenceWarning, UsageError, did_you_mean
from textreg.files import read_toml
from textreg.isolation import cause_of, contained
from textreg.kinds import Plugin
from textreg.plugins import registry
from textreg.records.documents import check_texts

# Where every check is described, under its own name.
PAGE = "docs/contract.md"

# What a check may take unless told otherwise; of a part that is right it takes less than one.
SECONDS = 20.0

_LIBRARIES = frozenset(("textreg", "numpy", "scipy", "threading"))

_seconds: ContextVar[float] = ContextVar("seconds", default=SECONDS)


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


def between(what: str, values: Any, low: Any, high: Any) -> None:
    """ContractError, with the first, unless each of some numbers lies between two others."""
    values, low, high = np.broadcast_arrays(values, low, high)
    wrong = np.flatnonzero(~((low <= values) & (values <= high)))
    for at in wrong[:1]:
        got = f"{values[at]:.8g}; {len(wrong)} of {len(values)} are wrong"
        fail(f"{what} of {low[at]:.8g} to {high[at]:.8g}", got)


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


class TimeLimitError(ContractError):
    """A check ran out of time."""


class Skipped(Exception):  # noqa: N818  # it is no error
    """A check cannot ask this of a part; the message says why."""


# The function of a check: of a part, and of what it is tried on.
Run = Callable[..., None]
# Whether a check is asked of a part.
Applies = Callable[..., bool]


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
        Called with the plugin; says whether this is asked of it. By default it is, of any part.
    level : int, default 0
        One of those of :class:`Checks`.
    """

    name: str
    promise: str
    run: Run
    applies: Applies = field(default_factory=lambda: lambda part: True)
    level: int = 0

    def __call__(self, part: Any) -> None:
        """Run the check, if it applies, and its author does not leave it out.

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


class Declared(NamedTuple):
    """What the author of a plugin says of its checks: ``[tool.textreg.check]`` of pyproject.toml.

    texts: what it is tried on. skip: names of checks that are left out, with the reasons. answers:
    what reads the answers of an exported file.
    """

    texts: tuple[str, ...] = ()
    skip: Mapping[str, str] = {}
    answers: Callable[..., Any] | None = None


def declared_for(part: Any) -> Declared:
    """What the pyproject.toml beside the module of a part says, or a folder or two above it.

    Of a part that is installed elsewhere, what that in the working folder says, if it names it.
    """
    module = module_of(part)
    file = getattr(sys.modules.get(module), "__file__", None)
    if isinstance(part, Plugin):
        file = registry.origin(part).file or file
    return _declared_in(file or "", module.partition(".")[0])


def texts_of(files: Sequence[str]) -> Sequence[str]:
    """The texts of files of any format."""
    from textreg.reading.corpus import read_corpus  # few plugins are tried on files

    return check_texts(read_corpus(files, labeled=False).texts)


@lru_cache
def _declared_in(file: str, package: str) -> Declared:
    beside = [folder / "pyproject.toml" for folder in Path(file).absolute().parents[:3] if file]
    for path in filter(Path.is_file, [*beside, Path("pyproject.toml").absolute()]):
        document = read_toml(path)
        points = document.get("project", {}).get("entry-points", {}).get("textreg", {}).values()
        if path in beside or package in {point.partition(".")[0] for point in points}:
            table = document.get("tool", {}).get("textreg", {}).get("check", {})
            if unknown := table.keys() - {"texts", "files", "skip", "answers"}:
                raise UsageError(
                    f"{path}: [tool.textreg.check] has no '{min(unknown)}': it has texts, files, "
                    "answers, and skip, which gives a reason for every check that is left out."
                )
            files = [str(path.parent / name) for name in table.get("files", ())]
            texts = (*table.get("texts", ()), *(texts_of(files) if files else ()))
            file, _, function = (named := table.get("answers", "")).partition(":")
            answers = run_path(str(path.parent / file)).get(function) if file else None
            if named and not callable(answers):
                raise UsageError(f"{path}: answers = '{named}' has to be FILE:FUNCTION.")
            return Declared(texts, table.get("skip", {}), answers)
    return Declared()


def module_of(part: Any) -> str:
    """The module of the class of a part, or of the function of a command."""
    callback = getattr(part, "callback", None)
    return str(getattr(callback, "__module__", type(part).__module__))


@dataclass
class Checks:
    """The checks of one kind, in the order they are written down.

    kind: of plugin, whose checks are called with a name, a class or an instance and pass an
    instance on, that of a command; without it they pass on what they are called with. prefix: of
    their names. decided: gives a part a value for each of its parameters. repeats: how a part is
    run again, where it is.
    """

    kind: str = ""
    prefix: str = ""
    decided: Callable[[Any], Any] = lambda part: part
    repeats: Any = None
    all: list[Check] = field(default_factory=list)

    # Levels: of a class, of a penalty, whether there is a result, what does not depend on its being
    # right, whether it is right, what results are compared for, and what takes long.
    OF_CLASS, OF_PENALTY, RESULT, SINGLE, RIGHT, USUAL, COSTLY = range(7)

    # Where one of these fails, those of higher levels would fail for the same reason: they are not
    # run. Where any other fails, only what takes long is not.
    DECISIVE = frozenset((OF_PENALTY, RESULT, RIGHT))

    def add(
        self, name: str, applies: Applies = lambda part: True, *, level: int = USUAL
    ) -> Callable[[Run], Run]:
        """Decorate the function of a check; its docstring is the promise."""

        def keep(run: Run) -> Run:
            promise = " ".join((run.__doc__ or "").split())
            self.all.append(Check(self.prefix + name, promise, run, applies, level))
            return run

        return keep

    def of(self, trial: Callable[[Declared], Sequence[Any]] = lambda declared: ()) -> list[Check]:
        """All of them, by their levels; trial: what a part is tried on, from what its author
        says."""

        def instance(part: Any) -> Any:
            if self.kind == "command":
                return registry.find("command", part) if isinstance(part, str) else part
            return registry.create(self.kind, part) if self.kind else part

        def run(check: Check, part: Any) -> None:
            from threadpoolctl import threadpool_limits

            whole = instance(part)
            declared = declared_for(whole)
            if check.name in declared.skip:
                raise Skipped(declared.skip[check.name])
            try:
                # One check alone is about warnings of solutions, and asks for them. BLAS has one
                # thread, as in trainings: with others it rounds in another way.
                with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    within_time(lambda: check.run(whole, *trial(declared)))
            except (errors.BrokenPluginError, errors.RecordError) as error:
                cause = getattr(error, "cause", error)
                fault = f"expected a valid result, but got the error '{cause}'."
                raise ContractError(f"{check.name}: {fault} See {PAGE}, '{check.name}'.") from error
            except ContractError as error:
                error.args = (f"{check.name}: {error} See {PAGE}, '{check.name}'.",)
                raise

        return [
            replace(
                check,
                run=partial(run, check),
                applies=lambda part, check=check: check.applies(instance(part)),
            )
            for check in sorted(self.all, key=lambda check: check.level)
        ]


class Result(NamedTuple):
    """What came of a check: ok, skipped, FAILED, or not run; with the error if it failed."""

    check: str
    status: str
    message: str = ""
    error: BaseException | None = None


def results(checks: Sequence[Check], part: Any, skip: Mapping[str, str]) -> Iterator[Result]:
    """What comes of all checks that apply to a part, one by one.

    Where one failed, those that depend on it are not run, and where one ran out of time no other.
    UsageError if there is no check to leave out of such a name.
    """
    names = [check.name for check in checks]
    for name in skip:
        if name not in names:
            raise UsageError(f"there is no check '{name}'.{did_you_mean(name, names)}")
    failed, level = "", Checks.COSTLY
    causes: dict[str, str] = {}
    for check in checks:
        if check.level > level:
            yield Result(check.name, "not run", f"as {failed} failed")
            continue
        result = _outcome(check, part, skip)
        late = isinstance(result.error, TimeLimitError)
        if result.error is not None:
            highest = check.level if check.level in Checks.DECISIVE else Checks.COSTLY - 1
            if late or highest < level:
                failed, level = check.name, -1 if late else highest
        first = causes.setdefault(result.message, check.name)
        if result.status == "FAILED" and first != check.name:  # as of a part that cannot be used
            yield Result(check.name, "not run", f"as {first} failed")
        elif result.status == "FAILED" and not isinstance(result.error, ContractError):
            yield result._replace(message=f"{check.name}: {result.message}")
        elif result.status:
            yield result


def _outcome(check: Check, part: Any, skip: Mapping[str, str]) -> Result:
    """What comes of one check, without a status where it does not apply."""
    try:
        with contained():
            if not check.applies(part):
                return Result(check.name, "")
            if check.name in skip:
                raise Skipped(skip[check.name])
            check.run(part)
    except Skipped as reason:
        return Result(check.name, "skipped", str(reason))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a stranger's code may raise anything
        message = str(error) if isinstance(error, ContractError) else cause_of(error)
        return Result(check.name, "FAILED", message, error)
    return Result(check.name, "ok", check.promise)


def not_run(outcomes: Sequence[Result]) -> list[str]:
    """Which checks were not run, a line for each reason."""
    left: dict[str, list[str]] = {}
    for it in outcomes:
        if it.status == "not run":
            left.setdefault(it.message, []).append(it.check)
    return [f"not run, {why}: {', '.join(names)}" for why, names in left.items()]


def run_checks(
    checks: Sequence[Check], part: Any, skip: Mapping[str, str] | None, seconds: float = SECONDS
) -> None:
    """Run all but those in ``skip``; ContractError that tells of all that failed.

    seconds: what each may take.
    """
    with limited(seconds):
        outcomes = list(results(checks, part, skip or {}))
    failed = [it for it in outcomes if it.status == "FAILED"]
    if failed:
        lines = [*(it.message for it in failed), *not_run(outcomes)]
        raise ContractError("\n".join(lines)) from failed[0].error


def contract(checks: Callable[..., list[Check]]) -> Callable[..., None]:
    """The function that holds a part to all of these checks."""

    def check(
        part: Any, *, skip: Mapping[str, str] | None = None, seconds: float = SECONDS, **trial: Any
    ) -> None:
        """Check that a part keeps the contract of its kind.

        Parameters
        ----------
        part : str, class or instance
            Its name, its class or an instance; parameters that are AUTO get a value of their grid.
        skip : mapping of str to str, optional
            Names of checks to leave out, each with the reason.
        seconds : float, default 20.0
            What one check may take.
        **trial
            What it is tried on: ``texts``, of tokenizers and builders; ``answers``, of exporters.

        Raises
        ------
        ContractError
            If checks fail; it tells of all of them.
        UsageError
            If a check to leave out does not exist.
        """
        run_checks(checks(**trial), part, skip, seconds)

    return check


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


def within_time(run: Callable[[], None]) -> None:
    """Call ``run`` in a thread; where its time ran out, TimeLimitError says where it was.

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
        # Where time went: the innermost frame that is not one of textreg or of a library.
        walked = traceback.walk_stack(sys._current_frames().get(thread.ident or 0))
        frames = [frame for frame, _ in walked]
        own = [it for it in frames if it.f_globals["__name__"].partition(".")[0] not in _LIBRARIES]
        got = f"none within {seconds:g} s"
        for place in (own or frames)[:1]:
            code = place.f_code
            got += f": it was in {code.co_name}, {code.co_filename}:{place.f_lineno}"
        raise TimeLimitError(f"expected an end, but got {got}.")
    if errors:
        raise errors[0]
