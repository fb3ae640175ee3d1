"""The commands: what they print for people and for programs."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from conftest import Cli

from textreg.cli import COMMANDS, shared
from textreg.cli import cli as group
from textreg.kinds import Regularizer
from textreg.params import param
from textreg.plugins import registry
from textreg.records import Problem, Solution

POS = ["Good superb. A plot", "Fine moving. The end", "Superb. So it is"]
NEG = ["Bad awful. A plot", "Dull weak. The end", "Awful. So it is"]


def rows(n: int) -> list[dict[str, str]]:
    return [
        {"text": (POS if row % 2 else NEG)[row // 2 % 3], "label": ("neg", "pos")[row % 2]}
        for row in range(n)
    ]


def write(path: Path, n: int = 40) -> Path:
    text = "".join(f"{json.dumps(row)}\n" for row in rows(n))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "reviews.jsonl.gz")


@pytest.fixture
def model(cli: Cli, corpus: Path) -> Path:
    options = ("--reg", "lasso", "--reg-l1", "0.2", "--tokenizer", "words", "--quiet")
    assert cli("train", corpus, *options) == (0, "", "")
    return corpus.parent / "reviews.textreg"


def test_train_for_people(cli: Cli, corpus: Path) -> None:
    result = cli("train", corpus)
    assert result.code == 0
    assert result.err == ""
    first, *others, following = result.out.splitlines()
    (saved,) = (line for line in others if line.startswith("saved "))
    assert first.startswith(f"{corpus}: 40 documents; ")
    assert "text = text (guessed), label = label (guessed)" in first
    assert "labels: neg 20, pos 20" in result.out
    assert re.search(r"search: \d+ settings of auto on 40 documents \(cross-", result.out)
    chosen = r"\nchosen: elastic, l2 [\d.]+, l1 [\d.]+ \(ridge at best 0\.000, accuracy 1\.000\)\n"
    assert re.search(chosen, result.out)
    assert "groups: " not in result.out
    assert "selected: " not in result.out
    assert "accuracy 1.000 (95 % CI 0.9" in result.out
    assert saved.startswith("saved reviews.textreg (")
    assert following.startswith("next: textreg evaluate reviews.textreg")
    assert (corpus.parent / "reviews.textreg").is_file()


def test_one_setting_is_no_search(cli: Cli, corpus: Path) -> None:
    dev = write(corpus.parent / "dev.jsonl", 10)
    result = cli("train", corpus, "--dev", dev, "--reg", "lasso", "--reg-l1", "0.2")
    assert result.code == 0
    assert "accuracy 1.000 (" in result.out
    assert "search: " not in result.out


def test_train_tells_people_of_groups(cli: Cli, corpus: Path) -> None:
    result = cli("train", corpus, "--reg", "sentence")
    assert (result.code, result.err) == (0, "")
    assert "groups: 80 sentences" in result.out
    assert re.search(r"search: \d+ settings of sentence on 40 documents \(cross-", result.out)
    assert re.search(r"\nchosen: group [\d.]+(e-\d\d)?, l1 [\d.]+, l2 [\d.]+\n", result.out)
    selected = r"\nselected: (\d+) of 80 sentences; proven at the optimum: (\d+) selected, "
    (numbers,) = re.findall(selected + r"(\d+) not, (\d+) undecided\n", result.out)
    some, surely, never, undecided = map(int, numbers)
    assert surely + never + undecided == 80
    assert 0 < surely <= some <= 80 - never < 80


def test_train_json(cli: Cli, corpus: Path) -> None:
    dev = write(corpus.parent / "dev.jsonl", 10)
    options = ("--ngrams", "1", "--tokenizer", "words", "--json", "-o", "m.textreg")
    result = cli("train", corpus, "--dev", dev, *options)
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document["reg"]["name"] == document["chosen"]["reg"] == "elastic"
    assert document["reg"]["params"].keys() >= {"l1", "l2"}
    assert [one["settings"]["reg"] for one in document["search"][:4]] == ["ridge"] * 3 + ["elastic"]
    assert document["documents"] == 50
    assert document["nonzero"] <= document["features"] == 15
    assert document["groups"] is None
    assert document["dev"]["accuracy"] == 1.0
    assert 0 <= document["gap"] <= 1e-4
    assert document["converged"] is True
    assert list(document["seconds"]) == ["read", "features", "search", "fit"]
    assert document["model"] == "m.textreg"
    assert document["bytes"] == Path("m.textreg").stat().st_size


def test_train_takes_every_kind_of_option(cli: Cli, corpus: Path) -> None:
    result = cli(
        *("train", corpus, "--reg", "sentence", "--reg-l1", "0.3", "--reg-group=0.01"),
        *("--groups", "sentences", "--tokenizer", "words", "--tokenizer-min-length", "2"),
        *("--ngrams", "2", "--min-df", "2", "--weighting", "tfidf", "--class-weight", "pos=2"),
        *("--class-weight", "neg=0.5", "--seed", "3", "--tol", "1e-6", "--jobs", "1", "--json"),
    )
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["reg"]["params"]["l1"] == 0.3
    assert document["reg"]["params"]["group"] == 0.01
    assert document["groups"].keys() >= {"before", "after", "selected"}
    assert document["dev"] is None
    shown = json.loads(cli("show", "reviews.textreg", "--json").out)
    assert shown["tokenizer"]["min_length"] == 2
    assert shown["vectorizer"] | {"ngrams": 2, "weighting": "tfidf"} == shown["vectorizer"]


def test_training_twice_writes_the_same_weights(cli: Cli, corpus: Path) -> None:
    from textreg import load

    for jobs in ("1", "3"):
        assert cli("train", corpus, "-o", f"{jobs}.textreg", "--jobs", jobs, "--quiet").code == 0
    one, three = load("1.textreg"), load("3.textreg")
    assert one.encoder.names == three.encoder.names
    assert one.weights.tobytes() == three.weights.tobytes()


@pytest.mark.parametrize(
    ("given", "name"),
    [("a.b.jsonl.gz", "a"), ("folder/", "folder"), ("-", "model"), ("../x/reviews.csv", "reviews")],
)
def test_default_name_of_the_model(given: str, name: str) -> None:
    from textreg.cli.train import _stem

    assert _stem(given) == name


def test_predict_labels(cli: Cli, model: Path, tmp_path: Path) -> None:
    texts = tmp_path / "new.txt"
    texts.write_text("superb\nawful\n\nfine superb\n")
    assert cli("predict", model, texts).out.splitlines()[:2] == ["pos", "neg"]
    assert len(cli("predict", model, texts).out.splitlines()) == 4


def test_predict_probabilities(cli: Cli, model: Path, tmp_path: Path) -> None:
    texts = tmp_path / "new.txt"
    texts.write_text("superb\nawful\n")
    header, first, second = cli("predict", model, texts, "--proba").out.splitlines()
    assert header == "label\tneg\tpos"
    label, neg, pos = first.split("\t")
    assert (label, second.split("\t")[0]) == ("pos", "neg")
    assert float(pos) > 0.5
    assert float(neg) + float(pos) == pytest.approx(1, abs=2e-6)


def test_predict_json(cli: Cli, model: Path, tmp_path: Path) -> None:
    texts = tmp_path / "new.txt"
    texts.write_text("superb\nawful\n")
    lines = cli("predict", model, texts, "--format", "jsonl", "--proba").out.splitlines()
    parsed = [json.loads(line) for line in lines]
    assert [row["text"] for row in parsed] == ["superb", "awful"]
    assert [row["predicted"] for row in parsed] == ["pos", "neg"]
    assert sum(parsed[0]["proba"].values()) == pytest.approx(1)
    document = json.loads(cli("predict", model, texts, "--proba", "--json").out)
    assert document == {"model": str(model), "predictions": parsed}


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Seven rows, of which the first, the fourth and the last cannot be read."""
    path = tmp_path / "broken.jsonl"
    good = [json.dumps({"text": text}) for text in ("superb", "awful", "superb", "awful")]
    path.write_text("\n".join(["{", *good[:2], '{"text": 3}', *good[2:], "[]"]) + "\n")
    return path


