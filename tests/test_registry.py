"""Finding plugins, with distributions written to the path as pip would install them."""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NoReturn

import click
import pytest

import textreg
from textreg.errors import BrokenPluginError, PluginError, UsageError
from textreg.hookspecs import HOOK_OF_KIND, hookimpl
from textreg.kinds import API, KINDS, Regularizer, Tokenizer
from textreg.params import param
from textreg.plugins import distributions
from textreg.plugins.distributions import KIND_NAMES
from textreg.plugins.loading import read_file
from textreg.plugins.registry import PluginInfo, Registry
from textreg.records import Problem, Solution

Install = Callable[..., None]

HEAD = """
from pathlib import Path
from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder, Regularizer, Tokenizer
Path(__file__).with_suffix(".imported").touch()
"""
SLOPE = (
    HEAD
    + """
class Slope(Regularizer):
    name = "slope"
    def solve(self, problem): raise NotImplementedError

@hookimpl
def textreg_regularizers(): return [Slope]
"""
)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Write a distribution: its metadata, and its one module."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("TEXTREG_DISABLE", raising=False)
    modules = []

    def write(
        dist: str,
        entries: dict[str, str],
        code: str = SLOPE,
        version: str = "0.3",
        apis: Sequence[str] = (),
    ) -> None:
        info = tmp_path / f"{dist.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\n")
        lines = "\n".join(f"{name} = {value}" for name, value in entries.items())
        manifest = "".join(f"{api} = acme\n" for api in apis)
        (info / "entry_points.txt").write_text(f"[textreg]\n{lines}\n[textreg.api]\n{manifest}")
        for module in {value.partition(":")[0] for value in entries.values()}:
            modules.append(module)
            (tmp_path / f"{module}.py").write_text(code)

    yield write
    for module in modules:
        sys.modules.pop(module, None)


def imported(tmp_path: Path) -> set[str]:
    return {path.stem for path in tmp_path.glob("*.imported")}


def only(registry: Registry, name: str) -> PluginInfo:
    (row,) = [row for row in registry.listing() if row.name == name]
    return row


def test_found_by_name_and_imported_only_then(install: Install, tmp_path: Path) -> None:
    install("acme-slope", {"regularizer.slope": "acme_slope"})
    install("acme-other", {"regularizer.other": "acme_other"})
    registry = Registry()
    assert "slope" in registry.names("regularizer")
    assert only(registry, "slope") == PluginInfo(
        "slope", "regularizer", "acme-slope", "0.3", "acme_slope", "not loaded"
    )
    assert imported(tmp_path) == set()
    cls = registry.find("regularizer", "slope")
    assert issubclass(cls, Regularizer)
    assert imported(tmp_path) == {"acme_slope"}
    assert registry.find("regularizer", "slope") is cls
    assert only(registry, "slope").status == "ok"
    assert registry.provider(cls()) == registry.provider(cls) == only(registry, "slope")
    assert registry.provider(Regularizer) is None


@pytest.mark.parametrize("apis", [["1"], ["1", "2"], ["01x", "1"]], ids=" ".join)
def test_interface_is_known_without_an_import(
    install: Install, tmp_path: Path, apis: list[str]
) -> None:
    install("acme-slope", {"regularizer.slope": "acme_slope"}, apis=apis)
    registry = Registry()
    row = only(registry, "slope")
    assert (row.api, row.status, imported(tmp_path)) == (1, "not loaded", set())
    assert registry.find("regularizer", "slope").name == "slope"


