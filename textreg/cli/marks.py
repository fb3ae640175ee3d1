"""``textreg explain --evidence-col``: agreement of evidence with marked passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click
import numpy as np

from textreg.cli.inputs import Reading, check_named
from textreg.cli.output import print_json, print_table
from textreg.errors import UsageError
from textreg.explain.agreement import rationale_scores
from textreg.explain.marks import Columns, MarkedDocument, marked_document, require_columns
from textreg.explain.removal_table import require_alike
from textreg.measure.rationale_scores import TITLES, Difference, Estimate, RationaleScores
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.records.documents import check_texts
from textreg.terminal import single_line

FEW = 10
"""Documents of which a bootstrap says little."""


class Marks(NamedTuple):
    """The columns of marked passages and sentences, and a model to compare with."""

    evidence_col: str | None
    sentences_col: str | None
    against: str | None

    def check(self, contradicted: bool) -> None:
        """UsageError for options that need others, or contradict some that are given."""
        if self.evidence_col is None:
            for option, value in (
                ("--sentences-col", self.sentences_col),
                ("--against", self.against),
            ):
                if value is not None:
                    raise UsageError(
                        f"{option} needs --evidence-col: name the column of the marked passages as "
                        f"well, or leave out {option}."
                    )
        elif contradicted:
            raise UsageError(
                "--evidence-col measures the agreement with marked passages of a file: leave out "
                "--text, --train and --format."
            )


def print_agreement(  # noqa: PLR0913  # what a command line gives
    name: str,
    model: Model,
    source: str,
    how: Reading,
    marks: Marks,
    of: str | None,
    *,
    as_json: bool,
) -> None:
    """Print the agreement of a model with the marked passages in a file."""
    check_named([source], "explain")
    other = None if marks.against is None else load_model(marks.against)
    if other is not None:
        require_alike({name: model, str(marks.against): other})
    for each in filter(None, (model, other)):
        how.like(each)
    assert marks.evidence_col is not None
    documents = read_marked([source], how, Columns(marks.evidence_col, marks.sentences_col))
    scores = rationale_scores(model, documents, of)
    against = None
    if other is not None:
        against = rationale_scores(other, documents, of, share=scores.rationale_share)
    measures = scores.measures()
    differences = None if against is None else scores.differences(against)
    if as_json:
        print_json(
            {
                "model": name,
                **_facts(scores),
                "measures": _plain(measures),
                **(
                    {}
                    if against is None or differences is None
                    else {
                        "against": marks.against,
                        "measures_against": _plain(against.measures()),
                        "differences": _plain(differences),
                    }
                ),
            }
        )
        return
    click.echo(
        f"{single_line(source)}: marked passages in {len(scores):,} of {len(documents):,} "
        "documents\n"
        f"marked: {scores.marked_sentences:.1%} of the sentences, {scores.marked_tokens:.1%} of "
        "the tokens; the rationale\n"
        f"is the {scores.rationale_share:.1%} of the tokens with the most evidence\n"
    )
    _tell(measures)
    if len(scores) < FEW:
        click.echo("\nintervals of so few documents are too narrow")
    if against is not None and differences is not None:
        click.echo(f"\nless those of {single_line(str(marks.against))}")
        _tell_differences(against.measures(), differences)


def read_marked(files: Sequence[str], how: Reading, columns: Columns) -> list[MarkedDocument]:
    """The documents of files with their passages."""
    documents: list[MarkedDocument] = []
    for batch in how.records(files, full=False):
        corpus = batch.documents
        require_columns(columns, list(batch.columns), ", ".join(files))
        # Rows that were left out have a record as well: each stands before a document.
        before = np.searchsorted(
            np.sort(corpus.skipped.position_of), np.arange(len(corpus)), side="right"
        )
        for number, text in enumerate(check_texts(corpus.texts)):
            record: Mapping[str, Any] = batch.records[number + int(before[number])]
            documents.append(marked_document(text, record, columns, corpus.where(number)))
    return documents


def _facts(scores: RationaleScores) -> dict[str, Any]:
    return {
        "documents": len(scores),
        "left_out": scores.left_out,
        "marked_sentences": scores.marked_sentences,
        "marked_tokens": scores.marked_tokens,
        "rationale_share": scores.rationale_share,
    }


def _plain(values: Mapping[str, Estimate | Difference]) -> dict[str, dict[str, float]]:
    return {key: value._asdict() for key, value in values.items()}


def _tell(measures: Mapping[str, Estimate]) -> None:
    rows: list[Sequence[Any]] = [("", "mean", "95 % CI")]
    rows += [
        (TITLES[key], one.value, f"{one.low:.3f}..{one.high:.3f}") for key, one in measures.items()
    ]
    print_table(rows, right=[False, True, True])


def _tell_differences(
    measures: Mapping[str, Estimate], differences: Mapping[str, Difference]
) -> None:
    rows: list[Sequence[Any]] = [("", "mean there", "difference", "95 % CI", "p")]
    rows += [
        (
            TITLES[key],
            measures[key].value,
            f"{one.value:+.3f}",
            f"{one.low:+.3f}..{one.high:+.3f}",
            f"{one.p:.4f}",
        )
        for key, one in differences.items()
    ]
    print_table(rows, right=[False, True, True, True, True])
