"""The documents of a check, and examples of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from textreg.checking.findings import Example
from textreg.checking.settings import CheckSettings
from textreg.errors import UsageError, first_few
from textreg.records import Corpus, Tokens
from textreg.text import WordRules, scan_words

if TYPE_CHECKING:
    from textreg.records import Int64s

MISSING = frozenset(("", "n/a", "#n/a", "na", "<na>", "nan", "null", "none", "nil", "#null!"))
"""What tables hold where nothing is there, in lower case."""
SHOWN = 80
"""Characters of a text in an example."""


def label_text(label: Any) -> str:
    """A label, or a list of labels, for people."""
    return "; ".join(label) if isinstance(label, tuple) else str(label)


def is_missing(text: str) -> bool:
    """Whether a text is empty, or stands for nothing, such as ``N/A``."""
    return len(text) < 1000 and text.strip().casefold() in MISSING


def opening(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * SHOWN].split())
    return line if len(line) <= SHOWN and len(text) <= 4 * SHOWN else f"{line[: SHOWN - 3]}..."


@dataclass(frozen=True, eq=False)
class Documents:
    """The documents of one corpus that is checked, and how.

    Raises
    ------
    UsageError
        If the documents are lists of tokens.
    """

    corpus: Corpus
    settings: CheckSettings

    def __post_init__(self) -> None:
        if self.corpus.tokenized:
            raise UsageError("a check is of texts, but these documents are tokens: give the texts.")

    def __len__(self) -> int:
        return len(self.corpus)

    @property
    def texts(self) -> Sequence[str]:
        """Their texts."""
        return cast(Sequence[str], self.corpus.texts)

    @cached_property
    def labels(self) -> Sequence[Any] | None:
        """Their labels, lists of labels in sorted order; None if they have none."""
        labels = self.corpus.labels
        return [tuple(sorted(it)) for it in labels] if self.corpus.multilabel and labels else labels

    @cached_property
    def tokens(self) -> Tokens:
        """Their words, as the tokenizer ``words`` finds them."""
        return scan_words(self.texts, WordRules(sentences="none"))

    @cached_property
    def words(self) -> Int64s:
        """(n,) the number of words of each."""
        return np.diff(self.tokens.token_document_ptr)

    def label(self, row: int) -> str:
        """The label of a document for people; empty without labels."""
        return "" if self.labels is None else label_text(self.labels[row])

    def example(self, row: int, detail: str = "", text: str | None = None) -> Example:
        """A document as an example; ``text`` is shown in place of its beginning."""
        shown = opening(self.texts[row] if text is None else text)
        return Example(self.corpus.where(row), shown, detail)

    def examples(
        self, rows: Iterable[int], detail: Callable[[int], str] | None = None
    ) -> tuple[Example, ...]:
        """The first of these rows as examples, with their labels, or what ``detail`` returns."""
        return tuple(
            self.example(int(row), self._labeled(int(row)) if detail is None else detail(int(row)))
            for row in islice(rows, self.settings.examples)
        )

    def group_examples(self, groups: Iterable[Sequence[int]]) -> tuple[Example, ...]:
        """The first of these groups as examples: a document, and the places of the others."""
        return tuple(
            self.example(group[0], self.beside(group))
            for group in islice(groups, self.settings.examples)
        )

    def beside(self, group: Sequence[int]) -> str:
        """The label of the first document of a group, and the places and labels of the others."""
        others = self.placed(group[1:])
        return ", ".join(filter(None, [self._labeled(group[0]), f"also {others}"]))

    def placed(self, rows: Sequence[int]) -> str:
        """The places of documents, with their labels."""
        label = "" if self.labels is None else " ({})"
        places = [self.corpus.where(row) + label.format(self.label(row)) for row in rows[:4]]
        return first_few(places, 3)

    def _labeled(self, row: int) -> str:
        return "" if self.labels is None else f"label {self.label(row) or 'none'}"
