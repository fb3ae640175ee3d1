"""Options for reading files, and reading with them."""

from __future__ import annotations

import csv
import functools
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from textreg.cli.shared import CommandLine, F, choice, gathered, option, repeated
from textreg.errors import DataError, FaultsError, UsageError, first_few
from textreg.features.fields import FIELD_OPTIONS
from textreg.reading import corpus as readers
from textreg.reading import formats, source
from textreg.reading.columns import ColumnNames, Likely, NoColumnsError, check_decimals
from textreg.reading.source import MAX_SKIPPED
from textreg.records import Corpus
from textreg.records.documents import Field, StoredTexts, as_fields, fielded
from textreg.tasks import Task
from textreg.terminal import counted, shell_line
from textreg.training.recipe import items_of, words_of

if TYPE_CHECKING:
    from textreg.kinds import Workers
    from textreg.model.model import Model


# Options that name the columns that a document consists of, where these are several.
_FIELDS = [
    option(
        "--text-col",
        "NAME",
        "Column of the texts. May be repeated: each is then a field with features of its own."
        "  [default: guessed]",
        multiple=True,
    ),
    repeated("--category-col", "NAME", "Column of categories, each a feature."),
    repeated("--number-col", "NAME", "Column of numbers, a feature."),
    repeated(
        "--field",
        "COLUMN:SETTING=VALUE",
        "Setting of one column of texts, such as subject:tokenizer=chars.",
    ),
]

_COLUMNS = {
    "text": "Column of the texts.  [default: guessed]",
    "label": "Column of the labels.  [default: guessed]",
    "weight": "Column of the documents' weights.",
    "group": "Column of the documents' groups, such as authors. Groups are held out as a whole.",
    "time": "Column of the documents' times. The latest documents are held out.",
    "evidence": "Column of the passages that people marked as the reason for the label: lists "
    "of passages, or of [start, end] offsets. Weights of marked words are penalized less.",
}
# Columns that only training uses.
TRAINING = ("weight", "group", "time")


def _share(ctx: click.Context, option: click.Parameter, value: str) -> float:
    """A share such as 5% or 0.05, as a float, or a number of rows, as an int."""
    with suppress(ValueError):
        if value.isdecimal():
            return int(value)
        share = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
        if 0 <= share <= 1:
            return share
    raise click.BadParameter(
        f"'{value}' is neither a number of rows, such as 20, nor a share, such as 5%.", ctx, option
    )


