"""Evidence of tokens and sentences: the formulas by hand, and what they must not depend on."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textreg
from textreg.explain import explain
from textreg.explain.contributions import explained_batch
from textreg.features.encoder import Encoder
from textreg.features.vectorize import Vectorizer
from textreg.model.model import Model
from textreg.tasks import classification

TEXTS = [
    "A good film. The plot is bad; good actors! Never dull.",
    "A bad film. Awful, dull plot.",
    "Good good good. Fine film, and the actors are fine.",
    "Dull things. Awful acting here! A bad end.",
]
LABELS = ["p", "n", "p", "n"]


def trained(**options: object) -> Model:
    given = {"reg": "ridge", "reg_l2": 0.1, "min_df": 1, **options}
    return textreg.train(TEXTS, LABELS, **given)


MODELS = {
    "words": trained(tokenizer="words", ngrams=1),
    "pairs": trained(tokenizer="words", ngrams=2),
    "joined": trained(tokenizer="words,chars"),
    "squared hinge": trained(tokenizer="words", loss="squared-hinge"),
}


def naive(model: Model, text: str) -> tuple[list[float], list[float]]:
    """(V1) to (V3), word by word, from the explanation."""
    explanation = model.explain(text)
    tokens = [match.span() for match in re.finditer(r"\S+", text)]
    values = [0.0] * len(tokens)
    for start, end, _, value, _ in explanation.words:
        inside = [t for t, (a, b) in enumerate(tokens) if a < end and b > start]
        for t in inside:
            values[t] += value / len(inside)
    squares = [max(value, 0.0) ** 2 for value in values]
    starts = [one.start for one in explanation.sentences]
    home = [max(sum(start < b for start in starts) - 1, 0) for _, b in tokens]
    sentences = []
    for s in range(len(starts)):
        own = [t for t, number in enumerate(home) if number == s]
        around = [np.mean(squares[max(t - 100, 0) : t + 101]) for t in own]
        norm = (sum(squares[t] for t in own) / (len(own) + 8)) ** 0.5
        sentences.append(norm + (np.mean(around) ** 0.5 if own else 0.0))
    found = []
    for t in range(len(tokens)):
        near = [u for u in range(len(tokens)) if abs(u - t) <= 9]
        weights = np.exp([-0.5 * ((u - t) / 3) ** 2 for u in near])
        mean = weights @ [squares[u] for u in near] / weights.sum()
        found.append(mean**0.5 + (sentences[home[t]] if starts else 0.0))
    return sentences, found


@pytest.mark.parametrize("name", MODELS)
def test_the_formulas(name: str) -> None:
    model = MODELS[name]
    texts = [*TEXTS, "unknown", "", "  \n", "A good film, dull plot. " * 60 + "zz " * 120 + "Good."]
    evidence = explained_batch(model, texts).evidence()
    for d, text in enumerate(texts):
        sentences, tokens = naive(model, text)
        own = slice(evidence.sentence_ptr[d], evidence.sentence_ptr[d + 1])
        np.testing.assert_allclose(evidence.of_sentences[own], sentences, rtol=1e-9, atol=1e-9)
        own = slice(evidence.token_ptr[d], evidence.token_ptr[d + 1])
        np.testing.assert_allclose(evidence.of_tokens[own], tokens, rtol=1e-9, atol=1e-9)
    shown = [one.evidence for each in explain(model, texts) for one in each.sentences]
    assert shown == evidence.of_sentences.tolist()


@given(st.lists(st.text(alphabet="goodbafilm .!\n\té中", max_size=60), min_size=1, max_size=4))
def test_any_text_and_whichever_others_are_explained_with_it(texts: list[str]) -> None:
    model = MODELS["joined"]
    together = [one.sentences for one in explain(model, texts)]
    assert together == [model.explain(text).sentences for text in texts]
    assert all(one.evidence >= 0 for each in together for one in each)


def test_tokens_of_texts_without_sentences_are_in_none() -> None:
    evidence = explained_batch(MODELS["words"], ["!! ??", "A good film. Good."]).evidence()
    assert evidence.sentence.tolist() == [-1, -1, 0, 0, 0, 1]
    assert evidence.sentence_ptr.tolist() == [0, 0, 2]


def test_an_explanation_takes_the_memory_of_its_text() -> None:
    names, labels = [f"w{at:04}" for at in range(2_000)], [f"l{at:03}" for at in range(200)]
    encoder = Encoder(textreg.tokenizer("words"), Vectorizer(weighting="count"), names)
    model = Model(classification(labels), encoder, np.ones((200, 2_000)), np.zeros(200))
    model.explain("w0001 w0002")  # what is made once
    tracemalloc.start()
    try:
        model.explain("w0001 w0002")
        assert tracemalloc.get_traced_memory()[1] < 500_000  # a table of all weights takes 3.2 MB
    finally:
        tracemalloc.stop()


def test_only_support_is_evidence() -> None:
    model = MODELS["words"]
    for_p, for_n = (model.explain("Good film. Awful end.", of=of).sentences for of in "pn")
    assert for_p[0].evidence > for_p[1].evidence
    assert for_n[0].evidence < for_n[1].evidence


def test_characters_count_for_their_words() -> None:
    model = trained(tokenizer="chars")
    evidence = explained_batch(model, ["zzz good zzz"]).evidence()
    assert evidence.of_tokens.argmax() == 1
    assert evidence.tokens.tolist() == [[0, 3], [4, 8], [9, 12]]
