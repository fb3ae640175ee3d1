"""Which documents a report shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.explain import explain
from textreg.explain.show import strongest
from textreg.report.document_records import Document
from textreg.report.lines import lines_of
from textreg.report.measured import Measured

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.explain import Explanation
    from textreg.records import Floats, Int64s

SHOWN = {"wrong": 7, "unsure": 7, "right": 6}
"""Documents of each kind; where one has fewer, there are more of those after it."""

PREVIEW = 140
"""Characters that are shown of a document that is folded."""


def documents_of(measured: Measured) -> tuple[Document, ...]:
    """Wrong answers given with the most certainty, the least certain ones, and sure right ones.

    In a regression: those furthest off, some in between, and the nearest. Each is explained by the
    model that answered it.
    """
    sure = certainty(measured)
    chosen = _choose(measured, sure)
    found = {}
    for number, model in enumerate(measured.models):
        mine = [row for row in chosen if measured.model_of[row] == number]
        texts = [measured.corpus.texts[row] for row in mine]
        for row, explanation in zip(mine, explain(model, texts), strict=True):
            found[row] = document_of(measured, row, chosen[row], float(sure[row]), explanation)
    return tuple(found[row] for row in chosen)


def certainty(measured: Measured) -> Floats:
    """(n,) how far every answer's score is from another answer; of a regression, minus its error.

    Thresholds are taken off first.
    """
    model = measured.model
    return model.task.certainty(measured.scores, measured.y_true, model.thresholds)


def _choose(measured: Measured, sure: Floats) -> dict[int, str]:
    """Rows and their kinds, the wrong ones first."""
    by_trust = np.argsort(-sure, kind="stable")
    task = measured.model.task
    strata, _ = task.strata(measured.y_true)
    if not task.discrete:  # the furthest off, those in the middle, and the nearest
        middle = np.argsort(np.abs(sure - np.median(sure)), kind="stable")
        orders = {"wrong": by_trust[::-1], "unsure": middle, "right": by_trust}
    else:
        right = task.right(measured.y_true, measured.y_pred)
        orders = {
            "wrong": by_trust[~right[by_trust]],
            "unsure": by_trust[::-1],
            "right": by_trust[right[by_trust]],
        }
    return take(orders, SHOWN, strata, measured.corpus.texts)


def take(
    orders: Mapping[str, NDArray[np.intp]],
    shown: Mapping[str, int],
    strata: Int64s,
    texts: Sequence[str],
) -> dict[int, str]:
    """The first rows of every order, so many of its kind, and that kind; no text twice.

    Where there are too few of a kind there are more of those after it.
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
    """The rows, one of each stratum by turns, so that no label takes all the places."""
    queues: dict[int, list[int]] = {}
    for row in rows:
        queues.setdefault(int(strata[row]), []).append(row)
    for turn in range(max(map(len, queues.values()), default=0)):
        yield from (queue[turn] for queue in queues.values() if turn < len(queue))


def document_of(
    measured: Measured, row: int, kind: str, sure: float, explanation: Explanation
) -> Document:
    """A document as a page shows it, from its ``explanation``; sure: see :func:`certainty`."""
    corpus = measured.corpus
    task = measured.model.task
    (answer,) = task.answers(measured.y_pred[row : row + 1])
    return Document(
        number=row + 1,
        where=os.path.basename(corpus.where(row)) if corpus.source_of is not None else "",
        kind=kind,
        y_true="" if corpus.labels is None else corpus.labels[row],
        predicted=task.text(answer),
        probability=explanation.probabilities.get(explanation.label),
        certainty=sure,
        of=explanation.of,
        intercept=explanation.intercept,
        score=explanation.score,
        lines=lines_of(explanation),
        words=tuple(strongest(explanation)),
        characters=len(explanation.text),
        preview=" ".join(explanation.text[: 2 * PREVIEW].split())[:PREVIEW],
    )
