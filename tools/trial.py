"""Run in the environment of an installed wheel: the demo, predictions, and where it came from.

    python trial.py OUTPUT

textreg must be the one of this environment's packages. The answers of the demo's model go to the
file OUTPUT.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import sysconfig
from pathlib import Path

COMMANDS = (
    "demo demo",
    "train demo/train.jsonl --reg sentence -o demo/model.textreg",
    "evaluate demo/model.textreg demo/test.jsonl",
    "show demo/model.textreg",
)


def main(output: str) -> None:
    """Import every kernel, run the demo in the working folder, and write its predictions."""
    import textreg

    home, packages = Path(textreg.__file__).parent, Path(sysconfig.get_path("platlib"))
    assert home == packages / "textreg", f"{home} is not in {packages}"
    kernels = [path for path in (home / "_core").iterdir() if path.suffix in {".so", ".pyd"}]
    assert len(kernels) > 20, kernels
    for kernel in sorted(kernels):
        importlib.import_module(f"textreg._core.{kernel.name.partition('.')[0]}")
    for command in COMMANDS:
        textreg_command(command)
    answers = textreg_command("predict demo/model.textreg demo/test.jsonl")
    assert len(answers.splitlines()) > 100, answers
    Path(output).write_text(answers, encoding="utf-8")
    model = textreg.load("demo/model.textreg")
    assert model.predict(["It broke after a week."]) is not None
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled(), "a module has enabled the GIL again"  # type: ignore[attr-defined]
        print("the GIL stayed off")


def textreg_command(line: str) -> str:
    """The output of a command, as a user would call it."""
    program = Path(sysconfig.get_path("scripts")) / "textreg"
    done = subprocess.run([program, *line.split()], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"textreg {line} exits with {done.returncode}:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
