"""Sentences beside each other for several models, against each model's own explanation."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from pages import Page

import textreg
from textreg.errors import UsageError
from textreg.explain import explain, find_selection
from textreg.explain.sentences import RemovalColumn, RemovalTable, as_latex, removal_tables
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
    return train(labels, reg="sentence", reg_group=0.02, reg_l1=0.4, reg_l2=0.02, **options)


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


def test_numbers_several_labels_and_scores() -> None:
    numbers = [3.0, 2.0, 3.0, -3.0, -2.0, -1.0]
    pair = {name: train(numbers, reg=name, task="regression") for name in ("ridge", "lasso")}
    (table,) = removal_tables(pair, [TEXT])
    assert table.of == ""
    assert [one.log_odds for one in table.columns] == [False, False]
    (alone,) = explain(pair["ridge"], [TEXT])
    assert table.columns[0].removals == tuple(one.removal for one in alone.sentences)
    assert table.columns[0].predicted == f"{pair['ridge'].predict([TEXT])[0]:.4g}"

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
    with pytest.raises(UsageError, match="a single text: put it in a list"):
        removal_tables(models, TEXT)


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


SHARP = "Superb hall & 100 % <b>awful</b> {a_b} $5 #1 ~ ^ \\ | \x1b[31m."


@pytest.mark.parametrize("text", [TEXT, SHARP])
def test_formats(cli: Cli, files: list[Path], models: dict[str, Model], text: str) -> None:
    (table,) = removal_tables(models, [text], "p")
    own, ridge = table.columns

    def run(form: str) -> str:
        code, out, err = cli("explain", *files, "--text", text, "--of", "p", "--format", form)
        assert (code, err) == (0, "")
        return out

    rows = list(csv.DictReader(io.StringIO(run("csv"))))
    assert [float(row["sentence log-odds"]) for row in rows] == list(own.removals)
    assert [float(row["ridge log-odds"]) for row in rows] == list(ridge.removals)
    assert [row["sentence selected"] == "true" for row in rows] == list(own.selected or ())
    assert {row["ridge selected"] for row in rows} == {""}
    assert [row["sentence"] for row in rows] == table.sentences
    assert [(int(row["start"]), int(row["end"])) for row in rows] == list(table.spans)

    page = Page(run("html"))
    assert "\x1b" not in page.text
    assert [tag for tag, _ in page.elements].count("strong") == sum(own.selected or ())
    assert [tag for tag, _ in page.elements].count("tr") == 1 + len(table.spans)
    assert "b" not in [tag for tag, _ in page.elements]

    latex = run("latex")
    body = latex.split("\\hline\n")[2].splitlines()
    assert len(body) == len(table.spans)
    for line, one, other, selected in zip(
        body, own.removals, ridge.removals, own.selected or (), strict=True
    ):
        number = f"$\\mathbf{{{one:+.3f}}}$" if selected else f"${one:+.3f}$"
        assert line.endswith(f" & {number} & ${other:+.3f}$ \\\\")
    if text == SHARP:
        written = (
            r"Superb hall \& 100 \% \textless{}b\textgreater{}awful\textless{}/b\textgreater{} "
            r"\{a\_b\} \$5 \#1 \textasciitilde{} \textasciicircum{} \textbackslash{} "
            r"\textbar{} "
        )
        assert body[0].startswith(written)
        assert "\x1b" not in latex


@pytest.mark.parametrize(("text", "cell"), [("[1] a", "{[}1] a"), ("* a", "{*} a")])
def test_no_sentence_is_an_option_of_the_row_before_it(text: str, cell: str) -> None:
    column = RemovalColumn("m", "p", (0.5,), None, True)
    (latex,) = as_latex([RemovalTable(text, "p", ((0, len(text)),), (column,))])
    assert f"\n{cell} & $+0.500$ \\\\\n" in latex


def test_command_refuses(cli: Cli, files: list[Path], tmp_path: Path) -> None:
    for arguments, words in [
        ((*files, TEXT, "More."), "'More.' is one text, file or model too many"),
        ((*files, files[0], TEXT), "is named twice"),
        ((*files, TEXT, "--text", TEXT), "--text explains a text in place of '"),
        ((*files, "--train", "x.csv"), "--train works with one model only"),
        ((*files, ""), "the text is empty"),
        ((*files, TEXT, "--top", "3"), "--top works with one model only"),
        ((files[0], TEXT, "--format", "csv"), "--format csv compares several models"),
        ((*files, TEXT, "--of", "x"), "no label 'x'"),
    ]:
        code, out, err = cli("explain", *arguments)
        assert (code, out) == (2, ""), arguments
        assert words in err
        assert err.count("\n") == 1


def test_control_characters_do_not_reach_the_terminal(
    cli: Cli, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("explain", *files, "Superb \x1b[31m hall.", "--format")
    assert "\x1b" in cli(*line, "csv").out  # which is for a file
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for form in ("text", "csv", "html", "latex", "jsonl"):
        assert "\x1b" not in cli(*line, form).out


def test_the_document_of_table_3_of_the_paper(cli: Cli, data_dir: Path, tmp_path: Path) -> None:
    train_file = data_dir / "data" / "tasks" / "computer" / "train.jsonl.gz"
    common = ("--tokenizer", "words", "--ngrams", "1", "--weighting", "count", "--quiet")
    strengths = {
        "sentence": ("--reg-group=0.25", "--reg-l1=2.4", "--reg-l2=0.25"),
        "lasso": ("--reg-l1=2.4",),
        "ridge": ("--reg-l2=1",),
    }
    paths = [tmp_path / f"{name}.textreg" for name in strengths]
    for path, (name, given) in zip(paths, strengths.items(), strict=True):
        assert cli("train", train_file, "--reg", name, *given, *common, "-o", path).code == 0
    with gzip.open(train_file, "rt", encoding="utf-8") as lines:
        (text,) = (it for it in map(_text, lines) if "take a bold step into the 90s" in it)
    run = cli("explain", *paths, "--text", text, "--json")
    (table,) = json.loads(run.out)["tables"]
    assert table["of"] == "comp.sys.mac.hardware"
    found = [text[one["start"] : one["end"]] for one in table["sentences"]]
    assert found[-1] == "Karl"
    by_model = [one["models"] for one in table["sentences"]]
    # (yogatama2014, table 3): neither sender nor signature matters, the appeal for help does. The
    # optimum has weights for the sender's words that make 1e-7 of log-odds: not decided at 1e-4.
    assert [by_model[row]["sentence"]["selected"] for row in (-1, -3)] == [False, True]
    assert abs(by_model[0]["sentence"]["removal"]) < 1e-5
    assert all(set(one["lasso"]) == set(one["ridge"]) == {"removal"} for one in by_model)
    assert by_model[-3]["sentence"]["removal"] > 0.01
    assert by_model[-3]["lasso"]["removal"] > 0.01


def _text(line: str) -> str:
    text: str = json.loads(line)["text"]
    return text
