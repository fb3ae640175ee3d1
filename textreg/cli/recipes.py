"""Options that are not on the command line: of a file (``--config``), or of a model (``--like``).

The command line replaces what the file says, and the file what the model says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from textreg.cli.arguments import CommandLine
from textreg.cli.given import Given, Options, key_of_flag, texts_of, without, wrong
from textreg.cli.options import PartsCommand, flag_of
from textreg.cli.settings import PARSERS
from textreg.errors import UsageError, did_you_mean
from textreg.files import read_toml
from textreg.plugins import registry
from textreg.training.recipe import as_text, items_of

_GIVEN = "textreg.given"
_CODE = ("plugin", "no_plugin")
"""Options that stand before the command, which a file may have as well."""

_NOT_IN_FILES = ("config", "help", "debug")


class RecipeCommand(PartsCommand):
    """A command whose options may also come from a file, or from a model."""

    def beneath(self, ctx: click.Context, words: CommandLine) -> dict[str, str]:
        line = _of_line(words)
        given = _of_file(line["config"].value) if "config" in line else {}
        if like := {**given, **line}.get("like"):
            from textreg.cli.again import Like

            model = Like(like.value)
            options = {key: Given(value, like.value) for key, value in model.options().items()}
            given = {**without(options, given), **given}
            given = model.ready(without(given, line), line)
        given = without(given, line)
        ctx.meta[_GIVEN] = given
        texts = {flag_of(key): it.value for key, it in given.items()}
        return {
            flag: as_text(it) for flag, it in texts.items() if isinstance(it, (str, int, float))
        }

    def parts_chosen(self, ctx: click.Context, args: list[str]) -> list[str]:
        values = dict(_defaults(ctx.meta[_GIVEN], self.get_params(ctx)))
        files, ctx.default_map = values.pop("files", []), values
        named = self.make_parser(ctx).parse_args(args=list(args))[0].get("files")
        if not files or (isinstance(named, (list, tuple)) and named):
            return args
        return [*args, *([] if "--" in args else ["--"]), *files]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            name = (error.param and error.param.name) or ""
            if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
                raise
            key = _key_of(error.param)
            raise UsageError(f"{ctx.meta[_GIVEN][key].file}: {key}: {error.message}") from None


def given_by(ctx: click.Context, file: str) -> dict[str, Any]:
    """The options that a file, or a model, gives to a command, by their names."""
    return {key: it.value for key, it in ctx.meta[_GIVEN].items() if it.file == file}


def _of_line(words: CommandLine) -> Options:
    """The options of a command line that have a value, as far as they are of interest beneath."""
    given = {key_of_flag(flag): Given(value, "") for flag, value in words.values.items()}
    given |= {key.removeprefix("no_"): it for key, it in given.items()}
    if space := words.every.get("--search-space"):
        given["search_space"] = Given(space, "")
    return given


def _of_file(path: str) -> Options:
    """The options in a TOML file; those that name plugins take effect at once."""
    given: Options = {}
    for name, value in read_toml(Path(path)).items():
        key = key_of_flag(name)
        if key in given:
            raise UsageError(f"{path}: {key} and {key.replace('_', '-')} are one option: give one.")
        if key in _NOT_IN_FILES:
            raise UsageError(f"{path}: {name} is for the command line: leave it out of the file.")
        given[key] = Given(value, path)
    named = {key: texts_of(given.pop(key), key) for key in _CODE if key in given}
    registry.block(named.get("no_plugin", ()))
    for file in named.get("plugin", ()):
        registry.name_file(file)
    return given


def _defaults(given: Options, params: Sequence[click.Parameter]) -> Iterator[tuple[str, Any]]:
    """The options as click takes them for the parameters of a command; UsageError for others."""
    known = {_key_of(param): param for param in params}
    for unknown in _NOT_IN_FILES:
        known.pop(unknown, None)
    for key, it in given.items():
        if key not in known:
            hint = did_you_mean(key, [*known, *_CODE]).replace("_", "-")
            raise UsageError(
                f"{it.file}: there is no option '{key.replace('_', '-')}'.{hint} The options are "
                "those of textreg train --help, without the hyphens before them."
            )
        yield known[key].name or "", _value(known[key], key, it)


def _value(param: click.Parameter, key: str, it: Given) -> Any:
    """The value of an option, as texts where the command line has texts."""
    if isinstance(param, click.Option) and param.is_flag:
        if not isinstance(it.value, bool):
            raise wrong(key, it, "on or off: write true or false")
        return it.value
    if isinstance(param, click.Option) and not param.multiple:
        (text,) = texts_of(it, key, most=1)
        return text
    if isinstance(it.value, dict) and key in (*PARSERS, "field"):
        return items_of(it.value)
    return texts_of(it, key)


def _key_of(param: click.Parameter | None) -> str:
    """The name of a parameter in files: that of its long flag."""
    return "" if param is None else key_of_flag(param.opts[-1])
