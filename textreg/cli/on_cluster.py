"""Options for a Dask cluster, and answers that its workers compute."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from textreg.cli.shared import F, gathered
from textreg.errors import UsageError
from textreg.jobs import check_backend
from textreg.reading.corpus import RecordBatch
from textreg.reading.paths import listed

if TYPE_CHECKING:
    from textreg.cli.inputs import Reading
    from textreg.cluster.connection import Connection
    from textreg.model.model import Model
    from textreg.records import Corpus, Floats


class Backend(NamedTuple):
    """Where documents are read and scored: here, or by the workers of a Dask cluster."""

    backend: str
    address: str | None

    def check(self) -> None:
        """UsageError for options that do not go together."""
        check_backend(self.backend, self.address)

    @contextmanager
    def connected(self) -> Iterator[Connection | None]:
        """The workers; None without a cluster."""
        self.check()
        if self.address is None:
            yield None
            return
        from textreg.cluster.connection import connected

        with connected(self.address) as connection:
            connection.check([])
            yield connection


def on_cluster(command: F) -> F:
    """Give a command the options; it takes them as ``where``, a :class:`Backend`."""
    options = [
        click.option(
            "--backend",
            type=click.Choice(["threads", "dask"]),
            default="threads",
            show_default=True,
            help="Where files are read and scored: here, or by the workers of a Dask cluster.",
        ),
        click.option(
            "--address", metavar="URL", help="Dask scheduler, such as tcp://10.0.0.5:8786."
        ),
    ]
    return gathered(Backend, "where", *options)(command)


def records_on_workers(
    connection: Connection, model: Model, how: Reading, files: Sequence[str], *, records: bool
) -> Iterator[RecordBatch]:
    """The rows of files with their scores, which workers read and compute, a file at a time.

    records: whether the fields of the rows are wanted.
    """
    from textreg.cluster.features import same

    paths = _paths(files)
    sent = connection.submit(same, model)
    columns: dict[str, object] = {}
    made = (connection.submit(scored_file, sent, how, path, name, records) for name, path in paths)
    for batches in connection.results(made):
        for batch, remedy in batches:
            columns |= batch.columns
            yield batch._replace(columns=dict(columns), remedy=lambda remedy=remedy: remedy)


def _paths(files: Sequence[str]) -> list[tuple[str, str]]:
    """The files and folders to read, each with its path on all machines."""
    if "-" in files:
        raise UsageError("workers cannot read standard input: name files that they can read.")
    return [(name, os.path.abspath(name)) for name in listed(files)]


def scored_file(
    model: Model, how: Reading, path: str, name: str, records: bool
) -> list[tuple[RecordBatch, str]]:
    """The rows of a file with their scores, and how to read others, by a worker."""
    from textreg.cluster.files import check_found, skipped_under

    check_found(path, name)
    made = []
    for batch in how.records([path], full=True):
        documents = batch.documents
        scores = model.decision_function(documents.texts) if len(documents) else None
        told = replace(
            documents,
            texts=[""] * len(documents),
            skipped=skipped_under(documents.skipped, path, name),
        )
        rows = batch.records if records else []
        made.append((RecordBatch(told, rows, batch.columns, scores=scores), batch.remedy()))
    return made


def scores_on_workers(model: Model, corpus: Corpus) -> Floats:
    """The scores of documents whose texts lie on workers, (documents, labels)."""
    from textreg.cluster.features import same
    from textreg.cluster.texts import ClusterTexts

    texts = corpus.texts
    assert isinstance(texts, ClusterTexts)
    connection = texts.connection
    sent = connection.submit(same, model)
    parts = connection.results(
        connection.submit(scored_texts, sent, piece)
        for _, _, pieces in texts.blocks()
        for piece in pieces
    )
    return np.concatenate(list(parts))


def scored_texts(model: Model, texts: Sequence[str]) -> Floats:
    """The scores of texts, by a worker."""
    return model.decision_function(texts)
