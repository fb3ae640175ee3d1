"""Rows of known words and character n-grams, found without a Python string for any of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict, runtime_checkable

import numpy as np

from textreg.errors import UsageError
from textreg.records.documents import check_texts
from textreg.records.names import Names
from textreg.text import WordRules

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.records import Bools, Floats, Int32s, Int64s


class Wanted(NamedTuple):
    """What becomes of known tokens.

    Attributes
    ----------
    size : int
        The number of features.
    values : callable, optional
        The values of all counts up to a given one, at least, by which counts are replaced.
    idf : ndarray of float64, optional
        What the value of each feature is multiplied by.
    norm : int, default 0
        n if rows are divided by the lengths of those of 1 + ln(count) over all n-grams of 1 to n
        tokens, known or not.
    unit : bool, default False
        Whether rows are divided by their own lengths.
    numbers : sequence of ndarray of int32
        For each length of n-grams the features of these, or below 0; those of single tokens are in
        the order of the names. For character n-grams it is not used: names are features.
    children : sequence of pairs of ndarray
        The ``child_ptr`` and ``last`` of n-grams of two and more tokens.
    dropped : ndarray of uint8, optional
        Whether each name is left out first, before n-grams are formed.
    """

    size: int
    values: Callable[[int], Floats] | None = None
    idf: Floats | None = None
    norm: int = 0
    unit: bool = False
    numbers: Sequence[Int32s] = ()
    children: Sequence[tuple[Int64s, Int32s]] = ()
    dropped: Bools | None = None

    @property
    def how(self) -> tuple[object, ...]:
        """What the kernels take last."""
        return self.size, self.values, self.idf, self.norm, self.unit


class Known(Protocol):
    """Finds known tokens in texts."""

    def rows(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        """The rows of texts: indptr, indices and data, sorted."""
        ...


@runtime_checkable
class Finding(Protocol):
    """A tokenizer that can find known tokens without the names of the others."""

    def known(self, names: Sequence[str], wanted: Wanted) -> Known:
        """What finds these names, each given once."""
        ...


class KnownWords:
    """Finds words as :func:`textreg.text.scan_words` does.

    Parameters
    ----------
    names : sequence of str
        The known words, each once.
    rules : WordRules
    wanted : Wanted

    Raises
    ------
    UsageError
        If two names are the same.
    """

    def __init__(self, names: Sequence[str], rules: WordRules, wanted: Wanted) -> None:
        from textreg._core import text_known, text_word_rows

        packed = Names.of(names)
        slots = text_known.index_names(packed.letters, packed.ptr)
        if slots is None:
            raise _repeated(names)
        self._form = rules.normalize
        lowercase, min_length, sentences, _, punctuation, emoji = rules
        self._rows = text_word_rows.WordRows(
            (packed.letters, packed.ptr, slots),
            None if wanted.dropped is None else wanted.dropped.view(np.uint8),
            list(wanted.children),
            list(wanted.numbers),
            (lowercase, min_length, sentences, punctuation, emoji),
            *wanted.how,
        )

    def rows(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        """The rows of texts: indptr, indices and data, sorted."""
        return self._rows(_in_form(texts, self._form))


class CharRules(TypedDict):
    """The options of :func:`textreg.text.scan_chars`."""

    ngram_range: tuple[int, int]
    analyzer: str
    lowercase: bool
    sentences: str
    normalize: str


class KnownChars:
    """Finds character n-grams as :func:`textreg.text.scan_chars` does.

    Parameters
    ----------
    names : sequence of str
        The known n-grams, each once.
    wanted : Wanted
    rules
        The options of :func:`textreg.text.scan_chars`.

    Raises
    ------
    UsageError
        If two names are the same.
    """

    def __init__(self, names: Sequence[str], wanted: Wanted, **rules: Unpack[CharRules]) -> None:
        from textreg._core import text_char_rows, text_known_grams

        packed = Names.of(names)
        tree = text_known_grams.index_grams(packed.letters, packed.ptr)
        if tree is None:
            raise _repeated(names)
        self._form = rules["normalize"]
        self._rows = text_char_rows.CharRows(
            tree,
            rules["ngram_range"],
            (rules["lowercase"], rules["analyzer"] == "char", rules["sentences"]),
            *wanted.how,
        )

    def rows(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        """The rows of texts: indptr, indices and data, sorted."""
        return self._rows(_in_form(texts, self._form))


def _repeated(names: Sequence[str]) -> UsageError:
    twice = next(name for name, count in Counter(names).items() if count > 1)
    return UsageError(f"the feature '{twice}' is known twice: give every name once.")


def _in_form(texts: Sequence[str], form: str) -> list[str]:
    """The texts, checked, in a normal form."""
    from textreg._core.text_forms import normal

    return [normal(text, form) for text in check_texts(texts)]
