"""Exported models answer as the models do, without textreg."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html.entities import html5
from itertools import islice
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from conftest import Cli
from exports import (
    FIELDS,
    HTML,
    OPTIONS,
    PIECES,
    answers,
    difference,
    model_of,
    random_rows,
    random_texts,
    reviews_model,
    tickets_model,
)
from hypothesis import example, given
from thoroughness import draws

import textreg
from textreg.errors import BrokenPluginError, PluginError, RecordError, UsageError
from textreg.features.markup import strip_html
from textreg.kinds import Exporter
from textreg.measure.decisions import Calibration
from textreg.model.model import Model
from textreg.plugins import registry
from textreg.records.plain_model import PlainModel
from textreg_export.characters import case_map, runs_of
from textreg_export.description import describe, export
from textreg_export.formats import JsonExporter
from textreg_export.runtime.predictor import Predictor

TEXTS = [*random_texts(40, html=False), "", " ", "The acting is superb. A box!", "Σ ΟΔΟΣ. ΑΣ Σ"]
LIMIT = 1e-9

ASK = """
import json, runpy, sys
module = runpy.run_path(sys.argv[1])
found = []
for text in json.load(open(sys.argv[2])):
    answer = {"scores": module["scores"](text), "label": module["predict"](text)}
    answer["probabilities"] = module["probabilities"](text) if PROBABILITIES else None
    found.append({**answer, "explanation": module["explain"](text)})
