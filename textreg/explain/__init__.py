"""Explanations of a model: contributions, evidence, and what training selected."""

from textreg.explain.contributions import explain, gives_offsets
from textreg.explain.path_sentences import path_sentences
from textreg.explain.records import Explanation, SentenceScore, Word
from textreg.explain.removal_table import RemovalColumn, RemovalTable, removal_tables
from textreg.explain.selection import find_selection
from textreg.explain.selection_records import (
    EntryStep,
    LinkedFeature,
    Neighbor,
    PathProfiles,
    Profile,
    SelectedGroup,
    Selection,
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
