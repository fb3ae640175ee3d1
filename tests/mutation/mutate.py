"""Plant faults in the Python source, one at a time, and see whether the tests find them.

``make mutate`` copies the checkout to ``build/mutation/tree`` and runs the tests there once, to
record which lines each of them executes; later runs record only test files that changed. Faults are
drawn by a seed over the lines of all packages. Each is planted in the copy; a few quick tests that
execute its line are run first, and if it lives, the others. Faults that change no behavior stand in
``equivalent.toml`` with the reason, and do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest
from coverage.exceptions import DataError
from faults import Fault, faults

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutation"
TREE, TESTS, LINES = WORK / "tree", WORK / "tests.jsonl", WORK / "lines"
QUICK = 12
"""Tests of the first run, in which most faults are found."""
LEAST = 6
"""Faults of a package, however small: a share of fewer says little."""
LEFT_OUT = "tools distribution installed core_alone documents examples gallery live large"
"""Tests of whole programs, which cost minutes and execute some of everything."""
LIMIT = "the time limit"
LOADED = "numpy click rich"  # SciPy sets filters of warnings, which must be those of the tests
SETTINGS = """[run]
data_file = {work}/lines
parallel = true
context = ${{TEXTREG_TEST-}}
source =
    {work}/tree/textreg
    {work}/tree/plugins
