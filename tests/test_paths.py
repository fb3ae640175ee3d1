"""Regularization paths: their points, in model files, on the command line, and plotted."""

from __future__ import annotations

import copy
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from model_files import rewrite
from scipy.sparse import csr_array

from textreg import Corpus, Elastic, Lasso, Model, Sentence, load
from textreg import train as train_with_defaults
from textreg.builtin.greedy import Omp, Stagewise
from textreg.builtin.tokenizers import Words
from textreg.cli.show import _runs
from textreg.demo import write_demo
from textreg.errors import ConvergenceWarning, ModelError, RecordError, UsageError
from textreg.explain import path_sentences, removal_tables
from textreg.explain.sentences import _with_names
from textreg.features.fields import tokenizer_of
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Regularizer
from textreg.model.regularization_path import PathHeader, PathPoint, SolutionPath
from textreg.params import AUTO, Choices, LogGrid, param
from textreg.reading.corpus import read_corpus
from textreg.records import Problem, Solution
from textreg.training import trials
from textreg.training.fit import path_parameter, path_settings
from textreg_report import plot_path

train = partial(train_with_defaults, tokenizer="words", ngrams=1, weighting="log", path=True)

POINTS = 8
"""Of a path here; of others 20."""
SHORT = Stagewise(features=20)
"""Of 3,200 steps it takes a few hundred."""


@pytest.fixture(scope="module", autouse=True)
def short_paths() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textreg.training.fit.POINTS", POINTS)
        yield


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, Corpus]:
    folder = tmp_path_factory.mktemp("paths")
    write_demo(str(folder))
    rows = np.arange(80)
    whole = read_corpus(str(folder / "train.jsonl"))
    return whole.select(rows), whole.select(rows + 80)


def fit(corpora: tuple[Corpus, Corpus], reg: Any, **settings: Any) -> Model:
    learn, dev = corpora
    # A path is of fits, whose intercepts are their own.
    settings = {"tokenizer": "words", "intercept": "fitted", **settings}
    return train(learn.texts, learn.labels or (), reg=reg, dev=dev, **settings)


def path_of(model: Model) -> SolutionPath:
    assert model.path is not None
    return model.path


@pytest.mark.sampled(1)
@pytest.mark.parametrize("reg", ["lasso", "elastic", "ridge", "sentence", "omp", SHORT], ids=str)
def test_the_model_stands_on_its_path(
    corpora: tuple[Corpus, Corpus], reg: str | Regularizer
) -> None:
    model = fit(corpora, reg)
    path = path_of(model)
    point = path.points[path.chosen]
    assert point.params == model.summary.reg.params
    assert (point.nonzero, point.gap) == (model.n_features, model.summary.gap)
    here = path.at(path.chosen)
    assert path.at(path.chosen - len(path)).keys() == here.keys()
    for beyond in (len(path), -len(path) - 1):
        with pytest.raises(IndexError):
            path.at(beyond)
    assert list(here) == list(model.encoder.names)
    np.testing.assert_array_equal(np.array(list(here.values())).T, model.weights.astype(np.float32))
    np.testing.assert_array_equal(path.intercepts[path.chosen], model.intercepts)
    without = fit(corpora, reg, path=False)
    assert without.path is None
    assert without.weights.tobytes() == model.weights.tobytes()
    options = {key: it for key, it in model.summary.options.items() if key != "path"}
    assert replace(model.summary, path=None, options=options) == without.summary


def test_of_several_labels_a_point_has_the_widest_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps: list[float] = []
    solve_chain = trials.solve_chain

    def watched(*arguments: Any) -> Iterator[Any]:
        for found in solve_chain(*arguments):
            gaps.append(found[2])
            yield found

    monkeypatch.setattr("textreg.training.fit.trials.solve_chain", watched)
    texts = ["a good one", "a bad one", "no word", "a good day", "one bad day", "no day"] * 4
    model = train(texts, ["p", "n", "o"] * 8, reg=Lasso(l1=0.1), tol=1e-3)
    points = path_of(model).points
    widest = np.reshape(gaps[: 3 * len(points)], (3, -1)).max(axis=0)
    for at, point in enumerate(points):
        if at != path_of(model).chosen:
            assert point.gap == widest[at]


