"""Hostile files of documents, in all formats: see ``frame.py``.

However a file is damaged, its rows are documents or are listed as skipped, in order, and predict
answers each of them.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import re
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textreg.cli import main
from textreg.errors import TextregError
from textreg.files import MAX_LINE, MAX_UNPACKED
from textreg.reading.corpus import read_corpus, stream_records
from textreg.records import Corpus


def stream_documents(*paths: Any, **how: Any) -> Iterator[Corpus]:
    return (batch.documents for batch in stream_records(*paths, **how))


SECONDS = 20
MEGABYTES = 64
LIMITS = {MAX_LINE: "300KB", MAX_UNPACKED: "600KB"}

MODEL = Path()

TEXTS: list[Any] = [
    *("good", "bad movie", "a fine day", "It works, mostly.", "not; at | all", "Größe", "日本語"),
    *(
        "",
        " ",
        "a\nb",
        "a\r\nb",
        "a\rb",
        "tab\there",
        '"',
        '""',
        'a "quote" here',
        "'",
        "\\",
        "\\u",
    ),
    *("\ufeff", "x\ufeffy", "\x85", "\u2028", "\x1c\x1d", "\x7f", "é" * 300, "x " * 9000),
    *("__label__a b", "__label__", "{}", "[]", "label,text", "\U0001f600", "e\u0301", "\u202eabc"),
]
NO_TEXTS: list[Any] = [None, 3, -0.0, 1e400, True, [], ["a"], {}, {"text": "a"}, 10**400, -(10**30)]
LABELS: list[Any] = ["a", "b", "a", "b", "a", "b", "c", " a ", "x" * 3000, 1, 2.5, True, "é"]
NO_LABELS: list[Any] = ["", " ", "\t", None, float("nan"), [], {}, 1e400]
WEIGHTS: list[Any] = [1, 0, 2.5, "3", 1e-300, 1e308, -1, "x", None, True, [], float("nan"), 1e400]
TIMES: list[Any] = [
    *("2024-03-01", "2024-03-01T14:30", "2024-03-01 14:30:07.25+02:00", 5, "7.5", 10**20),
    *("2024-02-30", "0001-01-01T00:00+23:59", "9999-12-31T23:59-23:59", "", None, [], True, 1e400),
]
LINES = [
    *(
        "a\0b",
        "{",
        "[",
        "[]",
        '{"a"',
        '"text"',
        "null",
        "{}",
        "\x00",
        '{"text": "\\ud800", "label": "a"}',
    ),
    *('{"text": "\\udc00\\ud800", "label": "\\udfff"}', '{"text": "a", "text": 3, "label": "a"}'),
    *("[" * 100_000, '{"a":' * 5000, "9" * 5000, '{"text": 1e999, "label": "a"}', "NaN", "a,b,c,d"),
    *('{"text": "a", "label": ' + "[" * 900 + "]" * 900 + "}", '"a"b,c', "a,b\tc|d;e", "\t\t\t"),
]
ENCODINGS = [
    *("utf-8",) * 20,
    *("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "koi8-r", "cp932"),
    *("gb18030", "big5", "euc-kr", "utf-7", "iso2022_jp", "cp037"),
]
TOKENIZERS = ["", "--tokenizer chars --tokenizer-max-n 3", "--tokenizer words,chars"]


class Made(NamedTuple):
    """A file or folder; rows: how many it has, or None where damage makes that a question."""

    path: Path
    rows: int | None
    encoding: str | None


class Read(NamedTuple):
    """What reading gave: the documents, the skipped rows, or the message of an error."""

    texts: list[str]
    skipped: list[str]
    error: str


def prepare(shared: Path) -> None:
    """A small model, once."""
    global MODEL  # cases get no other argument than their folder
    MODEL = shared / "m.textreg"
    os.environ.update(LIMITS)
    if not MODEL.exists():
        lines = [
            f"__label__{'ab'[row % 2]} {'good bad'.split()[row % 2]} movie" for row in range(40)
        ]
        (shared / "train.txt").write_text("\n".join(lines))
        options = ["--reg", "ridge", "--reg-l2", "1", "--quiet", "-o", str(MODEL)]
        assert main(["train", str(shared / "train.txt"), *options]) == 0


def case(rng: np.random.Generator, folder: Path) -> str:
    maker = MAKERS[rng.integers(len(MAKERS))]
    made = maker(rng, folder)
    options = _options(rng, made)
    labeled = bool(rng.integers(2))
    whole = _read(lambda: [read_corpus(made.path, labeled=labeled, **options)])
    lenient = {"on_error": "skip", "max_skipped": 1.0, "labeled": labeled, **options}
    most = _read(lambda: [read_corpus(made.path, **lenient)])
    if not whole.error:
        assert whole == most, (whole, most)
        assert not whole.skipped
    elif not most.error:
        assert most.skipped, f"nothing is skipped, but it stops: {whole.error}"
    if not most.error and made.rows is not None and maker is not _folder:
        assert len(most.texts) + len(most.skipped) == made.rows, (most, made)
    _streams(rng, made)
    if rng.random() < 0.15:
        _trains(rng, made, options)
    if rng.random() < 0.15:
        _checks(rng, made, options, most if labeled else None)
    _predicts(rng, made)
    return "read" if not whole.error else "some" if not most.error else "refused"


def _streams(rng: np.random.Generator, made: Made) -> None:
    """A stream gives what reading at once gives, in batches that end before an error."""
    size = int(rng.choice([1, 2, 7, 1000]))
    streamed = _read(
        lambda: stream_documents(made.path, size, on_error="skip", encoding=made.encoding)
    )
    whole = _read(
        lambda: [
            read_corpus(
                made.path,
                on_error="skip",
                max_skipped=1.0,
                labeled=False,
                encoding=made.encoding,
            )
        ]
    )
    if not whole.error:
        assert streamed == whole
    else:
        assert streamed.error or not streamed.texts, (streamed, whole)


def _trains(rng: np.random.Generator, made: Made, options: dict[str, Any]) -> None:
    words = ["train", str(made.path), "--reg", "ridge", "--reg-l2", "1", "--on-error", "skip"]
    words += ["--max-skipped", "100%", "-o", str(made.path.parent / "m"), "--quiet"]
    words += TOKENIZERS[rng.integers(len(TOKENIZERS))].split()
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", value] if value else []
    code, out, _ = _run(words)
    assert code in (0, 1, 2), code
    assert not out


def _checks(
    rng: np.random.Generator, made: Made, options: dict[str, Any], read: Read | None
) -> None:
    """Every row is a document or an unreadable one, and its findings can be shown."""
    page = made.path.parent / "check.html"
    words = ["check", str(made.path), "--json", "--html", str(page), "--jobs", "1"]
    words += ["--no-labels"] if read is None else []
    words += ["--skip", "suspected-labels"] if rng.random() < 0.5 else []
    for name, value in options.items():
        if value and (read is not None or not name.startswith("label")):
            words += [f"--{name.replace('_', '-')}", value]
    code, out, _ = _run(words)
    assert code in (0, 1, 2), code
    assert page.exists() == (code == 0)
    if code:
        assert not out
        return
    result = json.loads(out)
    found = {one["name"]: one for one in result["findings"]}
    skipped = found.get("unreadable-rows", {"count": 0})["count"]
    assert read is None or (result["documents"], skipped) == (len(read.texts), len(read.skipped))
    assert made.rows is None or made.path.is_dir() or result["documents"] + skipped == made.rows
    assert all(0 < one["count"] <= one["total"] for one in found.values())


def _predicts(rng: np.random.Generator, made: Made) -> None:
    """One line of output for every row, whatever the output."""
    skip = rng.random() < 0.8
    words = ["predict", str(MODEL), str(made.path), "--on-error", "skip" if skip else "stop"]
    words += ["--encoding", made.encoding] if made.encoding else []
    form = rng.choice(["labels", "proba", "jsonl", "csv"])
    more = {"proba": ["--proba"], "jsonl": ["--format", "jsonl"], "csv": ["--format", "csv"]}
    words += more.get(form, [])
    code, out, err = _run(words)
    lines = out.split("\n")[:-1]
    if form == "jsonl":
        rows = [json.loads(line) for line in lines]
        assert all(("reason" in row) == (row["predicted"] is None) for row in rows)
        unread = sum("reason" in row for row in rows)
    elif form == "csv":
        csv.field_size_limit(2**31 - 1)
        # The reader of Python 3.10 refuses zero bytes.
        header, *table = [*csv.reader(io.StringIO(out.replace("\0", "0"), newline=""))] or [[]]
        assert {len(row) for row in table} <= {len(header)}
        unread = sum(not row[header.index("predicted")] for row in table)
        lines = ["" for _ in table]
    elif form == "proba":
        cells = [line.split("\t") for line in lines]
        assert len({len(row) for row in cells}) <= 1
        unread = sum(not row[0] for row in cells[1:])
        lines = lines[1:]
    else:
        unread = sum(not line for line in lines)
    if code in (0, 3):
        assert (code == 3) == (unread > 0), (code, unread)
        assert made.rows is None or len(lines) == made.rows, (len(lines), made)
        assert skip or not unread
    else:
        assert code in (1, 2), (code, err)
        assert not skip or not unread or code == 1 or "column" in err
        written = re.search(r"Answers written, for the rows before it: ([\d,]+)\.$", err.rstrip())
        assert int(written[1].replace(",", "")) == len(lines) if written else not lines, err


def _run(words: list[str]) -> tuple[int, str, str]:
    """The exit code of a command, its output and its messages."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = main(words)
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    assert "Traceback" not in err, err
    assert code != 70, err
    return code, out, err


