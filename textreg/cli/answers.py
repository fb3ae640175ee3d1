"""The answers of a model to the rows of files, one for every row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from textreg._core.threads import allowing
from textreg.errors import DataError
from textreg.jobs import threads_of
from textreg.model.model import Model
from textreg.reading.corpus import RecordBatch
from textreg.records import Corpus, SkippedRow
from textreg.terminal import single_line

if TYPE_CHECKING:
    from textreg.records import Floats

PREDICTED, REASON = "predicted", "reason"


class Ranked(NamedTuple):
    """One of the best labels of a text; without ``proba`` where nobody asked for it."""

    label: str
    score: float
    proba: float | None

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        shown = {"label": self.label, "score": self.score}
        return shown if self.proba is None else shown | {"proba": self.proba}


class Answer(NamedTuple):
    """What a model says of a row.

    predicted: a label, a list of labels, or a number; None without an answer. proba: the
    probability of every label, or nothing. top: the best labels, or nothing. skipped: why there is
    no answer.
    """

    predicted: Any
    proba: Sequence[float] = ()
    top: Sequence[Ranked] = ()
    skipped: SkippedRow | None = None


class AnswerBatch(NamedTuple):
    """Answers, the fields of their rows, and the columns of all files so far with their types."""

    answers: list[Answer]
    records: list[Mapping[str, Any]]
    columns: dict[str, Any]


class Answers:
    """One answer for every row, in the order of the rows.

    Parameters
    ----------
    model : Model
    proba : bool
        Whether to give the probability of every label; with ``top``, of those.
    top : int
        The number of the best labels to give; 0 for none.
    jobs : int, default 1
        The number of threads that score texts; -1 for one per core.

    Attributes
    ----------
    written : int
        The number of answers that the reader of our output has.
    rows, unreadable : int
        The number of rows, and of those without an answer.
    first : str
        Where the first row without an answer is, and what is wrong with it.
    """

    def __init__(self, model: Model, *, proba: bool, top: int, jobs: int = 1) -> None:
        if proba:
            model.task.require_probabilities()
        if top:
            model.task.label_scores(model.intercepts[None])  # refused before long work
        self.model = model
        self.proba = proba
        self._threads = threads_of(jobs)
        self.top = min(top, len(model.labels))
        self.rows = self.unreadable = self.written = 0
        self.first = ""
        self._remedy: Callable[[], str] = str

    @property
    def multilabel(self) -> bool:
        """Whether an answer is a list of labels."""
        return self.model.task.multilabel

    def to(self, batches: Iterable[RecordBatch]) -> Iterator[AnswerBatch]:
        """The answers to batches of rows.

        DataError where reading stops says how many answers were written before.
        """
        try:
            for batch in batches:
                answers = list(self._answers(batch.documents, batch.scores))
                yield AnswerBatch(answers, batch.records, batch.columns)
                self.rows += len(answers)
                self._remedy = batch.remedy
        except DataError as error:
            so_far = "No answer was written."
            if self.written:
                so_far = f"Answers written, for the rows before it: {self.written:,}."
            raise DataError(f"{error} {so_far}") from None

    def told(self) -> str:
        """How many rows cannot be read, which is the first, and what to do; empty without any."""
        if not self.unreadable:
            return ""
        remedy = self._remedy()
        return (
            f"{self.unreadable:,} of {self.rows:,} rows cannot be read; their answers are empty. "
            f"The first is {single_line(self.first)}{f' {remedy}' if remedy else ''}"
        )

    def require_some(self) -> None:
        """DataError unless some row has an answer: nobody wants a file without any."""
        if self.rows and self.unreadable == self.rows:
            raise DataError(f"{self.told()} No file was written.")

    def _answers(self, batch: Corpus, scores: Floats | None) -> Iterator[Answer]:
        """The answers to documents, and among them those to rows that cannot be read."""
        predicted = self._predicted(batch, scores)
        before = 0
        for row in batch.skipped:
            yield from itertools.islice(predicted, row.position - before)
            if not self.unreadable:
                number = self.rows + row.position + 1
                self.first = f"row {number:,}, {row.where}: {row.problem}"
            self.unreadable += 1
            before = row.position
            yield Answer(None, skipped=row)
        yield from predicted

    def _predicted(self, batch: Corpus, scores: Floats | None) -> Iterator[Answer]:
        if not len(batch):
            return
        if scores is None:
            with allowing(self._threads):
                scores = self.model.decision_function(batch.texts)
        predicted = self.model.choose(scores)
        if self.proba:
            shares = self.model.probabilities(scores)
        if not self.top:
            rows = shares.tolist() if self.proba else itertools.repeat(())
            yield from map(Answer, predicted, rows)
            return
        ranking = self.model.task.ranking(scores, self.model.thresholds)[:, : self.top]
        table = self.model.task.label_scores(scores)
        for row, (answer, best) in enumerate(zip(predicted, ranking.tolist(), strict=True)):
            yield Answer(
                answer,
                top=[
                    Ranked(
                        self.model.labels[label],
                        float(table[row, label]),
                        float(shares[row, label]) if self.proba else None,
                    )
                    for label in best
                ],
            )


class AnswerColumns:
    """The columns of answers, for tables.

    Parameters
    ----------
    answers : Answers
    reasons : bool
        Whether rows may be without an answer; then the last column says why.

    Attributes
    ----------
    kinds : dict of str to type
        By their names, ``str``, ``float``, or ``list`` for lists of labels.
    """

    def __init__(self, answers: Answers, *, reasons: bool) -> None:
        task = answers.model.task
        kind = list if task.multilabel else str if task.discrete else float
        kinds: dict[str, type] = {PREDICTED: kind}
        if answers.top:
            for place in range(1, answers.top + 1):
                kinds |= {f"top_{place}": str, f"score_{place}": float}
                kinds |= {f"proba_{place}": float} if answers.proba else {}
        elif answers.proba:
            kinds |= {f"proba_{label}": float for label in answers.model.labels}
        if reasons:
            kinds[REASON] = str
        self.kinds = kinds
        self._reasons = reasons
        self._top = answers.top
        self._labels = answers.model.labels if answers.proba else ()
        self._none = [None] * (len(kinds) - 2)

    def cells(self, answer: Answer) -> list[Any]:
        """The values of an answer, in the order of the columns."""
        if answer.skipped is not None:
            return [None, *self._none, answer.skipped.problem]
        cells = [answer.predicted, *answer.proba]
        for one in answer.top:
            cells += one[:2] if one.proba is None else one
        if self._reasons:
            cells.append(None)
        return cells

    def members(self, answer: Answer) -> dict[str, Any]:
        """The same as the members of a JSON object."""
        given: dict[str, Any] = {PREDICTED: answer.predicted}
        skipped = answer.skipped
        if self._top:
            given["top"] = None if skipped else [one.to_dict() for one in answer.top]
        elif self._labels:
            given["proba"] = None if skipped else dict(zip(self._labels, answer.proba, strict=True))
        if skipped:
            given[REASON] = skipped.problem
        return given
