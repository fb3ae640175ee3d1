"""Run hostile inputs, each made from a seed, and report what textreg must not do with them.

An area is a module ``fuzz_AREA.py`` beside this one. It defines

``case(rng, folder)``
    Makes ONE input from the random numbers of ``rng`` (numpy.random.Generator), in the empty folder
    ``folder``, and runs it. An AssertionError, or any exception that is not in ``ALLOWED``, is a
    fault. May return a word for what happened ("loaded"), which the summary counts.
``prepare(shared)``, optional
    Runs in every worker before its cases, in the folder ``shared`` that all workers of a run have
    in common. What is there already, it need not make again.
``SECONDS = 10``, ``MEGABYTES = 512``, ``ALLOWED = (TextregError,)``, optional
    The most a case may take: its time, and its memory beyond that at its start.
``OUTPUT = False``, optional
    Whether a case may write to standard output and standard error.

and ``test_fuzz_AREA.py`` runs its first cases in ``make test``::

    from frame import check

    def test_hostile_records():
        check("records", cases=300)  # a few seconds; all areas together stay below a minute

A worker is a fresh interpreter that runs a few hundred cases. A fault, the death of a worker by a
signal, a case over its limits, and anything written to standard error (a bare warning is such) are
reported with the command that repeats the case, and the run goes on with the next one.

``make fuzz CASES=100000 SEED=7 AREA=records`` runs for as long as one likes; CASE=42 repeats one.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import faulthandler
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
CHUNK = 250  # cases of one worker
SHOWN = 3000  # characters of a fault that are shown, from its end


@dataclass
class Outcome:
    """What the cases of an area did.

    counts: how many cases ended in which way; faults: by the number of the case.
    """

    area: str
    seed: int
    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    faults: dict[int, str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {word}" for word, count in self.counts.most_common())
        lines = [f"{self.area}: {sum(self.counts.values())} cases: {counts}"]
        for case, fault in sorted(self.faults.items()):
            lines += [f"\n{self.area} SEED={self.seed} CASE={case}", fault[-SHOWN:].rstrip()]
            lines += [f"again: make fuzz AREA={self.area} SEED={self.seed} CASE={case}"]
        return "\n".join(lines)


def check(area: str, cases: int, seed: int = 0) -> Outcome:
    """Run the first cases of an area; AssertionError with all faults where there are any."""
    outcome = run(area, 0, cases, seed)
    assert not outcome.faults, f"\n{outcome}"
    return outcome


def run(area: str, first: int, cases: int, seed: int, jobs: int = 1) -> Outcome:
    """Run the cases from ``first`` on, in workers of ``CHUNK`` cases."""
    outcome = Outcome(area, seed)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        shared = Path(folder, "shared")
        shared.mkdir()
        if cases > CHUNK:
            _chunk(outcome, shared, range(first, first))  # prepares what the workers share
        if not outcome.faults:
            starts = range(first, first + cases, CHUNK)
            chunks = [range(start, min(start + CHUNK, first + cases)) for start in starts]
            list(pool.map(lambda chunk: _chunk(outcome, shared, chunk), chunks))
    return outcome


def _chunk(outcome: Outcome, shared: Path, cases: range) -> None:
    """Run these cases, in another worker after each one that ends its worker."""
    environment = {"PYTHONHASHSEED": "0", **os.environ, "PYTHONFAULTHANDLER": "1"}
    while True:
        with tempfile.TemporaryDirectory(dir=shared.parent) as folder:
            command = [sys.executable, __file__, "--worker", folder, str(shared), outcome.area]
            command += map(str, (outcome.seed, cases.start, cases.stop))
            with (Path(folder) / "output").open("wb") as output:
                worker = subprocess.Popen(
                    command, stdout=output, stderr=output, env=environment, start_new_session=True
                )
                code = worker.wait()
            _end_group(worker.pid)
            said = (Path(folder) / "output").read_text(errors="replace")
            entries = _entries(Path(folder, "journal"))
        for entry in entries:
            if "fault" in entry:
                outcome.faults[entry["case"]] = entry["fault"]
            if "ended" in entry:
                outcome.counts[entry["ended"]] += 1
        last = entries[-1] if entries else {"case": cases.start - 1, "ended": ""}
        if "ended" in last and last["case"] == cases.stop - 1 and not code:
            return
        how = signal.Signals(-code).name if code < 0 else f"exit {code}"
        if not entries:
            outcome.faults[cases.start] = f"the area cannot be prepared ({how}):\n{said}"
            return
        outcome.faults[last["case"]] = f"the worker ended ({how}):\n{said}"
        outcome.counts["died"] += 1
        cases = range(last["case"] + 1, cases.stop)
        if not cases:
            return


def _entries(journal: Path) -> list[dict[str, Any]]:
    if not journal.exists():
        return []
    return [json.loads(line) for line in journal.read_text().splitlines()]


def _end_group(leader: int) -> None:
    """End what the cases of a worker left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


