"""Training on documents that lie in blocks, some of them on disk."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import Cli

from textreg import TextClassifier, load, train, train_batches
from textreg.blocks.scratch import Scratch
from textreg.builtin.separable import Ridge
from textreg.errors import BrokenPluginError, DataError, DataWarning, RecordError, UsageError
from textreg.files import refuse_special
from textreg.kinds import Backend, Workers
from textreg.model.model import Model
from textreg.plugins import registry
from textreg.plugins.registry import Added
from textreg.records import Corpus
from textreg.training import blocks, fit, search
from textreg.training.prepare import read_training
from textreg.training.settings import TrainingSettings, parse_bytes
from textreg.training.train import train_corpus

GOOD = "fine lovely splendid great sunny warm kind bright calm fresh".split()
BAD = "bad awful gloomy dull cold rude dark loud stale sour".split()
OTHER = [f"word{i}" for i in range(300)]
FEW: dict[str, Any] = {"reg": "ridge", "search_space": {"reg_l2": [0.1, 1.0]}}
"""A search of two strengths."""


def documents(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts of a few sentences, of which one tells the label."""
    chance = random.Random(seed)
    texts, labels = [], []
    for _ in range(n):
        label = chance.choice(["good", "bad"])
        telling = GOOD if label == "good" else BAD
        sentences = [chance.choices(OTHER, k=6) for _ in range(3)]
        sentences[chance.randrange(3)][:2] = chance.sample(telling, 2)
        texts.append(" ".join(f"{' '.join(words)}." for words in sentences))
        labels.append(label)
    return texts, labels


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few documents, and a search on few of them."""
    monkeypatch.setattr("textreg.blocks.scratch.DOCUMENTS", 70)
    monkeypatch.setattr(blocks, "PART", 150)


def write(path: Path, texts: list[str], labels: list[Any]) -> str:
    rows = [
        json.dumps({"text": text, "label": label})
        for text, label in zip(texts, labels, strict=True)
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def weights(model: Model) -> tuple[Any, ...]:
    return tuple(model.encoder.names), model.weights.tolist(), model.intercepts.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"reg": "ridge", "reg_l2": 0.5},
        {"reg": "lasso", "reg_l1": 0.5},
        {"reg": "elastic", "reg_l1": 0.3, "reg_l2": 0.05},
        {"reg": "sentence", "reg_group": 0.05, "reg_l1": 0.3, "reg_l2": 0.0},
        {"reg": "group", "groups": "windows", "reg_group": 0.1, "reg_l1": 0.3},
        {"reg": "ridge", "reg_l2": 0.5, "tokenizer": "words,chars", "min_df": 2},
        {"reg": "ridge", "reg_l2": 0.5, "class_weight": "balanced", "loss": "squared-hinge"},
    ],
    ids=lambda options: options["reg"],
)
@pytest.mark.sampled(4)
def test_the_model_is_that_of_all_documents_in_memory(options: dict[str, Any]) -> None:
    texts, labels = documents(400)
    usual = {**options, "tol": 1e-7, "prune": 0.0, "max_iter": 5000}
    whole, blocks = train(texts, labels, **usual), train(texts, labels, memory="1GB", **usual)
    assert whole.summary is not None
    assert blocks.summary is not None
    assert blocks.summary.converged
    assert blocks.summary.blocks is not None
    assert blocks.summary.blocks.blocks == 6
    assert blocks.summary.blocks.searched is None
    assert blocks.summary.objective == pytest.approx(whole.summary.objective, rel=2e-7)
    assert blocks.summary.features == whole.summary.features
    held, _ = documents(50, seed=1)
    np.testing.assert_allclose(
        blocks.decision_function(held), whole.decision_function(held), atol=1e-3
    )


def test_the_default_may_choose_a_ridge() -> None:
    """It has no l1, whose scale the search of the default knows."""
    chance = random.Random(0)
    labels = ["good", "bad"] * 200
    # Every word tells a little.
    halves = {"good": OTHER[:150] * 2 + OTHER[150:], "bad": OTHER[:150] + OTHER[150:] * 2}
    texts = [" ".join(chance.choices(halves[label], k=20)) for label in labels]
    model = train(texts, labels, memory="1GB", tokenizer="words")
    assert model.summary is not None
    assert model.summary.reg.name == "ridge"


@pytest.mark.parametrize("reg", ["ridge", "sentence"])
def test_bits_do_not_depend_on_where_blocks_lie(reg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = documents(200)
    options = {"reg_l1": 0.2, "reg_group": 0.05} if reg == "sentence" else {"reg_l2": 0.1}
    memory = train(texts, labels, reg=reg, memory="1GB", **options)
    monkeypatch.setattr(blocks, "IN_MEMORY", 0.0)
    assert weights(train(texts, labels, reg=reg, memory="1GB", **options)) == weights(memory)
    assert weights(
        train(texts, labels, reg=reg, memory="1GB", jobs=2, **options)
    ) == weights(memory)  # fmt: skip


class Pickled(Workers):
    """Workers of this process, whose values are pickled."""

    def submit(self, function: Callable[..., Any], *arguments: Any, outputs: int = 1) -> Any:
        result = function(*map(value_of, arguments))
        if outputs == 1:
            return pickle.dumps(result)
        return [pickle.dumps(output) for output in result]

    def map(
        self, function: Callable[..., Any], handles: Iterable[Any], *arguments: Iterable[Any]
    ) -> Iterator[Any]:
        for given in zip(handles, *arguments, strict=False):
            yield pickle.loads(pickle.dumps(function(*map(value_of, given))))


class Near(Pickled):
    """The same, as if they were here."""

    elsewhere = False


def value_of(argument: Any) -> Any:
    return pickle.loads(argument) if isinstance(argument, bytes) else argument


class Pickling(Backend):
    """Blocks are pickled."""

    name = "pickling"
    workers: ClassVar[type[Workers]] = Pickled

    @contextmanager
    def open(self, address: Any, parts: Any, memory: Any, store: Any) -> Iterator[Workers]:
        yield self.workers()


class NearPickling(Pickling):
    """The same, as if workers were here."""

    name = "near"
    workers = Near


class Losing(Pickled):
    """They lose what they are to keep."""

    def submit(self, function: Callable[..., Any], *arguments: Any, outputs: int = 1) -> Any:
        raise OSError("lost")


class LosingBackend(Pickling):
    """Values are lost."""

    name = "losing"
    workers = Losing


class Failing(Pickled):
    """They fail in what they are to compute."""

    def map(
        self, function: Callable[..., Any], handles: Iterable[Any], *arguments: Iterable[Any]
    ) -> Iterator[Any]:
        raise KeyError("worker")


class FailingBackend(Pickling):
    """Nothing is computed."""

    name = "failing"
    workers = Failing


class Closing(Pickling):
    """It fails at its end."""

    name = "closing"

    @contextmanager
    def open(self, address: Any, parts: Any, memory: Any, store: Any) -> Iterator[Workers]:
        yield Pickled()
        raise RuntimeError("no end")


@pytest.mark.parametrize(
    ("backend", "says"),
    [
        (LosingBackend, "OSError: lost"),
        (FailingBackend, "KeyError: 'worker'"),
        (Closing, "RuntimeError: no end"),
    ],
)
def test_what_workers_raise_is_not_a_fault_of_textreg(
    backend: type[Backend], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._default.added, ("backend", backend.name), Added(backend))
    texts, labels = documents(200)
    says = f"backend '{backend.name}' of .* fails in its workers: {says}"
    with pytest.raises(BrokenPluginError, match=says):
        train(texts, labels, reg="ridge", reg_l2=0.1, memory="1GB", backend=backend.name)


def test_what_textreg_raises_in_workers_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # A function of textreg that fails at what it is given here.
    monkeypatch.setattr("textreg.blocks.features.documents_in", refuse_special)
    monkeypatch.setitem(registry._default.added, ("backend", Pickling.name), Added(Pickling))
    texts, labels = documents(200)
    with pytest.raises(TypeError, match="path"):
        train(texts, labels, reg="ridge", reg_l2=0.1, memory="1GB", backend="pickling")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", [Pickling, NearPickling])
@pytest.mark.parametrize("reg", ["ridge", "sentence"])
def test_bits_do_not_depend_on_who_keeps_blocks(
    reg: str, backend: type[Backend], monkeypatch: pytest.MonkeyPatch
) -> None:
    """N-grams are merged in a tree elsewhere; also those of several tokenizers, without rare ones.

    The search is done there as well.
    """
    monkeypatch.setattr("textreg.blocks.features.MERGED", 2)
    monkeypatch.setitem(registry._default.added, ("backend", backend.name), Added(backend))
    texts, labels = documents(250)
    options: dict[str, Any] = {"reg": reg, "memory": "1GB", "intercept": "fitted"}
    options |= {"tokenizer": "words,chars", "min_df": 3, "ngrams": 2, "cv": 3}
    here = train(texts, labels, **options)
    there = train(texts, labels, backend=backend.name, **options)
    assert weights(there) == weights(here)
    assert there.summary is not None
    assert here.summary is not None
    assert there.summary.search == here.summary.search
    assert there.summary.blocks == here.summary.blocks


def test_features_are_told_of_until_all_have_been_made() -> None:
    told: list[tuple[str, int, int]] = []
    texts, labels = documents(200)
    settings = TrainingSettings.from_options(reg="ridge", reg_l2=1.0, memory="1GB")
    train_corpus(Corpus(texts, labels), settings, lambda *line: told.append(line))
    done = [count for stage, count, of in told if (stage, of) == ("features", 200)]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 200)


def test_a_search_on_a_part_carries_its_strengths_over() -> None:
    texts, labels = documents(500)
    model = train(texts, labels, memory="1GB")
    summary = model.summary
    assert summary is not None
    assert summary.blocks is not None
    assert summary.blocks.searched == 150
    assert summary.documents == 500
    assert summary.dev is not None
    assert summary.dev.documents == 150
    chosen = {key: summary.reg.params[key] for key in summary.reg.searched}
    measured = [point.params for point in summary.search]
    assert chosen not in measured or set(chosen.values()) == {0.0}
    held, truth = documents(200, seed=5)
    right = np.mean([a == b for a, b in zip(model.predict(held), truth, strict=True)])
    assert right > 0.95
    again = train(texts, labels, memory="300MB")
    assert weights(again) == weights(model)


def test_every_label_is_in_the_part() -> None:
    texts, labels = documents(300)
    labels = ["rare" if row in (3, 150, 290) else label for row, label in enumerate(labels)]
    model = train(texts, labels, memory="1GB", **FEW)
    assert set(model.labels) == {"bad", "good", "rare"}


def test_documents_without_a_weight_do_not_fill_the_part() -> None:
    texts, labels = documents(400)
    sample_weight = np.zeros(400)
    sample_weight[[*range(10), *range(390, 400)]] = 1.0
    model = train(texts, labels, sample_weight=sample_weight, memory="1GB", **FEW)
    assert model.summary is not None
    assert model.summary.dev is not None
    assert model.summary.dev.documents == 20  # of 150


@pytest.mark.parametrize("several", [False, True])
def test_few_documents_are_left_out_in_turn_as_in_memory(
    several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shifts, temperatures and thresholds come from five parts of up to 5,000 documents."""
    monkeypatch.setattr(blocks, "PART", 30_000)
    texts, names = documents(300)
    labels: list[Any] = names
    if several:
        labels = [[name, "long"][: 1 + (row % 3 == 0)] for row, name in enumerate(names)]
    options: dict[str, Any] = {**FEW, "holdout": 0.1, "tokenizer": "words"}
    whole, part = train(texts, labels, **options), train(texts, labels, memory="1GB", **options)
    assert whole.summary is not None
    assert part.summary is not None
    assert whole.summary.shift is not None
    assert part.summary.shift is not None
    assert part.summary.shift.kind == whole.summary.shift.kind
    shifts = part.summary.shift.values, whole.summary.shift.values
    np.testing.assert_allclose(*shifts, rtol=1e-2, atol=1e-3)
    assert whole.calibration is not None
    assert part.calibration is not None
    assert part.calibration.temperature == pytest.approx(whole.calibration.temperature, rel=1e-2)
    assert part.thresholds == pytest.approx(whole.thresholds, rel=1e-2)


