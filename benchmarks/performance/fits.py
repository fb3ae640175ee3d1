"""One problem at a time, to a relative suboptimality or a proven gap, beside other solvers.

The time to a suboptimality is that of the loosest tolerance, by decades, that reaches it. Everyone
is given the matrix in the form that suits it best and checks it inside the clock; imports and
compiling are outside. The optimum is textreg's at a much smaller tolerance, with its gap as proof.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import PATIENCE, Call, Sample, Side, forked
from benchmarks.performance.line import OURS, Goal, Line

PASS = "a pass of memory"
GROUP = (0.001, 0.003, 0.01, 0.03, 0.1)
L1 = (0.01, 0.03, 0.1, 0.3, 1.0)

Fit = Callable[[float], Any]
"""Weights and intercept at a tolerance."""


def a_pass(X: Any) -> Call:
    """What reading so many bytes once takes: the sum of an array as large as X."""
    import numpy as np

    array = np.ones((X.data.nbytes + X.indices.nbytes) // 8)

    def run() -> dict[str, float]:
        started, seconds, passes = time.process_time(), 0.0, 0
        while seconds < 0.05:  # a small array takes less than the clock can tell
            array.sum()
            passes += 1
            seconds = time.process_time() - started
        return {"cpu": seconds / passes}

    return Call(run)


def to(target: float, objective: Callable[[Any], float], fit: Fit, first: int = 1) -> Side:
    """The call at the loosest tolerance, by decades, that brings the objective to ``target``.

    first: the power of ten to begin at. Where that is enough and quick, looser ones are tried. Of a
    slow call the trial is the first sample.
    """

    def trial(power: int) -> Sample:
        def run() -> dict[str, float]:
            started = time.process_time()
            fitted = fit(10.0**-power)
            seconds = time.process_time() - started
            return {"cpu": seconds, "tol": 10.0**-power, "objective": objective(fitted)}

        return forked(run)

    def enough(sample: Sample) -> bool:
        return "ended" not in sample and sample["objective"] <= target

    power, best = first, trial(first)
    while not enough(best) and "ended" not in best and power < 12:
        power += 1
        best = trial(power)
    while power == first > 0 and enough(best) and best["cpu"] < PATIENCE:
        looser = trial(first - 1)
        if not enough(looser):
            break
        first, power, best = first - 1, power - 1, looser
    if not enough(best):
        missed = best | {"ended": 1.0}
        return lambda first=False: missed
    call = Call(lambda: {"tol": best["tol"]} if fit(best["tol"]) is not None else {})
    if best["cpu"] > PATIENCE:
        return lambda first=False: best if first else call()
    return call


def counts(ground: Ground, name: str, word: str = r"(?u)\b\w\w+\b") -> tuple[Any, Any]:
    """Counts of words, by CountVectorizer's rule unless another is given, and labels of +-1."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    rows = ground.rows(f"{name}/train")
    vectorizer = CountVectorizer(token_pattern=word)
    X = vectorizer.fit_transform([row["text"] for row in rows]).astype(float).tocsr()
    largest = max(row["label"] for row in rows)
    return X, np.where([row["label"] == largest for row in rows], 1.0, -1.0)


def binary(ground: Ground, part: float, share: float) -> dict[str, Side]:
    """Ridge (share 0), elastic net or lasso (share 1) on counts of imdb, to 1e-6, beside the peers.

    part: of the strength that empties the model; 0 for a strength of 1.
    """
    import numpy as np

    from benchmarks.performance import solvers
    from textreg.builtin.separable import Elastic
    from textreg.records import Problem

    X, y = counts(ground, "imdb")
    y01 = (y > 0).astype(float)
    lam = part * float(np.abs(X.T @ (y01 - y01.mean())).max()) or 1.0
    case = solvers.Case(X, X.tocsc(), y, lam, share)
    best = Elastic(l1=lam * share, l2=0.5 * lam * (1.0 - share)).solve(Problem(X, y, tol=1e-10))
    problem = Problem(X, y)  # a new one, as a Problem keeps what a fit has derived from its matrix
    problem.X_csc  # noqa: B018 - made here, outside the clock
    target = case.objective((best.w, best.b)) * (1.0 + 1e-6)
    sides: dict[str, Side] = {OURS: to(target, case.objective, solvers.ours(case, problem))}
    for name, (solver, first) in solvers.able(share).items():
        fit = solver(case)
        sides[name] = to(target, case.objective, fit, first)
    return {**sides, PASS: a_pass(X)}


def softmax(C: float, precision: float) -> Line:
    """Ridge of all labels together on tf-idf of 20 Newsgroups."""

    def sides(ground: Ground) -> Mapping[str, Side]:
        import numpy as np
        from scipy.special import logsumexp
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        from textreg.builtin.separable import Ridge
        from textreg.records import Problem

        warnings.simplefilter("ignore")
        rows = ground.rows("20news/train")
        X = TfidfVectorizer(sublinear_tf=True).fit_transform([row["text"] for row in rows])
        codes = np.unique([row["label"] for row in rows], return_inverse=True)[1]
        problem = Problem(X, np.where(codes == 0, 1.0, -1.0))
        own = (np.arange(len(codes)), codes)

        def objective(fit: Any) -> float:
            W, b = fit
            Z = X @ W.T + b
            loss = logsumexp(Z, axis=1).sum() - Z[own].sum()
            return float(loss + (W * W).sum() / (2.0 * C))

        def ours(tol: float, problem: Problem = problem) -> Any:
            fitted = Ridge(l2=0.5 / C).solve_softmax(problem.replace(tol=tol), codes)
            return fitted.w, fitted.b

        def peer(solver: str) -> Fit:
            def fit(tol: float) -> Any:
                model = LogisticRegression(C=C, solver=solver, tol=tol, max_iter=100_000)
                model.fit(X, codes)
                return model.coef_, model.intercept_

            return fit

        other = Problem(X, problem.y)  # a Problem keeps what a fit has derived from its matrix
        target = objective(ours(precision / 100.0, other)) * (1.0 + precision)
        return {
            OURS: to(target, objective, ours, 3),
            "saga": to(target, objective, peer("saga"), 3),
            "lbfgs": to(target, objective, peer("lbfgs"), 4 + (C > 1.0) + (precision < 1e-3)),
            PASS: a_pass(X),
        }

    short = f"{precision:.0e}".replace("e-0", "e-")
    return Line(
        f"softmax-C{C:g}-{short}",
        f"softmax ridge, 20news by tf-idf, C = {C:g}, to {short}",
        sides,
        goals=(Goal("cpu", 1.0, "saga"), Goal("cpu", 1.0, "lbfgs")),
        bounds=(PASS,),
        calls=True,
    )


