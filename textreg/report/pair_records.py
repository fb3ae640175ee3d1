"""The contents of a report on two models, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textreg.report.document_records import Document
from textreg.report.estimates import Estimate
from textreg.report.page import Page
from textreg.report.records import Fact


class Side(NamedTuple):
    """Scores of one of the two models; gap: of its training, None where there is no bound."""

    name: str
    regularizer: str
    accuracy: Estimate
    macro_f1: float
    log_loss: float | None
    features: int
    gap: float | None


class FeatureChange(NamedTuple):
    """A feature and, for either model, its main label and weight; None if a model lacks it."""

    feature: str
    first: tuple[str, float] | None
    second: tuple[str, float] | None


class Flip(NamedTuple):
    """A document with different predictions of the two models.

    kind: "gained" if only the second is right, "lost" if only the first is, else "neither".
    """

    kind: str
    first: Document
    second: Document


@dataclass(frozen=True, eq=False)
class PairReport(Page):
    """Two models compared on the same documents.

    Attributes
    ----------
    title : str
        Title of the page.
    names : (str, str)
        Names of the models.
    labels : tuple of str
        Labels of either model.
    how : str
        Which documents they were measured on, in words.
    documents : int
        Their number.
    sides : (Side, Side)
        Scores of each model.
    difference : Estimate
        Accuracy of the second minus that of the first, with its 95 % bootstrap interval.
    gained, lost : int
        Number of documents that only the second, or only the first, predicts right.
    p : float
        P-value of the exact McNemar test.
    flips : int
        Number of documents with different predictions.
    shown : tuple of Flip
        Some of them.
    common : int
        Number of features that both models have.
    added, removed, relabeled : tuple of FeatureChange
        The strongest features that only the second has, that only the first has, and that changed
        their main label.
    counts : (int, int, int)
        Number of all such features.
    commands, versions, data : tuple of Fact
        As in :class:`textreg.report.records.Reproduce`.
    missing : tuple of str
        What the page cannot tell, and why.
    """

    template = "pair.html.jinja"

    title: str
    names: tuple[str, str]
    labels: tuple[str, ...]
    how: str
    documents: int
    sides: tuple[Side, Side]
    difference: Estimate
    gained: int
    lost: int
    p: float
    flips: int
    shown: tuple[Flip, ...]
    common: int
    added: tuple[FeatureChange, ...]
    removed: tuple[FeatureChange, ...]
    relabeled: tuple[FeatureChange, ...]
    counts: tuple[int, int, int]
    commands: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    data: tuple[Fact, ...]
    missing: tuple[str, ...]
