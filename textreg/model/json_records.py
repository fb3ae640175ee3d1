"""Records as JSON values and back; reading checks every value against its type hint.

Records are named tuples and frozen dataclasses. Fields may be ``str``, ``int``, ``float`` (finite),
``bool``, None, unions of these, other records, ``dict[str, T]``, ``tuple[T, ...]``, tuples of fixed
length, or ``Any``.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from textreg.errors import DataError, UsageError
from textreg.model.container import FaultError, shown

R = TypeVar("R")

# Metadata of a dictionary field whose members stand beside the other fields in JSON.
#
# Hyphens of its keys are underscores there, as in the names of fields.
INLINE = {"inline": True}

# How deep lists and objects may be nested in a value of any type.
MAX_DEPTH = 8

_UNIONS = (Union, types.UnionType)


def to_json(value: Any) -> Any:
    """JSON values of a record, and of all that it holds.

    A field with a default is left out where it has it.
    """
    kind: Any = type(value)
    if _is_record(kind):
        plain: dict[str, Any] = {}
        for name, (default, inlined) in _members(kind).items():
            member = getattr(value, name)
            if inlined:
                plain |= {key.replace("-", "_"): to_json(each) for key, each in member.items()}
            elif default is MISSING or member != default:
                plain[name] = to_json(member)
        return plain
    if isinstance(value, Mapping):
        return {key: to_json(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(member) for member in value]
    return value


def from_json(record: type[R], plain: Any, where: str) -> R:
    """The record that :func:`to_json` wrote; members of no field are ignored.

    ``where`` names the value in messages; it is empty for a header. Raises FaultError for anything
    else.
    """
    value: R = _read(record, plain, where)
    return value


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


@functools.cache
def _members(record: Any) -> dict[str, tuple[Any, bool]]:
    """The default of every field, or MISSING, and whether it is inlined."""
    if is_dataclass(record):
        return {item.name: (item.default, item.metadata == INLINE) for item in fields(record)}
    defaults = record._field_defaults
    return {name: (defaults.get(name, MISSING), False) for name in record._fields}


_hints = functools.cache(get_type_hints)


def _read(hint: Any, plain: Any, where: str) -> Any:
    """``plain`` as a value of the type ``hint``."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        _require(_is_within(plain, MAX_DEPTH), "a parameter", plain, where)
        return plain
    if origin in _UNIONS:
        # The first option that it is a value of, and the fault of the last where none is: None
        # first, so that the fault of a value that is there names what it should be.
        *others, last = sorted(arguments, key=lambda option: option is not type(None))
        for option in others:
            with suppress(FaultError):
                return _read(option, plain, where)
        return _read(last, plain, where)
    if _is_record(hint):
        return _read_record(hint, plain, where)
    if origin is dict:
        _require(type(plain) is dict, "an object", plain, where)
        return {key: _read(arguments[1], each, _join(where, key)) for key, each in plain.items()}
    if origin is tuple:
        _require(type(plain) is list, "a list", plain, where)
        if arguments[-1] is ...:
            arguments = arguments[:1] * len(plain)
        _require(len(plain) == len(arguments), f"of length {len(arguments)}", plain, where)
        pairs = zip(arguments, plain, strict=True)
        return tuple(
            _read(each, member, f"{where}[{at}]") for at, (each, member) in enumerate(pairs)
        )
    # Not isinstance, which takes true for a whole number.
    right = type(plain) is hint or (hint is float and type(plain) is int)
    _require(right and _is_finite(plain), _NAMES[hint], plain, where)
    return float(plain) if hint is float else plain


_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a finite number",
    bool: "true or false",
    type(None): "null",
}


def _read_record(record: Any, plain: Any, where: str) -> Any:
    _require(type(plain) is dict, "an object", plain, where)
    hints, rest = _hints(record), dict(plain)
    values, inline = {}, ""
    for name, (default, inlined) in _members(record).items():
        if inlined:
            inline = name
        elif name in rest:
            values[name] = _read(hints[name], rest.pop(name), _join(where, name))
        elif default is MISSING:
            raise FaultError(f"'{_join(where, name)}' is missing")
    if inline:
        members = {key.replace("_", "-"): member for key, member in rest.items()}
        values[inline] = _read(hints[inline], members, where)
    try:
        return record(**values)
    except (DataError, UsageError) as error:
        raise FaultError(f"'{where}' contradicts itself: {str(error).rstrip('.')}") from error


def _is_within(plain: Any, depth: int) -> bool:
    """Whether lists and objects are nested no deeper than this."""
    if not isinstance(plain, (list, dict)):
        return True
    members = plain.values() if isinstance(plain, dict) else plain
    return depth > 0 and all(_is_within(member, depth - 1) for member in members)


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _require(right: bool, expected: str, plain: Any, where: str) -> None:
    if not right:
        raise FaultError(f"'{where}' must be {expected}, not {shown(plain)}")


def _is_finite(plain: Any) -> bool:
    try:
        return not isinstance(plain, (int, float)) or math.isfinite(plain)
    except OverflowError:  # a whole number beyond all floats
        return False