ANSWERS = ["", "pos", "neg", "", "pos", "neg", ""]


def test_every_row_has_a_line_of_output(cli: Cli, model: Path, broken: Path) -> None:
    reasons = [
        (1, "not valid JSON (Expecting property name enclosed in double quotes, character 2)."),
        (4, "'text' is 3, not a text."),
        (7, "a JSON array, where every line should be one object."),
    ]
    told = [f"{broken}:{line}: {problem}" for line, problem in reasons]
    end = "Error: 3 of 7 rows cannot be read; their answers are empty. The first is row 1, "
    end += told[0]
    result = cli("predict", model, broken, "--on-error", "skip")
    assert result.code == 3
    assert result.out.split("\n") == [*ANSWERS, ""]
    assert result.err.splitlines() == [*(f"Warning: {one}" for one in told), end]

    result = cli("predict", model, broken, "--on-error", "skip", "--proba")
    assert result.code == 3
    header, *rows = [line.split("\t") for line in result.out.splitlines()]
    assert header == ["label", "neg", "pos", "reason"]
    assert {len(row) for row in rows} == {4}
    assert [row[0] for row in rows] == ANSWERS
    assert [row[3] for row in rows if row[3]] == [problem for _, problem in reasons]
    assert [row[1:3] for row in rows if row[3]] == [["", ""]] * 3
    assert result.err.splitlines() == [end]

    options = ("--on-error", "skip", "--proba", "--format", "jsonl")
    result = cli("predict", model, broken, *options)
    assert (result.code, result.err.splitlines()) == (3, [end])
    parsed = [json.loads(line) for line in result.out.splitlines()]
    assert [row["predicted"] for row in parsed] == [answer or None for answer in ANSWERS]
    assert parsed[3] == {"text": 3, "predicted": None, "proba": None, "reason": reasons[1][1]}
    assert "reason" not in parsed[1]
    document = cli("predict", model, broken, *options[:3], "--json")
    assert document.code == 3
    assert json.loads(document.out)["predictions"] == parsed


