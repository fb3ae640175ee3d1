"""Term weightings: what becomes of a count."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from textreg._core import text_counts
from textreg.records import Floats
from textreg.text import CsrArrays


class Weighting(NamedTuple):
    """A term weighting: the values of a row, and the length that they are divided by.

    Attributes
    ----------
    term : {"count", "binary", "log", "sublinear"}
        The value of a count c above zero: c, 1, ln(1 + c), or 1 + ln c.
    idf : bool, default False
        Whether values are multiplied by the inverse document frequency of the feature.
    norm : {"", "features", "ngrams"}, default ""
        The length that a row is divided by: none; its own over all features of training, known to
        the model or not; or that of 1 + ln c over all n-grams of the document, features or not.
    """

    term: Literal["count", "binary", "log", "sublinear"]
    idf: bool = False
    norm: Literal["", "features", "ngrams"] = ""

    def values(self, counts: Floats) -> Floats:
        """The values of counts, of which some may be zero, without idf and norm."""
        if self.term == "count":
            return counts
        if self.term == "binary":
            return (counts > 0).astype(np.float64)
        if self.term == "log":
            return np.asarray(np.log(counts + 1))
        values: Floats = np.log(np.maximum(counts, 1))
        values += counts > 0
        return values

    def table(self, most: int) -> Floats:
        """The values of all counts up to ``most``, at least."""
        return _table(self, max(64, 1 << most.bit_length()))

    def weigh(self, rows: CsrArrays, idf: Floats | None, norms: Floats | None) -> None:
        """Weigh counts in place.

        Parameters
        ----------
        rows : CsrArrays
            Counts above zero.
        idf : ndarray of float64, optional
            One for each feature; for a weighting with ``idf``.
        norms : ndarray of float64, optional
            The length of every row by ``norm="ngrams"``; for a weighting with that.
        """
        none = np.empty(0)
        if self.term != "count" or idf is not None or norms is not None:
            most = int(rows.data.max(initial=0.0))
            text_counts.weigh_rows(
                rows.data,
                rows.indices,
                rows.indptr,
                self.table(most),
                none if idf is None else idf,
                none if norms is None else norms,
            )
        if self.norm == "features":
            text_counts.normalize_rows(rows.data, rows.indptr)


@lru_cache(maxsize=64)  # of six weightings, each with a few sizes
def _table(weighting: Weighting, size: int) -> Floats:
    """The values of all counts below a size."""
    return weighting.values(np.arange(float(size)))


WEIGHTINGS = {
    "count": Weighting("count"),
    "binary": Weighting("binary"),
    "log": Weighting("log"),
    "unit": Weighting("sublinear", norm="ngrams"),
    "unit-idf": Weighting("sublinear", idf=True, norm="ngrams"),
    "tfidf": Weighting("sublinear", idf=True, norm="features"),
}
"""The term weightings by name, as users give them."""
