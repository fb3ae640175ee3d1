"""Corpora that regularizers and models are compared on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.features.markup import warn_of_html
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus, Documents
from textreg.records.columns import as_column
from textreg.records.documents import check_documents
from textreg.tasks import Rare, read_target
from textreg.tasks.rare import REMEDY
from textreg.training.settings import TrainingSettings
from textreg.training.splits import splits_of

if TYPE_CHECKING:
    from textreg.records import Bools, Int64s

Texts: TypeAlias = Corpus | tuple[Documents, Sequence[str]]


@dataclass(frozen=True)
class Benchmark:
    """A corpus to compare regularizers or models on.

    Parameters
    ----------
    name : str
        Name in tables and errors.
    train : Corpus or (texts, labels), optional
        Documents to train on; not needed if only saved models are compared.
    test : Corpus or (texts, labels), optional
        Documents to measure on. By default a share of ``train`` is held out, respecting its groups
        or times if it has some.
    dev : Corpus or (texts, labels), optional
        Documents to choose hyperparameters on. By default as in training without them.

    Examples
    --------
    >>> texts, labels = ["so good", "so bad"] * 10, ["pos", "neg"] * 10
    >>> Benchmark("reviews", train=(texts, labels)).name
    'reviews'
    """

    name: str
    train: Texts | None = None
    test: Texts | None = None
    dev: Texts | None = None

    @classmethod
    def read(
        cls, path: str, test: str | None = None, dev: str | None = None, **reading: Any
    ) -> Benchmark:
        """Read a benchmark from files; it is named after the file or folder.

        Parameters
        ----------
        path : str
            The training documents, or a folder with files ``train.*``, ``test.*`` and possibly
            ``dev.*``.
        test, dev : str, optional
            Files of test and development documents.
        **reading
            Options of :func:`textreg.reading.corpus.read_corpus`.

        Returns
        -------
        Benchmark

        Raises
        ------
        UsageError, DataError
            If a file cannot be read, or a folder has two files of one kind.
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
    """A benchmark with labeled test documents."""

    name: str
    train: Corpus | None
    test: Corpus
    dev: Corpus | None

    def targets(self, labels: Sequence[Any] | None = None) -> Any:
        """Labels, by default the true ones, as :meth:`codes` or :meth:`indicators`."""
        given = (self.test.labels or ()) if labels is None else labels
        return self.indicators(given) if self.test.multilabel else self.codes(given)

    def codes(self, labels: Sequence[str]) -> Int64s:
        """Labels as numbers, to compare predictions with true labels."""
        known = self._known()
        code_of = {label: code for code, label in enumerate(known)}
        # A model may predict a label that no document here has; that is an error in any case.
        return np.array([code_of.get(label, len(known)) for label in labels], dtype=np.int64)

    def indicators(self, labels: Sequence[Sequence[str]]) -> Bools:
        """The same of lists of labels, as an indicator matrix."""
        known = self._known()
        code_of = {label: code for code, label in enumerate(known)}
        y = np.zeros((len(labels), len(known) + 1), dtype=bool)
        for row, some in enumerate(labels):
            y[row, [code_of.get(label, len(known)) for label in some]] = True
        return y

    def _known(self) -> list[str]:
        """All labels that documents have."""
        of_train = [] if self.train is None else self.train.label_names()
        return sorted({*self.test.label_names(), *of_train})


class Holding(NamedTuple):
    """How test documents are held out, and what becomes of labels of few documents before."""

    test_share: float
    seed: int
    rare: Rare = Rare()


def check_benchmark(benchmark: Benchmark, trains: bool, how: Holding) -> Checked:
    """The benchmark with test documents, held out if need be; DataError if it cannot be used.

    trains: whether any candidate will be trained on it.
    """
    train, test, dev = _corpus(benchmark.train), _corpus(benchmark.test), _corpus(benchmark.dev)
    if not trains and test is None:
        test, train = train, None  # nothing is trained: measure on all documents
    if trains and train is None:
        raise DataError(
            "there are no documents to train on: give some, or compare saved models only."
        )
    if train is not None and trains:
        train, target, *_ = read_target(train, rare=how.rare)
        codes, labels = target.task.strata(target.y)
        if test is None:
            rare = np.flatnonzero(np.bincount(codes) < 3)
            if len(rare) and not target.task.multilabel:
                raise DataError(
                    f"the label '{labels[rare[0]]}' has fewer than three documents, too few to "
                    f"hold some out for the test. {REMEDY.format(least=3)}; or give test "
                    "documents of your own (--test FILE)."
                )
            held = TrainingSettings.from_options(reg="none", holdout=how.test_share, seed=how.seed)
            (split,) = splits_of(train, target, held)
            train, test = train.select(split.train), train.select(split.held)
        for more in (test, dev):
            if more is not None and len(more) and more.labels is not None:
                target.task.targets(more)  # refused now if the label of none is known
    if test is None or not len(test) or test.labels is None:
        raise DataError("there are no labeled documents to measure on: give some (--test FILE).")
    return Checked(benchmark.name, train, test, dev)


def warn_of_html_once(
    corpora: Iterable[Corpus | None], settings: Iterable[TrainingSettings]
) -> None:
    """DataWarning for each corpus with much HTML, if some candidate is trained on it as it is."""
    if all(one.vectorizer.strip_html for one in settings):
        return
    for corpus in corpora:
        if corpus is not None:
            warn_of_html(corpus)


def _corpus(texts: Texts | None) -> Corpus | None:
    if texts is None or isinstance(texts, Corpus):
        return texts
    return Corpus(texts=check_documents(texts[0]), labels=as_column(texts[1], "labels"))