class Worker:
    """Runs cases in this process, and writes one line to a journal before and after each."""

    def __init__(self, folder: Path, shared: Path, area: str, seed: int) -> None:
        from textreg.errors import TextregError

        self.folder, self.seed = folder, seed
        self.journal = (folder / "journal").open("a", buffering=1)
        self.area = load_area(area)
        self.name = zlib.crc32(Path(area).stem.encode())
        self.allowed = getattr(self.area, "ALLOWED", (TextregError,))
        self.seconds = getattr(self.area, "SECONDS", 10)
        self.megabytes = getattr(self.area, "MEGABYTES", 512)
        self.may_write = getattr(self.area, "OUTPUT", False)
        warnings.simplefilter("always")
        getattr(self.area, "prepare", lambda shared: None)(shared)
        # Memory in proportion is measured below; this keeps the machine from swapping meanwhile.
        # What is imported only later counts as well, hence the constant.
        _limit_address_space(1024 + 4 * self.megabytes)

    def run(self, case: int) -> None:
        """Run one case."""
        import numpy as np

        self._note(case=case)
        folder = self.folder / str(case)
        folder.mkdir()
        before, written = _reset_peak(), self._written()
        faulthandler.dump_traceback_later(self.seconds, exit=True)
        ended, fault = "done", ""
        try:
            ended = self.area.case(np.random.default_rng([self.seed, case, self.name]), folder)
        except self.allowed as error:
            ended = type(error).__name__
        except BaseException:  # noqa: BLE001 - whatever ends a case is what is looked for
            ended, fault = "fault", traceback.format_exc()
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.flush()
        grown = _peak() - before
        if not fault and grown > self.megabytes:
            fault = f"it took {grown} MB of memory, more than {self.megabytes}"
        if not fault and not self.may_write and self._written() > written:
            fault = "it wrote:\n" + (self.folder / "output").read_bytes()[written:].decode()
        self._note(case=case, ended="fault" if fault else ended or "done", **_only(fault=fault))

    def _note(self, **entry: object) -> None:
        self.journal.write(json.dumps(entry) + "\n")

    def _written(self) -> int:
        return (self.folder / "output").stat().st_size


def _only(**members: str) -> dict[str, str]:
    return {name: value for name, value in members.items() if value}


def load_area(area: str) -> ModuleType:
    """The module of an area, which is a name or the path of a file."""
    path = Path(area) if area.endswith(".py") else HERE / f"fuzz_{area}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path[:0] = [str(HERE), str(HERE.parent)]  # an area may use helpers of the tests
    spec.loader.exec_module(module)
    return module


def _limit_address_space(megabytes: int) -> None:
    if sys.platform == "linux":
        import resource

        most = (_status("VmSize") + megabytes) << 20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _reset_peak() -> int:
    """The memory in use, in MB; the peak counts from here."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    """A line of /proc/self/status in MB; 0 on other systems, which thus measure no memory."""
    if sys.platform != "linux":
        return 0
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) // 1024


def main() -> int:
    """What ``make fuzz`` runs."""
    if sys.argv[1:2] == ["--worker"]:
        folder, shared, area, seed, first, end = sys.argv[2:]
        worker = Worker(Path(folder), Path(shared), area, int(seed))
        for case in range(int(first), int(end)):
            worker.run(case)
        return 0
    parser = argparse.ArgumentParser(description="Run hostile inputs; see tests/fuzz/frame.py.")
    parser.add_argument("areas", nargs="*", help="all where none is given")
    parser.add_argument("--cases", type=int, default=2000, help="of every area")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="run this case only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    first, cases = (0, options.cases) if options.case is None else (options.case, 1)
    areas = options.areas or sorted(path.stem[5:] for path in HERE.glob("fuzz_*.py"))
    faults = 0
    for area in areas:
        outcome = run(area, first, cases, options.seed, options.jobs)
        print(outcome, flush=True)
        faults += len(outcome.faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
