"""The explanation of one score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Word(NamedTuple):
    """One occurrence of a feature, ``text[start:end]``, and its contribution to the score.

    Attributes
    ----------
    start, end : int
        Character offsets. An n-gram covers several words, so occurrences may overlap.
    feature : str
        The feature.
    value : float
        What the feature adds to the score, divided equally among its occurrences in the document.
    """

    start: int
    end: int
    feature: str
    value: float


class SentenceScore(NamedTuple):
    """One sentence, ``text[start:end]``, its contribution in two senses, and its evidence.

    Attributes
    ----------
    start, end : int
        Character offsets.
    value : float
        The sum of the values of its words.
    removal : float
        By how much the log-probability of the explained label falls when the sentence is left out
        and the rest is vectorized as a document of its own (yogatama2014, tables 4 and 5). For
        models without probabilities, by how much the score falls.
    evidence : float
        How strong the evidence in the sentence is, 0 or more: (V2) of docs/maths.md, which agrees
        best with the sentences that people mark. Sentences are ranked by it.
    field : str
        Its field, where documents have several; else empty.
    """

    start: int
    end: int
    value: float
    removal: float
    evidence: float
    field: str = ""


@dataclass(frozen=True)
class Explanation:
    """The score of one document as a sum: intercept + values of the words.

    Attributes
    ----------
    text : str
        The document.
    label : str
        The predicted label, or labels with commas between them; of a regression, the predicted
        number as text.
    probabilities : dict of str to float
        By label; empty for models without probabilities.
    of : str
        The label whose score is explained; empty for a regression. With two labels, a positive
        score supports this label and a negative one the other.
    intercept : float
        The intercept for this label.
    score : float
        The score for this label.
    sentences : tuple of SentenceScore
        Sentences with at least one word, in order.
    words : tuple of Word
        Occurrences of features with a weight for this label, in order.
    """

    text: str
    label: str
    probabilities: dict[str, float]
    of: str
    intercept: float
    score: float
    sentences: tuple[SentenceScore, ...]
    words: tuple[Word, ...]

    @property
    def fields(self) -> dict[str, float]:
        """The sum of the values of every field's words; empty where documents have no fields."""
        sums: dict[str, float] = {}
        for sentence in self.sentences:
            if sentence.field:
                sums[sentence.field] = sums.get(sentence.field, 0.0) + sentence.value
        return sums

    def to_dict(self) -> dict[str, Any]:
        """The same as numbers, texts, lists and dicts, ready for JSON."""
        by_field = {"fields": self.fields} if self.fields else {}
        sentences = [sentence._asdict() for sentence in self.sentences]
        if not by_field:
            sentences = [{k: v for k, v in one.items() if k != "field"} for one in sentences]
        return {
            "text": str(self.text),
            "label": self.label,
            "probabilities": self.probabilities,
            "of": self.of,
            "intercept": self.intercept,
            "score": self.score,
            "sentences": sentences,
            "words": [word._asdict() for word in self.words],
            **by_field,
        }

    def _repr_html_(self) -> str:
        """The document for a notebook, its words colored by their contributions."""
        from textreg.explain.show import as_html

        return as_html(self)
