"""A model as plain data, which says all that prediction needs: what exporters are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from textreg._core.arrays import Floats
from textreg.errors import RecordError
from textreg.records.documents import Field

#: What the document says that it is. docs/exporting.md describes it.
FORMAT, VERSION = "textreg-export", 1

TASKS = ("binary", "one-vs-rest", "softmax", "multilabel", "regression")


@dataclass(frozen=True, eq=False)
class PlainPart:
    """The features of one tokenizer, and their weights.

    Attributes
    ----------
    field : str
        The field that it reads, where documents have several; else empty.
    prefix : str
        What stands before the names of its features in explanations.
    tokenizer : {"words", "chars", "value", "number", "tokens"}
    options : dict of str to Any
        Its parameters; of a number its ``mean`` and ``scale``.
    strip_html : bool
        Whether HTML is removed from texts first.
    ngrams : int
        The largest number of its tokens in a feature.
    term : {"count", "binary", "log", "sublinear"}
        The value of a count c: c, 1, ln(1 + c), or 1 + ln c.
    norm : {"", "features", "ngrams"}
        The length that a row is divided by: none, its own over all names and others, or that of
        1 + ln c over all n-grams of the document.
    stop_words : sequence of str
        Words that are dropped before n-grams are formed.
    names : sequence of str
        Names of the features.
    idf : ndarray of shape (features,), optional
        What the values of the features are multiplied by.
    weights : ndarray of shape (k, features)
    others : dict of float to sequence of str
        By idf, the names without a weight that count in the length of a row.

    Raises
    ------
    RecordError
        If these do not fit together.
    """

    field: str
    prefix: str
    tokenizer: str
    options: Mapping[str, Any]
    strip_html: bool
    ngrams: int
    term: str
    norm: str
    stop_words: Sequence[str]
    names: Sequence[str]
    idf: Floats | None
    weights: Floats
    others: Mapping[float, Sequence[str]]

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or self.weights.shape[1] != len(self.names):
            raise RecordError(
                f"{len(self.names)} features cannot have weights of the shape {self.weights.shape}."
            )
        if self.idf is not None and len(self.idf) != len(self.names):
            raise RecordError(f"{len(self.names)} features but {len(self.idf)} idf values.")

    def to_dict(self) -> dict[str, Any]:
        """The same as numbers, texts, lists and dicts."""
        return {
            **vars(self),
            "options": dict(self.options),
            "stop_words": list(self.stop_words),
            "names": list(self.names),
            "idf": None if self.idf is None else self.idf.tolist(),
            # A zero is shorter without its point, and most weights may be zero.
            "weights": [[weight or 0 for weight in row] for row in self.weights.tolist()],
            "others": [[idf, "\n".join(names)] for idf, names in self.others.items()],
        }


@dataclass(frozen=True, eq=False)
class PlainModel:
    """A model as plain data.

    Attributes
    ----------
    task : {"binary", "one-vs-rest", "softmax", "multilabel", "regression"}
        How scores become answers.
    labels : sequence of str
        In order; none of a regression.
    probabilities : bool
        Whether scores stand for probabilities.
    intercepts : ndarray of shape (k,)
    parts : sequence of PlainPart
        Their scores add up.
    characters : dict of str to Any
        Classes of characters, and the rules that find words and the ends of sentences.
    thresholds : dict of str to float
        By label; that of ``unknown`` is the least confidence of an answer.
    unknown : str, optional
        The answer for texts that belong to none of the labels.
    at_least_one : bool, default False
        Whether there is always a label, where a text may have several.
    calibration : dict of str to Any, optional
        Its method, and the temperature or the curves.
    textreg : str
        The version that made it.
    fields : sequence of Field
        The fields of the documents, in order; none where each is one text.

    Raises
    ------
    RecordError
        If there is no such task, the weights do not fit the intercepts, or a part reads no field.
    """

    task: str
    labels: Sequence[str]
    probabilities: bool
    intercepts: Floats
    parts: Sequence[PlainPart]
    characters: Mapping[str, Any]
    thresholds: Mapping[str, float]
    unknown: str | None = None
    at_least_one: bool = False
    calibration: Mapping[str, Any] | None = None
    textreg: str = ""
    fields: Sequence[Field] = ()

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise RecordError(f"no task is called {self.task!r}: it is one of {TASKS}.")
        if any(len(part.weights) != len(self.intercepts) for part in self.parts):
            raise RecordError("every part needs a row of weights for each intercept.")
        if {part.field for part in self.parts} != ({field.name for field in self.fields} or {""}):
            raise RecordError("every field needs a part that reads it, and every part a field.")

    def to_dict(self) -> dict[str, Any]:
        """The document that docs/exporting.md describes, ready for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "textreg": self.textreg,
            "task": self.task,
            "labels": list(self.labels),
            "probabilities": self.probabilities,
            "unknown": self.unknown,
            "unknown_threshold": None
            if self.unknown is None
            else self.thresholds.get(self.unknown),
            "at_least_one": self.at_least_one,
            "thresholds": [self.thresholds.get(label) for label in self.labels],
            "calibration": None if self.calibration is None else dict(self.calibration),
            "fields": [{"name": field.name, "kind": field.kind} for field in self.fields],
            "intercepts": self.intercepts.tolist(),
            "parts": [part.to_dict() for part in self.parts],
            "characters": deepcopy(dict(self.characters)),
        }
