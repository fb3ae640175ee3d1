"""What Tab completes in a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from textreg.cli import main


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """The words that are offered for the last one of a line, or what kind of path."""

    def ask(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_TEXTREG_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        main([])
        out, err = capsys.readouterr()
        assert err == ""
        pairs = [one.split(",", 1) for one in out.splitlines() if one]
        return [value if kind == "plain" else f"({kind})" for kind, value in pairs]

    return ask


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("textreg tr", ["train"]),
        ("textreg plugins d", ["doctor"]),
        ("textreg train --reg sen", ["sentence"]),
        ("textreg train --tokenizer words,ch", ["words,chars"]),
        ("textreg compare --loss squared-", ["squared-hinge"]),
        ("textreg train --reg lasso --reg-", ["--reg-weights", "--reg-l1"]),
        ("textreg train --reg nothing --tol", ["--tol"]),
        ("textreg train --metric macro", ["macro-f1"]),
        ("textreg train a.csv b", ["(file)"]),
        ("textreg train --config r", ["(file)"]),
        ("textreg report m --train t", ["(file)"]),
        ("textreg --plugin p", ["(file)"]),
        ("textreg --no-plugin sentenc", ["sentence", "sentences"]),
        ("textreg demo d", ["(dir)"]),
        ("textreg nothing --fo", []),
    ],
)
def test_what_is_offered(offered, line: str, words: list[str]) -> None:  # type: ignore[no-untyped-def]
    assert offered(line) == words


def test_no_file_is_run_for_it(offered, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "plugin.py"
    file.write_text("raise SystemExit('ran')")
    assert offered(f"textreg --plugin {file} train --reg sen") == ["sentence"]


def test_in_bash(tmp_path: Path) -> None:
    program = tmp_path / "textreg"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m textreg "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    script = """
        eval "$(_TEXTREG_COMPLETE=bash_source textreg)"
        COMP_WORDS=(textreg train --reg sen); COMP_CWORD=3
        _textreg_completion textreg; echo "${COMPREPLY[@]}"
        complete -p textreg
    """
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "sentence",
        "complete -o nosort -F _textreg_completion textreg",
    ]


def test_commands_are_offered_without_importing_one() -> None:
    code = "import sys, textreg.cli; textreg.cli.main([]); print(*sys.modules, file=sys.stderr)"
    asked = {"_TEXTREG_COMPLETE": "bash_complete", "COMP_WORDS": "textreg t", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "plain,train\n"
    assert not {"numpy", "textreg.cli.train"} & {*done.stderr.split()}
