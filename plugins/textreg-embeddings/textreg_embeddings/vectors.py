"""Word vectors: from files of word2vec and GloVe, or from the co-occurrences of a text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from textreg.errors import DataError
from textreg.files import numbered_lines, open_binary
from textreg.records import Tokens
from textreg.text import cooccurrences

Floats = NDArray[np.float64]


def read_vectors(path: str, wanted: Collection[str]) -> tuple[list[str], Floats]:
    """The ``wanted`` words that a file has, in its order, and their vectors (words, dimensions).

    The file is one of word2vec, binary or text, or of GloVe (text without a first line of sizes),
    compressed or not (``.gz``); which of them is seen from its beginning. Only the vectors wanted
    are kept in memory. Raises UsageError for a file that cannot be opened, and DataError, with the
    line or the number of the word, where it is damaged.
    """
    reader = _binary if _is_binary(path) else _text
    words: list[str] = []
    vectors: list[Floats] = []
    seen: set[str] = set()
    for where, word, vector in reader(path, wanted):
        if not np.isfinite(vector).all():
            raise DataError(f"{where}: the vector of '{word}' has a value that is not finite.")
        if word not in seen:  # GloVe has some words twice, the frequent one first
            seen.add(word)
            words.append(word)
            vectors.append(vector)
    return words, np.array(vectors, dtype=np.float64)


def _is_binary(path: str) -> bool:
    """Whether a file has the sizes of word2vec in its first line and no numbers in its second."""
    with open_binary(path) as file:
        sizes = _sizes(file.readline(200))
        if sizes is None:
            return False
        fields = file.readline(1 << 20).split()
    try:
        return len([float(field) for field in fields[-sizes[1] :]]) < sizes[1]
    except ValueError:
        return True


def _sizes(line: bytes) -> tuple[int, int] | None:
    """The two numbers of word2vec's first line: words and dimensions."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _text(path: str, wanted: Collection[str]) -> Iterator[tuple[str, str, Floats]]:
    """Lines of a word and its numbers; a word may have spaces in it, as some of GloVe's do."""
    size = 0
    for number, line in numbered_lines(path):
        if number == 1 and (sizes := _sizes(line.encode())) is not None:
            size = sizes[1]
            continue
        fields = line.rstrip().split(" ")
        size = size or len(fields) - 1
        word = " ".join(fields[:-size])
        where = f"{path}:{number}"
        if size < 1 or not word:
            raise DataError(
                f"{where}: {line!r:.40} is no word with {size or 'some'} numbers after it. Give a "
                "file of word2vec or GloVe."
            )
        if word in wanted:
            try:
                yield where, word, np.array(fields[-size:], dtype=np.float64)
            except ValueError:
                raise DataError(
                    f"{where}: one of the {size} numbers of '{word}' is none. Get a fresh copy."
                ) from None


def _binary(path: str, wanted: Collection[str]) -> Iterator[tuple[str, str, Floats]]:
    """word2vec's binary form: word, space, float32 numbers, and sometimes a line end."""
    with open_binary(path) as file:
        sizes = _sizes(file.readline(200))
        assert sizes is not None  # as _is_binary saw
        for number in range(1, sizes[0] + 1):
            where = f"{path}, word {number} of {sizes[0]}"
            word = _word(file, where)
            block = file.read(4 * sizes[1])
            if len(block) < 4 * sizes[1]:
                raise DataError(f"{where}: the file ends too early. Get a fresh copy.")
            if word in wanted:
                yield where, word, np.frombuffer(block, dtype="<f4").astype(np.float64)


def _word(file: IO[bytes], where: str) -> str:
    """The bytes up to the next space."""
    letters = bytearray()
    while (letter := file.read(1)) != b" ":
        if not letter or len(letters) > 10_000:
            raise DataError(f"{where}: there is no word where one should be. Get a fresh copy.")
        if letter != b"\n":  # the end of the vector before
            letters += letter
    return letters.decode("utf-8", errors="replace")


def train_vectors(
    tokens: Tokens, kept: NDArray[np.intp], window: int, dimensions: int, seed: int
) -> Floats:
    """Vectors of the features ``kept`` from the company they keep: (kept, at most dimensions).

    The leading singular vectors, times the roots of their values, of positive pointwise mutual
    information within ``window`` words, contexts smoothed by the power 3/4 (Levy, Goldberg & Dagan
    2015, sections 2 and 3). Fewer dimensions where fewer features are kept.
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
    U, s, _ = svds(positive, k=dimensions, v0=start)
    return np.asarray(U[:, ::-1] * np.sqrt(s[::-1]))
