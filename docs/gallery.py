"""Write the pages that gallery.md shows, from the demo corpus; the documentation calls it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import textreg
from textreg.demo import write_demo
from textreg.reading.corpus import read_corpus
from textreg_report import report


def write(folder: Path) -> list[Path]:
    """The report of a model of sentences, and the one beside a lasso."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        write_demo(scratch)
        train, test = (read_corpus([f"{scratch}/{name}.jsonl"]) for name in ("train", "test"))
    labels = train.labels or ()
    # Counts of single words, and the simplest of the good models, as in the papers.
    options = {"tokenizer": "words", "ngrams": 1, "weighting": "count"}
    sentence = textreg.train(
        train.texts, labels, reg="sentence", reg_group=0.05, select="1se", path=True, **options
    )
    lasso = textreg.train(train.texts, labels, reg="lasso", **options)
    pages = {
        "report.html": report(sentence, test, train=train, title="sentence on the demo corpus"),
        "against.html": report(sentence, test, against={"lasso": lasso}, title="sentence"),
    }
    for name, page in pages.items():
        page.save(folder / name)
    return [folder / name for name in pages]
