"""compare: the same documents for all, what is said of them, and refusals before long work."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st

import textreg
from textreg import Corpus, Lasso
from textreg.demo import write_demo
from textreg.errors import DataError, DataWarning, TextregError, UsageError
from textreg_report import Benchmark
from textreg_report import benchmark as comparing
from textreg_report.benchmark import Checked, _contrasts, compare, measure, parse_candidate
from textreg_report.commands import candidates_of
from textreg_report.comparison import Comparison, Contrast, Measurement, adjusted
from textreg_report.page import Estimate
from textreg_report.significance import Interval, p_text, sign_test

QUICK: dict[str, Any] = {"tokenizer": "words", "ngrams": 1, "cv": 2}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare") / "demo"
    write_demo(str(folder), train=120, test=100)
    return folder


@pytest.fixture(scope="module")
def found(demo: Path) -> Comparison:
    return compare(["lasso", "elastic", "none"], Benchmark.read(str(demo)), **QUICK)


def test_each_is_what_its_own_training_gives(demo: Path, found: Comparison) -> None:
    benchmark = Benchmark.read(str(demo))
    assert isinstance(benchmark.train, Corpus)
    assert isinstance(benchmark.test, Corpus)
    assert (found.benchmarks, found.candidates) == (("demo",), ("lasso", "elastic", "none"))
    for name in ("lasso", "none"):
        train = benchmark.train
        model = textreg.train(train.texts, train.labels or (), reg=name, **QUICK)
        answers = model.predict(benchmark.test.texts)
        expected = textreg.evaluate(benchmark.test.labels or (), answers, model.labels)  # type: ignore
        cell = found.cell("demo", name)
        assert (cell.accuracy, cell.macro_f1) == (expected.accuracy, expected.macro_f1)
        assert (cell.features, cell.of) == (model.n_features, model.summary.features)
        assert cell.gap == model.summary.gap


def test_features_are_not_those_of_a_candidate_with_unlabeled_documents(demo: Path) -> None:
    benchmark = Benchmark.read(str(demo))
    assert isinstance(benchmark.train, Corpus)
    network = {"reg": "network", "graph": "cooccurrence", "reg_alpha": 1.0, "reg_beta": 0.1}
    unlabeled = Corpus(["a word of its own", *benchmark.train.texts])
    candidates = {
        "more": {**network, "unlabeled": unlabeled},
        "network": network,
        "vectors": {"reg": "ridge", "reg_l2": 0.1, "unlabeled": unlabeled},
    }
    for order in (list(candidates), list(candidates)[::-1]):
        chosen = {name: candidates[name] for name in order}
        found = compare(chosen, benchmark, weighting="unit-idf", tokenizer="words")
        of = {name: found.cell("demo", name).of for name in order}
        assert of["more"] > of["network"] == of["vectors"]


def test_features_are_made_once_where_they_agree(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    make = comparing.make_features

    def count(corpus: Corpus, settings: Any) -> Any:
        calls.append(settings.vectorizer.weighting)
        return make(corpus, settings)

    monkeypatch.setattr(comparing, "make_features", count)
    candidates = ["lasso reg_l1=1", "ridge reg_l2=1", "ridge reg-l2=1 weighting=count", "none"]
    names = compare(candidates, Benchmark.read(str(demo)), ngrams=1).candidates
    assert names == tuple(candidates)
    assert calls == ["tfidf", "count"]


def test_models_are_measured_on_all_of_a_corpus(demo: Path, found: Comparison) -> None:
    benchmark = Benchmark.read(str(demo))
    assert isinstance(benchmark.train, Corpus)
    assert isinstance(benchmark.test, Corpus)
    models = {
        name: textreg.train(benchmark.train.texts, benchmark.train.labels or (), reg=name, **QUICK)
        for name in ("lasso", "elastic")
    }
    again = compare(models, Benchmark("demo", test=benchmark.test))
    for name in models:
        mine, before = again.cell("demo", name), found.cell("demo", name)
        assert (mine.accuracy, mine.features, mine.gap) == (
            before.accuracy,
            before.features,
            before.gap,
        )
    one, other = again.contrast("lasso"), found.contrast("lasso")
    # three candidates there: two comparisons
    assert (one.comparisons, other.comparisons) == (1, 2)
    same = replace(other, benchmark="demo", p_adjusted=one.p, comparisons=1)
    assert one == same
    # the time of reading is none of the training's
    models["lasso"].seconds = {"read": 5.0, "search": 2.0, "fit": 1.0}
    assert (
        compare(models, Benchmark("demo", test=benchmark.test)).cell("demo", "lasso").seconds == 3.0
    )
    # a single corpus is all to measure on
    assert compare(models, Benchmark("t", train=benchmark.test)).cell(
        "t", "lasso"
    ).documents == len(benchmark.test)


def test_a_part_is_held_out_where_there_is_no_test(demo: Path) -> None:
    corpus = Benchmark.read(str(demo)).train
    assert isinstance(corpus, Corpus)
    one = compare(["lasso reg_l1=1", "none"], Benchmark("t", corpus), seed=3)
    assert one.cell("t", "none").documents == pytest.approx(len(corpus) / 5, abs=2)
    two = compare(["lasso reg_l1=1", "none"], Benchmark("t", corpus), seed=3, jobs=2)
    keys = ("accuracy", "macro_f1", "features", "gap")
    for name in one.candidates:
        assert [getattr(one.cell("t", name), key) for key in keys] == [
            getattr(two.cell("t", name), key) for key in keys
        ]
    assert one.contrasts == two.contrasts


def test_groups_are_not_torn_apart(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = Benchmark.read(str(demo)).train
    assert isinstance(corpus, Corpus)
    seen = []
    train = comparing.train_corpus

    def watch(part: Corpus, *rest: Any, **how: Any) -> Any:
        seen.append(part)
        return train(part, *rest, **how)

    monkeypatch.setattr(comparing, "train_corpus", watch)
    group_of = [str(row // 20) for row in range(len(corpus))]
    grouped = replace(corpus, group_of=group_of)
    compare(["none", "lasso reg_l1=1"], Benchmark("t", grouped), ngrams=1, holdout=0.2)
    fitted = set(seen[0].group_of)
    assert len(seen[0]) == 20 * len(fitted) < len(corpus)


def cell(candidate: str, benchmark: str, right: list[int], features: int) -> Measurement:
    accuracy = float(np.mean(right))
    return Measurement(
        candidate=candidate,
        benchmark=benchmark,
        documents=len(right),
        accuracy=accuracy,
        accuracy_interval=Interval(0.0, 1.0),
        macro_f1=accuracy,
        features=features,
        seconds=1.0,
        answers=np.array(right),
        of=1000,
        converged=True,
    )


def contrast(points: float, won: int, lost: int, benchmark: str | None = "t") -> Contrast:
    interval = Interval(points / 100 - 0.01, points / 100 + 0.01)
    p = sign_test(won, lost)
    return Contrast("new", "old", benchmark, points / 100, interval, 0.0, interval, won, lost, p, p)


@pytest.mark.parametrize(
    ("figures", "features", "words"),
    [
        (
            (1.8, 15, 3),
            900,
            "new is better than old: 15 documents won, 3 lost, p 0.0075; +1.8 points (95 % CI 0.8 "
            "to 2.8)",
        ),
        (
            (-2.0, 1_000, 1_200),
            10,
            "new is worse than old: 1,000 documents won, 1,200 lost, p 2.2e-05; -2.0 points (95 % "
            "CI -3.0 to -1.0): use old",
        ),
        (  # the interval alone would say worse
            (-1.2, 7, 17),
            900,
            "new and old are level: 7 documents won, 17 lost, p 0.064; -1.2 points (95 % CI -2.2 "
            "to -0.2): use old",
        ),
        (
            (0.1, 3, 3),
            500,
            "new and old are level: 3 documents won, 3 lost, p 1; +0.1 points (95 % CI -0.9 to "
            "1.1); new for the smaller model (500 features, not 1,000)",
        ),
        (  # as it may be of the mean of corpora of different sizes
            (-0.3, 15, 3),
            900,
            "new is better than old: 15 documents won, 3 lost, p 0.0075; -0.3 points (95 % CI -1.3 "
            "to 0.7)",
        ),
    ],
)
def test_verdicts(figures: tuple[float, int, int], features: int, words: str) -> None:
    cells = cell("old", "t", [1, 0], 1000), cell("new", "t", [1, 1], features)
    one = Comparison(("t",), ("old", "new"), "old", cells, (contrast(*figures),), 0)
    assert one.verdicts() == [words]
    assert one.adjustments() == []
    assert one.tables()[0][1][0][-1] == "p"


def shown_p(text: str) -> float:
    return float(re.split(r"p (?=[\d.e-]+;)", text)[1].partition(";")[0])


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=6))
def test_verdicts_follow_from_the_p_that_is_shown(counts: list[tuple[int, int]]) -> None:
    names = [f"new {number}" for number in range(len(counts))]
    cells = [cell(name, "t", [1, 0], 1000) for name in ("old", *names)]
    contrasts = [
        replace(contrast(won - lost, won, lost), candidate=name)
        for name, (won, lost) in zip(names, counts, strict=True)
    ]
    one = Comparison(("t",), ("old", *names), "old", tuple(cells), adjusted(contrasts), 0)
    rows = one.tables()[0][1][2:]
    shown = one.to_dict()["contrasts"]
    for (won, lost), words, row, values in zip(counts, one.verdicts(), rows, shown, strict=True):
        verdict = "level"
        if shown_p(words) <= 0.05:
            verdict = "better" if won > lost else "worse"
        assert (" are level: " if verdict == "level" else f" is {verdict} than old: ") in words
        assert values["verdict"] == verdict
        assert values["p"] <= values["p_adjusted"]
        assert (values["p_adjusted"] <= 0.05) == (verdict != "level")
        assert float(row[-1]) == shown_p(words)
    assert ("adjusted p" in one.verdicts()[0]) == (len(counts) > 1)
    assert len(one.adjustments()) == (len(counts) > 1)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.057, "0.057"),
        (0.0496, "0.05"),
        (0.05, "0.05"),
        (0.0504, "0.0504"),
        (0.05000004, "0.05000004"),
        (1.0, "1"),
        (0.00123, "0.0012"),
    ],
)
def test_a_p_shows_its_side(p: float, text: str) -> None:
    assert p_text(p) == text


def test_comparisons_on_single_corpora_and_over_all_are_two_families() -> None:
    given = [
        replace(
            contrast(1.0, won, lost, benchmark),
            candidate=name,
            benchmarks_p=benchmarks_p,
            benchmarks_won=2,
            benchmarks_lost=int(name == "b"),
        )
        for name, benchmark, won, lost, benchmarks_p in [
            ("a", "one", 15, 3, 1.0),
            ("a", "two", 9, 1, 1.0),
            ("a", None, 24, 4, 0.02),
            ("b", "one", 5, 5, 1.0),
            ("b", "two", 3, 1, 1.0),
            ("b", None, 8, 6, 0.5),
        ]
    ]
    found = adjusted(given)
    of = {(one.candidate, one.benchmark): one for one in found}
    assert [one.comparisons for one in found] == [4, 4, 2, 4, 4, 2]
    assert of["a", "one"].p_adjusted == pytest.approx(4 * sign_test(15, 3))
    assert of["a", "two"].p_adjusted == pytest.approx(3 * sign_test(9, 1))
    assert (of["a", "two"].p < 0.05, of["a", "two"].verdict) == (True, "level")
    assert of["a", None].p_adjusted == pytest.approx(2 * sign_test(24, 4))
    assert of["b", None].p_adjusted == sign_test(8, 6)
    assert of["a", None].benchmarks_p_adjusted == pytest.approx(0.04)
    cells = [
        replace(cell(name, place, [1, 0, k], 9 * k), gap=gap, seconds=seconds)
        for place, k, gap, seconds in (("one", 0, 3e-5, 2.0), ("two", 1, None, None))
        for name in ("old", "a", "b")
    ]
    one = Comparison(("one", "two"), ("old", "a", "b"), "old", tuple(cells), found, 0)
    assert one.adjustments() == [
        "p of single corpora is adjusted for all 4 comparisons on them by Holm's method",
        "p over all corpora is adjusted for 2 comparisons, too",
    ]
    assert one.to_markdown() == TWO_CORPORA


TWO_CORPORA = """**one**

