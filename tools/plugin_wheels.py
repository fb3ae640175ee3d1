"""Source distributions and wheels of the plugins in ``plugins/``, for ``make dist``."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contents import ROOT
from programs import run, say

PURE = "-none-any.whl"
"""How the name of a wheel ends that every Python can install."""


@dataclass(frozen=True)
class OnPython:
    """A plugin for one version of Python.

    Attributes
    ----------
    folder : Path
        Its sources, with tests.
    wheel : Path
        What is installed.
    """

    folder: Path
    wheel: Path

    def tested(self, program: str, sources: Path, env: Mapping[str, str]) -> str:
        """The last line of its tests, of the installed plugin, beside those of textreg."""
        tests = Path("plugins", self.folder.name, "tests")
        shutil.copytree(self.folder / "tests", sources / tests)
        pytest = [program, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
        return run(pytest, env=env, cwd=sources).strip().rpartition("\n")[2]


@dataclass(frozen=True)
class Plugin:
    """The files of a plugin.

    Attributes
    ----------
    folder : Path
        Its sources.
    sdist : Path
        The source distribution.
    wheels : dict of str to Path
        By version of Python; the same for all where nothing is compiled.
    """

    folder: Path
    sdist: Path
    wheels: dict[str, Path]

    @property
    def files(self) -> list[Path]:
        """All files, once each."""
        return [self.sdist, *dict.fromkeys(self.wheels.values())]

    def on(self, version: str) -> OnPython:
        """The plugin for one version of Python."""
        return OnPython(self.folder, self.wheels[version])

    def faults(self) -> list[str]:
        """What its files lack, beside the sources."""
        kept = {path.relative_to(self.folder).as_posix() for path in _sources(self.folder)}
        with tarfile.open(self.sdist) as archive:
            there = {name.partition("/")[2] for name in archive.getnames()}
        faults = [f"{self.sdist.name} lacks {name}" for name in sorted(kept - there)]
        modules = {name for name in kept if name.startswith("textreg_") and name.endswith(".py")}
        for wheel in dict.fromkeys(self.wheels.values()):
            with zipfile.ZipFile(wheel) as archive:
                names = {name for name in archive.namelist() if ".dist-info/" not in name}
            faults += [f"{wheel.name} lacks {name}" for name in sorted(modules - names)]
            others = sorted(name for name in names if not name.startswith("textreg_"))
            faults += [f"{wheel.name} holds {name}" for name in others]
            compiled = any(name.endswith((".so", ".pyd")) for name in names)
            if compiled != any(name.endswith(".pyx") for name in kept):
                faults.append(f"{wheel.name} {'holds' if compiled else 'lacks'} a compiled module")
        return faults


def build(sources: Path, wheels: Mapping[str, Path], work: Path, output: Path) -> list[Plugin]:
    """All plugins, from the unpacked source distribution of textreg and beside its wheels.

    wheels: those of textreg by version of Python, whose environments are in ``work``.
    """
    folders = sorted(path.parent for path in (sources / "plugins").glob("*/pyproject.toml"))
    return [build_one(folder, wheels, work, output) for folder in folders]


def build_one(folder: Path, wheels: Mapping[str, Path], work: Path, output: Path) -> Plugin:
    """One plugin: its wheels are built from its source distribution."""
    say(f"{folder.name}: source distribution and wheels")
    raw = work / f"sdist-{folder.name}"
    command = [sys.executable, "-m", "build", "--quiet", "--sdist", "--no-isolation"]
    run([*command, "--outdir", raw, folder])
    (sdist,) = raw.glob("*.tar.gz")
    output.mkdir(parents=True, exist_ok=True)
    sdist = Path(shutil.copy(sdist, output))
    made: dict[str, Path] = {}
    for version, textreg in wheels.items():
        pure = next((wheel for wheel in made.values() if wheel.name.endswith(PURE)), None)
        made[version] = pure or build_wheel(folder.name, sdist, textreg, version, work, output)
    return Plugin(folder, sdist, made)


def build_wheel(  # what is built, beside what, and where
    name: str, sdist: Path, textreg: Path, version: str, work: Path, output: Path
) -> Path:
    """The wheel of one plugin for one version of Python, compiled beside textreg's wheel."""
    program = work / f"build-{version}" / "bin" / "python"
    pip = [program, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # Without what it depends on: kernels of plugins include files only.
    run([*pip, "install", "--no-deps", "--force-reinstall", textreg])
    raw = work / f"raw-{name}-{version}"
    run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", raw, sdist])
    (built,) = raw.glob("*.whl")
    if built.name.endswith(PURE):
        return Path(shutil.copy(built, output))
    return repaired(built, work / f"repaired-{name}-{version}", output)


def repaired(wheel: Path, work: Path, output: Path) -> Path:
    """The wheel with the oldest manylinux tag that its symbols allow, without debugging symbols."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    repair = [sys.executable, "-m", "auditwheel", "repair", "--strip", "-w", work]
    run([*repair, wheel], env={**os.environ, "PATH": path})
    (done,) = work.glob("*.whl")
    return Path(shutil.move(done, output / done.name))


def _sources(folder: Path) -> list[Path]:
    """The files of a plugin that git knows."""
    names = run(["git", "ls-files", "-z", f"plugins/{folder.name}"], cwd=ROOT).split("\0")
    return [folder.parent.parent / name for name in names if name]
