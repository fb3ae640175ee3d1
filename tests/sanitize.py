"""Run the kernels' tests on kernels with address and undefined-behavior sanitizers.

``make sanitize`` copies the sources to ``build/sanitize`` and builds the kernels of textreg and of
``plugins/textreg-fused`` there, so those in use stay what they are. The first access beyond an
array, use of freed memory, overflow of a signed number or misaligned access ends the tests with the
place in the C code, which names the line of the ``.pyx`` file. Needs gcc, or a clang that names its
library with ``-print-file-name``.
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
FLAGS = (
    "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
)
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
SEEN = """
import sys
from pathlib import Path
import textreg._core.columns as core
import textreg_fused.kernel as fused
for module in (core, fused):
    assert Path(module.__file__).is_relative_to(sys.argv[1]), module.__file__
    assert b"__asan_" in Path(module.__file__).read_bytes(), module.__file__
print("sanitized:", core.__file__)
"""


def main(arguments: list[str]) -> int:
    """Build and run; returns an exit code. ``arguments`` are for pytest."""
    compiler = os.environ.get("CC", "gcc")
    libraries = [_library(compiler, name) for name in ("libasan.so", "libstdc++.so")]
    if not all(library.is_file() for library in libraries):
        print(f"make sanitize: {compiler} has no address sanitizer: try CC=gcc.", file=sys.stderr)
        return 1
    _copy()
    building = {**os.environ, "CC": compiler, "CFLAGS": FLAGS, "LDFLAGS": FLAGS}
    building["PYTHONPATH"] = str(COPY)
    for folder in (COPY, FUSED):
        command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(command, cwd=folder, env=building, check=True)
    running = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (COPY, FUSED))),
        "PYTHONMALLOC": "malloc",  # so that every object has its own guarded place
        "LD_PRELOAD": " ".join(map(str, libraries)),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python frees little when it ends
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    subprocess.run([sys.executable, "-c", SEEN, str(COPY)], cwd=COPY, env=running, check=True)
    own = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    codes = [
        subprocess.run([*own, *TESTS, *arguments], cwd=COPY, env=running).returncode,
        subprocess.run([*own, *arguments], cwd=FUSED, env=running).returncode,
    ]
    return max(map(abs, codes))


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
