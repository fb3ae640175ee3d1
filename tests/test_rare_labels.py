"""Labels of few documents: left out, joined, or refused with both named; and columns of ids."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.errors import DataError, DataWarning, UsageError
from textreg.model.storage import load_model
from textreg.records import Corpus
from textreg.tasks import Rare, classification, read_target
from textreg.tasks.base import several_labels, sounds_like_ids
from textreg_report import report
from textreg_report.benchmark import Benchmark, compare

COUNTS = {"ape": 12, "bee": 12, "cat": 3, "dog": 1, "elk": 1}
LABELS = [name for name, count in COUNTS.items() for _ in range(count)]
TEXTS = [f"the {name}s are w{at} here" for at, name in enumerate(LABELS)]
GIVEN = {"reg": "ridge", "reg_l2": 1e-3, "ngrams": 1}
LEFT_OUT = r"left out 2 labels with fewer than 2 .*, 2 of 29 documents: 'dog' \(1\), 'elk' \(1\)"


def write(path: Path, labels: list[str] = LABELS, texts: list[str] = TEXTS) -> Path:
    rows = zip(texts, labels, strict=True)
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    return path


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "zoo.tsv")


def test_the_refusal_names_both_options(cli: Cli, zoo: Path) -> None:
    result = cli("train", zoo, "--reg", "ridge")
    assert result.code == 1
    assert "The label 'dog' has one document only" in result.err
    assert "--min-label 2" in result.err
    assert "(--min-label 2:other)" in result.err
    with pytest.raises(DataError, match=r"fewer than three .*\(--min-label 3\)"):
        compare(["lasso", "ridge"], Benchmark("zoo", train=(TEXTS, LABELS)))
    groups = ["g1" if name == "cat" else f"g{at}" for at, name in enumerate(LABELS)]
    some = [row for row, name in enumerate(LABELS) if COUNTS[name] > 1]
    texts, labels, of = ([each[row] for row in some] for each in (TEXTS, LABELS, groups))
    with pytest.raises(DataError, match=r"none with the label 'cat'.*\(--min-label 4\)"):
        textreg.train(texts, labels, reg="ridge", group_of=of)
    with pytest.warns(DataWarning, match="'cat'"):
        model = textreg.train(texts, labels, reg="ridge", group_of=of, min_label=4)
    assert model.labels == ("ape", "bee")


@pytest.mark.parametrize("options", [["--min-label", 2], ["--min-label", "2:other"]])
def test_what_was_selected_is_of_the_documents_of_training(
    options: list[Any], cli: Cli, zoo: Path
) -> None:
    strengths = ["--reg", "sentence", "--reg-group", 0.01, "--reg-l1", 0.1, "--reg-l2", 0]
    assert cli("train", zoo, *strengths, *options, "-o", "m.textreg").code == 0
    result = cli("explain", "m.textreg", "--train", zoo)
    assert "this is not the corpus of the training" not in result.out
    documents = 27 if options[1] == 2 else 29
    assert result.out.startswith(f"corpus: {documents} documents")


def test_left_out(cli: Cli, zoo: Path) -> None:
    ridge = ["--reg", "ridge", "--reg-l2", 0.1]
    result = cli("train", zoo, *ridge, "--min-label", 2, "-o", "m.textreg", "--json")
    assert "Warning: left out 2 labels" in result.err
    document = json.loads(result.out)
    assert document["rare"] == {"least": 2, "label": None, "labels": {"dog": 1, "elk": 1}}
    assert document["documents"] == 27
    model = load_model("m.textreg")
    assert model.labels == ("ape", "bee", "cat")
    assert "elks" not in model.encoder.names
    # to the model as if these documents had never been
    few = [row for row, name in enumerate(LABELS) if COUNTS[name] > 1]
    texts, labels = ([column[row] for row in few] for column in (TEXTS, LABELS))
    same = textreg.train(texts, labels, reg="ridge", reg_l2=0.1)
    assert np.array_equal(model.weights, same.weights)
    result = cli("evaluate", "m.textreg", zoo, "--json")
    assert "labels that the model does not know, in 2 of 29 documents" in result.err
    assert json.loads(result.out)["accuracy"] == pytest.approx(27 / 29)


def test_joined(cli: Cli, zoo: Path) -> None:
    options = ["--reg", "ridge", "--reg-l2", 0.1, "--min-label", "2:other"]
    result = cli("train", zoo, *options, "-o", "m.textreg")
    assert (result.code, result.err) == (0, "")
    assert "joined into other: 2 labels, dog 1, elk 1" in result.out
    assert "labels: ape 12, bee 12, cat 3, other 2" in result.out
    model = load_model("m.textreg")
    assert model.task.rare_label == "other"
    test = write(zoo.parent / "test.tsv", ["ape", "dog", "owl"], ["the apes", "the dogs", "apes"])
    result = cli("evaluate", "m.textreg", test, "--json")
    assert "'dog' (1), 'owl' (1)." in result.err
    assert "They count as 'other'." in result.err
    document = json.loads(result.out)
    assert document["accuracy"] == pytest.approx(2 / 3)
    assert document["unknown"] == []
    assert document["confusion"][3] == [1, 0, 0, 1]


def test_joined_labels_are_right_in_a_comparison_and_a_report() -> None:
    test = Corpus(["the apes", "the dogs", "apes"], ["ape", "dog", "owl"])
    one = textreg.train(TEXTS, LABELS, rare_label="other", **GIVEN)
    two = textreg.train(TEXTS, LABELS, **GIVEN)
    with pytest.warns(DataWarning, match="count as"):
        result = compare({"one": one, "two": two}, Benchmark("zoo", test=test))
    assert [cell.accuracy for cell in result.measured] == pytest.approx([2 / 3, 2 / 3])
    assert (result.contrast("two").won, result.contrast("two").lost) == (0, 0)
    with pytest.warns(DataWarning, match="count as 'other'"):
        page = report(one, test, train=Corpus(TEXTS, LABELS))
    assert [label.label for label in page.scores.labels] == ["ape", "bee", "cat", "other"]
    rare = "labels of fewer than 2 documents, joined into other"
    assert dict(page.facts)[rare] == "dog 1, elk 1"
    assert page.reproduce.commands[-1][1].count("--min-label 2:other") == 1


def test_a_comparison_leaves_them_out_before_it_holds_out() -> None:
    with pytest.warns(DataWarning, match="left out 2 labels"):
        result = compare(
            [{"reg": "lasso", "reg_l1": 0.1}, {"reg": "ridge", "reg_l2": 0.1}],
            Benchmark("zoo", train=(TEXTS, LABELS)),
            ngrams=1,
            min_label=3,
        )
    assert result.measured[0].documents >= 5
    with pytest.warns(DataWarning, match="left out 2 labels"):  # features are of what is left
        result = compare(
            [{"reg": "lasso", "reg_l1": 0.1, "min_label": 2}, {"reg": "ridge", "reg_l2": 0.1}],
            Benchmark("zoo", train=(TEXTS, LABELS), test=(TEXTS[:20], LABELS[:20])),
            ngrams=1,
        )
    sizes = {one.candidate: one.of for one in result.measured}
    assert sizes["lasso"] < sizes["ridge"]


def test_how_many_a_label_needs() -> None:
    corpus = Corpus(TEXTS, LABELS)
    settings = textreg.training.settings.TrainingSettings.from_options
    assert settings(reg="ridge").rare == Rare(0, None)
    assert settings(reg="ridge", rare_label="other").rare == Rare(2, "other")
    assert settings(reg="ridge", rare_label="other", cv=5).rare == Rare(5, "other")
    assert settings(reg="ridge", rare_label="other", cv=5, min_label=3).rare == Rare(3, "other")
    # documents without a weight do not count
    weights = np.where(np.array(LABELS) == "cat", [1, 0, 1] * 9 + [1, 1], 1)
    weighted = Corpus(TEXTS, LABELS, sample_weight=weights)
    assert read_target(weighted, rare=Rare(3, "other")).rare == {"cat": 2, "dog": 1, "elk": 1}
    # the label may be there, and is never rare itself
    posed = read_target(corpus, rare=Rare(2, "elk"))
    assert posed.rare == {"dog": 1}
    assert posed.target.task.rare_label == "elk"
    assert posed.target.task.labels == ("ape", "bee", "cat", "elk")
    # nothing is rare, so nothing is joined
    assert read_target(corpus, rare=Rare(1, "other")).target.task.rare_label is None


def test_refused() -> None:
    with pytest.raises(DataError, match=r"3 of 4 labels .* 'ape', has 12. Lower --min-label"):
        read_target(Corpus(TEXTS[:12] + TEXTS[-5:], LABELS[:12] + LABELS[-5:]), rare=Rare(9))
    with pytest.raises(UsageError, match="min_label"):
        textreg.train(TEXTS, LABELS, min_label=0)
    for option in ({"min_label": 2}, {"rare_label": "x"}):
        with pytest.raises(UsageError, match="a regression has no labels"):
            textreg.train(TEXTS, ["1"] * len(TEXTS), task="regression", reg="ridge", **option)
    with pytest.raises(UsageError, match="joined into 'x', which is not a label"):
        type(classification(("a", "b")))(("a", "b"), rare_label="x")


def test_estimators() -> None:
    ridge = textreg.Ridge(l2=0.1)
    classifier = textreg.TextClassifier(ridge, ngrams=1, rare_label="other").fit(TEXTS, LABELS)
    assert classifier.classes_.tolist() == ["ape", "bee", "cat", "other"]
    assert classifier.predict(["the elks", "the apes"]).tolist() == ["other", "ape"]
    numbers = [100 + sorted(COUNTS).index(name) for name in LABELS]
    classifier = textreg.TextClassifier(ridge, ngrams=1, rare_label="-1").fit(TEXTS, numbers)
    assert classifier.classes_.tolist() == [-1, 100, 101, 102]
    assert classifier.classes_.dtype == np.array(numbers).dtype
    assert classifier.predict(["the elks", "the apes"]).tolist() == [-1, 100]
    assert classifier.predict_proba(["the elks"])[0].argmax() == 0
    with pytest.warns(DataWarning, match=LEFT_OUT.replace("dog", "103").replace("elk", "104")):
        classifier = textreg.TextClassifier(ridge, ngrams=1, min_label=2).fit(TEXTS, numbers)
    assert classifier.classes_.tolist() == [100, 101, 102]
    assert classifier.score(TEXTS, numbers) == pytest.approx(27 / 29)
    classifier.set_params(rare_label="9").fit(TEXTS, np.array(numbers, dtype=np.float64))
    assert classifier.classes_.tolist() == [9.0, 100.0, 101.0, 102.0]
    assert classifier.predict(["the elks", "the apes"]).tolist() == [9.0, 100.0]
    with pytest.raises(DataError, match="rare_label is '300', but the labels in y are of the type"):
        classifier.set_params(rare_label="300").fit(TEXTS, np.array(numbers, dtype=np.int8))
    with pytest.raises(DataError, match="rare_label is 'other', but the labels in y are of the"):
        textreg.TextClassifier("ridge", rare_label="other").fit(TEXTS, numbers)


def test_a_column_of_ids_is_told(cli: Cli, zoo: Path) -> None:
    ids = write(zoo.parent / "ids.tsv", [str(uuid.UUID(int=at)) for at in range(len(TEXTS))])
    result = cli("train", ids, "--reg", "ridge")
    assert result.code == 1
    assert "29 documents have 29 different labels in the column 'label'" in result.err
    assert "they look like ids. Check the choice of the label column (--label-col)" in result.err


@pytest.mark.parametrize("pattern", ["{}", "{}.5", "doc-{}", "R{}", "2024-01-{}", "0f{}ab77"])
def test_what_looks_like_an_id(pattern: str) -> None:
    labels = [pattern.format(number) for number in range(30)]
    assert "they look like ids" in sounds_like_ids(labels, 30, "")
    assert "few documents share one" in sounds_like_ids([*labels, "positive"], 31, "")
    assert not sounds_like_ids(labels * 2, 30, "")  # two documents each are a label
    assert not sounds_like_ids(labels[:10], 10, "")  # so few may be one of each


@pytest.mark.parametrize("separator", [";", "; ", "|", ","])
def test_labels_that_are_lists_are_told(separator: str, cli: Cli, zoo: Path) -> None:
    pairs = [separator.join((animal, size)) for animal in "abcd" for size in "stu"] * 3
    path = zoo.parent / "pairs.jsonl"
    rows = [{"text": f"word {label[0]} {label[-1]}", "label": label} for label in pairs]
    path.write_text("\n".join(map(json.dumps, rows)))
    result = cli("train", path, "--reg", "ridge", "--reg-l2", "1", "-o", zoo.parent / "m")
    assert result.code == 0
    assert f"36 of 36 documents have labels such as '{pairs[0]}', and 12 labels" in result.err
    assert "have 7 parts: if a document has several labels, say what" in result.err
    assert f"(--label-sep '{separator.strip()}'), or" in result.err


@pytest.mark.parametrize(
    "labels",
    [
        ["good", "bad"],
        ["Paris, France", "Bonn, Germany"],
        [f"{whole},{tenth}" for whole in range(9) for tenth in (0, 5)],
        [*"abcdefghijk", "a;b"] * 2,
        [";", "a", "b;"],
        [],
    ],
    ids=str,
)
def test_labels_that_are_no_lists(labels: list[str]) -> None:
    assert not several_labels(Counter(labels))


def test_what_is_joined_may_be_too_few_as_well() -> None:
    texts, labels = ["good", "bad", "odd", "x"] * 9, ["p", "n", "p", "q"] * 9
    alone = {"reg": "ridge", "reg_l2": 0.1, "rare_label": "other"}
    with pytest.raises(
        DataError, match=r"have 1 together, too few for a label 'other'.*--min-label 10 or more\)"
    ):
        textreg.train([*texts, "y"], [*labels, "lone"], **alone)
    joined = textreg.train([*texts, "y"], [*labels, "lone"], **alone, min_label=10)
    assert joined.labels == ("other", "p")