class Reading(NamedTuple):
    """How a command reads its files: the values of its options.

    With ``tell`` a method prints one line about what it has read.
    """

    text_col: str | None
    label_col: str | None
    weight_col: str | None
    group_col: str | None
    time_col: str | None
    evidence_col: str | None
    label_sep: str | None
    encoding: str | None
    on_error: str | None
    max_skipped: float | None = None
    multilabel: bool | None = None
    fields: tuple[Field, ...] | None = None
    decimal: Mapping[str, str] | None = None
    label_map: Mapping[str, str] | None = None
    sheet: str | None = None

    def of(self, task: Task | type[Task] | None) -> Reading:
        """How to read the documents of a task; None where these tell it."""
        return self._replace(multilabel=task is not None and task.multilabel)

    def like(self, model: Model) -> Reading:
        """How to read documents for a model: by the columns of its training, where these are.

        UsageError if documents of several fields are to be read by a column of texts.
        """
        fields = model.encoder.fields
        if fields and self.text_col is not None:
            names = ", ".join(field.name for field in fields)
            raise UsageError(
                f"the documents of the model have the fields {names}, which are read from the "
                "columns of these names: leave out --text-col."
            )
        how = self.of(model.task)._replace(fields=fields)
        likely: dict[str, Any] = {
            name: Likely(value) if name.endswith("_col") else value
            for name, value in model.columns.items()
            # A column by its number is one of a file without a header, and no name.
            if getattr(self, name) is None
            and not (name.endswith("_col") and value.isdecimal())
            and not (name == "text_col" and fields)
        }
        source = model.summary and model.summary.source
        stored = source.reading if source else {}
        for name, given in (("decimal", how.decimal or {}), ("label_map", how.label_map or {})):
            if name in stored and "" not in given:  # that mark is of all columns
                likely[name] = {**pairs_of(stored[name]), **given}
        return how._replace(**likely)

    def given(self, texts: Sequence[str]) -> list[str]:
        """Texts of the command line as documents: JSON objects where documents have fields.

        UsageError where they cannot be documents.
        """
        if self.text_col is not None and not isinstance(self.text_col, Likely):
            raise UsageError("a text has no columns: leave out --text-col, or name a file.")
        if not self.fields:
            return list(texts)
        try:
            objects = [json.loads(text) for text in texts]
            return list[str](fielded(objects, self.fields, decimals=self.decimal))
        except json.JSONDecodeError:
            names = ", ".join(field.name for field in self.fields)
            raise UsageError(
                f"a text alone has no fields, and the documents of the model have {names}: name a "
                "file with these columns, or give an object of JSON, such as "
                f"'{{\"{self.fields[0].name}\": ...}}'."
            ) from None

    def refuse_labels(self) -> None:
        """UsageError for options of labels, where texts are explained."""
        if self.label_col is not None or self.label_sep is not None:
            raise UsageError(
                "texts to explain have no labels: leave out --label-col and --label-sep."
            )

    def kept(self, corpus: Corpus) -> dict[str, Any]:
        """The options for reading that a model keeps: those given, and the columns of a corpus."""
        columns: dict[str, Any] = {
            f"{role}_col": name for role, name in corpus.column_names.items()
        }
        usual = {"on_error": "stop", "max_skipped": MAX_SKIPPED}
        # Whether documents have several labels or fields is said by the settings.
        how = self._replace(multilabel=None, fields=None, decimal=None, label_map=None)
        pairs = {"decimal": corpus.decimals, "label_map": self.label_map}
        columns |= {name: items_of(it) for name, it in pairs.items() if it}
        given = how._asdict().items()
        return columns | {key: it for key, it in given if it not in (None, usual.get(key))}

    def training(
        self,
        files: Sequence[str],
        *,
        tell: bool = False,
        texts: StoredTexts | Workers | None = None,
    ) -> Corpus:
        """Read documents for training: texts, labels, weights, groups and times.

        texts: where texts go, rather than to memory; or the workers that read them and keep them.
        """
        if texts is None or isinstance(texts, Sequence):
            with _telling_the_command():
                corpus = readers.read_corpus(files, texts=texts, **self.options())
            return _told(corpus, files, tell)
        return _told(texts.read(files, **self.options()), files, tell)

    def options(self) -> dict[str, Any]:
        """The keywords of :func:`read_corpus`."""
        how = {"multilabel": bool(self.multilabel), "fields": self.fields or ()}
        return {**self._asdict(), **how}

    def labeled(
        self, files: Sequence[str], *, tell: bool = False, texts: Workers | None = None
    ) -> Corpus:
        """Read labeled documents; texts: the workers that read them and keep them."""
        how = self._replace(weight_col=None, group_col=None, time_col=None, evidence_col=None)
        return how.training(files, tell=tell, texts=texts)

    def readable(self, files: Sequence[str], *, labeled: bool) -> readers.Readable:
        """Read all documents that can be read; the other rows are listed, and stop nothing."""
        most = MAX_SKIPPED if self.max_skipped is None else self.max_skipped
        try:
            with _telling_the_command():
                read = readers.read_readable(
                    files,
                    ColumnNames(self.text_col, self.label_col if labeled else None),
                    labeled=labeled,
                    label_sep=self.label_sep if labeled else None,
                    multilabel=bool(self.multilabel) and labeled,
                    max_skipped=most,
                    label_map=self.label_map,
                    **self._how(),
                )
        except DataError as error:
            others = isinstance(error, FaultsError) and error.options  # which can be read
            if others or not labeled or "label" not in str(error):
                raise
            raise DataError(f"{error} To check texts without labels, pass --no-labels.") from None
        # A column of labels is found all the same where there is one.
        return read if labeled else read._replace(corpus=replace(read.corpus, labels=None))

    def unlabeled(self, files: Sequence[str], *, tell: bool = False) -> Corpus:
        """Read documents without their labels."""
        columns = ("label_col", "weight_col", "group_col", "time_col", "evidence_col")
        none = dict.fromkeys((*columns, "label_sep", "label_map"))
        how = self._replace(**none, multilabel=None).options()
        with _telling_the_command():
            return _told(readers.read_corpus(files, labeled=False, **how), files, tell)

    def records(self, files: Sequence[str], *, full: bool = False) -> Iterator[readers.RecordBatch]:
        """Read unlabeled documents in batches, with all columns, in constant memory.

        full: whether to wait for full batches from a pipe.
        """
        guess, how = "", {**self._how(), "on_error": self.on_error or "stop"}
        for batch in readers.stream_records(files, text_col=self.text_col, full=full, **how):
            guess = _tell_guess(batch.documents, guess, isinstance(self.text_col, Likely))
            yield batch

    def _how(self) -> dict[str, Any]:
        how = {"encoding": self.encoding, "decimal": self.decimal, "sheet": self.sheet}
        return {**how, "fields": self.fields or ()}


