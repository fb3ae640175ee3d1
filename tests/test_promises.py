"""What docs/promises.md promises to plugins: an old one goes on working, and warnings name it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import old_plugin
import pytest
from distributions import Distribution, unpack
from sites import Site
from test_layers import OUTSIDERS_MAY, ROOT

from textreg import hookspecs, kinds
from textreg.errors import BrokenPluginError, PluginWarning
from textreg.hookspecs import HOOK_OF_KIND, hookimpl, hookspec
from textreg.kinds import KINDS, Penalized, Tokenizer
from textreg.plugins.entries import KIND_NAMES
from textreg.plugins.registry import Registry

PAGE = ROOT.parent / "docs" / "promises.md"

SIGNATURES = {
    "Tokenizer.__call__": "(self, text)",
    "Tokenizer.encode": "(self, texts, *, spans=False)",
    "GroupBuilder.build": "(self, tokens)",
    "GraphBuilder.build": "(self, tokens)",
    "GraphBuilder.build_from": "(self, tokens, groups)",
    "Regularizer.solve": "(self, problem)",
    "Regularizer.solve_softmax": "(self, problem, codes, start=None)",
    "Regularizer.scale": "(self, problem, parameter)",
    "Regularizer.candidates": "(self, problem)",
    "Regularizer.path": "(self, problem, candidates=None)",
    "Penalized.penalty": "(self, problem)",
}
"""How textreg calls what a plugin of the first interface may write. Another way needs another."""


class NewWords(Tokenizer):
    name = "new-words"

    def __call__(self, text: str) -> list[list[str]]:
        return [text.split()]


def found(plugin: Any) -> dict[tuple[str, str], int]:
    """Kind, name and interface of what a plugin brings, which must not cause any warning."""
    registry = Registry()
    registry.register(plugin)
    return {(row.kind, row.name): row.api or 0 for row in registry.listing() if row.api}


OLD = {
    ("tokenizer", "old-words"): 1,
    ("groups", "old-pairs"): 1,
    ("graph", "old-chain"): 1,
    ("regularizer", "old-reg"): 1,
    ("regularizer", "old-price"): 1,
}


def plain(function: Callable[..., Any]) -> str:
    """A signature without types."""
    parameters = inspect.signature(function).parameters.values()
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in parameters]
    return str(inspect.Signature(bare))


@pytest.mark.parametrize("method", SIGNATURES)
def test_methods_are_called_as_they_were(method: str) -> None:
    cls, _, name = method.partition(".")
    assert plain(getattr(getattr(kinds, cls), name)) == SIGNATURES[method]


def test_no_method_is_asked_for_that_old_plugins_do_not_have() -> None:
    """A new method of a kind needs a default, which an abstract one has not."""
    assert {kind: set(KINDS[kind].__abstractmethods__) for kind in KIND_NAMES} == {
        "tokenizer": {"__call__"},
        "groups": {"build"},
        "graph": {"build"},
        "regularizer": {"solve"},
        "loss": {"value", "derivatives", "curvature_bound", "dual_value"},
    }
    assert Penalized.__abstractmethods__ == {"penalty"}


def test_old_plugin() -> None:
    assert found(old_plugin) == OLD


def more_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all hooks one more argument, as a later textreg may."""

    def specification(api: int, language: str) -> list[type[Any]]:
        raise NotImplementedError

    for name in HOOK_OF_KIND.values():
        monkeypatch.setattr(hookspecs, name, hookspec(specification))
    monkeypatch.setattr(hookspecs, "ARGUMENTS", {**hookspecs.ARGUMENTS, "language": "en"})


def test_an_argument_more_breaks_no_old_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    more_arguments(monkeypatch)
    assert found(old_plugin) == OLD


@hookimpl(specname="textreg_tokenizers")
def taking_language(api: int, language: str) -> list[type[Any]]:
    assert (api, language) == (1, "en")
    return [NewWords]


NEW = SimpleNamespace(textreg_tokenizers=taking_language)


def test_an_argument_more_reaches_new_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    more_arguments(monkeypatch)
    assert found(NEW) == {("tokenizer", "new-words"): 1}


def test_a_new_plugin_says_what_it_needs() -> None:
    with pytest.raises(BrokenPluginError, match=r"'language'.*run: pip install -U textreg"):
        found(NEW)


