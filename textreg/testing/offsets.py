"""Whether the offsets of tokens lead to their characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from textreg.kinds import Tokenizer
from textreg.records import Tokens
from textreg.testing.checks import fail, require

_ENOUGH = 0.8
"""Share of tokens whose characters must be theirs; others may be a matter of context."""


def check_characters(tokenizer: Tokenizer, texts: Sequence[str], tokens: Tokens) -> None:
    """ContractError unless the characters at the offsets are those of the tokens."""
    wrong: list[tuple[str, str, int, int]] = []
    for document, text in enumerate(texts):
        start, end = tokens.token_document_ptr[document : document + 2]
        assert tokens.spans is not None
        for token, (first, last) in zip(
            tokens.ids[start:end], tokens.spans[start:end].tolist(), strict=True
        ):
            name = tokens.vocabulary[token]
            if not _leads_to(tokenizer, name, text[first:last]):
                wrong.append((name, text, first, last))
    few = len(wrong) <= (1.0 - _ENOUGH) * len(tokens.ids)
    clear = [one for one in wrong if not few or not _is_of_context(one[0], one[1][one[2] : one[3]])]
    if clear:
        name, text, first, last = clear[0]
        fail(
            f"offsets of the token {name!r} in {_around(text, first, last)!r}",
            f"({first}, {last}), where {text[first:last]!r:.40} is, as for {len(wrong)} of "
            f"{len(tokens.ids)} tokens{_cause(*clear[0])}",
        )


def check_order(texts: Sequence[str], tokens: Tokens) -> None:
    """ContractError unless offsets rise, are not empty, and lie in the text and their sentence."""
    for document, text in enumerate(texts):
        _check_order(tokens, document, text)


def _check_order(tokens: Tokens, document: int, text: str) -> None:
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    low, high = tokens.document_ptr[document : document + 2]
    before = 0
    for sentence in range(low, high):
        here = tokens.spans[tokens.sentence_ptr[sentence] : tokens.sentence_ptr[sentence + 1]]
        first, last = tokens.sentence_spans[sentence].tolist()
        inside = bool((here >= 0).all() and (here <= len(text)).all())
        filled = bool((here[:, 0] < here[:, 1]).all())
        rising = bool((np.diff(here[:, 0]) >= 0).all())
        require(inside and filled and rising, f"rising offsets in {text!r:.80}", here.tolist())
        within = 0 <= first <= last <= len(text)
        require(within, f"the span of a sentence in {text!r:.80}", (first, last))
        if len(here):
            around = first <= here[0, 0] and here[:, 1].max() <= last
            expected = (
                f"sentence {sentence - low} of {text!r:.80} to span its tokens, {here.tolist()}"
            )
            require(around, expected, (first, last))
            require(before <= first, f"sentences of {text!r:.80} in turn", (first, last))
            before = last


def check_shift(
    texts: Sequence[str], tokens: Tokens, encode: Callable[[list[str]], Tokens]
) -> None:
    """ContractError unless a text that is there twice has its offsets twice, the later ones moved.

    Not asked where its tokens depend on what is before them.
    """
    assert tokens.spans is not None
    doubled = [f"{text}\n\n{text}" for text in texts]
    found = encode(doubled)
    assert found.spans is not None
    for document, text in enumerate(texts):
        start, end = tokens.token_document_ptr[document : document + 2]
        low, high = found.token_document_ptr[document : document + 2]
        names = [tokens.vocabulary[token] for token in tokens.ids[start:end]]
        if [found.vocabulary[token] for token in found.ids[low:high]] != names * 2:
            continue
        one, two = tokens.spans[start:end], found.spans[low:high]
        wanted = np.concatenate([one, one + len(text) + 2])
        require(
            np.array_equal(two, wanted),
            f"offsets {wanted.tolist()} in {text + ' ' + text!r:.80}, which repeats itself",
            f"{two.tolist()}: a repeated word may be looked for from the beginning",
        )


def _fold(text: str) -> str:
    """A text without what tokenizers change: case, accents, white space, forms of characters."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return re.sub(r"\s+", " ", plain)


def _leads_to(tokenizer: Tokenizer, token: str, part: str) -> bool:
    """Whether a part of a text is what a token stands for."""
    if part != part.strip() and token.strip() == token:
        return False
    one, other = _fold(token), _fold(part)
    if one == other:
        return True
    shorter = (part[1:].lower(), part[:-1].lower())
    if token in part.lower() and not any(token in it for it in shorter):
        return True  # a part of the two characters that 'İ' has in lower case
    rest = one.replace(other, "", 1) if other and other in one else "x"
    if not any(map(str.isalnum, rest)):  # marks of a piece of a word, as in ##ing
        return True
    return _gives(tokenizer, part, token) and not any(
        not shorter[1].isalnum() and _gives(tokenizer, shorter[0], token)
        for shorter in ((part[1:], part[:1]), (part[:-1], part[-1:]))
    )


def _gives(tokenizer: Tokenizer, text: str, token: str) -> bool:
    """Whether a text is this one token."""
    return [it for sentence in tokenizer(text) for it in sentence] == [token]


def _is_of_context(token: str, part: str) -> bool:
    """Whether a token has its part of the text as one of several, as in ``not_good``."""
    return bool(part) and _fold(part) in re.split(r"[\W_]+", _fold(token))


def _around(text: str, first: int, last: int) -> str:
    return text[max(first - 12, 0) : last + 12]


def _cause(name: str, text: str, first: int, last: int) -> str:
    """What the offsets may count instead."""
    raw = text.encode("utf-8", errors="surrogatepass")[first:last]
    units = text.encode("utf-16-le", errors="surrogatepass")[2 * first : 2 * last]
    counts: dict[str, Any] = {
        "bytes": raw.decode("utf-8", errors="replace"),
        "units of UTF-16": units.decode("utf-16-le", errors="replace"),
        "characters of the text in lower case": text.lower()[first:last],
    }
    counts |= {
        f"characters of the text as {f}": unicodedata.normalize(f, text)[first:last]
        for f in ("NFC", "NFD", "NFKC", "NFKD")
    }
    if not text.isascii():
        for what, found in counts.items():
            if _fold(found) == _fold(name):
                return f": they may count {what}"
    moves = {
        "the end is off by one: it is that of the character after the last": (0, 1),
        "the end is off by one: it is not part of the token": (0, -1),
        "the start is off by one": (1, 0),
        "the start is off by one: it counts from 0": (-1, 0),
        "start and end are too large by one: they count from 0": (-1, -1),
        "start and end are too small by one": (1, 1),
    }
    for why, (start, end) in moves.items():
        if _fold(text[max(first + start, 0) : last + end]) == _fold(name):
            return f": {why}"
    return ""