|  | accuracy | macro-F1 | features | share | seconds | gap | points over old | adjusted p |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| old | 0.333 | 0.333 | 0 | 0 % | 2.00 | 3e-05 |  |  |
| a | 0.333 | 0.333 | 0 | 0 % | 2.00 | 3e-05 | +1.0 (0.0 to 2.0) | 0.03 |
| b | 0.333 | 0.333 | 0 | 0 % | 2.00 | 3e-05 | +1.0 (0.0 to 2.0) | 1 |

**two**

|  | accuracy | macro-F1 | features | share | seconds | gap | points over old | adjusted p |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| old | 0.667 | 0.667 | 9 | 0.9 % | ? | none |  |  |
| a | 0.667 | 0.667 | 9 | 0.9 % | ? | none | +1.0 (0.0 to 2.0) | 0.064 |
| b | 0.667 | 0.667 | 9 | 0.9 % | ? | none | +1.0 (0.0 to 2.0) | 1 |

**mean of 2 corpora**

|  | accuracy | macro-F1 | features | share | seconds | points over old | adjusted p | \
corpora won : lost |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| old | 0.500 | 0.500 | 4 | 0.45 % | ? |  |  |  |
| a | 0.500 | 0.500 | 4 | 0.45 % | ? | +1.0 (0.0 to 2.0) | 0.00036 | 2 : 0 (p 0.04) |
| b | 0.500 | 0.500 | 4 | 0.45 % | ? | +1.0 (0.0 to 2.0) | 0.79 | 2 : 1 (p 0.5) |

