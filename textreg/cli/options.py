"""Options made from declarations: of settings, and of the parts that a command line names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from textreg.cli import shared
from textreg.cli.arguments import CommandLine, scan
from textreg.cli.shared import Command, F, refuse_repeated
from textreg.errors import TextregError, UsageError
from textreg.features.vectorize import Vectorizer
from textreg.measure.selective import parse_unknown_rule
from textreg.params import AUTO, Param, Parametrized
from textreg.plugins import registry
from textreg.training.recipe import JOINED
from textreg.training.settings import PREFIXES, as_named, declared_settings, default_builder
from textreg.training.space import parse_space

_SECTIONS = "textreg.sections"
_TITLES = {
    "reg": "Regularizer",
    "groups": "Group builder",
    "graph": "Graph builder",
    "tokenizer": "Tokenizer",
    "loss": "Loss",
}
"""Titles of the sections, by the prefixes of their options."""

_METAVARS = {int: "N", float: "X", str: "TEXT"}


class PartsCommand(Command):
    """A command whose options depend on the parts chosen with --reg, --groups and so on.

    Each part adds its parameters, such as ``--reg-l1`` for ``l1`` of the regularizer; ``--help``
    shows them in a section of their own.
    """

    defaults = {"reg": "textreg:sentence", "tokenizer": "auto"}
    """Default parts. A command without "reg" here has no options of a regularizer."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        line = scan(args)
        if ctx.resilient_parsing:  # a shell asks for completions, and shows no errors
            with suppress(TextregError):
                ctx.meta[_SECTIONS] = _sections(line.values, self.defaults)
            return super().parse_args(ctx, args)
        refuse_repeated(self, ctx, args)  # --reg before the options that depend on it
        values = {**self.beneath(ctx, line), **line.values}
        ctx.meta[_SECTIONS] = _sections(values, self.defaults)
        return super().parse_args(ctx, self.parts_chosen(ctx, args))

    def beneath(self, ctx: click.Context, line: CommandLine) -> dict[str, str]:
        """Values of options that are given elsewhere than on the command line, by their flags."""
        return {}

    def parts_chosen(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words to parse; called when the parts, and so the options, are known."""
        return args

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        added = [option for _, options in ctx.meta.get(_SECTIONS, ()) for option in options]
        return [*super().get_params(ctx), *added]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [param for param in super().get_params(ctx) if isinstance(param, click.Option)]
        for title, options in [("Options", own), *ctx.meta.get(_SECTIONS, ())]:
            records = [option.get_help_record(ctx) for option in options]
            if shown := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(shown)


def _sections(
    values: Mapping[str, str], defaults: Mapping[str, str]
) -> list[tuple[str, list[click.Option]]]:
    """Titles and options of the chosen parts and of the vectorizer.

    values: of the flags on the command line. defaults: parts that it does not name.
    """
    sections = []
    chosen = {kind: values.get(f"--{kind}") or defaults.get(kind) for kind in _TITLES}
    if "reg" not in defaults:
        chosen["reg"] = None
    for kind, title in _TITLES.items():
        if name := chosen[kind]:
            part = registry.find(PREFIXES[kind], as_named(kind, name))
            sections.append((f"{title} {part.label()} (--{kind})", _options(part, kind, values)))
            if needed := part.needs if kind == "reg" else "":
                chosen[needed] = chosen[needed] or default_builder(part)
    sections.append(("Features", _options(Vectorizer, "", values)))
    return sections


def _options(
    part: type[Parametrized], prefix: str, values: Mapping[str, str]
) -> list[click.Option]:
    """The options of a part, including those of a choice, such as a solver."""
    given = {}
    for name in part.declared():
        flag = flag_of(f"{prefix}_{name}")
        if flag in values:
            given[name] = values[flag]
    made = []
    for name, declared in part.declared(**given).items():
        flags, attributes = option_of(f"{prefix}_{name}", declared)
        made.append(click.Option(flags, **attributes))
    return made


def option_of(key: str, declared: Param, default: Any = None) -> tuple[list[str], dict[str, Any]]:
    """The arguments of ``click.option`` for a declared parameter.

    key: its keyword in Python. default: the value without the option.
    """
    key = key.strip("_")
    flag = flag_of(key)
    attributes: dict[str, Any] = {"default": default, "help": _help(declared, default)}
    if declared.type is bool:
        return [f"{flag}/--no-{flag[2:]}", key], attributes
    if declared.choices is not None and declared.type is str:
        attributes["type"] = click.Choice(declared.choices)
    else:
        attributes["type"] = str if declared.type is object else declared.type
        attributes["metavar"] = declared.metavar or _METAVARS[attributes["type"]]
    if declared.repeated:
        attributes["multiple"] = True
    return [flag, key], attributes


def flag_of(key: str) -> str:
    """The flag of a keyword."""
    return f"--{key.strip('_').replace('_', '-')}"


def _help(declared: Param, default: Any) -> str:
    text = f"{declared.help[:1].upper()}{declared.help[1:].rstrip('.')}."
    if declared.repeated:
        text += " May be repeated."
    value = declared.default if default is None else default
    if value is AUTO:
        value = "chosen by search" if declared.search else "required"
    elif isinstance(value, bool):
        value = "on" if value else "off"
    elif isinstance(value, float):
        value = f"{value:g}"
    return text if value is None else f"{text}  [default: {value}]"


def settings(*names: str, **defaults: Any) -> Callable[[F], F]:
    """Give a command the options of these settings, in this order.

    Without the option the value is None, or that in ``defaults``.
    """
    declared = declared_settings()
    return shared.options(*(setting(name, declared[name], defaults.get(name)) for name in names))


def setting(name: str, declared: Param, default: Any = None) -> Callable[[F], F]:
    """The option of one setting, or of two that belong together, such as ``--min-label 5:other``.

    The command takes both by their own names.
    """
    flags, attributes = option_of(name, declared, default)
    if name in _FORMS:
        form, more = _FORMS[name]
        usual = "" if declared.default is None else f"  [default: {declared.default}]"
        described = f"{declared.help[:1].upper()}{declared.help[1:]}; {more}.{usual}"
        attributes |= {"type": str, "metavar": form, "help": described, "callback": _split}
    if name in PARSERS:
        attributes["callback"] = _parsed
    return click.option(*flags, **attributes)


_FORMS = {
    "min_label": ("N[:NAME]", "with a name, join them into one label of that name instead"),
    "unknown": (
        "LABEL[:RULE]",
        "the threshold is chosen by coverage:C, risk:R, accuracy or f1, as in none:risk:0.05; "
        "without a rule by accuracy if there are held-out documents of that label, else by "
        "coverage:0.95",
    ),
    "select": ("RULE[:X]", "sparsest:0.02 allows a distance of 0.02, and not of 0.01"),
    "backend": ("BACKEND", "dask:tcp://10.0.0.5:8786 names its scheduler as well"),
}
"""How the settings of :data:`textreg.training.recipe.JOINED` are written, and what is meant."""


def _split(ctx: click.Context, option: click.Parameter, text: str | None) -> Any:
    """The first of two settings; the second one goes to the command by its own name."""
    if text is None:
        return None
    name = option.name or ""
    first, colon, second = text.partition(":")
    if name == "unknown" and colon:
        found = _UNKNOWN_RULE.fullmatch(text)  # a label may have colons, too
        first, second = found.groups() if found else (first, second)
        parse_unknown_rule(second)
    if colon and not (first and second):
        raise click.BadParameter(
            f"'{text}' has nothing beside the colon: leave it out.", ctx, option
        )
    if colon:
        ctx.params[JOINED[name]] = _as_number(second) if name == "select" else second
    return _as_count(first, ctx, option) if name == "min_label" else first


_UNKNOWN_RULE = re.compile(r"(.+):((?:coverage|risk):[^:]*|accuracy|f1)", re.DOTALL)


def _as_number(text: str) -> float | str:
    """A number; what is none is refused by the setting, by name."""
    try:
        return float(text)
    except ValueError:
        return text


def _as_count(text: str, ctx: click.Context, option: click.Parameter) -> int:
    try:
        return int(text)
    except ValueError:
        raise click.BadParameter(
            f"'{text}' is no number of documents: write N, or N:NAME to join such labels.",
            ctx,
            option,
        ) from None


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
