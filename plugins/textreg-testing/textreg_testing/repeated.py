"""Promises that all kinds of plugin make, and doing it again: by a copy, in threads, elsewhere.

At the end the contracts of commands and backends, which promise little more than that.
"""

from __future__ import annotations

import inspect
import itertools
import json
import linecache
import math
import os
import pickle
import random
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from threading import Barrier
from typing import Any

import click
import numpy as np

from textreg.errors import DataError, DataWarning, UsageError
from textreg.kinds import API, Backend, Plugin, Tokenizer, WordVectors
from textreg.params import AUTO, Param
from textreg.plugins import calls, registry
from textreg.records.store import Memory
from textreg_testing.checks import Checks, Skipped, fail, module_of, near, require

_SEED = 271828

# Rows of a table of word vectors that are looked at.
ROWS = 200

# A function of a part and a task, at the top of a module, so that it can be sent elsewhere.
Work = Callable[[Any, Any], Any]

_CHILD = """
import contextlib, os, pickle, sys, numpy, scipy.sparse, textreg.hookspecs
import textreg.structure.grouping, textreg.structure.linking
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what a plugin prints is no answer
module, work = pickle.load(sys.stdin.buffer)
before, brought = set(sys.modules), set()
with contextlib.suppress(Exception):  # one of a file, or of a notebook
    __import__(module)
    brought = set(sys.modules) - before
try:
    run, part, tasks = pickle.loads(work)
except Exception as error:
    answer = f"{type(error).__name__}: {error}"
else:
    answer = [run(part, task) for task in tasks]
pickle.dump((brought, answer), out)
"""


def copies(part: Plugin) -> dict[str, Plugin]:
    """The same part made anew in the ways in which textreg does so."""
    return {
        "one made from its parameters": type(part)(**json.loads(json.dumps(part.params()))),
        "a pickled copy": pickle.loads(pickle.dumps(part)),
    }


@contextmanager
def own_numbers() -> Iterator[None]:
    """ContractError if the generators of random numbers that all code shares are used."""
    state, numbers = random.getstate(), np.random.get_state()
    # A state that nobody leaves behind: who seeds them himself comes to his own again.
    random.seed(_SEED)
    np.random.seed(_SEED)
    try:
        yield
        following = random.random(), np.random.random()
    finally:
        random.setstate(state)
        np.random.set_state(numbers)
    require(
        following == (random.Random(_SEED).random(), np.random.RandomState(_SEED).random()),
        "the same result of the same input without the random numbers of the whole process",
        "a call of random or numpy.random. Draw from numpy.random.default_rng(self.seed), with a "
        "declared seed",
    )


