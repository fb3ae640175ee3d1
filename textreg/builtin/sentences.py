"""One group of features for every training sentence."""

from __future__ import annotations

from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.records import Int32s, Int64s, Tokens
from textreg.structure.grouping import SegmentBuilder


class Sentences(SegmentBuilder):
    """Group s holds the distinct features of sentence s (Yogatama & Smith 2014, section 3).

    Where sentences end is up to the tokenizer; n-grams never cross that.
    """

    name = "sentences"
    segment = "sentence"

    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """The sentences of ``tokens``."""
        return tokens.ids, tokens.sentence_ptr, tokens.document_ptr


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The one."""
    return [Sentences]
