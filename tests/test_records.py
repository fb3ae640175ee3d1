"""The records: checked when made, and the exact simplification of groups."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

from textreg.errors import DataError, RecordError, UsageError
from textreg.records import Corpus, Graph, Groups, MultiSolution, Problem, Solution, Tokens, arrays
from textreg.records.text import Names

P = 8


def ptr(pieces: Sequence[Sequence[Any]]) -> np.ndarray:
    return np.cumsum([0, *map(len, pieces)], dtype=np.int64)


def make_groups(sets: Sequence[Sequence[int]], weights: Sequence[float] | None = None) -> Groups:
    return Groups(
        indptr=ptr(sets),
        indices=np.array([j for members in sets for j in sorted(members)], dtype=np.int32),
        weights=np.ones(len(sets)) if weights is None else np.array(weights, dtype=np.float64),
        n_features=P,
    )


def penalty(groups: Groups, w: np.ndarray) -> float:
    """Sum of the weighted norms, by the definition."""
    return sum(
        float(weight * np.linalg.norm(w[groups.indices[start:stop]]))
        for weight, start, stop in zip(
            groups.weights, groups.indptr[:-1], groups.indptr[1:], strict=True
        )
    )


SETS = st.lists(st.frozensets(st.integers(0, P - 1), max_size=4), max_size=30).map(
    lambda sets: [sorted(members) for members in sets]
)
WEIGHTS = hnp.arrays(np.float64, P, elements=st.floats(-10, 10))


@given(sets=SETS, w=WEIGHTS, seed=st.integers(0, 99))
def test_merging_groups_keeps_the_penalty(sets: list[list[int]], w: np.ndarray, seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0, 3, len(sets))
    groups = make_groups(sets, list(weights))
    merged = groups.merged
    expected = penalty(groups, w)
    actual = penalty(merged.groups, w) + float(merged.l1 @ np.abs(w))
    assert actual == pytest.approx(expected, rel=1e-12, abs=1e-150)

    rows = [
        tuple(merged.groups.indices[start:stop])
        for start, stop in zip(merged.groups.indptr[:-1], merged.groups.indptr[1:], strict=True)
    ]
    assert len(set(rows)) == len(rows)
    assert all(len(row) >= 2 for row in rows)
    for members, origin in zip(sets, merged.origin, strict=True):
        if not members:
            assert origin == -1
        elif len(members) == 1:
            assert origin == -2 - members[0]
        else:
            assert rows[origin] == tuple(members)


@given(sets=SETS)
def test_merging_survives_a_hash_that_always_collides(sets: list[list[int]]) -> None:
    groups = make_groups(sets)
    expected = groups.merged
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "mix_bits", np.zeros_like)
        actual = make_groups(sets).merged
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(actual.groups, name), getattr(expected.groups, name))
    np.testing.assert_array_equal(actual.origin, expected.origin)


def test_merged_groups_keep_the_order_of_first_appearance() -> None:
    merged = make_groups([[5, 6], [0, 1], [5, 6], [3], [], [3]], [1, 2, 4, 8, 16, 32]).merged
    assert merged.groups.indices.tolist() == [5, 6, 0, 1]
    assert merged.groups.weights.tolist() == [5, 2]
    assert merged.l1.tolist() == [0, 0, 0, 40, 0, 0, 0, 0]
    assert merged.origin.tolist() == [0, 1, 0, -5, -1, -5]
    assert (merged.l1.dtype, merged.groups.weights.dtype) == (np.float64, np.float64)


def test_merging_nothing() -> None:
    for sets in ([], [[]], [[2]]):
        merged = make_groups(sets).merged
        assert len(merged.groups) == 0
        assert merged.l1.dtype == np.float64
        assert merged.groups.weights.dtype == np.float64
        assert merged.groups.indices.dtype == np.int32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": [0, 2, 5]}, r"groups\.indptr must run from 0 to 4"),
        ({"indptr": [0, 5, 4]}, r"groups\.indptr must never decrease; entry 1 does"),
        ({"weights": [1.0]}, r"2 groups but 1 weights: give one for each group"),
        ({"weights": [1.0, -1.0]}, r"group 1 has the weight -1\.0: weights are finite, 0 or more"),
        ({"weights": [np.nan, 1.0]}, r"group 0 has the weight nan"),
        ({"names": ["a"]}, r"2 groups but 1 names"),
        ({"indices": [0, 8, 1, 2]}, r"group 0 holds feature 8, but features run from 0 to 7"),
        ({"indices": [0, 1, -1, 2]}, r"group 1 holds feature -1"),
        (
            {"indices": [0, 1, 2, 2], "names": ["a", "b"]},
            r"group 'b' must list its features sorted and once each; feature 2 comes after 2",
        ),
    ],
)
def test_groups_refused(change: dict[str, Any], message: str) -> None:
    values: dict[str, Any] = {
        "indptr": [0, 2, 4],
        "indices": [0, 1, 1, 2],
        "weights": [1.0, 1.0],
        "names": None,
        **change,
    }
    with pytest.raises(DataError, match=message):
        Groups(
            np.array(values["indptr"], dtype=np.int64),
            np.array(values["indices"], dtype=np.int32),
            np.array(values["weights"]),
            P,
            values["names"],
        )


def test_groups_may_start_lower_than_the_one_before_ended() -> None:
    groups = make_groups([[6, 7], [], [0, 1], []])
    assert len(groups) == 4
    assert groups.name(2) == "group 2"
    assert groups.label(2) == "group 3"
    assert groups.members(2).tolist() == [0, 1]


def outside(kind: type[Any], change: dict[str, Any]) -> Any:
    """A matrix of 2 x 3 that SciPy takes, with an index or offset that lies outside of it."""
    made = kind(csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])))
    for name, (at, value) in change.items():
        getattr(made, name)[at] = value
    return made


OUTSIDE = [
    (csr_array, {"indices": (3, 50_000_000)}, r"indices\[3\] is 50000000, .* run from 0 to 2"),
    (csr_array, {"indices": (1, 3)}, r"indices\[1\] is 3, .* run from 0 to 2"),
    (csr_array, {"indices": (0, -1)}, r"indices\[0\] is -1, "),
    (csr_array, {"indptr": (1, 1_000_000)}, r"indptr must never decrease; entry 1 does"),
    (csr_array, {"indptr": (2, 1_000_000)}, r"indptr must run from 0 to 4"),
    (csr_array, {"indptr": (0, -4)}, r"indptr must run from 0 to 4"),
    (csc_array, {"indices": (3, 2)}, r"indices\[3\] is 2, .* run from 0 to 1"),
    (csc_array, {"indptr": (3, 9)}, r"indptr must run from 0 to 4"),
    (bsr_array, {"indices": (0, 1_000_000)}, r"indices\[0\] is 1000000"),
]


@pytest.mark.parametrize(("kind", "change", "message"), OUTSIDE)
def test_no_index_outside_of_a_matrix_reaches_compiled_code(
    kind: type[Any], change: dict[str, Any], message: str
) -> None:
    y = np.array([-1.0, 1.0])
    with pytest.raises(RecordError, match=f"^X.{message}"):
        Problem(outside(kind, change), y)
    with pytest.raises(RecordError, match=f"^the X of validation.{message}"):
        Problem(np.ones((2, 3)), y, validation=(outside(kind, change), y))
    square = outside(kind, change)
    with pytest.raises(RecordError, match=f"^similar.{message}"):
        Graph(square)


def test_a_coordinate_outside_of_a_matrix_is_refused() -> None:
    made = coo_array(np.eye(3))
    made.row = np.array([0, 7, 2])
    with pytest.raises(RecordError, match=r"X.row\[1\] is 7, but indices run from 0 to 2"):
        Problem(made, np.ones(3))


def test_entries_beyond_the_last_offset_are_left_out() -> None:
    longer = csr_array((np.ones(6), np.array([0, 1, 0, 2, 9, 9]), np.array([0, 2, 4])), (2, 3))
    problem = Problem(longer, np.array([-1.0, 1.0]))
    assert problem.X.nnz == len(problem.X.data) == 4


@pytest.mark.parametrize("X", [np.ones(3), np.array([["a"]]), 1j * np.eye(3)])
def test_what_is_no_matrix_of_numbers_is_refused(X: Any) -> None:
    with pytest.raises(RecordError, match=r"X .*must (have 2 dimensions|hold real numbers)"):
        Problem(X, np.ones(3))


TEXT = [[["a", "b"], ["c"]], [], [["b"], [], ["a", "a", "c"]]]


def make_tokens(documents: Sequence[Sequence[Sequence[str]]]) -> Tokens:
    vocabulary = ["a", "b", "c"]
    sentences = [sentence for document in documents for sentence in document]
    flat = [token for sentence in sentences for token in sentence]
    return Tokens(
        ids=np.array([vocabulary.index(token) for token in flat], dtype=np.int32),
        sentence_ptr=ptr(sentences),
        document_ptr=ptr(documents),
        vocabulary=vocabulary,
        spans=np.arange(2 * len(flat), dtype=np.int32).reshape(-1, 2),
        sentence_spans=np.arange(2 * len(sentences), dtype=np.int32).reshape(-1, 2),
    )


def unpack(tokens: Tokens) -> list[list[list[str]]]:
    return [
        [
            [
                tokens.vocabulary[i]
                for i in tokens.ids[tokens.sentence_ptr[s] : tokens.sentence_ptr[s + 1]]
            ]
            for s in range(tokens.document_ptr[d], tokens.document_ptr[d + 1])
        ]
        for d in range(tokens.n_documents)
    ]


@given(rows=st.lists(st.integers(0, 2), max_size=6))
def test_selecting_documents(rows: list[int]) -> None:
    tokens = make_tokens(TEXT)
    assert (tokens.n_documents, tokens.n_sentences) == (3, 5)
    assert tokens.token_document_ptr.tolist() == [0, 3, 3, 7]
    chosen = tokens.select(np.array(rows, dtype=np.intp))
    assert unpack(chosen) == [TEXT[row] for row in rows]
    assert chosen.vocabulary is tokens.vocabulary
    assert tokens.spans is not None
    assert chosen.spans is not None
    ends = tokens.token_document_ptr
    expected = [span for row in rows for span in tokens.spans[ends[row] : ends[row + 1]].tolist()]
    assert chosen.spans.tolist() == expected
    assert chosen.sentence_spans is not None
    assert len(chosen.sentence_spans) == chosen.n_sentences


@pytest.mark.parametrize(
    ("ids", "sentence_ptr", "document_ptr", "message"),
    [
        ([0, 3], [0, 2], [0, 1], r"token ids run from 0 to 3, but the vocabulary has 3 entries"),
        ([-1, 0], [0, 2], [0, 1], r"token ids run from -1 to 0"),
        ([0, 1], [0, 1], [0, 1], r"sentence_ptr must run from 0 to 2"),
        ([0, 1], [0, 2], [0, 2], r"document_ptr must run from 0 to 1"),
        ([0, 1], [], [0], r"sentence_ptr must run from 0 to 2"),
        ([0, 1], [0, 2, 1, 2], [0, 3], r"sentence_ptr must never decrease; entry 1 does"),
    ],
)
def test_tokens_refused(
    ids: list[int], sentence_ptr: list[int], document_ptr: list[int], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        Tokens(
            np.array(ids, dtype=np.int32),
            np.array(sentence_ptr, dtype=np.int64),
            np.array(document_ptr, dtype=np.int64),
            ["a", "b", "c"],
        )


def test_corpus() -> None:
    corpus = Corpus(
        texts=["x", "y", "z"],
        labels=["a", "b", "a"],
        sources=["one.csv", "two.txt"],
        source_of=np.array([0, 0, 1], dtype=np.int32),
        line_of=np.array([2, 3, 0], dtype=np.int64),
    )
    assert len(corpus) == 3
    assert [corpus.where(row) for row in range(3)] == ["one.csv:2", "one.csv:3", "two.txt"]
    part = corpus.select(np.array([2, 0]))
    assert (part.texts, part.labels) == (["z", "x"], ["a", "a"])
    assert [part.where(row) for row in range(2)] == ["two.txt", "one.csv:2"]
    assert Corpus(["x"]).where(0) == "document 1"
    with pytest.raises(DataError, match="2 texts but 1 labels: give one for each text"):
        Corpus(["x", "y"], labels=["a"])


def test_graph() -> None:
    good = csr_array(np.array([[0, 1.0, 0], [0.5, 0, 3], [0, 0, 0]]))
    graph = Graph(good, good.T, classes=1)
    assert (graph.n_features, graph.n_links) == (2, 6)
    with pytest.raises(DataError, match="the link from feature 1 to 0 has the weight -1"):
        Graph(csr_array(np.array([[0, 1.0], [-1, 0]])))
    with pytest.raises(DataError, match="dissimilar: the link from feature 1 to 1 has the weight"):
        Graph(good, csr_array(np.diag([0.0, 1, 0])))
    with pytest.raises(DataError, match="dissimilar is 2 x 2, not 3 x 3"):
        Graph(good, csr_array((2, 2)))
    with pytest.raises(DataError, match="4 of 3 features cannot be virtual"):
        Graph(good, classes=4)
    with pytest.raises(DataError, match="square, not 2 x 3"):
        Graph(csr_array((2, 3)))
    with pytest.raises(DataError, match="X has 3 features, but the graph is over 2"):
        Problem(X, Y, graph=graph)


X = np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 0]])
Y = np.array([1.0, -1.0, 1.0])


def test_problem_takes_any_matrix_and_leaves_it_alone() -> None:
    double = coo_array(([1.0, 1.0, 5.0], ([0, 0, 1], [0, 0, 2])), shape=(3, 3)).tocsr()
    double.has_canonical_format = False
    for given_X in (X, csr_array(X), csr_array(X).tocsc(), csr_array(X.astype(np.float32)), double):
        before = given_X.copy()
        problem = Problem(given_X, Y)
        assert problem.X.format == "csr"
        assert problem.X.dtype == np.float64
        assert problem.X.has_canonical_format
        np.testing.assert_array_equal(
            problem.X.toarray(), np.asarray(given_X if given_X is X else before.toarray())
        )
        np.testing.assert_array_equal(problem.X_csc.toarray(), problem.X.toarray())
        np.testing.assert_array_equal(problem.sample_weight, np.ones(3))
        if given_X is not X:
            assert given_X.nnz == before.nnz


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": Y[:2]}, DataError, r"X has 3 rows but y has the shape \(2,\)"),
        ({"y": np.array([0.0, 1, 1])}, DataError, r"y must hold -1 and \+1 only"),
        (
            {"sample_weight": np.array([1.0, -1, 1])},
            DataError,
            r"sample_weight must be 3 finite numbers",
        ),
        (
            {"sample_weight": np.array([1.0, np.inf, 1])},
            DataError,
            r"sample_weight must be 3 finite numbers",
        ),
        ({"sample_weight": np.ones(2)}, DataError, r"sample_weight must be 3 finite numbers"),
        ({"X": np.where(X == 3, np.nan, X)}, DataError, r"not finite in row 1"),
        ({"tol": 0}, UsageError, r"tol must be above 0"),
        ({"tol": float("nan")}, UsageError, r"tol must be above 0"),
        ({"max_iter": 0}, UsageError, r"max_iter must be at least 1"),
        ({"groups": make_groups([[0, 1]])}, DataError, r"3 features, but the groups are over 8"),
        ({"start": (np.zeros(2), 0.0)}, DataError, r"start has \(2,\) weights, X has 3 features"),
    ],
)
def test_problem_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Problem(**{"X": X, "y": Y, **change})
    problem = Problem(X, Y)
    with pytest.raises(error, match=message):
        problem.replace(**change)


def test_problem_replace_shares_what_was_derived() -> None:
    problem = Problem(X, Y)
    columns = problem.X_csc
    other = problem.replace(tol=1e-2, start=(np.ones(3), 0.5))
    assert other.X_csc is columns
    assert other.tol == 1e-2
    assert problem.tol == 1e-4
    doubled = problem.replace(X=2 * X)
    np.testing.assert_array_equal(doubled.X_csc.toarray(), 2 * X)
    np.testing.assert_array_equal(problem.X.toarray(), X)
    with pytest.raises(
        TypeError, match=r"no field 'sample_weights'\. Did you mean 'sample_weight'"
    ):
        problem.replace(sample_weights=np.ones(3))


def test_solution_counts_its_features() -> None:
    assert Solution(np.array([0.0, -1.0, 2.0]), 0.0, objective=1.0).nonzero == 2


def test_records_are_shown_in_a_line() -> None:
    graph = Graph(csr_array((np.ones(2), ([0, 1], [1, 0])), shape=(3, 3)))
    found = Solution(np.array([0.0, -1.0]), 0.0, 12.5, gap=2e-5, iterations=7, converged=True)
    classes = MultiSolution(np.eye(3)[:2], np.zeros(2), 12.5, iterations=1)
    assert [
        repr(each) for each in (make_groups([[0, 2], [1]]), graph, Problem(X, Y, graph=graph))
    ] == [
        "<Groups: 2 over 8 features, 3 entries>",
        "<Graph: 2 links of 3 features>",
        f"<Problem: {len(Y)} documents, 3 features, logistic loss; {graph!r}>",
    ]
    assert repr(Graph(graph.similar, classes=1)) == "<Graph: 2 links of 2 features, 1 classes>"
    assert repr(found) == (
        "<Solution: 1 of 2 features, objective 12.5, gap 2e-05, converged after 7 iterations>"
    )
    assert repr(classes) == (
        "<MultiSolution: 2 classes, 2 of 3 features, objective 12.5, "
        "not converged after 1 iterations>"
    )
    assert repr(Corpus(["a", "b"])) == "<Corpus: 2 documents; labels none>"
    assert repr(Corpus(["a"], ["b"])) == "<Corpus: 1 document; labels 'b'>"
    assert repr(Corpus(["a"] * 6, list("edcbaa"))).endswith("labels 'a', 'b', 'c', 'd', ...>")
    tokens = Tokens(np.zeros(3, np.int32), ptr([[1, 2], [3]]), ptr([[1, 2]]), ["w"])
    assert repr(tokens) == "<Tokens: 3 in 2 sentences of 1 document, 1 feature>"


def test_offsets_of_sizes() -> None:
    assert arrays.offsets_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert arrays.offsets_of([]).tolist() == [0]
    # Of short numbers, too, whose sum would not fit them.
    assert arrays.offsets_of(np.full(3, 100, dtype=np.int8)).tolist() == [0, 100, 200, 300]


@pytest.mark.parametrize(
    ("sizes", "cuts"),
    [
        ([], [0, 0]),
        ([0, 0], [0, 2]),
        ([3, 3, 3, 3, 3], [0, 1, 3, 5]),
        ([9, 1, 0, 1, 9], [0, 1, 4, 5]),
        ([30, 1], [0, 2]),
    ],
)
def test_pieces_of_about_so_many_entries(sizes: list[int], cuts: list[int]) -> None:
    found = list(arrays.pieces(np.array(sizes, dtype=np.int64), 5))
    assert [0, *(piece.stop for piece in found)] == cuts
    assert [piece.start for piece in found] == cuts[:-1]


@given(rows=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3), max_size=20))
@pytest.mark.parametrize("collide", [False, True])
def test_the_first_equal_row(collide: bool, rows: list[list[int]]) -> None:
    flat = np.array([value for row in rows for value in row], dtype=np.uint64)
    ptr = np.cumsum([0] + [len(row) for row in rows])
    keys = np.arange(len(rows)) % 2.0
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(arrays, "mix_bits", np.zeros_like)
        numbers = arrays.mix_bits(flat)
        leader = arrays.first_equal(ptr, numbers, lambda one, two: flat[one] == flat[two], keys)
    marked = [(key, *row) for key, row in zip(keys, rows, strict=True)]
    assert leader.tolist() == [marked.index(row) for row in marked]


@given(st.lists(st.text(st.characters(exclude_categories=()))), st.data())
def test_names_are_a_sequence_of_str(given: list[str], data: st.DataObject) -> None:
    names = Names.of(given)
    assert names == given
    assert given == names
    assert names == Names.of(given)
    assert Names.of(names) is names
    assert list(names) == given
    assert [names[i - len(given)] for i in range(len(given))] == given
    assert names[1:9:2] == given[1:9:2]
    assert repr(names) == repr(given)
    assert pickle.loads(pickle.dumps(names)) == given
    places = data.draw(st.lists(st.integers(0, max(0, len(given) - 1)))) if given else []
    assert names.take(np.array(places, dtype=np.int64)) == [given[place] for place in places]


def test_names_of_any_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.records.text._RUN", 3)
    for letters in (["a", "ü", "한", "😀", "\ud800", "\udc00"], ["a", "ü", "\0"]):
        draw = np.random.default_rng(0)
        for size in range(9):
            given = ["".join(draw.choice(letters, draw.integers(4))) for _ in range(size)]
            names = Names.of(given)
            assert list(names) == given
            assert [names[at] for at in range(size)] == given
            for at in range(size + 1):
                assert list(names.cut(at, size)) == given[at:]


def test_names_differ() -> None:
    names = Names.of(["a", "bc"])
    for other in (["a"], ["ab", "c"], ["a", "bd"], "a", None):
        assert names != other
        if isinstance(other, list):
            assert names != Names.of(other)
    with pytest.raises(IndexError):
        names[2]


def test_records_of_arrays_are_equal_to_themselves_alone() -> None:
    groups = Groups(indptr=[0, 2], indices=[0, 1], weights=[1.0], n_features=2)
    tokens = Tokens([0, 1, 1], [0, 2, 3], [0, 1, 2], ["a", "b"])
    corpus = Corpus(["a b", "b"], sample_weight=[1.0, 2.0])
    for record in (corpus, groups, groups.merged, tokens):
        assert record in [pickle.loads(pickle.dumps(record)), record]
        assert record != pickle.loads(pickle.dumps(record))
        assert len({record, record}) == 1
