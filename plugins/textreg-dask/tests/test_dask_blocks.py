"""Blocks on the workers of a Dask cluster: the same model as blocks here, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from local_cluster import started
from scipy.sparse import csr_array
from test_block_design import cut_rows
from test_in_blocks import documents, weights, write
from thoroughness import thorough

import textreg
from textreg.builtin import backends
from textreg.errors import UsageError
from textreg.records.design import BlockDesign, CompressedArrays, Design, numbered_within
from textreg.records.store import Memory
from textreg.records.text import SkippedRow, SkippedRows
from textreg.training import blocks
from textreg_dask.connection import Connection, connected
from textreg_dask.files import ClusterTexts, skipped_under
from textreg_dask.packing import pack, size_of, unpack
from textreg_dask.rows import ClusterDesign

DASK = {"backend": "dask", "memory": "4GB"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The scheduler of two workers, each a process with one thread."""
    with started(2) as local:
        yield local.scheduler_address


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few documents, whose n-grams are merged two by two, and a search on few."""
    monkeypatch.setattr("textreg.blocks.scratch.DOCUMENTS", 70)
    monkeypatch.setattr("textreg.blocks.features.MERGED", 2)
    monkeypatch.setattr(blocks, "PART", 150)


def test_rows_left_out_stand_under_the_names_that_were_given() -> None:
    row = SkippedRow("/far/data/a.jsonl", 3, "no label", "There is no label.", 2)
    (renamed,) = skipped_under(SkippedRows([row]), "/far/data", "data")
    assert renamed == row._replace(source="data/a.jsonl")


FIXED = [
    {"reg": "lasso", "reg_l1": 1.0},
    {"reg": "ridge", "reg_l2": 1.0},
    {"reg": "elastic", "reg_l1": 0.3, "reg_l2": 0.1},
    {"reg": "sentence", "reg_group": 0.1, "reg_l1": 0.2, "reg_l2": 0.0},
]
FEATURES: list[dict[str, Any]] = [
    {"weighting": "tfidf", "min_df": 2},
    {"max_features": 100, "ngrams": 3},
    {"tokenizer": "chars"},
    {"tokenizer": ["words", "chars"], "max_df": 0.5},
    {"strip_html": True},
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", FIXED, ids=lambda options: str(options["reg"]))
def test_the_model_is_that_of_blocks_here(address: str, options: dict[str, Any]) -> None:
    texts, labels = documents(300)
    here = textreg.train(texts, labels, memory="4GB", **options)
    there = textreg.train(texts, labels, address=address, **DASK, **options)
    assert weights(there) == weights(here)
    assert there.summary is not None
    assert here.summary is not None
    assert there.summary.blocks == here.summary.blocks


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", FEATURES, ids=str)
def test_so_for_all_features(address: str, options: dict[str, Any]) -> None:
    texts, labels = documents(300)
    texts[3] = texts[200] = ""
    texts[4] = "<p>bad&nbsp;<b>HTML</b></p>"
    options = {"reg": "lasso", "reg_l1": 0.5, **options}
    here = textreg.train(texts, labels, memory="4GB", **options)
    there = textreg.train(texts, labels, address=address, **DASK, **options)
    assert weights(there) == weights(here)
    assert list(there.encoder.names) == list(here.encoder.names)


def check_search(address: str) -> None:
    """A search, whose fits are on the workers as well, and what it chose."""
    texts, labels = documents(300)
    labels = [f"{label} {number % 2}" for number, label in enumerate(labels)]
    options = {"reg": "lasso", "search_space": {"reg_l1": [10.0, 1.0]}}
    here = textreg.train(texts, labels, memory="4GB", **options)
    there = textreg.train(texts, labels, address=address, **DASK, **options)
    assert weights(there) == weights(here)
    assert there.summary is not None
    assert here.summary is not None
    assert len(here.summary.search) == 2
    assert there.summary.search == here.summary.search


def test_a_search_is_that_of_blocks_here(address: str) -> None:
    check_search(address)


@pytest.mark.parametrize("workers", [thorough(1), thorough(4)])
def test_bits_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    with started(workers) as local:
        check_search(local.scheduler_address)


def test_files_are_read_by_the_workers(
    address: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts, labels = documents(400)
    (tmp_path / "folder" / "good").mkdir(parents=True)
    for number in range(50):
        (tmp_path / "folder" / "good" / f"{number}.txt").write_text(texts[number])
    write(tmp_path / "a.jsonl", texts[50:60], labels[50:60])
    write(tmp_path / "b.jsonl", texts[60:], labels[60:])
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write('{"text": "no label"}\n')
    command = ["train", "folder", "*.jsonl", "--memory", "4GB", "--reg", "lasso", "--reg-l1", "1"]
    command += ["--on-error", "skip"]
    cluster = ["--backend", f"dask:{address}"]
    here = cli(*command, "-o", "here.textreg")
    there = cli(*command, *cluster, "-o", "there.textreg")
    assert (here.code, there.code) == (0, 0), there.err
    changed = [
        line for line in there.out.splitlines() if "textreg" not in line and " s)" not in line
    ]
    assert changed == [
        line for line in here.out.splitlines() if "textreg" not in line and " s)" not in line
    ]
    assert there.err == here.err
    assert Path("there.textreg").read_bytes() == Path("here.textreg").read_bytes()

    for form in ([], ["--format", "csv", "--proba"], ["--json", "--top", "2"]):
        predict = ["predict", "here.textreg", "a.jsonl", "b.jsonl", *form]
        one, other = cli(*predict), cli(*predict, *cluster)
        assert (other.code, other.out, other.err) == (one.code, one.out, one.err)
    evaluate = ["evaluate", "here.textreg", "folder", "b.jsonl", "--json"]
    one, other = cli(*evaluate), cli(*evaluate, *cluster)
    assert (other.code, other.err) == (0, "")
    assert json.loads(other.out) == json.loads(one.out)


def test_only_large_products_are_sent(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass of a fit with l1 sends far less than the blocks are."""
    made: list[ClusterDesign] = []
    large_products = ClusterDesign.large_products

    def watched(self: ClusterDesign, r: Any, least: float) -> Any:
        before = self.counts["sent"]
        found = large_products(self, r, least)
        made.append(self)
        shares.append((self.counts["sent"] - before) / self.size)
        return found

    shares: list[float] = []
    monkeypatch.setattr(ClusterDesign, "large_products", watched)
    monkeypatch.setattr("textreg.blocks.scratch.DOCUMENTS", 1000)
    texts, labels = documents(3000)
    textreg.train(texts, labels, reg="lasso", reg_l1=20.0, address=address, **DASK)
    assert len(shares) > 1
    assert max(shares) < 0.1