omit = */tests/*
disable_warnings = no-data-collected, module-not-imported, module-not-measured, already-imported
"""


class Mutant(NamedTuple):
    """A fault and the file that it is planted in, relative to the checkout."""

    path: str
    fault: Fault

    def __str__(self) -> str:
        before = " ".join(self.fault.before.split())
        return f"{self.path}:{self.fault.line}: {before} -> {self.fault.after}"

    @property
    def package(self) -> str:
        """``textreg/solvers`` or ``plugins/textreg-dask``."""
        parts = self.path.split("/")
        return "/".join(parts[: 1 if len(parts) == 2 else 2])


class Recording:
    """Which tests execute which line, and for how long."""

    def __init__(self) -> None:
        tests = [json.loads(line) for line in TESTS.read_text(encoding="utf-8").splitlines()]
        self.names = {test["number"]: test["test"] for test in tests if test["passed"]}
        self.seconds = {test["test"]: test["seconds"] for test in tests}
        self.data = coverage.CoverageData(str(LINES))
        self.data.read()

    def tests(self, mutant: Mutant) -> list[str]:
        """Those that execute the fault, else those that execute its file; quick ones first.

        What runs at import is seen only in the first test that imports it, and lines may have moved
        since the recording: there too it is those of the file.
        """
        path, fault = mutant
        lines = self.data.contexts_by_lineno(str(TREE / path))
        numbers: set[str] = set()
        moved = (ROOT / path).stat().st_mtime > (WORK / "coveragerc").stat().st_mtime
        if fault.in_function and not moved:
            places = range(fault.statement, fault.end + 1)
            numbers.update(*(lines.get(line, []) for line in places))
        if not numbers & self.names.keys():
            numbers.update(*lines.values())
        tests = {self.names[number] for number in numbers & self.names.keys()}
        return sorted(tests, key=lambda test: (self.seconds[test], test))


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="draws the faults")
    parser.add_argument("--count", type=int, default=300, help="of faults")
    parser.add_argument("--seconds", type=float, default=120, help="of tests that a fault may live")
    parser.add_argument("--at", metavar="FILE:LINE", help="all faults of this line instead")
    options = parser.parse_args()
    mutants = at(options.at) if options.at else drawn(options.seed, options.count)
    copy()
    record()
    for name in LOADED.split():
        __import__(name)
    recording = Recording()
    reasons = {(it["file"], it["line"], it["after"]): it["reason"] for it in equivalent()}
    planted: dict[str, list[bool]] = defaultdict(list)
    unchanged, lived, finders = [], [], set()
    for mutant in mutants:
        reason = reasons.get((mutant.path, mutant.fault.text, mutant.fault.after))
        if reason is not None:
            unchanged.append(f"{mutant}  # {reason}")
            continue
        finder = find(mutant, recording, options.seconds)
        print(mutant, f"found by {finder}" if finder else "LIVED", sep="\n    ", flush=True)
        planted[mutant.package].append(bool(finder))
        if not finder:
            lived.append(str(mutant))
        elif ".py" in finder:
            finders.add(finder)
    for title, listed in (("Equivalent", unchanged), ("Lived", lived)):
        print(f"\n{title}: {len(listed)}", *listed, sep="\n")
    if finders and (doubtful := failure(sorted(finders), 3600)):
        print(f"\nA test that found a fault fails without one, too: {doubtful}")
    return table(planted, options.seed)


def copy() -> None:
    """The checkout as it stands, with the kernels that were built."""
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    built = [*ROOT.glob("textreg/_core/*.so"), *ROOT.glob("plugins/*/*/*.so")]
    for name in [*listed.splitlines(), *(path.relative_to(ROOT).as_posix() for path in built)]:
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        (TREE / name).unlink(missing_ok=True)
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, TREE / name)


def record() -> None:
    """Run the test files that changed since the last time, and keep which lines they execute."""
    recorded = LINES.stat().st_mtime if LINES.is_file() else 0.0
    paths = [*ROOT.glob("tests/test_*.py"), *ROOT.glob("plugins/*/tests/test_*.py")]
    left_out = {f"test_{name}.py" for name in LEFT_OUT.split()}
    changed = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(paths)
        if path.stat().st_mtime > recorded and path.name not in left_out
    ]
    if not changed:
        return
    print(f"recording {len(changed)} test files", flush=True)
    if not recorded:
        (WORK / "coveragerc").write_text(SETTINGS.format(work=WORK), encoding="utf-8")
        TESTS.write_text("", encoding="utf-8")
    lines = TESTS.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [it for it in lines if json.loads(it)["test"].partition("::")[0] not in changed]
    TESTS.write_text("".join(kept), encoding="utf-8")
    environment = {"PYTHONPATH": os.pathsep.join(folders()), "TEXTREG_TESTS": str(TESTS)}
    environment["COVERAGE_PROCESS_START"] = str(WORK / "coveragerc")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "recording", *changed]
    subprocess.run(command, cwd=TREE, env={**os.environ, **environment}, check=False)
    merged = coverage.CoverageData(str(LINES))
    merged.read()  # else the first update forgets what was recorded before
    for path in WORK.glob("lines.*"):
        part = coverage.CoverageData(str(path))
        with contextlib.suppress(DataError):  # of a process that was killed while it wrote
            part.read()
            merged.update(part)
        path.unlink()
    merged.close()
    os.utime(LINES)


def folders() -> list[str]:
    """To import from, before what is installed."""
    return [str(it) for it in (TREE, *TREE.glob("plugins/*"), TREE / "tests" / "mutation")]


def equivalent() -> list[dict[str, str]]:
    """Faults that change no behavior: file, line, what is planted there, and the reason."""
    text = Path(__file__).with_name("equivalent.toml").read_text(encoding="utf-8")
    listed: list[dict[str, str]] = tomllib.loads(text)["fault"]
    return listed


def at(place: str) -> list[Mutant]:
    """All faults of a line."""
    path, _, line = place.rpartition(":")
    if not (ROOT / path).is_file() or not line.isdigit():
        sys.exit(f"--at {place}: name a file and a line, such as textreg/losses.py:194.")
    found = faults((ROOT / path).read_bytes())
    mutants = [Mutant(path, fault) for fault in found if fault.line == int(line)]
    return mutants or sys.exit(f"--at {place}: no fault can be planted in this line.")


