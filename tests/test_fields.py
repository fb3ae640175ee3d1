"""Documents of several fields: texts, categories and numbers, each with features of its own."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from model_files import rewrite

import textreg
from textreg.cli.inputs import parse_fields
from textreg.errors import DataError, ModelError, PluginError, UsageError
from textreg.explain import find_selection
from textreg.features.fields import fit_fields, plan_fields
from textreg.features.vectorize import Vectorizer
from textreg.plugins import calls, registry
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg.records.documents import Field, FieldedText, as_fields, fielded
from textreg.training.recipe import fit_command

KINDS = {"subject": "text", "body": "text", "brand": "category", "price": "number"}
ROWS: list[dict[str, Any]] = [
    {"subject": "Refund please", "body": "It broke. I am sad.", "brand": "acme", "price": 3.5},
    {"subject": "", "body": "I cannot log in.", "brand": "zeta two", "price": None},
    {"subject": "Log in", "body": "No password. It broke.", "brand": None, "price": -1},
    {"subject": "My money", "body": "Refund it", "brand": "acme", "price": 12},
    {"subject": "Log on", "body": None, "brand": "zeta two", "price": 2},
    {"subject": "Refund?", "body": "Money back. Please do.", "brand": "acme", "price": 3},
]
LABELS = ["refund", "login", "login", "refund", "login", "refund"]
WORDS = registry.create("tokenizer", "words")


def make_field_features(fields: Any, tokenizer: Any, vectorizer: Any, documents: Any) -> Any:
    return fit_fields(plan_fields(fields, tokenizer, vectorizer), documents)


def trained(**settings: Any) -> textreg.Model:
    given = {"fields": KINDS, "tokenizer": "words", "reg": textreg.Ridge(l2=0.1)} | settings
    return textreg.train(ROWS * 2, LABELS * 2, **given)


def test_the_columns_are_those_of_scikit_learn_side_by_side() -> None:
    pd = pytest.importorskip("pandas")
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rows = [row for row in ROWS if row["price"] is not None and row["brand"] and row["body"]]
    texts = fielded(rows, as_fields(KINDS))
    features = make_field_features(
        as_fields(KINDS), WORDS, Vectorizer(ngrams=1, weighting="count"), texts
    )
    counts = CountVectorizer(token_pattern=r"(?u)\b\w+\b")
    peer = ColumnTransformer(
        [
            ("subject", counts, "subject"),
            ("body", counts, "body"),
            ("brand", OneHotEncoder(), ["brand"]),
            ("price", StandardScaler(), ["price"]),
        ],
        sparse_threshold=0.0,
    )
    expected = peer.fit_transform(pd.DataFrame(rows))
    assert features.encoder.names[-2:] == ["brand:acme", "price"]
    np.testing.assert_allclose(features.X.toarray(), expected, rtol=1e-15, atol=1e-15)
    again = features.encoder.transform(texts[:2])
    np.testing.assert_array_equal(again.toarray(), features.X[:2].toarray())


def test_one_field_has_the_features_of_its_texts() -> None:
    tokenizer = registry.create("tokenizer", "words,chars")
    texts = [str(row["body"] or "") for row in ROWS]
    plain = Vectorizer().fit(tokenizer, texts)
    one = make_field_features(
        as_fields(["body"]), tokenizer, Vectorizer(), fielded(ROWS, as_fields(["body"]))
    )
    np.testing.assert_array_equal(one.X.toarray(), plain.X.toarray())
    for name, of_field in zip(plain.encoder.names, one.encoder.names, strict=True):
        assert of_field == f"body:{name}"
    np.testing.assert_array_equal(one.tokens.ids, plain.tokens.ids)
    np.testing.assert_array_equal(one.tokens.sentence_ptr, plain.tokens.sentence_ptr)


def test_sentences_of_a_document_are_those_of_its_fields() -> None:
    texts = fielded(ROWS, as_fields(KINDS))
    features = make_field_features(as_fields(KINDS), WORDS, Vectorizer(ngrams=1), texts)
    tokens = features.tokens
    words = [
        [tokens.vocabulary[it] for it in tokens.ids[start:end]]
        for start, end in zip(tokens.sentence_ptr, tokens.sentence_ptr[1:], strict=False)
    ]
    assert tokens.document_ptr.tolist() == [0, 3, 4, 7, 9, 10, 13]
    assert words[:4] == [
        ["subject:refund", "subject:please"],
        ["body:it", "body:broke"],
        ["body:i", "body:am", "body:sad"],
        ["body:i", "body:cannot", "body:log", "body:in"],
    ]
    groups = calls.build_groups(registry.create("groups", "fields,sentences"), tokens)
    assert len(groups) == 4 + 13
    assert [groups.name(it) for it in range(4)] == [f"group 'fields: {name}'" for name in KINDS]
    assert groups.n_features == features.X.shape[1]
    of_groups = groups.indices[: groups.indptr[4]]
    assert sorted(of_groups.tolist()) == list(range(features.X.shape[1]))


@pytest.mark.parametrize("tokenizer", ["words", "words,chars"])
def test_an_explanation_is_an_exact_sum_by_field(tokenizer: str) -> None:
    model = trained(tokenizer=tokenizer)
    for row in ROWS:
        (score,) = model.decision_function([row])
        (explanation,) = textreg.explain.explain(model, [row], of=model.labels[1])
        total = explanation.intercept + sum(explanation.fields.values())
        assert total == pytest.approx(score, abs=1e-12)
        assert total == pytest.approx(
            explanation.intercept + sum(word.value for word in explanation.words)
        )
        for one in explanation.sentences:
            value = explanation.text.field(one.field)  # type: ignore[attr-defined]
            assert explanation.text[one.start : one.end] in value


def test_removal_is_that_of_a_document_without_the_value() -> None:
    model = trained(reg=textreg.Ridge(l2=0.01))
    row = ROWS[0]
    (explanation,) = textreg.explain.explain(model, [row], of="refund")
    found = {one.field: one.removal for one in explanation.sentences}
    log_odds = {
        name: model.log_probabilities(model.decision_function([row | changed]))[0, 1]
        for name, changed in {
            "all": {},
            "subject": {"subject": ""},
            "price": {"price": np.mean([it["price"] for it in ROWS if it["price"] is not None])},
        }.items()
    }
    for name in ("subject", "price"):
        assert found[name] == pytest.approx(log_odds["all"] - log_odds[name], abs=1e-12)


def test_a_model_file_keeps_the_fields(tmp_path: Path) -> None:
    fields = {**KINDS, "subject": {"tokenizer": "chars", "tokenizer_max_n": 3}, "body": "text"}
    model = trained(fields=fields, weighting="tfidf")
    model.save(tmp_path / "model")
    loaded = textreg.load(tmp_path / "model")
    assert loaded.encoder.fields == as_fields(KINDS)
    assert loaded.encoder.names == model.encoder.names
    np.testing.assert_array_equal(loaded.decision_function(ROWS), model.decision_function(ROWS))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def _fields(**changes: Any) -> Any:
    def edit(header: Any, _: Any) -> None:
        number = next(it for it in header["parts"] if it["field"]["kind"] == "number")
        number["field"].update(changes)

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (_fields(kind="date"), "no field can be a 'date'"),
        (_fields(scale=0.0), "the scale 0"),
        (_fields(name=" "), "no field can be"),
        (_fields(kind="category", name="subject"), "two kinds"),
        (lambda header, _: header["parts"][0].pop("field"), "only some"),
        (lambda header, _: header["parts"][0]["field"].update(kind="number"), "of the number"),
        (lambda header, _: header["parts"][0]["field"]["vectorizer"].update(ngram=2), "ngram"),
    ],
)
def test_damaged_fields_of_a_model_file(tmp_path: Path, edit: Any, message: str) -> None:
    trained().save(tmp_path / "model")
    rewrite(tmp_path / "model", edit)
    with pytest.raises(ModelError, match=message):
        textreg.load(tmp_path / "model")


@pytest.mark.parametrize("builder", ["windows", "sentences", "paragraphs", "documents"])
def test_builders_know_words_from_ngrams(builder: str) -> None:
    rows = [{"the subject": row["subject"], "body": row["body"]} for row in ROWS]
    fields = as_fields(["the subject", "body"])
    features = make_field_features(fields, WORDS, Vectorizer(), fielded(rows, fields))
    words = [name for name in features.tokens.vocabulary if " " not in name]
    assert {"the_subject:refund", "body:broke"} <= {*words}
    assert "the_subject:refund the_subject:please" in features.tokens.vocabulary
    assert "the_subject:refund please" in features.encoder.names
    groups = calls.build_groups(registry.create("groups", builder), features.tokens)
    assert groups.n_features == len(features.tokens.vocabulary)
    assert len(groups.indices) > 0


def test_groups_of_fields_price_them_as_a_whole() -> None:
    model = trained(
        reg=textreg.Group(group=0.8, l1=0.0, l2=0.0),
        groups="fields",
        tol=1e-6,
        prune=0.0,
        weighting="unit-idf",
    )
    assert model.summary is not None
    assert model.summary.converged
    by_field = dict.fromkeys(KINDS, 0.0)
    for part, start in zip(model.encoder.parts, model.encoder.starts, strict=False):  # type: ignore[union-attr]
        own = model.weights[:, start : start + len(part.names)]
        by_field[part.field.name] += float(np.square(own).sum())
    assert by_field["brand"] == by_field["price"] == 0
    assert by_field["body"] > 0
    with pytest.raises(UsageError, match="have no fields"):
        textreg.train(["a b", "c d"] * 4, ["x", "y"] * 4, reg="group", groups="fields")


def test_selection_and_unlabeled_documents() -> None:
    model = trained(reg=textreg.Sentence(group=0.01, l1=0.001, l2=0.01))
    corpus = Corpus(texts=fielded(ROWS * 2, as_fields(KINDS)), labels=LABELS * 2)
    selection = find_selection(model, corpus)
    assert selection.missing == 0
    assert selection.documents == 12
    assert any("refund" in group.text.lower() for group in selection.strongest)


def test_a_number_is_standardized_and_says_what_is_missing() -> None:
    model = trained()
    names = list(model.encoder.names)
    assert names[-4:] == ["brand:missing", "brand:zeta two", "price", "price:missing"]
    row = model.encoder.transform(model.encoder.documents([ROWS[1], ROWS[0]])).toarray()
    prices = [it["price"] for it in ROWS if it["price"] is not None]
    assert row[0, -2:].tolist() == [0.0, 1.0]
    np.testing.assert_allclose(row[1, -2], (3.5 - np.mean(prices)) / np.std(prices))


@pytest.mark.parametrize("price", [1e300, -1.7e308])
def test_a_number_far_from_all_others_has_a_finite_explanation(price: float) -> None:
    model = trained()
    explained = model.explain({**ROWS[0], "price": price})
    assert json.loads(json.dumps(explained.to_dict(), allow_nan=False))["score"] == explained.score
    assert model.predict_proba([{**ROWS[0], "price": price}]).max() == 1.0


@pytest.mark.parametrize("numbers", [[7.0] * 6, [1e300, -1e300] * 3, [1e-300] * 6, [None] * 6])
def test_numbers_of_any_size(numbers: list[Any]) -> None:
    rows = [{"body": row["body"], "n": n} for row, n in zip(ROWS, numbers, strict=True)]
    fields = as_fields({"body": "text", "n": "number"})
    features = make_field_features(fields, WORDS, Vectorizer(), fielded(rows, fields))
    assert np.isfinite(features.X.data).all()
    assert np.abs(features.X.toarray()[:, -1]).max() <= 1.0 + 1e-12


@given(st.lists(st.fixed_dictionaries({"a": st.text(), "b": st.text()}), min_size=1, max_size=5))
def test_a_fielded_text_gives_back_its_values(rows: list[dict[str, str]]) -> None:
    for row, text in zip(rows, fielded(rows, as_fields(["a", "b"])), strict=True):
        assert {name: text.field(name) for name in "ab"} == row
        again = pickle.loads(pickle.dumps(text))
        assert isinstance(again, FieldedText)
        assert (again, again.spans) == (text, text.spans)


def test_tables_and_lists_are_read_alike(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS)
    expected = fielded(ROWS, as_fields(KINDS))
    columns = {name: [row[name] for row in ROWS] for name in KINDS}
    for table in (frame, columns, frame.to_dict("records")):
        assert fielded(table, as_fields(KINDS)) == expected
    frame["label"] = LABELS
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame.to_json(tmp_path / "table.jsonl", orient="records", lines=True)
    for name in ("table.csv", "table.jsonl"):
        corpus = read_corpus(tmp_path / name, fields=as_fields(KINDS))
        assert list(corpus.texts) == expected
        assert corpus.labels == LABELS
        told = "subject + body + brand (category, 1 missing) + price (number, 1 missing)"
        assert corpus.columns["fields"] == told


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("subject", "must be a list"),
        ({"price": "number"}, "none of the fields is a text"),
        ({"body": "txt"}, "Did you mean 'text'"),
        (["body", "body"], "two fields are called 'body'"),
        ({"": "text"}, "must be a text"),
        ({"body": "text", "price": {"kind": "number", "ngrams": 1}}, "no option 'ngrams'"),
        ({"body": {"ngram": 1}}, "Did you mean 'ngrams'"),
        ({"body": {"ngrams": 0}}, "at least 1"),
        ({"body": {"tokenizer": "word"}}, "Did you mean 'words'"),
        ({"subjekt": "text"}, "Did you mean 'subject'"),
        ({"body": "text", "brand": "number"}, "document 1: 'brand' is 'acme', not a number"),
        ({"price": "text"}, "document 1: 'price' is 3.5, not a text"),
        ({"missing": "text", "body": "text"}, "no field 'missing'"),
    ],
)
def test_wrong_fields(fields: Any, message: str) -> None:
    with pytest.raises((UsageError, DataError, PluginError), match=message):
        trained(fields=fields)


@pytest.mark.parametrize(
    "documents", [["a text"], [["a", "list"]], [{"body": "x"}], "text", 7, [None]]
)
def test_wrong_documents(documents: Any) -> None:
    with pytest.raises((UsageError, DataError), match=r"fields|field 'subject'|list of texts"):
        trained().predict(documents)


def test_fields_from_options() -> None:
    fields = parse_fields(("a", "b"), ("c",), ("d",), ("b:ngrams=1", "e:tokenizer-max-n=3"))
    assert [(one.name, one.kind, dict(one.options)) for one in fields] == [
        ("a", "text", {}),
        ("b", "text", {"ngrams": "1"}),
        ("e", "text", {"tokenizer_max_n": "3"}),
        ("c", "category", {}),
        ("d", "number", {}),
    ]
    assert parse_fields(("a",), (), (), ()) == ()
    for options, message in [
        ((("a", "a"), (), (), ()), "twice"),
        ((("a",), ("a",), (), ()), "is a text already"),
        (((), (), ("a",), ()), "name the columns of texts"),
        ((("a",), (), (), ("ngrams=1",)), "COLUMN:SETTING=VALUE"),
        ((("a",), (), (), ("a:ngrams=1", "a:ngrams=2")), "ngrams of 'a' twice"),
    ]:
        with pytest.raises(UsageError, match=message):
            parse_fields(*options)


def test_a_truth_value_is_the_same_in_files_and_data_frames(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    file = tmp_path / "truths.csv"
    file.write_text("body,known\nx,True\nx,FALSE\n", encoding="utf-8")
    table = pd.read_csv(file)
    assert table["known"].dtype == bool
    fields = as_fields({"body": "text", "known": "category"})
    corpus = read_corpus([str(file)], fields=fields, labeled=False)
    in_json = [{"body": "x", "known": True}, {"body": "x", "known": False}]
    for documents in (table, corpus.texts, in_json):
        values = [document.field("known") for document in fielded(documents, fields)]
        assert values == ["true", "false"]


def test_a_category_of_numbers_is_the_same_beside_a_missing_one(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    typed, written = tmp_path / "typed.csv", tmp_path / "written.csv"
    typed.write_text("body,code\nx,5\nx,\nx,12\n", encoding="utf-8")
    table = pd.read_csv(typed)
    table.to_csv(written, index=False)
    assert "x,5.0" in written.read_text(encoding="utf-8")  # no int is missing
    fields = as_fields({"body": "text", "code": "category"})
    files = [read_corpus([str(it)], fields=fields, labeled=False).texts for it in (typed, written)]
    for documents in (table, *files, [{"body": "x", "code": 5}]):
        assert fielded(documents, fields)[0].field("code") == "5"
    for other in (2.5, "5.0.0", "v5.0"):
        assert fielded([{"body": "x", "code": other}], fields)[0].field("code") == str(other)


def test_field_of_another_kind_is_refused_early() -> None:
    with pytest.raises(UsageError, match="only texts have settings"):
        Field("price", "number", {"ngrams": 1})


def test_a_text_without_words_is_named() -> None:
    fields = as_fields(["body"])
    texts = fielded([{"body": ""}, {"body": "..."}], fields)
    with pytest.raises(DataError, match="field 'body': none of 2 documents has a word"):
        make_field_features(fields, WORDS, Vectorizer(), texts)


TABLE = """id,subject,body,brand,price,queue
1,Refund please,"It broke.
Now.",acme,3.5,refund
2,,I cannot log in.,zeta,,login
3,Log in,No password.,,-1,login
4,My money,Refund it,acme,12,refund
"""


def test_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    table, model = tmp_path / "table.csv", tmp_path / "model"
    table.write_text(TABLE)
    options = ["--text-col", "subject", "--text-col", "body", "--field", "subject:tokenizer=words"]
    options += ["--category-col", "brand", "--number-col", "price", "--label-col", "queue"]
    options += ["--tokenizer", "words", "--reg", "ridge", "--reg-l2", "0.1", "-o", str(model)]
    code, out, err = cli("train", table, *options)
    assert (code, err) == (0, "")
    told = "brand (category, 1 missing) + price (number, 1 missing)"
    assert f"fields = subject + body + {told}" in out
    assert cli("predict", model, table)[1].split() == ["refund", "login", "login", "refund"]
    assert json.loads(cli("show", model, "--json")[1])["fields"] == KINDS
    explained = cli("explain", model, table)[1]
    assert "by field: subject " in explained
    assert "body: It broke." in explained
    assert "accuracy 1.000" in cli("evaluate", model, table, "--label-col", "queue")[1]
    page = tmp_path / "page.html"
    assert cli("report", model, table, "--label-col", "queue", "-o", page, "--quiet") == (0, "", "")
    assert "subject text, body text, brand category, price number" in page.read_text()
    code, _, err = cli("predict", model, table, "--text-col", "body")
    assert code == 2
    assert "leave out --text-col" in err
    for command in ("predict", "explain"):
        code, _, err = cli(command, model, "--text", "a text")
        assert code == 2
        assert "a text alone has no fields" in err
    answers = tmp_path / "answers.csv"
    assert cli("predict", model, table, "-o", answers)[0] == 0
    assert answers.read_text().startswith("id,subject,body,brand,price,queue,predicted")
    table.write_text("subject,body,brand\nx,y,z\n")
    code, _, err = cli("predict", model, table)
    assert code == 2
    assert "no column 'price'" in err


def test_the_command_of_a_model_trains_it_again(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = trained(fields={**KINDS, "subject": {"tokenizer": "chars", "tokenizer_max_n": 3}})
    words = fit_command(model)
    assert words is not None
    monkeypatch.chdir(tmp_path)
    rows = [row | {"label": label} for row, label in zip(ROWS * 2, LABELS * 2, strict=True)]
    Path("corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ["corpus.jsonl" if word == "CORPUS" else word for word in words[1:]]
    assert cli(*words, "-o", "again", "--quiet") == (0, "", "")
    again = textreg.load("again")
    np.testing.assert_array_equal(again.decision_function(ROWS), model.decision_function(ROWS))
