"""Words, sentences and counts of texts, and rows of known words without a string for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.jobs import one_thread_in_blas
from textreg.records import Bools, Floats, Int32s, Int64s, Tokens
from textreg.records.arrays import row_of
from textreg.records.documents import check_texts
from textreg.records.text import Names

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


#: Where sentences end: after punctuation (and at blank lines), at the ends of lines, at lines
#: without a word, or only at the end of the text.
SENTENCES = ("punct", "lines", "paragraphs", "none")

#: Whether character n-grams stay inside words or run across them; the names are scikit-learn's.
ANALYZERS = ("char_wb", "char")


class WordRules(NamedTuple):
    """What a word is, for :func:`scan_words`; the parameters of tokenizer ``words``.

    Attributes
    ----------
    lowercase : bool, default True
        Fold case by :meth:`str.casefold`, as the Unicode Standard (section 3.13) does to compare
        without it: ``STRASSE`` and ``Straße`` are one word, and so are ``ΟΔΟΣ`` and ``οδος``.
    min_length : int, default 1
        Drop words with fewer characters, but not those of scripts without spaces.
    sentences : {"punct", "lines", "paragraphs", "none"}, default "punct"
        Where sentences end; see ``SENTENCES``. Sentences without a token are dropped.
    normalize : {"nfc", "nfkc", "none"}, default "nfc"
        The normal form (Unicode Standard Annex #15) of the words: ``é`` is one character, however
        it was written; with ``"nfkc"``, forms of one character for other widths, circles or
        fractions are the same too.
    punctuation : bool, default False
        Whether runs of punctuation marks and symbols, such as ``?!`` or ``:-)``, are tokens too.
    emoji : bool, default False
        Whether emoji are tokens too: a sequence with joiners, colors of skin or the letters of a
        flag is one (Unicode Technical Standard #51).
    """

    lowercase: bool = True
    min_length: int = 1
    sentences: str = "punct"
    normalize: str = "nfc"
    punctuation: bool = False
    emoji: bool = False


ALL_WORDS = WordRules()


class CharRules(NamedTuple):
    """What n-grams are, for :func:`scan_chars`; the parameters of tokenizer ``chars``.

    Attributes
    ----------
    min_n, max_n : int, default 2 and 5
        The minimum and maximum number of characters (code points) in an n-gram. What has fewer
        than the minimum is one n-gram as a whole.
    analyzer : {"char_wb", "char"}, default "char_wb"
        N-grams of what stands between white space, with a blank on both sides; or of a sentence,
        across its words.
    lowercase : bool, default True
        Convert the texts by :meth:`str.lower` first.
    sentences : {"punct", "lines", "paragraphs", "none"}, default "punct"
        Where sentences end; see ``SENTENCES``. They are those of :func:`scan_words`, but a text
        without words has one. An end where there is no white space cuts the word there.
    normalize : {"nfc", "nfkc", "none"}, default "nfc"
        The normal form (Unicode Standard Annex #15) of the texts, before anything else.
    """

    min_n: int = 2
    max_n: int = 5
    analyzer: str = "char_wb"
    lowercase: bool = True
    sentences: str = "punct"
    normalize: str = "nfc"


ALL_CHARS = CharRules()


def scan_words(
    texts: Sequence[str], rules: WordRules = ALL_WORDS, *, spans: bool = False
) -> Tokens:
    """Split texts into words and sentences, in one compiled pass.

    Words are runs of letters, digits, underscores and the marks that belong to them; in scripts
    without spaces between words, they are single letters with their marks. A paragraph is a run of
    whole sentences between lines without a word.

    Parameters
    ----------
    texts : sequence of str
    rules : WordRules, optional
    spans : bool, default False
        Whether to return character offsets, which are those of the texts as given. The span of a
        sentence runs from its first word to its last, with the punctuation attached to that.

    Returns
    -------
    Tokens
        The vocabulary is sorted by name, in code point order.

    Raises
    ------
    UsageError, DataError
        If ``texts`` is not a sequence of str.

    Examples
    --------
    >>> tokens = scan_words(["It broke. I am sad.", "It works."])
    >>> tokens.vocabulary
    ['am', 'broke', 'i', 'it', 'sad', 'works']
    >>> tokens.ids, tokens.sentence_ptr, tokens.document_ptr
    (array([3, 1, 2, 0, 4, 3, 5], dtype=int32), array([0, 2, 5, 7]), array([0, 2, 3]))
    """
    from textreg._core.text import encode

    lowercase, min_length, sentences, form, punctuation, emoji = rules
    texts, in_form = _in_form(texts, form, spans=spans)
    scan = encode(in_form, lowercase, min_length, sentences, punctuation, emoji, spans)
    return _tokens(scan, texts, in_form, form)


def split_words(text: str, rules: WordRules = ALL_WORDS) -> list[list[str]]:
    """Split one text as :func:`scan_words` does.

    Parameters
    ----------
    text : str
    rules : WordRules, optional

    Returns
    -------
    list of list of str
        The words of every sentence.

    Examples
    --------
    >>> split_words("It broke. I am sad.")
    [['it', 'broke'], ['i', 'am', 'sad']]
    """
    return _sentences_of(scan_words([text], rules))


def scan_chars(
    texts: Sequence[str], rules: CharRules = ALL_CHARS, *, spans: bool = False
) -> Tokens:
    """Split texts into character n-grams and sentences, computed once for every distinct word.

    They are those of scikit-learn's analyzers, but that all white space becomes one blank, none is
    kept at the ends of a text, and n-grams do not cross the ends of sentences.

    Parameters
    ----------
    texts : sequence of str
    rules : CharRules, optional
    spans : bool, default False
        Whether to return character offsets. Blanks of an n-gram are not part of its span, unless it
        is nothing else.

    Returns
    -------
    Tokens
        In order of the first characters of the n-grams, shorter ones first. The vocabulary is
        sorted by name, in code point order.

    Raises
    ------
    UsageError, DataError
        If ``texts`` is not a sequence of str.

    Examples
    --------
    >>> tokens = scan_chars(["It is"], CharRules(min_n=2, max_n=3))
    >>> [tokens.vocabulary[id] for id in tokens.ids]
    [' i', ' it', 'it', 'it ', 't ', ' i', ' is', 'is', 'is ', 's ']
    """
    from textreg._core.text_chars import encode

    min_n, max_n, analyzer, lowercase, sentences, form = rules
    texts, in_form = _in_form(texts, form, spans=spans)
    across = analyzer == "char"
    scan = encode(in_form, lowercase, across, sentences, min_n, max_n, spans)
    return _tokens(scan, texts, in_form, form)


def split_chars(text: str, rules: CharRules = ALL_CHARS) -> list[list[str]]:
    """Split one text as :func:`scan_chars` does.

    Parameters
    ----------
    text : str
    rules : CharRules, optional

    Returns
    -------
    list of list of str
        The n-grams of every sentence.

    Examples
    --------
    >>> split_chars("It is", CharRules(min_n=2, max_n=2))
    [[' i', 'it', 't ', ' i', 'is', 's ']]
    """
    return _sentences_of(scan_chars([text], rules))


def _sentences_of(tokens: Tokens) -> list[list[str]]:
    """The names of the tokens of every sentence."""
    names = [tokens.vocabulary[id] for id in tokens.ids.tolist()]
    return [names[start:end] for start, end in pairwise(tokens.sentence_ptr.tolist())]


def _tokens(
    scan: tuple[Any, ...], texts: Sequence[str], normal: Sequence[str], form: str
) -> Tokens:
    """What a scan of the normal forms of texts gives, with spans in the texts themselves."""
    from textreg._core.text_forms import move, places

    ids, sentence_ptr, paragraph_ptr, document_ptr, vocabulary, spans, sentence_spans = scan
    for document, text in enumerate(texts if spans is not None else ()):
        if normal[document] is not text:
            to_text = places(text, form)
            first, last = document_ptr[document : document + 2]
            start, end = sentence_ptr[first], sentence_ptr[last]
            move(sentence_spans[first:last], *to_text)
            move(spans[start:end], *to_text)
    return Tokens(ids, sentence_ptr, document_ptr, vocabulary, spans, sentence_spans, paragraph_ptr)


def _in_form(texts: Sequence[str], form: str, *, spans: bool) -> tuple[Sequence[str], list[str]]:
    """The texts, checked, and their normal forms; DataError if spans do not fit their type."""
    from textreg._core.text_forms import normal

    texts = check_texts(texts)
    if spans and any(len(text) >= 2**31 for text in texts):
        raise DataError("character offsets end at 2,147,483,647; cut the longer texts.")
    return texts, [normal(text, form) for text in texts]


def renumber(tokens: Tokens, new: Int32s, vocabulary: Sequence[str]) -> Tokens:
    """Change the vocabulary of tokens, and drop the tokens that are not in the new one.

    Parameters
    ----------
    tokens : Tokens
    new : ndarray of int32, shape (features,)
        For every old feature its index in ``vocabulary``, or a negative number to drop it.
    vocabulary : sequence of str
        The new names.

    Returns
    -------
    Tokens
        With the same sentences and documents, which may be empty.
    """
    from textreg._core import text_counts

    ids, sentence_ptr = text_counts.renumber(tokens.ids, tokens.sentence_ptr, new)
    return Tokens(
        ids=ids,
        sentence_ptr=sentence_ptr,
        document_ptr=tokens.document_ptr,
        vocabulary=vocabulary,
        spans=None if tokens.spans is None else tokens.spans[new[tokens.ids] >= 0],
        sentence_spans=tokens.sentence_spans,
        paragraph_ptr=tokens.paragraph_ptr,
    )


class CsrArrays(NamedTuple):
    """The arrays of a CSR matrix with sorted columns; predicting needs no import of SciPy.

    Attributes
    ----------
    indptr : ndarray of int64, shape (rows + 1,)
    indices : ndarray of int32
    data : ndarray of float64
    """

    indptr: Int64s
    indices: Int32s
    data: Floats

    def matrix(self, n_columns: int) -> csr_array:
        """The matrix, of shape (rows, ``n_columns``)."""
        from scipy.sparse import csr_array

        # SciPy wants both index arrays in one type.
        index = np.int32 if len(self.indices) < 2**31 else np.int64
        X = csr_array(
            (self.data, self.indices.astype(index, copy=False), self.indptr.astype(index)),
            shape=(len(self.indptr) - 1, n_columns),
        )
        X.has_canonical_format = True  # spares SciPy a check
        return X


def count(tokens: Tokens) -> csr_array:
    """Count the features of every document.

    Parameters
    ----------
    tokens : Tokens

    Returns
    -------
    csr_array of float64, shape (documents, features)
    """
    return count_rows(tokens).matrix(len(tokens.vocabulary))


def count_rows(tokens: Tokens) -> CsrArrays:
    """Count the features of every document; the arrays of :func:`count`.

    Parameters
    ----------
    tokens : Tokens

    Returns
    -------
    CsrArrays
    """
    from textreg._core import text_counts

    return CsrArrays(
        *text_counts.count(tokens.ids, tokens.token_document_ptr, len(tokens.vocabulary))
    )


def document_frequencies(tokens: Tokens, documents: Int64s | None = None) -> Int64s:
    """In how many documents every feature occurs.

    Parameters
    ----------
    tokens : Tokens
    documents : ndarray of int64, optional
        Those that are looked at; all by default.

    Returns
    -------
    ndarray of int64, shape (features,)
    """
    from textreg._core import text_counts

    ptr, n_features = tokens.token_document_ptr, len(tokens.vocabulary)
    return text_counts.document_frequencies(tokens.ids, ptr, n_features, documents)


def only_words(tokens: Tokens) -> Tokens:
    """Drop n-grams, which are the features with a space in their names.

    Parameters
    ----------
    tokens : Tokens

    Returns
    -------
    Tokens
        ``tokens`` itself if it has no n-grams.
    """
    words = [name for name in tokens.vocabulary if " " not in name]
    if len(words) == len(tokens.vocabulary):
        return tokens
    is_word = np.array([" " not in name for name in tokens.vocabulary])
    new = np.where(is_word, np.cumsum(is_word) - 1, -1).astype(np.int32)
    return renumber(tokens, new, words)


def feature_sets(ids: Int32s, ptr: Int64s, n_features: int) -> tuple[Int64s, Int32s]:
    """The distinct features of every segment, sorted.

    Parameters
    ----------
    ids : ndarray of int32
        Feature ids.
    ptr : ndarray of int64
        Segment k is ``ids[ptr[k]:ptr[k + 1]]``, as in ``Tokens.sentence_ptr``.
    n_features : int

    Returns
    -------
    indptr : ndarray of int64
    indices : ndarray of int32
        Segment k has the features ``indices[indptr[k]:indptr[k + 1]]``.
    """
    from textreg._core import text_counts

    return text_counts.sentence_sets(ids, ptr, n_features)


def cooccurrences(tokens: Tokens, window: int) -> csr_array:
    """Count how often two features occur within one window.

    Parameters
    ----------
    tokens : Tokens
    window : int
        Number of occurrences in a window. Windows slide over whole documents. A pair of
        occurrences counts once, in however many windows it is; a feature and itself do not count.

    Returns
    -------
    csr_array of float64, shape (features, features)
        Symmetric.
    """
    from scipy.sparse import csr_array

    p = len(tokens.vocabulary)
    document = row_of(tokens.token_document_ptr)
    X = csr_array((p, p))
    for distance in range(1, window):
        one, other = tokens.ids[:-distance], tokens.ids[distance:]
        counts = (document[:-distance] == document[distance:]) & (one != other)
        pairs = one[counts], other[counts]
        # One distance at a time, so that not all pairs are in memory at once.
        X = X + csr_array((np.ones(len(pairs[0])), pairs), shape=(p, p))
    return (X + X.T).tocsr()


def word_vectors(
    tokens: Tokens, kept: NDArray[np.intp], window: int, dimensions: int, seed: int = 0
) -> Floats:
    """Vectors of features from the company they keep.

    The leading singular vectors, times the roots of their values, of positive pointwise mutual
    information, contexts smoothed by the power 3/4 (Levy, Goldberg & Dagan 2015, sections 2 and 3).

    Parameters
    ----------
    tokens : Tokens
    kept : ndarray of int
        The features, two at least.
    window : int
        As of :func:`cooccurrences`.
    dimensions : int
        Length of the vectors; fewer where fewer features are kept.
    seed : int, default 0
        Of the vector that the singular value decomposition starts from.

    Returns
    -------
    ndarray of shape (kept, dimensions)
    """
    from scipy.sparse.linalg import svds

    counts = cooccurrences(tokens, window)[kept][:, kept].tocoo()
    row, context = np.asarray(counts.sum(axis=1)), np.asarray(counts.sum(axis=0)) ** 0.75
    total = context.sum()
    mutual = np.log(counts.data * total / (row[counts.row] * context[counts.col]))
    counts.data = np.maximum(mutual, 0.0)
    positive = counts.tocsr()
    positive.eliminate_zeros()
    dimensions = min(dimensions, len(kept) - 1)
    start = np.random.default_rng(seed).standard_normal(len(kept))
    with one_thread_in_blas(loaded=True):
        U, s, _ = svds(positive, k=dimensions, v0=start)
    return np.asarray(U[:, ::-1] * np.sqrt(s[::-1]))


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


class Known:
    """Finds known tokens by compiled code, the class ``kernel``, whose options are ``how``."""

    def __init__(self, kernel: Any, names: Sequence[str], form: str, *how: Any) -> None:
        packed = Names.of(names)
        self._form, self._rows = form, kernel((packed.letters, packed.ptr), *how)
        if not self._rows.distinct:
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise UsageError(f"the feature '{twice}' is known twice: give every name once.")

    def rows(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        """The rows of texts: indptr, indices and data, sorted."""
        _, in_form = _in_form(texts, self._form, spans=False)
        rows: tuple[Int64s, Int32s, Floats] = self._rows(in_form)
        return rows


@runtime_checkable
class Finding(Protocol):
    """A tokenizer that can find known tokens without the names of the others."""

    def known(self, names: Sequence[str], wanted: Wanted) -> Known:
        """What finds these names, each given once."""
        ...


class KnownWords(Known):
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
        from textreg._core.text_rows import WordRows

        lowercase, min_length, sentences, form, punctuation, emoji = rules
        dropped = None if wanted.dropped is None else wanted.dropped.view(np.uint8)
        grams = list(wanted.children), list(wanted.numbers)
        words = lowercase, min_length, sentences, punctuation, emoji
        super().__init__(WordRows, names, form, dropped, *grams, words, *wanted.how)


class KnownChars(Known):
    """Finds character n-grams as :func:`textreg.text.scan_chars` does.

    Parameters
    ----------
    names : sequence of str
        The known n-grams, each once.
    rules : CharRules
    wanted : Wanted

    Raises
    ------
    UsageError
        If two names are the same.
    """

    def __init__(self, names: Sequence[str], rules: CharRules, wanted: Wanted) -> None:
        from textreg._core.text_rows import CharRows

        min_n, max_n, analyzer, lowercase, sentences, form = rules
        words = lowercase, analyzer == "char", sentences
        super().__init__(CharRows, names, form, (min_n, max_n), words, *wanted.how)
