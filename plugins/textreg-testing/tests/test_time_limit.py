"""A check ends in time, and says where it was."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

from textreg.errors import UsageError
from textreg.records import Floats
from textreg_testing import ContractError, check_penalty
from textreg_testing.checks import limited, within_time


class Endless:
    """A prox that takes much longer than it may.

    It ends all the same: its thread is left behind, and would slow every later test down.
    """

    def value(self, w: Floats) -> float:
        return float(np.abs(w).sum())

    def prox(self, w: Floats, step: float) -> Floats:
        end = time.monotonic() + 5.0
        while time.monotonic() < end:
            time.sleep(0.01)
        raise TimeoutError


class Deaf(Endless):
    """The same, and it handles what is raised in it, once."""

    def prox(self, w: Floats, step: float) -> Floats:
        with contextlib.suppress(BaseException):
            super().prox(w, step)
        return super().prox(w, step)


@pytest.mark.parametrize("penalty", [Endless(), Deaf()], ids=lambda each: type(each).__name__)
def test_a_check_that_does_not_end_fails(penalty: Any) -> None:
    message = r"penalty-result: expected an end, but got none within 0\.2 s: it was in prox, .*:\d+"
    with pytest.raises(ContractError, match=message):
        check_penalty(penalty, 4, seconds=0.2)


def test_in_other_threads_as_well() -> None:
    told: list[str] = []

    def run() -> None:
        with limited(0.2):
            try:
                within_time(lambda: Endless().prox(np.ones(2), 1.0) and None)
            except ContractError as error:
                told.append(str(error))
            within_time(lambda: told.append("done"))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10.0)
    assert "it was in prox" in told[0]
    assert told[1] == "done"


def test_errors_pass() -> None:
    def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        within_time(fails)


def test_from_the_shell(cli: Cli, tmp_path: Path) -> None:
    part = tmp_path / "slow.py"
    part.write_text(
        "import time\n"
        "from textreg.hookspecs import hookimpl\n"
        "from textreg.kinds import Penalized\n"
        "from textreg.params import param\n"
        "class Slow(Penalized):\n"
        "    'Is busy for longer than it may.'\n"
        "    name = 'slow'\n"
        "    l1: float = param(default=1.0, min=0, help='strength')\n"
        "    def penalty(self, problem):\n"
        "        return self\n"
        "    def value(self, w):\n"
        "        return float(abs(w).sum())\n"
        "    def prox(self, w, step):\n"
        "        end = time.monotonic() + 3.0\n"
        "        while time.monotonic() < end:\n"
        "            pass\n"
        "        raise TimeoutError\n"
        "@hookimpl\n"
        "def textreg_regularizers():\n"
        "    return [Slow]\n"
    )
    done = cli("--plugin", str(part), "plugins", "check", "slow", "--time-limit", "1.5")
    assert done.code == 1
    assert "it was in prox" in done.out, done.out
    assert "not run, as penalty-result failed: penalty-determinism, " in done.out


def test_a_limit_is_above_zero() -> None:
    with pytest.raises(UsageError, match="must be above 0 seconds, not 0"):
        check_penalty(Endless(), 4, seconds=0.0)
