"""Make the report on two models, measured on the same documents."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import UsageError
from textreg.explain import gives_offsets
from textreg.measure.evaluation import Evaluation
from textreg.measure.significance import Answers, bootstrap, sign_test
from textreg.records.documents import check_texts
from textreg.report.build import predict_on
from textreg.report.documents import certainty, document_of, take
from textreg.report.estimates import Estimate
from textreg.report.pair_records import FeatureChange, Flip, PairReport, Side
from textreg.report.predictions import Predictions, scores_of
from textreg.report.records import Fact
from textreg.report.reproduce import fingerprint, versions

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Corpus, Int64s

FLIPS = {"gained": 8, "lost": 8, "neither": 4}
"""Documents of each kind; if one has fewer, the following kinds get more."""

TOP = 20
"""Features shown of each kind."""


def report_pair(
    first: Model,
    second: Model,
    corpus: Corpus,
    *,
    names: tuple[str, str] = ("first", "second"),
    command: Sequence[str] | None = None,
) -> PairReport:
    """Compare two models on labeled documents that neither has seen.

    Parameters
    ----------
    first, second : Model
        Two classification models.
    corpus : Corpus
        Labeled documents.
    names : (str, str), default ("first", "second")
        Names of the models on the page.
    command : sequence of str, optional
        Words of the command line, for the page to show.

    Returns
    -------
    PairReport
        Plain records; ``to_html`` and ``save`` make the page.

    Raises
    ------
    DataError
        If a document has no label, or none has one that a model has.
    UsageError
        If a model is a regression, which has no labels.
    """
    for task in (first.task, second.task):
        if not task.discrete:
            raise UsageError(f"a {task.name} has no labels to compare: name two classifications.")
        if task.multilabel:
            raise UsageError(
                "the page on two models is for one label a document: compare these with textreg "
                "compare, without --report."
            )
    both = predict_on(first, corpus), predict_on(second, corpus)
    labels = tuple(sorted({*first.labels, *second.labels, *(corpus.labels or ())}))
    place = {label: code for code, label in enumerate(labels)}
    y_true = np.array([place[label] for label in corpus.labels or ()], dtype=np.int64)
    one, two = (_answers(each, place) for each in both)
    answers = Answers(y_true, two, one)
    interval, _ = bootstrap([answers])
    explained = gives_offsets(first) and gives_offsets(second)
    added, removed, relabeled, common = _compare_features(first, second)
    missing = "A tokenizer gives no character offsets, so no document is shown."
    first_side, second_side = (_side(*pair) for pair in zip(names, both, strict=True))
    return PairReport(
        title=f"{names[0]} and {names[1]}",
        names=names,
        labels=labels,
        how=both[0].how,
        documents=len(corpus),
        sides=(first_side, second_side),
        difference=Estimate(
            "difference", float(np.mean(two == y_true) - np.mean(one == y_true)), *interval
        ),
        gained=answers.won,
        lost=answers.lost,
        p=sign_test(answers.won, answers.lost),
        flips=int(np.count_nonzero(one != two)),
        shown=_flips(both, y_true, one, two) if explained else (),
        common=common,
        added=tuple(added[:TOP]),
        removed=tuple(removed[:TOP]),
        relabeled=tuple(relabeled[:TOP]),
        counts=(len(added), len(removed), len(relabeled)),
        commands=() if command is None else (Fact("this page", shlex.join(command)),),
        versions=versions(),
        data=(Fact("measured on", fingerprint(corpus)),),
        missing=() if explained else (missing,),
    )


def _answers(predictions: Predictions, place: dict[str, int]) -> Int64s:
    """(n,) predictions of a model as indices into the labels of both."""
    codes = np.array([place[label] for label in predictions.model.labels], dtype=np.int64)
    return codes[predictions.y_pred.astype(np.int64)]


def _side(name: str, predictions: Predictions) -> Side:
    """Scores of one model."""
    scores = scores_of(predictions)
    result, summary = scores.result, predictions.model.summary
    assert isinstance(result, Evaluation)
    return Side(
        name=name,
        regularizer="unknown" if summary is None else summary.reg.name,
        accuracy=scores.figures[0],
        macro_f1=result.macro_f1,
        log_loss=result.log_loss,
        features=predictions.model.n_features,
        gap=None if summary is None else summary.gap,
    )


_Changes = list[FeatureChange]


def _compare_features(first: Model, second: Model) -> tuple[_Changes, _Changes, _Changes, int]:
    """Features added, removed and relabeled, the strongest first, and the number in common.

    The scales of two models' weights differ, so weights are divided by the model's largest.
    """
    one, two = _main_labels(first), _main_labels(second)
    scales = [max((weight for _, weight in each.values()), default=1.0) for each in (one, two)]

    def strength(change: FeatureChange) -> tuple[float, str]:
        sides = zip((change.first, change.second), scales, strict=True)
        return -sum(side[1] / scale for side, scale in sides if side is not None), change.feature

    every = [FeatureChange(name, one.get(name), two.get(name)) for name in {**one, **two}]
    ranked = sorted(every, key=strength)
    added = [change for change in ranked if change.first is None]
    removed = [change for change in ranked if change.second is None]
    relabeled = [
        change
        for change in ranked
        if change.first and change.second and change.first[0] != change.second[0]
    ]
    return added, removed, relabeled, len(ranked) - len(added) - len(removed)


def _main_labels(model: Model) -> dict[str, tuple[str, float]]:
    """For every feature the label with its largest weight, and that weight."""
    labels, rows = model.task.sides, model.task.side_rows(model.weights)
    best = rows.argmax(axis=0)
    return {
        name: (labels[best[j]], float(rows[best[j], j]))
        for j, name in enumerate(model.encoder.names)
    }


def _flips(
    both: tuple[Predictions, Predictions], y_true: Int64s, one: Int64s, two: Int64s
) -> tuple[Flip, ...]:
    """Documents with different predictions, those with the most certain ones first."""
    certainties = [certainty(each) for each in both]
    order = np.argsort(-(certainties[0] + certainties[1]), kind="stable")
    order = order[(one != two)[order]]
    kinds = {
        "gained": order[(two == y_true)[order]],
        "lost": order[(one == y_true)[order]],
        "neither": order[((one != y_true) & (two != y_true))[order]],
    }
    corpus = both[0].corpus
    chosen = take(kinds, FLIPS, y_true, check_texts(corpus.texts))
    texts = check_texts([corpus.texts[row] for row in chosen])
    pairs = [[each.model.explain(text) for each in both] for text in texts]
    return tuple(
        Flip(
            kind,
            *(
                document_of(each, row, kind, float(certain[row]), explanation)
                for each, certain, explanation in zip(both, certainties, pair, strict=True)
            ),
        )
        for (row, kind), pair in zip(chosen.items(), pairs, strict=True)
    )
