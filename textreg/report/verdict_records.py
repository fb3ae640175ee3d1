"""The verdict that a report opens with, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textreg.measure.significance import ALPHA
from textreg.report.estimates import Estimate


class Versus(NamedTuple):
    """The model compared with something else on the same documents.

    Attributes
    ----------
    name : str
        What it is compared with, in words.
    metric : str
        Accuracy, micro-F1 or R².
    other : float
        The metric of the other one.
    difference : Estimate
        The model's metric minus ``other``, with its interval.
    won, lost : int or None
        Documents that only the model, or only the other one, has right; None in a regression.
    p : float or None
        P-value of the exact McNemar test, adjusted if there are several comparisons; None in a
        regression.
    comparisons : int
        Comparisons that ``p`` is adjusted for.
    """

    name: str
    metric: str
    other: float
    difference: Estimate
    won: int | None = None
    lost: int | None = None
    p: float | None = None
    comparisons: int = 1

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``level``: by the p-value, or where there is none, the interval.

        As :attr:`textreg.comparing.contrasts.Contrast.verdict`.
        """
        if self.p is not None and self.won is not None and self.lost is not None:
            if self.p > ALPHA or self.won == self.lost:
                return "level"
            return "better" if self.won > self.lost else "worse"
        low, high = self.difference.low, self.difference.high
        if low is not None and low > 0:
            return "better"
        return "worse" if high is not None and high < 0 else "level"


class Example(NamedTuple):
    """A document that was answered wrongly: its number, start, and the words that spoke for that.

    number: as of :class:`textreg.report.document_records.Document`, which the page links to.
    """

    number: int
    where: str
    preview: str
    words: tuple[tuple[str, float], ...]


class Confusion(NamedTuple):
    """Documents of one label that were given another one, and some of them.

    documents: how many; support: how many have the label.
    """

    y_true: str
    predicted: str
    documents: int
    support: int
    examples: tuple[Example, ...]


class Suggestion(NamedTuple):
    """What may help, and the figures that speak for it.

    gain: how many of the measured documents it put right in a measurement, net, by which
    suggestions are ranked; 0 where that is not known, or not what it is for. first: whether it
    stands before all others, since the figures of the report are wrong without it.
    """

    what: str
    why: str
    gain: float = 0.0
    first: bool = False


@dataclass(frozen=True)
class Verdict:
    """What to know of a model, in sentences that follow from figures of the report.

    Attributes
    ----------
    tone : str
        ``better``, ``worse`` or ``level`` beside the simplest answer, or ``unclear``.
    quality : tuple of str
        How good it is, against the simplest answer and against other models.
    errors : str
        Which labels it finds least of, in words.
    confusions : tuple of Confusion
        The labels that are confused most often.
    unsure : tuple of str
        Where it is unsure.
    suggestions : tuple of Suggestion
        What would help, the largest gain first.
    """

    tone: str
    quality: tuple[str, ...]
    errors: str = ""
    confusions: tuple[Confusion, ...] = ()
    unsure: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
