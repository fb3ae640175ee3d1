"""Documents as numbers under every setting of the features that a search tries."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from textreg.features.vectorize import Features
from textreg.records import Corpus
from textreg.tasks import Target
from textreg.training.posing import Aside
from textreg.training.prepare import Prepared, make_features, prepare
from textreg.training.search.splits import Split
from textreg.training.search.splitting import split_by
from textreg.training.search.trials import Fold
from textreg.training.settings import TrainingSettings

MAX_CACHED = 4
"""Settings of features, groups and graph whose documents stay in memory, 2 or more."""

FeatureValues = tuple[Any, ...]
"""A value for each searched dimension but the hyperparameters of the regularizer."""


@dataclass(frozen=True, eq=False)
class SplitDocuments(ABC):
    """Documents with their targets and their splits: what a search fits and measures.

    rare: the labels that were left out or joined, and their numbers of documents. aside: documents
    of the unknown label, if there are some. by: what the splits follow, as of :func:`split_by`.
    """

    target: Target
    splits: Sequence[Split]
    rare: Mapping[str, int] = field(default_factory=dict)
    aside: Aside | None = None

    @property
    def by(self) -> str | None:
        return None

    @abstractmethod
    def prepare(self, settings: TrainingSettings, made: dict[Any, Features]) -> Prepared:
        """The documents as numbers; ``made`` holds the features made last, if there are any."""


@dataclass(frozen=True, eq=False)
class SplitCorpus(SplitDocuments):
    """Texts, whose features are made once for every setting of tokenizer and vectorizer.

    keep: whether texts are needed again; else each is empty once there are features.
    """

    corpus: Corpus = field(kw_only=True)
    keep: bool = field(default=True, kw_only=True)

    @property
    def by(self) -> str | None:
        return split_by(self.corpus)

    def prepare(self, settings: TrainingSettings, made: dict[Any, Features]) -> Prepared:
        key = settings.tokenizer, settings.vectorizer
        if key not in made:
            made.clear()
            made[key] = make_features(self.corpus, settings)
            if not self.keep and isinstance(texts := self.corpus.texts, list):
                texts[:] = [""] * len(texts)
        return prepare(self.corpus, self.target, settings, made[key])


class PreparedFolds:
    """Documents under one setting of the features, whole and as folds.

    Attributes
    ----------
    data : Prepared
    seconds : float
        How long a fold took to prepare, with its groups and graph; 0 before.
    """

    def __init__(self, data: Prepared, splits: Sequence[Split]) -> None:
        self.data, self.seconds = data, 0.0
        self._splits = splits

    @cached_property
    def folds(self) -> list[Fold]:
        """Made when they are first asked for: their matrices are as large as all documents."""
        began = time.perf_counter()
        folds = [self.data.fold(split) for split in self._splits]
        self.seconds = (time.perf_counter() - began) / max(1, len(folds))
        return folds

    def whole(self) -> tuple[Prepared, list[Fold]]:
        """The documents, and the folds."""
        return self.data, self.folds


class DocumentCache:
    """Prepares documents for the settings of a search, and keeps those used last and the best.

    Groups and graphs are made once for every setting of theirs.

    Attributes
    ----------
    best : tuple, optional
        Values whose documents are not dropped before others are the best.
    """

    def __init__(
        self,
        documents: SplitDocuments,
        settings: TrainingSettings,
        features: Features | None = None,
    ) -> None:
        self.best: FeatureValues | None = None
        self._documents, self._settings = documents, settings
        # The features made last, or those given, which are of the settings as they are.
        self._features: dict[Any, Features] = {}
        if features is not None:
            self._features[settings.tokenizer, settings.vectorizer] = features
        self._prepared: OrderedDict[FeatureValues, PreparedFolds] = OrderedDict()

    def get(self, values: FeatureValues, settings: TrainingSettings) -> PreparedFolds:
        """Documents under ``settings``, which are those with ``values``."""
        if values not in self._prepared:
            self._prepared[values] = self._prepare(settings)
        self._prepared.move_to_end(values)
        while len(self._prepared) > MAX_CACHED:
            oldest = next(key for key in self._prepared if key not in (values, self.best))
            del self._prepared[oldest]
        return self._prepared[values]

    def with_splits(self, documents: SplitDocuments) -> DocumentCache:
        """The same documents with other splits; features made for one are there for both."""
        other = DocumentCache(documents, self._settings)
        other._features = self._features
        return other

    def drop_folds(self) -> None:
        """Drop everything but the features."""
        self._prepared.clear()

    def clear(self) -> None:
        """Drop everything; it is prepared again if it is asked for."""
        self.drop_folds()
        self._features.clear()

    def _prepare(self, settings: TrainingSettings) -> PreparedFolds:
        data = self._documents.prepare(settings, self._features)
        return PreparedFolds(data, self._documents.splits)
