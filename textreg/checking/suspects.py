"""Documents whose labels are probably wrong, by fits that have not seen them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.checking.documents import Documents
from textreg.checking.findings import Finding
from textreg.checking.label_findings import SuspectedLabels
from textreg.losses import find_loss
from textreg.measure.confident import suspects
from textreg.records import Corpus
from textreg.tasks import TASKS, Classification, Multilabel, Target, Task
from textreg.training.fit import fit_rows
from textreg.training.prepare import prepare
from textreg.training.running import Progress, Work
from textreg.training.settings import TrainingSettings
from textreg.training.splits import Split, folds

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s

FOLDS = 5
"""Parts of the documents; each is judged by a fit of the others."""
STRENGTH = 3.0
"""Ridge penalty of the fits: the average precision on labels flipped at random is flat about it."""
TOLERANCE = 0.03
"""Relative duality gap of the fits; a smaller one changes no order that matters."""
MOST = 50_000_000
"""With more characters than these, times the fits of a part, words are alone: to take minutes."""


class OutOfSample(NamedTuple):
    """Probabilities of labels, of fits that have not seen the document.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        The documents: those with a text and a label that enough others have.
    y : ndarray of int, shape (m,) or (m, k)
        Their labels as indices; or 1 for the labels that they have, and 0 for others.
    labels : tuple of str
        The names of the k labels.
    probabilities : ndarray of float, shape (m, k)
    """

    rows: Int64s
    y: Int64s
    labels: tuple[str, ...]
    probabilities: Floats


def out_of_sample(
    documents: Documents, rows_of: dict[str, list[int]], progress: Progress | None = None
) -> OutOfSample | None:
    """Probabilities by ridge on words, and on characters where these are not too many.

    Documents of the same text are held out together. None where fewer than two labels have
    ``FOLDS`` different texts.

    rows_of: the documents of every text that is not empty. progress: called after every fit.
    """
    corpus = documents.corpus
    text_of = np.full(len(corpus), -1)
    for text, copies in enumerate(rows_of.values()):
        text_of[copies] = text
    labels = [it if corpus.multilabel else (str(it),) for it in documents.labels or ()]
    texts_of: dict[str, set[int]] = {}
    for own, text in zip(labels, text_of.tolist(), strict=True):
        for label in own if text >= 0 else ():
            texts_of.setdefault(label, set()).add(text)
    kept = {label for label, texts in texts_of.items() if len(texts) >= FOLDS}
    if len(kept) < 2:
        return None
    rows = np.array(
        [row for row, own in enumerate(labels) if text_of[row] >= 0 and kept.issuperset(own)]
    )
    task = TASKS[Multilabel.name if corpus.multilabel else Classification.name]
    known = [labels[row] if corpus.multilabel else labels[row][0] for row in rows]
    judged = Corpus([documents.texts[row] for row in rows], known)
    target = _target(task, judged)
    if target is None:
        return None
    work = Work(documents.settings.jobs, progress, partial=False)
    probabilities = _held_out(judged, target, text_of[rows], work)
    return OutOfSample(rows, target.y.astype(np.int64), target.task.labels, probabilities)


def suspected_labels(documents: Documents, found: OutOfSample) -> Finding:
    """The documents whose labels the probabilities contradict."""
    told = suspects(found.probabilities, found.y, found.labels)
    ranked = list(told)
    rows = {int(found.rows[at]): told[at] for at in ranked}
    right = found.probabilities.argmax(axis=1) == found.y if found.y.ndim == 1 else None
    if right is None:
        right = (found.probabilities > 0.5) == (found.y > 0)
    examples = documents.examples(rows, lambda row: rows[row])
    places = tuple(documents.corpus.where(row) for row in rows)
    return SuspectedLabels(len(rows), len(found.rows), examples, float(right.mean()), places)


def _target(task: type[Task], judged: Corpus) -> Target | None:
    names = judged.label_names()
    if len(names) < 2:
        return None
    posed = task.of(judged, find_loss("logistic"), "ovr")
    return Target(posed, posed.targets(judged))


def _held_out(corpus: Corpus, target: Target, text_of: Int64s, work: Work) -> Floats:
    """(n, k) probabilities by fits of the documents in the other parts."""
    settings = TrainingSettings.from_options(reg="ridge", reg_l2=STRENGTH, tol=TOLERANCE)
    rows, characters = target.task.n_rows, sum(map(len, corpus.texts))
    if rows * characters > MOST:
        settings = settings.replace(tokenizer="words")
    data = prepare(corpus, target, settings.for_texts(corpus.texts))
    scores = np.zeros((len(corpus), rows))
    alone = replace(work, progress=None)
    for number, split in enumerate(_splits(target, text_of)):
        if work.progress is not None:
            work.progress("labels", number, FOLDS)
        fold = data.fold(split)
        fitted, _ = fit_rows(settings.reg, fold, None, alone)
        scores[split.held] = fold.X_held @ fitted.w.T + fitted.b
    return target.task.probabilities(target.task.as_scores(scores))


def _splits(target: Target, text_of: Int64s) -> list[Split]:
    """Folds of the different texts, each with the documents of its texts."""
    _, first, copy_of = np.unique(text_of, return_index=True, return_inverse=True)
    codes, names = target.task.memberships(target.y)
    made = []
    for split in folds(codes[first], names, FOLDS, seed=0):
        held = np.isin(copy_of.ravel(), split.held)
        made.append(Split(np.flatnonzero(~held), np.flatnonzero(held)))
    return made
