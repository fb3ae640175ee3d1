"""Files that others write to while they are read."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from textreg.errors import DataError
from textreg.reading import corpus as reader
from textreg.reading.corpus import read_corpus, stream_records
from textreg.records.documents import StoredTexts

ROW = '{"text": "a", "label": "x"}\n'


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 10)


def rewrite(path: Path) -> None:
    """With as many bytes, one second later."""
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 10**9))


def replace(path: Path) -> None:
    path.with_suffix(".new").write_bytes(b"other")
    path.with_suffix(".new").replace(path)


CHANGES: list[tuple[Callable[[Path], None], str]] = [
    (grow, r"changed, from [\d,]+ to [\d,]+ bytes, while it was read"),
    (shrink, r"changed, from [\d,]+ to [\d,]+ bytes, while it was read"),
    (rewrite, "changed while it was read"),
    (replace, r"changed, from [\d,]+ to 5 bytes, while it was read"),
    (Path.unlink, "removed while it was read"),
]
each_change = pytest.mark.parametrize(("change", "told"), CHANGES)


def changing(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, change: Any) -> None:
    """Let a file change when the function of this name is called first."""
    called = getattr(where, name)
    done: list[bool] = []

    def call(*given: Any) -> Any:
        if not done:
            done.append(True)
            change()
        return called(*given)

    monkeypatch.setattr(where, name, call)


@pytest.mark.sampled(8)
@each_change
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("stored", [False, True])
def test_a_file(
    tmp_path: Path, monkeypatch: Any, change: Any, told: str, name: str, stored: bool
) -> None:
    path = tmp_path / name
    content = (ROW * 5000).encode()  # of which some is read later
    path.write_bytes(gzip.compress(content, 0) if name.endswith("gz") else content)
    for on_error in ("stop", "skip"):
        texts = StoredTexts(tmp_path / f"texts-{on_error}") if stored else None
        with monkeypatch.context() as patch:
            changing(patch, reader, "detect", lambda: change(path))
            with pytest.raises(DataError, match=told) as refused:
                read_corpus(path, on_error=on_error, texts=texts)
        assert str(refused.value).startswith(f"{path}: this file was ")
        assert str(refused.value).endswith("Read it again when nothing writes to it.")
        if texts is not None:
            texts.close()
        path.write_bytes(gzip.compress(content, 0) if name.endswith("gz") else content)
    assert len(read_corpus(path)) == 5000


@each_change
@pytest.mark.parametrize("content", [b"text\n", b"\xff\n", b"\0\n"])
def test_a_file_of_a_folder(
    tmp_path: Path, monkeypatch: Any, change: Any, told: str, content: bytes
) -> None:
    (tmp_path / "root" / "a").mkdir(parents=True)
    path = tmp_path / "root" / "a" / "1.txt"
    for on_error in ("stop", "skip"):
        path.write_bytes(b"text\n" * 3 + content)
        with monkeypatch.context() as patch:
            changing(patch, reader, "refuse_binary", lambda: change(path))
            with pytest.raises(DataError, match=rf"root/a/1\.txt: this file was {told}"):
                read_corpus(tmp_path / "root", on_error=on_error)


def test_documents_to_be_classified(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    batches = stream_records(path, 2)
    assert list(next(batches).documents.texts) == ["one", "two"]
    grow(path)
    assert list(next(batches).documents.texts) == ["three", ""]
    with pytest.raises(DataError, match=r"a\.txt: this file was changed, from 14 to 15 bytes"):
        next(batches)
    batches = stream_records(path, 1)
    next(batches)
    path.unlink()
    batches.close()  # whoever stops early does not care  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_may_change(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("w") as file:
            file.write(ROW)
            pipe.unlink()

    thread = threading.Thread(target=write)
    thread.start()
    assert len(read_corpus(pipe)) == 1
    thread.join()
