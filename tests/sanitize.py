"""Run the kernels' tests on kernels with sanitizers: of addresses, undefined behavior, threads.

``make sanitize`` copies the sources to ``build/sanitize`` and builds the kernels of textreg and of
``plugins/textreg-fused`` there, so those in use stay what they are. The first access beyond an
array, use of freed memory, overflow of a signed number or misaligned access ends the tests with the
place in the C code, which names the line of the ``.pyx`` file. Then they are built once more
for tests with several threads: two that reach the same place, one of them to write, without a
lock between them are told with both places. Needs gcc, or a clang that names its libraries with
``-print-file-name``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COPY = ROOT / "build" / "sanitize"
FUSED = COPY / "plugins" / "textreg-fused"
FLAGS = "-O1 -g1 -fno-omit-frame-pointer -fsanitize="
TESTS = (
    "tests/test_kernels.py",
    "tests/test_text_kernels.py",
    "tests/test_chars_kernels.py",
    "tests/test_chars.py",
    "tests/test_known.py",
    "tests/test_known_kernels.py",
    "tests/test_words.py",
    "tests/test_vectorize.py",
    "tests/test_parallel_columns.py",
    "tests/test_incomplete_cholesky.py",
    "tests/test_pursuit.py",
    "tests/test_ridge.py",
    "tests/test_working_sets.py",
)
THREADED = (
    "tests/test_threads.py",
    "tests/test_text_kernels.py",
    "tests/test_chars_kernels.py",
    "tests/test_design.py",
    "tests/test_side_by_side.py",
    "tests/test_many_threads.py",
)
SEEN = """
import sys
from importlib import import_module
from pathlib import Path
folder, mark, *names = sys.argv[1:]
for name in names:
    file = Path(import_module(name).__file__)
    assert file.is_relative_to(folder), file
    assert mark.encode() in file.read_bytes(), file
    print("sanitized:", file)
"""
# Two threads that fill the same array have to be seen.
RACE = """
from threading import Thread
import numpy as np
from textreg._core.ragged import hash_rows
n = 200_000
rows, ptr = np.arange(n), np.arange(n + 1)
found, entries = np.empty(n, dtype=np.uint64), np.zeros(n, dtype=np.int32)
def fill():
    for _ in range(20):
        hash_rows(ptr, entries, rows, found)
two = [Thread(target=fill) for _ in range(2)]
for thread in two: thread.start()
for thread in two: thread.join()
"""


def main(arguments: list[str]) -> int:
    """Build and run; returns an exit code. ``arguments`` are for pytest."""
    compiler = os.environ.get("CC", "gcc")
    names = ("libasan.so", "libstdc++.so", "libtsan.so")
    asan, stdcpp, tsan = (_library(compiler, name) for name in names)
    if not all(library.is_file() for library in (asan, stdcpp, tsan)):
        print(f"make sanitize: {compiler} has no sanitizers: try CC=gcc.", file=sys.stderr)
        return 1
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    _build(compiler, "address,undefined -fno-sanitize-recover=undefined")
    options = {
        "PYTHONMALLOC": "malloc",  # so that every object has its own guarded place
        "ASAN_OPTIONS": "detect_leaks=0",  # Python frees little when it ends
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    running = _loaded(f"{asan} {stdcpp}", **options)
    modules = ("textreg._core.columns", "textreg_fused.kernel")
    seen = [sys.executable, "-c", SEEN, str(COPY)]
    subprocess.run([*seen, "__asan_", *modules], cwd=COPY, env=running, check=True)
    codes = [
        subprocess.run([*tests, *TESTS, *arguments], cwd=COPY, env=running).returncode,
        subprocess.run([*tests, *arguments], cwd=FUSED, env=running).returncode,
    ]
    _build(compiler, "thread")
    running = _loaded(str(tsan), TSAN_OPTIONS="halt_on_error=1 exitcode=66")
    subprocess.run([*seen, "__tsan_", *modules], cwd=COPY, env=running, check=True)
    race = [sys.executable, "-c", RACE]
    told = subprocess.run(race, cwd=COPY, env=running, stderr=subprocess.PIPE, text=True)
    if "data race" not in told.stderr:
        print("make sanitize: the sanitizer of threads sees no race.", file=sys.stderr)
        return 1
    codes.append(subprocess.run([*tests, *THREADED, *arguments], cwd=COPY, env=running).returncode)
    return max(map(abs, codes))


def _build(compiler: str, sanitizers: str) -> None:
    """Copy the sources, and build the kernels of the copy."""
    _copy()
    flags = FLAGS + sanitizers
    building = {**os.environ, "CC": compiler, "CFLAGS": flags, "LDFLAGS": flags}
    building["PYTHONPATH"] = str(COPY)
    for folder in (COPY, FUSED):
        command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(command, cwd=folder, env=building, check=True)


def _loaded(libraries: str, **options: str) -> dict[str, str]:
    """The environment of what runs with the sanitizers' libraries."""
    path = os.pathsep.join(map(str, (COPY, FUSED)))
    return {**os.environ, "PYTHONPATH": path, "LD_PRELOAD": libraries, **options}


def _library(compiler: str, name: str) -> Path:
    found = subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False
    )
    return Path(found.stdout.strip())


def _copy() -> None:
    """The sources as they are now, without what was built from them elsewhere."""
    shutil.rmtree(COPY, ignore_errors=True)
    built = shutil.ignore_patterns("*.so", "*.c", "*.pyd", "__pycache__", "build", "*.egg-info")
    for name in ("textreg", "tests", "plugins"):
        shutil.copytree(ROOT / name, COPY / name, ignore=built)
    for name in ("conftest.py", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, COPY)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
