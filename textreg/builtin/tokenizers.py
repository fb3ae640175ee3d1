"""The tokenizers of textreg: words, n-grams of characters, and whole values of a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.params import param
from textreg.records import Tokens
from textreg.text import (
    ANALYZERS,
    SENTENCES,
    CharRules,
    KnownChars,
    KnownWords,
    Wanted,
    WordRules,
    scan_chars,
    scan_words,
    split_chars,
    split_words,
)


class Words(Tokenizer):
    """Words of letters, digits, underscores and the marks that belong to them, in any script.

    In scripts without spaces between words (Chinese characters, kana, Thai, Lao, Khmer, Burmese
    and others) every letter with its marks is a word; with ``ngrams=2``, which is the default,
    pairs of them are features too. Invisible characters, such as the soft hyphen, are no part of a
    word's spelling.

    With ``sentences="punct"``, a sentence ends

    - at ``. ! ? …`` and those of other scripts (and closing quotes or brackets) before white space,
      unless a lower-case letter follows or the full stop is part of an abbreviation, an initial or
      a number;
    - at ``。 ！ ？ ।`` and others of scripts that may do without white space, wherever they are;
    - at punctuation between white space, as in text that is tokenized already;
    - at a line without a word, and at a colon at the end of a line;
    - before a line such as ``Subject: …`` in a mail.
    """

    name = "words"
    lowercase: bool = param(default=True, help="fold case: lower case, and ss for ß")
    min_length: int = param(default=1, min=1, max=1000, help="drop words with fewer characters")
    sentences: str = param(default="punct", choices=SENTENCES, help="where sentences end")
    normalize: str = param(
        default="nfc", choices=("nfc", "nfkc", "none"), help="Unicode's normal form of the words"
    )

    punctuation: bool = param(
        default=False,
        help="runs of punctuation marks and symbols are tokens too, such as ?! or :-)",
    )
    emoji: bool = param(default=False, help="emoji are tokens too, a sequence of several is one")

    def __call__(self, text: str) -> list[list[str]]:
        """The words of every sentence of ``text``."""
        return split_words(text, self._rules)

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The tokens of all ``texts``, by :func:`textreg.text.scan_words`."""
        return scan_words(texts, self._rules, spans=spans)

    def known(self, names: Sequence[str], wanted: Wanted) -> KnownWords:
        """What finds known words in new texts, without names of the others."""
        return KnownWords(names, self._rules, wanted)

    @property
    def _rules(self) -> WordRules:
        return WordRules(**{name: getattr(self, name) for name in WordRules._fields})


class Chars(Tokenizer):
    """Character n-grams: pieces of ``min_n`` to ``max_n`` characters, which know word forms, small
    differences in spelling, and languages without spaces.

    With ``analyzer="char_wb"`` they are taken of what stands between white space, with a blank on
    both sides: `` a``, ``ab`` and ``b `` of ``ab``. With ``analyzer="char"`` they run across words,
    with one blank for white space. Both are as in scikit-learn, and so is the rule that a run with
    fewer than ``min_n`` characters is one token. N-grams do not cross the ends of sentences, which
    are those of tokenizer ``words``; with ``sentences="none"`` and ``normalize="none"`` the counts
    equal those of scikit-learn for every text.
    """

    name = "chars"
    forms_ngrams = False
    min_n: int = param(default=2, min=1, max=100, help="minimum number of characters in an n-gram")
    max_n: int = param(default=5, min=1, max=100, help="maximum number of characters in an n-gram")
    analyzer: str = param(
        default="char_wb", choices=ANALYZERS, help="n-grams inside words only, or across them"
    )
    lowercase: bool = param(default=True, help="convert to lower case")
    sentences: str = param(default="punct", choices=SENTENCES, help="where sentences end")
    normalize: str = param(
        default="nfc", choices=("nfc", "nfkc", "none"), help="Unicode's normal form of the texts"
    )

    def __post_init__(self) -> None:
        if self.min_n > self.max_n:
            raise UsageError(
                f"tokenizer 'chars': min_n is {self.min_n} and max_n is {self.max_n}: n-grams have "
                "min_n to max_n characters, so give a min_n up to max_n."
            )

    def __call__(self, text: str) -> list[list[str]]:
        """The n-grams of every sentence of ``text``."""
        return split_chars(text, self._rules)

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The n-grams of all ``texts``, by :func:`textreg.text.scan_chars`."""
        return scan_chars(texts, self._rules, spans=spans)

    def known(self, names: Sequence[str], wanted: Wanted) -> KnownChars:
        """What finds known n-grams in new texts, without names of the others."""
        return KnownChars(names, self._rules, wanted)

    @property
    def _rules(self) -> CharRules:
        return CharRules(**{name: getattr(self, name) for name in CharRules._fields})


class Value(Tokenizer):
    """The whole text is one token, as the categories of a table are.

    White space inside it counts as one space, and around it as none.
    """

    name = "value"
    forms_ngrams = False
    lowercase: bool = param(default=False, help="convert to lower case")

    def __call__(self, text: str) -> list[list[str]]:
        """The text, in a sentence of its own; none if it is blank."""
        value = self._value(text)
        return [[value]] if value else []

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The tokens of all ``texts``."""
        values = [self._value(text) for text in texts]
        number = {value: at for at, value in enumerate(sorted({*values} - {""}))}
        ids = np.array([number[value] for value in values if value], dtype=np.int32)
        places = None
        if spans:
            ends = [
                (len(text) - len(text.lstrip()), len(text.rstrip()))
                for text, value in zip(texts, values, strict=True)
                if value
            ]
            places = np.array(ends, dtype=np.int32).reshape(-1, 2)
        return Tokens(
            ids=ids,
            sentence_ptr=np.arange(len(ids) + 1),
            document_ptr=np.cumsum([0, *(bool(value) for value in values)]),
            vocabulary=list(number),
            spans=places,
            sentence_spans=places,
        )

    def _value(self, text: str) -> str:
        value = " ".join(text.split())
        return value.lower() if self.lowercase else value


@hookimpl
def textreg_tokenizers() -> list[type[Tokenizer]]:
    return [Words, Chars, Value]
