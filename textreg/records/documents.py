"""Documents: texts, or lists of tokens, as programs and their own tokenizers give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from textreg.errors import DataError, UsageError
from textreg.records.columns import as_column, is_missing
from textreg.records.stored_texts import TextsElsewhere
from textreg.terminal import single_line

Document: TypeAlias = str | Iterable[str] | Iterable[Iterable[str]]
"""A text; or its tokens; or its sentences, each its tokens."""

Documents: TypeAlias = Sequence[str] | Sequence[Sequence[str]] | Sequence[Sequence[Sequence[str]]]
"""Texts; or lists of tokens; or lists of sentences, which are lists of tokens."""

TokenLists: TypeAlias = list[list[list[str]]]
"""The tokens of every sentence of every document."""

WANTED = "a list of tokens, or a list of sentences that are lists of tokens"


class NotTokensError(ValueError):
    """Something is neither tokens nor sentences of tokens; its text says what it is."""


def cut(found: Any) -> list[list[Any]]:
    """The sentences of tokens in what stands for one document.

    Parameters
    ----------
    found : iterable
        Of tokens, or of sentences that are iterables of tokens. A token is a str, or an object
        whose attribute ``text`` is one. An object with ``sents``, as spaCy has, gives those where
        it knows them.

    Returns
    -------
    list of list
        The tokens, as they are, of every sentence. Tokens of white space alone are left out, and so
        are sentences without tokens.

    Raises
    ------
    NotTokensError
        For anything else: tokens beside sentences, numbers, or a set, which has no order.
    """
    if not _is_listed(found):
        raise NotTokensError(_described(found))
    knows = getattr(found, "has_annotation", None)  # of spaCy; without sentences, sents raises
    sents = getattr(found, "sents", None) if knows is None or knows("SENT_START") else None
    items = list(found if sents is None else sents)
    nested = [not _is_token(item) for item in items]
    if any(nested) and not all(nested):
        odd = items[nested.index(True)]
        what = "a list" if _is_listed(odd) else _described(odd)
        raise NotTokensError(f"a list of tokens with {what} among them")
    sentences = items if any(nested) else [items]
    return [tokens for sentence in sentences if (tokens := _tokens(sentence))]


def names_of(sentences: Iterable[Iterable[Any]]) -> list[list[str]]:
    """The names of the tokens that :func:`cut` gives."""
    return [[_name(token) for token in sentence] for sentence in sentences]


def is_tokenized(documents: Iterable[Any]) -> bool:
    """Whether the first of some documents is no text but tokens, or sentences of them."""
    first = next(iter(documents), "") if hasattr(documents, "__len__") else ""
    return _is_listed(first)


def tokenized(
    documents: Iterable[Any], where: Callable[[int], str] = lambda row: f"document {row + 1}"
) -> TokenLists:
    """Documents that are tokens, in one form.

    Parameters
    ----------
    documents : iterable
        Each as for :func:`cut`.
    where : callable, optional
        Names a document by its index, for messages.

    Returns
    -------
    list of list of list of str
        The tokens of every sentence of every document.

    Raises
    ------
    DataError
        If a document is a text, or no tokens at all.
    """
    lists = []
    for row, document in enumerate(documents):
        try:
            lists.append(names_of(cut(document)))
        except NotTokensError as error:
            raise DataError(
                f"{where(row)} is {error}, where tokens are expected: each document must be "
                f"{WANTED}, in training and prediction alike."
            ) from None
    return lists


def check_documents(documents: Documents | Iterable[str]) -> Documents:
    """Check that documents are texts, as :func:`check_texts` does, or bring tokens in one form.

    Parameters
    ----------
    documents : iterable
        Of str; or of tokens or sentences of tokens, as for :func:`tokenized`. Also a column of any
        data frame, or a data frame of one.

    Returns
    -------
    sequence of str, or list of list of list of str
        The texts, or the tokens of every sentence of every document.

    Raises
    ------
    UsageError
        If it is a single text.
    DataError
        If an item is neither, or of another form than the first.
    """
    documents = as_column(documents, "documents")
    return tokenized(documents) if is_tokenized(documents) else check_texts(documents)


def check_texts(texts: Documents | Iterable[str]) -> Sequence[str]:
    """Check that ``texts`` is a sequence of str.

    Parameters
    ----------
    texts : iterable of str
        Also a column of any data frame, or a data frame of one.

    Returns
    -------
    sequence of str
        ``texts`` itself if it is a list or tuple, or texts in a file, else a list of its items.

    Raises
    ------
    UsageError
        If it is a single text.
    DataError
        If an item is not a str.
    """
    if isinstance(texts, TextsElsewhere):
        return texts
    if isinstance(texts, (str, bytes)):
        raise UsageError("expected a list of texts, got a single text: put it in a list.")
    checked: Sequence[Any] = as_column(texts, "texts")
    for number, text in enumerate(checked, 1):
        if not isinstance(text, str):
            hint = "Leave such documents out, or replace them by an empty text."
            if is_missing(text):
                raise DataError(f"document {number} is missing ({text!r}). {hint}")
            if isinstance(text, (list, tuple)):
                hint = "Lists of tokens are for models that are trained on such lists alone."
            raise DataError(
                f"document {number} is not a text but {text!r:.40} ({type(text).__name__}). {hint}"
            )
    return checked


def _is_listed(found: Any) -> bool:
    """Whether something can be iterated over, in an order of its own, and is no text."""
    if isinstance(found, (str, bytes, Mapping, AbstractSet)) or getattr(found, "ndim", 1) == 0:
        return False
    return isinstance(found, Iterable)


def _is_token(item: Any) -> bool:
    if isinstance(item, str):
        return True
    # A sentence of spaCy has a text, too.
    return isinstance(getattr(item, "text", None), str) and not isinstance(item, Iterable)


def _name(token: Any) -> str:
    return str(token if isinstance(token, str) else token.text)


def _tokens(sentence: Any) -> list[Any]:
    """The tokens of a sentence that are not only white space."""
    if not _is_listed(sentence):
        raise NotTokensError(f"a list with {_described(sentence)} in it")
    tokens = list(sentence)
    for token in tokens:
        if not _is_token(token):
            what = "a list" if _is_listed(token) else _described(token)
            raise NotTokensError(f"a list of sentences with {what} in place of a token")
    return [token for token in tokens if _name(token).strip()]


def _described(found: Any) -> str:
    """What came instead of tokens, for a message."""
    if found is None:
        return "None"
    if isinstance(found, str):
        return f"the text {single_line(repr(found)):.40}"
    if isinstance(found, (Mapping, AbstractSet)):
        return f"a {type(found).__name__} (without an order of tokens)"
    return f"{single_line(repr(found)):.40} ({type(found).__name__})"
