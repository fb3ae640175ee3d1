"""The contract of tokenizers: their tokens, and the offsets that lead to the characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Tokenizer
from textreg.plugins.calls import encode
from textreg.records import Tokens
from textreg_testing.checks import Check, Skipped, contract, fail, require
from textreg_testing.repeated import Repeats, common_checks, repeated_checks
from textreg_testing.texts import POSITIONS, SPECIAL, Trial, trial_of, trials

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
    return checks.of(trials(texts))


check_tokenizer = contract(tokenizer_checks)


def found_in(tokenizer: Tokenizer, texts: Sequence[str] | None = None) -> str:
    """What a tokenizer finds in the texts it is checked on, for people."""
    trial = trial_of(tokenizer, texts)
    tokens = encode(tokenizer, trial.plain)
    tokens_found = f"{len(tokens.ids):,} tokens in {tokens.n_sentences:,} sentences"
    return f"{tokens_found}, {len(tokens.vocabulary):,} of them different, on {trial.where}"


def sentences_of(tokens: Tokens) -> list[Sentences]:
    """For every document the tokens of its sentences, but for empty ones."""
    names, cut, ends = tokens.vocabulary, tokens.sentence_ptr, tokens.document_ptr
    every = [[names[t] for t in tokens.ids[cut[s] : cut[s + 1]]] for s in range(len(cut) - 1)]
    return [list(filter(None, every[ends[d] : ends[d + 1]])) for d in range(tokens.n_documents)]


def _called(tokenizer: Tokenizer, text: str) -> Sentences:
    return [sentence for sentence in tokenizer(text) if sentence]


def _flat(tokenizer: Tokenizer, text: str) -> list[str]:
    return [token for sentence in tokenizer(text) for token in sentence]


@checks.add("call", level=checks.RESULT)
def _call(tokenizer: Tokenizer, trial: Trial) -> None:
    """Any text gives a list of tokens for each sentence; tokens are texts that are not empty, and
    without blanks unless the class says forms_ngrams = False. There are tokens in plain texts."""
    says = tokenizer.forms_ngrams
    require(isinstance(says, bool), "True or False as forms_ngrams", "something else")
    for text in trial.every:
        sentences = tokenizer(text)
        good = isinstance(sentences, list) and all(isinstance(it, list) for it in sentences)
        require(good, f"a list of lists for {text!r:.80}", sentences)
        tokens = [token for sentence in sentences for token in sentence]
        wrong = [token for token in tokens if not isinstance(token, str) or not token]
        require(not wrong, f"texts that are not empty as tokens of {text!r:.80}", wrong)
        several = [token for token in tokens if says and " " in token]
        require(
            not several,
            f"tokens without blanks, which separate the words of n-grams, of {text!r:.80}",
            f"{several[:3]}. Join with another character, or write forms_ngrams = False",
        )
    texts = (*trial.plain, *(() if trial.texts else SPECIAL))
    trial.require_some(any(_called(tokenizer, it) for it in texts), "tokens in")


@checks.add("encode")
def _encode(tokenizer: Tokenizer, trial: Trial) -> None:
    """encode gives the sentences of a call for every document, in order, alone and whatever comes
    before it, and leaves the list of texts as it is. Names are distinct, and in an order that does
    not depend on chance: that of first occurrence, sorted, or the same for all texts."""
    texts = [*trial.every, *trial.every[::-1]]  # each of them twice, after others
    copied = list(texts)
    tokenizer.encode(copied)  # as users call it: a tokenizer is given a copy by textreg
    require(copied == texts, "the list of texts as it was", "another")
    tokens = encode(tokenizer, texts)
    sentences = sentences_of(tokens)
    for document, text in enumerate(texts):
        called = _called(tokenizer, text)
        if called != sentences[document]:
            shifted = called and called in (sentences[document - 1], *sentences[document + 1 :][:1])
            why = ", which is that of a neighbor" if shifted else ""
            fail(f"{called} by encode for {text!r:.80}", f"{sentences[document]}{why}")
        (alone,) = sentences_of(encode(tokenizer, [text]))
        require(alone == called, f"{called} by encode for {text!r:.80} alone", alone)
    names = list(tokens.vocabulary)
    used, first = np.unique(tokens.ids, return_index=True)
    occurring = [names[token] for token in tokens.ids[np.sort(first)]]
    ordered = names == occurring or (names == sorted(names) and len(used) == len(names))
    require(
        ordered or list(encode(tokenizer, texts[:1]).vocabulary) == names,
        "a vocabulary of the tokens that occur, sorted or in order of first occurrence",
        f"{names[:6]}: it may be the order of a set, or kept from other texts",
    )
    encode(tokenizer, [])  # gives no document, or an error


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
    tokens, plain = encode(tokenizer, texts, spans=True), encode(tokenizer, texts)
    for name in ("ids", "sentence_ptr", "document_ptr", "paragraph_ptr", "vocabulary"):
        one, other = getattr(plain, name), getattr(tokens, name)
        require(np.array_equal(one, other), f"the same {name} with offsets and without", "others")
    check_order(texts, tokens)


@checks.add("positions")
def _positions(tokenizer: Tokenizer, trial: Trial) -> None:
    """A word gives the same tokens at the beginning and at the end of a text, or of a line, as in
    the middle; so where words stand between spaces, and where there are none."""
    checked = False
    for gap, stop, words in trial.words:
        for number, word in enumerate(words):
            before, after = words[number - 1], words[number - 2]
            around = f"{after}{gap}{before}{stop}\n\n{{}}{stop}\n\n{before}{gap}{after}{stop}"

            def within(*words: str, gap: str = gap, around: str = around) -> set[str]:
                return {*_flat(tokenizer, around.format(gap.join(words)))}

            common = within(after, before, word, after, before)
            common &= within(after, after, word, before, before)
            doubled = within(after, before * 2, before)
            without = within(after, before, before) | within(after, after, before) | doubled
            tokens = {it for it in common - without if not {*it} & {*gap, *stop, *"\n\r\t "}}
            checked |= bool(tokens)
            parts = {"word": word, "before": before, "after": after, "gap": gap, "stop": stop}
            for text in (form.format(**parts) for form in POSITIONS):
                lost = tokens.difference(_flat(tokenizer, text))
                require(
                    not lost,
                    f"the tokens {sorted(tokens)} of '{word}' in {text!r}",
                    f"none of {sorted(lost)}: the first or the last token, line or sentence may be "
                    "left out",
                )
    if not checked:
        raise Skipped("its tokens are not words between spaces")


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


def _various(tokenizer: Tokenizer, trial: Trial) -> list[list[str]]:
    return [[*trial.every, *trial.plain], list(SPECIAL)]


repeated_checks(checks, Repeats(_made, _plain, _tasks, _various))


def check_characters(tokenizer: Tokenizer, texts: Sequence[str], tokens: Tokens) -> None:
    """ContractError unless the characters at the offsets are those of the tokens."""
    assert tokens.spans is not None
    wrong: list[tuple[str, str, int, int]] = []
    documents = np.repeat(np.arange(len(texts)), np.diff(tokens.token_document_ptr)).tolist()
    for token, document, span in zip(tokens.ids, documents, tokens.spans.tolist(), strict=True):
        name, text = tokens.vocabulary[token], texts[document]
        if not _leads_to(tokenizer, name, text[slice(*span)]):
            wrong.append((name, text, *span))
    few = len(wrong) <= (1.0 - _ENOUGH) * len(tokens.ids)
    for name, text, first, last in wrong:
        # One of several words that a token is of, as in not_good, is a matter of context.
        part, words = text[first:last], re.split(r"[\W_]+", _fold(name))
        if not (few and part and _fold(part) in words):
            fail(
                f"offsets of the token {name!r} in {text[max(first - 12, 0) : last + 12]!r}",
                f"({first}, {last}), where {part!r:.40} is, as for {len(wrong)} of "
                f"{len(tokens.ids)} tokens",
            )


def check_order(texts: Sequence[str], tokens: Tokens) -> None:
    """ContractError unless offsets rise, are not empty, and lie in the text and their sentence."""
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    for document, text in enumerate(texts):
        before = 0
        for sentence in range(*tokens.document_ptr[document : document + 2]):
            here = tokens.spans[slice(*tokens.sentence_ptr[sentence : sentence + 2])]
            first, last = tokens.sentence_spans[sentence].tolist()
            good = bool((here >= 0).all() and (here <= len(text)).all())
            good &= bool((here[:, 0] < here[:, 1]).all() and (np.diff(here[:, 0]) >= 0).all())
            require(good, f"rising offsets in {text!r:.80}", here.tolist())
            within = 0 <= first <= last <= len(text)
            require(within, f"the span of a sentence in {text!r:.80}", (first, last))
            if len(here):
                around = first <= here[0, 0] and here[:, 1].max() <= last
                expected = f"a sentence of {text!r:.80} to span its tokens, {here.tolist()}"
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
    return _flat(tokenizer, part) == [token] and not any(
        not cut.isalnum() and _flat(tokenizer, left) == [token]
        for left, cut in ((part[1:], part[:1]), (part[:-1], part[-1:]))
    )
