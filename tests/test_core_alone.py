"""The core without the distributions beside it, or without most packages that it needs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

import pytest
from sites import SESSION

import textreg
from textreg.plugins.distributions import SATELLITES

CHECKOUT = Path(textreg.__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "plugins").is_dir() or sys.platform == "win32",
    reason="textreg is not installed from a checkout, or there are no symbolic links",
)
OFFLINE = ["--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]


class Alone:
    """A place where all that is installed here is found, or ``only`` that, but no satellites."""

    def __init__(self, folder: Path, only: Sequence[str] = ()) -> None:
        self.folder, self.packages = folder, folder / "packages"
        self.packages.mkdir()
        ours = {name.replace("-", "_") for name in SATELLITES}
        (installed,) = {Path(str(metadata.distribution(name)._path)).parent for name in ("click",)}  # type: ignore[attr-defined]
        for path in installed.iterdir():
            owner = re.sub(r"-\d.*", "", path.name).replace("-", "_")
            wanted = owner in only if only else owner not in {*ours, "textreg"}
            if path.suffix != ".pth" and wanted:
                (self.packages / path.name).symlink_to(path)
        info = Path(str(metadata.distribution("textreg")._path))  # type: ignore[attr-defined]
        shutil.copytree(info, self.packages / info.name)
        # As if it came from a checkout that lies here, whose folders pip may write to.
        self.checkout = folder / "check out"
        shutil.copytree(
            CHECKOUT / "plugins" / "textreg-report",
            self.checkout / "plugins" / "textreg-report",
            ignore=shutil.ignore_patterns("*.egg-info", "build"),
        )
        url = {"url": self.checkout.as_uri(), "dir_info": {}}
        (self.packages / info.name / "direct_url.json").write_text(json.dumps(url))
        (self.packages / "textreg").symlink_to(CHECKOUT / "textreg")

    def run(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Python with these packages, and no others that are installed; ``given``: its input."""
        return subprocess.run(
            [sys.executable, "-S", *words],
            input=given,
            env={**os.environ, "PYTHONPATH": str(self.packages)},
            cwd=self.checkout,
            capture_output=True,
            text=True,
            check=False,
        )

    def session(self, commands: Iterable[str]) -> list[tuple[int, str, str]]:
        """Code, output and errors of commands of textreg, in one process."""
        done = self.run("-c", SESSION, given=json.dumps([line.split() for line in commands]))
        assert done.returncode == 0, done.stderr
        return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    return Alone(tmp_path_factory.mktemp("alone"))


def test_the_core_does_its_work(alone: Alone) -> None:
    commands = (
        "demo demo",
        "check demo/train.jsonl",
        "train demo/train.jsonl --reg lasso --reg-l1 0.5 --tokenizer words --memory 1GB -o m",
        "predict m demo/test.jsonl",
        "evaluate m demo/test.jsonl",
        "explain m --text superb",
        "show m",
        "plugins list",
    )
    for command, (code, _, err) in zip(commands, alone.session(commands), strict=True):
        assert (code, err) == (0, ""), command


LIGHT = ("numpy", "numpy.libs", "click", "pluggy", "tomli")
"""What predictions need: docs/serving.md."""

MODELS = {
    "two": {"reg": "lasso", "reg_l1": 0.1},
    "many": {"reg": "ridge", "reg_l2": 0.1, "multiclass": "softmax"},
    "isotonic": {"reg": "sentence", "reg_group": 0.1, "reg_l1": 0.1, "calibrate": "isotonic"},
    "path": {"reg": "lasso", "path": True, "cv": 2},
    "sets": {"reg": "lasso", "reg_l1": 0.1},
    "numbers": {"reg": "ridge", "reg_l2": 0.1, "task": "regression"},
}
ANSWER = """
import json, sys, textreg
for path in sys.argv[1:]:
    model = textreg.load(path)
    texts = ["A good film. It came on a Monday.", "bad"]
    chances = model.predict_proba(texts).tolist() if model.has_probabilities else None
    explained = [model.explain(text).to_dict() for text in texts]
    print(json.dumps([model.predict(texts), chances, explained]))
"""


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """The packages of a light install, beside models that are named as in MODELS."""
    light = Alone(tmp_path_factory.mktemp("light"), LIGHT)
    texts = ["A good film. It is long.", "A bad film. We left.", "A film. It came on time."] * 20
    labels = {
        "two": ["pos", "neg", "pos"] * 20,
        "many": ["pos", "neg", "none"] * 20,
        "sets": [["pos"], ["neg", "left"], ["left"]] * 20,
        "numbers": [3.5, 1.0, 2.0] * 20,
    }
    for name, settings in MODELS.items():
        own = labels.get(name, labels["two"])
        textreg.train(texts, own, **settings).save(light.checkout / name)
        rows = (
            json.dumps({"text": text, "label": it}) for text, it in zip(texts, own, strict=True)
        )
        (light.checkout / f"{name}.jsonl").write_text("\n".join(rows))
    (light.checkout / "texts.csv").write_text("text\nA good film. It is long.\nbad\n")
    return light


