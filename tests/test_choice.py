"""Which setting a search chooses, and what may be searched."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.builtin.separable import Elastic, Lasso, Ridge
from textreg.cli.train import _best_of_each
from textreg.errors import PluginError, UsageError
from textreg.features.vectorize import Vectorizer
from textreg.measure.metrics import standard_error
from textreg.model.summary import ChoiceSummary, TrainingSummary
from textreg.records import Corpus
from textreg.tasks import classification
from textreg.tasks.base import Held
from textreg.tasks.regression import Regression
from textreg.training import search as training_search
from textreg.training.search import choose
from textreg.training.space import Tuning, parse_space
from textreg.training.trials import MeasuredSetting


def documents(n: int = 60) -> tuple[list[str], list[str]]:
    """Texts whose words speak for a label, each a little."""
    random = np.random.default_rng(4)
    labels = [("pos", "neg")[at % 2] for at in range(n)]
    lean = {"pos": random.dirichlet(np.ones(30)), "neg": random.dirichlet(np.ones(30))}
    words = np.array([f"w{at}" for at in range(30)])
    return [" ".join(random.choice(words, 6, p=lean[label])) for label in labels], labels


TEXTS, LABELS = documents()


def point(value: float, nonzero: float, error: float | None = None) -> MeasuredSetting:
    metrics = {"accuracy": value, "mse": 100 * value}
    return MeasuredSetting(Lasso(l1=1.0), metrics, nonzero, (), error=error)


POINTS = [
    point(0.90, 500, 0.010),
    point(0.892, 300, 0.011),
    point(0.888, 200, 0.012),
    point(0.891, 300, 0.011),
    point(0.85, 100, 0.020),
]


@pytest.mark.parametrize(
    ("rule", "chosen"),
    [
        (Tuning(), 0),
        (Tuning(select="1se"), 1),  # of two with 300 features the more accurate
        (Tuning(select="sparsest"), 1),
        (
            Tuning(select="sparsest", within=0.012),
            2,
        ),  # a boundary counts, whatever rounding does
        (Tuning(select="sparsest", within=0.0), 0),
        (Tuning(select="sparsest", within=0.5), 4),
        (Tuning(max_nonzero=300), 1),
        (
            Tuning(select="1se", max_nonzero=300),
            2,
        ),  # one error of the best that is small enough
        (Tuning(max_nonzero=199), 4),
    ],
)
def test_rules(rule: Tuning, chosen: int) -> None:
    assert choose(POINTS, "accuracy", rule) == chosen


def test_ties() -> None:
    """Of equally good settings the smaller, of equally small the better, else the first."""
    one_error = Tuning(select="1se")
    assert choose([point(0.9, 300, 0.02), point(0.9, 200, 0.02)], "accuracy") == 1
    assert choose([point(0.9, 300, 0.02), point(0.9, 300, 0.02)], "accuracy") == 0
    # The error is that of the smaller of two that are best: only it reaches to 0.88.
    best = [point(0.9, 300, 0.001), point(0.9, 200, 0.03), point(0.88, 100, 0.03)]
    assert choose(best, "accuracy", one_error) == 2
    equal = [point(0.9, 300, 0.02), point(0.89, 100, 0.02), point(0.89, 100, 0.02)]
    assert choose(equal, "accuracy", one_error) == 1
    # A distance of exactly one error is near, whatever rounding does.
    assert choose([point(0.13, 300, 0.01), point(0.12, 100, 0.01)], "accuracy", one_error) == 1


def test_what_is_better_when_smaller() -> None:
    assert choose(POINTS, "mse") == 4
    # 4 % of the best, 85, reach to 88.4 and so not to 88.8
    assert choose(POINTS, "mse", Tuning(select="sparsest", within=0.04)) == 4
    bigger = [point(0.90, 10), point(0.87, 500)]
    assert choose(bigger, "mse", Tuning(select="sparsest", within=0.04)) == 0
    assert choose(bigger, "mse", Tuning(select="sparsest", within=0.03)) == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"select": "bets"}, "Did you mean 'best'"),
        ({"within": 0.1}, "within is for select 'sparsest'"),
        ({"select": "sparsest", "within": 1.0}, "within must be 0 or more, and below 1"),
        ({"select": "sparsest", "within": float("nan")}, "within must be 0 or more"),
        ({"max_nonzero": 0}, "max_nonzero must be at least 1"),
    ],
)
def test_wrong_rules(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Tuning(**values)


def test_nothing_small_enough() -> None:
    with pytest.raises(UsageError, match="at most 99 features: the smallest of 5 has 100"):
        choose(POINTS, "accuracy", Tuning(max_nonzero=99))


def test_standard_errors() -> None:
    random = np.random.default_rng(0)
    y_true = random.integers(2, size=400)
    scores = (y_true - 0.5 + random.normal(scale=0.5, size=400))[:, None]
    right = ((scores[:, 0] > 0) == y_true).mean()
    measure = classification("ab").measure
    one = standard_error(measure, [scores], [y_true], "accuracy")
    assert one == pytest.approx(np.sqrt(right * (1 - right) / 400))
    # The bootstrap of a mean is near the formula of a mean.
    losses = np.logaddexp(0.0, -np.where(y_true == 1, scores[:, 0], -scores[:, 0]))
    assert standard_error(measure, [scores], [y_true], "log-loss") == pytest.approx(
        losses.std() / 20, rel=0.15
    )
    task = classification("ab")
    of_losses = standard_error(measure, [scores], [y_true], "log-loss", losses=task.losses)
    assert of_losses == pytest.approx(losses.std() / 20)
    assert standard_error(measure, [scores], [y_true], "macro-f1") == pytest.approx(one, rel=0.2)
    parts = [slice(0, 100), slice(100, 250), slice(250, 400)]
    shares = [((scores[p, 0] > 0) == y_true[p]).mean() for p in parts]
    folds = standard_error(
        measure, [scores[p] for p in parts], [y_true[p] for p in parts], "accuracy"
    )
    assert folds == pytest.approx(np.std(shares, ddof=1) / np.sqrt(3))
    # Documents that weigh nothing are none, and a weight of all changes nothing.
    few = (np.arange(400) < 100) * 3.0
    for metric, rel in (("accuracy", 1e-9), ("macro-f1", 0.2), ("log-loss", 0.2)):
        part = standard_error(measure, [scores[:100]], [y_true[:100]], metric)
        weighted = standard_error(measure, [scores], [y_true], metric, [few], task.losses)
        assert weighted == pytest.approx(part, rel=rel)
    weights = [1.0 + y_true[p] for p in parts]
    shares = [
        np.average((scores[p, 0] > 0) == y_true[p], weights=c)
        for p, c in zip(parts, weights, strict=True)
    ]
    folds = standard_error(
        measure, [scores[p] for p in parts], [y_true[p] for p in parts], "accuracy", weights
    )
    assert folds == pytest.approx(np.std(shares, ddof=1) / np.sqrt(3))


def test_the_calibrated_log_loss_does_not_depend_on_the_size_of_scores() -> None:
    random = np.random.default_rng(1)
    y_true = random.integers(3, size=200)
    scores = np.eye(3)[y_true] + random.normal(scale=0.7, size=(200, 3))
    for kind in ("ovr", "softmax"):
        task = classification("abc", multiclass=kind)
        found = [task.measure(factor * scores, y_true) for factor in (0.1, 1.0, 10.0)]
        calibrated = [one["calibrated-log-loss"] for one in found]
        assert calibrated[0] == pytest.approx(calibrated[1], abs=1e-6)
        assert calibrated[2] == pytest.approx(calibrated[1], abs=1e-6)
        for one in found:
            assert one["calibrated-log-loss"] <= one["log-loss"] + 1e-9
        calibration = task.calibrate("temperature", Held(scores, y_true))
        probabilities = task.probabilities(scores, calibration)
        loss = -np.log(probabilities[np.arange(200), y_true]).mean()
        # A calibration is learned with one document more, by Laplace's rule.
        assert calibrated[1] == pytest.approx(loss, abs=1e-3)
        assert loss >= calibrated[1] - 1e-9
        # A document that counts twice is as good as two.
        twice = np.repeat(np.arange(200), 1 + (y_true == 0))
        weighed = task.measure(scores, y_true, 1.0 + (y_true == 0))["calibrated-log-loss"]
        assert weighed == pytest.approx(
            task.measure(scores[twice], y_true[twice])["calibrated-log-loss"], abs=1e-9
        )


def test_the_smaller_model_is_taken_and_told() -> None:
    lasso = partial(textreg.train, TEXTS, LABELS, reg="lasso", cv=4, intercept="fitted")
    best = lasso().summary
    small = lasso(select="sparsest", within=0.9).summary
    assert small.nonzero < best.nonzero
    assert {it.error for it in (*best.search, *small.search)} == {None}  # that take much time
    assert small.select == ChoiceSummary("sparsest", 0.9, None, None)
    assert min(it.nonzero for it in small.search) == next(
        it.nonzero for it in small.search if it.params["l1"] == small.reg.params["l1"]
    )
    within = lasso(select="1se").summary
    assert all(it.error >= 0 for it in within.search)


def test_the_final_model_keeps_to_max_nonzero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it grows when it is fitted on all documents."""
    from textreg.training import trials

    usual = trials.measured_setting

    # All look small in the search, the largest the best.
    def small(*values: Any, **options: Any) -> MeasuredSetting:
        made = usual(*values, **options)
        metrics = {**made.metrics, "accuracy": 1 / (1 + made.regularizer.params()["l1"])}
        return MeasuredSetting(
            made.regularizer, metrics, min(made.nonzero, 2), made.starts, made.changes
        )

    monkeypatch.setattr(trials, "measured_setting", small)
    lasso = partial(textreg.train, TEXTS, LABELS, reg="lasso", weighting="unit-idf", cv=2)
    most = lasso().n_features - 1
    model = lasso(max_nonzero=most, calibrate="temperature")
    assert 0 < model.n_features <= most
    with pytest.raises(UsageError, match="fitted on all documents"):
        lasso(max_nonzero=2)


