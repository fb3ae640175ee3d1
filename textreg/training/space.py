"""What a search tries, and how it chooses: its settings, and the dimensions of its space."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, nan
from string import ascii_lowercase
from typing import Any, NamedTuple

from textreg.blocks.backends import DEFAULT, check_backend
from textreg.errors import UsageError, did_you_mean
from textreg.params import Parametrized, param

# Default of `within`: how far below the best score the sparsest model may be.
WITHIN = 0.01


def below_one(message: str, *, zero: bool = False) -> Callable[[float], float]:
    """A check that a number is below 1 and above 0, or 0; a UsageError has this message."""

    def check(value: float) -> float:
        if not 0 < value < 1 and not (zero and value == 0):
            raise UsageError(f"{message}, not {value:g}.")
        return value

    return check


UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def in_units(value: float | str, units: Mapping[str, float]) -> float:
    """A number such as ``90`` or ``"1.5m"``, times its unit; NaN if it is none."""
    text = str(value).strip().lower()
    number = text.rstrip(ascii_lowercase)  # digits, then letters: 1.5m
    try:
        return float(number) * units[text.removeprefix(number)]
    except (ValueError, KeyError):
        return nan


def parse_seconds(budget: float | str) -> float:
    """A time such as ``90``, ``"90s"``, ``"1.5m"`` or ``"2h"`` in seconds; UsageError otherwise."""
    seconds = in_units(budget, UNITS)
    # NaN, no number, is not above 0 either.
    if not 0 < seconds < inf:
        raise UsageError(
            f"the budget must be a time above 0, such as 90s, 5m or 2h, not '{budget}'."
        )
    return seconds


def check_space(space: Mapping[str, Sequence[Any]]) -> Mapping[str, Sequence[Any]] | None:
    """The values of every parameter; UsageError for anything but a mapping."""
    if not isinstance(space, Mapping):
        raise UsageError(f"search_space must be a list of values for each name, not '{space}'.")
    return space or None


class Tuning(Parametrized):
    """How hyperparameters are searched, and which setting is chosen.

    Of the measured settings "best" takes the best score; "1se" the smallest model within one
    standard error of the best (Breiman et al. 1984, section 3.4.3); "sparsest" the smallest model
    within ``within`` of the best, in units of the metric, or for mse as a fraction of the best.

    "grid" measures all settings. "narrow" measures settings that lie far apart first, then those
    next to the best. ``search_space`` maps names of parameters, as their options are called, to the
    values to try: ``{"weighting": ["log", "tfidf"], "reg_l1": [0.1, 1]}``.
    """

    select: str = param(
        default="best",
        choices=("best", "1se", "sparsest"),
        help="setting to choose: the best, the smallest model within one standard error of the "
        "best (1se), or the smallest model within a given distance of the best (sparsest)",
    )
    within: float | None = param(
        default=None,
        convert=below_one("within must be 0 or more, and below 1", zero=True),
        help="distance from the best score that sparsest allows; 0.01 if not given",
    )
    max_nonzero: int | None = param(
        default=None, min=1, help="largest number of features with a nonzero weight"
    )

    search: str = param(
        default="narrow",
        choices=("narrow", "grid"),
        help="search strategy: a coarse grid refined around the best settings (narrow), or all "
        "settings (grid)",
    )
    search_space: Mapping[str, Sequence[Any]] | None = param(
        default=None,
        convert=check_space,
        metavar="PARAMETER=VALUES",
        repeated=True,
        help="values to try of any parameter of the parts or features, such as weighting=log,tfidf",
    )
    budget: float | str | None = param(
        default=None,
        convert=parse_seconds,
        metavar="TIME",
        help="time limit for a training, the final fit included, such as 90s, 5m or 2h; the best "
        "model so far is kept",
    )
    backend: str = param(
        default=DEFAULT,
        help="where fits run and blocks are kept: in threads, or where a plugin puts them, such as "
        "the workers of a Dask cluster",
    )
    address: str | None = param(
        default=None,
        metavar="URL",
        help="address that the backend asks for, such as that of a "
        "Dask scheduler, tcp://10.0.0.5:8786",
    )

    @classmethod
    def label(cls) -> str:
        """Empty: messages name the setting alone."""
        return ""

    def __post_init__(self) -> None:
        if self.within is not None and self.select != "sparsest":
            raise UsageError(
                f"within is for select 'sparsest', and has no effect with '{self.select}': leave "
                "one of them out."
            )
        if (self.backend, self.address) != (DEFAULT, None):
            check_backend(self.backend, self.address)

    @property
    def best_alone(self) -> bool:
        """Whether the best score is all that the choice asks for."""
        return self.select == "best" and self.max_nonzero is None

    @property
    def seconds(self) -> float | None:
        """The budget in seconds."""
        return None if self.budget is None else parse_seconds(self.budget)


BEST = Tuning()


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
        part, name = _find(str(key), parts)
        owner = parts[part]
        assert owner is not None
        # Some parameters exist with certain values of others only.
        declared = owner.declared(**owner.params())[name]
        if owner.params()[name] != declared.default:
            raise UsageError(
                f"{key} is given as {owner.params()[name]} and is in the search space, too: leave "
                "one of them out."
            )
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
            raise UsageError(f"search_space: {key} needs a list of values, not {values!r}.")
        label = owner.label()
        # Values of commands are texts, those of programs may be of any type.
        typed = [declared.read(it, label) if isinstance(it, str) else it for it in values]
        checked = tuple(declared.check(value, label) for value in typed)
        if len(set(checked)) < len(checked) or not checked:
            raise UsageError(f"search_space: {key} needs values that differ, not {list(values)}.")
        if part == "reg" and declared.type is float:
            checked = tuple(sorted(checked, reverse=True))  # from the emptiest model down
        space_dimensions.append(Dimension(key, part, name, checked))
    # Features are made anew as seldom as possible: the regularizer changes fastest.
    order = ("tokenizer", "vectorizer", "groups", "graph", "loss", "reg")
    return sorted(space_dimensions, key=lambda dimension: order.index(dimension.part))


def combinations(space: Sequence[Dimension]) -> Iterator[tuple[Any, ...]]:
    """All combinations of one value for each dimension; the last one changes fastest."""
    return itertools.product(*(dimension.values for dimension in space))


def changed(parts: Mapping[str, Any], space: Sequence[Dimension], chosen: Sequence[Any]) -> Any:
    """Those of the parts that the chosen values change, with these."""
    changes: dict[str, dict[str, Any]] = {}
    for dimension, value in zip(space, chosen, strict=True):
        changes.setdefault(dimension.part, {})[dimension.name] = value
    return {part: parts[part].replace(**values) for part, values in changes.items()}


def _find(key: str, parts: Mapping[str, Parametrized | None]) -> tuple[str, str]:
    """The part and the parameter of a keyword."""
    place: dict[str, tuple[str, str]] = {}
    # Those of the vectorizer come first, and have no prefix.
    for part, owner in sorted(parts.items(), key=lambda item: item[0] != "vectorizer"):
        if owner is not None:
            prefix = "" if part == "vectorizer" else f"{part}_"
            place |= {f"{prefix}{name}": (part, name) for name in owner.params()}
    if key in place:
        return place[key]
    prefix, _, name = key.partition("_")
    if name and prefix in parts and parts[prefix] is None:
        raise UsageError(
            f"search_space: {key} is a parameter of {prefix}, and there are none: leave it out."
        )
    # Without the prefix a name is too short for did_you_mean to find it.
    unprefixed = next((name for name in place if name.partition("_")[2] == key), "")
    hint = did_you_mean(unprefixed or key, place)
    raise UsageError(f"search_space: no parameter '{key}'.{hint} There are: {', '.join(place)}.")
