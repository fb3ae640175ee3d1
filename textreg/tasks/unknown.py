"""Documents that belong to none of the labels: set aside in training, and only measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg.records import Bools, Corpus


def parted(corpus: Corpus, aside: Bools) -> tuple[Corpus, Corpus | None]:
    """The documents that are not ``aside``, and those that are, if any."""
    if not aside.any():
        return corpus, None
    rest = replace(corpus.select(np.flatnonzero(~aside)), skipped=corpus.skipped)
    return rest, corpus.select(np.flatnonzero(aside))


def with_label(corpus: Corpus, label: str) -> Bools:
    """(n,) which documents have a label."""
    if corpus.labels is None:
        return np.zeros(len(corpus), dtype=bool)
    return np.array([one == label for one in corpus.labels], dtype=bool)
