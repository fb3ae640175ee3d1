"""Compare regularizers and models on the same documents, split and features."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textreg.comparing.benchmarks import (
    Benchmark,
    Checked,
    Holding,
    check_benchmark,
    warn_of_html_once,
)
from textreg.comparing.candidates import Candidate, baseline_of, make_ready, with_names
from textreg.comparing.comparison import Comparison, Measurement
from textreg.comparing.contrasts import Contrast, adjusted
from textreg.errors import UsageError, named_errors
from textreg.measure.evaluation import Evaluation
from textreg.measure.multilabel import MultilabelEvaluation
from textreg.measure.significance import Answers, Interval, SetAnswers, bootstrap, sign_test
from textreg.model.model import Model
from textreg.training.prepare import for_documents, make_features, read_training
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.features.vectorize import Features
    from textreg.measure.evaluation import RegressionEvaluation
    from textreg.training.keywords import SettingsKeywords
    from textreg.training.running import Progress

    AnyEvaluation: TypeAlias = Evaluation | RegressionEvaluation | MultilabelEvaluation

TEST_SHARE = 0.2
"""Share of the documents held out for testing where a benchmark has no test documents."""


def compare(
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
    benchmarks: Benchmark | Iterable[Benchmark],
    *,
    baseline: str | None = None,
    test_share: float = TEST_SHARE,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Unpack[SettingsKeywords],
) -> Comparison:
    """Train and measure several regularizers, or measure saved models, on one or more corpora.

    All candidates are trained on the same documents and choose their hyperparameters on the same
    split. Candidates with the same feature settings share their features.

    Parameters
    ----------
    candidates : sequence or mapping
        Names, classes or instances of regularizers; models; or mappings of options of
        :meth:`textreg.training.settings.TrainingSettings.from_options`. Options may follow a name:
        ``"group groups=lda reg_l1=0.1"``. The keys of a mapping name the candidates.
    benchmarks : Benchmark or iterable of Benchmark
        Corpora to compare on. Read after the candidates were checked.
    baseline : str, optional
        The candidate that the others are compared with. Default: ``elastic`` if it is one of them,
        else the first.
    test_share : float, default 0.2
        Share of the documents held out for testing where a benchmark has no test documents.
    seed : int, default 0
        Seed of the splits and of the bootstrap.
    progress : callable, optional
        As for :func:`textreg.training.train.train_corpus`.
    **settings
        Options of all candidates, as for :func:`textreg.train`.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError, DataError
        If a candidate or a benchmark cannot be used; the message begins with its name. As much as
        possible is checked before anything is trained.

    Examples
    --------
    >>> texts, labels = ["good film", "bad film"] * 20, ["pos", "neg"] * 20
    >>> result = compare(["lasso", "ridge"], Benchmark("films", train=(texts, labels)))
    >>> result.cell("films", "ridge").accuracy
    1.0
    """
    ready = _ready(candidates, {"seed": seed, **settings})
    baseline = baseline_of(ready, baseline, usual="elastic")
    benchmarks = [benchmarks] if isinstance(benchmarks, Benchmark) else list(benchmarks)
    if not benchmarks or len({benchmark.name for benchmark in benchmarks}) < len(benchmarks):
        raise UsageError(
            "a comparison needs at least one benchmark, and different names for several."
        )
    trained = [one for one in ready.values() if isinstance(one, TrainingSettings)]
    rares = {one.rare for one in trained}
    holding = Holding(test_share, seed)
    # Once for all, before test documents are held out; that of the unknown is no rare label.
    if len(rares) == 1 and all(one.unknown is None for one in trained):
        holding = Holding(test_share, seed, rares.pop())
        ready = {
            name: one if isinstance(one, Model) else one.replace(min_label=None)
            for name, one in ready.items()
        }
    checked = []
    for given in benchmarks:
        with named_errors(given.name):
            checked.append(check_benchmark(given, bool(trained), holding))
    if len({one.test.multilabel for one in checked}) > 1:
        raise UsageError(
            "documents of some corpora have one label, and those of others several: compare on "
            "corpora of one kind."
        )
    warn_of_html_once([one.train for one in checked], trained)
    # Models come first: this is quick, and one that lacks a label stops before any training.
    first = {
        (benchmark.name, name): _measure(name, benchmark, one)
        for benchmark in checked
        for name, one in ready.items()
        if isinstance(one, Model)
    }
    measured = []
    for benchmark in checked:
        shared: dict[Any, tuple[Features, float]] = {}
        for name, one in ready.items():
            if isinstance(one, Model):
                measured.append(first[benchmark.name, name])
            else:
                measured.append(_train(name, benchmark, one, shared, progress))
    return Comparison(
        benchmarks=tuple(benchmark.name for benchmark in checked),
        candidates=tuple(ready),
        baseline=baseline,
        measured=tuple(measured),
        contrasts=adjusted(list(_contrasts(checked, list(ready), baseline, measured, seed))),
        seed=seed,
    )


def _ready(
    candidates: Sequence[Candidate] | Mapping[str, Candidate], shared: Mapping[str, Any]
) -> dict[str, TrainingSettings | Model]:
    """All candidates by name; UsageError if there are fewer than two."""
    ready: dict[str, TrainingSettings | Model] = {}
    for name, candidate in dict(with_names(candidates)).items():
        with named_errors(name):
            ready[name] = make_ready(candidate, shared)
    if len(ready) < 2:
        raise UsageError(
            "a comparison needs two or more candidates: name another one, such as "
            "--reg elastic,sentence."
        )
    return ready


def _train(
    name: str,
    benchmark: Checked,
    settings: TrainingSettings,
    shared: dict[Any, tuple[Features, float]],
    progress: Progress | None,
) -> Measurement:
    """Train and measure one candidate; ``shared`` holds features by the settings they depend on."""
    assert benchmark.train is not None
    with named_errors(name):
        if benchmark.dev is not None:
            settings = settings.replace(dev=benchmark.dev)
        settings = for_documents(settings, benchmark.train)
        posed = read_training(
            benchmark.train, settings
        )  # as in the training, which the features are for
        key = (
            settings.vectorizer,
            settings.tokenizer,
            settings.fields,
            settings.refit,
            settings.rare,
            settings.unknown,
        )
        if key not in shared:
            start = time.perf_counter()
            features = make_features(posed.corpus, posed.settings)
            shared[key] = features, time.perf_counter() - start
        features, seconds = shared[key]
        start = time.perf_counter()
        model = train_corpus(benchmark.train, settings, progress, features, partial=False)
        seconds += time.perf_counter() - start
        return _measure(name, benchmark, model, seconds)


def _measure(
    name: str, benchmark: Checked, model: Model, seconds: float | None = None
) -> Measurement:
    """Measure a model on the test documents."""
    with named_errors(name):
        scores = model.decision_function(benchmark.test.texts)
        task, test = model.task, benchmark.test
        result = task.evaluate(test, scores, model.thresholds, model.calibration)
        decided = model.decide(scores)
        # A label may count as another one, such as that of rare labels: right is what counts so.
        right = task.right(task.targets(test), decided)
        y_true, answered = benchmark.targets(), benchmark.targets(task.answers(decided))
        answers = np.where(right if y_true.ndim == 1 else right[:, None], y_true, answered)
    summary = model.summary
    dev = None if summary is None else summary.dev
    if seconds is None and model.seconds:
        seconds = sum(value for key, value in model.seconds.items() if key != "read")
    return Measurement(
        candidate=name,
        benchmark=benchmark.name,
        documents=result.documents,
        **_measures(result),
        features=model.n_features,
        of=None if summary is None else summary.features,
        seconds=None if seconds is None else round(seconds, 3),
        gap=None if summary is None else summary.gap,
        converged=None if summary is None else summary.converged,
        held_out=None if dev is None else dev.metrics.get("accuracy", dev.metrics.get("micro-f1")),
        params={} if summary is None else summary.reg.params,
        answers=answers,
    )


def _measures(result: AnyEvaluation) -> dict[str, Any]:
    """What a measurement takes from an evaluation."""
    if isinstance(result, MultilabelEvaluation):
        return {
            "accuracy": result.subset_accuracy,
            "accuracy_interval": Interval(*result.subset_accuracy_interval),
            "macro_f1": result.macro_f1,
            "micro_f1": result.micro_f1,
            "micro_f1_interval": Interval(*result.micro_f1_interval),
        }
    assert isinstance(result, Evaluation)  # make_ready refuses regressions
    return {
        "accuracy": result.accuracy,
        "accuracy_interval": Interval(*result.accuracy_interval),
        "macro_f1": result.macro_f1,
    }


def _contrasts(
    benchmarks: Sequence[Checked],
    names: Sequence[str],
    baseline: str,
    measured: Sequence[Measurement],
    seed: int,
) -> Iterator[Contrast]:
    """Each candidate compared with the baseline, on every benchmark and over all of them."""
    cell = {(one.benchmark, one.candidate): one for one in measured}
    for name in names:
        if name == baseline:
            continue
        pairs = {}
        for benchmark in benchmarks:
            mine, other = cell[benchmark.name, name], cell[benchmark.name, baseline]
            both: Any = (benchmark.targets(), mine.answers, other.answers)
            answers = SetAnswers(*both) if benchmark.test.multilabel else Answers(*both)
            pairs[benchmark.name] = mine, other, answers
        for place, pair in pairs.items():
            yield _contrast(place, [pair], seed)
        if len(benchmarks) > 1:
            yield _contrast(None, list(pairs.values()), seed)


def _contrast(
    benchmark: str | None,
    pairs: Sequence[tuple[Measurement, Measurement, Answers | SetAnswers]],
    seed: int,
) -> Contrast:
    accuracy, macro_f1, *micro_f1 = bootstrap([answers for *_, answers in pairs], seed=seed)
    won = sum(answers.won for *_, answers in pairs)
    lost = sum(answers.lost for *_, answers in pairs)
    benchmarks_won = sum(mine.headline[0] > other.headline[0] for mine, other, _ in pairs)
    benchmarks_lost = sum(mine.headline[0] < other.headline[0] for mine, other, _ in pairs)
    p = sign_test(won, lost)
    several = len(pairs) > 1
    return Contrast(
        candidate=pairs[0][0].candidate,
        baseline=pairs[0][1].candidate,
        benchmark=benchmark,
        accuracy=float(np.mean([mine.accuracy - other.accuracy for mine, other, _ in pairs])),
        accuracy_interval=accuracy,
        macro_f1=float(np.mean([mine.macro_f1 - other.macro_f1 for mine, other, _ in pairs])),
        macro_f1_interval=macro_f1,
        won=won,
        lost=lost,
        p=p,
        p_adjusted=p,
        benchmarks_won=benchmarks_won if several else 0,
        benchmarks_lost=benchmarks_lost if several else 0,
        benchmarks_p=sign_test(benchmarks_won, benchmarks_lost) if several else 1.0,
        micro_f1=_mean_difference(pairs) if micro_f1 else None,
        micro_f1_interval=micro_f1[0] if micro_f1 else None,
    )


def _mean_difference(pairs: Sequence[tuple[Measurement, Measurement, Any]]) -> float:
    """The mean difference of what verdicts go by."""
    return float(np.mean([mine.headline[0] - other.headline[0] for mine, other, _ in pairs]))
