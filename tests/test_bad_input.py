"""What bad input gets: one paragraph that says what, where and what next; never a traceback.

Exit code 2 is wrong use, 1 a failure.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli, Result
from model_files import rewrite
from safetensors.numpy import load

from textreg.model import container

GOOD = [("Good. A plot", "pos"), ("Bad. A plot", "neg")] * 10


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "good.jsonl", GOOD)


@pytest.fixture
def model(tmp_path: Path, corpus: Path, cli: Cli) -> Path:
    path = tmp_path / "good.textreg"
    assert cli("train", corpus, "--reg", "lasso", "--reg-l1", "0.5", "-o", path).code == 0
    return path


def refused(result: Result, code: int, *words: str) -> None:
    """One paragraph on standard error, which holds these words, and the exit code."""
    assert result.code == code, result
    assert re.fullmatch(r"Error: [^\n]+\n", result.err), result.err
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


def test_empty_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    refused(cli("train", path), 1, "empty.jsonl", "empty")


def test_missing_file(cli: Cli, tmp_path: Path) -> None:
    refused(cli("train", tmp_path / "none.csv"), 2, "none.csv")


def test_missing_column(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\ngood,pos\nbad,neg\n")
    refused(cli("train", path, "--label-col", "lable"), 2, "lable", "Did you mean 'label'")


def test_one_class_only(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path / "one.jsonl", [("good", "pos")] * 5)
    refused(cli("train", path), 1, "same label, 'pos'", "--label-col")


def test_a_class_with_one_document(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path / "few.jsonl", [*GOOD, ("odd", "rare")])
    refused(cli("train", path), 1, "'rare' has one document only", "--dev")
    refused(cli("train", path, "--cv", "3"), 1, "'rare' has one document only")


def test_labels_missing_in_test(cli: Cli, tmp_path: Path, model: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text('{"text": "good"}\n{"text": "bad"}\n')
    refused(cli("evaluate", model, path), 1, "test.jsonl", "label")
    path.write_text('{"text": "good", "label": "pos"}\n{"text": "bad", "label": ""}\n')
    refused(cli("evaluate", model, path), 1, "test.jsonl:2", "label")


def test_unknown_label_in_test(cli: Cli, tmp_path: Path, model: Path) -> None:
    path = write(tmp_path / "test.jsonl", [("good", "poss"), ("bad", "negg")])
    refused(cli("evaluate", model, path), 1, "test.jsonl:1", "'poss'", "Did you mean 'pos'")


def test_unknown_label_in_dev(cli: Cli, tmp_path: Path, corpus: Path) -> None:
    dev = write(tmp_path / "dev.jsonl", [("good", "positive")])
    refused(cli("train", corpus, "--dev", dev), 1, "dev.jsonl:1", "'positive'", "neg, pos")


def test_all_documents_empty(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path / "blank.jsonl", [("", "pos"), ("  ", "neg")] * 5)
    refused(cli("train", path), 1)


def test_no_feature_left(cli: Cli, corpus: Path) -> None:
    refused(cli("train", corpus, "--min-df", "1000"), 1, "min_df")


def test_invalid_utf8(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("text,label\ngood,pos\ntr\u00e8s mauvais,neg\n".encode("latin-1"))
    refused(cli("train", path), 1, "latin.csv:3", "UTF-8")


def test_binary_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "picture.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    refused(cli("train", path), 1, "picture.csv")


def test_folder_without_classes(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("good")
    refused(cli("train", folder), 1, "texts", "folder")


def test_a_text_of_5_mb_on_one_line(cli: Cli, tmp_path: Path, model: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("good plot " * 500_000)
    result = cli("predict", model, path)
    assert (result.code, result.out, result.err) == (0, "pos\n", "")


@pytest.mark.parametrize("strength", ["nan", "-1", "inf", "much"])
def test_wrong_strengths(cli: Cli, corpus: Path, strength: str) -> None:
    refused(cli("train", corpus, "--reg", "lasso", "--reg-l1", strength), 2, "l1")


def test_unknown_plugin(cli: Cli, corpus: Path) -> None:
    refused(cli("train", corpus, "--reg", "sentense"), 2, "Did you mean 'sentence'")
    refused(cli("train", corpus, "--tokenizer", "word"), 2, "Did you mean 'words'")
    refused(cli("--no-plugin", "nobody", "train", corpus), 2, "'nobody'")


def test_unknown_option_and_command(cli: Cli, corpus: Path) -> None:
    refused(cli("train", corpus, "--reg-l3", "1"), 2, "--reg-l3", "--reg-l1", "train --help")
    refused(cli("train", corpus, "--reg", "lasso", "--groups-weight", "1"), 2, "--groups-weight")
    refused(cli("trian", corpus), 2, "Did you mean 'train'")
    refused(cli("train"), 2, "FILES")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--cv", "1"), "cv must be"),
        (("--holdout", "1.5"), "holdout must lie between 0 and 1"),
        (("--cv", "3", "--holdout", "0.2"), "give one of them"),
        (("--cv", "3", "--no-refit"), "no-refit"),
        (("--tol", "0"), "tol must lie"),
        (("--jobs", "0"), "jobs must be"),
        (("--jobs", f"{10**23}"), "jobs must be 1 or more, up to 1024"),
        (("--seed", "-1"), "seed must be"),
        (("--class-weight", "heavy"), "LABEL=FACTOR"),
        (("--class-weight", "poss=2"), "Did you mean 'pos'"),
        (("--class-weight", "pos=0"), "above 0"),
        (("--metric", "f2"), "--metric"),
        (("--reg", "lasso", "--groups", "sentences"), "no use of groups"),
    ],
)
def test_options_out_of_range(cli: Cli, corpus: Path, options: tuple[str, ...], words: str) -> None:
    refused(cli("train", corpus, *options), 2, words)


def change(model: Path, **changes: np.ndarray) -> None:
    """Rewrite arrays of a model file, its checksum being right."""
    rewrite(model, lambda header, arrays: arrays.update(changes))


def test_damaged_models(cli: Cli, tmp_path: Path, model: Path) -> None:
    text = write(tmp_path / "test.jsonl", GOOD)
    whole = model.read_bytes()
    arrays = load(whole)

    def each_command_refuses(*words: str) -> None:
        for command in (("predict", model, text), ("evaluate", model, text), ("show", model)):
            refused(cli(*command), 1, "good.textreg", *words)
        model.write_bytes(whole)

    for length in (0, 5, 100, len(whole) - 8):
        model.write_bytes(whole[:length])
        each_command_refuses()
    change(model, weights=arrays["weights"][:-1])
    each_command_refuses("damaged")
    change(model, weight_columns=arrays["weight_columns"] + np.int32(1000))
    each_command_refuses("damaged")
    change(model, weights=np.full_like(arrays["weights"], np.inf))
    each_command_refuses("damaged", "finite")
    model.write_bytes(bytes([*whole[:-1], whole[-1] ^ 1]))
    each_command_refuses("damaged")
    assert cli("predict", model, text).code == 0


def test_newer_model(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "FORMAT", 0)
    refused(cli("show", model), 1, "newer textreg", "pip install -U textreg")


def test_no_model(cli: Cli, tmp_path: Path, corpus: Path) -> None:
    refused(cli("show", tmp_path / "none.textreg"), 2, "none.textreg", "textreg train")
    refused(cli("predict", tmp_path, corpus), 2, "is not a file", "model file")
    refused(cli("predict", corpus, corpus), 1, "good.jsonl", "not a textreg model")


def test_full_disk_leaves_the_older_model(
    cli: Cli, corpus: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, files = model.read_bytes(), sorted(os.listdir(model.parent))

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    result = cli("train", corpus, "--reg", "lasso", "--reg-l1", "0.1", "-o", model, "--quiet")
    refused(result, 1, "good.textreg", "No space left", "unchanged")
    assert model.read_bytes() == before
    assert sorted(os.listdir(model.parent)) == files


def test_read_only_target(
    cli: Cli, corpus: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = model.read_bytes()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    refused(cli("train", corpus, "-o", model, "--quiet"), 2, "is not writable", "-o FILE")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != model)
    refused(cli("train", corpus, "-o", model, "--quiet"), 2, "good.textreg is read-only", "-o")
    assert model.read_bytes() == before


def test_targets_that_cannot_be(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    refused(cli("train", corpus, "-o", tmp_path), 2, "is a folder", "-o FILE")
    refused(cli("train", corpus, "-o", tmp_path / "no" / "m.textreg"), 2, "does not exist")
    refused(cli("train", corpus, "-o", corpus), 2, "would overwrite")
    refused(cli("train", corpus, "-o", os.devnull), 2, "not a regular file", "-o")


def test_only_a_model_is_overwritten_by_a_model(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    notes = tmp_path / "test.csv"
    notes.write_text("text,label\n")
    refused(
        cli("train", corpus, "-o", notes, "--quiet"), 2, "test.csv exists", "is not a model", "-o"
    )
    assert notes.read_text() == "text,label\n"
    notes.write_text("")  # as mktemp makes it
    for strength in ("0.1", "0.2"):
        done = cli("train", corpus, "--reg", "lasso", "--reg-l1", strength, "-o", notes, "--quiet")
        assert done.code == 0


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        *(("--holdout", share, "holdout must lie between 0 and 1") for share in ("0", "2", "nan")),
        ("--search-space", "foo=1,2", "no parameter 'foo'"),
        ("--search-space", "weighting=log,foo", "weighting must be one of auto, count, binary"),
    ],
)
def test_refused_before_anything_is_read(
    cli: Cli, corpus: Path, option: str, value: str, words: str
) -> None:
    refused(cli("train", corpus, option, value), 2, words)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_standard_output_on_a_full_disk(model: Path, corpus: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = textreg("predict", model, corpus, stdout=full)
    assert done.returncode == 1
    assert re.fullmatch(r"Error: [^\n]*No space left[^\n]*\n", done.stderr)


def textreg(*args: object, stdout: object = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "textreg", *map(str, args)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def test_closed_pipe_is_quiet(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("good\n" * 100_000)
    command = [sys.executable, "-m", "textreg", "predict", str(model), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"pos\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == -signal.SIGPIPE


def test_interrupt_writes_nothing(tmp_path: Path, model: Path) -> None:
    before = model.read_bytes()
    fifo = tmp_path / "slow.jsonl"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "textreg", "train", str(fifo), "-o", str(model)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    source = -1
    while source < 0:  # it opens once the command reads at the other end
        assert process.poll() is None, process.communicate()
        with suppress(OSError):
            source = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    os.close(source)
    assert (process.returncode, out) == (-signal.SIGINT, "")
    assert err.strip() == "Interrupted. No file was left incomplete."
    assert model.read_bytes() == before


def test_interrupt_during_the_search(
    cli: Cli, corpus: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    before = model.read_bytes()
    monkeypatch.setattr("textreg.training.search.run_search", interrupted)
    result = cli("train", corpus, "--reg", "lasso", "-o", model, "--quiet")
    assert (result.code, result.out) == (130, "")
    assert result.err.strip() == "Interrupted. No file was left incomplete."
    assert model.read_bytes() == before


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = textreg("train", tmp_path / "none.csv", "--debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "none.csv" in done.stderr


def test_inputs_in_wrong_places(cli: Cli, corpus: Path, model: Path) -> None:
    refused(cli("train", model), 2, "is a model, and holds no documents", f"--config {model}")
    refused(cli("train", corpus, "--config", corpus), 2, "is not TOML")
    refused(cli("train", "https://example.com/x.csv"), 2, "an address", "Name a file")
    refused(cli("compare", corpus), 2, "a comparison needs two or more candidates", "--reg")
