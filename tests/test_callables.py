"""Callables of the user's program as tokenizers, and documents that are lists of tokens."""

from __future__ import annotations

import functools
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import textreg
import textreg_report
from textreg import Corpus, TextClassifier, TextRegressor
from textreg.builtin.tokenizers import Words
from textreg.errors import BrokenPluginError, DataError, ModelError, UsageError
from textreg.model.saved_encoder import TokenizerOrigin
from textreg.records.documents import NotTokensError, cut, names_of
from textreg.structure.joining import Pretokenized, name_of
from textreg.training.recipe import fit_command
from textreg_report import Benchmark, report

TEXTS = ["Good kettle. I like it.", "bad kettle. It broke.", "very good cup", "so bad a cup"] * 6
LABELS = ["pos", "neg"] * 12
LISTS = [text.split() for text in TEXTS]
RIDGE: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0}


def split_lower(text: str) -> list[str]:
    return text.lower().split()


class SpacyToken:
    """Has a text and its offset, and a length, but is no iterable, as in spaCy."""

    def __init__(self, text: str, idx: int) -> None:
        self.text, self.idx = text, idx

    def __len__(self) -> int:
        return len(self.text)


class SpacyDoc:
    """The part of spaCy's Doc that is used, whose ``sents`` raises where it knows no sentences."""

    def __init__(self, text: str, *, sentences: bool) -> None:
        self.text, self.knows = text, sentences
        self.tokens = [
            SpacyToken(found[0], found.start()) for found in re.finditer(r"\w+|[.]|\s\s+", text)
        ]

    def __iter__(self) -> Iterator[SpacyToken]:
        return iter(self.tokens)

    def has_annotation(self, name: str) -> bool:
        assert name == "SENT_START"
        return self.knows

    @property
    def sents(self) -> Iterator[list[SpacyToken]]:
        if not self.knows:
            raise ValueError("[E030] Sentence boundaries unset.")
        sentence = []
        for token in self.tokens:
            sentence.append(token)
            if token.text == ".":
                yield sentence
                sentence = []
        if sentence:
            yield sentence


class Spacy:
    """An object such as spaCy's ``nlp``."""

    def __init__(self, *, sentences: bool = True) -> None:
        self.sentences = sentences

    def __call__(self, text: str) -> SpacyDoc:
        return SpacyDoc(text, sentences=self.sentences)


def tokens_of(tokenizer: Any, text: str) -> list[list[str]]:
    made = textreg.train([text, "x"], ["a", "b"], tokenizer=tokenizer, **RIDGE).encoder.tokenizer
    found: list[list[str]] = made(text)
    return found


# What counts as tokens


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (["a", "b"], [["a", "b"]]),
        (("a", "b"), [["a", "b"]]),
        (np.array(["a", "b"]), [["a", "b"]]),
        (np.array([["a", "b"], ["c", "d"]]), [["a", "b"], ["c", "d"]]),
        ([["a", "b"], ("c",)], [["a", "b"], ["c"]]),
        (iter(["a", "b"]), [["a", "b"]]),
        ((word for word in ["a", "b"]), [["a", "b"]]),
        (["a", "", " ", "\n", "b"], [["a", "b"]]),
        ([["a"], [], [" "], ["b"]], [["a"], ["b"]]),
        ([], []),
        ([[]], []),
        (np.array([]), []),
        (
            SpacyDoc("It broke.  I am sad.", sentences=True),
            [[*"It broke .".split()], [*"I am sad .".split()]],
        ),
        (SpacyDoc("It broke.  Sad.", sentences=False), [[*"It broke . Sad .".split()]]),
        (SpacyDoc("It broke. Sad.", sentences=True).sents, [["It", "broke", "."], ["Sad", "."]]),
    ],
)
def test_tokens_and_sentences_of_tokens(found: Any, wanted: list[list[str]]) -> None:
    names = names_of(cut(found))
    assert names == wanted
    assert all(type(name) is str for sentence in names for name in sentence)


WRONG: list[tuple[Any, str]] = [
    (None, "None"),
    (3, r"3 \(int\)"),
    (float("nan"), r"nan \(float\)"),
    (np.array(3.0), r"array\(3.\) \(ndarray\)"),
    (b"ab", r"b'ab' \(bytes\)"),
    ({"a", "b"}, "a set"),
    ({"a": 1}, "a dict"),
    ([1, 2], r"a list with 1 \(int\) in it"),
    (["a", 2], r"a list of tokens with 2 \(int\) among them"),
    (["a", None], "a list of tokens with None among them"),
    (["a", ["b"]], "a list of tokens with a list among them"),
    ([["a"], ["b", 3]], r"a list of sentences with 3 \(int\) in place of a token"),
    ([["a"], [["b"]]], "a list of sentences with a list in place of a token"),
    ([["a"], {"b"}], "a list with a set"),
    (np.array([1.5]), r"a list with .*1.5.* in it"),
]


