"""The core without the distributions beside it, and the lines that install these, with no index."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import textreg
from textreg.plugins.distributions import SATELLITES

CHECKOUT = Path(textreg.__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "plugins").is_dir() or sys.platform == "win32",
    reason="textreg is not installed from a checkout, or there are no symbolic links",
)
OFFLINE = ["--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]


class Alone:
    """A place where all that is installed here is found, but for the satellites."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.packages = folder, folder / "packages"
        self.packages.mkdir()
        ours = {name.replace("-", "_") for name in SATELLITES}
        (installed,) = {Path(str(metadata.distribution(name)._path)).parent for name in ("click",)}  # type: ignore[attr-defined]
        for path in installed.iterdir():
            owner = re.sub(r"-\d.*", "", path.name).replace("-", "_")
            if path.suffix != ".pth" and owner not in {*ours, "textreg"}:
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

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Python with these packages, and no others that are installed."""
        return subprocess.run(
            [sys.executable, "-S", *words],
            env={**os.environ, "PYTHONPATH": str(self.packages)},
            cwd=self.checkout,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    return Alone(tmp_path_factory.mktemp("alone"))


def test_the_core_does_its_work(alone: Alone) -> None:
    for command in (
        "demo demo",
        "check demo/train.jsonl",
        "train demo/train.jsonl --reg lasso --reg-l1 0.5 --tokenizer words --memory 1GB -o m",
        "train demo/train.jsonl --reg lasso --reg-l1 0.5 --tokenizer words -o m",
        "predict m demo/test.jsonl",
        "evaluate m demo/test.jsonl",
        "explain m --text superb",
        "show m",
        "plugins list",
    ):
        done = alone.run("-m", "textreg", *command.split())
        assert (done.returncode, done.stderr) == (0, ""), command


@pytest.mark.parametrize(
    ("command", "owner"),
    [
        ("report m", "textreg-report"),
        ("compare demo/train.jsonl", "textreg-report"),
        ("learn-curve demo/train.jsonl", "textreg-report"),
        ("export m", "textreg-export"),
        ("plugins new loss mine", "textreg-testing"),
        ("train demo/train.jsonl --reg latent", "textreg-latent"),
        ("train demo/train.jsonl --reg pcr", "textreg-papers"),
        ("groups demo/train.jsonl --groups lda", "textreg-topics"),
        ("train demo/train.jsonl --memory 1GB --backend dask:tcp://127.0.0.1:1", "textreg-dask"),
        ("train demo/train.jsonl --backend dask:tcp://127.0.0.1:1", "textreg-dask"),
        ("predict m demo/test.jsonl --backend dask:tcp://127.0.0.1:1", "textreg-dask"),
        ("evaluate m demo/test.jsonl --backend dask:tcp://127.0.0.1:1", "textreg-dask"),
    ],
)
def test_what_is_missing_is_named_with_its_line(alone: Alone, command: str, owner: str) -> None:
    done = alone.run("-m", "textreg", *command.split())
    assert (done.returncode, done.stdout) == (2, "")
    extra = f"pip install 'textreg[{owner.removeprefix('textreg-')}]'"
    line = f"pip install ./plugins/{owner}" if owner == "textreg-report" else extra
    assert (
        re.fullmatch(
            rf"Error: the [\w ]+ '[\w.-]+' is in {owner}, which is not installed. Run: (.*)\n",
            done.stderr,
        )[1]
        == line
    )  # type: ignore[index]


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
