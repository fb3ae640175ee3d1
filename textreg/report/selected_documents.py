"""Training documents with their selected sentences, as in Yogatama & Smith (2014)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.explain import explain, gives_offsets
from textreg.explain.contributions import sentence_of
from textreg.report.document_records import SelectedDocument, SelectedSentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textreg.explain import Explanation
    from textreg.model.model import Model
    from textreg.report.refits import Refits

DOCUMENTS, LABELS = 2, 4
"""Documents of a label, and labels, that are shown."""

LENGTHS, LONGEST = (4, 14), 2_500
"""Least and largest number of sentences of such a document, and of characters."""

EMPTY, MIN_FEATURES = 6, 6
"""Sentences without a selected feature that are shown, and their least number of features."""


def selected_documents(model: Model, refits: Refits) -> tuple[SelectedDocument, ...]:
    """Documents of every label in which about half of the sentences have a selected feature.

    Yogatama & Smith (2014, tables 4 and 5) show their selection in this way. Empty for a regression
    and if the tokenizer gives no character offsets.
    """
    task = model.task
    if not (task.discrete and gives_offsets(model)):
        return ()
    table = refits.sentences
    starts, ends = table.document_ptr[:-1], table.document_ptr[1:]
    counts = ends - starts
    total = np.concatenate([[0], np.cumsum(table.selected)])
    shares = (total[ends] - total[starts]) / np.maximum(counts, 1)
    fits = (counts >= LENGTHS[0]) & (counts <= LENGTHS[1])
    fits &= np.array([len(text) <= LONGEST for text in refits.corpus.texts])
    selected = []
    for code, label in enumerate(task.sides[:LABELS]):
        mine = np.flatnonzero(fits & task.documents_of(refits.data.y, code))
        chosen = mine[np.argsort(np.abs(shares[mine] - 0.5), kind="stable")][:DOCUMENTS].tolist()
        texts = [refits.corpus.texts[row] for row in chosen]
        for row, explanation in zip(chosen, explain(model, texts, of=label), strict=True):
            sentences = tuple(_sentences(explanation))
            if len({sentence.selected for sentence in sentences}) > 1:
                where = refits.corpus.where(row)
                selected.append(SelectedDocument(where, label, explanation.label, sentences))
    return tuple(selected)


def _sentences(explanation: Explanation) -> Iterator[SelectedSentence]:
    for start, end, _, removal, *_ in explanation.sentences:
        selected = any(start <= word.start < end for word in explanation.words)
        yield SelectedSentence(" ".join(explanation.text[start:end].split()), selected, removal)


def sentences_without_features(model: Model, refits: Refits) -> tuple[str, ...]:
    """Some training sentences without a selected feature."""
    if not gives_offsets(model):
        return ()
    table = refits.sentences
    long = np.flatnonzero(table.filled & ~table.selected & (table.sizes >= MIN_FEATURES))
    places = np.linspace(0, len(long) - 1, min(EMPTY, len(long))).astype(int)
    texts = (
        sentence_of(model, refits.corpus.texts, table.document_ptr, s)
        for s in long[places].tolist()
    )
    return tuple(" ".join(text.split()) for text in texts)
