"""Measure the sides of a line in turn, A B A B: CPU seconds, wall seconds and peak memory.

A side is a process, measured from outside, or a call, measured in a fork of a process that has made
everything the call needs.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 10.0
"""CPU seconds; a peer whose run took longer is not run again."""

LIMIT = 120
"""CPU seconds after which a call is ended; it is then known to take that long at least."""

UNIT = 1 if sys.platform == "darwin" else 1024
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}

Sample = dict[str, float]
"""What one run took: cpu, wall (seconds), peak (MB), and further figures by name."""


class BenchmarkError(Exception):
    """A side could not be measured."""


@dataclass(frozen=True)
class Command:
    """A process.

    words: program and arguments. facts: figures known before. then: called with the standard output
    of the first run, for figures that are not timed. reports: the process prints its figures as
    JSON, and these count. beside: the words of what runs at the same time, until it has ended.
    """

    words: Sequence[str]
    facts: Mapping[str, float] = field(default_factory=dict)
    then: Callable[[str], Sample] | None = None
    reports: bool = False
    beside: Sequence[Sequence[str]] = ()

    def __call__(self, first: bool = False) -> Sample:
        """Run it once."""
        with running(self.beside):
            sample, output = run(self.words)
        if self.reports:
            sample |= json.loads(output)
        sample |= self.facts
        if first and self.then:
            sample |= self.then(output)
        return sample


@dataclass(frozen=True)
class Call:
    """A function, run in a fork of this process; what it returns are further figures."""

    run: Callable[[], Mapping[str, float] | None]

    def __call__(self, first: bool = False) -> Sample:
        """Run it once."""
        return forked(self.run)


Side = Callable[..., Sample]
"""A Command, a Call, or what else gives a sample of one run."""


LAUNCHER = """
import os, sys, time
started = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), time.perf_counter() - started, file=file)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=file)
"""
"""What the system says of a child begins with the memory of its parent, so this small one is it."""


def run(words: Sequence[str]) -> tuple[Sample, str]:
    """A process, on one thread unless it says otherwise: its figures, and what it printed."""
    environment = {**os.environ, **ONE_THREAD}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as installed
    with (
        tempfile.NamedTemporaryFile("r") as figures,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        launch = [sys.executable, "-S", "-E", "-c", LAUNCHER, figures.name, *words]
        subprocess.run(
            launch,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=environment,
            cwd=ROOT,
            check=False,
        )
        for file in (output, errors):
            file.seek(0)
        code, wall, cpu, peak = (figures.read() or "1 0 0 0").split()
        if code != "0":
            said = errors.read().decode(errors="replace").strip()
            raise BenchmarkError(f"{' '.join(words)}\nended with {code}: {said}")
        sample = {"cpu": float(cpu), "wall": float(wall), "peak": int(peak) * UNIT / 1e6}
        return sample, output.read().decode()


_BUSY = """
import os
parent = os.getppid()
while os.getppid() == parent:  # it ends with the benchmark, however that ends
    for _ in range(1_000_000):
        pass
"""
BUSY = (sys.executable, "-S", "-E", "-c", _BUSY)
"""The words of a busy loop."""


@contextmanager
def running(commands: Sequence[Sequence[str]]) -> Iterator[None]:
    """These run meanwhile, and are killed after it."""
    processes = [
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for words in commands
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def forked(call: Callable[[], Mapping[str, float] | None], limit: int = LIMIT) -> Sample:
    """The figures of a call in a fork; ``peak`` is what it adds to the memory of this process.

    A call that uses more than ``limit`` CPU seconds is ended; the sample then has "ended".
    """
    reading, writing = os.pipe()
    gc.collect()
    pid = os.fork()
    if not pid:  # the fork
        os.close(reading)
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
            os.write(writing, json.dumps(_timed(call)).encode())
            code = 0
        except BaseException:  # noqa: BLE001 - a fork must end here, whatever happened
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    if said:
        sample: Sample = json.loads(said)
        return sample
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return {"cpu": float(limit), "wall": float(limit), "ended": 1.0}
    raise BenchmarkError("a call failed; its error stands above")


def _timed(call: Callable[[], Mapping[str, float] | None]) -> Sample:
    gc.freeze()  # nothing of the parent is looked through
    before = peak_memory(reset=True)
    wall, cpu = time.perf_counter(), time.process_time()
    more = call()
    sample = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    sample["peak"] = (peak_memory() - before) / 1e6
    return sample | dict(more or {})


def peak_memory(reset: bool = False) -> float:
    """Peak memory of this process in bytes, since the last reset where the system can do that."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT)
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) * 1024.0


def in_turn(
    sides: Mapping[str, Side], repeats: int, patience: float = PATIENCE
) -> dict[str, list[Sample]]:
    """Samples of every side, ``repeats`` of each: the first of all, the second of all, ...

    The first side is ours. Of another one that took more than ``patience`` CPU seconds there is one
    sample.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in sides}
    ours = next(iter(sides))
    for turn in range(repeats):
        for name, side in sides.items():
            done = samples[name]
            if not (name != ours and done and done[0]["cpu"] > patience):
                done.append(side(first=turn == 0))
    return samples


def python(module: str, *arguments: Any) -> tuple[str, ...]:
    """The words that run a module of this folder, or ``textreg``."""
    name = module if module == "textreg" else f"benchmarks.performance.{module}"
    return (sys.executable, "-m", name, *map(str, arguments))
