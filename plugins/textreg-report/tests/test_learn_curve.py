"""learn-curve: nested samples, the same for all; what is measured, refused and shown."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

import textreg
import textreg_report
from textreg import Corpus
from textreg.builtin.graph_builders import Cooccurrence
from textreg.demo import write_demo
from textreg.errors import DataError, DataWarning, RecordError, TextregError, UsageError
from textreg.records import Graph, Tokens
from textreg.training.prepare import make_features
from textreg_report import Benchmark, learn_curve
from textreg_report import learning_curve as curves
from textreg_report.charts import short_names
from textreg_report.comparison import Measurement
from textreg_report.learning_curve import LearningCurve, check_samples, check_sizes, draw_order
from textreg_report.significance import Interval

DRAWS = ("stratified", "equal", "random")
RIDGE = {"reg": "ridge", "reg_l2": 1.0}
LASSO = {"reg": "lasso", "reg_l1": 0.2}
NETWORK = {"reg": "network", "reg_alpha": 1.0, "reg_beta": 0.1, "graph_min_df": 2}
BOTH = {"ridge": RIDGE, "network": NETWORK}
OPTIONS: dict[str, Any] = {"ngrams": 1, "tokenizer": "words"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("curve") / "demo"
    write_demo(str(folder))
    return folder


@pytest.fixture(scope="module")
def benchmark(demo: Path) -> Benchmark:
    whole = Benchmark.read(str(demo))
    assert isinstance(whole.train, Corpus)
    return Benchmark("demo", whole.train.select(np.arange(120)), whole.test)


# Samples


@draws(30)
@given(
    counts=st.lists(st.integers(1, 30), min_size=2, max_size=5),
    draw=st.sampled_from(DRAWS),
    seed=st.integers(0, 1000),
)
def test_an_order_has_every_document_once(counts: list[int], draw: str, seed: int) -> None:
    codes = np.repeat(np.arange(len(counts)), counts)
    order = draw_order(codes, draw, (seed, 0))
    assert sorted(order.tolist()) == list(range(len(codes)))
    assert order.tolist() == draw_order(codes, draw, (seed, 0)).tolist()
    drawn = np.zeros(len(counts))
    for n, row in enumerate(order.tolist(), 1):
        drawn[codes[row]] += 1
        if draw == "stratified":
            assert (np.abs(drawn - n * np.array(counts) / len(codes)) < 2).all()
        if draw == "equal" and n <= min(counts) * len(counts):
            assert drawn.max() - drawn.min() <= 1


def test_draws_differ() -> None:
    codes = np.arange(60) % 3
    for draw in DRAWS:
        orders = {tuple(draw_order(codes, draw, (0, number)).tolist()) for number in range(5)}
        assert len(orders) == 5


def test_sizes_of_nothing_given_are_halves() -> None:
    def sizes_of(sizes: Any, codes: Any, k: int = 2, draw: str = "stratified") -> tuple[int, ...]:
        orders = [draw_order(codes, draw, (0, number)) for number in range(5)]
        return check_sizes(sizes, codes, k, orders, draw)

    codes = np.arange(400) % 2
    assert sizes_of(None, codes) == (25, 50, 100, 200, 400)
    assert sizes_of(None, codes[:16]) == (8, 16)  # two of each label at least
    assert sizes_of(None, codes[:5]) == (5,)
    assert sizes_of([40, 10], codes) == (10, 40)
    assert sizes_of(None, codes[:97] * 0, 1) == (6, 12, 24, 48, 97)
    assert sizes_of([400], codes) == (400,)
    for several in (np.array([40, 10]), [40.0, np.int64(10)], range(40, 0, -30)):
        chosen = sizes_of(several, codes)
        assert json.dumps(chosen) == "[10, 40]"
    with pytest.raises(RecordError, match=r"sizes\[0\] is 10\.5, which is no int64"):
        sizes_of([10.5], codes)
    for sizes in ([], [0, 1], [1, 1]):
        with pytest.raises(UsageError, match="must be different numbers of documents, 1 or more"):
            sizes_of(sizes, codes)
    rare = np.repeat([0, 1, 2], [150, 140, 5])
    assert sizes_of(None, rare, 3) == (147, 295)  # of 73 documents one or two have the last label
    assert sizes_of(None, rare, 3, "equal") == (15,)
    assert sizes_of(None, rare[:-4], 3) == (291,)  # which check_samples refuses


def test_orders_of_a_seed() -> None:
    """They are part of what a seed promises: the same samples each time."""
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 0])
    assert {draw: draw_order(codes, draw, (5, 1)).tolist() for draw in DRAWS} == {
        "stratified": [5, 2, 6, 4, 9, 0, 11, 8, 3, 1, 10, 7],
        "equal": [9, 5, 6, 8, 10, 2, 7, 4, 0, 11, 3, 1],
        "random": [6, 9, 5, 8, 2, 4, 7, 0, 11, 10, 3, 1],
    }


@pytest.mark.parametrize(
    ("sizes", "draw", "words"),
    [
        (
            (6, 9),
            "equal",
            "the label 'c' has 2 training documents, and 9 documents, as many of each label, need "
            "3 of it: name sizes up to 6, or draw them in their shares (--draw stratified).",
        ),
        (
            (8, 12),
            "random",
            "a sample of 8 documents has 0 with the label 'c', and 2 are needed of each (c): name "
            "larger sizes, draw as many of each label (--draw equal), or leave rare labels out "
            "(--min-label).",
        ),
        ((6,), "equal", "a sample of 6 documents has 0 with the label 'b', and 2 are needed of"),
        ((11,), "random", ""),
    ],
)
def test_samples_need_documents_of_every_label(
    sizes: tuple[int, ...], draw: str, words: str
) -> None:
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 0])
    with pytest.raises(DataError) if words else nullcontext() as error:
        check_samples(np.arange(12), sizes, codes, list("abc"), draw)
    assert not words or str(error.value).startswith(words)


# What is measured


@pytest.fixture(scope="module")
def found(benchmark: Benchmark) -> dict[str, LearningCurve]:
    return {
        by: learn_curve(BOTH, benchmark, sizes=[40, 20], draws=2, by=by, **OPTIONS)
        for by in ("documents", "labels")
    }


def sample(benchmark: Benchmark, size: int, draw: int) -> tuple[Corpus, Corpus]:
    """The documents of a sample, and the others."""
    assert isinstance(benchmark.train, Corpus)
    labels = benchmark.train.labels or ()
    codes = np.array([label == "pos" for label in labels], dtype=np.int64)
    order = draw_order(codes, "stratified", (0, draw))
    return benchmark.train.select(order[:size]), benchmark.train.select(np.sort(order[size:]))


@pytest.mark.parametrize("by", ["documents", "labels"])
def test_each_is_what_its_own_training_gives(
    benchmark: Benchmark, found: dict[str, LearningCurve], by: str
) -> None:
    assert isinstance(benchmark.test, Corpus)
    drawn, rest = sample(benchmark, 40, 1)
    more = {"unlabeled": rest.texts} if by == "labels" else {}
    model = textreg.train(drawn.texts, drawn.labels or (), **NETWORK, **OPTIONS, **more)
    answers = model.predict(benchmark.test.texts)
    expected = textreg.evaluate(benchmark.test.labels or (), answers, model.labels)
    curve = found[by]
    assert curve.values("demo", "network", 40)[1] == expected.accuracy
    (cell,) = [it for it in curve.cells if (it.candidate, it.size, it.draw) == ("network", 40, 1)]
    assert (cell.macro_f1, cell.features) == (expected.macro_f1, model.n_features)
    assert cell.params == {"alpha": 1.0, "beta": 0.1}


def test_unlabeled_documents_are_those_of_each_sample_s_graph(benchmark: Benchmark) -> None:
    assert isinstance(benchmark.test, Corpus)
    drawn, rest = sample(benchmark, 40, 0)
    more = {"demo": rest}
    curve = learn_curve(BOTH, benchmark, sizes=[40], draws=1, unlabeled=more, **OPTIONS)
    model = textreg.train(drawn.texts, drawn.labels or (), unlabeled=rest, **NETWORK, **OPTIONS)
    (cell,) = [it for it in curve.cells if it.candidate == "network"]
    right = np.array(model.predict(benchmark.test.texts)) == np.array(benchmark.test.labels)
    assert (cell.features, cell.accuracy) == (model.n_features, right.mean())


def test_labels_leave_all_words_known(found: dict[str, LearningCurve]) -> None:
    features = {
        by: {(it.candidate, it.size, it.draw): it.features for it in curve.cells}
        for by, curve in found.items()
    }
    for key, n_features in features["labels"].items():
        if key[0] == "network":
            assert n_features > features["documents"][key]


def test_all_have_the_same_nested_samples(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, int, int, set[str]]] = []

    def noted(pool: Any, how: Any, name: str, draw: int, size: int) -> Measurement:
        texts = pool.training(how, pool.orders[draw][:size])[0].texts
        seen.append((name, size, draw, set(texts)))
        return cell_of(pool.benchmark.name, name, size, draw, 0.5)

    monkeypatch.setattr(curves.Pool, "measure", noted)
    learn_curve([RIDGE, LASSO], benchmark, sizes=[20, 40], draws=2, **OPTIONS)
    by_place = {(size, draw): texts for _, size, draw, texts in seen}
    assert Counter(name for name, *_ in seen) == {"ridge": 4, "lasso": 4}
    assert all(texts == by_place[size, draw] for _, size, draw, texts in seen)
    for draw in (0, 1):
        assert by_place[20, draw] < by_place[40, draw]
    assert by_place[20, 0] != by_place[20, 1]


def test_features_are_made_once_where_all_documents_are_known(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def counted(corpus: Corpus, how: Any) -> Any:
        made.append(len(corpus))
        return make_features(corpus, how)

    monkeypatch.setattr("textreg_report.learning_curve.make_features", counted)
    learn_curve([RIDGE, LASSO], benchmark, sizes=[20, 40], draws=1, by="labels", **OPTIONS)
    assert made == [120]
    learn_curve([RIDGE, LASSO], benchmark, sizes=[20, 40], draws=1, **OPTIONS)
    assert made == [120, 20, 40]


def test_graphs_are_made_once_where_all_documents_are_known(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, int]] = []
    build = Cooccurrence.build

    def counted(builder: Cooccurrence, tokens: Tokens) -> Graph:
        made.append((builder.neighbors, tokens.n_documents))
        return build(builder, tokens)

    monkeypatch.setattr(Cooccurrence, "build", counted)
    searched = {**NETWORK, "search": "grid", "search_space": {"reg_beta": [0.1, 1.0]}}
    del searched["reg_beta"]
    several = {"searched": searched, "given": {**NETWORK, "graph_neighbors": 5}}
    options: dict[str, Any] = {**OPTIONS, "sizes": [20, 40], "draws": 1, "cv": 2}
    learn_curve(several, benchmark, by="labels", **options)
    assert sorted(made) == [(5, 120), (25, 120)]
    made.clear()
    learn_curve({"searched": searched}, benchmark, by="documents", **options)
    assert sorted(n for _, n in made) == [20, 40]  # of all parts together, and of the sample


def test_a_graph_of_groups_is_of_the_sample(benchmark: Benchmark) -> None:
    pytest.importorskip("textreg_topics")
    ties = {"reg": "network", "reg_alpha": 1.0, "reg_beta": 0.1, "graph": "classes"}
    classes = {"classes": {**ties, "groups": "lsi", "groups_topics": 3}}
    curve = learn_curve(classes, benchmark, sizes=[40], draws=1, by="labels", **OPTIONS)
    assert curve.values("demo", "classes", 40)[0] > 0.5


def test_the_numbers_do_not_depend_on_jobs(benchmark: Benchmark) -> None:
    options = {**OPTIONS, "sizes": [30], "draws": 1, "cv": 3}
    one, two = (learn_curve(["lasso"], benchmark, jobs=jobs, **options) for jobs in (1, 2))
    assert [{**it.to_dict(), "seconds": 0} for it in one.cells] == [
        {**it.to_dict(), "seconds": 0} for it in two.cells
    ]


# The result


def cell_of(benchmark: str, name: str, size: int, draw: int, value: float) -> Measurement:
    return Measurement(
        candidate=name,
        benchmark=benchmark,
        documents=1,
        accuracy=value,
        accuracy_interval=Interval(0.0, 1.0),
        macro_f1=value,
        features=1,
        seconds=0.0,
        answers=np.zeros(1, dtype=np.int64),
        size=size,
        draw=draw,
    )


def curve_of(accuracies: dict[str, list[float]]) -> LearningCurve:
    cells = [
        cell_of("b", name, 10, draw, value)
        for name, values in accuracies.items()
        for draw, value in enumerate(values)
    ]
    return LearningCurve(
        benchmarks=("b",),
        candidates=tuple(accuracies),
        sizes={"b": (10,)},
        draws=len(cells) // len(accuracies),
        by="documents",
        draw="equal",
        baseline="x",
        measure="accuracy",
        seed=0,
        cells=tuple(cells),
    )


def test_intervals_are_those_of_a_t_test() -> None:
    from scipy import stats

    x, y = [0.5, 0.6, 0.55, 0.7], [0.6, 0.65, 0.7, 0.72]
    curve = curve_of({"x": x, "y": y})
    for point, values in (
        (curve.point("b", "x", 10), np.array(x)),
        (curve.difference("b", "y", 10), np.subtract(y, x)),
    ):
        assert point.mean == pytest.approx(values.mean())
        low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
        assert point.interval == pytest.approx((low, high))
    alone = curve_of({"x": [0.5], "y": [0.6]})
    assert alone.point("b", "x", 10) == (0.5, None)
    assert "one draw" in alone.notes()[0]
    assert alone.tables()[1][1][1] == ["y", "+10.0"]


def test_a_curve_as_a_whole() -> None:
    values = {
        ("b", "x", 10): (0.5, 0.625),
        ("b", "x", 20): (0.625, 0.75),
        ("b", "y", 10): (0.5, 0.75),
        ("b", "y", 20): (0.75, 0.75),
        ("c", "x", 1000): (0.5, 0.5),
        ("c", "y", 1000): (0.25, 0.75),
    }
    cells = [
        replace(cell_of(*key, draw, value), log_loss=2.0 - value)
        for key, both in values.items()
        for draw, value in enumerate(both)
    ]
    curve = replace(
        curve_of({"x": [0.5, 0.5], "y": [0.5, 0.5]}),
        benchmarks=("b", "c"),
        sizes={"b": (10, 20), "c": (1000,)},
        cells=tuple(cells),
    )
    assert curve.to_markdown() == CURVE
    loss = replace(curve, measure="log-loss")
    tables = loss.tables()
    assert tables[1] == (
        "b: difference from x",
        [
            ["training documents", "10", "20"],
            ["y", "-0.062 (-0.857 to 0.732)", "-0.062 (-0.857 to 0.732)"],
        ],
    )
    assert tables[2][1][2] == ["y", "1.500 (0.000 to 4.677)"]
    assert loss.headline() == f"log-loss of x, y; {NOTE}"
    rows = list(csv.reader(io.StringIO(curve.to_csv())))
    assert rows[0] == [
        "benchmark", "candidate", "size", "draws", "measure", "mean", "low", "high",
        "difference", "difference_low", "difference_high",
    ]  # fmt: skip
    assert rows[1][:6] == ["b", "x", "10", "2", "accuracy", "0.5625"]
    assert [[it and f"{float(it):.3f}" for it in row[6:]] for row in rows[1:]] == [
        ["0.000", "1.000", "", "", ""],
        ["0.000", "1.000", "", "", ""],
        ["0.000", "1.000", "0.062", "-0.732", "0.857"],
        ["0.750", "0.750", "0.062", "-0.732", "0.857"],
        ["0.500", "0.500", "", "", ""],
        ["0.000", "1.000", "0.000", "-1.000", "1.000"],
    ]
    points = curve.to_dict()["points"]
    assert points[0]["difference"] is None
    assert points[4] == {
        "benchmark": "c", "candidate": "x", "size": 1000, "mean": 0.5, "interval": (0.5, 0.5),
        "difference": None,
    }  # fmt: skip
    assert points[5]["difference"] == {"mean": 0.0, "interval": (-1.0, 1.0)}


NOTE = (
    "mean of 2 equal draws, with 95 % t intervals over the draws; all are measured on the same "
    "test documents, whose variance they do not cover"
)
CURVE = f"""**b: accuracy**