class Here(Connection):
    """Does the work of a cluster itself."""

    def __init__(self) -> None: ...

    def submit(self, function: Callable[..., Any], *arguments: Any, outputs: int = 1) -> Any:
        return function(*arguments)

    def results(self, futures: Iterable[Any]) -> Iterator[Any]:
        return iter(futures)


@pytest.mark.parametrize("seed", range(4))
def test_large_products_are_those_of_blocks_here(seed: int) -> None:
    """To the last bit, for any strength, though most features are told of by few blocks."""
    random = np.random.default_rng(seed)
    X = csr_array(random.random((300, 200)) * (random.random((300, 200)) < 0.1))
    every = Design(X).rows
    starts = [0, 50, 60, 200, 300]
    p, store = X.shape[1], Memory()
    pairs = zip(cut_rows(every, starts), starts, strict=False)
    blocks = [numbered_within(rows, start, p) for rows, start in pairs]
    here = BlockDesign(backends.Here(store), blocks, p, store)
    there = ClusterDesign(Here(), blocks, p, Memory())
    r = random.normal(size=300)
    sums = np.sort(np.abs(X.T @ r))
    for least in (0.0, *sums[[0, 50, 150, 190]].tolist(), 1e9):
        features, found = there.large_products(r, least)
        expected, values = here.large_products(r, least)
        np.testing.assert_array_equal(features, expected)
        assert found.tobytes() == values.tobytes()
        assert features.dtype == expected.dtype
    assert len(features) == 0


