"""CSV whose fields stand in apostrophes is told from CSV whose texts begin with one."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

from textreg.errors import DataError
from textreg.reading.corpus import read_corpus, stream_records

WORDS = st.text("ab'\", \n", max_size=6)
ROWS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quotes")


def written(rows: list[tuple[str, str]], quote: str, quoting: int) -> str:
    out = io.StringIO()
    style = {"quotechar": quote, "quoting": quoting, "lineterminator": "\n"}
    csv.writer(out, **style).writerows([("text", "label"), *rows])  # type: ignore[arg-type]
    return out.getvalue()


def read(folder: Path, content: str) -> list[tuple[str, str]]:
    path = folder / "a.csv"
    path.write_text(content, encoding="utf-8", newline="")
    batches = stream_records(path, on_error="skip", full=True)
    return [
        (record.get("text", ""), record.get("label", ""))
        for batch in batches
        for record in batch.records
    ]


@draws(60)
@given(rows=ROWS)
def test_all_in_apostrophes(folder: Path, rows: list[tuple[str, str]]) -> None:
    assert read(folder, written(rows, "'", csv.QUOTE_ALL)) == rows


@draws(60)
@given(rows=ROWS)
def test_all_in_double_quotes(folder: Path, rows: list[tuple[str, str]]) -> None:
    assert read(folder, written(rows, '"', csv.QUOTE_ALL)) == rows


PLAIN = st.text("ab' ", max_size=6).filter(lambda text: not text.startswith("'"))


@draws(60)
@given(rows=st.lists(st.tuples(PLAIN | st.just("'tis so"), PLAIN), min_size=1, max_size=5))
def test_texts_with_apostrophes_are_left_alone(folder: Path, rows: list[tuple[str, str]]) -> None:
    content = "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)
    assert read(folder, content) == rows


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("'text','label'\n'good, it''s','p'\n'\"bad\"','n'\n", ["good, it's", '"bad"']),
        ("text,label\nfine,p\n'good, it is',p\nbad,n\n", ["fine", "good, it is", "bad"]),
        ("text,label\nfine,p\n'it''s good',p\nbad,n\n", ["fine", "it's good", "bad"]),
        ("id,text,label\n1,'good','p'\n2,'bad\nor so','n'\n", ["good", "bad\nor so"]),
        ("text;label\n'good; fine';p\n", ["good; fine"]),
        # texts, and no quotes
        ("text,label\n'good',p\n'bad',n\n", ["'good'", "'bad'"]),
        ("text,label\n'tis good,p\n'bad',n\n", ["'tis good", "'bad'"]),
        ("text,label\n\"good\",p\n'it''s',n\n", ["good", "'it''s'"]),
    ],
)
def test_what_is_a_quote(folder: Path, content: str, texts: list[str]) -> None:
    path = folder / "b.csv"
    path.write_text(content)
    corpus = read_corpus(path)
    assert list(corpus.texts) == texts
    assert all(label in ("p", "n") for label in corpus.labels or ())


def test_lines_are_counted_in_apostrophes_too(folder: Path) -> None:
    path = folder / "c.csv"
    path.write_text("'text','label'\n'a\nb','p'\n'c',''\n")
    with pytest.raises(DataError, match=r"c\.csv:4: label is empty"):
        read_corpus(path)
    path.write_text("'text','label'\n'a','p'\n'c,''\n")
    with pytest.raises(DataError, match=r"c\.csv:3: not valid CSV"):
        read_corpus(path)
