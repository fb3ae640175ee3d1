"""Reports: their numbers against sums made by hand; pages that are whole, small and harmless."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from pages import HOSTILE, Page

import textreg
from textreg.demo import write_demo
from textreg.errors import DataError, ModelError, UsageError
from textreg.model.model import Model
from textreg.model.summary import MarksSummary
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg_report import Report, report
from textreg_report import page as pages
from textreg_report.agreement import MarkedDocument
from textreg_report.page import Section
from textreg_report.significance import p_text, sign_test


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, train=240, test=100)
    return folder


@pytest.fixture(scope="module")
def train(demo: Path) -> Corpus:
    return read_corpus([str(demo / "train.jsonl")])


@pytest.fixture(scope="module")
def test(demo: Path) -> Corpus:
    return read_corpus([str(demo / "test.jsonl")])


@pytest.fixture(scope="module")
def model(train: Corpus) -> Model:
    assert train.labels is not None
    # Of words alone, whose errors are more than the page shows documents of other kinds.
    return textreg.train(
        train.texts, train.labels, reg="sentence", tokenizer="words", ngrams=1, path=True, cv=2
    )


@pytest.fixture(scope="module")
def whole(model: Model, train: Corpus, test: Corpus) -> Report:
    return report(model, test, train=train, title="demo.textreg")


def right(found: Report) -> int:
    matrix = found.scores.matrix
    assert matrix is not None
    return int(np.trace(matrix))


def test_scores_are_those_of_the_model(whole: Report, model: Model, test: Corpus) -> None:
    assert test.labels is not None
    answers = [str(label) for label in model.predict(test.texts)]
    hits = sum(a == b for a, b in zip(answers, test.labels, strict=True))
    assert 0 < hits < len(test)
    assert right(whole) == hits
    accuracy, macro_f1, log_loss = whole.scores.figures
    assert accuracy.value == hits / len(test)
    for figure in (accuracy, macro_f1, log_loss):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high
    for one in whole.scores.labels:
        truly = [label == one.label for label in test.labels]
        called = [label == one.label for label in answers]
        both = sum(a and b for a, b in zip(truly, called, strict=True))
        assert (one.precision.value, one.recall.value) == (both / sum(called), both / sum(truly))


def test_an_account_is_exact(whole: Report, model: Model, test: Corpus) -> None:
    scores = model.decision_function(test.texts)
    assert len(whole.documents) > 20
    wrong = sum(one.y_true != one.predicted for one in whole.documents)
    assert wrong == len(test) - right(whole)  # all of them
    for one in whole.documents:
        text = test.texts[one.number - 1]
        score = scores[one.number - 1] * (1 if one.of == model.labels[1] else -1)
        assert one.score == pytest.approx(score, abs=1e-9)
        assert one.intercept + sum(line.value for line in one.lines) == pytest.approx(
            score, abs=1e-9
        )
        marks = [mark for line in one.lines for mark in line.marks]
        assert "".join(mark.text for mark in marks) == text
        assert one.intercept + sum(mark.value for mark in marks) == pytest.approx(score, abs=1e-9)


def test_documents_are_of_their_kind(whole: Report) -> None:
    texts = set()
    for one in whole.documents:
        assert (one.predicted == one.y_true) >= (one.kind == "right")
        assert (one.predicted != one.y_true) >= (one.kind == "wrong")
        texts.add("".join(mark.text for line in one.lines for mark in line.marks))
    assert len(texts) == len(whole.documents)
    sure = {kind: [d.certainty for d in whole.documents if d.kind == kind] for kind in KINDS}
    assert all(sure.values())
    assert max(sure["unsure"]) < min(sure["right"])


KINDS = ("wrong", "unsure", "right")


@pytest.mark.parametrize("marks", [None, MarksSummary(20, 1.0)])
def test_fits_without_marked_passages_are_named(marks: MarksSummary | None) -> None:
    texts, labels = ["good film", "bad film"] * 10, ["pos", "neg"] * 10
    options = {"reg": "ridge", "reg_l2": 1.0, "ngrams": 1, "tokenizer": "words", "cv": 2}
    model = textreg.train(texts, labels, **options)
    assert model.summary is not None
    kept = {**model.summary.options, **({"evidence_words": "gone.txt"} if marks else {})}
    model.summary = replace(model.summary, marks=marks, options=kept)
    missing = report(model, train=Corpus(texts=texts, labels=labels)).missing
    assert any("do without word vectors and marks" in line for line in missing) == (
        marks is not None
    )


def test_documents_of_words(whole: Report, test: Corpus, model: Model) -> None:
    assert test.labels is not None
    tokens = [
        {word for sentence in model.encoder.tokenizer(text) for word in sentence}
        for text in test.texts
    ]
    singles = 0
    for block in whole.words:
        for row in block.rows:
            if " " in row.feature:
                continue
            holds = [row.feature in words for words in tokens]
            mine = [a and b == block.label for a, b in zip(holds, test.labels, strict=True)]
            assert (row.inside, row.outside) == (sum(mine), sum(holds) - sum(mine))
            singles += 1
    assert singles > 5


WORDS = {"a": ["red", "sun", "warm"], "b": ["blue", "sea", "cold"], "c": ["green", "hill", "mild"]}


@pytest.fixture(scope="module")
def small() -> tuple[Corpus, Model, Model]:
    """Documents of three labels, some of them wrong, a model of all, and one of half of them."""
    texts, labels = [], []
    for n in range(18):
        own, other = "abc"[n % 3], "abc"[(n + 1) % 3]
        first, second = WORDS[own][n % 2], WORDS[own][n // 3 % 3]
        third = WORDS[other][n // 6].title() if n % 4 == 0 else "Some"
        texts.append(f"{first.title()} {second} here. Old tale. {third} day. Night fell.")
        labels.append(own if n % 7 else other)
    options: dict[str, Any] = {"reg": "elastic", "reg_l2": 0.5, "tokenizer": "words", "ngrams": 1}
    options |= {"weighting": "count", "tol": 1e-10}
    model = textreg.train(texts, labels, reg_l1=0.5, **options)
    half = textreg.train(texts[:9], labels[:9], reg_l1=0.2, **options)
    return Corpus(texts=texts, labels=labels), model, half


def plain(value: Any) -> str:
    """All of a record on one line, its numbers with three digits."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "__dict__"):
        value = vars(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} {plain(it)}" for key, it in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(plain, value)) + "]"
    return str(value)


