"""python -m textreg_papers: what it measures, what it writes of that, and what it refuses."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import textreg
import textreg_report
from textreg import Sentence
from textreg.demo import write_demo
from textreg.errors import ConvergenceWarning
from textreg.records import Groups, Problem
from textreg_papers import protocols
from textreg_papers.__main__ import main
from textreg_papers.page import cells, claims_of, contest, page
from textreg_papers.protocols import unpack

DOCS = Path(textreg.__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one task: of the demo corpus some, a fifth of its training texts as dev."""
    folder = tmp_path_factory.mktemp("papers")
    task = folder / "tasks" / "demo"
    task.parent.mkdir()
    write_demo(str(task), train=60, test=60)
    lines = (task / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (task / "dev.jsonl").write_text("".join(lines[::5]), encoding="utf-8")
    rest = [line for row, line in enumerate(lines) if row % 5]
    (task / "train.jsonl").write_text("".join(rest), encoding="utf-8")
    (folder / "docs").mkdir()
    return folder


@pytest.fixture(scope="module")
def measured(corpora: Path) -> dict[str, Any]:
    """Results of two methods, and of two that were measured later."""
    where = ["--data", corpora, "--results", corpora / "results.json", "--docs", corpora / "docs"]
    for methods, which in (("lasso,ridge", "papers,defaults"), ("sentence,omp", "defaults")):
        assert main([*map(str, where), "--methods", methods, "--protocols", which]) == 0
    found: dict[str, Any] = json.loads((corpora / "results.json").read_text(encoding="utf-8"))
    return found


def test_cells_are_what_training_gives(corpora: Path, measured: Any) -> None:
    task = textreg_report.Benchmark.read(str(corpora / "tasks" / "demo"))
    assert isinstance(task.train, textreg.Corpus)
    assert isinstance(task.test, textreg.Corpus)
    found = measured["tasks"]["demo"]
    assert found["documents"] == [48, 12, 60]
    for protocol, options in (
        ("defaults", {}),
        (
            "papers",
            {
                "tokenizer": "words",
                "ngrams": 1,
                "weighting": "count",
                "metric": "accuracy",
                "refit": False,
            },
        ),
    ):
        cell = found[protocol]["lasso"]
        if protocol == "papers":
            options["search_space"] = {"reg_l1": [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2]}
        model = textreg.train(
            task.train.texts, task.train.labels or [], dev=task.dev, reg="lasso", **options
        )
        right = np.array(model.predict(task.test.texts)) == np.array(task.test.labels)
        np.testing.assert_array_equal(unpack(cell), right)
        assert cell["accuracy"] == right.mean()
        assert (cell["features"], cell["of"]) == (model.n_features, model.summary.features)
        assert cell["dev"] == model.summary.dev.metrics["accuracy"]


def test_the_papers_group_penalties_have_no_ridge() -> None:
    for name, options in protocols.papers().items():
        if "reg_group" in options["search_space"]:
            assert options["reg_l2"] == 0.0, name


def test_some_are_measured_again_and_the_others_kept(measured: Any) -> None:
    found = measured["tasks"]["demo"]
    assert list(found["papers"]) == ["lasso", "ridge"]
    assert list(found["defaults"]) == ["lasso", "ridge", "sentence", "omp"]


def test_page(corpora: Path, measured: Any) -> None:
    text = (corpora / "docs" / "results.md").read_text(encoding="utf-8")
    assert text == page(measured)
    cell = measured["tasks"]["demo"]["defaults"]["omp"]
    percent = f"{100 * cell['accuracy']:.1f}"
    assert f"| omp | {percent} | {percent} |" in text
    for name, method in (("papers", "ridge"), ("defaults", "sentence")):
        picture = (corpora / "docs" / "pictures" / f"results-{name}.svg").read_text("utf-8")
        assert f">{method}<" in picture


def test_nothing_is_claimed_of_peers_that_were_not_measured(measured: Any) -> None:
    tasks = measured["tasks"]
    assert not any("with no other option" in claim for claim in claims_of(tasks))
    tasks = {name: {**task, "peers": task["defaults"]} for name, task in tasks.items()}
    assert any("with no other option" in claim for claim in claims_of(tasks))


def test_strengths_of_nbsvm_are_searched(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[float, float]] = []
    found: list[tuple[Any, float]] = []
    fit = protocols.fit_nbsvm

    def watched(X: Any, y: Any, cost: float, share: float) -> Any:
        tried.append((cost, share))
        w, b = fit(X, y, cost, share)
        found.append((w, b + 0.3))
        return found[-1]

    monkeypatch.setattr(protocols, "fit_nbsvm", watched)
    task = protocols.Documents(corpora / "tasks" / "demo")
    cells = protocols._peers(task)
    words = CountVectorizer(ngram_range=(1, 2), binary=True).fit(task.train.texts)
    w, b = found[-1]  # of the training documents alone
    right = (words.transform(task.test.texts) @ w + b > 0) == task.codes(task.test)
    np.testing.assert_array_equal(unpack(cells["NB-SVM, train alone"]), right)
    assert {cost for cost, _ in tried} == set(protocols.COSTS)
    assert {share for _, share in tried} == set(protocols.SHARES)
    assert cells["NB-SVM"]["accuracy"] > 0.5


def test_page_of_one_protocol(corpora: Path, tmp_path: Path) -> None:
    where = ["--data", str(corpora), "--results", str(tmp_path / "r.json"), "--docs", str(tmp_path)]
    assert main([*where, "--protocols", "papers", "--methods", "ridge"]) == 0
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "| **ridge** |" in text
    assert "## textreg's defaults" not in text


def test_edited_pages_are_found(
    corpora: Path, measured: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = corpora / "docs" / "results.md"
    check = ["--check", "--results", str(corpora / "results.json"), "--docs"]
    assert main([*check, str(page.parent)]) == 0
    text = page.read_text(encoding="utf-8")
    (tmp_path / "results.md").write_text(text.replace("omp", "oomph", 1), encoding="utf-8")
    assert main([*check, str(tmp_path)]) == 1
    assert "results.md does not match results.json" in capsys.readouterr().err


@pytest.mark.skipif(not DOCS.is_dir(), reason="textreg is not installed from a checkout")
def test_the_page_of_this_checkout_is_what_was_measured() -> None:
    assert main(["--check", "--docs", str(DOCS)]) == 0


def test_contests(measured: Any) -> None:
    tasks = measured["tasks"]
    first, second = (cells(tasks, "defaults", name) for name in ("sentence", "omp"))
    found = contest(first, second)
    mine, theirs = (unpack(some[0]) for some in (first, second))
    assert found.won - found.lost == mine.sum() - theirs.sum()
    assert found.won == np.count_nonzero(mine & ~theirs)
    assert found.points == pytest.approx(100 * (mine.mean() - theirs.mean()))
    assert found.tasks == (int(found.points > 0), int(found.points < 0))


def test_published_methods_are_candidates() -> None:
    candidates = protocols.papers()
    for accuracy, size in protocols.PUBLISHED.values():
        assert accuracy.keys() == size.keys() <= candidates.keys()
        for method in accuracy:
            assert accuracy[method].keys() == size[method].keys()
    assert protocols.best("computer") == (91.1, "clusters", "Skianis et al.")
    assert protocols.best("movie") == (90.0, "lda", "Skianis et al.")
    assert protocols.best("mail") is None


def test_the_method_as_printed() -> None:
    """180 settings, and a fit that knows nothing of where it starts."""
    space = protocols.papers()[protocols.AS_PRINTED]["search_space"]
    assert np.prod([len(values) for values in space.values()]) == 180
    rng = np.random.default_rng(0)
    X = (rng.random((40, 12)) < 0.3).astype(float)
    y = np.where(X[:, 0] + rng.random(40) > 0.8, 1.0, -1.0)
    groups = Groups(np.arange(0, 13, 3), np.arange(12, dtype=np.int32), np.ones(4), 12)
    problem = Problem(X, y, groups=groups)
    part = Sentence(group=0.1, l1=0.1, solver=protocols.PRINTED["reg_solver"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it stops by a rule of its own
        cold = part.solve(problem)
        warm = part.solve(problem.replace(start=(rng.normal(size=12), 1.0)))
    np.testing.assert_array_equal(cold.w, warm.w)
    assert cold.iterations <= 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "nowhere"], "nowhere holds no tasks/NAME/train.*"),
        (["--tasks", "demon"], "no task 'demon'. Did you mean 'demo'?"),
        (["--methods", "laso"], "no method 'laso'. Did you mean 'lasso'?"),
        (["--protocols", "mine"], "no protocol 'mine'"),
        (["--docs", "nowhere"], "nowhere is not a folder"),
        (["--check", "--results", "none.json"], "none.json does not exist"),
    ],
)
def test_refusals(
    corpora: Path,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--data", str(corpora), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_plugins_are_missed_before_anything_is_measured(
    corpora: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEXTREG_DISABLE", "groups.lda")
    assert main(["--data", str(corpora), "--methods", "lasso,lda"]) == 2
    said = capsys.readouterr()
    assert "lda" in said.err
    assert not said.out


def test_parts_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_demo(str(tmp_path / "tasks" / "demo"))
    assert main(["--data", str(tmp_path), "--results", str(tmp_path / "r.json")]) == 2
    assert "demo must hold labeled documents in files train.*, dev.*" in capsys.readouterr().err
    assert not (tmp_path / "r.json").exists()
