"""Why a model says what it says: exact accounts of scores, by word and by sentence."""

from textreg.explain.account import explain, gives_offsets
from textreg.explain.kept import kept_in
from textreg.explain.kept_records import Kept, KeptGroup, Neighbor, Pulled
from textreg.explain.records import Explanation, SentenceScore, Word

__all__ = [
    "Explanation",
    "Kept",
    "KeptGroup",
    "Neighbor",
    "Pulled",
    "SentenceScore",
    "Word",
    "explain",
    "gives_offsets",
    "kept_in",
]