# Beside a strong penalty of groups less l1 than that empties the model.
@pytest.mark.parametrize("reg", ["lasso", "elastic", Sentence(group=0.01)], ids=str)
def test_penalty_strengths_decrease_from_the_one_that_empties_the_model(
    corpora: tuple[Corpus, Corpus], reg: str | Regularizer
) -> None:
    path = path_of(fit(corpora, reg, refit=False))
    assert path.parameter == "l1"
    assert path.values == sorted(path.values, reverse=True)
    assert POINTS <= len(path) <= POINTS + 1
    assert path.points[0].nonzero == 0
    assert path.points[1].nonzero > 0
    for point in path.points:
        assert point.gap is not None
        assert point.gap <= 1e-4
    fixed = [{**point.params, "l1": 0} for point in path.points]
    assert all(params == fixed[0] for params in fixed)


def test_every_point_is_what_a_fit_of_its_own_gives(corpora: tuple[Corpus, Corpus]) -> None:
    learn, dev = corpora
    features = Vectorizer(ngrams=1, weighting="log").fit(Words(), learn.texts)
    column = {name: j for j, name in enumerate(features.encoder.names)}
    for reg in (Elastic(l2=0.5), Lasso()):
        model = fit(corpora, reg, refit=False, tol=1e-8)
        path = path_of(model)
        assert path.values[0] > path.values[-1]
        for number in (2, 5, len(path) - 1):
            part = reg.replace(**path.points[number].params)
            alone = fit(corpora, part, refit=False, tol=1e-8, path=False)
            w = np.zeros(len(column))
            for name, weight in path.at(number).items():
                w[column[name]] = weight[0]
            # Of a lasso the scores are unique, the weights need not be.
            np.testing.assert_allclose(
                features.X @ w + path.intercepts[number],
                alone.decision_function(learn.texts),
                atol=2e-3,
            )
            right = np.mean(np.array(alone.predict(dev.texts)) == np.array(dev.labels))
            assert path.points[number].metrics["accuracy"] == pytest.approx(right, abs=0.013)


def test_one_run_of_a_pursuit(corpora: tuple[Corpus, Corpus]) -> None:
    path = path_of(fit(corpora, "omp", refit=False))
    assert path.parameter == "budget"
    assert path.values[:3] == [1, 2, 3]
    sets = [set(path.at(number)) for number in range(len(path))]
    assert [len(names) for names in sets] == [min(v, len(sets[-1])) for v in path.values]
    assert all(fewer <= more for fewer, more in itertools.pairwise(sets))
    first = next(iter(sets[0]))
    profile = path.profile(first)
    assert profile.shape == (len(path), 1)
    assert (profile != 0).all()
    with pytest.raises(UsageError, match="no feature 'nowhere'"):
        path.profile("nowhere")


@pytest.mark.parametrize("settings", [{}, {"multiclass": "softmax"}])
def test_several_labels(settings: dict[str, Any]) -> None:
    texts = ["good fine", "bad dull", "so okay", "good so", "bad so", "okay so so"] * 4
    labels = ["pos", "neg", "mid"] * 8
    given = {"reg": "lasso", "cv": 2, "intercept": "fitted", **settings}
    model = train(texts, labels, **given)
    path = path_of(model)
    assert path.intercepts.shape == (len(path), 3)
    assert path.points[path.chosen].nonzero == model.n_features
    assert path.profile("good").shape == (len(path), 3)
    again = path_of(train(texts, labels, jobs=2, **given))
    assert again.to_dict() == path.to_dict()
    assert again.weights.data.tobytes() == path.weights.data.tobytes()


def test_a_regression() -> None:
    texts = ["good fine", "bad dull", "so okay", "good so"] * 10
    labels = ["2", "-2", "0", "1"] * 10
    path = path_of(train(texts, labels, reg="lasso", task="regression"))
    assert path.metric == "r2"
    assert path.points[-1].metrics["r2"] > 0.9 > path.points[1].metrics["r2"]


def test_a_given_penalty_strength_is_measured_as_well(corpora: tuple[Corpus, Corpus]) -> None:
    learn, _ = corpora
    model = train(learn.texts, learn.labels or (), reg=Lasso(l1=0.4))
    path = path_of(model)
    assert path.values[path.chosen] == 0.4
    assert (model.summary.split.kind, model.summary.split.parts) == ("cv", 5)
    zero = path_of(fit(corpora, Elastic(l1=0.0, l2=1.0)))
    assert zero.values[-1] == 0.0
    assert zero.chosen == len(zero) - 1


