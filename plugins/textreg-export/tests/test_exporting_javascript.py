"""Exported JavaScript answers as the models do, in Node and in a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import show
from exports import (
    FIELDS,
    OPTIONS,
    answers,
    difference,
    model_of,
    random_rows,
    random_texts,
    tickets_model,
)
from test_exporting import TEXTS, tasks

import textreg
from textreg.model.model import Model
from textreg.plugins import registry
from textreg_export.description import export

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

LIMIT = 1e-9

ASK = """
import { readFileSync } from "node:fs";
const model = await import(process.argv[2]);
const found = JSON.parse(readFileSync(process.argv[3], "utf-8")).map((text) => ({
  scores: model.scores(text),
  label: model.predict(text),
  probabilities: PROBABILITIES ? model.probabilities(text) : null,
  explanation: model.explain(text),
}));
console.log(JSON.stringify(found));
"""


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no Node to run JavaScript: install nodejs")
    return found


def module_of(model: Model) -> str:
    return export(model, registry.create("exporter", "javascript")).decode()


def run_node(node: str, model: Model, texts: Sequence[Any], folder: Path) -> list[Any]:
    """What the module answers in Node, with offsets as Python counts characters."""
    code = ASK.replace("PROBABILITIES", str(model.has_probabilities).lower())
    (line,) = run_code(node, model, texts, folder, code)
    return counted(json.loads(line), model.encoder.documents(texts))


def run_code(node: str, model: Model, texts: Sequence[Any], folder: Path, code: str) -> list[str]:
    """The lines that a program in Node prints, which is given the module and the texts."""
    (folder / "model.mjs").write_text(module_of(model), encoding="utf-8")
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "ask.mjs").write_text(code)
    command = [node, folder / "ask.mjs", folder / "model.mjs", folder / "texts.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.removesuffix("\n").split("\n")


def counted(found: list[Any], texts: Sequence[Any]) -> list[Any]:
    """Answers with offsets in characters; in JavaScript some count as two."""
    for answer, text in zip(found, texts, strict=True):
        place = [at for at, c in enumerate(text) for _ in range(1 + (ord(c) > 0xFFFF))]
        place.append(len(text))
        explanation = answer["explanation"]
        for one in (*explanation["sentences"], *explanation["words"]):
            one["start"], one["end"] = place[one["start"]], place[one["end"]]
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", OPTIONS)
def test_node_answers_as_the_model(name: str, node: str, tmp_path: Path) -> None:
    model, texts = model_of(name), [*TEXTS, *random_texts(150, seed=7)]
    assert difference(run_node(node, model, texts, tmp_path), answers(model, texts)) < LIMIT


@pytest.mark.sampled(1)
@pytest.mark.parametrize("labels", [2, 3])
def test_documents_of_several_fields(labels: int, node: str, tmp_path: Path) -> None:
    model, rows = tickets_model(labels), [*random_rows(80, seed=11), dict.fromkeys(FIELDS)]
    rows += [{**rows[0], "price": price} for price in (1e300, -1.7e308)]
    assert difference(run_node(node, model, rows, tmp_path), answers(model, rows)) < LIMIT


def test_documents_that_are_tokens(node: str, tmp_path: Path) -> None:
    lists: list[Any] = [["a", "good", "film"], [["a"], ["bad", "film"]], [], [[]]]
    model = textreg.train(lists[:2] * 4, ["pos", "neg"] * 4, reg="ridge", reg_l2=0.2)
    code = ASK.replace("  explanation: model.explain(text),\n", "")
    code = code.replace("PROBABILITIES", "false")
    found = [json.loads(line) for line in run_code(node, model, lists, tmp_path, code)]
    assert [one["label"] for one in found[0]] == model.predict(lists)
    wanted = model.task.as_table(model.decision_function(lists)).tolist()
    assert difference([one["scores"] for one in found[0]], wanted) < LIMIT


WRONG = """
const model = await import(process.argv[2]);
import { readFileSync } from "node:fs";
for (const given of JSON.parse(readFileSync(process.argv[3], "utf-8"))) {
  try { console.log(JSON.stringify(model.predict(given))); }
  catch (error) { console.log(JSON.stringify(error.message)); }
}
"""


def test_what_is_no_document_of_the_fields(node: str, tmp_path: Path) -> None:
    model, row = tickets_model(), random_rows(1)[0]
    given = {
        "is an object with the title, body, brand, price": "text",
        "the document has no field 'price'": {"the title": "a", "body": "b", "brand": "c"},
        "field 'price': cheap is not a number": {**row, "price": "cheap"},
        "0x10 is not a number": {**row, "price": "0x10"},
        "field 'body': 3 is not a text": {**row, "body": 3},
        "neither a text nor a number": {**row, "brand": []},
    }
    said = run_code(node, model, list(given.values()), tmp_path, WRONG)
    assert len(said) == len(given)
    for reason, line in zip(given, said, strict=True):
        assert reason in line


@pytest.mark.thorough
def test_every_task_is_answered(node: str, tmp_path: Path) -> None:
    for name, model in tasks().items():
        found, wanted = run_node(node, model, TEXTS, tmp_path), answers(model, TEXTS)
        if not model.labels:  # the number once more, as text
            for one in (*found, *wanted):
                assert float(one["explanation"].pop("label")) == one["label"]
        assert difference(found, wanted) < LIMIT, name


def test_a_small_model_is_a_small_file() -> None:
    words = [f"word{number}" for number in range(129)]
    texts = [f"{word} and" for word in words] * 2
    labels = [("pos", "neg")[number % 2] for number in range(129)] * 2
    model = textreg.train(texts, labels, reg="ridge", reg_l2=1.0, tokenizer="words", ngrams=1)
    assert model.n_features == 130
    assert len(module_of(model).encode()) < 60_000


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["the default", "without HTML", "fields"])
def test_a_browser_answers_as_the_model(name: str, browser: Chrome, tmp_path: Path) -> None:
    if name == "fields":
        model, given = tickets_model(), random_rows(100, seed=9)
    else:
        model, given = model_of(name), [*TEXTS, *random_texts(100, seed=9), "</script><b>"]
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><meta charset=utf-8><title>model</title>\n"
        f"<script type=module>{module_of(model)}\n"
        "window.model = { scores, predict, probabilities, explain };</script>",
        encoding="utf-8",
    )
    show(browser, page)
    found = browser.execute_script(
        """return JSON.stringify(JSON.parse(arguments[0]).map((text) => ({
             scores: model.scores(text), label: model.predict(text),
             probabilities: model.probabilities(text), explanation: model.explain(text) })))""",
        json.dumps(given),
    )
    found = counted(json.loads(found), model.encoder.documents(given))
    assert difference(found, answers(model, given)) < LIMIT
    assert browser.get_log("browser") == []
