"""Known words and character n-grams, found in texts without a Python string for any of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict, runtime_checkable

from textreg.errors import UsageError
from textreg.records.documents import check_texts
from textreg.records.names import Names
from textreg.text import WordRules

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.records import Int32s, Int64s


class Occurrences(NamedTuple):
    """Every token of texts in reading order, as a number; as in Tokens, but for the vocabulary.

    Attributes
    ----------
    ids : ndarray of int32
        Tokens have the same number where they have the same name.
    sentence_ptr, document_ptr : ndarray of int64
        As of :class:`textreg.records.Tokens`.
    """

    ids: Int32s
    sentence_ptr: Int64s
    document_ptr: Int64s


class Known(Protocol):
    """Finds known tokens in texts."""

    def find(self, texts: Sequence[str]) -> tuple[Occurrences, Int32s]:
        """Every token of texts, and the index in the names of each number, or -1."""
        ...


@runtime_checkable
class Finding(Protocol):
    """A tokenizer that can find known tokens without the names of the others."""

    def known(self, names: Sequence[str]) -> Known:
        """What finds these names, each given once."""
        ...


class KnownWords:
    """Finds words as :func:`textreg.text.scan_words` does.

    Parameters
    ----------
    names : sequence of str
        The known words, each once.
    rules : WordRules

    Raises
    ------
    UsageError
        If two names are the same.
    """

    def __init__(self, names: Sequence[str], rules: WordRules) -> None:
        from textreg._core import text_known

        packed = Names.of(names)
        slots = text_known.index_names(packed.letters, packed.ptr)
        if slots is None:
            raise _repeated(names)
        self._known = packed.letters, packed.ptr, slots
        self._rules = rules

    def find(self, texts: Sequence[str]) -> tuple[Occurrences, Int32s]:
        """Every word of texts, and the index in the names of each number, or -1."""
        from textreg._core.text import encode

        lowercase, min_length, sentences, form, punctuation, emoji = self._rules
        ids, sentence_ptr, _, document_ptr, number, _, _ = encode(
            _in_form(texts, form),
            lowercase,
            min_length,
            sentences,
            punctuation,
            emoji,
            spans=False,
            known=self._known,
        )
        return Occurrences(ids, sentence_ptr, document_ptr), number


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
    rules
        The options of :func:`textreg.text.scan_chars`.

    Raises
    ------
    UsageError
        If two names are the same.
    """

    def __init__(self, names: Sequence[str], **rules: Unpack[CharRules]) -> None:
        from textreg._core import text_known

        packed = Names.of(names)
        tree = text_known.index_grams(packed.letters, packed.ptr)
        if tree is None:
            raise _repeated(names)
        self._slots, self._name_of = tree
        self._range = rules["ngram_range"]
        self._how = rules["lowercase"], rules["analyzer"] == "char", rules["sentences"]
        self._form = rules["normalize"]

    def find(self, texts: Sequence[str]) -> tuple[Occurrences, Int32s]:
        """Every n-gram of texts, and the index in the names of each number, or -1.

        Numbers beyond those are of n-grams that are not known.
        """
        from textreg._core import text_chars, text_known, text_runs

        spelled, run_ptr, runs, cuts, _, document_ptr, *_ = text_runs.runs(
            _in_form(texts, self._form), *self._how, False
        )
        ids, ptr = text_known.find_grams(
            spelled, run_ptr, *self._range, self._slots, len(self._name_of)
        )
        ids, ptr = text_chars.expand(ids, ptr, runs)
        return Occurrences(ids, ptr[cuts], document_ptr), self._name_of


def _repeated(names: Sequence[str]) -> UsageError:
    twice = next(name for name, count in Counter(names).items() if count > 1)
    return UsageError(f"the feature '{twice}' is known twice: give every name once.")


def _in_form(texts: Sequence[str], form: str) -> list[str]:
    """The texts, checked, in a normal form."""
    from textreg._core.text_forms import normal

    return [normal(text, form) for text in check_texts(texts)]
