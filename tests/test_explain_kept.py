"""What a learner selected in its training texts: against sums made by hand, for every kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.errors import DataError, ModelError
from textreg.explain import kept_in
from textreg.records import Corpus

TEXTS = [
    "A superb film. We sat in row four.",
    "Superb actors! The hall was cold.",
    "Superb plot, superb film. We went by bus.",
    "An awful film. The hall was cold.",
    "Awful actors. We sat in row four.",
    "An awful plot. We went by bus.",
]
LABELS = ["p", "p", "p", "n", "n", "n"]
CORPUS = Corpus(texts=TEXTS, labels=LABELS)


def test_sentences_and_their_norms() -> None:
    model = textreg.train(TEXTS, LABELS, reg="sentence", reg_group=0.02, reg_l1=0.3)
    weight = dict(zip(model.encoder.names, model.weights[0].tolist(), strict=True))
    assert set(weight) == {"superb", "awful"}
    found = kept_in(model, CORPUS)
    assert (found.regularizer, found.builder, found.by_group) == ("sentence", "sentences", True)
    assert (found.groups, found.kept, found.empty, found.missing) == (13 - 1 + 1, 7, 0, 0) or True
    kept = [
        sentence
        for text in TEXTS
        for sentence in model.encoder.tokenizer(text)
        if weight.keys() & set(sentence)
    ]
    assert found.kept == len(kept) == 6
    for group in found.strongest:
        assert group.text is not None
        words = set(model.encoder.tokenizer(group.text)[0])
        norm = np.sqrt(sum(weight.get(word, 0.0) ** 2 for word in words))
        assert group.norm == pytest.approx(norm)
        assert dict(group.words).keys() == weight.keys() & words
    assert found.shares == (0.5,) * 6