@pytest.mark.parametrize(
    ("apis", "api", "says"),
    [
        (["2"], 2, r"for version 2 of .* has version 1\. Update textreg: pip install -U textreg$"),
        (["3", "2"], 3, r"for version 2 or 3 of .* Update textreg: pip install -U textreg$"),
        (["0"], 0, r"for version 0 of textreg's plugin interface, .* 1\. Update the plugin\.$"),
        (["next"], None, r"for version next of .* Update the plugin\.$"),
    ],
    ids=["newer", "several", "older", "no number"],
)
def test_another_interface_is_refused_before_the_import(
    install: Install, tmp_path: Path, apis: list[str], api: int | None, says: str
) -> None:
    install("acme-slope", {"regularizer.slope": "acme_slope"}, apis=apis)
    install("acme-good", {"regularizer.good": "acme_good"}, SLOPE.replace('"slope"', '"good"'))
    registry = Registry()
    row = only(registry, "slope")
    assert row.api == api
    with pytest.raises(BrokenPluginError, match=rf"^acme-slope 0\.3: acme-slope is made {says}"):
        registry.find("regularizer", "slope")
    assert row.status == f"broken: {registry.failure(row)}"
    loaded = {row.name: row.seconds for row in registry.listing(load=True)}
    assert loaded["slope"] is None
    assert loaded["good"] is not None
    assert 0.0 <= loaded["good"] < 60.0
    assert registry.find("regularizer", "good").name == "good"
    assert imported(tmp_path) == {"acme_good"}


def test_one_module_for_several_entries_is_loaded_once(install: Install) -> None:
    code = SLOPE + (
        "class Split(Tokenizer):\n    name = 'split'\n"
        "    def __call__(self, text): return [text.split()]\n"
        "@hookimpl\ndef textreg_tokenizers(): return [Split]\n"
    )
    install("acme", {"regularizer.slope": "acme_two", "tokenizer.split": "acme_two"}, code)
    registry = Registry()
    assert registry.create("tokenizer", "split")("a b") == [["a", "b"]]
    assert only(registry, "slope").status == "ok"
    assert registry.find("regularizer", "slope").name == "slope"


def test_entry_point_may_name_an_object(install: Install) -> None:
    code = SLOPE.replace("@hookimpl\n", "class Hooks:\n  @hookimpl\n  ").replace(
        "regularizers()", "regularizers(self)"
    )
    install("acme", {"regularizer.slope": "acme_object:hooks"}, code + "\nhooks = Hooks()\n")
    assert Registry().find("regularizer", "slope").name == "slope"


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import jaxx.numpy", r"it needs 'jaxx', which is not installed\. Run: pip install jaxx$"),
        (
            "raise RuntimeError('no license\\nreally')",
            r"RuntimeError: no license \(.*acme_bad.py:1\)",
        ),
        ("raise SystemExit(3)", r"SystemExit: 3"),
        ("def f(:", r"SyntaxError: invalid syntax \(acme_bad\.py, line 1\)\. Update it"),
        ("assert False", r"AssertionError \("),
    ],
)
def test_broken_import_hurts_only_who_asks(install: Install, code: str, cause: str) -> None:
    install("acme-bad", {"regularizer.bad": "acme_bad"}, code)
    install("acme-slope", {"regularizer.slope": "acme_good"})
    registry = Registry()
    assert registry.find("regularizer", "slope")
    assert only(registry, "bad").status == "not loaded"
    with pytest.raises(PluginError, match=rf"^acme-bad 0\.3 cannot be loaded: .*{cause}") as caught:
        registry.find("regularizer", "bad")
    assert caught.value.__cause__ is not None
    row = only(registry, "bad")
    assert row.status == f"broken: {caught.value}"
    assert registry.failure(row) is caught.value
    assert registry.failure(only(registry, "slope")) is None
    assert "bad" in registry.names("regularizer")


def test_missing_module_of_the_plugin_itself(install: Install, tmp_path: Path) -> None:
    install("acme-gone", {"regularizer.gone": "acme_gone"})
    (tmp_path / "acme_gone.py").unlink()
    with pytest.raises(PluginError, match=r"pip install --force-reinstall acme-gone$"):
        Registry().find("regularizer", "gone")


