"""Names of text encodings, and a guess at the one of bytes that are not UTF-8."""

from __future__ import annotations

import codecs
import re

from textreg.errors import UsageError

_NOT_OF_FILES = {
    *("charmap", "idna", "mbcs", "oem", "punycode", "raw_unicode_escape", "undefined"),
    "unicode_escape",
}
"""Codecs between str and bytes that no file of text is written in, or that differ by machine."""

_WESTERN = "cp1252"
_LIKELY = [_WESTERN, "cp1251", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "euc_kr"]
"""The encodings that are guessed; among all of them, short texts look like rare ones."""

_SAMPLE = 16_384

GUESS = "guess"
"""What users call the encoding that is guessed from the bytes of a file."""

GUESSED_FROM = 16_000_000
"""Bytes at the beginning of a file that a guess looks at."""


def check_encoding(encoding: str | None) -> None:
    """Raise UsageError unless this is None, "guess" or the name of an encoding of text files."""
    if encoding is None or encoding == GUESS:
        return
    try:
        codec = codecs.lookup(encoding)
        known = codec.name.replace("-", "_") not in _NOT_OF_FILES
        "a".encode(encoding)  # refuses codecs that are not of text, such as base64 and rot13
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):  # ValueError: a zero byte or a surrogate in the name
        known = False
    if not known:
        raise UsageError(
            f"no text encoding is called '{encoding}'. Common ones: utf-8, utf-16, cp1252, "
            f"latin-1; or {GUESS}."
        )


def keeps_ascii(encoding: str) -> bool:
    """Whether line ends are the same bytes in ``encoding`` as in ASCII."""
    return "\n".encode(encoding) == b"\n"


def guessed_encoding(data: bytes) -> str:
    """The likely encoding of the beginning of a file; UTF-8 if nothing else is likelier."""
    if b"\0" in data and (likely := likely_utf16(data[:_SAMPLE])):
        return likely
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # the last character may be cut
    except UnicodeDecodeError:
        return likely_encoding(data.split(b"\n")) or "utf-8"
    return "utf-8"


def likely_encoding(lines: list[bytes]) -> str | None:
    """The likely encoding of lines, some of which are not UTF-8.

    None if it is UTF-8 with damaged lines, or cannot be told.
    """
    foreign: list[bytes] = []
    utf8 = size = 0
    for line in lines:
        if line.isascii():
            continue
        try:
            line.decode()
        except UnicodeDecodeError:
            if size < _SAMPLE:
                foreign.append(line[:_SAMPLE])
                size += len(line)
        else:
            utf8 += 1  # hardly ever by chance
    if utf8 >= len(foreign):
        return None
    from charset_normalizer import from_bytes

    sample = b"\n".join(foreign)[:_SAMPLE]
    tries = [[_WESTERN], _LIKELY] if _accents(sample) else [_LIKELY]
    found = (from_bytes(sample, cp_isolation=among).best() for among in tries)
    return next((best.encoding.replace("_", "-") for best in found if best is not None), None)


def likely_utf16(data: bytes) -> str | None:
    """``utf-16-le`` or ``utf-16-be`` if data with zero bytes is one of them, without a mark."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    name = "utf-16-le" if odd > even else "utf-16-be"
    # In text, zeros are the high bytes of ASCII.
    if max(even, odd) < 3 or 10 * min(even, odd) > max(even, odd):
        return None
    try:
        text = codecs.getincrementaldecoder(name)().decode(data)
    except UnicodeDecodeError:
        return None
    return name if all(one.isprintable() or one.isspace() for one in text) else None


def _accents(sample: bytes) -> bool:
    """Whether the letters beyond ASCII stand alone among others, as in Western languages."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    letters = b"".join(runs)
    # In cp1252, these are letters, and the quotes, dashes and dots of word processors.
    usual = re.findall(rb"[\x80\x85\x91-\x97\x99\xa0-\xff]", letters)
    return len(letters) < 2 * len(runs) and 4 * len(usual) > 3 * len(letters)
