"""Numbers beside texts, as features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.features.encoder import Encoder, field_texts
from textreg.features.vectorize import Vectorizer
from textreg.plugins import registry
from textreg.records import Tokens
from textreg.records.fields import MISSING, Field
from textreg.text import renumber

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from textreg.records import Documents
    from textreg.text import CsrArrays

VALUES = Vectorizer(ngrams=1, weighting="binary")
"""How single values become features."""


class NumberEncoder(Encoder):
    """Turns the numbers of a field into one column, and missing ones into another.

    A column of numbers x is (x - mean) / scale, 0 for one that is missing; that of the missing
    ones is 1 for them, and is there if training had some.

    Parameters
    ----------
    field : str
    mean, scale : float
        Mean and standard deviation of the numbers of the training documents; a scale of 1 where all
        are equal.
    vocabulary : sequence of str
        The columns: an empty name for the numbers, ``missing`` for those that are missing.
    """

    def __init__(self, field: str, mean: float, scale: float, vocabulary: Sequence[str]) -> None:
        super().__init__(
            registry.create("tokenizer", "textreg:value"),
            VALUES,
            vocabulary,
            field=Field(field, "number"),
        )
        self.mean = mean
        self.scale = scale

    @classmethod
    def of(cls, field: str, texts: Documents) -> NumberEncoder:
        """The encoder of training documents."""
        values = field_texts(texts, field)
        numbers = np.array([float(value) for value in values if value != MISSING])
        mean, scale = 0.0, 1.0
        if len(numbers):
            # Divided first, so that sums and squares of the largest numbers do not overflow.
            largest = float(np.abs(numbers).max()) or 1.0
            parts = numbers / largest
            mean = float(parts.mean()) * largest
            scale = float(parts.std()) * largest or 1.0
        names = ["", MISSING] if len(numbers) < len(values) else [""]
        return cls(field, mean, scale, names)

    def restrict(self, columns: NDArray[np.int64]) -> NumberEncoder:
        """The encoder of some columns only."""
        names = [self.vocabulary[column] for column in np.asarray(columns).tolist()]
        assert self.field is not None
        return NumberEncoder(self.field.name, self.mean, self.scale, names)

    def features(self, words: Tokens) -> Tokens:
        """Every number, and every one that is missing."""
        number = {name: at for at, name in enumerate(self.vocabulary)}
        new = [number.get(name if name == MISSING else "", -1) for name in words.vocabulary]
        return renumber(words, np.array(new, dtype=np.int32), self.vocabulary)

    def weigh(self, rows: CsrArrays, words: Tokens) -> None:
        """The numbers, in place of the counts."""
        if "" not in self.vocabulary:
            return
        assert isinstance(words, Tokens)  # as those of every tokenizer that gives names
        values = np.array(
            [0.0 if name == MISSING else self.standardized(name) for name in words.vocabulary]
        )
        known = np.array([name != MISSING for name in words.vocabulary], dtype=bool)
        rows.data[rows.indices == self.vocabulary.index("")] = values[words.ids][known[words.ids]]

    def standardized(self, number: str) -> float:
        """A number on the scale of the column."""
        return (float(number) - self.mean) / self.scale
