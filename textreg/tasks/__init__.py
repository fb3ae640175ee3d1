"""Tasks: what labels mean, and how scores become answers.

Everything that depends on the number of labels, or on whether labels are numbers, is a method of a
:class:`Task`. All other code asks the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from textreg.errors import UsageError
from textreg.kinds import Loss
from textreg.losses import find_loss
from textreg.records import Corpus
from textreg.tasks.base import MULTICLASS, Options, Targets, Task, check_classes, parted, with_label
from textreg.tasks.classification import Classification, classification
from textreg.tasks.multilabel import Multilabel
from textreg.tasks.regression import Regression

__all__ = [
    "MULTICLASS",
    "TASKS",
    "Classification",
    "Multilabel",
    "Posed",
    "Rare",
    "Regression",
    "Target",
    "Task",
    "check_classes",
    "check_options",
    "classification",
    "read_target",
    "task_of_header",
]

# Every task, by the user's option `--task`. A new one is entered here, and nowhere else.
TASKS: dict[str, type[Task]] = {
    task.name: task for task in (Classification, Multilabel, Regression)
}


class Target(NamedTuple):
    """A task and what it is to learn: y (n,) or (n, k), one entry or row for each document."""

    task: Task
    y: Targets


class Rare(NamedTuple):
    """What becomes of labels of few documents.

    Attributes
    ----------
    least : int
        The number of documents that a label needs.
    label : str or None
        The label that others are joined into; None to leave them out.
    """

    least: int = 0
    label: str | None = None


# Every label stays.
EVERY = Rare()


class Posed(NamedTuple):
    """What a training corpus poses.

    Attributes
    ----------
    corpus : Corpus
        The documents to learn from.
    target : Target
        What is to be learned from them.
    rare : dict of str to int
        The labels that were left out or joined, and their numbers of documents.
    aside : Corpus or None
        The documents of the unknown label, which are not learned from.
    """

    corpus: Corpus
    target: Target
    rare: dict[str, int]
    aside: Corpus | None


def read_target(
    corpus: Corpus,
    name: str | None = None,
    loss: str | Loss | None = None,
    multiclass: str = "ovr",
    rare: Rare = EVERY,
    unknown: str | None = None,
) -> Posed:
    """The task that a training corpus poses, and its targets.

    Parameters
    ----------
    corpus : Corpus
        Labeled documents.
    name : str, optional
        Key of :data:`TASKS`. By default that of several labels if the documents have lists of
        labels, else classification.
    loss : str or Loss, optional
        Default that of the task.
    multiclass : str, default "ovr"
        One of :data:`MULTICLASS`.
    rare : Rare, optional
        What becomes of labels of few documents; by default they stay.
    unknown : str, optional
        The label of documents that belong to none of the others.

    Raises
    ------
    DataError
        With file and line, if nothing can be learned from the labels.
    """
    if name is None:
        name = Multilabel.name if corpus.multilabel else Classification.name
    family = TASKS[name]
    aside = None
    if unknown is not None:
        corpus, aside = parted(corpus, with_label(corpus, unknown))
    corpus, counts = family.usable(corpus, rare.least, rare.label)
    task = family.of(corpus, find_loss(family.default_loss if loss is None else loss), multiclass)
    if rare.label in task.labels:
        task = replace(task, rare_label=rare.label)
    if unknown is not None:
        task = replace(task, unknown=unknown)
    return Posed(corpus, Target(task, task.targets(corpus)), counts, aside)


def check_options(name: str | None, options: Options) -> None:
    """UsageError for settings of a training that make no sense for its task.

    Without a name they must do for one of those that documents may pose by themselves.
    """
    if name is not None:
        TASKS[name].check_options(options)
        return
    try:
        Classification.check_options(options)
    except UsageError as error:
        try:
            Multilabel.check_options(options)
        except UsageError:
            raise error from None


def task_of_header(header: Mapping[str, Any]) -> Task:
    """The task that ``Task.to_header`` wrote; UsageError for any other."""
    kinds = {kind: cls for task in TASKS.values() for kind, cls in task.kinds().items()}
    kind = header["task"]
    if kind not in kinds:
        raise UsageError(f"it has a task {kind!r}, and there is none of that name.")
    return kinds[kind].from_header(header)
