"""Models that name the tokenizer of a plugin: what happens where it is, and where it is not."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from distributions import Distribution, one_part, unpack
from model_files import content
from sites import Site

RAN = 'import pathlib\npathlib.Path(__file__).with_suffix(".ran").touch()\n'
BODY = """\
    lower: bool = param(default=True, help='small letters')
    def __call__(self, text):
        return [text.lower().split()]
"""
SPACES = one_part("tokenizer", "spaces", BODY, version="1.3.0")
LATER = replace(SPACES, version="2.0")
OTHER = one_part("tokenizer", "spaces", BODY, module="other")
RENAMED = replace(
    LATER,
    code=LATER.code.replace("'spaces'", "'blanks'"),
    entries={"tokenizer.blanks": "acme_spaces"},
)
STRICTER = replace(LATER, code=LATER.code.replace("lower: bool", "small: bool"))
BROKEN = replace(SPACES, code="import jaxx\n")
PREDICT = ["predict", "model.textreg", "corpus.jsonl"]
SHOW = ["show", "model.textreg", "--json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It holds a model made with acme-spaces 1.3.0."""
    return tmp_path_factory.mktemp("models")


def make(folder: Path, target: str, *distributions: Distribution) -> Site:
    site = Site(folder, target)
    marked = [replace(one, code=RAN + one.code) for one in distributions]
    unpack(marked, folder / f"wheels-{target}", site.target)
    return site


@pytest.fixture(scope="module")
def site(folder: Path) -> Site:
    made = make(folder, "right", SPACES)
    train = made.train("--reg lasso --reg-l1 0.1 --tokenizer spaces --no-tokenizer-lower")
    ((code, _, err),) = made.session([train])
    assert (code, err) == (0, "")
    return made


def ran(site: Site) -> bool:
    return bool(list(site.target.glob("*.ran")))


def test_the_model_names_it(site: Site) -> None:
    header, _ = content(site.folder / "model.textreg")
    origin = {"distribution": "acme-spaces", "version": "1.3.0", "api": 1}
    assert header["parts"][0]["tokenizer"] == {
        "name": "spaces",
        "params": {"lower": False},
        "forms_ngrams": True,
        **origin,
    }
    tokenizer, *others = header["summary"]["plugins"]
    assert tokenizer == {"kind": "tokenizer", "name": "spaces", **origin}
    assert [part["kind"] for part in others] == ["regularizer", "loss"]
    assert {part["distribution"] for part in others} == {"textreg"}


def test_with_it(site: Site) -> None:
    predicted, shown = site.session([PREDICT, SHOW])
    assert (predicted[0], predicted[1].split(), predicted[2]) == (0, ["p"] * 20 + ["n"] * 20, "")
    facts = json.loads(shown[1])
    assert facts["plugins"] == ["tokenizer spaces of acme-spaces 1.3.0 (API 1)"]
    assert "needs" not in facts


def test_without_it(site: Site, folder: Path) -> None:
    predicted, shown, explained = Site(folder, "nothing").session(
        [PREDICT, SHOW, ["explain", "model.textreg", "good film"]]
    )
    needed = (
        "the tokenizer 'spaces' of acme-spaces 1.3.0, which is not installed: "
        "pip install acme-spaces==1.3.0"
    )
    assert predicted == explained
    assert predicted == (
        1,
        "",
        f"Error: model.textreg needs {needed} (without it, textreg show model.textreg still "
        "works)\n",
    )
    facts = json.loads(shown[1])
    assert (shown[0], shown[2], facts["needs"]) == (0, "", needed)
    assert facts["tokenizer"] == {"name": "spaces", "lower": False}
    assert facts["top"]["n"] or facts["top"]["p"]


def test_one_of_that_name_from_elsewhere_is_not_taken(site: Site, folder: Path) -> None:
    other = make(folder, "other", OTHER)
    predicted, shown = other.session([PREDICT, SHOW])
    assert (predicted[0], shown[0]) == (1, 0)
    assert "acme-spaces 1.3.0, which is not installed" in predicted[2]
    assert not ran(other)


def test_another_version_works_with_a_warning(site: Site, folder: Path) -> None:
    later = make(folder, "later", LATER)
    predicted, shown = later.session([PREDICT, SHOW])
    assert (predicted[0], predicted[1].split()) == (0, ["p"] * 20 + ["n"] * 20)
    assert predicted[2] == (
        "Warning: model.textreg was made with acme-spaces 1.3.0, but 2.0 is installed: its "
        "tokenizer may give other words. To get the same version: pip install acme-spaces==1.3.0\n"
    )
    assert (shown[0], shown[2]) == (0, "")


