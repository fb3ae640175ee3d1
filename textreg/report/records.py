"""The contents of a report as plain records: computed first, written as a page afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textreg.explain import RemovalTable, Selection
from textreg.explain.selection_records import Profile
from textreg.measure.evaluation import Evaluation, RegressionEvaluation
from textreg.measure.multilabel import MultilabelEvaluation
from textreg.measure.reliability import Reliability, ThresholdLine
from textreg.records import Int64s
from textreg.report.document_records import Document, SelectedDocument
from textreg.report.estimates import Estimate
from textreg.report.evidence_records import Evidence
from textreg.report.page import Page
from textreg.report.verdict_records import Verdict


class Fact(NamedTuple):
    """A name and its value, both as text."""

    name: str
    value: str


class LabelScore(NamedTuple):
    """Scores of one label; precision and recall have Wilson intervals."""

    label: str
    precision: Estimate
    recall: Estimate
    f1: float
    support: int


class ConfusedPair(NamedTuple):
    """Number of documents of one label that were given another one."""

    y_true: str
    predicted: str
    documents: int


@dataclass(frozen=True, eq=False)
class Scores:
    """How well a model predicts.

    Attributes
    ----------
    how : str
        Which documents it was measured on, in words.
    documents : int
        Their number.
    figures : tuple of Estimate
        The most important scores.
    result : Evaluation, MultilabelEvaluation or RegressionEvaluation
        All scores, of labels or of numbers.
    labels : tuple of LabelScore
        Scores of the labels with the most documents; ``left_out`` more are not listed.
    matrix : ndarray of int, shape (matrix_labels, matrix_labels), or None
        Confusion matrix: true labels in rows, predictions in columns; None where documents may have
        several labels, and in a regression.
    confused : tuple of ConfusedPair
        The most frequent errors; of several labels, one that is missed and one too many.
    reliability : Reliability or None
        Predicted probabilities and observed shares.
    thresholds : tuple of (label, lines)
        What each rule for thresholds would give.
    points : tuple of (true, predicted)
        Numbers of some documents, in a regression.
    """

    how: str
    documents: int
    figures: tuple[Estimate, ...]
    result: Evaluation | MultilabelEvaluation | RegressionEvaluation
    labels: tuple[LabelScore, ...] = ()
    left_out: int = 0
    matrix: Int64s | None = None
    matrix_labels: tuple[str, ...] = ()
    confused: tuple[ConfusedPair, ...] = ()
    reliability: Reliability | None = None
    thresholds: tuple[tuple[str, tuple[ThresholdLine, ...]], ...] = ()
    points: tuple[tuple[float, float], ...] = ()


class SearchTrial(NamedTuple):
    """A setting of the search, in words, its number of features, and the metric."""

    settings: str
    features: float
    value: float


@dataclass(frozen=True)
class SearchSection:
    """The settings that training tried, and which of them it chose.

    Attributes
    ----------
    metric : str
        The metric that settings were chosen by.
    documents : int
        Number of held-out documents.
    how : str
        Which documents these were, in words.
    tried : tuple of SearchTrial
        The settings.
    chosen : int
        Index of the chosen one.
    interval : (float, float) or None
        95 % Wilson interval of the chosen one, if the metric is the accuracy.
    """

    metric: str
    documents: int
    how: str
    tried: tuple[SearchTrial, ...]
    chosen: int
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class PathSection:
    """The models along the regularization path.

    Attributes
    ----------
    curve : SearchSection
        Size and metric of each model, measured on documents that its fit has not seen.
    parameter : str
        The parameter that varies.
    values : tuple of float
        Its values, the emptiest model first.
    whole : bool
        Whether the values are whole numbers; otherwise they are penalty strengths.
    profiles : tuple of Profile
        Weights of the strongest features along the path.
    """

    curve: SearchSection
    parameter: str
    values: tuple[float, ...]
    whole: bool
    profiles: tuple[Profile, ...]


class WordRow(NamedTuple):
    """A feature, its weight for a label, and the number of documents that contain it.

    inside: documents of this label; outside: all others. In a regression, inside counts them all.
    """

    feature: str
    weight: float
    inside: int
    outside: int


class LabelWords(NamedTuple):
    """The strongest features of a label; ``inside`` documents have the label, ``outside`` not."""

    label: str
    rows: tuple[WordRow, ...]
    inside: int
    outside: int


class UnusedFeature(NamedTuple):
    """A feature without a weight; shares of documents with it, of a label and of all others."""

    feature: str
    label: str
    inside: float
    outside: float


@dataclass(frozen=True)
class Dropped:
    """What the model does not use.

    Attributes
    ----------
    skipped : int
        Rows of the files that could not be read.
    unknown : int
        Documents without any feature of the model; only the intercept decides on them.
    features : int or None
        Number of features in training; None if the model does not say.
    selected : int
        Number of features with a weight.
    informative : tuple of UnusedFeature
        Features without a weight whose frequency differs most between labels.
    sentences : tuple of str
        Some sentences that contain no feature of the model.
    empty_sentences, total_sentences : int or None
        Number of these sentences, and of all.
    """

    skipped: int
    unknown: int
    features: int | None
    selected: int
    informative: tuple[UnusedFeature, ...] = ()
    sentences: tuple[str, ...] = ()
    empty_sentences: int | None = None
    total_sentences: int | None = None


class FeatureStability(NamedTuple):
    """A feature of the model, the number of fits that selected it, and its weights there."""

    feature: str
    label: str
    weight: float
    parts: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class Stability:
    """Whether fits to other parts of the documents select the same features.

    Attributes
    ----------
    parts : int
        Number of fits; each leaves out one part of the documents.
    histogram : tuple of int
        Number of the model's features that were selected in 0, 1, ... of the fits.
    overlap : float
        Mean Jaccard index of the features of two fits.
    sizes : tuple of int
        Number of features of every fit.
    strongest : tuple of FeatureStability
        The model's features with the largest weights.
    """

    parts: int
    histogram: tuple[int, ...]
    overlap: float
    sizes: tuple[int, ...]
    strongest: tuple[FeatureStability, ...]


@dataclass(frozen=True)
class Baseline:
    """The model's regularizer compared with ``elastic`` on the same parts of the documents.

    Attributes
    ----------
    metric : str
        Accuracy, or R² in a regression.
    documents : int
        Number of documents.
    hyperparameters : str
        Those of the baseline, in words.
    own, other : float
        The metric of the model's regularizer and of the baseline.
    difference : Estimate
        ``own`` minus ``other``, with a bootstrap interval over documents.
    features_own, features_other : float
        Mean number of features over the fits.
    won, lost : int or None
        Number of documents that only the model, or only the baseline, predicts right; None in a
        regression.
    p : float or None
        P-value of the exact McNemar test; None in a regression.
    """

    metric: str
    documents: int
    hyperparameters: str
    own: float
    other: float
    difference: Estimate
    features_own: float
    features_other: float
    won: int | None = None
    lost: int | None = None
    p: float | None = None


class Suspect(NamedTuple):
    """A training document: where it is, its label and the probable one in words, its start."""

    where: str
    told: str
    preview: str


@dataclass(frozen=True)
class Suspected:
    """Training documents whose labels may be wrong.

    Attributes
    ----------
    count, total : int
        Their number, and that of the documents that were judged.
    listed : tuple of Suspect
        The most suspicious of them.
    """

    count: int
    total: int
    listed: tuple[Suspect, ...]


@dataclass(frozen=True)
class Reproduce:
    """How to make the model and this page again.

    Attributes
    ----------
    commands : tuple of Fact
        Commands that were run, or that give the same result.
    versions : tuple of Fact
        Versions of Python and of the libraries.
    seed : int or None
        Seed of the splits.
    data : tuple of Fact
        SHA-256 of the texts and labels of each corpus.
    """

    commands: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    seed: int | None
    data: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class Report(Page):
    """Everything that a page says about a model.

    Attributes
    ----------
    title : str
        Title of the page.
    task : str
        The kind of task, such as "binary classification".
    discrete : bool
        Whether the targets are labels; see :class:`textreg.tasks.Task`.
    labels : tuple of str
        The labels; empty in a regression.
    facts, settings : tuple of Fact
        About the training data, and the settings of the training.
    n_features : int
        Number of features with a weight.
    converged : bool or None
        Whether the fit reached its tolerance; None if the model does not say.
    gap : float or None
        Relative duality gap of the fit; None where there is no bound.
    verdict : Verdict
        What to know of it, in sentences.
    scores : Scores
        How well the model predicts.
    search : SearchSection or None
        The settings that training tried.
    path : PathSection or None
        The models along the regularization path (``train --path``).
    words : tuple of LabelWords
        The strongest features of each label; ``words_left_out`` more labels are not listed.
    selection : Selection or None
        The selected sentences or other groups.
    selected_documents : tuple of SelectedDocument
        Training documents with their selected sentences.
    dropped : Dropped
        What the model does not use.
    stability : Stability or None
        How stable the selection of features is.
    baseline : Baseline or None
        Comparison with the elastic net.
    documents : tuple of Document
        Documents with explained predictions.
    evidence : Evidence or None
        How well its evidence agrees with the passages that people marked.
    tables : tuple of RemovalTable
        What each sentence of some texts is worth to the model, and to others.
    suspected : Suspected or None
        Training documents whose labels may be wrong.
    reproduce : Reproduce
        How to make the model and the page again.
    missing : tuple of str
        What the page cannot tell, and why.
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
    verdict: Verdict
    scores: Scores
    search: SearchSection | None
    path: PathSection | None
    words: tuple[LabelWords, ...]
    words_left_out: int
    selection: Selection | None
    selected_documents: tuple[SelectedDocument, ...]
    dropped: Dropped
    stability: Stability | None
    baseline: Baseline | None
    documents: tuple[Document, ...]
    evidence: Evidence | None
    tables: tuple[RemovalTable, ...]
    suspected: Suspected | None
    reproduce: Reproduce
    missing: tuple[str, ...]
