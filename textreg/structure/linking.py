"""What graph builders share: which documents contain a feature, nearest features, word lists."""

from __future__ import annotations

from collections.abc import Sequence
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

#: Maximum number of entries of a dense table between features that is in memory at once.
BLOCK = 1 << 24


def presence(tokens: Tokens, min_df: int = 1) -> csr_array:
    """Which documents contain which features.

    Parameters
    ----------
    tokens : Tokens
    min_df : int, default 1
        Columns of features in fewer documents are empty.

    Returns
    -------
    csr_array of float64, shape (documents, features)
        1 where a document contains a feature.
    """
    B = count(tokens)
    B.data[:] = 1.0
    if min_df > 1:
        frequency = np.bincount(B.indices, minlength=B.shape[1])
        B.data[frequency[B.indices] < min_df] = 0.0
        B.eliminate_zeros()
    return B


def nearest_by_cosine(B: csr_array, neighbors: int, threshold: float) -> csr_array:
    """The nearest neighbors of every feature by the cosine of the columns of B.

    Parameters
    ----------
    B : csr_array, shape (documents, features)
        Binary, as from :func:`presence`.
    neighbors : int
        Maximum number of neighbors of a feature. Of features that are equally near, those with
        the lowest numbers are chosen.
    threshold : float
        Neighbors have a cosine above it.

    Returns
    -------
    csr_array of float64, shape (features, features)
        The cosines; row j has the neighbors of feature j.
    """
    from scipy.sparse import csr_array

    frequency = np.bincount(B.indices, minlength=B.shape[1])
    linked = np.flatnonzero(frequency).astype(np.int32)
    m = len(linked)
    R = B[:, linked]
    C = R.T.tocsr()
    nearest = np.empty(m * neighbors, dtype=np.int32)
    cosines, counts = np.empty(m * neighbors), np.empty(m, dtype=np.int32)
    nearest_cosines(
        C.indptr.astype(np.int64), C.indices.astype(np.int32), R.indptr.astype(np.int64),
        R.indices.astype(np.int32), np.sqrt(frequency[linked]), threshold, neighbors,
        np.zeros(m, dtype=np.int32), np.empty(m, dtype=np.int32), nearest, cosines, counts,
    )  # fmt: skip
    filled = (np.arange(neighbors) < counts[:, None]).ravel()
    pairs = np.repeat(linked, counts), linked[nearest[filled]]
    return csr_array((cosines[filled], pairs), shape=(B.shape[1], B.shape[1]))


def correlations(B: csr_array, seeds: NDArray[np.intp]) -> Floats:
    """Pearson's correlation of every column of B with the columns ``seeds``.

    Parameters
    ----------
    B : csr_array, shape (documents, features)
        Binary, as from :func:`presence`.
    seeds : ndarray of int, shape (seeds,)

    Returns
    -------
    ndarray of float64, shape (features, seeds)
        0 for a column without variance.
    """
    n = B.shape[0]
    mean = np.asarray(B.sum(axis=0)).ravel() / n
    deviation = np.sqrt(mean * (1.0 - mean))  # of a binary column
    covariance = (B.T @ B[:, seeds]).toarray() / n - np.outer(mean, mean[seeds])
    scale = np.outer(deviation, deviation[seeds])
    result: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0.0)
    return result


def nearest_by_distance(V: Floats, neighbors: int) -> NDArray[np.intp]:
    """The nearest other rows of every row by Euclidean distance.

    Parameters
    ----------
    V : ndarray of float64, shape (m, d)
    neighbors : int

    Returns
    -------
    ndarray of int, shape (m, min(neighbors, m - 1))
        Numbers of rows, in no particular order.
    """
    m = len(V)
    neighbors = min(neighbors, m - 1)
    squares = np.einsum("ij,ij->i", V, V)
    nearest = np.empty((m, neighbors), dtype=np.intp)
    size = max(BLOCK // m, 1)
    for low in range(0, m, size):
        high = min(low + size, m)
        # |v|^2 - 2 u'v is the squared distance but for |u|^2, which is the same for a whole row.
        distance = squares - 2.0 * (V[low:high] @ V.T)
        distance[np.arange(high - low), np.arange(low, high)] = np.inf  # not its own neighbor
        nearest[low:high] = np.argpartition(distance, neighbors - 1, axis=1)[:, :neighbors]
    return nearest


def mutual(nearest: NDArray[np.intp]) -> csr_array:
    """Links between rows that are among each other's nearest.

    Parameters
    ----------
    nearest : ndarray of int, shape (m, neighbors)
        As from :func:`nearest_by_distance`.

    Returns
    -------
    csr_array of float64, shape (m, m)
        1 for a link.
    """
    from scipy.sparse import csr_array

    m, neighbors = nearest.shape
    indptr = np.arange(m + 1) * neighbors
    links = csr_array((np.ones(nearest.size), nearest.ravel(), indptr), shape=(m, m))
    return csr_array(links.multiply(links.T))


def scaled_rows(links: csr_array) -> csr_array:
    """Every row divided by its sum: the matrix P of Sandler et al. (2008), section 2.

    Parameters
    ----------
    links : csr_array, shape (p, p)

    Returns
    -------
    csr_array, shape (p, p)
        Rows without links stay empty.
    """
    from scipy.sparse import diags

    sums = np.asarray(links.sum(axis=1)).ravel()
    factors = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0.0)
    return (diags(factors) @ links).tocsr()


def read_word_lists(paths: str) -> dict[str, list[str]]:
    """The words of files with one word on each line.

    Empty lines and lines that begin with ``#`` or ``;`` are ignored.

    Parameters
    ----------
    paths : str
        One path, or several with commas between them.

    Returns
    -------
    dict of str to list of str
        The words of every file by its name without ending.

    Raises
    ------
    UsageError
        If a file cannot be opened, or two have the same name.
    DataError
        If a file has no words.
    """
    lists: dict[str, list[str]] = {}
    for path in map(str.strip, paths.split(",")):
        stem = Path(path).name.partition(".")[0]
        if stem in lists:
            raise UsageError(f"two word lists are called '{stem}': rename the file {path}.")
        lines = (line.strip() for _, line in numbered_lines(path))
        lists[stem] = [word for word in lines if word and not word.startswith(("#", ";"))]
        if not lists[stem]:
            raise DataError(f"{path}: no words in it. Write one on each line.")
    return lists


def features_among(
    words: Sequence[str], vocabulary: Sequence[str], source: str
) -> NDArray[np.intp]:
    """The features that are among some words.

    Parameters
    ----------
    words : sequence of str
    vocabulary : sequence of str
        The names of all features.
    source : str
        Where the words are from, for the message.

    Returns
    -------
    ndarray of int
        Indices into ``vocabulary``, sorted.

    Raises
    ------
    DataError
        If no word is a feature.
    """
    wanted = set(words)
    features = [feature for feature, name in enumerate(vocabulary) if name in wanted]
    if not features:
        raise DataError(
            f"{source}: none of {len(wanted):,} words is a feature of the texts, for example "
            f"'{words[0]}'. Write words as the tokenizer does, for example in lower case."
        )
    return np.array(features, dtype=np.intp)
