"""Some cases of every run; ``make fuzz AREA=columnar`` runs more."""

from __future__ import annotations

import pytest
from frame import check


def test_hostile_columnar_files() -> None:
    pytest.importorskip("pyarrow")
    check("columnar", cases=60)