def drawn(seed: int, count: int) -> list[Mutant]:
    """Lines by chance, of every package its share; of each line one of its faults."""
    chance = random.Random(seed)
    lines: dict[str, dict[tuple[str, int], list[Mutant]]] = defaultdict(lambda: defaultdict(list))
    places = ("textreg/**/*.py", "plugins/*/textreg_*/**/*.py", "plugins/*/textreg_*.py")
    for source in sorted(path for place in places for path in ROOT.glob(place)):
        for fault in faults(source.read_bytes()):
            mutant = Mutant(source.relative_to(ROOT).as_posix(), fault)
            lines[mutant.package][mutant.path, fault.line].append(mutant)
    share = count / sum(len(places) for places in lines.values())
    return [
        chance.choice(places[place])
        for places in lines.values()
        for place in chance.sample(sorted(places), max(LEAST, round(share * len(places))))
    ]


def find(mutant: Mutant, recording: Recording, seconds: float) -> str:
    """The test that fails with the fault planted, or how else the run ended; empty if none does."""
    tests = recording.tests(mutant)
    functions = {test.partition("[")[0]: test for test in reversed(tests)}
    quick = sorted(functions.values(), key=tests.index)[:QUICK]
    others, spent = [], 0.0
    for test in (it for it in tests if it not in quick):
        spent += recording.seconds[test]
        if spent < seconds:
            others.append(test)
    parts = [
        (part, 60 + 5 * sum(map(recording.seconds.__getitem__, part))) for part in (quick, others)
    ]
    # Only some variants of a test are recorded: last come all, as in make test-all.
    every = dict.fromkeys(it.partition("[")[0] for it in [*quick, *others] if "[" in it)
    if every:
        parts.append((["--thorough", *every], 5 * seconds))
    # What workers of a cluster execute is not recorded, either.
    if mutant.package.startswith("plugins/"):
        parts.append(([f"{mutant.package}/tests"], 5 * seconds))
    for part, limit in parts:
        (TREE / mutant.path).write_bytes(mutant.fault.plant((ROOT / mutant.path).read_bytes()))
        try:
            found = failure(part, limit) if part else ""
        finally:
            shutil.copy2(ROOT / mutant.path, TREE / mutant.path)
        # The machine may be busy, or a test hang here without a fault as well.
        if found and not (found == LIMIT and failure(part, limit) == LIMIT):
            return found
    return ""


def failure(tests: list[str], limit: float) -> str:
    """What failed when these run in the copy, at the latest after ``limit`` seconds."""
    process = multiprocessing.get_context("fork").Process(target=run, args=(tests,))
    process.start()
    process.join(limit)
    ended = process.exitcode
    with contextlib.suppress(ProcessLookupError):  # with what a test started and did not end
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    output = (WORK / "output").read_text(encoding="utf-8", errors="replace")
    if named := re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", output, re.MULTILINE):
        return named[1]
    return "" if ended == 0 else LIMIT if ended is None else f"exit code {ended}"


def run(tests: list[str]) -> None:
    """In a process that has loaded what the tests need, save textreg."""
    os.setsid()
    os.chdir(TREE)
    sys.path[:0] = folders()
    sys.dont_write_bytecode = True
    os.environ.update(PYTHONPATH=os.pathsep.join(folders()), PYTHONDONTWRITEBYTECODE="1")
    output = os.open(WORK / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os._exit(pytest.main(["-x", "-q", "--tb=no", "-p", "no:cacheprovider", *tests]))


def table(planted: dict[str, list[bool]], seed: int) -> int:
    """Print the share found by package; returns 1 where it is less than it should be."""
    every = [found for results in planted.values() for found in results]
    print(f"\n{f'seed {seed}':26}{'planted':>9}{'found':>7}{'share':>7}")
    for name, results in [*sorted(planted.items()), ("all", every)]:
        share = sum(results) / len(results)
        print(f"{name:26}{len(results):9}{sum(results):7}{share:7.0%}")
    low = any(sum(results) < 0.8 * len(results) for results in planted.values())
    return int(low or sum(every) < 0.9 * len(every))


if __name__ == "__main__":
    sys.exit(main())
