"""Plugins that the user does not want: by flag, environment and textreg.toml, before any import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from distributions import Distribution, unpack
from sites import Site

from textreg.errors import UsageError
from textreg.plugins.distributions import Blocks, read_config

SLOPE = ("regularizer", "slope", "acme-slope")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The working folder and that of the user's settings; textreg.toml is in neither yet."""
    here, home = tmp_path / "here", tmp_path / "home"
    for folder in (here, home):
        folder.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(click, "get_app_dir", lambda name: str(home))
    monkeypatch.delenv("TEXTREG_DISABLE", raising=False)
    return here / "textreg.toml", home / "textreg.toml"


def test_no_file(folders: tuple[Path, Path]) -> None:
    assert Blocks().configs == []
    assert Blocks().reason(*SLOPE) == ""


@pytest.mark.parametrize(
    "name", ["slope", "regularizer.slope", "acme-slope", "Acme_Slope", "acme-slope:slope"]
)
@pytest.mark.parametrize("number", [0, 1])
def test_disable(folders: tuple[Path, Path], name: str, number: int) -> None:
    folders[number].write_text(f'[plugins]\ndisable = ["other", "{name}"]\n')
    blocks = Blocks()
    assert blocks.reason(*SLOPE) == f"disable in {folders[number]}"
    assert blocks.reason("tokenizer", "slop", "acme") == ""
    assert blocks.reason("tokenizer", "words", "textreg") == ""


def test_disable_of_one_kind(folders: tuple[Path, Path]) -> None:
    folders[0].write_text('[plugins]\ndisable = ["regularizer.slope", "acme:slope"]\n')
    blocks = Blocks()
    assert blocks.reason(*SLOPE)
    assert blocks.reason("tokenizer", "slope", "acme-slope") == ""
    assert blocks.reason("tokenizer", "slope", "acme")


def test_allow_blocks_the_rest(folders: tuple[Path, Path]) -> None:
    folders[0].write_text('[plugins]\nallow = ["acme-slope"]\n')
    blocks = Blocks()
    assert blocks.reason(*SLOPE) == ""
    assert blocks.reason("tokenizer", "words", "textreg") == ""
    assert blocks.reason("tokenizer", "mine", "") == ""  # which the user gave himself
    assert blocks.reason("tokenizer", "german", "acme-tok") == (
        f"allow in {folders[0]}, which does not name it"
    )


def test_allow_nothing(folders: tuple[Path, Path]) -> None:
    folders[0].write_text("plugins.allow = []\n")
    assert Blocks().reason(*SLOPE).startswith("allow in ")


def test_both_files_hold(folders: tuple[Path, Path]) -> None:
    folders[0].write_text('[plugins]\nallow = ["acme-slope", "acme-tok"]\n')
    folders[1].write_text('[plugins]\ndisable = ["slope"]\nallow = ["acme-slope"]\n')
    blocks = Blocks()
    assert [config.path for config in blocks.configs] == list(folders)
    assert blocks.reason(*SLOPE) == f"disable in {folders[1]}"
    assert blocks.reason("tokenizer", "german", "acme-tok").startswith(f"allow in {folders[1]}")


def test_the_file_is_read_once(folders: tuple[Path, Path]) -> None:
    blocks = Blocks()
    assert blocks.reason(*SLOPE) == ""
    folders[0].write_text('[plugins]\ndisable = ["slope"]\n')
    assert blocks.reason(*SLOPE) == ""
    assert Blocks().reason(*SLOPE)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[plugins\n", r"is not TOML: .*line 1"),
        (b"\xff", "cannot be read: "),
        (b"[plugin]\n", r"no table 'plugin'\. Did you mean 'plugins'\? Known: plugins\."),
        (b"reg = 1\n", r"there is no table 'reg'\."),
        (b"plugins = 3\n", r"plugins must be a table, \[plugins\], not 3"),
        (b"[plugins]\ndisabled = []\n", r"no key of \[plugins\] 'disabled'\. Did you mean 'disab"),
        (b"[plugins]\nfiles = ['a.py']\n", r"'files'\. Known: disable, allow\."),
        (b"[plugins]\ndisable = 'slope'\n", r"disable must be a list of names, .*, not 'slope'"),
        (b"[plugins]\nallow = [1]\n", r"allow must be a list of names, .*, not \[1\]"),
    ],
)
def test_a_wrong_file(folders: tuple[Path, Path], content: bytes, says: str) -> None:
    folders[0].write_bytes(content)
    with pytest.raises(UsageError, match=says) as caught:
        read_config(folders[0])
    assert str(caught.value).startswith(str(folders[0]))
    with pytest.raises(UsageError):
        Blocks().reason(*SLOPE)


