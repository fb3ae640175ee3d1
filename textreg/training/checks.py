"""Checks of the values that a user gives for the settings of a training."""

from __future__ import annotations

import math
from collections.abc import Mapping

from textreg.errors import UsageError
from textreg.measure.selective import parse_unknown_rule
from textreg.measure.thresholds import parse_rule
from textreg.training.search.tuning import in_units

_PREFIXES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12} | {
    "ki": 2.0**10,
    "mi": 2.0**20,
    "gi": 2.0**30,
    "ti": 2.0**40,
}
_BYTES = {
    "": 1.0,
    "b": 1.0,
    **{name + b: size for name, size in _PREFIXES.items() for b in ("", "b")},
}

LEAST_MEMORY = 100e6
"""Bytes without which no block of documents fits."""


def check_tol(tol: float) -> float:
    """The tolerance, if it lies between 0 and 1; UsageError otherwise."""
    if not 0 < tol < 1:
        raise UsageError(f"tol must lie between 0 and 1, not {tol:g}.")
    return tol


def check_prune(share: float) -> float:
    """The share that may be pruned, if it is 0 or more and below 1; UsageError otherwise."""
    if not 0 <= share < 1:
        raise UsageError(f"prune must be a share from 0 to less than 1, not {share:g}.")
    return share


def parse_bytes(size: float | str) -> int:
    """A size such as ``400MB``, ``1GB`` or ``1.5GiB`` in bytes; UsageError otherwise."""
    value = in_units(size, _BYTES)
    if not LEAST_MEMORY <= value < math.inf:
        raise UsageError(
            f"memory must be a size of at least {LEAST_MEMORY / 1e6:.0f}MB, such as 400MB, 1GB or "
            f"1.5GiB, not '{size}'."
        )
    return int(value)


def check_class_weight(weight: str | Mapping[str, float]) -> str | Mapping[str, float]:
    """The weights of the labels; UsageError for a string other than "balanced"."""
    if isinstance(weight, str) and weight != "balanced":
        raise UsageError(
            f"class_weight must be 'balanced' or a factor for each label, not '{weight}'."
        )
    return weight


def check_rules(rules: Mapping[str, str]) -> Mapping[str, str] | None:
    """The rules for decision thresholds by label; UsageError for an unknown rule."""
    for rule in rules.values():
        parse_rule(rule)
    return rules or None


def check_unknown_rule(rule: str) -> str:
    """The rule for the unknown label; UsageError for an unknown rule."""
    parse_unknown_rule(rule)
    return rule
