"""Two models on the same documents: what one has learned that the other has not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import UsageError
from textreg.explain import explain, gives_offsets
from textreg.measure.evaluation import Evaluation
from textreg.measure.significance import Answers, bootstrap, sign_test
from textreg.report.again import fingerprint, versions
from textreg.report.build import measured_on
from textreg.report.documents import certainty, document_of, take
from textreg.report.measured import Measured, scores_of
from textreg.report.pair_records import Flip, Moved, PairReport, Side
from textreg.report.records import Fact, Figure

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Corpus, Int64s

FLIPS = {"gained": 8, "lost": 8, "neither": 4}
"""Documents of each kind; where one has fewer, there are more of those after it."""

TOP = 20
"""Features that are shown of each kind."""


def report_pair(
    first: Model,
    second: Model,
    corpus: Corpus,
    *,
    names: tuple[str, str] = ("first", "second"),
    command: Sequence[str] | None = None,
) -> PairReport:
    """Measure two models on labeled documents that neither has seen, and tell them apart.

    names: what the page calls them. command: words of the command line, for the page to repeat.

    DataError where a document has no label, or one that a model does not know; UsageError for
    regressions, which have no labels that could flip.
    """
    for task in (first.task, second.task):
        if not task.discrete:
            raise UsageError(f"a {task.name} has no labels to compare: name two classifications.")
    both = measured_on(first, corpus), measured_on(second, corpus)
    labels = tuple(sorted({*first.labels, *second.labels}))
    place = {label: code for code, label in enumerate(labels)}
    y_true = np.array([place[label] for label in corpus.labels or ()], dtype=np.int64)
    one, two = (_answers(each, place) for each in both)
    answers = Answers(y_true, two, one)
    interval, _ = bootstrap([answers])
    explained = gives_offsets(first) and gives_offsets(second)
    new, gone, turned, common = _features(first, second)
    missing = "A tokenizer gives no character offsets, so no document is shown."
    shown = (_side(name, each) for name, each in zip(names, both, strict=True))
    return PairReport(
        title=f"{names[0]} and {names[1]}",
        names=names,
        labels=labels,
        how=both[0].how,
        documents=len(corpus),
        sides=(next(shown), next(shown)),
        difference=Figure(
            "difference", float(np.mean(two == y_true) - np.mean(one == y_true)), *interval
        ),
        gained=answers.won,
        lost=answers.lost,
        p=sign_test(answers.won, answers.lost),
        flips=int(np.count_nonzero(one != two)),
        shown=_flips(both, y_true, one, two) if explained else (),
        common=common,
        new=tuple(new[:TOP]),
        gone=tuple(gone[:TOP]),
        turned=tuple(turned[:TOP]),
        counts=(len(new), len(gone), len(turned)),
        commands=() if command is None else (Fact("this page", shlex.join(command)),),
        versions=versions(),
        data=(Fact("measured on", fingerprint(corpus)),),
        missing=() if explained else (missing,),
    )


def _answers(measured: Measured, place: dict[str, int]) -> Int64s:
    """(n,) answers of a model as indices into the labels of both."""
    codes = np.array([place[label] for label in measured.model.labels], dtype=np.int64)
    return codes[measured.y_pred.astype(np.int64)]


def _side(name: str, measured: Measured) -> Side:
    """What there is to say of one model alone."""
    scores = scores_of(measured)
    result, summary = scores.result, measured.model.summary
    assert isinstance(result, Evaluation)
    return Side(
        name=name,
        regularizer="unknown" if summary is None else summary.reg.name,
        accuracy=scores.figures[0],
        macro_f1=result.macro_f1,
        log_loss=result.log_loss,
        features=measured.model.n_features,
        gap=None if summary is None else summary.gap,
    )


def _features(first: Model, second: Model) -> tuple[list[Moved], list[Moved], list[Moved], int]:
    """Features that are new, gone and turned, the strongest first, and the number of common ones.

    Weights of two models have scales of their own, so each is measured by its largest.
    """
    one, two = _speaks(first), _speaks(second)
    scales = [max((weight for _, weight in each.values()), default=1.0) for each in (one, two)]

    def strength(moved: Moved) -> tuple[float, str]:
        parts = zip((moved.first, moved.second), scales, strict=True)
        return -sum(said[1] / scale for said, scale in parts if said is not None), moved.feature

    every = [Moved(name, one.get(name), two.get(name)) for name in {**one, **two}]
    ranked = sorted(every, key=strength)
    new = [moved for moved in ranked if moved.first is None]
    gone = [moved for moved in ranked if moved.second is None]
    turned = [
        moved
        for moved in ranked
        if moved.first and moved.second and moved.first[0] != moved.second[0]
    ]
    return new, gone, turned, len(ranked) - len(new) - len(gone)


def _speaks(model: Model) -> dict[str, tuple[str, float]]:
    """The label that every feature speaks for most, and its weight for that."""
    labels, rows = model.task.sides, model.task.side_rows(model.weights)
    best = rows.argmax(axis=0)
    return {
        name: (labels[best[j]], float(rows[best[j], j]))
        for j, name in enumerate(model.encoder.names)
    }


def _flips(
    both: tuple[Measured, Measured], y_true: Int64s, one: Int64s, two: Int64s
) -> tuple[Flip, ...]:
    """Documents that are answered differently, those of which both are most certain first."""
    sure = [certainty(each) for each in both]
    order = np.argsort(-(sure[0] + sure[1]), kind="stable")
    order = order[(one != two)[order]]
    kinds = {
        "gained": order[(two == y_true)[order]],
        "lost": order[(one == y_true)[order]],
        "neither": order[((one != y_true) & (two != y_true))[order]],
    }
    corpus = both[0].corpus
    chosen = take(kinds, FLIPS, y_true, corpus.texts)
    texts = [corpus.texts[row] for row in chosen]
    pairs = zip(*(explain(each.model, texts) for each in both), strict=True)
    return tuple(
        Flip(
            kind,
            *(
                document_of(each, row, kind, float(trust[row]), explanation)
                for each, trust, explanation in zip(both, sure, pair, strict=True)
            ),
        )
        for (row, kind), pair in zip(chosen.items(), pairs, strict=True)
    )
