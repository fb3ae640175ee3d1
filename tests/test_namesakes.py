"""Distributions whose parts are called as those of textreg, or as those of each other."""

from __future__ import annotations

import json

import pytest
from distributions import Distribution, unpack
from sites import Site
from thoroughness import skipping_fresh

from textreg.plugins.distributions import API

CODE = """\
import pathlib
import textreg.builtin.group_builders, textreg.builtin.separable, textreg.builtin.groups
import textreg.builtin.graph_builders, textreg.builtin.group_builders, textreg.builtin.tokenizers
import textreg.builtin.greedy, textreg.builtin.network, textreg.builtin.groups
from textreg import builtin, losses
from textreg.hookspecs import hookimpl

pathlib.Path(__file__).with_suffix(".ran").touch()
REGULARIZERS = [builtin.separable.Lasso, builtin.separable.Elastic, builtin.groups.Sentence]
REGULARIZERS += [builtin.groups.Group, builtin.network.Network, builtin.separable.Auto]

def namesakes(classes):
    body = {"__doc__": "x", "__module__": __name__}
    made = {cls.__name__: type(cls.__name__, (cls,), dict(body)) for cls in classes}
    globals().update(made)
    return list(made.values())

@hookimpl
def textreg_tokenizers(): return namesakes([builtin.tokenizers.Words])
@hookimpl
def textreg_group_builders(): return namesakes([builtin.group_builders.Sentences])
@hookimpl
def textreg_graph_builders(): return namesakes([builtin.graph_builders.Cooccurrence])
@hookimpl
def textreg_regularizers(): return namesakes(REGULARIZERS)
@hookimpl
def textreg_losses(): return namesakes([losses.Logistic, losses.Squared])
"""
NAMES = {
    "regularizer": ["lasso", "elastic", "sentence", "group", "network", "auto"],
    "tokenizer": ["words"],
    "groups": ["sentences"],
    "graph": ["cooccurrence"],
    "loss": ["logistic", "squared"],
}
PARTS = [f"{kind}.{name}" for kind, names in NAMES.items() for name in names]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("namesakes"))
    installed = [
        Distribution(name, CODE, dict.fromkeys(PARTS, name), api=str(API))
        for name in ("acme", "other")
    ]
    unpack(installed, made.folder / "wheels", made.target)
    (made.folder / "own.py").write_text(CODE)
    return made


def ran(site: Site) -> list[str]:
    paths = [*site.target.glob("*.ran"), *site.folder.glob("*.ran")]
    names = sorted(path.stem for path in paths)
    for path in paths:
        path.unlink()
    return names


FIT = """
import textreg
texts, labels = ["good film", "bad film"] * 10, ["p", "n"] * 10
for make in (textreg.TextClassifier, lambda **given: textreg.TextRegressor(**given)):
    part = make(ngrams=1, cv=2)
    numbers = labels if make is textreg.TextClassifier else [1.0, 2.0] * 10
    model = part.fit(texts, numbers).model_
    print({one.distribution for one in model.summary.plugins})
    part.set_params(tokenizer__min_length=2)
print({one.distribution for one in textreg.train(texts, labels, ngrams=1, cv=2).summary.plugins})
"""


def test_nobody_asked_for_them(site: Site) -> None:
    pair = ["--reg", "textreg:lasso reg-l1=0.1"]
    pair += ["--reg", "textreg:network reg-alpha=0.1 reg-beta=0.1"]
    results = site.session(
        [
            site.train("--cv 2"),
            site.train("--reg auto --tokenizer auto --loss logistic --cv 2", "named.textreg"),
            site.train("--reg textreg:sentence --cv 2", "grouped.textreg"),
            site.train("--task regression --loss squared", "x.textreg"),
            ["train", "--help"],
            ["groups", "corpus.jsonl"],
            ["compare", "corpus.jsonl", *pair, "--ngrams", "1", "--cv", "2"],
            ["explain", "model.textreg", "good film", "--groups"],
            ["report", "model.textreg", "corpus.jsonl", "--train", "corpus.jsonl"],
            ["show", "model.textreg", "--json"],
            ["predict", "model.textreg", "corpus.jsonl"],
        ]
    )
    for code, _, err in results:
        assert "are called" not in err
        assert code == 0 or "--dev" in err or "numbers" in err or "No such option" in err, err
    done = site.python("-c", FIT)
    assert done.stdout == "{'textreg'}\n" * 3, done.stderr
    assert ran(site) == []


