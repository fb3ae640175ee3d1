"""Builds the one kernel; all else stands in pyproject.toml."""

import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,
}
# Fused multiply-add differs between machines; without it results are the same everywhere.
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]

setup(
    ext_modules=cythonize(
        [Extension("textreg_fused.kernel", ["textreg_fused/kernel.pyx"], extra_compile_args=FLAGS)],
        build_dir="build",
        compiler_directives=DIRECTIVES,
    )
)
