"""What a task is: what documents are labeled with, and what scores say about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from textreg.errors import UsageError, did_you_mean
from textreg.losses import Logistic
from textreg.measure.metrics import LOG_LOSSES

if TYPE_CHECKING:
    from typing import TypeAlias

    from textreg.kinds import Loss, Regularizer
    from textreg.measure.decisions import (
        Calibration,
        Reliability,
        Threshold,
        ThresholdLine,
        Unknown,
    )
    from textreg.measure.evaluation import Evaluation, MultilabelEvaluation, RegressionEvaluation
    from textreg.records import Bools, Corpus, Floats, Int64s

    Targets: TypeAlias = Int64s | Floats | Bools
    ClassWeight: TypeAlias = str | Mapping[str, float] | None
MULTICLASS = ("ovr", "softmax")
"""Ways to fit more than two labels: one against the rest, or all together."""


class Options(Protocol):
    """The settings of a training that a task may refuse."""

    reg: Regularizer
    metric: str | None
    loss: Loss
    multiclass: str
    class_weight: ClassWeight
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
    def rows(self, y: Targets) -> Floats:
        """(k, n) what each weight vector is fitted to: ``Problem.y`` of each."""

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

    def ranking(self, scores: Floats, thresholds: Mapping[str, float] | None = None) -> Int64s:
        """(n, labels) indices of the labels, those with the highest score less threshold first.

        UsageError if there are no labels.
        """
        raise UsageError(f"a {self.name} has no labels to rank: leave out top.")

    @abstractmethod
    def decide(self, scores: Floats, thresholds: Mapping[str, float] | None = None) -> Targets:
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
    def certainty(self, scores: Floats, y_true: Targets, thresholds: Mapping[str, float]) -> Floats:
        """(n,) how far each score is from another answer; or minus the error of a number."""

    @abstractmethod
    def measure(
        self, scores: Floats, y: Targets, weights: Floats | None = None
    ) -> dict[str, float]:
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
        self,
        corpus: Corpus,
        scores: Floats,
        thresholds: Mapping[str, float],
        calibration: Calibration | None,
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

    def calibrate(self, method: str, scores: Floats, y: Targets) -> Calibration:
        """Learn a calibration from documents that no fit has seen."""
        raise NotImplementedError

    def reliability(
        self, scores: Floats, y: Targets, calibration: Calibration | None = None
    ) -> Reliability | None:
        """Predicted probabilities against observed frequencies; None if there are none."""
        return None

    # -- thresholds -----------------------------------------------------------------------------

    def learns_from_held_out(self, options: Options) -> bool:
        """Whether a calibration or thresholds are learned from documents that no fit has seen."""
        asked = options.calibrate is not None or bool(options.threshold)
        return asked or options.unknown is not None or bool(self.threshold_rule)

    def check_thresholds(self, thresholds: Mapping[str, object]) -> None:
        """UsageError for thresholds that this task cannot have."""
        if thresholds:
            raise UsageError(f"a {self.name} has no labels to choose: leave out threshold.")

    def choose_thresholds(
        self, rules: Mapping[str, str], scores: Floats, y: Targets
    ) -> dict[str, Threshold]:
        """The threshold of every label that has a rule, from documents that no fit has seen."""
        return {}

    def choose_unknown(
        self, rule: str | None, held: Held, aside: Held, thresholds: Mapping[str, float]
    ) -> Unknown:
        """The threshold of :attr:`unknown`, from documents that no fit has seen.

        aside: documents that belong to none of the labels. thresholds: those of the labels. Errors
        as for :func:`textreg.measure.decisions.choose_unknown`.
        """
        raise NotImplementedError

    def threshold_table(
        self, scores: Floats, y: Targets, thresholds: Mapping[str, float]
    ) -> dict[str, tuple[ThresholdLine, ...]]:
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

    def explained_of(
        self, scores: Floats, thresholds: Mapping[str, float]
    ) -> tuple[Int64s, Int64s]:
        """What is explained of scores, given the thresholds in use: documents, and their sides.

        Every document is there at least once, in order; the best side where :attr:`unknown` is.
        """
        kept = {label: value for label, value in thresholds.items() if label != self.unknown}
        sides = self.explained(self.decide(scores, kept))
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
