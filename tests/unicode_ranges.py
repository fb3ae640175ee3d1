"""Write ``textreg/_core/text_ranges.py`` from the Unicode Character Database.

    python tests/unicode_ranges.py        # needs the package regex, which carries the database

The standard library knows neither scripts nor the classes of line breaking.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

HEAD = '''"""Classes of characters as ranges; written by ``tests/unicode_ranges.py``."""

from __future__ import annotations

UNICODE = "{version}"
"""Version of the Unicode Character Database that the ranges are from."""
'''
WHAT = {
    "MARKS": "Belong to the letter before them: General_Category M, and letters that go on with "
    "a grapheme.",
    "IGNORED": "In a word, but not in its spelling: Default_Ignorable_Code_Point, but for letters.",
    "SPACELESS": "Letters of scripts without spaces: Line_Break ID, CJ, NS, SA, AK, AP or AS.",
    "TERMINALS": "End a sentence: Sentence_Terminal.",
    "CLOSERS": "Close a bracket or a quotation: General_Category Pe and Pf.",
    "FLAGS": "Two are a flag: Regional_Indicator.",
    "EMOJI": "Begin an emoji: Extended_Pictographic, but for marks of text, and Emoji_Modifier.",
}
VERSION = "18.0"


def ranges(points: Iterable[int]) -> list[tuple[int, int]]:
    """Sorted code points as first and last of every run."""
    found: list[list[int]] = []
    for point in points:
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return [(first, last) for first, last in found]


def classes() -> dict[str, list[int]]:
    """The code points of every class."""
    import regex

    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]

    def points(pattern: str) -> list[int]:
        match = regex.compile(pattern, regex.VERSION1).match
        return [ord(c) for c in every if match(c)]

    ignored = r"[[\p{DI}&&[\p{Mn}\p{Cf}]]--\u200B]"  # a zero width space ends a word
    goes_on = r"[[\p{L}&&[\p{GCB=Extend}\p{GCB=SpacingMark}]]]"
    spaceless = (
        r"[[\p{L}\p{Nl}]&&[\p{LB=ID}\p{LB=CJ}\p{LB=NS}\p{LB=SA}\p{LB=AK}\p{LB=AP}\p{LB=AS}]]"
    )
    return {
        "MARKS": points(rf"[[\p{{M}}{goes_on}]--{ignored}]"),
        "IGNORED": points(ignored),
        "SPACELESS": points(rf"[[{spaceless}--[\p{{Hangul}}\p{{Latin}}]]--{goes_on}]"),
        "TERMINALS": points(r"\p{STerm}"),
        "CLOSERS": points(r"[\p{Pe}\p{Pf}]"),
        "FLAGS": points(r"\p{RI}"),
        "EMOJI": points(r"[[\p{ExtPict}\p{EMod}]--[\xA9\xAE\u203C\u2049\u2122\u2139\u3030\u303D]]"),
    }


def module() -> str:
    """The text of the module."""
    text = HEAD.format(version=VERSION)
    for name, points in classes().items():
        listed = " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in ranges(points))
        wrapped = re.sub(r"(.{1,94})(?: |$)", r"    \1\n", listed)
        text += f'{name} = """\n{wrapped}"""\n"""{WHAT[name]}"""\n'
    return text


if __name__ == "__main__":
    target = Path(__file__).parent.parent / "textreg" / "_core" / "text_ranges.py"
    target.write_text(module(), encoding="utf-8")
