"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import hypothesis
import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

    from textreg.model.model import Model

# A busy machine is no fault. Of what is drawn, runs that are not thorough see a part.
hypothesis.settings.register_profile("thorough", deadline=None)
hypothesis.settings.register_profile("textreg", deadline=None, max_examples=25)
hypothesis.settings.load_profile("textreg")
# In the background this process ignores Ctrl-C, and so would the commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run the tests marked thorough as well, as make test-all does",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--thorough"):
        hypothesis.settings.load_profile("thorough")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that cost more than they tell in every run.

    Of a test marked ``sampled(n)``, n of its cases stay, always the same: drawn by its name.
    """
    if config.getoption("--thorough"):
        return
    cases: dict[str, list[pytest.Item]] = {}
    left_out = {item for item in items if item.get_closest_marker("thorough")}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, own in cases.items():
        (marker,) = own[0].iter_markers("sampled")
        drawn = random.Random(name.rpartition("/")[2]).sample(own, min(marker.args[0], len(own)))
        left_out.update(set(own) - set(drawn))
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Whoever looks for garbage, as some tests do, passes over thousands of modules and cases."""
    gc.freeze()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with ``data/`` (real corpora) and ``golden/`` (known optima)."""
    folder = os.environ.get("TEXTREG_DATA")
    if not folder:
        pytest.skip("TEXTREG_DATA is not set: it names the folder with data/ and golden/")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"TEXTREG_DATA={folder} is not a folder")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Chrome]:
    """A real one, without a window; where there is none, the tests with it are skipped."""
    from browsing import start

    driver = start()
    yield driver
    driver.quit()


class Result(NamedTuple):
    """What a command left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs ``textreg`` with these arguments, in this process."""
    from textreg.cli import main

    def run(*args: object) -> Result:
        code = main([str(argument) for argument in args])
        return Result(code, *capsys.readouterr())

    return run


def plain(model: Model) -> dict[str, Any]:
    """What a model says of its training."""
    return model.summary.to_json()


@pytest.fixture(params=["shared", "copied"])
def merged_values(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a matrix with parallel columns as one shares the values of the whole, or copies."""
    if request.param == "shared":
        monkeypatch.setattr("textreg.solvers.reduce.COPIED", 0)