def told(found: Report, names: str) -> str:
    """These parts of a report in lines, as far as they do not depend on versions."""
    lines = []
    for name in names.split():
        value = vars(found)[name]
        if name == "scores":
            value = {key: it for key, it in vars(value).items() if key not in SHOWN_ELSEWHERE}
        elif name == "documents":
            figures = "number kind y_true predicted probability certainty score evidence".split()
            value = [value[0], *([vars(one)[key] for key in figures] for one in value)]
        elif name == "reproduce":
            value = {**vars(value), "versions": [name for name, _ in value.versions]}
        line = f"{name}: {plain(value)}".replace("\N{NO-BREAK SPACE}", " ")
        lines.append(textwrap.fill(line, 98, break_long_words=False, break_on_hyphens=False))
    return "\n".join(lines)


SHOWN_ELSEWHERE = ("result", "thresholds", "reliability")


def test_a_small_report_as_a_whole(small: tuple[Corpus, Model, Model]) -> None:
    corpus, model, _ = small
    found = report(model, train=corpus, command=["textreg", "report", "it's"])
    names = "verdict scores words words_left_out selected_documents dropped stability baseline"
    assert told(found, f"{names} documents suspected reproduce missing") == ALONE


def test_a_small_report_beside_another_model(small: tuple[Corpus, Model, Model]) -> None:
    corpus, model, half = small
    marked = [MarkedDocument.of(text, [[0, text.index(".")]]) for text in corpus.texts]
    found = report(model, corpus, against={"other": half}, marked=marked, title="mine")
    assert told(found, "verdict documents evidence tables missing") == BESIDE


