"""What README and the tour show is what happens: code runs, commands answer as printed."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import textreg
from textreg.demo.corpus import write_demo

CHECKOUT = Path(textreg.__file__).parent.parent
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "tour.md").is_file(), reason="textreg is not installed from a checkout"
)


WORDS = {
    "feelings": "good bad happy superb awful love best worst",
    "good": "good happy superb love best",
    "bad": "bad awful worst",
    "classes": "good bad happy",
    "topics": "good bad happy",
}
"""Lists of words that commands name."""


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tour.md",
        "docs/features.md",
        "docs/networks.md",
        "docs/losses.md",
        "docs/limits.md",
        "docs/baselines.md",
        "docs/sentence.md",
        "docs/groups.md",
        "docs/pursuit.md",
        "docs/stagewise.md",
        "docs/contract.md",
        "docs/explaining.md",
        "docs/exporting.md",
        "docs/reporting.md",
        "docs/calibration.md",
        "docs/comparing.md",
        "docs/learn-curve.md",
        "docs/searching.md",
        "docs/tokenizers.md",
        "docs/scikit-learn.md",
        "docs/multilabel.md",
        "docs/scaling.md",
        "docs/updating.md",
    ],
)
def test_python(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python blocks of a page run, one after the other, in one namespace."""
    monkeypatch.chdir(tmp_path)
    code = blocks(page, "python")
    assert code
    write_demo("demo")
    namespace: dict[str, Any] = {"__name__": page}
    for block in code:
        exec(compile(block, page, "exec"), namespace)
    if "OneSided" in namespace:  # the plugin of README does what it says
        plugin = namespace["OneSided"]
        model = textreg.train(
            ["good", "bad good", "bad", "bad so"] * 5, list("ppnn") * 5, reg=plugin
        )
        assert model.predict(["good"]) == ["p"]


def test_commands_of_searching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """They run, one after the other, where its Python blocks left their files."""
    monkeypatch.chdir(tmp_path)
    write_demo("demo")
    namespace: dict[str, Any] = {}
    for block in blocks("docs/searching.md", "python"):
        exec(compile(block, "docs/searching.md", "exec"), namespace)
    said = "".join(blocks("docs/searching.md", "console"))
    commands = re.findall(r"^\$ textreg (.*)$", said, re.MULTILINE)
    assert len(commands) >= 2
    for command in commands:
        result = cli(*shlex.split(command))
        assert result.code == 0, f"{command}: {result.err}"


def test_checking_answers_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    makes, uses = blocks("docs/checking.md", "python")
    exec(compile(makes, "docs/checking.md", "exec"), {})
    sessions = blocks("docs/checking.md", "console")
    assert len(sessions) == 2
    for session in sessions:
        command, _, printed = session.partition("\n")
        result = cli(*shlex.split(command.removeprefix("$ textreg ")))
        assert (result.code, result.err) == (0, "")
        # the last digit of a probability may differ between machines
        shown, said = (re.sub(r"\(0\.\d\d\)", "(P)", text) for text in (printed, result.out))
        assert said == shown
    exec(compile(uses, "docs/checking.md", "exec"), {})


def test_learning_curves_are_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    write_demo("demo")
    (session,) = blocks("docs/learn-curve.md", "console")
    command, _, printed = session.partition("$ textreg learn-curve ")[2].partition("\n")
    result = cli("learn-curve", *shlex.split(command))
    assert (result.code, result.out) == (0, printed)


def shape(answer: str) -> list[str]:
    """Lines without what differs between machines, times and sizes of files, and spaces there."""
    answer = re.sub(r"\(?\d+\.\d+ s\)?", "TIME", answer)
    lines = re.sub(r"\(\d+ [KM]B\)", "(SIZE)", answer).split("\n")
    return [" ".join(line.split()) for line in lines if line.strip()]


def write_files() -> None:
    """The files of a reader's own that the pages speak of."""
    demo = write_demo("demo")
    for name, path in {"reviews": demo.train, "labeled": demo.train, "test": demo.test}.items():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        with open(f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ("text", "label"))
            writer.writeheader()
            writer.writerows(rows)
    every = [
        ("so happy", ["joy"]),
        ("happy, what a surprise", ["joy", "surprise"]),
        ("at noon", []),
    ]
    posts = "".join(f"{json.dumps({'text': t, 'labels': own})}\n" for t, own in every)
    Path("posts.jsonl").write_text(posts * 20, encoding="utf-8")
    Path("test-posts.jsonl").write_text(posts, encoding="utf-8")
    Path("rest.txt").write_text("".join(f"{row['text']}\n" for row in rows), encoding="utf-8")
    for name, words in WORDS.items():
        lines = "".join(f"{word}\n" for word in words.split())
        Path(f"{name}.txt").write_text(lines, encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    [
        "baselines",
        "sentence",
        "groups",
        "networks",
        "pursuit",
        "stagewise",
        "comparing",
        "choosing",
        "explaining",
        "calibration",
        "reporting",
        "gallery",
        "howto",
        "multilabel",
        "scaling",
        "updating",
    ],
)
def test_commands_of_pages(page: str, tmp_path: Path, monkeypatch, cli) -> None:  # type: ignore[no-untyped-def]
    """Every `textreg` command of a page is accepted, one after the other in one folder."""
    page = f"docs/{page}.md"
    monkeypatch.chdir(tmp_path)
    write_files()
    commands = re.findall(r"^\$ (textreg .*)$", "".join(blocks(page, "console")), re.MULTILINE)
    assert commands
    for command in commands:
        result = cli(*shlex.split(command)[1:])
        assert result.code == 0, f"{command}: {result.err}"


def test_every_kernel_is_on_its_page() -> None:
    page = (CHECKOUT / "docs" / "kernels.md").read_text(encoding="utf-8")
    kernels = {
        name
        for path in (CHECKOUT / "textreg" / "_core").glob("*.pyx")
        for name in re.findall(r"^def ([a-z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(kernels) > 30
    assert not {name for name in kernels if f"`{name}`" not in page}


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli) -> None:  # type: ignore[no-untyped-def]
    """The session in README: every `textreg` command, and what it prints."""
    monkeypatch.chdir(tmp_path)
    (session,) = [block for block in blocks("README.md", "console") if "textreg demo" in block]
    turns = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
    assert len(turns) >= 4
    for command, printed in turns:
        program, *arguments = shlex.split(command)
        assert program == "textreg"
        result = cli(*arguments)
        said = shape(result.out + result.err)
        for line in shape(printed):
            if line != "...":
                assert line in said, f"{command}: {line!r} is not in\n" + "\n".join(said)
