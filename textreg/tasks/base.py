"""What a task is: what documents are labeled with, and what scores say about it."""

from __future__ import annotations

import re
import unicodedata
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError, alternatives, did_you_mean, first_few
from textreg.kinds import Loss, Regularizer
from textreg.losses import Logistic
from textreg.measure import decisions
from textreg.measure.decisions import Calibration
from textreg.measure.evaluation import Evaluation, MultilabelEvaluation, RegressionEvaluation
from textreg.measure.intercept import Shift
from textreg.measure.metrics import LOG_LOSSES
from textreg.records import Bools, Corpus, Floats, Int64s

Targets: TypeAlias = Int64s | Floats | Bools
ClassWeight: TypeAlias = str | Mapping[str, float] | None
ByLabel: TypeAlias = Mapping[str, float]
Metrics: TypeAlias = dict[str, float]


def labels_of(corpus: Corpus) -> tuple[str, ...]:
    """The labels of a training corpus, sorted; DataError if nothing can be learned from them."""
    if not len(corpus):
        raise DataError("There are no documents to train on: give a file with labeled texts.")
    if corpus.labels is None:
        raise DataError(
            "The documents have no labels to train on: say which column holds them "
            "(--label-col), or give a label for each text."
        )
    if corpus.multilabel:
        raise DataError(
            f"{corpus.where(0)}: the document has a list of labels, {list(corpus.labels[0])!r:.60},"
            " and in a classification it has one: pass --task multilabel, or give one label each."
        )
    for row, label in enumerate(corpus.labels):
        if not isinstance(label, str):
            raise DataError(
                f"{corpus.where(row)}: the label is {label!r}, but labels are texts. Pass "
                "[str(label) for label in labels], or use TextClassifier, which keeps other types."
            )
    labels = tuple(sorted(set(corpus.labels)))
    if len(labels) == 1:
        raise DataError(
            f"All documents ({len(corpus):,}) have the same label, '{labels[0]}': there is nothing "
            "to tell apart. Add documents with another label, or check the choice of the label "
            "column (--label-col)."
        )
    return labels


def check_rare_label(rare_label: str | None, labels: Sequence[str]) -> None:
    """UsageError unless rare labels are joined into one of the labels."""
    if rare_label is not None and rare_label not in labels:
        raise UsageError(
            f"rare labels are joined into '{rare_label}', which is not a label of the model: name "
            "one of its labels."
        )


def check_class_weight(class_weight: Mapping[str, float], labels: Sequence[str]) -> None:
    """UsageError for a factor that is not above 0, or is of none of the labels."""
    for label, factor in class_weight.items():
        if label not in labels:
            raise UsageError(
                f"class_weight names the label '{label}', which no document has."
                f"{alternatives(label, labels)}"
            )
        if not (isinstance(factor, Real) and np.isfinite(factor) and factor > 0):
            raise UsageError(f"class_weight of '{label}' must be a number above 0, not {factor!r}.")


def check_classes(classes: Sequence[object]) -> None:
    """DataError unless there are two classes or more with a weight above zero."""
    if len(classes) < 2:
        raise DataError(
            f"y has only {len(classes)} class(es), {list(classes)}, with a weight above zero: "
            "there is nothing to tell apart. Add texts with other labels."
        )


# Documents from which on a column of labels may be told to look like ids.
FEW = 20

# What to do about a label of too few documents; `least` is the number that would do.
REMEDY = (
    "Add documents with this label, leave such labels out (--min-label {least}), or join them into "
    "one (--min-label {least}:other)"
)

# Labels that a message lists.
NAMED = 5

# What may stand between the labels of a document.
_SEPARATORS = (";", "|", ",")

# Numbers, dates, `review_17`, hexadecimal digests and UUIDs.
_NUMBERED = re.compile(
    r"[-+]?\d[\d.,:_ -]*|[a-z]{0,12}[-_#:./ ]?\d+|(?=.*\d)[0-9a-f]{6,}(-?[0-9a-f]{2,})*", re.I
)


def documents_of_labels(corpus: Corpus) -> Counter[str]:
    """The number of documents with a weight above zero of every label; 0 if it has no such."""
    labels, weights = corpus.labels or (), corpus.sample_weight
    lists = labels if corpus.multilabel else [(label,) for label in labels]
    counts = Counter(label for listed in lists for label in listed)
    if weights is not None:
        without = (listed for listed, w in zip(lists, weights.tolist(), strict=True) if not w)
        counts.subtract(label for listed in without for label in listed)
    return counts


