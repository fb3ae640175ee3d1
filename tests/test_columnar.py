"""Parquet and Arrow files, in and out, and compressed ones."""

from __future__ import annotations

import bz2
import datetime
import decimal
import io
import json
import lzma
import os
import random
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from thoroughness import thorough

import textreg
from textreg.errors import DataError, DataWarning, UsageError
from textreg.files import MAX_UNPACKED, zstd
from textreg.reading.corpus import read_corpus, stream_records
from textreg.reading.formats import records
from textreg.reading.formats.records import ColumnChunk, _thrift, column_chunks, pages
from textreg.records import Corpus
from textreg.records.documents import as_fields


def stream_documents(*paths: Any, **how: Any) -> Iterator[Corpus]:
    return (batch.documents for batch in stream_records(*paths, **how))


pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = ["good superb", "bad, awful\n", "好", "dull плохо"]
LABELS = ["pos", "neg", "pos", "neg"]
WRITERS = ["parquet", "arrow", "arrows"]


def write(path: Path, table: Any, **options: Any) -> Path:
    """A table as a file in the format of its ending."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, **options)
        return path
    make = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
    with make(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=options.get("row_group_size"))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m"
    options: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0, "tokenizer": "words"}
    textreg.train(TEXTS * 5, LABELS * 5, **options).save(path)
    return path


def test_structs_are_not_deep() -> None:
    """A struct that holds a struct: in no file there are more than twelve."""
    fine, deep = (b"\x1c" * levels + b"\x15\x02" + bytes(levels + 1) for levels in (11, 12))
    found = _thrift(io.BytesIO(fine))
    for _ in range(11):
        found = found[1]
    assert found == {1: 1}
    with pytest.raises(struct.error, match="its structure is none of Parquet"):
        _thrift(io.BytesIO(deep))


def test_values_of_a_struct() -> None:
    """A truth value, a byte, numbers of four and eight bytes, bytes, lists and a struct."""
    data = b"\x11\x12\x13\x07\x15\x03\x17" + bytes(8) + b"\x18\x02ab\x19\x28\x01a\x00"
    data += b"\x19\x21\x01\x02\x1c\x15\x04\x00\x05\x80\x08\x06\x00"
    assert _thrift(io.BytesIO(data)) == {
        1: True, 2: False, 3: b"\x07", 4: -2, 5: bytes(8), 6: b"ab", 7: [b"a", b""],
        8: [b"\x01", b"\x02"], 9: {1: 2}, 512: 3,
    }  # fmt: skip
    for size in range(len(data)):
        with pytest.raises(struct.error):
            _thrift(io.BytesIO(data[:size]))


def test_a_page_header_may_hold_a_number_for_a_struct() -> None:
    """Damaged: what reads the file says so, and not what adds up its sizes."""
    head = b"\x15\x00" + b"\x15\x14" + b"\x35\x04" + b"\x00"  # of type 0, of 10 bytes, with 5: 2
    column = ColumnChunk("text", start=0, end=len(head), values=3)
    assert list(pages(io.BytesIO(head), column)) == [(10, 0)]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_what_the_footer_says_of_columns(tmp_path: Path, version: str) -> None:
    """As pyarrow tells it of files that are not damaged."""
    lists = [["a", "b"], [], ["c"], ["d"] * 300] * 100
    table = pa.table({"text": TEXTS * 100, "tags": lists, "n": list(range(400))})
    for how in ({"use_dictionary": False}, {"compression": "zstd"}, {"write_page_index": True}):
        path = tmp_path / "a.parquet"
        pq.write_table(table, path, row_group_size=150, data_page_version=version, **how)
        metadata = pq.ParquetFile(path).metadata
        with path.open("rb") as file:
            chunks = column_chunks(file)
        assert len(chunks) == metadata.num_row_groups == 3
        for number, group in enumerate(chunks):
            for at, found in enumerate(group):
                told = metadata.row_group(number).column(at)
                start = told.data_page_offset
                if told.has_dictionary_page:
                    start = min(start, told.dictionary_page_offset)
                end = start + told.total_compressed_size
                assert found == (told.path_in_schema, start, end, told.num_values)


def test_a_byte_of_the_footer_may_be_any(tmp_path: Path) -> None:
    """Of a damaged column pyarrow ends the process when it is asked for it."""
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["a b", "c"], "label": [["x"], ["y", "z"]]})
    pq.write_table(table, path, store_schema=False)
    code = (
        "import struct, sys\n"
        "from pathlib import Path\n"
        "from textreg.errors import DataError\n"
        "from textreg.reading.corpus import read_corpus\n"
        "path = Path(sys.argv[1])\n"
        "data = path.read_bytes()\n"
        "(size,) = struct.unpack('<I', data[-8:-4])\n"
        "for at in range(len(data) - 8 - size, len(data) - 8):\n"
        "    for bit in (1, 2, 16):\n"
        "        path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])\n"
        "        try:\n"
        "            read_corpus(str(path))\n"
        "        except DataError:\n"
        "            pass\n"
    )
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code, path], capture_output=True)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_lists_of_texts_that_begin_alike_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may be as long as its page, and one list may have all of them."""
    labels = [tuple(f"{'x' * 2000}{at}{other}" for other in range(5)) for at in range(4)]
    table = pa.table({"text": TEXTS, "label": list(map(list, labels))})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY")
    assert read_corpus(path).labels == labels
    monkeypatch.setenv("TEXTREG_MAX_UNPACKED", "10kB")
    monkeypatch.setattr("textreg.files.RATIO", 2)
    with pytest.raises(DataError, match=r"unpacks to more than 0\.01 MB"):
        read_corpus(path)
    pq.write_table(table, path, use_dictionary=False, compression="none")
    monkeypatch.setattr("textreg.files.RATIO", 5)
    assert read_corpus(path).labels == labels


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_texts_and_labels(tmp_path: Path, ending: str, kind: str) -> None:
    kinds = {
        "string": pa.string(),
        "large_string": pa.large_string(),
        "dictionary": pa.dictionary(pa.int8(), pa.string()),
    }
    columns = {"id": [1, 2, 3, 4], "text": pa.array(TEXTS, kinds[kind]), "label": LABELS}
    path = write(tmp_path / f"a.{ending}", pa.table(columns))
    for name in (path, tmp_path / "nameless"):
        if not name.exists():
            path.rename(name)
        corpus = read_corpus(name)
        assert (list(corpus.texts), corpus.labels) == (TEXTS, LABELS)
        assert corpus.where(2) == f"{name}:3"


