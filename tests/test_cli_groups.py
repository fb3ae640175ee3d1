"""``textreg groups``, and groups on the command line of ``textreg train``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli

TEXTS = {
    "up": ["A good film. Fine acting.", "Good and fine.", "A fine film, good fun."],
    "down": ["A bad film. Poor acting.", "Bad and poor.", "A poor film, bad taste."],
}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A corpus of a dozen texts, in the folder that is made the current one."""
    monkeypatch.chdir(tmp_path)
    rows = [{"text": text, "label": label} for label in TEXTS for text in TEXTS[label] * 4]
    Path("films.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return "films.jsonl"


def test_it_counts_and_shows(cli: Cli, corpus: str) -> None:
    done = cli("groups", corpus, "--ngrams", 1, "--top", 2)
    assert (done.code, done.err) == (0, "")
    assert "films.jsonl: 24 documents" in done.out
    assert "groups: 32 sentences" in done.out
    assert "8 differ and have two features or more, 0 have one, 0 none" in done.out
    assert "sizes: 2 to 5 features, the median is 3" in done.out
    assert "in groups: 10 features (100 %)" in done.out
    assert done.out.splitlines()[-2:] == [
        "document 1, sentence 1     3   1.000  a, film, good",
        "document 1, sentence 2     2   1.000  acting, fine",
    ]


def test_json_has_the_counts_and_the_groups_shown(cli: Cli, corpus: str) -> None:
    done = cli(
        "groups", corpus, "--groups", "windows,documents", "--groups-size", 2, "--ngrams", 1,
        "--groups-documents-weight", "sqrt", "--top", 1, "--json",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    result = json.loads(done.out)
    assert result["builder"] == "windows,documents"
    assert result["params"]["size"] == 2
    assert result["groups"] == 2 * 4 * (3 + 2 + 3) + 24
    assert result["covered"] == result["features"] == 10
    assert result["shown"] == [
        {"name": "windows: document 1, window 1", "weight": 1.0, "features": ["a", "good"]}
    ]
    assert set(result["seconds"]) == {"features", "groups"}


def test_what_is_saved_can_be_edited_and_trained_with(cli: Cli, corpus: str) -> None:
    assert cli("groups", corpus, "--groups", "documents", "-o", "mine.txt").code == 0
    lines = Path("mine.txt").read_text().splitlines()
    assert lines[0] == "# name\tweight\tfeatures"
    assert len(lines) == 25
    assert "a good" in lines[1].split("\t")
    Path("mine.txt").write_text("\n".join([*lines[:5], "praise\t0.5\tgood\tfine\tsuperb"]))
    done = cli(
        "train", corpus, "--reg", "group", "--groups", "file", "--groups-path", "mine.txt",
        "--reg-group", 0.1, "--reg-l1", 0.01, "-o", "films.textreg", "--json",
    )  # fmt: skip
    assert done.code == 0
    assert done.err.count("mine.txt: 1 of 33 words are not features") == 1
    assert "'superb' (line 6)" in done.err
    result = json.loads(done.out)
    assert result["groups"]["name"] == "file"
    assert result["groups"]["before"] == 5


def test_labels_are_not_needed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("one two\nthree\n")
    done = cli("groups", tmp_path / "plain.txt", "--groups", "documents", "--json")
    assert json.loads(done.out)["groups"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--groups", "sentense"], "no group builder 'sentense'. Did you mean 'sentences'?"),
        (["--groups", "windows,documents", "--groups-weight", "sqrt"], "No such option"),
        (["--groups", "windows", "--groups-size", "0"], "windows: size must be at least 1, not 0."),
        (["--groups", "file", "--groups-path", "none.txt"], "none.txt cannot be read"),
        (["--reg", "group"], "No such option"),
        (["-o", "nowhere/groups.txt"], "does not exist"),
    ],
)
def test_wrong_use_is_told(cli: Cli, corpus: str, arguments: list[str], message: str) -> None:
    done = cli("groups", corpus, *arguments)
    assert done.code in (1, 2)
    assert message in done.err
    assert done.err.count("\n") == 1


def test_help_shows_the_options_of_what_was_chosen(cli: Cli) -> None:
    out = cli("groups", "--groups", "windows,documents", "--help").out
    assert "Group builder windows,documents" in out
    for option in ("--groups-size", "--groups-windows-weight", "--groups-documents-weight"):
        assert option in out
    assert "Regularizer" not in out
    train = cli("train", "--reg", "group", "--groups", "windows", "--help").out
    assert "Regularizer group" in train
    assert "--groups-stride" in train


def test_group_needs_a_builder(cli: Cli, corpus: str) -> None:
    done = cli("train", corpus, "--reg", "group")
    assert done.code == 2
    assert "group needs groups" in done.err
    assert "paragraphs" in done.err


def test_a_target_that_cannot_be_written_is_found_before_anything_is_read(cli: Cli) -> None:
    done = cli("groups", "no such file", "-o", "nowhere/groups.txt")
    assert done.code == 2
    assert "the folder nowhere does not exist" in done.err


def test_what_is_left_out_is_told_once_however_often_groups_are_built(
    cli: Cli, corpus: str
) -> None:
    Path("mine.txt").write_text("good fine\nbad uno\n")
    options = ("--groups", "file", "--groups-path", "mine.txt", "--cv", 3, "--jobs", 1)
    done = cli("train", corpus, "--reg", "group", *options)
    assert done.code == 0, done.err
    assert done.err.count("1 of 4 words are not features") == 1
