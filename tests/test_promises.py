"""What docs/promises.md promises to plugins: names, calls and hooks."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from distributions import Distribution, unpack
from sites import Site
from test_layers import ROOT

import textreg
from textreg import hookspecs, kinds
from textreg.errors import BrokenPluginError, PluginWarning
from textreg.hookspecs import HOOK_OF_KIND, hookimpl, hookspec
from textreg.kinds import KINDS, GroupBuilder, Penalized, Tokenizer
from textreg.plugins.registry import Registry
from textreg.records import Groups, Tokens

PAGE = ROOT.parent / "docs" / "promises.md"
SHARED = Path(__file__).with_name("shared_names.txt")
"""Modules and names that distributions of the same version use besides."""
DISTRIBUTIONS = ROOT.parent / "plugins"

SIGNATURES = {
    "Tokenizer.__call__": "(self, text)",
    "Tokenizer.encode": "(self, texts, *, spans=False)",
    "GroupBuilder.build": "(self, tokens)",
    "GraphBuilder.build": "(self, tokens)",
    "GraphBuilder.build_from": "(self, tokens, groups)",
    "Regularizer.solve": "(self, problem)",
    "Regularizer.solve_softmax": "(self, problem, codes, start=None)",
    "Regularizer.objective_softmax": "(self, problem, codes, w, b)",
    "Regularizer.scale": "(self, problem, parameter)",
    "Regularizer.candidates": "(self, problem)",
    "Regularizer.path": "(self, problem, candidates=None)",
    "Penalized.penalty": "(self, problem)",
    "Exporter.export": "(self, model)",
    "Backend.open": "(self, address, parts, memory, store)",
    "Workers.submit": "(self, function, *arguments, outputs=1)",
    "Workers.map": "(self, function, handles, *arguments)",
    "Workers.send": "(self, value)",
    "Workers.read": "(self, paths, **options)",
    "Workers.score_files": "(self, model, reading, files, *, records)",
    "Workers.scores": "(self, model, texts)",
    "Loss.value": "(self, z, y, c)",
    "Loss.derivatives": "(self, z, y, c, r, h)",
    "Loss.curvature_bound": "(self, c)",
    "Loss.dual_value": "(self, alpha, y, c)",
    "Loss.balance": "(self, alpha, c)",
    "Loss.constant": "(self, y, c)",
    "Loss.unsmoothed_value": "(self, z, y, c)",
}
"""How textreg calls the methods of a plugin. Another way needs another version of the interface."""


class Words(Tokenizer):
    name = "spaces"

    def __call__(self, text: str) -> list[list[str]]:
        return [text.split()]


class Pairs(GroupBuilder):
    name = "pairs"

    def build(self, tokens: Tokens) -> Groups:
        raise NotImplementedError


@hookimpl(specname="textreg_tokenizers")
def words() -> list[type[Any]]:
    return [Words]


@hookimpl(specname="textreg_group_builders")
def pairs(api: int) -> list[type[Any]]:
    assert api == 1
    return [Pairs]


PLUGIN = SimpleNamespace(__name__="acme", textreg_tokenizers=words, textreg_group_builders=pairs)
PARTS = {("tokenizer", "spaces"): 1, ("groups", "pairs"): 1}


def found(plugin: Any) -> dict[tuple[str, str], int]:
    """Kind, name and interface of what a plugin brings, which must not cause any warning."""
    registry = Registry()
    registry.register(plugin)
    return {(row.kind, row.name): row.api or 0 for row in registry.listing() if row.status == "ok"}


def plain(function: Callable[..., Any]) -> str:
    """A signature without types."""
    parameters = inspect.signature(function).parameters.values()
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in parameters]
    return str(inspect.Signature(bare))


@pytest.mark.parametrize("method", SIGNATURES)
def test_methods_are_called_as_they_were(method: str) -> None:
    cls, _, name = method.partition(".")
    assert plain(getattr(getattr(kinds, cls), name)) == SIGNATURES[method]


def test_only_these_methods_must_be_written() -> None:
    """A new method of a kind needs a default, which an abstract one has not."""
    assert {kind: set(KINDS[kind].__abstractmethods__) for kind in KINDS} == {
        "tokenizer": {"__call__"},
        "groups": {"build"},
        "graph": {"build"},
        "regularizer": {"solve"},
        "loss": {"value", "derivatives", "curvature_bound", "dual_value"},
        "exporter": {"export"},
        "backend": {"open"},
        "vectors": {"rows"},
    }
    assert Penalized.__abstractmethods__ == {"penalty"}


def more_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all hooks one more argument, as a later textreg may."""

    def specification(api: int, language: str) -> list[type[Any]]:
        raise NotImplementedError

    for name in HOOK_OF_KIND.values():
        monkeypatch.setattr(hookspecs, name, hookspec(specification))
    monkeypatch.setattr(hookspecs, "ARGUMENTS", {**hookspecs.ARGUMENTS, "language": "en"})


