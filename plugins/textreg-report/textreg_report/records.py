"""What pages show: computed first, written by templates afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

from textreg.explain import RemovalTable, Selection
from textreg.measure.significance import ALPHA
from textreg_report.page import Page

Facts = tuple[tuple[str, str], ...]
"""Names and values, both as text."""


class Section(SimpleNamespace):
    """A part of a page: values by name, made by one function for one place of a template."""


class Estimate(NamedTuple):
    """A measured value and its 95 % interval; the ends are None where there is none."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


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
    facts, settings : tuple of (str, str)
        About the training data, and the settings of the training.
    n_features : int
        Number of features with a weight.
    converged : bool or None
        Whether the fit reached its tolerance; None if the model does not say.
    gap : float or None
        Relative duality gap of the fit; None where there is no bound.
    verdict : Section
        What to know of it, in sentences: see :func:`textreg_report.verdict.verdict_of`.
    scores : Section
        How well the model predicts: see :func:`textreg_report.predictions.scores_of`.
    search : Section or None
        The settings that training tried: see :func:`textreg_report.facts.search_section`.
    path : Section or None
        The models along the regularization path: see :func:`textreg_report.facts.path_section`.
    words : tuple of Section
        The strongest features of each label; ``words_left_out`` more labels are not listed.
    selection : Selection or None
        The selected sentences or other groups.
    selected_documents : tuple of Section
        Training documents with their selected sentences.
    dropped : Section
        What the model does not use: see :func:`textreg_report.features.dropped_of`.
    stability : Section or None
        How stable the selection is: see :func:`textreg_report.features.stability_of`.
    baseline : Baseline or None
        Comparison with the elastic net.
    documents : tuple of Section
        Explained predictions: see :func:`textreg_report.documents.document_of`.
    evidence : Section or None
        How well its evidence agrees with the passages that people marked.
    tables : tuple of RemovalTable
        What each sentence of some texts is worth to the model, and to others.
    suspected : Section or None
        Training documents whose labels may be wrong.
    reproduce : Section
        ``commands``, ``versions``, ``seed`` and SHA-256 of the texts and labels (``data``).
    missing : tuple of str
        What the page cannot tell, and why.
    """

    template = "report.html.jinja"

    title: str
    task: str
    discrete: bool
    labels: tuple[str, ...]
    facts: Facts
    settings: Facts
    n_features: int
    converged: bool | None
    gap: float | None
    verdict: Section
    scores: Section
    search: Section | None
    path: Section | None
    words: tuple[Section, ...]
    words_left_out: int
    selection: Selection | None
    selected_documents: tuple[Section, ...]
    dropped: Section
    stability: Section | None
    baseline: Baseline | None
    documents: tuple[Section, ...]
    evidence: Section | None
    tables: tuple[RemovalTable, ...]
    suspected: Section | None
    reproduce: Section
    missing: tuple[str, ...]


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
    sides : (Section, Section)
        Scores of each model.
    difference : Estimate
        Accuracy of the second minus that of the first, with its 95 % bootstrap interval.
    gained, lost : int
        Number of documents that only the second, or only the first, predicts right.
    p : float
        P-value of the exact McNemar test.
    flips : int
        Number of documents with different predictions.
    shown : tuple of Section
        Some of them, of the kind ``gained`` if only the second model is right, ``lost`` if only the
        first is, else ``neither``.
    common : int
        Number of features that both models have.
    added, removed, relabeled : tuple of Section
        The strongest features that only the second has, that only the first has, and that changed
        their main label.
    counts : (int, int, int)
        Number of all such features.
    commands, versions, data : tuple of (str, str)
        Command lines, versions of libraries, SHA-256 of the texts and labels.
    missing : tuple of str
        What the page cannot tell, and why.
    """

    template = "pair.html.jinja"

    title: str
    names: tuple[str, str]
    labels: tuple[str, ...]
    how: str
    documents: int
    sides: tuple[Section, Section]
    difference: Estimate
    gained: int
    lost: int
    p: float
    flips: int
    shown: tuple[Section, ...]
    common: int
    added: tuple[Section, ...]
    removed: tuple[Section, ...]
    relabeled: tuple[Section, ...]
    counts: tuple[int, int, int]
    commands: Facts
    versions: Facts
    data: Facts
    missing: tuple[str, ...]