ALONE = """\
verdict: {tone level, quality [Right on 72.2 % of 18 documents (95 % interval 49.1 % to 87.5 %).,
With every label counted alike, its F1 is 0.725 (0.492 to 0.905)., 18 documents are too few for
more than a first impression: measure it on others as well., That is not measurably better than
always answering “a”, which reaches 33.3 % (+38.9 points, 95 % interval +5.6 to +66.7): nothing
shows yet that the model is of use.], errors It misses no label measurably more often than the
others., confusions [{y_true a, predicted c, documents 2, support 6, examples [{number 15, where ,
preview Green hill here. Old tale. Some day. Night fell., words [[hill, 0.935], [green, 0.804]]},
{number 7, where , preview Red warm here. Old tale. Some day. Night fell., words []}]}, {y_true b,
predicted c, documents 1, support 6, examples [{number 14, where , preview Sea sea here. Old tale.
Some day. Night fell., words []}]}, {y_true c, predicted a, documents 1, support 6, examples
[{number 9, where , preview Green mild here. Old tale. Sun day. Night fell., words [[sun,
0.824]]}]}], unsure [18 documents are too few to tell more.], suggestions [{what Read the training
documents whose labels may be wrong., why Fits that have not seen them contradict the labels of 3
documents, 16.7 % of all; they are listed below., gain 0, first False}]}
scores: {how its 18 training documents, each predicted by one of 5 further fits with the same
hyperparameters, which has seen only the others, documents 18, figures [{name accuracy, value
0.722, low 0.491, high 0.875}, {name macro-F1, value 0.725, low 0.492, high 0.905}, {name
log-loss, value 0.831, low 0.664, high 0.998}], labels [{label a, precision {name precision, value
0.8, low 0.376, high 0.964}, recall {name recall, value 0.667, low 0.3, high 0.903}, f1 0.727,
support 6}, {label b, precision {name precision, value 0.833, low 0.436, high 0.97}, recall {name
recall, value 0.833, low 0.436, high 0.97}, f1 0.833, support 6}, {label c, precision {name
precision, value 0.571, low 0.25, high 0.842}, recall {name recall, value 0.667, low 0.3, high
0.903}, f1 0.615, support 6}], left_out 0, confused [{y_true a, predicted c, documents 2}, {y_true
b, predicted c, documents 1}, {y_true c, predicted a, documents 1}, {y_true c, predicted b,
documents 1}], matrix [[4, 0, 2], [0, 5, 1], [1, 1, 4]], matrix_labels [a, b, c]}
words: [{label a, rows [{feature sun, weight 0.891, inside 4, outside 1}, {feature warm, weight
0.418, inside 2, outside 0}, {feature red, weight 0.28, inside 3, outside 1}, {feature some,
weight 0.0568, inside 5, outside 8}]}, {label b, rows [{feature blue, weight 1.36, inside 5,
outside 0}, {feature sea, weight 0.713, inside 3, outside 1}]}, {label c, rows [{feature hill,
weight 0.627, inside 3, outside 1}, {feature green, weight 0.512, inside 3, outside 2}, {feature
mild, weight 0.283, inside 2, outside 1}]}]
words_left_out: 0
selected_documents: [{where document 4, label a, predicted a, sentences [{text Sun sun here.,
selected True, removal 0.587}, {text Old tale., selected False, removal 0}, {text Some day.,
selected True, removal 0.0322}, {text Night fell., selected False, removal 0}]}, {where document
7, label a, predicted a, sentences [{text Red warm here., selected True, removal 0.324}, {text Old
tale., selected False, removal 0}, {text Some day., selected True, removal 0.0675}, {text Night
fell., selected False, removal 0}]}, {where document 1, label b, predicted b, sentences [{text Red
red here., selected False, removal -0.0141}, {text Old tale., selected False, removal 0}, {text
Blue day., selected True, removal 0.661}, {text Night fell., selected False, removal 0}]}, {where
document 2, label b, predicted b, sentences [{text Sea blue here., selected True, removal 0.947},
{text Old tale., selected False, removal 0}, {text Some day., selected True, removal -0.0331},
{text Night fell., selected False, removal 0}]}, {where document 3, label c, predicted c,
sentences [{text Green green here., selected True, removal 0.397}, {text Old tale., selected
False, removal 0}, {text Some day., selected False, removal 0.033}, {text Night fell., selected
False, removal 0}]}, {where document 6, label c, predicted c, sentences [{text Hill hill here.,
selected True, removal 0.443}, {text Old tale., selected False, removal 0}, {text Some day.,
selected False, removal 0.0219}, {text Night fell., selected False, removal 0}]}]
dropped: {skipped 0, unknown 0, features 16, selected 9, informative []}
stability: {parts 5, histogram [0, 0, 0, 0, 0, 9], overlap 0.96, sizes [9, 9, 10, 9, 9], strongest
[{feature blue, label b, weight 1.36, parts 5, mean 1.2, deviation 0.0538}, {feature sun, label a,
weight 0.891, parts 5, mean 0.765, deviation 0.148}, {feature sea, label b, weight 0.713, parts 5,
mean 0.565, deviation 0.206}, {feature hill, label c, weight 0.627, parts 5, mean 0.522, deviation
0.254}, {feature green, label c, weight 0.512, parts 5, mean 0.411, deviation 0.241}, {feature
warm, label a, weight 0.418, parts 5, mean 0.287, deviation 0.187}, {feature mild, label c, weight
0.283, parts 5, mean 0.178, deviation 0.106}, {feature red, label a, weight 0.28, parts 5, mean
0.167, deviation 0.111}, {feature some, label a, weight 0.0568, parts 5, mean 0.0523, deviation
0.0713}]}
baseline: None
documents: [{number 15, where , kind wrong, y_true a, predicted c, probability 0.646, certainty
2.1, of c, intercept -1.08, score 0.659, lines [{marks [{text Green, value 0.804, level 5}, {text
, value 0, level 0}, {text hill, value 0.935, level 5}, {text  here. , value 0, level 0}], removal
0.686, evidence 0.783, field , marked False, hidden , value 1.74, start 0, end 17}, {marks [{text
Old tale. , value 0, level 0}], removal 0, evidence 0.411, field , marked False, hidden , value 0,
start 17, end 27}, {marks [{text Some day. , value 0, level 0}], removal 0.0388, evidence 0.411,
field , marked False, hidden , value 0, start 27, end 37}, {marks [{text Night fell., value 0,
level 0}], removal 0, evidence 0.411, field , marked False, hidden , value 0, start 37, end 48}],
words [[hill, 0.935], [green, 0.804]], characters 48, preview Green hill here. Old tale. Some day.
Night fell., evidence 0.783, found None, fields []}, [15, wrong, a, c, 0.646, 2.1, 0.659, 0.783],
[9, wrong, c, a, 0.503, 0.854, 0.174, 0.535], [14, wrong, b, c, 0.416, 0.489, -0.594, 0], [7,
wrong, a, c, 0.38, 0.204, -0.758, 0], [8, wrong, c, b, 0.44, 0.541, -0.481, 0.436], [3, unsure, c,
c, 0.396, 0.14, -0.576, 0.0887], [6, unsure, c, c, 0.437, 0.271, -0.351, 0.198], [13, unsure, a,
a, 0.452, 0.513, -0.332, 0.544], [17, unsure, b, b, 0.506, 1.08, -0.0455, 0.755], [10, unsure, a,
a, 0.552, 1.07, 0.025, 0.434], [1, unsure, b, b, 0.566, 1.41, 0.12, 0.736], [18, unsure, c, c,
0.473, 0.732, -0.361, 0.253], [4, unsure, a, a, 0.554, 1.1, 0.327, 0.468], [5, unsure, b, b,
0.606, 1.73, 0.61, 0.855], [11, right, b, b, 0.677, 2.57, 1.13, 1.15], [16, right, a, a, 0.566,
1.35, 0.283, 0.526], [12, right, c, c, 0.51, 0.795, 0.058, 0.298], [2, right, b, b, 0.653, 2.11,
0.672, 0.852]]
suspected: {count 3, total 18, listed [{where document 15, told label a (0.17), rather c (0.65),
preview Green hill here. Old tale. Some day. Night fell.}, {where document 8, told label c (0.25),
rather b (0.44), preview Sea cold here. Old tale. Some day. Night fell.}, {where document 14, told
label b (0.30), rather c (0.42), preview Sea sea here. Old tale. Some day. Night fell.}]}
reproduce: {commands [[this page, textreg report 'it'"'"'s'], [the same weights up to the
tolerance, without a search, textreg train CORPUS --reg elastic --reg-l2 0.5 --reg-l1 0.5
--tokenizer words --ngrams 1 --weighting count --tol 1e-10]], versions [Python, textreg, numpy,
scipy, scikit-learn], seed None, data [[trained on,
f55346c4b6c31adcf684ecd0d09f83afb7dcf62118423b43aaee484ac5232579]]}
missing: [The model is an elastic net itself, so it is compared with no other., Training tried
only one setting and kept no regularization path (--path).]"""
BESIDE = """\
verdict: {tone better, quality [Right on 88.9 % of 18 documents (95 % interval 67.2 % to 96.9 %).,
With every label counted alike, its F1 is 0.889 (0.693 to 1.000)., 18 documents are too few for
more than a first impression: measure it on others as well., That is better than always answering
“a”, which reaches 33.3 % (+55.6 points, 95 % interval +27.8 to +83.3)., No measurable difference
from other in accuracy (+5.6 points, 95 % interval −11.1 to +22.2; right on 2 documents that the
other one gets wrong, wrong on 1 that it gets right, p = 1)., Its reasons agree with those of
people: its strongest sentence is one that they marked in 94 % of 18 documents (83 % to 100 %),
where chance would give 25 %.], errors It misses no label measurably more often than the others.,
confusions [{y_true a, predicted c, documents 1, support 6, examples [{number 15, where , preview
Green hill here. Old tale. Some day. Night fell., words [[hill, 0.627], [green, 0.512]]}]},
{y_true c, predicted b, documents 1, support 6, examples [{number 8, where , preview Sea cold
here. Old tale. Some day. Night fell., words [[sea, 0.713]]}]}], unsure [18 documents are too few
to tell more.], suggestions []}
documents: [{number 15, where , kind wrong, y_true a, predicted c, probability 0.568, certainty
1.25, of c, intercept -0.837, score 0.302, lines [{marks [{text Green, value 0.512, level 5},
{text  , value 0, level 0}, {text hill, value 0.627, level 5}, {text  here. , value 0, level 0}],
removal 0.423, evidence 0.514, field , marked True, hidden , value 1.14, start 0, end 17}, {marks
[{text Old tale. , value 0, level 0}], removal 0, evidence 0.27, field , marked False, hidden ,
value 0, start 17, end 27}, {marks [{text Some day. , value 0, level 0}], removal 0.0273, evidence
0.27, field , marked False, hidden , value 0, start 27, end 37}, {marks [{text Night fell., value
0, level 0}], removal 0, evidence 0.27, field , marked False, hidden , value 0, start 37, end
48}], words [[hill, 0.627], [green, 0.512]], characters 48, preview Green hill here. Old tale.
Some day. Night fell., evidence 0.514, found True, fields []}, [15, wrong, a, c, 0.568, 1.25,
0.302, 0.514], [8, wrong, c, b, 0.395, 0.213, -0.624, 0.453], [14, unsure, b, b, 0.523, 0.926,
0.0891, 0.641], [7, unsure, a, a, 0.515, 1.06, -0.137, 0.32], [9, unsure, c, c, 0.441, 0.227,
-0.18, 0.372], [1, unsure, b, b, 0.585, 1.14, 0.294, 0.884], [18, unsure, c, c, 0.557, 1.21,
0.0724, 0.436], [17, unsure, b, b, 0.59, 1.42, 0.294, 0.864], [16, unsure, a, a, 0.592, 1.45,
0.474, 0.625], [3, unsure, c, c, 0.553, 1.24, 0.188, 0.46], [5, unsure, b, b, 0.63, 1.83, 0.929,
0.976], [13, unsure, a, a, 0.589, 1.61, 0.279, 0.593], [12, unsure, c, c, 0.568, 1.25, 0.302,
0.514], [2, unsure, b, b, 0.66, 2.15, 0.737, 0.976], [11, right, b, b, 0.758, 3.24, 1.38, 1.22],
[4, right, a, a, 0.67, 2.06, 0.947, 0.8], [6, right, c, c, 0.579, 1.25, 0.416, 0.563], [10, right,
a, a, 0.619, 1.67, 0.336, 0.593]]
evidence: {documents 18, left_out 0, marked_sentences 0.25, marked_tokens 0.333, rationale_share
0.333, means {sentence_auprc {value 0.951, low 0.854, high 1}, sentence_average_precision {value
0.958, low 0.875, high 1}, top_1 {value 0.944, low 0.833, high 1}, top_3 {value 0.327, low 0.315,
high 0.333}, r_precision {value 0.944, low 0.833, high 1}, token_auprc {value 0.955, low 0.864,
high 1}, token_average_precision {value 0.958, low 0.874, high 1}, token_precision {value 0.944,
low 0.833, high 1}, token_recall {value 0.944, low 0.833, high 1}, token_f1 {value 0.944, low
0.833, high 1}, iou_f1 {value 0.944, low 0.833, high 1}, comprehensiveness {value 0.252, low
0.211, high 0.297}, sufficiency {value -0.00366, low -0.0185, high 0.00975},
aopc_comprehensiveness {value 0.176, low 0.147, high 0.207}, aopc_sufficiency {value 0.0593, low
0.0348, high 0.0826}}, beside [{name other, means {sentence_auprc {value 0.889, low 0.75, high 1},
sentence_average_precision {value 0.889, low 0.764, high 1}, top_1 {value 0.847, low 0.681, high
1}, top_3 {value 0.323, low 0.306, high 0.333}, r_precision {value 0.847, low 0.681, high 1},
token_auprc {value 0.902, low 0.782, high 1}, token_average_precision {value 0.892, low 0.771,
high 1}, token_precision {value 0.907, low 0.759, high 1}, token_recall {value 0.907, low 0.759,
high 1}, token_f1 {value 0.907, low 0.759, high 1}, iou_f1 {value 0.889, low 0.722, high 1},
comprehensiveness {value 0.167, low 0.12, high 0.216}, sufficiency {value 0.00885, low -0.0187,
high 0.0349}, aopc_comprehensiveness {value 0.121, low 0.0852, high 0.156}, aopc_sufficiency
{value 0.0491, low 0.0155, high 0.0833}}, differences {sentence_auprc {value 0.0625, low -0.0139,
high 0.181, p 0.209}, sentence_average_precision {value 0.0694, low -0.0278, high 0.194, p 0.224},
top_1 {value 0.0972, low 0, high 0.25, p 0.115}, top_3 {value 0.00463, low -0.0139, high 0.0231, p
0.683}, r_precision {value 0.0972, low 0, high 0.25, p 0.115}, token_auprc {value 0.0531, low
-0.0213, high 0.162, p 0.275}, token_average_precision {value 0.066, low -0.0262, high 0.19, p
0.224}, token_precision {value 0.037, low -0.0556, high 0.167, p 0.621}, token_recall {value
0.037, low -0.0556, high 0.167, p 0.621}, token_f1 {value 0.037, low -0.0556, high 0.167, p
0.621}, iou_f1 {value 0.0556, low 0, high 0.167, p 0.351}, comprehensiveness {value 0.0848, low
0.0564, high 0.121, p 0.0002}, sufficiency {value -0.0125, low -0.0363, high 0.0132, p 0.319},
aopc_comprehensiveness {value 0.0547, low 0.0322, high 0.0823, p 0.0002}, aopc_sufficiency {value
0.0102, low -0.0155, high 0.041, p 0.492}}}]}
tables: [{text Red sun here. Old tale. Cold day. Night fell., of a, spans [[0, 13], [14, 23], [24,
33], [34, 45]], columns [{model mine, predicted a, removals [0.542, 0, 0, 0], selected None,
log_odds True}, {model other, predicted c, removals [0.529, 0, -0.055, 0], selected None, log_odds
True}]}, {text Sea sea here. Old tale. Some day. Night fell., of b, spans [[0, 13], [14, 23], [24,
33], [34, 45]], columns [{model mine, predicted b, removals [0.716, 0, -0.0629, 0], selected None,
log_odds True}, {model other, predicted c, removals [0.492, 0, -0.153, 0], selected None, log_odds
True}]}, {text Sea cold here. Old tale. Some day. Night fell., of b, spans [[0, 14], [15, 24],
[25, 34], [35, 46]], columns [{model mine, predicted b, removals [0.435, 0, -0.108, 0], selected
None, log_odds True}, {model other, predicted c, removals [0.163, 0, -0.207, 0], selected None,
log_odds True}]}]
missing: [The training corpus was not given (--train), so this page cannot tell which groups were
selected, what was dropped, how stable the features are, how the elastic net compares, whether
more documents would help, or which labels may be wrong., Training tried only one setting and kept
no regularization path (--path).]"""