| training documents | 10 | 20 |
| --- | ---: | ---: |
| x | 0.562 (0.000 to 1.000) | 0.688 (0.000 to 1.000) |
| y | 0.625 (0.000 to 1.000) | 0.750 (0.750 to 0.750) |

**b: points over x**

| training documents | 10 | 20 |
| --- | ---: | ---: |
| y | +6.2 (-73.2 to 85.7) | +6.2 (-73.2 to 85.7) |

**c: accuracy**

| training documents | 1,000 |
| --- | ---: |
| x | 0.500 (0.500 to 0.500) |
| y | 0.500 (0.000 to 1.000) |

**c: points over x**

| training documents | 1,000 |
| --- | ---: |
| y | +0.0 (-100.0 to 100.0) |

- {NOTE}
"""


def test_forms(found: dict[str, LearningCurve], tmp_path: Path) -> None:
    curve = found["labels"]
    rows = list(csv.DictReader(io.StringIO(curve.to_csv())))
    assert [(row["candidate"], row["size"]) for row in rows] == [
        ("ridge", "20"),
        ("ridge", "40"),
        ("network", "20"),
        ("network", "40"),
    ]
    point = curve.point("demo", "network", 40)
    assert float(rows[3]["mean"]) == point.mean
    assert rows[0]["difference"] == ""
    plain = json.loads(json.dumps(curve.to_dict()))
    assert plain["points"][3]["mean"] == point.mean
    assert len(plain["cells"]) == 8
    assert all(0.0 <= cell["seconds"] < 600.0 for cell in plain["cells"])
    title, (head, *body) = curve.tables()[0]
    assert (title, head) == ("demo: accuracy", ["labeled documents", "20", "40"])
    assert [row[0] for row in body] == ["ridge", "network"]
    assert "| network |" in curve.to_markdown()
    curve.plot(tmp_path / "c.svg")
    picture = (tmp_path / "c.svg").read_text()
    assert all(f">{text}</text>" in picture for text in ("ridge", "network", "labeled documents"))
    assert all(f">{size}</text>" in picture for size in (20, 40))
    with pytest.raises(KeyError):
        curve.values("demo", "ridge", 30)


def test_a_measure_that_a_candidate_lacks(benchmark: Benchmark) -> None:
    hinge = {"svm": {**RIDGE, "loss": "squared-hinge"}}
    curve = learn_curve(hinge, benchmark, sizes=[20], draws=1, measure="log-loss", **OPTIONS)
    with pytest.raises(UsageError, match="svm gives no probabilities"):
        curve.to_csv()


# Refusals


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"sizes": [20, 500]}, DataError, "demo: a sample of 500 was asked for, and there are 120"),
        ({"sizes": [20, 20]}, UsageError, "different numbers of documents"),
        ({"sizes": []}, UsageError, "different numbers of documents"),
        ({"sizes": [2]}, DataError, "a sample of 2 documents has 1 with the label"),
        ({"sizes": [118], "draw": "equal"}, DataError, "need 59 of it: name sizes up to"),
        ({"by": "words"}, UsageError, "by must be one of documents, labels, not 'words'"),
        ({"draw": "equals"}, UsageError, "draw must be one of stratified, equal, random"),
        ({"measure": "r2"}, UsageError, "measure must be one of accuracy"),
        ({"draws": 0}, UsageError, "draws must be at least 1"),
        ({"baseline": "rigde"}, UsageError, "not a candidate. Did you mean 'ridge'"),
        ({"unlabeled": {"films": Corpus(["a"])}}, UsageError, "no benchmark 'films'"),
        ({"unknown": "pos"}, UsageError, "takes no unknown"),
    ],
)
def test_wrong_options_are_found_before_anything_is_trained(
    benchmark: Benchmark,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    error: type[TextregError],
    words: str,
) -> None:
    monkeypatch.delattr(curves.Pool, "measure")
    corpus = benchmark.train
    assert isinstance(corpus, Corpus)
    if options.get("draw") == "equal":  # with one label of fewer documents than half
        rows = [row for row, label in enumerate(corpus.labels or ()) if label == "pos"][2:]
        others = [row for row, label in enumerate(corpus.labels or ()) if label == "neg"]
        many = np.array([*rows, *others, *others[:20]])
        benchmark = Benchmark("demo", corpus.select(many), benchmark.test)
    with pytest.raises(error) as caught:
        learn_curve(["ridge"], benchmark, **options)
    assert words in str(caught.value)


def test_wrong_documents(benchmark: Benchmark) -> None:
    with pytest.raises(UsageError, match="takes no dev documents"):
        learn_curve(["ridge"], Benchmark("b", benchmark.train, benchmark.test, benchmark.test))
    several = Corpus(["a", "b"] * 20, [["x"], ["x", "y"]] * 20)
    with pytest.raises(DataError, match="several labels each"):
        learn_curve(["ridge"], Benchmark("b", several))
    with pytest.raises(DataError, match="no labeled documents to measure on"):
        learn_curve(["ridge"], Benchmark("b", benchmark.train, Corpus(["a"])))
    model = textreg.train(["a", "b"] * 4, ["x", "y"] * 4, **RIDGE)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is trained already"):
        learn_curve([model], benchmark)


# Commands


def test_commands(cli: Cli, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["learn-curve", str(demo), "--sizes", "20,40", "--draws", "2", "--ngrams", "1"]
    line += ["--reg", "ridge reg-l2=1", "--reg", "lasso reg-l1=0.2"]
    shown = cli(*line, "--plot", "c.svg")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == "demo: accuracy"
    assert lines[1].split() == ["training", "documents", "20", "40"]
    assert "demo: points over ridge reg-l2=1" in lines
    assert "<svg" in Path("c.svg").read_text()
    again = cli(*line, "--json")
    points = json.loads(again.out)["points"]
    assert f"{points[0]['mean']:.3f} (" in lines[2]
    with monkeypatch.context() as patch:  # what takes long is not lost with the picture

        def full(*_: object) -> None:
            raise DataError("No space left on device")

        patch.setattr(LearningCurve, "plot", full)
        kept = cli(*line, "--plot", "c.svg", "-o", "kept.csv", "--format", "csv")
    assert kept.code == 1
    assert len(Path("kept.csv").read_text().splitlines()) == 5
    labels = cli(*line, "--by", "labels", "--draw", "equal", "--format", "csv", "-o", "c.csv")
    assert (labels.code, labels.out) == (0, "")
    assert (
        Path("c.csv").read_text().splitlines()[1].startswith("demo,ridge reg-l2=1,20,2,accuracy,")
    )


def test_candidates_may_be_named(
    cli: Cli, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["--sizes", "20", "--draws", "1", "--ngrams", "1", "--reg", "weak: ridge reg-l2=1"]
    line += ["--reg", "strong: ridge reg-l2=100", "--reg", "ridge reg-l2=3"]
    run = cli("learn-curve", str(demo), *line, "--baseline", "weak", "--format", "csv")
    assert [row["candidate"] for row in csv.DictReader(io.StringIO(run.out))] == [
        "weak",
        "strong",
        "ridge reg-l2=3",
    ]
    again = cli("compare", str(demo), *line[6:8], "--reg", "weak: lasso reg-l1=0.2")
    assert "--reg names 'weak' twice" in again.err


def test_long_names_that_begin_alike_show_their_ends() -> None:
    long = "network graph=classes graph-lists=good.txt,bad.txt"
    shown = short_names([long, f"{long} graph-opposite=good:bad", "ridge"], 30)
    assert shown["ridge"] == "ridge"
    assert shown[long].endswith("good.txt,bad.txt")
    assert shown[f"{long} graph-opposite=good:bad"].endswith("graph-opposite=good:bad")
    assert all(len(short) <= 30 for short in shown.values())


def test_html_is_told_once() -> None:
    texts = [f"a <br /> {word} film" for word in ["good", "bad"] * 20]
    films = Benchmark("films", train=(texts, ["pos", "neg"] * 20))
    for run in (
        lambda **more: learn_curve([RIDGE, LASSO], films, sizes=[10, 20], draws=2, **more),
        lambda **more: textreg_report.compare([RIDGE, LASSO], films, **more),
    ):
        with pytest.warns(DataWarning, match="hold HTML") as told:
            run(**OPTIONS)
        assert len(told) == 1
        run(**OPTIONS, strip_html=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sizes", "20,many", "--reg", "ridge"], "'20,many' is not a list of numbers"),
        (["--reg", "ridge", "--test", "a", "--test", "b"], "1 corpora but 2 times --test"),
        (["--reg", "ridge", "--plot", "c.pdf"], "such an ending"),
        (["--reg", "ridge", "--sizes", "9999"], "there are"),
    ],
)
def test_wrong_commands(cli: Cli, demo: Path, arguments: list[str], words: str) -> None:
    run = cli("learn-curve", str(demo), *arguments)
    assert run.code in (1, 2)
    assert words in " ".join(run.err.split())
