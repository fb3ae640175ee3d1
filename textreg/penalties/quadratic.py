"""Quadratic penalties by a graph of features."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from textreg.penalties.base import check_strengths
from textreg.records import Floats, Int64s
from textreg.records.cache import Cache

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


class Links:
    """||R [w; v]||_2^2, minimized over v: the quadratic form of a graph over features.

    A virtual feature stands for a class of features: its weight v is no part of the model, and is
    at its optimum for every w.

    Parameters
    ----------
    rows : csr_array, shape (m, p + classes)
        R; its last ``classes`` columns belong to the virtual features.
    classes : int, default 0
        Number of virtual features.

    Notes
    -----
    Where the links leave virtual features undetermined, a ridge of SLIGHT times their curvature
    decides.
    """

    SLIGHT = 1e-10

    def __init__(self, rows: csr_array, classes: int = 0) -> None:
        self.p = rows.shape[1] - classes
        self.rows, self.cache = rows, Cache()
        self.R = rows[:, : self.p].tocsr() if classes else rows
        self.Rt = self.R.T.tocsr()
        self.diagonal: Floats = np.asarray(self.Rt.power(2).sum(axis=1)).ravel()
        self.S = rows[:, self.p :].tocsr() if classes else None
        if self.S is not None:
            from scipy.sparse import diags
            from scipy.sparse.linalg import splu

            self.St = self.S.T.tocsr()
            curvature = np.asarray(self.St.power(2).sum(axis=1)).ravel()
            slight = np.where(curvature > 0.0, self.SLIGHT * curvature, 1.0)
            self._normal = splu((self.St @ self.S + diags(slight)).tocsc())

    @cached_property
    def coupled(self) -> NDArray[np.bool_]:
        """(p,) Whether some row ties the feature to another one, real or virtual."""
        rows = self.rows[np.diff(self.rows.indptr) > 1]
        coupled: NDArray[np.bool_] = np.bincount(rows.indices, minlength=rows.shape[1]) > 0
        return coupled[: self.p]

    @cached_property
    def floor(self) -> Floats:
        """(p,) m >= 0 with sum_j m_j w_j^2 <= the quadratic form, from rows with one feature."""
        alone = self.rows[np.diff(self.rows.indptr) == 1]
        floor = np.zeros(self.rows.shape[1])
        np.add.at(floor, alone.indices, alone.data**2)
        return floor[: self.p]

    def select(self, features: Int64s) -> Links:
        """The quadratic form of these features alone; the others must not be coupled to any.

        Parameters
        ----------
        features : ndarray of int64
            Indices of features.

        Returns
        -------
        Links
        """
        classes = np.arange(self.p, self.rows.shape[1])
        rows = self.rows[:, np.append(features, classes)]
        return Links(rows[np.flatnonzero(np.diff(rows.indptr))], len(classes))

    def product(self, w: Floats) -> Floats:
        """Half the gradient. It is linear in w, and w.product(w) is the value.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        ndarray of shape (p,)
        """
        misfit = self.R @ w
        if self.S is not None:
            # The best v = -(S'S)^-1 S'R w, S being the columns of virtual features.
            misfit = misfit - self.S @ self._normal.solve(self.St @ misfit)
        product: Floats = self.Rt @ misfit
        return product


class Quadratic:
    """strength * links(w) + l2 ||w||_2^2 = w.M w, with M = strength R'R + l2 I.

    Parameters
    ----------
    links : Links
        The quadratic form of the graph.
    strength : float
        What it is multiplied by.
    l2 : float
        Strength of the squared weights.
    """

    def __init__(self, links: Links, strength: float, l2: float) -> None:
        check_strengths(strength=strength, l2=l2)
        self.links, self.strength, self.l2 = links, float(strength), float(l2)

    def product(self, w: Floats) -> Floats:
        """M w, half the gradient.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        ndarray of shape (p,)
        """
        return self.strength * self.links.product(w) + self.l2 * w

    def value(self, w: Floats) -> float:
        """w.M w.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        float
        """
        return float(w @ self.product(w))

    @cached_property
    def floor(self) -> Floats:
        """(p,) m with sum_j m_j w_j^2 <= value(w)."""
        return self.strength * self.links.floor + self.l2
