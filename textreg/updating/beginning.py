"""The weights of a model over the features, and for the labels, of another training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.records.names import Names
from textreg.training.search.trials import Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from textreg.features.encoder import Encoder
    from textreg.features.joined import AnyEncoder
    from textreg.model.model import Model
    from textreg.records import Floats, Int64s
    from textreg.tasks import Task

PRIME = 0x9E3779B97F4A7C55
"""An odd number with many digits, by whose powers letters are multiplied."""


def weights_over(model: Model, encoder: AnyEncoder, task: Task) -> tuple[Floats, Floats, Int64s]:
    """The weights of a model for the weight vectors of a task, by the columns of an encoder.

    Parameters
    ----------
    model : Model
    encoder : Encoder or JoinedEncoder
        Of the same tokenizers.
    task : Task
        Of the same kind; it may have other labels.

    Returns
    -------
    tuple of ndarray
        Weights (k, m) and intercepts (k,), zero for labels that the model does not have, and the m
        columns, ascending: features of the model that the encoder does not have are left out.
    """
    place = np.concatenate(list(_places(model.encoder, encoder)))
    known = place >= 0
    order = np.argsort(place[known], kind="stable")
    sides = dict(zip(model.task.sides, range(len(model.task.sides)), strict=True))
    rows = model.task.side_rows(model.weights[:, known][:, order])
    intercepts = model.task.side_rows(model.intercepts[:, None])[:, 0]
    wanted = task.sides[-1:] if task.n_rows == 1 else task.sides
    w, b = np.zeros((len(wanted), rows.shape[1])), np.zeros(len(wanted))
    for row, side in enumerate(wanted):
        if side in sides:
            w[row], b[row] = rows[sides[side]], intercepts[sides[side]]
    return w, b, place[known][order]


def starts_over(model: Model, encoder: AnyEncoder, task: Task) -> list[Start]:
    """The same as solutions to start from, one for each weight vector."""
    w, b, columns = weights_over(model, encoder, task)
    starts = []
    for row, intercept in zip(w, b.tolist(), strict=True):
        used = np.flatnonzero(row)
        starts.append(
            Start(columns[used].astype(np.int32), row[used].astype(np.float32), intercept)
        )
    return starts


def _places(old: AnyEncoder, new: AnyEncoder) -> Iterator[Int64s]:
    """For each part of an encoder, the columns of its features in another one, or -1."""
    start = 0
    others: dict[tuple[str, str], tuple[Encoder, int]] = {}
    for part in new.parts:
        others[_key(part)] = part, start
        start += part.n_columns
    for part in old.parts:
        place = np.full(part.n_columns, -1, dtype=np.int64)
        if _key(part) in others:
            other, start = others[_key(part)]
            found = find_names(part.names, other.names)
            place[found >= 0] = start + found[found >= 0]
        yield place


def _key(part: Encoder) -> tuple[str, str]:
    return "" if part.field is None else part.field.name, part.label


def find_names(names: Sequence[str], others: Sequence[str]) -> Int64s:
    """The index of each name among other names, or -1; each name is there once."""
    own, other = Names.of(names), Names.of(others)
    digests = np.concatenate([_digests(own), _digests(other)])
    order = np.argsort(digests, kind="stable")  # of two that are the same, the own one is first
    twins = np.flatnonzero(digests[order[1:]] == digests[order[:-1]])
    at, place = order[twins], order[twins + 1] - len(own)
    # Where two names of one side have the same digest, a pair is not one of both sides.
    paired = at.max(initial=-1) < len(own) and place.min(initial=0) >= 0
    if paired and own.take(at) == other.take(place):
        found = np.full(len(own), -1, dtype=np.int64)
        found[at] = place
        return found
    number = {name: at for at, name in enumerate(other)}  # two names have one digest
    return np.array([number.get(name, -1) for name in own], dtype=np.int64)


def _digests(names: Names) -> NDArray[np.uint64]:
    """A number for each name: a polynomial in its letters, modulo 2 to the 64."""
    ptr = names.ptr
    sizes = np.diff(ptr)
    powers = np.full(int(sizes.max(initial=0)) + 1, PRIME, dtype=np.uint64)
    powers[0] = 1
    powers = np.cumprod(powers, dtype=np.uint64)
    place = np.arange(ptr[-1]) - np.repeat(ptr[:-1], sizes)
    terms = (names.letters[: ptr[-1]].astype(np.uint64) + np.uint64(1)) * powers[place]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    digests: NDArray[np.uint64] = sums[ptr[1:]] - sums[ptr[:-1]]  # modulo 2 to the 64 as well
    return digests