def test_whoever_names_one_says_which(site: Site) -> None:
    bare, ours, theirs, blocked, least = site.session(
        [
            site.train("--reg lasso --reg-l1 0.1"),
            site.train("--reg textreg:lasso --reg-l1 0.1"),
            site.train("--reg acme:lasso --reg-l1 0.1"),
            ["--no-plugin", "acme:lasso", *site.train("--reg lasso --reg-l1 0.1")],
            ["--no-plugin", "other", *site.train("--reg lasso --reg-l1 0.1 --json")],
        ]
    )
    assert (bare[0], bare[1]) == (2, "")
    assert "3 regularizers are called 'lasso': " in bare[2]
    assert "textreg:lasso" in bare[2]
    assert "acme:lasso" in bare[2]
    assert (ours[0], theirs[0]) == (0, 0)
    assert "2 regularizers are called 'lasso': " in blocked[2]
    assert least[0] == 0, least[2]
    (reg,) = [part for part in json.loads(least[1])["plugins"] if part["kind"] == "regularizer"]
    assert reg["distribution"] == "textreg"
    assert ran(site) == ["acme"]


def test_a_default_builder_is_the_neighbor(site: Site) -> None:
    """The builder of the regularizer's own distribution, where that has one of the name."""
    ((code, out, err),) = site.session([site.train("--reg acme:sentence --json")])
    assert code == 0, err
    origins = {part["kind"]: part["distribution"] for part in json.loads(out)["plugins"]}
    assert origins["regularizer"] == origins["groups"] == "acme"
    assert origins["tokenizer"] == "textreg"
    assert ran(site) == ["acme"]


def test_a_file_beside_installed_ones(site: Site) -> None:
    options = "--reg lasso --reg-l1 0.1 --tokenizer words --json"
    trained, listed, other, predicted = site.session(
        [
            ["--plugin", "own.py", *site.train(options, "own.textreg")],
            ["plugins", "list", "--json"],
            ["--plugin", "own.py", *site.train(options.replace("lasso", "acme:lasso"))],
            ["predict", "own.textreg", "corpus.jsonl"],
        ]
    )
    origins = {part["kind"]: part for part in json.loads(trained[1])["plugins"]}
    assert {origins[kind].get("file") for kind in ("regularizer", "tokenizer")} == {"own.py"}
    rows = [row for row in json.loads(listed[1]) if row["name"] == "lasso"]
    assert sorted(row["status"] for row in rows) == [
        "hidden: write acme:lasso", "hidden: write other:lasso", "hidden: write textreg:lasso",
        "ok",
    ]  # fmt: skip
    origins = {part["kind"]: part for part in json.loads(other[1])["plugins"]}
    assert origins["regularizer"]["distribution"] == "acme"
    assert (predicted[0], predicted[2]) == (0, "")
    ((code, _, err),) = site.session([["predict", "own.textreg", "corpus.jsonl"]])
    assert (code, "own.py" in err) == (1, True)
    ran(site)


def test_a_model_has_that_of_its_distribution(site: Site) -> None:
    trained, predicted = site.session(
        [
            site.train("--tokenizer other:words --reg textreg:lasso --reg-l1 0.1", "o.textreg"),
            ["predict", "o.textreg", "corpus.jsonl"],
        ]
    )
    assert (trained[0], predicted[0], predicted[2]) == (0, 0, "")
    assert ran(site) == ["other"]


def test_commands_on_plugins(site: Site) -> None:
    quick = skipping_fresh("tokenizer")
    listed, of_file, doctor, helped, checked = site.session(
        [
            ["plugins", "list"],
            ["--plugin", "own.py", "plugins", "check", "own.py:words", *quick],
            ["plugins", "doctor", "acme:elastic"],
            ["train", "--reg", "acme:lasso", "--help"],
            ["plugins", "check", "tokenizer.other:words", *quick],
        ]
    )
    (row,) = [
        line for line in listed[1].splitlines() if line.startswith("lasso") and "acme" in line
    ]
    expected = ["lasso", "regularizer", "acme", "0.3", str(API), "clash:", "write", "acme:lasso"]
    assert row.split() == expected
    assert [done[0] for done in (of_file, checked)] == [0, 0], checked
    assert "1 tried, 0 broken" in doctor[1]
    assert "Regularizer lasso (--reg)" in helped[1]
    ran(site)