- a is better than old in 2 corpora: 24 documents won, 4 lost, adjusted p 0.00036; \
+1.0 points (95 % CI 0.0 to 2.0)

- b and old are level in 2 corpora: 8 documents won, 6 lost, adjusted p 0.79; \
+1.0 points (95 % CI 0.0 to 2.0): use old

- p of single corpora is adjusted for all 4 comparisons on them by Holm's method

- p over all corpora is adjusted for 2 comparisons, too
"""


def test_a_comparison_of_several_labels_as_a_whole() -> None:
    several: dict[str, Any] = {"micro_f1": 0.25, "micro_f1_interval": Interval(0.1, 0.4)}
    cells = (
        replace(cell("old", "t", [1, 0], 1000), log_loss=0.5, **several),
        replace(cell("n|w", "t", [1, 1], 500), of=None, **several),
    )
    base = replace(contrast(1.5, 3, 3), candidate="n|w")
    own = replace(base, micro_f1=0.02, micro_f1_interval=Interval(-0.01, 0.05))
    half = replace(base, accuracy=0.005, accuracy_interval=Interval(-0.005, 0.015))
    clear = Estimate("log-loss", -0.02, -0.03, -0.01)
    gains = (
        replace(base, baseline="shadow"),
        replace(half, log_loss=clear),
        replace(half, candidate="y", log_loss=clear._replace(high=0.0)),
    )
    one = Comparison(("t",), ("old", "n|w"), "old", cells, (own,), 3, gains)
    assert one.to_markdown() == SEVERAL
    assert one.to_csv() == ROWS
    values = one.to_dict()
    assert [values[key] for key in ("benchmarks", "candidates", "baseline", "seed")] == [
        ["t"], ["old", "n|w"], "old", 3,
    ]  # fmt: skip
    assert values["means"]["n|w"] == {
        "accuracy": 1.0, "macro_f1": 1.0, "features": 500.0, "share": None, "seconds": 1.0,
        "micro_f1": 0.25,
    }  # fmt: skip
    assert values["measured"][0]["share"] == 1.0
    assert not values["measured"][0].keys() & {"answers", "losses", "size", "draw"}
    assert values["contrasts"][0]["micro_f1"] == 0.02
    assert [gain["log_loss"] for gain in values["gains"]] == [
        None, clear._asdict(), {**clear._asdict(), "high": 0.0},
    ]  # fmt: skip
    assert "micro_f1" not in values["gains"][0]


SEVERAL = """**t**