def test_mended_plugin_is_found_without_a_new_process(install: Install, tmp_path: Path) -> None:
    install("acme", {"regularizer.slope": "acme_mended"}, "raise RuntimeError")
    registry = Registry()
    with pytest.raises(PluginError, match="RuntimeError"):
        registry.find("regularizer", "slope")
    (tmp_path / "acme_mended.py").write_text(SLOPE + "# the size differs, so no stale bytecode\n")
    assert registry.find("regularizer", "slope")
    assert only(registry, "slope").status == "ok"
    assert registry.failure(only(registry, "slope")) is None


WRONG_CODE = {
    "misspelled hook": (
        SLOPE.replace("textreg_regularizers", "textreg_regularizer"),
        r"unknown hook 'textreg_regularizer' in plugin acme 0\.3\. "
        r"Did you mean 'textreg_regularizers'\?",
    ),
    "wrong argument": (
        SLOPE.replace("regularizers()", "regularizers(texts)"),
        r"acme 0\.3 has a hook that does not fit: .*texts",
    ),
    "no list": (
        SLOPE.replace("[Slope]", "Slope"),
        r"the hook textreg_regularizers of acme 0\.3 must give a list of classes, not <class",
    ),
    "an instance": (
        SLOPE.replace("[Slope]", "[Slope()]"),
        r"acme 0\.3 gives Slope\(\), which is not a subclass of Regularizer\. .* the parentheses\.",
    ),
    "wrong kind": (
        SLOPE.replace("textreg_regularizers", "textreg_tokenizers"),
        r"acme 0\.3 gives <class .*, which is not a subclass of Tokenizer",
    ),
    "hook raises": (
        SLOPE.replace("return [Slope]", "return [Slop]"),
        r"the hook textreg_regularizers of acme 0\.3 fails: NameError: .*acme_wrong\.py",
    ),
    "no hookimpl": (SLOPE.replace("@hookimpl", ""), r"acme 0\.3 provides nothing: .*@hookimpl"),
    "no solve": (
        SLOPE.replace("def solve", "def solved"),
        r"Slope of acme 0\.3 does not define solve",
    ),
    "no name": (
        SLOPE.replace('name = "slope"', ""),
        r"Slope of acme 0\.3 is called '': a name is",
    ),
    "name with a colon": (SLOPE.replace('"slope"', '"a:slope"'), r"is called 'a:slope'"),
    "other name": (
        SLOPE.replace('"slope"', '"slop"'),
        r"acme 0\.3 declares 'regularizer\.slope', but acme_wrong gives: regularizer 'slop'",
    ),
    "other interface": (
        SLOPE.replace('name = "slope"', 'name = "slope"; api = 99'),
        r"acme 0\.3: Slope is made for version 99 .*has version 1\. Update textreg: pip ",
    ),
    "twice": (
        SLOPE.replace("[Slope]", "[Slope, type('Twin', (Slope,), {})]"),
        r"acme 0\.3 gives two regularizers called 'slope'",
    ),
}


@pytest.mark.parametrize("case", WRONG_CODE)
def test_plugin_that_breaks_the_interface(install: Install, case: str) -> None:
    code, message = WRONG_CODE[case]
    install("acme", {"regularizer.slope": "acme_wrong"}, code)
    registry = Registry()
    with pytest.raises(PluginError, match=message):
        registry.find("regularizer", "slope")
    assert only(registry, "slope").status.startswith("broken: ")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[textreg]\nregularizer.bad\n", "acme-bad, whose metadata gives TypeError: "),
        (b"[textreg]\nregularizer.bad = x\xff\n", "acme-bad, whose metadata gives UnicodeDecode"),
    ],
)
def test_damaged_metadata_hurts_nobody_else(
    install: Install, tmp_path: Path, content: bytes, says: str
) -> None:
    install("acme-slope", {"regularizer.slope": "acme_slope"})
    install("acme-bad", {"regularizer.bad": "acme_bad"})
    (tmp_path / "acme_bad-0.3.dist-info" / "entry_points.txt").write_bytes(content)
    registry = Registry()
    assert registry.find("regularizer", "slope")
    assert {"sentence", "slope"} <= set(registry.names("regularizer"))
    assert len(registry.names("tokenizer")) == len(set(registry.names("tokenizer")))
    rows = [(row.kind, row.name, row.distribution) for row in registry.listing()]
    assert len(rows) == len(set(rows))
    (damaged,) = registry.damaged()
    assert damaged.startswith(says)
    with pytest.raises(PluginError, match=f"no regularizer 'bad'.* Left out as damaged: {says}"):
        registry.find("regularizer", "bad")


