"""Solvers of the lasso, the ridge and the elastic net, each as a function of a tolerance.

min  sum_i log(1 + exp(-y_i (x_i w + b))) + lam (share ||w||_1 + (1 - share)/2 ||w||_2^2)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Fit = Callable[[float], tuple[Any, float]]


@dataclass(frozen=True)
class Case:
    """One problem. X: rows, columns: the same by columns, y: -1 and +1."""

    X: Any
    columns: Any
    y: Any
    lam: float
    share: float

    def objective(self, fit: tuple[Any, float]) -> float:
        """The value to minimize."""
        w, b = fit
        loss = np.logaddexp(0.0, -self.y * (self.X @ w + b)).sum()
        penalty = self.share * np.abs(w).sum() + 0.5 * (1.0 - self.share) * (w @ w)
        return float(loss + self.lam * penalty)


def ours(case: Case, problem: Any) -> Fit:
    """textreg. Its problem shares nothing with an earlier fit but the matrix."""
    from textreg.builtin.separable import Elastic, Lasso, Ridge

    l1, l2 = case.lam * case.share, 0.5 * case.lam * (1.0 - case.share)
    regularizer = Elastic(l1=l1, l2=l2) if l1 and l2 else Lasso(l1=l1) if l1 else Ridge(l2=l2)

    def fit(tol: float) -> tuple[Any, float]:
        solution = regularizer.solve(problem.replace(tol=tol))
        return solution.w, solution.b

    return fit


def skglm(case: Case) -> Fit:
    """Working sets and proximal Newton steps (numba, compiled outside the clock)."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    def model(tol: float) -> Any:
        solver = ProxNewton(tol=tol, fit_intercept=True, max_iter=1000)
        penalty = L1_plus_L2(case.lam / len(case.y), case.share)
        return GeneralizedLinearEstimator(Logistic(), penalty, solver)

    def fit(tol: float) -> tuple[Any, float]:
        fitted = model(tol).fit(case.columns, case.y)
        return np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0])

    model(0.1).fit(case.columns[:60], case.y[::-1][:60])  # compile
    return fit


def liblinear(case: Case) -> Fit:
    """Coordinate descent for the lasso (-s 6), a trust region for the ridge (TRON, -s 0)."""
    from liblinear.liblinearutil import train

    def fit(tol: float) -> tuple[Any, float]:
        kind = 6 if case.share else 0
        options = f"-s {kind} -c {1.0 / case.lam!r} -e {tol} -B 1 -R -q"
        model = train(case.y, case.X, options)
        w, b = model.get_decfun()
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        return sign * np.array(w), sign * b

    return fit


def adelie(case: Case) -> Fit:
    """A path solver, asked for one point."""
    import adelie as ad

    def fit(tol: float) -> tuple[Any, float]:
        state = ad.grpnet(
            ad.matrix.sparse(case.columns, method="naive", n_threads=1),
            ad.glm.binomial(y=(case.y > 0).astype(float)),
            lmda_path=np.array([case.lam / len(case.y)]),
            alpha=case.share,
            tol=tol,
            irls_tol=tol,
            progress_bar=False,
            adev_tol=1.0,
            early_exit=False,
            intercept=True,
            n_threads=1,
        )
        return state.betas[-1].toarray().ravel(), float(state.intercepts[-1])

    return fit


def newton_cg(case: Case) -> Fit:
    """scikit-learn's."""
    from sklearn.linear_model import LogisticRegression

    def fit(tol: float) -> tuple[Any, float]:
        model = LogisticRegression(C=1.0 / case.lam, solver="newton-cg", tol=tol, max_iter=10_000)
        model.fit(case.X, case.y)
        return model.coef_.ravel(), float(model.intercept_[0])

    return fit


def able(share: float) -> dict[str, tuple[Callable[[Case], Fit], int]]:
    """Peers that solve this, and the power of ten of the tolerance that they begin at."""
    if not share:
        return {"liblinear": (liblinear, 4), "newton-cg": (newton_cg, 5)}
    peers = {"skglm": (skglm, 3), "adelie": (adelie, 7)}
    return {**peers, "liblinear": (liblinear, 3)} if share == 1.0 else peers
