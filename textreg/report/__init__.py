"""Reports: all there is to say of a model, on one page that asks nothing of anybody."""

from textreg.report.build import report
from textreg.report.records import Report

__all__ = ["Report", "report"]
