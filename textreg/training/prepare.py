"""Documents as numbers: features, weights, and the problems of every split."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError
from textreg.features.rows import DocumentRows, MatrixRows
from textreg.plugins import calls
from textreg.plugins.registry import ours
from textreg.records import Corpus, Problem, Tokens
from textreg.structure.callables import Pretokenized
from textreg.tasks import Target, Task
from textreg.training.auto import AUTO_TOKENIZER, tokenizer_of
from textreg.training.fields import make_field_features
from textreg.training.search.splits import Split
from textreg.training.search.trials import Fold, Problems
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.joined import AnyEncoder
    from textreg.features.vectorize import Features, Graphs
    from textreg.kinds import GraphBuilder
    from textreg.records import Floats, Graph, Groups
    from textreg.tasks.base import Targets

SEARCH_TOL = 3e-3
"""Relative duality gap of the fits that are only compared with each other."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """All documents as numbers, those of ``dev`` after those of the corpus.

    tokens: of the features of the first tokenizer, the first columns: groups and links are of them
    alone. rows: of the documents, by features. graphs: as of :class:`Features`.
    task, y: what is learned, and its targets. row_factors: those of the task. unlabeled: number of
    documents at the end of ``tokens`` that are nowhere else.
    """

    encoder: AnyEncoder
    tokens: Tokens
    rows: DocumentRows
    task: Task
    y: Targets
    sample_weight: Floats
    own_weight: Floats
    settings: TrainingSettings
    row_factors: Floats | None = None
    unlabeled: int = 0
    fit_intercept: bool = True
    graphs: Graphs | None = None

    @cached_property
    def X(self) -> csr_array:
        """The matrix of all documents, which no fit needs."""
        return self.rows.matrix()

    def problem(self, rows: NDArray[np.intp], tol: float) -> Problem:
        """The fit of some documents, with the ``y`` of the first weight vector."""
        settings = self.settings
        tokens = self._tokens(rows)
        groups = None if settings.groups is None else calls.build_groups(settings.groups, tokens)
        graph = None if settings.graph is None else self._graph(settings.graph, rows, groups)
        del tokens
        columns = self.rows.shape[1]
        if groups is not None:
            groups = groups.widened(columns)
            _ = groups.merged  # made once, here: all weight vectors and threads share it
            groups = groups.compact() if ours(settings.reg) else groups
        problem = Problem(
            X=self.rows.design(None if len(rows) == self.rows.shape[0] else rows),
            y=self.task.rows(self.y[rows])[0],
            sample_weight=self.sample_weight[rows],
            loss=calls.guarded(settings.loss),
            groups=groups,
            graph=None if graph is None else graph.widened(columns),
            tol=tol,
            max_iter=settings.max_iter,
            fit_intercept=self.fit_intercept,
        )
        _ = problem.X_csc  # likewise
        return problem

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
        """A split made ready for the search."""
        part = self.problems(split.train, max(self.settings.tol, SEARCH_TOL))
        return Fold(
            problem=part.problem,
            task=self.task,
            y=part.y,
            X_held=self.rows.matrix(split.held),
            y_held=self.y[split.held],
            weights_held=self.counts(split.held),
            row_factors=self.row_factors,
            normed=self._normed(),
        )

    def _normed(self) -> tuple[tuple[int, int], ...]:
        """The columns of every tokenizer whose rows are scaled to length 1."""
        ends = np.cumsum([0, *(len(part.names) for part in self.encoder.parts)]).tolist()
        return tuple(
            (start, end)
            for part, start, end in zip(self.encoder.parts, ends, ends[1:], strict=False)
            if part.weighting.norm == "features"
        )

    def counts(self, rows: NDArray[np.intp]) -> Floats | None:
        """How much documents count where they are measured: by their own weights.

        None if all of the documents have the same, or these have none at all.
        """
        weights, same = self.own_weight[rows], self.own_weight.min() == self.own_weight.max()
        return None if same or not weights.any() else weights

    def _tokens(self, rows: NDArray[np.intp]) -> Tokens:
        """The tokens of some documents."""
        whole = len(rows) == self.tokens.n_documents
        return self.tokens if whole else self.tokens.select(rows)


CUT_ALREADY = (
    "the documents are lists of tokens, so there is nothing to tokenize: leave out tokenizer."
)


def for_documents(settings: TrainingSettings, corpus: Corpus) -> TrainingSettings:
    """The settings with a tokenizer decided, or none where documents are lists of tokens.

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
    if not corpus.tokenized:
        return settings.for_texts(corpus.texts)
    if settings.tokenizer not in (tokenizer_of(AUTO_TOKENIZER), Pretokenized()):
        raise UsageError(CUT_ALREADY)
    return settings.replace(tokenizer=Pretokenized())


def make_features(corpus: Corpus, settings: TrainingSettings) -> Features:
    """Features of all the documents that the settings ask for; DataError if none is left.

    Depends on vectorizer, tokenizer, ``dev``, ``refit`` and ``unlabeled`` alone, so trainings that
    have these in common can share them.
    """
    texts: Sequence[Any] = corpus.texts
    if settings.dev is not None and settings.refit:
        texts = [*texts, *settings.dev.texts]
    if settings.unlabeled is not None:
        texts = [*texts, *settings.unlabeled.texts]
    if settings.fields is not None:
        tokenizer, vectorizer = settings.any_tokenizer, settings.vectorizer
        return make_field_features(settings.fields, tokenizer, vectorizer, texts)
    return settings.vectorizer.fit(settings.any_tokenizer, texts)


def prepare(
    corpus: Corpus, target: Target, settings: TrainingSettings, features: Features | None = None
) -> Prepared:
    """Documents as numbers; ``features`` are those of :func:`make_features`, where they are known.

    Raises DataError for wrong weights or labels, and when no feature is left.
    """
    from scipy.sparse import vstack

    dev = settings.dev
    weights = own_weights(corpus)
    task, y = target
    factors = task.factors(y, weights, settings.class_weight)
    row_factors = task.row_factors(y, weights, settings.class_weight)
    if dev is not None:
        y = np.concatenate([y, task.dev_targets(dev)])
        weights = np.concatenate([weights, own_weights(dev)])
    if features is None:
        features = make_features(corpus, settings)
    unlabeled = 0 if settings.unlabeled is None else len(settings.unlabeled)
    rows = features.rows
    if unlabeled:
        rows = MatrixRows(features.X[: features.X.shape[0] - unlabeled])
    if dev is not None and not settings.refit:
        held = features.encoder.transform(dev.texts)
        rows = MatrixRows(vstack([rows.matrix(), held], format="csr"))
    return Prepared(
        encoder=features.encoder,
        tokens=features.tokens,
        rows=rows,
        task=task,
        y=y,
        sample_weight=weights * factor_of(task, y, factors),
        own_weight=weights,
        settings=settings,
        row_factors=row_factors,
        unlabeled=unlabeled,
        graphs=features.graphs,
    )


def factor_of(task: Task, y: Targets, factors: Floats) -> Floats:
    """(n,) the factor of every document; 1 for those that are only measured."""
    known = task.known(y)
    own = np.ones(len(known))
    own[known] = factors[task.strata(y[known])[0]]
    return own


def no_tokens(n: int, names: Sequence[str]) -> Tokens:
    """Those of n documents, none of which has any; ``names`` are of the features."""
    ptr = np.zeros(n + 1, dtype=np.int64)
    return Tokens(np.zeros(0, dtype=np.int32), ptr[:1], ptr, names)


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
