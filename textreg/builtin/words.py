"""The default tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.known import KnownWords, Wanted
from textreg.params import param
from textreg.records import Tokens
from textreg.text import SENTENCES, WordRules, scan_words, split_words


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
    min_length: int = param(
        default=1,
        min=1,
        max=1000,
        help="drop words with fewer characters",
    )
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


@hookimpl
def textreg_tokenizers() -> list[type[Tokenizer]]:
    """The tokenizers of this module."""
    return [Words]
