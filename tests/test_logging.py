"""What is logged under the logger ``textreg``, and that nothing is printed without being asked."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli

import textreg
from textreg.errors import DataWarning
from textreg.reading.corpus import read_corpus

TEXTS = ["Good plot.", "Bad plot.", "So good.", "So bad.", "Good end.", "Bad end."] * 2
LABELS = ["good", "bad"] * 6
SEARCH = {"reg": "lasso", "tokenizer": "words", "search_space": {"reg_l1": [0.1, 0.2]}}


def lines(caplog: pytest.LogCaptureFixture) -> str:
    assert all(record.name.startswith("textreg.") for record in caplog.records)
    return "".join(f"{record.levelname} {record.getMessage()}\n" for record in caplog.records)


def test_a_search_tells_how_it_goes_and_why(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "textreg"):
        textreg.train(TEXTS, LABELS, **SEARCH)
    told = lines(caplog)
    assert "INFO classification of 12 documents, labels bad, good; Lasso(l1=AUTO)" in told
    assert "INFO 12 documents held out, in 5 parts" in told
    assert re.search(r"INFO \d+ features in \d+\.\d\d s\n", told)
    assert re.search(
        r"INFO setting 2 of 2: Lasso\(l1=0.1\): calibrated-log-loss [\d.e-]+, \d", told
    )
    assert re.search(r"INFO search: 2 of 2 settings in \d", told)
    assert re.search(r"INFO chosen: Lasso\(l1=0\.\d\): select best by calibrated-log-loss", told)
    assert re.search(r"INFO fit: 12 documents, \d+ of \d+ features, .* converged, \d", told)
    assert "DEBUG" not in told


def test_every_fit_and_the_reason_of_a_small_model(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "textreg"):
        textreg.train(TEXTS, LABELS, **SEARCH, select="1se", threshold={"good": "f1"})
    told = lines(caplog)
    assert "DEBUG search: 10 of 10 fits" in told
    assert "DEBUG fit: 1 of 1 fits" in told
    assert "select 1se by " in told
    assert "INFO threshold of 'good': " in told


def test_an_automatic_tokenizer_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "textreg"):
        textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=1.0)
    told = lines(caplog)
    assert "INFO tokenizer auto: words and characters, as texts have 102 characters" in told
    assert "INFO nothing to search" in told


def test_rows_that_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "a.csv"
    file.write_text("text,label\n" + "fine,good\n" * 30 + "dull,\n")
    with caplog.at_level("DEBUG", "textreg"), pytest.warns(DataWarning, match="1 of 31 rows"):
        read_corpus(str(file), on_error="skip")
    told = lines(caplog)
    assert re.search(r"DEBUG .*a.csv:32: left out: label is empty", told)
    assert re.search(r"INFO .*a.csv: 30 documents; format = csv, text = text \(guessed\)", told)
    assert "INFO 1 of 31 rows cannot be read and are left out" in told


def test_nothing_is_printed_and_no_handler_added() -> None:
    code = f"""if True:
        import logging, textreg
        model = textreg.train({TEXTS!r}, {LABELS!r}, reg="ridge", tokenizer="words")
        logger = logging.getLogger("textreg")
        assert [type(one) for one in logger.handlers] == [logging.NullHandler], logger.handlers
        assert (logger.level, logger.propagate, logging.getLogger().handlers) == (0, True, [])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_verbose_commands(cli: Cli, tmp_path: Path) -> None:
    corpus, model = tmp_path / "a\x1b.csv", tmp_path / "m"
    rows = "".join(f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True))
    corpus.write_text(f"text,label\n{rows}")
    words = ("train", corpus, "--reg", "lasso", "--reg-l1", "0.1", "--tokenizer", "words")
    words = (*words, "--quiet", "-o", model)
    assert cli(*words) == (0, "", "")
    for told in (cli(*words, "-v"), cli("--verbose", *words)):
        assert (told.code, told.out) == (0, "")
        assert re.search(r"^\d\d:\d\d:\d\d .* 12 documents; format = csv", told.err)
        assert "\x1b" not in told.err
        assert "fits" not in told.err
    for twice in (("-vv",), ("-v", "--verbose")):
        assert "fit: 1 of 1 fits" in cli(*words, *twice).err
    assert cli("predict", model, "--", "-v").code == 2  # a file of that name
    logger = logging.getLogger("textreg")
    assert (logger.level, len(logger.handlers)) == (0, 1)
