"""Group builders: segments of the text, files, several at once, and regularizers on them."""

from __future__ import annotations

import copy
import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textreg
from textreg.builtin.group_builders import Documents, File, Paragraphs, Sentences, Windows
from textreg.builtin.groups import Group, Sentence
from textreg.errors import DataError, DataWarning, PluginError, UsageError
from textreg.features.vectorize import Vectorizer
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.plugins import registry
from textreg.records import Groups, Problem, Tokens
from textreg.structure.grouping import WordGroupBuilder, features_of, group_lines, read_groups
from textreg.text import WordRules, cooccurrences, only_words, scan_words, split_words

TEXTS = ["One two. Three!\n\nTwo three four five.", "", "Six one\n\n\n \nsix."]


def words(texts: list[str], **params: Any) -> Tokens:
    """Tokens of single words."""
    return scan_words(texts, WordRules(**params))


def pairs(texts: list[str], **params: Any) -> Tokens:
    """Tokens with n-grams of two."""
    tokenizer = registry.create("tokenizer", "words")
    return Vectorizer(ngrams=2, **params).fit(tokenizer, texts).tokens


def named(groups: Groups, tokens: Tokens) -> list[str]:
    """The features of every group by name, in one text."""
    return [
        " | ".join(tokens.vocabulary[j] for j in groups.indices[start:end])
        for start, end in zip(groups.indptr, groups.indptr[1:], strict=False)
    ]


# --- segments ---


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (
            Sentences(),
            {
                "document 1, sentence 1": "one | two",
                "document 1, sentence 2": "three",
                "document 1, sentence 3": "five | four | three | two",
                "document 3, sentence 1": "one | six",
                "document 3, sentence 2": "six",
            },
        ),
        (
            Paragraphs(),
            {
                "document 1, paragraph 1": "one | three | two",
                "document 1, paragraph 2": "five | four | three | two",
                "document 3, paragraph 1": "one | six",
                "document 3, paragraph 2": "six",
            },
        ),
        (
            Documents(),
            {
                "document 1": "five | four | one | three | two",
                "document 2": "",
                "document 3": "one | six",
            },
        ),
        (
            Windows(size=3),
            {
                "document 1, window 1": "one | three | two",
                "document 1, window 2": "four | three | two",
                "document 1, window 3": "five",
                "document 3, window 1": "one | six",
            },
        ),
        (
            Windows(size=3, stride=2),
            {
                "document 1, window 1": "one | three | two",
                "document 1, window 2": "three | two",
                "document 1, window 3": "five | four | three",
                "document 3, window 1": "one | six",
            },
        ),
    ],
    ids=["sentences", "paragraphs", "documents", "windows", "overlapping windows"],
)
def test_segments(builder: GroupBuilder, expected: dict[str, str]) -> None:
    tokens = words(TEXTS)
    groups = builder.build(tokens)
    assert dict(zip(groups.names or [], named(groups, tokens), strict=True)) == expected
    assert groups.weights.tolist() == [1.0] * len(expected)
    weighted = builder.replace(weight="sqrt").build(tokens)
    assert np.array_equal(weighted.weights, np.sqrt(np.diff(groups.indptr)))


def test_ngrams_are_where_they_begin() -> None:
    tokens = pairs(["a b c d! E"])
    assert named(Windows(size=2).build(tokens), tokens) == [
        "a | a b | b | b c",
        "c | c d | d",
        "e",
    ]


def test_no_ngram_is_lost_with_the_word_that_begins_it(tmp_path: Path) -> None:
    tokens = pairs(["a b a c", "a d", "a"], max_df=2)  # of "a", only its n-grams stay
    assert "a" not in tokens.vocabulary
    windows = Windows(size=1).build(tokens)
    assert named(windows, tokens) == ["a b | a c | b | b a", "c", "a d | d"]
    assert list(windows.names or []) == [
        "document 1, window 1",
        "document 1, window 2",
        "document 2, window 1",
    ]


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=12), min_size=1, max_size=4),
    st.integers(1, 5),
    st.data(),
)
def test_windows_are_slices(documents: list[list[str]], size: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, size))
    tokens = words([" ".join(document) for document in documents])
    expected = []
    for document in documents:
        for start in range(0, max(len(document), 1), stride):
            if document:
                expected.append(" | ".join(sorted(set(document[start : start + size]))))
            if start + size >= len(document):
                break
    assert named(Windows(size=size, stride=stride).build(tokens), tokens) == expected


