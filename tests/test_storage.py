"""Model files: exact round trips, refusals of everything else, and nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import content, rewrite
from safetensors.numpy import save_file
from thoroughness import draws

from textreg.errors import ModelError, UsageError
from textreg.features.encoder import Encoder
from textreg.features.vectorize import Vectorizer
from textreg.files import replacing
from textreg.kinds import Tokenizer
from textreg.model import container, json_records
from textreg.model.model import Model
from textreg.model.saved_encoder import TokenizerOrigin
from textreg.model.storage import load_model, save_model
from textreg.model.summary import (
    ChoiceSummary,
    DevMetrics,
    GraphSummary,
    GroupsSummary,
    GroupStep,
    PartOrigin,
    PathSummary,
    RegularizerSummary,
    SearchPoint,
    SourceSummary,
    SplitSummary,
    ThresholdSummary,
    TrainingSummary,
)
from textreg.params import param
from textreg.plugins import registry
from textreg.tasks import classification

TEXTS = ["good good film", "bad film", "", "fine film unknown", "bad bad plot"]
SUMMARY = TrainingSummary(
    task="classification",
    loss="logistic",
    loss_params={},
    multiclass=None,
    labels={"label 0": 2, "label 1": 3},
    reg=RegularizerSummary("sentence", {"l1": 0.1}, searched=("l1",)),
    documents=5,
    features=6,
    nonzero=4,
    groups=GroupsSummary("sentences", {"weight": None}, before=5, after=4, selected=3),
    graph=GraphSummary("cooccurrence", {}, links=7, classes=0),
    objective=0.5,
    gap=None,
    converged=True,
    iterations=3,
    tol=1e-4,
    class_weight={"label 0": 2.0},
    rare=None,
    unknown=None,
    interrupted=None,
    split=SplitSummary("holdout", parts=1, seed=0, by=None),
    metric="log-loss",
    select=ChoiceSummary("best", within=None, max_nonzero=None, error=None),
    budget=None,
    planned=1,
    chosen={"ngrams": 1},
    dev=DevMetrics(4, {"log-loss": 0.25, "accuracy": 0.75}, (0.5, 0.875)),
    search=(SearchPoint({"l1": 0.1}, {"ngrams": 1}, 3.5, error=0.25, metrics={"log-loss": 0.25}),),
    refit=True,
    calibration="temperature",
    thresholds={"label 0": ThresholdSummary("f1", 0.5, precision=0.75, recall=1.0)},
    plugins=(
        PartOrigin(kind="tokenizer", name="words", distribution="textreg", version="1.0", api=1),
    ),
    options={"reg_l1": 0.1, "search_space": {"ngrams": [1, 2]}},
    source=SourceSummary(("a.csv", "b.csv"), (), (), {"text_col": "body"}),
    path=PathSummary("l1", points=3),
    order=(("good", "bad"),),
    order_groups=((GroupStep(0, "sentence 1", ("good",)), GroupStep(None, None, ("bad",))),),
)


class Cut(Tokenizer):
    """Tokens between separators: any text can be a token."""

    name = "test-cut"
    at: str = param(default=" ", help="separator")

    def __call__(self, text: str) -> list[list[str]]:
        return [[token for token in text.split(self.at) if token]]


@pytest.fixture(scope="module", autouse=True)
def cut_alone() -> Iterator[None]:
    """The tokenizer of these tests is there for them, and for no others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry._default, "added", {})
        registry.register(Cut)
        yield


def make(weighting: str = "count", labels: int = 2, tokenizer: Tokenizer | None = None) -> Model:
    encoder = Vectorizer(weighting=weighting).fit(tokenizer or Cut(), TEXTS).encoder
    rows = 1 if labels == 2 else labels
    weights = np.random.default_rng(3).normal(size=(rows, len(encoder.names)))
    weights[:, 1] = 0.0
    weights[-1, 0] = 0.0
    names = [f"label {i}" for i in range(labels)]
    return Model(classification(names), encoder, weights, np.linspace(-0.1, 0.3, rows), SUMMARY)


