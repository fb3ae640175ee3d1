"""Explanations: accounts that add up, and removal scores checked by really removing sentences."""

from __future__ import annotations

import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textreg
from textreg.errors import UsageError
from textreg.explain import Explanation, explain, gives_offsets, path_sentences, removal_tables
from textreg.explain.contributions import text_parts
from textreg.features.encoder import Encoder
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Tokenizer
from textreg.model.model import Model
from textreg.plugins.registry import create
from textreg.tasks import Regression, classification

TEXTS = [
    "Good film. Bad plot; good actors! Never bad.",
    "Bad film. Awful.",
    "zzz",
    "",
    "Good good good. Fine film.",
    "Unknown things. Bad things here! Good.",
]
WEIGHTINGS = ["count", "binary", "log", "unit", "unit-idf", "tfidf"]
LABELS = {2: ["p", "n", "n", "p", "p", "n"], 3: ["a", "b", "c", "a", "b", "c"]}


def trained(weighting: str, n_labels: int) -> Model:
    return textreg.train(
        TEXTS,
        LABELS[n_labels],
        reg="ridge",
        reg_l2=0.1,
        tokenizer="words",
        weighting=weighting,
        min_df=1,
    )


def check_contributions(model: Model, texts: list[str], explanations: list[Explanation]) -> None:
    """The contributions add up to the model's own score, as a whole and by sentence."""
    scores = model.decision_function(texts)
    assert len(explanations) == len(texts)
    for text, score, explanation in zip(texts, scores, explanations, strict=True):
        wanted = score
        if score.ndim:
            wanted = score[model.labels.index(explanation.of)]
        elif model.labels and explanation.of == model.labels[0]:
            wanted = -score
        assert explanation.text == text
        assert explanation.score == pytest.approx(wanted, abs=1e-12)
        total = explanation.intercept + sum(word.value for word in explanation.words)
        assert total == pytest.approx(wanted, abs=1e-9)
        total = explanation.intercept + sum(sentence.value for sentence in explanation.sentences)
        assert total == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_contributions_add_up_and_removals_are_exact(weighting: str, n_labels: int) -> None:
    model = trained(weighting, n_labels)
    texts = [*TEXTS, "good", "Nothing of this. Is known!"]
    explanations = list(explain(model, texts))
    check_contributions(model, texts, explanations)
    assert [each.label for each in explanations] == model.predict(texts)
    for each in explanations:
        assert each.of == each.label
        whole = np.log(each.probabilities[each.of])
        for sentence in each.sentences:
            rest = each.text[: sentence.start] + each.text[sentence.end :]
            probability = model.predict_proba([rest])[0][model.labels.index(each.of)]
            assert sentence.removal == pytest.approx(whole - np.log(probability), abs=1e-9)


@given(st.text(alphabet="ab. \n", max_size=60), st.sampled_from(WEIGHTINGS))
def test_removals_are_exact_for_any_text(text: str, weighting: str) -> None:
    encoder = Encoder(
        create("tokenizer", "words"),
        Vectorizer(ngrams=2, weighting=weighting),
        ["a", "a b", "b", "b b"],
        np.array([1.0, 1.5, 2.0, 2.5]) if "idf" in weighting else None,
    )
    model = Model(
        classification(("n", "p")), encoder, np.array([[1.0, 0.0, -2.0, 0.5]]), np.array([0.25])
    )
    explanation = model.explain(text, of="p")
    check_contributions(model, [text], [explanation])
    # Sentences as texts of their own, for cutting one out may join its neighbors.
    parts = [text[sentence.start : sentence.end] for sentence in explanation.sentences]
    for number, sentence in enumerate(explanation.sentences):
        rest = "\n\n".join(parts[:number] + parts[number + 1 :])
        probability = model.predict_proba([rest])[0][1]
        wanted = np.log(explanation.probabilities["p"]) - np.log(probability)
        assert sentence.removal == pytest.approx(wanted, abs=1e-9)


def test_removal_is_not_the_sum_of_words() -> None:
    (explanation,) = explain(trained("tfidf", 2), TEXTS[:1])
    assert abs(explanation.sentences[0].value - explanation.sentences[0].removal) > 1e-3


def test_occurrences_share_one_value() -> None:
    model = trained("log", 2)
    explanation = model.explain("good good good", of="p")
    good = [word.value for word in explanation.words if word.feature == "good"]
    weight = model.weights[0, list(model.encoder.names).index("good")]
    assert good == pytest.approx([weight * np.log(4) / 3] * 3)
    assert [(w.start, w.end) for w in explanation.words if w.feature == "good good"] == [
        (0, 9),
        (5, 14),
    ]


def test_the_other_label_is_the_opposite() -> None:
    model = trained("tfidf", 2)
    one, other = model.explain(TEXTS[0], of="p"), model.explain(TEXTS[0], of="n")
    assert (other.score, other.intercept) == (-one.score, -one.intercept)
    assert [word.value for word in other.words] == [-word.value for word in one.words]


def test_without_known_words_there_is_the_intercept_only() -> None:
    explanation = trained("tfidf", 3).explain("Qqq. Rrr.")
    assert explanation.words == ()
    assert explanation.score == explanation.intercept
    assert [(s.value, s.removal) for s in explanation.sentences] == [(0.0, 0.0), (0.0, 0.0)]


def test_a_model_without_features() -> None:
    model = Model(
        classification(("n", "p")),
        Encoder(create("tokenizer", "words"), Vectorizer(weighting="count"), []),
        np.zeros((1, 0)),
        np.array([0.5]),
    )
    assert model.explain("good film.").score == 0.5