def test_a_stride_beyond_the_size_is_refused() -> None:
    with pytest.raises(UsageError, match="stride must be at most size, 3, not 4"):
        Windows(size=3, stride=4)


# --- paragraphs in tokens ---


@given(st.lists(st.text("a.\n A", max_size=30), max_size=4), st.sampled_from(["punct", "lines"]))
def test_paragraphs_are_those_of_the_rule_for_sentences(texts: list[str], rule: str) -> None:
    tokens = words(texts, sentences=rule)
    assert tokens.paragraph_ptr is not None
    by_document = [split_words(text, WordRules(sentences="paragraphs")) for text in texts]
    assert np.diff(tokens.sentence_ptr[tokens.paragraph_ptr]).tolist() == [
        len(paragraph) for paragraphs in by_document for paragraph in paragraphs
    ]


def test_paragraphs_follow_chosen_documents() -> None:
    tokens = words(TEXTS).select(np.array([2, 1, 0]))
    groups = Paragraphs().build(tokens)
    assert named(groups, tokens) == [
        "one | six",
        "six",
        "one | three | two",
        "five | four | three | two",
    ]


def test_paragraphs_survive_pruning_and_ngrams() -> None:
    tokens = pairs(TEXTS, min_df=2)
    assert named(Paragraphs().build(tokens), tokens) == ["one", "", "one", ""]


def test_a_tokenizer_without_paragraphs_is_told() -> None:
    tokens = words(TEXTS)
    plain = Tokens(tokens.ids, tokens.sentence_ptr, tokens.document_ptr, tokens.vocabulary)
    with pytest.raises(UsageError, match="does not find paragraphs"):
        Paragraphs().build(plain)


@pytest.mark.parametrize("wrong", [[0, 3, 5], [0, 0, 1, 3, 5], [0, 3]])
def test_paragraphs_must_fit_the_documents(wrong: list[int]) -> None:
    good = words(["One. Two.\n\nThree. Four.", "Five"])
    assert good.paragraph_ptr is not None
    assert good.paragraph_ptr.tolist() == [0, 2, 4, 5]
    with pytest.raises(DataError, match="paragraph"):
        Tokens(
            good.ids,
            good.sentence_ptr,
            good.document_ptr,
            good.vocabulary,
            paragraph_ptr=np.array(wrong),
        )


# --- sets of words ---


class Given(WordGroupBuilder):
    """Two sets, as a plugin would give them."""

    name = "given"

    def sets(self, tokens: Tokens) -> dict[str, list[str]]:
        assert not any(" " in name for name in tokens.vocabulary)
        return {"good": ["very", "good", "unheard"], "bad": ["bad", "not good"]}


class ByLength(WordGroupBuilder):
    """Words of one length, by a number as a name."""

    name = "by-length"

    def sets(self, tokens: Tokens) -> Any:
        return {2: ["so"], 4: ["good", "poor"]}


def test_names_that_are_numbers_are_texts_in_a_model(tmp_path: Path) -> None:
    """A model that named them by numbers was written, and could not be read again."""
    labels = ["good", "poor"] * 10
    options: Any = {"groups": ByLength(), "reg_budget": 2, "tokenizer": "words"}
    model = textreg.train([f"so {it}" for it in labels], labels, reg="gomp", **options)
    model.save(tmp_path / "model.textreg")
    summary = textreg.load(tmp_path / "model.textreg").summary
    assert summary is not None
    assert [step.name for step in summary.order_groups[0]] == ["4"]


@pytest.mark.parametrize(
    ("ngrams", "expected"),
    [
        ("all", ["good | very | very good | very very", "bad | not good"]),
        (
            "any",
            [
                "bad very | good | good bad | not good | very | very good | very very",
                "bad | bad very | good bad | not good",
            ],
        ),
        ("none", ["good | very", "bad | not good"]),
    ],
)
def test_ngrams_of_sets(ngrams: str, expected: list[str]) -> None:
    tokens = pairs(["very very good bad very", "not good"])
    assert named(Given(ngrams=ngrams).build(tokens), tokens) == expected


def test_an_ngram_needs_all_its_words_even_those_that_are_no_features() -> None:
    sets = [["very", "good"], ["good"]]
    indptr, indices = features_of(sets, ["good", "very good"])
    assert (indptr.tolist(), indices.tolist()) == ([0, 2, 3], [0, 1, 0])


