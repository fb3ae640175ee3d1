"""Plugins that are one Python file: given by hand, kept in the model with their hash."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import re
import sys
from pathlib import Path

import pytest
from model_files import content
from sites import Site

from textreg.errors import BrokenPluginError, PluginError, UsageError
from textreg.hookspecs import HOOK_OF_KIND
from textreg.isolation import traceback_of
from textreg.kinds import KINDS
from textreg.plugins import calls
from textreg.plugins.registry import Registry
from textreg.training.train import train
from textreg_testing.commands import kind_and_name

CODE = """\
import pathlib
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer, Tokenizer
from textreg.params import param
from textreg.penalties import Separable
from textreg.solvers.newton import newton

pathlib.Path(__file__).with_suffix(".ran").touch()


class Pieces(Tokenizer):
    name = "pieces"
    at: str = param(default=" ", help="what stands between words")

    def __call__(self, text):
        return [[word for word in text.split(self.at) if word]]


class Mine(Regularizer):
    name = "mine"
    strength: float = param(default=0.5, min=0, help="penalty strength")

    def solve(self, problem):
        return newton(problem, Separable.constant(problem.X.shape[1], l1=self.strength))


@hookimpl
def textreg_tokenizers():
    return [Pieces]


@hookimpl
def textreg_regularizers():
    return [Mine]
