"""Where a model comes from: its parts, the files of its documents, and what was added to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PartOrigin:
    """Where a part of the training came from.

    Attributes
    ----------
    kind, name : str
        What it is, such as "regularizer", and its name.
    distribution, version : str
        The installed distribution that it is part of; empty for a class that a program registered.
    api : int
        Version of the plugin interface that it was made for.
    file, sha256 : str
        Path and SHA-256 digest of a plugin that is one file; empty for others.
    """

    kind: str
    name: str
    distribution: str
    version: str
    api: int
    file: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class SourceSummary:
    """The files of a training, and how they were read.

    Attributes
    ----------
    files, dev, unlabeled : tuple of str
        Paths as they were given, relative to the folder where the command ran.
    reading : dict of str to Any
        Options for reading them, by their names, such as "label_col". Columns that were guessed
        are among them.
    """

    files: tuple[str, ...]
    dev: tuple[str, ...]
    unlabeled: tuple[str, ...]
    reading: dict[str, Any]


@dataclass(frozen=True)
class UpdateSummary:
    """Documents that were added to a model after its training.

    Attributes
    ----------
    date : str
        The day, as an ISO date.
    documents : int
        Number of documents that were added.
    old : int or None
        Number of documents that were read again; None where the fit is approximate, as none was.
    labels : tuple of str
        Labels that the model did not have.
    features : int
        Features that the training had before.
    added : int
        Features that it did not have before. Where no document was read again, those of the new
        documents that had no weight.
    files : tuple of str
        Paths of the files that were added, as they were given; none in Python.
    """

    date: str
    documents: int
    old: int | None
    labels: tuple[str, ...]
    features: int
    added: int
    files: tuple[str, ...] = ()
