"""Exporters as strangers write them: a module of Python, a JSON file, and a table with SQL."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Exporter
from textreg.params import param
from textreg.plugins import registry
from textreg.records.plain_model import PlainModel
from textreg_testing import check_exporter

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]


def check(part: Any) -> None:
    """Hold an exporter to its contract, with what reads its files where only its author can."""
    skip = {"exporter-imports": "these parts share a module with tests"}
    check_exporter(part, answers=getattr(part, "reader", None), skip=skip)


Python: Any = registry.find("exporter", "python")
Json: Any = registry.find("exporter", "json")


class Module(Python):
    """A module of Python, with the predictor in it."""

    name = "module"

    def export(self, model: PlainModel) -> bytes:
        return super().export(self.changed(model))

    def changed(self, model: PlainModel) -> PlainModel:
        return model


class Document(Json):
    """The model as JSON."""

    name = "document"

    def export(self, model: PlainModel) -> bytes:
        return json.dumps(self.written(model.to_dict())).encode()

    def written(self, document: dict[str, Any]) -> dict[str, Any]:
        return document


class LabelsOnly(Python):
    """A module that answers with labels, and promises no more."""

    name = "labels-only"

    def export(self, model: PlainModel) -> bytes:
        code = super().export(replace(model, probabilities=True)).decode()
        end = code.index("labels = _PREDICTOR.labels")
        return (code[:end] + "predict = _PREDICTOR.predict\n").encode()


def read_sql(path: Path, documents: Sequence[str]) -> dict[str, list[Any]]:
    """What the database of a script answers."""
    words = registry.create("tokenizer", "textreg:words")
    found: dict[str, list[Any]] = {"scores": [], "labels": []}
    with sqlite3.connect(":memory:") as base:
        base.executescript(path.read_text(encoding="utf-8"))
        (intercept,) = base.execute("select weight from words where word = ''").fetchone()
        labels = [row[0] for row in base.execute("select label from labels order by number")]
        for text in documents:
            score = intercept
            for sentence in words(text):
                for word in sentence:
                    row = base.execute("select weight from words where word = ?", (word,))
                    score += (row.fetchone() or (0.0,))[0]
            found["scores"].append(score)
            found["labels"].append(labels[int(score > 0.0)])
    base.close()
    return found


class Sql(Exporter):
    """A script of SQL that makes a table of the weights of words."""

    name = "sql"
    suffix = ".sql"
    reader = staticmethod(read_sql)

    def export(self, model: PlainModel) -> bytes:
        (part, *rest) = model.parts
        plain = part.tokenizer == "words" and part.term == "count" and part.ngrams == 1
        if rest or not plain or part.norm or part.strip_html or model.fields:
            raise UsageError("a table has the weights of single words, whose counts add up.")
        if model.task != "binary" or model.thresholds or model.unknown:
            raise UsageError("a table has one column of weights: train on two labels.")
        lines = ["create table words (word text primary key, weight real);"]
        lines += ["create table labels (number integer, label text);"]
        for number, label in enumerate(model.labels):
            lines.append(f"insert into labels values ({number}, {self.quoted(label)});")
        pairs = [("", self.intercept(model)), *zip(part.names, part.weights[0], strict=True)]
        for name, weight in pairs:
            lines.append(f"insert into words values ({self.quoted(name)}, {self.number(weight)});")
        return "\n".join(lines).encode()

    def quoted(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def number(self, weight: float) -> str:
        return repr(float(weight))

    def intercept(self, model: PlainModel) -> float:
        return float(model.intercepts[0])


ORIGINALS = (Module, Document, LabelsOnly, Sql)
BUGS: list[Bug] = []


def bug(name: str, base: type[Any], missed: str = "", **changed: Any) -> None:
    """Enter a mistake: ``base`` with other methods or attributes."""
    title = re.sub(r"\W", "", name.title())
    cls = type(title, (base,), {"__doc__": base.__doc__, "__module__": __name__, **changed})
    globals()[title] = cls  # by which pickle finds it
    BUGS.append(Bug(name, cls, missed))


def model(**changes: Any) -> Any:
    """Another model is written: its attributes, made of what they were."""

    def changed(self: Any, model: PlainModel) -> PlainModel:
        return replace(model, **{key: make(getattr(model, key)) for key, make in changes.items()})

    return changed


def parts(**changes: Any) -> Any:
    """The parts of another model are written."""

    def changed(self: Any, model: PlainModel) -> PlainModel:
        made = []
        for part in model.parts:
            values = {key: make(getattr(part, key)) for key, make in changes.items()}
            made.append(replace(part, **values))
        return replace(model, parts=tuple(made))

    return changed


def entry(**changes: Any) -> Any:
    """Other entries of the document are written."""

    def written(self: Any, document: dict[str, Any]) -> dict[str, Any]:
        return document | {key: make(document[key]) for key, make in changes.items()}

    return written


def entry_of_parts(**changes: Any) -> Any:
    """Other entries of the parts are written."""

    def written(self: Any, document: dict[str, Any]) -> dict[str, Any]:
        made = [
            part | {key: make(part[key]) for key, make in changes.items()}
            for part in document["parts"]
        ]
        return document | {"parts": made}

    return written


def of_code(change: Any) -> Any:
    """The code is changed."""

    def export(self: Any, model: PlainModel) -> bytes:
        return bytes(change(Module.export(self, model).decode(), model).encode())

    return export


def _without_others(parts: Any) -> Any:
    return [parts[0], *({**part, "weights": [[0] * len(part["names"])]} for part in parts[1:])]


bug("the intercept is forgotten", Module, changed=model(intercepts=np.zeros_like))
bug("the idf is dropped", Module, changed=parts(idf=lambda idf: None))
bug(
    "only the first part",
    Document,
    written=lambda self, it: (
        it
        | {
            "parts": [it["parts"][0]]
            + [
                part | {"weights": [[0 for _ in row] for row in part["weights"]]}
                for part in it["parts"][1:]
            ]
        }
    ),
)
bug("weights of three digits", Module, changed=parts(weights=lambda w: np.round(w, 3)))
bug("weights of six digits", Module, changed=parts(weights=lambda w: np.round(w, 6)))
bug(
    "weights in single precision",
    Document,
    written=entry_of_parts(
        weights=lambda rows: [[float(np.float32(it)) for it in row] for row in rows]
    ),
)
bug("quotes that are not escaped", Sql, quoted=lambda self, text: f"'{text}'")
bug("a table without the intercept", Sql, intercept=lambda self, model: 0.0)
bug("a table of four digits", Sql, number=lambda self, weight: f"{weight:.4f}")
bug("a table of the negative weights", Sql, number=lambda self, weight: repr(-float(weight)))
bug("labels in the wrong order", Module, changed=model(labels=lambda it: tuple(reversed(it))))
bug("the thresholds are forgotten", Module, changed=model(thresholds=lambda it: {}))
bug("the calibration is forgotten", Module, changed=model(calibration=lambda it: None))
bug("always a label is forgotten", Module, changed=model(at_least_one=lambda it: False))
bug(
    "the unknown label is forgotten",
    Document,
    written=entry(unknown=lambda it: None, unknown_threshold=lambda it: None),
)
bug(
    "the temperature the wrong way round",
    Document,
    written=entry(
        calibration=lambda it: (
            it | {"temperature": 1.0 / it["temperature"]} if it and "temperature" in it else it
        )
    ),
)
bug(
    "softmax as one against the rest",
    Document,
    written=entry(task=lambda it: it.replace("softmax", "one-vs-rest")),
)
bug("counts instead of logarithms", Module, changed=parts(term=lambda it: "count"))
bug("one n-gram too short", Module, changed=parts(ngrams=lambda it: max(it - 1, 1)))
bug(
    "case is kept",
    Module,
    changed=parts(options=lambda it: it | {"lowercase": False} if "lowercase" in it else it),
)
bug("the length is left out", Module, changed=parts(norm=lambda it: ""))
bug("names without a weight are left out", Module, changed=parts(others=lambda it: {}))
bug("HTML stays", Module, changed=parts(strip_html=lambda it: False))
bug(
    "sentences are not ended",
    Module,
    changed=parts(options=lambda it: it | {"sentences": "none"} if "sentences" in it else it),
)
bug(
    "names in ASCII",
    Module,
    changed=parts(names=lambda it: [name.encode("ascii", "replace").decode() for name in it]),
)
bug(
    "the last feature is left out",
    Module,
    changed=parts(weights=lambda w: np.where(np.arange(w.shape[1]) == w.shape[1] - 1, 0.0, w)),
)
bug("features one place on", Module, changed=parts(weights=lambda w: np.roll(w, 1, axis=1)))
bug(
    "tiny weights are left out",
    Module,
    changed=parts(weights=lambda w: np.where(np.abs(w) < 0.02, 0.0, w)),
)
bug(
    "the mean of a number is left out",
    Document,
    written=entry_of_parts(options=lambda it: it | {"mean": 0.0} if "mean" in it else it),
)
bug(
    "the probability of the other label",
    Module,
    export=of_code(
        lambda code, model: code.replace(
            "probabilities = _PREDICTOR.probabilities",
            "def probabilities(text):\n"
            "    found = _PREDICTOR.probabilities(text)\n"
            "    return dict(zip(found, reversed(list(found.values()))))",
        )
    ),
)
bug(
    "explanations with the wrong sign",
    Module,
    export=of_code(
        lambda code, model: code.replace(
            "explain = _PREDICTOR.explain",
            "def explain(text):\n"
            "    found = _PREDICTOR.explain(text)\n"
            "    return {**found, 'intercept': -found['intercept']}",
        )
    ),
)
bug(
    "labels that break the code",
    LabelsOnly,
    export=lambda self, model: (
        LabelsOnly.export(self, model)
        + f"names = [{', '.join(chr(34) + it + chr(34) for it in model.labels)}]\n".encode()
    ),
)
bug(
    "labels by the first letter",
    LabelsOnly,
    export=lambda self, model: LabelsOnly.export(
        self, replace(model, labels=[label[:1] for label in model.labels])
    ),
)


def option(**values: Any) -> Any:
    """The parts with these values of options that their tokenizers have."""
    return parts(options=lambda it: it | {key: values[key] for key in values if key in it})


bug("stop words stay", Module, changed=parts(stop_words=lambda it: ()))
bug("case is always lost", Module, changed=option(lowercase=True))
bug("short words always count", Module, changed=option(min_length=1))
bug("marks are never words", Module, changed=option(punctuation=False))
bug("emoji are never words", Module, changed=option(emoji=False))
bug("texts are always composed", Module, changed=option(normalize="nfc"))
bug("pieces never cross words", Module, changed=option(analyzer="char_wb"))
bug("presence as counts", Module, changed=parts(term=lambda it: it.replace("binary", "count")))
bug("long names are cut", Module, changed=parts(names=lambda it: [name[:32] for name in it]))
bug(
    "one curve for all labels",
    Document,
    written=entry(
        calibration=lambda it: (
            it | {"curves": it["curves"][:1] * len(it["curves"])} if it and "curves" in it else it
        )
    ),
)
bug("the time in the file", Document, written=lambda self, it: it | {"time": time.time_ns()})
bug("a random name in the file", Document, written=lambda self, it: it | {"name": random.random()})
bug(
    "names in the order of a set",
    Document,
    written=lambda self, it: it | {"all": [*{*map(str, it)}]},
)
bug("no suffix", Document, suffix="json")
bug(
    "the model is changed",
    Module,
    changed=lambda self, model: (model.parts[0].weights.__imul__(1.5), model)[1],
)
bug(
    "refused without a reason",
    Sql,
    export=lambda self, model: _refused(self, model),
)
bug(
    "a parameter that is ignored",
    Sql,
    digits=param(default=17, min=1, max=17, help="digits of a weight"),
    __annotations__={"digits": int},
)
bug("an empty file", Document, export=lambda self, model: b"")
bug("text, not bytes", Document, export=lambda self, model: json.dumps(model.to_dict()))


def _refused(self: Any, model: PlainModel) -> bytes:
    try:
        return Sql.export(self, model)
    except UsageError:
        raise UsageError("no.") from None
