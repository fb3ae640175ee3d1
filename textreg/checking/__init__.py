"""Checks of labeled texts before a model is trained on them."""

from textreg.checking.check import check, check_corpus
from textreg.checking.result import CheckResult
from textreg.checking.settings import CheckSettings

__all__ = ["CheckResult", "CheckSettings", "check", "check_corpus"]
