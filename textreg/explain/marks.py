"""Documents in which people marked the passages that are the reason for a label."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean, first_few, shortened

if TYPE_CHECKING:
    from textreg.records import Int64s


class MarkedDocument(NamedTuple):
    """A text and its marked passages.

    Attributes
    ----------
    text : str
    passages : ndarray of int64, shape (p, 2)
        Where they begin and end, as offsets of characters; they may overlap.
    sentences : ndarray of int64, shape (s, 2), optional
        The same of the sentences, in order and without overlap; None for those of the model's
        tokenizer.
    """

    text: str
    passages: Int64s
    sentences: Int64s | None = None

    @classmethod
    def of(cls, text: str, passages: Any, sentences: Any = None) -> MarkedDocument:
        """The document with lists of pairs; DataError if they are no offsets in the text."""
        columns = Columns("passages", None if sentences is None else "sentences")
        row = {"passages": passages, "sentences": sentences}
        return marked_document(text, row, columns, "document")


class Columns(NamedTuple):
    """The columns of marked passages and, if they are given, of sentences."""

    evidence: str
    sentences: str | None = None


def marked_document(
    text: str, record: Mapping[str, Any], columns: Columns, where: str
) -> MarkedDocument:
    """The document of a row of a file.

    Parameters
    ----------
    text : str
    record : mapping
        The fields of the row by the names of their columns. Passages and sentences are lists of
        pairs of offsets, or texts with such a list as JSON; a missing or empty value stands for
        none.
    columns : Columns
    where : str
        ``file:line`` of the row, for messages.

    Returns
    -------
    MarkedDocument

    Raises
    ------
    DataError
        If a value is no list of pairs, an offset is not within the text, or sentences overlap.
    """
    place = f"{where}: '{columns.evidence}'"
    passages = _spans(record.get(columns.evidence), len(text), place)
    if columns.sentences is None:
        return MarkedDocument(text, passages)
    place = f"{where}: '{columns.sentences}'"
    sentences = _spans(record.get(columns.sentences), len(text), place)
    if (wrong := np.flatnonzero(sentences[1:, 0] < sentences[:-1, 1])).size:
        first, second = sentences[wrong[0] : wrong[0] + 2].tolist()
        raise DataError(
            f"{place} has {second} after {first}: sentences stand in order and do not overlap. "
            "Correct the row, or leave out the column: the tokenizer then finds the sentences."
        )
    return MarkedDocument(text, passages, sentences)


def require_columns(columns: Columns, names: Sequence[str], where: str) -> None:
    """UsageError if a column is not among ``names``."""
    for column in filter(None, columns):
        if column not in names:
            listed = first_few([shortened(name) for name in names], 20)
            raise UsageError(
                f"{where}: no column '{column}'.{did_you_mean(column, names)} There are: {listed}."
            )


def _spans(value: Any, length: int, place: str) -> Int64s:
    """Pairs of offsets in a text of ``length`` characters."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise _no_list(place, value) from None
    if value is None or (isinstance(value, str) and not value.strip()):
        value = []
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _no_list(place, value)
    for pair in value:
        if (
            not isinstance(pair, Sequence)
            or len(pair) != 2
            or not all(isinstance(at, int) and not isinstance(at, bool) for at in pair)
        ):
            raise _no_list(place, pair)
        start, end = pair
        if not 0 <= start < end <= length:
            raise DataError(
                f"{place} has [{start}, {end}], but the text has the characters 0 to {length}, and "
                "a passage begins before it ends. Offsets count characters, not bytes, of the text "
                "as it was read, and the end is the first character after the passage: correct the "
                "row."
            )
    return np.array(value, dtype=np.int64).reshape(-1, 2)


def _no_list(place: str, value: Any) -> DataError:
    shown = shortened(value if isinstance(value, str) else json.dumps(value, default=str))
    return DataError(
        f"{place} has {shown}, not a list of pairs of offsets such as [[0, 12], [40, 55]]: the "
        "first character of each passage, and the one after its last. Correct the row, or name "
        "another column."
    )
