"""What a file may take: memory in proportion to it, and no waiting for what is no file."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from textreg.errors import DataError, UsageError
from textreg.files import DEFAULT, MAX_LINE, MAX_UNPACKED, limit, numbered_lines, open_binary
from textreg.plugins.loading import read_file
from textreg.reading.corpus import read_corpus, stream_records
from textreg.records import Corpus


def stream_documents(*paths: Any, **how: Any) -> Iterator[Corpus]:
    return (batch.documents for batch in stream_records(*paths, **how))


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")

MEASURE = """
import resource, sys, warnings
from textreg.errors import DataError
from textreg.files import numbered_lines
from textreg.reading.corpus import read_corpus, stream_records
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def lines(path, **_):
    return list(numbered_lines(path))
read = {"lines": lines, "stream": lambda *a, **k: list(stream_records(*a, **k))}
read["corpus"] = lambda *a, **k: read_corpus(*a, labeled=False, **k)
try:
    read[sys.argv[1]](sys.argv[2], on_error=sys.argv[3])
except DataError as error:
    print(error)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown // (1 << 20 if sys.platform == "darwin" else 1 << 10))
"""


@pytest.fixture(scope="module")
def one_line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An eighth of a megabyte that unpacks to a line of 128 MB between two of words."""
    path = tmp_path_factory.mktemp("line") / "line.txt.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"good\n")
        for _ in range(128):
            file.write(b"a" * 1_000_000)
        file.write(b"\nbad\n")
    return path


@pytest.mark.sampled(2)
@pytest.mark.skipif(sys.platform == "win32", reason="needs the peak of memory")
@pytest.mark.parametrize("read", ["lines", "stream", "corpus"])
@pytest.mark.parametrize("allowed", ["", "1GB"])
def test_a_line_of_128_megabytes(one_line: Path, read: str, allowed: str) -> None:
    command = [sys.executable, "-c", MEASURE, read, str(one_line), "skip"]
    environment = {**os.environ, MAX_UNPACKED: allowed}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    message, grown = result.stdout.rsplit("\n", 2)[:2] if allowed == "" else ("", result.stdout)
    if not allowed:
        assert message == (
            f"{one_line}:2: the file unpacks to more than 64 MB and 100 times its size. If that "
            "is as it should be, set TEXTREG_MAX_UNPACKED, as in TEXTREG_MAX_UNPACKED=4GB, to "
            "allow it."
        )
    assert int(grown.split()[-1]) < 200


def test_lines_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_LINE, "100KB")
    long = "a" * 100_001
    rows = ["one", long, "two", long + long, "three", long]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(rows))
    problem = "the line is longer than 0.1 MB."
    with pytest.raises(DataError) as refused:
        list(stream_documents(path))
    assert str(refused.value) == (
        f"{path}:2: {problem} Set TEXTREG_MAX_LINE, as in TEXTREG_MAX_LINE=1GB, to allow it, or "
        "pass --on-error skip to answer such rows with an empty line."
    )
    (batch,) = stream_documents(path, on_error="skip")
    assert list(batch.texts) == ["one", "two", "three"]
    assert [(row.line, row.position, row.problem) for row in batch.skipped] == [
        (2, 1, problem),
        (4, 2, problem),
        (6, 3, problem),
    ]
    with pytest.raises(DataError, match=r"a\.txt:2: the line is longer than 0\.1 MB"):
        list(numbered_lines(str(path)))
    monkeypatch.setenv(MAX_LINE, "1 mb")
    (batch,) = stream_documents(path)
    assert list(batch.texts) == rows
    assert [line for _, line in numbered_lines(str(path))] == rows


def test_an_object_that_is_too_long_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_LINE, "100KB")
    path = tmp_path / "a.jsonl"
    texts = ["one", "a" * 100_001, "two"]
    path.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
    (batch,) = stream_documents(path, on_error="skip")
    assert list(batch.texts) == ["one", "two"]
    assert [(row.line, row.problem) for row in batch.skipped] == [
        (2, "the line is longer than 0.1 MB.")
    ]


@pytest.mark.parametrize("quoted", ["a" * 1000 + "\n", '","\n'])
def test_a_record_of_many_lines_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quoted: str
) -> None:
    monkeypatch.setenv(MAX_LINE, "100KB")
    path = tmp_path / "a.csv"
    path.write_text('label,text\na,ok\nb,"open' + quoted * 50_000)
    for on_error in ("stop", "skip"):
        with pytest.raises(DataError, match=r"a\.csv:\d+: the record that ends here is longer"):
            read_corpus(path, on_error=on_error)
    path.write_text('label,text\na,"' + "b\n" * 49_000 + '"\n' * 1)
    assert len(read_corpus(path)) == 1


def test_a_document_of_many_lines_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_LINE, "100KB")
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "root" / "a" / "1").write_text("word\n" * 20_001)
    (tmp_path / "root" / "a" / "2").write_text("word\n" * 20_000)
    with pytest.raises(DataError, match=r"a.1: the document is longer than 0\.1 MB\. Set"):
        read_corpus(tmp_path / "root")
    with pytest.warns(match="1 of 2 rows"):
        assert len(read_corpus(tmp_path / "root", on_error="skip", max_skipped=1)) == 1


