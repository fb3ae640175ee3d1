"""A search that was stopped goes on where it stopped, and comes to the very same model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli, plain

import textreg
from textreg.builtin.separable import Lasso
from textreg.demo.corpus import write_demo
from textreg.errors import ConvergenceWarning, DataError, UsageError
from textreg.records import Corpus, Problem, Solution
from textreg.training.search import trials
from textreg.training.search.context import MAY_DIFFER, journal_of
from textreg.training.search.journal import Journal, digest_of
from textreg.training.settings import TrainingSettings

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp", "so so"] * 10
LABELS = ["pos", "pos", "neg", "neg", "mid"] * 10


class Counted(Lasso):
    """A lasso that counts its fits, and stops the search at one of them."""

    name = "counted"
    calls = 0
    stop_at = 0

    def solve(self, problem: Problem) -> Solution:
        type(self).calls += 1
        if type(self).calls == type(self).stop_at:
            os.kill(os.getpid(), signal.SIGINT)
        return super().solve(problem)


@pytest.fixture
def counted() -> type[Counted]:
    class Fresh(Counted):
        calls = 0

    return Fresh


@pytest.mark.parametrize(
    "options",
    [
        {"cv": 3},
        {"multiclass": "softmax"},
        {"search_space": {"weighting": ["log", "tfidf"], "ngrams": [1, 2]}},
    ],
    ids=str,
)
def test_it_goes_on_where_it_stopped(
    counted: type[Counted], tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "multiclass" in options:
        monkeypatch.setattr(counted, "solve_softmax", _counting(counted))
    whole = textreg.train(TEXTS, LABELS, reg=counted, **options)
    asked, counted.calls = counted.calls, 0
    counted.stop_at = asked // 2
    resume = tmp_path / "search.journal"
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        textreg.train(TEXTS, LABELS, reg=counted, resume=resume, **options)
    before, counted.calls, counted.stop_at = resume.read_bytes(), 0, 0
    again = textreg.train(TEXTS, LABELS, reg=counted, resume=resume, **options)
    assert counted.calls < asked * 0.8
    assert resume.read_bytes().startswith(before)
    assert plain(again) == plain(whole)
    assert again.weights.tobytes() == whole.weights.tobytes()
    counted.calls = 0
    known = textreg.train(TEXTS, LABELS, reg=counted, resume=str(resume), jobs=2, **options)
    assert counted.calls == (1 if "multiclass" in options else 3)  # the final fit alone
    assert plain(known) == plain(whole)


def _counting(cls: type[Counted]) -> Any:
    usual = Lasso.solve_softmax

    def solve_softmax(self: Counted, *values: Any) -> Any:
        cls.calls += 1
        if cls.calls == cls.stop_at:
            os.kill(os.getpid(), signal.SIGINT)
        return usual(self, *values)

    return solve_softmax


def test_solutions_with_many_weights_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "MAX_START", 0)
    resume = tmp_path / "search.journal"
    first = textreg.train(TEXTS, LABELS, reg="ridge", resume=resume)
    again = textreg.train(TEXTS, LABELS, reg="ridge", resume=resume)
    assert plain(again) == plain(first)
    assert again.weights.tobytes() == first.weights.tobytes()


def test_another_way_to_choose_fits_nothing_again(counted: type[Counted], tmp_path: Path) -> None:
    resume = tmp_path / "search.journal"
    textreg.train(TEXTS, LABELS, reg=counted, resume=resume, cv=3)
    counted.calls = 0
    options: dict[str, Any] = {"cv": 3, "select": "1se", "metric": "macro-f1"}
    chosen = textreg.train(TEXTS, LABELS, reg=counted, resume=resume, **options)
    assert counted.calls == 3
    counted.calls = 0
    assert plain(chosen) == plain(textreg.train(TEXTS, LABELS, reg=counted, **options))


def test_a_last_line_that_was_cut_off_does_not_count(
    counted: type[Counted], tmp_path: Path
) -> None:
    resume = tmp_path / "search.journal"
    whole = textreg.train(TEXTS, LABELS, reg=counted, resume=resume)
    content = resume.read_bytes()
    resume.write_bytes(content[:-20])
    again = textreg.train(TEXTS, LABELS, reg=counted, resume=resume)
    assert plain(again) == plain(whole)
    assert len(resume.read_bytes().splitlines()) == len(content.splitlines())


def test_a_process_that_was_killed(tmp_path: Path) -> None:
    """Nothing of what it had measured is lost."""
    resume = tmp_path / "search.journal"
    script = f"""
