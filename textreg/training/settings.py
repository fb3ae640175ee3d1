"""The settings of a training: the parts, and how hyperparameters are chosen."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from textreg.blocks.backends import DEFAULT
from textreg.errors import UsageError, did_you_mean
from textreg.features.fields import AUTO_TOKENIZER, BESIDE, AutoTokenizer, plan_fields, tokenizer_of
from textreg.features.vectorize import Vectorizer
from textreg.jobs import check_jobs
from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer, Tokenizer
from textreg.losses import LOSSES
from textreg.measure.decisions import METHODS, parse_rule, parse_unknown_rule
from textreg.params import Param, Parametrized, param
from textreg.plugins import calls, registry
from textreg.records import Corpus, Documents
from textreg.records.documents import Field, as_fields
from textreg.structure.joining import Unnamed, parts_of
from textreg.tasks import MULTICLASS, TASKS, Classification, Rare, check_options
from textreg.training.space import Dimension, Tuning, below_one, dimensions, in_units

# Units of memory, as of 1GB or 1.5GiB.
_BYTES = {"": 1.0, "b": 1.0} | {
    prefix + binary + b: base**power
    for power, prefix in enumerate("kmgt", 1)
    for binary, base in (("", 1e3), ("i", 2.0**10))
    for b in ("", "b")
}

# Bytes without which no block of documents fits.
LEAST_MEMORY = 100e6


def parse_bytes(size: float | str) -> int:
    """A size such as ``400MB``, ``1GB`` or ``1.5GiB`` in bytes; UsageError otherwise."""
    value = in_units(size, _BYTES)
    if not LEAST_MEMORY <= value < math.inf:
        raise UsageError(
            f"memory must be a size of at least {LEAST_MEMORY / 1e6:.0f}MB, such as 400MB, 1GB or "
            f"1.5GiB, not '{size}'."
        )
    return int(value)


def check_class_weight(weight: str | Mapping[str, float]) -> str | Mapping[str, float]:
    """The weights of the labels, by their names; UsageError for texts other than "balanced"."""
    known = weight == "balanced" if isinstance(weight, str) else isinstance(weight, Mapping)
    if not known:
        raise UsageError(
            f"class_weight must be 'balanced' or a factor for each label, not '{weight}'."
        )
    return weight if isinstance(weight, str) else {str(label): it for label, it in weight.items()}


def check_rules(rules: Mapping[str, str]) -> Mapping[str, str] | None:
    """The rules for decision thresholds by name of label; UsageError for an unknown rule."""
    if not isinstance(rules, Mapping):
        raise UsageError(f"threshold must be a rule for each label, not '{rules}'.")
    for rule in rules.values():
        parse_rule(str(rule))
    return {str(label): rule for label, rule in rules.items()} or None


def check_unknown_rule(rule: str) -> str:
    """The rule for the unknown label; UsageError for an unknown rule."""
    parse_unknown_rule(rule)
    return rule


# The kind of part for each keyword, which is also the prefix of the part's parameters.
PREFIXES = {
    "reg": "regularizer",
    "tokenizer": "tokenizer",
    "groups": "groups",
    "graph": "graph",
    "loss": "loss",
}

# Keywords of `train` and `fit` with one value for each document; no settings.
OF_DOCUMENTS = ("sample_weight", "group_of", "time_of", "evidence_of")

# Keywords of other packages, and what they are called here.
SYNONYMS = {"weights": "sample_weight", "weight": "sample_weight"}


def as_given(record: Any) -> Any:
    """A record, unchanged."""
    return record


class TrainingSettings(Parametrized):
    """How to train a model. :meth:`from_options` makes it from flat keywords.

    Every setting is declared once: here, in :class:`~textreg.features.vectorize.Vectorizer` or in
    :class:`~textreg.training.space.Tuning`. The options of the commands are made from these
    declarations; the parameters of the estimators are checked against them.
    """

    # The parts, each with parameters of its own.
    reg: Regularizer = param(
        default="auto",
        convert=partial(registry.create, "regularizer"),
        metavar="NAME",
        help="regularizer; 'textreg plugins' lists those installed",
    )
    groups: GroupBuilder | None = param(
        default=None,
        convert=partial(registry.create, "groups"),
        metavar="NAME",
        help="group builder, for a regularizer that needs groups",
    )
    graph: GraphBuilder | None = param(
        default=None,
        convert=partial(registry.create, "graph"),
        metavar="NAME",
        help="graph builder, for a regularizer that needs a graph",
    )
    tokenizer: Tokenizer | AutoTokenizer = param(
        default=AUTO_TOKENIZER,
        convert=tokenizer_of,
        metavar="NAME",
        help="tokenizer, or several separated by commas; auto is words,chars, but chars where "
        "words hardly recur, and words above 10 million characters of training text",
    )
    # How documents become features.
    vectorizer: Vectorizer = param(
        default=Vectorizer(), convert=as_given, help="how texts become features"
    )
    fields: tuple[Field, ...] | None = param(
        default=None,
        convert=as_fields,
        metavar="NAMES",
        help="the columns of a document, if there are several: a list of the names of texts, or "
        "for each name 'text', 'number', 'category' or a dict of a text's own settings",
    )
    # Further documents, and which ones are held out.
    dev: Corpus | None = param(
        default=None,
        convert=as_given,
        metavar="FILE",
        repeated=True,
        help="labeled documents to choose hyperparameters on, instead of held-out ones; fewer than "
        "1,000 are added to the five parts of the training documents",
    )
    unlabeled: Corpus | None = param(
        default=None,
        convert=as_given,
        metavar="FILE",
        repeated=True,
        help="unlabeled documents: words that are used alike in them get similar weights, and a "
        "graph is built from them, too",
    )
    vectors: str | None = param(
        default=None,
        metavar="FILE",
        help="word vectors, which give similar words similar weights, even words in no training "
        "text: a file of GloVe, word2vec or fastText, or the name of a table",
    )
    evidence_words: str | None = param(
        default=None,
        metavar="FILE",
        help="file with one word per line that is a reason for a label or, after a minus, no "
        "reason; weights of reasons are penalized less",
    )
    holdout: float | None = param(
        default=None,
        convert=below_one("holdout must lie between 0 and 1"),
        metavar="FRACTION",
        help="fraction of the training documents to hold out for choosing hyperparameters; by "
        "default 0.1, or with up to 1,000 documents each of five parts once",
    )
    cv: int | None = param(
        default=None, metavar="K", help="choose hyperparameters by K-fold cross-validation instead"
    )
    # What is learned.
    metric: str | None = param(
        default=None,
        choices=list(dict.fromkeys(it for task in TASKS.values() for it in task.metrics)),
        help="metric for choosing hyperparameters; by default calibrated-log-loss (the log-loss "
        "after temperature scaling), accuracy for losses without probabilities, micro-macro-f1 "
        "(the mean of both) for several labels, r2 for a regression",
    )
    task: str | None = param(
        default=None,
        choices=tuple(TASKS),
        help="whether a document has one label, any number of them (multilabel), or a number; by "
        "default multilabel if labels are lists, else classification",
    )
    loss: Loss = param(
        default="logistic",
        convert=partial(registry.create, "loss"),
        metavar="NAME",
        help=f"loss: {', '.join(sorted(LOSSES))}, or one of a plugin; squared for a regression",
    )
    multiclass: str = param(
        default="ovr",
        choices=MULTICLASS,
        help="for three or more labels: fit each one against the rest (ovr), or all together "
        "(softmax)",
    )
    # Which documents count, and how much.
    refit: bool = param(
        default=True, help="fit the final model on all documents, held-out ones included"
    )
    min_label: int | None = param(
        default=None,
        min=1,
        help="leave out labels with fewer training documents than this, and their documents",
    )
    rare_label: str | None = param(
        default=None,
        metavar="NAME",
        help="join labels with fewer training documents than min_label into one label of this "
        "name; min_label is then 2 if not given, or the number of parts of a cross-validation",
    )
    class_weight: str | Mapping[str, float] | None = param(
        default=None,
        convert=check_class_weight,
        metavar="LABEL=FACTOR",
        repeated=True,
        help="factor for the weights of a label's documents, or 'balanced'",
    )
    # What is chosen on held-out documents, once hyperparameters are.
    intercept: str | None = param(
        default=None,
        choices=("left-out", "fitted"),
        help="for losses with probabilities: correct the intercepts for new texts by the scores of "
        "documents left out of the fit (left-out), or keep those of the fit (fitted); by default "
        "left-out if documents are held out",
    )
    calibrate: str | None = param(
        default=None,
        choices=(*METHODS, "none"),
        help="calibrate probabilities on documents left out of the fit; by default temperature if "
        "documents are held out",
    )
    threshold: Mapping[str, str] | None = param(
        default=None,
        convert=check_rules,
        metavar="LABEL=RULE",
        repeated=True,
        help="rule for choosing a label's decision threshold on held-out documents: f1, "
        "precision:P or costs:FP:FN",
    )
    at_least_one: bool = param(
        default=False,
        help="with several labels per document: predict at least one, if necessary the one nearest "
        "to its threshold",
    )
    unknown: str | None = param(
        default=None,
        metavar="LABEL",
        help="label to predict for texts that belong to no other label, whose highest score is "
        "below a threshold chosen on held-out documents; it is never fitted",
    )
    unknown_rule: str | None = param(
        default=None,
        convert=check_unknown_rule,
        metavar="RULE",
        help="rule for choosing that threshold: coverage:C, risk:R, accuracy or f1; by default "
        "accuracy if held-out documents have that label, else coverage:0.95",
    )
    # What the model keeps.
    prune: float = param(
        default=0.005,
        convert=below_one("prune must be a share from 0 to less than 1", zero=True),
        metavar="SHARE",
        help="after the fit, remove the smallest weights of a model with more than 20,000 of them, "
        "up to this share of the variance of the scores; 0 removes none",
    )
    path: bool = param(default=False, help="save the whole regularization path in the model")
    tuning: Tuning = param(
        default=Tuning(), convert=as_given, help="how hyperparameters are searched"
    )
    # How the work is done.
    jobs: int = param(
        default=1,
        convert=check_jobs,
        help="number of threads for fits, features and predictions; -1 for one per core",
    )
    memory: float | str | None = param(
        default=None,
        convert=parse_bytes,
        metavar="SIZE",
        help="train on documents block by block, in about this much memory, such as 1GB; "
        "hyperparameters are searched on a part of them",
    )
    scratch: str | os.PathLike[str] | None = param(
        default=None,
        convert=os.fspath,
        metavar="DIR",
        help="folder for what does not fit into that memory; by default the system's folder for "
        "temporary files",
    )
    seed: int = param(default=0, min=0, help="seed of random choices, such as held-out documents")
    tol: float = param(
        default=1e-4,
        convert=below_one("tol must lie between 0 and 1"),
        help="relative duality gap at which a fit stops",
    )
    max_iter: int = param(
        default=1000, min=1, help="number of iterations after which a fit stops without converging"
    )

    @classmethod
    def label(cls) -> str:
        """Empty: error messages name only the setting."""
        return ""

    def __post_init__(self) -> None:
        # Settings that contradict each other are refused here, once for commands and programs.
        named = [name for name in ("dev", "holdout", "cv") if getattr(self, name) is not None]
        if len(named) > 1:
            raise UsageError(
                f"{named[0]} and {named[1]} both say which documents to choose hyperparameters "
                "on: give one of them."
            )
        check_options(self.task, self)
        if self.unknown_rule is not None and self.unknown is None:
            raise UsageError(
                "unknown_rule is for an unknown label: name that too (unknown), or leave "
                "unknown_rule out."
            )
        if self.unknown is not None and self.unknown in (self.rare_label, *(self.threshold or ())):
            raise UsageError(
                f"'{self.unknown}' is the unknown label, which is not learned and has its own rule "
                "(--unknown LABEL:RULE): name another one (--min-label N:NAME, --threshold)."
            )
        if self.leans_on_vectors:
            from textreg.training.priors import check_vectors  # few trainings have some

            check_vectors(self)
        self._check_builders()
        self.rivals()
        if self.fields is not None:
            plan_fields(self.fields, self.any_tokenizer, self.vectorizer)
        if self.path and self.tuning.budget is not None:
            raise UsageError(
                "a path has no time limit: leave out path or the budget (--path, --budget)."
            )
        if self.scratch is not None and self.memory is None:
            raise UsageError(
                "a scratch folder is for training in blocks: say how much memory there is as well "
                "(--memory 1GB), or leave out scratch."
            )
        # Only now all parts are known, and with them whether anything is open.
        tuning = self.tuning
        needs_search = not tuning.best_alone or (tuning.backend != DEFAULT and self.memory is None)
        if needs_search and not self.searches:
            raise UsageError(
                f"all parameters of {self.reg.label()} are given, so there is nothing to choose: "
                "leave out select, within, max_nonzero and backend, or a value, or give values to "
                "search (search_space)."
            )

    def parts(self) -> dict[str, Parametrized | None]:
        """The parts and the vectorizer, whose parameters can be searched, by their keywords."""
        names = (*PREFIXES, "vectorizer")
        return {name: getattr(self, name) for name in names} | {"tokenizer": self.any_tokenizer}

    @property
    def bytes(self) -> int | None:
        """The memory in bytes; None to train on all documents at once."""
        return None if self.memory is None else parse_bytes(self.memory)

    @property
    def any_tokenizer(self) -> Tokenizer:
        """The tokenizer; with all parts where it depends on the documents."""
        tokenizer = self.tokenizer
        return tokenizer.beside if isinstance(tokenizer, AutoTokenizer) else tokenizer

    def for_texts(self, texts: Documents, labels: int = 1) -> TrainingSettings:
        """With tokenizer and weighting decided for documents to train on, of so many labels."""
        tokenizer, vectorizer = self.tokenizer, self.vectorizer
        if isinstance(tokenizer, AutoTokenizer):
            # Settings of a field may be those of words.
            of_words: list[Any] = [field.options for field in self.fields or ()]
            changed = {*vectorizer.changed(), *(self.tuning.search_space or {})}
            of_words.append(changed & {"ngrams", "stop_words"})
            of_words += [self.reg.needs, self.leans_on_vectors, self.evidence_words]
            tokenizer = tokenizer.decide(texts, words=any(of_words))
        if "weighting" not in (self.tuning.search_space or {}):
            vectorizer = vectorizer.decided(len(texts), labels, vectors=self.leans_on_vectors)
        return self.replace(tokenizer=tokenizer, vectorizer=vectorizer)

    def dimensions(self) -> list[Dimension]:
        """Dimensions of ``search_space``; UsageError for a parameter that cannot be searched."""
        return dimensions(self.tuning.search_space or {}, self.parts())

    def rivals(self) -> list[Regularizer]:
        """Further regularizers that the search tries; UsageError for one that needs a builder."""
        names = calls.answer(self.reg, "rivals")
        rivals: list[Regularizer] = [registry.create("regularizer", name) for name in names]
        for rival in rivals:
            if rival.needs:
                raise UsageError(
                    f"{self.reg.label()} has no {rival.needs} to try {rival.label()} with: leave "
                    "that out here, and compare the two by textreg compare."
                )
        return rivals

    @property
    def rare(self) -> Rare:
        """What becomes of labels of few documents."""
        least = self.min_label or 0
        if self.min_label is None and self.rare_label is not None:
            # Every part of a cross-validation needs a document of each label.
            least = max(2, self.cv or 0)
        return Rare(least, self.rare_label)

    @property
    def leans_on_vectors(self) -> bool:
        """Whether word vectors are given, or learned from unlabeled documents."""
        of_texts = self.unlabeled is not None and self.reg.needs != "graph"
        return self.vectors is not None or of_texts

    @property
    def searches(self) -> bool:
        """Whether there are hyperparameters to choose; UsageError as for :meth:`dimensions`."""
        return bool(self.dimensions() or self.reg.undecided() or self.rivals())

    def _check_builders(self) -> None:
        """UsageError for a group or graph builder that is missing, or that nothing uses."""
        for kind, example in (("groups", "group"), ("graph", "network")):
            if self.reg.needs == kind and getattr(self, kind) is None:
                names = ", ".join(registry.names(kind))
                raise UsageError(
                    f"{self.reg.label()} needs {kind}: name a builder of {kind} ({names})."
                )
            # A graph may be made of groups: its links are between words of one group.
            welcome = self.reg.needs == kind or (
                kind == "groups" and self.graph is not None and self.graph.takes_groups
            )
            if not welcome and getattr(self, kind) is not None:
                raise UsageError(
                    f"{self.reg.label()} makes no use of {kind}: leave out {kind}, or take a "
                    f"regularizer that does (--reg {example})."
                )

    def plugins(self, chosen: Regularizer | None = None) -> list[dict[str, Any]]:
        """Kind, name and origin of every part that is a plugin, for JSON.

        chosen: the regularizer that the search chose, in place of that of the settings.
        """
        used = [*parts_of(self.any_tokenizer), chosen or self.reg, self.loss]
        used += [*parts_of(self.groups), self.graph]
        if self.vectors is not None:
            from textreg.training.priors import find_vectors

            used.append(find_vectors(self.vectors))
        return [
            {"kind": part.kind, **vars(registry.origin(part))}
            for part in used
            if part is not None and not isinstance(part, Unnamed)
        ]

    @classmethod
    def from_options(cls, **options: Any) -> TrainingSettings:
        """Make settings from flat keywords, named like the options of ``textreg train``.

        Parameters
        ----------
        **options
            Settings of this record, of :class:`~textreg.features.vectorize.Vectorizer` and of
            :class:`~textreg.training.space.Tuning` by their names. ``reg``, ``tokenizer``,
            ``groups``, ``graph`` and ``loss`` take a name, a class or an instance; their parameters
            have the keyword as prefix, such as ``reg_l1=0.1`` or ``tokenizer_min_length=2``.

        Returns
        -------
        TrainingSettings

        Raises
        ------
        UsageError
            For an unknown keyword, a wrong value, or settings that contradict each other.
        """
        records: dict[str, dict[str, Any]] = {record: {} for record in RECORDS}
        params: dict[str, dict[str, Any]] = {prefix: {} for prefix in PREFIXES}
        record_of = {name: record for record, declared in RECORDS.items() for name in declared}
        for key, value in options.items():
            prefix, _, name = key.partition("_")
            if key in record_of:
                records[record_of[key]][key] = value
            elif prefix in params and name:
                params[prefix][name] = value
            else:
                # What other packages take as an option is a column here.
                if key in OF_DOCUMENTS:
                    raise UsageError(
                        f"{key} is no setting but a column of the documents: give it to train or "
                        f"fit, or make Corpus(texts, labels, {key}=...)."
                    )
                hint = did_you_mean(SYNONYMS.get(key, key), [*record_of, *OF_DOCUMENTS])
                raise UsageError(
                    f"no option '{key}'.{hint} A parameter of a part has the part's keyword as "
                    "prefix, such as reg_l1."
                )
        values = records[""]
        task = TASKS.get(str(values.get("task") or Classification.name))
        loss = cls.declared()["loss"].default if task is None else task.default_loss
        # Parts come first: which builder is the default depends on the regularizer.
        values |= _create_parts(values, params, loss)
        values["vectorizer"] = Vectorizer(**records["vectorizer"])
        values["tuning"] = Tuning(**records["tuning"])
        return cls(**values)


def as_named(key: str, part: Any) -> Any:
    """A part under a keyword; for the name of a default, that of textreg.

    So a default, which Python cannot tell from the same name given, is never ambiguous. An
    automatic tokenizer has the parameters of all its parts.
    """
    # Options are made for the most that "auto" may become.
    if key == "tokenizer" and part == AUTO_TOKENIZER:
        return BESIDE
    # A plugin of the same name must not make the default ambiguous.
    usual = {TrainingSettings.declared()[key].default}
    if key == "loss":
        usual = {task.default_loss for task in TASKS.values()}
    if isinstance(part, str) and part in usual:
        return registry.preferred(PREFIXES[key], part, "textreg")
    return part


def create_part(key: str, part: Any, params: Mapping[str, Any]) -> Any:
    """The part that ``part`` means under a keyword, with these parameters."""
    if key == "tokenizer":
        return tokenizer_of(part, params)
    return registry.create(PREFIXES[key], as_named(key, part), **params)


def default_builder(reg: Regularizer | type[Regularizer]) -> str | None:
    """The builder of groups or graphs that a regularizer names, of its own distribution if there.

    Nobody asked for it by name, so one of the same name elsewhere is no error.
    """
    if not reg.default_builder:
        return None
    distribution = registry.origin(reg).distribution
    return registry.preferred(reg.needs, reg.default_builder, distribution, "textreg")


def _create_parts(
    values: Mapping[str, Any], params: Mapping[str, Mapping[str, Any]], default_loss: str
) -> dict[str, Any]:
    """The parts that ``values`` name, or the defaults, with their ``params``."""
    declared, parts = TrainingSettings.declared(), dict[str, Any]()
    usual = {key: declared[key].default for key in ("reg", "tokenizer")}
    for key, default in {**usual, "loss": default_loss}.items():
        parts[key] = create_part(key, values.get(key, default), params[key])
    reg = parts["reg"]
    for key in ("groups", "graph"):
        builder = values.get(key)
        if builder is None and reg.needs == key:
            # Nobody named one: that of the regularizer, if it has any.
            builder = default_builder(reg)
        if builder is not None:
            parts[key] = registry.create(PREFIXES[key], builder, **params[key])
        elif params[key]:
            name = next(iter(params[key]))
            raise UsageError(f"{reg.label()} makes no use of {key}: leave out {key}_{name}.")
    return parts


# The declared settings, by the field of TrainingSettings that is their record.
RECORDS: dict[str, Mapping[str, Param]] = {
    "": {
        name: declared
        for name, declared in TrainingSettings.declared().items()
        if name not in ("vectorizer", "tuning")
    },
    "vectorizer": Vectorizer.declared(),
    "tuning": Tuning.declared(),
}


def declared_settings() -> dict[str, Param]:
    """All settings by name, in order, those of the vectorizer and the search included."""
    declared: dict[str, Param] = {}
    for name, setting in TrainingSettings.declared().items():
        declared |= RECORDS.get(name, {name: setting})
    return declared
