"""The verdict that a report opens with: sentences that follow from its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textreg.measure.evaluation import Evaluation
from textreg.report.confusions import errors_in_words
from textreg.report.evidence import evidence_in_words
from textreg.report.quality import quality, tone, versus_constant
from textreg.report.unsure import unsure
from textreg.report.verdict_records import Confusion, Suggestion, Verdict, Versus

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Floats
    from textreg.report.evidence_records import Evidence
    from textreg.report.predictions import Predictions
    from textreg.report.records import Scores

NOT_CONVERGED = (
    "Its fit stopped before the optimum: the figures below may change with more iterations or a "
    "stronger penalty."
)


def verdict_of(  # noqa: PLR0913  # what it is made from
    predictions: Predictions,
    scores: Scores,
    sure: Floats,
    unknown: int,
    confusions: Sequence[Confusion] = (),
    against: Sequence[Versus] = (),
    suggestions: Sequence[Suggestion] = (),
    evidence: Evidence | None = None,
) -> Verdict:
    """What to know of a model, in plain words.

    Parameters
    ----------
    predictions : Predictions
        Its answers.
    scores : Scores
        How good they are.
    sure : ndarray of shape (n,)
        As of :func:`textreg.report.documents.certainty`.
    unknown : int
        Documents without a feature of the model.
    confusions : sequence of Confusion
        The labels that are confused most often.
    against : sequence of Versus
        Comparisons with other models.
    suggestions : sequence of Suggestion
        What would help.
    evidence : Evidence or None
        How well its evidence agrees with the passages that people marked.

    Returns
    -------
    Verdict
    """
    model, result = predictions.model, scores.result
    constant = versus_constant(predictions, _trained(model))
    told = quality(scores, constant, against)
    if evidence is not None:
        told = (*told, evidence_in_words(evidence))
    if model.summary is not None and not model.summary.converged:
        told = (*told, NOT_CONVERGED)
    selective = result.selective if isinstance(result, Evaluation) else None
    return Verdict(
        tone=tone(constant),
        quality=told,
        errors=errors_in_words(scores),
        confusions=tuple(confusions),
        unsure=unsure(predictions, sure, unknown, selective),
        suggestions=tuple(sorted(suggestions, key=lambda one: (not one.first, -one.gain))),
    )


def _trained(model: Model) -> dict[str, float]:
    """Training documents of every label, or the mean number, from the model file."""
    return {} if model.summary is None else dict(model.summary.labels)