def _read(read: Callable[[], Iterator[Corpus] | list[Corpus]]) -> Read:
    texts: list[str] = []
    skipped: list[str] = []
    message = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for corpus in read():
                positions = [row.position for row in corpus.skipped]
                assert positions == sorted(positions)
                assert all(position <= len(corpus) for position in positions)
                assert corpus.skipped.told() or not positions
                skipped += [f"{row.where}: {row.reason}" for row in corpus.skipped]
                texts += corpus.texts
                json.dumps(texts).encode()
                "".join(map(str, corpus.labels or ())).encode()
        except TextregError as error:
            message = str(error)
    assert message.endswith((".", "?")) or not message, message
    assert len(caught) <= 1, [str(one.message) for one in caught]
    return Read(texts, skipped, message)


def _options(rng: np.random.Generator, made: Made) -> dict[str, Any]:
    options: dict[str, Any] = {"encoding": made.encoding}
    for role, name in (("weight", "w"), ("time", "t"), ("group", "g"), ("text", "text")):
        if rng.random() < 0.1:
            options[f"{role}_col"] = name
    return options


# --- files ----------------------------------------------------------------------------------------


def _jsonl(rng: np.random.Generator, folder: Path) -> Made:
    lines = [_json_line(rng) for _ in range(rng.integers(0, 30))]
    return _file(rng, folder, "a.jsonl", lines, _filled)


