"""The tokenizer where none is named: words, and characters beside them where they are not many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from textreg.kinds import Tokenizer
from textreg.logs import logger
from textreg.plugins import registry
from textreg.records import Documents

LOG = logger("training")

AUTO_TOKENIZER = "auto"
"""What users call it."""

WORDS = "textreg:words"
BESIDE = "textreg:words,textreg:chars"

MOST_CHARACTERS = 10_000_000
"""In more characters of training text than these, words are alone.

There characters gain the least (0.4 points on 20 Newsgroups, with 22 million), and six times the
values take six times as long.
"""


@dataclass(frozen=True)
class AutoTokenizer:
    """What ``tokenizer="auto"`` stands for until the documents are known.

    words: words alone, for many documents. beside: words, and characters beside them.
    """

    words: Tokenizer
    beside: Tokenizer

    def replace(self, **params: Any) -> Tokenizer | AutoTokenizer:
        """Both with these parameters; no choice where one of them is of characters alone."""
        beside: Tokenizer = registry.create("tokenizer", self.beside, **params)
        if params.keys() <= self.words.declared().keys():
            return AutoTokenizer(self.words.replace(**params), beside)
        return beside

    def decide(self, texts: Documents) -> Tokenizer:
        """The tokenizer for documents to train on."""
        characters = 0
        for text in texts:
            characters += len(text)
            if characters > MOST_CHARACTERS:
                LOG.info(
                    "tokenizer auto: words alone, as texts have over %d characters", MOST_CHARACTERS
                )
                return self.words
        LOG.info("tokenizer auto: words and characters, as texts have %d characters", characters)
        return self.beside


def tokenizer_of(part: Any, params: Mapping[str, Any] | None = None) -> Tokenizer | AutoTokenizer:
    """A tokenizer as :meth:`Registry.create` makes it; of "auto" what it stands for."""
    params = params or {}
    if part == AUTO_TOKENIZER:
        words, beside = (registry.create("tokenizer", name) for name in (WORDS, BESIDE))
        part = AutoTokenizer(words, beside)
    if isinstance(part, AutoTokenizer):
        return part.replace(**params) if params else part
    return cast(Tokenizer, registry.create("tokenizer", part, **params))
