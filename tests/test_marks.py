"""Marked passages as a prior on penalties (textreg.training.priors)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import Cli
from scipy.sparse import csr_array

import textreg
from textreg.builtin.separable import Elastic
from textreg.errors import DataError, UsageError
from textreg.features.encoder import JoinedEncoder
from textreg.features.vectorize import Vectorizer
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus, Problem
from textreg.tasks.base import Held
from textreg.tasks.classification import OneVsRest
from textreg.training import fit, priors
from textreg.training.prepare import SEARCH_TOL
from textreg.training.priors import COUNT, Marks, log_odds_of
from textreg.training.trials import MeasuredSetting, Problems

REASONS = {"p": ["fine", "superb", "great"], "n": ["dull", "awful", "flat"]}
OTHERS = [f"word{at}" for at in range(60)]


def corpus(n: int = 80, seed: int = 0, share: float = 1.0) -> tuple[list[str], list[str], Any]:
    """Texts with two reasons among other words, and where these are, in a share of the texts."""
    rng = np.random.default_rng(seed)
    texts, labels, evidence = [], [], []
    for at in range(n):
        label = "pn"[at % 2]
        reason = " ".join(rng.choice(REASONS[label], 2))
        before, after = (" ".join(rng.choice(OTHERS, 5)) for _ in range(2))
        texts.append(f"{before} {reason} {after}")
        labels.append(label)
        marked = [(len(before) + 1, len(before) + 1 + len(reason))]
        evidence.append(marked if rng.random() < share else [])
    return texts, labels, evidence


WORDS: dict[str, Any] = {"tokenizer": "words", "ngrams": 1, "jobs": 1, "cv": 2}


def trained(n: int = 80, share: float = 1.0, **options: Any) -> textreg.Model:
    texts, labels, evidence = corpus(n, share=share)
    return textreg.train(texts, labels, evidence_of=evidence, **{**WORDS, **options})


def test_reasons_get_more_of_the_weight() -> None:
    texts, labels, _ = corpus()
    model, plain = trained(reg="ridge"), textreg.train(texts, labels, reg="ridge", **WORDS)
    assert model.summary is not None
    assert model.summary.marks is not None
    assert model.summary.marks.documents == 80
    assert model.summary.marks.strength in Marks.strengths[1:]
    reasons = {word for some in REASONS.values() for word in some}

    def share(one: textreg.Model) -> float:
        own = [name in reasons for name in one.encoder.names]
        return float((one.weights[0][own] ** 2).sum() / (one.weights**2).sum())

    assert share(model) > share(plain)
    new, answers, _ = corpus(200, seed=1)
    right = [np.mean(np.array(one.predict(new)) == answers) for one in (model, plain)]
    assert right[0] >= right[1]


def test_log_odds_are_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels, evidence = corpus(30, share=0.6)
    encoder = Vectorizer(ngrams=1).fit(textreg.tokenizer("words"), texts).encoder
    more = np.random.default_rng(0).normal(size=encoder.n_columns)
    monkeypatch.setattr(priors, "_expected", lambda *_: more)
    found = log_odds_of(encoder, Corpus(texts, labels, evidence_of=evidence))
    a, b = dict.fromkeys(encoder.names, 0), dict.fromkeys(encoder.names, 0)
    for text, spans in zip(texts, evidence, strict=True):
        place = 0
        for word in text.split():
            start = text.index(word, place)
            place = start + len(word)
            for first, last in spans:
                (a if first <= start and place <= last else b)[word] += 1
    r = sum(a.values()) / (sum(a.values()) + sum(b.values()))
    shares = 1 / (1 + np.exp(-np.log(r / (1 - r)) - more))
    expected = [
        np.log((a[word] + COUNT * own) / (b[word] + COUNT * (1 - own))) - np.log(r / (1 - r))
        for word, own in zip(encoder.names, shares, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("tokenizer", ["words", "chars"])
def test_words_like_those_that_are_marked_are_expected(tokenizer: str) -> None:
    days, reasons = ["monday", "tuesday", "friday"], ["fine", "superb", "dull", "flat"]
    rows = [(day, reason) for day in days for reason in reasons] * 10
    texts = [f"we went there last {day} evening; the show was so {it} in all" for day, it in rows]
    evidence = [
        [(text.index(it), text.index(it) + len(it))] if it in ("fine", "dull") else []
        for text, (_, it) in zip(texts, rows, strict=True)
    ]
    labels = ["p", "p", "n", "n"] * 30
    first = Vectorizer(ngrams=2).fit(textreg.tokenizer("words"), texts).encoder
    second = Vectorizer(ngrams=1).fit(textreg.tokenizer("chars"), texts).encoder
    encoder = JoinedEncoder([first, second]) if tokenizer == "words" else second
    rho = log_odds_of(encoder, Corpus(texts, labels, evidence_of=evidence))
    place = {name: at for at, name in enumerate(encoder.names)}
    chars = rho[encoder.n_columns - second.n_columns + list(second.names).index("erb")]
    if tokenizer == "chars":  # without words nothing is known of what is in no document with marks
        assert chars == pytest.approx(0.0, abs=1e-12)
        return
    others = [rho[place[name]] for name in (*days, "evening", "show", "went")]
    for word in ("superb", "flat"):
        assert rho[place[word]] > max(0.0, *others)
    assert chars > 0.0  # which no other word holds


def test_columns_times_a_factor_are_penalties_by_a_factor() -> None:
    rng = np.random.default_rng(0)
    X, y = csr_array(rng.poisson(0.5, (40, 12)).astype(float)), rng.choice([-1.0, 1.0], 40)
    marks, t = Marks(rng.normal(size=12), 40), 1.0
    scaled = marks.applied(X, t)
    for name, strengths, power in (("ridge", {"l2": 0.4}, 1.0), ("lasso", {"l1": 0.4}, 0.5)):
        part = textreg.regularizer(name, **strengths)
        fitted = part.solve(Problem(scaled, y, tol=1e-11))
        _, w, _ = marks.fold_in(None, fitted.w[None], t)  # type: ignore[arg-type]  # unused
        factors = np.exp(-t * power * marks.rho)
        weighed = part.replace(weights=tuple(factors)).solve(Problem(X, y, tol=1e-11))
        np.testing.assert_allclose(w[0], weighed.w, atol=1e-4)


@pytest.mark.parametrize("reg", ["lasso", "elastic", "auto", "sentence", "group"])
def test_other_regularizers(reg: str) -> None:
    more = {"groups": "sentences"} if reg == "group" else {}
    model = trained(40, reg=reg, intercept="fitted", **more)
    assert model.summary is not None
    assert model.summary.marks is not None
    assert model.predict(["fine superb", "dull flat"]) == ["p", "n"]


def test_what_is_held_out_is_scored_by_the_regularizer_of_the_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whose strengths are those of the columns times their factors."""
    fitted: list[Any] = []
    fit_rows = fit.fit_rows

    def noted(regularizer: Any, *args: Any, **kwargs: Any) -> Any:
        fitted.append(regularizer)
        return fit_rows(regularizer, *args, **kwargs)

    monkeypatch.setattr(fit, "fit_rows", noted)
    summary = trained(reg="ridge").summary
    assert summary is not None
    assert fitted[-1] == fitted[-2] != textreg.Ridge(l2=summary.reg.params["l2"])


