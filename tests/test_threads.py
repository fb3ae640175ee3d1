"""Several threads give the bits of one, and are asked for in the same way everywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from kernel_inputs import random_matrix

import textreg
from textreg._core import threads
from textreg._core.text_counts import document_frequencies
from textreg.errors import DataError
from textreg.estimators.text import TextClassifier, TextRegressor
from textreg.jobs import threads_of
from textreg.records.design import Design, ScaledColumns

TEXTS = [f"good film {n} it was. So good" if n % 3 else f"bad film, awful {n}!" for n in range(30)]
LABELS = ["pos" if n % 3 else "neg" for n in range(30)]
OPTIONS: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0}


@contextmanager
def small_pieces(found: list[int]) -> Iterator[None]:
    """Pieces of few texts; notes how many each work was cut into."""
    of = threads.pieces_of

    def noting(size: int, each: int = threads.PIECES) -> int:
        found.append(of(size, each))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST", 1)
        patch.setattr(threads, "pieces_of", noting)
        yield


@pytest.mark.parametrize("tokenizer", ["words", "words,chars"])
def test_scores_in_threads(tokenizer: str) -> None:
    model = textreg.train(TEXTS, LABELS, tokenizer=tokenizer, jobs=1, **OPTIONS)
    texts = [*TEXTS, "", "unheard of"]
    alone = model.decision_function(texts)
    found: list[int] = []
    with small_pieces(found), threads.allowing(3):
        assert model.decision_function(texts).tolist() == alone.tolist()
        assert len(model.decision_function([])) == 0
    assert found[0] > 1
    with small_pieces(found), threads.allowing(3), pytest.raises(DataError, match="32"):
        model.decision_function([*texts[:31], None])  # type: ignore[list-item]


def test_pieces_are_of_about_the_same_size() -> None:
    lengths = np.random.default_rng(0).integers(0, 9, 1000)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    sizes = np.diff(ptr[threads.cuts_of(ptr, 7)])
    assert sizes.sum() == lengths.sum()
    assert sizes.max() - sizes.min() <= 2 * lengths.max()


def test_every_worker_is_one_thread() -> None:
    """As each has arrays of its own by its number."""
    seen: dict[int, set[int]] = {0: set(), 1: set(), 2: set()}
    at_once = threading.Barrier(3)

    def work(worker: int, piece: int) -> None:
        seen[worker].add(threading.get_ident())
        if piece < 3:
            at_once.wait(timeout=60)

    with threads.allowing(3):
        threads.share(work, 20)
    assert list(map(len, seen.values())) == [1, 1, 1]
    assert seen[0] == {threading.get_ident()}
    assert len(set.union(*seen.values())) == 3


def test_matrices_in_threads() -> None:
    """Lines, rows and columns that threads share have the bits that one thread gives them."""
    rng = np.random.default_rng(0)
    design = Design(random_matrix((60, 40), 0.2, rng))
    scaled = ScaledColumns(design, rng.permutation(40)[:30], rng.random(30))
    some, rows = rng.permutation(30)[:20].astype(np.int32), rng.integers(0, 60, 50)
    R, W, (indptr, indices, _) = rng.random((60, 3)), rng.random((40, 3)), design.rows

    def everything() -> list[Any]:
        products = [
            matrix.transposed_product(r, chosen)
            for matrix in (design, scaled)
            for r in (R, R[:, 0])
            for chosen in (None, some)
        ]
        return [
            *(*products, design.product(W), scaled.product(W[:20], some), *scaled.rows_of(some)),
            document_frequencies(indices, indptr, 40, rows),
        ]

    alone, found = everything(), list[int]()
    with small_pieces(found), threads.allowing(3):
        for ours, theirs in zip(everything(), alone, strict=True):
            assert ours.tolist() == theirs.tolist()
    assert len(found) == 12
    assert min(found) > 1


def test_training_in_threads(tmp_path: Any) -> None:
    saved = []
    for jobs in (1, 3):
        with small_pieces([]):
            textreg.train(TEXTS, LABELS, tokenizer="words", jobs=jobs, **OPTIONS).save(
                tmp_path / "m"
            )
        saved.append((tmp_path / "m").read_bytes())
    assert saved[0] == saved[1]


def test_estimators_score_in_as_many_threads_as_jobs() -> None:
    for estimator, y in ((TextClassifier, LABELS), (TextRegressor, [len(text) for text in TEXTS])):
        fitted = estimator(tokenizer="words", reg=textreg.Ridge(l2=1.0), jobs=2).fit(TEXTS, y)
        alone = fitted.predict(TEXTS).tolist()
        found: list[int] = []
        with small_pieces(found):
            assert fitted.predict(TEXTS).tolist() == alone
        assert found[0] > 1


def test_predict_takes_jobs(cli: Cli, tmp_path: Any) -> None:
    textreg.train(TEXTS, LABELS, tokenizer="words", **OPTIONS).save(tmp_path / "model")
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    shown = []
    for jobs in ("1", "2", "-1"):
        with small_pieces([]):
            run = cli(
                "predict", tmp_path / "model", tmp_path / "texts.txt", "--proba", "--jobs", jobs
            )
        shown.append(run.out)
    assert shown[0] == shown[1] == shown[2]
    assert threads_of(-1) >= 1
    wrong = cli("predict", tmp_path / "model", tmp_path / "texts.txt", "--jobs", "0")
    assert wrong.code == 2
    assert "jobs must be 1 or more" in wrong.err
