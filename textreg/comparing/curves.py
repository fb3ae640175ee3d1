"""Learning curves: candidates trained on more and more documents, several times."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textreg.comparing.benchmarks import Benchmark, Holding, warn_of_html_once
from textreg.comparing.candidates import Candidate, baseline_of, make_ready, with_names
from textreg.comparing.draws import DRAWS
from textreg.comparing.learning_curve import MEASURES, CurveCell, LearningCurve
from textreg.comparing.samples import Drawing, Pool, SampleFeatures, measure_sample, pool_of
from textreg.errors import UsageError, named_errors
from textreg.features.vectorize import Features
from textreg.model.model import Model
from textreg.records import Corpus
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.training.keywords import SettingsKeywords
    from textreg.training.running import Progress

BY = ("documents", "labels")
"""What sizes count: documents, of which no others are known; or labels, of known documents."""


def learn_curve(  # noqa: PLR0913  # its options are its interface
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
    benchmarks: Benchmark | Iterable[Benchmark],
    *,
    sizes: Sequence[int] | None = None,
    by: str = "documents",
    draw: str = "stratified",
    draws: int = 5,
    measure: str = "accuracy",
    unlabeled: Mapping[str, Corpus] | None = None,
    baseline: str | None = None,
    test_share: float = 0.2,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Unpack[SettingsKeywords],
) -> LearningCurve:
    """Train candidates on samples of several sizes, and measure all on the same test documents.

    Samples are nested: of one draw, a smaller one is part of every larger one. All candidates have
    the same samples, and choose their hyperparameters on their sample alone.

    Parameters
    ----------
    candidates : sequence or mapping
        Regularizers with their options, as for :func:`textreg.compare`; no models.
    benchmarks : Benchmark or iterable of Benchmark
        Corpora with documents to draw from; without ``dev``.
    sizes : sequence of int, optional
        Numbers of documents. By default all documents, half of them, and so on, five in all.
    by : {"documents", "labels"}, default "documents"
        What is drawn. With "labels" all training documents are known and their labels are drawn:
        features come from all, and regularizers with a graph build it from all, as is done with
        unlabeled documents. With "documents" the others are unknown.
    draw : {"stratified", "equal", "random"}, default "stratified"
        Labels in their shares of the corpus, as many of each, or as they come.
    draws : int, default 5
        How often documents are drawn.
    measure : {"accuracy", "macro-f1", "log-loss"}, default "accuracy"
        What tables and pictures show; the result has all three.
    unlabeled : mapping of str to Corpus, optional
        By benchmark, further documents that regularizers with a graph learn from.
    baseline : str, optional
        The candidate that the others are compared with. Default: ``ridge`` if it is one of them,
        else the first.
    test_share : float, default 0.2
        As for :func:`textreg.compare`.
    seed : int, default 0
        Seed of the draws, the splits and the test documents.
    progress : callable, optional
        Called with the stage ("cells"), the number of trainings done, and the total.
    **settings
        Options of all candidates, as for :func:`textreg.train`.

    Returns
    -------
    LearningCurve

    Raises
    ------
    UsageError, DataError
        If a candidate or a benchmark cannot be used, a size is beyond the data, or a sample has too
        few documents of a label; all before anything is trained.

    Examples
    --------
    >>> texts, labels = ["good film", "bad film"] * 30, ["pos", "neg"] * 30
    >>> films = Benchmark("films", train=(texts, labels))
    >>> curve = learn_curve(["lasso", "ridge"], films, sizes=[8, 16], draws=2)
    >>> curve.point("films", "ridge", 16).mean
    1.0
    """
    ready = _ready(candidates, {"seed": seed, **settings})
    baseline = baseline_of(ready, baseline, usual="ridge")
    _check_choices(by, draw, draws, measure)
    holding = Holding(test_share, seed, next(iter(ready.values())).rare)
    ready = {name: one.replace(min_label=None, rare_label=None) for name, one in ready.items()}
    how = Drawing(sizes, by, draw, draws, holding)
    pools = _pools(benchmarks, how, unlabeled or {})
    warn_of_html_once([pool.corpus for pool in pools], ready.values())
    total = sum(len(pool.sizes) for pool in pools) * draws * len(ready)
    cells = []
    for cell in _cells(pools, ready, how):
        cells.append(cell)
        if progress is not None:
            progress("cells", len(cells), total)
    return LearningCurve(
        benchmarks=tuple(pool.name for pool in pools),
        candidates=tuple(ready),
        sizes={pool.name: tuple(pool.sizes) for pool in pools},
        draws=draws,
        by=by,
        draw=draw,
        baseline=baseline,
        measure=measure,
        seed=seed,
        cells=tuple(cells),
    )


def _cells(
    pools: Sequence[Pool], ready: Mapping[str, TrainingSettings], how: Drawing
) -> Iterator[CurveCell]:
    """All trainings, those of a draw before those of the next."""
    for pool in pools:
        source = SampleFeatures(pool, how.by)
        for draw, size in itertools.product(range(how.draws), pool.sizes):
            shared: dict[Any, Features] = {}
            for name, one in ready.items():
                place = pool.name, name, size, draw
                with named_errors(f"{pool.name}, {name}, {size:,} documents"):
                    yield measure_sample(source, one, place, shared)


def _check_choices(by: str, draw: str, draws: int, measure: str) -> None:
    """UsageError for values that do not exist."""
    for name, value, known in (
        ("by", by, BY),
        ("draw", draw, DRAWS),
        ("measure", measure, MEASURES),
    ):
        if value not in known:
            raise UsageError(f"{name} must be one of {', '.join(known)}, not '{value}'.")
    if draws < 1:
        raise UsageError(f"draws must be 1 or more, not {draws}.")


def _pools(
    benchmarks: Benchmark | Iterable[Benchmark], how: Drawing, unlabeled: Mapping[str, Corpus]
) -> list[Pool]:
    """What is drawn from, one for each benchmark."""
    listed = [benchmarks] if isinstance(benchmarks, Benchmark) else list(benchmarks)
    if not listed or len({one.name for one in listed}) < len(listed):
        raise UsageError(
            "a learning curve needs at least one benchmark, and different names for several."
        )
    if others := set(unlabeled) - {one.name for one in listed}:
        known = ", ".join(one.name for one in listed)
        raise UsageError(
            f"there is no benchmark '{min(others)}' for unlabeled documents. There are: {known}."
        )
    return [pool_of(one, how, unlabeled.get(one.name)) for one in listed]


def _ready(
    candidates: Sequence[Candidate] | Mapping[str, Candidate], shared: Mapping[str, Any]
) -> dict[str, TrainingSettings]:
    """All candidates by name; UsageError for what cannot be trained on samples."""
    ready: dict[str, TrainingSettings] = {}
    for name, candidate in dict(with_names(candidates)).items():
        with named_errors(name):
            one = make_ready(candidate, shared)
            if isinstance(one, Model):
                raise UsageError(
                    "a model is trained already: name regularizers, or measure models with "
                    "textreg compare."
                )
            for setting in ("dev", "unlabeled", "unknown", "memory"):
                if getattr(one, setting) is not None:
                    raise UsageError(f"a learning curve takes no {setting}: leave it out.")
            ready[name] = one
    if not ready:
        raise UsageError("a learning curve needs a candidate: name one, such as --reg ridge.")
    if len({one.rare for one in ready.values()}) > 1:
        raise UsageError("min_label and rare_label must be the same for all candidates.")
    return ready
