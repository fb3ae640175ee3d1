"""Write the page on which a model runs in the reader's browser; the documentation calls it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import textreg
from textreg.demo import write_demo
from textreg.model.model import Model
from textreg.reading.corpus import read_corpus
from textreg_export.description import export
from textreg_export.formats import JavaScriptExporter

TEXT = (
    "The box arrived on a Friday. I would buy it again, and everybody here loves it. "
    "Only the strap is a little short."
)

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A model in the browser</title>
<style>
:root { color-scheme: light dark; --for: 0, 114, 178; --against: 213, 94, 0; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 1rem auto; padding: 0 1rem; }
textarea { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; }
#text { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid gray; padding: .5rem; }
#text u { text-decoration-thickness: 2px; text-underline-offset: .25em; }
mark { color: inherit; background: none; }
td, th { text-align: left; padding: 0 1rem 0 0; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<label for="input">Write a review of something you have bought:</label>
<textarea id="input" rows="4">TEXT</textarea>
<p aria-live="polite"><b id="answer"></b></p>
<p id="text" dir="auto" aria-label="The review, its words colored by their contributions"></p>
<p>Blue words speak for the label and orange ones against it; the sentence with the strongest
evidence is underlined.</p>
<table>
<thead><tr><th scope="col">sentence</th><th scope="col">words</th><th scope="col">without it</th>
<th scope="col">evidence</th></tr></thead>
<tbody id="sentences"></tbody>
</table>
<script type="module">
MODULE
const at = (id) => document.getElementById(id);

/** The text in parts, which begin or end where a word does, with the sums of their values. */
function parts({ text, words, sentences }) {
  const cuts = new Set([0, text.length]);
  for (const { start, end } of [...words, ...sentences]) cuts.add(start).add(end);
  const places = [...cuts].sort((one, other) => one - other);
  return places.slice(1).map((end, n) => {
    const start = places[n];
    const over = words.filter((word) => word.start <= start && word.end >= end);
    return { start, end, value: over.reduce((sum, word) => sum + word.value, 0) };
  });
}

function show() {
  const found = explain(at("input").value);
  const chance = found.probabilities[found.label];
  at("answer").textContent = `${found.label}, with a probability of ${chance.toFixed(3)}`;
  const pieces = parts(found);
  const most = Math.max(...pieces.map((piece) => Math.abs(piece.value)), 1e-9);
  const best = found.sentences.reduce((one, other) => (other.evidence > one.evidence ? other : one),
    { start: 0, end: 0, evidence: 0 });
  at("text").replaceChildren(...pieces.map(({ start, end, value }) => {
    const mark = document.createElement(value ? "mark" : "span");
    mark.textContent = found.text.slice(start, end);
    if (value) {
      const strength = 0.1 + 0.5 * Math.abs(value) / most;
      mark.style.background = `rgba(var(${value > 0 ? "--for" : "--against"}), ${strength})`;
      mark.title = value.toFixed(4);
      mark.dataset.value = value;
    }
    if (start < best.start || end > best.end) return mark;
    const line = document.createElement("u");
    line.append(mark);
    return line;
  }));
  at("sentences").replaceChildren(...found.sentences.map((one) => {
    const row = document.createElement("tr");
    const numbers = [one.value, one.removal, one.evidence].map((value) => value.toFixed(3));
    for (const cell of [found.text.slice(one.start, one.end), ...numbers])
      row.insertCell().textContent = cell;
    return row;
  }));
}

at("input").addEventListener("input", show);
show();
</script>
</body>
</html>
"""


def train() -> Model:
    """A small model of the demo corpus."""
    with tempfile.TemporaryDirectory() as folder:
        write_demo(folder)
        corpus = read_corpus([f"{folder}/train.jsonl"])
    return textreg.train(
        corpus.texts, corpus.labels or (), reg="lasso", reg_l1=1.0, tokenizer="words"
    )


def write(folder: Path, model: Model | None = None) -> Path:
    """Write the page of a model, by default that of the demo corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    module = export(model or train(), JavaScriptExporter()).decode()
    page = folder / "page.html"
    page.write_text(PAGE.replace("MODULE", module).replace("TEXT", TEXT), encoding="utf-8")
    return page