def test_no_marks_change_nothing() -> None:
    texts, labels, _ = corpus()
    plain = textreg.train(texts, labels, reg="ridge", **WORDS)
    same = textreg.train(texts, labels, reg="ridge", evidence_of=[[]] * 80, **WORDS)
    assert same.summary is not None
    assert same.summary.marks is None
    assert same.weights.tobytes() == plain.weights.tobytes()


def test_marks_elsewhere_are_no_reasons() -> None:
    """Their shadow: as many passages, as long, at other places."""
    texts, labels, evidence = corpus(200)
    moved = [[(0, end - start)] for ((start, end),) in evidence]
    model = textreg.train(texts, labels, evidence_of=moved, reg="ridge", **WORDS)
    plain = textreg.train(texts, labels, reg="ridge", **WORDS)
    new, answers, _ = corpus(200, seed=1)
    right = [np.mean(np.array(one.predict(new)) == answers) for one in (model, plain)]
    assert right[0] >= right[1] - 0.01


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize(
    "value",
    [[[0, 4]], [[0, 4], [9, 13]], ["good"], "good", json.dumps([[0, 4]]), '["good", "plot"]'],
)
def test_passages_are_read(value: Any, tmp_path: Path) -> None:
    rows = [{"text": "good and plot", "label": "p", "why": value}]
    rows.append({"text": "bad", "label": "n", "why": None})
    read = read_corpus(write(tmp_path / "a.jsonl", rows), evidence_col="why")
    assert read.evidence_of is not None
    assert list(read.evidence_of[1]) == []
    assert next(iter(read.evidence_of[0])) == (0, 4)
    chosen = read.select(np.array([1, 0])).evidence_of
    assert chosen is not None
    assert list(chosen[0]) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[0, 40]], r"a.jsonl:1: \[0, 40\] in 'why' is no passage of its 13 characters"),
        ([[4, 2]], "is no passage"),
        ([["a", 2]], "is no passage"),
        ([7], "is no passage"),
        (["nowhere"], "\"nowhere\" in 'why' is not in its text, letter by letter"),
    ],
)
def test_passages_that_are_none(value: Any, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"text": "good and plot", "label": "p", "why": value}])
    with pytest.raises(DataError, match=message):
        read_corpus(path, evidence_col="why")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reg": "omp"}, "marked passages do not go with the regularizer omp"),
        ({"path": True, "reg": "elastic"}, "do not go with path"),
        ({"refit": False, "cv": None}, "do not go with no-refit"),
        ({"unlabeled": ["more"]}, "do not go with vectors or unlabeled documents"),
    ],
)
def test_what_they_do_not_go_with(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        trained(**options)


def test_marks_that_say_nothing() -> None:
    texts, labels, _ = corpus(20)
    with pytest.raises(DataError, match="all of the words of the documents with marks is marked"):
        textreg.train(texts, labels, evidence_of=[[(0, len(text))] for text in texts], **WORDS)
    with pytest.raises(DataError, match=r"document 1: \[0, 999\] is no passage of its"):
        textreg.train(texts, labels, evidence_of=[[(0, 999)]] + [[]] * 19, **WORDS)
    with pytest.raises(DataError, match="20 texts but 1 evidence_of"):
        textreg.train(texts, labels, evidence_of=[[(0, 2)]], **WORDS)


def test_words_that_are_listed(tmp_path: Path) -> None:
    texts, labels, _ = corpus(40)
    path = tmp_path / "reasons.txt"
    path.write_text("\n".join([*REASONS["p"], *REASONS["n"], "-word1", "- word2", "unheard"]))
    model = textreg.train(texts, labels, reg="ridge", evidence_words=str(path), **WORDS)
    assert model.summary is not None
    assert model.summary.marks is not None
    assert model.summary.marks.documents == 0
    assert model.summary.marks.strength > 0.0
    new, answers, _ = corpus(200, seed=1)
    plain = textreg.train(texts, labels, reg="ridge", **WORDS)
    right = [np.mean(np.array(one.predict(new)) == answers) for one in (model, plain)]
    assert right[0] >= right[1]
    newer = textreg.update(model, new[:20], answers[:20], old=(texts, labels))
    assert newer.summary is not None
    assert newer.summary.marks is not None
    path.write_text("unheard\n")
    with pytest.raises(DataError, match=r"reasons.txt: none of its words is in the training texts"):
        textreg.train(texts, labels, reg="ridge", evidence_words=str(path), **WORDS)
    with pytest.raises(UsageError, match="cannot be read"):
        textreg.train(texts, labels, evidence_words=str(tmp_path / "none.txt"), **WORDS)


def test_the_command_says_so(tmp_path: Path, cli: Cli) -> None:
    texts, labels, evidence = corpus()
    rows = [
        {"text": text, "label": label, "why": why}
        for text, label, why in zip(texts, labels, evidence, strict=True)
    ]
    path = write(tmp_path / "a.jsonl", rows)
    words = ["train", path, "--tokenizer", "words", "--evidence-col", "why", "-o", tmp_path / "m"]
    assert "marks: passages of 80 documents; penalties follow them, strength" in cli(*words).out
    assert "passages of 80 documents" in cli("show", tmp_path / "m").out
    more = write(tmp_path / "b.jsonl", rows[:6])
    out = cli("update", tmp_path / "m", more, "--old", path, "-o", tmp_path / "n").out
    assert "marks: passages of 86 documents" in out


def test_passages_in_python() -> None:
    texts = ["good plot", "bad plot", "a good end"]
    given = [["good", (np.int64(5), 9)], np.array([[0, 3]]), "good"]
    arrays = [["good", np.array([5, 9])], [np.array([0, 3])], "good"]
    assert Corpus(texts, evidence_of=arrays).evidence_of == [[(0, 4), (5, 9)], [(0, 3)], [(2, 6)]]
    kept = Corpus(texts, labels=["p", "n", "p"], evidence_of=given).evidence_of
    assert kept == [[(0, 4), (5, 9)], [(0, 3)], [(2, 6)]]
    assert Corpus(texts, evidence_of=[None, [], ""]).evidence_of == [[], [], []]
    column = pd.Series(["good", None, None])  # where NaN stands for none
    for evidence in (column, column.to_numpy(), iter(column)):
        assert Corpus(texts, evidence_of=evidence).evidence_of == [[(0, 4)], [], []]
    with pytest.raises(DataError, match=r'document 2: "plots" is not in its text'):
        Corpus(texts, evidence_of=np.array(["", "plots", ""]))
    with pytest.raises(DataError, match=r'document 3: "nowhere" is not in its text, letter by'):
        Corpus(texts, evidence_of=[[], [], ["nowhere"]])
    with pytest.raises(DataError, match="document 1: 5 is no passage of its 9 characters"):
        Corpus(texts, evidence_of=[5, [], []])
    with pytest.raises(UsageError, match="lists of tokens, which have no character offsets"):
        textreg.train([["good"], ["bad"]] * 9, ["p", "n"] * 9, evidence_of=[["good"]] * 18)
    rows = [{"title": text} for text in texts * 4]
    with pytest.raises(UsageError, match="do not go with fields"):
        textreg.train(
            rows, ["p", "n", "p"] * 4, fields=["title"], evidence_of=[["bad"], *[[(0, 3)]] * 11]
        )


def test_what_lies_in_a_passage() -> None:
    texts = ["aa bb cc", "bb", "aa bb"]
    encoder = Vectorizer(ngrams=1).fit(textreg.tokenizer("words"), texts).encoder
    (part,) = encoder.parts
    tokens = part.features(part.words(texts, spans=True))

    def counts(*evidence: Any) -> list[list[int]]:
        return [row[:3] for row in priors._counts(tokens, evidence, 4).astype(int).tolist()]

    assert counts([(0, 5)], [], [(3, 5)]) == [[1, 2, 0], [1, 1, 1]]
    assert counts([(1, 5)], [], []) == [[0, 1, 0], [2, 2, 1]]  # cut words are beside it
    assert counts([(0, 4)], [(0, 2)], []) == [[1, 1, 0], [1, 2, 1]]
    assert counts([(0, 2), (3, 8)], [], []) == [[1, 1, 1], [1, 2, 0]]


def test_log_odds_of_a_list(tmp_path: Path) -> None:
    encoder = Vectorizer(ngrams=1).fit(textreg.tokenizer("words"), ["b a d c"]).encoder
    path = tmp_path / "words.txt"
    path.write_text("c\n\n  - a \nunheard\n-unseen\n")
    assert priors.log_odds_of_words(encoder, str(path)).tolist() == [
        *(-np.log(8.0), 0.0, np.log(8.0), 0.0)
    ]


def test_strengths_keep_their_share_of_the_scale() -> None:
    X, y = csr_array([[1.0, 2.0], [3.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 0])
    task = OneVsRest(("a", "b"))
    plain, applied = (
        Problems(Problem(rows, task.row(y, 0)), task, y)
        for rows in (X, csr_array(X.toarray() * [4.0, 1.0]))
    )
    scales = [one.problem.largest_gradient_at_zero() for one in (plain, applied)]
    assert scales[0] != scales[1]
    marks = Marks(np.zeros(2), 1)
    found = marks.regularizer(Elastic(l1=0.25, l2=0.0), plain, applied)
    assert found == Elastic(l1=float(f"{0.25 * scales[1] / scales[0]:.4g}"), l2=0.0)
    both = marks.regularizer(Elastic(l1=0.25, l2=0.5), plain, applied)
    assert both.l2 == float(f"{0.5 * scales[1] / scales[0]:.4g}")


@pytest.mark.parametrize(
    ("losses", "strength"),
    [
        # 10 times the mean loss and the cost 4, 1, 0, 1 of the strengths 0, 1/2, 1 and 2
        ({0.0: 1.0, 0.5: 1.25, 1.0: 1.5, 2.0: 1.5}, 0.5),
        ({0.0: 1.0, 0.5: 1.375, 1.0: 1.4375, 2.0: 1.5}, 0.0),
        ({0.0: 1.0, 0.5: 1.3, 1.0: 1.4, 2.0: 1.4}, 0.0),  # as good, and so the first
        ({0.0: 2.0, 0.5: 2.0, 1.0: 2.0, 2.0: 2.0}, 1.0),
        ({0.0: 2.0, 0.5: 2.0, 1.0: 2.0, 2.0: 1.75}, 2.0),
    ],
)
@pytest.mark.parametrize("metric", ["calibrated-log-loss", "accuracy", "mse"])
def test_the_most_probable_strength_is_chosen(
    monkeypatch: pytest.MonkeyPatch, losses: dict[float, float], strength: float, metric: str
) -> None:
    class Data(SimpleNamespace):
        strength = 0.0

        def with_prior(self, strength: float) -> Any:
            return type(self)(**vars(self), strength=strength) if strength else self

        def problems(self, rows: Any, tol: float) -> str:
            assert tol == SEARCH_TOL
            return f"problems {self.strength}"

        def without(self, problems: str, rows: Any, split: Any) -> str:
            assert problems == f"problems {self.strength}"
            return problems

    def measure(scores: float, y: Any) -> dict[str, float]:
        loss = losses[scores]
        return {metric: {"accuracy": -loss, "mse": np.exp(2.0 * loss)}.get(metric, loss)}

    task = SimpleNamespace(
        probabilistic=metric == "calibrated-log-loss",
        discrete=metric != "mse",
        metrics=("accuracy", "calibrated-log-loss"),
        known=lambda y: np.ones(len(y), dtype=bool),
        measure=lambda scores, y, weights: measure(scores, y),
    )
    prior = SimpleNamespace(
        strengths=Marks.strengths,
        costs=Marks.costs,
        regularizer=lambda part, plain, applied: f"{part} for {applied}",
    )
    settings = SimpleNamespace(reg="ridge", refit=True, tol=1e-4, intercept="fitted")
    rows = SimpleNamespace(matrix=lambda rows: None)
    data: Any = Data(
        prior=prior, settings=settings, task=task, splits=["split"], y=np.zeros(10), rows=rows
    )

    def held_out(part: Any, folds: list[str], *_: Any) -> Any:
        strength = float(folds[0].split()[1])
        assert part == (f"ridge for {folds[0]}" if strength else "ridge")
        scores: Any = strength
        return Held(scores, np.zeros(10)), None, None

    def held_out_of(folds: list[str], *_: Any) -> Any:
        scores: Any = float(folds[0].split()[1])
        return Held(scores, np.zeros(10)), None, None

    monkeypatch.setattr(fit, "held_out", held_out)
    context: Any = SimpleNamespace(metric="accuracy")
    some: Any = None
    chosen, part, best = fit.with_prior(context, data, None, some)
    assert (chosen.strength, best) == (strength, None)
    assert part == (f"ridge for problems {strength}" if strength else "ridge")
    # The setting that was searched, as it is measured with that strength.
    searched: Any = MeasuredSetting(textreg.Ridge(l2=1.0), {metric: 9.0}, 1.0, ())
    part = searched.regularizer
    settings.reg = None
    monkeypatch.setattr(prior, "regularizer", lambda part, plain, applied: part)
    monkeypatch.setattr(fit, "held_out", lambda part, *rest: held_out_of(*rest))
    best = fit.with_prior(context, data, searched, some)[2]
    assert best is not None
    assert best.metrics == measure(strength, None)
    assert best.regularizer is part


def test_what_strengths_cost() -> None:
    """|log2(t)|, with 1/16 in place of 0."""
    assert Marks.costs == tuple(abs(np.log2(t or 1 / 16)) for t in Marks.strengths)
