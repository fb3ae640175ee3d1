"""Which sources the figures of a page were measured with, and whether they have changed since.

    python -m benchmarks.stamp docs/everyday.md ...   # after its figures were measured
    python -m benchmarks.stamp --check                # of all pages that have a stamp

A stamp is the last line of a page: the date, the commit, and a digest of the code that decides
figures, the solvers, features and search, without comments and messages. --check warns of pages
whose digest is another one than that of the code here; it never fails, as most changes change none.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DECIDING = (
    "_core",
    "solvers",
    "features",
    "builtin",
    "measure",
    "structure",
    "training",
    "text.py",
)
STAMP = re.compile(r"\nFigures of (\S+), commit (\w+), code ([0-9a-f]{12})\.\n+\Z")


def code() -> Iterator[bytes]:
    """The code that decides figures, file by file."""
    for name in DECIDING:
        path = ROOT / "textreg" / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.suffix not in (".py", ".pyx", ".pxd"):
                continue  # what was built from them, or is not code
            text = file.read_text(encoding="utf-8")
            if file.suffix == ".py":
                tree = ast.parse(text)
                for node in ast.walk(tree):
                    if isinstance(node, ast.Constant) and " " in str(node.value):
                        node.value = None  # what people read: docstrings, messages, help
                text = ast.dump(tree)
            else:
                text = re.sub(r"#.*", "", text)
            yield text.encode()


def digest() -> str:
    """Of the code here."""
    return hashlib.sha256(b"\0".join(code())).hexdigest()[:12]


def stamp(page: Path) -> None:
    """Stamp a page whose figures were just measured."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    line = f"Figures of {today}, commit {commit.strip()}, code {digest()}."
    if page.name == "results.md":  # written from a file of results
        results = page.with_suffix(".json")
        content = json.loads(results.read_text(encoding="utf-8"))
        content["machine"]["stamp"] = line
        text = json.dumps(content, indent=1, ensure_ascii=False)
        results.write_text(text + "\n", encoding="utf-8")
        subprocess.run([sys.executable, "-m", "textreg_papers", "--render"], cwd=ROOT, check=True)
        return
    text = STAMP.sub("", page.read_text(encoding="utf-8")).rstrip("\n")
    page.write_text(f"{text}\n\n{line}\n", encoding="utf-8")


def stale(pages: Path) -> Iterator[str]:
    """A line for each stamped page in a folder that was measured with other code."""
    now = digest()
    for page in sorted(pages.glob("*.md")):
        found = STAMP.search(page.read_text(encoding="utf-8"))
        if found is not None and found[3] != now:
            yield (
                f"{page.name}: its figures are of {found[1]}, commit {found[2]}; solvers, features "
                "or search have changed since: measure anew before a release (make results)"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    one = parser.add_mutually_exclusive_group(required=True)
    one.add_argument("pages", nargs="*", default=[], type=Path, help="pages to stamp")
    one.add_argument("--check", action="store_true", help="warn of stale pages in docs/")
    options = parser.parse_args()
    for page in options.pages:
        stamp(page)
    if options.check:
        for line in stale(ROOT / "docs"):
            print(f"warning: {line}")


if __name__ == "__main__":
    main()