def test_a_further_argument_breaks_no_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    more_arguments(monkeypatch)
    assert found(PLUGIN) == PARTS


@hookimpl(specname="textreg_tokenizers")
def taking_language(api: int, language: str) -> list[type[Any]]:
    assert (api, language) == (1, "en")
    return [Words]


NEW = SimpleNamespace(textreg_tokenizers=taking_language)


def test_a_further_argument_reaches_those_who_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    more_arguments(monkeypatch)
    assert found(NEW) == {("tokenizer", "spaces"): 1}


def test_a_new_plugin_says_what_it_needs() -> None:
    with pytest.raises(BrokenPluginError, match=r"'language'.*run: pip install -U textreg"):
        found(NEW)


def test_a_plugin_may_have_hooks_that_this_textreg_does_not_know() -> None:
    optional = hookimpl(optionalhook=True)(lambda: [Words])
    plugin = SimpleNamespace(**vars(PLUGIN), textreg_weighters=optional)
    assert found(plugin) == PARTS


def test_a_deprecated_hook_warns_with_the_name_of_the_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = PluginWarning("textreg_group_builders goes in textreg 3.0: write textreg_groups")

    def specification(api: int) -> list[type[Any]]:
        raise NotImplementedError

    spec = hookspec(warn_on_impl=gone)(specification)
    monkeypatch.setattr(hookspecs, "textreg_group_builders", spec)
    with pytest.warns(PluginWarning) as caught:
        assert found(PLUGIN) == PARTS
    assert [str(one.message) for one in caught] == [f"acme: {gone}"]
    monkeypatch.undo()
    monkeypatch.setattr(hookspecs, "textreg_group_builders", spec)
    assert found(Words) == {("tokenizer", "spaces"): 1}  # which does not have it


def test_a_deprecated_argument_warns_who_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = PluginWarning("api goes in textreg 3.0: leave it out")

    def specification(api: int) -> list[type[Any]]:
        raise NotImplementedError

    spec = hookspec(warn_on_impl_args={"api": gone})(specification)
    for name in HOOK_OF_KIND.values():
        monkeypatch.setattr(hookspecs, name, spec)
    with pytest.warns(PluginWarning) as caught:
        assert found(PLUGIN) == PARTS
    assert [str(one.message) for one in caught] == [f"acme: {gone}"]  # one hook takes it


@pytest.mark.parametrize(
    ("api", "says"),
    [
        (1, r"made for version 1 of .*, and this textreg has version 3\. Update the plugin\.$"),
        (4, r"made for version 4 of .*, and this textreg has version 3\. Update textreg: pip inst"),
        ("2", r"made for version 2 of .*\. Update the plugin\.$"),
        (None, r"made for version None of .*\. Update the plugin\.$"),
    ],
)
def test_other_interfaces_are_refused(monkeypatch: pytest.MonkeyPatch, api: Any, says: str) -> None:
    monkeypatch.setattr(kinds, "API", 3)
    with pytest.raises(BrokenPluginError, match=rf"Words: Words is {says}"):
        found(type("Words", (Words,), {"api": api}))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("early"))
    early = Distribution(
        "acme-early", "from textreg.kinds import Weighter\n", {"tokenizer.early": "acme_early"}
    )
    module = Distribution(
        "acme-module", "import textreg.weighting\n", {"tokenizer.module": "acme_module"}
    )
    unpack([early, module], made.folder, made.target)
    return made


