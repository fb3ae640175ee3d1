"""Commands of plugins: listed from metadata, imported when called, named where they are missing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import Cli
from distributions import Distribution, unpack
from sites import Site
from test_documents import blocks

import textreg
from textreg.errors import BrokenPluginError, PluginError
from textreg.plugins import distributions, registry
from textreg.plugins.distributions import SATELLITES, how_to_install, satellite_of
from textreg.plugins.registry import Registry

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PLUGINS = Path(textreg.__file__).parents[1] / "plugins"

COUNT = """
import sys
from pathlib import Path
import click
from textreg.errors import DataError
from textreg.hookspecs import hookimpl

Path(__file__).with_suffix(".imported").touch()

@click.command(name="count")
@click.argument("words", nargs=-1)
def count(words):
    "Count words, one by one."
    if not words:
        raise DataError("no words: give some.")
    click.echo(len(words))

@click.command(name="plugins.count")
def count_plugins():
    "Count plugins."
    click.echo("many")

@hookimpl
def textreg_commands():
    return [count, count_plugins]
"""
ENTRIES = {"command.count": "acme_count", "command.plugins.count": "acme_count"}
HELP = ("count Count the words of a text.", "plugins.count Count all plugins.")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path)
    acme = Distribution("acme-count", COUNT, ENTRIES, help=HELP)
    unpack([acme], tmp_path / "wheels", made.target)
    return made


def test_they_are_listed_without_an_import(site: Site) -> None:
    helps = site.session([["--help"], ["plugins", "--help"], ["plugins", "list"]])
    assert [code for code, *_ in helps] == [0, 0, 0]
    assert re.search(r"^  count +Count the words of a text\.$", helps[0][1], re.MULTILINE)
    assert re.search(r"^  count +Count all plugins\.$", helps[1][1], re.MULTILINE)
    assert re.search(r"^plugins\.count +command +acme-count 0\.3", helps[2][1], re.MULTILINE)
    assert not list(site.target.glob("*.imported"))


def test_they_are_called_as_those_of_textreg(site: Site) -> None:
    counted, of_plugins, usage, refused = site.session(
        [["count", "a", "b"], ["plugins", "count"], ["plugins", "count", "--help"], ["count"]]
    )
    assert counted == (0, "2\n", "")
    assert of_plugins == (0, "many\n", "")
    assert usage[1].startswith("Usage: textreg plugins count ")
    assert refused == (1, "", "Error: no words: give some.\n")
    assert (site.target / "acme_count.imported").is_file()


def test_they_are_blocked_and_missed(site: Site) -> None:
    blocked, misspelled = site.session([["--no-plugin", "acme-count", "count", "a"], ["coumt"]])
    assert (blocked[0], "the command 'count' is blocked by --no-plugin" in blocked[2]) == (2, True)
    # Blocking lasts as long as the process.
    assert "no command 'coumt'" in misspelled[2]
    assert "Did you mean 'count'?" in site.run("coumt").stderr


def test_two_of_one_name(site: Site, tmp_path: Path) -> None:
    other = Distribution("b-count", COUNT, {"command.count": "b_count"})
    unpack([other], tmp_path / "wheels", site.target)
    both, chosen = site.session([["count", "a"], ["b-count:count", "a"]])
    assert both[0] == 2
    assert "2 commands are called 'count': acme-count 0.3 and b-count 0.3" in both[2]
    assert chosen == (0, "1\n", "")


def test_a_broken_one_is_named(site: Site) -> None:
    (site.target / "acme_count.py").write_text("import nothing_like_this\n")
    ((code, out, err),) = site.session([["count", "a"]])
    assert (code, out) == (1, "")
    assert err.startswith("Error: acme-count 0.3 cannot be loaded: it needs 'nothing_like_this'")


def test_a_built_in_name_cannot_be_taken(site: Site, tmp_path: Path) -> None:
    thief = Distribution("thief", COUNT.replace('"count"', '"demo"'), {"command.demo": "thief"})
    unpack([thief], tmp_path / "wheels", site.target)
    assert site.run("demo", "there").returncode == 0
    assert (tmp_path / "there" / "train.jsonl").is_file()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("len", "gives <built-in function len> as a command, which is no click.Command"),
        ("click.Command(name=None)", "a command of .* is called None"),
        ("click.Command(name='a b')", "a command of .* is called 'a b'"),
    ],
)
def test_what_is_no_command_is_refused(command: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import click\nfrom textreg.hookspecs import hookimpl\n"
        f"@hookimpl\ndef textreg_commands(): return [{command}]\n"
    )
    with pytest.raises(BrokenPluginError, match=says):
        Registry().register_file(file)


@pytest.mark.skipif(not PLUGINS.is_dir(), reason="textreg is not installed from a checkout")
def test_the_page_shows_one_that_works(tmp_path: Path) -> None:
    """The command of docs/plugins.md with the entry points that stand there."""
    (code,) = [code for code in blocks("docs/plugins.md", "python") if "textreg_commands" in code]
    points = tomllib.loads(blocks("docs/plugins.md", "toml")[0])["project"]["entry-points"]
    page = Distribution(
        "textreg-vocabulary", code, points["textreg"], help=tuple(points["textreg.help"])
    )
    site = Site(tmp_path)
    unpack([page], tmp_path / "wheels", site.target)
    (tmp_path / "words.txt").write_text("a b a\n")
    (tmp_path / "empty.txt").touch()
    listed, called, refused = site.session(
        [["--help"], ["vocabulary", "words.txt", "--top", "1"], ["vocabulary", "empty.txt"]]
    )
    assert re.search(r"^  vocabulary +Show the most frequent words of a file\.$", listed[1], re.M)
    assert called == (0, "     2 a\n", "")
    assert refused[0] == 1
    assert refused[2] == "Error: empty.txt: the file is empty. Give a file with documents.\n"


def test_a_fault_of_a_command_is_not_one_of_textreg(tmp_path: Path) -> None:
    code = """
