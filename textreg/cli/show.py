"""``textreg show``: the content of a model file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.output import print_json, print_table, size
from textreg.cli.show_path import show_path
from textreg.cli.trained import added_text
from textreg.errors import UsageError
from textreg.features.encoder import Encoder
from textreg.features.joined import AnyEncoder
from textreg.model.container import file_digest
from textreg.model.model import Model
from textreg.model.origin_summary import PartOrigin
from textreg.model.saved_tokenizer import TokenizerOrigin, missing_tokenizer
from textreg.model.storage import load_model
from textreg.structure.joining import joint_names
from textreg.terminal import shell_line, single_line, visible


class What(NamedTuple):
    """What to show in place of everything."""

    path: bool
    coefficients: str | None
    errors: bool
    sentences: str | None
    plot: str | None
    digest: bool
    command: bool

    @property
    def of_path(self) -> tuple[str, str] | None:
        """The one table of the path that is asked for; UsageError for several."""
        given = {
            "coefficients": self.coefficients,
            "errors": "" if self.errors else None,
            "sentences": self.sentences,
        }
        asked = [(option, value) for option, value in given.items() if value is not None]
        if len(asked) > 1:
            raise UsageError(
                f"--{asked[0][0]} and --{asked[1][0]} are two tables: ask for one at a time."
            )
        return asked[0] if asked else None


@click.command(cls=shared.Command, name="show")
@click.argument("model")
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of features to show for each label.",
)
@shared.gathered(
    What,
    "what",
    click.option("--path", is_flag=True, help="Show the regularization path: see train --path."),
    click.option(
        "--coefficients",
        metavar="NAMES",
        help="Show the weights of these features along the path, with commas between them; '' for "
        "the strongest.",
    ),
    click.option(
        "--errors", is_flag=True, help="Show the training error and the held-out error along it."
    ),
    click.option(
        "--sentences",
        metavar="FILE",
        help="Show where along the path each sentence of the one document in FILE is selected; - "
        "for standard input.",
    ),
    click.option(
        "--plot",
        metavar="FILE",
        help="Plot what is shown of the path, else the metric against features, as .svg or .png.",
    ),
    click.option(
        "--digest",
        is_flag=True,
        help="Print the SHA-256 digest of the file and nothing else, as sha256sum does.",
    ),
    click.option(
        "--command",
        is_flag=True,
        help="Print the command that made the model and nothing else: see also train --like.",
    ),
)
@shared.as_json
def command(model: str, top: int, what: What, as_json: bool) -> None:
    """Show the settings of a model, its size, and the features that support each label most.

    With --path, show the models along its regularization path instead, and which one was chosen;
    with --coefficients, --errors or --sentences how these change along it.
    """
    if what.digest:
        found = file_digest(Path(model))
        if as_json:
            print_json({"model": model, "sha256": found})
        else:
            click.echo(f"{found}  {model}")
        return
    of_path = what.of_path
    loaded = load_model(model, tokenizer=what.sentences is not None)
    if what.command:
        _show_command(loaded, model, as_json)
        return
    if what.path or what.plot or of_path:
        show_path(loaded, model, of_path, what.plot, as_json)
        return
    facts = _facts(loaded, model)
    features = loaded.top_features(top)
    if as_json:
        summary = None if loaded.summary is None else loaded.summary.to_json()
        print_json({**facts, "summary": summary, "top": features})
        return
    shown = {key: value for key, value in facts.items() if value != []}  # a regression: no labels
    print_table([(_title(key), _text(value, key)) for key, value in shown.items()])
    for label, weighted in features.items():
        click.echo(f"\n{single_line(label)}")
        if weighted:
            print_table([(visible(name), weight) for name, weight in weighted], indent="  ")
        else:
            click.echo("  (no feature supports it)")


def _show_command(model: Model, file: str, as_json: bool) -> None:
    from textreg.report.reproduce import train_command

    words = train_command(model, file)
    if as_json:
        print_json({"model": file, "command": words})
        return
    if model.summary is not None and model.summary.source is None:
        click.echo("The model was trained in Python: CORPUS stands for its documents.", err=True)
    click.echo(shell_line(words))


def _facts(model: Model, path: str) -> dict[str, Any]:
    """Facts about the model as a whole, by title."""
    summary, encoder = model.summary, model.encoder
    facts: dict[str, Any] = {
        "model": path,
        "bytes": os.path.getsize(path),
        "task": model.task.name,
        "loss": model.loss,
        "labels": list(model.labels),
        "features": model.n_features,
    }
    facts |= _feature_facts(encoder)
    if model.calibration is not None:
        facts["calibration"] = {"method": model.calibration.method}
        if model.calibration.method == "temperature":
            facts["calibration"]["temperature"] = model.calibration.temperature
    if model.thresholds:
        facts["thresholds"] = model.thresholds
    if any(part.weighting.norm == "features" for part in encoder.parts):
        facts["known_words"] = _known_words(encoder)
    if summary is not None:
        facts["regularizer"] = {"name": summary.reg.name, **summary.reg.params}
    plugins = () if summary is None else summary.plugins
    if external := [part for part in plugins if part.distribution != "textreg"]:
        facts["plugins"] = [_origin(part) for part in external]
    origins = [TokenizerOrigin.of(part.tokenizer) for part in encoder.parts]
    if missing := " and ".join(filter(None, map(missing_tokenizer, origins))):
        facts["needs"] = missing
    if summary is not None:
        plain = summary.to_json()
        facts |= {key: plain[key] for key in ("documents", "objective", "gap", "converged", "dev")}
        if summary.loss_params:
            facts["loss_params"] = summary.loss_params
        if summary.unsmoothed is not None:
            facts["unsmoothed"] = plain["unsmoothed"]
        if summary.updates:
            facts["updates"] = [added_text(one) for one in summary.updates]
    return facts


def _origin(part: PartOrigin) -> str:
    """A part of the training in words; one that was passed as an object has no distribution."""
    source = f"{part.distribution} {part.version}".strip() or part.file
    return f"{part.kind} {part.name} of {source or 'a program'} (API {part.api})"


def _feature_facts(encoder: AnyEncoder) -> dict[str, Any]:
    """How documents become features, of every field by itself."""
    if not encoder.fields:
        return {
            "tokenizer": _tokenizer(encoder.parts),
            "vectorizer": encoder.vectorizer.params(),
        }
    facts: dict[str, Any] = {"fields": {field.name: field.kind for field in encoder.fields}}
    for field in encoder.fields:
        own = [part for part in encoder.parts if part.field == field]
        if field.kind == "text":
            facts[f"tokenizer of {field.name}"] = _tokenizer(own)
            facts[f"vectorizer of {field.name}"] = own[0].vectorizer.params()
    return facts


def _tokenizer(encoders: Sequence[Encoder]) -> dict[str, Any]:
    """The names of the tokenizers, and their parameters as options call them."""
    parts = [(part.label, part.tokenizer.params()) for part in encoders]
    facts: dict[str, Any] = {"name": ",".join(label for label, _ in parts)}
    for names, (_, params) in zip(joint_names(parts), parts, strict=True):
        facts |= {names[key]: value for key, value in params.items()}
    return facts


def _known_words(encoder: AnyEncoder) -> dict[str, Any]:
    """The size of names without a weight, which are kept to scale the rows of documents."""
    unused: list[str] = []
    for part in encoder.parts:
        used = set(part.names)
        unused += [name for name in part.vocabulary if name not in used]
    # A name, its end in the table of names, and its inverse document frequency.
    n_bytes = sum(len(name.encode("utf-8", "surrogatepass")) + 16 for name in unused)
    return {"without_weight": len(unused), "bytes": n_bytes}


def _title(key: str) -> str:
    return "size" if key == "bytes" else key.replace("_", " ")


def _text(value: Any, key: str = "") -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_title(key)} {_text(item, key)}" for key, item in value.items())
    if key == "bytes":
        return size(value)
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)
