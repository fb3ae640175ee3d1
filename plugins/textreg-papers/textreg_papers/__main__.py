"""The papers' tables and figures on the corpora at hand, beside the published numbers.

    python -m textreg_papers --data DIR          # DIR holds tasks/NAME/{train,dev,test}.jsonl.gz

Measures every task of DIR by the papers' own protocol and with textreg's defaults, writes the
results to docs/results.json, and from that docs/results.md and its pictures. It needs the builders
of textreg-topics, textreg-gow and textreg-embeddings: `make results` installs them. Results are
saved after each task; --tasks, --protocols and --methods measure some again and keep the others.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from textreg.errors import TextregError, UsageError, alternatives
from textreg.files import write_atomically
from textreg.training.settings import TrainingSettings
from textreg_papers.page import machine, page, pictures
from textreg_papers.protocols import CANDIDATES, Documents, measure, print_words
from textreg_report.charts import check_picture


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m textreg_papers", description=(__doc__ or "").splitlines()[0]
    )
    data = os.environ.get("TEXTREG_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=data and Path(data) / "data",
        help="folder that holds tasks/ [default: $TEXTREG_DATA/data]",
    )
    parser.add_argument("--tasks", help="names, separated by commas [default: all]")
    parser.add_argument(
        "--protocols", help="of " + ", ".join(CANDIDATES) + "; separated by commas [default: all]"
    )
    parser.add_argument("--methods", help="methods, separated by commas [default: all]")
    parser.add_argument(
        "--jobs", type=int, default=-1, help="fits in parallel [default: one per core]"
    )
    parser.add_argument(
        "--docs", type=Path, default=Path("docs"), help="folder of results.md [default: docs]"
    )
    parser.add_argument("--results", type=Path, help="JSON to write [default: beside results.md]")
    parser.add_argument(
        "--render", action="store_true", help="write the page from --results and stop"
    )
    parser.add_argument(
        "--check", action="store_true", help="check that the page matches --results and stop"
    )
    parser.add_argument(
        "--words",
        action="store_true",
        help="show what the way to find words changes on the tasks, and stop",
    )
    args = parser.parse_args(arguments)
    args.results = args.results or args.docs / "results.json"
    try:
        if args.check or args.render:
            return _render(args.results, args.docs, check=args.check)
        return _run(args)
    except TextregError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2


def _run(args: argparse.Namespace) -> int:
    """Measure the tasks, one after the other, and write the page."""
    files = sorted(args.data.glob("tasks/*/train.*")) if args.data else []
    folders = {path.parent.name: path.parent for path in files}
    if not folders:
        raise UsageError(
            f"{args.data} holds no tasks/NAME/train.*: give a folder that does with --data."
        )
    if not args.docs.is_dir():
        raise UsageError(f"{args.docs} is not a folder: give the folder of results.md with --docs.")
    chosen = _names(args.tasks, folders, "task")
    if args.words:
        for name in chosen:
            print_words(Documents(folders[name]))
        return 0
    protocols = _names(args.protocols, CANDIDATES, "protocol")
    known = dict.fromkeys(name for each in CANDIDATES.values() for name in each())
    methods = _names(args.methods, known, "method") if args.methods else None
    for protocol in protocols:  # fail now, not after an hour, if a plugin is not installed
        for name, options in CANDIDATES[protocol]().items():
            if methods is None or name in methods:
                TrainingSettings.from_options(**options)
    check_picture(args.docs / "results.svg")
    results: dict[str, Any] = {"tasks": {}}
    if args.results.exists():
        results = json.loads(args.results.read_text(encoding="utf-8"))
    results["machine"] = machine()
    for name in chosen:
        start = time.perf_counter()
        previous = results["tasks"].get(name)
        results["tasks"][name] = measure(
            folders[name], protocols, methods, previous=previous, jobs=args.jobs, tell=_tell
        )
        _tell(f"{name}: {time.perf_counter() - start:.0f} s")
        text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
        write_atomically(args.results, text.encode())
    return _render(args.results, args.docs, check=False)


def _names(text: str | None, known: Iterable[str], kind: str) -> list[str]:
    """Names separated by commas, or all of them; UsageError if one is unknown."""
    known = list(known)
    names = text.split(",") if text else known
    for name in names:
        if name not in known:
            raise UsageError(f"no {kind} '{name}'.{alternatives(name, known)}")
    return names


def _tell(line: str) -> None:
    print(line, flush=True)


def _render(results: Path, docs: Path, *, check: bool) -> int:
    """Write the page and its pictures, or only check that the page is current."""
    if not results.exists():
        raise UsageError(f"{results} does not exist: measure something first.")
    content = json.loads(results.read_text(encoding="utf-8"))
    text, target = page(content), docs / "results.md"
    if not check:
        write_atomically(target, text.encode())
        pictures(content, docs / "pictures")
        return 0
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        print(
            f"{target} does not match {results.name}: run python -m textreg_papers --render.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
