"""How the process ends: exit codes and signals, with streams that are closed, full or not read."""

from __future__ import annotations

import errno
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import Cli
from thoroughness import thorough

import textreg
from textreg.files import write_atomically
from textreg.interrupts import end_by
from textreg.isolation import blaming

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and shells of POSIX")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exits") / "model.textreg"
    textreg.train(["good film", "bad film"] * 10, ["p", "n"] * 10, reg="lasso", reg_l1=0.1).save(
        path
    )
    return path


def shell(script: str) -> subprocess.CompletedProcess[str]:
    """A line of bash, where ``textreg`` is the command under test."""
    start = f'set -o pipefail; textreg() {{ {shlex.quote(sys.executable)} -m textreg "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", start + script], capture_output=True, text=True, check=False, timeout=120
    )


def test_closed_standard_output(model: Path) -> None:
    done = shell(f"textreg show {model} >&-")
    assert done.returncode == 1
    assert re.fullmatch(r"Error: Bad file descriptor. [^\n]*closed[^\n]*\n", done.stderr)


def test_closed_standard_error(model: Path, tmp_path: Path) -> None:
    done = shell(f"textreg show {model} 2>&-")
    assert (done.returncode, done.stdout[:5]) == (0, "model")
    assert shell("textreg show nowhere.textreg 2>&-").returncode == 2
    # What is opened next must not be where messages go.
    plain = tmp_path / "texts.txt"
    plain.write_text("good film\n")
    assert shell(f"textreg predict {model} {plain} 2>&- <&-").stdout == "p\n"
    assert plain.read_text() == "good film\n"