import os, signal
import textreg
from textreg.builtin.separable import Lasso

class Killed(Lasso):
    name = "killed"
    calls = 0
    def solve(self, problem):
        Killed.calls += 1
        if Killed.calls == 8:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().solve(problem)

textreg.train({TEXTS!r}, {LABELS!r}, reg=Killed, resume={str(resume)!r})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(resume.read_bytes().splitlines()) == 1 + 2  # two classes, three steps each


def edited(content: bytes) -> bytes:
    """With one digit of an array changed."""
    at = content.rfind(b'"scores":"') + 20
    return content[:at] + (b"A" if content[at : at + 1] != b"A" else b"B") + content[at + 1 :]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (edited, DataError, r"line \d+ is damaged, its checksum is wrong"),
        (lambda content: content[60:], UsageError, "is no journal of a search"),
        (lambda content: b"text,label\nfine,pos\n", UsageError, "is no journal of a search"),
        (lambda content: b"\x00\xff", UsageError, "is no journal of a search"),
    ],
)
def test_files_that_are_wrong(
    tmp_path: Path, change: Any, error: type[Exception], message: str
) -> None:
    resume = tmp_path / "search.journal"
    textreg.train(TEXTS, LABELS, reg="lasso", resume=resume)
    wrong = change(resume.read_bytes())
    resume.write_bytes(wrong)
    with pytest.raises(error, match=message):
        textreg.train(TEXTS, LABELS, reg="lasso", resume=resume)
    assert resume.read_bytes() == wrong


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([*TEXTS[:-1], "fine"], {}, "with other documents:"),
        (TEXTS, {"reg": "ridge"}, "with other reg:"),
        (TEXTS, {"seed": 1}, "with other seed:"),
        (TEXTS, {"weighting": "log", "cv": 2}, "with other vectorizer, cv:"),
    ],
)
def test_a_journal_of_another_search(
    tmp_path: Path, texts: list[str], options: dict[str, Any], message: str
) -> None:
    resume = tmp_path / "search.journal"
    textreg.train(TEXTS, LABELS, reg="lasso", resume=resume)
    before = resume.read_bytes()
    with pytest.raises(UsageError, match=f"is the journal of another search, {message}"):
        textreg.train(texts, LABELS, **{"reg": "lasso", "resume": resume, **options})
    assert resume.read_bytes() == before


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    for wrong in (tmp_path, tmp_path / "missing" / "search.journal"):
        with pytest.raises(UsageError, match="cannot be written"):
            textreg.train(TEXTS, LABELS, reg="lasso", resume=wrong)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "search.journal", {})

    def full(*values: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("builtins.open", full)
    with pytest.raises(UsageError, match=r"No space left on device.*make room"):
        journal._add({"key": "a"})


def test_nothing_to_resume() -> None:
    with pytest.raises(UsageError, match="nothing to choose"):
        textreg.train(TEXTS, LABELS, reg="lasso", reg_l1=0.1, resume="search.journal")


def test_arrays_come_back_as_they_were() -> None:
    from textreg.training.search.journal import _packed, _unpacked

    values = np.array([0.1, -1e-300, np.pi, 0.0])
    assert _unpacked(_packed(values), "d").tobytes() == values.tobytes()
    assert _unpacked(_packed(values.astype(">f8")), "d").tobytes() == values.tobytes()


def test_every_column_of_the_documents_counts() -> None:
    digests = {
        digest_of([Corpus(texts=["a", "b"], **columns)])
        for columns in [
            {},
            {"labels": ["a", "b"]},
            {"labels": ["b", "a"]},
            {"sample_weight": np.array([1.0, 2.0])},
            {"group_of": ["a", "b"]},
            {"time_of": ["a", "b"]},
        ]
    }
    assert len(digests) == 6
    assert digest_of([Corpus(texts=["a"]), None]) != digest_of([None, Corpus(texts=["a"])])


def test_the_command_line(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_demo("demo")
    train = ("train", "demo/train.jsonl", "--reg", "lasso", "--resume")
    done = cli(*train, "search.journal", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert cli(*train, "search.journal", "--quiet").code == 0
    done = cli(*train, "demo/test.jsonl", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert "demo/test.jsonl is no journal of a search" in done.err
    done = cli(*train, "a.textreg", "-o", "a.textreg")
    assert done.code == 2
    assert "-o and --resume both name a.textreg" in done.err
    done = cli(*train, "none/search.journal")
    assert done.code == 2
    assert "none" in done.err


def test_no_setting_is_forgotten_in_a_journal(tmp_path: Path) -> None:
    """Each setting must match to resume a search, but for those that no trial depends on."""
    corpus = Corpus(texts=TEXTS, labels=LABELS)

    def header(**options: Any) -> dict[str, Any]:
        path = tmp_path / "search.journal"
        path.unlink(missing_ok=True)
        journal_of(corpus, TrainingSettings.from_options(resume=path, **options))
        _, _, entry = path.read_bytes().partition(b" ")
        return dict(json.loads(entry))

    more = Corpus(texts=["a good film"], labels=["pos"])
    lasso, network = {"reg": "lasso"}, {"reg": "network", "graph_threshold": 0.1}
    group = {"reg": "group", "groups": "sentences"}
    changes: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "reg": (lasso, {"reg": "ridge"}),
        "groups": (group, {"groups": "paragraphs"}),
        "graph": (network, {"graph_threshold": 0.2}),
        "tokenizer": (lasso, {"tokenizer_min_length": 2}),
        "vectorizer": (lasso, {"ngrams": 1}),
        "fields": (lasso, {"fields": ["text"]}),
        "dev": (lasso, {"dev": more}),
        "unlabeled": (network, {"unlabeled": more}),
        "holdout": (lasso, {"holdout": 0.3}),
        "cv": (lasso, {"cv": 3}),
        "metric": (lasso, {"metric": "macro-f1"}),
        "task": (lasso, {"task": "regression"}),
        "loss": (lasso, {"loss": "squared-hinge"}),
        "multiclass": (lasso, {"multiclass": "softmax"}),
        "refit": (lasso, {"refit": False}),
        "min_label": (lasso, {"min_label": 2}),
        "rare_label": (lasso, {"rare_label": "other"}),
        "class_weight": (lasso, {"class_weight": "balanced"}),
        "calibrate": (lasso, {"calibrate": "temperature"}),
        "threshold": (lasso, {"threshold": {"pos": "f1"}}),
        "at_least_one": (lasso, {"at_least_one": True}),
        "unknown": (lasso, {"unknown": "oos"}),
        "unknown_rule": ({**lasso, "unknown": "oos"}, {"unknown_rule": "f1"}),
        "prune": (lasso, {"prune": 0.1}),
        "path": (lasso, {"path": True}),
        "tuning": (lasso, {"search": "grid"}),
        "jobs": (lasso, {"jobs": 2}),
        "memory": (lasso, {"memory": "1GB"}),
        "scratch": ({**lasso, "memory": "1GB"}, {"scratch": "."}),
        "seed": (lasso, {"seed": 3}),
        "tol": (lasso, {"tol": 1e-3}),
        "max_iter": (lasso, {"max_iter": 10}),
    }
    assert changes.keys() == TrainingSettings.declared().keys()
    assert changes.keys() > set(MAY_DIFFER)
    for name, (usual, change) in changes.items():
        before, after = header(**usual), header(**{**usual, **change})
        assert (before == after) == (name in MAY_DIFFER), name
