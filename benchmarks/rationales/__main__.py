"""Agreement of evidence with the passages that people marked, for several methods and rules.

    python -m benchmarks.rationales --data DIR [--methods ridge lasso] [--parts methods rules]

Measures the methods on the test documents of DIR/rationales/movies, and the rules that could define
the evidence of a sentence by cross-validation on its training documents. Adds each to results.json
as soon as it is measured, and writes the tables of docs/evidence.md from that. --methods measures
some again, with those that all are compared with, and keeps the others. --quick tries all on a few
documents and writes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.performance.__main__ import parser_of
from benchmarks.performance.page import machine, written
from benchmarks.rationales.corpus import FOLDER
from benchmarks.rationales.measure import agreement, line_of, rules
from benchmarks.rationales.methods import METHODS
from benchmarks.rationales.page import put

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parent.parent.parent / "docs" / "evidence.md"
PARTS = ("methods", "rules")
QUICK = 60


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("rationales", __doc__)
    names = [method.name for method in METHODS]
    parser.add_argument("--methods", nargs="+", choices=names, help="methods to measure [all]")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure [both]"
    )
    parser.add_argument("--quick", action="store_true", help="try all on a few documents")
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON to write")
    parser.add_argument("--page", type=Path, default=PAGE, help="page that has the tables")
    parser.add_argument("--render", action="store_true", help="write the tables and stop")
    parser.add_argument("--check", action="store_true", help="check the tables and stop")
    options = parser.parse_args(arguments)
    if options.check or options.render:
        return render(options.results, options.page, check=options.check)
    if options.data is None or not (options.data / FOLDER).is_dir():
        parser.error(f"name the folder that holds {FOLDER}: --data DIR, or TEXTREG_DATA")
    most = QUICK if options.quick else None
    if "methods" in options.parts:
        chosen = [one for one in METHODS if not options.methods or one.name in options.methods]
        for name, entry in agreement(options.data, chosen, most):
            print(line_of(name, entry), flush=True)
            _keep(options, "methods", name, entry)
    if "rules" in options.parts:
        for kind, entry in rules(options.data, most):
            shown = {rule: f"{own['measures'][1]:.4f}" for rule, own in entry.items()}
            print(kind, shown, flush=True)
            _keep(options, "rules", kind, entry)
    return 0 if options.quick else render(options.results, options.page, check=False)


def _keep(options: argparse.Namespace, part: str, name: str, entry: dict[str, Any]) -> None:
    """Add what was measured to the file of results, unless it was only tried."""
    if options.quick:
        return
    known: dict[str, Any] = {}
    if options.results.exists():
        known = json.loads(options.results.read_text(encoding="utf-8"))
    known.setdefault(part, {})[name] = entry
    known |= {"machine": machine(), "date": datetime.date.today().isoformat()}
    text = json.dumps(_rounded(known), indent=1)
    options.results.write_text(text + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    """The same with five digits of every fraction."""
    if isinstance(value, dict):
        return {key: _rounded(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_rounded(own) for own in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def render(results: Path, page: Path, *, check: bool) -> int:
    """Write the tables into the page, or only check that they are current."""
    current = put(page.read_text(encoding="utf-8"), json.loads(results.read_text(encoding="utf-8")))
    return written(page, current, results.name, "benchmarks.rationales", check=check)


if __name__ == "__main__":
    sys.exit(main())