def test_a_space_is_read() -> None:
    assert parse_space(["weighting=log, tfidf", "--reg-l1=0.1,1"]) == {
        "weighting": ["log", "tfidf"],
        "reg_l1": ["0.1", "1"],
    }
    for wrong in ("weighting", "=a", "a=", "a=1,,2"):
        with pytest.raises(UsageError, match="must be PARAMETER=VALUE,VALUE"):
            parse_space([wrong])
    with pytest.raises(UsageError, match="names a twice"):
        parse_space(["a=1", "a=2"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search_space": {"wighting": ["log"]}}, "Did you mean 'weighting'"),
        ({"search_space": {"l1": [0.1]}}, "Did you mean 'reg_l1'"),
        ({"search_space": {1: [0.1]}}, "no parameter '1'"),
        ({"search_space": ["weighting=log"]}, "must be a list of values for each name"),
        ({"search_space": {"weighting": ["lot"]}}, "Did you mean 'log'"),
        ({"search_space": {"weighting": "log"}}, "needs a list of values"),
        ({"search_space": {"weighting": []}}, "needs values that differ"),
        ({"search_space": {"ngrams": ["1", 1]}}, "needs values that differ"),
        ({"search_space": {"weighting": ["log"]}, "weighting": "unit"}, "leave one of them out"),
        ({"search_space": {"reg_l1": [1]}, "reg_l1": 0.5}, "leave one of them out"),
        ({"search_space": {"reg_l1": [-1]}}, "l1 must be at least 0"),
        (
            {"search_space": {"groups_length": [1]}},
            "groups_length is a parameter of groups, and there are none",
        ),
        ({"select": "1se", "reg_l1": 1.0}, "nothing to choose"),
    ],
)
def test_wrong_spaces(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        textreg.train(TEXTS, LABELS, reg="lasso", **options)


def test_all_kinds_of_parameters_are_searched() -> None:
    space = {
        "tokenizer_lowercase": ["on", "off"],
        "weighting": ["log", "tfidf"],
        "groups_size": ["1", "2"],
        "reg_l1": ["0.1", "0.01", "0.5"],
    }
    given = {"reg_group": 0.01, "groups": "windows", "ngrams": 1, "search": "grid", "cv": 2}
    summary = textreg.train(TEXTS, LABELS, reg="group", search_space=space, **given).summary
    assert len(summary.search) == 2 * 2 * 2 * 3
    tried = {(*it.settings.values(), it.params["l1"]) for it in summary.search}
    assert len(tried) == 24
    assert [it.params["l1"] for it in summary.search[:3]] == [0.5, 0.1, 0.01]
    assert set(summary.chosen) == {"tokenizer_lowercase", "weighting", "groups_size"}
    assert summary.groups.params["size"] == summary.chosen["groups_size"]
    assert summary.reg.params["l1"] in space_of(summary)


def space_of(summary: TrainingSummary) -> set[float]:
    return {it.params["l1"] for it in summary.search}


def test_a_searched_setting_gives_the_model_it_stands_for() -> None:
    space = {"weighting": ["count", "tfidf"], "reg_l1": [0.5, 0.05]}
    options = {"search_space": space, "cv": 3, "intercept": "fitted"}
    found = textreg.train(TEXTS, LABELS, reg="lasso", **options)
    chosen, l1 = found.summary.chosen, found.summary.reg.params["l1"]
    assert found.encoder.vectorizer.params()["weighting"] == chosen["weighting"]
    given = textreg.train(TEXTS, LABELS, reg="lasso", reg_l1=l1, **chosen)
    assert found.predict(TEXTS) == given.predict(TEXTS)
    np.testing.assert_allclose(
        found.decision_function(TEXTS), given.decision_function(TEXTS), atol=5e-2
    )
    options["search_space"] = {"reg_l1": [l1]}
    alone = textreg.train(TEXTS, LABELS, reg="lasso", **chosen, **options)
    (same,) = [it for it in found.summary.search if it.settings == chosen and it.params["l1"] == l1]
    assert alone.summary.search[0].metrics["accuracy"] == same.metrics["accuracy"]


def test_features_are_made_once_for_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    usual = Vectorizer.fit

    def fit(self: Vectorizer, *values: Any) -> Any:
        made.append(self.weighting)
        return usual(self, *values)

    monkeypatch.setattr(Vectorizer, "fit", fit)
    space = {"weighting": ["log", "tfidf"], "groups_size": [1, 2, 3]}
    options = {"reg": "group", "groups": "windows", "reg_group": 0.01, "reg_l1": 0.01, "cv": 2}
    textreg.train(TEXTS, LABELS, search_space=space, **options)
    assert made == ["log", "tfidf"]


def test_documents_that_are_let_go_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = {"weighting": ["count", "log", "tfidf"], "reg_l1": [0.5, 0.05]}
    usual = textreg.train(TEXTS, LABELS, reg="lasso", search_space=space)
    monkeypatch.setattr(training_search, "MAX_CACHED", 2)
    again = textreg.train(TEXTS, LABELS, reg="lasso", search_space=space)
    assert np.array_equal(usual.weights, again.weights)
    assert usual.summary.search == again.summary.search


def test_chains_stay_warm_with_values_that_are_named() -> None:
    """The parameter declared last runs fastest, whichever of them was named."""
    from textreg.builtin.separable import Elastic
    from textreg.training.trials import _chains

    grid = [Elastic(l1=l1, l2=l2) for l1 in (1.0, 0.1) for l2 in (3.0, 2.0, 1.0)]
    ordered = training_search._in_order(grid)
    assert [(part.l2, part.l1) for part in ordered[:3]] == [(3.0, 1.0), (3.0, 0.1), (2.0, 1.0)]
    assert _chains(ordered) == [[0, 1], [2, 3], [4, 5]]


def test_the_command_line_chooses(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    rows = zip(TEXTS, LABELS, strict=True)
    path.write_text("text,label\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8")
    model = tmp_path / "m.textreg"
    train = ("train", path, "--reg", "lasso", "-o", model)
    every = ("--search", "grid", "--search-space", "weighting=log,count")
    out = cli(*train, "--select", "1se", "--cv", "2", *every).out
    assert "search: 18 settings of lasso" in out
    assert "chosen: weighting " in out
    assert "within one standard error, " in out
    out = cli(*train, "--select", "sparsest:0.2", "--cv", "2").out
    assert "select sparsest: calibrated-log-loss " in out
    result = cli(*train, "--max-nonzero", "1", "--reg-l1", "0.1")
    assert (result.code, result.out) == (2, "")
    assert "nothing to choose" in result.err


@pytest.mark.parametrize("labels", ["ab", "abc"])
def test_a_document_is_measured_as_many_times_as_it_weighs(labels: str) -> None:
    random = np.random.default_rng(0)
    task, n = classification(tuple(labels)), 40
    y, times = random.integers(len(labels), size=n), random.integers(0, 4, n)
    scores = random.standard_normal((n, task.n_rows))
    weighted = task.measure(scores, y, times.astype(np.float64))
    assert weighted == pytest.approx(task.measure(scores.repeat(times, axis=0), y.repeat(times)))
    assert weighted != pytest.approx(task.measure(scores, y))
    numbers = Regression()
    target = random.standard_normal(n)
    weighted = numbers.measure(scores[:, :1], target, times.astype(np.float64))
    repeated = scores[:, :1].repeat(times, axis=0), target.repeat(times)
    assert weighted == pytest.approx(numbers.measure(*repeated))


def test_documents_of_no_weight_choose_nothing() -> None:
    texts = ["good film", "good plot", "bad film", "bad plot"] * 6
    labels = ["pos", "pos", "neg", "neg"] * 6
    right, wrong = ["good", "bad", "good"], ["pos", "neg", "neg"]
    options = {"reg": "lasso", "seed": 0, "refit": False}
    counted = textreg.train(texts, labels, dev=Corpus(right, wrong), **options)
    silent = textreg.train(
        texts, labels, dev=Corpus(right, wrong, sample_weight=[1, 1, 0]), **options
    )
    without = textreg.train(texts, labels, dev=Corpus(right[:2], wrong[:2]), **options)
    trained = (counted, silent, without)
    best = [max(point.metrics["accuracy"] for point in m.summary.search) for m in trained]
    assert best == [pytest.approx(2 / 3), 1.0, 1.0]


def test_the_simpler_class_is_left_only_for_one_that_is_clearly_better() -> None:
    """By more than the standard error of the mean of paired differences of losses."""

    def setting(part: Any, losses: list[float] | None, nonzero: float = 9) -> MeasuredSetting:
        value = 0.5 if losses is None else float(np.mean(losses))
        own = None if losses is None else np.array(losses)
        return MeasuredSetting(part, {"log-loss": value}, nonzero, (), losses=own)

    first, second, third = Ridge(l2=1.0), Lasso(l1=1.0), Elastic(l1=1.0, l2=1.0)
    simple = setting(first, [2.0, 2.0, 3.0, 3.0])
    # Gains of 1 in the mean: of 0 and 2 the error is 1/2, of -1 and 3 it is 1.
    better, no_better = [2.0, 0.0, 3.0, 1.0], [3.0, -1.0, 4.0, 0.0]
    families = [Ridge, Lasso, Elastic]
    how: Any = ("log-loss", Tuning(), families)
    assert choose([simple, setting(second, better)], *how) == 1
    assert choose([simple, setting(second, no_better)], *how) == 0
    assert choose([setting(second, better), simple], *how) == 0
    assert choose([simple, setting(second, no_better)], "log-loss") == 1  # none is simpler
    # The third is compared with the second, which was better than the first.
    assert choose([simple, setting(second, better), setting(third, better, 8)], *how) == 2
    assert choose([simple, setting(second, better), setting(third, better, 9)], *how) == 1
    assert choose([simple, setting(second, no_better), setting(third, better)], *how) == 2
    # A class that was not measured is passed over; of a class only its best one counts.
    assert choose([simple, setting(third, better)], *how) == 1
    worse = setting(first, [9.0, 9.0, 9.0, 9.0])
    assert choose([worse, simple, setting(second, no_better)], *how) == 1
    # Without losses of documents the mean alone.
    assert choose([simple, setting(second, None)], *how) == 1
    assert choose([setting(first, None), setting(second, [0.5, 0.5], 8)], *how) == 1
    assert choose([setting(first, None), setting(second, [0.6, 0.6], 8)], *how) == 0


def test_a_backend_is_checked_with_its_address() -> None:
    with pytest.raises(PluginError, match="no backend 'nosuch'"):
        Tuning(backend="nosuch")
    with pytest.raises(UsageError, match="an address is for the backend 'dask'"):
        Tuning(address="tcp://10.0.0.5:8786")


@pytest.mark.parametrize(("metric", "best"), [("log-loss", 0.1), ("accuracy", 0.3)])
def test_of_each_regularizer_the_best_is_named(metric: str, best: float) -> None:
    points: list[Any] = [
        SimpleNamespace(settings={"reg": reg}, metrics={metric: value})
        for reg, value in [("ridge", 0.2), ("lasso", 0.3), ("ridge", 0.1), ("ridge", 0.3)]
    ]
    for order in (points, points[::-1]):
        found = _best_of_each(order, metric)
        assert list(found) == ["lasso", "ridge"]
        assert found["ridge"].metrics[metric] == best
