"""Exported models beside the models, on whole corpora: the largest differences, and sizes.

    python -m benchmarks.exports --data DIR [--corpora trec ...] [--limit N] [--explain 200]

Every corpus trains a lasso with words, pairs of them and characters, whose exports answer for all
of its documents: Python in a process without packages (python -I -S), JavaScript in Node. The
columns are the largest differences of a score, of a probability, and of a number in an explanation
(of the first documents only, and "other" where a label, an offset or a feature is another), seconds
to answer, and sizes of the model file and of the exports.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import textreg
from benchmarks.corpora import FOLDERS, read
from textreg.model.model import Model
from textreg_export.description import export
from textreg_export.formats import JavaScriptExporter, JsonExporter, PythonExporter

CORPORA = {"20news": "20news", **FOLDERS, "nsmc": "nsmc"}
DEFAULT = ("20news", "trec", "goemotions", "chnsenticorp", "nsmc", "masakhane-yor")
MOST = 20_000
"""Documents of a corpus without a split that are taken."""

PYTHON = """
import json, runpy, sys
model = runpy.run_path(sys.argv[1])
told = {"answers": [], "explanations": []}
for number, text in enumerate(json.load(open(sys.argv[2]))):
    told["answers"].append([model["scores"](text), model["predict"](text)])
    if number < int(sys.argv[3]):
        told["explanations"].append(model["explain"](text))
json.dump(told, sys.stdout)
"""
JAVASCRIPT = """
import { readFileSync, writeSync } from "node:fs";
const model = await import(process.argv[2]);
const told = { answers: [], explanations: [] };
JSON.parse(readFileSync(process.argv[3], "utf-8")).forEach((text, number) => {
  told.answers.push([model.scores(text), model.predict(text)]);
  if (number < Number(process.argv[4])) told.explanations.push(model.explain(text));
});
process.stdout.write(JSON.stringify(told));
"""
HEAD = (
    *("corpus", "documents", "features", "exported", "score", "label", "explained", "in these"),
    *("seconds", "model KB", "export KB"),
)


def documents(data: Path, name: str, limit: int) -> tuple[list[str], list[Any], list[str]]:
    """Texts and labels to train on, and all texts to compare answers for."""
    folder = data / CORPORA[name]
    files = [folder / f"{part}.jsonl.gz" for part in ("train", "dev", "test", "all")]
    parts = [read(path) for path in files if path.is_file()]
    if len(parts) == 1:
        parts[0] = parts[0][:: max(1, len(parts[0]) // MOST)]
    labels = [row["labels"] if "labels" in row else row["label"] for row in parts[0]]
    every = [row["text"] for part in parts for row in part]
    return [row["text"] for row in parts[0]], labels, every[:limit]


def in_characters(explanation: Any) -> Any:
    """Offsets of JavaScript, where some characters count as two, as those of Python."""
    text = explanation["text"]
    place = [at for at, c in enumerate(text) for _ in range(1 + (ord(c) > 0xFFFF))] + [len(text)]
    for one in (*explanation["sentences"], *explanation["words"]):
        one["start"], one["end"] = place[one["start"]], place[one["end"]]
    return explanation


def difference(one: Any, other: Any) -> float:
    """The largest difference of numbers; infinite where anything else differs."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((difference(one[key], other[key]) for key in one), default=0.0)
    lists = isinstance(one, (list, tuple)) and isinstance(other, (list, tuple))
    if lists and len(one) == len(other):
        return max((difference(*pair) for pair in zip(one, other, strict=True)), default=0.0)
    return 0.0 if one == other else float("inf")


def asked(command: list[object]) -> tuple[Any, float]:
    """What a program prints as JSON, and the seconds that it takes."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, check=True)
    return json.loads(done.stdout), time.perf_counter() - start


def rows_of(
    name: str, model: Model, texts: list[str], explain: int, folder: Path
) -> list[tuple[str, ...]]:
    """The rows of the table of one corpus: Python and JavaScript."""
    model.save(folder / "model.textreg")
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "ask.mjs").write_text(JAVASCRIPT)
    (folder / "model.py").write_bytes(export(model, PythonExporter()))
    (folder / "model.mjs").write_bytes(export(model, JavaScriptExporter()))
    table = model.task.as_table(model.decision_function(texts))
    labels = model.predict(texts)
    found = [next(textreg.explain.explain(model, [text])) for text in texts[:explain]]
    explanations = [one.to_dict() for one in found]
    commands: dict[str, list[object]] = {
        "py": [sys.executable, "-I", "-S", "-c", PYTHON, folder / "model.py"],
        "mjs": ["node", folder / "ask.mjs", folder / "model.mjs"],
    }
    rows = []
    for ending, command in commands.items():
        told, seconds = asked([*command, folder / "texts.json", explain])
        scores, answers = zip(*told["answers"], strict=True)
        wrong = sum(one != other for one, other in zip(answers, labels, strict=True))
        others = told["explanations"]
        if ending == "mjs":
            others = [in_characters(one) for one in others]
        most = difference(explanations, others)
        rows.append(
            (
                name,
                f"{len(texts):,}",
                f"{model.n_features:,}",
                ending,
                f"{np.abs(np.array(scores) - table).max():.0e}",
                f"{wrong} other" if wrong else "all the same",
                f"{len(others)}",
                "other" if most == float("inf") else f"{most:.0e}",
                f"{seconds:.0f}",
                f"{(folder / 'model.textreg').stat().st_size / 1000:,.0f}",
                f"{(folder / f'model.{ending}').stat().st_size / 1000:,.0f}",
            )
        )
    rows.append(
        ("", "", "", "json", *[""] * 6, f"{len(export(model, JsonExporter())) / 1000:,.0f}")
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", nargs="+", choices=sorted(CORPORA), default=DEFAULT)
    parser.add_argument("--limit", type=int, default=10**9, help="documents to answer for")
    parser.add_argument("--explain", type=int, default=200, help="documents to explain")
    parser.add_argument("--tokenizer", default="words,chars")
    parser.add_argument("--weighting", default="unit-idf")
    parser.add_argument("--l1", type=float, default=2.0)
    given = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
    for name in given.corpora:
        texts, labels, every = documents(given.data, name, given.limit)
        options = {"tokenizer": given.tokenizer, "weighting": given.weighting}
        model = textreg.train(texts, labels, reg="lasso", reg_l1=given.l1, min_df=2, **options)
        with tempfile.TemporaryDirectory() as folder:
            for row in rows_of(name, model, every, given.explain, Path(folder)):
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