|  | subset accuracy | micro-F1 | macro-F1 | features | share | seconds | gap | \
points over old | p |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| old | 0.500 | 0.250 | 0.500 | 1,000 | 100 % | 1.00 | none |  |  |
| n\\|w | 1.000 | 0.250 | 1.000 | 500 | ? | 1.00 | none | +2.0 (-1.0 to 5.0) | 1 |

- n\\|w and old are level: 3 documents won, 3 lost, p 1; +2.0 points (95 % CI -1.0 to 5.0); \
n\\|w for the smaller model (500 features, not 1,000)

- structure gain of n\\|w: (+1.5 points (+0.5 to +2.5) over shadow; +0.5 points (-0.5 to +1.5) \
over old, log-loss -0.020 (-0.030 to -0.010))

- structure gain of y: none (+0.5 points (-0.5 to +1.5) over old, \
log-loss -0.020 (-0.030 to +0.000))
"""
ROWS = """\
candidate,benchmark,documents,accuracy,macro_f1,features,seconds,of,gap,converged,\
held_out,micro_f1,log_loss,accuracy_low,accuracy_high,difference,difference_low,difference_high,won,lost,\
p,p_adjusted,verdict
old,t,2,0.5,0.5,1000,1.0,1000,,True,,0.25,0.5,0.0,1.0,,,,,,,,
n|w,t,2,1.0,1.0,500,1.0,,,True,,0.25,,0.0,1.0,0.02,-0.01,0.05,3,3,1.0,1.0,level
"""


def test_several_benchmarks_are_pooled(demo: Path) -> None:
    corpus = Benchmark.read(str(demo)).train
    assert isinstance(corpus, Corpus)
    half = len(corpus) // 2
    benchmarks = [
        Benchmark("one", corpus.select(np.arange(half))),
        Benchmark("two", corpus.select(np.arange(half, len(corpus)))),
    ]
    both = compare(["ridge reg_l2=1", "lasso reg_l1=3"], benchmarks, ngrams=1)
    assert both.baseline == "ridge reg_l2=1"
    name = "lasso reg_l1=3"
    apart = [both.contrast(name, benchmark) for benchmark in both.benchmarks]
    pooled = both.contrast(name)
    assert pooled.accuracy == pytest.approx(np.mean([one.accuracy for one in apart]))
    assert pooled.won == sum(one.won for one in apart)
    assert pooled.lost == sum(one.lost for one in apart)
    assert pooled.p == sign_test(pooled.won, pooled.lost)
    assert pooled.benchmarks_won == sum(one.accuracy > 0 for one in apart)
    assert pooled.benchmarks_p == sign_test(pooled.benchmarks_won, pooled.benchmarks_lost)
    assert " in 2 corpora: " in both.verdicts()[0]
    assert (pooled.p_adjusted, pooled.comparisons) == (pooled.p, 1)
    assert [one.comparisons for one in apart] == [2, 2]
    assert both.adjustments() == [
        "p of single corpora is adjusted for all 2 comparisons on them by Holm's method"
    ]
    assert [title for title, _ in both.tables()] == ["one", "two", "mean of 2 corpora"]


def test_forms(found: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["candidate"] for row in rows] == list(found.candidates)
    lasso = rows[0]
    assert float(lasso["accuracy"]) == found.cell("demo", "lasso").accuracy
    assert float(lasso["difference_low"]) == found.contrast("lasso").accuracy_interval.low
    assert rows[1]["p"] == ""  # the baseline beside itself
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["measured"][0]["features"] == found.cell("demo", "lasso").features
    lasso_only = document["contrasts"][0]
    assert lasso_only["p"] == found.contrast("lasso").p
    assert lasso_only["p_adjusted"] == found.contrast("lasso").p_adjusted
    assert (lasso_only["comparisons"], document["adjustment"]) == (2, "holm")
    assert float(lasso["p_adjusted"]) == lasso_only["p_adjusted"]
    assert lasso["verdict"] == lasso_only["verdict"] == found.contrast("lasso").verdict
    table = found.to_markdown()
    assert table.count("\n| ") == 5  # head, rule, three candidates
    assert f"- {found.verdicts()[0]}" in table
    assert "- p is adjusted for 2 comparisons by Holm's method" in table


@pytest.mark.parametrize(
    ("candidates", "words"),
    [
        (["elastic", "lassso"], "lassso: no regularizer 'lassso'. Did you mean 'lasso'?"),
        (["elastic", "lasso reg_l2=1"], "lasso: no parameter 'l2'"),
        (["elastic", "lasso fast"], "not 'fast'"),
        (["elastic", "elastic"], "two candidates are called 'elastic'"),
        (["elastic"], "two or more candidates"),
        (["elastic", " "], "the name is empty"),
        ("elastic", "give a list"),
        (Corpus(["a"], ["x"]), "give a list"),
        ((["a"], ["x"]), "['a']: regularizer: give a name (auto, elastic"),
        (["elastic", "ridge task=regression"], "ridge task=regression: a regression has no labels"),
    ],
)
def test_wrong_candidates_are_found_before_anything_is_read(candidates: Any, words: str) -> None:
    def benchmarks() -> Iterator[Benchmark]:
        raise AssertionError("read too early")
        yield

    with pytest.raises(TextregError) as error:
        compare(candidates, benchmarks())
    assert error.value.exit_code == 2
    assert words in str(error.value)


def test_wrong_benchmarks_are_found_before_training(
    monkeypatch: pytest.MonkeyPatch, demo: Path
) -> None:
    monkeypatch.setattr(
        comparing, "train_corpus", lambda *_, **__: pytest.fail("trained too early")
    )
    good = Benchmark("good", (["a b", "c d"] * 4, ["x", "y"] * 4))
    for wrong, words in [
        (
            Benchmark("bad", (["a", "b"], ["x", "y"]), (["a"], ["z"])),
            "bad: document 1: the model does not know",
        ),
        (
            Benchmark("bad", (["a"] * 5, ["x"] * 3 + ["y"] * 2)),
            "bad: the label 'y' has fewer than three",
        ),
        (Benchmark("bad", (["a", "b"], ["x", "y"]), Corpus(["a"])), "bad: there are no labeled"),
        (Benchmark("bad", test=(["a"], ["x"])), "bad: there are no documents to train on"),
        (Benchmark("bad", (["a", "b"], ["x", "x"])), "bad: All documents (2) have the same label"),
    ]:
        with pytest.raises(DataError) as error:
            compare(["elastic", "lasso"], [good, wrong])
        assert words in str(error.value)
    with pytest.raises(UsageError, match="the baseline 'ridge' is not a candidate"):
        compare(["elastic", "lasso"], good, baseline="ridge")
    with pytest.raises(UsageError, match="different names"):
        compare(["elastic", "lasso"], [good, good])
    for no_benchmark in ((["a b"], ["x"]), Corpus(["a b"], ["x"])):
        with pytest.raises(UsageError, match=r"such as Benchmark\('reviews', train="):
            compare(["elastic", "lasso"], no_benchmark)  # type: ignore[arg-type]


def written(record: Any) -> str:
    """The values of a record that are not None, numbers with three digits."""
    values = record._asdict() if isinstance(record, tuple) else vars(record)
    told = []
    for name, value in values.items():
        numbers = np.atleast_1d(np.array(value, dtype=object)).ravel().tolist()
        if value is not None and not isinstance(value, dict):
            shown = [f"{it:.3g}" if isinstance(it, float) else str(it) for it in numbers]
            told.append(f"{name} {' '.join(shown)}")
    return textwrap.fill(", ".join(told), 96)


def test_measurements_and_contrasts_as_a_whole() -> None:
    options: dict[str, Any] = {"reg": "ridge", "tokenizer": "words", "ngrams": 1, "tol": 1e-10}
    texts, labels = ["red sky", "green sky", "blue sky"] * 10, list("abc") * 10
    fits = {
        "m": textreg.train(texts, labels, reg_l2=0.1, weighting="count", **options),
        "n": textreg.train(
            texts, labels, reg_l2=5.0, weighting="count", class_weight={"b": 9.0}, **options
        ),
    }
    fits["m"].summary = None
    fits["n"].summary = replace(fits["n"].summary, gap=0.25)
    test = Corpus(["red", "green sky", "blue", "red", "sky"], ["a", "c", "c", "b", "b"])
    one = Checked("one", None, test, None)
    m, n = (measure(name, one, fit, 2.0004) for name, fit in fits.items())
    assert (
        written(m)
        == """\
