"""What records take: any array-like that holds such numbers, and a clear refusal of the others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg import Elastic, Lasso, LinearClassifier, Ridge, Sentence, TextClassifier, train
from textreg.builtin.greedy import Omp, Stagewise
from textreg.builtin.groups import Group
from textreg.builtin.network import Laplacian, Network
from textreg.builtin.separable import NoRegularizer
from textreg.errors import ConvergenceWarning, DataError, RecordError, UsageError
from textreg.penalties import GroupNorms
from textreg.records import Corpus, Design, Graph, Groups, MultiSolution, Problem, Solution, Tokens
from textreg.records.arrays import as_array
from textreg.solvers.certificate import relative_gap
from textreg.solvers.pursuit import Pursuit

NAN, INF = float("nan"), float("inf")
X, Y = csr_array(np.eye(4)), np.array([-1.0, 1.0, -1.0, 1.0])


class Frame:
    """A column as a data frame has it: it becomes an array on demand."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)


WAYS = [
    list,
    tuple,
    Frame,
    lambda v: np.array(v, dtype=np.int32),
    lambda v: np.array(v, dtype=np.int64),
    lambda v: np.array(v, dtype=np.uint32),
    lambda v: np.array(v, dtype=np.float32),
    lambda v: np.array(v, dtype=">f8"),
    lambda v: np.array(v, dtype=object),
    lambda v: np.repeat(np.array(v), 2)[::2],
    lambda v: np.ma.masked_array(v, mask=np.zeros(len(v), dtype=bool)),
]


@pytest.mark.parametrize("way", WAYS)
def test_any_array_of_whole_numbers_is_taken(way: Any) -> None:
    names = np.array(["a", "b"])  # of NumPy, too
    groups = Groups(way([0, 2, 4]), way([0, 1, 1, 2]), way([1, 2]), 4, names)  # type: ignore[arg-type]
    types = (groups.indptr.dtype, groups.indices.dtype, groups.weights.dtype)
    assert types == (np.int64, np.int32, np.float64)
    assert groups.indices.tolist() == [0, 1, 1, 2]
    assert len(groups.merged.groups) == 2
    tokens = Tokens(way([0, 1, 0]), way([0, 3]), way([0, 1]), ["a", "b"], spans=[[0, 1]] * 3)
    assert (tokens.ids.dtype, tokens.document_ptr.dtype) == (np.int32, np.int64)
    assert tokens.spans is not None
    assert tokens.spans.dtype == np.int32
    weights = way([1, 2, 3, 4])
    problem = Problem(X, way([1, 2, 1, 1]), weights, loss="squared", start=(weights, np.float32(1)))
    assert problem.y.tolist() == [1, 2, 1, 1]
    assert problem.start is not None
    assert problem.start[0].tolist() == problem.sample_weight.tolist() == [1, 2, 3, 4]
    assert Lasso(l1=0.01).solve(problem).converged
    assert Corpus(["x"] * 4, sample_weight=weights).sample_weight.dtype == np.float64  # type: ignore[union-attr]


def test_what_is_right_is_not_copied() -> None:
    indptr, indices = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    weights = np.ones(1)
    for array in (indptr, indices):
        array.flags.writeable = False
    groups = Groups(indptr, indices, weights, 2)
    assert (groups.indptr is indptr, groups.indices is indices) == (True, True)
    assert groups.weights is weights
    problem = Problem(X, Y, c := np.ones(4))
    assert problem.y is Y
    assert problem.sample_weight is c