@pytest.mark.parametrize(("found", "what"), WRONG, ids=[what for _, what in WRONG])
def test_what_is_no_tokens_is_refused(found: Any, what: str) -> None:
    with pytest.raises(NotTokensError, match=what):
        cut(found)
    with pytest.raises(UsageError, match=rf"'wrong' gives {what}.* for document 3 \('so bad"):
        textreg.train(
            ["good", "bad", "so bad"], ["a", "b", "b"], tokenizer=answering(found), **RIDGE
        )
    with pytest.raises(DataError, match=f"document 2 is {what}.*, where tokens are expected"):
        textreg.train([["good"], found, ["bad"]], ["a", "b", "b"], **RIDGE)


def answering(found: Any) -> Callable[[str], Any]:
    def wrong(text: str) -> Any:
        return found if text == "so bad" else text.split()

    wrong.__module__, wrong.__qualname__ = "__main__", "wrong"
    return wrong


# A callable


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (str.split, "str.split"),
        (re.compile(r"\w+").findall, "Pattern.findall"),
        (functools.partial(split_lower), "test_callables.split_lower"),
        (Spacy(), "test_callables.Spacy"),
        (list, "list"),
    ],
)
def test_the_name_of_a_callable(function: Any, name: str) -> None:
    assert name_of(function).removeprefix("tests.") == name


def test_a_callable_is_the_tokenizer(tmp_path: Path) -> None:
    model = textreg.train(TEXTS, LABELS, tokenizer=str.split, **RIDGE)
    assert "kettle." in model.encoder.names
    assert "Good kettle." in model.encoder.names
    assert model.predict(["very good", "so bad"]) == ["pos", "neg"]
    lists = textreg.train(LISTS, LABELS, **RIDGE)
    assert (model.decision_function(TEXTS) == lists.decision_function(LISTS)).all()


def test_sentences_of_a_callable_give_groups() -> None:
    def sentences(text: str) -> list[list[str]]:
        return [sentence.split() for sentence in text.lower().split(".")]

    how = {"reg": "sentence", "cv": 2}
    own = textreg.train(TEXTS, LABELS, tokenizer=sentences, **how)
    words = textreg.train(TEXTS, LABELS, tokenizer="words", **how)
    assert own.summary is not None
    assert words.summary is not None
    assert own.summary.groups == words.summary.groups
    assert (own.decision_function(TEXTS) == words.decision_function(TEXTS)).all()


