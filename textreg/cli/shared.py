"""What commands share: the process and its streams, options, decorators, and groups of commands."""

from __future__ import annotations

import errno
import functools
import os
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TextIO, TypeVar, cast

import click

from textreg import errors, isolation, terminal
from textreg.interrupts import descriptor_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


# Options that are taken anywhere before `--`, with how much more they tell.
_VERBOSE = {"-v": 1, "--verbose": 1, "-vv": 2}

# Options before the command that take a value.
_WITH_VALUE = ("--plugin", "--no-plugin")


class CommandLine(NamedTuple):
    """A command line, scanned once.

    words: as given, without ``--debug`` and ``-v``. debug: whether that was among them. verbosity:
    how often ``-v`` was. command: the name of the command, empty if there is none. every: the
    values of each ``--flag value`` and ``--flag=value``. What follows ``--`` is data.
    """

    words: list[str]
    debug: bool
    verbosity: int
    command: str
    every: dict[str, list[str]]

    @property
    def values(self) -> dict[str, str]:
        """The last value of every flag."""
        return {flag: values[-1] for flag, values in self.every.items()}


def scan(given: Sequence[str]) -> CommandLine:
    """Scan a command line."""
    end = given.index("--") if "--" in given else len(given)
    anywhere = {"--debug", *_VERBOSE}
    options = [word for word in given[:end] if word not in anywhere]
    debug, verbosity = "--debug" in given[:end], sum(_VERBOSE.get(word, 0) for word in given[:end])
    every: dict[str, list[str]] = {}
    for at, word in enumerate(options):
        name, equals, value = word.partition("=")
        if name.startswith("--") and (equals or at + 1 < len(options)):
            every.setdefault(name, []).append(value if equals else options[at + 1])
    words = [*options, *given[end:]]
    return CommandLine(words, debug, verbosity, _command(options), every)


def _command(options: Sequence[str]) -> str:
    """The first word that is neither an option nor the value of one."""
    remaining = iter(options)
    for word in remaining:
        if word in _WITH_VALUE:
            next(remaining, None)
        elif not word.startswith("-"):
            return word
    return ""


