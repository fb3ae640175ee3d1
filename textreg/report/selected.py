"""Training documents sentence by sentence: which the model kept, and what they are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.explain import explain, gives_offsets
from textreg.explain.contributions import sentence_of
from textreg.report.document_records import Selected, SelectedSentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textreg.explain import Explanation
    from textreg.model.model import Model
    from textreg.report.study import Study

DOCUMENTS, LABELS = 2, 4
"""Documents of a label, and labels, that are shown as the papers show them."""

LENGTHS, LONGEST = (4, 14), 2_500
"""Sentences of such a document, and its characters."""

SILENT, LEAST_FEATURES = 6, 6
"""Sentences without weight that are shown, and the features that one has at least."""


def selected_of(model: Model, study: Study) -> tuple[Selected, ...]:
    """Documents of every label of which about half of the sentences hold a kept feature.

    Yogatama & Smith (2014, tables 4 and 5) show their selection like this. Nothing of a regression,
    and where the tokenizer gives no character offsets.
    """
    task = model.task
    if not (task.discrete and gives_offsets(model)):
        return ()
    found = study.sentences
    starts, ends = found.document_ptr[:-1], found.document_ptr[1:]
    counts = ends - starts
    total = np.concatenate([[0], np.cumsum(found.kept)])
    shares = (total[ends] - total[starts]) / np.maximum(counts, 1)
    fits = (counts >= LENGTHS[0]) & (counts <= LENGTHS[1])
    fits &= np.array([len(text) <= LONGEST for text in study.corpus.texts])
    selected = []
    for code, label in enumerate(task.sides[:LABELS]):
        mine = np.flatnonzero(fits & task.documents_of(study.data.y, code))
        chosen = mine[np.argsort(np.abs(shares[mine] - 0.5), kind="stable")][:DOCUMENTS].tolist()
        texts = [study.corpus.texts[row] for row in chosen]
        for row, told in zip(chosen, explain(model, texts, of=label), strict=True):
            sentences = tuple(_sentences(told))
            if len({sentence.kept for sentence in sentences}) > 1:
                where = study.corpus.where(row)
                selected.append(Selected(where, label, told.label, sentences))
    return tuple(selected)


def _sentences(told: Explanation) -> Iterator[SelectedSentence]:
    for start, end, _, removal in told.sentences:
        kept = any(start <= word.start < end for word in told.words)
        yield SelectedSentence(" ".join(told.text[start:end].split()), kept, removal)


def silent_sentences(model: Model, study: Study) -> tuple[str, ...]:
    """Some sentences of the training that hold no feature with a weight."""
    if not gives_offsets(model):
        return ()
    found = study.sentences
    long = np.flatnonzero(found.filled & ~found.kept & (found.sizes >= LEAST_FEATURES))
    places = np.linspace(0, len(long) - 1, min(SILENT, len(long))).astype(int)
    texts = (
        sentence_of(model, study.corpus.texts, found.document_ptr, s) for s in long[places].tolist()
    )
    return tuple(" ".join(text.split()) for text in texts)
