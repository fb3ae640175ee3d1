"""The default, sentences, their shadow and peers on the same documents, in one table.

    python -m benchmarks.structure --data DIR [--corpora trec ...] [--write docs/measurements.md]

Every method has the training and the development file: textreg chooses strengths by the latter and
fits both, the pipeline of scikit-learn (LinearSVC(C=1), see benchmarks.everyday) are fitted on
both, and calibrated by CalibratedClassifierCV for their log-loss. Measured once, on the test file.
The shadow is `--groups shuffled:sentences`. cpu: user and system seconds of the command, or of the
fit, with its calibration. --write puts the tables between the two marks of a page.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from benchmarks.corpora import TASKS, Rows
from benchmarks.everyday import CORPORA, EIGHT, of_textreg, parts, pipeline
from textreg.measure.decisions import reliability

METHODS = {
    "auto": (),
    "sentence": ("--reg", "sentence"),
    "shadow": ("--reg", "sentence", "--groups", "shuffled:sentences"),
    "ridge": ("--reg", "ridge"),
    "elastic": ("--reg", "elastic"),
}
TEN = "scikit-learn"
MEANS = {
    "mean of eight": EIGHT,
    "mean of four newsgroup pairs": TASKS[:4],
    "mean of the seven tasks": TASKS,
}
MARKS = "<!-- benchmarks.structure -->", "<!-- end of benchmarks.structure -->"


class Cell(NamedTuple):
    """One method on one corpus. share: of the features, with a weight. selected: of sentences.

    ece: the expected calibration error of the probability of the predicted label.
    """

    accuracy: float
    log_loss: float
    ece: float
    cpu: float
    share: float | None = None
    selected: float | None = None


def of_labels(truth: Sequence[str], table: Any, labels: Sequence[str]) -> tuple[float, float]:
    """Mean log-loss and calibration error of probabilities (documents, labels)."""
    place = {label: at for at, label in enumerate(labels)}
    true = np.array([place[label] for label in truth])
    chosen = table[np.arange(len(truth)), true]
    error = reliability(table.max(axis=1), table.argmax(axis=1) == true).error
    return float(-np.log(np.maximum(chosen, 1e-15)).mean()), error


def measured(method: str, train: Rows, dev: Rows, test: Rows) -> Cell:
    """A method on a corpus."""
    texts, truth = [row["text"] for row in test], [row["label"] for row in test]
    if method == TEN:
        started = time.process_time()
        features, svc = pipeline()
        X = features.fit_transform([row["text"] for row in (*train, *dev)])
        y = [row["label"] for row in (*train, *dev)]
        answers = svc.fit(X, y).predict(features.transform(texts))
        calibrated = CalibratedClassifierCV(pipeline()[1]).fit(X, y)
        table = calibrated.predict_proba(features.transform(texts))
        cpu = time.process_time() - started
        return Cell(np.mean(answers == truth), *of_labels(truth, table, calibrated.classes_), cpu)
    answers, model, _, cpu = of_textreg(train, dev, test, METHODS[method])
    summary = model.summary
    assert summary is not None
    groups = summary.groups
    selected = None if groups is None or groups.selected is None else groups.selected
    return Cell(
        float(np.mean(np.array(answers) == truth)),
        *of_labels(truth, np.atleast_2d(model.predict_proba(texts)), model.labels),
        cpu,
        model.n_features / summary.features,
        None if groups is None or selected is None else selected / max(groups.before, 1),
    )


def percent(share: float) -> str:
    """With two digits, or as a whole number."""
    return f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.2g}"


def tables(cells: dict[tuple[str, str], Cell], corpora: Sequence[str]) -> str:
    """Accuracy, log-loss, and what the models take, as Markdown."""
    methods = (*METHODS, TEN)
    means = {title: names for title, names in MEANS.items() if set(names) <= set(corpora)}

    def block(title: str, head: Sequence[str], texts: Any) -> list[str]:
        lines = [f"**{title}**", "", "| | " + " | ".join(head) + " |"]
        lines.append("| --- |" + " ---: |" * len(head))
        for name in corpora:
            lines.append(f"| {name} | " + " | ".join(texts([name])) + " |")
        for name, names in means.items():
            lines.append(f"| **{name}** | " + " | ".join(texts(names)) + " |")
        return [*lines, ""]

    def mean(names: Sequence[str], method: str, key: str) -> float:
        values = [getattr(cells[name, method], key) for name in names]
        return float(np.mean([np.nan if it is None else it for it in values]))

    parts = block(
        "Accuracy in percent",
        methods,
        lambda names: [f"{100 * mean(names, it, 'accuracy'):.1f}" for it in methods],
    )
    parts += block(
        "Log-loss",
        methods,
        lambda names: [f"{mean(names, it, 'log_loss'):.3f}" for it in methods],
    )
    parts += block(
        "Expected calibration error of the predicted label, in percent",
        methods,
        lambda names: [f"{100 * mean(names, it, 'ece'):.1f}" for it in methods],
    )
    head = [*(f"{it}, features" for it in METHODS), "sentence, selected", "shadow, selected"]
    parts += block(
        "Features with a weight, and sentences that are selected, in percent",
        head,
        lambda names: [
            *(percent(mean(names, it, "share")) for it in METHODS),
            *(percent(mean(names, it, "selected")) for it in ("sentence", "shadow")),
        ],
    )
    parts += block(
        "CPU seconds",
        methods,
        lambda names: [f"{mean(names, it, 'cpu'):.1f}" for it in methods],
    )
    return "\n".join(parts)


def write(page: Path, text: str) -> None:
    """Put the tables between the marks of a page."""
    old = page.read_text(encoding="utf-8")
    start, end = map(re.escape, MARKS)
    new, times = re.subn(
        f"{start}.*?{end}", lambda _: f"{MARKS[0]}\n\n{text}\n{MARKS[1]}", old, flags=re.DOTALL
    )
    if times != 1:
        raise SystemExit(f"{page} has not the marks {MARKS[0]} and {MARKS[1]}, once each.")
    page.write_text(new, encoding="utf-8")


def main() -> None:
    known = [name for name in CORPORA if name in (*EIGHT, *TASKS)]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with data/")
    parser.add_argument("--corpora", nargs="+", default=known, choices=known)
    parser.add_argument("--on", default="test", choices=("test", "held"))
    parser.add_argument("--write", type=Path, help="page to write the tables into")
    options = parser.parse_args()
    cells = {}
    for name in options.corpora:
        documents = parts(options.data / "data" / CORPORA[name], options.on)
        for method in (*METHODS, TEN):
            cells[name, method] = measured(method, *documents)
            print(name, method, *(f"{it}" for it in cells[name, method]), flush=True)
    text = tables(cells, options.corpora)
    if options.write is None:
        print(text)
    else:
        write(options.write, text)


if __name__ == "__main__":
    main()
