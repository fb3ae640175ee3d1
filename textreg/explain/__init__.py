"""Why a model says what it says: exact accounts of scores, by word and by sentence."""

from textreg.explain.account import explain
from textreg.explain.records import Explanation, SentenceScore, Word

__all__ = ["Explanation", "SentenceScore", "Word", "explain"]
