"""The tokenizer of a model file: what the file says about it, and how it is found again."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from textreg.errors import ModelError, PluginError, PluginWarning, RecordError, UsageError
from textreg.kinds import Tokenizer
from textreg.plugins import registry
from textreg.plugins.distributions import PART_NAME
from textreg.structure.joining import CallableTokenizer, Pretokenized, is_function

SOURCES = ("plugin", "callable", "tokens")
"""What a tokenizer can be: see :class:`TokenizerOrigin`."""

OWN = "textreg"
"""The distribution that is there, and whose tokenizers are the same in any version."""

_ONE_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*")
# They are printed as parts of commands, so they must mean nothing else to a shell or to pip.
_PATTERNS = {
    "name": PART_NAME,
    "distribution": re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)?"),
    "version": re.compile(r"[A-Za-z0-9._+!-]*"),
    "file": _ONE_LINE,
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
    source : {"plugin", "callable", "tokens"}
        Whether it is a plugin, a callable that was given to ``train``, whose name is for messages
        only, or none at all: the documents are lists of tokens.

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
    source: str = "plugin"

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise RecordError(f"no tokenizer is a {self.source!r}: it is one of {SOURCES}.")
        if self.source != "plugin" and (self.params or self.distribution or self.sha256):
            raise RecordError(f"a tokenizer that is no plugin has a name only: {self}.")
        for key, pattern in _PATTERNS.items():
            value = getattr(self, key)
            if key == "name" and self.source == "callable":
                pattern = _ONE_LINE
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
        if isinstance(tokenizer, (CallableTokenizer, Pretokenized)):
            source = "callable" if isinstance(tokenizer, CallableTokenizer) else "tokens"
            return cls(tokenizer.name, {}, "", "", tokenizer.api, True, source=source)
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
    if origin.source == "callable":
        return (
            f"the tokenizer '{origin.name}', a callable that no model file can hold: give it again "
            "in Python, textreg.load(path, tokenizer=...). For the command line make it a plugin "
            "(textreg plugins new tokenizer), and train with that"
        )
    if origin.sha256:
        if origin.sha256 not in (file.sha256 for file in registry.files()):
            return f"the tokenizer {origin}: {registry.how_to_add(origin)}"
    elif origin.distribution not in ("", OWN) and not installed_version(origin.distribution):
        return f"the tokenizer {origin}, which is not installed: {origin.install_command}"
    return ""


def find_tokenizers(
    path: Path, origins: Sequence[TokenizerOrigin], given: Any = True
) -> list[Tokenizer]:
    """The tokenizers that the model in a file was made with.

    given: True, or the callable that the model was trained with; of several, a list. Raises
    UsageError for others than the model needs; ModelError if a tokenizer is missing, and says how
    to get it. Warns with PluginWarning if its distribution has another version, or if another
    tokenizer of that name takes its place.
    """
    if given is True:
        return [find_tokenizer(path, origin) for origin in origins]
    needed = [f"'{origin.name}'" for origin in origins if origin.source == "callable"]
    functions = iter(listed := list(given) if isinstance(given, (list, tuple)) else [given])
    if not needed:
        what = "takes lists of tokens" if origins[0].source == "tokens" else "has its own"
        raise UsageError(f"{path} {what}, and needs no tokenizer: leave out tokenizer.")
    if len(listed) != len(needed) or not all(map(is_function, listed)):
        wanted = f"the callable {needed[0]}"
        if len(needed) > 1:
            wanted = f"a list of the callables {', '.join(needed)}"
        raise UsageError(f"{path} needs as tokenizer {wanted}, not {given!r:.60}.")
    return [
        CallableTokenizer.of(next(functions))
        if origin.source == "callable"
        else find_tokenizer(path, origin)
        for origin in origins
    ]


def find_tokenizer(path: Path, origin: TokenizerOrigin) -> Tokenizer:
    """One of them that is no callable, or ModelError."""
    if origin.source == "tokens":
        return Pretokenized()
    if missing := missing_tokenizer(origin):
        raise ModelError(f"{path} needs {missing} (without it, textreg show {path} still works)")
    if origin.distribution not in ("", OWN):
        _warn_of_another_version(path, origin)
    try:
        name = registry.spelled(origin)
        tokenizer: Tokenizer = registry.create("tokenizer", name, **origin.params)
    except (PluginError, UsageError) as error:
        raise ModelError(f"{path} needs the tokenizer {origin}: {error}") from error
    if not (origin.distribution or origin.sha256):
        _warn_of_another_origin(path, tokenizer)
    return tokenizer


def installed_version(distribution: str) -> str:
    """The installed version of a distribution; empty if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _warn_of_another_version(path: Path, origin: TokenizerOrigin) -> None:
    """PluginWarning if another version of its distribution is installed."""
    installed = installed_version(origin.distribution)
    if origin.version not in ("", installed):
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
