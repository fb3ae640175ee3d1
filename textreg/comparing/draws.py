"""Nested samples of training documents, which larger and larger models are trained on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import DataError, UsageError, first_few

if TYPE_CHECKING:
    from textreg.records import Int64s

DRAWS = ("stratified", "equal", "random")
"""How documents are drawn: in the shares of the labels, as many of each, or whatever comes."""

LEAST = 2
"""Documents that a sample must have of every label."""

STEPS = 5
"""Sizes that are taken where none are given."""


def draw_order(codes: Int64s, draw: str, seed: Sequence[int]) -> Int64s:
    """An order of the documents, of which the first n are the sample of n documents.

    So a smaller sample is part of every larger one. The numbers of documents of a label in a
    stratified sample are less than one from its share; in an equal one they differ by at most one,
    as long as there are documents of all labels.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,)
        The label of each document.
    draw : {"stratified", "equal", "random"}
    seed : sequence of int
    """
    rng = np.random.default_rng(list(seed))
    order: Int64s = rng.permutation(len(codes))
    if draw == "random":
        return order
    counts = np.bincount(codes)
    grouped = order[np.argsort(codes[order], kind="stable")]
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(len(codes)) - first[codes[grouped]]
    if draw == "stratified":
        place = (rank + rng.random(len(counts))[codes[grouped]]) / counts[codes[grouped]]
    else:
        place = rank + rng.random(len(codes))
    return np.asarray(grouped[np.argsort(place, kind="stable")])


def check_sizes(sizes: Sequence[int] | None, codes: Int64s, labels: Sequence[str]) -> list[int]:
    """The sizes in ascending order; without any, the whole corpus, half of it, and so on.

    UsageError for sizes that are no numbers of documents, DataError for one beyond the corpus.
    """
    n = len(codes)
    if sizes is None:
        halves = [n // 2**step for step in reversed(range(STEPS))]
        return [size for size in halves if size >= 2 * LEAST * len(labels)] or [n]
    if not sizes or min(sizes) < 1 or len(set(sizes)) < len(sizes):
        raise UsageError(
            "sizes must be different numbers of documents, 1 or more, such as 100,200,400."
        )
    if max(sizes) > n:
        raise DataError(
            f"a sample of {max(sizes):,} was asked for, and there are {n:,} training documents: "
            "name smaller sizes (--sizes), or give more documents."
        )
    return sorted(sizes)


def check_samples(
    order: Int64s, sizes: Sequence[int], codes: Int64s, labels: Sequence[str], draw: str
) -> None:
    """DataError where a sample has too few documents of a label, which the message names."""
    counts = np.bincount(codes, minlength=len(labels))
    if draw == "equal":
        each = math.ceil(max(sizes) / len(labels))
        rarest = int(np.argmin(counts))
        if counts[rarest] < each:
            raise DataError(
                f"the label '{labels[rarest]}' has {counts[rarest]:,} training documents, and "
                f"{max(sizes):,} documents, as many of each label, need {each:,} of it: name "
                f"sizes up to {int(counts[rarest]) * len(labels):,}, or draw them in their shares "
                "(--draw stratified)."
            )
    found = np.bincount(codes[order[: min(sizes)]], minlength=len(labels))
    few = [labels[code] for code in np.flatnonzero(found < LEAST).tolist()]
    if few:
        least = int(np.argmin(found))
        raise DataError(
            f"a sample of {min(sizes):,} documents has {found[least]} with the label "
            f"'{labels[least]}', and {LEAST} are needed of each ({first_few(few, 3)}): name "
            "larger sizes, draw as many of each label (--draw equal), or leave rare labels out "
            "(--min-label)."
        )
