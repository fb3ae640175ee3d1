"""Graded evidence on a page, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from textreg.measure.rationale_scores import Difference, Estimate


class EvidenceRow(NamedTuple):
    """A measure of :class:`textreg.measure.rationale_scores.RationaleScores`: name, title, mean."""

    key: str
    title: str
    mean: Estimate


class EvidenceBeside(NamedTuple):
    """Another model: its measures by name, and the model's less these."""

    name: str
    means: Mapping[str, Estimate]
    differences: Mapping[str, Difference]


@dataclass(frozen=True)
class Evidence:
    """How well the evidence of a model agrees with passages that people marked.

    Attributes
    ----------
    documents, left_out : int
        Documents with a marked passage, and without one.
    marked_sentences, marked_tokens, rationale_share : float
        As of :class:`textreg.measure.rationale_scores.RationaleScores`.
    rows : tuple of EvidenceRow
        The measures.
    beside : tuple of EvidenceBeside
        Other models on the same documents.
    """

    documents: int
    left_out: int
    marked_sentences: float
    marked_tokens: float
    rationale_share: float
    rows: tuple[EvidenceRow, ...]
    beside: tuple[EvidenceBeside, ...] = ()
