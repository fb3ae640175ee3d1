"""Plugins that pip has installed, good ones and broken ones, used as a user would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from distributions import FAULTS, SOUND, WRONG_SPANS, Fault, install

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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.target = folder / "site"
        self.corpus = folder / "corpus.jsonl"
        rows = [(f"good fine film {i % 7}", "p") for i in range(20)]
        rows += [(f"bad dull film {i % 5}", "n") for i in range(20)]
        lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
        self.corpus.write_text("\n".join(lines) + "\n")

    @property
    def environment(self) -> dict[str, str]:
        more = {"PYTHONPATH": str(self.target), "XDG_CONFIG_HOME": str(self.folder / "config")}
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


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("installed")
    made = Site(folder)
    distributions = [*SOUND, *(fault.distribution for fault in FAULTS)]
    distributions += [distribution for distribution, _ in WRONG_SPANS]
    install(distributions, folder / "wheels", made.target)
    return made


@pytest.fixture(scope="session")
def answers(site: Site) -> dict[str, tuple[int, str, str]]:
    """What is said of every fault, one after the other in one process, and of a sound plugin."""
    commands = [site.train(fault.options) for fault in FAULTS] + [site.train("--reg slope")]
    names = [fault.distribution.name for fault in FAULTS] + ["acme-slope"]
    return dict(zip(names, site.session(commands), strict=True))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.distribution.name)
def test_faults_are_named(fault: Fault, answers: dict[str, Any]) -> None:
    code, out, err = answers[fault.distribution.name]
    assert code == 1, err
    assert "saved" not in out
    assert re.fullmatch(r"Error: [^\n]+\n", err), err
    assert re.search(fault.says, err[:-1]), err


def test_others_go_on_working(answers: dict[str, Any]) -> None:
    code, out, err = answers["acme-slope"]
    assert (code, err) == (0, "")
    assert "saved model.textreg" in out


def test_wrong_character_offsets(site: Site) -> None:
    commands = []
    for distribution, _ in WRONG_SPANS:
        name = distribution.name.partition("-")[2]
        model = f"{name}.textreg"
        commands += [
            site.train(f"--reg lasso --reg-l1 0.1 --tokenizer {name}", model),
            ["explain", model, "good film"],
        ]
    results = site.session(commands)
    for (_, says), trained, explained in zip(WRONG_SPANS, results[::2], results[1::2], strict=True):
        assert trained[0] == 0, trained
        assert explained[0] == 1
        assert re.fullmatch(r"Error: [^\n]+\n", explained[2]), explained
        assert re.search(says, explained[2])


def test_traceback_of_the_plugin(site: Site) -> None:
    done = site.run(*site.train("--reg raises"), "--debug")
    assert done.returncode == 1
    assert "raise RuntimeError('no licence" in done.stderr
    assert "acme_raises.py" in done.stderr
    code = (
        "import textreg\n"
        "try: textreg.train(['a', 'b'] * 9, ['p', 'n'] * 9, reg='raises')\n"
        "except textreg.TextregError as error:\n"
        "    print(type(error).__name__, '|', type(error.__cause__).__name__, '|', error.cause)\n"
    )
    said = site.python("-c", code).stdout
    assert re.match(r"BrokenPluginError \| RuntimeError \| solve: RuntimeError: no lic", said), said
