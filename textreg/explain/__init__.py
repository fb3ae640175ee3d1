"""Explanations of a model: contributions, evidence, and what training selected."""

from textreg.explain.contributions import Explanation, SentenceScore, Word, explain, gives_offsets
from textreg.explain.selection import (
    EntryStep,
    LinkedFeature,
    Neighbor,
    PathProfiles,
    Profile,
    SelectedGroup,
    Selection,
    find_selection,
)
from textreg.explain.sentences import RemovalColumn, RemovalTable, path_sentences, removal_tables

__all__ = [
    "EntryStep",
    "Explanation",
    "LinkedFeature",
    "Neighbor",
    "PathProfiles",
    "Profile",
    "RemovalColumn",
    "RemovalTable",
    "SelectedGroup",
    "Selection",
    "SentenceScore",
    "Word",
    "explain",
    "find_selection",
    "gives_offsets",
    "path_sentences",
    "removal_tables",
]