def test_labels_of_other_types(tmp_path: Path) -> None:
    for given, expected in (
        ([0, 1, 0, 1], ["0", "1", "0", "1"]),
        ([True, False, True, False], ["true", "false", "true", "false"]),
        ([["a"], [], ["a", "b"], ["b"]], [("a",), (), ("a", "b"), ("b",)]),
    ):
        path = write(tmp_path / "a.parquet", pa.table({"text": TEXTS, "label": given}))
        assert read_corpus(path).labels == expected


def test_groups_times_and_missing_values(tmp_path: Path) -> None:
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)]
    table = pa.table({"text": TEXTS, "label": LABELS, "day": days, "by": [1, 1, 2, None]})
    path = write(tmp_path / "a.parquet", table)
    assert read_corpus(path, time_col="day").time_of == ["2024-01-01", *map(str, days[1:])]
    with pytest.raises(DataError, match=r"a.parquet:4: group null in 'by'"):
        read_corpus(path, group_col="by")
    path = write(tmp_path / "b.parquet", pa.table({"text": [*TEXTS[:3], None], "label": LABELS}))
    with pytest.raises(DataError, match=r"b.parquet:4: 'text' is missing"):
        read_corpus(path)
    with pytest.raises(DataError, match=r"no column has a usual name of a label"):
        read_corpus(write(tmp_path / "c.parquet", pa.table({"text": TEXTS})))


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    raw = pa.array([b"good", b"\xff bad", None], pa.binary())
    offsets = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2], raw.buffers()[0])
    path = write(tmp_path / "a.parquet", pa.table({"text": offsets, "label": LABELS[:3]}))
    with pytest.warns(DataWarning, match="1 'text' is not a text"):
        corpus = read_corpus(path, on_error="skip", max_skipped=1.0, labeled=False)
    assert list(corpus.texts) == ["good"]
    assert [row.line for row in corpus.skipped] == [2, 3]


