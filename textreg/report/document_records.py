"""Documents as a page shows them, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Mark(NamedTuple):
    """A part of a text, its share of the score, and the strength of its color, -5 to 5."""

    text: str
    value: float
    level: int


class Line(NamedTuple):
    """A sentence of a document, or several sentences that are not shown.

    Attributes
    ----------
    marks : tuple of Mark
        The text in parts; empty if it is not shown.
    value : float
        Sum of its words' shares of the score.
    removal : float or None
        See :class:`textreg.explain.SentenceScore`; None for several sentences.
    hidden : str
        Number of sentences or characters that are not shown.
    evidence : float
        See :class:`textreg.explain.SentenceScore`; 0 for several sentences.
    field : str
        Its field, where documents have several; else empty.
    marked : bool
        Whether people marked a passage in it.
    """

    marks: tuple[Mark, ...]
    value: float
    removal: float | None
    hidden: str = ""
    evidence: float = 0.0
    field: str = ""
    marked: bool = False


@dataclass(frozen=True)
class Document:
    """A document and the explanation of its score, which is the intercept plus all lines.

    Attributes
    ----------
    number : int
        Position in the corpus, from 1.
    where : str
        File and line, if known.
    kind : str
        Why it is shown, such as "wrong", "unsure" or "right".
    y_true, predicted : str
        The true and the predicted label or number.
    probability : float or None
        Probability of the predicted label, if the model has probabilities.
    certainty : float
        Distance of the score from another prediction; in a regression, minus the absolute error.
    of : str
        The label that the score is for; empty in a regression.
    intercept, score : float
        The intercept and the score.
    lines : tuple of Line
        Its sentences.
    words : tuple of (feature, value)
        The features with the largest shares of the score.
    characters : int
        Length of the text.
    preview : str
        Start of the text.
    evidence : float
        That of the sentence with the most.
    found : bool or None
        Whether people marked a passage in this sentence; None without marked passages.
    fields : tuple of (name, value)
        The sum of the shares of every field's words, where documents have several fields.
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
    evidence: float = 0.0
    found: bool | None = None
    fields: tuple[tuple[str, float], ...] = ()


class SelectedSentence(NamedTuple):
    """A sentence, whether it contains a feature with a weight, and its log-odds by removal."""

    text: str
    selected: bool
    removal: float


class SelectedDocument(NamedTuple):
    """A training document in sentences; the log-odds are for its true ``label``."""

    where: str
    label: str
    predicted: str
    sentences: tuple[SelectedSentence, ...]
