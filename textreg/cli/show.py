"""``textreg show``: the contents of a model file, and its regularization path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from textreg.cli import output, shared
from textreg.errors import UsageError
from textreg.explain import path_sentences
from textreg.features.encoder import AnyEncoder, Encoder
from textreg.model import container, saved_encoder, storage
from textreg.model.model import Model
from textreg.model.regularization_path import PathTable, SentencePath, SolutionPath
from textreg.model.summary import PartOrigin
from textreg.structure.joining import joint_names
from textreg.terminal import shell_line, single_line, visible

# Columns of a printed table of coefficients.
MAX_COLUMNS = 8


# Options that ask for one table of a path.
PATH_TABLES: tuple[Any, ...] = (
    shared.option(
        "--coefficients",
        "NAMES",
        "The weights of these features along the path, with commas between them; '' for the "
        "strongest.",
    ),
    shared.switch("--errors", "The training error and the held-out error along the path."),
    shared.option(
        "--sentences",
        "FILE",
        "Where along the path each sentence of the one document in FILE is selected; - for "
        "standard input.",
    ),
)


def path_or_table(
    model: Model, file: str, coefficients: str | None, errors: bool, sentences: str | None
) -> tuple[str, SolutionPath | PathTable]:
    """The path of a model, or the one table of it that is asked for, and what that is called.

    Raises UsageError for several, and where the model has no path.
    """
    given = {
        "--coefficients": coefficients is not None,
        "--errors": errors,
        "--sentences": sentences is not None,
    }
    asked = [option for option, is_given in given.items() if is_given]
    if len(asked) > 1:
        raise UsageError(f"{asked[0]} and {asked[1]} are two tables: ask for one at a time.")
    if model.path is None:
        if find_spec("scipy") is None:
            install = shell_line(["pip", "install", "textreg"])
            raise UsageError(f"the path of {file} needs SciPy, which is not installed: {install}")
        raise UsageError(
            f"{file} has no regularization path: train with textreg train FILE --path."
        )
    if errors:
        return "errors", model.path.errors()
    if coefficients is not None:
        names = [name for name in coefficients.split(",") if name]
        return "coefficients", model.path.coefficients(names or None, top=MAX_COLUMNS)
    if sentences is not None:
        return "sentences", path_sentences(model, [_document(sentences)])
    return "path", model.path


def show_path(name: str, shown: SolutionPath | PathTable, file: str, as_json: bool) -> None:
    """Print a path, or a table of one, called ``name`` in JSON."""
    if as_json:
        output.print_json({"model": file, name: shown.to_dict()})
    elif isinstance(shown, SentencePath):
        # Each sentence with the values of the parameter where it is selected.
        click.echo(f"selected sentences along {shown.parameter} (* is the model)")
        rows: list[list[str]] = [["", "SELECTED AT", "SENTENCE"]]
        for selected, sentence in zip(shown.selected.T, shown.sentences, strict=True):
            mark = "*" * int(selected[shown.chosen])
            rows.append([mark, _runs(shown, np.flatnonzero(selected)), sentence])
        output.print_table(rows, right=[False] * 3)
    elif isinstance(shown, PathTable):
        click.echo(f"{shown.quantity} along {shown.parameter} (* is the model)")
        rows = [[shown.parameter, *map(visible, shown.names)]]
        for number, (value, row) in enumerate(zip(shown.values, shown.array, strict=True)):
            mark = "*" * (number == shown.chosen)
            rows.append([f"{value:.3g}{mark}", *(f"{weight:.3f}" for weight in row)])
        output.print_table(rows, right=[False] + [True] * len(shown.names))
    else:
        ((_, points),) = shown.tables()
        output.print_table(points, right=[False] + [True] * (len(points[0]) - 1))


def _document(file: str) -> str:
    """The one document in a file, or of standard input."""
    try:
        with click.open_file(file, encoding="utf-8") as opened:
            return str(opened.read())
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror}: name a file with one document (--sentences FILE)."
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8: save the document as UTF-8.") from None


def _runs(table: SentencePath, points: NDArray[np.intp]) -> str:
    """Ranges of the parameter, such as ``0.7 to 0.08``; ``none`` without points."""
    runs = np.split(points, np.flatnonzero(np.diff(points) > 1) + 1) if len(points) else []
    ends = [(f"{table.values[run[0]]:.3g}", f"{table.values[run[-1]]:.3g}") for run in runs]
    return ", ".join(one if one == two else f"{one} to {two}" for one, two in ends) or "none"


# Options as fields of a record: see shared.gathered.
declared: Any = shared


class What(NamedTuple):
    """What to show in place of everything."""

    path: bool = declared.switch("--path", "Show the regularization path: see train --path.")
    coefficients: str | None = PATH_TABLES[0]
    errors: bool = PATH_TABLES[1]
    sentences: str | None = PATH_TABLES[2]
    digest: bool = declared.switch(
        "--digest", "Print the SHA-256 digest of the file and nothing else, as sha256sum does."
    )
    command: bool = declared.switch(
        "--command",
        "Print the command that made the model and nothing else: see also train --config.",
    )


@click.command(cls=shared.Command, name="show")
@click.argument("model")
@shared.top("Number of features to show for each label.", least=0)
@shared.gathered(What, "what")
@shared.as_json
def command(model: str, top: int, what: What, as_json: bool) -> None:
    """Show the settings of a model, its size, and the features that support each label most.

    With --path, show the models along its regularization path instead, and which one was chosen;
    with --coefficients, --errors or --sentences how these change along it.
    """
    if what.digest:
        digest = container.file_digest(Path(model))
        if as_json:
            output.print_json({"model": model, "sha256": digest})
        else:
            click.echo(f"{digest}  {model}")
        return
    loaded = storage.load_model(model, tokenizer=what.sentences is not None)
    if what.command:
        _show_command(loaded, model, as_json)
        return
    tables = what.coefficients, what.errors, what.sentences
    if what.path or tables != (None, False, None):
        show_path(*path_or_table(loaded, model, *tables), model, as_json)
        return
    facts = {"model": model, "bytes": os.path.getsize(model), **facts_of(loaded)}
    features = loaded.top_features(top)
    if as_json:
        summary = None if loaded.summary is None else loaded.summary.to_json()
        output.print_json({**facts, "summary": summary, "top": features})
        return
    output.print_table(told(facts))
    inferred = {loaded.encoder.names[at] for at in loaded.inferred.nonzero()[0].tolist()}
    for label, weighted in features.items():
        click.echo(f"\n{single_line(label)}")
        if weighted:
            marked = [
                (visible(name) + (" (inferred)" if name in inferred else ""), weight)
                for name, weight in weighted
            ]
            output.print_table(marked, indent="  ")
        else:
            click.echo("  (no feature supports it)")


def _show_command(model: Model, file: str, as_json: bool) -> None:
    from textreg.training.recipe import train_command

    words = train_command(model, file)
    if as_json:
        output.print_json({"model": file, "command": words})
        return
    if model.summary is not None and model.summary.source is None:
        click.echo("The model was trained in Python: CORPUS stands for its documents.", err=True)
    click.echo(shell_line(words))


def facts_of(model: Model) -> dict[str, Any]:
    """Facts about a model as a whole, as JSON values."""
    summary, encoder = model.summary, model.encoder
    facts: dict[str, Any] = {
        "task": model.task.name,
        "loss": model.loss,
        "labels": list(model.labels),
        "features": model.n_features,
    }
    facts |= _feature_facts(encoder)
    facts |= _left_out_facts(model)
    if summary is not None:
        facts["regularizer"] = {"name": summary.reg.name, **summary.reg.params}
        if (selected := summary.selected) is not None:
            facts["selected"] = selected
        if external := [part for part in summary.plugins if part.distribution != "textreg"]:
            facts["plugins"] = [_origin(part) for part in external]
    origins = [saved_encoder.TokenizerOrigin.of(part.tokenizer) for part in encoder.parts]
    if missing := " and ".join(filter(None, map(saved_encoder.missing_tokenizer, origins))):
        facts["needs"] = missing
    if summary is not None:
        plain = summary.to_json()
        facts |= {key: plain[key] for key in ("documents", "objective", "gap", "converged", "dev")}
        if summary.loss_params:
            facts["loss_params"] = summary.loss_params
        if summary.unsmoothed is not None:
            facts["unsmoothed"] = plain["unsmoothed"]
        if summary.updates:
            facts["updates"] = [output.added_text(update) for update in summary.updates]
    return facts


def _left_out_facts(model: Model) -> dict[str, Any]:
    """What was learned from documents left out of the fit."""
    facts: dict[str, Any] = {}
    if model.summary is not None and (shift := model.summary.shift) is not None:
        before = "" if shift.kind == "none" else "; objective and gap are of the fit before that"
        facts["intercept"] = output.shift_text(shift) + before
    if model.summary is not None and model.summary.vectors is not None:
        facts["vectors"] = output.vectors_text(model.summary.vectors)
    if model.summary is not None and model.summary.marks is not None:
        facts["marks"] = output.marks_text(model.summary.marks)
    if model.calibration is not None:
        facts["calibration"] = {"method": model.calibration.method}
        if model.calibration.method == "temperature":
            facts["calibration"]["temperature"] = model.calibration.temperature
    if model.thresholds:
        facts["thresholds"] = model.thresholds
    return facts


def _origin(part: PartOrigin) -> str:
    """A part of the training in words; one that was passed as an object has no distribution."""
    source = f"{part.distribution} {part.version}".strip() or part.file
    return f"{part.kind} {part.name} of {source or 'a program'} (API {part.api})"


def _feature_facts(encoder: AnyEncoder) -> dict[str, Any]:
    """How documents become features, of every field by itself."""
    if not encoder.fields:
        return {"tokenizer": _tokenizer(encoder.parts), "vectorizer": encoder.vectorizer.params()}
    facts: dict[str, Any] = {"fields": {field.name: field.kind for field in encoder.fields}}
    for field in encoder.fields:
        parts = [part for part in encoder.parts if part.field == field]
        if field.kind == "text":
            facts[f"tokenizer of {field.name}"] = _tokenizer(parts)
            facts[f"vectorizer of {field.name}"] = parts[0].vectorizer.params()
    return facts


def _tokenizer(encoders: Sequence[Encoder]) -> dict[str, Any]:
    """The names of the tokenizers, and their parameters as options call them."""
    parts = [(part.label, part.tokenizer.params()) for part in encoders]
    facts: dict[str, Any] = {"name": ",".join(label for label, _ in parts)}
    for names, (_, params) in zip(joint_names(parts), parts, strict=True):
        facts |= {names[key]: value for key, value in params.items()}
    return facts


def told(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Facts as titles and texts, without empty ones, as the labels of a regression."""
    return [(_title(key), text_of(value, key)) for key, value in facts.items() if value != []]


def _title(key: str) -> str:
    return "size" if key == "bytes" else key.replace("_", " ")


def text_of(value: Any, key: str = "") -> str:
    """A JSON value as people read it; key: its name."""
    if isinstance(value, dict):
        return ", ".join(f"{_title(key)} {text_of(item, key)}" for key, item in value.items())
    if key == "bytes":
        return output.size(value)
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)
