"""Comparing regularizers and models: the same documents, the same split, the same features."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.comparing.benchmarks import Benchmark, Checked, check_benchmark
from textreg.comparing.candidates import Candidate, make_ready, with_names
from textreg.comparing.comparison import Comparison, Contrast, Measured
from textreg.errors import TextregError, UsageError, did_you_mean
from textreg.measure.evaluation import evaluate
from textreg.measure.significance import Answers, Interval, bootstrap, sign_test
from textreg.model.model import Model
from textreg.training.prepare import make_features
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus

if TYPE_CHECKING:
    from textreg.features.vectorize import Features
    from textreg.training.running import Progress

TEST_SHARE = 0.2
"""Share of the documents that are measured on where a task has no test documents."""


def compare(
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
    tasks: Benchmark | Iterable[Benchmark],
    *,
    baseline: str | None = None,
    test_share: float = TEST_SHARE,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> Comparison:
    """Train and measure several regularizers, or measure saved models, on one or more corpora.

    candidates: names, classes or instances of regularizers; models; or mappings of options of
    :meth:`textreg.training.settings.TrainingSettings.from_options`. A text may have options behind
    the name: ``"group groups=lda reg_l1=0.1"``. A mapping of names to these names them.
    tasks: looked at after the candidates, so that a generator reads no file in vain.
    baseline: the candidate that the others are held against; by default ``elastic``, or else the
    first. test_share: of the documents of tasks without a test part, held out with the seed.
    progress: as for ``train_corpus``. settings: for all candidates, as for :func:`textreg.train`.

    All are trained on the same documents and choose their prices on the same split; features are
    made once for those that agree in them. Raises UsageError and DataError, with the candidate's
    name where it is the fault of one, and as far as it can before anything is trained.
    """
    ready = _ready(candidates, {"seed": seed, **settings})
    if baseline is None:
        baseline = "elastic" if "elastic" in ready else next(iter(ready))
    if baseline not in ready:
        raise UsageError(
            f"the baseline '{baseline}' is no candidate.{did_you_mean(baseline, ready)} There are: "
            f"{', '.join(ready)}."
        )
    tasks = [tasks] if isinstance(tasks, Benchmark) else list(tasks)
    if not tasks or len({task.name for task in tasks}) < len(tasks):
        raise UsageError("a comparison needs one or more tasks, each with a name of its own.")
    trains = any(isinstance(one, TrainingSettings) for one in ready.values())
    checked = []
    for given in tasks:
        with _blaming(given.name):
            checked.append(check_benchmark(given, trains, test_share, seed))
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


def _ready(
    candidates: Sequence[Candidate] | Mapping[str, Candidate], shared: Mapping[str, Any]
) -> dict[str, TrainingSettings | Model]:
    """All candidates by their names; UsageError where there are fewer than two."""
    ready: dict[str, TrainingSettings | Model] = {}
    for name, candidate in dict(with_names(candidates)).items():
        with _blaming(name):
            ready[name] = make_ready(candidate, shared)
    if len(ready) < 2:
        raise UsageError(
            "a comparison needs two or more candidates: name others as well, such as "
            "--reg elastic,sentence."
        )
    return ready


def _train(
    name: str,
    task: Checked,
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


def _measure(name: str, task: Checked, model: Model, seconds: float | None = None) -> Measured:
    """A model's answers to the test documents."""
    with _blaming(name):
        scores = model.decision_function(task.test.texts)
        answers = [str(label) for label in model.choose(scores)]
        found = evaluate(task.test.labels or (), answers, model.labels, where=task.test.where)
    summary = model.summary
    dev = None if summary is None else summary.dev
    if seconds is None and summary is not None:
        seconds = sum(value for key, value in summary.seconds.items() if key != "read")
    return Measured(
        candidate=name,
        task=task.name,
        documents=found.documents,
        accuracy=found.accuracy,
        accuracy_interval=Interval(*found.accuracy_interval),
        macro_f1=found.macro_f1,
        features=model.n_features,
        of=None if summary is None else summary.features,
        seconds=None if seconds is None else round(seconds, 3),
        gap=None if summary is None else summary.gap,
        converged=None if summary is None else summary.converged,
        held_out=None if dev is None else dev.metrics.get("accuracy"),
        params={} if summary is None else summary.reg.params,
        answers=task.codes(answers),
    )


def _contrasts(
    tasks: Sequence[Checked],
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
            y_true = task.codes(task.test.labels or ())
            pairs[task.name] = mine, other, Answers(y_true, mine.answers, other.answers)
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