def test_indices_and_offsets_cannot_be_changed_once_they_are_checked() -> None:
    """Compiled code trusts them: outside of their arrays the process would end."""
    matrix, indptr = csr_array(np.eye(4)), np.array([0, 2, 4])
    indices = np.arange(4, dtype=np.int32)
    view = indices[:]
    view.flags.writeable = False  # which the base is not
    groups = Groups(indptr, view, np.ones(2), 4)
    problem = Problem(matrix, Y, groups=groups, codes=[0, 1, 0, 1])
    for array in (matrix.indices, matrix.indptr, indices, indptr):
        array[1:] = 10**9
    links = csr_array(np.eye(4)[::-1])
    graph = Graph(links)
    links.indices[:] = 10**9
    assert Group(group=0.1, l1=0.1, l2=0.1).solve(problem).converged
    assert graph.similar.indices.max() == 3
    ours = [problem.X.indices, problem.X.indptr, problem.codes, graph.similar.indptr]
    for each in (groups, groups.compact()):
        ours += [each.indices, each.indptr]
    for array in ours:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["a", "b"], "must hold real numbers .*not text"),
        (np.array([1, None]), "must hold real numbers"),
        (np.array([1, "2"], dtype=object), "not text"),
        ([1j, 2.0], "not complex numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "must hold real numbers"),
        (5, r"has the shape \(\), but must have one dimension"),
        ([[0, 1]], r"has the shape \(1, 2\), but must have one dimension"),
        (np.matrix([0, 1]), "must have one dimension"),
        ([[0], [1, 2]], "must be an array of numbers"),
        (csr_array(np.eye(2)), "not csr_array"),
        ({0, 1}, "not set"),
        (iter([0, 1]), "must hold real numbers"),
        (None, "not NoneType"),
        (np.ma.masked_array([0, 1], [True, False]), "masked entries: fill or drop"),
        ([0, 1.5], r"\[1\] is 1.5, which is no int32: give whole numbers"),
        ([0, NAN], r"\[1\] is nan"),
        ([0, 2**40], r"\[1\] is 1099511627776, which is no int32"),
        (np.array([0, 2**63], dtype=np.uint64), r"\[1\] is 9223372036854775808"),
        ([2**100], "must hold real numbers"),
    ],
)
def test_what_is_no_array_of_whole_numbers_is_refused(value: Any, words: str) -> None:
    with pytest.raises(RecordError, match=f"^x.*{words}"):
        as_array("x", value, np.int32)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": ["a"] * 4}, "y must hold real numbers .*not text"),
        ({"y": [1, NAN, 1, 1]}, r"y\[1\] is nan, but must be finite"),
        ({"y": Y[:, None]}, r"y has the shape \(4, 1\)"),
        ({"sample_weight": [1, 1, 1, -1]}, r"sample_weight\[3\] is -1.0"),
        (
            {"sample_weight": [1e308] * 4},
            "too large to compute with: .* Divide all",
        ),
        ({"sample_weight": [1e-320] * 4}, "too small to compute with"),
        ({"start": (np.zeros(4), None)}, "the intercept of start must hold real numbers"),
        ({"start": (np.zeros(4), INF)}, "the intercept of start is inf"),
        ({"start": (np.full(4, NAN), 0.0)}, r"the weights of start\[0\] is nan"),
        ({"start": (np.zeros((4, 1)), 0.0)}, "the weights of start has the shape"),
        ({"start": np.zeros(4)}, "start must be a pair"),
        ({"validation": 3}, "validation must be a pair"),
        ({"validation": (np.eye(4), [NAN] * 4)}, "the y of validation"),
        ({"groups": [[0, 1]]}, "groups must be a Groups record"),
        ({"graph": np.eye(4)}, "graph must be a Graph record"),
        ({"tol": "x"}, "tol must hold real numbers"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"X": 1e200 * X}, "X is too large .* in row 0, column 0. .*larger unit"),
        ({"loss": "squared", "y": [1e308] * 4}, "y is too large"),
    ],
)
def test_a_problem_says_what_is_wrong(change: dict[str, Any], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        Problem(**{"X": X, "y": Y, **change})


@pytest.mark.parametrize(
    "change", [{"tol": INF}, {"tol": NAN}, {"fit_intercept": "no"}, {"threads": 0}]
)
def test_options_of_a_problem(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Problem(X, Y, **change)


@pytest.mark.parametrize("label", [{}, [{}], [[{}]], np.array([{}], dtype=object)])
def test_labels_that_cannot_be_any(label: Any) -> None:
    for fit in (
        lambda: train(["good film", "bad film"] * 9, [label] * 18, reg="ridge"),
        lambda: TextClassifier("ridge").fit(["good film", "bad film"] * 9, [label] * 18),
        lambda: LinearClassifier("ridge").fit(np.eye(18), [label] * 18),
    ):
        with pytest.raises(DataError, match=r"label|y\[0\]|y cannot be used"):
            fit()


def test_graphs_and_corpora_say_what_is_wrong() -> None:
    links = np.ones((2, 2)) - np.eye(2)
    with pytest.raises(RecordError, match=r"similar is too large .* row 0, column 1"):
        Graph(1e200 * links)
    with pytest.raises(RecordError, match="classes must be a whole number"):
        Graph(links, classes=0.5)  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="not text"):
        Corpus(["a", "b"], sample_weight=["x", "y"])  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="source_of runs from 0 to 3, but there are 1"):
        Corpus(["a", "b"], sources=["f"], source_of=[0, 3])  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="vocabulary must be a list"):
        Tokens([0], [0, 1], [0, 1], "ab")  # type: ignore[arg-type]


