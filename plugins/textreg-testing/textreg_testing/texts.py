"""Texts and tokens to try tokenizers and builders on."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import numpy as np

from textreg.plugins import registry
from textreg.records import Tokens
from textreg.records.documents import check_texts
from textreg_testing.checks import Declared, declared_for

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

# What some tokenizers have a setting for: languages, names, numbers, marks, what is no prose.
SPECIAL = (
    "@Ann and @bob_2: see #sale, #Sale2024 or https://example.org/a?b=1#c, mail a.b@example.com!!!",
    "It's NOT good :-( but sooooo cheap :) <3 :D 😀👍🏽 I can't, won't, shouldn't... He isn't.",
    "On 2024-03-05, 5 March 2024, 03/05/24 at 9:30 pm: $1,299.99, 20%, 3.5 kg, 1e-5, 2nd, No. 7.",
    "Dr. Smith of the U.S.A. (e.g. NASA) met Mr. O'Neil; well-known state-of-art e-mail, re-do.",
    "snake_case camelCase HTTPServer v1.2.3 foo() a+b=c `code` **bold** # Head\n- item\n1. item",
    '"Quoted," (aside) [1] {x} «dit-il» „so“ – dash — and/or & more; "yes"? ... *** ___ ~',
    "<p>Some <b>bold</b> text &amp; more</p>\n\n> quoted\nTel. +49 (0)30 123-456, ISBN 3-16-1484",
    "Die Häuser der Straßenbahnhaltestelle wurden geöffnet. L'été n'est qu'un rêve: aujourd'hui.",
    "¿Cómo están los niños? Él corrió rápidamente. Não há pães. İğne ılık. Ελλάδα: καλημέρα!",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造。我来到北京清华大学，他不喜欢它们！",
    "東京都に行きました。とても美味しいラーメンを食べた。서울에서 좋은 영화를 보았습니다.",
    "ฉันไปโรงเรียนทุกวัน अच्छी फिल्म है। كتاب جميل جدا، והספר טוב. Кошки бежали по улицам домой.",
    "The cats were running and the children ran happily to the houses; geese, mice, studies.",
    "the of and to in is it you that he was for on are with as I his they be at one have this from",
    "New York and San Francisco are cities. new york is large. Machine learning machine learning.",
    "good good bad good very bad not at all good never bad no idea nothing without a doubt hardly",
    "ﬁle ½ ² ① Ａｂｃ Ǆ ſ \u00ad co\u00adop zero\u200bwidth Cafe\u0301 CAFÉ Iİıi ß MCM abc123 a1b2",
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
_SPACELESS = "灯光 电影 音乐 花园 苹果 老师".split()
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

    @property
    def words(self) -> tuple[tuple[str, str, list[str]], ...]:
        """What stands between words and ends sentences, in two sorts of language, and words."""
        given = dict.fromkeys(word for text in self.texts[:30] for word in text.split())
        some = [word for word in given if word.isalpha() and len(word) <= 20][:8]
        spaced = list(dict.fromkeys((*some, *_PLAIN)))[:8]
        return (" ", ". ", spaced), ("，", "。", _SPACELESS)

    @cached_property
    def large(self) -> Tokens:
        """Enough for a builder to find something in: hundreds of words, most of them frequent."""
        ours = [*written(120, 6, 8, 0), "", "lamp", "lamps lamp"]
        return _encoded(self.texts or ours, 30)

    @cached_property
    def small(self) -> Tokens:
        """Fewer, so that slow builders can be tried often; empty documents and both cases."""
        return _encoded(self.texts[:30] or self._few, 10, lowercase=False)

    @cached_property
    def lower(self) -> Tokens:
        """The words of the small tokens in small letters."""
        return _encoded(self.texts[:30] or self._few, 0)

    @property
    def _few(self) -> list[str]:
        some = written(24, 2, 4, 1)
        return [*some[:4], "", "lamp", "LAMP Lamp lamp", *some[4:], ""]


def trials(texts: Sequence[str] | None) -> Callable[[Declared], tuple[Trial]]:
    """What parts are tried on: these texts, else those of their author, else our own.

    Raises UsageError or DataError unless they are texts.
    """
    given = None if texts is None else tuple(check_texts(texts))
    return lambda declared: (_trial(declared.texts if given is None else given),)


def trial_of(part: Any, texts: Sequence[str] | None) -> Trial:
    """What one part is tried on."""
    return trials(texts)(declared_for(part))[0]


_trial = lru_cache(maxsize=4)(Trial)


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
