"""Groups of words with a common path in the tree of Brown's clustering."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from textreg.errors import DataError, UsageError
from textreg.files import numbered_lines
from textreg.params import param
from textreg.records import Tokens
from textreg.structure.grouping import WordGroupBuilder


class Brown(WordGroupBuilder):
    """Words whose paths in the tree of Brown et al. (1992) begin alike.

    The file has a path of zeros and ones, a word and a count on every line, with tabs between them,
    as wcluster writes it. Every length in ``prefixes`` gives one group for each prefix of that
    length; a shorter path is a prefix of its own. Groups of several lengths lie in one another.
    Turian et al. (2010, section 3) use the lengths 4, 6, 10 and 20.
    """

    name = "brown"
    path: str | None = param(default=None, help="the file of paths, words and counts")
    prefixes: str = param(
        default="4,6,10,20", help="lengths of the prefixes, with commas between them"
    )
    least: int = param(default=1, min=1, help="fewest times that a word was counted in the file")

    def sets(self, tokens: Tokens) -> Mapping[str, Collection[str]]:
        """The words of the training text by prefix; DataError names a bad line."""
        if self.path is None:
            raise UsageError("brown: name the file of clusters with --groups-path FILE.")
        lengths = self._lengths()
        known = set(tokens.vocabulary)
        sets: dict[str, list[str]] = {}
        for number, line in numbered_lines(self.path):
            bits, word, count = _fields(line, f"{self.path}:{number}")
            if word in known and count >= self.least:
                for prefix in dict.fromkeys(bits[:length] for length in lengths):
                    sets.setdefault(prefix, []).append(word)
        if not sets:
            raise DataError(
                f"{self.path}: none of its words that were counted {self.least} times or more is "
                "in the training texts. Check that they are written as the tokenizer gives them, "
                "such as in small letters, or lower --groups-least."
            )
        return {
            f"{prefix} ({', '.join(words[:3])})": words for prefix, words in sorted(sets.items())
        }

    def _lengths(self) -> list[int]:
        try:
            lengths = [int(part) for part in self.prefixes.split(",")]
        except ValueError:
            lengths = []
        if not lengths or min(lengths) < 1:
            raise UsageError(
                "brown: prefixes must be whole numbers from 1 up with commas between them, such as "
                f"4,6,10, not '{self.prefixes}'."
            )
        return lengths


def _fields(line: str, where: str) -> tuple[str, str, int]:
    """Path, word and count of a line."""
    fields = line.split("\t")
    if len(fields) != 3 or not fields[0] or set(fields[0]) - {"0", "1"} or not fields[2].isdigit():
        raise DataError(
            f"{where}: {line!r:.60} is no path of zeros and ones, word and count with tabs between "
            "them. Correct the line, or take it out."
        )
    return fields[0], fields[1], int(fields[2])
