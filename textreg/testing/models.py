"""Small models as plain data, of every task: what exporters are tried on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from textreg.plugins import registry
from textreg.records.fields import Field
from textreg.records.plain_model import PlainModel, PlainPart
from textreg_export.characters import characters

_NAMES = ("bad", "bad film", "good", "good film", "straße", "</script>", '"', "\\", "ɡ\u0301", "😀")
_CHARS = (" g", "goo", "oo", 'ad"', "中")


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
