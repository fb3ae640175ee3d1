"""What sentences of a text are worth to several models, and where along a path they are selected.

Tables of several models are written in several formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import UsageError, named_errors
from textreg.explain.contributions import ExplainedBatch, explained_batch, removals_of
from textreg.explain.evidence import Occurrences
from textreg.features.encoder import Encoder, JoinedEncoder, prefixes
from textreg.files import csv_lines
from textreg.model.model import Model, as_model
from textreg.model.regularization_path import SentencePath
from textreg.records import Bools, Int64s
from textreg.records.arrays import row_of
from textreg.records.documents import check_texts
from textreg.terminal import printable, single_line

# The groups of which a sentence of any text is one.
GROUPS = "sentences"


class RemovalColumn(NamedTuple):
    """What one model says of a text.

    Attributes
    ----------
    model : str
        Its name.
    predicted : str
        The predicted label, or labels with commas between them; of a regression, the number.
    removals : tuple of float
        By how much the log-probability of the label falls without each sentence. For models without
        probabilities, by how much the score falls.
    selected : tuple of bool or None
        Whether each sentence has a feature with a weight, so that it would be selected as a group
        of the training. None where groups of the training are not sentences, or their weights are
        sums of parts, which only sentences of the training have.
    log_odds : bool
        Whether the model has probabilities.
    """

    model: str
    predicted: str
    removals: tuple[float, ...]
    selected: tuple[bool, ...] | None
    log_odds: bool


@dataclass(frozen=True)
class RemovalTable:
    """The sentences of a text, and what several models say of each.

    Attributes
    ----------
    text : str
        The text.
    of : str
        The label; empty for a regression.
    spans : tuple of (int, int)
        Where each sentence begins and ends, as offsets of characters.
    columns : tuple of RemovalColumn
        One for each model.
    """

    text: str
    of: str
    spans: tuple[tuple[int, int], ...]
    columns: tuple[RemovalColumn, ...]

    @property
    def sentences(self) -> list[str]:
        """The texts of the sentences, each on one line."""
        return [" ".join(self.text[start:end].split()) for start, end in self.spans]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold, sentence by sentence."""
        sentences = []
        for row, (start, end) in enumerate(self.spans):
            by_model = {}
            for column in self.columns:
                by_model[column.model] = {"removal": column.removals[row]}
                if column.selected is not None:
                    by_model[column.model]["selected"] = column.selected[row]
            sentences.append({"start": start, "end": end, "models": by_model})
        models = [
            {"name": column.model, "label": column.predicted, "log_odds": column.log_odds}
            for column in self.columns
        ]
        return {"text": self.text, "of": self.of, "models": models, "sentences": sentences}


def removal_tables(
    models: Mapping[str, Model], texts: Iterable[Any], of: str | None = None
) -> Iterator[RemovalTable]:
    """Compare what each sentence is worth to several models, text by text.

    Parameters
    ----------
    models : mapping of str to Model
        The models by name, of the same labels, fields and sentences.
    texts : iterable of str
        The documents.
    of : str, optional
        The label that sentences are for or against; by default what the first model predicts, and
        a table for each where it predicts several labels.

    Yields
    ------
    RemovalTable

    Raises
    ------
    UsageError
        If a model is of another task, other labels or fields, splits a text into other sentences,
        or has no character offsets; at once for what no text is needed for, and for one text
        instead of a list.
    """
    if not models or not isinstance(models, Mapping):
        raise UsageError("name at least one model, as in {'mine': model}.")
    require_alike(models)
    first = next(iter(models.values()))
    if of is not None:
        first.task.side(of)
    documents: Any = texts if isinstance(texts, Iterator) else first.encoder.documents(texts)  # type: ignore[arg-type]
    return _tables(models, documents, of)


def _tables(
    models: Mapping[str, Model], texts: Iterable[Any], of: str | None
) -> Iterator[RemovalTable]:
    first, leading = next(iter(models.items()))
    for text in texts:
        with named_errors(first):
            sides = explained_batch(leading, [text], of).sides
        for side in sides.tolist():
            yield _table(models, text, leading.task.side_name(side))


def _table(models: Mapping[str, Model], text: Any, of: str) -> RemovalTable:
    """The table of one text and label; ``of`` is empty for a regression."""
    batches: dict[str, ExplainedBatch] = {}
    for name, model in models.items():
        with named_errors(name):
            batches[name] = explained_batch(model, [text], of or None)
    first, leading = next(iter(batches.items()))
    spans = leading.occurrences.spans
    for name, batch in batches.items():
        if not np.array_equal(batch.occurrences.spans, spans):
            raise UsageError(
                f"{first} and {name} split a text into different sentences ({len(spans)} and "
                f"{len(batch.occurrences.spans)}): name models of the same tokenizer."
            )
    return RemovalTable(
        text=str(leading.texts[0]),
        of=of,
        spans=tuple((int(start), int(end)) for start, end in spans),
        columns=tuple(_column(name, models[name], batch) for name, batch in batches.items()),
    )


