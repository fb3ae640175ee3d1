"""Answers of a model of imdb's words: one text from Python and from the shell, files, reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.performance.ground import Ground, write
from benchmarks.performance.harness import Call, Command, Side, python
from benchmarks.performance.line import OURS, Goal, Line
from benchmarks.performance.training import LOOP, SVM, loop

START = "starting Python"
FASTTEXT = "fastText"
TEXTS = 300
"""Number of texts that are answered one by one."""


def imdb_model(ground: Ground) -> Path:
    """Words and pairs of all of imdb, by the default's search."""
    return ground.model("imdb-words", "imdb/train", "--tokenizer", "words")


def one_by_one(answer: Callable[[str], Any], texts: list[str]) -> Call:
    """Answer texts one by one: the median milliseconds of one, by the clock."""
    import time

    def run() -> dict[str, float]:
        for text in texts[:20]:
            answer(text)
        times = []
        for text in texts:
            started = time.perf_counter()
            answer(text)
            times.append(1e3 * (time.perf_counter() - started))
        return {"p50": median(times)}

    return Call(run)


def one_text(size: int, goal: float) -> Line:
    """One text of ``size`` characters, from Python."""

    def sides(ground: Ground) -> Mapping[str, Side]:
        import textreg

        reviews = [text for text in ground.texts("imdb/test") if len(text) >= size]
        texts = [" ".join(text[:size].split()) for text in reviews[:TEXTS]]
        model = textreg.load(imdb_model(ground))
        svm, quick = peer_models(ground)
        return {
            OURS: one_by_one(lambda text: model.predict([text]), texts),
            FASTTEXT: one_by_one(quick.predict, texts),
            SVM: one_by_one(lambda text: svm.predict([text]), texts),
        }

    return Line(
        f"one-text-{size}",
        f"one text of {size:,} characters from Python, the median",
        sides,
        figure="p50",
        goals=(Goal("p50", goal),),
        calls=True,
    )


def peer_models(ground: Ground) -> tuple[Any, Any]:
    """scikit-learn's logistic regression and fastText on words and pairs of a fifth of imdb."""
    import joblib

    paths = [ground.work / name for name in ("imdb.joblib", "imdb.fasttext")]
    rows = ground.rows("imdb/train")[::5]
    if not paths[0].exists():
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        tfidf = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
        svm = make_pipeline(tfidf, LogisticRegression(solver="liblinear"))
        joblib.dump(
            svm.fit([row["text"] for row in rows], [row["label"] for row in rows]), paths[0]
        )
    import fasttext

    if not paths[1].exists():
        text = ground.work / "imdb.fasttext.txt"
        text.write_text(
            "".join(f"__label__{row['label']} {' '.join(row['text'].split())}\n" for row in rows)
        )
        options = {"wordNgrams": 2, "thread": 1, "bucket": 500_000, "dim": 20, "verbose": 0}
        fasttext.train_supervised(str(text), **options).save_model(str(paths[1]))
    fasttext.FastText.eprint = lambda *_: None
    return joblib.load(paths[0]), fasttext.load_model(str(paths[1]))


PROGRAMS = {
    FASTTEXT: (
        "import sys, fasttext; fasttext.FastText.eprint = lambda *_: None\n"
        "print(fasttext.load_model(sys.argv[1]).predict(sys.argv[2]))"
    ),
    SVM: "import sys, joblib; print(joblib.load(sys.argv[1]).predict([sys.argv[2]]))",
    START: "pass",
}


def shell(ground: Ground) -> Mapping[str, Side]:
    """One text from the shell, a process each."""
    text = " ".join(ground.texts("imdb/test")[0][:300].split())
    model = imdb_model(ground)
    make = Command(python("child", "peer-models", ground.data, ground.work, int(ground.quick)))
    make()
    files = {SVM: "imdb.joblib", FASTTEXT: "imdb.fasttext"}
    programs = {
        name: Command((sys.executable, "-c", code, str(ground.work / files.get(name, "")), text))
        for name, code in PROGRAMS.items()
    }
    return {OURS: Command(python("textreg", "predict", model, "--text", text)), **programs}


def starts(ground: Ground) -> Mapping[str, Side]:
    """``textreg --help``."""
    return {
        OURS: Command(python("textreg", "--help")),
        START: Command((sys.executable, "-c", "pass")),
    }


def messages(ground: Ground) -> Mapping[str, Side]:
    """A file of messages, beside fastText's and scikit-learn's loop over the same file."""
    model = ground.model("20news-lasso", "20news/train", "--reg", "lasso", "--reg-l1", "1")
    predict = ("predict", model, ground.file("20news/test"), "--jobs", "1")
    return {OURS: Command(python("textreg", *predict)), **loop(ground, "20news/test")}


def table(kind: str) -> Callable[[Ground], Mapping[str, Side]]:
    """A table of short texts to the same with answers and probabilities."""

    def sides(ground: Ground) -> Mapping[str, Side]:
        rows = ground.rows("subj/all")
        number = ground.few(100_000)
        given = ground.work / "table.jsonl"
        if not given.exists():
            write(given, ({"id": at, **rows[at % len(rows)]} for at in range(number)))
        options = ("--tokenizer", "words", "--reg", "lasso", "--reg-l1", "1")
        model = ground.model("subj", "subj/all", *options)
        out = ground.work / f"table-answers.{kind}"
        predict = ("predict", model, given, "--proba", "-o", out, "--jobs", "1")
        return {OURS: Command(python("textreg", *predict), facts={"documents": number})}

    return sides


def explained(ground: Ground) -> Mapping[str, Side]:
    """Every document with what each word adds."""
    reviews = ground.work / "explained.jsonl"
    if not reviews.exists():
        write(reviews, ({"text": row["text"]} for row in ground.rows("imdb/test")[::10]))
    words = ("explain", imdb_model(ground), reviews, "--format", "jsonl")
    return {OURS: Command(python("textreg", *words))}


def reported(ground: Ground) -> Mapping[str, Side]:
    """The report of a model on test documents, as a page."""
    page = ground.work / "report.html"
    words = ("report", imdb_model(ground), ground.file("imdb/test"), "-o", page, "--jobs", "1")
    return {
        OURS: Command(python("textreg", *words), then=lambda _: {"size": page.stat().st_size / 1e6})
    }


LINES = (
    one_text(300, 0.06),
    one_text(1300, 0.1),
    Line(
        "shell-one-text",
        "`textreg predict` of one text, a model of imdb's words",
        shell,
        goals=(Goal("cpu", 0.25), Goal("peak", 70)),
        bounds=(START,),
    ),
    Line("start", "`textreg --help`", starts, bounds=(START,)),
    Line("predict-messages", "`textreg predict`, 7,532 messages", messages, bounds=(LOOP,)),
    Line("predict-csv", "100,000 sentences to CSV, probabilities", table("csv"), once=True),
    Line(
        "predict-parquet",
        "100,000 sentences to Parquet, probabilities",
        table("parquet"),
        once=True,
    ),
    Line("explain", "`textreg explain --format jsonl`, 2,500 reviews", explained, once=True),
    Line("report", "`textreg report`, 25,000 reviews", reported, once=True),
)
