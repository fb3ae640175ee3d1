"""Character n-grams."""

from __future__ import annotations

from collections.abc import Sequence

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.known import CharRules, KnownChars, Wanted
from textreg.params import param
from textreg.records import Tokens
from textreg.text import ANALYZERS, SENTENCES, scan_chars, split_chars


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
        return split_chars(text, **self._how)

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The n-grams of all ``texts``, by :func:`textreg.text.scan_chars`."""
        return scan_chars(texts, **self._how, spans=spans)

    def known(self, names: Sequence[str], wanted: Wanted) -> KnownChars:
        """What finds known n-grams in new texts, without names of the others."""
        return KnownChars(names, wanted, **self._how)

    @property
    def _how(self) -> CharRules:
        return {
            "ngram_range": (self.min_n, self.max_n),
            "analyzer": self.analyzer,
            "lowercase": self.lowercase,
            "sentences": self.sentences,
            "normalize": self.normalize,
        }


@hookimpl
def textreg_tokenizers() -> list[type[Tokenizer]]:
    """The tokenizers of this module."""
    return [Chars]
