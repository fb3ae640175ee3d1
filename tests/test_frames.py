"""Columns of data frames of any package, in place of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import textreg
from textreg.errors import DataError, UsageError
from textreg.records.documents import as_column, first_missing

TEXTS = ["good superb", "bad awful", "fine 好", "dull плохо"] * 5
LABELS = ["pos", "neg"] * 10
OPTIONS: dict[str, Any] = {"reg": textreg.Ridge(l2=1.0), "tokenizer": "words"}


class Dataset:
    """As the datasets of Hugging Face are: rows are dicts, columns can only be read."""

    def __init__(self, **columns: Sequence[Any]) -> None:
        self.columns_ = columns
        self.column_names = list(columns)
        self.shape = (len(next(iter(columns.values()))), len(columns))

    def __getitem__(self, name: str) -> Any:
        return Column(self.columns_[name])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (
            dict(zip(self.column_names, row, strict=True))
            for row in zip(*self.columns_.values(), strict=True)
        )


class Column(Sequence[Any]):
    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Any:
        return self.values[at]


def pandas(**columns: Any) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def polars(**columns: Any) -> Any:
    return pytest.importorskip("polars").DataFrame(columns, strict=False)


def arrow(**columns: Any) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


FRAMES = pytest.mark.parametrize("frame", [pandas, polars, arrow, Dataset])
Frame = Callable[..., Any]


@FRAMES
@pytest.mark.parametrize("labels", [LABELS, [0, 1] * 10, [True, False] * 10])
def test_columns_in_place_of_lists(frame: Frame, labels: list[Any]) -> None:
    plain = textreg.train(TEXTS, labels, **OPTIONS)
    table = frame(text=TEXTS, label=labels, w=[1.0] * 20, by=list("abcd") * 5)
    model = textreg.train(table["text"], table["label"], sample_weight=table["w"], **OPTIONS)
    assert model.labels == plain.labels
    assert model.predict(table["text"]) == plain.predict(TEXTS)
    assert np.array_equal(
        model.decision_function(frame(text=TEXTS)), plain.decision_function(TEXTS)
    )
    assert np.array_equal(model.predict_proba(table["text"]), plain.predict_proba(TEXTS))
    corpus = textreg.Corpus(table["text"], labels=table["label"], group_of=table["by"])
    assert (corpus.texts, corpus.group_of) == (TEXTS, list("abcd") * 5)
    assert corpus.labels == [str(label) for label in labels]
    first, *_ = textreg.explain.explain(model, table["text"])
    assert first.text == TEXTS[0]


@FRAMES
def test_a_table_of_one_column_and_of_several(frame: Frame) -> None:
    table = frame(text=TEXTS, label=LABELS)
    for fit in (
        lambda X: textreg.train(X, LABELS, **OPTIONS).predict(X),
        lambda X: textreg.TextClassifier(**OPTIONS).fit(X, LABELS).predict(X).tolist(),
    ):
        assert fit(frame(text=TEXTS)) == fit(TEXTS)
        with pytest.raises(UsageError, match=r"one column, not a table with the columns text, lab"):
            fit(table)


@pytest.mark.sampled(8)
@FRAMES
@pytest.mark.parametrize(
    "labels", [LABELS, [0, 1] * 10, [True, False] * 10, [0.0, 1.0] * 10, [-3, 5] * 10]
)
def test_labels_of_estimators_keep_their_type(frame: Frame, labels: list[Any]) -> None:
    table = frame(text=TEXTS, label=labels)
    model = textreg.TextClassifier(**OPTIONS).fit(table["text"], table["label"])
    plain = textreg.TextClassifier(**OPTIONS).fit(TEXTS, labels)
    assert model.classes_.tolist() == plain.classes_.tolist() == sorted(set(labels))
    assert type(model.predict(table["text"]).tolist()[0]) is type(labels[0])
    assert model.score(table["text"], table["label"]) == plain.score(TEXTS, labels) == 1.0


@pytest.mark.parametrize("frame", [pandas, polars, arrow])
def test_a_table_of_indicators(frame: Frame) -> None:
    """Of pandas it was taken, of others told to be one column."""
    table = frame(bad=[0, 1] * 10, good=[1, 0] * 10, odd=[1, 1, 0, 0] * 5)
    model = textreg.TextClassifier(**OPTIONS).fit(TEXTS, table)
    plain = textreg.TextClassifier(**OPTIONS).fit(TEXTS, np.asarray(table))
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.array_equal(model.predict(TEXTS), plain.predict(TEXTS))


@FRAMES
def test_numbers_to_predict(frame: Frame) -> None:
    numbers = [1.5, -1.0, 1.0, -2.0] * 5
    table = frame(text=TEXTS, y=numbers)
    model = textreg.TextRegressor(**OPTIONS).fit(table["text"], table["y"])
    plain = textreg.TextRegressor(**OPTIONS).fit(TEXTS, numbers)
    assert np.array_equal(model.predict(table["text"]), plain.predict(TEXTS))


@FRAMES
def test_lists_of_labels(frame: Frame) -> None:
    lists = [["x", "y"], [], ["x"], ["y"]] * 5
    table = frame(text=TEXTS, labels=lists)
    model = textreg.train(table["text"], table["labels"], **OPTIONS)
    assert model.predict(TEXTS) == textreg.train(TEXTS, lists, **OPTIONS).predict(TEXTS)
    estimator = textreg.TextClassifier(**OPTIONS).fit(table["text"], table["labels"])
    assert estimator.classes_.tolist() == ["x", "y"]
    assert estimator.predict(table["text"])[:2].tolist() == [("x", "y"), ()]


@FRAMES
def test_missing_values_are_refused(frame: Frame) -> None:
    texts, labels = [*TEXTS[:2], None, *TEXTS[3:]], [*LABELS[:2], None, *LABELS[3:]]
    table = frame(text=texts, label=labels)
    good = textreg.train(TEXTS, LABELS, **OPTIONS)
    for use, what in (
        (lambda: textreg.train(table["text"], LABELS, **OPTIONS), "document 3 is missing"),
        (lambda: textreg.train(TEXTS, table["label"], **OPTIONS), "document 3: the label is miss"),
        (lambda: good.predict(table["text"]), "document 3 is missing"),
        (lambda: textreg.TextClassifier(**OPTIONS).fit(table["text"], LABELS), r"X\[2\] is"),
        (lambda: textreg.TextClassifier(**OPTIONS).fit(TEXTS, table["label"]), r"y\[2\] is miss"),
    ):
        with pytest.raises(DataError, match=what):
            use()
    numbers = frame(y=[0.0, 1.0, float("nan"), *[1.0] * 17])
    for estimator in (textreg.TextRegressor(**OPTIONS), textreg.TextClassifier(**OPTIONS)):
        with pytest.raises(DataError, match=r"y\[2\] is missing \(nan\)"):
            estimator.fit(TEXTS, numbers["y"])


def test_missing_values_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    for values in (pd.Series(["a", pd.NA]), pd.Series(["a", None], dtype="string")):
        with pytest.raises(DataError, match="document 2 is missing"):
            textreg.train(values, ["a", "b"], **OPTIONS)
    for labels in (pd.Series([0, None] * 10, dtype="Int64"), pd.Series(["a", pd.NaT] * 10)):
        with pytest.raises(DataError, match=r"y\[1\] is missing"):
            textreg.TextClassifier(**OPTIONS).fit(TEXTS, labels)
    category = pd.Series(LABELS, dtype="category")
    model = textreg.TextClassifier(**OPTIONS).fit(pd.Series(TEXTS, dtype="string"), category)
    assert model.predict(pd.Series(TEXTS, index=range(20, 0, -1))).tolist() == LABELS


def test_arrays_of_texts() -> None:
    plain = textreg.train(TEXTS, LABELS, **OPTIONS)
    for texts in (np.array(TEXTS), np.array(TEXTS, dtype=object), np.array(TEXTS)[:, None]):
        assert textreg.train(texts, np.array(LABELS), **OPTIONS).predict(texts) == LABELS
        assert plain.predict(texts) == LABELS
    for wrong in (np.array(TEXTS).reshape(10, 2), np.zeros((2, 3, 1)), {"text": TEXTS}):
        with pytest.raises(UsageError, match="must be one column"):
            plain.predict(wrong)
        with pytest.raises(UsageError, match="must be one column"):
            textreg.TextClassifier(**OPTIONS).fit(wrong, LABELS)


def test_what_only_the_arrow_protocol_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")

    class Result:
        def __init__(self, content: Any) -> None:
            self.content = content

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.content.__arrow_c_stream__(requested_schema)

    assert as_column(Result(pa.chunked_array([TEXTS])), "texts") == TEXTS
    assert as_column(Result(pa.table({"text": TEXTS})), "texts") == TEXTS
    model = textreg.train(Result(pa.table({"text": TEXTS})), LABELS, **OPTIONS)
    assert model.predict(Result(pa.table({"text": TEXTS}))) == LABELS
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'textreg\[arrow\]'"):
        as_column(Result(None), "texts")


@pytest.mark.parametrize("nothing", [None, 5])
def test_nothing_is_no_list_of_texts(nothing: Any) -> None:
    model = textreg.train(["good", "bad"] * 4, ["p", "n"] * 4, reg="ridge", reg_l2=1.0)
    classifier = textreg.TextClassifier(reg="ridge", reg_l2=1.0)
    for call in (
        lambda: textreg.train(nothing, ["p", "n"]),
        lambda: textreg.train(["good", "bad"], ["p", "n"], dev=(nothing, ["p", "n"])),
        lambda: model.predict(nothing),
        lambda: textreg.check(nothing),
        lambda: classifier.fit(nothing, ["p", "n"]),
    ):
        with pytest.raises(UsageError, match=f"expected a list of (texts|X), got {nothing}"):
            call()


@FRAMES
def test_fields_of_a_table(frame: Frame) -> None:
    columns = {"title": TEXTS, "body": TEXTS[::-1]}
    options = {**OPTIONS, "fields": ["title", "body"]}
    model = textreg.train(frame(**columns), LABELS, **options)
    plain = textreg.train(columns, LABELS, **options)
    assert model.predict(frame(**columns)) == plain.predict(columns)


@FRAMES
@pytest.mark.parametrize("labels", [LABELS, [0, 1] * 10, [["x"], []] * 10])
def test_evaluation(frame: Frame, labels: list[Any]) -> None:
    table = frame(true=labels, predicted=labels[::-1])
    names = ["x"] if isinstance(labels[0], list) else sorted(set(map(str, labels)))
    measured = textreg.evaluate(table["true"], table["predicted"], names)
    assert repr(measured) == repr(textreg.evaluate(labels, labels[::-1], names))
    if names != ["x"]:
        assert measured.accuracy == 0.0
        table = frame(true=[*labels[:3], None], predicted=labels[:4])
        with pytest.raises(DataError, match="document 4: no label"):
            textreg.evaluate(table["true"], table["predicted"], names)


@FRAMES
def test_groups_and_times(frame: Frame) -> None:
    table = frame(by=[row // 4 for row in range(20)], when=list(range(20)))
    for column in ("by", "when"):
        options = {"by": "group_of", "when": "time_of"}
        kept = {options[column]: table[column]}
        model = textreg.train(TEXTS, LABELS, **OPTIONS, **kept, holdout=0.25)
        assert model.predict(TEXTS) == LABELS


def test_where_a_value_is_missing() -> None:
    assert first_missing(["a", 0, False, ""]) is None
    assert first_missing(["a", float("nan"), None]) == 1
    assert first_missing([np.float64("nan")]) == 0
