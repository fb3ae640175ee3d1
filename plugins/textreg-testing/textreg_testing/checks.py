"""What a check is, how it fails, what time it has, and promises that several kinds make.

At the end the contracts of commands and backends, which promise little more than that.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import pickle
import random
import subprocess
import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from threading import Barrier
from typing import Any, NoReturn, TypeVar

import click
import numpy as np

from textreg import API
from textreg.errors import DataWarning, UsageError, did_you_mean
from textreg.kinds import Backend, Plugin
from textreg.params import AUTO, Param
from textreg.plugins import calls, registry
from textreg.records.store import Memory

# Where every check is described, under its own name.
PAGE = "docs/contract.md"

# What a check may take unless told otherwise; of a part that is right it takes less than one.
SECONDS = 20.0


_seconds: ContextVar[float] = ContextVar("seconds", default=SECONDS)


class ContractError(AssertionError):
    """A plugin does not do what its kind promises."""


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
    """

    name: str
    promise: str
    run: Run
    applies: Applies = field(default_factory=lambda: lambda part: True)

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

    def add(self, name: str, applies: Applies = lambda part: True) -> Callable[[Run], Run]:
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
        return [
            replace(
                check,
                run=partial(self._run, check, trial),
                applies=lambda part, check=check: check.applies(self._instance(part)),
            )
            for check in self._all
        ]

    def _instance(self, part: Any) -> Any:
        if self.kind == "command":
            return registry.find("command", part) if isinstance(part, str) else part
        return registry.create(self.kind, part) if self.kind else part

    def _run(self, check: Check, trial: Sequence[Any], part: Any) -> None:
        try:
            if late := within_time(lambda: check.run(self._instance(part), *trial)):
                raise TimeLimitError(f"expected an end, but got {late}.")
        except ContractError as error:
            error.args = (f"{check.name}: {error} See {PAGE}, '{check.name}'.",)
            raise


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
        # Where time went: the innermost frame that is not one of textreg or of a library.
        walked = traceback.walk_stack(sys._current_frames().get(thread.ident or 0))
        frames = [frame for frame, _ in walked]
        libraries = {"textreg", "numpy", "scipy", "threading"}
        names = [frame.f_globals.get("__name__", "").partition(".")[0] for frame in frames]
        own = [frame for frame, name in zip(frames, names, strict=True) if name not in libraries]
        told = f"none within {seconds:g} s"
        for place in (own or frames)[:1]:
            code = place.f_code
            told += f": it was in {code.co_name}, {code.co_filename}:{place.f_lineno}"
        return told
    if errors:
        raise errors[0]
    return ""


_SEED = 271828

P = TypeVar("P", bound=Plugin)
# A function of a part and a task, at the top of a module, so that it can be sent elsewhere.
Work = Callable[[Any, Any], Any]

_SERVE = """
import os, pickle, sys
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what a plugin prints is no answer
run, part, tasks = pickle.loads(sys.stdin.buffer.read())
try:
    part = pickle.loads(part)
except Exception as error:
    answer = "absent", f"{type(error).__name__}: {error}"
else:
    answer = "done", [run(part, task) for task in tasks]
pickle.dump(answer, out)
"""


def copies(part: P) -> dict[str, P]:
    """The same part made anew in the ways in which textreg does so."""
    parameters = json.loads(json.dumps(part.params()))
    return {
        "one made from its parameters": type(part)(**parameters),
        "a pickled copy": pickle.loads(pickle.dumps(part)),
    }


@contextmanager
def own_numbers(what: str) -> Iterator[None]:
    """ContractError if the generators of random numbers that all code shares are used."""
    state, numbers = random.getstate(), np.random.get_state()
    # A state that nobody leaves behind: who seeds them himself comes to his own again.
    random.seed(_SEED)
    np.random.seed(_SEED)
    before = _shared_generators()
    try:
        yield
        used = _shared_generators() != before
    finally:
        random.setstate(state)
        np.random.set_state(numbers)
    if used:
        fail(
            f"{what} without the random numbers of the whole process",
            "a call of random or numpy.random. Draw from numpy.random.default_rng(self.seed), "
            "with a declared seed",
        )


def _shared_generators() -> tuple[Any, ...]:
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, keys.tobytes() if isinstance(keys, np.ndarray) else keys, *rest


