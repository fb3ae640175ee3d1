"""Comparing regularizers and models: the same documents, the same split, the same features."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textreg.errors import DataError, TextregError, UsageError, did_you_mean
from textreg.kinds import Regularizer
from textreg.measure.comparison import Comparison, Contrast, Measured
from textreg.measure.evaluation import evaluate
from textreg.measure.significance import Answers, Interval, bootstrap, sign_test
from textreg.model import Model
from textreg.prepare import Target, make_features
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg.search.splitting import splits_of
from textreg.settings import TrainingSettings
from textreg.training import train_corpus

if TYPE_CHECKING:
    from textreg.features.vectorize import Features
    from textreg.records import Int64s
    from textreg.running import Progress

TEST_SHARE = 0.2
"""Share of the documents that are measured on where a task has no test documents."""

Texts: TypeAlias = Corpus | tuple[Sequence[str], Sequence[str]]
Candidate: TypeAlias = str | type[Regularizer] | Regularizer | Mapping[str, Any] | Model


@dataclass(frozen=True)
class Task:
    """One corpus to compare on.

    train: documents to learn from; None where only saved models are measured. test: documents to
    measure on; None: a share of ``train`` is held out for that, by its groups or times if it has
    some. dev: documents to choose the prices
    by; None: as in a training without. Each a Corpus, or texts and labels.
    """

    name: str
    train: Texts | None = None
    test: Texts | None = None
    dev: Texts | None = None

    @classmethod
    def read(
        cls, path: str, test: str | None = None, dev: str | None = None, **reading: Any
    ) -> Task:
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


def compare(
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
    tasks: Task | Iterable[Task],
    *,
    baseline: str | None = None,
    test_share: float = TEST_SHARE,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> Comparison:
    """Train and measure several regularizers, or measure saved models, on one or more corpora.

    candidates: names, classes or instances of regularizers; models; or mappings of options of
    :meth:`TrainingSettings.from_options <textreg.settings.TrainingSettings.from_options>`. A text
    may have options behind the name: ``"group groups=lda reg_l1=0.1"``. A mapping of names to these
    names them. tasks: looked at after the candidates, so that a generator reads no file in vain.
    baseline: the candidate that the others are held against; by default ``elastic``, or else the
    first. test_share: of the documents of tasks without a test part, held out with the seed.
    progress: as for ``train_corpus``. settings: for all candidates, as for :func:`textreg.train`.

    All are trained on the same documents and choose their prices on the same split; features are
    made once for those that agree in them. Raises UsageError and DataError, with the candidate's
    name where it is the fault of one, and as far as it can before anything is trained.
    """
    named = dict(_named(candidates))
    ready = {name: _ready(name, one, {"seed": seed, **settings}) for name, one in named.items()}
    if len(ready) < 2:
        raise UsageError("a comparison needs two or more candidates: name another one.")
    if baseline is None:
        baseline = "elastic" if "elastic" in ready else next(iter(ready))
    if baseline not in ready:
        raise UsageError(
            f"the baseline '{baseline}' is no candidate.{did_you_mean(baseline, ready)} There are: "
            f"{', '.join(ready)}."
        )
    tasks = [tasks] if isinstance(tasks, Task) else list(tasks)
    if not tasks or len({task.name for task in tasks}) < len(tasks):
        raise UsageError("a comparison needs one or more tasks, each with a name of its own.")
    trains = any(isinstance(one, TrainingSettings) for one in ready.values())
    checked = [_checked(task, trains, test_share, seed) for task in tasks]
    first = {  # models are quick to ask, and may not know a label
        (task.name, name): _measure(name, task, one)
        for task in checked
        for name, one in ready.items()
        if isinstance(one, Model)
    }
    measured = []
    for task in checked:
        shared: dict[Any, tuple[Features, float]] = {}
        for name, one in ready.items():
            if isinstance(one, Model):
                measured.append(first[task.name, name])
            else:
                measured.append(_train(name, task, one, shared, progress))
    return Comparison(
        tasks=tuple(task.name for task in checked),
        candidates=tuple(ready),
        baseline=baseline,
        measured=tuple(measured),
        contrasts=tuple(_contrasts(checked, list(ready), baseline, measured, seed)),
        seed=seed,
    )


def parse_candidate(text: str) -> dict[str, Any]:
    """Options from a text such as ``group groups=lda reg_l1=0.1``; UsageError where it is none."""
    name, *options = text.split()
    found: dict[str, Any] = {"reg": name}
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    for option in options:
        key, equals, value = option.partition("=")
        key = key.replace("-", "_")
        if not equals or not key or key in found:
            raise UsageError(
                f"candidate '{text}': after the name come options such as groups=lda or "
                f"reg_l1=0.1, each once, not '{option}'."
            )
        found[key] = words.get(value.lower(), value)
    return found


@dataclass(frozen=True)
class _Checked:
    """A task that can be measured on: ``labels`` are those of its test documents and models."""

    name: str
    train: Corpus | None
    test: Corpus
    dev: Corpus | None

    def codes(self, labels: Sequence[str]) -> Int64s:
        """The labels as numbers."""
        known = sorted(
            {*(self.test.labels or ()), *(self.train.labels or () if self.train else ())}
        )
        code_of = {label: code for code, label in enumerate(known)}
        # A model may have labels that no document here has; what it answers is then wrong anyhow.
        return np.array([code_of.get(label, len(known)) for label in labels], dtype=np.int64)


def _named(
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
) -> Iterator[tuple[str, Candidate]]:
    """Every candidate with its name; UsageError where two have the same."""
    if isinstance(candidates, Mapping):
        yield from candidates.items()
        return
    if isinstance(candidates, (str, Model)):
        raise UsageError("give a list of candidates, such as ['elastic', 'sentence'].")
    seen: set[str] = set()
    for one in candidates:
        if isinstance(one, Mapping):
            name = str(one.get("reg", "sentence"))
        elif isinstance(one, Model):
            name = f"model {len(seen) + 1}"
        else:
            name = " ".join(one.split()) if isinstance(one, str) else one.label()
        if name in seen:
            raise UsageError(
                f"two candidates are called '{name}': leave one out, or give a mapping of names "
                "to candidates."
            )
        seen.add(name)
        yield name, one


def _ready(name: str, one: Candidate, shared: Mapping[str, Any]) -> TrainingSettings | Model:
    """Settings of a candidate, all checked, or a model."""
    with _blaming(name):
        if isinstance(one, Model):
            if one.task == "regression":
                raise UsageError("a regression has no labels to compare: leave it out.")
            return one
        if isinstance(one, str):
            if not one.strip():
                raise UsageError("the name is empty: name a regularizer, such as elastic.")
            one = parse_candidate(one)
        own = dict(one) if isinstance(one, Mapping) else {"reg": one}
        settings = TrainingSettings.from_options(**{**shared, **own})
        if settings.task == "regression":
            raise UsageError("a regression has no labels to compare: leave out task.")
        return settings


def _corpus(texts: Texts | None) -> Corpus | None:
    if texts is None or isinstance(texts, Corpus):
        return texts
    return Corpus(texts=list(texts[0]), labels=list(texts[1]))


def _checked(task: Task, trains: bool, test_share: float, seed: int) -> _Checked:
    """The task's documents, split if need be; DataError where they are not what is needed."""
    train, test, dev = _corpus(task.train), _corpus(task.test), _corpus(task.dev)
    with _blaming(task.name):
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
            raise DataError(
                "there are no labelled documents to measure on: give some (--test FILE)."
            )
        return _Checked(task.name, train, test, dev)


