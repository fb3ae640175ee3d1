"""Training again: options in a file, the command that made a model, and another model like it."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli, Result

import textreg
from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.model.storage import load_model
from textreg.plugins import registry
from textreg.terminal import shell_line
from textreg.training.recipe import may_be_kept, options_of, words_of
from textreg.training.settings import TrainingSettings

GOOD = ["A superb plot.", "Fine moving end.", "So superb."]
BAD = ["Awful.", "A dull weak end."]
FIXED = "--tokenizer words --ngrams 1 --reg lasso --reg-l1 0.05".split()
PLUGIN = '''
from textreg import Ridge
from textreg.hookspecs import hookimpl


class Squares(Ridge):
    """The same as ridge."""

    name = "squares"


@hookimpl
def textreg_regularizers():
    return [Squares]
'''


def write(path: str, text: str = "review", label: str = "class", more: Sequence[str] = ()) -> str:
    rows = [(one, "good") for one in GOOD] + [(one, "bad") for one in BAD]
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", text, label])
        for number, row in enumerate(4 * (rows + [("An odd one.", name) for name in more])):
            table.writerow([number, *row])
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    forget_files(monkeypatch)
    write("a.csv")
    return tmp_path


def forget_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process, to which no plugin file was named."""
    monkeypatch.setattr(registry._default, "added", {})
    monkeypatch.setattr(registry._default, "waiting", [])


def train(cli: Cli, *words: object) -> Result:
    result = cli("train", *words)
    assert result.code == 0, result.err
    return result


def bytes_of(path: str) -> bytes:
    return Path(path).read_bytes()


COLUMNS = ("--text-col", "review", "--label-col", "class")

# Options in a file


def test_a_file_is_as_good_as_the_command_line(cli: Cli) -> None:
    Path("run.toml").write_text(
        """
        files = ["a.csv"]
        text-col = "review"
        label_col = "class"
        tokenizer = "words"
        tokenizer-lowercase = false
        ngrams = 1
        reg = "sentence"
        reg-solver = "admm"
        reg-rho = 2
        reg-l1 = 1e-3
        refit = false
        search-space = {reg-l2 = [0.5, 0.1]}
        class-weight = {good = 2}
        quiet = true
        output = "file.textreg"
        """
    )
    assert train(cli, "--config", "run.toml") == (0, "", "")
    options = "--tokenizer words --no-tokenizer-lowercase --ngrams 1 --reg sentence --no-refit"
    options += " --reg-solver admm --reg-rho 2 --reg-l1 1e-3 --search-space reg-l2=0.5,0.1"
    options += " --class-weight good=2 -o line.textreg"
    train(cli, "a.csv", *COLUMNS, *options.split())
    assert bytes_of("file.textreg") == bytes_of("line.textreg")


def test_the_command_line_replaces_what_the_file_says(cli: Cli) -> None:
    text = (
        'files = "missing.csv"\nreg = "elastic"\nreg-l1 = 0.3\nreg-l2 = 0.2\nngrams = 1\ncv = 3\n'
    )
    Path("run.toml").write_text(f'{text}tokenizer = "words"\nclass-weight = ["good=7", "bad=7"]\n')
    own = "--reg ridge --reg-l2 0.5 --holdout 0.2 --calibrate temperature --class-weight good=2"
    train(cli, "a.csv", "--config", "run.toml", *own.split(), "-o", "m")
    summary = load_model("m").summary
    assert (summary.reg.name, summary.reg.params) == ("ridge", {"weights": "none", "l2": 0.5})
    assert (summary.split.kind, summary.class_weight) == ("holdout", {"good": 2.0})
    assert load_model("m").encoder.vectorizer.ngrams == 1


