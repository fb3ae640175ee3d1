"""The settings of a training as command line options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from textreg.cli.options import option_of
from textreg.cli.shared import F, options
from textreg.errors import UsageError
from textreg.params import Param
from textreg.training.settings import declared_settings
from textreg.training.space import parse_space


def settings(*names: str, **defaults: Any) -> Callable[[F], F]:
    """Give a command the options of these settings, in this order.

    Without the option the value is None, or that in ``defaults``.
    """
    declared = declared_settings()
    return options(*(setting(name, declared[name], defaults.get(name)) for name in names))


def setting(name: str, declared: Param, default: Any = None) -> Callable[[F], F]:
    """The option of one setting."""
    flags, attributes = option_of(name, declared, default)
    if name in PARSERS:
        attributes["callback"] = _parsed
    return click.option(*flags, **attributes)


def parse_class_weight(items: Sequence[str]) -> str | Mapping[str, float]:
    """``balanced``, or ``spam=5`` and the like as a mapping; UsageError for anything else."""
    if list(items) == ["balanced"]:
        return "balanced"
    factors = dict[str, float]()
    for item in items:
        label, equals, factor = item.rpartition("=")
        if label in factors:
            raise UsageError(f"--class-weight names '{label}' twice: give each label one factor.")
        try:
            factors[label] = float(factor)
        except ValueError:
            equals = ""
        if not equals:
            raise UsageError(
                f"--class-weight must be 'balanced' or LABEL=FACTOR, such as spam=5, not '{item}'."
            )
    return factors


def parse_threshold(items: Sequence[str]) -> Mapping[str, str]:
    """``spam=precision:0.9`` and the like as a mapping; UsageError for anything else."""
    rules = {}
    for item in items:
        label, equals, rule = item.rpartition("=")
        if not equals or label in rules:
            raise UsageError(
                "--threshold must be LABEL=RULE, such as spam=precision:0.9, once for a label, "
                f"not '{item}'."
            )
        rules[label] = rule
    return rules


PARSERS: Mapping[str, Callable[[Sequence[str]], Any]] = {
    "class_weight": parse_class_weight,
    "threshold": parse_threshold,
    "search_space": parse_space,
}
"""Functions that parse the values of repeated options, by the name of the setting."""


def _parsed(ctx: click.Context, option: click.Parameter, words: tuple[str, ...]) -> Any:
    """The value of a repeated option; None without the option."""
    return PARSERS[option.name or ""](words) if words else None