def same(one: Model, other: Model) -> bool:
    """Whether two models are the same to the last bit."""
    return (
        one.labels == other.labels
        and list(one.encoder.names) == list(other.encoder.names)
        and one.weights.tobytes() == other.weights.tobytes()
        and one.intercepts.tobytes() == other.intercepts.tobytes()
        and one.encoder.vectorizer == other.encoder.vectorizer
        and one.encoder.tokenizer.params() == other.encoder.tokenizer.params()
        and one.summary == other.summary
        and one.decision_function(TEXTS).tobytes() == other.decision_function(TEXTS).tobytes()
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.textreg"
    save_model(make(labels=3), path)
    return path


# Round trips


@pytest.mark.parametrize("weighting", ["count", "binary", "log", "unit", "unit-idf", "tfidf"])
@pytest.mark.parametrize("labels", [2, 3])
def test_round_trip_is_exact(tmp_path: Path, weighting: str, labels: int) -> None:
    model = make(weighting, labels, Cut(at=" "))
    path, again = tmp_path / "one", tmp_path / "two"
    model.save(path)
    loaded = load_model(path)
    assert same(model, loaded)
    assert isinstance(loaded.encoder.tokenizer, Cut)
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()


def test_parameters_come_back(tmp_path: Path) -> None:
    encoder = Encoder(Cut(at=";"), Vectorizer(ngrams=2, min_df=3, weighting="binary"), ["a", "a b"])
    save_model(
        Model(classification(("x", "y")), encoder, np.ones((1, 2)), np.zeros(1)), tmp_path / "m"
    )
    loaded = load_model(tmp_path / "m").encoder
    assert loaded.tokenizer == Cut(at=";")
    assert loaded.vectorizer == Vectorizer(ngrams=2, min_df=3, weighting="binary")


def test_names_of_any_characters(tmp_path: Path) -> None:
    # "\ud83d" is half of a pair, as broken JSON has it.
    names = sorted(["", "\ud83d", "a", "é", "日本", "\U0001f600", "\x00", "a b"])
    labels = ("ja \U0001f44d", "nein\n", "\udc4d")
    model = Model(
        classification(labels),
        Encoder(Cut(), Vectorizer(weighting="count"), names),
        np.ones((3, 8)),
        np.zeros(3),
    )
    save_model(model, tmp_path / "m")
    assert same(model, load_model(tmp_path / "m"))


def test_a_model_without_features(tmp_path: Path) -> None:
    model = Model(
        classification(("x", "y")),
        Encoder(Cut(), Vectorizer(weighting="count"), ["a"]),
        np.zeros((1, 1)),
        np.ones(1),
    )
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").predict(["a"]) == ["y"]


def test_header_says_how_it_was_made(tmp_path: Path) -> None:
    save_model(make(tokenizer=registry.create("tokenizer", "words")), tmp_path / "m")
    header, _ = content(tmp_path / "m")
    assert header["format"] == 1
    assert header["labels"] == ["label 0", "label 1"]
    assert TrainingSummary.from_json(header["summary"]) == SUMMARY
    assert header["parts"][0]["tokenizer"]["name"] == "words"
    assert header["parts"][0]["tokenizer"]["distribution"] == "textreg"
    assert header["parts"][0]["tokenizer"]["version"] == header["textreg"]
    assert header["vectorizer"] == Vectorizer(weighting="count").params()


def test_a_summary_is_the_same_after_json() -> None:
    plain = json.loads(json.dumps(SUMMARY.to_json()))
    assert plain["search"] == [
        {"params": {"l1": 0.1}, "settings": {"ngrams": 1}, "nonzero": 3.5, "error": 0.25}
        | {"log_loss": 0.25}
    ]
    assert plain["dev"]["accuracy_interval"] == [0.5, 0.875]
    assert TrainingSummary.from_json(plain) == SUMMARY
    assert TrainingSummary.from_json({**plain, "later": 1}) == SUMMARY


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(data=st.data())
def test_any_member_of_a_summary_is_checked(data: st.DataObject) -> None:
    """Whatever a file has in its place, there is a summary or a ModelError, never another error."""
    plain: Any = json.loads(json.dumps(SUMMARY.to_json()))
    part = plain
    while True:
        keys = sorted(part) if isinstance(part, dict) else range(len(part))
        key = data.draw(st.sampled_from(keys))
        if not (isinstance(part[key], (dict, list)) and part[key] and data.draw(st.booleans())):
            break
        part = part[key]
    part[key] = data.draw(JSON_VALUES)
    try:
        summary = TrainingSummary.from_json(plain)
    except ModelError:
        return
    json.dumps(summary.to_json())


def test_300_features_take_tens_of_kilobytes(tmp_path: Path) -> None:
    names = sorted(f"feature number {i}" for i in range(300))
    model = Model(
        classification(("x", "y")),
        Encoder(Cut(), Vectorizer(weighting="count", ngrams=3), names),
        np.ones((1, 300)),
        np.ones(1),
    )
    save_model(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 20_000


def many_names() -> Model:
    words = sorted(f"{a}{b}" for a in "abcdefghij" for b in range(1000))
    names = sorted([*words, *(f"{one} {two}" for one, two in pairwise(words))])
    encoder = Encoder(
        Cut(),
        Vectorizer(weighting="tfidf"),
        names,
        np.linspace(1, 9, 20).repeat(1000)[: len(names)],
    )
    chosen = np.arange(0, len(names), 500)
    return Model(
        classification(("x", "y")), encoder.restrict(chosen), np.ones((1, len(chosen))), np.ones(1)
    )


def test_n_grams_without_the_words_that_they_are_of(tmp_path: Path) -> None:
    """Words that no feature is are in the file, and known; they are no features after."""
    names = ["a b c", "b", "d c a"]
    model = Model(
        classification(("x", "y")),
        Encoder(Cut(), Vectorizer(weighting="count", ngrams=3), names),
        np.array([[1.0, 2.0, 4.0]]),
        np.zeros(1),
    )
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.encoder.names == names
    assert again.decision_function(["a b c", "d c a b", "c a"]).tolist() == [3.0, 6.0, 0.0]
    save_model(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_n_grams_out_of_order_are_not_saved(tmp_path: Path) -> None:
    encoder = Encoder(Cut(), Vectorizer(weighting="count"), ["b", "a", "b a"])
    model = Model(classification(("x", "y")), encoder, np.ones((1, 3)), np.zeros(1))
    with pytest.raises(UsageError, match="out of order cannot be saved: sort their names"):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_what_a_row_is_measured_by_takes_little_room(tmp_path: Path) -> None:
    """With tfidf the file holds every name and its frequency, wanted or not."""
    model = many_names()
    save_model(model, tmp_path / "m")
    names = sum(len(name) for name in model.encoder.vocabulary)
    assert len(model.encoder.vocabulary) == 19_999
    assert (tmp_path / "m").stat().st_size < names
    again = load_model(tmp_path / "m")
    assert again.encoder.vocabulary == model.encoder.vocabulary
    assert again.encoder.idf.tobytes() == model.encoder.idf.tobytes()


# What is refused


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text,label\ngood,pos\n",
        pickle.dumps({"weights": [1.0]}),
        b"\x02\0\0\0\0\0\0\0{}",
        b"\x02\0\0\0\0\0\0\0[]",
        b"\xff" * 100,
        b"\0\0\0\0\0\0\0\0{",
    ],
)
def test_what_is_no_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="m is not a textreg model file"):
        load_model(path)


