"""What the way to find words changes, by a ridge, which has one optimum whatever the solver.

    python -m textreg_papers.words --data DIR --tasks science,sports

For every way a ridge on counts and one on words that occur, fitted to the training documents of a
task: its accuracy on test with the strength that is best on dev, and with the one that is best on
test. Where even the latter misses a published accuracy, the words were others.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textreg.builtin.tokenizers import Words
from textreg.plugins.registry import create
from textreg.records import Problem
from textreg_papers.measure import Documents
from textreg_papers.protocols import PUBLISHED, SKIANIS, STRENGTHS

Tokenize = Callable[[str], list[str]]


def of_textreg(text: str) -> list[str]:
    """The words of textreg's tokenizer."""
    return [word for sentence in Words()(text) for word in sentence]


WAYS: dict[str, Tokenize] = {
    "textreg's": of_textreg,
    "letters and digits": lambda text: re.findall(r"\w\w+", text.lower()),
    "the same, case kept": lambda text: re.findall(r"\w\w+", text),
    "letters alone": lambda text: re.findall(r"[a-z]+", text.lower()),
    "between blanks": str.split,
    "without headers": lambda text: re.findall(r"\w\w+", text.partition("\n\n")[2].lower()),
}


def accuracies(task: Documents, tokenize: Tokenize, *, binary: bool) -> tuple[float, float]:
    """Percent right on test by the strength that is best on dev, and by that best on test."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=tokenize, binary=binary, dtype=np.float64)
    X = vectorizer.fit_transform(task.train.texts)
    problem = Problem(X, np.where(task.codes(task.train) == 1, 1.0, -1.0))
    fits = [create("regularizer", "ridge", l2=l2).solve(problem) for l2 in STRENGTHS]

    def right(part: Any) -> Any:
        rows, codes = vectorizer.transform(part.texts), task.codes(part)
        return np.array([100.0 * ((rows @ fit.w + fit.b > 0.0) == codes).mean() for fit in fits])

    on_test = right(task.test)
    return float(on_test[right(task.dev).argmax()]), float(on_test.max())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    data = os.environ.get("TEXTREG_DATA")
    parser.add_argument("--data", type=Path, default=data and Path(data) / "data")
    parser.add_argument("--tasks", default="science,sports", help="separated by commas")
    args = parser.parse_args(arguments)
    if args.data is None:
        parser.error("name the folder that holds tasks/: --data DIR, or TEXTREG_DATA")
    for name in args.tasks.split(","):
        task = Documents(args.data / "tasks" / name)
        print(f"{name}: published {PUBLISHED[SKIANIS][0]['ridge'][name]}")
        for way, tokenize in WAYS.items():
            for what in ("counts", "occurs"):
                chosen, best = accuracies(task, tokenize, binary=what == "occurs")
                print(f"  {way:20} {what}: {chosen:.1f}, {best:.1f} at best", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