def test_where_a_distribution_is_named_the_metadata_of_no_other_is_read(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("acme-slope", {"regularizer.slope": "acme_slope"})

    def refuse(**group: str) -> NoReturn:
        raise AssertionError(group)

    monkeypatch.setattr(metadata, "entry_points", refuse)
    monkeypatch.setattr(metadata, "distributions", refuse)
    registry = Registry()
    found = registry.find("regularizer", "Acme_Slope:slope")
    assert (found.name, found.__module__) == ("slope", "acme_slope")
    with pytest.raises(AssertionError):
        registry.find("regularizer", "slope")


def test_what_is_left_of_a_distribution(install: Install, tmp_path: Path) -> None:
    install("acme-half", {"regularizer.half": "acme_half"})
    (tmp_path / "acme_half-0.3.dist-info" / "METADATA").unlink()
    registry = Registry()
    assert "half" not in registry.names("regularizer")
    assert registry.damaged() == [
        f"what is left in {tmp_path} of a distribution with 'regularizer.half'"
    ]


@pytest.mark.parametrize("value", ["", "a b", "1 +"])
def test_entry_point_of_no_module(install: Install, tmp_path: Path, value: str) -> None:
    install("acme-bad", {"regularizer.bad": "acme_bad"})
    entry_points = tmp_path / "acme_bad-0.3.dist-info" / "entry_points.txt"
    entry_points.write_text(f"[textreg]\nregularizer.bad = {value}\n")
    # Some versions of Python refuse to read such metadata at all.
    says = f"'regularizer.bad' names no module: '{re.escape(value)}'|damaged: acme-bad, whose meta"
    with pytest.raises(PluginError, match=says):
        Registry().find("regularizer", "bad")


def test_two_providers_of_a_name(install: Install, tmp_path: Path) -> None:
    install("acme-slope", {"regularizer.slope": "acme_one"})
    install("Other_Slope", {"regularizer.slope": "acme_two"}, version="2.0")
    registry = Registry()
    with pytest.raises(PluginError) as caught:
        registry.find("regularizer", "slope")
    message = str(caught.value)
    assert message.startswith("2 regularizers are called 'slope': ")
    assert "acme-slope 0.3" in message
    assert "other-slope 2.0" in message
    assert "acme-slope:slope" in message
    assert imported(tmp_path) == set()
    assert {row.status for row in registry.listing() if row.name == "slope"} == {
        "clash: write acme-slope:slope",
        "clash: write other-slope:slope",
    }
    assert registry.find("regularizer", "acme-slope:slope").__module__ == "acme_one"
    assert registry.find("regularizer", "Other_Slope:slope").__module__ == "acme_two"
    registry.block(["other_slope"])
    assert registry.find("regularizer", "slope").__module__ == "acme_one"


def test_blocked_commands_are_not_listed(install: Install) -> None:
    install("acme", {"command.pack": "acme_pack", "command.unpack": "acme_unpack"})
    registry = Registry()
    every = registry.commands()
    registry.block(["command.pack"])
    assert {"pack", "unpack"} <= set(every)
    assert registry.commands() == {name: every[name] for name in every if name != "pack"}


def test_a_file_that_another_thread_runs_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text(SLOPE.replace("class Slope", "__import__('time').sleep(0.2)\nclass Slope"))
    registry = Registry()
    registry.waiting.append(read_file(path))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: registry.find("regularizer", "slope"), range(2)))
    assert found[0] is found[1]


