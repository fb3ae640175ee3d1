"""What README and the tour show is what happens: code runs, commands answer as printed."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from thoroughness import thorough

import textreg
from textreg.demo import write_demo

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


def small_demo(documents: int = 200) -> None:
    """The demo corpus with a few training documents, which do where no result is printed."""
    train = write_demo("demo").train
    lines = train.read_text("utf-8").splitlines(keepends=True)
    train.write_text("".join(lines[:documents]), "utf-8")


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/features.md",
        "docs/networks.md",
        "docs/losses.md",
        "docs/baselines.md",
        "docs/sentence.md",
        "docs/groups.md",
        "docs/pursuit.md",
        "docs/stagewise.md",
        "docs/explaining.md",
        "docs/calibration.md",
        "docs/multilabel.md",
        "docs/updating.md",
        "docs/everyday.md",
        "docs/fields.md",
        "docs/files.md",
        *map(
            thorough,
            [
                "docs/limits.md",
                "docs/contract.md",
                "docs/exporting.md",
                "docs/comparing.md",
                "docs/scikit-learn.md",
                "docs/scaling.md",
                "docs/reporting.md",
                "docs/learn-curve.md",
            ],
        ),
    ],
)
def test_python(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python blocks of a page run, one after the other, in one namespace."""
    monkeypatch.chdir(tmp_path)
    code = blocks(page, "python")
    assert code
    if "write_demo" not in "".join(code):
        small_demo(400 if page == "docs/comparing.md" else 200)  # its words are rare
    namespace: dict[str, Any] = {"__name__": page}
    for block in code:
        exec(compile(block, page, "exec"), namespace)
    if "OneSided" in namespace:  # the plugin of README does what it says
        plugin = namespace["OneSided"]
        model = textreg.train(
            ["good", "bad good", "bad", "bad so"] * 5, list("ppnn") * 5, reg=plugin
        )
        assert model.predict(["good"]) == ["p"]


@pytest.mark.thorough
def test_commands_of_searching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """They run, one after the other, where its Python blocks left their files."""
    monkeypatch.chdir(tmp_path)
    small_demo(200)
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
    (session,) = blocks("docs/checking.md", "console")
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
    answer = re.sub(r"gap \d\.\de-\d+", "GAP", answer)
    answer = re.sub(r"(proven at the optimum:) .*", r"\1 COUNTS", answer)
    lines = re.sub(r"\(\d+ [KM]B\)", "(SIZE)", answer).split("\n")
    return [" ".join(line.split()) for line in lines if line.strip()]


OTHERS = ("pip install ", "pytest ")
"""Commands that are not run: what they install is there, and these are tests themselves."""


def run_session(cli: Cli, session: str, *, whole: bool = False) -> None:
    """Commands, each with what it prints; a line ``...`` stands for lines left out.

    whole: whether every line is to be there that a command prints.
    """
    turns = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
    assert turns
    for command, printed in turns:
        if command.startswith(OTHERS):
            continue
        if command.startswith("textreg "):
            result = cli(*shlex.split(command)[1:])
            assert result.code == 0, f"{command}: {result.out}{result.err}"
            told = result.out + result.err
        else:  # for a shell
            python = shlex.quote(sys.executable)
            line = command.replace("| python ", f"| {python} ")
            line = line.replace("| textreg ", f"| {python} -m textreg ")
            told = subprocess.run(
                line, shell=True, capture_output=True, check=True, encoding="utf-8"
            ).stdout
        said = shape(told)
        for line in shape(printed):
            start, dots, _ = line.partition("...")
            if start:
                found = any(each.startswith(start) if dots else each == line for each in said)
                assert found, f"{command}: {line!r} is not in\n" + "\n".join(said)
        if whole:
            assert not set(said) - set(shape(printed)), command


def write_files(documents: int) -> None:
    """The files of a reader's own that the pages speak of, with so many documents at most."""
    demo = write_demo("demo")
    for name, path in {"reviews": demo.train, "labeled": demo.train, "test": demo.test}.items():
        lines = path.read_text(encoding="utf-8").splitlines()[:documents]
        rows = [json.loads(line) for line in lines]
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
    write_tables([(str(row["text"]), str(row["label"])) for row in rows])
    Path("rest.txt").write_text("".join(f"{row['text']}\n" for row in rows), encoding="utf-8")
    for name, words in WORDS.items():
        lines = "".join(f"{word}\n" for word in words.split())
        Path(f"{name}.txt").write_text(lines, encoding="utf-8")


