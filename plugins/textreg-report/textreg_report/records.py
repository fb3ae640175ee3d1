"""The contents of the pages as plain records: computed first, written by templates afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from textreg.explain import RemovalTable, Selection
from textreg.explain.selection import Profile
from textreg.measure.calibration import Reliability, ThresholdLine
from textreg.measure.evaluation import Evaluation, RegressionEvaluation
from textreg.measure.metrics import ALPHA
from textreg.measure.multilabel import MultilabelEvaluation
from textreg.records import Int64s
from textreg_report.agreement import Difference, MeanEstimate
from textreg_report.page import Page


class Estimate(NamedTuple):
    """A measured value and its 95 % interval; the ends are None where there is none."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


class Mark(NamedTuple):
    """A part of a text, its share of the score, and the strength of its color, -5 to 5."""

    text: str
    value: float
    level: int


class Line(NamedTuple):
    """A sentence of a document, or several sentences that are not shown.

    Attributes
    ----------
    marks : tuple of Mark
        The text in parts; empty if it is not shown.
    value : float
        Sum of its words' shares of the score.
    removal : float or None
        See :class:`textreg.explain.SentenceScore`; None for several sentences.
    hidden : str
        Number of sentences or characters that are not shown.
    evidence : float
        See :class:`textreg.explain.SentenceScore`; 0 for several sentences.
    field : str
        Its field, where documents have several; else empty.
    marked : bool
        Whether people marked a passage in it.
    """

    marks: tuple[Mark, ...]
    value: float
    removal: float | None
    hidden: str = ""
    evidence: float = 0.0
    field: str = ""
    marked: bool = False


@dataclass(frozen=True)
class Document:
    """A document and the explanation of its score, which is the intercept plus all lines.

    Attributes
    ----------
    number : int
        Position in the corpus, from 1.
    where : str
        File and line, if known.
    kind : str
        Why it is shown, such as "wrong", "unsure" or "right".
    y_true, predicted : str
        The true and the predicted label or number.
    probability : float or None
        Probability of the predicted label, if the model has probabilities.
    certainty : float
        Distance of the score from another prediction; in a regression, minus the absolute error.
    of : str
        The label that the score is for; empty in a regression.
    intercept, score : float
        The intercept and the score.
    lines : tuple of Line
        Its sentences.
    words : tuple of (feature, value)
        The features with the largest shares of the score.
    characters : int
        Length of the text.
    preview : str
        Start of the text.
    evidence : float
        That of the sentence with the most.
    found : bool or None
        Whether people marked a passage in this sentence; None without marked passages.
    fields : tuple of (name, value)
        The sum of the shares of every field's words, where documents have several fields.
    """

    number: int
    where: str
    kind: str
    y_true: str
    predicted: str
    probability: float | None
    certainty: float
    of: str
    intercept: float
    score: float
    lines: tuple[Line, ...]
    words: tuple[tuple[str, float], ...]
    characters: int
    preview: str
    evidence: float = 0.0
    found: bool | None = None
    fields: tuple[tuple[str, float], ...] = ()


class SelectedSentence(NamedTuple):
    """A sentence, whether it contains a feature with a weight, and its log-odds by removal."""

    text: str
    selected: bool
    removal: float


class SelectedDocument(NamedTuple):
    """A training document in sentences; the log-odds are for its true ``label``."""

    where: str
    label: str
    predicted: str
    sentences: tuple[SelectedSentence, ...]


