"""Tasks: each is one class, and a further one needs nothing but an entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import textreg
from textreg.errors import DataError, UsageError
from textreg.kinds import Loss
from textreg.losses import SquaredHinge
from textreg.measure.evaluation import RegressionEvaluation, evaluate_numbers
from textreg.records import Corpus
from textreg.tasks import TASKS, Regression, Task, classification, read_target, task_of_header
from textreg.tasks.classification import Multiclass
from textreg.training.settings import TrainingSettings

LABELS = ("bird", "cat", "dog")
EVERY = [
    classification(LABELS[:2]),
    classification(LABELS),
    classification(LABELS, multiclass="softmax"),
    classification(LABELS[:2], SquaredHinge()),
    Regression(),
]


@dataclass(frozen=True)
class Sets(Multiclass):
    """Any number of labels for each document, written as ``cat+dog``: a task by these tests alone.

    y is (n, labels), 1 where a document has a label. Its methods are all that multi-label
    classification takes.
    """

    name = "sets"
    kind = "sets"
    metrics = ("exact-match",)

    @classmethod
    def kinds(cls) -> dict[str, type[Task]]:
        return {cls.kind: cls}

    @classmethod
    def of(cls, corpus: Corpus, loss: Loss, multiclass: str) -> Task:
        every = {label for labels in corpus.labels or () for label in labels.split("+")}
        return cls(tuple(sorted(every - {""})), loss.name, loss.log_odds)

    def targets(self, corpus: Corpus) -> Any:
        sets = [set(labels.split("+")) for labels in corpus.labels or ()]
        return np.array([[label in labels for label in self.labels] for labels in sets], np.int64)

    dev_targets = known_targets = targets

    def known(self, y: Any) -> Any:
        return np.ones(len(y), dtype=bool)

    def row(self, y: Any, number: int) -> Any:
        return 2.0 * y[:, number] - 1.0

    def strata(self, y: Any) -> tuple[Any, Sequence[str]]:
        return np.zeros(len(y), dtype=np.int64), ("all",)

    def factors(self, y: Any, sample_weight: Any, class_weight: Any) -> Any:
        return np.ones(1)

    def describe(self, y: Any) -> dict[str, float]:
        return dict(zip(self.labels, y.sum(axis=0).tolist(), strict=True))

    def decide(self, scores: Any, thresholds: Mapping[str, float] | None = None) -> Any:
        return np.asarray(scores > self._offsets(thresholds or {}), dtype=np.int64)

    def _log_losses(self, table: Any, codes: Any) -> Any:
        return np.logaddexp(0.0, np.where(codes == 1, -table, table)).mean(axis=1)

    def answers(self, y: Any) -> list[str] | list[float]:
        return ["+".join(np.array(self.labels)[row == 1].tolist()) for row in y]

    def right(self, y_true: Any, y_pred: Any) -> Any:
        return (y_true == y_pred).all(axis=1)

    def measure(self, scores: Any, y: Any, weights: Any = None) -> dict[str, float]:
        return {"exact-match": float(self.right(y, self.decide(scores)).mean())}

    def evaluate(self, corpus: Corpus, scores: Any, thresholds: Any, calibration: Any) -> Any:
        return evaluate_numbers(self.targets(corpus).ravel(), self.decide(scores).ravel())

    def probabilities(self, scores: Any, calibration: Any = None) -> Any:
        return 1 / (1 + np.exp(-scores))

    def log_probabilities(self, scores: Any, calibration: Any = None) -> Any:
        return -np.logaddexp(0.0, -scores)

    def explained(self, y_pred: Any) -> Any:
        return y_pred.argmax(axis=1)

    def documents_of(self, y: Any, side: int) -> Any:
        return y[:, side] == 1


def animals(n: int) -> tuple[list[str], list[str]]:
    """Texts that name their labels, none to three of them."""
    random = np.random.default_rng(5)
    has = random.random((n, len(LABELS))) < 0.5
    words = [[f"{label}s" for label, one in zip(LABELS, row, strict=True) if one] for row in has]
    texts = [" ".join(["we", "saw", *some, f"w{number % 7}"]) for number, some in enumerate(words)]
    labels = ["+".join(np.array(LABELS)[row].tolist()) for row in has]
    return texts, labels


def test_a_further_task_is_one_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A class that stands in TASKS from the start is among the choices of the settings.
    monkeypatch.setitem(TASKS, Sets.name, Sets)
    for name, value in (("task", Sets.name), ("metric", Sets.metrics[0])):
        declared = TrainingSettings.declared()[name]
        assert declared.choices is not None
        choices = (*declared.choices, value)
        monkeypatch.setitem(TrainingSettings._declared, name, replace(declared, choices=choices))
    texts, labels = animals(300)
    model = textreg.train(texts[:200], labels[:200], task="sets", reg="lasso", path=True, cv=2)
    assert model.labels == LABELS
    assert model.summary is not None
    assert (model.summary.task, model.summary.metric) == ("sets", "exact-match")
    assert len(model.summary.search) > 1
    assert model.path is not None
    assert model.predict(texts[200:]) == labels[200:]
    assert model.predict_proba(texts[:4]).shape == (4, 3)
    assert [names[0][0] for names in model.top_features(1).values()] == ["birds", "cats", "dogs"]
    told = model.explain("We saw cats.")
    assert (told.label, told.of, told.words[-1].feature) == ("cat", "cat", "cats")

    model.save(tmp_path / "animals.textreg")
    loaded = textreg.load(tmp_path / "animals.textreg")
    assert loaded.task == model.task
    scores = loaded.decision_function(texts[200:])
    result = loaded.task.evaluate(Corpus(texts[200:], labels[200:]), scores, {}, None)
    assert isinstance(result, RegressionEvaluation)
    assert result.r2 == 1.0


@pytest.mark.parametrize("task", EVERY, ids=lambda task: f"{task.kind}, {task.loss}")
def test_headers_and_shapes(task: Task) -> None:
    assert task_of_header(task.to_header()) == task
    n = 40
    random = np.random.default_rng(1)
    table = random.normal(size=(n, task.n_rows))
    scores = task.as_scores(table)
    assert np.array_equal(task.as_table(scores), table)
    y = task.decide(scores)
    assert y.shape == (n,)
    assert len(task.answers(y)) == n
    assert task.rows(y).shape == (task.n_rows, n)
    assert task.right(y, y).all()
    assert task.certainty(scores, y, {}).shape == (n,)
    assert set(task.measure(scores, y)) <= set(task.metrics)
    sides = task.explained(y)
    rows, signs = task.row_of(sides)
    weights = random.normal(size=(task.n_rows, 4))
    expanded = task.side_rows(weights)
    assert expanded.shape == (len(task.sides), 4)
    assert np.array_equal(expanded[sides], signs[:, None] * weights[rows])
    codes, names = task.strata(y)
    assert codes.max() < len(names)
    assert task.factors(y, np.ones(n), None).shape == (len(names),)
    if task.probabilistic:
        proba = task.probabilities(scores)
        assert proba.sum(axis=1) == pytest.approx(1)
        assert np.exp(task.log_probabilities(scores)) == pytest.approx(proba)
    else:
        with pytest.raises(UsageError, match="has no probabilities"):
            task.probabilities(scores)


def test_targets_name_the_line_of_a_wrong_label() -> None:
    corpus = Corpus(["one", "two", "three"], ["cat", "bird", "cat"])
    task, y = read_target(corpus).target
    assert (task, y.tolist()) == (classification(LABELS[:2]), [1, 0, 1])
    other = Corpus(["one"], ["cats"])
    for targets in (task.targets, task.dev_targets):
        with pytest.raises(DataError, match="document 1: the model does not know the label 'cats'"):
            targets(other)
    assert task.known_targets(other).tolist() == [-1]
    with pytest.raises(DataError, match="document 1: the label is 'cats', but a regression"):
        read_target(other, "regression")


def test_what_a_task_cannot_have() -> None:
    for labels in (("a",), ("a", "a"), ()):
        with pytest.raises(UsageError, match="two or more distinct labels"):
            classification(labels)
    with pytest.raises(UsageError, match="a regression has no labels"):
        Regression(("a",))
    with pytest.raises(UsageError, match="no labels to choose"):
        Regression().check_thresholds({"a": 1.0})
    with pytest.raises(UsageError, match="none of that name"):
        task_of_header({"task": "ranking"})