def test_search_and_path(whole: Report, model: Model) -> None:
    assert whole.search is not None
    rows = model.summary.search
    assert len(whole.search.tried) == len(rows)
    best = whole.search.tried[whole.search.chosen]
    assert (
        best.value
        == model.summary.dev.metrics["calibrated-log-loss"]
        == min(row.metrics["calibrated-log-loss"] for row in rows)
    )
    assert whole.path is not None
    assert model.path is not None
    assert whole.path.values == tuple(model.path.values)
    for one in whole.path.profiles:
        place = model.encoder.names.index(one.feature)
        sign = 1 if one.label == model.labels[1] else -1
        weight = sign * model.weights[0, place]
        assert weight > 0
        assert one.weights[whole.path.curve.chosen] == pytest.approx(weight, rel=1e-6)


def test_parts_are_predicted_by_fits_that_have_not_seen_them() -> None:
    random = np.random.default_rng(0)
    words = [f"word{k}" for k in range(12)]
    texts, labels = [], []
    for k in range(60):
        label = "pn"[k % 2]
        lean = words[:6] if label == "p" else words[6:]
        texts.append(" ".join(random.choice(words + lean, 6)))
        labels.append(label)
    options: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0, "ngrams": 1, "weighting": "count"}
    model = textreg.train(texts, labels, tol=1e-8, **options)
    found = report(model, train=Corpus(texts=texts, labels=labels))
    assert found.stability is not None
    assert found.baseline is not None
    assert found.stability.parts == 5

    from textreg.training.splits import folds

    codes = np.array([label == "p" for label in labels]).astype(np.int64)
    hits = 0
    for split in folds(codes, ("n", "p"), 5, seed=0):
        part = textreg.train(
            [texts[row] for row in split.train],
            [labels[row] for row in split.train],
            tol=1e-8,
            **options,
        )
        answers = part.predict([texts[row] for row in split.held])
        hits += sum(a == labels[row] for a, row in zip(answers, split.held, strict=True))
    assert 0 < hits < 60
    assert right(found) == hits
    assert found.baseline.versus.own == pytest.approx(hits / 60)
    gain = found.baseline.versus.difference.value
    assert 60 * gain == pytest.approx(found.baseline.versus.won - found.baseline.versus.lost)


