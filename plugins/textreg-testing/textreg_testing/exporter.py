"""The contract of exporters, and small models of every task that they are tried on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from textreg.errors import BrokenPluginError, UsageError
from textreg.kinds import Exporter
from textreg.plugins import calls, registry
from textreg.records.documents import Field
from textreg.records.plain_model import PlainModel, PlainPart
from textreg_export.characters import characters
from textreg_testing.checks import Repeats, common_checks, contract, fail, repeated_checks, require

# The files of the models, or the reasons why there are none.
Exported = dict[str, bytes | str]


_NAMES = ("bad", "bad film", "good", "good film", "straße", "</script>", '"', "\\", "ɡ\u0301", "😀")
_CHARS = (" g", "goo", "oo", 'ad"', "中")

# Models of two labels, but for what decides about answers.
_DECISIVE = (
    *("a threshold", "a temperature", "curves", "logarithms", "no probabilities", "HTML"),
    *("the length of known features", "a field", "several fields", "lists of tokens"),
)

checks = common_checks("exporter", "exporter-")
exporter_checks = checks.of
check_exporter = contract(exporter_checks)


def _export(exporter: Exporter, model: PlainModel) -> bytes | str:
    """The file of a model, or the reason why there is none."""
    try:
        return calls.export(exporter, model)
    except BrokenPluginError as error:
        fail("the content of a file", f"the error '{error.cause}'")
    except UsageError as error:
        return str(error)


def _all(exporter: Exporter, task: object = None) -> Exported:
    return {name: _export(exporter, model) for name, model in plain_models().items()}


@checks.add("result")
def _result(exporter: Exporter) -> None:
    """export gives bytes for a model of two labels and counts of words at least, which differ where
    its weights do, and leaves the model as it was."""
    model = plain_models()["two labels"]
    before = json.dumps(model.to_dict())
    made = _export(exporter, model)
    require(isinstance(made, bytes), "a model of two labels to be exported", repr(made))
    require(json.dumps(model.to_dict()) == before, "the model as it was", "another")
    other = plain_models()["two labels"]
    other.parts[0].weights[0, 0] += 0.5
    require(_export(exporter, other) != made, "another file for other weights", "the same")
    suffix = exporter.suffix
    good = isinstance(suffix, str) and suffix.startswith(".") and len(suffix) > 1
    require(good, "the ending of its files as suffix, such as '.json'", repr(suffix))


@checks.add("reasons")
def _reasons(exporter: Exporter) -> None:
    """A model that the format cannot express is refused with a UsageError that says why."""
    for name, made in _all(exporter).items():
        told = isinstance(made, bytes) or len(made.split()) >= 4
        require(told, f"a reason in words why {name} cannot be exported", repr(made))


@checks.add("labels")
def _labels(exporter: Exporter) -> None:
    """What decides about answers is in the file, or the model is refused: thresholds, the unknown
    label, the calibration, whether there is always a label, the length of rows, the fields of a
    document, whether it is a list of tokens, and whether HTML is removed."""
    every = _all(exporter)
    for name in _DECISIVE:
        require(every[name] != every["two labels"], f"another file for {name}", "the same")
    several = ("several labels", "softmax", "lists of labels", "an unknown label")
    files = [made for name in several if isinstance(made := every[name], bytes)]
    require(len(set(files)) == len(files), "another file for every task", "the same for some")


def _tasks(exporter: Exporter) -> list[None]:
    return [None]


repeated_checks(checks, Repeats(_all, dict, _tasks, _tasks), threads=False)


def plain_models() -> dict[str, PlainModel]:
    """Models by what they show."""
    pairs = _part("words", _NAMES, rows=1)
    single = tuple(name for name in _NAMES if " " not in name)
    words = replace(_part("words", single, rows=1), ngrams=1, term="count", norm="", idf=None)
    labels = ("neg", "pos")
    two = PlainModel(
        task="binary",
        labels=labels,
        probabilities=True,
        intercepts=np.array([0.25]),
        parts=(words,),
        characters=characters(marks=False, small=True),
        thresholds={},
        textreg="1.0",
    )
    both = (_part("words", _NAMES, rows=3), _part("chars", _CHARS, rows=3, prefix="chars: "))
    three = replace(
        two,
        task="one-vs-rest",
        labels=("ham", 'a "quoted" </label>', "späm"),
        intercepts=np.array([0.5, -0.25, 0.0]),
        parts=both,
    )
    unit = replace(pairs, norm="features", others={1.5: ["film", "seen"], 2.25: ["a film"]})
    fields = (Field("title"), Field("brand", "category"), Field("price", "number"))
    whole = replace(words, ngrams=1, term="binary")
    brand = replace(
        _named(whole, ("acme", "missing")),
        prefix="brand:",
        tokenizer="value",
        options={"lowercase": False},
        field="brand",
    )
    price = replace(
        _named(whole, ("", ":missing")),
        prefix="price",
        tokenizer="number",
        options={"mean": 2.5, "scale": 0.75},
        field="price",
    )
    curve = [[-1.0, 0.5, 2.0], [0.1, 0.4, 0.9]]
    return {
        "two labels": two,
        "a threshold": replace(two, thresholds={"pos": 0.5}),
        "several labels": three,
        "softmax": replace(three, task="softmax"),
        "lists of labels": replace(three, task="multilabel", at_least_one=True),
        "a regression": replace(two, task="regression", labels=(), probabilities=False),
        "no probabilities": replace(two, probabilities=False),
        "an unknown label": replace(three, unknown="other", thresholds={"other": 0.125}),
        "a temperature": replace(two, calibration={"method": "temperature", "temperature": 1.5}),
        "curves": replace(two, calibration={"method": "isotonic", "curves": [curve]}),
        "the length of known features": replace(two, parts=(unit,)),
        "logarithms": replace(two, parts=(replace(words, term="log"),)),
        "the length of all n-grams": replace(two, parts=(pairs,)),
        "a field": replace(two, fields=fields[:1], parts=(replace(words, field="title"),)),
        "several fields": replace(
            two, fields=fields, parts=(replace(words, field="title", prefix="title:"), brand, price)
        ),
        "lists of tokens": replace(two, parts=(replace(words, tokenizer="tokens", options={}),)),
        "HTML": replace(
            two,
            parts=(replace(words, strip_html=True),),
            characters=characters(marks=False, small=True, html=True),
        ),
    }


def _named(part: PlainPart, names: tuple[str, ...]) -> PlainPart:
    """A part with features of other names."""
    return replace(part, names=names, weights=part.weights[:, : len(names)])


def _part(tokenizer: str, names: tuple[str, ...], rows: int, prefix: str = "") -> PlainPart:
    weights = np.linspace(-1.0, 1.5, rows * len(names)).reshape(rows, len(names))
    return PlainPart(
        prefix=prefix,
        tokenizer=tokenizer,
        options=registry.create("tokenizer", f"textreg:{tokenizer}").params(),
        ngrams=2 if tokenizer == "words" else 1,
        term="sublinear",
        norm="ngrams",
        stop_words=(),
        names=names,
        idf=np.linspace(1.0, 3.0, len(names)),
        weights=weights,
        others={},
    )
