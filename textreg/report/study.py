"""Training once more: the same fit, and the baseline's, without each part of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from textreg import registry
from textreg.fitting import fit_classes
from textreg.prepare import Prepared, Target, prepare
from textreg.records import Corpus, MultiSolution
from textreg.running import Progress, Run
from textreg.selection import choose, search
from textreg.settings import TrainingSettings
from textreg.splitting import splits_of

if TYPE_CHECKING:
    from textreg.kinds import Regularizer
    from textreg.model import Model
    from textreg.records import Floats
    from textreg.splits import Split

PARTS, FEWER_PARTS, MANY = 5, 3, 10_000
"""Parts of the corpus that are left out in turn; fewer of them above so many documents."""

BASELINE = "elastic"


@dataclass(frozen=True, eq=False)
class Fits:
    """A regularizer fitted without each part. part: with its prices. solutions: one a part.
    scores: (n, k) of every document, by the fit that has not seen it.
    """

    part: Regularizer
    solutions: tuple[MultiSolution, ...]
    scores: Floats

    @property
    def sizes(self) -> tuple[int, ...]:
        """Features with a weight in every fit."""
        return tuple(int(np.count_nonzero(one.w.any(axis=0))) for one in self.solutions)


@dataclass(frozen=True, eq=False)
class Study:
    """What fits without parts of the training corpus tell.

    own: of the model's regularizer, with the prices it was trained with. baseline: of ``elastic``,
    with prices chosen as training chooses them; None where the model is one itself.
    """

    corpus: Corpus
    data: Prepared
    splits: tuple[Split, ...]
    own: Fits
    baseline: Fits | None


def study(
    model: Model, corpus: Corpus, settings: TrainingSettings, progress: Progress | None = None
) -> Study:
    """Fit what ``model`` was trained with anew, without each part of its training ``corpus``.

    settings: those of the training. The parts are those of its cross-validation, or PARTS of about
    the same size. Features come from the whole corpus, as in training. KeyboardInterrupt on Ctrl-C.
    """
    target = Target.of(corpus, settings.task)
    few = FEWER_PARTS if len(corpus) > MANY else min(PARTS, len(corpus))
    plain = replace(settings, dev=None, holdout=None, calibrate=None, threshold=None, refit=True)
    parts = replace(plain, cv=settings.cv or few)
    splits = splits_of(target, parts)
    data = prepare(corpus, target, parts)
    chosen = settings.reg.replace(**model.summary["reg"]["params"])

    tuned = None
    if chosen.name != BASELINE:
        reg = registry.resolve("regularizer", BASELINE, {})
        usual = replace(settings, dev=None, reg=reg, groups=None, graph=None, unlabeled=None)
        simple = replace(data, settings=usual)
        cut = [simple.fold(split) for split in splits_of(target, usual)]
        points = search(usual.reg, cut, jobs=settings.jobs, progress=progress)
        tuned = points[choose(points, usual.metric)].part
        del cut

    jobs = [(data, chosen, split) for split in splits]
    if tuned is not None:
        jobs += [(simple, tuned, split) for split in splits]
    run = Run("report", len(jobs), progress)
    found = run.map(settings.jobs, _fit_without, [(*job, run) for job in jobs])
    if run.stopped:
        raise KeyboardInterrupt
    k = len(splits)
    return Study(
        corpus=corpus,
        data=data,
        splits=tuple(splits),
        own=_gather(chosen, splits, found[:k], len(corpus)),
        baseline=None if tuned is None else _gather(tuned, splits, found[k:], len(corpus)),
    )


def _fit_without(
    data: Prepared, part: Regularizer, split: Split, run: Run
) -> tuple[MultiSolution, Floats]:
    """One fit, and its scores (held out, k) of the part that it has not seen."""
    fold = data.fold(split)
    fitted, _ = fit_classes(part, fold.problem, fold.targets, fold.codes, None)
    run.advance()
    return fitted, fold.X_held @ fitted.w.T + fitted.b


def _gather(
    part: Regularizer,
    splits: Sequence[Split],
    found: Sequence[tuple[MultiSolution, Floats]],
    n: int,
) -> Fits:
    scores = np.empty((n, found[0][1].shape[1]))
    for split, (_, held) in zip(splits, found, strict=True):
        scores[split.held] = held
    return Fits(part, tuple(solution for solution, _ in found), scores)