@pytest.mark.parametrize("ending", WRITERS)
def test_damaged_files(tmp_path: Path, ending: str) -> None:
    table = pa.table({"text": [f"{row} superb" for row in range(5000)], "label": ["a", "b"] * 2500})
    whole = write(tmp_path / f"a.{ending}", table, row_group_size=1000).read_bytes()
    damaged = {size: whole[:size] for size in (9, len(whole) // 2, len(whole) - 5)}
    damaged[-1] = b"\0" + whole[1:]
    for size, data in damaged.items():
        path = tmp_path / f"{size}.{ending}"
        path.write_bytes(data)
        if size == 9 or ending != "arrows":  # a stream may end after any batch
            with pytest.raises((DataError, UsageError), match=re.escape(str(path))):
                list(stream_documents(path))


@pytest.mark.parametrize("ending", WRITERS)
def test_wrong_bytes(tmp_path: Path, ending: str) -> None:
    """Whatever lengths, offsets and names a file states, it is refused or read."""
    columns = {"text": TEXTS, "label": LABELS, "more": [["x"], None, ["y", "z"], []]}
    path = write(tmp_path / f"a.{ending}", pa.table(columns))
    whole = path.read_bytes()
    rng = random.Random(7)
    refused = 0
    for _ in range(80):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 3, 20])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            for batch in stream_records(path, on_error="skip"):
                assert len(batch.records) == len(batch.documents) + len(batch.documents.skipped)
        except (DataError, UsageError):
            refused += 1
    assert 20 < refused < 80


@pytest.mark.parametrize("ending", WRITERS)
def test_only_the_columns_that_are_needed(tmp_path: Path, ending: str, monkeypatch: Any) -> None:
    columns = {"big": ["x" * 100_000] * 4, "text": TEXTS, "a.b": LABELS, "label": LABELS}
    path = write(tmp_path / f"a.{ending}", pa.table(columns))
    seen = []
    monkeypatch.setattr(records, "check_unpacked", lambda size, *_: seen.append(size))
    assert read_corpus(path).labels == LABELS
    assert read_corpus(path, label_col="a.b").labels == LABELS
    assert read_corpus(path, fields=as_fields(["text", "a.b"])).labels == LABELS
    assert [record["big"] for record in next(stream_records(path)).records] == columns["big"]
    assert seen[1] < 1000 < 400_000 < seen[3]  # after what the file says of itself


