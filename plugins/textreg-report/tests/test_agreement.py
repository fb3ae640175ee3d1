"""Agreement of evidence with marked passages: by hand, from the shell, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from test_evidence import MODELS, TEXTS

import textreg
from textreg.errors import DataError, UsageError
from textreg.explain.contributions import ExplainedBatch, explained_batch
from textreg.explain.evidence import Evidence, Occurrences
from textreg_report import agreement
from textreg_report.agreement import (
    AGREEMENT,
    BINS,
    MarkedDocument,
    rationale_scores,
)


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


def test_documents_are_judged_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [marked("A good film.", "good"), marked("Bad. Good.", "Good"), marked("Fine.")] * 2
    whole = rationale_scores(MODELS["words"], documents, of="p")
    monkeypatch.setattr(agreement, "BATCH", 2)
    found = rationale_scores(MODELS["words"], documents, of="p")
    assert (len(found), found.left_out) == (len(whole), whole.left_out) == (4, 2)
    np.testing.assert_allclose(found.table, whole.table)


@pytest.mark.parametrize("noise", [1e-16, -1e-16])
def test_evidence_that_is_equal_but_for_rounding_shares_its_rank(
    monkeypatch: pytest.MonkeyPatch, noise: float
) -> None:
    """Which of two equal sentences came first would depend on the processor."""
    documents, evidence_of = [marked("Awful. Zzz. Qqq. Xxx.", "Qqq")], ExplainedBatch.evidence
    alone = rationale_scores(MODELS["words"], documents, of="p").table

    def rounded(batch: ExplainedBatch, sentences: Occurrences | None = None) -> Evidence:
        found, third = evidence_of(batch, sentences), noise * (np.arange(4) == 2)
        of_tokens, of_sentences = found.of_tokens + third, found.of_sentences + third
        return replace(found, of_tokens=of_tokens, of_sentences=of_sentences)

    monkeypatch.setattr(ExplainedBatch, "evidence", rounded)
    found = rationale_scores(MODELS["words"], documents, of="p").table
    assert found.tolist() == alone.tolist()


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
    row = {"evidence": [[0, 4], [2, 6]], "parts": "[[0, 4], [4, 9]]"}
    found = MarkedDocument.of_row("good film", row, "evidence", "parts", "a.csv:2")
    assert found.passages.tolist() == row["evidence"]
    assert found.sentences is not None
    assert found.sentences.tolist() == [[0, 4], [4, 9]]
    for pairs in (np.array([[0, 4]]), [np.array([0, 4])], [(np.int64(0), np.int32(4))]):
        assert MarkedDocument.of("good", pairs).passages.tolist() == [[0, 4]]
    for empty in (None, "", " ", [], "[]"):
        none = MarkedDocument.of_row("good", {"evidence": empty}, "evidence", None, "a.csv:2")
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
        MarkedDocument.of_row("good", {"evidence": value}, "evidence", None, "a.csv:2")


def test_sentences_that_overlap() -> None:
    row = {"evidence": [], "parts": [[0, 3], [2, 4]]}
    with pytest.raises(DataError, match=r"'parts' has \[2, 4\] after \[0, 3\]"):
        MarkedDocument.of_row("good", row, "evidence", "parts", "a.csv:2")


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


@pytest.fixture
def model(tmp_path: Path) -> Path:
    texts = ["Good film. Good actors.", "Bad film. Bad plot.", "Good plot!", "Bad actors!"]
    path = tmp_path / "m.model"
    options = {"reg": "ridge", "reg_l2": 0.1, "tokenizer": "words", "weighting": "unit-idf"}
    textreg.train(texts, ["p", "n", "p", "n"], **options).save(path)
    return path


ROWS = [
    {"text": "Good film. Bad plot.", "why": [[0, 4]], "parts": [[0, 10], [11, 20]]},
    {"text": "Good actors! Bad actors!", "why": [[13, 16], [13, 23]], "parts": [[0, 24]]},
    {"text": "Nothing known.", "why": [], "parts": []},
]


@pytest.fixture
def marked_file(tmp_path: Path) -> Path:
    path = tmp_path / "marked.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_agreement_with_marked_passages(cli: Cli, model: Path, marked_file: Path) -> None:
    code, out, err = cli("agreement", model, marked_file, "--evidence-col", "why", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["documents"], found["left_out"]) == (2, 1)
    assert found["marked_sentences"] == 0.5
    assert set(found["measures"]["token_f1"]) == {"value", "low", "high"}

    code, out, err = cli("agreement", model, marked_file, "--evidence-col", "why")
    assert (code, err) == (0, "")
    assert "marked passages in 2 of 3 documents" in out
    assert "intervals of so few documents are too narrow" in out
    value = found["measures"]["sentence_auprc"]["value"]
    (line,) = (line for line in out.splitlines() if line.startswith("sentence AUPRC"))
    assert line.split()[2] == f"{value:.3f}"

    options = ["--evidence-col", "why", "--sentences-col", "parts", "--json"]
    assert (
        json.loads(cli("agreement", model, marked_file, *options).out)["marked_sentences"] == 0.75
    )


def test_offsets_as_json_in_a_table(
    cli: Cli, model: Path, marked_file: Path, tmp_path: Path
) -> None:
    table = tmp_path / "marked.csv"
    lines = ["text,why", *(f'{row["text"]},"{row["why"]}"' for row in ROWS)]
    table.write_text("\n".join(lines), encoding="utf-8")
    of_table, of_lines = (
        json.loads(cli("agreement", model, file, "--evidence-col", "why", "--json").out)
        for file in (table, marked_file)
    )
    assert of_table == of_lines


def test_rows_that_are_left_out_shift_no_passages(
    cli: Cli, model: Path, marked_file: Path, tmp_path: Path
) -> None:
    file = tmp_path / "damaged.jsonl"
    first, *others = marked_file.read_text(encoding="utf-8").splitlines()
    wrong = '{"text": 3, "why": [[0, 1]]}'
    file.write_text("\n".join([wrong, first, wrong, wrong, *others, wrong]), encoding="utf-8")
    options = ["--evidence-col", "why", "--json"]
    with_gaps = cli("agreement", model, file, *options, "--on-error", "skip")
    assert with_gaps.code == 0
    assert with_gaps.out == cli("agreement", model, marked_file, *options).out


def test_two_models_on_the_same_passages(
    cli: Cli, model: Path, marked_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.model"
    textreg.train(
        ["plot plot", "film", "good plot", "bad"], ["p", "n", "p", "n"], reg="ridge", reg_l2=9
    ).save(other)
    options = ["--evidence-col", "why", "--against", other]
    found = json.loads(cli("agreement", model, marked_file, *options, "--json").out)
    for key, difference in found["differences"].items():
        values = (found[name][key]["value"] for name in ("measures", "measures_against"))
        first, second = values
        assert difference["value"] == pytest.approx(first - second)
        assert 0.5 <= difference["p"] <= 1  # two documents prove nothing
    turned = tmp_path / "turned.model"
    texts = ["Good film. Good actors.", "Bad film. Bad plot.", "Good plot!", "Bad actors!"]
    plain = {"reg": "ridge", "reg_l2": 0.1, "tokenizer": "words", "weighting": "unit-idf"}
    textreg.train(texts, ["p", "n", "n", "p"], **plain).save(turned)
    code, out, err = cli("agreement", model, marked_file, *options[:3], turned)
    assert (code, err) == (0, "")
    shown = out.replace(str(marked_file), "marked.jsonl").replace(str(turned), "o.model")
    assert shown == TOLD
    same = json.loads(
        cli("agreement", model, marked_file, *options[:2], "--against", model, "--json").out
    )
    assert {one["p"] for one in same["differences"].values()} == {1.0}


TOLD = """\
marked.jsonl: marked passages in 2 of 3 documents
marked: 50.0% of the sentences, 37.5% of the tokens; the rationale
is the 37.5% of the tokens with the most evidence

                              mean         95 % CI
