"""The corpora of the benchmarks: where they are, and how they are read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

TASKS = ("science", "sports", "religion", "computer", "movie", "amazon-books", "amazon-electronics")
"""The pairs of newsgroups, and the reviews, in the order of the tables."""

FOLDERS = {
    **{task: f"tasks/{task}" for task in TASKS},
    "trec": "trec",
    "germeval": "languages/germeval2018",
    "subj": "subj",
    "sms": "sms",
    "masakhane-yor": "languages/masakhane-yor",
    "masakhane-ibo": "languages/masakhane-ibo",
    "masakhane-som": "languages/masakhane-som",
    "chnsenticorp": "languages/chnsenticorp",
    "banking77": "intents/banking77",
    "clinc150": "intents/clinc150",
    "goemotions": "multilabel/goemotions",
}
"""The folder of every corpus, under ``data``."""

Rows = list[dict[str, Any]]


def read_dev(folder: Path) -> Rows:
    """The development documents of a corpus; none where it has none."""
    path = folder / "dev.jsonl.gz"
    return read(path) if path.is_file() else []


def read(path: Path) -> Rows:
    """The rows of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