def labels_below(counts: Mapping[str, int], least: int, rare_label: str | None) -> dict[str, int]:
    """The labels of fewer than ``least`` documents, the most frequent first, and these numbers.

    Others than ``rare_label``, which such labels are joined into.
    """
    rare = {label: n for label, n in counts.items() if n < least and label != rare_label}
    return dict(sorted(rare.items(), key=lambda item: (-item[1], item[0])))


def rare_labels(counts: Mapping[str, int], least: int, rare_label: str | None) -> dict[str, int]:
    """Those of :func:`labels_below`, of which some remain, or are enough as one.

    Raises DataError if there are no two labels left, or if the joined one has fewer documents as
    well.
    """
    rare = labels_below(counts, least, rare_label)
    left = len(counts) - len(rare) + (bool(rare) and rare_label not in (None, *counts))
    if rare and left < 2:
        label, most = max(counts.items(), key=lambda item: item[1])
        raise DataError(
            f"{len(rare):,} of {len(counts):,} labels have fewer than {least:,} documents, and "
            f"a model needs two that have as many: the most frequent, '{label}', has {most:,}. "
            "Lower --min-label, or check the choice of the label column (--label-col)."
        )
    joined = sum(rare.values()) + counts.get(rare_label or "", 0)
    if rare and rare_label is not None and joined < least:
        raise DataError(
            f"the labels with fewer than {least:,} documents have {joined:,} together, too few for "
            f"a label '{rare_label}'. Leave them out (--min-label {least} alone), or join more "
            f"(--min-label {1 + min(n for n in counts.values() if n >= least)} or more)."
        )
    return rare


def warn_of_left_out(rare: Mapping[str, int], least: int, where: str) -> None:
    """DataWarning that names the labels that are left out."""
    listed = first_few([f"'{label}' ({count:,})" for label, count in rare.items()], NAMED)
    what = "label" if len(rare) == 1 else "labels"
    warnings.warn(
        f"left out {len(rare):,} {what} with fewer than {least:,} documents, {where}: {listed}.",
        DataWarning,
        stacklevel=2,
    )


def sounds_like_ids(labels: Sequence[str], distinct: int, column: str) -> str:
    """What to tell where most documents have a label of their own, as in a column of ids.

    labels: of all documents. column: the name of their column, empty if unknown. Empty where labels
    are shared.
    """
    if len(labels) < FEW or 2 * distinct <= len(labels):
        return ""
    whose = f" in the column '{column}'" if column else ""
    looks = "few documents share one"
    if all(_NUMBERED.fullmatch(label) for label in labels):
        looks = "they look like ids"
    return (
        f"the {len(labels):,} documents have {distinct:,} different labels{whose}, such as "
        f"'{labels[0]}' and '{labels[-1]}': {looks}. Check the choice of the label column "
        "(--label-col); numbers to be predicted need --task regression."
    )


def several_labels(counts: Mapping[str, int]) -> str:
    """What to tell where labels are rather lists of labels, such as ``price; support``.

    counts: documents by label. They are, where a tenth of the documents have a separator in their
    label, and the parts are fewer than the labels. Empty where they are not.
    """
    for separator in _SEPARATORS:
        split = {
            label: [part for part in map(str.strip, label.split(separator)) if part]
            for label in counts
        }
        joined = {label: counts[label] for label, parts in split.items() if len(parts) > 1}
        parts = {part for of_label in split.values() for part in of_label}
        several = 10 * sum(joined.values()) >= sum(counts.values()) > 0
        if several and len(parts) < len(counts) and not any(map(_NUMBERED.fullmatch, parts)):
            return (
                f"{sum(joined.values()):,} of {sum(counts.values()):,} documents have labels such "
                f"as '{next(iter(joined))}', and {len(counts):,} labels have {len(parts):,} parts: "
                "if a document has several labels, say what separates them (--label-sep "
                f"'{separator}'), or give lists in Python."
            )
    return ""