"""
DIGEST = hashlib.sha256(CODE.encode()).hexdigest()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    return path


def modules() -> set[str]:
    return {name for name in sys.modules if name.startswith("textreg_file_")}


def test_parts_and_their_origin(file: Path) -> None:
    registry = Registry()
    registry.register_file(file)
    assert registry.create("regularizer", "mine", strength=2).strength == 2.0
    pieces = registry.create("tokenizer", "pieces")
    assert pieces("good film") == [["good", "film"]]
    assert registry.who(pieces) == f"tokenizer 'pieces' of {file}"
    assert vars(registry.origin(pieces)) == {
        "name": "pieces", "distribution": "", "version": "", "api": 1, "file": str(file),
        "sha256": DIGEST,
    }  # fmt: skip
    (row,) = [row for row in registry.listing() if row.name == "mine"]
    assert (row.kind, row.status, row.file, row.sha256) == ("regularizer", "ok", str(file), DIGEST)
    assert pickle.loads(pickle.dumps(pieces)) == pieces == copy.deepcopy(pieces)
    assert {"mine", "regularizer.mine"} <= registry.aliases()


def test_the_same_and_a_changed_file_again(file: Path) -> None:
    registry = Registry()
    registry.register_file(file)
    registry.register_file(file)
    file.write_text(CODE.replace("default=0.5", "default=0.25"))
    registry.register_file(file)
    assert registry.create("regularizer", "mine").strength == 0.25


UNPICKLE = """
import pickle, sys
part = pickle.load(open(sys.argv[1], "rb"))
print(part, pickle.loads(pickle.dumps(part)) == part)
"""


def test_a_pickled_part_finds_its_file(file: Path, site: Site) -> None:
    """As it must in the other processes of joblib, where nobody has given the file."""
    registry = Registry()
    registry.register_file(file)
    part = registry.create("regularizer", "mine", strength=2)
    pickled = file.with_suffix(".pickle")
    pickled.write_bytes(pickle.dumps(part))
    done = site.python("-c", UNPICKLE, str(pickled))
    assert done.stdout == "Mine(strength=2.0) True\n", done.stderr
    ran = file.with_suffix(".ran")
    ran.unlink()
    file.write_text(f"{CODE}# changed\n")
    refused = site.python("-c", UNPICKLE, str(pickled))
    assert "PluginError: the plugin file " in refused.stderr
    assert f"and not {DIGEST} as when its part was pickled" in refused.stderr
    assert not ran.exists()


SEARCH = """
import sys, textreg
from sklearn.model_selection import GridSearchCV
textreg.register_file(sys.argv[1])
texts, labels = ["good film", "bad film"] * 10, ["p", "n"] * 10
model = textreg.TextClassifier(reg=textreg.regularizer("mine"), ngrams=1)
search = GridSearchCV(model, {"reg__strength": [0.1, 1.0]}, cv=2, n_jobs=2, error_score="raise")
search.fit(texts, labels)
tried = [one["reg__strength"] for one in search.cv_results_["params"]]
print(tried, search.best_estimator_.reg.name)
"""


@pytest.mark.thorough
def test_a_search_in_other_processes(file: Path, site: Site) -> None:
    done = site.python("-W", "error", "-c", SEARCH, str(file))
    assert done.stdout == "[0.1, 1.0] mine\n", done.stderr


def test_two_files_with_one_name(file: Path, tmp_path: Path) -> None:
    registry = Registry()
    registry.register_file(file)
    other = tmp_path / "other.py"
    other.write_text(CODE)
    registry.register_file(other)
    file.write_text(f"{CODE}# changed\n")
    with pytest.raises(PluginError, match=r"other\.py and .*mine\.py both give a tokenizer called"):
        registry.register_file(file)


def test_the_name_of_an_installed_plugin(file: Path) -> None:
    """A name stands for the part of the file, which the user gave; all have one of their own."""
    file.write_text(CODE.replace('"mine"', '"sentence"'))
    registry = Registry()
    registry.register_file(file)
    for name in ("sentence", "mine.py:sentence", f"{file}:sentence"):
        assert registry.find("regularizer", name).__name__ == "Mine"
    own = registry.find("regularizer", "textreg:sentence")
    assert own.__module__.startswith("textreg.builtin")
    rows = [row for row in registry.listing() if row.name == "sentence"]
    assert {row.status for row in rows} == {"ok", "hidden: write textreg:sentence"}
    meant = kind_and_name("mine.py:pieces", registry.listing())
    assert meant == ("tokenizer", "mine.py:pieces")
    with pytest.raises(PluginError, match=r"no regularizer 'mine\.py:lasso'"):
        registry.find("regularizer", "mine.py:lasso")


def test_a_file_that_is_named_is_run_when_it_is_needed(file: Path) -> None:
    registry = Registry()
    file.write_text(f"{CODE}# its own content\n")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    registry.name_file(file)
    file.write_text("what was read then counts")
    assert registry.find("regularizer", "textreg:lasso")
    assert not file.with_suffix(".ran").exists()
    assert registry.find("regularizer", "mine").__name__ == "Mine"
    assert file.with_suffix(".ran").exists()
    assert registry.find("tokenizer", f"{digest}:pieces").__name__ == "Pieces"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def f(:", r"mine\.py cannot be loaded: SyntaxError: invalid syntax \(mine\.py, line 1\)"),
        ("\n1 / 0", r"cannot be loaded: ZeroDivisionError: division by zero \(.*mine\.py:2\)"),
        (
            "from textreg.solvers.newton import newton\nnewton(None, None)",
            r"AttributeError: .* \(.*mine\.py:2\)",
        ),
        (
            "from textreg._core.columns import column_curvature\ncolumn_curvature()",
            r"TypeError: .* \(.*mine\.py:2\)",
        ),
        ("import jaxx", r"cannot be loaded: ModuleNotFoundError: No module named 'jaxx'"),
        ("raise SystemExit(3)", r"cannot be loaded: SystemExit: 3"),
        ("\0", r"mine\.py cannot be loaded: "),
        ("a = 1", r"the file .*mine\.py provides nothing: .*@hookimpl"),
        (CODE.replace("[Mine]", "[Mine, 3]"), r"mine\.py gives 3, which is not a subclass"),
    ],
)
def test_a_broken_file(file: Path, code: str, says: str) -> None:
    file.write_text(code)
    registry, before = Registry(), modules()
    with pytest.raises(BrokenPluginError, match=says):
        registry.register_file(file)
    assert [row for row in registry.listing() if row.file] == []
    assert modules() == before or "cannot be loaded" not in says


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_cause_of_a_fault_in_training(file: Path, jobs: int) -> None:
    """In whatever thread it was raised."""
    file.write_text(CODE.replace("return newton(problem, ", "raise RuntimeError('no license') #"))
    registry = Registry()
    registry.register_file(file)
    part = registry.create("regularizer", "mine")
    with pytest.raises(BrokenPluginError, match=r"in solve: RuntimeError: no license") as caught:
        train(["good film", "bad film"] * 4, ["pos", "neg"] * 4, reg=part, jobs=jobs)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert 'mine.py", line 24, in solve' in traceback_of(caught.value.__cause__)


def test_the_place_of_a_fault_is_in_the_file(file: Path) -> None:
    """Not in the package that raised: a wrong name of NumPy is raised in NumPy."""
    file.write_text(CODE.replace("[[word for", "__import__('numpy').maximun, [[word for"))
    registry = Registry()
    registry.register_file(file)
    with pytest.raises(BrokenPluginError, match=r"AttributeError: .*maximun.* \(.*mine\.py:16\)"):
        calls.encode(registry.create("tokenizer", "pieces"), ["good film"])


def test_names_of_tokens_are_looked_at(file: Path) -> None:
    file.write_text(CODE.replace("if word]]", "], ['']]"))
    registry = Registry()
    registry.register_file(file)
    with pytest.raises(BrokenPluginError, match="texts as tokens, none of them empty"):
        calls.encode(registry.create("tokenizer", "pieces"), ["good film"])


def test_a_traceback_begins_in_the_file(file: Path) -> None:
    """Though between textreg's call of a tokenizer and its code there is more of textreg."""
    file.write_text(CODE.replace("[[word for", "1 / [[word for"))
    registry = Registry()
    registry.register_file(file)
    with pytest.raises(BrokenPluginError, match=r"TypeError: .* \(.*mine\.py:16\)") as caught:
        calls.encode(registry.create("tokenizer", "pieces"), ["good film"])
    first, second, *_ = traceback_of(caught.value.__cause__).splitlines()
    assert first == "Traceback (most recent call last):"
    assert f'"{file}"' in second


