"""The weights of a model over the features, and for the labels, of another training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.training.search.trials import Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textreg.features.encoder import Encoder
    from textreg.features.joined import AnyEncoder
    from textreg.model.model import Model
    from textreg.records import Floats, Int64s
    from textreg.tasks import Task


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
    number = {name: at for at, name in enumerate(others)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int64)
