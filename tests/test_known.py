"""Rows of new texts found by compiled lookups: the same bits as by names, for one text or many."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_text_kernels import TEXTS
from thoroughness import draws

import textreg
from textreg.builtin.tokenizers import Chars, Words
from textreg.errors import DataError, UsageError
from textreg.features.encoder import WEIGHTINGS, Encoder
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Tokenizer

TRAIN = [
    "The cat sat on the mat. The cat ran away!",
    "Ένα, δύο — Straße und STRASSE; 中文字 и ещё.\n\nAnd a longwordindeed of thirteen letters :-)",
    "<p>The dog &amp; the cat</p> 😀 the dog ran",
]
NEW = [
    "the dog sat. A cat ran away, the longwordindeed :-)",
    "",
    "nothing known hereabouts?",
    "中文 straße the cat\ud800 😀 <b>the</b> mat \0 the the the the",
]


class OtherWords(Words):
    """The same by names, as a tokenizer of a plugin."""


class OtherChars(Chars):
    """Likewise."""


TOKENIZERS = st.one_of(
    st.builds(
        lambda kind, **rules: (Words(**rules), OtherWords(**rules)),
        st.just(None),
        lowercase=st.booleans(),
        min_length=st.integers(1, 3),
        sentences=st.sampled_from(["punct", "none", "lines"]),
        normalize=st.sampled_from(["nfc", "nfkc", "none"]),
        punctuation=st.booleans(),
        emoji=st.booleans(),
    ),
    st.builds(
        lambda kind, low, more, **rules: (
            Chars(min_n=low, max_n=low + more, **rules),
            OtherChars(min_n=low, max_n=low + more, **rules),
        ),
        st.just(None),
        st.integers(1, 3),
        st.integers(0, 3),
        analyzer=st.sampled_from(["char", "char_wb"]),
        lowercase=st.booleans(),
        sentences=st.sampled_from(["punct", "none", "lines"]),
        normalize=st.sampled_from(["nfc", "nfkc", "none"]),
    ),
)


def by_names(encoder: Encoder, tokenizer: Tokenizer) -> Encoder:
    """The encoder with another tokenizer."""
    other: Encoder = pickle.loads(pickle.dumps(encoder))
    other.tokenizer = tokenizer
    other.__dict__.pop("known", None)
    return other


def bits(rows: Any) -> list[Any]:
    return [rows.indptr.tolist(), rows.indices.tolist(), rows.data.tobytes()]


@draws(60)
@given(
    TOKENIZERS,
    st.sampled_from(sorted(WEIGHTINGS)),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    TEXTS,
    st.randoms(use_true_random=False),
)
def test_the_same_bits_as_by_names(
    tokenizers: tuple[Tokenizer, Tokenizer],
    weighting: str,
    ngrams: int,
    strip: bool,
    stop: bool,
    texts: list[str],
    random: Any,
) -> None:
    vectorizer = Vectorizer(weighting=weighting, ngrams=ngrams, strip_html=strip)
    encoder = vectorizer.fit(tokenizers[0], TRAIN).encoder.parts[0]
    some = [at for at in range(len(encoder.vocabulary)) if random.random() < 0.7]
    few = encoder.restrict(np.array(some, dtype=np.int64))
    if stop and tokenizers[0].forms_ngrams:
        encoder.stop_words = few.stop_words = ("cat", "the", "a")
    for one in (encoder, few):
        other = by_names(one, tokenizers[1])
        assert other.known is None
        assert one.known is not None
        every = [*NEW, *texts, *TRAIN]
        rows = one.rows(every)
        assert bits(rows) == bits(other.rows(every))
        for d, text in enumerate(every):
            alone = one.rows([text])
            here = slice(rows.indptr[d], rows.indptr[d + 1])
            assert alone.indices.tolist() == rows.indices[here].tolist()
            assert alone.data.tobytes() == rows.data[here].tobytes()


def test_models_of_several_labels_and_tokenizers(tmp_path: Path) -> None:
    texts, labels = (
        [text.replace("<", "(").replace("&", "+") for text in TRAIN] * 3,
        ["cat", "other", "dog"] * 3,
    )
    model = textreg.train(texts, labels, reg=textreg.Ridge(l2=0.1))
    assert [part.known is not None for part in model.encoder.parts] == [True, True]
    expected = model.decision_function(NEW)
    model.save(tmp_path / "m.textreg")
    loaded = textreg.load(tmp_path / "m.textreg")
    for d, text in enumerate(NEW):
        for one in (model, loaded, pickle.loads(pickle.dumps(loaded))):
            assert one.decision_function([text])[0].tobytes() == expected[d].tobytes()
            proba = one.predict_proba([text])[0]
            assert proba.tobytes() == model.predict_proba(NEW)[d].tobytes()
            assert one.predict([text]) == model.predict(NEW)[d : d + 1]


def test_texts_are_scored_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = TRAIN[:2] * 3, ["cat", "other"] * 3
    model = textreg.train(texts, labels, reg=textreg.Ridge(l2=0.1), tokenizer="words")
    texts = [*NEW, "", *TRAIN]
    expected = model.decision_function(texts)
    found: list[list[str]] = []
    whole = model.encoder.rows
    monkeypatch.setattr(model.encoder, "rows", lambda texts: (found.append(texts), whole(texts))[1])
    monkeypatch.setattr("textreg.model.model.BLOCK", 60)
    assert model.decision_function(texts).tobytes() == expected.tobytes()
    assert [text for block in found for text in block] == texts
    assert [len(block) for block in found] == [3, 3, 1, 1]
    assert model.decision_function([]).shape == (0,)


def test_what_is_no_text_is_refused_as_before() -> None:
    model = textreg.train(TRAIN[:2] * 3, ["a", "b"] * 3, reg=textreg.Ridge(l2=0.1))
    with pytest.raises(UsageError, match="list of texts"):
        model.predict("one text")
    with pytest.raises(DataError, match="document 2 is missing"):
        model.predict(["fine", None])  # type: ignore[list-item]
    with pytest.raises(DataError, match="Lists of tokens"):
        model.predict(["fine", ["a", "b"]])  # type: ignore[list-item]
