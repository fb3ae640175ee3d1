"""Documents as numbers under every setting of the features that a search tries."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from textreg.features.vectorize import Features
from textreg.records import Corpus
from textreg.tasks import Target
from textreg.training.posing import Aside
from textreg.training.prepare import Prepared, make_features, prepare
from textreg.training.search.splits import Split
from textreg.training.search.trials import Fold
from textreg.training.settings import TrainingSettings

MAX_CACHED = 4
"""Settings of features, groups and graph whose documents stay in memory, 2 or more."""

FeatureValues = tuple[Any, ...]
"""A value for each searched dimension but the hyperparameters of the regularizer."""


@dataclass(frozen=True, eq=False)
class SplitCorpus:
    """A corpus with its targets and its splits.

    rare: the labels that were left out or joined, and their numbers of documents. aside: documents
    of the unknown label, if there are some.
    """

    corpus: Corpus
    target: Target
    splits: Sequence[Split]
    rare: Mapping[str, int] = field(default_factory=dict)
    aside: Aside | None = None


class PreparedFolds(NamedTuple):
    """Documents under one setting of the features, whole and as folds.

    seconds: how long a fold took to prepare, with its groups and graph.
    """

    data: Prepared
    folds: list[Fold]
    seconds: float


class DocumentCache:
    """Prepares documents for the settings of a search, and keeps those used last and the best.

    Features are made once for every setting of tokenizer and vectorizer, groups and graphs once for
    every setting of theirs.

    Attributes
    ----------
    best : tuple, optional
        Values whose documents are not dropped before others are the best.
    """

    def __init__(
        self, documents: SplitCorpus, settings: TrainingSettings, features: Features | None = None
    ) -> None:
        self.best: FeatureValues | None = None
        self._documents = documents
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

    def clear(self) -> None:
        """Drop everything; it is prepared again if it is asked for."""
        self._prepared.clear()
        self._features.clear()

    def _prepare(self, settings: TrainingSettings) -> PreparedFolds:
        corpus, target = self._documents.corpus, self._documents.target
        key = settings.tokenizer, settings.vectorizer
        if key not in self._features:
            self._features = {key: make_features(corpus, settings)}
        data = prepare(corpus, target, settings, self._features[key])
        began = time.perf_counter()
        folds = [data.fold(split) for split in self._documents.splits]
        return PreparedFolds(data, folds, (time.perf_counter() - began) / max(1, len(folds)))
