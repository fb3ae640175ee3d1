"""The tokenizer of a model file: what is written of it, and how it is found again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from textreg import registry
from textreg.container import FaultError, field
from textreg.errors import ModelError, PluginError, UsageError
from textreg.kinds import Tokenizer

_NAME = re.compile(r"\w[\w.+-]*")
# Printed as part of a command, so nothing that a shell or pip would take for more.
_DISTRIBUTION = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)?")


def describe(tokenizer: Tokenizer) -> dict[str, Any]:
    """Name, parameters, distribution and version, as JSON-able values.

    Raises UsageError for a tokenizer without a name that a plugin can have.
    """
    if isinstance(tokenizer, Named):
        return tokenizer.description
    if not _NAME.fullmatch(tokenizer.name):
        raise UsageError(
            f"a model with the tokenizer {tokenizer!r} cannot be saved, for no plugin can have the "
            f"name {tokenizer.name!r}: give its class a name."
        )
    with suppress(PluginError):  # the registry knows where a class is from once it has loaded it
        registry.find("tokenizer", tokenizer.name)
    info = registry.provider(tokenizer)
    return {
        "name": tokenizer.name,
        "params": tokenizer.params(),
        "distribution": info.distribution if info else "",
        "version": info.version if info else "",
    }


def check_description(header: Mapping[str, Any]) -> None:
    """FaultError unless the header describes a tokenizer that can exist."""
    tokenizer = field(header, "tokenizer", dict)
    field(tokenizer, "params", dict)
    field(tokenizer, "version", str)
    for key, pattern in (("name", _NAME), ("distribution", _DISTRIBUTION)):
        value = field(tokenizer, key, str)
        if not pattern.fullmatch(value):
            raise FaultError(f"no tokenizer can have the {key} {value!r}")


def find_tokenizer(path: Path, description: Mapping[str, Any]) -> Tokenizer:
    """The installed tokenizer that a model was made with."""
    name, distribution = description["name"], description["distribution"]
    needed = f"{path} needs the tokenizer '{name}'"
    spec = name
    if distribution:
        spec = f"{distribution}:{name}"
        needed += f" of {distribution} {description['version']}"
        try:
            metadata.distribution(distribution)
        except metadata.PackageNotFoundError:
            raise ModelError(
                f"{needed}, which is not installed: pip install {distribution} "
                f"(without it, textreg show {path} still works)"
            ) from None
    try:
        tokenizer: Tokenizer = registry.create("tokenizer", spec, **description["params"])
    except (PluginError, UsageError) as error:
        raise ModelError(f"{needed}: {error}") from error
    return tokenizer


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
