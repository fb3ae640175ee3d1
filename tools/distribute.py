"""``make dist``: a source distribution and wheels, checked, installed and tried.

    python tools/distribute.py --python python3.12 --python python3.13

Every interpreter that is there builds a wheel from the source distribution. auditwheel gives it
the oldest manylinux tag that its symbols allow and leaves out debugging symbols; ``twine check``,
auditwheel and :mod:`contents` check it. Then it is installed into an environment without a
compiler, in a folder of its own far from the sources, where the demo, predictions and tests run:
the quick ones in :data:`TESTS`, or with ``--full`` all of them. The plugins in ``plugins/`` are
made, checked and installed beside it in the same way, and their tests run there
(:mod:`plugin_wheels`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import plugin_wheels
from contents import ROOT, sdist_faults, wheel_faults
from programs import DistError, output_of, run, say

WORK = ROOT / "build" / "dist"
PYTHONS = ("python3.10", "python3.11", "python3.12", "python3.13", "python3.14", "python3.14t")
VERSION = "import sys; print('%d.%d%s' % (*sys.version_info[:2], sys.abiflags))"
DEPENDENCIES = ("setuptools>=77", "Cython>=3.1")
"""What builds: one version of Cython for all interpreters, so that its C is made once."""

TESTS = ("demo", "package", "kernels", "distribution", "threads", "many_threads", "model", "words")
"""The tests that every wheel runs: a sample of what is compiled, installed or depends on Python."""

PROGRAMS = ("cat", "sh", "bash", "echo", "env", "head", "yes")
"""What is on the path where a wheel is tried: joblib counts cores with cat, tests use others."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make and try all; returns an exit code."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--python", action="append", metavar="COMMAND", help="repeat for several")
    parser.add_argument("--full", action="store_true", help="run all tests on every wheel")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    options = parser.parse_args(arguments)
    try:
        made = make(options.python or PYTHONS, options.output, full=options.full)
    except (DistError, subprocess.CalledProcessError) as error:
        print(f"{output_of(error)}make dist: {error}", file=sys.stderr)
        return 1
    print("\n".join(f"{path.stat().st_size:>10,} bytes  {path}" for path in made))
    return 0


def make(pythons: Sequence[str], output: Path, *, full: bool = False) -> list[Path]:
    """Build, check and try; gives the files. DistError or CalledProcessError for what fails."""
    known = interpreters(pythons)
    shutil.rmtree(output, ignore_errors=True)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    sdist = build_sdist(output)
    with tarfile.open(sdist) as archive:
        archive.extractall(WORK, filter="data")
    sources = WORK / sdist.name.removesuffix(".tar.gz")
    wheels = {version: build_wheel(sources, known[version], version, output) for version in known}
    plugins = plugin_wheels.build(sources, wheels, WORK, output / "plugins")
    made = [sdist, *wheels.values()]
    more = [path for plugin in plugins for path in plugin.files]
    say("twine check")
    run([sys.executable, "-m", "twine", "check", "--strict", *made, *more])
    faults = sdist_faults(sdist) + [fault for wheel in made[1:] for fault in wheel_faults(wheel)]
    faults += [fault for plugin in plugins for fault in plugin.faults()]
    if faults:
        raise DistError("wrong contents:\n" + "\n".join(faults))
    answers = {}
    for version, wheel in wheels.items():
        beside = [plugin.on(version) for plugin in plugins]
        answers[version] = tried(wheel, known[version], sources, beside, full)
    if len(set(answers.values())) > 1:
        raise DistError(f"the models of {', '.join(answers)} predict different labels")
    return [*made, *more]


def interpreters(pythons: Sequence[str]) -> dict[str, str]:
    """The commands that run, by version with ABI flags, once each; DistError if none does."""
    found: dict[str, str] = {}
    for python in pythons:
        try:
            version = run([python, "-c", VERSION]).strip()
        except (OSError, subprocess.CalledProcessError):
            say(f"{python} is not here: left out")
            continue
        found.setdefault(version, python)
    if not found:
        raise DistError(f"none of {', '.join(pythons)} runs: name one with PYTHONS=")
    return found


def build_sdist(output: Path) -> Path:
    """The source distribution of this checkout."""
    say("source distribution")
    command = [sys.executable, "-m", "build", "--quiet", "--sdist", "--no-isolation"]
    run([*command, "--outdir", str(output), str(ROOT)])
    (sdist,) = output.glob("*.tar.gz")
    return sdist


def build_wheel(sources: Path, python: str, version: str, output: Path) -> Path:
    """The wheel of one interpreter, from the unpacked source distribution."""
    say(f"wheel for {version}")
    venv, raw = WORK / f"build-{version}", WORK / f"raw-{version}"
    run([python, "-m", "venv", str(venv)])
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run([*pip, "install", *DEPENDENCIES])
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(raw)]
    run([*wheel, str(sources)])
    (built,) = raw.glob("*.whl")
    return plugin_wheels.repaired(built, WORK / f"repaired-{version}", output)


def tried(
    wheel: Path, python: str, sources: Path, plugins: Sequence[plugin_wheels.OnPython], full: bool
) -> str:
    """The answers of the demo's model, from a clean environment without a compiler."""
    with tempfile.TemporaryDirectory(prefix="textreg-dist-") as folder:
        place = Path(folder)
        venv = place / "venv"
        run([python, "-m", "venv", str(venv)])
        env = {
            "PATH": str(venv / "bin"),  # so that there is no compiler
            "CC": "/bin/false",
            "HOME": folder,
            "LC_ALL": "C.UTF-8",
            **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        }
        for name in PROGRAMS:
            if found := shutil.which(name):
                (venv / "bin" / name).symlink_to(found)
        program = str(venv / "bin" / "python")
        install = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        only = ["--only-binary", ":all:", f"{wheel}[check]", "pytest>=8", "hypothesis>=6.100"]
        say(f"try {wheel.name}")
        group = ["--group", str(sources / "pyproject.toml") + ":test"] if full else []
        run([*install, "--upgrade", "pip>=25.1"], env=env)
        run([*install, *only, *group], env=env)
        trial = [program, str(ROOT / "tools" / "trial.py"), "answers.txt"]
        print(run(trial, env=env, cwd=place).strip() or "demo and predictions: as they should be")
        run([*install, "--only-binary", ":all:", *(plugin.wheel for plugin in plugins)], env=env)
        rest = place / "sources"  # all but textreg, which is to be the installed one
        shutil.copytree(sources, rest, ignore=shutil.ignore_patterns("textreg*", "setup.py"))
        workers = ["-n", "auto", "--dist", "worksteal"]
        tests = workers if full else [f"tests/test_{name}.py" for name in TESTS]
        pytest = [program, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        if "TEXTREG_DATA" in os.environ:
            env["TEXTREG_DATA"] = os.environ["TEXTREG_DATA"]
        print(run(pytest, env=env, cwd=rest).strip().rpartition("\n")[2], flush=True)
        # Together, as some need others, which no index has in this version.
        run([*install, "--only-binary", ":all:", *(plugin.wheel for plugin in plugins)], env=env)
        for plugin in plugins:
            say(f"try {plugin.wheel.name}")
            print(plugin.tested(program, rest, env), flush=True)
        return (place / "answers.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
