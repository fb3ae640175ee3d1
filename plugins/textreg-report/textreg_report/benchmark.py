"""Compare regularizers or models on the same documents."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textreg.errors import DataError, UsageError, alternatives, named_errors, shortened
from textreg.features.markup import warn_of_html
from textreg.features.vectorize import Features
from textreg.kinds import Regularizer
from textreg.measure.evaluation import Evaluation, MultilabelEvaluation, indicators
from textreg.model.model import Model
from textreg.reading.corpus import read_corpus
from textreg.reading.source import listed
from textreg.records import Corpus, Documents
from textreg.records.text import as_corpus
from textreg.structure.shuffling import shadow_of
from textreg.tasks import TASKS, Rare, read_target
from textreg.tasks.base import REMEDY
from textreg.training.prepare import for_documents, make_features, read_training
from textreg.training.running import Progress
from textreg.training.settings import TrainingSettings, declared_settings
from textreg.training.splits import splits_of
from textreg.training.train import train_corpus
from textreg_report.comparison import Comparison, Contrast, Measurement, adjusted
from textreg_report.page import mean_of
from textreg_report.predictions import answers_in_full
from textreg_report.significance import Answers, Interval, SetAnswers, bootstrap, sign_test

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.training.keywords import SettingsKeywords

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
            If a file cannot be read or is named twice, or a folder has two files of one kind.
        """
        name = Path(os.path.abspath(path)).name.partition(".")[0] or path
        files = {"train": path, "test": test, "dev": dev}
        if os.path.isdir(path):
            parts = {part: sorted(map(str, Path(path).glob(f"{part}.*"))) for part in files}
            if parts["train"] or parts["test"]:
                if several := [names for names in parts.values() if len(names) > 1]:
                    raise UsageError(
                        f"{path} has both {several[0][0]} and {several[0][1]}: leave one of them."
                    )
                files["train"] = None
                files = {part: it or next(iter(parts[part]), None) for part, it in files.items()}
        given = {part: file for part, file in files.items() if file is not None}
        listed(list(given.values()))  # refuses a file that is named twice
        return cls(name, **{part: read_corpus(file, **reading) for part, file in given.items()})


@dataclass(frozen=True)
class Checked:
    """A benchmark with labeled test documents."""

    name: str
    train: Corpus | None
    test: Corpus
    dev: Corpus | None

    def targets(self, labels: Sequence[Any] | None = None) -> Any:
        """Labels, by default the true ones, as numbers; of several an indicator matrix."""
        given = (self.test.labels or ()) if labels is None else labels
        of_train = [] if self.train is None else self.train.label_names()
        known = sorted({*self.test.label_names(), *of_train})
        # A model may predict a label that no document here has; that is an error in any case.
        if self.test.multilabel:
            return indicators(given, known)
        code_of = {label: code for code, label in enumerate(known)}
        return np.array([code_of.get(label, len(known)) for label in given], dtype=np.int64)


def check_benchmark(benchmark: Benchmark, trains: bool, seed: int, rare: Rare) -> Checked:
    """The benchmark with test documents, held out if need be; DataError if it cannot be used.

    trains: whether any candidate will be trained on it. rare: what becomes of labels of few
    documents, before test documents are held out.
    """
    train, test = as_corpus(benchmark.train, "train"), as_corpus(benchmark.test, "test")
    dev = as_corpus(benchmark.dev, "dev")
    if not trains and test is None:
        test, train = train, None  # nothing is trained: measure on all documents
    if trains and train is None:
        raise DataError(
            "there are no documents to train on: give some, or compare saved models only."
        )
    if train is not None and trains:
        train, target, *_ = read_target(train, rare=rare)
        codes, labels = target.task.strata(target.y)
        if test is None:
            few = np.flatnonzero(np.bincount(codes) < 3)
            if len(few) and not target.task.multilabel:
                raise DataError(
                    f"the label '{labels[few[0]]}' has fewer than three documents, too few to "
                    f"hold some out for the test. {REMEDY.format(least=3)}; or give test "
                    "documents of your own (--test FILE)."
                )
            held = TrainingSettings.from_options(reg="none", holdout=TEST_SHARE, seed=seed)
            (split,) = splits_of(train, target, held)
            train, test = train.select(split.train), train.select(split.held)
        for more in (test, dev):
            if more is not None and len(more) and more.labels is not None:
                target.task.targets(more)  # refused now if the label of none is known
    if test is None or not len(test) or test.labels is None:
        raise DataError("there are no labeled documents to measure on: give some (--test FILE).")
    return Checked(benchmark.name, train, test, dev)