def _column(name: str, model: Model, batch: ExplainedBatch) -> RemovalColumn:
    (answer,) = model.task.answers(model.decide(batch.scores))
    return RemovalColumn(
        model=name,
        predicted=model.task.text(answer),
        removals=tuple(removals_of(model, batch).tolist()),
        selected=tuple(_selected(model, batch).tolist()) if _selects(model) else None,
        log_odds=model.has_probabilities,
    )


def _selects(model: Model) -> bool:
    """Whether the weights tell which sentences of any text are selected."""
    summary = model.summary
    if summary is None or summary.groups is None or summary.selected is None or summary.parts:
        return False
    return GROUPS in summary.groups.name.split(",")


def _selected(model: Model, batch: ExplainedBatch) -> Bools:
    """(sentences,) whether a feature with a weight, for whichever label, occurs in each."""
    weighted: Bools = np.asarray(model.weights.any(axis=0))
    selected = np.zeros(len(batch.occurrences.spans), dtype=bool)
    for part in batch.occurrences.parts:
        ids = part.features.ids
        columns = ids if part.encoder.columns is None else part.encoder.column_of[ids]
        known = np.flatnonzero(columns >= 0)
        selected[part.sentence[known[weighted[columns[known] + part.first]]]] = True
    return selected


def require_alike(models: Mapping[str, Model]) -> None:
    """UsageError if a model by name does not answer the question of the first one."""
    first, leading = next(iter(models.items()))
    fields = [(field.name, field.kind) for field in leading.encoder.fields]
    for name, model in models.items():
        if model.task.name != leading.task.name:
            raise UsageError(
                f"{first} is a {leading.task.name} and {name} a {model.task.name}: name models of "
                "one task."
            )
        if other := sorted(set(leading.task.labels).symmetric_difference(model.task.labels)):
            has, lacks = (first, name) if other[0] in leading.task.labels else (name, first)
            raise UsageError(
                f"{has} has the label '{other[0]}' and {lacks} has not: name models of the same "
                "labels."
            )
        if [(field.name, field.kind) for field in model.encoder.fields] != fields:
            raise UsageError(
                f"{first} and {name} have different fields: name models of the same columns."
            )


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
    what = "log-odds" if any(column.log_odds for column in table.columns) else "score"
    return f"{what}{of} lost without each sentence"


def notes_of(table: RemovalTable) -> Iterator[str]:
    """How to read the numbers that differ from the others."""
    plain = [single_line(column.model) for column in table.columns if not column.log_odds]
    if plain and len(plain) < len(table.columns):
        yield f"without probabilities, so the loss is that of the score: {', '.join(plain)}"


def is_selected(column: RemovalColumn, row: int) -> bool:
    """Whether a sentence is known to be selected."""
    return column.selected is not None and column.selected[row]


def marked_rows(table: RemovalTable, plain: str, marked: str) -> Iterator[tuple[str, list[str]]]:
    """Each sentence with its numbers in the form ``plain``, or ``marked`` where it is selected."""
    for row, sentence in enumerate(table.sentences):
        numbers = [
            (marked if is_selected(column, row) else plain).format(f"{column.removals[row]:+.3f}")
            for column in table.columns
        ]
        yield sentence, numbers


def as_csv(tables: Iterable[RemovalTable]) -> Iterator[str]:
    """Lines of CSV: one for each sentence, with two columns for each model.

    The second is empty where it is not known which sentences are selected.
    """
    for number, table in enumerate(tables, start=1):
        if number == 1:
            heads = [
                f"{column.model} {what}"
                for column in table.columns
                for what in ("log-odds" if column.log_odds else "score", "selected")
            ]
            yield from csv_lines([["text", "of", "start", "end", "sentence", *heads]])
        for row, (span, sentence) in enumerate(zip(table.spans, table.sentences, strict=True)):
            cells: list[object] = [number, table.of, *span, sentence]
            for column in table.columns:
                marked = "" if column.selected is None else str(column.selected[row]).lower()
                cells += [column.removals[row], marked]
            yield from csv_lines([cells])


def as_latex(tables: Iterable[RemovalTable]) -> Iterator[str]:
    """A LaTeX table for each text, numbers of selected sentences in bold; needs no package."""
    for table in tables:
        lines = [
            r"\begin{table}",
            rf"\caption{{{_latex(_caption(table))}}}",
            rf"\begin{{tabular}}{{p{{0.6\linewidth}}{'r' * len(table.columns)}}}",
            r"\hline",
            " & ".join(["Sentence", *(_latex(column.model) for column in table.columns)]) + r" \\",
            r"\hline",
        ]
        for sentence, numbers in marked_rows(table, "${}$", r"$\mathbf{{{}}}$"):
            lines.append(" & ".join([_latex(sentence), *numbers]) + r" \\")
        lines += [r"\hline", r"\end{tabular}", r"\end{table}"]
        yield "\n".join(lines) + "\n"


def _latex(text: str) -> str:
    return printable(text).translate(_LATEX)


