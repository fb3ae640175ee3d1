"""The features of a model and those of new documents, without the old documents."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.features.encoder import Encoder
from textreg.features.joined import JoinedEncoder
from textreg.features.vectorize import Vectorizer
from textreg.updating.beginning import find_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.joined import AnyEncoder
    from textreg.records import Documents, Floats, Int64s

WEIGHTING = "unit-idf"
"""The weighting whose idf tells how many old documents have a feature."""


class Widened(NamedTuple):
    """The features of a model with those of new documents.

    Attributes
    ----------
    encoder : Encoder or JoinedEncoder
    X : csr_array of shape (n, p)
        The new documents.
    columns : ndarray of int64
        Where the features of the model are, by their order there.
    scale : ndarray of float64
        By what their weights are multiplied, as idf changes.
    before : ndarray of float64, shape (p,)
        The number of old documents with each feature, zero for those that the model does not have.
    starts : ndarray of int64
        Where the columns of each tokenizer begin, and their number.
    """

    encoder: AnyEncoder
    X: csr_array
    columns: Int64s
    scale: Floats
    before: Floats
    starts: Int64s

    def mean_squares(self, c: Floats) -> Floats:
        """(p,) the mean of c_i x_ij^2 over the occurrences of features, but for idf.

        It is that of all features of a tokenizer in the new documents which the model has; c: (n,).
        """
        X, means = self.X, np.zeros(self.X.shape[1])
        idf = np.concatenate([part.idf for part in self.encoder.parts if part.idf is not None])
        values = (X.data / idf[X.indices]) ** 2 * np.repeat(c, np.diff(X.indptr))
        known = self.before[X.indices] > 0.0
        for start, end in pairwise(self.starts.tolist()):
            inside = known & (X.indices >= start) & (X.indices < end)
            mean = values[inside].mean() if inside.any() else c.mean()
            means[start:end] = mean * idf[start:end] ** 2
        return means

    def squares(self) -> NDArray[np.float32]:
        """(p,) about the mean square of each feature in all documents, but for a factor."""
        n, p = self.X.shape
        counts = self.before + np.bincount(self.X.indices, minlength=p)
        squares: NDArray[np.float32] = (counts * self.mean_squares(np.ones(n))).astype(np.float32)
        return squares


def widen(model_encoder: AnyEncoder, texts: Documents, old: int) -> Widened:
    """The features of a model that was trained on ``old`` documents, and those of new ones.

    The idf of a feature is that of all documents: idf tells how many of the old ones have it.
    Raises UsageError where the model holds no such idf.
    """
    parts = model_encoder.parts
    if model_encoder.fields or any(part.vectorizer.weighting != WEIGHTING for part in parts):
        raise UsageError(
            "without the old documents a model can be updated only if its documents are single "
            f"texts and its weighting is {WEIGHTING}, which tells how frequent features are: give "
            "the old documents (--old)."
        )
    every = model_encoder.vectorizer.fit(model_encoder.tokenizer, texts).encoder.parts
    encoders, columns, scales, before, blocks = [], [], [], [], []
    start = 0
    for part, new in zip(parts, every, strict=True):
        assert part.idf is not None
        names, place = _joined(part, new)
        counts = np.zeros(len(names))
        counts[place] = np.maximum((1.0 + old) / np.exp(part.idf - 1.0) - 1.0, 1.0)
        plain = _encoder(part, names, np.ones(len(names)))
        rows = plain.rows(texts)
        here = np.bincount(rows.indices, minlength=len(names))
        idf = 1.0 + np.log((1.0 + old + len(texts)) / (1.0 + counts + here))
        rows.data[:] *= idf[rows.indices]
        encoders.append(_encoder(part, names, idf))
        columns.append(start + place)
        scales.append(part.idf / idf[place])
        before.append(counts)
        blocks.append(rows.matrix(len(names)))
        start += len(names)
    from scipy.sparse import hstack

    X = hstack(blocks, format="csr")
    X.sort_indices()
    starts = np.cumsum([0, *(len(part.vocabulary) for part in encoders)])
    encoder = encoders[0] if len(encoders) == 1 else JoinedEncoder(encoders)
    return Widened(
        encoder, X, np.concatenate(columns), np.concatenate(scales), np.concatenate(before), starts
    )


def _joined(old: Encoder, new: Encoder) -> tuple[Sequence[str], Int64s]:
    """The names of both, in order, and where those of the first are."""
    more = np.flatnonzero(find_names(new.vocabulary, old.vocabulary) < 0)
    names = [*old.vocabulary, *(new.vocabulary[at] for at in more.tolist())]
    words = old.tokenizer.forms_ngrams
    order = sorted(range(len(names)), key=lambda at: names[at].split(" ") if words else names[at])
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return [names[at] for at in order], place[: len(old.vocabulary)]


def _encoder(part: Encoder, names: Sequence[str], idf: Floats) -> Encoder:
    vectorizer: Vectorizer = part.vectorizer
    return Encoder(part.tokenizer, vectorizer, names, idf, stop_words=part.stop_words)
