"""The report on a model: from measured documents and, if given, its training corpus."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from textreg.errors import UsageError
from textreg.explain import RemovalTable, Selection, find_selection, gives_offsets, removal_tables
from textreg.features.vectorize import Features
from textreg.model.model import Model
from textreg.records import Corpus, Floats
from textreg.training.recipe import fit_command, settings_of, with_choices
from textreg.training.running import Progress, Work
from textreg.training.settings import TrainingSettings
from textreg_report.agreement import MarkedDocument
from textreg_report.documents import certainty, documents_of, suspected_of
from textreg_report.facts import (
    baseline_of,
    columns_of,
    data_facts,
    dropped_of,
    fingerprint,
    label_words,
    path_section,
    search_section,
    settings_facts,
    stability_of,
    versions,
)
from textreg_report.page import Report, Section, Suggestion
from textreg_report.pair import evidence_of, tables_of_documents, versus_models
from textreg_report.predictions import Predictions, predict_on, scores_of
from textreg_report.refits import BASELINE, Refits, refit
from textreg_report.suggestions import suggestions_of
from textreg_report.verdict import confusions_of, verdict_of

NO_TRAIN = (
    "The training corpus was not given (--train), so this page cannot tell which groups were "
    "selected, what was dropped, how stable the features are, how the elastic net compares, "
    "whether more documents would help, or which labels may be wrong."
)


def report(  # noqa: PLR0913  # its options are its interface
    model: Model,
    corpus: Corpus | None = None,
    *,
    train: Corpus | None = None,
    unlabeled: Corpus | None = None,
    settings: TrainingSettings | None = None,
    against: Mapping[str, Model] | None = None,
    texts: Sequence[str] = (),
    marked: Sequence[MarkedDocument] = (),
    advice: Sequence[Suggestion] = (),
    title: str = "model",
    command: Sequence[str] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Report:
    """Measure a model and describe it.

    Parameters
    ----------
    model : Model
        The model.
    corpus : Corpus, optional
        Labeled documents that the model has not seen. Without them every training document is
        predicted by a fit with the same hyperparameters that has not seen it: see
        ``textreg_report.refits.refit``.
    train : Corpus, optional
        The training documents. Without them the report leaves out what needs them, and says so.
    unlabeled : Corpus, optional
        Unlabeled documents that the model's graph was built from.
    settings : TrainingSettings, optional
        Settings of the training. The model file holds most of them; columns and the like it does
        not.
    against : mapping of str to Model, optional
        Other models by name, such as the last one: the verdict compares them on ``corpus``, and a
        table shows what each sentence of some texts is worth to all of them.
    texts : sequence of str, optional
        The texts of that table. By default documents that the models answer differently.
    marked : sequence of MarkedDocument, optional
        Documents with passages that people marked as evidence; those of ``corpus`` are shown with
        them.
    advice : sequence of Suggestion, optional
        Further suggestions for the verdict, such as ``textreg_report.verdict.corpus_advice`` makes.
    title : str, default "model"
        Title of the page, such as the name of the file.
    command : sequence of str, optional
        Words of the command line, for the page to show.
    jobs, progress
        As for :func:`textreg.training.train.train_corpus`.

    Returns
    -------
    Report
        Plain records; ``to_html`` and ``save`` make the page.

    Raises
    ------
    DataError
        If a document has no label, or none has one that the model has.
    ModelError
        If ``train`` is given and the model does not hold its settings.
    UsageError
        If neither ``corpus`` nor ``train`` is given, ``against`` is without ``corpus`` or cannot be
        compared, or ``jobs`` is not a valid number.

    Examples
    --------
    >>> import textreg
    >>> texts, labels = ["good film", "bad film"] * 20, ["pos", "neg"] * 20
    >>> model = textreg.train(texts, labels, reg="ridge", reg_l2=1.0)
    >>> page = report(model, Corpus(texts=texts, labels=labels), title="films")
    >>> page.scores.figures[0]
    Estimate(name='accuracy', value=1.0, low=0.91..., high=1.0)
    """
    if corpus is None and train is None:
        raise UsageError("a report needs documents with labels: give corpus, train or both.")
    if against and corpus is None:
        raise UsageError(
            "to compare with other models, give documents that none of them has seen (corpus)."
        )
    work = Work(jobs, progress, partial=False)
    predictions = None if corpus is None else predict_on(model, corpus)
    refits = None
    if train is not None:
        if settings is None:
            settings = settings_of(model, unlabeled)
        else:
            settings = with_choices(settings, model)
        refits = refit(model, train, settings, work)
    if predictions is None:
        assert refits is not None
        predictions = _out_of_fold(model, refits)
        X = columns_of(refits.data.rows.matrix(refits.rows), refits.columns)
    else:
        X = model.encoder.transform(predictions.corpus.texts)
    both = {"measured on": corpus, "trained on": None if refits is None else refits.corpus}
    corpora = {name: one for name, one in both.items() if one is not None}
    others = dict(against or {})
    summary = model.summary
    skipped = sum(len(one.skipped) for one in corpora.values())
    explained = gives_offsets(model)
    search, path = search_section(model), path_section(model)
    unknown = int(np.count_nonzero(np.diff(X.indptr) == 0))  # documents without a feature
    words, words_left_out = label_words(model, X, predictions.y_true)
    scores, sure = scores_of(predictions), certainty(predictions)
    confusions, examples = confusions_of(predictions, scores, sure)
    baseline = suspected = None
    if refits is not None:
        baseline, suspected = baseline_of(model, refits), suspected_of(model, refits)
    count = 0 if suspected is None else suspected.count
    suggestions = [*suggestions_of(predictions, refits, baseline, count), *advice]
    missing = []
    if refits is None:
        missing.append(NO_TRAIN)
    elif refits.baseline is None:
        missing.append(f"The model is an {BASELINE} net itself, so it is compared with no other.")
    if search is None and path is None:
        missing.append("Training tried only one setting and kept no regularization path (--path).")
    versus = versus_models(predictions, others)
    evidence = evidence_of(model, marked, others) if marked else None
    passages = {one.text: one.passages for one in marked} if marked else None
    tables, why = _tables({title: model, **others}, texts, predictions, sure)
    missing += why
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
        verdict=verdict_of(
            predictions, scores, sure, unknown, confusions, versus, suggestions, evidence
        ),
        scores=scores,
        search=search,
        path=path,
        words=words,
        words_left_out=words_left_out,
        selection=None if refits is None else _selection(model, refits),
        dropped=dropped_of(model, refits, skipped, unknown),
        stability=None if refits is None else stability_of(model, refits),
        baseline=baseline,
        documents=documents_of(predictions, sure, examples, passages) if explained else (),
        evidence=evidence,
        tables=tables,
        suspected=suspected,
        reproduce=_reproduce(model, corpora, command),
        missing=tuple(missing),
    )


def _out_of_fold(model: Model, refits: Refits) -> Predictions:
    """The predictions of fits that have not seen the document."""
    encoder, corpus = refits.data.encoder, refits.corpus
    if len(refits.rows) < len(corpus):
        corpus = corpus.select(refits.rows)
    for part in encoder.parts:
        if part.ngrams > 1:
            _ = part.tree  # made once, for all models below
    models = [
        Model(
            model.task,
            encoder=encoder,
            weights=fit.w,
            intercepts=fit.b,
            calibration=model.calibration,
            thresholds=model.thresholds,
        )
        for fit in refits.solutions
    ]
    scores = refits.own.scores
    timed = corpus.time_of is not None
    how = (
        f"{'the latest ' if timed else 'its '}{len(corpus):,} training "
        f"documents, each predicted by one of {len(models)} further fits with the same "
        f"hyperparameters, which has seen {'only earlier ones' if timed else 'only the others'}"
    )
    return Predictions(corpus, model.task.as_scores(scores), models, refits.fit_of, how)


def _tables(
    models: Mapping[str, Model], texts: Sequence[str], predictions: Predictions, sure: Floats
) -> tuple[tuple[RemovalTable, ...], list[str]]:
    """The tables of sentences, and why there are none of documents."""
    if texts:
        return tuple(removal_tables(models, texts)), []
    if len(models) < 2:
        return (), []
    try:
        return tables_of_documents(models, predictions, sure), []
    except UsageError as error:  # the models can be compared, but not sentence by sentence
        return (), [f"No sentences are shown beside each other: {error}"]


def _selection(model: Model, refits: Refits) -> Selection:
    data = refits.data
    return find_selection(
        model,
        refits.corpus,
        unlabeled=data.settings.unlabeled,
        features=Features(data.rows, data.tokens, data.encoder),
    )


def _reproduce(
    model: Model, corpora: Mapping[str, Corpus], command: Sequence[str] | None
) -> Section:
    commands = []
    if command is not None:
        commands.append(("this page", shlex.join(command)))
    if words := fit_command(model):
        commands.append(
            ("the same weights up to the tolerance, without a search", shlex.join(words))
        )
    data = [(name, fingerprint(one)) for name, one in corpora.items()]
    split = None if model.summary is None else model.summary.split
    seed = None if split is None else split.seed
    return Section(commands=commands, versions=versions(), seed=seed, data=data)