def killing(after: int, monkeypatch: pytest.MonkeyPatch, victim: Any) -> list[int]:
    """Call ``victim`` with the connection when so many tasks were handed out."""
    count = [0]
    submit = Connection.submit

    def counted(self: Connection, *arguments: Any, outputs: int = 1) -> Any:
        count[0] += 1
        if count[0] == after:
            victim(self)
        return submit(self, *arguments, outputs=outputs)

    monkeypatch.setattr(Connection, "submit", counted)
    return count


def kill_a_worker(connection: Connection) -> None:
    pids = connection.client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)


@pytest.mark.parametrize("after", [thorough(8), 40, thorough(100)])
def test_a_worker_that_is_killed(address: str, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """While files are read, features are counted, and in the fit: nothing is different."""
    texts, labels = documents(400)
    options: dict[str, Any] = {"reg": "elastic", "reg_l1": 0.3, "reg_l2": 0.1}
    here = textreg.train(texts, labels, memory="4GB", **options)
    count = killing(after, monkeypatch, kill_a_worker)
    there = textreg.train(texts, labels, address=address, **DASK, **options)
    assert count[0] > after
    assert weights(there) == weights(here)


SCHEDULER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0",
                      memory_limit="4GB") as local:
        print(local.scheduler_address, flush=True)
        time.sleep(120)
"""


@pytest.mark.parametrize("after", [thorough(10), 30])
def test_a_scheduler_that_is_killed(
    after: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cli: Cli
) -> None:
    texts, labels = documents(300)
    file, script = write(tmp_path / "corpus.jsonl", texts, labels), tmp_path / "scheduler.py"
    script.write_text(SCHEDULER)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    killing(after, monkeypatch, lambda _: os.killpg(process.pid, signal.SIGKILL))
    model = tmp_path / "model.textreg"
    out = cli(
        *("train", file, "--memory", "4GB", "--reg", "lasso", "--reg-l1", "1", "-o", str(model)),
        *("--backend", f"dask:{address}"),
    )
    process.wait(timeout=30)
    process.stdout.close()
    assert out.code == 2
    assert f"the Dask scheduler at {address} went away" in out.err
    assert "Traceback" not in out.err
    assert not model.exists()


WORKER = """
import sys
from distributed.cli.dask_worker import main
main([sys.argv[1], "--no-nanny", "--nthreads", "1", "--memory-limit", "1GB", "--no-dashboard"])
"""


def test_workers_that_are_all_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For good, as nobody starts them again: Dask alone would wait for ever."""
    monkeypatch.setattr("textreg_dask.connection.PATIENCE", 2)
    monkeypatch.setattr("textreg_dask.connection.RETURN", 1)
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    texts, labels = documents(300)
    with started(0) as local:
        process = subprocess.Popen(
            [sys.executable, str(script), local.scheduler_address], stderr=subprocess.DEVNULL
        )
        with connected(local.scheduler_address) as connection:
            connection.wait_for_workers(60)
        killing(30, monkeypatch, lambda _: process.kill())
        options = {"reg": "lasso", "reg_l1": 1.0, **DASK, "address": local.scheduler_address}
        with pytest.raises(UsageError, match="the scheduler has no workers"):
            textreg.train(texts, labels, **options)
        process.wait(timeout=30)


def test_workers_that_may_take_more_memory(address: str) -> None:
    texts, labels = documents(100)
    options = {"reg": "lasso", "reg_l1": 1.0, "backend": "dask", "address": address}
    with pytest.raises(
        UsageError, match=r"may take 4 GB, and 1 GB were given .*--memory-limit 1GB"
    ):
        textreg.train(texts, labels, memory="1GB", **options)


