"""From strings to features, texts in memory, beside scikit-learn and a bare C++ loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import Call, Side
from benchmarks.performance.line import OURS, Goal, Line
from benchmarks.performance.training import LOOP, SVM, loop

WORD = r"(?u)\b\w+\b"
"""The rule of tokenizer ``words``, for scikit-learn."""


def of(texts: list[str], run: Any) -> Call:
    """A call on texts; so its speed is known."""
    size = sum(len(text.encode()) for text in texts)
    return Call(lambda: {"bytes": size, "entries": run(texts).nnz})


def default(ground: Ground) -> Mapping[str, Side]:
    """What the default takes of words: tf-idf of words and pairs, and groups of sentences."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from textreg.builtin.group_builders import Sentences
    from textreg.builtin.tokenizers import Words
    from textreg.features.vectorize import Vectorizer

    def ours(texts: list[str]) -> Any:
        features = Vectorizer().fit(Words(), texts)
        _ = Sentences().build(features.tokens).merged
        return features.X

    def theirs(texts: list[str]) -> Any:
        tfidf = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True, ngram_range=(1, 2))
        return tfidf.fit_transform(texts)

    texts = ground.texts("20news/train")
    return {OURS: of(texts, ours), SVM: of(texts, theirs), **loop(ground, "20news/train")}


def words(ground: Ground) -> Mapping[str, Side]:
    """Counts of words."""
    from sklearn.feature_extraction.text import CountVectorizer

    from textreg.builtin.tokenizers import Words
    from textreg.features.vectorize import Vectorizer

    def ours(texts: list[str]) -> Any:
        return Vectorizer(weighting="count", ngrams=1).fit(Words(), texts).X

    def theirs(texts: list[str]) -> Any:
        return CountVectorizer(token_pattern=WORD).fit_transform(texts)

    texts = ground.texts("20news/train")
    return {OURS: of(texts, ours), SVM: of(texts, theirs), **loop(ground, "20news/train", 1)}


def characters(ground: Ground) -> Mapping[str, Side]:
    """Counts of characters 2 to 5 within words; every third message, as scikit-learn is slow."""
    from sklearn.feature_extraction.text import CountVectorizer

    from textreg.builtin.tokenizers import Chars
    from textreg.features.vectorize import Vectorizer

    def ours(texts: list[str]) -> Any:
        return Vectorizer(weighting="count", ngrams=1).fit(Chars(sentences="none"), texts).X

    def theirs(texts: list[str]) -> Any:
        return CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit_transform(texts)

    texts = ground.texts("20news/train")[::3]
    return {OURS: of(texts, ours), "char_wb": of(texts, theirs)}


def known(ground: Ground) -> Mapping[str, Side]:
    """New texts to features that are known: tf-idf of words and pairs."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from textreg.builtin.tokenizers import Words
    from textreg.features.vectorize import Vectorizer

    train, texts = ground.texts("20news/train")[::3], ground.texts("20news/test")[::3]
    encoder = Vectorizer().fit(Words(), train).encoder
    tfidf = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True, ngram_range=(1, 2)).fit(train)
    return {
        OURS: of(texts, encoder.transform),
        SVM: of(texts, tfidf.transform),
        **loop(ground, "20news/test"),
    }


LINES = (
    Line(
        "features-default",
        "20news to words and pairs by tf-idf, and groups of sentences",
        default,
        figure="speed",
        goals=(Goal("speed", 30.0), Goal("cpu", 1.5, LOOP)),
        bounds=(LOOP,),
        calls=True,
    ),
    Line(
        "features-words",
        "20news to counts of words",
        words,
        figure="speed",
        bounds=(LOOP,),
        calls=True,
    ),
    Line(
        "features-characters",
        "a third of 20news to counts of characters 2 to 5 within words",
        characters,
        figure="speed",
        goals=(Goal("cpu", 0.2, "char_wb"),),
        calls=True,
    ),
    Line(
        "features-known",
        "new texts to known words and pairs",
        known,
        figure="speed",
        bounds=(LOOP,),
        calls=True,
    ),
)