class Versus(NamedTuple):
    """The model compared with something else on the same documents.

    Attributes
    ----------
    name : str
        What it is compared with, in words.
    metric : str
        Accuracy, micro-F1 or R².
    other : float
        The metric of the other one.
    difference : Estimate
        The model's metric minus ``other``, with its interval.
    won, lost : int or None
        Documents that only the model, or only the other one, has right; None in a regression.
    p : float or None
        P-value of the exact McNemar test, adjusted if there are several comparisons; None in a
        regression.
    comparisons : int
        Comparisons that ``p`` is adjusted for.
    """

    name: str
    metric: str
    other: float
    difference: Estimate
    won: int | None = None
    lost: int | None = None
    p: float | None = None
    comparisons: int = 1

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``level``: by the p-value, or where there is none, the interval.

        As :attr:`textreg_report.comparison.Contrast.verdict`.
        """
        if self.p is not None and self.won is not None and self.lost is not None:
            if self.p > ALPHA or self.won == self.lost:
                return "level"
            return "better" if self.won > self.lost else "worse"
        low, high = self.difference.low, self.difference.high
        if low is not None and low > 0:
            return "better"
        return "worse" if high is not None and high < 0 else "level"


class Example(NamedTuple):
    """A document that was answered wrongly: its number, start, and the words that spoke for that.

    number: as of :class:`textreg_report.records.Document`, which the page links to.
    """

    number: int
    where: str
    preview: str
    words: tuple[tuple[str, float], ...]


class Confusion(NamedTuple):
    """Documents of one label that were given another one, and some of them.

    documents: how many; support: how many have the label.
    """

    y_true: str
    predicted: str
    documents: int
    support: int
    examples: tuple[Example, ...]


class Suggestion(NamedTuple):
    """What may help, and the figures that speak for it.

    gain: how many of the measured documents it put right in a measurement, net, by which
    suggestions are ranked; 0 where that is not known, or not what it is for. first: whether it
    stands before all others, since the figures of the report are wrong without it.
    """

    what: str
    why: str
    gain: float = 0.0
    first: bool = False


@dataclass(frozen=True)
class Verdict:
    """What to know of a model, in sentences that follow from figures of the report.

    Attributes
    ----------
    tone : str
        ``better``, ``worse`` or ``level`` beside the simplest answer, or ``unclear``.
    quality : tuple of str
        How good it is, against the simplest answer and against other models.
    errors : str
        Which labels it finds least of, in words.
    confusions : tuple of Confusion
        The labels that are confused most often.
    unsure : tuple of str
        Where it is unsure.
    suggestions : tuple of Suggestion
        What would help, the largest gain first.
    """

    tone: str
    quality: tuple[str, ...]
    errors: str = ""
    confusions: tuple[Confusion, ...] = ()
    unsure: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()


class EvidenceRow(NamedTuple):
    """A measure of :class:`textreg_report.agreement.RationaleScores`: name, title, mean."""

    key: str
    title: str
    mean: MeanEstimate


class EvidenceBeside(NamedTuple):
    """Another model: its measures by name, and the model's less these."""

    name: str
    means: Mapping[str, MeanEstimate]
    differences: Mapping[str, Difference]


@dataclass(frozen=True)
class EvidenceSection:
    """How well the evidence of a model agrees with passages that people marked.

    Attributes
    ----------
    documents, left_out : int
        Documents with a marked passage, and without one.
    marked_sentences, marked_tokens, rationale_share : float
        As of :class:`textreg_report.agreement.RationaleScores`.
    rows : tuple of EvidenceRow
        The measures.
    beside : tuple of EvidenceBeside
        Other models on the same documents.
    """

    documents: int
    left_out: int
    marked_sentences: float
    marked_tokens: float
    rationale_share: float
    rows: tuple[EvidenceRow, ...]
    beside: tuple[EvidenceBeside, ...] = ()


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
    evidence : EvidenceSection or None
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
    evidence: EvidenceSection | None
    tables: tuple[RemovalTable, ...]
    suspected: Suspected | None
    reproduce: Reproduce
    missing: tuple[str, ...]


class Side(NamedTuple):
    """Scores of one of the two models; gap: of its training, None where there is no bound."""

    name: str
    regularizer: str
    accuracy: Estimate
    macro_f1: float
    log_loss: float | None
    features: int
    gap: float | None


class FeatureChange(NamedTuple):
    """A feature and, for either model, its main label and weight; None if a model lacks it."""

    feature: str
    first: tuple[str, float] | None
    second: tuple[str, float] | None


class Flip(NamedTuple):
    """A document with different predictions of the two models.

    kind: "gained" if only the second is right, "lost" if only the first is, else "neither".
    """

    kind: str
    first: Document
    second: Document


@dataclass(frozen=True, eq=False)
class PairReport(Page):
    """Two models compared on the same documents.

    Attributes
    ----------
    title : str
        Title of the page.
    names : (str, str)
        Names of the models.
    labels : tuple of str
        Labels of either model.
    how : str
        Which documents they were measured on, in words.
    documents : int
        Their number.
    sides : (Side, Side)
        Scores of each model.
    difference : Estimate
        Accuracy of the second minus that of the first, with its 95 % bootstrap interval.
    gained, lost : int
        Number of documents that only the second, or only the first, predicts right.
    p : float
        P-value of the exact McNemar test.
    flips : int
        Number of documents with different predictions.
    shown : tuple of Flip
        Some of them.
    common : int
        Number of features that both models have.
    added, removed, relabeled : tuple of FeatureChange
        The strongest features that only the second has, that only the first has, and that changed
        their main label.
    counts : (int, int, int)
        Number of all such features.
    commands, versions, data : tuple of Fact
        As in :class:`textreg_report.records.Reproduce`.
    missing : tuple of str
        What the page cannot tell, and why.
    """

    template = "pair.html.jinja"

    title: str
    names: tuple[str, str]
    labels: tuple[str, ...]
    how: str
    documents: int
    sides: tuple[Side, Side]
    difference: Estimate
    gained: int
    lost: int
    p: float
    flips: int
    shown: tuple[Flip, ...]
    common: int
    added: tuple[FeatureChange, ...]
    removed: tuple[FeatureChange, ...]
    relabeled: tuple[FeatureChange, ...]
    counts: tuple[int, int, int]
    commands: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    data: tuple[Fact, ...]
    missing: tuple[str, ...]
