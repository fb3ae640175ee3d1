"""Whether a model's reasons are those that people marked: graded evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textreg.explain import rationale_scores
from textreg.measure.rationale_scores import TITLES
from textreg.report.evidence_records import Evidence, EvidenceBeside, EvidenceRow
from textreg.report.wording import documents, share

if TYPE_CHECKING:
    from textreg.explain import MarkedDocument
    from textreg.model.model import Model


def evidence_of(
    model: Model, marked: Sequence[MarkedDocument], against: Mapping[str, Model]
) -> Evidence:
    """The measures of ``textreg explain --evidence-col``, and their differences from other models.

    Raises DataError and UsageError as :func:`textreg.explain.rationale_scores`.
    """
    scores = rationale_scores(model, marked)
    others = {
        name: rationale_scores(other, marked, share=scores.rationale_share)
        for name, other in against.items()
    }
    return Evidence(
        documents=len(scores),
        left_out=scores.left_out,
        marked_sentences=scores.marked_sentences,
        marked_tokens=scores.marked_tokens,
        rationale_share=scores.rationale_share,
        rows=tuple(EvidenceRow(key, TITLES[key], one) for key, one in scores.measures().items()),
        beside=tuple(
            EvidenceBeside(name, other.measures(), scores.differences(other))
            for name, other in others.items()
        ),
    )


def evidence_in_words(evidence: Evidence) -> str:
    """Whether the sentence with the most evidence is a marked one more often than by chance."""
    top = next(row.mean for row in evidence.rows if row.key == "top_1")
    chance = share(evidence.marked_sentences)
    figures = (
        f"{share(top.value)} of {documents(evidence.documents)} ({share(top.low)} to "
        f"{share(top.high)})"
    )
    if top.low > evidence.marked_sentences:
        return (
            f"Its reasons agree with those of people: its strongest sentence is one that they "
            f"marked in {figures}, where chance would give {chance}."
        )
    if top.high < evidence.marked_sentences:
        return (
            f"Its reasons are not those of people: its strongest sentence is one that they marked "
            f"in {figures}, less often than chance would give, {chance}."
        )
    return (
        f"Its reasons do not measurably agree with those of people: its strongest sentence is one "
        f"that they marked in {figures}, and chance would give {chance}."
    )