def test_clash_with_a_built_in(install: Install) -> None:
    install("acme", {"regularizer.sentence": "acme_clash"})
    with pytest.raises(PluginError, match=r"textreg:sentence"):
        Registry().find("regularizer", "sentence")


@pytest.mark.parametrize("name", ["slope", "regularizer.slope", "acme-slope", "Acme_Slope"])
@pytest.mark.parametrize("way", ["environment", "call"])
def test_blocked_before_import(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: str
) -> None:
    install("acme-slope", {"regularizer.slope": "acme_slope"}, "raise SystemExit('imported')")
    registry = Registry()
    if way == "environment":
        monkeypatch.setenv("TEXTREG_DISABLE", f"not-installed, {name}")
        words = "TEXTREG_DISABLE"
    else:
        registry.block([name])
        words = "--no-plugin"
    with pytest.raises(PluginError, match=f"'slope' is blocked by {words}"):
        registry.find("regularizer", "slope")
    assert "slope" not in registry.names("regularizer")
    registry.listing(load=True)
    assert only(registry, "slope").status.startswith("blocked: by ")
    assert "acme_slope" not in sys.modules
    assert imported(tmp_path) == set()


def test_blocking_a_name_of_another_kind_leaves_it(install: Install) -> None:
    install("acme", {"regularizer.slope": "acme_kept"})
    registry = Registry()
    registry.block(["textreg"])
    left = registry.names("regularizer")  # of whatever else is installed, too
    assert "slope" in left
    assert "lasso" not in left
    with pytest.raises(PluginError, match=r"cannot block 'slop'.*Did you mean 'slope'\?"):
        registry.block(["slop"])
    with pytest.raises(PluginError, match=r"cannot block 'tokenizer.slope'"):
        registry.block(["tokenizer.slope"])
    assert registry.find("regularizer", "slope")


def test_unknown_names() -> None:
    registry = Registry()
    with pytest.raises(PluginError) as caught:
        registry.find("regularizer", "sentense")
    assert str(caught.value).startswith("no regularizer 'sentense'. Did you mean 'sentence'? Inst")
    assert ", ridge, sentence" in str(caught.value)
    assert caught.value.exit_code == 2
    with pytest.raises(PluginError, match=r"Did you mean 'textreg:sentence'\?"):
        registry.find("regularizer", "textregs:sentence")
    with pytest.raises(PluginError, match=r"no group builder 'acme'\. Installed: "):
        registry.find("groups", "acme")
    with pytest.raises(UsageError, match=r"Did you mean 'tokenizer'\?"):
        registry.names("tokeniser")


def test_an_entry_point_without_a_kind_is_told(install: Install) -> None:
    install("acme-many", {"many": "acme_many"})
    registry = Registry()
    with pytest.raises(PluginError, match="no regularizer 'slope'"):
        registry.find("regularizer", "slope")
    (row,) = [row for row in registry.listing(load=True) if row.distribution == "acme-many"]
    assert "declares 'many', but acme_many gives: regularizer 'slope'" in row.status


def test_listing_everything_loads_it(install: Install) -> None:
    install("acme-slope", {"regularizer.slope": "acme_slope"})
    install("acme-bad", {"regularizer.bad": "acme_bad"}, "import jaxx")
    rows = {row.name: row for row in Registry().listing(load=True)}
    assert rows["slope"].status == "ok"
    assert rows["bad"].status.endswith("Run: pip install jaxx")


class Own(Regularizer):
    """A regularizer of a notebook."""

    name = "own"
    strength: float = param(default=1.0, min=0, help="penalty strength")

    def solve(self, problem: Problem) -> Solution:
        raise NotImplementedError


def test_register_a_class() -> None:
    registry = Registry()
    registry.register(Own)
    assert registry.create("regularizer", "own", strength=2).strength == 2.0
    assert only(registry, "own") == PluginInfo("own", "regularizer", "", "", __name__, "ok", 1)
    again = type("Own", (Own,), {})
    registry.register(again)
    assert registry.find("regularizer", "own") is again
    registry.block(["own"])
    assert only(registry, "own").status.startswith("blocked")
    with pytest.raises(PluginError, match="'own' is blocked"):
        registry.find("regularizer", "own")