def test_a_plugin_may_have_hooks_that_this_textreg_does_not_know() -> None:
    optional = hookimpl(optionalhook=True)(lambda: [NewWords])
    plugin = SimpleNamespace(**vars(old_plugin), textreg_weighters=optional)
    assert found(plugin) == OLD


def test_a_deprecated_hook_warns_with_the_name_of_the_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = PluginWarning("textreg_graph_builders goes in textreg 3.0: write textreg_graphs")

    def specification(api: int) -> list[type[Any]]:
        raise NotImplementedError

    spec = hookspec(warn_on_impl=gone)(specification)
    monkeypatch.setattr(hookspecs, "textreg_graph_builders", spec)
    with pytest.warns(PluginWarning) as caught:
        assert found(old_plugin) == OLD
    assert [str(one.message) for one in caught] == [f"old_plugin: {gone}"]
    monkeypatch.undo()
    monkeypatch.setattr(hookspecs, "textreg_graph_builders", spec)
    assert found(NewWords) == {("tokenizer", "new-words"): 1}  # which does not have it


def test_a_deprecated_argument_warns_who_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = PluginWarning("api goes in textreg 3.0: leave it out")

    def specification(api: int) -> list[type[Any]]:
        raise NotImplementedError

    spec = hookspec(warn_on_impl_args={"api": gone})(specification)
    for name in HOOK_OF_KIND.values():
        monkeypatch.setattr(hookspecs, name, spec)
    with pytest.warns(PluginWarning) as caught:
        assert found(old_plugin) == OLD
    assert [str(one.message) for one in caught] == [f"old_plugin: {gone}"]  # one hook takes it


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
    with pytest.raises(BrokenPluginError, match=rf"Words: NewWords is {says}"):
        found(type("NewWords", (NewWords,), {"api": api}))


SOURCE = Path(old_plugin.__file__).read_text(encoding="utf-8")
PARTS = [f"{kind}.{name}" for kind, name in OLD]
WRAPPED = """
import sys
from textreg import hookspecs
from textreg.cli import main
from textreg.errors import PluginWarning

for name in hookspecs.HOOK_OF_KIND.values():
    deprecated = hookspecs.hookspec(warn_on_impl=PluginWarning(name + " goes in 3.0"))
    setattr(hookspecs, name, deprecated(lambda api: ...))
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("old"))
    entries = dict.fromkeys(PARTS, "acme_old")
    early = Distribution(
        "acme-early", "from textreg.kinds import Weighter\n", {"tokenizer.early": "acme_early"}
    )
    module = Distribution(
        "acme-module", "import textreg.weighting\n", {"tokenizer.module": "acme_module"}
    )
    unpack([Distribution("acme-old", SOURCE, entries), early, module], made.folder, made.target)
    return made


def test_old_plugin_that_is_installed(site: Site) -> None:
    trains = [
        site.train("--reg old-reg --tokenizer old-words"),
        site.train("--reg old-reg --reg-way proximal --groups old-pairs --groups-weight 2"),
        site.train("--reg old-price"),
        site.train("--reg network --graph old-chain"),
    ]
    for code, out, err in site.session(trains):
        assert (code, err) == (0, "")
        assert "saved model.textreg" in out


def test_deprecations_name_the_distribution(site: Site) -> None:
    done = site.python("-c", WRAPPED, *site.train("--reg ridge --reg-l2 1 --tokenizer old-words"))
    assert done.returncode == 0
    said = [line for line in done.stderr.splitlines() if "acme-old" in line]
    assert sorted(said) == sorted(
        f"Warning: acme-old 0.3: {hook} goes in 3.0"
        for hook in HOOK_OF_KIND.values()
        if hook != "textreg_losses"
    )


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


@pytest.mark.skipif(not PAGE.is_file(), reason="textreg is not installed from a checkout")
def test_the_page_names_what_outsiders_may_import() -> None:
    """All of it and nothing else; the modules of a distribution's own are not outsiders' matter."""
    named = re.findall(r"^\| `textreg\.(\w+)[\w.]*` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert set(named) == {*OUTSIDERS_MAY - {"builtin", "terminal"}, "plugins", "testing"}


def test_old_plugin_uses_only_what_is_promised() -> None:
    used = set(re.findall(r"^from textreg\.(\w+)", SOURCE, re.MULTILINE))
    assert used <= OUTSIDERS_MAY
    assert {"hookspecs", "kinds", "params"} < used
