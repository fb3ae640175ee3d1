"""The group builder of sentences."""

from __future__ import annotations

from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.records import Int32s, Int64s, Tokens
from textreg.structure.grouping import SegmentBuilder


class Sentences(SegmentBuilder):
    """One group for every training sentence, of its distinct features.

    These are the groups of yogatama2014, section 3. The tokenizer finds where sentences end;
    n-grams do not cross sentences.
    """

    name = "sentences"
    segment = "sentence"

    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """The sentences of ``tokens``."""
        return tokens.ids, tokens.sentence_ptr, tokens.document_ptr


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The group builder of this module."""
    return [Sentences]
