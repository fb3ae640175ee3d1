"""A model beside others: on the same documents, feature by feature and sentence by sentence."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from textreg.errors import UsageError, named_errors
from textreg.explain import RemovalTable, gives_offsets, removal_tables
from textreg.measure.evaluation import Evaluation
from textreg.measure.metrics import Answers, bootstrap, sign_test
from textreg.model.model import Model
from textreg.records import Corpus, Floats, Int64s
from textreg.records.documents import check_texts
from textreg.tasks import Regression
from textreg_report.agreement import MarkedDocument, rationale_scores
from textreg_report.benchmark import Benchmark, compare
from textreg_report.documents import certainty, document_of, take
from textreg_report.facts import fingerprint, versions
from textreg_report.page import Estimate, PairReport, Section, Versus
from textreg_report.predictions import Predictions, predict_on, scores_of, squared_errors

TABLES, TRIED = 3, 30
"""Documents whose sentences are shown beside each other, and documents looked at for them."""

SENTENCES, LONGEST = (2, 14), 2_000
"""Least and largest number of their sentences, and their characters."""


def versus_models(predictions: Predictions, against: Mapping[str, Model]) -> tuple[Versus, ...]:
    """The model beside others on the documents of its predictions, as ``textreg compare`` does.

    Parameters
    ----------
    predictions : Predictions
        Answers of one model.
    against : mapping of str to Model
        The other models by name.

    Returns
    -------
    tuple of Versus
        In their order; p-values are adjusted for all of them (Holm 1979).

    Raises
    ------
    UsageError
        If one of them is a regression and the model is none, or the other way round.
    """
    model, corpus = predictions.model, predictions.corpus
    for name, other in against.items():
        if other.task.discrete != model.task.discrete:
            raise UsageError(
                f"{name} is a {other.task.name} and the model a {model.task.name}: compare models "
                "of one task."
            )
    if not against:
        return ()
    if isinstance(model.task, Regression):
        found = []
        for name, other in against.items():
            with named_errors(name):
                numbers = other.decision_function(corpus.texts)
            found.append(squared_errors(name, predictions, numbers))
        return tuple(found)
    own = "this model"
    while own in against:
        own += "'"
    measured = "the measured documents"
    result = compare({own: model, **against}, Benchmark(measured, test=corpus), baseline=own)
    return tuple(
        Versus(
            name=name,
            metric=result.metric,
            other=result.cell(measured, name).headline[0],
            difference=Estimate("difference", -value, -interval.high, -interval.low),
            won=contrast.lost,
            lost=contrast.won,
            p=contrast.p_adjusted,
            comparisons=contrast.comparisons,
        )
        for name in against
        for contrast in [result.contrast(name)]
        for value, interval in [contrast.headline]
    )


def tables_of_documents(
    models: Mapping[str, Model], predictions: Predictions, sure: Floats
) -> tuple[RemovalTable, ...]:
    """What each sentence of some documents is worth to the models.

    Those that the models answer differently come first.

    sure: (n,) as of ``textreg_report.documents.certainty``.
    """
    texts = predictions.corpus.texts
    fit = [row for row, text in enumerate(texts) if isinstance(text, str) and len(text) <= LONGEST]
    rows = np.array(fit, dtype=np.int64)
    some = [texts[row] for row in fit]
    differ = np.zeros(len(some), dtype=bool)
    if not some:
        return ()
    first, *others = (
        model.task.answers(model.decide(model.decision_function(some))) for model in models.values()
    )
    for other in others:
        differ |= np.array([one != two for one, two in zip(first, other, strict=True)])
    # Of others the least certain, where single sentences matter most.
    order = np.lexsort((np.where(differ, -sure[rows], sure[rows]), ~differ))[:TRIED]
    least, most = SENTENCES
    tables = (
        table
        for at in order.tolist()
        for table in islice(removal_tables(models, [some[at]]), 1)
        if least <= len(table.spans) <= most
    )
    return tuple(islice(tables, TABLES))


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
        commands=() if command is None else (("this page", shlex.join(command)),),
        versions=versions(),
        data=(("measured on", fingerprint(corpus)),),
        missing=() if explained else (missing,),
    )


def _answers(predictions: Predictions, place: dict[str, int]) -> Int64s:
    """(n,) predictions of a model as indices into the labels of both."""
    codes = np.array([place[label] for label in predictions.model.labels], dtype=np.int64)
    return codes[predictions.y_pred.astype(np.int64)]


def _side(name: str, predictions: Predictions) -> Section:
    """Scores of one model."""
    scores = scores_of(predictions)
    result, summary = scores.result, predictions.model.summary
    assert isinstance(result, Evaluation)
    return Section(
        name=name,
        regularizer="unknown" if summary is None else summary.reg.name,
        accuracy=scores.figures[0],
        macro_f1=result.macro_f1,
        log_loss=result.log_loss,
        features=predictions.model.n_features,
        gap=None if summary is None else summary.gap,
    )


_Changes = list[Section]


def _compare_features(first: Model, second: Model) -> tuple[_Changes, _Changes, _Changes, int]:
    """Features added, removed and relabeled, the strongest first, and the number in common.

    The scales of two models' weights differ, so weights are divided by the model's largest.
    """
    one, two = _main_labels(first), _main_labels(second)
    scales = [max((weight for _, weight in each.values()), default=1.0) for each in (one, two)]

    def strength(change: Section) -> tuple[float, str]:
        sides = zip((change.first, change.second), scales, strict=True)
        return -sum(side[1] / scale for side, scale in sides if side is not None), change.feature

    every = [
        Section(feature=name, first=one.get(name), second=two.get(name)) for name in {**one, **two}
    ]
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
) -> tuple[Section, ...]:
    """Documents with different predictions, those with the most certain ones first."""
    # Where both models are sure and disagree, one of them has learned something wrong.
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
        Section(
            kind=kind,
            **{
                side: document_of(each, row, kind, float(certain[row]), explanation)
                for side, each, certain, explanation in zip(
                    ("first", "second"), both, certainties, pair, strict=True
                )
            },
        )
        for (row, kind), pair in zip(chosen.items(), pairs, strict=True)
    )


def evidence_of(
    model: Model, marked: Sequence[MarkedDocument], against: Mapping[str, Model]
) -> Section:
    """The measures of ``textreg agreement``, and their differences from other models.

    Raises DataError and UsageError as :func:`textreg.explain.rationale_scores`.
    """
    scores = rationale_scores(model, marked)
    beside = []
    for name, other in against.items():
        theirs = rationale_scores(other, marked, share=scores.rationale_share)
        differences = scores.differences(theirs)
        beside.append(Section(name=name, means=theirs.measures(), differences=differences))
    return Section(**scores.facts(), means=scores.measures(), beside=beside)
