"""Numbers along a regularization path as a table: a row for each point, a column for each name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import UsageError, did_you_mean
from textreg.files import csv_lines

if TYPE_CHECKING:
    from textreg.records import Floats


@dataclass(frozen=True, eq=False)
class PathTable:
    """What changes along a regularization path, with a row for each point.

    Attributes
    ----------
    parameter : str
        The parameter that changes along the path.
    values : tuple of float
        Its values, point by point, from the model with the fewest features on.
    chosen : int
        Index of the point that is the model itself.
    quantity : str
        What the numbers are, such as ``weight``.
    names : tuple of str
        Names of the columns.
    array : ndarray of shape (points, names)
        The numbers.
    """

    parameter: str
    values: tuple[float, ...]
    chosen: int
    quantity: str
    names: tuple[str, ...]
    array: Floats = field(repr=False)

    def __getitem__(self, name: str) -> Floats:
        """(points,) the column of a name; UsageError if there is none."""
        if name not in self.names:
            raise UsageError(f"there is no column '{name}'.{did_you_mean(name, self.names)}")
        return np.asarray(self.array[:, self.names.index(name)])

    def rows(self) -> list[list[Any]]:
        """Rows of a table, the first of them with the titles."""
        body = zip(self.values, self.array.tolist(), strict=True)
        return [[self.parameter, *self.names], *([value, *row] for value, row in body)]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        columns = zip(self.names, self.array.T.tolist(), strict=True)
        return {
            "parameter": self.parameter,
            "values": list(self.values),
            "chosen": self.chosen,
            "quantity": self.quantity,
            "columns": [{"name": name, "values": column} for name, column in columns],
        }

    def to_csv(self) -> str:
        """A line for each point, after one with the titles."""
        return "".join(csv_lines(self.rows()))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame whose index is the parameter; UsageError without pandas."""
        try:
            import pandas
        except ImportError:
            raise UsageError(
                "pandas is not installed: pip install pandas, or use .array."
            ) from None
        index = pandas.Index(self.values, name=self.parameter)
        return pandas.DataFrame(self.array, index=index, columns=list(self.names))


@dataclass(frozen=True, eq=False)
class SentencePath(PathTable):
    """The sentences of documents along a regularization path.

    The numbers are the Euclidean norms of the weights of each sentence's features. A sentence is
    selected where this is not zero.

    Attributes
    ----------
    sentences : tuple of str
        The texts of the sentences, each on one line.
    documents : tuple of int
        The document of each sentence, counted from 0.
    """

    sentences: tuple[str, ...]
    documents: tuple[int, ...]

    @property
    def selected(self) -> Any:
        """(points, sentences) of bool: whether each sentence is selected."""
        return self.array > 0.0

    @property
    def counts(self) -> list[int]:
        """Number of selected sentences at each point."""
        return [int(count) for count in self.selected.sum(axis=1)]

    def at(self, point: int) -> list[str]:
        """The texts of the sentences that are selected at a point, in the order of the documents.

        ``at(path.chosen)`` are those of the model itself.
        """
        return [self.sentences[g] for g in np.flatnonzero(self.selected[point])]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        plain = super().to_dict()
        for number, column in enumerate(plain["columns"]):
            column["document"] = self.documents[number]
            column["text"] = self.sentences[number]
        return {**plain, "selected": self.counts}