@pytest.mark.parametrize("metadata", [None, {"other": "{}"}, {"textreg": "[1]"}, {"textreg": "{"}])
def test_safetensors_of_others(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    save_file({"weights": np.ones(3)}, tmp_path / "m", metadata)
    with pytest.raises(ModelError, match="not a textreg model file"):
        load_model(tmp_path / "m")


def test_a_missing_file_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no model file .*nowhere.* textreg train FILE -o"):
        load_model(tmp_path / "nowhere")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a file"):
        load_model(tmp_path)


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        load_model(tmp_path / ("x" * 300))
    with pytest.raises(ModelError, match="cannot be written"):
        save_model(make(), tmp_path / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no file can be called"):
        make().save(tmp_path / name)


def test_a_newer_format(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header, _ = content(path)
    # A later version may have changed all the rest.
    with monkeypatch.context() as patch:
        patch.setattr(container, "FORMAT", 2)
        path.write_bytes(container.pack({"labels": header["labels"]}, {}))
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert str(caught.value) == (
        f"{path} was made by a newer textreg (format 2, this one reads 1): pip install -U textreg"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda data, stated: (data, {**stated, "entries": stated["entries"] - 1}),
        lambda data, stated: (data, {**stated, "entries": stated["entries"] + 1}),
        lambda data, stated: (data, {**stated, "entries": 10**15}),
        lambda data, stated: (data, {**stated, "entries": 0}),
        lambda data, stated: (data, {**stated, "dtype": 3}),
        lambda data, stated: (data[:-3], stated),
        lambda data, stated: (data[::-1].copy(), stated),
        lambda data, stated: (data[:0], stated),
        lambda data, stated: (np.append(data, data), stated),
        lambda data, stated: (data, 7),
        lambda data, stated: (data, {"dtype": "U8"}),
        lambda data, stated: (data, {**stated, "entries": True}),
    ],
)
def test_damaged_deflated_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any]
) -> None:
    deflate = container.deflate

    def damaged(arrays: Any) -> Any:
        stored, deflated = deflate(arrays)
        stored["names"], deflated["names"] = change(stored["names"], deflated["names"])
        return stored, deflated

    with monkeypatch.context() as patch:
        patch.setattr(container, "deflate", damaged)
        save_model(many_names(), tmp_path / "m")
    with pytest.raises(ModelError, match=r"m is damaged: .*(inflate|its header has no)"):
        load_model(tmp_path / "m")


