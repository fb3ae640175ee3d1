"""A file of the results of a search, from which it can be resumed.

Every line is a checksum, a space and an entry in JSON. The first entry says what is searched; every
other one has the trials of one chunk of work, or a final fit of documents in blocks, under a key
made of all that they depend on. Lines are only appended; an incomplete last line is dropped.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.files import refuse_special
from textreg.plugins import registry
from textreg.records import Corpus, Solution
from textreg.training.search.trials import Chunk, Start, Trial, Trials

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 1
FIT = ("b", "objective", "gap", "iterations", "converged")
"""What is kept of a final fit beside its weights."""

CHECKSUM = 16
"""Hexadecimal digits of a line's SHA-256 that stand before it."""


class Journal:
    """The trials in a file, to which new ones are appended; threads may share it.

    Parameters
    ----------
    path : path-like
        The file; made if it does not exist.
    about : mapping
        What is searched, JSON-able. A file that is about anything else is refused.

    Raises
    ------
    UsageError
        For another search's file, or one that is no journal or cannot be written.
    DataError
        For a damaged file. In both cases it stays unchanged.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._known: dict[str, Any] = {}
        self._lock = threading.Lock()
        refuse_special(path)
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
            whole = content[: content.rfind(b"\n") + 1]
            if content and not whole:
                raise self._foreign("is no journal of a search")
            header = {"format": FORMAT, **about}
            self._read(whole.splitlines(), json.loads(json.dumps(header)))
            with open(self.path, "ab") as file:
                file.truncate(len(whole))
            if not whole:
                self._add(header)
        except OSError as error:
            raise self._unwritable(error) from None

    def __len__(self) -> int:
        return len(self._known)

    def get(self, chunk: Chunk) -> Trials | None:
        """The trials of a chunk of work; None where they are not there."""
        entry = self._known.get(key_of(chunk))
        if entry is None:
            return None
        try:
            return [[_trial(one, chunk) for one in found] for found in entry["trials"]]
        except (KeyError, TypeError, ValueError, binascii.Error, zlib.error):
            raise self._damaged("an entry") from None

    def put(self, chunk: Chunk, trials: Trials) -> None:
        """Keep the trials of a chunk, if that was not stopped in the middle."""
        if len(trials) == len(chunk.settings):
            listed = [[_entry(trial) for trial in found] for found in trials]
            self._add({"key": key_of(chunk), "trials": listed})

    def fit(self, key: str, p: int) -> Solution | None:
        """The fit with a key, of p features; None where it is not there."""
        entry = self._known.get(key)
        if entry is None:
            return None
        try:
            indices, values = (_unpacked(entry["w"][at], kind) for at, kind in enumerate("id"))
            w = np.zeros(p)
            w[indices] = values
            return Solution(w=w, **entry["fit"])
        except (LookupError, TypeError, ValueError, binascii.Error, zlib.error):
            raise self._damaged("a fit") from None

    def put_fit(self, key: str, solution: Solution) -> None:
        """Keep a fit, if it has converged and there is no more to it than this."""
        if not solution.converged or solution.report or solution.unsmoothed:
            return
        indices = np.flatnonzero(solution.w).astype(np.int32)
        fit = {name: getattr(solution, name) for name in FIT}
        self._add({"key": key, "w": [_packed(indices), _packed(solution.w[indices])], "fit": fit})

    def entry(self, key: str) -> Mapping[str, Any] | None:
        """What was kept with :meth:`put_entry`; None where it is not there."""
        return self._known.get(key)

    def put_entry(self, key: str, content: Mapping[str, Any]) -> None:
        """Keep something else, JSON-able."""
        self._add({"key": key, **content})

    def _add(self, entry: Mapping[str, Any]) -> None:
        payload = json.dumps(entry, separators=(",", ":")).encode()
        try:
            with self._lock, open(self.path, "ab") as file:
                file.write(_checksum(payload) + b" " + payload + b"\n")
        except OSError as error:
            raise self._unwritable(error) from None

    def _read(self, lines: Sequence[bytes], header: Mapping[str, Any]) -> None:
        for number, line in enumerate(lines, 1):
            checksum, _, payload = line.partition(b" ")
            if checksum != _checksum(payload):
                if number == 1:
                    raise self._foreign("is no journal of a search")
                raise self._damaged(f"line {number:,}")
            entry = json.loads(payload)
            if number > 1:
                self._known[entry["key"]] = entry
                continue
            others = [key for key, value in header.items() if entry.get(key) != value]
            if others:
                names = ", ".join(others)
                raise self._foreign(f"is the journal of another search, with other {names}")

    def _unwritable(self, error: OSError) -> UsageError:
        return UsageError(
            f"the journal {self.path} cannot be written: {error.strerror or error}. Name another "
            "file (--resume), or make room."
        )

    def _foreign(self, what: str) -> UsageError:
        return UsageError(f"{self.path} {what}: name another file (--resume), or delete this one.")

    def _damaged(self, where: str) -> DataError:
        return DataError(
            f"{self.path}: {where} is damaged, its checksum is wrong. Delete the file, and the "
            "search begins anew."
        )


def check_files(path: str | os.PathLike[str]) -> None:
    """UsageError if a journal was written with a plugin file that is not there with that content.

    Asked before any file runs. What is no journal at all is for :class:`Journal` to say, but a
    device, which may never end.
    """
    refuse_special(path)
    try:
        with open(path, "rb") as file:
            entry = json.loads(file.readline().partition(b" ")[2])
        used = {part["sha256"] for part in entry["plugins"] if "sha256" in part}
    except (OSError, ValueError, LookupError, TypeError):
        return
    given = {file.sha256: file.path for file in registry.files()}
    if missing := used - given.keys():
        others = ", ".join(f"{name} ({digest})" for digest, name in given.items()) or "none"
        raise UsageError(
            f"the search in {path} used a plugin file with the SHA-256 {min(missing)}. Given: "
            f"{others}, which was not run. Give that file (--plugin), or another journal "
            "(--resume)."
        )


def key_of(chunk: Chunk) -> str:
    """A digest of all that the trials of a chunk depend on."""
    chain = [[type(part).__qualname__, part.params()] for part in chunk.settings]
    found = hashlib.sha256(json.dumps([chunk.fold.digest, chunk.rows, chain]).encode())
    for start in chunk.starts:
        if start is None:
            found.update(b"none")
            continue
        for array in (start.indices, start.values, np.array([start.b])):
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def digest_of(corpora: Iterable[Corpus | None]) -> str:
    """A digest of documents: texts, labels, weights, groups and times."""
    found = hashlib.sha256()
    for corpus in corpora:
        columns: list[Any] = [None] * 5
        if corpus is not None:
            weights = None if corpus.sample_weight is None else corpus.sample_weight.tolist()
            columns = [corpus.texts, corpus.labels, weights, corpus.group_of, corpus.time_of]
        for column in columns:
            listed = None if column is None else list(column)
            found.update(json.dumps(listed, default=str).encode())
    return found.hexdigest()


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(payload).hexdigest()[:CHECKSUM].encode()


def _entry(trial: Trial) -> dict[str, Any]:
    start = None
    if trial.start is not None:
        start = [_packed(trial.start.indices), _packed(trial.start.values), float(trial.start.b)]
    scores, used = _packed(trial.scores), _packed(trial.used)
    return {"scores": scores, "used": used, "start": start, "seconds": trial.seconds}


def _trial(entry: Mapping[str, Any], chunk: Chunk) -> Trial:
    """A trial as it was; ValueError where it does not fit the chunk."""
    n, p = chunk.fold.X_held.shape
    start = None
    if entry["start"] is not None:
        indices, values = (
            _unpacked(it, kind) for it, kind in zip(entry["start"][:2], "if", strict=True)
        )
        start = Start(indices, values, float(entry["start"][2]))
        if len(indices) != len(values) or ((indices < 0) | (indices >= p)).any():
            raise ValueError
    scores, used = _unpacked(entry["scores"], "d"), _unpacked(entry["used"], "B")
    if len(scores) != n or len(used) != -(-p // 8):
        raise ValueError
    return Trial(scores, used, start, float(entry["seconds"]))


def _packed(array: NDArray[Any]) -> str:
    """An array as text, little-endian whatever the machine."""
    small = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(small.tobytes(), 1)).decode("ascii")


def _unpacked(text: str, kind: str) -> NDArray[Any]:
    raw = zlib.decompress(base64.b64decode(text, validate=True))
    return np.frombuffer(raw, dtype=np.dtype(kind).newbyteorder("<")).astype(kind)