@pytest.mark.parametrize(
    ("won", "lost", "words"),
    [
        (17, 7, "There is no measurable difference."),  # p 0.064
        (15, 3, "The model is better."),
        (3, 15, "Use elastic here."),
    ],
)
def test_the_verdict_follows_from_the_p_that_is_shown(
    whole: Report, won: int, lost: int, words: str
) -> None:
    assert whole.baseline is not None
    p = sign_test(won, lost)
    up = whole.baseline.versus.difference._replace(low=0.01, high=0.02)  # p alone decides
    versus = whole.baseline.versus._replace(won=won, lost=lost, p=p, difference=up)
    base = Section(**{**vars(whole.baseline), "versus": versus})
    text = " ".join(Page(Report(**{**vars(whole), "baseline": base}).to_html()).text.split())
    assert f"(exact McNemar test: p = {p_text(p)}). {words}" in text
    no_test = versus._replace(won=0, lost=0, p=None)  # as of a regression
    base = Section(**{**vars(base), "versus": no_test})
    text = " ".join(Page(Report(**{**vars(whole), "baseline": base}).to_html()).text.split())
    assert "McNemar" not in text
    assert "The model is better." in text


def test_what_was_dropped() -> None:
    texts = [
        "Superb film. We sat.",
        "Superb plot. We ate.",
        "Awful film. We sat.",
        "Awful. We ate.",
    ]
    labels = ["p", "p", "n", "n"]
    model = textreg.train(
        texts * 5,
        labels * 5,
        reg="elastic",
        reg_l1=2.5,
        reg_l2=1.0,
        tokenizer="words",
        ngrams=1,
        weighting="unit-idf",
    )
    assert set(model.encoder.names) == {"superb", "awful"}
    unknown = Corpus(texts=["Superb.", "Nothing known here.", "Awful."], labels=["p", "p", "n"])
    found = report(model, unknown, train=Corpus(texts=texts * 5, labels=labels * 5))
    assert found.dropped.unknown == 1
    assert (found.dropped.features, found.dropped.selected) == (7, 2)
    left = {one.feature: (one.label, one.inside, one.outside) for one in found.dropped.informative}
    assert left == {"plot": ("p", 0.5, 0.0)}
    assert "only the intercept decides on them" in Page(found.to_html()).text


def test_sentences_in_their_documents(whole: Report, model: Model, train: Corpus) -> None:
    """As the papers show them: against the same documents without each sentence."""
    assert {one.label for one in whole.selected_documents} == {"neg", "pos"}
    seen, shares = set(), []
    for one in whole.selected_documents:
        row = int(one.where.rpartition(":")[2]) - 1
        text, sign = train.texts[row], 1 if one.label == "pos" else -1
        assert train.labels is not None
        assert train.labels[row] == one.label
        shares.append(np.mean([line.selected for line in one.sentences]))
        assert [line.text for line in one.sentences] == [
            part.strip() for part in re.findall(r"[^.!?]+[.!?]+", text)
        ]
        assert model.calibration is not None
        sign /= model.calibration.temperature
        score = sign * model.decision_function([text])[0]
        for line in one.sentences:
            rest = text.replace(line.text, "", 1)
            without = sign * model.decision_function([rest])[0]
            log_odds = np.log1p(np.exp(-without)) - np.log1p(np.exp(-score))
            assert line.removal == pytest.approx(log_odds, abs=1e-9)
            words = {word for words in model.encoder.tokenizer(line.text) for word in words}
            assert line.selected >= bool(words & set(model.encoder.names))
            seen.add(line.selected)
    assert seen == {True, False}
    assert max(abs(share - 0.5) for share in shares) <= 0.25, shares  # about half of them


def test_parts_that_choose_nothing_agree(train: Corpus) -> None:
    model = textreg.train(train.texts, train.labels or (), reg="lasso", reg_l1=1e4)
    stable = report(model, train=train).stability
    assert stable is not None
    assert (stable.overlap, stable.strongest, set(stable.sizes)) == (1.0, [], {0})


def test_features_chosen_in_every_part_are_steady(whole: Report, model: Model) -> None:
    stable = whole.stability
    assert stable is not None
    assert sum(stable.histogram) == model.n_features
    assert len(stable.histogram) == stable.parts + 1
    assert all(0 <= one.parts <= stable.parts for one in stable.strongest)
    assert 0 < stable.overlap < 1


