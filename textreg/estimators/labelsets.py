"""Targets of several labels for each text: indicator matrices, and lists or sets of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import is_multilabel

from textreg.errors import DataError
from textreg.estimators.base import as_known

if TYPE_CHECKING:
    from numpy.typing import NDArray


NEVER = -1000.0
"""The score of a column of an indicator matrix that no text of the training has."""


class LabelSets(NamedTuple):
    """The labels of every text.

    Attributes
    ----------
    sets : list of tuple of str
        The labels of every text, as strings.
    classes : ndarray of shape (k,)
        All labels, sorted; of an indicator matrix the numbers of its columns.
    indicator : bool
        Whether they were an indicator matrix.
    """

    sets: list[tuple[str, ...]]
    classes: NDArray[Any]
    indicator: bool


def label_sets(y: Any) -> LabelSets | None:
    """What ``y`` says, if its texts may have several labels; None if each has one.

    y: an indicator matrix, dense or sparse, or a list, tuple or set of labels for each text.
    Raises DataError for labels without a common order, and if only some texts have lists.
    """
    y = as_known(y)
    if is_multilabel(y):
        given = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        matrix = given != 0
        if not (given == matrix).all():
            return None  # to be refused as any other table
        sets = [tuple(str(column) for column in np.flatnonzero(row)) for row in matrix]
        return LabelSets(sets, np.arange(matrix.shape[1]), indicator=True)
    rows = y.tolist() if getattr(y, "ndim", 2) == 1 and hasattr(y, "tolist") else y
    if not isinstance(rows, Sequence):
        return None
    # the lists of a column of pandas are arrays
    rows = [row.tolist() if isinstance(row, np.ndarray) and row.ndim else row for row in rows]
    if not any(map(_is_set, rows)):
        return None
    if not all(map(_is_set, rows)):
        row = next(row for row, labels in enumerate(rows) if not _is_set(labels))
        raise DataError(
            f"y[{row}] is {rows[row]!r:.40}, and others are lists or sets of labels: give one for "
            "each text, [] for a text without a label."
        )
    every = {label for labels in rows for label in labels}
    try:
        classes = np.array(sorted(every))
    except TypeError as error:
        raise DataError("the labels in y have no common order: convert them to strings.") from error
    return LabelSets([tuple(map(str, labels)) for labels in rows], classes, indicator=False)


def _is_set(labels: Any) -> bool:
    return isinstance(labels, (list, tuple, set, frozenset))
