"""The tools of `make dist` and `make release`."""

from __future__ import annotations

import datetime
import importlib
import re
import sys
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import textreg

ROOT = Path(textreg.__file__).parent.parent
TODAY = datetime.date(2030, 1, 2)
CHANGELOG = """# Changelog

## [Unreleased]

To become 0.1.0, the first release.

### Added

- All.
"""
PROJECT = """[project]
name = "textreg"
version = "0.1.0"

[project.urls]
# None.

[tool.x]
"""
URL = "https://example.org/us/textreg"
pytestmark = pytest.mark.skipif(
    not (ROOT / "tools").is_dir() or not (ROOT / "pyproject.toml").is_file(),
    reason="textreg is not installed from a checkout",
)


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "README.md").write_text("[a](docs/a.md) [b](https://b.org/) [c](#c) ![d](d.svg)")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 0.1.0\nurl: x\n")
    return tmp_path


def test_release_writes_version_and_date(tool: Any, project: Path) -> None:
    release = tool("release")
    release.write(release.new_texts(project, "0.2.0rc1", TODAY, URL))
    urls = release.URLS.format(url=URL, version="0.2.0rc1")
    changed = PROJECT.replace("0.1.0", "0.2.0rc1").replace("[project.urls]\n# None.\n\n", urls)
    assert (project / "pyproject.toml").read_text() == changed
    citation = (
        "cff-version: 1.2.0\nversion: 0.2.0rc1\ndate-released: 2030-01-02\n"
        f'repository-code: "{URL}"\nurl: x\n'
    )
    assert (project / "CITATION.cff").read_text() == citation
    readme = (
        f"[a]({URL}/blob/v0.2.0rc1/docs/a.md) [b](https://b.org/) [c](#c) "
        f"![d]({URL}/raw/v0.2.0rc1/d.svg)"
    )
    assert (project / "README.md").read_text() == readme
    assert (project / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.0rc1] - 2030-01-02\n\n### Added\n\n- All.\n"
    )
    with pytest.raises(Exception, match=r"nothing under '## \[Unreleased\]'"):
        release.new_texts(project, "0.2.0", TODAY, "")
    changelog = project / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace("sed]\n", "sed]\n\n- More.\n", 1))
    with pytest.raises(Exception, match=r"has 0\.2\.0rc1 already"):
        release.new_texts(project, "0.2.0rc1", TODAY, "")
    release.write(release.new_texts(project, "0.2.0", TODAY, ""))  # the address stays
    assert (project / "CITATION.cff").read_text() == citation.replace("rc1", "")
    assert (project / "README.md").read_text() == readme.replace("rc1", "")
    assert (project / "pyproject.toml").read_text() == changed.replace("rc1", "")


@pytest.mark.parametrize("version", ["1", "v0.1.0", "0.1.0-beta", "0.1.0\n"])
def test_release_refuses_what_is_no_version(tool: Any, project: Path, version: str) -> None:
    with pytest.raises(Exception, match="is no version: write it as"):
        tool("release").new_texts(project, version, TODAY, URL)


@pytest.mark.parametrize("url", ["", "example.org/textreg", "https://example.org", 'https://a/b"'])
def test_release_refuses_what_is_no_address(tool: Any, project: Path, url: str) -> None:
    with pytest.raises(Exception, match="is no address of the repository: name it with URL="):
        tool("release").new_texts(project, "0.2.0", TODAY, url)


def test_project_can_be_released(tool: Any) -> None:
    plugins = set(ROOT.glob("plugins/*/pyproject.toml"))
    texts = tool("release").new_texts(ROOT, "99.0.0", TODAY, URL)
    names = ("pyproject.toml", "CHANGELOG.md", "CITATION.cff", "README.md")
    others = {ROOT / name for name in names}
    assert set(texts) == plugins | others
    for path in plugins:  # one version for all, pinned to each other
        assert '"textreg==99.0.0"' in texts[path]
        assert '\nversion = "99.0.0"\n' in texts[path]
        assert f'\nRepository = "{URL}"\n' in texts[path]
        assert f'"{path.parent.name}==99.0.0"' in texts[ROOT / "pyproject.toml"]