candidate m, benchmark one, documents 5, accuracy 0.4, accuracy_interval 0.118 0.769, macro_f1
0.389, features 4, seconds 2, answers 0 1 2 0 0, log_loss 1.56, losses 0.0794 3.27 0.0794 3.27
1.1"""
    )
    assert (
        written(n)
        == """\
candidate n, benchmark one, documents 5, accuracy 0.4, accuracy_interval 0.118 0.769, macro_f1
0.19, features 4, seconds 2, answers 1 1 1 1 1, of 4, gap 0.25, converged True, log_loss 1.23,
losses 1.34 2.65 1.34 0.489 0.315"""
    )
    fits["m"].seconds = {"read": 4.0, "features": 1.0, "fit": 0.5}
    assert measure("m", one, fits["m"]).seconds == 1.5
    two = replace(one, name="two")
    cells = {
        ("one", "m"): m,
        ("one", "n"): n,
        ("two", "m"): replace(m, accuracy=0.1),
        ("two", "n"): replace(n, losses=None),
    }
    first, _, both = _contrasts([one, two], ["n", "m"], "m", cells, 3)
    assert (
        written(first)
        == """\
candidate n, baseline m, benchmark one, accuracy 0, accuracy_interval -0.8 0.8, macro_f1 -0.198,
macro_f1_interval -0.6 0.444, won 2, lost 2, p 1, p_adjusted 1, comparisons 1, benchmarks_won 0,
benchmarks_lost 0, benchmarks_p 1, benchmarks_p_adjusted 1, log_loss log-loss -0.329 -1.65 0.993"""
    )
    assert (
        written(both)
        == """\
