"""python -m benchmarks.performance: how it measures, what it keeps, and the page it writes."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import textreg

CHECKOUT = Path(textreg.__file__).parent.parent
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "benchmarks" / "performance").is_dir(), reason="there are no benchmarks here"
)
NAMES = ("__main__", "ground", "harness", "line", "page", "rows", "table")


@pytest.fixture(scope="module")
def bench() -> Any:
    """The modules of the benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT))
        modules = {
            name: importlib.import_module(f"benchmarks.performance.{name}") for name in NAMES
        }
        yield type("Bench", (), {**modules, "main": staticmethod(modules["__main__"].main)})


def samples(*seconds: float, **more: float) -> list[dict[str, float]]:
    return [{"cpu": each, "wall": 2 * each, "peak": 100.0, **more} for each in seconds]


def test_sides_run_in_turn_and_a_slow_peer_once(bench: Any) -> None:
    order = []

    def side(name: str, seconds: float) -> Any:
        def run(first: bool) -> dict[str, float]:
            order.append((name, first))
            return {"cpu": seconds}

        return run

    sides = {"textreg": side("a", 9.0), "quick": side("b", 0.5), "slow": side("c", 9.0)}
    found = bench.harness.in_turn(sides, 3, patience=5.0)
    assert [name for name, _ in order] == ["a", "b", "c", "a", "b", "a", "b"]
    assert [first for _, first in order] == [True] * 3 + [False] * 4
    assert {name: len(each) for name, each in found.items()} == {
        "textreg": 3,
        "quick": 3,
        "slow": 1,
    }


def test_processes_are_measured_from_outside(bench: Any) -> None:
    kept = b"x" * 100_000_000  # the memory of the benchmark itself does not count
    code = "x = b'x' * 60_000_000; print('{\"right\": 50}')"
    words = (sys.executable, "-S", "-c", code)
    command = bench.harness.Command(words, facts={"documents": 3}, reports=True)
    sample = command(first=True)
    assert len(kept) > 0 < sample["cpu"] < 1.0
    assert 60 < sample["peak"] < 90
    assert (sample["right"], sample["documents"]) == (50, 3)
    with pytest.raises(bench.harness.BenchmarkError, match=r"(?s)ended with 1.*ZeroDivisionError"):
        bench.harness.run((sys.executable, "-S", "-c", "1 / 0"))


FORKED = """
from benchmarks.performance.harness import Call, forked
kept = b"x" * 50_000_000
sample = Call(lambda: {"size": len(kept[:-20_000_000])})()
ended = forked(lambda: sum(iter(int, 1)), limit=1)
print(__import__("json").dumps({**sample, "ended": ended["cpu"]}))
"""


def test_calls_are_measured_in_forks_and_ended_at_the_limit(bench: Any) -> None:
    sample = bench.harness.Command((sys.executable, "-c", FORKED), reports=True)()
    assert sample["size"] == 30_000_000
    assert 25 < sample["peak"] < 40
    assert sample["ended"] == 1.0


def test_goals_and_ratios_are_of_medians(bench: Any) -> None:
    Goal, Line = bench.line.Goal, bench.line.Line
    sides = {
        "textreg": samples(1.0, 9.0, 2.0, bytes=4e6),
        "peer": samples(4.0, bytes=4e6),
        "loop": samples(0.5, bytes=4e6),
    }
    line = Line("a", "a", lambda ground: {}, bounds=("loop",))
    assert bench.line.value(sides["textreg"], "cpu") == 2.0
    assert bench.line.ratio(line, sides) == 0.5
    assert bench.line.ratio(line, {"textreg": sides["textreg"]}) is None
    reached = {
        str(goal): goal.reached(sides)
        for goal in (
            *(Goal("cpu", 2.0), Goal("cpu", 1.9), Goal("peak", 99.0), Goal("speed", 2.0)),
            *(Goal("speed", 2.1), Goal("cpu", 0.5, "peer"), Goal("cpu", 3.9, "loop")),
            Goal("cpu", 1.0, "no such side"),
        )
    }
    assert reached == {
        "2 s": True,
        "1.9 s": False,
        "99 MB": False,
        "2 MB/s": True,
        "2.1 MB/s": False,
        "0.5 × peer": True,
        "3.9 × loop": False,
        "1 × no such side": False,
    }


def test_slopes_are_powers_over_the_upper_half(bench: Any) -> None:
    points = [(1.0, 50.0, 1.0), *((n, 3.0 * n**1.5, 70.0) for n in (10.0, 100.0, 1000.0))]
    assert bench.page.slope(points, 1) == pytest.approx(1.5)
    assert bench.page.slope(points, 2) == pytest.approx(0.0)


