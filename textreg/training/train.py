"""Training, from a corpus to a model: for the command line and the estimators alike."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from textreg.blocks.scratch import Scratch
from textreg.errors import UsageError
from textreg.features.markup import warn_of_html
from textreg.kinds import Regularizer
from textreg.model.model import Model
from textreg.records import Corpus
from textreg.records.columns import as_column
from textreg.records.documents import check_documents
from textreg.records.fields import as_fields, fielded
from textreg.training import logged
from textreg.training.learning import learn
from textreg.training.posing import pose
from textreg.training.prepare import CUT_ALREADY, for_documents
from textreg.training.recipe import options_of
from textreg.training.regularization_path import path_parameter
from textreg.training.running import Progress, Work
from textreg.training.search.context import SearchContext
from textreg.training.search.documents import SplitCorpus
from textreg.training.search.splitting import group_names, splits_of
from textreg.training.settings import TrainingSettings
from textreg.training.summary import training_summary

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.features.vectorize import Features
    from textreg.model.regularization_path import SolutionPath
    from textreg.records import Documents, Floats
    from textreg.training.fitting import Beginning, FinalFit
    from textreg.training.keywords import TrainKeywords
    from textreg.training.search.searching import SearchResult


def train(  # noqa: PLR0913  # its options are its interface
    texts: Documents,
    labels: Sequence[Any],
    *,
    reg: str | type[Regularizer] | Regularizer = "sentence",
    sample_weight: Floats | Sequence[float] | None = None,
    group_of: Sequence[str] | None = None,
    time_of: Sequence[Any] | None = None,
    dev: Corpus | tuple[Documents, Sequence[Any]] | None = None,
    unlabeled: Corpus | Documents | None = None,
    **settings: Unpack[TrainKeywords],
) -> Model:
    """Train a model.

    Parameters
    ----------
    texts : sequence of str
        The documents. Each may also be a list of tokens, or a list of sentences that are lists of
        tokens; then no tokenizer is used, and the model predicts such documents only. With
        ``fields``, a dict for each document, or a data frame.
    labels : sequence of str, or of lists of str
        One label for each document; or a list, tuple or set of any number of labels for each.
    reg : str, Regularizer or class, default "sentence"
        The regularizer: its name, an instance, or a class.
    sample_weight : array-like of shape (n,), optional
        Weights of the documents, 0 or more; default 1.
    group_of : sequence of str, optional
        The group of every document, such as its author: no group is both fitted and held out.
    time_of : sequence, optional
        When each document was written, a number or a date: the latest are held out.
    dev : Corpus or (texts, labels), optional
        Documents to choose hyperparameters on, instead of held-out ones.
    unlabeled : Corpus or sequence of str, optional
        Further texts, for regularizers with a graph.
    **settings
        See :meth:`TrainingSettings.from_options`. ``tokenizer`` may be any callable that takes a
        text and returns a list of tokens, or of sentences of tokens: ``str.split``, say.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        If no model can be learned from the texts or labels.
    UsageError
        For wrong settings, such as a tokenizer for documents that are tokens already.

    Warns
    -----
    ConvergenceWarning
        If the final fit misses its tolerance.

    Examples
    --------
    >>> from textreg import train
    >>> texts, labels = ["good", "bad", "very good", "so bad"], ["pos", "neg", "pos", "neg"]
    >>> train(texts, labels, reg="ridge", reg_l2=1.0).predict(["good"])
    ['pos']
    >>> model = train([["good"], ["bad"], ["good"], ["bad"]], labels, reg="ridge", reg_l2=1.0)
    >>> model.predict([["very", "good"]])
    ['pos']
    """
    documents = check_documents
    if (named := settings.get("fields")) is not None:
        documents = partial(fielded, fields=as_fields(named))
    if dev is not None and not isinstance(dev, Corpus):
        dev = Corpus(texts=documents(dev[0]), labels=as_column(dev[1], "labels"))
    if unlabeled is not None and not isinstance(unlabeled, Corpus):
        unlabeled = Corpus(texts=documents(unlabeled))
    corpus = Corpus(
        texts=documents(texts),
        labels=as_column(labels, "labels"),
        sample_weight=sample_weight,  # type: ignore[arg-type]  # any array-like
        group_of=None if group_of is None else group_names(as_column(group_of, "group_of")),
        time_of=time_of,
    )
    if corpus.tokenized and "tokenizer" in settings:
        raise UsageError(CUT_ALREADY)
    options = TrainingSettings.from_options(reg=reg, dev=dev, unlabeled=unlabeled, **settings)
    return train_corpus(corpus, options)


def train_corpus(  # noqa: PLR0913  # its options are its interface
    corpus: Corpus,
    settings: TrainingSettings,
    progress: Progress | None = None,
    features: Features | None = None,
    *,
    started: float | None = None,
    partial: bool = True,
    keep_texts: bool = True,
    scratch: Scratch | None = None,
    beginning: Beginning | None = None,
) -> Model:
    """Train a model on a labeled corpus.

    All documents are turned into features once: vocabulary and inverse document frequencies include
    the words of held-out documents, never their labels. Groups and graphs come from the documents
    that are fitted. With ``dev`` and without ``refit`` the features come from the corpus alone.

    Parameters
    ----------
    corpus : Corpus
        Labeled documents.
    settings : TrainingSettings
        How to train.
    progress : callable, optional
        Called with a stage ("features", "search", "fit", "path"), the number done and the total.
    features : Features, optional
        Those of :func:`textreg.training.prepare.make_features`, if they are there already.
    started : float, optional
        When the budget began, as ``time.monotonic()`` counts; default now.
    partial : bool, default True
        Whether the best so far becomes the model after a first Ctrl-C, which else ends it.
    keep_texts : bool, default True
        Whether the list of texts stays as it is. Else all texts in it become empty as soon as no
        features are to be made of them any more, which frees their memory.
    scratch : Scratch, optional
        Where blocks go that are not to be in memory; made of ``settings.scratch`` by default.
    beginning : callable, optional
        Gives weights to start the final fit from, where the search has none. Not used in blocks.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        If no model can be learned from the documents.
    UsageError
        If settings contradict the documents.
    """
    options = options_of(settings)
    settings = for_documents(settings, corpus)
    started = time.monotonic() if started is None else started
    seconds = settings.tuning.seconds
    deadline = math.inf if seconds is None else started + seconds
    work = Work(settings.jobs, progress, deadline, partial=partial)
    training = pose(corpus, settings)
    corpus, settings, target = training.corpus, training.settings, training.target
    target.task.check_thresholds(settings.threshold or {})
    if settings.path:
        path_parameter(settings.reg)  # refused before long work
    if features is None and not settings.vectorizer.strip_html:
        warn_of_html(corpus)
    if settings.memory is not None:
        from textreg.training.in_blocks import check_settings, learn_in_blocks

        check_settings(settings)
        with nullcontext(scratch) if scratch is not None else Scratch(settings.scratch) as folder:
            context, result, fit, elapsed = learn_in_blocks(training, settings, folder, work)
            return _model(context, result, fit, None, options, elapsed)
    splits = splits_of(corpus, target, settings)
    keep = keep_texts or any(one.part != "reg" for one in settings.dimensions())
    aside = training.weighed(splits)
    documents = SplitCorpus(target, splits, training.rare, aside, corpus=corpus, keep=keep)
    context = SearchContext(documents, settings, features)
    logged.begun(context, len(corpus))
    result, fit, path, elapsed = learn(context, work, beginning)
    return _model(context, result, fit, path, options, elapsed)


def _model(  # what a training ends with
    context: SearchContext,
    result: SearchResult,
    fit: FinalFit,
    path: SolutionPath | None,
    options: dict[str, Any],
    elapsed: dict[str, float],
) -> Model:
    """The model of a training, with its summary."""
    summary = training_summary(context, result, fit, path, options)
    model = Model(
        context.documents.target.task,
        encoder=fit.data.encoder,
        weights=fit.fitted.w,
        intercepts=fit.fitted.b,
        calibration=fit.learned.calibration,
        thresholds=fit.cuts,
        path=path,
        summary=summary,
    )
    model.seconds = elapsed
    return model
