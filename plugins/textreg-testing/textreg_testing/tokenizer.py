"""The contract of tokenizers: their tokens, and the offsets that lead to the characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from textreg.errors import BrokenPluginError, UsageError
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records import Tokens
from textreg_testing.checks import (
    Check,
    Repeats,
    Skipped,
    common_checks,
    contract,
    fail,
    repeated_checks,
    require,
)
from textreg_testing.texts import Trial, trial

Sentences = list[list[str]]

# Share of tokens whose characters must be theirs; others may be a matter of context.
_ENOUGH = 0.8

checks = common_checks("tokenizer", "tokenizer-")


def tokenizer_checks(texts: Sequence[str] | None = None) -> list[Check]:
    """The checks of tokenizers, in order.

    Parameters
    ----------
    texts : sequence of str, optional
        What the tokenizer is tried on, besides texts of our own.

    Returns
    -------
    list of Check
    """
    return checks.of(trial(texts))


check_tokenizer = contract(tokenizer_checks)


def found_in(tokenizer: Tokenizer, texts: Sequence[str] | None = None) -> str:
    """What a tokenizer finds in the texts it is checked on, for people."""
    given = trial(texts)
    tokens = encode(tokenizer, given.plain)
    return (
        f"{len(tokens.ids):,} tokens in {tokens.n_sentences:,} sentences, "
        f"{len(tokens.vocabulary):,} of them different, on {given.where}"
    )


def encode(tokenizer: Tokenizer, texts: Sequence[str], *, spans: bool = False) -> Tokens:
    """Tokens of texts; ContractError where the tokenizer is broken."""
    try:
        return calls.encode(tokenizer, texts, spans=spans)
    except BrokenPluginError as error:
        fail("tokens", f"the error '{error.cause}'")


def sentences_of(tokens: Tokens) -> list[Sentences]:
    """For every document the tokens of its sentences, but for empty ones."""
    names = tokens.vocabulary
    cut = tokens.sentence_ptr
    every = [[names[t] for t in tokens.ids[cut[s] : cut[s + 1]]] for s in range(len(cut) - 1)]
    ends = tokens.document_ptr
    return [
        [sentence for sentence in every[ends[d] : ends[d + 1]] if sentence]
        for d in range(tokens.n_documents)
    ]


def _called(tokenizer: Tokenizer, text: str) -> Sentences:
    return [sentence for sentence in tokenizer(text) if sentence]


@checks.add("call")
def _call(tokenizer: Tokenizer, trial: Trial) -> None:
    """Any text gives a list of tokens for each sentence; tokens are texts that are not empty, and
    without blanks unless the class says forms_ngrams = False. There are tokens in plain texts."""
    require(
        isinstance(tokenizer.forms_ngrams, bool), "True or False as forms_ngrams", "something else"
    )
    for text in trial.every:
        sentences = tokenizer(text)
        good = isinstance(sentences, list) and all(isinstance(one, list) for one in sentences)
        require(good, f"a list of lists for {text!r:.80}", sentences)
        found = [token for one in sentences for token in one]
        wrong = [token for token in found if not isinstance(token, str) or not token]
        require(not wrong, f"texts that are not empty as tokens of {text!r:.80}", wrong)
        several = [token for token in found if " " in token] if tokenizer.forms_ngrams else []
        require(
            not several,
            f"tokens without blanks, which separate the words of n-grams, of {text!r:.80}",
            f"{several[:3]}. Join with another character, or write forms_ngrams = False",
        )
    require(
        any(_called(tokenizer, text) for text in trial.plain),
        f"tokens in {trial.where}",
        "none. What finds nothing cannot be checked. Give texts in which it finds some: textreg "
        "plugins check NAME --text FILE, or the argument texts",
    )


@checks.add("encode")
def _encode(tokenizer: Tokenizer, trial: Trial) -> None:
    """encode gives the sentences of a call for every document, in order, and leaves the list of
    texts as it is. Names are distinct, and in an order that does not depend on chance: that of
    first occurrence, sorted, or the same for all texts."""
    texts = list(trial.every)
    tokens = encode(tokenizer, texts)
    require(texts == list(trial.every), "the list of texts as it was", "another")
    _require_same(tokenizer, texts, sentences_of(tokens))
    # A list of its own, as users call it: a tokenizer is given a copy above.
    own = list(texts)
    tokenizer.encode(own)
    require(own == texts, "the list of texts as it was", "another")
    names = list(tokens.vocabulary)
    require(len(set(names)) == len(names), "every name once in the vocabulary", "some again")
    used, first = np.unique(tokens.ids, return_index=True)
    occurring = [names[token] for token in tokens.ids[np.sort(first)]]
    ordered = names == occurring or (names == sorted(names) and len(used) == len(names))
    if not ordered:
        fixed = list(encode(tokenizer, texts[:1]).vocabulary) == names
        require(
            fixed,
            "a vocabulary of the tokens that occur, sorted or in order of first occurrence",
            f"{names[:6]}: it may be the order of a set, or kept from other texts",
        )
    none = encode(tokenizer, [])
    require(none.n_documents == 0, "no document of no text", none.n_documents)


def _require_same(tokenizer: Tokenizer, texts: Sequence[str], found: list[Sentences]) -> None:
    require(len(found) == len(texts), f"{len(texts)} documents", len(found))
    for document, text in enumerate(texts):
        called = _called(tokenizer, text)
        if called != found[document]:
            near = [n for n in (document - 1, document + 1) if 0 <= n < len(texts)]
            shifted = any(called == found[n] for n in near if called)
            why = ", which is that of a neighbor" if shifted else ""
            fail(f"{called} by encode for {text!r:.80}", f"{found[document]}{why}")


@checks.add("batches")
def _batches(tokenizer: Tokenizer, trial: Trial) -> None:
    """A text has the same tokens alone and among others, whatever comes before it."""
    texts = list(trial.every)
    wanted = sentences_of(encode(tokenizer, texts))
    orders = {
        "alone": [[place] for place in range(len(texts))],
        "in the opposite order": [list(reversed(range(len(texts))))],
        "twice": [[place for place in range(len(texts)) for _ in range(2)]],
    }
    for how, batches in orders.items():
        for batch in batches:
            found = sentences_of(encode(tokenizer, [texts[place] for place in batch]))
            for place, got in zip(batch, found, strict=True):
                expected = f"{wanted[place]} for {texts[place]!r:.80} given {how}"
                require(got == wanted[place], expected, got)


@checks.add("spans")
def _spans(tokenizer: Tokenizer, trial: Trial) -> None:
    """Character offsets, if it gives them: the tokens and sentences are those without offsets, the
    characters there are those of the token, in order, and lie in the span of its sentence."""
    texts = list(trial.every)
    try:
        raw = tokenizer.encode(list(texts), spans=True)
    except UsageError:
        raise Skipped("it does not give offsets") from None
    if raw.spans is None:
        fail("offsets, or a UsageError", "neither")
    if np.shape(raw.spans) == (len(raw.ids), 2) and raw.n_documents == len(texts):
        check_characters(tokenizer, texts, raw)  # which knows the cause
    tokens = encode(tokenizer, texts, spans=True)
    plain = encode(tokenizer, texts)
    for name in ("ids", "sentence_ptr", "document_ptr", "paragraph_ptr"):
        one, other = getattr(plain, name), getattr(tokens, name)
        same = one is other if one is None or other is None else np.array_equal(one, other)
        require(same, f"the same {name} with offsets and without", "others")
    same = list(plain.vocabulary) == list(tokens.vocabulary)
    require(same, "the same vocabulary with offsets and without", "another")
    check_order(texts, tokens)


@checks.add("positions")
def _positions(tokenizer: Tokenizer, trial: Trial) -> None:
    """A word gives the same tokens at the beginning and at the end of a text, or of a line, as in
    the middle."""
    words = trial.words
    found = False
    for number, word in enumerate(words):
        before, after = words[number - 1], words[number - 2]
        inside = [f"{before} {word} {after}", f"{after} {word} {before}"]
        common = set.intersection(*(_within(tokenizer, one, before, after) for one in inside))
        others = [before, after, before * 2]
        without = set.union(*(_within(tokenizer, one, before, after) for one in others))
        own = {token for token in common - without if not any(map(str.isspace, token))}
        found |= bool(own)
        for text in (
            word,
            f"{before} {after} {word}",
            f"{before} {after} {word}\n",
            f"{word} {before} {after}",
            f"{before} {after}.\n\n{before} {word}",
            f"{word} {before}.\n{after} {before}\n",
            f"{before}. {after}. {before} {word}",
        ):
            lost = own - _flat(tokenizer, text)
            require(
                not lost,
                f"the tokens {sorted(own)} of '{word}' in {text!r}",
                f"none of {sorted(lost)}: the first or the last token, line or sentence may be "
                "left out",
            )
    if not found:
        raise Skipped("its tokens are not words between spaces")


def _within(tokenizer: Tokenizer, some: str, before: str, after: str) -> set[str]:
    """The tokens of a text with ``some`` in the middle of its middle paragraph."""
    return _flat(tokenizer, f"{after} {before}.\n\n{after} {some} {before}.\n\n{before} {after}.")


def _flat(tokenizer: Tokenizer, text: str) -> set[str]:
    return {token for sentence in tokenizer(text) for token in sentence}


def _made(tokenizer: Tokenizer, texts: Sequence[str]) -> Tokens:
    """Its tokens. It is called by itself as well, which must change nothing in what comes later."""
    tokens = encode(tokenizer, texts)
    for text in texts[-1:]:
        tokenizer(text)
    return tokens


def _plain(tokens: Tokens) -> list[Any]:
    """All that has to be the same when texts are encoded again."""
    return [sentences_of(tokens), list(tokens.vocabulary), tokens.sentence_ptr.tolist()]


def _tasks(tokenizer: Tokenizer, trial: Trial) -> list[list[str]]:
    return [list(trial.every), list(trial.plain), list(trial.every)[::-1]]


repeated_checks(checks, Repeats(_made, _plain, _tasks, _tasks))


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
            f"offsets of the token {name!r} in {text[max(first - 12, 0) : last + 12]!r}",
            f"({first}, {last}), where {text[first:last]!r:.40} is, as for {len(wrong)} of "
            f"{len(tokens.ids)} tokens",
        )


def check_order(texts: Sequence[str], tokens: Tokens) -> None:
    """ContractError unless offsets rise, are not empty, and lie in the text and their sentence."""
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    for document, text in enumerate(texts):
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