def test_no_such_file(tmp_path: Path) -> None:
    for path, says in [(tmp_path, "directory"), (tmp_path / "none.py", "No such file")]:
        with pytest.raises(UsageError, match=f"cannot be read: .*{says}.*Check the path"):
            Registry().register_file(path)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("files"))
    (made.folder / "mine.py").write_text(CODE)
    (made.folder / "changed.py").write_text(f"{CODE}# changed\n")
    options = "--reg mine --reg-strength 0.1 --tokenizer pieces"
    trainings = [made.train(options), made.train("--reg mine", "words.textreg")]
    for code, _, err in made.session([["--plugin", "mine.py", *words] for words in trainings]):
        assert (code, err) == (0, "")
    (made.folder / "mine.ran").unlink()
    return made


def test_the_model_names_the_file(site: Site) -> None:
    header, _ = content(site.folder / "model.textreg")
    origin = {"distribution": "", "version": "", "api": 1, "file": "mine.py", "sha256": DIGEST}
    assert header["parts"][0]["tokenizer"] == {
        "name": "pieces",
        "params": {"at": " "},
        "forms_ngrams": True,
        **origin,
    }
    tokenizer, regularizer, loss = header["summary"]["plugins"]
    assert tokenizer == {"kind": "tokenizer", "name": "pieces", **origin}
    assert regularizer == {"kind": "regularizer", "name": "mine", **origin}
    assert loss["distribution"] == "textreg"


def test_a_model_runs_no_file_by_itself(site: Site) -> None:
    results = site.session(
        [
            ["predict", "model.textreg", "corpus.jsonl"],
            ["show", "model.textreg"],
            ["show", "model.textreg", "--json"],
        ]
    )
    needed = (
        f"the tokenizer 'pieces' of the plugin file mine.py (SHA-256 {DIGEST}): write textreg "
        "--plugin mine.py and then the command, or in Python call "
        "textreg.register_file('mine.py') first"
    )
    assert results[0] == (
        1,
        "",
        f"Error: model.textreg needs {needed} (without it, textreg show model.textreg still "
        "works)\n",
    )
    shown = dict(re.findall(r"^(\w+) +(.*)$", results[1][1], re.MULTILINE))
    assert shown["plugins"] == (
        "tokenizer pieces of mine.py (API 1), regularizer mine of mine.py (API 1)"
    )
    assert shown["needs"] == needed
    assert json.loads(results[2][1])["needs"] == needed
    assert not (site.folder / "mine.ran").exists()


