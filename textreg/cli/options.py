"""Options that come from declared parameters: those of the plugins that a command line chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click

from textreg.features.vectorize import Vectorizer
from textreg.params import AUTO, Param, Parametrized
from textreg.plugins import registry

_SECTIONS = "textreg.sections"
_METAVARS = {int: "N", float: "X", str: "TEXT"}


class PartsCommand(click.Command):
    """A command whose options depend on the plugins chosen with --reg, --groups and so on.

    These are looked for first; each of them then adds its parameters, ``--reg-l1`` for ``l1`` of
    the regularizer, and ``--help`` shows them in a section of their own.
    """

    defaults = {"reg": "sentence", "tokenizer": "words"}
    """The parts of a command line that names none; without "reg" there is no regularizer."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_SECTIONS] = _sections(args, self.defaults)
        return super().parse_args(ctx, args)

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
    args: Sequence[str], defaults: Mapping[str, str]
) -> list[tuple[str, list[click.Option]]]:
    """Titles and options of the vectorizer and of all parts that the arguments choose."""
    sections = []
    defaults = dict(defaults)
    if "reg" in defaults:
        reg = registry.find("regularizer", _value(args, "--reg") or defaults["reg"])
        sections.append((f"Regularizer {reg.label()} (--reg)", _options(reg, "reg")))
        if reg.needs:
            defaults[reg.needs] = reg.default_builder
    for kind in ("groups", "graph"):
        if name := _value(args, f"--{kind}") or defaults.get(kind):
            part = registry.find(kind, name)
            sections.append((f"Builder of {kind}: {part.label()} (--{kind})", _options(part, kind)))
    part = registry.find("tokenizer", _value(args, "--tokenizer") or defaults["tokenizer"])
    sections.append((f"Tokenizer {part.label()} (--tokenizer)", _options(part, "tokenizer")))
    sections.append(("Features", _options(Vectorizer, "")))
    return sections


def _value(args: Iterable[str], flag: str) -> str:
    """The value of the last ``flag value`` or ``flag=value``; empty if there is none."""
    found, take_next = "", False
    for argument in args:
        if take_next:
            found, take_next = argument, False
        elif argument == "--":
            break
        elif argument == flag:
            take_next = True
        elif argument.startswith(f"{flag}="):
            found = argument[len(flag) + 1 :]
    return found


def _options(part: type[Parametrized], prefix: str) -> list[click.Option]:
    return [_option(declared, prefix) for declared in part.declared().values()]


def _option(declared: Param, prefix: str) -> click.Option:
    """One declared parameter as an option; left out, it is None."""
    key = f"{prefix}_{declared.name}" if prefix else declared.name
    flag = key.replace("_", "-")
    if declared.type is bool:
        return click.Option([f"--{flag}/--no-{flag}", key], default=None, help=_help(declared))
    if declared.choices is not None and declared.type is str:
        return click.Option(
            [f"--{flag}", key], type=click.Choice(declared.choices), help=_help(declared)
        )
    return click.Option(
        [f"--{flag}", key],
        type=declared.type,
        metavar=_METAVARS[declared.type],
        help=_help(declared),
    )


def _help(declared: Param) -> str:
    if declared.default is AUTO:
        default = "chosen by search" if declared.search else "required"
    elif declared.default is None:
        default = "none"
    elif isinstance(declared.default, bool):
        default = "on" if declared.default else "off"
    else:
        default = f"{declared.default:g}" if declared.type is float else str(declared.default)
    return f"{declared.help[:1].upper()}{declared.help[1:]}  [default: {default}]"