print(json.dumps({"modules": sorted(sys.modules), "answers": found}))
"""


def predictor(model: Model) -> Predictor:
    """The runtime with the description of a model, by way of JSON."""
    return Predictor(json.loads(export(model, registry.create("exporter", "json"))))


def said(found: Predictor, text: Any) -> dict[str, Any]:
    chances = found.probabilities(text) if found.given["probabilities"] else None
    answer = {"scores": found.scores(text), "label": found.predict(text)}
    return {**answer, "probabilities": chances, "explanation": found.explain(text)}


def run_python(model: Model, texts: Sequence[Any], folder: Path) -> list[Any]:
    """What the exported Python file answers in a process that finds no other package."""
    file, given = folder / "model.py", folder / "texts.json"
    file.write_bytes(export(model, registry.create("exporter", "python")))
    given.write_text(json.dumps(texts))
    code = ASK.replace("PROBABILITIES", str(model.has_probabilities))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, file, given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert not {"numpy", "textreg", "scipy"} & set(told["modules"])
    found: list[Any] = told["answers"]
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OPTIONS)
def test_the_description_answers_as_the_model(name: str) -> None:
    model = model_of(name)
    found, texts = predictor(model), [*TEXTS, *random_texts(40, seed=2)]
    assert difference([said(found, text) for text in texts], answers(model, texts)) < LIMIT


@given(st.lists(st.sampled_from(PIECES + HTML) | st.characters(), max_size=25).map("".join))
@example("1. A superb plot. 2. Dull.")  # no sentence ends after a number that begins one
@draws(20)
def test_any_text(text: str) -> None:
    for name in OPTIONS:
        model = model_of(name)
        assert difference([said(_known(name), text)], answers(model, [text])) < LIMIT


@cache
def _known(name: str) -> Predictor:
    return predictor(model_of(name))


def test_the_python_file_needs_nothing_else(tmp_path: Path) -> None:
    model = model_of("the default")
    assert difference(run_python(model, TEXTS, tmp_path), answers(model, TEXTS)) < LIMIT


@pytest.mark.parametrize("labels", [2, 3])
def test_documents_of_several_fields(labels: int) -> None:
    model = tickets_model(labels)
    found, rows = predictor(model), [*random_rows(60, seed=11), dict.fromkeys(FIELDS)]
    rows += [{**rows[0], "price": price} for price in (1e300, -1.7e308)]
    wanted = answers(model, rows)
    assert difference([said(found, row) for row in rows], wanted) < LIMIT
    fields = {one["field"] for each in wanted for one in each["explanation"]["sentences"]}
    assert fields == {*FIELDS}
    for label in model.labels:
        one = found.explain(rows[0], label)
        assert difference(one, model.explain(rows[0], label).to_dict()) < LIMIT


def test_fields_of_a_sparse_model() -> None:
    model = tickets_model(2, reg="lasso", reg_l1=1.5)
    found, rows = predictor(model), random_rows(40, seed=12)
    assert difference([said(found, row) for row in rows], answers(model, rows)) < LIMIT


def test_the_python_file_reads_fields(tmp_path: Path) -> None:
    model, rows = tickets_model(), random_rows(20, seed=13)
    assert difference(run_python(model, rows, tmp_path), answers(model, rows)) < LIMIT
    given = "\n".join(map(json.dumps, rows[:2]))
    done = subprocess.run(
        [sys.executable, "-I", tmp_path / "model.py"], input=given, capture_output=True, text=True
    )
    labels = [json.loads(line)["label"] for line in done.stdout.splitlines()]
    assert labels == model.predict(rows[:2])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no JSON", "Expecting value"),
        (json.dumps({**random_rows(1)[0], "price": "cheap"}), "'cheap' is not a number"),
    ],
)
def test_a_line_that_is_no_document_is_named(tmp_path: Path, line: str, reason: str) -> None:
    file, row = tmp_path / "model.py", random_rows(1, seed=13)[0]
    file.write_bytes(export(tickets_model(), registry.create("exporter", "python")))
    given = f"{json.dumps(row)}\n{line}\n"
    done = subprocess.run(
        [sys.executable, "-I", file], input=given, capture_output=True, text=True, check=False
    )
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)
    assert done.stderr.startswith("line 2 is not a document of this model: ")
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("text", "is a dict with the title, body, brand, price, not 'text'"),
        ({"the title": "a", "body": "b", "brand": "c"}, "has no field 'price'"),
        ({**random_rows(1)[0], "price": "cheap"}, "field 'price': 'cheap' is not a number"),
        ({**random_rows(1)[0], "price": float("inf")}, "is not a number"),
        ({**random_rows(1)[0], "body": 3}, "field 'body': 3 is not a text"),
        ({**random_rows(1)[0], "brand": []}, "neither a text nor a number"),
    ],
)
def test_what_is_no_document_of_the_fields(row: Any, reason: str) -> None:
    model = _tickets()
    with pytest.raises(ValueError, match=reason):
        model.predict(row)


@cache
def _tickets() -> Predictor:
    return predictor(tickets_model())


def test_documents_that_are_tokens() -> None:
    lists = [["a", "good", "film"], [["a"], ["bad", "film"]], [], [[]], ["x", "good"]]
    model = textreg.train(lists[:2] * 4, ["pos", "neg"] * 4, reg="ridge", reg_l2=0.2)
    found = predictor(model)
    scores = [found.scores(one) for one in lists]
    assert difference(scores, model.task.as_table(model.decision_function(lists)).tolist()) < LIMIT
    assert [found.predict(one) for one in lists] == model.predict(lists)
    with pytest.raises(ValueError, match="have no places"):
        found.explain(lists[0])
    for wrong in ("a good film", {"a": 1}, [1, 2], [["a"], "b"]):
        with pytest.raises(ValueError, match="is a list of tokens"):
            found.predict(wrong)


@pytest.mark.parametrize("lowercase", [False, True])
def test_whole_texts(lowercase: bool) -> None:
    texts = ["ΑΣ b", "  ΑΣ\u3000B ", "straße", "İ", "ΑΣ b\n", "", " ", "new"]
    options = {"tokenizer": "value,words", "tokenizer_value_lowercase": lowercase}
    model = textreg.train(texts[:4] * 2, ["a", "b"] * 4, reg="ridge", reg_l2=0.1, **options)
    found = predictor(model)
    assert difference([said(found, text) for text in texts], answers(model, texts)) < LIMIT


def test_the_python_file_reads_lines(tmp_path: Path) -> None:
    model = model_of("the default")
    file = tmp_path / "model.py"
    file.write_bytes(export(model, registry.create("exporter", "python")))
    lines = ["A superb film.", "An awful one."]
    done = subprocess.run(
        [sys.executable, "-I", file], input="\n".join(lines), capture_output=True, text=True
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    wanted = [{"text": t, "label": y} for t, y in zip(lines, model.predict(lines), strict=True)]
    assert told == wanted


def changed(model: Model, **fields: Any) -> Model:
    """The same model with something else about its answers."""
    given = {"calibration": model.calibration, "thresholds": model.thresholds, **fields}
    task = given.pop("task", model.task)
    return Model(task, model.encoder, model.weights, model.intercepts, **given)


CURVES = Calibration("isotonic", curves=(((-0.5, 0.0, 0.7), (0.2, 0.4, 0.9)),))


@cache
def tasks() -> dict[str, Model]:
    """Models of every task, with what may change their answers."""
    two, four = model_of("the default"), reviews_model(labels=4)
    softmax = reviews_model(labels=4, multiclass="softmax")
    texts, sets = TEXTS[:40], [[["a"], ["a", "b"], [], ["c"]][at % 4] for at in range(40)]
    several = textreg.train([f"x {t}" for t in texts], sets, reg="ridge", reg_l2=1.0)
    numbers = textreg.train(
        [f"x {t}" for t in texts],
        [str(len(t)) for t in texts],
        task="regression",
        reg="ridge",
        reg_l2=1.0,
    )
    hinge = reviews_model(loss="squared-hinge", weighting="tfidf", max_features=500)
    first, second = two.labels
    return {
        "a threshold": changed(two, thresholds={second: 0.2}),
        "one of the first": changed(two, thresholds={first: -0.3}),
        "temperature": changed(two, calibration=Calibration("temperature", 0.4)),
        "curves": changed(two, calibration=CURVES),
        "unknown": changed(
            two, task=replace(two.task, unknown="none"), thresholds={"none": 0.5, first: 0.1}
        ),
        "four": changed(four, thresholds={four.labels[1]: 0.4}),
        "four unknown": changed(
            four, task=replace(four.task, unknown="none"), thresholds={"none": -0.5}
        ),
        "four curves": changed(four, calibration=replace(CURVES, curves=CURVES.curves * 4)),
        "softmax": softmax,
        "softmax curves": changed(softmax, calibration=replace(CURVES, curves=CURVES.curves * 4)),
        "several": several,
        "at least one": changed(several, task=replace(several.task, at_least_one=True)),  # type: ignore[call-arg]
        "numbers": numbers,
        "hinge": hinge,
    }


def test_every_task_is_answered() -> None:
    texts = TEXTS[32:]
    for name, model in tasks().items():
        exported, wanted = predictor(model), answers(model, texts)
        found = [said(exported, text) for text in texts]
        if not model.labels:  # the number once more, as text
            for one in (*found, *wanted):
                assert float(one["explanation"].pop("label")) == one["label"]
        assert difference(found, wanted) < LIMIT, name
        for label in model.labels:
            one = exported.explain(TEXTS[-2], label)
            assert difference(one, model.explain(TEXTS[-2], label).to_dict()) < LIMIT, name


def test_stop_words_and_sentences(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("the\nis\na\nx\n")
    model = reviews_model(stop_words=str(tmp_path / "stop.txt"), tokenizer="words", ngrams=3)
    texts = [*TEXTS, "The film. It is. A."]
    assert (
        difference([said(predictor(model), text) for text in texts], answers(model, texts)) < LIMIT
    )


def test_labels_and_features_may_be_anything(tmp_path: Path) -> None:
    labels = ['</script>"""', "'''\\u003c\\"]
    texts = ['a """ b', "a ''' c </scrip"] * 4
    options = {"tokenizer": "chars", "reg": "ridge", "reg_l2": 0.1}
    model = textreg.train(texts, labels * 4, **options)
    assert difference(run_python(model, texts, tmp_path), answers(model, texts)) < LIMIT
    made = export(model, registry.create("exporter", "json")).decode()
    assert made.isascii()
    assert "<" not in made