def test_figures_as_they_are_written() -> None:
    assert [pages.fixed(-0.0625, 2), pages.fixed(-1.5, 0)] == ["−0.06", "−2"]
    assert [pages.short(-12345.678), pages.short(0.5)] == ["−1.235e+04", "0.5"]
    signed = [(0.0, 3), (-0.00001, 3), (-0.5, 1), (0.04, 1), (1.0, 3)]
    assert [pages.signed(*one) for one in signed] == ["0", "0.000", "−0.5", "0.0", "+1.000"]
    pairs = [("a", 0.004), ("b", 0.006), ("c", -0.006)]
    assert pages.telling(pairs) == pairs[1:]
    assert pages.telling(pairs, 3) == pairs
    assert [pages.clip(it, 6) for it in ("abcdef", "abcdefg")] == ["abcdef", "abcde…"]
    some = [[], [1, 1, 2], [1, 2, 2], [1, 2], [3, 1, 2], [5, 1, 4, 2, 3, 6]]
    assert [pages.thirds(it) for it in some] == [None, None, None, None, (1, 2), (2, 4)]
    mean, low, high = pages.mean_of("m", np.array([0.0, 1.0, 1.0, 2.0]))[1:]
    assert (mean, low, high) == pytest.approx((1.0, 1 - 0.98 * 0.5**0.5, 1 + 0.98 * 0.5**0.5))
    random = np.random.default_rng(0)
    one, two = random.normal(1, 2, (2000, 50)), random.normal(3, 1, (2000, 10))
    both = [pages.mean_of("m", *pair) for pair in zip(one, two, strict=True)]  # each counts alike
    assert both[0].value == pytest.approx((one[0].mean() + two[0].mean()) / 2)
    assert np.mean([it.low <= 2.0 <= it.high for it in both]) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(
    ("low", "high", "won", "lost", "p", "verdict"),
    [
        (None, None, 0, 0, None, "level"),
        (0.1, 0.2, 0, 0, None, "better"),
        (0.0, 0.2, 0, 0, None, "level"),
        (-0.2, -0.1, 0, 0, None, "worse"),
        (-0.2, 0.0, 0, 0, None, "level"),
        (0.1, 0.2, 1, 1, 0.01, "level"),
        (0.1, 0.2, 2, 1, 0.05, "better"),
        (0.1, 0.2, 1, 2, 0.05, "worse"),
        (0.1, 0.2, 2, 1, 0.051, "level"),
    ],
)
def test_verdicts_by_p_or_by_interval(  # a row of the table
    low: float | None, high: float | None, won: int, lost: int, p: float | None, verdict: str
) -> None:
    difference = pages.Estimate("difference", 0.25, low, high)
    versus = pages.Versus("it", "accuracy", 0.5, difference, won, lost, p)
    assert (versus.verdict, versus.own) == (verdict, 0.75)


def test_the_page_is_self_contained(whole: Report) -> None:
    html = whole.to_html()
    page = Page(html)
    assert page.inside == []
    assert page.sections() == [
        "verdict", "summary", "scores", "reliability", "thresholds", "search", "path", "words",
        "selection", "dropped", "stability", "baseline", "documents", "suspected", "reproduce",
    ]  # fmt: skip
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len(ids) == len(set(ids))
    for _, found in page.elements:
        assert "src" not in found
        assert not any(name.startswith("on") for name in found)
        href = found.get("href")
        assert href is None or href == "data:," or (href[0] == "#" and href[1:] in ids)
    assert not re.search(r"https?://|@import|url\(", html)
    assert "default-src &#39;none&#39;" in html
    scripts = [found for tag, found in page.elements if tag == "script"]
    assert len(scripts) == 1


def test_the_policy_names_the_hashes_of_style_and_script(whole: Report) -> None:
    import base64
    import hashlib

    html = whole.to_html()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    for tag in ("style", "script"):
        inside = re.search(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert inside is not None
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy[1]


@pytest.mark.filterwarnings("ignore:.* of the documents hold HTML")
def test_text_is_shown_and_never_markup() -> None:
    texts = [f"{HOSTILE} bad{k % 3}" if k % 2 else f"fine {k} {HOSTILE}" for k in range(12)]
    labels = ["<b>one</b>", "two\u202e"] * 6
    corpus = Corpus(texts=texts, labels=labels)
    model = textreg.train(texts, labels, reg="lasso", reg_l1=0.1, ngrams=1)
    found = report(model, corpus, train=corpus, title="<i>evil</i>.textreg", command=["<u>"])
    html = found.to_html()
    page = Page(html)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"b", "i", "u", "img"}
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 1
    assert len([tag for tag, _ in page.elements if tag == "style"]) == 1
    for shown in ("<script>document.title='taken'</script>", "<i>evil</i>", "{{ 7 * 7 }}", "<u>"):
        assert shown in page.text
    for number in ("[U+202E]", "[U+2069]", "[U+001B]", "[U+200B]"):
        assert number in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u200b\u202a-\u202e\u2066-\u2069]", html)


def test_lone_surrogates_and_right_to_left_text_are_written(tmp_path: Path) -> None:
    texts = ["good \ud800 film", "bad film", "שלום good", "سيئ bad"] * 3
    corpus = Corpus(texts=texts, labels=["p", "n"] * 6)
    model = textreg.train(texts, ["p", "n"] * 6, reg="ridge", reg_l2=0.1, ngrams=1)
    report(model, corpus).save(tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "[U+D800]" in page.text
    assert "שלום" in page.text


@pytest.mark.thorough
def test_a_page_stays_small_whatever_the_corpus() -> None:
    random = np.random.default_rng(0)
    words = [f"{k:x}" * 40 for k in range(400)]
    labels = [f"label number {k} {'x' * 300}" for k in range(50)]
    texts = [". ".join([*random.choice(words, 5), *[words[k % 50]] * 9]) for k in range(150)]
    train = Corpus(texts=texts, labels=[labels[k % 50] for k in range(150)])
    assert train.labels is not None
    options = {"tokenizer": "words", "ngrams": 1, "weighting": "count", "tol": 1e-2}
    model = textreg.train(texts, train.labels, reg="ridge", reg_l2=1.0, **options)
    long = [". ".join(random.choice(words, 12_000)) for _ in range(4)]
    test = Corpus(texts=[*texts, *long], labels=[*train.labels, *labels[:4]])
    html = report(model, test, train=train).to_html()
    assert min(map(len, long)) > 1e6
    assert 1e5 < len(html.encode()) < 2e6
    assert "more sentences" in html


@pytest.mark.thorough
def test_results_do_not_depend_on_threads(model: Model, train: Corpus) -> None:
    one, two = (report(model, train=train, jobs=jobs).to_html() for jobs in (1, 2))
    assert one == two


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [
        {"reg": "elastic", "multiclass": "softmax", "calibrate": "temperature"},
        {"reg": "omp", "reg_budget": 4, "threshold": {"a": "f1"}},
        {"reg": "network", "unlabeled": ["red blue", "green blue sky"]},
        {"reg": "lasso", "loss": "squared-hinge", "class_weight": "balanced"},
        {"reg": "group", "groups": "sentences,documents", "cv": 3},
        {"reg": "stagewise", "reg_steps": 50},
        {"reg": "none"},
    ],
    ids=lambda options: options["reg"],
)
def test_every_kind_of_model_has_a_page(options: dict[str, Any]) -> None:
    kinds = {"a": "red sky. sun", "b": "green sky. moon", "c": "blue sky. star"}
    texts = [f"{kinds[k]} {n % 5} and more" for n in range(9) for k in "abc"]
    labels = list("abc") * 9
    options = {"tokenizer": "words", "ngrams": 1, "cv": 2, **options}
    model = textreg.train(texts, labels, **options)
    unlabeled = Corpus(texts=options.get("unlabeled", []))
    found = report(
        model, train=Corpus(texts=texts, labels=labels), unlabeled=unlabeled if unlabeled else None
    )
    page = Page(found.to_html())
    assert right(found) > 15
    assert {"summary", "words", "selection", "stability", "documents"} <= set(page.sections())
    assert ("reliability" in page.sections()) == model.has_probabilities
    assert ("baseline" in page.sections()) == (options["reg"] != "elastic")


