"""Files that are not UTF-8: the likely encoding is named, how to pass it, and never chosen."""

from __future__ import annotations

import encodings.aliases
import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli

from textreg.errors import DataError, UsageError
from textreg.reading.corpus import read_corpus
from textreg.reading.source import check_encoding, likely_encoding, likely_utf16

TEXTS = {
    "cp1252": ["Die Größe ist genau richtig.", "très bon café, j’ai aimé", "El niño comió mañana"],
    "cp1251": ["Отличный фильм, очень понравился", "Плохая книга", "не работает. Жаль"],
    "koi8-r": ["Отличный фильм, очень понравился", "Плохая книга", "не работает. Жаль"],
    "shift_jis": ["とても良い映画でした", "テスト 悪い商品", "日本語の文章です。"],
    "gb18030": ["这部电影非常好看", "质量很差,不推荐", "我很喜欢"],
    "big5": ["這部電影非常好看", "品質很差,不推薦", "我很喜歡"],
    "euc-kr": ["정말 좋은 영화입니다", "품질이 나쁘다", "추천하지 않습니다"],
    "utf-16-le": ["Die Größe ist genau richtig.", "Плохая книга", "日本語の文章です。"],
    "utf-16-be": ["Die Größe ist genau richtig.", "Плохая книга", "日本語の文章です。"],
}
NAMES = {"shift_jis": "cp932"}  # the same with more characters


@pytest.mark.parametrize("form", ["jsonl", "csv", "ft", "txt", "folder"])
@pytest.mark.parametrize("encoding", TEXTS)
def test_the_likely_encoding_is_named(tmp_path: Path, encoding: str, form: str) -> None:
    texts = TEXTS[encoding]
    path = tmp_path / f"a.{form}"
    line = {
        "jsonl": '{{"label": "good", "text": "{}"}}',
        "csv": 'good,"{}"',
        "ft": "__label__good {}",
    }.get(form, "{}")
    lines = ["label,text"] * (form == "csv") + [line.format(text) for text in texts]
    data = "\n".join(lines).encode(encoding)
    if form == "folder":
        (path / "good").mkdir(parents=True)
        (path / "good" / "1").write_bytes(data)
    else:
        path.write_bytes(data)
    labeled = form != "txt"
    named = NAMES.get(encoding, encoding)
    for on_error in ("stop", "skip"):
        with pytest.raises(DataError) as refused:
            read_corpus(path, labeled=labeled, on_error=on_error)
        assert f"pass --encoding {named} if it is" in str(refused.value)
    corpus = read_corpus(path, labeled=labeled, encoding=named)
    assert list(corpus.texts) == (["\n".join(texts)] if form == "folder" else texts)


@pytest.mark.parametrize("form", ["csv", "jsonl", "txt", "folder"])
@pytest.mark.parametrize("encoding", [*TEXTS, "utf-8", "utf-16"])
def test_a_guess_is_read_where_it_is_asked_for(tmp_path: Path, encoding: str, form: str) -> None:
    texts = TEXTS.get(encoding, TEXTS["utf-16-le"])
    path = tmp_path / f"a.{form}"
    line = {"jsonl": '{{"label": "good", "text": "{}"}}', "csv": 'good,"{}"'}.get(form, "{}")
    lines = ["label,text"] * (form == "csv") + [line.format(text) for text in texts]
    if form == "folder":
        (path / "good").mkdir(parents=True)
        for number, text in enumerate(texts):
            (path / "good" / str(number)).write_bytes(text.encode(encoding))
        if encoding.startswith("utf-16-"):  # each file is refused, with its encoding
            return
    else:
        path.write_bytes("\n".join(lines).encode(encoding))
    corpus = read_corpus(path, labeled=form != "txt", encoding="guess")
    assert list(corpus.texts) == texts
    if (form, encoding) != ("folder", "utf-16"):
        assert corpus.columns["encoding"] == f"{NAMES.get(encoding, encoding)} (guessed)"


def test_a_guess_takes_damaged_utf8_for_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("größer\n".encode() * 3 + "größer\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"a\.txt:4: .* is not valid UTF-8"):
        read_corpus(path, labeled=False, encoding="guess")


def test_a_guess_looks_beyond_plain_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"plain\n" * 100_000 + "größer, Straße\n".encode("cp1252"))
    corpus = read_corpus(path, labeled=False, encoding="guess")
    assert corpus.texts[-1] == "größer, Straße"


def test_commands_say_what_they_guess(cli: Cli, tmp_path: Path) -> None:
    file, model = tmp_path / "a.csv", tmp_path / "m"
    rows = "schön,good\nhäßlich,bad\n" * 10
    file.write_bytes(f"text,label\n{rows}".encode("cp1252"))
    assert cli("train", file, "-o", model).code == 1
    options = ("--encoding", "guess")
    fixed = ("--tokenizer", "words", "--reg", "ridge", "--reg-l2", "1")
    trained = cli("train", file, "-o", model, *options, *fixed)
    assert "format = csv, encoding = cp1252 (guessed), text" in trained.out
    for command in (("evaluate", "--json"), ("predict",), ("predict", "--format", "csv")):
        code, out, err = cli(command[0], model, file, *options, *command[1:])
        assert code == 0
        assert err == "encoding = cp1252 (guessed)\n"
        assert "guessed" not in out
    assert "schön" in out


def test_a_damaged_line_of_utf8_is_no_other_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("größer\n".encode() * 3 + "größer\n".encode("cp1252") + b"more\n")
    with pytest.raises(DataError, match=r"a\.txt:4: .* Save the file as UTF-8, or name its enc"):
        read_corpus(path, labeled=False)


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0", b"a\0\0b\0\0\0", b"\x7fELF\0\1\0\0\0\2\0\0"])
def test_binary_data_is_not_utf16(data: bytes) -> None:
    assert likely_utf16(data) is None


def test_what_cannot_be_told() -> None:
    assert likely_encoding([]) is None
    assert likely_encoding([b"plain"]) is None
    foreign = ["über Köln".encode("cp1252"), "schöne Grüße".encode("cp1252")]
    assert likely_encoding([*foreign, "für Jürgen".encode()]) == "cp1252"
    assert likely_encoding([*foreign, "für Jürgen".encode(), "Öl".encode()]) is None  # damaged


def test_every_codec_of_python_reads_or_is_refused(tmp_path: Path) -> None:
    """A codec that passes the check turns a file it wrote into the same texts."""
    path = tmp_path / "a.csv"
    refused = set()
    for encoding in sorted({*encodings.aliases.aliases.values(), "idna", "punycode", "undefined"}):
        try:
            check_encoding(encoding)
        except UsageError:
            refused.add(encoding)
            continue
        path.write_bytes("label,text\na,one\nb,two\n".encode(encoding))
        assert list(read_corpus(path, encoding=encoding).texts) == ["one", "two"], encoding
    codecs_of_bytes = {
        *("base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "uu_codec", "zlib_codec"),
        *("rot_13", "idna", "punycode", "undefined"),
    }
    assert codecs_of_bytes <= refused
    assert refused - codecs_of_bytes <= {"mbcs", "oem"}


def test_the_guess_is_imported_only_where_it_is_made() -> None:
    code = "import sys, textreg.reading.corpus; assert 'charset_normalizer' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