def checked_benchmarks(
    benchmarks: Benchmark | Iterable[Benchmark],
    what: str,
    trained: Collection[TrainingSettings],
    seed: int,
    rare: Rare,
) -> list[Checked]:
    """The benchmarks of ``what``, checked; UsageError if there are none, or names are the same.

    trained: the candidates that are trained. DataWarning for each corpus with much HTML, if some
    candidate is trained on it as it is.
    """
    several = list(benchmarks) if isinstance(benchmarks, Iterable) else [benchmarks]
    names = {one.name for one in several if isinstance(one, Benchmark)}
    if not several or len(names) < len(several):
        raise UsageError(
            f"{what} needs at least one benchmark, such as Benchmark('reviews', train=(texts, "
            "labels)), and different names for several."
        )
    checked = []
    for benchmark in several:
        with named_errors(benchmark.name):
            checked.append(check_benchmark(benchmark, bool(trained), seed, rare))
    if not all(benchmark.vectorizer.strip_html for benchmark in trained):
        for corpus in filter(None, [benchmark.train for benchmark in checked]):
            warn_of_html(corpus)
    return checked


_SWITCHES: dict[str, Any] = {"true": True, "false": False, "none": None}

Candidate: TypeAlias = str | type[Regularizer] | Regularizer | Mapping[str, Any] | Model


def parse_candidate(text: str) -> dict[str, Any]:
    """Options from a text such as ``group groups=lda reg_l1=0.1``; UsageError if malformed."""
    name, *words = text.split()
    options: dict[str, Any] = {"reg": name}
    for option in words:
        key, equals, value = option.partition("=")
        key = key.replace("-", "_")
        if not equals or not key or key in options:
            raise UsageError(
                "write options such as groups=lda or reg_l1=0.1 after the name, each once, not "
                f"'{option}'."
            )
        declared = declared_settings().get(key)
        if declared is None:  # a parameter of a part, which converts it
            options[key] = _SWITCHES.get(value.lower(), value)
        elif declared.repeated:
            raise UsageError(
                f"{key} cannot be given as text. Leave it out, or use Python, where candidates may "
                "be mappings."
            )
        else:
            options[key] = declared.read(value)
    return options


def ready_candidates(
    candidates: Sequence[Candidate] | Mapping[str, Candidate], shared: Mapping[str, Any]
) -> dict[str, TrainingSettings | Model]:
    """Checked settings of every candidate by its name, or a model.

    UsageError if one cannot be compared, or two have the same name. shared: options of all
    candidates; a candidate's own options take precedence.
    """
    if isinstance(candidates, (str, Model)) or not isinstance(candidates, Iterable):
        raise UsageError("give a list of candidates, such as ['elastic', 'sentence'].")
    named: dict[str, Candidate] = {}
    for candidate in () if isinstance(candidates, Mapping) else candidates:
        if isinstance(candidate, Mapping):
            name = str(candidate.get("reg", "auto"))
        elif isinstance(candidate, Model):
            name = f"model {len(named) + 1}"
        elif isinstance(candidate, str):
            name = " ".join(candidate.split())
        else:
            name = candidate.label() if hasattr(candidate, "label") else shortened(repr(candidate))
        if name in named:
            raise UsageError(
                f"two candidates are called '{name}': leave one out, or give a mapping of names "
                "to candidates."
            )
        named[name] = candidate
    ready: dict[str, TrainingSettings | Model] = {}
    for name, value in candidates.items() if isinstance(candidates, Mapping) else named.items():
        with named_errors(name):
            ready[name] = value if isinstance(value, Model) else _settings_of(value, shared)
            task = value.task if isinstance(value, Model) else TASKS.get(str(ready[name].task))
            if task is not None and not task.discrete:
                raise UsageError(f"a {task.name} has no labels to compare: leave it out.")
    return ready


def _settings_of(candidate: Any, shared: Mapping[str, Any]) -> TrainingSettings:
    """The settings of a candidate, with those of all."""
    if isinstance(candidate, str):
        if not candidate.strip():
            raise UsageError("the name is empty: name a regularizer, such as elastic.")
        candidate = parse_candidate(candidate)
    options = dict(candidate) if isinstance(candidate, Mapping) else {"reg": candidate}
    return TrainingSettings.from_options(**{**shared, **options})


def baseline_of(names: Iterable[str], named: str | None, *, usual: str) -> str:
    """The candidate to compare others with: that named, else the usual or the first one.

    Raises UsageError if the one named is none of them.
    """
    known = list(names)
    if named is None:
        return usual if usual in known else known[0]
    if named not in known:
        raise UsageError(f"the baseline '{named}' is not a candidate.{alternatives(named, known)}")
    return named


