"""What training selected, against sums made by hand, for every kind of regularizer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.builtin.separable import Ridge
from textreg.errors import BrokenPluginError, DataError, ModelError, UsageError
from textreg.explain import find_selection
from textreg.model.summary import GroupsSummary
from textreg.plugins import calls
from textreg.records import Corpus, Floats, Groups
from textreg.records.documents import as_fields, fielded

TEXTS = [
    "A superb film. We sat in row four.",
    "Superb actors! The hall was cold.",
    "Superb plot, superb film. We went by bus.",
    "An awful film. The hall was cold.",
    "Awful actors. We sat in row four.",
    "An awful plot. We went by bus.",
]
LABELS = ["p", "p", "p", "n", "n", "n"]
CORPUS = Corpus(texts=TEXTS, labels=LABELS)
SENTENCES: dict[str, Any] = {
    "reg": "sentence",
    "reg_group": 0.02,
    "reg_l1": 0.4,
    "reg_l2": 0.02,
    "ngrams": 1,
}


def test_sentences_and_their_norms() -> None:
    model = textreg.train(TEXTS, LABELS, **SENTENCES)
    weight = dict(zip(model.encoder.names, model.weights[0].tolist(), strict=True))
    assert set(weight) == {"superb", "awful"}
    selection = find_selection(model, CORPUS)
    assert (selection.regularizer, selection.builder, selection.by_group) == (
        "sentence",
        "sentences",
        True,
    )
    assert (selection.documents, selection.trained_on, selection.missing) == (6, 6, 0)
    assert (selection.groups, selection.selected, selection.empty) == (12, 6, 0)
    assert selection.shares == (0.5,) * 6
    sentences = {group.name: group for group in selection.strongest}
    assert len(sentences) == 6
    for name, group in sentences.items():
        text = TEXTS[int(name.split()[1].rstrip(",")) - 1]
        assert group.text is not None
        assert name.endswith("sentence 1")
        assert text.startswith(group.text)
        words = weight.keys() & set(model.encoder.tokenizer(group.text)[0])
        assert group.norm == pytest.approx(np.sqrt(sum(weight[word] ** 2 for word in words)))
        sign = 1.0 if group.label == "p" else -1.0
        assert dict(group.words) == {word: sign * weight[word] for word in words}
        assert group.value == pytest.approx(sum(sign * weight[word] for word in words))
    for label in "np":
        assert {group.name for group in selection.typical[label]} == {
            name for name, group in sentences.items() if group.label == label
        }


def test_a_sentence_that_is_repeated_is_shown_once() -> None:
    model = textreg.train(TEXTS * 3, LABELS * 3, reg="ridge", reg_l2=0.1, ngrams=1)
    selection = find_selection(model, Corpus(texts=TEXTS * 3, labels=LABELS * 3), top=50)
    texts = [group.text for group in selection.strongest]
    assert len(set(texts)) == len(texts) == 9
    assert not selection.by_group
    assert len(find_selection(model, CORPUS, top=2).strongest) == 2


def test_every_row_counts_with_more_labels() -> None:
    labels = ["p", "p", "q", "n", "n", "q"]
    model = textreg.train(TEXTS, labels, reg="ridge", reg_l2=0.1, ngrams=1)
    selection = find_selection(model, Corpus(texts=TEXTS, labels=labels), top=50)
    assert selection.typical.keys() == {"n", "p", "q"}
    place = {name: j for j, name in enumerate(model.encoder.names)}
    for group in selection.strongest:
        columns = [place[name] for name, _ in group.words]
        part = model.weights[:, columns]
        assert group.norm == pytest.approx(np.linalg.norm(part))
        assert group.value == pytest.approx(part.sum(axis=1).max())
        assert group.label == model.labels[int(part.sum(axis=1).argmax())]


def test_groups_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "groups.txt"
    path.write_text(
        "praise\t\tsuperb\tplot\nplaces\t\thall\trow\nfilms\t\tby\tbus\n", encoding="utf-8"
    )
    model = textreg.train(
        TEXTS, LABELS, reg="group", groups="file", groups_path=str(path), reg_group=0.1, reg_l1=0.3
    )
    selection = find_selection(model, CORPUS)
    assert selection.builder == "file"
    assert selection.groups == 3
    assert [group.name for group in selection.strongest] == ["praise"]
    assert selection.strongest[0].text is None
    assert (selection.typical, selection.shares) == ({}, ())
    path.unlink()
    with pytest.raises((ModelError, DataError, textreg.errors.UsageError), match="groups"):
        find_selection(model, CORPUS)


def test_a_corpus_may_be_a_pair_and_must_be_one() -> None:
    model = textreg.train(TEXTS, LABELS, **SENTENCES)
    pair = find_selection(model, (TEXTS, LABELS), unlabeled=(["It is cold."], None))
    assert pair == find_selection(model, CORPUS, unlabeled=Corpus(["It is cold."]))
    for wrong in (TEXTS, None):
        with pytest.raises(UsageError, match="corpus"):
            find_selection(model, wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="must be a Model"):
        find_selection("model.textreg", CORPUS)  # type: ignore[arg-type]


def test_the_order_of_a_pursuit() -> None:
    model = textreg.train(TEXTS, LABELS, reg="omp", reg_budget=2)
    selection = find_selection(model, CORPUS)
    assert [set(order) for order in selection.order] == [set(model.encoder.names)]
    assert selection.order[0] == model.summary.order[0]


def test_the_order_of_a_pursuit_of_groups(cli: Cli, tmp_path: Path) -> None:
    model = textreg.train(
        TEXTS, LABELS, reg="gomp", reg_budget=5, reg_l2=0.1, reg_singletons=False, ngrams=1
    )
    selection = find_selection(model, CORPUS)
    (steps,) = selection.order_groups
    assert len(steps) > 1
    assert [name for step in steps for name in step.features] == list(model.summary.order[0])
    for step in steps:
        assert step.group is not None
        assert step.text is not None
        number = int(step.group.split()[1].rstrip(",")) - 1
        assert step.text in TEXTS[number]
        assert set(step.features) <= set(_words(model, [step.text]))
    assert len(find_selection(model, CORPUS, top=1).order_groups[0]) == 1
    other = find_selection(model, Corpus(texts=TEXTS[:2], labels=LABELS[:2]))
    assert [step.group for step in other.order_groups[0]] == [step.group for step in steps]
    model.save(tmp_path / "m")
    rows = [f"{label}\t{text}" for label, text in zip(LABELS, TEXTS, strict=True)]
    (tmp_path / "c.tsv").write_text("label\ttext\n" + "\n".join(rows) + "\n", encoding="utf-8")
    shown = cli("explain", tmp_path / "m", "--train", tmp_path / "c.tsv").out
    order = shown.partition("order of entry of sentences and single features\n")[2]
    assert [line.split()[0] for line in order.splitlines()[: len(steps)]] == [
        f"{number}." for number in range(1, len(steps) + 1)
    ]


def test_of_a_wide_step_how_many_words_are_not_shown(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textreg.cli.explain.SHOWN", 1)
    rows = [f"{label}\t{text}" for label, text in zip(LABELS, TEXTS, strict=True)]
    (tmp_path / "c.tsv").write_text("label\ttext\n" + "\n".join(rows) + "\n", encoding="utf-8")
    model = textreg.train(
        TEXTS, LABELS, reg="gomp", reg_budget=5, reg_l2=0.1, reg_singletons=False, ngrams=1
    )
    model.save(tmp_path / "m")
    shown = cli("explain", tmp_path / "m", "--train", tmp_path / "c.tsv").out
    (steps,) = find_selection(model, CORPUS).order_groups
    told = [line for line in shown.splitlines() if line.startswith("  1. ")]
    assert told[0].endswith(f" and {len(steps[0].features) - 1} more]")


def test_single_features_in_a_pursuit_of_groups() -> None:
    model = textreg.train(
        TEXTS, LABELS, reg="gomp", reg_budget=2, reg_l2=0.1, reg_score="mean", ngrams=1
    )
    (steps,) = find_selection(model, CORPUS).order_groups
    assert [(step.group, step.text) for step in steps] == [(None, None)] * 2
    assert all(len(step.features) == 1 for step in steps)


def test_weights_along_a_path() -> None:
    model = textreg.train(TEXTS * 2, LABELS * 2, reg="lasso", reg_l1=0.2, ngrams=1, path=True)
    selection = find_selection(model, Corpus(texts=TEXTS * 2, labels=LABELS * 2))
    assert model.path is not None
    assert selection.path is not None
    assert (selection.path.parameter, selection.path.values) == ("l1", tuple(model.path.values))
    weight = dict(zip(model.encoder.names, model.weights[0].tolist(), strict=True))
    assert {one.feature for one in selection.path.profiles} == set(weight)
    for one in selection.path.profiles:
        sign = 1.0 if one.label == "p" else -1.0
        assert one.weights[selection.path.chosen] == pytest.approx(sign * weight[one.feature])
        assert one.weights[selection.path.chosen] > 0
        assert one.weights[0] == 0
    assert not any("path" in note for note in selection.notes)


def test_neighbors_pull_by_their_share_and_weight() -> None:
    model = textreg.train(
        TEXTS,
        LABELS,
        reg="network",
        reg_alpha=0.1,
        reg_beta=0.1,
        tokenizer="words",
        graph="cooccurrence",
        graph_min_df=1,
        graph_neighbors=3,
    )
    weight = dict(zip(model.encoder.names, model.weights[0].tolist(), strict=True))
    selection = find_selection(model, CORPUS, top=50)
    assert selection.linked
    for feature in selection.linked:
        sign = 1.0 if feature.label == "p" else -1.0
        assert feature.weight == pytest.approx(sign * weight[feature.feature])
        assert feature.weight > 0
        assert sum(one.share for one in feature.neighbors) == pytest.approx(1.0)
        for one in feature.neighbors:
            assert one.pull == pytest.approx(one.share * sign * weight.get(one.feature, 0.0))
    assert any("links" in note for note in selection.notes)


def test_links_of_documents_without_labels(cli: Cli, tmp_path: Path) -> None:
    """Given the same further texts, neighbors are those of the training."""
    more = Corpus(texts=["Superb acting by superb actors.", "An awful awful bus."] * 3)
    options = {"reg": "network", "graph": "cooccurrence", "graph_min_df": 1, "ngrams": 1}
    model = textreg.train(TEXTS, LABELS, unlabeled=more, reg_alpha=0.1, reg_beta=0.1, **options)
    whole, part = (
        find_selection(model, CORPUS, 50, unlabeled=more),
        find_selection(model, CORPUS, 50),
    )
    assert whole.documents == part.documents == 6
    assert not any("links" in note for note in whole.notes)
    assert any("links" in note for note in part.notes)
    weight = dict(zip(model.encoder.names, model.weights[0].tolist(), strict=True))
    (superb,) = (one for one in whole.linked if one.feature == "superb")
    neighbors = {one.feature: one for one in superb.neighbors}
    assert "acting" in neighbors
    assert neighbors["acting"].pull == pytest.approx(neighbors["acting"].share * weight["acting"])
    assert "acting" not in {
        name for one in part.linked for name in (n.feature for n in one.neighbors)
    }

    path, corpus, texts = tmp_path / "m.textreg", tmp_path / "c.tsv", tmp_path / "more.txt"
    model.save(path)
    rows = [f"{label}\t{text}" for label, text in zip(LABELS, TEXTS, strict=True)]
    corpus.write_text("label\ttext\n" + "\n".join(rows) + "\n", encoding="utf-8")
    texts.write_text("\n".join(more.texts) + "\n", encoding="utf-8")
    code, out, err = cli("explain", path, "--train", corpus, "--unlabeled", texts)
    assert (code, err) == (0, "")
    assert "acting" in out
    code, out, err = cli("explain", path, "some text", "--unlabeled", texts)
    assert (code, out) == (2, "")
    assert "--train" in err


def test_stagewise_notes_what_the_file_does_not_hold() -> None:
    selection = find_selection(textreg.train(TEXTS, LABELS, reg="stagewise", reg_steps=50), CORPUS)
    assert any("the order of its steps" in note for note in selection.notes)
    assert selection.order == ()


def test_another_corpus_is_reported_or_refused() -> None:
    model = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1, tokenizer="words", ngrams=1)
    selection = find_selection(model, Corpus(texts=TEXTS[:2], labels=LABELS[:2]))
    assert (selection.documents, selection.trained_on) == (2, 6)
    assert selection.missing == len(set(model.encoder.names) - {*_words(model, TEXTS[:2])}) == 6
    with pytest.raises(DataError, match="None of the"):
        find_selection(model, Corpus(texts=["nothing known"], labels=["p"]))
    model.summary = None
    with pytest.raises(ModelError, match="does not hold the settings"):
        find_selection(model, CORPUS)


def _words(model: textreg.Model, texts: list[str]) -> list[str]:
    return [word for text in texts for line in model.encoder.tokenizer(text) for word in line]


GROUPS = Groups(np.array([0, 2, 3, 3]), np.array([0, 2, 1], dtype=np.int32), np.ones(3), 3)


def test_parts_are_all_weights_of_groups_unless_a_regularizer_knows_better() -> None:
    first, empty = calls.parts(Ridge(l2=1.0), np.array([1.0, 2.0, 3.0]), GROUPS, [0, 2])
    assert (first.tolist(), empty.tolist()) == ([1.0, 3.0], [])


class Parted(Ridge):
    """A regularizer of somebody else."""

    given: ClassVar[Any] = None

    def parts(self, w: Floats, groups: Groups, selected: Sequence[int]) -> list[Floats]:
        return self.given


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "parts must give a list of arrays, not None"),
        ([np.ones(2)], "parts must give 2 arrays, one a group, not 1"),
        ([np.ones(2), np.ones(2)], r"an array of float64 of the shape \(1,\), not float64 \(2,\)"),
        ([np.ones(2, dtype=np.float32), np.ones(1)], "an array of float64"),
    ],
)
def test_wrong_parts_name_who_gave_them(
    monkeypatch: pytest.MonkeyPatch, given: Any, says: str
) -> None:
    monkeypatch.setattr(Parted, "given", given)
    with pytest.raises(BrokenPluginError, match=says):
        calls.parts(Parted(l2=1.0), np.ones(3), GROUPS, [0, 1])


def test_a_missing_builder() -> None:
    model = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1, ngrams=1)
    missing = GroupsSummary("missing", params={}, before=1, after=1, selected=1)
    model.summary = replace(model.summary, groups=missing)
    with pytest.raises(ModelError, match="groups 'missing'"):
        find_selection(model, CORPUS)


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    path, corpus = tmp_path / "m.textreg", tmp_path / "c.tsv"
    rows = [f"{label}\t{text}" for label, text in zip(LABELS, TEXTS, strict=True)]
    corpus.write_text("label\ttext\n" + "\n".join(rows) + "\n", encoding="utf-8")
    textreg.train(TEXTS, LABELS, **SENTENCES).save(path)

    code, out, err = cli("explain", path, "--train", corpus)
    assert (code, err) == (0, "")
    assert "selected: 6 of 12 sentences (50 %); 0 have no feature" in out
    assert "share selected in a document: 50 to 50 %, median 50 %" in out
    assert "Superb actors!" in out
    assert "typical of n" in out

    code, out, err = cli("explain", path, "--train", corpus, "--json")
    assert (code, err) == (0, "")
    selection = find_selection(textreg.load(path), CORPUS)
    expected = json.loads(json.dumps(selection.to_dict()))
    assert json.loads(out) == {"model": str(path), **expected}
    assert expected["strongest"][0]["text"] == selection.strongest[0].text

    for more in (["a text here"], ["--of", "p"], ["--format", "jsonl"]):
        code, out, err = cli("explain", path, *more, "--train", corpus)
        assert (code, out) == (2, "")
        assert "--train" in err
    code, out, err = cli("explain", path, "a text here", "--label-col", "label")
    assert (code, out) == (2, "")
    assert "--label-col" in err


def test_sentences_of_fields_are_those_of_their_texts() -> None:
    kinds = ["a. b", "c. d"] * 3
    rows = [{"kind": kind, "body": text} for kind, text in zip(kinds, TEXTS, strict=True)]
    fields = {"kind": "category", "body": "text"}
    model = textreg.train(rows, LABELS, fields=fields, **SENTENCES)
    texts = fielded(rows, as_fields(fields))
    selection = find_selection(model, Corpus(texts=texts, labels=LABELS))
    found = {group.name: group.text for group in selection.strongest}
    assert len(found) == 6
    for name, text in found.items():
        row = int(name.split()[1].rstrip(",")) - 1
        assert text == f"{TEXTS[row].partition(' We')[0].partition(' The')[0]}"
