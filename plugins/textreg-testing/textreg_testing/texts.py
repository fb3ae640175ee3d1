"""Texts and tokens to try tokenizers and builders on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from textreg.files import read_toml
from textreg.plugins import registry
from textreg.records import Tokens
from textreg.records.documents import check_texts
from textreg_testing.checks import Declared, declared_for, require

_DATA: dict[str, Any] = read_toml(Path(__file__).with_name("texts.toml"))
TEXTS = (*_DATA["texts"], "a" * 2000 + " " + "Long words. Of all " * 200)
SPECIAL, EDGES, OPINIONS = (tuple(_DATA[key]) for key in ("special", "edges", "opinions"))
LETTERS, LABELS, MODELS = (_DATA[key] for key in ("letters", "labels", "models"))
POSITIONS: list[str] = _DATA["words"]["positions"]
_WORDS = {key: it.split() if isinstance(it, str) else it for key, it in _DATA["words"].items()}


def written(documents: int, topics: int, stems: int, seed: int) -> list[str]:
    """Documents of some topics, each of words with common stems and affixes."""
    rng = np.random.default_rng(seed)

    def drawn(choices: list[Any]) -> Any:
        return choices[int(rng.integers(len(choices)))]

    kinds = [topic.split()[:stems] for topic in _WORDS["topics"][:topics]]
    texts = []
    for number in range(documents):
        main, other = number % topics, int(rng.integers(topics))
        words: list[str] = []
        for _ in range(int(rng.integers(1, 40)) + 4 * (number % 5)):
            draw = rng.random()
            if draw < 0.2:
                word = _WORDS["common"][int(len(_WORDS["common"]) * rng.random() ** 2)]
            elif draw < 0.3:
                word = drawn(_WORDS["rare"])
            else:
                stem = drawn(kinds[main if draw < 0.8 else other])
                word = stem.join(drawn(_WORDS["affixes"]))
            after = drawn(_WORDS["ends"]) if rng.random() < 0.2 else " "
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

    def require_some(self, found: bool, what: str, why: str = "") -> None:
        """ContractError unless something was found in the texts, as nothing cannot be checked."""
        require(
            found,
            f"{what} {self.where}",
            f"none{why}. What finds nothing cannot be checked. Give texts in which it finds some: "
            "textreg plugins check NAME --text FILE, or the argument texts",
        )

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
        words = dict.fromkeys(word for text in self.texts[:30] for word in text.split())
        plain = [word for word in words if word.isalpha() and len(word) <= 20][:8]
        spaced = list(dict.fromkeys((*plain, *_WORDS["plain"])))[:8]
        return (" ", ". ", spaced), ("，", "。", _WORDS["spaceless"])

    @cached_property
    def large(self) -> Tokens:
        """Enough for a builder to find something in: hundreds of words, most of them frequent."""
        ours = [*written(120, 6, 8, 0), "", "lamp", "lamps lamp"]
        return with_pairs(words_of(self.texts or ours), 30)

    @cached_property
    def small(self) -> Tokens:
        """Fewer, so that slow builders can be tried often; empty documents and both cases."""
        return with_pairs(words_of(self.texts[:30] or self._few, lowercase=False), 10)

    @cached_property
    def lower(self) -> Tokens:
        """The words of the small tokens in small letters."""
        return words_of(self.texts[:30] or self._few)

    @property
    def _few(self) -> list[str]:
        texts = written(24, 2, 4, 1)
        return [*texts[:4], "", "lamp", "LAMP Lamp lamp", *texts[4:], ""]


def trials(texts: Sequence[str] | None) -> Callable[[Declared], tuple[Trial]]:
    """What parts are tried on: these texts, else those of their author, else our own.

    Raises UsageError or DataError unless they are texts.
    """
    checked = None if texts is None else tuple(check_texts(texts))
    return lambda declared: (_trial(declared.texts if checked is None else checked),)


def trial_of(part: Any, texts: Sequence[str] | None) -> Trial:
    """What one part is tried on."""
    return trials(texts)(declared_for(part))[0]


_trial = lru_cache(maxsize=4)(Trial)


def words_of(texts: Sequence[str], *, lowercase: bool = True) -> Tokens:
    """The words of texts, with what builders may ask for."""
    words = registry.create("tokenizer", "textreg:words", lowercase=lowercase)
    tokens: Tokens = replace(words.encode(texts, spans=True), texts=texts)
    return tokens


def with_pairs(tokens: Tokens, most: int | None = None) -> Tokens:
    """The same with pairs of neighbors in a sentence as features, as in trainings.

    Parameters
    ----------
    tokens : Tokens
    most : int, optional
        How many, the most frequent ones; all by default.

    Returns
    -------
    Tokens
        Its vocabulary is sorted.
    """
    from textreg.features import ngrams  # which checks of builders need

    ordered = replace(ngrams.by_name(tokens, ()), texts=tokens.texts)
    tree, streams = ngrams.NGrams.collect(ordered, 2, 1)
    counts = ngrams.occurrences(streams[1], tree.sizes[1])
    wanted = np.isin(np.arange(len(counts)), np.argsort(-counts, kind="stable")[:most])
    numbers = tree.number(np.append(np.ones(tree.sizes[0], dtype=np.bool_), wanted))
    return ngrams.insert_ngrams(ordered, streams, numbers, list(tree.names(numbers)))