def _train(
    name: str,
    task: _Checked,
    settings: TrainingSettings,
    shared: dict[Any, tuple[Features, float]],
    progress: Progress | None,
) -> Measured:
    """Train and measure one candidate; ``shared`` are features of the task by how they are made."""
    assert task.train is not None
    with _blaming(name):
        if task.dev is not None:
            settings = replace(settings, dev=task.dev)
        key = settings.vectorizer, settings.tokenizer, settings.refit
        if key not in shared:
            begin = time.perf_counter()
            features = make_features(task.train, settings)
            shared[key] = features, time.perf_counter() - begin
        features, spent = shared[key]
        begin = time.perf_counter()
        model = train_corpus(task.train, settings, progress, features)
        spent += time.perf_counter() - begin
        return _measure(name, task, model, spent)


def _measure(name: str, task: _Checked, model: Model, seconds: float | None = None) -> Measured:
    """A model's answers to the test documents."""
    with _blaming(name):
        scores = model.decision_function(task.test.texts)
        answers = [str(label) for label in model.choose(scores)]
        found = evaluate(task.test.labels or (), answers, model.labels, where=task.test.where)
    summary = model.summary
    if seconds is None and "seconds" in summary:
        seconds = sum(value for key, value in summary["seconds"].items() if key != "read")
    return Measured(
        candidate=name,
        task=task.name,
        documents=found.documents,
        accuracy=found.accuracy,
        accuracy_interval=Interval(*found.accuracy_interval),
        macro_f1=found.macro_f1,
        features=model.n_features,
        of=summary.get("features"),
        seconds=None if seconds is None else round(seconds, 3),
        gap=summary.get("gap"),
        converged=summary.get("converged"),
        held_out=(summary.get("dev") or {}).get("accuracy"),
        params=(summary.get("reg") or {}).get("params", {}),
        answers=task.codes(answers),
    )