# Share of the documents held out for testing where a benchmark has no test documents.
TEST_SHARE = 0.2


def compare(  # its options are its interface
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
    benchmarks: Benchmark | Iterable[Benchmark],
    *,
    baseline: str | None = None,
    seed: int = 0,
    control: bool = False,
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
    seed : int, default 0
        Seed of the splits and of the bootstrap.
    control : bool, default False
        Whether to compare every candidate that has groups or a graph with the elastic net and with
        its own shadow, the same groups or links of features drawn by chance.
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
    ready = ready_candidates(candidates, {"seed": seed, **settings})
    shadows: dict[str, str] = {}
    if control:
        elastic = TrainingSettings.from_options(reg="elastic", seed=seed, **settings)
        ready, shadows = with_shadows({"elastic": elastic, **ready})
    if len(ready) < 2:
        raise UsageError(
            "a comparison needs two or more candidates: name another one, such as "
            "--reg elastic,sentence."
        )
    baseline = baseline_of(ready, baseline, usual="elastic")
    trained = [one for one in ready.values() if isinstance(one, TrainingSettings)]
    if not trained and (idle := settings.keys() - {"jobs"}):
        raise UsageError(
            f"{min(idle)} is for candidates to train, and all are models: leave it out, or name "
            "regularizers as well (--reg)."
        )
    rares = {settings.rare for settings in trained}
    rare = Rare()
    # Once for all, before test documents are held out; that of the unknown is no rare label.
    if len(rares) == 1 and all(settings.unknown is None for settings in trained):
        rare = rares.pop()
        ready = {
            name: candidate if isinstance(candidate, Model) else candidate.replace(min_label=None)
            for name, candidate in ready.items()
        }
    checked = checked_benchmarks(benchmarks, "a comparison", trained, seed, rare)
    if len({benchmark.test.multilabel for benchmark in checked}) > 1:
        raise UsageError(
            "documents of some corpora have one label, and those of others several: compare on "
            "corpora of one kind."
        )
    cells: dict[tuple[str, str], Measurement] = {}
    # Models come first: this is quick, and one that lacks a label stops before any training.
    for benchmark, (name, candidate) in itertools.product(checked, ready.items()):
        if isinstance(candidate, Model):
            cells[benchmark.name, name] = measure(name, benchmark, candidate)
    for benchmark in checked:
        shared: dict[Any, tuple[Features, float]] = {}
        for name, candidate in ready.items():
            if isinstance(candidate, TrainingSettings):
                cells[benchmark.name, name] = _train(name, benchmark, candidate, shared, progress)
    measured = [cells[benchmark.name, name] for benchmark in checked for name in ready]
    return Comparison(
        benchmarks=tuple(benchmark.name for benchmark in checked),
        candidates=tuple(ready),
        baseline=baseline,
        measured=tuple(measured),
        contrasts=adjusted(list(_contrasts(checked, list(ready), baseline, cells, seed))),
        seed=seed,
        gains=tuple(
            list(_contrasts(checked, [name], over, cells, seed))[-1]
            for name, shadow in shadows.items()
            for over in ("elastic", shadow)
        ),
    )


def with_shadows(
    ready: Mapping[str, TrainingSettings | Model],
) -> tuple[dict[str, TrainingSettings | Model], dict[str, str]]:
    """The candidates and the shadow of every one with a structure, and the names of these."""
    every, shadows = dict(ready), {}
    for name, candidate in ready.items():
        if isinstance(candidate, TrainingSettings) and (kind := candidate.reg.needs):
            shadows[name] = f"{name}, shuffled"
            every[shadows[name]] = candidate.replace(**{kind: shadow_of(getattr(candidate, kind))})
    if not shadows:
        raise UsageError(
            "control is for candidates with groups or a graph, and none has any: name one, such as "
            "sentence, or leave control out."
        )
    return every, shadows


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
        posed = read_training(benchmark.train, settings)  # as the features' training does
        of_texts = settings.vectorizer, settings.tokenizer, settings.fields, settings.unlabeled
        of_training = settings.refit, settings.rare, settings.unknown, settings.dev
        key = *of_texts, *of_training, settings.leans_on_vectors
        if key not in shared:
            start = time.perf_counter()
            features = make_features(posed.corpus, posed.settings)
            shared[key] = features, time.perf_counter() - start
        features, seconds = shared[key]
        start = time.perf_counter()
        model = train_corpus(benchmark.train, settings, progress, features, partial=False)
        seconds += time.perf_counter() - start
        return measure(name, benchmark, model, seconds)


def measure(
    name: str, benchmark: Checked, model: Model, seconds: float | None = None
) -> Measurement:
    """Measure a model on the test documents."""
    with named_errors(name):
        scores = model.decision_function(benchmark.test.texts)
        task, test = model.task, benchmark.test
        result = task.evaluate(test, scores, model.thresholds, model.calibration)
        y_true = benchmark.targets()
        answers = benchmark.targets(answers_in_full(task, test, model.decide(scores)))
        losses = None
        if y_true.ndim == 1 and task.probabilistic:
            log_p = task.log_probabilities(scores, model.calibration)
            codes = task.targets(test).astype(np.int64)
            if codes.max(initial=0) < log_p.shape[1]:  # else some labels have no probability
                losses = -log_p[np.arange(len(codes)), codes]
    summary = model.summary
    if seconds is None and model.seconds:
        seconds = sum(value for key, value in model.seconds.items() if key != "read")
    more: dict[str, Any] = {}
    if isinstance(result, MultilabelEvaluation):
        accuracy, interval = result.subset_accuracy, result.subset_accuracy_interval
        more["micro_f1"] = result.micro_f1
        more["micro_f1_interval"] = Interval(*result.micro_f1_interval)
    else:
        assert isinstance(result, Evaluation)  # ready_candidates refuses regressions
        accuracy, interval = result.accuracy, result.accuracy_interval
    if summary is not None:
        dev = {} if summary.dev is None else summary.dev.metrics
        more |= {"of": summary.features, "gap": summary.gap, "converged": summary.converged}
        more |= {"held_out": dev.get("accuracy", dev.get("micro-f1")), "params": summary.reg.params}
    return Measurement(
        candidate=name,
        benchmark=benchmark.name,
        documents=result.documents,
        accuracy=accuracy,
        accuracy_interval=Interval(*interval),
        macro_f1=result.macro_f1,
        features=model.n_features,
        seconds=None if seconds is None else round(seconds, 3),
        answers=answers,
        log_loss=result.log_loss,
        losses=losses,
        **more,
    )


def _contrasts(
    benchmarks: Sequence[Checked],
    names: Sequence[str],
    baseline: str,
    cells: Mapping[tuple[str, str], Measurement],
    seed: int,
) -> Iterator[Contrast]:
    """Each candidate compared with the baseline, on every benchmark and over all of them."""
    for name in [name for name in names if name != baseline]:
        pairs = []
        for benchmark in benchmarks:
            mine, other = cells[benchmark.name, name], cells[benchmark.name, baseline]
            arguments: Any = (benchmark.targets(), mine.answers, other.answers)
            answers = SetAnswers(*arguments) if benchmark.test.multilabel else Answers(*arguments)
            pairs.append((mine, other, answers))
            yield _contrast(benchmark.name, pairs[-1:], seed)
        if len(benchmarks) > 1:
            yield _contrast(None, pairs, seed)


def _contrast(
    benchmark: str | None,
    pairs: Sequence[tuple[Measurement, Measurement, Answers | SetAnswers]],
    seed: int,
) -> Contrast:
    def difference(what: str) -> float:
        apart = [getattr(mine, what) - getattr(other, what) for mine, other, _ in pairs]
        return float(np.mean(apart))

    accuracy, macro_f1, *micro_f1 = bootstrap([answers for *_, answers in pairs], seed=seed)
    won = sum(answers.won for *_, answers in pairs)
    lost = sum(answers.lost for *_, answers in pairs)
    # McNemar's exact test is the sign test of the documents that only one has right.
    p = sign_test(won, lost)
    several = pairs if len(pairs) > 1 else []
    losses: Any = [(mine.losses, other.losses) for mine, other, _ in pairs]
    apart = None
    if all(it is not None for pair in losses for it in pair):
        apart = mean_of("log-loss", *(one - other for one, other in losses))
    higher = sum(mine.headline[0] > other.headline[0] for mine, other, _ in several)
    lower = sum(mine.headline[0] < other.headline[0] for mine, other, _ in several)
    return Contrast(
        candidate=pairs[0][0].candidate,
        baseline=pairs[0][1].candidate,
        benchmark=benchmark,
        accuracy=difference("accuracy"),
        accuracy_interval=accuracy,
        macro_f1=difference("macro_f1"),
        macro_f1_interval=macro_f1,
        won=won,
        lost=lost,
        p=p,
        p_adjusted=p,
        benchmarks_won=higher,
        benchmarks_lost=lower,
        benchmarks_p=sign_test(higher, lower),
        micro_f1=difference("micro_f1") if micro_f1 else None,
        micro_f1_interval=micro_f1[0] if micro_f1 else None,
        log_loss=apart,
    )