@pytest.mark.parametrize(
    ("target", "distribution", "says"),
    [
        ("renamed", RENAMED, r"no tokenizer 'acme-spaces:spaces'\..* Installed: acme-spaces:blan"),
        ("stricter", STRICTER, r"spaces: no parameter 'lower'\."),
        ("broken", BROKEN, r"acme-spaces 1\.3\.0 cannot be loaded: it needs 'jaxx', .*pip install"),
    ],
)
def test_one_that_does_not_fit(
    site: Site, folder: Path, target: str, distribution: Distribution, says: str
) -> None:
    predicted, shown = make(folder, target, distribution).session([PREDICT, SHOW])
    assert predicted[:2] == (1, "")
    error = predicted[2].splitlines()[-1]
    assert error.startswith(
        "Error: model.textreg needs the tokenizer 'spaces' of acme-spaces 1.3.0:"
    )
    assert re.search(says, error)
    assert shown[0] == 0


def test_blocked_it_is_not_imported(folder: Path, site: Site) -> None:
    blocked = make(folder, "blocked", SPACES)
    config = folder / "textreg.toml"
    config.write_text("[plugins]\nallow = []\n")
    by_file = blocked.session([PREDICT, SHOW])
    config.unlink()
    by_flag = blocked.session([["--no-plugin", "spaces", *PREDICT], SHOW])
    for (predicted, shown), why in [
        (by_file, f"allow in {config}, which does not name it"),
        (by_flag, "--no-plugin or block()"),
    ]:
        assert predicted == (
            1,
            "",
            "Error: model.textreg needs the tokenizer 'spaces' of acme-spaces 1.3.0: the tokenizer "
            f"'spaces' is blocked by {why}. Allow it, or take another: chars, value, words.\n",
        )
        assert (shown[0], shown[2]) == (0, "")
    assert not ran(blocked)


def test_showing_imports_nothing(folder: Path, site: Site) -> None:
    shown = make(folder, "shown", SPACES)
    results = shown.session([["show", "model.textreg"], SHOW])
    assert [code for code, _, _ in results] == [0, 0]
    assert not ran(shown)
    assert shown.session([PREDICT])[0][0] == 0
    assert ran(shown)


REGISTER = """
import textreg
from textreg.kinds import Tokenizer

class Spaces(Tokenizer):
    name = "spaces"
    def __call__(self, text): return [text.split()]

textreg.register(Spaces)
texts, labels = ["good film", "bad film"] * 10, ["p", "n"] * 10
textreg.train(texts, labels, tokenizer="spaces", reg="lasso", reg_l1=0.1).save("own.textreg")
print(textreg.load("own.textreg").predict(["good"]))
"""


def test_one_that_a_program_had_registered(folder: Path, site: Site) -> None:
    """It may have become a distribution since; another of its name is taken, but not silently."""
    bare = Site(folder, "nothing")
    made = bare.python("-W", "error", "-c", REGISTER)
    assert made.stdout == "['p']\n", made.stderr
    predict = ["predict", "own.textreg", "corpus.jsonl"]
    ((code, _, err),) = bare.session([predict])
    assert code == 1
    assert "own.textreg needs the tokenizer 'spaces': no tokenizer 'spaces'. " in err
    ((code, out, err),) = site.session([predict])
    assert (code, len(out.split())) == (0, 40)
    assert err == (
        "Warning: own.textreg was made with a tokenizer 'spaces' that a program had registered; "
        "the one of acme-spaces 1.3.0 is used instead, and may give other words.\n"
    )


def test_names_in_a_model_cannot_act_on_the_screen(tmp_path: Path) -> None:
    """Features, labels and errors come from whoever made the file."""
    site = Site(tmp_path)
    (tmp_path / "loud.csv").write_text("text,label\ngood\x9b31m film,p\x9b1m\nbad film,n\n" * 9)
    code = "    def __call__(self, text):\n        return [text.split()]\n"
    unpack([one_part("tokenizer", "loud", code)], tmp_path, site.target)
    train = "train loud.csv --tokenizer loud --reg lasso --reg-l1 0.1 -o m --ngrams 1".split()
    trained, shown, refused = site.session(
        [train, ["show", "m"], ["explain", "m", "good film", "--of", "x\x9b2m"]]
    )
    assert (trained[0], shown[0], refused[0]) == (0, 0, 2), refused
    assert "good\N{REPLACEMENT CHARACTER}31m" in shown[1]
    assert "\np\N{REPLACEMENT CHARACTER}1m\n" in shown[1]
    for _, out, err in (trained, shown, refused):
        assert "\x9b" not in out + err
