"""Graph builders as strangers write them, and their mistakes."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import DataError
from textreg.kinds import GraphBuilder
from textreg.params import param
from textreg.records import Graph, Tokens
from textreg.text import count
from textreg_testing import check_graph_builder as check

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]

Links = dict[tuple[int, int], float]


def distance(one: str, other: str, most: int) -> int:
    """Levenshtein's distance, ``most + 1`` where it is larger."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
        if min(row) > most:
            return most + 1
    return row[-1]


class Spelling(GraphBuilder):
    """Words that are spelled alike, linked the more the fewer changes there are."""

    name = "spelling"
    changes: int = param(default=1, min=1, max=3, help="most changes from one word to the other")
    shortest: int = param(default=4, min=1, help="fewest letters of a linked word")

    def build(self, tokens: Tokens) -> Graph:
        """Links in both directions, 1 / distance."""
        return self.graph(self.links(self.words(tokens)), tokens)

    def words(self, tokens: Tokens) -> list[tuple[int, str]]:
        return [
            (feature, name)
            for feature, name in enumerate(tokens.vocabulary)
            if " " not in name and len(name) >= self.shortest
        ]

    def links(self, words: list[tuple[int, str]]) -> Links:
        found: Links = {}
        for (i, one), (j, other) in itertools.combinations(words, 2):
            away = distance(one, other, self.changes)
            if away <= self.changes:
                found[i, j] = found[j, i] = 1.0 / away
        return found

    def graph(self, links: Links, tokens: Tokens) -> Graph:
        if not links:
            raise DataError(f"spelling: no two words are {self.changes} changes apart.")
        rows, columns = np.array(list(links)).T
        p = len(tokens.vocabulary)
        return Graph(csr_array((list(links.values()), (rows, columns)), shape=(p, p)))


class Together(GraphBuilder):
    """Words that occur in the same documents, linked by the cosine."""

    name = "together"
    threshold: float = param(default=0.3, min=0, max=1, help="links have a cosine above this")
    min_df: int = param(default=2, min=1, help="fewest documents with a linked word")

    def build(self, tokens: Tokens) -> Graph:
        """Links in both directions."""
        return Graph(self.links(self.counts(tokens)))

    def counts(self, tokens: Tokens) -> csr_array:
        return count(tokens)

    def links(self, counts: csr_array) -> csr_array:
        present = (counts > 0).astype(float)
        frequency = np.asarray(present.sum(axis=0)).ravel()
        both = (present.T @ present).tocoo()
        cosines = both.data / np.sqrt(frequency[both.row] * frequency[both.col])
        kept = (cosines > self.threshold) & (both.row != both.col)
        kept &= np.minimum(frequency[both.row], frequency[both.col]) >= self.min_df
        return csr_array(
            (cosines[kept], (both.row[kept], both.col[kept])), shape=(len(frequency),) * 2
        )


class Near(GraphBuilder):
    """Words that follow each other in a sentence, linked to the most frequent of them."""

    name = "near"
    most: int = param(default=3, min=1, help="most links from a word")

    def build(self, tokens: Tokens) -> Graph:
        """Links from a word to those after it."""
        after: dict[int, dict[int, int]] = {}
        for start, end in self.spans(tokens):
            for one, other in itertools.pairwise(tokens.ids[start:end].tolist()):
                if one != other:
                    row = after.setdefault(one, {})
                    row[other] = row.get(other, 0) + 1
        links = {}
        for one, row in after.items():
            for other, times in sorted(row.items(), key=self.order)[: self.most]:
                links[one, other] = float(times)
        if not links:
            raise DataError("near: no word follows another.")
        rows, columns = np.array(list(links)).T
        p = len(tokens.vocabulary)
        return Graph(csr_array((list(links.values()), (rows, columns)), shape=(p, p)))

    def spans(self, tokens: Tokens) -> Any:
        return itertools.pairwise(tokens.sentence_ptr.tolist())

    def order(self, item: tuple[int, int]) -> Any:
        return (-item[1], item[0])