@lru_cache(maxsize=4)  # one interpreter tells of imports and of results
def _fresh(module: str, work: bytes = b"") -> tuple[set[str], list[Any] | str, str]:
    """What a fresh interpreter says, which hashes texts in another way.

    The modules that come with one, none where it is not found there; what a function of a part
    gives for tasks, which are pickled together, or why there is no such part; the last line of the
    error that ended it, or an empty text.
    """
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    path = os.pathsep.join(filter(None, sys.path))
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=pickle.dumps((module, work)),
        env={**os.environ, **threads, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return set(), [], lines[-1] if lines else f"exit {done.returncode}"
    return *pickle.loads(done.stdout), ""


# Calls at one time, and how often: by chance they may not meet.
THREADS, ROUNDS = 3, 3


def in_threads(run: Work, part: Any, tasks: Sequence[Any]) -> list[tuple[int, Any]]:
    """``run(part, task)`` of all tasks, several times over, at the same time as others; each with
    the place of its task."""
    start, count = Barrier(THREADS), len(tasks)

    def turns(number: int) -> list[tuple[int, Any]]:
        start.wait()  # together, each thread with another task
        places = [(number + turn) % count for turn in range(ROUNDS * count)]
        return [(place, run(part, tasks[place])) for place in places]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so short that calls meet in the middle of each other
    try:
        # What threads do to the filters themselves ends in any order.
        with warnings.catch_warnings(), ThreadPoolExecutor(THREADS) as pool:
            warnings.simplefilter("ignore", DataWarning)
            return [turn for results in pool.map(turns, range(THREADS)) for turn in results]
    finally:
        sys.setswitchinterval(interval)


# Most modules that the import of a plugin may bring, beyond those that textreg needs itself.
MODULES = 150

# Parameters that need not change a result.
_NO_EFFECT = (
    *("seed", "random_state", "verbose", "n_jobs", "jobs", "workers", "threads", "batch_size"),
    *("iterations", "max_iter", "rounds", "tol"),  # what converges at once needs no more of it
)

# Other values of a parameter that are tried.
_VALUES = 8

# Modules whose look at all parameters is no use of them.
_BASES = frozenset(("textreg.kinds", "textreg.params"))


def common_checks(*described: Any) -> Checks:
    """The checks that every kind of plugin has, to which those of one kind are added.

    described: kind, prefix and more, as of :class:`Checks`.
    """
    checks = Checks(*described)
    if checks.kind != "command":  # which has no parameters
        checks.add("parameters", level=checks.OF_CLASS)(_parameters)

        @checks.add("state", level=checks.OF_CLASS)
        def state(part: Plugin, *trial: Any) -> None:
            """Parameters are plain values: they survive JSON, and a pickled copy is equal."""
            ready = checks.decided(part)
            try:
                copied = copies(ready)
            except TypeError as error:
                fail("parameters that JSON can hold", f"{ready.params()} ({error})")
            for what, copy in copied.items():
                same = copy.params() == ready.params()
                require(same, f"{ready.params()} of {what}", copy.params())

    @checks.add("manifest", level=checks.OF_CLASS)
    def manifest(part: Any, *trial: Any) -> None:
        """The metadata of its distribution, if it has one, names its kind, its name, and the
        version of the interface, so that nothing need be imported to list it."""
        entries = entries_beside(module_of(part))
        names = ", ".join(entry.point for entry in entries)
        mine = [entry for entry in entries if (entry.kind, entry.name) == (checks.kind, part.name)]
        point = f"'{checks.kind}.{part.name}' in [project.entry-points.textreg]"
        require(bool(mine), f"{point} of {entries[0].distribution}", f"only {names}")
        version = 'the version of the interface in [project.entry-points."textreg.api"]'
        package = entries[0].module.partition(".")[0]
        require(bool(mine[0].apis), f'{version}, such as {API} = "{package}"', "none")

    @checks.add("imports", level=checks.COSTLY)
    def imports(part: Any, *trial: Any) -> None:
        """Importing its module is cheap: large packages are imported where they are used."""
        module = module_of(part)
        modules, _, _ = _fresh(module, sent(checks, part, *trial))
        brought = [each for each in modules if each.partition(".")[0] != "textreg"]
        roots = Counter(each.partition(".")[0] for each in brought).most_common(1)
        what = f"{len(brought)}, {roots[0][1]} of them of {roots[0][0]}" if roots else "none"
        most = f"{MODULES} new modules at most on import of {module}"
        require(len(brought) <= MODULES, f"{most}, large ones where they are used", what)

    return checks


def sent(checks: Checks, part: Any, *trial: Any) -> bytes:
    """What is run in another process, of which one answers for all; empty where nothing can be."""
    with suppress(pickle.PicklingError, AttributeError, TypeError):
        if repeats := checks.repeats:
            part = checks.decided(part)
            return pickle.dumps((repeats, part, repeats.tasks(part, *trial)))
    return b""


def entries_beside(module: str) -> list[Any]:
    """Entry points of the distribution that has a module; Skipped if none is installed."""
    package = module.partition(".")[0]
    own = [entry for entry in registry.entries() if entry.module.partition(".")[0] == package]
    if not own:
        raise Skipped(f"no installed distribution names a plugin in {package}")
    return own


def _parameters(part: Plugin, *trial: Any) -> None:
    """The class says what it is for; numbers have a range, and a parameter without a value has a
    grid to be searched."""
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
            for value in (*(end + beyond for end, beyond in ends if end is not None), math.nan):
                with suppress(UsageError):
                    part.replace(**{key: value})
                    fail(f"a UsageError for {key}={value}", "none")


@dataclass(frozen=True)
class Repeats:
    """How a part of one kind is run, again and again.

    make: what a part makes of a task. plain: of that a copy, as values that can be compared. tasks:
    of a part and what it is tried on. various: more of them, among which a parameter shows an
    effect. rounding: of numbers that another process gives.
    """

    make: Callable[[Any, Any], Any]
    plain: Callable[[Any], Any]
    tasks: Callable[..., Sequence[Any]]
    various: Callable[..., Sequence[Any]]
    rounding: float = 0.0

    def __call__(self, part: Any, task: Any) -> Any:
        return self.plain(self.make(part, task))

    def all(self, part: Any, tasks: Sequence[Any]) -> list[Any]:
        """Of every task."""
        return [self(part, task) for task in tasks]


def settings_check(checks: Checks, repeats: Repeats) -> None:
    """Add the check of what parameters change."""

    @checks.add("settings", level=checks.SINGLE)
    def settings(part: Plugin, *trial: Any) -> None:
        """Every parameter has an effect: some other value of it gives another result. Not asked of
        seeds, nor of files and other texts. A switch or a choice of a tokenizer that is read may
        have none on texts of ours, and is then left to those of its author."""
        bases = list(dict.fromkeys((checks.decided(part), part)))
        check_settings(Effects(bases, repeats.various(part, *trial), repeats), trial)


def repeated_checks(checks: Checks, repeats: Repeats, *, threads: bool = True) -> None:
    """Add the checks of doing it again: after others, by a copy, in threads, elsewhere."""
    checks.repeats = repeats
    settings_check(checks, repeats)

    # What exporters write is compared with models, whether or not it is always the same.
    @checks.add("determinism", level=checks.RIGHT if threads else checks.SINGLE)
    def determinism(part: Plugin, *trial: Any) -> None:
        """The same input gives the same result, also after other input and by a copy, and no result
        is written to later. The random numbers of the process are left alone."""
        part, tasks = checks.decided(part), repeats.tasks(part, *trial)
        with own_numbers():
            first = repeats.make(part, tasks[0])
            wanted = [repeats.plain(first)]
        require(wanted == [repeats(part, tasks[0])], "the same result twice", "others")
        wanted += repeats.all(part, tasks[1:])
        got = "another: later calls write to the arrays that it was given"
        require(wanted[0] == repeats.plain(first), "the first result as it was", got)
        got = "another: something of the first call is kept"
        after = repeats.all(part, tasks)
        require(wanted == after, "the same result after other input", got)
        got = "another: something of it is not a parameter, or is kept from the first call"
        for what, copy in copies(part).items():
            again = repeats(copy, tasks[-1])
            require(wanted[-1] == again, f"the same result by {what}", got)

    def in_threads_too(part: Plugin, *trial: Any) -> None:
        """Calls at the same time, in threads, give the same results as alone."""
        part, tasks = checks.decided(part), repeats.tasks(part, *trial)
        try:
            together = in_threads(repeats, part, tasks)
        except Exception as error:  # noqa: BLE001  # of a stranger's code, or what came of it
            fail("the same results in threads", f"{type(error).__name__}: {error}")
        got = "others: keep what belongs to one call in variables of its own, not in the part"
        alone = _alone(repeats, part, *trial)
        same = all(result == alone[place] for place, result in together)
        require(same, "the same results in threads", got)

    if threads:
        checks.add("threads", level=checks.COSTLY)(in_threads_too)

    @checks.add("processes", level=checks.COSTLY)
    def processes(part: Plugin, *trial: Any) -> None:
        """A fresh interpreter, with other hash values of texts, gives the same result, bit for bit;
        weights but for rounding."""
        work = sent(checks, part, *trial)
        if not work:
            raise Skipped("its class cannot be sent to another process")
        _, there, error = _fresh(module_of(part), work)
        require(not error, "the same in a fresh interpreter", error)
        if isinstance(there, str):
            raise Skipped(f"a fresh interpreter does not find its class ({there})")
        here = _alone(repeats, checks.decided(part), *trial)
        if repeats.rounding:
            for one, other in zip(there, here, strict=True):
                near("the result of a fresh interpreter", one, other, repeats.rounding)
            return
        got = "another: the order of a set of texts, hash() or id() may be used, none of which "
        require(here == there, "the same result in a fresh interpreter", f"{got}lasts")


@lru_cache(maxsize=2)
def _alone(repeats: Repeats, part: Plugin, *trial: Any) -> list[Any]:
    """What a part gives while nothing else runs."""
    return repeats.all(part, repeats.tasks(part, *trial))


class Effects:
    """What other values of a parameter change.

    bases: a part with all parameters decided, and as it was given. run: gives the result of a part
    for one of the tasks.
    """

    def __init__(self, bases: Sequence[Plugin], tasks: Sequence[Any], run: Work) -> None:
        self.bases, self.tasks, self.run = bases, tasks, run
        self.result = lru_cache(maxsize=2 * len(tasks) + 1)(self._result)

    def _result(self, part: Plugin, at: int) -> Any:
        try:
            return self.run(part, self.tasks[at])
        except (UsageError, DataError) as error:  # a refusal is an effect as well
            return "refused", str(error)

    def in_vain(self, key: str, declared: Param) -> list[Any]:
        """Values that change nothing; none where one does."""
        tried = [getattr(self.bases[0], key)]
        decided = [base for base in self.bases if key not in base.undecided()]
        for value in itertools.islice(others(declared, tried[0]), _VALUES):
            with suppress(UsageError):  # where it is not allowed together with the others
                changed = [base.replace(**{key: value}) for base in decided]
                stored = getattr(changed[0], key)
                same = declared.convert is not None or stored == value
                require(same, f"{key}={value!r} to stay as it is given", f"{stored!r}")
                pairs = zip(decided, changed, strict=True)
                cases = itertools.product(pairs, range(len(self.tasks)))
                if any(self.result(one, at) != self.result(it, at) for (one, it), at in cases):
                    return []
                tried.append(value)
        return tried if len(tried) > 1 else []

    def is_read(self, key: str) -> bool:
        """Whether a part ever looks at a parameter, by its name or as one of all."""
        seen = set()

        def look(part: Any, name: str) -> Any:
            caller = sys._getframe(1)
            line = linecache.getline(caller.f_code.co_filename, caller.f_lineno)
            own = {it.__module__ for it in type(part).__mro__} - _BASES
            # Whether all are decided is asked of those that are not used, too.
            if name == key or (caller.f_globals["__name__"] in own and "check_decided" not in line):
                seen.add(name)
            return object.__getattribute__(part, name)

        for base in self.bases:
            cls: Any = type(base)
            body = {"__getattribute__": look, "__module__": cls.__module__, "__doc__": cls.__doc__}
            watched = type(cls)(cls.__name__, (cls,), body)(**base.params())
            for task in self.tasks:
                with suppress(UsageError, DataError):
                    self.run(watched, task)
        return not seen.isdisjoint((key, "params", "params_of"))


def check_settings(effects: Effects, trial: Sequence[Any]) -> None:
    """ContractError if a parameter changes nothing, whatever its value.

    trial: what the tasks are made of. Raises Skipped where only texts of the author can tell.
    """
    ready = effects.bases[0]
    textual = [key for key, it in ready.declared().items() if it.type is str and it.choices is None]
    if any(getattr(ready, key) for key in textual):
        raise Skipped(f"what has an effect depends on the text given as {textual[0]}")
    on_texts = bool(trial) and hasattr(trial[0], "texts")
    more = ". Give texts in which it has one: textreg plugins check NAME --text FILE" * on_texts
    unseen, places = "", range(len(effects.tasks))
    if all(isinstance(effects.result(ready, at), tuple) for at in places):
        raise Skipped("nothing is made of what it is tried on")
    for key, declared in ready.declared().items():
        if key not in _NO_EFFECT and (tried := effects.in_vain(key, declared)):
            same = f"the same result for {', '.join(map(repr, tried))}"
            if not effects.is_read(key):
                fail(f"an effect of the parameter {key}", f"{same}, as nothing reads it")
            # Texts may lack what a switch of a tokenizer is for, of which the author has some.
            number = declared.type in (int, float) and declared.choices is None
            known = number or not isinstance(ready, Tokenizer) or trial[0].texts
            if declared.search or (trial and known):
                fail(f"an effect of the parameter {key}", same + more)
            unseen = f"no effect of {key} is seen: {same}{more}"
    if unseen:
        raise Skipped(unseen)


def others(declared: Param, value: Any) -> Iterator[Any]:
    """Other values of a parameter that it allows; none of a text that may be any."""
    if declared.choices is not None:
        yield from (choice for choice in declared.choices if choice != value)
    elif declared.type is bool:
        yield not value
    elif declared.type in (int, float):
        if declared.optional and value is not None:
            yield None
        usual = value or 0
        near = (usual + 1, usual - 1) if declared.type is int else ()
        low = -math.inf if declared.min is None else declared.min
        high = math.inf if declared.max is None else declared.max
        ends = [end for end in (low, high) if math.isfinite(end)]
        numbers = (*near, 2 * usual, usual / 2, *ends, 1, 5, 10 * usual, 0.5)
        for other in dict.fromkeys(map(declared.type, numbers)):
            if other != value and low <= other <= high:
                yield other


_of_backends = common_checks("backend", "backend-")
backend_checks = _of_backends.of


@_of_backends.add("work")
def _work(backend: Backend) -> None:
    """Its workers compute what is submitted, keep values and each of several outputs, bring
    results in order, and raise the errors of what they compute. Not asked of one that needs an
    address."""
    if backend.address:
        raise Skipped(f"it needs {backend.address}")
    with calls.workers(backend, None, [], None, Memory()) as workers:
        array = workers.submit(np.arange, 5)
        pair = workers.submit(divmod, array, 2, outputs=2)
        handles = [array, *pair, workers.send(np.arange(5)), np.arange(5)]
        got = [list(map(int, it)) for it in workers.map(np.add, handles, [1, 2, 3, array, array])]
        for value in (lambda: workers.submit(int, "one"), lambda: "one"):
            with suppress(ValueError):
                fail("the error of int('one')", [*workers.map(int, [value()])])
    expected = [[1, 2, 3, 4, 5], [2, 2, 3, 3, 4], [3, 4, 3, 4, 3], *[[0, 2, 4, 6, 8]] * 2]
    require(got == expected, str(expected), got)


_of_vectors = common_checks("vectors", "vectors-")
vectors_checks = _of_vectors.of


@_of_vectors.add("rows")
def _rows(table: WordVectors) -> None:
    """Rows come in the order of the table, each wanted by its number and word, with a finite
    vector, whatever other rows are wanted. Not asked of one that needs a file, or a package that is
    not there."""
    asked: list[tuple[int, str]] = []

    def wanted(place: int, word: str) -> bool:
        asked.append((place, word))
        return place < ROWS and place % 2 == 0

    try:
        words, vectors = calls.rows_of_vectors(table, wanted)
    except UsageError as error:
        raise Skipped(str(error)) from None
    expected = [word for place, word in asked if place < ROWS and place % 2 == 0]
    require(list(words) == list(dict.fromkeys(expected)), "the words wanted, in order", words[:9])
    more = calls.rows_of_vectors(table, lambda *row: wanted(*row) or row[0] < ROWS)
    every = dict(zip(*more, strict=True))
    same = np.array_equal([every.get(it, ()) for it in words], vectors)
    require(same, "the same vectors where more words are wanted", "others")
    places = [place for place, _ in asked]
    twice = [*range(len(places) // 2)] * 2
    require(places == twice, "every row asked for once, in order", places[:9])


_of_commands = common_checks("command", "command-")
command_checks = _of_commands.of


@_of_commands.add("help")
def _help(command: click.Command) -> None:
    """It says what it does and what each of its options is for, and the metadata of its
    distribution, if it has one, has a line for textreg --help."""
    parts = [command, *getattr(command, "commands", {}).values()]
    for part in parts:
        said = (part.help or "").strip()
        require(bool(said), f"a docstring of the command {part.name}", "none")
    for option in itertools.chain(*(part.params for part in parts)):
        described = option.param_type_name != "option" or getattr(option, "help", None)
        require(bool(described), f"a help text of {option.opts[-1]}", "none")
    with suppress(Skipped):
        described, declared = registry.commands(), ("command", command.name)
        entries = entries_beside(module_of(command))
        lines = [described[it.name] for it in entries if (it.kind, it.name) == declared]
        line = f"'{command.name} WHAT IT DOES' in [project.entry-points.\"textreg.help\"]"
        require(all(lines), line, "none")


@_of_commands.add("usage")
def _usage(command: click.Command) -> None:
    """--help prints its help, and what it does not know is refused with exit code 2; in neither
    case anything is done."""
    from click.testing import CliRunner

    for arguments, code in ((["--help"], 0), (["--no-such-option-of-any-command"], 2)):
        done = CliRunner().invoke(command, arguments)
        got = f"{done.exit_code} {done.exception or done.output!r}"
        require(done.exit_code == code, f"exit code {code} of {arguments[0]}", got)
        said = "Usage:" in done.output or "Usage:" in getattr(done, "stderr", "")
        require(said, f"a line of usage of {arguments[0]}", repr(done.output))
