"""CPU time of explaining 10,000 short documents as JSON lines; the aim is under 5 seconds.

OMP_NUM_THREADS=1 python benchmarks/explain.py
"""

from __future__ import annotations

import json
import random
import time

import textreg
from textreg.explain import explain


def corpus(n: int, seed: int = 0) -> list[str]:
    """Short reviews of made-up words, three sentences of eight words each."""
    rng = random.Random(seed)
    words = [f"word{number}" for number in range(5000)]
    shares = [1 / (rank + 10) for rank in range(len(words))]
    return [
        " ".join(" ".join(rng.choices(words, shares, k=8)).capitalize() + "." for _ in range(3))
        for _ in range(n)
    ]


def main() -> None:
    texts = corpus(10_000)
    labels = ["even" if len(text) % 2 == 0 else "odd" for text in texts]
    for weighting in ("log", "unit", "tfidf"):
        model = textreg.train(texts[:2000], labels[:2000], reg="ridge", reg_l2=1.0,
                              weighting=weighting)  # fmt: skip
        start = time.process_time()
        size = sum(
            len(json.dumps(each.to_dict(), ensure_ascii=False)) for each in explain(model, texts)
        )
        seconds = time.process_time() - start
        print(
            f"{weighting:6}  {model.n_features:>7,} features  {size / 1e6:6.1f} MB  {seconds:.2f} s"
        )


if __name__ == "__main__":
    main()