BAD = [
    ({"objective": NAN, "converged": True}, "the objective nan cannot be stated with converged"),
    ({"objective": INF, "gap": 0.0}, "cannot be stated with a gap of 0"),
    ({"w": [NAN, 0.0], "converged": True}, "weights that are not finite"),
    ({"w": [0.0, INF], "gap": 0.1}, "weights that are not finite"),
    ({"gap": -0.01}, "below its own minimum"),
    ({"converged": "yes"}, "converged must be True or False"),
    ({"iterations": -1}, "iterations must be a whole number"),
    ({"objective": "1"}, "objective must hold real numbers"),
]


@pytest.mark.parametrize(("fields", "words"), BAD)
def test_a_claim_without_finite_numbers_is_refused(fields: dict[str, Any], words: str) -> None:
    given = {"w": [1.0, 2.0], "b": 0.0, "objective": 1.0, **fields}
    with pytest.raises(RecordError, match=words):
        Solution(**given)
    with pytest.raises(RecordError, match=words):
        MultiSolution(**{**given, "w": [given["w"]], "b": [given["b"]]})


def test_b_that_is_not_finite_cannot_converge() -> None:
    with pytest.raises(RecordError, match="not finite"):
        Solution([1.0], INF, 1.0, converged=True)  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="not finite"):
        MultiSolution([[1.0]], [NAN], 1.0, gap=0.0)  # type: ignore[arg-type]


def test_what_is_not_known_is_nan_and_rounding_is_zero() -> None:
    assert np.isnan(Solution(np.ones(1), 0.0, 1.0, gap=INF).gap)
    assert Solution(np.ones(1), 0.0, 1.0, gap=-1e-15).gap == 0.0
    broken = Solution(np.array([NAN]), NAN, INF)
    assert not broken.converged


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (NAN, 0.0, INF),
        (INF, 1.0, INF),
        (1.0, -INF, INF),
        (1.0, 0.75, 0.25),
        (1.0, 1.1, 0.0),
        (-1.0, -2.0, 1.0),
        (0.0, 0.0, 0.0),
        (0.0, -1.0, INF),
    ],
)
def test_the_relative_gap_certifies_finite_numbers_only(
    objective: float, bound: float, gap: float
) -> None:
    assert relative_gap(objective, bound) == gap


