"""Writes a new plugin: a distribution that can be installed, with tests that pass."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from functools import partial
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import NamedTuple

from textreg.errors import UsageError
from textreg.plugins import registry
from textreg.plugins.loading import title
from textreg.signals import tidying

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_USE = {
    "tokenizer": "--tokenizer $name",
    "groups": "--reg group --groups $name",
    "graph": "--reg network --graph $name",
    "regularizer": "--reg $name",
    "loss": "--task regression --loss $name",
}
"""Options with which ``textreg train`` uses a plugin of each kind."""

_FILES = {
    "pyproject.toml": "common/pyproject.toml.tmpl",
    "README.md": "common/README.md.tmpl",
    ".gitignore": "common/gitignore.tmpl",
    ".github/workflows/test.yml": "common/test.yml.tmpl",
    "$module.py": "$kind/module.py.tmpl",
    "tests/test_$short.py": "$kind/test.py.tmpl",
}
"""The files of a distribution, and their templates."""


class NewPlugin(NamedTuple):
    """A new plugin: its folder, its files, and the options that use it in training."""

    folder: Path
    files: tuple[Path, ...]
    use: str


def write_plugin(kind: str, name: str, into: str | os.PathLike[str] = ".") -> NewPlugin:
    """Write the distribution ``textreg-NAME`` with one plugin of this ``kind`` into a folder.

    It has a small working example, the tests of the contract, a README, and settings for building,
    git and continuous integration. Everything is written, or nothing. Raises UsageError where the
    name will not do or is taken, and where the folder cannot be written or is in use already.
    """
    names = _names(kind, name)
    target = Path(into, names["distribution"])
    if not target.parent.is_dir():
        raise UsageError(
            f"the folder {into} does not exist: make it, or name another with --into DIR."
        )
    if target.is_symlink() or (target.exists() and (target.is_file() or any(target.iterdir()))):
        raise UsageError(
            f"{target} is there already, and not empty: take another name, or write elsewhere "
            "with --into DIR."
        )
    texts = {
        Template(path).substitute(names): _filled(Template(template).substitute(names), names)
        for path, template in _FILES.items()
    }
    try:
        folder = target.parent / f".textreg-new-{secrets.token_hex(8)}"
        with tidying(partial(shutil.rmtree, folder, ignore_errors=True)):
            made = folder / target.name
            for path, text in texts.items():
                file = made / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", newline="\n")
            if target.exists():
                target.rmdir()
            made.rename(target)
    except OSError as error:
        raise UsageError(
            f"{target} cannot be written: {error.strerror or error}. Write elsewhere with --into "
            "DIR."
        ) from None
    return NewPlugin(target, tuple(target / path for path in texts), names["use"])


def _names(kind: str, name: str) -> dict[str, str]:
    """The substitutions in the templates; UsageError for an invalid name."""
    taken = [row for row in registry.listing() if (row.kind, row.name) == (kind, name)]
    known = registry.names(kind)
    if name.startswith("textreg-"):
        raise UsageError(
            f"'{name}': leave out 'textreg-', which is put before the name of the distribution."
        )
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' cannot be the name of a plugin here: take small letters and digits, with "
            "single hyphens between them, a letter first, such as my-own."
        )
    if taken:
        raise UsageError(
            f"there is a {title(kind)} called '{name}' already, of {taken[0].distribution}. Take "
            f"another name than {', '.join(known)}."
        )
    short = name.replace("-", "_")
    names = {
        "kind": kind,
        "name": name,
        "short": short,
        "title": title(kind),
        "module": f"textreg_{short}",
        "distribution": f"textreg-{name}",
        "Class": "".join(part.capitalize() for part in name.split("-")),
        "use": Template(_USE[kind]).substitute(name=name),
        "version": ".".join(metadata.version("textreg").split(".")[:2]),
    }
    if names["Class"] in re.findall(r"\w+", _template(f"{kind}/module.py.tmpl")):
        raise UsageError(
            f"'{name}' would be the class {names['Class']}, which the plugin needs for something "
            f"else: take a longer name, such as {name}-one."
        )
    if find_spec(names["module"]) is not None:
        raise UsageError(
            f"a module {names['module']} is installed already, maybe of {names['distribution']}: "
            "take another name."
        )
    return names


def _filled(template: str, names: dict[str, str]) -> str:
    """The text of a file."""
    return Template(_template(template)).substitute(names)


def _template(path: str) -> str:
    """The text of a template."""
    return (resources.files("textreg.authoring") / "templates" / path).read_text(encoding="utf-8")