def test_pipes_and_packed_files(tmp_path: Path, model: Path) -> None:
    table = pa.table({"text": TEXTS, "n": [1, 2, 3, 4]})
    path = write(tmp_path / "a.parquet", table)
    packed = tmp_path / "b.parquet.bz2"
    packed.write_bytes(bz2.compress(path.read_bytes()))
    assert list(read_corpus(packed, labeled=False).texts) == TEXTS
    done = subprocess.run(
        [sys.executable, "-m", "textreg", "predict", str(model), "-", "--format", "csv"],
        input=path.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().splitlines()[:2] == [
        "text,n,predicted,reason",
        "good superb,1,pos,",
    ]


def test_what_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", pa.table({"text": ["superb " * 1000] * 5000}))
    monkeypatch.setenv(MAX_UNPACKED, "1MB")
    with pytest.raises(DataError, match="unpacks to more than 1 MB and 100 times its size"):
        read_corpus(path, labeled=False)


def test_batches_are_small(tmp_path: Path) -> None:
    table = pa.table({"text": ["superb"] * 2500})
    for ending in WRITERS:
        path = write(tmp_path / f"a.{ending}", table, row_group_size=2500)
        assert [len(batch) for batch in stream_documents(path)] == [1000, 1000, 500]


TYPED = {
    "text": pa.array(TEXTS),
    "small": pa.array([1, None, 3, 4], pa.int16()),
    "real": pa.array([0.5, float("nan"), None, 1.5], pa.float32()),
    "flag": pa.array([True, None, False, True]),
    "when": pa.array([1, 2, None, 10**18 + 1], pa.timestamp("ns", "UTC")),
    "day": pa.array([datetime.date(2024, 1, 2)] * 4),
    "price": pa.array([decimal.Decimal("1.10")] * 4, pa.decimal128(9, 2)),
    "kind": pa.array(["a", "b", None, "a"], pa.dictionary(pa.int32(), pa.string())),
    "tags": pa.array([["x"], [], None, ["y", "z"]]),
    "more": pa.array([{"a": 1}, None, {"a": 2}, {"a": 3}]),
    "raw": pa.array([b"\xff", None, b"", b"a"]),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_types_are_kept(cli: Cli, model: Path, tmp_path: Path, ending: str) -> None:
    table = pa.table(TYPED)
    path = write(tmp_path / f"in.{ending}", table)
    out = tmp_path / "out.parquet"
    assert cli("predict", model, path, "-o", out, "--proba").code == 0
    written = pq.read_table(out)
    for name in TYPED:
        assert written.schema.field(name).type.equals(table.schema.field(name).type), name
        if name != "real":  # NaN is not equal to itself
            assert written[name].combine_chunks().equals(table[name].combine_chunks()), name
    assert written.schema.names[-4:] == ["predicted", "proba_neg", "proba_pos", "reason"]
    assert written["predicted"].to_pylist() == textreg.load(model).predict(TEXTS)
    assert written["proba_pos"].type == pa.float64()
    assert written["reason"].to_pylist() == [None] * 4

    for form in ("csv", "jsonl"):
        refused = cli("predict", model, path, "--format", form)
        assert refused.code == 1
        assert "the column 'raw' holds binary data" in refused.err
    path = write(tmp_path / f"plain.{ending}", table.drop_columns(["raw"]))
    first, second, *_ = cli("predict", model, path, "--format", "jsonl").out.splitlines()
    assert json.loads(first)["when"] == "1970-01-01 00:00:00.000000001Z"
    assert json.loads(first)["price"] == "1.10"
    assert json.loads(first)["more"] == {"a": 1}
    assert json.loads(second)["real"] is None
    assert (
        cli("predict", model, path, "--format", "csv")
        .out.splitlines()[1]
        .endswith(
            'good superb,1,0.5,true,1970-01-01 00:00:00.000000001Z,2024-01-02,1.10,a,"[""x""]",'
            '"{""a"": 1}",pos,'
        )
    )


def test_types_of_json(cli: Cli, model: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "a.parquet"
    records: list[dict[str, Any]] = [
        {"text": "superb", "n": 1, "x": 1, "s": "a", "b": True, "l": [1], "m": 1, "none": None},
        {"text": "awful", "n": None, "x": 0.5, "s": "\ud800", "b": None, "l": [], "m": "é"},
        {"text": None},
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    assert cli("predict", model, path, "-o", out).code == 3
    table = pq.read_table(out)
    types = {name: str(table.schema.field(name).type) for name in "nxsblm"}
    assert types == {
        "n": "int64",
        "x": "double",
        "s": "string",
        "b": "bool",
        "m": "string",
        "l": types["l"],
    }
    assert types["l"].startswith("list<")
    assert table["m"].to_pylist() == ["1", "é", None]
    assert table["s"].to_pylist() == ["a", "\\ud800", None]
    assert table["reason"].to_pylist() == [None, None, "'text' is missing."]
    many = [{"text": "superb", "n": 1}] * 20_500 + [{"text": "superb", "n": "late"}]
    path.write_text("\n".join(map(json.dumps, many)))
    out.unlink()
    late = cli("predict", model, path, "-o", out)
    assert late.code == 1
    assert "rows 20,001 to 20,501: the column 'n' has values of another type" in late.err
    assert not out.exists()


def test_lists_of_labels_in_parquet(cli: Cli, tmp_path: Path) -> None:
    labels = [["x", "y"], [], ["x"], ["y"]] * 5
    options: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0, "tokenizer": "words"}
    textreg.train(TEXTS * 5, labels, task="multilabel", **options).save(tmp_path / "m")
    path = write(tmp_path / "a.parquet", pa.table({"text": TEXTS, "labels": labels[:4]}))
    assert cli("predict", tmp_path / "m", path, "-o", tmp_path / "b.parquet").code == 0
    table = pq.read_table(tmp_path / "b.parquet")
    assert table["predicted"].to_pylist() == textreg.load(tmp_path / "m").predict(TEXTS)
    assert table["labels"].to_pylist() == labels[:4]
    assert read_corpus(tmp_path / "b.parquet", label_col="predicted").multilabel


def test_without_pyarrow(
    cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.parquet", pa.table({"text": TEXTS}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for words in (("predict", model, path), ("predict", model, "--text", "a", "-o", "b.parquet")):
        result = cli(*words)
        assert result.code == 2
        assert "pip install 'textreg[arrow]'" in result.err


# --- compressed files ----------------------------------------------------------------------------


def packers() -> dict[str, Callable[[bytes], bytes]]:
    module = zstd()
    checked = {module.CompressionParameter.checksum_flag: 1}
    return {
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "zst": lambda data: module.compress(data, options=checked),
    }


LINES = b"".join(b'{"text": "superb %d", "label": "a"}\n' % row for row in range(5000))


@pytest.mark.parametrize("ending", ["bz2", "xz", "zst"])
def test_compressed_files(tmp_path: Path, ending: str) -> None:
    pack = packers()[ending]
    path = tmp_path / f"a.jsonl.{ending}"
    half = len(LINES) // 2
    for data in (pack(LINES), pack(LINES[:half]) + pack(LINES[half:]) + b"\0" * 8):
        path.write_bytes(data)
        assert len(read_corpus(path)) == 5000
    packed = pack(LINES)
    for size in (12, len(packed) // 2, len(packed) - 3):
        path.write_bytes(packed[:size])
        with pytest.raises(DataError, match=r"a\.jsonl.*: the \w+ data ends too early\. Copy or"):
            read_corpus(path)
    middle = len(packed) // 2
    path.write_bytes(packed[:middle] + b"\xff" * 40 + packed[middle + 40 :])
    with pytest.raises(DataError, match=r"a\.jsonl.*: the \w+ data is damaged\. Copy or"):
        read_corpus(path)
    path.write_bytes(pack(b'{"text": "' + b"a" * 1_500_000 + b'", "label": "a"}'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MAX_UNPACKED, "1MB")
        with pytest.raises(DataError, match="unpacks to more than 1 MB"):
            read_corpus(path)


def test_without_zstd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstd().compress(LINES))
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"pip install 'textreg\[zstd\]'"):
        read_corpus(path)


def test_a_text_that_begins_as_bzip2_does(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("BZhang wrote: superb\n")
    assert list(read_corpus(path, labeled=False).texts) == ["BZhang wrote: superb"]


def test_records_of_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"id,text\n1,superb\n2\n")

    monkeypatch.setattr(sys, "stdin", Stdin())
    (batch,) = stream_records("-", on_error="skip", full=True)
    assert batch.records == [{"id": "1", "text": "superb"}, {"id": "2"}]
    assert list(batch.columns) == ["id", "text"]


def lying(path: Path) -> bytes:
    """A Parquet file whose footer says that hundreds of megabytes are 1 MB, as bytes."""
    group = pq.ParquetFile(path).metadata.row_group(0)
    whole = path.read_bytes()
    for size in (group.total_byte_size, group.column(0).total_uncompressed_size):
        said = bytes(size * 2 >> shift & 127 | 128 for shift in (0, 7, 14, 21)) + b"\x02"
        assert said in whole
        whole = whole.replace(said, b"\x80\x80\x80\x81\x00")
    return whole


def bomb(path: Path) -> Path:
    """A small file with texts of 400 MB, by a dictionary, by compression or by shared prefixes."""
    texts = pa.array(["x" * 1_000_000] * 400)
    if "dictionary" in path.name:
        texts = texts.dictionary_encode()
    table = pa.table({"text": texts, "label": LABELS[:2] * 200})
    if path.suffix == ".parquet":
        pq.write_table(
            table,
            path,
            compression="zstd",
            use_dictionary="dictionary" in path.name,
            store_schema="schema" in path.name,
            column_encoding={"text": "DELTA_BYTE_ARRAY"} if "prefixes" in path.name else None,
            data_page_size=1 << (30 if "lying" in path.name else 20),
        )
        if "lying" in path.name:
            path.write_bytes(lying(path))
    else:
        make = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with make(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as out:
            out.write_table(table)
    return path


@pytest.mark.parametrize(
    "name",
    [
        *("dictionary.parquet", "lying.parquet", "prefixes.parquet", "all.arrow"),
        *map(thorough, ("dictionary-schema.parquet", "plain.parquet", "dictionary.arrow")),
        *map(thorough, ("dictionary.arrows", "all.arrows")),
    ],
)
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no peak of memory is told")
def test_bombs_take_little_memory(tmp_path: Path, name: str) -> None:
    code = (
        "import sys, pyarrow.parquet, pyarrow.compute\n"
        "from textreg.errors import DataError\n"
        "from textreg.reading.corpus import read_corpus\n"
        "try:\n"
        "    read_corpus(sys.argv[1])\n"
        "except DataError as error:\n"
        "    print(error)\n"
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    )
    path = bomb(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    said, peak = done.stdout.splitlines()
    assert said.startswith(f"{path}: the file unpacks to more than 64 MB and 100 times its size.")
    assert int(peak) < 250_000


@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows"])
def test_a_long_text_in_a_dictionary(tmp_path: Path, ending: str) -> None:
    """A thousand rows of it at once are more than Arrow can hold."""
    texts = pa.array(["long " * 600_000, "good film", "bad film"])
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 5 + [1, 2] * 500), texts)
    path = write(tmp_path / f"a.{ending}", pa.table({"text": rows, "label": LABELS[:3] * 335}))
    assert list(map(len, read_corpus(path).texts)) == [3_000_000] * 5 + [9, 8] * 500
    all_long = pa.DictionaryArray.from_arrays(pa.array([0] * 1000), texts)
    batch = pa.record_batch({"text": all_long})
    assert len(next(records.records(batch, ["text"]))["text"]) == 3_000_000


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
def test_encodings_of_parquet(tmp_path: Path, encoding: str, version: str) -> None:
    """Those of texts, also where a long text is the beginning of all that follow."""
    texts = [*(f"{row} superb film" for row in range(2000)), *["long " * 10_000] * 200]
    how = {"use_dictionary": False, "column_encoding": encoding, "data_page_version": version}
    table = pa.table({"text": texts, "label": ["a", "b"] * 1100})
    path = write(tmp_path / "a.parquet", table, row_group_size=1500, **how)
    assert list(read_corpus(path).texts) == texts
    kinds = set()
    with path.open("rb") as file:
        for text, _ in column_chunks(file):
            kinds |= {kind for _, kind in pages(file, text)}
    assert kinds == {{"PLAIN": 0, "DELTA_LENGTH_BYTE_ARRAY": 6}.get(encoding, 7)}


@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows"])
def test_a_row_may_be_as_long_as_a_line(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = pa.array(["x" * 3_000_000, *TEXTS[1:]]).dictionary_encode()
    path = write(tmp_path / f"a.{ending}", pa.table({"text": long, "label": LABELS}))
    monkeypatch.setattr(records, "PORTION", 1000)
    assert len(read_corpus(path)) == 4
    monkeypatch.setenv("TEXTREG_MAX_LINE", "1MB")
    with pytest.raises(DataError, match=r":1: the record is longer than 1 MB\. Set"):
        read_corpus(path)
    with pytest.warns(DataWarning, match="1 of 4"):
        assert len(read_corpus(path, on_error="skip", max_skipped=1.0)) == 3


def test_bytes_of_values() -> None:
    texts = pa.array(["x" * 100, "y"])
    ten = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 5), texts)
    offsets = pa.array([0, 4, 10], pa.int32())
    nested = pa.ListArray.from_arrays(offsets, ten)
    mapped = pa.MapArray.from_arrays(offsets, pa.array([str(key) for key in range(10)]), ten)
    for column, least in (
        (texts, 101),
        (ten, 505),
        (ten.slice(1), 405),
        (nested, 505),
        (nested.slice(1), 303),
        (mapped.slice(1), 303),
        (pa.StructArray.from_arrays([ten, ten], ["a", "b"]), 1010),
        (pa.FixedSizeListArray.from_arrays(ten, 2), 505),
        (pa.RunEndEncodedArray.from_arrays(pa.array([10], pa.int32()), texts[:1]), 1000),
        (pa.array([None, "x"]).dictionary_encode(), 1),
        (pa.DictionaryArray.from_arrays(pa.array([0] * 9), pa.array([5, 6])), 72),
    ):
        assert least <= records.decoded(column) < 1.3 * least + 20, column.type
