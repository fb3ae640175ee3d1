"""A document as a page shows it, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Mark(NamedTuple):
    """A piece of a text and its share of the score; level -5 to 5 for the eye."""

    text: str
    value: float
    level: int


class Line(NamedTuple):
    """A sentence of a document, or several that are not shown.

    marks: its text in pieces; empty where it is not shown. value: sum of its words' shares of the
    score, removal: see :class:`textreg.explain.SentenceScore`; None where it has no known word.
    hidden: number of sentences, or of characters, that are left out here.
    """

    marks: tuple[Mark, ...]
    value: float
    removal: float | None
    hidden: str = ""


@dataclass(frozen=True)
class Document:
    """A document and the account of its score: intercept + lines = score.

    number: its place in the corpus, from 1. where: file and line, if known. preview: its start.
    kind: why it is shown, such as "wrong", "unsure" or "right". certainty: how far the answer is
    from another one, as a score (in a regression, minus the error). words: the features that did
    most, with their shares.
    """

    number: int
    where: str
    kind: str
    y_true: str
    predicted: str
    probability: float | None
    certainty: float
    of: str
    intercept: float
    score: float
    lines: tuple[Line, ...]
    words: tuple[tuple[str, float], ...]
    characters: int
    preview: str


class SelectedSentence(NamedTuple):
    """A sentence; whether it has a feature with a weight for the label; its log-odds by removal."""

    text: str
    kept: bool
    removal: float


class Selected(NamedTuple):
    """A training document, sentence by sentence; the log-odds speak for ``label``, its own."""

    where: str
    label: str
    predicted: str
    sentences: tuple[SelectedSentence, ...]
