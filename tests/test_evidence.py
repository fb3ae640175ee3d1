"""Evidence of tokens and sentences: the formulas by hand, and what they must not depend on."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textreg
from textreg.errors import DataError, UsageError
from textreg.explain import explain
from textreg.explain.agreement import BINS, rationale_scores
from textreg.explain.contributions import explained_batch
from textreg.explain.marks import Columns, MarkedDocument, marked_document
from textreg.measure.rationale_scores import AGREEMENT
from textreg.model.model import Model

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
    for start, end, _, value in explanation.words:
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


def marked(text: str, *passages: str) -> MarkedDocument:
    spans = [[text.index(one), text.index(one) + len(one)] for one in passages]
    return MarkedDocument.of(text, spans)


def test_agreement_by_hand() -> None:
    model = MODELS["words"]
    document = marked("A good film. Awful end of it all.", "good film")
    found = rationale_scores(model, [document, marked("Bad. Good.")], of="p")
    assert (len(found), found.left_out) == (1, 1)
    assert (found.marked_sentences, found.marked_tokens) == (0.5, 2 / 8)
    row = dict(zip(found.names, found.table[0].tolist(), strict=True))
    assert row["sentence_auprc"] == row["top_1"] == row["r_precision"] == 1.0
    assert row["top_3"] == 0.5  # of two sentences
    evidence = explained_batch(model, [document.text], "p").evidence()
    best = np.argsort(-evidence.of_tokens, kind="stable")[:2]  # a quarter of eight
    assert row["token_f1"] == len({1, 2} & set(best.tolist())) / 2


def test_faithfulness_is_that_of_texts_without_the_words() -> None:
    model = MODELS["words"]
    text = "A good film with awful jokes and dull actors who are never fine."
    found = rationale_scores(model, [marked(text, "good")], of="p", share=0.2)
    words = text.split()
    evidence = explained_batch(model, [text], "p").evidence().of_tokens
    order = np.argsort(-evidence, kind="stable")

    def probability(kept: set[int]) -> float:
        rest = " ".join(word for t, word in enumerate(words) if t in kept)
        return float(model.predict_proba([rest])[0, model.labels.index("p")])

    every = set(range(len(words)))
    falls = []
    for share in (0.2, *BINS):
        chosen = set(order[: int(np.ceil(share * len(words)))].tolist())
        falls.append([probability(every) - probability(kept) for kept in (every - chosen, chosen)])
    wanted = [*falls[0], *np.mean(falls[1:], axis=0)]
    np.testing.assert_allclose(found.table[0, len(AGREEMENT) :], wanted, atol=1e-9)
    hinge = rationale_scores(MODELS["squared hinge"], [marked(text, "good")])
    assert hinge.names == AGREEMENT


def test_given_sentences() -> None:
    text = "good film bad end"
    whole = marked(text, "good")
    halves = MarkedDocument.of(text, [[0, 4]], [[0, 9], [10, 17]])
    model = MODELS["words"]
    assert rationale_scores(model, [whole], "p").marked_sentences == 1.0
    found = rationale_scores(model, [halves], "p")
    assert found.marked_sentences == 0.5
    assert found.measures(resamples=5)["top_1"].value == 1.0
    with pytest.raises(UsageError, match="give all or none"):
        rationale_scores(model, [whole, halves])


def test_the_values_of_columns() -> None:
    columns = Columns("evidence", "parts")
    row = {"evidence": [[0, 4], [2, 6]], "parts": "[[0, 4], [4, 9]]"}
    found = marked_document("good film", row, columns, "a.csv:2")
    assert found.passages.tolist() == row["evidence"]
    assert found.sentences is not None
    assert found.sentences.tolist() == [[0, 4], [4, 9]]
    for empty in (None, "", " ", [], "[]"):
        none = marked_document("good", {"evidence": empty}, Columns("evidence"), "a.csv:2")
        assert none.passages.shape == (0, 2)
        assert none.sentences is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[0, 5]], r"a.csv:2: 'evidence' has \[0, 5\], but the text has the .* 0 to 4"),
        ([[-1, 2]], r"\[-1, 2\]"),
        ([[2, 2]], "begins before it ends"),
        ("good", "has good, not a list of pairs of offsets"),
        ("[" * 100_000, "not a list of pairs"),
        ([0, 4], "has 0, not a list of pairs"),
        ([[0, 1, 2]], r"has \[0, 1, 2\], not a list"),
        ([[0, 1.5]], r"has \[0, 1.5\], not a list"),
        ([[False, True]], r"has \[false, true\], not a list"),
        ({"start": 0}, "not a list of pairs"),
        (3, "has 3, not a list"),
    ],
)
def test_wrong_values(value: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        marked_document("good", {"evidence": value}, Columns("evidence"), "a.csv:2")


def test_sentences_that_overlap() -> None:
    row = {"evidence": [], "parts": [[0, 3], [2, 4]]}
    with pytest.raises(DataError, match=r"'parts' has \[2, 4\] after \[0, 3\]"):
        marked_document("good", row, Columns("evidence", "parts"), "a.csv:2")


def test_what_cannot_be_compared() -> None:
    model = MODELS["words"]
    with pytest.raises(DataError, match="none of the 1 documents has a marked passage"):
        rationale_scores(model, [marked("good")])
    with pytest.raises(UsageError, match="share is 0"):
        rationale_scores(model, [marked("good", "good")], share=0)
    several = textreg.train(TEXTS, [["p"], ["n"], ["p", "n"], ["n"]], reg="ridge", reg_l2=0.1)
    with pytest.raises(UsageError, match="several labels"):
        rationale_scores(several, [marked("good", "good")])
    assert len(rationale_scores(several, [marked("good", "good")], of="p")) == 1