CODE = """\
import pathlib
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer

pathlib.Path(__file__).with_suffix(".ran").touch()


class Slope(Regularizer):
    name = "slope"

    def solve(self, problem): raise RuntimeError


@hookimpl
def textreg_regularizers():
    return [Slope]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("blocked"))
    one = Distribution("acme-slope", CODE, {"regularizer.slope": "acme_slope"})
    many = Distribution("acme-many", CODE.replace('"slope"', '"many"'), {"many": "acme_many"})
    unpack([one, many], made.folder / "wheels", made.target)
    return made


def status(results: list[tuple[int, str, str]]) -> dict[str, str]:
    rows: list[dict[str, Any]] = json.loads(results[0][1])
    return {row["name"]: row["status"] for row in rows}


LIST = ["plugins", "list", "--load", "--json"]


def test_nothing_blocked_is_imported(site: Site) -> None:
    """Not by asking for it, by listing or examining everything, or by looking for a name."""
    asking = [
        LIST,
        site.train("--reg slope"),
        site.train("--reg many"),
        ["plugins", "doctor", "acme-slope"],
        ["plugins", "doctor", "acme-many"],
    ]
    config = site.folder / "textreg.toml"
    config.write_text('[plugins]\nallow = ["textreg-testing"]\n')
    results = site.session(asking)
    config.write_text('[plugins]\ndisable = ["slope", "many", "slop"]\n')
    (refused, noted) = site.session([site.train("--reg slope"), ["plugins", "doctor", "slope"]])
    config.unlink()
    by_flag = ["--no-plugin", "slope", "--no-plugin", "acme-many"]
    flagged = site.session([[*by_flag, *command] for command in asking])
    assert list(site.target.glob("*.ran")) == []

    why = f"blocked: by allow in {config}, which does not name it"
    assert {status(results)[name] for name in ("slope", "many")} == {why}
    assert status(results)["sentence"] == "ok"
    assert [code for code, _, _ in results] == [0, 2, 2, 0, 0]
    assert f"Error: the regularizer 'slope' is blocked by allow in {config}" in results[1][2]
    assert "no regularizer 'many'" in results[2][2]
    assert why in results[3][1]
    assert refused[0] == 2
    assert (
        f"is blocked by disable in {config}. Allow it, or take another: auto, elastic" in refused[2]
    )
    assert (
        f"note: {config} names 'slop', and no plugin is called that. Did you mean 'slope'?"
        in noted[1]
    )
    assert status(flagged)["slope"] == "blocked: by --no-plugin or block()"
    assert [code for code, _, _ in flagged] == [0, 2, 2, 0, 0]


def test_what_is_not_blocked_is_imported(site: Site) -> None:
    """So the test above can fail."""
    config = site.folder / "textreg.toml"
    config.write_text('[plugins]\nallow = ["acme-many"]\n')
    found = status(site.session([LIST]))
    config.unlink()
    assert "declares 'many', but" in found["many"]  # and so was imported
    assert found["slope"].startswith("blocked")
    (ran,) = site.target.glob("*.ran")
    assert ran.stem == "acme_many"
    ran.unlink()


def test_a_wrong_file_is_one_paragraph(site: Site) -> None:
    config = site.folder / "textreg.toml"
    config.write_text("[plugins]\ndisabled = []\n")
    shown, version = site.session([["plugins"], ["--version"]])
    config.unlink()
    assert shown[:2] == (2, "")
    assert shown[2] == (
        f"Error: {config}: there is no key of [plugins] 'disabled'. Did you mean 'disable'? "
        "Known: disable, allow.\n"
    )
    assert version[0] == 0