def label_variants(counts: Mapping[str, int]) -> dict[str, str]:
    """Labels that seem to be another one, written otherwise; and that one.

    Labels are one if they differ in case and blanks, or in marks between letters. A label of few
    documents is a typing error of one with ``TIMES / (letters of it)`` as many if one letter is too
    much, missing, another one, or changes places with the next.
    """
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    spelled: dict[str, list[str]] = {}
    for label in ranked:
        spelled.setdefault(_spelling(label), []).append(label)
    total = {spelling: sum(map(counts.__getitem__, it)) for spelling, it in spelled.items()}
    variants = {label: it[0] for it in spelled.values() for label in it[1:]}
    # Two spellings are near where they are equal without one letter of each.
    near: dict[str, list[str]] = {}
    for spelling in sorted(spelled, key=lambda it: -total[it]):
        lettered = _LETTERED.search(spelled[spelling][0])
        if len(spelling) < SHORTEST or lettered or not spelling.replace(" ", "").isalpha():
            continue
        without = {spelling, *(spelling[:at] + spelling[at + 1 :] for at in range(len(spelling)))}
        candidates = dict.fromkeys(candidate for it in without for candidate in near.get(it, ()))
        least = TIMES / len(spelling)
        right = next((it for it in candidates if least * total[spelling] <= total[it]), None)
        if right is not None:
            variants |= dict.fromkeys(spelled[spelling], spelled[right][0])
        elif total[spelling] >= TIMES / (len(spelling) + 1):  # else there is no typing error of it
            for it in without:
                near.setdefault(it, []).append(spelling)
    return variants


# The least letters of a label that a typing error is looked for in: of "cat" and "car" both are.
SHORTEST = 5
# A label has at least so many times the documents of its typing error, by the letters of that: of 5
# letters 20 times, as "night" is none of "right", of 10 letters 10 times.
TIMES = 100
# "Class A" is no typing error of "Class B".
_LETTERED = re.compile(r"\b\w\W*$")


def _spelling(label: str) -> str:
    """A label in lower case, without blanks at its ends and marks between its letters."""
    folded = " ".join(unicodedata.normalize("NFKC", label).casefold().replace("_", " ").split())
    letters = r"(?<=[^\W\d])[\s\-./]+(?=[^\W\d])"
    return re.sub(letters, "", folded).strip(" .,:;") or label


def variants_told(counts: Mapping[str, int], variants: Mapping[str, str]) -> str:
    """The first variants with their numbers of documents: ``'Billing' 533 = 'BILLING' 20``."""
    alike: dict[str, list[str]] = {}
    for variant, label in variants.items():
        alike.setdefault(label, [f"'{label}' {counts[label]:,}"]).append(
            f"'{variant}' {counts[variant]:,}"
        )
    return first_few([" = ".join(several) for several in alike.values()], NAMED)


def warn_of_column(labels: Sequence[str], counts: Mapping[str, int], column: str) -> None:
    """DataWarning if a column holds ids, or lists of labels, or a label in several spellings."""
    wrong = sounds_like_ids(labels, len(counts), column) or several_labels(counts)
    if wrong:
        warnings.warn(wrong, DataWarning, stacklevel=2)
    elif variants := label_variants(counts):
        warnings.warn(
            f"labels that seem to be one: {variants_told(counts, variants)}. Write each in one "
            "way: textreg check FILE --fix OUT does so, and train takes --label-map.",
            DataWarning,
            stacklevel=2,
        )


def parted(corpus: Corpus, aside: Bools) -> tuple[Corpus, Corpus | None]:
    """The documents that are not ``aside``, and those that are, if any."""
    if not aside.any():
        return corpus, None
    rest = replace(corpus.select(np.flatnonzero(~aside)), skipped=corpus.skipped)
    return rest, corpus.select(np.flatnonzero(aside))


def with_label(corpus: Corpus, label: str) -> Bools:
    """(n,) which documents have a label."""
    if corpus.labels is None:
        return np.zeros(len(corpus), dtype=bool)
    return np.array([name == label for name in corpus.labels], dtype=bool)


# Ways to fit more than two labels: one against the rest, or all together.
MULTICLASS = ("ovr", "softmax")