def test_an_exception_inside_names_the_document() -> None:
    def fails(text: str) -> list[str]:
        return [] if text == "bad" else [str(1 // (len(text) - 3))]

    with pytest.raises(
        BrokenPluginError, match=r"fails in document 3 \('its'\): ZeroDiv"
    ) as caught:
        textreg.train(["good", "bad", "its"], ["a", "b", "b"], tokenizer=fails, **RIDGE)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("wrong", [3, None, textreg.Lasso, textreg.Lasso(l1=1.0), ["words", 3]])
def test_what_is_no_tokenizer(wrong: Any) -> None:
    with pytest.raises(UsageError, match="tokenizer: give a name"):
        textreg.train(TEXTS, LABELS, tokenizer=wrong, **RIDGE)


def test_a_callable_has_no_parameters() -> None:
    with pytest.raises(UsageError, match=r"'str.split' has no parameters: leave out tokenizer_min"):
        textreg.train(TEXTS, LABELS, tokenizer=str.split, tokenizer_min_length=2, **RIDGE)
    space = {"tokenizer_min_length": [1, 2]}
    with pytest.raises(UsageError, match="no parameter 'tokenizer_min_length'"):
        textreg.train(TEXTS, LABELS, tokenizer=str.split, search_space=space, **RIDGE)


def test_two_callables_share_no_features() -> None:
    candidates = {
        name: {**RIDGE, "tokenizer": it}
        for name, it in {"split": str.split, "letters": list}.items()
    }
    result = textreg_report.compare(candidates, Benchmark("cups", train=(TEXTS, LABELS)))
    assert len({cell.of for cell in result.measured}) == 2


def test_offsets_where_tokens_have_them() -> None:
    model = textreg.train(TEXTS, LABELS, tokenizer=Spacy(), ngrams=1, **RIDGE)
    explained = model.explain("so good.  A bad cup.")
    shown = {word.feature: (word.start, word.end) for word in explained.words}
    assert shown["good"] == (3, 7)
    assert shown["bad"] == (12, 15)
    assert [(one.start, one.end) for one in explained.sentences] == [(0, 8), (10, 20)]
    assert explained.score == abs(model.decision_function([explained.text])[0])


def test_without_offsets_nothing_is_explained() -> None:
    model = textreg.train(TEXTS, LABELS, tokenizer=str.split, cv=2, **RIDGE)
    with pytest.raises(UsageError, match=r"'str.split' does not give character offsets"):
        model.explain("good cup")
    page = report(model, Corpus(TEXTS, labels=LABELS), train=Corpus(TEXTS, labels=LABELS))
    assert "The tokenizer gives no character offsets, so no document is explained." in page.missing


# Model files


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model = textreg.train(TEXTS, LABELS, tokenizer=split_lower, **RIDGE)
    model.save(tmp_path / "callable.textreg")
    return tmp_path / "callable.textreg"


def test_a_model_needs_its_callable_again(saved: Path) -> None:
    model = textreg.train(TEXTS, LABELS, tokenizer=split_lower, **RIDGE)
    with pytest.raises(ModelError, match=r"'.*split_lower', a callable .*load\(path, tokenizer="):
        textreg.load(saved)
    loaded = textreg.load(saved, tokenizer=split_lower)
    assert (loaded.decision_function(TEXTS) == model.decision_function(TEXTS)).all()
    assert loaded.encoder.tokenizer.name.endswith("split_lower")
    assert b"test_callables.split_lower" in saved.read_bytes()


def test_a_model_of_a_callable_is_shown_and_copied_without_it(saved: Path, tmp_path: Path) -> None:
    loaded = textreg.load(saved, tokenizer=False)
    assert loaded.top_features()["pos"]
    with pytest.raises(ModelError, match="without its tokenizer"):
        loaded.predict(["good"])
    loaded.save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == saved.read_bytes()


def test_only_a_model_of_a_callable_takes_one(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the callable '.*split_lower', not 'words'"):
        textreg.load(saved, tokenizer="words")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs as tokenizer the callable"):
        textreg.load(saved, tokenizer=Words)
    own, lists = tmp_path / "words.textreg", tmp_path / "lists.textreg"
    textreg.train(TEXTS, LABELS, **RIDGE).save(own)
    textreg.train(LISTS, LABELS, **RIDGE).save(lists)
    with pytest.raises(UsageError, match="has its own, and needs no tokenizer: leave"):
        textreg.load(own, tokenizer=str.split)
    with pytest.raises(UsageError, match="takes lists of tokens, and needs no tokenizer"):
        textreg.load(lists, tokenizer=str.split)


def test_a_lambda_has_a_name_too(tmp_path: Path) -> None:
    for number in (1, 2):
        model = textreg.train(TEXTS, LABELS, tokenizer=lambda text: text.split(), **RIDGE)
        model.save(tmp_path / f"{number}")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    with pytest.raises(ModelError, match=r"<lambda>', a callable"):
        textreg.load(tmp_path / "1")


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "code"},
        {"source": "callable", "params": {"a": 1}},
        {"source": "callable", "distribution": "acme"},
        {"source": "tokens", "file": "a.py", "sha256": "0" * 64},
        {"source": "callable", "name": "two\nlines"},
        {"source": "tokens", "name": "<lambda>"},
    ],
    ids=str,
)
def test_origins_that_no_tokenizer_has(fields: dict[str, Any]) -> None:
    plain: dict[str, Any] = {
        "name": "f",
        "params": {},
        "distribution": "",
        "version": "",
        "api": 1,
        "forms_ngrams": True,
        **fields,
    }
    with pytest.raises(DataError):
        TokenizerOrigin(**plain)


# Joined with others


def test_callables_join(tmp_path: Path) -> None:
    tokenizer: list[Any] = ["words", Spacy(), str.split]
    model = textreg.train(TEXTS, LABELS, tokenizer=tokenizer, **RIDGE)
    assert {"kettle", "str.split: kettle."} <= set(model.encoder.names)
    names = [part.tokenizer.label() for part in model.encoder.parts]
    assert names == ["words", name_of(Spacy()), "str.split"]
    scores = model.decision_function(TEXTS)
    assert (pickle.loads(pickle.dumps(model)).decision_function(TEXTS) == scores).all()
    model.save(tmp_path / "m")
    with pytest.raises(ModelError, match=r"Spacy', a callable"):
        textreg.load(tmp_path / "m")
    with pytest.raises(UsageError, match=r"a list of the callables '.*Spacy', 'str.split', not"):
        textreg.load(tmp_path / "m", tokenizer=str.split)
    loaded = textreg.load(tmp_path / "m", tokenizer=[Spacy(), str.split])
    assert (loaded.decision_function(TEXTS) == scores).all()
    with pytest.raises(UsageError, match=r"'str.split' does not give character offsets"):
        loaded.explain("good cup")
    with_offsets = textreg.train(TEXTS, LABELS, tokenizer=["words", Spacy()], **RIDGE)
    assert {word.start for word in with_offsets.explain("A good cup").words} == {0, 2, 7}