@pytest.mark.parametrize("pack", [False, True])
def test_more_rows_than_a_batch(cli: Cli, model: Path, tmp_path: Path, pack: bool) -> None:
    path = tmp_path / ("many.txt.gz" if pack else "many.txt")
    lines = [b"\xff" if row % 7 == 0 or 900 < row < 2100 else b"superb" for row in range(5000)]
    data = b"\n".join(lines)
    path.write_bytes(gzip.compress(data) if pack else data)
    result = cli("predict", model, path, "--on-error", "skip")
    assert result.code == 3
    assert result.out.splitlines() == ["pos" if line == b"superb" else "" for line in lines]


def test_stopping_says_what_was_written(cli: Cli, model: Path, broken: Path) -> None:
    result = cli("predict", model, broken)
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith(
        "Fix the row, or pass --on-error skip to answer such rows with an empty line. No answer "
        "was written.\n"
    )
    broken.write_text(broken.read_text().removeprefix("{\n"))
    result = cli("predict", model, broken)
    assert (result.code, result.out) == (1, "pos\nneg\n")
    assert result.err.endswith("Answers written, for the rows before it: 2.\n")
    stopped = cli("predict", model, broken, "--json", "--on-error", "stop")
    assert stopped.err.endswith("No answer was written.\n")


