"""The Parameters sections of the estimators, from the declarations of the settings."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import keywords

from textreg.estimators.text import TextClassifier, TextRegressor, TextVectorizer
from textreg.params import Param
from textreg.tasks import TASKS
from textreg.training.settings import declared_settings

WIDTH, INDENT = 100, " " * 4
SECTION = re.compile(
    r"(?<=\n    Parameters\n    ----------\n).*?(?=\n\n    [A-Z]\w+\n    ---)", re.S
)


def sources() -> dict[Path, str]:
    """The files of the estimators, as they should be."""
    files: dict[Path, str] = {}
    for estimator in (TextClassifier, TextRegressor, TextVectorizer):
        path = Path(inspect.getfile(estimator))
        source = files.get(path) or path.read_text(encoding="utf-8")
        before, line, after = source.partition(f"\nclass {estimator.__name__}(")
        text = parameters(estimator)
        files[path] = before + line + SECTION.sub(lambda _, text=text: text, after, count=1)
    return files


def parameters(estimator: type[Any]) -> str:
    """The lines of a Parameters section, one entry for each parameter of the constructor."""
    declared, lines = declared_settings(), []
    for name, given in inspect.signature(estimator).parameters.items():
        lines.append(f"{INDENT}{name} : {_type(given, declared[name])}")
        help = declared[name].help
        text = f"{help[0].upper()}{help[1:]}."
        indent = INDENT * 2
        lines += textwrap.wrap(
            text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
    return "\n".join(lines)


def _type(given: inspect.Parameter, declared: Param) -> str:
    """The type and the default in the words of numpydoc."""
    choices = declared.choices
    if given.name == "metric":  # those of the estimator's own task
        every = [task for task in TASKS.values() if task.discrete == (given.default is None)]
        choices = list(dict.fromkeys(metric for task in every for metric in task.metrics))
    kind = keywords.KINDS.get(given.name)
    types = keywords.setting_type(given.name, declared) if kind is None else f"str | {kind}"
    if choices is not None:
        types = "str"
    types += " | Callable[[str], Any]" if given.name == "tokenizer" else ""
    types = types.removesuffix(" | None").replace(" | ", " or ")
    words = types if choices is None else f"{{{', '.join(map(repr, choices))}}}"
    default = f"{given.default:g}" if isinstance(given.default, float) else repr(given.default)
    end = ", optional" if given.default is None else f", default {default}"
    fits = len(f"{INDENT}{given.name} : {words}{end}") <= WIDTH
    return (words if fits else types) + end