def sentences(ground: Ground, name: str, weighting: str, tol: float) -> Any:
    """Words of a corpus and a group for every sentence."""
    import numpy as np

    from textreg.builtin.group_builders import Sentences
    from textreg.builtin.tokenizers import Words
    from textreg.features.vectorize import Vectorizer
    from textreg.records import Problem

    rows = ground.rows(f"{name}/train")
    texts = [row["text"] for row in rows]
    features = Vectorizer(weighting=weighting, ngrams=1).fit(Words(), texts)
    largest = max(row["label"] for row in rows)
    y = np.where([row["label"] == largest for row in rows], 1.0, -1.0)
    problem = Problem(X=features.X, y=y, groups=Sentences().build(features.tokens), tol=tol)
    _ = problem.X_csc, problem.groups and problem.groups.merged  # made once, not part of a fit
    return problem


def grid(ground: Ground, name: str, weighting: str, tol: float) -> Mapping[str, Side]:
    """All 25 points, each from zero: their seconds together, and those of the slowest."""
    from textreg.penalties import GroupNorms
    from textreg.solvers.groups import majorize

    problem = sentences(ground, name, weighting, tol)

    def run() -> dict[str, float]:
        seconds, missed = [], 0
        for group, l1 in ((group, l1) for group in GROUP for l1 in L1):
            started = time.process_time()
            solution = majorize(problem, GroupNorms(problem.groups, group, l1))
            seconds.append(time.process_time() - started)
            missed += solution.gap > tol
        return {"most": max(seconds), "missed": missed}

    return {OURS: Call(run), PASS: a_pass(problem.X)}


def one_sentence_fit(ground: Ground) -> Mapping[str, Side]:
    """One point beside ADMM."""
    from benchmarks.performance import plain
    from textreg.penalties import GroupNorms
    from textreg.solvers.groups import majorize

    problem = sentences(ground, "science", "count", 1e-3)
    penalty = GroupNorms(problem.groups, 0.5, 0.2)
    return {
        OURS: Call(lambda: {"gap": majorize(problem, penalty).gap}),
        "ADMM in NumPy": Call(lambda: {"gap": plain.admm(problem, penalty, 1.0, 100.0)}),
        PASS: a_pass(problem.X),
    }


def pursuit(ground: Ground) -> Mapping[str, Side]:
    """OMP on all words of a pair of newsgroups."""
    from benchmarks.performance import plain
    from textreg.records import Problem
    from textreg.solvers.pursuit import Pursuit

    X, y = counts(ground, "computer", r"(?u)\w+")
    budget = ground.few(2000)
    problem = Problem(X, y)
    problem.X_csc  # noqa: B018 - made here, outside the clock

    def ours() -> dict[str, float]:
        run = Pursuit(problem, l2=1.0)
        run.solution(budget)
        return {"uncertain": run.uncertain}

    return {
        OURS: Call(ours),
        "SciPy": Call(lambda: {"selected": len(plain.omp(X, y, 1.0, budget))}),
        PASS: a_pass(X),
    }


def line(name: str, what: str, sides: Any, *goals: Goal, **more: Any) -> Line:
    """A line of calls, with a pass of memory as its bound."""
    return Line(name, what, sides, goals=goals, bounds=(PASS,), calls=True, **more)


LINES = (
    line(
        "sentence-science",
        "sentence, science, 25 settings to 1e-4, together",
        lambda ground: grid(ground, "science", "count", 1e-4),
        Goal("cpu", 2.0),
    ),
    line(
        "sentence-imdb",
        "sentence, imdb, 25 settings to 1e-3, the slowest",
        lambda ground: grid(ground, "imdb", "count", 1e-3),
        Goal("most", 1.5),
        figure="most",
    ),
    line(
        "sentence-admm",
        "sentence, science, one setting to 1e-3",
        one_sentence_fit,
        Goal("cpu", 1.0, "ADMM in NumPy"),
    ),
    line(
        "ridge-imdb",
        "ridge, imdb, to 1e-6",
        lambda ground: binary(ground, 0.0, 0.0),
        Goal("cpu", 1.0, "liblinear"),
    ),
    line("lasso-imdb", "lasso, imdb, to 1e-6", lambda ground: binary(ground, 1 / 30, 1.0)),
    line("elastic-imdb", "elastic net, imdb, to 1e-6", lambda ground: binary(ground, 1 / 30, 0.5)),
    *(softmax(C, precision) for C in (1.0, 10.0) for precision in (1e-3, 1e-5)),
    line(
        "omp-computer",
        "OMP, computer, 2,000 features",
        pursuit,
        Goal("cpu", 0.4),
    ),
)
