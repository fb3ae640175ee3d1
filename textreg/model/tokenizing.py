"""The tokenizer of a model file: what is written of it, and how it is found again."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from textreg.errors import ModelError, PluginError, PluginWarning, UsageError
from textreg.kinds import Tokenizer
from textreg.model.container import FaultError, field
from textreg.plugins import registry
from textreg.plugins.entries import PART_NAME
from textreg.plugins.inventory import PluginInfo

# Printed as part of a command, so nothing that a shell or pip would take for more.
_PATTERNS = {
    "name": PART_NAME,
    "distribution": re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)?"),
    "version": re.compile(r"[A-Za-z0-9._+!-]*"),
    "file": re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]+"),
    "sha256": re.compile(r"[0-9a-f]{64}"),
}
_OPTIONAL = {"file", "sha256"}  # there where the tokenizer is from a file


def describe(tokenizer: Tokenizer) -> dict[str, Any]:
    """Name, parameters, and where it is from, as JSON-able values.

    Raises UsageError for a tokenizer without a name that a plugin can have.
    """
    if isinstance(tokenizer, Named):
        return tokenizer.description
    if not PART_NAME.fullmatch(tokenizer.name):
        raise UsageError(
            f"a model with the tokenizer {tokenizer!r} cannot be saved, for no plugin can have the "
            f"name {tokenizer.name!r}: give its class a name."
        )
    return {"name": tokenizer.name, "params": tokenizer.params(), **registry.origin(tokenizer)}


def check_description(header: Mapping[str, Any]) -> None:
    """FaultError unless the header describes a tokenizer that can exist."""
    tokenizer = field(header, "tokenizer", dict)
    field(tokenizer, "params", dict)
    for key, pattern in _PATTERNS.items():
        if key in tokenizer or key not in _OPTIONAL:
            value = field(tokenizer, key, str)
            if not pattern.fullmatch(value):
                raise FaultError(f"no tokenizer can have the {key} {value!r}")


def install_line(description: Mapping[str, Any]) -> str:
    """The command that installs what a model was made with."""
    version = f"=={description['version']}" if description["version"] else ""
    return f"pip install {shlex.quote(description['distribution'] + version)}"


def missing_tokenizer(description: Mapping[str, Any]) -> str:
    """The tokenizer in words, and how to get it; empty where it is there. Imports nothing."""
    needed = f"the tokenizer {_whose(description)}"
    if "sha256" in description:
        file = description["file"]
        if _given(description) is None:
            return (
                f"{needed}: add --plugin {shlex.quote(file)}, or in Python call "
                f"textreg.register_file({file!r}) first"
            )
    elif description["distribution"] and not _installed(description["distribution"]):
        return f"{needed}, which is not installed: {install_line(description)}"
    return ""


def find_tokenizer(path: Path, description: Mapping[str, Any]) -> Tokenizer:
    """The installed tokenizer that a model was made with, or that of the file it was made with.

    Raises ModelError where there is none, and says how to get it; warns with PluginWarning where
    its distribution has another version, or where there is only one of its name from elsewhere.
    """
    if missing := missing_tokenizer(description):
        raise ModelError(f"{path} needs {missing} (without it, textreg show {path} still works)")
    name, distribution = description["name"], description["distribution"]
    needed = f"{path} needs the tokenizer {_whose(description)}"
    spec = name
    if (given := _given(description)) is not None:
        if given.sha256 != description["sha256"]:
            raise ModelError(
                f"{needed}, but {given.file} has another content (SHA-256 {given.sha256}): its "
                "words may be others. Give the file as it was, or train the model again."
            )
    elif distribution:
        spec = f"{distribution}:{name}"
        _warn_of_another_version(path, description)
    try:
        tokenizer: Tokenizer = registry.create("tokenizer", spec, **description["params"])
    except (PluginError, UsageError) as error:
        raise ModelError(f"{needed}: {error}") from error
    if spec == name and given is None:
        _warn_of_another_origin(path, tokenizer)
    return tokenizer


def _whose(description: Mapping[str, Any]) -> str:
    """The name of a part, and where it is from."""
    name = f"'{description['name']}'"
    if "sha256" in description:
        file, digest = description["file"], description["sha256"]
        return f"{name} of the plugin file {file} (SHA-256 {digest})"
    source = f"{description['distribution']} {description['version']}".strip()
    return f"{name} of {source}" if source else name


def _given(description: Mapping[str, Any]) -> PluginInfo | None:
    """The file that was given for a tokenizer from a file, whatever its content."""
    for row in registry.listing() if "sha256" in description else ():
        if row.sha256 and (row.kind, row.name) == ("tokenizer", description["name"]):
            return row
    return None


def _installed(distribution: str) -> str:
    """The version of a distribution that is installed; empty if none is."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _warn_of_another_version(path: Path, description: Mapping[str, Any]) -> None:
    """PluginWarning where it is not the version that a model was made with, of a stranger's."""
    distribution, version = description["distribution"], description["version"]
    installed = _installed(distribution)
    if version not in ("", installed) and distribution != "textreg":
        warnings.warn(
            f"{path} was made with {distribution} {version}, and {installed} is installed: its "
            f"tokenizer may give other words. The same again: {install_line(description)}",
            PluginWarning,
            stacklevel=4,
        )


def _warn_of_another_origin(path: Path, tokenizer: Tokenizer) -> None:
    """PluginWarning where one from elsewhere stands in for one that a program had registered."""
    found = registry.provider(tokenizer)
    if found is not None and (found.distribution or found.file):
        warnings.warn(
            f"{path} was made with a tokenizer '{tokenizer.name}' that a program had registered; "
            f"the one of {found.home} is taken instead, and may give other words.",
            PluginWarning,
            stacklevel=4,
        )


class Named(Tokenizer):
    """Stands for a tokenizer that was not looked up."""

    description: dict[str, Any]

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__.update(name=description["name"], description=description)

    def params(self) -> dict[str, Any]:
        return dict(self.description["params"])

    def __call__(self, text: str) -> list[list[str]]:
        raise ModelError(
            f"this model was loaded without its tokenizer, '{self.name}', so it can show its "
            "content but not predict: load it again without tokenizer=False."
        )
