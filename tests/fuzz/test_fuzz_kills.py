"""A few commands that are killed: see fuzz_kills.py."""

import os

import pytest
from frame import check

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.mark.thorough
def test_killed_runs() -> None:
    check("kills", cases=2)
