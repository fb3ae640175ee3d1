"""What strangers wrote does not act on a terminal or in a page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from textreg.cli import main
from textreg.terminal import json_line, single_line, visible

HOSTILE = "\x1b[31mRED\x07\x9b2J\u202e<script>alert(1)</script>"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_json_keeps_what_it_escapes() -> None:
    line = json_line({"label": HOSTILE, "more": ["naïve\n", 1.5]})
    assert not ACTS.search(line)
    assert json.loads(line) == {"label": HOSTILE, "more": ["naïve\n", 1.5]}
    assert not ACTS.search(single_line(HOSTILE))
    with pytest.raises(ValueError, match="JSON compliant"):
        json_line(float("nan"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("new york", "new york"),
        (" go", "␣go"),
        ("go ", "go␣"),
        ("chars:  go ", "chars: ␣go␣"),
        ("chars:  ", "chars:␣␣"),
        ("a  b", "a ␣b"),
        (" ", "␣"),
        ("", ""),
    ],
)
def test_blanks_of_names_are_visible(name: str, shown: str) -> None:
    assert visible(name) == shown


def test_commands_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"text": f"{word} {HOSTILE} film{i % 3}", "label": f"{label}{HOSTILE}"}
        for i in range(6)
        for word, label in (("good", "p"), ("bad", "n"))
    ]
    Path("corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    train = "train corpus.jsonl --reg lasso --reg-l1 0.01 --ngrams 1 -o m.textreg"
    commands = [
        train,
        f"{train} --json",
        "predict m.textreg corpus.jsonl",
        "predict m.textreg corpus.jsonl --proba",
        "predict m.textreg corpus.jsonl --json",
        "predict m.textreg corpus.jsonl --format jsonl",
        "evaluate m.textreg corpus.jsonl",
        "explain m.textreg corpus.jsonl",
        "explain m.textreg corpus.jsonl --format jsonl",
        "show m.textreg",
        "show m.textreg --json",
        "groups corpus.jsonl",
        "report m.textreg corpus.jsonl --train corpus.jsonl -o r.html",
    ]
    for command in commands:
        assert main(command.split()) == 0, capsys.readouterr().err
        out, err = capsys.readouterr()
        assert not ACTS.search(out + err), command
    page = Path("r.html").read_text()
    assert "<script>alert" not in page
    assert not ACTS.search(page)