@pytest.mark.thorough
def test_settings_that_a_search_chose_are_repeated(cli: Cli, demo: Path, tmp_path: Path) -> None:
    """Features and hyperparameters of the fits without parts are those of the model, not of its
    options."""
    trained, page = tmp_path / "m.textreg", tmp_path / "m.html"
    code, _, err = cli(
        "train", demo / "train.jsonl", "--reg", "lasso", "--search-space", "ngrams=1,3",
        "--search-space", "weighting=count,log", "--tokenizer", "words",
        "-o", trained,
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert cli("report", trained, "--train", demo / "train.jsonl", "-o", page).code == 0
    model = textreg.load(trained)
    assert set(model.summary.chosen) == {"ngrams", "weighting"}
    again = report(model, train=read_corpus([str(demo / "train.jsonl")]))
    assert again.stability is not None
    text = Page(page.read_text(encoding="utf-8")).text
    assert (
        f"selected\n    {min(again.stability.sizes)} to {max(again.stability.sizes)} features"
        in text
    )
    assert again.search is not None
    best = again.search.tried[again.search.chosen]
    assert best.settings.startswith(f"ngrams {model.encoder.vectorizer.ngrams}, weighting ")


def test_weights_of_labels_are_those_of_the_training() -> None:
    texts = ["red sun", "red moon", "red star", "blue sun"] * 5
    labels = ["a", "a", "a", "b"] * 5
    options = {"reg": "ridge", "reg_l2": 0.1, "tokenizer": "words", "ngrams": 1, "cv": 2}
    model = textreg.train(texts, labels, class_weight={"b": 3.0}, **options)
    assert model.summary.class_weight == {"b": 3.0}
    found = report(model, train=Corpus(texts=texts, labels=labels))
    assert "--class-weight b=3.0" in found.reproduce.commands[-1][1]


def test_regression() -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(["good", "bad", "so", "fair"], 5)) for _ in range(60)]
    labels = [str(text.count("good") - text.count("bad")) for text in texts]
    model = textreg.train(
        texts, labels, task="regression", reg="lasso", ngrams=1, weighting="count", reg_l1=0.5
    )
    corpus = Corpus(texts=texts, labels=labels)
    found = report(model, corpus, train=corpus)
    r2 = found.scores.figures[0]
    values, predicted = np.array(labels, dtype=float), model.decision_function(texts)
    wanted = 1 - ((values - predicted) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    assert r2.name == "R²"
    assert r2.value == pytest.approx(wanted)
    squared, absolute = found.scores.figures[1:]
    assert squared.value == pytest.approx(((values - predicted) ** 2).mean())
    assert absolute.value == pytest.approx(np.abs(values - predicted).mean())
    assert found.documents[0].certainty == pytest.approx(-np.abs(values - predicted).max())
    assert (found.scores.labels, found.scores.left_out) == ([], 0)
    assert {"scores", "documents", "baseline"} <= set(Page(found.to_html()).sections())


def test_groups_stay_whole_and_times_in_order() -> None:
    texts = [f"{'good' if k % 2 else 'bad'} film {k % 7}" for k in range(40)]
    labels = ["pos" if k % 2 else "neg" for k in range(40)]
    options = {"reg": "ridge", "reg_l2": 0.1, "tokenizer": "words", "ngrams": 1}
    model = textreg.train(texts, labels, **options)
    groups = [str(k // 10) for k in range(40)]
    grouped = report(model, train=Corpus(texts=texts, labels=labels, group_of=groups))
    assert grouped.stability is not None
    assert grouped.stability.parts == 4
    assert grouped.scores.documents == 40
    timed = report(model, train=Corpus(texts=texts, labels=labels, time_of=list(range(40))))
    assert timed.scores.documents < 40
    assert "only earlier ones" in timed.scores.how


def test_a_tokenizer_without_offsets(train: Corpus) -> None:
    class Plain(textreg.kinds.Tokenizer):
        name = "plain"

        def __call__(self, text: str) -> list[list[str]]:
            return [text.lower().split()]

    assert train.labels is not None
    model = textreg.train(train.texts, train.labels, reg="lasso", reg_l1=0.5, tokenizer=Plain())
    page = Page(report(model, train).to_html())
    assert "documents" not in page.sections()
    assert "gives no character offsets" in page.text


def test_documents_left_out_are_answered_with_the_shift_of_the_model() -> None:
    """As its thresholds and its calibration were chosen for shifted scores."""
    random = np.random.default_rng(0)
    labels = random.choice(["a", "b", "c"], size=150, p=[0.6, 0.25, 0.15]).tolist()
    texts = [
        " ".join(
            [*random.choice([*"uvwxyz"], size=5), *([label * 2] if random.random() < 0.7 else [])]
        )
        for label in labels
    ]
    model = textreg.train(texts, labels, reg="ridge", tokenizer="words", unknown="none")
    assert model.summary is not None
    assert model.summary.shift is not None
    page = report(model, train=Corpus(texts, labels))
    (sentence,) = re.findall(r"answers (\d+)\s%", Page(page.to_html()).text)
    assert sentence == "95"  # the coverage that the threshold was chosen for


def test_refusals(model: Model, train: Corpus) -> None:
    with pytest.raises(UsageError, match="needs documents with labels"):
        report(model)
    with pytest.raises(DataError, match="labels"):
        report(model, Corpus(texts=["good"], labels=["unheard"]))
    other = Corpus(texts=["good", "bad"] * 4, labels=["x", "y"] * 4)
    with pytest.raises(DataError, match=r"only one of .* has neg, pos, x, y among its labels"):
        report(model, train=other)
    bare = Model(
        model.task,
        encoder=model.encoder,
        weights=model.weights,
        intercepts=model.intercepts,
    )
    with pytest.raises(ModelError, match="does not hold the settings"):
        report(bare, train=train)
    with pytest.raises(UsageError, match=r"must be a Model, as textreg.load\(path\) returns it"):
        report("model.textreg", train)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"corpus must be a Corpus, or the pair \(texts, labels\)"):
        report(model, train.texts)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="against is models by their names, as in"):
        report(model, train, against=["a"])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"must be a Model, as textreg.load\(path\) returns it"):
        report(model, train, against={"a": "model.textreg"})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="jobs must be 1 or more, up to 1024, or -1"):
        report(model, train=train, jobs=0)
    assert right(report(bare, train)) > 0
    assert right(report(bare, (train.texts, train.labels or ()))) == right(report(bare, train))


