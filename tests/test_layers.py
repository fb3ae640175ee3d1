"""Modules import downwards only, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import textreg

ROOT = Path(textreg.__file__).parent

# A module may import from the rows above its own, and from itself.
ROWS = [
    ["errors", "screen"],
    ["params"],
    ["records"],
    ["_core"],
    ["files", "text"],
    ["losses"],
    ["penalties"],
    ["solvers"],
    ["kinds"],
    ["grouping", "groupfile", "linking", "hookspecs"],
    ["builtin", "config", "entries", "guard", "joining"],
    ["blocking", "loading"],
    ["inventory", "onefile"],
    ["registry"],
    ["calls", "parts"],
    ["lines", "times"],
    ["columns"],
    ["formats"],
    ["ngrams"],
    ["corpus", "encoder"],
    ["vectorize"],
    ["metrics", "significance", "spaces", "splits", "trials"],
    ["cluster", "journal"],
    ["running"],
    ["calibration", "paths", "selection"],
    ["choice"],
    ["tuning"],
    ["evaluation", "reliability", "settings"],
    ["prepare"],
    ["bench", "splitting"],
    ["narrowing"],
    ["sampling"],
    ["searching"],
    ["container", "model"],
    ["packing", "plots", "tokenizing"],
    ["pathfile", "summaryform"],
    ["comparison", "storage"],
    ["fitting", "summary", "tracing"],
    ["training"],
    ["comparing"],
    ["estimator"],
    ["classifier", "regressor", "demo_grammar", "explain"],
    ["report"],
    ["demo", "scaffold", "testing"],
    ["doctor"],
    ["cli"],
    ["__main__"],
]
ROW_OF = {unit: number for number, row in enumerate(ROWS) for unit in row}
UPWARD = {
    ("model", "storage"),  # Model.save is storage.save_model under another name
    ("model", "explain"),  # likewise Model.explain, of one text
    ("paths", "plots"),  # and SolutionPath.plot
    ("encoder", "vectorize"),  # a name in annotations, not imported when run
}
OUTSIDERS_MAY = {
    "errors",
    "params",
    "records",
    "files",
    "text",
    "losses",
    "penalties",
    "solvers",
    "kinds",
    "grouping",
    "groupfile",
    "linking",
    "hookspecs",
    "builtin",  # a distribution's own modules
}
MODULES = sorted(ROOT.rglob("*.py"))


def unit_of(path: Path) -> str:
    """The module or package right under textreg that a file belongs to; empty for its own."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Names under textreg that a file imports anywhere in it, and the lines."""
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
                yield rest.partition(".")[0], node.lineno


def test_every_module_has_its_place() -> None:
    units = {unit_of(path) for path in MODULES} - {""}
    assert units - set(ROW_OF) == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    unit = unit_of(path)
    if not unit:  # the package itself offers all of them, lazily
        return
    for imported, line in imports(path):
        down = ROW_OF.get(imported, len(ROWS)) < ROW_OF[unit]
        assert down or imported == unit or (unit, imported) in UPWARD, (
            f"{path}:{line}: {unit} must not import textreg.{imported}"
        )


def test_built_ins_import_only_what_outsiders_may() -> None:
    for path in (ROOT / "builtin").glob("*.py"):
        for imported, line in imports(path):
            assert imported in OUTSIDERS_MAY, f"{path}:{line}: textreg.{imported} is private"


def test_parts_are_called_through_one_door() -> None:
    # calls.py checks what they give; kinds, joining, solvers and built-ins are what is called.
    exempt = {"calls", "kinds", "joining", "penalties", "solvers", "builtin", "testing", "_core"}
    methods = {"solve", "solve_softmax", "candidates", "scale", "build", "build_from"}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            by_door = isinstance(node.func.value, ast.Name) and node.func.value.id == "calls"
            assert by_door or node.func.attr not in methods or unit_of(path) in exempt, (
                f"{path}:{node.lineno}: call it as calls.{node.func.attr}"
            )


@pytest.mark.parametrize(
    "code",
    [
        "import textreg",
        "import textreg.cli",
        "import textreg.registry; textreg.registry.listing()",
    ],
)
def test_nothing_heavy_is_imported_early(code: str) -> None:
    heavy = {"numpy", "scipy", "sklearn", "joblib", "safetensors"}
    code += f"; import sys; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
