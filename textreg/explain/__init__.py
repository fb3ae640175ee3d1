"""Why a model says what it says: exact accounts of scores, by word and by sentence."""

from textreg.explain.account import explain, gives_offsets
from textreg.explain.kept import kept_in
from textreg.explain.kept_records import Along, Came, Kept, KeptGroup, Neighbor, Profile, Pulled
from textreg.explain.records import Explanation, SentenceScore, Word

__all__ = [
    "Along",
    "Came",
    "Explanation",
    "Kept",
    "KeptGroup",
    "Neighbor",
    "Profile",
    "Pulled",
    "SentenceScore",
    "Word",
    "explain",
    "gives_offsets",
    "kept_in",
]
