"""Reports on two models: what was gained and lost, and documents whose label flips."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import all_of, choose, one_of, requests, show
from conftest import Cli
from pages import HOSTILE, Page

import textreg
from textreg.errors import DataError, UsageError
from textreg.model.model import Model
from textreg.records import Corpus
from textreg_report import PairReport, report_pair
from textreg_report.page import Estimate
from textreg_report.significance import p_text, sign_test

TEXTS = ["red sun. warm", "red moon. warm", "blue sun. cold", "blue moon. cold"] * 5
LABELS = ["hot", "hot", "cold", "cold"] * 5


@pytest.fixture(scope="module")
def models() -> tuple[Model, Model]:
    """The first knows colors, the second warmth and whatever goes with it."""
    colors = [text.split(".")[0] for text in TEXTS]
    warmth = [text.split(".")[1] for text in TEXTS]
    options = {"reg": "elastic", "reg_l1": 0.5, "reg_l2": 0.5, "ngrams": 1, "tokenizer": "words"}
    return (
        textreg.train([f"{text} sun" for text in colors], LABELS, **options),
        textreg.train([f"{text} stone" for text in warmth], LABELS, **options),
    )


TEST = Corpus(
    texts=["red warm", "blue warm", "red cold", "blue cold", "blue warm again", f"red {HOSTILE}"],
    labels=["hot", "hot", "hot", "cold", "cold", "hot"],
)


@pytest.fixture(scope="module")
def found(models: tuple[Model, Model]) -> PairReport:
    return report_pair(*models, TEST, names=("by color", "by warmth"))


def test_features(found: PairReport, models: tuple[Model, Model]) -> None:
    one, two = (set(model.encoder.names) for model in models)
    assert {moved.feature for moved in found.added} == two - one == {"warm", "cold"}
    assert {moved.feature for moved in found.removed} == one - two == {"red", "blue"}
    assert (found.common, found.counts) == (0, (2, 2, 0))
    weights = dict(zip(models[1].encoder.names, models[1].weights[0].tolist(), strict=True))
    for moved in found.added:
        assert moved.first is None
        label = {"warm": "hot", "cold": "cold"}[moved.feature]
        assert moved.second == (label, pytest.approx(abs(weights[moved.feature])))


def test_features_that_turned(models: tuple[Model, Model]) -> None:
    other = {"hot": "cold", "cold": "hot"}
    turned = textreg.train(
        [text.split(".")[0] for text in TEXTS],
        [other[label] for label in LABELS],
        reg="elastic",
        reg_l1=0.5,
        reg_l2=0.5,
        tokenizer="words",
        ngrams=1,
    )
    found = report_pair(models[0], turned, TEST)
    assert {moved.feature for moved in found.relabeled} == {"red", "blue"}
    for moved in found.relabeled:
        assert moved.first is not None
        assert moved.second is not None
        assert other[moved.first[0]] == moved.second[0]
    assert (found.added, found.removed, found.common) == ((), (), 2)


def test_answers_and_flips(found: PairReport, models: tuple[Model, Model]) -> None:
    one, two = (list(map(str, model.predict(TEST.texts))) for model in models)
    assert one[:5] == ["hot", "cold", "hot", "cold", "cold"]
    assert two[:5] == ["hot", "hot", "cold", "cold", "hot"]
    assert found.flips == sum(a != b for a, b in zip(one, two, strict=True))
    kinds = {flip.first.number: flip.kind for flip in found.shown}
    assert kinds.items() >= {(2, "gained"), (3, "lost"), (5, "lost")}
    assert 1 not in kinds
    assert found.gained == sum(kind == "gained" for kind in kinds.values())
    assert found.lost == sum(kind == "lost" for kind in kinds.values())
    assert found.difference.value == pytest.approx((found.gained - found.lost) / len(TEST))
    scores = [model.decision_function(TEST.texts) for model in models]
    for flip in found.shown:
        assert flip.first.number == flip.second.number
        for document, model, own in zip((flip.first, flip.second), models, scores, strict=True):
            score = own[document.number - 1] * (1 if document.of == model.labels[1] else -1)
            assert document.of == document.predicted
            total = document.intercept + sum(line.value for line in document.lines)
            assert total == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("gained", "lost", "words"),
    [
        (17, 7, "There is no measurable difference."),  # p 0.064
        (15, 3, "by warmth is better."),
        (3, 15, "by color is better."),
    ],
)
def test_the_verdict_follows_from_the_p_that_is_shown(
    found: PairReport, gained: int, lost: int, words: str
) -> None:
    p = sign_test(gained, lost)
    up = Estimate("difference", 0.02, 0.01, 0.03)  # whatever the interval is
    page = PairReport(
        **{**vars(found), "gained": gained, "lost": lost, "p": p, "difference": up}
    ).to_html()
    text = " ".join(Page(page).text.split())
    assert f"(exact McNemar test: p = {p_text(p)}). {words}" in text


def test_refusals(models: tuple[Model, Model]) -> None:
    numbers = textreg.train(["good", "bad"] * 5, ["1", "2"] * 5, task="regression", reg="ridge")
    with pytest.raises(UsageError, match="no labels to compare"):
        report_pair(models[0], numbers, TEST)
    with pytest.raises(DataError, match="tepid"):
        report_pair(*models, Corpus(texts=["warm"], labels=["tepid"]))


def test_command(cli: Cli, models: tuple[Model, Model], tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.textreg" for name in ("one", "two")]
    for model, path in zip(models, paths, strict=True):
        model.save(path)
    corpus, page = tmp_path / "test.csv", tmp_path / "pair.html"
    rows = zip(TEST.texts[:5], TEST.labels or (), strict=False)
    corpus.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    code, out, err = cli("compare", *paths, corpus, "--report", page)
    assert code == 0, err
    assert f"report: {page}" in err
    assert "two" in out
    text = Page(page.read_text(encoding="utf-8")).text
    assert "predictions differ for 3 of 5 documents" in text
    assert f"--report {page}" in text
    for arguments in (
        [paths[0], corpus, "--reg", "lasso"],
        [paths[0], corpus],
        [*paths, corpus, corpus],
    ):
        code, out, err = cli("compare", *arguments, "--report", tmp_path / "no.html")
        assert (code, out) == (2, "")
        assert "name two model files and one corpus" in err
    assert not (tmp_path / "no.html").exists()


def test_the_page_in_a_browser(browser, found: PairReport, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "pair.html"
    found.save(path)
    show(browser, path, width=360)
    assert requests(browser) == {path.as_uri()}
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    told = browser.execute_script(
        """return [...document.querySelectorAll("section.explained")].map((one) => [
             Number(one.dataset.score), Number(one.dataset.intercept),
             [...one.querySelectorAll("mark")].map((mark) => Number(mark.dataset.value))])"""
    )
    assert len(told) == 2 * len(found.shown) > 4
    for score, intercept, marks in told:
        assert intercept + sum(marks) == pytest.approx(score, abs=1e-9)
    choose(browser, "kind", "gained")
    assert one_of(browser, "#shown").text == f"{found.gained} of {len(found.shown)} documents"
    assert [one for one in all_of(browser, "article") if one.is_displayed()]
