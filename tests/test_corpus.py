"""Reading corpora: every format, every way in, and nothing lost on the way."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textreg.errors import DataError, DataWarning, FaultsError, UsageError
from textreg.reading import formats
from textreg.reading.columns import Row, TableColumns
from textreg.reading.corpus import read_corpus, stream_records
from textreg.reading.formats.lines import Format
from textreg.reading.source import Source, UnusableRow
from textreg.records import Corpus


def stream_documents(*paths: Any, **how: Any) -> Iterator[Corpus]:
    return (batch.documents for batch in stream_records(*paths, **how))


TEXTS = ["It works, mostly.", 'They call it "fast";\nit is not.', "", "Größe: groß\t(日本)"]
LABELS = ["good", "bad", "bad", "good"]


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table(rows: list[list[object]], **format: str) -> str:
    out = io.StringIO()
    csv.writer(out, **format).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], str]:
    """Write a file into the test's folder and return its path."""

    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return write


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def stdin(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return stdin


ROWS = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
CELLS: list[list[object]] = [["label", "text"]]
CELLS += [[label, text] for text, label in zip(TEXTS, LABELS, strict=True)]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", jsonl(ROWS)),
        ("a.ndjson", jsonl(ROWS)),
        ("a.json", jsonl(ROWS)),
        ("a.json", json.dumps(ROWS)),
        ("a.json", json.dumps(ROWS, indent=2)),
        ("a.dat", f"\n{json.dumps(ROWS)}"),
        ("a", json.dumps(ROWS, indent=1)),
        ("a.csv", table(CELLS)),
        ("a.csv", table(CELLS, delimiter=";")),
        ("a.csv", table(CELLS, quoting=csv.QUOTE_ALL)),
        ("a.tsv", table(CELLS, delimiter="\t")),
        ("a.tab", table(CELLS, delimiter="\t")),
        ("a.dat", jsonl(ROWS)),
        ("a.dat", table(CELLS)),
        ("a.dat", table(CELLS, delimiter="|")),
        ("a.txt", table(CELLS, delimiter="\t")),
    ],
)
def test_formats_by_ending_and_by_content(write, name: str, ending: str, content: str) -> None:
    corpus = read_corpus([write(name + ending, content)])
    assert list(corpus.texts) == TEXTS
    assert corpus.labels == LABELS
    assert corpus.sample_weight is None
    assert len(corpus.skipped) == 0


class Packed(Format):
    """A binary format without lines: a zero byte and columns of texts, as JSON in one block."""

    name = "packed"
    title = "packed tables"
    example = "a table in binary"
    endings = (".packed",)
    magic = b"\0PACKED"

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        table = json.loads(b"".join(source.chunks()).removeprefix(self.magic))
        columns.find(list(table), source.name)
        for number, fields in enumerate(zip(*table.values(), strict=True), 1):
            record = dict(zip(table, fields, strict=True))
            try:
                yield columns.row(number, record)
            except UnusableRow as problem:
                yield problem.at(number)


@pytest.mark.parametrize("name", ["a.packed", "a.dat", "a.packed.gz"])
def test_one_class_and_one_row_add_a_format(write, skip, stdin, monkeypatch, name: str) -> None:
    table = {"text": TEXTS, "label": [*LABELS[:3], None]}
    content = Packed.magic + json.dumps(table).encode()
    path = write(name, content)
    with pytest.raises(DataError, match=r"a binary file .* Give Arrow, CSV, .* or TSV"):
        read_corpus(path)
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, Packed()))
    corpus = skip(path)
    assert list(corpus.texts) == TEXTS[:3]
    assert (corpus.labels, len(corpus.skipped)) == (LABELS[:3], 1)
    assert corpus.where(2) == f"{path}:3"
    assert corpus.columns["format"] == "packed"
    with pytest.raises(DataError, match=r"a\..*:4: 'label' is missing\. Fix the row, or pass"):
        read_corpus(path)
    batches = [list(batch.texts) for batch in stream_documents(path, 3)]
    assert batches == [TEXTS[:3], TEXTS[3:]]
    stdin(content)
    assert list(skip("-").texts) == TEXTS[:3]
    assert formats.titles() == (
        "Arrow, CSV, Excel, fastText, JSON arrays, JSON lines, packed tables, Parquet or TSV"
    )
    with pytest.raises(DataError, match=r"packed tables \(a table in binary\), TSV"):
        read_corpus(write("a.unknown", "prose\n"))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"]
)
def test_encodings(write, name: str, encoding: str) -> None:
    content = jsonl(ROWS) if name == "a.jsonl" else table(CELLS)
    if encoding in ("utf-16-le", "utf-16-be"):
        content = "\ufeff" + content  # the mark that the other codecs write themselves
    path = write(name, content.encode(encoding))
    assert list(read_corpus(path).texts) == TEXTS
    assert list(read_corpus(path, encoding=encoding).texts) == TEXTS
    assert read_corpus(path).labels == LABELS


