"""Hostile records: wrong types, shapes, indices and magnitudes, into every solver and estimator.

A case ends in an error that textreg raises on purpose, or in a solution whose objective and bound
are recomputed here.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array, lil_array
from sklearn.exceptions import DataConversionWarning

import textreg
from textreg.builtin.greedy import Gomp, Omp, Stagewise
from textreg.builtin.groups import Group, Sentence
from textreg.builtin.network import Laplacian, Network
from textreg.builtin.separable import Elastic, Lasso, NoRegularizer, Ridge
from textreg.errors import ConvergenceWarning, DataWarning
from textreg.kinds import Regularizer
from textreg.losses import LOSSES
from textreg.penalties import GroupNorms
from textreg.plugins import registry
from textreg.records import Corpus, Design, Graph, Groups, MultiSolution, Problem, Solution, Tokens
from textreg.solvers.proximal import proximal
from textreg.solvers.pursuit import Pursuit
from textreg_papers.projections import LocallyLinear, PrincipalComponents

Rng = np.random.Generator

SECONDS, MEGABYTES = 60, 256


def case(rng: Rng, folder: object) -> str:
    """One call with hostile values."""
    kinds: list[Callable[[Rng], str]] = [
        one_fit,
        one_fit,
        one_fit,
        all_classes,
        record,
        method,
        estimate,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for expected in (ConvergenceWarning, DataWarning, DataConversionWarning):
            warnings.simplefilter("ignore", expected)
        return pick(rng, kinds)(rng)


def pick(rng: Rng, values: Any) -> Any:
    """One of the values."""
    return values[int(rng.integers(len(values)))]


def chance(rng: Rng, share: float) -> bool:
    """True in this share of the calls."""
    return bool(rng.random() < share)


def magnitude(rng: Rng) -> float:
    """1 in most cases, else anything that a float can be."""
    if chance(rng, 0.8):
        return 1.0
    with np.errstate(under="ignore"):
        return float(10.0 ** rng.uniform(*pick(rng, [(-3, 3), (-30, 30), (-320, 308)])))


def spoil(rng: Rng, values: Any) -> Any:
    """An array with an entry that is no usual number."""
    values = np.array(values, dtype=np.float64)
    odd = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, -0.0, 1e30, 2.0**31, 2.0**63]
    if values.size:
        values.flat[int(rng.integers(values.size))] = pick(rng, odd)
    return values


def retype(rng: Rng, values: Any) -> Any:
    """The values in another type, container or shape; they may change on the way."""
    values = np.asarray(0.0 if values is None else values)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ways: list[Callable[[], Any]] = [
            lambda: values.tolist(),
            lambda: tuple(np.atleast_1d(values).tolist()),
            lambda: values.astype(pick(rng, ["i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "g"])),
            lambda: values.astype(">f8"),
            lambda: values.astype(object),
            lambda: values.astype(bool),
            lambda: values.astype(str),
            lambda: values.astype(complex),
            lambda: np.atleast_1d(values)[..., None],
            lambda: np.atleast_1d(values)[None],
            lambda: np.atleast_1d(values)[:-1],
            lambda: np.repeat(np.atleast_1d(values), 2)[::2],
            lambda: np.matrix(values),
            lambda: np.ma.masked_array(values, mask=rng.random(values.shape) < 0.1),
            lambda: np.asfortranarray(values),
            lambda: (values.tolist() or [0])[0],
            lambda: np.append(values, values),
            lambda: np.append(values, [None]),
            lambda: [*np.atleast_1d(values).tolist(), "x"],
            lambda: set(values.ravel().tolist()),
            lambda: iter(values.ravel().tolist()),
            lambda: None,
            lambda: "text",
            lambda: np.empty(0),
        ]
        return pick(rng, ways)()


def odd(rng: Rng, values: Any, share: float = 0.08) -> Any:
    """The values, or now and then others in their place."""
    if not chance(rng, share):
        return values
    return pick(rng, [spoil, retype])(rng, values)


def matrix(rng: Rng, n: int, p: int) -> Any:
    """Documents by features, in any form; constant, empty, equal and opposite columns included."""
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < rng.choice([0.1, 0.3, 1.0]))
    if chance(rng, 0.3):
        X = np.abs(np.rint(X))
    for _ in range(int(rng.integers(3)) if p > 1 else 0):
        j, k = rng.integers(p, size=2)
        X[:, j] = pick(rng, [0.0, 1.0, X[:, k], -3.0 * X[:, k], 1e-8 * X[:, k], magnitude(rng)])
    with np.errstate(all="ignore"):
        X = X * magnitude(rng)
        if chance(rng, 0.15) and X.size:
            X[:, int(rng.integers(p))] *= magnitude(rng)
        if chance(rng, 0.15) and X.size:
            X[int(rng.integers(n))] *= magnitude(rng)
    if chance(rng, 0.03):
        X = spoil(rng, X)
    if chance(rng, 0.02):
        return retype(rng, X)
    kind = pick(rng, [csr_array, csr_array, csc_array, coo_array, bsr_array, dia_array, lil_array])
    X = np.array(X) if chance(rng, 0.2) else kind(X)
    return damaged(rng, X) if chance(rng, 0.1) else X


def damaged(rng: Rng, X: Any) -> Any:
    """A sparse matrix that SciPy takes, though its arrays may say nonsense."""
    if not isinstance(X, (csr_array, csc_array, bsr_array)) or not X.nnz:
        return X
    way = int(rng.integers(7))
    at = int(rng.integers(len(X.indices)))
    if way == 0:
        X.indices[at] = pick(rng, [-1, 2**31 - 1, 10**6, X.shape[1], -(2**31)])
    elif way == 1:
        X.indptr[int(rng.integers(len(X.indptr)))] = pick(rng, [-1, 10**6, 0, 2**31 - 1])
    elif way == 2:
        X.indices[:] = X.indices[::-1]
        X.has_sorted_indices = False
    elif way == 3:
        X.indices[:] = X.indices[0]
        X.has_canonical_format = pick(rng, [True, False])
    elif way == 4:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    elif way == 5:
        X.data[:] = 0.0
    else:
        X.indices = np.append(X.indices, 10**6).astype(X.indices.dtype)
        X.data = np.append(X.data, X.data[:1], axis=0)
    return X


def weights_of(rng: Rng, n: int) -> Any:
    """Weights of documents."""
    way = int(rng.integers(6))
    if way < 3:
        return None
    c = rng.integers(0, 3, n).astype(np.float64) if way == 3 else rng.random(n)
    if way == 5:
        with np.errstate(all="ignore"):
            c = c * 10.0 ** rng.uniform(-330, pick(rng, [0, 3, 308]), n)
    with np.errstate(all="ignore"):
        return odd(rng, c * magnitude(rng), 0.03)


def groups_of(rng: Rng, p: int) -> Groups:
    """Groups of features: overlapping, empty, equal, or with fields that say nonsense."""
    count = int(pick(rng, [0, 1, 3, 10, 300]))
    rows = [np.flatnonzero(rng.random(p) < rng.choice([0.0, 0.2, 0.7])) for _ in range(count)]
    if chance(rng, 0.3):
        rows += rows
    indices = np.concatenate([*rows, np.empty(0, dtype=np.int64)])
    if chance(rng, 0.02) and len(indices):
        indices[int(rng.integers(len(indices)))] = pick(rng, [-1, p, 2**31, 2**40, -(2**31)])
    if chance(rng, 0.01):
        indices = indices[::-1]
    indptr = np.cumsum([0, *map(len, rows)])
    weights = rng.random(len(rows)) * magnitude(rng)
    size = p if chance(rng, 0.99) else pick(rng, [p + 1, -1, 0, 2.5, "p", None, 2**40])
    indptr, indices, weights = (odd(rng, values, 0.02) for values in (indptr, indices, weights))
    return Groups(indptr, indices, weights, size)


def graph_of(rng: Rng, p: int) -> Graph:
    """Links between features, and virtual ones."""
    classes = int(rng.integers(3))
    size = p + classes

    def links() -> Any:
        W = rng.random((size, size)) * (rng.random((size, size)) < rng.choice([0.0, 0.1, 0.5]))
        np.fill_diagonal(W, 0.0 if chance(rng, 0.95) else 1.0)
        with np.errstate(all="ignore"):
            W *= magnitude(rng)
        return odd(rng, W, 0.03) if chance(rng, 0.5) else damaged(rng, csr_array(W))

    classes = classes if chance(rng, 0.97) else pick(rng, [-1, 10**6, 0.5, "x", None])
    return Graph(links(), links() if chance(rng, 0.4) else None, classes)


def problem_of(rng: Rng) -> Problem:
    """A problem of up to 30 documents and 25 features."""
    n, p = int(pick(rng, [0, 1, 2, 5, 30])), int(pick(rng, [0, 1, 2, 8, 25]))
    loss = pick(rng, list(LOSSES))
    if loss == "squared":
        y = rng.standard_normal(n) * magnitude(rng)
    else:
        y = np.where(rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0]), 1.0, -1.0)
    start = None
    if chance(rng, 0.3):
        start = odd(rng, rng.standard_normal(p) * magnitude(rng), 0.04), magnitude(rng)
        start = start if chance(rng, 0.95) else (start[0], pick(rng, [None, "b", math.nan, [1.0]]))
    validation = None
    if chance(rng, 0.1):
        validation = matrix(rng, 5, p), odd(rng, np.sign(rng.standard_normal(5)))
    odd_tols = [0.0, -1, math.nan, "x"] if chance(rng, 0.05) else []
    return Problem(
        matrix(rng, n, p),
        odd(rng, y, 0.03),
        weights_of(rng, n),
        loss,
        groups=groups_of(rng, p) if chance(rng, 0.95) else None,
        graph=graph_of(rng, p) if chance(rng, 0.95) else None,
        fit_intercept=chance(rng, 0.7),
        tol=pick(rng, [1e-4, 1e-4, 1e-2, 1e-8, 1e-300, 1e300, *odd_tols]),
        max_iter=pick(rng, [1, 2, 100, 300]),
        start=start,
        validation=validation,
    )


def strength(rng: Rng) -> float:
    """A penalty strength, from none to what makes every weight zero, and beyond."""
    ways: list[Callable[[], float]] = [
        lambda: 0.0,
        lambda: float(10.0 ** rng.uniform(-6, 2)),
        lambda: float(10.0 ** rng.uniform(-6, 2)),
        lambda: magnitude(rng),
        lambda: pick(rng, [1e308, 5e-324, 1e-200, math.inf, math.nan]),
    ]
    return pick(rng, ways[: 3 if chance(rng, 0.7) else 5])()


def regularizer_of(rng: Rng) -> Regularizer:
    """Any of the built-in regularizers, with any parameters."""
    one, two, three = (strength(rng) for _ in range(3))
    few = int(pick(rng, [1, 2, 5, 50]))
    ways: list[Callable[[], Regularizer]] = [
        lambda: Lasso(l1=one),
        lambda: Ridge(l2=one),
        lambda: Elastic(l1=one, l2=two),
        NoRegularizer,
        lambda: Sentence(group=one, l1=two, l2=three),
        lambda: Group(group=one, l1=two, l2=three),
        lambda: Group(group=one, l1=two, l2=three, solver="admm"),
        lambda: Group(group=one, l1=two, l2=three, solver="algorithm-1"),
        lambda: Network(alpha=one, beta=two),
        lambda: Laplacian(alpha=one, beta=two, normalized=chance(rng, 0.5)),
        lambda: PrincipalComponents(components=few, l2=one),
        lambda: LocallyLinear(components=few, l2=one),
        lambda: Omp(budget=few, l2=one, columns=pick(rng, ["unit", "given"])),
        lambda: Gomp(
            budget=few,
            l2=one,
            columns=pick(rng, ["unit", "given"]),
            score=pick(rng, ["projection", "mean", "sum", "orthonormal"]),
            singletons=chance(rng, 0.5),
        ),
        lambda: Stagewise(
            steps=pick(rng, [1, 20, 200]),
            likelihood=pick(rng, ["loss", "linear", "exponential"]),
            scaled=chance(rng, 0.5),
            standardize=chance(rng, 0.7),
            epsilon=None if chance(rng, 0.6) else max(strength(rng), 1e-9),
            patience=pick(rng, [None, None, 5]),
            sample=pick(rng, [None, None, 3]),
            lookup=pick(rng, ["random", "random", "queue"]),
            threshold=pick(rng, [0.0, 0.0, 0.2]),
            relative=chance(rng, 0.7),
            every=pick(rng, [1, 50]),
        ),
    ]
    return pick(rng, ways)()


def one_fit(rng: Rng) -> str:
    """A regularizer on a problem."""
    problem, part = problem_of(rng), regularizer_of(rng)
    if hasattr(part, "strengths") and chance(rng, 0.3):
        penalty = part.penalty(problem)
        return certified(proximal(problem, penalty), problem, penalty)
    found = part.solve(problem)
    assert found.w.shape == problem.X.shape[1:]
    penalty = part.penalty(problem) if hasattr(part, "penalty") else None
    return certified(found, problem, penalty)


def certified(found: Solution, problem: Problem, penalty: Any) -> str:
    """How it ended; AssertionError if a claim of the solution does not hold."""
    claims = found.converged or not math.isnan(found.gap)
    finite = np.isfinite(found.w).all() and math.isfinite(found.b)
    assert finite, "weights that are not finite"
    assert math.isfinite(found.objective)
    assert math.isnan(found.gap) or found.gap >= 0.0
    if found.converged and not math.isnan(found.gap):
        assert found.gap <= problem.tol, (found.gap, problem.tol)
    if penalty is None or not claims:
        return "converged" if found.converged else "honest"
    assert problem.fit_intercept or found.b == 0.0

    def objective(w: Any, b: float) -> tuple[float, float]:
        """The objective, and by how much rounding may change it."""
        with np.errstate(all="ignore"):
            z = problem.design.product(w) + b
            blur = problem.design.X.copy()
            blur.data = np.abs(blur.data)
            size = 1e-13 * (blur @ np.abs(w) + abs(b))
            value = problem.loss.value(z, problem.y, problem.sample_weight) + penalty.value(w)
            off = problem.loss.value(z + size, problem.y, problem.sample_weight)
            other = problem.loss.value(z - size, problem.y, problem.sample_weight)
            near = problem.loss.value(z, problem.y, problem.sample_weight)
        return value, abs(off - near) + abs(other - near) + 1e-9 * abs(value) + 1e-300

    value, rounding = objective(found.w, found.b)
    # Near zero, objectives are as exact as the sums that they were computed from.
    rounding += 1e-15 * abs(objective(np.zeros_like(found.w), 0.0)[0])
    assert abs(found.objective - value) <= rounding, (found.objective, value, rounding)
    if math.isnan(found.gap):
        return "converged, no gap"
    least = found.objective - found.gap * abs(found.objective) - rounding
    zero = np.zeros_like(found.w)
    b = problem.intercept_at_zero()
    others = [(zero, b), (zero, 0.0), (0.9 * found.w, found.b), (1.1 * found.w, found.b)]
    for w, intercept in others:
        better, blur = objective(w, intercept if problem.fit_intercept else 0.0)
        assert not better < least - blur, (better, least, found.gap)
    return "converged, gap" if found.converged else "honest gap"


def all_classes(rng: Rng) -> str:
    """A fit of several classes at once."""
    problem, part = problem_of(rng), regularizer_of(rng)
    n, p = problem.X.shape
    while not part.softmax and chance(rng, 0.95):
        part = regularizer_of(rng)
    k = int(pick(rng, [2, 3, 6]))
    codes = np.append(np.arange(k), rng.integers(k, size=max(n - k, 0)))[:n]
    if chance(rng, 0.1):
        codes = pick(rng, [codes[:-1], codes * 10**6, codes - 1, codes * 0, codes.astype(float)])
    if chance(rng, 0.03):
        codes = retype(rng, codes)
    start = None
    if chance(rng, 0.3):
        start = odd(rng, rng.standard_normal((k, p)) * magnitude(rng)), odd(rng, np.zeros(k))
    found = part.solve_softmax(problem, codes, start)
    assert isinstance(found, MultiSolution)
    assert np.isfinite(found.w).all()
    assert np.isfinite(found.b).all()
    assert math.isfinite(found.objective)
    if found.converged and not math.isnan(found.gap):
        assert 0.0 <= found.gap <= problem.tol
    return "classes converged" if found.converged else "classes honest"


def record(rng: Rng) -> str:
    """A record with fields of any kind."""
    p, m = int(rng.integers(1, 9)), int(rng.integers(0, 12))

    def numbers(size: int, most: int = 8) -> Any:
        return odd(rng, rng.integers(0, most, size), 0.3)

    def offsets(size: int, end: int) -> Any:
        inner = np.sort(rng.integers(0, end + 1, max(size - 1, 0)))
        return odd(rng, np.concatenate([[0], inner, [end]]), 0.2)

    def tokens() -> Any:
        names = [f"w{j}" for j in range(p)]
        s = int(rng.integers(0, 6))
        return Tokens(
            numbers(m, p),
            offsets(s, m),
            offsets(3, s),
            names if chance(rng, 0.9) else pick(rng, ["abc", None, 3, names[:1], np.array(names)]),
            spans=odd(rng, np.zeros((m, 2)), 0.3) if chance(rng, 0.4) else None,
            sentence_spans=odd(rng, np.zeros((s, 2)), 0.3) if chance(rng, 0.4) else None,
            paragraph_ptr=offsets(2, s) if chance(rng, 0.4) else None,
        )

    def corpus() -> Any:
        texts = [f"text {i}" for i in range(m)]
        wrong = ["text", None, 3, (), iter("ab")]
        return Corpus(
            texts if chance(rng, 0.9) else pick(rng, wrong),
            labels=pick(rng, [None, ["a"] * m, ["a"] * (m + 1), "a" * m]),
            sample_weight=odd(rng, rng.random(m), 0.4) if chance(rng, 0.6) else None,
            sources=["file"],
            source_of=odd(rng, np.zeros(m), 0.4) if chance(rng, 0.6) else None,
            line_of=odd(rng, np.arange(m), 0.4) if chance(rng, 0.6) else None,
        )

    def solution() -> Any:
        kind = pick(rng, [Solution, MultiSolution])
        w = rng.standard_normal((3, p) if kind is MultiSolution else p)
        b = np.zeros(3) if kind is MultiSolution else 0.0
        number = [0.0, 1.0, math.nan, math.inf, -1.0, 1e308, "x", None, np.float32(2), [1.0]]
        found = kind(
            odd(rng, w, 0.4),
            odd(rng, b, 0.3),
            pick(rng, number),
            gap=pick(rng, number),
            iterations=pick(rng, [0, 5, 1.5, -1, "x", np.int8(3)]),
            converged=pick(rng, [True, False, np.True_, 1, None]),
        )
        if found.converged or not math.isnan(found.gap):
            assert np.isfinite(found.w).all()
            assert np.isfinite(found.b).all()
            assert math.isfinite(found.objective)
        return found

    ways: list[Any] = [lambda: groups_of(rng, p), lambda: graph_of(rng, p)]
    made = pick(rng, [tokens, corpus, solution, *ways])()
    assert repr(made)
    if isinstance(made, Groups):
        assert len(made.merged.origin) == len(made)
    if isinstance(made, Tokens):
        rows = np.arange(made.n_documents)
        assert len(made.select(rows[::-1]).ids) == len(made.ids)
        use_tokens(rng, made)
    if isinstance(made, Corpus) and len(made):
        assert made.where(0)
        made.select(np.arange(1))
    return f"made {type(made).__name__}"


def use_tokens(rng: Rng, tokens: Tokens) -> None:
    """Give tokens to the builders, whose kernels trust them."""
    builders = ["sentences", "paragraphs", "documents", "windows"]
    registry.create("groups", pick(rng, builders)).build(tokens)
    registry.create("graph", "cooccurrence").build(tokens)


def method(rng: Rng) -> str:
    """A promised method of a record or penalty, with an array of any length."""
    n, p = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    design = Design(rng.standard_normal((n, p)))
    groups = Groups([0, p], np.arange(p), [1.0], p)
    norms = GroupNorms(groups, 1.0, 1.0)
    length = int(pick(rng, [n, p, 0, 1, 10, 10**6]))
    vector = rng.standard_normal(length)
    features = rng.integers(pick(rng, [0, -2]), pick(rng, [p, 10**9]), int(rng.integers(6)))
    some = pick(rng, [None, features.astype(np.int32)])
    ways: list[Callable[[], Any]] = [
        lambda: design.product(vector, some),
        lambda: design.transposed_product(vector, some),
        lambda: design.curvature(vector, some),
        lambda: norms.value(vector),
        lambda: norms.norms(vector),
        lambda: norms.majorizer(vector),
        lambda: norms.duals(vector, vector),
        lambda: norms.copies(vector, vector),
        lambda: norms.spread(vector),
        lambda: norms.gather(vector),
        lambda: Pursuit(Problem(design, np.ones(n)), l2=0.1, initial=features).grow(p),
    ]
    try:
        pick(rng, ways)()
    except (ValueError, IndexError):  # arrays that do not fit each other are a fault of the caller
        return "refused"
    return "called"


def no_matrix(labels: Any) -> Any:
    """Labels, but of np.matrix, which scikit-learn refuses itself, as an array."""
    return np.asarray(labels) if isinstance(labels, np.matrix) else labels


def estimate(rng: Rng) -> str:
    """A training or an estimator, from texts."""
    n = int(pick(rng, [0, 1, 2, 6, 24]))
    words = ["good", "bad", "so", "very", "not", "plot", "x" * 40, "é", "\0", "."]
    texts: Any = [" ".join(rng.choice(words, size=int(rng.integers(0, 12)))) for _ in range(n)]
    k = int(pick(rng, [1, 2, 2, 3, 5]))
    numbers = chance(rng, 0.3)
    labels: Any = rng.standard_normal(n) * magnitude(rng) if numbers else rng.integers(k, size=n)
    labels = odd(rng, labels, 0.15)
    if chance(rng, 0.1):
        array = np.array(texts)
        texts = pick(rng, [array, array[:, None], "text", None, [*texts[1:], 3]])
    weights = odd(rng, weights_of(rng, n), 0.05)
    options: dict[str, Any] = {
        "reg": regularizer_of(rng) if chance(rng, 0.7) else pick(rng, ["ridge", "lasso", "omp"]),
        "weighting": pick(rng, ["count", "binary", "log", "unit", "unit-idf", "tfidf"]),
        "ngrams": pick(rng, [1, 2, 3]),
        "max_iter": 50,
        "min_df": pick(rng, [1, 1, 2, 0.5, 1e300, math.nan]) if chance(rng, 0.2) else 1,
    }
    if isinstance(options["reg"], (Network, Laplacian, LocallyLinear)):
        options["graph"] = "cooccurrence"
    if isinstance(options["reg"], (Group, Gomp)):
        options["groups"] = pick(rng, ["sentences", "documents", "windows"])
    if numbers:
        model: Any = textreg.TextRegressor(**options)
    else:
        if chance(rng, 0.3):
            factors = [1e300, 5e-324, math.nan, 1e-9, 3.0]
            options["class_weight"] = pick(rng, ["balanced", {7: 1.0}, {0: pick(rng, factors)}])
        if chance(rng, 0.2):
            options["loss"] = pick(rng, ["hinge", "squared-hinge", "squared"])
        if chance(rng, 0.2):
            options["multiclass"] = "softmax"
        if chance(rng, 0.1):
            options["calibrate"] = pick(rng, ["temperature", "isotonic"])
        if chance(rng, 0.1):
            options["metric"] = pick(rng, ["macro-f1", "log-loss"])
        model = textreg.TextClassifier(**options)
    model.fit(texts, no_matrix(labels), sample_weight=weights)
    assert np.isfinite(model.model_.weights).all()
    assert np.isfinite(model.model_.intercepts).all()
    given = [*texts, "never seen", ""]
    found = model.predict(given)
    assert len(found) == len(given)
    if numbers:
        assert np.isfinite(found).all()
    else:
        assert np.isfinite(model.decision_function(given)).all()
        if model.model_.task.probabilistic:
            assert np.allclose(model.predict_proba(given).sum(axis=1), 1.0)
    return "trained"