def _array(rng: np.random.Generator, folder: Path) -> Made:
    """One JSON array, on one line or many."""
    records = [_record(rng) for _ in range(rng.integers(0, 30))]
    odd = [3, None, [], "a", [[]]]
    values = [record if rng.random() < 0.9 else odd[rng.integers(5)] for record in records]
    ascii = bool(rng.integers(2))
    indent = [None, 0, 2][rng.integers(3)]
    text = json.dumps(values, ensure_ascii=ascii, indent=indent)
    whole = bool(values) and isinstance(values[0], dict)
    return _file(rng, folder, "a.json", [text], lambda _: len(values) if whole else None)


def _json_line(rng: np.random.Generator) -> str:
    chance = rng.random()
    if chance < 0.1:
        return str(rng.choice(LINES))
    if chance < 0.15:
        return str(rng.choice(["", " ", "\t \r"]))
    return json.dumps(_record(rng), ensure_ascii=bool(rng.integers(2)))


def _record(rng: np.random.Generator) -> dict[str, Any]:
    record = {"text": _one(rng, TEXTS, NO_TEXTS), "label": _one(rng, LABELS, NO_LABELS)}
    for name, values in (("w", WEIGHTS), ("t", TIMES), ("g", LABELS)):
        if rng.random() < 0.5:
            record[name] = values[rng.integers(len(values))]
    if rng.random() < 0.05:
        del record[str(rng.choice(list(record)))]
    return record