def test_joined_callables_need_names_of_their_own() -> None:
    with pytest.raises(UsageError, match="<lambda>' is named twice"):
        textreg.train(TEXTS, LABELS, tokenizer=[lambda t: t.split(), lambda t: list(t)], **RIDGE)


# The command line


def test_commands_say_what_to_do(saved: Path, tmp_path: Path, cli: Any) -> None:
    lists = tmp_path / "lists.textreg"
    textreg.train(LISTS, LABELS, **RIDGE).save(lists)
    corpus = tmp_path / "cups.csv"
    corpus.write_text("text,label\ngood cup,pos\nbad cup,neg\n")
    for command in (["predict", saved, corpus], ["evaluate", saved, corpus]):
        result = cli(*command)
        assert result.code == 1
        assert "textreg plugins new tokenizer" in result.err
    for command in (["predict", lists, corpus], ["evaluate", lists, corpus]):
        result = cli(*command)
        assert result.code == 1
        assert "model.predict([['a', 'document']])" in result.err
    result = cli("show", saved)
    assert result.code == 0
    assert "textreg.load(path, tokenizer=...)" in result.out
    result = cli("show", lists)
    assert result.code == 0
    assert "pretokenized" in result.out


# Lists of tokens


def test_documents_as_lists(tmp_path: Path) -> None:
    model = textreg.train(LISTS, LABELS, **RIDGE)
    assert isinstance(model.encoder.tokenizer, Pretokenized)
    assert list(Pretokenized().encode([["good", "film"], ["film"]]).vocabulary) == ["good", "film"]
    model.save(tmp_path / "m")
    loaded = textreg.load(tmp_path / "m")
    scores = model.decision_function(LISTS)
    assert (loaded.decision_function(LISTS) == scores).all()
    forms: list[Any] = [
        [tuple(document) for document in LISTS],
        [np.array(document) for document in LISTS],
        [[document] for document in LISTS],
        (iter(document) for document in LISTS),
        [SpacyDoc(text, sentences=True) for text in TEXTS],
    ]
    for form in forms[:4]:
        assert (loaded.decision_function(form) == scores).all()
    assert len(loaded.predict(forms[4])) == len(TEXTS)
    assert loaded.predict_proba([[], ["unheard"]]).shape == (2, 2)


def test_an_empty_document_and_an_empty_first_one() -> None:
    model = textreg.train([[], *LISTS], ["pos", *LABELS], **RIDGE)
    assert model.decision_function([[]])[0] == model.intercepts[0]
    with pytest.raises(DataError, match="none of 2 documents has a word"):
        textreg.train([[], []], ["a", "b"], **RIDGE)


def test_lists_want_no_tokenizer() -> None:
    for tokenizer in ("words", str.split, Words(min_length=2)):
        with pytest.raises(UsageError, match="nothing to tokenize: leave out tokenizer"):
            textreg.train(LISTS, LABELS, tokenizer=tokenizer, **RIDGE)
    with pytest.raises(UsageError, match="nothing to tokenize"):
        textreg.train(LISTS, LABELS, tokenizer_min_length=2, **RIDGE)
    with pytest.raises(UsageError, match="nothing to tokenize"):
        TextClassifier(reg="ridge", tokenizer=str.split).fit(LISTS, LABELS)


def test_texts_and_lists_do_not_mix() -> None:
    with pytest.raises(DataError, match=r"document 3 is the text 'so bad', where tokens are"):
        textreg.train([["good"], ["bad"], "so bad"], ["a", "b", "b"], **RIDGE)
    with pytest.raises(DataError, match=r"document 2 is not a text but .*trained on such lists"):
        textreg.train(["good", ["bad"]], ["a", "b"], **RIDGE)
    for name, more in {"dev": (TEXTS, LABELS), "unlabeled": TEXTS}.items():
        reg = "network" if name == "unlabeled" else "ridge"
        with pytest.raises(DataError, match=f"the {name} documents and those to train on"):
            textreg.train(LISTS, LABELS, reg=reg, **{name: more})