def test_builders_go_with_the_regularizer_that_needs_them(cli: Cli) -> None:
    Path("run.toml").write_text('reg = "group"\ngroups = "windows"\ngroups-size = 3\n')
    train(cli, "a.csv", "--config", "run.toml", *FIXED, "-o", "m")
    assert load_model("m").summary.groups is None
    assert "--groups-size" in cli("train", "--config", "run.toml", "--help").out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('regg = "lasso"', "there is no option 'regg'. Did you mean 'reg'?"),
        ("reg-l11 = 1", "there is no option 'reg-l11'. Did you mean 'reg-l1'?"),
        ("[reg]\nl1 = 1", 'reg is a text or a number, not {.*}. .* reg = "NAME" and reg-PARAMETER'),
        ("seed = 1.5", "seed: '1.5' is not a valid integer"),
        ("seed = true", "seed is a text or a number, not True"),
        ("seed = [1, 2]", r"seed is a text or a number, not \[1, 2\]"),
        ('dev = [["a"]]', "dev is a text or a number, or a list of them, not"),
        ('refit = "no"', "refit is on or off: write true or false, not 'no'"),
        ("ngrams = 2024-01-01", "ngrams is a text or a number, not"),
        ('metric = "acuracy"', "metric: 'acuracy' is not one of"),
        ('text_col = "a"\ntext-col = "b"', "text_col and text-col are one option"),
        ('config = "x"', "config is a model whose options come beneath .* and x is none"),
        ("debug = true", "debug is for the command line"),
        ("seed = \n", "is not TOML: .*line 1"),
        (f"seed = {'[' * 5000}{']' * 5000}", "cannot be read: it is nested too deep"),
        ("\ufeffseed = 1.5", "seed: '1.5' is not a valid integer"),
        ("holdout = 2.0", "holdout must lie between 0 and 1"),
        ('plugin = "nowhere.py"', "nowhere.py cannot be read"),
    ],
)
def test_what_a_file_may_not_say(cli: Cli, text: str, says: str) -> None:
    Path("run.toml").write_text(text)
    code, out, err = cli("train", "a.csv", "--config", "run.toml", "-o", "m")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert re.search(says, err), err
    assert not Path("m").exists()


def test_a_file_that_is_not_there(cli: Cli) -> None:
    code, _, err = cli("train", "a.csv", "--config", "nowhere.toml")
    assert code == 2
    assert err.startswith("Error: nowhere.toml cannot be read: No such file or directory.")


def test_columns_of_several_fields(cli: Cli) -> None:
    Path("run.toml").write_text(
        """
        text-col = ["review", "title"]
        label-col = "class"
        number-col = "id"
        field.title = {tokenizer = "chars", tokenizer-min-n = 3}
        reg = "ridge"
        reg-l2 = 1
        ngrams = 1
        """
    )
    rows = [f"{n},{text},The {label}.,{label}\n" for n, text in enumerate(GOOD) for label in "xyz"]
    Path("f.csv").write_text("id,review,title,class\n" + 2 * "".join(rows))
    train(cli, "f.csv", "--config", "run.toml")
    before = bytes_of("f.textreg")
    line = shlex.split(cli("show", "f.textreg", "--command").out)
    assert line[line.index("--field") + 1] == "title:tokenizer=chars"
    train(cli, *line[2:])
    assert bytes_of("f.textreg") == before
    train(cli, "f.csv", "--config", "f.textreg", "-o", "again")
    assert bytes_of("again") == before
    train(cli, "f.csv", "--config", "f.textreg", "--text-col", "title", "-o", "other")
    assert [field.name for field in load_model("other").encoder.fields] == ["title", "id"]
    assert "field" not in load_model("other").summary.options
    code, _, err = cli("train", "a.csv", "--config", "f.textreg")
    assert code == 2
    assert "no column 'title'" in err
    assert "name others (--label-col, --number-col, --text-col)" in err


def test_a_file_names_plugins(cli: Cli) -> None:
    Path("squares.py").write_text(PLUGIN)
    Path("run.toml").write_text('plugin = "squares.py"\nreg = "squares"\nreg-l2 = 0.5\n')
    train(cli, "a.csv", "--config", "run.toml", "--tokenizer", "words", "-o", "m")
    assert load_model("m").summary.reg.name == "squares"
    code, out, _ = cli("show", "m", "--command")
    assert code == 0
    assert out.startswith("textreg --plugin squares.py train a.csv ")
    assert "--reg squares --reg-l2 0.5" in out
    assert "squares (--reg)" in cli("train", "--config", "run.toml", "--help").out


