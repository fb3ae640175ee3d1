"""Modules import downwards only, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
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
    ["files", "target", "text"],
    ["losses"],
    ["penalties"],
    ["solvers"],
    ["kinds"],
    ["grouping", "groupfile", "linking", "hookspecs"],
    ["builtin", "plugins.config", "plugins.entries", "plugins.guard", "plugins.joining"],
    ["plugins.blocking", "plugins.loading"],
    ["plugins.inventory", "plugins.onefile"],
    ["registry"],
    ["plugins.calls", "plugins.parts"],
    ["reading.lines", "reading.times"],
    ["reading.columns"],
    ["reading.formats"],
    ["features.ngrams"],
    ["reading.corpus", "features.encoder"],
    ["features.vectorize"],
    ["measure.metrics", "measure.names", "measure.significance"],
    ["search.spaces", "search.splits", "search.trials"],
    ["search.cluster", "search.journal"],
    ["running"],
    ["measure.calibration", "measure.thresholds", "paths", "search.selection"],
    ["search.choice"],
    ["search.tuning"],
    ["measure.evaluation", "measure.reliability", "settings"],
    ["prepare"],
    ["search.bench", "search.splitting"],
    ["search.narrowing"],
    ["search.sampling"],
    ["search.searching"],
    ["modelfile.container", "model"],
    ["modelfile.packing", "measure.plots", "modelfile.tokenizing"],
    ["modelfile.pathfile", "modelfile.summaryform"],
    ["measure.comparison", "modelfile.storage"],
    ["fitting"],
    ["summary", "tracing"],
    ["measure.candidates", "measure.tasks", "training"],
    ["measure.comparing"],
    ["estimator"],
    ["classifier", "regressor", "demo_grammar", "explain"],
    ["report"],
    ["demo", "plugins.scaffold", "testing"],
    ["plugins.doctor"],
    ["cli"],
    ["__main__"],
]
ROW_OF = {unit: number for number, row in enumerate(ROWS) for unit in row}
PACKAGES = {unit.partition(".")[0] for unit in ROW_OF if "." in unit}
UPWARD = {
    ("model", "modelfile.storage"),  # Model.save is storage.save_model under another name
    ("model", "explain"),  # likewise Model.explain, of one text
    ("paths", "measure.plots"),  # and SolutionPath.plot
    ("features.encoder", "features.vectorize"),  # a name in annotations, not imported when run
}
WITHIN = {  # the same inside of a package: how a record shows itself, or a page what it needs
    ("explain.records", "explain.show"),
    ("report.page", "report.pictures"),
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
    """The row's name for what a file belongs to; empty for textreg itself and for PACKAGES."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return (
        "" if parts[-1] == "__init__" and parts[0] in {*PACKAGES, "__init__"} else row_name(parts)
    )


def row_name(parts: Sequence[str]) -> str:
    """The row's name for a module, by the parts of its name under textreg."""
    return ".".join(parts[: 2 if parts[0] in PACKAGES else 1])


def names_imported(path: Path) -> Iterator[tuple[str, int]]:
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


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """The rows' names for what a file imports, and the lines."""
    for name, line in names_imported(path):
        yield row_name(name.split(".")), line


def module_of(path: Path) -> str:
    """The name of the module in a file, without ``textreg.``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_module_has_its_place() -> None:
    units = {unit_of(path) for path in MODULES} - {""}
    assert units - set(ROW_OF) == set()
    for package in PACKAGES:
        tree = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
        assert len(tree.body) == 1, f"{package} itself holds nothing, so that importing it is free"


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


def test_no_module_needs_itself() -> None:
    """Inside of a package as well, and not by an import that is put off either."""
    modules = {module_of(path): path for path in MODULES}
    del modules[""]  # the package itself, as above
    graph = {
        module: {
            needed
            for name, _ in names_imported(path)
            for needed in (name if name in modules else name.rpartition(".")[0],)
            if needed in modules and (module, needed) not in UPWARD | WITHIN
        }
        for module, path in modules.items()
    }
    assert set(TopologicalSorter(graph).static_order()) == set(modules)  # or a CycleError


def test_built_ins_import_only_what_outsiders_may() -> None:
    for path in (ROOT / "builtin").glob("*.py"):
        for imported, line in imports(path):
            assert imported in OUTSIDERS_MAY, f"{path}:{line}: textreg.{imported} is private"


def test_parts_are_called_through_one_door() -> None:
    # calls.py checks what they give; kinds, joining, solvers and built-ins are what is called.
    exempt = {
        "plugins.calls",
        "kinds",
        "plugins.joining",
        "penalties",
        "solvers",
        "builtin",
        "testing",
        "_core",
    }
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


@pytest.mark.parametrize("command", ["train", "compare"])
def test_a_report_costs_only_those_who_ask_for_one(command: str) -> None:
    heavy = {"textreg.report", "jinja2", "matplotlib", "optuna", "scipy", "sklearn"}
    code = f"import sys, textreg.cli.{command}; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
