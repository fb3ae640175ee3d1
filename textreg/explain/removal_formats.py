"""Tables of removed sentences for papers, pages and spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape

from textreg.explain.removal_table import RemovalColumn, RemovalTable
from textreg.terminal import printable, single_line

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        # At the beginning of a row, the end of the row before it would take these as its options.
        "[": "{[}",
        "*": "{*}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


def title_of(table: RemovalTable) -> str:
    """What the numbers of a table are."""
    of = f" of {single_line(table.of)}" if table.of else ""
    what = "log-odds" if any(one.log_odds for one in table.columns) else "score"
    return f"{what}{of} lost without each sentence"


def notes_of(table: RemovalTable) -> Iterator[str]:
    """How to read the numbers that differ from the others."""
    plain = [single_line(one.model) for one in table.columns if not one.log_odds]
    if plain and len(plain) < len(table.columns):
        yield f"without probabilities, so the loss is that of the score: {', '.join(plain)}"


def is_selected(column: RemovalColumn, row: int) -> bool:
    """Whether a sentence is known to be selected."""
    return column.selected is not None and column.selected[row]


def as_csv(tables: Iterable[RemovalTable]) -> Iterator[str]:
    """Lines of CSV: one for each sentence, with two columns for each model.

    The second is empty where it is not known which sentences are selected.
    """
    for number, table in enumerate(tables, start=1):
        if number == 1:
            heads = [
                f"{one.model} {what}"
                for one in table.columns
                for what in ("log-odds" if one.log_odds else "score", "selected")
            ]
            yield _csv_line(["text", "of", "start", "end", "sentence", *heads])
        for row, ((start, end), sentence) in enumerate(
            zip(table.spans, table.sentences, strict=True)
        ):
            cells: list[object] = [number, table.of, start, end, sentence]
            for one in table.columns:
                marked = "" if one.selected is None else str(one.selected[row]).lower()
                cells += [one.removals[row], marked]
            yield _csv_line(cells)


def _csv_line(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def as_latex(tables: Iterable[RemovalTable]) -> Iterator[str]:
    """A LaTeX table for each text, numbers of selected sentences in bold; needs no package."""
    for table in tables:
        lines = [
            r"\begin{table}",
            rf"\caption{{{_latex(_caption(table))}}}",
            rf"\begin{{tabular}}{{p{{0.6\linewidth}}{'r' * len(table.columns)}}}",
            r"\hline",
            " & ".join(["Sentence", *(_latex(one.model) for one in table.columns)]) + r" \\",
            r"\hline",
        ]
        for row, sentence in enumerate(table.sentences):
            cells = [_latex(sentence)]
            for one in table.columns:
                number = f"{one.removals[row]:+.3f}"
                cells.append(rf"$\mathbf{{{number}}}$" if is_selected(one, row) else f"${number}$")
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\hline", r"\end{tabular}", r"\end{table}"]
        yield "\n".join(lines) + "\n"


def _latex(text: str) -> str:
    return printable(text).translate(_LATEX)


def as_html(tables: Iterable[RemovalTable]) -> Iterator[str]:
    """An HTML table for each text, numbers of selected sentences in bold."""
    for table in tables:
        heads = "".join(f'<th scope="col">{_html(one.model)}</th>' for one in table.columns)
        lines = [
            "<table>",
            f"<caption>{_html(_caption(table))}</caption>",
            f'<thead><tr><th scope="col">Sentence</th>{heads}</tr></thead>',
            "<tbody>",
        ]
        for row, sentence in enumerate(table.sentences):
            cells = [f'<td dir="auto">{_html(sentence)}</td>']
            for one in table.columns:
                number = f"{one.removals[row]:+.3f}"
                if is_selected(one, row):
                    number = f"<strong>{number}</strong>"
                cells.append(f"<td>{number}</td>")
            lines.append(f"<tr>{''.join(cells)}</tr>")
        yield "\n".join([*lines, "</tbody>", "</table>"]) + "\n"


def _html(text: str) -> str:
    return escape(printable(text))


def _caption(table: RemovalTable) -> str:
    title = title_of(table)
    parts = [title[0].upper() + title[1:]]
    if any(one.selected is not None for one in table.columns):
        parts.append("bold: selected, a feature of the sentence has a weight")
    return "; ".join([*parts, *notes_of(table)])


FORMATS: Mapping[str, Callable[[Iterable[RemovalTable]], Iterator[str]]] = {
    "csv": as_csv,
    "html": as_html,
    "latex": as_latex,
}
"""Writers by the names of their formats."""