@pytest.fixture
def lines(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Three lines in place of the others; the second fails."""

    def command(code: str, **facts: float) -> Any:
        return bench.harness.Command((sys.executable, "-S", "-c", code), facts=facts)

    def curve(ground: Any) -> Any:
        return {name: command("pass", documents=int(name)) for name in ("100", "10")}

    Line, Goal = bench.line.Line, bench.line.Goal
    topics = {
        "Training": (
            Line("one", "a *program*", lambda _: {"textreg": command("pass"), "x": command("pass")},
                 goals=(Goal("cpu", 60.0),)),
            Line("two", "fails", lambda _: {"textreg": command("1 / 0")}),
        ),
        "Growth": (Line("curve", "grows", curve, along="documents", once=True),),
    }  # fmt: skip
    every = {line.name: line for each in topics.values() for line in each}
    for module in ("__main__", "page"):
        part = getattr(bench, module)
        monkeypatch.setattr(part, "TOPICS", topics)
        monkeypatch.setattr(part, "LINES", every)
    return every


def test_results_are_kept_line_by_line(
    bench: Any, lines: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pictures").mkdir()
    results = tmp_path / "results.json"
    where = ["--data", str(tmp_path), "--results", str(results), "--docs", str(tmp_path)]
    assert bench.main([*where, "--repeats", "2"]) == 1
    said = capsys.readouterr()
    assert "failed: two" in said.err
    assert "ZeroDivisionError" in said.err
    assert "one: goal: 60 s; met: yes" in said.out
    before = json.loads(results.read_text(encoding="utf-8"))["lines"]
    assert {name: len(next(iter(each["sides"].values()))) for name, each in before.items()} == {
        "one": 2,
        "curve": 1,
    }
    text = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert "| a *program* | 60 s | yes |" in text
    assert "1 of 1 goals are reached. Not measured: two." in " ".join(text.split())
    assert "in the upper half of the documents, time grows with the power" in " ".join(text.split())
    assert ">seconds<" in (tmp_path / "pictures/performance-documents-seconds.svg").read_text()

    assert bench.main([*where, "--lines", "cur"]) == 0
    after = json.loads(results.read_text(encoding="utf-8"))["lines"]
    assert list(after) == ["one", "curve"]
    assert after["one"] == before["one"]

    assert bench.main([*where, "--check"]) == 0
    (tmp_path / "performance.md").write_text(text + "more", encoding="utf-8")
    assert bench.main([*where, "--check"]) == 1
    assert "does not match results.json" in capsys.readouterr().err


def test_quick_writes_nothing(bench: Any, lines: Any, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    where = ["--data", str(tmp_path), "--results", str(results), "--docs", str(tmp_path)]
    assert bench.main([*where, "--quick", "--repeats", "1", "--lines", "Growth"]) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--lines", "no-such"], "no line 'no-such'; there are: words-imdb"),
        (["--data", "no/such/folder"], "name the folder of the corpora"),
        (["--repeats", "0"], "--repeats must be at least 1"),
    ],
)
def test_wrong_options(
    bench: Any, given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        bench.main(["--data", str(tmp_path), *given])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_labels_of_reviews_are_made_of_their_words(bench: Any, tmp_path: Path) -> None:
    for part, label in (("train", "pos"), ("test", "neg"), ("unsup", "")):
        (tmp_path / "imdb").mkdir(exist_ok=True)
        with gzip.open(tmp_path / "imdb" / f"{part}.jsonl.gz", "wt") as file:
            for at in range(40):
                text = f"it is {'good' if at % 2 else 'bad'} number n{at % 8}"
                row = {"id": f"{part}{at}", "label": label, "text": text}
                file.write(json.dumps(row) + "\n")
    (tmp_path / "lexicons").mkdir()
    for sign, word in (("positive", "good"), ("negative", "bad")):
        (tmp_path / "lexicons" / f"opinion_{sign}.txt").write_text(f"; words\n{word}\n")
    ground = bench.ground.Ground(tmp_path, tmp_path)
    rows = list(bench.ground.lines(ground.reviews(120)))
    assert [row["label"] for row in rows[:80]] == ["pos"] * 40 + ["neg"] * 40
    right = [row["label"] == ("pos" if "good" in row["text"] else "neg") for row in rows[80:]]
    assert 20 < sum(right) < 40  # some have the other one
    labels = [row["label"] for row in bench.ground.lines(ground.labeled(120, 3))]
    assert set(labels) == {"bad", "good", "none"}


def test_lines_have_names_of_their_own(bench: Any) -> None:
    assert len(bench.table.LINES) == sum(map(len, bench.table.TOPICS.values()))


def test_the_page_is_that_of_the_results(bench: Any) -> None:
    assert bench.main(["--check"]) == 0


def test_stamps_are_of_sources_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT))
        stamps = importlib.import_module("benchmarks.stamp")
    monkeypatch.setattr(stamps, "ROOT", tmp_path)
    monkeypatch.setattr(stamps, "DECIDING", ("solvers",))
    folder = tmp_path / "textreg" / "solvers"
    folder.mkdir(parents=True)
    (folder / "ridge.py").write_text('"""A ridge."""\nSTEP = 0.5  # short\n')
    first = stamps.digest()
    (folder / "ridge.so").write_bytes(b"built")
    (folder / "ridge.pyi").write_text("STEP: float\n")
    (folder / "ridge.py").write_text('"""The ridge, at last."""\n\nSTEP = 0.5\n')
    assert stamps.digest() == first
    (folder / "ridge.py").write_text("STEP = 0.25\n")
    assert stamps.digest() != first
    page = tmp_path / "page.md"
    page.write_text("As it was.\n")
    monkeypatch.setattr(sys, "argv", ["stamp", "--check", str(page)])
    with pytest.raises(SystemExit):
        stamps.main()
    assert "not allowed with" in capsys.readouterr().err
    assert page.read_text() == "As it was.\n"
