"""What a check finds in the documents of a report, as advice for its verdict."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textreg.checking.check import check_corpus
from textreg.checking.copy_findings import (
    ConflictingLabels,
    Duplicates,
    NearDuplicates,
    NearOverlap,
    Overlap,
)
from textreg.checking.label_findings import GiveawayColumns
from textreg.checking.settings import KINDS, CheckSettings
from textreg.records.fields import FieldedText
from textreg.report.verdict_records import Suggestion
from textreg.report.wording import documents, listed, quoted, share

if TYPE_CHECKING:
    from textreg.checking.findings import Finding
    from textreg.checking.result import CheckResult
    from textreg.records import Corpus
    from textreg.tasks import Task

NEAR = 10_000
"""Documents up to which near copies are looked for, which takes a second for 3,000 reviews."""
LISTED = 3


def corpus_advice(task: Task, measured: Corpus | None, train: Corpus | None) -> list[Suggestion]:
    """What to mend in the documents of a report, as far as :func:`check` finds it.

    Parameters
    ----------
    task : Task
        The task of the model.
    measured : Corpus or None
        The documents that the model is measured on; None where those are the training documents.
    train : Corpus or None
        The training documents.

    Returns
    -------
    list of Suggestion
        Those without which the figures of the report are wrong say so with ``first``.
    """
    corpus = measured if train is None else train
    if corpus is None or corpus.tokenized:
        return []
    against = None if train is None else measured
    kinds: set[type[Finding]] = {Duplicates, Overlap}
    if task.discrete:
        kinds |= {ConflictingLabels, GiveawayColumns}
    if len(corpus) + (0 if against is None else len(against)) <= NEAR:
        kinds |= {NearDuplicates, NearOverlap}
    skip = frozenset(KINDS) - {kind.name for kind in kinds}
    settings = CheckSettings(task=task.name, skip=skip)
    result = check_corpus(corpus, against, settings, columns=_columns(corpus))
    return list(_advice(result, "measured" if train is None else "training", measured is None))


def _advice(result: CheckResult, which: str, out_of_fold: bool) -> Iterator[Suggestion]:
    """A suggestion for each finding. which: documents it is about."""
    for finding in result.findings:
        counted = f"{documents(finding.count)} ({share(finding.share, 1)})"
        places = _places(finding)
        if isinstance(finding, (Overlap, NearOverlap)):
            nearly = "nearly " if isinstance(finding, NearOverlap) else ""
            yield Suggestion(
                "Measure on documents that are not in the training corpus.",
                f"Of the measured documents {counted} have {nearly}the text of a training "
                f"document{places}. The model has seen their labels, so the figures of this page "
                "are too good.",
                first=True,
            )
        elif isinstance(finding, GiveawayColumns):
            names = listed([quoted(one.column) for one in finding.columns])
            yield Suggestion(
                f"Train without the column {names}.",
                "It tells the label. If it is not known before the label is, the model fails on "
                "new documents, and the figures of this page are too good.",
                first=True,
            )
        elif isinstance(finding, ConflictingLabels):
            yield Suggestion(
                "Decide on one label for equal texts.",
                f"Of the {which} documents {counted} have the text of another one and a different "
                f"label{places}.",
            )
        elif isinstance(finding, (Duplicates, NearDuplicates)):
            nearly = "nearly " if isinstance(finding, NearDuplicates) else ""
            parts = (
                " The fits that predict them may have seen the copies, so the figures of this "
                "page are too good."
            )
            yield Suggestion(
                f"Keep one of the documents that are {nearly}the same.",
                f"Of the {which} documents {counted} are {nearly}the same as another one"
                f"{places}.{parts if out_of_fold else ''}",
                first=out_of_fold,
            )


def _places(finding: Finding) -> str:
    """Where the first documents are, in brackets."""
    where = [os.path.basename(one.where) for one in finding.examples[:LISTED] if one.where]
    return f", such as {listed(where)}" if where else ""


def _columns(corpus: Corpus) -> dict[str, list[str]]:
    """The fields of the documents, by name; none where a document is one text."""
    columns: dict[str, list[str]] = {}
    for text in corpus.texts:
        if isinstance(text, FieldedText):
            for name, (start, end) in text.spans.items():
                columns.setdefault(name, []).append(text[start:end])
    return columns
