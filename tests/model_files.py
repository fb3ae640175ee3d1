"""What is inside a model file, and files with other content and a right checksum."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textreg.model import container
from textreg.model.storage import ARRAYS


def content(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a file."""
    with container.opened(path, ARRAYS) as opened:
        return opened.header, dict(opened.read())


def rewrite(path: Path, edit: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Change a file's header and arrays, and make its checksum right again."""
    header, arrays = content(path)
    edit(header, arrays)
    path.write_bytes(container.pack(header, arrays))
