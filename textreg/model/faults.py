"""What is wrong inside a model file, and which file it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from textreg.errors import DataError, ModelError, UsageError, shortened

T = TypeVar("T")

_LONGEST = 600  # characters of a fault that a message quotes; names in a file can be of any length


class FaultError(ModelError):
    """What is wrong inside a file; :func:`blaming` adds which file, and what to do."""


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Turn a FaultError, or the refusal of a record, into a ModelError that names the file."""
    try:
        yield
    except (FaultError, UsageError, DataError) as fault:
        text = str(fault).rstrip(".")
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        raise ModelError(
            f"{path} is damaged: {text}. Copy it again from where it was made, or train it again."
        ) from fault


def field(header: Mapping[str, Any], key: str, kind: type[T]) -> T:
    """A member of a JSON object, which must be of exactly this type."""
    value = header.get(key)
    if type(value) is not kind:  # isinstance would take true for a whole number
        raise FaultError(f"its header has no '{key}' of the type {kind.__name__}")
    return value


def shown(value: object) -> str:
    """A value of a file for a message, cut to a few words."""
    return shortened(repr(value))
