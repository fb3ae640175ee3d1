"""Texts and tokens to try tokenizers and builders on."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np

from textreg.plugins import registry
from textreg.records import Tokens
from textreg.records.documents import check_texts

# Texts that a tokenizer must take: empty ones, all scripts, markup and control characters.
TEXTS = (
    "The lamp is bright. We love it!\n\nIt came on Monday.",
    "",
    "Dull, dull lamp... and it broke.",
    "ÄÖÜ naïve Ωmega \U0001f600 １２ don't",
    "   \n\t ",
    "A lamp. A lamp. A lamp.\n\nNot a chair; a lamp!",
    "<b>markup</b> & http://example.org/?q=1 \x00 \u202e end",
    "lamp",
    "!?",
    "Two lines\r\nand a third \u2028 of 1,984 words, 3.5 % more (e.g. these)\n",
    "İstanbul ’20: STRASSE, Straße and straße; then DŽ, ﬁve and ½ lamp",
    "Кто там? Лампа! 这是一个灯。灯很亮。 مصباح جميل. दीपक. とても明るい",
    "cafe\u0301 and café, a\u200bb\u200dc\xa0d, \U0001f469\u200d\U0001f52c wrote it",
    " \t Words after spaces. And before some  \r\n  ",
    "a" * 2000 + " " + "Long words. Of all " * 200,
)

# Texts in which there is little to group or link.
EDGES = (["", ""], ["lamp"], ["lamp lamp lamp", ""], ["a lamp", "a chair. a lamp"])

_TOPICS = (
    "lamp candle bulb glow shine flash torch camp",
    "kettle cook bake boil pan fry spoon bowl",
    "song sing drum play tune listen piano ring",
    "plant seed grow water rose tree dig weed",
    "train walk drive ride road station map brain",
    "paint build nail hammer cut saw wood glue",
)
_AFFIXES = (("", ""), ("", "s"), ("", "ing"), ("", "ed"), ("", "er"), ("re", ""))
_COMMON = "the a and is of to it we was in".split()
_RARE = (
    "lamb limp lump damp 7 12 1984 3.5 naïve café größe straße Größe лампа лампы свет λάμπα φως "
    "灯光 灯 مصباح दीपक don't state-of-the-art A LAMP Lamp LAMPS Kettle re-do ﬁve ½ x"
).split()
_PLAIN = "lamp kettle rosewood bright music gardens".split()
_ENDS = (". ", ". ", "! ", "? ", "; ", ".\n\n", ", ", " - ")


def written(documents: int, topics: int, stems: int, seed: int) -> list[str]:
    """Documents of some topics, each of words with common stems and affixes."""
    rng = np.random.default_rng(seed)
    kinds = [topic.split()[:stems] for topic in _TOPICS[:topics]]
    texts = []
    for number in range(documents):
        main, other = number % topics, int(rng.integers(topics))
        words: list[str] = []
        for _ in range(int(rng.integers(1, 40)) + 4 * (number % 5)):
            draw = rng.random()
            if draw < 0.2:
                word = _COMMON[int(len(_COMMON) * rng.random() ** 2)]
            elif draw < 0.3:
                word = _RARE[int(rng.integers(len(_RARE)))]
            else:
                stem = kinds[main if draw < 0.8 else other][int(rng.integers(stems))]
                before, after = _AFFIXES[int(rng.integers(len(_AFFIXES)))]
                word = before + stem + after
            after = _ENDS[int(rng.integers(len(_ENDS)))] if rng.random() < 0.2 else " "
            starts = bool(words) and words[-1][-2] in ".!?\n"
            words.append((word.capitalize() if starts else word) + after)
        texts.append("".join(words).strip() + ("." if number % 3 else ""))
    return texts


@dataclass(frozen=True)
class Trial:
    """The texts that parts are tried on: those of their author, or else our own.

    texts: of the author, () for ours.
    """

    texts: Sequence[str] = ()

    @property
    def where(self) -> str:
        """Which texts, for people."""
        return f"the {len(self.texts):,} given texts" if self.texts else "the texts of the check"

    @cached_property
    def every(self) -> Sequence[str]:
        """What a tokenizer must take."""
        return (*TEXTS, *self.texts[:30])

    @cached_property
    def plain(self) -> Sequence[str]:
        """Texts in which a tokenizer should find something."""
        return self.texts or written(12, 2, 4, 1)

    @cached_property
    def words(self) -> list[str]:
        """Plain words, all different."""
        given = (word for text in self.texts[:30] for word in text.split())
        some = [word for word in dict.fromkeys(given) if word.isalpha() and len(word) <= 20]
        return [*some[:8], *(word for word in _PLAIN if word not in some)][:8]

    @cached_property
    def large(self) -> Tokens:
        """Enough for a builder to find something in: hundreds of words, most of them frequent."""
        if self.texts:
            return _encoded(self.texts, 30)
        return _encoded([*written(120, 6, 8, 0), "", "lamp", "lamps lamp"], 30)

    @cached_property
    def small(self) -> Tokens:
        """Fewer, so that slow builders can be tried often; empty documents and both cases."""
        if self.texts:
            return _encoded(self.texts[:30], 10, lowercase=False)
        return _encoded(self._few, 10, lowercase=False)

    @property
    def both(self) -> tuple[Tokens, Tokens]:
        """The small and the large tokens."""
        return self.small, self.large

    @cached_property
    def lower(self) -> Tokens:
        """The words of the small tokens in small letters."""
        return _encoded(self.texts[:30] or self._few, 0)

    @property
    def _few(self) -> list[str]:
        some = written(24, 2, 4, 1)
        some[4:4] = ["", "lamp", "LAMP Lamp lamp"]
        return [*some, ""]


def trial(texts: Sequence[str] | None) -> Trial:
    """The one of these texts; of ours for None. UsageError, DataError unless they are texts."""
    return Trial() if texts is None else Trial(tuple(check_texts(texts)))


def _encoded(texts: Sequence[str], pairs: int, *, lowercase: bool = True) -> Tokens:
    """The words of texts, and the most frequent pairs of them."""
    words = registry.create("tokenizer", "textreg:words", lowercase=lowercase)
    tokens: Tokens = words.encode(texts)
    counted = Counter(_pairs(tokens))
    return with_pairs(tokens, {pair for pair, _ in counted.most_common(pairs)})


def _pairs(tokens: Tokens) -> list[tuple[int, int]]:
    return [
        pair
        for start, end in itertools.pairwise(tokens.sentence_ptr.tolist())
        for pair in itertools.pairwise(tokens.ids[start:end].tolist())
    ]


def with_pairs(tokens: Tokens, pairs: Collection[tuple[int, int]] | None = None) -> Tokens:
    """The same with pairs of neighbors in a sentence as features, each after its first word.

    Parameters
    ----------
    tokens : Tokens
    pairs : collection of tuple of int, optional
        The features of the pairs to add; all by default.

    Returns
    -------
    Tokens
    """
    names = list(tokens.vocabulary)
    number = {name: feature for feature, name in enumerate(names)}
    ids, sentence_ptr = [], [0]
    for start, end in itertools.pairwise(tokens.sentence_ptr):
        sentence = tokens.ids[start:end].tolist()
        for place, word in enumerate(sentence):
            ids.append(word)
            after = sentence[place + 1 : place + 2]
            if after and (pairs is None or (word, after[0]) in pairs):
                pair = f"{names[word]} {names[after[0]]}"
                ids.append(number.setdefault(pair, len(number)))
        sentence_ptr.append(len(ids))
    return replace(
        tokens,
        ids=np.array(ids, dtype=np.int32),
        sentence_ptr=np.array(sentence_ptr, dtype=np.int64),
        vocabulary=list(number),
    )


# Where the characters begin of names that are like no other: CJK extension A.
_UNLIKE = 0x3400

# Characters of such a name, so that no word is a few changes away from it.
_LONG = 12


def with_unused(tokens: Tokens) -> tuple[Tokens, frozenset[str]]:
    """The same with features that occur nowhere among the others, which keep their order.

    They are first, last, and after every other feature; their names are also given.
    """
    old = list(tokens.vocabulary)
    letters = count(_UNLIKE)
    names, new, unused = [], [], []
    for feature, name in enumerate(old):
        if feature % 2 == 0:
            unused.append("".join(chr(next(letters)) for _ in range(_LONG)))
            names.append(unused[-1])
        new.append(len(names))
        names.append(name)
    unused.append("".join(chr(next(letters)) for _ in range(_LONG)))
    names.append(unused[-1])
    ids = np.array(new, dtype=np.int32)[tokens.ids]
    return replace(tokens, ids=ids, vocabulary=names), frozenset(unused)


def renumbered(tokens: Tokens, order: Sequence[int]) -> Tokens:
    """The same with other numbers of the features: those that they had before, in order."""
    new = np.empty(len(order), dtype=np.int32)
    new[list(order)] = np.arange(len(order), dtype=np.int32)
    names = [tokens.vocabulary[feature] for feature in order]
    return replace(tokens, ids=new[tokens.ids], vocabulary=names)


# Letters that stand for a to z: names of them are no words, but alike as before.
_ALPHABETS = {
    "small": "qwjzxvkbghnfcdtrsplmyiouea",
    "capital": "QWJZXVKBGHNFCDTRSPLMYIOUEA",
    "other": "щшжзхвкбгънфцдтрсплмюиоуеа",
}


def renamed(tokens: Tokens, letters: str) -> Tokens:
    """The same with ``small``, ``capital`` or ``other`` letters for a to z in all names."""
    change = str.maketrans("abcdefghijklmnopqrstuvwxyz", _ALPHABETS[letters])
    return replace(tokens, vocabulary=[name.translate(change) for name in tokens.vocabulary])


def shuffled(tokens: Tokens, seed: int, level: str, *, inside: bool) -> Tokens:
    """The same with the tokens of every sentence in another order, or the sentences of every
    document.

    level: ``sentence`` or ``document``. inside: whether the first and the last stay where they are.
    """
    rng = np.random.default_rng(seed)
    ptr = tokens.sentence_ptr if level == "sentence" else tokens.document_ptr
    order = np.arange(ptr[-1])
    for start, end in itertools.pairwise(ptr.tolist()):
        if end - start > 3:  # so that some can move when the first and the last stay
            moved = slice(start + inside, end - inside)
            order[moved] = rng.permutation(order[moved])
    if level == "sentence":
        return replace(tokens, ids=tokens.ids[order])
    pieces = [tokens.ids[tokens.sentence_ptr[s] : tokens.sentence_ptr[s + 1]] for s in order]
    return replace(
        tokens,
        ids=np.concatenate([np.empty(0, dtype=np.int32), *pieces]),
        sentence_ptr=np.cumsum([0, *map(len, pieces)]),
        paragraph_ptr=None,
    )
