"""The frame of the fuzz tests sees what it is there to see."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from frame import run

AREA = """
import os, signal, sys, time, warnings
from textreg.errors import UsageError
SECONDS, MEGABYTES = 5, 64

def good(): return "good"
def refused(): raise UsageError("refused.")
def raw(): raise TypeError("a raw one")
def wrong(): assert 1 == 2, "that is wrong"
def crash(): os.kill(os.getpid(), signal.SIGSEGV)
def quiet_end(): os._exit(0)
def quiet_fault(): os._exit(3)
def hang(): time.sleep(60)
def large(): bytearray(200 << 20)
def huge(): bytearray(8 << 30)
def warning(): warnings.warn("a bare warning")
def interrupt(): raise KeyboardInterrupt
CASES = [value for name, value in list(globals().items()) if getattr(value, "__code__", None)]

def case(rng, folder):
    number = int(folder.name)
    return CASES[number]()
"""

EXPECTED = {
    "raw": "TypeError: a raw one",
    "wrong": "AssertionError: that is wrong",
    "crash": "SIGSEGV",
    "quiet_end": "the worker ended (exit 0)",
    "quiet_fault": "the worker ended (exit 3)",
    "hang": "Timeout",
    "warning": "a bare warning",
    "interrupt": "KeyboardInterrupt",
}
LINUX = {"large": "MB of memory, more than 64", "huge": "MemoryError"}


def test_every_kind_of_fault_is_found_and_the_run_goes_on(tmp_path: Path) -> None:
    area = tmp_path / "fuzz_toy.py"
    area.write_text(AREA)
    names = [line[4:].split("(")[0] for line in AREA.splitlines() if line.startswith("def ")][:-1]
    outcome = run(str(area), 0, len(names), seed=3)
    expected = EXPECTED | (LINUX if sys.platform == "linux" else {})
    assert {names[case] for case in outcome.faults} == set(expected)
    for case, fault in outcome.faults.items():
        assert expected[names[case]] in fault
        assert f"SEED=3 CASE={case}" in str(outcome)
    assert outcome.counts["good"] == outcome.counts["UsageError"] == 1
    assert sum(outcome.counts.values()) == len(names)


def test_an_area_that_cannot_be_prepared_is_a_fault(tmp_path: Path) -> None:
    area = tmp_path / "fuzz_broken.py"
    area.write_text("def prepare(shared):\n    raise ValueError('not prepared')\n")
    outcome = run(str(area), 0, 5, seed=0)
    assert "not prepared" in outcome.faults[0]


def test_a_case_is_the_same_whenever_it_runs(tmp_path: Path) -> None:
    area = tmp_path / "fuzz_numbers.py"
    area.write_text("def case(rng, folder):\n    return str(rng.integers(10**9))\n")
    alone = [set(run(str(area), case, 1, seed=5).counts) for case in range(3)]
    assert set.union(*alone) == set(run(str(area), 0, 3, seed=5).counts)
    assert set(run(str(area), 0, 3, seed=6).counts).isdisjoint(set.union(*alone))


@pytest.mark.parametrize("area", sorted(Path(__file__).parent.glob("fuzz_*.py")))
def test_every_area_has_a_short_pass(area: Path) -> None:
    assert area.with_name(f"test_{area.name}").is_file()