def test_files_that_workers_cannot_read(address: str, cli: Cli, tmp_path: Path) -> None:
    texts, labels = documents(100)
    file = write(tmp_path / "corpus.jsonl", texts, labels)
    cluster = ["--memory", "4GB", "--backend", f"dask:{address}"]
    options = ["--reg", "lasso", "--reg-l1", "1", "-o", str(tmp_path / "m.textreg")]
    out = cli("train", "-", *cluster, *options)
    assert (out.code, "workers cannot read standard input" in out.err) == (2, True)
    with Path(file).open("a") as more:
        more.write("{broken\n")
    out = cli("train", file, *cluster, *options)
    assert out.code == 1
    assert f"{file}:101" in out.err
    out = cli("predict", str(tmp_path / "m.textreg"), file, "--backend", f"threads:{address}")
    assert (out.code, "name that (--backend dask:ADDRESS)" in out.err) == (2, True)
    out = cli("evaluate", str(tmp_path / "m.textreg"), file, "--backend", "dask")
    assert (out.code, "needs the address of a scheduler" in out.err) == (2, True)


def test_equal_tasks_are_done_each(address: str) -> None:
    with connected(address) as connection:
        one, other = (connection.result(connection.submit(os.urandom, 8)) for _ in range(2))
    assert one != other


def test_texts_here_are_scored_as_those_there(address: str) -> None:
    texts, labels = documents(60)
    model = textreg.train(texts, labels, reg="ridge", reg_l2=1.0)
    with connected(address) as connection:
        lengths = [np.array(list(map(len, texts)), dtype=np.int32)]
        there = ClusterTexts(connection, [connection.send(texts)], lengths)
        for given in (texts, there):
            scores = connection.scores(model, given)
            np.testing.assert_array_equal(scores, model.decision_function(texts))


def test_texts_are_a_sequence(address: str) -> None:
    texts = [f"text {number}" for number in range(200)]
    with connected(address) as connection:
        pieces = [texts[:70], texts[70:140], texts[140:]]
        lengths = [np.array(list(map(len, piece)), dtype=np.int32) for piece in pieces]
        there = ClusterTexts(connection, list(map(connection.send, pieces)), lengths)
        assert len(there) == 200
        assert list(there) == texts
        asked: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            result = Connection.result
            patch.setattr(
                Connection, "result", lambda self, it: (asked.append(it), result(self, it))[1]
            )
            assert next(iter(there)) == texts[0]
            assert len(asked) == 1
            assert asked[0] is not there._pieces[0]  # for one text, not all of its piece
        assert (there[3], there[-1], there[5:9]) == (texts[3], texts[-1], texts[5:9])
        some = there.select([190, 2, 3, 4, 80])
        assert list(some) == [texts[row] for row in (190, 2, 3, 4, 80)]
        assert list(some.select([1, -1])) == [texts[2], texts[80]]
        blocks = list(there.select(np.arange(10, 200)).blocks())
        assert [(start, end) for start, end, _ in blocks] == [(0, 70), (70, 140), (140, 190)]
        with pytest.raises(IndexError, match="there are 200 texts"):
            there[200]
        with pytest.raises(UsageError, match="cannot be copied"):
            there.__reduce__()


def test_packed_arrays() -> None:
    sparse = np.zeros((50, 2))
    sparse[7, 1] = 3.0
    assert size_of(pack(sparse)) < sparse.nbytes
    many = np.arange(1000)
    assert size_of(pack((many, many))) == many.nbytes // 2
    assert size_of((sparse, "name", None)) == sparse.nbytes
    for value in (
        *(sparse, np.arange(5.0), np.zeros(0), many, many - 1, 70 * many, many[:0]),
        *(many.astype(np.int32), "text", None, (1, sparse), CompressedArrays(many, many, sparse)),
    ):
        back = unpack(pack(value))
        assert type(back) is type(value)
        assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
        np.testing.assert_equal(back, value)