def pairs_of(items: Iterable[str]) -> dict[str, str]:
    """What stands before and after the last ``=`` of items such as ``price=comma``."""
    return {name: value for name, _, value in (str(item).rpartition("=") for item in items)}


def _decimals(ctx: click.Context, option: click.Parameter, values: Sequence[str]) -> Any:
    """Decimal marks by the names of columns; None where there are none."""
    marks = pairs_of(values)
    try:
        check_decimals(marks)
    except UsageError as error:
        raise click.BadParameter(f"{error} Write comma, or COLUMN=comma.", ctx, option) from None
    return marks or None


_DECIMAL = repeated(
    "--decimal",
    "[COLUMN=]MARK",
    "Decimal mark of numbers: comma, as in 1.234,50, or point, as in 1,234.50. By default that of "
    "the training; else it is recognized for each column of --number-col.",
    callback=_decimals,
)


def _label_map(ctx: click.Context, option: click.Parameter, values: Sequence[str]) -> Any:
    """Labels that stand for others, of files and of the command line; None without any."""
    labels: dict[str, str] = {}
    for item in values:
        if "=" in item and not os.path.exists(item):
            labels |= pairs_of([item])
            continue
        try:
            lines = Path(item).read_text(encoding="utf-8-sig").splitlines()
            labels |= {variant.strip(): label.strip() for variant, label in csv.reader(lines)}
        except OSError as error:
            what = f"{item} cannot be read: {error.strerror}."
            raise click.BadParameter(what, ctx, option) from None
        except ValueError:
            what = f"{item} is no CSV file of two columns, a label and what it stands for."
            raise click.BadParameter(what, ctx, option) from None
    return labels or None


_LABEL_MAP = repeated(
    "--label-map",
    "FILE|LABEL=OTHER",
    "Replace labels: one by another, or as a CSV file of such pairs says, which textreg check "
    "--fix writes. The model remembers them.",
    callback=_label_map,
)
_LABEL_SEP = option(
    "--label-sep",
    "TEXT",
    "Separator of labels, such as ';', if a document may have any number of them.",
)
_ENCODING = option(
    "--encoding",
    "NAME",
    "Encoding of the files; guess takes the likely one and prints it.  [default: UTF-8, "
    "or detected from a byte-order mark]",
)


def _most_skipped(what: str) -> Callable[[F], F]:
    usual = f"{100 * MAX_SKIPPED:g}%"
    return option("--max-skipped", "N|P%", what, callback=_share, default=usual, show_default=True)