class Options(Protocol):
    """The settings of a training that a task may refuse."""

    reg: Regularizer
    metric: str | None
    loss: Loss
    multiclass: str
    class_weight: ClassWeight
    intercept: str | None
    calibrate: str | None
    threshold: Mapping[str, str] | None
    min_label: int | None
    rare_label: str | None
    at_least_one: bool
    unknown: str | None


class Held(NamedTuple):
    """Documents held out: scores (n, k) of fits that have not seen them, and targets (n,).

    weights: (n,) how much each counts; None if all count the same.
    """

    scores: Floats
    y: Targets
    weights: Floats | None = None

    @property
    def counts(self) -> Floats:
        """(n,) How much each document counts, 1 on the mean."""
        if self.weights is None or not self.weights.any():
            return np.ones(len(self.y))
        return np.asarray(self.weights / self.weights.mean())

    def of(self, rows: Bools) -> Held:
        """Some of the documents."""
        weights = None if self.weights is None else self.weights[rows]
        return Held(self.scores[rows], self.y[rows], weights)


@dataclass(frozen=True)
class Task(ABC):
    """What is to be learned, and how scores become answers.

    A task has k weight vectors, and a model of it gives every document k scores. Targets ``y`` are
    what the task reads from labels: one entry, or row, for each document. Scores are accepted as a
    table (n, k) or in the form of :meth:`as_scores`. A further task is one subclass, entered in
    :data:`textreg.tasks.TASKS`.

    Attributes
    ----------
    labels : tuple of str
        Labels in sorted order; none if the task has none.
    loss : str
        Name of the loss that was minimized.
    probabilistic : bool
        Whether scores stand for probabilities.
    rare_label : str or None
        The label that all labels of few training documents were joined into; those of none count
        as this one, too.
    unknown : str or None
        The answer for texts that belong to none of the labels. It is not learned: a text gets it
        where the highest score is below a threshold.
    name : str
        The user's option: ``textreg train --task NAME``.
    kind : str
        The word for this class in model files.
    metrics : tuple of str
        What the winner of a search may be chosen by, the default first.
    default_loss : str
        Loss of a training that names none.
    discrete : bool
        Whether answers are right or wrong, and not only near or far.
    rejects : bool
        Whether there may be an :attr:`unknown` label.
    joint : bool
        Whether all weight vectors are fitted together, by ``Regularizer.solve_softmax``.
    multiclass : str or None
        One of :data:`MULTICLASS`; None if the choice makes no difference.
    multilabel : bool
        Whether a document may have several labels, so that answers are lists.
    threshold_rule : str
        Name of the rule that chooses the thresholds of labels without another one; empty if these
        have no threshold.
    """

    labels: tuple[str, ...]
    loss: str
    probabilistic: bool
    rare_label: str | None = None
    unknown: str | None = None

    name: ClassVar[str]
    kind: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]
    default_loss: ClassVar[str]
    discrete: ClassVar[bool] = True
    rejects: ClassVar[bool] = False
    joint: ClassVar[bool] = False
    multiclass: ClassVar[str | None] = None
    multilabel: ClassVar[bool] = False
    threshold_rule: ClassVar[str] = ""

    # -- before the labels are known ------------------------------------------------------------

    @classmethod
    def check_options(cls, options: Options) -> None:
        """UsageError for settings of a training that make no sense for this task."""
        if options.multiclass == "softmax":
            extends = isinstance(options.loss, Logistic)  # whose form for several classes it is
            if not (extends and options.reg.softmax):
                what = options.reg.label() if extends else f"the {options.loss.label()} loss"
                raise UsageError(
                    f"{what} cannot go with softmax: leave out multiclass, or take the logistic "
                    "loss and one of sentence, group, ridge, lasso, elastic, network or laplacian."
                )
        asked = {"calibrate": options.calibrate, "intercept": options.intercept}
        for name, value in asked.items():
            if value not in (None, "none", "fitted") and not options.loss.log_odds:
                alternative = ", or take the logistic loss" if cls.discrete else ""
                raise UsageError(
                    f"the {options.loss.label()} loss gives no probabilities: leave "
                    f"out {name}{alternative}."
                )
        if options.at_least_one and not cls.multilabel:
            raise UsageError(
                f"every answer of a {cls.name} is one: leave out at_least_one, which is for "
                "documents with several labels."
            )
        if options.unknown is not None and not cls.rejects:
            raise UsageError(
                f"an unknown label is for texts with one label each, not for {cls.name}: leave out "
                "unknown."
            )
        if options.metric is not None and options.metric not in cls.metrics:
            raise UsageError(
                f"metric must be one of {', '.join(cls.metrics)} for {cls.name}, not "
                f"'{options.metric}'.{did_you_mean(options.metric, cls.metrics)}"
            )

    @classmethod
    def kinds(cls) -> dict[str, type[Task]]:
        """The classes that :meth:`of` may give, by their ``kind``."""
        return {cls.kind: cls}

    @classmethod
    def usable(
        cls, corpus: Corpus, least: int, rare_label: str | None
    ) -> tuple[Corpus, dict[str, int]]:
        """A training corpus without the labels of fewer than ``least`` documents.

        Where ``rare_label`` is given, it takes their place. Documents without a weight do not
        count. Returns these labels as well, each with its number of documents.

        Raises DataError if nothing is left to tell apart.
        """
        return corpus, {}

    @classmethod
    @abstractmethod
    def of(cls, corpus: Corpus, loss: Loss, multiclass: str) -> Task:
        """The task that the labels of a training corpus pose.

        Raises DataError, with file and line, if nothing can be learned from them.
        """

    def with_options(self, options: Options) -> Task:
        """The same task with what settings of a training say about its answers."""
        return self

    # -- targets --------------------------------------------------------------------------------

    @abstractmethod
    def targets(self, corpus: Corpus) -> Targets:
        """y (n,) or (n, k) of documents; see :meth:`known` for labels that only these have.

        Raises DataError, with file and line, if a label is missing or no label is known.
        """

    @abstractmethod
    def dev_targets(self, dev: Corpus) -> Targets:
        """The same for documents that hyperparameters are chosen by.

        DataWarning if some of them have labels that are not known.
        """

    def known(self, y: Targets) -> Bools:
        """(n,) which targets the model may predict; others can only be answered wrongly.

        Documents with others are measured, and neither fitted nor used to calibrate.
        """
        return np.ones(len(y), dtype=bool)

    @abstractmethod
    def known_targets(self, corpus: Corpus) -> Targets:
        """The same, with -1 for labels that are missing or not known."""

    def outside(self, y: Targets) -> Bools:
        """(n,) which targets are the :attr:`unknown` label, so belong to no label."""
        return np.zeros(len(y), dtype=bool)

    @abstractmethod
    def row(self, y: Targets, number: int) -> Floats:
        """(n,) what a weight vector is fitted to: its ``Problem.y``."""

    def rows(self, y: Targets) -> Floats:
        """(k, n) the same of all; where labels are many, there is no room for them."""
        return np.array([self.row(y, number) for number in range(self.n_rows)])

    @abstractmethod
    def strata(self, y: Targets) -> tuple[Int64s, Sequence[str]]:
        """(n,) the stratum of each document, to be spread evenly over splits; and their names."""

    def memberships(self, y: Targets) -> tuple[Int64s | Bools, Sequence[str]]:
        """What splits keep in proportion: :meth:`strata`; or which labels documents have, (n, k).

        Every side of a split needs documents of all strata, but not of all such labels.
        """
        return self.strata(y)

    @abstractmethod
    def factors(self, y: Targets, sample_weight: Floats, class_weight: ClassWeight) -> Floats:
        """(strata,) the factor on the weights of each stratum's documents.

        Raises DataError if no document of a label has a weight above zero, UsageError for a
        ``class_weight`` of an unknown label.
        """

    def row_factors(
        self, y: Targets, sample_weight: Floats, class_weight: ClassWeight
    ) -> Floats | None:
        """(k, 2) factors on the weights in each row's fit, where its ``y`` is -1 and where it is 1.

        None if all are 1.
        """
        return None

    @abstractmethod
    def describe(self, y: Targets) -> dict[str, float]:
        """Statistics of the targets, for the summary of a training."""

    @abstractmethod
    def label_lines(self, described: Mapping[str, float]) -> tuple[str, list[str]]:
        """What :meth:`describe` gave, for people: a title and a text for each item.

        Nothing is listed if nothing is known.
        """

    # -- scores ---------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of weight vectors, k."""
        return 1

    def check_weights(self, weights: Floats, intercepts: Floats, n_features: int) -> None:
        """UsageError unless weights are (k, n_features) and intercepts (k,)."""
        shape = (self.n_rows, n_features)
        if weights.shape != shape or intercepts.shape != shape[:1]:
            raise UsageError(
                f"{len(self.labels)} labels and {n_features} features need weights of the shape "
                f"{shape} and intercepts of the shape {shape[:1]}, not {weights.shape} and "
                f"{intercepts.shape}."
            )

    def as_scores(self, table: Floats) -> Floats:
        """Scores as ``Model.decision_function`` gives them, from a table (n, k)."""
        return table[:, 0]

    def as_table(self, scores: Floats) -> Floats:
        """The inverse of :meth:`as_scores`; a table (n, k) stays as it is."""
        return scores[:, None] if scores.ndim == 1 else scores

    def label_scores(self, scores: Floats) -> Floats:
        """(n, labels) the score of every label; UsageError if there are no labels."""
        raise UsageError(f"a {self.name} has no labels to rank: leave out top.")

    def ranking(self, scores: Floats, thresholds: ByLabel | None = None) -> Int64s:
        """(n, labels) indices of the labels, those with the highest score less threshold first.

        UsageError if there are no labels.
        """
        margins = self.label_scores(scores) - self._offsets(thresholds or {})
        return np.argsort(-margins, axis=1, kind="stable")

    def _offsets(self, thresholds: ByLabel) -> Floats:
        """(labels,) the threshold of every label."""
        return np.array([thresholds.get(label, 0.0) for label in self.labels])

    @abstractmethod
    def decide(self, scores: Floats, thresholds: ByLabel | None = None) -> Targets:
        """y (n,) or (n, k) as scores predict it."""

    @abstractmethod
    def answers(self, y: Targets) -> list[Any]:
        """Targets as the labels, lists of labels or numbers that they stand for."""

    @abstractmethod
    def text(self, answer: Any) -> str:
        """One of :meth:`answers` for people."""

    def right(self, y_true: Targets, y_pred: Targets) -> Bools:
        """(n,) whether each answer is right."""
        return np.asarray(y_true == y_pred)

    @abstractmethod
    def certainty(self, scores: Floats, y_true: Targets, thresholds: ByLabel) -> Floats:
        """(n,) how far each score is from another answer; or minus the error of a number."""

    @abstractmethod
    def measure(self, scores: Floats, y: Targets, weights: Floats | None = None) -> Metrics:
        """Values of all :attr:`metrics` that the loss allows, by name.

        weights: (n,) how much each document counts; all the same where they are left out.
        """

    def losses(self, metric: str, scores: Floats, y: Targets) -> Floats | None:
        """What the metric is a mean of, one value for each document that it counts.

        None of a metric that is no such mean.
        """
        return None

    @property
    def default_metric(self) -> str:
        """The first of :attr:`metrics` that the loss allows, where none is named."""
        return next(it for it in self.metrics if self.probabilistic or it not in LOG_LOSSES)

    @abstractmethod
    def evaluate(
        self, corpus: Corpus, scores: Floats, thresholds: ByLabel, calibration: Calibration | None
    ) -> Evaluation | RegressionEvaluation | MultilabelEvaluation:
        """Compare predictions with the labels of a corpus.

        Raises DataError if there is nothing to measure, or no label is known; DataWarning if some
        are not.
        """

    # -- probabilities --------------------------------------------------------------------------

    def require_probabilities(self) -> None:
        """UsageError unless :attr:`probabilistic`."""
        if not self.probabilistic:
            raise UsageError(
                f"a {self.name} with the {self.loss} loss has no probabilities: use its "
                "predictions and scores, or train with the logistic loss."
            )

    def probabilities(self, scores: Floats, calibration: Calibration | None = None) -> Floats:
        """(n, labels) probabilities; UsageError if there are none."""
        return np.exp(self.log_probabilities(scores, calibration))

    def log_probabilities(self, scores: Floats, calibration: Calibration | None = None) -> Floats:
        """(n, labels) natural logarithms of probabilities, exact if those are next to 0."""
        self.require_probabilities()
        raise NotImplementedError

    def calibrate(self, method: str, held: Held) -> Calibration:
        """Learn a calibration from documents that no fit has seen."""
        raise NotImplementedError

    def shift(self, scores: Floats, y: Targets, weights: Floats) -> Shift | None:
        """What makes the intercepts right for new texts, from documents that no fit has seen.

        weights: (n, k) how much documents count in the fit of each weight vector. None where scores
        stand for no probabilities.
        """
        return None

    def reliability(
        self, scores: Floats, y: Targets, calibration: Calibration | None = None
    ) -> decisions.Reliability | None:
        """Predicted probabilities against observed frequencies; None if there are none."""
        return None

    # -- thresholds -----------------------------------------------------------------------------

    def learns_from_held_out(self, options: Options) -> bool:
        """Whether anything is learned from documents that no fit has seen, where some are."""
        probable = options.intercept != "fitted" or options.calibrate != "none"
        asked = bool(options.threshold) or options.unknown is not None
        return (self.probabilistic and probable) or asked or bool(self.threshold_rule)

    def check_thresholds(self, thresholds: Mapping[str, object]) -> None:
        """UsageError for thresholds that this task cannot have."""
        if thresholds:
            raise UsageError(f"a {self.name} has no labels to choose: leave out threshold.")

    def choose_thresholds(
        self, rules: Mapping[str, str], held: Held
    ) -> dict[str, decisions.Threshold]:
        """The threshold of every label that has a rule, from documents that no fit has seen."""
        return {}

    def choose_unknown(
        self, rule: str | None, held: Held, aside: Held, thresholds: ByLabel
    ) -> decisions.Unknown:
        """The threshold of :attr:`unknown`, from documents that no fit has seen.

        aside: documents that belong to none of the labels. thresholds: those of the labels. Errors
        as for :func:`textreg.measure.decisions.choose_unknown`.
        """
        raise NotImplementedError

    def threshold_table(
        self, scores: Floats, y: Targets, thresholds: ByLabel
    ) -> dict[str, tuple[decisions.ThresholdLine, ...]]:
        """For every label the threshold in use, and what others would give."""
        return {}

    # -- sides: what weights speak for ----------------------------------------------------------

    @property
    @abstractmethod
    def sides(self) -> tuple[str, ...]:
        """What a weight may speak for: labels, or both directions of a number."""

    def side_rows(self, rows: Floats) -> Floats:
        """(sides, p) weights for each side, from the (k, p) rows of a model."""
        return np.concatenate([-rows, rows])

    def row_of(self, sides: Int64s) -> tuple[Int64s, Floats]:
        """For indices of sides: the row of weights that speaks for each, and its sign."""
        return np.zeros(len(sides), dtype=np.int64), np.where(sides == 0, -1.0, 1.0)

    def side_of(self, row: int, weight: float) -> int:
        """The side that a weight in a row speaks for, or against."""
        return int(weight > 0)

    @abstractmethod
    def side(self, label: str) -> int:
        """The index of a label among :attr:`sides`; UsageError for one that is not there."""

    @abstractmethod
    def explained(self, y_pred: Targets) -> Int64s:
        """(n,) the side of each answer, whose score is explained."""

    def explained_of(self, scores: Floats, thresholds: ByLabel) -> tuple[Int64s, Int64s]:
        """What is explained of scores, given the thresholds in use: documents, and their sides.

        Every document is there at least once, in order; the best side where :attr:`unknown` is.
        """
        of_labels = {label: value for label, value in thresholds.items() if label != self.unknown}
        sides = self.explained(self.decide(scores, of_labels))
        return np.arange(len(sides)), sides

    @abstractmethod
    def side_name(self, side: int) -> str:
        """The label of a side that is explained; empty if scores are answers themselves."""

    def documents_of(self, y: Targets, side: int) -> Bools:
        """(n,) which documents belong to a side; all of them if none belongs to one only."""
        return np.ones(len(y), dtype=bool)

    # -- model files ----------------------------------------------------------------------------

    def to_header(self) -> dict[str, Any]:
        """The fields as members of a model file's header, and ``kind`` as its ``task``."""
        return {"task": self.kind, **asdict(self), "labels": list(self.labels)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Task:
        """The inverse; UsageError for labels or a loss that this task cannot have."""
        fields = ("loss", "probabilistic", "rare_label", "unknown")
        return cls(tuple(header["labels"]), *(header[name] for name in fields))
