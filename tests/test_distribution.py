"""What is shipped and built around the code: kernels, metadata, generated pages, scripts."""

from __future__ import annotations

import doctest
import importlib
import re
import stat
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import textreg
from textreg.plugins import registry

ROOT = Path(textreg.__file__).parent
CHECKOUT = ROOT.parent
needs_checkout = pytest.mark.skipif(
    not (CHECKOUT / "pyproject.toml").is_file(), reason="textreg is not installed from a checkout"
)


def modules_with_examples() -> list[str]:
    """Modules with ``>>>`` in a docstring."""
    return sorted(
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
        for path in ROOT.rglob("*.py")
        if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
    )


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # what examples register is gone after them
    monkeypatch.setattr(registry._default, "added", dict(registry._default.added))
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples() -> None:
    assert "textreg.params" in modules_with_examples()


@pytest.mark.parametrize("name", textreg.__all__)
def test_every_public_name_has_an_example(name: str) -> None:
    """Of its own, not one that it inherits; functions also say what they raise."""
    part = getattr(textreg, name)
    if isinstance(part, (int, str, ModuleType)):
        return
    described = part.__doc__ or ""
    assert re.search(r"^ *Examples\n *-{8}$", described, re.MULTILINE), f"{name} has no example"
    if not isinstance(part, type):
        assert re.search(r"^ *Raises\n *-{6}$", described, re.MULTILINE), f"{name} raises nothing"


WITHOUT = """
import importlib, pkgutil, sys
for name in ("jinja2", "markupsafe", "matplotlib", "distributed", "pyarrow"):
    sys.modules[name] = None
import textreg.cli, textreg.checking, textreg.explain
for module in pkgutil.iter_modules(textreg.cli.__path__, "textreg.cli."):
    importlib.import_module(module.name)
"""


def test_commands_start_without_the_extras() -> None:
    """What only extras install is not imported by the commands themselves."""
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_version_is_that_of_the_distribution() -> None:
    assert textreg.__version__ == metadata.version("textreg")


def test_types_are_shipped() -> None:
    assert (ROOT / "py.typed").is_file()


def test_every_module_is_in_a_package() -> None:
    # A folder without an __init__.py works in a checkout and is left out of a wheel.
    folders = {path.parent for path in ROOT.rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def kernels() -> dict[str, list[str]]:
    """Names that Python may call, by compiled module; a module of shared C functions has none."""
    found = {}
    for source in sorted((ROOT / "_core").glob("*.pyx")):
        text = source.read_text(encoding="utf-8")
        names = re.findall(r"^(?:cp)?def\s+(?:[\w\[\], ]+\s+)?(\w+)\(", text, re.MULTILINE)
        if names := [name for name in names if not name.startswith("_")]:
            found[source.stem] = names
    return found


@pytest.mark.parametrize("name", kernels())
def test_every_kernel_is_compiled_and_has_its_twin(name: str) -> None:
    compiled = importlib.import_module(f"textreg._core.{name}")
    assert Path(str(compiled.__file__)).suffix in {".so", ".pyd"}
    twin = importlib.import_module(f"twins.{name}")
    for kernel in kernels()[name]:
        assert callable(getattr(compiled, kernel))
        assert callable(getattr(twin, kernel, None)), f"{kernel} has no twin in twins/{name}.py"


@needs_checkout
def test_there_are_kernels() -> None:
    assert {"descent", "logistic", "text"} <= set(kernels())


@needs_checkout
def test_kernels_leave_their_directives_to_setup() -> None:
    for source in (ROOT / "_core").glob("*.p[yx]*"):
        assert not re.search(r"#\s*cython\s*:", source.read_text(encoding="utf-8")), source


@needs_checkout
def test_kernels_have_no_negative_index() -> None:
    # With wraparound off it is undefined, for arrays too: right or an IndexError, by version.
    for source in (ROOT / "_core").glob("*.pyx"):
        assert not re.search(r"\w\[-", source.read_text(encoding="utf-8")), source


@needs_checkout
@pytest.mark.thorough  # make docs asks the same
def test_parameter_reference_is_current() -> None:
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "docs" / "reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@needs_checkout
@pytest.mark.thorough
def test_what_plugins_compile_with_is_shipped(tmp_path: Path) -> None:
    setup = [sys.executable, "setup.py", "-q"]
    for command in (["sdist", "-d", tmp_path], ["build_py", "-d", tmp_path / "wheel"]):
        subprocess.run([*setup, *command], cwd=CHECKOUT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        shipped = {name.partition("/")[2] for name in sources.getnames()}
    for name in ("kernels.pxd", "_core/text_table.pxd"):
        assert f"textreg/{name}" in shipped
        assert (tmp_path / "wheel" / "textreg" / name).is_file()


@needs_checkout
def test_changelog_has_the_version() -> None:
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changelog
    assert textreg.__version__ in changelog


@needs_checkout
def test_continuous_integration_can_be_run() -> None:
    assert (CHECKOUT / ".ci" / "run").stat().st_mode & stat.S_IXUSR


@pytest.mark.skipif(not (CHECKOUT / ".git").exists(), reason="textreg is not a checkout of git")
def test_the_source_distribution_takes_every_tracked_file() -> None:
    """In the folders of MANIFEST.in, where ``make dist`` would refuse what it leaves out."""
    lines = (CHECKOUT / "MANIFEST.in").read_text().splitlines()
    taken = {
        folder: patterns
        for command, folder, *patterns in map(str.split, lines)
        if command == "recursive-include" and folder != "textreg"  # which package-data adds to
    }
    command = ["git", "ls-files", "-z", *taken]
    listed = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    for name in listed.stdout.removesuffix("\0").split("\0"):
        folder = name.partition("/")[0]
        assert any(map(Path(name).match, taken[folder])), name
