"""Promises that every kind of plugin makes: described parameters, plain state, a cheap import."""

from __future__ import annotations

import inspect
import json
import math
import os
import pickle
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from typing import Any

from textreg.errors import UsageError
from textreg.kinds import Plugin
from textreg.params import AUTO, Param
from textreg.plugins import registry
from textreg.testing.checks import Checks, fail, require

MODULES = 150
"""Most modules that the import of a plugin may bring, beyond those that textreg needs itself."""

_COUNT = """
import sys, numpy, scipy.sparse, textreg.hookspecs
import textreg.structure.grouping, textreg.structure.linking
before = set(sys.modules)
import {module}
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


def checks_of(kind: str) -> Checks:
    """The checks of a kind of plugin; as yet those of every kind."""
    checks = Checks()

    @checks.add(f"{kind}-parameters")
    def parameters(part: Any) -> None:
        """The class and every parameter say what they are for, and numbers have a range."""
        check_parameters(f"{kind}-parameters", registry.create(kind, part))

    @checks.add(f"{kind}-state")
    def state(part: Any) -> None:
        """Parameters are plain values: they survive JSON, and a pickled copy is equal."""
        check_state(f"{kind}-state", registry.create(kind, part))

    @checks.add(f"{kind}-imports")
    def imports(part: Any) -> None:
        """Importing its module is cheap: large packages are imported where they are used."""
        check_imports(f"{kind}-imports", registry.create(kind, part))

    return checks


def check_parameters(name: str, part: Plugin) -> None:
    """Documented, ranged, and found by a search where they have no value."""
    # Of its own: a subclass without one would show its parent's.
    documented = bool(inspect.cleandoc(type(part).__dict__.get("__doc__") or ""))
    require(name, documented, f"a docstring of {type(part).__name__}", "none")
    for key, declared in part.declared().items():
        require(name, bool(declared.help), f"a help text of {key}", "none")
        if declared.default is AUTO:
            require(name, declared.search is not None, f"a grid for {key}", "none")
        if declared.type in (int, float) and declared.choices is None:
            ranged = declared.min is not None or declared.max is not None
            require(name, ranged, f"a min or a max of {key}", "neither")
            _refuses(name, part, key, declared)


def _refuses(name: str, part: Plugin, key: str, declared: Param) -> None:
    """Numbers out of range are refused by the class, not met by whoever computes with them."""
    low, high = declared.min, declared.max
    wrong = [low - 1 if low is not None else None, high + 1 if high is not None else None]
    for value in [*wrong, math.nan]:
        if value is None:
            continue
        try:
            part.replace(**{key: value})
        except UsageError:
            continue
        fail(name, f"a UsageError for {key}={value}", "none")


def check_state(name: str, part: Plugin) -> None:
    """Plain values that JSON gives back, and an equal copy by pickle, as other processes get."""
    try:
        again = type(part)(**json.loads(json.dumps(part.params())))
    except TypeError as error:
        fail(name, "parameters that JSON can hold", f"{part.params()} ({error})")
    require(name, again.params() == part.params(), f"{part.params()}", again.params())
    copy = pickle.loads(pickle.dumps(part))
    require(name, copy.params() == part.params(), "an equal pickled copy", copy.params())


def check_imports(name: str, part: Plugin) -> None:
    """Few modules come with it. Where there is none to import, as in a notebook, that holds."""
    module = type(part).__module__
    brought = _brought(module) if module != "__main__" else ()
    roots = Counter(each.partition(".")[0] for each in brought).most_common(1)
    what = f"{len(brought)}, {roots[0][1]} of them of {roots[0][0]}" if roots else "none"
    require(
        name,
        len(brought) <= MODULES,
        f"{MODULES} new modules at most on import of {module}, large ones where they are used",
        what,
    )


@lru_cache
def _brought(module: str) -> tuple[str, ...]:
    """The modules that come with one in a fresh interpreter; none where it is not found there."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", _COUNT.format(module=module)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return tuple(done.stdout.split()) if done.returncode == 0 else ()
