"""``textreg explain``: for reading, and as JSON with offsets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

import textreg

TEXT = "Good film. Bad plot; good actors!"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    texts = ["Good film. Good actors.", "Bad film. Bad plot.", "Good plot!", "Bad actors!"]
    path = tmp_path / "m.model"
    options = {"reg": "ridge", "reg_l2": 0.1, "tokenizer": "words"}
    textreg.train(texts, ["p", "n", "p", "n"], **options).save(path)
    return path


def test_a_text_on_the_command_line(cli: Cli, model: Path) -> None:
    code, out, err = cli("explain", model, TEXT)
    assert (code, err) == (0, "")
    explanation = textreg.load(model).explain(TEXT)
    lines = out.splitlines()
    assert lines[0].startswith(
        f"{explanation.label} ({explanation.probabilities[explanation.label]:.3f})"
    )
    assert "= intercept" in lines[0]
    assert "log-odds" in lines[1]
    first = explanation.sentences[0]
    numbers = [f"{first.evidence:.3f}", f"{first.value:+.3f}", f"{first.removal:+.3f}"]
    assert lines[2].split() == [*numbers, "Good", "film."]
    assert "good +" in lines[-1] or "good -" in lines[-1]
    assert "\x1b" not in out  # no color where nobody looks


def test_json_is_one_document_with_offsets(cli: Cli, model: Path, tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text(f"{TEXT}\nnothing known\n", encoding="utf-8")
    code, out, err = cli("explain", model, file, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    wanted = textreg.load(model).explain(TEXT).to_dict()
    assert document["explanations"][0] == wanted
    assert document["explanations"][1]["words"] == []
    for word in wanted["words"]:
        assert TEXT[word["start"] : word["end"]].lower() == word["feature"]

    code, out, err = cli("explain", model, file, "--format", "jsonl")
    assert [json.loads(line) for line in out.splitlines()] == document["explanations"]


def test_of_another_label(cli: Cli, model: Path) -> None:
    (one,) = json.loads(cli("explain", model, TEXT, "--of", "p", "--json").out)["explanations"]
    (other,) = json.loads(cli("explain", model, TEXT, "--of", "n", "--json").out)["explanations"]
    assert one["score"] == -other["score"]


def test_refusals(cli: Cli, model: Path, tmp_path: Path) -> None:
    code, out, err = cli("explain", model, TEXT, "--of", "x")
    assert (code, out) == (2, "")
    assert "no label 'x'" in err
    code, out, err = cli("explain", model, tmp_path / "missing.csv")
    assert (code != 0, out) == (True, "")
    assert "missing.csv" in err
    code, out, err = cli("explain", model, TEXT, "--text-col", "a")
    assert (code, out) == (2, "")
    assert "--text-col" in err
    code, out, err = cli("explain", model, "")
    assert (code, out) == (2, "")
    assert "the text is empty" in err


def test_top_limits_the_features_listed(cli: Cli, model: Path) -> None:
    assert cli("explain", model, TEXT, "--top", "1").out.splitlines()[-1].count(",") == 0
    assert cli("explain", model, TEXT, "--top", "2").out.splitlines()[-1].count(",") == 1


def test_control_characters_do_not_reach_the_terminal(cli: Cli, model: Path) -> None:
    out = cli("explain", model, "good \x1b[31m film \u202e bad").out
    assert not {"\x1b", "\u202e"} & set(out)


def test_colors_where_somebody_looks(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = cli("explain", model, "good film bad", "--of", "p").out
    assert "32mgood" in out
    assert "31mbad" in out
    monkeypatch.setenv("NO_COLOR", "1")
    out = cli("explain", model, "good film bad", "--of", "p").out
    assert "32m" not in out
    assert "31m" not in out


@pytest.mark.parametrize("text", ["bad", "账户被锁定了。", "Great?!", "[deleted]", "see a.b, or c"])
def test_a_text_without_blanks(cli: Cli, model: Path, text: str) -> None:
    direct = cli("explain", model, text)
    assert direct.code == 0
    assert cli("explain", model, "--text", text) == direct


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("review.jsonl", "review.jsonl: no such file."),
        ("my reviews.csv", "my reviews.csv: no such file."),
        ("texts/new", "there is no folder 'texts'"),
        ("*.html", "no file matches this pattern"),
        ("modell", "no such file. Did you mean 'model'?"),
    ],
)
def test_a_name_of_no_file(
    cli: Cli, model: Path, source: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").touch()
    for command, purpose in (("explain", "explain"), ("predict", "predict")):
        result = cli(command, model, source)
        assert (result.code, result.out) == (2, "")
        assert words in result.err
        assert f"To {purpose} a text itself, pass it with --text." in result.err


def test_several_texts(cli: Cli, model: Path, tmp_path: Path) -> None:
    both = cli("explain", model, "--text", "good/bad.csv", "--text", "good", "--json")
    found = json.loads(both.out)["explanations"]
    assert [one["text"] for one in found] == ["good/bad.csv", "good"]
    for more in (("good",), ("--train", "a.csv"), ("--text", ""), ("--text-col", "a")):
        assert cli("explain", model, "--text", "good", *more).code == 2


ROWS = [
    {"text": "Good film. Bad plot.", "why": [[0, 4]], "parts": [[0, 10], [11, 20]]},
    {"text": "Good actors! Bad actors!", "why": [[13, 16], [13, 23]], "parts": [[0, 24]]},
    {"text": "Nothing known.", "why": [], "parts": []},
]


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    path = tmp_path / "marked.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_agreement_with_marked_passages(cli: Cli, model: Path, marked: Path) -> None:
    code, out, err = cli("explain", model, marked, "--evidence-col", "why", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["documents"], found["left_out"]) == (2, 1)
    assert found["marked_sentences"] == 0.5
    assert set(found["measures"]["token_f1"]) == {"value", "low", "high"}

    code, out, err = cli("explain", model, marked, "--evidence-col", "why")
    assert (code, err) == (0, "")
    assert "marked passages in 2 of 3 documents" in out
    assert "intervals of so few documents are too narrow" in out
    value = found["measures"]["sentence_auprc"]["value"]
    (line,) = (line for line in out.splitlines() if line.startswith("sentence AUPRC"))
    assert line.split()[2] == f"{value:.3f}"

    options = ["--evidence-col", "why", "--sentences-col", "parts", "--json"]
    assert json.loads(cli("explain", model, marked, *options).out)["marked_sentences"] == 0.75


def test_offsets_as_json_in_a_table(cli: Cli, model: Path, marked: Path, tmp_path: Path) -> None:
    table = tmp_path / "marked.csv"
    lines = ["text,why", *(f'{row["text"]},"{row["why"]}"' for row in ROWS)]
    table.write_text("\n".join(lines), encoding="utf-8")
    of_table, of_lines = (
        json.loads(cli("explain", model, file, "--evidence-col", "why", "--json").out)
        for file in (table, marked)
    )
    assert of_table == of_lines


def test_rows_that_are_left_out_shift_no_passages(
    cli: Cli, model: Path, marked: Path, tmp_path: Path
) -> None:
    file = tmp_path / "damaged.jsonl"
    first, *others = marked.read_text(encoding="utf-8").splitlines()
    wrong = '{"text": 3, "why": [[0, 1]]}'
    file.write_text("\n".join([wrong, first, wrong, wrong, *others, wrong]), encoding="utf-8")
    options = ["--evidence-col", "why", "--json"]
    with_gaps = cli("explain", model, file, *options, "--on-error", "skip")
    assert with_gaps.code == 0
    assert with_gaps.out == cli("explain", model, marked, *options).out


def test_two_models_on_the_same_passages(
    cli: Cli, model: Path, marked: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.model"
    textreg.train(
        ["plot plot", "film", "good plot", "bad"], ["p", "n", "p", "n"], reg="ridge", reg_l2=9
    ).save(other)
    options = ["--evidence-col", "why", "--against", other]
    found = json.loads(cli("explain", model, marked, *options, "--json").out)
    for key, difference in found["differences"].items():
        values = (found[name][key]["value"] for name in ("measures", "measures_against"))
        first, second = values
        assert difference["value"] == pytest.approx(first - second)
        assert 0.5 <= difference["p"] <= 1  # two documents prove nothing
    code, out, err = cli("explain", model, marked, *options)
    assert (code, err) == (0, "")
    assert f"less those of {other}" in out
    same = json.loads(cli("explain", model, marked, *options[:2], "--against", model, "--json").out)
    assert {one["p"] for one in same["differences"].values()} == {1.0}


def test_two_models_need_the_same_labels_and_sentences(
    cli: Cli, model: Path, tmp_path: Path
) -> None:
    marked = tmp_path / "dots.jsonl"
    rows = [{"text": "... Good film.", "why": [[0, 3]]}, {"text": "Bad plot.", "why": [[0, 3]]}]
    marked.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    other = tmp_path / "other.model"
    options = ["explain", model, marked, "--evidence-col", "why", "--against", other]
    texts, labels = ["plot plot", "film", "good plot", "bad"], ["p", "n", "p", "n"]
    textreg.train(texts, ["yes", "no", "yes", "no"], reg="ridge", reg_l2=9).save(other)
    assert "has the label 'n' and" in cli(*options).err
    textreg.train(texts, labels, reg="ridge", reg_l2=9, tokenizer="chars").save(other)
    assert "split these texts into different sentences" in cli(*options).err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sentences-col", "parts"], "--sentences-col needs --evidence-col"),
        (["--against", "m"], "--against needs --evidence-col"),
        (["--evidence-col", "whi"], "no column 'whi'. Did you mean 'why'?"),
        (["--evidence-col", "why", "--sentences-col", "x"], "no column 'x'"),
        (["--evidence-col", "why", "--format", "jsonl"], "leave out --text"),
        (["--evidence-col", "why", "--of", "x"], "no label 'x'"),
        (["--evidence-col", "text"], "marked.jsonl:1: 'text' has Good film. Bad plot., not a list"),
    ],
)
def test_refused_marks(
    cli: Cli, model: Path, marked: Path, options: list[str], message: str
) -> None:
    code, out, err = cli("explain", model, marked, *options)
    assert (code != 0, out) == (True, "")
    assert message in err