def write_tables(rows: list[tuple[str, str]]) -> None:
    """Small tables: intents with rare labels, tickets with four columns, posts of the web."""

    def write(name: str, header: str, lines: list[tuple[object, ...]]) -> None:
        with open(name, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header.split(","), *lines])

    texts = [text for text, _ in rows]
    every = [*rows[:60], *((text, f"rare {at // 2}") for at, text in enumerate(texts[60:66]))]
    write("intents.csv", "text,label", every)
    write("dev.csv", "text,label", [*rows[70:110], *((text, "oos") for text in texts[110:115])])
    for name in ("tweets.csv", "imdb.csv"):
        write(name, "text,label", rows[:80])
    tickets = [
        (text[:12], text, "acme" if at % 3 else "zeta", "" if at < 12 else at % 7, label)
        for at, (text, label) in enumerate(rows)
    ]
    write("tickets.csv", "subject,body,brand,price,queue", tickets)


@pytest.mark.parametrize(
    "page",
    [
        "baselines",
        "howto",
        "multilabel",
        "updating",
        "live",
        "predictions",
        *map(
            thorough,  # longer searches, of commands that have tests of their own
            [
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
                "scaling",
                "exporting",
                "features",
                "fields",
                "labels",
            ],
        ),
    ],
)
def test_commands_of_pages(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """Every command of a page, one after the other in one folder, and what it prints."""
    monkeypatch.chdir(tmp_path)
    # Seeds of graphs are to be in a hundred; of tickets the page says how many there are.
    write_files({"networks": 800, "fields": 200}.get(page, 120))
    for session in blocks(f"docs/{page}.md", "console"):
        run_session(cli, session)


ELSEWHERE = {
    "again": "test_again",
    "contract": "test_contract",
    "developing": "test_developing",
    "kernels": "test_writing_plugins: they are in plugins/textreg-fused, whose tests run",
    "plugins": "test_writing_plugins",
    "using-plugins": "test_using_plugins",
    "performance": "measures for hours; test_performance runs it on a few documents",
    "results": "measures for an hour; test_papers runs it on a few documents",
    "promises": "test_using_plugins; its command shows the warning of a plugin that is not there",
    "serving": "test_serve: the service in a browser and with requests",
}
"""Pages whose commands and programs are run by other tests, or why they are not run."""


def test_commands_and_programs_of_all_pages_are_run() -> None:
    """A page that is new is in one of the lists of this file, or says where it is run."""

    def stems(test: Any) -> set[str]:
        """The names of its pages; those of costly ones are in a ParameterSet."""
        cases = test.pytestmark[0].args[1]
        return {Path(getattr(case, "values", [case])[0]).stem for case in cases}

    runs = {"python": stems(test_python), "console": stems(test_commands_of_pages) | {"README"}}
    alone = {"index", "tutorial", "engineer", "researcher", "author"}  # test_walks
    alone |= {"coming-from-fasttext"}  # test_walks, too
    alone |= {"searching", "checking", "learn-curve"}  # tests above
    pages = ["README.md", *(f"docs/{path.name}" for path in (CHECKOUT / "docs").glob("*.md"))]
    for page in pages:
        for language, known in runs.items():
            if Path(page).stem not in known | alone | set(ELSEWHERE):
                assert not blocks(page, language), f"{page}: no test runs its {language}"


MOST_WORDS = 40_000


def test_the_pages_can_be_read_to_their_end() -> None:
    """All words that people wrote on the pages: without pages, parts and tables that code wrote."""
    words = 0
    for path in (CHECKOUT / "docs").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        if not text.startswith("% Written by"):
            text = re.sub(
                r"^% docs/reference.py writes.*\n\n(\|.*\n)+", "", text, flags=re.MULTILINE
            )
            text = re.sub(r"<!-- (?!end)((?!<!--).)*<!-- end.*?-->", "", text, flags=re.DOTALL)
            words += len(text.split())
    assert words <= MOST_WORDS, f"{words:,} words: take some out, or write them into one place."


def test_every_kernel_is_on_its_page() -> None:
    page = (CHECKOUT / "docs" / "kernels.md").read_text(encoding="utf-8")
    kernels = {
        name
        for path in (CHECKOUT / "textreg" / "_core").glob("*.pyx")
        for name in re.findall(r"^def ([a-z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(kernels) > 30
    assert not {name for name in kernels if f"`{name}`" not in page}


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """The session in README: every `textreg` command, and what it prints."""
    monkeypatch.chdir(tmp_path)
    (session,) = [block for block in blocks("README.md", "console") if "textreg demo" in block]
    run_session(cli, session, whole=True)
