"""Training documents whose labels may be wrong, by fits that have not seen them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from textreg.measure.confident import suspects
from textreg.records.documents import check_texts
from textreg.report.records import Suspect, Suspected
from textreg.report.text import clip

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.report.refits import Refits

SHOWN, PREVIEW = 20, 160
"""Documents that are listed, and characters of each."""


def suspected_of(model: Model, refits: Refits) -> Suspected | None:
    """The documents whose labels the model's own fits contradict (northcutt2021, section 3.1).

    None for a model without probabilities, in a regression, and where documents are no texts.
    """
    task, y = model.task, refits.y_true.astype(np.int64)
    if not (task.discrete and model.has_probabilities):
        return None
    probabilities = task.probabilities(task.as_scores(refits.own.scores))
    labels = np.arange(len(task.labels))
    if y.ndim == 1:  # in the order of times the earliest documents are predicted by none
        labels = np.unique(y)
        probabilities, y = probabilities[:, labels], np.searchsorted(labels, y)
    told = suspects(probabilities, y, [task.labels[code] for code in labels.tolist()])
    listed = []
    for at in list(told)[:SHOWN]:
        row = int(refits.rows[at])
        text = refits.corpus.texts[row]
        if not isinstance(text, str):
            return None
        (text,) = check_texts([text])
        preview = clip(" ".join(text[: 2 * PREVIEW].split()), PREVIEW)
        named = refits.corpus.source_of is not None
        where = os.path.basename(refits.corpus.where(row)) if named else f"document {row + 1}"
        listed.append(Suspect(where, told[at], preview))
    return Suspected(len(told), len(refits.rows), tuple(listed))