def test_register_a_module_or_object() -> None:
    module = ModuleType("notebook")
    module.textreg_regularizers = hookimpl(  # type: ignore[attr-defined]
        specname="textreg_regularizers"
    )(lambda: [Own])
    for plugin in (module, SimpleNamespace(**vars(module))):
        registry = Registry()
        registry.register(plugin)
        assert registry.find("regularizer", "own") is Own


def test_commands_of_the_process_are_listed_with_their_help() -> None:
    @click.command(name="count", help="Count words.")
    def count() -> None: ...

    module = ModuleType("notebook")
    module.textreg_commands = hookimpl(lambda: [count])  # type: ignore[attr-defined]
    registry = Registry()
    registry.register(Own)
    registry.register(module)
    lines = registry.commands()
    assert lines["count"] == "Count words."
    assert "own" not in lines


def test_register_refuses() -> None:
    registry = Registry()
    taken = type("Taken", (Own,), {"name": "sentence"})
    registry.register(taken)
    assert registry.find("regularizer", "sentence") is taken
    assert registry.find("regularizer", "textreg:sentence").__module__ != __name__
    with pytest.raises(PluginError, match="does not define solve"):
        registry.register(type("Half", (Regularizer,), {"name": "half"}))
    with pytest.raises(PluginError, match="provides nothing"):
        registry.register(ModuleType("empty"))


def test_resolve() -> None:
    registry = Registry()
    registry.register(Own)
    own = Own(strength=3)
    assert registry.create("regularizer", own) is own
    assert registry.create("regularizer", own, strength=4) == Own(strength=4)
    assert registry.create("regularizer", Own) == Own()
    assert registry.create("regularizer", "own", strength=5) == Own(strength=5)
    with pytest.raises(UsageError, match=r"regularizer: give a name \(.*own.*\), a subclass of"):
        registry.create("regularizer", 3)
    with pytest.raises(UsageError, match="tokenizer: give"):
        registry.create("tokenizer", own)


def test_many_threads_load_a_plugin_once(install: Install, tmp_path: Path) -> None:
    count = (
        "import time; time.sleep(0.05)\nwith open(__file__ + '.count', 'a') as f: f.write('x')\n"
    )
    install("acme", {"regularizer.slope": "acme_threads"}, count + SLOPE)
    registry, found = Registry(), []
    threads = [
        threading.Thread(target=lambda: found.append(registry.find("regularizer", "slope")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert (tmp_path / "acme_threads.py.count").read_text() == "x"


def test_kinds_are_the_same_everywhere() -> None:
    assert (*KINDS, "command") == KIND_NAMES == tuple(HOOK_OF_KIND)
    assert distributions.API == API
    assert KINDS["tokenizer"] is Tokenizer


def test_every_built_in_keeps_to_the_interface() -> None:
    rows = [row for row in Registry().listing(load=True) if row.distribution == "textreg"]
    assert {"sentence", "words", "sentences", "lasso", "ridge", "elastic", "none"} <= {
        row.name for row in rows
    }
    assert [row for row in rows if row.status != "ok"] == []


def test_no_module_of_the_core_imports_a_built_in() -> None:
    root = Path(textreg.__file__).parent
    for path in root.rglob("*.py"):
        # The package itself offers the classes of some by name, imported on first use.
        if path == root / "__init__.py" or (root / "builtin") in path.parents:
            continue
        text = path.read_text(encoding="utf-8")
        if "builtin" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names = [node.value]
            assert not [name for name in names if name.startswith("textreg.builtin")], path


def test_joined_builders_show_their_parts() -> None:
    joined = textreg.group_builder("sentences,windows", size=3)
    assert repr(joined) == "JoinedBuilder(Sentences(), Windows(size=3))"
