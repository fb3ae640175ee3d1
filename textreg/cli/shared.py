"""What several commands have in common: options, decorators, and a group."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

import click

from textreg.errors import did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

option: Any = click.option
"""An option that is declared as a field of a record: see :func:`gathered`."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print only one JSON document.")
json_field: Any = as_json
"""The same, declared as a field."""
quiet = click.option("--quiet", is_flag=True, help="Print only warnings and errors.")
unlabeled_of_training = click.option(
    "--unlabeled",
    metavar="FILE",
    multiple=True,
    help="With --train: the unlabeled documents of the training. May be repeated.",
)


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Combine several decorators into one; the first one is outermost."""

    def decorate(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def gathered(record: type[Any], name: str, *decorators: Any) -> Callable[[F], F]:
    """Give a command these options, whose values it takes together, as ``name``.

    record: a NamedTuple class whose fields are named like the options. Without options here they
    are the defaults of its fields. A field without an option is None.
    """

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def called(*args: Any, **given: Any) -> Any:
            values = {field: given.pop(field, None) for field in record._fields}
            return command(*args, **{name: record(**values)}, **given)

        declared = decorators or record._field_defaults.values()
        decorate_with: Callable[[F], F] = options(*declared)
        return decorate_with(cast(F, called))

    return decorate


class TrainingCorpus(NamedTuple):
    """Files of the training documents, and of those without labels."""

    corpus: tuple[str, ...]
    unlabeled: tuple[str, ...]


def training_corpus(what: str) -> Callable[[F], F]:
    """The options of the corpus that a model was trained on. what: the help of ``--train``."""
    train = click.option(
        "--train", "corpus", metavar="CORPUS", multiple=True, help=f"{what} May be repeated."
    )
    return gathered(TrainingCorpus, "training", train, unlabeled_of_training)


class Command(click.Command):
    """The class of all commands. An option with one value that is given twice is refused."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        if ctx.resilient_parsing:  # a shell asks for completions
            for param in params:
                _complete(param)
        return params


def refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """UsageError for an option with one value that is given twice; unknown ones are passed over."""
    parser = command.make_parser(ctx)
    parser.ignore_unknown_options = True
    _, _, order = parser.parse_args(args=list(args))
    for option, times in Counter(order).items():
        if times > 1 and isinstance(option, click.Option) and not _may_repeat(option):
            flags = "/".join([*option.opts, *option.secondary_opts])
            raise click.UsageError(f"{flags} is given {times} times: give it once.", ctx)


def _may_repeat(option: click.Option) -> bool:
    return option.multiple or option.count or option.is_eager  # eager: --help and --version


_FILES = {"files", "model", "source", "sources"}
_FILE_VALUES = {"FILE", "CORPUS", "MODEL"}
_KINDS = {
    "reg": "regularizer",
    "baseline": "regularizer",
    "tokenizer": "tokenizer",
    "groups": "groups",
    "graph": "graph",
    "loss": "loss",
    "to": "exporter",
}
"""The kinds of the parts that options name."""


class _Names(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since 8.4
    """One of some names, or several with commas between them."""

    name = "text"

    def __init__(self, names: Iterable[str]) -> None:
        self.names = names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, begun = incomplete.rpartition(",")
        found = [name for name in self.names if name.startswith(begun)]
        return [CompletionItem(f"{before}{comma}{name}") for name in found]


def _complete(param: click.Parameter) -> None:
    """Let a parameter that takes a file, or the name of a plugin, offer those to a shell."""
    from textreg.plugins import registry

    argument = isinstance(param, click.Argument)
    key = param.opts[-1].lstrip("-").replace("-", "_")
    if (argument and key in _FILES) or param.metavar in _FILE_VALUES:
        param.type = click.Path()
    elif param.metavar == "DIR" or (argument and key == "folder"):
        param.type = click.Path(file_okay=False)
    elif not argument and key in _KINDS:
        param.type = _Names(registry.names(_KINDS[key]))
    elif key == "no_plugin":
        param.type = _Names(sorted({row.name for row in registry.listing()}))


class OpenGroup(Command, click.Group):
    """A group with commands of plugins beside its own, listed without importing them.

    It lists its commands where one is unknown.

    Attributes
    ----------
    prefix : str
        What the names of its entry points begin with, after ``command.``.
    """

    command_class = Command
    prefix: ClassVar[str] = ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not (ctx.resilient_parsing or name.startswith("-") or self._has(ctx, name)):
            self._refuse_unknown(ctx, name)
        _, command, rest = super().resolve_command(ctx, args)
        return name, command, rest

    def own_help(self, ctx: click.Context) -> dict[str, str]:
        """Its own commands, with one line of help each."""
        return {name: each.get_short_help_str(100) for name, each in sorted(self.commands.items())}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.help_by_name(ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.own_help(ctx):
            return super().get_command(ctx, cmd_name)
        from textreg.plugins import registry

        return cast(click.Command, registry.find("command", _with(self.prefix, cmd_name)))

    def _has(self, ctx: click.Context, name: str) -> bool:
        if name in self.own_help(ctx):
            return True
        from textreg.plugins import registry

        if registry.is_installed("command", self.prefix + name):
            return True
        return name in self.list_commands(ctx)  # runs files of plugins: only where one may be meant

    def _refuse_unknown(self, ctx: click.Context, name: str) -> None:
        """UsageError for a name that nothing has; PluginError for one that can be installed."""
        from textreg.plugins import registry
        from textreg.plugins.distributions import satellite_of

        full = _with(self.prefix, name)
        if ":" in name or satellite_of("command", full):
            registry.find("command", full)
            return
        known = self.list_commands(ctx)
        raise click.UsageError(
            f"no command '{name}'.{did_you_mean(name, known)} There are: {', '.join(known)}.",
            ctx,
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.help_by_name(ctx).items()))

    def help_by_name(self, ctx: click.Context) -> dict[str, str]:
        """Its own commands and those of plugins, with one line of help each."""
        commands = dict(self.own_help(ctx))  # a plugin cannot take the name of one
        for name, line in _of_plugins().items():
            inner = name.removeprefix(self.prefix)
            if name.startswith(self.prefix) and "." not in inner:
                commands.setdefault(inner, line)
        return commands


def _of_plugins() -> dict[str, str]:
    """Commands of plugins with their help, without the registry where it has no say in it."""
    from textreg.plugins.distributions import commands_of_all, may_be_blocked

    loaded = "textreg.plugins.registry" in sys.modules  # --plugin, --no-plugin
    if not (loaded or may_be_blocked()):
        return commands_of_all()
    from textreg.plugins import registry

    return registry.commands()


def _with(prefix: str, name: str) -> str:
    """The full name of a command, which a distribution may stand in front of."""
    owner, colon, short = name.rpartition(":")
    return f"{owner}{colon}{prefix}{short}"