def test_a_pipe_that_breaks_in_the_middle(cli: Cli, model: Path, tmp_path: Path) -> None:
    """Nobody knows how many rows were to come: an error, whatever --on-error says."""
    path = tmp_path / "cut.txt.gz"
    packed = gzip.compress("".join(f"superb {row}\n" for row in range(5000)).encode())
    path.write_bytes(packed[: len(packed) // 2])
    result = cli("predict", model, path, "--on-error", "skip")
    assert result.code == 1
    answers = len(result.out.splitlines())
    assert 1000 < answers < 5000
    assert f"{path}:{answers + 1}: the gzip data ends too early." in result.err
    assert f"Answers written, for the rows before it: {answers:,}." in result.err


def test_predict_reads_standard_input(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = io.BytesIO(b"superb\nawful\n")

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert cli("predict", model).out == "pos\nneg\n"


def test_predict_answers_before_the_pipe_ends(model: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "textreg", "predict", str(model), "-", "--on-error", "skip"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    # Words with weights: the sign of the intercept is that of rounding.
    for text in (b"awful\n", b"superb\n", b"\xff\n", b"awful\n"):
        process.stdin.write(text)
        process.stdin.flush()
        if select.select([process.stdout], [], [], 30)[0]:
            answers.append(process.stdout.readline())
    out, err = process.communicate()
    assert (out, process.returncode) == (b"", 3)
    assert answers == [b"neg\n", b"pos\n", b"\n", b"neg\n"]
    assert b"<stdin>:3: byte 1 of line 3, 0xff, is not valid UTF-8." in err


def test_evaluate(cli: Cli, model: Path, tmp_path: Path) -> None:
    test = write(tmp_path / "test.jsonl", 12)
    document = json.loads(cli("evaluate", model, test, "--json").out)
    assert document["accuracy"] == 1.0
    assert document["macro_f1"] == 1.0
    assert document["documents"] == 12
    assert document["confusion"] == [[6, 0], [0, 6]]
    assert document["model"] == str(model)
    told = cli("evaluate", model, test).out
    assert "accuracy 1.000 (95 % CI 0.7" in told
    table = [line.split() for line in told.splitlines()]
    assert ["label", "precision", "recall", "F1", "documents"] in table
    assert ["neg", "1.000", "1.000", "1.000", "6"] in table
    assert ["pos", "0", "6"] in table


def test_show(cli: Cli, model: Path) -> None:
    told = cli("show", model, "--top", "2").out
    assert "lasso" in told
    document = json.loads(cli("show", model, "--top", "2", "--json").out)
    assert document["labels"] == ["neg", "pos"]
    assert document["regularizer"] == {"name": "lasso", "weights": "none", "l1": 0.2}
    assert set(document["top"]) == {"neg", "pos"}
    assert len(document["top"]["pos"]) == 2
    for label, features in document["top"].items():
        weights = [weight for _, weight in features]
        assert weights == sorted(weights, reverse=True)
        assert weights[-1] > 0
        assert f"\n{label}\n" in told
        assert all(f"  {name} " in told for name, _ in features)
    assert document["top"]["neg"][0][0] == "awful"


def test_plugins(cli: Cli) -> None:
    listed = json.loads(cli("plugins", "list", "--json").out)
    assert {"sentence", "lasso", "words", "sentences"} <= {info["name"] for info in listed}
    table = cli("plugins").out
    assert table.splitlines()[0].split() == ["NAME", "KIND", "FROM", "API", "STATUS"]
    assert cli("plugins", "list").out == table


def test_blocked_plugins_are_not_imported(cli: Cli, corpus: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "textreg",
            "--no-plugin",
            "lasso",
            "train",
            corpus,
            "--reg",
            "lasso",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "'lasso' is blocked" in done.stderr


@pytest.mark.parametrize("words", [["--no-plugin", "loud"], ["--no-plugin=loud"]])
def test_what_is_blocked_after_the_command_is_not_imported(
    corpus: Path, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "loud.py").write_text("print('imported')\n")
    done = subprocess.run(
        [sys.executable, "-m", "textreg", "train", corpus, "--reg", "loud", *words],
        env={**os.environ, "TEXTREG_PLUGIN": str(tmp_path / "loud.py")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: No such option here: --no-plugin. Put it before the ")


@pytest.mark.parametrize(
    "words", [["train", "{corpus}"], ["predict", "{model}", "{corpus}", "--format", "csv"]]
)
def test_an_empty_name_of_an_output_is_given(
    cli: Cli, corpus: Path, model: Path, tmp_path: Path, words: list[str]
) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = cli(*(word.format(corpus=corpus, model=model) for word in words), "-o", "")
    assert (done.code, done.out, done.err[:18]) == (2, "", "Error: . is a fold")
    assert sorted(tmp_path.rglob("*")) == before


class Halved(Regularizer):
    """Has a parameter of every type."""

    name = "halved"
    by: float = param(default=2.0, min=1, help="divisor")
    rounds: int = param(default=3, help="how often")
    fast_path: bool = param(default=True, help="the fast way")
    mode: str = param(default="up", choices=("up", "down"), help="direction")
    hint: str | None = param(default=None, help="anything")

    def solve(self, problem: Problem) -> Solution:
        w = (problem.X.T @ problem.y) / self.by
        return Solution(w=w, b=0.0, objective=0.0, gap=0.0, converged=True)


@pytest.fixture
def halved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry._default, "added", {})
    registry.register(Halved)


@pytest.mark.usefixtures("halved")
def test_declared_parameters_are_options(cli: Cli, corpus: Path) -> None:
    result = cli(
        *("train", corpus, "--reg", "halved", "--reg-by", "4", "--reg-rounds=5", "--json"),
        *("--no-reg-fast-path", "--reg-mode", "down", "--reg-hint", "x"),
    )
    assert result.code == 0, result.err
    assert json.loads(result.out)["reg"]["params"] == {
        "by": 4.0,
        "rounds": 5,
        "fast_path": False,
        "mode": "down",
        "hint": "x",
    }
    assert "whole number" not in cli("train", corpus, "--reg", "halved", "--reg-rounds", "x").out
    for flag, value in (("--reg-rounds", "1.5"), ("--reg-mode", "left"), ("--reg-by", "0.5")):
        wrong = cli("train", corpus, "--reg", "halved", flag, value)
        assert wrong.code == 2
        assert value in wrong.err


@pytest.mark.usefixtures("halved")
def test_help_shows_the_options_of_what_was_chosen(cli: Cli) -> None:
    told = cli("train", "--reg=halved", "--help").out
    assert "Regularizer halved (--reg)" in told
    assert "--reg-fast-path / --no-reg-fast-path" in told
    assert "[up|down]" in told
    assert "--reg-l1" not in told
    assert "--groups-" not in told
    told = cli("train", "--help").out
    assert "Regularizer auto (--reg)" in told
    assert "--reg-l1 X" in told
    assert "--groups-" not in told
    assert "Options:\n  --text-col NAME " in told  # arguments are told of in the prose
    assert "[default: chosen by search]" in " ".join(told.split())
    for section in ("Tokenizer words", "Features:"):
        assert section in told
    told = cli("train", "--reg", "sentence", "--help").out
    for section in ("Regularizer sentence (--reg)", "Group builder sentences", "--groups-"):
        assert section in told


def test_help_shows_the_options_of_a_solver_with_that_solver_only(cli: Cli, corpus: Path) -> None:
    assert "--reg-rho" not in cli("train", "--help").out
    assert "--reg-rho X" in cli("train", "--reg", "group", "--reg-solver=admm", "--help").out
    refused = cli("train", corpus, "--reg-rho", "1")
    assert refused.code == 2
    assert "No such option" in refused.err
    assert "--reg-rho" in refused.err


def test_an_unknown_command_is_told_of_the_others(cli: Cli) -> None:
    told = cli("tran").err
    assert told.startswith("Error: no command 'tran'. Did you mean 'train'? There are: train, ")
    told = cli("plugins", "docter").err
    assert told.startswith("Error: no command 'docter'. Did you mean 'doctor'? There are: list, ")
    assert told.endswith("See: textreg plugins --help\n")


def test_help_lists_every_command(cli: Cli) -> None:
    told = cli("--help").out
    assert cli().out == told
    for name, what in COMMANDS.items():
        assert f"{name} " in told
        assert what in told
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert command.name == name
        assert command.callback is not None
        assert command.callback.__module__.startswith("textreg.cli.")


def test_a_label_stays_on_its_line(cli: Cli, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    named = {"pos": "p\to\ns", "neg": "n\x1b[2m"}
    lines = [json.dumps({**row, "label": named[row["label"]]}) for row in rows(40)]
    Path("a.jsonl").write_text("\n".join(lines))
    trained = cli("train", "a.jsonl", "--reg", "lasso", "--reg-l1", "0.2", "-o", "a.textreg")
    assert "labels: n\N{REPLACEMENT CHARACTER}[2m 20, p o s 20\n" in trained.out
    predicted = cli("predict", "a.textreg", "a.jsonl").out.splitlines()
    assert predicted[:2] == ["n\N{REPLACEMENT CHARACTER}[2m", "p o s"]
    assert len(predicted) == 40
    (row, *_) = cli("predict", "a.textreg", "a.jsonl", "--format", "jsonl").out.splitlines()[1:]
    assert json.loads(row)["predicted"] == "p\to\ns"
    for command in (("evaluate", "a.textreg", "a.jsonl"), ("explain", "a.textreg", "superb film")):
        told = cli(*command).out
        assert "p o s" in told
        assert "\x1b" not in told


def _commands(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _commands(below)


def test_every_option_says_what_it_does_and_what_its_value_is() -> None:
    options = [
        (f"{command.name} {option.opts[0]}", option)
        for command in _commands(group)
        for option in command.params
        if isinstance(option, click.Option)
    ]
    assert len(options) > 80
    for name, option in options:
        what, _, default = (option.help or "").partition("  [default: ")
        assert re.fullmatch(r"[A-Z].*\.", what), name
        assert not default or default.endswith("]"), name
        chosen = option.is_flag or option.count or isinstance(option.type, click.Choice)
        assert chosen or option.metavar, f"{name} takes a value without a name"


def test_version(cli: Cli) -> None:
    from importlib.metadata import version

    assert cli("--version").out == f"textreg, version {version('textreg')}\n"


def test_progress_is_shown_on_a_terminal_only(
    cli: Cli, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = ("train", corpus, "--reg", "lasso", "--cv", "2")
    assert cli(*train, "--json").err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    result = cli(*train, "--json")
    json.loads(result.out)
    assert "searching hyperparameters" in result.err
    assert cli(*train, "--quiet").err == ""


def test_demo(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = cli("demo", "here").out.splitlines()
    assert told[:2] == ["wrote here/train.jsonl", "wrote here/test.jsonl"]
    document = json.loads(cli("demo", "--json").out)
    assert document == {
        "train": "textreg-demo/train.jsonl",
        "test": "textreg-demo/test.jsonl",
    }
    assert told[2].startswith("next: textreg train here/train.jsonl")
    quick = ("--json", "--holdout", "0.2", "--intercept", "fitted")
    trained = cli(*told[2].split()[2:], *quick)
    assert json.loads(trained.out)["documents"] == 800
    measured = cli("evaluate", "demo.textreg", "here/test.jsonl", "--json")
    assert json.loads(measured.out)["accuracy"] > 0.9


def test_rows_that_cannot_be_used_are_left_out_on_request(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = ["text,label", *(f'"{row["text"]}",{row["label"]}' for row in rows(20)), '"odd",']
    path.write_text("\n".join(lines))
    model = tmp_path / "m.textreg"
    stopped = cli("train", path, "-o", model)
    assert stopped.code == 1
    assert "rows.csv:22" in stopped.err
    what = f"1 label is empty, in column 'label' ({path}:22)"
    told = f"Warning: 1 of 21 rows cannot be read and are left out: {what}.\n"
    result = cli("train", path, "-o", model, "--on-error", "skip")
    assert result.code == 0
    assert "20 documents" in result.out
    assert "1 row skipped" in result.out
    assert result.err == told
    counted = cli("train", path, "-o", model, "--on-error", "skip", "--json")
    assert json.loads(counted.out)["skipped"] == 1
    assert counted.err == told
    measured = cli("evaluate", model, path, "--on-error", "skip", "--json")
    assert json.loads(measured.out)["skipped"] == 1
    assert measured.err == told


def test_too_many_rows_that_cannot_be_used(cli: Cli, tmp_path: Path) -> None:
    """A fifth of the rows, exactly those that are not ASCII, must not be left out in silence."""
    path = tmp_path / "rows.csv"
    lines = [
        f"{row['label']},{'größer' if at % 5 == 0 else 'big'} {row['text']}"
        for at, row in enumerate(rows(40))
    ]
    path.write_bytes("\n".join(["label,text", *lines]).encode("cp1252"))
    model = tmp_path / "m.textreg"
    skip = ("--on-error", "skip", "--reg", "ridge", "--reg-l2", "1")
    result = cli("train", path, "-o", model, *skip)
    assert result.code == 1
    assert not model.exists()
    assert result.err == (
        "Error: The text may be in cp1252: pass --encoding cp1252 if it is. 8 of 40 rows (20 %) "
        f"cannot be read: 8 not valid UTF-8 ({path}:2, 7, 12, 17, ...). In cp1252 all can be. "
        f"This command reads the other rows: textreg train {path} -o {model} --on-error skip "
        "--reg ridge --reg-l2 1 --encoding cp1252\n"
    )
    for most in ("7", "19.9%", "0.1", "0"):
        assert cli("train", path, "-o", model, *skip, "--max-skipped", most).code == 1
    for most in ("20%", "8", "0.2", "1.0"):
        assert cli("train", path, "-o", model, *skip, "--max-skipped", most).code == 0
    for wrong in ("x", "-1", "101%", "1.5", "nan", ""):
        refused = cli("train", path, "-o", model, "--max-skipped", wrong)
        assert refused.code == 2
        assert "is neither a number of rows, such as 20, nor a share, such as 5%." in refused.err
    for command in (
        ["evaluate", model, path],
        ["compare", path, "--reg", "ridge,lasso"],
        ["groups", path],
    ):
        refused = cli(*command, "--on-error", "skip")
        assert refused.code == 1
        assert "8 of 40 rows (20 %) cannot be read" in refused.err


def test_encoding(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    words = "\n".join(f"très{row['text'][:4]},{row['label']}" for row in rows(20))
    path.write_bytes(f"text,label\n{words}\n".encode("cp1252"))
    options = ("--encoding", "cp1252")
    model = tmp_path / "m.textreg"
    assert cli("train", path, *options, "-o", model, "--reg", "lasso").code == 0
    assert cli("evaluate", model, path, *options).code == 0
    assert cli("predict", model, path, *options).code == 0
    assert cli("predict", model, path).code == 1
    assert "très" in cli("show", model).out


def test_a_model_without_features_is_said(cli: Cli, corpus: Path) -> None:
    result = cli("train", corpus, "--reg", "lasso", "--reg-l1", "1000", "--json")
    assert result.code == 0
    assert json.loads(result.out)["nonzero"] == 0
    assert result.err.startswith("Warning: no feature has a weight")


def test_train_reads_standard_input(
    cli: Cli, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = io.BytesIO(corpus.read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin())
    result = cli("train", "-", "--reg", "lasso", "--json")
    assert json.loads(result.out)["model"] == "model.textreg"
    assert json.loads(result.out)["documents"] == 40


def test_two_dev_files(cli: Cli, corpus: Path) -> None:
    dev = [write(corpus.parent / f"{name}.jsonl", 6) for name in ("a", "b")]
    result = cli("train", corpus, "--dev", dev[0], "--dev", dev[1], "--no-refit", "--json")
    document = json.loads(result.out)
    assert document["dev"]["documents"] == 12
    assert document["documents"] == 40
    assert document["refit"] is False


def test_documents_are_not_both_learned_and_measured(cli: Cli, corpus: Path) -> None:
    result = cli("train", corpus, "--dev", f"{corpus.parent}/*{corpus.suffix}")
    assert result.code == 2
    assert f"{corpus} is named twice, so its documents would count twice" in result.err


class Unfinished(Regularizer):
    """Never converges."""

    name = "unfinished"

    def solve(self, problem: Problem) -> Solution:
        return Solution(w=np.ones(problem.X.shape[1]), b=0.0, objective=1.0, gap=0.5)


def test_a_missed_tolerance_is_said(
    cli: Cli, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry._default, "added", {})
    registry.register(Unfinished)
    result = cli("train", corpus, "--reg", "unfinished")
    assert result.code == 0
    assert result.err.startswith("Warning: unfinished stopped before its tolerance")
    assert result.err.count("\n") == 1
    assert "NOT converged" in result.out


def test_options_are_listed_in_their_order() -> None:
    one, two = click.option("--one"), click.option("--two")
    command = click.command()(shared.options(one, two)(lambda: None))
    assert [it.name for it in command.params] == ["one", "two"]