_SHEET = option("--sheet", "NAME", "Sheet of a workbook.  [default: the first]")
_STOPS = [
    choice(
        "--on-error",
        ["stop", "skip"],
        "What to do with rows that cannot be read: stop at the first, or leave them out.",
        default="stop",
        show_default=True,
    ),
    _most_skipped("With --on-error skip: the most rows to leave out, a number or a share."),
]
_ANSWERS = [
    choice(
        "--on-error",
        ["stop", "skip"],
        "What to do with rows that cannot be read: stop at the first, or give each an empty answer "
        "and the reason.  [default: skip for tables, else stop]",
    ),
    option(
        "--label-sep",
        "TEXT",
        "Separator of labels, if a document may have several.",
        default=";",
        show_default=True,
    ),
]


def reading(
    *columns: str,
    answers: bool = False,
    stops: bool = True,
    fields: bool = False,
    trained: bool = False,
) -> Callable[[F], F]:
    """Give a command the options for reading files; it takes them as ``how``, a :class:`Reading`.

    columns: those that it reads beside the texts. answers: whether it answers every row, also
    those that it cannot read. stops: whether rows that cannot be read may stop it. fields: whether
    documents may have several fields. trained: whether a model names the columns.
    """
    usual = "[default: that of the training, if there is one; else guessed]"
    options = [*_FIELDS] if fields else []
    for name in (() if fields else ("text",)) + columns:
        text = _COLUMNS[name].replace("[default: guessed]", usual) if trained else _COLUMNS[name]
        options.append(option(f"--{name}-col", "NAME", text))
    options += [_LABEL_SEP, _LABEL_MAP, _ENCODING] if "label" in columns else [_ENCODING]
    few = _most_skipped("The most rows that cannot be read, a number or a share.")
    options += _ANSWERS if answers else _STOPS if stops else [few]
    options += [_SHEET, *([_DECIMAL] if fields or trained else [])]

    def decorate(command: F) -> F:
        command.__doc__ = (command.__doc__ or "").replace("{formats}", formats.titles())

        @functools.wraps(command)
        def called(*args: Any, how: Reading, **given: Any) -> Any:
            if fields:
                texts = how.text_col or ()
                field_options = [given.pop(name) for name in FIELD_OPTIONS[1:]]
                parsed = parse_fields(texts, *field_options)
                text_col = texts[0] if texts and not parsed else None
                how = how._replace(text_col=text_col, fields=parsed)
            return command(*args, how=how, **given)

        return gathered(Reading, "how", *options)(cast(F, called))

    return decorate


def parse_fields(
    texts: Sequence[str], categories: Sequence[str], numbers: Sequence[str], options: Sequence[str]
) -> tuple[Field, ...]:
    """Fields from the values of options of a command.

    options: such as ``subject:tokenizer=chars``. There are none where each document is one text.

    Raises
    ------
    UsageError
        If a name is given twice, no text is named, or an option is not written so.
    """
    settings_of: dict[str, dict[str, str]] = {}
    for item in options:
        name, colon, setting = item.rpartition(":")
        key, equals, value = setting.partition("=")
        key = key.strip().lstrip("-").replace("-", "_")
        if not (colon and equals and name and key and value):
            raise UsageError(
                "--field must be COLUMN:SETTING=VALUE, such as subject:tokenizer=chars or "
                f"body:ngrams=1, not '{item}'."
            )
        # Twice the same setting: the later one would win in silence.
        if key in settings_of.setdefault(name, {}):
            raise UsageError(f"--field gives {key} of '{name}' twice: leave one of them out.")
        settings_of[name][key] = value
    if len(texts) < 2 and not (settings_of or categories or numbers):
        return ()
    fields: dict[str, Field] = {}
    for flag, kind, names in (
        ("--text-col", "text", dict.fromkeys([*texts, *settings_of])),
        ("--category-col", "category", categories),
        ("--number-col", "number", numbers),
    ):
        for name in names:
            if name in fields:
                raise UsageError(
                    f"{flag} {name}: this column is a {fields[name].kind} already. Name it once."
                )
            fields[name] = Field(name, kind, settings_of.get(name, {}) if kind == "text" else {})
    if len(set(texts)) < len(texts):
        raise UsageError("--text-col names a column twice: leave one out.")
    if not any(field.kind == "text" for field in fields.values()):
        raise UsageError(
            "beside numbers and categories, name the columns of texts as well: --text-col NAME."
        )
    return as_fields(fields.values())


