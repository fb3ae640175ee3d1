"""Hostile plugins, by the command line: every one is stopped and named, or does no harm."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from hostile import CLASSES, OPTIONS, Misdeed, catalogue

SECONDS = 60
LIMIT = 40  # seconds of one command
OUTPUT = True  # of the processes that are forked
CATALOGUE = catalogue()
REFERENCE: dict[str, tuple[Any, ...]] = {}
ROWS = [
    {"text": f"{word} {noun} {odd}", "label": label}
    for label, word in (("p", "good"), ("n", "bad"), ("p", "fine fun"), ("n", "poor dull"))
    for noun in ("film", "plot", "cast")
    for odd in ("here", "x1 y2")
]


def prepare(shared: Path) -> None:
    """Models of the right plugins, to compare with, and all imports that forks share."""
    import textreg.cli.plugins
    import textreg.cli.predict
    import textreg.cli.train
    import textreg.training.train  # noqa: F401

    for kind in CLASSES:
        folder = shared / kind
        if not (folder / "model.textreg").exists():
            folder.mkdir(exist_ok=True)
            write(folder, Misdeed(kind, "in_call", "pass", "harmless"))
            code, _, err = run(folder, train(kind))
            assert code == 0, err
        REFERENCE[kind] = content(folder / "model.textreg")


def case(rng: np.random.Generator, folder: Path) -> str:
    """One misdeed and one command."""
    number = int(folder.name)
    misdeed = CATALOGUE[number % len(CATALOGUE)]
    write(folder, misdeed)
    turn = int(rng.integers(10))
    if turn == 0 and misdeed.kind == "tokenizer":
        ended = predicted(folder, misdeed)
    elif turn in (1, 2):
        ended = managed(folder, misdeed, ["list", "check", "doctor"][int(rng.integers(3))])
    else:
        ended = trained(folder, misdeed, as_json=turn > 5)
    return f"{misdeed.expected}, {ended}"


def trained(folder: Path, misdeed: Misdeed, as_json: bool) -> str:
    """A training with it gives the right model, or names it and leaves nothing."""
    before = set(os.listdir(folder))
    words = train(misdeed.kind, as_json)
    code, out, err = run(folder, words, hostile=True)
    what = f"\n{misdeed}\nexit {code}\nstdout: {out[-500:]}\nstderr: {err[-1500:]}"
    new = set(os.listdir(folder)) - before
    assert "Traceback" not in err.partition("Exception in thread")[0], what
    assert code in (0, 1, 2), what
    if code:
        assert new == set(), f"{new}{what}"
        (line,) = [one for one in err.splitlines() if one.startswith("Error: ")] or [""]
        assert "odd.py" in line or "odd" in line.lower(), f"it is not named{what}"
        assert "\x1b" not in line, what
        assert len(line) < 2000, what
        assert misdeed.expected != "harmless", what
        return "stopped"
    assert new == {"model.textreg"}, f"{new}{what}"
    assert misdeed.expected != "stopped", f"it is not stopped{what}"
    if as_json:
        assert json.loads(out)["model"] == "model.textreg", what
    else:
        assert "noise" not in out, what
    found = content(folder / "model.textreg")
    if misdeed.expected == "harmless":
        assert same(found, REFERENCE[misdeed.kind]), f"another model{what}"
        return "harmless"
    assert np.isfinite(found[0]).all(), what
    return "trained as before" if same(found, REFERENCE[misdeed.kind]) else "trained"


def predicted(folder: Path, misdeed: Misdeed) -> str:
    """A model that was made with it before it was hostile predicts the same, or names it."""
    code, _, err = run(folder, train(misdeed.kind))
    assert code == 0, f"{misdeed}: {err}"
    predict = ["--plugin", "odd.py", "predict", "model.textreg", "corpus.jsonl", "--json"]
    right = run(folder, predict)
    code, out, err = run(folder, predict, hostile=True)
    what = f"\n{misdeed}\nexit {code}\nstdout: {out[-500:]}\nstderr: {err[-1500:]}"
    assert "Traceback" not in err.partition("Exception in thread")[0], what
    if code:
        assert (code in (1, 2), "odd" in err, out) == (True, True, ""), what
        assert misdeed.expected != "harmless", what
        return "stopped"
    assert misdeed.expected != "stopped", what
    predictions = json.loads(out)["predictions"]
    assert len(predictions) == len(ROWS), what
    assert misdeed.expected == "either" or out == right[1], what
    return "predicted"


def managed(folder: Path, misdeed: Misdeed, command: str) -> str:
    """What is said about it on standard output is JSON, whatever it does."""
    words = ["--plugin", "odd.py", "plugins", command]
    if command != "list":
        kind = {"penalized": "regularizer", "searched": "regularizer"}.get(misdeed.kind)
        words.append(f"{kind or misdeed.kind}.odd" if command == "check" else "odd")
    code, out, err = run(folder, [*words, "--json"], hostile=True)
    what = f"\n{misdeed} {command}\nexit {code}\nstdout: {out[-500:]}\nstderr: {err[-1500:]}"
    assert "Traceback" not in err.partition("Exception in thread")[0], what
    assert code in (0, 1, 2), what
    if out:
        json.loads(out)
    else:
        assert code, what
        assert "odd" in err, what
    return f"{command} {code}"


def write(folder: Path, misdeed: Misdeed) -> None:
    """The corpus and the plugin."""
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    (folder / "odd.py").write_text(misdeed.file())


def train(kind: str, as_json: bool = False) -> list[str]:
    """The arguments of a training with the part called odd."""
    words = ["--plugin", "odd.py", "train", "corpus.jsonl", "-o", "model.textreg"]
    words += [] if kind == "tokenizer" else ["--tokenizer", "words"]
    words += ["--ngrams", "1", "--jobs", "2", *OPTIONS[kind].split()]
    return [*words, "--json"] if as_json else words


def content(model: Path) -> tuple[Any, ...]:
    """Weights, intercepts, features and labels of a model."""
    from textreg.model.storage import load_model

    found = load_model(model, tokenizer=False)
    return found.weights, found.intercepts, list(found.encoder.vocabulary), list(found.labels)


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two models are equal, bit for bit."""
    arrays = all(np.array_equal(a, b) for a, b in zip(one[:2], other[:2], strict=True))
    return arrays and one[2:] == other[2:]


