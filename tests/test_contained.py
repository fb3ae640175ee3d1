"""What a plugin may do wrong without harm to a command: end it, print, move, raise anything."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sites import Site

import textreg
from textreg.builtin.group_builders import Sentences
from textreg.builtin.separable import Ridge
from textreg.builtin.tokenizers import Words
from textreg.errors import (
    BrokenPluginError,
    ConvergenceWarning,
    DataError,
    DataWarning,
    PluginError,
    PluginWarning,
    RecordError,
    UsageError,
)
from textreg.isolation import (
    blaming,
    cause_of,
    contained,
    is_inside,
    message_of,
    shown,
    traceback_of,
)
from textreg.losses import SquaredHinge
from textreg.plugins import calls
from textreg.records import Groups, Problem, Solution, Tokens
from textreg_testing.problems import small

TOKENIZER = """\
import os, subprocess, sys, threading
from textreg.errors import DataError
from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
{at_import}

class Odd(Tokenizer):
    "Words between blanks."
    name = "odd"

    def __call__(self, text):
        {in_call}
        return [text.split()]

@hookimpl
def textreg_tokenizers():
    return [Odd]
"""

ENDS = {
    "sys.exit(0)": "SystemExit: 0",
    "raise GeneratorExit": "GeneratorExit",
    "raise type('Odder', (BaseException,), {})('mine')": "Odder: mine",
    "raise StopIteration(3)": "StopIteration: 3",
    "raise MemoryError": "MemoryError",
    "(lambda f: f(f))(lambda f: f(f))": "RecursionError: maximum recursion depth exceeded",
    "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})": "Mute",
    "raise type('Mute', (DataError,), {'__str__': lambda self: 1 / 0})": "Mute",
    "raise type('Liar', (DataError,), {'exit_code': 0})('fine')": "Liar: fine",
    "raise ValueError('\\x1b[31m' + 'red ' * 1000 + '\\n' * 99)": "ValueError: \ufffd[31mred ",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"text": f"good film {i}", "label": "p"} for i in range(12)]
    rows += [{"text": f"bad film {i}", "label": "n"} for i in range(12)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def write(folder: Path, at_import: str = "", in_call: str = "pass") -> None:
    code = TOKENIZER.format(at_import=at_import, in_call=in_call)
    (folder / "odd.py").write_text(code)


def run(folder: Path, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "textreg", "--plugin", "odd.py", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, **settings
    )  # type: ignore[call-overload,no-any-return]


TRAIN = "train corpus.jsonl --tokenizer odd --reg lasso --reg-l1 0.5 -o model.textreg".split()


def test_whatever_it_raises_names_it(tmp_path: Path) -> None:
    site = Site(tmp_path)
    places = [(code, place) for code in ENDS for place in ("at_import", "in_call")]
    commands = []
    for number, (code, place) in enumerate(places):
        text = TOKENIZER.format(**{"at_import": "", "in_call": "pass", place: code})
        (tmp_path / f"odd{number}.py").write_text(text.replace('"odd"', f'"odd{number}"'))
        commands.append(site.train(f"--tokenizer odd{number} --reg lasso --reg-l1 0.5"))
        commands[-1] = ["--plugin", f"odd{number}.py", *commands[-1]]
    results = site.session(commands)
    for number, ((says, _), (code, _, err)) in enumerate(zip(places, results, strict=True)):
        assert (code, "Traceback" in err) == (1, False), err
        (line,) = [line for line in err.splitlines() if line.startswith("Error: ")]
        assert ENDS[says] in line
        assert f"odd{number}.py" in line
        assert len(line) < 700
        assert "\x1b" not in err
        assert not (tmp_path / "model.textreg").exists()


def test_exhausted_memory_blames_the_plugin(folder: Path) -> None:
    write(folder, in_call="return [['a'] * (1 << 62)]")
    done = run(folder, *TRAIN)
    assert done.stderr.startswith("Error: tokenizer 'odd' of odd.py runs out of memory in encode:")


PRINTS = [
    "print('noise')",
    "sys.stdout.write('noise\\n')",
    "sys.__stdout__.write('noise\\n')",
    "sys.stdout.buffer.write(b'noise\\n'); sys.stdout.flush()",
    "os.write(1, b'noise\\n')",
    "subprocess.run(['echo', 'noise'])",
    "subprocess.run(['echo', 'noise'], stdout=sys.stdout)",
    "threading.Thread(target=print, args=('noise',)).start()",
    "import click; click.echo('noise')",
    "sys.stdout.close(); print('noise')",
    "sys.stdout = sys.stderr; print('noise')",
    "os.fork() or (print('noise', flush=True), os._exit(0))",
]


@pytest.mark.parametrize("place", ["at_import", "in_call"])
def test_what_it_prints_goes_to_stderr(folder: Path, place: str) -> None:
    code = "; ".join(line.replace("noise", f"noise{k}") for k, line in enumerate(PRINTS))
    if place == "in_call":
        code = f"if 'good film 3' == text: {code}"
    write(folder, **{place: code})
    done = run(folder, *TRAIN, "--json")
    assert json.loads(done.stdout)["model"] == "model.textreg", done.stderr
    assert done.returncode == 0
    assert [k for k in range(len(PRINTS)) if f"noise{k}" not in done.stderr] == []


def test_predictions_are_apart_from_its_output(folder: Path) -> None:
    write(folder, in_call="print('noise')")
    assert run(folder, *TRAIN).returncode == 0
    done = run(folder, "predict", "model.textreg", "corpus.jsonl")
    assert done.stdout.split() == ["p"] * 12 + ["n"] * 12
    assert "noise" in done.stderr


def test_help_and_results_stay_on_stdout(folder: Path) -> None:
    write(folder)
    assert "--tokenizer" in run(folder, "train", "--help").stdout
    shut = run(folder, "plugins", "list", preexec_fn=lambda: os.close(1))
    assert "Traceback (most recent call last)\n  File" not in shut.stderr


STATE = [
    "os.chdir('/')",
    "import numpy; numpy.seterr(all='raise')",
    "import warnings; warnings.simplefilter('error')",
    "import random, numpy; random.seed(3); numpy.random.seed(3)",
    "import locale; locale.setlocale(locale.LC_ALL, '')",
]


def test_state_of_the_process(folder: Path) -> None:
    write(folder)
    assert run(folder, *TRAIN).returncode == 0
    show = ["predict", "model.textreg", "corpus.jsonl", "--proba"]
    expected = run(folder, *show).stdout
    write(folder, at_import="; ".join(STATE), in_call="; ".join(STATE))
    (folder / "model.textreg").unlink()
    done = run(folder, *TRAIN)
    assert (done.returncode, done.stderr) == (0, "")
    assert run(folder, *show).stdout == expected


def test_ctrl_c_is_that_of_the_user(folder: Path) -> None:
    write(folder, in_call="import time; open('begun', 'w'); time.sleep(30)")
    command = [sys.executable, "-m", "textreg", "--plugin", "odd.py", *TRAIN]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as running:
        while not (folder / "begun").exists():
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=20)
    assert running.returncode in (130, -signal.SIGINT)
    assert err.startswith("Interrupted")


def test_what_it_raises_as_ctrl_c_is_taken_for_it(folder: Path) -> None:
    write(folder, in_call="raise KeyboardInterrupt")
    done = run(folder, *TRAIN)
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stderr.startswith("Interrupted in encode of tokenizer 'odd' of odd.py")
    assert not (folder / "model.textreg").exists()


def test_errors_that_are_for_users_stay() -> None:
    with pytest.raises(DataError, match=r"^no groups$"), blaming(str, "build", str):
        raise DataError("no groups")
    with pytest.raises(BrokenPluginError), blaming(str, "build", str):
        raise DataError
    with pytest.raises(MemoryError), blaming(str, "build", str, own=True):
        raise MemoryError


def test_after_a_plugin_all_is_as_before(tmp_path: Path) -> None:
    folder, streams = Path.cwd(), (sys.stdout, sys.stderr)
    before = np.geterr()
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    filters = list(warnings.filters)
    with contained():
        assert is_inside()
        os.chdir(tmp_path)
        np.seterr(all="raise")
        sys.stdout = sys.stderr
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        warnings.simplefilter("error")
    assert (Path.cwd(), (sys.stdout, sys.stderr)) == (folder, streams)
    assert np.geterr() == before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert warnings.filters == filters
    assert not is_inside()


class Ignoring(SquaredHinge):
    """A loss that changes what all of the process shares."""

    name = "ignoring"

    def value(self, z: Any, y: Any, c: Any) -> float:
        ignore()
        return super().value(z, y, c)


def ignore(text: str = "") -> list[str]:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    return text.split()


def test_what_loops_call_is_put_back() -> None:
    """The methods of a loss and a function of the user, which a part of textreg calls."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    filters = list(warnings.filters)
    texts, labels = ["good film", "bad film"] * 10, ["p", "n"] * 10
    textreg.train(texts, labels, reg="ridge", reg_l2=0.1, loss=Ignoring())
    textreg.train(texts, labels, reg="ridge", reg_l2=0.1, tokenizer=ignore).predict(texts)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert warnings.filters == filters


