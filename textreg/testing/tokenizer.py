"""The contract of tokenizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textreg.errors import BrokenPluginError, UsageError
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records import Tokens
from textreg.testing.checks import Check, Skipped, fail, require, run_checks
from textreg.testing.offsets import check_characters, check_order, check_shift
from textreg.testing.parts import common_checks
from textreg.testing.runs import copies, elsewhere, own_numbers
from textreg.testing.settings import check_settings
from textreg.testing.texts import Trial, TrialCheck, on_texts, trial
from textreg.testing.threads import in_threads

Sentences = list[list[str]]


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
    given = trial(texts)
    checks = common_checks("tokenizer", "tokenizer-")
    imports = checks.all.pop()
    for name, run in _ALL.items():
        checks.add(f"tokenizer-{name}")(on_texts(run, given))
    checks.all.append(imports)
    checks.add("tokenizer-processes")(on_texts(_processes, given))
    return checks.all


def check_tokenizer(
    part: Any, *, texts: Sequence[str] | None = None, skip: Mapping[str, str] | None = None
) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, is a good tokenizer.

    Parameters
    ----------
    part : str, class or Tokenizer
    texts : sequence of str, optional
        Texts that it is tried on as well, such as those of its language.
    skip : mapping of str to str, optional
        Checks to leave out, with the reasons.
    """
    run_checks(tokenizer_checks(texts), part, skip)


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


def _call(tokenizer: Tokenizer, given: Trial) -> None:
    """Any text gives a list of tokens for each sentence; tokens are texts that are not empty, and
    without blanks unless the class says forms_ngrams = False. There are tokens in plain texts."""
    require(
        isinstance(tokenizer.forms_ngrams, bool), "True or False as forms_ngrams", "something else"
    )
    for text in given.every:
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
        any(_called(tokenizer, text) for text in given.plain),
        f"tokens in {given.where}",
        "none. What finds nothing cannot be checked. Give texts in which it finds some: textreg "
        "plugins check NAME --text FILE, or the argument texts",
    )


def _encode(tokenizer: Tokenizer, given: Trial) -> None:
    """encode gives the sentences of a call for every document, in order, and leaves the list of
    texts as it is. Names are distinct, and in an order that does not depend on chance: that of
    first occurrence, sorted, or the same for all texts."""
    texts = list(given.every)
    tokens = encode(tokenizer, texts)
    require(texts == list(given.every), "the list of texts as it was", "another")
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


def _batches(tokenizer: Tokenizer, given: Trial) -> None:
    """A text has the same tokens alone and among others, whatever comes before it."""
    texts = list(given.every)
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


def _spans(tokenizer: Tokenizer, given: Trial) -> None:
    """Character offsets, if it gives them: the tokens and sentences are those without offsets, the
    characters there are those of the token, in order, and lie in the span of its sentence."""
    texts = list(given.every)
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
    check_shift(texts, tokens, lambda changed: encode(tokenizer, changed, spans=True))


def _positions(tokenizer: Tokenizer, given: Trial) -> None:
    """A word gives the same tokens at the beginning and at the end of a text, or of a line, as in
    the middle."""
    words = given.words
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


def _determinism(tokenizer: Tokenizer, given: Trial) -> None:
    """The same texts give the same tokens, also after other texts and in a copy. The random numbers
    of the process are left alone."""
    texts = list(given.every)
    with own_numbers("the same tokens of the same texts"):
        wanted = _arrays(tokenizer, texts)
    first = encode(tokenizer, texts)
    ids = first.ids.copy()
    require(wanted == _arrays(tokenizer, texts), "the same tokens twice", "others")
    encode(tokenizer, given.plain[::-1])
    for text in reversed(given.plain):
        tokenizer(text)
    kept = "others: something of the first texts is kept"
    require(wanted == _arrays(tokenizer, texts), "the same tokens after other texts", kept)
    require(np.array_equal(ids, first.ids), "the first tokens as they were", "others: written to")
    for what, copy in copies(tokenizer).items():
        require(wanted == _arrays(copy, texts), f"the same tokens by {what}", "others")


def _arrays(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Any]:
    """All that has to be the same when texts are encoded again."""
    tokens = encode(tokenizer, texts)
    return [sentences_of(tokens), list(tokens.vocabulary), tokens.sentence_ptr.tolist()]


def _threads(tokenizer: Tokenizer, given: Trial) -> None:
    """Texts that are encoded at the same time, in threads, have the same tokens as alone."""
    tasks = [list(given.every), list(given.plain), list(given.every)[::-1]]
    alone = [_arrays(tokenizer, task) for task in tasks]
    try:
        together = in_threads(_arrays, tokenizer, tasks)
    except Exception as error:  # noqa: BLE001  # of a stranger's code, or what came of it
        fail("the same tokens in threads", f"{type(error).__name__}: {error}")
    require(
        all(turn == alone for turn in together),
        "the same tokens in threads",
        "others: keep what belongs to one call in variables of its own, not in the tokenizer",
    )


def _settings(tokenizer: Tokenizer, given: Trial) -> None:
    """Every parameter has an effect: some other value of it gives other tokens. Not asked of seeds,
    nor of files and other texts."""
    check_settings(tokenizer, [given.every, given.plain], _arrays, list.__eq__)


def _processes(tokenizer: Tokenizer, given: Trial) -> None:
    """A fresh interpreter, with other hash values of texts, gives the same tokens and numbers."""
    tasks = [list(given.plain), list(given.every)]
    there = elsewhere(_arrays, tokenizer, tasks)
    require(
        there == [_arrays(tokenizer, task) for task in tasks],
        "the same tokens and vocabulary in a fresh interpreter",
        "others: the order of a set of texts, hash() or id() may be used, none of which lasts",
    )


_ALL: dict[str, TrialCheck] = {
    "call": _call,
    "encode": _encode,
    "batches": _batches,
    "spans": _spans,
    "positions": _positions,
    "determinism": _determinism,
    "threads": _threads,
    "settings": _settings,
}
