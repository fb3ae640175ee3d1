"""Group builders as strangers write them, and their mistakes."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from textreg.errors import DataError
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Groups, Tokens
from textreg.structure.grouping import SegmentBuilder, WordGroupBuilder
from textreg_testing import check_group_builder as check

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]

Sets = dict[str, list[int]]


class Suffixes(GroupBuilder):
    """Words with the same last letters."""

    name = "suffixes"
    letters: int = param(default=3, min=1, max=20, help="letters that are the same")
    weight: str = param(default="sqrt", choices=("sqrt", "one"), help="weight of a group")

    def build(self, tokens: Tokens) -> Groups:
        """A group for every suffix of two words."""
        return self.record(self.sets(tokens), tokens)

    def sets(self, tokens: Tokens) -> Sets:
        found: Sets = {}
        for feature, name in enumerate(tokens.vocabulary):
            word = name.split(" ")[-1]
            if len(word) > self.letters:
                found.setdefault(word[-self.letters :], []).append(feature)
        return {suffix: some for suffix, some in found.items() if len(some) > 1}

    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        if not sets:
            raise DataError(f"suffixes: no two words have the same {self.letters} last letters.")
        sizes = [len(some) for some in sets.values()]
        return Groups(
            indptr=np.cumsum([0, *sizes]),
            indices=np.array([one for some in sets.values() for one in some], dtype=np.int32),
            weights=np.sqrt(sizes) if self.weight == "sqrt" else np.ones(len(sizes)),
            n_features=len(tokens.vocabulary),
            names=[f"-{suffix}" for suffix in sets],
        )


class Prefixes(WordGroupBuilder):
    """Words with the same first letters."""

    name = "prefixes"
    letters: int = param(default=3, min=1, max=20, help="letters that are the same")
    least: int = param(default=2, min=1, help="fewest words of a group")

    def sets(self, tokens: Tokens) -> dict[str, list[str]]:
        """The words by their prefixes."""
        found: dict[str, list[str]] = {}
        for word in tokens.vocabulary:
            found.setdefault(word[: self.letters], []).append(word)
        return {prefix: words for prefix, words in found.items() if len(words) >= self.least}


class Company(GroupBuilder):
    """Every frequent word with those that often share a sentence with it."""

    name = "company"
    min_count: int = param(default=3, min=1, help="fewest sentences with both words")

    def build(self, tokens: Tokens) -> Groups:
        """A group for every word with company."""
        return self.record(self.company(tokens), tokens)

    def spans(self, tokens: Tokens) -> Iterable[tuple[int, int]]:
        return itertools.pairwise(tokens.sentence_ptr.tolist())

    def company(self, tokens: Tokens) -> dict[int, list[int]]:
        together: dict[int, dict[int, int]] = {}
        for start, end in self.spans(tokens):
            for one, other in itertools.permutations(
                sorted(set(tokens.ids[start:end].tolist())), 2
            ):
                row = together.setdefault(one, {})
                row[other] = row.get(other, 0) + 1
        found = {}
        for one, row in sorted(together.items()):
            near = [other for other, times in row.items() if times >= self.min_count]
            if near:
                found[one] = sorted([one, *near])
        return found

    def record(self, found: dict[int, list[int]], tokens: Tokens) -> Groups:
        if not found:
            raise DataError(f"company: no two words share {self.min_count} sentences.")
        return Groups(
            indptr=np.cumsum([0, *map(len, found.values())]),
            indices=np.array(list(itertools.chain(*found.values())), dtype=np.int32),
            weights=np.ones(len(found)),
            n_features=len(tokens.vocabulary),
            names=[f"company of {tokens.vocabulary[one]}" for one in found],
        )


class NanWeights(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        groups = super().record(sets, tokens)
        return Groups(groups.indptr, groups.indices, groups.weights * np.nan, groups.n_features)


class NegativeWeights(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        groups = super().record(sets, tokens)
        return Groups(groups.indptr, groups.indices, 2.0 - groups.weights, groups.n_features)


class NextFeature(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        last = len(tokens.vocabulary) - 1
        return {
            suffix: sorted({min(feature + 1, last) for feature in some})
            for suffix, some in super().sets(tokens).items()
        }


class CountsFromOne(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        found: Sets = {}
        for feature, name in enumerate(tokens.vocabulary[:-1], 1):
            found.setdefault(name[-self.letters :], []).append(feature)
        return {suffix: some for suffix, some in found.items() if len(some) > 1}


class OneMore(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        last = len(tokens.vocabulary) - 1
        return {
            suffix: sorted({*some, min(some[-1] + 1, last)})
            for suffix, some in super().sets(tokens).items()
        }


class OneMoreFeature(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        groups = super().record(sets, tokens)
        return Groups(groups.indptr, groups.indices, groups.weights, groups.n_features + 1)


class Overlap(Suffixes):
    """Words with the same last letters."""

    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        rows = list(sets.values())
        after = [sorted({*row, *rows[place + 1][:1]}) for place, row in enumerate(rows[:-1])]
        return super().record(dict(zip(sets, [*after, *rows[-1:]], strict=True)), tokens)


class LastGroupLost(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        found = super().sets(tokens)
        return dict(list(found.items())[:-1])


class FirstFeatureLost(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        found = {
            suffix: [one for one in some if one] for suffix, some in super().sets(tokens).items()
        }
        return {suffix: some for suffix, some in found.items() if len(some) > 1}


class LastFeatureLost(Prefixes):
    def sets(self, tokens: Tokens) -> dict[str, list[str]]:
        """The words by their prefixes."""
        found: dict[str, list[str]] = {}
        for feature in range(len(tokens.vocabulary) - 1):
            word = tokens.vocabulary[feature]
            found.setdefault(word[: self.letters], []).append(word)
        return {prefix: words for prefix, words in found.items() if len(words) >= self.least}


class AssumesSorted(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        return super().sets(replace(tokens, vocabulary=sorted(tokens.vocabulary)))


class Duplicates(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        return {suffix: [*some, some[-1]] for suffix, some in super().sets(tokens).items()}


class Unsorted(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        return {suffix: some[::-1] for suffix, some in super().sets(tokens).items()}


class Shuffled(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        found = list(super().sets(tokens).items())
        random.shuffle(found)
        return dict(found)


class OtherNames(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        return super().record(dict(zip(sets, reversed(sets.values()), strict=True)), tokens)


class OtherWeights(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        groups = super().record(sets, tokens)
        return Groups(
            groups.indptr,
            groups.indices,
            groups.weights[::-1].copy(),
            groups.n_features,
            groups.names,
        )


class SetOrder(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        found = super().sets(tokens)
        return {suffix: found[suffix] for suffix in set(found)}


class LowerCase(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        number = {name.lower(): feature for feature, name in enumerate(tokens.vocabulary)}
        return {
            suffix: sorted({number[tokens.vocabulary[one].lower()] for one in some})
            for suffix, some in super().sets(tokens).items()
        }


class LowerCaseWords(Prefixes):
    def sets(self, tokens: Tokens) -> dict[str, list[str]]:
        """The words by their prefixes."""
        found: dict[str, list[str]] = {}
        for word in map(str.lower, tokens.vocabulary):
            found.setdefault(word[: self.letters], []).append(word)
        return {prefix: words for prefix, words in found.items() if len(words) >= self.least}


class OnlySmallVocabularies(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        return super().sets(tokens) if len(tokens.vocabulary) < 20 else {}


class KeptBetweenBuilds(Company):
    seen: ClassVar[dict[int, list[int]]] = {}

    def company(self, tokens: Tokens) -> dict[int, list[int]]:
        self.seen.update(super().company(tokens))
        return {
            one: [other for other in row if other < len(tokens.vocabulary)]
            for one, row in sorted(self.seen.items())
            if one < len(tokens.vocabulary)
        }


class CachedBySize(Company):
    cache: ClassVar[dict[int, Any]] = {}

    def company(self, tokens: Tokens) -> dict[int, list[int]]:
        return self.cache.setdefault(len(tokens.vocabulary), super().company(tokens))


class AcrossDocuments(Company):
    def spans(self, tokens: Tokens) -> Iterable[tuple[int, int]]:
        ends = tokens.token_document_ptr.tolist()
        for start, end in itertools.pairwise(ends):
            yield start, min(end + 3, ends[-1])


class LastSentenceLost(Company):
    """Every frequent word with those that often share a sentence with it."""

    min_count: int = param(default=1, min=1, help="fewest sentences with both words")

    def spans(self, tokens: Tokens) -> Iterable[tuple[int, int]]:
        used = [span for span in super().spans(tokens) if span[0] < span[1]]
        return used[:-1]


class LastWordOfSentenceLost(Company):
    def spans(self, tokens: Tokens) -> Iterable[tuple[int, int]]:
        return [(start, end - 1) for start, end in super().spans(tokens) if end - start > 1]


class LastOfDocumentLost(Company):
    def spans(self, tokens: Tokens) -> Iterable[tuple[int, int]]:
        """All sentences of a document but the last."""
        for first, last in itertools.pairwise(tokens.document_ptr.tolist()):
            yield from itertools.pairwise(tokens.sentence_ptr[first:last].tolist())


class OnlyLatin(Prefixes):
    def sets(self, tokens: Tokens) -> dict[str, list[str]]:
        """The words by their prefixes."""
        found = super().sets(tokens)
        return {prefix: words for prefix, words in found.items() if re.match("[A-Za-z]", prefix)}


class KeepsItsArrays(Company):
    weights: ClassVar[Any] = np.ones(1000)

    def record(self, found: dict[int, list[int]], tokens: Tokens) -> Groups:
        groups = super().record(found, tokens)
        weights = self.weights[: len(groups)]
        weights[:] = 1.0 + tokens.n_documents
        return Groups(groups.indptr, groups.indices, weights, groups.n_features, groups.names)


class WeightsOfZero(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        groups = super().record(sets, tokens)
        weights = np.array([1 // len(some) for some in sets.values()], dtype=float)
        return Groups(groups.indptr, groups.indices, weights, groups.n_features, groups.names)


class PlacesForNumbers(Company):
    def company(self, tokens: Tokens) -> dict[int, list[int]]:
        used = np.unique(tokens.ids)
        place = {int(feature): number for number, feature in enumerate(used)}
        return {
            place[one]: sorted(place[other] for other in row)
            for one, row in super().company(tokens).items()
        }


class OnlyLater(Company):
    def company(self, tokens: Tokens) -> dict[int, list[int]]:
        found = {
            one: [other for other in row if other >= one]
            for one, row in super().company(tokens).items()
        }
        return {one: row for one, row in found.items() if len(row) > 1}


class WritesToTokens(Company):
    def company(self, tokens: Tokens) -> dict[int, list[int]]:
        tokens.ids[0] = 0
        return super().company(tokens)


class WritesToVocabulary(Suffixes):
    def sets(self, tokens: Tokens) -> Sets:
        if isinstance(tokens.vocabulary, list):
            tokens.vocabulary[0] = tokens.vocabulary[0].strip()
            tokens.vocabulary.append("extra")
        return super().sets(tokens)


class SharedByThreads(Company):
    counts: ClassVar[dict[int, dict[int, int]]] = {}

    def company(self, tokens: Tokens) -> dict[int, list[int]]:
        self.counts.clear()
        time.sleep(0)  # lets another thread in, as longer work would
        for start, end in self.spans(tokens):
            for one, other in itertools.permutations(set(tokens.ids[start:end].tolist()), 2):
                row = self.counts.setdefault(one, {})
                row[other] = row.get(other, 0) + 1
        return {
            one: sorted([one, *(other for other, times in row.items() if times >= self.min_count)])
            for one, row in sorted(self.counts.items())
        }


class WeightsOfAll(SegmentBuilder):
    """One group for every document, which weighs the less the more of them there are."""

    name = "weights of all"

    def segments(self, tokens: Tokens) -> Any:
        """All words of a document."""
        every = np.arange(tokens.n_documents + 1)
        return tokens.ids, tokens.token_document_ptr, every

    def build(self, tokens: Tokens) -> Groups:
        groups = super().build(tokens)
        return replace(groups, weights=groups.weights / tokens.n_documents)


class WeightIgnored(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        groups = super().record(sets, tokens)
        ones = np.ones(len(groups))
        return Groups(groups.indptr, groups.indices, ones, groups.n_features, groups.names)


class LeastIgnored(Prefixes):
    def sets(self, tokens: Tokens) -> dict[str, list[str]]:
        """The words by their prefixes."""
        return Prefixes(letters=self.letters).sets(tokens)


class StateOutsideParameters(Suffixes):
    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        self.__dict__["drawn"] = next(_DRAWN)

    def sets(self, tokens: Tokens) -> Sets:
        found = super().sets(tokens)
        return dict(list(found.items())[self.drawn % 2 :])


_DRAWN = itertools.count()


class AtMostTooLow(Suffixes):
    """Words with the same last letters."""

    def sets(self, tokens: Tokens) -> Sets:
        found: Sets = {}
        for feature, name in enumerate(tokens.vocabulary):
            word = name.split(" ")[-1]
            if len(word) >= self.letters:
                found.setdefault(word[-self.letters :], []).append(feature)
        return {suffix: some for suffix, some in found.items() if len(some) > 1}


class WrongType(Suffixes):
    def record(self, sets: Sets, tokens: Tokens) -> Groups:
        return list(sets.values())  # type: ignore[return-value]


class CrashesOnEmpty(Company):
    def record(self, found: dict[int, list[int]], tokens: Tokens) -> Groups:
        largest = max(map(len, found.values()))
        return super().record(
            {one: row for one, row in found.items() if len(row) <= largest}, tokens
        )


ORIGINALS = (Suffixes, Suffixes(letters=2, weight="one"), Prefixes, Company)
BUGS = (
    Bug("weights that are NaN", NanWeights),
    Bug("weights below 0", NegativeWeights),
    Bug("the next feature", NextFeature),
    Bug("features counted from one", CountsFromOne),
    Bug("one feature more in a group", OneMore),
    Bug("one feature more in all", OneMoreFeature),
    Bug("first feature of the next group", Overlap),
    Bug("last group lost", LastGroupLost),
    Bug("first feature lost", FirstFeatureLost),
    Bug("last feature lost", LastFeatureLost),
    Bug("a feature twice in a group", Duplicates),
    Bug("features not sorted", Unsorted),
    Bug("takes the vocabulary for sorted", AssumesSorted),
    Bug("groups shuffled", Shuffled),
    Bug("names of other groups", OtherNames),
    Bug("weights of other groups", OtherWeights),
    Bug("groups in the order of a set", SetOrder),
    Bug("matched in lower case", LowerCase),
    Bug("words in lower case", LowerCaseWords),
    Bug("nothing built", OnlySmallVocabularies),
    Bug("kept from build to build", KeptBetweenBuilds),
    Bug("cached by the size of the vocabulary", CachedBySize),
    Bug("across documents", AcrossDocuments),
    Bug("last sentence lost", LastSentenceLost),
    Bug("last word of a sentence lost", LastWordOfSentenceLost),
    Bug("last sentence of a document lost", LastOfDocumentLost),
    Bug("only Latin letters", OnlyLatin),
    Bug("writes to arrays it gave", KeepsItsArrays),
    Bug("weights of zero", WeightsOfZero),
    Bug("places for numbers", PlacesForNumbers),
    Bug("only later features", OnlyLater),
    Bug("writes to the tokens", WritesToTokens),
    Bug("writes to the vocabulary", WritesToVocabulary),
    Bug("shared by threads", SharedByThreads),
    Bug("weights of all documents", WeightsOfAll),
    Bug("weight is ignored", WeightIgnored),
    Bug("least is ignored", LeastIgnored),
    Bug("state outside of parameters", StateOutsideParameters),
    Bug("a list for Groups", WrongType),
    Bug("raises where nothing is built", CrashesOnEmpty),
    Bug(
        "words of three letters too",
        AtMostTooLow,
        missed="nobody but the author knows how long a word has to be",
    ),
)
