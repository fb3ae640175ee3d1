"""Options made from declarations, of settings and parts, also those in a file or a model.

The command line replaces what a file says (``--config``), and the file what a model says that it
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from textreg.cli import inputs, shared
from textreg.cli.shared import Command, CommandLine, F, refuse_repeated, scan
from textreg.errors import ModelError, PluginError, TextregError, UsageError, did_you_mean
from textreg.features.vectorize import Vectorizer
from textreg.files import read_toml
from textreg.measure.decisions import parse_unknown_rule
from textreg.model import container, saved_encoder, storage
from textreg.params import AUTO, Param, Parametrized
from textreg.plugins import loading, registry
from textreg.terminal import shell_line
from textreg.training import recipe
from textreg.training.settings import PREFIXES, as_named, declared_settings, default_builder
from textreg.training.space import parse_space

_SECTIONS = "textreg.sections"
# Titles of the sections, by the prefixes of their options.
_TITLES = {
    "reg": "Regularizer",
    "groups": "Group builder",
    "graph": "Graph builder",
    "tokenizer": "Tokenizer",
    "loss": "Loss",
}

_METAVARS = {int: "N", float: "X", str: "TEXT"}


class PartsCommand(Command):
    """A command whose options depend on the parts chosen with --reg, --groups and so on.

    Each part adds its parameters, such as ``--reg-l1`` for ``l1`` of the regularizer; ``--help``
    shows them in a section of their own.
    """

    # Default parts. A command without "reg" here has no options of a regularizer.
    defaults = {"reg": "textreg:auto", "tokenizer": "auto"}

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
        own_params = [param for param in super().get_params(ctx) if isinstance(param, click.Option)]
        for heading, options in [("Options", own_params), *ctx.meta.get(_SECTIONS, ())]:
            records = [option.get_help_record(ctx) for option in options]
            if shown := [record for record in records if record is not None]:
                with formatter.section(heading):
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
    for kind, heading in _TITLES.items():
        if name := chosen[kind]:
            part = registry.find(PREFIXES[kind], as_named(kind, name))
            sections.append((f"{heading} {part.label()} (--{kind})", _options(part, kind, values)))
            if needed := part.needs if kind == "reg" else "":
                chosen[needed] = chosen[needed] or default_builder(part)
    sections.append(("Features", _options(Vectorizer, "", values)))
    return sections


def _options(
    part: type[Parametrized], prefix: str, values: Mapping[str, str]
) -> list[click.Option]:
    """The options of a part, including those of a choice, such as a solver."""
    flags = {name: flag_of(f"{prefix}_{name}") for name in part.declared()}
    chosen = {name: values[flag] for name, flag in flags.items() if flag in values}
    declared = part.declared(**chosen).items()
    specs = [option_of(f"{prefix}_{name}", parameter) for name, parameter in declared]
    return [click.Option(names, **attributes) for names, attributes in specs]


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
        described = _help(replace(declared, help=f"{declared.help}; {more}"), default)
        attributes |= {"type": str, "metavar": form, "help": described, "callback": _split}
    if name in PARSERS:
        attributes["callback"] = _parsed
    return click.option(*flags, **attributes)


# How the settings of textreg.training.recipe.JOINED are written, and what is meant.
_FORMS = {
    "min_label": ("N[:NAME]", "with a name, join them into one label of that name instead"),
    "unknown": (
        "LABEL[:RULE]",
        "the threshold is chosen by coverage:C, risk:R, accuracy or f1, as in none:risk:0.05; "
        "by default by accuracy if held-out documents have that label, else by coverage:0.95",
    ),
    "select": ("RULE[:X]", "sparsest:0.02 sets that distance, 0.01 by default"),
    "backend": ("BACKEND", "dask:tcp://10.0.0.5:8786 also names its scheduler"),
}


def _split(ctx: click.Context, option: click.Parameter, text: str | None) -> Any:
    """The first of two settings; the second one goes to the command by its own name."""
    if text is None:
        return None
    name = option.name or ""
    first, colon, second = text.partition(":")
    if name == "unknown" and colon:
        match = _UNKNOWN_RULE.fullmatch(text)  # a label may have colons, too
        first, second = match.groups() if match else (first, second)
        parse_unknown_rule(second)
    if colon:
        if not (first and second):
            raise click.BadParameter(
                f"'{text}' has nothing beside the colon: leave it out.", ctx, option
            )
        ctx.params[recipe.JOINED[name]] = second
    if name != "min_label":
        return first
    try:
        return int(first)
    except ValueError:
        raise click.BadParameter(
            f"'{first}' is no number of documents: write N, or N:NAME to join such labels.",
            ctx,
            option,
        ) from None


_UNKNOWN_RULE = re.compile(r"(.+):((?:coverage|risk):[^:]*|accuracy|f1)", re.DOTALL)


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


# Functions that parse the values of repeated options, by the name of the setting.
PARSERS: Mapping[str, Callable[[Sequence[str]], Any]] = {
    "class_weight": parse_class_weight,
    "threshold": parse_threshold,
    "search_space": parse_space,
}


def _parsed(ctx: click.Context, option: click.Parameter, words: tuple[str, ...]) -> Any:
    """The value of a repeated option; None without the option."""
    return PARSERS[option.name or ""](words) if words else None


# What an option replaces beside itself, as they contradict each other.
_INSTEAD = {
    "dev": ("holdout", "cv", "group_col", "time_col"),
    "holdout": ("dev", "cv"),
    "cv": ("dev", "holdout"),
    "group_col": ("dev", "time_col"),
    "time_col": ("dev", "group_col"),
    "text_col": ("field",),
}


class Given(NamedTuple):
    """The value of an option, and the file that gives it."""

    value: Any
    file: str


# Options by their names, with underscores for hyphens.
Options = dict[str, Given]


def without(lower: Options, upper: Options) -> Options:
    """What remains of some options where others are given, too, with what depends on them.

    Another regularizer, say, comes without the parameters of the first, and its groups.
    """
    gone = {*upper, *(replaced for key in upper for replaced in _INSTEAD.get(key, ()))}
    space = _space(lower.get("search_space"))
    gone |= {*_space(upper.get("search_space"))}
    for key in PREFIXES:
        usual = declared_settings()[key].default
        if key in upper and _short(upper[key].value) != _short(
            lower.get(key, Given(usual, "")).value
        ):
            gone |= {name for name in lower if name.startswith(f"{key}_")}
            if key == "reg" and lower:
                gone |= _unused(upper[key].value, lower)
            gone |= {name for name in space if name.startswith(f"{key}_")}
    remaining = {key: item for key, item in lower.items() if key not in gone}
    if "search_space" in remaining:
        searched = {key: values for key, values in space.items() if key not in gone}
        remaining["search_space"] = lower["search_space"]._replace(value=searched)
    return remaining


def _space(item: Given | None) -> dict[str, Any]:
    """A search space as a mapping, though it may be a list of texts."""
    if item is None:
        return {}
    if isinstance(item.value, dict):
        return {key_of_flag(key): values for key, values in item.value.items()}
    return dict(parse_space(texts_of(item, "search_space")))


def _short(name: Any) -> Any:
    """The name of a part without what it comes from."""
    return name.rpartition(":")[2] if isinstance(name, str) else name


def _unused(name: str, options: Options) -> set[str]:
    """Those options of builders, and of documents for these, that a regularizer has no use for."""
    needs = registry.find("regularizer", as_named("reg", name)).needs
    used = {"groups": ("groups",), "graph": ("graph", "groups")}.get(needs, ())
    unused = {key for key in ("groups", "graph") if key not in used}
    more = {option for option in options if option.startswith(tuple(f"{key}_" for key in unused))}
    return unused | more | ({"unlabeled"} if "graph" in unused else set())


def texts_of(item: Given, key: str, most: int | None = None) -> list[str]:
    """The texts or numbers of an option as texts: one of them, or a list."""
    listed = item.value if isinstance(item.value, (list, tuple)) and most is None else [item.value]
    if not all(isinstance(one, (str, int, float)) and not isinstance(one, bool) for one in listed):
        raise wrong(key, item, "a text or a number" + ("" if most else ", or a list of them"))
    return [recipe.as_text(one) for one in listed]


def wrong(key: str, item: Given, expected: str) -> UsageError:
    flag = key.replace("_", "-")
    hint = f' Parameters of a part stand beside it: {flag} = "NAME" and {flag}-PARAMETER = ...'
    more = hint if isinstance(item.value, dict) and key in PREFIXES else ""
    return UsageError(f"{item.file}: {flag} is {expected}, not {item.value!r:.60}.{more}")


def key_of_flag(flag: str) -> str:
    """The name of an option, from its flag or from how a file spells it."""
    return flag.lstrip("-").replace("-", "_")


_GIVEN = "textreg.given"
# Options that stand before the command, which a file may have as well.
_CODE = ("plugin", "no_plugin")

_NOT_IN_FILES = ("help", "debug")
# Where a command finds the path of the model that gives options, if one does.
MODEL = "textreg.model"


class RecipeCommand(PartsCommand):
    """A command whose options may also come from a file, or from a model."""

    def beneath(self, ctx: click.Context, words: CommandLine) -> dict[str, str]:
        line = {key_of_flag(flag): Given(value, "") for flag, value in words.values.items()}
        line |= {key.removeprefix("no_"): item for key, item in line.items()}
        if space := words.every.get("--search-space"):
            line["search_space"] = Given(space, "")
        lower: Options = {}
        source = line.get("config")
        if source is not None and not container.is_container(Path(source.value)):
            lower = _of_file(source.value)
            source = lower.pop("config", None)
            if source is not None and not container.is_container(Path(str(source.value))):
                raise UsageError(
                    f"{source.file}: config is a model whose options come beneath those of this "
                    f"file, and {source.value} is none."
                )
        if source is not None:
            model = Like(source.value)
            ctx.meta[MODEL] = model.path
            options = {key: Given(value, model.path) for key, value in model.options().items()}
            lower = {**without(options, lower), **lower}
            lower = model.ready(without(lower, line), line)
        lower = without(lower, line)
        ctx.meta[_GIVEN] = lower
        texts = {flag_of(key): item.value for key, item in lower.items()}
        return {
            flag: recipe.as_text(value)
            for flag, value in texts.items()
            if isinstance(value, (str, int, float))
        }

    def parts_chosen(self, ctx: click.Context, args: list[str]) -> list[str]:
        params = {_key_of(param): param for param in self.get_params(ctx)}
        for unknown in _NOT_IN_FILES:
            params.pop(unknown, None)
        values = {}
        for key, item in ctx.meta[_GIVEN].items():
            if key not in params:
                hint = did_you_mean(key, [*params, *_CODE]).replace("_", "-")
                raise UsageError(
                    f"{item.file}: there is no option '{key.replace('_', '-')}'.{hint} The options "
                    "are those of textreg train --help, without the hyphens before them."
                )
            values[params[key].name or ""] = _value(params[key], key, item)
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
    return {key: item.value for key, item in ctx.meta[_GIVEN].items() if item.file == file}


def _of_file(path: str) -> Options:
    """The options in a TOML file; those that name plugins take effect at once."""
    options: Options = {}
    for name, value in read_toml(Path(path)).items():
        key = key_of_flag(name)
        if key in options:
            raise UsageError(f"{path}: {key} and {key.replace('_', '-')} are one option: give one.")
        if key in _NOT_IN_FILES:
            raise UsageError(f"{path}: {name} is for the command line: leave it out of the file.")
        options[key] = Given(value, path)
    named = {key: texts_of(options.pop(key), key) for key in _CODE if key in options}
    registry.block(named.get("no_plugin", ()))
    for file in named.get("plugin", ()):
        registry.name_file(file)
    return options


def _value(param: click.Parameter, key: str, item: Given) -> Any:
    """The value of an option, as texts where the command line has texts."""
    if isinstance(param, click.Option) and param.is_flag:
        if not isinstance(item.value, bool):
            raise wrong(key, item, "on or off: write true or false")
        return item.value
    if isinstance(param, click.Option) and not param.multiple:
        (text,) = texts_of(item, key, most=1)
        return text
    if isinstance(item.value, dict) and key in (*PARSERS, "field"):
        return recipe.items_of(item.value)
    return texts_of(item, key)


def _key_of(param: click.Parameter | None) -> str:
    """The name of a parameter in files: that of its long flag."""
    return "" if param is None else key_of_flag(param.opts[-1])


class Like:
    """A model whose training is repeated on other documents; loads no plugin.

    Raises ModelError if the model does not hold its settings, or holds something else as such.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.model = storage.load_model(path, tokenizer=False)
        if self.model.summary is None:
            raise ModelError(
                f"{path} does not hold its settings: name another model with --config."
            )
        self.summary = self.model.summary
        source = self.summary.source
        wrong = [key for key in self.summary.options if not recipe.may_be_kept(key)]
        reading = source.reading if source else {}
        wrong += [key for key in reading if key not in inputs.Reading._fields]
        if wrong:
            raise ModelError(
                f"{path} holds the option '{wrong[0]}' of its training, which no model of this "
                "textreg has: pip install -U textreg, or give the options yourself."
            )

    def options(self) -> dict[str, Any]:
        """The options of the training that are no defaults, but its documents."""
        options, source = self.summary.options, self.summary.source
        if source is None:
            click.echo(
                f"{self.path} was trained in Python: columns, weights and what else its program "
                "made of the documents are not in it.",
                err=True,
            )
            return recipe.joined(options)
        files = {"dev": source.dev, "unlabeled": source.unlabeled}
        listed = {key: value for key, value in files.items() if value}
        return recipe.joined({**source.reading, **options, **listed})

    def ready(self, given: Options, above: Options) -> Options:
        """Options with the parts of this model by names that nothing else has.

        given: what is left of :meth:`options`, with those of a file. above: those of the command
        line. ModelError for a part that is missing, and for what no option can say.
        """
        named = {**given, **above}
        if (what := recipe.unnamed_tokenizer(self.model)) and "tokenizer" not in named:
            raise ModelError(
                f"{self.path} was trained in Python {what}, which no option can name: choose a "
                "tokenizer with --tokenizer."
            )
        split = self.summary.split
        if split is not None and split.kind == "dev" and not {"dev", "holdout", "cv"} & {*named}:
            raise ModelError(
                f"{self.path} was trained with documents of its own to choose hyperparameters on: "
                "name some with --dev FILE, or hold out a fraction with --holdout 0.1."
            )
        parts = [key for key in PREFIXES if key in given and given[key].file == self.path]
        spelled = {key: Given(self._spelled(key, given[key].value), self.path) for key in parts}
        return {**given, **spelled}

    def _spelled(self, key: str, name: str) -> str:
        """The name of a part by which just that of the training is found."""
        kind = PREFIXES[key]
        for part in self.summary.plugins:
            missing = part.distribution and not saved_encoder.installed_version(part.distribution)
            if part.kind == kind and part.name in name.split(",") and missing:
                package = shell_line([f"{part.distribution}=={part.version}".removesuffix("==")])
                raise ModelError(
                    f"{self.path} was trained with the {loading.title(kind)} '{part.name}' of "
                    f"{part.distribution} {part.version}, which is not installed: pip install "
                    f"{package}. Or choose another one with --{key}."
                )
        try:
            return self.summary.spelled(kind, name)
        except PluginError as error:
            raise ModelError(f"{self.path}: {error}") from error
