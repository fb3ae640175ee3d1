"""Corpora whose texts go to a file as they are read are those that are read into memory."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_corpus import CELLS, ROWS, jsonl, table
from test_memory import peak_of

from textreg.errors import DataError, FaultsError, TextregError, UsageError
from textreg.reading import corpus as reader
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg.records.documents import Field, StoredTexts

Read = tuple[Any, list[str]]
"""A corpus, or the type and message of an error; and the warnings."""


def told(read: Callable[[], Corpus]) -> Read:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found: Any = read()
        except TextregError as error:
            found = type(error), str(error)
    return found, [str(one.message) for one in warned]


def parts(corpus: Corpus) -> dict[str, Any]:
    """All that a corpus holds, as values that can be compared."""
    values: dict[str, Any] = {name: getattr(corpus, name) for name in corpus.__dataclass_fields__}
    for name in ("sample_weight", "source_of", "line_of"):
        if (array := values[name]) is not None:
            values[name] = array.dtype, array.tolist()
    if corpus.time_of is not None:
        values["time_of"] = [(type(time), time) for time in corpus.time_of]
    return values | {"texts": list(corpus.texts), "skipped": list(corpus.skipped)}


@pytest.fixture
def same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Read]]:
    """Reads with and without a file for texts, compares, and returns what came of it."""
    stores: list[StoredTexts] = []
    monkeypatch.setattr(reader, "KNOWN", 3)  # fewer than some have

    def same(paths: Any, before: Callable[[], Any] = lambda: None, **options: Any) -> Read:
        before()
        plain = told(lambda: read_corpus(paths, **options))
        for rows, characters in ((4096, 1 << 20), (2, 1 << 20), (4096, 8)):
            monkeypatch.setattr(reader, "ROWS", rows)
            monkeypatch.setattr(reader, "CHARACTERS", characters)
            before()
            stores.append(StoredTexts(tmp_path / f".texts{len(stores)}"))
            found, warned = told(lambda: read_corpus(paths, texts=stores[-1], **options))
            if isinstance(found, Corpus):
                assert found.texts is stores[-1]
                assert parts(found) == parts(plain[0])
            else:
                assert found == plain[0]
            assert warned == plain[1]
        return plain

    yield same
    for texts in stores:
        texts.close()


def arrow(kind: str) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.Table.from_pylist(ROWS)
    out = io.BytesIO()
    if kind == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(rows, out, row_group_size=2)
    else:
        with pyarrow.ipc.new_file(out, rows.schema) as file:
            file.write_table(rows, max_chunksize=2)
    return out.getvalue()


FORMATS: dict[str, Callable[[], bytes]] = {
    "a.jsonl": lambda: jsonl(ROWS).encode(),
    "a.json": lambda: json.dumps(ROWS, indent=1).encode(),
    "a.csv": lambda: table(CELLS).encode("utf-16"),
    "a.tsv": lambda: table(CELLS, delimiter="\t").encode(),
    "a.txt": lambda: b"__label__a b c\n\nd __label__b\n__label__b\n__label__a e\n",
    "a.parquet": lambda: arrow("parquet"),
    "a.arrow": lambda: arrow("arrow"),
    "a.jsonl.gz": lambda: gzip.compress(jsonl(ROWS).encode()),
    "a.csv.bz2": lambda: bz2.compress(table(CELLS).encode()),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("labeled", [True, False])
def test_every_format(
    tmp_path: Path, same: Any, monkeypatch: pytest.MonkeyPatch, name: str, labeled: bool
) -> None:
    content = FORMATS[name]()
    (tmp_path / name).write_bytes(content)
    corpus, _ = same(tmp_path / name, labeled=labeled)
    assert len(corpus) == 4

    def stdin() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    assert parts(same("-", stdin, labeled=labeled)[0])["texts"] == list(corpus.texts)


def test_files_and_folders_together(tmp_path: Path, same: Any) -> None:
    for name, content in FORMATS.items():
        (tmp_path / name).write_bytes(content())
    for number in range(7):
        file = tmp_path / "root" / "ab"[number % 2] / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"text {number}\n")
    paths = [str(tmp_path / "a.*"), str(tmp_path / "root")]
    corpus, _ = same(paths)
    assert len(corpus) == 4 * len(FORMATS) + 7
    assert len(corpus.sources) == len(FORMATS) + 7
    assert corpus.where(len(corpus) - 1) == str(tmp_path / "root" / "b" / "5.txt")
    (tmp_path / "root" / "README").write_text("about")
    assert same(paths, labeled=False)[0].labels is None


def test_all_columns(tmp_path: Path, same: Any) -> None:
    path = tmp_path / "a.jsonl"
    times = ["2024-01-02", "2024-01-02", 1, 1.0, True, "2024-01-02T10:00"]
    rows = [
        {"text": f"text {row}", "label": f"l{row % 5}", "w": row / 2, "by": f"{row % 7}", "at": at}
        for row, at in enumerate([*times[:4], times[5]] * 3)
    ]
    path.write_text(jsonl(rows))  # type: ignore[arg-type]
    corpus, _ = same(path, weight_col="w", group_col="by", time_col="at")
    assert corpus.sample_weight.tolist() == [row / 2 for row in range(15)]
    assert [type(time) for time in corpus.time_of[:4]] == [str, str, int, float]
    assert corpus.column_names == {
        "text": "text", "label": "label", "weight": "w", "group": "by", "time": "at"
    }  # fmt: skip


def test_labels_are_one_object_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "ROWS", 10)
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": "t", "label": label, "by": f"author {row % 3}"}
        for row in range(30)
        for label in (["one label", "another label"], ["another label"], [])
    ]
    path.write_text(jsonl(rows))  # type: ignore[arg-type]
    for stored in (False, True):
        texts = StoredTexts(tmp_path / "texts") if stored else None
        corpus = read_corpus(path, group_col="by", texts=texts)
        assert corpus.labels is not None
        assert corpus.group_of is not None
        assert len({id(labels) for labels in corpus.labels}) == 3
        assert corpus.labels[0][1] is corpus.labels[1][0]
        assert len({id(group) for group in corpus.group_of}) == 3
        if texts is not None:
            texts.close()


# --- what is wrong ------------------------------------------------------------------------------

GOOD = '{"text": "a", "label": "x", "w": 1}\n'
BAD: dict[str, str] = {
    "a bad row": 5 * GOOD + "{\n" + GOOD,
    "no label": 5 * GOOD + '{"text": "b"}\n' + 3 * GOOD,
    "bad rows first": "{\n[]\n" + 9 * GOOD + "{\n",
    "no good row": '{"text": 1, "label": "x"}\n' * 5,
    "no row": "",
    "lists beside labels": 5 * GOOD + '{"text": "b", "label": ["x"]}\n',
    "labels beside lists": 5 * '{"text": "b", "label": ["x"]}\n' + 5 * GOOD,
    "weights too large": GOOD.replace("1}", "1e308}") * 5,
    "a bad weight": 5 * GOOD + GOOD.replace("1}", "-1}"),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
@pytest.mark.parametrize("labeled", [True, False])
def test_errors_and_warnings(tmp_path: Path, same: Any, content: str, labeled: bool) -> None:
    path, good = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    path.write_text(content)
    good.write_text(40 * GOOD)
    for paths in ([path], [good, path], [path, good]):
        strict, _ = same(paths, labeled=labeled, weight_col="w")
        most = [
            same(paths, labeled=labeled, weight_col="w", on_error="skip", max_skipped=most)
            for most in (0, 0.05, 1.0)
        ]
        if content == BAD["a bad row"]:
            assert strict[0] is DataError
            assert "a.jsonl:6: not valid JSON" in strict[1]
            assert most[0][0][0] is FaultsError
            ((row,), warned) = most[2][0].skipped, most[2][1]
            assert row.position == 5 + 40 * (paths[0] == good)
            assert "1 of" in warned[0]


def test_files_that_cannot_be_read(tmp_path: Path, same: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(9 * GOOD)
    (tmp_path / "b.csv").write_text("x,y\n1,2\n")
    (tmp_path / "c.gz").write_bytes(gzip.compress(GOOD.encode() * 9000)[:-20])
    for other in ("b.csv", "c.gz", "missing"):
        assert issubclass(same([path, tmp_path / other])[0][0], TextregError)
    assert same(path, text_col="txt")[0][0] is UsageError


def test_what_cannot_be_stored(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD)
    with StoredTexts(tmp_path / "texts") as texts:
        with pytest.raises(UsageError, match=r"several columns \(text, w\) cannot be kept in a fi"):
            read_corpus(path, fields=[Field("text"), Field("w", "number")], texts=texts)
        read_corpus(path, texts=texts)
        with pytest.raises(UsageError, match="texts holds 1 texts already: name another file"):
            read_corpus(path, texts=texts)


def test_memory_does_not_grow_with_the_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    n, text = 10_000, "It works, mostly. " * 112
    with path.open("w") as file:
        for row in range(n):
            file.write(json.dumps({"text": f"{row} {text}", "label": "ab"[row % 2]}) + "\n")
    size = path.stat().st_size
    assert size > 20_000_000
    with StoredTexts(tmp_path / "texts") as texts:
        read: list[Corpus] = []
        assert peak_of(lambda: read.append(read_corpus(path, texts=texts))) < 6_000_000
        assert sum(map(len, read[0].texts)) > 20_000_000
        some = read[0].select(np.arange(0, n, 2))
        assert peak_of(lambda: sum(map(len, some.texts))) < 6_000_000
        assert some.texts[-1].startswith(f"{n - 2} It works")
    assert peak_of(lambda: read_corpus(path)) > 20_000_000  # it would show