candidate n, baseline m, accuracy 0.15, accuracy_interval -0.5 0.6, macro_f1 -0.198,
macro_f1_interval -0.483 0.311, won 4, lost 4, p 1, p_adjusted 1, comparisons 1, benchmarks_won
1, benchmarks_lost 0, benchmarks_p 1, benchmarks_p_adjusted 1"""
    )
    assert m.losses is not None
    assert n.losses is not None
    cells["two", "m"] = replace(m, losses=m.losses[:2])
    cells["two", "n"] = replace(n, losses=n.losses[:2])
    *_, both = _contrasts([one, two], ["n", "m"], "m", cells, 3)
    assert both.log_loss is not None
    apart = n.losses - m.losses  # each corpus has the same weight, as in the accuracy
    assert both.log_loss.value == pytest.approx((apart.mean() + apart[:2].mean()) / 2)


def test_answers_of_several_labels_of_which_a_model_does_not_know_some() -> None:
    """They count as in its own micro-F1: as errors, or as the label of the rare ones."""
    texts = ["red sky", "green sky", "red green sky", "grey sky"] * 10
    labels = [["r"], ["g"], ["r", "g"], ["odd"], ["r"], ["g"], ["r", "g"], ["even"]] * 5
    test = Checked("one", None, Corpus(["grey", "red", "sky"], [("new",), ("r", "new"), ()]), None)
    y_true = test.targets()
    for min_label, rare, told in ((1, None, "errors"), (6, "other", "'other'")):
        model = textreg.train(
            texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words", min_label=min_label,
            rare_label=rare,
        )  # fmt: skip
        with pytest.warns(DataWarning, match=f"They count as {told}"):
            found = measure("s", test, model, 1.0)
        assert found.micro_f1 == pytest.approx(
            2 * (y_true & found.answers).sum() / (y_true.sum() + found.answers.sum())
        )


def test_measurements_of_several_labels_as_a_whole() -> None:
    texts = ["red sky", "green sky", "red green sky", "grey sky"] * 10
    model = textreg.train(
        texts, [["r"], ["g"], ["r", "g"], []] * 10, reg="ridge", reg_l2=0.1, tokenizer="words",
        ngrams=1, tol=1e-10,
    )  # fmt: skip
    model.summary = None
    test = Corpus(["red", "green sky", "red", "sky"], [("r",), ("g",), ("r", "g"), ()])
    one = Checked("one", None, test, None)
    found = measure("s", one, model, 1.0)
    assert (
        written(found)
        == """\
candidate s, benchmark one, documents 4, accuracy 0.75, accuracy_interval 0.301 0.954, macro_f1
0.833, features 4, seconds 1, answers False True False True False False False True False False
False False, micro_f1 0.857, micro_f1_interval 0.667 1, log_loss 0.333"""
    )
    other = replace(found, micro_f1=0.5, macro_f1=0.25, accuracy=0.5, answers=~found.answers)
    cells = {("one", "s"): found, ("one", "o"): replace(other, candidate="o")}
    (contrast,) = _contrasts([one], ["s", "o"], "o", cells, 0)
    assert (
        written(contrast)
        == """\