def test_who_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(
        "import threading, time\n"
        "from textreg import Ridge\n"
        "from textreg.hookspecs import hookimpl\n"
        "class Leaves(Ridge):\n"
        "    name = 'leaves'\n"
        "    def solve(self, problem):\n"
        "        threading.Thread(target=time.sleep, args=(2,)).start()\n"
        "        threading.Thread(target=time.sleep, args=(2,), daemon=True).start()\n"
        "        return super().solve(problem)\n"
        "@hookimpl\n"
        "def textreg_regularizers():\n"
        "    return [Leaves]\n"
    )
    (tmp_path / "a.csv").write_text("text,label\n" + "good film,p\nbad film,n\n" * 10)
    words = "--plugin part.py train a.csv --quiet --reg-l2 0.1 -o m --reg".split()
    for name, said in (
        ("leaves", "Waiting for threads of regularizer 'leaves' of part.py to end. Ctrl-C ends "),
        ("ridge", ""),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "textreg", *words, name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr[: len(said) or None] == said


def test_what_it_replaces_in_its_arguments_is_its_own() -> None:
    class Shuffles(Sentences):
        def build(self, tokens: Tokens) -> Groups:
            groups = super().build(tokens)
            tokens.vocabulary.reverse()  # type: ignore[attr-defined]
            return groups

    class Swaps(Ridge):
        def solve(self, problem: Problem) -> Solution:
            found = super().solve(problem)
            problem.X.data = 2.0 * problem.X.data
            return found

    tokens = Words().encode(["A red box. It broke.", "A blue one."])
    names = list(tokens.vocabulary)
    calls.build_groups(Shuffles(), tokens)
    assert list(tokens.vocabulary) == names
    problem = small()
    before = problem.X.data.copy()
    calls.solve(Swaps(l2=1.0), problem)
    assert np.array_equal(problem.X.data, before)


def test_streams_are_put_back_in_a_loop_too() -> None:
    def call() -> None:
        sys.stdout = sys.stderr = None  # type: ignore[assignment]
        raise ValueError

    streams = sys.stdout, sys.stderr
    with pytest.raises(BrokenPluginError), blaming(str, "value", str, often=True):
        call()
    assert (sys.stdout, sys.stderr) == streams


def test_a_thread_leaves_signals_and_warnings_to_the_main_one() -> None:
    def call() -> None:
        with contained():
            assert is_inside()

    thread = threading.Thread(target=call)
    with contained():
        thread.start()
        thread.join()
        assert is_inside()
    assert not is_inside()


def test_a_long_message_is_cut() -> None:
    assert cause_of(ValueError("a" * 300)) == f"ValueError: {'a' * 300}"
    assert cause_of(ValueError("a" * 301)) == f"ValueError: {'a' * 300}..."


class QuietError(Exception):
    """Fails to give a message."""

    def __str__(self) -> str:
        raise ValueError


class OddError(UsageError):
    exit_code = 3


@pytest.mark.parametrize(
    ("error", "of_plugins", "of_ours"),
    [
        (KeyboardInterrupt(), True, True),
        (SystemExit(1), False, False),
        (GeneratorExit(), False, True),
        (MemoryError(), False, True),
        (OSError(errno.EMFILE, "full"), False, True),
        (UserWarning("w"), False, True),
        (ConvergenceWarning("w"), True, True),
        (DataWarning("w"), True, True),
        (PluginWarning("w"), True, True),
        (ValueError("v"), False, False),
        (QuietError(), False, False),
        (UsageError("u"), True, True),
        (DataError("d"), True, True),
        (DataError(""), False, False),
        (OddError("o"), False, False),
        (RecordError("r"), False, False),
        (PluginError("p"), False, False),
        (BrokenPluginError("b", "cause"), True, True),
    ],
    ids=lambda it: type(it).__name__,
)
def test_what_passes(error: BaseException, of_plugins: bool, of_ours: bool) -> None:
    """Errors for users, and of what a part of textreg cannot help, stay as they are."""
    for own, passes in ((False, of_plugins), (True, of_ours)):
        expected = type(error) if passes else BrokenPluginError
        part = blaming(lambda: "who", "solve", lambda: "Do that.", own=own, often=True)
        with pytest.raises(expected) as raised, part:
            raise error
        assert (raised.value if passes else raised.value.__cause__) is error


def test_what_is_said_of_an_error() -> None:
    def said(error: BaseException) -> str:
        part = blaming(lambda: "who", "solve", lambda: "Do that.")
        with pytest.raises(BrokenPluginError) as raised, part:
            raise error
        return re.sub(r" \(\S+:\d+\)", " (place)", str(raised.value))

    assert said(RecordError("a fault.")) == "who fails in solve: a fault. Do that."
    assert said(PluginError("x" * 301)) == f"who fails in solve: {'x' * 300}. Do that."
    assert said(ValueError("one\ntwo")) == "who fails in solve: ValueError: one (place). Do that."
    assert said(ValueError()) == "who fails in solve: ValueError (place). Do that."
    assert said(QuietError()) == "who fails in solve: QuietError (place). Do that."
    assert said(MemoryError()) == (
        "who runs out of memory in solve: MemoryError (place); fewer texts or features (--min-df, "
        "--max-features) may do. Do that."
    )
    for words in ("read-only", "read only"):
        assert said(ValueError(words)) == (
            f"who fails in solve: ValueError: {words} (place); what it is given is shared and must "
            "not be changed, so copy it first. Do that."
        )
    # A fault in the syntax states its place itself.
    assert cause_of(SyntaxError("bad (a.py, line 1)")) == "SyntaxError: bad (a.py, line 1)"


def test_objects_are_shown_on_one_line() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise SystemExit

    class Pressed:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    assert shown("a" * 298) == repr("a" * 298)
    assert shown("a" * 299) == "'" + "a" * 299 + "..."
    assert shown(Silent()) == "an object of the type Silent"
    assert message_of(QuietError()) == ""
    with pytest.raises(KeyboardInterrupt):
        shown(Pressed())


def test_a_traceback_begins_outside_of_textreg() -> None:
    space: dict[str, Any] = {"__name__": "textreg.part"}
    exec(compile("def call(inner):\n    inner()", "<ours>", "exec"), space)

    def fail() -> None:
        raise ValueError("why")

    with pytest.raises(ValueError, match="why") as raised:
        space["call"](fail)
    begin = raised.value.__traceback__
    assert begin is not None
    ours = begin.tb_next
    raised.value.__traceback__ = ours  # that of textreg is first
    told = traceback_of(raised.value)
    assert "<ours>" not in told
    assert "in fail" in told
    assert raised.value.__traceback__ is ours
    assert traceback_of(None) == ""
    only = ValueError("no frames")
    assert traceback_of(only) == "ValueError: no frames\n"
    assert cause_of(only) == "ValueError: no frames"


@pytest.mark.parametrize("often", [False, True])
def test_what_is_called_in_a_loop_is_not_contained(often: bool) -> None:
    before = warnings.filters[:]
    with warnings.catch_warnings():
        with blaming(lambda: "it", "solve", lambda: "Tell.", **({"often": True} if often else {})):
            assert is_inside()
            warnings.simplefilter("ignore", ResourceWarning)
        changed = warnings.filters[0][2] is ResourceWarning
    assert changed == often
    assert warnings.filters == before
