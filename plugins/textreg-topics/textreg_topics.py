"""Groups of features from topic models of the training text: ``lda`` and ``lsi``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textreg.errors import DataError
from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Tokens
from textreg.structure.grouping import WordGroupBuilder
from textreg.text import count

# Held by the one fit of this process: the number of BLAS threads belongs to all threads, and so do
# the filters of warnings, which scikit-learn empties for a moment in every parallel call.
_TURN = Lock()


class TopicBuilder(WordGroupBuilder):
    """Groups of the strongest words of every topic; write :meth:`strengths`.

    The topic model sees single words that are neither rare nor everywhere; the group of a topic has
    its strongest words, and n-grams as ``ngrams`` says.
    """

    order_matters = True  # numbers are drawn in it
    topics: int = param(default=50, min=1, help="number of topics")
    words: int = param(default=20, min=1, help="words of each topic that form its group")
    min_df: int = param(default=5, min=1, help="fewest documents of a word in the topic model")
    max_df: float = param(
        default=0.2, min=0, max=1, help="most documents of a word there, as a fraction of all"
    )
    seed: int = param(default=0, min=0, help="seed of the topic model; the same gives the same")

    @abstractmethod
    def strengths(self, counts: Any) -> NDArray[np.float64]:
        """How strong every word is in every topic, (topics, words).

        counts: CSR (documents, words).
        """

    def sets(self, tokens: Tokens) -> Mapping[str, Collection[str]]:
        """The strongest words of every topic; DataError where too few are left for a model."""
        counts = count(tokens)
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        selected = np.flatnonzero(
            (frequencies >= self.min_df) & (frequencies <= self.max_df * tokens.n_documents)
        )
        if not len(selected):
            raise DataError(
                f"{self.name}: no word is in at least {self.min_df} documents and in at most "
                f"{100 * self.max_df:g} % of {tokens.n_documents:,}. Lower --groups-min-df, or "
                "raise --groups-max-df."
            )
        import sklearn.decomposition  # noqa: F401  # with its BLAS, which the limit is for, too

        # One thread: with several, sums come in another order and a word at the end may change.
        with _TURN, threadpool_limits(limits=1):
            strengths = self.strengths(counts[:, selected])
        # A stable sort: of words as strong as each other, the first by name.
        best = np.argsort(-strengths, axis=1, kind="stable")[:, : self.words]
        sets = {}
        for topic, columns in enumerate(best, 1):
            strong = columns[strengths[topic - 1, columns] > 0]
            names = [tokens.vocabulary[selected[column]] for column in strong]
            sets[f"topic {topic} ({', '.join(names[:3])})"] = names
        return sets


class Lda(TopicBuilder):
    """Topics of latent Dirichlet allocation (Blei, Ng & Jordan 2003), by variational Bayes.

    A word's strength in a topic is its probability there.
    """

    name = "lda"
    iterations: int = param(default=10, min=1, help="passes over the documents")

    def strengths(self, counts: Any) -> NDArray[np.float64]:
        """Expected counts of words in topics."""
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            self.topics,
            max_iter=self.iterations,
            learning_method="batch",
            max_doc_update_iter=20,  # the default of 100 takes half as long again, and fits worse
            random_state=self.seed,
        )
        return np.asarray(model.fit(counts).components_)


class Lsi(TopicBuilder):
    """Topics of latent semantic indexing (Deerwester et al. 1990): singular vectors of tf-idf.

    A word's strength in a topic is the size of its entry, whatever the sign.
    """

    name = "lsi"

    def strengths(self, counts: Any) -> NDArray[np.float64]:
        """Absolute entries of the right singular vectors; DataError for more than there are."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer

        if self.topics >= min(counts.shape):
            raise DataError(
                f"lsi: {self.topics} topics are too many for {counts.shape[0]:,} documents with "
                f"{counts.shape[1]:,} words. Lower --groups-topics."
            )
        weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
        model = TruncatedSVD(self.topics, algorithm="arpack", random_state=self.seed)
        return np.asarray(np.abs(model.fit(weighted).components_))


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The two of them."""
    return [Lda, Lsi]
