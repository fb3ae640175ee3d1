"""What an explanation says, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Word(NamedTuple):
    """One occurrence of a feature, ``text[start:end]``, and its share of the score.

    start, end: in characters. An n-gram spans several words, so occurrences may overlap. value:
    what the feature adds to the score, shared equally by its occurrences in the document.
    """

    start: int
    end: int
    feature: str
    value: float


class SentenceScore(NamedTuple):
    """One sentence, ``text[start:end]``, and what it did in two senses.

    value: the sum of its words' values, its share of the score as it is. removal: what leaving the
    sentence out takes from the logarithm of the probability of the explained label, everything
    else weighed anew as a document of its own (Yogatama & Smith 2014, tables 4 and 5); where a
    model has no probabilities, what it takes from the score.
    """

    start: int
    end: int
    value: float
    removal: float


@dataclass(frozen=True)
class Explanation:
    """How the score of one document comes about: intercept + the words' values = score.

    text: the document. label: the prediction; of a regression, its number as text. probabilities:
    by label; empty where the model has none. of: the label whose score is explained; empty for a
    regression. With two labels a score speaks for ``of`` and against the other one. sentences:
    those with at least one word, in order. words: all occurrences of features that have a weight
    for ``of``, in order.
    """

    text: str
    label: str
    probabilities: dict[str, float]
    of: str
    intercept: float
    score: float
    sentences: tuple[SentenceScore, ...]
    words: tuple[Word, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, texts, lists and dicts, ready for JSON."""
        return {
            "text": self.text,
            "label": self.label,
            "probabilities": self.probabilities,
            "of": self.of,
            "intercept": self.intercept,
            "score": self.score,
            "sentences": [sentence._asdict() for sentence in self.sentences],
            "words": [word._asdict() for word in self.words],
        }

    def _repr_html_(self) -> str:
        """The document for a notebook, its words colored by what they add."""
        from textreg.explain.show import as_html

        return as_html(self)