def test_a_budget_that_ends_in_these_fits_leaves_those_of_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "PART", 30_000)
    texts, labels = documents(300)
    options: dict[str, Any] = {**FEW, "holdout": 0.1, "tokenizer": "words", "memory": "1GB"}
    learn, seen = fit.learn_from_held, list[int]()

    def late(*given: Any, **more: Any) -> Any:
        seen.append(len(given[-1]))
        if len(given[-1]) > 1:
            given = (*given[:3], replace(given[3], deadline=0.0), *given[4:])
        return learn(*given, **more)

    monkeypatch.setattr(fit, "learn_from_held", late)
    model = train(texts, labels, **options)
    assert seen == [5, 1]
    assert model.calibration is not None
    assert 0.05 < model.calibration.temperature < 5.0


def test_a_strength_of_groups_that_is_searched() -> None:
    model = train(*documents(200), reg="group", groups="sentences", memory="1GB")
    assert model.summary is not None
    assert model.summary.reg.params["group"] >= 0.0


def test_several_labels_and_numbers() -> None:
    texts, labels = documents(200)
    several = [[label, "long"] if len(text) > 125 else [label] for label, text in zip(labels, texts, strict=True)]  # fmt: skip  # noqa: E501
    model = train(texts, several, memory="1GB", **FEW)
    assert set(model.predict(texts)[0]) <= {"good", "bad", "long"}
    numbers = [1.5 if label == "good" else -0.5 for label in labels]
    regression = train(texts, numbers, task="regression", memory="1GB", **FEW)
    assert regression.summary is not None
    assert regression.summary.converged


