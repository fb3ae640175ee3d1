"""What ``textreg plugins new`` writes can be installed, tested and used as it is."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import pytest
from conftest import Cli
from thoroughness import skipping_fresh

import textreg
from textreg.demo import write_demo
from textreg.errors import UsageError
from textreg_testing.scaffold import TEMPLATES, write_plugin

KINDS = {
    f"my-{template}": (kind, template)
    for kind, templates in TEMPLATES.items()
    for template in templates
}
"""The kind and the template of each new plugin, by its name."""

OWN = Path(__file__).parent / "own_plugins"
"""Modules that take the place of an example, each with another class that does something else."""


IN_EVERY_RUN = ("my-tokenizer",)
"""New plugins whose own tests are run in every run; those of the others take minutes."""


@pytest.fixture(scope="module")
def installed(request: pytest.FixtureRequest) -> list[str]:
    """The new plugins that are installed: in most runs a few, as pip takes seconds for each."""
    return [*KINDS] if request.config.getoption("--thorough") else [*IN_EVERY_RUN, "my-penalty"]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, installed: list[str]) -> tuple[Path, Path]:
    """A fresh environment for new plugins, one of each template: its Python, and their folder.

    What is installed here is visible there by a .pth file, so nothing has to be fetched.
    """
    compiler = str(sysconfig.get_config_var("CC") or "cc").split()[0]
    kernels = "my-cython" in installed and sys.platform != "win32"
    if kernels and shutil.which(compiler) is None:
        pytest.skip("there is no compiler, which the template of a kernel needs")
    folder = tmp_path_factory.mktemp("new")
    home = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    standard = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    seen = [path for path in sys.path if Path(path).is_dir() and path not in standard]
    (packages,) = home.glob("[Ll]ib/**/site-packages")
    (packages / "seen.pth").write_text("\n".join(seen) + "\n", encoding="utf-8")
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    made = {
        name: write_plugin(kind, name, folder, template).folder
        for name, (kind, template) in KINDS.items()
    }
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    install += ["--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    for name in installed:
        install += ["--editable", made[name]]
    subprocess.run(install, check=True)
    return python, folder


def run(parts: Sequence[object], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in parts],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in IN_EVERY_RUN else [pytest.mark.thorough])
        for name in KINDS
    ],
)
def test_the_tests_of_a_new_plugin_pass(name: str, fresh: tuple[Path, Path]) -> None:
    python, folder = fresh
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # those of our tests take a second to import
    told = run([python, "-m", "pytest", "-q"], folder / f"textreg-{name}", **alone)
    assert " passed in " in told
    assert "skipped" not in told


@pytest.mark.thorough
def test_they_pass_for_what_takes_the_place_of_the_example(
    fresh: tuple[Path, Path], tmp_path: Path
) -> None:
    """All that is changed is the module: another class, other parameters, another behavior."""
    python, folder = fresh
    projects = []
    for module in OWN.glob("*.py"):
        name = module.stem.replace("_", "-")
        projects.append(shutil.copytree(folder / name, tmp_path / name))
        shutil.copy(module, projects[-1])
    command = [python, "-m", "pytest", "-q", "-W", "error", "--import-mode", "importlib"]
    told = run([*command, *projects], tmp_path, PYTHONPATH=os.pathsep.join(map(str, projects)))
    assert " passed in " in told
    assert "skipped" not in told


def test_what_is_written_is_clean(fresh: tuple[Path, Path]) -> None:
    pytest.importorskip("ruff")
    _, folder = fresh
    for tool in ("ruff", "check"), ("ruff", "format", "--check"):
        run([sys.executable, "-m", *tool, folder], folder)


@pytest.mark.thorough  # mypy reads all of textreg for it
def test_what_is_written_is_typed(fresh: tuple[Path, Path]) -> None:
    pytest.importorskip("mypy")
    _, folder = fresh
    sources = [folder / f"textreg-{name}" / f"textreg_{name.replace('-', '_')}" for name in KINDS]
    checked = [path if path.is_dir() else path.with_suffix(".py") for path in sources]
    run([sys.executable, "-m", "mypy", "--strict", *checked], Path(textreg.__file__).parent.parent)


@pytest.mark.thorough  # it compiles
@pytest.mark.parametrize("name", ["my-cython", "fused"])
def test_a_kernel_is_shipped_as_it_is_written(
    name: str, fresh: tuple[Path, Path], tmp_path: Path
) -> None:
    checkout = Path(textreg.__file__).parent.parent
    source = checkout / "plugins" / "textreg-fused"
    if name != "fused":
        source = fresh[1] / f"textreg-{name}"
    elif not source.is_dir():
        pytest.skip("textreg is not installed from a checkout")
    built = shutil.ignore_patterns("*.egg-info", "build", "*.so")
    project = shutil.copytree(source, tmp_path / "project", ignore=built)
    run([sys.executable, "setup.py", "-q", "sdist"], project)
    (archive,) = (project / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        shipped = {name.partition("/")[2] for name in sources.getnames()}
    module = f"textreg_{name.replace('-', '_')}"
    files = {f"{module}/{file}" for file in ("kernel.pyx", "kernel.pyi", "twin.py")}
    assert {*files, "setup.py"} <= shipped


def test_a_new_plugin_is_listed_checked_and_trained_with(
    fresh: tuple[Path, Path], installed: list[str]
) -> None:
    python, folder = fresh
    command = [python, "-m", "textreg"]
    listed = json.loads(run([*command, "plugins", "list", "--json"], folder))
    sources = {(row["kind"], row["name"]): row["distribution"] for row in listed}
    for name in installed:
        assert sources[KINDS[name][0], name] == f"textreg-{name}"
    check = [*command, "plugins", "check", "tokenizer.my-tokenizer"]
    assert "checks passed" in run([*check, *skipping_fresh("tokenizer")], folder)
    train = write_demo(folder / "demo", train=100).train
    chosen_of = {"my-penalty": "l1 ", "my-solve": "features ", "my-cython": "l1 "}
    for name, chosen in chosen_of.items():
        if name not in installed:
            continue
        options = ["--reg", name, "--tokenizer", "words", "--cv", "2", "-o", "one.textreg"]
        told = run([*command, "train", train, *options], folder)
        assert f"chosen: {chosen}" in told
        assert "converged" in told


@pytest.mark.parametrize("kind", ["groups", "graph"])
def test_builders_of_templates_find_something_in_the_texts_of_the_check(
    kind: str, tmp_path: Path, cli: Cli
) -> None:
    """As their README says: plugins check KIND.NAME, with no texts of one's own."""
    folder = write_plugin(kind, f"new-{kind}", tmp_path).folder
    name, file = f"{kind}.new-{kind}", folder / f"textreg_new_{kind}.py"
    done = cli("--plugin", file, "plugins", "check", name, *skipping_fresh(kind))
    assert done.code == 0, done.out


