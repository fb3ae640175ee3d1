"""The regularizer fused: its kernel beside the NumPy twin, its prox, its contract."""

import warnings

import numpy as np
import pytest
import textreg_fused
from scipy.optimize import minimize
from scipy.sparse import csr_array
from textreg_fused import Fused, GraphFused, kernel, twin

import textreg
from textreg.errors import ConvergenceWarning, UsageError
from textreg.records import Graph, Problem
from textreg_testing import Check, check_penalty, regularizer_checks


def chain(p: int, weight: float = 1.0) -> Graph:
    """Every feature is linked to the next."""
    ends = np.arange(p - 1)
    return Graph(csr_array((np.full(p - 1, weight), (ends, ends + 1)), shape=(p, p)))


def some(seed: int, p: int = 12, links: int = 30) -> Graph:
    """Features linked at random, some in both directions."""
    rng = np.random.default_rng(seed)
    heads = rng.integers(0, p, links)
    tails = (heads + rng.integers(1, p, links)) % p
    return Graph(csr_array((rng.random(links) + 0.1, (heads, tails)), shape=(p, p)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("l1", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("most", [0, 1, 40])
@pytest.mark.parametrize("fuse", [0.2, 5.0])  # the second is never a bound
def test_kernel_and_twin_do_the_same(seed: int, l1: float, most: int, fuse: float) -> None:
    penalty = Fused(some(seed), fuse, l1)
    w = np.random.default_rng(seed).standard_normal(12)
    found = []
    for module in (kernel, twin):
        u, z = np.zeros(len(penalty.strengths)), w.copy()
        room = np.zeros(len(u), dtype=np.int32)
        gap = module.link_rounds(
            penalty.heads, penalty.tails, penalty.strengths, l1, u, z, room, 1e-9, most
        )
        found.append((u, z, gap))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_the_kernel_takes_no_arrays_of_other_lengths() -> None:
    three, ends = np.zeros(3), np.zeros(3, dtype=np.int32)
    with pytest.raises(ValueError, match="one entry a link"):
        kernel.link_rounds(ends, ends, np.zeros(2), 0.0, three, three, ends, 0.0, 1)


def test_prox_on_a_chain_is_known() -> None:
    # Two pairs of neighbors: the inner ones meet, by the strength of their link at each end.
    penalty = Fused(chain(4), 1.0, 0.0)
    np.testing.assert_allclose(
        penalty.prox(np.array([0.0, 0.0, 6.0, 6.0]), 1.0), [0.5, 0.5, 5.5, 5.5]
    )
    np.testing.assert_allclose(penalty.prox(np.array([0.0, 0.0, 6.0, 6.0]), 10.0), 3.0)
    np.testing.assert_allclose(Fused(chain(2), 9.0, 2.0).prox(np.array([1.0, 7.0]), 1.0), 2.0)


@pytest.mark.parametrize("seed", range(3))
def test_prox_is_what_a_solver_for_anything_finds(seed: int) -> None:
    penalty = Fused(some(seed, 5, 8), 0.3, 0.2)
    w = 2.0 * np.random.default_rng(seed).standard_normal(5)
    x = penalty.prox(w, 1.0)
    cost = lambda v: 0.5 * (v - w) @ (v - w) + penalty.value(v)  # noqa: E731
    other = minimize(
        cost, w, method="Powell", options={"xtol": 1e-8, "ftol": 1e-12, "maxiter": 10**5}
    )
    assert cost(x) <= other.fun + 1e-9


@pytest.mark.parametrize("strengths", [(0.0, 0.0), (0.3, 0.0), (0.0, 0.5), (0.2, 0.5)])
def test_penalty_keeps_its_contract(strengths: tuple[float, float]) -> None:
    check_penalty(Fused(some(1), *strengths), 12)


def test_directions_count_together() -> None:
    links = some(2).similar
    w = np.random.default_rng(2).standard_normal(12)
    apart = sum(v * abs(w[i] - w[j]) for (i, j), v in links.todok().items())
    assert Fused(Graph(links), 1.0, 0.0).value(w) == pytest.approx(apart)


def test_a_prox_that_is_cut_short_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textreg_fused, "MOST", 1)
    with pytest.warns(ConvergenceWarning, match="fused: a prox was left at a gap of"):
        Fused(chain(40), 1.0, 0.0).prox(np.random.default_rng(0).standard_normal(40), 3.0)


def test_a_prox_starts_from_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the step was: at k times the point and k times the step it is there at once."""
    penalty, w = Fused(chain(40), 1.0, 0.1), np.random.default_rng(0).standard_normal(40)
    first = penalty.prox(w, 3.0)
    monkeypatch.setattr(textreg_fused, "MOST", 1)
    np.testing.assert_allclose(penalty.prox(5.0 * w, 15.0), 5.0 * first, atol=1e-4)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("check", regularizer_checks(), ids=str)
def test_contract(check: Check) -> None:
    check(GraphFused)


def test_linked_words_get_one_weight() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    y = np.where(X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(80) > 0, 1.0, -1.0)
    ends = np.array([[0, 1, 3, 4], [1, 2, 4, 5]])
    graph = Graph(csr_array((np.ones(4), (ends[0], ends[1])), shape=(6, 6)))
    w = GraphFused(l1=0.5, fuse=5.0).solve(Problem(X=X, y=y, graph=graph, tol=1e-8)).w
    np.testing.assert_allclose(w[:3], w[0], rtol=1e-5)
    assert w[0] > 0.1
    np.testing.assert_allclose(w[3:], w[3], atol=1e-6)


def test_it_needs_a_graph_of_similar_features() -> None:
    problem = Problem(X=np.eye(4), y=np.array([1.0, -1.0, 1.0, -1.0]))
    with pytest.raises(UsageError, match="fused: needs a graph of similar features"):
        GraphFused(l1=0.1, fuse=0.1).solve(problem)


def test_training_finds_it_by_name() -> None:
    texts = ["a good fine box", "a bad dull box", "so good so fine", "so bad so dull"] * 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = textreg.train(texts, ["pos", "neg"] * 20, reg="fused")
    assert model.predict(["good", "dull"]) == ["pos", "neg"]
