"""Writes a new plugin: a distribution that can be installed, with tests that pass."""

from __future__ import annotations

import ast
import builtins
import keyword
import os
import re
import shutil
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import NamedTuple

from textreg.cli import COMMANDS
from textreg.errors import UsageError, alternatives
from textreg.files import read_toml
from textreg.hookspecs import HOOK_OF_KIND
from textreg.interrupts import tidying
from textreg.kinds import API
from textreg.plugins import registry
from textreg.plugins.loading import title

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# Most characters of a name, by which folders and files are called.
_LONGEST = 40

# The templates of every kind, the usual one first.
TEMPLATES: dict[str, tuple[str, ...]] = {
    kind: (kind,) for kind in HOOK_OF_KIND if kind not in ("backend", "vectors")
}
TEMPLATES["regularizer"] = ("penalty", "solve", "cython")

# Where the templates are, a folder for each, and one for what all have.
_FOLDER = Path(__file__).with_name("templates")


class NewPlugin(NamedTuple):
    """A new plugin: its folder, its files, and the options that use it in training."""

    folder: Path
    files: tuple[Path, ...]
    use: str


def write_plugin(
    kind: str, name: str, into: str | os.PathLike[str] = ".", template: str = ""
) -> NewPlugin:
    """Write the distribution ``textreg-NAME`` with one plugin of this ``kind`` into a folder.

    It has a small working example, the tests of the contract, a README, and settings for building,
    git and continuous integration. Everything is written, or nothing. template: one of those in
    ``TEMPLATES``, the first if empty. Raises UsageError where the name will not do or is taken,
    where there is no such template, and where the folder cannot be written or is in use already.
    """
    names = _names(kind, name, _template_of(kind, template))
    target = Path(into, names["distribution"])
    if fault := next(_faults(names, target), None):
        raise UsageError(fault)
    texts = {
        Template(path).substitute(names): Template(text).substitute(names)
        for layer in ("common", names["template"])
        for path, text in _templates(layer).items()
    }
    try:
        folder = target.parent / f".textreg-new-{os.urandom(8).hex()}"
        with tidying(partial(shutil.rmtree, folder, ignore_errors=True)):
            for path, text in texts.items():
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", newline="\n")
            if target.exists():
                target.rmdir()
            folder.rename(target)
    except OSError as error:
        raise UsageError(
            f"{target} cannot be written: {error.strerror or error}. Write elsewhere with --into "
            "DIR."
        ) from None
    return NewPlugin(target, tuple(target / path for path in texts), names["use"])


def _template_of(kind: str, template: str) -> str:
    """The template of a kind that is called so; UsageError if there is none."""
    known = TEMPLATES[kind]
    if template and template not in known:
        raise UsageError(
            f"there is no {title(kind)} template '{template}'.{alternatives(template, known)} "
            "Leave out --template for the first of them."
        )
    return template or known[0]


def _names(kind: str, name: str, template: str) -> dict[str, str]:
    """The substitutions in the templates."""
    short = name.replace("-", "_")
    names = {
        "kind": kind,
        "name": name,
        "short": short,
        "title": title(kind),
        "template": template,
        "module": f"textreg_{short}",
        "distribution": f"textreg-{name}",
        "Class": "".join(part.capitalize() for part in name.split("-")),
        "api": str(API),
        "version": ".".join(metadata.version("textreg").split(".")[:2]),
    }
    values = read_toml(_FOLDER / "values.toml")
    for layer in ("common", kind, template):
        for key, text in values.get(layer, {}).items():
            names[key] = Template(text).substitute(names)
    return names


def _faults(names: dict[str, str], target: Path) -> Iterator[str]:
    """What is wrong with a name or a folder, the first of which is to be told."""
    kind, name, cls, module = (names[key] for key in ("kind", "name", "Class", "module"))
    if name.startswith("textreg-"):
        yield f"'{name}': leave out 'textreg-', which is put before the name of the distribution."
    if not _NAME.fullmatch(name):
        yield (
            f"'{name}' cannot be the name of a plugin here: take small letters and digits, with "
            "single hyphens between them, a letter first, such as my-own."
        )
    if len(name) > _LONGEST:
        yield f"'{name}' is too long: take {_LONGEST} characters at most."
    if name == "none":
        yield "'none' as an option's value means no part: take another name."
    taken = [it.distribution for it in registry.listing() if (it.kind, it.name) == (kind, name)]
    if taken or (kind == "command" and name in COMMANDS):
        yield (
            f"another {title(kind)} is called '{name}' already, that of "
            f"{[*taken, 'textreg'][0]}. Take another name than {', '.join(registry.names(kind))}."
        )
    if hasattr(builtins, cls) or keyword.iskeyword(cls) or cls in _used(names):
        yield (
            f"'{name}' would be the class {cls}, which is something else in Python or the plugin: "
            f"take a longer name, such as {name}-one."
        )
    if find_spec(module) is not None:
        yield f"a module {module} is installed already, maybe of {target.name}: take another name."
    if any(metadata.distributions(name=target.name)):
        yield f"a distribution {target.name} is installed already: take another name."
    if not (folder := target.parent).is_dir():
        yield f"the folder {folder} does not exist: make it, or name another with --into DIR."
    if target.is_symlink() or target.is_file() or (target.exists() and any(target.iterdir())):
        yield (
            f"{target} is there already, and not empty: take another name, or write elsewhere "
            "with --into DIR."
        )


def _used(names: dict[str, str]) -> set[str]:
    """The names that the module of a template binds or uses, but for that of its class."""
    modules = [text for path, text in _templates(names["template"]).items() if "$module" in path]
    text = Template(modules[0]).substitute(names, Class="_Class")
    return {
        getattr(node, "id", getattr(node, "name", ""))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Name, ast.alias, ast.ClassDef))
    }


def _templates(layer: str) -> dict[str, str]:
    """The texts of one folder of templates, by the paths of what they become."""
    folder = _FOLDER / layer
    return {
        path.relative_to(folder).as_posix().removesuffix(".tmpl"): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.tmpl"))
    }
