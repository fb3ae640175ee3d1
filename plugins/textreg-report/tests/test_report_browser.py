"""Pages of reports in a real browser: no error, no request, no stranger's script; usable by all."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import all_of, choose, one_of, requests, show, start
from pages import HOSTILE

import textreg
from textreg.demo import write_demo
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg_report import report
from textreg_report.agreement import MarkedDocument

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

THEMES = ("light", "dark")
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3

# Contrast of an element's text with what is behind it, both as the browser computed them.
CONTRAST = """
const luminance = (color) => {
  const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (one) => {
  for (; one; one = one.parentElement) {
    const color = getComputedStyle(one).backgroundColor;
    if (!/, 0\\)$|transparent/.test(color)) return color;
  }
  return "rgb(255, 255, 255)";
};
const least = {};
for (const one of document.body.querySelectorAll("*")) {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || one.closest("script, option, .skip") || !one.getClientRects().length) continue;
  const style = getComputedStyle(one);
  const a = luminance(one.closest("svg") ? style.fill : style.color), b = luminance(behind(one));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const name = one.tagName + "." + (one.getAttribute("class") || "");
  least[name] = Math.min(least[name] || 21, ratio);
}
return least;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a model of the demo corpus, with all that a report can have."""
    folder = tmp_path_factory.mktemp("page")
    write_demo(folder / "demo", train=160, test=80)
    train, test = (read_corpus([str(folder / "demo" / f"{n}.jsonl")]) for n in ("train", "test"))
    assert train.labels is not None
    quick = {"tokenizer": "words", "cv": 2}
    model = textreg.train(train.texts, train.labels, reg="sentence", path=True, **quick)
    last = textreg.train(train.texts, train.labels, reg="lasso", reg_l1=1.0, **quick)
    marked = [MarkedDocument.of(text, [[0, text.index(".")]]) for text in test.texts]
    found = report(
        model, test, train=train, against={"last": last}, marked=marked, title="demo.textreg"
    )
    found.save(folder / "page.html")
    return folder / "page.html"


def numbers(browser: Chrome, name: str) -> list[float]:
    """A number of every document that is shown, in their order."""
    found = browser.execute_script(
        """return [...document.querySelectorAll("article")].filter((one) => one.checkVisibility())
             .map((one) => Number(one.dataset[arguments[0]]))""",
        name,
    )
    return list(map(float, found))


def test_it_loads_with_no_error_and_makes_no_requests(browser: Chrome, page: Path) -> None:
    show(browser, page)
    assert browser.title == "demo.textreg – textreg report"
    assert requests(browser) == {page.as_uri()}
    assert browser.get_log("browser") == []
    for one in all_of(browser, "details"):
        browser.execute_script("arguments[0].open = true", one)
    one_of(browser, "#theme").click()
    assert (requests(browser), browser.get_log("browser")) == (set(), [])


def test_highlights_sum_to_the_score(browser: Chrome, page: Path) -> None:
    show(browser, page)
    found = browser.execute_script(
        """return [...document.querySelectorAll("article")].map((article) => [
             Number(article.dataset.score), Number(article.dataset.intercept),
             ...["mark", "li[data-value]"].map((selector) =>
               [...article.querySelectorAll(selector)].map((one) => Number(one.dataset.value)))])"""
    )
    assert len(found) >= 20
    for score, intercept, marks, lines in found:
        assert marks
        assert intercept + sum(marks) == pytest.approx(score, abs=1e-9)
        assert intercept + sum(lines) == pytest.approx(score, abs=1e-9)


def test_documents_are_sorted_and_filtered(browser: Chrome, page: Path) -> None:
    show(browser, page)
    before = numbers(browser, "number")
    order = {"certainty": False, "score": False, "evidence": False, "length": True}
    for field, rising in order.items():
        choose(browser, "sort", field)
        found = numbers(browser, field)
        assert len(set(found)) > 1
        assert found == sorted(found, reverse=not rising)
    choose(browser, "sort", "order")
    assert numbers(browser, "number") == before

    choose(browser, "kind", "wrong")
    shown = [one for one in all_of(browser, "article") if one.is_displayed()]
    assert 0 < len(shown) < len(before)
    assert {one.get_attribute("data-kind") for one in shown} == {"wrong"}
    assert one_of(browser, "#shown").text == f"{len(shown)} of {len(before)} documents"
    choose(browser, "kind", "")
    choose(browser, "label", "pos")
    shown = [one for one in all_of(browser, "article") if one.is_displayed()]
    assert {one.get_attribute("data-label") for one in shown} == {"pos"}
    choose(browser, "label", "")
    one_of(browser, "#query").send_keys("zyzzyva")
    assert numbers(browser, "number") == []
    one_of(browser, "#query").clear()
    one_of(browser, "#query").send_keys("x")  # clearing alone tells the page nothing
    assert 0 < len(numbers(browser, "number")) <= len(before)


@pytest.mark.thorough
@pytest.mark.parametrize("field", ["length", "evidence"])
def test_documents_are_filtered_by_thirds(browser: Chrome, page: Path, field: str) -> None:
    from selenium.webdriver.support.select import Select

    show(browser, page)
    before = sorted(numbers(browser, "number"))
    options = [
        one.get_attribute("value") for one in Select(one_of(browser, f"#by-{field}")).options
    ]
    shown, values = [], []
    for option in options[1:]:
        choose(browser, f"by-{field}", str(option))
        shown += numbers(browser, "number")
        values.append(numbers(browser, field))
    assert sorted(shown) == before  # each document is of one third
    assert all(values)
    assert max(values[0]) < min(values[1]) <= max(values[1]) < min(values[2])


@pytest.mark.thorough
def test_filters_are_of_all_that_are_chosen(browser: Chrome, page: Path) -> None:
    show(browser, page)
    choose(browser, "kind", "wrong")
    choose(browser, "predicted", "neg")
    shown = [one for one in all_of(browser, "article") if one.is_displayed()]
    assert shown
    assert {one.get_attribute("data-predicted") for one in shown} == {"neg"}
    assert {one.get_attribute("data-label") for one in shown} == {"pos"}


@pytest.mark.thorough
def test_an_example_of_the_verdict_opens_its_document(browser: Chrome, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    show(browser, page)
    choose(browser, "kind", "right")  # which would hide it
    link = all_of(browser, ".examples a")[-1]
    link.send_keys(Keys.ENTER)
    document = one_of(browser, str(link.get_dom_attribute("href")))
    assert document.get_attribute("data-kind") == "wrong"
    assert document.find_element("css selector", ".lines").is_displayed()


@pytest.mark.thorough
def test_documents_unfold(browser: Chrome, page: Path) -> None:
    show(browser, page)
    button, inside = one_of(browser, "#fold"), all_of(browser, "article .lines")
    assert 0 < sum(one.is_displayed() for one in inside) < len(inside)
    assert button.text == "Open all"
    button.click()
    assert all(one.is_displayed() for one in inside)
    assert button.text == "Close all"
    button.click()
    assert not any(one.is_displayed() for one in inside)


@pytest.mark.thorough
def test_tables_are_sorted_by_keyboard(browser: Chrome, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    show(browser, page)
    table = one_of(browser, "#words table")
    heads = table.find_elements("css selector", "th[scope=col]")
    for place, head in enumerate(heads):
        button = head.find_element("css selector", "button")
        told = []
        for _ in range(2):
            button.send_keys(Keys.ENTER)
            rows = table.find_elements("css selector", "tbody tr")
            cells = [row.find_elements("css selector", "th, td")[place].text for row in rows]
            order: list[Any] = [float(cell) for cell in cells] if place else cells
            way = head.get_attribute("aria-sort")
            assert way is not None
            told.append(way)
            if place:
                assert order == sorted(order, reverse=way == "descending")
        assert set(told) == {"ascending", "descending"}
        assert len(table.find_elements("css selector", "[aria-sort]")) == 1


def test_everything_has_a_name_and_can_be_reached(browser: Chrome, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    show(browser, page)
    for one in all_of(browser, "a, button, input, select, summary, svg[role=img], [tabindex]"):
        if one.is_displayed():
            assert one.accessible_name or one.text, one.get_attribute("outerHTML")
    levels = [int(one.tag_name[1]) for one in all_of(browser, "h1, h2, h3, h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert [one.get_attribute("id") for one in all_of(browser, "main")] == ["main"]

    one_of(browser, "body").send_keys(Keys.TAB)
    first = browser.switch_to.active_element
    assert first.text == "Skip to the content"
    assert first.is_displayed()
    browser.execute_script(
        "window.reached = new Set();"
        "addEventListener('focusin', (event) => reached.add(event.target))"
    )
    first.send_keys(Keys.TAB * 300)
    wanted = "a[href^='#']:not(.skip), button, input, select, summary, .scroll, pre"
    missed = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((one) => "
        "one.checkVisibility() && !reached.has(one)).map((one) => one.outerHTML)",
        wanted,
    )
    assert missed == []


@pytest.mark.thorough
@pytest.mark.parametrize("theme", THEMES)
def test_contrast(browser: Chrome, page: Path, theme: str) -> None:
    show(browser, page, theme=theme)
    for one in all_of(browser, "details"):
        browser.execute_script("arguments[0].open = true", one)
    found = browser.execute_script(CONTRAST)
    assert {"MARK.p5", "MARK.n1", "P.", "A.", "text.tick"} <= set(found)
    assert {name: ratio for name, ratio in found.items() if ratio < LEAST_CONTRAST} == {}


@pytest.mark.thorough
def test_light_and_dark(browser: Chrome, page: Path) -> None:
    def back() -> str:
        return one_of(browser, "body").value_of_css_property("background-color")

    show(browser, page, theme="light")
    light = back()
    one_of(browser, "#theme").click()
    dark = back()
    show(browser, page, theme="dark")
    assert back() == dark != light
    one_of(browser, "#theme").click()
    assert back() == light


@pytest.mark.thorough
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_is_wider_than_the_screen(browser: Chrome, page: Path, width: int) -> None:
    show(browser, page, width=width)
    for one in all_of(browser, "details"):
        browser.execute_script("arguments[0].open = true", one)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    wide = browser.execute_script(
        """return [...document.body.querySelectorAll("*")].filter((one) =>
             !one.closest(".scroll, nav, .skip, .preview, svg")
             && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML)"""
    )
    assert wide == []


@pytest.mark.thorough
def test_buttons_are_large_enough_for_a_thumb(browser: Chrome, page: Path) -> None:
    show(browser, page, width=360)
    for one in all_of(browser, "#theme, #fold, #controls select, #controls input, summary"):
        if one.is_displayed():
            assert one.size["height"] >= 24, one.get_attribute("outerHTML")  # WCAG 2.2, 2.5.8


@pytest.mark.filterwarnings("ignore:.* of the documents hold HTML")
def test_no_script_of_a_corpus_runs(browser: Chrome, tmp_path: Path) -> None:
    attack = (
        HOSTILE + "<svg onload=\"document.title='taken'\"></svg><iframe src='javascript:alert(1)'>"
        "</iframe>&lt;script&gt;alert(2)&lt;/script&gt;<a href='https://example.org/x'>link</a>"
        "<style>*{display:none}</style><meta http-equiv=refresh content='0;url=https://x.org'>"
    )
    texts = [f"{attack} {'good' if k % 2 else 'bad'} {k}" for k in range(12)]
    labels = ["\"><script>document.title='taken'</script>", "'><img src=x onerror=alert(3)>"] * 6
    corpus = Corpus(texts=texts, labels=labels)
    model = textreg.train(texts, labels, reg="lasso", reg_l1=0.1, ngrams=1)
    path = tmp_path / "page.html"
    report(model, corpus, train=corpus, title="</title><script>document.title=1</script>").save(
        path
    )
    show(browser, path)
    assert requests(browser) == {path.as_uri()}
    assert browser.get_log("browser") == []
    assert browser.title.startswith("</title><script>")
    assert len(all_of(browser, "script")) == 1
    assert all_of(browser, "iframe, img, article a, article style, article script") == []
    one_of(browser, "#fold").click()
    shown = one_of(browser, "article .lines").text
    assert "<script>document.title='taken'</script>" in shown
    assert "[U+202E]" in shown
    choose(browser, "label", labels[0])
    assert 0 < len(numbers(browser, "number")) < 12


@pytest.mark.thorough
def test_it_can_be_read_without_scripts(page: Path) -> None:
    driver = start(script=False)
    try:
        driver.get(page.as_uri())
        assert not one_of(driver, "#controls").is_displayed()
        assert not one_of(driver, "#theme").is_displayed()
        inside = all_of(driver, "article .lines")
        assert inside[0].is_displayed()
        hidden = next(one for one in all_of(driver, "article") if not one.text.count("\n") > 3)
        hidden.find_element("css selector", "summary").click()
        assert hidden.find_element("css selector", ".lines").is_displayed()
    finally:
        driver.quit()


@pytest.mark.thorough
def test_on_paper_nothing_is_folded_dark_or_in_the_way(browser: Chrome, page: Path) -> None:
    show(browser, page)
    light = one_of(browser, "body").value_of_css_property("background-color")
    show(browser, page, width=718, theme="dark")  # A4 less its margins
    for _ in range(2):
        one_of(browser, "#theme").click()  # to light and back, so that the page says so itself
    dark = one_of(browser, "body").value_of_css_property("background-color")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert one_of(browser, "body").value_of_css_property("background-color") == light != dark
        browser.execute_script("dispatchEvent(new Event('beforeprint'))")
        assert all(one.is_displayed() for one in all_of(browser, "article .lines"))
        assert not any(one.is_displayed() for one in all_of(browser, "nav, #theme, #controls"))
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 718
        browser.execute_script("dispatchEvent(new Event('afterprint'))")
        assert not all(one.is_displayed() for one in all_of(browser, "article .lines"))
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