class Results:
    """Stands in for ``sys.stdout`` while a command runs.

    Only the thread of the command writes there, outside the code of plugins. All others get
    standard error: threads and forks that a plugin started, too.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._owner = os.getpid(), threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        mine = self._owner == (os.getpid(), threading.get_ident()) and not isolation.is_inside()
        return getattr(self._out if mine else sys.stderr, name)

    def close(self) -> None:
        """Nothing: no plugin closes the stream of another."""


@contextmanager
def results_only(*, to_the_end: bool) -> Iterator[None]:
    """Keep standard output for what the command itself prints.

    The file descriptor is moved as well, so what C code and subprocesses write to it is seen on
    standard error, too. to_the_end: so it stays until the end of the process, where functions run
    that plugins registered with ``atexit``; otherwise standard output is as before afterwards.
    """
    given, descriptor = sys.stdout, None
    if descriptor_of(given) == 1 and descriptor_of(sys.stderr) == 2:
        given.flush()
        descriptor = os.dup(1)
        os.dup2(2, 1)
    out = given
    if descriptor is not None:  # as a stream that is buffered and encoded as the other one
        by_line = getattr(given, "line_buffering", False) or getattr(given, "write_through", False)
        how = 1 if by_line else -1, given.encoding, given.errors
        out = open(descriptor, "w", *how)  # noqa: SIM115  # closed below
    if given is not None and sys.stderr is not None:
        sys.stdout = Results(out)
    try:
        yield
    finally:
        sys.stdout = sys.stderr if to_the_end and sys.stderr is not None else given
        if descriptor is not None:
            with suppress(OSError):  # an error of writing was raised by the flush before
                out.flush()
            with suppress(OSError):
                given.flush()
            if not to_the_end:
                os.dup2(descriptor, 1)
            with suppress(OSError):
                out.close()


@contextmanager
def logging_to_stderr(verbosity: int) -> Iterator[None]:
    """Write what textreg logs to standard error: INFO, and DEBUG with a verbosity above 1."""
    import logging

    class Lines(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return terminal.single_line(super().format(record))

    logger, handler = logging.getLogger("textreg"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines("%(asctime)s %(message)s", "%H:%M:%S"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbosity > 1 else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


# The exit code for a fault of textreg; EX_SOFTWARE of sysexits.h.
FAULT = 70

# What a shell sees after SIGINT and SIGPIPE: 128 + the number of the signal.
INTERRUPTED, NOBODY_READS = 130, 141

# Packages without which models still predict: docs/serving.md.
_NOT_TO_PREDICT = ("scipy", "sklearn", "threadpoolctl", "charset_normalizer")

# What to do where the system has too little, or refuses something.
_ADVICE: Mapping[str | int, str] = {
    "out of memory": "Close other programs, use fewer threads (--jobs 1), give fewer or shorter "
    "texts, or use a computer with more.",
    "too many threads": "Use fewer, as by --jobs 1, or allow more: ulimit -u, ulimit -v.",
    "too many open files": "Allow more: ulimit -n 1024.",
    errno.ENOSPC: "Free some space, or write somewhere else.",
    errno.EBADF: "Standard input or output is closed: leave out <&- or >&-.",
}

# Commands whose memory is that of features.
_FITTING = ("train", "compare", "groups", "report")


def tell(error: BaseException, line: CommandLine, own: Container[str]) -> int:
    """Tell of an error on stderr, and return the exit code.

    own: the commands that no plugin can replace.
    """
    if sys.stdout is not None:
        _discard(sys.stdout)
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        return NOBODY_READS  # as "| head" does: not an error
    message, code = _explain(error, line, own)
    with suppress(OSError):  # nobody can be told
        if line.debug:
            click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        click.echo(terminal.single_line(message), err=True)
    if sys.stderr is not None:
        _discard(sys.stderr)
    return code


def _explain(error: BaseException, line: CommandLine, own: Container[str]) -> tuple[str, int]:
    """An error as one paragraph, and its exit code."""
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        calls = sys.modules.get("textreg.plugins.calls")
        place = calls.interrupted() if calls is not None else ""
        where = f" in {place}" if place else ""
        return f"Interrupted{where}. No file was left incomplete.", INTERRUPTED
    if isinstance(error, errors.TextregError):
        return f"Error: {error}", error.exit_code
    if isinstance(error, click.ClickException):
        return f"Error: {_usage(error, line)}", 2
    if short := errors.shortage(error):
        advice = _ADVICE[short]
        if isinstance(error, MemoryError) and line.command in _FITTING:
            advice = "Use fewer features (--max-features 100000) or fewer labels (--min-label 5)."
        size = f" ({error})" if isinstance(error, MemoryError) and str(error) else ""
        return f"Error: {short}{size}. {advice}", 1
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename else ""
        usual = "Check the path and its permissions, or write somewhere else."
        advice = _ADVICE.get(error.errno, usual)
        return f"Error: {where}{error.strerror or error}. {advice}", 1
    if isinstance(error, ModuleNotFoundError) and error.name in _NOT_TO_PREDICT:
        what = f"{line.command} needs {error.name}, which is not installed"
        return f"Error: {what}. Run: {terminal.shell_line(['pip', 'install', 'textreg'])}", 2
    return f"Error: {_fault(error, '' if line.command in own else line.command)}", FAULT


def _usage(error: click.ClickException, line: CommandLine) -> str:
    message = " ".join(error.format_message().split())
    name = getattr(error, "option_name", None)
    if isinstance(error, click.NoSuchOption) and name in ("--plugin", "--no-plugin"):
        value = "FILE" if name == "--plugin" else "NAME"
        message = (
            f"No such option here: {name}. Put it before the command: textreg {name} {value} "
            f"{line.command} ... An argument that begins with - goes after --."
        )
    elif isinstance(error, click.NoSuchOption) and error.option_name.startswith("--reg-"):
        message += " Each regularizer has its own: --reg NAME --help lists those of NAME."
    context = getattr(error, "ctx", None)
    return f"{message} See: {context.command_path} --help" if context else message


def _fault(error: BaseException, command: str) -> str:
    """A fault of textreg, or of a command that others may have."""
    import platform
    from importlib.metadata import version

    from textreg.plugins.distributions import SATELLITES

    registry, owner = sys.modules.get("textreg.plugins.registry"), ""
    # Without the registry there is no command of a plugin.
    for row in registry.listing() if registry else ():
        called = command in (row.name, f"{row.distribution}:{row.name}")
        if called and row.kind == "command" and row.distribution not in SATELLITES:
            owner = row.home
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
    if owner:
        return (
            f"{what}. This is a fault of the command, which is of {owner}, and not yours. Tell its "
            "author what it prints with --debug (which shows the traceback)."
        )
    python = f"Python {platform.python_version()}, {platform.platform(terse=True)}"
    return (
        f"{what}. This is a fault of textreg, and not yours. Please report it with the command, "
        "what it prints with --debug (which shows the traceback), and these versions: textreg "
        f"{version('textreg')}, {python}."
    )


def _discard(stream: TextIO) -> None:
    """Flush a stream. If it cannot be flushed, keep Python from failing once more at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class ShownOnce:
    """Shows each warning once on stderr: every split may give the same one."""

    def __init__(self) -> None:
        self._before: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in self._before:
            self._before.add(str(message))
            with suppress(OSError):
                click.echo(f"Warning: {terminal.single_line(str(message))}", err=True)


F = TypeVar("F", bound=Callable[..., Any])


