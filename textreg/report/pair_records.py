"""What a report on two models says, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textreg.report.document_records import Document
from textreg.report.page import Page
from textreg.report.records import Fact, Figure


class Side(NamedTuple):
    """One of the two, measured. gap: of its training, None where there is no bound."""

    name: str
    regularizer: str
    accuracy: Figure
    macro_f1: float
    log_loss: float | None
    features: int
    gap: float | None


class Moved(NamedTuple):
    """A feature, the label it speaks for in either model, and its weight for that; None without."""

    feature: str
    first: tuple[str, float] | None
    second: tuple[str, float] | None


class Flip(NamedTuple):
    """A document that the models answer differently. kind: "gained" where only the second is right,
    "lost" where only the first is, "neither".
    """

    kind: str
    first: Document
    second: Document


@dataclass(frozen=True, eq=False)
class PairReport(Page):
    """Two models beside each other on the same documents.

    how: which these are. difference: in accuracy, second less first, with its 95 % bootstrap
    interval. gained, lost: documents that only the second, or only the first, has right; p: of the
    exact McNemar test. flips: number of documents that are answered differently, shown: some of
    them. common: features that both have; new, gone, turned: those that only the second has, that
    only the first has, and that speak for another label now, the strongest of them; counts: how
    many there are of each.
    """

    template = "pair.html.jinja"

    title: str
    names: tuple[str, str]
    labels: tuple[str, ...]
    how: str
    documents: int
    sides: tuple[Side, Side]
    difference: Figure
    gained: int
    lost: int
    p: float
    flips: int
    shown: tuple[Flip, ...]
    common: int
    new: tuple[Moved, ...]
    gone: tuple[Moved, ...]
    turned: tuple[Moved, ...]
    counts: tuple[int, int, int]
    commands: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    data: tuple[Fact, ...]
    missing: tuple[str, ...]