def test_deflated_that_is_no_object(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(container, "deflate", lambda arrays: (dict(arrays), [1]))
        save_model(make(), path)
    with pytest.raises(ModelError, match="is damaged: its header has no 'deflated'"):
        load_model(path)


def _set(index: int, value: float, name: str) -> Callable[..., None]:
    def edit(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name][index] = value

    return edit


def _header(key: str, value: Any) -> Callable[..., None]:
    def edit(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header[key] = value

    return edit


def _summary(**values: Any) -> Callable[..., None]:
    return lambda header, arrays: header["summary"].update(values)


def _part(key: str, value: Any) -> Callable[..., None]:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header["parts"][0][key] = value

    return change


def _tokenizer(key: str, value: Any) -> Callable[..., None]:
    def edit(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header["parts"][0]["tokenizer"][key] = value

    return edit


def _array(name: str, change: Callable[[Any], Any]) -> Callable[..., None]:
    def edit(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name] = change(arrays[name])

    return edit


def _blank(names: Any) -> None:
    names[:2] = ord(" ")


def _alike(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """All n-grams begin and end alike."""
    arrays["children"][:] = 0
    arrays["children"][0] = len(arrays["last"])
    arrays["last"][:] = 0


def _kept(value: int) -> Callable[..., None]:
    def edit(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["kept"] = np.ones(sum(header["parts"][0]["levels"]), dtype=np.uint8)
        arrays["kept"][1] = value

    return edit


def _columns(values: list[int]) -> Callable[..., None]:
    def edit(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["columns"] = np.array(values)

    return edit


DAMAGES = {
    "infinite weight": (_set(0, np.inf, "weights"), "'weights' holds a number that is not finite"),
    "nan intercept": (_set(0, np.nan, "intercepts"), "'intercepts' holds a number"),
    "feature out of bounds": (_set(0, 10**6, "weight_columns"), "a feature outside 0 to"),
    "negative feature": (_set(0, -1, "weight_columns"), "a feature outside 0 to"),
    "feature twice": (
        _array("weight_columns", lambda a: np.zeros_like(a)),
        "do not increase within a row",
    ),
    "ptr does not start at 0": (_set(0, 1, "weight_ptr"), "'weight_ptr' does not divide"),
    "ptr ends elsewhere": (_set(-1, 99, "weight_ptr"), "'weight_ptr' does not divide"),
    "ptr falls": (_set(1, 10**9, "weight_ptr"), "'weight_ptr' does not divide"),
    "a row too many": (_array("weight_ptr", lambda a: np.append(a, a[-1])), "into 3 parts"),
    "name_ptr falls": (_set(1, -5, "name_ptr"), "'name_ptr' does not divide"),
    "no name_ptr": (_array("name_ptr", lambda a: a[:0]), "'name_ptr' does not divide"),
    "name cut short": (_array("names", lambda a: a[:-1]), "'name_ptr' does not divide"),
    "name is no UTF-8": (_set(0, 255, "names"), "not UTF-8"),
    "name twice": (_array("names", lambda a: np.full_like(a, 97)), "have the same name"),
    "a word with spaces": (lambda header, arrays: _blank(arrays["names"]), "a word in it has a"),
    "other n-grams than words": (
        lambda header, arrays: header["vectorizer"].update(ngrams=3),
        "do not have up to 3 words",
    ),
    "no levels": (_part("levels", []), "n-grams are not those of its tokenizers"),
    "negative levels": (_part("levels", [12, -6]), "n-grams are not those of its tokenizers"),
    "levels of other arrays": (_part("levels", [5, 7]), "other n-grams than it says"),
    "negative children": (_set(0, -1, "children"), "do not have the children"),
    "too many children": (_set(0, 2**31 - 1, "children"), "do not have the children"),
    "no children": (lambda header, arrays: arrays.pop("children"), "other n-grams than it says"),
    "a last word out of bounds": (_set(-1, 99, "last"), "do not end in its words"),
    "a negative last word": (_set(0, -1, "last"), "do not end in its words"),
    "a last word twice": (_alike, "do not end in its words, in order"),
    "kept is no flag": (_kept(2), "'kept' holds a number"),
    "kept is of others": (_kept(0), "does not have 12 features"),
    "kept is short": (
        lambda header, arrays: arrays.update(kept=np.ones(3, dtype=np.uint8)),
        "not those of its tokenizers",
    ),
    "idf without tfidf": (lambda header, arrays: arrays.update(idf=np.ones(12)), "tfidf"),
    "idf of other features": (lambda header, arrays: arrays.update(idf=np.ones(5)), "5 idf values"),
    "no weighting": (
        lambda header, arrays: header["vectorizer"].update(weighting="auto"),
        "its weighting, 'auto', is not one of features",
    ),
    "tfidf without idf": (
        lambda header, arrays: header["vectorizer"].update(weighting="tfidf"),
        "tfidf",
    ),
    "columns out of bounds": (_columns([*range(11), 99]), "columns are not increasing"),
    "columns out of order": (_columns([1, 0, *range(2, 12)]), "columns are not increasing"),
    "negative columns": (_columns([-1, *range(11)]), "columns are not increasing"),
    "columns that do not fit": (_columns([0, 1]), "weight_ptr. does not divide 35"),
    "stop words missing": (
        lambda header, arrays: header["parts"][0].pop("stop_words"),
        r"'parts\[0\].stop_words' is missing",
    ),
    "stop words are numbers": (_part("stop_words", [1]), r"stop_words\[0\]' must be text"),
    "names of no tokenizer": (_part("names", 11), "not those of its tokenizers"),
    "negative names": (_part("names", -12), "not those of its tokenizers"),
    "no tokenizer": (_header("parts", []), "not those of its tokenizers"),
    "a tokenizer twice": (
        lambda header, arrays: header["parts"].append(
            {**header["parts"][0], "names": 0, "levels": [0, 0]}
        ),
        "two of its tokenizers have the same name",
    ),
    "weights without columns": (_array("weight_columns", lambda a: a[:-1]), "weights for"),
    "intercepts missing": (_array("intercepts", lambda a: a[:1]), "1 intercepts, not 3"),
    "wrong type": (_array("weights", lambda a: a.astype(np.float32)), "has the type 'F32'"),
    "wrong shape": (_array("weights", lambda a: a[:, None]), "and the shape"),
    "array missing": (lambda header, arrays: arrays.pop("intercepts"), "no array 'intercepts'"),
    "one label": (_header("labels", ["x"]), "two or more distinct labels"),
    "label is a number": (_header("labels", ["x", 3, "z"]), r"labels\[1\]. must be text"),
    "label twice": (_header("labels", ["x", "x", "z"]), "two or more distinct labels"),
    "labels missing": (lambda header, arrays: header.pop("labels"), "'labels' is missing"),
    "labels too many": (_header("labels", ["a", "b", "c", "d"]), "intercepts, not 4"),
    "unknown weighting": (
        lambda header, arrays: header["vectorizer"].update(weighting="magic"),
        "weighting must be one of",
    ),
    "vectorizer parameter self": (
        lambda header, arrays: header["vectorizer"].update(self=1),
        "no parameter 'self'",
    ),
    "infinite threshold": (
        _header("thresholds", {"label 0": 10**400}),
        "000..., which is too large",
    ),
    "unknown vectorizer parameter": (
        lambda header, arrays: header["vectorizer"].update(magic=1),
        "no parameter 'magic'",
    ),
    "no loss": (lambda header, arrays: header.pop("loss"), "'loss' is missing"),
    "no calibration": (
        lambda header, arrays: header.pop("calibration"),
        "'calibration' is missing",
    ),
    "no thresholds": (lambda header, arrays: header.pop("thresholds"), "'thresholds' is missing"),
    "no summary": (lambda header, arrays: header.pop("summary"), "'summary' is missing"),
    "no path": (lambda header, arrays: header.pop("path"), "'path' is missing"),
    "tokenizer is a text": (_part("tokenizer", "words"), "tokenizer' must be an object"),
    "regularizer of no object": (_summary(reg=3), "'summary.reg' must be an object, not 3"),
    "groups without a name": (
        _summary(groups={"params": {}}),
        "'summary.groups.name' is missing",
    ),
    "graph without parameters": (
        _summary(graph={"name": "a"}),
        "graph.params' is missing",
    ),
    "counts of texts": (_summary(labels={"a": "3"}), "'summary.labels.a' must be a finite number"),
    "a search of numbers": (_summary(search=[3]), r"'summary.search\[0\]' must be an object"),
    "a search without its metric": (
        _summary(search=[{"params": {}, "settings": {}, "nonzero": 1, "error": None}]),
        "'summary' contradicts itself: a setting of the search has no log-loss",
    ),
    "a search without a split": (_summary(split=None), "'summary' contradicts itself: a search"),
    "orders that do not fit": (_summary(order=[]), "'summary' contradicts itself: order and"),
    "infinite gap": (_summary(gap=10**400), "000..., which is too large"),
    "interval of one end": (
        lambda header, arrays: header["summary"]["dev"].update(accuracy_interval=[0.5]),
        "'summary.dev.accuracy_interval' must be of length 2",
    ),
    "counts of a flag": (
        _summary(labels={"a": True}),
        "labels.a' must be a finite number",
    ),
    "an order of numbers": (
        _summary(order=[[1]]),
        r"'summary.order\[0\]\[0\]' must be text, not 1",
    ),
    "steps of an unknown group": (
        _summary(order_groups=[[{"group": "a", "name": None, "features": []}]]),
        "group' must be a whole number, not 'a'",
    ),
    "plugins of no list": (_summary(plugins={}), "'summary.plugins' must be a list"),
    "plugins of texts": (_summary(plugins=["lasso"]), "plugins.0.' must be an object"),
    "plugin without a name": (_summary(plugins=[{"kind": "graph"}]), "name' is missing"),
    "tokenizer name for pip": (_tokenizer("name", "--pre"), "no tokenizer can have the name"),
    "distribution for a shell": (_tokenizer("distribution", "a; rm -rf x"), "the distribution"),
    "distribution for pip": (_tokenizer("distribution", "-e."), "the distribution"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_behind_a_right_checksum(path: Path, damage: str) -> None:
    edit, message = DAMAGES[damage]
    rewrite(path, edit)
    with pytest.raises(ModelError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path} is damaged: ")


def test_weights_that_no_memory_holds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **keywords: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("textreg.model.storage.np.zeros", refuse)
    with pytest.raises(ModelError, match="does not fit into the memory"):
        load_model(path)


def test_a_header_nested_without_end(path: Path) -> None:
    deep = "[" * 100_000
    save_file({}, path, {"textreg": '{"format":1,"labels":' + deep})
    with pytest.raises(ModelError, match="not a textreg model file"):
        load_model(path)


def test_nan_is_not_written(tmp_path: Path) -> None:
    model = make()
    model.summary = replace(SUMMARY, gap=float("nan"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_truncated_anywhere(path: Path) -> None:
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)  # some systems write to disk at once what takes a file's place
        with pytest.raises(ModelError):
            load_model(path)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, Model]:
    path = tmp_path_factory.mktemp("fuzz") / "m"
    model = make("tfidf", labels=3)
    save_model(model, path)
    return path, path.read_bytes(), model


@draws(600)
@given(data=st.data())
def test_any_damage_is_noticed(small: tuple[Path, bytes, Model], data: st.DataObject) -> None:
    path, content, model = small
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        kind = data.draw(st.sampled_from(["flip", "set", "insert", "remove"]))
        if kind == "flip":
            changed[at] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "set":
            changed[at] = data.draw(st.integers(0, 255))
        elif kind == "insert":
            changed[at:at] = data.draw(st.binary(min_size=1, max_size=9))
        else:
            del changed[at : at + data.draw(st.integers(1, 9))]
    path.write_bytes(changed)
    try:
        loaded = load_model(path)
    except ModelError:
        return  # noticed; any other exception fails the test
    assert same(model, loaded)


# Tokenizers that are not there


def strange(path: Path) -> None:
    rewrite(
        path,
        lambda header, arrays: header["parts"][0]["tokenizer"].update(
            name="german", params={"umlauts": True}, distribution="acme-tok", version="1.3.0"
        ),
    )


def test_a_missing_tokenizer_names_the_command(path: Path) -> None:
    strange(path)
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert str(caught.value) == (
        f"{path} needs the tokenizer 'german' of acme-tok 1.3.0, which is not installed: "
        f"pip install acme-tok==1.3.0 (without it, textreg show {path} still works)"
    )


def test_a_model_can_be_shown_without_its_tokenizer(path: Path, tmp_path: Path) -> None:
    whole = load_model(path)
    strange(path)
    model = load_model(path, tokenizer=False)
    assert TokenizerOrigin.of(model.encoder.tokenizer).distribution == "acme-tok"
    assert model.encoder.tokenizer.name == "german"
    assert model.encoder.tokenizer.params() == {"umlauts": True}
    assert model.top_features() == whole.top_features()
    with pytest.raises(ModelError, match="without its tokenizer, 'german'"):
        model.predict(["good"])
    model.save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == path.read_bytes()


def test_a_tokenizer_that_its_distribution_has_no_more(path: Path) -> None:
    rewrite(path, _tokenizer("distribution", "numpy"))
    with pytest.raises(ModelError, match=r"needs the tokenizer 'test-cut' of numpy: no tokenizer"):
        load_model(path)


def test_a_tokenizer_of_another_program(path: Path) -> None:
    rewrite(path, _tokenizer("name", "private"))
    with pytest.raises(ModelError, match="needs the tokenizer 'private': no tokenizer 'private'"):
        load_model(path)


def test_a_parameter_that_the_tokenizer_does_not_have(path: Path) -> None:
    rewrite(path, _tokenizer("params", {"color": 1}))
    with pytest.raises(ModelError, match=r"'test-cut': test-cut: no parameter 'color'"):
        load_model(path)


def test_parameters_that_python_would_mix_up(path: Path) -> None:
    rewrite(path, _tokenizer("params", {"kind": 1, "name": 2, "self": 3}))
    with pytest.raises(ModelError, match=r"'test-cut': test-cut: no parameter"):
        load_model(path)


def test_a_tokenizer_without_a_name(tmp_path: Path) -> None:
    class Nameless(Cut):
        name = ""

    with pytest.raises(UsageError, match="give its class a name"):
        save_model(make(tokenizer=Nameless()), tmp_path / "m")


SHOW_ALONE = """
import sys
from textreg.model.storage import load_model

before = set(sys.modules)
load_model(sys.argv[1], tokenizer=False)
new = (name for name in set(sys.modules) - before if "textreg" in name)
print(sorted(name for name in new if not name.startswith("textreg.model.")))
"""


def test_showing_imports_no_plugin(tmp_path: Path) -> None:
    save_model(make(tokenizer=registry.create("tokenizer", "words")), tmp_path / "m")
    run = subprocess.run(
        [sys.executable, "-c", SHOW_ALONE, str(tmp_path / "m")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "[]\n", run.stderr


PREDICT_ALONE = """
import sys
from textreg.model.storage import load_model

load_model(sys.argv[1]).predict(["so good"])
assert "scipy" not in sys.modules
"""


def test_to_predict_takes_no_scipy(tmp_path: Path) -> None:
    save_model(make(tokenizer=registry.create("tokenizer", "words")), tmp_path / "m")
    command = [sys.executable, "-c", PREDICT_ALONE, str(tmp_path / "m")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


# Writing


def test_a_full_disk_leaves_the_older_model(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match=r"No space left on device. The file that was there is un"):
        save_model(make(), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


SAVE_WITH_LITTLE_ROOM = """
import resource, sys
from textreg.model.storage import load_model, save_model

model = load_model(sys.argv[1], tokenizer=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save_model(model, sys.argv[2])
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_the_system_stops_the_write_halfway(path: Path) -> None:
    target = path.parent / "new"
    run = subprocess.run(
        [sys.executable, "-c", SAVE_WITH_LITTLE_ROOM, str(path), str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.startswith(f"ModelError {target} cannot be written: File too large."), run
    assert list(path.parent.iterdir()) == [path]


def test_ctrl_c_while_writing_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(make(), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


SAVE_AS_NOBODY = """
import os, sys
from importlib import metadata
from textreg.model.storage import load_model, save_model

version = metadata.version("textreg")
metadata.version = lambda name: version  # nobody may not look into the packages of root
model = load_model(sys.argv[1], tokenizer=False)
save_model(model, sys.argv[2])  # all that this imports, nobody else may be able to read
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere
try:
    save_model(model, sys.argv[1])
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs the permissions of POSIX")
def test_a_read_only_folder(path: Path) -> None:
    before = path.read_bytes()
    # Not tmp_path, which nobody else may look into.
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "model"
        target.write_bytes(before)
        Path(folder).chmod(0o555)
        run = subprocess.run(
            [sys.executable, "-c", SAVE_AS_NOBODY, str(target), str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stdout.startswith(
            f"ModelError {target} cannot be written: Permission denied. "
            "The file that was there is unchanged."
        ), run
        assert list(Path(folder).iterdir()) == [target]
        assert target.read_bytes() == before
        Path(folder).chmod(0o755)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no folder .*models. Make it \(mkdir -p"):
        save_model(make(), tmp_path / "models" / "m")


def test_a_folder_is_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        save_model(make(), tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no devices here")
def test_devices_are_left_alone() -> None:
    with pytest.raises(UsageError, match="not a regular file"):
        save_model(make(), "/dev/null")
    with pytest.raises(UsageError, match="is not a file"):
        load_model("/dev/null")


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    model = make()
    save_model(model, link)
    assert link.is_symlink()
    assert same(load_model(path), model)


def test_others_may_read_what_the_umask_lets_them(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        save_model(make(), tmp_path / "m")
    finally:
        os.umask(old)
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_rights_of_a_file_stay(path: Path, tmp_path: Path, mode: int) -> None:
    (tmp_path / "link").symlink_to(path)
    path.chmod(mode)
    for target in (path, tmp_path / "link"):
        with replacing(target) as file:
            (temporary,) = tmp_path.glob(".textreg-*")
            assert temporary.stat().st_mode & 0o777 == 0o600  # while it is written
            file.write(b"new")
        assert path.stat().st_mode & 0o777 == mode
        assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can")
def test_the_owner_of_a_file_stays(path: Path) -> None:
    os.chown(path, 65534, 65533)
    save_model(make(), path)
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65533)


def test_an_array_that_no_model_has(path: Path) -> None:
    rewrite(path, lambda header, arrays: arrays.update(groups=np.zeros(3)))
    with pytest.raises(ModelError, match="a model has no array 'groups'"):
        load_model(path)


def test_arrays_follow_each_other_in_a_file() -> None:
    arrays: dict[str, Any] = {
        "b": np.array([1, 2], dtype=np.int32),
        "a": np.array([3], dtype=np.int32),
        "z": np.array([0.5]),
        "none": np.zeros(0),
        "bytes": np.array([7], dtype=np.uint8),
    }
    entries = container.arrange(arrays)
    assert [(it.name, it.dtype, it.shape, it.begin, it.end) for it in entries] == [
        ("none", "F64", (0,), 0, 0),
        ("z", "F64", (1,), 0, 8),
        ("a", "I32", (1,), 8, 12),
        ("b", "I32", (2,), 12, 20),
        ("bytes", "U8", (1,), 20, 21),
    ]
    assert entries[1].digest_text() == b'["z", "F64", [1]]'
    data = container.join({"k": "v"}, entries[1:2], [b"12345678"])
    text = b'{"__metadata__":{"k":"v"},"z":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}'
    assert len(text) == 79
    assert data == (80).to_bytes(8, "little") + text + b" " + b"12345678"
    table = json.loads(text)
    assert container.entries_of(table, 8) == entries[1:2]
    with pytest.raises(container.FaultError, match="its arrays take 8 bytes, but it has 9 bytes f"):
        container.entries_of(table, 9)
    table["y"] = {"dtype": "U8", "shape": [2], "data_offsets": [9, 11]}
    with pytest.raises(
        container.FaultError, match="'y' begins at byte 9 of the data, and not at 8"
    ):
        container.entries_of(table, 11)


def test_what_is_deflated_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "offsets": np.arange(0, 4000, 7, dtype=np.int64),
        "negative": np.array([5, -3, -3, 8] * 50, dtype=np.int32),
        "zeros": np.zeros(500),
        "noise": random.integers(0, 256, 500).astype(np.uint8),
        "weights": random.normal(size=500).astype(np.float32).astype(np.float64),
        "one": np.array([1], dtype=np.int64),
    }
    stored, deflated = container.deflate(arrays)
    assert set(deflated) == {"offsets", "negative", "zeros", "weights"}
    assert deflated["offsets"] == {"dtype": "I64", "entries": 572, "shuffled": True}
    assert deflated["weights"]["shuffled"] is True
    for name, array in arrays.items():
        if name not in deflated:
            assert stored[name] is array
            continue
        assert stored[name].nbytes < 0.9 * array.nbytes
        how = deflated[name]
        back = container.inflate(
            name, stored[name], array.dtype, how["entries"], shuffled=how["shuffled"]
        )
        assert (back.dtype, back.tobytes()) == (array.dtype, array.tobytes())
        for wrong in (array.size - 1, array.size + 1):
            with pytest.raises(container.FaultError, match=f"'{name}' cannot be inflated to"):
                container.inflate(name, stored[name], array.dtype, wrong, shuffled=how["shuffled"])
    # What grows most stays as it is where all would grow too much.
    monkeypatch.setattr(container, "SMALL", 1000)
    stored, deflated = container.deflate(arrays)
    total, kept = (sum(it.nbytes for it in some.values()) for some in (arrays, stored))
    assert total <= 20 * kept
    monkeypatch.setattr(container, "MAX_EXPANSION", 3)
    stored, deflated = container.deflate(arrays)
    assert stored["zeros"] is arrays["zeros"]
    assert "weights" in deflated


def test_numbers_of_a_header() -> None:
    assert container.parse('{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert container.parse("9" * 300) == int("9" * 300)
    for text, message in (
        ("9" * 301, f"its header has the number {'9' * 20}..., which is too large"),
        ("1e999", "its header has the number '1e999', which is too large"),
        ('{"a": 1, "a": 2}', "its header has two members of the same name"),
    ):
        with pytest.raises(container.FaultError, match=re.escape(message)):
            container.parse(text)
    with pytest.raises(ValueError, match=r"^NaN$"):
        container.parse("NaN")
    assert container.canonical({"b": 1, "a": [1, 2]}) == '{"a":[1,2],"b":1}'
    assert container.field({"a": 1}, "a", int) == 1
    for header in ({"a": True}, {}):
        with pytest.raises(container.FaultError, match=r"^its header has no 'a' of the type int$"):
            container.field(header, "a", int)


def test_faults_name_their_file() -> None:
    end = "Copy it again from where it was made, or train it again."
    for fault, told in (("x" * 600, "x" * 600), ("x" * 601, "x" * 600 + "..."), ("so.", "so")):
        with pytest.raises(ModelError) as raised, container.blaming(Path("m")):
            raise container.FaultError(fault)
        assert str(raised.value) == f"m is damaged: {told}. {end}"


def test_lengths_that_fit_together() -> None:
    lengths = {"names": 3, "ptr": 5, "values": 6, "columns": 6, "rows": 3}
    container.check_name_lengths(lengths, "names", "ptr")
    container.check_name_lengths({"names": 0, "ptr": 1}, "names", "ptr")
    for wrong in (0, 6):
        with pytest.raises(container.FaultError, match="'ptr' does not divide 3 letters into na"):
            container.check_name_lengths({**lengths, "ptr": wrong}, "names", "ptr")
    three = ("values", "columns", "rows")
    container.check_row_lengths(lengths, three, 2, 3)
    for rows, features in ((3, 3), (1, 9), (2, 2)):
        with pytest.raises(container.FaultError, match=f"'rows' does not divide 6 .* {rows} parts"):
            container.check_row_lengths(lengths, three, rows, features)
    with pytest.raises(container.FaultError, match="'values' has 5 weights for 6 features"):
        container.check_row_lengths({**lengths, "values": 5}, three, 2, 3)
    for ptr, right in (
        *(([0, 2, 2, 5], True), ([1, 2, 2, 5], False), ([0, 2, 2, 4], False)),
        *(([0, 3, 2, 5], False), ([0, 2, 5], False)),
    ):
        arrays = {"ptr": np.array(ptr)}
        if right:
            container.check_offsets(arrays, "ptr", 3, 5)
            continue
        with pytest.raises(container.FaultError, match="'ptr' does not divide 5 entries into 3 pa"):
            container.check_offsets(arrays, "ptr", 3, 5)


def test_rows_of_weights_are_checked() -> None:
    names = ("values", "columns", "ptr")

    def unpack(columns: list[int], ptr: list[int]) -> Any:
        values = np.arange(1.0, len(columns) + 1.0)
        arrays = dict(zip(names, (values, np.array(columns), np.array(ptr)), strict=True))
        return container.unpack_rows(arrays, names, len(ptr) - 1, 4)

    assert [it.tolist() for it in unpack([0, 3, 0], [0, 2, 3])] == [[1, 2, 3], [0, 3, 0], [0, 2, 3]]
    for outside in (-1, 4):
        with pytest.raises(container.FaultError, match="a weight is for a feature outside 0 to 3"):
            unpack([outside], [0, 1])
    for columns in ([1, 1], [2, 1]):
        with pytest.raises(container.FaultError, match="features of its weights do not increase"):
            unpack(columns, [0, 2])
        unpack(columns, [0, 1, 2])


@dataclass(frozen=True)
class Inner:
    """Has a field of any type, and one that refuses."""

    name: str
    what: Any = None

    def __post_init__(self) -> None:
        if self.name == "odd":
            raise UsageError("a name is odd.")


@dataclass(frozen=True)
class Outer:
    """Has fields of all types, and a dictionary whose members stand beside them."""

    count: int
    share: float
    pair: tuple[str, int]
    inner: tuple[Inner, ...]
    by_name: dict[str, float | None]
    more: dict[str, float] = field(metadata=json_records.INLINE)
    flag: bool = False


def test_records_as_json() -> None:
    record = Outer(1, 2.0, ("a", 3), (Inner("b", [1]),), {"c": None}, {"log-loss": 0.5})
    plain = {
        "count": 1,
        "share": 2.0,
        "pair": ["a", 3],
        "inner": [{"name": "b", "what": [1]}],
        "by_name": {"c": None},
        "log_loss": 0.5,
    }
    assert json_records.to_json(record) == plain
    assert json_records.from_json(Outer, plain, "it") == record
    assert json_records.to_json(replace(record, flag=True, inner=(Inner("b"),)))["flag"] is True
    assert json_records.to_json(Inner("b")) == {"name": "b"}
    read = json_records.from_json(Outer, {**plain, "share": 3, "flag": True}, "it")
    assert (type(read.share), read.flag) == (float, True)
    without = {key: value for key, value in plain.items() if key != "count"}
    nested: Any = 1
    for _ in range(json_records.MAX_DEPTH):
        nested = [nested]
    assert json_records.from_json(Inner, {"name": "b", "what": nested}, "it").what == nested
    for wrong, message in (
        (without, "'it.count' is missing"),
        ({**plain, "count": True}, "'it.count' must be a whole number, not True"),
        ({**plain, "count": 1.0}, "'it.count' must be a whole number, not 1.0"),
        ({**plain, "flag": 1}, "'it.flag' must be true or false, not 1"),
        ({**plain, "share": "x"}, "'it.share' must be a finite number, not 'x'"),
        ({**plain, "share": 10**400}, "'it.share' must be a finite number, not 1000"),
        ({**plain, "pair": ["a"]}, "'it.pair' must be of length 2, not ['a']"),
        ({**plain, "pair": ["a", "b"]}, "'it.pair[1]' must be a whole number, not 'b'"),
        ({**plain, "pair": {}}, "'it.pair' must be a list, not {}"),
        ({**plain, "by_name": {"c": "x"}}, "'it.by_name.c' must be a finite number, not 'x'"),
        ({**plain, "by_name": []}, "'it.by_name' must be an object, not []"),
        ({**plain, "inner": [{"name": 5}]}, "'it.inner[0].name' must be text, not 5"),
        ({**plain, "inner": [5]}, "'it.inner[0]' must be an object, not 5"),
        ({**plain, "log_loss": "x"}, "'it.log-loss' must be a finite number, not 'x'"),
        (
            {**plain, "inner": [{"name": "odd"}]},
            "'it.inner[0]' contradicts itself: a name is odd",
        ),
        (
            {**plain, "inner": [{"name": "b", "what": [nested]}]},
            "'it.inner[0].what' must be a parameter, not [[[",
        ),
    ):
        with pytest.raises(container.FaultError) as raised:
            json_records.from_json(Outer, wrong, "it")
        assert str(raised.value).startswith(message)
    with pytest.raises(container.FaultError, match=r"^'name' is missing$"):
        json_records.from_json(Inner, {}, "")
