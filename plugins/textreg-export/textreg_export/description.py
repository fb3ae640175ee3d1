"""The plain description of a model, or the reason why it has none."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata
from typing import Any

import numpy as np

from textreg.errors import UsageError
from textreg.features.encoder import Encoder, prefixes
from textreg.features.fields import NumberEncoder
from textreg.kinds import Exporter
from textreg.model.model import Model, as_model
from textreg.plugins import calls, registry
from textreg.records import Floats
from textreg.records.documents import Field
from textreg.records.plain_model import PlainModel, PlainPart
from textreg.structure.joining import Pretokenized
from textreg_export.characters import characters

# Those whose rules the description states.
TOKENIZERS = ("words", "chars", "value")


def export(model: Model, exporter: str | type[Exporter] | Exporter) -> bytes:
    """A model in another format.

    Parameters
    ----------
    model : Model
        Loaded with its tokenizer.
    exporter : str, Exporter or class
        Of the format: its name, such as ``"json"``, an instance, or a class.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    UsageError
        If the model cannot be exported; the message says why.
    PluginError
        If no exporter has this name.
    """
    return calls.export(registry.create("exporter", exporter), describe(model))


def describe(model: Model) -> PlainModel:
    """A model as plain data; UsageError, with the reason, for one that cannot be described."""
    encoder, task = as_model(model).encoder, model.task
    rows = np.split(model.weights, np.cumsum([part.n_columns for part in encoder.parts])[:-1], 1)
    parts = [
        _part(part, weights, prefix)
        for part, weights, prefix in zip(encoder.parts, rows, prefixes(encoder.parts), strict=True)
    ]
    options = [part.options for part in parts]
    header = task.to_header()
    return PlainModel(
        task=task.kind,
        labels=task.labels,
        probabilities=task.probabilistic,
        intercepts=model.intercepts,
        parts=tuple(parts),
        characters=characters(
            marks=any(values.get("punctuation") or values.get("emoji") for values in options),
            small=any(
                part.tokenizer in ("chars", "value") and part.options["lowercase"] for part in parts
            ),
            html=any(part.strip_html for part in parts),
        ),
        thresholds=model.thresholds,
        unknown=task.unknown,
        at_least_one=bool(header.get("at_least_one")),
        calibration=_calibration(model),
        textreg=metadata.version("textreg"),
        fields=tuple(Field(field.name, field.kind) for field in encoder.fields),
    )


def _calibration(model: Model) -> dict[str, Any] | None:
    calibration = model.calibration
    if calibration is None:
        return None
    if calibration.method == "temperature":
        return {"method": "temperature", "temperature": calibration.temperature}
    curves = [[list(x), list(y)] for x, y in calibration.curves]
    return {"method": calibration.method, "curves": curves}


def _part(part: Encoder, weights: Floats, prefix: str) -> PlainPart:
    """The features of one tokenizer; UsageError if others cannot find them."""
    tokenizer = part.tokenizer
    tokens = isinstance(tokenizer, Pretokenized)
    if not tokens and not (registry.ours(tokenizer) and tokenizer.name in TOKENIZERS):
        raise UsageError(
            f"a model with the tokenizer '{part.label}' cannot be exported: its code would have to "
            "go with it. Train with words or chars, or both; or split the documents first, and "
            "train on lists of tokens."
        )
    idf = part.idf
    plain = PlainPart(
        prefix=prefix,
        tokenizer="tokens" if tokens else tokenizer.name,
        options=tokenizer.params(),
        ngrams=part.ngrams,
        term=part.weighting.term,
        norm=part.weighting.norm,
        stop_words=part.stop_words,
        names=list(part.names),
        idf=idf if idf is None or part.columns is None else idf[part.columns],
        weights=weights,
        others=_others(part),
        field="" if part.field is None else part.field.name,
        strip_html=part.vectorizer.strip_html,
    )
    if not isinstance(part, NumberEncoder):
        return plain
    return replace(  # the number itself has the name of the field
        plain,
        prefix=prefix.removesuffix(":"),
        tokenizer="number",
        options={"mean": part.mean, "scale": part.scale},
        names=[f":{name}" if name else "" for name in part.names],
    )


def _others(part: Encoder) -> dict[float, list[str]]:
    """The names that only the length of a row needs, by idf, of which few differ."""
    if part.weighting.norm != "features" or part.columns is None:
        return {}
    assert part.idf is not None
    other = part.column_of < 0
    by_idf: dict[float, list[str]] = {}
    values = part.idf.tolist()
    for number in np.flatnonzero(other).tolist():
        by_idf.setdefault(values[number], []).append(part.vocabulary[number])
    return by_idf
