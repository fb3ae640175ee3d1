"""The regularization path of a model, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import RecordError, UsageError, alternatives, did_you_mean
from textreg.files import csv_lines
from textreg.measure.metrics import SMALLER
from textreg.model.json_records import to_json
from textreg.terminal import Displayed, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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


@dataclass(frozen=True)
class PathPoint:
    """One model of a regularization path.

    Attributes
    ----------
    params : dict of str to Any
        Parameters of the regularizer.
    nonzero : int
        Number of features with a weight for any label.
    metrics : dict of str to float
        Metrics on the documents held out, by fits that have not seen them.
    training_metrics : dict of str to float
        The same metrics of this model on the documents that it was fitted to.
    gap : float or None
        Relative duality gap of the fit; None for procedures without a bound.
    """

    params: dict[str, Any]
    nonzero: int
    metrics: dict[str, float]
    training_metrics: dict[str, float]
    gap: float | None


@dataclass(frozen=True)
class PathHeader:
    """The points of a regularization path, without their weights.

    Attributes
    ----------
    parameter : str
        The parameter that changes along the path: a penalty strength, decreasing from the value
        that empties the model; or a number of features or steps, increasing.
    chosen : int
        Index of the point that is the model itself.
    metric : str
        The metric that the model was chosen by.
    points : tuple of PathPoint
        The models, from the one with the fewest features on.

    Raises
    ------
    RecordError
        If a point has no number for the parameter or the metric, or other metrics than the first,
        or none of them is the chosen one.
    """

    parameter: str
    chosen: int
    metric: str
    points: tuple[PathPoint, ...]

    def __post_init__(self) -> None:
        for point in self.points:
            if type(point.params.get(self.parameter)) not in (int, float):
                raise RecordError(f"a point has no number for {self.parameter}.")
            if self.metric not in point.metrics:
                raise RecordError(f"a point has no {self.metric}.")
            for measured in (point.metrics, point.training_metrics):
                if measured.keys() != self.points[0].metrics.keys():
                    raise RecordError("its points have different metrics.")
        if not 0 <= self.chosen < len(self.points):
            raise RecordError(f"there are {len(self.points)} points, and chosen is {self.chosen}.")

    def __len__(self) -> int:
        return len(self.points)

    @property
    def values(self) -> list[float]:
        """The values of the parameter, point by point."""
        return [point.params[self.parameter] for point in self.points]

    @property
    def header(self) -> PathHeader:
        """The points without their weights."""
        return PathHeader(self.parameter, self.chosen, self.metric, self.points)

    def to_dict(self) -> dict[str, Any]:
        """The points without their weights, ready for JSON."""
        plain: dict[str, Any] = to_json(self.header)
        return plain

    def errors(self, metric: str | None = None) -> PathTable:
        """The error on training documents and on held-out ones over the parameter.

        The training error is that of each model on the documents that it was fitted to. The
        held-out one is that of fits that have not seen the documents.

        Parameters
        ----------
        metric : str, optional
            A metric of the points, by default the one that the model was chosen by. Where larger is
            better, as of the accuracy, the error is 1 less the metric.

        Returns
        -------
        PathTable
            With the columns ``training`` and ``held out``.

        Raises
        ------
        UsageError
            If the points have no such metric.
        """
        metric = self.metric if metric is None else metric
        known = self.points[0].metrics
        if metric not in known:
            raise UsageError(f"the path has no metric '{metric}'.{alternatives(metric, known)}")
        pairs = [(it.training_metrics[metric], it.metrics[metric]) for it in self.points]
        array = np.array(pairs, dtype=np.float64)
        names = ("training", "held out")
        if metric in SMALLER:
            return self._table(metric, names, array)
        return self._table(f"1 \N{MINUS SIGN} {metric}", names, 1.0 - array)

    def _table(self, quantity: str, names: Sequence[str], array: Floats) -> PathTable:
        return PathTable(
            self.parameter, tuple(self.values), self.chosen, quantity, tuple(names), array
        )


@dataclass(frozen=True, eq=False, repr=False)
class SolutionPath(Displayed, PathHeader):
    """A regularization path: the models of a regularizer as one of its parameters is relaxed.

    Attributes
    ----------
    parameter, chosen, metric, points
        See :class:`PathHeader`.
    names : sequence of str
        The features that have a weight at some point.
    weights : csr_array of float32, shape (points * rows, names)
        The weights, with as many consecutive rows for each point as the model has weight vectors.
    intercepts : ndarray of shape (points, rows)
        The intercepts.
    """

    names: Sequence[str]
    weights: csr_array
    intercepts: Floats

    def headline(self) -> str:
        """The number of models, and which one was chosen."""
        chosen = self.points[self.chosen]
        at = f"{self.parameter} {chosen.params[self.parameter]:g}"
        return f"{len(self)} models; chosen {at} of {chosen.nonzero:,} features"

    def tables(self) -> list[Table]:
        """A row for each model."""
        names = list(self.points[0].metrics)
        rows: list[Sequence[Any]] = [("", self.parameter, "features", *names, "gap")]
        for number, point in enumerate(self.points):
            strength = point.params[self.parameter]
            at_strength = f"{strength:,}" if isinstance(strength, int) else f"{strength:g}"
            gap = "none" if point.gap is None else f"{point.gap:.0e}"
            figures = [point.metrics[name] for name in names]
            mark = "chosen" if number == self.chosen else ""
            rows.append((mark, at_strength, point.nonzero, *figures, gap))
        return [("", rows)]

    def at(self, point: int) -> dict[str, Floats]:
        """The features of a point and their weights, (rows,) each.

        There is one row for each label, or one for the second of two labels. As in a list, a
        negative number counts points from the end, and IndexError is raised for one that is not
        there.
        """
        rows = np.arange(self.intercepts.size).reshape(self.intercepts.shape)
        part = self.weights[rows[point]].tocsc()
        used = np.flatnonzero(np.diff(part.indptr))
        dense = part[:, used].toarray().astype(np.float64)
        return {self.names[j]: column for j, column in zip(used.tolist(), dense.T, strict=True)}

    def profile(self, name: str) -> Floats:
        """(points, rows) weights of a feature along the path; UsageError if it has none."""
        try:
            column = self.names.index(name)
        except ValueError:
            raise UsageError(
                f"no feature '{name}' has a weight along the path.{did_you_mean(name, self.names)}"
            ) from None
        dense = self.weights[:, [column]].toarray().astype(np.float64)
        return np.asarray(dense.reshape(self.intercepts.shape))

    def coefficients(
        self, names: str | Sequence[str] | None = None, *, row: int = 0, top: int = 10
    ) -> PathTable:
        """The weights of features over the parameter.

        Parameters
        ----------
        names : str or sequence of str, optional
            The features, by default those with the largest weights in the model itself.
        row : int, default 0
            Which weight vector: of three labels or more, the number of the label among the model's
            labels. Two labels have one vector, positive for the second.
        top : int, default 10
            Number of features without ``names``.

        Returns
        -------
        PathTable
            With a column for each feature.

        Raises
        ------
        UsageError
            If a feature has no weight at any point, or there is no such vector.
        """
        rows = self.intercepts.shape[1]
        if not 0 <= row < rows:
            raise UsageError(f"row must be from 0 to {rows - 1}, not {row}: there are {rows}.")
        if names is None:
            here = self.at(self.chosen)
            names = sorted(here, key=lambda name: -abs(here[name][row]))[:top]
        elif isinstance(names, str):
            names = [names]
        array = np.empty((len(self), len(names)))
        for column, name in enumerate(names):
            array[:, column] = self.profile(name)[:, row]
        return self._table("weight", names, array)
