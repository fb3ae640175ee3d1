"""The tokenizer of a model file: what the file says about it, and how it is found again."""

from __future__ import annotations

import re
import shlex
import warnings
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from textreg.errors import ModelError, PluginError, PluginWarning, RecordError, UsageError
from textreg.kinds import Tokenizer
from textreg.plugins import registry
from textreg.plugins.entries import PART_NAME

# They are printed as parts of commands, so they must mean nothing else to a shell or to pip.
_PATTERNS = {
    "name": PART_NAME,
    "distribution": re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)?"),
    "version": re.compile(r"[A-Za-z0-9._+!-]*"),
    "file": re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"),
    "sha256": re.compile(r"([0-9a-f]{64})?"),
}


@dataclass(frozen=True)
class TokenizerOrigin:
    """Name and parameters of a tokenizer, and where it came from.

    Attributes
    ----------
    name : str
        Its name.
    params : dict of str to Any
        Its parameters.
    distribution, version : str
        The installed distribution that it is part of; empty for a class that a program registered.
    api : int
        Version of the plugin interface that it was made for.
    forms_ngrams : bool
        Whether runs of its tokens become n-grams.
    file, sha256 : str
        Path and SHA-256 digest of a plugin that is one file; empty for others.

    Raises
    ------
    RecordError
        If no tokenizer can have these names.
    """

    name: str
    params: dict[str, Any]
    distribution: str
    version: str
    api: int
    forms_ngrams: bool
    file: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        for key, pattern in _PATTERNS.items():
            value = getattr(self, key)
            if not pattern.fullmatch(value):
                raise RecordError(f"no tokenizer can have the {key} {value!r}.")
        if bool(self.file) != bool(self.sha256):
            raise RecordError("a file needs its SHA-256 digest, and a digest its file.")

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> TokenizerOrigin:
        """The origin of a tokenizer.

        Raises UsageError for a tokenizer whose name no plugin can have.
        """
        if isinstance(tokenizer, UnloadedTokenizer):
            return tokenizer.origin
        if not PART_NAME.fullmatch(tokenizer.name):
            raise UsageError(
                f"a model with the tokenizer {tokenizer!r} cannot be saved, because no plugin can "
                f"have the name {tokenizer.name!r}: give its class a name."
            )
        return cls(
            name=tokenizer.name,
            params=tokenizer.params(),
            forms_ngrams=tokenizer.forms_ngrams,
            **registry.origin(tokenizer),
        )

    @property
    def install_command(self) -> str:
        """The command that installs its distribution."""
        version = f"=={self.version}" if self.version else ""
        return f"pip install {shlex.quote(self.distribution + version)}"

    def __str__(self) -> str:
        if self.sha256:
            return f"'{self.name}' of the plugin file {self.file} (SHA-256 {self.sha256})"
        source = f"{self.distribution} {self.version}".strip()
        return f"'{self.name}' of {source}" if source else f"'{self.name}'"


def missing_tokenizer(origin: TokenizerOrigin) -> str:
    """A missing tokenizer in words, and how to get it; empty if it is there. Imports nothing."""
    if origin.sha256:
        if origin.sha256 not in (file.sha256 for file in registry.files()):
            return f"the tokenizer {origin}: {registry.how_to_add(origin)}"
    elif origin.distribution and not _installed_version(origin.distribution):
        return f"the tokenizer {origin}, which is not installed: {origin.install_command}"
    return ""


def find_tokenizer(path: Path, origin: TokenizerOrigin) -> Tokenizer:
    """The tokenizer that the model in a file was made with.

    Raises ModelError if it is missing, and says how to get it. Warns with PluginWarning if its
    distribution has another version, or if another tokenizer of that name takes its place.
    """
    if missing := missing_tokenizer(origin):
        raise ModelError(f"{path} needs {missing} (without it, textreg show {path} still works)")
    if origin.distribution:
        _warn_of_another_version(path, origin)
    try:
        name = registry.spelled(origin)
        tokenizer: Tokenizer = registry.create("tokenizer", name, **origin.params)
    except (PluginError, UsageError) as error:
        raise ModelError(f"{path} needs the tokenizer {origin}: {error}") from error
    if not (origin.distribution or origin.sha256):
        _warn_of_another_origin(path, tokenizer)
    return tokenizer


def _installed_version(distribution: str) -> str:
    """The installed version of a distribution; empty if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _warn_of_another_version(path: Path, origin: TokenizerOrigin) -> None:
    """PluginWarning if another version of a distribution other than textreg is installed."""
    installed = _installed_version(origin.distribution)
    if origin.version not in ("", installed) and origin.distribution != "textreg":
        warnings.warn(
            f"{path} was made with {origin.distribution} {origin.version}, but {installed} is "
            f"installed: its tokenizer may give other words. To get the same version: "
            f"{origin.install_command}",
            PluginWarning,
            stacklevel=4,
        )


def _warn_of_another_origin(path: Path, tokenizer: Tokenizer) -> None:
    """PluginWarning if an installed tokenizer replaces one that a program had registered."""
    info = registry.provider(tokenizer)
    if info is not None and (info.distribution or info.file):
        warnings.warn(
            f"{path} was made with a tokenizer '{tokenizer.name}' that a program had registered; "
            f"the one of {info.home} is used instead, and may give other words.",
            PluginWarning,
            stacklevel=4,
        )


class UnloadedTokenizer(Tokenizer):
    """Stands for the tokenizer of a model that was loaded without it."""

    origin: TokenizerOrigin

    def __init__(self, origin: TokenizerOrigin) -> None:
        super().__init__()
        self.__dict__.update(name=origin.name, forms_ngrams=origin.forms_ngrams, origin=origin)

    def params(self) -> dict[str, Any]:
        return dict(self.origin.params)

    def __call__(self, text: str) -> list[list[str]]:
        raise ModelError(
            f"this model was loaded without its tokenizer, '{self.name}', so it can show its "
            "content but not predict: load it again without tokenizer=False."
        )