def _table(rng: np.random.Generator, folder: Path) -> Made:
    """A table of a strange dialect, or written by no writer of CSV at all."""
    delimiter = str(rng.choice([",", ";", "\t", "|"]))
    names = ["label", "text", *rng.choice(["w", "t", "g", "text", "x"], rng.integers(0, 3))]
    if rng.random() < 0.3:
        rng.shuffle(names)
    if rng.random() < 0.05:
        names = []
    values = {"text": TEXTS, "label": LABELS, "w": WEIGHTS, "t": TIMES, "g": LABELS, "x": TEXTS}
    count = int(rng.integers(0, 30))
    table = [[_plain(_one(rng, values[name], [""])) for name in names] for _ in range(count)]
    for row in table:
        if rng.random() < 0.1 and row:
            row[:] = row[: rng.integers(1, len(row) + 1)] + ["more"] * int(rng.integers(0, 2))
    ending = "a.tsv" if delimiter == "\t" and rng.integers(2) else "a.csv"
    if rng.random() < 0.5:
        out = io.StringIO()
        quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC][rng.integers(3)]
        written = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n")
        if names:
            written.writerow(names)
        written.writerows(table)
        lines = out.getvalue().split("\n")
        records = sum(row != [] for row in table)
        whole = not any("\r" in cell or "\0" in cell for row in table for cell in row)
        return _file(rng, folder, ending, lines, lambda _: records if whole and names else None)
    lines = [delimiter.join(row) for row in [names, *table]]
    if rng.random() < 0.2:
        lines.insert(int(rng.integers(len(lines) + 1)), str(rng.choice(LINES)))
    return _file(rng, folder, ending, lines, lambda _: None)


def _fasttext(rng: np.random.Generator, folder: Path) -> Made:
    lines = []
    for _ in range(rng.integers(1, 30)):
        label = _plain(_one(rng, LABELS, NO_LABELS)).replace("\n", " ")
        text = _plain(_one(rng, TEXTS, LINES)).replace("\n", " ")
        lines.append(f"__label__{label} {text}" if rng.random() < 0.9 else text)
    lines[0] = "__label__a first"
    return _file(rng, folder, "a.ft", lines, _filled)


def _plain_text(rng: np.random.Generator, folder: Path) -> Made:
    lines = [_plain(_one(rng, TEXTS, LINES)).replace("\n", " ") for _ in range(rng.integers(1, 30))]
    lines[0] = "plain text is this"
    return _file(rng, folder, "a.txt", lines, lambda text: len(text.removesuffix("\n").split("\n")))


def _folder(rng: np.random.Generator, folder: Path) -> Made:
    """A folder for each class, with odd names, links, pipes and sockets."""
    root = folder / "root"
    names = ["a", "b", "c d", "new\nline", os.fsdecode(b"\xff\xe9"), ".hidden", "é", "-o", "a.gz"]
    rows = 0
    for name in rng.choice(names, rng.integers(1, 4), replace=False):
        (root / str(name)).mkdir(parents=True, exist_ok=True)
        for file in rng.choice(names, rng.integers(0, 5), replace=False):
            path = root / str(name) / f"{file}{rng.choice(['', '.txt', '.gz'])}"
            if os.path.lexists(path):  # a.gz, and a packed
                continue
            data = _encoded(rng, _plain(_one(rng, TEXTS, LINES)), "utf-8")
            rows += not (str(name).startswith(".") or path.name.startswith("."))
            chance = rng.random()
            if chance < 0.8:
                path.write_bytes(gzip.compress(data) if rng.integers(2) else data)
            elif chance < 0.85:
                os.mkfifo(path)
            elif chance < 0.9:
                path.symlink_to(rng.choice(["nowhere", path.name, "/dev/zero", "/dev/null"]))
            elif chance < 0.95:
                _socket(path)
            else:
                path.symlink_to("..")  # a folder above, which is not followed
                rows -= not (str(name).startswith(".") or path.name.startswith("."))
    root.mkdir(exist_ok=True)
    if rng.random() < 0.1:
        (root / "README").write_text("about")
        rows += 1
    if rng.random() < 0.05:
        (root / "again").symlink_to(root, target_is_directory=True)
    return Made(root, rows, None)


def _socket(path: Path) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.fsencode(path.name))
    finally:
        os.chdir(before)


MAKERS = [_jsonl, _jsonl, _array, _table, _table, _fasttext, _plain_text, _folder]