def test_a_model_says_what_it_wants() -> None:
    lists = textreg.train(LISTS, LABELS, **RIDGE)
    texts = textreg.train(TEXTS, LABELS, **RIDGE)
    with pytest.raises(DataError, match=r"document 1 is a text \('good'\), but the model takes li"):
        lists.predict(["good", "cup"])
    with pytest.raises(UsageError, match="expected a list of texts"):
        lists.predict("good")
    with pytest.raises(DataError, match=r"document 1 is not a text but .*trained on such lists"):
        texts.predict(LISTS)
    for document in ("good cup", ["good", "cup"]):
        with pytest.raises(UsageError, match="lists of tokens, which have no character offsets"):
            lists.explain(document)  # type: ignore[arg-type]


def test_a_whole_text_as_one_token() -> None:
    with pytest.raises(DataError, match="'bad cup' as one token"):
        textreg.train([["good kettle"], ["bad cup"]], ["a", "b"], **RIDGE)
    with pytest.raises(UsageError, match=r"must be one column, not of the shape \(2, 2\)"):
        textreg.train(np.array([["good kettle", "a"], ["bad cup", "b"]]), ["a", "b"], **RIDGE)


def test_stop_words_are_tokens_then(tmp_path: Path) -> None:
    (tmp_path / "stop").write_text("kettle.\n cup \nI like\n")
    model = textreg.train(LISTS, LABELS, stop_words=str(tmp_path / "stop"), ngrams=1, **RIDGE)
    assert model.encoder.stop_words == ("I like", "cup", "kettle.")
    assert not {"cup", "kettle."} & set(model.encoder.names)
    assert "it." in model.encoder.names


def test_lists_in_comparisons_and_reports(tmp_path: Path) -> None:
    benchmark = Benchmark("cups", train=(LISTS, LABELS), test=(LISTS, LABELS))
    result = textreg_report.compare([RIDGE, {"reg": "lasso", "reg_l1": 0.1}], benchmark)
    assert result.cell("cups", "ridge").accuracy == 1.0
    corpus = Corpus(LISTS, labels=LABELS)
    page = report(textreg.train(LISTS, LABELS, cv=2, **RIDGE), corpus, train=corpus)
    page.save(tmp_path / "page.html")
    assert page.scores.figures[0].value == 1.0


def test_no_command_repeats_a_training_with_a_callable() -> None:
    tokenizers: list[Any] = [str.split, ["words", str.split], None]
    for tokenizer in tokenizers:
        options = RIDGE if tokenizer is None else {**RIDGE, "tokenizer": tokenizer}
        model = textreg.train(LISTS if tokenizer is None else TEXTS, LABELS, **options)
        assert fit_command(model) is None
    assert fit_command(textreg.train(TEXTS, LABELS, **RIDGE)) is not None


# Estimators


@pytest.mark.parametrize("tokenizer", [str.split, split_lower, Spacy()], ids=name_of)
def test_estimators_take_callables(tokenizer: Any) -> None:
    estimator = TextClassifier(reg=textreg.Ridge(l2=1.0), tokenizer=tokenizer)
    assert name_of(clone(estimator).tokenizer) == name_of(tokenizer)
    fitted = clone(estimator).fit(TEXTS, LABELS)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.decision_function(TEXTS) == fitted.decision_function(TEXTS)).all()
    assert cross_val_score(estimator, TEXTS, LABELS, cv=2).min() == 1.0


def test_estimators_take_lists() -> None:
    fitted = TextClassifier(reg=textreg.Ridge(l2=1.0)).fit(LISTS, LABELS)
    assert fitted.predict(LISTS).tolist() == LABELS
    assert fitted.predict_proba(LISTS[:3]).shape == (3, 2)
    assert fitted.tokenizer == "auto"
    assert cross_val_score(clone(fitted), LISTS, LABELS, cv=2).min() == 1.0
    objects = np.empty(2, dtype=object)
    objects[:] = [["good", "cup"], ["bad"]]
    assert fitted.predict(objects).tolist() == ["pos", "neg"]
    with pytest.raises(DataError, match=r"X\[1\] is the text 'bad', where tokens"):
        fitted.predict([["good"], "bad"])
    with pytest.raises(DataError, match="but the model takes lists of tokens"):
        fitted.predict(["good"])
    with pytest.raises(DataError, match=r"X\[0\] is a list with 1.0"):
        fitted.fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    y = [1.0 if label == "pos" else -1.0 for label in LABELS]
    regressor = TextRegressor(reg=textreg.Ridge(l2=0.1)).fit(LISTS, y)
    assert np.sign(regressor.predict(LISTS)).tolist() == y
