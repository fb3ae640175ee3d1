"""What builders of graphs share: which documents hold a feature, its nearest others, word lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from textreg._core.neighbors import nearest_cosines
from textreg.errors import DataError, UsageError
from textreg.files import numbered_lines
from textreg.records import Floats, Tokens
from textreg.text import count

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

BLOCK = 1 << 24
"""Most entries of a table between features that is held at once."""


def presence(tokens: Tokens, min_df: int = 1) -> csr_array:
    """1 where a document holds a feature: float64 (documents, features).

    Columns of features in fewer than ``min_df`` documents are empty.
    """
    B = count(tokens)
    B.data[:] = 1.0
    if min_df > 1:
        frequency = np.bincount(B.indices, minlength=B.shape[1])
        B.data[frequency[B.indices] < min_df] = 0.0
        B.eliminate_zeros()
    return B


def nearest_by_cosine(B: csr_array, neighbors: int, threshold: float) -> csr_array:
    """Each feature's nearest others by the cosine of their columns in B, if above ``threshold``.

    B: (documents, p), binary. Returns CSR (p, p), row j with the cosines of at most ``neighbors``
    features; of equally near ones those of the lowest number.
    """
    from scipy.sparse import csr_array

    frequency = np.bincount(B.indices, minlength=B.shape[1])
    linked = np.flatnonzero(frequency).astype(np.int32)
    m = len(linked)
    R = B[:, linked]
    C = R.T.tocsr()
    found = np.empty(m * neighbors, dtype=np.int32)
    cosines, counts = np.empty(m * neighbors), np.empty(m, dtype=np.int32)
    nearest_cosines(
        C.indptr.astype(np.int64), C.indices.astype(np.int32), R.indptr.astype(np.int64),
        R.indices.astype(np.int32), np.sqrt(frequency[linked]), threshold, neighbors,
        np.zeros(m, dtype=np.int32), np.empty(m, dtype=np.int32), found, cosines, counts,
    )  # fmt: skip
    kept = (np.arange(neighbors) < counts[:, None]).ravel()
    pairs = np.repeat(linked, counts), linked[found[kept]]
    return csr_array((cosines[kept], pairs), shape=(B.shape[1], B.shape[1]))


def correlations(B: csr_array, seeds: NDArray[np.intp]) -> Floats:
    """Pearson's correlation of every column of B with those of ``seeds``; (p, seeds).

    B: (documents, p), binary. A column without variance correlates with nothing.
    """
    n = B.shape[0]
    share = np.asarray(B.sum(axis=0)).ravel() / n
    spread = np.sqrt(share * (1.0 - share))
    together = (B.T @ B[:, seeds]).toarray() / n
    covariance = together - np.outer(share, share[seeds])
    scale = np.outer(spread, spread[seeds])
    result: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0.0)
    return result


def nearest_by_distance(V: Floats, neighbors: int) -> NDArray[np.intp]:
    """The numbers of each row's ``neighbors`` nearest other rows in V (m, d); (m, neighbors)."""
    m = len(V)
    neighbors = min(neighbors, m - 1)
    squares = np.einsum("ij,ij->i", V, V)
    found = np.empty((m, neighbors), dtype=np.intp)
    for low, high in _blocks(np.full(m, float(m))):
        distance = squares - 2.0 * (V[low:high] @ V.T)
        distance[np.arange(high - low), np.arange(low, high)] = np.inf  # not its own neighbor
        found[low:high] = np.argpartition(distance, neighbors - 1, axis=1)[:, :neighbors]
    return found


def mutual(nearest: NDArray[np.intp]) -> csr_array:
    """1 between rows that are among each other's ``nearest`` (m, neighbors); CSR (m, m)."""
    from scipy.sparse import csr_array

    m, neighbors = nearest.shape
    indptr = np.arange(m + 1) * neighbors
    links = csr_array((np.ones(nearest.size), nearest.ravel(), indptr), shape=(m, m))
    return csr_array(links.multiply(links.T))


def scaled_rows(links: csr_array) -> csr_array:
    """Each row divided by its sum: P of section 2."""
    from scipy.sparse import diags

    sums = np.asarray(links.sum(axis=1)).ravel()
    factors = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0.0)
    return (diags(factors) @ links).tocsr()


def _blocks(sizes: Floats) -> Iterator[tuple[int, int]]:
    """Cut a range into runs whose ``sizes`` add up to BLOCK at most, or are one."""
    ends = np.cumsum(sizes)
    low = 0
    while low < len(sizes):
        before = ends[low - 1] if low else 0.0
        high = max(int(np.searchsorted(ends, before + BLOCK, side="right")), low + 1)
        yield low, high
        low = high


def listed_words(paths: str) -> dict[str, list[str]]:
    """The words of one file or several with commas between them, one a line, by the file's stem.

    Empty lines and lines that begin with ``#`` or ``;`` say nothing. Raises UsageError for a file
    that cannot be opened or stems that are the same, DataError for a file without a word.
    """
    lists: dict[str, list[str]] = {}
    for path in map(str.strip, paths.split(",")):
        stem = Path(path).name.partition(".")[0]
        if stem in lists:
            raise UsageError(f"two word lists are called '{stem}': rename the file {path}.")
        lines = (line.strip() for _, line in numbered_lines(path))
        lists[stem] = [word for word in lines if word and not word.startswith(("#", ";"))]
        if not lists[stem]:
            raise DataError(f"{path}: there is no word in it. Write one a line.")
    return lists


def numbers_of(words: Sequence[str], vocabulary: Sequence[str], source: str) -> NDArray[np.intp]:
    """The features that ``words`` name, sorted; DataError where none does."""
    wanted = set(words)
    found = [feature for feature, name in enumerate(vocabulary) if name in wanted]
    if not found:
        raise DataError(
            f"{source}: none of {len(wanted):,} words is a feature of the texts, such as "
            f"'{words[0]}'. Check that they are written as the tokenizer gives them, such as in "
            "small letters."
        )
    return np.array(found, dtype=np.intp)
