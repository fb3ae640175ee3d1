"""Commands that a signal ends at some moment: no torn file, no lost result, no traceback.

A case starts a real command and sends SIGINT, SIGTERM, SIGHUP or SIGKILL: at a random moment of its
life, from its first import on, or exactly between the flush and the rename of a file that it
writes. Only cases in which the signal landed before the end count, as "SIGINT train", say.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

import textreg

SECONDS = 240
MEGABYTES = 2048  # of address space, which the commands inherit the limit of
ALLOWED = ()

STARTER = '''
"""The program as it is installed, which tells a pipe when it begins, and waits before renames."""
import os, sys, time
from importlib.abc import MetaPathFinder

TELL = int(os.environ["KILLS_TELL"])

class Beginning(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "textreg.cli":
            os.write(TELL, b"b")
            sys.meta_path.remove(self)

def waits(call):
    def waiting(*given, **more):
        os.write(TELL, b"r")
        time.sleep(60)
        return call(*given, **more)
    return waiting

if os.environ["KILLS_AT"] == "rename":
    os.replace, os.rename = waits(os.replace), waits(os.rename)
sys.meta_path.insert(0, Beginning())
sys.argv[0] = "textreg"
from textreg.__main__ import run
sys.exit(run())
'''


class Command(NamedTuple):
    """A command line, and the file or folder that it writes; empty for none.

    same: whether the same bytes are written each time. checks: whether what it wrote is complete.
    """

    words: Sequence[str]
    writes: str = ""
    same: bool = True
    checks: Callable[[Path], bool] = lambda path: True


def _is_page(path: Path) -> bool:
    return path.read_text().rstrip().endswith("</html>")


def _is_model(path: Path) -> bool:
    return len(textreg.load(path).predict(["good battery", "bad screen"])) == 2


def _is_json(path: Path) -> bool:
    return isinstance(json.loads(path.read_text()), dict)


FIT = "--ngrams 1 --quiet -o new.textreg"
COMMANDS = {
    "train": Command(f"train train.jsonl --reg lasso {FIT}".split(), "new.textreg"),
    "cv": Command(f"train train.jsonl --reg elastic --cv 3 {FIT}".split(), "new.textreg"),
    "compare": Command(
        "compare train.jsonl --reg lasso,ridge --ngrams 1 --format json -o table".split(),
        "table",
        same=False,
        checks=_is_json,
    ),
    "report": Command(
        "report model.textreg --train train.jsonl -o page.html --quiet".split(),
        "page.html",
        same=False,
        checks=_is_page,
    ),
    "groups": Command("groups train.jsonl --groups sentences -o grouped".split(), "grouped"),
    "predict": Command("predict model.textreg test.jsonl".split()),
    "demo": Command("demo written".split(), "written"),
    "plugins": Command("plugins new tokenizer my-own".split(), "textreg-my-own"),
}
DOCUMENTS = 150
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")

_shared = Path()


def prepare(shared: Path) -> None:
    """What the commands read."""
    global _shared
    _shared = shared
    inputs = shared / "inputs"
    if inputs.exists():
        return
    (shared / "start.py").write_text(STARTER)
    made = shared / "made"
    made.mkdir()
    _finish(["demo", "."], made)
    for name in ("train.jsonl", "test.jsonl"):
        lines = (made / name).read_text().splitlines(keepends=True)
        (made / name).write_text("".join(lines[:DOCUMENTS]))
    _finish(f"train train.jsonl --reg lasso --reg-l1 1 {FIT}".split(), made)
    (made / "new.textreg").rename(made / "model.textreg")
    made.rename(inputs)


def _undisturbed(name: str) -> tuple[Path, float]:
    """What a command writes when nobody disturbs it, and its seconds; done once for all workers."""
    done, command = _shared / f"done-{name}", COMMANDS[name]
    if not done.exists():
        scratch = Path(tempfile.mkdtemp(dir=_shared))
        shutil.copytree(_shared / "inputs", scratch, dirs_exist_ok=True)
        begin = time.monotonic()
        _finish(command.words, scratch)
        (scratch / "seconds").write_text(f"{time.monotonic() - begin}")
        with suppress(OSError):  # another worker was faster
            scratch.rename(done)
    return done / command.writes, float((done / "seconds").read_text())


def case(rng: np.random.Generator, folder: Path) -> str:
    """One command that is ended."""
    name = str(rng.choice(sorted(COMMANDS)))
    number = signal.Signals[str(rng.choice(SIGNALS))]
    command = COMMANDS[name]
    target = folder / command.writes if command.writes else None
    for path in (_shared / "inputs").iterdir():
        (folder / path.name).symlink_to(path)
    was_there = target is not None and "." in target.name and rng.random() < 0.5
    if was_there:
        # A training replaces models only.
        shutil.copyfile(_shared / "inputs" / "model.textreg", target)
    before = target.read_bytes() if was_there else None
    at_rename = target is not None and rng.random() < 0.3
    _, seconds = _undisturbed(name)
    after = None if at_rename else float(rng.uniform(0, seconds))
    code, err, landed = _end(command.words, folder, number, after, rng)
    assert "Traceback" not in err, err
    assert "Exception ignored" not in err, err
    strays = [path.name for path in folder.iterdir() if path.name.startswith(".textreg")]
    assert number == signal.SIGKILL or not strays, strays
    # It died by the signal, was at its end already, or keeps the best model so far.
    assert code == (-number if code else 0), (name, number.name, code, err)
    kept = "Stopping after the present fit" in err  # maybe killed after the model was written
    _check_file(name, folder, before, kept=kept)
    assert code or kept or not target or _is_right(name, target)
    _check_again(name, folder)
    if not landed or (code == 0 and not kept):
        assert not at_rename
        return "too late"
    return f"{number.name} {'at rename' if at_rename else 'somewhere'}"


def _end(
    words: Sequence[str],
    folder: Path,
    number: signal.Signals,
    after: float | None,
    rng: np.random.Generator,
) -> tuple[int, str, bool]:
    """Exit code and messages of a command, and whether the signal came before its end.

    after: seconds after its begin; None for the moment before a file is renamed.
    """
    process, told = _start(words, folder, "rename" if after is None else "")
    try:
        assert os.read(told, 1) == b"b", "the command did not begin"
        if after is None:
            rename = os.read(told, 1)
            assert rename == b"r", "nothing was renamed"
        else:
            time.sleep(after)
        landed = process.poll() is None
        if landed:
            process.send_signal(number)
            if number == signal.SIGINT and after is not None and rng.random() < 0.5:
                time.sleep(rng.uniform(0, 0.3))
                process.send_signal(number)
        _, err = process.communicate(timeout=120)
        _check_children(process.pid)
    finally:
        process.kill()
        os.close(told)
    return process.returncode, err, landed


def _start(words: Sequence[str], folder: Path, at: str) -> tuple[subprocess.Popen[str], int]:
    told, tell = os.pipe()
    environment = {**os.environ, "KILLS_TELL": str(tell), "KILLS_AT": at, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, str(_shared / "start.py"), *words],
        cwd=folder,
        env=environment,
        pass_fds=[tell],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_heed,
    )
    os.close(tell)
    return process, told


def _heed() -> None:
    """Heed all signals, also where those who started the tests had them ignored (nohup, &)."""
    for name in SIGNALS[:3]:
        signal.signal(signal.Signals[name], signal.SIG_DFL)


def _finish(words: Sequence[str], folder: Path) -> str:
    """Run a command to its end, undisturbed."""
    process, told = _start(words, folder, "")
    out, err = process.communicate(timeout=200)
    os.close(told)
    assert process.returncode == 0, (words, out, err)
    return err


def _check_children(group: int) -> None:
    """No process of the command's own group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return
    raise AssertionError("a child of the command is still there")