def test_a_changed_file_is_refused_before_it_runs(site: Site) -> None:
    """By a model and a report that were made with other content."""
    ran = site.folder / "changed.ran"
    predict = ["predict", "model.textreg", "corpus.jsonl"]
    report = ["report", "words.textreg", "corpus.jsonl", "--train", "corpus.jsonl", "-o", "r.html"]
    commands = [["--plugin", "changed.py", *command] for command in (predict, report)]
    results = site.session(commands)
    assert results[0][1] == ""
    for code, _, err in results:
        assert code == 1
        assert DIGEST in err
        assert "changed.py" in err
    assert not ran.exists()


def test_a_model_with_its_file(site: Site) -> None:
    predict = ["predict", "model.textreg", "corpus.jsonl"]
    (right, shown, misplaced), (changed,) = (
        site.session(
            [
                ["--plugin", "mine.py", *predict],
                ["show", "model.textreg", "--json"],
                [*predict, "--plugin=mine.py"],
            ]
        ),
        site.session([["--plugin", "changed.py", *predict]]),
    )
    assert (right[0], right[2]) == (0, "")
    assert right[1].split() == ["p"] * 20 + ["n"] * 20
    assert "needs" not in json.loads(shown[1])
    assert misplaced[:2] == (2, "")
    assert "textreg --plugin FILE predict" in misplaced[2]
    assert changed[:2] == (1, "")
    other = hashlib.sha256((site.folder / "changed.py").read_bytes()).hexdigest()
    assert (
        "Given is other content, which was not run for it: "
        f"changed.py (SHA-256 {other})" in (changed[2])
    )


def test_a_part_of_a_joined_one_is_of_its_file(site: Site) -> None:
    """Of several tokenizers, one of a file: it is named, and no namesake is taken or run."""
    train = site.train("--reg ridge --tokenizer words,pieces", "joined.textreg")
    again = ["train", "--config", "joined.textreg", "corpus.jsonl", "-o", "again.textreg"]
    made, shown, repeated = site.session(
        [["--plugin", "mine.py", *train], ["show", "joined.textreg", "--command"],
         ["--plugin", "mine.py", *again]]
    )  # fmt: skip
    assert (made[0], repeated[0]) == (0, 0), made[2] + repeated[2]
    assert shown[1].startswith("textreg --plugin mine.py train "), shown[2]
    assert "--tokenizer words,pieces" in shown[1]
    ((code, _, err),) = site.session([["--plugin", "changed.py", *again]])
    assert (code, DIGEST in err) == (1, True), err
    assert not (site.folder / "changed.ran").exists()


def test_a_report_repeats_the_training_with_its_file(site: Site) -> None:
    report = ["report", "model.textreg", "corpus.jsonl", "-o", "page.html"]
    ((code, _, err),) = site.session([["--plugin", "mine.py", *report]])
    assert (code, err) == (0, "")
    page = (site.folder / "page.html").read_text()
    assert "textreg --plugin mine.py train CORPUS" in page
    assert "textreg --plugin mine.py report model.textreg" in page


def test_regularizer_from_a_file_is_not_needed_to_predict(site: Site) -> None:
    ((code, out, err),) = site.session([["predict", "words.textreg", "corpus.jsonl"]])
    assert (code, len(out.split()), err) == (0, 40, "")