def as_html(tables: Iterable[RemovalTable]) -> Iterator[str]:
    """An HTML table for each text, numbers of selected sentences in bold."""
    for table in tables:
        heads = "".join(f'<th scope="col">{_html(column.model)}</th>' for column in table.columns)
        lines = [
            "<table>",
            f"<caption>{_html(_caption(table))}</caption>",
            f'<thead><tr><th scope="col">Sentence</th>{heads}</tr></thead>',
            "<tbody>",
        ]
        for sentence, numbers in marked_rows(table, "<td>{}</td>", "<td><strong>{}</strong></td>"):
            lines.append(f'<tr><td dir="auto">{_html(sentence)}</td>{"".join(numbers)}</tr>')
        yield "\n".join([*lines, "</tbody>", "</table>"]) + "\n"


def _html(text: str) -> str:
    return escape(printable(text))


def _caption(table: RemovalTable) -> str:
    title = title_of(table)
    parts = [title[0].upper() + title[1:]]
    if any(column.selected is not None for column in table.columns):
        parts.append("bold: selected, a feature of the sentence has a weight")
    return "; ".join([*parts, *notes_of(table)])


# Writers by the names of their formats.
FORMATS: Mapping[str, Callable[[Iterable[RemovalTable]], Iterator[str]]] = {
    "csv": as_csv,
    "html": as_html,
    "latex": as_latex,
}


def path_sentences(model: Model, texts: Iterable[Any]) -> SentencePath:
    """Find the sentences of documents that are selected at each point of the path of a model.

    A sentence is selected if one of its features has a weight, so that its group would be selected
    if the document were in the training corpus; those of the training corpus can be given as well.
    Of any regularizer these are the sentences that add to a score.

    Parameters
    ----------
    model : Model
        A model that was trained with ``path=True``.
    texts : iterable of str
        The documents.

    Returns
    -------
    SentencePath

    Raises
    ------
    UsageError
        If the model has no path, its documents have several fields, or its tokenizer gives no
        offsets of characters; or for one text instead of a list.

    Examples
    --------
    >>> from textreg import train
    >>> from textreg.explain import path_sentences
    >>> texts = ["It is good. So it is."] * 4 + ["It is. So it is."] * 4
    >>> labels = ["+"] * 4 + ["-"] * 4
    >>> words = {"tokenizer": "words", "ngrams": 1}
    >>> model = train(texts, labels, reg="lasso", path=True, **words)
    >>> path_sentences(model, ["A good day. It is."]).at(model.path.chosen)
    ['A good day.']
    """
    path = as_model(model).path
    if path is None:
        raise UsageError(
            "the model has no regularization path: train it with path=True (--path), which keeps "
            "all models along it."
        )
    if model.encoder.fields:
        raise UsageError(
            "sentences along a path are those of documents of one text, and the documents of this "
            "model have several fields: use coefficients of the path."
        )
    documents = check_texts(texts)
    parts = _with_names(model.encoder.parts, path.names)
    occurrences = Occurrences.of(parts[0] if len(parts) == 1 else JoinedEncoder(parts), documents)
    n_sentences, rows = len(occurrences.spans), path.intercepts.shape[1]
    sentence, feature = _distinct(occurrences, len(path.names))
    squares = path.weights.astype(np.float64).power(2)
    norms = np.zeros((len(path), n_sentences))
    for point in range(len(path)):
        of_features = squares[point * rows : (point + 1) * rows].sum(axis=0)
        norms[point] = np.sqrt(np.bincount(sentence, of_features[feature], n_sentences))
    document_of = row_of(occurrences.document_ptr)
    within = np.arange(n_sentences) - occurrences.document_ptr[document_of] + 1
    pairs = list(zip(document_of.tolist(), occurrences.spans.tolist(), strict=True))
    return SentencePath(
        parameter=path.parameter,
        values=tuple(path.values),
        chosen=path.chosen,
        quantity="norm of the weights in a sentence",
        names=tuple(
            f"document {d + 1}, sentence {number}"
            for d, number in zip(document_of.tolist(), within.tolist(), strict=True)
        ),
        array=norms,
        sentences=tuple(" ".join(documents[d][start:end].split()) for d, (start, end) in pairs),
        documents=tuple(document_of.tolist()),
    )


def _with_names(parts: Sequence[Encoder], names: Sequence[str]) -> list[Encoder]:
    """The encoders of a model with other features, whose joint names are given.

    They find where features occur; their values are not those of the model.
    """
    end, encoders = len(names), list[Encoder]()
    for part, prefix in reversed([*zip(parts, prefixes(parts), strict=True)]):
        start = end
        while start and names[start - 1].startswith(prefix):
            start -= 1
        part_names = [name.removeprefix(prefix) for name in names[start:end]]
        idf = np.ones(len(part_names)) if part.weighting.idf else None
        encoders.insert(0, part.with_names(part_names, idf))
        end = start
    return encoders


def _distinct(occurrences: Occurrences, n_features: int) -> tuple[Int64s, Int64s]:
    """The pairs of a sentence and a feature in it, each once."""
    keys = [
        part.sentence * np.int64(n_features) + (part.features.ids + part.first)
        for part in occurrences.parts
    ]
    pairs = np.unique(np.concatenate(keys))
    return pairs // max(n_features, 1), pairs % max(n_features, 1)
