"""Documents as numbers: what is learned from which of them, features, weights, and folds."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError
from textreg.features.fields import AUTO_TOKENIZER, fit_fields, plan_fields, tokenizer_of
from textreg.features.vectorize import Features, MatrixRows
from textreg.plugins import calls, registry
from textreg.records import Bools, Corpus, Documents, Floats, Graph, Groups, Problem, Tokens
from textreg.structure.joining import Pretokenized
from textreg.tasks import Target, Task, read_target
from textreg.tasks.base import Targets, parted
from textreg.tasks.regression import Regression
from textreg.training import priors
from textreg.training.settings import TrainingSettings
from textreg.training.splits import FEW, Split, left_out_of, split_by, splits_of
from textreg.training.trials import Fold, Problems

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.encoder import AnyEncoder
    from textreg.kinds import GraphBuilder


class Training(NamedTuple):
    """What is learned from which documents.

    Attributes
    ----------
    corpus : Corpus
        The documents of the labels of ``target``.
    settings : TrainingSettings
        Those given; ``dev`` without documents of the unknown label.
    target : Target
        The task, and the targets of the documents.
    rare : dict of str to int
        The labels that were left out or joined, and their numbers of documents.
    outside : Corpus or None
        The documents of the unknown label: of ``dev`` if that has some, else of the corpus.
    share : float or None
        How much each of them counts; None for the share of the others that is held out.
    """

    corpus: Corpus
    settings: TrainingSettings
    target: Target
    rare: Mapping[str, int]
    outside: Corpus | None
    share: float | None

    def weighed(self, splits: Sequence[Split]) -> Corpus | None:
        """The documents of the unknown label, weighed as those held out are by their own weight."""
        if self.outside is None:
            return None
        share, weights = self.share, self.outside.sample_weight
        if share is None:
            # Held-out documents are that share of the others: so these count as if they were, too.
            share = sum(len(split.held) for split in splits) / len(self.corpus)
        weights = np.ones(len(self.outside)) if weights is None else weights
        return replace(self.outside, sample_weight=share * weights)


def read_training(corpus: Corpus, settings: TrainingSettings) -> Training:
    """What these settings learn from a corpus; errors as for :func:`textreg.tasks.read_target`."""
    how = settings.task, settings.loss, settings.multiclass
    corpus, target, rare, outside = read_target(corpus, *how, settings.rare, settings.unknown)
    target.task.check_options(settings)
    target = target._replace(task=target.task.with_options(settings))
    dev, share = settings.dev, None
    if dev is not None and settings.unknown is not None:
        is_outside = target.task.outside(target.task.dev_targets(dev))
        if is_outside.all():
            raise DataError(
                f"all documents of dev have the label '{settings.unknown}': give others as well, "
                "to choose hyperparameters by (--dev)."
            )
        dev, outside_dev = parted(dev, is_outside)
        settings = settings.replace(dev=dev)
        if outside_dev:
            outside, share = outside_dev, 1.0
    return Training(corpus, settings, target, rare, outside, share)


# Relative duality gap of the fits that are only compared with each other.
SEARCH_TOL = 3e-3


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared(Features):
    """All documents as numbers, those of ``dev`` after those of the corpus.

    They are features with targets: groups and links are of ``tokens`` alone, and no fit needs
    ``X``. task, y: what is learned, and its targets. row_factors: those of the task. unlabeled:
    number of documents at the end of ``tokens`` that are nowhere else. splits: those of
    :attr:`folds`. prior: what weights lean on, where they do. strength: how much, which ``rows``
    then show. groups: those of all documents, where they lie in blocks.
    """

    task: Task
    y: Targets
    sample_weight: Floats
    own_weight: Floats
    settings: TrainingSettings
    row_factors: Floats | None = None
    unlabeled: int = 0
    fit_intercept: bool = True
    splits: Sequence[Split] = ()
    prior: priors.Vectors | priors.Marks | None = None
    strength: float = 0.0
    groups: Groups | None = None

    def with_prior(self, strength: float) -> Prepared:
        """The same with weights that lean on the prior; itself where the strength is 0."""
        if not strength or self.prior is None:
            return self
        X = self.prior.applied(self.X, strength)
        return replace(self, rows=MatrixRows(X), strength=strength)

    def transform(self, texts: Sequence[Any]) -> csr_array:
        """The rows of other texts."""
        X = self.encoder.transform(texts)
        if not self.strength or self.prior is None:
            return X
        return self.prior.applied(X, self.strength, texts)

    def problem(self, rows: NDArray[np.intp], tol: float) -> Problem:
        """The fit of some documents, with the ``y`` of the first weight vector."""
        settings = self.settings
        groups, graph, columns = self.groups, None, self.rows.shape[1]
        if groups is None and settings.groups is not None:
            groups = calls.build_groups(settings.groups, self._tokens(rows))
        if settings.graph is not None:
            graph = self._graph(settings.graph, rows, groups)
        if groups is not None and self.groups is None:
            groups = groups.widened(columns)
            _ = groups.merged  # made once, here: all weight vectors and threads share it
            # Plugins may read all arrays of the groups, built-in parts only the merged ones.
            groups = groups.compact() if registry.ours(settings.reg) else groups
        design = self.rows.design(None if len(rows) == self.rows.shape[0] else rows)
        return Problem(
            X=design,
            y=self.task.row(self.y[rows], 0),
            sample_weight=self.sample_weight[rows],
            loss=calls.guarded(settings.loss),
            groups=groups,
            graph=None if graph is None else graph.widened(columns),
            tol=tol,
            max_iter=settings.max_iter,
            fit_intercept=self.fit_intercept,
        )

    def _graph(self, builder: GraphBuilder, rows: NDArray[np.intp], groups: Groups | None) -> Graph:
        """The graph for a fit of some documents."""
        if self.graphs is not None:
            graph = self.graphs(builder, groups)
        else:
            n = self.tokens.n_documents
            more = self._tokens(np.concatenate([rows, np.arange(n - self.unlabeled, n)]))
            graph = calls.build_graph(builder, more, groups)
        if not graph.similar.nnz and graph.dissimilar is None:
            warnings.warn(
                f"{builder.label()} finds no link between features, so "
                f"{self.settings.reg.label()} cannot use its graph. Allow less frequent or more "
                "distant neighbors, or add unlabeled documents.",
                DataWarning,
                stacklevel=3,
            )
        return graph

    def problems(self, rows: NDArray[np.intp], tol: float) -> Problems:
        """The fits of some documents, of all weight vectors."""
        problem = self.problem(rows, tol)
        return Problems(problem, self.task, self.y[rows], row_factors=self.row_factors)

    def fold(self, split: Split) -> Fold:
        """A split made ready for the search, with a matrix of its own."""
        part = self.problems(split.train, max(self.settings.tol, SEARCH_TOL))
        return self._fold(part.problem, part.y, split.held)

    def _fold(
        self, problem: Problem, y: Targets, held: NDArray[np.intp], *, within: Bools | None = None
    ) -> Fold:
        """A fit, with the documents that it is measured on."""
        ends = np.cumsum([0, *(len(part.names) for part in self.encoder.parts)]).tolist()
        shifts = self.settings.intercept != "fitted" and self.fit_intercept and len(self.y) <= FEW
        return Fold(
            problem=problem,
            task=self.task,
            y=y,
            X_held=self.rows.matrix(held),
            y_held=self.y[held],
            weights_held=self.counts(held),
            row_factors=self.row_factors,
            shift_weights=self.row_weights(held) if shifts else None,
            # The columns of every tokenizer whose rows are scaled to length 1: they follow each
            # other.
            normed=tuple(
                (start, end)
                for part, start, end in zip(self.encoder.parts, ends, ends[1:], strict=False)
                if part.weighting.norm == "features"
            ),
            within=within,
        )

    @property
    def folds(self) -> list[Fold]:
        """Made when they are first asked for: their matrices are as large as all documents."""
        return self.timed_folds[0]

    @cached_property
    def timed_folds(self) -> tuple[list[Fold], float]:
        """The folds, and how long one took to prepare, with its groups and graph."""
        began = time.perf_counter()
        if self.shares_matrix:
            rows = np.flatnonzero(self.task.known(self.y))
            folds = [self.without(self.whole, rows, split) for split in self.splits]
        else:
            folds = [self.fold(split) for split in self.splits]
        return folds, (time.perf_counter() - began) / max(1, len(folds))

    @property
    def shares_matrix(self) -> bool:
        """Whether folds are of the matrix of all documents, where others have the weight 0.

        A single one is if that matrix comes next: it takes longer to make than one weight vector
        to fit, and many take longer with documents that do not count. It has no groups or links of
        documents that are held out, as a model of new ones has none of theirs.
        """
        if len(self.splits) != 1:
            return True
        settings, most = self.settings, 2 * len(self.splits[0].train) > self.rows.shape[0]
        built = (settings.groups is not None and self.groups is None) or settings.graph is not None
        return settings.refit and most and self.task.n_rows == 1 and not built

    @cached_property
    def whole(self) -> Problems:
        """The fits of all documents that have a label."""
        return self.problems(np.flatnonzero(self.task.known(self.y)), self.settings.tol)

    def without(self, problems: Problems, rows: NDArray[np.intp], split: Split) -> Fold:
        """The fit of those of some documents, ``rows``, that a split has to fit on.

        The weight of all others in it is 0, so that no matrix is made for it. Groups and links from
        the documents stay those of all.
        """
        problem = problems.problem
        weights = np.where(np.isin(rows, split.train), problem.sample_weight, 0.0)
        tol = max(self.settings.tol, SEARCH_TOL)
        weighted = problem.replace(sample_weight=weights, tol=tol)
        within = np.isin(split.held, rows)
        return self._fold(weighted, problems.y, split.held, within=within)

    def counts(self, rows: NDArray[np.intp]) -> Floats | None:
        """How much documents count where they are measured: by their own weights.

        None if all of the documents have the same, or these have none at all.
        """
        weights, same = self.own_weight[rows], self.own_weight.min() == self.own_weight.max()
        return None if same or not weights.any() else weights

    def row_weights(self, rows: NDArray[np.intp]) -> Floats:
        """(n, k) how much documents count in the fit of each weight vector."""
        weights, positive = self.sample_weight[rows][:, None], self.task.rows(self.y[rows]).T > 0
        if self.row_factors is None:
            return np.broadcast_to(weights, positive.shape)
        return weights * np.where(positive, self.row_factors[:, 1], self.row_factors[:, 0])

    def _tokens(self, rows: NDArray[np.intp]) -> Tokens:
        """The tokens of some documents."""
        whole = len(rows) == self.tokens.n_documents
        return self.tokens if whole else self.tokens.select(rows)


def with_targets(
    features: Features, target: Target, weights: Floats, settings: TrainingSettings, **more: Any
) -> Prepared:
    """Documents with their own weights (n,); of ``dev`` in the settings, those follow.

    more: further fields of what is returned. Raises DataError for wrong weights or labels.
    """
    task, y = target
    factors = task.factors(y, weights, settings.class_weight)
    row_factors = task.row_factors(y, weights, settings.class_weight)
    if settings.dev is not None:
        y = np.concatenate([y, task.dev_targets(settings.dev)])
        weights = np.concatenate([weights, own_weights(settings.dev)])
    known = task.known(y)
    # Documents that are only measured keep their own weight.
    of_document = np.ones(len(known))
    if (factors != 1.0).any():  # of many labels strata copy all targets
        of_document[known] = factors[task.strata(y[known])[0]]
    return Prepared(
        rows=features.rows,
        tokens=features.tokens,
        encoder=features.encoder,
        graphs=features.graphs,
        task=task,
        y=y,
        sample_weight=weights * of_document,
        own_weight=weights,
        settings=settings,
        row_factors=row_factors,
        **more,
    )


def no_tokens(n: int, encoder: AnyEncoder) -> Tokens:
    """Those of n documents that have none, or whose tokens are not known."""
    ptr = np.zeros(n + 1, dtype=np.int64)
    return Tokens(ptr[:0].astype(np.int32), ptr[:1], ptr, encoder.parts[0].vocabulary)


CUT_ALREADY = (
    "the documents are lists of tokens, so there is nothing to tokenize: leave out tokenizer."
)


def for_documents(settings: TrainingSettings, corpus: Corpus) -> TrainingSettings:
    """The settings with a weighting and a tokenizer decided, or none for lists of tokens.

    Raises UsageError where a tokenizer is named for these, DataError where only some of the
    documents are lists.
    """
    for name in ("dev", "unlabeled"):
        more = getattr(settings, name)
        if more is not None and len(more) and more.tokenized != corpus.tokenized:
            raise DataError(
                f"the {name} documents and those to train on must all be texts, or all be lists of "
                "tokens."
            )
    if corpus.tokenized:
        if settings.tokenizer not in (tokenizer_of(AUTO_TOKENIZER), Pretokenized()):
            raise UsageError(CUT_ALREADY)
        settings = settings.replace(tokenizer=Pretokenized())
    labels = 1 if settings.task == Regression.name else len(corpus.label_names())
    return settings.for_texts(corpus.texts, labels)


def make_features(corpus: Corpus, settings: TrainingSettings) -> Features:
    """Features of all the documents that the settings ask for; DataError if none is left.

    Depends on vectorizer, tokenizer, ``dev``, ``refit`` and ``unlabeled`` alone, so trainings that
    have these in common can share them.
    """
    texts: Sequence[Any] = corpus.texts
    if settings.dev is not None and settings.refit:
        texts = [*texts, *settings.dev.texts]
    if settings.unlabeled is not None and not settings.leans_on_vectors:
        texts = [*texts, *settings.unlabeled.texts]
    if settings.fields is not None:
        tokenizer, vectorizer = settings.any_tokenizer, settings.vectorizer
        return fit_fields(plan_fields(settings.fields, tokenizer, vectorizer), texts)
    return settings.vectorizer.fit(settings.any_tokenizer, texts)


def prepare(
    corpus: Corpus, target: Target, settings: TrainingSettings, features: Features | None = None
) -> Prepared:
    """Documents as numbers; ``features`` are those of :func:`make_features`, where they are known.

    Raises DataError for wrong weights or labels, and when no feature is left.
    """
    from scipy.sparse import vstack

    dev, weights = settings.dev, own_weights(corpus)
    if features is None:
        features = make_features(corpus, settings)
    leans = settings.leans_on_vectors
    unlabeled = 0 if settings.unlabeled is None or leans else len(settings.unlabeled)
    rows = features.rows
    if unlabeled:
        # Unlabeled documents come last, and have no rows of their own.
        rows = MatrixRows(features.X[: features.X.shape[0] - unlabeled])
    if dev is not None and not settings.refit:
        # Without refit the features come from the corpus alone; dev meets them as new documents do.
        held = features.encoder.transform(dev.texts)
        rows = MatrixRows(vstack([rows.matrix(), held], format="csr"))
    prior: priors.Vectors | priors.Marks | None = None
    documents, words = priors.marked_documents(corpus), settings.evidence_words
    if documents or words is not None:
        priors.check_marks(settings)
        rho = priors.log_odds_of(features.encoder, corpus) if documents else np.zeros(rows.shape[1])
        if words is not None:
            rho += priors.log_odds_of_words(features.encoder, words)
        prior = priors.Marks(rho, documents)
    if leans:
        texts = [*corpus.texts, *(() if dev is None else dev.texts)]
        n = features.tokens.n_documents
        prior = priors.Vectors.of(settings, features.encoder, corpus.texts, texts, n)
    features = replace(features, rows=rows)
    return with_targets(features, target, weights, settings, unlabeled=unlabeled, prior=prior)


def own_weights(corpus: Corpus) -> Floats:
    """The documents' own weights; 1 where there are none."""
    if corpus.sample_weight is None:
        return np.ones(len(corpus))
    if not corpus.sample_weight.any():
        raise DataError(
            "every document has the weight 0, so there is nothing to learn from: give some a "
            "weight above zero, or leave the weights out."
        )
    return corpus.sample_weight


