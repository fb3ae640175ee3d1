"""Pages quote rows of other pages, and fail to build where a row or a column is gone."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from test_documents import CHECKOUT

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs").is_dir(), reason="textreg is not installed from a checkout"
)
pytest.importorskip("sphinx", reason="the packages of the documentation are not installed")

PAGE = """
| corpus | textreg | others |
| --- | ---: | ---: |
| one, of two | 1 s | skglm 2, lasso 3 (one run) |

| corpus | right |
| --- | ---: |
| one, of two | **90** |
"""


@pytest.fixture(scope="module")
def quoted() -> dict[str, object]:
    return runpy.run_path(str(CHECKOUT / "docs" / "quoted.py"))


def test_a_row_by_its_first_cell_and_columns_by_title(quoted) -> None:  # type: ignore[no-untyped-def]
    assert quoted["row_of"](PAGE, "one, of two", ["others", "textreg"]) == [
        "skglm 2, lasso 3",
        "1 s",
    ]
    assert quoted["row_of"](PAGE, "one, of two", ["right"]) == ["90"]


@pytest.mark.parametrize(("row", "column"), [("two", "right"), ("one, of two", "time")])
def test_what_is_gone_is_an_error(quoted, row: str, column: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="no table has a row"):
        quoted["row_of"](PAGE, row, [column])


def test_every_quotation_is_there(quoted) -> None:  # type: ignore[no-untyped-def]
    seen = 0
    for page in (CHECKOUT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for source, columns, rows in re.findall(
            r"^```\{quoted\} (\S+)\n:columns: (.*)\n(?::titles:.*\n)?((?:.+\n)+)```$", text, re.M
        ):
            content = Path(CHECKOUT, "docs", source).read_text(encoding="utf-8")
            for line in rows.splitlines():
                first = line.rpartition(" = ")[2]
                quoted["row_of"](content, first, [each.strip() for each in columns.split(",")])
                seen += 1
    assert seen > 10
