"""What a model file takes of memory, who made it, and that equal trainings give equal files."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from model_files import content, rewrite
from safetensors.numpy import load_file

import textreg
from textreg.errors import ModelError, UsageError
from textreg.model import container
from textreg.model.storage import load_model

TEXTS = ["good good film", "bad film", "fine film", "bad bad plot", "so so", "so what"] * 5
LABELS = ["good", "bad", "good", "bad", "none", "none"] * 5


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.textreg"
    textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.01, tokenizer="words").save(path)
    return path


@contextmanager
def at_most(megabytes: float) -> Iterator[None]:
    """What is inside takes so much memory at most."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * 1e6
    finally:
        tracemalloc.stop()


def sparse(path: Path, header: dict[str, Any], lengths: dict[str, int]) -> None:
    """A file whose arrays have these lengths and were never written."""
    end, entries = 0, []
    for name, length in lengths.items():
        dtype = np.dtype(container_types()[name])
        entries.append(
            container.Entry(
                name, container.code(dtype), (length,), end, end + length * dtype.itemsize
            )
        )
        end = entries[-1].end
    text = json.dumps({**header, "format": 1, "deflated": {}})
    path.write_bytes(container.join({"textreg": text, "checksum": "0" * 64}, entries, []))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + end)


def container_types() -> dict[str, str]:
    from textreg.model.storage import ARRAYS

    return ARRAYS


# Memory in proportion


def test_the_package_safetensors_reads_the_file(path: Path) -> None:
    arrays = load_file(path)
    assert set(arrays) == set(content(path)[1])
    np.testing.assert_array_equal(arrays["intercepts"], load_model(path).intercepts)


