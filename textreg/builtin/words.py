"""The default tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.params import param
from textreg.records import Tokens
from textreg.text import SENTENCES, scan_words, split_words


class Words(Tokenizer):
    """Runs of letters, digits and underscores: Python's ``\\w+``, in any script.

    With ``sentences="punct"`` a sentence ends at ``. ! ? …`` (and closing quotes or brackets)
    before white space, unless a lower-case letter follows or the full stop belongs to an
    abbreviation, an initial or a number; at an end mark that stands alone, as in text already
    tokenized; at a line without a word; at a colon that ends a line; and before a line such as
    ``Subject: …`` in a mail.
    """

    name = "words"
    lowercase: bool = param(default=True, help="make all letters small")
    min_length: int = param(default=1, min=1, help="leave out words of fewer characters")
    sentences: str = param(default="punct", choices=SENTENCES, help="where sentences end")

    def __call__(self, text: str) -> list[list[str]]:
        """The words of ``text``, one list a sentence, in plain Python."""
        return split_words(
            text,
            lowercase=self.lowercase,
            min_length=self.min_length,
            sentences=self.sentences,
        )

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The same of all ``texts`` in one compiled pass, with the vocabulary sorted by name."""
        return scan_words(
            texts,
            lowercase=self.lowercase,
            min_length=self.min_length,
            sentences=self.sentences,
            spans=spans,
        )


@hookimpl
def textreg_tokenizers() -> list[type[Tokenizer]]:
    """The tokenizers of this module."""
    return [Words]
