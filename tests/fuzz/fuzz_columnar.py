"""Hostile Parquet and Arrow files, packed and damaged: see ``frame.py``.

Whatever is damaged, reading ends with documents or with an error of ours, within time and memory.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute  # what it takes is not that of a case
import pyarrow.parquet as pq

from textreg.errors import DataWarning, TextregError
from textreg.files import MAX_LINE, MAX_UNPACKED
from textreg.reading.corpus import read_corpus, stream_records

SECONDS = 20
MEGABYTES = 512  # of addresses, which the threads of Arrow reserve
TEXTS = ["good", "bad movie", "", " ", "Größe", "日本語", "a\nb", "\ufeff", "é" * 300]


def _is_named(path: Path, error: TextregError) -> None:
    assert str(path) in str(error), error


def prepare(shared: Path) -> None:
    """Limits that a case can reach."""
    os.environ.update({MAX_LINE: "300KB", MAX_UNPACKED: "600KB"})


def case(rng: np.random.Generator, folder: Path) -> str:
    warnings.simplefilter("ignore", DataWarning)
    path, rows = _made(rng, folder)
    found: dict[bool, list[str] | None] = {}
    for skip in (False, True):
        how: dict[str, Any] = {"on_error": "skip", "max_skipped": 1.0} if skip else {}
        try:
            corpus = read_corpus(path, labeled=False, **how)
            found[skip] = list(corpus.texts)
            assert not skip or rows is None or len(corpus) + len(corpus.skipped) == rows
        except TextregError as error:
            _is_named(path, error)
            found[skip] = None
    assert found[False] is None or found[False] == found[True]
    try:
        read = sum(len(batch.records) for batch in stream_records(path, on_error="skip"))
        assert rows is None or read == rows
    except TextregError as error:
        _is_named(path, error)
    return "an error" if found[True] is None else "read"


def _made(rng: np.random.Generator, folder: Path) -> tuple[Path, int | None]:
    """A file, and its rows if all of them can be read."""
    n = int(rng.integers(0, 40))
    texts = [one for one in TEXTS if isinstance(one, str) and rng.random() < 0.5] or ["a"]
    if long := rng.random() < 0.2:
        texts.append("long " * int(rng.integers(1000, 200_000)))
    column = pa.array(rng.choice(np.array(texts, dtype=object), n).tolist(), pa.string())
    labels = pa.array([None if rng.random() < 0.1 else "ab"[row % 2] for row in range(n)])
    lists = pa.array([["x", texts[-1]] * int(rng.integers(3))] * n, pa.list_(pa.string()))
    if rng.integers(2):
        column = column.dictionary_encode()
    table = pa.table({"text": column, "label": labels, "more": lists})
    packing = ["none", "zstd", "lz4"][rng.integers(3)]
    ending = ["parquet", "arrow", "arrows"][rng.integers(3)]
    path = folder / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(
            table,
            path,
            row_group_size=int(rng.integers(1, 50)),
            compression=packing,
            use_dictionary=bool(rng.integers(2)),
            store_schema=bool(rng.integers(2)),
        )
    else:
        how = pa.ipc.IpcWriteOptions(compression=None if packing == "none" else packing)
        make = pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream
        with make(path, table.schema, options=how) as writer:
            writer.write_table(table, max_chunksize=int(rng.integers(1, 50)))
    if rng.random() < 0.4:
        return path, None if long else n
    data = bytearray(path.read_bytes())
    for at in rng.integers(len(data), size=int(rng.integers(1, 5))):
        data[at] = int(rng.integers(256))
    path.write_bytes(data[: rng.integers(len(data))] if rng.integers(4) == 0 else data)
    return path, None
