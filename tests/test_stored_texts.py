"""Texts in a file: what goes in comes out, in any order, and no more than a piece is in memory."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_memory import peak_of

from textreg.errors import DataError, DataWarning, RecordError, UsageError
from textreg.features.fields import AutoTokenizer, tokenizer_of
from textreg.features.markup import warn_of_html
from textreg.records import Corpus, documents
from textreg.records.documents import (
    StoredTexts,
    as_column,
    check_documents,
    check_texts,
    is_tokenized,
)
from textreg.training.prepare import read_training
from textreg.training.settings import TrainingSettings

TEXTS = ["It works.", "", "Größe:\r\ngroß\0\x85", "日本\U0001f600", "\ud83d", "\ude00", "last\n"]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[StoredTexts]:
    with StoredTexts(tmp_path / "texts") as texts:
        texts.extend(TEXTS)
        yield texts


def test_it_is_a_sequence(stored: StoredTexts) -> None:
    n = len(TEXTS)
    assert len(stored) == n
    assert list(stored) == TEXTS
    assert [stored[at] for at in range(-n, n)] == [*TEXTS, *TEXTS]
    assert stored[np.int32(3)] == TEXTS[3]  # type: ignore[call-overload]
    for some in (slice(None), slice(2, 5), slice(None, None, -2), slice(5, 2), slice(-3, 99)):
        assert stored[some] == TEXTS[some]
    for at in (n, -n - 1):
        with pytest.raises(IndexError, match="there are 7 texts"):
            stored[at]
    with pytest.raises(TypeError):
        stored["1"]  # type: ignore[call-overload]
    assert "日本\U0001f600" in stored
    assert stored.index("") == 1
    assert repr(stored) == f"<StoredTexts: 7 texts in {stored.path}>"


def test_more_may_follow_while_it_is_read(stored: StoredTexts) -> None:
    reading = iter(stored)
    assert next(reading) == TEXTS[0]
    stored.extend(["more"])
    stored.extend(iter(()))
    assert list(reading) == TEXTS[1:]
    assert stored[-1] == "more"


def test_some_of_some(stored: StoredTexts) -> None:
    some = stored.select(np.array([6, 2, 2, -7]))
    assert list(some) == [TEXTS[6], TEXTS[2], TEXTS[2], TEXTS[0]]
    assert (len(some), some[-1], some[1:3]) == (4, TEXTS[0], [TEXTS[2], TEXTS[2]])
    assert list(some.select([3, -2])) == [TEXTS[0], TEXTS[2]]
    assert list(some.select([])) == list(stored.select(range(0))) == []
    stored.extend(["more"])
    assert len(some) == 4
    with pytest.raises(UsageError, match="these are some of the texts in a file"):
        some.extend(["more"])
    for wrong in ([4], [-5], [0, 4]):
        with pytest.raises(IndexError, match="there are 4 texts, and no text"):
            some.select(wrong)
    for bad in ([0.5], [[1]], [True, False, True, True]):
        with pytest.raises(RecordError, match="rows must be a list of indices"):
            some.select(bad)  # type: ignore[arg-type]


any_text = st.text(st.characters(), max_size=12)


@given(
    st.lists(any_text, max_size=20), st.data(), st.sampled_from([1, 8, 64]), st.sampled_from([0, 9])
)
@example(["\ud83d", "\ude00", "\0", ""], None, 1, 0)
def test_any_text_in_any_order(
    tmp_path_factory: Any, texts: list[str], data: Any, piece: int, gap: int
) -> None:
    path = tmp_path_factory.mktemp("texts") / "texts"
    n = len(texts)
    rows = list(range(n))[::-1]
    if data is not None and n:
        rows = data.draw(st.lists(st.integers(0, n - 1), max_size=30))
    with pytest.MonkeyPatch.context() as patch, StoredTexts(path) as stored:
        patch.setattr(documents, "PIECE", piece)
        patch.setattr(documents, "GAP", gap)
        patch.setattr(documents, "BLOCK", piece)
        stored.extend(texts[: n // 2])
        stored.extend(iter(texts[n // 2 :]))
        assert list(stored) == texts
        some = stored.select(np.array(rows, dtype=np.intp))
        assert list(some) == [texts[row] for row in rows]
        back = np.arange(len(rows))[::-1]
        assert list(some.select(back)) == [texts[row] for row in rows[::-1]]
    assert path.read_bytes() == b"".join(t.encode("utf-8", "surrogatepass") for t in texts)


def test_close_texts_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = os.pread
    sizes: list[int] = []

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        sizes.append(size)
        return read(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", pread)
    with StoredTexts(tmp_path / "texts") as texts:
        texts.extend(["x" * 1000] * 3000)
        assert len(list(texts)) == 3000
        assert len(sizes) == 3
        assert max(sizes) <= documents.PIECE
        sizes.clear()
        assert len(list(texts.select(np.arange(0, 3000, 2)))) == 1500
        assert len(sizes) == 3
        sizes.clear()
        assert len(list(texts.select(np.arange(0, 3000, 100)))) == 30
        assert sizes == [1000] * 30


# --- what goes wrong ----------------------------------------------------------------------------


def test_the_file_is_new_and_private(stored: StoredTexts, tmp_path: Path) -> None:
    assert os.stat(stored.path).st_mode & 0o077 == 0
    with pytest.raises(UsageError, match=r"cannot be made: File exists\. Name a folder"):
        StoredTexts(stored.path)
    assert list(stored) == TEXTS
    with pytest.raises(UsageError, match="cannot be made: No such file or directory"):
        StoredTexts(tmp_path / "missing" / "texts")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk(stored: StoredTexts, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    writer = stored._writer
    calls: list[int] = []

    class Full:
        """Takes ten bytes and no more."""

        def write(self, data: memoryview) -> int:
            calls.append(len(data))
            if len(calls) > 1:
                raise OSError(code, os.strerror(code))
            return writer.write(data[:10])

        def __getattr__(self, name: str) -> Any:
            return getattr(writer, name)

    size = os.path.getsize(stored.path)
    with monkeypatch.context() as patch:
        patch.setattr(stored, "_writer", Full())
        with pytest.raises(UsageError) as refused:
            stored.extend(["more texts", "and more"])
    assert calls == [18, 8]
    assert str(refused.value) == (
        f"{stored.path}: texts cannot be written to this file: {os.strerror(code)}. {size} bytes "
        "of texts are in it, and 18 more were to be. Free some space there, or name another folder "
        "with TMPDIR (scratch=...)."
    )
    assert list(stored) == TEXTS  # as before
    stored.extend(["room again"])
    assert list(stored) == [*TEXTS, "room again"]


def test_a_file_may_be_only_so_large(stored: StoredTexts) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(UsageError, match=r"File too large\. .* Free some space there, or name"):
            stored.extend(["x" * 2000])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(stored) == TEXTS


def test_a_file_that_others_change(stored: StoredTexts) -> None:
    some = stored.select([0])
    size = os.path.getsize(stored.path)
    for other in (size - 1, size + 1, 0):
        os.truncate(stored.path, other)
        told = f"changed while it was in use: it has {other} bytes, and {size} were written. Start"
        for read in (lambda: stored[0], lambda: list(some), lambda: next(iter(stored))):
            with pytest.raises(DataError, match=told):
                read()
    Path(stored.path).write_bytes(b"\xff" * size)
    with pytest.raises(DataError, match=r"its bytes are others than were written\. Start again"):
        stored[0]


def test_closed(tmp_path: Path) -> None:
    texts = StoredTexts(tmp_path / "texts")
    texts.extend(["a"])
    texts.close()
    texts.close()
    for use in (lambda: texts[0], lambda: list(texts), lambda: texts.extend(["b"])):
        with pytest.raises(UsageError, match="this file of texts is closed"):
            use()
    assert (tmp_path / "texts").read_bytes() == b"a"


def test_there_are_no_copies(stored: StoredTexts) -> None:
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(UsageError, match=r"cannot be copied or sent to other processes: read"):
            copied(stored)


# --- as texts of a corpus -----------------------------------------------------------------------


def test_a_corpus_keeps_them(stored: StoredTexts) -> None:
    assert as_column(stored, "texts") is check_texts(stored) is check_documents(stored) is stored
    assert not is_tokenized(stored)
    corpus = Corpus(stored, labels=list("abababa"))
    assert corpus.texts is stored
    assert not corpus.tokenized
    some = corpus.select(np.array([5, 0]))
    assert isinstance(some.texts, StoredTexts)
    assert list(some.texts) == [TEXTS[5], TEXTS[0]]
    assert some.labels == ["b", "a"]
    with pytest.raises(DataError, match="7 texts but 2 labels"):
        Corpus(stored, labels=["a", "b"])


def test_a_corpus_keeps_lists_of_labels_that_documents_share() -> None:
    shared = ("a", "b")
    corpus = Corpus(["x", "y", "z"], labels=[shared, shared, ("b", "b")])
    assert corpus.labels is not None
    assert corpus.labels[0] is corpus.labels[1]
    assert corpus.labels[0] == shared
    assert corpus.labels[2] == ("b",)
    with pytest.raises(DataError, match="labels are texts"):
        Corpus(["x"], labels=[("a", "")])


LARGE = 20_000_000


def test_what_trainings_ask_of_a_corpus_loads_no_texts(tmp_path: Path) -> None:
    """Not even what is asked of some of its documents."""
    with StoredTexts(tmp_path / "texts") as texts:
        texts.extend(f"{'<b>text</b> ' * 1000}{row}" for row in range(LARGE // 12_000))
        n = len(texts)
        labels = ["rare", *("ab"[row % 2] for row in range(n - 2)), "none"]
        made: list[Any] = []

        def ask() -> None:
            corpus = Corpus(texts, labels=labels)
            with pytest.warns(DataWarning, match="100% of the documents hold HTML"):
                warn_of_html(corpus)
            settings = TrainingSettings(reg="ridge", min_label=2, unknown="none")
            with pytest.warns(DataWarning, match="left out 1 label"):
                posed = read_training(corpus, settings)
            auto = tokenizer_of("auto")
            assert isinstance(auto, AutoTokenizer)
            assert auto.decide(posed.corpus.texts) is auto.words
            assert sum(map(len, posed.corpus.texts)) > 0.9 * LARGE
            made.append(posed)

        ask()  # whatever is made once
        assert peak_of(ask) < LARGE / 5
        corpus, aside = made[-1].corpus, made[-1].outside
        assert isinstance(corpus.texts, StoredTexts)
        assert corpus.texts[0].endswith(" 1")
        assert corpus.texts[-1].endswith(f" {n - 2}")
        assert [text.split()[-1] for text in aside.texts] == [str(n - 1)]
        assert peak_of(lambda: list(texts)) > LARGE  # it would show