def _check_file(name: str, folder: Path, before: bytes | None, *, kept: bool) -> None:
    """The output is absent, as before, or complete; kept: a model may be the best so far."""
    target = folder / COMMANDS[name].writes
    if target == folder or not target.exists():
        assert before is None, "the file that was there is gone"
    elif not target.is_file() or target.read_bytes() != before:
        best = kept and target.suffix == ".textreg" and _is_model(target)
        assert best or _is_right(name, target), f"{target.name} is torn"


def _is_right(name: str, target: Path) -> bool:
    """Whether an output is complete: what the undisturbed command wrote."""
    right, _ = _undisturbed(name)
    if not target.is_dir():
        command = COMMANDS[name]
        return target.read_bytes() == right.read_bytes() if command.same else command.checks(target)
    files = {path.relative_to(target) for path in target.rglob("*") if path.is_file()}
    wanted = {path.relative_to(right) for path in right.rglob("*") if path.is_file()}
    strays = {path for path in files if path.name.startswith(".textreg")}
    same = all(
        (target / path).read_bytes() == (right / path).read_bytes() for path in files - strays
    )
    return same and (files - strays == wanted or name == "demo")


def _check_again(name: str, folder: Path) -> None:
    """The same command works afterwards."""
    command = COMMANDS[name]
    target = folder / command.writes
    if name == "plugins" and target.exists():
        return  # refused: it is complete
    _finish(command.words, folder)
    assert not command.writes or _is_right(name, target), f"{target.name} is wrong the second time"
