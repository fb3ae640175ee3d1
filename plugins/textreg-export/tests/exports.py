"""Models and texts that exports are held against."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import textreg
from textreg.demo import make_reviews
from textreg.model.model import Model

PIECES = """
a A ß İ ı Σ ς ΟΔΟΣ é e\u0301 \u0345 ﬁ ① 中 文 。 ก ำ က ा क । 한 \u1112\u1161\u11ab א
ב ؟ ا . ... ! ?! … : - ' ’ ” “ ( ) < Dr. e.g. U.S. fig. 3 No. 5 12. 1 ٣ x 😀
👩\u200d👩 🇩🇪 🏽 © _ Ⅷ ½ ﷺ Ǆ ǅ \u0f71\u0f72 good bad the box Привет! мир. \u00ad
\u200d \ufe0f \U0001e4ec \U00016d63 \U00016d67 \u2f00 \u0390 ŉ ﬃ ᾳ Ꭰ ꭰ
""".split()
PIECES += [" ", " ", " ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\x1c", "\u2028"]
PIECES += [":\n", "Subject: x\n", "It is good. ", "\ud800", "\x85", "\ufeff"]
"""Letters, marks, blanks and ends of sentences of many scripts, and what is rare."""

HTML = """
<b> </b> <br/> <p <p> </P> <script>x</script> <style <!-- --> <!doctype <a\u3000href='>'> <\u212abd>
< > & &amp; &lt &eacute; &notit; &gtx; &#x41; &#65; &#128; &#1; &#xd800; &#xfffe; &#1114112; &Afr;
&NotEqualTilde; &nbsp; &\u017fhy; <\u017fcript> </\u017fcr\u0131pt > &NewLine;
""".split()
"""What is HTML, and what nearly is."""


def random_texts(number: int, seed: int = 0, *, html: bool = True) -> list[str]:
    """Texts of those pieces, and of any other characters."""
    draw = random.Random(seed)
    pieces = PIECES + HTML if html else PIECES

    def piece() -> str:
        return draw.choice(pieces) if draw.random() < 0.97 else chr(draw.randrange(0x110000))

    return ["".join(piece() for _ in range(draw.randrange(30))) for _ in range(number)]


OPTIONS: dict[str, dict[str, Any]] = {
    "the default": {},
    "known features": {"tokenizer": "words", "weighting": "tfidf", "min_df": 2},
    "characters": {"tokenizer": "chars", "weighting": "log"},
    "characters across": {
        "tokenizer": "chars",
        "tokenizer_analyzer": "char",
        "tokenizer_min_n": 1,
        "tokenizer_normalize": "nfkc",
        "weighting": "unit",
    },
    "marks": {
        "tokenizer": "words",
        "tokenizer_punctuation": True,
        "tokenizer_emoji": True,
        "tokenizer_normalize": "nfkc",
        "weighting": "binary",
    },
    "without HTML": {"strip_html": True, "tokenizer": "words,chars"},
    "as given": {
        "tokenizer": "words",
        "tokenizer_sentences": "lines",
        "tokenizer_lowercase": False,
        "tokenizer_normalize": "none",
        "tokenizer_min_length": 2,
        "weighting": "count",
    },
}


FIELDS: dict[str, Any] = {
    "the title": {"tokenizer": "words,chars"},
    "body": {"ngrams": 1, "weighting": "tfidf", "strip_html": True},
    "brand": "category",
    "price": "number",
}
"""Fields of every kind, with settings of their own."""

BRANDS = [
    "acme",
    " b  c ",
    3,
    3.0,
    "4.0",
    2.5,
    True,
    "TRUE ",
    "False",
    None,
    "",
    "\u3000",
    "ΑΣ",
    "straße",
]
PRICES = [1, 2.5, None, 1e20, "7.25", -3e-7, 0.0, -0.0, "", 1e16, 123456789, 1e-5, 0.0001]
"""What a category and a number can be, and ways to be missing."""


def random_rows(number: int, seed: int = 0, *, html: bool = True) -> list[dict[str, Any]]:
    """Documents of those fields, from random texts."""
    draw = random.Random(seed)
    titles, bodies = (random_texts(number, seed + more, html=html) for more in (1, 2))
    return [
        {
            "the title": title if draw.random() < 0.9 else None,
            "body": body,
            "brand": draw.choice(BRANDS),
            "price": draw.choice(PRICES),
            "more": 1,
        }
        for title, body in zip(titles, bodies, strict=True)
    ]


@cache
def tickets_model(labels: int = 3, **options: Any) -> Model:
    """A model of documents with those fields."""
    rows = random_rows(120, seed=4, html=False)
    names = [f"queue {at % labels}" for at in range(len(rows))]
    settings = options if "reg" in options else {"reg": "ridge", "reg_l2": 0.3, **options}
    settings = {"fields": FIELDS, "tokenizer": "words", **settings}
    return textreg.train(rows, names, **settings)


def reviews_model(labels: int = 2, **options: Any) -> Model:
    """A model of reviews, and of texts in many scripts, with so many labels."""
    named, texts = zip(*make_reviews(60), strict=True)
    more = random_texts(120, seed=1, html="strip_html" in options)
    given = [*texts, *(f"x {text}" for text in more)]
    names = [f"{label}{at // 2 % (labels // 2) or ''}" for at, label in enumerate(named)]
    names += list(islice(_cycled(sorted(set(names))), len(more)))
    settings = {"reg": "ridge", "reg_l2": 0.5, "loss": "logistic", **options}
    return textreg.train(given, names, **settings)


@cache
def model_of(name: str) -> Model:
    """A model with those OPTIONS, which all tests of exports share."""
    return reviews_model(**OPTIONS[name])


def _cycled(items: list[str]) -> Iterator[str]:
    while True:
        yield from items


def difference(one: Any, other: Any) -> float:
    """The largest difference of two answers; infinite where they differ in more than numbers."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return 0.0 if one is other else float("inf")
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((difference(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) == len(other):
            pairs = zip(one, other, strict=True)
            return max((difference(*pair) for pair in pairs), default=0.0)
        return float("inf")
    return 0.0 if one == other else float("inf")


def answers(model: Model, texts: Any) -> list[dict[str, Any]]:
    """What a model says of texts, in the form of the exported ones."""
    texts = model.encoder.documents(texts)
    scores = model.decision_function(texts)
    table = model.task.as_table(scores).tolist()
    probabilities: list[Any] = [None] * len(texts)
    if model.has_probabilities:
        rows = model.probabilities(scores).tolist()
        probabilities = [dict(zip(model.labels, row, strict=True)) for row in rows]
    explained = [each.to_dict() for each in textreg.explain.explain(model, texts, None)]
    if model.task.multilabel:  # of several labels the clearest
        explained = [model.explain(text).to_dict() for text in texts]
    return [
        {"scores": own, "label": label, "probabilities": chances, "explanation": explanation}
        for own, label, chances, explanation in zip(
            table, model.predict(texts), probabilities, explained, strict=True
        )
    ]
