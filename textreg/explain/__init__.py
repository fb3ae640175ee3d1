"""Explanations of a model: contributions, evidence, and what training selected."""

from textreg.explain.contributions import Explanation, SentenceScore, Word, explain, gives_offsets
from textreg.explain.path_sentences import path_sentences
from textreg.explain.removal_table import RemovalColumn, RemovalTable, removal_tables
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
