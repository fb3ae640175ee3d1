"""Write what the code says of itself: reference.md, commands.md, records.md, plugin-list.md, the
checks of contract.md, the kernels of kernels.md, the Parameters sections of the estimators, and the
typed keywords of train.

With --check nothing is written; the program fails if a file is not as it would be written.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import commands
import distributions
import estimators
import keywords
import records

from textreg.features.vectorize import Vectorizer
from textreg.params import AUTO, Choices, LogGrid, Param
from textreg.plugins import registry
from textreg.reading.formats import FORMATS
from textreg.training.recipe import JOINED
from textreg.training.settings import declared_settings
from textreg_testing import CHECKS

KINDS = {
    "regularizer": ("Regularizers", "reg"),
    "tokenizer": ("Tokenizers", "tokenizer"),
    "groups": ("Group builders", "groups"),
    "graph": ("Graph builders", "graph"),
    "loss": ("Losses", "loss"),
    "exporter": ("Exporters", "to"),
    "backend": ("Backends", "backend"),
    "vectors": ("Word vectors", "vectors"),
}
HEAD = """% Written by docs/reference.py from the declarations in the code: `make reference`.

# Parameters

The parts of textreg and their parameters. `--reg-l1 0.1` on the command line is
`reg_l1=0.1` in Python, for `TextClassifier` and `train`, and `Lasso(l1=0.1)` for the class itself.
A search tries fractions of a scale: the smallest penalty strength at which all weights are zero.
"""

VECTORIZER = Vectorizer.declared()
SETTINGS_HEAD = """The settings of a training: options of `textreg train` and keywords of `train`,
the estimators and `compare`. In Python, `dev` and `unlabeled` take a corpus; `class_weight`,
`threshold` and `search_space` take a mapping. A setting without `--` is a keyword of Python: on the
command line it follows that of another, `--min-label N:RARE_LABEL`, `--unknown LABEL:UNKNOWN_RULE`,
`--select sparsest:WITHIN`, `--backend dask:ADDRESS`; the variable `TMPDIR` stands for `scratch`.
"""

IN_PYTHON = {"scratch", *JOINED.values()}
"""Settings that are no option of their own: with a colon behind that of another, or a variable."""

TYPES = {bool: "on or off", int: "whole number", float: "number", str: "text"}

FORMATS_HEAD = """A file is recognized by its first bytes, its ending, or its first line.
Each may be compressed with gzip, bzip2, xz or zstd. A folder that holds a folder for each class,
with a file for each document, is read as well. [Files](files.md) has rows that cannot be read,
and limits.

