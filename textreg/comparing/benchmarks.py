"""What regularizers and models are compared on: corpora, read, split if need be, and checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg.training.search.splitting import splits_of
from textreg.training.settings import TrainingSettings
from textreg.training.target import Target

if TYPE_CHECKING:
    from textreg.records import Int64s

Texts: TypeAlias = Corpus | tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class Benchmark:
    """One corpus to compare on.

    train: documents to learn from; None where only saved models are measured. test: documents to
    measure on; None: a share of ``train`` is held out for that, by its groups or times if it has
    some. dev: documents to choose the prices by; None: as in a training without. Each a Corpus, or
    texts and labels.
    """

    name: str
    train: Texts | None = None
    test: Texts | None = None
    dev: Texts | None = None

    @classmethod
    def read(
        cls, path: str, test: str | None = None, dev: str | None = None, **reading: Any
    ) -> Benchmark:
        """A task from files, by :func:`textreg.reading.corpus.read_corpus`.

        path: the training documents; or a folder that holds files ``train.*``, ``test.*`` and, as
        it may be, ``dev.*``. The task is called like the file or folder, without its endings.
        """
        name = Path(os.path.abspath(path)).name.partition(".")[0] or path
        found = {"train": path, "test": test, "dev": dev}
        if os.path.isdir(path):
            parts = {part: sorted(map(str, Path(path).glob(f"{part}.*"))) for part in found}
            if parts["train"] or parts["test"]:
                if several := [names for names in parts.values() if len(names) > 1]:
                    raise UsageError(
                        f"{path} has both {several[0][0]} and {several[0][1]}: leave one of them."
                    )
                found = {
                    part: found[part] or next(iter(names), None) for part, names in parts.items()
                }
                found["train"] = next(iter(parts["train"]), None)
        corpora = {
            part: None if file is None else read_corpus(file, **reading)
            for part, file in found.items()
        }
        return cls(name, **corpora)


@dataclass(frozen=True)
class Checked:
    """A task that can be measured on: its test documents are there, and have labels."""

    name: str
    train: Corpus | None
    test: Corpus
    dev: Corpus | None

    def codes(self, labels: Sequence[str]) -> Int64s:
        """Labels as numbers, by which predictions and true labels are compared."""
        known = sorted(
            {*(self.test.labels or ()), *(self.train.labels or () if self.train else ())}
        )
        code_of = {label: code for code, label in enumerate(known)}
        # A model may have labels that no document here has; what it answers is then wrong anyhow.
        return np.array([code_of.get(label, len(known)) for label in labels], dtype=np.int64)


def check_benchmark(task: Benchmark, trains: bool, test_share: float, seed: int) -> Checked:
    """The task's documents, split if need be; DataError where they are not what is needed.

    trains: whether any candidate is to be trained on it.
    """
    train, test, dev = _corpus(task.train), _corpus(task.test), _corpus(task.dev)
    if not trains and test is None:
        test, train = train, None  # nothing is learned: all of it is to measure on
    if trains and train is None:
        raise DataError(
            "there are no documents to train on: give some, or compare saved models only."
        )
    if train is not None and trains:
        target = Target.of(train, "classification")
        codes = target.strata()[0]
        if test is None:
            rare = np.flatnonzero(np.bincount(codes) < 3)
            if len(rare):
                raise DataError(
                    f"the label '{target.labels[rare[0]]}' has fewer than three documents, too "
                    "few to hold some out for the test. Give test documents of your own "
                    "(--test FILE), or leave that label out."
                )
            held = TrainingSettings.from_options(reg="none", holdout=test_share, seed=seed)
            (split,) = splits_of(train, target, held)
            train, test = train.select(split.train), train.select(split.held)
        for more in (test, dev):
            if more is not None and len(more) and more.labels is not None:
                target.more(more)
    if test is None or not len(test) or test.labels is None:
        raise DataError("there are no labeled documents to measure on: give some (--test FILE).")
    return Checked(task.name, train, test, dev)


def _corpus(texts: Texts | None) -> Corpus | None:
    if texts is None or isinstance(texts, Corpus):
        return texts
    return Corpus(texts=list(texts[0]), labels=list(texts[1]))