def test_no_sets_and_empty_sets() -> None:
    assert [part.tolist() for part in features_of([], ["a"])] == [[0], []]
    assert [part.tolist() for part in features_of([[], ["b"]], ["a"])] == [[0, 0, 0], []]


def test_only_words_leaves_no_trace_of_ngrams() -> None:
    texts = ["a b. c", "b a"]
    one, other = only_words(pairs(texts)), words(texts)
    assert list(one.vocabulary) == list(other.vocabulary)
    assert np.array_equal(one.ids, other.ids)
    assert np.array_equal(one.sentence_ptr, other.sentence_ptr)
    assert only_words(other) is other


@given(st.lists(st.text("abc ", max_size=10), max_size=4), st.integers(1, 5))
def test_cooccurrences_count_pairs(texts: list[str], window: int) -> None:
    tokens = words([" ".join(text) for text in texts])
    expected = np.zeros((len(tokens.vocabulary), len(tokens.vocabulary)))
    for start, end in zip(tokens.token_document_ptr, tokens.token_document_ptr[1:], strict=False):
        ids = tokens.ids[start:end]
        for i in range(len(ids)):
            for j in range(len(ids)):
                expected[ids[i], ids[j]] += 0 < abs(i - j) < window and ids[i] != ids[j]
    assert np.array_equal(cooccurrences(tokens, window).toarray(), expected)


# --- files ---


def saved(tmp_path: Path, text: str, name: str = "groups.txt") -> str:
    """The path of a file with this text."""
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


@pytest.mark.parametrize("name", ["groups.txt", "groups.txt.gz"])
def test_a_file_of_groups(name: str, tmp_path: Path) -> None:
    path = saved(
        tmp_path, "\ufeff# mine\n\none two\r\nlarge\t2.5\tthree\tone two\tthree\n\t\tfour\n", name
    )
    tokens = pairs(["one two three four"])
    groups = File(path=path).build(tokens)
    assert dict(zip(groups.names or [], named(groups, tokens), strict=True)) == {
        "line 3": "one | two",
        "large": "one two | three",
        "line 5": "four",
    }
    assert groups.weights.tolist() == [1.0, 2.5, 1.0]
    wider = File(path=path, ngrams="all", weight="sqrt").build(tokens)
    assert named(wider, tokens) == ["one | one two | two", "one two | three", "four"]
    assert np.allclose(wider.weights, [3**0.5, 2.5 * 2**0.5, 1.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "one\nlarge\tmany\ttwo\n",
            r"groups\.txt:2: the weight 'many' is not a number of 0 or more",
        ),
        ("large\t-1\ttwo\n", r"groups\.txt:1: the weight '-1'"),
        ("large\tinf\ttwo\n", r"groups\.txt:1: the weight 'inf'"),
        ("a\t1e20\ttwo\nb\t1e300\tone\n", r"groups\.txt:2: the weight '1e300' .* up to 1e20"),
        ("# nothing\n\n", r"groups\.txt: no groups in it"),
        ("large\t2\nsmall\t1\t\n", r"groups\.txt: no group has a feature"),
        (
            "uno\ndos\n",
            r"groups\.txt:1: 'uno' is not a feature of the training texts, .* such as '",
        ),
    ],
)
def test_a_bad_file_is_told_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        File(path=saved(tmp_path, text)).build(words(["one two"]))


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "groups.txt"
    path.write_bytes(b"one\ntw\xff\n")
    with pytest.raises(DataError, match=r"groups\.txt:2: byte 3 of the line is not valid UTF-8"):
        read_groups(str(path))
    cut = tmp_path / "groups.gz"
    cut.write_bytes(gzip.compress(b"one\n" * 1000)[:-12])
    with pytest.raises(DataError, match=r"groups\.gz:\d+: the gzip data ends too early"):
        read_groups(str(cut))


def test_a_missing_file_and_no_file() -> None:
    with pytest.raises(UsageError, match=r"nowhere cannot be read: No such file"):
        File(path="nowhere").build(words(["one"]))
    with pytest.raises(UsageError, match="--groups-path"):
        File().build(words(["one"]))