def test_an_encoding_that_is_named(write) -> None:
    path = write("a.csv", "label,text\ngut,größer\n".encode("cp1252"))
    assert list(read_corpus(path, encoding="cp1252").texts) == ["größer"]
    path = write("b.csv", "label,text\ngut,größer\n".encode("utf-16-le"))
    assert list(read_corpus(path, encoding="utf-16-le").texts) == ["größer"]


def test_fasttext_lines(write) -> None:
    content = "__label__pos works well\n\ngone in __label__neg a week\r\n__label__neg\n"
    corpus = read_corpus(write("train.txt", content))
    assert list(corpus.texts) == ["works well", "gone in a week", ""]
    assert corpus.labels == ["pos", "neg", "neg"]
    assert [corpus.where(i).split(":")[-1] for i in range(3)] == ["1", "3", "4"]
    assert corpus.columns == {"format": "fasttext"}


def test_a_folder_for_each_class(write, tmp_path: Path) -> None:
    write("root/pos/2.txt", "zwei\nZeilen\n")
    write("root/pos/10.txt", "ten")
    write("root/neg/deep/1.txt.gz", "packed")
    write("root/neg/0.txt", "größer".encode("utf-16"))
    write("root/neg/.hidden", b"\0\0")
    write("root/README", "about")
    corpus = read_corpus([str(tmp_path / "root")])
    assert list(corpus.texts) == ["größer", "packed", "ten", "zwei\nZeilen"]
    assert corpus.labels == ["neg", "neg", "pos", "pos"]
    assert corpus.where(1) == str(tmp_path / "root" / "neg" / "deep" / "1.txt.gz")
    assert corpus.columns == {"format": "a folder for each class (1 beside them ignored)"}

    texts = read_corpus([str(tmp_path / "root")], labeled=False)
    assert len(texts) == 5
    assert texts.labels is None  # README has none
    assert texts.columns == {"format": "a folder for each class"}
    (tmp_path / "root" / "README").unlink()
    assert read_corpus(tmp_path / "root", labeled=False).labels == ["neg", "neg", "pos", "pos"]


def test_a_link_to_a_parent_folder_ends(write, tmp_path: Path) -> None:
    write("root/pos/1.txt", "once")
    (tmp_path / "root" / "pos" / "again").symlink_to(tmp_path / "root")
    assert list(read_corpus(tmp_path / "root").texts) == ["once"]


def test_several_files_and_globs(write, tmp_path: Path) -> None:
    write("part-2.csv", "label,text\nb,two\n")
    write("part-1.csv", "class,review\na,one\n")
    last = write("z.jsonl", '{"label": "c", "text": "three"}\n')
    corpus = read_corpus([str(tmp_path / "part-*.csv"), last])
    assert list(corpus.texts) == ["one", "two", "three"]
    assert [Path(corpus.where(i)).name for i in range(3)] == [
        "part-1.csv:2",
        "part-2.csv:2",
        "z.jsonl:1",
    ]
    assert corpus.columns == {
        "format": "csv or jsonl",
        "text": "review (guessed) or text (guessed)",
        "label": "class (guessed) or label (guessed)",
    }