sentence AUPRC               1.000    1.000..1.000
sentence average precision   1.000    1.000..1.000
top-1 sentence is marked     1.000    1.000..1.000
top-3 sentences are marked   0.500    0.500..0.500
R-precision of sentences     1.000    1.000..1.000
token AUPRC                  1.000    1.000..1.000
token average precision      1.000    1.000..1.000
token precision              0.750    0.500..1.000
token recall                 1.000    1.000..1.000
token F1                     0.833    0.667..1.000
IOU F1                       0.857    0.667..1.000
comprehensiveness            0.362    0.338..0.385
sufficiency                 -0.309  -0.312..-0.306
comprehensiveness, AOPC      0.259    0.206..0.313
sufficiency, AOPC           -0.192  -0.334..-0.050

intervals of so few documents are too narrow

less those of o.model
                            mean there  difference         95 % CI       p
sentence AUPRC                   0.625      +0.375  +0.000..+0.750  0.5000
sentence average precision       0.750      +0.250  +0.000..+0.500  0.5000
top-1 sentence is marked         0.500      +0.500  +0.000..+1.000  0.5000
top-3 sentences are marked       0.500      +0.000  +0.000..+0.000  1.0000
R-precision of sentences         0.500      +0.500  +0.000..+1.000  0.5000
token AUPRC                      0.562      +0.438  +0.000..+0.875  0.5000
token average precision          0.625      +0.375  +0.000..+0.750  0.5000
token precision                  0.500      +0.250  +0.000..+0.500  0.5000
token recall                     0.500      +0.500  +0.000..+1.000  0.5000
token F1                         0.500      +0.333  +0.000..+0.667  0.5000
IOU F1                           0.333      +0.524  +0.000..+1.000  0.5000
comprehensiveness                0.196      +0.166  -0.012..+0.344  0.5011
sufficiency                     -0.073      -0.236  -0.346..-0.125  0.5000
comprehensiveness, AOPC          0.196      +0.063  +0.000..+0.126  0.5000
sufficiency, AOPC               -0.066      -0.126  -0.154..-0.098  0.5000
"""


def test_two_models_need_the_same_labels_and_sentences(
    cli: Cli, model: Path, tmp_path: Path
) -> None:
    marked = tmp_path / "dots.jsonl"
    rows = [{"text": "... Good film.", "why": [[0, 3]]}, {"text": "Bad plot.", "why": [[0, 3]]}]
    marked.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    other = tmp_path / "other.model"
    options = ["agreement", model, marked, "--evidence-col", "why", "--against", other]
    texts, labels = ["plot plot", "film", "good plot", "bad"], ["p", "n", "p", "n"]
    textreg.train(texts, ["yes", "no", "yes", "no"], reg="ridge", reg_l2=9).save(other)
    assert "has the label 'n' and" in cli(*options).err
    textreg.train(texts, labels, reg="ridge", reg_l2=9, tokenizer="chars").save(other)
    assert "split these texts into different sentences" in cli(*options).err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Missing option '--evidence-col'"),
        (["--evidence-col", "whi"], "no column 'whi'. Did you mean 'why'?"),
        (["--evidence-col", "why", "--sentences-col", "x"], "no column 'x'"),
        (["--evidence-col", "why", "--label-col", "why"], "leave out --label-col"),
        (["--evidence-col", "why", "--of", "x"], "no label 'x'"),
        (["--evidence-col", "text"], "marked.jsonl:1: 'text' has Good film. Bad plot., not a list"),
    ],
)
def test_refused_marks(
    cli: Cli, model: Path, marked_file: Path, options: list[str], message: str
) -> None:
    code, out, err = cli("agreement", model, marked_file, *options)
    assert (code != 0, out) == (True, "")
    assert message in err