def test_from_the_shell(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = documents(250)
    file = write(tmp_path / "corpus.jsonl", texts, labels)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    out = cli("train", file, "--memory", "400MB", "-o", str(tmp_path / "m"))
    assert out.code == 0, out.err
    assert "blocks: " in out.out
    assert "of 150 documents" in out.out
    assert not list(scratch.iterdir())
    model = load(tmp_path / "m")
    assert weights(model) == weights(train(texts, labels, memory="400MB"))


REFUSED = [
    ({"reg": "none"}, "cannot fit documents in blocks"),
    ({"reg": "omp"}, "cannot fit documents in blocks"),
    ({"reg": "sentence", "reg_l1": 0.0, "reg_group": 0.1}, "cannot fit documents in blocks"),
    ({"reg": "sentence", "reg_solver": "admm"}, "cannot fit documents in blocks"),
    ({"multiclass": "softmax"}, "multiclass softmax needs all documents in memory"),
    ({"threshold": {"good": "f1"}}, "threshold needs all documents"),
    ({"path": True}, "path needs all documents"),
    ({"max_nonzero": 5}, "max_nonzero needs all documents"),
    ({"refit": False}, "no-refit needs all documents"),
    ({"search_space": {"ngrams": [1, 2]}}, "search_space of features or groups needs"),
    ({"unknown": "oos"}, "unknown needs all documents"),
    ({"reg": "lasso", "reg_weights": "sentences"}, "reg_weights needs all documents"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[str(one) for one, _ in REFUSED])
def test_what_needs_all_documents_is_refused(options: dict[str, Any], message: str) -> None:
    texts, labels = documents(100)
    with pytest.raises(UsageError, match=message):
        train(texts, labels, memory="1GB", **options)


def test_other_wrong_settings() -> None:
    texts, labels = documents(100)
    with pytest.raises(UsageError, match="a scratch folder is for training in blocks"):
        train(texts, labels, scratch=".")
    with pytest.raises(UsageError, match="does not exist"):
        train(texts, labels, reg="ridge", reg_l2=1.0, memory="1GB", scratch="nowhere")
    with pytest.raises(UsageError, match="lists of tokens"):
        train([["a"], ["b"]] * 10, ["x", "y"] * 10, reg="ridge", reg_l2=1.0, memory="1GB")
    with pytest.raises(DataError, match="has a word"):
        train(["", " "] * 50, ["x", "y"] * 50, reg="ridge", reg_l2=1.0, memory="1GB")
    with pytest.raises(UsageError, match="may hold words of several documents"):
        train(texts, labels, reg="group", groups="file", groups_path="x.txt", memory="1GB")


@pytest.mark.parametrize(
    ("size", "value"),
    [("400MB", 4e8), ("1GB", 1e9), ("1.5GiB", 1.5 * 2**30), ("2g", 2e9), (5e8, 5e8)],
)
def test_sizes(size: str | float, value: float) -> None:
    assert parse_bytes(size) == value


@pytest.mark.parametrize("size", ["", "many", "1XB", "-1GB", "10MB", "nan", "inf", "1e400"])
def test_wrong_sizes(size: str) -> None:
    with pytest.raises(UsageError, match="memory must be a size of at least 100MB"):
        parse_bytes(size)


def test_an_estimator_takes_them() -> None:
    texts, labels = documents(300)
    estimator = TextClassifier(reg=Ridge(l2=0.5), memory="1GB").fit(texts, labels)
    assert estimator.score(texts, labels) > 0.9


def test_too_little_space_is_told_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts, labels = documents(200)
    monkeypatch.setattr(blocks, "IN_MEMORY", 0.0)
    monkeypatch.setattr(blocks, "SPACE", 1e15)
    with pytest.raises(UsageError, match="needed for scratch files"):
        train(texts, labels, reg="ridge", reg_l2=1.0, memory="1GB", scratch=tmp_path)
    assert not list(tmp_path.iterdir())


def test_more_features_than_memory_holds_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = documents(200)
    monkeypatch.setattr(blocks, "A_FEATURE", 1e9)
    with pytest.warns(DataWarning) as told:
        model = train(texts, labels, reg="ridge", reg_l2=1.0, memory="1GB")
    p = model.n_features
    assert [str(one.message) for one in told] == [
        f"{p:,} features need about {1000 * p:,} MB of memory, more than the 1,000 MB that were "
        "given: leave out rare ones (--min-df 2), or keep the most frequent (--max-features)."
    ]


def test_a_search_is_on_few_documents_of_few_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "OF_LABEL", 0)
    monkeypatch.setattr(blocks, "MEASURED", 3)
    # Of documents 0, 20 and 40 the mean length is 20.
    texts = [f"w{row}".ljust({0: 10, 20: 20, 40: 30}.get(row, 99), "x") for row in range(41)]
    corpus = Corpus(texts, ["a", "b"] * 20 + ["a"])
    settings = TrainingSettings.from_options(reg="ridge", memory="1GB", seed=3)
    training = read_training(corpus, settings)
    assert blocks.mean_length(training) == 20.0
    assert blocks.mean_length(training._replace(corpus=corpus.select(np.arange(2)))) == 54.5

    def rows(part: int, characters: int) -> int:
        monkeypatch.setattr(blocks, "PART", part)
        monkeypatch.setattr(blocks, "CHARACTERS", characters)
        context = blocks.part_context(training)
        y = context.documents.target.y
        chosen = search.drawn(training.target, np.arange(41), len(y), 3)
        assert y.tolist() == training.target.y[chosen].tolist()
        assert context.documents.outside is None
        assert sum(len(split.held) for split in context.documents.splits) == len(y)
        return len(y)

    assert rows(30, 10_000) == 30
    assert rows(30, 599) == 29
    assert rows(99, 10_000) == 41


def test_the_space_of_blocks(tmp_path: Path) -> None:
    settings = TrainingSettings.from_options(reg="ridge", memory="1GB")
    with Scratch(tmp_path) as scratch:
        assert blocks.store_in(scratch, settings).most == 150_000_000


def test_documents_that_come_in_batches(tmp_path: Path) -> None:
    texts, labels = documents(300)
    settings: dict[str, Any] = {"reg": "lasso", "reg_l1": 1.0, "scratch": tmp_path}
    cuts = [0, 1, 1, 130, 300]
    batches = ((texts[a:b], labels[a:b]) for a, b in pairwise(cuts))
    model = train_batches(batches, **settings)
    assert weights(model) == weights(train(texts, labels, memory="1GB", **settings))
    given = np.linspace(0.5, 2.0, 300)
    weighed = ((texts[a:b], labels[a:b], given[a:b]) for a, b in pairwise(cuts))
    assert weights(train_batches(weighed, **settings)) == weights(
        train(texts, labels, sample_weight=given, memory="1GB", **settings)
    )
    assert not list(tmp_path.iterdir())


def test_batches_of_lists_of_labels(tmp_path: Path) -> None:
    texts, labels = documents(300)
    lists = [[label] if row % 3 else {label, "third"} for row, label in enumerate(labels)]
    settings: dict[str, Any] = {"reg": "lasso", "reg_l1": 1.0, "scratch": tmp_path}
    model = train_batches([(texts[:130], lists[:130]), (texts[130:], lists[130:])], **settings)
    assert model.task.multilabel
    assert weights(model) == weights(train(texts, lists, memory="1GB", **settings))


def test_labels_of_batches_are_equal_by_their_names(tmp_path: Path) -> None:
    batches = [(["a b", "c"], [1, True]), (["a", "c d"], ["1", False])]
    model = train_batches(batches, reg="ridge", reg_l2=1.0, scratch=tmp_path)
    assert model.labels == ("1", "False", "True")


@pytest.mark.parametrize(
    ("batches", "error", "message"),
    [
        ([], DataError, "there are no batches"),
        (["text"], DataError, "batch 1 is 'text', which is not a tuple"),
        ([("text", ["pos"])], UsageError, "batch 1: expected a list of texts"),
        ([(["a"], ["x"]), ([3], ["x"])], DataError, "batch 2: document 1 is not a text"),
        ([(["a", "b"], ["x"])], DataError, "batch 1: 2 texts but 1 labels"),
        ([(["a"], ["x"]), (["b"], ["y"], [1.0])], DataError, "batch 2 has weights, unlike"),
        ([(["a"], ["x"], [1.0, 2.0])], DataError, "batch 1: 1 texts but 2 weights"),
        ([(["a"], ["x"], [-1.0])], DataError, "weights are finite numbers, 0 or more"),
        ([(["a"], ["x"], ["heavy"])], RecordError, "sample_weight must hold real numbers"),
    ],
)
def test_wrong_batches(batches: Any, error: type[Exception], message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        train_batches(batches, reg="lasso", reg_l1=1.0, scratch=tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="path needs all documents in memory"):
        train_batches(batches, reg="lasso", path=True)


KILLED = """
import sys, time
from textreg.training import blocks
from textreg.cli import main
def wait(*args):
    print("fitting", flush=True)
    time.sleep(60)
blocks.fit.fit_rows = wait
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signals there")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_behind(
    cli: Cli, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, labels = documents(200)
    file = write(tmp_path / "corpus.jsonl", texts, labels)
    scratch, model = tmp_path / "scratch", tmp_path / "m.textreg"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setenv("TMPDIR", str(scratch))
    command = ["train", file, "--memory", "400MB", "-o", str(model)]
    options = ["--reg", "ridge", "--reg-l2", "1", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, *command, *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "fitting\n"
    assert list(scratch.iterdir())
    time.sleep(0.2)
    os.kill(process.pid, getattr(signal, how))
    process.wait(timeout=30)
    process.stdout.close()
    assert process.returncode != 0
    assert not model.exists()
    assert bool(list(scratch.iterdir())) == (how == "SIGKILL")
    out = cli(*command, *options)  # the next run removes what is left
    assert out.code == 0, out.err
    assert not list(scratch.iterdir())


def test_two_runs_share_a_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = documents(200)
    file = write(tmp_path / "corpus.jsonl", texts, labels)
    (tmp_path / "scratch").mkdir()
    command = [sys.executable, "-m", "textreg", "train", file, "--memory", "400MB"]
    command += ["--reg", "ridge", "--reg-l2", "1"]
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    runs = [
        subprocess.Popen([*command, "-o", str(tmp_path / f"{number}.textreg"), "--quiet"])
        for number in range(2)
    ]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    one, two = (load(tmp_path / f"{number}.textreg") for number in range(2))
    assert weights(one) == weights(two)
    assert not list((tmp_path / "scratch").iterdir())
