"""Tokenizers with a switch that shows in certain texts only; no test is here, as one is to import
the module in a fresh interpreter without what tests need."""

from __future__ import annotations

import re

from textreg.kinds import Tokenizer
from textreg.params import param


class Mentions(Tokenizer):
    """Words, and whom they mention."""

    name = "mentions"
    mentions: bool = param(default=False, help="keep the sign before a name")

    def __call__(self, text: str) -> list[list[str]]:
        return [re.findall(r"@?\w+" if self.mentions else r"\w+", text.lower())]


class Pieces(Tokenizer):
    """Runs of Chinese characters, or all pairs in them."""

    name = "pieces"
    search: bool = param(default=False, help="long words as well as their parts")

    def __call__(self, text: str) -> list[list[str]]:
        found: list[str] = []
        for run in re.findall(r"[\u4e00-\u9fff]+", text):
            parts = [run[at : at + 2] for at in range(0, len(run), 2)]
            found += [*parts, run] if self.search and len(run) > 4 else parts
        return [found]
