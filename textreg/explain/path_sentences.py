"""The sentences of documents that are selected along a regularization path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import UsageError
from textreg.explain.evidence import Occurrences
from textreg.features.encoder import Encoder, JoinedEncoder
from textreg.model.model import Model
from textreg.model.regularization_path import SentencePath
from textreg.records.documents import check_texts
from textreg.records.ragged import row_of

if TYPE_CHECKING:
    from textreg.records import Int64s


def path_sentences(model: Model, texts: Iterable[Any]) -> SentencePath:
    """Find the sentences of documents that are selected at each point of the path of a model.

    A sentence is selected if one of its features has a weight, so that its group would be selected
    if the document were in the training corpus; those of the training corpus can be given as well.
    Of any regularizer these are the sentences that add to a score.

    Parameters
    ----------
    model : Model
        A model that was trained with ``path=True``.
    texts : iterable of str
        The documents.

    Returns
    -------
    SentencePath

    Raises
    ------
    UsageError
        If the model has no path, its documents have several fields, or its tokenizer gives no
        offsets of characters; or for one text instead of a list.

    Examples
    --------
    >>> from textreg import train
    >>> from textreg.explain import path_sentences
    >>> texts = ["It is good. So it is."] * 4 + ["It is. So it is."] * 4
    >>> labels = ["+"] * 4 + ["-"] * 4
    >>> words = {"tokenizer": "words", "ngrams": 1}
    >>> model = train(texts, labels, reg="lasso", path=True, **words)
    >>> path_sentences(model, ["A good day. It is."]).at(model.path.chosen)
    ['A good day.']
    """
    path = model.path
    if path is None:
        raise UsageError(
            "the model has no regularization path: train it with path=True (--path), which keeps "
            "all models along it."
        )
    if isinstance(texts, str):
        raise UsageError("give a list of texts, such as [text], not one text.")
    if model.encoder.fields:
        raise UsageError(
            "sentences along a path are those of documents of one text, and the documents of this "
            "model have several fields: use coefficients of the path."
        )
    documents = check_texts(model.encoder.documents(list(texts)))
    parts = _with_names(model.encoder.parts, path.names)
    occurrences = Occurrences.of(parts[0] if len(parts) == 1 else JoinedEncoder(parts), documents)
    n_sentences, rows = len(occurrences.spans), path.intercepts.shape[1]
    sentence, feature = _distinct(occurrences, len(path.names))
    squares = path.weights.astype(np.float64).power(2)
    norms = np.zeros((len(path), n_sentences))
    for point in range(len(path)):
        of_features = squares[point * rows : (point + 1) * rows].sum(axis=0)
        norms[point] = np.sqrt(np.bincount(sentence, of_features[feature], n_sentences))
    document_of = row_of(occurrences.document_ptr)
    within = np.arange(n_sentences) - occurrences.document_ptr[document_of] + 1
    pairs = list(zip(document_of.tolist(), occurrences.spans.tolist(), strict=True))
    return SentencePath(
        parameter=path.parameter,
        values=tuple(path.values),
        chosen=path.chosen,
        quantity="norm of the weights in a sentence",
        names=tuple(
            f"document {d + 1}, sentence {number}"
            for d, number in zip(document_of.tolist(), within.tolist(), strict=True)
        ),
        array=norms,
        sentences=tuple(" ".join(documents[d][start:end].split()) for d, (start, end) in pairs),
        documents=tuple(document_of.tolist()),
    )


def _with_names(parts: Sequence[Encoder], names: Sequence[str]) -> list[Encoder]:
    """The encoders of a model with other features, whose joint names are given.

    They find where features occur; their values are not those of the model.
    """
    ends = [len(names)]
    for part in parts[:0:-1]:  # names of all but the first follow that of their tokenizer
        end = ends[-1]
        while end and names[end - 1].startswith(f"{part.label}: "):
            end -= 1
        ends.append(end)
    ends = [0, *ends[::-1]]
    encoders = []
    for number, part in enumerate(parts):
        own = list(names[ends[number] : ends[number + 1]])
        if number:
            own = [name[len(part.label) + 2 :] for name in own]
        idf = np.ones(len(own)) if part.weighting.idf else None
        encoders.append(
            Encoder(part.tokenizer, part.vectorizer, own, idf, stop_words=part.stop_words)
        )
    return encoders


def _distinct(occurrences: Occurrences, n_features: int) -> tuple[Int64s, Int64s]:
    """The pairs of a sentence and a feature in it, each once."""
    keys = [
        part.sentence * np.int64(n_features) + (part.features.ids + part.first)
        for part in occurrences.parts
    ]
    pairs = np.unique(np.concatenate(keys))
    return pairs // max(n_features, 1), pairs % max(n_features, 1)