class Chosen(Regularizer):
    name = "test-chosen"

    def solve(self, problem: Problem) -> Solution:
        raise AssertionError("solved too early")


def test_no_path_is_an_error_before_anything_is_fitted(corpora: tuple[Corpus, Corpus]) -> None:
    for reg in (Chosen, "none"):
        with pytest.raises(UsageError, match="has no path"):
            fit(corpora, reg)
    assert path_parameter(Elastic) == "l1"


def test_an_interrupt_leaves_the_path_out(
    corpora: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    solve_chain = trials.solve_chain

    def stop(*args: Any) -> Any:
        args[-1].interrupted = args[-1]._stage == "path"
        return solve_chain(*args)

    monkeypatch.setattr(trials, "solve_chain", stop)
    with pytest.warns(ConvergenceWarning, match="its path is left out"):
        model = fit(corpora, "lasso")
    assert model.path is None
    assert model.n_features


# Tables


@pytest.fixture(scope="module")
def lasso(corpora: tuple[Corpus, Corpus]) -> Model:
    return fit(corpora, "lasso")


def test_training_metrics_are_those_of_the_model_on_its_documents(
    corpora: tuple[Corpus, Corpus], lasso: Model
) -> None:
    learn, dev = corpora
    path = path_of(lasso)
    texts, labels = [*learn.texts, *dev.texts], [*learn.labels, *dev.labels]  # type: ignore[misc]
    right = np.mean(np.array(lasso.predict(texts)) == np.array(labels))
    assert path.points[path.chosen].training_metrics["accuracy"] == pytest.approx(right)
    # The documents decide nothing for an empty model, and fits of all strengths improve on it.
    losses = path.errors("log-loss")["training"]
    assert losses[0] == pytest.approx(np.log(2), abs=1e-3)
    assert all(after < before + 1e-6 for before, after in itertools.pairwise(losses))


def test_errors(lasso: Model) -> None:
    path = path_of(lasso)
    table = path.errors("accuracy")
    assert table.names == ("training", "held out")
    assert table.quantity == "1 \N{MINUS SIGN} accuracy"
    assert table["held out"].tolist() == [1 - it.metrics["accuracy"] for it in path.points]
    assert path.errors()["held out"].tolist() == [it.metrics[path.metric] for it in path.points]
    with pytest.raises(UsageError, match=r"no metric 'acuracy'\. Did you mean 'accuracy'"):
        path.errors("acuracy")


def test_coefficients(lasso: Model) -> None:
    path = path_of(lasso)
    table = path.coefficients(["superb", "dull"])
    assert table["superb"].tolist() == path.profile("superb").ravel().tolist()
    assert table.array.shape == (len(path), 2)
    assert list(table.values) == path.values
    strongest = path.coefficients(top=3)
    sizes = np.abs(strongest.array[path.chosen])
    assert sizes.tolist() == sorted(sizes, reverse=True)
    assert sizes[0] == pytest.approx(np.abs(lasso.weights).max(), rel=1e-6)
    head, first, *rest = table.to_csv().splitlines()
    assert head == "l1,superb,dull"
    assert first.split(",")[1:] == ["0.0", "0.0"]
    assert len(rest) == len(path) - 1
    assert path.coefficients("dull").names == ("dull",)
    for wrong, words in [
        (lambda: table["dul"], "no column 'dul'"),
        (lambda: path.coefficients("nowhere"), "no feature 'nowhere'"),
        (lambda: path.coefficients(row=1), "row must be from 0 to 0, not 1"),
    ]:
        with pytest.raises(UsageError, match=words):
            wrong()


def test_a_table_as_a_data_frame(lasso: Model) -> None:
    pytest.importorskip("pandas")
    path = path_of(lasso)
    frame = path.coefficients(["superb", "dull"]).to_pandas()
    assert frame.index.name == "l1"
    assert frame.index.tolist() == path.values
    assert frame["dull"].tolist() == path.profile("dull").ravel().tolist()


REVIEW = "The box came on a Monday. The keys feel superb. It is black. But the battery is a joke."


@pytest.mark.parametrize(("tokenizer", "weighting"), [("words", "log"), ("words,chars", "tfidf")])
def test_sentences_of_the_chosen_point_are_those_of_the_model(
    corpora: tuple[Corpus, Corpus], tokenizer: str, weighting: str
) -> None:
    reg = Sentence(l1=0.5, group=0.3, l2=0.1)
    model = fit(corpora, reg, tokenizer=tokenizer, weighting=weighting)
    texts = [REVIEW, *corpora[1].texts[:9]]
    table = path_sentences(model, texts)
    expected: list[bool] = []
    for one in removal_tables({"model": model}, texts):
        expected += one.columns[0].selected or ()
    chosen = path_of(model).chosen
    assert table.selected[chosen].tolist() == expected
    assert 0 < table.counts[chosen] < len(table.sentences)
    assert table.counts[0] == 0
    assert table.at(0) == []
    assert table.sentences[1] == "The keys feel superb."
    assert table.names[1] == "document 1, sentence 2"
    assert table.documents[:5] == (0, 0, 0, 0, 1)


def test_names_of_all_tokenizers_are_told_apart() -> None:
    features = Vectorizer().fit(tokenizer_of("words,value,chars"), ["a b", "a c"] * 3)
    for names in (
        ["a", "b", "value: a b", "chars: x", "chars: y"],
        ["a", "chars: x"],
        ["value: c"],
    ):
        parts = _with_names(features.encoder.parts, names)
        own = [list(part.names) for part in parts]
        told = [*own[0], *(f"value: {it}" for it in own[1]), *(f"chars: {it}" for it in own[2])]
        assert told == names


def test_the_norm_of_a_sentence_is_that_of_its_features(lasso: Model) -> None:
    path = path_of(lasso)
    table = path_sentences(lasso, ["Superb and superb and dull. Xyzzy."])
    weights = path.coefficients(["superb", "dull"]).array
    rest = path.profile("and").ravel() if "and" in path.names else np.zeros(len(path))
    norms = np.sqrt((weights**2).sum(axis=1) + rest**2)
    np.testing.assert_allclose(table.array[:, 0], norms, rtol=1e-12)
    assert not table.array[:, 1].any()


def test_sentences_that_cannot_be_found(lasso: Model) -> None:
    with pytest.raises(UsageError, match="list of texts"):
        path_sentences(lasso, REVIEW)
    without = copy.copy(lasso)
    without.path = None
    with pytest.raises(UsageError, match="has no regularization path"):
        path_sentences(without, [REVIEW])
    rows = [{"title": "good", "body": "so"}, {"title": "bad", "body": "so"}] * 20
    fields = {"title": "text", "body": "text"}
    of_fields = train(rows, ["+", "-"] * 20, reg="lasso", fields=fields, min_df=1)
    with pytest.raises(UsageError, match="several fields"):
        path_sentences(of_fields, rows[:1])


def test_a_model_draws_its_path(
    lasso: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lasso.plot_path() == plot_path(path_of(lasso))
    lasso.plot_path(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").is_file()
    monkeypatch.setitem(sys.modules, "textreg_report", None)
    with pytest.raises(UsageError, match=r"not installed: pip install 'textreg\[report\]'"):
        lasso.plot_path()
    without = copy.copy(lasso)
    without.path = None
    with pytest.raises(UsageError, match="train it with path=True"):
        without.plot_path()


def test_pictures_of_tables(corpora: tuple[Corpus, Corpus], lasso: Model, tmp_path: Path) -> None:
    path = path_of(lasso)
    plot_path(path.coefficients(["superb", "dull"]), tmp_path / "c.svg")
    picture = (tmp_path / "c.svg").read_text()
    assert ">superb</text>" in picture
    assert ">chosen</text>" in picture
    table = path_sentences(lasso, [REVIEW])
    plot_path(table, tmp_path / "s.svg")
    drawn = (tmp_path / "s.svg").read_text()
    assert "But the battery is a joke." in drawn
    cells = drawn[drawn.index('id="QuadMesh') :].partition("</g>")[0]
    filled = cells.count("fill: #")  # one for each sentence and point
    assert filled == int(table.selected.sum()) > 0
    plot_path(path_sentences(lasso, corpora[1].texts), tmp_path / "t.svg")
    assert "selected of" in (tmp_path / "t.svg").read_text()
    with pytest.raises(UsageError, match="no sentences"):
        plot_path(path_sentences(lasso, [""]), tmp_path / "u.svg")
    with pytest.raises(UsageError, match="ask for a column"):
        plot_path(path.coefficients([]), tmp_path / "u.svg")


# Model files


@pytest.fixture
def saved(lasso: Model, tmp_path: Path) -> Path:
    target = tmp_path / "m.textreg"
    lasso.save(target)
    return target


def test_round_trip(corpora: tuple[Corpus, Corpus], lasso: Model, tmp_path: Path) -> None:
    for model in (lasso, fit(corpora, Omp(budget=10), weighting="tfidf")):
        model.save(tmp_path / "a")
        again = load(tmp_path / "a")
        one, two = path_of(model), path_of(again)
        assert two.to_dict() == one.to_dict()
        assert list(two.names) == list(one.names)
        assert two.intercepts.tobytes() == one.intercepts.tobytes()
        for number in range(len(one)):
            assert {k: v.tolist() for k, v in two.at(number).items()} == {
                k: v.tolist() for k, v in one.at(number).items()
            }
        again.save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


DAMAGE: dict[str, Callable[[Any, Any], object]] = {
    "it has a path but no array": lambda h, a: a.pop("path_ptr"),
    "'path.parameter' is missing": lambda h, a: h["path"].pop("parameter"),
    "'path.points' must be a list": lambda h, a: h["path"].update(points={}),
    "and chosen is 99": lambda h, a: h["path"].update(chosen=99),
    "'path.points[0]' must be an object": lambda h, a: h["path"]["points"].__setitem__(0, 3),
    "a point has no number for l1": lambda h, a: h["path"]["points"][0]["params"].update(l1="1"),
    "'path.points[0].gap' must be a finite number": lambda h, a: h["path"]["points"][0].update(
        gap="no"
    ),
    "different metrics": lambda h, a: h["path"]["points"][1].update(training_metrics={}),
    "a point has no ": lambda h, a: h["path"]["points"][0].update(metrics={}),
    "intercepts, not": lambda h, a: h["path"]["points"].append(h["path"]["points"][0]),
    "weights for": lambda h, a: a.update(path_weights=a["path_weights"][1:]),
    "does not divide": lambda h, a: a.update(path_ptr=a["path_ptr"][::-1].copy()),
    "outside 0 to": lambda h, a: a.update(path_columns=a["path_columns"] + 1000),
    "do not increase": lambda h, a: a.update(path_columns=a["path_columns"] * 0),
    "the same name": lambda h, a: a.update(path_names=a["path_names"] * 0 + 97),
    "'path' must be an object": lambda h, a: h.update(path=[]),
}


@pytest.mark.parametrize("words", DAMAGE)
def test_damage_is_refused(saved: Path, words: str) -> None:
    rewrite(saved, DAMAGE[words])
    with pytest.raises(ModelError) as error:
        load(saved)
    assert "is damaged" in str(error.value)
    if words != "the same name":  # which may be told in another way
        assert words in str(error.value)


# Commands


def test_commands(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_demo("demo", train=300)
    options = ("--reg", "lasso", "--ngrams", "1", "--cv", "3", "--path")
    run = cli("train", "demo/train.jsonl", *options, "-o", "m.textreg")
    assert run.code == 0
    assert "values of l1" in run.out
    shown = cli("show", "m.textreg", "--path")
    head, *rows = shown.out.splitlines()
    assert head.split() == [
        *("l1", "features", "accuracy", "calibrated-log-loss", "log-loss", "macro-f1", "gap")
    ]
    path = path_of(load("m.textreg"))
    assert len(rows) == len(path)
    assert [row.split()[0] == "chosen" for row in rows].index(True) == path.chosen
    document = json.loads(cli("show", "m.textreg", "--path", "--json").out)
    assert document["path"] == path.to_dict()
    errors = cli("show", "m.textreg", "--errors").out.splitlines()
    assert errors[0] == "calibrated-log-loss along l1 (* is the model)"
    assert [line.split()[0].endswith("*") for line in errors[2:]].index(True) == path.chosen
    one = cli("show", "m.textreg", "--coefficients", "superb", "--json")
    table = path.coefficients("superb")
    assert json.loads(one.out)["coefficients"] == table.to_dict()
    assert cli("show", "m.textreg", "--coefficients", "").out.splitlines()[1].split()[1:]
    Path("review.txt").write_text(REVIEW)
    found = cli("show", "m.textreg", "--sentences", "review.txt")
    assert found.code == 0
    assert cli("plot", "m.textreg", "--sentences", "review.txt", "-o", "s.svg").code == 0
    starred = [line for line in found.out.splitlines() if line.startswith("* ")]
    expected = path_sentences(load("m.textreg"), [REVIEW]).at(path.chosen)
    assert [line.split("  ")[-1].strip() for line in starred] == expected
    assert "The keys feel superb." in Path("s.svg").read_text()
    assert cli("plot", "m.textreg", "-o", "p.svg").code == 0
    picture = Path("p.svg").read_text()
    point = path.points[path.chosen]
    assert (
        f"chosen: {point.nonzero:,} features, {point.metrics['calibrated-log-loss']:.3f}" in picture
    )


def test_points_beside_each_other_are_one_range() -> None:
    table: Any = SimpleNamespace(values=[0.7, 0.3, 0.08, 0.05, 0.01])
    assert _runs(table, [0, 1, 2, 4]) == "0.7 to 0.08, 0.01"


def test_wrong_commands(cli: Cli, saved: Path) -> None:
    model = load(saved)
    for arguments, words in [
        ((saved, "--errors", "--coefficients", "x"), "--coefficients and --errors are two tables"),
        ((saved, "--coefficients", "nowhere"), "no feature 'nowhere'"),
        ((saved, "--sentences", "none.txt"), "none.txt: No such file"),
    ]:
        run = cli("show", *arguments)
        assert (run.code, run.out) == (2, "")
        assert words in run.err
    model.path = None
    model.save(saved)
    for arguments in [("show", saved, "--path"), ("plot", saved, "-o", "x.svg")]:
        run = cli(*arguments)
        assert (run.code, run.out) == (2, "")
        assert "has no regularization path: train with" in run.err


def test_pictures(corpora: tuple[Corpus, Corpus], lasso: Model, tmp_path: Path) -> None:
    plot_path(path_of(fit(corpora, "ridge", refit=False)), tmp_path / "r.svg")
    assert "l2 (all models have" in (tmp_path / "r.svg").read_text()
    path = path_of(lasso)
    with pytest.raises(UsageError, match=r"\.svg or \.png"):
        plot_path(path, tmp_path / "r.pdf")
    with pytest.raises(UsageError, match="no folder"):
        plot_path(path, tmp_path / "none" / "r.svg")


class Stepwise(Regularizer):
    """Its penalty strengths are fractions of 8."""

    name = "stepwise"
    share: float = param(default=AUTO, min=0, search=LogGrid(0.5, 1.0, 1), help="one value alone")
    weight: float = param(default=AUTO, min=0, search=LogGrid(0.1, 1.0, 3, zero=True), help="w")
    mode: str = param(default=AUTO, choices=("a", "b"), search=Choices(("a", "b")), help="words")
    fixed: int = param(default=1, help="not searched")

    def scale(self, problem: Problem, parameter: str) -> float:
        return 8.0

    def solve(self, problem: Problem) -> Solution:
        raise NotImplementedError


class Longer(Stepwise):
    """Has a whole number that is searched beside a strength."""

    name = "longer"
    count: int = param(default=AUTO, search=Choices((1, 40)), help="whole numbers")


class Stronger(Stepwise):
    """Has strengths above its scale, and the one by which every path goes."""

    name = "stronger"
    l1: float = param(default=AUTO, min=0, search=LogGrid(0.01, 2.0, 3), help="before")
    last: float = param(default=AUTO, min=0, search=LogGrid(0.1, 1.0, 3), help="after it")


class Unsearched(Stepwise):
    """Has no values that make a model larger."""

    name = "unsearched"
    weight: float = param(default=1.0, min=0, help="w")
    count: float = param(default=AUTO, search=Choices((1.0, 2.0)), help="no whole numbers")


def test_what_changes_along_a_path() -> None:
    some: Any = None
    given: dict[str, Any] = {"share": 1.0, "mode": "a"}
    kinds = Stepwise, Longer, Stronger, Lasso
    assert [path_parameter(part) for part in kinds] == ["weight", "count", "l1", "l1"]
    with pytest.raises(UsageError, match="unsearched has no path: none of its parameters makes"):
        path_parameter(Unsearched)

    def values(part: Regularizer, name: str) -> list[float]:
        settings = path_settings(part, some)
        assert {one.replace(**{name: getattr(part, name)}) for one in settings} == {part}
        return [getattr(one, name) for one in settings]

    # From the scale down to the least that is searched and is not 0, and the one that was chosen.
    evenly = [float(f"{value:.4g}") for value in np.geomspace(8.0, 0.8, POINTS)]
    assert values(Stepwise(weight=0.8, **given), "weight") == evenly
    assert values(Stepwise(weight=0.0, **given), "weight") == [*evenly, 0.0]
    assert values(Stepwise(weight=9.0, **given), "weight") == [9.0, *evenly]
    wider = [float(f"{value:.4g}") for value in np.geomspace(16.0, 0.08, POINTS)]
    strong = Stronger(weight=1.0, l1=16.0, last=1.0, **given)
    assert values(strong, "l1") == wider
    numbers = [1, 2, 3, 5, 8, 14, 24, 40]
    whole = Longer(weight=1.0, count=24, **given)
    assert values(whole, "count") == numbers
    assert values(whole.replace(count=9), "count") == sorted([*numbers, 9])


def points(*strengths: float) -> tuple[PathPoint, ...]:
    training = {"accuracy": 1.0, "mse": 0.0}
    return tuple(
        PathPoint({"l1": it}, at, {"accuracy": it / 8, "mse": it}, training, None)
        for at, it in enumerate(strengths)
    )


def test_a_path_of_three_points() -> None:
    weights = csr_array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, -2, 0], [3, 4, 0], [-5, 0, 0.5]])
    path = SolutionPath(
        *("l1", 1, "accuracy", points(4.0, 2.0, 1.0)),
        names=["a", "b", "c"],
        weights=csr_array(weights.astype(np.float32)),
        intercepts=np.zeros((3, 2)),
    )
    assert (len(path), path.values) == (3, [4.0, 2.0, 1.0])
    assert path.headline() == "3 models; chosen l1 2 of 1 features"
    assert path.tables() == [
        (
            "",
            [
                ("", "l1", "features", "accuracy", "mse", "gap"),
                ("", "4", 0, 0.5, 4.0, "none"),
                ("chosen", "2", 1, 0.25, 2.0, "none"),
                ("", "1", 2, 0.125, 1.0, "none"),
            ],
        )
    ]
    assert {name: column.tolist() for name, column in path.at(1).items()} == {
        "a": [1.0, 0.0],
        "b": [0.0, -2.0],
    }
    assert path.at(0) == {}
    assert path.profile("a").tolist() == [[0, 0], [1, 0], [3, -5]]
    assert path.coefficients(row=1).names == ("b", "a")  # by their weights in the model itself
    assert path.coefficients(row=0, top=1).names == ("a",)
    table = path.coefficients("a", row=1)
    assert (table.names, table["a"].tolist()) == (("a",), [0.0, 0.0, -5.0])
    assert table.rows() == [["l1", "a"], [4.0, 0.0], [2.0, 0.0], [1.0, -5.0]]
    assert table.to_dict() == {
        "parameter": "l1",
        "values": [4.0, 2.0, 1.0],
        "chosen": 1,
        "quantity": "weight",
        "columns": [{"name": "a", "values": [0.0, 0.0, -5.0]}],
    }
    for row in (-1, 2):
        with pytest.raises(UsageError, match=f"row must be from 0 to 1, not {row}: there are 2"):
            path.coefficients("a", row=row)
    assert path.errors()["held out"].tolist() == [0.5, 0.75, 0.875]
    assert path.errors("mse")["held out"].tolist() == [4.0, 2.0, 1.0]
    assert path.errors("mse").quantity == "mse"


def test_points_that_do_not_belong_together() -> None:
    first, second = points(2.0, 1.0)
    fewer = replace(second, metrics={"mse": 1.0}), replace(second, training_metrics={})
    differ = "its points have different metrics."
    cases: list[tuple[str, int, str, tuple[PathPoint, ...], str]] = [
        ("l2", 0, "mse", (first,), "a point has no number for l2."),
        ("l1", 0, "f1", (first,), "a point has no f1."),
        ("l1", -1, "mse", (first, second), "there are 2 points, and chosen is -1."),
        ("l1", 2, "mse", (first, second), "there are 2 points, and chosen is 2."),
        ("l1", 0, "mse", (first, fewer[0]), differ),
        ("l1", 0, "mse", (first, fewer[1]), differ),
        ("l1", 0, "mse", (replace(first, params={"l1": True}),), "a point has no number for l1."),
    ]
    for parameter, chosen, metric, given, message in cases:
        with pytest.raises(RecordError) as raised:
            PathHeader(parameter, chosen, metric, given)
        assert str(raised.value) == message
    assert len(PathHeader("l1", 1, "mse", (first, second))) == 2
