"""Options that come from declared parameters: those of the plugins that a command line chooses."""

from __future__ import annotations

from collections.abc import Mapping

import click

from textreg.features.vectorize import Vectorizer
from textreg.params import AUTO, Param, Parametrized
from textreg.plugins import registry
from textreg.training.settings import PREFIXES

_SECTIONS = "textreg.sections"
_TITLES = {
    "reg": "Regularizer",
    "groups": "Builder of groups:",
    "graph": "Builder of graph:",
    "tokenizer": "Tokenizer",
    "loss": "Loss",
}
"""Of the sections, by the prefixes of their options; a regularizer says which others it needs."""

_METAVARS = {int: "N", float: "X", str: "TEXT"}


class PartsCommand(click.Command):
    """A command whose options depend on the plugins chosen with --reg, --groups and so on.

    These are looked for first; each of them then adds its parameters, ``--reg-l1`` for ``l1`` of
    the regularizer, and ``--help`` shows them in a section of their own.
    """

    defaults = {"reg": "sentence", "tokenizer": "words"}
    """The parts of a command line that names none; without "reg" there is no regularizer."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_SECTIONS] = _sections(ctx.obj.values, self.defaults)
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
    values: Mapping[str, str], defaults: Mapping[str, str]
) -> list[tuple[str, list[click.Option]]]:
    """Titles and options of the vectorizer and of all parts that a command line chooses.

    values: of the flags on it. defaults: the parts of one that names none.
    """
    sections = []
    chosen = {kind: values.get(f"--{kind}") or defaults.get(kind) for kind in _TITLES}
    if "reg" not in defaults:
        chosen["reg"] = None
    for kind, title in _TITLES.items():
        if name := chosen[kind]:
            part = registry.find(PREFIXES[kind], name)
            sections.append((f"{title} {part.label()} (--{kind})", _options(part, kind, values)))
            if needed := getattr(part, "needs", ""):
                chosen[needed] = chosen[needed] or part.default_builder
    sections.append(("Features", _options(Vectorizer, "", values)))
    return sections


def _options(
    part: type[Parametrized], prefix: str, values: Mapping[str, str]
) -> list[click.Option]:
    """The options of a part, with those that the choices on the command line bring."""
    given = {
        declared.name: value
        for declared in part.declared().values()
        if (value := values.get(f"--{_flag(declared, prefix)}")) is not None
    }
    return [_option(declared, prefix) for declared in part.declared(**given).values()]


def _flag(declared: Param, prefix: str) -> str:
    """The option of a parameter, without dashes before it."""
    return f"{prefix}_{declared.name}".strip("_").replace("_", "-")


def _option(declared: Param, prefix: str) -> click.Option:
    """One declared parameter as an option; left out, it is None."""
    flag = _flag(declared, prefix)
    key = flag.replace("-", "_")
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
