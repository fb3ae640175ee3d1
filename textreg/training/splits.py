"""Splits of the documents: holdout and cross-validation.

Plain splits are stratified by class, or by labels of which a document may have several. Group
splits keep all documents of a group on one side, plain ones copies of a text. Splits by time hold
out documents that are later than all fitted ones.

scikit-learn's splitters would add 0.8 s to the start of every training, and have other rules:
StratifiedShuffleSplit refuses fewer held-out documents than classes, no splitter for groups holds
out a share of them by class, TimeSeriesSplit divides documents of one time, and none stratifies
documents of several labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.measure.decisions import METHODS
from textreg.reading.columns import moments
from textreg.records import Bools, Corpus, Floats, Int64s
from textreg.records.documents import is_missing
from textreg.tasks import Target, Task
from textreg.tasks.base import REMEDY, Targets
from textreg.training.priors import marked_documents
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Split(NamedTuple):
    """Rows to fit on and rows to measure on, both ascending."""

    train: NDArray[np.intp]
    held: NDArray[np.intp]


def holdout(
    codes: Int64s | Bools,
    labels: Sequence[str],
    fraction: float,
    seed: int,
    groups: Sequence[str] | None = None,
) -> Split:
    """Hold out about ``fraction`` of the documents of every class, at least one and never all.

    codes: (n,) index into ``labels`` for every document, or (n, labels) which of them it has.
    groups: (n,) the group of every document; groups stay whole, and shares of classes are as near
    as these allow. Raises DataError for a class of one, for one group only, and where groups would
    leave a side without a class.
    """
    shares = [1 - fraction, fraction]
    if groups is not None:
        part = _assign_groups(codes, len(labels), groups, shares, seed)
        return _complete([_split(part == 1)], codes, labels, "groups")[0]
    if codes.ndim == 2:
        return _split(stratify(codes.astype(bool), shares, seed) == 1)
    held = np.zeros(len(codes), dtype=bool)
    for rows in _shuffled_classes(codes, labels, seed):
        # At least one on each side, whatever the fraction.
        count = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        held[rows[:count]] = True
    return _split(held)


def folds(
    codes: Int64s | Bools,
    labels: Sequence[str],
    count: int,
    seed: int,
    groups: Sequence[str] | None = None,
) -> list[Split]:
    """Cut the documents into ``count`` parts, equal in every class; each is held out once.

    groups: as for :func:`holdout`. Raises DataError for a class of one, and where a part to fit on
    would be left without a class; UsageError for fewer than 2 parts or more than documents, or
    groups.
    """
    if groups is not None:
        _check_count(count, len(set(groups)), "groups")
        part = _assign_groups(codes, len(labels), groups, [1 / count] * count, seed)
        return _complete([_split(part == k) for k in range(count)], codes, labels, "groups")
    _check_count(count, len(codes), "documents, without copies")
    if codes.ndim == 2:
        part = stratify(codes.astype(bool), [1 / count] * count, seed)
        return [_split(part == k) for k in range(count)]
    return _parts(_shuffled_classes(codes, labels, seed), len(codes), count)


def left_out(codes: Int64s | Bools, count: int, seed: int) -> list[Split]:
    """The same for documents that are only scored, as many parts as there may be.

    A class of one is never held out: nothing that is fitted would tell of it.
    """
    count = min(count, len(codes))
    if codes.ndim == 2:
        return folds(codes, (), count, seed)
    random = np.random.default_rng(seed)
    classes = [random.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes)]
    return _parts([rows for rows in classes if len(rows) > 1], len(codes), count)


def left_out_of(texts: Iterable[Any], task: Task, y: Targets, seed: int) -> list[Split]:
    """The same for documents whose targets the task knows, of others with theirs; no text twice."""
    known = task.known(y)
    rows, codes = np.flatnonzero(known), task.memberships(y[known])[0]
    kept = itertools.compress(texts, known)
    parts = of_texts(kept, codes, lambda codes: left_out(codes, FOLDS, seed))
    return [Split(rows[part.train], rows[part.held]) for part in parts]


def of_texts(
    texts: Iterable[Any], codes: Int64s | Bools, cut: Callable[[Any], list[Split]]
) -> list[Split]:
    """The splits that ``cut`` makes of the codes of different texts; copies are with the first.

    Held-out copies of fitted texts would praise models that know texts by heart. Copies stay apart
    in a class with fewer texts than :data:`FOLDS`, as whole parts would be without it; and those of
    a text with twice the copies that texts of the class have on average, if it is more than a
    twentieth of it. That is in new documents, too: a part with all of it would tell of nothing
    else, and fits without it would have other shares of the classes.
    """
    first, every = dict[int, int](), np.arange(len(codes))
    # Hashes, as texts may lie on disk.
    keys = (hash(text if isinstance(text, str) else repr(text)) for text in texts)
    copied = np.array([first.setdefault(key, at) for at, key in enumerate(keys)], dtype=np.int64)
    several = codes.ndim == 2
    # No label is a class as well.
    of = np.column_stack([codes > 0, ~codes.any(axis=1)]) if several else codes
    sizes, fresh = of.sum(axis=0) if several else np.bincount(of), of[copied == every]
    differ = fresh.sum(axis=0) if several else np.bincount(fresh, minlength=len(sizes))
    most = np.where(differ < FOLDS, 0, sizes * np.maximum(2 / np.maximum(differ, 1), 1 / 20))
    limits = [most[row].min() for row in of] if several else most[of]
    copied = np.where(np.bincount(copied)[copied] > limits, every, copied)
    rows = np.flatnonzero(copied == every)

    def every_copy(some: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.flatnonzero(np.isin(copied, rows[some]))

    return [Split(every_copy(train), every_copy(held)) for train, held in cut(codes[rows])]


def _parts(classes: Iterable[NDArray[np.intp]], n: int, count: int) -> list[Split]:
    """Deal the rows of every class to ``count`` parts; of n rows, all others are never held out."""
    part = np.full(n, -1)
    dealt = 0  # deal on where the last class ended, so that the parts differ by one at most
    for rows in classes:
        part[rows] = (dealt + np.arange(len(rows))) % count
        dealt += len(rows)
    splits = [_split(part == k) for k in range(count)]
    return [split for split in splits if len(split.held)]


def time_holdout(
    codes: Int64s | Bools, labels: Sequence[str], times: Floats, fraction: float
) -> Split:
    """Hold out about the latest ``fraction`` of the documents, all later than those to fit on.

    times: (n,) numbers that grow with time; documents of one time stay on one side. Raises
    DataError where all have the same, and where a side would be left without a class.
    """
    splits = _blocks(times, [round((1 - fraction) * len(times))])
    return _complete(splits, codes, labels, "times")[0]


def time_folds(
    codes: Int64s | Bools, labels: Sequence[str], times: Floats, count: int
) -> list[Split]:
    """Forward chaining: ``count`` + 1 blocks in order of time, each but the first held out once.

    Fitted is on all blocks before the one held out. Raises DataError where there are too few
    different times, and where a side would be left without a class.
    """
    n = len(times)
    _check_count(count, n - 1, "documents but one")
    splits = _blocks(times, [round(n * k / (count + 1)) for k in range(1, count + 1)])
    return _complete(splits, codes, labels, "times")


def _split(held: NDArray[np.bool_]) -> Split:
    return Split(np.flatnonzero(~held), np.flatnonzero(held))


def _check_count(count: int, most: int, what: str) -> None:
    if count < 2 or count > most > 1:  # a single one cannot be split at all, as is said elsewhere
        raise UsageError(f"cv must be 2 to {most:,}, the number of {what}, not {count}.")


def _shuffled_classes(
    codes: Int64s | Bools, labels: Sequence[str], seed: int
) -> Iterator[NDArray[np.intp]]:
    """The rows of every class in an order that depends on the seed alone."""
    if len(codes) < 2:
        raise DataError("There is one document, too few for a split into 2 parts: add some.")
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


def _assign_groups(
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
    # counts[g, c]: the share of class c that group g has
    counts = np.zeros((len(names), n_labels))
    cells = (group_of, codes) if codes.ndim == 1 else group_of
    np.add.at(counts, cells, codes if codes.ndim == 2 else 1.0)
    counts /= counts.sum(axis=0)
    # The largest groups first, as small ones can even out what they leave; ties by chance.
    shuffled = np.random.default_rng(seed).permutation(len(names))
    order = shuffled[np.argsort(-np.bincount(group_of)[shuffled], kind="stable")]
    # excess[part, c]: what the part has of class c beyond its share
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


def _blocks(times: Floats, wanted: Sequence[int]) -> list[Split]:
    """Every block of documents in order of time but the first, and those before it to fit on.

    wanted: the numbers of documents before each; as close to these as undivided equal times allow.
    """
    # A stable order: documents of one time stay as they came.
    order = np.argsort(times, kind="stable")
    # Between these two documents time goes on: only there may be cut.
    free = np.flatnonzero(np.diff(times[order])) + 1
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
        # The nearest free place to the wanted one.
        choice = free[first:last]
        cuts.append(int(choice[np.argmin(np.abs(choice - cut))]))
    ends = itertools.pairwise([*cuts, len(times)])
    return [Split(np.sort(order[:start]), np.sort(order[start:end])) for start, end in ends]


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


def stratify(has_label: Bools, shares: Sequence[float], seed: int) -> Int64s:
    """The part of every document, such that parts have about their share of every label.

    The rarest label first, each of its documents goes to the part that lacks most of it, then to
    the one that lacks most documents (sechidis2011, algorithm 1); no part stays empty.

    Parameters
    ----------
    has_label : ndarray of bool, shape (n, k)
        Which labels documents have.
    shares : sequence of float
        The share of each part in all documents; their sum is 1.
    seed : int
        Decides the order of the documents.

    Returns
    -------
    ndarray of int64, shape (n,)

    Raises
    ------
    DataError
        If there are fewer documents than parts.
    """
    n, share = len(has_label), np.array(shares)
    if n < len(shares):
        raise DataError(
            f"A split into {len(shares)} parts needs as many documents or more, not {n}: add some."
        )
    left = has_label.sum(axis=0)
    # lacking[part, label]: documents of the label that the part should still get
    lacking = share[:, None] * left
    wanted = share * n
    part = np.full(n, -1, dtype=np.int64)
    shuffled = np.random.default_rng(seed).permutation(n)

    def assign(row: int, lacks: Floats) -> None:
        """To the part that lacks most; of equal ones to the one that lacks most documents."""
        nonlocal left
        rounded = lacks.round(9)
        chosen = int(np.argmax(np.where(rounded == rounded.max(), wanted, -np.inf)))
        part[row] = chosen
        left -= has_label[row]
        lacking[chosen] -= has_label[row]
        wanted[chosen] -= 1.0

    while left.any():
        # The rarest label that is left: later its documents could not be spread any more.
        label = int(np.argmin(np.where(left > 0, left, n + 1)))
        for row in shuffled[(part[shuffled] < 0) & has_label[shuffled, label]].tolist():
            assign(row, lacking[:, label])
    for row in shuffled[part[shuffled] < 0].tolist():
        assign(row, wanted)
    # A share that is too small for any document gets one nevertheless.
    for empty in set(range(len(share))) - set(part.tolist()):
        sizes = np.bincount(part, minlength=len(share))
        part[next(row for row in shuffled[::-1] if sizes[part[row]] > 1)] = empty
    return part


# Default fraction of the documents to hold out, if hyperparameters are to be chosen.
HOLDOUT = 0.1

# Parts of few documents, each held out once.
FOLDS = 5

# So many documents, or labels, choose as well by a part of them that is held out: on 100 documents
# of five corpora parts of all were worth .5 points, on 1,000 nothing, nor on 385 of 77 labels.
ENOUGH, LABELS = 1_000, 20

# Most documents that are cut into parts. Of more, those that a search holds out are enough: a tenth
# of them tells a shift to within .1, and further fits would take longer than the search.
FEW = 5_000


def splits_of(corpus: Corpus, target: Target, settings: TrainingSettings) -> list[Split]:
    """The splits to fit and measure on; rows of ``dev`` come after those of the corpus.

    A ``dev`` of few documents joins the others, in parts of both. Raises UsageError if the groups
    or times of the documents contradict the settings, DataError if a side of a split would have no
    document of a class.
    """
    task = target.task
    codes, labels = task.memberships(target.y)
    n = len(codes)
    _check_order(corpus, settings)
    if settings.dev is not None:
        m = len(settings.dev)
        alone = m >= ENOUGH or n > FEW or len(labels) >= LABELS
        if alone or not settings.refit or settings.unknown is not None:
            return [Split(np.arange(n), np.arange(n, n + m))]
        y = np.concatenate([target.y, task.dev_targets(settings.dev)])
        texts = itertools.chain(corpus.texts, settings.dev.texts)
        first, *others = left_out_of(texts, task, y, settings.seed)
        # Labels of ``dev`` alone cannot be learned, and count as errors.
        held = np.sort(np.concatenate([first.held, np.flatnonzero(~task.known(y))]))
        return [first._replace(held=held), *others]
    if settings.cv is not None and not settings.refit:
        raise UsageError(
            "cross-validation fits no single model that could be kept: leave out no-refit."
        )
    tuned = settings.threshold or settings.path or settings.unknown is not None
    tuned = tuned or settings.calibrate in METHODS or settings.intercept == "left-out"
    tuned = tuned or settings.leans_on_vectors or settings.evidence_words is not None
    tuned = tuned or marked_documents(corpus) > 0 or settings.cv is not None
    if settings.holdout is None and not settings.searches and not tuned:
        if corpus.group_of is not None or corpus.time_of is not None:
            raise UsageError(
                "groups or times of documents say what to hold out, but nothing is held out: all "
                "hyperparameters are given. Ask for it with holdout or cv, or leave them out."
            )
        return []
    fraction, cv = settings.holdout or HOLDOUT, settings.cv
    if corpus.time_of is not None:
        times = moments(corpus.time_of, corpus.where)
        if cv is not None:
            return time_folds(codes, labels, times, cv)
        return [time_holdout(codes, labels, times, fraction)]
    groups, few = corpus.group_of, 1 < n <= ENOUGH and len(labels) < LABELS
    few = few and cv is None and settings.holdout is None and groups is None and settings.refit

    def cut(codes: Int64s | Bools) -> list[Split]:
        if cv is None and not few:
            return [holdout(codes, labels, fraction, settings.seed, groups)]
        return folds(codes, labels, cv or min(FOLDS, len(codes)), settings.seed, groups)

    return cut(codes) if groups is not None else of_texts(corpus.texts, codes, cut)


def split_by(corpus: Corpus) -> str | None:
    """What splits keep together or in order: "group", "time", or None for the classes alone."""
    if corpus.group_of is not None:
        return "group"
    return None if corpus.time_of is None else "time"


def group_names(groups: Iterable[Any]) -> list[str]:
    """Groups of any type as texts; DataError if one is missing."""
    names = []
    for row, group in enumerate(groups):
        if is_missing(group) or group != group or group == "":  # any NaN is not itself
            raise DataError(
                f"document {row + 1}: the group is missing. Every document needs one; give a group "
                "of its own to what belongs to none."
            )
        names.append(str(group))
    return names


def _check_order(corpus: Corpus, settings: TrainingSettings) -> None:
    """Refuse ways to split that contradict each other."""
    if corpus.group_of is not None and corpus.time_of is not None:
        raise UsageError(
            "the documents have groups and times, but splits follow only one of them: leave out "
            "--group-col or --time-col (group_of or time_of)."
        )
    if settings.dev is not None and (corpus.group_of is not None or corpus.time_of is not None):
        raise UsageError(
            "dev already says which documents to choose on: leave out groups and times "
            "(--group-col, --time-col), or dev."
        )
