"""Suspected labels: flipped ones come first; the rule against a slow twin of it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

import textreg
from textreg.checking import CheckSettings
from textreg.checking.copies import same_texts
from textreg.checking.documents import Documents, Finding
from textreg.checking.labels import out_of_sample
from textreg.measure.evaluation import contradicted, self_confidence
from textreg.records import Corpus

WHAT = {"post": "parcel box courier late door", "bill": "invoice fee refund charge euro"}
FLIPPED = {3: "bill", 10: "post", 21: "bill"}


def letters(n: int = 60) -> tuple[list[str], list[str]]:
    generator = np.random.default_rng(0)
    labels = ["post" if at % 2 else "bill" for at in range(n)]
    texts = [
        f"{' '.join(generator.choice(WHAT[label].split(), 4))} letter {at}"
        for at, label in enumerate(labels)
    ]
    return texts, [FLIPPED.get(at, label) for at, label in enumerate(labels)]


def suspected(texts: list[str], labels: list, **how: object) -> Finding | None:  # type: ignore[type-arg]
    return textreg.check(texts, labels, **how).find("suspected-labels")


def test_flipped_labels_are_found() -> None:
    finding = suspected(*letters())
    assert finding is not None
    assert set(finding.details["places"]) == {f"document {at + 1}" for at in FLIPPED}
    assert finding.details["accuracy"] == pytest.approx(57 / 60)
    assert "rather " in finding.examples[0].detail
    assert finding.count == finding.to_dict()["count"] == 3


def test_any_number_of_jobs_gives_the_same() -> None:
    texts, labels = letters()
    probabilities = []
    for jobs in (1, 3):
        documents = Documents(Corpus(texts, labels), CheckSettings(jobs=jobs))
        judged = out_of_sample(documents, same_texts(texts))
        assert judged is not None
        probabilities.append(judged.probabilities)
    np.testing.assert_array_equal(*probabilities)


def test_copies_do_not_vouch_for_each_other() -> None:
    """All copies of a text are held out together, so that a wrong label is not learned from one."""
    texts, labels = letters()
    finding = suspected([*texts, texts[3], texts[3]], [*labels, "bill", "bill"])
    assert finding is not None
    assert {"document 4", "document 61", "document 62"} <= set(finding.details["places"])


def test_several_labels() -> None:
    texts, labels = letters()
    several = [[label] for label in labels]
    several[5] = ["bill", "post"]
    finding = suspected(texts, several)
    assert finding is not None
    assert {f"document {at + 1}" for at in (*FLIPPED, 5)} <= set(finding.details["places"])
    details = textreg.check(texts, several, examples=60).find("suspected-labels")
    assert details is not None
    shown = {one.where: one.detail for one in details.examples}
    assert "hardly bill" in shown["document 6"]
    assert "rather also post" in shown["document 4"]


def test_no_table_of_all_weights_is_made() -> None:
    labels = [f"l{at % 100}" for at in range(500)]
    texts = [
        " ".join([label, *(f"w{at}x{n}" for n in range(40))]) for at, label in enumerate(labels)
    ]
    corpus = Corpus(texts, labels)
    documents = Documents(corpus, CheckSettings())
    tracemalloc.start()
    try:
        assert out_of_sample(documents, same_texts(texts)) is not None
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 32_000_000  # weights of 100 labels and 20,000 words take 16 MB, and a copy 16


def test_what_cannot_be_judged_is_said() -> None:
    result = textreg.check(["one text", "another", "a third"], ["a", "b", "a"])
    why = {one.name: one.why for one in result.unchecked}
    assert why["suspected-labels"] == "fewer than two labels have 5 different texts"
    texts, labels = letters()
    rare = textreg.check([*texts, "odd one"], [*labels, "odd"]).find("suspected-labels")
    assert rare is not None
    assert rare.total == 60  # the only one of its label cannot be judged
    odd = [f"odd one {word}" for word in "abcde"]  # as many different texts as it takes
    five = textreg.check([*odd, *texts], [*["odd"] * 5, *labels]).find("suspected-labels")
    assert five is not None
    assert five.total == 65


@draws(60)
@given(st.integers(2, 5), st.integers(5, 40), st.integers(0, 2**16))
def test_the_rule_against_its_twin(k: int, n: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(np.full(k, 0.5), n + k)
    y = np.concatenate([np.arange(k), generator.integers(0, k, n)])
    own = self_confidence(p, y)
    mean = [np.mean([p[i, j] for i in range(len(y)) if y[i] == j]) for j in range(k)]
    count = 0
    for i in range(len(y)):
        sure = [j for j in range(k) if p[i, j] >= mean[j] - 1e-6]
        guess = max(sure, key=lambda j: p[i, j], default=y[i])
        count += guess != y[i] != p[i].argmax()
    ranked = [
        i for i in sorted(range(len(y)), key=lambda i: own[i])[:count] if p[i].argmax() != y[i]
    ]
    rows, likely = contradicted(p, y)
    assert rows.tolist() == ranked
    assert likely.tolist() == [int(p[i].argmax()) for i in ranked]