candidate s, baseline o, benchmark one, accuracy 0.25, accuracy_interval 0.25 1, macro_f1 0.583,
macro_f1_interval 0.214 1, won 4, lost 0, p 0.125, p_adjusted 0.125, comparisons 1,
benchmarks_won 0, benchmarks_lost 0, benchmarks_p 1, benchmarks_p_adjusted 1, micro_f1 0.357,
micro_f1_interval 0.327 1"""
    )


def test_a_failing_candidate_is_named() -> None:
    benchmark = Benchmark("t", (["a b", "c d"] * 4, ["x", "y"] * 4))
    with pytest.raises(DataError, match=r"^ridge min_df=99: no feature is left"):
        compare(["lasso reg_l1=1", "ridge min_df=99"], benchmark)


def test_candidates_may_be_instances_classes_and_options(demo: Path) -> None:
    benchmark = Benchmark.read(str(demo))
    one = compare([Lasso(l1=1.0), {"reg": "ridge", "reg_l2": 1.0}], benchmark, ngrams=1)
    assert one.candidates == ("lasso", "ridge")
    assert parse_candidate("group groups=lda,lsi reg-l1=0.1 groups-ngrams=all") == {
        "reg": "group",
        "groups": "lda,lsi",
        "reg_l1": "0.1",
        "groups_ngrams": "all",
    }
    assert parse_candidate("gomp reg_singletons=false")["reg_singletons"] is False
    assert parse_candidate("lasso cv=3 tol=1e-3 select=1se max-nonzero=50 budget=5m") == {
        "reg": "lasso",
        "cv": 3,
        "tol": 1e-3,
        "select": "1se",
        "max_nonzero": 50,
        "budget": "5m",
    }


def test_command(cli: Cli, demo: Path, found: Comparison, tmp_path: Path) -> None:
    quick = ("--tokenizer", "words", "--ngrams", "1", "--cv", "2")
    result = cli("compare", demo, "--reg", "lasso,elastic", "--reg", "none", *quick)
    assert result.code == 0
    assert result.out.splitlines()[-3:] == [
        *(f"{verdict}." for verdict in found.verdicts()),
        "p is adjusted for 2 comparisons by Holm's method.",
    ]
    both = ("compare", demo, "--reg", "lasso,none", *quick)
    document = json.loads(cli(*both, "--json").out)
    assert document["candidates"] == ["lasso", "none"]
    target = tmp_path / "table.csv"
    run = cli(*both, "-o", target)
    assert (run.code, run.out) == (0, "")
    assert target.read_text().startswith("candidate,benchmark,documents,accuracy")


@pytest.mark.thorough
def test_command_says_who_wins_the_search(cli: Cli, demo: Path) -> None:
    def sizes(*options: str) -> list[int]:
        run = cli("compare", demo, "--reg", "lasso,elastic", "--ngrams", "1", "--json", *options)
        return [one["features"] for one in json.loads(run.out)["measured"]]

    usual = sizes()
    few = max(usual) // 2
    assert max(sizes("--max-nonzero", str(few), "--budget", "5m")) <= few < max(usual)
    sparse = sizes("--select", "sparsest:0.2")
    assert all(one < other for one, other in zip(sparse, usual, strict=True))


def test_models_of_the_same_fields_are_compared(cli: Cli, tmp_path: Path) -> None:
    rows = [{"title": title, "body": "it came", "label": title[:1]} for title in ["good", "bad"]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows * 20))
    train = ("train", tmp_path / "a.jsonl", "--reg", "ridge", "--reg-l2", "1", "--quiet")
    fields = ("--text-col", "title", "--text-col", "body")
    for name, options in (("one", fields), ("two", fields), ("three", ("--text-col", "title"))):
        assert cli(*train, *options, "-o", tmp_path / name).code == 0
    compare = ("compare", tmp_path / "one")
    run = cli(*compare, tmp_path / "two", tmp_path / "a.jsonl", *fields, "--json")
    assert [one["accuracy"] for one in json.loads(run.out)["measured"]] == [1.0, 1.0]
    run = cli(*compare, tmp_path / "three", tmp_path / "a.jsonl", *fields)
    assert run.code == 2
    assert "the documents of three have the fields of one text" in run.err
    page = tmp_path / "report.html"
    reported = ("report", tmp_path / "one", tmp_path / "a.jsonl", "-o", page, "--text")
    assert cli(*reported, '{"title": "a bad omen", "body": ""}').code == 0
    assert "a bad omen" in page.read_text(encoding="utf-8")
    run = cli(*reported, "a bad omen")
    assert "give an object of JSON, such as '{\"title\": ...}'" in run.err


def test_a_name_of_a_file_does_not_act_on_a_terminal(
    cli: Cli, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "a\x1b[31m.jsonl"
    hostile.write_bytes((demo / "test.jsonl").read_bytes())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    quick = ("--reg", "lasso reg-l1=1", "--reg", "ridge reg-l2=1", "--format")
    for form in ("csv", "markdown"):
        shown = cli("compare", hostile, *quick, form)
        assert (shown.code, "\x1b" in shown.out) == (0, False)


def test_the_documents_of_a_folder_are_not_overwritten(cli: Cli, demo: Path) -> None:
    target = demo / "train.jsonl"
    before = target.read_bytes()
    for command in ("compare", "learn-curve"):
        run = cli(command, demo, "--reg", "lasso,none", "-o", target)
        assert run.code == 2
        assert "would overwrite an input file" in run.err
    assert target.read_bytes() == before


def test_command_with_models_and_files(cli: Cli, demo: Path, tmp_path: Path) -> None:
    train, test = demo / "train.jsonl", demo / "test.jsonl"
    saved = tmp_path / "mine.textreg"
    quick = ("--reg", "lasso", "--tokenizer", "words", "--cv", "2")
    assert cli("train", train, *quick, "-o", saved, "--quiet").code == 0
    run = cli("compare", saved, train, "--test", test, *quick, "--json")
    document = json.loads(run.out)
    (lasso, mine) = document["measured"]
    assert (lasso["candidate"], mine["candidate"]) == ("lasso", "mine")
    assert lasso["accuracy"] == mine["accuracy"]
    assert document["contrasts"][0]["won"] == document["contrasts"][0]["lost"] == 0
    other = tmp_path / "other" / "mine.textreg"
    other.parent.mkdir()
    other.write_bytes(saved.read_bytes())
    names = json.loads(cli("compare", saved, other, test, "--json").out)["candidates"]
    assert names == [str(saved), str(other)]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("--metric", "accuracy"), "metric"),
        (("--tokenizer", "words"), "tokenizer"),
        (("--ngrams", "1"), "ngrams"),
        (("--no-refit",), "refit"),
        (("--unknown", "none"), "unknown"),
        (("--dev", "DEMO"), "dev"),
    ],
)
def test_options_of_trainings_are_refused_where_none_is_trained(
    cli: Cli, demo: Path, tmp_path: Path, options: tuple[str, ...], name: str
) -> None:
    models = [tmp_path / "one.textreg", tmp_path / "other.textreg"]
    for model in models:
        textreg.train(["so good", "bad"], ["pos", "neg"], reg="none").save(model)
    words = [str(demo / "train.jsonl") if word == "DEMO" else word for word in options]
    measured = (*models, demo / "test.jsonl")
    result = cli("compare", *measured, *words)
    assert result.code == 2
    assert f"{name} is for candidates to train, and all are models" in result.err
    assert cli("compare", *measured, "--seed", "3", "--jobs", "1").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("MODEL",), "name a corpus to measure on"),
        (("DEMO", "--reg", "lasso,lasso"), "--reg names 'lasso' twice"),
        (("DEMO", "--reg", "lasso,elastc"), "elastc: no regularizer 'elastc'. Did you mean"),
        (("DEMO", "--reg", "lasso,none", "--test", "a", "--test", "b"), "1 corpora but 2 times"),
        (("DEMO", "--reg", "lasso,none", "--plot", "a.pdf"), ".svg or .png"),
        (("DEMO", "--reg", "lasso,none", "-o", "no/such/x.csv"), "the folder no/such does not"),
        (("DEMO", "--reg", "lasso,none", "--plot", "no/x.svg"), "name another with --plot FILE"),
        (("DEMO", "--reg", "lasso"), "two or more candidates"),
        (("DEMO", "--reg", "lasso cv=x"), "cv must be a whole number, not 'x'"),
        (("DEMO", "--reg", "lasso tol=x"), "tol must be a number, not 'x'"),
        (("DEMO", "--reg", "lasso refit=x"), "refit must be true or false, not 'x'"),
        (("DEMO", "--reg", "lasso threshold=pos=f1"), "threshold cannot be given as text"),
        (("DEMO", "--reg", "lasso dev=x.csv"), "dev cannot be given as text"),
        (("DEMO", "--reg", "lasso,"), "--reg 'lasso,' has an empty name"),
        (("DEMO", "--reg", "lasso,none", "--select", "1se"), "none: all parameters of none are"),
        (("DEMO", "--reg", "lasso,none", "--budget", "soon"), "lasso: the budget must be a time"),
        (("missing.csv", "--reg", "lasso,none"), "missing.csv"),
        (("OWN", "--test", "OWN", "--reg", "lasso,none"), "test.jsonl is named twice, so its"),
        (("DEMO", "--reg", "lasso,none", "--cv", "3", "--holdout", "0.2"), "holdout and cv both"),
    ],
)
def test_command_refuses(
    cli: Cli,
    demo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if "MODEL" in arguments:
        run = cli("train", demo / "train.jsonl", "--reg", "none", "-o", "MODEL", "--quiet")
        assert run.code == 0
    named = {"DEMO": str(demo), "OWN": str(demo / "test.jsonl")}
    result = cli("compare", *[named.get(it, it) for it in arguments])
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("regs", "named"),
    [
        (["lasso,elastic"], {"lasso": "lasso", "elastic": "elastic"}),
        (
            ["topics: group groups=lda", "  ridge   reg-l2=1 "],
            {"topics": "group groups=lda", "ridge reg-l2=1": "ridge reg-l2=1"},
        ),
        (["group groups=a,b: c"], {"group groups=a,b: c": "group groups=a,b: c"}),
        ([""], "--reg '' has an empty name"),
        (["lasso,"], "--reg 'lasso,' has an empty name"),
        (["a: lasso", "a: ridge"], "--reg names 'a' twice"),
    ],
)
def test_names_of_candidates(regs: list[str], named: dict[str, str] | str) -> None:
    if isinstance(named, str):
        with pytest.raises(UsageError, match=named):
            candidates_of(regs, ())
    else:
        assert candidates_of(regs, ()) == named


def test_a_folder_is_not_ambiguous(tmp_path: Path) -> None:
    for name in ("train.csv", "train.jsonl", "test.csv"):
        (tmp_path / name).write_text("text,label\na,x\n")
    with pytest.raises(UsageError, match=r"train\.csv and .*train\.jsonl: leave one"):
        Benchmark.read(str(tmp_path))


def test_plots(found: Comparison, tmp_path: Path) -> None:
    found.plot(tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text()
    for name in (*found.candidates, "demo", "features with a weight"):
        assert f">{name}</text>" in picture
    found.plot(tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == picture
    found.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_notebooks_show_comparisons_and_pictures(found: Comparison, tmp_path: Path) -> None:
    html = found._repr_html_()
    assert all(f">{name}</td>" in html for name in found.candidates)
    assert repr(found) == f"<Comparison: {'; '.join(found.verdicts())}>"
    drawn = found.plot()._repr_mimebundle_()
    assert drawn == found.plot(tmp_path / "a.svg")._repr_mimebundle_()
    assert drawn["image/svg+xml"] == (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert b"PNG" in found.plot(tmp_path / "a.png")._repr_mimebundle_()["image/png"]