def made(folder: Path) -> None:
    """An environment whose Python fails, as pip does where there is no such distribution."""
    (folder / "bin").mkdir()
    (folder / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    (folder / "bin" / "python").chmod(0o755)


def test_entries_of_others_are_listed_before_they_are_checked(
    tool: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_entry, listed = tool("check_entry"), list[dict[str, Any]]()
    monkeypatch.setitem(sys.modules, "distributions", SimpleNamespace(entries=lambda: listed))
    assert check_entry.main("textreg-nothing") == 2
    assert "no 'textreg-nothing', but none: add a table for it first." in capsys.readouterr().out
    listed.append({"distribution": "textreg-nothing", "parts": ["regularizer.nothing"]})
    monkeypatch.setattr(check_entry.venv, "create", lambda folder, with_pip: made(Path(folder)))
    assert check_entry.main("textreg-nothing", "wheels/textreg.whl") == 1
    assert "textreg-nothing could not be installed" in capsys.readouterr().out


def test_contents_of_wheels(tool: Any, tmp_path: Path) -> None:
    path = tmp_path / "textreg-0.1.0-py3-none-any.whl"
    sources = [source for source in (ROOT / "textreg").rglob("*") if source.is_file()]
    names = {source.relative_to(ROOT).as_posix() for source in sources}
    good = {name for name in names if name.endswith((".py", ".pyi", ".pxd", ".typed", ".toml"))}
    good |= {name for name in names if "/report/templates/" in name}
    good |= {name.replace(".pyx", ".abi.so") for name in names if name.endswith(".pyx")}
    good |= {"textreg/_core/memoryviews.abi.so"}
    good = {name for name in good if "__pycache__" not in name}

    def faults(names: set[str]) -> list[str]:
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"")
        return [fault.partition(" ")[2] for fault in tool("contents").wheel_faults(path)]

    assert faults({*good, "textreg-0.1.0.dist-info/METADATA"}) == []
    bad = {*good, "tests/test_a.py", "textreg/_core/text.pyx"} - {"textreg/demo.py"}
    assert faults(bad - {"textreg/_core/descent.abi.so"}) == [
        "lacks textreg/_core/descent",
        "lacks textreg/demo.py",
        "holds tests/test_a.py",
        "holds textreg/_core/text.pyx",
    ]


@pytest.fixture
def workflow() -> dict[str, Any]:
    """The jobs of the workflow that releases."""
    yaml = pytest.importorskip("yaml")
    file = ROOT / ".github" / "workflows" / "release.yml"
    if not file.is_file():
        pytest.skip("a source distribution has no workflows")
    jobs: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
    return jobs


def test_classifiers_are_what_the_workflow_runs(workflow: dict[str, Any]) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    matrix = workflow["test"]["strategy"]["matrix"]
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)
    assert named == matrix["python"]
    systems = {"POSIX :: Linux": "ubuntu", "MacOS": "macos", "Microsoft :: Windows": "windows"}
    named = re.findall(r'"Operating System :: (.*)"', text)
    assert [f"{systems[name]}-latest" for name in named] == matrix["os"]
    assert set(matrix["os"]) < set(workflow["compiled"]["strategy"]["matrix"]["os"])


def test_the_workflow_runs_the_tests_of_make_dist(tool: Any, workflow: dict[str, Any]) -> None:
    (run,) = (step["run"] for step in workflow["test"]["steps"] if "run" in step)
    assert f"for name in {' '.join(tool('distribute').TESTS)}; do" in run
    assert workflow["publish"]["needs"] == "test"
    assert workflow["publish"]["permissions"] == {"id-token": "write"}


def test_the_recipe_needs_what_the_project_needs() -> None:
    yaml, jinja2 = pytest.importorskip("yaml"), pytest.importorskip("jinja2")
    tomllib = pytest.importorskip("tomllib")
    file = ROOT / "conda" / "meta.yaml"
    if not file.is_file():
        pytest.skip("a source distribution has no recipe")

    def load_file_data(path: str, *, from_recipe_dir: bool) -> Any:
        return tomllib.loads((file.parent / path).read_text(encoding="utf-8"))

    shown = jinja2.Template(file.read_text(encoding="utf-8")).render(
        load_file_data=load_file_data, compiler=lambda of: of, PYTHON="python"
    )
    project = load_file_data("../pyproject.toml", from_recipe_dir=True)["project"]
    recipe = yaml.safe_load(shown)
    assert recipe["package"]["version"] == project["version"]
    needed = [need.partition(";") for need in project["dependencies"]]
    assert recipe["requirements"]["run"] == ["python", *(need for need, _, _ in needed)]
    marked = {marker.strip() for _, _, marker in needed if marker}
    assert marked == {"python_version < '3.11'"}
    assert shown.count("# [py<311]") == 1


def test_missing_interpreters_are_left_out(tool: Any, capsys: pytest.CaptureFixture[str]) -> None:
    distribute = tool("distribute")
    with pytest.raises(distribute.DistError, match=r"none of python9\.9 runs: name one"):
        distribute.interpreters(["python9.9"])
    assert capsys.readouterr().out == "-- python9.9 is not here: left out\n"


def test_contents_of_plugins(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("packaging")
    wheels = tool("plugin_wheels")
    folder = tmp_path / "plugins" / "textreg-a"
    names = ["pyproject.toml", "tests/test_a.py", "textreg_a/__init__.py", "textreg_a/b.pyx"]
    tracked = "\0".join(f"plugins/textreg-a/{name}" for name in names) + "\0"
    monkeypatch.setattr(wheels, "run", lambda *words, **options: tracked)

    def faults(sources: list[str], built: list[str]) -> list[str]:
        sdist, wheel = tmp_path / "a.tar.gz", tmp_path / "a.whl"
        (tmp_path / "empty").touch()
        with tarfile.open(sdist, "w:gz") as archive:
            for name in sources:
                archive.add(tmp_path / "empty", f"textreg_a-0.1.0/{name}")
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in built:
                archive.writestr(name, b"")
        plugin = wheels.Plugin(folder, sdist, {"3.12": wheel, "3.13": wheel})
        assert plugin.files == [sdist, wheel]
        return plugin.faults()

    good = ["textreg_a/__init__.py", "textreg_a/b.so", "textreg_a-0.1.0.dist-info/METADATA"]
    assert faults(names, good) == []
    assert faults(names[2:], ["tests/test_a.py", "textreg_a/b.pyx"]) == [
        "a.tar.gz lacks pyproject.toml",
        "a.tar.gz lacks tests/test_a.py",
        "a.whl lacks textreg_a/__init__.py",
        "a.whl holds tests/test_a.py",
        "a.whl lacks a compiled module",
    ]
