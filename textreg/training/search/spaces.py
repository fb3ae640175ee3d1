"""The search space: values to try of any parameter of any part."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from textreg.errors import UsageError, did_you_mean
from textreg.params import Parametrized


class Dimension(NamedTuple):
    """One parameter and the values to try.

    key: the keyword, such as ``weighting`` or ``groups_topics``. part: "vectorizer", or the prefix
    of the keyword. name: the parameter's name in that part.
    """

    key: str
    part: str
    name: str
    values: tuple[Any, ...]


def parse_space(items: Sequence[str]) -> dict[str, list[str]]:
    """A mapping of keywords to values from texts such as ``weighting=log,tfidf``."""
    space: dict[str, list[str]] = {}
    for item in items:
        key, equals, values = item.partition("=")
        key = key.strip().lstrip("-").replace("-", "_")
        listed = [value.strip() for value in values.split(",")]
        if not equals or not key or not all(listed):
            raise UsageError(
                "--search-space must be PARAMETER=VALUE,VALUE, such as weighting=log,tfidf or "
                f"reg-l1=0.1,1, not '{item}'."
            )
        if key in space:
            raise UsageError(f"--search-space names {key} twice: name all its values at once.")
        space[key] = listed
    return space


def dimensions(
    space: Mapping[str, Sequence[Any]], parts: Mapping[str, Parametrized | None]
) -> list[Dimension]:
    """The space with all values checked and converted; features first, the regularizer last.

    parts: by their keywords, and "vectorizer"; None for a missing part. Raises UsageError for a
    parameter that no part has, for one that also has a given value, and for a wrong value.
    """
    space_dimensions = []
    for key, values in space.items():
        part, name = _find(key, parts)
        owner = parts[part]
        assert owner is not None
        declared = owner.declared(**owner.params())[name]
        if owner.params()[name] != declared.default:
            raise UsageError(
                f"{key} is given as {owner.params()[name]} and is in the search space, too: leave "
                "one of them out."
            )
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
            raise UsageError(f"search_space: {key} needs a list of values, not {values!r}.")
        label = owner.label()
        typed = [declared.read(it, label) if isinstance(it, str) else it for it in values]
        checked = tuple(declared.check(value, label) for value in typed)
        if len(set(checked)) < len(checked) or not checked:
            raise UsageError(f"search_space: {key} needs values that differ, not {list(values)}.")
        if part == "reg" and declared.type is float:
            checked = tuple(sorted(checked, reverse=True))  # from the emptiest model down
        space_dimensions.append(Dimension(key, part, name, checked))
    order = ("tokenizer", "vectorizer", "groups", "graph", "loss", "reg")
    return sorted(space_dimensions, key=lambda dimension: order.index(dimension.part))


def combinations(space: Sequence[Dimension]) -> Iterator[tuple[Any, ...]]:
    """All combinations of one value for each dimension; the last one changes fastest."""
    return itertools.product(*(dimension.values for dimension in space))


def changed(parts: Mapping[str, Any], space: Sequence[Dimension], chosen: Sequence[Any]) -> Any:
    """``parts`` with the chosen values."""
    changes: dict[str, dict[str, Any]] = {}
    for dimension, value in zip(space, chosen, strict=True):
        changes.setdefault(dimension.part, {})[dimension.name] = value
    return {**parts, **{part: parts[part].replace(**values) for part, values in changes.items()}}


def _find(key: str, parts: Mapping[str, Parametrized | None]) -> tuple[str, str]:
    """The part and the parameter of a keyword."""
    vectorizer = parts["vectorizer"]
    assert vectorizer is not None
    if key in vectorizer.declared():
        return "vectorizer", key
    prefixed = {prefix: part for prefix, part in parts.items() if prefix != "vectorizer"}
    prefix, _, name = key.partition("_")
    owner = prefixed.get(prefix)
    if owner is not None and name in owner.params():
        return prefix, name
    if prefix in prefixed and name and owner is None:
        raise UsageError(
            f"search_space: {key} is a parameter of {prefix}, and there are none: leave it out."
        )
    names = list(vectorizer.declared())
    for prefix, part in prefixed.items():
        if part is not None:
            names += [f"{prefix}_{name}" for name in part.params()]
    # Without the prefix a name is too short for did_you_mean to find it.
    unprefixed = next((one for one in names if one.partition("_")[2] == key), "")
    hint = did_you_mean(unprefixed or key, names)
    raise UsageError(f"search_space: no parameter '{key}'.{hint} There are: {', '.join(names)}.")
