"""What a report says, as plain records: computed first, put on a page afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textreg.explain import Profile, Selection
from textreg.measure.evaluation import Evaluation, Fit
from textreg.measure.reliability import Reliability, ThresholdLine
from textreg.records import Int64s
from textreg.report.document_records import Document, Selected
from textreg.report.page import Page


class Fact(NamedTuple):
    """A name and what there is to say of it."""

    name: str
    value: str


class Figure(NamedTuple):
    """A number with its 95 % interval, where it has one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


class LabelScore(NamedTuple):
    """How one label fared; precision and recall with their Wilson intervals."""

    label: str
    precision: Figure
    recall: Figure
    f1: float
    support: int


class Confused(NamedTuple):
    """How many documents of one label were called another."""

    y_true: str
    predicted: str
    documents: int


@dataclass(frozen=True, eq=False)
class Scores:
    """A model measured.

    how: on which documents, for people. figures: what matters most, with intervals. labels: those
    of most documents; left_out: number of labels that are not shown. matrix: counts over
    matrix_labels, true labels in rows. confused: the pairs that are mixed up most often. points:
    of a regression, true and predicted numbers of some documents.
    """

    how: str
    documents: int
    figures: tuple[Figure, ...]
    result: Evaluation | Fit
    labels: tuple[LabelScore, ...] = ()
    left_out: int = 0
    matrix: Int64s | None = None
    matrix_labels: tuple[str, ...] = ()
    confused: tuple[Confused, ...] = ()
    reliability: Reliability | None = None
    thresholds: tuple[tuple[str, tuple[ThresholdLine, ...]], ...] = ()
    points: tuple[tuple[float, float], ...] = ()


class Tried(NamedTuple):
    """One setting of the search: its prices in words, features with a weight, and the metric."""

    prices: str
    features: float
    value: float


@dataclass(frozen=True)
class Searched:
    """The settings that training tried, on ``documents`` held out, and which of them it took.

    interval: of an accuracy, the 95 % Wilson interval of the chosen one.
    """

    metric: str
    documents: int
    how: str
    tried: tuple[Tried, ...]
    chosen: int
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Traced:
    """The models that the regularizer passes through as one of its parameters is relaxed.

    curve: what each is worth, measured on documents that its fit has not seen. parameter, values:
    what changes, the emptiest model first. whole: whether the values are whole numbers and not
    prices. profiles: of the strongest features.
    """

    curve: Searched
    parameter: str
    values: tuple[float, ...]
    whole: bool
    profiles: tuple[Profile, ...]


class WordRow(NamedTuple):
    """A feature, its weight for a label, and the documents that hold it.

    inside: of this label; outside: of all others. Of a regression, inside are all of them.
    """

    feature: str
    weight: float
    inside: int
    outside: int


class LabelWords(NamedTuple):
    """The features that speak most for a label; ``inside`` and ``outside`` count its documents."""

    label: str
    rows: tuple[WordRow, ...]
    inside: int
    outside: int


class LeftOut(NamedTuple):
    """A feature without a weight, and the share of a label's documents and of others with it."""

    feature: str
    label: str
    inside: float
    outside: float


@dataclass(frozen=True)
class Dropped:
    """What a model does without.

    skipped: rows of the files that could not be read. unknown: documents with no feature that has a
    weight, which are answered by the intercept alone. features: how many there were in training,
    and kept of them; None where the model does not say. telling: those without a weight that differ
    most between labels. sentences: some that hold no kept feature, of ``silent`` in all.
    """

    skipped: int
    unknown: int
    features: int | None
    kept: int
    telling: tuple[LeftOut, ...] = ()
    sentences: tuple[str, ...] = ()
    silent: int | None = None
    of_sentences: int | None = None


class Steady(NamedTuple):
    """A feature of the model: in how many of the parts it was chosen too, and its weights there."""

    feature: str
    label: str
    weight: float
    parts: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class Stability:
    """Whether the same features are chosen from other parts of the documents.

    parts: number of fits, each without one part. histogram: of the model's features, how many were
    chosen in 0, 1, ... of them. overlap: mean over pairs of fits of the share of features that both
    have among those that one has (Jaccard). sizes: features of every fit. strongest: those of the
    model with the largest weights.
    """

    parts: int
    histogram: tuple[int, ...]
    overlap: float
    sizes: tuple[int, ...]
    strongest: tuple[Steady, ...]


@dataclass(frozen=True)
class Baseline:
    """The model's regularizer beside ``elastic``, both fitted on the same parts of the documents.

    metric: accuracy, or r2 in a regression. own, other: its values; difference: own less other,
    with a 95 % bootstrap interval over documents. won, lost: documents that only the model, or only
    the baseline, has right; p: of the exact McNemar test; None in a regression. features_own,
    features_other: mean over the parts.
    """

    metric: str
    documents: int
    prices: str
    own: float
    other: float
    difference: Figure
    features_own: float
    features_other: float
    won: int | None = None
    lost: int | None = None
    p: float | None = None


@dataclass(frozen=True)
class Reproduce:
    """How to make the model, and this page, again.

    commands: what was run, or would make the same; versions: of what took part; seed: of splits;
    data: a name and the SHA-256 of the texts and labels of each corpus.
    """

    commands: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    seed: int | None
    data: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class Report(Page):
    """All that a page says of a model.

    discrete: see :class:`textreg.tasks.Task`. missing: what the page cannot know, and why.
    """

    template = "report.html.jinja"

    title: str
    task: str
    discrete: bool
    labels: tuple[str, ...]
    facts: tuple[Fact, ...]
    settings: tuple[Fact, ...]
    n_features: int
    converged: bool | None
    gap: float | None
    scores: Scores
    searched: Searched | None
    traced: Traced | None
    words: tuple[LabelWords, ...]
    words_left_out: int
    kept: Selection | None
    selected: tuple[Selected, ...]
    dropped: Dropped
    stability: Stability | None
    baseline: Baseline | None
    documents: tuple[Document, ...]
    reproduce: Reproduce
    missing: tuple[str, ...]