def test_words_that_are_no_features_are_reported(tmp_path: Path) -> None:
    path = saved(tmp_path, "one uno\n" + "dos two\n" * 6)
    with pytest.warns(DataWarning, match=r"7 of 14 words .* 'uno' \(line 1\), 'dos' \(line 2\)"):
        groups = File(path=path).build(words(["one two"]))
    assert np.diff(groups.indptr).tolist() == [1] * 7


@pytest.mark.parametrize("builder", [Sentences(), Windows(size=2, weight="sqrt")])
def test_saved_groups_are_read_back_the_same(builder: GroupBuilder, tmp_path: Path) -> None:
    tokens = pairs(TEXTS)
    groups = builder.build(tokens)
    path = saved(tmp_path, "".join(group_lines(groups, tokens.vocabulary)))
    again = File(path=path).build(tokens)
    assert list(again.names or []) == list(groups.names or [])
    for field in ("indptr", "indices", "weights"):
        assert np.array_equal(getattr(again, field), getattr(groups, field))


@pytest.mark.parametrize("name", ["a\tb", "a\n", " a", "# a"])
def test_names_that_a_file_would_change_are_refused(name: str) -> None:
    groups = Groups(np.array([0, 1]), np.array([0], dtype=np.int32), np.ones(1), 1, [name])
    with pytest.raises(DataError, match="written"):
        list(group_lines(groups, ["word"]))


# --- several builders ---


class Other(GroupBuilder):
    """A builder without names, and with parameters like those of windows."""

    name = "my-other"
    size: int = param(default=1, min=1, help="how many")
    strict: bool = param(default=False, help="whatever")

    def build(self, tokens: Tokens) -> Groups:
        p = len(tokens.vocabulary)
        indices = np.arange(self.size, dtype=np.int32)
        return Groups(np.array([0, self.size]), indices, np.array([7.0 + self.strict]), p)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default registry, with the builder above for one test."""
    fresh = registry.Registry()
    fresh.register(Other)
    for name in ("find", "create", "names"):
        monkeypatch.setattr(registry, name, getattr(fresh, name))


@pytest.mark.usefixtures("other")
def test_several_builders_are_one() -> None:
    joined = registry.create(
        "groups",
        "windows,my-other, sentences",
        windows_size=3,
        strict=True,
        sentences_weight="sqrt",
    )
    tokens = words(TEXTS)
    groups = joined.build(tokens)
    assert joined.label() == "windows,my-other,sentences"
    assert set(joined.params()) == {
        "windows_weight",
        "windows_size",
        "stride",
        "my_other_size",
        "strict",
        "sentences_weight",
    }
    parts = [Windows(size=3), Other(strict=True), Sentences(weight="sqrt")]
    built = [part.build(tokens) for part in parts]
    assert named(groups, tokens) == [name for part in built for name in named(part, tokens)]
    assert groups.weights.tolist() == [w for part in built for w in part.weights]
    assert groups.names is not None
    assert groups.names[0] == "windows: document 1, window 1"
    assert groups.names[4:6] == ["my-other: group 1", "sentences: document 1, sentence 1"]
    assert len(groups.names) == len(groups)
    assert joined.declared()["stride"].help.startswith("windows: ")


def test_joined_builders_compare_copy_and_pickle() -> None:
    one = registry.create("groups", "windows,documents", size=3)
    assert one == registry.create("groups", "windows,documents", size=3)
    assert one != one.replace(size=4)
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    classifier = textreg.TextClassifier(reg="group", groups="windows,documents")
    assert classifier.set_params(groups__size=3).get_params()["groups"] == one


@pytest.mark.usefixtures("other")
@pytest.mark.parametrize(
    ("names", "params", "error", "message"),
    [
        ("windows,documents", {"stride": 30}, UsageError, "stride must be at most size, 20"),
        ("windows,windows", {}, UsageError, "'windows' is named twice"),
        ("windows,window", {}, PluginError, "no group builder 'window'.*'windows'"),
        ("windows,", {}, UsageError, "'windows,' has a comma with no name beside it"),
        ("windows,my-other", {"size": 3}, UsageError, "no parameter 'size'.*windows_size"),
        ("windows,my-other", {"my_other_size": 0}, UsageError, "my_other_size must be at least 1"),
    ],
)
def test_wrong_names_among_several(
    names: str, params: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        registry.create("groups", names, **params)


def test_training_with_several_builders() -> None:
    texts = ["good film. fine", "bad film. poor", "good and fine", "bad and poor"] * 5
    model = textreg.train(
        texts,
        ["up", "down"] * 10,
        reg="group",
        groups="windows,documents",
        groups_size=2,
        groups_documents_weight="sqrt",
    )
    assert model.summary.groups.params == {
        "windows_weight": "one",
        "size": 2,
        "stride": None,
        "documents_weight": "sqrt",
    }
    assert model.predict(["a good one", "poor"]) == ["up", "down"]


# --- the regularizer ---


def problem(groups: Groups | None, p: int = 6, n: int = 40) -> Problem:
    """A small one at random."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, p)) * (random.random((n, p)) < 0.6)
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * random.standard_normal(n) > 0, 1.0, -1.0)
    return Problem(X, y, groups=groups, tol=1e-8)


