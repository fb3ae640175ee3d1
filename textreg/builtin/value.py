"""The whole text as one token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.params import param
from textreg.records import Tokens


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
    """The tokenizers of this module."""
    return [Value]