@pytest.mark.parametrize("name", ["names", "idf", "weights", "columns"])
def test_zeros_that_inflate(path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(container, "SMALL", 10**12)
        dtype = container_types()[name]
        zeros = np.zeros(3 * 10**7 // np.dtype(dtype).itemsize, dtype)
        rewrite(path, lambda header, arrays: arrays.update({name: zeros}))
    assert path.stat().st_size < 2e6
    with at_most(5), pytest.raises(ModelError, match=r"would inflate from .* more than 20 times"):
        load_model(path)


def test_arrays_that_compress_too_well_are_stored_as_they_are(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "SMALL", 1000)
    monkeypatch.setattr(container, "MAX_EXPANSION", 3)
    header, arrays = content(path)
    names = [f"w{number}" for number in range(20_000)]
    header["vectorizer"]["ngrams"] = 1
    header["parts"][0].update(names=len(names), levels=[len(names)])
    for name in ("children", "last", "kept"):
        arrays.pop(name, None)
    coded = "".join(names).encode()
    arrays |= {
        "names": np.frombuffer(coded, dtype=np.uint8),
        "name_ptr": np.cumsum([0, *map(len, names)]),
        "idf": np.ones(len(names)),
        "columns": np.arange(10),
        "weights": np.ones(30),
        "weight_columns": np.tile(np.arange(10, dtype=np.int32), 3),
        "weight_ptr": np.arange(0, 40, 10),
    }
    path.write_bytes(container.pack(header, arrays))
    stored = load_file(path)
    assert stored["idf"].dtype == np.float64
    assert stored["names"].dtype == np.uint8
    assert load_model(path).n_features == 10


def test_a_file_that_is_larger_than_its_table_says(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(10**11)
    with at_most(5), pytest.raises(ModelError, match=r"arrays take .* bytes, but it has 99,999"):
        load_model(path)


@pytest.mark.parametrize("names", [2 * 10**9, 10**10])
def test_a_hole_in_a_file(path: Path, names: int) -> None:
    header, arrays = content(path)
    lengths = {name: len(array) for name, array in arrays.items()}
    sparse(path, header, {**lengths, "names": names})
    with at_most(5), pytest.raises(ModelError, match=r"was never written, from byte [\d,]+ on"):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name_ptr": 10**9}, "does not divide"),
        ({"children": 10**9}, "other n-grams than it says"),
        ({"last": 10**9}, "other n-grams than it says"),
        ({"idf": 10**9}, "idf values"),
        ({"columns": 10**9}, "columns are not"),
        ({"intercepts": 10**9}, "intercepts, not 3"),
        ({"weights": 10**9}, "1,000,000,000 weights for"),
        ({"weights": 10**9, "weight_columns": 10**9}, "does not divide"),
        ({"weight_ptr": 10**9}, "into 3 parts"),
        ({"path_names": 10**9}, "no path but the array"),
    ],
)
def test_lengths_that_do_not_fit_each_other(path: Path, change: dict[str, int], words: str) -> None:
    header, arrays = content(path)
    lengths = {name: len(array) for name, array in arrays.items()}
    sparse(path, header, {**lengths, **change})
    with at_most(5), pytest.raises(ModelError, match=words):
        load_model(path)


def test_weights_out_of_proportion(path: Path) -> None:
    labels = 20_000

    def edit(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        names = [f"w{number}" for number in range(labels)]
        header.update(labels=names, task="one-vs-rest", summary=None)
        header["vectorizer"].update(ngrams=1, weighting="count")
        header["parts"][0].update(names=labels, levels=[labels])
        for name in ("idf", "children", "last", "kept"):
            arrays.pop(name, None)
        arrays.update(
            names=np.frombuffer("".join(names).encode(), dtype=np.uint8),
            name_ptr=np.cumsum([0, *map(len, names)]),
            weights=np.ones(labels),
            weight_columns=np.arange(labels, dtype=np.int32),
            weight_ptr=np.arange(labels + 1),
            intercepts=np.zeros(labels),
        )

    rewrite(path, edit)
    with at_most(60):
        model = load_model(path)
        assert model.predict(["w7 w7", "w19999"]) == ["w7", "w19999"]
    with pytest.raises(UsageError, match=r"20,000 x 20,000 weights .* proportion"):
        _ = model.weights


def test_no_memory_is_the_fault_of_nobody(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(container, "inflate", full)
    with pytest.raises(ModelError, match="does not fit into the memory that is free") as caught:
        load_model(path)
    assert "features" not in str(caught.value)


# Who made it


def test_the_digest_of_a_file(path: Path, cli: Cli) -> None:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert cli("show", path, "--digest") == (0, f"{digest}  {path}\n", "")
    code, out, _ = cli("show", path, "--digest", "--json")
    assert (code, json.loads(out)) == (0, {"model": str(path), "sha256": digest})
    for given in (digest, digest.upper()):
        assert textreg.load(path, sha256=given).labels == ("bad", "good", "none")


def test_a_file_with_another_digest(path: Path) -> None:
    asked = hashlib.sha256(path.read_bytes()).hexdigest()
    rewrite(path, lambda header, arrays: arrays["intercepts"].__imul__(-1))
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    textreg.load(path)  # its checksum is right
    with pytest.raises(ModelError, match=f"digest is {found}, not {asked}"):
        textreg.load(path, sha256=asked)


@pytest.mark.parametrize("digest", ["", "abc", "g" * 64, "0" * 63, "0" * 65, bytes(32), 5])
def test_what_is_no_digest(path: Path, digest: Any) -> None:
    with pytest.raises(UsageError, match="sha256 must be a digest of 64 hexadecimal digits"):
        textreg.load(path, sha256=digest)


def test_a_digest_of_what_is_no_model(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "other").write_text("x")
    code, out, err = cli("show", tmp_path / "other", "--digest")
    assert (code, out) == (1, "")
    assert "is not a textreg model file, or is cut off. Commands take the model before other" in err


# The same training gives the same bytes


TRAININGS = {
    "search": "--reg sentence",
    "path and calibration": "--reg lasso --path --calibrate isotonic --select 1se --cv 3",
    "groups and jobs": "--reg group --groups documents --jobs 2",
    "graph and budget": "--reg network --graph cooccurrence --budget 1h",
    "pursuit": "--reg omp --reg-budget 3",
    "softmax": "--reg ridge --multiclass softmax --threshold good=f1",
    "squared hinge": "--reg elastic --loss squared-hinge --weighting unit --ngrams 1",
}


IN_EVERY_RUN = ("search", "path and calibration", "groups and jobs")
"""Those that are repeated in every run: each is a program started twice."""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(options, id=name, marks=[] if name in IN_EVERY_RUN else [pytest.mark.thorough])
        for name, options in TRAININGS.items()
    ],
)
def test_the_same_training_gives_the_same_bytes(tmp_path: Path, options: str) -> None:
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    digests = set()
    for number, seed in enumerate(("1", "2")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
        subprocess.run(
            [sys.executable, "-m", "textreg", "train", "corpus.jsonl", *options.split(), "--quiet"],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        digests.add(hashlib.sha256((folder / "corpus.textreg").read_bytes()).hexdigest())
    assert len(digests) == 1


def test_a_model_that_is_loaded_and_saved_is_the_same_file(path: Path, tmp_path: Path) -> None:
    load_model(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_times_are_those_of_a_training(path: Path) -> None:
    model = textreg.train(TEXTS, LABELS, reg="lasso", reg_l1=0.01)
    assert set(model.seconds) == {"features", "search", "fit"}
    assert load_model(path).seconds == {}
    assert "seconds" not in path.read_text(errors="replace")


# What made a raw error or a warning when a loaded model was used


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda h, a: h["vectorizer"].update(ngrams=10**12), "ngrams must be at most 100"),
        (lambda h, a: a["weights"].__setitem__(0, 1e308), "finite numbers up to 1e\\+100"),
        (lambda h, a: a["intercepts"].__setitem__(0, -1e300), "finite numbers up to 1e\\+100"),
        (lambda h, a: h.update(thresholds={"bad": 1e200}), "finite numbers up to 1e\\+100"),
        (
            lambda h, a: h.update(calibration={"method": "temperature", "temperature": 1e-300}),
            "temperature must be from 1e-06 to 1e\\+06",
        ),
        (
            lambda h, a: h.update(
                calibration={"method": "isotonic", "curves": [[[-1e308, 1e308], [0.1, 0.9]]] * 3}
            ),
            "needs increasing scores",
        ),
        (lambda h, a: h["summary"].update(task="regression"), "of another task"),
        (
            lambda h, a: h.update(task="regression", labels=[], summary=None),
            "a regression has no probabilities",
        ),
        (
            lambda h, a: h["summary"]["reg"]["params"].update(l2=[[[[[[[[[[1]]]]]]]]]]),
            "must be a parameter",
        ),
    ],
)
def test_what_would_fail_later_is_refused(path: Path, edit: Any, words: str) -> None:
    rewrite(path, edit)
    with pytest.raises(ModelError, match=f"is damaged: .*{words}"):
        load_model(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"loss":[null],', "'loss' must be text, not .None."),
        ('"loss":"a","loss":"b",', "two members of the same name"),
        (f'"loss":{"9" * 5000},', "which is too large"),
        ('"loss":1e999,', "which is too large"),
        (f'"loss":{"[" * 100_000}{"]" * 100_000},', "not a textreg model file"),
    ],
)
def test_a_header_that_is_strange_json(path: Path, text: str, words: str) -> None:
    header, arrays = content(path)
    loss = json.dumps({"loss": header["loss"]}, separators=(",", ":"))[1:-1] + ","

    def strange(given: dict[str, Any]) -> str:
        plain = canonical(given)
        assert loss in plain
        return plain.replace(loss, text)

    canonical = container.canonical
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(container, "canonical", strange)
        path.write_bytes(container.pack(header, arrays))
    with pytest.raises(ModelError, match=words):
        load_model(path)


@pytest.mark.parametrize("name", ["\x00", "\ud800"])
def test_a_name_that_no_file_can_have(path: Path, name: str, cli: Cli, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a file"):
        load_model(name)
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(map(json.dumps, rows)))
    rewrite(path, lambda header, arrays: header["vectorizer"].update(stop_words=name))
    code, _, err = cli("explain", path, "--train", corpus)
    assert (code, "stop words cannot be read" in err) == (2, True)


def test_stop_words_from_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is a pipe"):
        textreg.train(TEXTS, LABELS, reg="lasso", stop_words=str(tmp_path / "pipe"))
