"""Tokenizers that are no plugins: a callable of the user's program, and none at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NoReturn

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.isolation import blaming
from textreg.kinds import Tokenizer
from textreg.params import Parametrized
from textreg.records import Documents, Tokens
from textreg.records.documents import WANTED, NotTokensError, cut, names_of, tokenized
from textreg.records.numbering import tokens_of
from textreg.terminal import single_line

_MOST = 100
"""Characters of the name of a callable that are kept."""


class Unnamed(Tokenizer):
    """A tokenizer that no name stands for, so that a model file cannot bring it back alone."""

    def replace(self, /, **values: Any) -> NoReturn:
        """UsageError, as it has no parameters."""
        raise UsageError(
            f"tokenizer '{self.name}' has no parameters: leave out "
            f"{', '.join(f'tokenizer_{key}' for key in values)}."
        )


class CallableTokenizer(Unnamed):
    """A callable of the user's program: a function, a method, or an object such as spaCy's.

    Attributes
    ----------
    name : str
        The callable's own name, for messages only.
    function : callable
        Takes a text; returns a list of tokens, or of sentences of tokens, as for
        :func:`textreg.records.documents.cut`.
    """

    function: ClassVar[Any]

    @classmethod
    def of(cls, function: Callable[[str], Any]) -> CallableTokenizer:
        """The tokenizer that calls a function: of a class of its own, as its name differs."""
        named = _named(function)
        body = {
            "name": name_of(function),
            "function": staticmethod(function),
            "__module__": _module_of(named),  # so that it is no part of textreg
            "__qualname__": named.__qualname__,
        }
        made: type[CallableTokenizer] = type(cls.__name__, (cls,), body)
        return made()

    def __call__(self, text: str) -> list[list[str]]:
        """The tokens of every sentence of ``text``."""
        return names_of(self._cut(text, "a text"))

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The tokens of all ``texts``.

        ``spans`` can be had where tokens state their offset, ``idx``, as those of spaCy do. Raises
        UsageError if one does not, and for a result that is no tokens.
        """
        documents = [self._cut(text, f"document {n}") for n, text in enumerate(texts, 1)]
        tokens = tokens_of(documents, names_of)
        if not spans:
            return tokens
        sentences = [sentence for document in documents for sentence in document]
        places = [self._span(token) for sentence in sentences for token in sentence]
        found = np.array(places, dtype=np.int32).reshape(-1, 2)
        first, last = tokens.sentence_ptr[:-1], tokens.sentence_ptr[1:] - 1
        return Tokens(
            tokens.ids,
            tokens.sentence_ptr,
            tokens.document_ptr,
            tokens.vocabulary,
            spans=found,
            sentence_spans=np.column_stack([found[first, 0], found[last, 1]]),
        )

    def _cut(self, text: str, what: str) -> list[list[Any]]:
        """The tokens of a text; UsageError for another result, BrokenPluginError for a failure."""
        which = f"{what} ({single_line(repr(text[:40]))})"
        advice = "Correct it, or leave the document out."
        with blaming(lambda: f"tokenizer '{self.name}'", which, lambda: advice, often=True):
            try:
                return cut(self.function(text))
            except NotTokensError as error:
                raise UsageError(
                    f"tokenizer '{self.name}' gives {error} for {which}: it must give {WANTED}."
                ) from None

    def _span(self, token: Any) -> tuple[int, int]:
        start = getattr(token, "idx", None)
        if not isinstance(start, int):
            raise UsageError(f"tokenizer '{self.name}' does not give character offsets.")
        return start, start + len(token.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallableTokenizer) and self.function is other.function

    def __hash__(self) -> int:
        return hash(id(self.function))

    def __repr__(self) -> str:
        return f"CallableTokenizer({self.name})"

    def __reduce__(self) -> Any:
        # pickle looks classes up by their names, which are those of the functions here.
        return CallableTokenizer.of, (self.function,)


class Pretokenized(Unnamed):
    """Takes documents that are lists of tokens, or of sentences of tokens, in place of texts."""

    name = "pretokenized"

    def __call__(self, text: Any) -> list[list[str]]:
        """The tokens of every sentence of a document."""
        return tokenized([text])[0]

    def encode(self, texts: Documents, *, spans: bool = False) -> Tokens:
        """The tokens of all documents; DataError for a text among them."""
        if spans:
            raise UsageError(
                "the model takes lists of tokens, which have no character offsets: nothing can be "
                "shown in a text. Model.top_features shows the weights."
            )
        for number, document in enumerate(texts, 1):
            if isinstance(document, str):
                raise DataError(
                    f"document {number} is a text ({single_line(repr(document[:40]))}), but the "
                    "model takes lists of tokens, as it was trained on such lists. Give them in "
                    "Python, model.predict([['a', 'document']]); commands read texts only."
                )
        return tokens_of(tokenized(texts), iter)


def is_function(part: Any) -> bool:
    """Whether something can be called that is no part of textreg."""
    cls = part if isinstance(part, type) else type(part)
    return callable(part) and not issubclass(cls, Parametrized)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a callable, with its module, for messages; that of its class if it has none."""
    named = _named(function)
    module = _module_of(named)
    name = named.__qualname__
    if module not in ("builtins", "__main__"):
        name = f"{module}.{name}"
    return single_line(name)[:_MOST]


def _named(function: Callable[..., Any]) -> Any:
    """What gives a callable its name: itself, what it calls, or its class."""
    while isinstance(function, partial):
        function = function.func
    return function if hasattr(function, "__qualname__") else type(function)


def _module_of(named: Any) -> str:
    return getattr(named, "__module__", None) or "builtins"
