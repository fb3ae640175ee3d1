"""Text to features, beside scikit-learn: CPU time, speed and memory on 20 Newsgroups.

    python benchmarks/features.py --data DIR      # DIR holds data/20news/{train,test}.jsonl.gz

Every measurement runs in a process of its own, once, with the texts loaded and everything imported
before the clock starts; the best of ``--repeat`` such processes is printed. Memory is what the
process grew by at its peak, in multiples of the text.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORD = r"(?u)\b\w+\b"  # the rule of tokenizer 'words'
ROWS = {
    "counts": "words, sentences and counts",
    "tfidf": "the same with tf-idf, min_df=2",
    "bigrams": "the same with bigrams",
    "chars": "character n-grams of 2 to 5",
    "transform": "new texts, known words only",
    "groups": "sentences to groups",
}


def texts(data: Path, part: str) -> list[str]:
    """The texts of one part of the corpus."""
    with gzip.open(data / "data" / "20news" / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def ours(row: str, train: list[str], test: list[str]) -> Callable[[], Any]:
    """What textreg does in this row."""
    from textreg.builtin.chars import Chars
    from textreg.builtin.sentences import Sentences
    from textreg.builtin.words import Words
    from textreg.features.vectorize import Vectorizer

    if row == "counts":
        return lambda: Vectorizer(weighting="count", ngrams=1).fit(Words(), train).X
    if row == "tfidf":
        return lambda: Vectorizer(weighting="tfidf", ngrams=1, min_df=2).fit(Words(), train).X
    if row == "bigrams":
        words = Words(sentences="none")  # scikit-learn's bigrams know no sentences
        return lambda: Vectorizer(weighting="count", ngrams=2).fit(words, train).X
    if row == "chars":
        chars = Chars(sentences="none")
        return lambda: Vectorizer(weighting="count", ngrams=1).fit(chars, train).X
    features = Vectorizer(weighting="count", ngrams=1).fit(Words(), train)
    if row == "transform":
        return lambda: features.encoder.transform(test)
    return lambda: Sentences().build(features.tokens).merged.groups


def peers(row: str, train: list[str], test: list[str]) -> Callable[[], Any] | None:
    """What scikit-learn does in this row, if it can."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if row == "counts":
        return lambda: CountVectorizer(token_pattern=WORD).fit_transform(train)
    if row == "tfidf":
        tfidf = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True, min_df=2)
        return lambda: tfidf.fit_transform(train)
    if row == "bigrams":
        return lambda: CountVectorizer(token_pattern=WORD, ngram_range=(1, 2)).fit_transform(train)
    if row == "chars":
        chars = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5))
        return lambda: chars.fit_transform(train)
    if row == "transform":
        fitted = CountVectorizer(token_pattern=WORD).fit(train)
        return lambda: fitted.transform(test)
    return None


def peak_memory(reset: bool = False) -> int:
    """The peak of this process in bytes, since the last reset; 0 where the system does not tell."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def measure(data: Path, row: str, who: str) -> dict[str, float] | None:
    """Run one measurement in this process."""
    import scipy.sparse  # noqa: F401

    train, test = texts(data, "train"), texts(data, "test")
    run = (ours if who == "ours" else peers)(row, train, test)
    if run is None:
        return None
    before = peak_memory(reset=True)
    start = time.process_time()
    result = run()
    seconds = time.process_time() - start
    size = sum(len(text.encode()) for text in (test if row == "transform" else train))
    entries = len(result.indices)
    return {
        "seconds": seconds,
        "speed": size / seconds / 1e6,
        "memory": (peak_memory() - before) / size,
        "entries": entries,
    }


def best_of(repeat: int, data: Path, row: str, who: str) -> dict[str, float] | None:
    """The fastest of ``repeat`` child processes."""
    command = [sys.executable, __file__, "--data", str(data), "--measure", row, who]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    results = [
        json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
        for _ in range(repeat)
    ]
    return None if results[0] is None else min(results, key=lambda result: result["seconds"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("TEXTREG_DATA"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.data is None:
        parser.error("say with --data, or in TEXTREG_DATA, which folder holds data/20news")
    if options.measure:
        print(json.dumps(measure(options.data, *options.measure)))
        return
    head = f"{'20news':<32}{'CPU s':>8}{'MB/s':>8}{'memory':>8}"
    print(f"{head}   {'sklearn s':>10}{'memory':>8}{'ratio':>8}   same entries")
    for row, title in ROWS.items():
        mine = best_of(options.repeat, options.data, row, "ours")
        theirs = best_of(options.repeat, options.data, row, "peers")
        line = f"{title:<32}{mine['seconds']:8.3f}{mine['speed']:8.0f}{mine['memory']:7.1f}x"
        if theirs:
            line += f"   {theirs['seconds']:10.2f}{theirs['memory']:7.1f}x"
            line += f"{theirs['seconds'] / mine['seconds']:7.1f}x"
            line += f"   {'yes' if mine['entries'] == theirs['entries'] else 'NO'}"
        print(line)


if __name__ == "__main__":
    main()
