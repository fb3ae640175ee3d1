"""A search on a Dask cluster of worker processes: the same model, also where a worker dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli, plain
from local_cluster import started
from scipy.sparse import csr_array

import textreg
from textreg.builtin.separable import Elastic, Lasso
from textreg.demo import write_demo
from textreg.errors import BrokenPluginError, PluginError, TextregError, UsageError
from textreg.kinds import Regularizer
from textreg.records import Problem, Solution
from textreg.tasks import classification
from textreg.training import trials
from textreg.training.trials import Fold
from textreg_dask import connection

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp", "so so"] * 10
LABELS = ["pos", "pos", "neg", "neg", "mid"] * 10
TEST = os.getpid()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The scheduler of two workers, each a process with one thread."""
    with started(2) as local:
        yield local.scheduler_address


def dask(address: str) -> dict[str, Any]:
    return {"backend": "dask", "address": address}


def dying(folder: Path, after: int, test: int = TEST) -> type[Regularizer]:
    """An elastic net during one of whose fits the first worker to get there is killed."""

    class Dying(Elastic):  # made here, so that it travels as a whole
        name = "dying"

        def solve(self, problem: Problem) -> Solution:
            fits = len(list(folder.iterdir()))
            (folder / f"{fits}-{os.getpid()}").touch()
            if fits >= after and os.getpid() != test:
                try:
                    (folder.parent / "killed").touch(exist_ok=False)
                    os.kill(os.getpid(), signal.SIGKILL)
                except FileExistsError:
                    pass
            return super().solve(problem)

    return Dying


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "options",
    [
        {"reg": "elastic", "cv": 3},
        {"reg": "sentence", "jobs": 2, "search_space": {"reg_group": [1.0, 0.1]}},
        {"reg": "network", "multiclass": "softmax", "select": "1se"},
        {"reg": "lasso", "search_space": {"reg_l1": [1.0, 0.1], "ngrams": [1, 2]}},
    ],
    ids=str,
)
def test_the_model_is_the_same(address: str, options: dict[str, Any]) -> None:
    options = {"tokenizer": "words", **options}
    here = textreg.train(TEXTS, LABELS, **options)
    there = textreg.train(TEXTS, LABELS, **options, **dask(address))
    assert plain(there) == plain(here)
    assert there.weights.tobytes() == here.weights.tobytes()
    assert there.intercepts.tobytes() == here.intercepts.tobytes()


@pytest.mark.thorough
def test_a_worker_that_is_killed(address: str, tmp_path: Path) -> None:
    """Nothing is lost, and nothing is different."""
    fits = tmp_path / "fits"
    fits.mkdir()
    reg = dying(fits, after=30)
    here = textreg.train(TEXTS, LABELS, reg=reg, cv=3)
    there = textreg.train(TEXTS, LABELS, reg=reg, cv=3, **dask(address))
    assert (tmp_path / "killed").exists()
    assert plain(there) == plain(here)
    assert there.weights.tobytes() == here.weights.tobytes()


@pytest.mark.thorough
def test_all_data_lost_with_the_only_worker(tmp_path: Path) -> None:
    fits = tmp_path / "fits"
    fits.mkdir()
    reg = dying(fits, after=10)
    here = textreg.train(TEXTS, LABELS, reg=reg)
    before = dict(os.environ)
    with started(1, threads=2) as local:
        there = textreg.train(TEXTS, LABELS, reg=reg, **dask(local.scheduler_address))
    assert os.environ == before, "what Dask sets for workers stays set for later tests"
    assert (tmp_path / "killed").exists()
    assert plain(there) == plain(here)
    assert there.weights.tobytes() == here.weights.tobytes()


def test_time_that_is_up() -> None:
    """By the clock of the worker: nothing more is begun, and what was under way does not count."""
    y = np.array([1.0, -1.0, 1.0, -1.0])
    codes = np.array([1, 0, 1, 0])
    task = classification(("a", "b"))
    fold = Fold(Problem(X=np.eye(4), y=y), task, codes, csr_array(np.eye(4)), codes)
    work = (fold, [0], [Lasso(l1=0.1)], [None])
    assert trials._solve(*work, ends=0.0) == []
    assert len(trials._solve(*work, ends=float("inf"))) == 1


def test_faults_of_plugins_are_named(address: str) -> None:
    class Faulty(Lasso):
        name = "faulty"

        def solve(self, problem: Problem) -> Solution:
            raise ValueError("as it happens")

    message = "regularizer 'faulty' of .* fails in solve: ValueError: as it happens"
    with pytest.raises(BrokenPluginError, match=message):
        textreg.train(TEXTS, LABELS, reg=Faulty, **dask(address))


def test_plugins_that_the_workers_lack(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_here.py").write_text(
        "from textreg.builtin.separable import Lasso\nclass Acme(Lasso):\n    name = 'acme'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import acme_here

    with pytest.raises(UsageError, match=r"has no regularizer 'acme' \(No module named 'acme_he"):
        textreg.train(TEXTS, LABELS, reg=acme_here.Acme, **dask(address))


def test_other_versions_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "versions", lambda: {**VERSIONS, "numpy": "0.1"})
    with pytest.raises(UsageError, match=r"has numpy .*, and here it is 0.1"):
        textreg.train(TEXTS, LABELS, reg="lasso", **dask(address))


VERSIONS = connection.versions()


def test_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.2)
    with started(0) as local, pytest.raises(UsageError, match="the scheduler has no workers"):
        textreg.train(TEXTS, LABELS, reg="lasso", **dask(local.scheduler_address))


def unused() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"backend": "dask"}, UsageError, "needs the address of a scheduler"),
        ({"address": "tcp://127.0.0.1:1"}, UsageError, "an address is for the backend 'dask'"),
        ({"backend": "dusk"}, PluginError, "no backend 'dusk'. Did you mean 'dask'"),
        (dask("127.0.0.1:8786"), UsageError, r"an address is tcp://HOST:PORT"),
        (dask("tcp://127.0.0.1:123456"), UsageError, "Port out of range"),
        (dask(unused()), UsageError, "no Dask scheduler answers at .*refused"),
        ({**dask("tcp://127.0.0.1:1"), "reg_l1": 1.0}, UsageError, "nothing to choose"),
    ],
)
def test_clusters_that_cannot_be(
    options: dict[str, Any], error: type[TextregError], message: str
) -> None:
    with pytest.raises(error, match=message):
        textreg.train(TEXTS, LABELS, reg="lasso", **options)


def test_without_distributed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"needs distributed .*pip install 'textreg\[dask\]'"):
        textreg.train(TEXTS, LABELS, reg="lasso", **dask("tcp://127.0.0.1:1"))


def test_the_command_line(
    address: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train_file = write_demo("demo", train=60).train
    train = (
        "train",
        str(train_file),
        "--reg",
        "lasso",
        "--search-space",
        "reg_l1=0.3,0.1",
        "--json",
    )
    there = cli(*train, "--backend", f"dask:{address}")
    assert (there.code, there.err) == (0, "")
    here = cli(*train)
    assert json.loads(there.out)["search"] == json.loads(here.out)["search"]
    wrong = cli(*train, "--backend", f"dask:{unused()}", "-o", "other.textreg")
    assert (wrong.code, wrong.out) == (2, "")
    assert "no Dask scheduler answers" in wrong.err
    assert not Path("other.textreg").exists()
