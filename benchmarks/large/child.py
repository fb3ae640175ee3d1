"""A process of its own for what is no command of textreg.

    python -m benchmarks.large.child tokens FILE
    python -m benchmarks.large.child same MODEL OTHER

The first makes tokens and sentences of the texts of a file, the second tells whether two models
have the same features and weights, to the last bit. Both print JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.performance.ground import lines
from benchmarks.performance.harness import Call, Sample


def tokens(path: Path) -> Sample:
    """Seconds and memory of tokenizing alone, and how many bytes of UTF-8 that was."""
    from textreg.builtin.words import Words
    from textreg.plugins import calls

    texts = [row["text"] for row in lines(path)]
    size = sum(len(text.encode()) for text in texts)

    def run() -> dict[str, float]:
        found = calls.encode(Words(), texts)
        return {
            "bytes": size,
            "documents": len(texts),
            "words": len(found.ids),
            "sentences": len(found.sentence_ptr) - 1,
        }

    return Call(run)()


def same(one: Path, other: Path) -> Sample:
    """1 if two models are the same."""
    from textreg import load

    a, b = load(one), load(other)
    alike = (
        a.labels == b.labels
        and a.weights.tobytes() == b.weights.tobytes()
        and a.intercepts.tobytes() == b.intercepts.tobytes()
        and list(a.encoder.names) == list(b.encoder.names)
    )
    return {"same": float(alike)}


if __name__ == "__main__":
    task, *paths = sys.argv[1:]
    print(json.dumps({"tokens": tokens, "same": same}[task](*map(Path, paths))))