def _contrasts(
    tasks: Sequence[_Checked],
    names: Sequence[str],
    baseline: str,
    measured: Sequence[Measured],
    seed: int,
) -> Iterator[Contrast]:
    """Each candidate beside the baseline, on every task and over all of them."""
    cell = {(one.task, one.candidate): one for one in measured}
    for name in names:
        if name == baseline:
            continue
        pairs = {}
        for task in tasks:
            mine, other = cell[task.name, name], cell[task.name, baseline]
            truth = task.codes(task.test.labels or ())
            pairs[task.name] = mine, other, Answers(truth, mine.answers, other.answers)
        for place, pair in pairs.items():
            yield _contrast(place, [pair], seed)
        if len(tasks) > 1:
            yield _contrast(None, list(pairs.values()), seed)


def _contrast(
    task: str | None, pairs: Sequence[tuple[Measured, Measured, Answers]], seed: int
) -> Contrast:
    accuracy, macro_f1 = bootstrap([answers for *_, answers in pairs], seed=seed)
    won = sum(answers.won for *_, answers in pairs)
    lost = sum(answers.lost for *_, answers in pairs)
    tasks_won = sum(mine.accuracy > other.accuracy for mine, other, _ in pairs)
    tasks_lost = sum(mine.accuracy < other.accuracy for mine, other, _ in pairs)
    several = len(pairs) > 1
    return Contrast(
        candidate=pairs[0][0].candidate,
        baseline=pairs[0][1].candidate,
        task=task,
        accuracy=float(np.mean([mine.accuracy - other.accuracy for mine, other, _ in pairs])),
        accuracy_interval=accuracy,
        macro_f1=float(np.mean([mine.macro_f1 - other.macro_f1 for mine, other, _ in pairs])),
        macro_f1_interval=macro_f1,
        won=won,
        lost=lost,
        p=sign_test(won, lost),
        tasks_won=tasks_won if several else 0,
        tasks_lost=tasks_lost if several else 0,
        tasks_p=sign_test(tasks_won, tasks_lost) if several else 1.0,
    )


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    """Say whose fault an error is."""
    try:
        yield
    except TextregError as error:
        raise type(error)(f"{name}: {error}") from error
