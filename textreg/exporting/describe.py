"""The plain description of a model, or the reason why it has none."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np

from textreg.errors import UsageError
from textreg.exporting.characters import characters
from textreg.features.encoder import Encoder
from textreg.kinds import Exporter
from textreg.model.model import Model
from textreg.plugins import calls
from textreg.plugins.inventory import ours
from textreg.records import Floats
from textreg.records.plain_model import PlainModel, PlainPart

TOKENIZERS = ("words", "chars")
"""Those whose rules the description states."""


def export(model: Model, exporter: Exporter) -> bytes:
    """A model in another format.

    Parameters
    ----------
    model : Model
        Loaded with its tokenizer.
    exporter : Exporter
        Of the format.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    UsageError
        If the model cannot be exported; the message says why.
    """
    return calls.export(exporter, describe(model))


def describe(model: Model) -> PlainModel:
    """A model as plain data; UsageError, with the reason, for one that cannot be described."""
    encoder, task = model.encoder, model.task
    if encoder.fields:
        names = ", ".join(field.name for field in encoder.fields)
        raise UsageError(
            f"a model of documents with several fields ({names}) cannot be exported: only texts "
            "can. Train on one column of texts, such as one that joins them."
        )
    rows = np.split(model.weights, np.cumsum([part.n_columns for part in encoder.parts])[:-1], 1)
    parts = [
        _part(part, own, f"{part.label}: " if number else "")
        for number, (part, own) in enumerate(zip(encoder.parts, rows, strict=True))
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
            marks=any(own.get("punctuation") or own.get("emoji") for own in options),
            small=any(part.tokenizer == "chars" and part.options["lowercase"] for part in parts),
            html=any(part.vectorizer.strip_html for part in encoder.parts),
        ),
        thresholds=model.thresholds,
        unknown=task.unknown,
        at_least_one=bool(header.get("at_least_one")),
        calibration=_calibration(model),
        textreg=metadata.version("textreg"),
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
    if not ours(tokenizer) or tokenizer.name not in TOKENIZERS:
        raise UsageError(
            f"a model with the tokenizer '{part.label}' cannot be exported: its code would have to "
            f"go with it. Train with {' or '.join(TOKENIZERS)}, or both."
        )
    idf = part.idf
    return PlainPart(
        prefix=prefix,
        tokenizer=tokenizer.name,
        options=tokenizer.params(),
        ngrams=part.ngrams,
        term=part.weighting.term,
        norm=part.weighting.norm,
        stop_words=part.stop_words,
        names=list(part.names),
        idf=idf if idf is None or part.columns is None else idf[part.columns],
        weights=weights,
        others=_others(part),
    )


def _others(part: Encoder) -> dict[float, list[str]]:
    """The names that only the length of a row needs, by idf, of which few differ."""
    if part.weighting.norm != "features" or part.columns is None:
        return {}
    assert part.idf is not None
    other = part.column_of < 0
    found: dict[float, list[str]] = {}
    values = part.idf.tolist()
    for number in np.flatnonzero(other).tolist():
        found.setdefault(values[number], []).append(part.vocabulary[number])
    return found