def test_models_answer_alike_without_scipy_and_scikit_learn(light: Alone) -> None:
    names = list(MODELS)
    assert light.run("-c", "import scipy").returncode == 1
    done = light.run("-c", ANSWER, *names)
    here = subprocess.run(
        [sys.executable, "-c", ANSWER, *names],
        cwd=light.checkout,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == here.stdout
    assert done.stdout.count("\n") == len(MODELS)
    told = light.run("-m", "textreg", "show", "path", "--path").stderr
    assert (
        told == "Error: the path of path needs SciPy, which is not installed: pip install textreg\n"
    )


def test_the_shell_predicts_evaluates_and_explains_without_them(light: Alone) -> None:
    commands = [
        line
        for name in MODELS
        for line in (
            f"predict {name} texts.csv",
            f"explain {name} texts.csv",
            f"show {name}",
            f"evaluate {name} {name}.jsonl",
            f"predict {name} texts.csv -o {name}.csv",
        )
        if line != "evaluate sets sets.jsonl"
    ]
    for words, (code, out, err) in zip(commands, light.session(commands), strict=True):
        assert (code, err) == (0, ""), words
        assert out, words
    assert all((light.checkout / f"{name}.csv").is_file() for name in MODELS)


@pytest.mark.parametrize("line", ["train two.jsonl", "evaluate sets sets.jsonl"])
def test_what_a_light_install_lacks_is_named(light: Alone, line: str) -> None:
    done = light.run("-m", "textreg", *line.split())
    assert done.returncode == 2
    told = done.stderr.splitlines()[-1]
    what = rf"Error: {line.split()[0]} needs \w+, which is not installed"
    assert re.fullmatch(rf"{what}. Run: pip install textreg", told)


def test_a_check_without_its_extra_says_what_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ftfy", None)
    monkeypatch.setitem(sys.modules, "datasketch", None)
    texts = ["A film.", "A film!", "CafÃ©"] * 10
    result = textreg.check(texts, ["a", "b", "c"] * 10)
    extra = "is not installed: pip install 'textreg[check]'"
    assert result.whys[f"ftfy {extra}"] == ["encoding"]
    assert result.whys[f"datasketch {extra}"] == ["near-duplicates"]
    assert result.find("encoding") is None
    assert result.find("duplicates") is not None
    against = textreg.check(texts, against=(texts, None))
    assert against.whys[f"datasketch {extra}"] == ["near-duplicates", "near-overlap"]


MISSING = {
    "report m": "textreg-report",
    "compare demo/train.jsonl": "textreg-report",
    "learn-curve demo/train.jsonl": "textreg-report",
    "export m": "textreg-export",
    "plugins new loss mine": "textreg-testing",
    "train demo/train.jsonl --reg latent": "textreg-latent",
    "train demo/train.jsonl --reg pcr": "textreg-papers",
    "groups demo/train.jsonl --groups lda": "textreg-topics",
    "train demo/train.jsonl --memory 1GB --backend dask:tcp://127.0.0.1:1": "textreg-dask",
    "train demo/train.jsonl --backend dask:tcp://127.0.0.1:1": "textreg-dask",
    "predict m demo/test.jsonl --backend dask:tcp://127.0.0.1:1": "textreg-dask",
    "evaluate m demo/test.jsonl --backend dask:tcp://127.0.0.1:1": "textreg-dask",
}
"""Commands, and the distribution that each of them needs."""


def test_what_is_missing_is_named_with_its_line(alone: Alone) -> None:
    for command, (code, out, err) in zip(MISSING, alone.session(MISSING), strict=True):
        assert (code, out) == (2, ""), command
        owner = MISSING[command]
        extra = f"pip install 'textreg[{owner.removeprefix('textreg-')}]'"
        line = f"pip install ./plugins/{owner}" if owner == "textreg-report" else extra
        missing = rf"the [\w ]+ '[\w.-]+' is in {owner}, which is not installed"
        told = re.fullmatch(rf"Error: {missing}. Run: (.*)\n", err)
        assert told, err
        assert told[1] == line


@pytest.mark.thorough
def test_the_lines_work(alone: Alone) -> None:
    """From a checkout the folder, and the extra where there is a wheel; then the command works."""
    told = alone.run("-m", "textreg", "report", "m").stderr
    pip, install, folder = shlex.split(told.rpartition("Run: ")[2])
    assert (pip, install) == ("pip", "install")
    built = alone.run("-m", "pip", "wheel", *OFFLINE, "--no-deps", "-w", "wheels", folder)
    assert built.returncode == 0, built.stderr
    extra = alone.run(
        *("-m", "pip", "install", "--no-index", "--find-links", "wheels", "--dry-run"),
        *("--disable-pip-version-check", "textreg[report]"),
    )
    assert extra.returncode == 0, extra.stderr
    assert "Would install textreg-report-" in extra.stdout
    into = ["--no-deps", "--target", str(alone.packages)]
    done = alone.run("-m", "pip", install, *OFFLINE, *into, folder)
    assert done.returncode == 0, done.stderr
    usage = alone.run("-m", "textreg", "report", "--help")
    assert (usage.returncode, usage.stderr) == (0, "")
    assert usage.stdout.startswith("Usage: ")