def test_the_names_of_a_plugin_are_where_they_belong(tmp_path: Path, cli: Cli) -> None:
    done = cli("plugins", "new", "groups", "word-shapes", "--into", tmp_path)
    assert done.code == 0
    folder = tmp_path / "textreg-word-shapes"
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert written == {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".gitignore",
        ".github/workflows/publish.yml",
        ".github/workflows/test.yml",
        "textreg_word_shapes.py",
        "tests/test_word_shapes.py",
    }
    assert [path for path in tmp_path.iterdir() if path != folder] == []
    assert '"groups.word-shapes" = "textreg_word_shapes"' in (folder / "pyproject.toml").read_text()
    assert "--reg group --groups word-shapes" in (folder / "README.md").read_text()
    assert "python-version: ${{ matrix.python }}" in (
        folder / ".github/workflows/test.yml"
    ).read_text(encoding="utf-8")
    tree = ast.parse((folder / "textreg_word_shapes.py").read_text(encoding="utf-8"))
    assert "WordShapes" in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    assert f"next: cd {folder} && pip install -e . pytest && pytest" in done.out
    assert "then: textreg train FILE --reg group --groups word-shapes" in done.out


def test_an_empty_folder_is_taken_and_json_told(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "textreg-mine").mkdir()
    done = cli("plugins", "new", "tokenizer", "mine", "--into", tmp_path, "--json")
    told = json.loads(done.out)
    assert told["use"] == "--tokenizer mine"
    assert all(Path(path).is_file() for path in told["files"])


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("regularizer", "My-Reg", "small letters and digits"),
        ("regularizer", "my_reg", "small letters and digits"),
        ("regularizer", "2d", "a letter first"),
        ("regularizer", "", "small letters and digits"),
        ("regularizer", "../mine", "small letters and digits"),
        ("regularizer", "textreg-mine", "leave out 'textreg-'"),
        ("regularizer", "lasso", "another regularizer is called 'lasso' already, that of textreg"),
        ("regularizer", "problem", "would be the class Problem"),
        ("groups", "true", "would be the class True"),
        ("groups", "import-error", "would be the class ImportError"),
        ("groups", "none", "means no part"),
        ("groups", "x" * 41, "is too long"),
        ("groups", "größe", "small letters and digits"),
        ("groups", "a/b", "small letters and digits"),
        ("groups", "a\n", "small letters and digits"),
        ("groups", "sentences", "another group builder is called 'sentences' already"),
        ("exporter", "json", "another exporter is called 'json' already, that of textreg-export"),
        ("command", "train", "another command is called 'train' already, that of textreg"),
    ],
)
def test_names_that_will_not_do(kind: str, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        write_plugin(kind, name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_installed_module_is_not_shadowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "textreg_taken.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="a module textreg_taken is installed already"):
        write_plugin("graph", "taken", tmp_path)


def test_what_is_there_stays(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "textreg-mine" / "precious.txt"
    file.parent.mkdir()
    file.write_text("mine")
    done = cli("plugins", "new", "graph", "mine", "--into", tmp_path)
    assert done.code == 2
    assert "is there already, and not empty" in done.err
    assert [path.name for path in file.parent.iterdir()] == ["precious.txt"]
    done = cli("plugins", "new", "graph", "mine", "--into", tmp_path / "nowhere")
    assert done.code == 2
    assert "does not exist" in done.err
    done = cli("plugins", "new", "grapf", "mine", "--into", tmp_path)
    assert done.code == 2
    assert "'graph'" in done.err


def test_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *args: object, **kwargs: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UsageError, match="cannot be written: No space left on device"):
        write_plugin("graph", "mine", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_templates_are_shipped() -> None:
    folder = resources.files("textreg_testing") / "templates"
    written = {template for templates in TEMPLATES.values() for template in templates}
    assert {child.name for child in folder.iterdir()} == {"common", "values.toml", *written}


def test_templates_that_there_are_not(tmp_path: Path, cli: Cli) -> None:
    done = cli("plugins", "new", "regularizer", "mine", "--template", "sovle", "--into", tmp_path)
    assert done.code == 2
    assert "no regularizer template 'sovle'. Did you mean 'solve'? There are: penalty" in done.err
    done = cli("plugins", "new", "groups", "mine", "--template", "solve", "--into", tmp_path)
    assert done.code == 2
    assert "There are: groups. Leave out --template for the first of them." in done.err
    assert list(tmp_path.iterdir()) == []


def test_words_of_the_example_are_names_as_good_as_others(tmp_path: Path) -> None:
    write_plugin("groups", "words", tmp_path)


def test_an_installed_distribution_is_not_shadowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "textreg_taken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: textreg-taken\nVersion: 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="a distribution textreg-taken is installed already"):
        write_plugin("graph", "taken", tmp_path)