def run(folder: Path, words: list[str], hostile: bool = False) -> tuple[int, str, str]:
    """Exit code, output and errors of a command, in a fork, which saves all imports."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _be_command(folder, words, hostile)
    end = time.monotonic() + LIMIT
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"{words} takes more than {LIMIT} s")
        time.sleep(0.005)
    out, err = ((folder / name).read_text(errors="replace") for name in ("out", "err"))
    for name in ("out", "err"):
        (folder / name).unlink()
    return os.waitstatus_to_exitcode(status), out, err


def _be_command(folder: Path, words: list[str], hostile: bool) -> None:
    """The rest of this process is the command line, up to its end as Python ends it."""
    import atexit
    import io
    import threading

    code = 99
    end = os._exit
    try:
        os.chdir(folder)
        os.environ.pop("HOSTILE", None)
        if hostile:
            os.environ["HOSTILE"] = "1"
        for number, name, attribute in ((1, "out", "stdout"), (2, "err", "stderr")):
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, number)
            os.close(descriptor)
            raw = io.FileIO(number, "w", closefd=False)
            stream = io.TextIOWrapper(
                io.BufferedWriter(raw), line_buffering=number == 2, errors="backslashreplace"
            )
            setattr(sys, attribute, stream)
            setattr(sys, f"__{attribute}__", stream)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        atexit._clear()

        from textreg.cli import main

        sys.argv = ["textreg", *words]
        code = main()
        threading._shutdown()  # type: ignore[attr-defined]  # as at the end of any program
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BaseException:  # noqa: BLE001  # the parent sees it as a fault
        import traceback

        traceback.print_exc(file=sys.__stderr__)
        sys.__stderr__.flush()
    finally:
        end(code)
