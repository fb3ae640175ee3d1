"""The contract of exporters: what their files answer is what the models answer."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory
from typing import Any

import textreg
from textreg.errors import DataWarning, UsageError
from textreg.isolation import cause_of
from textreg.kinds import Exporter
from textreg.plugins import calls
from textreg.records.plain_model import PlainModel
from textreg_testing.checks import Check, Skipped, contract, require
from textreg_testing.repeated import Repeats, common_checks, repeated_checks
from textreg_testing.texts import LABELS, MODELS, OPINIONS, TEXTS

# What a file answers of documents, by what it is: scores, labels, probabilities, explanations.
Answers = Mapping[str, Sequence[Any]]
# Reads the answers of a file.
Reader = Callable[[Path, Sequence[Any]], Answers]

# Places in a text, which other languages count in another way.
_PLACES = frozenset(("start", "end"))

# How near numbers must be: they are printed with all of their digits, and added in any order.
_CLOSE = 1e-9

# Models of two labels, but for what decides about answers.
_DECISIVE = (
    *("a threshold", "logarithms", "HTML", "the length of known features", "a field"),
    *("several fields", "lists of tokens"),
)

checks = common_checks("exporter", "exporter-")


def exporter_checks(answers: Reader | None = None) -> list[Check]:
    """The checks of exporters, in order.

    Parameters
    ----------
    answers : callable, optional
        Called with the path of a written file and a list of documents; gives what the file answers
        of them as a dict of lists, with any of the keys ``scores``, ``labels``, ``probabilities``.
        Of modules of Python, and JSON as textreg writes it, they are known.

    Returns
    -------
    list of Check
    """
    return checks.of(lambda declared: (answers or declared.answers or answers_of,))


check_exporter = contract(exporter_checks)


def answers_of(path: Path, documents: Sequence[Any]) -> Answers:
    """What a file answers, by its suffix; nothing where no way to ask it is known."""
    if path.suffix == ".py":
        return _asked(run_path(str(path), run_name=path.stem).get, documents)
    if path.suffix == ".json":
        document = json.loads(path.read_bytes())
        if isinstance(document, dict) and document.get("format") == "textreg-export":
            return _predicted(document, documents)
    return {}


def _predicted(model: dict[str, Any], documents: Sequence[Any]) -> Answers:
    """What a model answers, by its description."""
    from textreg_export.runtime.predictor import Predictor

    return _asked(partial(getattr, Predictor(model)), documents)


# The functions of a file that give its answers.
_FUNCTIONS = {
    "scores": "scores",
    "probabilities": "probabilities",
    "labels": "predict",
    "explanations": "explain",
}


def _asked(function: Callable[[str], Any], documents: Sequence[Any]) -> Answers:
    """The answers of the functions that there are; None for those that a model has not."""

    def ask(call: Callable[[Any], Any], document: Any) -> Any:
        try:
            return call(document)
        except ValueError:  # as of probabilities, where there are none
            return None

    called = {key: function(name) for key, name in _FUNCTIONS.items()}
    return {key: [ask(call, it) for it in documents] for key, call in called.items() if call}


@checks.add("answers")
def _answers(exporter: Exporter, read: Reader) -> None:
    """The written file, where it can be asked, answers as the model does: the scores, labels,
    probabilities and explanations that its format has, of texts of every kind, by models of every
    kind that it does not refuse."""
    wrong: list[str] = []
    asked = 0
    with TemporaryDirectory() as folder:
        for number, (name, model) in enumerate(models().items()):
            exported = _export(exporter, model)
            if isinstance(exported, str):
                continue
            path = Path(folder, f"model_{number}{exporter.suffix}")
            path.write_bytes(exported)
            documents = documents_for(model)
            try:
                answers = read(path, documents)
            except Exception as error:  # noqa: BLE001  # of the file, or of who reads it
                wrong.append(f"{name}: {cause_of(error)}")
                continue
            asked += bool(answers)
            faults = list(_differences(model, documents, answers))
            wrong += [f"{name}: {fault} ({len(faults):,} differences)" for fault in faults[:1]]
    if not asked and not wrong:
        raise Skipped(
            f"nobody knows how to ask a {exporter.suffix} file: say it, by [tool.textreg.check] "
            "answers = 'module:function' or exporter_checks(answers=function)"
        )
    require(not wrong, "the answers of the models", "\n  ".join(["others:", *wrong]))


def _differences(model: PlainModel, documents: Sequence[Any], answers: Answers) -> Iterator[str]:
    """What a file answers in another way than its model."""
    known = _predicted(json.loads(json.dumps(model.to_dict())), documents)
    for key in [key for key in _FUNCTIONS if answers.get(key) is not None]:
        if len(answers[key]) != len(documents):
            yield f"{len(answers[key])} {key} of {len(documents)} documents"
            continue
        for document, got, expected in zip(documents, answers[key], known[key], strict=True):
            if got is not None and expected is not None and not _same(got, expected):
                yield f"{key} of {document!r:.60} are {got!r:.120} instead of {expected!r:.120}"


def _same(got: Any, expected: Any) -> bool:
    """Whether an answer is that of the model; of an explanation, as far as it goes."""
    if isinstance(expected, dict) and isinstance(got, (list, tuple)):  # in the order of labels
        return _same(got, list(expected.values()))
    if isinstance(expected, dict):
        shared = got.keys() & expected.keys() - _PLACES if isinstance(got, dict) else ()
        return all(_same(got[key], expected[key]) for key in shared)
    if isinstance(expected, (list, tuple)):
        if len(expected) == 1 and not isinstance(got, (list, tuple)):
            return _same(got, expected[0])
        same_length = isinstance(got, (list, tuple)) and len(got) == len(expected)
        return same_length and all(map(_same, got, expected))
    if isinstance(expected, float) and isinstance(got, (int, float)):
        return math.isclose(got, expected, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return bool(got == expected)


def _export(exporter: Exporter, model: PlainModel) -> bytes | str:
    """The file of a model, or the reason why there is none."""
    try:
        return calls.export(exporter, model)
    except UsageError as error:
        return str(error)


def _all(exporter: Exporter) -> dict[str, bytes | str]:
    """The files of the models, or the reasons why there are none."""
    return {name: _export(exporter, model) for name, model in models().items()}


@checks.add("result", level=checks.RESULT)
def _result(exporter: Exporter, read: Reader) -> None:
    """export gives bytes for a model of two labels and counts of words at least, which differ where
    its weights do, and leaves the model as it was."""
    model = two_labels()
    before = json.dumps(model.to_dict())
    exported = _export(exporter, model)
    require(isinstance(exported, bytes), "a model of two labels to be exported", repr(exported))
    require(json.dumps(model.to_dict()) == before, "the model as it was", "another")
    part = model.parts[0]
    other = replace(model, parts=(replace(part, weights=part.weights + 0.5),))
    require(_export(exporter, other) != exported, "another file for other weights", "the same")
    suffix = exporter.suffix
    good = isinstance(suffix, str) and suffix.startswith(".") and len(suffix) > 1
    require(good, "the ending of its files as suffix, such as '.json'", repr(suffix))


@checks.add("reasons")
def _reasons(exporter: Exporter, read: Reader) -> None:
    """A model that the format cannot express is refused with a UsageError that says why."""
    for name, exported in _all(exporter).items():
        explained = isinstance(exported, bytes) or len(exported.split()) >= 4
        require(explained, f"a reason in words why {name} cannot be exported", repr(exported))


@checks.add("labels")
def _labels(exporter: Exporter, read: Reader) -> None:
    """What decides about labels is in the file, or the model is refused: thresholds, the unknown
    label, the task, the length of rows, the fields of a document, whether it is a list of tokens,
    and whether HTML is removed; and of a format with probabilities the calibration."""
    every = _all(exporter)
    plain = every["two labels"]
    calibrated = ("a temperature", "curves") if every["no probabilities"] != plain else ()
    for name in (*_DECISIVE, *calibrated):
        require(every[name] != plain, f"another file for {name}", "the same")
    several = ("several labels", "softmax", "lists of labels", "an unknown label")
    files = [exported for name in several if isinstance(exported := every[name], bytes)]
    require(len(set(files)) == len(files), "another file for every task", "the same for some")


def _tasks(exporter: Exporter, read: Reader) -> list[PlainModel]:
    return list(models().values())


repeated_checks(checks, Repeats(_export, repr, _tasks, _tasks), threads=False)


@cache
def two_labels() -> PlainModel:
    """A model of two labels, from counts of words."""
    return trained()


def trained(labels: str = "two", **options: Any) -> PlainModel:
    """A model of some labels of our own, by their name, with other options than usual."""
    from textreg_export.description import describe  # imports models, which few checks need

    settings: dict[str, Any] = {"tokenizer": "words", "weighting": "count", "loss": "logistic"}
    settings |= {"ngrams": 1, "reg": "ridge", "reg_l2": 0.3, **options}
    rows: Sequence[Any] = OPINIONS * 2
    if "fields" in options:
        rows = [_row(text, number) for number, text in enumerate(rows)]
    if settings["tokenizer"] == "tokens":
        rows = [text.split() for text in rows]
        del settings["tokenizer"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of what looks like HTML
        return describe(textreg.train(rows, LABELS[labels] * 2, **settings))


def _row(text: str, number: int) -> dict[str, Any]:
    brands = ("Acme", "straße", None)
    return {"title": text, "brand": brands[number % 3], "price": (1.5, None, 20)[number % 3]}


def documents_for(model: PlainModel) -> list[Any]:
    """Documents of the form that a model takes, of every kind."""
    texts = [*OPINIONS, *TEXTS[:-1]]
    if model.fields:
        names = {field.name for field in model.fields}
        rows = [_row(text, number) for number, text in enumerate(texts)]
        return [{key: it for key, it in row.items() if key in names} for row in rows]
    return [it.split() for it in texts] if model.parts[0].tokenizer == "tokens" else texts


@cache
def models() -> dict[str, PlainModel]:
    """Models by what they show."""
    named = {"two labels": two_labels()}
    named |= {name: trained(**options) for name, options in MODELS.items()}
    two, three, several = (named[it] for it in ("two labels", "several labels", "lists of labels"))
    high = dict.fromkeys(several.labels, 9.0)
    curve, other = ([[-1.0, 0.5, 2.0], shares] for shares in ([0.1, 0.4, 0.9], [0.2, 0.3, 0.6]))
    each = {"method": "isotonic", "curves": [curve, other, curve]}
    (part,) = named["the length of all n-grams"].parts
    return named | {
        "a threshold": replace(two, thresholds={"it's good": 0.5}),
        "always a label": replace(several, at_least_one=True, thresholds=high),
        "no probabilities": replace(two, probabilities=False),
        "an unknown label": replace(three, unknown="other", thresholds={"other": 0.125}),
        "a temperature": replace(two, calibration={"method": "temperature", "temperature": 1.5}),
        "curves": replace(two, calibration={"method": "isotonic", "curves": [curve]}),
        "a curve for each label": replace(three, calibration=each),
        "stop words": replace(two, parts=(replace(part, stop_words=("the", "is")),)),
    }
