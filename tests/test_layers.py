"""Modules import downwards only, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import textreg

ROOT = Path(textreg.__file__).parent

# A package, or a file beside them, may import from the rows above its own, and from itself.
ROWS = [
    ["_core", "errors", "logs", "signals"],
    ["interrupts", "jobs", "limits", "params", "terminal"],
    ["files", "isolation"],
    ["losses"],
    ["records"],
    ["penalties", "text"],
    ["known", "solvers"],
    ["kinds"],
    ["hookspecs", "structure"],
    ["builtin", "plugins", "reading"],
    ["features", "measure"],
    ["blocks", "tasks"],
    ["cluster", "model"],
    ["training"],
    ["estimators", "explain"],
    ["demo"],
    ["checking"],
    ["cli"],
    ["__main__"],
]
ROW_OF = {unit: number for number, row in enumerate(ROWS) for unit in row}
UPWARD = {("model.model", "explain")}  # Model.explain, of one text, is explain.explain
ALLOWED = UPWARD | {  # the same inside of a package: Model.save, and how a record shows itself
    ("model.model", "model.storage"),
    ("features.encoder", "features.vectorize"),
    ("features.joined", "features.vectorize"),
    ("explain.records", "explain.show"),
}
OUTSIDERS_MAY = {
    "errors",
    "files",
    "params",
    "records",
    "losses",
    "penalties",
    "text",
    "known",
    "solvers",
    "kinds",
    "hookspecs",
    "structure",
    "builtin",  # a distribution's own modules
}
MODULES = sorted(ROOT.rglob("*.py"))


def module_of(path: Path) -> str:
    """The name of the module in a file, without ``textreg.``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit_of(module: str) -> str:
    """The package or the file beside them that a module is or belongs to."""
    return module.partition(".")[0]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """What a file imports of textreg anywhere in it, without ``textreg.``, and the lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write imports in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "textreg":
                yield rest, node.lineno


def test_every_module_has_its_place() -> None:
    units = {unit_of(module_of(path)) for path in MODULES} - {""}
    assert units == set(ROW_OF)
    assert len(ROWS) <= 20


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    module = module_of(path)
    if not module:  # the package itself offers all of them, lazily
        return
    unit = unit_of(module)
    for imported, line in imports(path):
        needed = unit_of(imported)
        down = ROW_OF.get(needed, len(ROWS)) < ROW_OF[unit]
        assert down or needed == unit or (module, needed) in UPWARD, (
            f"{path}:{line}: {unit} must not import textreg.{needed}"
        )


def test_no_module_needs_itself() -> None:
    """Inside of a package as well, and not by an import that is put off either."""
    modules = {module_of(path): path for path in MODULES}
    del modules[""]  # the package itself, as above
    graph = {
        module: {
            needed
            for name, _ in imports(path)
            for needed in (name if name in modules else name.rpartition(".")[0],)
            if needed in modules and not {(module, needed), (module, unit_of(needed))} & ALLOWED
        }
        for module, path in modules.items()
    }
    assert set(TopologicalSorter(graph).static_order()) == set(modules)  # or a CycleError


def test_built_ins_import_only_what_outsiders_may() -> None:
    for path in (ROOT / "builtin").glob("*.py"):
        for imported, line in imports(path):
            unit = unit_of(imported)
            assert unit in OUTSIDERS_MAY, f"{path}:{line}: textreg.{imported} is private"


def test_parts_are_called_through_one_door() -> None:
    # calls.py checks what they give; kinds, joining, solvers and built-ins are what is called.
    exempt = ("plugins.calls", "structure.joining", "kinds", "penalties", "solvers", "builtin")
    exempt = (*exempt, "_core")
    methods = {"solve", "solve_softmax", "candidates", "scale", "build", "build_from"}
    for path in MODULES:
        if module_of(path).startswith(exempt):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            by_door = isinstance(node.func.value, ast.Name) and node.func.value.id == "calls"
            assert by_door or node.func.attr not in methods, (
                f"{path}:{node.lineno}: call it as calls.{node.func.attr}"
            )


@pytest.mark.parametrize(
    "code",
    [
        "import textreg",
        "import textreg.cli",
        "import textreg.plugins.registry; textreg.plugins.registry.listing()",
    ],
)
def test_nothing_heavy_is_imported_early(code: str) -> None:
    heavy = {"numpy", "scipy", "sklearn", "joblib", "safetensors"}
    code += f"; import sys; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@pytest.mark.parametrize("module", ["textreg.cli.train", "textreg_report.comparison_commands"])
def test_a_command_imports_nothing_heavy_before_it_works(module: str) -> None:
    heavy = {"jinja2", "matplotlib", "scipy", "sklearn"}
    code = f"import sys, {module}; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
