"""Checks of labeled texts before a model is trained on them."""

from textreg.checking.check import check, check_corpus
from textreg.checking.documents import CheckResult, CheckSettings

__all__ = ["CheckResult", "CheckSettings", "check", "check_corpus"]
