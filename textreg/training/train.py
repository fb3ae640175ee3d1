"""Training, from a corpus to a model: for the command line and the estimators alike."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.threads import allowing
from textreg.blocks.backends import open_workers
from textreg.blocks.scratch import Scratch
from textreg.errors import DataError, UsageError
from textreg.features.markup import warn_of_html
from textreg.jobs import one_thread_in_blas
from textreg.kinds import Regularizer
from textreg.measure.metrics import wilson
from textreg.model import summary as records
from textreg.model.model import Model
from textreg.records import Corpus, Documents, Floats, SelectionReport, arrays
from textreg.records import documents as inputs
from textreg.records.design import BlockGroups
from textreg.records.problem import NONZERO, ZERO, PartsReport, Support
from textreg.records.store import check_room
from textreg.records.text import as_corpus
from textreg.training import fit as fitting
from textreg.training import prepare, recipe, running, search, trials
from textreg.training.settings import TrainingSettings
from textreg.training.splits import group_names

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from textreg.features.vectorize import Features
    from textreg.training.keywords import TrainKeywords


# The most features of which a summary keeps the order of entry.
MAX_ORDER = 100


def training_summary(learned: fitting.Learned, options: dict[str, Any]) -> records.TrainingSummary:
    """The summary of a search and its final fit; ``options`` are those that were given."""
    context, result, fit, path, _ = learned
    settings, task = context.settings, context.documents.target.task
    problem, fitted, of_held = fit.problems.problem, fit.fitted, fit.learned
    design, graph, builder = problem.design, problem.graph, fit.data.settings.graph
    weight, rules, shift = settings.class_weight, settings.threshold or {}, of_held.shift
    rare, smooth = dict(context.documents.rare), fitted.unsmoothed
    order, order_groups = _orders(fit)
    parts = [report.groups for report in fitted.reports if isinstance(report, PartsReport)]
    blocks = None
    if design.blocks:
        # The search saw a part of the documents alone.
        searched = None if fit.best is None else len(context.documents.target.y)
        blocks = records.BlocksSummary(len(design.blocks), design.passes, searched)
    return records.TrainingSummary(
        task=task.name,
        loss=problem.loss.label(),
        loss_params=problem.loss.params(),
        multiclass=task.multiclass,
        labels=task.describe(fit.data.y[fit.rows]),
        reg=records.RegularizerSummary(
            fit.regularizer.label(), fit.regularizer.params(), _searched(settings, fit.regularizer)
        ),
        documents=design.shape[0],
        features=fit.data.rows.shape[1],
        nonzero=fit.nonzero,
        groups=_of_groups(fit),
        graph=None
        if graph is None or builder is None
        else records.GraphSummary(builder.label(), builder.params(), graph.n_links, graph.classes),
        objective=fitted.objective,
        gap=_bound(fitted.gap),
        converged=fitted.converged,
        iterations=fitted.iterations,
        tol=settings.tol,
        class_weight=weight if isinstance(weight, (str, type(None))) else dict(weight),
        unknown=of_held.unknown and records.UnknownSummary(*of_held.unknown),
        rare=records.RareSummary(*settings.rare, rare) if rare else None,
        interrupted="search" if result.stopped else "fit" if fit.stopped else None,
        budget=settings.tuning.seconds,
        planned=result.planned,
        ruled_out=result.ruled_out,
        ruled_out_by=result.labels,
        ruled_out_on=result.documents,
        **_of_search(context, result, fit.best),
        vectors=fit.prior if isinstance(fit.prior, records.VectorsSummary) else None,
        marks=fit.prior if isinstance(fit.prior, records.MarksSummary) else None,
        shift=shift and records.ShiftSummary(shift.kind, tuple(shift.values.tolist())),
        calibration=None if of_held.calibration is None else of_held.calibration.method,
        thresholds={
            label: records.ThresholdSummary(rules.get(label, task.threshold_rule), *threshold)
            for label, threshold in of_held.thresholds.items()
        },
        plugins=tuple(records.PartOrigin(**origin) for origin in settings.plugins(fit.regularizer)),
        options=options,
        path=None if path is None else records.PathSummary(path.parameter, len(path)),
        pruned=fit.pruned,
        unsmoothed=None
        if smooth is None
        else records.UnsmoothedSummary(smooth.objective, _bound(smooth.gap)),
        blocks=blocks,
        order=order,
        order_groups=order_groups,
        support=_support(fitted.supports),
        # Only where all weight vectors are sums of parts.
        parts=tuple(parts) if len(parts) == len(fitted.reports) else (),
    )


def _bound(gap: float) -> float | None:
    """The gap of a fit; JSON has no NaN: procedures without a bound report none."""
    return None if np.isnan(gap) else gap


def _support(supports: Sequence[Support | None]) -> records.SupportSummary | None:
    known = [support for support in supports if support is not None]
    if not known or len(known) < len(supports):
        return None
    groups = [support.groups for support in known if support.groups is not None]
    return records.SupportSummary(
        features=tuple(_counts(support.features) for support in known),
        groups=tuple(map(_counts, groups)) if len(groups) == len(known) else (),
    )


def _counts(states: NDArray[np.int8]) -> records.SupportCounts:
    # What is neither is undecided: the gap is too wide to tell.
    zero, nonzero = (int(np.count_nonzero(states == state)) for state in (ZERO, NONZERO))
    return records.SupportCounts(zero, nonzero, len(states) - zero - nonzero)


def _of_groups(fit: fitting.FinalFit) -> records.GroupsSummary | None:
    groups, builder = fit.problems.problem.groups, fit.data.settings.groups
    if groups is None or builder is None:
        return None
    selected, after = None, None
    if not isinstance(groups, BlockGroups):
        after = len(groups.merged.groups)
        selects = type(fit.regularizer).needs == "groups"
        if selects and fit.regularizer.params().get("group") != 0.0:
            norms = fit.fitted.group_norms
            if norms is None:
                # There are no copies: those with a feature that has a weight.
                used = np.isin(groups.indices, arrays.used_columns(fit.fitted.w))
                selected = len(np.unique(arrays.row_of(groups.indptr)[used]))
            else:
                selected = int(np.count_nonzero(norms))
    return records.GroupsSummary(builder.label(), builder.params(), len(groups), after, selected)


def _of_search(
    context: search.SearchContext, result: search.SearchResult, best: trials.MeasuredSetting | None
) -> dict[str, Any]:
    """What a summary tells of the search; of none where nothing was measured."""
    settings, splits, metric = context.settings, context.documents.splits, context.metric
    if best is None:
        none = dict.fromkeys(("split", "metric", "select", "dev"))
        return {**none, "chosen": {}, "search": (), "refit": False}
    kind = "dev" if settings.dev is not None else "cv" if len(splits) > 1 else "holdout"
    tuning = settings.tuning
    documents, interval = sum(len(split.held) for split in splits), None
    if "accuracy" in best.metrics:
        # Wilson's 95 % interval of a share: right of so many.
        interval = wilson(best.metrics["accuracy"] * best.size, best.size)
    points = []
    for point in result.measured:
        params = point.regularizer.params()
        searched = {key: params[key] for key in _searched(settings, point.regularizer)}
        changes, metrics = dict(point.changes), dict(point.metrics)
        points.append(records.SearchPoint(searched, changes, point.nonzero, point.error, metrics))
    return {
        "split": records.SplitSummary(kind, len(splits), settings.seed, context.documents.by),
        "metric": metric,
        "select": records.ChoiceSummary(
            tuning.select, tuning.within, tuning.max_nonzero, best.error
        ),
        "chosen": dict(best.changes),
        "dev": records.DevMetrics(documents, dict(best.metrics), interval),
        "search": tuple(points),
        "refit": settings.refit,
    }


def _orders(
    fit: fitting.FinalFit,
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[records.GroupStep, ...], ...]]:
    """The first features in order of entry, for each weight vector of a pursuit.

    Of a pursuit of groups, also the steps that selected these.
    """
    reports = [report for report in fit.fitted.reports if isinstance(report, SelectionReport)]
    if not reports:
        return (), ()
    names, groups = fit.data.encoder.names, fit.problems.problem.groups  # names are spelled here
    order = tuple(tuple(names[j] for j in report.order[:MAX_ORDER]) for report in reports)
    if groups is None or not all(report.steps or not report.order for report in reports):
        return order, ()
    steps = []
    for report in reports:
        # order lists features, steps say how many of them there were after each.
        start, of_report = 0, []
        for step in report.steps:
            if start >= MAX_ORDER:
                break
            group = None if step.group < 0 else step.group  # else a single feature
            name = None if group is None or groups.names is None else groups.names[group]
            features = tuple(names[j] for j in report.order[start : step.active])
            of_report.append(records.GroupStep(group, name, features))
            start = step.active
        steps.append(tuple(of_report))
    return order, tuple(steps)


def _searched(settings: TrainingSettings, chosen: Regularizer) -> tuple[str, ...]:
    """Hyperparameters that are searched of the regularizer, or of what competes under its name."""
    open_, reg = settings.reg.undecided(), settings.reg.params()
    named = {dimension.name for dimension in settings.dimensions() if dimension.part == "reg"}
    declared = chosen.declared(**chosen.params())
    return tuple(
        key
        for key in chosen.params()
        if key in named or (key in open_ if key in reg else declared[key].search is not None)
    )


def train(  # noqa: PLR0913  # its options are its interface
    texts: Documents,
    labels: Sequence[Any],
    *,
    reg: str | type[Regularizer] | Regularizer = "auto",
    sample_weight: Floats | Sequence[float] | None = None,
    group_of: Sequence[str] | None = None,
    time_of: Sequence[Any] | None = None,
    evidence_of: Sequence[Any] | None = None,
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
    reg : str, Regularizer or class, default "auto"
        The regularizer: its name, an instance, or a class.
    sample_weight : array-like of shape (n,), optional
        Weights of the documents, 0 or more; default 1.
    group_of : sequence of str, optional
        The group of every document, such as its author: no group is both fitted and held out.
    time_of : sequence, optional
        When each document was written, a number or a date: the latest are held out.
    evidence_of : sequence of lists, optional
        The passages of each document that people marked as the reason of the label, or pairs of
        where they begin and end: the weights of what is marked are penalized less, of what was left
        more. No passages: not looked at.
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
    documents = inputs.check_documents
    if (named := settings.get("fields")) is not None:
        documents = partial(inputs.fielded, fields=inputs.as_fields(named))
    dev = as_corpus(dev, "dev", documents)
    if unlabeled is not None and not isinstance(unlabeled, Corpus):
        unlabeled = Corpus(texts=documents(unlabeled))
    corpus = Corpus(
        texts=documents(texts),
        labels=labels,
        sample_weight=sample_weight,  # type: ignore[arg-type]  # any array-like
        group_of=None if group_of is None else group_names(inputs.as_column(group_of, "group_of")),
        time_of=time_of,
        evidence_of=evidence_of,
    )
    # Here, as the default is not told from a given one any more later.
    if corpus.tokenized and "tokenizer" in settings:
        raise UsageError(prepare.CUT_ALREADY)
    options = TrainingSettings.from_options(reg=reg, dev=dev, unlabeled=unlabeled, **settings)
    with running.notebook_bars() as progress:
        return train_corpus(corpus, options, progress)


def train_corpus(  # noqa: PLR0913  # its options are its interface
    corpus: Corpus,
    settings: TrainingSettings,
    progress: running.Progress | None = None,
    features: Features | None = None,
    *,
    started: float | None = None,
    partial: bool = True,
    scratch: Scratch | None = None,
    initial: search.InitialWeights | None = None,
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
    scratch : Scratch, optional
        Where blocks go that are not to be in memory; made of ``settings.scratch`` by default.
    initial : callable, optional
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
    options = recipe.options_of(settings)
    settings = prepare.for_documents(settings, corpus)
    started = time.monotonic() if started is None else started
    # The budget began before the files were read.
    deadline = started + (settings.tuning.seconds or math.inf)
    work = running.Work(settings.jobs, progress, deadline, partial=partial)
    training = prepare.read_training(corpus, settings)
    corpus, settings = training.corpus, training.settings
    training.target.task.check_thresholds(settings.threshold or {})
    if settings.path:
        fitting.path_parameter(settings.reg)  # refused before long work
    stripped = any(field.options.get("strip_html") for field in settings.fields or ())
    if features is None and not (settings.vectorizer.strip_html or stripped):
        warn_of_html(corpus)
    if settings.memory is not None:
        from textreg.training.blocks import check_settings, learn_in_blocks

        check_settings(settings)
        with nullcontext(scratch) if scratch is not None else Scratch(settings.scratch) as folder:
            return _model(learn_in_blocks(training, folder, work), options)
    context = search.SearchContext(prepare.split_corpus(training, features), initial)
    fitting.log_begun(context, len(corpus))
    return _model(learn(context, work), options)


def _model(learned: fitting.Learned, options: dict[str, Any]) -> Model:
    """The model of a training, with its summary; ``options`` are those that were given."""
    fit = learned.fit
    model = Model(
        learned.context.documents.target.task,
        encoder=fit.data.encoder,
        weights=fit.fitted.w,
        intercepts=fit.intercepts,
        calibration=fit.learned.calibration,
        thresholds=fit.cuts,
        path=learned.path,
        summary=training_summary(learned, options),
    )
    model.seconds = learned.seconds
    return model


# Tables of the scores of all documents held out that there are at a time: those of the fits,
# shifted ones, probabilities, and what an optimizer makes of them.
TABLES = 8


def learn(context: search.SearchContext, work: running.Work) -> fitting.Learned:
    """Search, fit the best setting on all documents, and its path if that is asked for.

    Warns with a ConvergenceWarning where the search was stopped, or the fit misses its tolerance.
    """
    settings, documents = context.settings, context.documents
    n, k, tuning = len(documents.target.y), documents.target.task.n_rows, settings.tuning
    held = sum(len(split.held) for split in documents.splits)
    check_room(
        8 * TABLES * held * k,
        f"scores of {held:,} documents held out, by {k:,} labels,",
        "join rare labels (--min-label 5:other), or name a few documents to choose by (--dev)",
    )
    searched = open_workers(tuning.backend, tuning.address, [settings.reg])
    clock = running.Clock()
    with (
        searched if documents.splits else nullcontext() as workers,
        allowing(work.threads),
        one_thread_in_blas(),  # which waits for others where the machine is busy
    ):
        work.report("features", 0, n)
        # The first stage is prepared here, so that its time counts as that of the features. No
        # variable holds it: its matrices go when larger ones are made.
        stages = search.stages_of(context)
        stages[0].prepared(context.first).folds  # noqa: B018
        n_features = context.prepared(context.first).rows.shape[1]
        work.report("features", n, n)
        fitting.LOG.info("%d features in %.2f s", n_features, clock.stop("features"))
        result = search.run_search(stages, replace(work, workers=workers))
    fitting.report_search(context, result, clock.stop("search"))
    with allowing(work.threads), one_thread_in_blas():
        fit = fitting.fit_best(context, result, work)
    fitting.report_fit(fit, settings, clock.stop("fit"))
    path = None
    if settings.path:
        path = fitting.fit_path(fit, metric=context.metric, work=work)
        clock.stop("path")
    return fitting.Learned(context, result, fit, path, clock.seconds)


#: Texts, their labels, and their weights where they have some.
Batch = tuple[Sequence[str], Sequence[Any]] | tuple[Sequence[str], Sequence[Any], Sequence[float]]


def train_batches(
    batches: Iterable[Batch],
    *,
    reg: str | type[Regularizer] | Regularizer = "auto",
    **settings: Unpack[TrainKeywords],
) -> Model:
    """Train a model on documents that come in batches, as from a database or a stream.

    Each batch is read once, and need not stay in memory. The model is that of
    ``train(texts, labels, memory=...)`` with the texts and labels of all batches, however they are
    cut.

    Parameters
    ----------
    batches : iterable of tuple
        ``(texts, labels)``, or ``(texts, labels, weights)`` with a weight of 0 or more for every
        document: all of them the same. As for :func:`textreg.train`, each batch by itself.
    reg : str, Regularizer or class, default "auto"
        The regularizer: its name, an instance, or a class.
    **settings
        See :meth:`TrainingSettings.from_options`. ``memory`` is how much the blocks of documents
        may take, by default "1GB"; ``scratch`` names the folder for texts and blocks.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        If there is no batch, a batch is no such tuple, or no model can be learned from the texts or
        labels.
    UsageError
        For wrong settings, also for those that need all documents in memory, or without room on
        the disk.

    Examples
    --------
    >>> from textreg import train_batches
    >>> batches = ((["good", "bad"], ["pos", "neg"]) for _ in range(3))
    >>> train_batches(batches, reg="ridge", reg_l2=1.0).predict(["good"])
    ['pos']
    """
    settings.setdefault("memory", "1GB")
    options = TrainingSettings.from_options(reg=reg, **settings)
    from textreg.training.blocks import check_settings

    check_settings(options)
    labels: list[Any] = []
    weights: list[float] = []
    with Scratch(options.scratch) as scratch, inputs.StoredTexts(scratch.folder / "texts") as texts:
        # Texts go to disk as they come; names of labels stay here, each once.
        for number, batch in zip(count(1), batches):
            part, names, own_weights = _parts(number, batch, bool(weights) if labels else None)
            texts.extend(part)
            labels += [sys.intern(name) if type(name) is str else name for name in names]
            weights += own_weights
        if not labels:
            raise DataError(
                "there are no batches of documents: give (texts, labels) at least once."
            )
        corpus = Corpus(
            texts=texts,
            labels=labels,
            sample_weight=weights or None,  # type: ignore[arg-type]  # any array-like
        )
        del labels  # a corpus keeps each list of labels once
        return train_corpus(corpus, options, scratch=scratch)


def _parts(
    number: int, batch: Any, weighed: bool | None
) -> tuple[Sequence[str], list[Any], list[float]]:
    """Texts, labels and weights of a batch; DataError for anything else.

    weighed: whether batches before have weights; None for the first one.
    """
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        raise DataError(
            f"batch {number} is {batch!r:.60}, which is not a tuple of texts and labels: "
            "give (texts, labels), or (texts, labels, weights)."
        )
    try:
        texts = inputs.check_texts(batch[0])
    except (DataError, UsageError) as error:
        raise type(error)(f"batch {number}: {error}") from None
    labels, *weights = map(list, map(inputs.as_column, batch[1:], ("labels", "weights")))
    for name, column in zip(("labels", "weights"), (labels, *weights), strict=False):
        if len(column) != len(texts):
            raise DataError(
                f"batch {number}: {len(texts):,} texts but {len(column):,} {name}: give one for "
                "each text."
            )
    if weighed is not None and len(texts) and weighed != bool(weights):
        has = "weights" if weights else "no weights"
        raise DataError(
            f"batch {number} has {has}, unlike those before it: give weights with every batch, or "
            "with none."
        )
    return texts, labels, weights[0] if weights else []