def test_a_regression_has_no_label_to_explain() -> None:
    model = Model(
        Regression(),
        Encoder(create("tokenizer", "words"), Vectorizer(weighting="count"), ["good"]),
        np.array([[2.0]]),
        np.array([0.5]),
    )
    explanation = model.explain("Good. Good! Other.")
    assert (explanation.of, explanation.probabilities, explanation.score) == ("", {}, 4.5)
    assert [s.removal for s in explanation.sentences] == [2.0, 2.0, 0.0]
    with pytest.raises(UsageError, match="no label 'x'"):
        model.explain("good", of="x")


def test_refusals() -> None:
    model = trained("tfidf", 2)
    with pytest.raises(UsageError, match=r"no label 'q'.*Its labels are: n, p"):
        explain(model, TEXTS, of="q")
    with pytest.raises(UsageError, match="list of texts"):
        explain(model, "good film")
    with pytest.raises(UsageError, match="must be a Model"):
        explain("model.textreg", TEXTS)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="must be a Model"):
        path_sentences("model.textreg", TEXTS)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="must be a Model"):
        gives_offsets("model.textreg")  # type: ignore[arg-type]
    for wrong in (model, [model], {}):
        with pytest.raises(UsageError, match=r"as in \{'mine': model\}"):
            removal_tables(wrong, TEXTS)  # type: ignore[arg-type]


class Blank(Tokenizer):
    """Tokens between blanks, without offsets."""

    name = "test-explain-blank"

    def __call__(self, text: str) -> list[list[str]]:
        return [text.split()]


def test_a_tokenizer_without_offsets_is_refused() -> None:
    encoder = Encoder(Blank(), Vectorizer(weighting="count"), ["good"])
    model = Model(classification(("n", "p")), encoder, np.array([[1.0]]), np.zeros(1))
    with pytest.raises(UsageError, match="'test-explain-blank' does not give character offsets"):
        model.explain("good")


def test_text_parts_cover_the_text_once() -> None:
    explanation = trained("count", 2).explain(TEXTS[0])
    parts = list(text_parts(explanation))
    assert [start for start, _, _ in parts[1:]] == [end for _, end, _ in parts[:-1]]
    assert (parts[0][0], parts[-1][1]) == (0, len(TEXTS[0]))
    for start, end, value in parts:
        covering = [word.value for word in explanation.words if word[0] <= start and end <= word[1]]
        assert value == pytest.approx(sum(covering))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_shows_a_hostile_text_and_runs_nothing() -> None:
    text = 'good <script>alert("x")</script> <img src=x onerror=y> & \u202eevil\x1b[31m'
    parser = _Tags()
    explanation = trained("tfidf", 2).explain(text)
    parser.feed(explanation._repr_html_())
    assert parser.tags == {"div", "p", "b", "span"}
    assert '<script>alert("x")</script>' in parser.text
    assert re.fullmatch(r"<Explanation: \w \(0\.\d+\)   score of .*>", repr(explanation))
    assert not {"\u202e", "\x1b"} & set(parser.text)


def test_the_strongest_word_has_the_strongest_color() -> None:
    explanation = trained("tfidf", 2).explain(TEXTS[0])
    shades = [float(it) for it in re.findall(r"rgba\([\d,]+,([\d.]+)\)", explanation._repr_html_())]
    assert max(shades) == 0.6 > min(shades) > 0.1


def test_records_are_ready_for_json() -> None:
    explanation = trained("tfidf", 2).explain(TEXTS[0])
    data = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert data["words"][0].keys() == {"start", "end", "feature", "value"}
    assert data["sentences"][0].keys() == {"start", "end", "value", "removal", "evidence"}
    text = [data["text"][s["start"] : s["end"]] for s in data["sentences"]]
    assert text == ["Good film.", "Bad plot; good actors!", "Never bad."]


def read(path: Path) -> tuple[list[str], list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], [str(row["label"]) for row in rows]


def test_a_mac_hardware_message(data_dir: Path) -> None:
    """The paper's example task: messages of comp.sys.mac.hardware against those of the PC's."""
    folder = data_dir / "data" / "tasks" / "computer"
    texts, labels = (rows[:300] for rows in read(folder / "train.jsonl.gz"))
    model = textreg.train(texts, labels, reg="sentence", reg_group=0.01, reg_l1=0.1, reg_l2=0.0)
    held, y_true = (rows[:200] for rows in read(folder / "test.jsonl.gz"))
    explanations = list(explain(model, held))
    check_contributions(model, held, explanations)
    mac = [
        each
        for each, label in zip(explanations, y_true, strict=True)
        if each.label == label == "comp.sys.mac.hardware"
    ]
    assert len(mac) > 50
    best = [max(each.sentences, key=lambda sentence: sentence.removal) for each in mac]
    about = sum(
        "mac" in each.text[sentence.start : sentence.end].lower()
        for each, sentence in zip(mac, best, strict=True)
    )
    usual = np.mean(
        ["mac" in each.text[s.start : s.end].lower() for each in mac for s in each.sentences]
    )
    assert about / len(mac) > 2 * usual  # the sentences that decide speak of the machine


@pytest.mark.sampled(1)
@pytest.mark.parametrize("weighting", ["log", "tfidf"])
def test_20news_adds_up(data_dir: Path, weighting: str) -> None:
    texts, labels = (rows[::40] for rows in read(data_dir / "data" / "20news" / "train.jsonl.gz"))
    options = {"tokenizer": "words", "weighting": weighting, "ngrams": 1}
    model = textreg.train(texts[::2], labels[::2], reg="ridge", reg_l2=1.0, **options)
    assert len(model.labels) == 20
    check_contributions(model, texts, list(explain(model, texts)))