@contextmanager
def _telling_the_command() -> Iterator[None]:
    """Where rows cannot be read, say which command reads the others."""
    try:
        yield
    except FaultsError as error:
        context, message = click.get_current_context(), str(error)
        known = {param.name for param in context.command.params}
        options = {key: it for key, it in error.options.items() if key in known}
        classes = "min_label" in known and context.params.get("task") != "regression"
        if error.rare and classes:
            labels = first_few([f"'{label}'" for label in error.rare], 5)
            message += f" Labels with a single document: {labels}."
            options |= {"min_label": 2} if context.params.get("min_label") is None else {}
        if error.options and isinstance(line := context.find_root().obj, CommandLine):
            command = shell_line(["textreg", *line.words, *words_of(options)])
            message += f" This command reads the other rows: {command}"
        raise FaultsError(message, error.options, error.rare) from None


def read_as(
    how: Reading,
    theirs: Collection[str],
    model: str,
    files: Sequence[str],
    *,
    tell: bool,
    texts: StoredTexts | Workers | None = None,
) -> Corpus:
    """Read documents to train on by columns that a model names.

    theirs: the options of ``how`` that do. A file without columns is read as it is. UsageError as
    for :meth:`Reading.training`; it says which columns come from the model.
    """
    try:
        return how.training(files, tell=tell, texts=texts)
    except NoColumnsError:
        if not theirs or set(theirs) - {"text_col", "label_col"} or "-" in files:
            raise
        none: dict[str, Any] = dict.fromkeys(theirs)
        return how._replace(**none).training(files, tell=tell, texts=texts)
    except UsageError as error:
        if not theirs:
            raise
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in sorted(theirs))
        raise UsageError(
            f"{error} The columns are those of {model}: name others ({flags})."
        ) from None


def _told(corpus: Corpus, files: Sequence[str], tell: bool) -> Corpus:
    """A corpus that was read, after what is to be said of it."""
    if tell:
        describe(files, corpus)
    else:
        _tell_guess(corpus, "")
    return corpus


def _tell_guess(corpus: Corpus, previous: str, texts: bool = False) -> str:
    """Say on standard error which encoding was guessed, unless that is ``previous``.

    texts: whether to say so of the column of the texts, too.
    """
    roles = ("encoding", "text") if texts else ("encoding",)
    told = {role: corpus.columns.get(role, "") for role in roles}
    guess = ", ".join(f"{role} = {what}" for role, what in told.items() if "(guessed" in what)
    if guess not in ("", previous):
        click.echo(guess, err=True)
    return guess


def check_named(files: Sequence[str], purpose: str) -> None:
    """UsageError for files that do not exist, which says how to ``purpose`` a text itself."""
    for path in files:
        if path == "-" or os.path.exists(path):
            continue
        try:
            source.listed(path)
        except UsageError as error:
            raise UsageError(f"{error} To {purpose} a text itself, pass it with --text.") from None


def describe(files: Sequence[str], corpus: Corpus) -> None:
    """Print what was read from where, and which columns were guessed."""
    line = described(title_of(files), len(corpus), corpus.columns)
    if len(corpus.skipped):
        line += f"; {counted(len(corpus.skipped), 'row')} skipped"
    click.echo(line)


def title_of(files: Sequence[str]) -> str:
    """What files are called together."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def described(title: str, documents: int, columns: Mapping[str, str]) -> str:
    """What was read, and its format and columns, on one line."""
    read = ", ".join(f"{role} = {what}" for role, what in columns.items())
    return f"{title}: {counted(documents, 'document')}{f'; {read}' if read else ''}"
