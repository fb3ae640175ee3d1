"""Build the compiled core: every textreg/_core/*.pyx becomes one extension module.

All else about the distribution stands in pyproject.toml. Set TEXTREG_DEBUG=1 for a build with
bounds checks and assertions, several times slower and for finding faults only.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("TEXTREG_DEBUG", "") not in ("", "0")

# The one table of compiler directives: no .pyx file sets its own.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
}

if sys.platform == "win32":
    FLAGS = ["/Od"] if DEBUG else ["/O2"]
else:
    FLAGS = ["-O1", "-g"] if DEBUG else ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
    if "-fsanitize" in os.environ.get("CFLAGS", ""):
        FLAGS = []  # see tests/sanitize.py: such builds take long, and name lines
    # Fused multiply-add differs between machines; without it results are the same everywhere.
    FLAGS.append("-ffp-contract=off")

# Cython's code for typed memoryviews, once and not in every module: a third of the size and time.
SHARED = "textreg._core.memoryviews"

HERE = Path(__file__).parent
SOURCES = sorted(path.relative_to(HERE) for path in HERE.glob("textreg/_core/*.pyx"))

setup(
    ext_modules=cythonize(
        [
            Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=FLAGS)
            for path in SOURCES
        ]
        + [Extension(SHARED, [SHARED.replace(".", "/") + ".c"], extra_compile_args=FLAGS)],
        shared_utility_qualified_name=SHARED,
        compiler_directives=DIRECTIVES,
        force=DEBUG,
    ),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
