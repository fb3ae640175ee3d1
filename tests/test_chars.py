"""Tokenizer 'chars': the n-grams of scikit-learn, within sentences."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from test_text_kernels import TEXT, TEXTS
from thoroughness import draws

import textreg
from textreg.builtin.tokenizers import Chars, Words
from textreg.cli import main
from textreg.errors import UsageError
from textreg.plugins import registry
from textreg.text import count
from textreg_testing import check_tokenizer


def counts(tokenizer: Chars, text: str) -> Counter[str]:
    return Counter(gram for sentence in tokenizer(text) for gram in sentence)


def of_sklearn(text: str, **options: object) -> Counter[str]:
    return Counter(CountVectorizer(**options).build_analyzer()(text))


@draws(300)
@given(TEXT, st.integers(1, 4), st.integers(0, 4), st.booleans())
@example("a bc \n\n d", 5, 1, True)
@example("İI ΑΣ Σ\u2003x\u0085y", 1, 4, True)
def test_counts_are_those_of_sklearn(text: str, least: int, more: int, lowercase: bool) -> None:
    tokenizer = Chars(min_n=least, max_n=least + more, lowercase=lowercase)
    tokenizer = tokenizer.replace(sentences="none", normalize="none")
    options = {"ngram_range": (least, least + more), "lowercase": lowercase}
    assert counts(tokenizer, text) == of_sklearn(text, analyzer="char_wb", **options)
    across = tokenizer.replace(analyzer="char")
    blanks = " ".join(text.split())
    wanted = of_sklearn(blanks, analyzer="char", **options)
    if 0 < len(blanks.lower() if lowercase else blanks) < least:
        wanted = Counter([blanks.lower() if lowercase else blanks])  # there scikit-learn has none
    assert counts(across, text) == wanted


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["char_wb", "char"]), st.sampled_from(["punct", "none", "lines"]))
def test_encode_gives_what_a_call_does(texts: list[str], analyzer: str, sentences: str) -> None:
    tokenizer = Chars(analyzer=analyzer, sentences=sentences)
    tokens = tokenizer.encode(texts, spans=True)
    names, ptr = tokens.vocabulary, tokens.sentence_ptr
    assert list(names) == sorted(set(names))
    found = [[names[i] for i in tokens.ids[a:b]] for a, b in itertools.pairwise(ptr)]
    assert found == [sentence for text in texts for sentence in tokenizer(text)]
    sizes = [len(tokenizer(text)) for text in texts]
    assert tokens.document_ptr.tolist() == np.cumsum([0, *sizes]).tolist()


def test_one_matrix_is_that_of_sklearn() -> None:
    texts = [
        "The lamp broke. It is dull!",
        "",
        "a",
        "Größe und STRASSE, naïve 灯很亮。 😀",
        "a lamp",
    ]
    tokens = Chars().encode(texts)
    peer = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5))
    X = peer.fit_transform(texts)
    assert list(tokens.vocabulary) == peer.get_feature_names_out().tolist()
    assert (count(tokens) != X).nnz == 0


def test_sentences() -> None:
    text = 'It broke. "I am sad" . No\nway ... (In U.S.)\n\n* Next: 灯很亮。这是！'
    whole = Chars(analyzer="char", min_n=100, max_n=100)
    wanted = 'it broke.|"i am sad" .|no way ...|(in u.s.)|* next: 灯很亮。|这是！'
    assert whole(text) == [[sentence] for sentence in wanted.split("|")]
    assert len(whole(text)) == len(Words()(text))
    rules = ("none", "lines", "paragraphs")
    assert [len(Chars(sentences=rule)(text)) for rule in rules] == [1, 3, 2]
    assert Chars()(" \n ") == Chars()("") == []
    assert len(Chars()("😀\n\n😀")) == 1  # no words, so one sentence


def test_a_sentence_ends_inside_a_run() -> None:
    grams = Chars(min_n=2, max_n=2)("灯很亮。这是")
    assert grams == [[" 灯", "灯很", "很亮", "亮。"], ["这是", "是 "]]


def test_spans_lead_to_the_text() -> None:
    text = "An İIx\t\tend"
    for analyzer in ("char_wb", "char"):
        tokens = Chars(analyzer=analyzer, min_n=1).encode([text], spans=True)
        assert tokens.spans is not None
        assert tokens.sentence_spans is not None
        for id, (start, end) in zip(tokens.ids, tokens.spans.tolist(), strict=True):
            name, part = tokens.vocabulary[id], text[start:end].lower()
            blank = analyzer == "char_wb" or part.isspace()
            assert name.strip() in " ".join(part.split()), (name, part)
            assert start < end
            assert blank or len(" ".join(part.split())) - part.count("i̇") <= len(name)
        assert (np.diff(tokens.spans[:, 0]) >= 0).all()
        assert tokens.sentence_spans.tolist() == [[0, len(text)]]
    tokens = Chars().encode(["a bc"], spans=True)
    assert [tokens.vocabulary[i] for i in tokens.ids][:4] == [" a", " a ", "a ", " b"]
    assert tokens.spans is not None
    assert tokens.spans[:4].tolist() == [[0, 1], [0, 1], [0, 1], [2, 3]]


def test_it_keeps_the_contract_and_comes_in_by_the_door() -> None:
    check_tokenizer(Chars(analyzer="char", min_n=1, max_n=3, lowercase=False))
    assert registry.create("tokenizer", "chars", max_n=3) == Chars(max_n=3)


def test_normal_forms() -> None:
    text = "Cafe\u0301 ab"
    assert Chars()(text) == Chars()("Café ab") != Chars(normalize="none")(text)
    assert Chars(normalize="nfkc")("ﬁx") == Chars()("fix")
    tokens = Chars().encode([text], spans=True)
    assert tokens.spans is not None
    assert tokens.spans[tokens.ids == tokens.vocabulary.index("fé")].tolist() == [[2, 5]]
    assert tokens.spans[tokens.ids == tokens.vocabulary.index("ab")].tolist() == [[6, 8]]


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match=r"min_n is 6 and max_n is 5.*give a min_n up to max_n"):
        Chars(min_n=6)
    with pytest.raises(UsageError, match="min_n must be"):
        Chars(min_n=0)
    with pytest.raises(UsageError, match="analyzer"):
        Chars(analyzer="word")


def test_it_trains_and_explains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"das wird {'gut' if n % 2 else 'schlecht'}. Nummer {n}" for n in range(40)]
    lines = [json.dumps({"text": text, "label": "ab"[n % 2]}) for n, text in enumerate(rows)]
    (tmp_path / "train.jsonl").write_text("\n".join(lines))
    model = str(tmp_path / "m.textreg")
    options = ["--tokenizer", "chars", "--tokenizer-max-n", "4"]
    more = ["--reg", "ridge", "--reg-l2", "0.1", "-o", model]  # both words have weights
    assert main(["train", str(tmp_path / "train.jsonl"), *options, *more]) == 0
    loaded = textreg.load(model)
    assert all(1 < len(name) <= 4 for name in loaded.encoder.names)
    assert loaded.predict(["gut, sehr gut!", "sehr schlechte Sache"]) == ["b", "a"]
    capsys.readouterr()
    assert main(["explain", model, "Es ist gut geworden."]) == 0
    assert re.search(r"gut \+", capsys.readouterr().out)