def test_gzip_that_unpacks_to_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is one member or many, and whoever reads it."""
    one = gzip.compress(b"words of a long one\n" * 5_000)
    path = tmp_path / "a.txt.gz"
    monkeypatch.setenv(MAX_UNPACKED, "1MB")
    path.write_bytes(one * 10)
    assert sum(map(len, stream_documents(path))) == 50_000
    path.write_bytes(one * 11)
    for read in (stream_documents, numbered_lines):
        with pytest.raises(DataError, match=r"a\.txt\.gz:\d+: the file unpacks to more than 1 MB"):
            list(read(str(path)))  # type: ignore[operator]
    with open_binary(str(path)) as file, pytest.raises(DataError, match="unpacks to more than"):
        file.read()
    noise = gzip.compress(os.urandom(1_100_000).replace(b"\n", b""), 1)
    path.write_bytes(noise)  # as long as it takes room itself, it may be of any size
    with open_binary(str(path)) as file:
        assert len(file.read()) > 1_000_000


def test_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"": DEFAULT, "5": 5, "2kb": 2000, " 1 GB": 10**9, "3TB": 3 * 10**12}
    for given, size in sizes.items():
        monkeypatch.setenv(MAX_LINE, given)
        assert limit(MAX_LINE) == size
    for given in ("-1", "much", "1.5GB", "1GiB", "٣"):
        monkeypatch.setenv(MAX_LINE, given)
        with pytest.raises(
            UsageError, match=f"TEXTREG_MAX_LINE={given} is not a size: write it as"
        ):
            limit(MAX_LINE)


# --- what is no file ------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / "root" / name).mkdir(parents=True)
        (tmp_path / "root" / name / "1.txt").write_text(name)
    return tmp_path / "root"


def skipped_of(folder: Path) -> tuple[Corpus, list[tuple[str, str]]]:
    with pytest.warns(match="rows cannot be read"):
        corpus = read_corpus(folder, on_error="skip", max_skipped=9)
    return corpus, [(Path(row.source).name, row.problem) for row in corpus.skipped]


@needs_pipes
def test_pipes_and_sockets_in_a_class_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "b" / "2")
    (folder / "b" / "3").symlink_to(folder / "b" / "2")
    (folder / "b" / "4").symlink_to("/dev/zero")
    monkeypatch.chdir(folder / "b")  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("5")
    with pytest.raises(DataError) as refused:
        read_corpus(folder)
    assert f"The first is {folder}/b/2: this is a pipe, not a file." in str(refused.value)
    corpus, skipped = skipped_of(folder)
    assert list(corpus.texts) == ["a", "b"]
    assert skipped == [
        ("2", "this is a pipe, not a file."),
        ("3", "this is a pipe, not a file."),
        ("4", "this is a device, not a file."),
        ("5", "this is a socket, not a file."),
    ]


def test_links_that_lead_nowhere_and_in_circles(folder: Path) -> None:
    (folder / "a" / "2").symlink_to("nowhere")
    (folder / "a" / "3").symlink_to("3")
    (folder / "a" / "up").symlink_to(folder)
    corpus, skipped = skipped_of(folder)
    assert list(corpus.texts) == ["a", "b"]
    assert [name for name, _ in skipped] == ["2", "3"]
    assert skipped[0][1].startswith("cannot be opened: No such file")


def test_patterns_follow_no_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two links in circles, there are more paths than anybody can list."""
    for name in ("a", "b"):
        (folder / name / "up").symlink_to("..")
        (folder / name / ".hidden").mkdir()
        (folder / name / ".hidden" / "2.txt").write_text("hidden")
    (folder / "a" / "deep" / "er").mkdir(parents=True)
    (folder / "a" / "deep" / "er" / "[3].txt").write_text("c")
    monkeypatch.chdir(folder)
    for pattern in ("**/*.txt", "./**/*.txt", "*/**/*.txt", f"{folder}/**/*.txt"):
        corpus = read_corpus(pattern, labeled=False)
        assert list(corpus.texts) == ["a", "c", "b"], pattern
    assert list(read_corpus("**/er/**/*.txt", labeled=False).texts) == ["c"]
    assert list(read_corpus("a/**.txt", labeled=False).texts) == ["a"]


def test_a_folder_that_is_linked_beside(folder: Path) -> None:
    """Its documents would be there twice, or be of one class or the other."""
    (folder / "c").symlink_to(folder / "a")
    with pytest.raises(DataError, match=r"root.c: this is the same folder as .*root.a; its docum"):
        read_corpus(folder, on_error="skip")


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may read all")
def test_a_folder_that_cannot_be_listed(folder: Path) -> None:
    (folder / "a").chmod(0)
    try:
        with pytest.raises(DataError, match="cannot be listed: Permission denied"):
            read_corpus(folder, on_error="skip")
    finally:
        (folder / "a").chmod(0o700)


def test_a_folder_that_vanishes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def failing(path: str) -> object:
        if os.path.basename(path) == "b":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    for on_error in ("stop", "skip"):
        with pytest.raises(DataError, match=r"root.b: this folder cannot be listed: Permission de"):
            read_corpus(folder, on_error=on_error)


def test_names_that_are_not_utf8(folder: Path) -> None:
    odd = os.fsdecode(b"caf\xe9")
    try:
        (folder / odd).mkdir()
        (folder / odd / "new\nline").write_text("c")
    except OSError:
        pytest.skip("the file system has no such names")
    corpus = read_corpus(folder)
    assert corpus.labels == ["a", "b", "caf\ufffd"]


@needs_pipes
def test_pipes_that_are_named(tmp_path: Path) -> None:
    """Documents come from one; what may be read twice does not; a pattern does not find any."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_text("one\ntwo\n")).start()
    assert list(read_corpus(path, labeled=False).texts) == ["one", "two"]
    with pytest.raises(UsageError, match=r"pipe is a pipe: name it itself, not by the pattern"):
        read_corpus(tmp_path / "pi*", labeled=False)
    for read in (open_binary, read_file):
        with pytest.raises(
            UsageError, match=r"pipe is a pipe, and may have to be read several tim"
        ):
            read(str(path))
    for device in (tmp_path / "folder", "a\0b"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(UsageError, match="cannot be read"):
            open_binary(str(device))
