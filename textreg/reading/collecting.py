"""From the rows of files to the columns of a corpus, in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.reading.columns import Row

if TYPE_CHECKING:
    from textreg.records.stored_texts import StoredTexts

KNOWN = 100_000
"""So many different labels, groups and times are kept once each; further ones as often as read."""


class Collected:
    """The documents read so far: their texts, labels, weights and so on, each as one column.

    Parameters
    ----------
    wanted : set of str
        Those of ``weight``, ``group`` and ``time`` to keep.
    labeled : bool
        Whether every document has a label. If not, they are kept only where all have one, and all
        of one kind: labels of texts to be classified are of no use else.
    texts : StoredTexts, optional
        Where texts go to; a list by default.

    Attributes
    ----------
    texts : list of str, or StoredTexts
    labels : list or None
    sources : list of str
        The names of the files.
    """

    def __init__(
        self, wanted: Iterable[str], *, labeled: bool, texts: StoredTexts | None = None
    ) -> None:
        self._wanted = frozenset(wanted)
        self._labeled = labeled
        self.texts: list[str] | StoredTexts = [] if texts is None else texts
        self.labels: list[Any] | None = []
        self.sources: list[str] = []
        self._source_of, self._line_of = array("i"), array("q")
        self._weights = array("d")
        self._groups, self._times = list[str](), list[Any]()
        self._known: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self._line_of)

    def add(self, documents: Sequence[tuple[str, Row]]) -> None:
        """Take the next documents, each with the name of its file."""
        self.texts.extend([row.text for _, row in documents])
        if self.labels is not None:
            self._add_labels(self.labels, [row.label for _, row in documents])
        if "weight" in self._wanted:
            self._weights.extend([row.weight for _, row in documents])
        if "group" in self._wanted:
            self._groups += self._once([row.group for _, row in documents])
        if "time" in self._wanted:
            times = [row.time for _, row in documents]
            self._times += [self._same(it) if type(it) is str else it for it in times]
        self._line_of.extend([row.line for _, row in documents])
        last = self.sources[-1] if self.sources else None
        for name, _ in documents:
            if name != last:
                self.sources.append(name)
                last = name
            self._source_of.append(len(self.sources) - 1)

    def columns(self) -> dict[str, Any]:
        """What a :class:`~textreg.records.Corpus` is made of, by the names of its parameters."""
        wanted = self._wanted
        return {
            "texts": self.texts,
            "labels": self.labels,
            "sample_weight": np.asarray(self._weights) if "weight" in wanted else None,
            "group_of": self._groups if "group" in wanted else None,
            "time_of": self._times if "time" in wanted else None,
            "sources": self.sources,
            "source_of": np.asarray(self._source_of, dtype=np.int32),
            "line_of": np.asarray(self._line_of, dtype=np.int64),
        }

    def _add_labels(self, kept: list[Any], labels: list[Any]) -> None:
        mixed = not self._labeled and len({type(label) for label in (*kept[:1], *labels)}) > 1
        if mixed or None in labels:
            self.labels = None
        else:
            kept += self._once(labels)

    def _once(self, values: list[Any]) -> list[Any]:
        """The values, where equal ones are one object."""
        known = self._known
        return [known.get(value) or self._same(value) for value in values]

    def _same(self, value: Any) -> Any:
        """The first value read that equals this one, or itself."""
        if value in self._known:
            return self._known[value]
        if isinstance(value, tuple):
            value = tuple(map(self._same, value))
        if len(self._known) < KNOWN:
            self._known[value] = value
        return value