GROUPS = Groups([0, 2, 4], [0, 1, 2, 3], [1, 1], 4)  # type: ignore[arg-type]
GRAPH = Graph(np.eye(4, k=1) + np.eye(4, k=-1))
SOLVERS = [
    Lasso(l1=0.01),
    Ridge(l2=0.01),
    Elastic(l1=0.01, l2=0.01),
    NoRegularizer(),
    Sentence(group=0.01, l1=0.01),
    Group(group=0.01, l1=0.01, solver="admm"),
    Network(alpha=0.01, beta=0.01),
]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("start", [1e300, 1e150, -1e20, 1e4])
@pytest.mark.parametrize("reg", SOLVERS, ids=repr)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge", "squared"])
def test_a_start_far_away_is_no_worse_than_none(reg: Any, start: float, loss: str) -> None:
    problem = Problem(X, Y, groups=GROUPS, graph=GRAPH, loss=loss, tol=1e-6)
    near = reg.solve(problem)
    far = reg.solve(problem.replace(start=(np.full(4, start), start)))
    assert far.converged
    assert far.objective == pytest.approx(near.objective, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("reg", [Ridge(l2=0.01), Lasso(l1=0.01)], ids=repr)
def test_a_start_of_all_classes_far_away_is_no_worse_than_none(reg: Any) -> None:
    problem, codes = Problem(X, Y), np.array([0, 1, 2, 2])
    near = reg.solve_softmax(problem, codes)
    far = reg.solve_softmax(problem, codes, (np.full((3, 4), 1e200), np.zeros(3)))
    assert far.objective == pytest.approx(near.objective, rel=1e-3)
    with pytest.raises(RecordError, match="the weights of start"):
        reg.solve_softmax(problem, codes, (np.full((3, 4), NAN), np.zeros(3)))


@pytest.mark.sampled(50)
@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e20, 1e29])
@pytest.mark.parametrize("weight", [1e-59, 1e-20, 1e20, 1e59])
@pytest.mark.parametrize("reg", SOLVERS, ids=repr)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge", "squared"])
def test_any_magnitude_ends_without_a_warning_of_numpy(
    reg: Any, scale: float, weight: float, loss: str
) -> None:
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((6, 4))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = Problem(X, y, np.full(6, weight), loss, GROUPS, GRAPH, max_iter=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # pytest makes errors of all others
        try:
            found = reg.solve(problem)
        except DataError:  # the fit overflowed
            return
    assert np.isfinite(found.w).all()
    assert np.isfinite(found.objective)
    assert not found.gap < 0.0


@pytest.mark.parametrize("l2", [5e-324, 1e-300, 1e59])
@pytest.mark.parametrize("l1", [0.0, 1e-300, 1e59])
def test_any_strength_ends_without_a_warning_of_numpy(l1: float, l2: float) -> None:
    problem = Problem(X, Y, groups=GROUPS, graph=GRAPH, max_iter=20)
    parts = [Elastic(l1=l1, l2=l2), Sentence(group=l1, l1=l1, l2=l2), Network(alpha=l1, beta=l2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for part in [*parts, Group(group=l1, l1=l1, l2=l2, solver="admm"), Omp(budget=2, l2=l2)]:
            assert np.isfinite(part.solve(problem).objective)


@pytest.mark.parametrize("strength", [INF, 1e308])
@pytest.mark.parametrize("name", ["l1", "l2", "group"])
def test_a_strength_that_overflows_is_refused(name: str, strength: float) -> None:
    problem = Problem(X, Y, groups=GROUPS)
    with pytest.raises(UsageError, match=f"{name} must be between 0 and 1e.100|finite"):
        Sentence(**{"group": 1.0, "l1": 1.0, "l2": 1.0, name: strength}).solve(problem)


def test_weights_of_any_size_in_one_corpus() -> None:
    texts, labels = ["good"] * 3 + ["bad"] * 3, ["pos"] * 3 + ["neg"] * 3
    weights = np.array([1.0, 1e-320, 1e-200, 1.0, 5e-324, 0.0])
    for reg in (Lasso(l1=0.01), Omp(budget=2, l2=0.01), Stagewise(steps=20)):
        model = train(texts, labels, reg=reg, sample_weight=weights)
        assert model.predict(["good", "bad"]) == ["pos", "neg"]
    with pytest.raises(
        DataError, match=r"sample_weight is too large .* Divide all of them by 1e.308"
    ):
        train(texts, labels, reg=Lasso(l1=0.01), sample_weight=[1e308] * 6)
    with pytest.raises(DataError, match=r"document 2: the weight is -1\.0"):
        train(texts, labels, reg=Lasso(l1=0.01), sample_weight=[1, -1, 1, 1, 1, 1])


def test_targets_of_any_size() -> None:
    texts = ["good"] * 3 + ["bad"] * 3
    with pytest.raises(DataError, match=r"document 2: the label is 1e\+308.*larger unit"):
        train(texts, ["1", "1e308", "2", "3", "4", "5"], reg=Ridge(l2=1.0), task="regression")
    model = train(texts, [str(1e20 * i) for i in range(6)], reg=Ridge(l2=1e-3), task="regression")
    assert np.isfinite(model.decision_function(texts)).all()


@pytest.mark.parametrize(
    "codes", [[0, 1, 2], [0, 1, 3, 3], [-1, 0, 1, 1], ["a"] * 4, [0, 0.5, 1, 1], [0, 10**9, 1, 2]]
)
def test_codes_of_classes_are_checked(codes: Any) -> None:
    with pytest.raises(RecordError, match="codes"):
        Ridge(l2=0.1).solve_softmax(Problem(X, Y), codes)


@pytest.mark.parametrize("length", [0, 3, 10**6])
def test_no_method_reads_beyond_the_end_of_an_array(length: int) -> None:
    design, vector = Design(X), np.ones(length)
    norms = GroupNorms(GROUPS, 1.0, 1.0)
    for method in (design.product, design.transposed_product, design.curvature, norms.value):
        with pytest.raises(RecordError, match=f"{length} "):
            method(vector)
    with pytest.raises(RecordError, match=f"{length} weights"):
        norms.duals(np.ones(2), vector)


@pytest.mark.parametrize("feature", [-1, 4, 10**9])
def test_no_method_takes_a_feature_that_does_not_exist(feature: int) -> None:
    design, features = Design(X), np.array([feature], dtype=np.int32)
    with pytest.raises(RecordError, match="of a matrix with 4 features"):
        design.product(np.ones(1), features)
    with pytest.raises(RecordError, match="of a matrix with 4 features"):
        design.curvature(np.ones(4), features)
    with pytest.raises(UsageError, match="initial must be features from 0 to 3"):
        Pursuit(Problem(X, Y), l2=0.1, initial=features)
    with pytest.raises(UsageError, match="none twice"):
        Pursuit(Problem(X, Y), l2=0.1, initial=(1, 1))


def test_links_of_the_smallest_weights() -> None:
    with pytest.raises(RecordError, match="from feature 0 to 1 has the weight 5e"):
        Graph(np.eye(4, k=1) * 5e-324)
    graph = Graph(np.eye(4, k=1) * 1e-300, np.eye(4, k=-1) * 1e-300)
    for part in (Network(alpha=0.01, beta=0.01), Laplacian(alpha=0.01, beta=0.01, normalized=True)):
        assert part.solve(Problem(X, Y, graph=graph)).converged
