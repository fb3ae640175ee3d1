"""HTML's character references, such as ``&eacute;``, for models that remove HTML from texts."""

from __future__ import annotations

import html
from functools import cache
from html.entities import html5
from typing import Any

from textreg.features.markup import INLINE

LOW = 160
"""Below it a number can stand for another character than the one of this code point."""


@cache
def html_references() -> dict[str, Any]:
    """The table that an exported model needs; docs/exporting.md says what it means."""
    ended = {name: value for name, value in html5.items() if name.endswith(";")}
    return {
        "inline": " ".join(sorted(INLINE)),
        "names": " ".join(f"{name}{value}" for name, value in sorted(ended.items())),
        "bare": " ".join(sorted(name for name in html5 if name not in ended)),
        "codes": [
            [code, found]
            for code in range(LOW)
            if (found := html.unescape(f"&#{code};")) != chr(code)
        ],
    }