def elsewhere(run: Work, part: Any, tasks: Sequence[Any]) -> list[Any]:
    """``run(part, task)`` of all tasks in a fresh interpreter, which hashes texts in another way.

    Raises Skipped where the class of the part is not found there, as that of a notebook.
    """
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    try:
        sent = pickle.dumps((run, pickle.dumps(part), list(tasks)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise Skipped(f"its class cannot be sent to another process ({error})") from None
    done = _fresh(_SERVE, sent, PYTHONHASHSEED=seed)
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().splitlines()
        fail("the same in a fresh interpreter", told[-1] if told else f"exit {done.returncode}")
    state, answer = pickle.loads(done.stdout)
    if state == "absent":
        raise Skipped(f"a fresh interpreter does not find its class ({answer})")
    return list(answer)


def _fresh(program: str, sent: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program in a fresh interpreter that finds the same modules."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, input=sent, env=environment, capture_output=True, check=False)


# Calls at one time, and how often: by chance they may not meet.
THREADS, ROUNDS = 3, 4


def in_threads(run: Work, part: Any, tasks: Sequence[Any]) -> list[list[Any]]:
    """``run(part, task)`` of all tasks, several times over, at the same time as others."""
    start, count = Barrier(THREADS), len(tasks)

    def turns(number: int) -> list[list[Any]]:
        found = []
        for _ in range(ROUNDS):
            start.wait()  # together, each thread with another task
            try:
                made = [run(part, tasks[(place + number) % count]) for place in range(count)]
            except BaseException:
                start.abort()  # the others would wait for ever
                raise
            found.append([made[(place - number) % count] for place in range(count)])
        return found

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so short that calls meet in the middle of each other
    try:
        # What threads do to the filters themselves ends in any order.
        with warnings.catch_warnings(), ThreadPoolExecutor(THREADS) as pool:
            warnings.simplefilter("ignore", DataWarning)
            return [turn for some in pool.map(turns, range(THREADS)) for turn in some]
    finally:
        sys.setswitchinterval(interval)


# Most modules that the import of a plugin may bring, beyond those that textreg needs itself.
MODULES = 150

# Parameters that need not change a result.
_NO_EFFECT = (
    *("seed", "random_state", "verbose", "n_jobs", "jobs", "workers", "threads", "batch_size"),
    *("iterations", "max_iter", "rounds", "tol"),  # what converges at once needs no more of it
)

_COUNT = """
import sys, numpy, scipy.sparse, textreg.hookspecs
import textreg.structure.grouping, textreg.structure.linking
before = set(sys.modules)
import {module}
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


def common_checks(
    kind: str, prefix: str, decided: Callable[[Any], Plugin] = lambda part: part
) -> Checks:
    """The checks that every kind of plugin has, to which those of one kind are added.

    prefix: of their names. decided: gives a part a value for each of its parameters.
    """
    checks = Checks(kind, prefix)

    @checks.add("parameters")
    def parameters(part: Plugin, *trial: Any) -> None:
        """The class says what it is for; numbers have a range, and a parameter
        without a value has a grid to be searched."""
        _described(part)

    @checks.add("state")
    def state(part: Plugin, *trial: Any) -> None:
        """Parameters are plain values: they survive JSON, and a pickled copy is equal."""
        ready = decided(part)
        try:
            made = copies(ready)
        except TypeError as error:
            fail("parameters that JSON can hold", f"{ready.params()} ({error})")
        for what, copy in made.items():
            same = copy.params() == ready.params()
            require(same, f"{ready.params()} of {what}", copy.params())

    distribution_checks(checks, lambda part: type(part).__module__)
    return checks


def distribution_checks(checks: Checks, module_of: Callable[[Any], str]) -> None:
    """Add the checks of the module of a part, and of the distribution that has it."""

    @checks.add("manifest")
    def manifest(part: Any, *trial: Any) -> None:
        """The metadata of its distribution, if it has one, names its kind, its name, and the
        version of the interface, so that nothing need be imported to list it."""
        own = entries_beside(module_of(part))
        names = ", ".join(entry.point.name for entry in own)
        mine = [entry for entry in own if (entry.kind, entry.name) == (checks.kind, part.name)]
        point = f"'{checks.kind}.{part.name}' in [project.entry-points.textreg]"
        require(bool(mine), f"{point} of {own[0].distribution}", f"only {names}")
        version = 'the version of the interface in [project.entry-points."textreg.api"]'
        package = own[0].point.module.partition(".")[0]
        require(bool(mine[0].apis), f'{version}, such as {API} = "{package}"', "none")

    @checks.add("imports")
    def imports(part: Any, *trial: Any) -> None:
        """Importing its module is cheap: large packages are imported where they are used."""
        module = module_of(part)
        found = _brought(module) if module != "__main__" else ()  # as in a notebook
        brought = [each for each in found if each.partition(".")[0] != "textreg"]
        roots = Counter(each.partition(".")[0] for each in brought).most_common(1)
        what = f"{len(brought)}, {roots[0][1]} of them of {roots[0][0]}" if roots else "none"
        most = f"{MODULES} new modules at most on import of {module}"
        require(len(brought) <= MODULES, f"{most}, large ones where they are used", what)


def entries_beside(module: str) -> list[Any]:
    """Entry points of the distribution that has a module; Skipped if none is installed."""
    package = module.partition(".")[0]
    own = [entry for entry in registry.entries() if entry.point.module.partition(".")[0] == package]
    if not own:
        raise Skipped(f"no installed distribution names a plugin in {package}")
    return own


def _described(part: Plugin) -> None:
    """It has a docstring of its own, and every parameter a grid or a range where it needs one."""
    # Not by inspect.getdoc: a subclass without one would show its parent's.
    documented = bool(inspect.cleandoc(type(part).__dict__.get("__doc__") or ""))
    require(documented, f"a docstring of {type(part).__name__}", "none")
    for key, declared in part.declared().items():
        if declared.default is AUTO:
            require(declared.search is not None, f"a grid for {key}", "none")
        if declared.type in (int, float) and declared.choices is None:
            ranged = declared.min is not None or declared.max is not None
            require(ranged, f"a min or a max of {key}", "neither")
            # The class refuses numbers out of range, so nothing computes with them.
            ends = (declared.min, -1), (declared.max, 1)
            wrong = [end + beyond for end, beyond in ends if end is not None]
            for value in (*wrong, math.nan):
                with suppress(UsageError):
                    part.replace(**{key: value})
                    fail(f"a UsageError for {key}={value}", "none")


@lru_cache
def _brought(module: str) -> tuple[str, ...]:
    """The modules that come with one in a fresh interpreter; none where it is not found there."""
    done = _fresh(_COUNT.format(module=module))
    return tuple(done.stdout.decode().split()) if done.returncode == 0 else ()


@dataclass(frozen=True)
class Repeats:
    """How a part of one kind is run, again and again.

    make: what a part makes of a task. plain: of that a copy, as values that can be compared. tasks:
    of a part and what it is tried on. various: more of them, among which a parameter shows an
    effect.
    """

    make: Callable[[Any, Any], Any]
    plain: Callable[[Any], Any]
    tasks: Callable[..., Sequence[Any]]
    various: Callable[..., Sequence[Any]]

    def __call__(self, part: Any, task: Any) -> Any:
        return self.plain(self.make(part, task))

    def all(self, part: Any, tasks: Sequence[Any]) -> list[Any]:
        """Of every task."""
        return [self(part, task) for task in tasks]


def repeated_checks(checks: Checks, repeats: Repeats, *, threads: bool = True) -> None:
    """Add the checks of doing it again: after others, by a copy, in threads, elsewhere."""

    @checks.add("determinism")
    def determinism(part: Plugin, *trial: Any) -> None:
        """The same input gives the same result, also after other input and by a copy, and no result
        is written to later. The random numbers of the process are left alone."""
        tasks = repeats.tasks(part, *trial)
        with own_numbers("the same result of the same input"):
            first = repeats.make(part, tasks[0])
            wanted = [repeats.plain(first)]
        require(wanted == [repeats(part, tasks[0])], "the same result twice", "others")
        wanted += repeats.all(part, tasks[1:])
        told = "another: later calls write to the arrays that it was given"
        require(wanted[0] == repeats.plain(first), "the first result as it was", told)
        told = "another: something of the first call is kept"
        after = repeats.all(part, tasks)
        require(wanted == after, "the same result after other input", told)
        told = "another: something of it is not a parameter, or is kept from the first call"
        for what, copy in copies(part).items():
            again = repeats.all(copy, tasks[::-1])[::-1]
            require(wanted == again, f"the same result by {what}", told)

    def in_threads_too(part: Plugin, *trial: Any) -> None:
        """Calls at the same time, in threads, give the same results as alone."""
        tasks = repeats.tasks(part, *trial)
        alone = repeats.all(part, tasks)
        try:
            together = in_threads(repeats, part, tasks)
        except Exception as error:  # noqa: BLE001  # of a stranger's code, or what came of it
            fail("the same results in threads", f"{type(error).__name__}: {error}")
        told = "others: keep what belongs to one call in variables of its own, not in the part"
        require(all(turn == alone for turn in together), "the same results in threads", told)

    if threads:
        checks.add("threads")(in_threads_too)

    @checks.add("settings")
    def settings(part: Plugin, *trial: Any) -> None:
        """Every parameter has an effect: some other value of it gives another result. Not asked of
        seeds, nor of files and other texts."""
        check_settings(part, repeats.various(part, *trial), repeats)

    @checks.add("processes")
    def processes(part: Plugin, *trial: Any) -> None:
        """A fresh interpreter, with other hash values of texts, gives the same result, bit for
        bit."""
        tasks = repeats.tasks(part, *trial)
        there = elsewhere(repeats, part, tasks)
        told = "another: the order of a set of texts, hash() or id() may be used, none of which "
        same = repeats.all(part, tasks) == there
        require(same, "the same result in a fresh interpreter", f"{told}lasts")


def check_settings(part: Plugin, tasks: Sequence[Any], run: Callable[[Any, Any], Any]) -> None:
    """ContractError if a parameter changes nothing, whatever its value.

    run: gives the result of a part for one of the tasks.
    """
    given = [key for key, it in part.declared().items() if it.type is str and it.choices is None]
    if any(getattr(part, key) for key in given):
        raise Skipped(f"what has an effect depends on the text given as {given[0]}")
    usual = lru_cache(lambda number: run(part, tasks[number]))

    def has_effect(other: Plugin) -> bool:
        return any(usual(at) != run(other, task) for at, task in enumerate(tasks))

    for key, declared in part.declared().items():
        tried = []
        for value in () if key in _NO_EFFECT else others(declared, getattr(part, key)):
            try:
                other = part.replace(**{key: value})
            except UsageError:  # not together with the other parameters
                continue
            kept = declared.convert is not None or getattr(other, key) == value
            require(kept, f"{key}={value!r} to stay as it is given", f"{getattr(other, key)!r}")
            if has_effect(other):
                break
            tried.append(value)
        else:
            if tried:
                fail(
                    f"an effect of the parameter {key}",
                    f"the same result for {', '.join(map(repr, [getattr(part, key), *tried]))}",
                )


def others(declared: Param, value: Any) -> Iterator[Any]:
    """Other values of a parameter that it allows; none of a text that may be any."""
    if declared.choices is not None:
        yield from (choice for choice in declared.choices if choice != value)
    elif declared.type is bool:
        yield not value
    elif declared.type in (int, float):
        usual = 0 if value is None else value
        near = (usual + 1, usual - 1) if declared.type is int else ()
        seen = [value]
        ends = declared.min, declared.max
        if declared.optional and value is not None:
            yield None
        for other in (*near, 2 * usual, usual / 2, *ends, 1, 5, 10 * usual):
            if other is None:
                continue
            other = int(other) if declared.type is int else float(other)
            low = declared.min is None or other >= declared.min
            if low and (declared.max is None or other <= declared.max) and other not in seen:
                seen.append(other)
                yield other


_of_backends = common_checks("backend", "backend-")
backend_checks = _of_backends.of
check_backend = contract(backend_checks)


@_of_backends.add("work")
def _work(backend: Backend) -> None:
    """Its workers compute what is submitted, keep values and each of several outputs, and bring
    results in order. Not asked of one that needs an address."""
    if backend.address:
        raise Skipped(f"it needs {backend.address}")
    with calls.workers(backend, None, [], None, Memory()) as workers:
        kept = workers.submit(np.arange, 5)
        both = workers.submit(divmod, kept, 2, outputs=2)
        handles = [kept, *both, workers.send(np.arange(5)), np.arange(5)]
        got = [list(map(int, it)) for it in workers.map(np.add, handles, [1, 2, 3, kept, kept])]
    expected = [[1, 2, 3, 4, 5], [2, 2, 3, 3, 4], [3, 4, 3, 4, 3], *[[0, 2, 4, 6, 8]] * 2]
    require(got == expected, str(expected), got)


_of_commands = Checks("command", "command-")
command_checks = _of_commands.of
check_command = contract(command_checks)


def _module_of(command: click.Command) -> str:
    return str(getattr(command.callback, "__module__", type(command).__module__))


@_of_commands.add("help")
def _help(command: click.Command) -> None:
    """It says what it does and what each of its options is for, and the metadata of its
    distribution, if it has one, has a line for textreg --help."""
    require(bool(command.help), f"a docstring of the command {command.name}", "none")
    for option in command.params:
        described = option.param_type_name != "option" or getattr(option, "help", None)
        require(bool(described), f"a help text of {option.opts[-1]}", "none")
    try:
        entries = entries_beside(_module_of(command))
    except Skipped:
        return
    described = registry.commands()
    declared = ("command", command.name)
    lines = [described[entry.name] for entry in entries if (entry.kind, entry.name) == declared]
    line = f"'{command.name} WHAT IT DOES' in [project.entry-points.\"textreg.help\"]"
    require(all(lines), line, "none")


distribution_checks(_of_commands, _module_of)


@_of_commands.add("usage")
def _usage(command: click.Command) -> None:
    """--help prints its help, and what it does not know is refused with exit code 2; in neither
    case anything is done."""
    from click.testing import CliRunner

    for arguments, code in ((["--help"], 0), (["--no-such-option-of-any-command"], 2)):
        done = CliRunner().invoke(command, arguments)
        told = f"{done.exit_code} {done.exception or done.output!r}"
        require(done.exit_code == code, f"exit code {code} of {arguments[0]}", told)
        said = "Usage:" in done.output or "Usage:" in getattr(done, "stderr", "")
        require(said, f"a line of usage of {arguments[0]}", repr(done.output))