class NanLinks(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return dict.fromkeys(super().links(words), np.nan)


class NegativeLinks(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return {pair: weight - 1.5 for pair, weight in super().links(words).items()}


class SelfLinks(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return {**super().links(words), **{(i, i): 1.0 for i, _ in words}}


class NextFeature(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        last = words[-1][0]
        moved = {(min(i + 1, last), j): it for (i, j), it in super().links(words).items()}
        return {pair: weight for pair, weight in moved.items() if pair[0] != pair[1]}


class NextColumn(Together):
    def links(self, counts: csr_array) -> csr_array:
        links = super().links(counts).tocoo()
        column = np.minimum(links.col + 1, links.shape[1] - 1)
        kept = links.row != column
        return csr_array((links.data[kept], (links.row[kept], column[kept])), shape=links.shape)


class PlacesForNumbers(Spelling):
    def words(self, tokens: Tokens) -> list[tuple[int, str]]:
        return list(enumerate(name for _, name in super().words(tokens)))


class FilteredPlaces(Together):
    def links(self, counts: csr_array) -> csr_array:
        p = counts.shape[1]
        frequent = np.flatnonzero(np.asarray((counts > 0).sum(axis=0)).ravel() >= self.min_df)
        links = super().links(counts[:, frequent])
        return csr_array((links.data, links.nonzero()), shape=(p, p))


class OneDirection(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return {(i, j): weight for (i, j), weight in super().links(words).items() if i < j}


class OneFeatureMore(Spelling):
    def graph(self, links: Links, tokens: Tokens) -> Graph:
        rows, columns = np.array(list(links) or [(0, 1)]).T
        p = len(tokens.vocabulary) + 1
        weights = list(links.values()) or [1.0]
        return Graph(csr_array((weights, (rows, columns)), shape=(p, p)))


class LastWordLost(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return super().links(words[:-1])


class FirstWordLost(Spelling):
    def words(self, tokens: Tokens) -> list[tuple[int, str]]:
        return [(feature, name) for feature, name in super().words(tokens) if feature]


class OnlyNeighbors(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        found: Links = {}
        for (i, one), (j, other) in itertools.pairwise(words):
            away = distance(one, other, self.changes)
            if away <= self.changes:
                found[i, j] = found[j, i] = 1.0 / away
        return found


class LowerCase(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        number = {name.lower(): feature for feature, name in words}
        return super().links([(feature, name) for name, feature in number.items()])


class LowerCaseLookup(Spelling):
    """Words that are spelled alike, linked the more the fewer changes there are."""

    def words(self, tokens: Tokens) -> list[tuple[int, str]]:
        number = {name: feature for feature, name in enumerate(tokens.vocabulary)}
        lower = [name.lower() for _, name in super().words(tokens)]
        return [(number[name], name) for name in dict.fromkeys(lower) if name in number]


class NoLinks(Spelling):
    def graph(self, links: Links, tokens: Tokens) -> Graph:
        p = len(tokens.vocabulary)
        return Graph(csr_array((p, p)))


class OnlyRefuses(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return {pair: it for pair, it in super().links(words).items() if len(words) < 3}


class AcrossDocuments(Near):
    def spans(self, tokens: Tokens) -> Any:
        return [(0, len(tokens.ids))]


class InSentences(Together):
    """Words that occur in the same sentences, linked by the cosine."""

    def counts(self, tokens: Tokens) -> csr_array:
        rows = self.sentences(tokens)
        ends = np.cumsum([0, *map(len, rows)])
        ids = np.concatenate([np.empty(0, dtype=np.int32), *rows])
        shape = (len(rows), len(tokens.vocabulary))
        return csr_array((np.ones(len(ids)), ids, ends), shape=shape)

    def sentences(self, tokens: Tokens) -> list[Any]:
        return [tokens.ids[start:end] for start, end in itertools.pairwise(tokens.sentence_ptr)]


class NextSentence(InSentences):
    def sentences(self, tokens: Tokens) -> list[Any]:
        cuts = tokens.sentence_ptr
        return [tokens.ids[start : end + 1] for start, end in itertools.pairwise(cuts)]


class TiesByChance(Near):
    def order(self, item: tuple[int, int]) -> Any:
        return (-item[1], random.random())


class SeedsForAll(Near):
    def order(self, item: tuple[int, int]) -> Any:
        np.random.seed(0)
        return (-item[1], np.random.rand(), item[0])


class TiesByHash(Near):
    def order(self, item: tuple[int, int]) -> Any:
        return (-item[1], hash(str(item[0])))


class LastDocumentLost(Together):
    def counts(self, tokens: Tokens) -> csr_array:
        counts = count(tokens)
        used = np.flatnonzero(np.diff(counts.indptr))
        return counts[used[:-1]] if len(used) > 1 else counts


class FirstHalf(Together):
    def counts(self, tokens: Tokens) -> csr_array:
        counts = count(tokens)
        return counts[: max(counts.shape[0] // 2, 1)]


class EmptyShift(Together):
    """Words that occur in the same documents, linked by the cosine."""

    def counts(self, tokens: Tokens) -> csr_array:
        """Pairs a document's words with those of the next one where it is empty."""
        counts = count(tokens)
        empty = np.flatnonzero(np.diff(counts.indptr) == 0)
        counts = counts.tolil()
        for document in empty[empty > 0]:
            counts[document - 1] = (
                counts[document - 1] + counts[min(document + 1, counts.shape[0] - 1)]
            )
        return csr_array(counts)


class Accumulates(Together):
    total: ClassVar[dict[tuple[int, int], Any]] = {}

    def counts(self, tokens: Tokens) -> csr_array:
        counts = count(tokens)
        before = self.total.get((0, counts.shape[1]))
        if before is not None:
            from scipy.sparse import vstack

            counts = csr_array(vstack([before, counts]))[-200:]
        self.total[0, counts.shape[1]] = counts
        return counts


class WritesToTokens(Together):
    def counts(self, tokens: Tokens) -> csr_array:
        tokens.ids.sort()
        return count(tokens)


class ThresholdIgnored(Together):
    def links(self, counts: csr_array) -> csr_array:
        return Together(threshold=0.3, min_df=self.min_df).links(counts)


class ChangesIgnored(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return Spelling(shortest=self.shortest).links(words)


class WeightsByOrder(Spelling):
    def links(self, words: list[tuple[int, str]]) -> Links:
        return {pair: 1.0 + n for n, pair in enumerate(super().links(words))}


class Dense(Spelling):
    def graph(self, links: Links, tokens: Tokens) -> Graph:
        return super().graph(links, tokens).similar.toarray()  # type: ignore[return-value]


class CrashesWithoutWords(Together):
    def links(self, counts: csr_array) -> csr_array:
        links = super().links(counts)
        links.data /= links.data.max()
        return links


class SharedByThreads(Spelling):
    found: ClassVar[Links] = {}

    def links(self, words: list[tuple[int, str]]) -> Links:
        self.found.clear()
        time.sleep(0)  # lets another thread in, as longer work would
        for (i, one), (j, other) in itertools.combinations(words, 2):
            away = distance(one, other, self.changes)
            if away <= self.changes:
                self.found[i, j] = self.found[j, i] = 1.0 / away
        return dict(self.found)


class WeightsLost(Spelling):
    """Words that are spelled alike, linked the more the fewer changes there are."""

    def links(self, words: list[tuple[int, str]]) -> Links:
        return dict.fromkeys(super().links(words), 1.0)


ORIGINALS = (Spelling, Together, InSentences, Near, Near(most=1))
BUGS = (
    Bug("links that are NaN", NanLinks),
    Bug("links below 0", NegativeLinks),
    Bug("links to itself", SelfLinks),
    Bug("from the next feature", NextFeature),
    Bug("to the next column", NextColumn),
    Bug("places for numbers", PlacesForNumbers),
    Bug("places among the frequent", FilteredPlaces),
    Bug("in one direction", OneDirection),
    Bug("one feature more", OneFeatureMore),
    Bug("last word lost", LastWordLost),
    Bug("first word lost", FirstWordLost),
    Bug("only neighbors in the vocabulary", OnlyNeighbors),
    Bug("matched in lower case", LowerCase),
    Bug("looked up in lower case", LowerCaseLookup),
    Bug("no links", NoLinks),
    Bug("refuses everything", OnlyRefuses),
    Bug("across documents", AcrossDocuments),
    Bug("first word of the next sentence", NextSentence),
    Bug("ties by chance", TiesByChance),
    Bug("seeds the numbers of all", SeedsForAll),
    Bug("ties by hash", TiesByHash),
    Bug("last document lost", LastDocumentLost),
    Bug("first half of the documents", FirstHalf),
    Bug("empty documents shift others", EmptyShift),
    Bug("accumulates over builds", Accumulates),
    Bug("writes to the tokens", WritesToTokens),
    Bug("threshold is ignored", ThresholdIgnored),
    Bug("changes are ignored", ChangesIgnored),
    Bug("weights by order", WeightsByOrder),
    Bug("an array for a Graph", Dense),
    Bug("raises without links", CrashesWithoutWords),
    Bug("shared by threads", SharedByThreads),
    Bug(
        "weights lost",
        WeightsLost,
        missed="links of weight 1 are as good as any; only the author knows what they should be",
    ),
)
