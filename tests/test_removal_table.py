"""Sentences beside each other for several models, against each model's own explanation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import textreg
from textreg.errors import UsageError
from textreg.explain import explain, find_selection
from textreg.explain.removal_table import removal_tables
from textreg.model.model import Model
from textreg.records import Corpus

TEXTS = [
    "A superb film. We sat in row four.",
    "Superb actors! The hall was cold.",
    "Superb plot, superb film. We went by bus.",
    "An awful film. The hall was cold.",
    "Awful actors. We sat in row four.",
    "An awful plot. We went by bus.",
]
LABELS = ["p", "p", "p", "n", "n", "n"]
TEXT = "Superb hall. We sat by an awful bus! Nothing known."


def train(labels: Any = LABELS, **options: Any) -> Model:
    return textreg.train(TEXTS, labels, **{"ngrams": 1, **options})


def sentence(labels: Any = LABELS, **options: Any) -> Model:
    return train(labels, reg="sentence", reg_group=0.02, reg_l1=0.2, **options)


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {"sentence": sentence(), "ridge": train(reg="ridge", reg_l2=0.1)}


def test_columns_are_what_each_model_says_alone(models: dict[str, Model]) -> None:
    for of in (None, "n"):
        (table,) = removal_tables(models, [TEXT], of)
        assert table.of == of or (of is None and table.of == models["sentence"].predict([TEXT])[0])
        assert table.sentences == ["Superb hall.", "We sat by an awful bus!", "Nothing known."]
        for column in table.columns:
            (alone,) = explain(models[column.model], [TEXT], table.of)
            assert column.predicted == alone.label
            assert column.removals == tuple(one.removal for one in alone.sentences)
            assert table.spans == tuple((one.start, one.end) for one in alone.sentences)
            assert column.log_odds


def test_selected_are_sentences_with_a_weight(models: dict[str, Model]) -> None:
    (table,) = removal_tables(models, [TEXT])
    own, ridge = table.columns
    assert own.selected == (True, True, False)  # superb, awful
    assert ridge.selected is None


@pytest.mark.parametrize("labels", [LABELS, ["a", "b", "c", "a", "b", "c"]])
def test_selected_of_training_documents_are_those_of_the_training(labels: list[str]) -> None:
    model = sentence(labels)
    selection = find_selection(model, Corpus(texts=TEXTS, labels=labels), 100)
    tables = removal_tables({"one": model}, TEXTS, labels[0])
    chosen = sum(sum(table.columns[0].selected or ()) for table in tables)
    assert chosen == selection.selected
    assert 0 < chosen < selection.groups


def test_of_latent_groups_nothing_is_known_of_other_texts() -> None:
    latent = train(reg="latent", groups="sentences", reg_group=0.1)
    assert latent.summary is not None
    assert latent.summary.parts
    (table,) = removal_tables({"latent": latent}, [TEXT])
    assert table.columns[0].selected is None


def test_numbers_several_labels_and_scores() -> None:
    numbers = [3.0, 2.0, 3.0, -3.0, -2.0, -1.0]
    pair = {name: train(numbers, reg=name, task="regression") for name in ("ridge", "lasso")}
    (table,) = removal_tables(pair, [TEXT])
    assert table.of == ""
    assert [one.log_odds for one in table.columns] == [False, False]
    (alone,) = explain(pair["ridge"], [TEXT])
    assert table.columns[0].removals == tuple(one.removal for one in alone.sentences)

    several = [["p"], ["p", "q"], ["p", "q"], ["n"], ["n"], ["n", "q"]]
    sets = {name: train(several, reg=name) for name in ("ridge", "none")}
    text = TEXTS[1]
    found = list(removal_tables(sets, [text]))
    assert [table.of for table in found] == [one.of for one in explain(sets["ridge"], [text])]
    assert len(found) > 1


def test_other_questions_are_refused(models: dict[str, Model]) -> None:
    own = models["sentence"]
    numbers = train([3.0, 2.0, 3.0, -3.0, -2.0, -1.0], reg="ridge", task="regression")
    for other, words in [
        (numbers, "one is a classification and two a regression: name models of one task"),
        (
            train(["p", "x", "x", "n", "n", "n"], reg="ridge", reg_l2=0.1),
            "two has the label 'x' and one has",
        ),
        (train(reg="ridge", tokenizer_sentences="lines"), r"different sentences \(3 and 1\)"),
    ]:
        with pytest.raises(UsageError, match=words):
            list(removal_tables({"one": own, "two": other}, [TEXT]))
    with pytest.raises(UsageError, match="no label 'x'"):
        removal_tables(models, iter([TEXT]), "x")
    with pytest.raises(UsageError, match="at least one model"):
        removal_tables({}, [TEXT])


@pytest.fixture
def files(models: dict[str, Model], tmp_path: Path) -> list[Path]:
    paths = []
    for name, model in models.items():
        paths.append(tmp_path / f"{name}.textreg")
        model.save(paths[-1])
    return paths


def test_command(cli: Cli, files: list[Path], models: dict[str, Model], tmp_path: Path) -> None:
    (table,) = removal_tables(models, [TEXT], "p")
    own, ridge = table.columns
    code, out, err = cli("explain", *files, "--text", TEXT, "--of", "p")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "log-odds of p lost without each sentence"
    assert lines[1].split() == ["sentence", "ridge"]
    assert lines[2].split() == [own.predicted, ridge.predicted, "(predicted)"]
    first, second = own.removals[0], ridge.removals[0]
    assert lines[3].split() == ["*", f"{first:+.3f}", f"{second:+.3f}", "Superb", "hall."]
    assert "*" not in lines[5]
    assert lines[6:] == ["* selected: a feature of the sentence has a weight"]
    assert cli("explain", *files, TEXT, "--of", "p").out == out

    document = json.loads(cli("explain", *files, TEXT, "--of", "p", "--json").out)
    assert document == {"models": [str(path) for path in files], "tables": [table.to_dict()]}
    (one, *_) = document["tables"][0]["sentences"]
    assert one["models"] == {
        "sentence": {"removal": first, "selected": True},
        "ridge": {"removal": second},
    }
    corpus = tmp_path / "texts.txt"
    corpus.write_text(f"{TEXT}\n{TEXTS[0]}\n", encoding="utf-8")
    run = cli("explain", *files, corpus, "--of", "p", "--format", "jsonl")
    assert [json.loads(line)["text"] for line in run.out.splitlines()] == [TEXT, TEXTS[0]]
    assert json.loads(run.out.splitlines()[0]) == table.to_dict()
    assert cli("explain", *files, corpus).out.count("lost without each sentence") == 2


def test_command_of_models_without_probabilities(
    cli: Cli, files: list[Path], tmp_path: Path
) -> None:
    margin = tmp_path / "margin.textreg"
    train(reg="ridge", loss="squared-hinge").save(margin)
    lines = cli("explain", files[1], margin, TEXT).out.splitlines()
    assert lines[0].startswith("log-odds of ")
    assert lines[-1] == "without probabilities, so the loss is that of the score: margin"


def test_command_refuses(cli: Cli, files: list[Path], tmp_path: Path) -> None:
    for arguments, words in [
        ((*files, TEXT, "More."), "'More.' is one text, file or model too many"),
        ((*files, files[0], TEXT), "is named twice"),
        ((*files, TEXT, "--text", TEXT), "--text explains a text in place of a file"),
        ((*files, "--train", "x.csv"), "--train is of one model"),
        ((*files, "x.csv", "--evidence-col", "e"), "--evidence-col is of one model"),
        ((*files, ""), "the text is empty"),
        ((*files, TEXT, "--of", "x"), "no label 'x'"),
    ]:
        code, out, err = cli("explain", *arguments)
        assert (code, out) == (2, ""), arguments
        assert words in err
        assert err.count("\n") == 1


def test_control_characters_do_not_reach_the_terminal(cli: Cli, files: list[Path]) -> None:
    assert "\x1b" not in cli("explain", *files, "Superb \x1b[31m hall.").out
