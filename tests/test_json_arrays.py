"""Files that are one JSON array."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

from textreg.errors import DataError, DataWarning
from textreg.files import MAX_LINE
from textreg.reading import source
from textreg.reading.corpus import read_corpus, stream_records
from textreg.records import Corpus


def stream_documents(*paths: Any, **how: Any) -> Iterator[Corpus]:
    return (batch.documents for batch in stream_records(*paths, **how))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = st.lists(
    st.fixed_dictionaries({"text": st.text(max_size=9)}, optional={"x": VALUES, "y": VALUES}),
    min_size=1,
    max_size=5,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrays")


@draws(60)
@given(
    records=RECORDS,
    indent=st.sampled_from([None, 0, 3]),
    ascii=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    chunk=st.sampled_from([1, 7, 64]),
)
def test_records_come_out(
    folder: Path, records: Any, indent: Any, ascii: bool, encoding: str, chunk: int
) -> None:
    written = json.dumps(records, indent=indent, ensure_ascii=ascii)
    path = folder / "a.json"
    path.write_bytes(written.encode(encoding, "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "CHUNK", chunk)
        batches = list(stream_records(path, on_error="skip", full=True))
    assert [record for batch in batches for record in batch.records] == records


def test_records_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(
        b'[\n{"text": "a",\n "label": "x"},\n3,\n{"text": "\xff", "label": "x"}, {"text": 1},\n[],'
        b'{"text": "b \\ud800", "label": "y"}]\n'
    )
    with pytest.raises(DataError, match=rf"2 not a JSON object \({path}:2, 5\)"):
        read_corpus(path)
    with pytest.warns(DataWarning, match=r"4 of 6 rows cannot be read"):
        corpus = read_corpus(path, on_error="skip", max_skipped=1.0)
    assert list(corpus.texts) == ["a", "b \N{REPLACEMENT CHARACTER}"]
    assert corpus.where(1) == f"{path}:6"
    assert [(row.line, row.problem) for row in corpus.skipped] == [
        (2, 'not a JSON object such as {"label": "good", "text": "..."}.'),
        (3, "byte 11 of record 3, 0xff, is not valid UTF-8."),
        (4, "'text' is 1, not a text."),
        (5, 'not a JSON object such as {"label": "good", "text": "..."}.'),
    ]


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize(
    ("content", "number", "what"),
    [
        ('[{"text": "a"}, {"text": "b"}', 2, "the array has no end"),
        ('[{"text": "a"}, {"text": "b', 2, "the array has no end"),
        ('[{"text": "a"}, ', 2, "the array has no end"),
        ('[{"text": "a"} {"text": "b"}]', 1, ", is missing"),
        ('[{"text": "a"}] {"text": "b"}', 1, "there is more after the end"),
        ('[{"text": "a"}, {text: "b"}, {"text": "c", "more": [1, 2, 3, 4, 5]}]', 2, "Expecting"),
        (
            '[{"text": "a"}, {"text": ' + "[" * 100_000,
            2,
            "a number of thousands of digits, or nested",
        ),
        ('[{"text": "a"}, ' + "1" * 5000 + "]", 2, "a number of thousands of digits"),
    ],
)
def test_broken_arrays(tmp_path: Path, content: str, number: int, what: str, on_error: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    batches = stream_documents(path, on_error=on_error)
    assert list(next(batches).texts)[:1] == ["a"]
    with pytest.raises(DataError) as raised:
        list(batches)
    assert str(raised.value).startswith(f"{path}:{number}: not a valid JSON array ({what}")


def test_an_empty_array(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[\n]")
    with pytest.raises(DataError, match="the file has no documents"):
        read_corpus(path)


def test_memory_is_that_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "superb " * 100}] * 20_000))  # 14 MB on one line
    tracemalloc.start()
    assert sum(map(len, stream_documents(path))) == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2.2 * path.stat().st_size  # as bytes and as a text, and no values of it
    path.write_text(json.dumps([{"text": "a"}, {"text": "b" * 200_000}]))
    monkeypatch.setenv(MAX_LINE, "1KB")
    with pytest.raises(DataError, match=rf"{path}:2: the record is longer than"):
        read_corpus(path, labeled=False)


def test_objects_on_lines_in_a_json_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"text": "a", "label": "x"}\n[]\n')
    with pytest.warns(DataWarning, match="a JSON array, where every line"):
        assert len(read_corpus(path, on_error="skip", max_skipped=1.0)) == 1
