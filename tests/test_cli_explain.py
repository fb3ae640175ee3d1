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
    assert document["explanations"][0] == {**wanted, "row": 1, "line": f"{file}:1"}
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
    assert "\x1b[32m\x1b[1mgood" in out
    assert "\x1b[31m\x1b[1mbad" in out
    monkeypatch.setenv("NO_COLOR", "1")
    out = cli("explain", model, "good film bad", "--of", "p").out
    assert "32m" not in out
    assert "31m" not in out


def test_a_sentence_looks_at_its_own_words_alone(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned: list[str] = []

    def counted(text: str) -> str:
        cleaned.append(text)
        return text

    monkeypatch.setattr("textreg.cli.explain.single_line", counted)
    out = cli("explain", model, "Good film, bad film. " * 100).out
    assert out.count("Good film, bad film.") == 100
    assert len(cleaned) < 1000  # of the 100 sentences, and not 100 times so many


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
