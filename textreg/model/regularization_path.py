"""The path of a fit: the models along it, from the emptiest on, and what each is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import os

    from scipy.sparse import csr_array

    from textreg.records import Floats


class PathPoint(NamedTuple):
    """One model of a path.

    params: of the regularizer. nonzero: features with a weight for any label. metrics: of the
    documents held out, by fits that have not seen them. gap: relative duality gap of the fit, None
    where there is no bound.
    """

    params: dict[str, Any]
    nonzero: int
    metrics: dict[str, float]
    gap: float | None


@dataclass(frozen=True, eq=False)
class SolutionPath:
    """All models that a regularizer passes through as one of its parameters is relaxed.

    parameter: what changes along the path: a price, from where it empties the model down; or a
    number of features or steps, rising. chosen: index of the point that is the model itself.
    metric: what the model was chosen by. names: the features that have a weight somewhere. weights:
    float32 CSR (points · rows, names), one row after the other for each weight vector of a model.
    intercepts: (points, rows).
    """

    parameter: str
    points: tuple[PathPoint, ...]
    chosen: int
    metric: str
    names: Sequence[str] = field(repr=False)
    weights: csr_array = field(repr=False)
    intercepts: Floats = field(repr=False)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def values(self) -> list[float]:
        """The values of the parameter, point by point."""
        return [point.params[self.parameter] for point in self.points]

    def at(self, point: int) -> dict[str, Floats]:
        """The features of a point and their weights, (rows,) each: one for each label, or one for
        the second of two.
        """
        rows = self.intercepts.shape[1]
        part = self.weights[point * rows : (point + 1) * rows].tocsc()
        used = np.flatnonzero(np.diff(part.indptr))
        dense = part[:, used].toarray().astype(np.float64)
        return {self.names[j]: column for j, column in zip(used.tolist(), dense.T, strict=True)}

    def profile(self, name: str) -> Floats:
        """(points, rows) weights of a feature along the path; UsageError where it has none."""
        try:
            column = self.names.index(name)
        except ValueError:
            raise UsageError(
                f"no feature '{name}' has a weight along the path.{did_you_mean(name, self.names)}"
            ) from None
        dense = self.weights[:, [column]].toarray().astype(np.float64)
        return np.asarray(dense.reshape(self.intercepts.shape))

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the metric against the number of features, SVG or PNG by the ending; against the
        parameter where all models have as many.

        UsageError where the picture cannot be written.
        """
        from textreg.plotting.charts import Series, metric_by_size

        sizes = [float(point.nonzero) for point in self.points]
        worth = [point.metrics[self.metric] for point in self.points]
        if len(set(sizes)) > 1:
            metric_by_size([Series("", sizes, worth, self.chosen)], path, metric=self.metric)
            return
        line = Series(self.parameter, self.values, worth, self.chosen)
        title = f"{self.parameter} (all models have {sizes[0]:,.0f} features)"
        metric_by_size([line], path, metric=self.metric, size=title, scale="strengths")

    def to_dict(self) -> dict[str, Any]:
        """What is known of the points, without weights, ready for JSON."""
        return {
            "parameter": self.parameter,
            "chosen": self.chosen,
            "metric": self.metric,
            "points": [point._asdict() for point in self.points],
        }
