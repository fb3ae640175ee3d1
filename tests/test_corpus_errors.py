"""What bad input gets: one paragraph that says what, where, and what to do next."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from textreg.errors import DataError, DataWarning, TextregError, UsageError
from textreg.reading.columns import ColumnNames
from textreg.reading.corpus import CorpusReader, read_corpus, stream_records
from textreg.records import Corpus


def stream_documents(*paths: Any, **how: Any) -> Iterator[Corpus]:
    return (batch.documents for batch in stream_records(*paths, **how))


SKIP = "or pass --on-error skip to leave such rows out."
PACKED = gzip.compress(b"".join(b'{"text": "%d", "label": "a"}\n' % i for i in range(20_000)))


def refusal(path: str | Path, error: type[TextregError] = DataError, **options: object) -> str:
    """The message with which reading ``path`` is refused, by itself and as a stream."""
    with pytest.raises(error) as caught:
        read_corpus(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    assert caught.value.exit_code == (2 if error is UsageError else 1)
    # Nothing of the library underneath shows through, even in a full traceback.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


@pytest.fixture
def file(tmp_path: Path):
    """Write a file and return its path; messages begin with it."""

    def file(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return file


# Row by row: (name, content, line, what is wrong, what mends it). All can be left out.
ROWS = [
    ("a.csv", "label,text\ngood,a\n,b\n", 3, "label is empty, in column 'label'.", "Fix the row"),
    ("a.csv", "label,text\n  ,b\n", 2, "label is empty, in column 'label'.", "Fix the row"),
    (
        "a.csv",
        "label,text\ngood,a, b\n",
        2,
        "the number of columns is 3, and 2 in the first row.",
        "Put quotes around a text that contains ','",
    ),
    (
        "a.tsv",
        "label\ttext\ngood\n",
        2,
        "the number of columns is 1, and 2 in the first row.",
        "Put quotes around a text that contains a tab",
    ),
    (
        "a.csv",
        'label,text\n\ngood,"a"b\n',
        3,
        "not valid CSV (',' expected after '\"').",
        'Put the field in quotes, and write a quote inside it twice ("")',
    ),
    (
        "a.tsv",
        "label\ttext\ngood\ta\rb\n",
        2,
        "not valid TSV (a carriage return outside quotes).",
        "Put the field in quotes; if all lines end so, save the file as CSV UTF-8",
    ),
    (
        "a.jsonl",
        '{"text": "a", "label": "x"}\n{"text": "b" "label": "x"}\n',
        2,
        "not valid JSON (Expecting ',' delimiter, character 14).",
        "Fix the row",
    ),
    (
        "a.jsonl",
        "[" * 100_000,
        1,
        "a JSON array, where every line should",
        "a name that ends",
    ),
    (
        "a.jsonl",
        '{"text": ' + "9" * 10_000 + "}",
        1,
        "JSON with a number of thousands of digits",
        "Fix the row",
    ),
    ("a.jsonl", '"text"\n', 1, 'not a JSON object such as {"label": "good"', "Fix the row"),
    (
        "a.jsonl",
        '[{"text": "a", "label": "x"}]',
        1,
        "a JSON array, where every line should be one object.",
        "Give the file a name that ends in .json, or write one object a line (jq -c '.[]')",
    ),
    ("a.jsonl", '{"text": null, "label": "x"}', 1, "'text' is missing.", "Fix the row"),
    ("a.jsonl", '{"text": 7, "label": "x"}', 1, "'text' is 7, not a text.", "Fix the row"),
    ("a.jsonl", '{"text": "a", "label": null}', 1, "'label' is missing.", "Fix the row"),
    (
        "a.jsonl",
        '{"text": "a", "label": "\\t"}',
        1,
        "label is empty, in column 'label'.",
        "Fix the row",
    ),
    ("a.jsonl", '{"text": "a", "label": NaN}', 1, "'label' is NaN, not a text.", "Fix the row"),
    (
        "a.jsonl",
        '{"text": "a", "label": {"x": 1}}',
        1,
        """'label' is {"x": 1}, not a text.""",
        "Fix the row",
    ),
    (
        "a.txt",
        "__label__a b\n__label__a __label__b c\n",
        2,
        "2 labels (a, b); a document has one here.",
        "Keep one of them",
    ),
    ("a.txt", "__label__a b\nc d\n", 2, "no label (__label__NAME) on this line.", "Fix the row"),
    ("a.txt", "__label__a b\n__label__ c\n", 2, "label is empty.", "Fix the row"),
    (
        "a.jsonl",
        b'{"text": "a", "label": "x"}\n{"text": "\x93b", "label": "x"}\n',
        2,
        "byte 11 of line 2, 0x93, is not valid UTF-8.",
        "The text may be in cp1252: pass --encoding cp1252 if it is, or save the file as UTF-8",
    ),
    (
        "a.csv",
        b'label,text\na,"b\nc\xff"\n',
        2,
        "byte 2 of line 3, 0xff, is not valid UTF-8.",
        "The text may be in cp1252: pass --encoding cp1252 if it is, or save the file as UTF-8",
    ),
]


@pytest.mark.parametrize(("name", "content", "line", "what", "fix"), ROWS)
def test_unusable_rows(file, name: str, content: str | bytes, line, what: str, fix: str) -> None:
    path = file(name, content)
    message = refusal(path)
    assert message.startswith(f"{path}:{line}: {what}")
    assert f" {fix}" in message
    assert message.endswith(SKIP)


@pytest.mark.parametrize(("name", "content", "line", "what", "fix"), ROWS)
def test_unusable_rows_left_out(file, name, content, line, what: str, fix: str) -> None:
    path = file(name, content)
    good = {
        ".csv": b"\nfine,left\n",
        ".tsv": b"\nfine\tleft\n",
        ".txt": b"\n__label__fine left\n",
    }.get(Path(name).suffix, b'\n{"text": "left", "label": "fine"}\n')
    with open(path, "ab") as stream:
        stream.write(good)
    told = f"^1 of . rows cannot be read and are left out: 1 .*:{line}"
    with pytest.warns(DataWarning, match=told):
        corpus = read_corpus(path, on_error="skip", max_skipped=1)
    (skipped,) = corpus.skipped
    assert (skipped.line, skipped.position) == (line, len(corpus) - 1)
    assert skipped.problem.startswith(what.rstrip("."))
    assert corpus.texts[-1] == "left"
    assert corpus.labels is not None
    assert corpus.labels[-1] == "fine"


@pytest.mark.parametrize("weight", ["-1", '"x"', "null", "NaN", "Infinity", "true", '"nan"'])
def test_weights(file, weight: str) -> None:
    path = file("a.jsonl", f'{{"text": "a", "label": "x", "w": {weight}}}')
    shown = json.dumps(json.loads(weight))
    message = refusal(path, weight_col="w")
    assert message.startswith(f"{path}:1: weight {shown} in 'w' is not a number of 0 or more.")


def test_a_weight_of_the_other_decimal_mark(file) -> None:
    path = file("a.csv", 'text,label,w\na,x,"172,30"\n')
    assert "0 or more; --decimal w=comma reads it. Fix" in refusal(path, weight_col="w")


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ('label,text\na,ok\nb,"open\nc,more\nd,last\n', (3, 5)),
        ('label,text\na,ok\nb,"open\nc,"again"\n', (3, 4)),
    ],
)
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_an_open_quote_stops_always(file, content: str, lines, on_error: str) -> None:
    path = file("a.csv", content)
    message = refusal(path, on_error=on_error)
    assert message.startswith(f"{path}:{lines[0]}: not valid CSV")
    assert f"takes in the lines up to {lines[1]}: probably a quote is open." in message
    assert 'write a quote inside it twice ("").' in message


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_damaged_header_stops_always(file, on_error: str) -> None:
    path = file("a.csv", 'label,"te"xt\na,b\n')
    message = refusal(path, on_error=on_error)
    assert message.startswith(f"{path}:1: not valid CSV")
    assert "This row should name the columns." in message
    path = file("b.csv", b"label,text,gr\xf6\xdfe\na,b,c\n")
    assert "0xf6, is not valid UTF-8" in refusal(path, on_error=on_error)


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt", "a"])
@pytest.mark.parametrize("labeled", [True, False])
def test_empty_files(file, name: str, labeled: bool) -> None:
    path = file(name, "")
    assert (
        refusal(path, labeled=labeled) == f"{path}: the file is empty. Give a file with documents."
    )
    path = file(name + ".gz", gzip.compress(b""))
    assert (
        refusal(path, labeled=labeled) == f"{path}: the file is empty. Give a file with documents."
    )


def test_files_without_documents(file, tmp_path: Path) -> None:
    for path in (file("a.csv", "label,text\n"), file("a.jsonl", "\n \n\n")):
        assert refusal(path) == f"{path}: the file has no documents. Give one with some."
    (tmp_path / "folder").mkdir()
    assert "no documents" in refusal(tmp_path / "folder", labeled=False)


def test_empty_standard_input(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert refusal("-") == "<stdin>: the file is empty. Give a file with documents."


def test_no_row_that_can_be_used(file) -> None:
    path = file("a.csv", "label,text\n,a\n,b\n")
    message = refusal(path, on_error="skip")
    assert message.startswith("2 of 2 rows (100 %) cannot be read: 2 label is empty, in column")
    assert f"The first is {path}:2: label is empty, in column 'label'." in message
    assert message.endswith("Check that the file is the right one, and its columns.")


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1", "an old Excel or Word file. Save it as CSV"),
        ("a.parquet", b"PARE\0\0\0\0", "an encrypted Parquet file"),
        ("a.feather", b"FEA1\0\0\0\0", "a Feather file of version 1"),
        ("a.pdf", b"%PDF-1.7\n", "a PDF file. Extract its text first"),
        ("a.csv", b"label,text\na,\0b\n", "a binary file (byte 14 is zero). Give Arrow, CSV"),
        (
            "a.csv",
            "label,text\n".encode("utf-16-le"),
            "probably UTF-16-LE without a byte order mark",
        ),
        ("a.csv.gz", gzip.compress(b"\x7fELF\0", mtime=0), "a binary file"),
    ],
)
def test_binary_files(file, name: str, content: bytes, what: str) -> None:
    path = file(name, content)
    for on_error in ("stop", "skip"):
        message = refusal(path, on_error=on_error)
        assert message.startswith(f"{path}: this is ")
        assert what in message


@pytest.mark.parametrize("size", [5, 12, 1000, len(PACKED) - 5])
def test_truncated_gzip(file, size: int) -> None:
    path = file("a.jsonl.gz", PACKED[:size])
    for on_error in ("stop", "skip"):
        message = refusal(path, on_error=on_error)
        assert message.startswith(f"{path}:")
        assert message.endswith("the gzip data ends too early. Copy or download the file again.")
    with pytest.raises(DataError, match="ends too early"):
        list(stream_documents(path))


def test_damaged_gzip(file) -> None:
    checksum = len(PACKED) - 8
    wrong = PACKED[:checksum] + bytes([PACKED[checksum] ^ 1]) + PACKED[checksum + 1 :]
    for damaged in (wrong, PACKED + b"rest", PACKED[:3] + b"\xff" + PACKED[4:]):
        path = file("a.jsonl.gz", damaged)
        message = refusal(path)
        assert message.startswith(f"{path}:")
        assert message.endswith("the gzip data is damaged. Copy or download the file again.")
    middle = len(PACKED) // 2
    refusal(file("a.jsonl.gz", PACKED[:middle] + b"\xff" * 40 + PACKED[middle + 40 :]))


def test_damaged_utf16(file) -> None:
    path = file("a.csv", "label,text\na,bc".encode("utf-16")[:-1])
    assert refusal(path) == (
        f"{path}: byte 31 of the file is not valid UTF-16. Save the file as UTF-8, or name its "
        "encoding with --encoding."
    )
    path = file("b.csv", "label,text\na,b\n")
    assert "byte 1 of the file is not valid UTF-16." in refusal(path, encoding="utf-16")


def test_missing_files(tmp_path: Path, file) -> None:
    file("reviews.csv", "label,text\na,b\n")
    assert refusal(tmp_path / "review.csv", UsageError).endswith(
        "review.csv: no such file. Did you mean 'reviews.csv'?"
    )
    assert "no such file. Check the name" in refusal(tmp_path / "x", UsageError)
    (tmp_path / "link.csv").symlink_to("nowhere")
    assert "no such file. It is a link to no file." in refusal(tmp_path / "link.csv", UsageError)
    assert "there is no folder" in refusal(tmp_path / "no" / "x.csv", UsageError)
    assert "no file matches this pattern." in refusal(tmp_path / "*.tsv", UsageError)
    with pytest.raises(UsageError, match="no file to read was named"):
        read_corpus([])


def test_the_same_file_twice(tmp_path: Path, file) -> None:
    path = file("a.csv", "label,text\na,b\n")
    with pytest.raises(UsageError, match="is named twice, so its documents would count twice"):
        read_corpus([path, str(tmp_path / "*.csv")])
    with pytest.raises(UsageError, match="- is named twice"):
        read_corpus(["-", "-"])


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs a file that no one can open")
def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("a.csv")
        assert refusal("a.csv").startswith("a.csv: cannot be opened: ")


def test_a_stream_that_breaks(monkeypatch) -> None:
    class Broken(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Broken()))
    assert refusal("-") == "<stdin>: cannot be read: Input/output error."


def test_an_empty_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path}: the folder has no documents. Give one with some."


def test_a_folder_without_classes(tmp_path: Path, file) -> None:
    file("a.csv", "label,text\na,b\n")
    message = refusal(tmp_path)
    assert message.startswith(f"{tmp_path}: no class folders in it, only files (1).")
    assert f"such as {tmp_path / 'good' / '1.txt'}" in message
    assert message.endswith(f"name them: '{tmp_path / '*'}'.")


def test_a_damaged_document_in_a_folder(tmp_path: Path, file) -> None:
    (tmp_path / "root" / "a").mkdir(parents=True)
    path = file("root/a/1.txt", b"fine\nna\xefve\n")
    message = refusal(tmp_path / "root")
    assert message.startswith(f"{path}: byte 3 of line 2, 0xef, is not valid UTF-8.")


# --- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "id,reviews,label\n1,a,b\n"),
        ("a.jsonl", '{"id": 1, "reviews": "a", "label": "b"}'),
    ],
)
def test_missing_columns(file, name: str, content: str) -> None:
    path = file(name, content)
    assert refusal(path, UsageError, text_col="review") == (
        f"{path}:1: no column 'review'. Did you mean 'reviews'? There are: id, reviews, label."
    )
    assert "To take several columns, repeat the option" in refusal(
        path, UsageError, text_col="reviews,label"
    )
    assert "A label is in one column: see docs/multilabel.md." in refusal(
        path, UsageError, text_col="reviews", label_col="id,label"
    )
    message = refusal(path)
    assert message.startswith(
        f"{path}:1: no column has a usual name of a text (text, review, reviewtext, body ...). "
        "There are: id, reviews, label. Say which one it is with --text-col."
    )
    assert ("--text-col 2 --label-col 1" in message) == (name == "a.csv")
    assert refusal(path, UsageError, text_col="label").startswith(
        f"{path}:1: column 'label' cannot be both the text and the label."
    )
    assert "no column 'n'." in refusal(path, UsageError, text_col="reviews", weight_col="n")
    message = refusal(path, UsageError, text_col="nothing", on_error="skip")
    assert "no column 'nothing'." in message


def test_no_header(file) -> None:
    path = file("a.csv", "good,It works\nbad,It broke\n")
    message = refusal(path)
    assert message.startswith(f"{path}:1: no column has a usual name of a text")
    assert "There are: good, It works." in message
    assert "If the file has no header, give it one such as label,text" in message
    assert "no column '3'. There are: 1, 2." in refusal(
        path, UsageError, text_col="3", label_col="1"
    )


def test_numbers_for_a_file_with_a_header(file) -> None:
    path = file("a.csv", "label,text\na,b\n")
    assert refusal(path, UsageError, text_col="2", label_col="1") == (
        f"{path}:1: the columns have names (label, text). Give those, as in --text-col NAME; "
        "numbers are for files without a header."
    )


def test_two_columns_of_one_name(file) -> None:
    path = file("a.csv", "text,text,label\na,b,c\n")
    assert refusal(path) == f"{path}:1: two columns are called 'text'. Rename one of them."


def test_columns_where_there_are_none(file, tmp_path: Path) -> None:
    path = file("a.txt", "__label__a b\n")
    assert refusal(path, UsageError, text_col="text") == (
        f"{path}: fastText has no columns; leave out --text-col text."
    )
    path = file("b.txt", "a\n")
    assert "plain text has no columns; leave out --label-col l." in refusal(
        path, UsageError, labeled=False, label_col="l"
    )
    assert "a folder for each class has no columns" in refusal(tmp_path, UsageError, weight_col="w")


@pytest.mark.parametrize(
    "content", ["It works, mostly.\nYes\n", "1 3:0.5 7:1\n", "a\tb\n", "a\rb\n"]
)
def test_an_unknown_format(file, content: str) -> None:
    path = file("notes.txt", content)
    message = refusal(path)
    assert message.startswith(f"{path}:1: cannot tell text from label here. Give CSV")
    assert "__label__good" in message
    assert "--text-col and --label-col" in message


# --- options -------------------------------------------------------------------------------------


def test_wrong_options(file) -> None:
    path = file("a.csv", "label,text\na,b\n")
    assert "on_error must be 'stop' or 'skip', not 'ignore'." in refusal(
        path, UsageError, on_error="ignore"
    )
    not_of_files = "idna rot13 base64 hex punycode raw_unicode_escape unicode_escape undefined mbcs"
    for encoding in ("utf-9", "zlib", "charmap", "a\0b", "\udcff", "", *not_of_files.split()):
        assert f"no text encoding is called '{encoding}'. Common ones: utf-8" in refusal(
            path, UsageError, encoding=encoding
        )
    with pytest.raises(UsageError, match="batch must be at least 1, not 0"):
        list(stream_documents(path, 0))


def test_a_reader_wants_labels_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    path = str(tmp_path / "a.jsonl")
    with pytest.raises(DataError, match="label"):
        CorpusReader(path, ColumnNames()).whole()
    assert CorpusReader(path, ColumnNames(), labeled=False).whole().labels is None


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-16-le", "utf-32-le", "utf-8", "gb18030"])
def test_a_damaged_record_of_a_json_array_is_named(tmp_path: Path, encoding: str) -> None:
    good, bad = '{"text": "gut", "label": "a"}', '{"text": "schlecht", "label": "b"}'
    unit = {"utf-16-be": b"\xdf\xff", "utf-16-le": b"\xff\xdf"}.get(encoding, b"\xff\xff\xff\xff")
    head, tail = bad.split("lecht")
    data = f"[{good}, {head}".encode(encoding) + unit + f"{tail}, {good}]".encode(encoding)
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(DataError, match=r"record 2.* not valid|a\.json:2.* not valid"):
        read_corpus(str(tmp_path / "a.json"), encoding=encoding)


def test_an_encoding_is_guessed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read in the one that is likely is not tried in the next one, and so on."""
    names = itertools.cycle(["shift_jis", "gb18030"])
    monkeypatch.setattr("textreg.reading.source.likely_encoding", lambda lines: next(names))
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "\xff\xff", "label": "a"}\n' * 3)
    with pytest.raises(DataError, match="3 of 3 rows"):
        read_corpus(str(tmp_path / "a.jsonl"))
