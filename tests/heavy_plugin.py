"""A module of plugins that imports at its top what is slow to import."""

from __future__ import annotations

import sklearn.linear_model

from textreg.builtin.sentences import Sentences
from textreg.builtin.separable import Ridge
from textreg.builtin.words import Words
from textreg.kinds import GraphBuilder
from textreg.records import Graph, Tokens

HEAVY = sklearn.linear_model


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
