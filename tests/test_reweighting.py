"""Reweighting: groups that nearly vanished, and are needed after all, come back at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textreg.losses import Squared
from textreg.penalties import GroupNorms
from textreg.records import Groups, Problem
from textreg.solvers import reweighting
from textreg.solvers.reweighting import Reweighted, VectorFit, continued, reweight
from textreg.solvers.state import Engine

NORM, CURVATURE, STRENGTH = 0.2, 4.0, 8.0


def problem() -> Problem:
    """Two features without correlation, in one group: least squares with curvatures h."""
    X = sparse.csr_matrix(np.diag(np.sqrt([CURVATURE, CURVATURE])))
    best = (NORM + STRENGTH / CURVATURE) * np.array([0.6, -0.8])
    y = np.sqrt(CURVATURE) * best
    groups = Groups(np.array([0, 2]), np.array([0, 1]), np.ones(1), n_features=2)
    return Problem(X, y, loss=Squared(), groups=groups, fit_intercept=False, tol=1e-9)


def test_a_vanished_group_needs_a_round_for_every_doubling() -> None:
    posed = problem()
    penalty = GroupNorms(posed.groups, STRENGTH, 0.0)
    fit = VectorFit(Engine(posed, penalty.value), penalty, 1.0)
    found = reweight(posed, penalty, fit, np.array([5e-7]))
    assert found.gap <= posed.tol
    assert np.linalg.norm(found.w) == pytest.approx(NORM, rel=1e-4)
    assert found.iterations <= 60


@pytest.mark.parametrize(("sweeps", "rounds"), [(0.1, 0.3), (0.3, 0.1)])
def test_the_better_of_two_certificates_is_kept(
    monkeypatch: pytest.MonkeyPatch, sweeps: float, rounds: float
) -> None:
    def ended_at(gap: float, iterations: int) -> Reweighted:
        none = np.empty(0)
        return Reweighted(
            none, gap, 1.0, gap, iterations, (), none, none, none, none, iterations == 4
        )

    monkeypatch.setattr(reweighting, "reweight", lambda *_: ended_at(rounds, 4))
    posed = problem()
    penalty = GroupNorms(posed.groups, STRENGTH, 0.0)
    fit = VectorFit(Engine(posed, penalty.value), penalty, 1.0)
    found = continued(posed, penalty, fit, ended_at(sweeps, 9))
    assert (found.gap, found.b) == (0.1, 0.1)
    assert (found.iterations, found.ended) == (13, True)
