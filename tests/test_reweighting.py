"""Reweighting: groups that nearly vanished, and are needed after all, come back at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textreg.losses import Squared
from textreg.penalties import GroupNorms
from textreg.records import Groups, Problem
from textreg.solvers.reweighting import GrowingGroups, Schedule, VectorFit, reweight
from textreg.solvers.state import Engine

NORM, CURVATURE, STRENGTH = 0.2, 4.0, 8.0


def problem() -> Problem:
    """Two features without correlation, in one group: least squares with curvatures h."""
    X = sparse.csr_matrix(np.diag(np.sqrt([CURVATURE, CURVATURE])))
    best = (NORM + STRENGTH / CURVATURE) * np.array([0.6, -0.8])
    y = np.sqrt(CURVATURE) * best
    groups = Groups(np.array([0, 2]), np.array([0, 1]), np.ones(1), n_features=2)
    return Problem(X, y, loss=Squared(), groups=groups, fit_intercept=False, tol=1e-9)


def test_a_group_of_independent_features_moves_to_its_norm() -> None:
    posed = problem()
    penalty = GroupNorms(posed.groups, STRENGTH, 0.0)
    fit = VectorFit(Engine(posed, penalty.value), penalty, 1.0)
    growing, s = GrowingGroups(penalty, fit), np.array([1e-6])
    for moves in (False, True, False):  # after two rounds of growth, and once
        last = s.copy()
        fit.improve(penalty.majorizer(last), 10, 8)
        norms = penalty.norms(fit.size())
        assert norms > last
        s = last * 2.0
        growing.raise_points(s, last, norms)
        assert s == pytest.approx([NORM] if moves else last * 2.0, rel=1e-6)
        s = last * 2.0


def test_a_vanished_group_needs_no_round_for_every_doubling() -> None:
    posed = problem()
    penalty = GroupNorms(posed.groups, STRENGTH, 0.0)
    fit = VectorFit(Engine(posed, penalty.value), penalty, 1.0)
    found = reweight(posed, penalty, fit, np.array([5e-7]), Schedule())
    assert found.gap <= posed.tol
    assert np.linalg.norm(found.w) == pytest.approx(NORM, rel=1e-4)
    assert found.iterations <= 20
