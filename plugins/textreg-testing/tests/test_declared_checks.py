"""What the author of a plugin says of its checks, and that right plugins raise no alarm."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from switched_tokenizers import Mentions, Pieces
from thoroughness import skipping_fresh, without_fresh

from textreg.errors import UsageError
from textreg_testing import ContractError, check_tokenizer, tokenizer_checks

MODULE = """
import re
from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.params import param


class Rare(Tokenizer):
    "Words; those of a rare mark are left out if so told."

    name = "rare-mark"
    marked: bool = param(default=True, help="keep words with a rare mark")

    def __call__(self, text):
        words = text.lower().split()
        return [[word for word in words if self.marked or "\u2e2e" not in word]]


class Last(Rare):
    "The same, without the last word."

    name = "last-lost"

    def __call__(self, text):
        return [sentence[:-1] for sentence in super().__call__(text)]


@hookimpl
def textreg_tokenizers():
    return [Rare, Last]
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a module of plugins beside settings; gives the module."""

    def write(settings: str) -> Any:
        (tmp_path / "pyproject.toml").write_text(f"[tool.textreg.check]\n{settings}")
        (tmp_path / "rare_marks.py").write_text(MODULE)
        spec = importlib.util.spec_from_file_location("rare_marks", tmp_path / "rare_marks.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "rare_marks", module)
        spec.loader.exec_module(module)
        return module

    return write


def statuses(done: Any) -> dict[str, str]:
    rows = re.findall(r"^(tokenizer-[a-z]+) +(ok|skipped|FAILED)", done.out, re.MULTILINE)
    return dict(rows)


def test_a_switch_for_what_texts_lack_is_no_alarm(written: Any, tmp_path: Path, cli: Cli) -> None:
    written("")
    command = ["--plugin", str(tmp_path / "rare_marks.py"), "plugins", "check", "rare-mark"]
    done = cli(*command, *skipping_fresh("tokenizer"))
    assert statuses(done)["tokenizer-settings"] == "skipped"
    assert "no effect of marked is seen" in done.out
    assert "--text FILE" in done.out
    assert done.code == 0


def test_texts_of_the_author_are_tried(written: Any) -> None:
    module = written('texts = ["plain words alone"]\n')
    with pytest.raises(ContractError, match=r"an effect of the parameter marked.*--text FILE"):
        check_tokenizer(module.Rare)


def test_they_show_an_effect(written: Any) -> None:
    check_tokenizer(
        written('texts = ["some \u2e2emarked words"]\n').Rare, skip=without_fresh("tokenizer")
    )


def test_checks_are_left_out_for_reasons(written: Any, tmp_path: Path, cli: Cli) -> None:
    module = written('skip = { tokenizer-positions = "it is so" }\n')
    (check,) = (check for check in tokenizer_checks() if check.name == "tokenizer-positions")
    check(module.Last)
    command = ["--plugin", str(tmp_path / "rare_marks.py"), "plugins", "check", "last-lost"]
    done = cli(*command)
    assert statuses(done)["tokenizer-positions"] == "skipped"
    done = cli(*command, "--skip", "tokenizer-call=no reason", "--skip", "tokenizer-spans= ")
    assert "--skip tokenizer-spans needs a reason" in done.err
    done = cli(*command, "--skip", "tokenizer-cal=no reason")
    assert "Did you mean 'tokenizer-call'" in done.err


def test_settings_that_there_are_not(written: Any) -> None:
    with pytest.raises(ContractError, match=r"\[tool.textreg.check\] has no 'text'"):
        check_tokenizer(written('text = ["one"]\n').Rare)


def test_answers_are_named_as_a_function_of_a_file(written: Any) -> None:
    for named in ("rare_marks.py", "rare_marks.py:nothing", ":nothing"):
        message = f"answers = '{named}' has to be FILE:FUNCTION"
        with pytest.raises(ContractError, match=re.escape(message)):
            check_tokenizer(written(f'answers = "{named}"\n').Rare)


@pytest.mark.parametrize("part", [Mentions, Pieces], ids=lambda part: part.name)
def test_settings_for_certain_texts(part: Any) -> None:
    check_tokenizer(part, skip=without_fresh("tokenizer"))


class Deaf(Mentions):
    """Words, whatever it is told."""

    def __call__(self, text: str) -> list[list[str]]:
        return [re.findall(r"\w+", text.lower())]


def test_a_switch_that_nothing_reads_is_found() -> None:
    with pytest.raises(ContractError, match=r"mentions, but got .* as nothing reads it"):
        check_tokenizer(Deaf, skip=without_fresh("tokenizer"))


class Twice(Mentions):
    """The last word is lost, and others are upper case where there are many."""

    def __call__(self, text: str) -> list[list[str]]:
        return [sentence[:-1] for sentence in super().__call__(text)]

    def encode(self, texts: Any, *, spans: bool = False) -> Any:
        if spans:
            raise UsageError("no")
        return super().encode([text.upper() + " x" for text in texts])


def test_all_failures_are_told() -> None:
    with pytest.raises(ContractError) as caught:
        check_tokenizer(Twice)
    assert {"tokenizer-encode", "tokenizer-positions"} <= set(
        re.findall(r"^(tokenizer-\w+): expected", str(caught.value), re.MULTILINE)
    )
