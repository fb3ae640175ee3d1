"""The tokenizer where none is named: words with characters beside them, or words alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli
from sklearn.base import clone

import textreg
from textreg import TextClassifier
from textreg.errors import UsageError
from textreg.features import fields
from textreg.features.fields import AutoTokenizer, tokenizer_of
from textreg.training.settings import TrainingSettings

TEXTS = ["a good cup", "a bad cup", "good tea", "bad tea"] * 5
LABELS = ["p", "n", "p", "n"] * 5
RIDGE = {"reg": "ridge", "reg_l2": 0.1}


def tokenizer(**options: object) -> str:
    return textreg.train(TEXTS, LABELS, **{**RIDGE, **options}).encoder.tokenizer.name  # type: ignore[arg-type]


def test_characters_stand_beside_words_unless_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    characters = sum(map(len, TEXTS))
    monkeypatch.setattr(fields, "MOST_CHARACTERS", characters)
    assert tokenizer() == tokenizer(tokenizer="auto") == "words,chars"
    monkeypatch.setattr(fields, "MOST_CHARACTERS", characters - 1)
    assert tokenizer() == tokenizer(tokenizer_min_length=2) == "words"
    assert tokenizer(tokenizer="words,chars") == "words,chars"
    assert tokenizer(tokenizer="chars") == "chars"


def test_characters_are_alone_where_hardly_any_word_is_in_two_texts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = [f"{'pre' if at % 2 else 'non'}x{at * 7919}" for at in range(600)]
    labels = ["p" if at % 2 else "n" for at in range(600)]

    def of(texts: list[str], **options: object) -> str:
        model = textreg.train(texts, labels[: len(texts)], **{**RIDGE, **options})  # type: ignore[arg-type]
        return model.encoder.tokenizer.name

    assert of(names) == "chars"
    assert of([f"a {name}" for name in names]) == "words,chars"
    assert of(names[:500]) == "words,chars"  # too few to tell
    assert of(names, tokenizer_min_length=2) == "words,chars"
    assert of(names, ngrams=1) == of(names, search_space={"ngrams": [1, 3]}) == "words,chars"
    (listed := tmp_path / "words.txt").write_text(f"the\n{names[0]}\n")
    assert of(names, stop_words=str(listed)) == "words,chars"
    assert of(names, evidence_words=str(listed)) == "words,chars"
    assert of(names, search_space={"stop_words": [str(listed)]}) == "words,chars"
    assert of(names, reg="sentence", reg_l2=0.1, reg_l1=0.0, reg_group=0.1) == "words,chars"
    monkeypatch.setattr(fields, "MOST_CHARACTERS", 1)
    assert of(names) == "chars"  # words alone would know no new text


@pytest.mark.parametrize("tokenizer", ["auto", None])
def test_a_setting_of_a_field_may_be_one_of_words(tokenizer: str | None, tmp_path: Path) -> None:
    documents = [{"a": " ".join(f"w{at * 10 + word}" for word in range(10))} for at in range(600)]
    labels = ["p" if at % 2 else "n" for at in range(600)]
    (listed := tmp_path / "words.txt").write_text("the\n")
    of_words = {"stop_words": str(listed), **({"tokenizer": tokenizer} if tokenizer else {})}
    for options in (of_words, {"tokenizer_min_length": 2}):
        model = textreg.train(documents, labels, fields={"a": options}, **RIDGE)  # type: ignore[arg-type]
        assert [part.tokenizer.name for part in model.encoder.parts] == ["words", "chars"]


def test_a_parameter_of_characters_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MOST_CHARACTERS", 1)
    assert tokenizer(tokenizer_max_n=3) == "words,chars"
    assert tokenizer(tokenizer_chars_lowercase=False) == "words,chars"
    with pytest.raises(UsageError, match="no parameter 'size'"):
        tokenizer(tokenizer_size=3)


def test_both_have_the_parameters() -> None:
    both = tokenizer_of("auto", {"lowercase": False})
    assert isinstance(both, AutoTokenizer)
    assert both.words.params()["lowercase"] is False
    assert [part.params()["lowercase"] for part in both.beside.parts] == [False, False]
    assert both.replace() == both
    assert TrainingSettings.from_options().tokenizer == tokenizer_of("auto")


def test_of_an_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MOST_CHARACTERS", 1)
    estimator = TextClassifier(reg=textreg.Ridge(l2=0.1)).set_params(tokenizer__min_length=2)
    again = clone(estimator).set_params(tokenizer__lowercase=False)
    encoder = again.fit(TEXTS, LABELS).model_.encoder
    assert encoder.tokenizer.params()["min_length"] == 2
    assert encoder.tokenizer.params()["lowercase"] is False
    assert again.set_params(tokenizer__max_n=3).fit(TEXTS, LABELS).model_.encoder.names[-1]
    assert again.model_.encoder.tokenizer.name == "words,chars"


def test_on_the_command_line(cli: Cli, tmp_path: Path) -> None:
    rows = [f"{label}\t{text}" for label, text in zip(LABELS, TEXTS, strict=True)]
    (tmp_path / "c.tsv").write_text("\n".join(["label\ttext", *rows]), encoding="utf-8")
    train = ("train", tmp_path / "c.tsv", "--reg", "ridge", "--reg-l2", "0.1", "--quiet")
    model = tmp_path / "m.textreg"
    assert cli(*train, "-o", model, "--tokenizer-max-n", "3").code == 0
    assert json.loads(cli("show", model, "--json").out)["features"] > 10
    groups = cli("groups", tmp_path / "c.tsv", "--groups", "sentences", "--json")
    assert groups.code == 0, groups.err
    assert "--tokenizer-max-n" in cli("train", "--help").out
    wrong = cli(*train, "--tokenizer", "auto,words")
    assert (wrong.code, wrong.out) == (2, "")
    assert "auto" in wrong.err