import click
from textreg.hookspecs import hookimpl

@click.command(name="boom")
def boom():
    1 / 0

@hookimpl
def textreg_commands():
    return [boom]
"""
    site = Site(tmp_path)
    unpack([Distribution("acme", code, {"command.boom": "acme"})], tmp_path / "wheels", site.target)
    for exit_code, _, said in site.session([["boom"], ["acme:boom"]]):
        assert exit_code == 70
        assert re.match(
            r"Error: ZeroDivisionError: .* a fault of the command, .* of acme \S+, ", said
        )
        assert "fault of textreg" not in said


def test_a_namesake_of_a_command_is_not_blamed_for_it(tmp_path: Path) -> None:
    site = Site(tmp_path)
    entries = {"command.demo": "acme"}
    unpack([Distribution("acme", COUNT, entries)], tmp_path / "wheels", site.target)
    code = "import textreg.demo as it; it.make_reviews = None\n"
    code += "from textreg.cli import main; raise SystemExit(main(['demo', 'x']))"
    done = site.python("-c", code)
    assert done.returncode == 70
    assert "fault of textreg, and not yours" in done.stderr
    assert "acme" not in done.stderr


@pytest.mark.skipif(not PLUGINS.is_dir(), reason="textreg is not installed from a checkout")
def test_the_table_of_satellites_is_that_of_their_metadata() -> None:
    declared = {}
    for path in sorted(PLUGINS.glob("*/pyproject.toml")):
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        declared[project["name"]] = set(project["entry-points"]["textreg"])
    assert {name: set(parts) for name, parts in SATELLITES.items()} == declared


@pytest.mark.skipif(not PLUGINS.is_dir(), reason="textreg is not installed from a checkout")
def test_satellites_have_what_the_template_of_a_plugin_has() -> None:
    for path in sorted(PLUGINS.glob("*/pyproject.toml")):
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        assert "textreg-plugin" in project["keywords"], path
        assert "Topic :: Text Processing :: Linguistic" in project["classifiers"], path
        assert project["license-files"] == ["LICENSE"], path
        assert path.with_name("LICENSE").is_file(), path
        assert set(project["entry-points"]["textreg.api"]) == {"1"}, path
        assert "\n[project.urls]\n" in path.read_text("utf-8"), path


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A satellite that is not installed."""
    parts = ("command.nothing", "command.plugins.nothing", "groups.nothing")
    monkeypatch.setitem(SATELLITES, "textreg-nothing", parts)


@pytest.mark.usefixtures("nothing")
def test_what_is_not_installed_is_named_with_what_installs_it(cli: Cli) -> None:
    line = "is in textreg-nothing, which is not installed. Run: pip install 'textreg[nothing]'\n"
    assert satellite_of("groups", "nothing") == "textreg-nothing"
    assert cli("nothing", "x") == (2, "", f"Error: the command 'nothing' {line}")
    assert cli("plugins", "nothing").err == f"Error: the command 'plugins.nothing' {line}"
    with pytest.raises(PluginError, match="the group builder 'nothing' is in textreg-nothing"):
        registry.find("groups", "nothing")


def test_from_a_checkout_its_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "check out" / "plugins" / "textreg-nothing"
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    monkeypatch.setattr(distributions, "_checkout", lambda: tmp_path / "check out")
    monkeypatch.chdir(tmp_path / "check out")
    assert how_to_install("textreg-nothing") == "pip install ./plugins/textreg-nothing"
    monkeypatch.chdir("/")
    assert how_to_install("textreg-nothing") == f"pip install '{folder}'"
    assert how_to_install("textreg-other") == "pip install 'textreg[other]'"
