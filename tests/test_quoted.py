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


FIGURES = {
    "fit 22,601": ("performance", "sentence, science, one setting to 1e-3", ("textreg", "peers")),
    "fit a lasso": ("performance", "lasso, imdb, to 1e-6", ("textreg",)),
    "count the words": ("performance", "20news to counts of words", ("textreg", "peers")),
    "train on words": (
        "performance",
        "20news, words and pairs, the grid of the default",
        ("textreg", "peers"),
    ),
    "train on 77": ("performance", "banking77, the default", ("textreg", "peers")),
}
"""Rows of README's table by their first words, and where their figures stand."""
PAIRS = ("science", "sports", "religion", "computer")


def rows_of_readme() -> dict[str, str]:
    """The rows of the table of README, by the task."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8").split("## How it compares")[1]
    lines = text.split("\n## ")[0].splitlines()
    return {line.split("|")[1].strip(): line for line in lines if line.startswith("| ")}


def test_figures_of_readme_are_those_of_the_pages(quoted) -> None:  # type: ignore[no-untyped-def]
    def cells_of(page: str, row: str, columns: tuple[str, ...]) -> list[str]:
        content = (CHECKOUT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        return [str(cell) for cell in quoted["row_of"](content, row, list(columns))]

    rows = rows_of_readme()
    for start, (page, row, columns) in FIGURES.items():
        (line,) = [line for task, line in rows.items() if task.startswith(start)]
        for cell in cells_of(page, row, columns):
            assert f"{re.findall(r'[0-9.]+', cell)[-1]} " in line, f"{start}: {cell}"
    pairs = " ".join(cells_of("everyday", corpus, ("textreg",))[0] for corpus in PAIRS)
    assert f"| {pairs} |" in rows["accuracy on four pairs of newsgroups"]
    eight = cells_of("everyday", "mean of eight", ("textreg", "scikit-learn"))
    (line,) = [line for task, line in rows.items() if task.startswith("mean accuracy on eight")]
    assert all(f" {figure} " in line for figure in eight)


@pytest.mark.parametrize(
    ("row", "phrases"),
    [
        ("clinc150, the default", {"README.md": "{1} s instead of {0} s on 150 intents"}),
        (
            "one text of 300 characters from Python, the median",
            {
                "README.md": "single answers matters most: {1} ms instead of {0}",
                "docs/coming-from-fasttext.md": "in {1} ms, textreg in {0}",
            },
        ),
    ],
)
def test_sentences_have_the_figures_of_the_table(quoted, row: str, phrases: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    table = (CHECKOUT / "docs" / "performance.md").read_text(encoding="utf-8")
    cells = quoted["row_of"](table, row, ["textreg", "peers"])
    figures = [re.findall(r"\d+(?:\.\d+)?", cell)[0] for cell in cells]
    for page, phrase in phrases.items():
        text = " ".join((CHECKOUT / page).read_text(encoding="utf-8").split())
        assert phrase.format(*figures) in text


def test_a_line_of_the_session_of_readme() -> None:
    page = (CHECKOUT / "docs" / "sentence.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^selected: .* sentences; proven .*$", page, re.M)
    assert line in (CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()
