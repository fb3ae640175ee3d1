"""How the settings of a training were chosen, and what was measured on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from textreg.model.json_records import INLINE


@dataclass(frozen=True)
class SplitSummary:
    """Which documents were held out to measure the settings of a search.

    Attributes
    ----------
    kind : str
        "dev" (a corpus of its own), "holdout" or "cv".
    parts : int
        Number of splits.
    seed : int
        Seed of the random numbers.
    by : str or None
        "group" or "time" where documents were split by these, else None.
    """

    kind: str
    parts: int
    seed: int
    by: str | None


@dataclass(frozen=True)
class ChoiceSummary:
    """By which rule the search chose a setting.

    Attributes
    ----------
    rule : str
        "best", "1se" or "sparsest".
    within : float or None
        How much worse than the best a setting may be, with "sparsest".
    max_nonzero : int or None
        The most features a model may have.
    error : float or None
        Standard error of the metric at the chosen setting, where it was needed.
    """

    rule: str
    within: float | None
    max_nonzero: int | None
    error: float | None


@dataclass(frozen=True)
class DevMetrics:
    """Metrics of the chosen setting on the documents held out.

    Attributes
    ----------
    documents : int
        Number of documents held out.
    metrics : dict of str to float
        Values by the name of the metric, such as "accuracy" or "log-loss".
    accuracy_interval : tuple of two floats, or None
        95 % Wilson interval of the accuracy; None for a regression.
    """

    documents: int
    metrics: dict[str, float] = field(metadata=INLINE)
    accuracy_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class SearchPoint:
    """One setting of a search, and its metrics on the documents held out.

    Attributes
    ----------
    params : dict of str to Any
        Hyperparameters of the regularizer.
    settings : dict of str to Any
        What else was searched, by the names of the options.
    nonzero : float
        Number of features with a weight, mean over the splits.
    error : float or None
        Standard error of the metric, where it was needed.
    metrics : dict of str to float
        Values by the name of the metric.
    """

    params: dict[str, Any]
    settings: dict[str, Any]
    nonzero: float
    error: float | None
    metrics: dict[str, float] = field(metadata=INLINE)


@dataclass(frozen=True)
class TipSummary:
    """A simpler regularizer that would do as well, as the search has seen.

    Attributes
    ----------
    name : str
        The regularizer that minimizes the same as the chosen setting.
    without : tuple of str
        The searched strengths of the one that was asked for that are zero there.
    best : float
        The best value of the metric where they are not; that of the choice is no worse.
    """

    name: str
    without: tuple[str, ...]
    best: float


@dataclass(frozen=True)
class ThresholdSummary:
    """The decision threshold of a label.

    Attributes
    ----------
    rule : str
        The rule it was chosen by, such as "f1".
    value : float
        The threshold.
    precision, recall : float or None
        Those of the label on the documents held out, with this threshold; None after an update
        without the old documents, which keeps it.
    """

    rule: str
    value: float
    precision: float | None
    recall: float | None


@dataclass(frozen=True)
class UnknownSummary:
    """The threshold below which a text gets the unknown label.

    Attributes
    ----------
    rule : str
        The rule it was chosen by, such as "coverage:0.95".
    value : float
        The threshold of the highest score.
    documents : int
        Documents held out that belong to none of the labels.
    coverage : float or None
        Share of the other documents held out that are answered; None after an update without the
        old documents, which keeps the threshold and forgets what was measured.
    risk : float or None
        Share of errors among all documents held out that are answered.
    recall : float or None
        Share of the documents that belong to none of the labels and get the unknown label.
    """

    rule: str
    value: float
    documents: int
    coverage: float | None
    risk: float | None
    recall: float | None