def test_html_is_removed_as_in_training() -> None:
    html = predictor(model_of("without HTML")).characters.html
    assert html is not None
    codes = [*range(200), 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFDD0, 0x1FFFE, 0x10FFFF, 0x110000]
    texts = [*random_texts(400, seed=5), *html5, *(f"&{name}" for name in html5)]
    texts += [f"a &#{code}; &#x{code:x};" for code in codes]
    for text in texts:
        stripped, begins, ends = html.strip(text)
        assert stripped == strip_html(text)
        assert len(begins) == len(ends) == len(stripped) + 1


def test_what_cannot_be_exported_is_refused() -> None:
    def split(text: str) -> list[str]:
        return text.split()

    texts, labels = ["a good film", "a bad film"] * 3, ["pos", "neg"] * 3
    options = {"reg": "ridge", "reg_l2": 1.0}
    with pytest.raises(UsageError, match=r"split' cannot be exported: its code"):
        describe(textreg.train(texts, labels, tokenizer=split, **options))
    with pytest.raises(UsageError, match="must be a Model"):
        describe("model.textreg")  # type: ignore[arg-type]


def test_a_format_may_be_named() -> None:
    model = textreg.train(["good", "bad"] * 3, ["pos", "neg"] * 3, reg="ridge", reg_l2=1.0)
    assert export(model, "json") == export(model, JsonExporter()) == export(model, JsonExporter)
    with pytest.raises(PluginError, match=r"no exporter 'jsn'\. Did you mean 'json'"):
        export(model, "jsn")


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    saved, target = tmp_path / "m.textreg", tmp_path / "m.py"
    model_of("as given").save(saved)
    done = cli("export", saved, "--to", "python", "-o", target)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"saved {target} (")
    done = cli("export", saved, "--to", "python", "-o", target, "--json")
    size = target.stat().st_size
    wanted = {"model": str(saved), "to": "python", "file": str(target), "bytes": size}
    assert json.loads(done.out) == wanted
    assert cli("export", saved, "--to", "json", "-o", saved).code == 2
    missing = cli("export", saved, "--to", "jsom", "-o", target)
    assert missing.code == 2
    assert "Did you mean 'json'?" in missing.err
    assert cli("export", saved, "--to", "json", "-o", "-", "--json").code == 2
    code = "import sys; from textreg.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "export", saved, "--to", "json", "-o", "-"]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert piped == export(model_of("as given"), registry.create("exporter", "json"))


