"""What source distributions and wheels must hold, must not hold, and may weigh."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST = {".tar.gz": 4_000_000, ".whl": 4_000_000}
"""Most bytes of each, so that what slips in is noticed."""

WORKPLACE = re.compile(r"\.ci/|\.github/|conda/|\.gitignore|tests/frozen/.*\.(json|npz)")
"""Tracked files that are for the repository only, among them records of the tests."""
MADE = re.compile(r"PKG-INFO|setup\.cfg|textreg\.egg-info/.*")
"""Files that setuptools adds to a source distribution."""
SHIPPED = re.compile(r"textreg/(py\.typed|demo\.toml|(\w+/)?\w+\.(pyi|pxd))")
"""Files of a wheel that are neither Python nor compiled."""


def sdist_faults(path: Path) -> list[str]:
    """What is wrong with a source distribution, beside the files that git knows."""
    with tarfile.open(path) as archive:
        names = {item.name.partition("/")[2] for item in archive.getmembers() if item.isfile()}
    tracked = {name for name in _tracked() if not WORKPLACE.match(name)}
    added = {name for name in names if not MADE.fullmatch(name)}
    faults = _listed("lacks", tracked - added) + _listed("holds", added - tracked)
    return [f"{path.name} {fault}" for fault in faults + _weight(path, ".tar.gz")]


def wheel_faults(path: Path) -> list[str]:
    """What is wrong with a wheel, beside the sources that stand here."""
    with zipfile.ZipFile(path) as archive:
        files = {item.filename for item in archive.infolist() if not item.is_dir()}
    names = {name for name in files if ".dist-info/" not in name}
    compiled = {_module(name) for name in names if name.endswith((".so", ".pyd"))}
    plain = {name for name in names if not name.endswith((".so", ".pyd"))}
    sources = sorted((ROOT / "textreg").rglob("*"))
    here = {source.relative_to(ROOT).as_posix() for source in sources if source.is_file()}
    wanted = {name for name in here if name.endswith(".py") or SHIPPED.fullmatch(name)}
    kernels = {name.removesuffix(".pyx") for name in here if name.endswith(".pyx")}
    kernels.add("textreg/_core/memoryviews")  # which setup.py makes
    faults = _listed("lacks", (wanted - plain) | (kernels - compiled))
    faults += _listed("holds", (plain - wanted) | (compiled - kernels))
    return [f"{path.name} {fault}" for fault in faults + _weight(path, ".whl")]


def _module(name: str) -> str:
    """The path of a compiled module without what tells of interpreter and platform."""
    folder, _, file = name.rpartition("/")
    return f"{folder}/{file.partition('.')[0]}"


def _tracked() -> set[str]:
    """The files that git knows; UsageError is git's own where there is no repository."""
    command = ["git", "ls-files", "-z"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return set(found.split("\0")) - {""}


def _listed(what: str, names: Iterable[str]) -> list[str]:
    return [f"{what} {name}" for name in sorted(names)]


def _weight(path: Path, suffix: str) -> list[str]:
    size = path.stat().st_size
    most = LARGEST[suffix]
    return [f"has {size:,} bytes, more than {most:,}"] if size > most else []
