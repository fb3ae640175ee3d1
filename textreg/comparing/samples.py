"""The samples of a learning curve: documents to draw from, their features, and one training."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from textreg.comparing.benchmarks import Benchmark, Checked, Holding, check_benchmark
from textreg.comparing.draws import check_samples, check_sizes, draw_order
from textreg.comparing.learning_curve import CurveCell
from textreg.errors import DataError, UsageError, named_errors
from textreg.features.rows import MatrixRows
from textreg.features.vectorize import Features
from textreg.measure.evaluation import Evaluation
from textreg.plugins import calls
from textreg.records import Corpus
from textreg.records.cache import Cache
from textreg.tasks import read_target
from textreg.training.prepare import for_documents, make_features
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textreg.kinds import GraphBuilder
    from textreg.records import Graph, Groups, Int64s


class Drawing(NamedTuple):
    """How documents are drawn: see :func:`textreg.learn_curve`."""

    sizes: Sequence[int] | None
    by: str
    draw: str
    draws: int
    holding: Holding


@dataclass(frozen=True, eq=False)
class Pool:
    """Documents to draw from.

    sizes: of the samples. orders: of the documents for every draw, which samples are the first of.
    """

    checked: Checked
    corpus: Corpus
    unlabeled: Corpus | None
    sizes: list[int]
    orders: list[Int64s]

    @property
    def name(self) -> str:
        """The name of the benchmark."""
        return self.checked.name


def pool_of(benchmark: Benchmark, how: Drawing, unlabeled: Corpus | None) -> Pool:
    """The documents of a benchmark; UsageError or DataError if a sample cannot be drawn."""
    with named_errors(benchmark.name):
        if benchmark.dev is not None:
            raise UsageError(
                "a learning curve takes no dev documents, which a small sample would not have: "
                "hyperparameters are chosen on each sample. Leave them out."
            )
        checked = check_benchmark(benchmark, True, how.holding)
        assert checked.train is not None
        if checked.train.multilabel:
            raise DataError(
                "its documents have several labels each, and samples are drawn by one label: give "
                "documents of one label."
            )
        target = read_target(checked.train)[1]
        codes, labels = target.task.strata(target.y)
        chosen = check_sizes(how.sizes, codes, labels)
        seed = how.holding.seed
        orders = [draw_order(codes, how.draw, (seed, number)) for number in range(how.draws)]
        for order in orders:
            check_samples(order, chosen, codes, labels, how.draw)
        return Pool(checked, checked.train, unlabeled, chosen, orders)


class SampleFeatures:
    """The features of samples.

    Parameters
    ----------
    pool : Pool
    by : str
        With "labels", features and graphs are made once, of all documents.
    """

    def __init__(self, pool: Pool, by: str) -> None:
        self.pool = pool
        self.known = by == "labels"
        self._more = [] if pool.unlabeled is None else list(pool.unlabeled.texts)
        self._made: dict[Any, Features] = {}

    def training(
        self, settings: TrainingSettings, rows: Int64s, shared: dict[Any, Features]
    ) -> tuple[Corpus, TrainingSettings, Features]:
        """What to train on and how, for some rows of the pool.

        shared: features of the same sample, by what they depend on.
        """
        pool = self.pool
        sample = pool.corpus.select(rows)
        settings = for_documents(settings, pool.corpus if self.known else sample)
        key = settings.vectorizer, settings.tokenizer, settings.fields
        if self.known:
            if key not in self._made:
                every = Corpus(texts=[*pool.corpus.texts, *self._more])
                self._made[key] = with_graphs(make_features(every, settings))
            made = self._made[key]
            rows_of = MatrixRows(made.X[rows])
            return sample, settings, replace(made, rows=rows_of, tokens=made.tokens.select(rows))
        graph = settings.reg.needs == "graph"
        if graph and self._more:
            settings = settings.replace(unlabeled=Corpus(texts=self._more))
        own = *key, graph
        if own not in shared:
            shared[own] = make_features(sample, settings)
        return sample, settings, shared[own]


def with_graphs(features: Features) -> Features:
    """The features with graphs of their documents, each made once."""
    made = Cache()

    def graph_of(builder: GraphBuilder, groups: Groups | None) -> Graph:
        if groups is not None:  # these are of the documents that are fitted
            return calls.build_graph(builder, features.tokens, groups)
        return made.get(builder, lambda: calls.build_graph(builder, features.tokens))

    return replace(features, graphs=graph_of)


def measure_sample(
    source: SampleFeatures,
    settings: TrainingSettings,
    place: tuple[str, str, int, int],
    shared: dict[Any, Features],
) -> CurveCell:
    """Train on a sample, and measure on the test documents.

    place: names of benchmark and candidate, size and draw.
    """
    start = time.perf_counter()
    benchmark, name, size, number = place
    rows = source.pool.orders[number][:size]
    sample, settings, features = source.training(settings, rows, shared)
    model = train_corpus(sample, settings, None, features, partial=False)
    seconds = time.perf_counter() - start
    test = source.pool.checked.test
    scores = model.decision_function(test.texts)
    result = model.task.evaluate(test, scores, model.thresholds, model.calibration)
    assert isinstance(result, Evaluation)
    return CurveCell(
        benchmark=benchmark,
        candidate=name,
        size=size,
        draw=number,
        accuracy=result.accuracy,
        macro_f1=result.macro_f1,
        log_loss=result.log_loss,
        features=model.n_features,
        seconds=round(seconds, 3),
        params={} if model.summary is None else dict(model.summary.reg.params),
    )
