"""Programs that the tools run, and what they say."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence


class DistError(Exception):
    """What stops the making of a distribution, for people."""


def run(command: Sequence[object], **options: object) -> str:
    """The output of a program; CalledProcessError, which has it, where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=True, **options)  # type: ignore[call-overload]
    return str(done.stdout)


def output_of(error: BaseException) -> str:
    """What a program that failed has printed; empty for another error."""
    return f"{getattr(error, 'stdout', '') or ''}{getattr(error, 'stderr', '') or ''}"


def say(what: str) -> None:
    """Tell what is done next."""
    print(f"-- {what}", flush=True)