def test_commands(cli: Cli, tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    write_demo(demo, train=80, test=40)
    trained, page = tmp_path / "m.textreg", tmp_path / "m.html"
    quick = ["--tokenizer", "words", "--cv", "2"]
    assert cli("train", demo / "train.jsonl", "--reg", "lasso", *quick, "-o", trained).code == 0
    code, out, err = cli("report", trained, "--train", demo / "train.jsonl", "-o", page)
    assert (code, err) == (0, "")
    assert f"wrote {page}" in out
    first = Page(page.read_text(encoding="utf-8"))
    assert {"baseline", "stability", "selection"} <= set(first.sections())
    assert "--train" in first.text

    other = tmp_path / "other.html"
    code, out, err = cli("report", trained, demo / "test.jsonl", "-o", other)
    assert (code, err) == (0, "")
    assert f"wrote {other}" in out
    second = Page(other.read_text(encoding="utf-8"))
    assert "baseline" not in second.sections()
    assert "The training corpus was not given" in second.text
    assert f"textreg report {trained}" in second.text


def test_the_command_to_reproduce_does(cli: Cli, tmp_path: Path) -> None:
    trained, again = tmp_path / "m.textreg", tmp_path / "again.textreg"
    corpus = write_demo(tmp_path / "demo", train=80, test=2).train
    options = ["--reg", "elastic", "--no-tokenizer-lowercase", "--min-df", "2", "--ngrams", "1"]
    options += ["--cv", "2"]
    cli("train", corpus, *options, "--tol", "1e-9", "-o", trained)
    found = report(textreg.load(trained), read_corpus([str(corpus)]))
    command = found.reproduce.commands[-1][1].split()
    assert command[:3] == ["textreg", "train", "CORPUS"]
    code, _, err = cli("train", corpus, *command[3:], "-o", again)
    assert (code, err) == (0, "")
    one, two = (
        dict(zip(each.encoder.names, each.weights[0].tolist(), strict=True))
        for each in (textreg.load(trained), textreg.load(again))
    )
    assert one.keys() & two.keys()
    most = max(map(abs, one.values()))
    for name in one.keys() | two.keys():
        assert one.get(name, 0.0) == pytest.approx(two.get(name, 0.0), abs=1e-3 * most)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("option", ["--weight-col", "--group-col", "--time-col"])
def test_columns_of_the_training(cli: Cli, tmp_path: Path, option: str) -> None:
    """Fits without a part are those of the training: of its weights, its groups and its times."""
    rows = [
        f"{'good' if row % 2 else 'bad'} {'ok' if row % 3 else 'odd'},{row % 2},{1 + row // 10},"
        f"{1 + row * 7 % 60 // 20}"
        for row in range(60)
    ]
    corpus, trained = tmp_path / "c.csv", tmp_path / "m.textreg"
    corpus.write_text("\n".join(["text,label,more,other", *rows]) + "\n")
    code, _, err = cli(
        "train", corpus, "--reg", "ridge", "--tokenizer", "words", option, "more", "-o", trained
    )
    assert (code, err) == (0, "")
    pages = []
    for options in ([], [option, "more"], [option, "other"]):
        page = tmp_path / "page.html"
        code, out, err = cli("report", trained, "--train", corpus, *options, "-o", page)
        assert (code, err) == (0, "")
        role = option.removeprefix("--").removesuffix("-col")
        assert f"{role} = {[*options, 'more'][1] if options else 'more'}" in out
        pages.append(Page(page.read_text(encoding="utf-8")).text)
    assert ("the latest 50 training documents" in pages[0]) == (option == "--time-col")
    by_default, named, other = (text.rpartition("Reproduce")[0] for text in pages)
    assert by_default
    assert by_default == named != other

    code, out, err = cli("report", trained, corpus, option, "more")
    assert (code, out) == (2, "")
    assert f"{option} is for the training corpus: give --train" in err


def test_bad_commands(cli: Cli, demo: Path, tmp_path: Path) -> None:
    trained, corpus = tmp_path / "m.textreg", demo / "train.jsonl"
    cli("train", corpus, "--reg", "lasso", "--reg-l1", "1", "-o", trained)
    for arguments, said in (
        (["report", trained], "name labeled documents"),
        (["report", trained, corpus, "-o", tmp_path], "is a folder"),
        (["report", trained, corpus, "-o", tmp_path / "no" / "x.html"], "does not exist"),
        (["report", trained, corpus, "-o", trained], "would overwrite"),
        (["report", trained, corpus, "-o", tmp_path / "x.pdf"], "end its name with .html"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, ""), arguments
        assert said in err
        assert "Traceback" not in err


def test_numbers_of_a_corpus_need_not_be_texts() -> None:
    texts, numbers = ["good film", "bad film"] * 20, [1.5, -0.5] * 20
    model = textreg.train(texts, numbers, task="regression", reg="ridge", reg_l2=1.0)
    html = report(model, Corpus(texts=texts, labels=numbers)).to_html()
    assert "1.5" in Page(html).text


def test_labels_of_the_matrix_are_in_the_order_of_the_model() -> None:
    labels = ["a"] * 3 + ["b"] * 9 + ["c"] * 6
    texts = [f"word{label} more" for label in labels]
    model = textreg.train(texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words")
    scores = report(model, Corpus(texts=texts, labels=labels)).scores
    assert scores.matrix_labels == ["a", "b", "c"]
    assert scores.matrix.tolist() == np.diag([3, 9, 6]).tolist()
