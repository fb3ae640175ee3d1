"""Directives for pages: rows of a table of another page, a document with its evidence, BibTeX.

Figures that a benchmark wrote into one page are shown on others without being copied by hand, and
the document is one that a model, trained when the pages are built, explains.
"""

from __future__ import annotations

import re
import tempfile
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import textreg
from textreg.demo import write_demo
from textreg.explain.contributions import Explanation, SentenceScore, text_parts
from textreg.reading.corpus import read_corpus

REVIEW = (
    "I bought this kettle a few days ago for making tea before work. The spout is fantastic, to be "
    "fair. But our neighbour hates it, and so do I. It weighs a little more than I had thought. It "
    "is bad, and a waste of money. My husband asked me where I had bought it."
)
STYLE = """\
.evidence { --for: 0, 114, 178; --against: 213, 94, 0; margin: 1.5rem 0;
  border: 1px solid var(--color-background-border);
  border-radius: .5rem; padding: .5rem 1rem; background: var(--color-background-secondary); }
.evidence p { margin: .25rem 0; }
.evidence ol { list-style: none; margin: .5rem 0; padding: 0; }
.evidence li { display: grid; grid-template-columns: 3rem 3.5rem 1fr; gap: .75rem; }
.evidence .bar { height: .6rem; border-radius: .2rem; margin-top: .5em; }
.evidence .value { text-align: right; font-variant-numeric: tabular-nums; }
.evidence mark { color: inherit; border-radius: .15rem; }
.evidence small { opacity: .85; }
.readers ul { list-style: none; padding: 0; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); }
.readers li { border: 1px solid var(--color-background-border); border-radius: .5rem;
  padding: .5rem 1rem; margin: 0; }
.highlight-console pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.preview { box-sizing: border-box; width: 100%; height: 40rem; border: 1px solid gray;
  border-radius: 8px; }
"""
LEAST = 0.05
"""Contributions below it are not colored."""


def cells(line: str) -> list[str]:
    """The cells of one row of a table in Markdown."""
    return [cell.strip() for cell in line.strip().strip("|").split(" |")]


def row_of(page: str, first: str, columns: list[str]) -> list[str]:
    """What a row that begins with ``first`` has in some columns, by their titles.

    Raises
    ------
    ValueError
        If no table with these columns has such a row.
    """
    titles: list[str] = []
    before = ""
    for line in page.splitlines():
        if not line.startswith("|"):
            titles = []
        elif not titles:
            titles = cells(line)
        elif cells(line)[0] == first and set(columns) <= set(titles):
            found = dict(zip(reversed(titles), reversed(cells(line)), strict=False))
            return [found[column].replace(" (one run)", "").replace("**", "") for column in columns]
        before = line
    raise ValueError(f"no table has a row {first!r} with the columns {columns}; last: {before!r}")


class Quoted(SphinxDirective):
    """``{quoted} PAGE``: rows of its tables, each named by its first cell, or "shown = cell"."""

    required_arguments = 1
    has_content = True
    option_spec = {"columns": directives.unchanged_required, "titles": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """The rows as one table."""
        path = Path(self.env.srcdir, self.arguments[0])
        self.env.note_dependency(str(path))
        page = path.read_text(encoding="utf-8")
        columns = [column.strip() for column in self.options["columns"].split(",")]
        titles = self.options.get("titles", ",".join(["", *columns])).split(",")
        lines = [titles, ["---", *("---:" for _ in columns)]]
        for line in self.content:
            shown, _, first = line.rpartition(" = ")
            try:
                lines.append([shown or first, *row_of(page, first.strip(), columns)])
            except ValueError as error:
                raise self.error(f"{self.arguments[0]}: {error}") from error
        return self.parse_text_to_nodes("\n".join("|" + " | ".join(line) + " |" for line in lines))


class Bibtex(SphinxDirective):
    """``{bibtex} KEY ...``: entries of references.bib, as they are written."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The entries as one block of code."""
        path = Path(self.env.srcdir, "references.bib")
        self.env.note_dependency(str(path))
        entries = []
        for key in self.arguments[0].split():
            found = re.search(rf"^@\w+{{{key},$.*?^}}$", path.read_text("utf-8"), re.M | re.S)
            if found is None:
                raise self.error(f"references.bib has no entry {key}")
            entries.append(found[0])
        text = "\n\n".join(entries)
        return [nodes.literal_block(text, text, language="bibtex")]


def explained() -> Explanation:
    """The review, explained by a model of the demo corpus."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = read_corpus([str(write_demo(folder).train)])
    model = textreg.train(corpus.texts, corpus.labels or (), reg="sentence", tokenizer="words")
    return model.explain(REVIEW)


def sentence_html(
    explanation: Explanation, sentence: SentenceScore, parts: list[tuple[int, int, float]]
) -> str:
    """A sentence with its bar and its words, colored where they speak for or against the label."""
    shown = ""
    most = max(abs(value) for *_, value in parts)
    for begin, stop, value in parts:
        start, end = max(begin, sentence.start), min(stop, sentence.end)
        if start < end:
            text = escape(explanation.text[start:end])
            if abs(value) >= LEAST:
                color, share = ("--for" if value > 0 else "--against"), abs(value) / most
                style = f"background: rgba(var({color}), {0.1 + 0.4 * share:.2f})"
                text = f'<mark style="{style}" title="{value:+.2f}">{text}</mark>'
            shown += text
    width = abs(sentence.value) / max(abs(each.value) for each in explanation.sentences)
    color = "--for" if sentence.value > 0 else "--against"
    bar = f'<div class="bar" style="width: {width:.0%}; background: rgb(var({color}))"></div>'
    value = f'<span class="value">{sentence.value:+.2f}</span>'
    return f"<li><div>{bar}</div>{value}<span>{shown.strip()}</span></li>"


class Document(SphinxDirective):
    """``{document}``: a review, its evidence by sentence and by word."""

    def run(self) -> list[nodes.Node]:
        """The review as HTML; a builder of another kind shows nothing."""
        found = explained()
        parts = list(text_parts(found))
        rows = "".join(sentence_html(found, each, parts) for each in found.sentences)
        label = escape(found.label)
        html = (
            f'<div class="evidence"><p><b>{label}</b>, with a probability of '
            f"{found.probabilities[found.label]:.3f}</p><ol>{rows}</ol>"
            f"<p><small>Blue words speak for <b>{label}</b>, orange words against it. The number "
            "of a sentence is the sum over its words; all of them and the intercept "
            f"({found.intercept:+.2f}) add up exactly to the score, {found.score:+.2f}."
            "</small></p></div>"
        )
        return [nodes.raw("", html, format="html")]


def write_style(app: Any) -> None:
    """The style of both, beside the other files of the site."""
    if app.builder.format == "html":
        folder = Path(app.outdir, "_static")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "quoted.css").write_text(STYLE, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Make the directives known."""
    app.add_directive("quoted", Quoted)
    app.add_directive("document", Document)
    app.add_directive("bibtex", Bibtex)
    app.add_css_file("quoted.css")
    app.connect("build-finished", lambda app, _: write_style(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
