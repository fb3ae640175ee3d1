"""A folder with installed distributions, and commands of textreg that see them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
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
        done = subprocess.run(
            [sys.executable, "-c", SESSION],
            input=json.dumps(commands),
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return [tuple(json.loads(line)) for line in done.stdout.splitlines()]

    def train(self, options: str, model: str = "model.textreg") -> list[str]:
        """The arguments of a quick training."""
        return ["train", str(self.corpus), "--ngrams", "1", *options.split(), "-o", model]
