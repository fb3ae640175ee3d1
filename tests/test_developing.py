"""What docs/developing.md shows works: its examples pass the contract checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_documents import CHECKOUT, blocks

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "tour.md").is_file(), reason="textreg is not installed from a checkout"
)


def test_examples(tmp_path: Path) -> None:
    code = "\n".join(blocks("docs/developing.md", "python"))
    script = tmp_path / "examples.py"
    script.write_text(code, encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    solution, labels = done.stdout.splitlines()
    assert solution.startswith("<Solution: ")
    assert ", converged after " in solution
    assert labels == "['ham', 'spam']"
