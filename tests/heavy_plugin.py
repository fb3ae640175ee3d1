"""A module of plugins that imports at its top what is slow to import."""

from __future__ import annotations

from typing import Any

import scipy.optimize

from textreg.builtin.group_builders import Sentences
from textreg.builtin.separable import Ridge
from textreg.builtin.tokenizers import Words
from textreg.kinds import GraphBuilder
from textreg.records import Graph, Tokens

HEAVY = scipy.optimize


def undeclared(part: type[Any]) -> Any:
    """A class as if it stood in an installed distribution that names no such part."""
    return type(part.__name__, (part,), {"__doc__": "Wrong.", "__module__": "textreg.elsewhere"})


class Imports(Ridge):
    """Ridge."""

    name = "heavy"


class HeavyWords(Words):
    """Words."""

    name = "heavy"


class HeavySentences(Sentences):
    """Sentences."""

    name = "heavy"


class HeavyGraph(GraphBuilder):
    """Any."""

    name = "heavy"

    def build(self, tokens: Tokens) -> Graph:
        raise NotImplementedError
