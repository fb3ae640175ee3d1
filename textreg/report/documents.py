"""The documents that a report shows."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.explain.show import strongest
from textreg.records.documents import check_texts
from textreg.report.document_records import Document
from textreg.report.lines import CHARACTERS, lines_of
from textreg.report.predictions import Predictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.explain import Explanation
    from textreg.records import Floats, Int64s

SHOWN = {"wrong": 7, "unsure": 7, "right": 6}
"""Documents of each kind; if one has fewer, the following kinds get more."""

ERRORS, BRIEF = 30, 800
"""Wrong predictions beside those, and characters shown of each."""

PREVIEW = 140
"""Characters of the preview of a closed document."""


def documents_of(
    predictions: Predictions,
    sure: Floats,
    more: Sequence[int] = (),
    passages: Mapping[str, Int64s] | None = None,
) -> tuple[Document, ...]:
    """The most certain wrong predictions, the least certain ones, and the most certain right ones.

    In a regression: those with the largest errors, with medium ones, and with the smallest. Each is
    explained by the model that predicted it. Further errors follow the first ones, with less text.

    Parameters
    ----------
    predictions : Predictions
        The answers.
    sure : ndarray of shape (n,)
        See :func:`certainty`.
    more : sequence of int
        Rows of wrong predictions that are shown in any case.
    passages : mapping of str to ndarray, optional
        The marked passages of texts.
    """
    chosen, brief = _choose(predictions, sure), _further(predictions, sure, more)
    wrong = {row: kind for row, kind in chosen.items() if kind == "wrong"}
    kinds = wrong | {row: "wrong" for row in brief if row not in chosen} | chosen
    texts = check_texts([predictions.corpus.texts[row] for row in kinds])
    return tuple(
        document_of(
            predictions,
            row,
            kind,
            float(sure[row]),
            predictions.models[predictions.model_of[row]].explain(text),
            None if passages is None else passages.get(str(text)),
            CHARACTERS if row in chosen else BRIEF,
        )
        for (row, kind), text in zip(kinds.items(), texts, strict=True)
    )


def _further(predictions: Predictions, sure: Floats, more: Sequence[int]) -> list[int]:
    """Rows of further errors: those given, and the most certain ones of every label in turn."""
    task = predictions.model.task
    if not task.discrete:
        return []
    order = np.argsort(-sure, kind="stable")
    wrong = order[~task.right(predictions.y_true, predictions.y_pred)[order]]
    strata, _ = task.strata(predictions.y_true)
    ranked = _by_turns(wrong.tolist(), strata)
    return list(dict.fromkeys([*more, *itertools.islice(ranked, ERRORS)]))[:ERRORS]


def certainty(predictions: Predictions) -> Floats:
    """(n,) distance of each score from another prediction; in a regression, minus the error.

    Thresholds are subtracted first.
    """
    model = predictions.model
    return model.task.certainty(predictions.scores, predictions.y_true, model.thresholds)


def _choose(predictions: Predictions, sure: Floats) -> dict[int, str]:
    """Rows and their kinds, wrong ones first."""
    by_certainty = np.argsort(-sure, kind="stable")
    task = predictions.model.task
    strata, _ = task.strata(predictions.y_true)
    if not task.discrete:  # largest, medium and smallest errors
        middle = np.argsort(np.abs(sure - np.median(sure)), kind="stable")
        orders = {"wrong": by_certainty[::-1], "unsure": middle, "right": by_certainty}
    else:
        right = task.right(predictions.y_true, predictions.y_pred)
        orders = {
            "wrong": by_certainty[~right[by_certainty]],
            "unsure": by_certainty[::-1],
            "right": by_certainty[right[by_certainty]],
        }
    return take(orders, SHOWN, strata, check_texts(predictions.corpus.texts))


def take(
    orders: Mapping[str, NDArray[np.intp]],
    shown: Mapping[str, int],
    strata: Int64s,
    texts: Sequence[str],
) -> dict[int, str]:
    """The first rows of every order, as many as ``shown`` says, with their kind; no text twice.

    If there are too few of a kind, the following kinds get more.
    """
    taken: dict[int, str] = {}
    seen: set[str] = set()
    wanted = 0
    for kind, count in shown.items():
        wanted += count
        for row in _by_turns(orders[kind].tolist(), strata):
            if len(taken) >= wanted:
                break
            if texts[row] not in seen:
                taken[row] = kind
                seen.add(texts[row])
    return taken


def _by_turns(rows: Sequence[int], strata: Int64s) -> Iterator[int]:
    """The rows, one of each stratum in turn, so that every label is shown."""
    queues: dict[int, list[int]] = {}
    for row in rows:
        queues.setdefault(int(strata[row]), []).append(row)
    for turn in range(max(map(len, queues.values()), default=0)):
        yield from (queue[turn] for queue in queues.values() if turn < len(queue))


def _told(label: Any) -> str:
    """The label of a document, or its labels."""
    return ", ".join(label) or "no label" if isinstance(label, tuple) else label


def document_of(  # noqa: PLR0913  # what a page shows of it
    predictions: Predictions,
    row: int,
    kind: str,
    sure: float,
    explanation: Explanation,
    passages: Int64s | None = None,
    characters: int = CHARACTERS,
) -> Document:
    """A document as a page shows it, from its ``explanation``; sure: see :func:`certainty`.

    passages, characters: see :func:`textreg.report.lines.lines_of`.
    """
    lines = lines_of(explanation, passages, characters)
    best = max(explanation.sentences, key=lambda it: it.evidence, default=None)
    found = None
    if passages is not None and best is not None:
        found = any(start < best.end and best.start < end for start, end in passages.tolist())
    corpus = predictions.corpus
    task = predictions.model.task
    (answer,) = task.answers(predictions.y_pred[row : row + 1])
    return Document(
        number=row + 1,
        where=os.path.basename(corpus.where(row)) if corpus.source_of is not None else "",
        kind=kind,
        y_true="" if corpus.labels is None else _told(corpus.labels[row]),
        predicted=task.text(answer),
        probability=explanation.probabilities.get(
            explanation.of if task.multilabel else explanation.label
        ),
        certainty=sure,
        of=explanation.of,
        intercept=explanation.intercept,
        score=explanation.score,
        lines=lines,
        words=tuple(strongest(explanation)),
        characters=len(explanation.text),
        preview=" ".join(explanation.text[: 2 * PREVIEW].split())[:PREVIEW],
        evidence=0.0 if best is None else best.evidence,
        found=found,
        fields=tuple(explanation.fields.items()),
    )
