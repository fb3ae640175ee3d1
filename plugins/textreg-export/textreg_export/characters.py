"""What tokenizers know of characters, in a form that is short and the same in every language.

Another program, and another Python, may know another version of Unicode. An exported model must
find the same words there, so it brings its classes of characters and its small letters with it.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from html.entities import html5
from typing import Any

from textreg._core import text_rules
from textreg._core.text_forms import joining
from textreg._core.text_ranges import EMOJI, FLAGS, IGNORED, MARKS, SPACELESS
from textreg._core.text_ranges import UNICODE as RANGES_FROM
from textreg.features.markup import INLINE

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_EVERY = range(0x110000)
# Below it a number can stand for another character than the one of this code point.
LOW = 160


def characters(*, marks: bool, small: bool, html: bool = False) -> dict[str, Any]:
    """The rules that tokenizers need.

    ``classes`` are runs of code points, as numbers: how many code points lie between two runs, and
    how many follow the first one of a run. The last digit of a number is one of 0 to z, in base 36;
    capital letters before it are digits in base 26: ``7`` is 7, and ``B0z`` are 36 and 35. Of the
    classes, ``letter`` makes words, ``mark`` and ``ignored`` belong to the letter before them, and
    a character of ``spaceless`` is a word by itself. ``fold`` and ``small`` map letters: ``runs``
    has the distance from the first letter of the last run, the number of letters, their distance,
    and the difference (0 to 4 for 0, -1, 1, -2, 2); ``more`` has letters that become several.

    marks: whether punctuation or emoji are tokens. small: whether texts become small letters, as
    for character n-grams. html: whether HTML is removed from texts.
    """
    rules = {
        "unicode": [unicodedata.unidata_version, RANGES_FROM],
        "classes": _classes(marks, small),
        "fold": case_map(text_rules.folded),
        "titles": sorted(text_rules.TITLES),
        "numbered": sorted(text_rules.NUMBERED),
        "header_length": text_rules.HEADER_LENGTH,
        "number_length": text_rules.NUMBER_LENGTH,
    }
    if html:
        rules["html"] = html_references()
    return rules | ({"small": case_map(str.lower)} if small else {})


@cache
def _classes(marks: bool, small: bool) -> dict[str, str]:
    """Classes of characters as runs. marks, small: as of :func:`characters`."""
    mark, ignored, spaceless = (
        {*text_rules.characters(ranges)} for ranges in (MARKS, IGNORED, SPACELESS)
    )
    apart = ignored | spaceless
    classes: dict[str, Iterable[str]] = {
        "mark": mark,
        "ignored": ignored,
        "spaceless": spaceless,
        "letter": mark | {c for c in _assigned() if (c.isalnum() or c == "_") and c not in apart},
        "alpha": filter(str.isalpha, _assigned()),
        "lower": filter(str.islower, _assigned()),
        "upper": filter(str.isupper, _assigned()),
        "decimal": filter(str.isdecimal, _assigned()),
        "space": filter(str.isspace, _assigned()),
        "end": text_rules.STOP + text_rules.ELLIPSIS + text_rules.STRONG,
        "strong": text_rules.STRONG,
        "full": text_rules.FULL,
        "closer": text_rules.CLOSERS,
        "opener": text_rules.OPENERS,
        "colon": text_rules.COLONS,
        "joining": joining(),
        "unassigned": (c for c in map(chr, _EVERY) if unicodedata.category(c) == "Cn"),
    }
    if marks:
        classes["unprinted"] = (c for c in map(chr, _EVERY) if not c.isprintable())
        classes["flag"] = text_rules.characters(FLAGS)
        classes["emoji"] = text_rules.characters(EMOJI)
    if small:  # which small letter a capital sigma has: Cased and Case_Ignorable
        cased = {c for c in _assigned() if (c + "Σ").lower()[-1] == "ς"}
        after = {c for c in _assigned() if ("a" + c + "Σ").lower()[-1] == "ς"}
        classes |= {"cased": cased, "ignorable": after - cased}
    return {name: runs_of(members) for name, members in classes.items()}


@cache
def _assigned() -> list[str]:
    """Those of this version of Unicode: the others are no letters, and become nothing else."""
    return [c for c in map(chr, _EVERY) if unicodedata.category(c) != "Cn"]


def runs_of(letters: Iterable[str]) -> str:
    """Characters as runs: how many are between two of them, and how many more follow the first."""
    numbers: list[int] = []
    at = 0
    for point in sorted(map(ord, letters)):
        if numbers and point == at:
            numbers[-1] += 1
        else:
            numbers += [point - at, 0]
        at = point + 1
    return _written(numbers)


@cache
def case_map(of: Callable[[str], str]) -> dict[str, Any]:
    """What letters become, where that is something else.

    ``runs`` has four numbers for letters at equal distances that move by the same difference: the
    distance from the first of the last run, how many there are, their distance and the difference.
    ``more`` has the letters that become several.
    """
    pairs = [(ord(c), mapped) for c in _assigned() if (mapped := of(c)) != c]
    runs: list[list[int]] = []
    for point, mapped in pairs:
        if len(mapped) > 1:
            continue
        difference = ord(mapped) - point
        if runs and runs[-1][3] == difference:
            first, count, step, _ = runs[-1]
            if point - first <= 2 if count == 1 else point - first == count * step:
                runs[-1][1:3] = [count + 1, (point - first) // count]
                continue
        runs.append([point, 1, 1, difference])
    numbers: list[int] = []
    at = 0
    for first, count, step, difference in runs:
        # 0, -1, 1, -2, 2 and so on become 0, 1, 2, 3, 4.
        number = 2 * difference if difference >= 0 else -2 * difference - 1
        numbers += [first - at, count, step, number]
        at = first
    more = [[chr(point), mapped] for point, mapped in pairs if len(mapped) > 1]
    return {"runs": _written(numbers), "more": more}


def _written(numbers: Iterable[int]) -> str:
    """Numbers without anything between them: the last digit of each is no capital letter.

    It has the base 36, and those before it are capital letters, of the base 26.
    """
    digits = []
    for number in numbers:
        rest, last = divmod(number, len(_DIGITS))
        begin = ""
        while rest:
            rest, digit = divmod(rest, len(_CAPITALS))
            begin = _CAPITALS[digit] + begin
        digits.append(begin + _DIGITS[last])
    return "".join(digits)


@cache
def html_references() -> dict[str, Any]:
    """The table that an exported model needs; docs/exporting.md says what it means."""
    ended = {name: value for name, value in html5.items() if name.endswith(";")}
    return {
        "inline": " ".join(sorted(INLINE)),
        "names": " ".join(f"{name}{value}" for name, value in sorted(ended.items())),
        "bare": " ".join(sorted(name for name in html5 if name not in ended)),
        "codes": [
            [code, resolved]
            for code in range(LOW)
            if (resolved := html.unescape(f"&#{code};")) != chr(code)
        ],
    }