| format | name | endings | contents |
|---|---|---|---|"""


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def description(cls: type[Any]) -> str:
    """The docstring of a class without its sections, such as Parameters, which tables show."""
    return re.split(r"\n\n\w+\n---", inspect.getdoc(cls) or "")[0]


def values(param: Param) -> str:
    """What a parameter may be, in words."""
    if param.choices is not None:
        words = ", ".join(f"`{choice}`" for choice in param.choices)
    else:
        words = TYPES.get(param.type, f"`{param.metavar}`")
        if param.min is not None:
            words += f", {param.min:g} or more" if param.max is None else f", {param.min:g}"
        if param.max is not None:
            words += f" to {param.max:g}" if param.min is not None else f", {param.max:g} or less"
    return words + (", or none" if param.optional else "")


def default(param: Param) -> str:
    """The default, or the values that are tried."""
    if param.default is None:
        return "none"
    if isinstance(param.default, bool):
        return "on" if param.default else "off"
    if param.default is not AUTO:
        return f"`{param.default:g}`" if param.type is float else f"`{param.default}`"
    if isinstance(param.search, LogGrid):
        shares = param.search.fractions
        return f"search: {len(shares)} values, {shares[0]:g} to {shares[-1]:g} of the scale"
    if isinstance(param.search, Choices):
        return "search: " + ", ".join(f"`{value}`" for value in param.search.candidates)
    return "required"


def table(prefix: str, cls: type[Any]) -> list[str]:
    """The parameters of a class; ``prefix`` is that of their options."""
    params = cls.declared()
    if not params:
        return ["It has no parameters.", ""]
    lines = rows(prefix, params)
    for key, param in params.items():
        for choice, options in (param.options or {}).items():
            if extra := options.declared():
                flag = f"{prefix}_{key}".strip("_").replace("_", "-")
                lines += ["", f"With `--{flag} {choice}`:", "", *rows(prefix, extra)]
    return [*lines, ""]


def rows(prefix: str, params: Mapping[str, Param]) -> list[str]:
    """The lines of a table of parameters."""
    lines = ["| option | values | default | meaning |", "|---|---|---|---|"]
    for key, param in params.items():
        flag = f"{prefix}_{key}".strip("_").replace("_", "-")
        option = f"`--{flag}`, `--no-{flag}`" if param.type is bool else f"`--{flag}`"
        if not prefix and key in IN_PYTHON:
            option = f"`{key}`"
        lines.append(f"| {option} | {values(param)} | {default(param)} | {cell(param.help)} |")
    return lines


def file_formats() -> list[str]:
    """The formats that documents are read from, in the order in which they are recognized."""
    lines = [FORMATS_HEAD]
    for known in FORMATS:
        endings = " ".join(f"`{ending}`" for ending in known.endings)
        contents = cell(description(type(known)))
        lines.append(f"| `{known.name}` | {known.title} | {endings} | {contents} |")
    return lines


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for kind, (heading, prefix) in KINDS.items():
        own = [
            row for row in registry.listing() if row.kind == kind and row.distribution == "textreg"
        ]
        if own:
            lines += [f"## {heading}", ""]
        for row in own:
            cls = registry.find(kind, f"textreg:{row.name}")
            lines += [f"### {row.name}", "", f"`--{prefix} {row.name}`. {description(cls)}", ""]
            lines += table(prefix, cls)
    lines += ["## File formats", "", *file_formats(), ""]
    own = {name: it for name, it in declared_settings().items() if name not in VECTORIZER}
    lines += ["## Training", "", SETTINGS_HEAD, *rows("", own), ""]
    lines += ["## Features", "", description(Vectorizer), "", *table("", Vectorizer)]
    return "\n".join(lines).rstrip() + "\n"


def contract(path: Path) -> str:
    """The page of the contract: what is written by hand, then a row for each promise."""
    names: dict[str, list[str]] = {}
    for check in (check for checks in CHECKS.values() for check in checks()):
        names.setdefault(check.promise, []).append(f"`{check.name}`")
    by_hand = path.read_text(encoding="utf-8").partition("\n| check")[0]
    table = [f"| {', '.join(each)} | {cell(promise)} |" for promise, each in names.items()]
    return "\n".join([by_hand, "| check | promise |", "|---|---|", *table, ""])


def kernels(path: Path) -> str:
    """The page of the kernels: what is written by hand, around a row for each module."""
    before, _, table = path.read_text(encoding="utf-8").partition("\n| module")
    lines = [
        "| module of `textreg._core` | what it does | functions and classes |",
        "|---|---|---|",
    ]
    for module in sorted((path.parent.parent / "textreg" / "_core").glob("*.pyx")):
        code = module.read_text(encoding="utf-8")
        summary = re.split(r'"""', code)[1].split("\n\n")[0].replace("``", "`")
        names = re.findall(r"^(?:def|cdef class) ([A-Za-z]\w*)", code, re.MULTILINE)
        if names:
            known = ", ".join(f"`{name}`" for name in names)
            lines.append(f"| `{module.stem}` | {cell(summary)} | {known} |")
    return "\n".join([before, *lines, ""]) + table.partition("\n\n")[2].join(["\n", ""])


def main() -> int:
    """Write the files, or check them."""
    folder = Path(__file__).parent
    files = {folder / "reference.md": page(), folder / "commands.md": commands.page()}
    files[folder / "records.md"] = records.page()
    files[folder / "plugin-list.md"] = distributions.page()
    files[folder / "contract.md"] = contract(folder / "contract.md")
    files[folder / "kernels.md"] = kernels(folder / "kernels.md")
    files[keywords.PATH] = keywords.source()
    outdated = 0
    for path, text in (files | estimators.sources()).items():
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path} is not what the code says: run `make reference`.", file=sys.stderr)
            outdated = 1
    return outdated


if __name__ == "__main__":
    sys.exit(main())