@dataclass(frozen=True, eq=False)
class SplitDocuments:
    """Documents with their targets and their splits: what a search fits and measures.

    settings: of the training. prepare: gives the documents as numbers, from these settings or
    others. rare: the labels that were left out or joined, and their numbers of documents. outside:
    those of the unknown label, if there are some. by: what the splits follow: see :func:`split_by`.
    texts: those of the corpus and of ``dev``, if there are any. features: those made last, by
    tokenizer and vectorizer; whoever drops them has them made again.
    """

    target: Target
    splits: Sequence[Split]
    settings: TrainingSettings
    prepare: Callable[[TrainingSettings], Prepared]
    rare: Mapping[str, int] = field(default_factory=dict)
    outside: Corpus | None = None
    by: str | None = None
    texts: Sequence[Documents] = ()
    features: dict[Any, Features] = field(default_factory=dict)


def split_corpus(training: Training, features: Features | None = None) -> SplitDocuments:
    """Texts, whose features are made once for every setting of tokenizer and vectorizer.

    features: those of the settings as they are, where they are known. Raises errors as
    :func:`textreg.training.splits.splits_of`.
    """
    corpus, settings, target = training.corpus, training.settings, training.target
    splits = splits_of(corpus, target, settings)
    known: dict[Any, Features] = {}
    if features is not None:
        known[settings.tokenizer, settings.vectorizer] = features

    def prepare_corpus(settings: TrainingSettings) -> Prepared:
        key = settings.tokenizer, settings.vectorizer
        if key not in known:
            known.clear()
            known[key] = make_features(corpus, settings)
        return prepare(corpus, target, settings, known[key])

    dev, outside = settings.dev, training.weighed(splits)
    texts = [it.texts for it in (corpus, dev) if it is not None]
    more = training.rare, outside, split_by(corpus), texts, known
    return SplitDocuments(target, splits, settings, prepare_corpus, *more)


def left_out_splits(data: Prepared, documents: SplitDocuments) -> list[Split]:
    """Splits that leave out each document once, where documents are few; else those of the search.

    These stay where they do so themselves, where they have their own rules (groups, times, the
    unknown label), and where the fit of the search is the model.
    """
    settings, rows = data.settings, np.flatnonzero(data.task.known(data.y))
    ruled = documents.by is not None or documents.outside is not None or not settings.refit
    if len(data.splits) != 1 or ruled or not 1 < len(rows) <= FEW:
        return list(data.splits)
    texts = itertools.chain.from_iterable(documents.texts or [range(len(data.y))])
    return left_out_of(texts, data.task, data.y, settings.seed)
