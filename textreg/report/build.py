"""What a report says of a model: from measured documents and, if it is there, from its training."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import UsageError, first_few
from textreg.explain import Selection, find_selection, gives_offsets
from textreg.model.model import Model
from textreg.records import Corpus
from textreg.report.again import decided, fingerprint, fit_command, settings_of, versions
from textreg.report.baseline import baseline_of
from textreg.report.documents import documents_of
from textreg.report.facts import data_facts, settings_facts
from textreg.report.features import (
    columns_of,
    dropped_in,
    label_words,
    stability_of,
    unknown_documents,
)
from textreg.report.measured import Measured, scores_of
from textreg.report.records import Dropped, Fact, Report, Reproduce
from textreg.report.search import searched_of, traced_of
from textreg.report.selected import selected_of
from textreg.report.study import BASELINE, Study, study
from textreg.training.running import Work

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.training.running import Progress
    from textreg.training.settings import TrainingSettings

NO_TRAIN = (
    "The training corpus was not given (--train), so this page cannot say which groups were kept, "
    "what was dropped, how steady the choice of features is, or how the elastic net compares."
)


def report(
    model: Model,
    corpus: Corpus | None = None,
    *,
    train: Corpus | None = None,
    unlabeled: Corpus | None = None,
    settings: TrainingSettings | None = None,
    title: str = "model",
    command: Sequence[str] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Report:
    """Measure a model and say what it is.

    corpus: labeled documents that the model has not seen. train: those that it was trained on;
    without them the report leaves out what only they tell, and says so. Without ``corpus`` every
    training document is answered by a fit with the same prices that has not seen it: see
    :func:`textreg.report.study.study`. unlabeled: further documents that its graph came from.
    settings: of the training, where they are at hand: the model file does not say all of them.
    title: of the page, such as the name of the file. command: words of the command line, for the
    page to repeat. jobs, progress: as for :func:`textreg.training.train.train_corpus`.

    DataError where a document has no label, or one that the model does not know; ModelError where
    ``train`` is given and the model does not hold its settings; UsageError where both are missing,
    or jobs is no number of them.
    """
    if corpus is None and train is None:
        raise UsageError("a report needs documents with labels: give corpus, train or both.")
    work = Work(jobs, progress)
    measured = None if corpus is None else measured_on(model, corpus)
    again = None
    if train is not None:
        settings = settings_of(model, unlabeled) if settings is None else decided(settings, model)
        again = study(model, train, settings, work)
    if measured is None:
        assert again is not None
        measured = _of_parts(model, again)
        X = columns_of(again.data.X[again.rows], again.columns)
    else:
        X = model.encoder.transform(measured.corpus.texts)
    corpora = {"measured on": corpus, "trained on": None if again is None else again.corpus}
    known = {name: one for name, one in corpora.items() if one is not None}
    return _report(model, measured, X, again, known, title, command)


def measured_on(model: Model, corpus: Corpus) -> Measured:
    """The answers of the model itself; DataError where the documents have not its labels."""
    model_of = np.zeros(len(corpus), dtype=np.int64)
    names = first_few([os.path.basename(source) for source in corpus.sources], 3)
    how = f"the {len(corpus):,} documents of {names or 'a corpus of their own'}"
    measured = Measured(corpus, model.decision_function(corpus.texts), [model], model_of, how)
    _ = measured.y_true  # refuses wrong labels before minutes of fits
    return measured


def _of_parts(model: Model, again: Study) -> Measured:
    """The answers of fits that have not seen the document."""
    encoder, corpus = again.data.encoder, again.corpus
    if len(again.rows) < len(corpus):
        corpus = corpus.select(again.rows)
    _ = encoder.tree  # made once, for all of its parts
    models = [
        Model(
            model.task,
            encoder=encoder,
            weights=fit.w,
            intercepts=fit.b,
            calibration=model.calibration,
            thresholds=model.thresholds,
        )
        for fit in again.solutions
    ]
    scores = again.own.scores
    how = (
        f"{'the latest ' if corpus.time_of is not None else 'its '}{len(corpus):,} training "
        f"documents, each answered by one of {len(models)} further fits with the same prices, "
        f"which has {'seen only what is earlier' if corpus.time_of is not None else 'not seen it'}"
    )
    return Measured(corpus, model.task.as_scores(scores), models, again.fit_of, how)


def _report(
    model: Model,
    measured: Measured,
    X: csr_array,
    again: Study | None,
    corpora: Mapping[str, Corpus],
    title: str,
    command: Sequence[str] | None,
) -> Report:
    summary = model.summary
    skipped = sum(one.skipped for one in corpora.values())
    explained = gives_offsets(model)
    searched, traced = searched_of(model), traced_of(model)
    words, words_left_out = label_words(model, X, measured.y_true)
    unknown = unknown_documents(X)
    missing = []
    if again is None:
        missing.append(NO_TRAIN)
    elif again.baseline is None:
        missing.append(f"The model is an {BASELINE} net itself, so there is none to compare with.")
    if searched is None and traced is None:
        missing.append("Training tried one setting only and kept no path (--path) to draw.")
    if not explained:
        missing.append("The tokenizer gives no character offsets, so no document is explained.")
    return Report(
        title=title,
        task=model.task.name,
        discrete=model.task.discrete,
        labels=model.labels,
        facts=data_facts(model),
        settings=settings_facts(model),
        n_features=model.n_features,
        converged=None if summary is None else summary.converged,
        gap=None if summary is None else summary.gap,
        scores=scores_of(measured),
        searched=searched,
        traced=traced,
        words=words,
        words_left_out=words_left_out,
        kept=None if again is None else _kept(model, again),
        selected=() if again is None else selected_of(model, again),
        dropped=Dropped(
            skipped, unknown, None if summary is None else summary.features, model.n_features
        )
        if again is None
        else dropped_in(model, again, skipped, unknown),
        stability=None if again is None else stability_of(model, again),
        baseline=None if again is None else baseline_of(model, again),
        documents=documents_of(measured) if explained else (),
        reproduce=_reproduce(model, corpora, command),
        missing=tuple(missing),
    )


def _kept(model: Model, again: Study) -> Selection:
    return find_selection(
        model,
        again.corpus,
        unlabeled=again.data.settings.unlabeled,
        tokens=again.data.tokens,
    )


def _reproduce(
    model: Model, corpora: Mapping[str, Corpus], command: Sequence[str] | None
) -> Reproduce:
    commands = []
    if command is not None:
        commands.append(Fact("this page", shlex.join(command)))
    if words := fit_command(model):
        commands.append(
            Fact("the same weights up to the tolerance, without a search", shlex.join(words))
        )
    data = [Fact(name, fingerprint(one)) for name, one in corpora.items()]
    split = None if model.summary is None else model.summary.split
    seed = None if split is None else split.seed
    return Reproduce(tuple(commands), versions(), seed, tuple(data))