def test_a_changed_plugin_is_refused_before_it_runs(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("squares.py").write_text(PLUGIN)
    text = 'plugin = "squares.py"\nreg = "squares"\ntokenizer = "words"\n'
    Path("run.toml").write_text(text)
    train(cli, "a.csv", "--config", "run.toml", "-o", "m")
    forget_files(monkeypatch)
    Path("squares.py").write_text(f"open('ran', 'w')\n{PLUGIN}")
    Path("run.toml").write_text(f'{text.splitlines()[0]}\nconfig = "m"')
    code, _, err = cli("train", "a.csv", "--config", "run.toml", "-o", "n")
    assert code in (1, 2)
    assert "which was not run" in err
    assert not Path("ran").exists()


# The command that made a model

LINES = {
    "a fixed setting": " ".join(FIXED),
    "a search": "--tokenizer words --search-space reg-l1=0.1,0.02 --reg elastic --reg-l2 0.1 "
    "--seed 3 --select 1se --metric accuracy --holdout 0.3 --no-refit",
    "parts": "--tokenizer words,chars --tokenizer-words-lowercase --no-tokenizer-chars-lowercase "
    "--reg group --reg-l2 0 --reg-l1 0.1 --reg-group 0.2 --groups documents,windows "
    "--groups-size 3 --weighting log --loss squared-hinge --tol 1e-3 --max-iter 50",
    "labels": "--tokenizer words --reg ridge --reg-l2 0.5 --class-weight good=2.5 --threshold "
    "good=precision:0.5 --calibrate temperature --unknown none:coverage:0.9 --cv 2",
    "files": "--dev dev.csv --tokenizer words --reg ridge --max-features 5 --on-error skip "
    "--max-skipped 3 --search grid --prune 0 --weight-col id",
}


@pytest.mark.parametrize("options", LINES.values(), ids=LINES)
def test_the_printed_command_makes_the_same_model(cli: Cli, options: str) -> None:
    write("dev.csv")
    train(cli, "a.csv", *options.split(), "-o", "it's a model")
    before = bytes_of("it's a model")
    code, out, err = cli("show", "it's a model", "--command")
    assert (code, err) == (0, "")
    line = shlex.split(out)
    assert line[:3] == ["textreg", "train", "a.csv"]
    assert line[-2:] == ["-o", "it's a model"]
    Path("it's a model").unlink()
    train(cli, *line[2:])
    assert bytes_of("it's a model") == before
    assert json.loads(cli("show", "it's a model", "--command", "--json").out)["command"] == line


def test_names_that_a_shell_would_take_for_something_else(cli: Cli) -> None:
    odd = write("-a b\x1b[31m'$(c).csv", text="te\nxt", label="--label")
    train(cli, *FIXED, "--text-col", "te\nxt", "--label-col=--label", "-o", "m", "--", odd)
    out = cli("show", "m", "--command").out
    assert out.isascii()
    assert "\x1b" not in out
    assert out.count("\n") == 1
    done = subprocess.run(
        ["bash", "-c", f"textreg() {{ printf '%s\\0' \"$@\"; }}; {out}"],
        capture_output=True,
        text=True,
        check=True,
    )
    words = done.stdout.split("\0")[:-1]
    before = bytes_of("m")
    train(cli, *words[1:], "--quiet")
    # The file has another name now: ./-a
    assert load_model("m").predict(GOOD) == ["good"] * 3
    assert len(bytes_of("m")) - len(before) in range(-8, 9)


def test_a_model_made_in_python(cli: Cli) -> None:
    textreg.train(GOOD + BAD, ["g"] * 3 + ["b"] * 2, reg="ridge", reg_l2=0.5, max_iter=7).save("m")
    code, out, err = cli("show", "m", "--command")
    assert code == 0
    assert out == "textreg train CORPUS --reg ridge --reg-l2 0.5 --max-iter 7 -o m\n"
    assert err == "The model was trained in Python: CORPUS stands for its documents.\n"
    textreg.train(GOOD + BAD, ["g"] * 3 + ["b"] * 2, reg="none", tokenizer=str.split).save("m")
    code, _, err = cli("show", "m", "--command")
    assert code == 1
    assert "trained in Python with the tokenizer 'str.split', a callable of its program" in err
    code, _, err = cli("train", "a.csv", "--config", "m")
    assert code == 1
    assert "choose a tokenizer with --tokenizer" in err
    result = train(cli, "a.csv", "--config", "m", "--tokenizer", "words")
    assert result.err.startswith("m was trained in Python: columns, weights and ")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reg": "elastic", "reg_l1": 0.1, "tokenizer": "auto", "tokenizer_lowercase": False},
        {"tokenizer": "auto", "tokenizer_min_n": 2},
        {"tokenizer": ["words", "chars"], "weighting": "tfidf", "min_df": 0.1, "strip_html": True},
        {"reg": textreg.Elastic(l2=0.5), "loss": "hinge", "search": "grid"},
        {"reg": "network", "graph": "classes", "graph_path": "x", "budget": "5m"},
        {"task": "regression", "loss": "squared", "seed": 7, "tol": 1e-3, "max_iter": 9},
        {"reg": "group", "groups": "sentences,windows", "groups_size": 3, "path": True},
        {"search_space": {"reg_l1": [0.1, 1]}, "class_weight": "balanced", "cv": 3},
        {"rare_label": "other", "threshold": {"a": "f1"}, "jobs": 3, "prune": 0.0},
    ],
)
def test_options_make_the_settings_that_they_are_of(options: dict[str, Any]) -> None:
    settings = TrainingSettings.from_options(**options)
    kept = options_of(settings)
    assert json.loads(json.dumps(kept)) == kept
    assert "jobs" not in kept
    assert TrainingSettings.from_options(**kept) == settings.replace(jobs=1)
    assert (words_of(kept) == []) == (options == {})


