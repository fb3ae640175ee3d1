"""Groups of words that are used alike: k-means of their vectors, and Brown's clustering."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textreg.errors import DataError, UsageError
from textreg.files import numbered_lines
from textreg.params import param
from textreg.records import Tokens
from textreg.structure.grouping import WordGroupBuilder
from textreg.text import count, word_vectors
from textreg_embeddings.vectors import Floats, read_vectors

# Clusters whose distances to all words are held at once.
BLOCK = 1000

# Held by the one fit of this process: the number of BLAS threads belongs to all its threads.
_TURN = Lock()


class Clusters(WordGroupBuilder):
    """Clusters of word vectors by k-means, each with the words outside that are nearest to it.

    The vectors come from a file of word2vec or GloVe, or else from the training text: a truncated
    singular value decomposition of positive pointwise mutual information (Levy, Goldberg & Dagan
    2015). They are scaled to length 1. The outside words make the groups overlap, as Skianis et al.
    (2018, section 4) have it. A word without a vector is in no group.
    """

    name = "clusters"
    order_matters = True  # numbers are drawn in it
    vectors: str | None = param(
        default=None, help="file of word vectors; none: made from the training text"
    )
    clusters: int = param(default=200, min=1, max=2000, help="number of clusters")
    nearest: int = param(default=5, min=0, help="nearest outside words that each cluster gets")
    min_df: int = param(default=3, min=1, help="fewest documents of a word that is clustered")
    dimensions: int = param(default=50, min=1, help="length of vectors made from the text")
    window: int = param(default=5, min=2, help="words within which such vectors see a pair")
    iterations: int = param(default=30, min=1, help="most rounds of k-means")
    seed: int = param(default=0, min=0, help="seed of k-means; the same gives the same")

    def sets(self, tokens: Tokens) -> Mapping[str, Collection[str]]:
        """The words of every cluster; DataError where there are fewer words than clusters."""
        # One thread: with several, sums come in another order and words at a border may change.
        with _TURN, threadpool_limits(limits=1):
            words, vectors = self._vectors(tokens)
        if self.clusters >= len(words):
            raise DataError(
                f"clusters: {self.clusters:,} clusters are too many for {len(words):,} words that "
                f"are in {self.min_df} documents or more and have a vector. Lower "
                "--groups-clusters or --groups-min-df."
            )
        labels, centers = self._k_means(vectors)
        outside = self._outside(vectors, labels, centers)
        sets = {}
        for cluster in range(self.clusters):
            inside = np.flatnonzero(labels == cluster)
            middle = inside[np.argsort(-vectors[inside] @ centers[cluster], kind="stable")]
            names = [words[place] for place in [*middle, *outside[cluster]]]
            sets[f"cluster {cluster + 1} ({', '.join(names[:3])})"] = names
        return sets

    def _vectors(self, tokens: Tokens) -> tuple[list[str], Floats]:
        """Words and their vectors of length 1."""
        counts = count(tokens)
        kept = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= self.min_df)
        words = [tokens.vocabulary[feature] for feature in kept.tolist()]
        if len(kept) < 2:
            raise DataError(
                f"clusters: fewer than two words are in {self.min_df} documents or more. Lower "
                "--groups-min-df."
            )
        if self.vectors is not None:
            of_texts, example = set(words), words[len(words) // 2]
            words, vectors = read_vectors(self.vectors, lambda _, word: word in of_texts)
            if not words:
                raise DataError(
                    f"{self.vectors}: it has no vector for any word of the training texts, such as "
                    f"'{example}'. Check that it has words of their language, written as they are."
                )
        else:
            vectors = word_vectors(tokens, kept, self.window, self.dimensions, self.seed)
        lengths = np.linalg.norm(vectors, axis=1)
        nonzero = lengths > 0  # a word that stands alone wherever it stands has none
        return [word for word, keep in zip(words, nonzero, strict=True) if keep], (
            vectors[nonzero] / lengths[nonzero, None]
        )

    def _k_means(self, vectors: Floats) -> tuple[NDArray[np.int32], Floats]:
        """The cluster of every word, and the centers."""
        from sklearn.cluster import KMeans

        model = KMeans(self.clusters, n_init=1, max_iter=self.iterations, random_state=self.seed)
        with _TURN, threadpool_limits(limits=1):  # after the import, for OpenMP comes with it
            model.fit(vectors)
        return model.labels_, model.cluster_centers_

    def _outside(
        self, vectors: Floats, labels: NDArray[np.int32], centers: Floats
    ) -> NDArray[np.intp]:
        """The words nearest to every center that are in other clusters, (clusters, nearest)."""
        count = min(self.nearest, len(vectors) - 1)
        nearest = []
        for first in range(0, len(centers), BLOCK):
            block = centers[first : first + BLOCK]
            # All vectors have length 1, so the nearest one has the largest product.
            closeness = block @ vectors.T
            members = labels == np.arange(first, first + len(block))[:, None]
            closeness[members] = -np.inf
            nearest.append(np.argsort(-closeness, axis=1, kind="stable")[:, :count])
        return np.vstack(nearest)


class Brown(WordGroupBuilder):
    """Words whose paths in the tree of Brown et al. (1992) begin alike.

    The file has a path of zeros and ones, a word and a count on every line, with tabs between them,
    as wcluster writes it. Every length in ``prefixes`` gives one group for each prefix of that
    length; a shorter path is a prefix of its own. Groups of several lengths lie in one another.
    Turian et al. (2010, section 3) use the lengths 4, 6, 10 and 20.
    """

    name = "brown"
    path: str | None = param(default=None, help="the file of paths, words and counts")
    prefixes: str = param(
        default="4,6,10,20", help="lengths of the prefixes, with commas between them"
    )
    least: int = param(default=1, min=1, help="fewest times that a word was counted in the file")

    def sets(self, tokens: Tokens) -> Mapping[str, Collection[str]]:
        """The words of the training text by prefix; DataError names a bad line."""
        if self.path is None:
            raise UsageError("brown: name the file of clusters with --groups-path FILE.")
        lengths = self._lengths()
        known = set(tokens.vocabulary)
        sets: dict[str, list[str]] = {}
        for number, line in numbered_lines(self.path):
            bits, word, count = _fields(line, f"{self.path}:{number}")
            if word in known and count >= self.least:
                for prefix in dict.fromkeys(bits[:length] for length in lengths):
                    sets.setdefault(prefix, []).append(word)
        if not sets:
            example = f", which have '{tokens.vocabulary[len(known) // 2]}'" if known else ""
            raise DataError(
                f"{self.path}: none of its words that were counted {self.least} times or more is "
                f"in the training texts{example}. Check that they are written as the tokenizer "
                "gives them, or lower --groups-least."
            )
        return {
            f"{prefix} ({', '.join(words[:3])})": words for prefix, words in sorted(sets.items())
        }

    def _lengths(self) -> list[int]:
        try:
            lengths = [int(part) for part in self.prefixes.split(",")]
        except ValueError:
            lengths = []
        if not lengths or min(lengths) < 1:
            raise UsageError(
                "brown: prefixes must be whole numbers from 1 up with commas between them, such as "
                f"4,6,10, not '{self.prefixes}'."
            )
        return lengths


def _fields(line: str, where: str) -> tuple[str, str, int]:
    """Path, word and count of a line."""
    fields = line.split("\t")
    if len(fields) != 3 or not fields[0] or fields[0].strip("01") or not fields[2].isdecimal():
        raise DataError(
            f"{where}: {line!r:.60} is no path of zeros and ones, word and count with tabs between "
            "them. Correct the line, or take it out."
        )
    return fields[0], fields[1], int(fields[2])