def test_made_for_another_textreg(site: Site) -> None:
    early, module, newer = site.session(
        [
            site.train("--reg lasso --tokenizer early"),
            site.train("--reg lasso --tokenizer module"),
            ["plugins", "doctor", "early", "--json"],
        ]
    )
    assert early[::2] == (
        1,
        "Error: acme-early 0.3 cannot be loaded: it is made for another version of textreg, cannot "
        "import name 'Weighter' from 'textreg.kinds'. Run: pip install -U textreg acme-early\n",
    )
    assert "made for another version of textreg, No module named 'textreg.weighting'" in module[2]
    assert '"remedy": "pip install -U textreg acme-early"' in newer[1]


def promised() -> dict[str, set[str]]:
    """Names by module, as the page promises them to everybody."""
    rows = re.findall(r"^\| `(textreg[\w.]*)` \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return {
        module: public(import_module(module))
        if names.startswith("all")
        else set(re.findall(r"`(\w+)`", names))
        for module, names in rows
    }


def public(module: ModuleType) -> set[str]:
    """The names that a module offers: those of ``__all__``, or those that it defines itself."""
    if hasattr(module, "__all__"):
        return set(module.__all__)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


checkout = pytest.mark.skipif(not PAGE.is_file(), reason="textreg is not installed from a checkout")


@checkout
def test_what_the_page_promises_is_there() -> None:
    table = promised()
    assert set(table["textreg"]) == set(textreg.__all__)
    for module, names in table.items():
        assert names, module
        for name in names:
            assert hasattr(import_module(module), name), f"{module}.{name}"


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """What a file imports of textreg: module and name."""
    text = path.read_text("utf-8")
    if path.suffix == ".pyx":  # one line an import
        for module, names in re.findall(r"^from (textreg[\w.]*) c?import (.*)", text, re.MULTILINE):
            yield from ((module, name.strip()) for name in names.split(","))
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "textreg":
            yield from ((str(node.module), alias.name) for alias in node.names)


EXAMPLES = {"textreg-embeddings", "textreg-fused", "textreg-gow", "textreg-topics"}
"""Plugins as a stranger would write them: they use what everybody may."""
FILES = sorted(
    path
    for pattern in ("*.py", "*.pyx")
    for path in DISTRIBUTIONS.rglob(pattern)
    if "build" not in path.parts
)


@checkout
@pytest.mark.parametrize(
    "path",
    [path for path in FILES if EXAMPLES & set(path.parts)],
    ids=lambda path: str(path.relative_to(DISTRIBUTIONS)),
)
def test_our_plugins_import_only_what_is_promised(path: Path) -> None:
    table = promised()
    for module, name in imported(path):
        if module == "textreg.kernels":
            continue  # which is promised as it is
        assert name in table.get(module, ()), f"{path} imports {module}.{name}"


@checkout
def test_new_plugins_import_only_what_is_promised() -> None:
    """Those that ``textreg plugins new`` writes, and their tests."""
    table, seen = promised(), 0
    for path in (DISTRIBUTIONS / "textreg-testing" / "textreg_testing").rglob("*.py.tmpl"):
        pattern = r"^from (textreg[\w.]*) import (.*)$"
        for module, names in re.findall(pattern, path.read_text("utf-8"), re.MULTILINE):
            wanted = {name for name in names.split(", ") if not name.startswith("$")}
            assert wanted <= table.get(module, set()), f"{path} imports {module}: {names}"
            seen += 1
    assert seen > 40


@checkout
def test_our_satellites_use_these_names_besides_and_all_of_them() -> None:
    table, used = promised(), {}
    for path in FILES:
        if EXAMPLES & set(path.parts) or "tests" in path.relative_to(DISTRIBUTIONS).parts:
            continue
        for module, name in imported(path):
            if name not in table.get(module, ()):
                used.setdefault(module, set()).add(name)
    shared = [line.split() for line in SHARED.read_text("utf-8").splitlines()]
    assert {module: set(names) for module, *names in shared} == used


@checkout
def test_the_promise_is_small_and_only_shrinks() -> None:
    """What no page of the documentation needs is not promised."""
    names = {name for some in promised().values() for name in some}  # records are in textreg, too
    assert len(names) <= 90  # a promise is easier made than kept