def some_groups(weights: list[float]) -> Groups:
    """Three groups of six features, two of which overlap; feature 5 is in none."""
    indices = np.array([0, 1, 2, 2, 3, 4], dtype=np.int32)
    return Groups(np.array([0, 3, 5, 6]), indices, np.array(weights), 6)


def test_group_and_sentence_solve_the_same_problem() -> None:
    given_problem = problem(some_groups([1.0, 2.0, 0.5]))
    one, other = (cls(group=0.5, l1=0.2, l2=0.1).solve(given_problem) for cls in (Group, Sentence))
    assert one.converged
    assert np.array_equal(one.w, other.w)
    assert Group(group=0.5, l1=0.2).l2 == 0.0


def test_group_without_groups_says_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"group: the problem has no groups"):
        Group(group=1, l1=1).solve(problem(None))
    with pytest.raises(UsageError, match=r"group needs groups: .*documents.*windows"):
        textreg.train(["a", "b"], ["x", "y"], reg="group")


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [1.0, 3.0, 0.5]])
def test_the_scale_empties_all_groups(weights: list[float]) -> None:
    whole = problem(some_groups(weights))
    X = whole.X.toarray()
    X[:, 5] = 0  # the feature in no group has no penalty at all here
    given_problem = whole.replace(X=X)
    top = Group().scale(given_problem, "group")
    assert not Group(group=top * 1.001, l1=0).solve(given_problem).w.any()
    assert Group(group=top * 0.3, l1=0).solve(given_problem).w.any()


def test_the_scale_is_exact_without_overlap() -> None:
    indices = np.arange(6, dtype=np.int32)
    groups = Groups(np.array([0, 2, 6]), indices, np.array([1.0, 2.0]), 6)
    given_problem = problem(groups)
    top = Group().scale(given_problem, "group")
    assert not Group(group=top * 1.001, l1=0).solve(given_problem).w.any()
    assert Group(group=top * 0.99, l1=0).solve(given_problem).w.any()


def test_the_scale_of_other_weights_and_of_no_groups() -> None:
    given_problem = problem(some_groups([1.0, 1.0, 1.0]))
    l1 = Group().scale(given_problem, "l1")
    assert Sentence().scale(given_problem, "group") == l1
    none = Groups(np.array([0, 0]), np.empty(0, dtype=np.int32), np.ones(1), 6)
    assert Group().scale(problem(none), "group") == l1


def test_computer_with_each_builder(data_dir: Path) -> None:
    from textreg.reading.corpus import read_corpus

    folder = data_dir / "data" / "tasks" / "computer"
    corpus = read_corpus(folder / "train.jsonl.gz").select(np.arange(300))
    dev = read_corpus(folder / "dev.jsonl.gz").select(np.arange(150))
    assert corpus.labels is not None
    options = {"reg": "group", "tokenizer": "words", "ngrams": 1, "dev": dev, "refit": False}
    for builder in ("paragraphs", "documents", "windows"):
        model = textreg.train(corpus.texts, corpus.labels, groups=builder, **options)
        assert model.summary.converged, builder
        assert model.summary.dev.metrics["accuracy"] > 0.9, builder


def test_words_alone_are_scanned_unless_more_is_asked_for() -> None:
    texts = ["good, film \N{GRINNING FACE}!"]
    assert list(scan_words(texts).vocabulary) == ["film", "good"]
    assert scan_words(texts).spans is None
    more = words(texts, emoji=True, punctuation=True)
    assert set(more.vocabulary) == {"film", "good", "\N{GRINNING FACE}", ",", "!"}
