"""Old and new documents as one corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError
from textreg.records import Corpus

if TYPE_CHECKING:
    from textreg.records import Floats


def joined(old: Corpus, new: Corpus, *, held_out: bool) -> Corpus:
    """The old documents, and then the new ones.

    held_out: whether some are to be held out, for which groups and times are kept; both corpora
    must have them then, or none: DataError.
    """
    if old.tokenized != new.tokenized:
        raise DataError(
            "the old documents and the new ones must all be texts, or all be lists of tokens."
        )
    weights = None
    if old.sample_weight is not None or new.sample_weight is not None:
        weights = np.concatenate([_weights(old), _weights(new)])
    return Corpus(
        texts=[*old.texts, *new.texts],
        labels=[*(old.labels or ()), *(new.labels or ())],
        sample_weight=weights,
        group_of=_both("groups", old.group_of, new.group_of) if held_out else None,
        time_of=_both("times", old.time_of, new.time_of) if held_out else None,
        sources=[*old.sources, *new.sources],
        **_places(old, new),
    )


def _weights(corpus: Corpus) -> Floats:
    return np.ones(len(corpus)) if corpus.sample_weight is None else corpus.sample_weight


def _both(what: str, old: Sequence[Any] | None, new: Sequence[Any] | None) -> list[Any] | None:
    """What each document has, if all have it."""
    if (old is None) != (new is None):
        there, missing = ("new", "old") if old is None else ("old", "new")
        raise DataError(
            f"the {there} documents have {what} and the {missing} ones have none: give them to "
            "all, or to none."
        )
    return None if old is None or new is None else [*old, *new]


def _places(old: Corpus, new: Corpus) -> dict[str, Any]:
    """The file and the line of each document, where all are of files."""
    if old.source_of is None or new.source_of is None:
        return {}
    places: dict[str, Any] = {
        "source_of": np.concatenate([old.source_of, new.source_of + len(old.sources)])
    }
    if old.line_of is not None and new.line_of is not None:
        places["line_of"] = np.concatenate([old.line_of, new.line_of])
    return places