def _file(
    rng: np.random.Generator,
    folder: Path,
    name: str,
    lines: list[str],
    rows: Callable[[str], int | None],
) -> Made:
    """Lines as a file: encoded, ended, damaged and packed in some way.

    rows: how many the text of the file has.
    """
    encoding = str(rng.choice(ENCODINGS))
    end = str(rng.choice(["\n", "\n", "\r\n", "mixed"]))
    if end == "mixed":
        joined = "".join(line + str(rng.choice(["\n", "\r\n"])) for line in lines)
    else:
        joined = end.join([*lines, *([""] if rng.integers(2) and lines else [])])
    data = joined.encode(encoding, "replace")
    told = None if encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32") else encoding
    if rng.random() < 0.2:
        told = None  # nobody says it
    counted = rows(data.decode(encoding)) if encoding.startswith("utf-8") or told else None
    # What these codecs write in place of a letter may be a line end to them.
    if not joined or encoding in ("utf-7", "iso2022_jp"):
        counted = None
    if end != "\n" and name.endswith((".csv", ".tsv")):
        counted = None
    for damage in rng.choice(list(DAMAGES), int(rng.choice([0, 0, 0, 1, 2])), replace=False):
        data = DAMAGES[damage](rng, data)
        counted = None
    if rng.random() < 0.3:
        name += str(rng.choice(["", ".gz"]))
        data, whole = _packed(rng, data)
        counted = counted if whole else None
    odd = ["", "", "", "new\nline ", "é ", os.fsdecode(b"\xff "), "-", "[a] "]
    path = folder / f"{odd[rng.integers(len(odd))]}{name}"
    path.write_bytes(data)
    return Made(path, counted, told)


def _packed(rng: np.random.Generator, data: bytes) -> tuple[bytes, bool]:
    """Data packed by gzip, and whether it can be unpacked to the same."""
    cut = int(rng.integers(len(data) + 1))
    members = gzip.compress(data[:cut]) + gzip.compress(data[cut:])
    packed = gzip.compress(data)
    at = int(rng.integers(len(packed)))
    choices: list[tuple[bytes, bool]] = [
        (packed, True),
        (members, True),
        (members + b"\0" * 1000, True),
        (packed[:at], False),
        (packed + b"garbage", False),
        (packed[:at] + bytes([packed[at] ^ 16]) + packed[at + 1 :], False),
        (gzip.compress(data + b"bomb \n" * 200_000), False),
        (gzip.compress(data + b"a" * 1_000_000), False),
        (gzip.compress(packed), False),
    ]
    return choices[rng.integers(len(choices))]


def _inserted(rng: np.random.Generator, data: bytes, what: bytes) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + what + data[at:]


DAMAGES: dict[str, Callable[[np.random.Generator, bytes], bytes]] = {
    "cut": lambda rng, data: data[: rng.integers(len(data) + 1)],
    "mark": lambda rng, data: _inserted(rng, data, b"\xef\xbb\xbf"),
    "other mark": lambda rng, data: _inserted(rng, data, b"\xff\xfe"),
    "zero": lambda rng, data: _inserted(rng, data, b"\0"),
    "latin": lambda rng, data: _inserted(rng, data, b"caf\xe9 "),
    "surrogate": lambda rng, data: _inserted(rng, data, b"\xed\xa0\x80"),
    "quote": lambda rng, data: _inserted(rng, data, b'"'),
    "return": lambda rng, data: _inserted(rng, data, b"\r"),
    "noise": lambda rng, data: _inserted(rng, data, rng.bytes(int(rng.integers(1, 50)))),
    "long line": lambda rng, data: _inserted(rng, data, b"long " * 100_000),
    "blank lines": lambda rng, data: _inserted(rng, data, b"\n" * int(rng.integers(1, 50))),
    "twice": lambda rng, data: data + data,
    "backwards": lambda rng, data: data[::-1],
}


def _encoded(rng: np.random.Generator, text: str, encoding: str) -> bytes:
    data = text.encode(encoding, "replace")
    if rng.random() < 0.3:
        data = DAMAGES[str(rng.choice(list(DAMAGES)))](rng, data)
    return data


def _one(rng: np.random.Generator, usual: list[Any], odd: list[Any]) -> Any:
    """One of the usual values, seldom an odd one."""
    values = odd if rng.random() < 0.08 else usual
    return values[rng.integers(len(values))]


def _plain(value: Any) -> str:
    """A value as it may stand in a file without types."""
    return "" if value is None else str(value) if isinstance(value, str) else repr(value)[:50]


def _filled(text: str) -> int:
    """The lines that are not blank."""
    return sum(bool(line) and not line.isspace() for line in text.split("\n"))


if sys.platform == "win32":
    MAKERS.remove(_folder)  # it has no pipes, nor such names
