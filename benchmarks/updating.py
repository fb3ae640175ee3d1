"""Updating a model month by month, against training afresh: time, objective, accuracy.

    python benchmarks/updating.py --first 2014-01 --months 3 --updates 3 --regs ridge lasso

Reads the film reviews of ``nsmc`` in the folder that TEXTREG_DATA names. A model is trained on the
first months, its search included. Each further month is added with the old documents, and a model
is trained afresh on the same: with its search, and with the strengths of the first. Accuracy is
that on the month after. Times are CPU seconds of one thread; reading files is left out of both.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from textreg import Corpus, Model, train, update

T = TypeVar("T")


def months() -> dict[str, tuple[list[str], list[str]]]:
    """Texts and labels of every month, in order."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    path = Path(os.environ["TEXTREG_DATA"]) / "data" / "nsmc" / "all.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts, labels = found.setdefault(row["date"][:7], ([], []))
            texts.append(row["text"])
            labels.append(row["label"])
    return found


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and its CPU seconds."""
    began = time.process_time()
    return call(), time.process_time() - began


def corpus_of(parts: Sequence[tuple[list[str], list[str]]]) -> Corpus:
    """Several months as one."""
    return Corpus(
        [text for texts, _ in parts for text in texts],
        [label for _, labels in parts for label in labels],
    )


def again(model: Model, corpus: Corpus, reg: str, tol: float) -> Model:
    """A training with the strengths of a model."""
    assert model.summary is not None
    strengths = {f"reg_{key}": value for key, value in model.summary.reg.params.items()}
    tokenizer = model.encoder.tokenizer
    return train(
        corpus.texts, corpus.labels or (), reg=reg, tokenizer=tokenizer, tol=tol, **strengths
    )


def accuracy(model: Model, test: Corpus) -> float:
    """The share of right answers."""
    answers = model.predict(test.texts)
    pairs = zip(answers, test.labels or (), strict=True)
    return sum(answer == label for answer, label in pairs) / len(test)


def line(*values: object) -> None:
    """A row of the table."""
    cells = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    print("| " + " | ".join(cells) + " |", flush=True)


def measure(reg: str, parts: Sequence[tuple[list[str], list[str]]], first: int, tol: float) -> None:
    """All updates of one regularizer."""
    old = corpus_of(parts[:first])
    model, _ = timed(lambda: train(old.texts, old.labels or (), reg=reg, tol=tol))
    for number in range(first, len(parts) - 1):
        texts, labels = parts[number]
        old, every = corpus_of(parts[:number]), corpus_of(parts[: number + 1])
        test = corpus_of(parts[number + 1 : number + 2])
        newer, of_update = timed(lambda old=old: update(model, texts, labels, old=old))  # noqa: B023
        fixed, of_fixed = timed(lambda every=every: again(model, every, reg, tol))  # noqa: B023
        fresh, of_fresh = timed(
            lambda every=every: train(every.texts, every.labels or (), reg=reg, tol=tol)
        )
        summary, other = newer.summary, fixed.summary
        assert summary is not None
        assert other is not None
        assert summary.gap is not None
        assert other.gap is not None
        apart = abs(summary.objective - other.objective) / other.objective
        line(
            *(reg, f"{len(old):,}", len(texts), of_update, of_fixed, of_fresh),
            f"{100 * of_update / of_fresh:.0f} %",
            *(f"{apart:.1e}", f"{summary.gap + other.gap:.1e}"),
            *(f"{accuracy(one, test):.4f}" for one in (model, newer, fresh)),
        )
        assert apart <= summary.gap + other.gap
        model = newer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", default="2014-01")
    parser.add_argument("--months", type=int, default=3)
    parser.add_argument("--updates", type=int, default=3)
    parser.add_argument("--regs", nargs="+", default=["ridge", "lasso"])
    parser.add_argument("--tol", type=float, default=1e-4)
    given = parser.parse_args()
    parts = [part for month, part in months().items() if month >= given.first]
    line(
        *("regularizer", "old documents", "new", "update (s)", "same strengths (s)", "train (s)"),
        *("share", "objectives apart", "gaps", "before", "updated", "trained"),
    )
    line(*["---"] * 12)
    for reg in given.regs:
        measure(reg, parts[: given.months + given.updates + 1], given.months, given.tol)


if __name__ == "__main__":
    main()
