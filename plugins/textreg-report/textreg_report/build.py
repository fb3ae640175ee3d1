"""Reports on a model, alone or beside others, from measured documents."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textreg.errors import UsageError, named_errors
from textreg.explain import RemovalTable, find_selection, gives_offsets, removal_tables
from textreg.model.model import Model, as_model
from textreg.records import Corpus, Documents
from textreg.records.text import as_corpus
from textreg.terminal import shell_line
from textreg.training.recipe import fit_command, settings_of
from textreg.training.running import Progress, Work
from textreg_report import sections
from textreg_report.agreement import MarkedDocument, rationale_scores
from textreg_report.page import Report, Section, Suggestion, Versus
from textreg_report.predictions import (
    BASELINE,
    Predictions,
    Refits,
    beside,
    predict_on,
    refit,
    scores_of,
    side_by_side,
)
from textreg_report.significance import holm
from textreg_report.verdict import suggestions_of, verdict_of

NO_TRAIN = (
    "The training corpus was not given (--train), so this page cannot tell which groups were "
    "selected, what was dropped, how stable the features are, how the elastic net compares, "
    "whether more documents would help, or which labels may be wrong."
)


def report(  # noqa: PLR0913  # its options are its interface
    model: Model,
    corpus: Corpus | tuple[Documents, Sequence[Any]] | None = None,
    *,
    train: Corpus | tuple[Documents, Sequence[Any]] | None = None,
    unlabeled: Corpus | tuple[Documents, None] | None = None,
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
    corpus : Corpus or (texts, labels), optional
        Labeled documents that the model has not seen. Without them every training document is
        predicted by a fit with the same hyperparameters that has not seen it: see
        ``textreg_report.predictions.refit``.
    train : Corpus or (texts, labels), optional
        The training documents. Without them the report leaves out what needs them, and says so.
    unlabeled : Corpus or (texts, None), optional
        Unlabeled documents that the model's graph was built from.
    against : mapping of str to Model, optional
        Other models by name, such as the last one: the verdict compares them on ``corpus``, and a
        table shows what each sentence of some texts is worth to all of them.
    texts : sequence of str, optional
        The texts of that table. By default documents that the models answer differently.
    marked : sequence of MarkedDocument, optional
        Documents with passages that people marked as evidence; those of ``corpus`` are shown with
        them.
    advice : sequence of Suggestion, optional
        Further suggestions for the verdict, such as those of
        ``textreg_report.verdict.corpus_advice``.
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
        If ``model`` is no model, neither ``corpus`` nor ``train`` is given, ``against`` is without
        ``corpus`` or cannot be compared, or ``jobs`` is not a valid number.

    Examples
    --------
    >>> import textreg
    >>> texts, labels = ["good film", "bad film"] * 20, ["pos", "neg"] * 20
    >>> model = textreg.train(texts, labels, reg="ridge", reg_l2=1.0)
    >>> page = report(model, Corpus(texts=texts, labels=labels), title="films")
    >>> page.scores.figures[0]
    Estimate(name='accuracy', value=1.0, low=0.91..., high=1.0)
    """
    documents = as_model(model).encoder.documents
    corpus, train = as_corpus(corpus, "corpus", documents), as_corpus(train, "train", documents)
    unlabeled = as_corpus(unlabeled, "unlabeled", documents)
    if corpus is None and train is None:
        raise UsageError("a report needs documents with labels: give corpus, train or both.")
    if not isinstance(against or {}, Mapping):
        raise UsageError("against is models by their names, as in {'last': model}.")
    others = {name: as_model(other) for name, other in (against or {}).items()}
    if against and corpus is None:
        raise UsageError(
            "to compare with other models, give documents that none of them has seen (corpus)."
        )
    predictions = None if corpus is None else predict_on(model, corpus)
    refits = baseline = shadow = suspected = stability = selection = None
    if train is not None:
        work = Work(jobs, progress, partial=False)
        refits = refit(model, train, settings_of(model, unlabeled), work)
        suspected = sections.suspected_of(model, refits)
        baseline = sections.baseline_of(refits, refits.baseline, BASELINE)
        shadow = sections.baseline_of(refits, refits.shadow, "its shadow")
        stability = sections.stability_of(model, refits)
        data = refits.data
        selection = find_selection(
            model,
            refits.corpus,
            unlabeled=data.settings.unlabeled,
            features=data,
        )
    if predictions is None:
        assert refits is not None
        predictions = _out_of_fold(model, refits)
        X = refits.X
    else:
        X = model.encoder.transform(predictions.corpus.texts)
    both = {"measured on": corpus, "trained on": None if refits is None else refits.corpus}
    corpora = {name: one for name, one in both.items() if one is not None}
    summary, explained = model.summary, gives_offsets(model)
    search, path = sections.search_section(model), sections.path_section(model)
    skipped = sum(len(one.skipped) for one in corpora.values())
    unknown = int(np.count_nonzero(np.diff(X.indptr) == 0))  # documents without a feature
    words, words_left_out = sections.label_words(model, X, predictions.y_true)
    scores = scores_of(predictions)
    confusions, examples = sections.confusions_of(predictions, scores)
    count = 0 if suspected is None else suspected.count
    suggestions = [*suggestions_of(predictions, refits, baseline, count), *advice]
    evidence = evidence_of(model, marked, others) if marked else None
    passages = {document.text: document.passages for document in marked} if marked else None
    tables, missing = _tables({title: model, **others}, texts, predictions)
    if refits is None:
        missing.append(NO_TRAIN)
    elif refits.baseline is None:
        missing.append(f"The model is an {BASELINE} net itself, so it is compared with no other.")
    if refits is not None and summary and (summary.vectors or summary.marks):
        missing.append("Fits without a part of the documents do without word vectors and marks.")
    if search is None and path is None:
        missing.append("Training tried only one setting and kept no regularization path (--path).")
    if not explained:
        missing.append("The tokenizer gives no character offsets, so no document is explained.")
    versus = versus_models(predictions, others)
    return Report(
        title=title,
        task=model.task.name,
        discrete=model.task.discrete,
        labels=model.labels,
        facts=sections.facts_of(model),
        n_features=model.n_features,
        converged=None if summary is None else summary.converged,
        gap=None if summary is None else summary.gap,
        verdict=verdict_of(predictions, scores, unknown, confusions, versus, suggestions, evidence),
        scores=scores,
        search=search,
        path=path,
        words=words,
        words_left_out=words_left_out,
        selection=selection,
        selected_documents=() if refits is None else sections.selected_documents(model, refits),
        dropped=sections.dropped_of(model, refits, skipped, unknown),
        stability=stability,
        baseline=baseline,
        shadow=shadow,
        documents=sections.documents_of(predictions, examples, passages) if explained else (),
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
    # Calibration and thresholds are of scores that are shifted for new texts.
    shift = model.summary.shift.values if model.summary and model.summary.shift else 0.0
    models = [
        Model(
            model.task,
            encoder=encoder,
            weights=fit.w,
            intercepts=fit.b + shift,
            calibration=model.calibration,
            thresholds=model.thresholds,
        )
        for fit in refits.own.fits
    ]
    timed, scores = corpus.time_of is not None, model.task.as_scores(refits.own.scores + shift)
    how = (
        f"{'the latest ' if timed else 'its '}{len(corpus):,} training "
        f"documents, each predicted by one of {len(models)} further fits with the same "
        f"hyperparameters, which has seen {'only earlier ones' if timed else 'only the others'}"
    )
    return Predictions(corpus, scores, models, refits.fit_of, how)


def _tables(
    models: Mapping[str, Model], texts: Sequence[str], predictions: Predictions
) -> tuple[tuple[RemovalTable, ...], list[str]]:
    """The tables of sentences, and why there are none of documents."""
    if texts:
        return tuple(removal_tables(models, texts)), []
    if len(models) < 2:
        return (), []
    try:
        return tables_of_documents(models, predictions), []
    except UsageError as error:  # the models can be compared, but not sentence by sentence
        return (), [f"No sentences are shown beside each other: {error}"]


def _reproduce(
    model: Model, corpora: Mapping[str, Corpus], command: Sequence[str] | None
) -> Section:
    fit = "the same weights up to the tolerance, without a search"
    named = {"this page": command, fit: fit_command(model)}
    commands = [(name, shell_line(words)) for name, words in named.items() if words]
    data = [(name, sections.fingerprint(corpus)) for name, corpus in corpora.items()]
    split = None if model.summary is None else model.summary.split
    seed = None if split is None else split.seed
    return Section(commands=commands, versions=sections.versions(), seed=seed, data=data)


# Documents whose sentences are shown beside each other, and documents looked at for them.
TABLES, TRIED = 3, 30

# Least and largest number of their sentences, and their characters.
SENTENCES, LONGEST = (2, 14), 2_000


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
    rows = []
    for name, other in against.items():
        with named_errors(name):
            theirs = predict_on(other, corpus)
        rows.append(beside(name, model.task, *side_by_side(predictions, theirs)))
    if not model.task.discrete:
        return tuple(rows)
    p = holm([row.p or 0.0 for row in rows])
    pairs = zip(rows, p, strict=True)
    return tuple(row._replace(p=value, comparisons=len(rows)) for row, value in pairs)


def tables_of_documents(
    models: Mapping[str, Model], predictions: Predictions
) -> tuple[RemovalTable, ...]:
    """What each sentence of some documents is worth to the models.

    Those that the models answer differently come first.
    """
    texts = predictions.corpus.texts
    fit = [row for row, text in enumerate(texts) if isinstance(text, str) and len(text) <= LONGEST]
    rows = np.array(fit, dtype=np.int64)
    docs = [texts[row] for row in fit]
    differ = np.zeros(len(docs), dtype=bool)
    if not docs:
        return ()
    first, *others = (
        model.task.answers(model.decide(model.decision_function(docs))) for model in models.values()
    )
    for other in others:
        differ |= np.array([one != two for one, two in zip(first, other, strict=True)])
    # Of others the least certain, where single sentences matter most.
    sure = predictions.certainty[rows]
    order = np.lexsort((np.where(differ, -sure, sure), ~differ))[:TRIED]
    least, most = SENTENCES
    tables = (
        table
        for at in order.tolist()
        for table in itertools.islice(removal_tables(models, [docs[at]]), 1)
        if least <= len(table.spans) <= most
    )
    return tuple(itertools.islice(tables, TABLES))


def evidence_of(
    model: Model,
    marked: Sequence[MarkedDocument],
    against: Mapping[str, Model],
    of: str | None = None,
) -> Section:
    """The measures of ``textreg agreement``, and their differences from other models.

    of: the label to explain. Raises DataError and UsageError as
    :func:`textreg_report.rationale_scores`.
    """
    scores = rationale_scores(model, marked, of)
    others = []
    for name, other in against.items():
        theirs = rationale_scores(other, marked, of, share=scores.rationale_share)
        differences = scores.differences(theirs)
        others.append(Section(name=name, means=theirs.measures(), differences=differences))
    return Section(**scores.facts(), means=scores.measures(), beside=others)