def option(flag: str, metavar: str, help: str, *name: str, **more: Any) -> Callable[[F], F]:
    """An option with a value.

    name: that of the argument of the command, where it is another.
    """
    return click.option(flag, *name, metavar=metavar, help=help, **more)


def repeated(flag: str, metavar: str, help: str, *name: str, **more: Any) -> Callable[[F], F]:
    """The same with any number of values."""
    return option(flag, metavar, f"{help} May be repeated.", *name, multiple=True, **more)


def switch(flag: str, help: str, *name: str, **more: Any) -> Callable[[F], F]:
    """The same without a value."""
    return click.option(flag, *name, is_flag=True, help=help, **more)


def choice(flag: str, of: Sequence[str], help: str, *name: str, **more: Any) -> Callable[[F], F]:
    """The same with one of some values."""
    return click.option(flag, *name, type=click.Choice(of), help=help, **more)


def top(what: str, least: int = 1) -> Callable[[F], F]:
    """How many of something to show, by default 10."""
    number = click.IntRange(min=least)
    return option("--top", "N", what, type=number, default=10, show_default=True)


as_json = switch("--json", "Print only one JSON document.", "as_json")
of_label = option(
    "--of", "LABEL", "Label to explain.  [default: the predicted one, of several the strongest]"
)
quiet = switch("--quiet", "Print only warnings and errors.")


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
    more = "With --train: the unlabeled documents of the training."
    options = repeated("--train", "CORPUS", what, "corpus"), repeated("--unlabeled", "FILE", more)
    return gathered(TrainingCorpus, "training", *options)


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
    """UsageError for an option with one value that is given twice; unknown ones are passed over.

    Also for those before the command, which come too late here: nothing is imported for them.
    """
    for name in {*_WITH_VALUE} & {*scan(args).every}:
        if not isinstance(command, click.Group):
            raise click.NoSuchOption(name, ctx=ctx)
    parser = command.make_parser(ctx)
    parser.ignore_unknown_options = True
    _, _, order = parser.parse_args(args=list(args))
    for option, times in Counter(order).items():
        if times == 1 or not isinstance(option, click.Option):
            continue
        if not (option.multiple or option.count or option.is_eager):  # --help and --version
            flags = "/".join([*option.opts, *option.secondary_opts])
            raise click.UsageError(f"{flags} is given {times} times: give it once.", ctx)


_FILES = {"files", "model", "source", "sources"}
_FILE_VALUES = {"FILE", "CORPUS", "MODEL"}
# The kinds of the parts that options name.
_KINDS = {
    **dict.fromkeys(("reg", "baseline"), "regularizer"),
    **{kind: kind for kind in ("tokenizer", "groups", "graph", "loss", "backend")},
    "to": "exporter",
}


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
        names = [name for name in self.names if name.startswith(begun)]
        return [CompletionItem(f"{before}{comma}{name}") for name in names]


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
        if not (ctx.resilient_parsing or name.startswith("-") or name in self.own_help(ctx)):
            self._check_known(ctx, name)
        return super().resolve_command(ctx, args)

    def own_help(self, ctx: click.Context) -> dict[str, str]:
        """Its own commands, with one line of help each."""
        return {name: each.get_short_help_str(100) for name, each in sorted(self.commands.items())}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.help_by_name(ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.own_help(ctx):
            return super().get_command(ctx, cmd_name)
        from textreg.plugins import registry

        return cast(click.Command, registry.find("command", self._full(cmd_name)))

    def _full(self, name: str) -> str:
        """The full name of a command, which a distribution may stand in front of."""
        owner, colon, short = name.rpartition(":")
        return f"{owner}{colon}{self.prefix}{short}"

    def _check_known(self, ctx: click.Context, name: str) -> None:
        """UsageError for a name that nothing has; PluginError for one that can be installed."""
        from textreg.plugins import registry
        from textreg.plugins.distributions import satellite_of

        if registry.is_installed("command", self.prefix + name):
            return
        known = self.list_commands(ctx)  # runs files of plugins: only where one may be meant
        if name not in known and (":" in name or satellite_of("command", self._full(name))):
            registry.find("command", self._full(name))
        elif name not in known:
            raise click.UsageError(f"no command '{name}'.{errors.alternatives(name, known)}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.help_by_name(ctx).items()))

    def help_by_name(self, ctx: click.Context) -> dict[str, str]:
        """Its own commands and those of plugins, with one line of help each."""
        from textreg.plugins.distributions import commands_of_all, may_be_blocked

        commands = dict(self.own_help(ctx))  # a plugin cannot take the name of one
        # Without the registry where it has no say: --plugin, --no-plugin.
        if "textreg.plugins.registry" in sys.modules or may_be_blocked():
            from textreg.plugins import registry

            theirs = registry.commands()
        else:
            theirs = commands_of_all()
        for name, line in theirs.items():
            inner = name.removeprefix(self.prefix)
            if name.startswith(self.prefix) and "." not in inner:
                commands.setdefault(inner, line)
        return commands