class Empty(Exporter):
    """Nothing."""

    name = "empty"
    suffix = ".txt"

    def export(self, model: PlainModel) -> bytes:
        return b""


class Text(Empty):
    """A text in place of bytes, which no message should repeat."""

    def export(self, model: PlainModel) -> Any:
        return 10_000 * "long "


def test_every_part_of_a_plain_model_has_a_row_for_each_label() -> None:
    model = describe(model_of("the default"))
    assert len(model.parts) == 2
    short = replace(model.parts[1], weights=np.zeros((0, len(model.parts[1].names))))
    with pytest.raises(RecordError, match="a row of weights for each intercept"):
        replace(model, parts=[model.parts[0], short])


class Writes(Empty):
    """Writes."""

    def export(self, model: PlainModel) -> bytes:
        model.parts[0].weights[0] = 0.0
        return b"done"


def test_a_broken_exporter_is_named() -> None:
    Empty.__module__ = Text.__module__ = Writes.__module__ = "acme"
    with pytest.raises(BrokenPluginError, match=r"must give bytes, one at least, not none\."):
        export(model_of("as given"), Empty())
    with pytest.raises(BrokenPluginError, match=r"one at least, not of the type str\."):
        export(model_of("as given"), Text())
    with pytest.raises(BrokenPluginError, match="read-only"):
        export(model_of("as given"), Writes())


@given(st.sets(st.characters()))
def test_runs_hold_their_characters(letters: set[str]) -> None:
    from textreg_export.runtime.predictor import Runs, _ranges

    runs = Runs(_ranges(runs_of(letters)))
    near = {chr(min(max(ord(c) + step, 0), 0x10FFFF)) for c in letters for step in (-1, 0, 1)}
    assert {c for c in near if c in runs} == letters
    assert set(map(chr, runs.points())) == letters


def test_case_maps_hold_every_letter() -> None:
    from textreg_export.runtime.predictor import _case_map

    for of in (str.lower, str.casefold):
        found = _case_map(case_map(of))
        assert found == {c: of(c) for c in map(chr, range(0x110000)) if of(c) != c}


@pytest.mark.thorough
def test_corpora(data_dir: Path, tmp_path: Path) -> None:
    from textreg.reading.corpus import read_corpus

    for name in ("trec", "languages/chnsenticorp", "nsmc"):
        file = next(
            path
            for part in ("train", "all")
            if (path := data_dir / "data" / name / f"{part}.jsonl.gz").exists()
        )
        some = tmp_path / "some.jsonl"
        with gzip.open(file, "rb") as lines:
            some.write_bytes(b"".join(islice(lines, 0, 5000, 20)))
        corpus = read_corpus([str(some)])
        model = textreg.train(corpus.texts, corpus.labels, reg="ridge", reg_l2=1.0)
        texts = [str(text) for text in corpus.texts[:60]]
        found = predictor(model)
        assert difference([said(found, text) for text in texts], answers(model, texts)) < LIMIT
