"""Splits of the documents: holdout and cross-validation.

Plain splits are stratified by class, or by labels of which a document may have several. Group
splits keep all documents of a group on one side. Splits by time hold out documents that are later
than all fitted ones.

scikit-learn's splitters would add 0.8 s to the start of every training, and have other rules:
StratifiedShuffleSplit refuses fewer held-out documents than classes, no splitter for groups holds
out a share of them by class, TimeSeriesSplit divides documents of one time, and none stratifies
documents of several labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.tasks.rare import REMEDY
from textreg.training.search.dealing import deal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Bools, Floats, Int64s


class Split(NamedTuple):
    """Rows to fit on and rows to measure on, both ascending."""

    train: NDArray[np.intp]
    held: NDArray[np.intp]


def holdout(codes: Int64s | Bools, labels: Sequence[str], fraction: float, seed: int) -> Split:
    """Hold out about ``fraction`` of the documents of every class, at least one and never all.

    codes: (n,) index into ``labels`` for every document, or (n, labels) which of them it has.
    Raises DataError for a class of one.
    """
    if codes.ndim == 2:
        return _split(deal(codes.astype(bool), [1 - fraction, fraction], seed) == 1)
    held = np.zeros(len(codes), dtype=bool)
    for rows in _shuffled_classes(codes, labels, seed):
        count = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        held[rows[:count]] = True
    return _split(held)


def folds(codes: Int64s | Bools, labels: Sequence[str], count: int, seed: int) -> list[Split]:
    """Cut the documents into ``count`` parts, equal in every class; each is held out once.

    Raises DataError for a class of one, UsageError for fewer than 2 parts or more than documents.
    """
    _check_count(count, len(codes), "documents")
    if codes.ndim == 2:
        part = deal(codes.astype(bool), [1 / count] * count, seed)
        return [_split(part == k) for k in range(count)]
    part = np.empty(len(codes), dtype=np.int64)
    dealt = 0  # deal on where the last class ended, so that the parts differ by one at most
    for rows in _shuffled_classes(codes, labels, seed):
        part[rows] = (dealt + np.arange(len(rows))) % count
        dealt += len(rows)
    return [_split(part == k) for k in range(count)]


def group_holdout(
    codes: Int64s | Bools, labels: Sequence[str], groups: Sequence[str], fraction: float, seed: int
) -> Split:
    """Like :func:`holdout`, with whole groups: shares of classes as near as these allow.

    groups: (n,) the group of every document. Raises DataError for one group only, and where a side
    would be left without a class.
    """
    part = _dealt(codes, len(labels), groups, [1 - fraction, fraction], seed)
    return _complete([_split(part == 1)], codes, labels, "groups")[0]


def group_folds(
    codes: Int64s | Bools, labels: Sequence[str], groups: Sequence[str], count: int, seed: int
) -> list[Split]:
    """Like :func:`folds`, with whole groups: shares of classes as near as these allow.

    Raises DataError where a part to fit on would be left without a class, UsageError for fewer than
    2 parts or more than groups.
    """
    _check_count(count, len(set(groups)), "groups")
    part = _dealt(codes, len(labels), groups, [1 / count] * count, seed)
    splits = [_split(part == k) for k in range(count)]
    return _complete(splits, codes, labels, "groups")


def time_holdout(
    codes: Int64s | Bools, labels: Sequence[str], times: Floats, fraction: float
) -> Split:
    """Hold out about the latest ``fraction`` of the documents, all later than those to fit on.

    times: (n,) numbers that grow with time; documents of one time stay on one side. Raises
    DataError where all have the same, and where a side would be left without a class.
    """
    (start,) = _cuts(times, [round((1 - fraction) * len(times))])
    order = np.argsort(times, kind="stable")
    split = Split(np.sort(order[:start]), np.sort(order[start:]))
    return _complete([split], codes, labels, "times")[0]


def time_folds(
    codes: Int64s | Bools, labels: Sequence[str], times: Floats, count: int
) -> list[Split]:
    """Forward chaining: ``count`` + 1 blocks in order of time, each but the first held out once.

    Fitted is on all blocks before the one held out. Raises DataError where there are too few
    different times, and where a side would be left without a class.
    """
    n = len(times)
    _check_count(count, n - 1, "documents but one")
    cuts = [*_cuts(times, [round(n * k / (count + 1)) for k in range(1, count + 1)]), n]
    order = np.argsort(times, kind="stable")
    splits = [
        Split(np.sort(order[:start]), np.sort(order[start:end]))
        for start, end in itertools.pairwise(cuts)
    ]
    return _complete(splits, codes, labels, "times")


def check_fraction(fraction: float) -> float:
    """The fraction to hold out; UsageError if that is nothing or everything."""
    if not 0 < fraction < 1:
        raise UsageError(f"holdout must lie between 0 and 1, not {fraction:g}.")
    return fraction


def _split(held: NDArray[np.bool_]) -> Split:
    return Split(np.flatnonzero(~held), np.flatnonzero(held))


def _check_count(count: int, most: int, what: str) -> None:
    if not 2 <= count <= most:
        raise UsageError(f"cv must be 2 to {most:,}, the number of {what}, not {count}.")


def _shuffled_classes(
    codes: Int64s | Bools, labels: Sequence[str], seed: int
) -> Iterator[NDArray[np.intp]]:
    """The rows of every class in an order that depends on the seed alone."""
    random = np.random.default_rng(seed)
    for code, label in enumerate(labels):
        rows = np.flatnonzero(codes == code)
        if len(rows) < 2:
            raise DataError(
                f"The label '{label}' has one document only, so none can be held out to choose "
                f"hyperparameters on. {REMEDY.format(least=2)}; or give documents to choose on "
                "(--dev FILE)."
            )
        yield random.permutation(rows)


def _dealt(
    codes: Int64s | Bools, n_labels: int, groups: Sequence[str], shares: Sequence[float], seed: int
) -> Int64s:
    """The part of every document; groups stay whole, parts have about their share of every class.

    Greedy: groups are assigned one by one, the largest first, each to the part where the squared
    deviations from the shares of all classes become least.
    """
    names, group_of = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    if len(names) < 2:
        raise DataError(
            f"All documents are of one group, '{names[0]}': none can be held out. Check the choice "
            "of the group column (--group-col)."
        )
    counts = np.zeros((len(names), n_labels))
    np.add.at(
        counts,
        (group_of, codes) if codes.ndim == 1 else group_of,
        codes if codes.ndim == 2 else 1.0,
    )
    counts /= counts.sum(axis=0)
    shuffled = np.random.default_rng(seed).permutation(len(names))
    order = shuffled[np.argsort(-np.bincount(group_of)[shuffled], kind="stable")]
    excess = -np.repeat(np.array(shares)[:, None], n_labels, axis=1)
    part = np.empty(len(names), dtype=np.int64)
    for group in order:
        # (e + c)^2 - e^2 = c (2 e + c), for every part
        costs = (2 * excess + counts[group]) @ counts[group]
        part[group] = np.argmin(costs.round(12))
        excess[part[group]] += counts[group]
    for empty in set(range(len(shares))) - set(part.tolist()):
        # A share smaller than any group: the smallest one of a part with several.
        sizes = np.bincount(part, minlength=len(shares))
        part[next(group for group in order[::-1] if sizes[part[group]] > 1)] = empty
    return part[group_of]


def _cuts(times: Floats, wanted: Sequence[int]) -> list[int]:
    """Numbers of documents, close to the wanted ones, to cut at without dividing equal times."""
    ranked = np.sort(times)
    free = np.flatnonzero(np.diff(ranked)) + 1
    if len(free) < len(wanted):
        raise DataError(
            f"The documents have {len(free) + 1} different times, and those of one time stay on "
            f"one side: a split into {len(wanted) + 1} blocks needs as many times. Give finer "
            "times (--time-col), or ask for fewer parts."
        )
    cuts: list[int] = []
    for at, cut in enumerate(wanted):
        # One for each block still to come must be left over.
        last = len(free) - (len(wanted) - at - 1)
        first = int(np.searchsorted(free, cuts[-1], side="right")) if cuts else 0
        choice = free[first:last]
        cuts.append(int(choice[np.argmin(np.abs(choice - cut))]))
    return cuts


def _complete(
    splits: list[Split], codes: Int64s | Bools, labels: Sequence[str], what: str
) -> list[Split]:
    """The splits, refused where nothing of a class is fitted in one, or held out in any."""
    if codes.ndim == 2:
        return splits
    sides = [(split.train, "to fit on", at) for at, split in enumerate(splits, start=1)]
    sides.append((np.concatenate([split.held for split in splits]), "held out", 0))
    for rows, side, at in sides:
        missing = np.setdiff1d(np.arange(len(labels)), codes[rows])
        if len(missing):
            count = int(np.count_nonzero(codes == missing[0]))
            which = f"of part {at} of {len(splits)} " if at and len(splits) > 1 else ""
            raise DataError(
                f"Split by {what}, the documents {side} {which}have none with the label "
                f"'{labels[missing[0]]}'. Hold out another share (--holdout, --cv), or measure on "
                f"a file of your own (--dev FILE). {REMEDY.format(least=count + 1)}."
            )
    return splits
