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
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from textreg.errors import UsageError
from textreg.kinds import Plugin
from textreg.params import AUTO, Param
from textreg.plugins import registry
from textreg.plugins.entries import API, API_GROUP, GROUP
from textreg.testing.checks import Checks, Skipped, fail, require

MODULES = 150
"""Most modules that the import of a plugin may bring, beyond those that textreg needs itself."""

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
    checks = Checks(kind)
    checks.add(f"{prefix}parameters")(_parameters)

    @checks.add(f"{prefix}state")
    def state(part: Plugin) -> None:
        """Parameters are plain values: they survive JSON, and a pickled copy is equal."""
        _survives(decided(part))

    @checks.add(f"{prefix}manifest")
    def manifest(part: Plugin) -> None:
        """The metadata of its distribution, if it has one, names its kind, its name, and the
        version of the interface, so that nothing need be imported to list it."""
        _declared(kind, part)

    checks.add(f"{prefix}imports")(_imports)
    return checks


def _parameters(part: Plugin) -> None:
    """The class says what it is for; numbers have a range, and a parameter
    without a value has a grid to be searched."""
    # Of its own: a subclass without one would show its parent's.
    documented = bool(inspect.cleandoc(type(part).__dict__.get("__doc__") or ""))
    require(documented, f"a docstring of {type(part).__name__}", "none")
    for key, declared in part.declared().items():
        if declared.default is AUTO:
            require(declared.search is not None, f"a grid for {key}", "none")
        if declared.type in (int, float) and declared.choices is None:
            ranged = declared.min is not None or declared.max is not None
            require(ranged, f"a min or a max of {key}", "neither")
            _check_range(part, key, declared)


def _check_range(part: Plugin, key: str, declared: Param) -> None:
    """The class refuses numbers out of range, so nothing computes with them."""
    wrong = []
    if declared.min is not None:
        wrong.append(declared.min - 1)
    if declared.max is not None:
        wrong.append(declared.max + 1)
    for value in (*wrong, math.nan):
        try:
            part.replace(**{key: value})
        except UsageError:
            continue
        fail(f"a UsageError for {key}={value}", "none")


def _survives(part: Plugin) -> None:
    """Its parameters pass through JSON, as in model files, and pickle, as to other processes."""
    try:
        again = type(part)(**json.loads(json.dumps(part.params())))
    except TypeError as error:
        fail("parameters that JSON can hold", f"{part.params()} ({error})")
    require(again.params() == part.params(), f"{part.params()}", again.params())
    copy = pickle.loads(pickle.dumps(part))
    require(copy.params() == part.params(), "an equal pickled copy", copy.params())


def _declared(kind: str, part: Plugin) -> None:
    """An entry point of its distribution stands for it; Skipped if none is installed."""
    package = type(part).__module__.partition(".")[0]
    own = [entry for entry in registry.entries() if entry.point.module.partition(".")[0] == package]
    if not own:
        raise Skipped(f"no installed distribution names a plugin in {package}")
    names = ", ".join(entry.point.name for entry in own)
    mine = [entry for entry in own if (entry.kind, entry.name) == (kind, part.name)]
    line = f"'{kind}.{part.name}' in [project.entry-points.{GROUP}] of {own[0].distribution}"
    require(bool(mine), line, f"only {names}")
    version = f'the version of the interface in [project.entry-points."{API_GROUP}"]'
    require(bool(mine[0].apis), f'{version}, such as {API} = "{package}"', "none")


def _imports(part: Plugin) -> None:
    """Importing its module is cheap: large packages are imported where they are used."""
    module = type(part).__module__
    found = _brought(module) if module != "__main__" else ()  # as in a notebook
    brought = [each for each in found if each.partition(".")[0] != "textreg"]
    roots = Counter(each.partition(".")[0] for each in brought).most_common(1)
    what = f"{len(brought)}, {roots[0][1]} of them of {roots[0][0]}" if roots else "none"
    require(
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