def test_words_of_a_shell() -> None:
    assert shell_line(["a", "b c", "it's", "\x1b\n\\'"]) == (
        """a 'b c' 'it'"'"'s' $'\\x1b\\x0a\\\\\\''"""
    )
    assert shell_line(["--top", Path("-a b"), Path("c-d")]) == "--top './-a b' c-d"  # no option


def test_the_command_that_makes_a_model_is_one_to_paste(tmp_path: Path) -> None:
    path = tmp_path / "it's a model"
    with pytest.raises(UsageError) as told:
        load_model(path)
    assert str(told.value).endswith(f"textreg train FILE -o {shlex.quote(str(path))}")


def test_words_of_a_shell_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """PowerShell runs $(...) in double quotes, and cmd what is after & outside of them."""
    words = [r"C:\data\a.csv", "--l1=0.1", "b c", "$(x)", "a`b", "a&b", 'a"b', "a,b", ""]
    with monkeypatch.context() as patch:
        patch.setattr("os.name", "nt")
        line = shell_line(words)
    assert line == r"""C:\data\a.csv --l1=0.1 "b c" "`$(x)" "a``b" "a&b" "a""b" "a,b" """ + '""'


def test_commands_to_paste_run_nothing_else(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "it's $(touch ran) & so"
    folder.mkdir()
    name = str(folder / "m.textreg")
    done = cli("train", "a.csv", "--reg", "ridge", "--path", "--cv", "2", "-o", name)
    assert done.code == 0, done.err
    (line,) = re.findall("^next: (.*)$", done.out, re.MULTILINE)
    evaluate, show = line.split(", or ")
    assert shlex.split(evaluate) == ["textreg", "evaluate", name, "TEST_FILE"]
    assert shlex.split(show) == ["textreg", "show", name]
    (see,) = re.findall("see it: (.*)$", done.out, re.MULTILINE)
    assert shlex.split(see) == ["textreg", "show", name, "--path"]
    done = cli("groups", "a.csv", "-o", folder / "g", "--tokenizer", "words")
    (line,) = re.findall("^next: (.*)$", done.out, re.MULTILINE)
    assert shlex.split(line)[-2:] == ["--groups-path", str(folder / "g")]
    done = cli("train", name, "-o", "n")
    assert shlex.split(re.findall("pass (.*).$", done.err)[0]) == ["--config", name]
    done = cli("demo", folder / "new")
    assert shlex.split(done.out.splitlines()[-1])[3] == str(folder / "new" / "train.jsonl")
    missing = folder / "none" / "m"
    with pytest.raises(UsageError) as caught:
        write_atomically(missing, b"")
    told = re.findall(r"Make it \((.*)\), or", str(caught.value))[0]
    assert shlex.split(told) == ["mkdir", "-p", str(missing.parent)]


def test_only_one_function_quotes() -> None:
    package = Path(textreg.__file__).parent
    files = [*package.rglob("*.py"), *(package.parent / "plugins").glob("*/textreg_*/**/*.py")]
    quoting = {path.name for path in files if "import shlex" in path.read_text(encoding="utf-8")}
    assert quoting == {"terminal.py"}


# Another model like one


def test_the_same_search_on_other_documents(cli: Cli) -> None:
    options = "--tokenizer words --reg ridge --search-space reg-l2=1,0.5 --seed 2 --ngrams 1"
    train(cli, "a.csv", *options.split())
    write("b.csv", more=["odd"])
    result = train(cli, "b.csv", "--config", "a.textreg")
    assert result.out.startswith(
        "like a.textreg: --label-col class --text-col review --ngrams 1 --reg textreg:ridge "
    )
    train(cli, "b.csv", *COLUMNS, *options.split(), "-o", "line.textreg")
    assert bytes_of("b.textreg") == bytes_of("line.textreg")
    assert load_model("b.textreg").labels == ("bad", "good", "odd")


def test_options_of_the_command_line_come_first(cli: Cli) -> None:
    train(cli, "a.csv", *"--tokenizer words --reg elastic --reg-l1 0.1 --reg-l2 1".split())
    train(cli, "a.csv", "--config", "a.textreg", "--reg-l1", "0.2", "-o", "b")
    assert load_model("b").summary.reg.params == {"weights": "none", "l1": 0.2, "l2": 1.0}
    space = ("--search-space", "reg-l1=0.1,0.2", "--search-space", "ngrams=1,2")
    train(cli, "a.csv", "--config", "a.textreg", *space, "-o", "c")
    assert len(load_model("c").summary.search) == 4
    train(cli, "a.csv", "--config", "c", "--reg-l1", "0.2", "-o", "d")
    assert load_model("d").summary.options["search_space"] == {"ngrams": ["1", "2"]}
    train(cli, "a.csv", "--config", "c", "--reg", "lasso", "--reg-l1", "1", "-o", "e")
    kept = load_model("e").summary
    assert (kept.reg.params, kept.options["search_space"]) == (
        {"weights": "none", "l1": 1},
        {"ngrams": ["1", "2"]},
    )
    Path("run.toml").write_text('config = "a.textreg"\nreg-l1 = 0.3\nngrams = 1\n')
    train(cli, "a.csv", "--config", "run.toml", "--ngrams", "2", "-o", "f")
    assert load_model("f").summary.reg.params == {"weights": "none", "l1": 0.3, "l2": 1.0}
    assert load_model("f").encoder.vectorizer.ngrams == 2


def test_a_model_may_be_replaced_by_one_like_it(cli: Cli) -> None:
    train(cli, "a.csv", *FIXED, "-o", "m")
    before = bytes_of("m")
    train(cli, "a.csv", "--config", "m", "-o", "m")
    assert bytes_of("m") == before


def test_columns_are_those_of_the_training(cli: Cli) -> None:
    train(cli, write("first.csv", "review", "verdict"), "--label-col", "verdict", *FIXED)
    write("b.csv", "text", "class")  # usual names, which would be guessed
    code, _, err = cli("train", "b.csv", "--config", "first.textreg")
    assert code == 2
    assert "no column 'review'. There are: id, text, class." in err
    assert "The columns are those of first.textreg: name others (--label-col, --text-col)." in err
    assert not Path("b.textreg").exists()
    named = ("--text-col", "text", "--label-col", "class")
    train(cli, "b.csv", "--config", "first.textreg", *named)


def test_documents_in_another_format(cli: Cli) -> None:
    train(cli, "a.csv", *FIXED)
    rows = [{"id": 1, "class": "good", "review": one} for one in GOOD]
    rows += [{"class": "bad", "review": one} for one in BAD]
    Path("b.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in 2 * rows))
    assert "format = jsonl, text = review" in train(cli, "b.jsonl", "--config", "a.textreg").out
    lines = [f"__label__{row['class']} {row['review']}\n" for row in 2 * rows]
    Path("c.txt").write_text("".join(lines))
    assert "format = fasttext" in train(cli, "c.txt", "--config", "a.textreg").out
    code, _, err = cli("train", "c.txt", "--config", "a.textreg", "--text-col", "review")
    assert code == 2
    assert "leave out --text-col review" in err


def test_missing_plugins_are_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("squares.py").write_text(PLUGIN)
    own = ("--reg", "squares", "--reg-l2", "1", "--tokenizer", "words")
    assert cli("--plugin", "squares.py", "train", "a.csv", *own).code == 0
    forget_files(monkeypatch)
    code, _, err = cli("train", "a.csv", "--config", "a.textreg", "-o", "b")
    assert code == 1
    assert "'squares' of the plugin file squares.py" in err
    assert "write textreg --plugin squares.py and then the command" in err
    train(cli, "a.csv", "--config", "a.textreg", "--reg", "ridge", "-o", "b")
    assert load_model("b").summary.reg.name == "ridge"
    again = ("train", "a.csv", "--config", "a.textreg", "-o", "b")
    assert cli("--plugin", "squares.py", *again).code == 0
    assert bytes_of("b") == bytes_of("a.textreg")


def changed(file: str, **values: Any) -> None:
    """A model whose summary says something else."""
    model = load_model(file)
    model.summary = replace(model.summary, **values)
    model.save(file)


def test_distributions_that_are_not_installed(cli: Cli) -> None:
    train(cli, "a.csv", *FIXED)
    plugins = [
        replace(part, distribution="acme;x") for part in load_model("a.textreg").summary.plugins
    ]
    changed("a.textreg", plugins=tuple(plugins))
    code, _, err = cli("train", "a.csv", "--config", "a.textreg")
    assert code == 1
    assert "trained with the regularizer 'lasso' of acme;x" in err
    assert "which is not installed: pip install 'acme;x==" in err
    assert "Or choose another one with --reg." in err


@pytest.mark.parametrize("option", ["output", "plugin", "dev", "jobs"])
def test_what_no_model_keeps(cli: Cli, option: str) -> None:
    train(cli, "a.csv", *FIXED)
    changed("a.textreg", options={option: "b"})
    code, _, err = cli("train", "a.csv", "--config", "a.textreg", "-o", "m")
    assert code == 1
    assert f"a.textreg holds the option '{option}' of its training" in err
    assert not Path("b").exists()
    code, _, err = cli("show", "a.textreg", "--command")
    assert code == 1
    assert f"the model holds the option '{option}', which no training keeps" in err


def test_files_of_the_training_that_are_gone(cli: Cli) -> None:
    write("dev.csv")
    train(cli, "a.csv", "--dev", "dev.csv", *FIXED)
    Path("dev.csv").unlink()
    code, _, err = cli("train", "a.csv", "--config", "a.textreg")
    assert code == 2
    assert "dev.csv: no such file." in err
    assert "It is named by a.textreg: name others with --dev FILE." in err
    write("new.csv")
    train(cli, "a.csv", "--config", "a.textreg", "--dev", "new.csv")


def test_a_file_may_name_the_model(cli: Cli) -> None:
    train(cli, "a.csv", *FIXED)
    Path("run.toml").write_text('config = "a.textreg"\nfiles = "a.csv"\noutput = "b"\nreg-l1 = 0.3')
    assert train(cli, "--config", "run.toml").out.startswith("like a.textreg: ")
    assert load_model("b").summary.reg.params == {"weights": "none", "l1": 0.3}


def test_documents_to_choose_on_that_are_not_known(cli: Cli) -> None:
    labels = ["good"] * 3 + ["bad"] * 2
    dev = (GOOD + BAD, labels)
    textreg.train(*dev, dev=dev, reg="ridge", tokenizer="words", search="grid").save("m")
    code, _, err = cli("train", "a.csv", "--config", "m")
    assert code == 1
    assert "name some with --dev FILE, or hold out a fraction with --holdout 0.1" in err
    train(cli, "a.csv", "--config", "m", "--holdout", "0.3", "--reg-l2", "1")


def test_the_page(cli: Cli) -> None:
    page = (Path(__file__).parents[1] / "docs" / "again.md").read_text(encoding="utf-8")
    (config,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    Path("run.toml").write_text(config)
    rows = [("A superb film.", "positive"), ("A dull film.", "negative")] * 10
    for name in ("reviews.csv", "new.csv"):
        Path(name).write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    commands = re.findall(r"^\$ textreg (.*)$", page, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        code, out, err = cli(*shlex.split(command))
        assert (code, err) == (0, "")
        if "--command" in command:
            (told,) = re.findall(r"^(textreg train .*) \.\.\. (-o .*)$", page, re.MULTILINE)
            assert out.startswith(told[0])
            assert out.rstrip().endswith(told[1])
    assert load_model("weaker.textreg").summary.reg.params["l2"] == 0.1
    assert load_model("new.textreg").summary.reg.params["l2"] == 0.5


def test_options_as_words_of_a_command() -> None:
    options = {
        "min_label": 5,
        "rare_label": "other",
        "select": "sparsest",
        "within": 0.1,
        "refit": False,
        "path": True,
        "seed": None,
        "class_weight": {"spam": 5.0, "ham": 1},
        "search_space": {"reg_l1": [0.1, 1.0], "lowercase": [True, False]},
        "field": {"subject": {"ngrams": 1, "weighting": "log"}},
        "text_col": ["a", "b"],
        "tol": 1e-05,
    }
    assert words_of(options) == [
        *("--min-label", "5:other", "--select", "sparsest:0.1", "--no-refit", "--path"),
        *("--class-weight", "spam=5.0", "--class-weight", "ham=1"),
        *("--search-space", "reg_l1=0.1,1.0", "--search-space", "lowercase=true,false"),
        *("--field", "subject:ngrams=1", "--field", "subject:weighting=log"),
        *("--text-col", "a", "--text-col", "b", "--tol", "1e-05"),
    ]
    # A name alone means two documents, or as many as there are parts.
    assert words_of({"rare_label": "other"}) == ["--min-label", "2:other"]
    assert words_of({"rare_label": "other", "cv": 4}) == ["--cv", "4", "--min-label", "4:other"]
    assert words_of({"unknown": "u", "unknown_rule": None}) == ["--unknown", "u"]
    assert words_of({"min_label": 3}) == ["--min-label", "3"]


def test_options_that_a_model_may_hold() -> None:
    kept = ("reg", "reg_l1", "tokenizer_lowercase", "ngrams", "cv", "select", "text_col", "field")
    assert all(map(may_be_kept, kept))
    assert not any(map(may_be_kept, ("jobs", "backend", "dev", "fields", "reg_", "regl1", "x_y")))


def test_options_are_what_differs_from_the_defaults() -> None:
    def of(**options: Any) -> dict[str, Any]:
        return options_of(TrainingSettings.from_options(**options))

    assert of() == {}
    assert of(reg="auto", tokenizer="auto", loss="logistic", jobs=2, seed=0) == {}
    assert of(task="regression", loss="squared") == {"task": "regression"}
    assert of(loss="squared") == {"loss": "squared"}
    assert of(reg="sentence", groups="sentences") == {"reg": "sentence"}
    assert of(reg="sentence", groups="windows") == {"reg": "sentence", "groups": "windows"}
    assert of(reg="lasso", reg_l1=0.5, ngrams=1, refit=False, class_weight={"a": 2.0}) == {
        "reg": "lasso",
        "reg_l1": 0.5,
        "ngrams": 1,
        "refit": False,
        "class_weight": {"a": 2.0},
    }
    assert of(tokenizer="words") == {"tokenizer": "words"}
    assert of(tokenizer=str.split) == {}
    space = {"reg_l2": np.array([0.1, 1.0]).tolist(), "ngrams": (1, 2)}
    assert of(reg="ridge", search_space=space, select="1se") == {
        "reg": "ridge",
        "select": "1se",
        "search_space": {"reg_l2": [0.1, 1.0], "ngrams": [1, 2]},
    }


def test_parts_of_a_training_that_are_plugins() -> None:
    def kinds(**options: Any) -> list[str]:
        told = TrainingSettings.from_options(**options).plugins()
        assert {it["distribution"] for it in told} == {"textreg"}
        return [f"{it['kind']} {it['name']}" for it in told]

    words = ["tokenizer words"]
    assert kinds(reg="lasso", tokenizer="words") == [*words, "regularizer lasso", "loss logistic"]
    assert kinds(reg="lasso", tokenizer=str.split) == ["regularizer lasso", "loss logistic"]
    assert kinds(reg="sentence", tokenizer="words,chars") == [
        *(*words, "tokenizer chars", "regularizer sentence", "loss logistic", "groups sentences"),
    ]
