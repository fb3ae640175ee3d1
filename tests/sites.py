"""A folder with installed distributions, and commands of textreg that see them."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

# One process for many commands: that it goes on after each of them is what is to be shown.
SESSION = """
import contextlib, io, json, sys, traceback
from textreg.cli import main
for arguments in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except BaseException:
            code = -1
            traceback.print_exc()
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""

# Such a process is a fork of one that has imported NumPy and SciPy, and nothing of textreg: half of
# the time of a start goes there.
FORKS = """
import io, json, os, sys, traceback
import numpy, scipy.sparse
for line in sys.stdin:
    folder, target, environment, commands, results, code = json.loads(line)
    process = os.fork()
    if process == 0:
        try:
            os.chdir(folder)
            os.environ.update(environment)
            sys.path.insert(1, target)
            sys.dont_write_bytecode = True
            os.dup2(os.open(results, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            sys.stdin = io.StringIO(json.dumps(commands))
            exec(code, {"__name__": "__main__"})
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.waitpid(process, 0)
    print(flush=True)
"""


@cache
def forks() -> subprocess.Popen[str]:
    """The process whose forks run sessions, until the tests end."""
    command = [sys.executable, "-c", FORKS]
    made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(made.communicate)
    return made


class Site:
    """A folder with installed distributions, and commands that see them."""

    def __init__(self, folder: Path, target: str = "site") -> None:
        self.folder = folder
        self.target = folder / target
        self.corpus = folder / "corpus.jsonl"
        rows = [(f"good fine film {i % 7}", "p") for i in range(20)]
        rows += [(f"bad dull film {i % 5}", "n") for i in range(20)]
        lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
        self.corpus.write_text("\n".join(lines) + "\n")

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(self.target), os.environ.get("PYTHONPATH")]))
        more = {"PYTHONPATH": path, "XDG_CONFIG_HOME": str(self.folder / "config")}
        return {**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """One command, in a process of its own."""
        return self.python("-m", "textreg", *arguments, **more)

    def python(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            env={**self.environment, **more},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def session(self, commands: Sequence[Sequence[str]]) -> list[tuple[int, str, str]]:
        """Code, output and errors of several commands, in one process."""
        if not hasattr(os, "fork"):
            words = [sys.executable, "-c", SESSION]
            given = {"input": json.dumps(commands), "env": self.environment, "cwd": self.folder}
            done = subprocess.run(words, **given, capture_output=True, text=True, check=True)
            return [tuple(json.loads(line)) for line in done.stdout.splitlines()]
        results = self.folder.with_suffix(".results")  # beside it: some tests look what is in there
        places = [str(self.folder), str(self.target)]
        asked = [*places, self.environment, commands, str(results), SESSION]
        process = forks()
        assert process.stdin is not None
        assert process.stdout is not None
        print(json.dumps(asked), file=process.stdin, flush=True)
        assert process.stdout.readline() == "\n", "the process that is forked has ended"
        found = [tuple(json.loads(line)) for line in results.read_text("utf-8").splitlines()]
        assert len(found) == len(commands)
        return found

    def train(self, options: str, model: str = "model.textreg") -> list[str]:
        """The arguments of a quick training."""
        return ["train", str(self.corpus), "--ngrams", "1", *options.split(), "-o", model]
