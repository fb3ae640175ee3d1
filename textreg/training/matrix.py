"""A matrix to train on: the numbers of documents that are features already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from textreg.features.encoder import Encoder
from textreg.features.rows import MatrixRows
from textreg.features.vectorize import Vectorizer
from textreg.records import Tokens
from textreg.structure.callables import Pretokenized
from textreg.training.prepare import Prepared, factor_of, no_tokens
from textreg.training.search.documents import SplitDocuments

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.features.vectorize import Features
    from textreg.records import Floats
    from textreg.training.settings import TrainingSettings


@dataclass(frozen=True, eq=False)
class SplitMatrix(SplitDocuments):
    """A matrix of documents by features, with its targets and its splits.

    X: (n, p). names: those of its p columns. sample_weight: (n,). tokens: of the features, for
    builders of groups and graphs; None if there are no texts.
    """

    X: csr_array = field(kw_only=True)
    names: Sequence[str] = field(kw_only=True)
    sample_weight: Floats = field(kw_only=True)
    tokens: Tokens | None = field(default=None, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)

    def prepare(self, settings: TrainingSettings, made: dict[Any, Features]) -> Prepared:
        """The matrix as it is; nothing of its features can be searched."""
        task, y = self.target
        weights = self.sample_weight
        factors = task.factors(y, weights, settings.class_weight)
        return Prepared(
            encoder=Encoder(Pretokenized(), Vectorizer(ngrams=1, weighting="count"), self.names),
            tokens=no_tokens(len(y), self.names) if self.tokens is None else self.tokens,
            rows=MatrixRows(self.X),
            task=task,
            y=y,
            sample_weight=weights * factor_of(task, y, factors),
            own_weight=weights,
            settings=settings,
            row_factors=task.row_factors(y, weights, settings.class_weight),
            fit_intercept=self.fit_intercept,
        )
