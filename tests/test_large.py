"""python -m benchmarks.large: the files that it makes, and the table that it writes."""

from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import textreg
from textreg.demo import make_reviews

CHECKOUT = Path(textreg.__file__).parent.parent
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "benchmarks" / "large").is_dir(), reason="there are no benchmarks here"
)


@pytest.fixture(scope="module")
def bench() -> Any:
    """The modules of the benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT))
        names = ("__main__", "child", "files", "lines", "page")
        yield type(
            "Bench",
            (),
            {
                **{name: importlib.import_module(f"benchmarks.large.{name}") for name in names},
                "Ground": importlib.import_module("benchmarks.performance.ground").Ground,
            },
        )


def corpus(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def ground(bench: Any, tmp_path: Path) -> Any:
    """Corpora of a few documents."""
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    for name, said in (("imdb", "a film to see"), ("20news", "a post of mine")):
        rows = [{"text": f"{said} number {at}. {said} again. No.", "label": "x"} for at in range(9)]
        corpus(data / name / "train.jsonl.gz", rows)
    years = [
        {"text": "fine", "label": "pos", "date": f"{year}-05-01"} for year in (2012, 2013, 2014)
    ]
    corpus(data / "nsmc" / "all.jsonl.gz", years)
    texts = {
        "train": ["It was not significant. All is well."],
        "dev": ["A significant rise. It was not so. No significance was seen."],
        "unlabelled": [
            "A significant rise.",
            "Insignificant, no doubt.",
            "Significantly so, not much.",
        ],
    }
    for part, some in texts.items():
        rows = [{"text": text, "id": part} for text in some]
        corpus(data / "long" / "evidence-inference" / f"{part}.jsonl.gz", rows)
    return bench.Ground(data, work)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_reviews_are_split_by_date(bench: Any, ground: Any) -> None:
    train, test = bench.files.reviews(ground)
    assert [row["date"][:4] for row in rows(train)] == ["2012", "2013"]
    assert [row["date"][:4] for row in rows(test)] == ["2014"]


def test_articles_are_labeled_by_what_is_not_significant(bench: Any, ground: Any) -> None:
    found = rows(bench.files.articles(ground))
    assert [row["label"] for row in found] == ["negated", "other", "other", "other", "negated"]
    negated = bench.files.negated
    assert negated("A significant rise. It was not so. No significance was seen.") == 0.5
    assert negated("Nothing here.") == 0.0


def test_made_documents_begin_with_a_sentence_of_their_label(bench: Any, ground: Any) -> None:
    few, more = (rows(bench.files.made(ground, number)) for number in (5, 40))
    assert more[:5] == few
    assert {row["label"] for row in more} == {"imdb", "20news"}
    for row in more:
        first = row["text"].splitlines()[0]
        assert ("film" in first) == (row["label"] == "imdb")
        assert 200 <= len(row["text"].split()) < 260
    assert len({row["text"] for row in more}) == 40


def test_the_same_models(bench: Any, tmp_path: Path) -> None:
    labels, texts = map(list, zip(*make_reviews(60), strict=True))
    models = []
    for number, strength in enumerate((1.0, 1.0, 1.1)):
        model = textreg.train(texts, labels, reg="ridge", reg_l2=strength)
        models.append(tmp_path / f"{number}.textreg")
        model.save(models[-1])
    assert bench.child.same(models[0], models[1]) == {"same": 1.0}
    assert bench.child.same(models[0], models[2]) == {"same": 0.0}


def sample(cpu: float, peak: float, **more: float) -> list[dict[str, float]]:
    return [{"cpu": cpu, "wall": cpu, "peak": peak, **more}]


RESULTS: dict[str, Any] = {
    "machine": {"cores": 2, "processor": "P", "system": "S", "python": "3"},
    "lines": {
        "nsmc": {
            "textreg": sample(50.0, 1200.0, right=90.0, blocks=5, passes=80),
            "scikit-learn": sample(30.0, 900.0, right=88.0),
        },
        "million": {
            "1,000,000": sample(300.0, 900.0, documents=1e6),
            "100,000": sample(20.0, 700.0, documents=1e5),
        },
        "groups": {
            "textreg": sample(30.0, 500.0, objective=10.0, gap=1e-4, groups=2e6),
            "blocks on disk": sample(33.0, 400.0, objective=10.0, gap=1e-4, same=1.0),
            "in memory": sample(15.0, 900.0, objective=10.1, gap=2e-4),
        },
    },
}


def test_the_table_is_put_into_its_page_and_checked(
    bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, page = tmp_path / "results.json", tmp_path / "scaling.md"
    lines = {
        name: {"date": "2026-01-01", "load": 1.0, "sides": sides}
        for name, sides in RESULTS["lines"].items()
    }
    results.write_text(json.dumps({**RESULTS, "lines": lines}))
    page.write_text(f"above\n{bench.page.BEGIN}\nold\n{bench.page.END}\nbelow\n")
    options = ["--results", str(results), "--page", str(page)]
    assert bench.__main__.main([*options, "--check"]) == 1
    assert "does not match" in capsys.readouterr().err
    assert bench.__main__.main([*options, "--render"]) == 0
    assert bench.__main__.main([*options, "--check"]) == 0
    text = page.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "old" not in text
    assert "| yes, **no**, yes | 50 | 50 | 1,200 | 5 | 80 | 90.0 |" in text
    assert text.index("| 100,000 |") < text.index("| 1,000,000 |")
    assert "1,500 MB | yes | 300" in text  # the goal is that of the most documents
    assert "by the power 1.18 of their number (goal: 1.05, **no**)" in " ".join(text.split())
    assert "1.5 × in memory | **no** | 30" in text
    assert "the same bits" in text


def test_a_page_without_marks_is_refused(bench: Any) -> None:
    with pytest.raises(ValueError, match="the page has no"):
        bench.page.put("nothing", RESULTS)


def test_the_page_of_the_documentation_is_current(bench: Any) -> None:
    assert bench.__main__.main(["--check"]) == 0