def test_a_file_whose_name_looks_like_a_pattern(write) -> None:
    assert list(read_corpus(write("a[1].csv", "label,text\nx,y\n")).texts) == ["y"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(stdin, pack: Callable[[bytes], bytes]) -> None:
    for content in (jsonl(ROWS), table(CELLS), table(CELLS, delimiter="\t")):
        stdin(pack(content.encode()))
        corpus = read_corpus(["-"])
        assert list(corpus.texts) == TEXTS
        assert corpus.labels == LABELS
        assert corpus.where(0).startswith("<stdin>:")
    stdin(pack(b"__label__a b\n"))
    assert read_corpus("-").labels == ["a"]


@pytest.mark.parametrize(
    ("header", "text", "label"),
    [
        ("id,Review,Sentiment", "Review", "Sentiment"),
        ("title,body,CLASS", "body", "CLASS"),
        ("review_text,y,text", "text", "y"),
        ("Review Text,Category,Label", "Review Text", "Label"),
        ("target,content,date", "content", "target"),
    ],
)
def test_guessed_columns(write, header: str, text: str, label: str) -> None:
    corpus = read_corpus(write("a.csv", f"{header}\n1,2,3\n"))
    assert corpus.columns["text"] == f"{text} (guessed)"
    assert corpus.columns["label"].startswith(f"{label} (guessed")
    names = header.split(",")
    assert list(corpus.texts) == [str(names.index(text) + 1)]
    assert corpus.labels == [str(names.index(label) + 1)]


def test_named_columns(write) -> None:
    path = write("a.csv", "text,label,Betreff,Art,n\nno,no,yes,right,2.5\n")
    corpus = read_corpus(path, text_col="Betreff", label_col="art", weight_col="n")
    assert list(corpus.texts) == ["yes"]
    assert corpus.labels == ["right"]
    assert corpus.sample_weight is not None
    np.testing.assert_array_equal(corpus.sample_weight, [2.5])
    assert corpus.columns == {"format": "csv", "text": "Betreff", "label": "Art", "weight": "n"}
    path = write("a.jsonl", '{"t": "yes", "l": "right", "n": 0}\n{"t": "a", "l": "b", "n": "3"}\n')
    corpus = read_corpus(path, text_col="t", label_col="l", weight_col="n")
    assert corpus.sample_weight is not None
    np.testing.assert_array_equal(corpus.sample_weight, [0, 3])


def test_csv_without_a_header_by_numbers(write, stdin) -> None:
    content = '"3","Stocks, up","text"\n"4","Chips","down"\n'
    for path in (write("a.csv", content), write("a.dat", content)):
        corpus = read_corpus(path, text_col="2", label_col="1")
        assert list(corpus.texts) == ["Stocks, up", "Chips"]
        assert corpus.labels == ["3", "4"]
        assert corpus.where(0) == f"{path}:1"
    stdin(content.encode())
    assert read_corpus("-", text_col="3", label_col="1").labels == ["3", "4"]
    path = write("years.csv", "2,1\ntext,label\n")  # a header whose names are numbers
    assert list(read_corpus(path, text_col="2", label_col="1").texts) == ["text"]


def test_labels_become_texts(write) -> None:
    labels = [1, True, False, 2.5, " x ", 10**20]
    path = write("a.jsonl", jsonl([{"text": "t", "label": label} for label in labels]))
    assert read_corpus(path).labels == ["1", "true", "false", "2.5", "x", "1" + 20 * "0"]


def test_lone_surrogates_of_json_are_replaced(write) -> None:
    path = write("a.jsonl", '{"text": "\\ud83d\\ude00 \\uD83d", "label": "a\\udc00"}\n')
    corpus = read_corpus(path)
    assert list(corpus.texts) == ["\N{GRINNING FACE} \ufffd"]
    assert corpus.labels == ["a\ufffd"]


def test_lines_are_counted_over_quoted_line_breaks(write) -> None:
    content = 'text,label\r\n"a\r\nb",x\r\n\r\n"c",y\r\nd,z'
    corpus = read_corpus(write("a.csv", content))
    assert list(corpus.texts) == ["a\r\nb", "c", "d"]
    assert [corpus.where(i).rsplit(":", 1)[1] for i in range(3)] == ["2", "5", "6"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt", "a.csv.gz"])
def test_ten_megabytes_on_one_line(write, name: str) -> None:
    text = "good grief " * 1_000_000
    content = {
        "a.csv": f'label,text\na,"{text}"\n',
        "a.csv.gz": f"label,text\na,{text}\n",
        "a.jsonl": json.dumps({"text": text, "label": "a"}),
        "a.txt": f"__label__a {text}",
    }[name]
    (read,) = read_corpus(write(name, content)).texts
    assert read == text


def test_gzip_members_and_padding(write) -> None:
    parts = [gzip.compress(part) for part in (b"label,text\na,o", b"ne\nb,two\n", b"")]
    path = write("a.csv", b"".join(parts) + b"\0" * 100_000)
    assert list(read_corpus(path).texts) == ["one", "two"]


# --- rows that are left out ---------------------------------------------------------------------


@pytest.fixture
def skip() -> Callable[[object], Corpus]:
    """Read a corpus without its unusable rows, whatever their number."""

    def skip(path: object) -> Corpus:
        with pytest.warns(DataWarning, match="rows cannot be read and are left out"):
            return read_corpus(path, on_error="skip", max_skipped=1.0)

    return skip


def test_skipped_rows_are_listed(write, skip) -> None:
    lines = ['{"text": "a", "label": "x"}', "{", "[]", '{"text": "b"}', '{"text": 1, "label": "x"}']
    path = write("a.jsonl", "\n".join([*lines, '{"text": "c", "label": "y"}']))
    corpus = skip(path)
    assert list(corpus.texts) == ["a", "c"]
    assert [(row.where, row.position) for row in corpus.skipped] == [
        (f"{path}:{line}", 1) for line in (2, 3, 4, 5)
    ]
    assert [row.reason for row in corpus.skipped] == [
        "not valid JSON",
        "a JSON array, where every line should be one object",
        "'label' is missing",
        "'text' is not a text",
    ]
    content = b'label,text\na,one\n,two\nb,thr\xffee\nc,x,y\n"d"x,four\n"e\nf","fi\xffve"\ng,six\n'
    corpus = skip(write("a.csv", content))
    assert list(corpus.texts) == ["one", "six"]
    assert [row.line for row in corpus.skipped] == [3, 4, 5, 6, 7]
    assert corpus.where(1).endswith(":9")
    corpus = skip(write("a.ft", b"__label__a b\n\xff\nc\n__label__d e\n"))
    assert list(corpus.texts) == ["b", "e"]
    assert len(corpus.skipped) == 2


def test_a_first_record_without_the_column_may_be_left_out(write, skip) -> None:
    path = write("a.jsonl", '{"id": 1}\n{"text": "t", "label": "l"}\n')
    corpus = skip(path)
    assert (list(corpus.texts), len(corpus.skipped)) == (["t"], 1)


def test_skipped_files_of_a_folder(write, skip, tmp_path: Path) -> None:
    write("root/a/1", b"\xff\n")
    write("root/a/2", "fine")
    write("root/b/1", b"\0\1\2")
    corpus = skip(tmp_path / "root")
    assert (list(corpus.texts), corpus.labels) == (["fine"], ["a"])
    assert [row.source for row in corpus.skipped] == [
        str(tmp_path / "root" / "a" / "1"),
        str(tmp_path / "root" / "b" / "1"),
    ]


def test_the_encoding_of_other_letters_is_named(write) -> None:
    path = write("a.csv", "label,text\na,fine\nb,Привет, мир\n".encode("cp1251"))
    with pytest.raises(DataError, match="The text may be in cp1251: pass --encoding cp1251"):
        read_corpus(path)


def test_what_is_told_of_skipped_rows(write) -> None:
    """How many, which lines and why; the likely encoding is named and not chosen."""
    rows = ["label,text\n", *(f"a,gut Nr. {row}\n" for row in range(1, 101))]
    for line in (7, 8, 9, 20, 31, 33, 35, 37):
        rows[line - 1] = f"a,größer als {line}\n"
    rows[49] = "a\n"
    path = write("a.csv", "".join(rows).encode("cp1252"))
    told = (
        f"9 of 100 rows cannot be read and are left out: 8 not valid UTF-8 ({path}:7-9, 20, 31, "
        f"33, ...); 1 another number of columns ({path}:50). The text may be in cp1252: pass "
        "--encoding cp1252 if it is, or save the file as UTF-8."
    )
    with pytest.warns(DataWarning) as warned:
        corpus = read_corpus(path, on_error="skip", max_skipped=9)
    assert [str(one.message) for one in warned] == [told]
    assert [one.rows for one in corpus.skipped.by_reason()] == [8, 1]
    for most in (0.05, 8, 0, 0.0):
        with pytest.raises(FaultsError) as refused:
            read_corpus(path, on_error="skip", max_skipped=most)
        message = str(refused.value)
        assert message == (
            "The text may be in cp1252: pass --encoding cp1252 if it is. 9 of 100 rows (9 %) "
            f"cannot be read: 8 not valid UTF-8 ({path}:7-9, 20, 31, 33, ...); 1 another number of "
            f"columns ({path}:50). In cp1252 1 of 100 rows (1 %) cannot be read: 1 another number "
            f"of columns ({path}:50)."
            + (" These are too many to leave out: fix them." if most == 0 else "")
        )
        assert refused.value.options == (
            {} if most == 0 else {"encoding": "cp1252", "on_error": "skip"}
        )
    for wrong in (-1, 1.5, True, "5%", None):
        with pytest.raises(UsageError, match=r"max_skipped must be a share from 0\.0 to 1\.0 or a"):
            read_corpus(path, max_skipped=wrong)  # type: ignore[arg-type]


# --- texts to be classified ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.txt", "text,label\n\nlast line\r\n", ["text,label", "", "last line"]),
        ("a.log", "Great content, review\n{x}\n", ["Great content, review", "{x}"]),
        ("a.dat", "review\nmine\n", ["review", "mine"]),
        ("a.dat", "id,review\n1,mine\n", ["mine"]),
        ("a.csv", "review\nmine\n", ["mine"]),
        ("a.jsonl", '{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ("a.dat", '{"text": "a"}\n', ["a"]),
        ("a.txt", "__label__x a\n", ["a"]),
    ],
)
def test_unlabeled(write, stdin, name: str, content: str, texts: list[str]) -> None:
    corpus = read_corpus(write(name, content), labeled=False)
    assert list(corpus.texts) == texts
    if name == "a.dat":
        stdin(content.encode())
        assert list(read_corpus("-", labeled=False).texts) == texts


def test_labels_of_unlabeled_data_are_kept_only_if_complete(write) -> None:
    rows = [{"text": "a", "label": "x"}, {"text": "b", "label": "y"}]
    corpus = read_corpus(write("a.jsonl", jsonl(rows)), labeled=False)
    assert corpus.labels == ["x", "y"]
    assert "label" in corpus.columns
    for missing in ({"text": "c"}, {"text": "c", "label": ""}, {"text": "c", "label": ["x"]}):
        corpus = read_corpus(write("b.jsonl", jsonl([*rows, missing])), labeled=False)
        assert corpus.labels is None
        assert len(corpus) == 3
        assert "label" not in corpus.columns


def test_streaming_gives_batches(write, tmp_path: Path) -> None:
    write("a.jsonl.gz", jsonl([{"text": str(i)} for i in range(25)]))
    write("b.txt", "25\n26\n")
    batches = list(stream_documents([tmp_path / "a.jsonl.gz", tmp_path / "b.txt"], 10))
    assert [len(batch) for batch in batches] == [10, 10, 7]
    assert [text for batch in batches for text in batch.texts] == [str(i) for i in range(27)]
    assert batches[2].where(6) == f"{tmp_path / 'b.txt'}:2"
    whole = read_corpus([tmp_path / "a.jsonl.gz", tmp_path / "b.txt"], labeled=False)
    assert [whole.where(i) for i in range(27)] == [
        batch.where(i) for batch in batches for i in range(len(batch))
    ]


def test_streaming_from_memory(stdin) -> None:
    stdin(b"a\nb\nc\n")
    assert [list(batch.texts) for batch in stream_documents("-", 2)] == [["a", "b"], ["c"]]
    # All of it is there, so batches are full wherever its blocks end.
    stdin(b"a\n" * 100_000)
    assert [len(batch) for batch in stream_documents("-", 30_001)] == [*[30_001] * 3, 9_997]


def test_streaming_counts_what_it_leaves_out(write) -> None:
    path = write("a.jsonl", '{"text": "a"}\n{\n{"text": "b"}\n{"text": "c"}\n{\n{\n')
    batches = list(stream_documents(path, 2, on_error="skip"))
    assert [(list(batch.texts), [row.position for row in batch.skipped]) for batch in batches] == [
        (["a"], [1]),
        (["b", "c"], []),
        ([], [0, 0]),
    ]


def test_streaming_gives_what_comes_before_an_error(write) -> None:
    path = write("a.jsonl", '{"text": "a"}\n{"text": "b"}\n{"text": "c"}\n{\n')
    batches = stream_documents(path, 2)
    assert [list(next(batches).texts) for _ in range(2)] == [["a", "b"], ["c"]]
    with pytest.raises(DataError, match=r"a\.jsonl:4: not valid JSON .* answer such rows with an"):
        next(batches)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked whether they are empty")
@pytest.mark.parametrize("first", [b"one\ntwo\n", b'{"text": "one"}\n{"text": "two"}\n'])
def test_streaming_does_not_wait_for_a_full_batch(monkeypatch, first: bytes) -> None:
    read_end, write_end = os.pipe()
    received = threading.Event()

    def writer() -> None:
        with os.fdopen(write_end, "wb", buffering=0) as pipe:
            pipe.write(first)
            received.wait(60)
            pipe.write(first)

    thread = threading.Thread(target=writer)
    with os.fdopen(read_end, "rb") as pipe:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
        thread.start()
        batches = stream_documents("-")
        assert list(next(batches).texts) == ["one", "two"]  # while the pipe is still open
        arrived_early = not received.is_set()
        received.set()
        assert [list(batch.texts) for batch in batches] == [["one", "two"]]
        thread.join()
        assert arrived_early


# --- what is written is what is read ------------------------------------------------------------

# Whatever a text file can hold: no lone surrogates, no zero characters.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
labels = texts.filter(lambda label: bool(label.strip())).map(str.strip)
documents = st.lists(st.tuples(texts, labels), min_size=1, max_size=8)


def fresh(tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes) -> Corpus:
    path = tmp_path_factory.mktemp("round") / name
    path.write_bytes(content)
    return read_corpus(path)


@given(documents, st.booleans(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_jsonl_round_trip(tmp_path_factory, documents, ascii: bool, encoding: str) -> None:
    lines = [
        json.dumps({"text": text, "label": label}, ensure_ascii=ascii) for text, label in documents
    ]
    corpus = fresh(tmp_path_factory, "a.jsonl", "\n".join(lines).encode(encoding))
    assert list(zip(corpus.texts, corpus.labels or (), strict=True)) == documents


@given(
    documents,
    st.sampled_from([",", ";", "|", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
def test_csv_round_trip(tmp_path_factory, documents, delimiter, end, quoting) -> None:
    out = io.StringIO(newline="")
    if end == "\n" and quoting == csv.QUOTE_MINIMAL:
        # Python's writer leaves a carriage return bare there; that is not CSV.
        documents = [(a.replace("\r", ""), b.replace("\r", "")) for a, b in documents]
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["text", "label"])
    writer.writerows(documents)
    for name in ("a.csv", "a.tsv") if delimiter == "\t" else ("a.csv",):
        corpus = fresh(tmp_path_factory, name, out.getvalue().encode())
        assert list(zip(corpus.texts, corpus.labels or (), strict=True)) == documents


def test_real_corpora_are_read_whole(data_dir: Path) -> None:
    corpus = read_corpus(
        [data_dir / "data" / "20news" / f"{part}.jsonl.gz" for part in ("train", "test")]
    )
    assert len(corpus) == 11314 + 7532
    assert len(set(corpus.labels or ())) == 20
    with gzip.open(data_dir / "data" / "20news" / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        assert list(corpus.texts[:11314]) == [json.loads(line)["text"] for line in file]


def test_other_columns_that_may_hold_labels_are_named(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("review,topic,sentiment\na,x,pos\nb,y,neg\n")
    corpus = read_corpus([str(path)])
    assert corpus.labels == ["pos", "neg"]
    told = "sentiment (guessed; --label-col takes another, such as topic)"
    assert corpus.columns["label"] == told
    assert read_corpus([str(path)], label_col="topic").columns["label"] == "topic"
    path.write_text("review,sentiment\na,pos\n")
    assert read_corpus([str(path)]).columns["label"] == "sentiment (guessed)"