def test_its_options_are_those_of_the_command(site: Site) -> None:
    helped, listed, last, unread = site.session(
        [
            ["--plugin", "mine.py", "train", "--reg", "mine", "--help"],
            ["--plugin", "mine.py", "plugins"],
            ["--plugin"],
            ["--plugin", "nowhere.py", "plugins"],
        ]
    )
    assert "--reg-strength X" in helped[1]
    (line,) = [line for line in listed[1].splitlines() if line.startswith("mine ")]
    assert line.split() == ["mine", "regularizer", "mine.py", "1", "ok"]
    assert last[:2] == (2, "")
    assert "Option '--plugin' requires an argument" in last[2]
    assert unread[0] == 2
    assert unread[2].startswith("Error: the plugin file nowhere.py cannot be read: No such file")


def test_after_two_dashes_all_is_data(site: Site) -> None:
    words = ("--plugin", "--debug")
    results = site.session([["plugins", "doctor", "--", word] for word in words])
    for word, (code, _, err) in zip(words, results, strict=True):
        assert (code, err.startswith(f"Error: no plugin '{word}'.")) == (2, True)


def test_a_text_runs_no_file(site: Site) -> None:
    (site.folder / "evil.py").write_text("open('evil.ran', 'w').close()\n")
    befores = (["show"], ["explain", "model.textreg"], ["plugins", "doctor"])
    options = ("--plugin=evil.py", "--no-plugin=words")
    cases = [(before, option) for before in befores for option in options]
    commands = [[*before, option] for before, option in cases]
    texts = [[*before, "--", option] for before, option in cases]
    told = site.session([*commands, *texts])
    for (before, option), (code, out, err) in zip(cases, told[: len(cases)], strict=True):
        assert (code, out) == (2, ""), (before, option)
        name = option.partition("=")[0]
        wanted = f"Error: No such option here: {name}. Put it before the command: textreg"
        assert err.startswith(wanted), (before, option)
    for case, (code, _, err) in zip(cases, told[len(cases) :], strict=True):
        assert code in (1, 2), case
        assert "No such option" not in err, case
    assert not (site.folder / "evil.ran").exists()


def test_files_of_the_variable(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    (site.folder / "two.py").write_text(CODE.replace('"pieces"', '"two"').replace('"mine"', '"m2"'))
    monkeypatch.setenv("TEXTREG_PLUGIN", os.pathsep.join(["mine.py", "", "two.py"]))
    ((code, out, err),) = site.session([["plugins"]])
    assert (code, err) == (0, "")
    found = {line.split()[0]: line.split()[2] for line in out.splitlines() if ".py" in line}
    assert found == {"pieces": "mine.py", "mine": "mine.py", "two": "two.py", "m2": "two.py"}


def test_kinds_of_hooks_are_all_taken(file: Path) -> None:
    head = "from textreg.hookspecs import hookimpl\nfrom textreg import kinds\n"
    bases = {"tokenizer": "Tokenizer", "groups": "GroupBuilder", "graph": "GraphBuilder"}
    bases |= {"regularizer": "Regularizer", "loss": "Loss", "exporter": "Exporter"}
    bases |= {"backend": "Backend", "vectors": "WordVectors"}
    for kind, base in bases.items():
        methods = "".join(
            f"    def {name}(self, given): ...\n" for name in KINDS[kind].__abstractmethods__
        )
        head += (
            f"class {base}(kinds.{base}):\n    name = 'every'\n{methods}"
            f"@hookimpl\ndef {HOOK_OF_KIND[kind]}(): return [{base}]\n"
        )
    file.write_text(head)
    registry = Registry()
    registry.register_file(file)
    assert [registry.find(kind, "every").kind for kind in bases] == list(KINDS)


def test_names_may_have_dots(site: Site) -> None:
    (site.folder / "v2.py").write_text(CODE.replace('"pieces"', '"pieces.v2"'))
    train = site.train("--tokenizer pieces.v2 --reg lasso --reg-l1 1", "v2.textreg")
    check = ["plugins", "check", "tokenizer.pieces.v3"]
    (trained, checked) = site.session([["--plugin", "v2.py", *one] for one in (train, check)])
    assert (trained[0], trained[2]) == (0, "")
    assert "Error: no tokenizer 'pieces.v3'. Did you mean 'pieces.v2'?" in checked[2]