def test_closed_standard_input(model: Path) -> None:
    done = shell(f"textreg predict {model} <&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"Error: [^\n]*Bad file descriptor[^\n]*\n", done.stderr)


def test_all_closed(model: Path) -> None:
    assert shell(f"textreg show {model} <&- >&- 2>&-").returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_full_devices(model: Path) -> None:
    done = shell(f"textreg show {model} >/dev/full")
    assert done.returncode == 1
    assert re.fullmatch(r"Error: No space left on device. [^\n]*\n", done.stderr)
    assert shell("textreg show nowhere.textreg 2>/dev/full").returncode == 2


@pytest.mark.parametrize(
    "name",
    [
        *("/dev/stdout", "link", "run.log"),
        *map(thorough, ("/dev/fd/1", "/dev/stderr")),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/fd/1"), reason="there is no /dev/fd here")
def test_standard_streams_are_no_files_to_write(model: Path, tmp_path: Path, name: str) -> None:
    """Descriptor 1 is moved, and /dev/stdout was the log: its lines were lost, with exit code 0."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    (tmp_path / "texts.txt").write_text("good film\n")
    run = f"textreg predict {model} texts.txt -o {name} --format csv"
    done = shell(f"cd {tmp_path}; echo before >run.log; {run} >out.csv 2>>run.log")
    assert done.returncode == 2
    assert (tmp_path / "out.csv").read_text() == ""
    log = (tmp_path / "run.log").read_text()
    assert re.fullmatch(rf"before\nError: {name} is not a regular file: [^\n]*\n", log)
    python = f"{shlex.quote(sys.executable)} -c"
    code = (
        "import pathlib, textreg.files as f; f.write_atomically(pathlib.Path('/dev/stdout'), b'x')"
    )
    assert shell(f"cd {tmp_path}; {python} {shlex.quote(code)} >file").returncode == 1


def test_nobody_reads(model: Path) -> None:
    # Unbuffered, because otherwise all of a short output is in the pipe before head ends.
    done = shell(f"PYTHONUNBUFFERED=1 textreg show {model} | true; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_nobody_reads_explanations(model: Path) -> None:
    texts = "yes 'a good film' | head -n 9999"
    done = shell(f"{texts} | textreg explain {model} - | true; echo ${{PIPESTATUS[2]}}")
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_ctrl_c_ends_a_loop_of_the_shell(model: Path) -> None:
    # bash goes on with a loop if the program catches SIGINT and exits by itself.
    python = f"{shlex.quote(sys.executable)} -c"
    code = "import os, signal; from textreg.interrupts import end_by; end_by(signal.SIGINT)"
    done = shell(f"for i in 1 2 3; do {python} {shlex.quote(code)}; echo $?; done")
    assert done.stdout.split()[:1] in ([], ["130"])
    assert done.returncode == -signal.SIGINT or done.stdout.split() == ["130"] * 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE])
def test_end_by(number: signal.Signals) -> None:
    code = f"from textreg.interrupts import end_by; end_by({number.value})"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (-number, b"", b"")
    assert callable(end_by)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_no_temporary_file_stays_behind(tmp_path: Path, name: str) -> None:
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from textreg.files import write_atomically\n"
        f"os.fsync = lambda number: os.kill(os.getpid(), signal.{name})\n"
        "write_atomically(Path(sys.argv[1]), b'new')\n"
    )
    if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        pytest.skip("the tests run under nohup, and so does what they start")
    target = tmp_path / "file"
    target.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", code, target], check=False, capture_output=True)
    assert done.returncode == -getattr(signal, name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_bytes() == b"old"


def test_handlers_of_others_stay(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    write_atomically(tmp_path / "file", b"new")
    assert before == [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]


def test_a_signal_during_imports_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "textreg", "--help"],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize(
    "raised", [KeyError("x"), RecursionError("deep"), GeneratorExit(), SystemExit(3), OSError("o")]
)
def test_a_fault_of_textreg(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise raised

    monkeypatch.setattr("textreg.model.storage.load_model", fail)
    done = cli("show", model)
    assert (done.code, done.out) == (70, "")
    said = f"Error: {type(raised).__name__}"
    assert re.fullmatch(rf"{said}[^\n]* fault of textreg[^\n]* --debug [^\n]*\n", done.err)
    assert f"Python {platform.python_version()}" in done.err
    assert textreg.__version__ in done.err
    loud = cli("show", model, "--debug")
    assert (loud.code, loud.err.startswith("Traceback"), done.err in loud.err) == (70, True, True)


UNMAPPED = ImportError("/x/y.so: failed to map segment from shared object")


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        (RuntimeError("can't start new thread"), "too many threads. .*--jobs 1"),
        (OSError(errno.EMFILE, "Too many open files"), "too many open files. .*ulimit -n"),
        (UNMAPPED, "out of memory. .*--jobs 1"),
    ],
)
def test_limits_of_the_system_are_no_fault_of_textreg(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception, says: str
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise raised

    with pytest.raises(type(raised)), blaming(str, "solve", str, own=True):
        fail()
    monkeypatch.setattr("textreg.model.storage.load_model", fail)
    done = cli("show", model)
    assert (done.code, done.out) == (1, "")
    assert re.fullmatch(f"Error: {says}[^\n]*\n", done.err)


def test_no_thread_can_be_started(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some.jsonl").write_text(
        "".join(
            f'{{"label": "{label}", "text": "a {label} film {n}"}}\n'
            for n in range(30)
            for label in ("good", "bad")
        )
    )

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", start)
    done = cli("train", tmp_path / "some.jsonl", "--jobs", "2", "-o", tmp_path / "m.textreg")
    assert done.code == 1
    assert re.fullmatch("Error: too many threads[^\n]*\n", done.err)


def test_too_few_files_to_start(model: Path) -> None:
    for files in (5, 6):  # during the imports of the program, and of a command
        done = shell(f"ulimit -n {files}; textreg predict {model} {model}")
        assert done.returncode == 1
        assert re.fullmatch(r"Error: [^\n]*oo many open files[^\n]*ulimit -n[^\n]*\n", done.stderr)


def test_advice_on_memory_is_that_of_the_command(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise MemoryError("Unable to allocate 4.66 GiB")

    monkeypatch.setattr("textreg.model.storage.load_model", fail)
    monkeypatch.setattr("textreg.reading.corpus.read_corpus", fail)
    shown, trained = cli("show", model), cli("train", model.parent)
    assert (shown.code, trained.code) == (1, 1)
    assert "--min-label" not in shown.err
    assert "fewer features (--max-features 100000) or fewer labels (--min-label 5)" in trained.err
    assert trained.err.startswith("Error: out of memory (Unable to allocate 4.66 GiB). Use ")
