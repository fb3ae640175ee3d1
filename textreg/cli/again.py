"""The options of the training of a model, to train another one like it (``--like``)."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from textreg.cli.given import Given, Options
from textreg.cli.inputs import Reading
from textreg.errors import ModelError, PluginError, UsageError
from textreg.model.saved_tokenizer import TokenizerOrigin, installed_version
from textreg.model.storage import load_model
from textreg.plugins.loading import title
from textreg.reading.columns import NoColumnsError
from textreg.records import Corpus
from textreg.training.recipe import may_be_kept
from textreg.training.settings import PREFIXES

if TYPE_CHECKING:
    from textreg.cluster.connection import Connection
    from textreg.records.stored_texts import StoredTexts


def read_as(
    how: Reading,
    theirs: Collection[str],
    model: str,
    files: Sequence[str],
    *,
    tell: bool,
    texts: StoredTexts | Connection | None = None,
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


class Like:
    """A model whose training is repeated on other documents; loads no plugin.

    Raises ModelError if the model does not hold its settings, or holds something else as such.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.model = load_model(path, tokenizer=False)
        if self.model.summary is None:
            raise ModelError(f"{path} does not hold its settings: name another model with --like.")
        self.summary = self.model.summary
        self.source = self.summary.source
        wrong = [key for key in self.summary.options if not may_be_kept(key)]
        wrong += [key for key in self._reading() if key not in Reading._fields]
        if wrong:
            raise ModelError(
                f"{path} holds the option '{wrong[0]}' of its training, which no model of this "
                "textreg has: pip install -U textreg, or give the options yourself."
            )

    def options(self) -> dict[str, Any]:
        """The options of the training that are no defaults, but its documents."""
        files = {}
        if self.source is None:
            click.echo(
                f"{self.path} was trained in Python: columns, weights and what else its program "
                "made of the documents are not in it.",
                err=True,
            )
        else:
            files = {"dev": self.source.dev, "unlabeled": self.source.unlabeled}
        listed = {key: value for key, value in files.items() if value}
        return {**self._reading(), **self.summary.options, **listed}

    def _reading(self) -> dict[str, Any]:
        return {} if self.source is None else self.source.reading

    def ready(self, given: Options, above: Options) -> Options:
        """Options with the parts of this model by names that nothing else has.

        given: what is left of :meth:`options`, with those of a file. above: those of the command
        line. ModelError for a part that is missing, and for what no option can say.
        """
        named = {**given, **above}
        self._check_tokenizer(named)
        split = self.summary.split
        if split is not None and split.kind == "dev" and not {"dev", "holdout", "cv"} & {*named}:
            raise ModelError(
                f"{self.path} was trained with documents of its own to choose hyperparameters on: "
                "name some with --dev FILE, or hold out a fraction with --holdout 0.1."
            )
        mine = [key for key in PREFIXES if key in given and given[key].file == self.path]
        spelled = {key: Given(self._spelled(key, given[key].value), self.path) for key in mine}
        return {**given, **spelled}

    def _check_tokenizer(self, named: Options) -> None:
        origins = [TokenizerOrigin.of(part.tokenizer) for part in self.model.encoder.parts]
        unnamed = [origin for origin in origins if origin.source != "plugin"]
        if unnamed and "tokenizer" not in named:
            what = "on lists of tokens"
            if unnamed[0].source == "callable":
                what = f"with the tokenizer '{unnamed[0].name}', a callable of its program"
            raise ModelError(
                f"{self.path} was trained in Python {what}, which no option can name: choose a "
                "tokenizer with --tokenizer."
            )

    def _spelled(self, key: str, name: str) -> str:
        """The name of a part by which just that of the training is found."""
        kind = PREFIXES[key]
        for part in self.summary.plugins:
            missing = part.distribution and not installed_version(part.distribution)
            if part.kind == kind and part.name in name.split(",") and missing:
                package = shlex.quote(f"{part.distribution}=={part.version}".removesuffix("=="))
                raise ModelError(
                    f"{self.path} was trained with the {title(kind)} '{part.name}' of "
                    f"{part.distribution} {part.version}, which is not installed: pip install "
                    f"{package}. Or choose another one with --{key}."
                )
        try:
            return self.summary.spelled(kind, name)
        except PluginError as error:
            raise ModelError(f"{self.path}: {error}") from error
