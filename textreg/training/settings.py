"""How to train, in one record: the parts, and how their prices are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from textreg.errors import UsageError, did_you_mean
from textreg.features.vectorize import Vectorizer
from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Plugin, Regularizer, Tokenizer
from textreg.losses import Logistic
from textreg.measure.calibration import check_method
from textreg.measure.thresholds import parse_rule
from textreg.params import Parametrized
from textreg.plugins import registry
from textreg.plugins.joining import JoinedBuilder
from textreg.records import Corpus
from textreg.tasks import TASKS
from textreg.training.running import check_jobs
from textreg.training.search.spaces import Dimension, dimensions
from textreg.training.search.splits import check_fraction
from textreg.training.search.tuning import Tuning

PREFIXES = {
    "reg": "regularizer",
    "tokenizer": "tokenizer",
    "groups": "groups",
    "graph": "graph",
    "loss": "loss",
}
"""The kind of part that each keyword, and prefix of its parameters' keywords, stands for."""


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """How to train; made most easily by :meth:`from_options`.

    reg, tokenizer, groups, graph, loss, vectorizer: the parts. unlabeled: documents whose words
    become features and which the graph is built from as well. dev: documents to choose the prices
    by. holdout: share of the training documents to hold out for that instead (default 0.1 when
    there are prices to choose, else none). cv: number of parts of a cross-validation instead.
    metric: what the winner is chosen by. task: "classification", or "regression" where labels are
    numbers. multiclass: of three labels and more, "ovr" fits each against the rest, "softmax" all
    together. refit: fit the winner once more on all documents, those held out and ``dev`` included.
    class_weight: "balanced", or a factor for the documents of each label. calibrate: "temperature"
    or "isotonic", to make probabilities come true on documents that are held out. threshold: by
    label, the rule by which these choose where it wins: see
    :func:`textreg.measure.thresholds.parse_rule`. path: follow the chosen regularizer along its
    whole path, and keep that in the model. tuning: how the search goes, and who wins it. jobs:
    pieces of work side by side, -1 for one a core; results do not depend on it. seed: of the
    splits. tol: relative duality gap at which a fit is done. max_iter: iterations after which it
    stops without.
    """

    reg: Regularizer
    tokenizer: Tokenizer
    groups: GroupBuilder | None = None
    graph: GraphBuilder | None = None
    vectorizer: Vectorizer = field(default_factory=Vectorizer)
    unlabeled: Corpus | None = None
    dev: Corpus | None = None
    holdout: float | None = None
    cv: int | None = None
    metric: str = "accuracy"
    task: str = "classification"
    loss: Loss = field(default_factory=Logistic)
    multiclass: str = "ovr"
    refit: bool = True
    class_weight: str | Mapping[str, float] | None = None
    calibrate: str | None = None
    threshold: Mapping[str, str] | None = None
    path: bool = False
    tuning: Tuning = field(default_factory=Tuning)
    jobs: int = 1
    seed: int = 0
    tol: float = 1e-4
    max_iter: int = 1000

    def __post_init__(self) -> None:
        given = [name for name in ("dev", "holdout", "cv") if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(
                f"{given[0]} and {given[1]} both say which documents to choose the prices by: "
                "give one of them."
            )
        if self.holdout is not None:
            check_fraction(self.holdout)
        self._check_task()
        if self.unlabeled is not None and self.reg.needs != "graph":
            raise UsageError(
                f"{self.reg.label()} makes no use of unlabeled documents; regularizers with a "
                "graph do, such as network."
            )
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            raise UsageError(
                "class_weight must be 'balanced' or a factor for each label, "
                f"not '{self.class_weight}'."
            )
        check_jobs(self.jobs)
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, not {self.seed}.")
        if not 0 < self.tol < 1:
            raise UsageError(f"tol must lie between 0 and 1, not {self.tol:g}.")
        self._check_builders()
        if self.path and self.tuning.budget is not None:
            raise UsageError(
                "a path takes as long as it takes: leave out path or the budget (--path, --budget)."
            )
        if not self.searches and not self.tuning.plain:
            raise UsageError(
                f"all parameters of {self.reg.label()} are given, so there is nothing to choose: "
                "leave out select, within, max_nonzero, resume and backend, or a price, or name "
                "values to search (search_space)."
            )

    def parts(self) -> dict[str, Parametrized | None]:
        """The parts whose parameters can be searched, by the prefixes of their options."""
        names = (*PREFIXES, "vectorizer")
        return {name: getattr(self, name) for name in names}

    def dimensions(self) -> list[Dimension]:
        """What is searched besides the prices that are open; UsageError for what cannot be."""
        return dimensions(self.tuning.search_space or {}, self.parts())

    @property
    def searches(self) -> bool:
        """Whether there is anything to choose; UsageError for what cannot be searched."""
        return bool(self.dimensions() or self.reg.undecided())

    def _check_builders(self) -> None:
        """Refuse groups or a graph that nothing uses, and their absence where they are needed."""
        for kind in ("groups", "graph"):
            if self.reg.needs == kind and getattr(self, kind) is None:
                known = ", ".join(registry.names(kind))
                raise UsageError(
                    f"{self.reg.label()} needs {kind}: name a builder of {kind} ({known})."
                )
            welcome = self.reg.needs == kind or (
                kind == "groups" and self.graph is not None and self.graph.takes_groups
            )
            if not welcome and getattr(self, kind) is not None:
                raise UsageError(f"{self.reg.label()} makes no use of {kind}: leave out {kind}.")

    def _check_task(self) -> None:
        """Refuse what does not go together with the task."""
        if self.task not in TASKS:
            raise UsageError(
                f"task must be one of {', '.join(TASKS)}, not '{self.task}'."
                f"{did_you_mean(self.task, TASKS)}"
            )
        if self.calibrate is not None:
            check_method(self.calibrate)
        TASKS[self.task].check_options(self)
        for rule in (self.threshold or {}).values():
            parse_rule(rule)

    def plugins(self) -> list[dict[str, Any]]:
        """Kind, name and origin of every part, as JSON-able values."""
        used: list[Plugin] = [self.tokenizer, self.reg, self.loss]
        if self.groups is not None:
            used += self.groups.parts if isinstance(self.groups, JoinedBuilder) else [self.groups]
        if self.graph is not None:
            used.append(self.graph)
        return [{"kind": part.kind, "name": part.label(), **registry.origin(part)} for part in used]

    @classmethod
    def from_options(cls, **options: Any) -> TrainingSettings:
        """Settings from flat keywords, named like the options of ``textreg train``.

        ``reg``, ``tokenizer``, ``groups``, ``graph`` and ``loss`` take a name, a class or an
        instance; their parameters follow as ``reg_l1=0.1`` or ``tokenizer_min_length=2``; those of
        the :class:`Vectorizer` stand without prefix (``ngrams=2``); the rest are fields of this
        record and of :class:`~textreg.training.search.tuning.Tuning`. Raises UsageError for a
        keyword that none of them knows.
        """
        values: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {prefix: {} for prefix in PREFIXES}
        features: dict[str, Any] = {}
        own = {item.name for item in fields(cls)} - {"vectorizer", "tuning"}
        tuning: dict[str, Any] = {}
        choices = {item.name for item in fields(Tuning)}
        for key, value in options.items():
            prefix, _, name = key.partition("_")
            if key in own:
                values[key] = value
            elif key in choices:
                tuning[key] = value
            elif key in Vectorizer.declared():
                features[key] = value
            elif prefix in parts and name:
                parts[prefix][name] = value
            else:
                known = own | choices | Vectorizer.declared().keys()
                raise UsageError(
                    f"no option '{key}'.{did_you_mean(key, known)} A parameter of a part has the "
                    "part's keyword before it, such as reg_l1."
                )
        if (task := TASKS.get(values.get("task", cls.task))) is not None:
            values = {"loss": task.default_loss, "metric": task.metrics[0], **values}
        reg = registry.resolve("regularizer", values.pop("reg", "sentence"), parts.pop("reg"))
        tokenizer = values.pop("tokenizer", "words")
        values["tokenizer"] = registry.resolve("tokenizer", tokenizer, parts.pop("tokenizer"))
        loss = values.pop("loss", "logistic")
        values["loss"] = registry.resolve("loss", loss, parts.pop("loss"))
        for kind, params in parts.items():
            builder = values.pop(kind, None)
            if builder is None and reg.needs == kind:
                builder = reg.default_builder or None
            if builder is not None:
                values[kind] = registry.resolve(kind, builder, params)
            elif params:
                name = next(iter(params))
                raise UsageError(f"{reg.label()} makes no use of {kind}: leave out {kind}_{name}.")
        values |= {"vectorizer": Vectorizer(**features), "tuning": Tuning(**tuning)}
        return cls(reg=reg, **values)
